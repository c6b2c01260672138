//! `regraft ir`: the IR of the method that a call runs, in its three stages, or a whole IR file.

use std::time::Instant;

use regraft_ir::{Diagnostic, Module, PrintOptions, cfg_to_dot, print_module};
use regraft_lang::{Entry, measure_phases};
use regraft_passes::{Pipeline, RunOptions, run_pipeline};

use super::input::Input;
use super::output::{Failed, Outcome, print, print_ir, print_json, tell};
use super::program_output::ProgramOutput;
use super::script::{self, SessionArgs};
use super::{Tool, json, phases};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The programs, scripts (.jl), IR (.ir) or listings of Julia's IR (.lowered), in order, `-` for
    /// the standard input; then the method: a call, `foo(1.0, [1.0, 2.0])`, whose arguments are evaluated for their types, or
    /// the types themselves, `foo(Float64, Vector{Float64})`. Of IR or a listing alone, all of it is shown
    /// without a call. What scripts print goes to the standard error
    #[arg(required = true, value_name = "FILE... [CALL]", num_args = 1..)]
    words: Vec<String>,
    /// The stage up to which the method is processed
    #[arg(long, value_enum, default_value = "typed")]
    stage: Stage,
    /// The passes of the stage `optimized`. Without it `O2, fuse-sweeps`, or with `--math` `O3`
    #[arg(short, long)]
    pipeline: Option<String>,
    /// Print locations and origins
    #[arg(long, conflicts_with_all = ["json", "dot"])]
    locs: bool,
    /// Print an object of functions, blocks and instructions
    #[arg(long, conflicts_with = "dot")]
    json: bool,
    /// Print control flow graphs as Graphviz text
    #[arg(long)]
    dot: bool,
    /// Tell how long each phase took
    #[arg(long)]
    time: bool,
    #[command(flatten)]
    session: SessionArgs,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Stage {
    /// As it was written: calls of generic functions
    Lowered,
    /// Specialised to the types of the arguments
    Typed,
    /// After the standard passes
    Optimized,
}

pub(super) fn run(args: &Args, tool: &Tool) -> Outcome {
    if args.pipeline.is_some() && !matches!(args.stage, Stage::Optimized) {
        return Err(Failed::usage("`--pipeline` is for `--stage optimized`"));
    }
    let pipeline = args.session.math.pipeline(args.pipeline.as_deref(), tool)?;
    let (files, call) = script::files_and_call(&args.words);
    let inputs = script::read_all(&files, None)?;
    if args.time {
        measure_phases();
    }
    let start = Instant::now();
    let module = match (&*inputs, call) {
        ([input], None) if input.is_module() => whole(args, input, &pipeline, tool)?,
        (_, None) => {
            let error = Diagnostic::error("the call is missing whose method is to be shown");
            let help = "write it behind the files: 'foo(1.0, [1.0, 2.0])' or 'foo(Float64)'";
            return Err(Failed::Usage(vec![error.help(help)]));
        }
        (_, Some(call)) => of_call(args, &inputs, call, &pipeline, tool)?,
    };
    let times = args.time.then(|| phases::Times::since(start));
    if args.json {
        let mut object = json::module(&module);
        object.extend(times.map(|times| ("time".to_owned(), times.json())));
        return print_json(&object.into());
    }
    if let Some(times) = times {
        tell(&times.table());
    }
    if args.dot {
        return print(&module.functions().map(cfg_to_dot).collect::<String>());
    }
    let options = PrintOptions { locs: args.locs, origins: args.locs, ..PrintOptions::default() };
    print_ir(&print_module(&module, &options))
}

/// All functions of IR.
fn whole(args: &Args, input: &Input, pipeline: &Pipeline, tool: &Tool) -> Result<Module, Failed> {
    let mut module = input.module(&tool.context())?;
    if let Stage::Optimized = args.stage {
        optimize(&mut module, pipeline, tool)?;
    }
    Ok(module)
}

/// Runs a pipeline on a module.
pub(super) fn optimize(
    module: &mut Module,
    pipeline: &Pipeline,
    tool: &Tool,
) -> Result<(), Failed> {
    let options = RunOptions::default().tool(tool.name());
    match run_pipeline(module, pipeline, &options) {
        Ok(_) => Ok(()),
        Err(failure) => Err(failure.diagnostics().to_vec().into()),
    }
}

/// The function that a call runs, and those that it calls.
fn of_call(
    args: &Args,
    inputs: &[Input],
    call: &str,
    pipeline: &Pipeline,
    tool: &Tool,
) -> Result<Module, Failed> {
    let mut session = args.session.session(&tool.context());
    let (output, writer) = ProgramOutput::stderr();
    session.set_output(writer);
    let result = script::run_all(&mut session, inputs, tool).and_then(|_| {
        let entry = Entry::CallOrTypes(call);
        Ok(match args.stage {
            Stage::Lowered => session.lowered(entry),
            Stage::Typed => session.typed(entry),
            Stage::Optimized => session.optimized(entry, Some(pipeline)),
        }?)
    });
    session.take_output();
    output.outcome(result)
}
