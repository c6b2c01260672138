//! The arguments that a method of the prelude takes, as far as its text tells.
//!
//! ```text
//! *(x::Complex, y::Real) = …                     2; (0, "Complex"), (1, "Real")
//! rrule(::typeof(sin), x) = …                    2; (0, "sin")
//! zero(::Type{Dual{T}}, n = 1, rest::Real...)    1 or more; (0, "Dual")
//! abs(x::T) where T<:Union{Int64, Bool} = …      1; (0, "Int64" or "Bool")
//! ```

use std::ops::ControlFlow;

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
    /// The type parameters of the methods, with the types that they are below.
    pub(crate) statics: Vec<(&'t str, Option<&'t str>)>,
}

/// The values that a parameter takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Taken<'t> {
    /// Values of types below one of these names.
    Below(Vec<&'t str>),
    /// The function, or the type, of this name: `typeof(f)`.
    Only(&'t str),
    /// Types below one of these names; any if there are none: `Type{T}`.
    TypeBelow(Vec<&'t str>),
}

/// Returns what the methods of a statement take; `alias` returns the type that a name is another one for. O(signature).
pub(crate) fn head<'t>(statement: &'t str, alias: &dyn Fn(&str) -> Option<&'t str>) -> Head<'t> {
    let mut head = Head::default();
    let Some((params, after)) = params(statement) else { return head };
    head.statics = statics(after);
    let mut count = 0;
    let mut is_open = false;
    let _ = each(params, |param| {
        let ty = param.split_once("::").map(|(_, ty)| ty);
        is_open |= param.ends_with("...") || ty.is_some_and(|ty| ty.starts_with("Vararg"));
        if !is_open && !param.contains('=') && head.least == count {
            head.least += 1;
            let types = Types { statics: &head.statics, alias };
            head.takes.extend(ty.and_then(|ty| types.taken(ty)).map(|taken| (count, taken)));
        }
        count += 1;
        ControlFlow::Continue(())
    });
    head.most = (!is_open).then_some(count);
    head
}

/// The text between the brackets around the parameters, and the text after them; `None` if it is hard to tell.
fn params(statement: &str) -> Option<(&str, &str)> {
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
    // Parameters by name come last, and are taken by no position.
    let positional = end_of(inside, |byte| matches!(byte, b')' | b';'))?;
    let end = end_of(inside, |byte| byte == b')');
    Some((&inside[..positional], end.map_or("", |end| &inside[end + 1..])))
}

/// The type parameters that stand after the parameters: `where {S, T<:Real}`.
fn statics(after: &str) -> Vec<(&str, Option<&str>)> {
    let mut found = Vec::new();
    let mut rest = after;
    while let Some(clause) = rest.trim_start_matches(' ').strip_prefix("where ") {
        let (inside, more) = match clause.strip_prefix('{') {
            Some(inside) => match end_of(inside, |byte| byte == b'}') {
                Some(end) => (&inside[..end], &inside[end + 1..]),
                None => break,
            },
            None => {
                let end = end_of(clause, |byte| matches!(byte, b' ' | b'\n'));
                clause.split_at(end.unwrap_or(clause.len()))
            }
        };
        let _ = each(inside, |param| {
            let named = name(param);
            found.push((named, param[named.len()..].strip_prefix("<:")));
            ControlFlow::Continue(())
        });
        rest = more;
    }
    found
}

/// Reads types.
struct Types<'a, 't> {
    statics: &'a [(&'t str, Option<&'t str>)],
    alias: &'a dyn Fn(&str) -> Option<&'t str>,
}

impl<'t> Types<'_, 't> {
    fn taken(&self, ty: &'t str) -> Option<Taken<'t>> {
        if let Some(of) = ty.strip_prefix("typeof(") {
            let of = match name(of) {
                // An operator as a function.
                "" => of.split(')').next()?,
                of => of,
            };
            return Some(Taken::Only(of));
        }
        if let Some(of) = ty.strip_prefix("Type{") {
            let of = of.strip_prefix("<:").unwrap_or(of);
            return Some(Taken::TypeBelow(self.names(of).unwrap_or_default()));
        }
        self.names(ty).map(Taken::Below)
    }

    /// The names of types of which one is above a type; `None` if it is hard to tell.
    fn names(&self, ty: &'t str) -> Option<Vec<&'t str>> {
        let mut names = Vec::new();
        self.collect(ty, &mut names).is_continue().then_some(names)
    }

    fn collect(&self, ty: &'t str, names: &mut Vec<&'t str>) -> ControlFlow<()> {
        if let Some(members) = ty.strip_prefix("Union{") {
            let Some(end) = end_of(members, |byte| byte == b'}') else {
                return ControlFlow::Break(());
            };
            return each(&members[..end], |member| self.collect(member, names));
        }
        let head = name(ty);
        if head.is_empty() || ty.starts_with("typeof(") {
            return ControlFlow::Break(());
        }
        if let Some(&(_, bound)) = self.statics.iter().find(|(of, _)| *of == head) {
            let Some(bound) = bound else { return ControlFlow::Break(()) };
            return self.collect(bound, names);
        }
        if let Some(of) = (self.alias)(head) {
            // The type parameters of the method are not in scope there.
            return Types { statics: &[], alias: self.alias }.collect(of, names);
        }
        names.push(head);
        ControlFlow::Continue(())
    }
}

/// The position of the first byte that ends a text, outside of brackets; `None` if it is hard to tell.
fn end_of(text: &str, ends: impl Fn(u8) -> bool) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if depth == 0 && ends(byte) => return Some(at),
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth = depth.checked_sub(1)?,
            b'"' | b'\'' | b'#' => return None,
            _ => {}
        }
    }
    None
}

