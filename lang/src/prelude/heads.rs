//! The arguments that a method of the prelude takes, as far as its text tells.
//!
//! ```text
//! *(x::Complex, y::Real) = …                     2; (0, "Complex"), (1, "Real")
//! rrule(::typeof(sin), x) = …                    2; (0, "sin")
//! zero(::Type{Dual{T}}, n = 1, rest::Real...)    1 or more; (0, "Dual")
//! ```

use super::statements::{BEFORE_NAME, name};

/// The arguments that the methods of a statement take.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Head<'t> {
    /// The number of arguments that have to be given.
    pub(crate) least: usize,
    /// The number that can be given; `None` if there is no limit.
    pub(crate) most: Option<usize>,
    /// The positions of parameters that have to be given, with what they take.
    pub(crate) takes: Vec<(usize, Taken<'t>)>,
}

/// A text that says what a parameter takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Taken<'t> {
    /// Values of a type below the one of this name, or of one of the types that it stands for.
    Below(&'t str),
    /// The function, or the type, of this name: `typeof(f)`.
    Only(&'t str),
    /// Types below the one of this name: `Type{T}`.
    TypeBelow(&'t str),
}

impl<'t> Taken<'t> {
    /// The name.
    pub(crate) fn name(self) -> &'t str {
        let (Self::Below(name) | Self::Only(name) | Self::TypeBelow(name)) = self;
        name
    }

    fn read(ty: &'t str) -> Option<Self> {
        let (of, kind): (_, fn(&'t str) -> Self) = match ty.strip_prefix("typeof(") {
            Some(of) => (of, Self::Only),
            None => match ty.strip_prefix("Type{<:").or_else(|| ty.strip_prefix("Type{")) {
                Some(of) => (of, Self::TypeBelow),
                None => (ty, Self::Below),
            },
        };
        let head = match name(of) {
            // An operator as a function.
            "" => of.split(')').next()?,
            head => head,
        };
        (!head.is_empty()).then_some(kind(head))
    }
}

/// Returns what the methods of a statement take. O(signature).
pub(crate) fn head(statement: &str) -> Head<'_> {
    let mut head = Head::default();
    let Some(params) = params(statement) else { return head };
    let mut rest = (!params.trim().is_empty()).then_some(params);
    let mut count = 0;
    let mut is_open = false;
    while let Some(text) = rest {
        let (param, more) = split(text);
        rest = more;
        let ty = param.split_once("::").map(|(_, ty)| ty);
        is_open |= param.ends_with("...") || ty.is_some_and(|ty| ty.starts_with("Vararg"));
        if !is_open && !param.contains('=') && head.least == count {
            head.least += 1;
            head.takes.extend(ty.and_then(Taken::read).map(|taken| (count, taken)));
        }
        count += 1;
    }
    head.most = (!is_open).then_some(count);
    head
}

/// The text between the brackets around the parameters; `None` if it is hard to tell.
fn params(statement: &str) -> Option<&str> {
    let mut rest = statement;
    for word in BEFORE_NAME {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    if rest.starts_with("macro ") {
        return None;
    }
    if rest.starts_with('(') {
        // Of an instance, the parameters are in the second brackets.
        rest = rest.split_once(')')?.1;
    }
    let inside = rest.split_once('(')?.1;
    let mut depth = 0usize;
    for (end, byte) in inside.bytes().enumerate() {
        match byte {
            b'(' | b'{' | b'[' => depth += 1,
            b')' if depth == 0 => return Some(&inside[..end]),
            b')' | b'}' | b']' => depth = depth.checked_sub(1)?,
            // Parameters by name come last, and are taken by no position.
            b';' if depth == 0 => return Some(&inside[..end]),
            b'"' | b'\'' | b'#' => return None,
            _ => {}
        }
    }
    None
}

/// Splits parameters at the first comma outside of brackets.
fn split(params: &str) -> (&str, Option<&str>) {
    let mut depth = 0usize;
    for (at, byte) in params.bytes().enumerate() {
        match byte {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                let more = Some(&params[at + 1..]).filter(|more| !more.trim().is_empty());
                return (params[..at].trim(), more);
            }
            _ => {}
        }
    }
    (params.trim(), None)
}

#[cfg(test)]
mod tests {
    use super::{Head, Taken, head};

    #[test]
    fn what_a_signature_asks_of_its_arguments() {
        use Taken::{Below, Only, TypeBelow};
        let of = |text| {
            let Head { least, most, takes } = head(text);
            (least, most, takes)
        };
        assert_eq!(
            of("*(x::Complex, y::Real) = 1"),
            (2, Some(2), vec![(0, Below("Complex")), (1, Below("Real"))])
        );
        assert_eq!(
            of("@inline function f(x, A::Array{T, 1}) where T\n"),
            (2, Some(2), vec![(1, Below("Array"))])
        );
        assert_eq!(of("(g::Fix1)(y::Dual) = g.f(g.x, y)"), (1, Some(1), vec![(0, Below("Dual"))]));
        assert_eq!(
            of("rrule(::typeof(sin), x::Real) = 1"),
            (2, Some(2), vec![(0, Only("sin")), (1, Below("Real"))])
        );
        assert_eq!(
            of("rrule(::typeof(+), x::Real) = 1"),
            (2, Some(2), vec![(0, Only("+")), (1, Below("Real"))])
        );
        assert_eq!(
            of("f(::Type{<:Dual}, ::Type{Array{T}}) where T = 1"),
            (2, Some(2), vec![(0, TypeBelow("Dual")), (1, TypeBelow("Array"))])
        );
        assert_eq!(
            of("f(x::A, y::B = 1, z::C = 2; k::D) = 1"),
            (1, Some(3), vec![(0, Below("A"))])
        );
        assert_eq!(of("f(x::A, rest::B...) = 1"), (1, None, vec![(0, Below("A"))]));
        assert_eq!(of("f(x::A, rest::Vararg{B, 2}) = 1"), (1, None, vec![(0, Below("A"))]));
        assert_eq!(of("f(x::A,) = 1"), (1, Some(1), vec![(0, Below("A"))]));
        assert_eq!(of("f(x::A, ; k::B) = 1"), (1, Some(1), vec![(0, Below("A"))]));
        assert_eq!(of("f(x::A; k::B) = 1"), (1, Some(1), vec![(0, Below("A"))]));
        assert_eq!(
            of("f(t::Tuple{A, B},\n  y::C)\n"),
            (2, Some(2), vec![(0, Below("Tuple")), (1, Below("C"))])
        );
        assert_eq!(of("f() = 1"), (0, Some(0), vec![]));
        assert_eq!(of("f(x::A, c = ')') = 1"), (0, None, vec![]));
        assert_eq!(of("macro m(x)\n"), (0, None, vec![]));
    }
}
