//! Loops that count: over all widths, in steps of both signs, tested anywhere, left anywhere.
//!
//! Each ends because of how it is made: a counter moves towards a bound that is small and near,
//! or all of start, step and bound are constants, and running them now shows that the loop ends,
//! wrapping around included.

use regraft_dialects::{arith, cf, mem};
use regraft_ir::{Block, Constant, Inst, Op, Operand, Type, Value};

use super::body::{Body, Counter, Slot, Var};

/// The most rounds of a loop whose counter is simulated.
const MAX_ROUNDS: u32 = 8;

/// The run of a counter: `for i = start; i <test> bound; i += step`, as long as another test holds, too, if there is one.
struct Count {
    ty: Type,
    start: Operand,
    step: Operand,
    test: Op,
    bound: Operand,
    other: Option<(Op, Operand)>,
    /// The most rounds.
    rounds: u32,
    over: Option<Operand>,
}

/// The position of the test of a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// In the header.
    Top,
    /// In the latch, of the next counter.
    Rotated,
    /// The same, entered only if the test holds at the start.
    Guarded,
    /// In the latch, of the counter of this round.
    Late,
    /// Between two parts of the body.
    Middle,
}

impl Body<'_, '_> {
    /// A counted loop with any statements in it, and values carried around.
    pub(super) fn counted_loop(&mut self) {
        let slots = self.slots();
        let shapes =
            [Shape::Top, Shape::Top, Shape::Rotated, Shape::Guarded, Shape::Late, Shape::Middle];
        let shape = self.c().pick(&shapes);
        let mut count = self.count(shape);
        if count.ty == Type::I64 && self.c().chance(15) {
            let test = self.c().pick(&[count.test, count.test, arith::LE, arith::GT]);
            let near = self.c().below(6) as i64;
            let near = self.push(arith::add(count.start, self.int(near)));
            let bound = if self.c().chance(50) {
                near.into()
            } else {
                self.operand(Type::I64, false).operand
            };
            count.other = Some((test, bound));
        }
        let mut all = vec![Slot { ty: count.ty, known: count.ty }];
        all.extend(&slots);
        let no_args = [] as [Operand; 0];
        let header = self.block(&all);
        let exit = self.block(&[]);
        let mut args = vec![count.start];
        args.extend(self.args(&slots));
        if shape == Shape::Guarded {
            let more = self.test(&count, count.start);
            self.end(cf::br_if(more, header, args, exit, no_args));
        } else {
            self.end(cf::br(header, args));
        }
        let (trips, outer) = (self.trips, self.scope.len());
        self.trips *= count.rounds.max(2);
        self.enter(header, &all);
        let i = self.f.param(header, 0).expect("it has a counter");
        if count.ty == Type::I64 {
            self.counters.push(Counter { value: i.into(), over: count.over });
        }
        match shape {
            Shape::Top | Shape::Middle => {
                if shape == Shape::Middle {
                    self.sequence();
                }
                let more = self.test(&count, i.into());
                let inside = self.block(&[]);
                self.branch_either_way(more, inside, exit);
                self.scoped(|body| {
                    body.at = inside;
                    body.rounds_body(shape, (header, exit), i, &count, &slots);
                    let args = body.next_round(i, &count, &slots);
                    body.end(cf::br(header, args));
                });
                // What the header defines can be used after the loop.
            }
            Shape::Rotated | Shape::Guarded | Shape::Late => {
                self.rounds_body(shape, (header, exit), i, &count, &slots);
                let args = self.next_round(i, &count, &slots);
                let tested = if shape == Shape::Late { i.into() } else { args[0] };
                let more = self.test(&count, tested);
                self.end(cf::br_if(more, header, args, exit, no_args));
                // The exit may be entered from elsewhere.
                self.scope.truncate(outer);
            }
        }
        if count.ty == Type::I64 {
            self.counters.pop();
        }
        (self.at, self.trips) = (exit, trips);
    }

    /// `br more, inside, exit`, or the other way round with the negated condition.
    fn branch_either_way(&mut self, more: Operand, inside: Block, exit: Block) {
        let no_args = [] as [Operand; 0];
        if self.c().chance(20) {
            let done = self.push(arith::not(more));
            self.end(cf::br_if(done, exit, no_args, inside, no_args));
        } else {
            self.end(cf::br_if(more, inside, no_args, exit, no_args));
        }
    }

