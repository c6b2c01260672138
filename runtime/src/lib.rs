//! Runs functions of object files that `regraft emit --object` wrote.
//!
//! Programs in C link the static library of this crate, and call the functions that a header declares. In Rust the text that
//! `regraft emit --rust` writes is a module with functions, each of which calls a [`Linked`] one:
//!
//! ```
//! use regraft_runtime::{ByRef, Diagnostic, Image, Linked};
//!
//! fn sum(x: &[f64], image: fn() -> &'static Image) -> Result<f64, Diagnostic> {
//!     let function = Linked::<((ByRef<[f64]>,), f64)>::new(image);
//!     function.call((x,))
//! }
//! ```
//!
//! There is no compiler in it: code comes from the object file, and functions that handle errors are interpreted.

mod c;
mod linked;

use regraft_ir::Module;
use regraft_syntax::parse_module;

pub use self::linked::Linked;
pub use regraft_exec::typed::c::Image;
pub use regraft_exec::typed::{ByMut, ByRef, ByValue, InPlace, Nothing};
pub use regraft_ir::Diagnostic;

#[cfg(feature = "ndarray")]
pub use ndarray;

/// Reads the functions of an image, in a context of their own.
fn parse(text: &str) -> Result<Module, Vec<Diagnostic>> {
    parse_module(&regraft_dialects::context(), "object file", text)
}
