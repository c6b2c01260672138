//! Nests that compute elements of an array from others of it, as recurrences, dynamic programs and eliminations do:
//!
//! ```text
//! for i in 1:n
//!     for j in 1:i-1
//!         a[j + 1, i] = tanh(a[j, i]) - a[i, j] * a[i, 2]
//!     a[i, i + 1] = a[i, i] / (2 + a[1, i]^2)
//! ```
//!
//! An index is a counter and up to 2 more, or a constant. Each loop goes up or down, or up with its test at the end, and over all, or
//! what is before or after the counter of the loop around it. Some statements stand before inner loops, and some after them.
//! Iterations make arrays of their own, which loops within them fill and read.

use regraft_dialects::{arith, math, mem};
use regraft_ir::{Constant, Operand, Type};

use super::body::{Body, Var};

/// The greatest constant index. Less than that is added to a counter.
const MAX_SHIFT: usize = 3;

/// An array that is computed.
#[derive(Clone, Copy)]
struct Array {
    operand: Operand,
    rank: usize,
    /// The most that may be added to a counter in an index, and 1.
    shifts: usize,
}

/// The arrays that are computed, and the counters of the loops that are open.
struct Nest {
    arrays: Vec<Array>,
    element: Type,
    length: Operand,
    counters: Vec<Operand>,
}

impl Body<'_, '_> {
    /// A nest of one to three loops over a vector or a matrix that begins with the elements of a vector.
    pub(super) fn recurrence(&mut self) {
        let x = self.numbers();
        let element = self.element_of(x.known);
        let x = self.exact(x);
        let length: Operand = self.push(mem::length(x)).into();
        let side = self.shifted(length, MAX_SHIFT as i64);
        let rank = 1 + usize::from(self.c().chance(60));
        let init = self.operand(element, false).operand;
        let array = self.push(mem::fill(init, vec![side; rank]));
        let (ty, array) = (self.f.ty(array), Operand::from(array));
        let first = self.open_loop(length, None, false);
        let computed = Array { operand: array, rank, shifts: MAX_SHIFT };
        let mut nest =
            Nest { arrays: vec![computed], element, length, counters: vec![first.index] };
        let given = self.push(mem::load(x, [first.index]));
        let place = self.place(&nest, computed);
        self.push(mem::store(array, given, place));
        self.close_loop(&first, None);
        nest.counters.clear();
        let depth = 1 + self.c().below(3);
        self.recurrent_loops(&mut nest, depth);
        let at: Vec<Operand> = (0..rank)
            .map(|_| {
                let shift = self.c().below(MAX_SHIFT) as i64 + 1;
                self.shifted(length, shift)
            })
            .collect();
        let operand = self.push(mem::load(array, at)).into();
        self.define(Var { operand, ty: element, known: element });
        self.define(Var { operand: array, ty, known: ty });
    }

    fn recurrent_loops(&mut self, nest: &mut Nest, depth: usize) {
        let around = nest.counters.last().copied().filter(|_| self.c().chance(60));
        let (count, start) = match around {
            Some(counter) if self.c().chance(50) => {
                (self.push(arith::sub(nest.length, counter)).into(), Some(counter))
            }
            Some(counter) => (self.shifted(counter, -1), None),
            None => (nest.length, None),
        };
        let open = match self.c().below(5) {
            0 | 1 => self.open_loop(count, None, true),
            2 => self.open_late_loop(count),
            _ => self.open_loop(count, None, false),
        };
        let counter = match start {
            Some(start) => self.push(arith::add(open.index, start)).into(),
            None => open.index,
        };
        nest.counters.push(counter);
        let (is_innermost, known) = (depth == 1, nest.arrays.len());
        if !is_innermost && self.c().chance(40) {
            self.array_of_iteration(nest);
        }
        if is_innermost || self.c().chance(30) {
            self.recurrent_statement(nest);
        }
        if !is_innermost {
            self.recurrent_loops(nest, depth - 1);
            if nest.arrays.len() > known && self.c().chance(60) {
                self.recurrent_loops(nest, depth - 1);
            }
        }
        if self.c().chance(40) {
            self.recurrent_statement(nest);
        }
        nest.arrays.truncate(known);
        nest.counters.pop();
        self.close_loop(&open, None);
    }

    /// Makes a vector of zeros, or of one number, as long as loops go or longer.
    fn array_of_iteration(&mut self, nest: &mut Nest) {
        let shifts = if self.c().chance(60) { 1 } else { MAX_SHIFT };
        let side = match shifts {
            1 => nest.length,
            more => self.shifted(nest.length, more as i64),
        };
        let array = match self.c().chance(60) {
            true => self.push(mem::alloc([side], self.f.ctx().array_type(nest.element, 1))),
            false => {
                let init = self.operand(nest.element, false).operand;
                self.push(mem::fill(init, [side]))
            }
        };
        nest.arrays.push(Array { operand: array.into(), rank: 1, shifts });
    }

    /// `a[..] = f(b[..], c[..])`.
    fn recurrent_statement(&mut self, nest: &Nest) {
        let Nest { element, .. } = *nest;
        let [to, from, by] = [(); 3].map(|()| self.c().pick(&nest.arrays));
        let place = self.place(nest, to);
        let other = self.place(nest, by);
        let is_same = self.c().chance(40) && to.rank == from.rank && to.shifts == from.shifts;
        let at = if is_same { place.clone() } else { self.place(nest, from) };
        let p: Operand = self.push(mem::load(from.operand, at)).into();
        let q: Operand = self.push(mem::load(by.operand, other)).into();
        let value = match self.c().below(5) {
            0 | 1 if element.is_float() => {
                let bounded = self.push(math::tanh(p));
                self.push(arith::mul(bounded, q))
            }
            2 if element.is_float() => {
                let two = self.constant(Constant::float(element, 2.0).unwrap_or(Constant::Unit));
                let square = self.push(arith::mul(q, q));
                let divisor = self.push(arith::add(two, square));
                self.push(arith::fdiv(p, divisor))
            }
            3 if element.is_float() => {
                let bounded = self.push(math::tanh(q));
                self.push(arith::sub(p, bounded))
            }
            _ => {
                let product = self.push(arith::mul(p, q));
                self.push(arith::sub(p, product))
            }
        };
        self.push(mem::store(to.operand, value, place));
    }

    /// Indices of an element: counters that are at most the length, or constants, and a little more.
    fn place(&mut self, nest: &Nest, array: Array) -> Vec<Operand> {
        (0..array.rank)
            .map(|_| {
                let shift = self.c().below(array.shifts) as i64;
                match self.c().chance(85) {
                    true => {
                        let counter = self.c().pick(&nest.counters);
                        self.shifted(counter, shift)
                    }
                    false => self.int(shift + 1),
                }
            })
            .collect()
    }
}
