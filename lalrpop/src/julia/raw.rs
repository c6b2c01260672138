//! The words of Julia, each without regard to what stands around it.
//!
//! The meaning of a character often depends on its neighbours (`'`, `:`, `[1 -2]`).
//! [`super::layout`] finds it. Blank space and comments are skipped, the ends of lines are words.

use std::ops::Range;

use logos::{FilterResult, Lexer, Logos};

use super::token::Oper;

/// The form of a string literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StrForm {
    /// Tells whether it begins with three quotes.
    pub triple: bool,
    /// Tells whether it has a `$`.
    pub interpolated: bool,
    /// Tells whether it ends.
    pub closed: bool,
}

/// A word; its span says where it is.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\u{a0}\u{feff}]+")]
pub(crate) enum Raw {
    #[token("\n")]
    Newline,
    /// A comment that does not end; others are skipped.
    #[token("#", comment)]
    OpenComment,
    #[regex(r"[\p{XID_Start}_∂∇∞∅∑∏∫][\p{XID_Continue}∂∇∞∅∑∏∫′″‴²³¹⁰⁴-ⁿ₀-ₜ]*", name)]
    Name,
    #[regex(r"[0-9][0-9_]*")]
    #[regex(r"0[xbo][0-9A-Fa-f_]+")]
    Int,
    #[regex(r"[0-9][0-9_]*\.[0-9][0-9_]*([eEf][+\-−]?[0-9]+)?")]
    #[regex(r"[0-9][0-9_]*\.?[eEf][+\-−]?[0-9]+")]
    #[regex(r"\.[0-9][0-9_]*([eEf][+\-−]?[0-9]+)?")]
    Float,
    #[token("\"", string)]
    Str(StrForm),
    /// A command, `` `ls` ``.
    #[token("`", command)]
    Command,
    #[regex(r"@[\p{XID_Start}_.][\p{XID_Continue}.!]*|@")]
    Macro,

    #[token("begin")]
    Begin,
    #[token("if")]
    If,
    #[token("elseif")]
    ElseIf,
    #[token("else")]
    Else,
    #[token("while")]
    While,
    #[token("for")]
    For,
    #[token("function")]
    Function,
    #[token("let")]
    Let,
    #[token("do")]
    Do,
    #[token("struct")]
    Struct,
    #[token("try")]
    Try,
    #[token("catch")]
    Catch,
    #[token("finally")]
    Finally,
    #[token("quote")]
    Quote,
    #[token("macro")]
    MacroDef,
    #[token("module")]
    #[token("baremodule")]
    Module,
    #[token("end")]
    End,
    #[token("return")]
    Return,
    #[token("break")]
    Break,
    #[token("continue")]
    Continue,
    #[token("local")]
    Local,
    #[token("global")]
    Global,
    #[token("const")]
    Const,
    #[token("using")]
    #[token("import")]
    Using,
    #[token("export")]
    Export,
    #[token("true")]
    True,
    #[token("false")]
    False,
    // Words that are names elsewhere.
    #[token("in")]
    In,
    #[token("isa")]
    Isa,
    #[token("where")]
    Where,
    #[token("mutable")]
    Mutable,
    #[token("abstract")]
    Abstract,
    #[token("primitive")]
    Primitive,

