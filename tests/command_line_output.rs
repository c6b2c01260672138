//! Output of commands beside their results, and its form: objects, colours, limits, names, times, what
//! is told when they are interrupted.

mod common;

use std::process::{Command, ExitCode, Output};

use regraft::cli::Tool;
use regraft::prelude::*;
use serde_json::Value as Json;

use common::folder;

fn regraft(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_regraft")).args(args).output().unwrap()
}

fn example(name: &str) -> String {
    format!("{}/examples/ir/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The outputs of a command that ends with `code`: results and what is told beside them.
#[track_caller]
fn ends_with(code: i32, args: &[&str]) -> (String, String) {
    let output = regraft(args);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {errors}");
    (String::from_utf8(output.stdout).unwrap(), errors)
}

#[track_caller]
fn object(args: &[&str]) -> Json {
    let (text, _) = ends_with(0, args);
    assert_eq!(text.lines().count(), 1, "an object is one line: {text}");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn objects_have_a_blank_after_each_comma_and_colon() {
    let folder = folder("spaces");
    let file = folder.join("one.ir");
    std::fs::write(&file, "func @one() -> i64 {\n^1:\n  return 1\n}\n").unwrap();
    let (text, _) = ends_with(0, &["ir", file.to_str().unwrap(), "--json"]);
    let expected = r#"{"structs": [], "functions": [{"name": "one", "parameters": [], "result": "i64", "blocks": [{"block": "^1", "parameters": [], "instructions": [], "terminator": {"op": "cf.return", "operands": ["1"], "edges": []}}]}]}"#;
    assert_eq!(text.trim_end(), expected);
}

// --- what is said of one thing -------------------------------------------------------------

#[test]
fn the_page_of_a_switch_tells_its_edges_and_opt_asks_for_the_method_of_a_script() {
    let (page, _) = ends_with(0, &["ops", "cf.switch"]);
    assert!(page.contains("The edges are the default one, and then one for each case"), "{page}");
    let folder = folder("one_method");
    let script = folder.join("one.jl");
    std::fs::write(&script, "one() = 1\n").unwrap();
    let (_, errors) = ends_with(2, &["opt", script.to_str().unwrap(), "-p", "dce"]);
    assert!(errors.contains("one.jl is a script, not a function"), "{errors}");
    assert!(errors.contains("say which method to work on: --entry"), "{errors}");
}

#[test]
fn structs_that_passes_took_away_are_not_shown() {
    let folder = folder("structs");
    let script = folder.join("point.jl");
    std::fs::write(&script, "struct P\n  x::Float64\nend\nmake(x) = P(x)\nget(x) = P(x).x\n")
        .unwrap();
    let ir = |call| ends_with(0, &["ir", script.to_str().unwrap(), call, "--stage", "optimized"]).0;
    assert!(ir("make(1.0)").starts_with("struct @P {x: f64}\n"));
    assert!(ir("get(1.0)").starts_with("func @\"get(Float64)\""));
}

// --- IR programs, and signatures ------------------------------------------------------------

#[test]
fn ir_programs_are_differentiated_and_shown_like_scripts() {
    let pow = example("pow.ir");
    let (out, _) = ends_with(0, &["grad", &pow, "pow(3.0, 2)"]);
    assert_eq!(out, "value:    9.0\ngradient: (6.0, nothing)\n");
    let (out, _) = ends_with(0, &["grad", &pow, "pow(3.0, 2)", "--mode", "forward", "--json"]);
    assert_eq!(out, "{\"value\": 9.0, \"gradient\": [6.0, null]}\n");
    let (typed, _) = ends_with(0, &["ir", &pow, "pow(Float64, Int64)"]);
    assert!(typed.starts_with("func @\"pow(Float64, Int64)\"("), "{typed}");
    assert_eq!(typed, ends_with(0, &["ir", &pow, "pow(3.0, 2)"]).0, "a call names the same");
    let (whole, _) = ends_with(0, &["ir", &pow]);
    assert_eq!(whole, ends_with(0, &["opt", &pow]).0);
    let (entry, _) = ends_with(0, &["opt", &pow, "--entry", "pow(Float64, Int64)"]);
    assert_eq!(entry, typed);
}

#[test]
fn scripts_and_ir_call_each_other() {
    let folder = folder("scripts_and_ir");
    let script = folder.join("cube.jl");
    std::fs::write(&script, "cube(x) = pow(x, 3)\n").unwrap();
    let args = ["grad", &example("pow.ir"), script.to_str().unwrap(), "cube(2.0)"];
    assert_eq!(ends_with(0, &args).0, "value:    8.0\ngradient: (12.0,)\n");
}

#[test]
fn types_are_written_without_colons_and_the_other_form_is_refused_with_the_right_one() {
    let folder = folder("signatures");
    let script = folder.join("f.jl");
    std::fs::write(&script, "f(x, y) = x + y\n").unwrap();
    let script = script.to_str().unwrap();
    let (types, _) = ends_with(0, &["ir", script, "f(Float64, Int64)"]);
    assert_eq!(types, ends_with(0, &["ir", script, "f(1.0, 2)"]).0);
    let (_, errors) = ends_with(1, &["ir", script, "f(::Float64, ::Int64)"]);
    assert!(errors.contains("types are written without `::` here"), "{errors}");
    let (_, errors) = ends_with(2, &["ir", script]);
    assert!(errors.contains("'foo(Float64)'"), "{errors}");
    let (_, errors) = ends_with(2, &["grad", script]);
    assert!(errors.contains("the call whose gradient is asked for is missing"), "{errors}");
}

// --- objects ----------------------------------------------------------------------------------

#[test]
fn a_module_is_an_object_of_functions_blocks_and_instructions() {
    let module = object(&["opt", &example("pow.ir"), "-p", "dce", "--json", "--stats", "--time"]);
    let f = &module["functions"][0];
    assert_eq!((&f["name"], &f["result"]), (&"pow".into(), &"f64".into()));
    assert_eq!(f["parameters"], serde_json::json!(["f64", "i64"]));
    let entry = &f["blocks"][0];
    assert_eq!(entry["terminator"]["op"], "cf.br");
    let edge = serde_json::json!({"block": "^2", "arguments": ["%2", "1.0"]});
    assert_eq!(entry["terminator"]["edges"][0], edge);
    let multiplied = f["blocks"].as_array().unwrap().iter().any(|block| {
        block["instructions"].as_array().unwrap().iter().any(|inst| inst["op"] == "arith.mul")
    });
    assert!(multiplied, "{module}");
    assert_eq!(module["stats"]["passes"][0]["pass"], "dce");
    assert!(module["time"]["wall_ms"].as_f64().unwrap() > 0.0);
    assert_eq!(object(&["ir", &example("pow.ir"), "--json"])["functions"], module["functions"]);
}

#[test]
fn large_products_are_computed_by_loops_on_demand() {
    let file = folder("products").join("square.jl");
    let program = "square(a) = a * a\ntotal(a) = sum(square(a))\nlarge = [sin(i * j) for i in 1:20, j in 1:20]\n";
    std::fs::write(&file, program).unwrap();
    let file = file.to_str().unwrap();
    let ir = |args: &[&str]| ends_with(0, &[&["ir", file, "square(large)"], args].concat()).0;
    assert!(ir(&[]).contains("linalg.product"));
    assert!(ir(&["--matmul", "library"]).contains("linalg.product"));
    assert!(!ir(&["--matmul", "loops"]).contains("linalg.product"));
    let call =
        "square(large) ≈ [sum(large[i, k] * large[k, j] for k in 1:20) for i in 1:20, j in 1:20]";
    let value = |way: &str| object(&["run", file, "-e", call, "--json", "--matmul", way]);
    for way in ["library", "loops"] {
        assert_eq!(value(way)["value"], true, "{way}");
    }
    // A sum over all elements has the same gradient, up to rounding.
    let gradient = |way: &str| {
        let found = object(&["grad", file, "total(large)", "--json", "--matmul", way]);
        found["gradient"][0][3][4].as_f64().unwrap()
    };
    assert!((gradient("library") - gradient("loops")).abs() < 1e-10);
}

#[test]
fn the_algebra_of_floats_is_chosen_by_name() {
    let file = folder("algebra").join("size.jl");
    // The square of a tiny number is zero.
    std::fs::write(&file, "size(x) = sqrt(x * x)\n").unwrap();
    let file = file.to_str().unwrap();
    let value = |math: &[&str]| {
        object(&[&["run", file, "-e", "size(1e-200)", "--json"], math].concat())["value"].clone()
    };
    assert_eq!(value(&[]), 0.0);
    assert_eq!(value(&["--math", "exact"]), 0.0);
    assert_eq!(value(&["--math", "finite"]), 0.0);
    assert_eq!(value(&["--math", "fast"]), 1e-200);
    let gradient = object(&["grad", file, "size(-1e-200)", "--math", "fast", "--json"]);
    assert_eq!(gradient["value"], 1e-200);
    let ir = |args: &[&str]| {
        ends_with(0, &[&["ir", file, "size(2.0)", "--stage", "optimized"], args].concat()).0
    };
    assert!(ir(&["-p", "O3"]).contains("math.sqrt"));
    assert!(ir(&["-p", "O2", "--math", "fast"]).contains("math.sqrt"));
    assert!(!ir(&["--math", "fast"]).contains("math.sqrt"));
    assert_eq!(ir(&["--math", "fast"]), ir(&["-p", "O3{math=fast}"]));
    let opt = |args: &[&str]| {
        ends_with(0, &[&["opt", file, "--entry", "size(Float64)"], args].concat()).0
    };
    assert!(opt(&["-p", "e-graph"]).contains("math.sqrt"));
    assert!(opt(&["-p", "e-graph{math=exact}", "--math", "fast"]).contains("math.sqrt"));
    assert!(!opt(&["-p", "e-graph", "--math", "fast"]).contains("math.sqrt"));
    let module = folder("algebra_of_ir").join("size.ir");
    std::fs::write(&module, opt(&["-p", ""]).replace("size(Float64)", "size")).unwrap();
    let call = ["run", module.to_str().unwrap(), "-e", "size(1e-200)", "--json"];
    assert_eq!(object(&call)["value"], 0.0);
    assert_eq!(object(&[&call[..], &["--math", "fast"]].concat())["value"], 1e-200);
    let (_, errors) = ends_with(2, &["ir", file, "size(1.0)", "-p", "O3"]);
    assert!(errors.contains("`--pipeline` is for `--stage optimized`"), "{errors}");
    let (_, errors) = ends_with(2, &["run", file, "--math", "quick"]);
    assert!(errors.contains("exact, finite, fast"), "{errors}");
}

#[test]
fn a_failing_pass_is_an_object_too() {
    let args = ["opt", &example("pow.ir"), "-p", "reverse-diff{function=nope}", "--json"];
    let (out, _) = ends_with(2, &args);
    let error: Json = serde_json::from_str(&out).unwrap();
    assert_eq!(error["error"]["kind"], "options", "{out}");
    assert_eq!(error["error"]["diagnostics"][0]["severity"], "error", "{out}");
}

#[test]
fn passes_and_ops_are_objects() {
    let passes = object(&["passes", "--json"]);
    let names = |key: &str| -> Vec<String> {
        let all = passes[key].as_array().unwrap().iter();
        all.map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names("passes").contains(&"licm".to_owned()), "{passes}");
    assert!(names("analyses").contains(&"loop-forest".to_owned()), "{passes}");
    assert_eq!(names("pipelines"), ["O1", "O2", "O3"]);
    let unroll = object(&["passes", "unroll", "--json"]);
    assert_eq!(unroll["kind"], "loop");
    let factor = unroll["options"].as_array().unwrap().iter().find(|o| o["name"] == "factor");
    assert!(factor.is_some_and(|factor| factor["default"].is_i64()), "{unroll}");
    let add = object(&["ops", "arith.add", "--json"]);
    assert!(add["traits"].as_array().unwrap().contains(&"commutative".into()), "{add}");
    let rules = object(&["rules", "--json"]);
    assert!(rules["rules"].as_array().unwrap().len() > 100, "{rules}");
    let rule = object(&["rules", "add-neg", "--json", "--samples", "100"]);
    assert_eq!((&rule["set"], &rule["failure"]), (&"exact".into(), &Json::Null), "{rule}");
    assert!(rule["compared"].as_u64().is_some_and(|inputs| inputs > 100), "{rule}");
    let file = folder("rules_json").join("mine.rules");
    std::fs::write(&file, "rule same exact: arith.sub ?a, ?b => arith.sub ?b, ?a  if int ?a\n")
        .unwrap();
    let test = ["rules", "--json", "--test", file.to_str().unwrap(), "--samples", "100"];
    let tested: Json = serde_json::from_str(&ends_with(1, &test).0).unwrap();
    let failure = tested["rules"][0]["failure"].as_str().unwrap();
    assert!(failure.starts_with("is wrong: ?a: i64 = "), "{tested}");
    assert_eq!(tested["contradictions"][0]["rules"], serde_json::json!(["same"]), "{tested}");
    assert!(object(&["ops", "--json"])["dialects"].as_array().unwrap().len() > 5);
}

#[test]
fn passes_are_listed_by_kind() {
    let (list, _) = ends_with(0, &["passes"]);
    let mut kinds = list.lines().filter(|line| !line.is_empty() && !line.starts_with(' '));
    for kind in [
        "analyses",
        "passes over loops",
        "passes over functions",
        "passes over the module",
        "pipelines",
    ] {
        let title = kinds.next().unwrap();
        assert!(title.starts_with(kind), "{title}");
    }
    let (page, _) = ends_with(0, &["passes", "loop-forest"]);
    assert!(page.contains("print{loop-forest}"), "{page}");
}

// --- colours, limits, graphs --------------------------------------------------------------------

#[test]
fn colours_come_where_they_are_asked_for() {
    let pow = example("pow.ir");
    let plain = ends_with(0, &["opt", &pow]).0;
    assert_eq!(ends_with(0, &["opt", &pow, "--color", "never"]).0, plain);
    let colored = ends_with(0, &["opt", &pow, "--color", "always"]).0;
    assert!(colored.contains("\u{1b}["), "{colored:?}");
    let diff = ends_with(0, &["opt", &pow, "-p", "expand", "--diff", "--color=always"]).0;
    assert!(diff.contains("\u{1b}[31m-  br ^2(%2, 1.0)\u{1b}[0m"), "{diff:?}");
    let (_, errors) = ends_with(2, &["opt", &pow, "-p", "nope", "--color", "always"]);
    assert!(errors.contains("\u{1b}["), "{errors:?}");
}

#[test]
fn a_hundred_errors_are_cut_off_at_the_limit() {
    let folder = folder("error_limit");
    let file = folder.join("wrong.ir");
    let mut text = String::from("func @f(%1: i64) -> i64 {\n^1:\n");
    for i in 2..102 {
        text.push_str(&format!("  %{i}: i64 = arith.nope %1\n"));
    }
    text.push_str("  return %1\n}\n");
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let count = |errors: &str| errors.matches("wrong.ir:").count();
    let (_, errors) = ends_with(1, &["opt", file]);
    assert_eq!(count(&errors), 20, "{errors}");
    assert!(errors.ends_with("and 80 more; `--error-limit 0` shows all\n"), "{errors}");
    let (_, errors) = ends_with(1, &["opt", file, "--error-limit", "0"]);
    assert_eq!(count(&errors), 100);
    let (_, errors) = ends_with(1, &["opt", file, "--error-limit", "3"]);
    assert_eq!((count(&errors), errors.contains("and 97 more")), (3, true));
}

#[test]
fn graphs_come_for_every_function() {
    let (dot, _) = ends_with(0, &["opt", &example("nested.ir"), "--dot"]);
    let (ir, _) = ends_with(0, &["opt", &example("nested.ir")]);
    assert_eq!(dot.matches("digraph ").count(), ir.matches("func @").count());
    let (dot, _) = ends_with(0, &["ir", &example("pow.ir"), "pow(2.0, 3)", "--dot"]);
    assert!(dot.starts_with("digraph \"pow(Float64, Int64)\""), "{dot}");
}

#[test]
fn times_are_told_by_phase() {
    let pow = example("pow.ir");
    let (_, told) = ends_with(0, &["grad", &pow, "pow(3.0, 2)", "--time"]);
    let phases: Vec<&str> = told.lines().filter_map(|l| l.split_whitespace().next()).collect();
    let expected =
        ["phase", "start", "parse", "lower", "infer", "differentiate", "optimize", "run", "total"];
    assert_eq!(phases, expected, "{told}");
    let found = object(&["grad", &pow, "pow(3.0, 2)", "--time", "--json"]);
    for phase in ["infer", "differentiate", "optimize", "total"] {
        assert!(found["time"][phase].as_f64().unwrap() > 0.0, "{found}");
    }
    let (_, told) = ends_with(0, &["ir", &pow, "pow(3.0, 2)", "--time", "--stage", "optimized"]);
    assert!(told.contains("optimize"), "{told}");
}

// --- mistakes -----------------------------------------------------------------------------------

#[test]
fn a_wrong_option_of_a_pass_is_wrong_usage_and_leaves_no_reproducer() {
    let folder = folder("wrong_option");
    let at = folder.to_str().unwrap();
    for (pipeline, hint) in [
        ("reverse-diff{function=pwo}", "did you mean `function=pow`?"),
        ("forward-diff{function=pwo}", "did you mean `function=pow`?"),
        ("reverse-diff{wrt=\"3\"}", "the function has 2"),
    ] {
        let args = ["opt", &example("pow.ir"), "-p", pipeline, "--reproducer", at];
        let (_, errors) = ends_with(2, &args);
        assert!(errors.contains(hint), "{errors}");
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_function_that_there_is_not_is_refused_for_only() {
    let pow = example("pow.ir");
    let (_, errors) =
        ends_with(2, &["opt", &pow, "-p", "dce", "--print-after-all", "--only", "pwo"]);
    assert!(errors.contains("there is no function `pwo`"), "{errors}");
    assert!(errors.contains("did you mean `pow`?"), "{errors}");
    // A pass may make it.
    let args = ["opt", &pow, "-p", "forward-diff, dce", "--print-after-all", "--only", "pow.jvp"];
    ends_with(0, &args);
}

#[test]
fn statistics_leave_out_what_is_zero() {
    let (_, told) = ends_with(0, &["opt", &example("pow.ir"), "-p", "cse, dce, O1", "--stats"]);
    assert!(told.contains("dce"), "{told}");
    let zero = |line: &str| line.split(", ").any(|part| part.ends_with(" 0"));
    assert!(!told.lines().any(zero), "{told}");
}

/// Reports what it does not like twice.
#[derive(Default)]
struct Picky;

impl FunctionPass for Picky {
    const NAME: &'static str = "picky";

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let help = |text: &str| Diagnostic::error(text).help("be nice");
        cx.error(help("the first complaint"));
        if f.name_str() == "two" {
            cx.error(help("the second complaint"));
        }
        Ok(())
    }
}

#[test]
fn what_a_pass_reports_is_told_once() {
    let mut passes = PassRegistry::standard();
    passes.add::<Picky>();
    let pipeline = regraft::passes::Pipeline::parse(&passes, "picky").unwrap();
    for (name, expected) in [("one", 1), ("two", 2)] {
        let text = format!("func @{name}() -> unit {{\n^1:\n  return nothing\n}}\n");
        let mut module = parse_module(&context(), "f.ir", &text).unwrap();
        let failure =
            regraft::passes::run_pipeline(&mut module, &pipeline, &Default::default()).unwrap_err();
        let report = regraft::ir::render_all(failure.diagnostics(), false);
        assert_eq!(report.matches("complaint").count(), expected, "{report}");
        assert!(report.contains(&format!("pass `picky` failed on @{name}")), "{report}");
    }
}

// --- names ----------------------------------------------------------------------------------------

#[test]
fn reproducers_of_a_tool_name_it() {
    /// Fails.
    #[derive(Default)]
    struct Fails;

    impl FunctionPass for Fails {
        const NAME: &'static str = "fails";

        fn run(&mut self, _: &mut Function, _: &mut PassContext<'_>) -> PassResult {
            Err(Diagnostic::error("it fails"))
        }
    }

    let folder = folder("tool_name");
    let mut tool = Tool::new().named("mytool", "7.1");
    tool.passes().add::<Fails>();
    let (file, at) = (example("pow.ir"), folder.to_str().unwrap());
    let code = tool.run(["anything", "opt", &file, "-p", "fails", "--reproducer", at]);
    assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(1)));
    let text = std::fs::read_to_string(folder.join("fails-pow.ir")).unwrap();
    assert!(text.starts_with("# mytool opt -p 'fails'\n# pass `fails` failed on @pow"), "{text}");
    let pipeline = regraft::passes::reproducer_pipeline(&text);
    assert_eq!(pipeline.as_deref(), Some("fails"), "any tool reads it");
}

#[test]
fn shells_and_manuals_know_every_command() {
    let commands =
        ["opt", "run", "ir", "grad", "repl", "test", "reduce", "fuzz", "passes", "ops", "rules"];
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (script, _) = ends_with(0, &["completions", shell]);
        for command in commands {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    ends_with(2, &["completions", "abacus"]);
    assert!(ends_with(0, &["man"]).0.contains(".TH regraft 1"));
    let folder = folder("man");
    ends_with(0, &["man", folder.to_str().unwrap()]);
    for command in commands {
        let page = std::fs::read_to_string(folder.join(format!("regraft-{command}.1"))).unwrap();
        assert!(page.contains(&format!("regraft\\-{command}")), "{page}");
    }
}

// --- fuzz -----------------------------------------------------------------------------------------

#[test]
fn fuzz_finds_the_same_on_any_number_of_threads() {
    let run = |threads: &str, more: &[&str]| {
        let args = ["fuzz", "--cases", "150", "--threads", threads];
        ends_with(0, &[&args[..], more].concat()).0
    };
    let pipeline = ["-p", "fold, cse, dce"];
    assert_eq!(run("1", &pipeline), run("3", &pipeline));
    assert!(run("2", &pipeline).starts_with("150 cases ("));
    ends_with(2, &["fuzz", "--threads", "0"]);
}

#[test]
fn fuzz_generates_the_ops_that_are_chosen() {
    let args = ["fuzz", "--cases", "30", "-p", "dce", "--json", "--ops", "arith.a*,math.sin"];
    let tally = &object(&args)["tally"];
    assert_eq!((&tally["cases"], &tally["scripts"]), (&30.into(), &0.into()), "{tally}");
    let (_, errors) = ends_with(2, &["fuzz", "--ops", "math.sni"]);
    assert!(errors.contains("did you mean `math.sin`?"), "{errors}");
    ends_with(2, &["fuzz", "--ops", "math.sin", "--scripts", "5"]);
}

/// Sends the signal of Ctrl-C until a command ends, and gives how it ended and what it printed.
#[cfg(unix)]
fn interrupted(args: &[&str]) -> (Option<i32>, String, String) {
    use std::process::Stdio;
    use std::time::Duration;

    let child = Command::new(env!("CARGO_BIN_EXE_regraft"))
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It has to be ready for the signal, which would end it otherwise.
    std::thread::sleep(Duration::from_millis(1_500));
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
#[cfg(unix)]
fn an_interrupt_of_fuzz_leaves_the_tally() {
    let (code, out, errors) = interrupted(&["fuzz", "--minutes", "60", "-p", "dce"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.starts_with("interrupted before case "), "{out}");
    assert!(out.contains(" cases (") && out.contains("0 finds"), "{out}");
}

#[test]
#[cfg(unix)]
fn an_interrupt_of_a_check_says_how_far_it_was() {
    let folder = folder("interrupted_check");
    let file = folder.join("many.ir");
    let mut text = String::new();
    for i in 0..3_000 {
        text.push_str(&format!(
            "func @f{i}(%x: f64) -> f64 {{\n^1:\n  %y: f64 = arith.mul %x, 2.0\n  \
             %z: f64 = arith.mul %x, 2.0\n  %u: f64 = arith.add %y, %z\n  return %u\n}}\n\n"
        ));
    }
    std::fs::write(&file, text).unwrap();
    let args = ["opt", file.to_str().unwrap(), "-p", "cse, dce", "--check", "100000"];
    let (code, out, errors) = interrupted(&args);
    assert_eq!((code, &*out), (Some(1), ""), "{errors}");
    assert!(errors.contains("interrupted when "), "{errors}");
    assert!(errors.contains("stopped after "), "{errors}");
}

#[test]
fn stats_say_what_ran_the_functions_and_why() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("stats.jl");
    let text = "safe(x) = try; sqrt(x); catch; 0.0; end\n\
                fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)\n\
                once(x) = x + 1\n\
                println(fib(5), safe(4.0), once(1))\n";
    std::fs::write(&file, text).unwrap();
    let file = file.to_string_lossy();
    let told = |engine: &str| ends_with(0, &["run", &file, "--stats", "--engine", engine]).1;
    let lines = told("cranelift");
    assert!(lines.contains("interpreter (catches errors): safe(Float64)"), "{lines}");
    let native = lines.lines().find(|line| line.starts_with("native code by cranelift: "));
    assert!(native.is_some_and(|line| line.contains("fib(Int64)")), "{lines}");
    assert!(!lines.contains('#'), "{lines}");
    let lines = told("auto");
    assert!(lines.contains("interpreter (not worth native code): "), "{lines}");
    let lines = told("interp");
    assert!(lines.starts_with("interpreter (is asked for): "), "{lines}");
}
