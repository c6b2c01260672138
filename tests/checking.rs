//! `regraft fuzz`, `regraft reduce` and `opt --check`, on a pass that is wrong on purpose and on
//! those that are not.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use regraft::cli::Tool;
use regraft::prelude::*;
use regraft::testing::Repro;

/// Swaps the operands of subtractions, which is wrong.
#[derive(Default)]
struct SwapSub;

impl FunctionPass for SwapSub {
    const NAME: &'static str = "swap-sub";

    fn run(&mut self, f: &mut Function, _: &mut PassContext<'_>) -> PassResult {
        let mut at = Cursor::new(f);
        while let Some(v) = at.next() {
            if let Some([x, y]) = at.matches(v, arith::SUB) {
                at.replace(v, arith::sub(y, x));
            }
        }
        Ok(())
    }
}

/// Runs a command of a tool that has the wrong pass, and gives the exit code as text.
fn wrong_tool(args: &[&str]) -> String {
    let mut tool = Tool::new();
    tool.passes().add::<SwapSub>();
    format!("{:?}", tool.run([&["regraft"], args].concat()))
}

#[track_caller]
fn ends_with(code: u8, args: &[&str]) {
    assert_eq!(wrong_tool(args), format!("{:?}", ExitCode::from(code)), "{args:?}");
}

