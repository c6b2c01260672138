//! Constants of the cube root.
//!
//! Written by `tables.py`.

/// `m^(-1/3)` for `m` in `[1/2, 4]`, to seven bits or so.
#[rustfmt::skip]
pub const INVERSE: [f64; 5] = [
    1.650_201_213_090_263_7, -1.018_201_907_100_374_5, 0.471_736_152_070_464_8, -0.107_248_438_644_518_83,
    0.009_261_354_367_510_742,
];
