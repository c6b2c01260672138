//! Integers, against arithmetic in 128 bits: every pair of `i8`, and samples of the others.

use proptest::prelude::*;
use regraft_dialects::arith;
use regraft_dialects::semantics::{Trap, eval_scalar};
use regraft_ir::{Constant, Op, Type};

use crate::{def, eval};

/// The result that an op should give: a number that wraps, one that has to be in range, or a trap.
enum Expected {
    Wrapped(i128),
    InRange(i128, Trap),
    Trap(Trap),
}

fn floor_div(x: i128, y: i128) -> i128 {
    // Euclidean division rounds down for a positive divisor; for a negative one, flip both.
    if y > 0 { x.div_euclid(y) } else { (-x).div_euclid(-y) }
}

fn expected(op: Op, x: i128, y: i128, ty: Type) -> Expected {
    use Expected::{InRange, Trap as Traps, Wrapped};
    let overflow = |what| Trap::Overflow { what, ty };
    let by_zero = y == 0;
    match op {
        arith::ADD => Wrapped(x + y),
        arith::SUB => Wrapped(x - y),
        arith::MUL => Wrapped(x * y),
        arith::DIV | arith::REM | arith::FLD | arith::CLD | arith::MOD if by_zero => {
            Traps(Trap::Divide)
        }
        arith::DIV => InRange(x / y, Trap::Divide),
        arith::REM => Wrapped(x - x / y * y),
        arith::FLD => InRange(floor_div(x, y), Trap::Divide),
        arith::CLD => InRange(-floor_div(-x, y), Trap::Divide),
        arith::MOD => Wrapped(x - floor_div(x, y) * y),
        arith::MIN => Wrapped(if x < y { x } else { y }),
        arith::MAX => Wrapped(if x > y { x } else { y }),
        arith::AND => Wrapped(x & y),
        arith::OR => Wrapped(x | y),
        arith::XOR => Wrapped(x ^ y),
        arith::CHECKED_ADD => InRange(x + y, overflow("sum")),
        arith::CHECKED_SUB => InRange(x - y, overflow("difference")),
        arith::CHECKED_MUL => InRange(x * y, overflow("product")),
        _ => unreachable!("not in the list below"),
    }
}

const BINARY: [Op; 16] = [
    arith::ADD,
    arith::SUB,
    arith::MUL,
    arith::DIV,
    arith::REM,
    arith::FLD,
    arith::CLD,
    arith::MOD,
    arith::MIN,
    arith::MAX,
    arith::AND,
    arith::OR,
    arith::XOR,
    arith::CHECKED_ADD,
    arith::CHECKED_SUB,
    arith::CHECKED_MUL,
];

fn int(ty: Type, x: i64) -> Constant {
    Constant::int(ty, x).expect("an integer type")
}

fn check_binary(ty: Type, x: i64, y: i64) {
    let (a, b) = (int(ty, x), int(ty, y));
    let (x, y) = (a.as_int().unwrap(), b.as_int().unwrap());
    for op in BINARY {
        let found = eval(op, &[a, b]);
        let wrapped = |n: i128| int(ty, n as i64);
        let want = match expected(op, i128::from(x), i128::from(y), ty) {
            Expected::Wrapped(n) => Ok(wrapped(n)),
            Expected::InRange(n, _) if wrapped(n).as_int().map(i128::from) == Some(n) => {
                Ok(wrapped(n))
            }
            Expected::InRange(_, trap) | Expected::Trap(trap) => Err(trap),
        };
        assert_eq!(found, want, "{op:?} of {a:?} and {b:?}");
    }
    let comparisons = [
        (arith::EQ, x == y),
        (arith::NE, x != y),
        (arith::LT, x < y),
        (arith::LE, x <= y),
        (arith::GT, x > y),
        (arith::GE, x >= y),
    ];
    for (op, want) in comparisons {
        assert_eq!(eval(op, &[a, b]), Ok(Constant::Bool(want)), "{op:?} of {a:?} and {b:?}");
    }
}

