//! Sessions: what stays from one text to the next, and what a redefinition changes.

use regraft::lang::{Completeness, Entry};

use crate::support::{session, value};

#[track_caller]
fn gives(session: &mut regraft::lang::Session, text: &str, expected: &str) {
    assert_eq!(value(session, text).as_deref(), Ok(expected), "{text}");
}

#[test]
fn definitions_and_globals_stay() {
    let mut s = session();
    gives(&mut s, "f(x) = x + 1; f(2)", "3");
    gives(&mut s, "y = f(10)", "11");
    gives(&mut s, "f(y) + y", "23");
    gives(&mut s, "struct P; x::Int; end; P(y).x", "11");
}

#[test]
fn a_redefinition_reaches_its_callers() {
    let mut s = session();
    gives(&mut s, "g(x) = x + 1; f(x) = 2g(x); f(1)", "4");
    gives(&mut s, "g(x) = x + 10; f(1)", "22");
    // A more specific method takes over for its types alone.
    gives(&mut s, "g(x::Float64) = x; (f(1), f(1.0))", "(22, 2.0)");
    // The result type changes with it.
    gives(&mut s, "g(x::Int) = 0.5; f(1)", "1.0");
}

#[test]
fn globals_may_change_their_type() {
    let mut s = session();
    gives(&mut s, "n = 1; f() = n + 1; f()", "2");
    gives(&mut s, "n = 1.5; f()", "2.5");
    gives(&mut s, "const k = 3; h() = k * 2; h()", "6");
}

#[test]
fn lines_of_a_repl_have_soft_scope() {
    let mut s = session();
    s.eval("t = 0").unwrap();
    s.eval("for i in 1:3; t += i; end").unwrap();
    let total = s.eval("t").unwrap();
    assert_eq!(s.show(&total), "6");
    let errors = s.eval("nope").unwrap_err();
    assert_eq!(errors[0].source_name(), Some("REPL[4]"));
    // In a script the loop has a variable of its own, which has no value yet.
    let errors = value(&mut s, "t = 0\nfor i in 1:3\n    t += i\nend\n").unwrap_err();
    assert!(errors.contains("`t`"), "{errors}");
}

#[test]
fn methods_are_named_by_calls_and_by_types() {
    let mut s = session();
    gives(&mut s, "f(x) = x + 1\nf(x::Vector{Float64}) = x[1]\nnothing", "nothing");
    let by_call = s.typed("f(2.0)").unwrap().to_string();
    let by_types = s.typed(Entry::Types("f(Float64)")).unwrap().to_string();
    assert_eq!(by_call, by_types);
    let lowered = s.lowered("f([1.0])").unwrap().to_string();
    assert!(lowered.contains("call @getindex(%x, 1)"), "{lowered}");
    for wrong in ["f", "1 + ", "", "f(1); f(2)", "x = 3"] {
        assert!(s.typed(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn texts_that_go_on_are_told_from_those_that_are_wrong() {
    let ctx = regraft::dialects::context();
    let of = |text| Completeness::of(ctx.registry(), text);
    for text in ["f(x) = begin", "function g(x)", "[1, 2,", "if x", "(1 +", "try", "f() = try\n 1"]
    {
        assert_eq!(of(text), Completeness::Incomplete, "{text}");
    }
    for text in ["1 + 1", "", "f(x) = x", "1 +* 2", ")", "x = ]"] {
        assert_eq!(of(text), Completeness::Complete, "{text}");
    }
}

#[test]
fn names_are_those_of_the_prelude_and_of_the_program() {
    let mut s = session();
    gives(&mut s, "my_function(x) = x; my_global = 3; struct MyType end; nothing", "nothing");
    let names = s.names();
    for name in ["my_function", "my_global", "MyType", "sum", "println", "Float64"] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
    assert!(names.is_sorted());
    assert!(!names.iter().any(|name| name.starts_with('#')), "names that users cannot write");
}

#[test]
fn output_is_kept_until_it_is_taken() {
    let mut s = session();
    gives(&mut s, "println(\"hello\"); print(1, 2.0); nothing", "nothing");
    assert_eq!(s.take_output(), "hello\n12.0");
    assert_eq!(s.take_output(), "");
}

#[test]
fn a_flag_interrupts_a_run() {
    let mut s = session();
    let flag = s.interrupt_flag();
    let stopper = std::thread::spawn(move || {
        // The run clears the flag when it starts, so it is set until the run has ended.
        while std::sync::Arc::strong_count(&flag) > 1 {
            flag.store(true, std::sync::atomic::Ordering::Relaxed);
            std::thread::yield_now();
        }
    });
    let error = value(&mut s, "while true end").unwrap_err();
    assert!(error.contains("interrupt"), "{error}");
    drop(s);
    stopper.join().unwrap();
}
