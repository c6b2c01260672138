//! The world outside of a program: the profiler, ops of a third party, a new module.

mod common;

use common::{engine, shown};
use regraft_exec::{Engine, ErrorKind, EvalCx, EvalTable, Interpreter, Trap, Val};
use regraft_ir::{Context, Extensions, Loc};

const PROFILED: &str = "
func @f() -> unit {
^1:
  %1: unit = prof.record_start :outer
  %2: unit = prof.record_start :inner
  %3: unit = prof.record_end :inner
  %4: unit = prof.record_end :outer
  %5: unit = prof.report
  return nothing
}
func @small() -> unit {
^1:
  %1: unit = prof.resize 1
  %2: unit = prof.record_start :outer
  %3: unit = prof.record_end :outer
  %4: unit = prof.report
  %5: unit = prof.reset
  %6: unit = prof.report
  return nothing
}";

#[test]
fn the_profiler_prints_a_nested_log_with_times_since_the_first_event() {
    let mut e = engine(PROFILED);
    let mut now = 900;
    e.host_mut().set_clock(move || {
        now += 100;
        now
    });
    e.call("f", &[]).expect("it runs");
    assert_eq!(e.take_output(), "outer: 0.0\n inner: 100.0\n inner: 200.0\nouter: 300.0\n");
    e.call("small", &[]).expect("it runs");
    let warning = "Warning: The recording buffer was too small, consider increasing it: \
                   1 of 2 stamps were lost\n";
    assert_eq!(e.take_output(), format!("{warning}outer: 0.0\n"));
}

mod colour {
    use regraft_dialects::semantics::{Float, Trap};

