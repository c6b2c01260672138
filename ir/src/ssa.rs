//! Construction of SSA form while code is being written, from variables that can be assigned
//! more than once.
//!
//! # Method
//! Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (2013),
//! section 2. Writing a variable notes its value for the block at hand; reading one looks for the
//! last value, backward through the predecessors, and makes a parameter ("phi") of each block
//! where several may meet. The predecessors of a block are known once it is *sealed*; until then
//! a read makes a parameter whose arguments are found later. A parameter all of whose arguments
//! are one value stands for that value.
//!
//! # Cost
//! Reading takes amortised O(1) in straight code, and makes at most one parameter for each
//! variable and block. Nothing recurses.
//!
//! [`Ssa`] knows nothing of instructions: what a value is, a [`SsaValue`] says. Most users want
//! [`FunctionBuilder`](crate::FunctionBuilder), which makes a [`Function`](crate::Function).
//!
//! ```
//! use regraft_ir::ssa::{Ssa, SsaValue, Unentered};
//!
//! /// Numbers of our own, and parameters.
//! #[derive(Clone, Copy, PartialEq, Eq, Debug)]
//! enum Def {
//!     Undef,
//!     Own(u32),
//!     Phi(u32),
//! }
//!
//! impl SsaValue for Def {
//!     const UNDEF: Self = Self::Undef;
//!
//!     fn phi(index: u32) -> Self {
//!         Self::Phi(index)
//!     }
//!
//!     fn as_phi(self) -> Option<u32> {
//!         if let Self::Phi(index) = self { Some(index) } else { None }
//!     }
//! }
//!
//! let mut ssa = Ssa::new(Unentered::Undef);
//! let (entry, then, join) = (ssa.add_block(), ssa.add_block(), ssa.add_block());
//! let x = ssa.declare();
//! ssa.seal(entry);
//! ssa.start(entry);
//! ssa.write(x, Def::Own(1));
//! ssa.add_edge(then);
//! ssa.add_edge(join);
//! ssa.seal(then);
//! ssa.start(then);
//! ssa.write(x, Def::Own(2));
//! ssa.add_edge(join);
//! ssa.seal(join);
//! ssa.start(join);
//! let phi = ssa.read(x).as_phi().unwrap();
//! assert_eq!(ssa.phi(phi).args[..], [Def::Own(1), Def::Own(2)]);
//! ```

use std::fmt::Debug;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The value of a variable: something of the user's, a parameter of a block, or nothing.
pub trait SsaValue: Copy + Eq + Debug {
    /// The value of a variable that has none.
    const UNDEF: Self;

    /// The parameter with this index among all of them.
    fn phi(index: u32) -> Self;

    /// The index of the parameter, if it is one.
    fn as_phi(self) -> Option<u32>;
}

/// A block, by the order in which [`Ssa::add_block`] made it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SsaBlock(pub u32);

/// A variable, by the order in which [`Ssa::declare`] made it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Variable(pub u32);

/// A parameter of a block, which holds the value of a variable at the start of it.
#[derive(Clone, Debug)]
pub struct Phi<V> {
    /// The block that it is a parameter of.
    pub block: SsaBlock,
    /// The variable that it holds.
    pub variable: Variable,
    /// One argument for each edge that enters the block, in the order of [`Ssa::preds`]; none as
    /// long as the block is not sealed.
    pub args: SmallVec<[V; 2]>,
    /// The value that it stands for: itself, unless it was found to be trivial.
    forward: V,
    pinned: bool,
}

#[derive(Clone, Debug, Default)]
struct BlockData {
    preds: SmallVec<[SsaBlock; 2]>,
    phis: SmallVec<[u32; 2]>,
    sealed: bool,
    cyclic: bool,
}

/// The place where a variable was written last.
#[derive(Clone, Copy, Debug)]
struct Last<V> {
    block: SsaBlock,
    value: V,
}

/// The number of blocks, and of variables, from the first on, of which values stand in a table. Most functions
/// have no more; of others a hash table holds the rest, so that there is no room for what is not there.
const TABLED_BLOCKS: u32 = 256;
const TABLED_VARIABLES: u32 = 32;

