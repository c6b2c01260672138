//! The start of a session beyond the prelude: files that dialects bring with them, and
//! dynamos.

use std::fmt;
use std::sync::{Arc, LazyLock};

use regraft_ir::{Diagnostic, Extension, Type};

use crate::world::{Code, DynamoCx, World};

/// Changes a world.
pub type Setup = fn(&mut World) -> Result<(), Vec<Diagnostic>>;

/// Makes the code of a dynamo that all sessions have: see [`Session::dynamo`](crate::Session::dynamo).
pub type SharedDynamo =
    dyn Fn(&mut DynamoCx<'_>, &[Type]) -> Result<Code, Vec<Diagnostic>> + Send + Sync;

/// The files and dynamos that every session starts with, after the prelude.
///
/// ```
/// use regraft_lang::{Session, StartUp};
/// use regraft_ir::Context;
///
/// let mut extensions = regraft_ad::extensions();
/// extensions.edit::<StartUp>().file("own.jl", "half(x::Float64) = arith.mul(x, 0.5)\n");
/// let mut session = Session::new(&Context::with_extensions(&extensions.into()));
/// let value = session.run("f.jl", "half(3.0)").unwrap();
/// assert_eq!(value.as_f64(), Some(1.5));
/// ```
#[derive(Clone)]
pub struct StartUp {
    files: Vec<(&'static str, &'static str)>,
    setups: Vec<Setup>,
    dynamos: Vec<(String, Arc<SharedDynamo>)>,
}

impl StartUp {
    /// Adds a file: its name, and its text, which is read as a file of the
    /// prelude is: `dialect.op(x)` calls an op.
    pub fn file(&mut self, name: &'static str, text: &'static str) -> &mut Self {
        self.files.push((name, text));
        self
    }

    /// Adds a change that is made to the world after the files were run.
    pub fn setup(&mut self, setup: Setup) -> &mut Self {
        self.setups.push(setup);
        self
    }

    /// Adds a dynamo: see [`Session::dynamo`](crate::Session::dynamo).
    pub fn dynamo(
        &mut self,
        signature: &str,
        f: impl Fn(&mut DynamoCx<'_>, &[Type]) -> Result<Code, Vec<Diagnostic>> + Send + Sync + 'static,
    ) -> &mut Self {
        self.dynamos.push((signature.to_owned(), Arc::new(f)));
        self
    }

    pub(crate) fn dynamos(&self) -> impl Iterator<Item = (&str, Arc<SharedDynamo>)> {
        self.dynamos.iter().map(|(signature, f)| (&**signature, Arc::clone(f)))
    }

    pub(crate) fn files(&self) -> &[(&'static str, &'static str)] {
        &self.files
    }

    pub(crate) fn setups(&self) -> &[Setup] {
        &self.setups
    }
}

impl Extension for StartUp {
    fn builtin() -> &'static Self {
        static BUILTIN: LazyLock<StartUp> = LazyLock::new(|| StartUp {
            files: Vec::new(),
            setups: Vec::new(),
            dynamos: Vec::new(),
        });
        &BUILTIN
    }
}

impl fmt::Debug for StartUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.files.iter().map(|&(name, _)| name).collect();
        write!(
            f,
            "files {}, {} setups, {} dynamos",
            names.join(", "),
            self.setups.len(),
            self.dynamos.len()
        )
    }
}
