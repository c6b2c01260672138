//! What calls of values run: by the callee itself if the module has its function, else by the
//! linker.
//!
//! An answer of the linker is remembered by the callee and the types of the arguments. Finding
//! those types can mean to intern some, so each call site also remembers the last few answers with
//! tests that need none: the variant of a scalar, the type that a struct carries, element type
//! and rank of an array, the parts of a tuple. (L. Deutsch and A. Schiffman, "Efficient
//! Implementation of the Smalltalk-80 System", POPL 1984; U. Hölzle, C. Chambers and D. Ungar,
//! "Optimizing Dynamically-Typed Object-Oriented Languages With Polymorphic Inline Caches",
//! ECOOP 1991.)

use std::cell::{Cell, Ref, RefCell};
use std::mem::{Discriminant, discriminant};

use regraft_ir::{Context, Symbol, Type, TypeKind};
use smallvec::SmallVec;

use super::World;
use super::code::{ApplySite, Arg, Code};
use super::register::{Scalar, Src};
use crate::error::{ErrorKind, Trap};
use crate::host::Host;
use crate::linker::Linked;
use crate::value::{Val, type_name};

/// Callee and arguments of a call of a value, or only the latter.
pub(super) type Args = SmallVec<[Val; 8]>;

/// How many answers a call site remembers.
const SITE_WAYS: usize = 4;

/// What a call of a value runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    slot: u32,
    /// Arguments from here on are packed into one tuple.
    fixed: Option<usize>,
    pass_callee: bool,
    /// Whether it is for these very arguments.
    by_value: bool,
}

/// What the answers of the linker depend on.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(crate) struct LinkKey {
    callee: Callee,
    args: SmallVec<[Type; 6]>,
}

/// Who is called, as far as it matters for what is run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Callee {
    Func(Symbol),
    Type(Type),
    /// Any value of that type.
    Of(Type),
}

impl Callee {
    #[inline]
    fn of(ctx: &Context, callee: &Val) -> Self {
        match callee {
            &Val::Func(name) => Self::Func(name),
            &Val::Type(ty) => Self::Type(ty),
            Val::Struct(fields) => Self::Of(fields.ty()),
            Val::Object(object) => Self::Of(object.ty()),
            other => Self::Of(other.type_of(ctx)),
        }
    }
}

impl World {
    /// What a call of `callee` with these arguments runs.
    pub(super) fn link(&self, callee: &Val, args: &[Val]) -> Result<Link, Trap> {
        let ctx = &*self.ctx;
        let name = match callee {
            &Val::Func(name) => Some(name),
            Val::Struct(fields) => ctx.struct_of(fields.ty()).and_then(|def| def.call),
            Val::Object(object) => ctx.struct_of(object.ty()).and_then(|def| def.call),
            _ => None,
        };
        if let Some(slot) = name.and_then(|name| self.find(name)) {
            let pass_callee = !matches!(callee, Val::Func(_));
            return Ok(Link { slot, fixed: None, pass_callee, by_value: false });
        }
        if self.linker.borrow().is_none() {
            return Err(match name {
                Some(name) => self.unknown_name(ctx.str(name)),
                None => {
                    let ty = type_name(ctx, callee.type_of(ctx));
                    let message = format!("a value of type {ty} cannot be called");
                    Trap::new("MethodError", message)
                }
            });
        }
        let types = args.iter().map(|arg| arg.type_by(ctx, &|parts| self.tuple_type(parts)));
        let key = LinkKey { callee: Callee::of(ctx, callee), args: types.collect() };
        if let Some(&link) = self.links.borrow().get(&key) {
            return Ok(link);
        }
        let link = self.ask(callee, args)?;
        if !link.by_value {
            self.links.borrow_mut().insert(key, link);
        }
        Ok(link)
    }

    /// A type of tuples; of one that is known, without a word to the context.
    fn tuple_type(&self, parts: &[Type]) -> Type {
        if let Some(&ty) = self.tuple_types.borrow().get(parts) {
            return ty;
        }
        let ty = self.ctx.tuple_type(parts);
        self.tuple_types.borrow_mut().insert(parts.into(), ty);
        ty
    }

