//! Materialises the residuals: puts values of the forward sweep, as the tape plan finds them, in the
//! places of the placeholders that the reverse sweep has for them.

use std::sync::Arc;

use regraft_dialects::{arith, core, mem};
use regraft_ir::{Block, Constant, Context, Diagnostic, Inst, Operand, OperandKind, Value};
use regraft_passes::analysis::{LoopForest, LoopId, Poly, Sym};
use regraft_passes::transforms::util::materialize::materialize;
use rustc_hash::FxHashMap;

use super::backward::Sweep;
use super::tape_plan::{Applied, Source};
use crate::tangent_builder::inbounds;

/// Replaces all placeholders of the sweep, in which projections of the tape are still missing.
/// Returns the values that are part of the tape, in order.
pub(super) fn materialise(
    mut sweep: Sweep,
    forward: &Applied,
    forest: &LoopForest,
) -> Result<(Sweep, Vec<Value>), Diagnostic> {
    let residuals = std::mem::take(&mut sweep.residuals);
    let ctx = Arc::clone(sweep.f.ctx());
    // Code goes to the front of each block, in front of all placeholders: they come first.
    let mut anchors: FxHashMap<Block, Value> = FxHashMap::default();
    for residual in &residuals {
        let first = sweep.f.first_inst(residual.place).unwrap_or(residual.placeholder);
        anchors.entry(residual.place).or_insert(first);
    }
    let (known, tops, positions) = Default::default();
    let mut this =
        Materialiser { forward, forest, sweep, ctx, known, tops, tape: Vec::new(), positions };
    for residual in &residuals {
        let at = anchors[&residual.place];
        let found = this.value(residual.value, (residual.at, residual.place), at)?;
        this.sweep.f.replace_all_uses(residual.placeholder, found)?;
    }
    for residual in &residuals {
        this.sweep.f.delete(residual.placeholder)?;
    }
    this.pop_stacks()?;
    Ok((this.sweep, this.tape))
}

struct Materialiser<'a> {
    forward: &'a Applied,
    forest: &'a LoopForest,
    sweep: Sweep,
    ctx: Arc<Context>,
    /// The operand that stands for a value in a block of the reverse sweep.
    known: FxHashMap<(Value, Block), Operand>,
    /// For each stack, the cell with the number of elements that are left, and the value on it.
    tops: FxHashMap<Value, (Value, Value)>,
    tape: Vec<Value>,
    /// The positions of values in the tape.
    positions: FxHashMap<Value, usize>,
}

