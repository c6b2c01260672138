//! Which calls are inlined.

use regraft_passes::analysis::Analyses;
use regraft_passes::transforms::inline::{Limits, run};

use super::{SQUARE, check};
use crate::{check_text, parse, run_text, verify};

#[track_caller]
fn check_unchanged(text: &str) {
    check_text("inline", text, text);
}

#[test]
fn callees_come_before_callers_whatever_their_order() {
    check_text(
        "inline",
        "func @f(%1: f64) -> f64 {
^1:
  %2: f64 = call @g(%1)
  return %2
}
func @g(%1: f64) -> f64 {
^1:
  %2: f64 = call @h(%1)
  %3: f64 = arith.add %2, 1.0
  return %3
}
func @h(%1: f64) -> f64 {
^1:
  %2: f64 = math.sin %1
  return %2
}
",
        "func @f(%1: f64) -> f64 {
^1:
  %3: f64 = math.sin %1
  %4: f64 = arith.add %3, 1.0
  return %4
}
func @g(%1: f64) -> f64 {
^1:
  %4: f64 = math.sin %1
  %3: f64 = arith.add %4, 1.0
  return %3
}
func @h(%1: f64) -> f64 {
^1:
  %2: f64 = math.sin %1
  return %2
}
",
    );
}

#[test]
fn what_calls_itself_stays_a_call() {
    check_unchanged(
        "func @down(%1: i64) -> i64 {
^1:
  %2: bool = arith.gt %1, 0
  br %2, ^2, ^3
^2:
  %3: i64 = arith.sub %1, 1
  %4: i64 = call @down(%3)
  return %4
^3:
  return %1
}
func @f(%1: i64) -> i64 {
^1:
  %2: i64 = call @down(%1)
  return %2
}
",
    );
}

#[test]
fn of_a_circle_one_goes_into_the_others() {
    check_text(
        "inline",
        "func @even(%1: i64) -> bool {
^1:
  %2: bool = arith.eq %1, 0
  br %2, ^2, ^3
^2:
  return true
^3:
  %3: i64 = arith.sub %1, 1
  %4: bool = call @odd(%3)
  return %4
}
func @odd(%1: i64) -> bool {
^1:
  %2: bool = arith.eq %1, 0
  br %2, ^2, ^3
^2:
  return false
^3:
  %3: i64 = arith.sub %1, 1
  %4: bool = call @even(%3)
  return %4
}
",
        "func @even(%1: i64) -> bool {
^1:
  %2: bool = arith.eq %1, 0
  br %2, ^2, ^3
^2:
  return true
^3:
  %3: i64 = arith.sub %1, 1
  %6: bool = arith.eq %3, 0
  br %6, ^5, ^6
^5:
  br ^4(false)
^6:
  %7: i64 = arith.sub %3, 1
  %8: bool = call @even(%7)
  br ^4(%8)
^4(%5: bool):
  return %5
}
func @odd(%1: i64) -> bool {
^1:
  %2: bool = arith.eq %1, 0
  br %2, ^2, ^3
^2:
  return false
^3:
  %3: i64 = arith.sub %1, 1
  %4: bool = call @even(%3)
  return %4
}
",
    );
}

#[test]
fn nothing_is_inlined_where_an_error_is_thrown() {
    check_unchanged(&format!(
        "{SQUARE}func @fail(%1: f64) -> never {{
^1:
  core.throw \"no\"
  unreachable
}}
func @f(%1: f64) -> f64 {{
^1:
  %2: bool = arith.lt %1, 0.0
  br %2, ^2, ^3
^2:
  %3: f64 = call @square(%1)
  %4: never = call @fail(%3)
  unreachable
^3:
  return %1
}}
"
    ));
}

#[test]
fn the_code_that_throws_does_not_count() {
    // A comparison, its branch and a sum; with the message and its throw it would be more.
    let checked = "func @checked(%1: i64) -> i64 {
^1:
  %2: bool = arith.lt %1, 0
  br %2, ^2, ^3
^2:
  %3: str = core.string \"negative: \", %1
  core.throw %3
  unreachable
^3:
  %5: i64 = arith.add %1, 1
  return %5
}
";
    let before = "func @f(%1: i64) -> i64 {
^1:
  %2: i64 = call @checked(%1)
  %3: i64 = call @checked(%2)
  return %3
}
";
    let mut module = parse(&format!("{checked}{before}"));
    run_text("inline{max-size=2, once=2, always=2}", &mut module);
    assert_eq!(module.to_string(), parse(&format!("{checked}{before}")).to_string());
    run_text("inline{max-size=3, once=3, always=3}", &mut module);
    assert!(!module.to_string().contains("call"), "{module}");
}

