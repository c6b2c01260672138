//! Arithmetic on intervals of integers, under wrapping.
//!
//! Each function gives an interval that holds every value that the op can give on values of its
//! operands' intervals, by the corners where the op is monotonic in each operand (computed in 128
//! bits, so that nothing is lost), or the whole type where a value may wrap and another may not.

use regraft_dialects::arith;
use regraft_ir::{Op, Type};

/// The integers from `lo` to `hi`, both included; there is at least one. A bool counts as 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Interval {
    /// The least.
    pub lo: i64,
    /// The greatest.
    pub hi: i64,
}

impl Interval {
    /// False and true.
    pub(crate) const BOOL: Self = Self { lo: 0, hi: 1 };
    /// The numbers that are not negative.
    pub(crate) const NATURAL: Self = Self { lo: 0, hi: i64::MAX };

    /// The numbers of elements that an array can have: each takes a byte at least, and no machine
    /// has room for more. A single dimension can be greater, if another one is 0.
    pub(crate) const LENGTH: Self = Self { lo: 0, hi: 1 << 60 };

    /// One integer.
    pub const fn single(x: i64) -> Self {
        Self { lo: x, hi: x }
    }

    /// All values of an integer type, or of bool; those of `i64` for all other types.
    pub fn of_type(ty: Type) -> Self {
        if ty == Type::BOOL {
            return Self::BOOL;
        }
        let lo = match ty.bits() {
            Some(bits) if ty.is_int() => i64::MIN >> (64 - bits),
            _ => i64::MIN,
        };
        Self { lo, hi: !lo }
    }

    /// The integer, if there is one only.
    pub fn as_single(self) -> Option<i64> {
        (self.lo == self.hi).then_some(self.lo)
    }

    /// Returns whether `x` is in it.
    pub fn contains(self, x: i64) -> bool {
        self.lo <= x && x <= self.hi
    }

    /// The least interval with all of both.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// Returns whether all of it is in `other`.
    pub(crate) fn is_within(self, other: Self) -> bool {
        other.lo <= self.lo && self.hi <= other.hi
    }

    /// Returns what is in both.
    pub fn meet(self, other: Self) -> Option<Self> {
        let both = Self { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) };
        (both.lo <= both.hi).then_some(both)
    }

    /// The interval from the least to the greatest of some numbers, if all are values of `ty`.
    fn exact(corners: &[i128], ty: Type) -> Option<Self> {
        let all = Self::of_type(ty);
        let (lo, hi) = ends(corners);
        let fits = i128::from(all.lo) <= lo && hi <= i128::from(all.hi);
        fits.then_some(Self { lo: lo as i64, hi: hi as i64 })
    }

    /// The same as values of `ty` after wrapping: exact if all wrap the same number of times.
    fn wrapped(corners: &[i128], ty: Type) -> Self {
        if let Some(exact) = Self::exact(corners, ty) {
            return exact;
        }
        let all = Self::of_type(ty);
        let (lo, hi) = ends(corners);
        let width = i128::from(all.hi) - i128::from(all.lo) + 1;
        if hi - lo >= width {
            return all;
        }
        let turns = (lo - i128::from(all.lo)).div_euclid(width);
        if (hi - i128::from(all.lo)).div_euclid(width) != turns {
            return all;
        }
        let shift = turns * width;
        Self { lo: (lo - shift) as i64, hi: (hi - shift) as i64 }
    }

    /// The same where an op traps on what is out of range.
    fn clamped(corners: &[i128], ty: Type) -> Self {
        let all = Self::of_type(ty);
        let (lo, hi) = ends(corners);
        let clamp = |x: i128| x.clamp(all.lo.into(), all.hi.into()) as i64;
        Self { lo: clamp(lo), hi: clamp(hi) }
    }
}

fn ends(corners: &[i128]) -> (i128, i128) {
    corners.iter().fold((i128::MAX, i128::MIN), |(lo, hi), &x| (lo.min(x), hi.max(x)))
}

/// The interval between these ends, if they are numbers within another one.
#[inline]
fn within(ends: (Option<i64>, Option<i64>), all: Interval) -> Option<Interval> {
    let (lo, hi) = (ends.0?, ends.1?);
    (lo >= all.lo && hi <= all.hi).then_some(Interval { lo, hi })
}

