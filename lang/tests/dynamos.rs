//! Methods that rewrite other methods: a dynamo that turns products into sums, wherever they are.

use regraft_dialects::core;
use regraft_ir::{Constant, Context, Diagnostic, Extensions, Type};
use regraft_lang::world::{Code, DynamoCx};
use regraft_lang::{Session, StartUp};

/// The code of `summed(f, args...)`: that of `f(args...)` with sums in place of products, there and
/// in what it calls.
fn summed(cx: &mut DynamoCx<'_>, types: &[Type]) -> Result<Code, Vec<Diagnostic>> {
    let Some(mut code) = cx.lowered(types[0], &types[1..])? else {
        return Ok(cx.fall_back(types));
    };
    let f = code.function_mut();
    let plus = f.constant_id(Constant::Func(f.ctx().symbol("+")));
    let calls: Vec<_> = f.all_insts().filter(|&v| f.op(v) == Some(core::CALL)).collect();
    for call in calls {
        let callee = f.operand(call, 0).and_then(|callee| f.const_func(callee));
        match callee.map(|name| f.ctx().str(name)) {
            Some("*") => f.set_operand(call, 0, plus)?,
            Some("/") => return Err(vec![Diagnostic::error("a quotient is no product")]),
            _ => {}
        }
    }
    cx.recurse(&mut code)?;
    Ok(code)
}

fn session() -> Session {
    let mut session = Session::new(&regraft_dialects::context());
    session.dynamo("summed(f, args...)", summed).expect("it is defined");
    session
}

#[track_caller]
fn check(session: &mut Session, text: &str, expected: &str) {
    let value = session.run("test.jl", text).unwrap_or_else(|errors| {
        panic!("{}", regraft_ir::render_all(&errors, false));
    });
    assert_eq!(session.show(&value), expected, "{text}");
}

#[test]
fn products_become_sums_in_what_is_called_as_well() {
    let mut session = session();
    check(&mut session, "mul(a, b) = a * b\nsummed(mul, 5, 10)", "15");
    check(&mut session, "twice(a, b) = mul(a, b) * mul(b, a)\nsummed(twice, 2, 3)", "10");
    check(&mut session, "twice(2, 3)", "36");
    check(&mut session, "summed(twice, 2.5, 3)", "11.0");
    // `prod` multiplies by the name of `*`, which it is given: it is called as it is.
    check(&mut session, "summed(xs -> xs[1] * xs[2], [3, 4])", "7");
}

#[test]
fn callees_of_all_kinds_are_followed() {
    let mut session = session();
    let rest = "rest(a, bs...) = a * length(bs)\nsummed(rest, 1, 7, 8, 9)";
    check(&mut session, rest, "4");
    check(&mut session, "splat(xs) = rest(xs...)\nsummed(splat, (1, 2, 3))", "3");
    check(&mut session, "named(a; by = 2) = a * by\nsummed(() -> named(5; by = 6))", "11");
    check(&mut session, "summed(() -> named(5))", "7");
    check(&mut session, "mapped(t) = map(x -> x * 3, t)\nsummed(mapped, (1, 2))", "(4, 5)");
    let text = "tried(x) = try\n    x * error(\"no\")\ncatch\n    x * 10\nend\nsummed(tried, 4)";
    check(&mut session, text, "14");
    check(&mut session, "struct By; k; end\n(b::By)(x) = b.k * x\nsummed(By(5), 6)", "11");
    check(&mut session, "late(fs) = fs[1](3, 4)\nsummed(late, Any[*])", "12");
    check(&mut session, "late2(fs) = fs[1](3, 4)\nsummed(late2, Any[(a, b) -> a * b])", "7");
}

#[test]
fn code_keeps_type_parameters_and_module_of_its_method() {
    let mut session = session();
    let text = "module M
        k = 10
        scaled(x::T) where T = k * T(2) * x
    end
    summed(M.scaled, 1.5)";
    check(&mut session, text, "13.5");
}

#[test]
fn the_start_up_adds_it_to_every_session() {
    let mut extensions = Extensions::clone(regraft_dialects::context().extensions());
    extensions.edit::<StartUp>().dynamo("summed(f, args...)", summed);
    let ctx = Context::with_extensions(&extensions.into());
    for _ in 0..2 {
        let mut session = Session::new(&ctx);
        check(&mut session, "mul(a, b) = a * b\nsummed(mul, 5, 10)", "15");
    }
}

#[test]
fn code_is_made_anew_when_what_it_was_made_of_is_redefined() {
    let mut session = session();
    check(&mut session, "mul(a, b) = a * b\ntwice(a, b) = mul(a, b) * mul(b, a)", "twice");
    check(&mut session, "summed(twice, 2, 3)", "10");
    check(&mut session, "mul(a, b) = a * b * b\nsummed(twice, 2, 3)", "15");
    check(&mut session, "mul(a::Int, b::Int) = 7 * a\nsummed(twice, 2, 3)", "19");
}

#[test]
fn an_error_of_a_dynamo_names_it_and_the_call() {
    let mut session = session();
    let text = "inner(a) = a / 2\nouter(a) = inner(a) + 1\nsummed(outer, 1)";
    let errors = session.run("test.jl", text).expect_err("it fails");
    let text = regraft_ir::render_all(&errors, false);
    assert!(text.contains("a quotient is no product"), "{text}");
    assert!(text.contains("in the dynamo summed(f, args...)"), "{text}");
    assert!(text.contains("::typeof(inner), ::Int64"), "{text}");
    assert!(text.contains("test.jl:2"), "the chain of calls: {text}");
}

#[test]
fn signatures_that_are_none_are_errors_with_their_places() {
    let mut session = Session::new(&regraft_dialects::context());
    for (signature, message) in [
        ("f(x", "is not closed"),
        ("f(x = 1)", "no default values"),
        ("f(; x)", "no default values and takes no arguments by name"),
        ("3", "cannot assign to a literal"),
        ("x", "expected the signature of a method"),
        ("f(x::Nowhere)", "Nowhere"),
    ] {
        let defined = session.dynamo(signature, |cx, types| Ok(cx.fall_back(types)));
        let errors = defined.expect_err(signature);
        let text = regraft_ir::render_all(&errors, false);
        assert!(text.contains(message), "{signature}: {text}");
    }
}
