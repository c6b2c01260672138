//! `regraft grad` and `:grad`, as a user has them.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A script of these lines.
fn script(name: &str, text: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("grad");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn regraft(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_regraft"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

#[track_caller]
fn succeeds(args: &[&str]) -> String {
    let output = regraft(args, "");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn fails(args: &[&str], code: i32) -> String {
    let output = regraft(args, "");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {errors}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{args:?}");
    errors
}

const F: &str = "struct P\n    a::Float64\n    n::Int\nend\n\
                 pair(x, y) = x[1] * y[1]\nconst v = [3.0]\nby(p, t) = p.a * p.n * t[1] * t[2].b\n\
                 f(x, y) = x * x * sum(y)\nshape(m, t, n) = m[1, 2] * t.a * n\n";

#[test]
fn value_and_gradient_are_shown_as_julia_shows_them() {
    let f = script("f.jl", F);
    let text = succeeds(&["grad", &f, "f(3.0, [1.0, 2.0])"]);
    assert_eq!(text, "value:    27.0\ngradient: (18.0, [9.0, 9.0])\n");
}

#[test]
fn the_gradient_alone_does_not_compute_the_value() {
    let f = script("alone.jl", "f(x) = sum(abs2, x)");
    let call = "f([1.0, 2.0, 3.0])";
    for mode in ["reverse", "forward"] {
        let alone = ["grad", &f, call, "--gradient-only", "--mode", mode];
        assert_eq!(succeeds(&alone), "gradient: ([2.0, 4.0, 6.0],)\n");
    }
    let alone = ["grad", &f, call, "--gradient-only"];
    assert_eq!(
        succeeds(&[&alone[..], &["--json"]].concat()),
        "{\"gradient\": [[2.0, 4.0, 6.0]]}\n"
    );
    let count = |args: &[&str], what: &str| -> u64 {
        let output = regraft(args, "");
        let errors = String::from_utf8(output.stderr).unwrap();
        let (_, rest) = errors.split_once("for the value, ").expect(&errors);
        let (count, rest) = rest.split_once(' ').unwrap();
        assert!(rest.starts_with(what), "{errors}");
        count.parse().unwrap()
    };
    let alone = count(&[&alone[..], &["--stats"]].concat(), "for the gradient alone");
    let both = count(&["grad", &f, call, "--stats"], "for value and gradient");
    assert!(alone < both, "{alone} {both}");
}

#[test]
fn a_call_may_have_arguments_by_name() {
    let f = script("named.jl", "g(x; a = 2.0) = a * x\n");
    let text = succeeds(&["grad", &f, "g(3.0; a = 5.0)"]);
    assert_eq!(text, "value:    15.0\ngradient: (5.0,)\n");
    assert_eq!(succeeds(&["grad", &f, "g(3.0)", "--gradient-only"]), "gradient: (2.0,)\n");
}

#[test]
fn json_has_arrays_by_column_and_null_where_there_is_no_gradient() {
    let f = script("json.jl", F);
    let text = succeeds(&["grad", &f, "shape([1.0 2.0; 3.0 4.0], (a = 2.0, b = 1), 3)", "--json"]);
    assert_eq!(
        text,
        "{\"value\": 12.0, \"gradient\": [[[0.0, 0.0], [6.0, 0.0]], {\"a\": 6.0, \"b\": null}, null]}\n"
    );
}

#[test]
fn forward_mode_runs_the_function_once_for_each_number_and_takes_the_value_from_there() {
    let f = script(
        "forward_runs.jl",
        "f(x) = (println(\"run\"); x * x)\ng(v) = (println(\"run\"); 3.0)\n",
    );
    for (call, value, runs) in
        [("f(3.0)", "9.0", 1), ("g([1.0, 2.0])", "3.0", 2), ("g(Float64[])", "3.0", 1)]
    {
        let output = regraft(&["grad", &f, call, "--mode", "forward"], "");
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(out.starts_with(&format!("value:    {value}\n")), "{out}");
        let printed = String::from_utf8(output.stderr).unwrap();
        assert_eq!(printed, "run\n".repeat(runs), "{call}");
    }
}

#[test]
fn forward_mode_finds_the_same() {
    let f = script("forward.jl", F);
    let calls = [
        "f(3.0, [1.0, 2.0])",
        "shape([1.0 2.0; 3.0 4.0], (a = 2.0, b = 1), 3)",
        "by(P(2.0, 3), (4.0, (b = 5.0, c = :c)))",
        "pair(v, v)",
    ];
    for call in calls {
        let reverse = succeeds(&["grad", &f, call, "--mode", "reverse"]);
        assert_eq!(succeeds(&["grad", &f, call, "--mode", "forward"]), reverse);
    }
}

#[test]
fn the_plan_that_keeps_everything_finds_the_same() {
    let f = script("plan.jl", "f(x) = (for i in 1:5 x = sin(x) * x end; x)\n");
    let best = succeeds(&["grad", &f, "f(1.25)", "--plan", "best"]);
    assert_eq!(succeeds(&["grad", &f, "f(1.25)", "--plan", "naive"]), best);
}

#[test]
fn what_the_program_prints_is_no_result() {
    let f = script("prints.jl", "println(\"hello\")\nf(x) = (println(x); 2x)\n");
    let output = regraft(&["grad", &f, "f(1.0)"], "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "value:    2.0\ngradient: (2.0,)\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "hello\n1.0\n");
}

#[test]
fn what_is_wrong_is_told_with_the_line() {
    let f = script("wrong.jl", "f(x) = [x, x]\ng(x::Int) = x\n");
    let errors = fails(&["grad", &f, "f(1.0)"], 1);
    assert!(errors.contains("a gradient is that of a real number"), "{errors}");
    let errors = fails(&["grad", &f, "g(1.0)"], 1);
    assert!(errors.contains("no method matching g(::Float64)"), "{errors}");
    let errors = fails(&["grad", &f, "1.0"], 1);
    assert!(errors.contains("call"), "{errors}");
    fails(&["grad", &f, "f(1.0)", "--mode", "sideways"], 2);
    fails(&["grad", &f], 2);
}

#[test]
fn the_prompt_has_a_command_for_it() {
    let output = regraft(&["repl"], "f(x, y) = x * y\n:grad f(2.0, 3)\n:grad\n:help grad\n");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("value:    6.0\ngradient: (3.0, nothing)\n"), "{text}");
    assert!(text.contains(":grad CALL"), "{text}");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        format!("{text}{errors}").contains("the call whose gradient is asked for is missing"),
        "{text}{errors}"
    );
}
