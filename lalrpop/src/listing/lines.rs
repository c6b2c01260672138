//! The lines of a text of listings: margins, blocks, and what is no part of the code.
//!
//! Julia prints blocks with a margin of box-drawing characters, before which there may be a column
//! with the lines of the source, and behind which one with what was inlined:
//!
//! ```text
//! 7  2 ┄ %2 = φ (#1 => 0, #3 => %7)::Int64                          │
//!    │   %4 = Base.arraylen(_3)::Int64                              │╻ length
//!    └──      goto #4 if not %5                                     │
//! ```
//!
//! IRTools prints `2: (%4, %5)` and indents the statements. Linear in the text.

use std::ops::Range;

use regraft_ir::{Diagnostic, Source};

use super::exprs::Exprs;
use super::header::Header;
use super::scan::{Reader, is_box, list_items, trim};
use super::statement::{Statement, Statements, without_column};

/// A listing.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) header: Header,
    /// The place of its first line.
    pub(super) at: Range<usize>,
    /// Tells whether parameters stand at the first block, the callee first.
    pub(super) is_ir_tools: bool,
    pub(super) blocks: Vec<Block>,
}

/// A block of a listing.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) number: u32,
    pub(super) at: Range<usize>,
    /// The numbers of its parameters.
    pub(super) params: Vec<u32>,
    pub(super) statements: Vec<Statement>,
}

/// The kind of text that is being read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Within {
    Nothing,
    /// `CodeInfo(`, up to `)`.
    CodeInfo,
    /// Lines with a margin.
    Margin,
    /// Lines of IRTools.
    IrTools,
    /// `:(x + y)`: the elements of a vector of statements.
    Vector,
    /// The parameters that `@code_warntype` lists.
    Arguments,
    /// Other variables.
    Locals,
}

/// The listings of a text, and the places of what is written in them.
pub(super) struct Lines<'a> {
    source: &'a Source,
    within: Within,
    /// Tells whether a prompt came, and no listing since: what is there is the rest of what was typed,
    /// and other output.
    in_session: bool,
    header: Header,
    listed: Vec<Listed>,
    exprs: Exprs,
    errors: Vec<Diagnostic>,
}

/// The listings, their expressions, and the errors.
pub(super) type Read = (Vec<Listed>, Exprs, Vec<Diagnostic>);

/// Reads the lines of a text.
pub(super) fn read(source: &Source) -> Read {
    let mut lines = Lines {
        source,
        within: Within::Nothing,
        in_session: false,
        header: Header::default(),
        listed: Vec::new(),
        exprs: Exprs::default(),
        errors: Vec::new(),
    };
    let text = &source.text;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        lines.line(text, start..start + line.len());
        start += line.len();
    }
    if lines.within == Within::CodeInfo {
        let at = lines.listed.last().map_or(0..0, |listed| listed.at.clone());
        lines.error(at, "this listing does not end", "its `)` is missing");
    }
    (lines.listed, lines.exprs, lines.errors)
}

