//! The programs in `examples/jl` print what they should.

use crate::support::{example, succeeds};

/// What each program prints: of the documents that they are from, or by hand.
const EXPECTED: [(&str, &str); 7] = [
    // 1*1 + sin(1); 2*0 + sin(0).
    ("foo.jl", "1.8414709848078965\n0.0\n"),
    ("foo_bang.jl", "[1.5, 2.25, 3.125]\nFloat64[]\n"),
    // 1 + 4 + 9, added to 0.0.
    ("sum.jl", "7.5\n14.0\n0.0\n"),
    // sin(cos(exp(0))).
    ("map_sin_cos_exp.jl", "0.5143952585235492\ntrue\ntrue\n"),
    ("permuted_map.jl", "(a = 5, b = 7, c = 9)\n(a = 5, b = 7, c = 9)\n(u = 2.0,)\n"),
    ("quadratic.jl", "9\n-1.0\n[-1, 2, 9]\n"),
    // Blocks [1b 2b; 3b 4b]; (1 + 2 + 3 + 4) * (5 + 6 + 7).
    (
        "kron_sum.jl",
        "[0.0 5.0 0.0 10.0; 6.0 7.0 12.0 14.0; 0.0 15.0 0.0 20.0; 18.0 21.0 24.0 28.0]\n180.0\ntrue\n",
    ),
];

#[test]
fn they_print_what_they_should() {
    for (file, printed) in EXPECTED {
        assert_eq!(succeeds(&["run", &example(file)], ""), printed, "{file}");
    }
}

#[test]
fn every_program_has_an_expectation() {
    let folder = std::fs::read_dir(example("")).unwrap();
    for entry in folder {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(EXPECTED.iter().any(|(file, _)| *file == name), "{name}");
    }
}
