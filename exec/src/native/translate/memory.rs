//! Elements of arrays.

use regraft_ir::{Constant, TypeKind};

use super::super::emitter::{Area, Emitter, IntCmp, Mem};
use super::Translator;
use crate::interp::{Inst, Pc, Reg, Scalar};
use crate::value::offsets;

impl<E: Emitter> Translator<'_, '_, E> {
    /// Accesses to arrays of scalars; `false` if the instruction is another one.
    pub(super) fn memory_inst(&mut self, pc: Pc, inst: Inst) -> bool {
        match inst {
            Inst::LoadF { d, va, i } => self.load_element(pc, Scalar::F64, d, va, &[i]),
            Inst::LoadI { d, va, i } => self.load_element(pc, Scalar::I64, d, va, &[i]),
            Inst::LoadF2 { j, d, va, i } => {
                self.load_element(pc, Scalar::F64, d, va, &[i, Reg::from(j)]);
            }
            Inst::LoadScalar { ty, d, va, i } => self.load_element(pc, ty, d, va, &[i]),
            Inst::LoadScalar2 { ty, j, d, va, i } => {
                self.load_element(pc, ty, d, va, &[i, Reg::from(j)]);
            }
            Inst::StoreF { a, va, i } => self.store_element(pc, Scalar::F64, a, va, &[i]),
            Inst::StoreI { a, va, i } => self.store_element(pc, Scalar::I64, a, va, &[i]),
            Inst::StoreF2 { j, a, va, i } => {
                self.store_element(pc, Scalar::F64, a, va, &[i, Reg::from(j)]);
            }
            Inst::StoreScalar { ty, a, va, i } => self.store_element(pc, ty, a, va, &[i]),
            Inst::StoreScalar2 { ty, j, a, va, i } => {
                self.store_element(pc, ty, a, va, &[i, Reg::from(j)]);
            }
            Inst::Length { d, va } => {
                let array = self.object(self.reg(va));
                let length = self.e.load(Mem::I64, Area::Header, array, offsets::ARRAY_LEN);
                self.e.write(d, length);
            }
            _ => return false,
        }
        true
    }

    /// Returns whether an instruction whose operands are out of the ordinary is left to the runtime.
    pub(super) fn is_known_access(&self, pc: Pc, indices: usize) -> bool {
        let ty = self.operand_type(pc, 0);
        match *self.source.f.ctx().kind(ty) {
            TypeKind::Array { rank, .. } => indices == 1 || usize::from(rank) == indices,
            _ => false,
        }
    }

    fn load_element(&mut self, pc: Pc, ty: Scalar, d: Reg, va: Reg, indices: &[Reg]) {
        if !self.is_known_access(pc, indices.len()) {
            self.slowly(pc);
            return;
        }
        let address = self.element(pc, ty, va, indices);
        let x = self.e.load(ty.mem(), Area::Elements(ty.mem()), address, 0);
        self.e.write(d, x);
    }

    fn store_element(&mut self, pc: Pc, ty: Scalar, a: Reg, va: Reg, indices: &[Reg]) {
        if !self.is_known_access(pc, indices.len()) {
            self.slowly(pc);
            return;
        }
        let address = self.element(pc, ty, va, indices);
        let x = self.e.read(a);
        self.e.store(ty.mem(), Area::Elements(ty.mem()), address, 0, x);
    }

    /// The address of an element, which is checked unless the program promises that it is there.
    fn element(&mut self, pc: Pc, ty: Scalar, va: Reg, indices: &[Reg]) -> E::Value {
        let array = self.object(self.reg(va));
        let unchecked = self.is_promised(pc);
        let minus = self.e.int(-1);
        let data = self.e.load(Mem::Ptr, Area::Header, array, offsets::ARRAY_DATA);
        let position = match *indices {
            [i, j] => {
                let dims = self.e.load(Mem::Ptr, Area::Header, array, offsets::ARRAY_DIMS);
                let rows = self.e.load(Mem::I64, Area::Header, dims, 0);
                let (i, j) = (self.e.read(i), self.e.read(j));
                let i = self.e.int2(super::super::emitter::Int2::Add, i, minus);
                let j = self.e.int2(super::super::emitter::Int2::Add, j, minus);
                if !unchecked {
                    let columns = self.e.load(Mem::I64, Area::Header, dims, 8);
                    let in_rows = self.e.int_cmp(IntCmp::Below, i, rows);
                    let in_columns = self.e.int_cmp(IntCmp::Below, j, columns);
                    let inside = self.e.and(in_rows, in_columns);
                    self.ensure(inside, pc);
                }
                let column = self.e.int2(super::super::emitter::Int2::Mul, j, rows);
                self.e.int2(super::super::emitter::Int2::Add, column, i)
            }
            _ => {
                let i = self.e.read(indices[0]);
                let i = self.e.int2(super::super::emitter::Int2::Add, i, minus);
                if !unchecked {
                    let length = self.e.load(Mem::I64, Area::Header, array, offsets::ARRAY_LEN);
                    let inside = self.e.int_cmp(IntCmp::Below, i, length);
                    self.ensure(inside, pc);
                }
                i
            }
        };
        self.e.element(data, position, ty.mem().size())
    }

    fn is_promised(&self, pc: Pc) -> bool {
        let v = self.made_from(pc);
        self.source.f.attr(v, "inbounds") == Some(Constant::Bool(true))
    }
}

impl Scalar {
    /// The type of memory that holds such a scalar.
    pub(in crate::native) fn mem(self) -> Mem {
        match self {
            Self::Bool | Self::I8 => Mem::I8,
            Self::I16 => Mem::I16,
            Self::I32 => Mem::I32,
            Self::I64 => Mem::I64,
            Self::F32 => Mem::F32,
            Self::F64 => Mem::F64,
        }
    }
}
