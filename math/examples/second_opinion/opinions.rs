//! The results of other libraries for each function, and where they are accurate.

use std::fmt;

use regraft_math as ours;

/// A function, and that of another library.
pub struct Opinion {
    pub name: &'static str,
    pub function: Either,
    /// The ranges of arguments, of which one is drawn for each.
    ranges: &'static [[(f64, f64); 2]],
    /// The most steps from float to float between both.
    pub limit: f64,
}

/// Ours and theirs.
pub enum Either {
    One(fn(f64) -> f64, fn(f64) -> f64),
    Two(fn(f64, f64) -> f64, fn(f64, f64) -> f64),
}

/// The arguments for which two results differ most.
pub struct Worst {
    name: &'static str,
    args: [f64; 2],
    pub ulps: f64,
    /// The part of results that are not the same.
    pub differ: f64,
}

impl fmt::Display for Worst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, args, ulps, differ } = self;
        write!(f, "{name:6} {ulps} ulp at most, at {args:?}; {:.2} % differ", differ * 100.0)
    }
}

impl Opinion {
    /// Compares both for `count` arguments, drawn by a source of numbers of `[0, 1)`.
    pub fn compare(&self, count: usize, unit: &mut dyn FnMut() -> f64) -> Worst {
        let mut worst = Worst { name: self.name, args: [0.0; 2], ulps: 0.0, differ: 0.0 };
        for i in 0..count {
            let args =
                self.ranges[i % self.ranges.len()].map(|(low, high)| low + (high - low) * unit());
            let (found, want) = match self.function {
                Either::One(ours, theirs) => (ours(args[0]), theirs(args[0])),
                Either::Two(ours, theirs) => (ours(args[0], args[1]), theirs(args[0], args[1])),
            };
            let ulps = steps(found, want);
            worst.differ += f64::from(ulps > 0.0) / count as f64;
            if ulps > worst.ulps {
                (worst.args, worst.ulps) = (args, ulps);
            }
        }
        worst
    }
}

/// The number of floats from one to another; infinite for one NaN.
fn steps(x: f64, y: f64) -> f64 {
    if x == y || x.is_nan() && y.is_nan() {
        0.0
    } else if x.is_nan() || y.is_nan() || x.is_sign_negative() != y.is_sign_negative() {
        f64::INFINITY
    } else {
        x.to_bits().abs_diff(y.to_bits()) as f64
    }
}

const NONE: (f64, f64) = (0.0, 0.0);

const fn one(
    name: &'static str,
    ours: fn(f64) -> f64,
    theirs: fn(f64) -> f64,
    ranges: &'static [[(f64, f64); 2]],
    limit: f64,
) -> Opinion {
    Opinion { name, function: Either::One(ours, theirs), ranges, limit }
}

const fn two(
    name: &'static str,
    ours: fn(f64, f64) -> f64,
    theirs: fn(f64, f64) -> f64,
    ranges: &'static [[(f64, f64); 2]],
    limit: f64,
) -> Opinion {
    Opinion { name, function: Either::Two(ours, theirs), ranges, limit }
}

/// Ranges of one argument.
macro_rules! ranges {
    ($($low:literal..$high:literal),*) => { &[$([($low, $high), NONE]),*] };
}

/// The results of `pxfm` are correctly rounded where they are compared; those of `libm` may be off by one.
#[rustfmt::skip]
pub const ALL: &[Opinion] = &[
    one("exp", ours::exp, pxfm::f_exp, ranges![-1.0..1.0, -700.0..709.0], 1.0),
    one("exp2", ours::exp2, pxfm::f_exp2, ranges![-1.0..1.0, -1000.0..1023.0], 1.0),
    one("exp10", ours::exp10, pxfm::f_exp10, ranges![-1.0..1.0, -300.0..308.0], 1.0),
    one("expm1", ours::expm1, pxfm::f_expm1, ranges![-1.0..1.0, -40.0..700.0, -0.01..0.01], 1.0),
    one("log", ours::log, pxfm::f_log, ranges![0.5..2.0, 0.0..1000.0, 0.99..1.01], 1.0),
    one("log2", ours::log2, pxfm::f_log2, ranges![0.5..2.0, 0.0..1000.0, 0.99..1.01], 1.0),
    one("log10", ours::log10, pxfm::f_log10, ranges![0.5..2.0, 0.0..1000.0, 0.99..1.01], 1.0),
    one("log1p", ours::log1p, pxfm::f_log1p, ranges![-0.9..1.0, 0.0..1000.0, -0.01..0.01], 1.0),
    one("sin", ours::sin, pxfm::f_sin, ranges![-1.0..1.0, -100.0..100.0, -1e6..1e6, -1e15..1e15], 1.0),
    one("cos", ours::cos, pxfm::f_cos, ranges![-1.0..1.0, -100.0..100.0, -1e6..1e6, -1e15..1e15], 1.0),
    one("tan", ours::tan, pxfm::f_tan, ranges![-1.0..1.0, -100.0..100.0, -1e6..1e6, -1e15..1e15], 1.0),
    one("asin", ours::asin, pxfm::f_asin, ranges![-1.0..1.0, -0.01..0.01], 1.0),
    one("acos", ours::acos, pxfm::f_acos, ranges![-1.0..1.0, -0.01..0.01], 1.0),
    one("atan", ours::atan, pxfm::f_atan, ranges![-1.0..1.0, -100.0..100.0], 1.0),
    two("atan2", ours::atan2, pxfm::f_atan2, &[[(-1.0, 1.0); 2], [(-100.0, 100.0), (-1.0, 1.0)]], 1.0),
    one("sinh", ours::sinh, pxfm::f_sinh, ranges![-1.0..1.0, -20.0..20.0, -700.0..700.0], 1.0),
    one("cosh", ours::cosh, pxfm::f_cosh, ranges![-1.0..1.0, -20.0..20.0, -700.0..700.0], 1.0),
    one("tanh", ours::tanh, pxfm::f_tanh, ranges![-1.0..1.0, -20.0..20.0, -0.01..0.01], 1.0),
    two("pow", ours::pow, pxfm::f_pow, &[[(0.001, 2.0), (-10.0, 10.0)], [(0.99, 1.01), (-30000.0, 30000.0)]], 1.0),
    one("erf", ours::erf, libm::erf, ranges![-1.0..1.0, -6.0..6.0, -0.1..0.1], 2.0),
    one("cbrt", ours::cbrt, libm::cbrt, ranges![-1.0..1.0, -1e10..1e10], 1.0),
    two("hypot", ours::hypot, libm::hypot, &[[(-1.0, 1.0); 2], [(-1000.0, 1000.0); 2]], 1.0),
];
