//! The loop over strips, with the loops in it.
//!
//! ```text
//! ^enter:  buffer                       of as many elements as a strip has, for each part
//!                                       and arrays of what is the same in all iterations
//! ^strip(%left, phis):                  the iterations that are left, and the state of the loop
//! ^fill(%j): ..                         what functions are given, where nobody else has it
//! ^..: %ok = mem.map ..                 functions
//! ^copy(phis, %j): ..                   the iterations, as many times as %j says
//! ^latch(phis): br %more, ^copy, ^next
//! ^next: br %again, ^strip, ^header     the loop as it was does what is left
//! ```
//!
//! A loop that functions are all of has no `^copy` and no `^latch`.

use regraft_dialects::attrs::{function, inbounds, undef};
use regraft_dialects::{arith, cf, mem};
use regraft_ir::{Block, Constant, Function, Inst, IrResult, Loc, Operand, Type, Value};
use rustc_hash::FxHashMap;

use super::super::simplify_cfg::merge_after;
use super::ahead::place as place_of;
use super::plan::Plan;
use super::schedule::{Round, Source, Strip, Target};
use super::slots::Place;
use crate::analysis::loop_exits::{Holds, LatchRuns};
use crate::analysis::{InductionVariables, LoopForest};
use crate::transforms::unroll::edges::{fold_branch, place, redirect_back_edges};
use crate::transforms::util::clone_blocks::{CloneMap, clone_blocks};
use crate::transforms::util::counters::{compute_condition, compute_runs};
use crate::transforms::util::loop_form::ensure_preheader;
use crate::transforms::util::versioning::all_differ;

/// Cuts a loop into strips of `strip_length` iterations, if it has enough.
///
/// # Errors
/// None if `f` is valid.
pub(super) fn carry_out(
    plan: &Plan,
    f: &mut Function,
    forest: &LoopForest,
    variables: &InductionVariables,
    strip_length: i64,
) -> IrResult<()> {
    let id = plan.counted.id;
    let (preheader, header) = ensure_preheader(f, forest, id)?;
    let at = Value::terminator(preheader);
    let (count, guard) = guard(plan, f, variables, at)?;
    let one = Operand::from(f.constant_id(1));
    let floats = f.ctx().array_type(Type::F64, 1);
    let outermost = std::iter::successors(forest.get(id).parent, |&l| forest.get(l).parent).last();
    let last = forest.blocks(id).iter().copied();
    let last = last.reduce(|x, y| if f.block_comes_before(x, y) { y } else { x });
    let loc = f.loc(at);
    let enter = f.add_block_after(last.unwrap_or(preheader))?;
    let slots = plan.schedule.slots;
    let undefined =
        |size: Operand, f: &Function| mem::alloc([size], floats).with_attrs(undef(f.ctx())).at(loc);
    let before = match outermost {
        Some(outermost) => Some(Value::terminator(ensure_preheader(f, forest, outermost)?.0)),
        None => None,
    };
    let length = Operand::from(f.constant_id(strip_length));
    let part: Operand = f.push(enter, arith::min(count, length).at(loc))?.into();
    let (mut starts, mut buffer) = (Vec::new(), None);
    if slots > 0 {
        buffer = Some(match before {
            // The buffer is made once.
            Some(before) => {
                let size = Operand::from(f.constant_id(strip_length * slots as i64));
                let start = |slot: usize| slot as i64 * strip_length + 1;
                starts.extend((0..slots).map(|slot| Operand::from(f.constant_id(start(slot)))));
                f.insert(before, undefined(size, f))?
            }
            None => {
                let mut next = one;
                for _ in 0..slots {
                    starts.push(next);
                    next = f.push(enter, arith::add(next, part).at(loc))?.into();
                }
                let size = f.push(enter, arith::sub(next, one).at(loc))?;
                f.push(enter, undefined(size.into(), f))?
            }
        });
    }
    let mut fixed: Vec<Value> = Vec::new();
    for &value in &plan.schedule.fixed {
        let changes = |v: Value| outermost.is_some_and(|l| forest.contains(l, f.block_of(v)));
        let before = before.filter(|_| !value.as_value().is_some_and(changes));
        let add = |f: &mut Function, inst: Inst| match before {
            Some(before) => f.insert(before, inst.at(loc)),
            None => f.push(enter, inst.at(loc)),
        };
        let array = undefined(if before.is_some() { length } else { part }, f);
        let array = add(f, array)?;
        add(f, mem::fill_in_place(array, value))?;
        fixed.push(array);
    }
    let strip = f.add_block_after(enter)?;
    let left = f.append_param(strip, Type::I64)?;
    let params: Vec<Value> = f.params(header).collect();
    let mut state = CloneMap::new();
    for &param in &params {
        let now = f.append_param(strip, f.ty(param))?;
        state.set(param, now);
    }
    let iterations = f.push(strip, arith::min(left, length).at(loc))?;
    let mut builder = Builder {
        plan,
        forest,
        variables,
        header,
        buffer,
        starts,
        fixed,
        seconds: FxHashMap::default(),
        count: iterations,
        state,
        at: strip,
        has_stored: false,
        loc,
    };
    let initial: Vec<Operand> = {
        let edge = f.out_edges(preheader).next().expect("a preheader has an edge");
        f.edge_args(edge).collect()
    };
    let first = [count].into_iter().chain(initial.iter().copied());
    f.set_terminator(enter, Inst::new(f.jump_op()?).edge(strip, first).at(loc))?;
    let choose = match guard {
        Some(guard) => cf::br_if(guard, enter, [] as [Operand; 0], header, initial),
        None => Inst::new(f.jump_op()?).edge(enter, [] as [Operand; 0]),
    };
    f.set_terminator(preheader, choose.at(loc))?;
    builder.check_indices(f)?;
    for round in &plan.schedule.rounds {
        builder.fill(f, round)?;
        for strip in &plan.schedule.strips[round.strips.clone()] {
            builder.map(f, strip)?;
        }
    }
    match plan.is_whole {
        true => builder.skip(f, left, strip),
        false => builder.iterations(f, left, strip),
    }
}

