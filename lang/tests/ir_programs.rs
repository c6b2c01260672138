//! Programs that come as IR, as functions of a session.

use regraft_lang::Session;
use regraft_syntax::parse_and_verify;

fn session(text: &str) -> Session {
    let ctx = regraft_dialects::context();
    let module = parse_and_verify(&ctx, "program.ir", text).unwrap_or_else(|errors| {
        panic!("{}", regraft_ir::render_all(&errors, false));
    });
    let mut session = Session::new(&ctx);
    session.define_module(&module).unwrap();
    session
}

#[track_caller]
fn check(session: &mut Session, text: &str, expected: &str) {
    let value = session.run("test.jl", text).unwrap_or_else(|errors| {
        panic!("{text}\n{}", regraft_ir::render_all(&errors, false));
    });
    assert_eq!(session.show(&value), expected, "{text}");
}

const POW: &str = include_str!("../../examples/ir/pow.ir");

#[test]
fn functions_of_ir_are_called_and_differentiated_like_any_other() {
    let mut session = session(POW);
    check(&mut session, "pow(2.0, 10)", "1024.0");
    check(&mut session, "gradient(pow, 3.0, 2)", "(6.0, nothing)");
    check(&mut session, "g(x) = pow(x, 3) + x\nderivative(g, 2.0)", "13.0");
    check(&mut session, "gradient(x -> gradient(g, x)[1], 2.0)", "(12.0,)");
    let errors = session.run("test.jl", "pow(2, 3)").unwrap_err();
    let text = regraft_ir::render_all(&errors, false);
    assert!(text.contains("no method matching pow(::Int64, ::Int64)"), "{text}");
}

#[test]
fn structs_of_ir_are_types_with_constructors() {
    let mut session = session(
        "struct @P {a: f64, b: i64}\nmutable struct @C {x: f64}\n\n\
         func @scaled(%p: @P, %k: f64) -> @P {\n^1:\n  %a: f64 = core.get %p, 1\n  \
         %b: i64 = core.get %p, 2\n  %c: f64 = arith.mul %a, %k\n  \
         %q: @P = data.new %c, %b\n  return %q\n}\n\n\
         func @bump(%c: @C) -> f64 {\n^1:\n  %x: f64 = data.getfield %c, :x\n  \
         %y: f64 = arith.add %x, 1.0\n  data.setfield %c, :x, %y\n  return %y\n}\n",
    );
    check(&mut session, "scaled(P(1.5, 2), 2.0)", "P(3.0, 2)");
    check(&mut session, "scaled(P(3, 2), 2.0).a", "6.0");
    check(&mut session, "c = C(1.0); bump(c); bump(c); c.x", "3.0");
    check(&mut session, "gradient(k -> scaled(P(1.5, 2), k).a, 2.0)", "(1.5,)");
    check(&mut session, "gradient(p -> scaled(p, 4.0).a, P(1.5, 2))", "((a = 4.0, b = nothing),)");
}

#[test]
fn names_of_the_prelude_are_shadowed_for_the_program() {
    let mut session = session(
        "func @sum(%x: i64) -> i64 {\n^1:\n  %y: i64 = arith.add %x, 100\n  return %y\n}\n\n\
         func @f(%x: i64) -> any {\n^1:\n  %y: i64 = call @sum(%x)\n  \
         %z = core.apply @sum, %y\n  return %z\n}\n",
    );
    check(&mut session, "f(1)", "201");
    check(&mut session, "(sum(1), Base.sum([1, 2]))", "(101, 3)");
}

#[test]
fn a_loop_may_go_back_to_the_entry() {
    let mut session = session(
        "func @f(%n: i64, %x: f64) -> f64 {\n^1:\n  %m: i64 = arith.sub %n, 1\n  \
         %y: f64 = arith.mul %x, 2.0\n  %go: bool = arith.lt 0, %m\n  \
         br %go, ^1(%m, %y), ^2\n^2:\n  return %y\n}\n",
    );
    check(&mut session, "f(3, 1.5)", "12.0");
    check(&mut session, "gradient(f, 3, 1.5)", "(nothing, 8.0)");
}

#[test]
fn a_module_that_is_defined_again_takes_the_place_of_the_one_before() {
    let mut session = session(POW);
    let text = "func @pow(%x: f64, %n: i64) -> f64 {\n^1:\n  return %x\n}\n";
    check(&mut session, "h(x) = pow(x, 2)\nh(3.0)", "9.0");
    let ctx = session.ctx().clone();
    let module = parse_and_verify(&ctx, "other.ir", text).unwrap();
    session.define_module(&module).unwrap();
    check(&mut session, "h(3.0)", "3.0");
}
