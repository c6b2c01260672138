//! The `regraft` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    regraft::cli::main_with(|_| {})
}
