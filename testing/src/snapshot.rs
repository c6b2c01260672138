//! Snapshots of IR text.

use std::fmt::Display;

/// The text of a module, a function or a diff as [`assert_ir_snapshot!`] compares it: without
/// trailing blanks, which editors of snapshots take away.
///
/// [`assert_ir_snapshot!`]: crate::assert_ir_snapshot
pub fn ir_text(ir: &(impl Display + ?Sized)) -> String {
    let text = ir.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// Compares a module, a function, a diff, or anything else that prints, with a snapshot.
///
/// It works as [`insta::assert_snapshot!`], of which it takes the forms: with a snapshot file
/// that is named after the test, with a name, or with the snapshot in the source. The calling
/// crate needs no dependency on `insta`. Snapshots are reviewed with `cargo insta review`; those in files
/// are accepted with `INSTA_UPDATE=always`, one in the source is pasted by hand or by `cargo insta`.
///
/// ```
/// # fn main() {
/// let diff = regraft_testing::check_pass("dce", "
/// func @f(%1: f64) -> f64 {
/// ^1:
///   %2: f64 = arith.mul %1, 2.0
///   return %1
/// }");
/// regraft_testing::assert_ir_snapshot!(diff, @r"
/// --- @f
/// +++ @f
/// @@ -1,5 +1,4 @@
///  func @f(%1: f64) -> f64 {
///  ^1:
/// -  %2: f64 = arith.mul %1, 2.0
///    return %1
///  }
/// ");
/// # }
/// ```
#[macro_export]
macro_rules! assert_ir_snapshot {
    ($ir:expr, @$snapshot:literal $(,)?) => {
        $crate::insta::assert_snapshot!($crate::ir_text(&$ir), @$snapshot)
    };
    ($name:expr, $ir:expr $(,)?) => {
        $crate::insta::assert_snapshot!($name, $crate::ir_text(&$ir))
    };
    ($ir:expr $(,)?) => {
        $crate::insta::assert_snapshot!($crate::ir_text(&$ir))
    };
}
