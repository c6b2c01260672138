//! Large functions to measure on.

use std::sync::Arc;

use regraft_dialects::{arith, cf};
use regraft_ir::{Block, Context, Function, Inst, Operand, Type, Value};

fn constant(f: &Function, n: i64) -> Operand {
    f.constant_id(n).into()
}

fn push(f: &mut Function, block: Block, inst: Inst) -> Value {
    f.push(block, inst).expect("the operands fit")
}

fn end(f: &mut Function, block: Block, inst: Inst) {
    f.set_terminator(block, inst).expect("the edges fit");
}

fn start(ctx: &Arc<Context>) -> (Function, Block, Value) {
    let f = Function::new(ctx, "f", &[Type::I64], Type::I64);
    let entry = f.entry().expect("there is an entry");
    let x = f.param(entry, 0).expect("it has a parameter");
    (f, entry, x)
}

/// A block with a counter and a sum as its parameters.
fn header(f: &mut Function) -> (Block, Value, Value) {
    let block = f.add_block();
    let i = f.append_param(block, Type::I64).expect("no edge yet");
    let sum = f.append_param(block, Type::I64).expect("no edge yet");
    (block, i, sum)
}

/// `while i < x` loops, `depth` of them within each other, one such nest after the other. The
/// innermost body has a branch in it and `work` instructions.
pub fn nests(ctx: &Arc<Context>, depth: usize, work: usize, insts: usize) -> Function {
    let (mut f, mut block, x) = start(ctx);
    let (zero, one) = (constant(&f, 0), constant(&f, 1));
    let mut sum = x;
    for _ in 0..insts.div_ceil(4 * depth + work + 3) {
        let mut loops = Vec::with_capacity(depth);
        for _ in 0..depth {
            let (head, i, acc) = header(&mut f);
            let (body, exit) = (f.add_block(), f.add_block());
            end(&mut f, block, cf::br(head, [zero, sum.into()]));
            let more = push(&mut f, head, arith::lt(i, x));
            end(&mut f, head, Inst::new(cf::BR).operand(more).operand(body).operand(exit));
            loops.push((head, exit, i, acc));
            (block, sum) = (body, acc);
        }
        for k in 0..work {
            let n = constant(&f, k as i64 % 13 + 1);
            let inst = if k % 3 == 0 { arith::mul(sum, n) } else { arith::add(sum, n) };
            sum = push(&mut f, block, inst);
        }
        let (odd, join) = (f.add_block(), f.add_block());
        let merged = f.append_param(join, Type::I64).expect("no edge yet");
        let test = push(&mut f, block, arith::lt(sum, x));
        let branch = Inst::new(cf::BR).operand(test).operand(odd);
        end(&mut f, block, branch.edge(join, [sum]));
        let less = push(&mut f, odd, arith::sub(sum, one));
        end(&mut f, odd, cf::br(join, [less]));
        (block, sum) = (join, merged);
        for (head, exit, i, acc) in loops.into_iter().rev() {
            let next = push(&mut f, block, arith::add(i, one));
            end(&mut f, block, cf::br(head, [next, sum]));
            (block, sum) = (exit, acc);
        }
    }
    end(&mut f, block, cf::ret(sum));
    f
}
