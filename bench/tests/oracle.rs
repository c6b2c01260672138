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

/// The costs of the adjoints of all programs, with the names of those.
fn adjoints() -> Vec<(String, Adjoint)> {
    let programs = [ADBENCH, LOOPS, MOONCAKE].concat();
    let adjoint = |program| Adjoint::new(program, PlanKind::Best, "").expect("it has one");
    programs.iter().map(|program| (program.function.to_owned(), adjoint(program))).collect()
}

#[test]
fn extraction_is_within_five_percent_of_the_exact_one_on_all_adjoints() {
    let adjoints = adjoints();
    for math in [Math::Exact, Math::Fast] {
        for saturates in [None, Some(SATURATION)] {
            let engine = if saturates.is_some() { "egg" } else { "acyclic" };
            let mut found: Vec<(&str, ExtractionCosts, u64)> = Vec::new();
            let mut larger = 0;
            for (name, adjoint) in &adjoints {
                for f in adjoint.optimized.functions() {
                    let Some(costs) = extraction_costs(f, math, saturates, MAX_NODES) else {
                        continue;
                    };
                    assert!(costs.chosen <= costs.program, "{name}: {costs:?}");
                    match costs.least {
                        Some(least) => found.push((name, costs, least)),
                        None => larger += 1,
                    }
                }
            }
            let ratio = |&(_, costs, least): &(&str, ExtractionCosts, u64)| {
                costs.chosen.max(1) as f64 / least.max(1) as f64
            };
            let logarithms: f64 = found.iter().map(|costs| ratio(costs).ln()).sum();
            let mean = (logarithms / found.len() as f64).exp();
            let worst = found.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
            let (name, worst) = worst.map_or(("none", 1.0), |worst| (worst.0, ratio(worst)));
            let exact = found.iter().filter(|costs| ratio(costs) == 1.0).count();
            println!(
                "{:5} {engine:7} {:.4} of the least cost (target {TARGET}); exact in {exact} of {} graphs, \
                 worst {worst:.3} ({name}); {larger} graphs of more than {MAX_NODES} nodes left out",
                math.name(),
                mean,
                found.len(),
            );
            assert!(!found.is_empty() && mean <= TARGET, "{mean}");
        }
    }
}
