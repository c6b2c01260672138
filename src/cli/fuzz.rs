//! `regraft fuzz`: random programs through random pipelines.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use regraft_exec::native_engines;
use regraft_ir::{Diagnostic, Op, Registry, suggest};
use regraft_testing::{BrokenKind, Find, FuzzRun, Fuzzer, Tally};
use serde_json::{Value, json};

use super::Tool;
use super::output::{Failed, Outcome, print, print_json};
use super::progress::Progress;
use super::script;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The cases to run: those of one seed are always the same
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
    /// A file of the language that defines passes (`@irpass`) for the pipeline; may be given several times
    #[arg(long, value_name = "FILE")]
    load: Vec<PathBuf>,
    /// Test derivatives of programs that have some
    #[arg(long)]
    ad: bool,
    /// Run scripts within contexts, and compare what they do with what they do without
    #[arg(long, conflicts_with_all = ["ad", "pipeline", "ops", "scripts"])]
    contexts: bool,
    /// Compare native code with the interpreter, on what the pipelines have made of the programs
    #[arg(long, conflicts_with = "contexts")]
    engines: bool,
    /// Make scripts of so many of 100 cases
    #[arg(long, value_name = "PERCENT", default_value_t = 12)]
    scripts: u32,
    /// Generate modules of these ops, besides those of control flow and calls, and no scripts:
    /// `arith.*,math.sin`
    #[arg(long, value_name = "OPS", value_delimiter = ',', conflicts_with = "scripts")]
    ops: Vec<String>,
    /// The number of threads, as many as the machine has if it is not given; what is found does
    /// not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// End after so many finds
    #[arg(long, value_name = "N", default_value_t = 10)]
    finds: usize,
    /// The folder for the files that reproduce what is found
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    reproducer: PathBuf,
    /// Print tally and finds as an object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, tool: &Tool) -> Outcome {
    let tool = &script::with_passes(tool, &args.load)?;
    let mut fuzzer = Fuzzer::new(&tool.shared(), args.seed).scripts(args.scripts).tool(tool.name());
    if args.ad {
        fuzzer = fuzzer.derivatives();
    }
    if args.engines {
        fuzzer = fuzzer.engines(native_engines());
    }
    if args.contexts {
        fuzzer = fuzzer.contexts();
    }
    if !args.ops.is_empty() {
        fuzzer = fuzzer.ops(chosen_ops(tool.ops(), &args.ops)?);
    }
    if let Some(pipeline) = &args.pipeline {
        fuzzer = fuzzer.pipeline(pipeline).map_err(Failed::Usage)?;
    }
    let unknown: Vec<&str> = fuzzer.unknown_ops().into_iter().map(|def| def.name).collect();
    let minutes = args.minutes.map(|minutes| minutes.max(0.0) * 60.0);
    let limit =
        minutes.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    let start = Instant::now();
    let end = match limit {
        Some(_) => u64::MAX,
        None => args.from.saturating_add(args.cases),
    };
    let mut run = FuzzRun::new(fuzzer, args.from, args.threads.unwrap_or(0).into())
        .map_err(|error| Failed::message(format!("cannot start the threads: {error}")))?;
    let progress = Progress::new(limit.is_none().then_some(args.cases), "cases");
    let mut files = Vec::new();
    while run.next_case() < end
        && run.finds().len() < args.finds
        && limit.is_none_or(|limit| start.elapsed() < limit)
        && !progress.is_stopped()
    {
        for find in run.batch(end, args.finds, progress.stop()) {
            let name = format!("fuzz-{}-{}", args.seed, find.case);
            let found = Found::write(find, &args.reproducer, &name)?;
            progress.report(&[found.told(tool.name())]);
            files.push(found.json());
        }
        let finds = run.finds().len();
        progress.set(run.next_case() - args.from, format!("{finds} finds"));
    }
    let stopped = progress.is_stopped();
    drop(progress);
    let (tally, finds) = (run.tally(), run.finds().len());
    if args.json {
        print_json(&json!({
            "interrupted": stopped,
            "next_case": run.next_case(),
            "tally": tally_json(tally, args.ad),
            "ops_left_out": unknown,
            "finds": files,
        }))?;
    } else {
        if stopped {
            print(&format!("interrupted before case {}\n", run.next_case()))?;
        }
        if !unknown.is_empty() {
            let what = if args.ad { "compute, or what their derivatives are" } else { "compute" };
            print(&format!(
                "left out, since it is not known what they {what}: {}\n",
                unknown.join(", ")
            ))?;
        }
        let summary = match () {
            () if args.ad => derivatives,
            () if args.contexts => contexts,
            () => summary,
        };
        print(&summary(tally, finds))?;
    }
    match finds {
        0 => Ok(()),
        1 => Err(Failed::message("1 case shows something wrong")),
        count => Err(Failed::message(format!("{count} cases show something wrong"))),
    }
}

