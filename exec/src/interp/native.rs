//! The native code of a world: which functions have some, and when it is made and dropped.
//!
//! A function is compiled together with all that it calls directly, so that they call each other without a
//! detour. Such a unit is dropped as a whole as soon as one of its functions, or one that it
//! calls, is no longer what it was.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::code::Code;
use super::machine::runtime;
use super::register::Scalar;
use super::world::World;
use crate::native::{
    Backend, Callee, Entry, Native, Runtime, Source, Target, Unit, is_translatable,
};

/// A function without loops is compiled when it is called so often.
const MANY_CALLS: u32 = 100;

/// The most instructions of a unit.
const LARGE_UNIT: usize = 20_000;

impl World {
    /// The state of code that has just been made.
    pub(super) fn native_at_first(&self) -> Native {
        if self.natives.backend.is_some() { Native::Untried(0) } else { Native::Refused }
    }

    /// The native code of a function, if it is worth it and possible.
    #[inline]
    pub(super) fn native(&self, code: &Code) -> Option<Entry> {
        match code.native.get() {
            Native::Refused => None,
            Native::Ready(compiled) => Some(compiled.entry),
            Native::Untried(calls) => self.consider(code, calls),
        }
    }

    #[cold]
    fn consider(&self, code: &Code, calls: u32) -> Option<Entry> {
        if !self.natives.eager && calls < MANY_CALLS && !code.has_loop() {
            code.native.set(Native::Untried(calls + 1));
            return None;
        }
        self.compile_unit(code);
        match code.native.get() {
            Native::Ready(compiled) => Some(compiled.entry),
            _ => {
                code.native.set(Native::Refused);
                None
            }
        }
    }

    /// Compiles a function, and all that it calls directly.
    fn compile_unit(&self, root: &Code) {
        let Some(backend) = &self.natives.backend else { return };
        let members = self.members(root);
        let (callee, runtime) = (self.callees(&members), runtime());
        let Some(sources) = self.sources(&members, &callee, &runtime) else { return };
        // A back end refuses what is too large for it: the interpreter runs it then.
        let Ok((machine_code, compiled)) = backend.compile(&sources) else { return };
        for (code, compiled) in members.iter().zip(compiled) {
            code.native.set(Native::Ready(compiled));
        }
        let calls = members.iter().flat_map(|code| code.calls.iter().map(|site| site.callee));
        let callees = calls.collect();
        let members = members.iter().map(|code| code.slot).collect();
        let unit = Unit { members, callees, _code: machine_code };
        self.natives.units.borrow_mut().push(unit);
    }

    /// Finds the code of a function that members of a unit call: in the unit, or elsewhere.
    pub(super) fn callees(&self, members: &[&Code]) -> impl Fn(u32) -> Option<Callee> {
        let numbers: FxHashMap<u32, u32> =
            members.iter().zip(0..).map(|(code, number)| (code.slot, number)).collect();
        move |slot| {
            let code = self.slot(slot).code.get()?;
            let target = match (numbers.get(&slot), code.native.get()) {
                (Some(&number), _) => Target::Member(number),
                (None, Native::Ready(compiled)) => Target::Address(compiled.body),
                _ => return None,
            };
            Some(Callee { target, result: Scalar::of(code.ret) })
        }
    }

    /// The sources of functions for their translation.
    pub(super) fn sources<'a>(
        &'a self,
        members: &[&'a Code],
        callee: &'a dyn Fn(u32) -> Option<Callee>,
        runtime: &'a Runtime,
    ) -> Option<Vec<Source<'a>>> {
        let counted = self.natives.counted;
        let source = |&code: &&'a Code| {
            let f = &*self.slot(code.slot).function.get()?.function;
            Some(Source { code, f, callee, runtime, counted })
        };
        members.iter().map(source).collect()
    }

    /// The functions of a unit: a function, and all that it calls and that have no code yet.
    fn members<'a>(&'a self, root: &'a Code) -> Vec<&'a Code> {
        let (mut members, mut seen) = (Vec::new(), FxHashSet::default());
        let (mut pending, mut size) = (vec![root], 0);
        while let Some(code) = pending.pop() {
            if !matches!(code.native.get(), Native::Untried(_)) || !seen.insert(code.slot) {
                continue;
            }
            if !is_translatable(code) {
                code.native.set(Native::Refused);
                continue;
            }
            size += code.insts.len();
            if size > LARGE_UNIT && !members.is_empty() {
                break;
            }
            members.push(code);
            for site in code.calls.iter().rev() {
                // What cannot be compiled makes its error when it is called.
                pending.extend(self.code(site.callee).ok());
            }
        }
        members
    }

    /// Drops the native code of functions that are gone, and of all that calls it.
    pub(super) fn drop_natives(&mut self, gone: impl Fn(u32) -> bool) {
        let units = self.natives.units.get_mut();
        if units.is_empty() {
            return;
        }
        let mut dropped: FxHashSet<u32> = FxHashSet::default();
        loop {
            let before = units.len();
            units.retain(|unit| {
                let mut slots = unit.members.iter().chain(&unit.callees);
                let stays = !slots.any(|&slot| gone(slot) || dropped.contains(&slot));
                if !stays {
                    dropped.extend(&unit.members);
                }
                stays
            });
            if units.len() == before {
                break;
            }
        }
        for slot in dropped {
            if let Some(code) = self.slot(slot).code.get() {
                code.native.set(Native::Untried(0));
            }
        }
    }

    /// Sets the back end; what was compiled before is dropped.
    pub(super) fn set_backend(&mut self, backend: Option<Rc<dyn Backend>>, eager: bool) {
        self.drop_natives(|_| true);
        (self.natives.backend, self.natives.eager) = (backend, eager);
        self.reset_natives();
    }

    /// Says whether code counts the instructions that it runs.
    pub(super) fn set_counted(&mut self, counted: bool) {
        if self.natives.counted != counted {
            self.natives.counted = counted;
            self.drop_natives(|_| true);
            self.reset_natives();
        }
    }

    fn reset_natives(&self) {
        let state = self.native_at_first();
        for (_, slot) in &self.slots {
            if let Some(code) = slot.code.get() {
                code.native.set(state);
            }
        }
    }
}
