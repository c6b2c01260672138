//! `regraft profile`: where the time of a call goes.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use regraft_exec::{Profile, ProfilerOptions};
use regraft_ir::{Context, Diagnostic};
use regraft_lang::ProfileOptions;
use serde_json::json;

use super::output::{Failed, Outcome, json_text, print, report};
use super::program_output::ProgramOutput;
use super::script::{self, SessionArgs};
use super::{Interruptible, Tool};
use crate::profile::{By, Options, chrome_trace, flame_graph, json as table_json, pprof, table};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The programs that define the function, scripts (.jl), IR (.ir) or listings of Julia's IR
    /// (.lowered), in order, `-` for the standard input; then the call: `foo(1.0, [1.0, 2.0])`, or
    /// another expression. What programs print goes to the standard error
    #[arg(required = true, value_name = "FILE... CALL", num_args = 1..)]
    words: Vec<String>,
    /// Show the calls of each function in each line
    #[arg(long)]
    lines: bool,
    /// Leave out what was called less often
    #[arg(long, value_name = "N", default_value_t = 0)]
    min_calls: u64,
    /// Print when each call starts and ends, in nanoseconds since the first, instead of sums
    #[arg(long, conflicts_with_all = ["lines", "min_calls"])]
    record: bool,
    /// Record arithmetic and elementary functions as well, not only calls
    #[arg(long)]
    ops: bool,
    /// Write a flame graph
    #[arg(long, value_name = "OUT.svg")]
    flamegraph: Option<PathBuf>,
    /// Write when each call starts and ends as a trace of Chrome, which Perfetto reads
    #[arg(long, value_name = "OUT.json")]
    trace: Option<PathBuf>,
    /// Write the profile in the format of pprof
    #[arg(long, value_name = "OUT.pb")]
    pprof: Option<PathBuf>,
    /// The number of starts and ends that `--record` and `--trace` have room for
    #[arg(long, value_name = "N", default_value_t = 1 << 20)]
    capacity: usize,
    /// Print an object: `"functions"` or `"lines"`, times in nanoseconds
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    session: SessionArgs,
}

/// The most stamps of a log: 24 GB.
const MAX_CAPACITY: usize = 1_000_000_000;

pub(super) fn run(args: &Args, tool: &Tool) -> Outcome {
    let (files, call) = script::files_and_call(&args.words);
    let Some(call) = call else {
        let error = Diagnostic::error("the call that is to be profiled is missing");
        return Err(Failed::Usage(vec![error.help("write it behind the files: 'foo(1.0, 2.0)'")]));
    };
    if args.capacity > MAX_CAPACITY {
        return Err(Failed::usage(format!("`--capacity` is at most {MAX_CAPACITY}")));
    }
    let scripts = script::read_all(&files, None)?;
    // What cannot be written is told before the program runs.
    let mut flame_graph_file = Target::open(args.flamegraph.as_deref())?;
    let mut trace_file = Target::open(args.trace.as_deref())?;
    let mut pprof_file = Target::open(args.pprof.as_deref())?;
    let ctx = tool.context();
    let mut session = args.session.session(&ctx);
    let (output, writer) = ProgramOutput::stderr();
    session.set_output(writer);
    let loaded = script::run_all(&mut session, &scripts, tool);
    if let Err(failed) = loaded {
        session.take_output();
        return output.outcome(Err(failed));
    }
    // Ctrl-C ends the program, and what it did until then is shown.
    let watched = Interruptible::new(session.interrupt_flag());
    let logs = args.record || args.trace.is_some();
    let keep =
        ProfilerOptions { log: logs.then_some(args.capacity), sums: ProfilerOptions::SUM.sums };
    let (result, profile) = session.profile(call, ProfileOptions { keep, ops: args.ops });
    drop(watched);
    session.take_output();
    report(&lost(&profile));
    if !profile.nodes.is_empty() || result.is_ok() {
        show(args, &ctx, &profile)?;
        trace_file.write(|| Ok(json_text(&chrome_trace(&ctx, &profile)).into_bytes()))?;
        pprof_file.write(|| Ok(pprof(&ctx, &profile)))?;
        flame_graph_file.write(|| flame_graph(&ctx, &profile, call).map(String::into_bytes))?;
    }
    output.outcome(result.map(|_| ()).map_err(Failed::from))
}

fn show(args: &Args, ctx: &Context, profile: &Profile) -> Outcome {
    if args.record && !args.json {
        return print(&profile.log_text(ctx));
    }
    let by = if args.lines { By::Line } else { By::Function };
    let options = Options { by, min_calls: args.min_calls };
    if !args.json {
        return print(&table(ctx, profile, options));
    }
    let mut object = table_json(ctx, profile, options);
    if args.record {
        object["log"] = json!(profile.log_text(ctx).lines().collect::<Vec<_>>());
    }
    print(&format!("{}\n", json_text(&object)))
}

/// Warns of events that there was no room for.
pub(crate) fn lost(profile: &Profile) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    if profile.lost_stamps > 0 {
        let all = profile.log.len() as u64 + profile.lost_stamps;
        let message = format!("{} of {all} starts and ends were lost", profile.lost_stamps);
        warnings.push(Diagnostic::warning(message).help("make room for more: --capacity N"));
    }
    if profile.lost_events > 0 {
        let message = format!("{} of {} events were lost", profile.lost_events, profile.events);
        let help = "there are more chains of calls than there is room for; the time of the lost \
                    ones counts as that of the calls around them";
        warnings.push(Diagnostic::warning(message).help(help));
    }
    warnings
}

/// A file to write to, opened in advance.
struct Target<'a>(Option<(&'a Path, File)>);

impl<'a> Target<'a> {
    fn open(path: Option<&'a Path>) -> Result<Self, Failed> {
        let open = |path| File::create(path).map_err(|error| unwritten(path, &error.to_string()));
        Ok(Self(path.map(|path| open(path).map(|file| (path, file))).transpose()?))
    }

    fn write(&mut self, content: impl FnOnce() -> Result<Vec<u8>, String>) -> Outcome {
        let Some((path, file)) = &mut self.0 else { return Ok(()) };
        let content = content().map_err(|why| unwritten(path, &why))?;
        file.write_all(&content).map_err(|error| unwritten(path, &error.to_string()))
    }
}

fn unwritten(path: &Path, why: &str) -> Failed {
    Failed::message(format!("cannot write {}: {why}", path.display()))
}
