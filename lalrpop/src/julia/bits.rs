//! Literals of types that are made of bits: characters, unsigned numbers, numbers of 128 bits.

/// The types of literals that are made of bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bits {
    /// Of characters; the bits are the number of the code point.
    Char,
    /// Of `0xff`.
    UInt8,
    /// Of `0xffff`.
    UInt16,
    /// Of `0xffff_ffff`.
    UInt32,
    /// Of longer ones, up to 16 digits.
    UInt64,
    /// Of those of up to 32 digits.
    UInt128,
    /// Of decimal numbers that do not fit `Int64`.
    Int128,
}

/// The bits of a literal, the low ones first.
pub type Words = [u64; 2];

/// The two words of a number.
pub const fn words(bits: u128) -> Words {
    [bits as u64, (bits >> 64) as u64]
}

impl Bits {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Char,
        Self::UInt8,
        Self::UInt16,
        Self::UInt32,
        Self::UInt64,
        Self::UInt128,
        Self::Int128,
    ];

    /// The name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Char => "Char",
            Self::UInt8 => "UInt8",
            Self::UInt16 => "UInt16",
            Self::UInt32 => "UInt32",
            Self::UInt64 => "UInt64",
            Self::UInt128 => "UInt128",
            Self::Int128 => "Int128",
        }
    }

    /// The bytes that the digits of a number stand for.
    pub const fn bytes(self) -> usize {
        match self {
            Self::UInt8 => 1,
            Self::UInt16 => 2,
            Self::Char | Self::UInt32 => 4,
            Self::UInt64 => 8,
            Self::UInt128 | Self::Int128 => 16,
        }
    }

    /// Returns whether its values have two words.
    pub const fn is_wide(self) -> bool {
        self.bytes() == 16
    }

    /// The decimal number of a literal, as it is printed.
    pub fn decimal(self, [low, high]: Words) -> String {
        let bits = u128::from(high) << 64 | u128::from(low);
        if self == Self::Int128 { bits.cast_signed().to_string() } else { bits.to_string() }
    }

    /// A literal as Julia shows it.
    pub fn text(self, words: Words) -> String {
        let [bits, high] = words;
        match self {
            Self::Int128 => self.decimal(words),
            Self::UInt128 => format!("0x{high:016x}{bits:016x}"),
            Self::Char => {
                let c = u32::try_from(bits).ok().and_then(char::from_u32);
                let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
                match c {
                    '\0' => "'\\0'".to_owned(),
                    '"' => "'\"'".to_owned(),
                    '\'' | '\\' | '\n' | '\t' | '\r' => format!("'{}'", c.escape_default()),
                    '\u{1b}' => "'\\e'".to_owned(),
                    '\u{7}'..='\u{c}' => {
                        format!("'\\{}'", char::from(b"abtnvf"[bits as usize - 7]))
                    }
                    c if c.is_control() && bits < 0x100 => format!("'\\x{bits:02x}'"),
                    c if c.is_control() => format!("'\\u{bits:x}'"),
                    c => format!("'{c}'"),
                }
            }
            _ => format!("0x{bits:0width$x}", width = 2 * self.bytes()),
        }
    }
}
