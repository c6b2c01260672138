//! The reverse sweep, with placeholders for what it needs of the forward sweep.
//!
//! Each block of the forward sweep that has to be reversed has a counterpart, which reverses its actions
//! in reverse order, then hands the cotangents of its parameters to what was passed for them, and
//! goes on to the counterpart of the block that control came from. Cotangents of values that are live
//! across blocks (see `adjoint_liveness`) are parameters of the counterparts; all others are zero
//! where a block begins, and no code says so.
//!
//! Where a value of the forward sweep is needed, `core.undef` stands at the beginning of the
//! counterpart, until the tape plan says how it is found (`residuals`).

mod pending;
mod values;

use std::sync::Arc;

use regraft_dialects::{arith, cf, core, mem};
use regraft_ir::{
    Block, Constant, Context, Diagnostic, Function, Loc, Operand, Symbol, Type, Value,
};
use regraft_passes::analysis::LoopId;
use rustc_hash::FxHashMap;

use super::adjoint_liveness::AdjointLiveness;
use super::augment::Augmented;
use super::control_reversal::ControlReversal;
use super::driver::Driver;
use super::loops::Loops;
use super::predecessor::{Predecessor, Tree};
use crate::activity::Activity;
use crate::tangent_builder::part_types;

/// A residual: a value of the forward sweep that the reverse sweep uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Residual {
    pub(super) value: Value,
    /// The block of the forward sweep that is being reversed.
    pub(super) at: Block,
    /// The block of the reverse sweep where it is needed.
    pub(super) place: Block,
    /// Its stand-in there.
    pub(super) placeholder: Value,
}

/// The reverse sweep with placeholders.
pub(super) struct Sweep {
    pub(super) f: Function,
    pub(super) residuals: Vec<Residual>,
    /// The cells that count what is left, by loop: while its header is reversed, the latch runs
    /// before it; while another block of an iteration is, one more than the number of that
    /// iteration. So in the usual loop from 1 on, the cell is the index itself.
    pub(super) counters: FxHashMap<LoopId, Value>,
    pub(super) entry: Block,
    pub(super) tape: Value,
    /// The stand-ins for parts of the tape, with their positions in it.
    pub(super) projections: Vec<(Value, usize)>,
    /// By [`Block::index`] of the forward sweep.
    pub(super) blocks: Vec<Option<Block>>,
    /// The block in which each counterpart ends, before the recovery of its predecessor.
    pub(super) ends: Vec<Option<Block>>,
}

/// The data that the reverse sweep is made from.
pub(super) struct SweepInput<'a> {
    pub(super) aug: &'a Augmented,
    pub(super) activity: &'a Activity,
    pub(super) liveness: &'a AdjointLiveness,
    pub(super) reversal: &'a ControlReversal,
    pub(super) loops: &'a Loops,
    pub(super) blocks: &'a [Block],
    pub(super) active: &'a [bool],
    /// Values that a select may discard.
    pub(super) discardable: &'a [bool],
}

/// Makes it. The type of the tape is `any` until it is known what is kept.
pub(super) fn sweep(
    driver: &mut Driver<'_>,
    input: &SweepInput<'_>,
    name: Symbol,
) -> Result<Sweep, Diagnostic> {
    let f = &input.aug.f;
    let ctx = Arc::clone(f.ctx());
    let ret = driver.types.cotangent(driver.current_result());
    let results = driver.cotangent_types(f, input.active);
    let result = ctx.tuple_type(&results);
    let mut r = Function::new(&ctx, ctx.str(name), &[Type::ANY, ret], result);
    r.set_function_loc(f.function_loc());
    let entry = r.entry().expect("a new function has an entry");
    let (tape, seed) = (r.param(entry, 0), r.param(entry, 1));
    let (tape, seed) = (tape.expect("it has two"), seed.expect("it has two"));
    let n = f.block_capacity();
    let mut this = Backward {
        driver: &mut *driver,
        input,
        ctx,
        out: Sweep {
            f: r,
            residuals: Vec::new(),
            counters: FxHashMap::default(),
            entry,
            tape,
            projections: Vec::new(),
            blocks: vec![None; n],
            ends: vec![None; n],
        },
        known: FxHashMap::default(),
        adjoints: FxHashMap::default(),
        empty: FxHashMap::default(),
        increments: Vec::new(),
        clearing: None,
        at: entry,
        cur: entry,
        loc: f.function_loc(),
        failed: None,
        results,
    };
    let done = this.run(seed);
    let out = this.out;
    driver.settled(done.map(|()| out))
}

