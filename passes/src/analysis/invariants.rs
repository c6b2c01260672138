//! Loop invariants: in which loops a value changes.
//!
//! ```text
//! ^2(%3: i64):                        %3 varies in loop ^2
//!   %4: i64 = arith.mul %1, 8         %4 varies nowhere
//!   %5: i64 = arith.add %3, %4        %5 varies in loop ^2
//! ```
//!
//! # Method
//! In one walk in reverse postorder, each value gets the innermost loop in which it **varies**. A
//! parameter, and what is not pure, varies in the innermost loop around it; so does what no
//! operand decides. A pure value varies where the innermost of its operands does. A loop that
//! ended before the value's block counts as the innermost loop around both.
//!
//! # Why it is right
//! The loops around a block are a chain, so that one loop says it all: a value is invariant in
//! every loop within that one. What is computed by pure ops from operands that are the same is
//! the same; an op that traps gives no value at all.
//!
//! # Cost
//! O(instructions + operands), and the depth of loops for operands that come out of loops.

use std::fmt::Write as _;
use std::sync::Arc;

use regraft_ir::{Block, ControlFlow, Function, Operand, OperandKind, Traits, Value};

use super::block_list::text_or;
use super::{Analyses, Analysis, Facets, LoopForest, LoopId};

/// In which loops values vary.
#[derive(Clone, Debug)]
pub struct Invariants {
    forest: Arc<LoopForest>,
    /// By [`Value::index`]: 0 for what varies nowhere, else 1 + the index in `loops`.
    varies: Vec<u32>,
    loops: Vec<LoopId>,
    /// By [`Value::index`]: the block of the value.
    blocks: Vec<Option<Block>>,
    /// By [`Block::index`].
    reachable: Vec<bool>,
}

impl Invariants {
    /// Finds them. Near linear.
    pub(crate) fn compute(f: &Function, cfg: &ControlFlow, forest: Arc<LoopForest>) -> Self {
        let loops: Vec<LoopId> = forest.loops().collect();
        let mut this = Self {
            forest,
            varies: vec![0; f.value_capacity()],
            loops,
            blocks: vec![None; f.value_capacity()],
            reachable: vec![false; f.block_capacity()],
        };
        for block in cfg.reverse_postorder() {
            this.reachable[block.index()] = true;
            let around = this.forest.loop_of(block);
            for param in f.params(block) {
                this.blocks[param.index()] = Some(block);
                this.varies[param.index()] = slot(around);
            }
            for v in f.body(block) {
                this.blocks[v.index()] = Some(block);
                let pure = f.op_def(v).is_some_and(|def| def.traits.contains(Traits::PURE));
                let varies = if pure { this.of_operands(f, v, block) } else { around };
                this.varies[v.index()] = slot(varies);
            }
        }
        this
    }

    /// The innermost loop around `block` in which an operand of `v` varies.
    fn of_operands(&self, f: &Function, v: Value, block: Block) -> Option<LoopId> {
        let values = f.operands(v).filter_map(Operand::as_value);
        values.filter_map(|u| self.varies_at(u, block)).max_by_key(|&l| self.forest.get(l).depth)
    }

    /// The innermost loop in which a value varies, where it stands.
    pub fn varies_in(&self, v: Value) -> Option<LoopId> {
        match *self.varies.get(v.index())? {
            0 => None,
            id => Some(self.loops[id as usize - 1]),
        }
    }

    /// The innermost loop around `block` in which a value varies that is used there. O(1), but
    /// for values that come out of loops.
    pub(crate) fn varies_at(&self, v: Value, block: Block) -> Option<LoopId> {
        let mut at = self.varies_in(v);
        while let Some(l) = at.filter(|&l| !self.forest.contains(l, block)) {
            at = self.forest.get(l).parent;
        }
        at
    }

    /// Returns whether an operand is the same in all iterations of one execution of a loop,
    /// wherever in the loop it is used: because it is defined outside, or computed by pure ops from
    /// what is. Whether it can be computed before the loop (a division may trap) is another
    /// question. O(1).
    pub fn is_invariant(&self, l: LoopId, operand: impl Into<Operand>) -> bool {
        match operand.into().kind() {
            OperandKind::Value(v) => {
                self.is_outside(l, v)
                    || !self.varies_in(v).is_some_and(|varies| self.forest.encloses(l, varies))
            }
            OperandKind::Const(_) => true,
            OperandKind::Block(_) => false,
        }
    }

    /// Returns whether a value is defined outside a loop. O(1).
    pub fn is_outside(&self, l: LoopId, v: Value) -> bool {
        let block = self.blocks.get(v.index()).copied().flatten();
        block.is_none_or(|block| !self.forest.contains(l, block))
    }

    /// Returns whether the entry reached a block when this was computed.
    pub(super) fn is_reachable(&self, block: Block) -> bool {
        self.reachable.get(block.index()).is_some_and(|&reachable| reachable)
    }

    /// The loops that this is about.
    pub(crate) fn forest(&self) -> &Arc<LoopForest> {
        &self.forest
    }

    /// For each loop, the values computed in it that are invariant in it, in layout order.
    pub fn describe(&self, f: &Function) -> String {
        let mut found: Vec<Vec<Value>> = vec![Vec::new(); self.forest.len()];
        for v in f.all_insts().filter(|v| !v.is_terminator()) {
            let mut at = self.forest.loop_of(f.block_of(v));
            while let Some(l) = at.filter(|&l| self.is_invariant(l, v)) {
                found[l.index()].push(v);
                at = self.forest.get(l).parent;
            }
        }
        let mut out = String::new();
        for l in self.forest.loops() {
            let at = self.forest.get(l);
            let indent = 2 * (at.depth as usize - 1);
            let _ = write!(out, "{:indent$}loop {}:", "", at.header);
            for (i, &v) in found[l.index()].iter().enumerate() {
                let _ = write!(out, "{}{}", if i > 0 { ", " } else { " " }, f.value_text(v));
            }
            out.push_str(if found[l.index()].is_empty() { " none\n" } else { "\n" });
        }
        text_or(out, "no loops\n")
    }
}

fn slot(l: Option<LoopId>) -> u32 {
    l.map_or(0, |l| l.index() as u32 + 1)
}

impl Analysis for Invariants {
    const NAME: &'static str = "invariants";
    const FACETS: Facets = Facets::CFG.union(Facets::INSTS);

    fn compute(f: &Function, analyses: &mut Analyses) -> Self {
        Self::compute(f, &analyses.get(f), analyses.get(f))
    }
}
