//! The types that a method of the prelude asks of its arguments, as far as its text tells.
//!
//! ```text
//! *(x::Complex, y::Real) = …                     (0, "Complex"), (1, "Real")
//! rrule(::typeof(sin), x) = …                    (0, "sin")
//! zero(::Type{Dual{T}}, n = 1, rest::Real...)    (0, "Dual")
//! ```

use super::statements::{BEFORE_NAME, name};

/// The positions of the parameters that have to be given, with the name of the type that is written first in
/// theirs: that of a type above them. `typeof(f)` and `Type{T}` are named by `f` and `T`. O(signature).
pub(crate) fn heads(statement: &str) -> impl Iterator<Item = (usize, &str)> {
    let params = params(statement).unwrap_or_default();
    let mut rest = Some(params);
    let params = std::iter::from_fn(move || {
        let (param, more) = split(rest?);
        rest = more;
        Some(param)
    });
    let given = params.take_while(|param| !param.contains('=') && !param.ends_with("..."));
    given.enumerate().filter_map(|(position, param)| {
        let (_, ty) = param.split_once("::")?;
        let ty =
            ["typeof(", "Type{<:", "Type{"].iter().find_map(|of| ty.strip_prefix(of)).unwrap_or(ty);
        let head = match name(ty) {
            // An operator as a function.
            "" => ty.split(')').next()?,
            head => head,
        };
        (!head.is_empty()).then_some((position, head))
    })
}

/// The text between the brackets around the parameters; `None` if it is hard to tell.
fn params(statement: &str) -> Option<&str> {
    let mut rest = statement;
    for word in BEFORE_NAME {
        rest = rest.strip_prefix(word).unwrap_or(rest);
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
            b',' if depth == 0 => return (params[..at].trim(), Some(&params[at + 1..])),
            _ => {}
        }
    }
    (params.trim(), None)
}

#[cfg(test)]
mod tests {
    use super::heads;

    #[test]
    fn what_a_signature_asks_of_its_arguments() {
        let of = |text| heads(text).collect::<Vec<_>>();
        assert_eq!(of("*(x::Complex, y::Real) = 1"), [(0, "Complex"), (1, "Real")]);
        assert_eq!(of("@inline function f(x, A::Array{T, 1}) where T\n"), [(1, "Array")]);
        assert_eq!(of("(g::Fix1)(y::Dual) = g.f(g.x, y)"), [(0, "Dual")]);
        assert_eq!(of("rrule(::typeof(sin), x::Real) = 1"), [(0, "sin"), (1, "Real")]);
        assert_eq!(of("rrule(::typeof(+), x::Real) = 1"), [(0, "+"), (1, "Real")]);
        assert_eq!(
            of("f(::Type{<:Dual}, ::Type{Array{T}}) where T = 1"),
            [(0, "Dual"), (1, "Array")]
        );
        assert_eq!(of("f(x::A, y::B = 1, z::C = 2; k::D) = 1"), [(0, "A")]);
        assert_eq!(of("f(x::A, rest::B...) = 1"), [(0, "A")]);
        assert_eq!(of("f(x::A; k::B) = 1"), [(0, "A")]);
        assert_eq!(of("f(t::Tuple{A, B},\n  y::C)\n"), [(0, "Tuple"), (1, "C")]);
        assert_eq!(of("f() = 1"), []);
        assert_eq!(of("f(x::A, c = ')') = 1"), []);
    }
}
