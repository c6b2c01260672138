//! Instructions for what an operation on tangents becomes.

use regraft_dialects::tangent::TangentTable;
use regraft_dialects::{ad, arith, core, mem};
use regraft_ir::{Constant, Function, Inst, IrResult, Operand, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::expand::{Effect, Expand, Make, Part};
use crate::transforms::util::aggregate::construct;

/// Puts instructions before one that they stand for.
pub(super) struct Emit<'a> {
    f: &'a mut Function,
    before: Value,
    /// Parts that were taken already.
    taken: FxHashMap<(Operand, SmallVec<[u32; 4]>), Operand>,
}

impl<'a> Emit<'a> {
    pub(super) fn new(f: &'a mut Function, before: Value) -> Self {
        Self { f, before, taken: FxHashMap::default() }
    }

    /// The value that is made so. The recursion is as deep as the type, which is small.
    pub(super) fn value(&mut self, make: &Make) -> IrResult<Operand> {
        match make {
            Make::Nothing => Ok(self.f.constant_id(Constant::Unit).into()),
            &Make::Zero(ty) => self.zero(ty),
            Make::This(part) => self.part(part),
            Make::Sum(x, y) => {
                let (x, y) = (self.part(x)?, self.part(y)?);
                self.insert(arith::add(x, y))
            }
            &Make::Op(op, ref parts, ty) => {
                let inst = Inst::new(op).operands(self.parts(parts)?);
                self.insert(if op == mem::COPY { inst } else { inst.with_type(ty) })
            }
            &Make::Tuple(ty, ref parts) => {
                let mut made = Vec::with_capacity(parts.len());
                for part in parts {
                    made.push(self.value(part)?);
                }
                let inst = construct(self.f.ctx(), ty, made);
                self.insert(inst)
            }
            Make::Ref(_, content) => {
                let content = self.value(content)?;
                self.insert(mem::ref_new(content))
            }
        }
    }

    /// Does this.
    pub(super) fn effect(&mut self, effect: &Effect) -> IrResult<()> {
        match effect {
            &Effect::Op(op, ref parts) => {
                let parts = self.parts(parts)?;
                self.insert(Inst::new(op).operands(parts))?;
            }
            &Effect::ClearArray(ref array, element) => {
                let (array, zero) = (self.part(array)?, self.zero(element)?);
                self.insert(mem::fill_in_place(array, zero))?;
            }
            Effect::ClearRef(cell, zero) => {
                let (cell, zero) = (self.part(cell)?, self.value(zero)?);
                self.insert(mem::ref_set(cell, zero))?;
            }
            &Effect::AddRef(ref cell, ref other, ty) => {
                let (cell, other) = (self.part(cell)?, self.part(other)?);
                let x = self.insert(mem::ref_get(cell))?;
                let y = self.insert(mem::ref_get(other))?;
                let sum = Expand::new(self.f, &mut TangentTable::default()).sum(x, y, ty);
                let sum = match sum {
                    Some(sum) => self.value(&sum)?,
                    None => self.insert(ad::add(x, y, ty))?,
                };
                self.insert(mem::ref_set(cell, sum))?;
            }
        }
        Ok(())
    }

    fn zero(&mut self, ty: Type) -> IrResult<Operand> {
        let zero = if ty == Type::F32 { Constant::from(0.0f32) } else { Constant::from(0.0f64) };
        Ok(self.f.constant_id(zero).into())
    }

    fn parts(&mut self, parts: &[Part]) -> IrResult<SmallVec<[Operand; 2]>> {
        parts.iter().map(|part| self.part(part)).collect()
    }

    fn part(&mut self, part: &Part) -> IrResult<Operand> {
        if part.ty == Type::UNIT {
            return Ok(self.f.constant_id(Constant::Unit).into());
        }
        let mut at = part.of;
        for depth in 0..part.path.len() {
            let key = (part.of, SmallVec::from_slice(&part.path[..=depth]));
            at = match self.taken.get(&key) {
                Some(&taken) => taken,
                None => {
                    let index = self.f.constant_id(i64::from(part.path[depth]) + 1);
                    let taken = self.insert(core::get(at, index))?;
                    self.taken.insert(key, taken);
                    taken
                }
            };
        }
        Ok(at)
    }

    fn insert(&mut self, inst: Inst) -> IrResult<Operand> {
        Ok(self.f.insert(self.before, inst)?.into())
    }
}
