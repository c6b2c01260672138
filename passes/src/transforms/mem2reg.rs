//! Turns refs that nobody else sees into values.
//!
//! ```text
//! ^1(%1: i64):                             ^1(%1: i64):
//!   %2: ref<i64> = mem.ref_new 0             br ^2(0)
//!   br ^2                                  ^2(%9: i64):
//! ^2:                                        %4: i64 = arith.add %9, 1
//!   %3: i64 = mem.ref_get %2         =>      %5: bool = arith.lt %4, %1
//!   %4: i64 = arith.add %3, 1                br %5, ^2(%4), ^3
//!   mem.ref_set %2, %4                     ^3:
//!   %5: bool = arith.lt %4, %1               return %4
//!   br %5, ^2, ^3
//! ^3:
//!   %6: i64 = mem.ref_get %2
//!   return %6
//! ```
//!
//! A ref qualifies if it is read, written and compared, and nothing else. Method and reasons are
//! told in `promote`; `sroa` does the same to mutable structs and small arrays too.
//!
//! # Cost
//! O((size + parameters made and what is passed for them) × log edges): what is between two accesses
//! of a ref costs nothing (benchmark `growth`).

use regraft_ir::Function;

use crate::transforms::util::promote::{self, Kinds, Promoted};
use crate::{FunctionPass, PassContext, PassResult};

crate::pass! {
    /// Turns refs that nobody else sees into values.
    ///
    /// ```text
    /// %2: ref<i64> = mem.ref_new 0
    /// br ^2                                  br ^2(0)
    /// ^2:                              =>    ^2(%9: i64):
    ///   %3: i64 = mem.ref_get %2               %4: i64 = arith.add %9, 1
    ///   %4: i64 = arith.add %3, 1              br ^2(%4)
    ///   mem.ref_set %2, %4
    ///   br ^2
    /// ```
    ///
    /// Where paths join on which different values were written, a block gets a parameter.
    #[derive(Debug, Default)]
    pub struct Mem2reg;
}

impl FunctionPass for Mem2reg {
    const NAME: &'static str = "mem2reg";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let Promoted { objects, parameters } = promote::run(f, Kinds::Refs, cx.analyses())?;
        cx.add("refs promoted", objects as u64);
        cx.add("parameters made", parameters as u64);
        Ok(())
    }
}
