//! The speed of the transformations: `cargo run --release -p regraft-passes --example
//! transform_speed`; the name of one may follow.
//!
//! On a module of a million instructions in 2000 functions with loops; and on ten functions of
//! 10⁵ instructions against one of 10⁶, in many blocks, in one block, and with one value that
//! 10⁵ instructions use: where the cost is linear, both take as long, but for the caches.

use std::sync::Arc;
use std::time::{Duration, Instant};

use regraft_dialects::{arith, cf};
use regraft_ir::{Block, Context, Function, Inst, Operand, Type, Value};
use regraft_passes::transforms::{
    cse::Cse, dce::Dce, expand::Expand, fold::Fold, prune::Prune, sccp::Sccp,
    simplify_cfg::SimplifyCfg,
};
use regraft_passes::{FunctionPass, Options, Setting, run_pass, run_pass_with, transforms};

type Run = fn(&mut Function);

const PASSES: &[(&str, Run)] = &[
    ("adce", run::<transforms::adce::Adce>),
    ("dce", run::<Dce>),
    ("cse", run::<Cse>),
    ("fold", run::<Fold>),
    ("gvn", run::<transforms::gvn::Gvn>),
    ("simplify-cfg", run::<SimplifyCfg>),
    ("indvars", run::<regraft_passes::AllLoops<transforms::indvars::Indvars>>),
    (
        "strength-reduce",
        run::<regraft_passes::AllLoops<transforms::strength_reduce::StrengthReduce>>,
    ),
    ("licm", run::<regraft_passes::AllLoops<transforms::licm::Licm>>),
    ("loop-delete", run::<regraft_passes::AllLoops<transforms::loop_delete::LoopDelete>>),
    ("loop-rotate", run::<regraft_passes::AllLoops<transforms::loop_rotate::LoopRotate>>),
    ("loop-simplify", run::<regraft_passes::AllLoops<transforms::loop_simplify::LoopSimplify>>),
    ("prune", run::<Prune>),
    ("expand", run::<Expand>),
    ("sccp", run::<Sccp>),
    ("reassociate", run::<transforms::reassociate::Reassociate>),
    ("unroll", run::<regraft_passes::AllLoops<transforms::unroll::Unroll>>),
    ("unroll by 4", unroll_by_four),
    ("loop-fuse", run::<transforms::loop_fuse::LoopFuse>),
    ("fuse-sweeps", run::<transforms::fuse_sweeps::FuseSweeps>),
    ("loop-interchange", run::<transforms::loop_interchange::LoopInterchange>),
    ("strip-math", run::<transforms::strip_math::StripMath>),
    ("tile", run::<transforms::tile::Tile>),
    ("unroll-and-jam", run::<transforms::unroll_and_jam::UnrollAndJam>),
    ("bounds-elim", run::<regraft_passes::AllLoops<transforms::bounds_elim::BoundsElim>>),
    ("mem2reg", run::<transforms::mem2reg::Mem2reg>),
    ("sroa", run::<transforms::sroa::Sroa>),
    ("specialize-getfield", run::<transforms::specialize_getfield::SpecializeGetfield>),
    ("specialize-tangents", run::<transforms::specialize_tangents::SpecializeTangents>),
];

fn run<P: FunctionPass>(f: &mut Function) {
    run_pass::<P>(f).unwrap_or_else(|error| panic!("{error:?}"));
}

fn unroll_by_four(f: &mut Function) {
    type Unroll = regraft_passes::AllLoops<transforms::unroll::Unroll>;
    let mut options = Options::defaults(Unroll::OPTIONS);
    for option in Unroll::OPTIONS.iter().filter(|option| option.name == "factor") {
        options.set(option, Setting::Int(4)).expect("an integer");
    }
    run_pass_with::<Unroll>(f, &options).unwrap_or_else(|error| panic!("{error:?}"));
}

