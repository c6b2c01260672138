//! Accuracy, special values, and the same bits from every form.

mod forms_agree;
mod reference;
mod second_opinion;
mod software;

/// Random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// A number of `[0, 1)`.
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Any float, special ones often, or one of moderate size.
    fn any(&mut self) -> f64 {
        const SPECIAL: [f64; 16] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            2.0,
            -2.0,
            3.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            708.0,
            4_194_304.0,
        ];
        match self.bits() % 8 {
            0 => SPECIAL[(self.bits() % 16) as usize],
            1 | 2 => f64::from_bits(self.bits()),
            3 => self.between(-800.0, 800.0),
            4 => self.between(-1e7, 1e7),
            5 => self.between(-1.0, 1.0),
            6 => 1.0 + self.between(-1e-3, 1e-3),
            _ => self.between(-10.0, 10.0),
        }
    }
}

/// The same bits, or both NaN.
fn same(x: f64, y: f64) -> bool {
    x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()
}

/// The number of steps from float to float between two; infinite for one NaN.
fn ulps(x: f64, y: f64) -> f64 {
    fn place(x: f64) -> i64 {
        let bits = x.abs().to_bits() as i64;
        if x.is_sign_negative() { -bits } else { bits }
    }
    if x.is_nan() && y.is_nan() {
        0.0
    } else if x.is_nan() || y.is_nan() {
        f64::INFINITY
    } else {
        place(x).abs_diff(place(y)) as f64
    }
}
