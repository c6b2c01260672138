//! The standard library, function by function, against what Julia gives.
//!
//! Each test is a table of expressions and the text that Julia 1.11 shows for their values (or,
//! after `error:`, a part of the message of the error). All that differs is listed at once.

mod arrays;
mod base;
mod broadcast;
mod deferred;
mod iterators;
mod linalg;
mod math;
mod mended;
mod numbers;
mod prompt;
mod ranges;
mod reading;
mod reduce;
mod sorting;
mod statements;
mod tuples;
mod views;

use regraft_lang::Session;

/// Evaluates each expression in a session of its own definitions.
pub fn check(definitions: &str, table: &[(&str, &str)]) {
    let ctx = regraft_dialects::context();
    let mut session = Session::new(&ctx);
    if !definitions.is_empty()
        && let Err(errors) = session.run("definitions.jl", definitions)
    {
        panic!("the definitions are wrong: {errors:?}");
    }
    let mut wrong = Vec::new();
    for (expression, expected) in table {
        let found = match session.eval(expression) {
            Ok(value) => session.show(&value),
            Err(errors) => {
                let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
                format!("error: {}", texts.join("; "))
            }
        };
        let fits = match expected.strip_prefix("error:") {
            Some(part) => found.starts_with("error:") && found.contains(part.trim()),
            None => found == *expected,
        };
        if !fits {
            wrong.push(format!("{expression}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), table.len(), wrong.join("\n"));
}
