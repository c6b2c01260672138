//! Lines that are too wide.
//!
//! A line may be continued after a comma or an opening `(`, `[` or `<`, where the parser takes
//! a newline for white space. Continuation lines are indented by six columns.

use pretty::{Arena, DocAllocator};

/// Breaks the line that begins at `start` and ends with the text. O(length).
#[cold]
pub(super) fn lay_out(out: &mut String, start: usize, width: usize) {
    let line = out.split_off(start);
    let text = line.trim_start_matches(' ');
    out.push_str(&line[..line.len() - text.len()]);
    let arena: Arena<'_> = Arena::new();
    let mut doc = arena.nil();
    for (piece, follow) in (Pieces { rest: text }) {
        doc = doc.append(arena.text(piece));
        doc = match follow {
            Follow::Nothing => doc,
            Follow::Break => doc.append(arena.softline_()),
            Follow::SpaceOrBreak => doc.append(arena.softline()),
        };
    }
    let indent = line.len() - text.len();
    let doc = doc.nest(6);
    // The part that is written already counts as well.
    let width = width.saturating_sub(indent).max(1);
    let _ = doc.render_fmt(width, out);
}

/// The separator between a piece and the next one.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Follow {
    Nothing,
    Break,
    SpaceOrBreak,
}

/// A line in the pieces that must not be broken.
struct Pieces<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = (&'a str, Follow);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let bytes = self.rest.as_bytes();
        let (mut quoted, mut escaped) = (false, false);
        for (i, &byte) in bytes.iter().enumerate() {
            if quoted {
                quoted = escaped || byte != b'"';
                escaped = !escaped && byte == b'\\';
                continue;
            }
            let follow = match byte {
                b'"' => {
                    quoted = true;
                    continue;
                }
                b',' if bytes.get(i + 1) == Some(&b' ') => Follow::SpaceOrBreak,
                // `nan(0x7ff8000000000001)` is one literal.
                b'(' if self.rest[..i].ends_with("nan") => continue,
                b'(' | b'[' | b'<' => Follow::Break,
                _ => continue,
            };
            let (piece, rest) = self.rest.split_at(i + 1);
            self.rest = if follow == Follow::SpaceOrBreak { &rest[1..] } else { rest };
            // Before a closing bracket there is no break.
            let closes = self.rest.starts_with([')', ']', '>', '}']);
            return Some((piece, if closes { Follow::Nothing } else { follow }));
        }
        Some((std::mem::take(&mut self.rest), Follow::Nothing))
    }
}
