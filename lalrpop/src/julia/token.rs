//! The tokens that the grammar of the Julia subset sees: every word with its role decided.

use super::ast::Span;

macro_rules! operators {
    ($($name:ident $text:literal $level:ident;)*) => {
        /// An operator that is a function.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub(crate) enum Oper {
            $(#[doc = $text] $name,)*
        }

        impl Oper {
            /// The operator that is written so. Other spellings have the name of the usual one.
            pub(crate) fn named(text: &str) -> Self {
                match text {
                    $($text => Self::$name,)*
                    "−" => Self::Sub,
                    "≤" => Self::LessEqual,
                    "≥" => Self::GreaterEqual,
                    "≠" => Self::NotEqual,
                    "≡" => Self::Same,
                    "≢" => Self::NotSame,
                    "∈" => Self::In,
                    _ => Self::Other,
                }
            }

            /// The name of its function.
            pub(crate) fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            pub(crate) fn level(self) -> Level {
                match self {
                    $(Self::$name => Level::$level,)*
                }
            }
        }
    };
}

operators! {
    Add "+" Plus;
    Sub "-" Plus;
    Or "|" Plus;
    Xor "⊻" Plus;
    Nor "⊽" Plus;
    DirectSum "⊕" Plus;
    DirectDifference "⊖" Plus;
    Union "∪" Plus;
    PlusMinus "±" Plus;
    MinusPlus "∓" Plus;
    Concat "++" Plus;
    Mul "*" Times;
    Div "/" Times;
    IntDiv "÷" Times;
    Rem "%" Times;
    And "&" Times;
    Nand "⊼" Times;
    LeftDiv "\\" Times;
    Compose "∘" Times;
    Cross "×" Times;
    Dot "⋅" Times;
    Kronecker "⊗" Times;
    Intersect "∩" Times;
    Rational "//" Rational;
    ShiftLeft "<<" Shift;
    ShiftRight ">>" Shift;
    ShiftRightLogical ">>>" Shift;
    Pow "^" Power;
    Equal "==" Comparison;
    NotEqual "!=" Comparison;
    Same "===" Comparison;
    NotSame "!==" Comparison;
    Less "<" Comparison;
    Greater ">" Comparison;
    LessEqual "<=" Comparison;
    GreaterEqual ">=" Comparison;
    In "in" Comparison;
    NotIn "∉" Comparison;
    Contains "∋" Comparison;
    Isa "isa" Comparison;
    Subtype "<:" Comparison;
    Supertype ">:" Comparison;
    Approx "≈" Comparison;
    NotApprox "≉" Comparison;
    SubsetEqual "⊆" Comparison;
    SupersetEqual "⊇" Comparison;
    Subset "⊊" Comparison;
    Pipe "|>" Pipe;
    PipeBack "<|" Pipe;
    Pair "=>" Pair;
    Not "!" Unary;
    BitNot "~" Unary;
    Sqrt "√" Unary;
    Cbrt "∛" Unary;
    Other "-->" Arrow;
}

/// The tightness with which operators bind, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Level {
    Pair,
    Arrow,
    Comparison,
    Pipe,
    Plus,
    Times,
    Rational,
    Shift,
    Unary,
    Power,
}

impl Oper {
    /// Returns whether it can stand in front of its only operand.
    pub(crate) fn is_prefix(self) -> bool {
        matches!(
            self,
            Self::Add
                | Self::Sub
                | Self::Not
                | Self::BitNot
                | Self::Sqrt
                | Self::Cbrt
                | Self::Subtype
                | Self::Supertype
                | Self::PlusMinus
                | Self::MinusPlus
        )
    }

    /// Returns whether it can only stand in front of an operand.
    pub(crate) fn is_only_prefix(self) -> bool {
        matches!(self, Self::Not | Self::BitNot | Self::Sqrt | Self::Cbrt)
    }
}

