//! The addresses and lengths of arrays, looked up where they are written to a register, or where they are
//! used ([`known_arrays`](super::known_arrays)).

use regraft_ir::{Type, TypeKind};
use smallvec::SmallVec;

use super::super::emitter::{Area, Emitter, Mem};
use super::Translator;
use super::known_arrays::KnownArray;
use crate::interp::{Dst, Inst, Pc, Reg, Scalar};
use crate::value::offsets;

impl<E: Emitter> Translator<'_, '_, E> {
    /// Looks at parameters that are arrays.
    pub(super) fn note_params(&mut self) {
        for (reg, ty) in self.params_of_arrays() {
            self.note(reg, ty);
        }
    }

    /// Looks at an array that an instruction has written to a register.
    pub(super) fn note_array(&mut self, pc: Pc) {
        if let Some((reg, ty)) = self.array_of(pc) {
            self.note(reg, ty);
        }
    }

    /// The registers of parameters that may be arrays, and the types.
    pub(super) fn params_of_arrays(&self) -> Vec<(Reg, Type)> {
        let params = &self.source.code.params;
        let vals = params.iter().filter(|&&ty| Scalar::of(ty).is_none());
        (0..).zip(vals.copied()).collect()
    }

    /// The register that an instruction writes something to that may be an array, and its type.
    pub(super) fn array_of(&self, pc: Pc) -> Option<(Reg, Type)> {
        let code = self.source.code;
        let dst = match code.insts[pc as usize] {
            Inst::Eval { site } => code.evals[site as usize].dst,
            Inst::Call { site } => code.calls[site as usize].dst,
            Inst::GetVal { vd, .. } => Dst::Val(vd),
            _ => return None,
        };
        match dst {
            Dst::Val(reg) => Some((reg, self.source.f.ty(self.made_from(pc)))),
            _ => None,
        }
    }

    /// Looks up the parts of an array in a register that is written once.
    pub(super) fn note(&mut self, reg: Reg, ty: Type) {
        let &TypeKind::Array { rank, .. } = self.source.f.ctx().kind(ty) else { return };
        if !self.arrays.once[reg as usize] {
            return;
        }
        let fixed = self.arrays.are_fixed(rank);
        self.arrays.known[reg as usize] = Some(self.parts_in(reg, rank, fixed));
    }

    /// Looks up the address of the array in a register, and its parts if they are `fixed`.
    pub(super) fn parts_in(&mut self, reg: Reg, rank: u8, fixed: bool) -> KnownArray<E::Value> {
        let address = self.object(self.reg(reg));
        let parts = fixed.then(|| (self.elements(address), self.lengths(address, rank.into())));
        KnownArray { address, parts }
    }

    pub(super) fn elements(&mut self, array: E::Value) -> E::Value {
        self.e.load(Mem::Ptr, Area::Header, array, offsets::ARRAY_DATA)
    }

    fn lengths(&mut self, array: E::Value, rank: usize) -> SmallVec<[E::Value; 4]> {
        if rank == 1 {
            let length = self.e.load(Mem::I64, Area::Header, array, offsets::ARRAY_LEN);
            return SmallVec::from_slice(&[length]);
        }
        let dims = self.e.load(Mem::Ptr, Area::Header, array, offsets::ARRAY_DIMS);
        (0..rank).map(|at| self.e.load(Mem::I64, Area::Header, dims, at as i32 * 8)).collect()
    }

    /// The address of the elements of the array in a register.
    pub(super) fn elements_of(&mut self, reg: Reg) -> E::Value {
        match self.arrays.known[reg as usize] {
            Some(KnownArray { parts: Some((elements, _)), .. }) if !self.ends => elements,
            _ => {
                let address = self.address_of(reg);
                self.elements(address)
            }
        }
    }

    /// So many lengths of the array in a register: one for each dimension, or the number of elements.
    pub(super) fn lengths_of(&mut self, reg: Reg, count: usize) -> SmallVec<[E::Value; 4]> {
        match &self.arrays.known[reg as usize] {
            Some(KnownArray { parts: Some((_, lengths)), .. })
                if lengths.len() == count && !self.ends =>
            {
                lengths.clone()
            }
            _ => {
                let address = self.address_of(reg);
                self.lengths(address, count)
            }
        }
    }

    pub(super) fn address_of(&mut self, reg: Reg) -> E::Value {
        match self.arrays.known[reg as usize] {
            Some(KnownArray { address, .. }) => address,
            None => self.object(self.reg(reg)),
        }
    }
}
