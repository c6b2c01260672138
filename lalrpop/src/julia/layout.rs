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

use logos::{Lexer, Logos};

use super::ast::Span;
use super::problems::{Problem, Problems};
use super::raw::Raw;
use super::token::{Atom, Infix, Oper, Postfix, Prefix, Token};

/// How deep brackets and blocks can be nested.
pub(crate) const MAX_OPEN: usize = 1000;

/// What is open.
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

/// How far a block or bracket is.
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
    /// Where its opener is in `out`.
    at: usize,
    /// How many `?` wait for their `:`.
    questions: u32,
    /// Whether `end` is an index here.
    in_index: bool,
    /// From where on `out` is dropped when the statement ends, after a macro.
    drop_from: Option<usize>,
    /// Whether this bracket is the argument of a foreign macro, and all is dropped from here.
    drop_bracket: Option<usize>,
    /// Whether there is an `@assert` whose message may follow.
    assert: bool,
    /// Whether this bracket has a `for`, so that commas part its clauses.
    each: bool,
}

pub(crate) struct Layout<'t> {
    text: &'t str,
    lexer: Lexer<'t, Raw>,
    /// The tokens of the statements at top level that are being read.
    pub(crate) out: Vec<Token>,
    stack: Vec<Level>,
    top: Level,
    /// Whether the last token ends an operand.
    ended: bool,
    /// Whether that operand is a number.
    number: bool,
    /// The end of the last word.
    last_end: u32,
    /// Whether a line ended within `[`.
    newline: bool,
    /// Whether a statement at top level has just ended.
    between: bool,
    pub(crate) finished: bool,
    pub(crate) problems: Problems,
}

