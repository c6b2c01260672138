//! Sets of values that may share objects, and whether they have derivatives.

use rustc_hash::FxHashMap;

/// Disjoint sets of nodes, of which some are active. All operations take O(log n) amortised, but
/// for those that list what became active, which they do once for each node.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    parent: Vec<u32>,
    size: Vec<u32>,
    /// The nodes of a set in a circle.
    next: Vec<u32>,
    active: Vec<bool>,
}

impl Classes {
    /// Each of so many nodes by itself, none active.
    pub(super) fn new(count: usize) -> Self {
        let own: Vec<u32> = (0..count as u32).collect();
        Self { parent: own.clone(), size: vec![1; count], next: own, active: vec![false; count] }
    }

    pub(super) fn root(&mut self, node: usize) -> usize {
        let mut node = node;
        while self.parent[node] as usize != node {
            let above = self.parent[node] as usize;
            self.parent[node] = self.parent[above];
            node = above;
        }
        node
    }

    pub(super) fn is_active(&mut self, node: usize) -> bool {
        let root = self.root(node);
        self.active[root]
    }

    /// Makes the set of a node active, and appends what became so to `news`.
    pub(super) fn activate(&mut self, node: usize, news: &mut Vec<usize>) {
        let root = self.root(node);
        if std::mem::replace(&mut self.active[root], true) {
            return;
        }
        let mut at = root;
        loop {
            news.push(at);
            at = self.next[at] as usize;
            if at == root {
                return;
            }
        }
    }

    /// Makes the sets of two nodes one, which is active if one of them is. Returns whether they
    /// were two.
    pub(super) fn unite(&mut self, a: usize, b: usize, news: &mut Vec<usize>) -> bool {
        let (mut a, mut b) = (self.root(a), self.root(b));
        if a == b {
            return false;
        }
        match (self.active[a], self.active[b]) {
            (true, false) => self.activate(b, news),
            (false, true) => self.activate(a, news),
            _ => {}
        }
        if self.size[a] < self.size[b] {
            std::mem::swap(&mut a, &mut b);
        }
        self.parent[b] = a as u32;
        self.size[a] += self.size[b];
        self.next.swap(a, b);
        true
    }

    /// Numbers the sets that these nodes are in, in the order in which they occur.
    pub(super) fn partition(&mut self, nodes: &[usize]) -> Vec<u32> {
        let mut numbers: FxHashMap<usize, u32> = FxHashMap::default();
        nodes
            .iter()
            .map(|&node| {
                let (root, fresh) = (self.root(node), numbers.len() as u32);
                *numbers.entry(root).or_insert(fresh)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_joins_an_active_set_becomes_active_once() {
        let mut classes = Classes::new(5);
        let mut news = Vec::new();
        assert!(classes.unite(0, 1, &mut news));
        assert!(classes.unite(2, 3, &mut news));
        assert!(news.is_empty());
        classes.activate(3, &mut news);
        news.sort_unstable();
        assert_eq!(news, [2, 3]);
        news.clear();
        assert!(classes.unite(1, 2, &mut news));
        assert!(!classes.unite(0, 3, &mut news));
        news.sort_unstable();
        assert_eq!(news, [0, 1]);
        assert!(classes.is_active(0) && !classes.is_active(4));
        assert_eq!(classes.partition(&[4, 0, 3]), [0, 1, 1]);
    }
}
