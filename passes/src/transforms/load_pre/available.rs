//! The value of a place at the end of a block, where it was loaded or stored before.

use regraft_dialects::{data, mem};
use regraft_ir::{Block, Function, Operand, Type, Value};

use super::LoadAnalyses;
use super::place::SymbolicPlace;
use crate::analysis::memory_location::{Overlap, stored_value};
use crate::analysis::{Access, inst_effects};
use crate::transforms::util::edit::only_edge_into;

/// So many instructions are looked through.
const MAX_STEPS: usize = 64;

/// Returns the value of type `ty` that a place holds at the end of a block, if it was loaded or stored
/// there, or in a block that leads nowhere else, and nothing may have written it since. `until` is the
/// last block that is looked at.
pub(super) fn available(
    f: &Function,
    analyses: &LoadAnalyses,
    mut block: Block,
    until: Block,
    place: &SymbolicPlace,
    ty: Type,
) -> Option<Operand> {
    let mut place = place.clone();
    let mut steps = 0;
    loop {
        let mut next = f.last_inst(block).filter(|v| !v.is_terminator());
        if f.last_inst(block).is_some_and(Value::is_terminator) {
            next = f.prev_inst(Value::terminator(block));
        }
        while let Some(v) = next {
            steps += 1;
            if steps > MAX_STEPS {
                return None;
            }
            match access(f, analyses, v, &place) {
                Overlap::Must => {
                    let value = stored_value(f, v).unwrap_or(v.into());
                    return (f.operand_type(value) == ty).then_some(value);
                }
                Overlap::May => return None,
                Overlap::No => {}
            }
            if place.uses(v) {
                return None;
            }
            next = f.prev_inst(v);
        }
        let edge = only_edge_into(f, block).filter(|_| block != until)?;
        place = place.along(f, edge)?;
        block = edge.from;
    }
}

/// Returns whether an instruction leaves a place as it is, or tells what is in it.
fn access(f: &Function, analyses: &LoadAnalyses, v: Value, place: &SymbolicPlace) -> Overlap {
    let Some(def) = f.op_def(v) else { return Overlap::No };
    if def.effects == regraft_ir::Effects::NONE {
        return Overlap::No;
    }
    let own = SymbolicPlace::of(f, v).filter(|own| own.object() == place.object());
    let overlap = own.map(|own| own.overlap(place));
    let may_check = matches!(f.op(v), Some(mem::STORE | data::SETFIELD)) && f.checks_operands(v);
    match overlap {
        Some(Overlap::Must) if !may_check => return Overlap::Must,
        Some(Overlap::No) => return Overlap::No,
        _ => {}
    }
    let effects = inst_effects(f, v, &analyses.summaries);
    match analyses.aliases.touches(f, &effects, place.object()).intersects(Access::WRITES) {
        true => Overlap::May,
        false => Overlap::No,
    }
}
