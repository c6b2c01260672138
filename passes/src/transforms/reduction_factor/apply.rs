//! Updates leave their nest: each gets loops of its own in front of it.
//!
//! ```text
//! ^1: br same(%x, %y), ^copy, ^2
//! ^2: br every loop around the update runs, ^3, ^4
//! ^3: for kept { s = start; for summed { s += e }; for spread { x[i] = s } }; br ^4
//! ^4: the nest without the update
//! ```

use regraft_ir::{Function, IrResult, Operand, Value};

use super::emit::{Emitter, copy_of};
use super::plan::{Factored, Plan, Start};
use super::slice::Slices;
use crate::analysis::{Analyses, LoopId};
use crate::transforms::util::edit::delete_unused;
use crate::transforms::util::loop_form::{LoopForm, close_loops};
use crate::transforms::util::versioning::{add_version, any_same};

/// Carries out a plan for a nest. Returns whether the nest has two versions now.
pub(super) fn apply(
    f: &mut Function,
    slices: &Slices<'_>,
    plan: &Plan,
    analyses: &mut Analyses,
) -> IrResult<bool> {
    let nest = slices.nest;
    let mut form = LoopForm::new(nest.forest, nest.root);
    let mut preheader = form.ensure_preheader(f)?;
    let same = any_same(f, &plan.apart, Value::terminator(preheader))?;
    if let Some(same) = same {
        close_loops(f, &[&form], analyses)?;
        add_version(f, &form, preheader, same)?;
        preheader = form.ensure_preheader(f)?;
    }
    let mut at = preheader;
    for factored in &plan.factored {
        let mut emitter = Emitter::new(slices, at);
        at = match emitter.all_run(f, &factored.around)? {
            Some(condition) => emitter.guard(f, condition)?,
            None => at,
        };
        factored.emit(f, &mut emitter)?;
        let update = &factored.update;
        f.delete(update.store)?;
        delete_unused(f, Some(update.op))?;
    }
    Ok(same.is_some())
}

impl Factored {
    /// The parameters of a loop that are needed.
    fn params(&self, l: LoopId) -> &[Value] {
        let position = self.around.iter().position(|&of| of == l);
        position.map_or(&[], |position| &self.params[position])
    }

    fn emit(&self, f: &mut Function, emitter: &mut Emitter<'_>) -> IrResult<()> {
        for &l in &self.kept {
            emitter.open(f, l, self.params(l), None)?;
        }
        let sum = match self.start {
            Start::Known(start) | Start::Neutral(start) => self.sum(f, emitter, start)?,
            Start::Single => emitter.emit(f, self.update.addend, self.update.home)?,
        };
        for &l in &self.spread {
            emitter.open(f, l, self.params(l), None)?;
        }
        let mut place = vec![self.update.array];
        for &index in &self.update.indices {
            place.push(emitter.emit(f, index, self.update.home)?);
        }
        let block = emitter.block();
        let value = match self.start {
            Start::Known(_) => sum,
            Start::Neutral(_) | Start::Single => {
                let load = f.push(block, copy_of(f, self.update.load, &place))?;
                let operands = self.update.operands(f, load.into(), sum);
                f.push(block, copy_of(f, self.update.op, &operands))?.into()
            }
        };
        place.insert(1, value);
        f.push(block, copy_of(f, self.update.store, &place))?;
        for _ in self.spread.iter().chain(&self.kept) {
            emitter.close(f, None)?;
        }
        Ok(())
    }

    /// What is added up for one element.
    fn sum(
        &self,
        f: &mut Function,
        emitter: &mut Emitter<'_>,
        start: Operand,
    ) -> IrResult<Operand> {
        let mut sum = start;
        let mut sums: Vec<Value> = Vec::new();
        for &l in &self.summed {
            emitter.open(f, l, self.params(l), Some(sum))?;
            let Some(extra) = emitter.extra() else { continue };
            sum = extra.into();
            sums.push(extra);
        }
        let addend = emitter.emit(f, self.update.addend, self.update.home)?;
        let operands = self.update.operands(f, sum, addend);
        let op = copy_of(f, self.update.op, &operands);
        let mut next: Operand = f.push(emitter.block(), op)?.into();
        for &sum in sums.iter().rev() {
            emitter.close(f, Some(next))?;
            next = sum.into();
        }
        Ok(next)
    }
}
