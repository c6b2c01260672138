//! Derivatives by differences, and what to make of it when they say something else.
//!
//! Central differences over three step sizes, extrapolated (Richardson, 1911; Romberg's scheme):
//! the error falls with the sixth power of the step. Where the function has a kink or a jump near
//! the point, large steps see it; so smaller ones are tried until the two agree. Where none does,
//! the differences to either side tell a kink from a derivative that is wrong.

/// The step sizes that are tried, one after the other.
const STEPS: [f64; 4] = [1.0 / 256.0, 1.0 / 8192.0, 1.0 / 262_144.0, 1.0 / 4_194_304.0];

/// The verdict of differences on a derivative.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Verdict {
    /// The same.
    Agrees,
    /// The differences to either side are not the same: there is none.
    Kink,
    /// The differences do not settle, or the function cannot be computed nearby.
    Unclear,
    /// This number, and not the one that was expected.
    Wrong(f64),
}

/// Judges `expected`, the derivatives at 0 of the numbers that `at` gives.
pub(super) fn judge(mut at: impl FnMut(f64) -> Option<Vec<f64>>, expected: &[f64]) -> Vec<Verdict> {
    let mut verdicts = vec![Verdict::Unclear; expected.len()];
    for h in STEPS {
        let Some(levels) = levels(&mut at, h, expected.len()) else { continue };
        for (k, verdict) in verdicts.iter_mut().enumerate() {
            if *verdict != Verdict::Agrees {
                *verdict = one(&levels, h, k, expected[k]);
            }
        }
        if verdicts.iter().all(|&verdict| verdict == Verdict::Agrees) {
            return verdicts;
        }
    }
    // The values at the point itself are only needed where something is the matter.
    let h = STEPS[3];
    let sides = (at(h), at(0.0), at(-h));
    for (k, verdict) in verdicts.iter_mut().enumerate() {
        let central = match *verdict {
            Verdict::Wrong(central) => central,
            // At a jump they never settle.
            Verdict::Unclear => 0.0,
            Verdict::Agrees | Verdict::Kink => continue,
        };
        let (Some(plus), Some(here), Some(minus)) = &sides else {
            *verdict = Verdict::Unclear;
            continue;
        };
        if plus.len() != expected.len() || here.len() != plus.len() || minus.len() != plus.len() {
            *verdict = Verdict::Unclear;
            continue;
        }
        let (right, left) = ((plus[k] - here[k]) / h, (here[k] - minus[k]) / h);
        let size = right.abs().max(left.abs());
        if (right - left).abs() > 1e-3 * size.max(central.abs()) + noise(here[k], h) {
            *verdict = Verdict::Kink;
        }
    }
    verdicts
}

/// The values at `h`, `h/2` and `h/4` to either side, the larger ones first.
type Levels = [(Vec<f64>, Vec<f64>); 3];

fn levels(at: &mut impl FnMut(f64) -> Option<Vec<f64>>, h: f64, count: usize) -> Option<Levels> {
    let mut level = |h: f64| {
        let both = (at(h)?, at(-h)?);
        (both.0.len() == count && both.1.len() == count).then_some(both)
    };
    Some([level(h)?, level(h / 2.0)?, level(h / 4.0)?])
}

fn one(levels: &Levels, h: f64, k: usize, expected: f64) -> Verdict {
    let central = |level: usize| {
        let (plus, minus) = &levels[level];
        (plus[k] - minus[k]) / (2.0 * h / f64::from(1 << level))
    };
    let (a, b, c) = (central(0), central(1), central(2));
    let (ab, bc) = ((4.0 * b - a) / 3.0, (4.0 * c - b) / 3.0);
    let best = (16.0 * bc - ab) / 15.0;
    let error = (best - bc).abs();
    let value = levels[2].0[k].abs().max(levels[2].1[k].abs());
    let noise = noise(value, h / 4.0);
    if !best.is_finite() || error > 1e-3 * best.abs().max(expected.abs().min(1.0)) + noise {
        return Verdict::Unclear;
    }
    let tolerance = 1e-6 * best.abs().max(expected.abs()) + 4.0 * error + noise;
    if (best - expected).abs() <= tolerance { Verdict::Agrees } else { Verdict::Wrong(best) }
}

/// By how much rounding may change a difference quotient.
fn noise(value: f64, h: f64) -> f64 {
    256.0 * f64::EPSILON * value.abs() / h + 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(f: impl Fn(f64) -> f64, expected: f64) -> Verdict {
        judge(|h| Some(vec![f(h)]), &[expected])[0]
    }

    #[test]
    fn smooth_functions_are_told_from_wrong_derivatives() {
        assert_eq!(verdict(|h| (1.0 + h).sin(), 1f64.cos()), Verdict::Agrees);
        assert_eq!(verdict(|h| (1.0 + h).exp() * 1e6, 1f64.exp() * 1e6), Verdict::Agrees);
        assert_eq!(verdict(|_| 7.0, 0.0), Verdict::Agrees);
        let Verdict::Wrong(right) = verdict(|h| (1.0 + h).sin(), 0.55) else { panic!() };
        assert!((right - 1f64.cos()).abs() < 1e-6);
        assert!(matches!(verdict(|h| h, f64::NAN), Verdict::Wrong(_)));
    }

    #[test]
    fn kinks_at_the_point_and_beside_it() {
        assert_eq!(verdict(f64::abs, 1.0), Verdict::Kink);
        assert_eq!(verdict(|h| if h > 0.0 { 1.0 } else { 0.0 }, 0.0), Verdict::Kink);
        // Here the derivative is 1, and what is wrong is wrong.
        assert_eq!(verdict(|h| (h + 1e-4).abs(), 1.0), Verdict::Agrees);
        assert!(matches!(verdict(|h| (h + 1e-4).abs(), -1.0), Verdict::Wrong(_)));
    }

    #[test]
    fn what_does_not_settle_says_nothing() {
        assert_eq!(verdict(|h| f64::INFINITY * h, 1.0), Verdict::Unclear);
        assert_eq!(judge(|_| None, &[1.0]), [Verdict::Unclear]);
    }
}
