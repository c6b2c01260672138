//! `regraft opt`: runs a pipeline on a program.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use indicatif::ProgressBar;
use regraft_dialects::core;
use regraft_ir::{
    Context, Diagnostic, Function, Module, PrintOptions, cfg_to_dot, print_module, suggest,
};
use regraft_lang::Entry;
use regraft_passes::{
    DumpFolder, Execution, Explanation, Failure, FailureKind, Log, Observer, PassRun, PrintAfter,
    PrintWhat, Report, RunOptions, StopAfter, diff_modules, reproducer_pipeline, run_pipeline,
};
use regraft_testing::{Check, Repro};
use serde_json::{Map, json};

use super::input::{Input, Language};
use super::output::{Failed, Outcome, print, print_diff, print_ir, print_json, report, tell};
use super::program_output::ProgramOutput;
use super::progress::Progress;
use super::script::{self, MathArg, MatmulArg};
use super::{Tool, json};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The program: IR text (FILE.ir), a script (FILE.jl), or listings of Julia's IR (FILE.lowered);
    /// `-` for the standard input
    file: PathBuf,
    /// The method to work on, by the types of its arguments: `foo(Float64, Vector{Float64})`. Of
    /// IR, all functions without it; of listings, these as they are lowered. What a script prints goes to the standard error
    #[arg(long, value_name = "METHOD")]
    entry: Option<String>,
    /// The stage of the method of `--entry` that the passes work on
    #[arg(long, value_enum, default_value = "typed", value_name = "STAGE")]
    stage: Stage,
    /// The passes to run: `fold, fix{max=4}(cse, dce)`. Without it, the pipeline in the first line
    /// of a reproducer, or none
    #[arg(short, long)]
    pipeline: Option<String>,
    /// A file of the language that defines passes (`@irpass`) for the pipeline; may be given several times
    #[arg(long, value_name = "FILE")]
    load: Vec<PathBuf>,
    #[command(flatten)]
    math: MathArg,
    #[command(flatten)]
    matmul: MatmulArg,
    /// Print the difference between input and output instead of the output
    #[arg(long)]
    diff: bool,
    /// Print an object: functions, blocks and instructions (or `"diff"`), `"warnings"`, with
    /// `--stats` and `--time` also these, and if a pass fails `"error"`
    #[arg(long)]
    json: bool,
    /// Print control flow graphs as Graphviz text instead of the output
    #[arg(long, conflicts_with_all = ["diff", "json"])]
    dot: bool,
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
    #[arg(long, conflicts_with_all = ["diff", "json", "dot"])]
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
    /// Print for each value that a rule replaced how it became what it is, rule by rule
    #[arg(long)]
    explain: bool,
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

/// A stage of a method.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// As it was written: calls of generic functions
    Lowered,
    /// Specialised to the types of the arguments, with all that it calls
    Typed,
}

