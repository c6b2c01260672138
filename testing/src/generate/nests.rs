//! Nests of loops that update elements of arrays, as gradients of sums of products have them:
//!
//! ```text
//! for i in 1:n
//!     acc = 0.0
//!     for k in 1:m
//!         acc += y[k]
//!         dy[k] += x[i]
//!     dx[i] += acc
//! ```
//!
//! The arrays may be new, with zeros, may be there, and may be one and the same.

use regraft_dialects::{ad, arith, cf, core, mem};
use regraft_ir::{Block, Constant, Inst, Op, Operand, Type, Value};

use super::body::{Body, Slot, Var};

/// A loop that is open.
pub(super) struct Open {
    header: Block,
    exit: Block,
    /// From 1 to the number of iterations, or backwards.
    pub(super) index: Operand,
    next: Operand,
    pub(super) carried: Option<Operand>,
    /// The number of iterations, if it is asked at the end of each: there is one at least.
    late: Option<Operand>,
}

impl Body<'_, '_> {
    /// A nest of two or three loops over two vectors.
    pub(super) fn reduction_nest(&mut self) {
        let x = self.numbers();
        let y = if self.c().chance(70) { self.object(|ty| ty == x.known).unwrap_or(x) } else { x };
        let element = self.element_of(x.known);
        let vector = x.known;
        let (x, y) = (self.exact(x), self.exact(y));
        let (dx, dy) = self.updated(x, y, vector, element);
        let n = self.common_length(x, dx);
        let m = self.common_length(y, dy);
        let again = self.c().chance(30);
        let repeated = again.then(|| self.open_either_way(self.int(2), None));
        let init = self.operand(element, false).operand;
        let outer = self.open_either_way(n, None);
        let inner = self.open_either_way(m, Some(init));
        let (i, k) = (outer.index, inner.index);
        let acc = inner.carried.unwrap_or(init);
        let (at_x, at_y) = (self.promised(mem::load(x, [i])), self.promised(mem::load(y, [k])));
        let product = self.push(arith::mul(at_x, at_y));
        let terms: [Operand; 4] = [at_x.into(), at_y.into(), product.into(), init];
        let op = self.c().pick(&[arith::ADD, arith::ADD, arith::SUB, arith::MUL, arith::MAX]);
        let places = [[dy, k], [dy, k], [dx, i], [dy, self.int(1)]];
        for _ in 0..1 + self.c().below(2) {
            let place = self.c().pick(&places);
            let mut term = self.c().pick(&terms);
            if self.c().chance(30) {
                term = self.under_a_condition(term, [i, k], op);
            }
            self.update(op, place, term);
        }
        let term = self.c().pick(&terms);
        let next = self.push(arith::add(acc, term));
        self.close_loop(&inner, Some(next.into()));
        if self.c().chance(80) {
            self.update(arith::ADD, [dx, i], acc);
        }
        self.close_loop(&outer, None);
        if let Some(repeated) = repeated {
            self.close_loop(&repeated, None);
        }
        for operand in [dx, dy] {
            self.define(Var { operand, ty: vector, known: vector });
        }
    }

    /// `c ? term : constant`, with a condition on some of the indices; most constants change nothing.
    fn under_a_condition(&mut self, term: Operand, [i, k]: [Operand; 2], op: Op) -> Operand {
        let two = self.int(2);
        let [x, y] = self.c().pick(&[[k, two], [k, two], [i, two], [k, i]]);
        let condition = self.push(arith::le(x, y));
        let ty = self.f.operand_type(term);
        let one = self.c().chance(10) != (op == arith::MUL);
        let number = i8::from(one);
        let constant = Constant::int(ty, number.into()).or(Constant::float(ty, number.into()));
        let constant = self.constant(constant.unwrap_or(Constant::Unit));
        let [x, y] = if self.c().chance(70) { [term, constant] } else { [constant, term] };
        self.push(core::select(condition, x, y)).into()
    }

