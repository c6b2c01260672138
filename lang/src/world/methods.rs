//! The methods of a world, by their ids.
//!
//! Ids are never reused, but a method that another one took the place of leaves nothing behind: a program may
//! define a function anew any number of times.

use std::ops::{Index, IndexMut};

use super::entities::MethodId;

/// All methods that there are.
#[derive(Debug)]
pub(super) struct Methods<M>(Vec<Option<Box<M>>>);

impl<M> Default for Methods<M> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<M> Methods<M> {
    /// The number of methods that there ever were.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    pub(super) fn push(&mut self, method: M) -> MethodId {
        self.0.push(Some(Box::new(method)));
        MethodId(self.0.len() as u32 - 1)
    }

    /// The method of that id, unless another one took its place.
    pub(super) fn get(&self, id: MethodId) -> Option<&M> {
        self.0.get(id.0 as usize)?.as_deref()
    }

    pub(super) fn get_mut(&mut self, id: MethodId) -> Option<&mut M> {
        self.0.get_mut(id.0 as usize)?.as_deref_mut()
    }

    /// The methods from the `count`th on.
    pub(super) fn since(&mut self, count: usize) -> impl Iterator<Item = &mut M> {
        self.0.iter_mut().skip(count).filter_map(Option::as_deref_mut)
    }

    /// Forgets a method that another one takes the place of.
    pub(super) fn remove(&mut self, id: MethodId) {
        if let Some(method) = self.0.get_mut(id.0 as usize) {
            *method = None;
        }
    }
}

impl<M> Index<MethodId> for Methods<M> {
    type Output = M;

    /// # Panics
    /// If another method took the place of that one: its table does not name it any more.
    fn index(&self, id: MethodId) -> &M {
        self.get(id).expect("a table names methods that are there")
    }
}

impl<M> IndexMut<MethodId> for Methods<M> {
    fn index_mut(&mut self, id: MethodId) -> &mut M {
        self.get_mut(id).expect("a table names methods that are there")
    }
}
