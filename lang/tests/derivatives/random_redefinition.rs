//! Definitions, pullbacks and calls of pullbacks in random orders, against a model in Rust: a
//! pullback is the derivative at the time when it was made, a gradient that of now.

use super::{session, shown};

/// A definition of `g`, with its value and its first two derivatives.
type Inner = (&'static str, fn(f64) -> [f64; 3]);

const INNER: [Inner; 6] = [
    ("2x", |x| [2.0 * x, 2.0, 0.0]),
    ("x^2", |x| [x * x, 2.0 * x, 2.0]),
    ("sin(x)", |x| [x.sin(), x.cos(), -x.sin()]),
    ("sum([x * i for i in 1:3])", |x| [6.0 * x, 6.0, 0.0]),
    ("x < 100 ? exp(x / 4) : x", |x| {
        let y = (x / 4.0).exp();
        if x < 100.0 { [y, y / 4.0, y / 16.0] } else { [x, 1.0, 0.0] }
    }),
    ("(r = Any[x, 3]; r[1] * r[2])", |x| [3.0 * x, 3.0, 0.0]),
];

/// A definition of `f`, with its derivative from `g` and that of `g`.
type Outer = (&'static str, fn(&dyn Fn(f64) -> [f64; 3], f64) -> f64);

const OUTER: [Outer; 5] = [
    ("g(x) * x", |g, x| g(x)[1] * x + g(x)[0]),
    ("g(x) + 2x", |g, x| g(x)[1] + 2.0),
    ("(s = x; for i in 1:2; s = g(s); end; s)", |g, x| g(g(x)[0])[1] * g(x)[1]),
    ("(h = Any[g]; h[1](x) * x)", |g, x| g(x)[1] * x + g(x)[0]),
    ("pullback(g, x)[2](1.0)[1] * x", |g, x| g(x)[2] * x + g(x)[1]),
];

/// The definitions that there are.
#[derive(Clone, Copy)]
struct Now {
    inner: usize,
    outer: usize,
    /// The derivative of `g` by its rule.
    rule: Option<f64>,
}

impl Now {
    /// The derivatives of `g` and `f`.
    fn slopes(self, x: f64) -> [f64; 2] {
        let g = |x: f64| match (INNER[self.inner].1(x), self.rule) {
            ([y, ..], Some(slope)) => [y, slope, 0.0],
            (known, None) => known,
        };
        [g(x)[1], OUTER[self.outer].1(&g, x)]
    }
}

/// Numbers that look random (G. Marsaglia, "Xorshift RNGs", 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// Runs a script of so many steps.
fn script(seed: u64, steps: usize) -> Result<(), String> {
    const SLOTS: usize = 4;
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut session = session("late(x) = f(Any[x][1])\nbacks = Any[0, 0, 0, 0]\n");
    let mut now = Now { inner: 0, outer: 0, rule: None };
    let mut slots = [None; SLOTS];
    let mut log = String::new();
    let mut step = |text: &str, expected: Option<f64>| {
        log.push_str(text);
        log.push('\n');
        let found = shown(&mut session, text);
        let fits = match expected {
            Some(expected) => found
                .parse::<f64>()
                .is_ok_and(|found| (found - expected).abs() <= 1e-9 * expected.abs().max(1.0)),
            None => !found.starts_with("error:"),
        };
        if fits { Ok(()) } else { Err(format!("{log}  expected {expected:?}\n  found    {found}")) }
    };
    step(&format!("g(x) = {}", INNER[0].0), None)?;
    step(&format!("f(x) = {}", OUTER[0].0), None)?;
    for _ in 0..steps {
        let x = 0.5 + 0.25 * random.below(8) as f64;
        let which = random.below(3);
        let function = ["g", "f", "late"][which];
        let slot = random.below(SLOTS);
        match random.below(10) {
            0 | 1 => {
                now.inner = random.below(INNER.len());
                step(&format!("g(x) = {}", INNER[now.inner].0), None)?;
            }
            2 => {
                now.outer = random.below(OUTER.len());
                step(&format!("f(x) = {}", OUTER[now.outer].0), None)?;
            }
            3 if random.below(4) == 0 => {
                let slope = 1.0 + random.below(50) as f64;
                now.rule = Some(slope);
                let text =
                    format!("rrule(::typeof(g), x) = (g(x), dy -> (nothing, {slope:?} * dy))");
                step(&text, None)?;
            }
            3..=5 => {
                slots[slot] = Some(now.slopes(x)[which.min(1)]);
                step(&format!("backs[{}] = pullback({function}, {x:?})[2]; 1", slot + 1), None)?;
            }
            6 => {
                let text = format!("gradient({function}, {x:?})[1]");
                step(&text, Some(now.slopes(x)[which.min(1)]))?;
            }
            _ => {
                let Some(slope) = slots[slot] else { continue };
                step(&format!("backs[{}](2.0)[1]", slot + 1), Some(2.0 * slope))?;
            }
        }
    }
    Ok(())
}

#[test]
fn pullbacks_are_the_derivatives_of_when_they_were_made() {
    for seed in 1..=40 {
        if let Err(report) = script(seed, 40) {
            panic!("script {seed}:\n{report}");
        }
    }
}
