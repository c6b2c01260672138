//! Programs as text, which the tests share.

#![allow(dead_code)]

use regraft_exec::value::{live_bytes, show_string};
use regraft_exec::{Engine, EngineKind, ExecError, Interpreter, Limits, Val};
use regraft_ir::Module;

/// The loop of `@f` runs until somebody stops it.
pub const ENDLESS: &str = "
func @f() -> i64 {
^1:
  br ^2(0)
^2(%1: i64):
  %2: i64 = arith.add %1, 1
  br ^2(%2)
}";

/// The program in `text`.
pub fn module(text: &str) -> Module {
    let ctx = regraft_dialects::context();
    match regraft_syntax::parse_and_verify(&ctx, "test.ir", text) {
        Ok(module) => module,
        Err(errors) => panic!("{}", regraft_ir::render_all(&errors, false)),
    }
}

/// An interpreter of the program in `text`.
pub fn engine(text: &str) -> Interpreter {
    Interpreter::new(&module(text))
}

/// A program as native code of this engine.
pub fn native(module: &Module, engine: EngineKind) -> Interpreter {
    let mut interpreter = Interpreter::new(module);
    interpreter.set_engine(engine).expect("there is a back end for this machine");
    interpreter
}

/// The result of a call, as Julia shows it.
pub fn shown(engine: &mut Interpreter, function: &str, args: &[Val]) -> String {
    match engine.call(function, args) {
        Ok(value) => show_string(engine.ctx(), &value),
        Err(error) => error.message(),
    }
}

/// The result of `@f` of a program with these arguments, as Julia shows it, or the error.
pub fn run(text: &str, args: &[Val]) -> String {
    shown(&mut engine(text), "f", args)
}

/// The error of `@f` of a program within limits.
pub fn error(text: &str, args: &[Val], limits: Limits) -> ExecError {
    let mut engine = engine(text);
    engine.set_limits(limits);
    engine.call("f", args).expect_err("it goes wrong")
}

/// The result of a call, or the error with the places that led to it.
pub fn outcome(engine: &mut Interpreter, args: &[Val]) -> String {
    let result = engine.call("f", args);
    let output = engine.take_output();
    match result {
        Ok(value) => format!("{output}{}", show_string(engine.ctx(), &value)),
        Err(error) => {
            let spots = error.chain().spots().map(|spot| format!(" at {}", spot.value));
            format!("{output}{}{}", error.message(), spots.collect::<String>())
        }
    }
}

/// Runs `@f` natively and by the interpreter, and gives what both have done.
pub fn run_both(text: &str, args: &[Val]) -> String {
    let module = module(text);
    let mut interpreter = Interpreter::new(&module);
    interpreter.set_engine(EngineKind::Interpreter).expect("it is always there");
    let plain = outcome(&mut interpreter, args);
    assert_eq!(
        outcome(&mut native(&module, EngineKind::Cranelift), args),
        plain,
        "native code and the interpreter"
    );
    plain
}

/// Checks that calls which are made again and again leave no more behind than they do the first time.
#[track_caller]
pub fn nothing_stays(mut engine: Interpreter, calls: impl Fn(&mut Interpreter)) {
    calls(&mut engine);
    let before = live_bytes();
    (0..10_000).for_each(|_| calls(&mut engine));
    assert_eq!(live_bytes(), before, "{}", engine.name());
}

/// Checks that calls of `@f` by native code leave nothing behind.
#[track_caller]
pub fn leaves_nothing(text: &str, args: &[Val]) {
    nothing_stays(native(&module(text), EngineKind::Cranelift), |engine| {
        engine.call("f", args).expect("it works");
    });
}
