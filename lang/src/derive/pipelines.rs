//! The pipelines that run on functions before they are differentiated, and on their derivatives.

use std::cell::LazyCell;

use regraft_exec::EngineKind;
use regraft_ir::{Diagnostic, Extension, FuncId, Module, Symbol};
use regraft_passes::rewrite::Math;
use regraft_passes::{O2, O3, PassRegistry, Pipeline, RunOptions, run_pipeline};
use regraft_syntax::quote;

use crate::emit::keep_reached;
use crate::phases::{Phase, enter};

/// Passes that make ordinary control flow of errors that are caught, and the tape small: calls and aggregates
/// go. Loops of few iterations are unrolled, and larger ones over small arrays, so that these are numbers and have no
/// shadows. What loops do not change leaves them, and one bound ends what several do (`zip`), so that its iterations can be counted.
/// Other loops keep their form. A function that is called once is inlined even if it is large, as its caller may know how long
/// the arrays are.
const PREPARE: &str = "\
lower-try{dynamic=\"#tried_call\"}, simplify-cfg,
fix{max=2}(inline{once=2000}, fix{max=4}(sccp, specialize-getfield, simplify-cfg, sroa, gvn, dce, unroll{array-size=320})),
bounds-elim, licm, indvars, join-exits, dce, simplify-cfg";

/// Passes for a function that is made for arguments of certain lengths: what the lengths say is found, and loops of
/// few iterations are unrolled, as many instructions as that makes. In nests, each loop takes a round.
const UNROLL: &str = "\
fix{max=6}(unroll{full-size=4000}, sccp, simplify-cfg, sroa, gvn),
licm, indvars, dce, simplify-cfg";

/// The pass that puts both sweeps of a gradient into the function that the language calls: that makes the shadows,
/// and knows what is needed of the result.
const JOIN: &str = "inline{max-size=0, always=0, once=0, in-loop=0}";

/// The pipeline for generated derivatives.
const FINISH: &str = O3.name;

/// Passes for a derivative that is not differentiated again, as that would multiply the copies. A product of matrices in
/// the forward sweep, and both in the reverse sweep, work on four columns, and on four elements of each, at a time.
const JAM: &str =
    "unroll-and-jam{shared, levels=2}, gvn, dse, unroll-and-jam{shared}, gvn, dse, dce";

/// The pipeline for functions that native code is made of.
const OPTIMIZE: &str = O2.name;

/// The pipeline for native code alone, which comes after that, and after [`FINISH`]. From a version of a loop without
/// checks, loads leave that could fail before.
const NATIVE: &str = "\
reciprocals, loop-coalesce, bounds-elim{versions}, loop-rotate{memory}, licm{whole-loops=false}, load-pre,
strip-math, split-elements, alias-scopes";
/// The same where Cranelift compiles it, which makes no vectors of loops.
const CRANELIFT: &str = "\
reciprocals, loop-coalesce, bounds-elim{versions}, loop-rotate{memory}, licm{whole-loops=false}, load-pre,
strip-math{arithmetic}, split-elements, alias-scopes";

/// Functions from entry to return, for the profiler; with the computations in them.
const PROFILE: &str = "profile{only=functions}";
const PROFILE_OPS: &str = "profile{only=functions-and-ops}";

/// The events that code records for the profiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Instrumentation {
    /// Calls of functions.
    Functions,
    /// The same, and the computations in them.
    FunctionsAndOps,
}

/// The pipelines, each parsed when it is first run.
#[derive(Debug)]
pub(crate) struct Pipelines {
    prepare: LazyCell<Pipeline>,
    optimize: LazyCell<Pipeline>,
    join: LazyCell<Pipeline>,
    native: LazyCell<Pipeline>,
    cranelift: LazyCell<Pipeline>,
    finish: LazyCell<Pipeline>,
    jam: LazyCell<Pipeline>,
    profile: LazyCell<Pipeline>,
    profile_ops: LazyCell<Pipeline>,
}

impl Pipelines {
    pub(super) fn standard() -> Self {
        Self {
            prepare: LazyCell::new(|| parse(PREPARE)),
            optimize: LazyCell::new(|| parse(OPTIMIZE)),
            join: LazyCell::new(|| parse(JOIN)),
            native: LazyCell::new(|| parse(NATIVE)),
            cranelift: LazyCell::new(|| parse(CRANELIFT)),
            finish: LazyCell::new(|| parse(FINISH)),
            jam: LazyCell::new(|| parse(JAM)),
            profile: LazyCell::new(|| parse(PROFILE)),
            profile_ops: LazyCell::new(|| parse(PROFILE_OPS)),
        }
    }

