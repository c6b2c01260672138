//! The LLVM back end: LLVM IR text, and a library that is loaded at run time.
//!
//! [`text`] and [`writer`] write a unit as text: [`areas`] the kinds of memory, [`lanes`] what vectorised loops may
//! call. [`library`] finds LLVM, [`jit`] has it make machine
//! code of the text, [`background`] does so while other code runs.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;
use std::sync::Arc;

use self::jit::{Effort, Jit, Memory, Target};
use super::CodeForm;
use super::context::{Compiled, Entry};
use super::source::Source;
use super::unit::{Backend, MachineCode, compiler_in};

mod areas;
mod background;
mod jit;
mod lanes;
mod library;
mod scopes;
mod shared;
mod text;
mod value;
mod writer;

use self::shared::Style;
use self::text::{UnitText, write_unit};

/// Code without loops that is longer gets little effort: the time for it would never come back.
const LONG: usize = 100;

pub use self::background::allow_background_code;
pub(crate) use self::background::{Delivery, Order, is_at_hand};

/// The compiler for the CPU that it runs on.
pub(crate) struct Llvm {
    target: Target,
    jit: OnceCell<Arc<Jit>>,
    /// The number of units.
    units: Cell<u32>,
}

impl Llvm {
    /// The compiler of this thread.
    ///
    /// # Errors
    /// If there is no library.
    pub(crate) fn of_thread() -> Result<Rc<Self>, String> {
        thread_local! {
            static COMPILER: OnceCell<Rc<Llvm>> = const { OnceCell::new() };
        }
        compiler_in(&COMPILER, Self::new)
    }

    fn new() -> Result<Self, String> {
        Ok(Self { target: Target::new()?, jit: OnceCell::new(), units: Cell::new(0) })
    }

    fn jit(&self) -> Result<&Arc<Jit>, String> {
        if let Some(jit) = self.jit.get() {
            return Ok(jit);
        }
        let jit = Arc::new(Jit::new(&self.target)?);
        Ok(self.jit.get_or_init(|| jit))
    }
}

/// The text of a unit in one of its forms.
///
/// # Errors
/// If the library is needed and is not there.
pub(crate) fn llvm_text(members: &[Source<'_>], form: CodeForm) -> Result<String, String> {
    let unit = write_unit(members, Style { named_addresses: true, ..Style::default() });
    if form == CodeForm::Llvm {
        return Ok(unit.text);
    }
    let (target, effort) = (Target::new()?, effort(&unit));
    let module = target.optimized(&unit.text, effort)?;
    if form == CodeForm::Assembly { target.assembly(&module, effort) } else { Ok(module.text()) }
}

fn effort(unit: &UnitText) -> Effort {
    if unit.has_loop || unit.instructions < LONG { Effort::Full } else { Effort::Little }
}

impl Backend for Llvm {
    fn compile(
        &self,
        members: &[Source<'_>],
    ) -> Result<(Rc<dyn MachineCode>, Vec<Compiled>), String> {
        let number = self.units.get();
        self.units.set(number + 1);
        let unit = write_unit(members, Style { unit: Some(number), ..Style::default() });
        let (memory, compiled) = self.make(&unit)?;
        Ok((Rc::new(memory), compiled))
    }
}

impl Llvm {
    /// Makes the code of a unit.
    fn make(&self, unit: &UnitText) -> Result<(Memory, Vec<Compiled>), String> {
        let effort = effort(unit);
        let module = self.target.optimized(&unit.text, effort)?;
        let jit = self.jit()?;
        let memory = jit.add(&self.target, &module, effort, &unit.symbols)?;
        let compiled = unit.names.iter().map(|(body, entry)| {
            let entry = jit.address(entry)?;
            // SAFETY: `write_unit` has given it this signature.
            let entry = unsafe { std::mem::transmute::<*const u8, Entry>(entry) };
            Ok(Compiled { entry, body: jit.address(body)? })
        });
        Ok((memory, compiled.collect::<Result<_, String>>()?))
    }
}
