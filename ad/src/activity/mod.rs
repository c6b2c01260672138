//! Which values of a function may have a derivative that is not zero.
//!
//! ```text
//! func @f(%1: f64, %2: f64, %3: array<f64, 1>) -> f64 {    with respect to %1:
//! ^1:
//!   %4: f64 = arith.mul %2, 2.0                            not active
//!   %5: f64 = arith.mul %1, %4                             active
//!   mem.store %3, %5, 1                                    %3 is active from the start
//! ```
//!
//! Method. Values without objects in them are active if what they are computed from is: a walk
//! along uses. Values with objects in them are put into sets that may share objects, as in
//! B. Steensgaard, "Points-to Analysis in Almost Linear Time" (POPL 1996), and a set is active as a
//! whole. So an object is active everywhere if something active may ever be stored in it, and then
//! it has a shadow from the start.
//!
//! An object that a global name holds is active if any function puts something active into it, and
//! then it is active in all of them. What is called when the program runs may put something into
//! each, if it is given anything active.
//!
//! On the way to an error nothing is active: nobody sees derivatives there.
//!
//! A function is looked at once for each choice of active arguments with which it is called. What
//! it says to its callers ([`Summary`]) only grows, and callers are looked at again when it did.
//!
//! Why it is right: each step only adds, and stops when every instruction agrees; what is not
//! active has a derivative that is zero, or no derivative.
//!
//! Cost: almost linear in the instructions, for each time that a function is looked at; with
//! recursion that is as often as its summary grows, at most twice the number of its parameters.

pub(crate) mod calls;
mod classes;
pub(crate) mod flow;
pub(crate) mod globals;
mod solver;

use indexmap::IndexSet;
use regraft_ir::{Block, FuncId, Function, Module, Symbol, Type, Value};
use rustc_hash::{FxBuildHasher, FxHashMap};

use self::solver::Solver;
use crate::derivative_table::DerivativeTable;
use crate::tangent::TangentTypes;

/// A function and which of its arguments are active, by number.
pub(crate) type Context = usize;

/// What a function says to its callers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Summary {
    /// The parameters that have to be passed as active: those that are, and those into which the
    /// function stores what is.
    pub(crate) params: Vec<bool>,
    /// Whether the result is active.
    pub(crate) ret: bool,
    /// Whether anything in it is active.
    pub(crate) any: bool,
    /// Which of the parameters, the result and the globals, in this order, may share objects: those
    /// with equal numbers.
    pub(crate) classes: Vec<u32>,
}

/// Which values of a function are active.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activity {
    pub(crate) active: Vec<bool>,
    pub(crate) returns: Vec<bool>,
}

impl Activity {
    pub(crate) fn is_active(&self, v: Value) -> bool {
        self.active[v.index()]
    }

    /// Whether a block can come to a return. Otherwise nobody sees derivatives there.
    pub(crate) fn returns(&self, block: Block) -> bool {
        self.returns[block.index()]
    }
}

#[derive(Debug)]
struct Entry {
    function: FuncId,
    /// The arguments that are active.
    passed: Vec<bool>,
    summary: Summary,
    activity: Activity,
    /// Who has to be looked at again when the summary grows.
    callers: IndexSet<Context, FxBuildHasher>,
    is_pending: bool,
}

/// The activity of the functions of a module.
#[derive(Debug)]
pub(crate) struct Activities<'m> {
    pub(crate) module: &'m Module,
    pub(crate) table: &'m DerivativeTable,
    pub(crate) types: TangentTypes,
    entries: Vec<Entry>,
    numbers: FxHashMap<(FuncId, Vec<bool>), Context>,
    pending: Vec<Context>,
    /// The global names that hold objects, and whether these are active.
    globals: IndexSet<Symbol, FxBuildHasher>,
    global_is_active: Vec<bool>,
}

