//! The text of the code that a function is compiled to.

use super::code::Code;
use super::machine::runtime;
use super::print::print;
use super::world::World;
use super::{CodeForm, Interpreter};
use crate::error::{ErrorKind, Trap};
use crate::native::{llvm_text, obstacle};

impl World {
    /// A function, and all that it calls directly, in the order in which they are met.
    pub(super) fn reachable(&self, root: u32) -> Result<Vec<&Code>, Trap> {
        let mut found = vec![self.code(root)?];
        let mut next = 0;
        while let Some(&code) = found.get(next) {
            for site in &code.calls {
                // What cannot be compiled makes its error when it is called.
                let Ok(callee) = self.code(site.callee) else { continue };
                if found.iter().all(|code| code.slot != callee.slot) {
                    found.push(callee);
                }
            }
            next += 1;
        }
        Ok(found)
    }

    fn emit(&self, root: u32, form: CodeForm) -> Result<String, Trap> {
        let found = self.reachable(root)?;
        if form == CodeForm::Compact {
            let name_of = |slot: u32| self.ctx.str(self.slot(slot).name).to_owned();
            let texts: Vec<String> =
                found.iter().map(|code| print(code, &self.ctx, &name_of)).collect();
            return Ok(texts.join("\n"));
        }
        let wrong = |message: String| Trap::of_kind(ErrorKind::Module, message);
        if let Some(why) = obstacle(found[0]) {
            let name = self.ctx.str(found[0].name);
            return Err(wrong(format!("the interpreter runs @{name}: it {why}")));
        }
        let members = self.unit(root)?;
        let (callee, runtime) = (self.callees(&members, false), runtime());
        let sources = self.sources(&members, &callee, &runtime, false);
        llvm_text(&sources, form).map_err(wrong)
    }
}

impl Interpreter {
    /// The code of a function and of all that it calls directly, as text.
    ///
    /// # Errors
    /// If there is no such function, if there is no native code for it, and if LLVM is needed and is not there.
    pub fn emit(&mut self, function: &str, form: CodeForm) -> Result<String, crate::ExecError> {
        let slot = self.find(function).map_err(|trap| self.not_started(trap))?;
        self.world.emit(slot, form).map_err(|trap| self.not_started(trap))
    }
}
