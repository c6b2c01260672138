//! Whatever the text: no panic, and either a module or diagnostics whose places are in the text.

use regraft_ir::Diagnostic;
use regraft_syntax::{decode, listing, parse_and_verify, parse_module, parse_pipeline};

/// A small generator of numbers (SplitMix64), so that the runs are always the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

const SEEDS: &[&str] = &[
    include_str!("../../examples/ir/foo.ir"),
    include_str!("../../examples/ir/foo_bang.ir"),
    include_str!("../../examples/ir/gcd.ir"),
    include_str!("../../examples/ir/pow.ir"),
    include_str!("../../examples/ir/sum.ir"),
    "struct @P {x: f64, \"odd\": array<tuple<i64, {a: @P}>, 2>}\nmutable struct @C {head: ref<@C>}\n\
     struct @Adder {x: f64} call @body\n\
     func @body(%self: @Adder, %2) -> any {inline=true, k=:\"odd k\"} {\n^1:\n  %3 = data.getfield %self, :x\n  \
     switch 3, ^4, 1: ^2, 5: ^3(%3) loc(\"a.jl\":3:5 in @h at \"b.jl\":9:1)\n^2:\n  core.print \"x\\n\\u{1f600}\", 1.0f32, nan(0x7ff8000000000001), -inf\n  \
     %\"odd name\": tuple<i8, fn<@f>, val<:g>> = core.tuple 3i8, @f, !val<:g>\n  return %\"odd name\"\n^3(%x: f64):\n  \
     %4: f64 = call @\"odd f\"(%x,\n    0x1f, nothing)\n  return %4 # the end\n^4:\n  unreachable\n}\n",
];

const LISTINGS: &[&str] = &[
    include_str!("../../tests/listings/axpy.lowered"),
    include_str!("../../tests/listings/bend.lowered"),
    include_str!("../../tests/listings/calls.lowered"),
    include_str!("../../tests/listings/callable.lowered"),
    include_str!("../../tests/listings/copied.lowered"),
    include_str!("../../tests/listings/fibonacci.lowered"),
    include_str!("../../tests/listings/horner.lowered"),
    include_str!("../../tests/listings/point.lowered"),
    include_str!("../../tests/listings/power.lowered"),
    include_str!("../../tests/listings/squares.lowered"),
    include_str!("../../tests/listings/statements.lowered"),
    include_str!("../../tests/listings/steps.lowered"),
];

const LISTING_TOKENS: &[&str] = &[
    "%1",
    "%99",
    "%new(",
    "_2",
    "_1",
    "@_4",
    "#self#",
    "#3",
    "goto #2",
    "goto #2 if not ",
    "φ (#1 => ",
    "π (",
    "φᶜ (",
    "ϒ (",
    "return ",
    "unreachable",
    "br 2 (%1)",
    "unless %1",
    "1: (%1, %2)",
    "CodeInfo(",
    ")",
    "(",
    "::",
    "│",
    "└──",
    "3 ─ ",
    "12 ┄",
    "=> Float64",
    "$(Expr(:meta, :inline))",
    "$(",
    "\"",
    "'",
    "var\"a\"",
    "; ",
    "\n",
    "=",
    "julia> @code_lowered f(1)",
    "@NamedTuple{",
    " where T",
    "é",
    "end",
    "function ",
    "{",
    "[",
    "\u{0}",
];

const TOKENS: &[&str] = &[
    "%1",
    "%99",
    "%x",
    "%\"a b\"",
    "^1",
    "^77",
    "@f",
    "@P",
    ":x",
    "\"t\"",
    "\"",
    "1",
    "-1",
    "1e9",
    "99999999999999999999",
    "3i8",
    "nan",
    "inf",
    "nan(0x1)",
    "true",
    "func",
    "struct",
    "mutable",
    "call",
    "loc",
    "at",
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    ",",
    ":",
    "=",
    "!",
    "->",
    "\n",
    "\n\n",
    "#",
    "arith.add",
    "br",
    "return",
    "switch",
    "f64",
    "array<",
    "tuple<",
    "{a: ",
    "%0",
    "%4294967295",
    "^4294967294",
    "é",
    "\u{0}",
    "\r",
];

fn mutate(random: &mut Random, seed: &str) -> Vec<u8> {
    mutate_with(random, seed, TOKENS)
}

