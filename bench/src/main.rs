//! The `regraft-bench` command: what other people's programs do here.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use regraft_bench::pieces::{Counts, causes, files, run};

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
}

/// The bytes of stack for the programs.
const STACK: usize = 1 << 30;

fn main() -> ExitCode {
    let Command::Julia { paths, setup, failures, causes } = Arguments::parse().command;
    let work = move || julia(&paths, setup.as_ref(), failures, causes);
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

fn row(counts: Counts, name: &str) {
    let Counts { pieces, ran, tests, passed } = counts;
    println!("{pieces:>7} {ran:>7} {tests:>7} {passed:>7.1}  {name}");
}
