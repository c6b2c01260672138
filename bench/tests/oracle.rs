//! Extraction of the adjoints of all example programs beside the exact one, for both engines.
//!
//! `cargo test -p regraft-bench --features oracle --test oracle -- --nocapture` prints how far they are
//! apart.

use regraft_ad::PlanKind;
use regraft_bench::adjoints::{ADBENCH, Adjoint, LOOPS, MOONCAKE};
use regraft_passes::egraph::{ExtractionCosts, extraction_costs};
use regraft_passes::rewrite::Math;

/// The most nodes of a graph that is solved exactly.
const MAX_NODES: usize = 300;
/// The most nodes and rounds of a saturation.
const SATURATION: (usize, usize) = (3000, 6);
/// The most that the chosen nodes may cost beside the cheapest ones.
const TARGET: f64 = 1.05;

/// Costs of a function of a program, beside others of it.
struct Ratio {
    program: &'static str,
    ratio: f64,
    /// The part of what can be saved that is saved, if anything can be.
    saved: Option<f64>,
}

impl Ratio {
    fn new(program: &'static str, costs: ExtractionCosts, least: u64) -> Self {
        let possible = costs.program - least.min(costs.program);
        let saved = (costs.program - costs.chosen) as f64 / possible as f64;
        let ratio = costs.chosen.max(1) as f64 / least.max(1) as f64;
        Self { program, ratio, saved: (possible > 0).then_some(saved) }
    }
}

/// Prints how far costs are from the least ones, and checks that it is not too far.
fn check(what: &str, ratios: &[Ratio], left_out: usize) {
    let logarithms: f64 = ratios.iter().map(|costs| costs.ratio.ln()).sum();
    let mean = (logarithms / ratios.len() as f64).exp();
    let worst = ratios.iter().max_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let (program, worst) = worst.map_or(("none", 1.0), |worst| (worst.program, worst.ratio));
    let exact = ratios.iter().filter(|costs| costs.ratio <= 1.0).count();
    let saved: Vec<f64> = ratios.iter().filter_map(|costs| costs.saved).collect();
    let share = saved.iter().sum::<f64>() / saved.len() as f64;
    println!(
        "{what}: {mean:.6} (target {TARGET}); {exact} of {} at most the least, worst {worst:.6} \
         ({program}); {left_out} of more than {MAX_NODES} nodes left out; {share:.3} of what can be \
         saved is, in {} that can be made cheaper",
        ratios.len(),
        saved.len(),
    );
    assert!(!ratios.is_empty() && mean <= TARGET, "{what}: {mean}");
}

#[test]
fn extraction_is_within_five_percent_of_the_exact_one_on_all_adjoints() {
    let programs = [ADBENCH, LOOPS, MOONCAKE].concat();
    let adjoints: Vec<(&str, Adjoint)> = programs
        .iter()
        .map(|program| (program.function, Adjoint::new(program, PlanKind::Best, "").unwrap()))
        .collect();
    for math in [Math::Exact, Math::Fast] {
        let mut left_out = [0, 0];
        let (mut own, mut egg, mut both) = (Vec::new(), Vec::new(), Vec::new());
        for (program, f) in adjoints
            .iter()
            .flat_map(|(name, adjoint)| adjoint.optimized.functions().map(|f| (*name, f)))
        {
            let costs = |saturates| extraction_costs(f, math, saturates, MAX_NODES);
            let (Some(ours), Some(eggs)) = (costs(None), costs(Some(SATURATION))) else { continue };
            let no_more = |costs: &ExtractionCosts| costs.chosen <= costs.program;
            assert!(no_more(&ours) && no_more(&eggs), "{program}: {ours:?} {eggs:?}");
            match ours.least {
                Some(least) => own.push(Ratio::new(program, ours, least)),
                None => left_out[0] += 1,
            }
            match eggs.least {
                Some(least) => {
                    egg.push(Ratio::new(program, eggs, least));
                    both.push(Ratio::new(program, ours, least));
                }
                None => left_out[1] += 1,
            }
        }
        let name = math.name();
        check(&format!("{name}, acyclic graph, chosen / least"), &own, left_out[0]);
        check(&format!("{name}, graph of egg, chosen / least"), &egg, left_out[1]);
        check(
            &format!("{name}, chosen in the acyclic graph / least in that of egg"),
            &both,
            left_out[1],
        );
    }
}
