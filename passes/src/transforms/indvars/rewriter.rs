//! Inserts what takes the place of the parameters of one loop.

use regraft_dialects::arith;
use regraft_ir::{Block, Constant, DominatorTree, Function, Inst, IrResult, Operand, Value};

use crate::analysis::induction::BasicInduction;
use crate::analysis::traps::only_computes;
use crate::analysis::{InductionVariables, LoopId, Poly, TripCounts};
use crate::transforms::util::counters::{can_compute, compute};
use crate::transforms::util::redundant_inductions::comes_first;

/// The rewrites that are allowed.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Limits {
    /// True if final values are computed.
    pub final_values: bool,
    /// True if a parameter goes if a multiplication takes its place.
    pub multiply: bool,
}

/// Works out what becomes of a loop, and inserts what it takes.
pub(super) struct Rewriter<'a> {
    pub(super) f: &'a mut Function,
    pub(super) ivs: &'a InductionVariables,
    pub(super) counts: &'a TripCounts,
    pub(super) dom: &'a DominatorTree,
    pub(super) l: LoopId,
    pub(super) limits: Limits,
    pub(super) counter: Option<Value>,
    /// Counts that were computed before the loop, with the blocks of their exits.
    pub(super) known: Vec<(Block, Operand)>,
}

impl Rewriter<'_> {
    /// Finds a value that is one more than the counter, as what counted from 1: one of `params`, with what
    /// takes its place. It takes the place of `next` if it is there before. Otherwise it is returned, and `next` is to
    /// take its place once nothing is asked of it any more.
    pub(super) fn reuse_next(
        &mut self,
        next: Value,
        params: &[(Value, Operand)],
    ) -> IrResult<Option<Value>> {
        let (f, ivs) = (&*self.f, self.ivs);
        let one_more = Poly::iteration(f.ty(next), self.l).plus(1);
        let header = ivs.forest().get(self.l).header;
        let own = ivs.forest().own_blocks(self.l).iter();
        let mut values = f.params(header).chain(own.flat_map(|&block| f.body(block)));
        let is_equal =
            |v: Value| v != next && f.ty(v) == one_more.ty() && ivs.evolution(f, v) == one_more;
        let found = values.find_map(|v| {
            let before = is_equal(v).then(|| comes_first(f, self.dom, v, next))?;
            let behind = || comes_first(f, self.dom, next, v) && only_computes(f, v);
            (before || behind()).then_some((v, before))
        });
        let Some((v, before)) = found else { return Ok(None) };
        if before {
            let there = params.iter().find(|&&(param, _)| param == v);
            self.f.replace_all_uses(next, there.map_or(v.into(), |&(_, value)| value))?;
            self.f.delete(next)?;
            return Ok(None);
        }
        Ok(Some(v))
    }

    /// Returns whether a parameter can be expressed by a counter, and is to be.
    pub(super) fn is_worth_it(&self, basic: &BasicInduction) -> bool {
        if basic.step.is_zero() {
            return true;
        }
        let step = basic.step.constant_value();
        (self.limits.multiply || matches!(step, Some(1 | -1)))
            && can_compute(self.f, self.ivs, &basic.step)
    }

    /// Returns what a parameter is, in terms of the counter, at the start of the header.
    pub(super) fn express(
        &mut self,
        basic: &BasicInduction,
        preheader: Block,
        start: Value,
    ) -> IrResult<Operand> {
        let ty = basic.base.ty();
        let base = self.entering_arg(basic.param, preheader);
        if basic.step.is_zero() {
            return Ok(base);
        }
        let counter = self.counter.expect("a counter was made for what has a step");
        let insert = |f: &mut Function, inst: Inst| {
            f.insert(start, inst.made_from(basic.param)).map(Operand::from)
        };
        let i = if self.f.ty(counter) == ty {
            counter.into()
        } else {
            insert(self.f, arith::wrap(counter, ty))?
        };
        let is_zero = self.f.constant(base).and_then(Constant::as_int) == Some(0);
        match basic.step.constant_value() {
            Some(1) if is_zero => return Ok(i),
            Some(-1) => return insert(self.f, arith::sub(base, i)),
            _ => {}
        }
        let growth = if basic.step.constant_value() == Some(1) {
            i
        } else {
            let at = Value::terminator(preheader);
            let step = compute(self.f, self.ivs, &basic.step, at, &[])?;
            insert(self.f, arith::mul(i, step))?
        };
        if is_zero { Ok(growth) } else { insert(self.f, arith::add(growth, base)) }
    }

    /// Returns what the preheader passes for a parameter of the header.
    pub(super) fn entering_arg(&self, param: Value, preheader: Block) -> Operand {
        let edge = self.f.out_edges(preheader).next().expect("a preheader goes to the header");
        let position = self.f.params(self.f.block_of(param)).position(|p| p == param);
        let arg = position.and_then(|position| self.f.edge_args(edge).nth(position));
        arg.expect("an edge has an argument for each parameter")
    }
}
