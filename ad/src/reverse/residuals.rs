//! Materialises the residuals: puts values of the forward sweep, as the tape plan finds them, in the
//! places of the placeholders that the reverse sweep has for them.
//!
//! A value of a loop that is needed in an inner one is found once, where the reverse sweep enters the
//! inner loop: in the counterpart of the block that the loop was left to. That block ran in the same
//! iteration of the loop of the value, after it.

use std::sync::Arc;

use regraft_dialects::{arith, core, mem};
use regraft_ir::{
    Block, Constant, Context, Diagnostic, DominatorTree, Inst, Operand, OperandKind, Type, Value,
};
use regraft_passes::analysis::{LoopId, Poly, Sym};
use regraft_passes::transforms::util::materialize::{materialize, pairs_and_triples};
use rustc_hash::FxHashMap;

use super::backward::Sweep;
use super::loops::Loops;
use super::tape_plan::{Applied, Source, Summed};
use crate::tangent_builder::inbounds;

/// Replaces all placeholders of the sweep, in which projections of the tape are still missing.
/// Returns the values that are part of the tape, in order.
pub(super) fn materialise(
    mut sweep: Sweep,
    forward: &Applied,
    loops: &Loops,
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
    let dom = DominatorTree::compute(&sweep.f);
    let tape = Vec::new();
    let mut this =
        Materialiser { forward, loops, dom, sweep, ctx, known, anchors, tops, tape, positions };
    for residual in &residuals {
        let at = this.anchor(residual.place);
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
    loops: &'a Loops,
    /// Of the reverse sweep.
    dom: DominatorTree,
    sweep: Sweep,
    ctx: Arc<Context>,
    /// The operand that stands for a value in a block of the reverse sweep.
    known: FxHashMap<(Value, Block), Operand>,
    /// By block of the reverse sweep, the instruction that code goes before.
    anchors: FxHashMap<Block, Value>,
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
        // What is the same wherever it is asked for is moved by others.
        let (block, at) = match decision.source {
            Source::Saved | Source::Affine(_) => (block, at),
            Source::Made(place) => (place, self.anchor(place.1)),
            _ => self.outside_of_inner_loops(v, block, at),
        };
        if let Some(&known) = self.known.get(&(v, block.1)) {
            return Ok(known);
        }
        let found = match &decision.source {
            Source::Saved => self.saved(v, at)?,
            Source::Affine(poly) => self.affine(poly, block, at)?,
            Source::Summed(sum) => self.summed(sum, block, at)?,
            Source::Recomputed | Source::Made(_) => {
                let mut inst = forward.f.statement(v);
                let ty = self.forward.f.ty(v);
                let operands: Vec<Operand> = inst.operand_list().to_vec();
                for (i, operand) in operands.into_iter().enumerate() {
                    if let OperandKind::Value(operand) = operand.kind() {
                        inst.operand_list_mut()[i] = self.value(operand, block, at)?;
                    }
                }
                // The forward sweep made the same access, and the shape is what it was.
                if forward.f.op(v) == Some(mem::LOAD) {
                    inst = inst.with_attrs(inbounds(&self.ctx));
                }
                self.insert(at, inst.with_type(ty))?
            }
            &Source::Stored(store) => {
                let operands: Vec<Operand> = forward.f.operands(store).collect();
                let mut place = Vec::with_capacity(operands.len());
                for operand in operands {
                    match operand.as_value() {
                        Some(value) if value == v => {}
                        Some(value) => place.push(self.value(value, block, at)?),
                        None => place.push(operand),
                    }
                }
                let indices = place.split_off(1);
                self.insert(at, mem::load(place[0], indices).with_attrs(inbounds(&self.ctx)))?
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

    /// The instruction of a block of the reverse sweep that code goes before.
    fn anchor(&mut self, place: Block) -> Value {
        let f = &self.sweep.f;
        let first = || f.first_inst(place).unwrap_or(Value::terminator(place));
        *self.anchors.entry(place).or_insert_with(first)
    }

    /// The place where the reverse sweep enters the outermost loop around a block that is not around
    /// the definition of `v`, with the block of the forward sweep that is reversed there.
    fn outside_of_inner_loops(
        &mut self,
        v: Value,
        block: (Block, Block),
        at: Value,
    ) -> ((Block, Block), Value) {
        let (f, loops) = (&self.forward.f, self.loops);
        let home = f.block_of(v);
        let inner = |&l: &LoopId| !loops.forest.contains(l, home);
        let Some(l) = loops.around(block.0).take_while(inner).last() else { return (block, at) };
        let around = loops.forest.loop_of(home);
        let left_to = loops.forest.get(l).exits.iter().find_map(|exit| {
            let target = f.edge_target(exit.edge(f));
            let counterpart = self.sweep.blocks[target.index()]?;
            let fits = loops.dom.dominates(home, target)
                && around.is_none_or(|around| loops.forest.contains(around, target))
                && self.dom.dominates(counterpart, block.1);
            fits.then_some((target, counterpart))
        });
        match left_to {
            Some(outer) => (outer, self.anchor(outer.1)),
            None => (block, at),
        }
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
        let ahead = self.loops.forest.get(l).header != block;
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

    /// A sum over the iterations of a loop before the one that is reversed.
    fn summed(
        &mut self,
        sum: &Summed,
        block: (Block, Block),
        at: Value,
    ) -> Result<Operand, Diagnostic> {
        let ty = sum.base.ty();
        let (mut number, ahead) = self.counter(sum.over, block.0, at)?;
        if ahead {
            let one = self.ctx.constant_id(Constant::I64(1));
            number = self.insert(at, arith::sub(number, one))?;
        }
        let mut total = self.affine(&sum.base, block, at)?;
        let [_, twos, threes] = &sum.factors;
        let (mut pairs, mut triples) = (None, None);
        if !(twos.is_zero() && threes.is_zero()) {
            let (two, three) = pairs_and_triples(&mut self.sweep.f, number, !threes.is_zero(), at)?;
            (pairs, triples) = (Some(two), three);
        }
        for (factor, choices) in sum.factors.iter().zip([Some(number), pairs, triples]) {
            let Some(mut choices) = choices.filter(|_| !factor.is_zero()) else { continue };
            if ty != Type::I64 {
                choices = self.insert(at, arith::wrap(choices, ty))?;
            }
            total = match factor.constant_value() {
                Some(1) => self.insert(at, arith::add(total, choices))?,
                Some(-1) => self.insert(at, arith::sub(total, choices))?,
                _ => {
                    let factor = self.affine(factor, block, at)?;
                    let product = self.insert(at, arith::mul(factor, choices))?;
                    self.insert(at, arith::add(total, product))?
                }
            };
        }
        Ok(total)
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
