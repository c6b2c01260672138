//! `run`, `ir` and `opt` on scripts, as other programs call them.

use crate::support::{example, fails, regraft, succeeds};

#[test]
fn values_print_as_julia_shows_them() {
    for (expr, value) in [
        ("1 + 1", "2"),
        ("6 / 3", "2.0"),
        ("7 ÷ 2", "3"),
        ("-7 ÷ 2", "-3"),
        ("mod(-7, 3)", "2"),
        ("2^10", "1024"),
        ("2.0^-1", "0.5"),
        ("typemax(Int64) + 1", "-9223372036854775808"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("1.0f0 / 3", "0.33333334f0"),
        ("1e100", "1.0e100"),
        ("1 == 1.0", "true"),
        ("1 < 2 <= 2", "true"),
        ("true && !true", "false"),
        ("(1.0, 2)", "(1.0, 2)"),
        ("(1,)", "(1,)"),
        ("(a = 1, b = 2.0)", "(a = 1, b = 2.0)"),
        ("[1.0, 2.0]", "[1.0, 2.0]"),
        ("[1, 2.5]", "[1.0, 2.5]"),
        ("Float64[]", "Float64[]"),
        ("[1 2; 3 4]", "[1 2; 3 4]"),
        ("[i + 10j for i in 1:2, j in 1:2]", "[11 21; 12 22]"),
        ("[x^2 for x in 1:5 if x != 3]", "[1, 4, 16, 25]"),
        ("\"text\"", "\"text\""),
        (":name", ":name"),
        ("nothing", "nothing"),
        ("1:3", "1:3"),
        ("(1:2:7, 0.5)", "(1:2:7, 0.5)"),
        ("view([1.0, 2.0, 3.0], 2:3)", "[2.0, 3.0]"),
        ("pi", "π"),
        ("sin", "sin"),
        ("Float64", "Float64"),
        ("sum([1, 2, 3])", "6"),
        ("sum(x -> x / 2, [1, 2, 3])", "3.0"),
        ("map(x -> 2x, (1, 2.0))", "(2, 4.0)"),
        ("[1, 2] .+ [10.0, 20.0]", "[11.0, 22.0]"),
        ("f(x) = x + 1; f(2)", "3"),
        ("let s = 0; for i in 1:10; s += i; end; s end", "55"),
        ("x = [1, 2, 3]; x[2] = 5; x[end] += 1; x", "[1, 5, 4]"),
    ] {
        assert_eq!(succeeds(&["run", "-e", expr], ""), format!("{value}\n"), "{expr}");
    }
}

#[test]
fn json_is_one_object() {
    for (expr, value) in [
        ("1 + 1", "2"),
        ("6 / 3", "2.0"),
        ("[1, 2]", "[1, 2]"),
        ("[1 2; 3 4]", "[[1, 3], [2, 4]]"),
        ("\"a\\nb\"", "\"a\\nb\""),
        ("nothing", "null"),
        ("1:3", "[1, 2, 3]"),
    ] {
        let printed = succeeds(&["run", "-e", expr, "--json"], "");
        assert_eq!(printed, format!("{{\"value\": {value}}}\n"), "{expr}");
    }
}

#[test]
fn a_script_prints_what_it_prints_and_no_more() {
    let script = "x = 5\nprintln(\"x is \", x)\nprint(x)\nprint('\\n')\nx\n";
    let script = script.replace("print('\\n')\n", "println()\n");
    assert_eq!(succeeds(&["run", "-"], &script), "x is 5\n5\n");
    assert_eq!(succeeds(&["run", "-", "-e", "x + 1"], &script), "x is 5\n5\n6\n");
    assert_eq!(succeeds(&["run", "-"], ""), "");
    assert_eq!(succeeds(&["run", "-"], "# nothing but words\n"), "");
}

#[test]
fn files_run_in_order_in_one_world() {
    let (foo, sum) = (example("foo.jl"), example("sum.jl"));
    let args = ["run", &foo, &sum, "-e", "_sum(x -> foo(x, 0.0), [1.0, 2.0])"];
    // foo(x, 0.0) is x * 0.0 + sin(0.0), which is 0.0.
    let printed = succeeds(&args, "");
    assert!(printed.starts_with("1.8414709848078965\n"), "{printed}");
    assert!(printed.ends_with("\n0.0\n"), "{printed}");
}

#[test]
fn errors_of_all_files_are_told_before_anything_runs() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("jl_two_files");
    std::fs::create_dir_all(&folder).unwrap();
    let (one, two) = (folder.join("one.jl"), folder.join("two.jl"));
    std::fs::write(&one, "println(1)\nx = (1 +\n").unwrap();
    std::fs::write(&two, "y = ]\n").unwrap();
    let (printed, errors) = fails(&["run", one.to_str().unwrap(), two.to_str().unwrap()], "", 1);
    assert_eq!(printed, "");
    assert!(errors.contains("one.jl:") && errors.contains("two.jl:1"), "{errors}");
    let (_, errors) = fails(&["run", "no/one.jl", "no/two.jl"], "", 1);
    assert!(errors.contains("no/one.jl") && errors.contains("no/two.jl"), "{errors}");
}

