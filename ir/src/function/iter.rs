//! Walking over blocks, instructions, operands, uses and edges.
//!
//! The iterators borrow the function; to change it while walking, use a
//! [`Cursor`](crate::Cursor) or collect first.

use super::{BlockData, Edge, Function, NIL, Slot, State, Use};
use crate::{Block, IrError, Op, Operand, Traits, Value};

/// The operands of an instruction.
#[derive(Clone, Debug)]
pub struct OperandIter<'a> {
    slots: std::slice::Iter<'a, Slot>,
}

impl<'a> OperandIter<'a> {
    #[inline]
    pub(super) fn new(slots: &'a [Slot]) -> Self {
        Self { slots: slots.iter() }
    }
}

impl Iterator for OperandIter<'_> {
    type Item = Operand;

    #[inline]
    fn next(&mut self) -> Option<Operand> {
        self.slots.next().map(|slot| slot.operand)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.slots.size_hint()
    }
}

impl DoubleEndedIterator for OperandIter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Operand> {
        self.slots.next_back().map(|slot| slot.operand)
    }
}

impl ExactSizeIterator for OperandIter<'_> {}

macro_rules! linked_iterator {
    ($(#[$doc:meta])* $name:ident, $item:ty, |$f:ident, $at:ident| $next:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name<'a> {
            function: &'a Function,
            at: $item,
        }

        impl Iterator for $name<'_> {
            type Item = $item;

            #[inline]
            fn next(&mut self) -> Option<$item> {
                let ($f, $at) = (self.function, self.at.some()?);
                self.at = $next;
                Some($at)
            }
        }
    };
}

linked_iterator!(
    /// The blocks of a function, in layout order.
    Blocks, Block, |f, at| f.blocks[at].next
);
linked_iterator!(
    /// The instructions of a block in order, without the terminator.
    Body, Value, |f, at| f.values[at].next
);
linked_iterator!(
    /// The parameters of a block in order.
    Params, Value, |f, at| f.values[at].next
);
linked_iterator!(
    /// The instructions of a block in order, the terminator last.
    Insts, Value, |f, at| if at.is_terminator() {
        Value::NONE
    } else {
        let data = &f.values[at];
        data.next.some().unwrap_or_else(|| f.terminator_or_none(data.block))
    }
);

/// The uses of a value, in no particular order.
#[derive(Clone, Debug)]
pub struct Uses<'a> {
    function: &'a Function,
    slot: u32,
}

impl Iterator for Uses<'_> {
    type Item = Use;

    #[inline]
    fn next(&mut self) -> Option<Use> {
        if self.slot == NIL {
            return None;
        }
        let slot = &self.function.slots[self.slot as usize];
        let index = self.slot - self.function.data(slot.user).slots;
        self.slot = slot.next;
        Some(Use { user: slot.user, index })
    }
}

/// The edges that leave a block, in operand order.
#[derive(Clone, Debug)]
pub struct Edges<'a> {
    slots: &'a [Slot],
    from: Block,
    position: u32,
}

impl Iterator for Edges<'_> {
    type Item = Edge;

    #[inline]
    fn next(&mut self) -> Option<Edge> {
        while let Some(slot) = self.slots.get(self.position as usize) {
            let position = self.position;
            self.position += 1;
            if slot.operand.is_block() {
                return Some(Edge { from: self.from, position });
            }
        }
        None
    }
}

impl Function {
    /// The entry block: the first in the layout.
    #[inline]
    pub fn entry(&self) -> Option<Block> {
        self.first_block.some()
    }