pub(super) fn run(args: &Args, tool: &Tool) -> Outcome {
    if args.stage == Stage::Lowered {
        if args.entry.is_none() {
            let error = Diagnostic::error("`--stage lowered` is for a method of a script");
            let help = "say which one: --entry 'foo(Float64, Vector{Float64})'";
            return Err(Failed::Usage(vec![error.help(help)]));
        }
        if args.check.is_some() {
            return Err(Failed::usage(
                "lowered code cannot be checked: it is run when it is typed",
            ));
        }
    }
    let tool = &script::with_passes(tool, &args.load)?;
    let ctx = tool.context();
    // The pipeline is looked at first: it is what is being worked on, and cheap.
    let given =
        args.pipeline.as_deref().map(|text| args.math.pipeline(Some(text), tool)).transpose()?;
    let unnamed = if args.entry.is_some() { Language::Julia } else { Language::Ir };
    let input = Input::read(&args.file, Some(unnamed))?;
    let pipeline = match given {
        Some(pipeline) => pipeline,
        None => {
            let text = reproducer_pipeline(&input.text).unwrap_or_default();
            args.math.pipeline(Some(&text), tool)?
        }
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
    let before = module.clone();
    // What takes long shows how far it is, and can be interrupted between passes.
    let progress = args.check.map(|_| Progress::new(None, "passes checked"));
    let watch = progress.as_ref().map(Watch::new);
    let checked = watch.as_ref().map(|watch| Arc::clone(&watch.checked));
    let options = options(args, repro.as_ref(), watch).tool(tool.name());
    let result = run_pipeline(&mut module, &pipeline, &options);
    let interrupted = progress.is_some_and(|progress| progress.is_stopped());
    let done = match &result {
        Ok(done) => done,
        Err(failure) => failure.report(),
    };
    finish(args, done);
    if let Err(failure) = &result {
        return failed(args, failure);
    }
    if interrupted && done.stopped.is_some() {
        let checked = checked.map_or(0, |checked| checked.load(Ordering::Relaxed));
        return Err(Failed::message(format!("interrupted when {checked} passes had been checked")));
    }
    known_functions(args, &before, &module)?;
    if args.json {
        return write(args, &format!("{}\n", object(args, done, &before, &module)), print);
    }
    if args.diff {
        return write(args, &diff_modules(&before, &module), print_diff);
    }
    if args.dot {
        return write(args, &module.functions().map(cfg_to_dot).collect::<String>(), print);
    }
    let options = PrintOptions { locs: args.locs, origins: args.locs, ..PrintOptions::default() };
    write(args, &print_module(&module, &options), print_ir)
}

/// Writes a result to the file that is asked for, or to the standard output.
fn write(args: &Args, text: &str, print: fn(&str) -> Outcome) -> Outcome {
    match &args.output {
        None => print(text),
        Some(path) => std::fs::write(path, text)
            .map_err(|error| Failed::message(format!("cannot write {}: {error}", path.display()))),
    }
}

/// The result as an object.
fn object(args: &Args, done: &Report, before: &Module, after: &Module) -> serde_json::Value {
    let mut object = if args.diff {
        Map::from_iter([("diff".to_owned(), json!(diff_modules(before, after)))])
    } else {
        json::module(after)
    };
    object.insert("warnings".to_owned(), json::diagnostics(&done.warnings));
    if args.stats {
        object.insert("stats".to_owned(), json::statistics(done));
    }
    if args.explain {
        object.insert("explanations".to_owned(), json::explanations(&done.explanations));
    }
    if args.time {
        object.insert("time".to_owned(), json::times(done));
    }
    object.into()
}

/// A pass failed: a wrong pipeline is wrong usage.
fn failed(args: &Args, failure: &Failure) -> Outcome {
    let diagnostics = failure.diagnostics().to_vec();
    let kind = match failure.kind() {
        FailureKind::Input => "input",
        FailureKind::Options => "options",
        FailureKind::Pass => "pass",
        FailureKind::Panic => "panic",
        FailureKind::Refused => "refused",
        FailureKind::Output => "output",
    };
    if args.json {
        print_json(&json!({"error": {
            "kind": kind,
            "pass": failure.pass(),
            "function": failure.function(),
            "reproducer": failure.reproducer_file(),
            "diagnostics": json::diagnostics(&diagnostics),
        }}))?;
    }
    Err(match failure.kind() {
        FailureKind::Options => Failed::Usage(diagnostics),
        _ => Failed::Input(diagnostics),
    })
}

/// Prints explanations, those of a function and a pass under one line.
fn explanations(all: &[Explanation]) {
    for same in all.chunk_by(|a, b| a.function == b.function && a.pass == b.pass) {
        let mut text = format!("# {} on @{}\n", same[0].pass, same[0].function);
        for explanation in same {
            text.push_str(&explanation.text);
            text.push('\n');
        }
        tell(&text);
    }
}

/// Refuses names after `--only` of which there was no function, neither before nor after.
fn known_functions(args: &Args, before: &Module, after: &Module) -> Outcome {
    let names = || before.functions().chain(after.functions()).map(Function::name_str);
    let unknown = args.only.iter().filter(|name| !names().any(|known| known == *name));
    let errors: Vec<Diagnostic> = unknown
        .map(|name| {
            let error = Diagnostic::error(format!("there is no function `{name}` for `--only`"));
            match suggest(name, names()) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            }
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(Failed::Usage(errors)) }
}

/// Shows which pass runs, and ends the pipeline before the next one at Ctrl-C.
#[derive(Debug)]
struct Watch {
    bar: ProgressBar,
    stop: Arc<AtomicBool>,
    checked: Arc<AtomicU64>,
}

impl Watch {
    fn new(progress: &Progress) -> Self {
        let (bar, stop) = (progress.bar(), Arc::clone(progress.stop()));
        Self { bar, stop, checked: Arc::default() }
    }
}

impl Observer for Watch {
    fn name(&self) -> &'static str {
        "the progress bar"
    }

    fn needs_valid(&self) -> bool {
        // After the check, which does as well.
        true
    }

    fn before(&self, pass_run: &PassRun<'_>) -> ControlFlow<()> {
        if self.stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        self.bar.set_message(pass_run.to_string());
        ControlFlow::Continue(())
    }

    fn after(&self, _: &Execution<'_>, _: &mut Log) -> Result<(), Vec<Diagnostic>> {
        self.bar.set_position(self.checked.fetch_add(1, Ordering::Relaxed) + 1);
        Ok(())
    }
}

