//! The form of a loop that loop passes work on, and how it is brought about.
//!
//! ```text
//! ^1: br %1, ^2(0), ^3          ^1: br %1, ^5, ^3
//!                               ^5: br ^2(0)                    the preheader
//! ^2(%2: i64):                  ^2(%2: i64):
//!   ..                    =>      ..
//!   br %3, ^2(%4), ^3             br %3, ^7, ^6
//!                               ^7: br ^2(%4)                   a single latch (was ^2 itself)
//!                               ^6: br ^3                       a dedicated exit
//! ^3: return %4                 ^3: return %8
//! ```
//!
//! - **Preheader**: a block outside that goes to the header and nowhere else, the only way in.
//! - **Single latch**: one block goes back to the header.
//! - **Dedicated exits**: the blocks that the loop leaves to are entered from the loop alone.
//! - **Closed**: what is computed in the loop is used outside through parameters of exit blocks
//!   alone (loop-closed SSA form, as in GCC and LLVM), so that a copy of the loop, or other code
//!   in its place, has to pass its own values to these and nothing else.
//!
//! A pass makes what it needs with these functions, which do nothing where it holds already. They
//! change no instruction but terminators, and add none that does anything.
//!
//! # Cost
//! Making a [`LoopForm`] costs O(size of the loop in blocks), each function O(edges that it looks
//! at) and, for `close_loops`, O(instructions of the loops and uses of their values), and one
//! dominator tree.

use regraft_ir::{Block, DominatorTree, Edge, Function, Inst, IrResult, Operand, Type, Value};
use rustc_hash::FxHashSet;

use crate::analysis::{Analyses, LoopForest, LoopId};
use crate::transforms::util::repair_below::{Below, Places};

/// A natural loop while it is rewritten. It is told of blocks that join the loop
/// ([`LoopForm::add_block`]); everything else it reads off the function.
#[derive(Clone, Debug)]
pub struct LoopForm {
    header: Block,
    blocks: Vec<Block>,
    members: FxHashSet<Block>,
}

impl LoopForm {
    /// A loop as the forest knows it.
    pub fn new(forest: &LoopForest, id: LoopId) -> Self {
        let blocks = forest.blocks(id).to_vec();
        Self { header: forest.get(id).header, members: blocks.iter().copied().collect(), blocks }
    }

    /// The block that every way in goes through.
    pub fn header(&self) -> Block {
        self.header
    }

    /// The blocks of the loop: the header first, and each block after those that dominate it.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns whether a block is in the loop. O(1).
    pub fn contains(&self, block: Block) -> bool {
        self.members.contains(&block)
    }

    /// Says that a block, all predecessors of which are in the loop, is part of it now.
    pub fn add_block(&mut self, block: Block) {
        if self.members.insert(block) {
            self.blocks.push(block);
        }
    }

    /// The edges that enter it, in layout order.
    pub fn entering(&self, f: &Function) -> Vec<Edge> {
        let mut edges = f.in_edges_in_order(self.header);
        edges.retain(|edge| !self.contains(edge.from));
        edges
    }

    /// The edges that go back to the header, in layout order.
    pub(crate) fn back_edges(&self, f: &Function) -> Vec<Edge> {
        let mut edges = f.in_edges_in_order(self.header);
        edges.retain(|edge| self.contains(edge.from));
        edges
    }

    /// The edges that leave it, by its blocks.
    pub fn exits(&self, f: &Function) -> Vec<Edge> {
        let edges = self.blocks.iter().flat_map(|&block| f.out_edges(block));
        edges.filter(|&edge| !self.contains(f.edge_target(edge))).collect()
    }

    /// The distinct blocks that it leaves to, in the order of the edges.
    pub(crate) fn exit_blocks(&self, f: &Function) -> Vec<Block> {
        let mut seen = FxHashSet::default();
        let targets = self.exits(f).into_iter().map(|edge| f.edge_target(edge));
        targets.filter(|&target| seen.insert(target)).collect()
    }

    /// The block outside that goes to the header and nowhere else, if only one block enters.
    pub fn preheader(&self, f: &Function) -> Option<Block> {
        match *self.entering(f) {
            [edge] => f.out_edges(edge.from).nth(1).is_none().then_some(edge.from),
            _ => None,
        }
    }

    /// The only latch, if it has one edge to the header.
    pub fn single_latch(&self, f: &Function) -> Option<Block> {
        if let [edge] = *self.back_edges(f) { Some(edge.from) } else { None }
    }

    /// Returns whether all exit blocks are entered from the loop alone.
    pub fn has_dedicated_exits(&self, f: &Function) -> bool {
        self.exit_blocks(f).into_iter().all(|block| self.is_dedicated(f, block))
    }