fn corners(x: Interval, y: Interval, op: impl Fn(i128, i128) -> i128) -> [i128; 4] {
    let [a, b, c, d] = [x.lo, x.hi, y.lo, y.hi].map(i128::from);
    [op(a, c), op(a, d), op(b, c), op(b, d)]
}

/// An op of one operand of type `from` with a result of type `ty`.
pub(crate) fn unary(op: Op, x: Interval, from: Type, ty: Type) -> Interval {
    let all = Interval::of_type(ty);
    let bits = || i64::from(from.bits().unwrap_or(1));
    match op {
        arith::NEG => Interval::wrapped(&[-i128::from(x.lo), -i128::from(x.hi)], ty),
        arith::ABS if x.lo >= 0 => x,
        arith::ABS if x.lo > all.lo => {
            let lo = if x.hi >= 0 { 0 } else { -x.hi };
            Interval { lo, hi: x.hi.max(-x.lo) }
        }
        arith::NOT if ty == Type::BOOL => Interval { lo: 1 - x.hi, hi: 1 - x.lo },
        arith::NOT => Interval { lo: !x.hi, hi: !x.lo },
        arith::CLZ | arith::CTZ | arith::POPCOUNT => Interval { lo: 0, hi: bits() },
        arith::SIGNBIT => Interval { lo: i64::from(x.hi < 0), hi: i64::from(x.lo < 0) },
        arith::ZEXT if x.lo < 0 => match from.bits() {
            Some(bits @ ..64) if bits < ty.bits().unwrap_or(0) => {
                Interval { lo: 0, hi: (1 << bits) - 1 }
            }
            _ => all,
        },
        arith::SEXT | arith::ZEXT => x,
        arith::WRAP if ty != Type::BOOL => Interval::wrapped(&[x.lo.into(), x.hi.into()], ty),
        arith::WRAP if all.contains(x.lo) && all.contains(x.hi) => x,
        // What is out of range traps.
        regraft_dialects::core::CONVERT => x.meet(all).unwrap_or(all),
        _ => all,
    }
}

/// An op of two operands, the first of them of the type `ty` of the result.
pub(crate) fn binary(op: Op, x: Interval, y: Interval, ty: Type) -> Interval {
    let all = Interval::of_type(ty);
    match op {
        // What can be anything plus something can.
        arith::ADD | arith::SUB | arith::XOR if x == all || y == all => all,
        arith::ADD => {
            let ends = (x.lo.checked_add(y.lo), x.hi.checked_add(y.hi));
            within(ends, all).unwrap_or_else(|| Interval::wrapped(&corners(x, y, |x, y| x + y), ty))
        }
        arith::SUB => {
            let ends = (x.lo.checked_sub(y.hi), x.hi.checked_sub(y.lo));
            within(ends, all).unwrap_or_else(|| Interval::wrapped(&corners(x, y, |x, y| x - y), ty))
        }
        arith::MUL => Interval::wrapped(&corners(x, y, |x, y| x * y), ty),
        arith::CHECKED_ADD => Interval::clamped(&corners(x, y, |x, y| x + y), ty),
        arith::CHECKED_SUB => Interval::clamped(&corners(x, y, |x, y| x - y), ty),
        arith::CHECKED_MUL => Interval::clamped(&corners(x, y, |x, y| x * y), ty),
        arith::MIN => Interval { lo: x.lo.min(y.lo), hi: x.hi.min(y.hi) },
        arith::MAX => Interval { lo: x.lo.max(y.lo), hi: x.hi.max(y.hi) },
        arith::DIV => quotient(x, y, ty, |x, y| x / y),
        arith::FLD => quotient(x, y, ty, i128::div_euclid_floor),
        arith::CLD => quotient(x, y, ty, |x, y| -(-x).div_euclid_floor(y)),
        arith::REM => {
            let most = most_remainder(y);
            Interval {
                lo: if x.lo < 0 { x.lo.max(-most) } else { 0 },
                hi: if x.hi > 0 { x.hi.min(most) } else { 0 },
            }
        }
        arith::MOD => {
            let hi = if y.hi > 0 { y.hi - 1 } else { 0 };
            let lo = if y.lo < 0 { y.lo + 1 } else { 0 };
            Interval {
                lo: if x.hi <= 0 { lo.max(x.lo) } else { lo },
                hi: if x.lo >= 0 { hi.min(x.hi) } else { hi },
            }
            .unless_crossed(x, y, Interval { lo, hi })
        }
        arith::AND if x.lo >= 0 || y.lo >= 0 => {
            let hi = match (x.lo >= 0, y.lo >= 0) {
                (true, true) => x.hi.min(y.hi),
                (true, false) => x.hi,
                _ => y.hi,
            };
            Interval { lo: 0, hi }
        }
        arith::OR if x.lo >= 0 && y.lo >= 0 => {
            Interval { lo: x.lo.max(y.lo), hi: ones(x.hi | y.hi) }
        }
        arith::XOR if x.lo >= 0 && y.lo >= 0 => Interval { lo: 0, hi: ones(x.hi | y.hi) },
        arith::SHL => match y.as_single() {
            Some(count @ 0..64) => {
                Interval::wrapped(&[x.lo, x.hi].map(|x| i128::from(x) << count), ty)
            }
            _ => all,
        },
        arith::ASHR if y.lo >= 0 => shifted(x, y),
        arith::SHR if y.lo >= 0 && x.lo >= 0 => shifted(x, y),
        arith::SHR if y.lo >= 1 => {
            let bits = i64::from(ty.bits().unwrap_or(64));
            Interval {
                lo: 0,
                hi: if y.lo >= bits { 0 } else { i64::MAX >> (64 - bits + y.lo - 1) },
            }
        }
        _ => all,
    }
}