    /// The arrays that are updated.
    fn updated(
        &mut self,
        x: Operand,
        y: Operand,
        vector: Type,
        element: Type,
    ) -> (Operand, Operand) {
        let zero = Constant::zero(element).unwrap_or(Constant::Unit);
        let filled = |body: &mut Self, like: Operand| -> Operand {
            let length = body.push(mem::length(like));
            let zero = body.constant(zero);
            body.push(mem::fill(zero, [length])).into()
        };
        match self.c().below(6) {
            0 | 1 if element.is_float() && !self.shared.config.smooth => {
                let both = self.push(core::tuple([x, y]));
                let ty = self.f.ty(both);
                let zeros = self.push(ad::zero(both, ty));
                let [first, second] = [1, 2].map(|part| {
                    let part = self.int(part);
                    Operand::from(self.push(core::get(zeros, part)))
                });
                (first, second)
            }
            0..=3 => {
                let first = filled(self, x);
                let second = if self.c().chance(80) { filled(self, y) } else { first };
                (first, second)
            }
            4 => {
                let first = filled(self, x);
                let second = self.object(|ty| ty == vector);
                (first, second.map_or(y, |second| self.exact(second)))
            }
            _ => (x, y),
        }
    }

    /// `for i in 1:n`, or backwards.
    fn open_either_way(&mut self, n: Operand, carried: Option<Operand>) -> Open {
        let down = self.c().chance(50);
        self.open_loop(n, carried, down)
    }

    /// `for i in 1:n`, backwards if `down`.
    pub(super) fn open_loop(&mut self, n: Operand, carried: Option<Operand>, down: bool) -> Open {
        let counter = Slot { ty: Type::I64, known: Type::I64 };
        let mut slots = vec![counter];
        let mut args = vec![if down { n } else { self.int(0) }];
        if let Some(init) = carried {
            let ty = self.f.operand_type(init);
            slots.push(Slot { ty, known: ty });
            args.push(init);
        }
        // Another bound, as of the shorter one of two arrays.
        let other = self.c().chance(15).then(|| {
            let near = self.c().below(3) as i64 - 1;
            let end = if down { self.int(0) } else { n };
            self.push(arith::add(end, self.int(near)))
        });
        let (header, inside, exit) = (self.block(&slots), self.block(&[]), self.block(&[]));
        self.end(cf::br(header, args));
        self.trips *= 3;
        self.at = header;
        let i = self.f.param(header, 0).map_or(n, Operand::from);
        let mut more = match down {
            true => self.push(arith::gt(i, self.int(0))),
            false => self.push(arith::lt(i, n)),
        };
        if let Some(other) = other {
            let holds = if down { arith::gt(i, other) } else { arith::lt(i, other) };
            let holds = self.push(holds);
            more = self.push(arith::and(more, holds));
        }
        self.end(cf::jump_if(more, inside, exit));
        self.at = inside;
        let carried = self.f.param(header, 1).map(Operand::from);
        let next = self.push(arith::add(i, self.int(if down { -1 } else { 1 }))).into();
        Open { header, exit, index: if down { i } else { next }, next, carried, late: None }
    }

    /// `for i in 1:n`, with the test at the end.
    pub(super) fn open_late_loop(&mut self, n: Operand) -> Open {
        let counter = Slot { ty: Type::I64, known: Type::I64 };
        let (header, exit) = (self.block(&[counter]), self.block(&[]));
        let start = self.int(0);
        self.end(cf::br(header, [start]));
        self.trips *= 3;
        self.at = header;
        let i = self.f.param(header, 0).map_or(n, Operand::from);
        let next = self.push(arith::add(i, self.int(1))).into();
        Open { header, exit, index: next, next, carried: None, late: Some(n) }
    }

    pub(super) fn close_loop(&mut self, open: &Open, carried: Option<Operand>) {
        let mut args = vec![open.next];
        args.extend(carried);
        match open.late {
            Some(n) => {
                let more = self.push(arith::lt(open.next, n));
                self.end(cf::br_if(more, open.header, args, open.exit, [] as [Operand; 0]));
            }
            None => self.end(cf::br(open.header, args)),
        }
        self.trips = (self.trips / 3).max(1);
        self.at = open.exit;
    }

    /// `array[i] = array[i] op term`.
    fn update(&mut self, op: Op, [array, i]: [Operand; 2], term: Operand) {
        let old = self.promised(mem::load(array, [i]));
        let new = self.push(Inst::new(op).operand(old).operand(term));
        self.promised(mem::store(array, new, [i]));
    }

    /// An access that is said to be in bounds, as it is.
    pub(super) fn promised(&mut self, inst: Inst) -> Value {
        let ctx = self.ctx();
        let promise = ctx.constant_id(Constant::Bool(true));
        let attrs = ctx.attrs(&[(ctx.symbol("inbounds"), promise)]);
        self.push(inst.with_attrs(attrs))
    }
}
