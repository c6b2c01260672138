//! Finds the loops: headers and bodies from back edges, then ids and places in the order of blocks.

use regraft_ir::{Block, ControlFlow, DominatorTree, Function};

use super::{Loop, LoopExit, LoopForest, LoopId, NONE};
use crate::analysis::{Analyses, Analysis, Facets};

/// Finds natural loops, in the order in which their headers are found; they are numbered after.
pub(super) struct Finder<'a> {
    f: &'a Function,
    cfg: &'a ControlFlow,
    dom: &'a DominatorTree,
    headers: Vec<Block>,
    latches: Vec<Vec<Block>>,
    parents: Vec<u32>,
    /// The innermost loop by [`Block::index`].
    innermost: Vec<u32>,
    /// By loop: a loop around it, as far as it is known; paths are halved.
    outermost: Vec<u32>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(f: &'a Function, cfg: &'a ControlFlow, dom: &'a DominatorTree) -> Self {
        Self {
            f,
            cfg,
            dom,
            headers: Vec::new(),
            latches: Vec::new(),
            parents: Vec::new(),
            innermost: vec![NONE; f.block_capacity()],
            outermost: Vec::new(),
        }
    }

    /// The outermost loop that is known so far around a loop.
    fn outermost(&mut self, mut at: u32) -> u32 {
        while self.outermost[at as usize] != at {
            let up = self.outermost[at as usize];
            self.outermost[at as usize] = self.outermost[up as usize];
            at = up;
        }
        at
    }

    pub(super) fn find_loops(&mut self) {
        // Headers of inner loops are dominated by those of outer ones, so that they come later
        // in preorder of the dominator tree.
        let mut stack: Vec<Block> = Vec::new();
        for &header in self.dom.order().iter().rev() {
            let mut latches: Vec<Block> = self
                .f
                .predecessors(header)
                .into_iter()
                .filter(|&p| self.dom.is_reachable(p) && self.dom.dominates(header, p))
                .collect();
            if latches.is_empty() {
                continue;
            }
            latches.sort_unstable_by_key(|&b| self.cfg.rpo_index(b));
            latches.dedup();
            let id = self.headers.len() as u32;
            self.headers.push(header);
            self.parents.push(NONE);
            self.outermost.push(id);
            stack.extend(&latches);
            self.latches.push(latches);
            while let Some(block) = stack.pop() {
                let entry = match self.innermost[block.index()] {
                    NONE => {
                        self.innermost[block.index()] = id;
                        block
                    }
                    inner => {
                        let inner = self.outermost(inner);
                        if inner == id {
                            continue;
                        }
                        self.parents[inner as usize] = id;
                        self.outermost[inner as usize] = id;
                        self.headers[inner as usize]
                    }
                };
                if entry != header {
                    let f = self.f;
                    stack.extend(
                        f.in_edges(entry).map(|e| e.from).filter(|&p| self.dom.is_reachable(p)),
                    );
                }
            }
            // A header with a latch of its own is found above; the loop of a header is its own.
            self.innermost[header.index()] = id;
        }
    }

    /// Numbers the loops outer first and in reverse postorder, and puts the blocks of each
    /// together.
    pub(super) fn number(self) -> LoopForest {
        let (f, n) = (self.f, self.headers.len());
        let mut number = vec![NONE; n];
        let mut loops: Vec<Loop> = Vec::with_capacity(n);
        // The header of a loop comes before its blocks in reverse postorder, and headers of outer
        // loops before those of inner ones; but a loop beside it may stand in between. So the
        // blocks of each loop (or of none) are listed first, with inner loops in their places.
        let mut items: Vec<Vec<Item>> = vec![Vec::new(); n + 1];
        for block in self.cfg.reverse_postorder() {
            let at = self.innermost[block.index()];
            if at != NONE && self.headers[at as usize] == block {
                items[slot(self.parents[at as usize], n)].push(Item::Loop(at));
            }
            items[slot(at, n)].push(Item::Block(block));
        }
        let mut order = Vec::with_capacity(self.cfg.reachable_count());
        let mut stack: Vec<(u32, usize)> = vec![(NONE, 0)];
        while let Some((at, next)) = stack.pop() {
            match items[slot(at, n)].get(next) {
                None if at == NONE => {}
                None => {
                    let end = loops.len() as u32;
                    let id = number[at as usize] as usize;
                    loops[id].subtree_end = end;
                    loops[id].range.1 = order.len() as u32;
                }
                Some(&Item::Block(block)) => {
                    order.push(block);
                    stack.push((at, next + 1));
                }
                Some(&Item::Loop(inner)) => {
                    stack.push((at, next + 1));
                    number[inner as usize] = loops.len() as u32;
                    let parent = (at != NONE).then(|| LoopId(number[at as usize]));
                    loops.push(Loop {
                        header: self.headers[inner as usize],
                        parent,
                        depth: parent.map_or(1, |p| loops[p.index()].depth + 1),
                        latches: self.latches[inner as usize].clone(),
                        exits: Vec::new(),
                        preheader: None,
                        has_irreducible: false,
                        range: (order.len() as u32, 0),
                        own: (0, 0),
                        subtree_end: 0,
                    });
                    stack.push((inner, 0));
                }
            }
        }
        let mut innermost = self.innermost;
        for id in innermost.iter_mut().filter(|id| **id != NONE) {
            *id = number[*id as usize];
        }
        let (own, irreducible) = (Vec::new(), Vec::new());
        let mut forest = LoopForest { loops, order, own, innermost, irreducible };
        forest.find_own();
        forest.find_edges(f, self.cfg);
        forest
    }
}

#[derive(Clone, Copy)]
enum Item {
    Block(Block),
    Loop(u32),
}

fn slot(id: u32, outside: usize) -> usize {
    if id == NONE { outside } else { id as usize }
}

impl LoopForest {
    /// Finds the loops. Near linear; O(depth) times that for what irreducible regions need.
    pub fn compute(f: &Function, cfg: &ControlFlow, dom: &DominatorTree) -> Self {
        let mut finder = Finder::new(f, cfg, dom);
        finder.find_loops();
        let mut forest = finder.number();
        forest.find_irreducible(f, cfg, dom);
        forest
    }

    /// Exits and preheaders. O(edges + depth of each edge that leaves loops).
    fn find_edges(&mut self, f: &Function, cfg: &ControlFlow) {
        for source in cfg.reverse_postorder() {
            for (nth, target) in f.successors(source).enumerate() {
                let exit = LoopExit { from: source, nth: nth as u32 };
                let mut at = self.loop_of(source);
                while let Some(id) = at.filter(|&id| !self.contains(id, target)) {
                    self.loops[id.index()].exits.push(exit);
                    at = self.get(id).parent;
                }
            }
        }
        for id in self.loops() {
            let header = self.get(id).header;
            let mut outside = f
                .in_edges(header)
                .map(|edge| edge.from)
                .filter(|&from| cfg.is_reachable(from) && !self.contains(id, from));
            let preheader = match (outside.next(), outside.next()) {
                (Some(from), None) if f.out_edges(from).count() == 1 => Some(from),
                _ => None,
            };
            self.loops[id.index()].preheader = preheader;
        }
    }
}

impl Analysis for LoopForest {
    const NAME: &'static str = "loop forest";
    const FACETS: Facets = Facets::CFG;

    fn compute(f: &Function, analyses: &mut Analyses) -> Self {
        Self::compute(f, &analyses.get(f), &analyses.get(f))
    }
}
