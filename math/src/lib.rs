//! Elementary functions with the same bits as scalars and as vectors, on every CPU.
//!
//! Each function is written once, for any number of lanes, with operations of IEEE 754 alone: the
//! scalar form and those for two, four and eight lanes are compiled from the same lines. Where the CPU has no
//! fused multiply-add, it is computed in integers. Rare arguments (huge angles, results that are subnormal) are
//! computed one at a time. Results are correctly rounded but for a few in a thousand (`docs/performance.md` has a
//! table of errors).
//!
//! ```
//! use regraft_math::{Forms, exp};
//!
//! let mut out = [0.0; 3];
//! let outside = Forms::named("log").unwrap().map(&[&[1.0, exp(1.0), -1.0]], &mut out);
//! assert_eq!(out[..2], [0.0, 1.0]);
//! assert!(outside && out[2].is_nan());
//! ```

mod arithmetic;
mod atan;
mod dispatch;
mod double;
mod erf;
mod exp;
mod forms;
mod function;
mod hyperbolic;
mod lanes;
mod large_angle;
mod log;
mod pow;
mod roots;
mod tables;
mod trig;

pub use dispatch::*;
pub use forms::Forms;
