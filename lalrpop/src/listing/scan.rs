//! Finds the end of strings, brackets and lists in the text of a listing.
//!
//! Everything here is linear in the piece of text that is looked at.

use std::ops::Range;

/// The box-drawing characters, of which the margins of listings are made.
pub(super) fn is_box(c: char) -> bool {
    ('\u{2500}'..='\u{257f}').contains(&c)
}

/// Returns whether a byte is part of a name.
pub(super) fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns the position behind the string or character that begins at `at`; none if nothing of the
/// kind begins there, or if it does not end before `end`.
pub(super) fn literal_end(text: &str, at: usize, end: usize) -> Option<usize> {
    let bytes = &text.as_bytes()[..end];
    match bytes[at] {
        b'"' => {
            let mut i = at + 1;
            while i < end {
                match bytes[i] {
                    b'\\' => i += 1,
                    b'"' => return Some(i + 1),
                    _ => {}
                }
                i += 1;
            }
            None
        }
        // After an operand it is an adjoint.
        b'\'' if at == 0 || !(in_name(bytes[at - 1]) || b")]}'".contains(&bytes[at - 1])) => {
            let escape = usize::from(bytes.get(at + 1) == Some(&b'\\'));
            let near = text.get(at + 2 + escape..end)?;
            let (offset, _) = near.char_indices().take(12).find(|&(_, c)| c == '\'')?;
            Some(at + 3 + escape + offset)
        }
        _ => None,
    }
}

/// The pieces of a list between commas that stand in no brackets; none if it is blank.
pub(super) fn list_items(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut items = Vec::new();
    let mut start = range.start;
    let (mut depth, mut at) = (0usize, range.start);
    while at < range.end {
        if let Some(next) = literal_end(text, at, range.end) {
            at = next;
            continue;
        }
        match text.as_bytes()[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                items.push(trim(text, start..at));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    let last = trim(text, start..range.end);
    if !(last.is_empty() && items.is_empty()) {
        items.push(last);
    }
    items
}

/// The position of the bracket that closes the one at `open`.
pub(super) fn closing(text: &str, open: usize, end: usize) -> Option<usize> {
    let mut expected = Vec::new();
    let mut at = open;
    while at < end {
        if let Some(next) = literal_end(text, at, end) {
            at = next;
            continue;
        }
        match text.as_bytes()[at] {
            b'(' => expected.push(b')'),
            b'[' => expected.push(b']'),
            b'{' => expected.push(b'}'),
            close @ (b')' | b']' | b'}') => {
                if expected.pop() != Some(close) {
                    return None;
                }
                if expected.is_empty() {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns whether the brackets of a piece of text match; else the position of one that does not.
pub(super) fn unmatched(text: &str, range: Range<usize>) -> Option<usize> {
    let mut at = range.start;
    while at < range.end {
        if let Some(next) = literal_end(text, at, range.end) {
            at = next;
            continue;
        }
        match text.as_bytes()[at] {
            b'(' | b'[' | b'{' => match closing(text, at, range.end) {
                Some(close) => at = close,
                None => return Some(at),
            },
            b')' | b']' | b'}' | b'"' => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The first position in a line, from `start` on, at which `found` holds outside of literals.
pub(super) fn find(text: &str, range: Range<usize>, found: impl Fn(&str) -> bool) -> Option<usize> {
    let mut at = range.start;
    while at < range.end {
        if let Some(next) = literal_end(text, at, range.end) {
            at = next;
            continue;
        }
        let rest = &text[at..range.end];
        if found(rest) {
            return Some(at);
        }
        at += rest.chars().next().map_or(1, char::len_utf8);
    }
    None
}

/// The range without blank space at both ends.
pub(super) fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let piece = &text[range.clone()];
    let start = range.start + (piece.len() - piece.trim_start().len());
    let end = range.end - (piece.len() - piece.trim_end().len());
    start.min(end)..end
}

/// Reads a text from left to right.
#[derive(Clone, Debug)]
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) end: usize,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, range: Range<usize>) -> Self {
        let Range { start, end } = trim(text, range);
        Self { text, at: start, end }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..self.end]
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.at..self.end
    }

    pub(super) fn skip_blank(&mut self) {
        self.at = self.end - self.rest().trim_start().len();
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.end
    }

    /// Goes behind `word`, and blank space after it.
    pub(super) fn eat(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
            self.skip_blank();
        }
        found
    }

    /// The same for a word that no further letter of a name follows.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let next = self.rest().strip_prefix(word).map(|rest| rest.bytes().next());
        match next {
            Some(Some(byte)) if in_name(byte) || byte == b'!' => false,
            Some(_) => self.eat(word),
            None => false,
        }
    }

    /// A number without a sign, and blank space after it.
    pub(super) fn number(&mut self) -> Option<u32> {
        let rest = self.rest();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = rest[..digits].parse().ok()?;
        self.at += digits;
        self.skip_blank();
        Some(number)
    }

    /// The text in the brackets that begin here, and blank space after them.
    pub(super) fn bracketed(&mut self) -> Option<Range<usize>> {
        if !self.rest().starts_with('(') {
            return None;
        }
        let close = closing(self.text, self.at, self.end)?;
        let inner = self.at + 1..close;
        self.at = close + 1;
        self.skip_blank();
        Some(inner)
    }
}
