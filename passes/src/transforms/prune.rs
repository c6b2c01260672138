//! Drops block parameters that are not needed: unused ones, and those that always stand for the
//! same value. The opposite of [`expand`](super::expand).
//!
//! ```text
//! ^1(%1: i64):                                ^1(%1: i64):
//!   br ^2(%1, 0)                                br ^2(0)
//! ^2(%2: i64, %3: i64):                 =>    ^2(%3: i64):
//!   %4: i64 = arith.add %3, %2                  %4: i64 = arith.add %3, %1
//!   %5: bool = arith.lt %4, 100                 %5: bool = arith.lt %4, 100
//!   br %5, ^2(%2, %4), ^3                       br %5, ^2(%4), ^3
//! ```
//!
//! # Method
//! Consider the graph whose nodes are the parameters and whatever edges pass that is no
//! parameter, with an arc from each argument to the parameter that it is for, and a root with
//! arcs to all that is no parameter. If a node `d` (not the root) dominates the parameter `p` in
//! it, then `p` is always `d`; the topmost such `d` takes the place of `p`. This finds groups of
//! parameters that pass one value in circles, swapped or not, which looking at one parameter at
//! a time cannot. Dominators are found by the iteration of Cooper, Harvey and Kennedy, "A Simple,
//! Fast Dominance Algorithm" (2001).
//!
//! # Why it is right
//! All that reaches `p` comes from `d`, and all that lies between are parameters that `d`
//! dominates too. The block of each of them is dominated by that of `d`, because what edges pass
//! is available where they leave; so `d` may be used wherever `p` may. The value is not one that
//! `d` had earlier, before a loop went around: a path from `d` to a use of `p` that did not pass
//! the block of one of the parameters between would show that its block does not dominate the
//! edge that passes it. Only a node of the type of `p` takes its place. Edges of unreachable
//! blocks are never taken and do not count.
//!
//! # Cost
//! O(edge arguments) for each round of the iteration, and there are two rounds or three unless
//! control flow is irreducible.

use regraft_ir::{Block, ControlFlow, Function, IrResult, Operand, Value};

use super::dce::{self, Roots};
use crate::{FunctionPass, PassContext, PassResult};

crate::pass! {
    /// Drops block parameters that are unused or always stand for the same value.
    ///
    /// ```text
    /// ^1(%1: i64):                                ^1(%1: i64):
    ///   br ^2(%1, 0)                                br ^2(0)
    /// ^2(%2: i64, %3: i64):                 =>    ^2(%3: i64):
    ///   %4: i64 = arith.add %3, %2                  %4: i64 = arith.add %3, %1
    ///   %5: bool = arith.lt %4, 100                 %5: bool = arith.lt %4, 100
    ///   br %5, ^2(%2, %4), ^3                       br %5, ^2(%4), ^3
    /// ```
    ///
    /// Groups of parameters that pass each other the same value around loops are found as well.
    /// It undoes `expand`.
    #[derive(Debug, Default)]
    pub struct Prune;
}

impl FunctionPass for Prune {
    const NAME: &'static str = "prune";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let redundant = replace_redundant(f, &cx.analysis(f))?;
        f.delete_all(&redundant)?;
        let unused = dce::unused(f, Roots::Instructions);
        f.delete_all(&unused)?;
        cx.add("redundant parameters dropped", redundant.len() as u64);
        cx.add("unused parameters dropped", unused.len() as u64);
        Ok(())
    }
}

/// Lets what always stands behind a parameter take its place at all uses. Returns the parameters
/// that are unused now, in reverse postorder of their blocks.
pub(super) fn replace_redundant(f: &mut Function, cfg: &ControlFlow) -> IrResult<Vec<Value>> {
    let flow = Flow::new(f, cfg);
    let sources = flow.sources();
    let mut redundant = Vec::new();
    for (&param, source) in flow.params.iter().zip(sources) {
        if source != Operand::from(param) {
            f.replace_named(param, source)?;
            redundant.push(param);
        }
    }
    Ok(redundant)
}

