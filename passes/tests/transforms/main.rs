//! Transforms as no text test (`tests/text` of the whole) can check them: on random programs, on large
//! ones, by what they leave beside the text, and the parts that loop passes are made of.

mod differential;
mod large;
mod loop_form;
mod rewrite;
mod saturation;
mod traces;

use regraft_ir::{Function, Module, render_all, verify_module};
use regraft_passes::{
    FunctionPass, Options, PassRegistry, Pipeline, RunOptions, run_pass_with, run_pipeline,
};

/// Parses a module, which has to be valid.
fn parse(text: &str) -> Module {
    let ctx = regraft_dialects::context();
    let module = regraft_syntax::parse_module(&ctx, "test.ir", text)
        .unwrap_or_else(|errors| panic!("{}", render_all(&errors, false)));
    verify(&module);
    module
}

fn verify(module: &Module) {
    if let Err(errors) = verify_module(module) {
        panic!("{}\n{module}", render_all(&errors, false));
    }
}

/// Runs a pass over all functions of a module and verifies what it made.
fn apply<P: FunctionPass>(module: &mut Module, options: &Options) {
    for id in module.ids().to_vec() {
        let f = module.get_mut(id).expect("the id is of this module");
        run_pass_with::<P>(f, options).unwrap_or_else(|error| panic!("{error:?}"));
        f.check_invariants().unwrap_or_else(|error| panic!("{error}"));
    }
    verify(module);
}

/// The only function of a module.
fn only(module: &mut Module) -> &mut Function {
    let id = module.ids()[0];
    module.get_mut(id).expect("the id is of this module")
}

/// Runs a pipeline on a module and verifies what it made.
#[track_caller]
fn run_text(pipeline: &str, module: &mut Module) {
    let pipeline = Pipeline::parse(&PassRegistry::standard(), pipeline)
        .unwrap_or_else(|errors| panic!("{}", render_all(&errors, false)));
    if let Err(failure) = run_pipeline(module, &pipeline, &RunOptions::default().threads(1)) {
        panic!("{}", render_all(failure.diagnostics(), false));
    }
    for f in module.functions() {
        f.check_invariants().unwrap_or_else(|error| panic!("{error}"));
    }
    verify(module);
}