/// The bits of a number of the type as 128 bits, zeros above.
fn bits(x: i64, width: u32) -> u128 {
    u128::from(x as u64) & ((1 << width) - 1)
}

fn check_unary(ty: Type, x: i64) {
    let a = int(ty, x);
    let x = a.as_int().unwrap();
    let width = ty.bits().unwrap();
    let digits: Vec<bool> = (0..width).map(|i| bits(x, width) >> i & 1 == 1).collect();
    let number = |digits: &[bool]| {
        int(ty, digits.iter().rev().fold(0, |n: i64, &digit| n << 1 | i64::from(digit)))
    };
    let reversed: Vec<bool> = digits.iter().rev().copied().collect();
    let swapped: Vec<bool> = digits.chunks(8).rev().flatten().copied().collect();
    let zeros =
        |digits: &[bool]| int(ty, digits.iter().take_while(|&&digit| !digit).count() as i64);
    let ones = digits.iter().filter(|&&digit| digit).count() as i64;
    let cases = [
        (arith::NEG, int(ty, -i128::from(x) as i64)),
        (arith::ABS, int(ty, i128::from(x).abs() as i64)),
        (arith::NOT, int(ty, -1 - x)),
        (arith::CLZ, zeros(&reversed)),
        (arith::CTZ, zeros(&digits)),
        (arith::POPCOUNT, int(ty, ones)),
        (arith::BITREVERSE, number(&reversed)),
        (arith::BSWAP, number(&swapped)),
        (arith::SIGNBIT, Constant::Bool(x < 0)),
    ];
    for (op, want) in cases {
        assert_eq!(eval(op, &[a]), Ok(want), "{op:?} of {a:?}");
    }
}

/// Shifts as multiplication and division by powers of two.
fn check_shifts(ty: Type, x: i64, count: i64) {
    let a = int(ty, x);
    let x = i128::from(a.as_int().unwrap());
    let width = ty.bits().unwrap();
    let steps = count.unsigned_abs().min(64) as u32;
    let left = int(ty, if steps < width { (x << steps) as i64 } else { 0 });
    let right = int(ty, floor_div(x, 1 << steps) as i64);
    let logical = int(ty, (bits(x as i64, width) >> steps) as i64);
    let cases = if count < 0 {
        [(arith::SHL, right), (arith::SHR, left), (arith::ASHR, left)]
    } else {
        [(arith::SHL, left), (arith::SHR, logical), (arith::ASHR, right)]
    };
    for (op, want) in cases {
        let found = eval(op, &[a, Constant::I64(count)]);
        assert_eq!(found, Ok(want), "{op:?} of {a:?} by {count}");
    }
}

const COUNTS: [i64; 16] = [0, 1, 7, 8, 9, 31, 32, 63, 64, 65, -1, -7, -8, -64, i64::MIN, i64::MAX];

#[test]
fn all_pairs_of_i8_agree_with_wide_arithmetic() {
    for x in -128..128 {
        check_unary(Type::I8, x);
        for y in -128..128 {
            check_binary(Type::I8, x, y);
        }
        for count in (-10..10).chain(COUNTS) {
            check_shifts(Type::I8, x, count);
        }
    }
}

/// Any number, but often one near a power of two.
fn numbers() -> impl Strategy<Value = i64> {
    prop_oneof![
        any::<i64>(),
        (0u32..64, -2i64..3, any::<bool>()).prop_map(|(bit, near, negative)| {
            let x = (1i64 << bit).wrapping_add(near);
            if negative { x.wrapping_neg() } else { x }
        }),
    ]
}

