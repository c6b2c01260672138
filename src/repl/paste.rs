//! Text that was copied from a prompt: `julia> ` in front of inputs, and what they gave behind them.
//!
//! ```text
//! julia> f(x) = x +
//!            1
//! f (generic function with 1 method)
//!
//! julia> f(1)
//! 2
//! ```
//!
//! An input begins behind a prompt, and goes on in the lines that follow until it is whole. The lines from there to
//! the next prompt are what it gave, and are dropped; in a script they end at an empty line.

/// The prompts that text is copied from.
const PROMPTS: [&str; 2] = ["julia>", "regraft>"];
/// The room that further lines of an input are indented by, so that they stand below the first one.
const INDENT: &str = "       ";

/// The state between two lines.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Paste {
    /// The last input stood behind a prompt.
    is_behind_prompt: bool,
}

impl Paste {
    /// Returns what is to be read of a line: without its prompt, or nothing if it is what an input gave. `begins` says
    /// that no input waits for more lines, `ends_at_blank` that what inputs give has no empty lines.
    pub(super) fn input<'a>(
        &mut self,
        line: &'a str,
        begins: bool,
        ends_at_blank: bool,
    ) -> Option<&'a str> {
        if let Some(rest) = unprompted(line).filter(|_| begins) {
            self.is_behind_prompt = true;
            return Some(rest);
        }
        if !self.is_behind_prompt {
            return Some(line);
        }
        if !begins {
            return Some(line.strip_prefix(INDENT).unwrap_or(line));
        }
        self.is_behind_prompt = !(ends_at_blank && line.trim().is_empty());
        None
    }
}

/// What stands behind the prompt that a line begins with.
fn unprompted(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = PROMPTS.iter().find_map(|prompt| line.strip_prefix(prompt))?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(' ') }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_and_results_are_left_away() {
        let mut paste = Paste::default();
        let mut read = |line, begins| paste.input(line, begins, true);
        assert_eq!(read("x = 1", true), Some("x = 1"));
        assert_eq!(read("julia> f(x) =", true), Some("f(x) ="));
        assert_eq!(read("           x + 1", false), Some("    x + 1"));
        assert_eq!(read("f (generic function with 1 method)", true), None);
        assert_eq!(read("julia> f(1)", true), Some("f(1)"));
        assert_eq!(read("2", true), None);
        assert_eq!(read("", true), None);
        assert_eq!(read("y = 2", true), Some("y = 2"));
        assert_eq!(read("julia>x", true), Some("julia>x"));
    }
}