    regraft_dialects::dialect! {
        /// Ops of colours.
        dialect colour = 40;

        /// The mean of two channels.
        MIX = mix(x: f64, y: f64) -> f64 [PURE];

        /// The same channel, paler. Traps if it is negative.
        FADE = fade(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(faded);
    }

    fn faded<T: Float>(x: T) -> Result<T, Trap> {
        if x < T::ZERO { Err(Trap::Argument("a negative channel")) } else { Ok(x / (x + x)) }
    }
}

const MIXED: &str = "
func @f(%1: f64) -> f64 {
^1:
  %2: f64 = colour.mix %1, 4.0
  return %2
}";

fn colours() -> Extensions {
    let mut extensions = Extensions::new(regraft_dialects::registry());
    extensions.add_dialect(&colour::DIALECT);
    extensions
}

#[test]
fn anyone_can_register_an_evaluation() {
    fn mix(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
        match args {
            [Val::F64(x), Val::F64(y)] => Ok(Val::F64((x + y) / 2.0)),
            _ => Err(cx.wrong_types(args)),
        }
    }
    let mut extensions = colours();
    extensions.edit::<EvalTable>().register(colour::MIX, mix);
    let ctx = Context::with_extensions(&extensions.into());
    let module = regraft_syntax::parse_and_verify(&ctx, "mix.ir", MIXED).expect("it parses");
    let mut e = Interpreter::new(&module);
    assert_eq!(shown(&mut e, "f", &[2.0.into()]), "3.0");
    let _inst = colour::mix(ctx.constant_id(1.0), ctx.constant_id(2.0));
}

#[test]
fn an_op_is_evaluated_as_its_declaration_says() {
    let text = "
func @typed(%1: f32) -> f32 {
^1:
  %2: f32 = colour.fade %1
  return %2
}
func @dynamic(%1: any) -> any {
^1:
  %2: any = colour.fade %1
  return %2
}";
    let ctx = Context::with_extensions(&colours().into());
    let module = regraft_syntax::parse_and_verify(&ctx, "fade.ir", text).expect("it parses");
    let mut e = Interpreter::new(&module);
    assert_eq!(shown(&mut e, "typed", &[Val::F32(3.0)]), "0.5f0");
    assert_eq!(shown(&mut e, "dynamic", &[Val::F32(3.0)]), "0.5f0");
    assert_eq!(shown(&mut e, "dynamic", &[3.0.into()]), "0.5");
    let trap = "ArgumentError: a negative channel";
    assert_eq!(shown(&mut e, "typed", &[Val::F32(-3.0)]), trap);
    assert_eq!(shown(&mut e, "dynamic", &[(-3.0).into()]), trap);
    let wrong = "TypeError: `colour.fade` does not work on i64";
    assert_eq!(shown(&mut e, "dynamic", &[Val::I64(3)]), wrong);
}

#[test]
fn an_op_without_evaluation_and_one_of_a_wrong_type_are_errors() {
    fn wrong(_: &mut EvalCx<'_>, _: &[Val]) -> Result<Val, Trap> {
        Ok(Val::I64(1))
    }
    let parse = |extensions: Extensions| {
        let ctx = Context::with_extensions(&extensions.into());
        regraft_syntax::parse_and_verify(&ctx, "mix.ir", MIXED).expect("it parses")
    };
    let module = parse(colours());
    let error = Interpreter::new(&module).call("f", &[2.0.into()]).expect_err("no row");
    assert_eq!(*error.kind(), ErrorKind::Module);
    assert_eq!(error.message(), "there is no evaluation function for `colour.mix`");
    let mut extensions = colours();
    extensions.edit::<EvalTable>().register(colour::MIX, wrong);
    let mut e = Interpreter::new(&parse(extensions));
    assert_eq!(
        shown(&mut e, "f", &[2.0.into()]),
        "TypeError: expected a value of type f64, found i64"
    );
}

#[test]
fn a_new_module_takes_the_place_of_the_old() {
    let ctx = regraft_dialects::context();
    let parse =
        |text: &str| regraft_syntax::parse_and_verify(&ctx, "test.ir", text).expect("it parses");
    let caller = "func @f() -> any {\n^1:\n  %1 = call @g(2)\n  return %1\n}\n";
    let first = parse(&format!("{caller}func @g(%1: i64) -> any {{\n^1:\n  return %1\n}}"));
    let mut e = Interpreter::new(&first);
    assert_eq!(shown(&mut e, "f", &[]), "2");
    // The body changes.
    let second = parse(&format!("{caller}func @g(%1: i64) -> any {{\n^1:\n  return :new\n}}"));
    e.load(&second).expect("the same context");
    assert_eq!(shown(&mut e, "f", &[]), ":new");
    // The signature changes: the argument has to be boxed now.
    let third = parse(&format!("{caller}func @g(%1: any) -> any {{\n^1:\n  return %1\n}}"));
    e.load(&third).expect("the same context");
    assert_eq!(shown(&mut e, "f", &[]), "2");
    // The callee is gone.
    let fourth = parse("func @h() -> i64 {\n^1:\n  return 4\n}");
    e.load(&fourth).expect("the same context");
    assert_eq!(shown(&mut e, "f", &[]), "there is no function @f");
    assert_eq!(shown(&mut e, "h", &[]), "4");
    let foreign = common::engine("func @h() -> i64 {\n^1:\n  return 4\n}");
    let other = regraft_ir::Module::new(foreign.ctx());
    assert_eq!(*e.load(&other).expect_err("another context").kind(), ErrorKind::Module);
}

#[test]
fn an_error_in_inlined_code_shows_the_call_site() {
    let text = "\
func @f(%1: i64) -> i64 {
^1:
  %2: i64 = arith.div 10, %1
  return %2
}";
    let ctx = regraft_dialects::context();
    let mut module = regraft_syntax::parse_and_verify(&ctx, "test.ir", text).expect("it parses");
    let f = module.function_mut("f").expect("it is there");
    let v = f.value_by_number(2).expect("it is there");
    let (at, site): (Loc, Loc) = (f.loc(v), ctx.named_loc("caller.jl", 12, 4));
    f.set_loc(v, ctx.inlined_loc(at, ctx.symbol("g"), site)).expect("it is live");
    let error = Interpreter::new(&module).call("f", &[0i64.into()]).expect_err("division by 0");
    let report = error.to_diagnostic();
    assert_eq!(report.notes(), ["called from @f, at caller.jl:12:4"]);
    assert!(text[report.labels()[0].span.clone()].starts_with("%2: i64 = arith.div"));
}
