//! Shows where the records stand in a function, and what they give when a program runs.
//!
//! ```text
//! cargo run -p profiler
//! ```

use std::error::Error;
use std::sync::Arc;

use profiler::{profile, profile_by_pipe, statement_order};
use regraft::exec::value::Val;
use regraft::exec::{Engine, Interpreter};
use regraft::prelude::*;

const FOO: &str = include_str!("../../ir/foo.ir");
const NESTED: &str = include_str!("../../ir/nested.ir");

fn main() -> Result<(), Box<dyn Error>> {
    let module = parse(FOO)?;
    let primal = module.function("foo").ok_or("there is a function foo")?;
    let mut in_place = primal.clone();
    profile(&mut in_place)?;
    let copied = profile_by_pipe(primal)?;
    println!("{in_place}");
    println!("inserted in place: {:?}", statement_order(&in_place));
    println!("copied by a pipe:  {:?}", statement_order(&copied));
    for capacity in [100, 5] {
        println!("\n{}", log_of(NESTED, capacity)?.trim_end());
    }
    Ok(())
}

fn parse(text: &str) -> Result<Module, Box<dyn Error>> {
    parse_module(&context(), "program.ir", text)
        .map_err(|errors| regraft::ir::render_all(&errors, false).into())
}

/// Profiles every function of a program, runs it with a buffer of `capacity` events, and
/// returns what the profiler reports.
fn log_of(text: &str, capacity: i64) -> Result<String, Box<dyn Error>> {
    let mut module = parse(text)?;
    for (_, f) in module.functions_mut() {
        profile(f)?;
    }
    let ctx = Arc::clone(module.ctx());
    let capacity = ctx.constant_id(capacity);
    module.add(one_statement(&ctx, "prepare", prof::resize(capacity))?)?;
    module.add(one_statement(&ctx, "report", prof::report())?)?;
    let mut engine = Interpreter::new(&module);
    for function in ["prepare", "main", "report"] {
        engine.call(function, &[] as &[Val])?;
    }
    Ok(engine.take_output())
}

/// A function that does one thing.
fn one_statement(ctx: &Arc<Context>, name: &str, inst: Inst) -> IrResult<Function> {
    let mut f = Function::new(ctx, name, &[], Type::UNIT);
    let block = f.blocks().next().expect("a new function has its entry");
    f.push(block, inst)?;
    let nothing = f.constant_id(Constant::Unit);
    f.set_terminator(block, cf::ret(nothing))?;
    Ok(f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_stand_around_each_operation_in_the_order_of_the_lecture() {
        let module = parse(FOO).unwrap();
        let primal = module.function("foo").unwrap();
        let mut in_place = primal.clone();
        profile(&mut in_place).unwrap();
        let copied = profile_by_pipe(primal).unwrap();
        let order = [7, 4, 8, 9, 5, 10, 11, 6, 12];
        assert_eq!(statement_order(&in_place), order);
        assert_eq!(statement_order(&copied), order);
        assert!(in_place.structural_eq(&copied));
    }

    #[test]
    fn the_log_is_nested_as_the_calls_are_with_times_since_the_first() {
        let log = log_of(NESTED, 100).unwrap();
        let events: Vec<(usize, &str, f64)> = log
            .lines()
            .map(|line| {
                let (name, time) = line.split_once(": ").unwrap();
                (name.len() - name.trim_start().len(), name.trim_start(), time.parse().unwrap())
            })
            .collect();
        let shape: Vec<(usize, &str)> =
            events.iter().map(|&(depth, name, _)| (depth, name)).collect();
        let inner = [(1, "inner"), (2, "sin"), (2, "sin"), (2, "mul"), (2, "mul"), (1, "inner")];
        let mut expected = vec![(0, "outer")];
        expected.extend(inner);
        expected.extend(inner);
        expected.extend([(1, "add"), (1, "add"), (0, "outer")]);
        assert_eq!(shape, expected);
        assert_eq!(events[0].2, 0.0);
        assert!(events.is_sorted_by(|a, b| a.2 <= b.2), "{log}");
    }

    #[test]
    fn a_buffer_that_is_too_small_is_told() {
        let log = log_of(NESTED, 5).unwrap();
        assert!(
            log.contains("The recording buffer was too small, consider increasing it"),
            "{log}"
        );
        assert!(!log_of(NESTED, 100).unwrap().contains("too small"));
    }
}
