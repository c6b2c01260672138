//! Passes that are written in the language, on generated modules: those that do nothing change nothing, whatever is in
//! the code; those that are wrong are refused.

use std::sync::Arc;

use regraft_ir::{Context, Extensions, Module};
use regraft_lang::{PassFiles, passes_of_files};
use regraft_passes::{PassRegistry, Pipeline, RunOptions, diff_modules, run_pipeline};
use regraft_testing::generate::{Config, ModuleCase};

/// Extensions with the passes of a text.
fn extensions(text: &str) -> Arc<Extensions> {
    let mut extensions = regraft_ad::extensions();
    let files: PassFiles = Arc::from([("passes.jl".to_owned(), text.to_owned())]);
    let passes = passes_of_files(&Arc::new(extensions.clone()), &files).unwrap();
    let registry: &mut PassRegistry = extensions.edit();
    for pass in passes {
        registry.define_pass(pass).unwrap();
    }
    Arc::new(extensions)
}

/// Generated modules of one context.
fn modules(extensions: &Arc<Extensions>, count: u64) -> Vec<Module> {
    let config = Config::default();
    let ctx = Context::with_extensions(extensions);
    (0..count).map(|seed| ModuleCase::from_seed(&ctx, &config, seed).module).collect()
}

fn run(extensions: &Arc<Extensions>, module: &mut Module, pipeline: &str) -> Result<(), String> {
    let pipeline = Pipeline::parse(extensions.get(), pipeline).unwrap();
    match run_pipeline(module, &pipeline, &RunOptions::default().threads(1)) {
        Ok(_) => Ok(()),
        Err(failure) => Err(failure.diagnostics()[0].message().to_owned()),
    }
}

const IDENTITIES: &str = "
using IRTools
@irpass as_it_is(ir) = ir
@irpass in_place(ir) = nothing
@irpass copied(ir) = copy(ir)
@irpass walked(ir) = IRTools.prewalk(identity, ir)
@irpass piped(ir) = IRTools.finish(IRTools.Pipe(ir))
@irpass explicit(ir) = IRTools.explicitbranch!(ir)
";

#[test]
fn a_pass_that_does_nothing_gives_the_same_code() {
    let extensions = extensions(IDENTITIES);
    for module in modules(&extensions, 60) {
        for pass in ["as-it-is", "in-place", "copied", "walked", "piped", "explicit"] {
            let mut after = module.clone();
            run(&extensions, &mut after, pass).unwrap();
            let diff = diff_modules(&module, &after);
            assert!(module.structural_eq(&after), "{pass}:\n{diff}");
        }
    }
}
