//! `regraft test`: text tests of passes.

use std::io;
use std::path::PathBuf;

use regraft_testing::{TextOutcome, TextTests, text_test_files};
use serde_json::json;

use super::Tool;
use super::output::{Failed, Outcome, is_colored, print, print_json};
use crate::paint;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Programs (.ir or .jl) with lines `# RUN: PIPELINE [--diff] [--printed] [--fails] [--lowered]
    /// [--idempotent] [--entry METHOD] [--check N]`, and folders of such. What is expected is in the file of the same
    /// name with the ending `.expected`
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write down what comes out as what is expected
    #[arg(long)]
    bless: bool,
    /// Print an object with one entry for each file
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, tool: &Tool) -> Outcome {
    let tests = TextTests::new(&tool.shared()).bless(args.bless);
    let mut files = Vec::new();
    for path in &args.files {
        files.extend(text_test_files(path).map_err(Failed::message)?);
    }
    let (mut passed, mut blessed, mut failed) = (0, 0, 0);
    let mut entries = Vec::new();
    for file in &files {
        let (status, report) = match tests.run(file) {
            TextOutcome::Passed(tests) => {
                passed += tests;
                ("passed", None)
            }
            TextOutcome::Blessed => {
                blessed += 1;
                ("blessed", None)
            }
            TextOutcome::Failed(report) => {
                failed += 1;
                ("failed", Some(report))
            }
        };
        if args.json {
            entries.push(json!({"file": file, "status": status, "report": report}));
            continue;
        }
        match report {
            Some(report) => {
                let report = if is_colored(&io::stdout()) { paint::diff(&report) } else { report };
                print(&format!("{}: {status}\n{report}\n", file.display()))?;
            }
            None if status == "blessed" => print(&format!("{}: {status}\n", file.display()))?,
            None => {}
        }
    }
    if args.json {
        print_json(
            &json!({"files": entries, "passed": passed, "blessed": blessed, "failed": failed}),
        )?;
    } else {
        let files = |count: usize, what: &str| match count {
            0 => String::new(),
            1 => format!(", 1 file {what}"),
            n => format!(", {n} files {what}"),
        };
        let (blessed, failed) = (files(blessed, "blessed"), files(failed, "failed"));
        let tests = if passed == 1 { "test" } else { "tests" };
        print(&format!("{passed} {tests} passed{blessed}{failed}\n"))?;
    }
    match failed {
        0 if files.is_empty() => Err(Failed::message("there is no text test")),
        0 => Ok(()),
        1 => Err(Failed::message("1 file is not as expected")),
        n => Err(Failed::message(format!("{n} files are not as expected"))),
    }
}