/// The sums or differences, if none of them wraps.
pub(crate) fn unwrapped(op: Op, x: Interval, y: Interval, ty: Type) -> Option<Interval> {
    match op {
        arith::ADD | arith::CHECKED_ADD => Interval::exact(&corners(x, y, |x, y| x + y), ty),
        arith::SUB | arith::CHECKED_SUB => Interval::exact(&corners(x, y, |x, y| x - y), ty),
        _ => None,
    }
}

/// Returns which operands the result of an op of type `ty` is bounded by from above: the position of
/// each, and the most by which the result is greater.
pub(crate) fn upper_bounds(
    op: Op,
    x: Interval,
    y: Interval,
    ty: Type,
) -> impl Iterator<Item = (usize, i128)> {
    let fits = || unwrapped(op, x, y, ty).is_some();
    let by = |position, more| Some((position, more));
    let bounds = match op {
        arith::ADD if fits() => [by(0, y.hi.into()), by(1, x.hi.into())],
        arith::SUB if fits() => [by(0, -i128::from(y.lo)), None],
        arith::MIN => [by(0, 0), by(1, 0)],
        arith::DIV | arith::FLD | arith::CLD if x.lo >= 0 && y.lo >= 1 => [by(0, 0), None],
        arith::ASHR | arith::SHR if x.lo >= 0 && y.lo >= 0 => [by(0, 0), None],
        arith::AND => [by(0, 0).filter(|_| x.lo >= 0), by(1, 0).filter(|_| y.lo >= 0)],
        arith::REM | arith::MOD if y.lo >= 1 => [by(1, -1), by(0, 0).filter(|_| x.lo >= 0)],
        _ => [None, None],
    };
    bounds.into_iter().flatten()
}

/// Division rounded down.
trait FloorDivision {
    fn div_euclid_floor(self, y: Self) -> Self;
}

impl FloorDivision for i128 {
    fn div_euclid_floor(self, y: Self) -> Self {
        let quotient = self / y;
        if self % y != 0 && (self < 0) != (y < 0) { quotient - 1 } else { quotient }
    }
}

impl Interval {
    /// A floored remainder lies between 0 and the divisor on the side of its sign; that it is
    /// not farther out than `x` holds only if neither can be on the other side.
    fn unless_crossed(self, x: Self, y: Self, whole: Self) -> Self {
        let same_side = x.lo >= 0 && y.lo >= 0 || x.hi <= 0 && y.hi <= 0;
        if same_side { self } else { whole }
    }
}

