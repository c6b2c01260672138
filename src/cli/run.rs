//! `regraft run`: runs a program.

use std::cell::Cell;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::rc::Rc;

use regraft_exec::value::{Val, show_string, to_json};
use regraft_exec::{Engine, Interpreter, Limits};
use regraft_ir::Context;
use regraft_syntax::parse_call;

use super::Tool;
use super::arguments::value;
use super::input;
use super::output::{Failed, Outcome, print};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The program (IR text); `-` for the standard input
    file: PathBuf,
    /// A call with literal arguments whose value is printed: `foo(1.0, [1.0, 2.0])`. Without it,
    /// `main()` is run
    #[arg(short, long, value_name = "EXPR")]
    expr: Option<String>,
    /// What runs the program
    #[arg(long, value_enum, default_value = "interp")]
    engine: EngineName,
    /// Print the value as `{"value": ..}`
    #[arg(long)]
    json: bool,
    /// Stop after so many instructions
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
    /// How deep calls may be nested
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// How many bytes the program may use
    #[arg(long, value_name = "BYTES")]
    memory: Option<usize>,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum EngineName {
    /// The interpreter
    Interp,
}

pub(super) fn run(args: &Args, tool: &Tool) -> Outcome {
    let ctx = tool.context();
    let module = input::read(&args.file, &ctx)?.module;
    let (name, values) = match &args.expr {
        Some(text) => {
            let source = ctx
                .add_source("-e", text.as_str())
                .ok_or_else(|| Failed::message("the program is too large"))?;
            let call = parse_call(&source)?;
            let values: Result<Vec<Val>, _> =
                call.arguments.iter().map(|argument| value(&ctx, &source, argument)).collect();
            (call.name, values?)
        }
        None if module.function("main").is_some() => ("main".to_owned(), Vec::new()),
        None => {
            let error = regraft_ir::Diagnostic::error("there is no function @main to run");
            let call = module.functions().next().map_or("f", |f| f.name_str());
            return Err(Failed::Usage(vec![
                error.help(format!("say what to run: -e '{call}(..)'")),
            ]));
        }
    };
    let EngineName::Interp = args.engine;
    let mut engine = Interpreter::new(&module);
    let output = ProgramOutput::default();
    let output_error = Rc::clone(&output.error);
    engine.host_mut().set_output(output.buffered());
    let defaults = Limits::default();
    engine.set_limits(Limits {
        fuel: args.fuel.or(defaults.fuel),
        depth: args.depth.unwrap_or(defaults.depth),
        memory: args.memory.unwrap_or(defaults.memory),
    });
    let result = engine.call(&name, &values);
    engine.take_output();
    let output_error = output_error.take();
    if let Some(error) = &output_error
        && error.kind() == io::ErrorKind::BrokenPipe
    {
        return Err(Failed::Closed);
    }
    let result = result.map_err(|error| Failed::from(error.to_diagnostic()))?;
    if let Some(error) = output_error {
        return Err(Failed::unwritten(&error));
    }
    print(&shown(args, &ctx, &result))
}

/// Where a program prints to: the standard output.
#[derive(Default)]
struct ProgramOutput {
    /// Why it could not be written, the last pieces included: the program may have ended before
    /// they were. If its reader has gone, as `head` does, the program ends quietly.
    error: Rc<Cell<Option<io::Error>>>,
}

impl ProgramOutput {
    /// To a terminal line by line, to anything else in large pieces.
    fn buffered(self) -> Box<dyn Write> {
        if io::stdout().is_terminal() { Box::new(self) } else { Box::new(BufWriter::new(self)) }
    }

    fn seen<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            && error.kind() != io::ErrorKind::Interrupted
        {
            self.error.set(Some(error.kind().into()));
        }
        result
    }
}

impl Write for ProgramOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.seen(io::stdout().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.seen(io::stdout().flush())
    }
}

/// The result as text. The value of `main` is shown only if there is one.
fn shown(args: &Args, ctx: &Context, result: &Val) -> String {
    if args.json {
        return format!("{{\"value\": {}}}\n", to_json(ctx, result));
    }
    if args.expr.is_none() && matches!(result, Val::Unit) {
        return String::new();
    }
    format!("{}\n", show_string(ctx, result))
}
