use regraft::testing::Tester;

use super::MulToAdd;

fn tester() -> Tester {
    Tester::new().with_passes(|passes| passes.add::<MulToAdd>())
}

const DOUBLE: &str = "\
func @double(%1: i64, %2: f64) -> i64 {
^1:
  %3: i64 = arith.mul %1, 2
  %4: f64 = arith.mul %2, 2.0
  %5: i64 = arith.mul %3, 3
  return %5
}
";

#[test]
fn doubling_becomes_an_addition() {
    let diff = tester().check("mul-to-add", DOUBLE);
    let changed: Vec<&str> =
        diff.lines().filter(|line| line.starts_with("+  ") || line.starts_with("-  ")).collect();
    assert_eq!(
        changed,
        [
            "-  %3: i64 = arith.mul %1, 2",
            "+  %6: i64 = arith.add %1, %1",
            "-  %5: i64 = arith.mul %3, 3",
            "+  %5: i64 = arith.mul %6, 3",
        ]
    );
}

#[test]
fn it_changes_no_meaning() {
    let done = tester().preserves("mul-to-add");
    assert!(done.cases >= 200, "{done:?}");
}