/// A quotient: monotonic in each operand on either side of the divisor 0, which traps.
fn quotient(x: Interval, y: Interval, ty: Type, op: impl Fn(i128, i128) -> i128) -> Interval {
    let mut found: Option<Interval> = None;
    let sides = [Interval { lo: i64::MIN, hi: -1 }, Interval { lo: 1, hi: i64::MAX }];
    for side in sides.into_iter().filter_map(|side| side.meet(y)) {
        let part = Interval::clamped(&corners(x, side, &op), ty);
        found = Some(found.map_or(part, |found| found.join(part)));
    }
    found.unwrap_or(Interval::of_type(ty))
}

/// The greatest absolute value of a remainder of a division by `y`.
fn most_remainder(y: Interval) -> i64 {
    let most = y.lo.unsigned_abs().max(y.hi.unsigned_abs());
    i64::try_from(most.saturating_sub(1)).unwrap_or(i64::MAX)
}

/// The least number of the form 2^k - 1 that is not less.
fn ones(x: i64) -> i64 {
    if x == 0 { 0 } else { i64::MAX >> (x.leading_zeros() - 1) }
}

/// A shift to the right that keeps the sign, by counts that are not negative.
fn shifted(x: Interval, count: Interval) -> Interval {
    let (least, most) = (count.lo.min(63), count.hi.min(63));
    Interval {
        lo: if x.lo < 0 { x.lo >> least } else { x.lo >> most },
        hi: if x.hi < 0 { x.hi >> most } else { x.hi >> least },
    }
}

/// Returns what a comparison gives, if the intervals decide it.
pub(crate) fn compare(op: Op, x: Interval, y: Interval) -> Interval {
    let known = match op {
        arith::LT => decide(x.hi < y.lo, x.lo >= y.hi),
        arith::LE => decide(x.hi <= y.lo, x.lo > y.hi),
        arith::GT => decide(x.lo > y.hi, x.hi <= y.lo),
        arith::GE => decide(x.lo >= y.hi, x.hi < y.lo),
        arith::EQ => decide(is_same(x, y), x.meet(y).is_none()),
        arith::NE => decide(x.meet(y).is_none(), is_same(x, y)),
        _ => None,
    };
    known.map_or(Interval::BOOL, |known| Interval::single(known.into()))
}