/// The ops that names and patterns stand for.
fn chosen_ops(ops: &Registry, patterns: &[String]) -> Result<Vec<Op>, Failed> {
    let (mut chosen, mut errors) = (Vec::new(), Vec::new());
    for pattern in patterns {
        let before = chosen.len();
        chosen.extend(ops.ops().filter(|def| fits(pattern, def.name)).map(|def| def.op));
        if chosen.len() == before {
            let error = Diagnostic::error(format!("no op is called `{pattern}`"));
            let dialects = ops.dialects().map(|dialect| format!("{}.*", dialect.name));
            let names: Vec<String> =
                ops.ops().map(|def| def.name.to_owned()).chain(dialects).collect();
            errors.push(match suggest(pattern, names.iter().map(String::as_str)) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("write the name of an op, or a pattern such as `arith.*`"),
            });
        }
    }
    if errors.is_empty() { Ok(chosen) } else { Err(Failed::Usage(errors)) }
}

/// Returns whether a name fits a pattern in which `*` stands for any text.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        // What comes before the last part is found as early as it can be.
        if let Some(part) = last.replace(part) {
            let Some(at) = rest.find(part) else { return false };
            rest = &rest[at + part.len()..];
        }
    }
    last.map_or(rest.is_empty(), |part: &str| rest.ends_with(part))
}

/// A find with the files that it was written to.
struct Found<'a> {
    find: &'a Find,
    text: String,
    module: Option<PathBuf>,
    script: Option<PathBuf>,
}

impl<'a> Found<'a> {
    /// Writes the files of a find.
    fn write(find: &'a Find, folder: &Path, name: &str) -> Result<Self, Failed> {
        let write = |extension: &str, text: &str| {
            let path = folder.join(format!("{name}.{extension}"));
            std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text)).map_err(
                |error| Failed::message(format!("cannot write {}: {error}", path.display())),
            )?;
            Ok::<_, Failed>(path)
        };
        let text = find.reproducer();
        // A script that is refused did not even become a module.
        let module = match find.suspect.entries.is_empty() && find.script.is_some() {
            true => None,
            false => Some(write("ir", &text)?),
        };
        let script = find.script.as_ref().map(|script| write("jl", script)).transpose()?;
        Ok(Self { find, text, module, script })
    }

    /// Describes it in a diagnostic.
    fn told(&self, tool: &str) -> Diagnostic {
        let Self { find, text, .. } = self;
        let Some(file) = &self.module else {
            let what = match find.kind {
                BrokenKind::Derivative(_) => "a derivative of a script is wrong",
                _ => "a script is refused",
            };
            let error = Diagnostic::error(format!("{what}\n{}", find.kind));
            return match &self.script {
                Some(script) => error.note(format!("the script: {}", script.display())),
                None => error,
            };
        };
        let mut message = format!("`{}` does something wrong", find.pipeline);
        for line in text.lines().skip(1).take_while(|line| line.starts_with('#')).take(12) {
            message.push('\n');
            message.push_str(line.trim_start_matches('#').trim_start());
        }
        let mut error = Diagnostic::error(message).note(format!("the program: {}", file.display()));
        if let Some(script) = &self.script {
            error = error.note(format!("the script it comes from: {}", script.display()));
        }
        let head = text.lines().next().unwrap_or_default().trim_start_matches("# ");
        let command = match head.split_once(" opt ") {
            Some((_, rest)) if !matches!(find.kind, BrokenKind::Derivative(_)) => {
                format!("{tool} opt {} {rest}", file.display())
            }
            _ => format!("{tool} reduce {}", file.display()),
        };
        error.help(format!("to see it: {command}"))
    }

    fn json(&self) -> Value {
        let kind = match self.find.kind {
            BrokenKind::Failed(_) => "failed",
            BrokenKind::Differs(_) => "differs",
            BrokenKind::Derivative(_) => "derivative",
        };
        json!({
            "case": self.find.case,
            "pipeline": self.find.pipeline,
            "kind": kind,
            "message": self.find.kind.to_string(),
            "module": self.module,
            "script": self.script,
        })
    }
}

fn tally_json(tally: &Tally, ad: bool) -> Value {
    let Tally { cases, scripts, skipped, repeated, changed, runs, untyped, declared, rules } =
        tally;
    let mut object = json!({
        "cases": cases,
        "scripts": scripts,
        "skipped": skipped,
        "repeated": repeated,
    });
    let more = match ad {
        true => json!({"untyped": untyped, "declared": declared, "derivatives": rules.to_string()}),
        false => json!({
            "changed": changed,
            "returned": runs.returned,
            "trapped": runs.trapped,
            "inconclusive": runs.inconclusive,
        }),
    };
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
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

fn contexts(tally: &Tally, finds: usize) -> String {
    let Tally { cases, skipped, repeated, .. } = tally;
    format!(
        "{cases} scripts, {skipped} of them inconclusive\n\
         {finds} finds, {repeated} cases that fail like one of them\n"
    )
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_stands_for_any_text() {
        for pattern in ["arith.add", "arith.*", "*", "*.add", "a*.a*d", "arith.add*"] {
            assert!(fits(pattern, "arith.add"), "{pattern}");
        }
        for pattern in ["arith", "arith.", "*.ad", "math.*", "", "arith.add*d"] {
            assert!(!fits(pattern, "arith.add"), "{pattern}");
        }
    }
}
