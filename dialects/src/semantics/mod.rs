//! The functions that ops on scalars compute.
//!
//! The declaration of an op names its function: `eval(int::fld)`. Constant folding and every engine
//! call it, so that they agree by construction. The functions are generic over the width;
//! [`dialect!`](crate::dialect) compiles them for each type of the class. [`eval_scalar`] takes
//! constants.
//!
//! Which NaN an arithmetic op gives (its sign, its payload, whether it is quiet) is up to the
//! machine, as in IEEE 754; everything else is exact to the bit.
//!
//! ```
//! use regraft_dialects::{arith, context, semantics::eval_scalar};
//! use regraft_ir::{Constant, Type};
//!
//! let ctx = context();
//! let sum = eval_scalar(ctx.def(arith::ADD), &[Constant::I64(2), Constant::I64(3)], Type::I64);
//! assert_eq!(sum.unwrap(), Ok(Constant::I64(5)));
//! ```

mod eval;

pub mod convert;
pub mod float;
pub mod int;
pub mod math;
pub mod scalar;
pub mod special;

pub use eval::{eval_scalar, from_slot, to_slot};
pub use float::Float;
pub use int::Int;
pub use scalar::{Outcome, Scalar};

pub use crate::ir::{Number, Trap, number_name};
pub use crate::types::{
    MOST_UNBOXED, field_type, field_types, is_exact, is_subtype, starts_defined, unboxed_parts,
};
