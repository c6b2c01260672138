//! Tangents in the code that is made: zeros, and what is known by another type.

use regraft_dialects::{ad, core, data};
use regraft_ir::{Operand, Type, Value};
use smallvec::smallvec;

use super::writer::{Dual, Writer};
use crate::tangent_builder as build;

impl Writer<'_, '_> {
    /// The tangents of an operand of the function that is differentiated; zeros if it has none.
    pub(super) fn tangent_of(&mut self, old: Operand) -> Dual {
        match old.as_value().and_then(|v| self.tangents[v.index()].clone()) {
            Some(dual) => dual,
            None => {
                let ty = self.from.operand_type(old);
                let primal = self.operand(old);
                (0..self.driver.width).map(|_| self.zero(primal, ty)).collect()
            }
        }
    }

    /// The zero tangent of a value of type `ty`.
    pub(super) fn zero(&mut self, x: Operand, ty: Type) -> Operand {
        let tangent = self.tangent_type(ty);
        if self.driver.all.types.has_shadow(ty) {
            self.emit(ad::zero(x, tangent))
        } else {
            self.zeros(tangent)
        }
    }

    /// The zero of a tangent type without objects.
    pub(super) fn zeros(&mut self, tangent: Type) -> Operand {
        build::zero(&self.ctx(), tangent, &mut |inst| self.emit(inst))
    }

    /// The type of the tangent of a value of type `ty`.
    pub(super) fn tangent_type(&mut self, ty: Type) -> Type {
        self.driver.all.types.tangent(ty)
    }

    /// A tangent as one of type `want`: what is known as `any` is what it has to be when the
    /// program runs.
    pub(super) fn coerced(&mut self, tangent: Operand, want: Type) -> Operand {
        let have = self.to.operand_type(tangent);
        if have == want {
            tangent
        } else if want == Type::ANY {
            self.emit(core::convert(tangent, want))
        } else {
            self.emit(ad::unbox(tangent, want))
        }
    }

    /// As [`Writer::coerced`], for each direction.
    pub(super) fn all_coerced(&mut self, dual: Dual, want: Type) -> Dual {
        dual.into_iter().map(|tangent| self.coerced(tangent, want)).collect()
    }

    /// A value as one of type `want`.
    pub(super) fn value_coerced(&mut self, value: Operand, want: Type) -> Operand {
        let have = self.to.operand_type(value);
        if have == want {
            value
        } else if want == Type::ANY {
            self.emit(core::convert(value, want))
        } else {
            self.emit(core::typeassert(value, want))
        }
    }

    /// One operand for all directions, as it is passed to functions.
    pub(super) fn packed(&mut self, dual: Dual) -> Operand {
        match dual[..] {
            [tangent] => tangent,
            _ => self.emit(core::tuple(dual)),
        }
    }

    /// The tangents of each direction from what a function passes.
    pub(super) fn unpacked(&mut self, packed: Operand) -> Dual {
        if self.driver.width == 1 {
            return smallvec![packed];
        }
        (1..=self.driver.width as i64)
            .map(|k| {
                let k = self.constant(k);
                self.emit(core::get(packed, k))
            })
            .collect()
    }

    /// The tangent of the parts of an object or value at `position`, from 1.
    pub(super) fn part(&mut self, whole: Operand, position: usize) -> Operand {
        let position = self.constant(position as i64);
        if self.to.operand_type(whole) == Type::ANY {
            self.emit(data::getfield(whole, position))
        } else {
            self.emit(core::get(whole, position))
        }
    }

    /// Gives `v` these tangents, of the type that its own has.
    pub(super) fn define_tangent(&mut self, v: Value, dual: Dual) {
        let want = self.tangent_type(self.from.ty(v));
        let dual = self.all_coerced(dual, want);
        if let Some(name) = self.from.value_symbol(v) {
            let name = self.tangent_name(name);
            for tangent in &dual {
                self.name(*tangent, name);
            }
        }
        self.tangents[v.index()] = Some(dual);
    }
}
