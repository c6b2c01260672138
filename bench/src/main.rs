//! The `regraft-bench` command: what other people's programs do here.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use regraft_bench::lecture::{Answer, Extras, blocks};
use regraft_bench::llvm::compare;
use regraft_bench::peers::{
    Baseline, CASES, Caller, Case, Figure, System, measure, measure_baseline, ratios, table,
};
use regraft_bench::pieces::{Counts, causes, files, run};
use regraft_exec::EngineKind;
use regraft_ir::{Diagnostic, render_all};
use regraft_passes::rewrite::Math;

/// Measures Regraft on programs that the user names.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs every top-level piece of the `.jl` files of a folder at the prompt, and counts.
    Julia {
        /// Folders and files.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// A file that is run before each of them.
        #[arg(long, value_name = "FILE")]
        setup: Option<PathBuf>,
        /// Shows every piece that fails.
        #[arg(long)]
        failures: bool,
        /// The number of causes that are shown.
        #[arg(long, value_name = "N", default_value_t = 30)]
        causes: usize,
    },
    /// Pastes the code of a Markdown document into the prompt, block by block, and compares what is printed with what the
    /// document shows.
    Lecture {
        /// The document.
        file: PathBuf,
        /// The `regraft` command; beside this one if it is not given.
        #[arg(long, value_name = "FILE")]
        prompt: Option<PathBuf>,
        /// Code that is run before a block, `12: x = 1`; blocks are counted from 1.
        #[arg(long, value_name = "N: CODE")]
        before: Vec<String>,
        /// The input whose result a block shows, `12: ir`.
        #[arg(long, value_name = "N: CODE")]
        value: Vec<String>,
        /// A file that holds a block, for those that include it: `12: profiler.jl`.
        #[arg(long, value_name = "N: NAME")]
        include: Vec<String>,
        /// Shows what is printed where it is not what the document shows, and errors.
        #[arg(long)]
        failures: bool,
    },
    /// Times the gradients of the ten cases that systems are compared by, beside adjoints in C where there is a compiler for them.
    Peers {
        /// Only cases with this in their name.
        #[arg(default_value = "")]
        name: String,
        /// The engines.
        #[arg(long, short, value_delimiter = ',', default_value = "cranelift")]
        engines: Vec<String>,
        /// Makes the gradients for the lengths of their arguments.
        #[arg(long)]
        for_lengths: bool,
        /// Calls gradients by values of the session, which make their shadows.
        #[arg(long)]
        session: bool,
        /// Lets floats follow the algebra of real numbers.
        #[arg(long)]
        fast: bool,
        /// Prints a line of JSON for each figure.
        #[arg(long)]
        json: bool,
    },
    /// Counts what sixty small functions execute after a pipeline, beside LLVM's -O2.
    Llvm {
        /// Only functions with this in their name.
        #[arg(default_value = "")]
        name: String,
        /// The pipeline.
        #[arg(long, short, default_value = "O2")]
        pipeline: String,
    },
}

/// A count is as good as LLVM's if it is at most this many times that.
const WITHIN: f64 = 1.1;

/// The bytes of stack for the programs.
const STACK: usize = 1 << 30;

fn main() -> ExitCode {
    let command = Arguments::parse().command;
    let work = move || match command {
        Command::Peers { name, engines, for_lengths, session, fast, json } => {
            let math = if fast { Math::Fast } else { Math::Exact };
            let caller = if session { Caller::Session } else { Caller::Rust };
            let figure = |case: &Case, kind| measure(case, kind, math, caller, for_lengths);
            peers(&name, &engines, json, math, figure)
        }
        Command::Julia { paths, setup, failures, causes } => {
            julia(&paths, setup.as_ref(), failures, causes)
        }
        Command::Lecture { file, prompt, before, value, include, failures } => {
            let list = |texts: &[String]| texts.iter().filter_map(|text| numbered(text)).collect();
            let extras =
                Extras { before: list(&before), values: list(&value), files: list(&include) };
            lecture(&file, prompt, &extras, failures)
        }
        Command::Llvm { name, pipeline } => llvm(&name, &pipeline),
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        Ok(Ok(Err(error))) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::FAILURE,
    }
}

fn julia(
    paths: &[PathBuf],
    setup: Option<&PathBuf>,
    show_failures: bool,
    most: usize,
) -> std::io::Result<()> {
    let setup = setup.map(std::fs::read_to_string).transpose()?;
    let mut total = Counts::default();
    let mut all = Vec::new();
    println!("{:>7} {:>7} {:>7} {:>7}  file", "pieces", "run", "tests", "pass");
    for path in paths {
        for file in files(path)? {
            let name = file.display().to_string();
            let (counts, failures) = run(&name, &std::fs::read_to_string(&file)?, setup.as_deref());
            row(counts, &name);
            if show_failures {
                for failure in &failures {
                    println!("{name}:{}: {}\n{}", failure.line, failure.error, failure.text);
                }
            }
            total.add(counts);
            all.extend(failures);
        }
    }
    row(total, "all");
    println!("\n{:>7} {:>7}  cause", "pieces", "tests");
    for (error, pieces, tests) in causes(&all).into_iter().take(most) {
        println!("{pieces:>7} {tests:>7.1}  {error}");
    }
    Ok(())
}

