//! Edges that go around a branch.

use regraft_passes::transforms::simplify_cfg::SimplifyCfg;

use crate::{check, check_unchanged, parse, run_text};

#[test]
fn an_edge_that_decides_goes_around_the_branch() {
    check::<SimplifyCfg>(
        r#"func @call(%1: bool) -> i64 {
^1:
  br %1, ^2, ^3(false)
^2:
  %2: bool = call @g()
  br ^3(%2)
^3(%3: bool):
  br %3, ^4, ^5
^4:
  %4: unit = core.print "yes"
  return 1
^5:
  return 0
}
func @g() -> bool {
^1:
  %1: unit = core.print 0
  return true
}
"#,
        r#"func @call(%1: bool) -> i64 {
^1:
  br %1, ^2, ^5
^2:
  %2: bool = call @g()
  br %2, ^4, ^5
^4:
  %4: unit = core.print "yes"
  return 1
^5:
  return 0
}
func @g() -> bool {
^1:
  %1: unit = core.print 0
  return true
}
"#,
    );
}

#[test]
fn a_value_with_two_definitions_gets_parameters_where_they_meet() {
    check::<SimplifyCfg>(
        r#"func @repair(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2, ^3(false, 7)
^2:
  %3: i64 = call @h()
  %4: bool = arith.lt %3, %2
  br ^3(%4, %3)
^3(%5: bool, %6: i64):
  %7: unit = core.print %6
  %20: i64 = call @h()
  br %5, ^4, ^5
^4:
  %8: unit = core.print "yes"
  br ^6
^5:
  %9: unit = core.print %6
  br ^6
^6:
  %10: i64 = arith.add %6, %20
  return %10
}
func @h() -> i64 {
^1:
  %1: unit = core.print 0
  return 3
}
"#,
        r#"func @repair(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2, ^7
^7:
  %21: unit = core.print 7
  %22: i64 = call @h()
  br ^5(7, %22)
^2:
  %3: i64 = call @h()
  %4: bool = arith.lt %3, %2
  %7: unit = core.print %3
  %20: i64 = call @h()
  br %4, ^4, ^5(%3, %20)
^4:
  %8: unit = core.print "yes"
  br ^6(%3, %20)
^5(%23: i64, %25: i64):
  %9: unit = core.print %23
  br ^6(%23, %25)
^6(%24: i64, %26: i64):
  %10: i64 = arith.add %24, %26
  return %10
}
func @h() -> i64 {
^1:
  %1: unit = core.print 0
  return 3
}
"#,
    );
}

#[test]
fn a_switch_on_a_state_is_gone_around() {
    check::<SimplifyCfg>(
        "func @state(%1: i64) -> i64 {
^1:
  br ^2(%1)
^2(%2: i64):
  %3: bool = arith.lt %2, 10
  br %3, ^3, ^4(0, %2)
^3:
  %4: i64 = call @h()
  br ^4(1, %4)
^4(%5: i64, %6: i64):
  switch %5, ^7, 0: ^5, 1: ^6
^5:
  return %6
^6:
  %7: unit = core.print %6
  br ^2(%6)
^7:
  unreachable
}
func @h() -> i64 {
^1:
  %1: unit = core.print 0
  return 3
}
",
        "func @state(%1: i64) -> i64 {
^1:
  br ^2(%1)
^2(%2: i64):
  %3: bool = arith.lt %2, 10
  br %3, ^3, ^8
^8:
  return %2
^3:
  %4: i64 = call @h()
  %7: unit = core.print %4
  br ^2(%4)
}
func @h() -> i64 {
^1:
  %1: unit = core.print 0
  return 3
}
",
    );
}

#[test]
fn a_condition_is_known_behind_its_branch() {
    check::<SimplifyCfg>(
        "func @again(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  %3: unit = core.print 1
  br ^3
^3:
  %4: i64 = arith.add %2, 5
  br %1, ^4, ^5
^4:
  %5: unit = core.print 2
  br ^5
^5:
  %6: unit = core.print %4
  return %4
}
",
        "func @again(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2, ^6
^6:
  %7: i64 = arith.add %2, 5
  br ^5(%7)
^2:
  %3: unit = core.print 1
  %9: i64 = arith.add %2, 5
  %5: unit = core.print 2
  br ^5(%9)
^5(%8: i64):
  %6: unit = core.print %8
  return %8
}
",
    );
}

#[test]
fn the_header_of_a_loop_is_not_gone_around() {
    // The first round is decided; going around ^2 would make a second way into the loop.
    check_unchanged::<SimplifyCfg>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(true, %1)
^2(%2: bool, %3: i64):
  br %2, ^3, ^4
^3:
  %4: unit = core.print %3
  %5: i64 = arith.sub %3, 1
  %6: bool = arith.lt 0, %5
  br ^2(%6, %5)
^4:
  return %3
}
",
    );
}

#[test]
fn a_type_that_an_edge_knows_decides_too() {
    check::<SimplifyCfg>(
        "func @f(%1: bool, %2: i64, %3: any) -> i64 {
^1:
  br %1, ^2(%2), ^2(%3)
^2(%4: any):
  %5: bool = core.isa %4, !i64
  br %5, ^3, ^4
^3:
  %6: i64 = core.typeassert %4
  return %6
^4:
  return 0
}
",
        "func @f(%1: bool, %2: i64, %3: any) -> i64 {
^1:
  br %1, ^3(%2), ^2
^2:
  %5: bool = core.isa %3, !i64
  br %5, ^3(%3), ^4
^3(%7: any):
  %6: i64 = core.typeassert %7
  return %6
^4:
  return 0
}
",
    );
}

#[test]
fn what_is_folded_to_an_instruction_that_is_copied_is_the_copy() {
    // Behind the first edge %7 is %6, of which there are two then.
    let text = "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  %3: unit = core.print 1
  br ^4
^3:
  %4: unit = core.print 2
  br ^4
^4:
  %6: i64 = call @g(%2)
  %7: i64 = core.select %1, %6, 0
  %8: i64 = arith.neg %7
  br %1, ^5, ^6
^5:
  %9: unit = core.print %8
  return %7
^6:
  return %8
}
func @g(%1: i64) -> i64 {
^1:
  %2: unit = core.print 3
  return %1
}
";
    let mut module = parse(text);
    run_text("simplify-cfg", &mut module);
    let text = module.to_string();
    // Two paths, with a call in each; nothing is selected any more.
    assert_eq!(text.matches("call @g").count(), 2, "{text}");
    assert!(!text.contains("core.select"), "{text}");
}
