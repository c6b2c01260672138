//! Records when calls and computations start and end.
//!
//! ```text
//!                                  %7: unit = prof.record_start :mul
//!   %4: f64 = arith.mul %2, %3     %4: f64 = arith.mul %2, %3
//!                                  %8: unit = prof.record_end :mul
//!                                  %9: unit = prof.record_start :sin
//!   %5: f64 = math.sin %3     =>   %5: f64 = math.sin %3
//!                                  %10: unit = prof.record_end :sin
//!                                  %11: unit = prof.record_start :add
//!   %6: f64 = arith.add %4, %5     %6: f64 = arith.add %4, %5
//!                                  %12: unit = prof.record_end :add
//!   return %6                      return %6
//! ```
//!
//! Each call, and each instruction of the dialects `arith` and `math`, gets a record before and
//! after it, named as the function that is called or as the op. The instructions themselves stay
//! where they are, so that the program computes what it computed. What does not return (a call
//! that throws) leaves a start without an end. O(instructions).

use regraft_dialects::prof;
use regraft_ir::{Constant, Function, Symbol, Traits, Value};

use crate::options::{OptionDef, Options};
use crate::{FunctionPass, PassContext, PassResult};

/// The events to record.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Events {
    /// Calls and computations.
    #[default]
    All,
    /// Calls.
    Calls,
    /// Instructions of the dialects `arith` and `math`.
    Ops,
}

crate::pass! {
    /// Records when calls and computations start and end.
    ///
    /// ```text
    ///                                   %4: unit = prof.record_start :sin
    /// %3: f64 = math.sin %2     =>      %3: f64 = math.sin %2
    ///                                   %5: unit = prof.record_end :sin
    /// ```
    ///
    /// Each call is recorded by the name of what is called, each instruction of the dialects
    /// `arith` and `math` by its own. `prof.report` prints the log.
    #[derive(Debug, Default)]
    pub struct Profile {
        events: Events,
    }
}

impl FunctionPass for Profile {
    const NAME: &'static str = "profile";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[OptionDef::choice(
        "only",
        &["all", "calls", "ops"],
        "all",
        "record calls alone, or arithmetic alone",
    )];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.events = match options.text("only") {
            "calls" => Events::Calls,
            "ops" => Events::Ops,
            _ => Events::All,
        };
        Ok(())
    }

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let found: Vec<(Value, Symbol)> =
            f.all_insts().filter_map(|v| Some((v, event(f, v, self.events)?))).collect();
        for &(v, name) in &found {
            let name = f.constant_id(Constant::Sym(name));
            f.insert(v, prof::record_start(name))?;
            f.insert_after(v, prof::record_end(name))?;
        }
        cx.add("events recorded", found.len() as u64);
        Ok(())
    }
}

/// The name under which an instruction is recorded, if it is.
fn event(f: &Function, v: Value, events: Events) -> Option<Symbol> {
    let def = f.op_def(v).filter(|def| !def.is_terminator())?;
    let op_name = def.name.rsplit_once('.').map_or(def.name, |(_, name)| name);
    if def.traits.contains(Traits::CALL) {
        let callee = f.operand(v, 0).and_then(|callee| f.const_func(callee));
        let name = callee.unwrap_or_else(|| f.ctx().symbol(op_name));
        return (events != Events::Ops).then_some(name);
    }
    let computes = matches!(def.dialect_name(), "arith" | "math");
    (computes && events != Events::Calls).then(|| f.ctx().symbol(op_name))
}
