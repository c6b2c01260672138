//! The speed of inference and emission: instructions per second, over a generated program of
//! 10 000 functions of ordinary arithmetic, loops and calls.
//!
//! `cargo run --release -p regraft-lang --example infer_speed [COUNT]`

use std::sync::Arc;
use std::time::{Duration, Instant};

use regraft_dialects::context;
use regraft_ir::{Context, Function, Loc, Type, TypeKind};
use regraft_lang::definition::{
    Callee, MethodDef, MethodHead, ParamDecl, Space, TypeExpr, TypeExprKind,
};
use regraft_lang::testing::Compiler;
use regraft_lang::world::World;

/// The methods of the prelude that the program uses: each is one op.
const OPS: [(&str, &str, &str); 8] = [
    ("+", "Float64", "arith.add"),
    ("*", "Float64", "arith.mul"),
    ("-", "Float64", "arith.sub"),
    ("<", "Float64", "arith.lt"),
    ("+", "Int64", "arith.add"),
    ("*", "Int64", "arith.mul"),
    ("-", "Int64", "arith.sub"),
    ("<", "Int64", "arith.lt"),
];

fn method(
    ctx: &Arc<Context>,
    name: &str,
    types: &[&str],
    body: Function,
    space: Space,
) -> MethodDef {
    let params = types
        .iter()
        .map(|ty| ParamDecl {
            name: None,
            ty: TypeExpr { kind: TypeExprKind::Name(ctx.symbol(ty)), loc: Loc::UNKNOWN },
        })
        .collect();
    let callee = Callee::Function(ctx.symbol(name));
    let mut head = MethodHead::plain(callee, params, space, Loc::UNKNOWN);
    head.extends_base = space == Space::Base;
    MethodDef { head, body: Arc::new(body), closures: Vec::new(), generator: None }
}

/// The time that this thread has run for, if the system tells; else the time that has passed. Where
/// other programs run as well, only the former says something.
fn clock(start: Instant) -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = stat.and_then(|text| text.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

fn main() {
    let count: usize = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(10_000);
    let ctx = context();
    let mut world = World::new(&ctx);
    let mut text = String::new();
    for (i, (_, _, op)) in OPS.iter().enumerate() {
        text.push_str(&format!(
            "func @op{i}(%1: any, %2: any) -> any {{\n^1:\n %3 = call @{op}(%1, %2)\n return %3\n}}\n"
        ));
    }
    for i in 0..count {
        // Each calls one that comes before it.
        let callee = format!("f{}", i / 2);
        let call = if i == 0 {
            "%14 = call @\"+\"(%6, %13)".to_owned()
        } else {
            format!("%14 = call @{callee}(%6, %1)")
        };
        text.push_str(&format!(
            "func @f{i}(%x: any, %n: any) -> any {{
^1:
 %3 = call @\"*\"(%x, 0.5)
 %4 = call @\"+\"(%3, {i}.0)
 br ^2(%4, 0)
^2(%5: any, %7: any):
 %8 = call @\"<\"(%7, %n)
 br %8, ^3, ^4
^3:
 %9 = call @\"*\"(%5, %x)
 %10 = call @\"+\"(%9, 1.0)
 %11 = call @\"-\"(%10, %4)
 %12 = call @\"+\"(%7, 1)
 %15 = call @\"<\"(%11, %4)
 br %15, ^5, ^2(%11, %12)
^5:
 %16 = call @\"*\"(%11, %11)
 br ^2(%16, %12)
^4:
 %17 = call @\"-\"(%n, 1)
 %18 = call @\"<\"(0, %17)
 br %18, ^6, ^7
^6:
 {}
 %19 = call @\"*\"(%14, %5)
 return %19
^7:
 return %5
}}\n",
            call.replace("%6", "%4").replace("%13", "%5").replace("(%4, %1)", "(%4, %17)")
        ));
    }
    let module = regraft_syntax::parse_module(&ctx, "speed.ir", &text).unwrap_or_else(|errors| {
        panic!("{:?}", errors.first());
    });
    let lowered: usize = module.functions().map(Function::inst_count).sum();
    for (i, (name, ty, _)) in OPS.iter().enumerate() {
        let body = module.function(&format!("op{i}")).expect("it is there").clone();
        world.define(method(&ctx, name, &[ty, ty], body, Space::Base)).expect("it is right");
    }
    for i in 0..count {
        let name = format!("f{i}");
        let body = module.function(&name).expect("it is there").clone();
        world.define(method(&ctx, &name, &["Any", "Any"], body, Space::Main)).expect("it is right");
    }
    let callees: Vec<Type> =
        (0..count).map(|i| ctx.ty(TypeKind::Fn(ctx.symbol(&format!("f{i}"))))).collect();
    let mut compiler = Compiler::new(&ctx, world);
    let start = Instant::now();
    let from = clock(start);
    let mut specs = Vec::new();
    for &callee in callees.iter().rev() {
        specs
            .push(compiler.specialize(callee, &[Type::F64, Type::I64]).expect("there is a method"));
    }
    let inferred = clock(start) - from;
    let mut emitted = 0;
    for spec in specs {
        emitted += compiler.function(spec).inst_count();
    }
    let all = clock(start) - from;
    let rate = |time: Duration| lowered as f64 / time.as_secs_f64() / 1e6;
    println!("{count} functions, {lowered} lowered instructions, {emitted} typed");
    println!("inference            {inferred:>10.2?}  {:.2} M instructions/s", rate(inferred));
    println!(
        "emission             {:>10.2?}  {:.2} M instructions/s",
        all - inferred,
        rate(all - inferred)
    );
    println!("both                 {all:>10.2?}  {:.2} M instructions/s", rate(all));
    drop(compiler);
    for size in [1_000, 10_000, 100_000] {
        large("without branches", size, straight);
        large("in blocks of two", size, blocks);
    }
}

