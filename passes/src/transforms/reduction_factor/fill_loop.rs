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
use regraft_ir::{Block, Edge, Function, Operand, Value};
use rustc_hash::FxHashSet;

use super::made_arrays::ReductionAnalyses;
use super::nest::LoopNest;
use super::update::Update;
use crate::analysis::comparison::{is_comparison, opposite};
use crate::analysis::trip_count::{CountForm, LatchRuns};
use crate::analysis::{LoopId, Poly, Sym};

/// A loop that updates all elements of an array with a constant.
pub(super) struct FillLoop {
    pub(super) l: LoopId,
    pub(super) update: Update,
    /// A block from which control comes to another one only when all elements are updated.
    pub(super) begins: Block,
}

impl FillLoop {
    /// The loop of a store, on the way to a block.
    pub(super) fn of(
        analyses: &ReductionAnalyses<'_>,
        store: Value,
        before: Block,
    ) -> Option<Self> {
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
        let begins = match analyses.dom.strictly_dominates(header, before) {
            true => header,
            false => guard(analyses, header, length_value, before)?,
        };
        Some(Self { l, update, begins })
    }
}

/// The trip count of a loop, if it is known and not negative.
pub(super) fn runs(runs: &LatchRuns) -> Option<Poly> {
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

/// A block above the header of a loop with a branch that, if it goes around the loop on the way to
/// `before`, does so because a length is 0.
fn guard(
    analyses: &ReductionAnalyses<'_>,
    header: Block,
    length: Value,
    before: Block,
) -> Option<Block> {
    let (f, dom) = (analyses.f, analyses.dom);
    let mut at = dom.idom(header)?;
    for _ in 0..MAX_ABOVE {
        if dom.strictly_dominates(at, before) {
            let enters = |edge: &Edge| !is_empty_on(f, *edge, length);
            let ways: Vec<Edge> = f.out_edges(at).filter(enters).collect();
            let around = ways.iter().any(|&edge| reaches(f, f.edge_target(edge), header, before));
            return (!around).then_some(at);
        }
        at = dom.idom(at)?;
    }
    None
}

/// The most dominators of a loop that are looked at.
const MAX_ABOVE: usize = 8;

/// Returns whether control may come from a block to another one without a third one.
fn reaches(f: &Function, from: Block, without: Block, to: Block) -> bool {
    let mut pending = vec![from];
    let mut seen: FxHashSet<Block> = FxHashSet::default();
    while let Some(block) = pending.pop() {
        if block == to {
            return true;
        }
        if block != without && seen.insert(block) {
            pending.extend(f.successors(block));
        }
    }
    false
}

/// Returns whether a length is 0 when an edge is taken.
fn is_empty_on(f: &Function, edge: Edge, length: Value) -> bool {
    let decide = || {
        let condition = f.operand(Value::terminator(edge.from), 0)?.as_value()?;
        let (first, second) = (f.out_edges(edge.from).next()?, f.out_edges(edge.from).nth(1)?);
        let op = match f.op(condition)? {
            op if !is_comparison(op) || first == second => return None,
            op if edge == first => op,
            op => opposite(op),
        };
        Some((op, f.operand(condition, 0)?, f.operand(condition, 1)?))
    };
    let Some((op, x, y)) = decide() else { return false };
    let at = Operand::from(length);
    let is = |operand: Operand, n| f.const_i64(operand) == Some(n);
    match op {
        arith::GE => is(x, 0) && y == at,
        arith::LE => x == at && is(y, 0),
        arith::LT => x == at && is(y, 1),
        arith::GT => is(x, 1) && y == at,
        arith::EQ => x == at && is(y, 0) || is(x, 0) && y == at,
        _ => false,
    }
}
