//! `regraft opt`: runs a pipeline on a program.

use std::path::PathBuf;
use std::sync::Arc;

use regraft_dialects::core;
use regraft_ir::{Context, Diagnostic, Module, PrintOptions, print_module};
use regraft_lang::Entry;
use regraft_passes::{
    DumpFolder, Pipeline, PrintAfter, PrintWhat, Report, RunOptions, StopAfter, diff_modules,
    reproducer_pipeline, run_pipeline,
};

use regraft_testing::{Check, Repro};

use super::Tool;
use super::input::{Input, Language};
use super::output::{Failed, Outcome, print, report, tell};
use super::program_output::ProgramOutput;
use super::script;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The program: IR text (FILE.ir), or a script (FILE.jl); `-` for the standard input
    file: PathBuf,
    /// Of a script, the method to work on, by the types of its arguments:
    /// `foo(Float64, Vector{Float64})`. What the script prints goes to the standard error
    #[arg(long, value_name = "METHOD")]
    entry: Option<String>,
    /// The passes to run: `fold, fix{max=4}(cse, dce)`. Without it, the pipeline in the first line
    /// of a reproducer, or none
    #[arg(short, long)]
    pipeline: Option<String>,
    /// Print the difference between input and output instead of the output
    #[arg(long)]
    diff: bool,
    /// Print each function after each pass (to the standard error)
    #[arg(long)]
    print_after_all: bool,
    /// Print each function after each pass that changed it
    #[arg(long)]
    print_after_change: bool,
    /// Print what each pass changed
    #[arg(long)]
    print_diffs: bool,
    /// Restrict what is printed after passes to these functions
    #[arg(long, value_name = "FUNCTION", value_delimiter = ',')]
    only: Vec<String>,
    /// Write each function after each pass into a file of this folder
    #[arg(long, value_name = "FOLDER")]
    print_to: Option<PathBuf>,
    /// Print locations and origins with the output
    #[arg(long)]
    locs: bool,
    /// Run each function on N generated inputs before and after each pass, and compare
    #[arg(long, value_name = "N")]
    check: Option<u32>,
    /// Print how long each pass took
    #[arg(long)]
    time: bool,
    /// Print what each pass counted
    #[arg(long)]
    stats: bool,
    /// End the pipeline after N executions of passes on functions, to find the one that breaks
    #[arg(long, value_name = "N")]
    stop_after: Option<u64>,
    /// Do not verify after each pass
    #[arg(long)]
    no_verify: bool,
    /// The number of threads, at most 256
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// The folder for the file that reproduces a failure
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    reproducer: PathBuf,
    /// Write the output to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Args, tool: &Tool) -> Outcome {
    let ctx = tool.context();
    // The pipeline is looked at first: it is what is being worked on, and cheap.
    let given = args.pipeline.as_deref().map(|text| pipeline(text, tool)).transpose()?;
    let unnamed = if args.entry.is_some() { Language::Julia } else { Language::Ir };
    let input = Input::read(&args.file, Some(unnamed))?;
    let pipeline = match given {
        Some(pipeline) => pipeline,
        None => pipeline(&reproducer_pipeline(&input.text).unwrap_or_default(), tool)?,
    };
    // Of a reproducer, the check takes the inputs that show what is wrong.
    let repro = match input.language {
        Language::Ir if args.check.is_some() && args.entry.is_none() => {
            Some(Repro::read(&ctx, &input.name, &input.text)?)
        }
        _ => None,
    };
    let mut module = match &repro {
        Some(repro) => repro.suspect.module.clone(),
        None => module(args, input, &ctx, tool)?,
    };
    let before = args.diff.then(|| module.clone());
    let result = run_pipeline(&mut module, &pipeline, &options(args, repro.as_ref()));
    let done = match &result {
        Ok(done) => done,
        Err(failure) => failure.report(),
    };
    finish(args, done);
    if let Err(failure) = &result {
        return Err(Failed::Input(failure.diagnostics().to_vec()));
    }
    let text = match &before {
        Some(before) => diff_modules(before, &module),
        None => {
            let options =
                PrintOptions { locs: args.locs, origins: args.locs, ..PrintOptions::default() };
            print_module(&module, &options)
        }
    };
    match &args.output {
        None => print(&text),
        Some(path) => std::fs::write(path, text)
            .map_err(|error| Failed::message(format!("cannot write {}: {error}", path.display()))),
    }
}

