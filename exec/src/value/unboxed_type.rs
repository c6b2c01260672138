//! The builds of unboxed elements: the tuples and structs that they are, with the types of their parts.
//!
//! Each build is kept once for the process, so that a pointer tells which one it is.

use std::fmt;
use std::sync::{LazyLock, Mutex, PoisonError};

use regraft_dialects::semantics::{MOST_UNBOXED, field_types, unboxed_parts};
use regraft_ir::{Context, Type, TypeKind};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::construct::Compound;
use super::scalar::Scalar;
use super::val::Val;

/// The words of an element.
pub(super) type Words = SmallVec<[u64; MOST_UNBOXED]>;

/// A part: a scalar, or `nothing`.
type Part = Option<Scalar>;

/// The build of unboxed elements.
#[derive(Clone, Copy)]
pub struct UnboxedType(&'static Build);

/// The tree of an element, and its leaves.
#[derive(PartialEq, Eq, Hash, Default)]
struct Build {
    /// In preorder.
    nodes: Vec<Node>,
    parts: Vec<Part>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Part(Part),
    /// A tuple or struct of so many nodes, by the type of structs, the shape of named tuples, `any` for tuples.
    Compound(Compound, Type, usize),
}

impl Build {
    fn add(&mut self, ctx: &Context, ty: Type) {
        let Some(fields) = field_types(ctx, ty) else {
            let part = Scalar::of(ty);
            self.nodes.push(Node::Part(part));
            self.parts.push(part);
            return;
        };
        let (kind, ty) = match ctx.kind(ty) {
            TypeKind::Tuple(_) => (Compound::Tuple, Type::ANY),
            TypeKind::Named(fields) => {
                let names = fields.iter().map(|&(name, _)| name);
                (Compound::Named, Val::named_shape(ctx, names))
            }
            _ => (Compound::Struct, ty),
        };
        self.nodes.push(Node::Compound(kind, ty, fields.len()));
        fields.into_iter().for_each(|field| self.add(ctx, field));
    }
}

impl UnboxedType {
    /// The build of elements of this type, if arrays keep them unboxed. O(parts).
    pub fn of(ctx: &Context, element: Type) -> Option<Self> {
        static BUILDS: LazyLock<Mutex<FxHashSet<&'static Build>>> = LazyLock::new(Mutex::default);
        unboxed_parts(ctx, element)?;
        let mut build = Build::default();
        build.add(ctx, element);
        let mut builds = BUILDS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = builds.get(&build) {
            return Some(Self(known));
        }
        let build: &'static Build = Box::leak(Box::new(build));
        builds.insert(build);
        Some(Self(build))
    }

    /// Returns the number of parts, from 1 to 16.
    #[inline]
    pub fn count(self) -> usize {
        self.0.parts.len()
    }

    /// The bytes that an element takes.
    pub fn size(self) -> usize {
        self.count() * size_of::<u64>()
    }

    /// Returns whether all parts that are numbers are floats.
    pub(super) fn is_of_floats(self) -> bool {
        let is_float = |part: &Part| matches!(part, Some(Scalar::F64 | Scalar::F32) | None);
        self.0.parts.iter().all(is_float)
    }

    /// The scalar that a part is, counted from 0; `None` if it is `nothing`, or behind the last one.
    #[inline]
    pub(super) fn scalar(self, at: usize) -> Option<Scalar> {
        self.0.parts.get(at).copied().flatten()
    }

    /// The part at a position that a word is.
    #[inline]
    pub(super) fn part(self, at: usize, word: u64) -> Val {
        part_of(self.scalar(at), word)
    }

    /// The word of the part at a position; `None` if it is of another type.
    #[inline]
    pub(super) fn word(self, at: usize, part: &Val) -> Option<u64> {
        word_of(*self.0.parts.get(at)?, part)
    }

    /// The value that words are, which are as many as there are parts.
    pub(super) fn value(self, words: &[u64]) -> Val {
        fn put(
            nodes: &mut impl Iterator<Item = Node>,
            words: &mut impl Iterator<Item = u64>,
        ) -> Val {
            match nodes.next() {
                Some(Node::Compound(kind, ty, count)) => {
                    Val::compound(kind, ty, (0..count).map(|_| put(nodes, words)))
                }
                Some(Node::Part(part)) => part_of(part, words.next().unwrap_or(0)),
                None => Val::Unit,
            }
        }
        put(&mut self.0.nodes.iter().copied(), &mut words.iter().copied())
    }

    /// The words of a value; `None` if it is of another type.
    pub(super) fn words(self, value: &Val) -> Option<Words> {
        fn take(
            nodes: &mut impl Iterator<Item = Node>,
            value: &Val,
            words: &mut Words,
        ) -> Option<()> {
            let (kind, ty, count) = match nodes.next()? {
                Node::Part(part) => {
                    words.push(word_of(part, value)?);
                    return Some(());
                }
                Node::Compound(kind, ty, count) => (kind, ty, count),
            };
            let fields = match (kind, value) {
                (Compound::Tuple, Val::Tuple(fields))
                | (Compound::Named, Val::Named(fields))
                | (Compound::Struct, Val::Struct(fields)) => fields,
                _ => return None,
            };
            if fields.ty() != ty || fields.items().len() != count {
                return None;
            }
            fields.items().iter().try_for_each(|field| take(nodes, field, words))
        }
        let mut words = Words::new();
        take(&mut self.0.nodes.iter().copied(), value, &mut words).map(|()| words)
    }

    /// The words of parts; `None` if they are others.
    pub(super) fn words_of(self, parts: &[Val]) -> Option<Words> {
        let words = parts.iter().enumerate().map(|(at, part)| self.word(at, part));
        words.collect::<Option<Words>>().filter(|words| words.len() == self.count())
    }
}

fn part_of(part: Part, word: u64) -> Val {
    part.map_or(Val::Unit, |scalar| scalar.boxed(word))
}

/// The word of a part, all of whose bits depend on it alone.
fn word_of(part: Part, value: &Val) -> Option<u64> {
    match part {
        Some(scalar) => scalar.unboxed(value),
        None => matches!(value, Val::Unit).then_some(0),
    }
}

impl PartialEq for UnboxedType {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for UnboxedType {}

impl fmt::Debug for UnboxedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} parts", self.count())
    }
}
