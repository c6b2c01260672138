//! From code under construction to a [`Function`]: which block parameters there are in the end,
//! where variables may be undefined, and numbers in the order of the text.
//!
//! Parameters that stand for one value are found optimistically: each is taken to be whatever its
//! arguments agree on, until they do not. This leaves as few as there can be, in irreducible
//! graphs too (the sets of section 3.2 of Braun et al. 2013 are found at once). A parameter that
//! is not used goes. Those of a loop stand in the order in which the loop assigns its variables.
//!
//! A check that a variable is defined is kept where a path without an assignment leads to it; it
//! asks a flag, which is a parameter beside the one that holds the value.
//!
//! O(size), times the number of passes over the parameters, which is small for code without `@goto`.

use std::sync::Arc;

use regraft_dialects::{cf, core};
use regraft_ir::{
    Attrs, Block, Const, Context, Function, Inst, IrResult, Loc, Operand, Symbol, Type,
};
use rustc_hash::FxHashSet;

use super::ssa::{BlockId, Body, EdgeIndex, PhiData, Special, Term, Val, ValKind};

/// What finishing needs to know of the program, and room for it to work in.
#[derive(Debug)]
pub(super) struct Finish {
    pub(super) ctx: Arc<Context>,
    /// The constants that [`ValKind::Const`] names.
    pub(super) consts: Vec<Const>,
    pub(super) no: Val,
    pub(super) yes: Val,
    /// The function that a check calls.
    pub(super) check: Const,
    pub(super) inbounds: Attrs,
    phis: PhiTables,
    insts: Vec<Operand>,
    params: Vec<Operand>,
    blocks: Vec<Option<Block>>,
    /// The value without a value of each block of the layout that has one.
    undefs: Vec<Option<Operand>>,
    named: FxHashSet<Symbol>,
    stamps: Vec<u32>,
}

#[derive(Debug, Default)]
struct PhiTables {
    maybe_undef: Vec<bool>,
    used: Vec<bool>,
    /// The flag of a parameter: another parameter, or `u32::MAX`.
    flags: Vec<u32>,
    work: Vec<u32>,
    is_flag: Vec<bool>,
    value: Vec<Val>,
}

/// What a function is called, and its parameters.
#[derive(Debug)]
pub(super) struct Shape<'a> {
    pub(super) name: &'a str,
    pub(super) params: &'a [Option<Symbol>],
    pub(super) loc: Loc,
}

const NO_FLAG: u32 = u32::MAX;

impl Finish {
    pub(super) fn new(ctx: &Arc<Context>) -> Self {
        let consts: Vec<Const> = vec![ctx.constant_id(false), ctx.constant_id(true)];
        let check = regraft_ir::Constant::Func(ctx.symbol("#check_defined"));
        Self {
            ctx: Arc::clone(ctx),
            inbounds: ctx.attrs(&[(ctx.symbol("inbounds"), consts[1])]),
            check: ctx.constant_id(check),
            consts,
            no: Val::constant(0),
            yes: Val::constant(1),
            phis: PhiTables::default(),
            insts: Vec::new(),
            params: Vec::new(),
            blocks: Vec::new(),
            undefs: Vec::new(),
            named: FxHashSet::default(),
            stamps: Vec::new(),
        }
    }

    /// Makes the function. The body is used up.
    pub(super) fn function(&mut self, body: &mut Body, shape: &Shape<'_>) -> IrResult<Function> {
        if body.has_labels {
            drop_unreachable(body);
        }
        body.layout.retain({
            let blocks = &body.blocks;
            |&block| blocks[block.0 as usize].alive
        });
        if !body.phis.is_empty() {
            self.settle(body);
        }
        self.emit(body, shape)
    }

    // --- block parameters ----------------------------------------------------------------------

    fn settle(&mut self, body: &mut Body) {
        self.merge_equal(body);
        self.find_undefined(body);
        self.mark_used(body);
        self.sort(body);
    }

