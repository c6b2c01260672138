//! Liveness: the values that are still needed where a block begins and where it ends.
//!
//! ```text
//! ^1: br ^2(0)                          ^1: out %1
//! ^2(%2: i64):                          ^2: in %1; out %1, %2
//!   %3: bool = arith.lt %2, %1
//!   br %3, ^3, ^4
//! ^3:                                   ^3: in %1, %2; out %1
//!   %4: i64 = arith.add %2, 1
//!   br ^2(%4)
//! ^4: return %2                         ^4: in %2
//! ```
//!
//! A value is live at the beginning of a block that does not define it, if a way leads from there
//! to a use of it; at the end of a block, if it is live at the beginning of a successor. The
//! parameters of a block are defined by it, and what an edge passes is used at the end of the block
//! that it leaves: it is not live at the end because of that.
//!
//! # Method
//! In SSA form a value is live from its definition to its uses, and every way backward from a use
//! comes to the definition. So for one value after the other, and each use, blocks are walked
//! backward until the definition, or until where the value is known to be live (Boissinot,
//! Brandner, Darte, Dupont de Dinechin and Rastello, "Computing Liveness Sets for SSA-Form
//! Programs", 2011, section 4.2: path exploration by variable). As values come one after the other,
//! "known to be live" is a look at the last entry of a list.
//!
//! # Cost
//! O(uses + edges into the blocks where a value is live, for each value): linear in the size of the
//! result, which is what a program has of long-lived values. No fixpoint is iterated.

use std::fmt::Write as _;

use crate::{Block, ControlFlow, Function, Value};

/// The live values of the blocks that the entry reaches.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// By [`Block::index`], in the order in which values are defined in the layout.
    live_in: Vec<Vec<Value>>,
    live_out: Vec<Vec<Value>>,
    /// By [`Value::index`]: where a value stands in that order.
    place: Vec<u32>,
}

impl Liveness {
    /// Finds them. Linear in the size of the result.
    pub fn compute(f: &Function, cfg: &ControlFlow) -> Self {
        let n = f.block_capacity();
        let mut walk = Walk {
            f,
            cfg,
            live_in: vec![Vec::new(); n],
            live_out: vec![Vec::new(); n],
            pending: Vec::new(),
        };
        let mut place = vec![u32::MAX; f.value_capacity()];
        let mut count = 0;
        for block in f.blocks() {
            for v in f.params(block).chain(f.body(block)) {
                place[v.index()] = count;
                count += 1;
                if cfg.is_reachable(block) {
                    walk.value(v, block);
                }
            }
        }
        Self { live_in: walk.live_in, live_out: walk.live_out, place }
    }

    /// The values that are live where a block begins, its parameters left out, in layout order.
    pub fn live_in(&self, block: Block) -> &[Value] {
        self.live_in.get(block.index()).map_or(&[], Vec::as_slice)
    }

    /// The values that are live where a block ends, in layout order.
    pub fn live_out(&self, block: Block) -> &[Value] {
        self.live_out.get(block.index()).map_or(&[], Vec::as_slice)
    }

    /// Returns whether a value is live where a block begins. O(log values that are).
    pub fn is_live_in(&self, v: Value, block: Block) -> bool {
        self.find(self.live_in(block), v)
    }

    /// Returns whether a value is live where a block ends. O(log values that are).
    pub fn is_live_out(&self, v: Value, block: Block) -> bool {
        self.find(self.live_out(block), v)
    }

    fn find(&self, list: &[Value], v: Value) -> bool {
        let place = |v: Value| self.place.get(v.index());
        list.binary_search_by_key(&place(v), |&other| place(other)).is_ok()
    }

    /// The live values of each block, a line each.
    pub fn describe(&self, f: &Function) -> String {
        let mut out = String::new();
        for block in f.blocks() {
            let lists = [("in", self.live_in(block)), ("out", self.live_out(block))];
            let texts: Vec<String> = lists
                .into_iter()
                .filter(|(_, list)| !list.is_empty())
                .map(|(what, list)| {
                    let values: Vec<String> = list.iter().map(|&v| f.value_text(v)).collect();
                    format!("{what} {}", values.join(", "))
                })
                .collect();
            let text = if texts.is_empty() { "nothing".to_owned() } else { texts.join("; ") };
            let _ = writeln!(out, "{block}: {text}");
        }
        out
    }
}

struct Walk<'a> {
    f: &'a Function,
    cfg: &'a ControlFlow,
    live_in: Vec<Vec<Value>>,
    live_out: Vec<Vec<Value>>,
    pending: Vec<Block>,
}

impl Walk<'_> {
    /// Walks from the uses of a value to its definition.
    fn value(&mut self, v: Value, home: Block) {
        let f = self.f;
        for at in f.uses(v) {
            self.enter(v, home, f.block_of(at.user));
            while let Some(block) = self.pending.pop() {
                for edge in f.in_edges(block) {
                    // What is never reached keeps nothing alive.
                    if !self.cfg.is_reachable(edge.from) {
                        continue;
                    }
                    let list = &mut self.live_out[edge.from.index()];
                    if list.last() != Some(&v) {
                        list.push(v);
                    }
                    self.enter(v, home, edge.from);
                }
            }
        }
    }

    /// Notes that a value is needed in a block.
    fn enter(&mut self, v: Value, home: Block, block: Block) {
        let list = &mut self.live_in[block.index()];
        if block != home && self.cfg.is_reachable(block) && list.last() != Some(&v) {
            list.push(v);
            self.pending.push(block);
        }
    }
}
