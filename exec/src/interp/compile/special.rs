//! Typed ops that have an instruction of their own.

use regraft_dialects::{arith, core, data, math, mem, prof};
use regraft_ir::{Constant, Op, Operand, Type, TypeKind, Value};
use smallvec::SmallVec;

use super::super::code::ScalarOp;
use super::super::inst::Inst;
use super::super::register::{Dst, Reg, Scalar, Src};
use super::Compiler;
use super::control::Test;

impl Compiler<'_> {
    /// The instruction of its own that a typed op has.
    pub(super) fn special(&mut self, v: Value, op: Op) -> Option<Inst> {
        let operands: SmallVec<[Operand; 4]> = self.f.operands(v).collect();
        let first = *operands.first()?;
        match op {
            prof::RECORD_START | prof::RECORD_END => {
                let event = self.f.const_sym(first)?;
                return match (self.dsts[v.index()], op) {
                    (Dst::Nowhere, prof::RECORD_START) => Some(Inst::RecordStart { event }),
                    (Dst::Nowhere, _) => Some(Inst::RecordEnd { event }),
                    _ => None,
                };
            }
            mem::LOAD | mem::STORE | mem::LENGTH | mem::PROBE | mem::INDEX_ENTRIES => {
                return self.array_access(v, op, &operands);
            }
            core::GET => return self.get(v, &operands),
            data::GETFIELD | mem::REF_GET => return self.get_field(v, &operands),
            data::SETFIELD | mem::REF_SET => return self.set_field(&operands),
            core::CONVERT if self.f.operand_type(first) == self.f.ty(v) => {
                return self.copy(v, first);
            }
            core::CONVERT if let Some(inst) = self.convert_scalar(v, first) => return Some(inst),
            core::TYPEASSERT => {
                let (Src::Val(va), Dst::Scalar(ty, d)) = (self.src(first), self.dsts[v.index()])
                else {
                    return None;
                };
                return Some(Inst::Unbox { ty, d, va });
            }
            _ => {}
        }
        let Dst::Scalar(result, d) = self.dsts[v.index()] else { return None };
        if let Some(inst) = self.add_immediate(v, d) {
            return Some(inst);
        }
        let ty = Scalar::of(self.f.operand_type(first))?;
        let a = self.reg(first, ty)?;
        match *operands {
            [_] => Some(match (op, ty) {
                (arith::NEG, Scalar::I64) => Inst::NegI { d, a },
                (arith::NEG, Scalar::F64) => Inst::NegF { d, a },
                (arith::NOT, Scalar::Bool) => Inst::NotBool { d, a },
                (arith::NOT, _) => Inst::NotI { d, a },
                // Slots of integers are sign-extended already.
                (arith::SEXT, ty) if ty != Scalar::Bool => Inst::Mov { d, a },
                (arith::INT_TO_FLOAT, _) if result == Scalar::F64 => Inst::IntToF { d, a },
                _ => return self.scalar(v, &[(ty, a)], result, d),
            }),
            [_, second] => {
                let second_ty = Scalar::of(self.f.operand_type(second))?;
                let b = self.reg(second, second_ty)?;
                if second_ty != ty {
                    let power = self.f.constant(second).filter(|_| op == math::POWI);
                    return match (power, ty) {
                        (Some(Constant::I64(2)), Scalar::F64) => Some(Inst::MulF { d, a, b: a }),
                        (Some(Constant::I64(2)), Scalar::F32) => Some(Inst::MulF32 { d, a, b: a }),
                        (Some(Constant::I64(3)), Scalar::F64) if d != a => {
                            self.emit(Inst::MulF { d, a, b: a });
                            Some(Inst::MulF { d, a: d, b: a })
                        }
                        _ => self.scalar(v, &[(ty, a), (second_ty, b)], result, d),
                    };
                }
                if let Some(test) = self.test_of(op, ty, a, b) {
                    return Some(match test {
                        Test::EqI(a, b) => Inst::EqI { d, a, b },
                        Test::NeI(a, b) => Inst::NeI { d, a, b },
                        Test::LtI(a, b) => Inst::LtI { d, a, b },
                        Test::LeI(a, b) => Inst::LeI { d, a, b },
                        Test::EqF(a, b) => Inst::EqF { d, a, b },
                        Test::NeF(a, b) => Inst::NeF { d, a, b },
                        Test::LtF(a, b) => Inst::LtF { d, a, b },
                        Test::LeF(a, b) => Inst::LeF { d, a, b },
                        Test::Reg(a) => Inst::Mov { d, a },
                        // Only branches are made of these.
                        Test::EqImm(..) | Test::NeImm(..) | Test::LtImm(..) | Test::GeImm(..) => {
                            return None;
                        }
                    });
                }
                Some(match (op, ty) {
                    (arith::ADD, Scalar::I64) => Inst::AddI { d, a, b },
                    (arith::SUB, Scalar::I64) => Inst::SubI { d, a, b },
                    (arith::MUL, Scalar::I64) => Inst::MulI { d, a, b },
                    (arith::ADD, Scalar::I32) => Inst::AddI32 { d, a, b },
                    (arith::SUB, Scalar::I32) => Inst::SubI32 { d, a, b },
                    (arith::MUL, Scalar::I32) => Inst::MulI32 { d, a, b },
                    (arith::AND, _) => Inst::And { d, a, b },
                    (arith::OR, _) => Inst::Or { d, a, b },
                    (arith::XOR, _) => Inst::Xor { d, a, b },
                    (arith::ADD, Scalar::F64) => Inst::AddF { d, a, b },
                    (arith::SUB, Scalar::F64) => Inst::SubF { d, a, b },
                    (arith::MUL, Scalar::F64) => Inst::MulF { d, a, b },
                    (arith::FDIV, Scalar::F64) => Inst::DivF { d, a, b },
                    (arith::ADD, Scalar::F32) => Inst::AddF32 { d, a, b },
                    (arith::SUB, Scalar::F32) => Inst::SubF32 { d, a, b },
                    (arith::MUL, Scalar::F32) => Inst::MulF32 { d, a, b },
                    (arith::FDIV, Scalar::F32) => Inst::DivF32 { d, a, b },
                    _ => return self.scalar(v, &[(ty, a), (ty, b)], result, d),
                })
            }
            [_, x, y] if op == core::SELECT && ty == Scalar::Bool => {
                let (x, y) = (self.reg(x, result)?, self.reg(y, result)?);
                let b = u16::try_from(y).ok()?;
                Some(Inst::Select { d, condition: a, a: x, b })
            }
            [_, y, z] => {
                let (y_ty, z_ty) =
                    (Scalar::of(self.f.operand_type(y))?, Scalar::of(self.f.operand_type(z))?);
                let (y, z) = (self.reg(y, y_ty)?, self.reg(z, z_ty)?);
                self.scalar(v, &[(ty, a), (y_ty, y), (z_ty, z)], result, d)
            }
            _ => None,
        }
    }

    /// An op on scalars by the function that its declaration names.
    pub(super) fn scalar(
        &mut self,
        v: Value,
        args: &[(Scalar, Reg)],
        result: Scalar,
        d: Reg,
    ) -> Option<Inst> {
        let types: SmallVec<[Type; 3]> = args.iter().map(|(ty, _)| ty.ty()).collect();
        let def = self.f.op_def(v)?;
        let found = (def.eval?)(&types, result.ty())?;
        if found.result != result.ty() {
            return None;
        }
        let (&(ty, _), operands) = (args.first()?, args.len() as u8);
        let function = ScalarOp { call: found.call, op: def.op, ty, operands, result };
        let known = self.functions.iter().position(|f| {
            (f.op, f.ty, f.result) == (def.op, ty, result)
                && std::ptr::fn_addr_eq(f.call, found.call)
        });
        let index = known.unwrap_or(self.functions.len());
        let reg = |i: usize| u16::try_from(args.get(i).map_or(0, |&(_, reg)| reg)).ok();
        let (index, b, c) = (u16::try_from(index).ok()?, reg(1)?, reg(2)?);
        if known.is_none() {
            self.functions.push(function);
        }
        Some(Inst::Scalar { function: index, d, a: args[0].1, b, c })
    }

    /// A conversion between scalars that cannot fail.
    fn convert_scalar(&mut self, v: Value, from: Operand) -> Option<Inst> {
        let Dst::Scalar(to, d) = self.dsts[v.index()] else { return None };
        let ty = Scalar::of(self.f.operand_type(from))?;
        let a = self.reg(from, ty)?;
        // Slots hold truth values as 0 and 1, and integers sign-extended.
        let small = matches!(ty, Scalar::Bool | Scalar::I8 | Scalar::I16 | Scalar::I32);
        match to {
            Scalar::F64 if small || ty == Scalar::I64 => Some(Inst::IntToF { d, a }),
            Scalar::I64 if small => Some(Inst::Mov { d, a }),
            _ => None,
        }
    }

    pub(super) fn copy(&mut self, v: Value, from: Operand) -> Option<Inst> {
        match (self.dsts[v.index()], self.src(from)) {
            (Dst::Scalar(_, d), Src::Scalar(_, a)) => Some(Inst::Mov { d, a }),
            (Dst::Val(vd), Src::Val(va)) => Some(Inst::MovVal { vd, va }),
            (Dst::Val(vd), Src::Const(index)) => Some(Inst::LoadConst { vd, index }),
            _ => None,
        }
    }

    pub(super) fn array_access(&mut self, v: Value, op: Op, operands: &[Operand]) -> Option<Inst> {
        let &TypeKind::Array { element, .. } = self.f.ctx().kind(self.f.operand_type(operands[0]))
        else {
            return None;
        };
        let Src::Val(va) = self.src(operands[0]) else { return None };
        let index = |this: &mut Self, operand| this.reg(operand, Scalar::I64);
        match (op, operands) {
            (mem::LENGTH, _) => match self.dsts[v.index()] {
                Dst::Scalar(_, d) => Some(Inst::Length { d, va }),
                _ => None,
            },
            (mem::PROBE, &[_, hash, after]) => {
                let Dst::Scalar(_, d) = self.dsts[v.index()] else { return None };
                let (a, b) = (index(self, hash)?, u16::try_from(index(self, after)?).ok()?);
                (element == Type::I32).then_some(Inst::Probe { b, d, va, a })
            }
            (mem::INDEX_ENTRIES, &[_, hashes, first, last]) => {
                let Src::Val(vb) = self.src(hashes) else { return None };
                let (a, b) = (index(self, first)?, u16::try_from(index(self, last)?).ok()?);
                (element == Type::I32).then_some(Inst::IndexEntries { b, va, vb, a })
            }
            (mem::LOAD, &[_, i]) => {
                let Dst::Scalar(ty, d) = self.dsts[v.index()] else { return None };
                let i = index(self, i)?;
                match (element, ty) {
                    (Type::F64, Scalar::F64) => Some(Inst::LoadF { d, va, i }),
                    (Type::I64, Scalar::I64) => Some(Inst::LoadI { d, va, i }),
                    (_, ty) if element == ty.ty() => Some(Inst::LoadScalar { ty, d, va, i }),
                    _ => None,
                }
            }
            (mem::LOAD, &[_, i, j]) => {
                let Dst::Scalar(ty, d) = self.dsts[v.index()] else { return None };
                let (i, j) = (index(self, i)?, u16::try_from(index(self, j)?).ok()?);
                match ty {
                    Scalar::F64 if element == Type::F64 => Some(Inst::LoadF2 { d, va, i, j }),
                    _ if element == ty.ty() => Some(Inst::LoadScalar2 { ty, j, d, va, i }),
                    _ => None,
                }
            }
            (mem::STORE, &[_, x, i]) => {
                let i = index(self, i)?;
                match (element, self.src(x)) {
                    (Type::F64, Src::Scalar(Scalar::F64, a)) => Some(Inst::StoreF { a, va, i }),
                    (Type::I64, Src::Scalar(Scalar::I64, a)) => Some(Inst::StoreI { a, va, i }),
                    _ => {
                        let ty =
                            Scalar::of(self.f.operand_type(x)).filter(|ty| ty.ty() == element)?;
                        Some(Inst::StoreScalar { ty, a: self.reg(x, ty)?, va, i })
                    }
                }
            }
            (mem::STORE, &[_, x, i, j]) => {
                let ty = Scalar::of(self.f.operand_type(x)).filter(|ty| ty.ty() == element)?;
                let (i, j) = (index(self, i)?, u16::try_from(index(self, j)?).ok()?);
                let a = self.reg(x, ty)?;
                Some(match ty {
                    Scalar::F64 => Inst::StoreF2 { a, va, i, j },
                    _ => Inst::StoreScalar2 { ty, j, a, va, i },
                })
            }
            _ => None,
        }
    }

    pub(super) fn get(&mut self, v: Value, operands: &[Operand]) -> Option<Inst> {
        let &[tuple, index] = operands else { return None };
        let ty = self.f.operand_type(tuple);
        let index = u32::try_from(self.f.const_i64(index)?.checked_sub(1)?).ok()?;
        if ty == Type::ANY {
            return None;
        }
        let Src::Val(va) = self.src(tuple) else { return None };
        self.get_from(v, va, index)
    }

    fn get_from(&mut self, v: Value, va: Reg, index: u32) -> Option<Inst> {
        match self.dsts[v.index()] {
            Dst::Scalar(Scalar::F64, d) => Some(Inst::GetF { d, va, index }),
            Dst::Scalar(Scalar::I64, d) => Some(Inst::GetI { d, va, index }),
            Dst::Scalar(ty, d) => {
                Some(Inst::GetScalar { ty, index: u16::try_from(index).ok()?, d, va })
            }
            Dst::Val(vd) => Some(Inst::GetVal { vd, va, index }),
            Dst::Nowhere => None,
        }
    }

    /// Position, from 0, and type of a field that the code names; the content of a ref is its
    /// field 0.
    fn field(&self, operands: &[Operand]) -> Option<(u16, Type)> {
        let ctx = self.f.ctx();
        let of = self.f.operand_type(*operands.first()?);
        if let &TypeKind::Ref(element) = ctx.kind(of) {
            return Some((0, element));
        }
        let types: SmallVec<[Type; 8]> = match ctx.kind(of) {
            TypeKind::Tuple(types) => types.iter().copied().collect(),
            TypeKind::Named(fields) => fields.iter().map(|&(_, ty)| ty).collect(),
            _ => ctx.struct_of(of)?.fields.iter().map(|&(_, ty)| ty).collect(),
        };
        let index = match self.f.constant(*operands.get(1)?)? {
            Constant::I64(index) => usize::try_from(index).ok()?.checked_sub(1)?,
            Constant::Sym(name) => match ctx.kind(of) {
                TypeKind::Named(fields) => fields.iter().position(|&(other, _)| other == name)?,
                _ => ctx.struct_of(of)?.field(name)?.0,
            },
            _ => return None,
        };
        Some((u16::try_from(index).ok()?, *types.get(index)?))
    }

    fn get_field(&mut self, v: Value, operands: &[Operand]) -> Option<Inst> {
        let (index, ty) = self.field(operands)?;
        let Src::Val(va) = self.src(operands[0]) else { return None };
        if self.f.ty(v) != ty {
            return None;
        }
        match self.dsts[v.index()] {
            Dst::Scalar(ty, d) => Some(Inst::GetScalar { ty, index, d, va }),
            Dst::Val(vd) => Some(Inst::GetVal { vd, va, index: index.into() }),
            Dst::Nowhere => None,
        }
    }

    /// Setting a field to what is known to fit; everything else is checked by the way that all
    /// ops go.
    fn set_field(&mut self, operands: &[Operand]) -> Option<Inst> {
        let (index, want) = self.field(operands)?;
        let &value = operands.last()?;
        let Src::Val(va) = self.src(operands[0]) else { return None };
        let have = self.f.operand_type(value);
        match self.src(value) {
            Src::Scalar(ty, a) if want == have || want == Type::ANY => {
                Some(Inst::SetScalar { ty, index, a, va })
            }
            Src::Val(vb) if have.is_assignable_to(want) => Some(Inst::SetVal { index, vb, va }),
            _ => None,
        }
    }
}
