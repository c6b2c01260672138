//! Literals of types that are made of bits: characters and unsigned numbers.

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
    /// Of longer ones.
    UInt64,
}

impl Bits {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Char, Self::UInt8, Self::UInt16, Self::UInt32, Self::UInt64];

    /// The name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Char => "Char",
            Self::UInt8 => "UInt8",
            Self::UInt16 => "UInt16",
            Self::UInt32 => "UInt32",
            Self::UInt64 => "UInt64",
        }
    }

    /// The bytes that the digits of a number stand for.
    pub const fn bytes(self) -> usize {
        match self {
            Self::UInt8 => 1,
            Self::UInt16 => 2,
            Self::Char | Self::UInt32 => 4,
            Self::UInt64 => 8,
        }
    }

    /// A literal as Julia shows it.
    pub fn text(self, bits: u64) -> String {
        match self {
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
