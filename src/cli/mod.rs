//! The command line: one file per command.
//!
//! Results go to the standard output, diagnostics to the standard error. Exit codes: 0; 1 if the
//! input is wrong; 2 for wrong usage.
//!
//! ```
//! let tool = regraft::tool!();
//! let code: std::process::ExitCode = tool.run(["regraft", "--version"]);
//! ```

mod arguments;
mod completions;
mod emit;
mod engines;
mod fuzz;
mod grad;
mod input;
mod ir;
mod json;
pub(crate) mod ops;
pub(crate) mod opt;
pub(crate) mod output;
pub(crate) mod passes;
mod phases;
pub(crate) mod profile;
mod program_output;
mod progress;
mod reduce;
mod repl;
mod rules;
mod run;
mod script;
mod test;

use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use regraft_exec::{EngineKind, allow_background_code, preset_threads};
use regraft_ir::{Context, Diagnostic, Dialect, Extensions, Registry, Type};
use regraft_lang::StartUp;
use regraft_lang::world::{Code, DynamoCx};
use regraft_passes::PassRegistry;

use crate::repl::Interruptible;
use output::{Failed, Outcome, OutputArgs};

/// The `regraft` tool with passes of your own: `opt`, `run` and `passes` know them as they know
/// those that come with it. It is called what its file is called; [`tool!`](crate::tool) tells it
/// the version of your crate as well.
///
/// ```no_run
/// # use regraft::prelude::*;
/// # #[derive(Default)] struct MulToAdd;
/// # impl FunctionPass for MulToAdd {
/// #     const NAME: &'static str = "mul-to-add";
/// #     fn run(&mut self, _: &mut Function, _: &mut PassContext<'_>) -> PassResult { Ok(()) }
/// # }
/// fn main() -> ExitCode {
///     regraft::cli::main_with(|passes| passes.add::<MulToAdd>())
/// }
/// ```
pub fn main_with<R>(register: impl FnOnce(&mut PassRegistry) -> R) -> ExitCode {
    let mut tool = Tool::new();
    register(tool.passes());
    tool.main()
}

/// The bytes of stack for a command.
const STACK: usize = 256 << 20;