/// A node of the graph of what flows into parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Node {
    /// Nothing is known yet.
    Unseen,
    /// The common start of everything.
    Root,
    /// Not a parameter, or one of the entry.
    Source(Operand),
    /// The parameter at this position of [`Flow::params`].
    Param(u32),
}

struct Flow<'a> {
    f: &'a Function,
    cfg: &'a ControlFlow,
    /// The reachable blocks that have parameters, the entry left out, in reverse postorder.
    blocks: Vec<Block>,
    /// Their parameters: a parameter stands behind everything that dominates it.
    params: Vec<Value>,
    /// For each value, its position in `params`; for others `u32::MAX`.
    position: Vec<u32>,
    /// The immediate dominators of `params`.
    idom: Vec<Node>,
}

impl<'a> Flow<'a> {
    fn new(f: &'a Function, cfg: &'a ControlFlow) -> Self {
        let order = cfg.reverse_postorder().skip(1);
        let blocks: Vec<Block> = order.filter(|&block| f.param_count(block) > 0).collect();
        let params: Vec<Value> = blocks.iter().flat_map(|&block| f.params(block)).collect();
        let mut position = vec![u32::MAX; if params.is_empty() { 0 } else { f.value_capacity() }];
        for (i, param) in params.iter().enumerate() {
            position[param.index()] = i as u32;
        }
        let idom = vec![Node::Unseen; params.len()];
        let mut flow = Self { f, cfg, blocks, params, position, idom };
        flow.find_dominators();
        flow
    }

    fn find_dominators(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            let mut first = 0;
            for i in 0..self.blocks.len() {
                let block = self.blocks[i];
                let count = self.f.param_count(block);
                changed |= self.visit(block, first, count);
                first += count;
            }
        }
    }

    /// Brings the parameters of a block up to date with the arguments that they get; says
    /// whether one changed.
    fn visit(&mut self, block: Block, first: usize, count: usize) -> bool {
        let mut changed = false;
        for i in 0..count {
            let param = first + i;
            if self.idom[param] == Node::Root {
                continue;
            }
            let mut meet = Node::Unseen;
            for edge in self.f.in_edges(block) {
                if !self.cfg.is_reachable(edge.from) {
                    continue;
                }
                let Some(arg) = self.f.edge_arg(edge, i) else { continue };
                let node = self.node(arg);
                if node != Node::Param(param as u32) {
                    meet = self.meet(meet, node);
                }
                if meet == Node::Root {
                    break;
                }
            }
            if self.idom[param] != meet {
                self.idom[param] = meet;
                changed = true;
            }
        }
        changed
    }

    fn node(&self, arg: Operand) -> Node {
        match arg.as_value().map(|v| self.position[v.index()]) {
            None | Some(u32::MAX) => Node::Source(arg),
            Some(i) if self.idom[i as usize] == Node::Unseen => Node::Unseen,
            Some(i) => Node::Param(i),
        }
    }

    /// The nearest common dominator. A dominator always stands before what it dominates.
    fn meet(&self, mut a: Node, mut b: Node) -> Node {
        loop {
            match (a, b) {
                _ if a == b => return a,
                (Node::Unseen, known) | (known, Node::Unseen) => return known,
                (Node::Root, _) | (_, Node::Root) => return Node::Root,
                (Node::Param(i), Node::Param(j)) if i > j => a = self.idom[i as usize],
                (_, Node::Param(j)) => b = self.idom[j as usize],
                (Node::Param(i), _) => a = self.idom[i as usize],
                (Node::Source(_), Node::Source(_)) => return Node::Root,
            }
        }
    }

    /// For each parameter what takes its place, which is itself if nothing does.
    fn sources(&self) -> Vec<Operand> {
        let mut sources: Vec<Operand> = Vec::with_capacity(self.params.len());
        for (&param, &idom) in self.params.iter().zip(&self.idom) {
            let above = match idom {
                Node::Unseen | Node::Root => param.into(),
                Node::Source(source) => source,
                Node::Param(i) => sources[i as usize],
            };
            let fits = self.f.operand_type(above) == self.f.ty(param);
            sources.push(if fits { above } else { param.into() });
        }
        sources
    }
}