/// Values of variables at the ends of blocks.
#[derive(Clone, Debug)]
struct Defs<V> {
    /// For each block, which of the first variables have a value in `first`.
    known: Vec<u32>,
    /// [`TABLED_VARIABLES`] values for each block.
    first: Vec<V>,
    others: FxHashMap<(u32, u32), V>,
}

impl<V: SsaValue> Defs<V> {
    fn clear(&mut self) {
        self.known.clear();
        // Clearing a table costs its capacity; one that had to be large once is not kept.
        if self.others.capacity() > 1 << 12 {
            self.others = FxHashMap::default();
        } else if !self.others.is_empty() {
            self.others.clear();
        }
    }

    #[inline]
    fn insert(&mut self, block: SsaBlock, variable: Variable, value: V) {
        if block.0 >= TABLED_BLOCKS || variable.0 >= TABLED_VARIABLES {
            self.others.insert((block.0, variable.0), value);
            return;
        }
        let row = block.0 as usize;
        if self.known.len() <= row {
            self.known.resize(row + 1, 0);
            let rows = self.known.len() * TABLED_VARIABLES as usize;
            if self.first.len() < rows {
                self.first.resize(rows, V::UNDEF);
            }
        }
        self.known[row] |= 1 << variable.0;
        self.first[row * TABLED_VARIABLES as usize + variable.0 as usize] = value;
    }

    #[inline]
    fn get(&self, block: SsaBlock, variable: Variable) -> Option<V> {
        if block.0 >= TABLED_BLOCKS || variable.0 >= TABLED_VARIABLES {
            return self.others.get(&(block.0, variable.0)).copied();
        }
        let row = block.0 as usize;
        let known = self.known.get(row).is_some_and(|known| known >> variable.0 & 1 != 0);
        known.then(|| self.first[row * TABLED_VARIABLES as usize + variable.0 as usize])
    }
}

const NO_BLOCK: SsaBlock = SsaBlock(u32::MAX);

/// The value of variables in a block that nothing enters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unentered {
    /// Variables without a value, as at the start of the function.
    Undef,
    /// Parameters, which nothing passes anything for; the first block excepted. So code that
    /// cannot be reached may use variables.
    Phi,
}

/// Blocks, their edges, and the values of variables in them.
#[derive(Clone, Debug)]
pub struct Ssa<V> {
    blocks: Vec<BlockData>,
    phis: Vec<Phi<V>>,
    last: Vec<Last<V>>,
    /// The values at the ends of blocks that are not in `last`.
    defs: Defs<V>,
    current: SsaBlock,
    unentered: Unentered,
    /// Parameters whose arguments are to be found.
    pending: Vec<u32>,
    filled: Vec<u32>,
}

impl<V: SsaValue> Ssa<V> {
    /// Nothing yet: the first block that is added is the entry.
    pub fn new(unentered: Unentered) -> Self {
        Self {
            blocks: Vec::new(),
            phis: Vec::new(),
            last: Vec::new(),
            defs: Defs { known: Vec::new(), first: Vec::new(), others: FxHashMap::default() },
            current: NO_BLOCK,
            unentered,
            pending: Vec::new(),
            filled: Vec::new(),
        }
    }