#[test]
fn calls_of_function_values_and_closures_are_calls_too() {
    check(
        "struct @Adder { k: i64 } call @add_k
func @add_k(%1: @Adder, %2: i64) -> i64 {
^1:
  %3: i64 = core.get %1, 1
  %4: i64 = arith.add %3, %2
  return %4
}
func @twice(%1: i64) -> i64 {
^1:
  %2: i64 = arith.mul %1, 2
  return %2
}
",
        "func @f(%1: i64, %2: fn<@twice>) -> i64 {
^1:
  %3: @Adder = data.new %1
  %4: i64 = core.apply %3, 7
  %5: i64 = core.apply %2, %4
  %6: i64 = core.apply @twice, %5
  return %6
}
",
        "func @f(%1: i64, %2: fn<@twice>) -> i64 {
^1:
  %3: @Adder = data.new %1
  %9: i64 = core.get %3, 1
  %10: i64 = arith.add %9, 7
  %8: i64 = arith.mul %10, 2
  %7: i64 = arith.mul %8, 2
  return %7
}
",
    );
}

#[test]
fn calls_of_who_knows_what_and_with_what_does_not_fit_stay() {
    check_unchanged(&format!(
        "{SQUARE}func @f(%1: any, %2: f64) -> any {{
^1:
  %3: any = core.apply %1, %2
  %4: any = core.apply @square, %1
  %5: any = core.apply @square, %2, %2
  %6: tuple<any, any, any> = core.tuple %3, %4, %5
  return %6
}}
"
    ));
}

#[test]
fn the_attribute_of_a_function_decides() {
    let text = |attr: &str| {
        format!(
            "func @g(%1: i64) -> i64 {attr}{{
^1:
  %2: i64 = arith.add %1, 1
  return %2
}}
func @f(%1: i64) -> i64 {{
^1:
  %2: i64 = call @g(%1)
  return %2
}}
"
        )
    };
    check_unchanged(&text("{inline=false} "));
    let mut module = parse(&text("{inline=true} "));
    run_text("inline{always=0, max-size=0, once=0}", &mut module);
    assert!(!module.to_string().contains("call"), "{module}");
}

#[test]
fn a_caller_grows_up_to_its_budget() {
    let mut text = String::from("func @g(%1: i64) -> i64 {\n^1:\n");
    for i in 2..22 {
        text += &format!("  %{i}: i64 = arith.add %{}, 1\n", i - 1);
    }
    text += "  return %21\n}\nfunc @f(%1: i64) -> i64 {\n^1:\n";
    for i in 2..12 {
        text += &format!("  %{i}: i64 = call @g(%{})\n", i - 1);
    }
    text += "  return %11\n}\n";
    let calls = |limits: Limits| {
        let mut module = parse(&text);
        let inlined =
            run(&mut module, limits, &mut Analyses::default()).expect("the module is valid");
        verify(&module);
        let left = module.to_string().matches("call").count();
        assert_eq!(inlined.calls + left, 10);
        left
    };
    assert_eq!(calls(Limits::default()), 0);
    // The caller has ten instructions; the callee 20 and a terminator.
    assert_eq!(calls(Limits { growth: 53, ..Limits::default() }), 7);
    assert_eq!(calls(Limits { growth: 52, ..Limits::default() }), 8);
    assert_eq!(calls(Limits { growth: 0, always: 20, ..Limits::default() }), 0);
    assert_eq!(calls(Limits { max_size: 19, ..Limits::default() }), 10);
}

#[test]
fn a_function_that_is_used_once_may_be_larger() {
    let callee = "func @g(%1: i64) -> i64 {
^1:
  %2: i64 = arith.add %1, 1
  %3: i64 = arith.mul %2, %2
  return %3
}
";
    let once = "func @f(%1: i64) -> i64 {
^1:
  %2: i64 = call @g(%1)
  return %2
}
";
    let pipeline = "inline{always=0, max-size=1, once=2}";
    let mut module = parse(&format!("{callee}{once}"));
    run_text(pipeline, &mut module);
    assert!(!module.to_string().contains("call"), "{module}");
    let again = once.replace("@f", "@h");
    let text = format!("{callee}{once}{again}");
    check_text(pipeline, &text, &text);
}

#[test]
fn chains_of_calls_are_not_walked_by_recursion() {
    let mut text = String::new();
    for i in 0..20_000 {
        text += &format!(
            "func @f{i}(%1: i64) -> i64 {{\n^1:\n  %2: i64 = call @f{}(%1)\n  return %2\n}}\n",
            i + 1
        );
    }
    text += "func @f20000(%1: i64) -> i64 {\n^1:\n  %2: i64 = arith.add %1, 1\n  return %2\n}\n";
    let mut module = parse(&text);
    let inlined =
        run(&mut module, Limits::default(), &mut Analyses::default()).expect("the module is valid");
    assert_eq!(inlined.calls, 20_000);
    verify(&module);
}
