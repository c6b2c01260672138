//! Values that share registers do not get in each other's way, frames leave nothing to the next ones, and deep recursion stays small.

mod common;

use std::fmt::Write;

use regraft_exec::value::live_bytes;
use regraft_exec::{Engine, Limits, Val};

/// A block of sums of earlier sums, some of which live long; with the result.
fn sums(seed: u64, count: usize) -> (String, i64) {
    let mut state = seed;
    let mut next = |bound: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % bound
    };
    let mut values = vec![3i64];
    let mut text = String::from("func @f(%1: i64) -> i64 {\n^1:\n");
    for v in 2..count + 2 {
        // Mostly of what is near, so that registers become free in between.
        let near = if next(4) == 0 { v - 1 } else { (v - 1).min(3) };
        let (a, b) = (v - 1 - next(near), v - 1 - next(near));
        let (op, value) = match next(3) {
            0 => ("add", values[a - 1].wrapping_add(values[b - 1])),
            1 => ("sub", values[a - 1].wrapping_sub(values[b - 1])),
            _ => ("mul", values[a - 1].wrapping_mul(values[b - 1])),
        };
        let _ = writeln!(text, "  %{v}: i64 = arith.{op} %{a}, %{b}");
        values.push(value);
    }
    let _ = writeln!(text, "  return %{}\n}}", count + 1);
    (text, values[count])
}

#[test]
fn straight_code_computes_what_its_text_says() {
    for seed in 0..200 {
        let (text, want) = sums(seed, 40);
        assert_eq!(common::run(&text, &[Val::I64(3)]), want.to_string(), "{text}");
    }
}

#[test]
fn values_of_both_kinds_survive_calls_and_comparisons() {
    // What the fused comparison reads at the end of the block must still be there.
    let text = r#"
func @pair(%x: i64) -> tuple<i64, i64> {
^1:
  %1: i64 = arith.mul %x, %x
  %2: tuple<i64, i64> = core.tuple %x, %1
  return %2
}
func @f(%x: i64) -> any {
^1:
  %1: i64 = arith.add %x, 1
  %2: i64 = arith.mul %x, 2
  %3: bool = arith.lt %1, %2
  %4: tuple<i64, i64> = call @pair(%x)
  %5: i64 = core.get %4, 2
  %6: tuple<i64, i64> = call @pair(%5)
  %7: i64 = core.get %6, 2
  %8 = core.tuple %7, %6, %4
  br %3, ^2(%8), ^2(%7)
^2(%9):
  return %9
}
"#;
    assert_eq!(common::run(text, &[Val::I64(2)]), "(16, (4, 16), (2, 4))");
    assert_eq!(common::run(text, &[Val::I64(1)]), "1");
}

#[test]
fn a_deep_recursion_of_a_long_function_takes_little_memory() {
    let mut text = String::from(
        "func @f(%1: i64) -> i64 {\n^1:\n  %2: bool = arith.lt %1, 1\n  br %2, ^2, ^3\n\
         ^2:\n  return 0\n^3:\n  %3: i64 = arith.sub %1, 1\n  %4: i64 = call @f(%3)\n",
    );
    let count = 200;
    for v in 5..5 + count {
        let _ = writeln!(text, "  %{v}: i64 = arith.add %{}, 1", v - 1);
    }
    let _ = writeln!(text, "  return %{}\n}}", 4 + count);
    let mut engine = common::engine(&text);
    // With a register for each value, 50,000 frames would take 80 MB.
    engine.set_limits(Limits { memory: 16 << 20, ..Limits::default() });
    let depth = 50_000;
    let result = engine.call("f", &[Val::I64(depth)]).expect("there is memory enough");
    assert_eq!(result.as_i64(), Some(depth * count as i64));
    assert!(live_bytes() < 16 << 20);
}

/// A loop leaves a boxed number in the first register, and the results and arguments after it are nothing.
#[test]
fn a_frame_leaves_no_number_to_the_next_one() {
    let text = "
func @last(%n: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%i: i64, %x: any):
  %c: bool = arith.lt %i, %n
  br %c, ^3, ^4
^3:
  %j: i64 = arith.add %i, 1
  %d: bool = arith.gt %j, 3
  br %d, ^2(%j, 2.5), ^2(%j, %j)
^4:
  %y: i64 = core.typeassert %x
  %z: i64 = arith.mul %y, 2
  return %z
}
func @given(%x: any, %k: i64) -> any {
^1:
  %c: bool = arith.gt %k, 0
  br %c, ^2, ^3
^2:
  %m: i64 = arith.sub %k, 1
  %r: any = call @given(%x, %m)
  return %r
^3:
  return %x
}
func @returned(%k: i64) -> any {
^1:
  %c: bool = arith.gt %k, 100
  br %c, ^2, ^3
^2:
  %m: i64 = arith.sub %k, 1
  %r: any = call @returned(%m)
  return %r
^3:
  return nothing
}
func @f(%n: i64) -> any {
^1:
  %1: i64 = call @last(%n)
  %2: any = call @given(nothing, 2)
  %3: i64 = call @last(%n)
  %4: any = call @returned(%3)
  %5: tuple<i64, any, any> = core.tuple %1, %2, %4
  return %5
}";
    assert_eq!(common::run_both(text, &[2i64.into()]), "(4, nothing, nothing)");
}
