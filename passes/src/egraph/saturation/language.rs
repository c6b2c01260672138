//! Nodes of the e-graph of `egg`.

use egg::{Id, Language};
use regraft_ir::{Op, Type, Value};
use smallvec::SmallVec;

/// The content of a node, but for its arguments.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Head {
    /// A value that is only looked at.
    Leaf(Value),
    /// A constant, by its number in this graph: numbers of the context depend on what other functions
    /// use.
    Const(usize),
    /// A pure op, and the type of its result.
    Op(Op, Type),
}

/// A node.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct ENode {
    pub(super) head: Head,
    pub(super) args: SmallVec<[Id; 3]>,
}

impl ENode {
    /// A node without arguments.
    pub(super) fn leaf(head: Head) -> Self {
        Self { head, args: SmallVec::new() }
    }

    /// The op of a node, if it has one.
    pub(super) fn op(&self) -> Option<Op> {
        match self.head {
            Head::Op(op, _) => Some(op),
            _ => None,
        }
    }
}

impl Language for ENode {
    type Discriminant = Head;

    fn discriminant(&self) -> Head {
        self.head
    }

    fn matches(&self, other: &Self) -> bool {
        self.head == other.head && self.args.len() == other.args.len()
    }

    fn children(&self) -> &[Id] {
        &self.args
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.args
    }
}
