//! The time that recording takes itself, measured where it is spent: in the interpreter.
//!
//! A loop calls a function that does nothing, and one that does nothing but record itself. The
//! difference is what a recorded call costs. The part of it that goes by between the two times that
//! are taken counts as time of the function, the rest as time of the function around it. A function that
//! calls itself says what it costs to record a call directly in one of the same function.

use std::sync::Arc;

use regraft_dialects::{arith, cf, core, prof};
use regraft_ir::{Constant, Context, Function, FunctionBuilder, IrResult, Module, Type};

use crate::engine::Engine;
use crate::interp::Interpreter;
use crate::profiler::{Overhead, Profiler, ProfilerOptions};
use crate::value::Val;

/// The calls of a measurement; the least of so many measurements counts.
const CALLS: i64 = 2000;
const MEASUREMENTS: usize = 10;

/// Measures what it costs to record a call, in ticks of the clock of a host. It takes one or two
/// milliseconds.
pub fn recording_cost(ctx: &Arc<Context>, options: ProfilerOptions) -> Overhead {
    let module = module(ctx).expect("the functions are right");
    let mut interpreter = Interpreter::new(&module);
    let log = options.log.map(|_| 2 * CALLS as usize + 2);
    let options = ProfilerOptions { log, sums: options.sums.map(|_| 4) };
    let mut least = [f64::INFINITY; 5];
    for _ in 0..MEASUREMENTS {
        let [plain, inside, recorded, plain_again, recorded_again] = &mut least;
        let (ticks, _) = measure(&mut interpreter, "calls", None);
        *plain = plain.min(ticks);
        let profiler = Profiler::new(ctx, options);
        let (ticks, own) = measure(&mut interpreter, "recorded calls", Some(profiler));
        *recorded = recorded.min(ticks);
        *inside = inside.min(own);
        *plain_again = plain_again.min(measure(&mut interpreter, "recursion", None).0);
        let profiler = Profiler::new(ctx, options);
        let (ticks, _) = measure(&mut interpreter, "recorded recursion", Some(profiler));
        *recorded_again = recorded_again.min(ticks);
    }
    let [plain, inside, recorded, plain_again, recorded_again] =
        least.map(|ticks| ticks / CALLS as f64);
    Overhead {
        inside,
        outside: (recorded - plain - inside).max(0.0),
        again: (recorded_again - plain_again).max(0.0),
    }
}

/// Runs a function; returns the ticks that it took, and those of recorded calls in it.
fn measure(interpreter: &mut Interpreter, name: &str, profiler: Option<Profiler>) -> (f64, f64) {
    let is_recorded = profiler.is_some();
    interpreter.host_mut().profiler = profiler.unwrap_or_default();
    let begin = interpreter.host_mut().ticks();
    let result = interpreter.call(name, &[Val::I64(CALLS)]);
    debug_assert!(result.is_ok());
    let end = interpreter.host_mut().ticks();
    let profiler = std::mem::take(&mut interpreter.host_mut().profiler);
    let own =
        if is_recorded { profiler.finish(end, 1.0, Overhead::default()).total() } else { 0.0 };
    (end.wrapping_sub(begin) as f64, own)
}

fn module(ctx: &Arc<Context>) -> IrResult<Module> {
    let mut module = Module::new(ctx);
    for (callee, caller) in [("nothing", "calls"), ("recorded", "recorded calls")] {
        let mut b = FunctionBuilder::new(ctx, callee, &[Type::I64], Type::I64);
        let x = b.param(0);
        if callee == "recorded" {
            let event = b.function().constant_id(Constant::Sym(ctx.symbol(callee)));
            b.push(prof::record_start(event))?;
            b.push(prof::record_end(event))?;
        }
        b.terminate(cf::ret(x))?;
        module.add(b.finish()?)?;
        module.add(caller_of(ctx, callee, caller)?)?;
    }
    for name in ["recursion", "recorded recursion"] {
        module.add(recursion(ctx, name, name != "recursion")?)?;
    }
    Ok(module)
}

/// A function of a number that calls itself so many times, one call in the other.
fn recursion(ctx: &Arc<Context>, name: &str, is_recorded: bool) -> IrResult<Function> {
    let mut b = FunctionBuilder::new(ctx, name, &[Type::I64], Type::I64);
    let x = b.param(0);
    let event = b.function().constant_id(Constant::Sym(ctx.symbol(name)));
    let (again, exit) = (b.add_block(), b.add_block());
    if is_recorded {
        b.push(prof::record_start(event))?;
    }
    let goes_on = b.push(arith::lt(b.const_i64(0), x))?;
    b.terminate(cf::jump_if(goes_on, again, exit))?;
    b.switch_to(again)?;
    let less = b.push(arith::sub(x, b.const_i64(1)))?;
    let callee = b.function().constant_id(Constant::Func(ctx.symbol(name)));
    let result = b.push(core::call(callee, [less], Type::I64))?;
    if is_recorded {
        b.push(prof::record_end(event))?;
    }
    b.terminate(cf::ret(result))?;
    b.switch_to(exit)?;
    if is_recorded {
        b.push(prof::record_end(event))?;
    }
    b.terminate(cf::ret(x))?;
    b.finish()
}

/// A function of a number that calls `callee` so many times.
fn caller_of(ctx: &Arc<Context>, callee: &str, name: &str) -> IrResult<Function> {
    let mut b = FunctionBuilder::new(ctx, name, &[Type::I64], Type::I64);
    let left = b.declare_var("left", Type::I64);
    b.def_var(left, b.param(0))?;
    let (head, body, exit) = (b.add_block(), b.add_block(), b.add_block());
    b.terminate(cf::jump(head))?;
    b.switch_to(head)?;
    let value = b.use_var(left)?;
    let goes_on = b.push(arith::lt(b.const_i64(0), value))?;
    b.terminate(cf::jump_if(goes_on, body, exit))?;
    b.switch_to(body)?;
    let callee = b.function().constant_id(Constant::Func(ctx.symbol(callee)));
    let value = b.use_var(left)?;
    let value = b.push(core::call(callee, [value], Type::I64))?;
    let value = b.push(arith::sub(value, b.const_i64(1)))?;
    b.def_var(left, value)?;
    b.terminate(cf::jump(head))?;
    b.switch_to(exit)?;
    let value = b.use_var(left)?;
    b.terminate(cf::ret(value))?;
    b.finish()
}
