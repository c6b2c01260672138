//! Structured control flow: the blocks of a function as sequences, loops and choices.
//!
//! ```text
//! ^1: br ^2                     Simple(^1, Loop(Simple(^2, Simple(^3)), Simple(^4)))
//! ^2: br %3, ^3, ^4             order ^1, ^2, ^3, ^4
//! ^3: br ^2                     forward ^1 -> ^2, ^2 -> ^3, ^2 -> ^4
//! ^4: return %4                 back ^3 -> ^2
//! ```
//!
//! The first line is made of the shapes of Relooper (Zakai, "Emscripten: An LLVM-to-JavaScript
//! Compiler", 2011, section 3.2), as IRTools' `reloop` gives them: `Simple` is a block and what
//! follows it, `Loop` what repeats and what follows when it is left, `Multiple` several parts of
//! which one is entered, or none, and what follows. A cycle with several ways in has no such form;
//! it is named `Irreducible`, a list of parts that lead to each other. The other lines are what
//! IRTools' `stackify` gives: an order in which each loop stands together, and between which blocks
//! a scope has to be open so that a jump can be made by leaving or repeating scopes.
//!
//! # Method
//! Relooper asks again and again what is reached from where, which is quadratic. The dominator tree
//! and the loop forest hold all the answers (compare Ramsey, "Beyond Relooper", 2022): what can only
//! be entered through a block is its subtree, so what follows a block are its children in the tree
//! that are in the same loop; what follows a loop are the children of its blocks that are not in
//! it. Of blocks that follow the same thing, those come first that none of the others leads to,
//! each with its subtree as one part of a `Multiple`, then those that only these lead to, and so
//! on. What is left when each is led to by another is entered in several places and is irreducible.
//!
//! # Cost
//! O(blocks + edges log edges), and O(depth) for each edge that leaves loops. Shapes are kept in one
//! list, so that nesting costs no recursion.

mod scopes;

use std::fmt::Write as _;

use regraft_ir::{Block, ControlFlow, DominatorTree, Function};

use super::block_list::list;
use super::{Analyses, Analysis, Facets, LoopForest, LoopId};
pub use scopes::Scopes;

/// The id of a shape in its [`Structure`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ShapeId(u32);

/// A part of the control flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A block, and what follows it.
    Simple {
        /// The block.
        block: Block,
        /// The shape that follows, unless the block ends the function or goes back.
        next: Option<ShapeId>,
    },
    /// The part that repeats, and the part that follows when it is left.
    Loop {
        /// The part that repeats. It begins with the header.
        inner: ShapeId,
        /// The part that follows, if the loop is ever left.
        next: Option<ShapeId>,
    },
    /// Parts of which at most one is entered, and what follows it or is entered instead.
    Multiple {
        /// The parts.
        parts: Vec<ShapeId>,
        /// The part that follows.
        next: Option<ShapeId>,
    },
    /// Parts that lead to each other, and can be entered in several places.
    Irreducible {
        /// The parts.
        parts: Vec<ShapeId>,
        /// The part that follows.
        next: Option<ShapeId>,
    },
}

/// The blocks that the entry reaches, as shapes and as scopes.
#[derive(Clone, Debug)]
pub struct Structure {
    shapes: Vec<Shape>,
    root: Option<ShapeId>,
    scopes: Scopes,
}

impl Structure {
    /// Finds it. O(blocks + edges log edges).
    pub fn compute(
        f: &Function,
        cfg: &ControlFlow,
        dom: &DominatorTree,
        forest: &LoopForest,
    ) -> Self {
        let (shapes, root) = Builder::new(f, cfg, dom, forest).build();
        Self { shapes, root, scopes: Scopes::compute(f, dom, forest) }
    }

    /// The shape of the whole function.
    pub fn root(&self) -> Option<ShapeId> {
        self.root
    }

    /// A shape.
    pub fn get(&self, id: ShapeId) -> &Shape {
        &self.shapes[id.0 as usize]
    }

    /// The same control flow as an order of blocks with scopes.
    pub fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// Returns whether all control flow is structured.
    pub fn is_reducible(&self) -> bool {
        self.scopes.irreducible().is_empty()
    }