#[test]
fn what_a_script_prints_before_an_error_is_printed() {
    let (printed, errors) = fails(&["run", "-"], "println(\"at work\")\nx = 1 ÷ 0\n", 1);
    assert_eq!(printed, "at work\n");
    assert!(errors.contains("DivideError") && errors.contains("<stdin>:2"), "{errors}");
}

#[test]
fn ir_shows_three_stages() {
    let foo = example("foo.jl");
    let lowered = succeeds(&["ir", &foo, "foo(1.0, 1.0)", "--stage", "lowered"], "");
    let calls = ["call @\"*\"(%x, %y)", "call @sin(%y)", "call @\"+\"("];
    let mut rest = &*lowered;
    for call in calls {
        let at = rest.find(call).unwrap_or_else(|| panic!("no `{call}` in its place: {lowered}"));
        rest = &rest[at..];
    }
    let typed = succeeds(&["ir", &foo, "foo(1.0, 1.0)", "--stage", "typed"], "");
    for op in ["(%x: f64, %y: f64) -> f64", "arith.mul %x, %y", "math.sin %y", "arith.add"] {
        assert!(typed.contains(op), "no `{op}` in {typed}");
    }
    assert_eq!(succeeds(&["ir", &foo, "foo(1.0, 1.0)"], ""), typed, "typed is the default");
    let optimized = succeeds(&["ir", &foo, "foo(1.0, 1.0)", "--stage", "optimized"], "");
    assert!(!optimized.contains("call"), "{optimized}");
    // What the script prints is no part of the result.
    assert!(typed.starts_with("func "), "{typed}");
}

#[test]
fn ir_evaluates_arguments_for_their_types() {
    let script = "f(x) = x + x\nf(x::Vector) = length(x)\na = [1, 2]\n";
    let shown = |call: &str| succeeds(&["ir", "-", call], script);
    assert!(shown("f(1)").contains("i64"), "{}", shown("f(1)"));
    assert!(shown("f(2.5)").contains("arith.add"), "{}", shown("f(2.5)"));
    assert!(shown("f(a)").contains("array<i64, 1>"), "{}", shown("f(a)"));
    let (_, errors) = fails(&["ir", "-", "f"], script, 1);
    assert!(errors.contains("call"), "{errors}");
    let (_, errors) = fails(&["ir", "-", "f(1, 2)"], script, 1);
    assert!(errors.contains("MethodError"), "{errors}");
    let (_, errors) = fails(&["ir", "-", "f(b)"], script, 1);
    assert!(errors.contains('b') && errors.contains("not defined"), "{errors}");
}

#[test]
fn opt_works_on_the_method_of_an_entry() {
    let foo = example("foo_bang.jl");
    let entry = "foo!(Vector{Float64}, Vector{Float64})";
    let pipeline = "fix(fold, cse, simplify-cfg, dce)";
    let out = succeeds(&["opt", &foo, "--entry", entry, "-p", pipeline], "");
    assert!(out.contains("mem.store") && !out.contains("call"), "{out}");
    // What it prints is IR, which it reads.
    assert_eq!(succeeds(&["opt", "-"], &out), out);
    let diff = succeeds(&["opt", &foo, "--entry", entry, "-p", "profile", "--diff"], "");
    assert!(diff.lines().any(|line| line.starts_with("+  ")), "{diff}");
}

#[test]
fn opt_checks_passes_on_typed_methods() {
    let file = example("foo_bang.jl");
    let entry = "foo!(Vector{Float64}, Vector{Float64})";
    let pipeline = "fix(fold, cse, simplify-cfg, dce)";
    succeeds(&["opt", &file, "--entry", entry, "-p", pipeline, "--check", "50"], "");
    // What is called dynamically is not in the module.
    let script = "f(x) = g(x[1])\ng(x) = x + 1\n";
    let args = ["opt", "-", "--entry", "f(Vector{Any})", "-p", "dce", "--check", "5"];
    let (_, errors) = fails(&args, script, 1);
    assert!(errors.contains("dynamic"), "{errors}");
}

#[test]
fn wrong_usage_is_told() {
    let foo = example("foo.jl");
    let usage = |args: &[&str]| fails(args, "", 2).1;
    assert!(usage(&["opt", &foo, "-p", "dce"]).contains("--entry"));
    usage(&["run"]);
    usage(&["ir", &foo]);
    usage(&["ir", &foo, "foo(1, 2)", "--stage", "last"]);
    let ir = format!("{}/examples/ir/foo.ir", env!("CARGO_MANIFEST_DIR"));
    assert!(usage(&["run", &foo, &ir]).contains("foo.ir"));
    let (_, errors) = fails(&["opt", &ir, "--entry", "foo(Float64)"], "", 1);
    assert!(errors.contains("no method matching foo(::Float64)"), "{errors}");
    let (_, errors) = fails(&["opt", &foo, "--entry", "foo(Real, Float64)"], "", 1);
    assert!(errors.contains("Real"), "{errors}");
    let (_, errors) = fails(&["opt", &foo, "--entry", "foo(1.0, Float64)"], "", 1);
    assert!(errors.contains("type"), "{errors}");
}

#[test]
fn engines_and_bad_expressions() {
    fails(&["run", "-e", "1 +"], "", 1);
    fails(&["run", "-e", "1", "--engine", "abacus"], "", 2);
    let output = regraft(&["run", "-e", "error(\"no way\")"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no way"));
}
