//! The tables that operations on tangents keep from one to the next, in the host of a program.

use std::cell::{RefCell, RefMut};
use std::rc::Rc;

use regraft_dialects::tangent::TangentTable;
use regraft_ir::{Context, Type};
use rustc_hash::FxHashMap;

use crate::budget::Budget;
use crate::value::{Items, Names, Pairs, Texts, Val};

/// The images of pairs of values, by their addresses. The pair is kept so that the addresses are
/// theirs.
pub(crate) type Known = FxHashMap<(*const (), *const ()), (Val, [Val; 2])>;

/// The tables of a walk, kept for the next one.
#[derive(Default)]
pub(super) struct Spare {
    pub(super) known: Known,
    pub(super) fills: Vec<Fill>,
    pub(super) frames: Vec<Frame>,
}

/// Larger tables are not kept: to clear one takes as long as it is large.
const LARGEST_SPARE: usize = 1 << 12;

/// Empties a table, and keeps its place.
pub(super) fn clear(known: &mut Known) {
    if known.capacity() < LARGEST_SPARE {
        known.clear();
    } else {
        *known = Known::default();
    }
}

pub(super) struct Fill {
    pub(super) target: Val,
    pub(super) a: Val,
    pub(super) b: Val,
}

/// A tuple under construction.
pub(super) struct Frame {
    pub(super) shape: Shape,
    /// The pair that it comes of, if that is to be remembered.
    pub(super) from: Option<[Val; 2]>,
    pub(super) pairs: Pairs,
    /// The pair that is next.
    pub(super) at: usize,
    /// The images of the pairs; `nothing` in the place of those that are still to come.
    pub(super) made: Items,
}

impl Frame {
    pub(super) fn next(&mut self) -> Option<(Val, Val)> {
        let pair = self.pairs.get_mut(self.at)?;
        self.at += 1;
        Some(std::mem::replace(pair, (Val::Unit, Val::Unit)))
    }

    /// Takes in the image of the pair that came last.
    pub(super) fn put(&mut self, image: Val) {
        if let Some(place) = self.at.checked_sub(1).and_then(|at| self.made.get_mut(at)) {
            *place = image;
        }
    }
}

/// The kind of aggregate that is made.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Tuple,
    /// Of this [shape](Val::named_shape).
    Named(Type),
    Struct(Type),
}

/// The shadows of objects that globals hold, of derivatives that are being taken. A derivative of
/// some level is that of all lower levels as well, until another one begins within it.
#[derive(Default)]
struct Scopes {
    /// The first is for derivatives that nobody has begun.
    shadows: Vec<Known>,
    begun: usize,
    /// By level, from 1: which ones are at work, the last one first.
    levels: Vec<Vec<usize>>,
}

impl Scopes {
    fn of(&mut self, level: usize) -> &mut Known {
        let found = self.levels.get(level.saturating_sub(1)).and_then(|begun| begun.last());
        // Beyond all levels, it is the outermost one.
        let scope = found.copied().unwrap_or(self.begun.min(1));
        if self.shadows.len() <= scope {
            self.shadows.resize_with(scope + 1, Known::default);
        }
        &mut self.shadows[scope]
    }

    fn begin(&mut self, level: usize) {
        self.begun += 1;
        if self.levels.len() < level {
            self.levels.resize_with(level, Vec::new);
        }
        for begun in &mut self.levels[..level] {
            begun.push(self.begun);
        }
    }

    fn end(&mut self, level: usize) {
        let end = level.min(self.levels.len());
        for begun in &mut self.levels[..end] {
            begun.pop();
        }
        if let Some(shadows) = self.shadows.get_mut(self.begun) {
            clear(shadows);
        }
        self.begun = self.begun.saturating_sub(1);
    }

    /// Ends all but the first `begun`.
    fn end_after(&mut self, begun: usize) {
        if self.begun <= begun {
            return;
        }
        self.begun = begun;
        for level in &mut self.levels {
            level.truncate(level.partition_point(|&scope| scope <= begun));
        }
        self.shadows.iter_mut().skip(begun + 1).for_each(clear);
    }

    fn clear(&mut self) {
        self.begun = 0;
        self.levels.iter_mut().for_each(Vec::clear);
        self.shadows.iter_mut().for_each(clear);
    }
}

/// The tables, the memory limit and the names of a program.
#[derive(Default)]
pub(crate) struct Workspace {
    pub(crate) budget: Budget,
    pub(crate) names: Option<Rc<dyn Names>>,
    /// The types of tangents of the program.
    tangent_types: RefCell<TangentTable>,
    /// For the next walk over tangents.
    spare: RefCell<Spare>,
    /// The shapes of named tuples of a type, and of the fields of a struct.
    shapes: RefCell<FxHashMap<Type, Type>>,
    /// The shadows of objects that globals hold, of each derivative that is being taken.
    global_shadows: RefCell<Scopes>,
}

impl Workspace {
    /// The texts of values and types.
    pub(crate) fn texts<'a>(&'a self, ctx: &'a Context) -> Texts<'a> {
        Texts { ctx, names: self.names.as_deref() }
    }

    pub(super) fn tangent_types(&self) -> RefMut<'_, TangentTable> {
        self.tangent_types.borrow_mut()
    }

    /// The [shape](Val::named_shape) of named tuples of type `ty`, or of those of the fields of a
    /// struct of that type; `make` says what it is. It is remembered.
    pub(crate) fn shape(&self, ty: Type, make: impl FnOnce() -> Option<Type>) -> Option<Type> {
        if let Some(&shape) = self.shapes.borrow().get(&ty) {
            return Some(shape);
        }
        let shape = make()?;
        self.shapes.borrow_mut().insert(ty, shape);
        Some(shape)
    }

    pub(super) fn take_spare(&self) -> Spare {
        self.spare.take()
    }

    pub(super) fn keep_spare(&self, spare: Spare) {
        self.spare.replace(spare);
    }

    pub(super) fn take_global_shadows(&self, level: usize) -> Known {
        std::mem::take(self.global_shadows.borrow_mut().of(level))
    }

    pub(super) fn keep_global_shadows(&self, level: usize, shadows: Known) {
        *self.global_shadows.borrow_mut().of(level) = shadows;
    }

    pub(crate) fn begin_derivative(&mut self, level: usize) {
        self.global_shadows.get_mut().begin(level);
    }

    pub(crate) fn end_derivative(&mut self, level: usize) {
        self.global_shadows.get_mut().end(level);
    }

    /// The number of derivatives that are being taken.
    pub(crate) fn derivatives(&self) -> usize {
        self.global_shadows.borrow().begun
    }

    /// Ends all but the first `begun`.
    pub(crate) fn end_derivatives(&mut self, begun: usize) {
        self.global_shadows.get_mut().end_after(begun);
    }

    /// Ends all derivatives: a run is over.
    pub(crate) fn end(&mut self) {
        self.global_shadows.get_mut().clear();
    }
}