impl<'m> Activities<'m> {
    /// Of a module of which nothing was looked at yet. With `shared`, code outside of the module
    /// may put something active into what its globals hold.
    pub(crate) fn new(module: &'m Module, shared: bool) -> Self {
        let mut types = TangentTypes::new(module.ctx());
        let globals = globals::globals(module, &mut types);
        Self {
            module,
            table: module.ctx().extensions().get(),
            types,
            global_is_active: vec![shared; globals.len()],
            globals,
            entries: Vec::new(),
            numbers: FxHashMap::default(),
            pending: Vec::new(),
        }
    }

    /// A function with these arguments active, and everything that it calls so.
    pub(crate) fn of(&mut self, function: FuncId, active: Vec<bool>) -> Context {
        let context = self.context(function, active);
        while let Some(next) = self.pending.pop() {
            self.entries[next].is_pending = false;
            self.look_at(next);
        }
        context
    }

    pub(crate) fn function(&self, context: Context) -> FuncId {
        self.entries[context].function
    }

    /// Which arguments of the function are active.
    pub(crate) fn passed(&self, context: Context) -> &[bool] {
        &self.entries[context].passed
    }

    pub(crate) fn summary(&self, context: Context) -> &Summary {
        &self.entries[context].summary
    }

    pub(crate) fn activity(&self, context: Context) -> &Activity {
        &self.entries[context].activity
    }

    /// How a function is called with these arguments active: more of them may have to be.
    pub(crate) fn call(&mut self, function: FuncId, active: Vec<bool>) -> Context {
        let mut active = active;
        loop {
            let context = self.context(function, active);
            let entry = &self.entries[context];
            if entry.summary.params == entry.passed {
                return context;
            }
            active = entry.summary.params.clone();
        }
    }

    fn context(&mut self, function: FuncId, active: Vec<bool>) -> Context {
        let mut active = active;
        let f = self.module.get(function);
        let params: Vec<Type> = f.map(Function::param_types).unwrap_or_default();
        active.resize(params.len(), false);
        for (active, &ty) in active.iter_mut().zip(&params) {
            *active &= self.types.has_tangent(ty);
        }
        if let Some(&known) = self.numbers.get(&(function, active.clone())) {
            return known;
        }
        let count = (params.len() + 1 + self.globals.len()) as u32;
        let summary = Summary {
            any: active.contains(&true),
            params: active.clone(),
            ret: false,
            classes: (0..count).collect(),
        };
        let context = self.entries.len();
        let activity = Activity::default();
        self.entries.push(Entry {
            function,
            passed: active.clone(),
            summary,
            activity,
            callers: IndexSet::default(),
            is_pending: true,
        });
        self.numbers.insert((function, active), context);
        self.pending.push(context);
        context
    }

    /// The global names that hold active objects.
    pub(crate) fn active_globals(&self) -> impl Iterator<Item = Symbol> {
        let all = self.globals.iter().zip(&self.global_is_active);
        all.filter(|&(_, &is_active)| is_active).map(|(&name, _)| name)
    }

    /// Notes that `caller` calls `context`.
    pub(crate) fn note_call(&mut self, caller: Context, context: Context) {
        self.entries[context].callers.insert(caller);
    }

    fn look_at(&mut self, context: Context) {
        let module = self.module;
        let Some(f) = module.get(self.entries[context].function) else { return };
        let mut solver = Solver::new(self, f, context);
        solver.start();
        solver.run();
        let (activity, summary, globals) = solver.finish();
        if globals != self.global_is_active {
            self.global_is_active = globals;
            for (context, entry) in self.entries.iter_mut().enumerate() {
                if !std::mem::replace(&mut entry.is_pending, true) {
                    self.pending.push(context);
                }
            }
        }
        let entry = &mut self.entries[context];
        entry.activity = activity;
        if entry.summary == summary {
            return;
        }
        entry.summary = summary;
        for caller in entry.callers.clone() {
            let caller_entry = &mut self.entries[caller];
            if !std::mem::replace(&mut caller_entry.is_pending, true) {
                self.pending.push(caller);
            }
        }
    }
}
