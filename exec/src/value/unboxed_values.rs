//! Values in and out of unboxed elements.

use regraft_dialects::semantics::{MOST_UNBOXED, field_types, unboxed_parts};
use regraft_ir::{Context, Type, TypeKind};
use smallvec::SmallVec;

use super::construct::Compound;
use super::scalar::Scalar;
use super::unboxed::Unboxed;
use super::unboxed_type::{Node, UnboxedKind, UnboxedType};
use super::val::Val;

/// The words of an element.
type Words = SmallVec<[u64; MOST_UNBOXED]>;

impl UnboxedType {
    /// The build of elements of this type, if arrays keep them unboxed. O(parts).
    pub fn of(ctx: &Context, element: Type) -> Option<Self> {
        unboxed_parts(ctx, element)?;
        let mut nodes = Vec::new();
        add_nodes(ctx, element, &mut nodes);
        Some(Self::new(nodes))
    }

    /// The part at a position that a word is.
    fn part(self, at: usize, word: u64) -> Option<Val> {
        self.parts().get(at).map(|&ty| part_of(ty, word))
    }

    /// The word of the part at a position; `None` if it is of another type.
    fn word(self, at: usize, part: &Val) -> Option<u64> {
        word_of(*self.parts().get(at)?, part)
    }

    /// The value that words are, which are as many as there are parts.
    fn value(self, words: &[u64]) -> Val {
        put_together(&mut self.nodes(), &mut words.iter().copied())
    }

    /// The words of a value; `None` if it is of another type.
    fn words(self, value: &Val) -> Option<Words> {
        let mut words = Words::new();
        take_apart(&mut self.nodes(), value, &mut words).map(|()| words)
    }

    /// The words of parts; `None` if they are others.
    fn words_of(self, parts: &[Val]) -> Option<Words> {
        let words = parts.iter().enumerate().map(|(at, part)| self.word(at, part));
        words.collect::<Option<Words>>().filter(|words| words.len() == self.count())
    }
}

/// Adds the tree of a type, in preorder.
fn add_nodes(ctx: &Context, ty: Type, nodes: &mut Vec<Node>) {
    let Some(fields) = field_types(ctx, ty) else {
        nodes.push(Node::Part(ty));
        return;
    };
    let (kind, ty) = match ctx.kind(ty) {
        TypeKind::Tuple(_) => (UnboxedKind::Tuple, Type::ANY),
        TypeKind::Named(fields) => {
            let names = fields.iter().map(|&(name, _)| name);
            (UnboxedKind::Named, Val::named_shape(ctx, names))
        }
        _ => (UnboxedKind::Struct, ty),
    };
    nodes.push(Node::Compound(kind, ty, fields.len()));
    fields.into_iter().for_each(|field| add_nodes(ctx, field, nodes));
}

/// The value of the next node, of the words that come next.
fn put_together(
    nodes: &mut impl Iterator<Item = Node>,
    words: &mut impl Iterator<Item = u64>,
) -> Val {
    let (kind, ty, count) = match nodes.next() {
        Some(Node::Compound(kind, ty, count)) => (kind, ty, count),
        Some(Node::Part(ty)) => return part_of(ty, words.next().unwrap_or(0)),
        None => return Val::Unit,
    };
    let kind = match kind {
        UnboxedKind::Tuple => Compound::Tuple,
        UnboxedKind::Named => Compound::Named,
        UnboxedKind::Struct => Compound::Struct,
    };
    Val::compound(kind, ty, (0..count).map(|_| put_together(nodes, words)))
}

/// Appends the words of a value, which the next node describes; `None` if it is of another type.
fn take_apart(
    nodes: &mut impl Iterator<Item = Node>,
    value: &Val,
    words: &mut Words,
) -> Option<()> {
    let (kind, ty, count) = match nodes.next()? {
        Node::Compound(kind, ty, count) => (kind, ty, count),
        Node::Part(ty) => {
            words.push(word_of(ty, value)?);
            return Some(());
        }
    };
    let ((UnboxedKind::Tuple, Val::Tuple(fields))
    | (UnboxedKind::Named, Val::Named(fields))
    | (UnboxedKind::Struct, Val::Struct(fields))) = (kind, value)
    else {
        return None;
    };
    if fields.ty() != ty || fields.items().len() != count {
        return None;
    }
    fields.items().iter().try_for_each(|field| take_apart(nodes, field, words))
}

