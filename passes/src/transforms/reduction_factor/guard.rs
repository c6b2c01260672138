//! Updates under a condition: `x[i] = x[i] + (c ? e : 0.0)`.
//!
//! ```text
//! for j, i { x[i] += c(i) ? e(j) : 0.0 }    =>    for j { s += e(j) }; for i { x[i] = c(i) ? s : 0.0 }
//! ```
//!
//! All addends of one element are `e`, or all of them change nothing, if what the condition depends on
//! is the same for all of them.

use regraft_dialects::core;
use regraft_dialects::semantics::eval_scalar;
use regraft_ir::{Function, IrResult, Operand, Value};

use super::emit::{Emitter, copy_of};
use super::factors::Factor;
use super::slice::Slices;
use super::update::Update;
use crate::analysis::LoopId;

/// The condition of an update.
pub(super) struct Guard {
    /// The selection, and the loop that it is in.
    selection: (Value, LoopId),
    condition: Operand,
    /// What is added if it holds.
    pub(super) addend: Factor,
    /// The position of that among the operands of the selection.
    position: usize,
    /// What is added if it does not.
    otherwise: Operand,
}

impl Guard {
    /// The guard of an update whose addend is a selection between a constant and something else, if
    /// the condition is the same in all iterations of some loops.
    pub(super) fn of(
        f: &Function,
        slices: &mut Slices<'_>,
        update: &Update,
        same_in: &[LoopId],
    ) -> Option<Self> {
        let v = update.addend.as_value()?;
        let [condition, x, y] = f.matches(v, core::SELECT)?;
        let nest = slices.nest;
        let home = nest.loop_of(f.block_of(v));
        if !nest.contains(f.block_of(v)) || !nest.forest.encloses(home, update.home) {
            return None;
        }
        let (position, addend, otherwise) = match (f.constant(x), f.constant(y)) {
            (None, Some(_)) => (1, x, y),
            (Some(_), None) => (2, y, x),
            _ => return None,
        };
        let slice = slices.of(f, condition, home)?;
        let varies = |l: &LoopId| slice.params.iter().any(|&p| nest.header_of(f, p) == Some(*l));
        (slice.depth == 0 && !same_in.iter().any(varies)).then_some(Self {
            selection: (v, home),
            condition,
            addend: (addend, home),
            position,
            otherwise,
        })
    }

    /// Returns whether what is added when the condition does not hold leaves a number as it is;
    /// with `fast`, up to the sign of zero.
    pub(super) fn keeps(&self, f: &Function, update: &Update, number: Operand, fast: bool) -> bool {
        let (Some(number), Some(otherwise)) = (f.constant(number), f.constant(self.otherwise))
        else {
            return false;
        };
        let Some(def) = f.op_def(update.op) else { return false };
        let Some(Ok(result)) = eval_scalar(def, &[number, otherwise], f.ty(update.op)) else {
            return false;
        };
        let floats = (result.as_float(), number.as_float());
        result == number || fast && matches!(floats, (Some(x), Some(y)) if x == y)
    }

    /// Emits the choice of a sum if there is no guard or its condition holds, and otherwise of `none`, or
    /// of what is added then.
    pub(super) fn choose(
        guard: Option<&Self>,
        f: &mut Function,
        emitter: &mut Emitter<'_>,
        sum: Operand,
        none: Option<Operand>,
    ) -> IrResult<Operand> {
        let Some(guard) = guard else { return Ok(sum) };
        let (selection, home) = guard.selection;
        let condition = emitter.emit(f, guard.condition, home)?;
        let none = none.unwrap_or(guard.otherwise);
        let [x, y] = if guard.position == 1 { [sum, none] } else { [none, sum] };
        Ok(f.push(emitter.block(), copy_of(f, selection, &[condition, x, y]))?.into())
    }
}
