//! Modules to measure on: integer binary operations in loops, as the peers were measured.

use std::sync::{Arc, LazyLock};

use regraft_dialects::{arith, cf, core};
use regraft_ir::{Block, Constant, Context, Function, Inst, Module, Op, Operand, Type, Value};

/// The number of operations in the body of each loop.
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

/// The operations in order, with their operands: drawn beforehand, so that drawing is not what is
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

/// A module of `functions` functions with about `insts` instructions each, of which one in ten
/// is a call of one of a few small functions: some of one block, some with a branch.
pub fn calling_module(ctx: &Arc<Context>, functions: usize, insts: usize) -> Module {
    const CALLEES: usize = 16;
    let mut module = Module::new(ctx);
    for i in 0..CALLEES {
        module.add(small_function(ctx, &format!("small{i}"), i)).expect("names are distinct");
    }
    for i in 0..functions {
        let mut f = Function::new(ctx, &format!("f{i}"), &[Type::I64, Type::I64], Type::I64);
        let entry = f.entry().expect("it has one");
        let [mut a, mut b] = [0, 1].map(|i| f.param(entry, i).expect("it has two parameters"));
        for k in 0..insts {
            let next = if k % 10 == 9 {
                let callee = ctx.symbol(&format!("small{}", (i + k / 10) % CALLEES));
                let call = Inst::new(core::CALL).operand(f.constant_id(Constant::Func(callee)));
                call.operand(a).operand(b).with_type(Type::I64)
            } else if k % 2 == 0 {
                arith::add(a, b)
            } else {
                arith::xor(a, b)
            };
            let value = f.push(entry, next).expect("it fits");
            (a, b) = (b, value);
        }
        f.set_terminator(entry, Inst::new(cf::RETURN).operand(b)).expect("it fits");
        module.add(f).expect("names are distinct");
    }
    module
}

/// A function of two integers that is worth inlining; every fourth has a branch.
fn small_function(ctx: &Arc<Context>, name: &str, seed: usize) -> Function {
    let mut f = Function::new(ctx, name, &[Type::I64, Type::I64], Type::I64);
    let entry = f.entry().expect("it has one");
    let [a, b] = [0, 1].map(|i| f.param(entry, i).expect("it has two parameters"));
    let mut choice = seed;
    let value = operations(&mut f, entry, [a, b], 4, &mut choice);
    let mut last = entry;
    let mut result = value;
    if seed.is_multiple_of(4) {
        let [other, join] = [(); 2].map(|()| f.add_block());
        result = f.append_param(join, Type::I64).expect("fresh");
        let less = f.push(entry, arith::lt(a, b)).expect("it fits");
        let fork = Inst::new(cf::BR).operand(less).operand(other).edge(join, [value]);
        f.set_terminator(entry, fork).expect("it fits");
        let doubled = f.push(other, arith::add(value, value)).expect("it fits");
        f.set_terminator(other, Inst::new(cf::BR).edge(join, [doubled])).expect("it fits");
        last = join;
    }
    f.set_terminator(last, Inst::new(cf::RETURN).operand(result)).expect("it fits");
    f
}

/// One function of about `insts` instructions: nests of `depth` counted loops, one after the
/// other. At each level something is invariant, and something depends on the counter.
pub fn nests(ctx: &Arc<Context>, depth: usize, insts: usize) -> Function {
    /// Instructions at each level: comparison, product, sum, the step, and two branches.
    const LEVEL: usize = 6;
    let mut f = Function::new(ctx, "nests", &[Type::I64, Type::I64], Type::I64);
    let entry = f.entry().expect("it has one");
    let [n, mut acc] = [0, 1].map(|i| f.param(entry, i).expect("it has two parameters"));
    let [zero, one] = [0i64, 1].map(|x| f.constant_id(x));
    let mut block = entry;
    for _ in 0..insts.div_ceil(depth * LEVEL) {
        // From the outside in: the head of each level, its counter and its sum.
        let mut levels = Vec::with_capacity(depth);
        for _ in 0..depth {
            let [head, body, after] = [(); 3].map(|()| f.add_block());
            let [i, sum] = [(); 2].map(|()| f.append_param(head, Type::I64).expect("fresh"));
            let enter = Inst::new(cf::BR).edge(head, [zero.into(), Operand::from(acc)]);
            f.set_terminator(block, enter).expect("it fits");
            let more = f.push(head, arith::lt(i, n)).expect("it fits");
            let fork = Inst::new(cf::BR).operand(more).operand(body).operand(after);
            f.set_terminator(head, fork).expect("it fits");
            let invariant = f.push(body, arith::mul(n, n)).expect("it fits");
            let varying = f.push(body, arith::add(sum, i)).expect("it fits");
            levels.push((head, after, i, sum));
            acc = f.push(body, arith::xor(varying, invariant)).expect("it fits");
            block = body;
        }
        // And back out: each level ends where the one inside it was left.
        for &(head, after, i, sum) in levels.iter().rev() {
            let next = f.push(block, arith::add(i, one)).expect("it fits");
            let back = Inst::new(cf::BR).edge(head, [next, acc]);
            f.set_terminator(block, back).expect("it fits");
            (block, acc) = (after, sum);
        }
    }
    f.set_terminator(block, Inst::new(cf::RETURN).operand(acc)).expect("it fits");
    f
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
