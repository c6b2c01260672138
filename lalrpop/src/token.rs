//! The tokens of IR text.

use std::fmt;

use logos::Logos;

/// A token without its text: the span says where that is.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r]+", skip(r"#[^\n]*", allow_greedy = true))]
pub(crate) enum Token {
    /// The end of a line, with all blank space that follows it.
    #[regex(r"\n[ \t\r\n]*")]
    Newline,
    /// `%3`, `%acc`, `%"odd name"`.
    #[regex(r#"%([0-9]+|[A-Za-z_][A-Za-z0-9_!.]*|"([^"\\\n]|\\[^\n])*")"#)]
    Value,
    /// `^3`.
    #[regex(r"\^[0-9]+")]
    Block,
    /// `@f`, `@"odd name"`.
    #[regex(r#"@([A-Za-z_][A-Za-z0-9_!.]*|"([^"\\\n]|\\[^\n])*")"#)]
    Global,
    /// `:f`, `:"odd name"`.
    #[regex(r#":([A-Za-z_][A-Za-z0-9_!.]*|"([^"\\\n]|\\[^\n])*")"#)]
    Symbol,
    /// `"text"`.
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Text,
    /// A string that its line does not end.
    #[regex(r#"[%@:]?"([^"\\\n]|\\[^\n])*\\?"#)]
    Unterminated,
    /// Everything that begins as a number does, well-formed or not.
    #[regex(r"-?[0-9]([0-9A-Za-z_.]|[eE][+-])*")]
    Number,
    /// Floats that look like words and can be names as well.
    #[token("inf")]
    #[token("inff32")]
    #[token("nan")]
    #[token("nanf32")]
    FloatWord,
    /// The other floats that have no digits to begin with.
    #[regex(r"-inf(f32)?|nan\(0x[0-9A-Fa-f]+\)(f32)?")]
    Float,
    /// A mnemonic, the name of a type, of a field or of an attribute.
    #[regex(r"[A-Za-z_][A-Za-z0-9_!.]*")]
    Word,
    #[token("func")]
    Func,
    #[token("struct")]
    Struct,
    #[token("mutable")]
    Mutable,
    #[token("call")]
    Call,
    #[token("loc")]
    Loc,
    #[token("at")]
    At,
    #[token("in")]
    In,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("nothing")]
    Nothing,
    #[token("(")]
    OpenParen,
    #[token(")")]
    CloseParen,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("[")]
    OpenBracket,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("=")]
    Equals,
    #[token("!")]
    Bang,
    #[token("->")]
    Arrow,
    /// Brackets are nested too deep.
    TooDeep,
    /// A piece of text that no token begins with.
    Invalid,
}

impl Token {
    /// Returns whether a newline just after it is blank space.
    pub(crate) fn continues(self) -> bool {
        matches!(self, Self::Comma | Self::OpenParen | Self::OpenBracket | Self::Less)
    }

    /// Returns whether a colon that touches its end is a colon, not the start of a symbol.
    fn takes_colon(self) -> bool {
        matches!(
            self,
            Self::Value
                | Self::Block
                | Self::Text
                | Self::Number
                | Self::FloatWord
                | Self::Float
                | Self::Word
                | Self::CloseParen
                | Self::Global
                | Self::Symbol
        ) || self.is_keyword()
    }

    fn is_keyword(self) -> bool {
        matches!(
            self,
            Self::Func
                | Self::Struct
                | Self::Mutable
                | Self::Call
                | Self::Loc
                | Self::At
                | Self::True
                | Self::False
                | Self::Nothing
        )
    }
}

/// The greatest depth to which brackets can be nested. Types are nested values of the IR, which
/// is walked by recursion.
pub(crate) const MAX_DEPTH: u32 = 200;

/// The tokens of a text, with newlines only where they count.
pub(crate) struct Lexer<'s> {
    text: &'s str,
    inner: logos::Lexer<'s, Token>,
    /// The position in the text where `inner` begins.
    base: u32,
    /// The token before; `Newline` at the start.
    last: Token,
    last_end: u32,
    depth: u32,
    line_start: u32,
}

impl fmt::Debug for Lexer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lexer").field("line_start", &self.line_start).finish_non_exhaustive()
    }
}

impl<'s> Lexer<'s> {
    /// The tokens from `offset` on, which begins a line.
    pub(crate) fn new(text: &'s str, offset: u32) -> Self {
        Self {
            text,
            inner: Token::lexer(&text[offset as usize..]),
            base: offset,
            last: Token::Newline,
            last_end: offset,
            depth: 0,
            line_start: offset,
        }
    }

    /// The position where the line of the last token begins; a line ends with a newline that counts.
    pub(crate) fn line_start(&self) -> u32 {
        self.line_start
    }

    /// Cuts the last token after its first byte, and goes on behind that.
    fn cut(&mut self, start: u32) {
        self.base = start + 1;
        self.inner = Token::lexer(&self.text[self.base as usize..]);
    }
}

impl Iterator for Lexer<'_> {
    type Item = (u32, Token, u32);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(token) = self.inner.next() else {
                // The last line ends even if no newline says so.
                if self.last == Token::Newline {
                    return None;
                }
                self.last = Token::Newline;
                let end = self.text.len() as u32;
                return Some((end, Token::Newline, end));
            };
            let span = self.inner.span();
            let (start, mut end) = (self.base + span.start as u32, self.base + span.end as u32);
            let mut token = token.unwrap_or(Token::Invalid);
            match token {
                Token::Newline => {
                    if self.last == Token::Newline || self.last.continues() {
                        continue;
                    }
                    self.depth = 0;
                }
                Token::OpenParen | Token::OpenBrace | Token::Less => {
                    self.depth += 1;
                    if self.depth > MAX_DEPTH {
                        token = Token::TooDeep;
                    }
                }
                Token::CloseParen | Token::CloseBrace | Token::Greater => {
                    self.depth = self.depth.saturating_sub(1);
                }
                Token::Symbol if self.last_end == start && self.last.takes_colon() => {
                    self.cut(start);
                    (token, end) = (Token::Colon, start + 1);
                }
                _ => {}
            }
            if self.last == Token::Newline {
                self.line_start = start;
            }
            (self.last, self.last_end) = (token, end);
            return Some((start, token, end));
        }
    }
}
