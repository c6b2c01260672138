//! Puts what the tape plan says in the place of placeholders: the values of the forward sweep, as
//! the reverse sweep finds them.

use std::sync::Arc;

use regraft_dialects::{arith, core, mem};
use regraft_ir::{
    Block, Constant, Context, ControlFlow, Diagnostic, Inst, Operand, OperandKind, Value,
};
use regraft_passes::analysis::{LoopId, Poly, Sym};
use regraft_passes::transforms::util::materialize::materialize;
use rustc_hash::FxHashMap;

use super::backward::{Need, Sweep};
use super::tape_plan::{Planner, Source, positions};

/// Replaces all placeholders.
pub(super) fn restore(planner: &mut Planner<'_>, sweep: &mut Sweep) -> Result<(), Diagnostic> {
    let needs = std::mem::take(&mut sweep.needs);
    let ctx = Arc::clone(sweep.f.ctx());
    // In the order in which they are computed, so that what is kept first is there for what comes
    // later.
    let order = ControlFlow::compute(&planner.f);
    let place = positions(&planner.f, order.reverse_postorder());
    let mut wanted: Vec<Value> = needs.iter().map(|need| need.value).collect();
    wanted.sort_unstable_by_key(|&v| place[v.index()]);
    wanted.dedup();
    for v in wanted {
        planner.decide(v)?;
    }
    // Code goes to the front of each block, in front of all placeholders: they come first.
    let mut anchors: FxHashMap<Block, Value> = FxHashMap::default();
    for need in &needs {
        let first = sweep.f.first_inst(need.place).unwrap_or(need.placeholder);
        anchors.entry(need.place).or_insert(first);
    }
    let (known, tops) = (FxHashMap::default(), FxHashMap::default());
    let mut this = Restore { planner, sweep, ctx, anchors, known, tops };
    for need in &needs {
        this.need(*need)?;
    }
    for need in &needs {
        this.sweep.f.delete(need.placeholder)?;
    }
    this.pop_stacks()
}

struct Restore<'a, 'b> {
    planner: &'a mut Planner<'b>,
    sweep: &'a mut Sweep,
    ctx: Arc<Context>,
    /// Where code goes, by block of the reverse sweep.
    anchors: FxHashMap<Block, Value>,
    /// What stands for a value in a block of the reverse sweep.
    known: FxHashMap<(Value, Block), Operand>,
    /// For each stack, the cell with the number of elements that are left, and what is on it.
    tops: FxHashMap<Value, (Value, Value)>,
}

impl Restore<'_, '_> {
    fn need(&mut self, need: Need) -> Result<(), Diagnostic> {
        let at = self.anchors[&need.place];
        let found = self.value(need.value, (need.at, need.place), at)?;
        self.sweep.f.replace_all_uses(need.placeholder, found)?;
        Ok(())
    }

    fn insert(&mut self, at: Value, inst: Inst) -> Result<Operand, Diagnostic> {
        let loc = self.sweep.f.loc(at);
        Ok(self.sweep.f.insert(at, inst.at(loc))?.into())
    }

    /// What a value is while a block of the forward sweep is undone in one of the reverse sweep.
    fn value(&mut self, v: Value, block: (Block, Block), at: Value) -> Result<Operand, Diagnostic> {
        if let Some(&known) = self.known.get(&(v, block.1)) {
            return Ok(known);
        }
        let found = match self.planner.decide(v)? {
            Source::Once => self.once(v, at)?,
            Source::Affine(poly) => self.affine(&poly, block, at)?,
            Source::Again => {
                let mut inst = self.planner.f.statement(v);
                let ty = self.planner.f.ty(v);
                let operands: Vec<Operand> = inst.operand_list().to_vec();
                for (i, operand) in operands.into_iter().enumerate() {
                    if let OperandKind::Value(operand) = operand.kind() {
                        inst.operand_list_mut()[i] = self.value(operand, block, at)?;
                    }
                }
                self.insert(at, inst.with_type(ty))?
            }
            Source::Array { array, loops } => {
                let array = self.value(array, block, at)?;
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
                let inbounds = self.planner.inbounds();
                self.insert(at, mem::load(array, indices).with_attrs(inbounds))?
            }
            Source::Stack { stack } => {
                let kept = self.value(stack, block, at)?;
                let cell = self.top(v, stack)?;
                let index = self.insert(at, mem::ref_get(cell))?;
                let inbounds = self.planner.inbounds();
                self.insert(at, mem::load(kept, [index]).with_attrs(inbounds))?
            }
        };
        self.known.insert((v, block.1), found);
        Ok(found)
    }

    fn once(&mut self, v: Value, at: Value) -> Result<Operand, Diagnostic> {
        let index = self.planner.keep_once(v);
        // The type of the tape is not known yet: the projection is put here when it is.
        let ty = self.planner.f.ty(v);
        let found = self.insert(at, core::undef(ty))?;
        if let Some(found) = found.as_value() {
            self.sweep.projections.push((found, index));
        }
        Ok(found)
    }

    /// The number of the iteration that is undone, or that number plus 1: whether it is that.
    fn counter(
        &mut self,
        l: LoopId,
        block: Block,
        at: Value,
    ) -> Result<(Operand, bool), Diagnostic> {
        let cell = self.sweep.counters.get(&l).copied();
        let cell =
            cell.ok_or_else(|| Diagnostic::error("a loop is not counted on the way back"))?;
        let ahead = self.planner.forest.get(l).header != block;
        Ok((self.insert(at, mem::ref_get(cell))?, ahead))
    }

    fn affine(
        &mut self,
        poly: &Poly,
        block: (Block, Block),
        at: Value,
    ) -> Result<Operand, Diagnostic> {
        let mut values: FxHashMap<Value, Poly> = FxHashMap::default();
        let mut counters: FxHashMap<LoopId, Poly> = FxHashMap::default();
        let symbols: Vec<Sym> = poly.symbols().collect();
        for symbol in symbols {
            match symbol {
                Sym::Value(v) => {
                    let ty = self.planner.f.ty(v);
                    let found = self.value(v, block, at)?;
                    let as_poly = match found.as_value() {
                        Some(found) => Poly::value(ty, found),
                        None => {
                            let constant = self.sweep.f.constant(found);
                            Poly::constant(ty, constant.and_then(Constant::as_int).unwrap_or(0))
                        }
                    };
                    values.insert(v, as_poly);
                }
                Sym::Iteration(l) => {
                    let (counter, ahead) = self.counter(l, block.0, at)?;
                    let counter = counter.as_value().expect("it was read from a cell");
                    let counter = Poly::value(poly.ty(), counter);
                    counters.insert(l, if ahead { counter.plus(-1) } else { counter });
                }
            }
        }
        let poly = poly.substitute(|s| match s {
            Sym::Value(v) => values.get(&v).cloned(),
            Sym::Iteration(l) => counters.get(&l).cloned(),
        });
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
        let kept = self.once(stack, at)?;
        let length = self.insert(at, mem::length(kept))?;
        let cell = self.insert(at, mem::ref_new(length))?.as_value().expect("it is a value");
        self.tops.insert(stack, (cell, v));
        Ok(cell)
    }

    /// Where the definition of what is on a stack is undone, the stack gets shorter.
    fn pop_stacks(&mut self) -> Result<(), Diagnostic> {
        let mut all: Vec<(Value, Value, Value)> =
            self.tops.iter().map(|(&stack, &(cell, v))| (stack, cell, v)).collect();
        all.sort_unstable();
        for (_, cell, v) in all {
            let block = self.planner.f.block_of(v);
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
