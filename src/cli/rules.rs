//! `regraft rules`: what rewrite rules there are, and whether they hold.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use regraft_ir::{Diagnostic, suggest};
use regraft_passes::rewrite::{Math, RewriteRules, Rule, RuleSet};
use regraft_testing::{
    Contradiction, Proof, RewriteOptions, RewriteReport, prove_rewrites, rewrite_questions,
    test_rewrite, test_rewrite_sets, test_rewrites,
};
use serde_json::{Value as Json, json};

use super::Tool;
use super::input::{Input, Language};
use super::output::{Failed, Outcome, print, print_json};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The rule to tell about
    #[arg(conflicts_with_all = ["test", "prove"])]
    name: Option<String>,
    /// Test the rules of a file: both sides of each on special and random values, without each of its
    /// conditions, and together with the rules that are there
    #[arg(long, value_name = "FILE", conflicts_with = "prove")]
    test: Option<PathBuf>,
    /// Random inputs for each rule
    #[arg(long, value_name = "N", default_value_t = RewriteOptions::default().samples)]
    samples: usize,
    /// The seed of the random inputs
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Prove the rules of a file with `z3`: of integers, and exact ones of floats
    #[arg(long, value_name = "FILE")]
    prove: Option<PathBuf>,
    /// Print what the solver is asked, as SMT-LIB text, and do not ask it
    #[arg(long, requires = "prove")]
    smt: bool,
    /// The seconds that the solver may take for a rule at a choice of types
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    time_limit: u32,
    /// The command of the solver
    #[arg(long, value_name = "COMMAND", default_value = "z3")]
    solver: String,
    /// Print an object: `{"rules": [..]}`, or that of the rule that is named
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, tool: &Tool) -> Outcome {
    match (&args.name, &args.test, &args.prove) {
        (_, Some(file), _) => test(file, args, tool),
        (_, _, Some(file)) => prove(file, args, tool),
        (Some(name), ..) => page(name, args, tool),
        _ => list(args, tool.extensions.get()),
    }
}

impl Args {
    fn options(&self) -> RewriteOptions {
        RewriteOptions { samples: self.samples, seed: self.seed }
    }
}

/// Prints a line for each rule.
fn list(args: &Args, rules: &RewriteRules) -> Outcome {
    let rules = || rules.all().filter(|rule| !rule.is_reversed());
    if args.json {
        return print_json(&json!({"rules": rules().map(|rule| object(rule)).collect::<Vec<_>>()}));
    }
    let width = rules().map(|rule| rule.name().len()).max().unwrap_or(0);
    let mut out = String::new();
    for set in RuleSet::ALL {
        let mut rules = rules().filter(|rule| rule.set() == set).peekable();
        if rules.peek().is_some() {
            let _ = writeln!(out, "{}{}", if out.is_empty() { "" } else { "\n" }, set.name());
        }
        for rule in rules {
            let _ = writeln!(out, "  {:width$}  {}", rule.name(), body(rule));
        }
    }
    print(&out)
}

/// The text of a rule without its name and set.
fn body(rule: &Rule) -> &str {
    rule.text().split_once(':').map_or(rule.text(), |(_, body)| body).trim()
}

fn object(rule: &Rule) -> Json {
    json!({
        "name": &**rule.name(),
        "set": rule.set().name(),
        "text": rule.text(),
        "place": rule.place(),
    })
}

/// Prints the page of a rule, which says what it has been tested on.
fn page(name: &str, args: &Args, tool: &Tool) -> Outcome {
    let rules: &RewriteRules = tool.extensions.get();
    let Some(rule) = rules.find(name) else {
        let error = Diagnostic::error(format!("there is no rule `{name}`"));
        let near = suggest(name, rules.all().map(|rule| &**rule.name()));
        let lists = || format!("`{} rules` lists all rules", tool.name());
        let help = near.map_or_else(lists, |near| format!("did you mean `{near}`?"));
        return Err(error.help(help).into());
    };
    let tested = test_rewrite(&tool.context(), rule, &args.options());
    if args.json {
        return print_json(&tested_object(&tested));
    }
    let used: Vec<&str> =
        Math::ALL.into_iter().filter(|&math| rule.set().is_used_by(math)).map(Math::name).collect();
    let mut out = format!("{}\n\n", rule.text());
    let _ = writeln!(out, "set: {}, used under math={}", rule.set().name(), used.join("|"));
    let _ = writeln!(out, "place: {}", rule.place());
    let _ = writeln!(out, "tested: {}", summary(&tested));
    print(&out)
}

/// The outcome of the tests of a rule, in a line.
fn summary(report: &RewriteReport) -> String {
    let RewriteReport { typings, compared, skipped, failure, .. } = report;
    let choices = if *typings == 1 { "choice" } else { "choices" };
    let inputs =
        format!("{typings} {choices} of types, {compared} inputs compared, {skipped} left out");
    match failure {
        None => format!("it holds; {inputs}"),
        Some(failure) => format!("it {failure}; {inputs}"),
    }
}

fn tested_object(report: &RewriteReport) -> Json {
    let mut object = object(&report.rule);
    object["typings"] = json!(report.typings);
    object["compared"] = json!(report.compared);
    object["skipped"] = json!(report.skipped);
    object["failure"] = json!(report.failure.as_ref().map(ToString::to_string));
    object
}

