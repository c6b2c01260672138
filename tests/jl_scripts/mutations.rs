//! Scripts that somebody cut up: whatever the text, the answer is a value or an error.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::support::{example, session, small_limits, with_large_stack};

const CASES: usize = 2_000;
/// The number of scripts that share a session: it stays usable after all errors.
const SHARED: usize = 25;

/// Short programs of everything that there is.
const SEEDS: [&str; 14] = [
    "struct P{T<:Real}\n    x::T\n    y::T\nend\nnorm(p::P) = sqrt(p.x^2 + p.y^2)\nnorm(P(3, 4))\n",
    "mutable struct C\n    n::Int\nend\nbump!(c::C, by = 1) = (c.n += by; c)\nbump!(bump!(C(1)), 5).n\n",
    "function f(xs...)\n    s = 0\n    for (i, x) in enumerate(xs)\n        s += i * x\n    end\n    s\nend\nf(1, 2.0, 3)\n",
    "g(n) = n < 2 ? n : g(n - 1) + g(n - 2)\n[g(i) for i in 1:10 if isodd(i)]\n",
    "x = [1.0, 2.0, 3.0]\ny = similar(x)\ny .= 2 .* x .+ 1\nsum(y) + y[end]\n",
    "abstract type A end\nstruct B <: A end\nh(::A) = 1\nh(::B) = 2\n(h(B()), B() isa A, Val(3))\n",
    "count = let n = 0\n    () -> (n += 1; n)\nend\ncount()\ncount()\n",
    "function k(n)\n    i = 0\n    @label top\n    i += 1\n    i < n && @goto top\n    i\nend\nk(5)\n",
    "t = (a = 1, b = (2, 3))\n(; a, b) = t\np, q = b\nmap((u, v) -> u * v, (a, p), (q, 2))\n",
    "f(x; a = 1, b = a + 1, kw...) = x + a + b + length(kw)\nf(1; b = 3, (c = 4,)...)\ng = (x; r = 2) -> x^r\n@. g([1, 2]; r = 3) + f(1)\n",
    "x = 3\ny = \"x is $x, $(x > 2 ? \"big $(x)\" : \"small\")!\"\nprintln(y)\n@show x y\na, b..., c = Float64[1 2; 3 4]\nsum(b; init = 1.0)\n",
    "function f(x)\n    for i in 1:3\n        try\n            x[i] > 0 || continue\n            return sqrt(x[i])\n        catch e\n            rethrow(e)\n        finally\n            x[1] -= 1\n        end\n    end\nend\ntry f([0.0, -1.0]) catch err; sprint(showerror, err) else 1 end\n",
    "module A\nexport f\nf(x) = x + c\nconst c = 1\nmodule B\nusing ..A: c as d\ng() = d\nend\nend\nusing .A\nimport .A.B: g\ng(x) = f(x)\ng(2) + A.B.g() + A.c\nx::Int = 3.0\n",
    "m = [i * j for i in 1:3, j in 1:2]\nm[:, 2]' * m[1:3, 1]\n",
];

/// Pieces to insert: what often decides how a text is read.
const PIECES: [&str; 24] = [
    "(", ")", "[", "]", "{", "}", "end", "begin ", ",", ";", "\n", "...", "::", ".", "=", "\"",
    "'", "$", "@", "->", "for ", "where ", "\u{0}", "é",
];

/// The generator of Steele, Lea and Flood (SplitMix, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

fn mutate(random: &mut Random, texts: &[String]) -> String {
    let mut bytes = texts[random.below(texts.len())].clone().into_bytes();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let to = (at + random.below(12)).min(bytes.len());
        match random.below(6) {
            0 => drop(bytes.drain(at..to)),
            1 => bytes[at..to].reverse(),
            2 => {
                let piece = bytes[at..to].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            3 => {
                let piece = PIECES[random.below(PIECES.len())];
                bytes.splice(at..at, piece.bytes());
            }
            4 => {
                let other = texts[random.below(texts.len())].as_bytes();
                let from = random.below(other.len());
                let piece = other[from..(from + 20).min(other.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.next() as u8;
                }
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn no_text_makes_a_session_panic() {
    let mut texts: Vec<String> = SEEDS.map(str::to_owned).to_vec();
    for file in ["sum.jl", "foo_bang.jl", "permuted_map.jl", "kron_sum.jl"] {
        texts.push(std::fs::read_to_string(example(file)).unwrap());
    }
    let (mut values, mut errors) = (0, 0);
    for first in (0..CASES).step_by(SHARED) {
        let texts = &texts;
        let (some_values, some_errors) = with_large_stack(move || {
            let mut session = session();
            session.set_limits(small_limits());
            let (mut values, mut errors) = (0, 0);
            for case in first..first + SHARED {
                let text = mutate(&mut Random(case as u64), texts);
                let run = catch_unwind(AssertUnwindSafe(|| match session.run("m.jl", &text) {
                    Ok(value) => {
                        session.show(&value);
                        true
                    }
                    Err(diagnostics) => {
                        assert!(!diagnostics.is_empty(), "an error says what is wrong");
                        for diagnostic in diagnostics {
                            diagnostic.render(false);
                        }
                        false
                    }
                }));
                match run {
                    Ok(true) => values += 1,
                    Ok(false) => errors += 1,
                    Err(_) => panic!("case {case} panics:\n{text}"),
                }
            }
            (values, errors)
        });
        values += some_values;
        errors += some_errors;
    }
    // The mutations are neither all broken nor all harmless.
    assert!(values > CASES / 20 && errors > CASES / 5, "{values} values, {errors} errors");
}

#[test]
fn the_seeds_of_the_mutations_are_right() {
    for text in SEEDS {
        let result = with_large_stack(|| crate::support::value(&mut session(), text));
        assert!(result.is_ok(), "{text}\n{result:?}");
    }
}
