//! Numbers values and blocks in the order in which they are printed, from 1 and without gaps.
//!
//! ```text
//! ^1(%1: f64, %2: f64):                ^1(%1: f64, %2: f64):
//!   %7: f64 = arith.mul %1, %2    =>     %3: f64 = arith.mul %1, %2
//!   %4: f64 = math.exp %7                %4: f64 = math.exp %3
//! ```
//!
//! Nothing else changes: no constant is folded, and names stay. Handles held from before belong
//! to another function afterwards. O(size), and a function that is numbered so already is not
//! touched.

use regraft_ir::Function;

use crate::{FunctionPass, PassContext, PassResult};

crate::pass! {
    /// Numbers values and blocks in the order in which they are printed, without gaps.
    ///
    /// ```text
    /// %7: f64 = arith.mul %1, %2    =>     %3: f64 = arith.mul %1, %2
    /// %4: f64 = math.exp %7                %4: f64 = math.exp %3
    /// ```
    ///
    /// Nothing else changes.
    #[derive(Debug, Default)]
    pub struct Renumber;
}

impl FunctionPass for Renumber {
    const NAME: &'static str = "renumber";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        if !is_numbered(f) {
            cx.renumbered(f.renumber());
            cx.count("functions changed");
        }
        Ok(())
    }
}

fn is_numbered(f: &Function) -> bool {
    f.all_values().enumerate().all(|(i, v)| v.index() == i)
        && f.blocks().enumerate().all(|(i, block)| block.index() == i)
}
