//! Store-to-load forwarding, what is in new arrays at first, and their sizes.

use regraft_dialects::{ad, arith, core, mem};
use regraft_ir::{Constant, Function, Op, Operand, Type, Value};
use smallvec::SmallVec;

use super::number::{Clobber, Walk};
use crate::analysis::memory_location::{MemoryLocation, Overlap, stored_value};
use crate::analysis::memory_ssa::{Seen, Version, defining_write};
use crate::analysis::{Access, LoopId, copied_shape, inst_effects, may_be_object};
use crate::transforms::util::steps::changes;

/// So many stores elsewhere are looked through for the one that a load sees.
const MAX_CLOBBER_STEPS: usize = 32;

impl Walk<'_> {
    /// The shape of a copy is that of what was copied, as it was then.
    pub(super) fn ask_source(&self, op: Op, operands: &mut [Operand], seen: &mut Seen) {
        if !matches!(op, mem::LENGTH | mem::SIZE | mem::SHAPE) {
            return;
        }
        while let Some(copy) = operands[0].as_value()
            && let Some(source) = copied_shape(self.f, copy)
            && seen.shape.is_some()
            && self.facts.memory.shape_at(copy) == seen.shape
            && let Some(before) = self.facts.memory.shape_of_source(copy)
        {
            operands[0] = self.numbers.of(source);
            seen.shape = Some(before);
        }
    }

    /// Walks up the writes that a read of one object may see, past those that do not alias it.
    pub(super) fn clobber(&self, read: Value, version: Version) -> Clobber {
        let Some(location) = MemoryLocation::of(self.f, read) else {
            return Clobber::Version(version);
        };
        let mut steps = MAX_CLOBBER_STEPS;
        self.clobber_from(read, &location, version, &mut steps)
    }

    /// The recursion is as deep as there are steps.
    fn clobber_from(
        &self,
        read: Value,
        location: &MemoryLocation,
        mut version: Version,
        steps: &mut usize,
    ) -> Clobber {
        let (f, facts) = (self.f, self.facts);
        let object = self.numbers.of(location.object);
        let made = object.as_value().and_then(|new| facts.memory.contents_at(new));
        while *steps > 0 {
            *steps -= 1;
            if made == Some(version)
                && let Some(first) = self.first_content(read, object)
            {
                return Clobber::Stored(first);
            }
            let Some(write) = defining_write(version).and_then(|number| f.value_by_number(number))
            else {
                if let Some(stored) = self.stored_on_all_ways(read, location, version, steps) {
                    return Clobber::Stored(stored);
                }
                let before = facts.memory.before_loop(version).filter(|_| self.first_visits);
                let before = before.filter(|&(_, l)| self.is_new_to(l, read, location, steps));
                let Some((before, _)) = before else { break };
                version = before;
                continue;
            };
            if let Some(value) = self.filled(read, object, write) {
                return Clobber::Stored(value);
            }
            match self.overlap(location, write) {
                Overlap::Must => {
                    if let Some(value) = stored_value(f, write)
                        && f.operand_type(self.numbers.of(value)) == f.ty(read)
                    {
                        return Clobber::Stored(value);
                    }
                    break;
                }
                Overlap::No => match self.facts.memory.before(write) {
                    Some(before) => version = before,
                    None => break,
                },
                Overlap::May => break,
            }
        }
        Clobber::Version(version)
    }

    /// Returns whether no earlier iteration of a loop has written where `read` reads: all that the loop writes to the
    /// array is elements with the same index, which is another one in each iteration.
    fn is_new_to(
        &self,
        l: LoopId,
        read: Value,
        location: &MemoryLocation,
        steps: &mut usize,
    ) -> bool {
        let (f, facts) = (self.f, self.facts);
        let object = self.numbers.of(location.object);
        let is_inside = |v: Value| facts.forest.contains(l, f.block_of(v));
        if object.as_value().is_some_and(is_inside) || !facts.forest.irreducible().is_empty() {
            return false;
        }
        let in_loop = is_inside(read);
        let is_elsewhere = |write: Value| {
            let Some(written) = MemoryLocation::of(f, write) else { return false };
            let mut indices = location.indices().zip(written.indices());
            in_loop
                && f.op(write) == Some(mem::STORE)
                && written.indices().count() == location.indices().count()
                && self.numbers.of(written.object) == object
                && indices.any(|(read, written)| {
                    let read = self.numbers.of(read);
                    read == self.numbers.of(written) && changes(f, &facts.forest, l, read)
                })
        };
        let insts = facts.forest.blocks(l).iter().flat_map(|&block| f.body(block));
        let mut writes = insts.filter(|&v| {
            f.op_def(v).is_none_or(|def| def.effects.opaque || def.effects.writes_anything())
        });
        writes.all(|write| {
            *steps = steps.saturating_sub(1);
            let effects = inst_effects(f, write, &facts.summaries);
            let touched = facts.aliases.touches(f, &effects, location.object);
            *steps > 0 && (!touched.intersects(Access::WRITES) || is_elsewhere(write))
        })
    }

    /// Returns what an array was filled with that is read.
    fn filled(&self, read: Value, array: Operand, write: Value) -> Option<Operand> {
        let f = self.f;
        let [filled, value] = f.matches::<2>(write, mem::FILL_IN_PLACE)?;
        // The array may end before the place that is read.
        let is_inside =
            f.op(read) == Some(mem::LOAD) && f.attr(read, "inbounds") == Some(Constant::Bool(true));
        (is_inside
            && self.numbers.of(filled) == array
            && f.operand_type(self.numbers.of(value)) == f.ty(read))
        .then_some(value)
    }

    /// Returns whether a write is to the place that is read.
    fn overlap(&self, location: &MemoryLocation, write: Value) -> Overlap {
        let (f, facts) = (self.f, self.facts);
        let may_write = || {
            let effects = inst_effects(f, write, &facts.summaries);
            let touched = facts.aliases.touches(f, &effects, location.object);
            touched.contains(Access::WRITES_CONTENTS)
        };
        location.overlap_of_write(f, write, |a, b| self.compare(a, b), may_write)
    }

    /// Returns what a read is forwarded on all ways to where versions meet, if that is the same.
    fn stored_on_all_ways(
        &self,
        read: Value,
        location: &MemoryLocation,
        version: Version,
        steps: &mut usize,
    ) -> Option<Operand> {
        let mut all = None;
        for &version in self.facts.memory.incoming(version) {
            let Clobber::Stored(value) = self.clobber_from(read, location, version, steps) else {
                return None;
            };
            let value = self.numbers.of(value);
            if *all.get_or_insert(value) != value {
                return None;
            }
        }
        all
    }

    /// Returns what is in a new array where `read` reads, before anything is written to it.
    fn first_content(&self, read: Value, array: Operand) -> Option<Operand> {
        let f = self.f;
        let new = array.as_value()?;
        if f.op(read) != Some(mem::LOAD) {
            return None;
        }
        if f.op(new)? == mem::ARRAY {
            let [index] = f.operands(read).skip(1).collect::<SmallVec<[_; 1]>>()[..] else {
                return None;
            };
            let index = usize::try_from(f.const_i64(self.numbers.of(index))?).ok()?;
            let element = f.operand(new, index.checked_sub(1)?)?;
            return (f.operand_type(self.numbers.of(element)) == f.ty(read)).then_some(element);
        }
        // The array may end before that place.
        if f.attr(read, "inbounds") != Some(Constant::Bool(true)) {
            return None;
        }
        match f.op(new)? {
            mem::FILL => {
                let value = f.operand(new, 0)?;
                (f.operand_type(self.numbers.of(value)) == f.ty(read)).then_some(value)
            }
            mem::ALLOC => Constant::zero(f.ty(read)).map(|zero| f.constant_id(zero).into()),
            ad::ZERO | core::GET => {
                let is_zero = f.ty(read).is_float() && made_of_zeros(f, new);
                is_zero
                    .then(|| Constant::zero(f.ty(read)).map(|zero| f.constant_id(zero).into()))?
            }
            _ => None,
        }
    }

    /// Compares two indices or fields by their value numbers.
    fn compare(&self, a: Operand, b: Operand) -> Overlap {
        let (a, b) = (self.numbers.of(a), self.numbers.of(b));
        if a == b {
            return Overlap::Must;
        }
        let ((x, dx), (y, dy)) = (self.offset(a), self.offset(b));
        if x == y && dx != dy { Overlap::No } else { Overlap::May }
    }

    /// An index as a value and a constant that is added to it.
    fn offset(&self, index: Operand) -> (Option<Operand>, i64) {
        let f = self.f;
        if let Some(constant) = f.const_i64(index) {
            return (None, constant);
        }
        if let Some(v) = index.as_value() {
            for (op, sign) in [(arith::ADD, 1i64), (arith::SUB, -1)] {
                let Some([x, y]) = f.matches::<2>(v, op) else { continue };
                let (x, y) = (self.numbers.of(x), self.numbers.of(y));
                if let Some(c) = f.const_i64(y) {
                    return (Some(x), sign.wrapping_mul(c));
                }
                if let Some(c) = f.const_i64(x)
                    && op == arith::ADD
                {
                    return (Some(y), c);
                }
            }
        }
        (Some(index), 0)
    }

    /// Returns what a sum is to which constants were added that cancel out: the length of `1:n` is
    /// `n - 1 + 1`.
    pub(super) fn cancelled(&self, v: Value) -> Option<Operand> {
        if !matches!(self.f.op(v)?, arith::ADD | arith::SUB) || self.f.ty(v) != Type::I64 {
            return None;
        }
        let (base, plus) = self.offset(v.into());
        let (base, more) = self.offset(base?);
        (plus != 0 && plus.wrapping_add(more) == 0).then_some(base?)
    }

    /// A dimension or the length of an array that was made with its sizes, and whose shape has not changed since.
    pub(super) fn shape_of_new(&self, v: Value, mut seen: Seen) -> Option<Operand> {
        let f = self.f;
        let op = f.op(v)?;
        let mut operands = [self.numbers.of(f.operand(v, 0)?)];
        self.ask_source(op, &mut operands, &mut seen);
        let new = operands[0].as_value()?;
        if seen.shape.is_none() || self.facts.memory.shape_at(new) != seen.shape {
            return None;
        }
        let dimension = match op {
            mem::LENGTH if f.op(new)? == mem::ARRAY => {
                return Some(f.constant_id(f.operand_count(new) as i64).into());
            }
            mem::LENGTH => match &*self.dimensions(new)? {
                [_] => 1,
                sizes => {
                    let of = |size: Operand| f.const_i64(self.numbers.of(size));
                    let size = |length: i64, &size: &Operand| length.checked_mul(of(size)?);
                    return Some(f.constant_id(sizes.iter().try_fold(1, size)?).into());
                }
            },
            mem::SIZE => usize::try_from(f.const_i64(f.operand(v, 1)?)?).ok()?,
            _ => return None,
        };
        self.dimension(new, dimension)
    }

    /// Returns whether what a `core.same` compares are surely two objects: a new array is no
    /// argument.
    pub(super) fn are_different(&self, same: Value) -> bool {
        let f = self.f;
        let (Some(a), Some(b)) = (f.operand(same, 0), f.operand(same, 1)) else { return false };
        // Numbers have no identity; a value of type `any` may be one.
        let is_object =
            |o| f.operand_type(o) != Type::ANY && may_be_object(f.ctx(), f.operand_type(o));
        is_object(a) && is_object(b) && !self.facts.aliases.may_alias(f, a, b)
    }

    /// An element of the shape of a new array.
    pub(super) fn get_of_shape(&self, v: Value) -> Option<Operand> {
        let f = self.f;
        let shape = self.numbers.of(f.operand(v, 0)?).as_value()?;
        if f.op(shape) != Some(mem::SHAPE) {
            return None;
        }
        let mut seen = self.facts.memory.seen(shape)?;
        let mut operands = [self.numbers.of(f.operand(shape, 0)?)];
        self.ask_source(mem::SHAPE, &mut operands, &mut seen);
        let new = operands[0].as_value()?;
        if seen.shape.is_none() || self.facts.memory.shape_at(new) != seen.shape {
            return None;
        }
        self.dimension(new, usize::try_from(f.const_i64(f.operand(v, 1)?)?).ok()?)
    }

    /// The operands that say how large a new array is.
    fn dimensions(&self, new: Value) -> Option<SmallVec<[Operand; 4]>> {
        let skipped = match self.f.op(new)? {
            mem::ALLOC => 0,
            mem::FILL => 1,
            _ => return None,
        };
        Some(self.f.operands(new).skip(skipped).collect())
    }

    /// The size of a new array along a dimension, counted from 1. It is 1 beyond the last.
    fn dimension(&self, new: Value, dimension: usize) -> Option<Operand> {
        let f = self.f;
        let dimensions = self.dimensions(new)?;
        let size = match dimensions.get(dimension.checked_sub(1)?) {
            Some(&size) => self.numbers.of(size),
            None => f.constant_id(1i64).into(),
        };
        (f.operand_type(size) == Type::I64).then_some(size)
    }
}

/// Returns whether an array is a zero tangent, or in a tuple that is one.
fn made_of_zeros(f: &Function, mut array: Value) -> bool {
    while f.op(array) == Some(core::GET)
        && let Some(whole) = f.operand(array, 0).and_then(Operand::as_value)
    {
        array = whole;
    }
    f.op(array) == Some(ad::ZERO)
}
