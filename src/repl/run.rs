//! `:run`: runs the current program, to see whether it still does what it did.

use regraft_exec::Engine;
use regraft_exec::value::{Val, type_name};
use regraft_ir::{Context, Diagnostic, Function, Type, is_plain_name};
use regraft_syntax::julia::tokens;

use super::console::Console;
use super::current::{Current, Origin};
use super::interrupt::Interruptible;
use super::look::current;
use super::{Done, Outcome, Repl};

/// `:run [CALL]`
pub(super) fn run(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    let program = current(repl)?;
    let call = match program.origin() {
        _ if !rest.is_empty() => rest.to_owned(),
        Origin::Call(call) => call.clone(),
        Origin::File(_) => return Err(vec![without_arguments()]),
    };
    let (name, arguments) = parts(&call)?;
    let (is_call, function) = find(program, name)?;
    let (function, params) = (function.name_str().to_owned(), function.param_types());
    let module = program.module().clone();
    let values = arguments_of(repl, is_call.then_some(name), arguments, console)?;
    let given = &values[usize::from(is_call)..];
    if !given.is_empty() && given.iter().all(|value| matches!(value, Val::Type(_))) {
        // They are types of arguments.
        return Err(vec![without_arguments()]);
    }
    let arguments = fitting(&repl.ctx, &params, &values, is_call).ok_or_else(|| {
        let shown = |types: &[Type]| {
            let types: Vec<String> = types.iter().map(|&ty| type_name(&repl.ctx, ty)).collect();
            format!("{name}({})", types.join(", "))
        };
        let given: Vec<Type> = given.iter().map(|x| x.type_of(&repl.ctx)).collect();
        let (wanted, given) = (shown(&params), shown(&given));
        let error = Diagnostic::error(format!("the program is {wanted}, found {given}"));
        vec![if !is_call || is_plain_name(name) {
            error
        } else {
            error
                .help("a function without a name is another one each time; give it one: g = x -> x")
        }]
    })?;
    let result = repl.session.with_interpreter(&module, |engine| {
        let _watched = Interruptible::new(engine.interrupt_flag());
        engine.call(&function, &arguments)
    });
    console.printed(&repl.session.take_output());
    let value = result.map_err(|error| vec![error.to_diagnostic()])?;
    if !matches!(value, Val::Unit) {
        console.result(&repl.session.show(&value));
    }
    Ok(Outcome::Continue)
}

fn without_arguments() -> Diagnostic {
    let error = Diagnostic::error("with which arguments the program is to be run is missing");
    error.help(":run f(1.0)")
}

/// The values of the arguments of a call; first that of the callee if one is given, as it is
/// itself an argument of closures.
fn arguments_of(
    repl: &mut Repl,
    callee: Option<&str>,
    arguments: &str,
    console: &mut Console<'_>,
) -> Result<Vec<Val>, Vec<Diagnostic>> {
    let tuple = match (callee, arguments) {
        (None, "") => return Ok(Vec::new()),
        (None, _) => format!("({arguments},)"),
        (Some(callee), "") => format!("({callee},)"),
        (Some(callee), _) => format!("({callee}, {arguments},)"),
    };
    let value = repl.session.eval(&tuple);
    console.printed(&repl.session.take_output());
    match value? {
        Val::Tuple(values) => Ok(values.items().to_vec()),
        _ => Err(vec![Diagnostic::error(format!("`{arguments}` is no list of arguments"))]),
    }
}

/// Splits a call into the callee and the arguments, which stand in the last parentheses.
fn parts(call: &str) -> Result<(&str, &str), Vec<Diagnostic>> {
    let call = call.trim_end();
    let mut depth = 0usize;
    for (span, _) in tokens(call).into_iter().rev() {
        match &call[span.clone()] {
            ")" => depth += 1,
            "(" if depth == 1 => {
                let arguments = &call[span.end..call.len() - 1];
                return Ok((call[..span.start].trim(), arguments.trim().trim_end_matches(',')));
            }
            "(" => depth = depth.saturating_sub(1),
            _ if depth == 0 => break,
            _ => {}
        }
    }
    Err(vec![Diagnostic::error(format!("`{call}` is no call")).help(":run f(1.0)")])
}

/// The function of the program that a call by this name runs, and whether it was made from one.
fn find<'a>(program: &'a Current, name: &str) -> Result<(bool, &'a Function), Vec<Diagnostic>> {
    let plain = name.strip_prefix('@').unwrap_or(name);
    if let Origin::Call(call) = program.origin()
        && parts(call).is_ok_and(|(callee, _)| callee == plain)
        && let Some(function) = program.function()
    {
        return Ok((true, function));
    }
    match program.module().function(plain) {
        Some(function) => Ok((false, function)),
        None => {
            let message =
                format!("the current program ({}) has no function {plain}", program.title());
            Err(vec![Diagnostic::error(message)])
        }
    }
}

/// The values as the parameters take them: without or with the callee in front, the last ones
/// packed into a tuple where the method takes any number.
fn fitting(ctx: &Context, params: &[Type], values: &[Val], callee: bool) -> Option<Vec<Val>> {
    let first = usize::from(callee);
    (0..=first).rev().find_map(|from| {
        let values = &values[from..];
        let packed = params.len().checked_sub(1).and_then(|fixed| {
            let (fixed, rest) = values.split_at_checked(fixed)?;
            Some(fixed.iter().cloned().chain([Val::tuple(rest.to_vec())]).collect::<Vec<_>>())
        });
        [Some(values.to_vec()), packed].into_iter().flatten().find(|values| {
            values.len() == params.len()
                && values
                    .iter()
                    .zip(params)
                    .all(|(value, &param)| param == Type::ANY || value.type_of(ctx) == param)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_the_arguments_is_packed_where_the_method_wants_a_tuple() {
        let ctx = regraft_dialects::context();
        let pair = ctx.tuple_type(&[Type::I64, Type::I64]);
        let values = [Val::F64(0.5), Val::I64(1), Val::I64(2)];
        let fits = |params: &[Type], callee| {
            fitting(&ctx, params, &values, callee).map(|values| values.len())
        };
        assert_eq!(fits(&[Type::F64, Type::I64, Type::I64], false), Some(3));
        assert_eq!(fits(&[Type::F64, pair], false), Some(2));
        assert_eq!(fits(&[Type::I64, Type::I64], true), Some(2));
        assert_eq!(fits(&[Type::F64, Type::I64], false), None);
        assert_eq!(fits(&[], false), None);
    }

    #[test]
    fn a_call_is_a_name_and_arguments() {
        assert_eq!(parts("f(1, (2, 3)) ").unwrap(), ("f", "1, (2, 3)"));
        assert_eq!(parts("g()").unwrap(), ("g", ""));
        assert_eq!(parts("g(1,)").unwrap(), ("g", "1"));
        assert_eq!(parts("(x -> f(x))(2.0)").unwrap(), ("(x -> f(x))", "2.0"));
        assert_eq!(parts("f(\")(\", g(1))").unwrap(), ("f", "\")(\", g(1)"));
        for wrong in ["g", "", ")", "g)", "(", "f(x) + 1"] {
            assert!(parts(wrong).is_err(), "{wrong}");
        }
    }
}
