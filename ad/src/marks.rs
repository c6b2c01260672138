//! Attributes of functions that mark derivatives.
//!
//! ```text
//! func @f.jvp(%1: f64, %2: f64) -> tuple<f64, f64> {jvp_of=@f}
//! ```

/// The attribute of the derivative of a function in forward mode.
pub const JVP_OF: &str = "jvp_of";
/// The attribute of the forward part of a derivative in reverse mode.
pub const FORWARD_OF: &str = "forward_of";
/// The attribute of the reverse part.
pub const REVERSE_OF: &str = "reverse_of";
/// The attribute of the reverse part that says which parts of the tape are shadows, counted from 1, in groups: `3,5|7`.
/// No shadow is an object that is another part. Shadows of different groups are different objects.
pub const SHADOWS: &str = "shadows";
/// The attribute of the function that calls one part after the other.
pub const VJP_OF: &str = "vjp_of";
