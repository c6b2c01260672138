//! The commands that change the current program, `:pipeline`, `:opt`, `:undo`, `:redo`, and those
//! that compare it with what it was: `:diff`, `:check`.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use regraft_exec::value::signature;
use regraft_ir::{Diagnostic, Value};
use regraft_passes::{Observer, PassRun, Pipeline, RunOptions, diff_modules, run_pipeline};
use regraft_testing::choices::Choices;
use regraft_testing::{Agreement, CompareConfig, arguments, compare_functions};

use super::console::Console;
use super::look::{call_or_current, current, select};
use super::reader::call_and_pipeline;
use super::{Done, Outcome, Repl, no_argument};
use crate::cli::opt::{Stage, dynamic_call};

/// `:pipeline [PIPELINE]`
pub(super) fn pipeline(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    if rest.is_empty() {
        console.result(&repl.pipeline.to_string());
    } else {
        repl.pipeline = parse(repl, rest)?;
    }
    Ok(Outcome::Continue)
}

/// `:opt [--stage STAGE] [CALL] [-p PIPELINE]`
pub(super) fn opt(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    let (stage, rest) = stage(rest)?;
    let (call, pipeline) = call_and_pipeline(rest);
    let pipeline = match pipeline {
        Some("") => {
            let error = Diagnostic::error("the pipeline is missing behind `-p`");
            return Err(vec![error.help("`:passes` lists what pipelines are made of")]);
        }
        Some(text) => parse(repl, text)?,
        None => repl.pipeline.clone(),
    };
    match (call, stage) {
        (None, None) => {}
        (call, stage) => {
            let call = call_or_current(repl, call.unwrap_or_default())?;
            select(repl, &call, stage.unwrap_or(Stage::Typed), console)?;
        }
    }
    let flag = repl.session.interrupt_flag();
    let mut module = current(repl)?.module().clone();
    let options = RunOptions::default().explain(true).observe(StopOnInterrupt(flag));
    let result = repl.session.lend_to_passes(|| run_pipeline(&mut module, &pipeline, &options));
    console.printed(&repl.session.take_output());
    let report = result.map_err(|failure| failure.diagnostics().to_vec())?;
    if report.stopped.is_some() {
        return Err(vec![Diagnostic::error("interrupted; the program is as it was")]);
    }
    console.report(&report.warnings);
    let current = current(repl)?;
    let diff = diff_modules(current.module(), &module);
    if diff.is_empty() {
        console.result("nothing changed");
    } else {
        current.apply(pipeline.to_string(), module, report.explanations);
        console.diff(&diff);
    }
    Ok(Outcome::Continue)
}

/// Takes `--stage lowered` or `--stage typed` off the start of an argument.
fn stage(rest: &str) -> Result<(Option<Stage>, &str), Vec<Diagnostic>> {
    let Some(rest) = rest.strip_prefix("--stage") else { return Ok((None, rest)) };
    let rest = rest.trim_start_matches(['=', ' ']);
    let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    match Stage::from_str(word, false) {
        Ok(stage) => Ok((Some(stage), rest.trim_start())),
        Err(_) => {
            let error = Diagnostic::error(format!("there is no stage `{word}` to work on"));
            Err(vec![error.help("write --stage lowered or --stage typed")])
        }
    }
}

/// `:undo`
pub(super) fn undo(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    no_argument(rest)?;
    let current = current(repl)?;
    let Some(pipeline) = current.undo().map(str::to_owned) else {
        return Err(vec![Diagnostic::error("there is no pipeline to take back")]);
    };
    console.result(&format!("took back: {pipeline}\nnow: {}", current.title()));
    Ok(Outcome::Continue)
}

/// `:redo`
pub(super) fn redo(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    no_argument(rest)?;
    let current = current(repl)?;
    let Some(pipeline) = current.redo().map(str::to_owned) else {
        return Err(vec![Diagnostic::error("there is nothing that was taken back")]);
    };
    console.result(&format!("applied: {pipeline}\nnow: {}", current.title()));
    Ok(Outcome::Continue)
}

