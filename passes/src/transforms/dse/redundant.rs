//! Stores of what is in the place already.

use regraft_dialects::{data, mem};
use regraft_ir::{ControlFlow, Function, Operand, Value};
use rustc_hash::FxHashMap;

use super::overlap_of_write;
use crate::analysis::memory_location::{MemoryLocation, Overlap, stored_value};
use crate::analysis::memory_ssa::{MemorySsa, defining_write};
use crate::analysis::{Aliases, Analyses, EffectSummaries};

/// So many writes elsewhere are looked through.
const MAX_CLOBBER_STEPS: usize = 16;

/// Returns the stores of what was loaded from the place, or stored there, before. O(instructions), and
/// the versions of memory if there may be such a store.
pub(super) fn stores(f: &Function, analyses: &mut Analyses) -> Vec<Value> {
    let cfg = analyses.get::<ControlFlow>(f);
    let mut stores: Vec<(Value, MemoryLocation, Operand)> = Vec::new();
    let mut times: FxHashMap<(MemoryLocation, Operand), u32> = FxHashMap::default();
    for block in cfg.reverse_postorder() {
        for v in f.body(block) {
            if let Some(value) = stored_value(f, v)
                && !f.checks_operands(v)
                && let Some(place) = MemoryLocation::of(f, v)
            {
                *times.entry((place.clone(), value)).or_default() += 1;
                stores.push((v, place, value));
            }
        }
    }
    stores.retain(|(_, place, value)| {
        loaded_from(f, *value, place).is_some() || times[&(place.clone(), *value)] > 1
    });
    if stores.is_empty() {
        return Vec::new();
    }
    let walk = Walk {
        f,
        memory: &analyses.get::<MemorySsa>(f),
        aliases: &analyses.get::<Aliases>(f),
        summaries: &analyses.effects().clone(),
    };
    let redundant = stores.into_iter().filter(|(v, place, value)| walk.holds(*v, place, *value));
    redundant.map(|(v, _, _)| v).collect()
}

/// The load that a value is, if it is one from this place.
fn loaded_from(f: &Function, value: Operand, place: &MemoryLocation) -> Option<Value> {
    let load = value.as_value()?;
    let is_load = matches!(f.op(load)?, mem::LOAD | mem::REF_GET | data::GETFIELD);
    (is_load && MemoryLocation::of(f, load)? == *place).then_some(load)
}

struct Walk<'a> {
    f: &'a Function,
    memory: &'a MemorySsa,
    aliases: &'a Aliases,
    summaries: &'a EffectSummaries,
}

impl Walk<'_> {
    /// Returns whether `place` holds `value` where it is stored there. Walks up the writes between.
    fn holds(&self, store: Value, place: &MemoryLocation, value: Operand) -> bool {
        let f = self.f;
        let load = loaded_from(f, value, place);
        let loaded = load.and_then(|load| self.memory.seen(load)?.contents);
        let Some(mut version) = self.memory.before(store) else { return false };
        for _ in 0..MAX_CLOBBER_STEPS {
            if loaded == Some(version) {
                return true;
            }
            let Some(write) = defining_write(version).and_then(|number| f.value_by_number(number))
            else {
                return false;
            };
            match overlap_of_write(f, place, write, (self.aliases, self.summaries)) {
                Overlap::Must => return stored_value(f, write) == Some(value),
                Overlap::May => return false,
                Overlap::No => match self.memory.before(write) {
                    Some(before) => version = before,
                    None => return false,
                },
            }
        }
        false
    }
}
