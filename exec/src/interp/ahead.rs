//! Units of native code that stand in object files: their functions when one is written, and when it is loaded.
//!
//! Both sides compile the same text to compact code, and find the same functions in the same order. What could
//! differ all the same, if a library is of another state than the compiler, shows in a hash over the text and the
//! compact code.

use regraft_ir::Symbol;

use super::Interpreter;
use super::code::Code;
use super::machine::runtime;
use super::native::Member;
use super::print::print;
use super::world::World;
use crate::error::{ErrorKind, ExecError, Trap};
use crate::native::{Compiled, Image, Native, hash_of, obstacle, table};
#[cfg(feature = "jit")]
use crate::native::{Runtime, Source};

impl World {
    /// The functions of the unit of a function: all that there is native code for, of those that it calls directly.
    pub(super) fn unit(&self, root: u32) -> Result<Vec<Member<'_>>, Trap> {
        let found = self.reachable(root)?;
        let translatable = found.into_iter().filter(|code| obstacle(code).is_none());
        Ok(translatable.filter_map(|code| self.unchanged(code)).collect())
    }

    /// The hash of a text, and of the compact code that it is compiled to.
    fn hash(&self, text: &str, members: &[Member<'_>]) -> u64 {
        let name_of = |slot: u32| self.ctx.str(self.slot(slot).name).to_owned();
        let listings = members.iter().map(|member| print(member.code, &self.ctx, &name_of));
        let listings: Vec<String> = listings.collect();
        let parts: Vec<&str> =
            std::iter::once(text).chain(listings.iter().map(String::as_str)).collect();
        hash_of(&parts)
    }

    /// Takes over the code of an image.
    fn load(&mut self, slot: u32, image: &Image) -> Result<(), Trap> {
        let wrong = |message: &str| Err(Trap::of_kind(ErrorKind::Module, message.to_owned()));
        let members = self.unit(slot)?;
        if self.hash(image.text(), &members) != image.hash() {
            return wrong("the object file was made by another state of the library than this one");
        }
        let codes: Vec<&Code> = members.iter().map(|member| member.code).collect();
        let Some(table) = table(image.references(), &codes, &runtime()) else {
            return wrong("the object file refers to what the library does not have");
        };
        for (code, &entry) in codes.iter().zip(image.entries()) {
            // No other unit calls it.
            let body = std::ptr::null();
            code.native.set(Native::Ready(Compiled { entry, body }));
        }
        (self.natives.table, self.natives.is_loaded) = (table, true);
        Ok(())
    }
}

impl Interpreter {
    /// Gives the unit of a function to `write`, with its hash.
    #[cfg(feature = "jit")]
    pub(crate) fn with_unit<R>(
        &mut self,
        function: Symbol,
        text: &str,
        write: impl FnOnce(&[Source<'_>], &Runtime, u64) -> Result<R, String>,
    ) -> Result<R, ExecError> {
        let slot = self.slot_of(function)?;
        let world = &self.world;
        let written = world.unit(slot).and_then(|members| {
            let (callee, runtime) = (world.callees(&members, false), runtime());
            let sources = world.sources(&members, &callee, &runtime, false);
            let written = write(&sources, &runtime, world.hash(text, &members));
            written.map_err(|message| Trap::of_kind(ErrorKind::Module, message))
        });
        written.map_err(|trap| self.not_started(trap))
    }

    /// Takes over the native code of a function, and of all that it calls directly. Functions that there is no code for are
    /// interpreted. Returns the slot of the function.
    pub(crate) fn load_unit(&mut self, function: Symbol, image: &Image) -> Result<u32, ExecError> {
        let slot = self.slot_of(function)?;
        self.world.load(slot, image).map_err(|trap| self.not_started(trap))?;
        Ok(slot)
    }
}
