//! Nests over all elements of matrices, column by column:
//!
//! ```text
//! for j in 1:size(a, 2), i in 1:size(a, 1)
//!     s = tanh(s) - a[i, j]
//!     b[i, j] = s
//! ```
//!
//! Both loops go up or down, over one matrix or two. Some nests are no such thing, by a little: one loop goes the other way,
//! leaves out a row or a column, or a counter or what a column begins with is used otherwise.

use regraft_dialects::{arith, math, mem};
use regraft_ir::{Inst, Operand, Type, TypeKind};

use super::body::{Body, Var};

impl Body<'_, '_> {
    /// A nest over one matrix, or two that may be one.
    pub(super) fn matrix_nest(&mut self) {
        let ctx = self.ctx();
        let is_matrix = |ty| match ctx.kind(ty) {
            TypeKind::Array { element, rank: 2 } => element.is_number(),
            _ => false,
        };
        let there = if self.c().chance(60) { self.object(is_matrix) } else { None };
        let a = there.unwrap_or_else(|| self.matrix_of_any_size());
        let (matrix, element) = (a.known, self.element_of(a.known));
        let a = self.exact(a);
        let mut sizes = self.sizes(a);
        let init = self.operand(element, false).operand;
        let b = match self.c().below(4) {
            0 => a,
            1 => {
                let b = self.object(|ty| ty == matrix).map(|b| self.exact(b)).unwrap_or(a);
                let others = self.sizes(b);
                for (size, other) in sizes.iter_mut().zip(others) {
                    *size = self.push(arith::min(*size, other)).into();
                }
                b
            }
            _ => self.push(mem::fill(init, sizes)).into(),
        };
        let [rows, columns] = sizes;
        let [less_rows, less_columns] = [8, 15].map(|percent| i64::from(self.c().chance(percent)));
        let rows = self.shifted(rows, -less_rows);
        let columns = self.shifted(columns, -less_columns);
        let down = self.c().chance(50);
        let carried = self.c().chance(70).then_some(init);
        let outer = self.open_loop(columns, carried, down);
        let other_way = self.c().chance(8);
        let inner = self.open_loop(rows, outer.carried, down != other_way);
        let column = self.shifted(outer.index, less_columns);
        let mut values = vec![init];
        values.extend(inner.carried);
        if self.c().chance(8) {
            values.extend(outer.carried);
        }
        if element.is_float() && self.c().chance(8) {
            let index = self.c().pick(&[inner.index, outer.index]);
            values.push(self.push(arith::int_to_float(index, element)).into());
        }
        let promised = self.c().chance(80);
        let first = self.at_element(mem::load(a, [inner.index, column]), promised);
        values.push(first);
        for _ in 0..1 + self.c().below(4) {
            let array = self.c().pick(&[a, b]);
            let value = self.c().pick(&values);
            let new = match self.c().below(6) {
                0 => self.at_element(mem::load(array, [inner.index, column]), promised),
                1 | 2 => {
                    self.at_element(mem::store(array, value, [inner.index, column]), promised);
                    continue;
                }
                3 if element.is_float() => self.push(math::tanh(value)).into(),
                _ => {
                    let op = self.number_op();
                    let last = values.last().copied().unwrap_or(value);
                    self.two(op, last, value)
                }
            };
            values.push(new);
        }
        self.close_loop(&inner, carried.and(values.last().copied()));
        self.close_loop(&outer, inner.carried);
        if let Some(operand) = outer.carried {
            self.define(Var { operand, ty: element, known: element });
        }
        self.define(Var { operand: b, ty: matrix, known: matrix });
    }

    /// A new matrix, the sizes of which depend on numbers.
    fn matrix_of_any_size(&mut self) -> Var {
        let init = self.operand(Type::F64, false).operand;
        let sizes = [(); 2].map(|()| {
            let size = self.operand(Type::I64, false).operand;
            self.push(arith::and(size, self.int(3)))
        });
        let made = self.push(mem::fill(init, sizes));
        let ty = self.f.ty(made);
        Var { operand: made.into(), ty, known: ty }
    }

    /// The numbers of rows and columns.
    fn sizes(&mut self, matrix: Operand) -> [Operand; 2] {
        [1, 2].map(|dim| self.push(mem::size(matrix, self.int(dim))).into())
    }

    /// An access that is in bounds, and is said to be if `promised`.
    fn at_element(&mut self, inst: Inst, promised: bool) -> Operand {
        if promised { self.promised(inst) } else { self.push(inst) }.into()
    }
}
