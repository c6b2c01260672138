//! `regraft reduce`: makes a module that a pipeline fails on as small as possible.

use std::path::PathBuf;

use regraft_ir::Diagnostic;
use regraft_testing::reduce::reduce_while;
use regraft_testing::{CompareConfig, Repro, Trial};

use super::Tool;
use super::input::{Input, Language};
use super::output::{Failed, Outcome, print_ir, report};
use super::progress::Progress;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The reproducer, or any IR text; `-` for the standard input
    file: PathBuf,
    /// The passes that do something wrong; without it, those in the first line of the file
    #[arg(short, long)]
    pipeline: Option<String>,
    /// On how many inputs to run each function; without it, as many as the file says, or 8
    #[arg(long, value_name = "N")]
    check: Option<u32>,
    /// The most smaller modules to try
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    attempts: u32,
    /// Write the output to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Args, tool: &Tool) -> Outcome {
    let input = Input::read(&args.file, Some(Language::Ir))?;
    if input.language != Language::Ir {
        return Err(Failed::usage(format!("{} is a script, and not IR", input.name)));
    }
    let repro = Repro::read(&tool.context(), &input.name, &input.text)?;
    let Some(pipeline) = args.pipeline.clone().or(repro.pipeline) else {
        let error = Diagnostic::error("no pipeline is given that does something wrong");
        return Err(Failed::Usage(vec![error.help("say which: -p 'gvn, licm'")]));
    };
    let inputs = args.check.or(repro.inputs).unwrap_or(8);
    let compare = CompareConfig {
        inputs,
        seed: repro.seed,
        engine: repro.engine,
        ..CompareConfig::default()
    };
    let trial = Trial::new(tool.registry(), &pipeline, &compare).map_err(Failed::Usage)?;
    let suspect = repro.suspect;
    let Err(kind) = trial.run(&suspect.module, &suspect.entries) else {
        let error = Diagnostic::error(format!("`{pipeline}` does nothing wrong to this module"));
        let help = "more inputs may show what is wrong: --check 100";
        return Err(error.help(help).into());
    };
    let before = suspect.module.inst_count();
    let progress = Progress::new(Some(args.attempts.into()), "attempts");
    let (small, kind) = reduce_while(&trial, suspect, kind, args.attempts, |smallest, left| {
        let message = format!("{before} instructions became {}", smallest.module.inst_count());
        progress.set(u64::from(args.attempts - left), message);
        !progress.is_stopped()
    });
    let ended = if progress.is_stopped() { ", and fewer may do: interrupted" } else { "" };
    drop(progress);
    let after = small.module.inst_count();
    let text = Repro::write(tool.name(), &small, &pipeline, &compare, &kind);
    report(&[Diagnostic::warning(format!("{before} instructions became {after}{ended}"))]);
    match &args.output {
        None => print_ir(&text),
        Some(path) => std::fs::write(path, text)
            .map_err(|error| Failed::message(format!("cannot write {}: {error}", path.display()))),
    }
}
