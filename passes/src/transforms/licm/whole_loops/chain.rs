//! The loops around a block, and sets of their depths.

use regraft_ir::{Function, Operand};

use crate::analysis::LoopId;
use crate::transforms::licm::LicmAnalyses;

/// Makes `chain` the loops around a block whose innermost one is `inner`, outermost first. Returns
/// how many stay.
pub(in super::super) fn enter(
    facts: &LicmAnalyses,
    chain: &mut Vec<LoopId>,
    inner: LoopId,
) -> usize {
    let forest = &*facts.forest;
    while chain.last().is_some_and(|&top| !forest.encloses(top, inner)) {
        chain.pop();
    }
    let known = chain.len();
    let mut at = Some(inner);
    while let Some(id) = at.filter(|id| known == 0 || *id != chain[known - 1]) {
        chain.push(id);
        at = forest.get(id).parent;
    }
    chain[known..].reverse();
    known
}

/// The depth of the innermost loop of `chain` that contains an operand.
pub(super) fn common_depth(
    f: &Function,
    facts: &LicmAnalyses,
    chain: &[LoopId],
    operand: Operand,
) -> u32 {
    let forest = &*facts.forest;
    let Some(home) = operand.as_value().and_then(|v| forest.loop_of(f.block_of(v))) else {
        return 0;
    };
    chain.partition_point(|&around| forest.encloses(around, home)) as u32
}

/// Adds to a set the numbers with these bits in this word.
pub(super) fn set_word(words: &mut Vec<u64>, at: usize, bits: u64) {
    if words.len() <= at {
        words.resize(at + 1, 0);
    }
    words[at] |= bits;
}

/// The greatest of a set of numbers that is less than `limit`, or 0.
pub(super) fn highest_below(words: &[u64], limit: u32) -> u32 {
    let (word, bit) = (limit as usize / 64, limit % 64);
    let masked = |i: usize, bits: u64| if i == word { bits & ((1 << bit) - 1) } else { bits };
    words
        .iter()
        .enumerate()
        .take(word + 1)
        .rev()
        .map(|(i, &bits)| (i, masked(i, bits)))
        .find_map(|(i, bits)| (bits != 0).then(|| i as u32 * 64 + 63 - bits.leading_zeros()))
        .unwrap_or(0)
}