    fn merge_equal(&mut self, body: &mut Body) {
        // In most functions everything is settled already, and one pass shows it.
        let mut left: Vec<u32> = Vec::new();
        for phi in 0..body.phis.len() as u32 {
            if body.is_live_phi(phi) && !body.simplify(phi) {
                left.push(phi);
            }
        }
        if left.is_empty() {
            return;
        }
        let value = &mut self.phis.value;
        value.clear();
        value.resize(body.phis.len(), Val::UNDEF);
        // `known` tells "nothing yet" from "undefined".
        let mut known = vec![false; body.phis.len()];
        let mut changes = vec![0u8; body.phis.len()];
        let mut again = true;
        while again {
            again = false;
            for &phi in &left {
                let own = Val::phi(phi);
                if known[phi as usize] && value[phi as usize] == own {
                    continue;
                }
                let mut meet: Option<Val> = None;
                for i in 0..body.phis[phi as usize].args.len() {
                    let arg = body.phis[phi as usize].args[i];
                    let mut arg = body.find(arg);
                    if let ValKind::Phi(index) = arg.kind() {
                        if !known[index as usize] {
                            continue;
                        }
                        arg = value[index as usize];
                    }
                    if arg == own {
                        continue;
                    }
                    match meet {
                        None => meet = Some(arg),
                        Some(other) if other == arg => {}
                        Some(_) => meet = Some(own),
                    }
                    if meet == Some(own) {
                        break;
                    }
                }
                let Some(mut new) = meet else { continue };
                let at = phi as usize;
                if known[at] && value[at] == new {
                    continue;
                }
                changes[at] += 1;
                if changes[at] > 8 {
                    new = own;
                }
                (known[at], value[at]) = (true, new);
                again = true;
            }
        }
        for &phi in &left {
            // One that nothing flows into stands in code that is not reached.
            let new = if known[phi as usize] { value[phi as usize] } else { Val::UNDEF };
            if new != Val::phi(phi) {
                body.forward(phi, new);
            }
        }
    }

    /// Finds the parameters that may have no value: those that [`Val::UNDEF`] flows into.
    fn find_undefined(&mut self, body: &mut Body) {
        let tables = &mut self.phis;
        tables.maybe_undef.clear();
        tables.maybe_undef.resize(body.phis.len(), false);
        let mut again = true;
        let mut backwards = false;
        while again {
            again = false;
            let count = body.phis.len() as u32;
            for i in 0..count {
                let phi = if backwards { count - 1 - i } else { i };
                if tables.maybe_undef[phi as usize] || !body.is_live_phi(phi) {
                    continue;
                }
                let undefined = (0..body.phis[phi as usize].args.len()).any(|i| {
                    let arg = body.phis[phi as usize].args[i];
                    match body.find(arg).kind() {
                        ValKind::Undef => true,
                        ValKind::Phi(index) => tables.maybe_undef[index as usize],
                        _ => false,
                    }
                });
                if undefined {
                    tables.maybe_undef[phi as usize] = true;
                    again = true;
                }
            }
            backwards = !backwards;
        }
    }

    /// Marks the parameters that something uses, and makes the flags that checks ask.
    fn mark_used(&mut self, body: &mut Body) {
        let count = body.phis.len();
        self.phis.used.clear();
        self.phis.used.resize(count, false);
        self.phis.flags.clear();
        self.phis.flags.resize(count, NO_FLAG);
        self.phis.work.clear();
        self.phis.is_flag.clear();
        self.phis.is_flag.resize(count, false);
        for i in 0..body.layout.len() {
            let block = body.layout[i].0 as usize;
            let (start, end) = body.blocks[block].insts;
            for index in start..end {
                let inst = body.insts[index as usize];
                if inst.special == Special::Check {
                    self.keep_check(body, inst.start as usize);
                    continue;
                }
                for at in inst.start..inst.start + inst.len {
                    let value = body.operands[at as usize];
                    self.use_value(body, value);
                }
            }
            if let Term::Branch(value, _) | Term::Return(value) = body.blocks[block].term {
                self.use_value(body, value);
            }
        }
        while let Some(phi) = self.phis.work.pop() {
            for i in 0..body.phis[phi as usize].args.len() {
                let arg = body.phis[phi as usize].args[i];
                self.use_value(body, arg);
            }
        }
    }

