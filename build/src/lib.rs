//! Compiles functions with Regraft in build scripts.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), String> {
//!     regraft_build::Call::new("src/axpy.jl", "axpy!(Vector{Float64}, Float64, Vector{Float64})")
//!         .name("axpy")
//!         .compile()
//! }
//! ```
//!
//! The functions are those of a module, which a crate that depends on `regraft-runtime` includes:
//!
//! ```text
//! mod compiled {
//!     include!(concat!(env!("OUT_DIR"), "/axpy.rs"));
//! }
//! let sum = compiled::axpy(&mut y, 0.5, &x)?;
//! ```
//!
//! # Method
//! The command `regraft` does the work, so that a build script stays small. It is that on the path, or the one that the environment
//! variable `REGRAFT` names.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A function to be compiled: a file, and a call that says the types of its arguments.
#[derive(Clone, Debug)]
pub struct Call {
    file: PathBuf,
    call: String,
    name: Option<String>,
    gradient: Option<Vec<String>>,
    native: bool,
}

impl Call {
    /// The function that a call runs, such as `f(Float64, Vector{Float64})`, after the script in a file.
    pub fn new(file: impl Into<PathBuf>, call: impl Into<String>) -> Self {
        let (file, call) = (file.into(), call.into());
        Self { file, call, name: None, gradient: None, native: false }
    }

    /// Says what the function is called in Rust. Otherwise it is called as in the program, up to the first character
    /// that is no letter, digit or `_`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds the gradient, a function `NAME_gradient`.
    #[must_use]
    pub fn gradient(self) -> Self {
        self.gradient_by::<&str>([])
    }

    /// Adds the gradient by these parameters, given by their names or by their numbers from 1; by all if there are none. The
    /// others are constants to it.
    #[must_use]
    pub fn gradient_by<P: Into<String>>(mut self, parameters: impl IntoIterator<Item = P>) -> Self {
        self.gradient = Some(parameters.into_iter().map(Into::into).collect());
        self
    }

    /// Makes code for the CPU of this machine, in place of all of its architecture.
    #[must_use]
    pub fn for_this_cpu(mut self) -> Self {
        self.native = true;
        self
    }

    /// Compiles the function to a static library and a module `NAME.rs` in the folder `OUT_DIR`, and tells cargo to
    /// link the library, and when to do it again.
    ///
    /// # Errors
    /// If this is no build script, or if the command is not there or fails; its messages are the error.
    pub fn compile(&self) -> Result<(), String> {
        let folder = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: this is no build script")?;
        let folder = Path::new(&folder);
        let tool = env::var_os("REGRAFT").unwrap_or_else(|| "regraft".into());
        let name = self.name_in_rust();
        println!("cargo::rerun-if-changed={}", self.file.display());
        println!("cargo::rerun-if-env-changed=REGRAFT");
        let library = format!("regraft_{name}");
        let mut command = Command::new(&tool);
        command.arg("emit").arg(&self.file).arg(&self.call).args(["--name", name]);
        command.arg("--object").arg(folder.join(format!("lib{library}.a")));
        command.arg("--rust").arg(folder.join(format!("{name}.rs")));
        command.args(self.gradient.iter().map(|by| format!("--gradient={}", by.join(","))));
        command.args(["--cpu", if self.native { "native" } else { "any" }]);
        let output = command.output().map_err(|error| {
            format!(
                "cannot run `{}`: {error}; REGRAFT names the command if it is not on the path",
                tool.display()
            )
        })?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rustc-link-lib=static={library}");
        Ok(())
    }

    fn name_in_rust(&self) -> &str {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.call.find(|c| !is_plain(c)).unwrap_or(self.call.len());
        self.name.as_deref().unwrap_or(&self.call[..end])
    }
}
