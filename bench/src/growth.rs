//! Functions of shapes that are prone to take more than linear time, of any size, as IR text.

use std::fmt::Write as _;
use std::sync::Arc;

use regraft_ir::{Context, Module};
use regraft_syntax::parse_module;

use crate::synthetic::Numbers;

/// A shape of functions, with its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// So many loops over an array, one after the other. What each computes is used at the very end.
    Row(usize),
    /// So many refs, written in so many branches in turn, and read at the end.
    Refs(usize, usize),
    /// Loops in each other: so many nests, so many loops deep, in which integers count from 1.
    Nest {
        /// The loops of a nest.
        depth: usize,
        /// The nests, one after the other.
        count: usize,
    },
    /// So many blocks that go to blocks near them, into each other's loops.
    Irreducible(usize),
}

impl Shape {
    /// Returns the name of its size in a table.
    pub fn size(self) -> String {
        match self {
            Self::Row(loops) => format!("{loops} loops"),
            Self::Refs(refs, branches) => format!("{refs} refs, {branches} branches"),
            Self::Nest { depth, count: 1 } => format!("{depth} deep"),
            Self::Nest { depth, count } => format!("{count} nests, {depth} deep"),
            Self::Irreducible(blocks) => format!("{blocks} blocks"),
        }
    }

    /// Returns its size.
    pub fn amount(self) -> usize {
        match self {
            Self::Row(n) | Self::Refs(_, n) | Self::Irreducible(n) => n,
            Self::Nest { depth, count } => depth * count,
        }
    }

    /// A module of one function of this shape.
    ///
    /// # Panics
    /// Never: what is written here can be read.
    pub fn module(self, ctx: &Arc<Context>) -> Module {
        let mut text = String::new();
        let written = match self {
            Self::Row(loops) => row(&mut text, loops),
            Self::Refs(refs, branches) => branching(&mut text, refs, branches),
            Self::Nest { depth, count } => nest(&mut text, depth, count),
            Self::Irreducible(blocks) => irreducible(&mut text, blocks),
        };
        written.expect("writing to a string");
        parse_module(ctx, "growth", &text).expect("it is right")
    }
}

/// The number of operations in the body of a loop of a row.
const BODY: usize = 40;

fn row(out: &mut String, loops: usize) -> std::fmt::Result {
    writeln!(out, "func @main(%x: f64, %n: i64, %a: array<f64, 1>) -> f64 {{\n^1:")?;
    for k in 1..=loops {
        let (head, body, after) = (3 * k - 1, 3 * k, 3 * k + 1);
        writeln!(out, "  br ^{head}(1, %x)\n^{head}(%i{k}: i64, %s{k}: f64):")?;
        writeln!(out, "  %c{k}: bool = arith.le %i{k}, %n\n  br %c{k}, ^{body}, ^{after}")?;
        writeln!(out, "^{body}:\n  %v{k}.0: f64 = mem.load %a, %i{k}")?;
        for i in 1..=BODY {
            let op = ["arith.mul", "arith.add", "arith.sub"][i % 3];
            writeln!(out, "  %v{k}.{i}: f64 = {op} %v{k}.{}, %s{k}", i - 1)?;
        }
        writeln!(out, "  mem.store %a, %v{k}.{BODY}, %i{k}\n  %n{k}: i64 = arith.add %i{k}, 1")?;
        writeln!(out, "  br ^{head}(%n{k}, %v{k}.{BODY})\n^{after}:")?;
    }
    let mut sum = "x".to_owned();
    for k in 1..=loops {
        writeln!(out, "  %t{k}: f64 = arith.add %{sum}, %s{k}")?;
        sum = format!("t{k}");
    }
    writeln!(out, "  return %{sum}\n}}")
}

