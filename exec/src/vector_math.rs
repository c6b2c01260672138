//! Elementary functions for native code: addresses by op, as scalars, as lanes in registers, and as strips.
//!
//! All forms of a function give the bits that constant folding and the interpreter get, which call it by
//! [`semantics`](regraft_dialects::semantics::math). The types in C of a function of one argument (those of two
//! take another of each input):
//!
//! | form | symbol | type |
//! |---|---|---|
//! | [`Scalar`](Form::Scalar) | `regraft_math_exp` | `double f(double)` |
//! | [`Lanes`](Form::Lanes) of 2, 4, 8 | `regraft_math_exp_x4` | `f64x4 f(f64x4)`, in a vector register |
//! | [`Strip`](Form::Strip) | `regraft_math_exp_strip` | `bool f(const double *x, double *out, size_t n)` |
//!
//! Outside its domain a function is NaN, where the op raises a `DomainError`. For scalars and lanes, the caller
//! compares before the call, or looks for NaN after it; a strip returns whether there was an element whose result is
//! NaN and whose arguments are not. The strip is then computed again by the op, one element after the other, which
//! raises the error at its place. The output of a strip may be one of its inputs; apart from that it overlaps none.
//!
//! Values of type `f32` are converted to 64 bits, and the result is rounded, as the ops do.
//!
//! ```
//! use regraft_dialects::{arith, math};
//! use regraft_exec::vector_math::{Form, address, symbol};
//!
//! assert!(address(math::EXP, Form::Strip).is_some());
//! assert_eq!(symbol(math::EXP, Form::Lanes(4)).unwrap(), "regraft_math_exp_x4");
//! assert!(address(arith::ADD, Form::Scalar).is_none());
//! ```

use regraft_dialects::math;
use regraft_ir::Op;
use regraft_math::Forms;

/// A form of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// One float.
    Scalar,
    /// As many floats in a vector register: 2, 4 or 8.
    Lanes(usize),
    /// Slices.
    Strip,
}

/// The ops that have these forms.
pub fn ops() -> impl Iterator<Item = Op> {
    math::DIALECT.ops.iter().map(|def| def.op).filter(|&op| forms(op).is_some())
}

/// The function of an op, whose forms Rust can call as well.
pub fn forms(op: Op) -> Option<&'static Forms> {
    math::forms(op)
}

/// The address of a form, for as long as the process lives; `None` if the op or this CPU does not have it.
pub fn address(op: Op, form: Form) -> Option<*const u8> {
    let forms = forms(op)?;
    let address = match form {
        Form::Scalar => forms.scalar()?,
        Form::Lanes(count) => forms.lanes(count)?,
        Form::Strip => forms.strip(),
    };
    Some(address.cast())
}

/// The name of a form as a symbol; `None` if the op has none.
pub fn symbol(op: Op, form: Form) -> Option<String> {
    let name = forms(op)?.name;
    Some(match form {
        Form::Scalar => format!("regraft_math_{name}"),
        Form::Lanes(count) => format!("regraft_math_{name}_x{count}"),
        Form::Strip => format!("regraft_math_{name}_strip"),
    })
}

/// Every form that this CPU has: its symbol and its address.
pub fn symbols() -> impl Iterator<Item = (String, *const u8)> {
    const FORMS: [Form; 5] =
        [Form::Scalar, Form::Lanes(2), Form::Lanes(4), Form::Lanes(8), Form::Strip];
    ops()
        .flat_map(|op| FORMS.map(|form| (op, form)))
        .filter_map(|(op, form)| Some((symbol(op, form)?, address(op, form)?)))
}