    fn use_value(&mut self, body: &mut Body, value: Val) {
        if let ValKind::Phi(index) = body.find(value).kind()
            && !std::mem::replace(&mut self.phis.used[index as usize], true)
        {
            self.phis.work.push(index);
        }
    }

    /// Replaces the first operand of a check, the value of a variable, by the flag that tells
    /// whether it is there: `true` if that is sure.
    fn keep_check(&mut self, body: &mut Body, operand: usize) {
        let value = body.find(body.operands[operand]);
        let flag = self.flag(body, value);
        body.operands[operand] = flag;
        self.use_value(body, flag);
    }

    fn flag(&mut self, body: &mut Body, value: Val) -> Val {
        let first = match self.flag_of(value) {
            Ok(flag) => return flag,
            Err(phi) => phi,
        };
        let flag = self.new_flag(body, first);
        let mut work = vec![first];
        while let Some(phi) = work.pop() {
            let own = self.phis.flags[phi as usize];
            for i in 0..body.phis[phi as usize].args.len() {
                let arg = body.phis[phi as usize].args[i];
                let arg = body.find(arg);
                let arg = self.flag_of(arg).unwrap_or_else(|inner| {
                    work.push(inner);
                    self.new_flag(body, inner)
                });
                body.phis[own as usize].args.push(arg);
            }
        }
        flag
    }

    /// Whether a value is there, or the parameter that has no flag yet.
    fn flag_of(&self, value: Val) -> Result<Val, u32> {
        match value.kind() {
            ValKind::Undef => Ok(self.no),
            ValKind::Phi(phi) if self.phis.maybe_undef[phi as usize] => {
                match self.phis.flags[phi as usize] {
                    NO_FLAG => Err(phi),
                    flag => Ok(Val::phi(flag)),
                }
            }
            _ => Ok(self.yes),
        }
    }

    fn new_flag(&mut self, body: &mut Body, phi: u32) -> Val {
        let PhiData { block, slot, .. } = body.phis[phi as usize];
        let flag = body.add_phi(block, slot);
        self.phis.flags[phi as usize] = flag;
        self.phis.flags.push(NO_FLAG);
        self.phis.used.push(false);
        self.phis.maybe_undef.push(false);
        self.phis.is_flag.push(true);
        Val::phi(flag)
    }

    /// Drops the parameters that are not used and puts the others in order.
    fn sort(&mut self, body: &mut Body) {
        let slots = body.slot_names.len();
        self.stamps.clear();
        self.stamps.resize(slots, u32::MAX);
        for i in 0..body.layout.len() {
            let block = body.layout[i];
            let mut phis = std::mem::take(&mut body.blocks[block.0 as usize].phis);
            phis.retain(|phi| self.phis.used[*phi as usize] && body.is_live_phi(*phi));
            if phis.len() > 1 {
                let (start, end) = body.blocks[block.0 as usize].order;
                let order = &body.orders[start as usize..end as usize];
                for (at, slot) in order.iter().enumerate() {
                    self.stamps[slot.0 as usize] = at as u32;
                }
                phis.sort_by_key(|&phi| {
                    let slot = body.phis[phi as usize].slot.0;
                    (self.stamps[slot as usize], slot, phi)
                });
                for slot in order {
                    self.stamps[slot.0 as usize] = u32::MAX;
                }
            }
            body.blocks[block.0 as usize].phis = phis;
        }
    }

    // --- the function --------------------------------------------------------------------------