impl Lines<'_> {
    fn error(&mut self, at: Range<usize>, message: &str, label: &str) {
        self.errors.push(Diagnostic::error(message).at(self.source, at, label));
    }

    fn line(&mut self, text: &str, line: Range<usize>) {
        let trimmed = trim(text, line.clone());
        let words = &text[trimmed.clone()];
        match self.within {
            Within::Nothing => {}
            Within::CodeInfo => {
                if words.starts_with(')') {
                    self.within = Within::Nothing;
                } else if !words.is_empty() {
                    self.code(text, trimmed);
                }
                return;
            }
            Within::Margin => {
                if margin(text, trimmed.clone()).is_some() {
                    return self.code(text, trimmed);
                }
                self.within = Within::Nothing;
                if words.starts_with("=>") {
                    return;
                }
            }
            Within::IrTools => {
                if ir_tools_block(words).is_some() {
                    return self.ir_tools_block(text, trimmed);
                }
                if words.starts_with("br ")
                    || words.starts_with("return")
                    || words.starts_with('%')
                    || (!words.is_empty() && text[line.start..].starts_with("  "))
                {
                    return self.statements(trimmed);
                }
                self.within = Within::Nothing;
            }
            Within::Vector => {
                if let Some(inner) = words.strip_prefix(":(").and_then(|w| w.strip_suffix(')')) {
                    let start = trimmed.start + 2;
                    return self.element(start..start + inner.len());
                }
                if words.starts_with(':') {
                    return self.element(trimmed.start + 1..trimmed.end);
                }
                self.within = Within::Nothing;
            }
            Within::Arguments | Within::Locals => {
                let is_entry = words.contains("::") || words.contains(" = ");
                if is_entry && text[line.start..].starts_with("  ") {
                    if self.within == Within::Arguments
                        && self.header.head.is_none()
                        && !words.starts_with("#self#")
                    {
                        let param = self.exprs.add(trimmed);
                        self.header.params.push(param);
                    }
                    return;
                }
                self.within = Within::Nothing;
            }
        }
        self.between(text, line, trimmed);
    }

    /// A line that is no part of the code of a listing.
    fn between(&mut self, text: &str, line: Range<usize>, trimmed: Range<usize>) {
        let words = &text[trimmed.clone()];
        let first = words.split_whitespace().next().unwrap_or_default();
        if words.is_empty() || words == "#" || words.starts_with("# ") {
            return;
        }
        if first == "julia>" || first == "ulia>" {
            self.header = Header::command(text, trimmed, &mut self.exprs).unwrap_or_default();
            self.in_session = true;
        } else if words == "CodeInfo(" {
            self.begin(trimmed, false);
            self.within = Within::CodeInfo;
        } else if words.starts_with("Body::") || words == "Body" {
            self.begin(trimmed, false);
            self.within = Within::Margin;
        } else if words == "Arguments" || words == "Variables" {
            self.within = Within::Arguments;
        } else if words == "Locals" || words == "Static Parameters" {
            self.within = Within::Locals;
        } else if let Some(rest) = words.strip_prefix("MethodInstance for ") {
            let start = trimmed.end - rest.len();
            if let Some((name, _)) = super::header::call(text, start..trimmed.end) {
                self.header = Header { name: Some(name), ..Header::default() };
            }
        } else if let Some(rest) = words.strip_prefix("from ") {
            // `from foo(x) @ Main file:line`
            let start = trimmed.end - rest.len();
            let end = rest.rfind(" @ ").or_else(|| rest.rfind(" in ")).unwrap_or(rest.len());
            if let Some(header) = Header::head(text, start..start + end, &mut self.exprs) {
                self.header = header;
            }
        } else if words.ends_with("-element Vector{Any}:") {
            // A listing with a margin follows, or statements as elements.
        } else if words.starts_with(":(") {
            self.begin(trimmed.clone(), false);
            self.within = Within::Vector;
            self.line(text, line);
        } else if margin(text, trimmed.clone()).is_some() {
            self.begin(trimmed.clone(), false);
            self.within = Within::Margin;
            self.code(text, trimmed);
        } else if ir_tools_block(words).is_some() {
            self.begin(trimmed.clone(), true);
            self.within = Within::IrTools;
            self.ir_tools_block(text, trimmed);
        } else {
            // Further lines of what is typed are indented.
            let is_typed = self.in_session && line.start < trimmed.start;
            let head = (!is_typed).then(|| Header::head(text, trimmed.clone(), &mut self.exprs));
            match head.flatten() {
                Some(header) => self.header = header,
                None if self.in_session => {}
                None => {
                    let message = "this is no line of a listing";
                    self.error(
                        trimmed,
                        message,
                        "expected `CodeInfo(`, a block, or the head of a method",
                    );
                }
            }
        }
    }

    fn begin(&mut self, at: Range<usize>, is_ir_tools: bool) {
        let header = std::mem::take(&mut self.header);
        self.in_session = false;
        self.listed.push(Listed { header, at, is_ir_tools, blocks: Vec::new() });
    }

    fn begin_block(&mut self, number: u32, at: Range<usize>, params: Vec<u32>) {
        if let Some(listed) = self.listed.last_mut() {
            listed.blocks.push(Block { number, at, params, statements: Vec::new() });
        }
    }

    /// A line within `CodeInfo(…)`, or one with a margin.
    fn code(&mut self, text: &str, trimmed: Range<usize>) {
        let mut payload = trimmed.clone();
        if let Some((block, start)) = margin(text, trimmed.clone()) {
            if let Some(number) = block {
                self.begin_block(number, trimmed.clone(), Vec::new());
            }
            payload.start = start;
        }
        let payload = trim(text, without_column(text, payload));
        let words = &text[payload.clone()];
        // `@ file.jl:3 within `f'` tells where the statements below come from.
        if !words.is_empty() && !words.starts_with("@ ") {
            self.statements(payload);
        }
    }

    /// Statements of the last block.
    fn statements(&mut self, range: Range<usize>) {
        let Some(block) = self.listed.last_mut().and_then(|listed| listed.blocks.last_mut()) else {
            self.error(range, "a statement stands in no block", "expected a block: `1 ─ …`");
            return;
        };
        let (source, exprs, errors) = (self.source, &mut self.exprs, &mut self.errors);
        Statements { source, exprs, errors }.line(range, &mut block.statements);
    }

    /// An element of a vector of statements, which are numbered from 1.
    fn element(&mut self, range: Range<usize>) {
        let Some(listed) = self.listed.last_mut() else { return };
        if listed.blocks.is_empty() {
            let at = listed.at.clone();
            self.begin_block(1, at, Vec::new());
        }
        self.statements(range);
        let block = self.listed.last_mut().and_then(|listed| listed.blocks.last_mut());
        if let Some(block) = block {
            let number = block.statements.len() as u32;
            if let Some(last) = block.statements.last_mut() {
                last.result = Some(number);
            }
        }
    }

    /// `2: (%4, %5)`
    fn ir_tools_block(&mut self, text: &str, line: Range<usize>) {
        let mut reader = Reader::new(text, line.clone());
        let number = reader.number().unwrap_or(0);
        reader.eat(":");
        let mut params = Vec::new();
        if !reader.is_at_end() {
            let Some(inner) = reader.bracketed().filter(|_| reader.is_at_end()) else {
                let rest = reader.range();
                return self.error(
                    rest,
                    "a block begins with its parameters",
                    "expected `(%4, %5)`",
                );
            };
            for item in list_items(text, inner) {
                let mut param = Reader::new(text, item.clone());
                let found = if param.eat("%") { param.number() } else { None };
                match found {
                    Some(number) if param.is_at_end() || param.rest().starts_with("::") => {
                        params.push(number);
                    }
                    _ => self.error(item, "a parameter of a block is a value", "expected `%4`"),
                }
            }
        }
        self.begin_block(number, line, params);
    }
}

