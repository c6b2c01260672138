//! Loops over arrays as numeric programs have them: sums, maps, stencils, recurrences, over one
//! array or two which may be the same, alone or one loop after the other; and nests over
//! matrices.
//!
//! Their accesses are in bounds but for what `risk` allows, and are then sometimes said to be.

use regraft_dialects::{arith, cf, core, mem};
use regraft_ir::{Constant, Inst, Op, Operand, Type, TypeKind, Value};

use super::body::{Body, Slot, Var};

/// The arrays that the loops of a kernel work on.
struct Arrays {
    element: Type,
    x: Operand,
    y: Operand,
    /// The indices that are in bounds of both are 1 to this; `None` where the length of `x` is
    /// asked for in each round.
    length: Option<Operand>,
}

/// The way in which a loop passes its accumulator from round to round.
#[derive(Clone, Copy)]
enum Carried {
    Parameter,
    Tuple,
    Ref,
    /// In the first element of the array: a store to be sunk.
    Element,
}

impl Body<'_, '_> {
    /// One loop over arrays, or two after each other.
    pub(super) fn kernel(&mut self) {
        let x = self.numbers();
        let y = if self.c().chance(60) { self.object(|ty| ty == x.known).unwrap_or(x) } else { x };
        let element = self.element_of(x.known);
        let (x, y) = (self.exact(x), self.exact(y));
        let every_round = x == y && self.c().chance(40);
        let length = if every_round {
            None
        } else {
            let length = self.push(mem::length(x));
            Some(if x == y {
                length.into()
            } else {
                let other = self.push(mem::length(y));
                self.push(arith::min(length, other)).into()
            })
        };
        let arrays = Arrays { element, x, y, length };
        for _ in 0..1 + self.c().below(2) {
            let start = self.c().open();
            match self.c().below(3) {
                0 => self.fold_loop(&arrays),
                _ => self.store_loop(&arrays),
            }
            self.c().close(start);
        }
    }

    /// A vector of numbers.
    pub(super) fn numbers(&mut self) -> Var {
        let ctx = self.ctx();
        let fits = |ty| match ctx.kind(ty) {
            TypeKind::Array { element, rank: 1 } => element.is_number(),
            _ => false,
        };
        match self.object(fits) {
            Some(var) => var,
            None => {
                let element = self.c().pick(&[Type::F64, Type::I64]);
                self.fresh(ctx.array_type(element, 1))
            }
        }
    }

    pub(super) fn element_of(&self, ty: Type) -> Type {
        super::types::array_element(self.shared.ctx.kind(ty)).unwrap_or(Type::F64)
    }

    /// `acc = acc op x[i] (op y[i])`.
    fn fold_loop(&mut self, arrays: &Arrays) {
        let element = arrays.element;
        let carried = self.c().pick(&[
            Carried::Parameter,
            Carried::Parameter,
            Carried::Ref,
            Carried::Tuple,
            Carried::Element,
        ]);
        let zero = self.operand(element, false).operand;
        let (init, ty) = match carried {
            Carried::Parameter => (zero, element),
            Carried::Tuple => {
                let pair = self.push(core::tuple([zero, self.int(0)]));
                (pair.into(), self.f.ty(pair))
            }
            Carried::Ref => {
                let cell = self.push(mem::ref_new(zero));
                (cell.into(), self.f.ty(cell))
            }
            Carried::Element => (arrays.y, self.f.operand_type(arrays.y)),
        };
        let slot = Slot { ty, known: ty };
        let (op, other) = (self.number_op(), self.number_op());
        let two = self.c().chance(50);
        let state = self.array_loop(arrays, (1, 0, 1), Some((slot, init)), |body, i, state| {
            let mut value: Operand = body.read(arrays, arrays.x, i);
            if two {
                let second = body.read(arrays, arrays.y, i);
                value = body.two(other, value, second);
            }
            match carried {
                Carried::Parameter => body.two(op, state, value),
                Carried::Tuple => {
                    let acc = body.push(core::get(state, body.int(1)));
                    let count = body.push(core::get(state, body.int(2)));
                    let acc = body.two(op, acc.into(), value);
                    let count = body.push(arith::add(count, body.int(1)));
                    body.push(core::tuple([acc, count.into()])).into()
                }
                Carried::Ref => {
                    let acc = body.push(mem::ref_get(state));
                    let acc = body.two(op, acc.into(), value);
                    body.push(mem::ref_set(state, acc));
                    state
                }
                Carried::Element => {
                    let acc = body.push(mem::load(state, [body.int(1)]));
                    let acc = body.two(op, acc.into(), value);
                    body.push(mem::store(state, acc, [body.int(1)]));
                    state
                }
            }
        });
        let Some(state) = state else { return };
        let result = match carried {
            Carried::Parameter => state,
            Carried::Tuple => self.push(core::get(state, self.int(1))),
            Carried::Ref => self.push(mem::ref_get(state)),
            Carried::Element => return,
        };
        self.define(Var { operand: result.into(), ty: element, known: element });
    }

