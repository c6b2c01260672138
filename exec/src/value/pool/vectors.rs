//! Vectors of floats that are kept whole, with the room for their elements: most temporary arrays are such, and
//! serve again at once.

use super::list::{class_of, class_with};
use super::{is_active, settle, take_apart, with};
use crate::value::Array;
use crate::value::layout::Counted;
use crate::value::val::Storage;

/// Free vectors.
#[derive(Default)]
pub(super) struct Vectors {
    /// By the power of two that they have room for.
    classes: Vec<Vec<Counted<Array>>>,
    count: usize,
}

impl Vectors {
    /// One of a class.
    pub(super) fn take(&mut self, class: usize) -> Option<Counted<Array>> {
        let vector = self.classes.get_mut(class)?.pop()?;
        self.count -= 1;
        Some(vector)
    }

    /// One of any class.
    pub(super) fn take_any(&mut self) -> Option<Counted<Array>> {
        (0..self.classes.len()).find_map(|class| self.take(class))
    }

    fn keep(&mut self, vector: Counted<Array>) {
        let class = class_with(vector.storage().capacity());
        if self.classes.len() <= class {
            self.classes.resize_with(class + 1, Vec::new);
        }
        self.classes[class].push(vector);
        self.count += 1;
    }
}

/// Keeps an array whole, or takes it apart.
pub(super) fn keep(mut array: Counted<Array>) {
    let is_whole = Counted::get_mut(&mut array).is_some_and(|array| {
        let is_vector = matches!(array.storage(), Storage::F64(_)) && array.rank() == 1;
        is_vector && !array.is_lent && array.storage().capacity() > 0
    });
    if !is_whole {
        return take_apart(array);
    }
    array.charge.set(0);
    let rest = with(|lists| {
        // Boxes that were made for values which are out for good are no more needed.
        if lists.arrays.free() + lists.vectors.count >= lists.arrays.made() {
            return Some(array);
        }
        lists.vectors.keep(array);
        None
    });
    rest.flatten().into_iter().for_each(take_apart);
}

/// A vector with room for so many floats, and with floats in it that it had before.
pub(in crate::value) fn vector(count: usize) -> Option<Counted<Array>> {
    if count == 0 || !is_active() {
        return None;
    }
    settle();
    with(|lists| lists.vectors.take(class_of(count))).flatten()
}

#[cfg(test)]
mod tests {
    use regraft_ir::Type;

    use super::super::Pool;
    use crate::value::{Array, Val};

    fn floats(count: usize) -> Val {
        Val::floats(count, false).expect("it is small")
    }

    fn items(value: &Val) -> Vec<f64> {
        value.as_array().and_then(Array::to_vec).expect("it is an array of floats")
    }

    #[test]
    fn a_vector_serves_again_and_is_zero_then() {
        let mut pool = Pool::default();
        let first = pool.run(|| {
            let vector = floats(5);
            vector.as_array().expect("it is one").fill(&Val::F64(2.0)).expect("a float");
            vector.address()
        });
        pool.run(|| {
            let vector = floats(7);
            assert_eq!((vector.address(), items(&vector)), (first, vec![0.0; 7]));
        });
        pool.run(|| {
            // The box is the same, the room is not large enough.
            let vector = floats(9);
            assert_eq!((vector.address(), items(&vector)), (first, vec![0.0; 9]));
        });
    }

    #[test]
    fn the_parts_of_a_vector_serve_a_matrix() {
        let mut pool = Pool::default();
        let parts = |value: &Val| {
            let array = value.as_array().expect("it is one");
            (value.address(), array.buffer::<f64>().map(|floats| floats.0.items().as_ptr()))
        };
        let of_vector = pool.run(|| parts(&floats(6)));
        let of_matrix = pool.run(|| {
            let matrix = Val::from(Array::new(Type::F64, &[2, 4]).expect("it is small"));
            assert_eq!(items(&matrix), [0.0; 8]);
            parts(&matrix)
        });
        assert_eq!(of_vector, of_matrix);
    }
}