    fn emit(&mut self, body: &mut Body, shape: &Shape<'_>) -> IrResult<Function> {
        let values = body.insts.len() + body.phis.len();
        let operands = body.operands.len() + 4 * body.layout.len();
        let mut f = Function::with_capacity(&self.ctx, shape.name, Type::ANY, values, operands);
        f.set_function_loc(shape.loc);
        self.named.clear();
        self.insts.clear();
        self.insts.resize(body.insts.len(), self.consts[0].into());
        self.params.clear();
        self.params.resize(body.phis.len(), self.consts[0].into());
        self.undefs.clear();
        self.blocks.clear();
        self.blocks.resize(body.blocks.len(), None);
        for &block in &body.layout {
            self.blocks[block.0 as usize] = Some(f.add_block());
        }
        for i in 0..body.layout.len() {
            let id = body.layout[i];
            if let Some(block) = self.blocks[id.0 as usize] {
                let mut emit = Emit { finish: self, f: &mut f, body, id, block, undef: None };
                emit.block(shape)?;
                emit.undef_arguments()?;
                let undef = emit.undef;
                self.undefs.push(undef);
            }
        }
        // Edges come last, since no parameter is added to a block that one enters.
        for i in 0..body.layout.len() {
            let id = body.layout[i];
            if let Some(block) = self.blocks[id.0 as usize] {
                let undef = self.undefs[i];
                Emit { finish: self, f: &mut f, body, id, block, undef }.term()?;
            }
        }
        Ok(f)
    }
}

/// One block on its way into the function.
struct Emit<'a> {
    finish: &'a mut Finish,
    f: &'a mut Function,
    body: &'a mut Body,
    id: BlockId,
    block: Block,
    /// The value without a value, once the block has it.
    undef: Option<Operand>,
}

