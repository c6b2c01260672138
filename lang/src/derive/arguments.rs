//! The arguments of an entry wrapper: their shadows going in, their tangents coming out.

use regraft_dialects::ad;
use regraft_ir::{Operand, Type};

use super::deriver::Primal;
use super::parts::{Writer, zero_of};

/// The arguments of an entry wrapper.
pub(super) struct Parts<'a> {
    pub(super) primal: &'a Primal,
    pub(super) args: &'a [Type],
    /// The parameters that it is differentiated with respect to.
    pub(super) active: Vec<bool>,
}

impl Parts<'_> {
    /// Zero tangents of all active parameters at once: what is there twice has one shadow.
    pub(super) fn zeros(&self, w: &mut Writer<'_>, args: &[Operand]) -> Operand {
        let active = args.iter().zip(&self.active).filter(|&(_, &active)| active);
        let args: Vec<Operand> = active.map(|(&arg, _)| arg).collect();
        let types: Vec<Type> = args.iter().map(|&arg| w.ty(arg)).collect();
        let all = w.ctx.tuple_type(&types);
        let tangent = w.types.tangent(all);
        if !w.types.has_shadow(all)
            && let Some(zero) = w.zero(tangent)
        {
            return zero;
        }
        // One object alone needs no care, and its shadow is seen to be new.
        if types.iter().filter(|&&ty| w.types.has_shadow(ty)).count() == 1 {
            let zeros = args.into_iter().zip(types).map(|(arg, ty)| zero_of(w, ty, arg));
            let zeros = zeros.collect();
            return w.tuple(zeros);
        }
        let all = w.tuple(args);
        w.push(ad::zero(all, tangent))
    }

    /// The zeros by parameter; `nothing` of those that are not active.
    pub(super) fn parts_of_zeros(&self, w: &mut Writer<'_>, zeros: Operand) -> Vec<Operand> {
        let mut parts = w.parts(zeros).into_iter();
        let mut out = Vec::new();
        for &active in &self.active {
            let part = if active { parts.next() } else { None };
            out.push(part.unwrap_or_else(|| w.unit()));
        }
        out
    }

    /// Adds the shadows to the arguments of a forward sweep.
    pub(super) fn add_shadows(&self, w: &mut Writer<'_>, zeros: Operand, args: &mut Vec<Operand>) {
        let zeros = self.parts_of_zeros(w, zeros);
        for (i, zero) in zeros.into_iter().enumerate() {
            let ty = self.primal.params[i];
            if self.active[i] && w.types.has_shadow(ty) {
                args.push(w.shadow(ty, zero));
            }
        }
    }

    /// The tangents of the parameters from their shadows and a tuple of cotangents.
    pub(super) fn tangents(
        &self,
        w: &mut Writer<'_>,
        zeros: Operand,
        cotangents: Operand,
    ) -> Vec<Operand> {
        let zeros = self.parts_of_zeros(w, zeros);
        let mut out = Vec::new();
        for (i, zero) in zeros.into_iter().enumerate() {
            if !self.active[i] {
                out.push(zero);
                continue;
            }
            let ty = self.primal.params[i];
            let cotangent = w.get(cotangents, i);
            let shadow = w.shadow(ty, zero);
            out.push(w.join(ty, shadow, cotangent));
        }
        out
    }

    /// A tuple of one tangent for each argument of a call.
    pub(super) fn by_argument(&self, w: &mut Writer<'_>, mut tangents: Vec<Operand>) -> Operand {
        if self.primal.takes_callee {
            tangents.remove(0);
        }
        if self.primal.fixed.is_some()
            && let Some(rest) = tangents.pop()
        {
            let count = self.args.len() - tangents.len();
            if w.ty(rest) == Type::UNIT {
                tangents.extend(std::iter::repeat_n(rest, count));
            } else {
                tangents.extend(w.parts(rest));
            }
        }
        // An argument without a derivative has none, however many parts it is made of.
        for (tangent, &ty) in tangents.iter_mut().zip(self.args) {
            if !w.types.has_tangent(ty) {
                *tangent = w.unit();
            }
        }
        w.tuple(tangents)
    }
}
