//! Constants within instructions, at the limits of what has room there.

mod common;

use regraft_exec::Val;

const AT: [i64; 12] = [
    0,
    1,
    -1,
    100,
    i32::MAX as i64 - 1,
    i32::MAX as i64,
    i32::MAX as i64 + 1,
    i32::MIN as i64 - 1,
    i32::MIN as i64,
    i32::MIN as i64 + 1,
    i64::MIN,
    i64::MAX,
];

#[test]
fn branches_compare_with_constants_on_either_side() {
    type Compare = fn(&i64, &i64) -> bool;
    let ops: [(&str, Compare); 6] = [
        ("lt", i64::lt),
        ("le", i64::le),
        ("gt", i64::gt),
        ("ge", i64::ge),
        ("eq", i64::eq),
        ("ne", i64::ne),
    ];
    for (op, compare) in ops {
        for c in AT {
            for (operands, swapped) in [(format!("%x, {c}"), false), (format!("{c}, %x"), true)] {
                let text = format!(
                    "func @f(%x: i64) -> str {{\n^1:\n  %1: bool = arith.{op} {operands}\n  \
                     br %1, ^2, ^3\n^2:\n  return \"yes\"\n^3:\n  return \"no\"\n}}\n"
                );
                let mut engine = common::engine(&text);
                for x in AT.into_iter().chain([c.wrapping_add(1), c.wrapping_sub(1)]) {
                    let want = if swapped { compare(&c, &x) } else { compare(&x, &c) };
                    let want = if want { "\"yes\"" } else { "\"no\"" };
                    let have = common::shown(&mut engine, "f", &[Val::I64(x)]);
                    assert_eq!(have, want, "{op} {operands} with {x}");
                }
            }
        }
    }
}

#[test]
fn sums_with_constants_wrap() {
    type Add = fn(i64, i64) -> i64;
    let ops: [(&str, Add); 2] = [("add", i64::wrapping_add), ("sub", i64::wrapping_sub)];
    for (op, add) in ops {
        for c in AT {
            let text = format!(
                "func @f(%x: i64) -> tuple<i64, i64> {{\n^1:\n  %1: i64 = arith.{op} %x, {c}\n  \
                 %2: i64 = arith.{op} {c}, %x\n  %3: tuple<i64, i64> = core.tuple %1, %2\n  \
                 return %3\n}}\n"
            );
            let mut engine = common::engine(&text);
            for x in AT {
                let want = format!("({}, {})", add(x, c), add(c, x));
                assert_eq!(common::shown(&mut engine, "f", &[Val::I64(x)]), want, "{op} {c}, {x}");
            }
        }
    }
}

#[test]
fn narrow_integers_are_compared_by_value() {
    let text = "func @f(%x: i8) -> str {\n^1:\n  %1: bool = arith.lt %x, -5i8\n  \
                br %1, ^2, ^3\n^2:\n  return \"yes\"\n^3:\n  return \"no\"\n}\n";
    assert_eq!(common::run(text, &[Val::I8(-6)]), "\"yes\"");
    assert_eq!(common::run(text, &[Val::I8(-5)]), "\"no\"");
    assert_eq!(common::run(text, &[Val::I8(127)]), "\"no\"");
}
