//! Messages to a user who made a mistake.

use crate::support::{fails, script_fails};

/// Fails with all these words in its diagnostics.
#[track_caller]
fn tells(script: &str, words: &[&str]) -> String {
    let errors = script_fails(script);
    for word in words {
        assert!(errors.contains(word), "no `{word}` for\n{script}\n{errors}");
    }
    errors
}

#[test]
fn all_parse_errors_are_told_and_nothing_runs() {
    let script = "println(1)\nx = [1, 2\ny = 3 +* 4\nz = (1, ]\n\nw = 5\nf(x = 3) = \n";
    let (printed, errors) = fails(&["run", "-"], script, 1);
    assert_eq!(printed, "");
    let count = errors.matches("<stdin>:").count();
    assert!(count >= 3, "{count} errors: {errors}");
}

#[test]
fn what_is_not_supported_is_named() {
    tells("x = `ls`\n", &["commands", "<stdin>:1"]);
    tells("f(x) = x\n@nothing_like_that 1\n", &["@nothing_like_that", "<stdin>:2"]);
}

#[test]
fn a_script_with_tests_that_fail_ends_with_one() {
    let script = "@testset \"sums\" begin\n    @test 1 + 1 == 2\n    @test 1 + 1 == 3\nend\n";
    let (printed, errors) = fails(&["run", "-"], script, 1);
    let table = "sums          |    1     1      2  ";
    assert!(printed.contains("Evaluated: 2 == 3") && printed.contains(table), "{printed}");
    assert!(errors.contains("1 passed, 1 failed, 0 errored, 0 broken"), "{errors}");
}

#[test]
fn undefined_names_are_told_with_their_place() {
    tells("x = 1\ny = x + z\n", &["UndefVarError", "`z`", "not defined", "<stdin>:2"]);
    tells("f() = g(1)\n\nf()\n", &["UndefVarError", "`g`", "<stdin>:1"]);
    tells("f() = lenght([1])\nf()\n", &["`lenght`", "<stdin>:1", "<stdin>:2"]);
    // A variable of a function that has no value on this way.
    tells(
        "function f(c)\n    if c\n        v = 1\n    end\n    v\nend\nf(false)\n",
        &["UndefVarError", "`v`", "<stdin>:5"],
    );
}

#[test]
fn calls_without_a_method_list_candidates() {
    tells(
        "f(x::Int) = x\nf(x::Float64, y) = y\nf(\"a\")\n",
        &[
            "MethodError",
            "no method matching f(::String)",
            "f(x::Int64)",
            "f(x::Float64, y)",
            "<stdin>:3",
        ],
    );
    tells("g(x, y::Int) = 1\ng(x::Int, y) = 2\ng(1, 2)\n", &["MethodError", "ambiguous"]);
    tells("x = 3\nx(1)\n", &["MethodError", "Int64"]);
}

#[test]
fn run_time_errors_show_the_line_of_the_program() {
    let errors = tells(
        "function total(xs)\n    s = 0.0\n    for i in 1:3\n        s += xs[i]\n    end\n    s\nend\n\ntotal([1.0, 2.0])\n",
        &["BoundsError", "<stdin>:4", "xs[i]"],
    );
    assert!(errors.contains("<stdin>:9"), "the call is named: {errors}");
    tells("h(x) = 1 ÷ x\nh(0)\n", &["DivideError", "<stdin>:1"]);
    tells(
        "x = 1\nif x\nend\n",
        &["TypeError: non-boolean (Int64) used in boolean context", "<stdin>:2"],
    );
    tells("sqrt(-1.0)\n", &["DomainError"]);
    tells("Int64(1.5)\n", &["InexactError", "<stdin>:1"]);
    tells("@assert 1 == 2 \"so much for that\"\n", &["AssertionError", "so much for that"]);
    tells("error(\"stop here\")\n", &["stop here", "<stdin>:1"]);
    tells("struct P\n    x::Int\nend\nP(1).y\n", &["P", "y", "<stdin>:4"]);
    tells(
        "struct P\n    x::Int\nend\np = P(1)\np.x = 2\n",
        &["immutable struct of type P cannot be changed", "<stdin>:5"],
    );
    tells("x::Int = 1.5\n", &["<stdin>:1"]);
}

#[test]
fn runaway_programs_end() {
    tells("f(x) = f(x + 1) + 1\nf(0)\n", &["depth"]);
    tells("f(x) = f((x,))\nf(1)\n", &["f("]);
    let (_, errors) = fails(&["run", "-", "--fuel", "100000"], "while true end\n", 1);
    assert!(errors.contains("<stdin>:1"), "{errors}");
    let endless = "n = 0\nwhile true\n    global n += 1\nend\n";
    fails(&["run", "-", "--fuel", "100000"], endless, 1);
    tells("zeros(10^12)\n", &["memory", "<stdin>:1"]);
    let grows = "x = Int64[]\nwhile true\n    push!(x, 1)\nend\n";
    let (_, errors) = fails(&["run", "-", "--memory", "1000000"], grows, 1);
    assert!(errors.contains("the memory limit of 1000000 bytes"), "{errors}");
    tells("fill(1.0, 10^10, 10^10)\n", &["<stdin>:1"]);
    tells("zeros(-1)\n", &["ArgumentError"]);
}

#[test]
fn what_was_defined_before_an_error_stays() {
    let mut session = crate::support::session();
    let run = |session: &mut _, text: &str| crate::support::value(session, text);
    assert!(run(&mut session, "a = 1\nf() = a\nb = nope\nc = 3\n").is_err());
    assert_eq!(run(&mut session, "f() + a").as_deref(), Ok("2"));
    assert!(run(&mut session, "c").is_err(), "it stopped at the error");
    // A text that cannot be read does nothing at all.
    assert!(run(&mut session, "a = 2\n)\n").is_err());
    assert_eq!(run(&mut session, "a").as_deref(), Ok("1"));
}

#[test]
fn deep_nesting_is_an_error_or_fine_but_no_crash() {
    for (open, close) in [("(", ")"), ("[", "]"), ("f(", ")"), ("-", ""), ("if true\n", "\nend")] {
        let script = format!("x = {}1{}\n", open.repeat(20_000), close.repeat(20_000));
        let output = crate::support::regraft(&["run", "-"], &script);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{open}: {output:?}");
    }
    let sum = format!("x = {}1\n", "1 + ".repeat(500));
    let output = crate::support::regraft(&["run", "-"], &sum);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    let statements = "x = 1\n".repeat(20_000);
    assert_eq!(crate::support::regraft(&["run", "-"], &statements).status.code(), Some(0));
}