    #[cold]
    fn ask(&self, callee: &Val, args: &[Val]) -> Result<Link, Trap> {
        let linked = match &mut *self.linker.borrow_mut() {
            Some(linker) => linker.resolve(callee, args)?,
            None => return Err(Trap::of_kind(ErrorKind::Module, "there is no linker")),
        };
        match self.lookup(linked.function)? {
            Some(slot) => {
                let Linked { fixed, pass_callee, by_value, .. } = linked;
                Ok(Link { slot, fixed, pass_callee, by_value })
            }
            None => Err(self.unknown_name(self.ctx.str(linked.function))),
        }
    }

    /// The function that a call of `callee` runs, and its arguments.
    pub(super) fn arrange(
        &self,
        host: &Host,
        callee: &Val,
        args: &[Val],
    ) -> Result<(u32, Args), Trap> {
        let link = self.link(callee, args)?;
        Ok((link.slot, link.arrange(host, callee, args)?))
    }
}

impl Link {
    /// The arguments in the order and form in which the function takes them.
    pub(super) fn arrange(self, host: &Host, callee: &Val, args: &[Val]) -> Result<Args, Trap> {
        let mut out = Args::new();
        if self.pass_callee {
            out.push(callee.clone());
        }
        match self.fixed.and_then(|fixed| args.split_at_checked(fixed)) {
            None => out.extend(args.iter().cloned()),
            Some((fixed, rest)) => {
                host.reserve(size_of_val(rest))?;
                out.extend(fixed.iter().cloned());
                out.push(Val::tuple(rest.iter().cloned()));
            }
        }
        Ok(out)
    }

    pub(super) fn slot(self) -> u32 {
        self.slot
    }

    /// Whether a call site may remember it.
    pub(super) fn is_for_types(self) -> bool {
        !self.by_value
    }
}

/// A place in Rust that calls values again and again: it remembers what the last call ran, so
/// that calls with arguments of the same types need not look for it.
#[derive(Debug, Default)]
pub struct Repeated(Option<LastLink>);

#[derive(Debug)]
struct LastLink {
    callee: Callee,
    types: Box<[Type]>,
    link: Link,
    /// When it was found: see [`World::links_since`].
    since: u64,
}

impl World {
    /// As [`arrange`](Self::arrange), at a place that remembers.
    pub(super) fn arrange_again(
        &self,
        site: &mut Repeated,
        host: &Host,
        callee: &Val,
        args: &[Val],
    ) -> Result<(u32, Args), Trap> {
        let ctx = &*self.ctx;
        if let Some(last) = &site.0
            && last.since == self.links_since
            && last.callee == Callee::of(ctx, callee)
            && last.types.len() == args.len()
            && args.iter().zip(&last.types).all(|(arg, &ty)| arg.is_a(ctx, ty))
        {
            return Ok((last.link.slot, last.link.arrange(host, callee, args)?));
        }
        let link = self.link(callee, args)?;
        let types: Box<[Type]> = args.iter().map(|arg| arg.type_of(ctx)).collect();
        let says_all = types.iter().all(|&ty| says_all(ctx, ty));
        site.0 = (says_all && link.is_for_types()).then(|| LastLink {
            callee: Callee::of(ctx, callee),
            types,
            link,
            since: self.links_since,
        });
        Ok((link.slot, link.arrange(host, callee, args)?))
    }
}

/// The code that a direct call goes to, once it has been there.
#[derive(Debug, Default)]
pub(crate) struct CodeCell(Cell<Option<*const Code>>);

