//! Statements of programs that have derivatives: floats above all, in domains where functions are
//! smooth, and what programs do with them: arrays that swap places, are made in loops, read
//! through indices and written through them, arrays of arrays, stacks.
//!
//! Numbers stay of ordinary size: products in loops are squashed, so that neither values nor
//! derivatives overflow.

use regraft_dialects::{arith, cf, core, math, mem};
use regraft_ir::{Inst, Op, Operand, Type, Value};

use super::body::{Body, Slot, Var};
use crate::choices::Choices;

/// Ops of one float that take any float to one of ordinary size.
const ANYWHERE: [Op; 10] = [
    math::SIN,
    math::COS,
    math::TANH,
    math::ATAN,
    arith::NEG,
    math::ASINH,
    math::ERF,
    math::ERFC,
    math::SINPI,
    math::COSPI,
];

/// Ops of floats that are smooth between 0.1 and 0.9.
const INSIDE: [Op; 27] = [
    math::SQRT,
    math::LOG,
    math::EXP,
    math::POW,
    math::CBRT,
    math::EXP2,
    math::EXP10,
    math::EXPM1,
    math::LOG2,
    math::LOG10,
    math::LOG1P,
    math::TAN,
    math::ASIN,
    math::ACOS,
    math::ATAN2,
    math::SINH,
    math::COSH,
    math::ATANH,
    math::SINC,
    math::HYPOT,
    math::ERFINV,
    math::GAMMA,
    math::LOGGAMMA,
    math::LOGABSGAMMA,
    math::DIGAMMA,
    math::LOGBETA,
    math::BETA,
];

/// A float of ordinary size.
pub(super) fn float(c: &mut Choices) -> f64 {
    const USUAL: [f64; 8] = [0.5, 1.0, -0.75, 1.5, 0.25, 2.0, -1.25, 0.0];
    match c.below(3) {
        0 | 1 => c.pick(&USUAL),
        _ => f64::from(c.bits() as i32) / f64::from(1 << 30),
    }
}

impl Body<'_, '_> {
    /// A statement of a program that has a derivative.
    pub(super) fn smooth_statement(&mut self) {
        let loops = self.shared.config.loops && self.trips < 32;
        let objects = self.shared.config.objects;
        match self.c().below(24) {
            0..10 => {
                let value = self.float_value();
                self.define(Var { operand: value, ty: Type::F64, known: Type::F64 });
            }
            10 | 11 if objects => self.of_op(mem::LOAD),
            12 | 13 if objects => self.of_op(mem::STORE),
            14 => self.of_op(core::CALL),
            15 if objects && loops => self.swapped_arrays(),
            16 if objects && loops => self.arrays_in_a_loop(),
            17 if objects && loops => self.gather_and_scatter(),
            18 if objects && loops => self.array_of_arrays(),
            19 if objects && loops => self.stack(),
            20 => {
                let n = self.operand(Type::I64, false).operand;
                let n = self.push(arith::and(n, self.int(7)));
                self.define(Var { operand: n.into(), ty: Type::I64, known: Type::I64 });
            }
            _ => match self.any_op() {
                Some(def) => self.statement_of(def),
                None => {
                    let value = self.float_value();
                    self.define(Var { operand: value, ty: Type::F64, known: Type::F64 });
                }
            },
        }
    }

    fn of_op(&mut self, op: Op) {
        let def = self.shared.ctx.def(op);
        self.statement_of(def);
    }

    fn a_float(&mut self) -> Operand {
        self.operand(Type::F64, false).operand
    }

    fn literal_float(&self, x: f64) -> Operand {
        self.constant(x)
    }

    fn one(&mut self, op: Op, x: Operand) -> Operand {
        self.push(Inst::new(op).operand(x)).into()
    }

    fn both(&mut self, op: Op, x: Operand, y: Operand) -> Operand {
        self.push(Inst::new(op).operand(x).operand(y)).into()
    }

