//! A second definition of a value: parameters where the two meet.
//!
//! ```text
//! ^2(%2: i64):                         ^2(%2: i64):
//!   br %1, ^3, ^4                        br %1, ^3(%2), ^4
//! ^5:                                  ^5:
//!   br ^3                        =>      br ^3(%9)
//! ^3:                                  ^3(%10: i64):
//!   return %2                            return %10
//! ```
//!
//! Here `%9` stands for `%2` behind the new edge from `^5`.
//!
//! # Method
//! The blocks at whose start the value is live are found backwards from its uses. What stands for
//! it at their starts is what stands for it at the ends of their predecessors if these agree, else
//! a new parameter; a fixpoint of that (the meet of Wegman and Zadeck, 1991, over values instead
//! of constants) makes as few parameters as there can be without dead ones.
//!
//! # Cost
//! Bounded: a value with too many uses, or one that is live in too many blocks, is refused.

use regraft_ir::{Block, Edge, Function, IrResult, Operand, Use, Value};
use smallvec::SmallVec;

/// How many uses and edges are looked at to find out whether a repair is cheap.
const LIMIT: usize = 64;

/// A value that has a second definition.
pub(super) struct Repair {
    /// The value.
    pub(super) old: Value,
    /// What stands for it on the new path.
    pub(super) new: Operand,
    /// The block on the new path; it jumps to where the value may be live.
    pub(super) from: Block,
}

/// What stands for the value at the start of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    Unknown,
    For(Operand),
    /// A parameter, to be made, of the block at this position.
    Param(usize),
}

impl Repair {
    /// Whether a value is live at the start of `target`, and so would need a repair if an edge
    /// went there that its block does not lead to. `None` if it is not found out, or if `from`,
    /// where the edge leaves, is among the blocks that the value is live in.
    pub(super) fn is_needed(f: &Function, v: Value, from: Block, target: Block) -> Option<bool> {
        let live = live_blocks(f, v, LIMIT)?;
        if live.contains(&from) {
            return None;
        }
        Some(live.contains(&target))
    }

    /// Makes the parameters that are needed, and lets all uses be of what stands for the value.
    pub(super) fn run(&self, f: &mut Function) -> IrResult<()> {
        let live = live_blocks(f, self.old, usize::MAX).unwrap_or_default();
        let mut stands = self.meet(f, &live);
        for (i, &block) in live.iter().enumerate() {
            if stands[i] == Stands::Param(i) {
                // What the edges pass is put right below, as all other uses.
                let param = f.add_param(block, f.ty(self.old), |_| Some(self.old))?;
                if let Some(name) = f.value_symbol(self.old) {
                    f.name_after(param, name)?;
                }
                for known in &mut stands {
                    if *known == Stands::Param(i) {
                        *known = Stands::For(param.into());
                    }
                }
            }
        }
        let uses: Vec<Use> = f.uses(self.old).collect();
        for at in uses {
            let block = f.block_of(at.user);
            let stands = match live.iter().position(|&b| b == block) {
                _ if block == self.from => Stands::For(self.new),
                Some(i) => stands[i],
                None => continue,
            };
            if let Stands::For(value) = stands {
                f.set_operand(at.user, at.index as usize, value)?;
            }
        }
        Ok(())
    }

    fn meet(&self, f: &Function, live: &[Block]) -> Vec<Stands> {
        let home = f.block_of(self.old);
        // A user that accepts the value need not accept one of a more special type; a parameter
        // that is passed it does.
        let fits = f.operand_type(self.new) == f.ty(self.old);
        let mut stands = vec![Stands::Unknown; live.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (i, &block) in live.iter().enumerate() {
                if stands[i] == Stands::Param(i) {
                    continue;
                }
                let at_end = |edge: Edge| match live.iter().position(|&b| b == edge.from) {
                    _ if edge.from == self.from && fits => Stands::For(self.new),
                    _ if edge.from == self.from => Stands::Param(i),
                    _ if edge.from == home => Stands::For(self.old.into()),
                    Some(before) => stands[before],
                    None => Stands::Unknown,
                };
                let mut met = Stands::Unknown;
                for edge in f.in_edges(block) {
                    match (met, at_end(edge)) {
                        (_, Stands::Unknown) => {}
                        (Stands::Unknown, other) => met = other,
                        (one, other) if one == other => {}
                        _ => met = Stands::Param(i),
                    }
                    if met == Stands::Param(i) {
                        break;
                    }
                }
                changed |= met != stands[i];
                stands[i] = met;
            }
        }
        stands
    }
}

/// The blocks at whose start a value is live, but for its own; `None` if that takes looking at more
/// than `limit` uses and edges.
fn live_blocks(f: &Function, v: Value, limit: usize) -> Option<SmallVec<[Block; 8]>> {
    let home = f.block_of(v);
    let mut live: SmallVec<[Block; 8]> = SmallVec::new();
    let mut seen = 0;
    let mut reach = |block: Block, live: &mut SmallVec<[Block; 8]>| {
        seen += 1;
        if block != home && !live.contains(&block) {
            live.push(block);
        }
        seen <= limit
    };
    for at in f.uses(v) {
        if !reach(f.block_of(at.user), &mut live) {
            return None;
        }
    }
    let mut next = 0;
    while let Some(&block) = live.get(next) {
        next += 1;
        for edge in f.in_edges(block) {
            if !reach(edge.from, &mut live) {
                return None;
            }
        }
    }
    Some(live)
}