    /// Forgets everything but keeps the memory, for another function.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.phis.clear();
        self.last.clear();
        self.defs.clear();
        self.current = NO_BLOCK;
    }

    // --- blocks ----------------------------------------------------------------------------

    /// Adds a block, which is not sealed.
    pub fn add_block(&mut self) -> SsaBlock {
        let id = SsaBlock(self.blocks.len() as u32);
        self.blocks.push(BlockData::default());
        id
    }

    /// Says that a block may lead back to itself through blocks of one predecessor each. A block
    /// of such a cycle that is sealed after code was put into it has to be marked so.
    pub fn set_cyclic(&mut self, block: SsaBlock) {
        self.blocks[block.0 as usize].cyclic = true;
    }

    /// Goes on in `block`.
    #[inline]
    pub fn start(&mut self, block: SsaBlock) {
        self.current = block;
    }

    /// The block at hand.
    #[inline]
    pub fn current(&self) -> SsaBlock {
        self.current
    }

    /// Adds an edge from the block at hand, and returns its index among those that enter `target`.
    pub fn add_edge(&mut self, target: SsaBlock) -> u32 {
        let preds = &mut self.blocks[target.0 as usize].preds;
        preds.push(self.current);
        preds.len() as u32 - 1
    }

    /// Says that all edges that enter `block` are there.
    pub fn seal(&mut self, block: SsaBlock) {
        let index = block.0 as usize;
        self.blocks[index].sealed = true;
        let phis = self.blocks[index].phis.clone();
        for phi in phis {
            self.pending.push(phi);
            self.fill();
        }
    }

    /// Returns whether a block is sealed.
    pub fn is_sealed(&self, block: SsaBlock) -> bool {
        self.blocks[block.0 as usize].sealed
    }

    /// The blocks that the edges which enter a block come from, one for each edge.
    #[inline]
    pub fn preds(&self, block: SsaBlock) -> &[SsaBlock] {
        &self.blocks[block.0 as usize].preds
    }

    /// The parameters that were made for a block, trivial ones included.
    #[inline]
    pub fn phis_of(&self, block: SsaBlock) -> &[u32] {
        &self.blocks[block.0 as usize].phis
    }

    /// Takes the list of the parameters of a block, to give another one back.
    pub fn take_phis_of(&mut self, block: SsaBlock) -> SmallVec<[u32; 2]> {
        std::mem::take(&mut self.blocks[block.0 as usize].phis)
    }

    /// Says which parameters a block has, in which order.
    pub fn set_phis_of(&mut self, block: SsaBlock, phis: SmallVec<[u32; 2]>) {
        self.blocks[block.0 as usize].phis = phis;
    }

    // --- variables -------------------------------------------------------------------------

    /// Declares a variable, which has no value.
    pub fn declare(&mut self) -> Variable {
        let variable = Variable(self.last.len() as u32);
        self.last.push(Last { block: NO_BLOCK, value: V::UNDEF });
        variable
    }

    /// Gives a variable a value in the block at hand.
    #[inline]
    pub fn write(&mut self, variable: Variable, value: V) {
        let last = &mut self.last[variable.0 as usize];
        if last.block != self.current && last.block != NO_BLOCK {
            self.defs.insert(last.block, variable, last.value);
        }
        *last = Last { block: self.current, value };
    }

    /// The value of a variable at this place of the block at hand: [`SsaValue::UNDEF`], or a
    /// parameter that may be, where it has none.
    #[inline]
    pub fn read(&mut self, variable: Variable) -> V {
        let last = self.last[variable.0 as usize];
        if last.block == self.current {
            return self.find(last.value);
        }
        let value = self.read_at(variable, self.current);
        if !self.pending.is_empty() {
            self.fill();
        }
        self.find(value)
    }

    /// Notes what a read found in a block that is not the current one, or for it.
    fn note(&mut self, variable: Variable, block: SsaBlock, value: V) {
        let last = &mut self.last[variable.0 as usize];
        if last.block == block {
            last.value = value;
        } else if block == self.current {
            self.write(variable, value);
        } else {
            self.defs.insert(block, variable, value);
        }
    }

    #[inline]
    fn lookup(&self, variable: Variable, block: SsaBlock) -> Option<V> {
        let last = self.last[variable.0 as usize];
        if last.block == block {
            return Some(last.value);
        }
        self.defs.get(block, variable)
    }

    /// The value of a variable at the end of a block. Parameters that it makes are put on the
    /// list of those whose arguments are to be found.
    fn read_at(&mut self, variable: Variable, block: SsaBlock) -> V {
        let mut at = block;
        let value = loop {
            if let Some(value) = self.lookup(variable, at) {
                break self.find(value);
            }
            let data = &self.blocks[at.0 as usize];
            match data.preds[..] {
                _ if !data.sealed => break self.new_phi(variable, at, false),
                [] if self.unentered == Unentered::Phi && at.0 != 0 => {
                    break self.new_phi(variable, at, true);
                }
                [] => break V::UNDEF,
                // A cycle of such blocks alone would be walked around for ever.
                [pred] if !data.cyclic => at = pred,
                _ => break self.new_phi(variable, at, true),
            }
        };
        if at != block || value == V::UNDEF {
            self.note(variable, block, value);
        }
        value
    }

    fn new_phi(&mut self, variable: Variable, block: SsaBlock, sealed: bool) -> V {
        let index = self.add_phi(block, variable);
        let phi = V::phi(index);
        self.note(variable, block, phi);
        if sealed {
            self.pending.push(index);
        }
        phi
    }

    /// Finds the arguments of pending parameters.
    fn fill(&mut self) {
        let mut filled = std::mem::take(&mut self.filled);
        while let Some(phi) = self.pending.pop() {
            let Phi { block, variable, .. } = self.phis[phi as usize];
            for i in 0..self.blocks[block.0 as usize].preds.len() {
                let pred = self.blocks[block.0 as usize].preds[i];
                let arg = self.read_at(variable, pred);
                self.phis[phi as usize].args.push(arg);
            }
            filled.push(phi);
        }
        // Those made last are nearest to the definitions.
        for phi in filled.drain(..).rev() {
            self.simplify(phi);
        }
        self.filled = filled;
    }

    // --- parameters ------------------------------------------------------------------------

    /// The number of parameters, trivial ones included.
    #[inline]
    pub fn phi_count(&self) -> u32 {
        self.phis.len() as u32
    }

    /// A parameter.
    #[inline]
    pub fn phi(&self, index: u32) -> &Phi<V> {
        &self.phis[index as usize]
    }

    /// The arguments of a parameter, to be changed.
    #[inline]
    pub fn args_mut(&mut self, index: u32) -> &mut SmallVec<[V; 2]> {
        &mut self.phis[index as usize].args
    }

    /// Adds a parameter that stands beside the one of a variable. No read gives it.
    pub fn add_phi(&mut self, block: SsaBlock, variable: Variable) -> u32 {
        let index = self.phis.len() as u32;
        let (args, forward) = (SmallVec::new(), V::phi(index));
        self.phis.push(Phi { block, variable, args, forward, pinned: false });
        self.blocks[block.0 as usize].phis.push(index);
        index
    }

    /// Lets a parameter stand for its only argument, if it has but one. Returns whether it does.
    pub fn simplify(&mut self, phi: u32) -> bool {
        let own = V::phi(phi);
        if self.phis[phi as usize].forward != own || self.phis[phi as usize].pinned {
            return false;
        }
        let mut only = None;
        for i in 0..self.phis[phi as usize].args.len() {
            let arg = self.find(self.phis[phi as usize].args[i]);
            if arg == own || only == Some(arg) {
                continue;
            }
            if only.is_some() {
                return false;
            }
            only = Some(arg);
        }
        if only.is_none() && self.unentered == Unentered::Phi {
            return false;
        }
        self.phis[phi as usize].forward = only.unwrap_or(V::UNDEF);
        true
    }

    /// Simplifies parameters until nothing changes. This leaves as few as there can be where
    /// control flow is reducible. O(parameters · rounds), two or three of them in general.
    pub fn simplify_all(&mut self, is_wanted: impl Fn(&Self, u32) -> bool) {
        let mut changed = true;
        while changed {
            changed = false;
            for phi in 0..self.phi_count() {
                changed |= is_wanted(self, phi) && self.simplify(phi);
            }
        }
    }

    /// Keeps a parameter, trivial or not, if it does not stand for something else already.
    pub fn pin(&mut self, phi: u32) {
        self.phis[phi as usize].pinned = true;
    }

    /// Returns whether a parameter stands for itself.
    #[inline]
    pub fn is_own(&self, phi: u32) -> bool {
        self.phis[phi as usize].forward == V::phi(phi)
    }

    /// Lets a parameter stand for another value.
    pub fn forward(&mut self, phi: u32, value: V) {
        self.phis[phi as usize].forward = value;
    }

    /// The value that a value stands for.
    #[inline]
    pub fn find(&mut self, value: V) -> V {
        match value.as_phi() {
            Some(index) if self.phis[index as usize].forward != value => self.find_forwarded(index),
            _ => value,
        }
    }

    fn find_forwarded(&mut self, index: u32) -> V {
        let mut value = self.phis[index as usize].forward;
        while let Some(next) = value.as_phi() {
            let forward = self.phis[next as usize].forward;
            if forward == value {
                break;
            }
            value = forward;
        }
        let mut at = index;
        loop {
            let forward = std::mem::replace(&mut self.phis[at as usize].forward, value);
            match forward.as_phi() {
                Some(next) if forward != value => at = next,
                _ => return value,
            }
        }
    }
}
