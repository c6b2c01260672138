//! The command as users get it.

use std::path::PathBuf;

/// The command as it is published (`cargo build --profile dist`), beside the folder in which benchmarks are built; `None`, and a word about it, if it
/// is not there.
pub fn published() -> Option<PathBuf> {
    let here = std::env::current_exe().ok()?;
    let command = here.ancestors().nth(3)?.join("dist/regraft");
    if command.is_file() {
        return Some(command);
    }
    println!("`regraft` is not measured: `cargo build --profile dist` first");
    None
}