    /// A number between 0.1 and 0.9 that depends smoothly on `x`.
    fn inside(&mut self, x: Operand) -> Operand {
        let wave = self.one(math::SIN, x);
        let small = self.both(arith::MUL, wave, self.literal_float(0.4));
        self.both(arith::ADD, small, self.literal_float(0.5))
    }

    /// Of ordinary size again, where it may have grown from round to round.
    fn squashed(&mut self, x: Operand) -> Operand {
        if self.trips == 1 && self.c().chance(70) {
            return x;
        }
        let op = self.c().pick(&[math::SIN, math::TANH, math::ATAN]);
        self.one(op, x)
    }

    /// A float computed from floats.
    pub(super) fn float_value(&mut self) -> Operand {
        let x = self.a_float();
        match self.c().below(16) {
            0..3 => {
                let y = self.a_float();
                let op = self.c().pick(&[arith::ADD, arith::SUB]);
                self.both(op, x, y)
            }
            3..6 => {
                let y = self.a_float();
                let product = self.both(arith::MUL, x, y);
                self.squashed(product)
            }
            6..9 => {
                let op = self.c().pick(&ANYWHERE);
                self.one(op, x)
            }
            9 | 10 => {
                let op = self.c().pick(&INSIDE);
                let count = self.shared.ctx.def(op).operands.len();
                let mut inst = Inst::new(op).operand(self.inside(x));
                if count == 2 {
                    let y = self.a_float();
                    inst = inst.operand(self.inside(y));
                }
                self.push(inst).into()
            }
            11 => {
                let y = self.a_float();
                let y = self.inside(y);
                let quotient = self.both(arith::FDIV, x, y);
                self.squashed(quotient)
            }
            12 => {
                let op = self.c().pick(&[arith::MIN, arith::MAX]);
                let y = self.a_float();
                self.both(op, x, y)
            }
            13 => {
                let condition = self.condition();
                let y = self.a_float();
                self.push(core::select(condition, x, y)).into()
            }
            14 => {
                let (y, z) = (self.a_float(), self.a_float());
                let inst = Inst::new(arith::FMA).operand(x).operand(y).operand(z);
                let value = self.push(inst).into();
                self.squashed(value)
            }
            _ => {
                let n = self.operand(Type::I64, false).operand;
                let n = self.push(arith::and(n, self.int(3)));
                match self.c().below(3) {
                    0 => {
                        let x = self.inside(x);
                        self.both(math::POWI, x, n.into())
                    }
                    1 => self.one(arith::ABS, x),
                    _ => {
                        let inst = Inst::new(arith::INT_TO_FLOAT).operand(n).with_type(Type::F64);
                        let n = self.push(inst).into();
                        let product = self.both(arith::MUL, x, n);
                        self.squashed(product)
                    }
                }
            }
        }
    }

    /// A vector of floats.
    fn floats(&mut self) -> Operand {
        let ctx = self.ctx();
        let ty = ctx.array_type(Type::F64, 1);
        match self.object(|other| other == ty) {
            Some(var) => self.exact(var),
            None => {
                let var = self.fresh(ty);
                self.exact(var)
            }
        }
    }

    /// `for i in 1:n`, with values that are carried around; gives what they are at the end.
    fn count_to(
        &mut self,
        n: Operand,
        carried: &[Operand],
        round: impl FnOnce(&mut Self, Operand, &[Operand]) -> Vec<Operand>,
    ) -> Vec<Operand> {
        let mut slots = vec![Slot { ty: Type::I64, known: Type::I64 }];
        for &operand in carried {
            let ty = self.f.operand_type(operand);
            slots.push(Slot { ty, known: ty });
        }
        let no_args = [] as [Operand; 0];
        let (header, inside, exit) = (self.block(&slots), self.block(&[]), self.block(&[]));
        let mut args = vec![self.int(1)];
        args.extend(carried);
        self.end(cf::br(header, args));
        let trips = self.trips;
        self.trips *= 4;
        self.at = header;
        let params: Vec<Operand> = self.f.params(header).map(Operand::from).collect();
        let more = self.push(arith::le(params[0], n));
        self.end(cf::br_if(more, inside, no_args, exit, no_args));
        self.at = inside;
        let outer = self.scope.len();
        let mut args = round(self, params[0], &params[1..]);
        self.scope.truncate(outer);
        let next = self.push(arith::add(params[0], self.int(1)));
        args.insert(0, next.into());
        self.end(cf::br(header, args));
        (self.at, self.trips) = (exit, trips);
        params[1..].to_vec()
    }

