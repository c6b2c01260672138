//! The values that a rule is tested on: special ones in all combinations, then random ones; of small
//! types all that there are.

use std::ops::ControlFlow;

use regraft_dialects::semantics::{from_slot, to_slot};
use regraft_ir::{Constant, Type};
use regraft_passes::rewrite::{Condition, Facts};

use crate::choices::SplitMix;

/// The most combinations of values of small types that are all tried.
const MAX_ALL: usize = 1 << 17;
/// The most combinations of special values.
const MAX_SPECIAL: usize = 20_000;
/// The most attempts to draw a value that satisfies the conditions.
const ATTEMPTS: usize = 32;

/// A condition, and whether it is to hold or not to hold.
pub(super) type Demand = (Condition, bool);

/// The values for the variables of a rule.
pub(super) struct Inputs {
    types: Vec<Type>,
    demands: Vec<Vec<Demand>>,
    /// The special values of each variable that are as demanded.
    pools: Vec<Vec<u64>>,
    /// Tells whether floats are drawn as real numbers of moderate size.
    real: bool,
}

impl Inputs {
    pub(super) fn new(types: &[Type], demands: &[Demand], real: bool) -> Self {
        let of = |i: usize| -> Vec<Demand> {
            demands.iter().copied().filter(|(c, _)| c.variable.index() == i).collect()
        };
        let demands: Vec<Vec<Demand>> = (0..types.len()).map(of).collect();
        let pool = |(i, &ty): (usize, &Type)| {
            let values = if is_small(ty) { all(ty) } else { special(ty, real) };
            values.into_iter().filter(|&slot| meets(&demands[i], ty, slot)).collect()
        };
        let pools = types.iter().enumerate().map(pool).collect();
        Self { types: types.to_vec(), demands, pools, real }
    }

    /// Tells whether all combinations of values are tried, so that none is drawn.
    pub(super) fn is_exhaustive(&self) -> bool {
        self.types.iter().all(|&ty| is_small(ty))
            && self
                .pools
                .iter()
                .try_fold(1usize, |n, pool| n.checked_mul(pool.len()))
                .is_some_and(|n| n <= MAX_ALL)
    }

