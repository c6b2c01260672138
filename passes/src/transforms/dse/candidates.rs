//! The places that stores may be dead for.

use regraft_dialects::{data, linalg, mem};
use regraft_ir::{ControlFlow, Function, Operand, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::is_undef_after_error;
use crate::analysis::memory_location::{MemoryLocation, Overlap};
use crate::analysis::traps::may_trap;
use crate::analysis::{Access, Aliases, Analyses, Base, InstEffects};

/// The most places of a function.
const MAX: usize = 128;

/// A set of places, by position.
pub(super) type Set = u128;
const _: () = assert!(MAX == Set::BITS as usize);

/// The part of an object that is stored to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Part {
    /// One place.
    Place(MemoryLocation),
    /// All elements of an array.
    Elements(Operand),
    /// Anything in an object that this instruction allocates.
    Object(Value),
}

impl Part {
    fn object(&self) -> Operand {
        match self {
            Self::Place(place) => place.object,
            Self::Elements(array) => *array,
            Self::Object(allocation) => (*allocation).into(),
        }
    }

    /// The part that an instruction writes, as a whole or adding to what is there, if it does nothing else.
    fn stored(f: &Function, v: Value) -> Option<Self> {
        match f.op(v)? {
            mem::STORE | mem::REF_SET | data::SETFIELD => MemoryLocation::of(f, v).map(Self::Place),
            mem::FILL_IN_PLACE => Some(Self::Elements(f.operand(v, 0)?)),
            linalg::PRODUCT | linalg::ADD_PRODUCT if !may_trap(f, v) => {
                Some(Self::Elements(f.operand(v, 0)?))
            }
            _ => None,
        }
    }
}

/// The parts of objects that are stored to, and the stores.
pub(super) struct Candidates {
    parts: Vec<Part>,
    /// By store: the part that it writes.
    stores: FxHashMap<Value, u32>,
    /// By value: the places that are other ones once it is computed anew.
    redefines: FxHashMap<Value, Set>,
    /// By allocation: the object.
    objects: FxHashMap<Value, u32>,
    /// Objects of which an earlier one may still be known when the next is allocated.
    carried: FxHashSet<Value>,
    /// The parts of objects that others may know when the function returns.
    pub(super) visible: Set,
    /// The parts of objects that others may read after an error.
    pub(super) visible_to_errors: Set,
}

impl Candidates {
    /// The places that are stored to twice, or in objects that nobody else knows. `None` if there are
    /// none. O(instructions).
    pub(super) fn find(f: &Function, analyses: &mut Analyses) -> Option<Self> {
        let cfg = analyses.get::<ControlFlow>(f);
        let mut stores: Vec<(Value, Part)> = Vec::new();
        for block in cfg.reverse_postorder() {
            stores.extend(f.body(block).filter_map(|v| Some((v, Part::stored(f, v)?))));
        }
        if stores.is_empty() {
            return None;
        }
        let aliases = analyses.get::<Aliases>(f);
        let mut times: FxHashMap<&Part, u32> = FxHashMap::default();
        stores.iter().for_each(|(_, part)| *times.entry(part).or_default() += 1);
        let is_candidate = |part: &Part| {
            let filled = || times.contains_key(&Part::Elements(part.object()));
            times[part] > 1
                || matches!(part, Part::Place(_)) && filled()
                || aliases.non_escaping(part.object()).is_some()
        };
        let mut this = Self {
            parts: Vec::new(),
            stores: FxHashMap::default(),
            redefines: FxHashMap::default(),
            objects: FxHashMap::default(),
            carried: FxHashSet::default(),
            visible: 0,
            visible_to_errors: 0,
        };
        let mut known: FxHashMap<&Part, u32> = FxHashMap::default();
        for (v, part) in stores.iter().filter(|(_, part)| is_candidate(part)) {
            let at = match known.get(part) {
                Some(&at) => at,
                None => {
                    let Some(at) = this.add(f, part.clone(), &aliases) else { continue };
                    known.insert(part, at);
                    at
                }
            };
            this.stores.insert(*v, at);
        }
        if this.parts.is_empty() {
            return None;
        }
        for block in cfg.reverse_postorder() {
            for param in f.params(block) {
                if let Base::Fresh(v) = aliases.base(param) {
                    this.carried.insert(v);
                }
            }
        }
        Some(this)
    }

    fn add(&mut self, f: &Function, part: Part, aliases: &Aliases) -> Option<u32> {
        let local = aliases.non_escaping(part.object());
        if let Some(allocation) = local
            && !self.objects.contains_key(&allocation)
        {
            let at = self.push(Part::Object(allocation))?;
            self.objects.insert(allocation, at);
        }
        let at = self.push(part)?;
        let part = &self.parts[at as usize];
        let bit: Set = 1 << at;
        if local.is_none() {
            self.visible |= bit;
            let is_undef = is_undef_after_error(f, aliases, part.object());
            self.visible_to_errors |= if is_undef { 0 } else { bit };
        }
        let mut depends = |operand: Operand| {
            if let Some(v) = operand.as_value() {
                *self.redefines.entry(v).or_default() |= bit;
            }
        };
        if let Part::Place(place) = part {
            place.indices().for_each(&mut depends);
        }
        depends(part.object());
        Some(at)
    }

