//! The pieces of adjoints: instructions, values of the forward sweep, and cotangents.

use std::sync::Arc;

use regraft_dialects::{ad, arith, core};
use regraft_ir::{Block, Constant, Inst, Operand, Type, Value};

use super::{Adjoint, Backward, Residual};
use crate::tangent_builder as build;

/// An operation without a change of sign before it.
enum Signed {
    /// This operand.
    Is(Operand),
    /// This operation.
    Same(Inst),
    /// The opposite of this one.
    Opposite(Inst),
}

impl Backward<'_, '_> {
    /// Appends an instruction, or something that gives the same with fewer changes of sign: they
    /// wander from what is computed first to sums, which become differences. What nobody uses then
    /// goes with the other dead code. The pass `e-graph` cannot do it: past a product in which a zero
    /// wins, the sign of that zero changes, which is free here alone.
    pub(in super::super) fn emit(&mut self, inst: Inst) -> Operand {
        match self.signed(&inst) {
            Some(Signed::Is(operand)) => operand,
            Some(Signed::Same(other)) => self.append(other),
            Some(Signed::Opposite(other)) => {
                let opposite = self.append(other);
                self.append(arith::neg(opposite))
            }
            None => self.append(inst),
        }
    }

    /// Rewrites an operation on floats without a change of sign before it; exact, but for signs of NaN.
    fn signed(&self, inst: &Inst) -> Option<Signed> {
        let f = &self.out.f;
        let opposite = |operand: Operand| {
            let v = operand.as_value().filter(|&v| f.op(v) == Some(arith::NEG))?;
            f.ty(v).is_float().then(|| f.operand(v, 0))?
        };
        match *inst.operand_list() {
            [x] if inst.op() == arith::NEG => Some(Signed::Is(opposite(x)?)),
            [x, y] => {
                let other = (opposite(x), opposite(y));
                match (inst.op(), other) {
                    (_, (None, None)) => None,
                    (arith::ADD, (_, Some(y))) => Some(Signed::Same(arith::sub(x, y))),
                    (arith::ADD, (Some(x), None)) => Some(Signed::Same(arith::sub(y, x))),
                    (arith::SUB, (_, Some(y))) => Some(Signed::Same(arith::add(x, y))),
                    (arith::MUL, (Some(x), Some(y))) => Some(Signed::Same(arith::mul(x, y))),
                    (arith::MUL, (Some(x), None)) => Some(Signed::Opposite(arith::mul(x, y))),
                    (arith::MUL, (None, Some(y))) => Some(Signed::Opposite(arith::mul(x, y))),
                    (arith::MULZ, (Some(x), Some(y))) => Some(Signed::Same(arith::mulz(x, y))),
                    (arith::MULZ, (Some(x), None)) => Some(Signed::Opposite(arith::mulz(x, y))),
                    (arith::MULZ, (None, Some(y))) => Some(Signed::Opposite(arith::mulz(x, y))),
                    (arith::FDIV, (Some(x), Some(y))) => Some(Signed::Same(arith::fdiv(x, y))),
                    (arith::FDIV, (Some(x), None)) => Some(Signed::Opposite(arith::fdiv(x, y))),
                    (arith::FDIV, (None, Some(y))) => Some(Signed::Opposite(arith::fdiv(x, y))),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn append(&mut self, inst: Inst) -> Operand {
        match self.out.f.push(self.cur, inst.at(self.loc)) {
            Ok(v) => v.into(),
            Err(error) => {
                self.failed.get_or_insert_with(|| error.into());
                self.ctx.constant_id(Constant::Unit).into()
            }
        }
    }

    /// Notes that something has no derivative.
    pub(in super::super) fn fail(&mut self, message: &str) {
        self.driver.report(message, self.loc);
    }

    pub(in super::super) fn constant(&self, constant: Constant) -> Operand {
        self.ctx.constant_id(constant).into()
    }

    pub(in super::super) fn zero(&mut self, ty: Type) -> Operand {
        let ctx = Arc::clone(&self.ctx);
        build::zero(&ctx, ty, &mut |inst| self.emit(inst))
    }

    pub(in super::super) fn sum(&mut self, ty: Type, a: Operand, b: Operand) -> Operand {
        build::sum(ty, a, b, &mut |inst| self.emit(inst))
    }

    pub(in super::super) fn part(&mut self, of: Operand, index: usize) -> Operand {
        let ctx = Arc::clone(&self.ctx);
        build::part(&ctx, of, index, &mut |inst| self.emit(inst))
    }

    /// The type of an operand of the reverse sweep.
    pub(in super::super) fn type_of(&self, operand: Operand) -> Type {
        self.out.f.operand_type(operand)
    }

    /// An operand of the forward sweep.
    pub(in super::super) fn primal(&mut self, operand: Operand) -> Operand {
        self.primal_in(self.counterpart(self.at), operand)
    }

    /// The same, found in `place`, which is the counterpart or comes after it.
    pub(super) fn primal_in(&mut self, place: Block, operand: Operand) -> Operand {
        let Some(value) = operand.as_value() else { return operand };
        let at = self.at;
        if let Some(&placeholder) = self.known.get(&(value, place)) {
            return placeholder.into();
        }
        let ty = self.input.aug.f.ty(value);
        match self.out.f.push_front(place, core::undef(ty).at(self.loc)) {
            Ok(placeholder) => {
                self.known.insert((value, place), placeholder);
                self.out.residuals.push(Residual { value, at, place, placeholder });
                placeholder.into()
            }
            Err(error) => {
                self.failed.get_or_insert_with(|| error.into());
                self.constant(Constant::Unit)
            }
        }
    }

    /// The shadow of an active object of the forward sweep.
    pub(in super::super) fn shadow(&mut self, object: Operand) -> Operand {
        let shadow = object.as_value().and_then(|v| self.input.aug.shadows.get(&v).copied());
        match shadow {
            Some(shadow) => self.primal(shadow),
            None => {
                self.fail("an object that has no shadow is differentiated");
                self.constant(Constant::Unit)
            }
        }
    }

    /// A cotangent of a value of type `from` as one of a value of type `to`, where either is known
    /// as `any`.
    pub(in super::super) fn coerce(&mut self, adjoint: Operand, from: Type, to: Type) -> Operand {
        let (have, want) = (self.driver.types.cotangent(from), self.driver.types.cotangent(to));
        if have == want {
            adjoint
        } else if want == Type::ANY {
            self.emit(core::convert(adjoint, want))
        } else {
            let boxed = if self.type_of(adjoint) == Type::ANY {
                adjoint
            } else {
                self.emit(core::convert(adjoint, Type::ANY))
            };
            self.emit(ad::unbox(boxed, want))
        }
    }

    /// Adds to the cotangent of an operand, which is of the cotangent type of its type.
    pub(in super::super) fn accumulate(&mut self, operand: Operand, adjoint: Operand) {
        let Some(v) = operand.as_value().filter(|&v| self.input.activity.is_varied(v)) else {
            return;
        };
        let ty = self.driver.types.cotangent(self.input.aug.f.ty(v));
        let total = match self.peek(v) {
            Some(so_far) => self.sum(ty, so_far, adjoint),
            None => adjoint,
        };
        self.adjoints.insert(v, Adjoint::of(total));
    }

    /// Adds to the cotangent of an operand what is the cotangent of a value of type `from`. An operand
    /// that nothing flows back to may be of a type that the cotangent does not fit.
    pub(in super::super) fn accumulate_coerced(
        &mut self,
        operand: Operand,
        adjoint: Operand,
        from: Type,
    ) {
        if self.input.activity.is_varied(operand) {
            let to = self.input.aug.f.operand_type(operand);
            let adjoint = self.coerce(adjoint, from, to);
            self.accumulate(operand, adjoint);
        }
    }

    /// Adds to the cotangent of a part of a tuple or struct.
    pub(in super::super) fn accumulate_part(
        &mut self,
        operand: Operand,
        index: usize,
        adjoint: Operand,
    ) {
        let Some(v) = operand.as_value().filter(|&v| self.input.activity.is_varied(v)) else {
            return;
        };
        let ty = self.driver.types.cotangent(self.input.aug.f.ty(v));
        let types = build::part_types(&self.ctx, ty);
        let Some(&part_type) = types.get(index) else {
            return self.fail("a part of a value whose type is not known has no derivative");
        };
        let mut known = self.adjoints.remove(&v).unwrap_or_default();
        known.parts.resize(types.len(), None);
        let total = match known.parts[index] {
            Some(so_far) => self.sum(part_type, so_far, adjoint),
            None => adjoint,
        };
        known.parts[index] = Some(total);
        self.adjoints.insert(v, known);
    }

    /// The cotangent of a value so far, if anything came.
    pub(super) fn peek(&mut self, v: Value) -> Option<Operand> {
        let known = self.adjoints.get(&v)?.clone();
        if known.parts.is_empty() {
            return known.whole;
        }
        let ty = self.driver.types.cotangent(self.input.aug.f.ty(v));
        let types = build::part_types(&self.ctx, ty);
        let mut made = Vec::with_capacity(types.len());
        let came = self.parts_of(&known, &types);
        let empty = came.iter().map(Option::is_none).collect();
        for (part, &part_type) in came.into_iter().zip(&types) {
            made.push(part.unwrap_or_else(|| self.zero(part_type)));
        }
        let ctx = Arc::clone(&self.ctx);
        let total = build::aggregate(&ctx, ty, &made, &mut |inst| self.emit(inst));
        self.adjoints.insert(v, Adjoint { empty, ..Adjoint::of(total) });
        Some(total)
    }

    /// Takes the cotangent of a value where it is defined.
    pub(in super::super) fn consume(&mut self, v: Value) -> Option<Operand> {
        let adjoint = self.peek(v);
        self.adjoints.remove(&v);
        adjoint
    }

    /// Takes the cotangents of the parts of a tuple or struct where it is made.
    pub(in super::super) fn consume_parts(&mut self, v: Value) -> Option<Vec<Option<Operand>>> {
        let known = self.adjoints.remove(&v)?;
        let ty = self.driver.types.cotangent(self.input.aug.f.ty(v));
        let types = build::part_types(&self.ctx, ty);
        Some(self.parts_of(&known, &types))
    }

    /// The cotangents of the parts of a tuple or struct, where something came.
    fn parts_of(&mut self, known: &Adjoint, types: &[Type]) -> Vec<Option<Operand>> {
        let mut made = Vec::with_capacity(types.len());
        for (i, &part_type) in types.iter().enumerate() {
            let part = known.parts.get(i).copied().flatten();
            let whole = known.whole.filter(|_| !known.is_empty(i));
            let whole = whole.map(|whole| self.part(whole, i));
            made.push(match (part, whole) {
                (Some(a), Some(b)) => Some(self.sum(part_type, b, a)),
                (a, b) => a.or(b),
            });
        }
        made
    }
}
