//! SSA form while it is being built: blocks, instructions, variables.
//!
//! Variables become values and block parameters ("phis") as [`regraft_ir::ssa`] tells, after Braun
//! et al. 2013. A variable is called a slot here.
//!
//! Instructions are kept in one vector and blocks are ranges of it, since a block is filled in one
//! go; [`super::finish`] makes a [`regraft_ir::Function`] of them, with numbers in order.

use regraft_ir::ssa::{Ssa, SsaValue, Unentered};
use regraft_ir::{Loc, Op, Symbol};

mod variables;

/// A block under construction.
pub(super) use regraft_ir::ssa::SsaBlock as BlockId;
/// A variable of the function: of the program, or one that holds the value of an `if`.
pub(super) use regraft_ir::ssa::Variable as Slot;

/// The kind of an operand: an instruction, a block parameter, a constant, or nothing yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Val(u32);

/// A [`Val`] taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ValKind {
    /// The instruction at that index.
    Inst(u32),
    /// The block parameter at that index.
    Phi(u32),
    /// The constant at that index of the table.
    Const(u32),
    /// A variable that has no value yet.
    Undef,
}

const PHI: u32 = 1 << 30;
const CONST: u32 = 1 << 31;

impl Val {
    /// The value of a variable that has none.
    pub(super) const UNDEF: Self = Self(u32::MAX);

    pub(super) const fn inst(index: u32) -> Self {
        Self(index)
    }

    pub(super) const fn phi(index: u32) -> Self {
        Self(index | PHI)
    }

    pub(super) const fn constant(index: u32) -> Self {
        Self(index | CONST)
    }

    #[inline]
    pub(super) const fn kind(self) -> ValKind {
        if self.0 & CONST == 0 {
            if self.0 & PHI == 0 { ValKind::Inst(self.0) } else { ValKind::Phi(self.0 & !PHI) }
        } else if self.0 == u32::MAX {
            ValKind::Undef
        } else {
            ValKind::Const(self.0 & !CONST)
        }
    }
}

impl SsaValue for Val {
    const UNDEF: Self = Self::UNDEF;

    #[inline]
    fn phi(index: u32) -> Self {
        Self::phi(index)
    }

    #[inline]
    fn as_phi(self) -> Option<u32> {
        match self.kind() {
            ValKind::Phi(index) => Some(index),
            _ => None,
        }
    }
}

/// The index of an edge among those that enter its block, or `DEAD`.
pub(super) type EdgeIndex = u32;

/// The role of an instruction, apart from its op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Special {
    /// As the op says.
    None,
    /// A call within `@inbounds`.
    Inbounds,
    /// A parameter of the function.
    Param,
    /// A check that its operand, the value of a variable, is there. It goes if that is sure.
    Check,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct InstData {
    pub(super) op: Op,
    pub(super) special: Special,
    /// Its operands in [`Body::operands`].
    pub(super) start: u32,
    pub(super) len: u32,
    pub(super) loc: Loc,
    /// The variable that it is the value of.
    pub(super) name: Option<Symbol>,
}

/// The terminator of a block. An edge is a block and the index of the edge.
#[derive(Clone, Copy, Debug)]
pub(super) enum Term {
    None,
    Jump(BlockId, EdgeIndex),
    Branch(Val, [(BlockId, EdgeIndex); 2]),
    Return(Val),
}

#[derive(Clone, Debug)]
pub(super) struct BlockData {
    /// True if control may get here: no block is entered from one that it does not get to.
    pub(super) alive: bool,
    pub(super) insts: (u32, u32),
    pub(super) term: Term,
    pub(super) loc: Loc,
    /// For the header of a loop, the slots that are assigned in it, in [`Body::orders`].
    pub(super) order: (u32, u32),
}

/// The code of one function.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) insts: Vec<InstData>,
    pub(super) operands: Vec<Val>,
    pub(super) blocks: Vec<BlockData>,
    /// The edges of the blocks, and the values of slots.
    pub(super) ssa: Ssa<Val>,
    /// The blocks in the order in which they were filled.
    pub(super) layout: Vec<BlockId>,
    /// The names of slots, for block parameters.
    pub(super) slot_names: Vec<Option<Symbol>>,
    pub(super) orders: Vec<Slot>,
    /// The slots that were written, in order; what loops need for the order of their parameters.
    log: Vec<Slot>,
    /// The number of the last [`Body::end_loop`] that saw each slot.
    seen: Vec<u32>,
    loops: u32,
    /// True if blocks were entered out of order.
    pub(super) has_labels: bool,
}

impl Default for Body {
    fn default() -> Self {
        Self {
            insts: Vec::new(),
            operands: Vec::new(),
            blocks: Vec::new(),
            ssa: Ssa::new(Unentered::Undef),
            layout: Vec::new(),
            slot_names: Vec::new(),
            orders: Vec::new(),
            log: Vec::new(),
            seen: Vec::new(),
            loops: 0,
            has_labels: false,
        }
    }
}

