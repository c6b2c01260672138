//! Constants of the arc tangent.
//!
//! Written by `tables.py`.

/// `(atan(q) - q) / q^3` in powers of `q^2` for `|q| <= 1/4`.
#[rustfmt::skip]
pub const ARC: [f64; 9] = [
    -0.333_333_333_333_333_3, 0.199_999_999_999_989_33, -0.142_857_142_852_585_1, 0.111_111_110_359_868_47,
    -0.090_909_028_749_694_16, 0.076_920_178_772_373_85, -0.066_586_874_146_977_43, 0.057_529_943_904_780_285,
    -0.041_034_266_985_419_496,
];

/// The arc tangent of 1/2, its high part.
pub const HALF: f64 = 0.463_647_609_000_806_1;

/// Its low part.
pub const HALF_LOW: f64 = 2.269_877_745_296_168_7e-17;

/// The arc tangent of 1, its high part.
pub const ONE: f64 = 0.785_398_163_397_448_3;

/// Its low part.
pub const ONE_LOW: f64 = 3.061_616_997_868_383e-17;

/// A right angle, its high part.
pub const RIGHT: f64 = 1.570_796_326_794_896_6;

/// Its low part.
pub const RIGHT_LOW: f64 = 6.123_233_995_736_766e-17;

/// A straight angle, its high part.
pub const STRAIGHT: f64 = 3.141_592_653_589_793;

/// Its low part.
pub const STRAIGHT_LOW: f64 = 1.224_646_799_147_353_2e-16;
