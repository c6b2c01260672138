//! `regraft run`: runs a program.

use std::path::PathBuf;

use regraft_exec::value::{Val, show_string, to_json};
use regraft_exec::{Engine, EngineKind, Interpreter};
use regraft_ir::Diagnostic;
use regraft_passes::rewrite::Math;
use regraft_syntax::parse_call;

use super::Tool;
use super::arguments::value;
use super::engines;
use super::input::{Input, Language};
use super::ir::optimize;
use super::output::{Failed, Outcome, print, tell};
use super::program_output::ProgramOutput;
use super::script::{self, SessionArgs};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The program: scripts (FILE.jl) and listings of Julia's IR (FILE.lowered), in order, or IR text
    /// (FILE.ir); `-` for the standard input
    #[arg(required_unless_present = "expr", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The expression to evaluate when the scripts have run, and to print the value of. Of IR, a call
    /// with literal arguments, `foo(1.0, [1.0, 2.0])`; without it, `main()` is run
    #[arg(short, long, value_name = "EXPR", allow_hyphen_values = true)]
    expr: Option<String>,
    /// The engine that runs the program
    #[arg(long, value_enum, default_value = "auto")]
    engine: EngineName,
    /// Print the value as `{"value": ..}`
    #[arg(long)]
    json: bool,
    /// Tell which functions ran as native code, and why the others did not
    #[arg(long)]
    stats: bool,
    #[command(flatten)]
    session: SessionArgs,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
pub(super) enum EngineName {
    /// The interpreter, and native code for what has loops or is called often; by LLVM for what runs long
    Auto,
    /// The interpreter
    Interp,
    /// Native code by Cranelift
    Cranelift,
    /// Native code by LLVM, if its library is there
    Llvm,
}

impl EngineName {
    pub(super) fn kind(self) -> EngineKind {
        match self {
            Self::Auto => EngineKind::Auto,
            Self::Interp => EngineKind::Interpreter,
            Self::Cranelift => EngineKind::Cranelift,
            Self::Llvm => EngineKind::Llvm,
        }
    }
}

pub(super) fn run(args: &Args, tool: &Tool) -> Outcome {
    let inputs = script::read_all(&args.files, None)?;
    match &*inputs {
        [input] if input.language == Language::Ir => run_ir(args, input, tool),
        _ => run_scripts(args, &inputs, tool),
    }
}

fn run_scripts(args: &Args, scripts: &[Input], tool: &Tool) -> Outcome {
    script::only_scripts(scripts)?;
    let ctx = tool.context();
    let mut session = args.session.session(&ctx);
    session.set_engine(args.engine.kind())?;
    let (output, writer) = ProgramOutput::stdout();
    session.set_output(writer);
    let result = script::run_all(&mut session, scripts, tool).and_then(|last| match &args.expr {
        Some(expr) => Ok(session.run("-e", expr)?),
        None => Ok(last),
    });
    session.take_output();
    let value = output.outcome(result)?;
    if args.stats {
        tell(&engines::table(session.interpreter()));
    }
    if args.json {
        return print(&json(&session.json(&value)));
    }
    match args.expr {
        Some(_) => print(&format!("{}\n", session.show(&value))),
        None => Ok(()),
    }
}

fn run_ir(args: &Args, input: &Input, tool: &Tool) -> Outcome {
    let ctx = tool.context();
    let mut module = input.module(&ctx)?;
    if args.session.math.math != Math::Exact {
        optimize(&mut module, &args.session.math.pipeline(None, tool)?, tool)?;
    }
    let (name, values) = match &args.expr {
        Some(text) => {
            let source = ctx
                .add_source("-e", text.clone())
                .ok_or_else(|| Failed::message("the program is too large"))?;
            let call = parse_call(&source)?;
            let values: Result<Vec<Val>, _> =
                call.arguments.iter().map(|argument| value(&ctx, &source, argument)).collect();
            (call.name, values?)
        }
        None if module.function("main").is_some() => ("main".to_owned(), Vec::new()),
        None => {
            let error = Diagnostic::error("there is no function @main to run");
            let call = module.functions().next().map_or("f", |f| f.name_str());
            return Err(Failed::Usage(vec![
                error.help(format!("say what to run: -e '{call}(..)'")),
            ]));
        }
    };
    let mut engine = Interpreter::new(&module);
    engine.set_engine(args.engine.kind()).map_err(Failed::message)?;
    let (output, writer) = ProgramOutput::stdout();
    engine.host_mut().set_output(writer);
    engine.set_limits(args.session.limits.limits());
    let result = engine.call(&name, &values);
    engine.take_output();
    let result = output.outcome(result.map_err(|error| Failed::from(error.to_diagnostic())))?;
    if args.stats {
        tell(&engines::table(&engine));
    }
    // The value of `main` is shown only if there is one.
    if !args.json && args.expr.is_none() && matches!(result, Val::Unit) {
        return Ok(());
    }
    if args.json {
        return print(&json(&to_json(&ctx, &result)));
    }
    print(&format!("{}\n", show_string(&ctx, &result)))
}

/// A result as an object.
fn json(value: &str) -> String {
    format!("{{\"value\": {value}}}\n")
}