/// A read of memory of which the cotangent has still to be added to the shadow.
#[derive(Clone, Debug)]
pub(super) struct Increment {
    pub(super) read: Value,
    pub(super) adjoint: Operand,
    pub(super) loc: Loc,
}

/// A write to memory whose place in the shadow has still to be cleared.
#[derive(Clone, Debug)]
pub(super) struct Clearing {
    pub(super) write: Value,
    /// The content of the shadow there.
    pub(super) old: Option<Operand>,
    pub(super) loc: Loc,
}

/// The cotangent of a value, so far.
#[derive(Clone, Debug, Default)]
struct Adjoint {
    whole: Option<Operand>,
    /// The cotangents that came to parts of a tuple or struct.
    parts: Vec<Option<Operand>>,
    /// The parts of `whole` that nothing came to, if any are known: they are zero.
    empty: Vec<bool>,
}

impl Adjoint {
    fn of(whole: Operand) -> Self {
        Self { whole: Some(whole), ..Self::default() }
    }

    /// Returns whether nothing came to a part of `whole`.
    fn is_empty(&self, part: usize) -> bool {
        self.empty.get(part).copied().unwrap_or(false)
    }
}

pub(super) struct Backward<'a, 'm> {
    pub(super) driver: &'a mut Driver<'m>,
    pub(super) input: &'a SweepInput<'a>,
    pub(super) ctx: Arc<Context>,
    out: Sweep,
    /// Placeholders by value and block.
    known: FxHashMap<(Value, Block), Value>,
    adjoints: FxHashMap<Value, Adjoint>,
    /// The parts of cotangents that nothing came to on any way to the counterpart of a block so far.
    empty: FxHashMap<(Block, Value), Vec<bool>>,
    /// Increments of shadows that wait, in order, and the clearing that goes before them.
    pub(super) increments: Vec<Increment>,
    pub(super) clearing: Option<Clearing>,
    /// The block of the forward sweep that is being reversed.
    at: Block,
    /// The block of the reverse sweep that is being written.
    cur: Block,
    pub(super) loc: Loc,
    pub(super) failed: Option<Diagnostic>,
    results: Vec<Type>,
}

impl Backward<'_, '_> {
    fn run(&mut self, seed: Value) -> Result<(), Diagnostic> {
        let f = &self.input.aug.f;
        let Some(exit) = self.input.aug.exit else {
            self.emit(core::throw(self.constant(Constant::Str(
                self.ctx.symbol("a function that never returns has no reverse sweep"),
            ))));
            self.out.f.set_terminator(self.cur, cf::unreachable())?;
            return Ok(());
        };
        for &l in &self.input.reversal.counted {
            let zero = self.constant(Constant::I64(0));
            let cell = self.emit(mem::ref_new(zero));
            if let Some(cell) = cell.as_value() {
                self.out.counters.insert(l, cell);
            }
        }
        let order: Vec<Block> = self
            .input
            .blocks
            .iter()
            .rev()
            .copied()
            .filter(|block| self.input.reversal.visited[block.index()])
            .collect();
        for &block in &order {
            let counterpart = self.out.f.add_block();
            self.out.blocks[block.index()] = Some(counterpart);
            for &v in self.input.liveness.at_end(block) {
                let ty = self.driver.types.cotangent(f.ty(v));
                self.out.f.append_param(counterpart, ty)?;
            }
        }
        let args = self.outgoing(exit, &FxHashMap::default());
        let target = self.counterpart(exit);
        self.out.f.set_terminator(self.cur, cf::br(target, args))?;
        for block in order {
            self.block(block, (block == exit).then_some(seed))?;
            if let Some(error) = self.failed.take().filter(|_| self.driver.errors.is_empty()) {
                return Err(error);
            }
        }
        Ok(())
    }

