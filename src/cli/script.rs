//! Sessions of the language for the commands that take scripts, or IR as well.

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use regraft_exec::{Limits, Val};
use regraft_ir::Context;
use regraft_lang::{PassFiles, Session, passes_of_files};
use regraft_passes::rewrite::Math;
use regraft_passes::{O2, O3, Pipeline};
use regraft_syntax::julia;

use super::Tool;
use super::input::{Input, Language};
use super::output::{Failed, report};

/// The options of the session that a command runs programs in.
#[derive(clap::Args, Debug)]
pub(super) struct SessionArgs {
    #[command(flatten)]
    pub(super) math: MathArg,
    #[command(flatten)]
    matmul: MatmulArg,
    #[command(flatten)]
    pub(super) limits: LimitArgs,
    /// The number of threads that loops and reductions take which may be shared; as many as
    /// REGRAFT_THREADS says, or the machine has, if it is not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

impl SessionArgs {
    /// A session by these options.
    pub(super) fn session(&self, ctx: &Arc<Context>) -> ManuallyDrop<Session> {
        let mut session = session(ctx);
        session.set_limits(self.limits.limits());
        session.set_math(self.math.math);
        if let Some(threads) = self.threads {
            session.set_threads(threads.into());
        }
        self.matmul.apply(&mut session);
        session
    }
}

/// The limits of a run.
#[derive(clap::Args, Debug)]
pub(super) struct LimitArgs {
    /// Stop after so many instructions
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
    /// The depth to which calls may nest
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// The number of bytes that the program may use
    #[arg(long, value_name = "BYTES")]
    memory: Option<usize>,
}

impl LimitArgs {
    /// The limits, those that are not given being the usual ones.
    pub(super) fn limits(&self) -> Limits {
        let defaults = Limits::default();
        Limits {
            fuel: self.fuel.or(defaults.fuel),
            depth: self.depth.unwrap_or(defaults.depth),
            memory: self.memory.unwrap_or(defaults.memory),
        }
    }
}

/// The algebra that floats follow.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct MathArg {
    /// The algebra that floats follow: that of IEEE 754; that without NaN, infinities and the sign of
    /// zero; or that of real numbers
    #[arg(long, value_name = "MATH", default_value = Math::default().name(), value_parser = math_parser())]
    pub(super) math: Math,
}

impl MathArg {
    /// Reads a pipeline, whose passes follow this algebra where the text does not say otherwise; `O2`, or
    /// `O3` for another algebra than the exact one, if there is none.
    pub(super) fn pipeline(self, text: Option<&str>, tool: &Tool) -> Result<Pipeline, Failed> {
        let level = if self.math == Math::Exact { O2 } else { O3 };
        let pipeline = Pipeline::parse(tool.registry(), text.unwrap_or(level.name));
        Ok(pipeline.map_err(Failed::Usage)?.with_math(self.math))
    }
}

/// The way in which products of large matrices are computed.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct MatmulArg {
    /// Compute products, solutions and factorisations of large dense matrices by a library, or by the
    /// loops that small ones take
    #[arg(long, value_enum, default_value = "library", value_name = "WAY")]
    matmul: MatmulName,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum MatmulName {
    /// A library, from size 16 on
    Library,
    /// Loops, which passes and derivatives see
    Loops,
}

impl MatmulArg {
    /// Sets it in a session in which nothing has run yet.
    pub(super) fn apply(self, session: &mut Session) {
        if self.matmul == MatmulName::Loops {
            session.use_loops();
        }
    }
}

fn math_parser() -> impl TypedValueParser<Value = Math> {
    PossibleValuesParser::new(Math::NAMES).map(|name| Math::find(&name).unwrap_or_default())
}

/// A session for one command. It is never dropped: the process ends after it, and taking the
/// world apart piece by piece would take a tenth of the time of a short script.
pub(super) fn session(ctx: &Arc<Context>) -> ManuallyDrop<Session> {
    ManuallyDrop::new(Session::new(ctx))
}

/// Reads programs; see [`Input::read`].
///
/// # Errors
/// All files that cannot be read.
pub(super) fn read_all(
    files: &[PathBuf],
    otherwise: Option<Language>,
) -> Result<Vec<Input>, Failed> {
    let mut scripts = Vec::new();
    let mut errors = Vec::new();
    for file in files {
        match Input::read(file, otherwise) {
            Ok(script) => scripts.push(script),
            Err(Failed::Input(more)) => errors.extend(more),
            Err(other) => return Err(other),
        }
    }
    if errors.is_empty() { Ok(scripts) } else { Err(errors.into()) }
}

/// Refuses what is IR, in a command that is about scripts.
pub(super) fn only_scripts(scripts: &[Input]) -> Result<(), Failed> {
    match scripts.iter().find(|script| script.language == Language::Ir) {
        Some(ir) => Err(Failed::usage(format!("{} is IR, not a script", ir.name))),
        None => Ok(()),
    }
}

/// The files and the call of a command line `FILE... CALL`, of which the call may be missing: the
/// last word is one unless it is or could be the name of a program.
pub(super) fn files_and_call(words: &[String]) -> (Vec<PathBuf>, Option<&str>) {
    let is_file = |word: &str| {
        let extension = Path::new(word).extension().and_then(|extension| extension.to_str());
        word == "-"
            || matches!(extension, Some("jl" | "ir" | "lowered"))
            || Path::new(word).is_file()
    };
    let (files, call) = match words.split_last() {
        Some((last, files)) if !files.is_empty() && !is_file(last) => (files, Some(&**last)),
        _ => (words, None),
    };
    (files.iter().map(PathBuf::from).collect(), call)
}

/// Runs scripts, and defines the functions of IR, in order, in one session; the value is that of
/// the last script. If there are several, nothing is run unless all can be read.
pub(super) fn run_all(
    session: &mut Session,
    scripts: &[Input],
    tool: &Tool,
) -> Result<Val, Failed> {
    if scripts.len() > 1 {
        // A context of its own: a source that is read twice must not count twice.
        let ctx = tool.context();
        let julia = scripts.iter().filter(|script| script.language == Language::Julia);
        let parsed = julia.map(|script| {
            julia::parse(&ctx, &script.name, &script.text, julia::Options::default())
        });
        let errors: Vec<_> = parsed.flat_map(|parsed| parsed.errors).collect();
        if !errors.is_empty() {
            return Err(errors.into());
        }
    }
    let mut last = Val::Unit;
    for script in scripts {
        match script.language {
            Language::Julia => last = session.run(&script.name, &script.text)?,
            Language::Listing => report(&session.define_listing(&script.name, &script.text)?),
            Language::Ir => {
                let module = script.module(&Arc::clone(session.ctx()))?;
                session.define_module(&module)?;
            }
        }
    }
    Ok(last)
}

/// The tool with the passes that files of the language define.
///
/// # Errors
/// If a file cannot be read or fails, or if a pass has the name of another one.
pub(super) fn with_passes(tool: &Tool, files: &[PathBuf]) -> Result<Tool, Failed> {
    let mut tool = tool.clone();
    if files.is_empty() {
        return Ok(tool);
    }
    let texts = read_all(files, Some(Language::Julia))?;
    only_scripts(&texts)?;
    let texts: PassFiles = texts.into_iter().map(|input| (input.name, input.text)).collect();
    for pass in passes_of_files(&tool.shared(), &texts)? {
        tool.passes().define_pass(pass).map_err(Failed::message)?;
    }
    Ok(tool)
}
