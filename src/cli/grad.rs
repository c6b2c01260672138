//! `regraft grad`: value and gradient of a call.

use std::time::Instant;

use regraft_ad::{Checkpoints, PlanKind};
use regraft_exec::{EngineKind, Val};
use regraft_ir::Diagnostic;
use regraft_lang::{Gradient, Mode, Session, measure_phases};

use super::output::{Failed, Outcome, json_text, print, tell};
use super::program_output::ProgramOutput;
use super::run::EngineName;
use super::script::{self, SessionArgs};
use super::{Tool, engines, phases};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The programs that define the function, scripts (.jl), IR (.ir) or listings of Julia's IR
    /// (.lowered), in order, `-` for the standard input; then the call: `f(1.0, [1.0, 2.0])`. The gradient has one entry for each
    /// argument, of its shape. What scripts print goes to the standard error
    #[arg(required = true, value_name = "FILE... CALL", num_args = 1..)]
    words: Vec<String>,
    /// The mode in which the gradient is computed
    #[arg(long, value_enum, default_value = "reverse")]
    mode: ModeName,
    /// The plan for the values that reverse mode keeps
    #[arg(long, value_enum, default_value = "best")]
    plan: PlanName,
    /// Let counted loops keep so many states at one time, and make iterations again from them
    #[arg(long, value_name = "N", conflicts_with = "snapshot_bytes")]
    snapshots: Option<u64>,
    /// Let counted loops keep states of so many bytes, and make iterations again from them
    #[arg(long, value_name = "BYTES")]
    snapshot_bytes: Option<u64>,
    /// Compute the gradient alone, and the value only as far as that needs it
    #[arg(long)]
    gradient_only: bool,
    /// Make the gradient for the lengths of the arrays among the arguments
    #[arg(long)]
    for_lengths: bool,
    /// The engine that runs the program
    #[arg(long, value_enum, default_value = "auto")]
    engine: EngineName,
    /// Print `{"value": .., "gradient": [..]}`
    #[arg(long)]
    json: bool,
    /// Tell which functions ran as native code and why the others did not, how many instructions the call takes, and
    /// how many its gradient does
    #[arg(long)]
    stats: bool,
    /// Tell how long each phase took; with `--json`, as `"time"`
    #[arg(long)]
    time: bool,
    #[command(flatten)]
    session: SessionArgs,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum ModeName {
    /// Once forth and back, whatever the number of arguments
    Reverse,
    /// Once for each number among the arguments
    Forward,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum PlanName {
    /// As little as there is to be kept
    Best,
    /// Everything that is needed
    Naive,
}

pub(super) fn run(args: &Args, tool: &Tool) -> Outcome {
    let (files, call) = script::files_and_call(&args.words);
    let Some(call) = call else {
        let error = Diagnostic::error("the call whose gradient is asked for is missing");
        return Err(Failed::Usage(vec![
            error.help("write it behind the files: 'f(1.0, [1.0, 2.0])'"),
        ]));
    };
    let scripts = script::read_all(&files, None)?;
    if args.time {
        measure_phases();
    }
    let start = Instant::now();
    let mut session = args.session.session(&tool.context());
    session.set_engine(args.engine.kind())?;
    let (output, writer) = ProgramOutput::stderr();
    session.set_output(writer);
    let mode = match args.mode {
        ModeName::Reverse => Mode::Reverse,
        ModeName::Forward => Mode::Forward,
    };
    let plan = match args.plan {
        PlanName::Best => PlanKind::Best,
        PlanName::Naive => PlanKind::Naive,
    };
    session.set_for_lengths(args.for_lengths);
    let bytes = args.snapshot_bytes.map(Checkpoints::Bytes);
    session.set_tape_plan(plan, args.snapshots.map(Checkpoints::Snapshots).or(bytes));
    let result = script::run_all(&mut session, &scripts, tool)
        .and_then(|_| Ok(Found::of(&mut session, call, mode, args.gradient_only)?));
    session.take_output();
    let found = output.outcome(result)?;
    let times = args.time.then(|| phases::Times::since(start));
    if args.stats {
        let engines = engines::table(session.interpreter());
        // Native code does not count what it runs.
        session.set_engine(EngineKind::Interpreter)?;
        let (primal, gradient) = session.compare_with_call(call, mode, args.gradient_only)?;
        session.take_output();
        let ratio = gradient as f64 / primal.max(1) as f64;
        let what = if args.gradient_only { "the gradient alone" } else { "value and gradient" };
        tell(&format!(
            "{engines}instructions: {primal} for the value, {gradient} for {what} ({ratio:.2} times)\n"
        ));
    }
    if args.json {
        let parts = found.gradient();
        let gradient: Vec<String> = parts.iter().map(|part| session.json(part)).collect();
        let gradient = gradient.join(", ");
        let value = match &found {
            Found::Both(found) => format!("\"value\": {}, ", session.json(&found.value)),
            Found::Alone(_) => String::new(),
        };
        let time = times
            .map_or_else(String::new, |times| format!(", \"time\": {}", json_text(&times.json())));
        return print(&format!("{{{value}\"gradient\": [{gradient}]{time}}}\n"));
    }
    if let Some(times) = times {
        tell(&times.table());
    }
    print(&match &found {
        Found::Both(found) => session.show_gradient(found),
        Found::Alone(gradient) => session.show_gradient_alone(gradient),
    })
}

/// The gradient, with the value unless the gradient alone is asked for.
enum Found {
    Both(Gradient),
    Alone(Vec<Val>),
}

impl Found {
    fn of(
        session: &mut Session,
        call: &str,
        mode: Mode,
        alone: bool,
    ) -> Result<Self, Vec<Diagnostic>> {
        Ok(match alone {
            true => Self::Alone(session.gradient_alone_of_call(call, mode)?),
            false => Self::Both(session.gradient_of_call(call, mode)?),
        })
    }

    fn gradient(&self) -> &[Val] {
        match self {
            Self::Both(found) => &found.gradient,
            Self::Alone(gradient) => gradient,
        }
    }
}
