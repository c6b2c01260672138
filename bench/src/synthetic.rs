//! Modules to measure on: integer binary operations in loops, as the peers were measured.

use std::sync::{Arc, LazyLock};

use regraft_dialects::{arith, cf};
use regraft_ir::{Block, Context, Function, Inst, Module, Op, Operand, Type, Value};

/// How many operations the body of each loop has.
const LOOP_BODY: usize = 96;

/// A source of reproducible numbers (xorshift64*).
#[derive(Clone, Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// A source that gives the same numbers for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }
}

/// Which operation comes next, and on what: drawn beforehand, so that drawing is not what is
/// measured, and repeated, as the code of real programs repeats itself.
#[derive(Clone, Copy, Debug)]
struct Choice {
    op: Op,
    x: usize,
    /// A recent value, or a constant.
    y: Result<usize, usize>,
}

/// The number of choices before they repeat; prime, so that they fall differently on each loop.
const RECIPE: usize = 61;

static CHOICES: LazyLock<[Choice; RECIPE]> = LazyLock::new(|| {
    let mut numbers = Numbers::new(1);
    std::array::from_fn(|_| Choice {
        op: [arith::ADD, arith::ADD, arith::SUB, arith::MUL, arith::XOR, arith::AND]
            [numbers.below(6)],
        x: numbers.below(8),
        y: if numbers.below(4) == 0 { Err(numbers.below(4)) } else { Ok(numbers.below(8)) },
    })
});

/// A module of `functions` functions with `insts` instructions each (within a few).
pub fn module(ctx: &Arc<Context>, functions: usize, insts: usize) -> Module {
    let mut module = Module::new(ctx);
    for i in 0..functions {
        module.add(function(ctx, &format!("f{i}"), insts, i as u64)).expect("names are distinct");
    }
    module
}

/// A function of about `insts` integer operations in a row of counted loops.
pub fn function(ctx: &Arc<Context>, name: &str, insts: usize, seed: u64) -> Function {
    let mut f = Function::new(ctx, name, &[Type::I64, Type::I64], Type::I64);
    let mut choice = seed as usize % RECIPE;
    let entry = f.entry().expect("it has one");
    let [n, mut acc] = [0, 1].map(|i| f.param(entry, i).expect("it has two parameters"));
    let [zero, one] = [0i64, 1].map(|x| f.constant_id(x));
    let mut block = entry;
    let mut left = insts;
    while left > 0 {
        let body = left.min(LOOP_BODY);
        left -= body;
        let [head, inside, after] = [(); 3].map(|()| f.add_block());
        let [i, sum] = [(); 2].map(|()| f.append_param(head, Type::I64).expect("fresh"));
        f.set_terminator(block, Inst::new(cf::BR).edge(head, [zero.into(), Operand::from(acc)]))
            .expect("it fits");
        let more = f.push(head, arith::lt(i, n)).expect("it fits");
        let fork = Inst::new(cf::BR).operand(more).operand(inside).operand(after);
        f.set_terminator(head, fork).expect("it fits");
        let value = operations(&mut f, inside, [i, sum], body.saturating_sub(2), &mut choice);
        let next = f.push(inside, arith::add(i, one)).expect("it fits");
        f.set_terminator(inside, Inst::new(cf::BR).edge(head, [next, value])).expect("it fits");
        (block, acc) = (after, sum);
    }
    f.set_terminator(block, Inst::new(cf::RETURN).operand(acc)).expect("it fits");
    f
}

/// Appends `count` operations on recent values, and returns the last.
fn operations(
    f: &mut Function,
    block: Block,
    [a, b]: [Value; 2],
    count: usize,
    choice: &mut usize,
) -> Value {
    let mut recent = [a, b, a, b, a, b, a, b];
    let constants: [Operand; 4] = [3i64, 5, 7, 11].map(|x| f.constant_id(x).into());
    let mut last = b;
    let choices = &*CHOICES;
    for i in 0..count {
        let Choice { op, x, y } = choices[*choice];
        *choice = if *choice + 1 == RECIPE { 0 } else { *choice + 1 };
        let y = match y {
            Ok(y) => recent[y].into(),
            Err(y) => constants[y],
        };
        last = f.push(block, Inst::of(op, [recent[x].into(), y])).expect("it fits");
        recent[i % 8] = last;
    }
    last
}

/// One function of about `insts` operations in which the first parameter is used in every tenth.
pub fn hub(ctx: &Arc<Context>, insts: usize) -> Function {
    let mut f = Function::new(ctx, "hub", &[Type::I64], Type::I64);
    let entry = f.entry().expect("it has one");
    let x = f.param(entry, 0).expect("it has one");
    let mut block = entry;
    let mut acc = x;
    for i in 0..insts {
        let other = if i % 10 == 0 { x } else { acc };
        acc = f.push(block, arith::add(acc, other)).expect("it fits");
        if i % 100 == 99 {
            let next = f.add_block();
            f.set_terminator(block, Inst::new(cf::BR).operand(next)).expect("it fits");
            block = next;
        }
    }
    f.set_terminator(block, Inst::new(cf::RETURN).operand(acc)).expect("it fits");
    f
}
