//! Loops that hand a small array on from one iteration to the next:
//!
//! ```text
//! s = [1.0, 0.5]
//! for i in 1:n
//!     s = [tanh(s[2]) * x, s[1] - s[length(s)]]
//! ```
//!
//! Some iterations make a new array, some write to the one that they were given, and some to the first one by its own name.

use regraft_dialects::{arith, core, math, mem};
use regraft_ir::{Operand, Type, Value};

use super::body::{Body, Var};

/// The most elements along a dimension.
const MAX_SIZE: usize = 3;

/// An array of a few elements.
struct State {
    dims: Vec<usize>,
    element: Type,
}

impl Body<'_, '_> {
    /// A loop that carries a small array.
    pub(super) fn state_loop(&mut self) {
        let x = self.numbers();
        let element = self.element_of(x.known);
        let x = self.exact(x);
        let rank = 1 + usize::from(self.c().chance(40));
        let dims = (0..rank).map(|_| 1 + self.c().below(MAX_SIZE)).collect();
        let state = State { dims, element };
        let first = self.new_state(&state);
        let n = match self.c().chance(60) {
            true => self.push(mem::length(x)).into(),
            false => self.int(3),
        };
        let down = self.c().chance(20);
        let open = self.open_loop(n, Some(first), down);
        let carried = open.carried.unwrap_or(first);
        let next = match self.c().below(8) {
            0 => {
                self.set_state_element(&state, carried, carried);
                carried
            }
            1 => {
                self.set_state_element(&state, first, carried);
                self.next_state(&state, carried)
            }
            2 => {
                let new = self.next_state(&state, carried);
                let step = self.push(arith::le(open.index, self.int(2)));
                self.push(core::select(step, new, carried)).into()
            }
            3 => first,
            _ => self.next_state(&state, carried),
        };
        self.close_loop(&open, Some(next));
        let operand = self.state_element(&state, carried);
        self.define(Var { operand, ty: element, known: element });
        if self.c().chance(30) {
            let ty = self.f.operand_type(carried);
            self.define(Var { operand: carried, ty, known: ty });
        }
    }

    /// A new array of numbers that are at hand.
    fn new_state(&mut self, state: &State) -> Operand {
        let array = self.blank_state(state);
        for _ in 0..1 + self.c().below(2) {
            let (at, value) = (self.state_index(state, array), self.operand(state.element, false));
            self.push(mem::store(array, value.operand, at));
        }
        array
    }

    /// A new array of what is made of the elements of another one.
    fn next_state(&mut self, state: &State, before: Operand) -> Operand {
        let array = self.blank_state(state);
        for _ in 0..1 + self.c().below(3) {
            self.set_state_element(state, array, before);
        }
        array
    }

    /// `to[..] = f(from[..], from[..])`.
    fn set_state_element(&mut self, state: &State, to: Operand, from: Operand) {
        let [p, q] = [(); 2].map(|()| self.state_element(state, from));
        let value: Value = match self.c().below(4) {
            0 if state.element.is_float() => {
                let bounded = self.push(math::tanh(p));
                self.push(arith::mul(bounded, q))
            }
            1 => {
                let other = self.operand(state.element, false).operand;
                self.push(arith::add(p, other))
            }
            2 => self.push(arith::sub(q, p)),
            _ => self.push(arith::mul(p, q)),
        };
        let at = self.state_index(state, to);
        self.push(mem::store(to, value, at));
    }

    fn blank_state(&mut self, state: &State) -> Operand {
        let sizes: Vec<Operand> = state.dims.iter().map(|&size| self.int(size as i64)).collect();
        let ty = self.f.ctx().array_type(state.element, state.dims.len() as u8);
        if self.c().chance(30) {
            let init = self.operand(state.element, false).operand;
            return self.push(mem::fill(init, sizes)).into();
        }
        self.push(mem::alloc(sizes, ty)).into()
    }

    fn state_element(&mut self, state: &State, array: Operand) -> Operand {
        let at = self.state_index(state, array);
        self.push(mem::load(array, at)).into()
    }

    /// Constant indices of an element, one for each dimension or one of all elements; or the last one, of which the array is asked.
    fn state_index(&mut self, state: &State, array: Operand) -> Vec<Operand> {
        let count: usize = state.dims.iter().product();
        match self.c().below(6) {
            0 => vec![self.push(mem::length(array)).into()],
            1 => {
                let at = self.c().below(count) as i64 + 1;
                vec![self.int(at)]
            }
            _ => state
                .dims
                .iter()
                .map(|&size| {
                    let at = self.c().below(size) as i64 + 1;
                    self.int(at)
                })
                .collect(),
        }
    }
}