    /// Calls `visit` with one input after the other, `samples` of them random, until it breaks.
    pub(super) fn each(
        &self,
        samples: usize,
        seed: u64,
        mut visit: impl FnMut(&[u64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.pools.iter().any(Vec::is_empty) {
            return ControlFlow::Continue(());
        }
        let mut values = vec![0; self.types.len()];
        if !self.real || self.is_exhaustive() {
            self.cross(&mut values, &mut visit)?;
        }
        if self.is_exhaustive() {
            return ControlFlow::Continue(());
        }
        let mut mix = SplitMix(seed);
        for _ in 0..samples {
            for i in 0..self.types.len() {
                values[i] = self.draw(i, &values, &mut mix);
            }
            visit(&values)?;
        }
        ControlFlow::Continue(())
    }

    /// All combinations of the first values of each pool, of as many as the limit allows.
    fn cross(
        &self,
        values: &mut [u64],
        visit: &mut impl FnMut(&[u64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let most = if self.is_exhaustive() { MAX_ALL } else { MAX_SPECIAL };
        let longest = self.pools.iter().map(Vec::len).max().unwrap_or(0);
        let count = |n: usize| {
            self.pools.iter().fold(1usize, |all, pool| all.saturating_mul(pool.len().min(n)))
        };
        let n = (1..=longest).rev().find(|&n| count(n) <= most).unwrap_or(1);
        for number in 0..count(n) {
            let mut rest = number;
            for (value, pool) in values.iter_mut().zip(&self.pools) {
                let len = pool.len().min(n);
                *value = pool[rest % len];
                rest /= len;
            }
            visit(values)?;
        }
        ControlFlow::Continue(())
    }

    /// A value of variable `i`, which may have to do with those of the variables before it.
    fn draw(&self, i: usize, values: &[u64], mix: &mut SplitMix) -> u64 {
        let ty = self.types[i];
        for _ in 0..ATTEMPTS {
            let bits = mix.next();
            let same = (0..i).rev().find(|&j| self.types[j] == ty && bits & (1 << j) != 0);
            let other = same.map(|j| values[j]);
            let slot = match ty {
                Type::BOOL => bits >> 63,
                _ if ty.is_int() => int(ty, bits, other, self.real),
                _ if self.real => real(ty, bits, other),
                _ => float(ty, bits, mix.next(), other),
            };
            if meets(&self.demands[i], ty, slot) {
                return slot;
            }
        }
        let pool = &self.pools[i];
        pool[mix.next() as usize % pool.len()]
    }
}

/// Returns whether a value is as demanded.
fn meets(demands: &[Demand], ty: Type, slot: u64) -> bool {
    let Some(constant) = from_slot(ty, slot) else { return false };
    let facts = Facts::of_constant(constant, ty);
    demands.iter().all(|(condition, wanted)| condition.holds(&facts) == *wanted)
}

/// Tells whether all values of a type are tried.
fn is_small(ty: Type) -> bool {
    matches!(ty, Type::BOOL | Type::I8)
}

/// All values of a small type, the special ones first.
fn all(ty: Type) -> Vec<u64> {
    let mut values = special(ty, false);
    if ty == Type::I8 {
        let rest = (-128..128).map(|n: i64| n as u64);
        let rest: Vec<u64> = rest.filter(|slot| !values.contains(slot)).collect();
        values.extend(rest);
    }
    values
}

/// The slot of a number of type `ty`; that of a float is rounded.
fn slot(ty: Type, x: f64) -> u64 {
    let constant = Constant::float(ty, x).or_else(|| Constant::int(ty, x as i64));
    constant.and_then(to_slot).map_or(0, |(_, slot)| slot)
}

/// The special values of a type, the more special ones first; as numbers of moderate size, if they are
/// to be `real`.
fn special(ty: Type, real: bool) -> Vec<u64> {
    const REALS: [f64; 9] = [0.0, 1.0, 2.0, 0.5, 3.0, 0.25, 5.0, 0.1, 10.0];
    if ty == Type::BOOL {
        return vec![0, 1];
    }
    if let Some(bits) = ty.bits().filter(|_| ty.is_int()) {
        if real {
            return (0..5).chain(-4..0).map(|n: i64| n as u64).collect();
        }
        let (least, most) = (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits));
        let half = 1i64 << (bits / 2);
        let small = [0, 1, -1, least, most, 2, -2, 3, least + 1, most - 1, -3, 4, 7, half, -half];
        let counts = [5, 6, 8, 9, 10, 15, 16, 31, 32, 63, 64, 65, -4, -7, -8, 100, -100];
        let ends = [most / 2, most / 2 + 1, least / 2, least / 2 - 1, half - 1, half + 1];
        let all = small.into_iter().chain(counts).chain(ends);
        return all.map(|n| n as u64).collect();
    }
    let signs = |x: f64| [slot(ty, x), slot(ty, -x)];
    if real {
        return REALS.into_iter().flat_map(signs).collect();
    }
    // Everything else is found from the layout of the type.
    let sign = if ty == Type::F32 { 1u64 << 31 } else { 1 << 63 };
    let fraction_bits = if ty == Type::F32 { 23 } else { 52 };
    let infinity = slot(ty, f64::INFINITY);
    let quiet = 1u64 << (fraction_bits - 1);
    let least_normal = 1u64 << fraction_bits;
    let one = slot(ty, 1.0);
    let positive = [
        slot(ty, 0.0),
        one,
        infinity,
        infinity | quiet,
        infinity | 1,
        1,
        infinity - 1,
        slot(ty, 2.0),
        slot(ty, 0.5),
        least_normal,
        3,
        one + 1,
        one - 1,
        slot(ty, 3.0),
        least_normal - 1,
        infinity | quiet | 42,
        slot(ty, 1.5),
        slot(ty, 0.1),
        2,
        least_normal + 1,
        infinity - 2,
        // Sums with 1 are ties, and 3 more than half of the least normal.
        slot(ty, (1u64 << (fraction_bits + 1)) as f64),
        slot(ty, (1u64 << (fraction_bits + 1)) as f64) + 1,
        slot(ty, (1u64 << fraction_bits) as f64) + 1,
        least_normal / 2,
        slot(ty, 2.5),
        slot(ty, 10.0),
        // The square is near the ends of the range.
        (infinity + one) / 2,
        one / 2,
        5,
    ];
    positive.into_iter().flat_map(|bits| [bits, bits | sign]).collect()
}

/// An integer: of all kinds of sizes, near another one, or its opposite.
fn int(ty: Type, bits: u64, other: Option<u64>, real: bool) -> u64 {
    let width = ty.bits().unwrap_or(64);
    let small = ((bits >> 40) % 17) as i64 - 8;
    let value = match (bits >> 32) % 8 {
        _ if real => small / 2,
        0 | 1 => bits.rotate_left(17) as i64,
        2 => 1i64.wrapping_shl((bits >> 40) as u32 % width),
        3 => other.map_or(small, |n| (n as i64).wrapping_add(small)),
        4 => other.map_or(small, |n| (n as i64).wrapping_neg()),
        5 => other.map_or(small, |n| n as i64),
        6 => (bits.rotate_left(17) as i64) >> ((bits >> 40) % 64),
        _ => small,
    };
    Constant::int(ty, value).and_then(to_slot).map_or(0, |(_, slot)| slot)
}

/// A float: any bits, numbers of moderate size, powers of two, what is near another float, special ones.
fn float(ty: Type, bits: u64, more: u64, other: Option<u64>) -> u64 {
    let (mask, sign) = match ty {
        Type::F32 => (u64::from(u32::MAX), 1 << 31),
        _ => (u64::MAX, 1 << 63),
    };
    let small = ((bits >> 40) % 33) as f64 / 2.0 - 8.0;
    match (bits >> 32) % 10 {
        0 | 1 => more & mask,
        2 => slot(ty, small),
        3 => {
            let power = (bits >> 40) as i32 % 1100;
            slot(ty, if more & 1 == 0 { 2f64.powi(power) } else { -(2f64.powi(-power)) })
        }
        4 => {
            other.map_or(slot(ty, small), |slot| slot.wrapping_add(more % 5).wrapping_sub(2) & mask)
        }
        5 => other.map_or(slot(ty, small), |slot| slot ^ sign),
        6 => other.map_or(slot(ty, small), |slot| slot),
        7 => {
            let values = special(ty, false);
            values[more as usize % values.len()]
        }
        _ => slot(ty, moderate(more, 16)),
    }
}

/// A real number of moderate size, small whole numbers and their halves being likely.
fn real(ty: Type, bits: u64, other: Option<u64>) -> u64 {
    let small = ((bits >> 40) % 17) as f64 / 2.0 - 4.0;
    match (bits >> 32) % 8 {
        0 => slot(ty, small),
        1 => other.unwrap_or_else(|| slot(ty, small)),
        _ => slot(ty, moderate(bits.rotate_left(24), 4)),
    }
}

/// A number between -2ⁿ and 2ⁿ, of any size down to 2⁻ⁿ.
fn moderate(bits: u64, n: i32) -> f64 {
    let fraction = (bits as i64 >> 11) as f64 / 2f64.powi(52);
    fraction * 2f64.powi((bits % (2 * n as u64)) as i32 + 1 - n)
}

#[cfg(test)]
mod tests {
    use regraft_passes::rewrite::RewriteRules;

    use super::*;

    /// All inputs for a rule at `f64` under its conditions.
    fn floats(conditions: &str, real: bool) -> Vec<Vec<f64>> {
        let mut rules = RewriteRules::default();
        let text = format!("rule r exact: arith.sub ?a, ?b => arith.sub ?b, ?a  if {conditions}");
        rules.add(&regraft_dialects::registry(), "rules", &text).unwrap();
        let rule = rules.find("r").unwrap();
        let demands: Vec<Demand> = rule.conditions().iter().map(|c| (*c, true)).collect();
        let mut all = Vec::new();
        let _ = Inputs::new(&[Type::F64; 2], &demands, real).each(5_000, 1, |values| {
            all.push(values.iter().map(|&bits| f64::from_bits(bits)).collect());
            ControlFlow::Continue(())
        });
        all
    }

    #[test]
    fn inputs_are_special_related_and_satisfy_the_conditions() {
        let all = floats("float ?a", false);
        let some = |is: &dyn Fn(f64, f64) -> bool| all.iter().any(|x| is(x[0], x[1]));
        assert!(some(&|a, b| a.is_nan() && a.to_bits() & (1 << 51) == 0 && b.is_infinite()));
        assert!(some(&|a, b| a.to_bits() == (-0.0f64).to_bits() && b == f64::MAX));
        assert!(some(&|a, b| a == 3.0 * f64::from_bits(1) && b == -a));
        let related = |is: &dyn Fn(f64, f64) -> bool| all.iter().filter(|x| is(x[0], x[1])).count();
        assert!(related(&|a, b| a == -b) > 200 && related(&|a, b| a == b) > 200);
        assert!(related(&|a, b| a != b && (a - b).abs() < 1e-12 * a.abs()) > 50);
        let all = floats("positive ?a, finite ?a, whole ?b", false);
        assert!(all.len() > 5_000);
        assert!(all.iter().all(|x| x[0] > 0.0 && x[0].is_finite() && x[1].fract() == 0.0));
    }

    #[test]
    fn real_numbers_are_of_moderate_size_and_are_zero_sometimes() {
        let all = floats("nonnegative ?a", true);
        assert_eq!(all.len(), 5_000);
        assert!(all.iter().flatten().all(|x| x.abs() <= 16.0));
        assert!(all.iter().filter(|x| x[1] == 0.0).count() > 20);
        assert!(all.iter().all(|x| x[0] >= 0.0));
    }
}
