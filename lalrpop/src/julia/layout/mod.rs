//! Gives every word its role: the part of Julia's syntax that depends on blank space, on the ends
//! of lines and on what is open.
//!
//! A stack holds what is open, brackets and blocks. With it, and with whether an operand ends just
//! here, all of these are decided: whether the end of a line ends a statement; `f(` against `f (`;
//! the `'` of an adjoint; `2x`; the elements of `[a -b]`; the four meanings of `:`; `end` as an
//! index; where the head of a block ends. What leaves here is balanced, whatever came in: what is
//! not closed is closed, what closes nothing is dropped, both with a report. Constructs that are
//! not of the subset are named here if a word tells them, and leave as one [`Atom::Error`].
//!
//! Linear in the text, as nothing is looked at twice but a few characters ahead.

mod blocks;
mod operands;
mod separators;
mod strings;

use super::ast::Span;
use super::problems::{Problem, Problems};
use super::raw::{Raw, Words};
use super::token::{Atom, Infix, Oper, Postfix, Prefix, Token};

/// The greatest depth to which brackets and blocks can be nested.
pub(crate) const MAX_OPEN: usize = 1000;

/// The kind of a bracket or block that is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Open {
    Paren,
    /// `[`, of a literal or of an index.
    Square,
    Curly,
    Begin,
    If,
    While,
    For,
    Function,
    Let,
    Do,
    Try,
    Module,
    Struct,
    Abstract,
    /// A block that is not of the subset. All of it is dropped.
    Foreign,
}

impl Open {
    fn is_bracket(self) -> bool {
        matches!(self, Self::Paren | Self::Square | Self::Curly)
    }
}

/// The place that is reached in a block or bracket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// In the head of a block; in the head of a `for`, after the target.
    Head,
    /// Before the `in` of a `for`.
    Target,
    /// In the body of a block, or anywhere in a bracket but in the target of a `for`.
    Body,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    open: Open,
    phase: Phase,
    span: Span,
    /// The position of its opener in `out`.
    at: usize,
    /// The number of `?` that wait for their `:`.
    questions: u32,
    /// Tells whether `end` is an index here.
    in_index: bool,
    /// The place in `out` from which on all is dropped when this bracket or block ends, as for the
    /// argument of a foreign macro.
    drop_bracket: Option<usize>,
    /// The number of further arguments of a macro that blank space may part: of `@assert` the message.
    macro_args: u8,
    /// Tells whether these are arguments of a macro that is not built in.
    in_macro: bool,
    /// Tells whether what is in it is code as data.
    code: bool,
    /// Tells whether this bracket has a `for`, so that commas part its clauses.
    each: bool,
}

pub(crate) struct Layout<'t> {
    text: &'t str,
    lexer: Words<'t>,
    /// The tokens of the statements at top level that are being read.
    pub(crate) out: Vec<Token>,
    stack: Vec<Level>,
    top: Level,
    /// Tells whether the last token ends an operand.
    ended: bool,
    /// Tells whether that operand is a number.
    number: bool,
    /// The end of the last word.
    last_end: u32,
    /// Tells whether a line ended within `[`, after an operand.
    newline: bool,
    /// Tells whether a statement at top level has just ended.
    between: bool,
    pub(crate) finished: bool,
    pub(crate) problems: Problems,
}

impl<'t> Layout<'t> {
    /// Of a text that is read from the byte at `start` on; as `code`, it is data.
    pub(crate) fn new(text: &'t str, start: usize, code: bool) -> Self {
        let span = Span { start: start as u32, end: start as u32 };
        Self {
            text,
            lexer: Words::new(text, start),
            out: Vec::new(),
            stack: Vec::new(),
            top: Level {
                open: Open::Begin,
                phase: Phase::Body,
                span,
                at: 0,
                questions: 0,
                in_index: false,
                drop_bracket: None,
                macro_args: 0,
                in_macro: false,
                code,
                each: false,
            },
            ended: false,
            number: false,
            last_end: span.start,
            newline: false,
            between: true,
            finished: false,
            problems: Problems::default(),
        }
    }

