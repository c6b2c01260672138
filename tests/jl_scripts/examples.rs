//! The programs in `examples/jl` print what they should.

use crate::support::{example, succeeds};

/// The output of each program: of the documents that they are from, or by hand.
const EXPECTED: [(&str, &str); 22] = [
    // 1*1 + sin(1); 2*0 + sin(0).
    ("foo.jl", "1.8414709848078965\n0.0\n"),
    ("foo_bang.jl", "[1.5, 2.25, 3.125]\nFloat64[]\n"),
    // 1 + 4 + 9, added to 0.0.
    ("sum.jl", "7.5\n14.0\n0.0\n"),
    // sin(cos(exp(0))).
    ("map_sin_cos_exp.jl", "0.5143952585235492\ntrue\ntrue\n"),
    ("getfield.jl", "5.0\n4\n9.5\n"),
    ("permuted_map.jl", "(a = 5, b = 7, c = 9)\n(a = 5, b = 7, c = 9)\n(u = 2.0,)\n"),
    ("quadratic.jl", "9\n-1.0\n[-1, 2, 9]\n"),
    // Blocks [1b 2b; 3b 4b]; (1 + 2 + 3 + 4) * (5 + 6 + 7).
    (
        "kron_sum.jl",
        "[0.0 5.0 0.0 10.0; 6.0 7.0 12.0 14.0; 0.0 15.0 0.0 20.0; 18.0 21.0 24.0 28.0]\n180.0\ntrue\n180.0\n",
    ),
    // The same product; its columns down to the diagonal: 0 + (5 + 7) + 12 + (10 + 14 + 20 + 28).
    (
        "kron_view_sum.jl",
        "[0.0 5.0 0.0 10.0; 6.0 7.0 12.0 14.0; 0.0 15.0 0.0 20.0; 18.0 21.0 24.0 28.0]\n96.0\n17\n",
    ),
    // Each step of `parity` flips the side; more than ten begin on the other.
    ("goto.jl", "1.0\ntrue\n[(:even, 4), (:odd, 5), (:even, 11), (:odd, 12)]\n(10.0, 2.0)\n"),
    // The integral of t up to 2.
    ("rk4.jl", "true\ntrue\ntrue\n2.0\n"),
    // 6x + cos(x) at 0; 4x^3 at 3; 1; 2x at 4.
    ("forward_mode.jl", "1.0\n108.0\ntrue\n1.0\n8.0\n"),
    ("total.jl", "7.5\n0.0\n"),
    // (1 + 2 + 3 + 4) * (5 + 6 + 7).
    ("kron_loops.jl", "180.0\n"),
    // 12 + 19 + 24 + 43.
    ("matrix_product.jl", "[12.0 19.0; 24.0 43.0]\n98.0\n"),
    ("tanh_layer.jl", "true\ntrue\n"),
    // All is zero where the input is; the rest compares with the formula by hand.
    ("tanh_mlp.jl", "0.0\ntrue\n"),
    ("log_sum_exp.jl", "true\ntrue\n"),
    ("parity.jl", "2.0\ntrue\n"),
    // 4 * 0.1 + 0.6 and 2 * 0.1 + 3 * 0.6.
    ("elimination.jl", "true\n[0.1, 0.6]\n"),
    ("recurrent.jl", "true\ntrue\n"),
    ("newton.jl", "1.0\ntrue\n"),
];