    fn counterpart(&self, block: Block) -> Block {
        self.out.blocks[block.index()].expect("what is reversed has a counterpart")
    }

    fn block(&mut self, block: Block, seed: Option<Value>) -> Result<(), Diagnostic> {
        let counterpart = self.counterpart(block);
        (self.at, self.cur) = (block, counterpart);
        self.adjoints.clear();
        let params: Vec<Value> = self.out.f.params(counterpart).collect();
        // Control comes to the latch of a loop from the header, which is reversed after it.
        let input = self.input;
        let mut after = input.aug.f.successors(block);
        let all_reversed = after.all(|next| {
            !input.reversal.visited[next.index()] || self.out.ends[next.index()].is_some()
        });
        for (&v, param) in input.liveness.at_end(block).iter().zip(params) {
            let empty = self.empty.remove(&(block, v)).filter(|_| all_reversed);
            let known = Adjoint { empty: empty.unwrap_or_default(), ..Adjoint::of(param.into()) };
            self.adjoints.insert(v, known);
        }
        self.loc = self.input.aug.f.loc(Value::terminator(block));
        let result_type = self.driver.current_result();
        if let (Some(seed), Some(result)) = (seed, self.input.aug.result)
            && self.input.activity.is_varied(result)
        {
            let (from, to) = (result_type, self.input.aug.f.operand_type(result));
            let seed = self.coerce(seed.into(), from, to);
            self.accumulate(result, seed);
        }
        for action in input.aug.actions[block.index()].iter().rev() {
            self.loc = input.aug.f.loc(action.v);
            self.emit_adjoint(action);
        }
        self.flush_pending();
        self.loc = input.aug.f.loc(Value::terminator(block));
        // What is put together of parts is put together before ways part.
        let mut in_parts: Vec<Value> = self
            .adjoints
            .iter()
            .filter(|(_, adjoint)| !adjoint.parts.is_empty())
            .map(|(&v, _)| v)
            .collect();
        in_parts.sort_unstable();
        for v in in_parts {
            self.peek(v);
        }
        self.out.ends[block.index()] = Some(self.cur);
        let predecessor = input.reversal.predecessors[block.index()].as_ref();
        self.go_back(block, predecessor.expect("it was chosen for all blocks"))
    }

