//! After how many back edges a comparison of polynomials leaves a loop.

use regraft_dialects::arith;
use regraft_ir::{Function, Op, Type};

use super::dominating::DominatingConditions;
use super::first_hit::first_hit;
use super::known::{is_signed_distance, range};
use super::{Condition, Count, CountForm, Holds, LatchRuns};
use crate::analysis::comparison::swapped;
use crate::analysis::poly::{Sym, wrap};
use crate::analysis::{Interval, LoopId, Poly};

/// The first iteration in which `x stay y` is false, of polynomials in the iteration of a loop. All
/// else in them has to be `available` before the loop.
pub(crate) fn compared(
    f: &Function,
    dominating: &DominatingConditions,
    l: LoopId,
    stay: Op,
    [x, y]: [&Poly; 2],
    available: impl Fn(&Poly) -> bool,
) -> Option<LatchRuns> {
    if x == y {
        let stays = matches!(stay, arith::LE | arith::GE | arith::EQ);
        return Some(if stays { LatchRuns::Never } else { LatchRuns::Constant(0) });
    }
    let i = Sym::Iteration(l);
    let ((a, s), (b, t)) = (x.linear_in(i)?, y.linear_in(i)?);
    if ![&a, &s, &b, &t].into_iter().all(available) {
        return None;
    }
    let (stay, from, step, to) = if t.is_zero() {
        (stay, a, s, b)
    } else if s.is_zero() {
        (swapped(stay), b, t, a)
    } else if matches!(stay, arith::EQ | arith::NE) {
        // They are equal where their difference is 0.
        (stay, a.sub(&b)?, s.sub(&t)?, Poly::constant(a.ty(), 0))
    } else {
        return None;
    };
    let step = step.constant_value()?;
    if let (Some(from), Some(to)) = (from.constant_value(), to.constant_value()) {
        return Some(constant_count(x.ty(), stay, from, step, to));
    }
    let count = symbolic_count(f, dominating, stay, &from, step, &to)?;
    // What has no symbols left (n + 4 - n) is a constant.
    Some(match (&count.form, &count.holds) {
        (CountForm::Number(poly), Holds::Always) if poly.terms().is_empty() => {
            LatchRuns::Constant(unsigned(poly.ty(), poly.constant_part()))
        }
        _ => LatchRuns::Symbolic(Box::new(count)),
    })
}

fn unsigned(ty: Type, x: i64) -> u64 {
    x as u64 & (u64::MAX >> (64 - ty.bits().unwrap_or(64)))
}

/// The exact count where all is constant.
pub(super) fn constant_count(ty: Type, stay: Op, from: i64, step: i64, to: i64) -> LatchRuns {
    let Interval { lo: least, hi: greatest } = Interval::of_type(ty);
    // The numbers with which it leaves; the range may go around.
    let (first, last) = match stay {
        arith::LT => (to, greatest),
        arith::LE if to == greatest => return LatchRuns::Never,
        arith::LE => (to + 1, greatest),
        arith::GT => (least, to),
        arith::GE if to == least => return LatchRuns::Never,
        arith::GE => (least, to - 1),
        arith::EQ => (to.wrapping_add(1), to.wrapping_sub(1)),
        _ => (to, to),
    };
    let bits = ty.bits().unwrap_or(64);
    let [from, step, first, last] = [from, step, first, last].map(|x| unsigned(ty, x));
    first_hit(bits, from, step, first, last).map_or(LatchRuns::Never, LatchRuns::Constant)
}

/// A count for a constant step.
fn symbolic_count(
    f: &Function,
    dominating: &DominatingConditions,
    stay: Op,
    from: &Poly,
    step: i64,
    to: &Poly,
) -> Option<Count> {
    let ty = from.ty();
    let Interval { lo: least, hi: greatest } = Interval::of_type(ty);
    if step == 0 {
        // It leaves at once, or never.
        let form = CountForm::Number(Poly::constant(ty, 0));
        return Some(Count { form, holds: Holds::IfTaken, is_signed: true });
    }
    if stay == arith::EQ {
        let form = CountForm::Equal(from.clone(), to.clone());
        return Some(Count { form, holds: Holds::Always, is_signed: true });
    }
    if stay == arith::NE {
        return until_equal(f, ty, &to.sub(from)?, step);
    }
    let down = step < 0;
    if down != matches!(stay, arith::GT | arith::GE) {
        return None;
    }
    let stride = step.unsigned_abs();
    // How far beyond the bound the counter may come: it must not wrap around there.
    let beyond = i64::try_from(stride).ok()? - 1;
    let inclusive = matches!(stay, arith::LE | arith::GE);
    let margin = beyond.checked_add(i64::from(inclusive))?;
    // The bound as it is where the count holds.
    let limit = if down { least.checked_add(margin)? } else { greatest.checked_sub(margin)? };
    let end = range(f, to);
    let within = if down { end.lo >= limit } else { end.hi <= limit };
    let holds = match () {
        () if margin == 0 || within => Holds::Always,
        // A bound at the end of the type is never passed.
        () if margin == 1 && inclusive => Holds::IfTaken,
        () => Holds::If(Condition { value: to.clone(), limit, at_least: down }),
    };
    // With a bound beyond the limit the count says nothing, so that it does not matter that this
    // wraps around there.
    let past = i64::from(inclusive) * step.signum();
    // A bound that is known to lie in the right direction needs no comparison.
    let start = range(f, from);
    let ahead = if down {
        start.lo >= end.hi.saturating_add(past)
    } else {
        start.hi <= end.lo.saturating_add(past)
    };
    let ahead = ahead || dominating.are_ahead(from, to, inclusive, down);
    let to = to.plus(past);
    let is_signed = is_signed_distance(f, from, &to, down) || stride > 1;
    let distance = if down { from.sub(&to)? } else { to.sub(from)? };
    let form = if stride == 1 && ahead {
        CountForm::Number(distance)
    } else {
        CountForm::Distance { from: from.clone(), to, down, stride }
    };
    Some(Count { form, holds, is_signed })
}