    /// Fills `out` with whole statements, `size` tokens or a few more; less at the end.
    pub(crate) fn fill(&mut self, size: usize) {
        self.out.clear();
        while !self.finished {
            let raw = self.lexer.next();
            let range = self.lexer.span();
            let span = Span { start: range.start as u32, end: range.end as u32 };
            match raw {
                None => self.end_of_text(),
                Some(Ok(raw)) => {
                    self.word(raw, span);
                    self.last_end = self.lexer.span().end as u32;
                }
                Some(Err(())) => {
                    self.word(Raw::Invalid, span);
                    self.last_end = span.end;
                }
            }
            if self.between && self.out.len() >= size {
                return;
            }
        }
    }

    // --- small helpers -----------------------------------------------------------------------

    fn slice(&self, span: Span) -> &'t str {
        &self.text[span.range()]
    }

    /// The byte after the last word, without looking over blank space; 0 at the end.
    fn next_byte(&self) -> u8 {
        self.lexer.remainder().as_bytes().first().copied().unwrap_or(0)
    }

    /// Returns the text that follows, without the blank space up to the next word on this line.
    fn rest_of_line(&self) -> &'t str {
        self.lexer.remainder().trim_start_matches([' ', '\t', '\r'])
    }

    fn space_before(&self, span: Span) -> bool {
        span.start > self.last_end
    }

    fn space_after(&self) -> bool {
        matches!(self.next_byte(), 0 | b' ' | b'\t' | b'\r' | b'\n')
    }

    /// Returns whether nothing follows that an operator could be applied to.
    fn nothing_follows(&self) -> bool {
        matches!(
            self.rest_of_line().as_bytes().first(),
            None | Some(b',' | b')' | b']' | b'}' | b';' | b'\n' | b'#')
        )
    }

    fn level(&mut self) -> &mut Level {
        self.stack.last_mut().unwrap_or(&mut self.top)
    }

    fn here(&self) -> &Level {
        self.stack.last().unwrap_or(&self.top)
    }

    fn open_kind(&self) -> Open {
        self.here().open
    }

    /// An operator, comma or opener: an operand has to follow.
    #[inline]
    fn put(&mut self, token: Token) {
        self.out.push(token);
        self.ended = false;
        self.between = false;
    }

    /// Adds a token that ends an operand.
    #[inline]
    fn put_end(&mut self, token: Token) {
        self.out.push(token);
        self.ended = true;
        self.number = false;
        self.between = false;
    }

    /// Before what begins an operand: whatever has to part it from the operand that just ended.
    #[inline]
    fn begin_operand(&mut self, span: Span) {
        if self.ended {
            self.part(span);
        }
    }

    fn part(&mut self, span: Span) {
        let at = Span { start: span.start, end: span.start };
        let spaced = self.space_before(span) || self.newline;
        let level = *self.here();
        match level.open {
            open if level.in_macro && spaced && open != Open::Square => {
                self.put(Token::Infix(Infix::Argument, at));
            }
            Open::Square if self.newline => {
                self.newline = false;
                self.put(Token::Semicolon(at));
            }
            Open::Square if spaced => {
                let gap = Span { start: self.last_end, end: span.start };
                self.put(Token::Space(gap));
            }
            open if !open.is_bracket() && level.macro_args > 0 && spaced => {
                self.level().macro_args -= 1;
                self.put(Token::Infix(Infix::Comma, at));
            }
            open if !open.is_bracket() && level.phase == Phase::Head && spaced => self.sep(at),
            _ => {}
        }
    }

    /// The end of a statement or of a head.
    fn sep(&mut self, span: Span) {
        let level = self.level();
        level.phase = Phase::Body;
        level.questions = 0;
        level.macro_args = 0;
        level.in_macro = false;
        self.ended = false;
        match self.out.last() {
            Some(Token::Sep(_) | Token::Begin(_) | Token::Else(_)) | None => {}
            _ => self.out.push(Token::Sep(span)),
        }
        self.between = self.stack.is_empty();
    }

    /// Puts an error in the place of all tokens from `from` on.
    fn drop(&mut self, from: usize, end: u32) {
        let start = self.out.get(from).map_or(end, |token| token.span().start);
        self.out.truncate(from);
        self.put_end(Token::Atom(Atom::Error, Span { start: start.min(end), end }));
    }

    fn atom(&mut self, atom: Atom, span: Span) {
        self.begin_operand(span);
        self.put_end(Token::Atom(atom, span));
    }

    fn unsupported(&mut self, span: Span, what: &str) {
        self.problems.add(span, format!("{what} not supported"));
    }

    fn push_level(&mut self, open: Open, phase: Phase, span: Span, in_index: bool) {
        if self.stack.len() >= MAX_OPEN {
            self.problems
                .add(span, format!("brackets and blocks are nested more than {MAX_OPEN} deep"));
            // Nothing that follows can be judged.
            self.finished = true;
            while let Some(level) = self.stack.pop() {
                self.ended = true;
                self.close_virtually(level, span.start);
            }
            self.sep(Span { start: span.start, end: span.start });
            return;
        }
        self.stack.push(Level {
            open,
            phase,
            span,
            at: self.out.len(),
            questions: 0,
            in_index,
            drop_bracket: None,
            macro_args: 0,
            in_macro: false,
            code: false,
            each: false,
        });
    }

    /// Returns whether blank space parts what begins here from the operand that has ended.
    fn stands_alone(&self, span: Span) -> bool {
        let level = self.here();
        let in_head = level.open == Open::Function && level.phase == Phase::Head;
        let in_args = level.macro_args > 0 && !level.open.is_bracket();
        let parts = level.open == Open::Square || level.in_macro || in_args || in_head;
        parts && self.space_before(span) && !self.space_after()
    }

    /// Returns whether what is read is code as data.
    fn in_code(&self) -> bool {
        self.top.code
            || self.top.in_macro
            || self.stack.iter().any(|level| level.code || level.in_macro)
    }

    // --- words -------------------------------------------------------------------------------

    fn word(&mut self, raw: Raw, span: Span) {
        match raw {
            Raw::Function
            | Raw::While
            | Raw::Let
            | Raw::Struct
            | Raw::Return
            | Raw::Const
            | Raw::Local
            | Raw::Global
            | Raw::Export
            | Raw::Module
            | Raw::Using => self.begin_statement(span),
            _ => {}
        }
        match raw {
            Raw::Newline => self.end_of_line(span),
            Raw::Name => self.name(span),
            Raw::Int => self.int(span),
            Raw::Float => {
                self.atom(Atom::Float, span);
                self.number = true;
            }
            Raw::Oper(oper) => self.oper(oper, false, span),
            Raw::Equals => self.equals(span),
            Raw::OpenParen => self.open_paren(span),
            Raw::CloseParen => self.close_bracket(Open::Paren, span),
            Raw::Comma => self.comma(span),
            Raw::OpenBracket => self.open_bracket(span),
            Raw::CloseBracket => self.close_bracket(Open::Square, span),
            Raw::Dot => self.dot(span),
            Raw::End => self.end(span),
            Raw::Dotted(oper) => self.oper(oper, true, span),
            Raw::Update(oper) => self.infix(Infix::Update(oper), span),
            Raw::DotUpdate(oper) => self.infix(Infix::DotUpdate(oper), span),
            Raw::DotEquals => self.infix(Infix::DotAssign, span),
            Raw::And => self.infix(Infix::And, span),
            Raw::Or => self.infix(Infix::Or, span),
            Raw::Arrow => self.infix(Infix::Arrow, span),
            Raw::Colon => self.colon(span),
            Raw::Typed => self.typed(span),
            Raw::Question => {
                self.level().questions += 1;
                self.infix(Infix::Question, span);
            }
            Raw::Prime => self.prime(span),
            Raw::Ellipsis => self.postfix(Postfix::Splat, span),
            Raw::Semicolon => self.semicolon(span),
            Raw::OpenBrace => self.open_brace(span),
            Raw::CloseBrace => self.close_bracket(Open::Curly, span),
            Raw::Str(form) => self.string(form, span),
            Raw::True => self.atom(Atom::True, span),
            Raw::False => self.atom(Atom::False, span),
            Raw::Return => {
                self.begin_operand(span);
                if self.ends_here() {
                    self.put_end(Token::Atom(Atom::Return, span));
                } else {
                    self.put(Token::Prefix(Prefix::Return, span));
                }
            }
            Raw::Break => self.atom(Atom::Break, span),
            Raw::Continue => self.atom(Atom::Continue, span),
            Raw::Local => self.prefix(Prefix::Local, span),
            Raw::Global => self.prefix(Prefix::Global, span),
            Raw::Const => self.prefix(Prefix::Const, span),
            Raw::In => self.word_in(span),
            Raw::Isa if self.ended => self.infix(Infix::Oper(Oper::Isa), span),
            Raw::Where if self.ended => self.word_where(span),
            Raw::Isa | Raw::Where => self.name(span),
            Raw::Begin if self.here().in_index => self.atom(Atom::First, span),
            Raw::Begin => self.block(Open::Begin, Phase::Body, Token::Begin(span), span),
            Raw::If if self.ended && self.here().each => {
                self.newline = false;
                self.put(Token::Filter(span));
            }
            Raw::If => self.block(Open::If, Phase::Head, Token::If(span), span),
            Raw::ElseIf => self.otherwise(Token::ElseIf(span), Phase::Head, span),
            Raw::Else => self.otherwise(Token::Else(span), Phase::Body, span),
            Raw::While => self.block(Open::While, Phase::Head, Token::While(span), span),
            Raw::For if self.ended && self.open_kind().is_bracket() => {
                self.newline = false;
                let level = self.level();
                level.phase = Phase::Target;
                level.each = true;
                level.in_macro = false;
                self.put(Token::Each(span));
            }
            Raw::For => self.block(Open::For, Phase::Target, Token::For(span), span),
            Raw::Function => {
                self.block(Open::Function, Phase::Head, Token::Function(span), span);
            }
            Raw::Let => self.block(Open::Let, Phase::Head, Token::Let(span), span),
            Raw::Do => {
                self.push_level(Open::Do, Phase::Head, span, false);
                self.put(Token::Do(span));
            }
            Raw::Struct => self.block(Open::Struct, Phase::Head, Token::Struct(span), span),
            Raw::Mutable => match self.rest_of_line().strip_prefix("struct") {
                Some(rest) if !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
                    let skipped = self.lexer.remainder().len() - rest.len();
                    self.lexer.bump(skipped);
                    let span = Span { start: span.start, end: span.end + skipped as u32 };
                    self.block(Open::Struct, Phase::Head, Token::Mutable(span), span);
                }
                _ => self.name(span),
            },
            Raw::Abstract | Raw::Primitive => match self.rest_of_line().strip_prefix("type") {
                Some(rest) if !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
                    let skipped = self.lexer.remainder().len() - rest.len();
                    self.lexer.bump(skipped);
                    let span = Span { start: span.start, end: span.end + skipped as u32 };
                    if raw == Raw::Primitive {
                        self.foreign(span, "primitive types are");
                    } else {
                        self.block(Open::Abstract, Phase::Head, Token::Abstract(span), span);
                    }
                }
                _ => self.name(span),
            },
            Raw::Try => self.block(Open::Try, Phase::Body, Token::Try(span), span),
            Raw::Catch | Raw::Finally => self.part_of_try(raw, span),
            Raw::Quote => {
                self.block(Open::Begin, Phase::Body, Token::Quote(span), span);
                self.level().code = true;
            }
            Raw::MacroDef => self.block(Open::Function, Phase::Head, Token::Macro(span), span),
            Raw::Module => self.block(Open::Module, Phase::Head, Token::Module(span), span),
            Raw::Using => self.using(span),
            Raw::Export => self.export(span),
            Raw::Macro => self.macro_call(span),
            Raw::DotAndOr => {
                let word = self.slice(span);
                self.problems.add(span, format!("the operator `{word}` is not supported"));
                self.infix(Infix::And, span);
            }
            Raw::Dollar if self.ended && !self.stands_alone(span) => {
                self.problems.add(span, "`$` is no operator between two values");
                self.infix(Infix::Oper(Oper::Xor), span);
            }
            Raw::Dollar => self.prefix(Prefix::Interpolate, span),
            Raw::Command => {
                self.unsupported(span, "commands (`` ` ``) are");
                self.atom(Atom::Error, span);
            }
            Raw::OpenComment => {
                let span = Span { start: span.start, end: span.start + 2 };
                self.problems.push(Problem {
                    span,
                    message: "the comment is not closed".into(),
                    label: "expected `=#` after this".into(),
                    help: None,
                    at_end: true,
                });
            }
            Raw::Invalid => {
                let c = self.slice(span).chars().next().unwrap_or(' ');
                let end = span.start + c.len_utf8() as u32;
                let message = format!("unexpected character `{}`", c.escape_debug());
                self.problems.add(Span { start: span.start, end }, message);
                self.atom(Atom::Error, span);
            }
        }
    }
}
