//! `text`: strings, which are UTF-8. Positions are those of bytes, the first has index 1.
//!
//! ```
//! use regraft_dialects::{context, text};
//! use regraft_ir::{FunctionBuilder, Type};
//!
//! let ctx = context();
//! let mut b = FunctionBuilder::new(&ctx, "f", &[Type::STR], Type::I64);
//! let text = b.param(0);
//! b.push(text::length(text))?;
//! assert_eq!(b.function().body(b.block()).count(), 1);
//! # Ok::<(), regraft_ir::IrError>(())
//! ```

use crate::ir::{Effects, OperandSet};

const READS_ALL: Effects =
    Effects { reads: OperandSet::ALL, reads_shape: OperandSet::ALL, ..Effects::NONE };

crate::dialect! {
    /// Strings.
    dialect text = 8;

    /// The number of bytes.
    ///
    /// `%2: i64 = text.length %1`
    LENGTH = length(text: str) -> i64 [PURE];

    /// A byte, from 0 to 255; -1 at an index where there is none.
    ///
    /// `%2: i64 = text.byte %1, 1`
    BYTE = byte(text: str, index: i64) -> i64 [PURE];

    /// The code point of the character that begins at an index: -1 outside of the text, -2 within
    /// a character.
    ///
    /// `%2: i32 = text.char %1, 1`
    CHAR = char(text: str, index: i64) -> i32 [PURE];

    /// The bytes from one index to another, both included; they are whole characters.
    ///
    /// Empty if the last index is below the first. Traps (`ArgumentError`) if they are outside of
    /// the text or within a character.
    ///
    /// `%2: str = text.slice %1, 2, 3`
    SLICE = slice(text: str, first: i64, last: i64) -> str [PURE, MAY_TRAP];

    /// The index of the first occurrence of a part that begins at an index or behind it; 0 if there
    /// is none.
    ///
    /// `%3: i64 = text.find %1, %2, 1`
    FIND = find(text: str, part: str, from: i64) -> i64 [PURE];

    /// The index of the last occurrence of a part that begins at an index or before it; 0 if there
    /// is none.
    ///
    /// `%3: i64 = text.find_last %1, %2, 9`
    FIND_LAST = find_last(text: str, part: str, from: i64) -> i64 [PURE];

    /// The order of two texts, by their bytes: -1, 0 or 1.
    ///
    /// `%3: i64 = text.compare %1, %2`
    COMPARE = compare(a: str, b: str) -> i64 [PURE];

    /// The text of one character, by its code point.
    ///
    /// Traps (`ArgumentError`) if it names none.
    ///
    /// `%2: str = text.of_char %1`
    OF_CHAR = of_char(code: i32) -> str [PURE, MAY_TRAP];

    /// The texts in an array, one behind the other.
    ///
    /// `%2: str = text.join %1`
    JOIN = join(parts: _) -> str { effects: READS_ALL };

    /// A text in another form: `:lower`, `:upper`, `:title`, `:escape` (quotes and control
    /// characters as in a literal), `:unescape`, `:valid`.
    ///
    /// Traps (`ArgumentError`) if there is no such form of it.
    ///
    /// `%2: str = text.change :lower, %1`
    CHANGE = change(how: sym, text: str) -> str [PURE, MAY_TRAP];

    /// The classes of a character as bits: 1 letter, 2 decimal digit, 4 white space, 8 upper case,
    /// 16 lower case, 32 punctuation, 64 control, 128 a number of any kind.
    ///
    /// `%2: i64 = text.class %1`
    CLASS = class(code: i32) -> i64 [PURE];

    /// The number that a text says: as `:float` in base 10, as `:int` in a base from 2 to 36,
    /// as the low and the high word of an `:int128` or `:uint128`;
    /// `nothing` if it says none.
    ///
    /// `%2: any = text.number :int, %1, 10`
    NUMBER = number(how: sym, text: str, base: i64) -> any [PURE];

    /// A value by a specifier as of C's `printf`: `%5.2f`.
    ///
    /// Traps (`ArgumentError`) if the specifier does not fit the value.
    ///
    /// `%2: str = text.format "%5.2f", %1`
    FORMAT = format(specifier: str, x: _) -> str [PURE, MAY_TRAP];

    /// The first match of a regular expression that begins at an index or behind it: the first and
    /// last index of it and of each of its groups (0 and -1 of those that do not take part), or
    /// `nothing`.
    ///
    /// Traps (`ErrorException`) if it is no regular expression.
    ///
    /// `%3: any = text.find_match "[a-z]+", %1, 1`
    MATCH = find_match(pattern: str, text: str, from: i64) -> any [PURE, MAY_TRAP];

    /// The names of the groups of a regular expression, as texts; empty ones for those without a
    /// name.
    ///
    /// Traps (`ErrorException`) if it is no regular expression.
    ///
    /// `%1: any = text.group_names "(?P<year>[0-9]+)"`
    GROUP_NAMES = group_names(pattern: str) -> any [PURE, MAY_TRAP];
}
