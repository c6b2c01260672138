//! The terms that index checks compare: values, sizes of arrays, and constants, each with a
//! constant added.

use regraft_dialects::{ad, arith, core, mem};
use regraft_ir::{Block, Constant, Op, Operand, Type, TypeKind, Value};

use super::{Bounds, Interval, Sum, Term};
use crate::analysis::interval::unwrapped;
use crate::analysis::{Size, copied_shape};

impl Bounds<'_> {
    /// An integer operand, with constants taken off as long as that cannot wrap. What it says holds
    /// wherever `at` is dominated by the operand.
    pub(super) fn sum(&mut self, operand: Operand, at: Value) -> Sum {
        let f = self.f;
        let block = f.block_of(at);
        let (mut operand, mut plus) = (operand, 0i128);
        for _ in 0..16 {
            let Some(v) = operand.as_value() else {
                let x = f.constant(operand).and_then(Constant::as_int).unwrap_or(0);
                return (Term::Zero, plus + i128::from(x));
            };
            if let Some(x) = self.range_in(block, v.into()).as_single() {
                return (Term::Zero, plus + i128::from(x));
            }
            if let Some((next, constant)) = self.peel(v, block) {
                (operand, plus) = (next, plus + constant);
                continue;
            }
            let term = match f.op(v) {
                Some(mem::LENGTH) => self.size_of(v, 0),
                Some(mem::SIZE) => f.operand(v, 1).and_then(|dim| self.dimension(v, dim)),
                Some(core::GET) => {
                    let shape = f.operand(v, 0).and_then(Operand::as_value);
                    let shape = shape.filter(|&shape| f.op(shape) == Some(mem::SHAPE));
                    let dim = f.operand(v, 1);
                    shape.zip(dim).and_then(|(shape, dim)| self.dimension(shape, dim))
                }
                _ => None,
            };
            return match term {
                Some((Term::Value(next), more)) if next != v => {
                    (operand, plus) = (next.into(), plus + more);
                    continue;
                }
                Some((term, more)) => (term, plus + more),
                None => (Term::Value(v), plus),
            };
        }
        match operand.as_value() {
            Some(v) => (Term::Value(v), plus),
            None => (Term::Zero, plus),
        }
    }

    /// `v` as another value plus a constant, if that does not wrap.
    pub(super) fn peel(&self, v: Value, block: Block) -> Option<(Operand, i128)> {
        let f = self.f;
        let (op, x, y) = (f.op(v)?, f.operand(v, 0)?, f.operand(v, 1)?);
        if !f.ty(v).is_int() || f.checks_operands(v) {
            return None;
        }
        let constant = |operand| f.constant(operand).and_then(Constant::as_int).map(i128::from);
        let (base, plus) = match op {
            arith::ADD | arith::CHECKED_ADD => match (constant(x), constant(y)) {
                (_, Some(k)) => (x, k),
                (Some(k), _) => (y, k),
                _ => return None,
            },
            arith::SUB | arith::CHECKED_SUB => (x, -constant(y)?),
            _ => return None,
        };
        // A checked sum is in range if it is there at all.
        let checked = matches!(op, arith::CHECKED_ADD | arith::CHECKED_SUB);
        (checked || self.is_exact(op, [x, y], block, f.ty(v))).then_some((base, plus))
    }

    /// Returns whether a sum or difference of type `ty` does not wrap in a block.
    fn is_exact(&self, op: Op, [x, y]: [Operand; 2], block: Block, ty: Type) -> bool {
        let range = |operand| self.range_in(block, operand);
        unwrapped(op, range(x), range(y), ty).is_some()
    }

    /// `v` as the difference of two values, if that does not wrap.
    pub(super) fn difference(&self, v: Value, at: Value) -> Option<(Operand, Operand)> {
        let (f, block) = (self.f, self.f.block_of(at));
        let [x, y] = match f.op(v)? {
            arith::SUB => f.matches::<2>(v, arith::SUB)?,
            _ => {
                let [x, y] = f.matches::<2>(v, arith::ADD)?;
                match (self.opposite(y, block), self.opposite(x, block)) {
                    (Some(y), _) => [x, y],
                    (_, Some(x)) => [y, x],
                    _ => return None,
                }
            }
        };
        let fits = f.operand_type(x) == f.ty(v)
            && f.operand_type(y) == f.ty(v)
            && self.is_exact(arith::SUB, [x, y], block, f.ty(v));
        fits.then_some((x, y))
    }

    /// Returns what an operand is the negative of, if that does not wrap.
    fn opposite(&self, operand: Operand, block: Block) -> Option<Operand> {
        let f = self.f;
        let v = operand.as_value()?;
        let x = match f.op(v)? {
            arith::NEG => f.operand(v, 0)?,
            arith::MUL | arith::DIV if f.constant(f.operand(v, 1)?)?.as_int() == Some(-1) => {
                f.operand(v, 0)?
            }
            _ => return None,
        };
        let range = self.range_in(block, x);
        (f.operand_type(x) == f.ty(v) && range.lo > Interval::of_type(f.ty(v)).lo).then_some(x)
    }

    /// `v` as a value plus a constant, where it is the negative of a constant minus that value.
    pub(super) fn negated(&self, v: Value, block: Block) -> Option<(Operand, i128)> {
        let f = self.f;
        let mut x = self.opposite(v.into(), block)?.as_value()?;
        let mut plus = 0;
        for _ in 0..4 {
            // `x + plus` is the negative of `v`.
            match self.peel(x, block) {
                Some((base, more)) => (x, plus) = (base.as_value()?, plus + more),
                None => break,
            }
        }
        if let Some(y) = self.opposite(x.into(), block) {
            return Some((y, -plus));
        }
        let [k, y] = f.matches::<2>(x, arith::SUB)?;
        let less = f.constant(k)?.as_int()?;
        let fits =
            f.operand_type(y) == f.ty(x) && self.is_exact(arith::SUB, [k, y], block, f.ty(x));
        fits.then_some((y, -plus - i128::from(less)))
    }

    fn dimension(&mut self, v: Value, dim: Operand) -> Option<Sum> {
        let dim = self.f.constant(dim)?.as_int()?;
        self.size_of(v, u8::try_from(dim).ok().filter(|&dim| dim > 0)?)
    }

    /// The size of the array that `v` (a length, size or shape) is asked of, as `v` sees it.
    fn size_of(&mut self, v: Value, dim: u8) -> Option<Sum> {
        let array = self.f.operand(v, 0)?.as_value()?;
        self.size(array, dim, v)
    }

    /// The size of an array as `at` sees it: what it was allocated with, if that is known.
    pub(super) fn size(&mut self, array: Value, dim: u8, at: Value) -> Option<Sum> {
        let f = self.f;
        let (mut array, mut asked, mut at) = (array, dim, at);
        for _ in 0..8 {
            let TypeKind::Array { rank, .. } = *f.ctx().kind(f.ty(array)) else { return None };
            let dim = if rank == 1 && asked == 1 { 0 } else { asked };
            if dim > rank {
                return Some((Term::Zero, 1));
            }
            let is_along = rank == 1 || dim > 0;
            match self.carried.size(array, dim.max(1)).filter(|_| is_along) {
                Some(Size::Const(size)) => return Some((Term::Zero, size.into())),
                Some(Size::Value(size)) => return Some((Term::Value(size), 0)),
                Some(Size::Of(other, along)) => {
                    (array, asked) = (other, along);
                    continue;
                }
                None => {}
            }
            let version = self.shapes.version(array, at)?;
            let term = Term::Size { array, dim, version };
            // A new array has the shape that it was made with as long as nothing writes it.
            if f.is_param(array) || self.shapes.version(array, array) != Some(version) {
                return Some((term, 0));
            }
            let position = usize::from(dim.max(1));
            let made_of = match f.op(array) {
                Some(mem::ALLOC) if is_along => f.operand(array, position - 1),
                Some(mem::FILL) if is_along => f.operand(array, position),
                Some(mem::ARRAY) => return Some((Term::Zero, f.operand_count(array) as i128)),
                Some(mem::COPY | ad::ZERO | ad::COPY) => {
                    match copied_shape(f, array).and_then(Operand::as_value) {
                        Some(source) => {
                            at = array;
                            array = source;
                            continue;
                        }
                        None => None,
                    }
                }
                _ => None,
            };
            return match made_of {
                Some(size) => Some(match size.as_value() {
                    Some(v) => (Term::Value(v), 0),
                    None => (Term::Zero, f.constant(size)?.as_int()?.into()),
                }),
                None => Some((term, 0)),
            };
        }
        None
    }
}
