//! `regraft emit`: the code that a call runs, in the form of an engine, or as a file for a linker.

use std::path::{Path, PathBuf};

use regraft_exec::{CodeForm, Interpreter};
use regraft_ir::Diagnostic;
use regraft_lang::{Entry, Session};
use regraft_passes::Pipeline;

use super::Tool;
use super::output::{Failed, Outcome, print};
use super::program_output::ProgramOutput;
use super::script::{self, SessionArgs};
use crate::ahead::{Cpu, ObjectFile};

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
    /// The passes that are run before. Without it `O2, fuse-sweeps, reciprocals, loop-coalesce, bounds-elim{versions},
    /// loop-rotate{memory}, licm{whole-loops=false}, load-pre, strip-math, split-elements, alias-scopes`, or with `--math`
    /// `O3` before the last nine
    #[arg(short, long)]
    pipeline: Option<String>,
    /// Write machine code to this file, for programs in C and Rust that link the library `regraft-runtime`. It is an
    /// object file, or a static library if its name ends in `.a` or `.lib`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["stage", "llvm"])]
    object: Option<PathBuf>,
    /// Write the header to this file, which declares the functions of the object file for C
    #[arg(long, value_name = "FILE", requires = "object")]
    header: Option<PathBuf>,
    /// Write a module of Rust to this file, with functions that call those of the object file
    #[arg(long, value_name = "FILE", requires = "object")]
    rust: Option<PathBuf>,
    /// Call the function so in C. Without it, it is called as in the program, up to the first character that C does not
    /// know
    #[arg(long, value_name = "NAME", requires = "object")]
    name: Option<String>,
    /// Add the gradient, a function `NAME_gradient`; with parameters, by their names or their numbers from 1, the gradient by
    /// these alone: `--gradient=a,x`
    #[arg(
        long,
        requires = "object",
        value_name = "PARAMETER,..",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    gradient: Option<String>,
    /// The CPUs that the object file is for
    #[arg(long, value_enum, default_value = "any", requires = "object")]
    cpu: CpuName,
    #[command(flatten)]
    session: SessionArgs,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum CpuName {
    /// All of the architecture of this machine
    Any,
    /// CPUs that have all instructions of the one of this machine
    Native,
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
    if let Some(object) = &args.object {
        let written = script::run_all(&mut session, &inputs, tool)
            .and_then(|_| args.write(object, &mut session, call, pipeline.as_ref()));
        session.take_output();
        return output.outcome(written);
    }
    let module = script::run_all(&mut session, &inputs, tool).and_then(|_| {
        Ok(session.optimized_for_native(Entry::CallOrTypes(call), pipeline.as_ref())?)
    });
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

impl Args {
    /// Writes the files that were asked for.
    fn write(
        &self,
        object: &Path,
        session: &mut Session,
        call: &str,
        pipeline: Option<&Pipeline>,
    ) -> Outcome {
        let cpu = match self.cpu {
            CpuName::Any => Cpu::Any,
            CpuName::Native => Cpu::Native,
        };
        let mut file = ObjectFile::new(cpu)?;
        let (entry, name) = (Entry::CallOrTypes(call), self.name.as_deref());
        file.add(&session.closed(entry, pipeline)?, name)?;
        if let Some(by) = &self.gradient {
            let by: Vec<&str> = by.split(',').map(str::trim).filter(|by| !by.is_empty()).collect();
            file.add(&session.closed_gradient(entry, &by)?, name)?;
        }
        if let Some(header) = &self.header {
            write(header, file.header().as_bytes())?;
        }
        if let Some(rust) = &self.rust {
            write(rust, file.rust()?.as_bytes())?;
        }
        let is_library = object.extension().is_some_and(|ending| ending == "a" || ending == "lib");
        write(object, &if is_library { file.library() } else { file.object() }?)
    }
}

fn write(file: &Path, bytes: &[u8]) -> Outcome {
    std::fs::write(file, bytes)
        .map_err(|error| Failed::message(format!("cannot write {}: {error}", file.display())))
}
