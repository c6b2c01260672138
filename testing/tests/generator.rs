//! Generated modules are valid, end, and cover everything.

use regraft_ir::{Context, Module, OpDef};
use regraft_passes::{PassRegistry, Pipeline, RunOptions, run_pipeline};
use regraft_testing::generate::{Config, ModuleCase};
use regraft_testing::script::ScriptCase;
use rustc_hash::FxHashMap;
use std::sync::Arc;

const SEEDS: u64 = 2_500;

fn cases(config: &Config) -> impl Iterator<Item = (u64, ModuleCase)> + '_ {
    (0..SEEDS).map(|seed| (seed, ModuleCase::from_seed(&regraft_dialects::context(), config, seed)))
}

fn verify(module: &Module) -> Result<(), String> {
    regraft_ir::verify_module(module).map_err(|errors| regraft_ir::render_all(&errors, false))?;
    for f in module.functions() {
        f.check_invariants()?;
    }
    Ok(())
}

fn parse(ctx: &Arc<Context>, text: &str) -> Module {
    regraft_syntax::parse_module(ctx, "generated.ir", text)
        .unwrap_or_else(|errors| panic!("{}\n{text}", regraft_ir::render_all(&errors, false)))
}

#[test]
fn every_module_is_valid() {
    for config in [Config::default(), Config::scalar(), Config { clock: true, ..Config::default() }]
    {
        for (seed, case) in cases(&config) {
            if let Err(error) = verify(&case.module) {
                panic!("seed {seed}: {error}\n{}", case.module);
            }
        }
    }
}

#[test]
fn every_module_reads_back_as_it_was() {
    for (seed, case) in cases(&Config::default()) {
        let text = case.module.to_string();
        for same_context in [true, false] {
            // Structs are nominal: declared again in the same context, they are others.
            if same_context && !case.module.structs().is_empty() {
                continue;
            }
            let ctx =
                if same_context { case.module.ctx().clone() } else { regraft_dialects::context() };
            let again = parse(&ctx, &text);
            assert!(case.module.structural_eq(&again), "seed {seed}:\n{text}\nreads as\n{again}");
            assert_eq!(again.to_string(), text, "seed {seed}: not printed alike");
            verify(&again).unwrap();
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_module() {
    for (seed, case) in cases(&Config::default()).take(200) {
        let ctx = regraft_dialects::context();
        let again = ModuleCase::replay(&ctx, &Config::default(), &case.choices);
        assert_eq!(case.module.to_string(), again.module.to_string(), "seed {seed}");
        assert_eq!(case.choices, again.choices);
    }
}

#[test]
fn no_choices_give_the_smallest_module() {
    let case = ModuleCase::replay(&regraft_dialects::context(), &Config::default(), &[]);
    assert_eq!(case.module.to_string(), "func @main() -> i64 {\n^1:\n  return 0\n}\n");
}

#[test]
fn every_op_is_generated() {
    let config = Config { clock: true, ..Config::default() };
    let mut counts: FxHashMap<&'static str, usize> = FxHashMap::default();
    for (_, case) in cases(&config) {
        for f in case.module.functions() {
            for v in f.all_insts() {
                *counts.entry(f.op_def(v).unwrap().name).or_default() += 1;
            }
        }
    }
    // They are of lowered code, or of programs with globals, or have no value to compare, or look at
    // errors, or give another value in each run. Those of `ad` work on tangents, those of `text` on texts
    // that somebody wrote, those of `linalg` on arrays of sizes that fit.
    let intended = [
        "core.global",
        "core.set_global",
        "core.static",
        "core.closure",
        "core.undef",
        "core.caught",
        "core.backtrace",
        "core.rethrow",
        "core.hash",
    ];
    let registry = regraft_dialects::registry();
    let missing: Vec<&str> = registry
        .ops()
        .filter(|def: &&OpDef| !matches!(def.dialect_name(), "ad" | "text" | "linalg"))
        .map(|def| def.name)
        .filter(|name| !counts.contains_key(name) && !intended.contains(name))
        .collect();
    assert_eq!(missing, [] as [&str; 0], "{counts:#?}");
}

#[test]
fn programs_with_derivatives_run_mostly() {
    use regraft_exec::{Engine, Interpreter, Limits};
    use regraft_testing::{arguments, choices::Choices};
    let config = Config::differentiable();
    let (mut returned, mut stopped) = (0, 0);
    for (seed, case) in cases(&config).take(1_000) {
        if let Err(error) = verify(&case.module) {
            panic!("seed {seed}: {error}\n{}", case.module);
        }
        let mut engine = Interpreter::new(&case.module);
        engine.set_limits(Limits { fuel: Some(50_000), ..Limits::default() });
        let entry = case.entries.last().unwrap();
        let ctx = case.module.ctx();
        let args = arguments(ctx, &entry.params, &mut Choices::from_seed(seed)).unwrap();
        match engine.call(&entry.name, &args) {
            Ok(_) => returned += 1,
            Err(_) => stopped += 1,
        }
    }
    // Some arrays are empty, and some floats infinite.
    assert!(returned > 2 * stopped, "{returned} {stopped}");
}

/// Counts the programs in which `loop-coalesce` makes one loop of two after `before`.
fn coalesced(programs: impl Iterator<Item = Module>, before: &str) -> usize {
    let passes = PassRegistry::standard();
    let pipeline = Pipeline::parse(&passes, &format!("{before}, loop-coalesce")).unwrap();
    let options = RunOptions::default().threads(1);
    let nests = |mut module| run_pipeline(&mut module, &pipeline, &options).unwrap().count("nests");
    programs.filter(|module| nests(module.clone()) > 0).count()
}

#[test]
fn some_programs_have_nests_over_whole_matrices() {
    for config in [Config::default(), Config::differentiable()] {
        let modules = cases(&config).take(500).map(|(_, case)| case.module);
        let count = coalesced(modules, "bounds-elim");
        assert!((20..250).contains(&count), "{count}");
    }
    let typed = |seed| ScriptCase::from_seed(seed).typed(&regraft_dialects::context());
    let scripts = (0..800).filter_map(|seed| typed(seed).ok().flatten());
    let count = coalesced(scripts, "O2");
    assert!((4..100).contains(&count), "{count}");
}
