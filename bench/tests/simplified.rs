//! Derivatives are not larger after the e-graph than before, and as much smaller as it is known to make
//! them. `cargo bench -p regraft-bench --bench egraph` prints all figures.

use regraft_ad::PlanKind;
use regraft_bench::adjoints::{Adjoint, apply};
use regraft_bench::simplified::{
    FUNCTIONS, Size, Sizes, all_programs, derivative, difference, finish, mean, program, simplify,
    sizes, sum_of_terms,
};
use regraft_ir::Diagnostic;
use regraft_passes::rewrite::Math;

fn told(errors: &[Diagnostic]) -> String {
    regraft_ir::render_all(errors, false)
}

/// Checks that nothing is larger than after `O2`, in instructions (but for one in a hundred where that makes the
/// latency smaller) and in latency, and that the means of the ratios are at most so much.
#[track_caller]
fn check(all: &[Sizes], math: Math, most: [f64; 2]) {
    for (i, most) in most.into_iter().enumerate() {
        let ratio = |sizes: &Sizes| sizes.after(math).beside(sizes.base)[i];
        for sizes in all {
            let (base, after) = (sizes.base, sizes.after(math));
            let [_, latency] = after.beside(base);
            let most = if i == 0 && latency < 1.0 { 1.01 } else { 1.0 };
            assert!(ratio(sizes) <= most, "{}, {math:?}: {base:?}, then {after:?}", sizes.name);
        }
        let mean = mean(all.iter().map(ratio));
        assert!(mean <= most, "{math:?}: {mean} of the instructions (0) or the latency (1): {i}");
    }
}

#[test]
fn adjoints_become_smaller() {
    let of = |program| sizes(program, false).unwrap_or_else(|errors| panic!("{}", told(&errors)));
    let all: Vec<Sizes> = all_programs().map(of).collect();
    check(&all, Math::Exact, [0.993, 0.993]);
    check(&all, Math::Finite, [0.993, 0.975]);
    check(&all, Math::Fast, [0.875, 0.82]);
}

#[test]
fn higher_derivatives_become_smaller() {
    let mut all = Vec::new();
    for order in [2, 3] {
        for &(name, text) in FUNCTIONS {
            let sizes = Sizes::of(name, |pipeline| derivative(text, order, pipeline));
            all.push(sizes.unwrap_or_else(|errors| panic!("{}", told(&errors))));
        }
    }
    check(&all, Math::Exact, [0.70, 0.72]);
    check(&all, Math::Fast, [0.41, 0.43]);
}

#[test]
fn adjoints_run_fewer_instructions_and_give_the_same() {
    for program in all_programs() {
        let name = program.name();
        let adjoint = Adjoint::new(program, PlanKind::Best, "");
        let mut adjoint = adjoint.unwrap_or_else(|errors| panic!("{}", told(&errors)));
        let base = adjoint.gradient(1);
        for (math, most) in [(Math::Exact, 0.0), (Math::Fast, 1e-12)] {
            adjoint.optimize(&finish(math)).unwrap_or_else(|errors| panic!("{}", told(&errors)));
            let found = adjoint.gradient(1);
            let (now, before) = (found.instructions, base.instructions);
            assert!(now <= before, "{name}, {math:?}: {before} instructions, then {now}");
            let apart = difference(&found.tangents, &base.tangents);
            assert!(apart <= most, "{name}, {math:?}: {apart}");
        }
    }
}

#[test]
fn a_step_of_an_lstm_becomes_smaller() {
    let program = program("jl/lstm_step: remember").expect("there is such a program");
    let sizes = sizes(program, false).unwrap_or_else(|errors| panic!("{}", told(&errors)));
    assert!(sizes.after(Math::Fast).ops <= 62, "{sizes:?}");
}

#[test]
fn a_sum_of_terms_becomes_smaller() {
    let mut sum = sum_of_terms(100, 20);
    apply(&mut sum, &simplify(Math::Fast)).unwrap_or_else(|errors| panic!("{}", told(&errors)));
    assert!(Size::of(&sum).ops <= 36, "{:?}", Size::of(&sum));
}

#[test]
fn squares_of_sine_and_cosine_add_up_to_one() {
    let one = derivative("sin(x)^2 + cos(x)^2", 0, &simplify(Math::Fast));
    let one = one.unwrap_or_else(|errors| panic!("{}", told(&errors)));
    assert_eq!(Size::of(&one).ops, 0, "{one}");
}
