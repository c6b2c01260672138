//! `merge-returns`.

use regraft_passes::transforms::merge_returns::MergeReturns;

use crate::{check, check_unchanged};

#[test]
fn all_returns_go_to_one_block() {
    check::<MergeReturns>(
        "func @f(%1: i64) -> i64 {
^1:
  %2: bool = arith.lt %1, 0
  br %2, ^2, ^3
^2:
  return 0
^3:
  return %1
}
",
        "func @f(%1: i64) -> i64 {
^1:
  %2: bool = arith.lt %1, 0
  br %2, ^2, ^3
^2:
  br ^4(0)
^3:
  br ^4(%1)
^4(%3: i64):
  return %3
}
",
    );
}

#[test]
fn what_is_returned_may_be_of_a_more_special_type() {
    check::<MergeReturns>(
        "func @f(%1: bool) -> any {
^1:
  br %1, ^2, ^3
^2:
  return 1
^3:
  return 0.5
}
",
        "func @f(%1: bool) -> any {
^1:
  br %1, ^2, ^3
^2:
  br ^4(1)
^3:
  br ^4(0.5)
^4(%2: any):
  return %2
}
",
    );
}

#[test]
fn one_return_or_none_stays() {
    check_unchanged::<MergeReturns>(
        "func @one(%1: bool) -> unit {
^1:
  br %1, ^1(%1), ^2
^2:
  return nothing
}
func @none() -> unit {
^1:
  br ^1
}
func @throws() -> unit {
^1:
  %1: never = core.throw \"no\"
  unreachable
}
",
    );
}