fn mutate_with(random: &mut Random, seed: &str, tokens: &[&str]) -> Vec<u8> {
    let mut bytes = seed.as_bytes().to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len() + 1);
        match random.below(7) {
            0 if !bytes.is_empty() => {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            1 if random.below(4) == 0 => bytes.truncate(at),
            2 | 3 => {
                let token = tokens[random.below(tokens.len())];
                let end = (at + random.below(6)).min(bytes.len());
                bytes.splice(at..end, token.bytes());
            }
            4 => {
                let mut lines: Vec<&[u8]> = bytes.split(|&b| b == b'\n').collect();
                let (i, j) = (random.below(lines.len()), random.below(lines.len()));
                if random.below(2) == 0 {
                    lines.swap(i, j);
                } else {
                    lines.insert(i, lines[j]);
                }
                bytes = lines.join(&b'\n');
            }
            5 => {
                let end = (at + random.below(30)).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => {
                let end = (at + random.below(60)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
        }
    }
    bytes
}

#[test]
fn ten_thousand_mutations_never_panic() {
    let mut random = Random(1);
    let (mut right, mut wrong) = (0, 0);
    for _ in 0..10_000 {
        let seed = SEEDS[random.below(SEEDS.len())];
        let bytes = mutate(&mut random, seed);
        let text = match decode("mutated.ir", &bytes) {
            Ok(text) => text,
            Err(error) => {
                assert!(!error.labels().is_empty());
                continue;
            }
        };
        let ctx = regraft_dialects::context();
        match parse_module(&ctx, "mutated.ir", &text) {
            Ok(module) => {
                right += 1;
                // What is read prints as text that reads back as the same.
                let printed = module.to_string();
                let again = parse_module(&ctx, "printed.ir", &printed)
                    .unwrap_or_else(|errors| panic!("{text}\nprints as\n{printed}\n{errors:?}"));
                assert_eq!(printed, again.to_string());
                let _ = parse_and_verify(&ctx, "mutated.ir", &text);
            }
            Err(errors) => {
                wrong += 1;
                assert!(!errors.is_empty() && errors.len() <= 101);
                for error in &errors {
                    for label in error.labels() {
                        assert!(label.span.start <= label.span.end, "{error}");
                        assert!(text.get(label.span.clone()).is_some(), "{error} in {text:?}");
                    }
                }
            }
        }
    }
    assert!(right > 500 && wrong > 5000, "{right} right, {wrong} wrong");
}

#[test]
fn ten_thousand_mutated_listings_never_panic() {
    let mut random = Random(3);
    let (mut right, mut wrong) = (0, 0);
    for _ in 0..10_000 {
        let seed = LISTINGS[random.below(LISTINGS.len())];
        let bytes = mutate_with(&mut random, seed, LISTING_TOKENS);
        let text = String::from_utf8_lossy(&bytes);
        let ctx = regraft_dialects::context();
        let parsed = listing::parse(&ctx, "mutated.lowered", &text);
        match parsed.errors.is_empty() {
            true => right += 1,
            false => wrong += 1,
        }
        assert!(parsed.errors.len() <= 101);
        for error in parsed.errors.iter().chain(&parsed.warnings) {
            for label in error.labels() {
                assert!(label.span.start <= label.span.end, "{error}");
                assert!(text.get(label.span.clone()).is_some(), "{error} in {text:?}");
            }
        }
    }
    assert!(right > 500 && wrong > 2000, "{right} right, {wrong} wrong");
}

#[test]
fn a_line_that_is_wrong_is_reported_once() {
    // One token of one line is replaced by one that fits nowhere: one error, whatever it is.
    for seed in SEEDS {
        for (at, _) in seed.match_indices([',', '=', '(']) {
            let line = &seed[seed[..at].rfind('\n').map_or(0, |i| i + 1)..];
            if line.trim_start().starts_with('#') || line.contains('"') || line.contains("struct") {
                continue;
            }
            let text = format!("{}§{}", &seed[..at], &seed[at..]);
            let ctx = regraft_dialects::context();
            let errors = parse_module(&ctx, "test.ir", &text).expect_err("it is wrong");
            assert_eq!(errors.len(), 1, "{errors:?}");
            assert_eq!(errors[0].labels()[0].span.start, at);
        }
    }
}

#[test]
fn mutated_pipelines_never_panic() {
    let seed = "inline{max-size=80}, sroa, fix{max=8}(sccp, gvn, dce), loop(licm, unroll{factor=4}), p{a=\"x\"}";
    let mut random = Random(2);
    for _ in 0..5000 {
        let bytes = mutate(&mut random, seed);
        let Ok(text) = String::from_utf8(bytes) else { continue };
        match parse_pipeline(&text) {
            Ok(pipeline) => {
                let printed = pipeline.to_string();
                let again = parse_pipeline(&printed).expect("what is printed reads back");
                assert_eq!(again.to_string(), printed);
            }
            Err(errors) => {
                assert!(!errors.is_empty());
                for label in errors.iter().flat_map(Diagnostic::labels) {
                    assert!(text.get(label.span.clone()).is_some(), "{text:?}");
                }
            }
        }
    }
}