fn branching(out: &mut String, refs: usize, branches: usize) -> std::fmt::Result {
    writeln!(out, "func @main(%x: i64) -> i64 {{\n^1:")?;
    for r in 0..refs {
        writeln!(out, "  %r{r}: ref<i64> = mem.ref_new {r}")?;
    }
    for k in 0..branches {
        let (r, [yes, no, join]) = (k % refs, [3 * k + 2, 3 * k + 3, 3 * k + 4]);
        writeln!(out, "  %c{k}: bool = arith.lt %x, {k}\n  br %c{k}, ^{yes}, ^{no}")?;
        writeln!(out, "^{yes}:\n  mem.ref_set %r{r}, {k}\n  br ^{join}")?;
        writeln!(out, "^{no}:\n  %g{k}: i64 = mem.ref_get %r{r}")?;
        writeln!(out, "  %h{k}: i64 = arith.add %g{k}, %x\n  mem.ref_set %r{r}, %h{k}")?;
        writeln!(out, "  br ^{join}\n^{join}:")?;
    }
    let mut sum = "x".to_owned();
    for r in 0..refs {
        writeln!(out, "  %e{r}: i64 = mem.ref_get %r{r}")?;
        writeln!(out, "  %t{r}: i64 = arith.add %{sum}, %e{r}")?;
        sum = format!("t{r}");
    }
    writeln!(out, "  return %{sum}\n}}")
}

fn nest(out: &mut String, depth: usize, count: usize) -> std::fmt::Result {
    writeln!(out, "func @main(%n: i64, %x: i64) -> i64 {{\n^1:")?;
    let mut sum = "x".to_owned();
    for first in (1..=depth * count).step_by(depth) {
        for k in first..first + depth {
            let (head, body, after) = (3 * k - 1, 3 * k, 3 * k + 1);
            writeln!(out, "  br ^{head}(1, %{sum})\n^{head}(%i{k}: i64, %s{k}: i64):")?;
            writeln!(out, "  %c{k}: bool = arith.le %i{k}, %n\n  br %c{k}, ^{body}, ^{after}")?;
            writeln!(out, "^{body}:\n  %m{k}: i64 = arith.mul %n, %n")?;
            writeln!(out, "  %u{k}: i64 = arith.add %s{k}, %i{k}")?;
            writeln!(out, "  %w{k}: i64 = arith.xor %u{k}, %m{k}")?;
            sum = format!("w{k}");
        }
        for k in (first..first + depth).rev() {
            writeln!(out, "  %n{k}: i64 = arith.add %i{k}, 1")?;
            writeln!(out, "  br ^{}(%n{k}, %{sum})\n^{}:", 3 * k - 1, 3 * k + 1)?;
            sum = format!("s{k}");
        }
    }
    writeln!(out, "  return %{sum}\n}}")
}

fn irreducible(out: &mut String, blocks: usize) -> std::fmt::Result {
    let mut numbers = Numbers::new(1);
    let last = blocks + 2;
    writeln!(out, "func @main(%x: i64) -> i64 {{\n^1:\n  br ^2(%x)")?;
    for b in 2..last {
        // Up to twenty blocks away, in either direction.
        let other = (b + numbers.below(41)).saturating_sub(20).clamp(2, last - 1);
        writeln!(out, "^{b}(%p{b}: i64):\n  %c{b}: bool = arith.lt %p{b}, {}", b * 7 % 101)?;
        writeln!(out, "  %v{b}: i64 = arith.add %p{b}, {}", b % 5)?;
        writeln!(out, "  br %c{b}, ^{}(%v{b}), ^{other}(%p{b})", b + 1)?;
    }
    writeln!(out, "^{last}(%p{last}: i64):\n  return %p{last}\n}}")
}

#[cfg(test)]
mod tests {
    use regraft_dialects::context;
    use regraft_exec::value::{Array, Val};
    use regraft_exec::{Engine, Interpreter};
    use regraft_ir::verify_module;

    use super::*;

    /// Returns the result of `main`.
    fn run(shape: Shape, args: &[Val]) -> Val {
        let module = shape.module(&context());
        verify_module(&module).unwrap();
        Interpreter::new(&module).call("main", args).unwrap()
    }

    #[test]
    fn functions_are_valid_and_compute_what_their_shape_says() {
        // No loop is entered: `x` three times, and once more.
        let none = Val::from(Array::vector(&[0.5]));
        let row = run(Shape::Row(3), &[Val::F64(2.0), Val::I64(0), none]);
        assert_eq!(row.as_f64(), Some(8.0));
        // Both refs are written twice; the second branch of each goes the other way, to 2 and 3.
        assert_eq!(run(Shape::Refs(2, 4), &[Val::I64(1)]).as_i64(), Some(1 + 2 + 3));
        let nest = run(Shape::Nest { depth: 1, count: 2 }, &[Val::I64(1), Val::I64(5)]);
        assert_eq!(nest.as_i64(), Some((((5 + 1) ^ 1) + 1) ^ 1));
        verify_module(&Shape::Irreducible(100).module(&context())).unwrap();
    }
}