/// The rules of a file alone, and the text with its name.
fn read(file: &Path, tool: &Tool) -> Result<(RewriteRules, Input), Failed> {
    let input = Input::read(file, Some(Language::Ir))?;
    let mut rules = RewriteRules::default();
    rules.add(tool.ops(), &input.name, &input.text)?;
    if rules.all().len() == 0 {
        return Err(Failed::message(format!("there is no rule in {}", input.name)));
    }
    Ok((rules, input))
}

fn test(file: &Path, args: &Args, tool: &Tool) -> Outcome {
    let (rules, input) = read(file, tool)?;
    let ctx = tool.context();
    let reports = test_rewrites(&ctx, &rules, &args.options());
    let mut all = tool.extensions.get::<RewriteRules>().clone();
    all.add(tool.ops(), &input.name, &input.text)?;
    let contradictions = test_rewrite_sets(&ctx, &all);
    let errors = reports.iter().filter_map(RewriteReport::diagnostic);
    let errors: Vec<Diagnostic> =
        errors.chain(contradictions.iter().map(Contradiction::diagnostic)).collect();
    if args.json {
        let clash = |clash: &Contradiction| {
            let names: Vec<&str> = clash.rules.iter().map(|name| &**name).collect();
            let Contradiction { math, constants, steps, .. } = clash;
            json!({"math": math.name(), "constants": constants, "rules": names, "steps": steps})
        };
        print_json(&json!({
            "rules": reports.iter().map(tested_object).collect::<Vec<_>>(),
            "contradictions": contradictions.iter().map(clash).collect::<Vec<_>>(),
        }))?;
    } else {
        let width = reports.iter().map(|report| report.rule.name().len()).max().unwrap_or(0);
        let line = |report: &RewriteReport| {
            format!("{:width$}  {}\n", report.rule.name(), summary(report))
        };
        print(&reports.iter().map(line).collect::<String>())?;
    }
    finish(errors)
}

/// The outcome of a command that has found these mistakes.
fn finish(errors: Vec<Diagnostic>) -> Outcome {
    if errors.is_empty() { Ok(()) } else { Err(errors.into()) }
}

fn prove(file: &Path, args: &Args, tool: &Tool) -> Outcome {
    let (rules, _) = read(file, tool)?;
    let questions = rewrite_questions(&tool.context(), &rules);
    if args.smt {
        let texts = questions.iter().filter_map(|question| question.text.as_ref().ok());
        return print(&texts.map(|text| format!("{text}(reset)\n")).collect::<String>());
    }
    let proofs = prove_rewrites(&questions, &args.solver, args.time_limit).map_err(|error| {
        let help =
            "install z3 (https://github.com/Z3Prover/z3), or name its command with `--solver`";
        Failed::from(Diagnostic::error(error).help(help))
    })?;
    // The answers for a rule stand one after the other.
    let answers: Vec<_> = questions.iter().zip(&proofs).collect();
    let by_rule: Vec<_> = answers.chunk_by(|a, b| a.0.rule.name() == b.0.rule.name()).collect();
    let wrong = |proof: &Proof| matches!(proof, Proof::Refuted(_));
    let errors = answers.iter().filter(|(_, proof)| wrong(proof)).map(|(question, proof)| {
        let (name, types) = (question.rule.name(), &question.types);
        let error = Diagnostic::error(format!("rule `{name}` at {types} is {proof}"));
        error.note(format!("{}: {}", question.rule.place(), question.rule.text()))
    });
    if args.json {
        let answer = |(question, proof): &(&regraft_testing::RewriteQuestion, &Proof)| json!({"types": question.types, "answer": proof.to_string()});
        let rules = by_rule.iter().map(|answers| {
            let mut object = object(&answers[0].0.rule);
            object["answers"] = answers.iter().map(answer).collect();
            object
        });
        print_json(&json!({"rules": rules.collect::<Vec<_>>()}))?;
    } else {
        let width = by_rule.iter().map(|answers| answers[0].0.rule.name().len()).max();
        let width = width.unwrap_or(0);
        let mut out = String::new();
        for answers in &by_rule {
            // Types with the same answer share it.
            let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
            for (question, proof) in *answers {
                let answer = proof.to_string();
                match groups.iter_mut().find(|(other, _)| *other == answer) {
                    Some((_, types)) => types.push(&question.types),
                    None => groups.push((answer, vec![&question.types])),
                }
            }
            let groups =
                groups.iter().map(|(answer, types)| format!("{answer} ({})", types.join("; ")));
            let groups = groups.collect::<Vec<_>>().join(", ");
            let _ = writeln!(out, "{:width$}  {groups}", answers[0].0.rule.name());
        }
        let count = |is: fn(&Proof) -> bool| proofs.iter().filter(|proof| is(proof)).count();
        let _ = writeln!(
            out,
            "\n{} questions proved, {} refuted, {} timed out, {} not asked",
            count(|proof| *proof == Proof::Proved),
            count(|proof| matches!(proof, Proof::Refuted(_))),
            count(|proof| *proof == Proof::TimedOut),
            count(|proof| matches!(proof, Proof::NotAsked(_))),
        );
        print(&out)?;
    }
    finish(errors.collect())
}