    #[token("(")]
    OpenParen,
    #[token(")")]
    CloseParen,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(".")]
    Dot,
    #[token("...")]
    #[token("…")]
    Ellipsis,
    #[token("::")]
    Typed,
    #[token(":")]
    Colon,
    #[token("?")]
    Question,
    #[token("->")]
    Arrow,
    #[token("'")]
    Prime,
    #[token("=")]
    Equals,
    #[token(".=")]
    DotEquals,
    #[token("&&")]
    And,
    #[token("||")]
    Or,
    #[token(".&&")]
    #[token(".||")]
    DotAndOr,
    #[token("$")]
    Dollar,

    #[token("+", |_| Oper::Add)]
    #[token("-", |_| Oper::Sub)]
    #[token("−", |_| Oper::Sub)]
    #[token("*", |_| Oper::Mul)]
    #[token("/", |_| Oper::Div)]
    #[token("^", |_| Oper::Pow)]
    #[token("==", |_| Oper::Equal)]
    #[token("<", |_| Oper::Less)]
    #[token(">", |_| Oper::Greater)]
    #[token("<=", |_| Oper::LessEqual)]
    #[token("≤", |_| Oper::LessEqual)]
    #[token(">=", |_| Oper::GreaterEqual)]
    #[token("≥", |_| Oper::GreaterEqual)]
    #[token("!=", |_| Oper::NotEqual)]
    #[token("≠", |_| Oper::NotEqual)]
    #[token("===", |_| Oper::Same)]
    #[token("≡", |_| Oper::Same)]
    #[token("!==", |_| Oper::NotSame)]
    #[token("≢", |_| Oper::NotSame)]
    #[token("%", |_| Oper::Rem)]
    #[token("÷", |_| Oper::IntDiv)]
    #[token("!", |_| Oper::Not)]
    #[regex(
        r"~|√|∛|\||&|⊻|⊼|⊽|\\|//|<<|>>|>>>|∘|×|⋅|⊗|⊕|⊖|∪|∩|⊆|⊇|⊊|∈|∉|∋|≈|≉|<:|>:|\|>|<\||=>|±|∓|\+\+|-->|<-->|<--|→",
        |lex| Oper::named(lex.slice())
    )]
    Oper(Oper),
    #[regex(
        r"\.(\+|-|−|\*|/|\^|==|<|>|<=|≤|>=|≥|!=|≠|===|≡|!==|≢|%|÷|!|~|√|∛|\||&|⊻|⊼|⊽|\\|//|<<|>>|>>>|∘|×|⋅|⊗|⊕|⊖|∪|∩|⊆|⊇|⊊|∈|∉|∋|≈|≉|<:|>:|\|>|<\||=>|±|∓|\+\+)",
        |lex| Oper::named(&lex.slice()[1..])
    )]
    Dotted(Oper),
    #[regex(
        r"(\+|-|−|\*|/|\^|%|÷|\||&|⊻|\\|//|<<|>>|>>>)=",
        |lex| Oper::named(&lex.slice()[..lex.slice().len() - 1])
    )]
    Update(Oper),
    #[regex(
        r"\.(\+|-|−|\*|/|\^|%|÷|\||&|⊻|\\|//|<<|>>|>>>)=",
        |lex| Oper::named(&lex.slice()[1..lex.slice().len() - 1])
    )]
    DotUpdate(Oper),
    /// A piece of text that no word begins with.
    Invalid,
}

/// The words of a text, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Words<'t>(Lexer<'t, Raw>);

impl<'t> Words<'t> {
    /// Returns the words of a text from the byte at `start` on.
    pub(crate) fn new(text: &'t str, start: usize) -> Self {
        let mut lexer = Raw::lexer(text);
        lexer.bump(start);
        Self(lexer)
    }

    /// The next word. Keywords with a `!` behind them, as in `end!`, are names.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Result<Raw, ()>> {
        let raw = self.0.next();
        if self.0.remainder().as_bytes().first() == Some(&b'!')
            && let Some(Ok(word)) = raw
            && word != Raw::Name
            && self.0.slice().as_bytes().iter().all(u8::is_ascii_lowercase)
        {
            let before = self.0.span().end;
            name(&mut self.0);
            return Some(Ok(if self.0.span().end == before { word } else { Raw::Name }));
        }
        raw
    }

    /// The place of the last word.
    #[inline]
    pub(crate) fn span(&self) -> Range<usize> {
        self.0.span()
    }

    /// Returns the text after the last word.
    #[inline]
    pub(crate) fn remainder(&self) -> &'t str {
        self.0.remainder()
    }

    /// Makes the last word longer by so many bytes.
    #[inline]
    pub(crate) fn bump(&mut self, bytes: usize) {
        self.0.bump(bytes);
    }
}

