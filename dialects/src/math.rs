//! `math`: elementary and special functions of floats.
//!
//! Domains are those of Julia: where the result would not be real, the op traps, except that
//! NaN gives NaN. The bits of a result are the same on every machine
//! ([`semantics`](crate::semantics) computes them without the system's math library).
//!
//! ```
//! use regraft_dialects::{context, math};
//! use regraft_ir::{FunctionBuilder, Type};
//!
//! let ctx = context();
//! let mut b = FunctionBuilder::new(&ctx, "f", &[Type::F64], Type::F64);
//! let sine = b.push(math::sin(b.param(0)))?;
//! assert_eq!(b.function().ty(sine), Type::F64);
//! # Ok::<(), regraft_ir::IrError>(())
//! ```

use regraft_math::Forms;

use crate::ir::Op;
use crate::semantics::{math as elementary, special};

/// Returns the function of an op of floats that has forms for vectors. O(number of ops).
pub fn forms(op: Op) -> Option<&'static Forms> {
    let def = DIALECT.ops.iter().find(|def| def.op == op)?;
    Forms::named(def.name.strip_prefix("math.")?)
}

crate::dialect! {
    /// Elementary and special functions of floats.
    dialect math = 3;

    /// The square root, correctly rounded.
    ///
    /// Traps (`DomainError`) if `x` is negative.
    ///
    /// `%2: f64 = math.sqrt %1`
    SQRT = sqrt(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(elementary::sqrt);

    /// The cube root.
    ///
    /// `%2: f64 = math.cbrt %1`
    CBRT = cbrt(x: T) -> T where T: Float [PURE] eval(elementary::cbrt);

    /// `e` to the power `x`.
    ///
    /// `%2: f64 = math.exp %1`
    EXP = exp(x: T) -> T where T: Float [PURE] eval(elementary::exp);

    /// 2 to the power `x`.
    ///
    /// `%2: f64 = math.exp2 %1`
    EXP2 = exp2(x: T) -> T where T: Float [PURE] eval(elementary::exp2);

    /// 10 to the power `x`.
    ///
    /// `%2: f64 = math.exp10 %1`
    EXP10 = exp10(x: T) -> T where T: Float [PURE] eval(elementary::exp10);

    /// `exp(x) - 1`, accurate near 0.
    ///
    /// `%2: f64 = math.expm1 %1`
    EXPM1 = expm1(x: T) -> T where T: Float [PURE] eval(elementary::expm1);

    /// The natural logarithm; of zero, `-inf`.
    ///
    /// Traps (`DomainError`) if `x` is negative.
    ///
    /// `%2: f64 = math.log %1`
    LOG = log(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(elementary::log);

    /// The logarithm to base 2; of zero, `-inf`.
    ///
    /// Traps (`DomainError`) if `x` is negative.
    ///
    /// `%2: f64 = math.log2 %1`
    LOG2 = log2(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(elementary::log2);

    /// The logarithm to base 10; of zero, `-inf`.
    ///
    /// Traps (`DomainError`) if `x` is negative.
    ///
    /// `%2: f64 = math.log10 %1`
    LOG10 = log10(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(elementary::log10);

    /// `log(1 + x)`, accurate near 0; of -1, `-inf`.
    ///
    /// Traps (`DomainError`) if `x` is less than -1.
    ///
    /// `%2: f64 = math.log1p %1`
    LOG1P = log1p(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(elementary::log1p);

    /// The sine of an angle in radians.
    ///
    /// Traps (`DomainError`) if `x` is infinite.
    ///
    /// `%2: f64 = math.sin %1`
    SIN = sin(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(elementary::sin);

    /// The cosine of an angle in radians.
    ///
    /// Traps (`DomainError`) if `x` is infinite.
    ///
    /// `%2: f64 = math.cos %1`
    COS = cos(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(elementary::cos);

    /// The tangent of an angle in radians.
    ///
    /// Traps (`DomainError`) if `x` is infinite.
    ///
    /// `%2: f64 = math.tan %1`
    TAN = tan(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(elementary::tan);

    /// The angle in `[-pi/2, pi/2]` whose sine is `x`.
    ///
    /// Traps (`DomainError`) if `x` is outside `[-1, 1]`.
    ///
    /// `%2: f64 = math.asin %1`
    ASIN = asin(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(elementary::asin);

    /// The angle in `[0, pi]` whose cosine is `x`.
    ///
    /// Traps (`DomainError`) if `x` is outside `[-1, 1]`.
    ///
    /// `%2: f64 = math.acos %1`
    ACOS = acos(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(elementary::acos);

    /// The angle in `[-pi/2, pi/2]` whose tangent is `x`.
    ///
    /// `%2: f64 = math.atan %1`
    ATAN = atan(x: T) -> T where T: Float [PURE] eval(elementary::atan);

    /// The angle in `[-pi, pi]` of the point `(x, y)`: Julia's `atan(y, x)`.
    ///
    /// `%3: f64 = math.atan2 %1, %2`
    ATAN2 = atan2(y: T, x: T) -> T where T: Float [PURE] eval(elementary::atan2);

    /// The hyperbolic sine.
    ///
    /// `%2: f64 = math.sinh %1`
    SINH = sinh(x: T) -> T where T: Float [PURE] eval(elementary::sinh);

    /// The hyperbolic cosine.
    ///
    /// `%2: f64 = math.cosh %1`
    COSH = cosh(x: T) -> T where T: Float [PURE] eval(elementary::cosh);

    /// The hyperbolic tangent.
    ///
    /// `%2: f64 = math.tanh %1`
    TANH = tanh(x: T) -> T where T: Float [PURE] eval(elementary::tanh);

    /// The inverse of the hyperbolic sine.
    ///
    /// `%2: f64 = math.asinh %1`
    ASINH = asinh(x: T) -> T where T: Float [PURE] eval(elementary::asinh);

    /// The inverse of the hyperbolic cosine, not negative.
    ///
    /// Traps (`DomainError`) if `x` is less than 1.
    ///
    /// `%2: f64 = math.acosh %1`
    ACOSH = acosh(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(elementary::acosh);

    /// The inverse of the hyperbolic tangent; infinite at -1 and 1.
    ///
    /// Traps (`DomainError`) if `x` is outside `[-1, 1]`.
    ///
    /// `%2: f64 = math.atanh %1`
    ATANH = atanh(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(elementary::atanh);

    /// `sin(pi * x)`, exact where `x` is a multiple of 1/2.
    ///
    /// Traps (`DomainError`) if `x` is infinite.
    ///
    /// `%2: f64 = math.sinpi %1`
    SINPI = sinpi(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(elementary::sinpi);

    /// `cos(pi * x)`, exact where `x` is a multiple of 1/2.
    ///
    /// Traps (`DomainError`) if `x` is infinite.
    ///
    /// `%2: f64 = math.cospi %1`
    COSPI = cospi(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(elementary::cospi);

    /// `sin(pi * x) / (pi * x)`; 1 at 0, and 0 at infinity.
    ///
    /// `%2: f64 = math.sinc %1`
    SINC = sinc(x: T) -> T where T: Float [PURE] eval(elementary::sinc);

    /// `x` to the power `y`.
    ///
    /// Traps (`DomainError`) if `x` is negative and `y` is finite and not whole.
    ///
    /// `%3: f64 = math.pow %1, %2`
    POW = pow(x: T, y: T) -> T where T: Float [PURE, MAY_TRAP] eval(elementary::pow);

    /// A float to an integer power, accurate to about one unit in the last place; by 0 it is 1.
    /// For integers, see `arith.powi`.
    ///
    /// `%3: f64 = math.powi %1, 3`
    POWI = powi(x: T, n: i64) -> T where T: Float [PURE] { identity: Some(1) }
        eval(elementary::powi);

    /// `sqrt(x^2 + y^2)` without overflow on the way; infinite if either is, even if the other is
    /// NaN.
    ///
    /// `%3: f64 = math.hypot %1, %2`
    HYPOT = hypot(x: T, y: T) -> T where T: Float [PURE, COMMUTATIVE] eval(elementary::hypot);

    /// The error function.
    ///
    /// `%2: f64 = math.erf %1`
    ERF = erf(x: T) -> T where T: Float [PURE] eval(elementary::erf);

    /// `1 - erf(x)`, accurate for large `x`.
    ///
    /// `%2: f64 = math.erfc %1`
    ERFC = erfc(x: T) -> T where T: Float [PURE] eval(elementary::erfc);

    /// The inverse of the error function; infinite at -1 and 1.
    ///
    /// Traps (`DomainError`) if `x` is outside `[-1, 1]`.
    ///
    /// `%2: f64 = math.erfinv %1`
    ERFINV = erfinv(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(special::erfinv);

    /// The inverse of the complementary error function; infinite at 0 and 2.
    ///
    /// Traps (`DomainError`) if `x` is outside `[0, 2]`.
    ///
    /// `%2: f64 = math.erfcinv %1`
    ERFCINV = erfcinv(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(special::erfcinv);

    /// The gamma function; at `0.0` and `-0.0` infinite, with the sign of `x`.
    ///
    /// Traps (`DomainError`) if `x` is a negative whole number or `-inf`.
    ///
    /// `%2: f64 = math.gamma %1`
    GAMMA = gamma(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(special::gamma);

    /// The logarithm of the gamma function; `inf` at its poles.
    ///
    /// Traps (`DomainError`) if the gamma function is negative at `x`.
    ///
    /// `%2: f64 = math.loggamma %1`
    LOGGAMMA = loggamma(x: T) -> T where T: Float [PURE, MAY_TRAP] eval(special::loggamma);

    /// The logarithm of the absolute value of the gamma function; `inf` at its poles.
    ///
    /// `%2: f64 = math.logabsgamma %1`
    LOGABSGAMMA = logabsgamma(x: T) -> T where T: Float [PURE] eval(special::logabsgamma);

    /// The derivative of `loggamma`; at 0 infinite, with the sign opposite to that of `x`, and NaN
    /// at the other poles.
    ///
    /// `%2: f64 = math.digamma %1`
    DIGAMMA = digamma(x: T) -> T where T: Float [PURE] eval(special::digamma);

    /// The derivative of `digamma`; `inf` at its poles.
    ///
    /// `%2: f64 = math.trigamma %1`
    TRIGAMMA = trigamma(x: T) -> T where T: Float [PURE] eval(special::trigamma);

    /// The derivative of `digamma` of order `n`: `digamma` itself for 0, `trigamma` for 1; infinite
    /// or NaN at its poles, and NaN for a negative `n`.
    ///
    /// `%2: f64 = math.polygamma %1, 2`
    POLYGAMMA = polygamma(x: T, n: i64) -> T where T: Float [PURE] eval(special::polygamma);

    /// The complementary error function times `exp(x * x)`.
    ///
    /// `%2: f64 = math.erfcx %1`
    ERFCX = erfcx(x: T) -> T where T: Float [PURE] eval(special::erfcx);

    /// The Bessel function of the first kind of order 0.
    ///
    /// `%2: f64 = math.besselj0 %1`
    BESSELJ0 = besselj0(x: T) -> T where T: Float [PURE] eval(special::besselj0);

    /// The Bessel function of the first kind of order 1.
    ///
    /// `%2: f64 = math.besselj1 %1`
    BESSELJ1 = besselj1(x: T) -> T where T: Float [PURE] eval(special::besselj1);

    /// The Bessel function of the second kind of order 0; NaN below 0.
    ///
    /// `%2: f64 = math.bessely0 %1`
    BESSELY0 = bessely0(x: T) -> T where T: Float [PURE] eval(special::bessely0);

    /// The Bessel function of the second kind of order 1; NaN below 0.
    ///
    /// `%2: f64 = math.bessely1 %1`
    BESSELY1 = bessely1(x: T) -> T where T: Float [PURE] eval(special::bessely1);

    /// The modified Bessel function of the first kind of order 0.
    ///
    /// `%2: f64 = math.besseli0 %1`
    BESSELI0 = besseli0(x: T) -> T where T: Float [PURE] eval(special::besseli0);

    /// The modified Bessel function of the first kind of order 1.
    ///
    /// `%2: f64 = math.besseli1 %1`
    BESSELI1 = besseli1(x: T) -> T where T: Float [PURE] eval(special::besseli1);

    /// The modified Bessel function of the first kind of order 0, times `exp(-abs(x))`.
    ///
    /// `%2: f64 = math.besseli0x %1`
    BESSELI0X = besseli0x(x: T) -> T where T: Float [PURE] eval(special::besseli0x);

    /// The modified Bessel function of the first kind of order 1, times `exp(-abs(x))`.
    ///
    /// `%2: f64 = math.besseli1x %1`
    BESSELI1X = besseli1x(x: T) -> T where T: Float [PURE] eval(special::besseli1x);

    /// The modified Bessel function of the second kind of order 0, times `exp(x)`; NaN below 0.
    ///
    /// `%2: f64 = math.besselk0x %1`
    BESSELK0X = besselk0x(x: T) -> T where T: Float [PURE] eval(special::besselk0x);

    /// The modified Bessel function of the second kind of order 1, times `exp(x)`; NaN below 0.
    ///
    /// `%2: f64 = math.besselk1x %1`
    BESSELK1X = besselk1x(x: T) -> T where T: Float [PURE] eval(special::besselk1x);

    /// The lower incomplete gamma function over the gamma function.
    ///
    /// `%3: f64 = math.gamma_p %1, %2`
    GAMMA_P = gamma_p(a: T, x: T) -> T where T: Float [PURE] eval(special::gamma_p);

    /// The upper incomplete gamma function over the gamma function.
    ///
    /// `%3: f64 = math.gamma_q %1, %2`
    GAMMA_Q = gamma_q(a: T, x: T) -> T where T: Float [PURE] eval(special::gamma_q);

    /// The incomplete beta function over the beta function.
    ///
    /// `%4: f64 = math.beta_inc %1, %2, %3`
    BETA_INC = beta_inc(a: T, b: T, x: T) -> T where T: Float [PURE] eval(special::beta_inc);

    /// The beta function, `gamma(x) * gamma(y) / gamma(x + y)`.
    ///
    /// `%3: f64 = math.beta %1, %2`
    BETA = beta(x: T, y: T) -> T where T: Float [PURE] eval(special::beta);

    /// The logarithm of the beta function.
    ///
    /// Traps (`DomainError`) if the beta function is negative there.
    ///
    /// `%3: f64 = math.logbeta %1, %2`
    LOGBETA = logbeta(x: T, y: T) -> T where T: Float [PURE, MAY_TRAP] eval(special::logbeta);
}