    /// `y[..i..] = x[..i..] op ...`: elementwise, shifted, against the direction, in strides.
    fn store_loop(&mut self, arrays: &Arrays) {
        let (op, other) = (self.number_op(), self.number_op());
        let kind = self.c().below(7);
        let range = match kind {
            2 => (2, -1, 1),
            3 => (2, 0, 1),
            4 => (1, 0, 2),
            _ => (1, 0, 1),
        };
        let invariant = self.operand(arrays.element, false).operand;
        self.array_loop(arrays, range, None, |body, i, state| {
            let x = body.read(arrays, arrays.x, i);
            let (value, at) = match kind {
                2 => {
                    // A stencil.
                    let before = body.shifted(i, -1);
                    let after = body.shifted(i, 1);
                    let (a, b) =
                        (body.read(arrays, arrays.x, before), body.read(arrays, arrays.x, after));
                    (body.two(op, a, b), i)
                }
                3 => {
                    // A recurrence.
                    let before = body.shifted(i, -1);
                    let y = body.read(arrays, arrays.y, before);
                    (body.two(op, x, y), i)
                }
                5 => {
                    // Against the direction.
                    let length = match arrays.length {
                        Some(length) => length,
                        None => body.push(mem::length(arrays.x)).into(),
                    };
                    let mirrored = body.push(arith::sub(length, i));
                    let mirrored = body.shifted(mirrored.into(), 1);
                    (x, mirrored)
                }
                6 => {
                    // With what does not depend on the round.
                    let value = body.two(other, invariant, invariant);
                    (body.two(op, x, value), i)
                }
                _ => {
                    let y = body.read(arrays, arrays.y, i);
                    (body.two(op, x, y), i)
                }
            };
            let inst = mem::store(arrays.y, value, [at]);
            body.access(arrays, inst);
            state
        });
    }

    /// `for i in first:step:length + margin`, with a value carried around, which is the result.
    fn array_loop(
        &mut self,
        arrays: &Arrays,
        (first, margin, step): (i64, i64, i64),
        carried: Option<(Slot, Operand)>,
        round: impl FnOnce(&mut Self, Operand, Operand) -> Operand,
    ) -> Option<Value> {
        let mut slots = vec![Slot { ty: Type::I64, known: Type::I64 }];
        let mut args = vec![self.int(first)];
        if let Some((slot, init)) = carried {
            slots.push(slot);
            args.push(init);
        }
        let no_args = [] as [Operand; 0];
        let (header, inside, exit) = (self.block(&slots), self.block(&[]), self.block(&[]));
        let rotated = arrays.length.is_some() && self.c().chance(30);
        let bound = |body: &mut Self| -> Operand {
            let length = match arrays.length {
                Some(length) => length,
                None => body.push(mem::length(arrays.x)).into(),
            };
            body.shifted(length, margin)
        };
        let mut limit = None;
        if rotated {
            let last = bound(self);
            limit = Some(last);
            let more = self.push(arith::le(args[0], last));
            self.end(cf::br_if(more, header, args, exit, no_args));
        } else {
            self.end(cf::br(header, args));
        }
        let trips = self.trips;
        self.trips *= 4;
        self.at = header;
        let i = Operand::from(self.f.param(header, 0)?);
        let state = self.f.param(header, 1);
        match limit {
            None => {
                let last = bound(self);
                let more = self.push(arith::le(i, last));
                self.end(cf::br_if(more, inside, no_args, exit, no_args));
            }
            Some(_) => self.end(cf::br(inside, no_args)),
        }
        self.at = inside;
        let next_state = round(self, i, state.map_or(i, Operand::from));
        let next = self.push(arith::add(i, self.int(step)));
        let mut args = vec![Operand::from(next)];
        args.extend(state.map(|_| next_state));
        match limit {
            None => self.end(cf::br(header, args)),
            Some(last) => {
                let more = self.push(arith::le(next, last));
                self.end(cf::br_if(more, header, args, exit, no_args));
            }
        }
        (self.at, self.trips) = (exit, trips);
        // After a rotated loop that may not have been entered, there is no state.
        state.filter(|_| limit.is_none())
    }