    /// Ends the counterpart of a block: recovers the predecessor, and goes to its counterpart.
    fn go_back(&mut self, block: Block, predecessor: &Predecessor) -> Result<(), Diagnostic> {
        let passed = match predecessor {
            Predecessor::Entry | Predecessor::Skip(_) => Vec::new(),
            _ => self.parameters(block),
        };
        match predecessor {
            Predecessor::Entry => {
                let f = &self.input.aug.f;
                let entry = f.entry().expect("it has blocks");
                let params: Vec<Value> = f.params(entry).take(self.results.len()).collect();
                let results: Vec<Operand> = (0..params.len())
                    .map(|i| {
                        let ty = self.results[i];
                        let known = if ty == Type::UNIT { None } else { self.consume(params[i]) };
                        known.unwrap_or_else(|| self.zero(ty))
                    })
                    .collect();
                let tuple = self.emit(core::tuple(results));
                self.out.f.set_terminator(self.cur, cf::ret(tuple))?;
                Ok(())
            }
            Predecessor::Only(source) => self.transition(block, *source, &passed),
            Predecessor::Skip(to) => {
                let sources: Vec<Block> =
                    self.input.aug.f.in_edges(block).map(|edge| edge.from).collect();
                self.enter_loops(block, &sources, *to);
                let args = self.outgoing(*to, &FxHashMap::default());
                let target = self.counterpart(*to);
                self.out.f.set_terminator(self.cur, cf::br(target, args))?;
                Ok(())
            }
            Predecessor::Counted { l, latch, preheader } => {
                let cell = self.out.counters[l];
                let left = self.emit(mem::ref_get(cell));
                let zero = self.constant(Constant::I64(0));
                let more = self.emit(arith::gt(left, zero));
                self.branch(
                    more,
                    |this| this.transition(block, *latch, &passed),
                    |this| this.transition(block, *preheader, &passed),
                )
            }
            Predecessor::Conditions(tree) => self.descend(block, tree, &passed),
            Predecessor::Recorded { selector, sources } => {
                let selector = self.primal((*selector).into());
                if let &[first, second] = sources.as_slice() {
                    return self.branch(
                        selector,
                        |this| this.transition(block, second, &passed),
                        |this| this.transition(block, first, &passed),
                    );
                }
                let from = self.cur;
                let mut targets = Vec::with_capacity(sources.len());
                for &source in sources {
                    self.cur = self.out.f.add_block();
                    targets.push(self.cur);
                    self.transition(block, source, &passed)?;
                }
                let ty = self.type_of(selector);
                let cases = targets[1..].iter().enumerate().map(|(i, &target)| {
                    let case = Constant::int(ty, i as i64 + 1).unwrap_or(Constant::Unit);
                    (Operand::from(self.ctx.constant_id(case)), target)
                });
                let inst = cf::switch(selector, targets[0], cases.collect::<Vec<_>>());
                self.out.f.set_terminator(from, inst)?;
                Ok(())
            }
        }
    }

    /// Finds a predecessor in a tree.
    fn descend(
        &mut self,
        block: Block,
        tree: &Tree,
        passed: &[(usize, Operand)],
    ) -> Result<(), Diagnostic> {
        match tree {
            Tree::From(source) => self.transition(block, *source, passed),
            Tree::Branch { condition, then, otherwise } => {
                // Further conditions are there only if control came by: they are looked for where
                // that is known.
                let condition = self.primal_in(self.cur, *condition);
                self.branch(
                    condition,
                    |this| this.descend(block, then, passed),
                    |this| this.descend(block, otherwise, passed),
                )
            }
        }
    }

    fn branch(
        &mut self,
        condition: Operand,
        then: impl FnOnce(&mut Self) -> Result<(), Diagnostic>,
        otherwise: impl FnOnce(&mut Self) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        let from = self.cur;
        let (yes, no) = (self.out.f.add_block(), self.out.f.add_block());
        let none: [Operand; 0] = [];
        self.out.f.set_terminator(from, cf::br_if(condition, yes, none, no, none))?;
        self.cur = yes;
        then(self)?;
        self.cur = no;
        otherwise(self)
    }

    /// Takes the cotangents of the parameters of a block, by position.
    fn parameters(&mut self, block: Block) -> Vec<(usize, Operand)> {
        let params: Vec<Value> = self.input.aug.f.params(block).collect();
        let mut passed = Vec::new();
        for (i, param) in params.into_iter().enumerate() {
            if let Some(adjoint) = self.consume(param) {
                passed.push((i, adjoint));
            }
        }
        passed
    }

