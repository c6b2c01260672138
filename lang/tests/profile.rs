//! Profiles of programs: what is recorded, and that nothing is left behind.

use regraft_exec::{Limits, Profile, ProfilerOptions};
use regraft_ir::Diagnostic;
use regraft_lang::{ProfileOptions, Session};

const SUMS: ProfileOptions = ProfileOptions { keep: ProfilerOptions::SUM, ops: false };
const LOG: ProfileOptions = ProfileOptions { keep: ProfilerOptions::RECORD, ops: false };

fn session(text: &str) -> Session {
    let mut session = Session::new(&regraft_dialects::context());
    session.run("f.jl", text).expect("it defines");
    session
}

/// The functions of the program with the number of their calls, sorted by name.
fn calls(session: &Session, profile: &Profile) -> Vec<(String, u64)> {
    let rows = profile.rows(|node| Some(node.event)).into_iter();
    let rows = rows.map(|row| (session.ctx().str(row.key).to_string(), row.calls));
    let mut rows: Vec<_> = rows.filter(|(name, _)| !name.starts_with('#')).collect();
    rows.sort();
    rows
}

#[track_caller]
fn check(text: &str, call: &str, expected: &[(&str, u64)]) {
    let mut session = session(text);
    let (result, profile) = session.profile(call, SUMS);
    result.unwrap_or_else(|errors| panic!("{}", Diagnostic::message(&errors[0])));
    let expected: Vec<_> = expected.iter().map(|&(name, n)| (name.to_owned(), n)).collect();
    assert_eq!(calls(&session, &profile), expected);
}

const FIB: &str = "fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)";

#[test]
fn each_call_of_a_function_counts_once() {
    check(FIB, "fib(10)", &[("fib(Int64)", 177), ("top level", 1)]);
    check(
        "even(n) = n == 0 ? true : odd(n - 1)\nodd(n) = n == 0 ? false : even(n - 1)",
        "even(9)",
        &[("even(Int64)", 5), ("odd(Int64)", 5), ("top level", 1)],
    );
}

#[test]
fn keyword_calls_closures_and_dynamic_calls_are_seen() {
    check(
        "leaf(x; scale) = println(x * scale)\n\
         dyn(x::Int) = println(x)\ndyn(x::String) = println(x)\n\
         each(f, things) = for t in things\n f(t)\nend\n\
         function work()\n    leaf(2; scale = 3)\n    each(t -> dyn(t), Any[1, \"a\", 2])\nend",
        "work()",
        &[
            ("dyn(Int64)", 2),
            ("dyn(String)", 1),
            ("each(##1, Vector{Any})", 1),
            ("leaf(@NamedTuple{scale::Int64}, typeof(leaf), Int64)", 1),
            ("top level", 1),
            ("work()", 1),
        ],
    );
}

#[test]
fn functions_that_an_error_goes_through_end_where_it_is_caught() {
    let mut session = session(
        "fails(x) = x > 0 ? error(\"no\") : x\ninner(x) = fails(x) + 1\nhandle() = println(1)\n\
         safe(x) = try\n inner(x)\ncatch\n handle()\nend",
    );
    let (result, profile) = session.profile("safe(1)", LOG);
    result.expect("the error is caught");
    let log = profile.log_text(session.ctx());
    let names =
        |line: &str| line.split(':').next().unwrap().trim_end_matches(char::is_numeric).to_owned();
    let log: Vec<String> = log.lines().map(names).filter(|name| !name.contains('#')).collect();
    // Each starts and ends, and what failed ends before the handler starts.
    let place = |name: &str| log.iter().map(|line| line.trim()).position(|line| line == name);
    assert_eq!(log.iter().filter(|line| line.trim() == "fails(Int64)").count(), 2, "{log:?}");
    assert_eq!(log.iter().filter(|line| line.trim() == "inner(Int64)").count(), 2, "{log:?}");
    assert!(place("handle()") > place("fails(Int64)"), "{log:?}");
    let failed = log.iter().rposition(|line| line.trim() == "inner(Int64)");
    assert!(place("handle()") > failed, "{log:?}");
    assert_eq!(log.first().map(|line| line.trim()), Some("safe(Int64)"));
    assert_eq!(log.last().map(|line| line.trim()), Some("safe(Int64)"));
}

