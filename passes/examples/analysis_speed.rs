//! The speed of the analyses: `cargo run --release -p regraft-passes --example analysis_speed`; the
//! name of one may follow.
//!
//! Each on functions of 10³ to 10⁶ instructions with loops one after the other, and on ten functions
//! of 10⁵ instructions against one of 10⁶, with loops one after the other and nested 100 deep:
//! where the cost is linear, both take as long, but for the caches. What an analysis asks others
//! for is counted with it.

mod shapes;

use std::time::{Duration, Instant};

use regraft_ir::{ControlFlow, DominatorTree, Function};
use regraft_passes::analysis::{self, Analyses, Analysis};

type Run = fn(&Function);

const ANALYSES: &[(&str, Run)] = &[
    ("aliases", run::<analysis::Aliases>),
    ("control-flow", run::<ControlFlow>),
    ("dominators", run::<DominatorTree>),
    ("induction", run::<analysis::InductionVariables>),
    ("invariants", run::<analysis::Invariants>),
    ("liveness", run::<regraft_ir::Liveness>),
    ("loop-forest", run::<analysis::LoopForest>),
    ("post-dominators", run::<analysis::PostDominatorTree>),
    ("ranges", run::<analysis::Ranges>),
    ("structure", run::<analysis::Structure>),
    ("trip-counts", run::<analysis::TripCounts>),
];

fn run<A: Analysis>(f: &Function) {
    std::hint::black_box(Analyses::default().get::<A>(f));
}

fn main() {
    let wanted = std::env::args().nth(1);
    let is_wanted = |name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
    let wanted: Vec<(&str, Run)> =
        ANALYSES.iter().copied().filter(|&(name, _)| is_wanted(name)).collect();
    let ctx = regraft_dialects::context();
    let sizes = [1_000, 10_000, 100_000, 1_000_000];
    let functions = sizes.map(|insts| shapes::nests(&ctx, 1, 30, insts));
    println!("ns for an instruction, in functions of 10^3, 10^4, 10^5, 10^6");
    for &(name, run) in &wanted {
        print!("  {name:15}");
        for f in &functions {
            // As many in all, so that short runs are measured too.
            let times = (100_000 / f.inst_count()).max(1);
            let time = best(|| (0..times).for_each(|_| run(f)));
            let each = time.as_secs_f64() / (times * f.inst_count()) as f64;
            print!(" {:7.1}", each * 1e9);
        }
        println!();
    }
    for depth in [1, 100] {
        println!("10 functions of 10^5, one of 10^6: loops nested {depth} deep");
        let small = shapes::nests(&ctx, depth, 30, 100_000);
        let large = shapes::nests(&ctx, depth, 30, 1_000_000);
        for &(name, run) in &wanted {
            let a = best(|| (0..10).for_each(|_| run(&small)));
            let b = best(|| run(&large));
            let ratio = b.as_secs_f64() / a.as_secs_f64();
            println!("  {name:15} {a:9.2?} {b:9.2?}, {ratio:4.1} times");
        }
    }
}

/// The shortest of three runs.
fn best(run: impl Fn()) -> Duration {
    let time = || {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..3).map(|_| time()).min().unwrap_or_default()
}
