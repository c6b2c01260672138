//! Look-ups in hash tables: hashes of values, whether two are the same, and the entries of an index.

use regraft_dialects::core;
use smallvec::SmallVec;

use super::super::emitter::{Address, Emitter};
use super::super::hash_tables;
use super::Translator;
use super::values::value_in;
use crate::interp::{Dst, Inst, Scalar, Src};

impl<E: Emitter> Translator<'_, '_, E> {
    /// Look-ups; `false` if the instruction does something else.
    pub(super) fn hash_table_inst(&mut self, inst: Inst) -> bool {
        match inst {
            Inst::Probe { d, va, a, b } => {
                let (places, count) = (self.elements_of(va), self.lengths_of(va, 1)[0]);
                let (hash, after) = (self.e.read(a), self.e.read(b.into()));
                let args = [places, count, hash, after];
                if let Some(found) = self.e.call(&hash_tables::next_entry(), &args) {
                    self.e.write(d, found);
                }
                true
            }
            Inst::Eval { site } => self.hash_inst(site),
            _ => false,
        }
    }

    /// The hash of a value, or whether two are the same.
    fn hash_inst(&mut self, site: u32) -> bool {
        let site = &self.source.code.evals[site as usize];
        let (function, d) = match (site.def.op, site.dst, site.args.len()) {
            (core::HASH, Dst::Scalar(Scalar::I64, d), 1) => (hash_tables::hash_of_value(), d),
            (core::SAME, Dst::Scalar(Scalar::Bool, d), 2) => (hash_tables::are_same(), d),
            _ => return false,
        };
        if site.args.iter().any(|src| matches!(src, Src::Scalar(..) | Src::Unit)) {
            return false;
        }
        let addresses: SmallVec<[E::Value; 2]> = site
            .args
            .iter()
            .map(|&src| match src {
                Src::Const(index) => self.e.address(Address::Constant(self.source.code, index)),
                src => self.val(value_in(src).map_or(0, |(reg, _)| reg)),
            })
            .collect();
        if let Some(result) = self.e.call(&function, &addresses) {
            self.e.write(d, result);
        }
        for (reg, is_last) in site.args.iter().filter_map(|&src| value_in(src)) {
            if is_last {
                self.empty(reg);
            }
        }
        true
    }
}
