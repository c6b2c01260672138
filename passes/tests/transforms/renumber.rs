//! `renumber`.

use regraft_passes::transforms::renumber::{self, Renumber};

use crate::{check, only, parse};

#[test]
fn numbers_follow_the_layout_and_names_stay() {
    check::<Renumber>(
        "func @f(%3: i64) -> i64 {
^7:
  %9: i64 = arith.add %3, 0
  br ^2(%9)
^2(%1: i64):
  %sum: i64 = arith.add 1, 2
  %4: i64 = arith.mul %sum, %1
  return %4
}
",
        "func @f(%1: i64) -> i64 {
^1:
  %2: i64 = arith.add %1, 0
  br ^2(%2)
^2(%3: i64):
  %sum: i64 = arith.add 1, 2
  %5: i64 = arith.mul %sum, %3
  return %5
}
",
    );
}

#[test]
fn a_function_that_is_numbered_so_already_is_not_touched() {
    let mut module = parse("func @f(%1: i64) -> i64 {\n^1:\n  return %1\n}\n");
    let f = only(&mut module);
    let before = f.stamp();
    assert!(renumber::run(f).is_none());
    assert_eq!(f.stamp(), before);
}