fn regraft(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_regraft")).args(args).output().unwrap()
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn read(file: &Path) -> (String, Repro) {
    let text = std::fs::read_to_string(file).unwrap();
    let repro = Repro::read(&context(), "repro.ir", &text).unwrap();
    (text, repro)
}

const PROGRAM: &str = "\
# regraft opt -p 'fold, swap-sub, dce' --check 3
# check main(Int64, Float64), 3 inputs from seed 5

func @helper(%1: i64) -> i64 {
^1:
  %2: i64 = arith.mul %1, 5
  return %2
}

func @main(%n: any, %x: f64) -> any {
^1:
  core.print \"starting \", %n
  %k: i64 = core.typeassert %n
  %m: i64 = arith.and %k, 3
  %cell: ref<f64> = mem.ref_new %x
  br ^2(0, %x)
^2(%i: i64, %acc: f64):
  %more: bool = arith.lt %i, %m
  br %more, ^3, ^4
^3:
  %old: f64 = mem.ref_get %cell
  %twice: f64 = arith.add %old, %acc
  mem.ref_set %cell, %twice
  %h: i64 = call @helper(%i)
  core.print %h
  %next: i64 = arith.add %i, 1
  br ^2(%next, %twice)
^4:
  %last: f64 = mem.ref_get %cell
  %back: i64 = arith.sub 17, %m
  core.print %back
  %all: tuple<f64, i64, i64> = core.tuple %last, %back, %m
  return %all
}
";

#[test]
fn reduce_leaves_a_tiny_module_that_fails_alike() {
    let folder = folder("reduce");
    let (file, out) = (folder.join("repro.ir"), folder.join("small.ir"));
    std::fs::write(&file, PROGRAM).unwrap();
    let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
    ends_with(1, &["opt", file, "--check", "3", "--reproducer", folder.to_str().unwrap()]);
    ends_with(0, &["reduce", file, "-p", "swap-sub", "-o", out]);
    let (text, small) = read(Path::new(out));
    assert_eq!(small.pipeline.as_deref(), Some("swap-sub"));
    assert_eq!((small.inputs, small.seed), (Some(3), 5));
    let module = &small.suspect.module;
    assert!(module.inst_count() <= 3 && text.contains("arith.sub"), "{text}");
    assert_eq!(module.functions().map(Function::block_count).sum::<usize>(), 1, "{text}");
    // It still fails, on the inputs that its head names, and by what its head says.
    ends_with(1, &["opt", out, "--check", "3", "--reproducer", folder.to_str().unwrap()]);
    ends_with(0, &["opt", out, "-p", "fold, dce", "--check", "3"]);
    // The pipeline of the head is taken if none is given; there is nothing left to make smaller.
    let again = folder.join("again.ir");
    ends_with(0, &["reduce", out, "-o", again.to_str().unwrap()]);
    assert_eq!(read(&again).0, text);
}

#[test]
fn a_check_says_how_many_inputs_were_conclusive_and_fails_without_any() {
    let folder = folder("inconclusive");
    let (file, path) = (folder.join("long.ir"), folder.to_str().unwrap());
    let program = |trips: u64| {
        let text = format!(
            "func @f(%x: i64) -> i64 {{\n^1:\n  br ^2(0)\n^2(%i: i64):\n  %n: i64 = arith.add %i, 1\n  \
             %c: bool = arith.lt %n, {trips}\n  br %c, ^2(%n), ^3\n^3:\n  %d: i64 = arith.add 1, 2\n  \
             %y: i64 = arith.sub %x, %d\n  return %y\n}}\n"
        );
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let check = |file: &str| {
        let args = ["opt", file, "-p", "fold, dce", "--check", "20", "--reproducer", path];
        let output = regraft(&args);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, errors) = check(&program(10));
    let table = "checked by running:\n  fold   20 inputs: 20 agreed\n  dce    changed nothing\n  \
                 total  20 inputs: 20 agreed\n";
    assert_eq!((code, &*errors), (Some(0), table));
    let (code, errors) = check(&program(1_000_000_000));
    assert_eq!(code, Some(1));
    assert!(errors.contains("  fold   20 inputs: 0 agreed, 20 inconclusive\n"), "{errors}");
    let message = "the check says nothing of what was changed";
    assert!(errors.contains(message), "{errors}");
    // A wrong pass does not get through.
    ends_with(1, &["opt", file.to_str().unwrap(), "-p", "swap-sub", "--check", "20"]);
}

#[test]
fn reduce_says_what_keeps_it_from_reducing() {
    let folder = folder("reduce_refuses");
    let file = folder.join("right.ir");
    let text = "func @f(%1: i64) -> i64 {\n^1:\n  %2: i64 = arith.add %1, 1\n  return %2\n}\n";
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let output = regraft(&["reduce", file, "-p", "fold, dce"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(errors.contains("does nothing wrong"), "{errors}");
    let output = regraft(&["reduce", file]);
    assert_eq!(output.status.code(), Some(2), "there is no pipeline");
    let output = regraft(&["reduce", file, "-p", "folt"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn fuzz_finds_the_wrong_pass_and_shows_it_on_a_tiny_module() {
    let folder = folder("fuzz_finds");
    let path = folder.to_str().unwrap();
    let pipelines = ["swap-sub", "fold, swap-sub, dce"];
    for pipeline in pipelines {
        let common = ["--finds", "1", "--scripts", "0", "--reproducer", path];
        let args = [&["fuzz", "-p", pipeline, "--seed", "3"], &common[..]].concat();
        ends_with(1, &args);
    }
    let files: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!files.is_empty());
    for file in files {
        let (text, repro) = read(&file);
        assert!(text.contains("arith.sub") && repro.suspect.module.inst_count() <= 5, "{text}");
        ends_with(1, &["opt", file.to_str().unwrap(), "--check", "4", "--reproducer", path]);
    }
}

#[test]
fn fuzz_says_the_same_for_the_same_seed() {
    let run = |seed: &str| {
        let output = regraft(&["fuzz", "--seed", seed, "--cases", "40", "-p", "fold, cse, dce"]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{errors}");
        String::from_utf8(output.stdout).unwrap()
    };
    let first = run("3");
    assert!(first.starts_with("40 cases (") && first.contains("0 finds"), "{first}");
    assert_eq!(first, run("3"));
    assert_ne!(first, run("4"));
}

#[test]
fn fuzz_refuses_pipelines_that_are_wrong() {
    let output = regraft(&["fuzz", "-p", "fold, gvm"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("`gvn`?"));
}