    fn is_dedicated(&self, f: &Function, exit: Block) -> bool {
        f.in_edges(exit).all(|edge| self.contains(edge.from))
    }

    /// Makes sure that there is a preheader, and returns it. If the header was the entry of the
    /// function, another block is the header afterwards.
    ///
    /// # Errors
    /// None if `f` is valid.
    pub fn ensure_preheader(&mut self, f: &mut Function) -> IrResult<Block> {
        if Some(self.header) == f.entry() {
            self.leave_entry(f)?;
        }
        preheader_of(f, self.header, &self.entering(f))
    }

    /// Moves everything in the entry of the function but the parameters to a new block, which
    /// becomes the header in its place, with parameters of its own.
    fn leave_entry(&mut self, f: &mut Function) -> IrResult<()> {
        let entry = self.header;
        let params: Vec<Value> = f.params(entry).collect();
        let first = f.first_inst(entry).unwrap_or(Value::terminator(entry));
        let header = f.split_block(first)?;
        let jump = Value::terminator(entry);
        for param in params {
            let new = f.add_param(header, f.ty(param), |_| Some(param))?;
            f.replace_uses_if(param, new, |_, at| at.user != jump)?;
            f.transfer_name(param, new);
        }
        // As many arguments as before: the edges keep their positions.
        for edge in f.in_edges_in_order(entry) {
            let args: Vec<Operand> = f.edge_args(edge).collect();
            f.redirect(edge, header, args)?;
        }
        self.members.remove(&entry);
        self.members.insert(header);
        self.blocks[0] = header;
        self.header = header;
        Ok(())
    }

    /// Makes sure that one block goes back to the header, by one edge, and returns it.
    ///
    /// # Errors
    /// None if `f` is valid.
    pub(crate) fn ensure_single_latch(&mut self, f: &mut Function) -> IrResult<Block> {
        let back = self.back_edges(f);
        if let [edge] = *back {
            return Ok(edge.from);
        }
        let Some(last) = back.last() else { return Ok(self.header) };
        let latch = gather_edges(f, &back, self.header, last.from)?;
        self.add_block(latch);
        Ok(latch)
    }

    /// Makes sure that all exit blocks are entered from the loop alone, and returns those that
    /// were made for it: at most one for each block that the loop leaves to.
    ///
    /// # Errors
    /// None if `f` is valid.
    pub(crate) fn ensure_dedicated_exits(&self, f: &mut Function) -> IrResult<Vec<Block>> {
        let mut made = Vec::new();
        for exit in self.exit_blocks(f) {
            if !self.is_dedicated(f, exit) {
                let mut edges = f.in_edges_in_order(exit);
                edges.retain(|edge| self.contains(edge.from));
                let last = edges[edges.len() - 1].from;
                made.push(gather_edges(f, &edges, exit, last)?);
            }
        }
        Ok(made)
    }

    /// Closes this loop: see `close_loops`.
    ///
    /// # Errors
    /// None if `f` is valid.
    pub fn close(&self, f: &mut Function) -> IrResult<usize> {
        close_loops(f, &[self], &mut Analyses::default())
    }

    fn close_values(&self, f: &mut Function, places: &Places<'_>) -> IrResult<usize> {
        let mut below = None;
        let mut made = 0;
        for &block in &self.blocks {
            let values: Vec<Value> = f.params(block).chain(f.body(block)).collect();
            for v in values {
                if f.uses(v).all(|at| self.contains(f.block_of(at.user))) {
                    continue;
                }
                let mut outside: Vec<Value> =
                    f.uses_in_order(v).into_iter().map(|at| at.user).collect();
                outside.retain(|&user| !self.contains(f.block_of(user)));
                outside.dedup();
                let below = below.get_or_insert_with(|| {
                    let blocks = self.blocks.iter().copied();
                    Below::new(places, blocks, |block| self.contains(block))
                });
                // An edge that leaves the loop goes to an exit block, and one from which a use is
                // reached is dominated by the definition, or else the use would not be.
                let at_end = |block| self.contains(block).then(|| v.into());
                made += below.repair(f, v, &outside, at_end)?.len();
            }
        }
        Ok(made)
    }
}

/// Returns whether a loop has no loop in it, natural or not, and at most so many instructions.
pub(crate) fn is_small_innermost(
    f: &Function,
    forest: &LoopForest,
    id: LoopId,
    most: usize,
) -> bool {
    let size: usize = forest.blocks(id).iter().map(|&block| f.body(block).count() + 1).sum();
    size <= most && forest.is_innermost(id) && !forest.get(id).has_irreducible
}