    /// The length of both arrays that can be indexed.
    pub(super) fn common_length(&mut self, a: Operand, b: Operand) -> Operand {
        let (m, n) = (self.push(mem::length(a)), self.push(mem::length(b)));
        self.push(arith::min(m, n)).into()
    }

    fn at(&mut self, array: Operand, i: Operand) -> Operand {
        self.push(mem::load(array, [i])).into()
    }

    fn put(&mut self, array: Operand, value: Operand, i: Operand) -> Value {
        self.push(mem::store(array, value, [i]))
    }

    /// A smooth function of a float and what is in scope.
    fn of_float(&mut self, x: Operand) -> Operand {
        let (y, op) = (self.a_float(), self.c().pick(&[arith::MUL, arith::ADD, arith::SUB]));
        let value = self.both(op, x, y);
        let op = self.c().pick(&ANYWHERE);
        self.one(op, value)
    }

    /// `for k in 1:n; b[i] = f(a[i]); a, b = b, a; end`
    fn swapped_arrays(&mut self) {
        let (a, b) = (self.floats(), self.floats());
        let b = if self.c().chance(40) { self.push(mem::copy(a)).into() } else { b };
        let n = self.common_length(a, b);
        let rounds = 1 + self.c().below(4) as i64;
        let rounds = self.int(rounds);
        let sweep = self.c().chance(50);
        let last = self.count_to(rounds, &[a, b], |body, k, arrays| {
            let (a, b) = (arrays[0], arrays[1]);
            if sweep {
                body.count_to(n, &[], |body, i, _| {
                    let x = body.at(a, i);
                    let x = body.of_float(x);
                    body.put(b, x, i);
                    Vec::new()
                });
            } else {
                let i = body.push(arith::min(k, n)).into();
                let x = body.at(a, i);
                let x = body.of_float(x);
                body.put(b, x, i);
            }
            vec![b, a]
        });
        for array in last {
            let ty = self.f.operand_type(array);
            self.define(Var { operand: array, ty, known: ty });
        }
    }

    /// An array that is made anew in each round, and summed up.
    fn arrays_in_a_loop(&mut self) {
        let start = self.a_float();
        let rounds = 1 + self.c().below(3) as i64;
        let rounds = self.int(rounds);
        let kind = self.c().below(3);
        let ctx = self.ctx();
        let ty = ctx.array_type(Type::F64, 1);
        let sums = self.count_to(rounds, &[start], |body, k, sums| {
            let array: Operand = match kind {
                0 => body.push(mem::fill(sums[0], [k])).into(),
                1 => {
                    let y = body.a_float();
                    body.push(mem::array([sums[0], y], ty)).into()
                }
                _ => body.push(mem::alloc([k], ty)).into(),
            };
            let length = body.push(mem::length(array)).into();
            body.count_to(length, &[], |body, i, _| {
                let x = body.at(array, i);
                let x = body.both(arith::ADD, x, sums[0]);
                let x = body.of_float(x);
                body.put(array, x, i);
                Vec::new()
            });
            let i = body.push(arith::min(k, length)).into();
            let x = body.at(array, i);
            let sum = body.both(arith::ADD, sums[0], x);
            vec![body.squashed(sum)]
        });
        self.define(Var { operand: sums[0], ty: Type::F64, known: Type::F64 });
    }

