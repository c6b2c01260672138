//! `regraft ir`: the IR of the method that a call runs, in its three stages.

use std::path::PathBuf;

use regraft_ir::{PrintOptions, print_module};

use super::Tool;
use super::input::Language;
use super::output::{Outcome, print};
use super::program_output::ProgramOutput;
use super::script::{self, LimitArgs};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The scripts that define the method, run in order; `-` for the standard input. What they
    /// print goes to the standard error
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The call: `foo(1.0, [1.0, 2.0])`. Its arguments are evaluated, for their types; the call
    /// itself is not run
    #[arg(value_name = "CALL", allow_hyphen_values = true)]
    call: String,
    /// How far the method is processed
    #[arg(long, value_enum, default_value = "typed")]
    stage: Stage,
    /// Print locations and origins
    #[arg(long)]
    locs: bool,
    #[command(flatten)]
    limits: LimitArgs,
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
    let scripts = script::read_all(&args.files, Some(Language::Julia))?;
    script::only_scripts(&scripts)?;
    let mut session = script::session(&tool.context());
    session.set_limits(args.limits.limits());
    let (output, writer) = ProgramOutput::stderr();
    session.set_output(writer);
    let result = script::run_all(&mut session, &scripts, tool).and_then(|_| {
        let call = args.call.as_str();
        Ok(match args.stage {
            Stage::Lowered => session.lowered(call),
            Stage::Typed => session.typed(call),
            Stage::Optimized => session.optimized(call, None),
        }?)
    });
    session.take_output();
    let module = output.outcome(result)?;
    let options = PrintOptions { locs: args.locs, origins: args.locs, ..PrintOptions::default() };
    print(&print_module(&module, &options))
}