/// The number of times that the loop goes back, and whether it is to be cut; `None` if it surely is.
fn guard(
    plan: &Plan,
    f: &mut Function,
    variables: &InductionVariables,
    at: Value,
) -> IrResult<(Operand, Option<Value>)> {
    let differ = all_differ(f, &plan.apart, at)?;
    let number = compute_runs(f, variables, &plan.runs, at)?;
    let LatchRuns::Symbolic(count) = &plan.runs else { return Ok((number, differ)) };
    let least = Operand::from(f.constant_id(plan.least));
    let mut all = f.insert(at, arith::ge(number, least))?;
    if let Some(differ) = differ {
        all = f.insert(at, arith::and(all, differ))?;
    }
    if let Holds::If(condition) = &count.holds {
        let holds = compute_condition(f, variables, condition, at)?;
        all = f.insert(at, arith::and(all, holds))?;
    }
    Ok((number, Some(all)))
}

struct Builder<'a> {
    plan: &'a Plan,
    forest: &'a LoopForest,
    variables: &'a InductionVariables,
    header: Block,
    /// The buffer, if it has parts.
    buffer: Option<Value>,
    /// By part of the buffer, the index of its first element.
    starts: Vec<Operand>,
    /// Arrays of what is the same in all iterations.
    fixed: Vec<Value>,
    /// By part, the index of the first result that stands behind those at its start.
    seconds: FxHashMap<usize, Operand>,
    /// The number of iterations of the strip.
    count: Value,
    /// The values of the loop in the first iteration of the strip, by those of the loop.
    state: CloneMap,
    /// The block that is being written.
    at: Block,
    /// True if strips of arrays that others know were stored.
    has_stored: bool,
    loc: Loc,
}

