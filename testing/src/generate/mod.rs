//! Random valid modules.
//!
//! A module is drawn from [`Choices`]: the same choices give the same module, and simpler
//! choices a simpler one. What comes out always verifies, and (but for the fuel that traps and
//! recursion save) always ends: loops count to bounds that are near, and wherever control can go
//! round in another way, in irreducible graphs, through the entry block, through recursion, a
//! counter that is passed along ends it.
//!
//! # What is covered
//! Ops are not listed here: they are taken from the registry, and operands are chosen to fit
//! their signatures, so that the ops of a third party's dialect are generated as soon as they
//! are registered. Only ops whose signature does not say enough (calls, fields, conversions,
//! whatever would nearly always trap) have code of their own.
//!
//! A value whose static type is `any` is generated together with the type that it has when the
//! program runs, so that dynamic ops mostly work as well.
//!
//! ```
//! use regraft_testing::generate::{Config, ModuleCase};
//!
//! let ctx = regraft_dialects::context();
//! let case = ModuleCase::from_seed(&ctx, &Config::default(), 1);
//! let again = ModuleCase::replay(&ctx, &Config::default(), &case.choices);
//! assert!(regraft_ir::verify_module(&case.module).is_ok());
//! assert_eq!(case.choices, again.choices);
//! ```

mod body;
mod control;
mod kernels;
mod loops;
mod matrices;
mod nests;
mod ops;
mod recurrences;
mod smooth;
mod special;
mod states;
mod triangles;
mod types;
mod values;
mod wanted;

use std::sync::Arc;

use regraft_ir::{Context, Module, Op, Type};

use crate::choices::{Choices, Span};
use body::{Callee, Shared};

pub(crate) use values::special_constant;
pub use wanted::unknown_ops;

/// The configuration of generated modules.
///
/// The default has everything on, at sizes that make a case run in some microseconds.
#[derive(Clone, Debug)]
pub struct Config {
    /// The most functions of a module, at least 1.
    pub max_functions: u32,
    /// The most parameters of a function.
    pub max_params: u32,
    /// The most statements of a function; an `if` or a loop counts as one, with what is in it
    /// on top.
    pub max_statements: u32,
    /// The nesting depth of control flow.
    pub max_depth: u32,
    /// Loops that count.
    pub loops: bool,
    /// Regions in which every block may go to every other.
    pub irreducible: bool,
    /// `switch` besides `br`.
    pub switches: bool,
    /// Back edges to the entry block.
    pub entry_loops: bool,
    /// Blocks that nothing goes to, and blocks that go to themselves.
    pub unreachable_blocks: bool,
    /// Calls between the functions of the module, and bounded recursion.
    pub calls: bool,
    /// Arrays, refs and mutable structs, aliases of them included.
    pub objects: bool,
    /// Tuples, named tuples and immutable structs.
    pub aggregates: bool,
    /// Values whose static type is `any`.
    pub dynamic: bool,
    /// Output.
    pub prints: bool,
    /// Of 100 operands that may make an op trap, how many are left to chance.
    pub trap_percent: u32,
    /// Names of values, and functions whose names need quotes.
    pub names: bool,
    /// Ops whose result or output depends on the clock.
    pub clock: bool,
    /// Programs that have derivatives: floats above all, where functions are smooth.
    pub smooth: bool,
    /// Only these ops, where there is a choice; `None` for all of the registry.
    pub ops: Option<Vec<Op>>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_functions: 3,
            max_params: 4,
            max_statements: 14,
            max_depth: 3,
            loops: true,
            irreducible: true,
            switches: true,
            entry_loops: true,
            unreachable_blocks: true,
            calls: true,
            objects: true,
            aggregates: true,
            dynamic: true,
            prints: true,
            trap_percent: 4,
            names: true,
            clock: false,
            smooth: false,
            ops: None,
        }
    }
}

impl Config {
    /// Straight-line and structured code on numbers alone: no objects, aggregates, dynamic
    /// values, calls or output.
    pub fn scalar() -> Self {
        Self {
            max_functions: 1,
            calls: false,
            objects: false,
            aggregates: false,
            dynamic: false,
            prints: false,
            ..Self::default()
        }
    }
}

impl Config {
    /// Programs that have derivatives, nearly everywhere, of ordinary size.
    pub fn differentiable() -> Self {
        Self {
            max_statements: 10,
            dynamic: false,
            prints: false,
            names: false,
            trap_percent: 1,
            smooth: true,
            ..Self::default()
        }
    }

    /// The same without objects and without what is made of several values.
    #[must_use]
    pub fn without_objects(self) -> Self {
        Self { objects: false, aggregates: false, ..self }
    }
}

/// A function of a generated module, as it may be called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The types of the arguments that it is made for: where a parameter is `any`, what it
    /// should be when the program runs.
    pub params: Vec<Type>,
}

/// A generated module.
#[derive(Clone, Debug)]
pub struct ModuleCase {
    /// The module.
    pub module: Module,
    /// Its functions, in the order in which they were made: each may call those before it, and
    /// the last one, `@main`, all others.
    pub entries: Vec<Entry>,
    /// The choices that it was made from: [`ModuleCase::replay`] makes it again.
    pub choices: Vec<u32>,
    pub(crate) spans: Vec<Span>,
}

impl ModuleCase {
    /// The module of a seed.
    pub fn from_seed(ctx: &Arc<Context>, config: &Config, seed: u64) -> Self {
        Self::generate(ctx, config, Choices::from_seed(seed))
    }

    /// The module that these choices stand for; any sequence stands for one.
    pub fn replay(ctx: &Arc<Context>, config: &Config, choices: &[u32]) -> Self {
        Self::generate(ctx, config, Choices::replay(choices.to_vec()))
    }

    /// The module that is drawn from `choices`. The registry of `ctx` needs the dialects `core`,
    /// `cf` and `arith`.
    ///
    /// # Panics
    /// If one of these is missing.
    pub fn generate(ctx: &Arc<Context>, config: &Config, choices: Choices) -> Self {
        let mut shared = Shared::new(ctx, config, choices);
        let mut functions = Vec::new();
        // The last one is the entry, so that it can call all others.
        while functions.len() + 1 < config.max_functions as usize {
            let start = shared.choices.open();
            let more = shared.choices.chance(55);
            if more {
                let (function, callee) = body::function(&mut shared, functions.len(), false);
                functions.push(function);
                if config.calls && shared.choices.chance(30) {
                    let (function, handler) = body::handler(&mut shared, &callee);
                    functions.push(function);
                    shared.handlers.push((shared.callees.len(), handler));
                }
                shared.callees.push(callee);
            }
            shared.choices.close(start);
            if !more {
                break;
            }
        }
        let (function, callee) = body::function(&mut shared, functions.len(), true);
        functions.push(function);
        shared.callees.push(callee);
        let mut module = shared.module;
        if shared.choices.chance(30) || config.smooth {
            // What is differentiated is the first.
            functions.reverse();
        }
        for function in functions {
            module.add(function).expect("the names are distinct");
        }
        let (choices, spans) = shared.choices.into_parts();
        Self {
            module,
            entries: shared.callees.iter().map(|callee| entry(ctx, callee)).collect(),
            choices,
            spans,
        }
    }
}

fn entry(ctx: &Context, callee: &Callee) -> Entry {
    Entry {
        name: ctx.str(callee.name).to_owned(),
        params: callee.params.iter().map(|slot| slot.known).collect(),
    }
}
