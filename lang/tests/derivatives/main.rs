//! Derivatives of programs, against what mathematics says they are.
//!
//! Each test is a table of expressions and their values as Julia shows them; numbers may differ
//! by rounding. After `error:` comes a part of the message of an error.

mod aliasing;
mod any_slots;
mod calls;
mod confusion;
mod control_flow;
mod dynamic_types;
mod edges;
mod errors;
mod exceptions;
mod globals;
mod interface;
mod made_anew;
mod modes;
mod nested;
mod orders;
mod overwritten;
mod products;
mod questions;
mod random_redefinition;
mod ranges;
mod redefinition;
mod replaced;
mod rules;
mod rust;
mod small_states;
mod straight_line;
mod structures;
mod threads;
mod whole_arrays;
mod world;

use regraft_exec::Val;
use regraft_exec::value::Array;
use regraft_lang::{Mode, Session};

/// The greatest distance of numbers from what they should be, relative to their size.
const TOLERANCE: f64 = 1e-10;

/// A session with these definitions.
#[track_caller]
pub fn session(definitions: &str) -> Session {
    let ctx = regraft_dialects::context();
    let mut session = Session::new(&ctx);
    if let Err(errors) = session.run("definitions.jl", definitions) {
        panic!("the definitions are wrong: {}", regraft_ir::render_all(&errors, false));
    }
    session
}

/// The value of an expression as text, or `error:` and the report.
pub fn shown(session: &mut Session, expression: &str) -> String {
    match session.eval(expression) {
        Ok(value) => session.show(&value),
        Err(errors) => format!("error: {}", regraft_ir::render_all(&errors, false)),
    }
}

/// Evaluates each expression in a session of these definitions.
#[track_caller]
pub fn check(definitions: &str, table: &[(&str, &str)]) {
    let mut session = session(definitions);
    check_in(&mut session, table);
}

/// The same in a session that goes on.
#[track_caller]
pub fn check_in(session: &mut Session, table: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (expression, expected) in table {
        let found = shown(session, expression);
        let fits = match expected.strip_prefix("error:") {
            Some(part) => found.starts_with("error:") && found.contains(part.trim()),
            None => same(expected, &found),
        };
        if !fits {
            wrong.push(format!("{expression}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), table.len(), wrong.join("\n"));
}

/// Returns whether two texts are the same but for the last digits of numbers.
fn same(expected: &str, found: &str) -> bool {
    let (a, b) = (pieces(expected), pieces(found));
    a.len() == b.len()
        && a.iter().zip(&b).all(|(a, b)| match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(x), Ok(y)) => x == y || (x - y).abs() <= TOLERANCE * x.abs().max(1.0),
            _ => a == b,
        })
}

/// Numbers, and what stands between them.
fn pieces(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut in_number = false;
    let mut before = ' ';
    for c in text.chars() {
        let exponent = in_number && (c == 'e' || before == 'e' && c == '-');
        let starts = c.is_ascii_digit() || c == '-';
        let is_number = exponent || if in_number { c.is_ascii_digit() || c == '.' } else { starts };
        if is_number != in_number || out.is_empty() {
            out.push(String::new());
        }
        if let Some(last) = out.last_mut() {
            last.push(c);
        }
        (in_number, before) = (is_number, c);
    }
    out
}

#[test]
fn texts_are_compared_by_their_numbers() {
    assert!(same("(1.0, [2.0])", "(1.00000000000001, [2.0])"));
    assert!(!same("(1.0, [2.0])", "(1.0, [2.1])"));
    assert!(!same("(1.0,)", "(1.0, 2.0)"));
    assert!(same("1.0e-5", "1.00000000000001e-5"));
}

fn numbers(value: &Val) -> Vec<f64> {
    value.as_array().and_then(Array::to_vec).expect("it is a vector of floats")
}

/// Holds the gradients of these calls by reverse mode against those by forward mode.
#[track_caller]
pub fn modes_agree(program: &str, calls: &[&str]) {
    let mut session = session(program);
    for call in calls {
        let [back, forth] = [Mode::Reverse, Mode::Forward].map(|mode| {
            let found = session.gradient_of_call(call, mode);
            numbers(&found.unwrap_or_else(|errors| panic!("{call}: {errors:?}")).gradient[0])
        });
        assert!(back.iter().any(|x| *x != 0.0), "{call}");
        for (x, y) in back.iter().zip(&forth) {
            assert!((x - y).abs() <= 1e-12 * y.abs().max(1.0), "{call}: {back:?} {forth:?}");
        }
    }
}
