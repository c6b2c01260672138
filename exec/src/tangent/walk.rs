//! Mapping one value, or two of the same build, to another in depth.
//!
//! # Method
//! A [`Rule`] says of a pair of values what becomes of it: a value at once, a tuple made of what
//! becomes of pairs of parts, or an object to be filled with what becomes of pairs of elements.
//! Tuples under construction wait on a stack. Objects are there before what they hold, which
//! is why cycles end: an object to be filled is the result at once, and goes to a list.
//!
//! # Why it is right
//! The outcome of a pair is remembered by the addresses of the two, with the two themselves, so
//! that no address is used again meanwhile. Tuples have no identity: they are remembered only so
//! that sharing does not cost exponential time, and one that nobody else holds is not.
//!
//! # Cost
//! O(number of different pairs of objects and their elements). No recursion.

use super::context::Tangents;
use super::workspace::{Fill, Frame, Known, Shape, Spare, clear};
use crate::error::Trap;
use crate::value::{Items, Pairs, Shared, Val, pool};

/// Pairs in a buffer from the pool, if one is at work.
pub(super) fn gathered(pairs: impl IntoIterator<Item = (Val, Val)>) -> Pairs {
    let pairs = pairs.into_iter();
    let mut all = pool::pairs(pairs.size_hint().0);
    all.extend(pairs);
    all
}

/// The image of a pair of values.
pub(super) enum Step {
    /// This.
    Done(Val),
    /// The aggregate of the images of these parts.
    Parts(Shape, Pairs),
    /// This object, when it is filled with what the elements of the pair become.
    Fill(Val),
}

/// The rule of a walk.
pub(super) trait Rule {
    /// Returns the image of a pair of values; the second is `nothing` if there is but one.
    fn step(&mut self, on: Tangents<'_>, a: &Val, b: &Val) -> Result<Step, Trap>;

    /// True if what becomes of an object depends on the first of the pair alone.
    const BY_FIRST: bool = false;

    /// The elements at one place of two objects as a pair; `None` if nothing comes of them.
    fn elements(&mut self, a: Option<Val>, b: Option<Val>) -> Option<(Val, Val)> {
        Some((a?, b.unwrap_or(Val::Unit)))
    }

    /// Puts parts together.
    fn build(&mut self, on: Tangents<'_>, shape: Shape, items: Items) -> Result<Val, Trap> {
        on.reserve_fields(items.len())?;
        Ok(match shape {
            Shape::Tuple => Val::tuple_of(items),
            Shape::Named(shape) => Val::named_of(shape, items),
            Shape::Struct(ty) => Val::struct_of(ty, items),
        })
    }

    /// Puts an element into an object.
    fn put(&mut self, target: &Val, place: usize, value: Val) {
        match target {
            Val::Array(array) => drop(array.set(place, value)),
            Val::Ref(cell) => drop(cell.set(value)),
            Val::Object(object) => {
                for (i, field) in value.as_fields().unwrap_or_default().iter().enumerate() {
                    object.set(i, field.clone());
                }
            }
            _ => {}
        }
    }
}

/// A walk, and what it has found so far.
pub(super) struct Walk<'a> {
    on: Tangents<'a>,
    known: Known,
    /// True if the result of the whole is asked for again.
    remembers: bool,
    fills: Vec<Fill>,
    frames: Vec<Frame>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(on: Tangents<'a>) -> Self {
        Self {
            on,
            known: Known::default(),
            remembers: false,
            fills: Vec::new(),
            frames: Vec::new(),
        }
    }

    /// A walk that goes on where earlier ones ended.
    pub(super) fn remembering(on: Tangents<'a>, known: Known) -> Self {
        Self { known, remembers: true, ..Self::new(on) }
    }

    pub(super) fn into_known(self) -> Known {
        self.known
    }

    /// Returns the image of a pair of values.
    pub(super) fn map(&mut self, rule: &mut impl Rule, a: &Val, b: &Val) -> Result<Val, Trap> {
        let known = match self.remembers {
            true => key(rule, a, b).and_then(|key| self.known.get(&key)),
            false => None,
        };
        if let Some((known, _)) = known {
            return Ok(known.clone());
        }
        // Most values are a number or an array of numbers.
        let step = match rule.step(self.on, a, b)? {
            Step::Done(done) if !self.remembers => return Ok(done),
            step => step,
        };
        let spare = self.on.workspace.take_spare();
        let mut known = spare.known;
        (self.fills, self.frames) = (spare.fills, spare.frames);
        if !self.remembers {
            std::mem::swap(&mut self.known, &mut known);
        }
        let result = self.take(rule, a.clone(), b.clone(), step)?;
        while let Some(fill) = self.fills.pop() {
            self.fill(rule, &fill)?;
        }
        if !self.remembers {
            std::mem::swap(&mut self.known, &mut known);
            clear(&mut known);
        }
        let (fills, frames) = (std::mem::take(&mut self.fills), std::mem::take(&mut self.frames));
        self.on.workspace.keep_spare(Spare { known, fills, frames });
        Ok(result)
    }