/// Goes through a list with commas between its elements.
fn each<'t>(list: &'t str, mut element: impl FnMut(&'t str) -> ControlFlow<()>) -> ControlFlow<()> {
    let mut rest = list;
    while !rest.trim().is_empty() {
        let end = end_of(rest, |byte| byte == b',').unwrap_or(rest.len());
        element(rest[..end].trim())?;
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::{Head, Taken, head};

    #[test]
    fn what_a_signature_asks_of_its_arguments() {
        use Taken::{Below, Only, TypeBelow};
        let of = |text| {
            let alias = |name: &str| match name {
                "Small" => Some("Union{Int8, Tiny}"),
                "Tiny" => Some("Union{Bool, Pair{Int8, Bool}}"),
                _ => None,
            };
            let Head { least, most, takes, .. } = head(text, &alias);
            (least, most, takes)
        };
        assert_eq!(
            of("*(x::Complex, y::Real) = 1"),
            (2, Some(2), vec![(0, Below(vec!["Complex"])), (1, Below(vec!["Real"]))])
        );
        assert_eq!(
            of("@inline function f(x, A::Array{T, 1}) where T\n"),
            (2, Some(2), vec![(1, Below(vec!["Array"]))])
        );
        assert_eq!(
            of("(g::Fix1)(y::Dual) = g.f(g.x, y)"),
            (1, Some(1), vec![(0, Below(vec!["Dual"]))])
        );
        assert_eq!(
            of("rrule(::typeof(sin), x::Real) = 1"),
            (2, Some(2), vec![(0, Only("sin")), (1, Below(vec!["Real"]))])
        );
        assert_eq!(
            of("rrule(::typeof(+), x::Real) = 1"),
            (2, Some(2), vec![(0, Only("+")), (1, Below(vec!["Real"]))])
        );
        assert_eq!(
            of("f(::Type{<:Dual}, ::Type{Array{T}}) where T = 1"),
            (2, Some(2), vec![(0, TypeBelow(vec!["Dual"])), (1, TypeBelow(vec!["Array"]))])
        );
        assert_eq!(
            of("f(x::A, y::B = 1, z::C = 2; k::D) = 1"),
            (1, Some(3), vec![(0, Below(vec!["A"]))])
        );
        assert_eq!(of("f(x::A, rest::B...) = 1"), (1, None, vec![(0, Below(vec!["A"]))]));
        assert_eq!(of("f(x::A, rest::Vararg{B, 2}) = 1"), (1, None, vec![(0, Below(vec!["A"]))]));
        assert_eq!(of("f(x::A,) = 1"), (1, Some(1), vec![(0, Below(vec!["A"]))]));
        assert_eq!(of("f(x::A, ; k::B) = 1"), (1, Some(1), vec![(0, Below(vec!["A"]))]));
        assert_eq!(of("f(x::A; k::B) = 1"), (1, Some(1), vec![(0, Below(vec!["A"]))]));
        assert_eq!(
            of("f(t::Tuple{A, B},\n  y::C)\n"),
            (2, Some(2), vec![(0, Below(vec!["Tuple"])), (1, Below(vec!["C"]))])
        );
        let small = || vec!["Int8", "Bool", "Pair"];
        assert_eq!(
            of("f(x::T, ::Type{S}, y::Union{A, Small}, z) where {T<:Small, S<:T} = 1"),
            (
                4,
                Some(4),
                vec![
                    (0, Below(small())),
                    (1, TypeBelow(small())),
                    (2, Below(["A"].into_iter().chain(small()).collect()))
                ]
            )
        );
        assert_eq!(
            of("function f(x::T, ::Type{T}, y::Union{A, T}) where T\n"),
            (3, Some(3), vec![(1, TypeBelow(vec![]))])
        );
        assert_eq!(of("f(x::Union{A, typeof(sin)}) = 1"), (1, Some(1), vec![]));
        assert_eq!(of("f() = 1"), (0, Some(0), vec![]));
        assert_eq!(of("f(x::A, c = ')') = 1"), (0, None, vec![]));
        assert_eq!(of("macro m(x)\n"), (0, None, vec![]));
    }
}
