//! The programs in `examples/mooncake`, cases that differentiation of Julia programs is measured by.

use regraft_ad::PlanKind;
use regraft_bench::adjoints::{Adjoint, MOONCAKE};

use crate::support::{assert_close, example, numbers, numbers_of, session, told};

/// The output of each program: computed from the formulas by a program in another language, with
/// exact sums and Gaussian elimination. The sums of Kronecker products nearly cancel.
const VALUES: [(&str, f64); 13] = [
    ("broadcast_sin_cos_exp.jl", 61.5927796040433),
    ("gp_lml.jl", -12.668146635147615),
    ("kron_sum.jl", 0.11323265445474745),
    ("kron_view_sum.jl", -0.21773248325582875),
    ("large_single_block.jl", 0.2693160858520268),
    ("map_sin_cos_exp.jl", 61.5927796040433),
    ("naive_map_sin_cos_exp.jl", 61.5927796040433),
    ("simple_mlp.jl", 490.070893549996),
    ("sum.jl", 0.8139696340731671),
    ("sum_loop.jl", 0.8139696340731671),
    ("sum_sin.jl", 183.63360979003872),
    ("sum_sin_loop.jl", 183.63360979003872),
    ("turing_broadcast.jl", -3363.9661890391126),
];

#[test]
fn they_compute_what_they_should() {
    for (file, expected) in VALUES {
        let printed = session(&[&format!("mooncake/{file}")]).take_output();
        let mut lines = printed.lines();
        let found: f64 = lines.next().unwrap().parse().unwrap();
        assert_close(file, &[found], &[expected], 1e-11);
        assert!(lines.all(|line| line == "true"), "{file}: {printed}");
    }
}

#[test]
fn the_language_knows_their_derivatives() {
    for program in MOONCAKE {
        let name = program.name();
        let adjoint = Adjoint::new(program, PlanKind::Naive, "");
        let adjoint = adjoint.unwrap_or_else(|errors| panic!("{name}: {}", told(&errors)));
        let expected: Vec<f64> = adjoint.gradient(0).tangents.iter().flat_map(numbers).collect();
        let mut session = session(program.files);
        let gradient = format!("gradient({}, {})", program.function, program.args);
        let found = numbers_of(&mut session, &gradient);
        assert_close(&name, &found, &expected, 1e-9);
    }
}

#[test]
fn every_program_has_an_expectation() {
    let folder = format!("{}/examples/mooncake", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).unwrap();
    let mut found: Vec<String> =
        files.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    found.sort_unstable();
    assert_eq!(found, VALUES.map(|(file, _)| file));
    for file in found {
        assert!(example(&format!("mooncake/{file}")).starts_with("# "), "{file} says what it is");
    }
}
