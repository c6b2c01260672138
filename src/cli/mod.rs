//! The command line: one file per command.
//!
//! Results go to the standard output, diagnostics to the standard error. Exit codes: 0; 1 if the
//! input is wrong; 2 for wrong usage.

mod arguments;
mod fuzz;
mod grad;
mod input;
mod ir;
pub(crate) mod ops;
mod opt;
mod output;
pub(crate) mod passes;
mod program_output;
mod reduce;
mod repl;
mod run;
mod script;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, Subcommand};
use regraft_ir::{Context, Dialect, Registry};
use regraft_passes::PassRegistry;

use output::{Failed, Outcome};

/// The `regraft` tool with passes of your own: `opt`, `run` and `passes` know them as they know
/// those that come with it.
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

/// The tool with passes and dialects of one's own.
#[derive(Clone, Debug)]
pub struct Tool {
    passes: PassRegistry,
    ops: Registry,
}

impl Default for Tool {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool {
    /// The tool with what comes with it.
    pub fn new() -> Self {
        let mut ops = Registry::new();
        regraft_dialects::add_all(&mut ops);
        Self { passes: regraft_ad::registry(), ops }
    }

    /// The passes, to add others.
    pub fn passes(&mut self) -> &mut PassRegistry {
        &mut self.passes
    }

    /// Adds a dialect, so that its ops can be read and printed.
    pub fn dialect(&mut self, dialect: &'static Dialect) -> &mut Self {
        self.ops.add(dialect);
        self
    }

    /// Runs the command that the arguments of the process name.
    pub fn main(&self) -> ExitCode {
        self.run(std::env::args_os())
    }

    /// Runs the command that `args` name; the first is the name of the program.
    pub fn run(&self, args: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> ExitCode {
        let cli = match Cli::try_parse_from(args) {
            Ok(cli) => cli,
            Err(error) => {
                // Help and version are results; the rest is wrong usage. Where it cannot be
                // printed there is nobody to tell.
                let _ = error.print();
                return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
            }
        };
        // A panic is a bug of ours (or of a pass that the manager did not run), and is told as
        // one; it must not look like a crash to the scripts that call us.
        let bug = || Err(Failed::message("this is a bug of regraft; the message above says where"));
        let guarded = || {
            let command = std::panic::AssertUnwindSafe(|| self.command(&cli));
            output::exit_code(std::panic::catch_unwind(command).unwrap_or_else(|_| bug()))
        };
        // The stack of the main thread is as large as the system says; ours is as large as
        // programs need that are nested deeply. Its pages are taken only if they are used.
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("main".to_owned()).stack_size(STACK);
            match thread.spawn_scoped(scope, guarded) {
                Ok(running) => running.join().unwrap_or_else(|_| output::exit_code(bug())),
                Err(_) => guarded(),
            }
        })
    }

    fn command(&self, cli: &Cli) -> Outcome {
        match &cli.command {
            Command::Opt(args) => opt::run(args, self),
            Command::Run(args) => run::run(args, self),
            Command::Ir(args) => ir::run(args, self),
            Command::Grad(args) => grad::run(args, self),
            Command::Reduce(args) => reduce::run(args, self),
            Command::Fuzz(args) => fuzz::run(args, self),
            Command::Repl { files } => repl::run(files, self),
            Command::Passes { name } => passes::run(name.as_deref(), &self.passes),
            Command::Ops { name } => ops::run(name.as_deref(), &self.ops),
        }
    }

    /// A fresh context for programs of the ops that the tool knows.
    fn context(&self) -> Arc<Context> {
        Context::new(Arc::new(self.ops.clone()))
    }
}

/// Rewrites typed SSA programs.
#[derive(Parser, Debug)]
#[command(name = "regraft", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Runs a pipeline of passes on a program and prints what comes out
    Opt(Box<opt::Args>),
    /// Runs a program
    Run(run::Args),
    /// Shows the IR of the method that a call runs
    Ir(ir::Args),
    /// Shows value and gradient of a call
    Grad(grad::Args),
    /// Evaluates definitions, expressions and commands one after the other
    Repl {
        /// Scripts (.jl) that are run first, and IR (.ir) to look at
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Makes a module that a pipeline fails on, or whose meaning it changes, as small as possible
    Reduce(reduce::Args),
    /// Runs random programs through random pipelines and compares what they do
    Fuzz(fuzz::Args),
    /// Lists the passes, or shows the page of one
    Passes {
        /// The pass to tell about
        name: Option<String>,
    },
    /// Lists the operations, or shows the page of one
    Ops {
        /// The op or dialect to tell about
        name: Option<String>,
    },
}
