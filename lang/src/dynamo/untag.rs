//! Code in which values may be tagged: what is no call takes them without their tags.
//!
//! ```text
//! %2 = call @mem.load(%1, %i)   =>   %3 = core.apply @Cassette.untag, %1, %context
//!                                    %4 = core.apply @Cassette.untag, %i, %context
//!                                    %2 = call @mem.load(%3, %4)
//! ```
//!
//! Tuples, named tuples and closures hold tagged values. A test or an assertion of a type looks at the value
//! without its tag, and leaves it its tag. O(instructions + operands).

use regraft_dialects::{cf, core};
use regraft_ir::{Const, Function, IrResult, Operand, Type, Value};

use super::seen::HANDS_ON;

/// The functions that inference knows and that take tagged values as they are.
const HOLDERS: [&str; 3] = ["#named", "#named_of", "#defined"];

/// The ops that read parts of tuples, which may be tagged themselves.
const READS: [&str; 4] = ["core.get", "data.getfield", "data.hasfield", "data.fieldcount"];

/// The functions that take tags away.
#[derive(Clone, Copy, Debug)]
pub(super) struct Untag {
    /// From a value, and from the parts of a tuple.
    pub(super) all: Const,
    /// From a value alone.
    pub(super) outer: Const,
}

/// Takes the tags from what ops and conditions of branches take. `is_call` tells which instructions are calls, which
/// look after their arguments themselves.
pub(super) fn untag_operands(
    f: &mut Function,
    untag: Untag,
    context: Value,
    is_call: impl Fn(&Function, Value) -> bool,
) -> IrResult<()> {
    let insts: Vec<Value> = f.all_insts().collect();
    for v in insts {
        match f.op(v) {
            Some(cf::BR | cf::SWITCH) if f.successors(f.block_of(v)).count() > 1 => {
                untag_operand(f, v, 0, untag.all, context)?;
            }
            Some(core::SET_GLOBAL) => untag_operand(f, v, 1, untag.all, context)?,
            Some(core::CALL) if !is_call(f, v) => untag_call(f, v, untag, context)?,
            _ => {}
        }
    }
    Ok(())
}

fn untag_call(f: &mut Function, v: Value, untag: Untag, context: Value) -> IrResult<()> {
    let Some(name) = f.operand(v, 0).and_then(|callee| f.const_func(callee)) else {
        return Ok(());
    };
    let ctx = f.ctx().clone();
    let name = ctx.str(name);
    let of = f.operand(v, 1);
    if HOLDERS.contains(&name) || HANDS_ON.contains(&name) {
        return Ok(());
    }
    if let ("#tested" | "#typeassert", Some(of)) = (name, of) {
        f.replace_all_uses(v, of)?;
        if name == "#tested" {
            return f.delete(v);
        }
    }
    let untag = if READS.contains(&name) { untag.outer } else { untag.all };
    (1..f.operand_count(v)).try_for_each(|index| untag_operand(f, v, index, untag, context))
}

fn untag_operand(
    f: &mut Function,
    v: Value,
    index: usize,
    untag: Const,
    context: Value,
) -> IrResult<()> {
    match f.operand(v, index).filter(|operand| operand.as_value().is_some()) {
        Some(operand) => {
            let args = [operand, Operand::from(context)];
            let plain = f.insert(v, core::apply(untag, args, Type::ANY))?;
            f.set_operand(v, index, plain)
        }
        None => Ok(()),
    }
}

/// Takes the tag from the function whose code it is.
pub(super) fn untag_callee(
    f: &mut Function,
    untag: Const,
    context: Value,
    callee: Value,
) -> IrResult<()> {
    let uses: Vec<_> = f.uses(callee).collect();
    let Some(entry) = f.entry() else { return Ok(()) };
    let args = [Operand::from(callee), context.into()];
    let plain = f.push_front(entry, core::apply(untag, args, Type::ANY))?;
    uses.into_iter().try_for_each(|at| f.set_operand(at.user, at.index as usize, plain))
}