/// The kind of an operand of one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Atom {
    Name,
    /// An operator as a value.
    Oper,
    Int,
    Float,
    /// A character: `'c'`.
    Char,
    /// A string with one quote at each end.
    Str,
    /// A string with three.
    LongStr,
    /// A piece of a string that has values in it.
    StrPart,
    /// A string with a name that touches it: `r"text"`.
    StrMacro,
    /// A macro without arguments.
    Macro,
    /// The function that is called for such a string.
    Interpolate,
    True,
    False,
    /// The span is that of the name, without the colon.
    Symbol,
    End,
    First,
    Colon,
    Return,
    Break,
    Continue,
    Goto,
    Label,
    Using,
    /// `export` with its names.
    Export,
    /// Something that has been reported.
    Error,
}

/// A prefix, which stands in front of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Prefix {
    Oper(Oper),
    /// The colon of `:(…)`.
    Quote,
    /// `$` in code that is data.
    Interpolate,
    /// A macro that is not built in, before its arguments. The span is that of its name.
    Macro,
    /// The same, with its arguments in brackets.
    TightMacro,
    /// `@generated`
    Generated,
    /// An operator that touches a bracket: `-(x)`, which may be a call of several arguments.
    Touching(Oper),
    Dotted(Oper),
    /// `::T`
    Typed,
    Return,
    Local,
    Global,
    Const,
    Inbounds,
    /// `@.`
    Dots,
    /// `@show`
    Show,
    /// `@inferred f(x)`
    Inferred,
    Simd,
    View,
    Inline,
    NoInline,
    Assert,
    /// `@non_differentiable f(x)`
    NonDifferentiable,
    /// `@not_implemented("why")`
    NotImplemented,
    /// The macros again, with their argument in brackets: `@assert(x)`.
    TightInbounds,
    TightDots,
    TightShow,
    TightInferred,
    TightView,
    TightAssert,
    /// A macro that changes nothing, with its argument in brackets.
    TightInline,
}

impl Prefix {
    /// Returns whether it is a macro with its argument in brackets.
    pub(crate) const fn is_tight_macro(self) -> bool {
        matches!(
            self,
            Self::TightInbounds
                | Self::TightDots
                | Self::TightShow
                | Self::TightInferred
                | Self::TightView
                | Self::TightAssert
                | Self::TightInline
                | Self::NotImplemented
                | Self::Quote
                | Self::TightMacro
        )
    }
}

/// An infix, which stands between two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Infix {
    Oper(Oper),
    Dotted(Oper),
    Assign,
    DotAssign,
    Update(Oper),
    DotUpdate(Oper),
    And,
    Or,
    /// Of a tuple without brackets.
    Comma,
    Question,
    /// The colon of `c ? a : b`.
    Else,
    Range,
    Where,
    Arrow,
    Typed,
    /// Nothing at all, as in `2x`.
    Juxtapose,
    /// Blank space between the arguments of a macro.
    Argument,
    /// The dot of `x.$name`.
    Dot,
}

/// A postfix, which stands after an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Postfix {
    Adjoint,
    Splat,
    /// The span is that of the name of the field.
    Field,
    /// The comma of `a, = t`.
    Comma,
}

/// A token: every word with its role, and where it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    Atom(Atom, Span),
    Prefix(Prefix, Span),
    Infix(Infix, Span),
    Postfix(Postfix, Span),
    /// `(` that touches what is called.
    Call(Span),
    /// `.(`
    DotCall(Span),
    /// `[` that touches what is indexed.
    Index(Span),
    /// `{` that touches a type.
    Curly(Span),
    /// `{` after `where`.
    Where(Span),
    Paren(Span),
    Bracket(Span),
    CloseParen(Span),
    CloseBracket(Span),
    CloseBrace(Span),
    Comma(Span),
    Semicolon(Span),
    /// Blank space between elements of a matrix.
    Space(Span),
    /// `for` within brackets.
    Each(Span),
    /// `if` within brackets.
    Filter(Span),
    /// `in` or `=` after the target of a `for`.
    In(Span),
    /// The end of a statement or of the head of a block.
    Sep(Span),
    Begin(Span),
    /// `quote`
    Quote(Span),
    /// `macro`
    Macro(Span),
    If(Span),
    ElseIf(Span),
    Else(Span),
    While(Span),
    For(Span),
    Function(Span),
    Let(Span),
    Do(Span),
    Try(Span),
    /// `catch` without a name.
    Catch(Span),
    /// `catch` before a name.
    CatchAs(Span),
    Finally(Span),
    /// `module` or `baremodule`.
    Module(Span),
    Struct(Span),
    /// `mutable struct`
    Mutable(Span),
    /// `abstract type`
    Abstract(Span),
    End(Span),
}

