//! Nests whose inner loop is as long as the counter of the outer one says, with an index that runs
//! on through both, as loops over packed triangles have them:
//!
//! ```text
//! at = 1
//! for j in 1:n
//!     for i in j+1:n
//!         acc = acc / 2 + l[at] * x[j]
//!         at += 1
//! ```
//!
//! Inner loops may be empty, or begin beyond their end.

use regraft_dialects::{arith, cf, mem};
use regraft_ir::{Block, Constant, Operand, Type};

use super::body::{Body, Slot, Var};

/// A loop that is open, with what it passes from round to round.
struct Open {
    header: Block,
    exit: Block,
    counter: Operand,
    carried: Vec<Operand>,
}

impl Body<'_, '_> {
    /// A nest of two loops over the triangle of a vector, or of three.
    pub(super) fn triangular_nest(&mut self) {
        let x = self.numbers();
        let (vector, element) = (x.known, self.element_of(x.known));
        let x = self.exact(x);
        let n: Operand = self.push(mem::length(x)).into();
        let init = self.operand(element, false).operand;
        // As many elements as there are rounds at most.
        let side = self.push(arith::add(n, self.int(4)));
        let mut size = self.push(arith::mul(side, side));
        let is_deep = self.c().chance(25);
        let step = if self.c().chance(80) { 1 } else { 2 };
        if is_deep {
            size = self.push(arith::mul(size, side));
        }
        if step > 1 {
            size = self.push(arith::add(size, size));
        }
        let packed: Operand = self.push(mem::fill(init, [size])).into();
        let start = self.c().below(3) as i64 + 1;
        let start = self.int(start);
        let outer = self.open_range(self.int(0), n, false, &[start, init]);
        let j = outer.counter;
        let mid = is_deep.then(|| self.open_range(self.int(0), j, true, &outer.carried));
        let (base, around) = match &mid {
            Some(mid) => (mid.counter, mid.carried.clone()),
            None => (j, outer.carried.clone()),
        };
        let (less, more) = (self.c().below(4) as i64 - 1, self.c().below(4) as i64 - 2);
        let from = self.push(arith::add(base, self.int(less))).into();
        let to = self.push(arith::add(n, self.int(more))).into();
        let inclusive = self.c().chance(40);
        let inner = self.open_range(from, to, inclusive, &around);
        let (at, acc) = (inner.carried[0], inner.carried[1]);
        let next = self.push(arith::add(j, self.int(1)));
        let center = self.push(mem::load(x, [next]));
        let term = self.push(mem::load(packed, [at]));
        let product = self.push(arith::mul(term, center));
        let half = match element.is_float() {
            true => {
                let half = Constant::float(element, 0.5).unwrap_or(Constant::Unit);
                let half = self.constant(half);
                self.push(arith::mul(acc, half))
            }
            false => self.push(arith::ashr(acc, self.int(1))),
        };
        let sum = self.push(arith::add(half, product));
        if self.c().chance(40) {
            self.push(mem::store(packed, sum, [at]));
        }
        let on = self.push(arith::add(at, self.int(step)));
        self.close_range(&inner, &[on.into(), sum.into()]);
        if let Some(mid) = &mid {
            self.close_range(mid, &inner.carried);
        }
        let passed = mid.as_ref().map_or(&inner, |mid| mid).carried.clone();
        self.close_range(&outer, &passed);
        self.define(Var { operand: outer.carried[1], ty: element, known: element });
        self.define(Var { operand: packed, ty: vector, known: vector });
    }

    /// A loop with a counter from `from` on while it is less than `to`, or at most that.
    fn open_range(
        &mut self,
        from: Operand,
        to: Operand,
        inclusive: bool,
        carried: &[Operand],
    ) -> Open {
        let mut slots = vec![Slot { ty: Type::I64, known: Type::I64 }];
        let mut args = vec![from];
        for &operand in carried {
            let ty = self.f.operand_type(operand);
            slots.push(Slot { ty, known: ty });
            args.push(operand);
        }
        let (header, inside, exit) = (self.block(&slots), self.block(&[]), self.block(&[]));
        self.end(cf::br(header, args));
        self.trips *= 3;
        self.at = header;
        let params: Vec<Operand> = self.f.params(header).map(Operand::from).collect();
        let stays = match inclusive {
            true => self.push(arith::le(params[0], to)),
            false => self.push(arith::lt(params[0], to)),
        };
        self.end(cf::jump_if(stays, inside, exit));
        self.at = inside;
        Open { header, exit, counter: params[0], carried: params[1..].to_vec() }
    }

    fn close_range(&mut self, open: &Open, carried: &[Operand]) {
        let next = self.push(arith::add(open.counter, self.int(1)));
        let mut args = vec![Operand::from(next)];
        args.extend(carried);
        self.end(cf::br(open.header, args));
        self.trips = (self.trips / 3).max(1);
        self.at = open.exit;
    }
}
