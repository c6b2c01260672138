//! A table with a row for each op.

use crate::op::Op;

/// A crate's knowledge of ops: one row per op, dense, found in O(1). Anyone may add a row for
/// anyone's op.
#[derive(Clone, Debug)]
pub struct OpTable<T> {
    rows: Vec<Vec<Option<T>>>,
}

impl<T> Default for OpTable<T> {
    fn default() -> Self {
        Self { rows: Vec::new() }
    }
}

impl<T> OpTable<T> {
    /// A table without rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the row of `op` and returns what was there.
    pub fn insert(&mut self, op: Op, row: T) -> Option<T> {
        let (dialect, index) = (usize::from(op.dialect()), usize::from(op.index()));
        if self.rows.len() <= dialect {
            self.rows.resize_with(dialect + 1, Vec::new);
        }
        let rows = &mut self.rows[dialect];
        if rows.len() <= index {
            rows.resize_with(index + 1, || None);
        }
        rows[index].replace(row)
    }

    /// Takes the row of `op` away.
    pub fn remove(&mut self, op: Op) -> Option<T> {
        let rows = self.rows.get_mut(usize::from(op.dialect()))?;
        rows.get_mut(usize::from(op.index()))?.take()
    }

    /// The row of `op`.
    #[inline]
    pub fn get(&self, op: Op) -> Option<&T> {
        self.rows.get(usize::from(op.dialect()))?.get(usize::from(op.index()))?.as_ref()
    }
}

const _: () = assert!(size_of::<Op>() == 2);
