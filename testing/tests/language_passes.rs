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

const BROKEN: &str = "
using IRTools
using IRTools: xcall, var, isexpr, blocks, block, branch!, return!, argument!, deletearg!, Branch, Statement
pick(list, n) = list[mod(n, length(list)) + 1]
@irpass function broken(ir; seed = 0)
    n = mod(seed * 48271, 2147483647)
    next() = (n = mod(n * 48271 + 11, 2147483647))
    for _ in 1:1 + mod(seed, 3)
        vs, b = keys(ir), pick(blocks(ir), next())
        what = mod(next(), 14)
        what == 0 && return!(b, var(next()))
        what == 1 && branch!(b, next())
        what == 2 && branch!(b, 1)
        what == 3 && argument!(b; insert = false)
        what == 4 && push!(b, xcall(Symbol(\"arith.add\"), var(next())))
        what == 5 && push!(b, xcall(:nowhere, 1))
        what == 6 && (empty!(IRTools.branches(b)); nothing)
        what == 7 && push!(IRTools.branches(b), Branch(1.5, 1, Any[]))
        what == 8 && !isempty(vs) && (ir[pick(vs, next())] = pick(vs, next()))
        what == 9 && !isempty(vs) && delete!(ir, pick(vs, next()))
        what == 10 && !isempty(vs) && (ir[pick(vs, next())] = xcall(Symbol(\"cf.br\"), 1))
        what == 11 && !isempty(vs) && (ir[pick(vs, next())] = Expr(:foreign, 1))
        what == 12 && !isempty(vs) && (v = pick(vs, next()); ir[v] = xcall(Symbol(\"math.sin\"), v))
        what == 13 && !isempty(vs) && (ir[pick(vs, next())] = Statement(:name, type = String))
    end
end
@irpass forever(ir) = (while true end; ir)
@irpass deep(ir) = deep(ir)
";

#[test]
fn wrong_code_is_refused_and_never_a_panic() {
    let extensions = extensions(BROKEN);
    let (mut refused, mut seed) = (0, 0);
    for module in modules(&extensions, 40) {
        for _ in 0..8 {
            seed += 1;
            let mut after = module.clone();
            let Err(message) = run(&extensions, &mut after, &format!("broken{{seed={seed}}}"))
            else {
                continue;
            };
            refused += 1;
            assert!(!message.contains("panic"), "{seed}: {message}");
            assert!(message.contains("broken"), "{seed}: {message}");
            assert!(module.structural_eq(&after), "{seed}: what fails leaves the module as it was");
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn a_pass_that_does_not_end_is_stopped() {
    let extensions = extensions(BROKEN);
    let module = &modules(&extensions, 1)[0];
    for (pass, what) in [("forever", "instructions"), ("deep", "StackOverflowError")] {
        let message = run(&extensions, &mut module.clone(), pass).unwrap_err();
        assert!(message.contains(what), "{message}");
    }
}
