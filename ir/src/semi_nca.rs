//! Immediate dominators in any graph whose nodes are numbered by a depth-first search.
//!
//! Semi-NCA (Loukas Georgiadis: "Linear-Time Algorithms for Dominators and Related Problems",
//! Princeton 2005, section 2.3): semidominators as in Lengauer and Tarjan, with path
//! compression, then the nearest common ancestor of the depth-first parent and the
//! semidominator. O(n²) in the worst case, near linear on every graph that programs have. Nothing
//! is recursive, so that a chain of 10⁶ nodes is no problem.
//!
//! The dominator tree is that of blocks and edges, the post-dominator tree that of the edges
//! reversed.
//!
//! ```
//! use regraft_ir::semi_nca::{SearchedGraph, immediate_dominators};
//!
//! /// 0 -> 1 -> 2 and 0 -> 2.
//! struct Triangle;
//!
//! impl SearchedGraph for Triangle {
//!     fn parents(&self) -> &[u32] {
//!         &[0, 0, 1]
//!     }
//!
//!     fn predecessors(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
//!         [&[][..], &[0], &[1, 0]][node as usize].iter().copied()
//!     }
//! }
//!
//! assert_eq!(immediate_dominators(&Triangle), [0, 0, 0]);
//! ```

/// A graph in which every node is reached from node 0. Nodes have the numbers in which a depth-first
/// search from there comes to them.
pub trait SearchedGraph {
    /// By node: the one that the search came from. Of node 0 it is 0.
    fn parents(&self) -> &[u32];

    /// The nodes that have an edge to `node`, in any order, some perhaps several times.
    fn predecessors(&self, node: u32) -> impl Iterator<Item = u32> + '_;
}

/// By node: its immediate dominator, which has a smaller number. Of node 0 it is 0.
pub fn immediate_dominators(graph: &impl SearchedGraph) -> Vec<u32> {
    let parents = graph.parents();
    let n = parents.len();
    let mut semi: Vec<u32> = (0..n as u32).collect();
    let mut forest = Forest { ancestor: parents.to_vec(), label: semi.clone(), path: Vec::new() };
    for node in (1..n as u32).rev() {
        let mut best = semi[node as usize];
        for pred in graph.predecessors(node) {
            best = best.min(forest.lowest(pred, node));
        }
        semi[node as usize] = best;
        forest.label[node as usize] = best;
    }
    let mut idom = parents.to_vec();
    for node in 1..n {
        let mut at = idom[node];
        while at > semi[node] {
            at = idom[at as usize];
        }
        idom[node] = at;
    }
    idom
}

/// Paths of the depth-first tree, compressed.
struct Forest {
    ancestor: Vec<u32>,
    /// The smallest semidominator on the path to `ancestor`, which is left out. Nodes that are
    /// not processed yet have themselves.
    label: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    /// The smallest semidominator on the way from `from` up through the nodes that are
    /// processed: those greater than `last`. A node that is not processed stands for itself.
    fn lowest(&mut self, from: u32, last: u32) -> u32 {
        if from <= last {
            return from;
        }
        let mut at = from;
        while self.ancestor[at as usize] > last {
            self.path.push(at);
            at = self.ancestor[at as usize];
        }
        // `at` is the topmost processed node; everything below is linked to its ancestor.
        let (top, mut label) = (self.ancestor[at as usize], self.label[at as usize]);
        while let Some(node) = self.path.pop() {
            label = label.min(self.label[node as usize]);
            self.label[node as usize] = label;
            self.ancestor[node as usize] = top;
        }
        label
    }
}

/// The places of the nodes of a tree in preorder.
///
/// A subtree is a range of places, so that "is one an ancestor of the other" is one comparison.
#[derive(Clone, Debug)]
pub struct Preorder {
    /// By node: its place. That of node 0 is 0.
    pub place: Vec<u32>,
    /// By node: how many nodes its subtree has, itself included.
    pub size: Vec<u32>,
}

impl Preorder {
    /// Numbers a tree given by parents that have smaller numbers than their children, as
    /// [`immediate_dominators`] gives them. Children keep their order. O(nodes).
    pub fn of(parents: &[u32]) -> Self {
        let n = parents.len();
        let mut size = vec![1u32; n];
        for node in (1..n).rev() {
            size[parents[node] as usize] += size[node];
        }
        // The place of a child follows that of its parent and of the subtrees of earlier children.
        let mut place = vec![0u32; n];
        let mut free = vec![1u32; n];
        for node in 1..n {
            let parent = parents[node] as usize;
            place[node] = free[parent];
            free[parent] += size[node];
            free[node] = place[node] + 1;
        }
        Self { place, size }
    }
}