    /// Before a derivative is made.
    pub(super) fn prepare(&self, module: &mut Module) -> Result<(), Vec<Diagnostic>> {
        run(module, &self.prepare)
    }

    /// Optimizes a function; of the others in the module, what may be inlined into it is worked on as far as that helps.
    pub(super) fn optimize(
        &self,
        module: &mut Module,
        function: Symbol,
    ) -> Result<(), Vec<Diagnostic>> {
        run_with(module, &self.optimize, |options| options.only(function))
    }

    /// Makes of optimized functions, or of one alone, those that an engine makes native code of.
    pub(super) fn finish_for_native(
        &self,
        module: &mut Module,
        engine: EngineKind,
        only: Option<Symbol>,
    ) -> Result<(), Vec<Diagnostic>> {
        let pipeline = match engine {
            EngineKind::Cranelift => &self.cranelift,
            EngineKind::Interpreter | EngineKind::Llvm | EngineKind::Auto => &self.native,
        };
        run_with(module, pipeline, |options| match only {
            Some(function) => options.only(function),
            None => options,
        })
    }

    /// Unrolls and jams the nests of an optimized derivative that is not differentiated again.
    pub(crate) fn jam(&self, module: &mut Module) -> Result<(), Vec<Diagnostic>> {
        run(module, &self.jam)
    }

    /// Makes a version of a function for arguments of these lengths.
    pub(super) fn specialize(
        &self,
        module: &mut Module,
        function: &str,
        lengths: &str,
    ) -> Result<(), Vec<Diagnostic>> {
        let (function, lengths) = (quote(function), quote(lengths));
        // What it calls has loops over the same arrays.
        let text = format!(
            "inline{{once=4000}}, specialize{{function={function}, lengths={lengths}}}, {UNROLL}"
        );
        run(module, &Pipeline::parse(PassRegistry::builtin(), &text)?)
    }

    /// Inserts the records of the profiler.
    pub(super) fn instrument(
        &self,
        module: &mut Module,
        what: Instrumentation,
    ) -> Result<(), Vec<Diagnostic>> {
        match what {
            Instrumentation::Functions => run(module, &self.profile),
            Instrumentation::FunctionsAndOps => run(module, &self.profile_ops),
        }
    }

    /// Inlines those functions that say so, in what `entries` need.
    pub(super) fn join(
        &self,
        module: &mut Module,
        entries: &[Symbol],
    ) -> Result<(), Vec<Diagnostic>> {
        keep_needed(module, entries);
        run(module, &self.join)
    }

    /// Optimizes only the functions that `entries` need: derivatives, and what runs with another algebra
    /// than the exact one.
    pub(crate) fn finish(
        &self,
        module: &mut Module,
        entries: &[Symbol],
        math: Math,
    ) -> Result<(), Vec<Diagnostic>> {
        keep_needed(module, entries);
        match math {
            Math::Exact => run(module, &self.finish),
            _ => run(module, &Pipeline::clone(&self.finish).with_math(math)),
        }
    }
}

fn parse(text: &str) -> Pipeline {
    Pipeline::parse(PassRegistry::builtin(), text)
        .expect("the pipelines are made of passes there are")
}

fn keep_needed(module: &mut Module, entries: &[Symbol]) {
    let roots: Vec<FuncId> = entries.iter().filter_map(|&name| module.find(name)).collect();
    keep_reached(module, roots, |f, operand| f.const_func(operand));
}

fn run(module: &mut Module, pipeline: &Pipeline) -> Result<(), Vec<Diagnostic>> {
    run_with(module, pipeline, |options| options)
}

fn run_with(
    module: &mut Module,
    pipeline: &Pipeline,
    change: impl FnOnce(RunOptions) -> RunOptions,
) -> Result<(), Vec<Diagnostic>> {
    // One thread: functions are few, and somebody waits. What passes leave is verified where
    // mistakes are looked for.
    let _phase = enter(Phase::Optimize);
    let options = RunOptions::default().threads(1).verify(cfg!(debug_assertions));
    match run_pipeline(module, pipeline, &change(options)) {
        Ok(_) => Ok(()),
        Err(failure) => Err(failure.diagnostics().to_vec()),
    }
}
