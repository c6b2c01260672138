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
//! where they are, so that the program computes what it computed. A call that does not return (one
//! that throws) is ended by the handler. With `only=functions` the function itself is recorded,
//! from its entry to each return. Lowered code is made of calls alone, which are recorded under the
//! names of what they call. O(instructions).

use regraft_dialects::{core, prof};
use regraft_ir::{Block, Constant, Function, Symbol, Traits, Value};

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
    /// The function as a whole.
    Function,
    /// The function as a whole, and instructions of the dialects `arith` and `math`.
    FunctionAndOps,
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
    /// `arith` and `math` by its own. With `only=functions`, each function is recorded from its
    /// entry to each return. `prof.report` prints the log.
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
        &["all", "calls", "ops", "functions", "functions-and-ops"],
        "all",
        "record calls alone, or arithmetic alone; or functions from entry to return",
    )];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.events = match options.text("only") {
            "calls" => Events::Calls,
            "ops" => Events::Ops,
            "functions" => Events::Function,
            "functions-and-ops" => Events::FunctionAndOps,
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
        let mut recorded = found.len() as u64;
        if matches!(self.events, Events::Function | Events::FunctionAndOps) {
            record_function(f)?;
            recorded += 1;
        }
        cx.add("events recorded", recorded);
        Ok(())
    }
}

/// Records the function from its entry to each return.
fn record_function(f: &mut Function) -> PassResult {
    let Some(entry) = f.entry() else { return Ok(()) };
    let name = f.constant_id(Constant::Sym(f.name()));
    f.push_front(entry, prof::record_start(name))?;
    let returns = |f: &Function, block| {
        let def = f.terminator(block).and_then(|term| f.op_def(term));
        def.is_some_and(|def| def.traits.contains(Traits::RETURN))
    };
    let blocks: Vec<Block> = f.blocks().filter(|&block| returns(f, block)).collect();
    for block in blocks {
        match f.body(block).last().filter(|&last| f.op(last) == Some(core::TUPLE)) {
            // A tuple that is made to be returned need not be made, if it stands before the return.
            Some(tuple) => f.insert(tuple, prof::record_end(name))?,
            None => f.push(block, prof::record_end(name))?,
        };
    }
    Ok(())
}

/// The name under which an instruction is recorded, if it is.
fn event(f: &Function, v: Value, events: Events) -> Option<Symbol> {
    let def = f.op_def(v).filter(|def| !def.is_terminator())?;
    let op_name = def.name.rsplit_once('.').map_or(def.name, |(_, name)| name);
    if def.traits.contains(Traits::CALL) {
        let callee = f.operand(v, 0).and_then(|callee| f.const_func(callee));
        // A value that is called has a name if it is that of a variable.
        let variable = || f.operand(v, 0)?.as_value().and_then(|callee| f.value_symbol(callee));
        let name = callee.or_else(variable).unwrap_or_else(|| f.ctx().symbol(op_name));
        return matches!(events, Events::All | Events::Calls).then_some(name);
    }
    let computes = matches!(def.dialect_name(), "arith" | "math");
    let wanted = matches!(events, Events::All | Events::Ops | Events::FunctionAndOps);
    (computes && wanted).then(|| f.ctx().symbol(op_name))
}