/// Times cases, by our engines and then by adjoints in C where there is a compiler for them.
fn peers(
    name: &str,
    engines: &[String],
    json: bool,
    math: Math,
    measure: impl Fn(&Case, EngineKind) -> Result<Figure, Vec<Diagnostic>>,
) -> std::io::Result<()> {
    let told = |errors: Vec<Diagnostic>| std::io::Error::other(render_all(&errors, false));
    let mut kinds = Vec::new();
    for engine in engines {
        match EngineKind::of_name(engine) {
            Some(kind) => kinds.push(kind),
            None => return Err(std::io::Error::other(format!("there is no engine `{engine}`"))),
        }
    }
    let baselines = Baseline::all(math).map_err(told)?;
    let ours = kinds.iter().map(|&kind| System::Regraft(kind));
    let by_c = baselines.iter().map(|baseline| System::C(baseline.compiler));
    let systems: Vec<System> = ours.chain(by_c).collect();
    let mut figures = Vec::new();
    for case in CASES.iter().filter(|case| case.name.contains(name)) {
        let ours = kinds.iter().map(|&kind| measure(case, kind));
        let by_c = baselines.iter().map(|baseline| measure_baseline(case, baseline));
        for (figure, system) in ours.chain(by_c).zip(&systems) {
            match figure {
                Ok(figure) => {
                    if json {
                        println!("{}", figure.json());
                    }
                    figures.push(figure);
                }
                Err(errors) => {
                    let text = render_all(&errors, false);
                    eprintln!("{} by {}:\n{text}", case.name, system.name());
                }
            }
        }
    }
    if !json {
        print!("{}", table(&figures, &systems));
        if !baselines.is_empty() {
            print!("\n{}", ratios(&figures, math));
        }
    }
    Ok(())
}

/// The number and the text of `12: text`.
fn numbered(text: &str) -> Option<(usize, String)> {
    let (number, text) = text.split_once(':')?;
    Some((number.trim().parse().ok()?, text.trim().to_owned()))
}

fn lecture(
    file: &Path,
    prompt: Option<PathBuf>,
    extras: &Extras,
    show_failures: bool,
) -> std::io::Result<()> {
    let prompt = match prompt {
        Some(prompt) => prompt,
        None => std::env::current_exe()?.with_file_name("regraft"),
    };
    let blocks = blocks(&std::fs::read_to_string(file)?);
    let folder = std::env::temp_dir().join(format!("regraft-lecture-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let answers = regraft_bench::lecture::run(&prompt, &folder, &blocks, extras);
    std::fs::remove_dir_all(&folder)?;
    let answers = answers?;
    println!(
        "{:>5} {:>5} {:>6} {:>7} {:>5} {:>5}  begins",
        "block", "line", "inputs", "refused", "shown", "equal"
    );
    let (mut all, mut equal) = (0, 0);
    for (at, (block, answers)) in blocks.iter().zip(&answers).enumerate() {
        let shown = answers.iter().filter_map(Answer::is_equal).count();
        let same = answers.iter().filter(|answer| answer.is_equal() == Some(true)).count();
        let refused = answers.iter().filter(|answer| answer.is_refused()).count();
        let first = block.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let (number, line, inputs) = (at + 1, block.line, answers.len());
        println!("{number:>5} {line:>5} {inputs:>6} {refused:>7} {shown:>5} {same:>5}  {first}");
        (all, equal) = (all + shown, equal + same);
        let failed = answers.iter().filter(|a| a.is_refused() || a.is_equal() == Some(false));
        for answer in failed.filter(|_| show_failures) {
            println!(
                "--- input\n{}\n--- printed\n{}---",
                answer.input.text.trim_end(),
                answer.printed
            );
        }
    }
    println!("\n{equal} of {all} results that are shown are printed");
    Ok(())
}

fn llvm(name: &str, pipeline: &str) -> std::io::Result<()> {
    let compared = compare(name, pipeline).map_err(|errors| {
        let told: Vec<_> = errors.iter().map(Diagnostic::message).collect();
        std::io::Error::other(told.join("\n"))
    })?;
    println!("| function | ours | LLVM | ours / LLVM | |\n|---|---:|---:|---:|---|");
    for (at, row) in compared.iter().enumerate() {
        if at == 0 || compared[at - 1].kind != row.kind {
            println!("| **{}** | | | | |", row.kind);
        }
        let (name, ours, llvm, ratio) = (row.name, row.ours, row.llvm, row.ratio());
        let note = match row.same {
            false => "computes something else",
            true if ratio > WITHIN => "more",
            true => "",
        };
        println!("| {name} | {ours} | {llvm} | {ratio:.2} | {note} |");
    }
    let within = compared.iter().filter(|row| row.ratio() <= WITHIN).count();
    println!("\n{within} of {} within 10 % of LLVM", compared.len());
    Ok(())
}

fn row(counts: Counts, name: &str) {
    let Counts { pieces, ran, tests, passed } = counts;
    println!("{pieces:>7} {ran:>7} {tests:>7} {passed:>7.1}  {name}");
}