/// Returns whether nothing that is computed in a loop is used outside, by its only exit.
pub(crate) fn nothing_leaves(f: &Function, forest: &LoopForest, id: LoopId, exit: Edge) -> bool {
    let inside = |block: Block| forest.contains(id, block);
    let passed = f.edge_args(exit).filter_map(Operand::as_value);
    let mut values =
        forest.blocks(id).iter().flat_map(|&block| f.params(block).chain(f.body(block)));
    passed.into_iter().all(|v| !inside(f.block_of(v)))
        && values.all(|v| f.uses(v).all(|at| inside(f.block_of(at.user))))
}

/// Lets everything outside of disjoint loops that uses a value of one use parameters of its exit
/// blocks, which are made dedicated, and of blocks where these meet. Returns how many parameters it
/// made. Blocks that the entry does not reach may still use values of the loops. Where values of a
/// loop meet in the header of another one, they belong to that one from there on; it stays closed
/// if it has a preheader. O(size of the loops and uses of their values), and one dominator tree.
///
/// # Errors
/// None if `f` is valid.
pub(crate) fn close_loops(
    f: &mut Function,
    forms: &[&LoopForm],
    analyses: &mut Analyses,
) -> IrResult<usize> {
    for form in forms {
        form.ensure_dedicated_exits(f)?;
    }
    let tree = analyses.get::<DominatorTree>(f);
    let places = Places::new(f, &tree);
    let mut made = 0;
    for form in forms {
        made += form.close_values(f, &places)?;
    }
    Ok(made)
}

/// As [`LoopForm::ensure_preheader`], of a loop of which nothing else is asked. Returns the header as
/// well. O(edges into the header), unless that is the entry.
///
/// # Errors
/// None if `f` is valid.
pub(crate) fn ensure_preheader(
    f: &mut Function,
    forest: &LoopForest,
    id: LoopId,
) -> IrResult<(Block, Block)> {
    let header = forest.get(id).header;
    if Some(header) == f.entry() {
        let mut form = LoopForm::new(forest, id);
        let preheader = form.ensure_preheader(f)?;
        return Ok((preheader, form.header()));
    }
    let mut entering = f.in_edges_in_order(header);
    entering.retain(|edge| !forest.contains(id, edge.from));
    Ok((preheader_of(f, header, &entering)?, header))
}

/// Makes the edges that enter a loop come from one block with one edge.
fn preheader_of(f: &mut Function, header: Block, entering: &[Edge]) -> IrResult<Block> {
    match *entering {
        [edge] if f.out_edges(edge.from).nth(1).is_none() => Ok(edge.from),
        [edge] => f.split_edge(edge),
        _ => {
            let before = f.prev_block(header).unwrap_or(header);
            gather_edges(f, entering, header, before)
        }
    }
}

/// Leads edges to `target` through a new block after `after`, and returns it. Where the edges
/// pass different values, it has parameters. O(operands of the terminators).
///
/// # Errors
/// If an edge is stale or goes elsewhere.
pub(crate) fn gather_edges(
    f: &mut Function,
    edges: &[Edge],
    target: Block,
    after: Block,
) -> IrResult<Block> {
    let new = f.add_block_after(after)?;
    let args: Vec<Vec<Operand>> = edges.iter().map(|&e| f.edge_args(e).collect()).collect();
    let types: Vec<Type> = f.params(target).map(|param| f.ty(param)).collect();
    let mut passes_on: Vec<Operand> = Vec::with_capacity(types.len());
    let mut differs = Vec::with_capacity(types.len());
    for (i, &ty) in types.iter().enumerate() {
        // What all pass is available in the new block: it dominates all that lead there.
        let first = args.first().map(|args| args[i]);
        let same = first.filter(|&first| args.iter().all(|args| args[i] == first));
        differs.push(same.is_none());
        passes_on.push(match same {
            Some(arg) => arg,
            None => f.append_param(new, ty)?.into(),
        });
    }
    let jump = Inst::new(f.jump_op()?).edge(target, passes_on);
    let loc = edges.first().map(|edge| f.loc(Value::terminator(edge.from)));
    f.set_terminator(new, if let Some(loc) = loc { jump.at(loc) } else { jump })?;
    // Of two edges of one block the later one first, as an edge moves those behind it.
    let mut order: Vec<usize> = (0..edges.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(edges[i].position));
    for i in order {
        let args = args[i].iter().zip(&differs).filter(|(_, differs)| **differs);
        let args: Vec<Operand> = args.map(|(&arg, _)| arg).collect();
        f.redirect(edges[i], new, args)?;
    }
    Ok(new)
}