    /// `for j in 1:size(a, 2), i in 1:size(a, 1)`, or the other way round.
    pub(super) fn grid(&mut self) {
        let ctx = self.ctx();
        let fits = |ty| match ctx.kind(ty) {
            TypeKind::Array { element, rank: 2 } => element.is_number(),
            _ => false,
        };
        let a = match self.object(fits) {
            Some(var) => var,
            None => self.fresh(ctx.array_type(Type::F64, 2)),
        };
        let element = self.element_of(a.known);
        let a = self.exact(a);
        let by_rows = self.c().chance(50);
        let (outer_dim, inner_dim) = if by_rows { (1, 2) } else { (2, 1) };
        let early = self.c().chance(60);
        let (op, kind) = (self.number_op(), self.c().below(4));
        let init = self.operand(element, false).operand;
        let mut inner_size = None;
        let outer_size = self.push(mem::size(a, self.int(outer_dim)));
        if early {
            inner_size = Some(self.push(mem::size(a, self.int(inner_dim))));
        }
        let counter = Slot { ty: Type::I64, known: Type::I64 };
        let slots = [counter, Slot { ty: element, known: element }];
        let no_args = [] as [Operand; 0];
        let (outer, outer_body) = (self.block(&slots), self.block(&[]));
        let (inner, inner_body) = (self.block(&slots), self.block(&[]));
        let (latch, exit) = (self.block(&[]), self.block(&[]));
        let one = self.int(1);
        self.end(cf::br(outer, [one, init]));
        let trips = self.trips;
        self.trips *= 4;
        self.at = outer;
        let (j, sum) = (self.f.param(outer, 0), self.f.param(outer, 1));
        let (Some(j), Some(sum)) = (j, sum) else { return };
        let more = self.push(arith::le(j, outer_size));
        self.end(cf::br_if(more, outer_body, no_args, exit, no_args));
        self.at = outer_body;
        let inner_size = match inner_size {
            Some(size) => size,
            None => self.push(mem::size(a, self.int(inner_dim))),
        };
        self.end(cf::br(inner, [one, sum.into()]));
        self.at = inner;
        self.trips *= 2;
        let (i, acc) = (self.f.param(inner, 0), self.f.param(inner, 1));
        let (Some(i), Some(acc)) = (i, acc) else { return };
        let more = self.push(arith::le(i, inner_size));
        self.end(cf::br_if(more, inner_body, no_args, latch, no_args));
        self.at = inner_body;
        let at = if by_rows { [j, i] } else { [i, j] };
        let value = self.push(mem::load(a, at));
        let mut next = self.two(op, acc.into(), value.into());
        match kind {
            1 => {
                let doubled = self.two(op, value.into(), value.into());
                self.push(mem::store(a, doubled, at));
            }
            2 => {
                self.push(mem::store(a, next, at));
                next = acc.into();
            }
            _ => {}
        }
        let i_next = self.push(arith::add(i, one));
        self.end(cf::br(inner, [i_next.into(), next]));
        self.at = latch;
        let j_next = self.push(arith::add(j, one));
        self.end(cf::br(outer, [Operand::from(j_next), acc.into()]));
        (self.at, self.trips) = (exit, trips);
        self.define(Var { operand: sum.into(), ty: element, known: element });
    }

    pub(super) fn number_op(&mut self) -> Op {
        self.c().pick(&[arith::ADD, arith::MUL, arith::SUB, arith::ADD, arith::MAX])
    }

    pub(super) fn two(&mut self, op: Op, x: Operand, y: Operand) -> Operand {
        self.push(Inst::new(op).operand(x).operand(y)).into()
    }

    pub(super) fn shifted(&mut self, i: Operand, by: i64) -> Operand {
        if by == 0 { i } else { self.push(arith::add(i, self.int(by))).into() }
    }

    fn read(&mut self, arrays: &Arrays, array: Operand, i: Operand) -> Operand {
        self.access(arrays, mem::load(array, [i])).into()
    }

    /// A load or store that is in bounds: sometimes said to be, and rarely not.
    fn access(&mut self, arrays: &Arrays, inst: Inst) -> Value {
        // Nothing between the test and the access changes a length.
        let known = arrays.length.is_some() && self.c().chance(15);
        if !known {
            return self.push(inst);
        }
        let ctx = self.ctx();
        let promise = ctx.constant_id(Constant::Bool(true));
        let attrs = ctx.attrs(&[(ctx.symbol("inbounds"), promise)]);
        self.push(inst.with_attrs(attrs))
    }
}