fn main() {
    let wanted = std::env::args().nth(1);
    let is_wanted = |name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
    let passes: Vec<(&str, Run)> =
        PASSES.iter().copied().filter(|&(name, _)| is_wanted(name)).collect();
    let ctx = regraft_dialects::context();
    let module: Vec<Function> = (0..2000).map(|i| loops(&ctx, i, 500)).collect();
    let insts: usize = module.iter().map(Function::inst_count).sum();
    println!("{insts} instructions in {} functions", module.len());
    for &(name, run) in &passes {
        let (time, left) = best(&module, run);
        let speed = insts as f64 / time.as_secs_f64() / 1e6;
        println!("  {name:13} {speed:6.1} M instructions/s, {left} left");
    }
    type Make = fn(&Arc<Context>, usize) -> Function;
    let shapes: [(&str, Make); 7] = [
        ("loops", |ctx, n| loops(ctx, 7, n)),
        ("one block", one_block),
        ("one value used 10^5 times", shared_value),
        ("a chain of empty blocks", chain),
        ("a parameter for each block", parameters),
        ("a switch with many cases", many_cases),
        ("loops nested 100 deep", nests),
    ];
    for (shape, make) in shapes {
        println!("10 functions of 10^5, one of 10^6: {shape}");
        let (small, large) = (vec![make(&ctx, 100_000); 10], vec![make(&ctx, 1_000_000)]);
        for &(name, run) in &passes {
            // What comes out of `expand` is not linear in what goes in.
            if name == "expand" && shape != "a parameter for each block" {
                continue;
            }
            let ((a, _), (b, left)) = (best(&small, run), best(&large, run));
            let ratio = b.as_secs_f64() / a.as_secs_f64();
            println!("  {name:13} {a:9.2?} {b:9.2?}, {ratio:4.1} times, {left} left");
        }
    }
}

/// The shortest of three runs, and how many instructions were left.
fn best(functions: &[Function], run: Run) -> (Duration, usize) {
    let mut best = Duration::MAX;
    let mut left = 0;
    for _ in 0..3 {
        let mut copies = functions.to_vec();
        let start = Instant::now();
        copies.iter_mut().for_each(run);
        best = best.min(start.elapsed());
        left = copies.iter().map(Function::inst_count).sum();
    }
    (best, left)
}

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

/// A binary op; of ten, one is there twice, one folds, and two are dead.
fn computation(f: &Function, i: usize, x: Value, y: Value) -> Inst {
    let k = constant(f, i as i64 % 97);
    match i % 10 {
        0 => arith::mul(x, y),
        1 => arith::sub(x, k),
        2 => arith::add(x, constant(f, 0)),
        3 => arith::xor(y, k),
        4 => arith::add(y, x),
        5 => arith::add(x, y),
        6 => arith::and(x, y),
        _ => arith::add(x, k),
    }
}

/// Loops one after the other, of 40 instructions with a branch in each.
fn loops(ctx: &Arc<Context>, seed: usize, insts: usize) -> Function {
    let (mut f, mut block, x) = start(ctx);
    let mut last = x;
    for l in 0..insts.div_ceil(40) {
        let (header, body, next) = (f.add_block(), f.add_block(), f.add_block());
        let i = f.append_param(header, Type::I64).expect("no edge yet");
        let sum = f.append_param(header, Type::I64).expect("no edge yet");
        let zero = constant(&f, 0);
        end(&mut f, block, cf::br(header, [zero, last.into()]));
        let more = push(&mut f, header, arith::lt(i, x));
        end(&mut f, header, Inst::new(cf::BR).operand(more).operand(body).operand(next));
        let (mut a, mut b) = (sum, i);
        for k in 0..37 {
            let inst = computation(&f, seed + 31 * l + k, a, b);
            let v = push(&mut f, body, inst);
            if k % 5 != 4 {
                (a, b) = (v, a);
            }
        }
        let one = constant(&f, 1);
        let step = push(&mut f, body, arith::add(i, one));
        end(&mut f, body, cf::br(header, [step, a]));
        (block, last) = (next, sum);
    }
    end(&mut f, block, cf::ret(last));
    f
}

fn one_block(ctx: &Arc<Context>, insts: usize) -> Function {
    let (mut f, entry, x) = start(ctx);
    let (mut a, mut b) = (x, x);
    for k in 0..insts {
        let inst = computation(&f, k, a, b);
        let v = push(&mut f, entry, inst);
        if k % 5 != 4 {
            (a, b) = (v, a);
        }
    }
    end(&mut f, entry, cf::ret(a));
    f
}

/// Each tenth instruction uses a value that folds, another tenth one that is there twice.
fn shared_value(ctx: &Arc<Context>, insts: usize) -> Function {
    let (mut f, entry, x) = start(ctx);
    let zero = constant(&f, 0);
    let same = push(&mut f, entry, arith::add(x, zero));
    let first = push(&mut f, entry, arith::mul(x, x));
    let second = push(&mut f, entry, arith::mul(x, x));
    let mut a = same;
    for k in 0..insts {
        let inst = match k % 10 {
            0 => arith::add(a, same),
            1 => arith::sub(a, second),
            2 => arith::sub(first, a),
            _ => computation(&f, k, a, a),
        };
        a = push(&mut f, entry, inst);
    }
    end(&mut f, entry, cf::ret(a));
    f
}

