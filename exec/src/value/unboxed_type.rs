//! The builds of unboxed elements: the tuples and structs that they are, with the types of their parts.
//!
//! Each build is kept once for the process, so that a pointer tells which one it is.

use std::fmt;
use std::sync::{LazyLock, Mutex, PoisonError};

use regraft_ir::Type;
use rustc_hash::FxHashSet;

/// The kind of an unboxed element, or of one in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum UnboxedKind {
    Tuple,
    Named,
    Struct,
}

/// A node of the tree of an element.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// A scalar, or `nothing`.
    Part(Type),
    /// So many nodes, by the type of structs, the shape of named tuples, `any` for tuples.
    Compound(UnboxedKind, Type, usize),
}

#[derive(PartialEq, Eq, Hash)]
struct Build {
    /// The tree in preorder.
    nodes: Vec<Node>,
    /// The leaves of the tree.
    parts: Vec<Type>,
}

/// The build of unboxed elements.
#[derive(Clone, Copy)]
pub struct UnboxedType(&'static Build);

impl UnboxedType {
    /// The build with this tree, in preorder. O(nodes).
    pub(super) fn new(nodes: Vec<Node>) -> Self {
        static BUILDS: LazyLock<Mutex<FxHashSet<&'static Build>>> = LazyLock::new(Mutex::default);
        let part = |node: &Node| match *node {
            Node::Part(ty) => Some(ty),
            Node::Compound(..) => None,
        };
        let build = Build { parts: nodes.iter().filter_map(part).collect(), nodes };
        let mut builds = BUILDS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = builds.get(&build) {
            return Self(known);
        }
        let build: &'static Build = Box::leak(Box::new(build));
        builds.insert(build);
        Self(build)
    }

    /// The tree of an element, in preorder.
    pub(super) fn nodes(self) -> impl Iterator<Item = Node> {
        self.0.nodes.iter().copied()
    }

    /// The types of the parts.
    #[inline]
    pub(super) fn parts(self) -> &'static [Type] {
        &self.0.parts
    }

    /// Returns the number of parts, from 1 to 16.
    #[inline]
    pub fn count(self) -> usize {
        self.parts().len()
    }

    /// The bytes that an element takes.
    pub fn size(self) -> usize {
        self.count() * size_of::<u64>()
    }
}

impl PartialEq for UnboxedType {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for UnboxedType {}

impl fmt::Debug for UnboxedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} parts", self.count())
    }
}
