//! One function with very many small counted loops, as numeric code has them after inlining: loads
//! and stores of two arrays, a conditional with stores on both arms, one that only chooses between
//! values, and integer operations between them.

use std::sync::Arc;

use regraft_dialects::{arith, cf, mem};
use regraft_ir::{Block, Context, Function, Inst, Op, Operand, Type, Value};

use crate::synthetic::Numbers;

/// Instructions of one loop, terminators included.
pub const LOOP: usize = 55;

/// A function of `loops` such loops in a row, with other operations for each seed. Most run to a bound that is a parameter, some
/// to one of a few constants.
pub fn function(ctx: &Arc<Context>, loops: usize, seed: u64) -> Function {
    let (floats, ints) = (ctx.array_type(Type::F64, 1), ctx.array_type(Type::I64, 1));
    let params = [Type::I64, floats, ints, Type::I64];
    let f = Function::new(ctx, "loops", &params, Type::I64);
    let entry = f.entry().expect("it has one");
    let params = [0, 1, 2, 3].map(|i| f.param(entry, i).expect("it has four parameters"));
    let mut writer = Writer { f, block: entry, numbers: Numbers::new(seed), params };
    let mut acc = params[3];
    for _ in 0..loops {
        acc = writer.counted_loop(acc);
    }
    let Writer { mut f, block, .. } = writer;
    f.set_terminator(block, Inst::new(cf::RETURN).operand(acc)).expect("it fits");
    f
}

struct Writer {
    f: Function,
    /// The block that instructions are appended to.
    block: Block,
    numbers: Numbers,
    /// A bound, an array of floats, one of integers, and a number.
    params: [Value; 4],
}

impl Writer {
    fn push(&mut self, inst: Inst) -> Value {
        self.f.push(self.block, inst).expect("it fits")
    }

    fn int(&self, x: i64) -> Operand {
        self.f.constant_id(x).into()
    }

    fn jump(&mut self, to: Block, args: &[Operand]) {
        let jump = Inst::new(cf::BR).edge(to, args.iter().copied());
        self.f.set_terminator(self.block, jump).expect("it fits");
    }

    /// Ends the block with a branch, whose second edge passes `args`.
    fn branch(&mut self, condition: Value, yes: Block, no: Block, args: &[Operand]) {
        let fork = Inst::new(cf::BR).operand(condition).operand(yes);
        let fork = fork.edge(no, args.iter().copied());
        self.f.set_terminator(self.block, fork).expect("it fits");
    }

    /// Appends operations on the last few of some values, and returns the last.
    fn operations(&mut self, values: &mut Vec<Value>, count: usize) -> Value {
        const OPS: [Op; 6] =
            [arith::ADD, arith::ADD, arith::SUB, arith::MUL, arith::XOR, arith::AND];
        for _ in 0..count {
            let recent = values.len().saturating_sub(8);
            let op = OPS[self.numbers.below(OPS.len())];
            let x = values[recent + self.numbers.below(values.len() - recent)];
            let other = values[recent + self.numbers.below(values.len() - recent)];
            let constant = [3, 5, 7, 11][self.numbers.below(4)];
            let y = if self.numbers.below(4) == 0 { self.int(constant) } else { other.into() };
            let value = self.push(Inst::of(op, [x.into(), y]));
            values.push(value);
        }
        values[values.len() - 1]
    }

    /// Appends a loop that is entered with `acc`, and returns what comes out.
    fn counted_loop(&mut self, acc: Value) -> Value {
        let [n, floats, ints, k] = self.params;
        let [head, body, after] = [(); 3].map(|()| self.f.add_block());
        let [i, sum] = [(); 2].map(|()| self.f.append_param(head, Type::I64).expect("fresh"));
        let one = self.int(1);
        self.jump(head, &[one, acc.into()]);
        self.block = head;
        let limit = match self.numbers.below(10) {
            0 => self.int(20),
            1 => self.int(50),
            2 => self.int(100),
            _ => n.into(),
        };
        let more = self.push(arith::le(i, limit));
        self.branch(more, body, after, &[]);
        self.block = body;
        let x = self.push(mem::load(ints, [i]));
        let mut values = vec![i, sum, x, k];
        self.operations(&mut values, 12);
        let chosen = values[values.len() - 1 - self.numbers.below(6)];
        let joined = self.stores(x, chosen, i, floats, ints, &values);
        values.push(joined);
        let last = self.operations(&mut values, 10);
        let larger = self.larger(last, joined);
        values.push(larger);
        let result = self.operations(&mut values, 4);
        let next = self.push(arith::add(i, one));
        self.jump(head, &[next.into(), result.into()]);
        self.block = after;
        sum
    }

    /// Appends a conditional with a store on each arm, and returns what it chooses.
    fn stores(
        &mut self,
        x: Value,
        y: Value,
        i: Value,
        floats: Value,
        ints: Value,
        values: &[Value],
    ) -> Value {
        let less = self.push(arith::lt(x, y));
        let [yes, no, join] = [(); 3].map(|()| self.f.add_block());
        let joined = self.f.append_param(join, Type::I64).expect("fresh");
        self.branch(less, yes, no, &[]);
        self.block = yes;
        let stored = self.operations(&mut values.to_vec(), 8);
        self.push(mem::store(ints, stored, [i]));
        self.jump(join, &[stored.into()]);
        self.block = no;
        let loaded = self.push(mem::load(floats, [i]));
        let half = self.f.constant_id(0.5);
        let scaled = self.push(arith::mul(loaded, half));
        self.push(mem::store(floats, scaled, [i]));
        let other = self.operations(&mut values.to_vec(), 3);
        self.jump(join, &[other.into()]);
        self.block = join;
        joined
    }

    /// Appends a conditional that chooses between two values.
    fn larger(&mut self, a: Value, b: Value) -> Value {
        let greater = self.push(arith::gt(a, b));
        let [yes, join] = [(); 2].map(|()| self.f.add_block());
        let larger = self.f.append_param(join, Type::I64).expect("fresh");
        self.branch(greater, yes, join, &[a.into()]);
        self.block = yes;
        let difference = self.push(arith::sub(a, b));
        self.jump(join, &[difference.into()]);
        self.block = join;
        larger
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_is_valid_and_of_the_size_that_is_said() {
        let f = function(&regraft_dialects::context(), 100, 7);
        assert!(regraft_ir::verify_function(&f).is_ok());
        let count = f.all_insts().count();
        assert!(count.abs_diff(100 * LOOP) < 3 * LOOP, "{count} instructions");
    }
}