impl Materialiser<'_> {
    fn insert(&mut self, at: Value, inst: Inst) -> Result<Operand, Diagnostic> {
        let loc = self.sweep.f.loc(at);
        Ok(self.sweep.f.insert(at, inst.at(loc))?.into())
    }

    /// Finds a value while a block of the forward sweep is reversed in one of the reverse sweep.
    fn value(&mut self, v: Value, block: (Block, Block), at: Value) -> Result<Operand, Diagnostic> {
        if let Some(&known) = self.known.get(&(v, block.1)) {
            return Ok(known);
        }
        let forward = self.forward;
        let decision = forward.plan.of(v);
        let decision =
            decision.ok_or_else(|| Diagnostic::error("the tape plan lacks a residual"))?;
        let found = match &decision.source {
            Source::Saved => self.saved(v, at)?,
            Source::Affine(poly) => self.affine(poly, block, at)?,
            Source::Recomputed => {
                let mut inst = self.forward.f.statement(v);
                let ty = self.forward.f.ty(v);
                let operands: Vec<Operand> = inst.operand_list().to_vec();
                for (i, operand) in operands.into_iter().enumerate() {
                    if let OperandKind::Value(operand) = operand.kind() {
                        inst.operand_list_mut()[i] = self.value(operand, block, at)?;
                    }
                }
                self.insert(at, inst.with_type(ty))?
            }
            Source::CachedPerIteration { loops, .. } => {
                let array = self.value(forward.holders[&v], block, at)?;
                let mut indices = Vec::with_capacity(loops.len());
                for &l in loops.iter().rev() {
                    let (left, ahead) = self.counter(l, block.0, at)?;
                    indices.push(if ahead {
                        left
                    } else {
                        let one = self.ctx.constant_id(Constant::I64(1));
                        self.insert(at, arith::add(left, one))?
                    });
                }
                self.insert(at, mem::load(array, indices).with_attrs(inbounds(&self.ctx)))?
            }
            Source::Stack => {
                let stack = forward.holders[&v];
                let kept = self.value(stack, block, at)?;
                let cell = self.top(v, stack)?;
                let index = self.insert(at, mem::ref_get(cell))?;
                self.insert(at, mem::load(kept, [index]).with_attrs(inbounds(&self.ctx)))?
            }
        };
        self.known.insert((v, block.1), found);
        Ok(found)
    }

    /// A projection of the tape.
    fn saved(&mut self, v: Value, at: Value) -> Result<Operand, Diagnostic> {
        let next = self.tape.len();
        let index = *self.positions.entry(v).or_insert(next);
        if index == next {
            self.tape.push(v);
        }
        // The type of the tape is not known yet: the projection is put here when it is.
        let ty = self.forward.f.ty(v);
        let found = self.insert(at, core::undef(ty))?;
        if let Some(found) = found.as_value() {
            self.sweep.projections.push((found, index));
        }
        Ok(found)
    }

    /// The number of the iteration that is reversed, or that number plus 1: whether it is that.
    fn counter(
        &mut self,
        l: LoopId,
        block: Block,
        at: Value,
    ) -> Result<(Operand, bool), Diagnostic> {
        let cell = self.sweep.counters.get(&l).copied();
        let cell =
            cell.ok_or_else(|| Diagnostic::error("a loop is not counted on the way back"))?;
        let ahead = self.forest.get(l).header != block;
        Ok((self.insert(at, mem::ref_get(cell))?, ahead))
    }

    fn affine(
        &mut self,
        poly: &Poly,
        block: (Block, Block),
        at: Value,
    ) -> Result<Operand, Diagnostic> {
        let mut found: FxHashMap<Sym, Poly> = FxHashMap::default();
        for symbol in poly.symbols() {
            let here = match symbol {
                Sym::Value(v) => {
                    let ty = self.forward.f.ty(v);
                    let here = self.value(v, block, at)?;
                    let constant = self.sweep.f.constant(here).and_then(Constant::as_int);
                    here.as_value().map_or_else(
                        || Poly::constant(ty, constant.unwrap_or(0)),
                        |here| Poly::value(ty, here),
                    )
                }
                Sym::Iteration(l) => {
                    let (counter, ahead) = self.counter(l, block.0, at)?;
                    let counter = counter.as_value().expect("it was read from a cell");
                    let counter = Poly::value(poly.ty(), counter);
                    if ahead { counter.plus(-1) } else { counter }
                }
            };
            found.insert(symbol, here);
        }
        let poly = poly.substitute(|s| found.get(&s).cloned());
        let poly = poly.ok_or_else(|| Diagnostic::error("a polynomial has become too large"))?;
        let none: Operand = self.ctx.constant_id(Constant::Unit).into();
        Ok(materialize(&mut self.sweep.f, &poly, at, &mut |_| none)?)
    }

    /// The cell that counts what is left on a stack.
    fn top(&mut self, v: Value, stack: Value) -> Result<Value, Diagnostic> {
        if let Some(&(cell, _)) = self.tops.get(&stack) {
            return Ok(cell);
        }
        let at = Value::terminator(self.sweep.entry);
        let kept = self.saved(stack, at)?;
        let length = self.insert(at, mem::length(kept))?;
        let cell = self.insert(at, mem::ref_new(length))?.as_value().expect("it is a value");
        self.tops.insert(stack, (cell, v));
        Ok(cell)
    }

    /// Shortens stacks, where the definitions of the values on them are reversed.
    fn pop_stacks(&mut self) -> Result<(), Diagnostic> {
        let mut all: Vec<(Value, Value, Value)> =
            self.tops.iter().map(|(&stack, &(cell, v))| (stack, cell, v)).collect();
        all.sort_unstable();
        for (_, cell, v) in all {
            let block = self.forward.f.block_of(v);
            let Some(end) = self.sweep.ends[block.index()] else { continue };
            let at = Value::terminator(end);
            let left = self.insert(at, mem::ref_get(cell))?;
            let one = self.ctx.constant_id(Constant::I64(1));
            let less = self.insert(at, arith::sub(left, one))?;
            self.insert(at, mem::ref_set(cell, less))?;
        }
        Ok(())
    }
}
