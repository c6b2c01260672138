//! Contexts: what they leave in code, and what redefinitions make wrong.

use regraft_lang::Session;

fn session(text: &str) -> Session {
    let mut session = Session::new(&regraft_dialects::context());
    session.run("program.jl", text).unwrap_or_else(|errors| {
        panic!("{}", regraft_ir::render_all(&errors, false));
    });
    session
}

const PROGRAM: &str = "
import Cassette
Cassette.@context A
Cassette.@context B
Cassette.@context C
foo(x, y) = x * y + sin(x)
poly(xs) = sum(map(x -> x^2 + 3x, xs))
function branches(x, n)
    for i in 1:n
        x = x > 1 ? x / 2 : x * 3 + i
    end
    x
end
keywords(x) = round(x; digits = 2)
caught(x) = try sqrt(x) catch; -x end
in_one(f, args...) = Cassette.overdub(A(), f, args...)
in_three(f, args...) = Cassette.overdub(A(), Cassette.overdub, B(), Cassette.overdub, C(), f, args...)
";

/// The optimized code of calls in contexts that do nothing is that of the calls.
#[test]
fn contexts_that_do_nothing_leave_nothing_in_optimized_code() {
    let mut session = session(PROGRAM);
    for (f, params, args) in [
        ("foo", "x, y", "1.0, 2.0"),
        ("poly", "xs", "[1.0, 2.0]"),
        ("branches", "x, n", "1.0, 3"),
        ("keywords", "x", "1.234"),
    ] {
        let optimized = |session: &mut Session, call: &str| {
            session.optimized(call, None).unwrap_or_else(|errors| {
                panic!("{call}: {}", regraft_ir::render_all(&errors, false));
            })
        };
        let plain = optimized(&mut session, &format!("{f}({args})"));
        let plain = plain.functions().next().expect("there is an entry");
        for within in ["in_one", "in_three"] {
            let define = format!("within_{f}({params}) = {within}({f}, {params})");
            session.run("within.jl", &define).expect("the definition is right");
            let module = optimized(&mut session, &format!("within_{f}({args})"));
            let code = module.functions().next().expect("there is an entry");
            assert_eq!(code.inst_count(), plain.inst_count(), "{within}\n{code}\n{plain}");
            assert_eq!(code.block_count(), plain.block_count(), "{within}\n{code}\n{plain}");
        }
    }
}

/// Parts of a `try` are values that hold the context, of which the code is typed as without.
#[test]
fn a_try_within_a_context_has_a_result_of_the_same_type() {
    let mut session = session(PROGRAM);
    session.run("within.jl", "within_caught(x) = in_one(caught, x)").expect("it is right");
    let module = session.optimized("within_caught(2.0)", None).expect("it is optimized");
    let code = module.functions().next().expect("there is an entry");
    assert_eq!(code.ret_type(), regraft_ir::Type::F64, "{code}");
}

/// Names of overdubbed functions that are there.
fn overdubs(session: &Session) -> Vec<String> {
    session.function_names().into_iter().filter(|name| name.starts_with("overdub(")).collect()
}

#[test]
fn a_definition_drops_the_overdubs_that_reach_it_and_no_other() {
    let mut text = PROGRAM.to_owned();
    text.push_str("leaf(x) = x + 1\nother(x) = x + 2\n");
    for i in 0..50 {
        let leaf = if i % 10 == 0 { "leaf" } else { "other" };
        text.push_str(&format!("f{i}(x) = {leaf}(x) * {i}\nCassette.overdub(A(), f{i}, 1.5)\n"));
    }
    let mut session = session(&text);
    let before = overdubs(&session);
    session.run("again.jl", "leaf(x) = x + 3").expect("the definition is right");
    let after = overdubs(&session);
    let reaches = |name: &str| {
        ["leaf", "f0", "f10", "f20", "f30", "f40"]
            .iter()
            .any(|function| name.contains(&format!("typeof({function})")))
    };
    let kept: Vec<&String> = before.iter().filter(|name| !reaches(name)).collect();
    assert!(kept.len() > 40 && kept.len() < before.len(), "{before:?}");
    assert_eq!(after.iter().collect::<Vec<_>>(), kept);
    let value = session.run("call.jl", "Cassette.overdub(A(), f10, 1.5)").expect("it runs");
    assert_eq!(value.as_f64(), Some(45.0));
    let value = session.run("call.jl", "Cassette.overdub(A(), f11, 1.5)").expect("it runs");
    assert_eq!(value.as_f64(), Some(38.5));
}
