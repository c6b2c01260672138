//! Loops that do the same to all elements of an array.
//!
//! ```text
//! %9: i64 = mem.length %3
//! for i in %9:-1:1 { %3[i] = %3[i] + 1.0 }
//! ```
//!
//! The index runs through all numbers from 1 to the length, once each. A branch around the loop that is
//! taken only if there are no elements does no harm.

use regraft_dialects::{arith, mem};
use regraft_ir::{Block, Function, Op, Operand, Value};

use super::made_arrays::ReductionAnalyses;
use super::nest::LoopNest;
use super::update::Update;
use crate::analysis::comparison::opposite;
use crate::analysis::trip_count::{CountForm, LatchRuns};
use crate::analysis::{LoopId, Poly, Sym};
use crate::transforms::util::edit::only;

/// A loop that updates all elements of an array with a constant.
pub(super) struct FillLoop {
    pub(super) l: LoopId,
    pub(super) update: Update,
    /// A block after which all elements are updated, wherever control goes from there out of the loop.
    pub(super) begins: Block,
}

impl FillLoop {
    /// The loop of a store.
    pub(super) fn of(analyses: &ReductionAnalyses<'_>, store: Value) -> Option<Self> {
        let f = analyses.f;
        let l = analyses.forest.loop_of(f.block_of(store))?;
        let nest = LoopNest::of(f, analyses.forest, analyses.counts, l)?;
        let update = Update::of(f, &nest, store)?;
        let [index] = *update.indices else { return None };
        if !analyses.forest.is_innermost(l)
            || !nest.runs_always(analyses.dom, f.block_of(store))
            || f.constant(update.addend).is_none()
        {
            return None;
        }
        let index = analyses.variables.evolution_at(f, index, f.block_of(store));
        let (base, step) = index.linear_in(Sym::Iteration(l))?;
        let runs = runs(&analyses.counts.of(l).latch_runs)?;
        let length = runs.as_symbol()?;
        let Sym::Value(length_value) = length else { return None };
        let covers = match step.constant_value()? {
            1 => base.constant_value() == Some(1),
            -1 => base == runs,
            _ => false,
        };
        if !covers || !is_length_of(analyses, length_value, update.array) {
            return None;
        }
        let header = nest.get(l).header;
        let begins = guard(f, analyses, l, length_value).unwrap_or(header);
        Some(Self { l, update, begins })
    }
}

/// How often a loop runs, if that is a number that is not negative.
fn runs(runs: &LatchRuns) -> Option<Poly> {
    let LatchRuns::Symbolic(count) = runs else { return None };
    match &count.form {
        CountForm::Number(poly) => Some(poly.clone()),
        CountForm::Distance { from, to, down: false, stride: 1 } => to.sub(from),
        CountForm::Distance { from, to, down: true, stride: 1 } => from.sub(to),
        _ => None,
    }
}

/// Returns whether a value is the number of elements of an array whose dimensions never change.
fn is_length_of(analyses: &ReductionAnalyses<'_>, length: Value, array: Operand) -> bool {
    let f = analyses.f;
    let maker = |array: Operand| {
        let mut array = array;
        while let Some(v) = array.as_value().filter(|&v| f.op(v) == Some(mem::COPY)) {
            array = f.operand(v, 0)?;
        }
        Some(analyses.maker(array)?.0)
    };
    let Some([of]) = f.matches(length, mem::LENGTH) else { return false };
    let made = maker(of).zip(maker(array));
    made.is_some_and(|(a, b)| analyses.same_dimensions(a, b))
}

/// The block with a branch that goes around a loop if a length is 0.
fn guard(
    f: &Function,
    analyses: &ReductionAnalyses<'_>,
    l: LoopId,
    length: Value,
) -> Option<Block> {
    let header = analyses.forest.get(l).header;
    let mut enter = only(f.in_edges(header).filter(|e| !analyses.forest.contains(l, e.from)))?;
    if f.out_edges(enter.from).nth(1).is_none() {
        enter = only(f.in_edges(enter.from))?;
    }
    let term = Value::terminator(enter.from);
    let mut edges = f.out_edges(enter.from);
    let (first, _, None) = (edges.next()?, edges.next()?, edges.next()) else { return None };
    let condition = f.operand(term, 0)?.as_value()?;
    let mut op = f.op(condition)?;
    if first == enter {
        // The loop is entered if the condition holds.
        op = opposite_of(op)?;
    }
    let [x, y] = [f.operand(condition, 0)?, f.operand(condition, 1)?];
    let at = Operand::from(length);
    let is = |operand: Operand, n| f.const_i64(operand) == Some(n);
    let is_empty = match op {
        arith::GE => is(x, 0) && y == at,
        arith::LE => x == at && is(y, 0),
        arith::LT => x == at && is(y, 1),
        arith::GT => is(x, 1) && y == at,
        arith::EQ => x == at && is(y, 0) || is(x, 0) && y == at,
        _ => false,
    };
    is_empty.then_some(enter.from)
}

fn opposite_of(op: Op) -> Option<Op> {
    [arith::LT, arith::LE, arith::GT, arith::GE, arith::EQ, arith::NE]
        .contains(&op)
        .then(|| opposite(op))
}