    /// `y[p[i]] += x[p[i]] * c`
    fn gather_and_scatter(&mut self) {
        let (x, y) = (self.floats(), self.floats());
        let ctx = self.ctx();
        let n = self.common_length(x, y);
        let count = 2 + self.c().below(3);
        let picks: Vec<Operand> = (0..count)
            .map(|_| {
                let i = 1 + self.c().below(3) as i64;
                self.int(i)
            })
            .collect();
        let picks: Operand = self.push(mem::array(picks, ctx.array_type(Type::I64, 1))).into();
        // Arrays may be empty.
        let some = self.push(arith::min(n, self.int(1)));
        let rounds = self.push(arith::mul(some, self.int(count as i64))).into();
        let (scatter, add) = (self.c().chance(70), self.c().chance(60));
        let start = self.a_float();
        let sums = self.count_to(rounds, &[start], |body, i, sums| {
            let at: Operand = body.push(mem::load(picks, [i])).into();
            let at: Operand = body.push(arith::min(at, n)).into();
            let value = body.at(x, at);
            let value = body.of_float(value);
            if scatter {
                let old = body.at(y, at);
                let new = if add { body.both(arith::ADD, old, value) } else { value };
                body.put(y, new, at);
            }
            let sum = body.both(arith::ADD, sums[0], value);
            vec![sum]
        });
        self.define(Var { operand: sums[0], ty: Type::F64, known: Type::F64 });
    }

    /// Rows that are made, changed, exchanged, and read.
    fn array_of_arrays(&mut self) {
        let ctx = self.ctx();
        let (a, b) = (self.floats(), self.floats());
        let row = ctx.array_type(Type::F64, 1);
        let rows: Operand = self.push(mem::array([a, b], ctx.array_type(row, 1))).into();
        let (one, two) = (self.int(1), self.int(2));
        if self.c().chance(50) {
            let first = self.at(rows, one);
            let second = self.at(rows, two);
            self.put(rows, second, one);
            self.put(rows, first, two);
        }
        if self.c().chance(40) {
            let copy: Operand = self.push(mem::copy(a)).into();
            let at = self.c().pick(&[one, two]);
            self.put(rows, copy, at);
        }
        let total = self.count_to(two, &[self.literal_float(0.0)], |body, k, sums| {
            let row = body.at(rows, k);
            let length = body.push(mem::length(row)).into();
            body.count_to(length, &[sums[0]], |body, i, sums| {
                let x = body.at(row, i);
                let x = body.of_float(x);
                body.put(row, x, i);
                vec![body.both(arith::ADD, sums[0], x)]
            })
        });
        self.define(Var { operand: total[0], ty: Type::F64, known: Type::F64 });
        let ty = self.f.operand_type(rows);
        self.define(Var { operand: rows, ty, known: ty });
    }

    /// Values that are pushed, and popped again.
    fn stack(&mut self) {
        let ctx = self.ctx();
        let stack: Operand = if self.c().chance(40) {
            self.floats()
        } else {
            let ty = ctx.array_type(Type::F64, 1);
            self.push(mem::array([] as [Operand; 0], ty)).into()
        };
        let (most, least) = (1 + self.c().below(4) as i64, self.c().below(3) as i64);
        let (pushed, start) = (self.int(most), self.a_float());
        self.count_to(pushed, &[start], |body, _, last| {
            let x = body.of_float(last[0]);
            body.push(mem::push(stack, x));
            vec![x]
        });
        let popped = self.int(most.min(least + 1));
        let sums = self.count_to(popped, &[start], |body, _, sums| {
            let x = body.push(mem::pop(stack));
            let product = body.both(arith::MUL, sums[0], x.into());
            vec![body.one(math::TANH, product)]
        });
        self.define(Var { operand: sums[0], ty: Type::F64, known: Type::F64 });
        let ty = self.f.operand_type(stack);
        self.define(Var { operand: stack, ty, known: ty });
    }
}
