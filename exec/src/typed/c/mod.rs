//! Functions of a program as functions of C.
//!
//! ```
//! use regraft_exec::typed::c::{CFile, CFunction, Cpu};
//!
//! let text = "func @twice(%x: f64) -> f64 {\n^1:\n  %1: f64 = arith.mul %x, 2.0\n  return %1\n}\n";
//! let module = regraft_syntax::parse_module(&regraft_dialects::context(), "twice", text).unwrap();
//! let twice = CFunction::of(&module, "twice", "twice").unwrap();
//! let mut file = CFile::new(Cpu::Any).unwrap();
//! file.add(&twice, &module, text).unwrap();
//! let object: Vec<u8> = file.finish().unwrap();
//! let prototype = "regraft_error *twice(double x, double *result);";
//! assert!(!object.is_empty() && twice.header().contains(prototype));
//! ```
//!
//! # Method
//! When a program is compiled, a [`CFunction`] says which parameters there are in C for those of a function, and
//! writes the [header]. The [object file](file) has machine code, and the functions as text. When the
//! function is first called, a [`Loaded`] function is made of that text, as a typed function of Rust is of a module;
//! what it runs is the machine code of the file.
//!
//! Arrays are lent, as slices of Rust are. C promises less than Rust, so what can be checked is: addresses, sizes, and
//! that an array that may be written to overlaps no other.

#[cfg(feature = "jit")]
mod file;
mod forms;
#[cfg(feature = "jit")]
mod function;
#[cfg(feature = "jit")]
mod header;
mod loaded;
mod memory;
#[cfg(feature = "jit")]
mod rust;

#[cfg(feature = "jit")]
pub use self::file::CFile;
pub use self::forms::Form;
#[cfg(feature = "jit")]
pub use self::function::{CFunction, Param, Shadowed, c_name};
#[cfg(feature = "jit")]
pub use self::header::header;
pub use self::loaded::Loaded;
pub(super) use self::loaded::read;
pub use self::memory::free;
#[cfg(feature = "jit")]
pub use crate::native::Cpu;
pub use crate::native::Image;
