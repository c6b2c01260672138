//! IR programs as functions of a session do what they do by themselves: inference finds the types
//! of generated modules again, and what comes out is run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use regraft::exec::{Engine, ErrorKind, Interpreter, Limits, Val};
use regraft::ir::{Context, is_plain_name, render_all};
use regraft::lang::Session;
use regraft::testing::choices::Choices;
use regraft::testing::generate::{Config, ModuleCase};
use regraft::testing::{FloatMatch, Observation, arguments};

const LIMITS: Limits = Limits { fuel: Some(50_000), depth: 1_000, memory: 16 << 20 };

/// The outcome of a run: its result and what became of the arguments, or that it failed.
fn observed(ctx: &Context, result: Result<Val, String>, args: &[Val]) -> (bool, Observation) {
    let error = result.is_err();
    (error, Observation::of(ctx, result.iter().chain(args)))
}

#[track_caller]
fn agree(config: &Config, seeds: std::ops::Range<u64>) {
    let mut compared = 0;
    for seed in seeds.clone() {
        let ctx = regraft::dialects::context();
        let case = ModuleCase::from_seed(&ctx, config, seed);
        let mut engine = Interpreter::new(&case.module);
        engine.set_limits(LIMITS);
        engine.host_mut().set_clock(|| 0);
        let mut session = Session::new(&ctx);
        session.set_limits(LIMITS);
        if let Err(errors) = session.define_module(&case.module) {
            panic!("{}\n{}", case.module, render_all(&errors, false));
        }
        for entry in case.entries.iter().filter(|entry| is_plain_name(&entry.name)) {
            let draw = |ctx: &Arc<Context>| {
                arguments(ctx, &entry.params, &mut Choices::from_seed(seed)).unwrap()
            };
            let (first, second) = (draw(&ctx), draw(&ctx));
            let by_itself = engine.call(&entry.name, &first);
            if by_itself.as_ref().is_err_and(|error| {
                matches!(error.kind(), ErrorKind::Fuel | ErrorKind::Depth | ErrorKind::Memory)
            }) {
                continue;
            }
            let by_itself = by_itself.map_err(|error| error.to_string());
            let in_session = catch_unwind(AssertUnwindSafe(|| session.call(&entry.name, &second)));
            let Ok(in_session) = in_session else {
                panic!("seed {seed}, @{}\n{}", entry.name, case.module)
            };
            let in_session = in_session.map_err(|errors| render_all(&errors, false));
            let shown = format!("{by_itself:?}\n{in_session:?}");
            let a = observed(&ctx, by_itself, &first);
            let b = observed(&ctx, in_session, &second);
            compared += 1;
            assert!(
                a.0 == b.0 && a.1.matches(&b.1, FloatMatch::Exact),
                "seed {seed}, @{}\n{}\n{shown}",
                entry.name,
                case.module
            );
        }
    }
    assert!(compared as usize >= seeds.count(), "only {compared} runs were compared");
}

#[test]
fn modules_of_numbers_do_the_same_in_a_session() {
    agree(&Config { names: false, ..Config::scalar() }, 0..60);
}

#[test]
fn modules_of_everything_do_the_same_in_a_session() {
    let config = Config { names: false, prints: false, trap_percent: 1, ..Config::default() };
    agree(&config, 0..60);
}