impl Emit<'_> {
    fn block(&mut self, shape: &Shape<'_>) -> IrResult<()> {
        let index = self.id.0 as usize;
        for i in 0..self.body.blocks[index].phis.len() {
            let phi = self.body.blocks[index].phis[i] as usize;
            let param = self.f.append_param(self.block, Type::ANY)?;
            self.finish.params[phi] = param.into();
            let slot = self.body.phis[phi].slot;
            if let Some(name) = self.body.slot_names[slot.0 as usize]
                && !self.finish.phis.is_flag[phi]
            {
                self.f.set_name_of(param, Some(self.finish.ctx.str(name)))?;
                self.finish.named.insert(name);
            }
        }
        let (start, end) = self.body.blocks[index].insts;
        for inst in start..end {
            self.inst(inst as usize, shape)?;
        }
        Ok(())
    }

    /// Makes what edges pass for variables without a value, where it is passed.
    fn undef_arguments(&mut self) -> IrResult<()> {
        let data = &self.body.blocks[self.id.0 as usize];
        let loc = data.loc;
        let edges = match data.term {
            Term::Jump(to, at) => [Some((to, at)), None],
            Term::Branch(_, [then, otherwise]) => [Some(then), Some(otherwise)],
            Term::Return(_) | Term::None => [None, None],
        };
        for (to, edge) in edges.into_iter().flatten() {
            for i in 0..self.body.blocks[to.0 as usize].phis.len() {
                let phi = self.body.blocks[to.0 as usize].phis[i];
                let arg = self.body.phis[phi as usize].args[edge as usize];
                if self.body.find(arg) == Val::UNDEF {
                    self.operand(Val::UNDEF, loc)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn inst(&mut self, index: usize, shape: &Shape<'_>) -> IrResult<()> {
        let inst = self.body.insts[index];
        let (start, end) = (inst.start as usize, (inst.start + inst.len) as usize);
        let mut new = Inst::new(inst.op).at(inst.loc);
        match inst.special {
            Special::None => {}
            Special::Inbounds => new = new.with_attrs(self.finish.inbounds),
            Special::Param => {
                let param = self.f.append_param(self.block, Type::ANY)?;
                self.finish.insts[index] = param.into();
                if let Some(&Some(name)) = shape.params.get(index) {
                    self.f.set_name_of(param, Some(self.finish.ctx.str(name)))?;
                    self.finish.named.insert(name);
                }
                return Ok(());
            }
            Special::Check => {
                let flag = match self.body.operands[start] {
                    flag if flag == self.finish.yes => return Ok(()),
                    Val::UNDEF => self.finish.no,
                    flag => flag,
                };
                self.body.operands[start] = flag;
                new = new.operand(self.finish.check);
            }
        }
        for at in start..end {
            let value = self.body.operands[at];
            let operand = self.operand(value, inst.loc)?;
            new.operand_list_mut().push(operand);
        }
        let value = self.f.push(self.block, new)?;
        self.finish.insts[index] = value.into();
        if let Some(name) = inst.name
            && self.finish.named.insert(name)
        {
            self.f.set_name_of(value, Some(self.finish.ctx.str(name)))?;
        }
        Ok(())
    }

    #[inline]
    fn operand(&mut self, value: Val, loc: Loc) -> IrResult<Operand> {
        Ok(match self.body.find(value).kind() {
            ValKind::Inst(index) => self.finish.insts[index as usize],
            ValKind::Phi(index) => self.finish.params[index as usize],
            ValKind::Const(index) => self.finish.consts[index as usize].into(),
            ValKind::Undef => match self.undef {
                Some(undef) => undef,
                None => {
                    let undef = self.f.push(self.block, Inst::new(core::UNDEF).at(loc))?.into();
                    *self.undef.insert(undef)
                }
            },
        })
    }

    fn term(&mut self) -> IrResult<()> {
        let loc = self.body.blocks[self.id.0 as usize].loc;
        // The arguments are right by construction: with a type, the edges are not looked at.
        let mut new = Inst::new(cf::BR).at(loc).with_type(Type::NEVER);
        match self.body.blocks[self.id.0 as usize].term {
            Term::None => new = Inst::new(cf::UNREACHABLE).at(loc),
            Term::Return(value) => {
                let value = self.operand(value, loc)?;
                new = Inst::new(cf::RETURN).at(loc).operand(value);
            }
            Term::Jump(to, edge) => self.edge(&mut new, to, edge)?,
            Term::Branch(condition, edges) => {
                let condition = self.operand(condition, loc)?;
                new = new.operand(condition);
                for (to, edge) in edges {
                    self.edge(&mut new, to, edge)?;
                }
            }
        }
        self.f.set_terminator(self.block, new)
    }

    fn edge(&mut self, inst: &mut Inst, to: BlockId, edge: EdgeIndex) -> IrResult<()> {
        let Some(target) = self.finish.blocks[to.0 as usize] else { return Ok(()) };
        let loc = self.body.blocks[self.id.0 as usize].loc;
        inst.operand_list_mut().push(target.into());
        for i in 0..self.body.blocks[to.0 as usize].phis.len() {
            let phi = self.body.blocks[to.0 as usize].phis[i];
            let arg = self.body.phis[phi as usize].args[edge as usize];
            let operand = self.operand(arg, loc)?;
            inst.operand_list_mut().push(operand);
        }
        Ok(())
    }
}

/// Finds the blocks that control gets to, puts them in an order in which what is used stands after
/// what it uses (reverse postorder), and forgets the edges that leave others.
fn drop_unreachable(body: &mut Body) {
    let successors =
        |body: &Body, block: BlockId, which: usize| match body.blocks[block.0 as usize].term {
            Term::Jump(to, _) if which == 0 => Some(to),
            // The second comes first, so that the first stands before it in the end.
            Term::Branch(_, edges) => edges.get(1usize.wrapping_sub(which)).map(|&(to, _)| to),
            _ => None,
        };
    for block in &mut body.blocks {
        block.alive = false;
    }
    let entry = BlockId(0);
    body.blocks[0].alive = true;
    let mut order = Vec::with_capacity(body.layout.len());
    let mut stack = vec![(entry, 0)];
    while let Some((block, which)) = stack.last_mut() {
        let block = *block;
        match successors(body, block, *which) {
            Some(next) => {
                *which += 1;
                if !std::mem::replace(&mut body.blocks[next.0 as usize].alive, true) {
                    stack.push((next, 0));
                }
            }
            None => {
                order.push(block);
                stack.pop();
            }
        }
    }
    order.reverse();
    body.layout = order;
    for phi in 0..body.phis.len() {
        let block = body.phis[phi].block;
        for i in 0..body.phis[phi].args.len() {
            let pred = body.blocks[block.0 as usize].preds[i];
            if !body.blocks[pred.0 as usize].alive {
                body.phis[phi].args[i] = Val::phi(phi as u32);
            }
        }
    }
}