/// `size` instructions, one after the other.
fn straight(size: usize) -> String {
    let mut text = String::from("^1:\n %3 = call @\"+\"(%1, %1)\n");
    for v in 3..size + 2 {
        text.push_str(&format!(" %{} = call @\"*\"(%{v}, %1)\n", v + 1));
    }
    text + &format!(" return %{}\n", size + 2)
}

/// `size` instructions in blocks of two, each of which goes on with what it was given or with
/// something new.
fn blocks(size: usize) -> String {
    let count = size / 2 + 1;
    let mut text = String::from("^1:\n br ^2(%1)\n");
    for block in 2..=count {
        let (x, c, y, to) = (3 * block, 3 * block + 1, 3 * block + 2, block + 1);
        text.push_str(&format!(
            "^{block}(%{x}: any):\n %{c} = call @\"<\"(%{x}, %1)\n \
             %{y} = call @\"+\"(%{x}, %1)\n br %{c}, ^{to}(%{y}), ^{to}(%{x})\n"
        ));
    }
    let (block, x) = (count + 1, 3 * count + 3);
    text + &format!("^{block}(%{x}: any):\n return %{x}\n")
}

/// 100 000 instructions in functions of `size` each: what one costs should not depend on it.
fn large(what: &str, size: usize, code: fn(usize) -> String) {
    let ctx = context();
    let mut world = World::new(&ctx);
    let count = 100_000 / size;
    let mut text = String::new();
    for (i, (_, _, op)) in OPS.iter().enumerate() {
        text.push_str(&format!(
            "func @op{i}(%1: any, %2: any) -> any {{\n^1:\n %3 = call @{op}(%1, %2)\n return %3\n}}\n"
        ));
    }
    let code = code(size);
    for i in 0..count {
        text.push_str(&format!("func @f{i}(%1: any, %2: any) -> any {{\n{code}}}\n"));
    }
    let module = regraft_syntax::parse_module(&ctx, "large.ir", &text)
        .unwrap_or_else(|errors| panic!("{:?}", errors.first()));
    for (i, (name, ty, _)) in OPS.iter().enumerate() {
        let body = module.function(&format!("op{i}")).expect("it is there").clone();
        world.define(method(&ctx, name, &[ty, ty], body, Space::Base)).expect("it is right");
    }
    let mut callees = Vec::new();
    for i in 0..count {
        let name = format!("f{i}");
        let body = module.function(&name).expect("it is there").clone();
        world.define(method(&ctx, &name, &["Any", "Any"], body, Space::Main)).expect("it is right");
        callees.push(ctx.ty(TypeKind::Fn(ctx.symbol(&name))));
    }
    let mut compiler = Compiler::new(&ctx, world);
    let start = Instant::now();
    let from = clock(start);
    let mut emitted = 0;
    for callee in callees {
        let spec = compiler.specialize(callee, &[Type::F64, Type::I64]).expect("there is one");
        emitted += compiler.function(spec).inst_count();
    }
    let time = clock(start) - from;
    println!("{count:>3} functions of {size:>6} {what}: {time:>9.2?}, {emitted} typed");
}
