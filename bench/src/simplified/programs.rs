//! Small programs whose derivatives are simplified.

use std::fmt::Write as _;

use regraft_dialects::context;
use regraft_exec::Val;
use regraft_exec::value::Array;
use regraft_ir::Module;
use regraft_syntax::parse_module;

use crate::synthetic::Numbers;

/// Functions of one number, with their names.
pub const FUNCTIONS: &[(&str, &str)] = &[
    ("sigmoid", "1 / (1 + exp(-x))"),
    ("exp∘sin", "exp(sin(x))"),
    ("Gaussian", "exp(-x^2 / 2)"),
    ("softplus", "log(1 + exp(x))"),
    ("tanh", "tanh(x)"),
    ("log1p∘exp", "log1p(exp(x))"),
    ("√(1 + x²)", "sqrt(1 + x^2)"),
    ("x³ sin x", "x^3 * sin(x)"),
    ("1 / (1 + x²)", "1 / (1 + x^2)"),
    ("atan", "atan(x)"),
    ("x log x", "x * log(x)"),
    ("x^2.5", "x^2.5"),
];

/// The power of [`product_of_powers`].
pub const POWER: usize = 400;

/// A module of one function: `x y^n` as a row of multiplications.
///
/// # Panics
/// Never: what is written here can be read.
pub fn product_of_powers(n: usize) -> Module {
    let mut text = String::from("func @f(%x: f64, %y: f64) -> f64 {\n^1:\n");
    let mut last = "x".to_owned();
    for i in 1..=n {
        let _ = writeln!(text, "  %p{i}: f64 = arith.mul %{last}, %y");
        last = format!("p{i}");
    }
    let _ = writeln!(text, "  return %{last}\n}}");
    parse_module(&context(), "powers", &text).expect("it is right")
}

/// A module of one function: a sum of so many variables times small numbers.
///
/// # Panics
/// Never: what is written here can be read.
pub fn sum_of_terms(terms: usize, variables: usize) -> Module {
    let mut numbers = Numbers::new(1);
    let parameters: Vec<String> = (0..variables).map(|i| format!("%x{i}: f64")).collect();
    let mut text = format!("func @f({}) -> f64 {{\n^1:\n", parameters.join(", "));
    let mut last = "0.0".to_owned();
    for i in 0..terms {
        let (variable, factor) = (numbers.below(variables), 1 + numbers.below(9));
        let _ = writeln!(text, "  %t{i}: f64 = arith.mul %x{variable}, {factor}.0");
        let _ = writeln!(text, "  %s{i}: f64 = arith.add {last}, %t{i}");
        last = format!("%s{i}");
    }
    let _ = writeln!(text, "  return {last}\n}}");
    parse_module(&context(), "sum", &text).expect("it is right")
}

/// A square matrix of numbers that are all different.
///
/// # Panics
/// If it is too large.
pub fn matrix(size: usize) -> Val {
    let items: Vec<f64> = (0..size * size).map(|i| (i as f64 * 1.7 + size as f64).sin()).collect();
    Val::from(Array::of(&items, &[size, size]).expect("it is small"))
}
