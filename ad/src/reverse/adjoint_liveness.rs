//! The places where the cotangent of a value may be something other than zero.
//!
//! The reverse sweep goes from uses of a value, which add to its cotangent, to its definition, which
//! takes it. So at the end of a block the cotangents of those values may be there that an active use
//! follows: it is liveness, in which only uses count that a cotangent comes back from. What is not
//! live has the cotangent zero, known without looking.
//!
//! # Method
//! As for liveness of values: path exploration by variable (Boissinot et al., "Computing Liveness
//! Sets for SSA-Form Programs", 2011, section 4.2).
//!
//! # Cost
//! Linear in the size of the result.

use regraft_ir::{Block, Function, Value};
use rustc_hash::FxHashMap;

use crate::activity::Activity;

/// For each block, by [`Block::index`], the values whose cotangents come in where it is reversed: those
/// that something after it added to, in layout order.
#[derive(Debug)]
pub(super) struct AdjointLiveness {
    out: Vec<Vec<Value>>,
}

impl AdjointLiveness {
    /// `reversed` says which blocks are reversed, `given` the values that actions give cotangents to,
    /// with the blocks of these actions.
    pub(super) fn compute(
        f: &Function,
        activity: &Activity,
        blocks: &[Block],
        reversed: &[bool],
        given: &[(Value, Block)],
    ) -> Self {
        let n = f.block_capacity();
        let mut walk = Walk {
            f,
            reversed,
            live_in: vec![None; n],
            out: vec![Vec::new(); n],
            pending: Vec::new(),
        };
        let mut uses: FxHashMap<Value, Vec<Block>> = FxHashMap::default();
        for &(v, block) in given {
            uses.entry(v).or_default().push(block);
        }
        for &block in blocks {
            for v in f.params(block).chain(f.body(block)) {
                if activity.is_varied(v) {
                    let uses = uses.get(&v).map_or(&[] as &[Block], Vec::as_slice);
                    walk.value(activity, v, block, uses);
                }
            }
        }
        Self { out: walk.out }
    }

    /// The values whose cotangents come in where `block` is reversed.
    pub(super) fn at_end(&self, block: Block) -> &[Value] {
        &self.out[block.index()]
    }
}

struct Walk<'a> {
    f: &'a Function,
    reversed: &'a [bool],
    /// The last value that was found to be live where a block begins.
    live_in: Vec<Option<Value>>,
    out: Vec<Vec<Value>>,
    pending: Vec<Block>,
}

impl Walk<'_> {
    fn value(&mut self, activity: &Activity, v: Value, home: Block, uses: &[Block]) {
        let f = self.f;
        for &block in uses {
            if self.is_reversed(block) {
                self.enter(v, home, block);
                self.walk(v, home);
            }
        }
        for at in f.uses(v).filter(|at| at.user.is_terminator()) {
            let block = f.block_of(at.user);
            if !self.is_reversed(block) {
                continue;
            }
            if passes_to_varied(f, activity, at.user, at.index as usize) {
                self.leave(v, home, block);
            } else if f.out_edges(block).next().is_none() {
                // It is returned.
                self.enter(v, home, block);
            }
            self.walk(v, home);
        }
    }

    fn walk(&mut self, v: Value, home: Block) {
        let f = self.f;
        while let Some(block) = self.pending.pop() {
            for edge in f.in_edges(block) {
                self.leave(v, home, edge.from);
            }
        }
    }

    fn is_reversed(&self, block: Block) -> bool {
        self.reversed.get(block.index()).copied().unwrap_or(false)
    }

    /// Notes that the cotangent comes in at the end of a block.
    fn leave(&mut self, v: Value, home: Block, block: Block) {
        if !self.is_reversed(block) {
            return;
        }
        let list = &mut self.out[block.index()];
        if list.last() != Some(&v) {
            list.push(v);
        }
        self.enter(v, home, block);
    }

    fn enter(&mut self, v: Value, home: Block, block: Block) {
        if block != home && self.live_in[block.index()] != Some(v) {
            self.live_in[block.index()] = Some(v);
            self.pending.push(block);
        }
    }
}

/// Returns whether an operand of a terminator is passed to a parameter that has a cotangent.
fn passes_to_varied(f: &Function, activity: &Activity, term: Value, index: usize) -> bool {
    let operand = |i: usize| f.operand(term, i);
    let target = (0..index).rev().find_map(|i| Some((i, operand(i)?.as_block()?)));
    target.is_some_and(|(i, target)| {
        f.param(target, index - i - 1).is_some_and(|param| activity.is_varied(param))
    })
}
