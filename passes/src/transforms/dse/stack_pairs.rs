//! Pops of what was pushed in the same block.
//!
//! ```text
//! mem.push %1, %2
//! %3: f64 = arith.mul %2, %2       =>     %3: f64 = arith.mul %2, %2
//! %4: f64 = mem.pop %1
//! %5: f64 = arith.add %3, %4              %5: f64 = arith.add %3, %2
//! ```
//!
//! Nothing between the two touches the array, and if others know it, nothing in between stops the
//! program. That there is no room for the element is a limit of the engine, and no part of what a
//! program means.

use regraft_dialects::mem;
use regraft_ir::{Block, Constant, ControlFlow, Function, IrResult, Operand, Value};

use crate::analysis::{Access, Aliases, Analyses, inst_effects};
use crate::transforms::util::allocation_sites::needs_memory_only;
use crate::transforms::util::edit::replace_or_widen;

/// Replaces what is popped by what was pushed. Returns how many pairs there were. O(instructions *
/// arrays that are pushed on in the block).
pub(super) fn forward(f: &mut Function, analyses: &mut Analyses) -> IrResult<u64> {
    let cfg = analyses.get::<ControlFlow>(f);
    let has = |block: Block, op| f.body(block).any(|v| f.op(v) == Some(op));
    let blocks: Vec<Block> =
        cfg.reverse_postorder().filter(|&b| has(b, mem::POP) && has(b, mem::PUSH)).collect();
    if blocks.is_empty() {
        return Ok(0);
    }
    let aliases = analyses.get::<Aliases>(f);
    let summaries = analyses.effects().clone();
    let mut pairs = Vec::new();
    for block in blocks {
        // What was pushed and may be popped next, the last one last.
        let mut pushed: Vec<(Value, Operand)> = Vec::new();
        for v in f.body(block) {
            let array = f.operand(v, 0);
            if f.op(v) == Some(mem::POP)
                && let Some(array) = array
                && let Some(at) = pushed.iter().rposition(|&(_, other)| other == array)
                && !f.checks_operands(v)
            {
                let (push, _) = pushed.remove(at);
                pairs.push((push, v));
                continue;
            }
            let effects = inst_effects(f, v, &summaries);
            let stops = effects.may_trap && !needs_memory_only(f, v);
            if stops || effects.all_accesses() != Access::empty() {
                let top = array.filter(|_| f.op(v) == Some(mem::PUSH));
                pushed.retain(|&(_, other)| {
                    // Another element on top of the same array is popped first.
                    top == Some(other)
                        || !(stops && aliases.non_escaping(other).is_none())
                            && aliases.touches(f, &effects, other).is_empty()
                });
                if !f.checks_operands(v) {
                    pushed.extend(top.map(|array| (v, array)));
                }
            }
        }
    }
    let nothing = f.constant_id(Constant::Unit);
    for &(push, pop) in &pairs {
        let Some(value) = f.operand(push, 1) else { continue };
        f.replace_all_uses(push, nothing)?;
        f.delete(push)?;
        replace_or_widen(f, pop, value, pop)?;
        f.delete(pop)?;
    }
    Ok(pairs.len() as u64)
}
