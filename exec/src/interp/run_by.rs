//! Tells by what the functions of a program are run, and why the interpreter does it where it does.

use rustc_hash::FxHashSet;

use super::Interpreter;
use super::code::Code;
use super::world::{Slot, World};
use crate::engine::EngineKind;
use crate::native::{Native, obstacle};

/// The engine that runs a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RunBy {
    /// Native code by that engine.
    Native(EngineKind),
    /// The interpreter, as it is called too rarely, or runs too shortly, for native code.
    Rarely,
    /// The interpreter, for a reason: "catches errors".
    Interpreter(&'static str),
}

impl World {
    fn run_by(&self, code: &Code, slot: &Slot) -> RunBy {
        match code.native.get() {
            Native::Untried(_) => {
                let rests = slot.rests();
                let units = self.natives.units.borrow();
                let mut units = units.iter().rev();
                let unit = units.find(|unit| rests.iter().any(|rest| unit.members.contains(rest)));
                unit.map_or(RunBy::Rarely, |unit| RunBy::Native(unit.by))
            }
            Native::Refused => {
                let form = slot.optimized.get().and_then(Option::as_ref);
                let why = obstacle(form.map_or(code, |form| &form.code));
                RunBy::Interpreter(why.unwrap_or("is too large for the compiler"))
            }
            Native::Ready(_) => {
                let units = self.natives.units.borrow();
                let unit = units.iter().rev().find(|unit| unit.members.contains(&code.slot));
                RunBy::Native(unit.map_or(self.natives.engine, |unit| unit.by))
            }
        }
    }
}

impl Interpreter {
    /// The functions that were called so far, in the order in which they were first asked for, each as reports of errors
    /// show it, and the engine that runs it now. Code at top level runs once and is not among them.
    pub fn run_by(&self) -> Vec<(String, RunBy)> {
        let texts = self.state.host.texts(&self.world.ctx);
        let by = |slot: &Slot| {
            let run_by = match self.kind {
                EngineKind::Interpreter => RunBy::Interpreter("is asked for"),
                _ => self.world.run_by(slot.code.get()?, slot),
            };
            Some((texts.function_text(slot.name), run_by))
        };
        let rests: FxHashSet<u32> =
            self.world.slots.iter().flat_map(|(_, slot)| slot.rests()).collect();
        let slots = self.world.slots.iter().filter(|(at, _)| !rests.contains(&(*at as u32)));
        slots.filter_map(|(_, slot)| slot.code.get().and_then(|_| by(slot))).collect()
    }
}
