//! Integers that are the same in each iteration, however they are computed.
//!
//! ```text
//! ^2(%3: i64):                          from %1 by -1
//!   %4: i64 = arith.sub %3, 1
//!   %5: i64 = arith.add %4, 1           is %3
//! ```
//!
//! Two integers are the same where they are the same polynomial in the iterations of the loops
//! around them ([`InductionVariables`]): modulo 2^w, like everything that is computed.

use regraft_ir::{Block, DominatorTree, Function, IrResult, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::analysis::traps::only_computes;
use crate::analysis::{InductionVariables, LoopId, Poly, Sym};

/// Lets what is the same number as an earlier one of the same loop be that. Returns what nobody uses
/// now.
pub(crate) fn join(
    f: &mut Function,
    loops: &[LoopId],
    variables: &InductionVariables,
    dom: &DominatorTree,
) -> IrResult<Vec<Value>> {
    let forest = variables.forest();
    let mut gone = Vec::new();
    for &l in loops {
        for (v, same) in find(f, forest.own_blocks(l).iter().copied(), variables, dom) {
            f.replace_named(v, same)?;
            gone.push(v);
        }
    }
    Ok(gone)
}

/// Instructions in some blocks, each after those that lead to it, that compute what an earlier
/// one of these does or a header parameter is, each with that. O(instructions).
pub(crate) fn find(
    f: &Function,
    blocks: impl Iterator<Item = Block>,
    variables: &InductionVariables,
    dom: &DominatorTree,
) -> Vec<(Value, Value)> {
    let mut known: FxHashMap<Poly, SmallVec<[Value; 2]>> = FxHashMap::default();
    let mut equal = Vec::new();
    for block in blocks {
        let is_header = variables.forest().headed_by(block).is_some();
        let params = f.params(block).filter(|_| is_header);
        for v in params.chain(f.body(block)) {
            if f.ty(v) != Type::I64 {
                continue;
            }
            let poly = variables.evolution(f, v);
            // What is opaque is like nothing else.
            if poly.as_symbol().is_some_and(|s| s == Sym::Value(v)) {
                continue;
            }
            let earlier = known.entry(poly).or_default();
            match earlier.iter().find(|&&u| comes_first(f, dom, u, v)) {
                Some(&same) if only_computes(f, v) => equal.push((v, same)),
                _ => earlier.push(v),
            }
        }
    }
    equal
}

/// Returns whether one value is there wherever another one is.
pub(crate) fn comes_first(f: &Function, dom: &DominatorTree, u: Value, v: Value) -> bool {
    let (a, b) = (f.block_of(u), f.block_of(v));
    if a == b { f.is_param(u) || f.comes_before(u, v) } else { dom.dominates(a, b) }
}