/// The module to work on: what is read, or what a method calls.
fn module(args: &Args, input: Input, ctx: &Arc<Context>, tool: &Tool) -> Result<Module, Failed> {
    let entry = match (input.language, &args.entry) {
        (Language::Ir | Language::Listing, None) => return input.module(ctx),
        (Language::Julia, None) => {
            let error = Diagnostic::error(format!("{} is a script, not a function", input.name));
            let help = "say which method to work on: --entry 'foo(Float64, Vector{Float64})'";
            return Err(Failed::Usage(vec![error.help(help)]));
        }
        (_, Some(entry)) => entry,
    };
    let mut session = script::session(ctx);
    session.set_math(args.math.math);
    args.matmul.apply(&mut session);
    let (output, writer) = ProgramOutput::stderr();
    session.set_output(writer);
    let result = script::run_all(&mut session, &[input], tool).and_then(|_| {
        let entry = Entry::Types(entry);
        Ok(match args.stage {
            Stage::Lowered => session.lowered(entry),
            Stage::Typed => session.typed(entry),
        }?)
    });
    session.take_output();
    let module = output.outcome(result)?;
    match dynamic_call(&module) {
        Some(error) if args.check.is_some() => Err(error.into()),
        _ => Ok(module),
    }
}

/// A call whose function is found when it is run: in a world of methods, which a check that runs
/// the module alone does not have.
pub(crate) fn dynamic_call(module: &Module) -> Option<Diagnostic> {
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

fn options(args: &Args, repro: Option<&Repro>, watch: Option<Watch>) -> RunOptions {
    let mut options =
        RunOptions::default().verify(!args.no_verify).reproducer_folder(&args.reproducer);
    options = options.explain(args.explain);
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
    if let Some(watch) = watch {
        options = options.observe(watch);
    }
    options.writer(std::io::stderr())
}

/// Tells what is to be told of a run besides its result.
fn finish(args: &Args, done: &Report) {
    if !args.json {
        report(&done.warnings);
    }
    if let Some(stopped) = &done.stopped {
        let last = stopped.last.as_deref().unwrap_or("nothing");
        let message = format!("stopped after {last}, before {}", stopped.next);
        report(&[Diagnostic::warning(message)]);
    }
    if !args.json {
        explanations(&done.explanations);
    }
    if args.time && !args.json {
        tell(&done.time_table());
    }
    if args.stats && !args.json {
        tell(&done.statistics());
    }
}