/// `:diff`
pub(super) fn diff(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    no_argument(rest)?;
    let current = current(repl)?;
    let diff = diff_modules(current.first(), current.module());
    if diff.is_empty() {
        console.result("nothing changed");
    } else {
        console.diff(&diff);
    }
    Ok(Outcome::Continue)
}

/// `:explain [%VALUE]`
pub(super) fn explain(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    let current = current(repl)?;
    let Some(f) = current.function() else {
        return Err(vec![Diagnostic::error("the current program has no function")]);
    };
    let of_function = || current.explanations().filter(|one| one.function == f.name_str());
    let mut wanted = None;
    if !rest.is_empty() {
        let is_named = |&v: &Value| f.value_text(v) == rest || v.to_string() == rest;
        let Some(v) = f.all_values().find(is_named) else {
            let message = format!("there is no value `{rest}` in @{}", f.name_str());
            return Err(vec![Diagnostic::error(message).help(":explain %3")]);
        };
        // What was made for another value has the reason of that one.
        let explained = |v: Value| of_function().any(|one| one.value == v);
        let made_for = std::iter::successors(Some(v), |&v| f.origin(v)?.from);
        let Some(v) = made_for.take(f.value_capacity()).find(|&v| explained(v)) else {
            console.result(&format!("no rule has made {rest}"));
            return Ok(Outcome::Continue);
        };
        wanted = Some(v);
    }
    let texts: Vec<&str> = of_function()
        .filter(|one| wanted.is_none_or(|v| one.value == v))
        .map(|one| one.text.as_str())
        .collect();
    match texts.is_empty() {
        true => console.result("no rule has replaced a value"),
        false => console.result(&texts.join("\n")),
    }
    Ok(Outcome::Continue)
}

/// `:check [N]`
pub(super) fn check(repl: &mut Repl, rest: &str, console: &mut Console<'_>) -> Done {
    let inputs = match rest {
        "" => 20,
        text => text.parse().ok().filter(|&n| n > 0).ok_or_else(|| {
            let error = Diagnostic::error(format!("`{text}` is no number of inputs"));
            vec![error.help(":check 100")]
        })?,
    };
    let passes = repl.tool.registry().clone();
    let current = current(repl)?;
    let (before, after) = (current.first(), current.module());
    if let Some(error) = dynamic_call(after).or_else(|| dynamic_call(before)) {
        return Err(vec![error]);
    }
    let fast = current
        .pipelines()
        .iter()
        .any(|text| Pipeline::parse(&passes, text).is_ok_and(|pipeline| pipeline.is_fast()));
    let config = CompareConfig { inputs, ..CompareConfig::default() }.fast(fast);
    let both = before.functions().filter(|f| after.find(f.name()).is_some());
    for f in both {
        // The names of specialised functions are their signatures.
        let name = match f.name_str() {
            name if name.ends_with(')') => name.to_owned(),
            name => signature(f.ctx(), name, &f.param_types()),
        };
        if let Err(why) = arguments(f.ctx(), &f.param_types(), &mut Choices::from_seed(0)) {
            console.result(&format!("{name}: not checked, {why}"));
            continue;
        }
        let runs = compare_functions(before, after, f.name_str(), &config)
            .map_err(|difference| vec![Diagnostic::error(difference.to_string())])?;
        let Agreement { returned, trapped, inconclusive } = runs;
        let agreed = match trapped {
            0 => format!("{returned} agreed"),
            _ => format!("{} agreed, {trapped} of them on an error", returned + trapped),
        };
        let said =
            if inconclusive > 0 { format!(", {inconclusive} inconclusive") } else { String::new() };
        let inputs = returned + trapped + inconclusive;
        console.result(&format!("{name}: {inputs} inputs: {agreed}{said}"));
    }
    Ok(Outcome::Continue)
}

fn parse(repl: &Repl, text: &str) -> Result<Pipeline, Vec<Diagnostic>> {
    Pipeline::parse(repl.tool.registry(), text)
}

/// Ends a pipeline before its next pass when the user asks for it.
#[derive(Debug)]
struct StopOnInterrupt(Arc<AtomicBool>);

impl Observer for StopOnInterrupt {
    fn name(&self) -> &'static str {
        "the interrupt"
    }

    fn before(&self, _: &PassRun<'_>) -> ControlFlow<()> {
        if self.0.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
