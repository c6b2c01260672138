//! Compares every function with that of another library for many arguments.
//!
//! `cargo run --release -p regraft-math --example second_opinion [COUNT]`; the count is ten million if it is not
//! said.

mod opinions;

fn main() {
    let count = std::env::args()
        .nth(1)
        .map_or(10_000_000, |count| count.parse().expect("a count is a number"));
    let mut state = 1u64;
    let mut unit = move || {
        // A linear congruential generator of 64 bits (Knuth).
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut failed = false;
    for opinion in opinions::ALL {
        let worst = opinion.compare(count, &mut unit);
        let over = worst.ulps > opinion.limit;
        failed |= over;
        println!("{worst}{}", if over { "  TOO MUCH" } else { "" });
    }
    assert!(!failed, "some results are too far apart");
}
