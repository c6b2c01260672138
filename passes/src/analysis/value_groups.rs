//! Groups of values that may be the same, by union-find.

use regraft_ir::Value;
use rustc_hash::FxHashMap;

/// Groups of values. A value that was never united with another is a group of its own.
#[derive(Clone, Default, Debug)]
pub(crate) struct ValueGroups(FxHashMap<Value, Value>);

impl ValueGroups {
    /// The value that stands for the group of one: the least of it.
    pub(crate) fn of(&self, mut v: Value) -> Value {
        while let Some(&parent) = self.0.get(&v) {
            v = parent;
        }
        v
    }

    /// Makes one group of those of two values. O(log) amortised.
    pub(crate) fn unite(&mut self, a: Value, b: Value) {
        let (a, b) = (self.shortened(a), self.shortened(b));
        if a != b {
            self.0.insert(a.max(b), a.min(b));
        }
    }

    /// The same as [`Self::of`], after which what was on the way is next to it.
    fn shortened(&mut self, v: Value) -> Value {
        let root = self.of(v);
        let mut at = v;
        while at != root {
            at = self.0.insert(at, root).unwrap_or(root);
        }
        root
    }
}
