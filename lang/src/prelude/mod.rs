//! The text of the standard library, which is written in the language itself.
//!
//! The files are embedded and run in order when a session starts. They are read with
//! `Options { prelude: true }`: a name with two underscores in front (`__start`) is the internal
//! name `#start`, and a call of `dialect.op` is that op.
//!
//! Methods are not parsed before a call may mean them. So that their text is found without parsing
//! ([`statements`], [`index`]), it is laid out in one way: a statement begins at the first column, and no further
//! line of it does but those that begin with `end`, `else` or a closing bracket. A constant is bound when its name is asked
//! for if it is another name or the only value of a type, `__new(T)`; others are evaluated when a session starts.
//!
//! # What it takes from inference
//!
//! These are not written in the language; each works on what is known of its arguments, and is a
//! call that is decided when the program runs where too little is known.
//!
//! | name | meaning |
//! |---|---|
//! | `typeof(x)` | the type of a value; a constant where the type is exact |
//! | `isa(x, T)`, `A <: B` | for every type, abstract ones as well |
//! | `__apply_type(T, p…)` | `T{p…}` |
//! | `__below(T)` | `<:T` as a type parameter |
//! | `__typeassert(x, T)` | `x`, known to be a `T`; `TypeError` otherwise |
//! | `__fieldtype(T, k)` | the declared type of a field, by name or number |
//! | `__defined(x, k, v)` | `v`, which was read of a field; an error if the field has no value yet |
//! | `__undefined()` | what stands in a field that has no value |
//! | `__fieldnames(T)` | a tuple of symbols, for structs and named tuples |
//! | `__new(T, v…)` | a struct from its fields, in inner constructors |
//! | `__named(:a, v, …)` | a named tuple from names and values in turn |
//! | `__named_of(names, values)` | a named tuple from two tuples; the names are constants |
//! | `__val(x)` | the value of the type `Val{x}` |
//! | `__methods(f)` | the text that lists the methods of a function, and a tuple of one text for each |
//! | `__return_type(f, T…)` | the type of `f(::T…)`, if that is exact; `Any` if not, or if it never returns |
//! | `__known(x)` | whether `x` is a constant here; a constant itself |
//! | `__unroll_map(f, t…)` | `(f(t[1]…), f(t[2]…), …)` for tuples of one length |
//! | `__unroll_fold(f, x, t)` | `f(f(f(x, t[1]), t[2]), …)`; `x` for the empty tuple |
//! | `__ntuple(f, v)` | `(f(1), …, f(N))` for `v` of type `Val{N}` |
//! | `__spread("dialect.op", a…, t)` | the op, of `a…` and the elements of the tuple `t`; the type comes first as in a plain op call |
//! | `__gradient(f, t)` | `(f(t...), gradients)`, one gradient for each element of `t` |
//! | `__zero_tangent(x)` | the zero tangent of a value, `nothing` if it has none |
//! | `__pushforward(f, t, (df, d...))` | `(f(t...), its tangent)` |
//! | `__pushforward_many(f, t, (df, d...))` | the same for tuples `d` of several tangents; `nothing` if there are only derivatives in one direction |
//! | `__dynamic_pushforward(f, t, (df, d...))` | the same as `__pushforward`, of a dynamic call in what is differentiated |
//! | `__pullback(f, t)` | `(f(t...), state, back)` |
//! | `__back(back, state, dy)` | the gradients |
//! | `__dynamic_reverse(f, sf, x, s, …)` | `(f(x…), its shadow, pullback)`, from shadows; `pullback[1](pullback, dy)` gives `(df, d…)`, the cotangents |
//!
//! `__world` is a global: an object that is another one after definitions (`lang/src/derive/held.rs`).
//!
//! Besides, it counts on: splats of tuples being taken apart when their length is known; constants
//! going into methods that say `@inline` (numbers as well); branches on constants being left out;
//! a method whose remaining code is one block being expanded in place.
//!
//! # What others call
//!
//! `for` uses `__start(it)`, `__done(it, s)`, `__item(it, s)`, `__next(it, s)`. Comprehensions use
//! `__collect(it)`, `__generator(f, it)`, `__product(its…)`, `__filter(f, it)`, `__flatten(it)`; dot
//! calls `__broadcast(f, args…)` and `__broadcast!(f, dest, args…)`; destructuring
//! `__destructure(t, k)` and `__destructure_rest(t, k)`; captured variables that are assigned
//! `__box()`, `__box(x)`, `__box_get(b, name)`, `__box_set(b, x)`; variables that may have no value
//! `__check_defined(flag, name)`; the parts of a `try` `__try(body, handler)`, `__caught(error)`, `__cleanup(last, exit)`,
//! `__new_exit()`, `__set_exit(exit, number)`, `__exited_by(exit, number)`; what shows a value to the user, `__shown(x)`.

mod built;
mod files;
mod heads;
pub(crate) mod index;
pub mod statements;

pub(crate) use built::INDEX;

use crate::intrinsics;

/// Names and texts of the files, in the order in which they are run.
pub fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
    files::FILES.into_iter()
}
