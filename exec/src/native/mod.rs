//! Native code: compiled from the compact form that the interpreter runs, and run on its stacks.
//!
//! ```text
//! typed IR ──compile──> compact form ──translate──> emitter: Cranelift ──> machine code
//!                          │                        emitter: LLVM IR ──> machine code
//!                          └──> interpreter
//! ```
//!
//! # Method
//! A compiled function and an interpreted one have the same frame: a window of the stack of scalars, and
//! one of the stack of values. Scalars live in registers of the machine, and stand in their window
//! only while a function of the runtime looks at them. So everything that the interpreter can do is at hand for
//! what is not worth code of its own: an instruction is done by the runtime on the frame
//! ([`functions`]), and whatever goes wrong makes the same error at the same place, as the runtime
//! runs the instruction once more that the code found it could not.
//!
//! A compiled function returns a status beside its result. Nothing unwinds the stack of the machine,
//! and no signal is caught.
//!
//! # Parts
//! [`emitter`] is the interface of back ends. [`translate`] walks over the compact form and calls it.
//! [`cranelift`] and [`llvm`] are back ends. [`unit`] holds machine code and what it depends on. [`context`] and [`functions`]
//! are what code finds when it runs. [`image`] and [`references`] are what an object file holds of a unit beside code.

// Machine code is called by its address, and calls back with addresses of what it works on.
#![allow(unsafe_code)]
// A library without compilers runs what the translation has been used for before.
#![cfg_attr(not(feature = "jit"), allow(dead_code))]

use std::rc::Rc;

use crate::engine::EngineKind;

mod context;
#[cfg(feature = "jit")]
mod cranelift;
mod emitter;
mod functions;
mod hash_tables;
mod image;
#[cfg(feature = "jit")]
mod llvm;
mod math;
mod references;
mod source;
#[cfg(feature = "jit")]
pub(crate) mod ticker;
mod translate;
mod unit;
mod whole_arrays;

pub(crate) use self::context::{Compiled, Native, NativeContext};
#[cfg(feature = "jit")]
pub use self::cranelift::Cpu;
#[cfg(feature = "jit")]
pub(crate) use self::cranelift::{CEntry, CParam, ObjectFile, Word};
pub(crate) use self::emitter::{Arg, Callee, Function, Target, Touches};
pub(crate) use self::functions::{DONE, LEFT, Runtime};
pub use self::image::Image;
pub(crate) use self::image::hash_of;
#[cfg(feature = "jit")]
pub use self::llvm::allow_background_code;
#[cfg(feature = "jit")]
pub(crate) use self::llvm::{Delivery, Order, is_at_hand, llvm_text};
pub(crate) use self::references::table;
pub(crate) use self::source::Source;
pub(crate) use self::translate::obstacle;
#[cfg(feature = "jit")]
pub(crate) use self::unit::MachineCode;
pub(crate) use self::unit::{Backend, Loop, Unit};

/// The forms of the code of a function that can be looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeForm {
    /// The compact form, which the interpreter runs and native code is made from.
    Compact,
    /// LLVM IR. Addresses are names in it, so it is the same in every run.
    Llvm,
    /// LLVM IR after the passes.
    LlvmOptimized,
    /// LLVM IR after LLVM's passes.
    Assembly,
}

/// The back end of an engine; the interpreter has none.
///
/// # Errors
/// If there is none for this machine.
pub(crate) fn backend(kind: EngineKind) -> Result<Option<Rc<dyn Backend>>, String> {
    Ok(match kind {
        EngineKind::Interpreter => None,
        #[cfg(not(feature = "jit"))]
        _ => return Err("there are no compilers in this library".to_owned()),
        #[cfg(feature = "jit")]
        EngineKind::Llvm => Some(llvm::Llvm::of_thread()?),
        #[cfg(feature = "jit")]
        EngineKind::Cranelift | EngineKind::Auto => Some(cranelift::Cranelift::of_thread()?),
    })
}

/// The engines for native code that this machine has: Cranelift, and if its library is there LLVM, and both in turn.
pub fn native_engines() -> Vec<EngineKind> {
    let kinds: &[EngineKind] = match backend(EngineKind::Llvm) {
        Ok(_) => &[EngineKind::Cranelift, EngineKind::Llvm, EngineKind::Auto],
        Err(_) => &[EngineKind::Cranelift],
    };
    kinds.iter().copied().filter(|&kind| backend(kind).is_ok()).collect()
}

/// Does nothing, as nothing is made.
#[cfg(not(feature = "jit"))]
pub fn allow_background_code(_: bool) {}

/// The text of a unit for LLVM.
///
/// # Errors
/// Always: LLVM is not there.
#[cfg(not(feature = "jit"))]
pub(crate) fn llvm_text(_: &[Source<'_>], _: CodeForm) -> Result<String, String> {
    Err("there are no compilers in this library".to_owned())
}
