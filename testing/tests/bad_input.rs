//! Text that is wrong is told to be wrong: never a panic, and every span lies in the text.

use std::fmt::Write;
use std::sync::Arc;

use regraft_ir::{Context, Diagnostic, verify_module};
use regraft_syntax::parse_module;
use regraft_testing::choices::Choices;
use regraft_testing::generate::{Config, ModuleCase};

/// Pieces of the text format, to be put where they do not belong.
const PIECES: [&str; 48] = [
    "%",
    "^",
    "@",
    "!",
    ":",
    "\"",
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    ",",
    "=",
    "->",
    "-",
    ".",
    "\\",
    "#",
    "\n",
    "\r\n",
    "\t",
    " ",
    "func ",
    "struct ",
    "mutable ",
    "^1:",
    "%1",
    "%0",
    "%99999999999",
    "^4294967295",
    "@f",
    "br ^1",
    "return",
    "nothing",
    "nan",
    "nan(0x7ff8)",
    "inf",
    "-inf",
    "1e999",
    "99999999999999999999",
    "1.0f32",
    "3i8",
    "tuple<",
    "array<f64, 0>",
    "any",
    "π",
    "\u{0}",
];

/// Reads and verifies `text`; whatever is wrong has to lie inside of it.
fn read(ctx: &Arc<Context>, text: &str) -> Result<(), Vec<Diagnostic>> {
    let module = parse_module(ctx, "bad.ir", text)?;
    for f in module.functions() {
        f.check_invariants().unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
    verify_module(&module)
}

fn check(ctx: &Arc<Context>, text: &str) -> bool {
    let Err(errors) = read(ctx, text) else { return true };
    assert!(!errors.is_empty(), "refused without a word:\n{text}");
    for error in &errors {
        assert!(!error.message().is_empty());
        for label in error.labels() {
            let span = &label.span;
            if error.source_name() == Some("bad.ir") {
                assert!(span.start <= span.end && span.end <= text.len(), "{span:?}:\n{text}");
                assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end));
            }
        }
    }
    let mut out = String::new();
    // Rendering slices the source by the spans.
    let _ = write!(out, "{}", regraft_ir::render_all(&errors, false));
    false
}

/// Changes a text in a few places.
fn mutated(text: &str, c: &mut Choices) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + c.below(4) {
        let at = c.below(bytes.len() + 1);
        let end = (at + 1 + c.below(12)).min(bytes.len());
        match c.below(7) {
            0 => drop(bytes.drain(at..end)),
            1 => {
                let piece = c.pick(&PIECES);
                bytes.splice(at..at, piece.bytes());
            }
            2 => {
                let piece = c.pick(&PIECES);
                bytes.splice(at..end, piece.bytes());
            }
            3 => bytes.truncate(at),
            4 if at < bytes.len() => bytes[at] = c.bits() as u8,
            5 => {
                // A part of the text again, somewhere else.
                let from = c.below(bytes.len() + 1);
                let to = (from + c.below(60)).min(bytes.len());
                let part = bytes[from..to].to_vec();
                bytes.splice(at..at, part);
            }
            _ => {
                // A whole line goes, or is moved to the end.
                let mut lines: Vec<&[u8]> = bytes.split(|&b| b == b'\n').collect();
                let line = lines.remove(c.below(lines.len()));
                if c.chance(50) {
                    lines.push(line);
                }
                bytes = lines.join(&b'\n');
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn ten_thousand_mutated_files_are_read_without_a_panic() {
    let config = Config { max_functions: 2, max_statements: 8, ..Config::default() };
    let (mut good, mut bad) = (0, 0);
    for seed in 0..500 {
        let ctx = regraft_dialects::context();
        let text = ModuleCase::from_seed(&ctx, &config, seed).module.to_string();
        let mut choices = Choices::from_seed(seed + 1_000_000);
        for _ in 0..20 {
            let text = mutated(&text, &mut choices);
            if check(&regraft_dialects::context(), &text) {
                good += 1;
            } else {
                bad += 1;
            }
        }
    }
    // Both kinds are there: mutations of names and numbers may leave a valid text.
    assert!(good > 100 && bad > 5_000, "{good} {bad}");
}

#[test]
fn noise_is_refused_without_a_panic() {
    let mut choices = Choices::from_seed(1);
    for _ in 0..1_000 {
        let bytes: Vec<u8> = (0..choices.below(60)).map(|_| choices.bits() as u8).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        check(&regraft_dialects::context(), &text);
        let pieces: String = (0..choices.below(30)).map(|_| choices.pick(&PIECES)).collect();
        check(&regraft_dialects::context(), &pieces);
    }
}

#[test]
fn deep_nesting_is_refused_without_overflowing_the_stack() {
    for open in ["tuple<", "array<", "ref<", "{a: ", "type<", "(", "val<!"] {
        let text = format!("func @f(%1: {}", open.repeat(100_000));
        assert!(!check(&regraft_dialects::context(), &text), "{open}");
    }
}
