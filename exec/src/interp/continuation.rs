//! The rest of a function in a better form: a call that is at work goes on in it when its loops have run for long.
//!
//! A function with loops is interpreted as it is at first, as most calls are over before passes on it would be. A loop that
//! turns out to run long goes on in another function, which begins at its header, takes what is live there, and has been
//! through the passes ([`CallResolver::continued`](crate::CallResolver::continued)). Its frame takes the place of the one that was at
//! work, and native code is made of it as of any other function. The next call runs the function from its beginning, in native code.
//!
//! Objects that the function itself has made are something unknown in its rest. Where they are refs or structs, passes would not
//! take them apart there: such a function is optimized before it first runs.

use std::rc::Rc;

use regraft_dialects::{core, data, mem};
use regraft_ir::{Function, TypeKind, Value};

use super::code::Code;
use super::compile::live_at;
use super::inst::Pc;
use super::native::HOT;
use super::register::Dst;
use super::world::{Continuation, Held, Rest, Slot, World};
use crate::native::{Native, obstacle};

impl World {
    /// Returns whether calls of a function may begin in the form that it has, as there will be a way out of its loops.
    pub(super) fn may_continue(&self, code: &Code) -> bool {
        let held = self.slot(code.slot).function.get().filter(|held| held.is_resolved);
        let Some(held) = held.filter(|held| !makes_objects(&held.function)) else { return false };
        let mut resolver = self.resolver.borrow_mut();
        let mut may_continue =
            || resolver.as_mut()?.may_continue(held.function.name()).then_some(());
        obstacle(code).is_none() && may_continue().is_some()
    }

    /// The function that goes on from a header in the form that the interpreter runs. It is made when it is first asked for.
    pub(super) fn continued(&self, own: &Code, code: &Code, header: Pc) -> Option<Rc<Rest>> {
        let slot = self.slot(own.slot);
        // After a redefinition, the call resolver knows another one.
        let is_known = slot.function.get().is_some_and(|held| {
            held.is_resolved && self.find(held.function.name()) == Some(own.slot)
        });
        if !is_known || !std::ptr::eq(own, code) {
            return None;
        }
        let known = || {
            let continuations = slot.continuations.borrow();
            continuations.iter().find(|of| of.from == header).map(|of| of.rest.clone())
        };
        known().unwrap_or_else(|| {
            let rest = self.make_rest(own, header).map(Rc::new);
            slot.continuations.borrow_mut().push(Continuation { from: header, rest: rest.clone() });
            rest
        })
    }

    fn make_rest(&self, own: &Code, header: Pc) -> Option<Rest> {
        let f = &self.slot(own.slot).function.get()?.function;
        let (block, live) = live_at(self, f, own.slot, header)?;
        let (values, args): (Vec<Value>, Vec<Dst>) = live.into_iter().unzip();
        let rest = self.resolver.borrow_mut().as_mut()?.continued(f.name(), f, block, &values)?;
        let slot = self.slots.push(Slot::of(own.name, Held::new(rest).into())) as u32;
        let code = self.code(slot).ok().filter(|code| obstacle(code).is_none())?;
        // It is worth native code as the function is.
        let heat = if let Native::Untried(heat) = own.native.get() { heat } else { HOT };
        code.native.set(Native::Untried(heat));
        Some(Rest { slot, args: args.into() })
    }

    /// Drops all of them.
    pub(super) fn drop_continuations(&mut self) {
        let mut gone: Vec<u32> = Vec::new();
        for (_, slot) in &self.slots {
            gone.extend(slot.rests());
            slot.continuations.take();
        }
        gone.into_iter().for_each(|index| self.take_slot_back(index));
    }
}

/// Returns whether a function makes refs or structs that can be changed, or calls what does, and uses them in other blocks.
fn makes_objects(f: &Function) -> bool {
    f.all_insts().any(|v| {
        let is_made = matches!(f.op(v), Some(mem::REF_NEW | data::NEW_OBJECT | core::CALL));
        let is_array = || matches!(f.ctx().kind(f.ty(v)), TypeKind::Array { .. });
        let home = f.block_of(v);
        is_made
            && f.ctx().is_object(f.ty(v))
            && !is_array()
            && f.uses(v).any(|at| f.block_of(at.user) != home)
    })
}