    /// Goes back over the edge from a predecessor, which may lead into loops.
    fn transition(
        &mut self,
        block: Block,
        source: Block,
        passed: &[(usize, Operand)],
    ) -> Result<(), Diagnostic> {
        let input = self.input;
        self.enter_loops(block, &[source], source);
        let f = &input.aug.f;
        let edge = f.in_edges(block).find(|edge| edge.from == source);
        let args: Vec<Operand> = edge.map_or_else(Vec::new, |edge| f.edge_args(edge).collect());
        let mut more: FxHashMap<Value, Operand> = FxHashMap::default();
        for &(i, adjoint) in passed {
            let Some(v) = args[i].as_value() else { continue };
            if !input.activity.is_varied(v) {
                continue;
            }
            let (from, to) = (f.ty(f.param(block, i).expect("it was taken")), f.ty(v));
            let adjoint = self.coerce(adjoint, from, to);
            let ty = self.driver.types.cotangent(to);
            let total = match more.get(&v) {
                Some(&so_far) => self.sum(ty, so_far, adjoint),
                None => adjoint,
            };
            more.insert(v, total);
        }
        let args = self.outgoing(source, &more);
        let target = self.counterpart(source);
        self.out.f.set_terminator(self.cur, cf::br(target, args))?;
        Ok(())
    }

    /// Counts on the way from `block` to `to`, which control came from by way of `sources`: loops
    /// that are entered are at their end.
    fn enter_loops(&mut self, block: Block, sources: &[Block], to: Block) {
        let input = self.input;
        let mut entered: Vec<LoopId> = Vec::new();
        for &source in sources {
            let Some(loops) = input.reversal.exit_counts.get(&(source, block)) else { continue };
            for &(l, count) in loops {
                let Some(&cell) = self.out.counters.get(&l) else { continue };
                if entered.contains(&l) || !input.loops.forest.contains(l, to) {
                    continue;
                }
                entered.push(l);
                let mut count = self.primal(count);
                if input.reversal.headers.get(&to) != Some(&l) {
                    // Within an iteration the cell is one ahead of it.
                    let one = self.constant(Constant::I64(1));
                    count = self.emit(arith::add(count, one));
                }
                self.emit(mem::ref_set(cell, count));
            }
        }
        self.enter_header(block, to);
    }

    /// Goes from within a loop to its header: one iteration less is left.
    fn enter_header(&mut self, from: Block, to: Block) {
        let input = self.input;
        let Some(&l) = input.reversal.headers.get(&to) else { return };
        if let Some(&cell) = self.out.counters.get(&l)
            && input.loops.forest.contains(l, from)
        {
            let left = self.emit(mem::ref_get(cell));
            let one = self.constant(Constant::I64(1));
            let less = self.emit(arith::sub(left, one));
            self.emit(mem::ref_set(cell, less));
        }
    }

    /// The arguments of the counterpart of `to`: the cotangents as they are, and `more`.
    fn outgoing(&mut self, to: Block, more: &FxHashMap<Value, Operand>) -> Vec<Operand> {
        let input = self.input;
        let mut args = Vec::with_capacity(input.liveness.at_end(to).len());
        for &v in input.liveness.at_end(to) {
            let ty = self.driver.types.cotangent(input.aug.f.ty(v));
            let here = self.peek(v);
            self.note_empty(to, v, ty, more.contains_key(&v));
            args.push(match (here, more.get(&v).copied()) {
                (Some(a), Some(b)) => self.sum(ty, a, b),
                (Some(a), None) | (None, Some(a)) => a,
                (None, None) => self.zero(ty),
            });
        }
        args
    }

    /// Notes which parts of the cotangent of `v` nothing has come to on this way to the counterpart of `to`; `more`
    /// says that something comes on the edge.
    fn note_empty(&mut self, to: Block, v: Value, ty: Type, more: bool) {
        let parts = part_types(&self.ctx, ty).len();
        if parts > 0 {
            let known = self.adjoints.get(&v);
            let is_empty = |i| !more && known.is_none_or(|known| known.is_empty(i));
            let everywhere = self.empty.entry((to, v)).or_insert_with(|| vec![true; parts]);
            everywhere.iter_mut().enumerate().for_each(|(i, empty)| *empty &= is_empty(i));
        }
    }
}