/// The solution of `step * i = distance`.
fn until_equal(f: &Function, ty: Type, distance: &Poly, step: i64) -> Option<Count> {
    let shift = step.trailing_zeros();
    let inverse = odd_inverse(step >> shift);
    if shift == 0 {
        let count = distance.scale(inverse);
        let is_signed = range(f, &count).lo >= 0;
        return Some(Count { form: CountForm::Number(count), holds: Holds::Always, is_signed });
    }
    if let Some(distance) = distance.constant_value() {
        let LatchRuns::Constant(n) = constant_count(ty, arith::NE, 0, step, distance) else {
            return None;
        };
        let form = CountForm::Number(Poly::constant(ty, n as i64));
        return Some(Count { form, holds: Holds::Always, is_signed: true });
    }
    let inverse = wrap(ty, inverse);
    let form = CountForm::Solution { distance: distance.clone(), shift, inverse };
    Some(Count { form, holds: Holds::IfTaken, is_signed: true })
}

/// The inverse of an odd number modulo 2^64, by Newton's iteration: each step doubles the number
/// of low bits that are right.
pub(crate) fn odd_inverse(x: i64) -> i64 {
    (0..5).fold(x, |y, _| y.wrapping_mul(2i64.wrapping_sub(x.wrapping_mul(y))))
}

#[cfg(test)]
mod tests {
    use regraft_ir::Type;

    use super::*;

    /// Compares the symbolic counts of loops over 8 bits with what counting gives, for these steps
    /// and bounds, and all numbers to begin with. Returns how many counts held.
    fn check(steps: impl Iterator<Item = i64>, bounds: &[i64]) -> u32 {
        let ctx = regraft_dialects::context();
        let f = Function::new(&ctx, "f", &[Type::I8, Type::I8], Type::I8);
        let entry = f.entry().expect("there is an entry");
        let params: Vec<_> = f.params(entry).collect();
        let [from, to] = [params[0], params[1]].map(|v| Poly::value(Type::I8, v));
        let ops = [arith::LT, arith::LE, arith::GT, arith::GE, arith::EQ, arith::NE];
        let mut held = 0;
        for (step, stay) in steps.flat_map(|step| ops.map(|stay| (step, stay))) {
            let dominating = DominatingConditions::default();
            let Some(count) = symbolic_count(&f, &dominating, stay, &from, step, &to) else {
                continue;
            };
            for a in -128..=127 {
                for &b in bounds {
                    let of = |s| if s == Sym::Value(params[0]) { a } else { b };
                    let exact = counted(stay, a, step, b);
                    let text = format!("{a} by {step} while {stay:?} {b}: {count:?}");
                    match (count.evaluate(of), exact, &count.holds) {
                        (None, ..) => continue,
                        (Some(_), None, Holds::IfTaken) => {}
                        (found, ..) => assert_eq!(found, exact, "{text}"),
                    }
                    assert!(!count.is_signed || exact.is_none_or(|n| n < 128), "{text}");
                    held += 1;
                }
            }
        }
        held
    }

    /// The first number for which it leaves, by counting.
    fn counted(stay: Op, from: i64, step: i64, to: i64) -> Option<u64> {
        (0..256).find(|&i: &u64| {
            let x = wrap(Type::I8, from.wrapping_add(step.wrapping_mul(i as i64)));
            !match stay {
                arith::LT => x < to,
                arith::LE => x <= to,
                arith::GT => x > to,
                arith::GE => x >= to,
                arith::EQ => x == to,
                _ => x != to,
            }
        })
    }

    #[test]
    fn symbolic_counts_over_eight_bits_agree_with_counting() {
        let steps = [-128, -127, -5, -4, -3, -2, -1, 0, 1, 2, 3, 6, 64, 127];
        let bounds = [-128, -127, -125, -1, 0, 3, 121, 126, 127];
        assert!(check(steps.into_iter(), &bounds) > 50_000);
    }

    #[test]
    fn symbolic_counts_of_all_steps_over_eight_bits_agree_with_counting() {
        let bounds = [-128, -127, -64, -3, -1, 0, 1, 2, 50, 101, 126, 127];
        assert!(check(-128..=127, &bounds) > 500_000);
    }

    #[test]
    fn inverses_of_odd_numbers() {
        for x in [1, 3, -1, 5, i64::MAX, 0x1234_5679] {
            assert_eq!(x.wrapping_mul(odd_inverse(x)), 1);
        }
    }
}
