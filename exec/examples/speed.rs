//! Prints how many instructions of the IR the interpreter runs per second.
//!
//! `cargo run --release -p regraft-exec --example speed [PART OF THE NAME OF A MEASUREMENT]`

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use regraft_dialects::{arith, cf, context, core, mem};
use regraft_exec::value::Array;
use regraft_exec::{CallResolver, Engine, Host, Interpreter, ResolvedCall, Trap, Val};
use regraft_ir::{Constant, Context, Function, IrResult, Module, Operand, Symbol, Type};

fn main() -> IrResult<()> {
    let ctx = context();
    let mut module = Module::new(&ctx);
    module.add(int_loop(&ctx)?)?;
    module.add(float_loop(&ctx)?)?;
    module.add(fib(&ctx)?)?;
    module.add(array_loop(&ctx)?)?;
    for function in dynamic_loop(&ctx)? {
        module.add(function)?;
    }
    let mut engine = Interpreter::new(&module);
    let n = 50_000_000i64;
    // Instructions of the IR per iteration, the branches included.
    measure(&mut engine, "int loop", "int_loop", &[n.into()], 5.0 * n as f64);
    measure(&mut engine, "float loop", "float_loop", &[n.into()], 6.0 * n as f64);
    // Of fib(31) - 1 calls that call on, each is 8 instructions; of fib(31) that do not, 3.
    let insts = 8.0 * 1_346_268.0 + 3.0 * 1_346_269.0;
    measure(&mut engine, "fib(30), calls", "fib", &[30i64.into()], insts);
    engine.set_call_resolver(Box::new(Methods { ctx: Arc::clone(&ctx) }));
    let n = 3_000_000i64;
    // Four calls that only the types of the arguments decide, and two branches.
    measure(&mut engine, "dynamic loop", "dynamic_loop", &[n.into()], 6.0 * n as f64);
    let xs = Val::from(Array::vector(&vec![1.5f64; 10_000_000]));
    measure(&mut engine, "array loop", "array_loop", &[xs], 7.0 * 1e7);
    Ok(())
}

fn measure(engine: &mut Interpreter, what: &str, function: &str, args: &[Val], insts: f64) {
    if std::env::args().nth(1).is_some_and(|only| !what.contains(&only)) {
        return;
    }
    let mut best = f64::INFINITY;
    let mut result = Val::Unit;
    for _ in 0..3 {
        let start = Instant::now();
        result = engine.call(function, args).expect("the program runs");
        best = best.min(start.elapsed().as_secs_f64());
    }
    let (ir, compact) = (insts / best / 1e6, engine.instructions() as f64 / best / 1e6);
    println!(
        "{what:>16}: {ir:6.0} M/s of the IR, {compact:6.0} M/s compact, {best:.3} s, {result:?}"
    );
}

fn int_loop(ctx: &Arc<Context>) -> IrResult<Function> {
    let mut f = Function::new(ctx, "int_loop", &[Type::I64], Type::I64);
    let entry = f.entry().expect("there is one");
    let n = f.param(entry, 0).expect("there is one");
    let (head, body, done) = (f.add_block(), f.add_block(), f.add_block());
    let i = f.append_param(head, Type::I64)?;
    let acc = f.append_param(head, Type::I64)?;
    let (zero, one) = (ctx.constant_id(0i64), ctx.constant_id(1i64));
    f.set_terminator(entry, cf::br(head, [zero, zero]))?;
    let more = f.push(head, arith::lt(i, n))?;
    f.set_terminator(
        head,
        cf::br_if(more, body, [] as [regraft_ir::Value; 0], done, [] as [regraft_ir::Value; 0]),
    )?;
    let next = f.push(body, arith::add(i, one))?;
    let sum = f.push(body, arith::add(acc, next))?;
    f.set_terminator(body, cf::br(head, [next, sum]))?;
    f.set_terminator(done, cf::ret(acc))?;
    Ok(f)
}