/// A `!` ends a name unless it begins `!=`; more of the name may follow it.
fn name(lex: &mut Lexer<'_, Raw>) {
    loop {
        let rest = lex.remainder().as_bytes();
        if rest.first() != Some(&b'!') || rest.get(1) == Some(&b'=') {
            return;
        }
        let more = rest[1..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_');
        let more = more.count();
        lex.bump(1 + more);
    }
}

fn comment(lex: &mut Lexer<'_, Raw>) -> FilterResult<(), ()> {
    let rest = lex.remainder().as_bytes();
    if rest.first() != Some(&b'=') {
        let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        lex.bump(len);
        return FilterResult::Skip;
    }
    let (mut depth, mut at) = (1usize, 1);
    while let Some(found) = memchr::memchr2(b'#', b'=', &rest[at..]) {
        at += found;
        match (rest[at], rest.get(at + 1)) {
            (b'#', Some(b'=')) => {
                depth += 1;
                at += 2;
            }
            (b'=', Some(b'#')) => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    lex.bump(at);
                    return FilterResult::Skip;
                }
            }
            _ => at += 1,
        }
    }
    lex.bump(rest.len());
    FilterResult::Emit(())
}

fn string(lex: &mut Lexer<'_, Raw>) -> StrForm {
    let rest = lex.remainder().as_bytes();
    let triple = rest.starts_with(b"\"\"");
    // A name touches it: what is in it is for a macro to read.
    let named =
        lex.source()[..lex.span().start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let mut form = StrForm { triple, interpolated: false, closed: false };
    let mut at = if triple { 2 } else { 0 };
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 1,
            b'$' if !named => {
                form.interpolated = true;
                // Quotes within `$(…)` do not end the string.
                if rest.get(at + 1) == Some(&b'(')
                    && let Some(length) = closing_bracket(&rest[at + 1..])
                {
                    at += length;
                }
            }
            b'"' if !triple || rest[at..].starts_with(b"\"\"\"") => {
                form.closed = true;
                lex.bump(at + if triple { 3 } else { 1 });
                return form;
            }
            _ => {}
        }
        at += 1;
    }
    if !triple {
        // Most likely the quote is missing on this line.
        let line = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        lex.bump(line);
    } else {
        lex.bump(rest.len());
    }
    form
}

/// The length of a text in brackets up to the bracket that closes the first one; strings in it may have
/// others. `None` if none does, or only far away, or on another line than a string in it begins.
pub(crate) fn closing_bracket(text: &[u8]) -> Option<usize> {
    closing_bracket_within(&text[..text.len().min(MAX_VALUE)], 0)
}

/// The most bytes that a value within a string takes, and the most strings that are within each other.
const MAX_VALUE: usize = 1 << 14;
const MAX_STRINGS: usize = 20;

fn closing_bracket_within(text: &[u8], depth: usize) -> Option<usize> {
    let (mut open, mut at) = (0usize, 0);
    while at < text.len() {
        match text[at] {
            b'(' => open += 1,
            b')' => {
                open -= 1;
                if open == 0 {
                    return Some(at + 1);
                }
            }
            b'"' => at += closing_quote(&text[at..], depth + 1)? - 1,
            _ => {}
        }
        at += 1;
    }
    None
}

/// The length of a string up to the end of its last quote.
fn closing_quote(text: &[u8], depth: usize) -> Option<usize> {
    if depth > MAX_STRINGS {
        return None;
    }
    let triple = text.starts_with(b"\"\"\"");
    let mut at = if triple { 3 } else { 1 };
    while at < text.len() {
        match text[at] {
            b'\\' => at += 1,
            b'$' if text.get(at + 1) == Some(&b'(') => {
                at += closing_bracket_within(&text[at + 1..], depth)?;
            }
            b'"' if !triple => return Some(at + 1),
            b'"' if text[at..].starts_with(b"\"\"\"") => return Some(at + 3),
            b'\n' if !triple => return None,
            _ => {}
        }
        at += 1;
    }
    None
}

fn command(lex: &mut Lexer<'_, Raw>) {
    let rest = lex.remainder().as_bytes();
    let len = memchr::memchr(b'`', rest).map_or(rest.len(), |at| at + 1);
    lex.bump(len);
}
