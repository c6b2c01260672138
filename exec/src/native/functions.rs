//! The functions of the runtime that compiled code calls, by their addresses.
//!
//! A status is 0, or 1 after an error, which the runtime keeps.

use super::emitter::Function;
use super::{hash_tables, math, whole_arrays};

/// The functions. `cx` is the context of the run, `code` the compact code, `pc` the position in it,
/// `scalars` and `vals` the window of the frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runtime {
    /// `(cx, code, scalars, vals)`: makes room for a frame of the code, or the error of too deep a recursion, and looks at what
    /// there is of better code if it is asked to. Gives a status.
    pub(crate) begin: Function,
    /// `(cx, code, pc, scalars, vals)`: runs an instruction. Gives a status.
    pub(crate) step: Function,
    /// The same, for one that is known to fail.
    pub(crate) fail: Function,
    /// `(cx, code, pc, scalars, vals)`: makes the result of a function, a tuple. Gives a status.
    pub(crate) return_tuple: Function,
    /// `(cx, code, pc, vals)`: notes the place of an error, and empties the registers of values.
    pub(crate) unwind: Function,
    /// `(cx)`: gives new fuel, if there is any, and nobody asked for a stop. Gives a status.
    pub(crate) refuel: Function,
    /// `(cx, code, header, scalars, vals)`: the same where a loop goes back, with its live scalars in the frame, and it
    /// may be the end: [`DONE`] if better code has run the function to its end, [`LEFT`] if that has ended
    /// with an error.
    pub(crate) look_up: Function,
    /// `(table, value)`: the target of a switch on a value.
    pub(crate) find_case: Function,
    /// `(value)`: lets go of the object that the value points to, the last pointer to it.
    pub(crate) drop_last: Function,
    /// `(vals, count)`: empties registers.
    pub(crate) clear: Function,
    /// `(cx, place, element, rows, undef)`: puts a new vector of scalars of that number in a register. Gives 1; or 0, and nothing
    /// happens, if the instruction is to be run as others are.
    pub(crate) new_vector: Function,
    /// `(cx, place, element, rows, columns, undef)`: the same for a matrix.
    pub(crate) new_matrix: Function,
    /// `(cx, code, pc, place, rows, columns)`: the same for the array of values that the instruction makes, whose elements are not
    /// defined.
    pub(crate) new_values: Function,
    /// `(cx, code, pc, place, value, rows)`: the same for a vector of a value in a register.
    pub(crate) new_filled: Function,
    /// `(cx, place, array)`: the same for a copy of the array in a register.
    pub(crate) new_copy: Function,
    /// `(cx, array, value)`: the same for appending a value that fits to an array, both in registers.
    pub(crate) push: Function,
    /// `(cx, code, pc)`: the pointer to a new value of others, which are to be set; or null, and nothing happens, if the
    /// instruction is to be run as others are.
    pub(crate) new_compound: Function,
    /// `(cx, code, pc, value)`: 1 if a value is of the type that the instruction tests, else 0.
    pub(crate) is_a: Function,
    /// `(object, value)`: notes that the object in a register refers to the value in another one from now on.
    pub(crate) note_change: Function,
}

/// A status: the function has returned, and its result stands in the context or in the first register of values.
pub(crate) const DONE: i64 = 2;
/// A status: the function has ended with an error, which is noted.
pub(crate) const LEFT: i64 = 3;

/// All functions that code may call, in an order that never changes within a version.
pub(super) fn all_functions(runtime: &Runtime) -> impl Iterator<Item = Function> {
    let &Runtime { begin, step, fail, return_tuple, unwind, refuel, .. } = runtime;
    let &Runtime { look_up, find_case, drop_last, clear, note_change, is_a, .. } = runtime;
    let &Runtime { new_vector, new_matrix, new_copy, push, new_compound, .. } = runtime;
    let &Runtime { new_values, new_filled, .. } = runtime;
    let of_errors = [begin, step, fail, return_tuple, unwind, refuel, look_up];
    let of_values = [find_case, drop_last, clear, note_change, is_a, new_compound];
    let of_arrays = [new_vector, new_matrix, new_copy, push, new_values, new_filled];
    let on_arrays = [whole_arrays::fill(), whole_arrays::product()];
    let of_objects =
        of_values.into_iter().chain(of_arrays).chain(on_arrays).chain(hash_tables::all());
    of_errors.into_iter().chain(of_objects).chain(math::all())
}
