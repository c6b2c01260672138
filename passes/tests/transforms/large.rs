//! Programs too large to write down: limits of growth, and depth that no recursion follows.

use std::fmt::Write;

use crate::{only, parse, run_text};

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
    let calls = |pipeline: &str| {
        let mut module = parse(&text);
        run_text(pipeline, &mut module);
        module.to_string().matches("call").count()
    };
    assert_eq!(calls("inline"), 0);
    // The caller has ten instructions; the callee 20 and a terminator.
    assert_eq!(calls("inline{growth=53}"), 7);
    assert_eq!(calls("inline{growth=52}"), 8);
    assert_eq!(calls("inline{growth=0, always=20}"), 0);
    assert_eq!(calls("inline{max-size=19}"), 10);
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
    run_text("inline", &mut module);
    assert_eq!(module.to_string().matches("call").count(), 0);
}

#[test]
fn a_long_chain_is_merged_without_depth() {
    const BLOCKS: usize = 20_000;
    let mut text = String::from("func @f(%1: i64) -> i64 {\n^1:\n  br ^2(%1)\n");
    for i in 2..BLOCKS {
        let (param, sum) = (2 * i, 2 * i + 1);
        let _ = writeln!(text, "^{i}(%{param}: i64):\n  %{sum}: i64 = arith.add %{param}, 1");
        let _ = writeln!(text, "  br ^{}(%{sum})", i + 1);
    }
    let _ = writeln!(text, "^{BLOCKS}(%2: i64):\n  return %2\n}}");
    let mut module = parse(&text);
    run_text("simplify-cfg{plain}", &mut module);
    let f = only(&mut module);
    assert_eq!((f.block_count(), f.inst_count()), (1, BLOCKS - 2));
}

#[test]
fn a_hundred_nested_loops_are_left_at_once() {
    // Each loop runs around the next; what is in the innermost one depends on nothing.
    let (depth, mut text) = (100, String::from("func @f(%a: i64, %b: i64) -> i64 {\n^1:\n"));
    text += "  br ^2(0)\n";
    for d in 1..=depth {
        text += &format!("^{}(%c{d}: i64):\n", d + 1);
        if d < depth {
            text += &format!("  br ^{}(0)\n", d + 2);
        }
    }
    text += "  %square: i64 = arith.mul %a, %a\n  %quotient: i64 = arith.div %square, %b\n";
    for d in (1..=depth).rev() {
        let latch = if d == depth { d + 1 } else { 1000 + d };
        if d < depth {
            text += &format!("^{latch}:\n");
        }
        let exit = if d == 1 { 5000 } else { 1000 + d - 1 };
        text += &format!(
            "  %n{d}: i64 = arith.add %c{d}, 1
  %t{d}: bool = arith.lt %n{d}, %b
  br %t{d}, ^{}(%n{d}), ^{exit}
",
            d + 1
        );
    }
    text += "^5000:\n  return %quotient\n}\n";
    let moved = "  %square: i64 = arith.mul %a, %a\n  %quotient: i64 = arith.div %square, %b\n";
    let after = text.replace(moved, "").replace("^1:\n", &format!("^1:\n{moved}"));
    let (mut module, after) = (parse(&text), parse(&after).to_string());
    run_text("licm", &mut module);
    assert_eq!(module.to_string(), after);
    run_text("licm", &mut module);
    assert_eq!(module.to_string(), after, "a second run changes more");
}