fn decide(holds: bool, fails: bool) -> Option<bool> {
    match (holds, fails) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

fn is_same(x: Interval, y: Interval) -> bool {
    x.as_single().is_some() && x == y
}

#[cfg(test)]
mod tests {
    use regraft_dialects::{registry, semantics};
    use regraft_ir::{Constant, Trap};

    use super::*;

    fn eval_scalar(op: Op, args: &[Constant], ty: Type) -> Option<Result<Constant, Trap>> {
        semantics::eval_scalar(registry().def(op)?, args, ty)
    }

    /// A value on operands in these intervals is no further above them than is said.
    fn check_bounds(op: Op, [x, y]: [Interval; 2], operands: [i64; 2], value: i64) {
        for (position, more) in upper_bounds(op, x, y, Type::I8) {
            let most = i128::from(operands[position]) + more;
            assert!(i128::from(value) <= most, "{op:?} {x:?} {y:?}: {operands:?}");
        }
    }

    #[test]
    fn sums_and_differences_that_may_wrap_have_no_exact_interval() {
        let [x, y] = [(100, 120), (-7, 7)].map(|(lo, hi)| Interval { lo, hi });
        let exact = |lo, hi| Some(Interval { lo, hi });
        assert_eq!(unwrapped(arith::ADD, x, y, Type::I8), exact(93, 127));
        assert_eq!(unwrapped(arith::SUB, x, y, Type::I8), exact(93, 127));
        assert_eq!(unwrapped(arith::ADD, x, Interval::single(8), Type::I8), None);
        assert_eq!(unwrapped(arith::ADD, x, Interval::single(8), Type::I16), exact(108, 128));
        assert_eq!(unwrapped(arith::SUB, Interval::single(-9), x, Type::I8), None);
    }

    /// Every op on all small intervals around the ends of `i8`, against all values in them.
    #[test]
    fn every_value_is_in_the_interval() {
        let points = [-128i64, -127, -3, -1, 0, 1, 2, 5, 126, 127];
        let mut intervals = Vec::new();
        for (i, &lo) in points.iter().enumerate() {
            intervals.extend(points[i..].iter().map(|&hi| Interval { lo, hi }));
        }
        let values = |x: Interval| {
            let all = points.into_iter().chain([-64, -2, 3, 4, 64, 100]);
            all.filter(move |&value| x.contains(value))
        };
        let i8 = |x: i64| Constant::I8(x as i8);
        let binaries = [
            arith::ADD,
            arith::SUB,
            arith::MUL,
            arith::CHECKED_ADD,
            arith::CHECKED_SUB,
            arith::CHECKED_MUL,
            arith::MIN,
            arith::MAX,
            arith::DIV,
            arith::FLD,
            arith::CLD,
            arith::REM,
            arith::MOD,
            arith::AND,
            arith::OR,
            arith::XOR,
        ];
        let counts = [arith::SHL, arith::SHR, arith::ASHR];
        let comparisons = [arith::LT, arith::LE, arith::GT, arith::GE, arith::EQ, arith::NE];
        for &x in &intervals {
            for &y in &intervals {
                for a in values(x) {
                    for b in values(y) {
                        for op in binaries {
                            let made = binary(op, x, y, Type::I8);
                            if let Some(Ok(value)) = eval_scalar(op, &[i8(a), i8(b)], Type::I8) {
                                let value = value.as_int().expect("an integer");
                                assert!(made.contains(value), "{op:?} {x:?} {y:?}: {a} {b}");
                                check_bounds(op, [x, y], [a, b], value);
                            }
                        }
                        for op in counts {
                            let made = binary(op, x, y, Type::I8);
                            let value = eval_scalar(op, &[i8(a), Constant::I64(b)], Type::I8);
                            let value = value.expect("known").expect("defined");
                            let value = value.as_int().expect("an integer");
                            assert!(made.contains(value), "{op:?} {x:?} {y:?}: {a} {b}");
                            check_bounds(op, [x, y], [a, b], value);
                        }
                        for op in comparisons {
                            let made = compare(op, x, y);
                            let value = eval_scalar(op, &[i8(a), i8(b)], Type::BOOL);
                            let Some(Ok(Constant::Bool(value))) = value else { panic!("a bool") };
                            assert!(made.contains(value.into()), "{op:?} {x:?} {y:?}: {a} {b}");
                        }
                    }
                }
            }
            for op in [
                arith::NEG,
                arith::ABS,
                arith::NOT,
                arith::CLZ,
                arith::CTZ,
                arith::POPCOUNT,
                arith::SIGNBIT,
                arith::BSWAP,
            ] {
                for a in values(x) {
                    let ty = if op == arith::SIGNBIT { Type::BOOL } else { Type::I8 };
                    let made = unary(op, x, Type::I8, ty);
                    let value = eval_scalar(op, &[i8(a)], ty).expect("known").expect("defined");
                    let value = match value {
                        Constant::Bool(value) => value.into(),
                        other => other.as_int().expect("an integer"),
                    };
                    assert!(made.contains(value), "{op:?} {x:?}: {a} gives {value}");
                }
            }
            for (op, ty) in [
                (arith::SEXT, Type::I16),
                (arith::ZEXT, Type::I16),
                (arith::WRAP, Type::I8),
                (arith::WRAP, Type::BOOL),
                (regraft_dialects::core::CONVERT, Type::I64),
                (regraft_dialects::core::CONVERT, Type::BOOL),
            ] {
                for a in values(x) {
                    let made = unary(op, x, Type::I8, ty);
                    let value = match eval_scalar(op, &[i8(a)], ty) {
                        Some(Ok(Constant::Bool(value))) => value.into(),
                        Some(Ok(other)) => other.as_int().expect("an integer"),
                        _ => continue,
                    };
                    assert!(made.contains(value), "{op:?} {x:?}: {a} gives {value}");
                }
            }
        }
        // Narrowing from a wider type.
        for (lo, hi) in [(-130, -126), (100, 130), (300, 301), (-1000, 1000)] {
            for a in lo..=hi {
                let made = unary(arith::WRAP, Interval { lo, hi }, Type::I64, Type::I8);
                assert!(made.contains(i64::from(a as i8)), "{lo}..{hi}: {a}");
            }
        }
    }
}
