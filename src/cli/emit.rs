//! `regraft emit`: the code that a call runs, in the form of an engine.

use regraft_exec::{CodeForm, Interpreter};
use regraft_ir::Diagnostic;
use regraft_lang::Entry;

use super::Tool;
use super::output::{Failed, Outcome, print};
use super::program_output::ProgramOutput;
use super::script::{self, SessionArgs};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The programs, as of `ir`, then the call whose code is shown: `foo(1.0, [1.0, 2.0])`, whose arguments are
    /// evaluated for their types, or the types themselves, `foo(Float64, Vector{Float64})`. What scripts print
    /// goes to the standard error
    #[arg(required = true, value_name = "FILE... CALL", num_args = 1..)]
    words: Vec<String>,
    /// The form of the code
    #[arg(long, value_enum, default_value = "native")]
    stage: Stage,
    /// The same as `--stage llvm`
    #[arg(long, conflicts_with = "stage")]
    llvm: bool,
    /// The passes that are run before. Without it `O2, fuse-sweeps`, or with `--math` `O3`
    #[arg(short, long)]
    pipeline: Option<String>,
    #[command(flatten)]
    session: SessionArgs,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Stage {
    /// The compact form, which the interpreter runs, and from which native code is made
    Native,
    /// LLVM IR
    Llvm,
    /// LLVM IR after the passes of LLVM's library
    LlvmOptimized,
    /// The machine code that LLVM's library makes of it for this CPU
    Assembly,
}

pub(super) fn run(args: &Args, tool: &Tool) -> Outcome {
    let pipeline = match &args.pipeline {
        Some(text) => Some(args.session.math.pipeline(Some(text), tool)?),
        None => None,
    };
    let (files, call) = script::files_and_call(&args.words);
    let Some(call) = call else {
        let error = Diagnostic::error("the call is missing whose code is to be shown");
        let help = "write it behind the files: 'foo(1.0, [1.0, 2.0])' or 'foo(Float64)'";
        return Err(Failed::Usage(vec![error.help(help)]));
    };
    let inputs = script::read_all(&files, None)?;
    let mut session = args.session.session(&tool.context());
    let (output, writer) = ProgramOutput::stderr();
    session.set_output(writer);
    let module = script::run_all(&mut session, &inputs, tool)
        .and_then(|_| Ok(session.optimized(Entry::CallOrTypes(call), pipeline.as_ref())?));
    session.take_output();
    let module = output.outcome(module)?;
    // The first function is the one that is called.
    let name = module.functions().next().map_or("", |f| f.name_str());
    let form = match args.stage {
        _ if args.llvm => CodeForm::Llvm,
        Stage::Native => CodeForm::Compact,
        Stage::Llvm => CodeForm::Llvm,
        Stage::LlvmOptimized => CodeForm::LlvmOptimized,
        Stage::Assembly => CodeForm::Assembly,
    };
    let text = Interpreter::new(&module).emit(name, form);
    print(&text.map_err(|error| Failed::from(error.to_diagnostic()))?)
}