    fn push(&mut self, part: Part) -> Option<u32> {
        (self.parts.len() < MAX).then(|| {
            self.parts.push(part);
            self.parts.len() as u32 - 1
        })
    }

    /// Returns whether an instruction is a store to one of the places.
    pub(super) fn is_store(&self, v: Value) -> bool {
        self.stores.contains_key(&v)
    }

    /// Returns whether an instruction surely overwrites the place of a store.
    pub(super) fn overwrites(&self, f: &Function, v: Value, store: Value) -> bool {
        let place = self.stores.get(&store).map_or(0, |&at| 1 << at);
        self.overwritten_by(f, v) & place != 0
    }

    /// The places for which a store is dead if one of them is.
    pub(super) fn written_by(&self, f: &Function, store: Value, aliases: &Aliases) -> Set {
        let Some(&at) = self.stores.get(&store) else { return 0 };
        let elements = |object| {
            let all = self.parts.iter().position(|part| *part == Part::Elements(object));
            all.map_or(0, |at| 1 << at)
        };
        let object = f.operand(store, 0);
        let local = object.and_then(|object| aliases.non_escaping(object));
        let local = local.and_then(|v| self.objects.get(&v)).map_or(0, |&at| 1 << at);
        (1 << at) | local | object.map_or(0, elements)
    }

    /// The places that an instruction surely overwrites, if it does not trap where an earlier store to
    /// them did not.
    pub(super) fn overwritten_by(&self, f: &Function, v: Value) -> Set {
        let Some(&at) = self.stores.get(&v) else { return 0 };
        let keeps = match f.op(v) {
            Some(linalg::ADD_PRODUCT) => true,
            Some(data::SETFIELD) => may_trap(f, v),
            _ => false,
        };
        if f.checks_operands(v) || keeps {
            return 0;
        }
        match &self.parts[at as usize] {
            Part::Elements(array) => self.among(|part| match part {
                Part::Place(place) => place.object == *array,
                Part::Elements(other) => other == array,
                Part::Object(_) => false,
            }),
            _ => 1 << at,
        }
    }

    /// The places that are other ones from the definition of a value on.
    pub(super) fn redefined_by(&self, v: Value) -> Set {
        self.redefines.get(&v).copied().unwrap_or(0)
    }

    /// The objects of which nothing is read after an allocation that was stored before it.
    pub(super) fn made_anew(&self, v: Value) -> Set {
        match self.objects.get(&v) {
            Some(&at) if !self.carried.contains(&v) => 1 << at,
            _ => 0,
        }
    }

    /// The places that an instruction with these effects may read, or that may not be there after it.
    pub(super) fn read_by(
        &self,
        f: &Function,
        v: Value,
        effects: &InstEffects,
        aliases: &Aliases,
    ) -> Set {
        let changes = Access::READS_CONTENTS | Access::WRITES_SHAPE;
        if !effects.all_accesses().intersects(changes) {
            return 0;
        }
        let location = match f.op(v) {
            Some(mem::LOAD | mem::REF_GET | data::GETFIELD) => MemoryLocation::of(f, v),
            _ => None,
        };
        let added_to = added_to(f, v, aliases);
        self.among(|part| {
            if added_to.is_some() && aliases.non_escaping(part.object()) == added_to {
                return false;
            }
            let access = aliases.touches(f, effects, part.object());
            match part {
                Part::Object(_) => access.intersects(Access::READS_CONTENTS),
                Part::Elements(_) => access.intersects(changes),
                Part::Place(place) => {
                    access.intersects(changes)
                        && !location.as_ref().is_some_and(|location| {
                            let compare = |a, b| Overlap::of_offsets(f, a, b);
                            location.object == place.object
                                && place.overlap(f, location, compare) == Overlap::No
                        })
                }
            }
        })
    }

    /// The parts of an object that leaves the function.
    pub(super) fn of_object(&self, allocation: Value, aliases: &Aliases) -> Set {
        self.among(|part| aliases.non_escaping(part.object()) == Some(allocation))
    }

    /// All places.
    pub(super) fn all(&self) -> Set {
        Set::MAX >> (MAX - self.parts.len())
    }

    fn among(&self, mut is_in: impl FnMut(&Part) -> bool) -> Set {
        let parts = self.parts.iter().enumerate();
        parts.filter(|(_, part)| is_in(part)).fold(0, |set, (at, _)| set | 1 << at)
    }
}

/// The object that an instruction reads only to add to it: where that is dead, so is what was there before.
fn added_to(f: &Function, v: Value, aliases: &Aliases) -> Option<Value> {
    let dest = f.operand(v, 0).filter(|_| f.op(v) == Some(linalg::ADD_PRODUCT))?;
    let is_read =
        |index| f.operand(v, index).is_none_or(|factor| aliases.may_alias(f, factor, dest));
    aliases.non_escaping(dest).filter(|_| !is_read(1) && !is_read(2))
}