fn float_loop(ctx: &Arc<Context>) -> IrResult<Function> {
    let mut f = Function::new(ctx, "float_loop", &[Type::I64], Type::F64);
    let entry = f.entry().expect("there is one");
    let n = f.param(entry, 0).expect("there is one");
    let (head, body, done) = (f.add_block(), f.add_block(), f.add_block());
    let i = f.append_param(head, Type::I64)?;
    let acc = f.append_param(head, Type::F64)?;
    let (zero, one) = (ctx.constant_id(0i64), ctx.constant_id(1i64));
    let (start, factor, term) =
        (ctx.constant_id(1.0), ctx.constant_id(0.999), ctx.constant_id(0.5));
    f.set_terminator(entry, cf::br(head, [zero, start]))?;
    let more = f.push(head, arith::lt(i, n))?;
    f.set_terminator(
        head,
        cf::br_if(more, body, [] as [regraft_ir::Value; 0], done, [] as [regraft_ir::Value; 0]),
    )?;
    let next = f.push(body, arith::add(i, one))?;
    let product = f.push(body, arith::mul(acc, factor))?;
    let sum = f.push(body, arith::add(product, term))?;
    f.set_terminator(body, cf::br(head, [next, sum]))?;
    f.set_terminator(done, cf::ret(acc))?;
    Ok(f)
}

fn fib(ctx: &Arc<Context>) -> IrResult<Function> {
    let mut f = Function::new(ctx, "fib", &[Type::I64], Type::I64);
    let entry = f.entry().expect("there is one");
    let n = f.param(entry, 0).expect("there is one");
    let (base, more) = (f.add_block(), f.add_block());
    let (one, two) = (ctx.constant_id(1i64), ctx.constant_id(2i64));
    let callee = ctx.constant_id(Constant::Func(ctx.symbol("fib")));
    let small = f.push(entry, arith::lt(n, two))?;
    f.set_terminator(
        entry,
        cf::br_if(small, base, [] as [regraft_ir::Value; 0], more, [] as [regraft_ir::Value; 0]),
    )?;
    f.set_terminator(base, cf::ret(n))?;
    let n1 = f.push(more, arith::sub(n, one))?;
    let f1 = f.push(more, core::call(callee, [n1], Type::I64))?;
    let n2 = f.push(more, arith::sub(n, two))?;
    let f2 = f.push(more, core::call(callee, [n2], Type::I64))?;
    let sum = f.push(more, arith::add(f1, f2))?;
    f.set_terminator(more, cf::ret(sum))?;
    Ok(f)
}

/// Finds functions by the name of the callee and the types of two arguments.
struct Methods {
    ctx: Arc<Context>,
}

impl CallResolver for Methods {
    fn resolve(&mut self, callee: &Val, args: &[Val], _: &mut Host) -> Result<ResolvedCall, Trap> {
        let &Val::Func(name) = callee else { return Err(Trap::type_error("not a function")) };
        let types = args.iter().map(|arg| self.ctx.type_text(arg.type_of(&self.ctx)));
        let types = types.collect::<Vec<_>>().join(", ");
        let function = self.ctx.symbol(&format!("{}({types})", self.ctx.str(name)));
        Ok(ResolvedCall { function, fixed: None, pass_callee: false, by_value: false })
    }

    fn function(&mut self, _: Symbol, _: Option<&mut Host>) -> Result<Option<Rc<Function>>, Trap> {
        Ok(None)
    }
}