/// A [`cli::Tool`](crate::cli::Tool) with the name and the version of the crate that this stands
/// in.
///
/// ```no_run
/// # use std::process::ExitCode;
/// fn main() -> ExitCode {
///     let mut tool = regraft::tool!();
///     tool.passes();
///     tool.main()
/// }
/// ```
#[macro_export]
macro_rules! tool {
    () => {
        $crate::cli::Tool::new().named(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    };
}

/// The name of this package, and its version.
pub(crate) const REGRAFT: (&str, &str) = ("regraft", env!("CARGO_PKG_VERSION"));

/// The tool with passes and dialects of one's own.
#[derive(Clone, Debug)]
pub struct Tool {
    extensions: Extensions,
    /// Its name; `None` for that of its file.
    name: Option<String>,
    /// The version of the crate that it is of.
    version: Option<String>,
}

impl Default for Tool {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool {
    /// The tool with what comes with it.
    pub fn new() -> Self {
        Self { extensions: regraft_ad::extensions(), name: None, version: None }
    }

    /// Says what it is called, in its help, in messages and in reproducers, and which version it
    /// is.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self.version = Some(version.into());
        self
    }

    /// The tool with what these extensions know, which have to hold what comes with Regraft:
    /// [`regraft::ad::extensions`](crate::ad::extensions), with what was added to them.
    #[must_use]
    pub fn with_extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    /// The extensions that it knows, to add to.
    pub fn extensions(&mut self) -> &mut Extensions {
        &mut self.extensions
    }

    /// The passes, to add others.
    pub fn passes(&mut self) -> &mut PassRegistry {
        self.extensions.edit()
    }

    /// The passes, to look at.
    pub(crate) fn registry(&self) -> &PassRegistry {
        self.extensions.get()
    }

    /// The ops, to look at.
    pub(crate) fn ops(&self) -> &Registry {
        self.extensions.ops()
    }

    /// Adds a dialect, so that its ops can be read and printed.
    pub fn dialect(&mut self, dialect: &'static Dialect) -> &mut Self {
        self.extensions.add_dialect(dialect);
        self
    }

    /// Adds a method whose code `f` makes from the types of its arguments to every program that the
    /// tool runs: see [`Session::dynamo`](crate::lang::Session::dynamo).
    ///
    /// ```
    /// let mut tool = regraft::tool!();
    /// tool.dynamo("untouched(f, args...)", |cx, types| Ok(cx.fall_back(types)));
    /// tool.run(["tool", "run", "-", "--help"]);
    /// ```
    pub fn dynamo(
        &mut self,
        signature: &str,
        f: impl Fn(&mut DynamoCx<'_>, &[Type]) -> Result<Code, Vec<Diagnostic>> + Send + Sync + 'static,
    ) -> &mut Self {
        self.extensions.edit::<StartUp>().dynamo(signature, f);
        self
    }

    /// Runs the command that the arguments of the process name.
    pub fn main(&self) -> ExitCode {
        self.run(std::env::args_os())
    }

    /// Runs the command that `args` name; the first is the name of the program.
    pub fn run(&self, args: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> ExitCode {
        let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
        let mut tool = self.clone();
        if tool.name.is_none() {
            let stem = args.first().and_then(|file| Path::new(file).file_stem());
            tool.name = stem.map(|stem| stem.to_string_lossy().into_owned());
        }
        tool.run_named(args)
    }

    fn run_named(&self, args: Vec<OsString>) -> ExitCode {
        // It is not dropped: the program ends soon, and it has many parts.
        let parsed = ManuallyDrop::new(self.parser()).try_get_matches_from_mut(args);
        let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
            Ok(cli) => cli,
            Err(error) => {
                // Help and version are results; the rest is wrong usage. Where it cannot be
                // printed there is nobody to tell.
                let _ = error.print();
                return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
            }
        };
        cli.output.apply();
        // A panic is a bug of ours (or of a pass that the manager did not run), and is told as
        // one; it must not look like a crash to the scripts that call us.
        let bug = || Err(Failed::message(self.bug()));
        let guarded = || {
            let command = std::panic::AssertUnwindSafe(|| self.command(&cli));
            output::exit_code(std::panic::catch_unwind(command).unwrap_or_else(|_| bug()))
        };
        // The stack of the main thread is as large as the system says; ours is as large as
        // programs need that are nested deeply. Its pages are taken only if they are used.
        allow_background_code(true);
        let code = stacker::grow(STACK, guarded);
        // The process may end, and sessions were not dropped.
        allow_background_code(false);
        code
    }

    fn command(&self, cli: &Cli) -> Outcome {
        let preset = EngineKind::preset().and_then(|_| preset_threads());
        preset.map_err(Failed::usage)?;
        match &cli.command {
            Command::Opt(args) => opt::run(args, self),
            Command::Run(args) => run::run(args, self),
            Command::Ir(args) => ir::run(args, self),
            Command::Emit(args) => emit::run(args, self),
            Command::Grad(args) => grad::run(args, self),
            Command::Profile(args) => profile::run(args, self),
            Command::Test(args) => test::run(args, self),
            Command::Reduce(args) => reduce::run(args, self),
            Command::Fuzz(args) => fuzz::run(args, self),
            Command::Repl { files } => repl::run(files, self),
            Command::Passes(args) => passes::run(args, self),
            Command::Ops(args) => ops::run(args, self),
            Command::Rules(args) => rules::run(args, self),
            Command::Completions { shell } => completions::run(*shell, self),
            Command::Man { folder } => completions::man(folder.as_deref(), self),
        }
    }

    /// Returns its name.
    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(REGRAFT.0)
    }

    /// Its version; of a tool with passes of one's own, that of Regraft as well.
    pub(crate) fn version(&self) -> String {
        match &self.version {
            Some(version) => format!("{version} (regraft {})", REGRAFT.1),
            None if self.name() == REGRAFT.0 => REGRAFT.1.to_owned(),
            None => format!("(regraft {})", REGRAFT.1),
        }
    }

    /// Returns the message for a panic.
    pub(crate) fn bug(&self) -> String {
        let of = match self.name() {
            name if name == REGRAFT.0 => name.to_owned(),
            name => format!("{name}, or of regraft"),
        };
        format!("this is a bug of {of}; the message above says where")
    }

    /// Returns the parser of the arguments.
    fn parser(&self) -> clap::Command {
        let name = self.name().to_owned();
        Cli::command().name(name.clone()).bin_name(name).version(self.version())
    }

    /// The extensions that it knows, for others to hold.
    pub(crate) fn shared(&self) -> Arc<Extensions> {
        Arc::new(self.extensions.clone())
    }

    /// A fresh context for programs of the ops that the tool knows.
    pub(crate) fn context(&self) -> Arc<Context> {
        Context::with_extensions(&self.shared())
    }
}

/// Rewrites typed SSA programs.
#[derive(Parser, Debug)]
#[command(name = "regraft", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Runs a pipeline of passes on a program and prints what comes out
    Opt(Box<opt::Args>),
    /// Runs a program
    Run(run::Args),
    /// Shows the IR of the method that a call runs
    Ir(ir::Args),
    /// Shows the code that a call runs: the compact form, LLVM IR, machine code; or writes it to an object file
    Emit(emit::Args),
    /// Shows value and gradient of a call
    Grad(grad::Args),
    /// Shows where the time of a call goes
    Profile(profile::Args),
    /// Evaluates definitions, expressions and commands one after the other
    Repl {
        /// Scripts (.jl) that are run first, listings of Julia's IR (.lowered), and IR (.ir) to look at
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Runs text tests of passes: programs with `# RUN:` lines, and what is expected beside them
    Test(test::Args),
    /// Makes a module that a pipeline fails on, or whose meaning it changes, as small as possible
    Reduce(reduce::Args),
    /// Runs random programs through random pipelines and compares what they do
    Fuzz(fuzz::Args),
    /// Lists the passes, or shows the page of one
    Passes(passes::Args),
    /// Lists the operations, or shows the page of one
    Ops(ops::Args),
    /// Lists the rewrite rules, shows the page of one, or tests and proves those of a file
    Rules(rules::Args),
    /// Prints a script that completes the arguments of this command in a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Prints the manual page, or writes those of all commands into a folder
    Man {
        /// The folder
        #[arg(value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
}