/// Blocks that pass one value on and do nothing else, one to the next.
fn chain(ctx: &Arc<Context>, blocks: usize) -> Function {
    let (mut f, mut block, x) = start(ctx);
    let mut last = x;
    for _ in 0..blocks {
        let next = f.add_block();
        let param = f.append_param(next, Type::I64).expect("no edge yet");
        end(&mut f, block, cf::br(next, [last]));
        (block, last) = (next, param);
    }
    end(&mut f, block, cf::ret(last));
    f
}

/// Diamonds, each of which uses what was computed before the one before; a parameter at each
/// join is unused, and one is redundant.
fn parameters(ctx: &Arc<Context>, insts: usize) -> Function {
    let (mut f, mut block, x) = start(ctx);
    let mut last = x;
    for k in 0..insts / 4 {
        let (then, other, join) = (f.add_block(), f.add_block(), f.add_block());
        let [p, q, _] = [0; 3].map(|_| f.append_param(join, Type::I64).expect("no edge yet"));
        let kk = constant(&f, k as i64 % 50);
        let c = push(&mut f, block, arith::lt(last, kk));
        end(&mut f, block, Inst::new(cf::BR).operand(c).operand(then).operand(other));
        let a = push(&mut f, then, arith::add(last, kk));
        end(&mut f, then, cf::br(join, [a, last, a]));
        let b = push(&mut f, other, arith::sub(last, kk));
        end(&mut f, other, cf::br(join, [b, last, b]));
        last = push(&mut f, join, arith::xor(p, q));
        block = join;
    }
    end(&mut f, block, cf::ret(last));
    f
}

/// Switches of a thousand cases, each to an empty block that goes to the next switch.
fn many_cases(ctx: &Arc<Context>, insts: usize) -> Function {
    let (mut f, mut block, x) = start(ctx);
    let mut last = x;
    for _ in 0..insts / 1000 {
        let join = f.add_block();
        let sum = f.append_param(join, Type::I64).expect("no edge yet");
        let unused = f.append_param(join, Type::I64).expect("no edge yet");
        let cases: Vec<(Operand, Block)> =
            (0..1000).map(|k| (constant(&f, k), f.add_block())).collect();
        for &(k, case) in &cases {
            end(&mut f, case, cf::br(join, [k, last.into()]));
        }
        let default = cases[0].1;
        end(&mut f, block, cf::switch(last, default, cases));
        last = push(&mut f, join, arith::add(sum, unused));
        block = join;
    }
    end(&mut f, block, cf::ret(last));
    f
}

/// Nests of 100 loops one after the other, each loop but the innermost with nothing but its counter.
fn nests(ctx: &Arc<Context>, insts: usize) -> Function {
    const DEPTH: usize = 100;
    let (mut f, mut block, x) = start(ctx);
    let (zero, one) = (constant(&f, 0), constant(&f, 1));
    let mut last: Operand = x.into();
    for n in 0..insts.div_ceil(4 * DEPTH) {
        let mut loops = Vec::with_capacity(DEPTH);
        for _ in 0..DEPTH {
            let (header, body, next) = (f.add_block(), f.add_block(), f.add_block());
            let i = f.append_param(header, Type::I64).expect("no edge yet");
            let sum = f.append_param(header, Type::I64).expect("no edge yet");
            end(&mut f, block, cf::br(header, [zero, last]));
            let more = push(&mut f, header, arith::lt(i, x));
            end(&mut f, header, Inst::new(cf::BR).operand(more).operand(body).operand(next));
            loops.push((header, next, i, sum));
            (block, last) = (body, sum.into());
        }
        let seen = constant(&f, n as i64);
        last = push(&mut f, block, arith::xor(last, seen)).into();
        while let Some((header, next, i, sum)) = loops.pop() {
            let next_i = push(&mut f, block, arith::add(i, one));
            end(&mut f, block, cf::br(header, [next_i.into(), last]));
            (block, last) = (next, sum.into());
        }
    }
    end(&mut f, block, cf::ret(last));
    f
}