    /// The shapes in one line, then the scopes.
    pub fn describe(&self, _: &Function) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out.push('\n');
        let edges = |edges: &[(Block, Block)]| {
            let texts: Vec<String> = edges.iter().map(|(a, b)| format!("{a} -> {b}")).collect();
            texts.join(", ")
        };
        let _ = writeln!(out, "order {}", list(self.scopes.order().iter().copied()));
        for (what, list) in [
            ("forward", self.scopes.forward()),
            ("back", self.scopes.back()),
            ("irreducible", self.scopes.irreducible()),
        ] {
            if !list.is_empty() {
                let _ = writeln!(out, "{what} {}", edges(list));
            }
        }
        out
    }

    fn write(&self, out: &mut String) {
        enum Item {
            Text(&'static str),
            Shape(ShapeId),
        }
        let mut stack: Vec<Item> = self.root.map(Item::Shape).into_iter().collect();
        while let Some(item) = stack.pop() {
            let id = match item {
                Item::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Item::Shape(id) => id,
            };
            stack.push(Item::Text(")"));
            let mut rest: Vec<Item> = Vec::new();
            let next = match self.get(id) {
                Shape::Simple { block, next } => {
                    let _ = write!(out, "Simple({block}");
                    next
                }
                Shape::Loop { inner, next } => {
                    out.push_str("Loop(");
                    rest.push(Item::Shape(*inner));
                    next
                }
                Shape::Multiple { parts, next } | Shape::Irreducible { parts, next } => {
                    out.push_str(match self.get(id) {
                        Shape::Multiple { .. } => "Multiple([",
                        _ => "Irreducible([",
                    });
                    for (i, &part) in parts.iter().enumerate() {
                        rest.extend((i > 0).then_some(Item::Text(", ")));
                        rest.push(Item::Shape(part));
                    }
                    rest.push(Item::Text("]"));
                    next
                }
            };
            if let &Some(next) = next {
                rest.extend([Item::Text(", "), Item::Shape(next)]);
            }
            stack.extend(rest.into_iter().rev());
        }
    }
}

impl Analysis for Structure {
    const NAME: &'static str = "structure";
    const FACETS: Facets = Facets::CFG;

    fn compute(f: &Function, analyses: &mut Analyses) -> Self {
        Self::compute(f, &analyses.get(f), &analyses.get(f), &analyses.get(f))
    }
}

/// Blocks that come next, after those before them.
struct Layer {
    members: Vec<usize>,
    /// True if they wait for each other in a circle.
    is_irreducible: bool,
}

struct Builder<'a> {
    f: &'a Function,
    cfg: &'a ControlFlow,
    dom: &'a DominatorTree,
    forest: &'a LoopForest,
    /// By [`Block::index`]: the place in the preorder of the dominator tree.
    pre: Vec<u32>,
    /// By [`Block::index`]: the blocks that follow a block, in that order.
    after_block: Vec<Vec<Block>>,
    /// By loop: the blocks that follow a loop.
    after_loop: Vec<Vec<Block>>,
    /// By [`Block::index`]: the shape that begins with the block.
    shape: Vec<Option<ShapeId>>,
    shapes: Vec<Shape>,
}

impl<'a> Builder<'a> {
    fn new(
        f: &'a Function,
        cfg: &'a ControlFlow,
        dom: &'a DominatorTree,
        forest: &'a LoopForest,
    ) -> Self {
        let n = f.block_capacity();
        let mut this = Self {
            f,
            cfg,
            dom,
            forest,
            pre: vec![0; n],
            after_block: vec![Vec::new(); n],
            after_loop: vec![Vec::new(); forest.len()],
            shape: vec![None; n],
            shapes: Vec::new(),
        };
        for (place, &block) in dom.order().iter().enumerate() {
            this.pre[block.index()] = place as u32;
            if let Some(above) = dom.idom(block) {
                match this.left_loop(above, block) {
                    Some(id) => this.after_loop[id.index()].push(block),
                    None => this.after_block[above.index()].push(block),
                }
            }
        }
        this
    }

    /// The outermost loop that `from` is in and `to` is not.
    fn left_loop(&self, from: Block, to: Block) -> Option<LoopId> {
        let mut left = None;
        let mut at = self.forest.loop_of(from);
        while let Some(id) = at.filter(|&id| !self.forest.contains(id, to)) {
            left = Some(id);
            at = self.forest.get(id).parent;
        }
        left
    }

