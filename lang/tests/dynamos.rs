//! Methods that rewrite other methods: a dynamo that turns products into sums, wherever they are.

use std::rc::Rc;
use std::sync::Arc;

use regraft_dialects::core;
use regraft_ir::{Constant, Context, Diagnostic, Extensions, Function, Loc, Operand, Type};
use regraft_lang::definition::{Callee, MethodHead, ParamDecl, Space, TypeExpr};
use regraft_lang::world::{Dispatch, DynamoCx, World};
use regraft_lang::{Session, StartUp};

/// The body of `summed(a, b, f)`: that of `f(a, b)` with sums in place of products, and
/// `summed(x, y, g)` in place of calls `g(x, y)` of the program's functions.
fn summed(cx: &mut DynamoCx<'_>, args: &[Type]) -> Result<Function, Diagnostic> {
    let (f, args) = (args[2], &args[..2]);
    let Dispatch::Method(found) = cx.world.dispatch(f, args, cx.by) else {
        return Err(Diagnostic::error("there is nothing to sum"));
    };
    let mut body = Function::clone(&*cx.world.body(&found, f, args, cx.by)?);
    let ctx = Arc::clone(body.ctx());
    let entry = body.entry().expect("a body begins somewhere");
    body.append_param(entry, Type::ANY).expect("nothing goes to the entry");
    let calls: Vec<_> = body.all_insts().filter(|&v| body.op(v) == Some(core::CALL)).collect();
    for call in calls {
        let operands: Vec<Operand> = body.operands(call).collect();
        let name = body.const_func(operands[0]).expect("a call names its callee");
        match ctx.str(name) {
            "*" => {
                let plus = body.constant_id(Constant::Func(ctx.symbol("+")));
                body.set_operand(call, 0, plus).expect("it has a callee");
            }
            other if other.starts_with(char::is_alphabetic) => {
                let summed = body.constant_id(Constant::Func(ctx.symbol("summed")));
                let args = operands[1..].iter().copied().chain([operands[0]]);
                let inst = core::call(summed, args, Type::ANY);
                body.replace(call, inst).expect("it is a call as well");
            }
            _ => {}
        }
    }
    Ok(body)
}

/// Adds the dynamo to a world.
fn add_summed(world: &mut World) -> Result<(), Vec<Diagnostic>> {
    let ctx = Arc::clone(world.ctx());
    let param = || ParamDecl { name: None, ty: TypeExpr::any(ctx.symbol("Any")) };
    let callee = Callee::Function(ctx.symbol("summed"));
    let params = vec![param(), param(), param()];
    let def = MethodHead::plain(callee, params, Space::Main, Loc::UNKNOWN);
    world.add_dynamo(&def, Rc::new(summed)).map(drop)
}

fn session() -> Session {
    let mut session = Session::new(&regraft_dialects::context());
    session.with_world(add_summed).expect("it is defined");
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
    check(&mut session, "mul(a, b) = a * b\nsummed(5, 10, mul)", "15");
    check(&mut session, "twice(a, b) = mul(a, b) * mul(b, a)\nsummed(2, 3, twice)", "10");
    check(&mut session, "twice(2, 3)", "36");
    check(&mut session, "summed(2.5, 3, twice)", "11.0");
}

#[test]
fn a_setup_of_the_extensions_adds_it_to_every_session() {
    let mut extensions = Extensions::clone(regraft_dialects::context().extensions());
    extensions.edit::<StartUp>().setup(add_summed);
    let ctx = Context::with_extensions(&extensions.into());
    for _ in 0..2 {
        let mut session = Session::new(&ctx);
        check(&mut session, "mul(a, b) = a * b\nsummed(5, 10, mul)", "15");
    }
}

#[test]
fn bodies_are_made_anew_when_what_they_were_made_of_is_redefined() {
    let mut session = session();
    check(&mut session, "mul(a, b) = a * b\ntwice(a, b) = mul(a, b) * mul(b, a)", "twice");
    check(&mut session, "summed(2, 3, twice)", "10");
    check(&mut session, "mul(a, b) = a * b * b\nsummed(2, 3, twice)", "15");
    check(&mut session, "mul(a::Int, b::Int) = 7 * a\nsummed(2, 3, twice)", "19");
}

#[test]
fn what_a_dynamo_refuses_is_an_error_of_the_call() {
    let mut session = session();
    let errors = session.run("test.jl", "one(a) = a\nsummed(1, 2, one)").expect_err("it fails");
    let text = regraft_ir::render_all(&errors, false);
    assert!(text.contains("there is nothing to sum"), "{text}");
}
