//! The names of the values of a function.
//!
//! Most functions have few: they stand in a list, and to look through it takes less time than to hash.
//! A longer list gets tables beside it, by which each look-up is O(1).

use rustc_hash::FxHashMap;

use crate::{Symbol, Value};

/// The most names that are looked for one by one.
const FEW: usize = 16;

/// Values and names, one for one.
#[derive(Clone, Debug, Default)]
pub(super) struct NameTable {
    /// All of them, if they are few; otherwise nothing.
    few: Vec<(Value, Symbol)>,
    many: Option<Box<Many>>,
}

#[derive(Clone, Debug, Default)]
struct Many {
    of: FxHashMap<Value, Symbol>,
    values: FxHashMap<Symbol, Value>,
}

impl NameTable {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        match &self.many {
            None => self.few.is_empty(),
            Some(many) => many.of.is_empty(),
        }
    }

    /// The name of a value.
    #[inline]
    pub(super) fn of(&self, v: Value) -> Option<Symbol> {
        match &self.many {
            None => self.few.iter().find(|(other, _)| *other == v).map(|&(_, name)| name),
            Some(many) => many.of.get(&v).copied(),
        }
    }

    /// The value with a name.
    #[inline]
    pub(super) fn value(&self, name: Symbol) -> Option<Value> {
        match &self.many {
            None => self.few.iter().find(|(_, other)| *other == name).map(|&(v, _)| v),
            Some(many) => many.values.get(&name).copied(),
        }
    }

    /// Names a value that has no name; no other value has this one.
    pub(super) fn insert(&mut self, v: Value, name: Symbol) {
        if self.many.is_none() && self.few.len() < FEW {
            self.few.push((v, name));
            return;
        }
        let few = &mut self.few;
        let many = self.many.get_or_insert_with(|| {
            let mut many = Box::<Many>::default();
            for (v, name) in std::mem::take(few) {
                many.of.insert(v, name);
                many.values.insert(name, v);
            }
            many
        });
        many.of.insert(v, name);
        many.values.insert(name, v);
    }

    /// Takes the name of a value away; returns it.
    pub(super) fn remove(&mut self, v: Value) -> Option<Symbol> {
        if let Some(many) = &mut self.many {
            let name = many.of.remove(&v)?;
            many.values.remove(&name);
            return Some(name);
        }
        let at = self.few.iter().position(|(other, _)| *other == v)?;
        Some(self.few.swap_remove(at).1)
    }

    /// All of them, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Value, Symbol)> {
        let many = self.many.iter().flat_map(|many| &many.of).map(|(&v, &name)| (v, name));
        self.few.iter().copied().chain(many)
    }

    /// The memory that it takes beside itself, in bytes.
    pub(super) fn memory(&self) -> usize {
        let many = self.many.as_ref().map_or(0, |many| 2 * many.of.capacity());
        (self.few.capacity() + many) * size_of::<(Value, Symbol)>()
    }
}
