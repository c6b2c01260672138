//! Programs in C, as the compilers of this machine make them.

#![allow(unsafe_code, reason = "C is loaded")]

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use libloading::Library;
use regraft_ir::Diagnostic;

/// The compilers that are looked for.
const COMPILERS: [&str; 3] = ["gcc", "clang", "cc"];

/// The compilers of C that this machine has; `cc` only where there is no other.
pub fn compilers() -> Vec<&'static str> {
    let mut all = Vec::new();
    for compiler in COMPILERS {
        let is_there = Command::new(compiler).arg("--version").output().is_ok();
        if is_there && (compiler != "cc" || all.is_empty()) {
            all.push(compiler);
        }
    }
    all
}

/// The library that a compiler makes of a source file with these options, loaded. Nothing of ours may run when it is loaded.
///
/// # Errors
/// If it cannot be compiled or loaded.
pub fn compile(compiler: &str, source: &Path, options: &[&str]) -> Result<Library, Diagnostic> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let failed = |error: String| Diagnostic::error(format!("{compiler}: {error}"));
    let made = MADE.fetch_add(1, Ordering::Relaxed);
    let name = format!("regraft-bench-{}-{made}-{compiler}.so", std::process::id());
    let library = std::env::temp_dir().join(name);
    let mut command = Command::new(compiler);
    command.args(options).args(["-shared", "-fPIC"]).arg(source).arg("-o").arg(&library);
    let output = command.arg("-lm").output().map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    // SAFETY: nothing of it runs when it is loaded.
    let loaded = unsafe { Library::new(&library) }.map_err(|error| failed(error.to_string()));
    // What is loaded stays; nothing is lost if the file does.
    let _ = std::fs::remove_file(&library);
    loaded
}