/// The number of the block that a line begins, if it does, and where its statement is; none if
/// the line has no margin.
fn margin(text: &str, line: Range<usize>) -> Option<(Option<u32>, usize)> {
    let mut reader = Reader::new(text, line);
    let mut number = reader.number();
    // Where the margin was lost, the number of the block touches its first value.
    if number.is_some() && reader.rest().starts_with('%') {
        let touches = text[..reader.at].ends_with(|c: char| c.is_ascii_digit());
        return touches.then_some((number, reader.at));
    }
    if number.is_some() {
        number = reader.number().or(number);
    }
    let begins = reader.rest().chars().next().filter(|&c| is_box(c))?;
    let is_block = matches!(begins, '─' | '┄' | '━');
    let rest = reader.rest().trim_start_matches(|c: char| is_box(c) || c == ' ');
    Some((number.filter(|_| is_block), reader.end - rest.len()))
}

/// Returns whether a line begins the first block of a listing: `1 ─ …`, `1: (%1, %2)`.
pub(super) fn begins_block(words: &str) -> bool {
    let first = margin(words, 0..words.len()).is_some_and(|(number, _)| number == Some(1));
    first || (words.starts_with("1:") && ir_tools_block(words).is_some())
}

/// Returns whether a line is `2:` or `2: (…)`.
fn ir_tools_block(words: &str) -> Option<()> {
    let rest = words.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = (rest.len() < words.len()).then_some(rest)?.strip_prefix(':')?;
    (rest.is_empty() || rest.starts_with(" (") || rest.starts_with('(')).then_some(())
}