    /// The statements of a round, with further ways out of the loop and into the next round.
    fn rounds_body(
        &mut self,
        shape: Shape,
        (header, exit): (Block, Block),
        i: Value,
        count: &Count,
        slots: &[Slot],
    ) {
        let no_args = [] as [Operand; 0];
        self.sequence();
        match self.c().below(8) {
            6 => {
                let stop = self.condition();
                let next = self.block(&[]);
                self.end(cf::br_if(stop, exit, no_args, next, no_args));
                self.at = next;
                self.sequence();
            }
            7 => {
                // `continue`: a second latch. The test of a rotated loop must not be left out.
                let stop = self.condition();
                let (skip, next) = (self.block(&[]), self.block(&[]));
                self.end(cf::br_if(stop, skip, no_args, next, no_args));
                self.scoped(|body| {
                    body.at = skip;
                    let args = body.next_round(i, count, slots);
                    let tested = if shape == Shape::Late { i.into() } else { args[0] };
                    let more = body.test(count, tested);
                    body.end(cf::br_if(more, header, args, exit, no_args));
                });
                self.at = next;
                self.sequence();
            }
            _ => {}
        }
    }

    /// The arguments of a back edge: the next counter, and what is carried.
    fn next_round(&mut self, i: Value, count: &Count, slots: &[Slot]) -> Vec<Operand> {
        let next = if self.c().chance(85) {
            self.push(arith::add(i, count.step))
        } else {
            self.push(arith::add(count.step, i))
        };
        let mut args = vec![Operand::from(next)];
        args.extend(self.args(slots));
        args
    }

    /// Returns whether another round follows.
    fn test(&mut self, count: &Count, i: Operand) -> Operand {
        let more = self.compare(count.test, i, count.bound);
        let Some((test, bound)) = count.other else { return more };
        let other = self.compare(test, i, bound);
        if self.c().chance(50) {
            return self.push(arith::and(more, other)).into();
        }
        let ends = (self.push(arith::not(more)), self.push(arith::not(other)));
        let ends = self.push(arith::or(ends.0, ends.1));
        self.push(arith::not(ends)).into()
    }

    /// `i <test> bound`, or the other way round.
    fn compare(&mut self, test: Op, i: Operand, bound: Operand) -> Operand {
        let swapped = match test {
            arith::LT => arith::GT,
            arith::LE => arith::GE,
            arith::GT => arith::LT,
            arith::GE => arith::LE,
            other => other,
        };
        let inst = if self.c().chance(75) {
            Inst::new(test).operand(i).operand(bound)
        } else {
            Inst::new(swapped).operand(bound).operand(i)
        };
        self.push(inst).into()
    }

    fn count(&mut self, shape: Shape) -> Count {
        let kind = self.c().below(10);
        match kind {
            3..5 => self.constant_count(shape),
            5..7 => self.symbolic_count(),
            7..10 if self.shared.config.objects => self.array_count(),
            _ => self.simple_count(),
        }
    }

    /// `for i in 0:n-1`.
    fn simple_count(&mut self) -> Count {
        let bound = if self.c().chance(50) {
            let n = self.operand(Type::I64, false).operand;
            self.push(arith::and(n, self.int(3))).into()
        } else {
            let n = self.c().below(4) as i64;
            self.int(n)
        };
        Count {
            ty: Type::I64,
            start: self.int(0),
            step: self.int(1),
            test: arith::LT,
            bound,
            other: None,
            rounds: 4,
            over: None,
        }
    }

    /// All constant, of any width: from near an end of the range on, too.
    fn constant_count(&mut self, shape: Shape) -> Count {
        let ty = self.c().pick(&[Type::I64, Type::I64, Type::I8, Type::I32, Type::I16]);
        let least = i64::MIN >> (64 - ty.bits().unwrap_or(64));
        let near = self.c().pick(&[0, 0, 1, least, !least, -1, 2]);
        let start = wrapped(ty, near.wrapping_add(self.c().below(4) as i64));
        let step: i64 = self.c().pick(&[1, 2, -1, 3, -2, 5, -7, 64, 0]);
        let distance = self.c().below(13) as i64;
        let bound = wrapped(ty, start.wrapping_add(step.wrapping_mul(distance).wrapping_div(2)));
        let test = self.c().pick(&[arith::LT, arith::NE, arith::LE, arith::GT, arith::GE]);
        let mut at = start;
        let mut rounds = 0;
        if matches!(shape, Shape::Rotated) {
            (at, rounds) = (wrapped(ty, at.wrapping_add(step)), 1);
        }
        while holds(test, at, bound) {
            if rounds == MAX_ROUNDS {
                return self.simple_count();
            }
            (at, rounds) = (wrapped(ty, at.wrapping_add(step)), rounds + 1);
        }
        let constant = |body: &Self, x| body.constant(Constant::int(ty, x).expect("an integer"));
        Count {
            ty,
            start: constant(self, start),
            step: constant(self, step),
            test,
            bound: constant(self, bound),
            other: None,
            rounds: rounds + 1,
            over: None,
        }
    }

