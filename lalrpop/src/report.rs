//! Collecting diagnostics, and saying in words what a grammar expects.

use std::convert::Infallible;
use std::ops::Range;

use lalrpop_util::ParseError;
use regraft_ir::{Diagnostic, Source};

/// The most diagnostics that one text gives. The others are counted.
const MAX_SHOWN: usize = 100;

/// The diagnostics of one text.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) source: Source,
    found: Vec<Diagnostic>,
    /// The number of diagnostics that were found beyond those.
    more: usize,
    /// Tells whether nothing is to be recorded, because the same text is read again.
    pub(crate) muted: bool,
}

impl Report {
    pub(crate) fn new(source: Source) -> Self {
        Self { source, found: Vec::new(), more: 0, muted: false }
    }

    /// Records what `make` makes, unless there are too many already.
    #[cold]
    pub(crate) fn push(&mut self, make: impl FnOnce(&Source) -> Diagnostic) {
        if self.muted {
        } else if self.found.len() < MAX_SHOWN {
            self.found.push(make(&self.source));
        } else {
            self.more += 1;
        }
    }

    /// Returns whether the next error need not be made, for errors that cost something to explain.
    /// Counts it if that is because there are too many already.
    pub(crate) fn only_counts(&mut self) -> bool {
        let full = self.found.len() >= MAX_SHOWN && !self.muted;
        self.more += usize::from(full);
        full || self.muted
    }

    /// Returns whether there are so many errors that the text need not be read further.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.more >= 100 * MAX_SHOWN
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The diagnostics in the order of the text.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|d| d.labels().first().map_or(usize::MAX, |label| label.span.start));
        if self.more > 0 {
            let least = if self.is_hopeless() { "at least " } else { "" };
            let message = format!("and {least}{} more errors", self.more);
            self.found.push(Diagnostic::error(message));
        }
        self.found
    }
}

pub(crate) fn range((start, end): (u32, u32)) -> Range<usize> {
    start as usize..end as usize
}

/// The bytes, the token, `None` at the end, and the expected terminals of a syntax error.
pub(crate) fn parts<T>(
    error: ParseError<usize, T, Infallible>,
) -> (Range<usize>, Option<T>, Vec<String>) {
    match error {
        ParseError::UnrecognizedToken { token: (start, token, end), expected } => {
            (start..end, Some(token), expected)
        }
        ParseError::ExtraToken { token: (start, token, end) } => {
            (start..end, Some(token), Vec::new())
        }
        ParseError::UnrecognizedEof { location, expected } => (location..location, None, expected),
        ParseError::InvalidToken { location } => (location..location, None, Vec::new()),
    }
}

/// The bytes and the message of an error about the character at `start`, which begins no token.
pub(crate) fn unexpected_character(text: &str, start: usize) -> (Range<usize>, String) {
    let c = text[start..].chars().next().unwrap_or(' ');
    (start..start + c.len_utf8(), format!("unexpected character `{}`", c.escape_debug()))
}

/// Terminals that are one thing to the user. The first group that is expected as a whole is
/// named in place of its members.
pub(crate) type Groups = [(&'static str, &'static [&'static str])];

/// LALRPOP's list of expected terminals in words: "`,`, `)` or an operand".
pub(crate) fn expected_words(
    expected: &[String],
    groups: &Groups,
    describe: impl Fn(&str) -> String,
) -> String {
    let mut rest: Vec<&str> = expected.iter().map(|name| name.trim_matches('"')).collect();
    let mut words: Vec<String> = Vec::new();
    for (name, members) in groups {
        if members.iter().all(|member| rest.contains(member)) {
            rest.retain(|name| !members.contains(name));
            words.push((*name).to_owned());
        }
    }
    // What a line may go on with comes before its end.
    rest.sort_by_key(|&name| name == "newline");
    words.extend(rest.into_iter().map(describe));
    match words.split_last() {
        None => "nothing more".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

/// The groups of the grammar of IR text.
pub(crate) const IR_GROUPS: &Groups = &[
    (
        "an instruction, a block, a function, a struct",
        &["value", "word", "call", "block", "func", "struct", "mutable"],
    ),
    (
        "a type argument",
        &[
            "word",
            "{",
            "global",
            "number",
            "float word",
            "float",
            "true",
            "false",
            "nothing",
            "symbol",
            "text",
            "!",
        ],
    ),
    (
        "an operand",
        &[
            "value",
            "global",
            "number",
            "float word",
            "float",
            "true",
            "false",
            "nothing",
            "symbol",
            "text",
            "!",
        ],
    ),
    (
        "a constant",
        &[
            "global",
            "number",
            "float word",
            "float",
            "true",
            "false",
            "nothing",
            "symbol",
            "text",
            "!",
        ],
    ),
    (
        "a name",
        &[
            "word",
            "text",
            "float word",
            "func",
            "struct",
            "mutable",
            "call",
            "loc",
            "at",
            "in",
            "true",
            "false",
            "nothing",
        ],
    ),
    ("a type", &["word", "{", "global"]),
    ("an op", &["word", "call"]),
];

/// A terminal of the grammar of IR text in words.
pub(crate) fn describe_ir(terminal: &str) -> String {
    match terminal {
        "newline" => "the end of the line".to_owned(),
        "value" => "a value such as `%1`".to_owned(),
        "block" => "a block such as `^1`".to_owned(),
        "global" => "a name such as `@f`".to_owned(),
        "number" => "a number".to_owned(),
        "text" => "a string".to_owned(),
        "word" => "a word".to_owned(),
        "symbol" => "a symbol".to_owned(),
        "float" | "float word" => "a float".to_owned(),
        other => format!("`{other}`"),
    }
}
