//! The text tests in `tests/text`, and the command that runs such tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/text");

#[test]
fn the_text_tests_are_as_expected() {
    regraft::testing::text_tests(FOLDER);
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

/// Runs the command: returns the exit code, and what it prints.
fn test(args: &[&str]) -> (i32, String) {
    let output = regraft(&[&["test"], args].concat());
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_folder_of_tests_is_summed_up() {
    let (code, out) = test(&[FOLDER]);
    assert!(code == 0 && out.ends_with(" tests passed\n"), "{out}");
}

#[test]
fn what_is_not_as_expected_is_shown_and_can_be_blessed() {
    let folder = folder("text_tests_bless");
    let file = folder.join("dce.ir");
    let expected = file.with_extension("expected");
    let text = "# RUN: dce\nfunc @f(%1: i64) -> i64 {\n^1:\n  %2: i64 = arith.add %1, 1\n  \
        return %1\n}\n";
    std::fs::write(&file, text).unwrap();
    let path = file.to_str().unwrap();
    let (code, out) = test(&[path]);
    assert_eq!(code, 1);
    assert!(out.contains("there is no") && out.contains("return %1"), "{out}");
    assert!(!expected.exists(), "nothing is written unless asked for");
    let (code, out) = test(&[path, "--bless"]);
    assert_eq!((code, out.contains("dce.ir: blessed")), (0, true), "{out}");
    let blessed = std::fs::read_to_string(&expected).unwrap();
    assert_eq!(blessed, "func @f(%1: i64) -> i64 {\n^1:\n  return %1\n}\n");
    assert_eq!(test(&[path]), (0, "1 test passed\n".to_owned()));
    std::fs::write(&expected, blessed.replace("i64 {", "i32 {")).unwrap();
    let (code, out) = test(&[path]);
    assert_eq!(code, 1);
    assert!(out.contains("-func @f(%1: i64) -> i32 {\n+func @f(%1: i64) -> i64 {"), "{out}");
    let (code, out) = test(&[path, "--json"]);
    let object: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &object["failed"]), (1, &serde_json::json!(1)), "{out}");
    assert_eq!(object["files"][0]["status"], "failed");
}

#[test]
fn an_expected_text_without_a_test_is_an_error() {
    let folder = folder("text_tests_stale");
    let test_of = |name: &str| std::fs::write(folder.join(name), "# RUN: dce\n").unwrap();
    test_of("there.ir");
    std::fs::write(folder.join("there.expected"), "\n").unwrap();
    let path = folder.to_str().unwrap();
    assert_eq!(test(&[path]), (0, "1 test passed\n".to_owned()));
    std::fs::create_dir(folder.join("inner")).unwrap();
    std::fs::write(folder.join("inner/gone.expected"), "\n").unwrap();
    for arguments in [&[path][..], &[path, "--bless"]] {
        let (code, out) = test(arguments);
        assert_eq!(code, 1, "{out}");
        assert!(out.contains("gone.expected: failed\nno test beside it has a line"), "{out}");
    }
    test_of("inner/gone.jl");
    assert_eq!(test(&[path]).0, 1, "the script needs an entry");
}

#[test]
fn tests_that_cannot_be_run_say_why() {
    let folder = folder("text_tests_wrong");
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let f = "func @f() -> unit {\n^1:\n  return nothing\n}\n";
    let sum = "func @f() -> i64 {\n^1:\n  %1: i64 = arith.add 1, 2\n  return %1\n}\n";
    for (name, text, why) in [
        ("none.ir", f.to_owned(), "there is no line `# RUN: PIPELINE` in it"),
        ("option.ir", format!("# RUN: dce --dif\n{f}"), "unknown option `--dif`"),
        ("pass.ir", format!("# RUN: dec\n{f}"), "did you mean `dce`?"),
        ("right.ir", format!("# RUN: dce --fails\n{f}"), "the pipeline does not fail"),
        ("again.ir", format!("# RUN: profile --idempotent\n{sum}"), "a second run of the pipeline"),
        ("lowered.ir", format!("# RUN: --lowered\n{f}"), "only a script is lowered"),
        ("entry.jl", "# RUN: dce\nf() = 1\n".to_owned(), "a script needs the method to work on"),
        ("broken.ir", "# RUN: dce\nfunc\n".to_owned(), "broken.ir:2"),
    ] {
        let (code, out) = test(&[&file(name, &text)]);
        assert_eq!(code, 1, "{name}");
        assert!(out.contains(why), "{name}: {out}");
    }
    let missing = regraft(&["test", "no/such/file.ir"]);
    assert_eq!(missing.status.code(), Some(1));
    assert_eq!(regraft(&["test"]).status.code(), Some(2));
    assert!(Path::new(FOLDER).exists());
}
