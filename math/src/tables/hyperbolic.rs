//! Constants of the hyperbolic tangent.
//!
//! Written by `tables.py`.

/// `1 / x` for `x` in `[1, 2]`, to ten bits or so.
#[rustfmt::skip]
pub const INVERSE: [f64; 4] = [
    2.828_422_876_949_74, -2.939_341_421_143_847_6, 1.331_022_530_329_289_5, -0.221_837_088_388_214_9,
];
