//! Tangents in the code that is made: zeros, and what is known by another type.

use regraft_dialects::{ad, core, data, mem};
use regraft_ir::{Constant, Operand, Type, TypeKind, Value};
use smallvec::smallvec;

use super::writer::{Dual, Writer};

impl Writer<'_, '_> {
    /// The tangents of an operand of the function that is differentiated; zeros if it has none.
    pub(super) fn tangent_of(&mut self, old: Operand) -> Dual {
        match old.as_value().and_then(|v| self.tangents[v.index()].clone()) {
            Some(dual) => dual,
            None => {
                let ty = self.from.operand_type(old);
                let primal = self.operand(old);
                (0..self.maker.width).map(|_| self.zero(primal, ty)).collect()
            }
        }
    }

    /// The zero tangent of a value of type `ty`.
    pub(super) fn zero(&mut self, x: Operand, ty: Type) -> Operand {
        let tangent = self.tangent_type(ty);
        if self.maker.all.types.has_shadow(ty) {
            self.emit(ad::zero(x, tangent))
        } else {
            self.zeros(tangent)
        }
    }

    /// The zero of a tangent type without objects. The recursion is as deep as types are nested,
    /// which the context limits.
    pub(super) fn zeros(&mut self, tangent: Type) -> Operand {
        let ctx = self.ctx();
        match ctx.kind(tangent) {
            TypeKind::Tuple(parts) => {
                let parts: Vec<Operand> = parts.iter().map(|&part| self.zeros(part)).collect();
                self.emit(core::tuple(parts))
            }
            TypeKind::Named(fields) => {
                let parts: Vec<Operand> =
                    fields.iter().map(|&(_, part)| self.zeros(part)).collect();
                self.emit(data::named(parts, tangent))
            }
            _ => self.constant(match tangent {
                Type::F64 => Constant::from(0.0f64),
                Type::F32 => Constant::from(0.0f32),
                _ => Constant::Unit,
            }),
        }
    }

    /// The type of the tangent of a value of type `ty`.
    pub(super) fn tangent_type(&mut self, ty: Type) -> Type {
        self.maker.all.types.tangent(ty)
    }

    /// A tangent as one of type `want`: what is known as `any` is what it has to be when the
    /// program runs.
    pub(super) fn fitted(&mut self, tangent: Operand, want: Type) -> Operand {
        let have = self.to.operand_type(tangent);
        if have == want {
            tangent
        } else if want == Type::ANY {
            self.emit(core::convert(tangent, want))
        } else {
            self.emit(ad::unbox(tangent, want))
        }
    }

    /// As [`Writer::fitted`], for each direction.
    pub(super) fn all_fitted(&mut self, dual: Dual, want: Type) -> Dual {
        dual.into_iter().map(|tangent| self.fitted(tangent, want)).collect()
    }

    /// A value as one of type `want`.
    pub(super) fn value_fitted(&mut self, value: Operand, want: Type) -> Operand {
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
        if self.maker.width == 1 {
            return smallvec![packed];
        }
        (1..=self.maker.width as i64)
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

    /// What the shadow of a mutable struct of type `ty` holds.
    pub(super) fn shadow_fields(&mut self, shadow: Operand, ty: Type) -> (Operand, Operand) {
        let cell = self.shadow_cell(shadow, ty);
        let fields = self.emit(mem::ref_get(cell));
        (cell, fields)
    }

    /// The shadow of a mutable struct of type `ty`, which may be known as `any`.
    fn shadow_cell(&mut self, shadow: Operand, ty: Type) -> Operand {
        let known = self.maker.all.types.object_shadow(ty);
        match known.filter(|&known| known != self.to.operand_type(shadow)) {
            Some(known) => self.emit(core::typeassert(shadow, known)),
            None => shadow,
        }
    }

    /// Gives `v` these tangents, of the type that its own has.
    pub(super) fn define_tangent(&mut self, v: Value, dual: Dual) {
        let want = self.tangent_type(self.from.ty(v));
        let dual = self.all_fitted(dual, want);
        if let Some(name) = self.from.value_symbol(v) {
            let name = self.tangent_name(name);
            for tangent in &dual {
                self.name(*tangent, name);
            }
        }
        self.tangents[v.index()] = Some(dual);
    }
}
