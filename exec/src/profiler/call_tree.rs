//! The calling context tree (Ammons, Ball and Larus, PLDI 1997): a node for each chain of calls,
//! with the sum of the times of all calls that came about by that chain.
//!
//! A recursive call is one of the node of its function that is further up, as in the paper: so the
//! tree is no deeper than there are functions, and recursion of any depth has room. The node knows
//! how many of its calls are at work, so that nested ones count once in its total.
//!
//! An event that finds no room is a part of the one around it.

use regraft_ir::{Loc, Symbol};

use super::events::Events;

/// An event that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    /// The ticks that it took.
    pub(super) ticks: u64,
    /// The calls directly in it or in one another that are only counted.
    pub(super) again: u64,
    /// The events within it.
    pub(super) within: Events,
}

/// A node, by its index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NodeId(u32);

impl NodeId {
    /// The parent of events that nothing is around.
    pub(super) const ROOT: Self = Self(0);
    /// An event that there was no room for, or none at all.
    pub(super) const NONE: Self = Self(u32::MAX);

    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// All calls of an event by one chain of calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// The name of the event; that of the root means nothing.
    pub(super) event: Symbol,
    /// The place of the calls.
    pub(super) call: Loc,
    pub(super) parent: NodeId,
    first_child: NodeId,
    next_sibling: NodeId,
    pub(super) calls: u64,
    /// The calls that are going on.
    active: u32,
    /// The calls that were not within another one of the node.
    pub(super) outermost: u64,
    /// The calls that were directly in another one of the node and are only counted.
    pub(super) again: u64,
    /// The other events that started directly in it.
    pub(super) started: u64,
    /// The events within its outermost calls.
    pub(super) within: Events,
    /// The ticks from start to end, without those of events in it.
    pub(super) own: i64,
    /// The ticks from start to end of outermost calls.
    pub(super) total: u64,
}

impl Node {
    fn new(event: Symbol, call: Loc, parent: NodeId, next_sibling: NodeId) -> Self {
        Self {
            event,
            call,
            parent,
            first_child: NodeId::NONE,
            next_sibling,
            calls: 0,
            active: 0,
            outermost: 0,
            again: 0,
            started: 0,
            within: Events::default(),
            own: 0,
            total: 0,
        }
    }
}

/// The tree. There is room for a fixed number of nodes: to add one allocates nothing.
#[derive(Clone, Default, Debug)]
pub(super) struct CallTree {
    /// The root first, parents before children.
    nodes: Vec<Node>,
    capacity: usize,
    /// The number of events that there was no room for.
    pub(super) lost: u64,
}

impl CallTree {
    /// An empty tree with room for so many nodes.
    pub(super) fn new(capacity: usize, nothing: Symbol) -> Self {
        let mut nodes = Vec::with_capacity(capacity.saturating_add(1));
        nodes.push(Node::new(nothing, Loc::UNKNOWN, NodeId::NONE, NodeId::NONE));
        Self { nodes, capacity, lost: 0 }
    }

    /// The nodes, the root first, parents before children.
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(super) fn clear(&mut self) {
        self.lost = 0;
        self.nodes.truncate(1);
        if let Some(root) = self.nodes.first_mut() {
            *root = Node::new(root.event, Loc::UNKNOWN, NodeId::NONE, NodeId::NONE);
        }
    }

    /// An event starts within another one. The children of a node are in the order of their last
    /// call, so that loops over a few of them find each at once.
    #[inline]
    pub(super) fn enter(&mut self, parent: NodeId, event: Symbol, call: Loc) -> NodeId {
        let Some(around) = self.nodes.get_mut(parent.index()) else {
            self.lost += 1;
            return NodeId::NONE;
        };
        around.started += 1;
        let (first, recurs) = (around.first_child, around.event == event && parent != NodeId::ROOT);
        let mut found = if recurs { parent } else { first };
        let is_found = |node: &Node| recurs || (node.event == event && node.call == call);
        if !self.nodes.get(found.index()).is_some_and(is_found) {
            found = self.find_or_add(parent, event, call);
        }
        if let Some(node) = self.nodes.get_mut(found.index()) {
            node.calls += 1;
            node.active += 1;
        }
        found
    }

    #[inline(never)]
    fn find_or_add(&mut self, parent: NodeId, event: Symbol, call: Loc) -> NodeId {
        let first = self.nodes[parent.index()].first_child;
        let (mut before, mut at) = (NodeId::NONE, first);
        while let Some(&node) = self.nodes.get(at.index()) {
            if node.event == event && node.call == call {
                if before != NodeId::NONE {
                    self.nodes[before.index()].next_sibling = node.next_sibling;
                    self.nodes[at.index()].next_sibling = first;
                    self.nodes[parent.index()].first_child = at;
                }
                return at;
            }
            (before, at) = (at, node.next_sibling);
        }
        let mut above = parent;
        while above != NodeId::ROOT {
            let node = &self.nodes[above.index()];
            if node.event == event {
                return above;
            }
            above = node.parent;
        }
        if self.nodes.len() > self.capacity {
            self.lost += 1;
            return NodeId::NONE;
        }
        let made = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node::new(event, call, parent, first));
        self.nodes[parent.index()].first_child = made;
        made
    }

    /// A call from `caller` ends.
    #[inline]
    pub(super) fn leave(&mut self, node: NodeId, caller: NodeId, ended: Ended) {
        let Ended { ticks, again, within } = ended;
        let Some(left) = self.nodes.get_mut(node.index()) else {
            self.lost += again;
            return;
        };
        left.calls += again;
        left.again += again;
        left.own = left.own.wrapping_add_unsigned(ticks);
        left.active = left.active.wrapping_sub(1);
        if left.active == 0 {
            left.total = left.total.wrapping_add(ticks);
            left.within = left.within.and(within);
            left.outermost += 1;
        }
        if let Some(caller) = self.nodes.get_mut(caller.index()) {
            caller.own = caller.own.wrapping_sub_unsigned(ticks);
        }
    }

    /// The index of the parent of a node, `None` for the root.
    pub(super) fn parent(&self, node: &Node) -> Option<usize> {
        (node.parent != NodeId::NONE).then_some(node.parent.index())
    }
}