    /// Fills an object with what the elements of a pair become.
    fn fill(&mut self, rule: &mut impl Rule, fill: &Fill) -> Result<(), Trap> {
        let count = match &fill.a {
            Val::Array(array) => array.len(),
            _ => 1,
        };
        for place in 0..count {
            let (a, b) = (self.content(&fill.a, place), self.content(&fill.b, place));
            if let Some((a, b)) = rule.elements(a, b) {
                let value = self.value(rule, a, b)?;
                rule.put(&fill.target, place, value);
            }
        }
        Ok(())
    }

    /// An element of an object. A mutable struct is looked at as if it were the ref of a named
    /// tuple, as its shadow is.
    fn content(&self, value: &Val, place: usize) -> Option<Val> {
        match value {
            Val::Array(array) => array.get(place),
            Val::Ref(cell) => Some(cell.get()),
            Val::Object(object) => {
                let shape = self.on.field_shape(object.ty())?;
                Some(Val::named_of(shape, object.fields().collect()))
            }
            _ => None,
        }
    }

    /// Returns the image of a pair, whose objects are still to be filled.
    fn value(&mut self, rule: &mut impl Rule, a: Val, b: Val) -> Result<Val, Trap> {
        if let Some((known, _)) = key(rule, &a, &b).and_then(|key| self.known.get(&key)) {
            return Ok(known.clone());
        }
        let step = rule.step(self.on, &a, &b)?;
        self.take(rule, a, b, step)
    }

    /// The same, when the first step is known.
    fn take<R: Rule>(&mut self, rule: &mut R, a: Val, b: Val, step: Step) -> Result<Val, Trap> {
        let mut next = Some((a, b, step));
        loop {
            // What has become of the last pair, if its parts need not be looked at.
            let mut done = match next.take() {
                None => None,
                Some((a, b, Step::Done(done))) => {
                    self.remember(rule, a, b, &done);
                    Some(done)
                }
                Some((a, b, Step::Fill(target))) => {
                    self.remember(rule, a.clone(), b.clone(), &target);
                    self.fills.push(Fill { target: target.clone(), a, b });
                    Some(target)
                }
                Some((a, b, Step::Parts(shape, pairs))) => {
                    let from = key(rule, &a, &b).map(|_| [a, b]);
                    let made = std::iter::repeat_n(Val::Unit, pairs.len()).collect();
                    self.frames.push(Frame { shape, from, pairs, at: 0, made });
                    None
                }
            };
            loop {
                let Some(frame) = self.frames.last_mut() else {
                    return Ok(done.unwrap_or(Val::Unit));
                };
                if let Some(part) = done.take() {
                    frame.put(part);
                }
                match frame.next() {
                    Some((a, b)) => match key(rule, &a, &b).and_then(|key| self.known.get(&key)) {
                        Some((known, _)) => done = Some(known.clone()),
                        None => {
                            let step = rule.step(self.on, &a, &b)?;
                            next = Some((a, b, step));
                            break;
                        }
                    },
                    None => {
                        let Some(frame) = self.frames.pop() else { continue };
                        pool::give_pairs(frame.pairs);
                        let made = rule.build(self.on, frame.shape, frame.made)?;
                        if let Some([a, b]) = frame.from {
                            self.remember(rule, a, b, &made);
                        }
                        done = Some(made);
                    }
                }
            }
        }
    }

    fn remember<R: Rule>(&mut self, rule: &R, a: Val, b: Val, result: &Val) {
        if let Some(key) = key(rule, &a, &b) {
            self.known.insert(key, (result.clone(), [a, b]));
        }
    }
}

/// By what a pair is remembered; `None` if there is no need to.
fn key<R: Rule>(_: &R, a: &Val, b: &Val) -> Option<(*const (), *const ())> {
    // A type in the second place says what the first is to become: that ends with the type.
    let remembered = match b {
        Val::Type(_) => false,
        _ => is_shared(a) || is_shared(b),
    };
    if !remembered {
        return None;
    }
    let address = |value: &Val| value.address().unwrap_or(std::ptr::null());
    let by_first = R::BY_FIRST && is_object(a);
    Some((address(a), if by_first { std::ptr::null() } else { address(b) }))
}

/// Returns whether a value may be met again. A tuple is held by what it is a part of, and by the
/// walk.
fn is_shared(value: &Val) -> bool {
    match value {
        Val::Tuple(x) | Val::Named(x) | Val::Struct(x) => Shared::strong_count(x) > 2,
        other => is_object(other),
    }
}

fn is_object(value: &Val) -> bool {
    matches!(value, Val::Object(_) | Val::Ref(_) | Val::Array(_))
}
