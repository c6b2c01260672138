//! Polymorphic inline caches of calls of values.
//!
//! An answer of the call resolver is kept by the callee and the types of the arguments. Finding
//! those types can mean to intern some, so each call site also keeps the last few answers with
//! tests that need none: the variant of a scalar, the type that a struct carries, element type
//! and rank of an array, the parts of a tuple. (L. Deutsch and A. Schiffman, "Efficient
//! Implementation of the Smalltalk-80 System", POPL 1984; U. Hölzle, C. Chambers and D. Ungar,
//! "Optimizing Dynamically-Typed Object-Oriented Languages With Polymorphic Inline Caches",
//! ECOOP 1991.)

use std::cell::Ref;
use std::mem::discriminant;

use regraft_ir::{Context, Type};

use super::code::{ApplySite, CacheEntry, Code, CodeCell, InlineCache, Test};
use super::inst::Arg;
use super::link::{Callee, Link, says_all};
use super::register::{Scalar, Src};
use crate::value::Val;

/// The entries of an inline cache.
const MAX_ENTRIES: usize = 4;

impl Test {
    /// `None` if only a search by type will do.
    fn of(ctx: &Context, src: Src, value: &Val) -> Option<Self> {
        if src.val().is_none() {
            return Some(Self::Always);
        }
        Some(match value {
            Val::Unit | Val::Sym(_) | Val::Str(_) => Self::Variant(discriminant(value)),
            Val::Bool(_) | Val::F32(_) | Val::F64(_) => Self::Variant(discriminant(value)),
            Val::I8(_) | Val::I16(_) | Val::I32(_) | Val::I64(_) => {
                Self::Variant(discriminant(value))
            }
            other => {
                let ty = other.type_of(ctx);
                says_all(ctx, ty).then_some(Self::Type(ty))?
            }
        })
    }

    #[inline]
    fn passes(self, ctx: &Context, value: &Val) -> bool {
        match self {
            Self::Always => true,
            Self::Variant(variant) => discriminant(value) == variant,
            Self::Type(ty) => value.is_a(ctx, ty),
        }
    }
}

impl InlineCache {
    pub(super) fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    /// Returns the entry for a call of `site` with these registers, if there is one.
    #[inline]
    pub(super) fn find(
        &self,
        ctx: &Context,
        site: &ApplySite,
        vals: &[Val],
    ) -> Option<Ref<'_, CacheEntry>> {
        let (&first, rest) = site.args.split_first()?;
        let fits = |one: &CacheEntry| {
            let val = |src: Src| src.val().map(|reg| &vals[reg as usize]);
            val(first).is_none_or(|callee| Callee::of(ctx, callee) == one.callee)
                && rest
                    .iter()
                    .zip(&one.tests)
                    .all(|(&src, test)| val(src).is_none_or(|value| test.passes(ctx, value)))
        };
        Ref::filter_map(self.0.borrow(), |all| all.iter().find(|one| fits(one))).ok()
    }

    /// Remembers what a call has just been linked to.
    pub(super) fn remember(
        &self,
        ctx: &Context,
        site: &ApplySite,
        (callee, args): (&Val, &[Val]),
        link: Link,
        code: &Code,
    ) {
        let mut all = self.0.borrow_mut();
        if site.splat || all.len() == MAX_ENTRIES {
            return;
        }
        let (Some((&first, rest)), true) = (
            site.args.split_first(),
            matches!(callee, Val::Func(_) | Val::Type(_) | Val::Struct(_) | Val::Object(_)),
        ) else {
            return;
        };
        let tests = rest.iter().zip(args).map(|(&src, arg)| Test::of(ctx, src, arg)).collect();
        let (rest, packed) = match link.fixed.and_then(|fixed| rest.split_at_checked(fixed)) {
            Some((fixed, packed)) => (fixed, Some(Box::from(packed))),
            None => (rest, None),
        };
        let passed = link.pass_callee.then_some(first);
        let passed = passed.into_iter().chain(rest.iter().copied());
        let moves = passed.zip(&code.params).map(|(src, &want)| how(src, want)).collect();
        if let (Some(tests), Some(args)) = (tests, moves) {
            let (callee, leaf) = (Callee::of(ctx, callee), code.is_leaf());
            let leaf = leaf && packed.is_none();
            let (cell, rest) = (CodeCell::default(), packed);
            let entry = CacheEntry { callee, tests, code: cell, leaf, args, rest };
            entry.code.set(code);
            all.push(entry);
        }
    }
}

/// The way in which a value that is known to fit gets from `src` to a parameter of type `want`.
fn how(src: Src, want: Type) -> Option<Arg> {
    Some(match (src, Scalar::of(want)) {
        (Src::Scalar(have, reg), Some(want)) if have == want => Arg::Scalar(reg),
        (Src::Val(reg) | Src::Last(reg), Some(want)) => Arg::Unbox(want, reg),
        (src, None) => Arg::Val(src),
        _ => return None,
    })
}