fn types() -> impl Strategy<Value = Type> {
    prop_oneof![Just(Type::I16), Just(Type::I32), Just(Type::I64)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn wider_integers_agree_with_wide_arithmetic(ty in types(), x in numbers(), y in numbers()) {
        check_binary(ty, x, y);
        check_unary(ty, x);
        for count in COUNTS {
            check_shifts(ty, x, count);
        }
        check_shifts(ty, x, y % 70);
    }

    #[test]
    fn powers_are_repeated_products(ty in types(), x in numbers(), n in 0i64..40) {
        let mut want = Constant::int(ty, 1).unwrap();
        for _ in 0..n {
            want = eval(arith::MUL, &[want, int(ty, x)]).unwrap();
        }
        prop_assert_eq!(eval(arith::POWI, &[int(ty, x), Constant::I64(n)]), Ok(want));
    }
}

#[test]
fn the_least_integer_by_minus_one_traps_but_leaves_no_remainder() {
    for (ty, least) in
        [(Type::I8, -128), (Type::I16, -32768), (Type::I32, -1 << 31), (Type::I64, i64::MIN)]
    {
        let args = [int(ty, least), int(ty, -1)];
        for op in [arith::DIV, arith::FLD, arith::CLD] {
            assert_eq!(eval(op, &args), Err(Trap::Divide));
        }
        for op in [arith::REM, arith::MOD] {
            assert_eq!(eval(op, &args), Ok(int(ty, 0)));
        }
    }
}

#[test]
fn division_rounds_as_its_name_says() {
    // As Julia prints them: div, rem, fld, cld, mod.
    let table = [
        (7, 3, [2, 1, 2, 3, 1]),
        (-7, 3, [-2, -1, -3, -2, 2]),
        (7, -3, [-2, 1, -3, -2, -2]),
        (-7, -3, [2, -1, 2, 3, -1]),
        (6, -3, [-2, 0, -2, -2, 0]),
    ];
    for (x, y, want) in table {
        let ops = [arith::DIV, arith::REM, arith::FLD, arith::CLD, arith::MOD];
        for (op, want) in ops.into_iter().zip(want) {
            assert_eq!(eval(op, &[x.into(), y.into()]), Ok(Constant::I64(want)), "{op:?} {x} {y}");
        }
    }
}

#[test]
fn negative_powers_exist_of_units_alone() {
    let power = |x: i64, n: i64| eval(arith::POWI, &[x.into(), n.into()]);
    assert_eq!(power(1, -5), Ok(Constant::I64(1)));
    assert_eq!(power(-1, -5), Ok(Constant::I64(-1)));
    assert_eq!(power(-1, -6), Ok(Constant::I64(1)));
    assert_eq!(power(-1, i64::MIN), Ok(Constant::I64(1)));
    for x in [0, 2, -2, i64::MIN] {
        assert_eq!(power(x, -1).unwrap_err().name(), "DomainError");
    }
    assert_eq!(power(0, 0), Ok(Constant::I64(1)));
    assert_eq!(power(2, 63), Ok(Constant::I64(i64::MIN)));
    assert_eq!(power(2, i64::MAX), Ok(Constant::I64(0)));
}

#[test]
fn bools_are_ordered_and_have_logic() {
    let all = [(false, false), (false, true), (true, false), (true, true)];
    for (x, y) in all {
        let cases = [
            (arith::AND, x && y),
            (arith::OR, x || y),
            (arith::XOR, x != y),
            (arith::EQ, x == y),
            (arith::NE, x != y),
            (arith::LT, !x && y),
            (arith::LE, !x || y),
            (arith::GT, x && !y),
            (arith::GE, x || !y),
        ];
        for (op, want) in cases {
            assert_eq!(eval(op, &[x.into(), y.into()]), Ok(want.into()), "{op:?} {x} {y}");
        }
    }
    assert_eq!(eval(arith::NOT, &[true.into()]), Ok(false.into()));
    assert_eq!(eval_scalar(def(arith::ADD), &[true.into(), true.into()], Type::BOOL), None);
}