/// `while i < n; i += 1; acc = acc * 0.999 + i; end` with no type known, and what it calls.
fn dynamic_loop(ctx: &Arc<Context>) -> IrResult<Vec<Function>> {
    let method = |name: &str, params: [Type; 2], ret: Type| -> IrResult<_> {
        let mut f = Function::new(ctx, name, &params, ret);
        let entry = f.entry().expect("there is one");
        let [x, y] = [0, 1].map(|i| f.param(entry, i).expect("there is one"));
        let y = if params == [Type::F64, Type::I64] {
            f.push(entry, arith::int_to_float(y, Type::F64))?
        } else {
            y
        };
        let result = match name.as_bytes()[0] {
            b'<' => f.push(entry, arith::lt(x, y))?,
            b'*' => f.push(entry, arith::mul(x, y))?,
            _ => f.push(entry, arith::add(x, y))?,
        };
        f.set_terminator(entry, cf::ret(result))?;
        Ok(f)
    };
    let mut f = Function::new(ctx, "dynamic_loop", &[Type::ANY], Type::ANY);
    let entry = f.entry().expect("there is one");
    let n = f.param(entry, 0).expect("there is one");
    let (head, body, done) = (f.add_block(), f.add_block(), f.add_block());
    let i = f.append_param(head, Type::ANY)?;
    let acc = f.append_param(head, Type::ANY)?;
    let zero = Operand::from(ctx.constant_id(0i64));
    let start = Operand::from(ctx.constant_id(0.0));
    f.set_terminator(entry, cf::br(head, [zero, start]))?;
    let function = |name: &str| ctx.constant_id(Constant::Func(ctx.symbol(name)));
    let more = f.push(head, core::apply(function("<"), [i, n], Type::ANY))?;
    let more = f.push(head, core::typeassert(more, Type::BOOL))?;
    f.set_terminator(
        head,
        cf::br_if(more, body, [] as [regraft_ir::Value; 0], done, [] as [regraft_ir::Value; 0]),
    )?;
    let (one, factor) = (ctx.constant_id(1i64), ctx.constant_id(0.999));
    let next =
        f.push(body, core::apply(function("+"), [Operand::from(i), one.into()], Type::ANY))?;
    let product =
        f.push(body, core::apply(function("*"), [Operand::from(acc), factor.into()], Type::ANY))?;
    let sum = f.push(body, core::apply(function("+"), [product, next], Type::ANY))?;
    f.set_terminator(body, cf::br(head, [next, sum]))?;
    f.set_terminator(done, cf::ret(acc))?;
    Ok(vec![
        f,
        method("<(i64, i64)", [Type::I64, Type::I64], Type::BOOL)?,
        method("+(i64, i64)", [Type::I64, Type::I64], Type::I64)?,
        method("*(f64, f64)", [Type::F64, Type::F64], Type::F64)?,
        method("+(f64, i64)", [Type::F64, Type::I64], Type::F64)?,
    ])
}

fn array_loop(ctx: &Arc<Context>) -> IrResult<Function> {
    let xs_type = ctx.array_type(Type::F64, 1);
    let mut f = Function::new(ctx, "array_loop", &[xs_type], Type::F64);
    let entry = f.entry().expect("there is one");
    let xs = f.param(entry, 0).expect("there is one");
    let (head, body, done) = (f.add_block(), f.add_block(), f.add_block());
    let i = f.append_param(head, Type::I64)?;
    let acc = f.append_param(head, Type::F64)?;
    let (one, zero) = (ctx.constant_id(1i64), ctx.constant_id(0.0));
    let n = f.push(entry, mem::length(xs))?;
    f.set_terminator(entry, cf::br(head, [one.into(), Operand::from(zero)]))?;
    let more = f.push(head, arith::le(i, n))?;
    f.set_terminator(
        head,
        cf::br_if(more, body, [] as [regraft_ir::Value; 0], done, [] as [regraft_ir::Value; 0]),
    )?;
    let x = f.push(body, mem::load(xs, [i]))?;
    let square = f.push(body, arith::mul(x, x))?;
    let sum = f.push(body, arith::add(acc, square))?;
    let next = f.push(body, arith::add(i, one))?;
    f.set_terminator(body, cf::br(head, [next, sum]))?;
    f.set_terminator(done, cf::ret(acc))?;
    Ok(f)
}