impl Body {
    /// Makes it empty, with an entry block, for another function.
    pub(super) fn reset(&mut self) {
        self.insts.clear();
        self.operands.clear();
        self.blocks.clear();
        self.ssa.clear();
        self.layout.clear();
        self.slot_names.clear();
        self.orders.clear();
        self.log.clear();
        self.seen.clear();
        self.loops = 0;
        self.has_labels = false;
        let entry = self.new_block();
        self.blocks[0].alive = true;
        self.seal(entry);
        self.start(entry);
    }

    // --- blocks ------------------------------------------------------------------------------

    pub(super) fn new_block(&mut self) -> BlockId {
        let id = self.ssa.add_block();
        self.blocks.push(BlockData {
            alive: false,
            insts: (0, 0),
            term: Term::None,
            loc: Loc::UNKNOWN,
            order: (0, 0),
        });
        id
    }

    /// A block that edges may enter until the end of the function.
    pub(super) fn new_label(&mut self) -> BlockId {
        let id = self.new_block();
        let data = &mut self.blocks[id.0 as usize];
        data.alive = true;
        // Labels can lead to each other in a circle.
        self.ssa.set_cyclic(id);
        self.has_labels = true;
        id
    }

    /// Goes on in `block`.
    pub(super) fn start(&mut self, block: BlockId) {
        self.ssa.start(block);
        let at = self.insts.len() as u32;
        self.blocks[block.0 as usize].insts = (at, at);
        self.layout.push(block);
    }

    /// Returns whether control can get to where code is put now.
    #[inline]
    pub(super) fn alive(&self) -> bool {
        self.blocks[self.ssa.current().0 as usize].alive
    }

    fn enter(&mut self, target: BlockId) -> (BlockId, EdgeIndex) {
        self.blocks[target.0 as usize].alive = true;
        (target, self.ssa.add_edge(target))
    }

    fn terminate(&mut self, loc: Loc, term: Term) {
        let end = self.insts.len() as u32;
        let data = &mut self.blocks[self.ssa.current().0 as usize];
        (data.term, data.loc, data.insts.1) = (term, loc, end);
    }

    /// Ends the block. What follows is in no block until [`Body::start`].
    pub(super) fn jump(&mut self, target: BlockId, loc: Loc) {
        if self.alive() {
            let (target, index) = self.enter(target);
            self.terminate(loc, Term::Jump(target, index));
        }
    }

    pub(super) fn branch(&mut self, condition: Val, then: BlockId, otherwise: BlockId, loc: Loc) {
        if self.alive() {
            let edges = [self.enter(then), self.enter(otherwise)];
            self.terminate(loc, Term::Branch(condition, edges));
        }
    }

    /// Returns; what follows, up to the next label, cannot be reached.
    pub(super) fn ret(&mut self, value: Val, loc: Loc) {
        if self.alive() {
            self.terminate(loc, Term::Return(value));
        }
        self.start_dead();
    }

    /// Ends the block: control does not get to its end.
    pub(super) fn unreachable(&mut self, loc: Loc) {
        self.terminate(loc, Term::None);
    }

    /// Goes on where control does not get to.
    pub(super) fn start_dead(&mut self) {
        let dead = self.new_block();
        self.ssa.seal(dead);
        self.start(dead);
    }

    /// Says that all edges that enter `block` are there.
    pub(super) fn seal(&mut self, block: BlockId) {
        self.ssa.seal(block);
    }

    /// Seals a block and goes on there.
    pub(super) fn seal_and_start(&mut self, block: BlockId) {
        self.seal(block);
        self.start(block);
    }

    // --- instructions ------------------------------------------------------------------------

    /// Appends an instruction whose operands are the last ones of [`Body::operands`], from
    /// `start` on.
    #[inline]
    pub(super) fn push_from(&mut self, op: Op, special: Special, start: usize, loc: Loc) -> Val {
        let index = self.insts.len() as u32;
        let len = (self.operands.len() - start) as u32;
        self.insts.push(InstData { op, special, start: start as u32, len, loc, name: None });
        Val::inst(index)
    }

    #[inline]
    pub(super) fn push(&mut self, op: Op, operands: &[Val], loc: Loc) -> Val {
        let start = self.operands.len();
        self.operands.extend_from_slice(operands);
        self.push_from(op, Special::None, start, loc)
    }

    /// Names a value after a variable, unless it has a name.
    #[inline]
    pub(super) fn name(&mut self, value: Val, name: Symbol) {
        match value.kind() {
            ValKind::Inst(index) => {
                self.insts[index as usize].name.get_or_insert(name);
            }
            ValKind::Phi(index) => {
                let slot = self.ssa.phi(index).variable;
                self.slot_names[slot.0 as usize].get_or_insert(name);
            }
            ValKind::Const(_) | ValKind::Undef => {}
        }
    }
}
