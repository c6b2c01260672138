//! Takes aggregates apart: tuples, structs and closures become their elements, and objects that
//! nobody else sees become values.
//!
//! ```text
//! ^1(%1: i64):
//!   %2: tuple<i64, f64> = core.tuple 0, 1.0       br ^2(0, 1.0)
//!   br ^2(%2)                                   ^2(%9: i64, %10: f64):
//! ^2(%3: tuple<i64, f64>):
//!   %4: i64 = core.get %3, 1               =>
//!   %5: f64 = core.get %3, 2
//!   %6: i64 = arith.add %4, 1                     %6: i64 = arith.add %9, 1
//!   %7: f64 = arith.mul %5, 2.0                   %7: f64 = arith.mul %10, 2.0
//!   %8: tuple<i64, f64> = core.tuple %6, %7       br ^2(%6, %7)
//!   br ^2(%8)
//! ```

use regraft_ir::{Function, IrResult};

use super::promote::{self, Kinds};
use crate::{FunctionPass, PassContext, PassResult};

/// What was done.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TakenApart {
    /// Objects that are values now.
    pub objects: usize,
}

/// Takes aggregates apart. O(size + blocks where each object is live).
///
/// # Errors
/// None if `f` is valid.
pub fn run(f: &mut Function) -> IrResult<TakenApart> {
    let promoted = promote::run(f, Kinds::All)?;
    Ok(TakenApart { objects: promoted.objects })
}

crate::pass! {
    /// Takes aggregates apart: tuples, structs and closures become their elements, and objects that
    /// nobody else sees become values.
    #[derive(Debug, Default)]
    pub struct Sroa;
}

impl FunctionPass for Sroa {
    const NAME: &'static str = "sroa";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let done = run(f)?;
        cx.add("objects promoted", done.objects as u64);
        Ok(())
    }
}
