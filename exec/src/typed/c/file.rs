//! Object files with functions for C.

use regraft_ir::{Diagnostic, Module};

use super::forms::Form;
use super::function::CFunction;
use crate::interp::{Interpreter, Scalar};
use crate::native::{CEntry, CParam, Cpu, ObjectFile, Word};
use crate::typed::plan::check_closed;

/// An object file that is being written.
pub struct CFile(ObjectFile);

impl std::fmt::Debug for CFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CFile").finish_non_exhaustive()
    }
}

impl CFile {
    /// An empty one, for the operating system and the architecture of this machine.
    ///
    /// # Errors
    /// If there is no code generator for it.
    pub fn new(cpu: Cpu) -> Result<Self, Diagnostic> {
        Ok(Self(ObjectFile::new(cpu).map_err(Diagnostic::error)?))
    }

    /// Adds a function of a module, which was read from that text.
    ///
    /// # Errors
    /// If the module is not all that the function needs, or if there can be no code for it.
    pub fn add(
        &mut self,
        function: &CFunction,
        module: &Module,
        text: &str,
    ) -> Result<(), Diagnostic> {
        module.functions().try_for_each(|f| check_closed(module, f))?;
        let entry = entry(function);
        let mut interpreter = Interpreter::without_compiler(module);
        let file = &mut self.0;
        let added = interpreter.with_unit(function.function, text, |members, runtime, hash| {
            file.add(&entry, members, runtime, text, hash)
        });
        added.map_err(Diagnostic::from)
    }

    /// The file.
    ///
    /// # Errors
    /// If it would be too large for its format.
    pub fn finish(self) -> Result<Vec<u8>, Diagnostic> {
        self.0.finish().map_err(Diagnostic::error)
    }
}

/// The parameters in C, and the words that are passed on: a scalar is one, an array is its address and its lengths.
fn entry(function: &CFunction) -> CEntry<'_> {
    let (mut params, mut words) = (Vec::new(), Vec::new());
    // The numbers in C of the lengths of each parameter.
    let mut lengths: Vec<Vec<u32>> = Vec::new();
    for param in &function.params {
        let next = params.len() as u32;
        let mut of_param = Vec::new();
        match param.form {
            Form::Nothing | Form::Fields(_) => {}
            Form::Scalar(ty) => {
                params.extend(Scalar::of(ty).map(CParam::Scalar));
                words.push(Word::Param(next));
            }
            Form::Array { rank, .. } => {
                params.push(CParam::Word);
                words.push(Word::Param(next));
                match param.shadow_of {
                    None => {
                        of_param.extend(next + 1..=next + u32::from(rank));
                        params.extend(of_param.iter().map(|_| CParam::Word));
                    }
                    Some(of) => of_param.extend(&lengths[of.param]),
                }
                if of_param.is_empty() {
                    words.push(Word::One);
                }
                words.extend(of_param.iter().map(|&length| Word::Param(length)));
            }
        }
        lengths.push(of_param);
    }
    let has_result = function.result != Form::Nothing;
    CEntry { name: &function.name, params, words, has_result }
}
