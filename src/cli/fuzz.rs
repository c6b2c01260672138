//! `regraft fuzz`: random programs through random pipelines.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use regraft_ir::Diagnostic;
use regraft_testing::{BrokenKind, Find, Fuzzer, Tally};

use super::Tool;
use super::output::{Failed, Outcome, print, report, tell};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Which cases to run: those of one seed are always the same
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Run cases for so many minutes
    #[arg(long, value_name = "M", conflicts_with = "cases")]
    minutes: Option<f64>,
    /// Run so many cases
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    cases: u64,
    /// The number of the first case, to go on from there or to repeat one
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    /// Run this pipeline rather than random ones
    #[arg(short, long)]
    pipeline: Option<String>,
    /// Test derivatives of programs that have some
    #[arg(long)]
    ad: bool,
    /// Make scripts of so many of 100 cases
    #[arg(long, value_name = "PERCENT", default_value_t = 12)]
    scripts: u32,
    /// End after so many finds
    #[arg(long, value_name = "N", default_value_t = 10)]
    finds: usize,
    /// The folder for the files that reproduce what is found
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    reproducer: PathBuf,
}

pub(super) fn run(args: &Args, tool: &Tool) -> Outcome {
    let mut fuzzer =
        Fuzzer::new(&tool.passes, &Arc::new(tool.ops.clone()), args.seed).scripts(args.scripts);
    if args.ad {
        fuzzer = fuzzer.derivatives();
    }
    if let Some(pipeline) = &args.pipeline {
        fuzzer = fuzzer.pipeline(pipeline).map_err(Failed::Usage)?;
    }
    let minutes = args.minutes.map(|minutes| minutes.max(0.0) * 60.0);
    let limit =
        minutes.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    let (start, mut told) = (Instant::now(), Instant::now());
    let mut tally = Tally::default();
    let mut finds: Vec<Find> = Vec::new();
    let mut number = args.from;
    loop {
        let done = match limit {
            Some(limit) => start.elapsed() >= limit,
            None => number >= args.from.saturating_add(args.cases),
        };
        if done || finds.len() >= args.finds {
            break;
        }
        match fuzzer.case(number, &finds) {
            Ok(more) => tally.add(more),
            Err(find) => {
                tally.add(Tally { cases: 1, ..Tally::default() });
                let name = format!("fuzz-{}-{number}", args.seed);
                report(&[found(&find, &args.reproducer, &name)?]);
                finds.push(*find);
            }
        }
        number += 1;
        if io::stderr().is_terminal() && told.elapsed() > Duration::from_secs(1) {
            told = Instant::now();
            tell(&format!("\r{} cases, {} finds ", tally.cases, finds.len()));
        }
    }
    if io::stderr().is_terminal() {
        tell("\r");
    }
    let summary = if args.ad { derivatives } else { summary };
    print(&summary(&tally, finds.len()))?;
    match finds.len() {
        0 => Ok(()),
        1 => Err(Failed::message("1 case shows something wrong")),
        count => Err(Failed::message(format!("{count} cases show something wrong"))),
    }
}

/// Writes the files of a find, and tells of it.
fn found(find: &Find, folder: &Path, name: &str) -> Result<Diagnostic, Failed> {
    let write = |extension: &str, text: &str| {
        let path = folder.join(format!("{name}.{extension}"));
        std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text)).map_err(
            |error| Failed::message(format!("cannot write {}: {error}", path.display())),
        )?;
        Ok::<_, Failed>(path)
    };
    let text = find.reproducer();
    if let (Some(script), true) = (&find.script, find.suspect.entries.is_empty()) {
        // It did not even become a module.
        let file = write("jl", script)?;
        let error = Diagnostic::error(format!("a script is refused\n{}", find.kind));
        return Ok(error.note(format!("the script: {}", file.display())));
    }
    let file = write("ir", &text)?;
    let mut message = format!("`{}` does something wrong", find.pipeline);
    for line in text.lines().skip(1).take_while(|line| line.starts_with('#')).take(12) {
        message.push('\n');
        message.push_str(line.trim_start_matches('#').trim_start());
    }
    let mut error = Diagnostic::error(message).note(format!("the program: {}", file.display()));
    if let Some(script) = &find.script {
        let file = write("jl", script)?;
        error = error.note(format!("the script it comes from: {}", file.display()));
    }
    let mut head = text.lines().next().unwrap_or_default().trim_start_matches("# ").to_owned();
    if let BrokenKind::Derivative(_) = find.kind {
        head = format!("regraft reduce {}", file.display());
    } else if let Some(rest) = head.strip_prefix("regraft opt ") {
        head = format!("regraft opt {} {rest}", file.display());
    }
    Ok(error.help(format!("to see it: {head}")))
}

fn summary(tally: &Tally, finds: usize) -> String {
    let Tally { cases, scripts, skipped, repeated, changed, runs, .. } = tally;
    let compared = runs.returned + runs.trapped;
    format!(
        "{cases} cases ({scripts} of them scripts, {skipped} with dynamic calls left out), \
         {changed} changed by their pipelines\n\
         {compared} runs compared ({} of them errors), {} inconclusive\n\
         {finds} finds, {repeated} cases that fail like one of them\n",
        runs.trapped, runs.inconclusive
    )
}

fn derivatives(tally: &Tally, finds: usize) -> String {
    let Tally { cases, scripts, skipped, repeated, rules, untyped, declared, .. } = tally;
    format!(
        "{cases} programs ({scripts} of them scripts; {skipped} with dynamic calls, {untyped} with \
         ops on unknown types and {declared} with ops that have no derivative left out)\n\
         {rules}\n\
         {finds} finds, {repeated} cases that fail like one of them\n"
    )
}
