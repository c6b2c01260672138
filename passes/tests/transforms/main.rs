//! What each transformation does to small programs, and that none changes what a program does.

mod adce;
mod bounds_elim;
mod cse;
mod dce;
mod differential;
mod expand;
mod fold;
mod fuse_sweeps;
mod gvn;
mod indvars;
mod inline;
mod licm;
mod loop_delete;
mod loop_form;
mod loop_fuse;
mod loop_interchange;
mod loop_rotate;
mod loop_simplify;
mod mem2reg;
mod merge_returns;
mod profile;
mod prune;
mod reassociate;
mod renumber;
mod sccp;
mod simplify_cfg;
mod simplify_cfg_paths;
mod specialize_getfield;
mod specialize_tangents;
mod sroa;
mod strength_reduce;
mod unroll;

use regraft_ir::{Function, Module, render_all, verify_module};
use regraft_passes::{
    FunctionPass, Options, PassRegistry, Pipeline, RunOptions, run_pass_with, run_pipeline,
};

/// The module that `text` is, which has to be valid.
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

/// Checks that the pass makes `after` of `before`, to the number of each value, and that a second
/// run changes nothing.
#[track_caller]
fn check<P: FunctionPass>(before: &str, after: &str) {
    check_with::<P>(&Options::defaults(P::OPTIONS), before, after);
}

#[track_caller]
fn check_with<P: FunctionPass>(options: &Options, before: &str, after: &str) {
    let mut module = parse(before);
    apply::<P>(&mut module, options);
    let (found, wanted) = (module.to_string(), parse(after).to_string());
    assert!(found == wanted, "`{}` gives\n{found}\nand should give\n{wanted}", P::NAME);
    if P::NAME == "profile" {
        return;
    }
    apply::<P>(&mut module, options);
    assert_eq!(found, module.to_string(), "a second run of `{}` changes more", P::NAME);
}

/// Checks that the pass leaves a program as it is.
#[track_caller]
fn check_unchanged<P: FunctionPass>(text: &str) {
    check::<P>(text, text);
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

/// Checks that the pipeline, of passes over modules as well, makes `after` of `before`, to the
/// number of each value, and that a second run changes nothing.
#[track_caller]
fn check_text(pipeline: &str, before: &str, after: &str) {
    let mut module = parse(before);
    run_text(pipeline, &mut module);
    let (found, wanted) = (module.to_string(), parse(after).to_string());
    assert!(found == wanted, "`{pipeline}` gives\n{found}\nand should give\n{wanted}");
    run_text(pipeline, &mut module);
    assert_eq!(found, module.to_string(), "a second run of `{pipeline}` changes more");
}