    fn build(mut self) -> (Vec<Shape>, Option<ShapeId>) {
        let mut root = None;
        for &block in self.dom.order().iter().rev() {
            let after = std::mem::take(&mut self.after_block[block.index()]);
            let next = self.sequence(&after);
            let mut shape = self.add(Shape::Simple { block, next });
            if let Some(id) = self.forest.headed_by(block) {
                let after = std::mem::take(&mut self.after_loop[id.index()]);
                let next = self.sequence(&after);
                shape = self.add(Shape::Loop { inner: shape, next });
            }
            self.shape[block.index()] = Some(shape);
            root = Some(shape);
        }
        (self.shapes, root)
    }

    fn add(&mut self, shape: Shape) -> ShapeId {
        self.shapes.push(shape);
        ShapeId(self.shapes.len() as u32 - 1)
    }

    /// Returns what follows something, given the blocks that begin the parts of it.
    fn sequence(&mut self, blocks: &[Block]) -> Option<ShapeId> {
        let mut next = None;
        for layer in self.layers(blocks).into_iter().rev() {
            let parts: Vec<ShapeId> =
                layer.members.iter().filter_map(|&i| self.shape[blocks[i].index()]).collect();
            next = match &*parts {
                &[only] if next.is_none() && !layer.is_irreducible => Some(only),
                _ if layer.is_irreducible => Some(self.add(Shape::Irreducible { parts, next })),
                _ => Some(self.add(Shape::Multiple { parts, next })),
            };
        }
        next
    }

    /// Puts blocks that follow the same thing into layers: each after those that lead to it.
    fn layers(&self, blocks: &[Block]) -> Vec<Layer> {
        let mut leads_to: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
        let mut waits_for = vec![0usize; blocks.len()];
        for (i, &block) in blocks.iter().enumerate() {
            for edge in self.f.in_edges(block) {
                // Edges from elsewhere come from what all of this follows.
                if let Some(part) = self.part_of(blocks, edge.from).filter(|&part| part != i) {
                    leads_to[part].push(i);
                    waits_for[i] += 1;
                }
            }
        }
        let mut layers = Vec::new();
        let mut placed = vec![false; blocks.len()];
        let mut ready: Vec<usize> = (0..blocks.len()).filter(|&i| waits_for[i] == 0).collect();
        let mut left = blocks.len();
        // The parts in reverse postorder, for where all wait for each other.
        let mut order: Vec<usize> = Vec::new();
        let mut first = 0;
        while left > 0 {
            let is_irreducible = ready.is_empty();
            if is_irreducible {
                if order.is_empty() {
                    order = (0..blocks.len()).collect();
                    order.sort_by_key(|&i| self.cfg.rpo_index(blocks[i]));
                }
                while placed[order[first]] {
                    first += 1;
                }
                ready = circle(order[first], &leads_to, &placed);
            }
            ready.sort_unstable();
            left -= ready.len();
            for &i in &ready {
                placed[i] = true;
            }
            let mut then = Vec::new();
            for &i in &ready {
                for &other in &leads_to[i] {
                    waits_for[other] -= 1;
                    if waits_for[other] == 0 && !placed[other] {
                        then.push(other);
                    }
                }
            }
            layers.push(Layer { members: std::mem::replace(&mut ready, then), is_irreducible });
        }
        layers
    }

    /// The one of `blocks`, which stand in the order of the dominator tree, that dominates a block.
    fn part_of(&self, blocks: &[Block], block: Block) -> Option<usize> {
        if !self.dom.is_reachable(block) {
            return None;
        }
        let place = self.pre[block.index()];
        let after = blocks.partition_point(|&b| self.pre[b.index()] <= place);
        let part = after.checked_sub(1)?;
        self.dom.dominates(blocks[part], block).then_some(part)
    }
}

/// The parts that `first` leads to and that lead to it, those left out that are placed already.
/// `first` is the first in reverse postorder of what is left, so that all that leads to it is in
/// the circle.
fn circle(first: usize, leads_to: &[Vec<usize>], placed: &[bool]) -> Vec<usize> {
    let mut led_from: Vec<Vec<usize>> = vec![Vec::new(); leads_to.len()];
    for (i, targets) in leads_to.iter().enumerate().filter(|&(i, _)| !placed[i]) {
        for &target in targets {
            led_from[target].push(i);
        }
    }
    let mut found = vec![first];
    let mut seen = vec![false; leads_to.len()];
    seen[first] = true;
    let mut next = 0;
    while next < found.len() {
        for &i in &led_from[found[next]] {
            if !std::mem::replace(&mut seen[i], true) {
                found.push(i);
            }
        }
        next += 1;
    }
    found
}
