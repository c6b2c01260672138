//! A small language of integers, from its text to its results:
//!
//! ```text
//! cargo run -p tiny-language -- examples/tiny-language/gcd.tiny coprime_below 36
//! ```
//!
//! prints the functions of the program after `O1`, and what the function gives: 12.

use regraft::exec::{Engine, Interpreter, Val, show_string};
use regraft::ir::render_all;
use regraft::passes::{Pipeline, RunOptions, run_pipeline};
use regraft::prelude::*;

mod front_end;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Compiles the program in the first argument, and calls the function in the second on the others.
fn run(args: &[String]) -> Result<String, String> {
    let [file, function, args @ ..] = args else {
        return Err("usage: tiny-language FILE FUNCTION INTEGER...".to_owned());
    };
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let report = |errors: &[Diagnostic]| render_all(errors, false);
    let mut module = front_end::compile(&context(), file, &text).map_err(|e| report(&[e]))?;
    let pipeline = Pipeline::parse(&PassRegistry::standard(), "O1").map_err(|e| report(&e))?;
    run_pipeline(&mut module, &pipeline, &RunOptions::default())
        .map_err(|failure| report(failure.diagnostics()))?;
    let numbers: Result<Vec<Val>, _> = args.iter().map(|arg| arg.parse().map(Val::I64)).collect();
    let numbers = numbers.map_err(|error| format!("an argument: {error}"))?;
    let mut engine = Interpreter::new(&module);
    let result = engine.call(function, &numbers).map_err(|error| error.to_string())?;
    let result = show_string(module.ctx(), &result);
    Ok(format!("{module}\n{}{result}\n", engine.take_output()))
}

#[cfg(test)]
mod tests;
