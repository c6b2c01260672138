//! New code that computes slices of a loop nest, in loops of its own.
//!
//! The code is made from the outside inwards: a loop is opened, what belongs into its body is asked
//! for, and it is closed. Each instruction goes to the outermost of the open loops where its operands
//! are known. So what does not depend on a loop is computed before it, inner loops included.
//!
//! A load stays in the loop that it was in if that is a copy of an inner loop, which may run not
//! even once. Of the loops that were opened one by one, whoever opens them has made sure that they run.

use regraft_dialects::{arith, cf};
use regraft_ir::{Block, Function, Inst, IrResult, Operand, Value};
use rustc_hash::FxHashMap;

use super::slice::{Slice, Slices, passed};
use crate::analysis::LoopId;
use crate::transforms::util::edit::name_copy;

/// An open loop, or the code before all of them.
struct Scope {
    l: Option<LoopId>,
    /// True if it is a copy of a loop in the slice of a value.
    is_copy: bool,
    header: Block,
    /// The block that code goes to, before its terminator.
    block: Block,
    /// The block behind the loop.
    after: Block,
    /// The parameters of the original header, with those of the new one.
    params: Vec<(Value, Value)>,
    /// A parameter of the new header alone.
    extra: Option<Value>,
    values: FxHashMap<Value, Operand>,
}

impl Scope {
    /// Of code in one block, without a loop of its own.
    fn in_block(l: Option<LoopId>, block: Block, values: FxHashMap<Value, Operand>) -> Self {
        Self {
            l,
            is_copy: false,
            header: block,
            block,
            after: block,
            params: Vec::new(),
            extra: None,
            values,
        }
    }
}

/// Makes the code of slices of a nest.
pub(super) struct Emitter<'a> {
    slices: &'a Slices<'a>,
    scopes: Vec<Scope>,
}

impl<'a> Emitter<'a> {
    /// Code goes to the end of `block`.
    pub(super) fn new(slices: &'a Slices<'a>, block: Block) -> Self {
        Self { slices, scopes: vec![Scope::in_block(None, block, FxHashMap::default())] }
    }

    fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("there is an outermost one")
    }

    /// The block that code goes to at the moment.
    pub(super) fn block(&self) -> Block {
        self.scopes[self.scopes.len() - 1].block
    }

    /// Lets all that comes after the end of the present block be skipped unless `condition` holds.
    /// Returns the block where both ways meet.
    pub(super) fn guard(&mut self, f: &mut Function, condition: Value) -> IrResult<Block> {
        let block = self.block();
        let after = f.split_block(Value::terminator(block))?;
        let inside = f.add_block_after(block)?;
        f.set_terminator(inside, cf::jump(after))?;
        f.set_terminator(block, cf::jump_if(condition, inside, after))?;
        self.scope().block = inside;
        Ok(after)
    }

    /// Computes whether all of some loops, that depend on no other loop, run at least once.
    pub(super) fn all_run(
        &mut self,
        f: &mut Function,
        loops: &[LoopId],
    ) -> IrResult<Option<Value>> {
        let mut all: Option<Value> = None;
        for &l in loops {
            let of = self.slices.nest.get(l);
            let block = self.block();
            let needed = of.test.as_value().map(|test| self.slices.known(f, test, l));
            let mut first = FxHashMap::default();
            for param in needed.unwrap_or_default().params {
                first.insert(param, self.initial(f, l, param)?);
            }
            self.scopes.push(Scope::in_block(Some(l), block, first));
            let test = self.emit(f, of.test, l)?;
            self.scopes.pop();
            let runs = match of.leaves_if {
                true => f.push(block, arith::not(test))?.into(),
                false => test,
            };
            all = match (all, runs.as_value()) {
                (Some(all), _) => Some(f.push(block, arith::and(all, runs))?),
                (None, Some(runs)) => Some(runs),
                (None, None) => Some(f.push(block, arith::and(runs, runs))?),
            };
        }
        Ok(all)
    }

    /// The first value of a parameter of the header of a loop.
    fn initial(&mut self, f: &mut Function, l: LoopId, param: Value) -> IrResult<Operand> {
        let nest = self.slices.nest;
        let of = nest.get(l);
        let initial = of.initial[position_of(f, of.header, param)];
        match of.parent {
            Some(parent) if l != nest.root => self.emit(f, initial, parent),
            _ => Ok(initial),
        }
    }

    /// Opens a loop that runs as one of the nest, with some of the parameters of its header, and one
    /// that begins with `extra`.
    pub(super) fn open(
        &mut self,
        f: &mut Function,
        l: LoopId,
        params: &[Value],
        extra: Option<Operand>,
    ) -> IrResult<()> {
        self.open_as(f, l, params, extra, false)
    }

    fn open_as(
        &mut self,
        f: &mut Function,
        l: LoopId,
        params: &[Value],
        extra: Option<Operand>,
        is_copy: bool,
    ) -> IrResult<()> {
        let of = self.slices.nest.get(l);
        let mut initial = Vec::with_capacity(params.len() + 1);
        for &param in params {
            initial.push(self.initial(f, l, param)?);
        }
        initial.extend(extra);
        let before = self.block();
        let loc = f.loc(Value::terminator(of.header));
        let after = f.split_block(Value::terminator(before))?;
        let header = f.add_block_after(before)?;
        let body = f.add_block_after(header)?;
        let mut pairs = Vec::with_capacity(params.len());
        let mut values = FxHashMap::default();
        for &param in params {
            let new = f.append_param(header, f.ty(param))?;
            name_copy(f, param, new)?;
            pairs.push((param, new));
            values.insert(param, new.into());
        }
        let extra = match extra {
            Some(extra) => Some(f.append_param(header, f.operand_type(extra))?),
            None => None,
        };
        f.set_terminator(before, cf::br(header, initial))?;
        f.set_terminator(header, cf::jump(body))?;
        let again: Vec<Operand> = f.params(header).map(Operand::from).collect();
        f.set_terminator(body, cf::br(header, again))?;
        let block = header;
        let scope =
            Scope { l: Some(l), is_copy, header, block, after, params: pairs, extra, values };
        self.scopes.push(scope);
        let test = self.emit(f, of.test, l)?;
        let branch = match of.leaves_if {
            true => cf::jump_if(test, after, body),
            false => cf::jump_if(test, body, after),
        };
        f.set_terminator(header, branch.at(loc))?;
        self.scope().block = body;
        Ok(())
    }

    /// The parameter of the innermost open loop that it was opened with beside those of the header.
    pub(super) fn extra(&self) -> Option<Value> {
        self.scopes.last().and_then(|scope| scope.extra)
    }

    /// Closes the innermost open loop; `extra` is the next value of its own parameter.
    pub(super) fn close(&mut self, f: &mut Function, extra: Option<Operand>) -> IrResult<()> {
        let (l, params) = {
            let scope = self.scope();
            (scope.l, scope.params.clone())
        };
        let Some(l) = l else { return Ok(()) };
        let of = self.slices.nest.get(l);
        let mut next = Vec::with_capacity(params.len() + 1);
        for &(param, _) in &params {
            let position = position_of(f, of.header, param);
            next.push(self.emit(f, of.next[position], l)?);
        }
        next.extend(extra);
        let Some(scope) = self.scopes.pop() else { return Ok(()) };
        let at = f.loc(Value::terminator(of.latch));
        f.set_terminator(scope.block, cf::br(scope.header, next).at(at))?;
        self.scope().block = scope.after;
        Ok(())
    }

    /// Returns an operand of the nest, used in one of its loops, in the new code.
    pub(super) fn emit(
        &mut self,
        f: &mut Function,
        operand: Operand,
        used_in: LoopId,
    ) -> IrResult<Operand> {
        let Some(v) = operand.as_value() else { return Ok(operand) };
        if let Some(&known) = self.scopes.iter().rev().find_map(|scope| scope.values.get(&v)) {
            return Ok(known);
        }
        let nest = self.slices.nest;
        let home = f.block_of(v);
        if !nest.contains(home) {
            return Ok(operand);
        }
        let slice = self.slices.known(f, v, used_in);
        if self.slices.is_result(f, v, used_in) {
            return self.emit_loop(f, v, &slice);
        }
        let l = nest.loop_of(home);
        if f.is_param(v) {
            return match passed(f, v) {
                Some(argument) => self.emit(f, argument, l),
                None => Ok(operand),
            };
        }
        let mut operands = Vec::with_capacity(f.operand_count(v));
        for operand in f.operands(v).collect::<Vec<_>>() {
            operands.push(self.emit(f, operand, l)?);
        }
        let level = self.level(f, &slice);
        let new = f.push(self.scopes[level].block, copy_of(f, v, &operands))?;
        name_copy(f, v, new)?;
        self.scopes[level].values.insert(v, new.into());
        Ok(new.into())
    }

    /// Makes a copy of the loop that `v` is a result of.
    fn emit_loop(&mut self, f: &mut Function, v: Value, slice: &Slice) -> IrResult<Operand> {
        let Some(l) = self.slices.nest.header_of(f, v) else { return Ok(v.into()) };
        let level = self.level(f, slice);
        let inner = self.scopes.split_off(level + 1);
        let slices = self.slices;
        self.open_as(f, l, slices.carried(v), None, true)?;
        let params = self.scopes[level + 1].params.clone();
        self.close(f, None)?;
        for (param, new) in params {
            self.scopes[level].values.insert(param, new.into());
        }
        self.scopes.extend(inner);
        Ok(self.scopes[level].values.get(&v).copied().unwrap_or(v.into()))
    }

    /// The outermost open loop in which all that a slice needs is known.
    fn level(&self, f: &Function, slice: &Slice) -> usize {
        let nest = self.slices.nest;
        let is_needed = |scope: &Scope| {
            let Some(l) = scope.l else { return false };
            let header = nest.get(l).header;
            slice.params.iter().any(|&param| f.block_of(param) == header)
                || scope.is_copy
                    && slice.loads.iter().any(|&load| nest.forest.contains(l, f.block_of(load)))
        };
        self.scopes.iter().rposition(is_needed).unwrap_or(0)
    }
}

