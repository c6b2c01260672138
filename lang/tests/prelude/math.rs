use crate::check;

#[test]
fn elementary_functions() {
    check(
        "",
        &[
            ("sqrt(4), sqrt(2.0), √9, cbrt(27.0)", "(2.0, 1.4142135623730951, 3.0, 3.0)"),
            ("sqrt(-1.0)", "error: DomainError"),
            ("exp(0), exp(1.0) ≈ ℯ, exp2(3), exp10(2), expm1(0.0)", "(1.0, true, 8.0, 100.0, 0.0)"),
            ("log(1), log2(8), log10(1000.0), log1p(0.0), log(2, 8)", "(0.0, 3.0, 3.0, 0.0, 3.0)"),
            ("log(-1.0)", "error: DomainError"),
            ("log(ℯ), log(0.0)", "(1, -Inf)"),
            ("sin(0.0), cos(0), tan(0.0), sin(π), cos(π)", "(0.0, 1.0, 0.0, 0.0, -1.0)"),
            ("sin(1.0), cos(1.0)", "(0.8414709848078965, 0.5403023058681398)"),
            (
                "asin(1.0), acos(1.0), atan(1.0), atan(1, -1)",
                "(1.5707963267948966, 0.0, 0.7853981633974483, 2.356194490192345)",
            ),
            (
                "sinh(0.0), cosh(0), tanh(0.0), asinh(0.0), acosh(1.0), atanh(0.0)",
                "(0.0, 1.0, 0.0, 0.0, 0.0, 0.0)",
            ),
            ("sinpi(0.5), cospi(1), sinc(0)", "(1.0, -1.0, 1.0)"),
            ("sincos(0.0)", "(0.0, 1.0)"),
            ("sec(0.0), csc(π/2), cot(π/4) ≈ 1", "(1.0, 1.0, true)"),
            ("deg2rad(180), rad2deg(π)", "(3.141592653589793, 180.0)"),
            ("hypot(3, 4), hypot(3.0, 4.0), hypot(1, 2, 2)", "(5.0, 5.0, 3.0)"),
            ("typeof(sin(1.0f0)), typeof(sin(Int32(1)))", "(Float32, Float64)"),
        ],
    );
}

#[test]
fn special_functions() {
    check(
        "",
        &[
            ("erf(0.0), erfc(0), erfinv(0.0)", "(0.0, 1.0, 0.0)"),
            ("gamma(5), gamma(0.5) ≈ sqrt(π), loggamma(1.0)", "(24.0, true, 0.0)"),
            ("digamma(1.0) ≈ -0.5772156649015329, trigamma(1) ≈ π^2 / 6", "(true, true)"),
            ("beta(2, 3) ≈ 1 / 12, logbeta(1.0, 1.0)", "(true, 0.0)"),
            ("logabsgamma(-0.5)[2], logabsgamma(-1.5)[2], logabsgamma(2.5)[2]", "(-1, 1, 1)"),
            ("xlogy(0, 0), xlogx(0), xlogy(2.0, 1.0)", "(0.0, 0.0, 0.0)"),
            ("logistic(0.0)", "0.5"),
        ],
    );
}
