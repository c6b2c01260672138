//! What the ops on scalars compute.
//!
//! Constant folding and every engine call these functions, so that they agree by construction.
//! They are generic over the width, for an engine that knows it; [`eval_scalar`] is for those
//! who hold constants.
//!
//! Which NaN an arithmetic op gives (its sign, its payload, whether it is quiet) is up to the
//! machine, as in IEEE 754; everything else is exact to the bit.
//!
//! ```
//! use regraft_dialects::{arith, semantics::eval_scalar};
//! use regraft_ir::{Constant, Type};
//!
//! let sum = eval_scalar(arith::ADD, &[Constant::i64(2), Constant::i64(3)], Type::I64);
//! assert_eq!(sum.unwrap(), Ok(Constant::i64(5)));
//! ```

mod eval;
mod trap;

pub mod convert;
pub mod float;
pub mod int;
pub mod math;
pub mod special;

pub use eval::eval_scalar;
pub use float::Float;
pub use int::Int;
pub use trap::{Number, Trap, number_name};

pub use crate::types::{field_type, is_exact, is_subtype};