    /// Start, step and bound are any of them computed, and small.
    fn symbolic_count(&mut self) -> Count {
        let small = |body: &mut Self, mask: i64, offset: i64| -> Operand {
            if body.c().chance(40) {
                let x = body.c().below(mask as usize + 1) as i64;
                return body.int(x + offset);
            }
            let x = body.operand(Type::I64, false).operand;
            let x = body.push(arith::and(x, body.int(mask)));
            if offset == 0 {
                return x.into();
            }
            body.push(arith::add(x, body.int(offset))).into()
        };
        let down = self.c().chance(50);
        let offset = self.c().pick(&[0, 0, 0, 1, -5, i64::MAX - 12, i64::MIN + 8]);
        let start = small(self, 3, offset);
        let bound = small(self, 7, offset);
        let mut step = small(self, 1, 1);
        if down {
            step = self.push(arith::neg(step)).into();
        }
        let tests = if down {
            [arith::GT, arith::GE, arith::GT]
        } else {
            [arith::LT, arith::LE, arith::LT]
        };
        let test = self.c().pick(&tests);
        let (start, bound) = if down { (bound, start) } else { (start, bound) };
        Count {
            ty: Type::I64,
            start,
            step,
            test,
            bound,
            other: None,
            rounds: MAX_ROUNDS,
            over: None,
        }
    }

    /// Over the indices of an array, upwards or downwards, with or without its ends.
    fn array_count(&mut self) -> Count {
        let Some(array) = self.array(None) else { return self.simple_count() };
        let array = self.exact(array);
        let margin = self.c().pick(&[0, 0, 0, 1]);
        let length = self.push(mem::length(array));
        let one = self.int(1 + margin);
        let (start, step, test, bound) = match self.c().below(3) {
            2 => {
                let last = self.push(arith::sub(length, self.int(margin)));
                (last.into(), -1, arith::GE, one)
            }
            _ if margin == 0 => (one, 1, arith::LE, length.into()),
            _ => (one, 1, arith::LT, length.into()),
        };
        let step = self.int(step);
        Count { ty: Type::I64, start, step, test, bound, other: None, rounds: 4, over: Some(array) }
    }

    /// A value under its own type.
    pub(super) fn exact(&mut self, var: Var) -> Operand {
        if var.ty == var.known {
            return var.operand;
        }
        self.push(regraft_dialects::core::typeassert(var.operand, var.known)).into()
    }

    /// An index computed from the counters of the loops around; `None` if there is none.
    pub(super) fn affine_index(&mut self, array: Operand) -> Option<Operand> {
        if self.counters.is_empty() {
            return None;
        }
        let count = self.counters.len();
        let nth = count - 1 - self.c().below(count);
        let Counter { value, over } = self.counters[nth];
        let own = over == Some(array);
        if own && !self.risk() {
            return Some(value);
        }
        let scale = self.c().pick(&[1, 1, 2, -1, 3]);
        let offset = self.c().pick(&[1, 0, -1, 2, 4]);
        let mut index = value;
        if scale != 1 {
            index = self.push(arith::mul(index, self.int(scale))).into();
        }
        if offset != 0 {
            index = self.push(arith::add(index, self.int(offset))).into();
        }
        if !self.risk() {
            // Into the bounds, but for arrays that are empty.
            let length = self.push(mem::length(array));
            index = self.push(arith::min(index, length)).into();
            index = self.push(arith::max(index, self.int(1))).into();
        }
        Some(index)
    }
}

/// The value that is left of `x` in a type.
fn wrapped(ty: Type, x: i64) -> i64 {
    let unused = 64 - ty.bits().unwrap_or(64);
    x << unused >> unused
}

fn holds(test: Op, x: i64, y: i64) -> bool {
    match test {
        arith::LT => x < y,
        arith::LE => x <= y,
        arith::GT => x > y,
        arith::GE => x >= y,
        _ => x != y,
    }
}
