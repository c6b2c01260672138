//! Each state of each function, into a folder.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use regraft_ir::{Diagnostic, Module};
use rustc_hash::FxHasher;

use super::{Execution, Log, Observer, Unit};
use crate::pipeline::Pipeline;

/// Writes a file after each pass: `FOLDER/FUNCTION/0003-PASS.ir`, numbered by function. Passes
/// that change nothing leave out their number. The state before the first pass is
/// `FOLDER/0000-input.ir`; module passes write `FOLDER/0002-PASS.ir`.
#[derive(Clone, Debug)]
pub struct DumpFolder {
    folder: PathBuf,
}

impl DumpFolder {
    /// Writes into `folder`, which is made if it is not there. Files of the same names are
    /// overwritten.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), Vec<Diagnostic>> {
        let parent = path.parent().unwrap_or(&self.folder);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(path, text))
            .map_err(|e| vec![Diagnostic::error(format!("cannot write {}: {e}", path.display()))])
    }
}

impl Observer for DumpFolder {
    fn name(&self) -> &'static str {
        "the folder of states"
    }

    fn begin(&self, module: &Module, _: &Pipeline, _: &mut Log) -> Result<(), Vec<Diagnostic>> {
        self.write(&self.folder.join("0000-input.ir"), &module.to_string())
    }

    fn after(&self, execution: &Execution<'_>, _: &mut Log) -> Result<(), Vec<Diagnostic>> {
        if !execution.changed {
            return Ok(());
        }
        let pass_run = execution.pass_run;
        let file = format!("{:04}-{}.ir", pass_run.number, pass_run.pass.name());
        match execution.after {
            Unit::Function(f) => {
                let path = self.folder.join(file_name(f.name_str())).join(file);
                self.write(&path, &f.to_string())
            }
            Unit::Module(m) => self.write(&self.folder.join(file), &m.to_string()),
        }
    }
}

/// A name for a file made of the name of a function: the same for the same name, different for
/// different ones, also on file systems that take few characters or ignore case.
pub(crate) fn file_name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !name.is_empty() && name.len() <= 64 && name.chars().all(plain) {
        return name.to_owned();
    }
    let kept: String =
        name.chars().take(48).map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let mut hasher = FxHasher::default();
    name.hash(&mut hasher);
    format!("{kept}-{:08x}", hasher.finish() as u32)
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn plain_names_are_kept_and_others_told_apart() {
        assert_eq!(file_name("foo_2"), "foo_2");
        assert_ne!(file_name("foo!"), file_name("foo?"));
        assert!(file_name("../../etc/x").starts_with("______etc_x-"));
        assert!(file_name(&"x".repeat(1000)).len() < 64);
    }
}
