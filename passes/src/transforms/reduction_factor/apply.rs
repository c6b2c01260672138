//! Updates leave their nest: each gets loops of its own in front of it.
//!
//! ```text
//! ^1: br same(%x, %y), ^copy, ^2
//! ^2: br every loop around the update runs, ^3, ^4
//! ^3: for kept { s = start; for summed { s += e }; for spread { x[i] = s } }; br ^4
//! ^4: the nest without the update
//! ```

use regraft_dialects::arith;
use regraft_ir::{Block, Function, IrResult, Operand, Value};

use super::emit::{Emitter, copy_of, sum_over};
use super::factors::product;
use super::guard::Guard;
use super::plan::{Factored, Plan, Start};
use super::slice::Slices;
use super::sum::FactoredSum;
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
    for sum in &plan.sums {
        at = replace_sum(f, slices, sum, at)?;
    }
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

/// Makes a sum that leaves the nest in front of it, and lets its users have that. Returns the block
/// that goes to the nest then.
fn replace_sum(
    f: &mut Function,
    slices: &Slices<'_>,
    sum: &FactoredSum,
    at: Block,
) -> IrResult<Block> {
    let nest = slices.nest;
    let root = nest.get(nest.root);
    let position = f.params(root.header).position(|param| param == sum.result);
    let Some(before) = position.map(|position| root.initial[position]) else { return Ok(at) };
    let mut emitter = Emitter::new(slices, at);
    let Some(condition) = emitter.all_run(f, &sum.around)? else { return Ok(at) };
    let after = emitter.guard(f, condition)?;
    let total = sum.emit(f, &mut emitter, before)?;
    let inside = emitter.block();
    let ty = f.ty(sum.result);
    let result =
        f.add_param(after, ty, |from| Some(if from == inside { total } else { before }))?;
    f.replace_uses_if(sum.result, result, |f, at| !nest.contains(f.block_of(at.user)))?;
    let exits = f.out_edges(root.header).filter(|&edge| !nest.contains(f.edge_target(edge)));
    for edge in exits.collect::<Vec<_>>() {
        let args = f.edge_args(edge).map(|arg| match arg == sum.result.into() {
            true => Operand::from(result),
            false => arg,
        });
        let args: Vec<Operand> = args.collect();
        f.redirect(edge, f.edge_target(edge), args)?;
    }
    Ok(after)
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
            Start::Known(start) | Start::Neutral(start) => {
                let loops: Vec<(LoopId, &[Value])> =
                    self.summed.iter().map(|&l| (l, self.params(l))).collect();
                sum_over(f, emitter, &loops, start, |f, emitter, sum| {
                    let addend = product(f, emitter, &self.addend)?.unwrap_or(sum);
                    let operands = self.update.operands(f, sum, addend);
                    let op = copy_of(f, self.update.op, &operands);
                    Ok(f.push(emitter.block(), op)?.into())
                })?
            }
            Start::Single => product(f, emitter, &self.addend)?.unwrap_or(self.update.addend),
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
            Start::Known(start) => {
                Guard::choose(self.guard.as_ref(), f, emitter, sum, Some(start))?
            }
            Start::Neutral(_) | Start::Single => {
                let sum = match product(f, emitter, &self.fixed)? {
                    Some(fixed) => f.push(block, arith::mul(fixed, sum))?.into(),
                    None => sum,
                };
                let sum = Guard::choose(self.guard.as_ref(), f, emitter, sum, None)?;
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
}
