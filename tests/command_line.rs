//! The command line as scripts use it: what goes where, and the exit codes.

mod common;

use std::io::Write;
use std::process::{Command, Output, Stdio};

use common::folder;

const FOO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/ir/foo.ir");

fn regraft(args: &[&str]) -> Output {
    regraft_with_input(args, b"")
}

fn regraft_with_input(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_regraft"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input closes it early.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn example(name: &str) -> String {
    format!("{}/examples/ir/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[track_caller]
fn succeeds(args: &[&str]) -> String {
    let output = regraft(args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Fails with this code, prints nothing as a result, and returns the diagnostics.
#[track_caller]
fn fails(args: &[&str], code: i32) -> String {
    let output = regraft(args);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {errors}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{args:?}");
    errors
}

#[test]
fn opt_shows_the_calls_that_the_profiler_inserts() {
    let diff = succeeds(&["opt", FOO, "-p", "profile", "--diff"]);
    let added: Vec<&str> = diff.lines().filter(|line| line.starts_with("+  ")).collect();
    assert_eq!(
        added,
        [
            "+  %7: unit = prof.record_start :mul",
            "+  %8: unit = prof.record_end :mul",
            "+  %9: unit = prof.record_start :sin",
            "+  %10: unit = prof.record_end :sin",
            "+  %11: unit = prof.record_start :add",
            "+  %12: unit = prof.record_end :add",
        ]
    );
    assert!(!diff.lines().any(|line| line.starts_with("-  ")), "{diff}");
}

#[test]
fn opt_prints_ir_that_it_can_read_again() {
    let once =
        succeeds(&["opt", &example("foo_bang.ir"), "-p", "fix(fold, cse, simplify-cfg, dce)"]);
    let output = regraft_with_input(&["opt", "-"], once.as_bytes());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), once);
}

#[test]
fn opt_keeps_results_and_diagnostics_apart() {
    let args = ["opt", FOO, "-p", "cse, dce", "--print-after-all", "--time", "--stats"];
    let output = regraft(&args);
    let result = String::from_utf8(output.stdout).unwrap();
    assert_eq!(result, succeeds(&["opt", FOO]));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("func @foo") && told.contains("cse"), "{told}");
}

#[test]
fn opt_writes_where_it_is_told() {
    let folder = folder("opt_writes");
    let file = folder.join("out.ir");
    let dump = folder.join("dump");
    let printed = succeeds(&[
        "opt",
        FOO,
        "-p",
        "profile, renumber",
        "-o",
        file.to_str().unwrap(),
        "--print-to",
        dump.to_str().unwrap(),
    ]);
    assert_eq!(printed, "");
    assert!(std::fs::read_to_string(file).unwrap().contains("prof.record_start :mul"));
    assert!(std::fs::read_dir(dump).unwrap().count() >= 2);
}

#[test]
fn opt_checks_passes_on_generated_inputs() {
    let file = example("foo_bang.ir");
    succeeds(&["opt", &file, "-p", "fix(fold, cse, simplify-cfg, dce)", "--check", "50"]);
}

#[test]
fn wrong_pipelines_are_wrong_usage_with_a_hint() {
    let errors = fails(&["opt", FOO, "-p", "fold, csee, dce{x=1}"], 2);
    assert!(errors.contains("csee") && errors.contains("cse`?"), "{errors}");
    assert!(errors.contains("`x`") || errors.contains("\"x\""), "both errors are told: {errors}");
}

#[test]
fn a_file_with_five_errors_reports_five() {
    let text = "func @f(%1: i64) -> i64 {\n^1:\n  %2: i64 = arith.ad %1, 1\n  %3: i65 = arith.add %1, 1\n  \
        %4: i64 = arith.add %1 1\n  %5: i64 = arith.add %9, 1\n  br ^7\n}\n";
    let output = regraft_with_input(&["opt", "-"], text.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    for line in ["<stdin>:3", "<stdin>:4", "<stdin>:5", "<stdin>:6", "<stdin>:7"] {
        assert!(errors.contains(line), "no error at {line} in\n{errors}");
    }
    assert!(errors.contains("did you mean `arith.add`?"), "{errors}");
}

#[test]
fn invalid_programs_show_the_offending_line() {
    let text = "func @f(%1: i64) -> f64 {\n^1:\n  return %1\n}\n";
    let output = regraft_with_input(&["opt", "-"], text.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains("return %1") && errors.contains("i64") && errors.contains("f64"),
        "{errors}"
    );
    assert!(errors.contains("<stdin>:3:3"), "the line of the file is shown: {errors}");
}

#[test]
fn what_is_no_program_is_an_error_with_exit_code_1() {
    for bytes in
        [&b"\xff\xfe\x00"[..], b"func", b"{{{{{{", b"\0\0\0", b"%1 = ", b"func @f() -> i64 {"]
    {
        let output = regraft_with_input(&["opt", "-"], bytes);
        assert_eq!(output.status.code(), Some(1), "{bytes:?}");
        assert!(!output.stderr.is_empty(), "{bytes:?}");
    }
    let deep =
        format!("func @f(%1: {}i64{}) -> i64 {{\n", "tuple<".repeat(100_000), ">".repeat(100_000));
    assert_eq!(regraft_with_input(&["opt", "-"], deep.as_bytes()).status.code(), Some(1));
    let errors = fails(&["opt", "no/such/file.ir"], 1);
    assert!(errors.contains("no/such/file.ir"), "{errors}");
}

#[test]
fn run_prints_values_as_julia_does() {
    let pow = example("pow.ir");
    assert_eq!(succeeds(&["run", &pow, "-e", "pow(5.0, 3)"]), "125.0\n");
    assert_eq!(succeeds(&["run", &pow, "-e", "pow(5.0, 3)", "--json"]), "{\"value\": 125.0}\n");
    let file = example("foo_bang.ir");
    assert_eq!(succeeds(&["run", &file, "-e", "foo!([1.0, 2.0], [0.5, 0.25])"]), "[1.5, 2.25]\n");
    assert_eq!(succeeds(&["run", &file, "-e", "foo!(Float64[], Float64[])"]), "Float64[]\n");
    assert_eq!(succeeds(&["run", &example("nested.ir")]), "1.5348952287053772\n");
}

#[test]
fn run_time_errors_show_line_and_call_chain() {
    let text = "func @main() -> i64 {\n^1:\n  %1: i64 = call @half(0)\n  return %1\n}\n\n\
        func @half(%1: i64) -> i64 {\n^1:\n  %2: i64 = arith.div 1, %1\n  return %2\n}\n";
    let output = regraft_with_input(&["run", "-"], text.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("DivideError"), "{errors}");
    assert!(errors.contains("arith.div 1, %1"), "the line is shown: {errors}");
    assert!(errors.contains("@main"), "the caller is named: {errors}");
}

#[test]
fn limits_end_runaway_programs() {
    let endless = "func @main() -> i64 {\n^1:\n  br ^1\n}\n";
    let output = regraft_with_input(&["run", "-", "--fuel", "100000"], endless.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let deep = "func @main() -> i64 {\n^1:\n  %1: i64 = call @main()\n  return %1\n}\n";
    let output = regraft_with_input(&["run", "-"], deep.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("the depth limit"), "{errors}");
}

#[test]
fn wrong_arguments_are_told_with_their_place() {
    let pow = example("pow.ir");
    let errors = fails(&["run", &pow, "-e", "pow(5.0, $)"], 1);
    assert!(errors.contains("pow(5.0, $)"), "{errors}");
    fails(&["run", &pow, "-e", "pow(5.0)"], 1);
    fails(&["run", &pow, "-e", "pow(5, 3)"], 1);
    let errors = fails(&["run", &pow, "-e", "pwo(5.0, 3)"], 1);
    assert!(errors.contains("pow"), "{errors}");
    fails(&["run", &pow], 2);
    fails(&["run", &pow, "--engine", "abacus"], 2);
    fails(&["frobnicate"], 2);
    fails(&["opt", FOO, "--threads", "0"], 2);
    fails(&["opt", FOO, "--threads", "100000"], 2);
}

#[test]
fn literal_arguments_mean_what_they_mean_in_julia() {
    let same = "func @f(%x: any) -> any {\n^1:\n  return %x\n}\n";
    let run = |argument: &str| {
        regraft_with_input(&["run", "-", "-e", &format!("f({argument})")], same.as_bytes())
    };
    for (argument, value) in [
        ("[1; 2]", "[1, 2]"),
        ("[true, 2]", "[1, 2]"),
        ("[true, 0.5f0]", "Float32[1.0, 0.5]"),
        ("Bool[1, 0]", "Bool[1, 0]"),
        ("Bool(1)", "true"),
        ("Int64(1e18)", "1000000000000000000"),
        ("Int64[true]", "[1]"),
        ("((1.5))", "1.5"),
        (r#""a\$b""#, r#""a\$b""#),
    ] {
        let output = run(argument);
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), value, "{argument}");
    }
    for (argument, error) in [
        ("Int8(200)", "200 is no value of type Int8"),
        ("Int64(1.5)", "1.5 is no value of type Int64"),
        ("Int64(1e19)", "1e19 is no value of type Int64"),
        ("Bool(2)", "2 is no value of type Bool"),
        ("Int32[1.5]", "an element is no value of type Int32"),
        ("(a = 1, a = 2)", "field `a` is there twice"),
        ("x", "`x` is a name, arguments are literals"),
        (r#""$x""#, r#"`"$x"` is no part of"#),
    ] {
        let output = run(argument);
        assert_eq!(output.status.code(), Some(1), "{argument}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(error), "{argument}: {errors}");
    }
}

#[test]
#[cfg(unix)]
fn a_reader_that_goes_away_ends_a_program_quietly() {
    let endless = "func @main() -> unit {\n^1:\n  core.println \"again\"\n  br ^1\n}\n";
    let mut child = Command::new(env!("CARGO_BIN_EXE_regraft"))
        .args(["run", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(endless.as_bytes()).unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_an_error() {
    let hello = "func @main() -> unit {\n^1:\n  core.println \"hello\"\n  return nothing\n}\n";
    let mut child = Command::new(env!("CARGO_BIN_EXE_regraft"))
        .args(["run", "-"])
        .stdin(Stdio::piped())
        .stdout(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(hello.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write the output"));
}

#[test]
fn what_a_program_prints_comes_before_its_value_and_its_error() {
    let text = "func @f(%x: i64) -> i64 {\n^1:\n  core.println \"at work\"\n  \
        %y: i64 = arith.div 6, %x\n  return %y\n}\n";
    let output = regraft_with_input(&["run", "-", "-e", "f(2)"], text.as_bytes());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "at work\n3\n");
    let output = regraft_with_input(&["run", "-", "-e", "f(0)"], text.as_bytes());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "at work\n");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_check_does_not_take_the_time_for_a_difference() {
    let text = "func @f(%x: i64) -> i64 {\n^1:\n  prof.record_start :a\n  prof.record_end :a\n  \
        prof.report\n  %y: i64 = arith.add 1, 2\n  return %y\n}\n";
    let output = regraft_with_input(&["opt", "-", "-p", "fold", "--check", "20"], text.as_bytes());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
}

#[test]
fn rewrite_rules_are_listed_with_their_pages() {
    let rules = succeeds(&["rules"]);
    let line = rules.lines().find(|line| line.trim_start().starts_with("mul-one ")).unwrap();
    assert!(line.ends_with("arith.mul ?a, 1.0 => ?a  if quiet ?a"), "{line}");
    let sets: Vec<&str> = rules.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(sets, ["exact", "", "finite", "", "guard", "", "fast"]);
    let page = succeeds(&["rules", "mulz-is-mul"]);
    assert!(page.contains("set: guard, used under math=finite\n"), "{page}");
    assert!(page.contains("place: finite.rules:") && page.contains("tested: it holds; 2 choices"));
    assert!(fails(&["rules", "mul-ones"], 1).contains("did you mean `mul-one`?"));
    fails(&["rules", "mul-one", "--test", "x.rules"], 2);
    fails(&["rules", "--smt"], 2);
}

/// A file of rules, of which `b` is wrong.
fn rules_file(folder: &std::path::Path) -> String {
    let file = folder.join("mine.rules");
    let text = "rule a exact: arith.neg (arith.neg ?a) => ?a  if int ?a, nonzero ?a\n\
                rule b exact: arith.sub ?a, ?b => arith.sub ?b, ?a  if int ?a\n\
                rule c exact: arith.mul ?a, ?b => arith.mul ?b, ?a\n\
                rule d finite: arith.fdiv 0.0, ?a => 0.0\n";
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

#[test]
fn rewrite_rules_of_a_file_are_tested_alone_and_together_with_others() {
    let file = rules_file(&folder("rules_test"));
    let output = regraft(&["rules", "--test", &file, "--samples", "1000"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("rule `b` is wrong: ?a: i64 = "), "{errors}");
    assert!(errors.contains("rule `a` holds without `"), "{errors}");
    assert!(errors.contains("mine.rules:2: rule b exact"), "{errors}");
    assert!(errors.contains("`math=exact`") && errors.contains("become one by `b`"), "{errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    assert!(lines.contains("\nc  it holds; 6 choices of types, "), "{lines}");
    let none = fails(&["rules", "--test", FOO], 1);
    assert!(none.contains("expected"), "{none}");
    let empty = regraft_with_input(&["rules", "--test", "-"], b"# none\n");
    assert_eq!(empty.status.code(), Some(1));
}

/// A command that answers as a solver does.
#[cfg(unix)]
fn solver(folder: &std::path::Path, answer: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let file = folder.join("solver");
    std::fs::write(&file, format!("#!/bin/sh\ncat > /dev/null\nprintf '{answer}'\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file.display().to_string()
}

#[cfg(unix)]
#[test]
fn rewrite_rules_are_proved_by_a_solver() {
    let folder = folder("rules_prove");
    let file = rules_file(&folder);
    let questions = succeeds(&["rules", "--prove", &file, "--smt"]);
    let product = "(assert (not (= (fp.mul RNE ?a ?b) (fp.mul RNE ?b ?a))))";
    assert!(questions.contains(product), "{questions}");
    assert!(questions.contains("(declare-const ?a (_ BitVec 16))"), "{questions}");
    let missing = fails(&["rules", "--prove", &file, "--solver", "no-such-solver"], 1);
    assert!(missing.contains("cannot run the solver `no-such-solver`"), "{missing}");
    let prove = |answer: &str| {
        let solver = solver(&folder, answer);
        let output = regraft(&["rules", "--prove", &file, "--solver", &solver]);
        let errors = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), errors)
    };
    let (code, proved, _) = prove("unsat\\n");
    assert_eq!(code, Some(0));
    assert!(proved.contains("a  proved (i64; i32; i16; i8)\n"), "{proved}");
    assert!(proved.contains("d  not asked: `finite` does not speak of all floats (f64; f32)"));
    let (code, timed_out, _) = prove("timeout\\n");
    assert_eq!(code, Some(0));
    assert!(timed_out.contains("0 questions proved, 0 refuted, 14 timed out, 2 not asked"));
    let (code, _, errors) = prove("sat\\n((?a #x01)\\n (?b #x00))\\n");
    assert_eq!(code, Some(1));
    assert!(errors.contains("rule `b` at i8, i8 is wrong: ((?a #x01) (?b #x00))"), "{errors}");
    let (code, _, errors) = prove("nonsense\\n");
    assert_eq!(code, Some(1));
    assert!(errors.contains("does not understand the question"), "{errors}");
}

#[test]
fn passes_and_ops_are_listed_with_their_pages() {
    let passes = succeeds(&["passes"]);
    for name in [
        "fold",
        "dce",
        "cse",
        "simplify-cfg",
        "merge-returns",
        "expand",
        "prune",
        "renumber",
        "profile",
        "verify",
        "print",
    ] {
        let line = passes.lines().find(|line| line.split_whitespace().next() == Some(name));
        assert!(line.is_some_and(|line| line.len() > name.len() + 10), "{name}: {passes}");
        assert!(succeeds(&["passes", name]).contains(name));
    }
    assert!(succeeds(&["passes", "fix"]).contains("max"));
    let errors = fails(&["passes", "simplify"], 1);
    assert!(
        errors.contains("no pass `simplify`") && errors.contains("`simplify-cfg`?"),
        "{errors}"
    );
    let ops = succeeds(&["ops"]);
    assert!(ops.contains("arith.add") && ops.contains("mem.load"), "{ops}");
    assert!(succeeds(&["ops", "arith.div"]).contains("DivideError"));
    let store = ops.lines().find(|line| line.contains("mem.store")).unwrap();
    assert!(store.ends_with('.'), "a summary is a sentence: {store}");
    assert!(fails(&["ops", "add"], 1).contains("did you mean `arith.add` or `ad.add`?"));
    assert!(fails(&["ops", "arith.dvi"], 1).contains("did you mean `arith.div`?"));
}
