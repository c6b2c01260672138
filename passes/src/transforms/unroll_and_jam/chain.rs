//! Loops of which each is the only one in the one before, and the parts of their bodies.
//!
//! ```text
//! for i               the outer loop
//!     s = 0               before the inner one
//!     for k               the inner loop
//!         s += a[i, k]
//!     y[i] = s            after it
//! ```
//!
//! Each iteration of the outer loop goes through the three parts in this order, since the header of the
//! inner loop dominates the latch of the outer one, and the inner loop has one exit.

use regraft_ir::{Block, DominatorTree, Function, IrResult, Operand, Value};
use rustc_hash::FxHashSet;

use crate::analysis::traps::only_computes;
use crate::analysis::{LoopForest, LoopId};
use crate::transforms::util::loop_form::ensure_preheader;
use crate::transforms::util::loop_pair::{CountedLoop, is_pure};

/// The most instructions that move before the inner loop.
const MAX_MOVED: usize = 32;

/// Loops of which each is the only one in the one before, the outermost first; there are two at least.
pub(super) struct Chain {
    pub(super) loops: Vec<CountedLoop>,
}

/// A part of the body of a loop in a chain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Part {
    /// The number of loops of the chain around it.
    pub(super) depth: usize,
    /// True if it comes after the next loop of the chain.
    pub(super) is_after: bool,
}

impl Chain {
    /// The chain from a loop down to an innermost one that is `levels` further in.
    pub(super) fn of(
        f: &Function,
        forest: &LoopForest,
        tree: &DominatorTree,
        outer: LoopId,
        levels: usize,
    ) -> Option<Self> {
        let mut loops = vec![CountedLoop::with_any_latch(f, forest, outer)?];
        while let Some(&last) = loops.last() {
            let mut within = forest.children(last.id);
            let (next, others) = (within.next(), within.next());
            let Some(next) = next else { break };
            let next = CountedLoop::with_any_latch(f, forest, next)?;
            let fits = others.is_none()
                && loops.len() <= levels
                && tree.dominates(next.header, last.latch)
                && (!next.is_tested_first() || is_pure(f, next.header));
            if !fits {
                return None;
            }
            loops.push(next);
        }
        let fits = loops.len() == levels + 1 && loops.iter().all(|l| has_types(f, l));
        fits.then_some(Self { loops })
    }

    pub(super) fn outer(&self) -> &CountedLoop {
        &self.loops[0]
    }

    /// The part that a block of the outer loop is in.
    pub(super) fn part(&self, forest: &LoopForest, tree: &DominatorTree, block: Block) -> Part {
        let depth = self.loops.iter().take_while(|l| forest.contains(l.id, block)).count();
        let next = self.loops.get(depth);
        Part { depth, is_after: next.is_some_and(|next| tree.dominates(next.header, block)) }
    }

    /// Returns what comes after the inner loop and has to come before it, so that all that the next
    /// iteration needs before and in its inner loop is there by then. `None` if that is not possible.
    pub(super) fn early(
        &self,
        f: &Function,
        forest: &LoopForest,
        tree: &DominatorTree,
    ) -> Option<Vec<Value>> {
        let (outer, inner) = (self.outer(), &self.loops[1]);
        let params: Vec<Value> = f.params(outer.header).collect();
        let back: Vec<Operand> = f.edge_args(outer.back_edge(f)).collect();
        let mut late: FxHashSet<Value> = FxHashSet::default();
        let mut moved: FxHashSet<Value>;
        // A parameter is late if its next value is; that of others may be computed from it.
        loop {
            moved = FxHashSet::default();
            let before = late.len();
            for (&param, &arg) in params.iter().zip(&back) {
                let slice = Slice { f, forest, tree, outer: outer.id, inner, late: &late };
                match slice.of(arg) {
                    Some(slice) => moved.extend(slice),
                    None => drop(late.insert(param)),
                }
            }
            if late.len() == before {
                break;
            }
        }
        let exit = outer.exit(f);
        let passed =
            exit.position as usize + 1..exit.position as usize + 1 + f.edge_args(exit).len();
        let is_used_early = |param: &Value| {
            f.uses(*param).any(|at| {
                let home = f.block_of(at.user);
                let leaves = at.user == Value::terminator(exit.from)
                    && passed.contains(&(at.index as usize));
                let is_after =
                    tree.strictly_dominates(inner.header, home) && !forest.contains(inner.id, home);
                forest.contains(outer.id, home) && !leaves && !is_after
            })
        };
        if moved.len() > MAX_MOVED || late.iter().any(is_used_early) {
            return None;
        }
        let body = forest.blocks(outer.id).iter().flat_map(|&block| f.body(block));
        Some(body.filter(|v| moved.contains(v)).collect())
    }

    /// Gives each loop a preheader and a latch of its own, and moves these values before the inner loop.
    ///
    /// # Errors
    /// None if `f` is valid.
    pub(super) fn normalize(
        &self,
        f: &mut Function,
        forest: &LoopForest,
        early: &[Value],
    ) -> IrResult<()> {
        // First of all: the forest does not know blocks on the way back.
        for (nth, l) in self.loops.iter().enumerate() {
            let (preheader, _) = ensure_preheader(f, forest, l.id)?;
            let moved = if nth == 1 { early } else { &[] };
            for &v in moved {
                f.move_before(v, Value::terminator(preheader))?;
            }
        }
        for l in self.loops.iter().filter(|l| !l.has_own_latch(f)).collect::<Vec<_>>() {
            f.split_edge(l.back_edge(f))?;
        }
        Ok(())
    }
}

/// Returns whether what enters a loop and goes around is of the types of its parameters.
fn has_types(f: &Function, l: &CountedLoop) -> bool {
    f.in_edges(l.header).all(|edge| {
        let mut args = f.edge_args(edge).zip(f.params(l.header));
        args.all(|(arg, param)| f.operand_type(arg) == f.ty(param))
    })
}

/// What a value that the next iteration begins with is computed from.
struct Slice<'a> {
    f: &'a Function,
    forest: &'a LoopForest,
    tree: &'a DominatorTree,
    outer: LoopId,
    inner: &'a CountedLoop,
    /// Parameters of the outer loop that are not there before its inner one.
    late: &'a FxHashSet<Value>,
}

impl Slice<'_> {
    /// The instructions after the inner loop that it is computed by; `None` if they cannot come before.
    fn of(&self, operand: Operand) -> Option<Vec<Value>> {
        let Self { f, forest, tree, .. } = *self;
        let (mut found, mut pending) = (Vec::new(), vec![operand]);
        while let Some(operand) = pending.pop() {
            let Some(v) = operand.as_value() else { continue };
            let home = f.block_of(v);
            if self.late.contains(&v) || forest.contains(self.inner.id, home) {
                return None;
            }
            let is_after =
                forest.contains(self.outer, home) && tree.dominates(self.inner.header, home);
            if !is_after || found.contains(&v) {
                continue;
            }
            if f.is_param(v) || !only_computes(f, v) || found.len() == MAX_MOVED {
                return None;
            }
            found.push(v);
            pending.extend(f.operands(v));
        }
        Some(found)
    }
}