#[test]
fn a_program_that_fails_or_runs_out_of_fuel_has_a_profile_up_to_there() {
    let mut session =
        session("fails(x) = sqrt(x)\nforever() = while true\n fails(1.0)\n println(1)\nend");
    let (result, profile) = session.profile("fails(-1.0)", SUMS);
    assert!(result.is_err());
    assert_eq!(
        calls(&session, &profile),
        [("fails(Float64)".to_owned(), 1), ("top level".to_owned(), 1)]
    );
    session.set_limits(Limits { fuel: Some(10_000), ..Limits::default() });
    let (result, profile) = session.profile("forever()", SUMS);
    assert!(result.unwrap_err()[0].message().contains("fuel"));
    assert!(calls(&session, &profile).contains(&("forever()".to_owned(), 1)));
}

#[test]
fn derivatives_are_recorded_under_the_names_of_what_they_differentiate() {
    let mut session = session("inner(x) = x > 2 ? sin(x) : x * x\nouter(x) = inner(x) + inner(3x)");
    let plain = session.gradient("outer", &[regraft_exec::Val::F64(1.0)]).unwrap();
    let (result, profile) = session.profile("gradient(outer, 1.0)", SUMS);
    let gradient = result.unwrap();
    assert_eq!(gradient.as_fields().unwrap()[0].as_f64(), plain.gradient[0].as_f64());
    let calls = calls(&session, &profile);
    for part in ["inner(Float64).forward", "inner(Float64).reverse"] {
        let found = calls.iter().find(|(name, _)| name.starts_with(part));
        assert_eq!(found.map(|&(_, calls)| calls), Some(2), "{part} in {calls:?}");
    }
    // The derivative of a plain run is the one of before, in which all is inlined.
    let again = session.gradient("outer", &[regraft_exec::Val::F64(1.0)]).unwrap();
    assert_eq!(again.gradient[0].as_f64(), plain.gradient[0].as_f64());
    let names = session.function_names();
    assert!(!names.iter().any(|name| name.starts_with("inner(Float64).forward")), "{names:?}");
}

#[test]
fn functions_record_nothing_before_and_after() {
    let mut session = session(&format!("using LoggingProfiler\n{FIB}\nfib(3)"));
    let (result, _) = session.profile("fib(5)", SUMS);
    assert_eq!(result.unwrap().as_i64(), Some(5));
    session.run("g.jl", "fib(4)\nreport()").unwrap();
    assert_eq!(session.take_output(), "");
    // A new definition is what the next profile sees.
    session.run("h.jl", "fib(n) = n < 1 ? println(n) : fib(n - 1)").unwrap();
    let (_, profile) = session.profile("fib(5)", SUMS);
    assert!(calls(&session, &profile).contains(&("fib(Int64)".to_owned(), 6)));
}

#[test]
fn a_program_records_itself() {
    let mut session = session("using LoggingProfiler\nresize!(LoggingProfiler.to, 10)");
    session
        .run("g.jl", "record_start(:a)\nrecord_start(:b)\nrecord_end(:b)\nrecord_end(:a)")
        .unwrap();
    session.run("h.jl", "report()\nreset!()\nreport()").unwrap();
    let log = session.take_output();
    let names: Vec<&str> = log.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(names, ["a", " b", " b", "a"]);
}

#[test]
fn operations_are_recorded_on_request() {
    let mut session = session("foo(x, y) = sin(x) * y + x");
    let options = ProfileOptions { ops: true, ..LOG };
    let (result, profile) = session.profile("foo(rand(), 2.0)", options);
    result.unwrap();
    let log = profile.log_text(session.ctx());
    let names: Vec<&str> =
        log.lines().filter_map(|line| line.rsplit_once(':')).map(|x| x.0).collect();
    let foo = names.iter().position(|name| name.starts_with("foo")).expect("foo is called");
    assert_eq!(names[foo + 1..foo + 7], [" sin", " sin", " mul", " mul", " add", " add"]);
}