/// The output of longer programs, to ten digits: computed from the formulas by programs in another
/// language, with dense matrices and library functions where these have loops and series.
const COMPUTED: [(&str, &[f64]); 12] = [
    ("kalman.jl", &[6.365093471294546]),
    ("kalman_matrices.jl", &[-7.256235054456408]),
    // The squares of 1 to 5.
    ("roots.jl", &[55.0]),
    ("level_set.jl", &[982.7962278711054]),
    ("ising.jl", &[-0.3613748919012505]),
    ("gmm.jl", &[1.0866432377507067, 25.286050315675176]),
    (
        "ba.jl",
        &[
            160.40766317137908,
            -23.037550681696956,
            80.55384087791495,
            485.73906705539355,
            243.87269319847846,
            24.530697634905238,
            66.66152263374485,
            428.5652332361516,
            // 1 - w^2 of each weight.
            0.0,
            0.75,
            0.9375,
            -3.0,
        ],
    ),
    // The state of the caller stays as it was.
    ("lstm.jl", &[0.7064870214610366, 0.1, 0.1, 0.1]),
    // The last `true` is no number.
    ("mlp.jl", &[60.626859299209684]),
    // The factor of [4 2; 2 5], row by row; the likelihood by Gaussian elimination.
    ("gp_lml.jl", &[2.0, 0.0, 1.0, 2.0, -3.9114026404461617]),
    // The first number, of zero weights, is compared by the program itself.
    ("lstm_step.jl", &[1.095974261184795]),
    // Energies before and after, the place of the first planet.
    (
        "nbody.jl",
        &[
            -1.1464442719099992,
            -1.14651437483425,
            -0.7338649953505538,
            -0.40178586675205924,
            -0.06361042402737721,
        ],
    ),
];

/// The output of the programs in `examples/contexts`, by hand.
const IN_CONTEXTS: [(&str, &str); 4] = [
    // The squares are multiples of 128 in Float64, and so is what 1 is added to: the variance is 0.
    (
        "variance.jl",
        "[-Inf, NaN, Inf]\n-Inf = div_float(-1.0, 0.0) at line 18\nall values are finite\n",
    ),
    // A sum of 8192 numbers in Float32 has an error of up to 8192 units in the last place, 6e-8 each.
    ("precision.jl", "true\nadvance: Float64\nslope: Float32\nintegrate: Float32\n"),
    // 1 + ... + 7 divisions; 1 + 4 + ... + 49 multiplications, and as many subtractions.
    (
        "factorisation.jl",
        "308 flops: 28 divisions, 140 multiplications, 140 subtractions\nline 12: 28\nline 14: 280\nnot reached: [9]\ntrue\n",
    ),
    (
        "score.jl",
        "region 12\n130.0 comes from [1, 2]\nprintln(\"region \", 12) tells of [3]\nregion 12\n[1, 2, 3]\n",
    ),
];

#[test]
fn they_print_what_they_should() {
    for (file, printed) in EXPECTED {
        assert_eq!(succeeds(&["run", &example(file)], ""), printed, "{file}");
    }
}

#[test]
fn programs_run_in_contexts() {
    for (file, printed) in IN_CONTEXTS {
        let path = example(&format!("../contexts/{file}"));
        assert_eq!(succeeds(&["run", &path], ""), printed, "{file}");
    }
    let folder = std::fs::read_dir(example("../contexts")).unwrap();
    assert_eq!(folder.count(), IN_CONTEXTS.len(), "a program has no expectation");
}

/// The numbers in what a program prints.
fn numbers(text: &str) -> Vec<f64> {
    let words = text.split(|c: char| c.is_whitespace() || "[](),;".contains(c));
    words.filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn they_compute_what_they_should() {
    for (file, expected) in COMPUTED {
        let printed = succeeds(&["run", &example(file)], "");
        let found = numbers(&printed);
        assert_eq!(found.len(), expected.len(), "{file}: {printed}");
        for (x, y) in found.iter().zip(expected) {
            assert!((x - y).abs() <= 1e-10 * y.abs().max(1.0), "{file}: {x} and not {y}");
        }
    }
}

#[test]
fn every_program_has_an_expectation() {
    let folder = std::fs::read_dir(example("")).unwrap();
    for entry in folder {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let expected = EXPECTED.iter().any(|(file, _)| *file == name);
        assert!(expected || COMPUTED.iter().any(|(file, _)| *file == name), "{name}");
    }
}