/// The module to work on: what is read, or what a method of a script calls.
fn module(args: &Args, input: Input, ctx: &Arc<Context>, tool: &Tool) -> Result<Module, Failed> {
    let entry = match (input.language, &args.entry) {
        (Language::Ir, None) => return input.module(ctx),
        (Language::Ir, Some(_)) => {
            return Err(Failed::usage(format!(
                "`--entry` names a method of a script, and {} is IR",
                input.name
            )));
        }
        (Language::Julia, None) => {
            let error = Diagnostic::error(format!("{} is a script of several methods", input.name));
            let help = "say which one to work on: --entry 'foo(Float64, Vector{Float64})'";
            return Err(Failed::Usage(vec![error.help(help)]));
        }
        (Language::Julia, Some(entry)) => entry,
    };
    let mut session = script::session(ctx);
    let (output, writer) = ProgramOutput::stderr();
    session.set_output(writer);
    let result = script::run_all(&mut session, &[input], tool)
        .and_then(|_| Ok(session.typed(Entry::Types(entry))?));
    session.take_output();
    let module = output.outcome(result)?;
    match dynamic_call(&module) {
        Some(error) if args.check.is_some() => Err(error.into()),
        _ => Ok(module),
    }
}

/// A call whose function is found when it is run: in a world of methods, which a check that runs
/// the module alone does not have.
fn dynamic_call(module: &Module) -> Option<Diagnostic> {
    let calls = module.functions().flat_map(|f| f.all_insts().map(move |v| (f, v)));
    let (f, v) =
        calls.into_iter().find(|&(f, v)| matches!(f.op(v), Some(core::APPLY | core::SPLAT)))?;
    let message =
        format!("cannot check {}: it has a call that is dispatched when it runs", f.name_str());
    let error = Diagnostic::error(message).at_loc(module.ctx(), f.loc(v), "this dynamic call");
    Some(
        error
            .help("declare types, so that inference can tell what is called, or leave out --check"),
    )
}

fn pipeline(text: &str, tool: &Tool) -> Result<Pipeline, Failed> {
    Pipeline::parse(&tool.passes, text).map_err(Failed::Usage)
}

fn options(args: &Args, repro: Option<&Repro>) -> RunOptions {
    let mut options =
        RunOptions::default().verify(!args.no_verify).reproducer_folder(&args.reproducer);
    if let Some(threads) = args.threads {
        options = options.threads(threads.into());
    }
    for (asked, what) in [
        (args.print_after_all, PrintWhat::All),
        (args.print_after_change, PrintWhat::Changed),
        (args.print_diffs, PrintWhat::Diff),
    ] {
        if asked {
            options = options.observe(PrintAfter::new(what).only(args.only.iter().cloned()));
        }
    }
    if let Some(folder) = &args.print_to {
        options = options.observe(DumpFolder::new(folder));
    }
    if let Some(limit) = args.stop_after {
        options = options.observe(StopAfter::new(limit));
    }
    if let Some(cases) = args.check {
        let check = Check::new(cases);
        options = options.observe(match repro {
            Some(repro) => check.like(repro),
            None => check,
        });
    }
    options.writer(std::io::stderr())
}

/// Tells what is to be told of a run besides its result.
fn finish(args: &Args, done: &Report) {
    report(&done.warnings);
    if let Some(stopped) = &done.stopped {
        let last = stopped.last.as_deref().unwrap_or("nothing");
        let message = format!("stopped after {last}, before {}", stopped.next);
        report(&[Diagnostic::warning(message)]);
    }
    if args.time {
        tell(&done.time_table());
    }
    if args.stats {
        tell(&done.statistics());
    }
}