impl CodeCell {
    #[inline]
    #[allow(unsafe_code)]
    pub(super) fn get<'a>(&self, _: &'a World) -> Option<&'a Code> {
        // SAFETY: what was set is code of this world, on the heap. Code is dropped only by those
        // who hold the world mutably, and they clear all cells first (`World::unlink`).
        self.0.get().map(|code| unsafe { &*code })
    }

    /// Remembers code of the world that this site is of.
    pub(super) fn set(&self, code: &Code) {
        self.0.set(Some(code));
    }

    pub(super) fn clear(&self) {
        self.0.set(None);
    }
}

/// The last answers for one call site.
#[derive(Debug, Default)]
pub(crate) struct SiteCache(RefCell<SmallVec<[Remembered; 1]>>);

#[derive(Debug)]
pub(crate) struct Remembered {
    callee: Callee,
    /// One for each argument.
    tests: Box<[Test]>,
    pub(super) code: CodeCell,
    /// Whether the code can be run in place.
    pub(super) leaf: bool,
    /// How the parameters of the function get their values.
    pub(super) args: Box<[Arg]>,
    /// What is packed into a tuple, which is the last parameter.
    pub(super) rest: Option<Box<[Src]>>,
}

/// Whether a value is of the type that an answer was for.
#[derive(Clone, Copy, Debug)]
enum Test {
    /// The code says it.
    Always,
    Variant(Discriminant<Val>),
    Type(Type),
}

impl Test {
    /// `None` if only a search by type will do.
    fn of(ctx: &Context, src: Src, value: &Val) -> Option<Self> {
        if !matches!(src, Src::Val(_)) {
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

/// Whether all values that are of this type have exactly this type: tuples that are too large to
/// be written down have types with `any` in them.
fn says_all(ctx: &Context, ty: Type) -> bool {
    let mut work = vec![ty];
    while let Some(ty) = work.pop() {
        match ctx.kind(ty) {
            _ if ty == Type::ANY => return false,
            TypeKind::Tuple(parts) => work.extend(parts.iter().copied()),
            TypeKind::Named(parts) => work.extend(parts.iter().map(|&(_, ty)| ty)),
            _ => {}
        }
    }
    true
}

impl SiteCache {
    pub(super) fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    /// What a call of `site` with these registers goes to, if that is remembered.
    #[inline]
    pub(super) fn find(
        &self,
        ctx: &Context,
        site: &ApplySite,
        vals: &[Val],
    ) -> Option<Ref<'_, Remembered>> {
        let (&first, rest) = site.args.split_first()?;
        let fits = |one: &Remembered| {
            let callee = match first {
                Src::Val(reg) => Callee::of(ctx, &vals[reg as usize]) == one.callee,
                _ => true,
            };
            callee
                && rest.iter().zip(&one.tests).all(|(src, test)| match *src {
                    Src::Val(reg) => test.passes(ctx, &vals[reg as usize]),
                    _ => true,
                })
        };
        Ref::filter_map(self.0.borrow(), |all| all.iter().find(|one| fits(one))).ok()
    }

    /// Remembers what a call has just been linked to.
    pub(super) fn remember(
        &self,
        world: &World,
        site: &ApplySite,
        (callee, args): (&Val, &[Val]),
        link: Link,
        code: &Code,
    ) {
        let mut all = self.0.borrow_mut();
        if site.splat || all.len() == SITE_WAYS {
            return;
        }
        let ctx = &*world.ctx;
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
            let remembered = Remembered { callee, tests, code: cell, leaf, args, rest };
            remembered.code.set(code);
            all.push(remembered);
        }
    }
}

/// How a value that is known to fit gets from `src` to a parameter of type `want`.
fn how(src: Src, want: Type) -> Option<Arg> {
    Some(match (src, Scalar::of(want)) {
        (Src::Scalar(have, reg), Some(want)) if have == want => Arg::Scalar(reg),
        (Src::Scalar(have, reg), None) => Arg::Box(have, reg),
        (Src::Val(reg), Some(want)) => Arg::Unbox(want, reg),
        (Src::Val(reg), None) => Arg::Val(reg),
        (Src::Const(index), None) => Arg::Const(index),
        (Src::Unit, None) => Arg::Unit,
        _ => return None,
    })
}
