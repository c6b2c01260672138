//! Functions that a program at work may still call though a later definition made them wrong.
//!
//! Code that runs names the functions that it calls. One that was dropped before it was first called is made anew then, of the methods
//! that there are by now. If these give another type, the result is asserted to be of the one that the code knows.

use regraft_ir::{Symbol, Type, TypeKind};

use super::inference::{Inference, Replaced, Signature};
use crate::world::SpecId;

impl Inference {
    /// Notes a specialisation of a method that is to be dropped, under the name of its function.
    pub(super) fn note_replaced(&mut self, id: SpecId) {
        let Some(spec) = self.find(id) else { return };
        let (Some(name), Some(_), callee) = (spec.name, spec.method, spec.callee) else { return };
        let signature = self.signature(id);
        let mut args: Vec<Type> =
            signature.params.iter().copied().skip(usize::from(signature.takes_callee)).collect();
        if signature.fixed.is_some()
            && let Some(TypeKind::Tuple(rest)) = args.pop().map(|packed| self.ctx.kind(packed))
        {
            args.extend(rest);
        }
        self.replaced.insert(name, Replaced { callee, args, signature });
    }

    /// The specialisation that took the place of the one whose function had that name, and the type of its result in the eyes of those
    /// who call it by that name, if that is another one.
    pub fn successor(&mut self, name: Symbol) -> Option<(SpecId, Option<Type>)> {
        let Replaced { callee, args, .. } = self.replaced.get(&name)?;
        let (callee, args) = (*callee, args.clone());
        let id = self.specialize(callee, &args).ok()?;
        self.infer(id);
        let (old, new) = (&self.replaced.get(&name)?.signature, self.signature(id));
        let known = (old.result != new.result).then_some(old.result);
        (Signature { result: old.result, ..new } == *old).then_some((id, known))
    }

    /// Returns whether a program at work may call a function of that name that was dropped.
    pub(crate) fn is_replaced(&self, name: Symbol) -> bool {
        self.replaced.contains_key(&name)
    }

    /// Forgets what was dropped: no program is at work.
    pub fn forget_replaced(&mut self) {
        self.replaced.clear();
    }
}