    /// The blocks in layout order, the entry first.
    pub fn blocks(&self) -> Blocks<'_> {
        Blocks { function: self, at: self.first_block }
    }

    /// The block after `b` in the layout.
    #[track_caller]
    pub fn next_block(&self, b: Block) -> Option<Block> {
        self.known_block(b).next.some()
    }

    /// The block before `b` in the layout.
    #[track_caller]
    pub fn prev_block(&self, b: Block) -> Option<Block> {
        self.known_block(b).prev.some()
    }

    /// The instructions of a block in order, the terminator last.
    #[track_caller]
    pub fn insts(&self, b: Block) -> Insts<'_> {
        let at = self.known_block(b).first.some().unwrap_or_else(|| self.terminator_or_none(b));
        Insts { function: self, at }
    }

    /// The instructions of a block in order, without the terminator.
    #[track_caller]
    pub fn body(&self, b: Block) -> Body<'_> {
        Body { function: self, at: self.known_block(b).first }
    }

    /// Every instruction in layout order, terminators included.
    pub fn all_insts(&self) -> impl Iterator<Item = Value> + '_ {
        self.blocks().flat_map(|b| self.insts(b))
    }

    /// The parameters and the instructions of the blocks in layout order, without terminators.
    pub fn all_values(&self) -> impl Iterator<Item = Value> + '_ {
        self.blocks().flat_map(|b| self.params(b).chain(self.body(b)))
    }

    /// The parameters of a block in order.
    #[track_caller]
    pub fn params(&self, b: Block) -> Params<'_> {
        Params { function: self, at: self.known_block(b).first_param }
    }

    /// The number of parameters of a block. O(1).
    #[inline]
    #[track_caller]
    pub fn param_count(&self, b: Block) -> usize {
        self.known_block(b).param_count as usize
    }

    /// The parameter at `index`. O(index).
    #[track_caller]
    pub fn param(&self, b: Block, index: usize) -> Option<Value> {
        self.params(b).nth(index)
    }

    /// The first instruction of a block that is not its terminator.
    #[track_caller]
    pub fn first_inst(&self, b: Block) -> Option<Value> {
        self.known_block(b).first.some()
    }

    /// The last instruction of a block that is not its terminator.
    #[track_caller]
    pub fn last_inst(&self, b: Block) -> Option<Value> {
        self.known_block(b).last.some()
    }

    /// The instruction after `v` in its block, the terminator included.
    #[track_caller]
    pub fn next_inst(&self, v: Value) -> Option<Value> {
        if v.is_terminator() {
            return None;
        }
        let data = self.known(v);
        if data.op == Op::PARAM {
            return self.insts(data.block).next();
        }
        data.next.some().or_else(|| self.terminator(data.block))
    }

    /// The instruction before `v` in its block.
    #[track_caller]
    pub fn prev_inst(&self, v: Value) -> Option<Value> {
        match v.terminated_block() {
            Some(b) => self.known_block(b).last.some(),
            None if self.is_param(v) => None,
            None => self.known(v).prev.some(),
        }
    }

    /// The terminator of a block, if it has one yet.
    #[inline]
    #[track_caller]
    pub fn terminator(&self, b: Block) -> Option<Value> {
        self.terminator_or_none(b).some()
    }

    #[inline]
    #[track_caller]
    fn terminator_or_none(&self, b: Block) -> Value {
        if self.known_block(b).term.op == Op::MISSING { Value::NONE } else { Value::terminator(b) }
    }

    /// Returns whether `a` stands before `b` in the layout; parameters stand before instructions,
    /// and blocks in layout order. O(1).
    #[inline]
    #[track_caller]
    pub fn comes_before(&self, a: Value, b: Value) -> bool {
        self.order_key(a) < self.order_key(b)
    }

    #[inline]
    #[track_caller]
    fn order_key(&self, v: Value) -> (u32, u8, u32) {
        let data = self.known(v);
        let kind = if data.op == Op::PARAM { 0u8 } else { 1 + u8::from(v.is_terminator()) };
        let seq = if data.op == Op::PARAM { data.slots } else { data.seq };
        (self.blocks[data.block].seq, kind, seq)
    }

    /// Returns whether block `a` stands before block `b` in the layout. O(1).
    #[inline]
    #[track_caller]
    pub fn block_comes_before(&self, a: Block, b: Block) -> bool {
        self.known_block(a).seq < self.known_block(b).seq
    }

    // --- uses ------------------------------------------------------------------------------

    /// The uses of a value, in no particular order: nothing that can be seen may depend on it.
    #[track_caller]
    pub fn uses(&self, v: Value) -> Uses<'_> {
        let slot = if v.is_terminator() { NIL } else { self.known(v).first_use };
        Uses { function: self, slot }
    }

    /// Returns whether a value is used. O(1).
    #[inline]
    #[track_caller]
    pub fn is_used(&self, v: Value) -> bool {
        !v.is_terminator() && self.known(v).first_use != NIL
    }

    /// The uses of a value in layout order. O(uses log uses).
    #[track_caller]
    pub fn uses_in_order(&self, v: Value) -> Vec<Use> {
        self.known(v);
        self.known_uses_in_order(v)
    }

    /// The same of a value that may have been deleted, but is of this function.
    pub(crate) fn known_uses_in_order(&self, v: Value) -> Vec<Use> {
        let slot = if v.is_terminator() { NIL } else { self.values[v].first_use };
        let mut uses: Vec<Use> = Uses { function: self, slot }.collect();
        uses.sort_by_key(|at| (self.order_key(at.user), at.index));
        uses
    }

    // --- edges -----------------------------------------------------------------------------

    /// The edges that leave a block, in operand order.
    #[track_caller]
    pub fn out_edges(&self, b: Block) -> Edges<'_> {
        let slots = match self.terminator(b) {
            Some(term) => self.slots_of(term),
            None => &[],
        };
        Edges { slots, from: b, position: 0 }
    }

    /// Returns whether a block ends without going or returning anywhere: an error was thrown. Nothing
    /// is to be gained there.
    #[track_caller]
    pub fn is_cold(&self, b: Block) -> bool {
        let def = self.op_def(Value::terminator(b));
        def.is_some_and(|def| !def.traits.contains(Traits::RETURN))
            && self.out_edges(b).next().is_none()
    }

    /// The edges that enter a block, in no particular order.
    #[track_caller]
    pub fn in_edges(&self, b: Block) -> impl Iterator<Item = Edge> + '_ {
        Uses { function: self, slot: self.known_block(b).first_use }
            .map(|u| Edge { from: self.data(u.user).block, position: u.index })
    }

    /// The edges that enter a block, by the layout of where they come from.
    #[track_caller]
    pub fn in_edges_in_order(&self, b: Block) -> Vec<Edge> {
        let mut edges: Vec<Edge> = self.in_edges(b).collect();
        edges.sort_by_key(|edge| (self.blocks[edge.from].seq, edge.position));
        edges
    }

    /// The targets of the edges that leave a block, with repetitions.
    #[track_caller]
    pub fn successors(&self, b: Block) -> impl Iterator<Item = Block> + '_ {
        self.out_edges(b).map(|edge| self.edge_target(edge))
    }

    /// The blocks whose edges enter `b`, one for each edge, in layout order.
    #[track_caller]
    pub fn predecessors(&self, b: Block) -> Vec<Block> {
        self.in_edges_in_order(b).into_iter().map(|edge| edge.from).collect()
    }

    /// Returns whether no edge enters a block. O(1).
    #[track_caller]
    pub fn has_predecessors(&self, b: Block) -> bool {
        self.known_block(b).first_use != NIL
    }

    /// The target of an edge.
    ///
    /// # Panics
    /// If the edge is no longer there.
    #[inline]
    #[track_caller]
    pub fn edge_target(&self, edge: Edge) -> Block {
        let term = Value::terminator(edge.from);
        let target = self.operand(term, edge.position as usize).and_then(Operand::as_block);
        match target {
            Some(target) => target,
            None => self.no_edge(edge),
        }
    }

    /// The arguments of an edge.
    ///
    /// # Panics
    /// If the terminator has no operand there any more.
    #[track_caller]
    pub fn edge_args(&self, edge: Edge) -> OperandIter<'_> {
        let slots = self.slots_of(Value::terminator(edge.from));
        let Some(after) = slots.get(edge.position as usize + 1..) else { self.no_edge(edge) };
        let end = after.iter().position(|slot| slot.operand.is_block()).unwrap_or(after.len());
        OperandIter::new(&after[..end])
    }

    /// The argument of an edge for the parameter at a position of its target. O(1), as it is not
    /// checked that the target has so many parameters.
    #[track_caller]
    pub fn edge_arg(&self, edge: Edge, position: usize) -> Option<Operand> {
        self.operand(Value::terminator(edge.from), edge.position as usize + 1 + position)
    }

    /// The operands of a terminator that stand before its first edge; of any other instruction,
    /// all operands.
    #[inline]
    #[track_caller]
    pub fn plain_operands(&self, v: Value) -> OperandIter<'_> {
        let slots = self.slots_of(v);
        if !v.is_terminator() {
            return OperandIter::new(slots);
        }
        let end = slots.iter().position(|slot| slot.operand.is_block()).unwrap_or(slots.len());
        OperandIter::new(&slots[..end])
    }

    #[cold]
    #[track_caller]
    fn no_edge(&self, edge: Edge) -> ! {
        panic!("{}", IrError::stale_edge(self, edge))
    }

    pub(super) fn is_reserved_block(&self, b: Block) -> bool {
        matches!(self.blocks.get(b), Some(BlockData { state: State::Reserved, .. }))
    }
}
