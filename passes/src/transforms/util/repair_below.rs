//! Values of a region of the dominator tree that get several definitions, where they are used below
//! that region.
//!
//! ```text
//! region {^2}:     ^2 ──> ^3, ^6          uses in ^4 and ^8, below ^3 and ^6:
//!                  ^3 ──> ^4                ^3 and ^6 get a parameter each,
//!                  ^6 ──> ^8                and ^4 and ^8 use these
//! ```
//!
//! # Method
//! The region is one block, or the blocks of a loop. A block whose immediate dominator is in the
//! region, while it is not, is a **head**: every way from the region to a block that the head
//! dominates goes through the head. So what reaches a use is what reaches the head above it, which
//! gets a parameter; what its predecessors pass is a definition, or what reaches their heads. These
//! are the places that iterated dominance frontiers give, found without a walk over what lies
//! between a definition and its uses.
//!
//! # Cost
//! For a value, O((uses + edges into the heads that are needed) × log heads).

use crate::transforms::util::edit::{name_copy, replace_in};
use regraft_ir::{Block, DominatorTree, Function, IrResult, Operand, Value};
use rustc_hash::FxHashMap;

/// The places of blocks in preorder of the dominator tree.
#[derive(Debug)]
pub(crate) struct Places<'a> {
    tree: &'a DominatorTree,
    /// By [`Block::index`].
    of: Vec<Option<u32>>,
}

impl<'a> Places<'a> {
    /// Finds them. O(blocks).
    pub(crate) fn new(f: &Function, tree: &'a DominatorTree) -> Self {
        let mut of = vec![None; f.block_capacity()];
        for (place, block) in tree.order().iter().enumerate() {
            of[block.index()] = Some(place as u32);
        }
        Self { tree, of }
    }

    /// `None` for what is unreachable.
    fn get(&self, block: Block) -> Option<u32> {
        self.of.get(block.index()).copied().flatten()
    }
}

/// The part of the dominator tree below a region.
#[derive(Debug)]
pub(crate) struct Below<'a> {
    places: &'a Places<'a>,
    /// In preorder of the tree.
    heads: Vec<Block>,
}

impl<'a> Below<'a> {
    /// Returns what is below a region: one block, or the blocks of a loop. O(blocks of the region
    /// and what they immediately dominate).
    pub(crate) fn new(
        places: &'a Places<'a>,
        region: impl Iterator<Item = Block>,
        contains: impl Fn(Block) -> bool,
    ) -> Self {
        let mut heads: Vec<Block> = region
            .flat_map(|block| places.tree.children(block))
            .filter(|&block| !contains(block))
            .collect();
        heads.sort_unstable_by_key(|&head| places.get(head));
        Self { places, heads }
    }

    /// The head above a block; `None` for the region itself and for what is unreachable.
    fn head(&self, block: Block) -> Option<Block> {
        let place = self.places.get(block)?;
        let after = self.heads.partition_point(|&head| self.places.get(head) <= Some(place));
        let head = *self.heads.get(after.checked_sub(1)?)?;
        self.places.tree.dominates(head, block).then_some(head)
    }

    /// Lets those of `users` that use `old` and are below the region use a parameter of the head
    /// above them. `at_end` is what a block of the region, or one that leads to a head in its place,
    /// passes on for `old`. Unreachable users keep `old`. Blocks and edges have to be those of the
    /// dominator tree, but for edges into heads. Returns the parameters, in layout order.
    ///
    /// # Errors
    /// If something is stale, or a definition does not fit.
    pub(crate) fn repair(
        &self,
        f: &mut Function,
        old: Value,
        users: &[Value],
        at_end: impl Fn(Block) -> Option<Operand>,
    ) -> IrResult<Vec<Value>> {
        let mut params: FxHashMap<Block, Option<Value>> = FxHashMap::default();
        let mut needed: Vec<Block> = Vec::new();
        let mut want = |head: Option<Block>, needed: &mut Vec<Block>| {
            let is_new = |&head: &Block| params.insert(head, None).is_none();
            needed.extend(head.filter(is_new));
        };
        for &user in users {
            want(self.head(f.block_of(user)), &mut needed);
        }
        let mut next = 0;
        while let Some(&head) = needed.get(next) {
            next += 1;
            for edge in f.in_edges(head).filter(|edge| at_end(edge.from).is_none()) {
                want(self.head(edge.from), &mut needed);
            }
        }
        needed
            .sort_unstable_by(|&a, &b| f.block_comes_before(b, a).cmp(&f.block_comes_before(a, b)));
        let mut made = Vec::with_capacity(needed.len());
        for &head in &needed {
            let param = f.add_param(head, f.ty(old), |_| Some(old))?;
            name_copy(f, old, param)?;
            params.insert(head, Some(param));
            made.push(param);
        }
        let above = |block: Block| *params.get(&self.head(block)?)?;
        for &head in &needed {
            let last = f.param_count(head);
            for edge in f.in_edges_in_order(head) {
                let known = at_end(edge.from).or_else(|| above(edge.from).map(Operand::from));
                if let Some(arg) = known {
                    let index = edge.position as usize + last;
                    f.set_operand(Value::terminator(edge.from), index, arg)?;
                }
            }
        }
        for &user in users {
            let Some(new) = above(f.block_of(user)) else { continue };
            replace_in(f, user, old, new.into())?;
        }
        Ok(made)
    }
}