impl<'t> Layout<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let span = Span { start: 0, end: 0 };
        Self {
            text,
            lexer: Raw::lexer(text),
            out: Vec::new(),
            stack: Vec::new(),
            top: Level {
                open: Open::Begin,
                phase: Phase::Body,
                span,
                at: 0,
                questions: 0,
                in_index: false,
                drop_from: None,
                drop_bracket: None,
                assert: false,
                each: false,
            },
            ended: false,
            number: false,
            last_end: 0,
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

    /// What follows on this line.
    fn rest_of_line(&self) -> &'t str {
        self.lexer.remainder().trim_start_matches([' ', '\t', '\r'])
    }

    fn space_before(&self, span: Span) -> bool {
        span.start > self.last_end
    }

    fn space_after(&self) -> bool {
        matches!(self.next_byte(), 0 | b' ' | b'\t' | b'\r' | b'\n')
    }

    /// Whether nothing follows that an operator could be applied to.
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

    /// What ends an operand.
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
            Open::Square if self.newline => {
                self.newline = false;
                self.put(Token::Semicolon(at));
            }
            Open::Square if spaced => {
                let gap = Span { start: self.last_end, end: span.start };
                self.put(Token::Space(gap));
            }
            open if !open.is_bracket() && level.assert && spaced => {
                self.level().assert = false;
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
        level.assert = false;
        if let Some(from) = level.drop_from.take() {
            self.drop(from, span.start);
        }
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
            drop_from: None,
            drop_bracket: None,
            assert: false,
            each: false,
        });
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
                let rest = self.rest_of_line();
                let ends = ["end", "else", "elseif", ":"].iter().any(|word| {
                    rest.strip_prefix(word).is_some_and(|rest| {
                        !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '!')
                    })
                });
                if self.nothing_follows() || ends {
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
            Raw::Try => self.foreign(span, "`try` and `catch` are"),
            Raw::Quote => self.foreign(span, "quoting code is"),
            Raw::MacroDef => self.foreign(span, "macros are"),
            Raw::Module => self.foreign(span, "modules are"),
            Raw::Catch | Raw::Finally => {
                if self.stack.iter().any(|level| level.open == Open::Foreign) {
                    self.close_brackets(span);
                    self.sep(span);
                } else {
                    let word = self.slice(span);
                    self.problems.add(span, format!("`{word}` without `try`"));
                }
            }
            Raw::Using => self.using(span),
            Raw::Export => {
                self.unsupported(span, "`export` is");
                self.drop_statement(span);
            }
            Raw::Macro => self.macro_call(span),
            Raw::DotAndOr => {
                let word = self.slice(span);
                self.problems.add(span, format!("the operator `{word}` is not supported"));
                self.infix(Infix::And, span);
            }
            Raw::Dollar => {
                self.unsupported(span, "interpolation (`$`) is");
                if self.ended {
                    self.infix(Infix::Oper(Oper::Xor), span);
                } else {
                    self.lexer.next();
                    self.atom(Atom::Error, span);
                }
            }
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

    fn prefix(&mut self, prefix: Prefix, span: Span) {
        self.begin_operand(span);
        self.put(Token::Prefix(prefix, span));
    }

    fn infix(&mut self, infix: Infix, span: Span) {
        self.newline = false;
        self.put(Token::Infix(infix, span));
    }

    fn postfix(&mut self, postfix: Postfix, span: Span) {
        self.put_end(Token::Postfix(postfix, span));
    }

    fn name(&mut self, span: Span) {
        if self.ended && !self.space_before(span) && !self.newline {
            self.infix(Infix::Juxtapose, Span { start: span.start, end: span.start });
        }
        self.atom(Atom::Name, span);
    }

    fn int(&mut self, mut span: Span) {
        // `1.` is a number unless the point begins something else.
        let rest = self.lexer.remainder().as_bytes();
        let mut atom = Atom::Int;
        if rest.first() == Some(&b'.') {
            let next = self.lexer.remainder()[1..].chars().next().unwrap_or(' ');
            if matches!(next, ' ' | '\t' | '\r' | '\n' | ',' | ';' | ')' | ']' | '}' | '#' | ':') {
                self.lexer.bump(1);
                span.end += 1;
                atom = Atom::Float;
            }
        }
        self.atom(atom, span);
        self.number = true;
    }

    fn oper(&mut self, oper: Oper, dotted: bool, span: Span) {
        let in_square = self.open_kind() == Open::Square;
        if self.ended {
            if oper == Oper::In && !dotted && self.here().phase == Phase::Target {
                self.target_ends(span);
                return;
            }
            let stands_alone = self.newline
                || (self.space_before(span) && !self.space_after() && {
                    let level = self.here();
                    in_square || (level.open == Open::Function && level.phase == Phase::Head)
                });
            let begins = oper.is_only_prefix() && oper != Oper::BitNot;
            if !(begins || (stands_alone && oper.is_prefix() && oper != Oper::Subtype)) {
                let infix = if dotted { Infix::Dotted(oper) } else { Infix::Oper(oper) };
                self.infix(infix, span);
                return;
            }
        }
        self.begin_operand(span);
        let touches = self.next_byte() == b'(';
        if self.nothing_follows() || (touches && !oper.is_prefix()) {
            self.put_end(Token::Atom(Atom::Oper, span));
        } else if dotted {
            self.put(Token::Prefix(Prefix::Dotted(oper), span));
        } else if touches {
            self.put(Token::Prefix(Prefix::Touching(oper), span));
        } else {
            self.put(Token::Prefix(Prefix::Oper(oper), span));
        }
    }

    fn equals(&mut self, span: Span) {
        if self.here().phase == Phase::Target && self.ended {
            self.target_ends(span);
        } else {
            self.infix(Infix::Assign, span);
        }
    }

    fn target_ends(&mut self, span: Span) {
        let level = self.level();
        level.phase = if level.open == Open::For { Phase::Head } else { Phase::Body };
        self.newline = false;
        self.put(Token::In(span));
    }

    fn word_in(&mut self, span: Span) {
        if !self.ended {
            self.name(span);
        } else if self.here().phase == Phase::Target {
            self.target_ends(span);
        } else {
            self.infix(Infix::Oper(Oper::In), span);
        }
    }

    fn word_where(&mut self, span: Span) {
        if self.rest_of_line().starts_with('{') {
            let gap = self.lexer.remainder().len() - self.rest_of_line().len();
            self.lexer.bump(gap + 1);
            let start = span.end + gap as u32;
            let brace = Span { start, end: start + 1 };
            self.push_level(Open::Curly, Phase::Body, brace, false);
            self.put(Token::Where(brace));
        } else {
            self.infix(Infix::Where, span);
        }
    }

    fn typed(&mut self, span: Span) {
        let in_square = self.open_kind() == Open::Square;
        if self.ended && !(in_square && self.space_before(span) && !self.space_after()) {
            self.infix(Infix::Typed, span);
        } else {
            self.prefix(Prefix::Typed, span);
        }
    }

    fn colon(&mut self, span: Span) {
        let next = self.lexer.remainder().chars().next().unwrap_or(' ');
        let is_name = next.is_alphabetic() || next == '_' || matches!(next, '∂' | '∇');
        if self.ended {
            if self.here().questions > 0 {
                self.level().questions -= 1;
                self.infix(Infix::Else, span);
                return;
            }
            let in_square = self.open_kind() == Open::Square;
            let stands_alone = in_square && self.space_before(span) && is_name;
            if !stands_alone {
                self.infix(Infix::Range, span);
                return;
            }
        }
        self.begin_operand(span);
        if next == '(' {
            self.quoted(span);
        } else if is_name || self.operator_follows() {
            let word = self.lexer.next();
            let range = self.lexer.span();
            let span = Span { start: range.start as u32, end: range.end as u32 };
            if matches!(word, Some(Ok(Raw::Newline)) | None) {
                self.put_end(Token::Atom(Atom::Colon, span));
            } else {
                self.put_end(Token::Atom(Atom::Symbol, span));
            }
        } else {
            self.put_end(Token::Atom(Atom::Colon, span));
        }
    }

    /// Whether what follows is an operator that a symbol can name.
    fn operator_follows(&self) -> bool {
        let mut ahead = self.lexer.clone();
        let before = ahead.span().end;
        let raw = ahead.next();
        ahead.span().start == before
            && matches!(
                raw,
                Some(Ok(Raw::Oper(_)
                    | Raw::Dotted(_)
                    | Raw::Update(_)
                    | Raw::And
                    | Raw::Or
                    | Raw::Equals))
            )
    }

    /// `:(…)`: a symbol if there is one name or operator in it, else code.
    fn quoted(&mut self, span: Span) {
        let mut ahead = self.lexer.clone();
        ahead.next();
        let word = ahead.next();
        let range = ahead.span();
        let is_symbol = matches!(word, Some(Ok(Raw::Name | Raw::Oper(_) | Raw::Dotted(_))))
            && matches!(ahead.next(), Some(Ok(Raw::CloseParen)));
        if is_symbol {
            self.lexer = ahead;
            let span = Span { start: range.start as u32, end: range.end as u32 };
            self.put_end(Token::Atom(Atom::Symbol, span));
            return;
        }
        self.problems.add(span, "quoting code is not supported".to_owned());
        self.lexer.next();
        self.push_level(
            Open::Paren,
            Phase::Body,
            Span { start: span.start, end: span.end + 1 },
            false,
        );
        let at = self.out.len();
        self.put(Token::Paren(span));
        self.level().drop_bracket = Some(at);
    }

    fn prime(&mut self, span: Span) {
        if self.ended && !self.space_before(span) {
            self.postfix(Postfix::Adjoint, span);
            return;
        }
        // A character literal.
        let rest = self.lexer.remainder();
        let mut end = 0;
        let mut chars = rest.char_indices();
        let mut closed = false;
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => {
                    chars.next();
                }
                '\'' if at > 0 => {
                    end = at + 1;
                    closed = true;
                    break;
                }
                '\n' => break,
                _ if at > 16 => break,
                _ => {}
            }
        }
        if !closed {
            end = rest.chars().next().filter(|&c| c != '\n').map_or(0, char::len_utf8);
        }
        self.lexer.bump(end);
        let span = Span { start: span.start, end: span.end + end as u32 };
        self.unsupported(span, "characters (`'c'`) are");
        self.atom(Atom::Error, span);
    }

    fn string(&mut self, form: super::raw::StrForm, span: Span) {
        if !form.closed {
            let quotes = if form.triple { "\"\"\"" } else { "\"" };
            let span = Span { start: span.start, end: span.start + quotes.len() as u32 };
            self.problems.push(Problem {
                span,
                message: "the string is not closed".into(),
                label: format!("expected `{quotes}` after this"),
                help: None,
                at_end: form.triple,
            });
            self.atom(Atom::Error, span);
        } else if form.interpolated {
            self.unsupported(span, "string interpolation (`$`) is");
            self.atom(Atom::Error, span);
        } else if self.ended
            && !self.space_before(span)
            && matches!(self.out.last(), Some(Token::Atom(Atom::Name, _)))
        {
            self.unsupported(span, "string macros are");
        } else {
            self.atom(if form.triple { Atom::LongStr } else { Atom::Str }, span);
        }
    }

    fn dot(&mut self, span: Span) {
        if !self.ended || (self.space_before(span) && self.open_kind() == Open::Square) {
            self.problems.add(span, "expected an expression before `.`");
            return;
        }
        let next = self.next_byte();
        if next == b'(' {
            self.lexer.bump(1);
            let span = Span { start: span.start, end: span.end + 1 };
            self.push_level(Open::Paren, Phase::Body, span, self.here().in_index);
            self.put(Token::DotCall(span));
            return;
        }
        // `Base.:+`, `Base.:(==)`
        let mut ahead = self.lexer.clone();
        let mut word = ahead.next();
        let colon = matches!(word, Some(Ok(Raw::Colon)));
        let mut closes = false;
        if colon {
            word = ahead.next();
            if matches!(word, Some(Ok(Raw::OpenParen))) {
                word = ahead.next();
                closes = true;
            }
        }
        let range = ahead.span();
        let name = Span { start: range.start as u32, end: range.end as u32 };
        let first = self.text[range.clone()].chars().next().unwrap_or(' ');
        let is_word = first.is_alphabetic() || first == '_';
        let is_oper = matches!(word, Some(Ok(Raw::Oper(_) | Raw::Dotted(_))));
        if closes && !matches!(ahead.next(), Some(Ok(Raw::CloseParen))) {
            self.problems.add(span, "expected the name of a field after `.`");
            self.put_end(Token::Postfix(Postfix::Field, span));
            return;
        }
        if is_word || (colon && is_oper) {
            self.lexer = ahead;
            self.postfix(Postfix::Field, name);
        } else {
            let end = name.start <= span.end && word.is_none();
            self.problems.push(Problem {
                span,
                message: "expected the name of a field after `.`".into(),
                label: String::new(),
                help: None,
                at_end: end,
            });
        }
    }

    // --- separators --------------------------------------------------------------------------

    fn end_of_line(&mut self, span: Span) {
        match self.open_kind() {
            Open::Paren | Open::Curly => {}
            Open::Square => self.newline = self.ended,
            Open::Let
            | Open::Do
            | Open::For
            | Open::If
            | Open::While
            | Open::Function
            | Open::Struct
            | Open::Abstract
                if self.here().phase != Phase::Body =>
            {
                if self.ended || matches!(self.out.last(), Some(Token::Let(_) | Token::Do(_))) {
                    self.sep(span);
                }
            }
            _ => {
                if self.ended {
                    self.sep(span);
                }
            }
        }
    }

    fn semicolon(&mut self, span: Span) {
        if self.open_kind().is_bracket() {
            self.newline = false;
            let level = self.level();
            level.phase = Phase::Body;
            level.each = false;
            self.put(Token::Semicolon(span));
        } else {
            self.sep(span);
        }
    }

    fn comma(&mut self, span: Span) {
        let level = self.level();
        match level.open {
            Open::For if level.phase != Phase::Body => {
                level.phase = Phase::Target;
                self.put(Token::Comma(span));
            }
            Open::Let | Open::Do if level.phase == Phase::Head => self.put(Token::Comma(span)),
            open if open.is_bracket() => {
                level.questions = 0;
                if level.each {
                    level.phase = Phase::Target;
                }
                self.newline = false;
                self.put(Token::Comma(span));
            }
            _ => {
                let mut rest = self.rest_of_line().bytes();
                if rest.next() == Some(b'=') && rest.next() != Some(b'=') {
                    self.put_end(Token::Postfix(Postfix::Comma, span));
                } else {
                    self.put(Token::Infix(Infix::Comma, span));
                }
            }
        }
    }
}