impl Token {
    pub(crate) fn span(self) -> Span {
        match self {
            Self::Atom(_, span)
            | Self::Prefix(_, span)
            | Self::Infix(_, span)
            | Self::Postfix(_, span)
            | Self::Call(span)
            | Self::DotCall(span)
            | Self::Index(span)
            | Self::Curly(span)
            | Self::Where(span)
            | Self::Paren(span)
            | Self::Bracket(span)
            | Self::CloseParen(span)
            | Self::CloseBracket(span)
            | Self::CloseBrace(span)
            | Self::Comma(span)
            | Self::Semicolon(span)
            | Self::Space(span)
            | Self::Each(span)
            | Self::Filter(span)
            | Self::In(span)
            | Self::Sep(span)
            | Self::Begin(span)
            | Self::Quote(span)
            | Self::Macro(span)
            | Self::If(span)
            | Self::ElseIf(span)
            | Self::Else(span)
            | Self::While(span)
            | Self::For(span)
            | Self::Function(span)
            | Self::Let(span)
            | Self::Do(span)
            | Self::Try(span)
            | Self::Catch(span)
            | Self::CatchAs(span)
            | Self::Finally(span)
            | Self::Module(span)
            | Self::Struct(span)
            | Self::Mutable(span)
            | Self::Abstract(span)
            | Self::End(span) => span,
        }
    }

    /// Returns whether a balanced piece of text begins with it.
    pub(crate) fn opens(self) -> bool {
        matches!(
            self,
            Self::Call(_)
                | Self::DotCall(_)
                | Self::Index(_)
                | Self::Curly(_)
                | Self::Where(_)
                | Self::Paren(_)
                | Self::Bracket(_)
                | Self::Begin(_)
                | Self::Quote(_)
                | Self::Macro(_)
                | Self::If(_)
                | Self::While(_)
                | Self::For(_)
                | Self::Function(_)
                | Self::Let(_)
                | Self::Do(_)
                | Self::Try(_)
                | Self::Module(_)
                | Self::Struct(_)
                | Self::Mutable(_)
                | Self::Abstract(_)
        )
    }

    /// Returns whether a balanced piece of text ends with it.
    pub(crate) fn closes(self) -> bool {
        matches!(
            self,
            Self::CloseParen(_) | Self::CloseBracket(_) | Self::CloseBrace(_) | Self::End(_)
        )
    }

    /// Returns whether a piece of text that can be wrong on its own ends before it.
    pub(crate) fn separates(self) -> bool {
        matches!(
            self,
            Self::Sep(_)
                | Self::Comma(_)
                | Self::Semicolon(_)
                | Self::Each(_)
                | Self::Filter(_)
                | Self::In(_)
                | Self::Else(_)
                | Self::ElseIf(_)
                | Self::Catch(_)
                | Self::CatchAs(_)
                | Self::Finally(_)
        )
    }
}

/// Returns whether the body of a string with three quotes begins with the end of a line, and the number of
/// blanks that all its lines begin with, but for the first otherwise.
pub(crate) fn common_indent(body: &str) -> (bool, u16) {
    let first_ends = body.starts_with('\n') || body.starts_with("\r\n");
    let body = if first_ends { body.split_once('\n').map_or("", |(_, rest)| rest) } else { body };
    let blank = [' ', '\t', '\r'];
    let lines: Vec<&str> = body.split('\n').collect();
    let counted = lines.iter().enumerate().filter(|&(at, line)| {
        let last = at + 1 == lines.len();
        (at > 0 || first_ends) && (last || !line.trim_matches(blank).is_empty())
    });
    let mut common: Option<&str> = None;
    for (_, line) in counted {
        let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        common = Some(match common {
            None => indent,
            Some(before) => {
                let same = before.bytes().zip(indent.bytes()).take_while(|(a, b)| a == b).count();
                &before[..same]
            }
        });
    }
    (first_ends, u16::try_from(common.map_or(0, str::len)).unwrap_or(u16::MAX))
}