impl Builder<'_> {
    /// The state that the loop has at the start of the strip.
    fn params(&self, f: &Function) -> Vec<Operand> {
        f.params(self.header).map(|param| self.state.value(param)).collect()
    }

    fn push(&self, f: &mut Function, inst: Inst) -> IrResult<Operand> {
        Ok(f.push(self.at, inst.at(self.loc))?.into())
    }

    /// Goes on if `condition` holds; otherwise the loop as it was takes over.
    fn ensure(&mut self, f: &mut Function, condition: Operand) -> IrResult<()> {
        let next = f.add_block_after(self.at)?;
        let state = self.params(f);
        let test = cf::br_if(condition, next, [] as [Operand; 0], self.header, state);
        f.set_terminator(self.at, test.at(self.loc))?;
        self.at = next;
        Ok(())
    }

    /// Checks that the elements are there that are read ahead.
    fn check_indices(&mut self, f: &mut Function) -> IrResult<()> {
        let one = Operand::from(f.constant_id(1));
        let more = self.push(f, arith::sub(self.count, one))?;
        let mut all: Option<Operand> = None;
        let mut checked = Vec::new();
        for access in self.plan.schedule.accesses.iter().filter(|access| access.is_checked) {
            let place = place_of(f, access.inst);
            if checked.contains(&place) {
                continue;
            }
            let (array, indices) = place.clone();
            checked.push(place);
            for (dim, (&index, &step)) in (1_i64..).zip(indices.iter().zip(&access.steps)) {
                let first = self.ahead(f, index, None)?;
                let last = match step {
                    0 => first,
                    1 => self.push(f, arith::add(first, more))?,
                    _ => {
                        let step = Operand::from(f.constant_id(step));
                        let way = self.push(f, arith::mul(more, step))?;
                        self.push(f, arith::add(first, way))?
                    }
                };
                let (low, high) = if step < 0 { (last, first) } else { (first, last) };
                let size = match indices.len() {
                    1 => self.push(f, mem::length(array))?,
                    _ => self.push(f, mem::size(array, Operand::from(f.constant_id(dim))))?,
                };
                // The last index may have wrapped around.
                let in_order = (step != 0).then(|| arith::le(low, high));
                let tests = [arith::le(one, low), arith::le(high, size)];
                for test in tests.into_iter().chain(in_order) {
                    let test = self.push(f, test)?;
                    all = Some(match all {
                        Some(all) => self.push(f, arith::and(all, test))?,
                        None => test,
                    });
                }
            }
        }
        match all {
            Some(all) => self.ensure(f, all),
            None => Ok(()),
        }
    }

    /// Writes what functions are given to parts of the buffer.
    fn fill(&mut self, f: &mut Function, round: &Round) -> IrResult<()> {
        if round.filled.is_empty() {
            return Ok(());
        }
        let (zero, one) = (Operand::from(f.constant_id(0)), Operand::from(f.constant_id(1)));
        let body = f.add_block_after(self.at)?;
        let number = f.append_param(body, Type::I64)?;
        f.set_terminator(self.at, Inst::new(f.jump_op()?).edge(body, [zero]).at(self.loc))?;
        self.at = body;
        let next = self.push(f, arith::add(number, one))?;
        let mut iteration = Iteration { map: CloneMap::new(), number };
        let attrs = inbounds(f.ctx());
        for &(operand, slot) in &round.filled {
            let value = self.ahead(f, operand, Some(&mut iteration))?;
            let at = self.push(f, arith::add(number, self.starts[slot]))?;
            let store = mem::store(self.buffer(), value, [at]).with_attrs(attrs);
            f.push(self.at, store.at(self.loc))?;
        }
        let more = self.push(f, arith::lt(next, self.count))?;
        let after = f.add_block_after(body)?;
        let back = cf::br_if(more, body, [next], after, [] as [Operand; 0]);
        f.set_terminator(body, back.at(self.loc))?;
        self.at = after;
        Ok(())
    }

    /// Computes a value of the loop: in the first iteration of the strip, or in another one.
    fn ahead(
        &mut self,
        f: &mut Function,
        operand: Operand,
        mut iteration: Option<&mut Iteration>,
    ) -> IrResult<Operand> {
        let Some(v) = operand.as_value() else { return Ok(operand) };
        if !self.forest.contains(self.plan.counted.id, f.block_of(v)) {
            return Ok(operand);
        }
        let known = match &iteration {
            Some(iteration) => iteration.map.value(v),
            None => self.state.value(v),
        };
        if known != operand {
            return Ok(known);
        }
        let found = match (&mut iteration, self.strip_of(v)) {
            (Some(iteration), Some(place)) => self.result(f, place, iteration.number)?,
            (Some(iteration), None) if f.is_param(v) => self.param(f, v, iteration.number)?,
            _ => {
                let operands: Vec<Operand> = f.operands(v).collect();
                let mut inst = f.statement(v);
                let mut copies = Vec::with_capacity(operands.len());
                for operand in operands {
                    copies.push(self.ahead(f, operand, iteration.as_deref_mut())?);
                }
                for (operand, copy) in inst.operand_list_mut().iter_mut().zip(copies) {
                    *operand = copy;
                }
                if f.op(v) == Some(mem::LOAD) {
                    // It was checked before.
                    inst = inst.with_attrs(inbounds(f.ctx()));
                }
                Operand::from(f.push(self.at, inst.made_from(v))?)
            }
        };
        match iteration {
            Some(iteration) => iteration.map.set(v, found),
            None => self.state.set(v, found),
        }
        Ok(found)
    }

    /// The place of the results of a function.
    fn strip_of(&self, v: Value) -> Option<Place> {
        let mut results = self.plan.schedule.strips.iter().flat_map(Strip::results);
        results.find(|&(inst, _)| inst == v).map(|(_, place)| place)
    }

    /// The index of the first element of a place.
    fn start(&self, place: Place) -> Operand {
        let second = self.seconds.get(&place.slot).filter(|_| place.nth > 0);
        second.copied().unwrap_or(self.starts[place.slot])
    }

    /// Loads a result from the buffer.
    fn result(&self, f: &mut Function, place: Place, number: Value) -> IrResult<Operand> {
        let at = self.push(f, arith::add(number, self.start(place)))?;
        let load = mem::load(self.buffer(), [at]).with_attrs(inbounds(f.ctx()));
        self.push(f, load)
    }

    /// A counter of the loop in an iteration of the strip.
    fn param(&self, f: &mut Function, param: Value, number: Value) -> IrResult<Operand> {
        let all = self.variables.basic(self.plan.counted.id).iter();
        let step = all.filter(|basic| basic.param == param).find_map(|b| b.step.constant_value());
        let (first, step) = (self.state.value(param), step.expect("it moves by a constant"));
        let ty = f.ty(param);
        let mut way = Operand::from(number);
        if ty != Type::I64 {
            way = self.push(f, arith::wrap(way, ty))?;
        }
        if step != 1 {
            let step = f.constant_id(Constant::int(ty, step).expect("an integer"));
            way = self.push(f, arith::mul(way, step))?;
        }
        self.push(f, arith::add(first, way))
    }

    /// Computes a function for the strip, or two.
    fn map(&mut self, f: &mut Function, strip: &Strip) -> IrResult<()> {
        let mut sources: Vec<Operand> = Vec::new();
        for source in &strip.sources {
            sources.extend(match *source {
                Source::Elements(access) => self.elements(f, access)?,
                Source::Buffer(place) => [self.buffer().into(), self.start(place)],
                Source::Fixed(at) => [self.fixed[at].into(), f.constant_id(1).into()],
            });
        }
        let inst = strip.insts[0];
        let [dest, to] = match strip.target {
            Target::Slot(slot) => [self.buffer().into(), self.starts[slot]],
            Target::Elements(store) => self.elements(f, store)?,
        };
        let name = match (&*strip.insts, strip.target) {
            ([_, _], Target::Slot(slot)) => {
                let second = self.push(f, arith::add(to, self.count))?;
                self.seconds.insert(slot, second);
                "sincos"
            }
            _ => {
                let def = f.op_def(inst).expect("it is a function");
                def.name.rsplit('.').next().unwrap_or_default()
            }
        };
        let attrs = function(f.ctx(), name);
        let map = mem::map(dest, to, self.count, sources).with_attrs(attrs);
        let loc = f.loc(inst);
        let all = f.push(self.at, map.at(loc).made_from(inst))?;
        // When something has been stored, nothing fails any more.
        if self.has_stored {
            return Ok(());
        }
        self.has_stored = matches!(strip.target, Target::Elements(_));
        self.ensure(f, all.into())
    }

    /// The array of an access, and the index in column-major order of its element at the start of the strip.
    fn elements(&mut self, f: &mut Function, access: Value) -> IrResult<[Operand; 2]> {
        let (array, places) = place_of(f, access);
        let one = Operand::from(f.constant_id(1));
        let mut indices = Vec::new();
        for &index in &places {
            indices.push(self.ahead(f, index, None)?);
        }
        // Horner's scheme, from the last dimension on.
        let mut position = indices[indices.len() - 1];
        for dim in (0..indices.len() - 1).rev() {
            let number = Operand::from(f.constant_id(dim as i64 + 1));
            let size = self.push(f, mem::size(array, number))?;
            let before = self.push(f, arith::sub(position, one))?;
            let before = self.push(f, arith::mul(before, size))?;
            position = self.push(f, arith::add(before, indices[dim]))?;
        }
        Ok([array, position])
    }

    fn buffer(&self) -> Value {
        self.buffer.expect("a place of a buffer is in one")
    }

    /// Goes on behind the iterations of the strip, of which nothing is left to do.
    fn skip(mut self, f: &mut Function, left: Value, strip: Block) -> IrResult<()> {
        let params: Vec<Value> = f.params(self.header).collect();
        let mut state: Vec<Operand> = Vec::with_capacity(params.len());
        for param in params {
            state.push(self.param(f, param, self.count)?);
        }
        self.next(f, left, strip, &state)
    }

    /// The iterations of the strip, and what comes after them.
    fn iterations(mut self, f: &mut Function, left: Value, strip: Block) -> IrResult<()> {
        let (id, counted) = (self.plan.counted.id, &self.plan.counted);
        let blocks = self.forest.blocks(id).to_vec();
        let (zero, one) = (Operand::from(f.constant_id(0)), Operand::from(f.constant_id(1)));
        let places = [(counted.latch, place(f, counted.back_edge(f)))];
        let (exit, nth) = counted.exit_place();
        let mut map = CloneMap::new();
        let copies = clone_blocks(f, &blocks, self.at, &mut map)?;
        let copy = map.block(self.header);
        let latch = f.add_block_after(copies[copies.len() - 1])?;
        let next = f.add_block_after(latch)?;
        let params: Vec<Value> = f.params(self.header).collect();
        for &param in &params {
            f.append_param(latch, f.ty(param))?;
        }
        redirect_back_edges(f, &map, &places, latch)?;
        fold_branch(f, map.block(exit), 1 - nth)?;
        let number = f.append_param(copy, Type::I64)?;
        let enter = self.params(f).into_iter().chain([zero]);
        f.set_terminator(self.at, Inst::new(f.jump_op()?).edge(copy, enter).at(self.loc))?;
        self.results(f, &map, number, copy)?;
        let state: Vec<Operand> = f.params(latch).map(Operand::from).collect();
        self.at = latch;
        let done = self.push(f, arith::add(number, one))?;
        let more = self.push(f, arith::lt(done, self.count))?;
        let again = state.iter().copied().chain([done]);
        let back = cf::br_if(more, copy, again, next, [] as [Operand; 0]);
        f.set_terminator(latch, back.at(self.loc))?;
        self.at = next;
        self.next(f, left, strip, &state)?;
        for &block in &copies {
            if f.is_live(Value::terminator(block)) {
                merge_after(f, block)?;
            }
        }
        Ok(())
    }

    /// Goes on with the next strip, or with the loop as it was, in this state.
    fn next(
        &mut self,
        f: &mut Function,
        left: Value,
        strip: Block,
        state: &[Operand],
    ) -> IrResult<()> {
        let zero = Operand::from(f.constant_id(0));
        let rest = self.push(f, arith::sub(left, self.count))?;
        let again = self.push(f, arith::lt(zero, rest))?;
        let on = [rest].into_iter().chain(state.iter().copied());
        let on = cf::br_if(again, strip, on, self.header, state.iter().copied());
        f.set_terminator(self.at, on.at(self.loc))
    }

    /// Puts results from the buffer in the place of functions of the copy, which begins with `header`.
    fn results(
        &mut self,
        f: &mut Function,
        map: &CloneMap,
        number: Value,
        header: Block,
    ) -> IrResult<()> {
        let copy = |v: Value| map.value(v).as_value().expect("the copy of an instruction is one");
        for &v in &self.plan.dropped {
            f.delete(copy(v))?;
        }
        let attrs = inbounds(f.ctx());
        // Their elements are there, or the strip would not have been computed.
        for load in &self.plan.schedule.accesses {
            f.set_attrs(copy(load.inst), attrs)?;
        }
        let first = f.first_inst(header).unwrap_or(Value::terminator(header));
        for (inst, place) in self.plan.schedule.strips.iter().flat_map(Strip::results) {
            let v = copy(inst);
            if !f.is_used(v) {
                f.delete(v)?;
                continue;
            }
            let at = f.insert(first, arith::add(number, self.start(place)).at(self.loc))?;
            let loc = f.loc(v);
            f.replace(v, mem::load(self.buffer(), [at]).with_attrs(attrs).at(loc))?;
        }
        Ok(())
    }
}

/// An iteration of a loop that computes what functions are given.
struct Iteration {
    /// The values of the loop in it, by those of the loop.
    map: CloneMap,
    /// Its number in the strip, from 0.
    number: Value,
}