/// The part of a type that a word is.
fn part_of(ty: Type, word: u64) -> Val {
    Scalar::of(ty).map_or(Val::Unit, |scalar| scalar.boxed(word))
}

/// The word of a part, all of whose bits depend on it alone; `None` if it is of another type.
fn word_of(ty: Type, part: &Val) -> Option<u64> {
    match Scalar::of(ty) {
        Some(scalar) => scalar.unboxed(part),
        None => matches!(part, Val::Unit).then_some(0),
    }
}

impl Unboxed {
    /// As many elements as there are values; `None` if one is of another type.
    pub(super) fn of_values(of: UnboxedType, values: &[Val]) -> Option<Self> {
        let all = Self::zeros(of, values.len());
        values.iter().enumerate().all(|(at, value)| all.set(at, value)).then_some(all)
    }

    /// The element at an index from 0.
    pub fn get(&self, at: usize) -> Option<Val> {
        self.row(at).map(|row| self.element().value(row))
    }

    /// Sets the element at an index; `false` if there is none, or the value is of another type.
    pub fn set(&self, at: usize, value: &Val) -> bool {
        match (self.row(at), self.element().words(value)) {
            (Some(row), Some(words)) => {
                row.copy_from_slice(&words);
                true
            }
            _ => false,
        }
    }

    /// A part of the element at an index; both are counted from 0.
    pub fn part(&self, at: usize, part: usize) -> Option<Val> {
        let word = *self.row(at)?.get(part)?;
        self.element().part(part, word)
    }

    /// Sets a part of the element at an index; `false` if there is none, or it is of another type.
    pub fn set_part(&self, at: usize, part: usize, value: &Val) -> bool {
        let place = self.row(at).and_then(|row| row.get_mut(part));
        match (place, self.element().word(part, value)) {
            (Some(place), Some(word)) => {
                *place = word;
                true
            }
            _ => false,
        }
    }

    /// Sets all elements; `false` if the value is of another type.
    pub(super) fn fill(&self, value: &Val) -> bool {
        let Some(words) = self.element().words(value) else { return false };
        self.words_mut().chunks_exact_mut(words.len()).for_each(|row| row.copy_from_slice(&words));
        true
    }

    /// Appends an element; `false` if it is of another type.
    pub(super) fn push(&self, value: &Val) -> bool {
        self.element().words(value).is_some_and(|words| self.append(&words))
    }

    /// Appends an element of these parts; `false` if they are of other types.
    pub(super) fn push_parts(&self, parts: &[Val]) -> bool {
        self.element().words_of(parts).is_some_and(|words| self.append(&words))
    }

    /// Removes the last element.
    pub(super) fn pop(&self) -> Option<Val> {
        let last = self.get(self.len().checked_sub(1)?);
        self.shorten();
        last
    }

    /// Returns whether these are the same elements, bit by bit.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.element() == other.element() && self.words() == other.words()
    }

    /// Adds the elements of `other`, as many and of the same type, to these; `false` if a part is no float.
    pub(crate) fn add(&self, other: &Self) -> bool {
        let of = self.element();
        let are_floats =
            of.parts().iter().all(|ty| matches!(*ty, Type::F64 | Type::F32 | Type::UNIT));
        if !are_floats || other.element() != of || other.len() != self.len() {
            return false;
        }
        for (at, part) in (0..self.words().len()).zip((0..of.count()).cycle()) {
            // Both may be the same elements.
            let (x, y) = (self.words()[at], other.words()[at]);
            self.words_mut()[at] = match of.parts()[part] {
                Type::F64 => (f64::from_bits(x) + f64::from_bits(y)).to_bits(),
                Type::F32 => (f32::from_bits(x as u32) + f32::from_bits(y as u32)).to_bits().into(),
                _ => 0,
            };
        }
        true
    }
}