/// Opens loops, one in the other, closes them again, and returns what `add` has made of `start` in
/// all iterations.
pub(super) fn sum_over(
    f: &mut Function,
    emitter: &mut Emitter<'_>,
    loops: &[(LoopId, &[Value])],
    start: Operand,
    add: impl FnOnce(&mut Function, &mut Emitter<'_>, Operand) -> IrResult<Operand>,
) -> IrResult<Operand> {
    let mut sum = start;
    let mut sums: Vec<Value> = Vec::new();
    for &(l, params) in loops {
        emitter.open(f, l, params, Some(sum))?;
        let Some(extra) = emitter.extra() else { continue };
        sum = extra.into();
        sums.push(extra);
    }
    let mut next = add(f, emitter, sum)?;
    for &sum in sums.iter().rev() {
        emitter.close(f, Some(next))?;
        next = sum.into();
    }
    Ok(next)
}

/// The instruction `v` with other operands.
pub(super) fn copy_of(f: &Function, v: Value, operands: &[Operand]) -> Inst {
    let mut inst = f.statement(v);
    for (old, &new) in inst.operand_list_mut().iter_mut().zip(operands) {
        *old = new;
    }
    inst.made_from(v)
}

fn position_of(f: &Function, header: Block, param: Value) -> usize {
    f.params(header).position(|p| p == param).expect("it is a parameter of the header")
}
