//! From code under construction to a [`Function`], with numbers in the order of the text.
//!
//! [`super::phis`] says which block parameters there are, [`super::blocks`] which blocks. O(size).

use std::sync::Arc;

use regraft_dialects::{cf, core};
use regraft_ir::{
    Attrs, Block, Const, Context, Function, Inst, IrResult, Loc, Operand, Symbol, Type,
};

use super::blocks::{self, BlockTables, table};
use super::names::is_numbered;
use super::narrow::narrow;
use super::ssa::{BlockId, Body, EdgeIndex, Special, Term, Val, ValKind};

/// The constants and the scratch memory of finishing.
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
    pub(super) phis: PhiTables,
    insts: Vec<Operand>,
    params: Vec<Operand>,
    blocks: Vec<Option<Block>>,
    /// The value without a value of each block of the layout that has one.
    undefs: Vec<Option<Operand>>,
    /// The constants that are functions which test values.
    pub(super) tests: Vec<Val>,
    /// True if the function calls one of them.
    has_tests: bool,
    tables: BlockTables,
    pub(super) stamps: Vec<u32>,
}

/// Tables of block parameters.
#[derive(Debug, Default)]
pub(super) struct PhiTables {
    pub(super) maybe_undef: Vec<bool>,
    pub(super) used: Vec<bool>,
    /// The flag of a parameter: another parameter, or `u32::MAX`.
    pub(super) flags: Vec<u32>,
    pub(super) work: Vec<u32>,
    pub(super) is_flag: Vec<bool>,
    pub(super) value: Vec<Val>,
}

/// The name of a function, and its parameters.
#[derive(Debug)]
pub(super) struct Shape<'a> {
    pub(super) name: &'a str,
    pub(super) params: &'a [Option<Symbol>],
    pub(super) loc: Loc,
}

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
            tests: Vec::new(),
            has_tests: false,
            tables: BlockTables::default(),
            stamps: Vec::new(),
        }
    }

    /// Makes the function. The body is used up.
    pub(super) fn function(&mut self, body: &mut Body, shape: &Shape<'_>) -> IrResult<Function> {
        if body.has_labels {
            blocks::drop_unreachable(body);
        }
        body.layout.retain({
            let blocks = &body.blocks;
            |&block| blocks[block.0 as usize].alive
        });
        if body.ssa.phi_count() > 0 {
            self.settle(body);
        }
        if body.layout.len() > 1 {
            blocks::skip_empty(body, self.yes, &mut self.tables);
        }
        self.emit(body, shape)
    }

    // --- the function --------------------------------------------------------------------------

    fn emit(&mut self, body: &mut Body, shape: &Shape<'_>) -> IrResult<Function> {
        let values = body.insts.len() + body.ssa.phi_count() as usize;
        let operands = body.operands.len() + 4 * body.layout.len();
        let blocks = body.layout.len();
        let mut f =
            Function::with_capacity(&self.ctx, shape.name, Type::ANY, values, blocks, operands);
        f.set_function_loc(shape.loc);
        self.has_tests = false;
        table(&mut self.insts, body.insts.len(), self.consts[0].into());
        table(&mut self.params, body.ssa.phi_count() as usize, self.consts[0].into());
        self.undefs.clear();
        table(&mut self.blocks, body.blocks.len(), None);
        blocks::continued(body, &mut self.tables);
        let continued = std::mem::take(&mut self.tables.continued);
        for (at, &block) in body.layout.iter().enumerate() {
            self.blocks[block.0 as usize] = match continued[at] {
                true => self.blocks[body.layout[at - 1].0 as usize],
                false => Some(f.add_block()),
            };
        }
        let mut undef = None;
        for (at, &continues) in continued.iter().enumerate() {
            let id = body.layout[at];
            if let Some(block) = self.blocks[id.0 as usize] {
                let before = undef.filter(|_| continues);
                let mut emit = Emit { finish: self, f: &mut f, body, id, block, undef: before };
                emit.block(shape)?;
                emit.undef_arguments()?;
                undef = emit.undef;
                self.undefs.push(undef);
            }
        }
        // Edges come last, since no parameter is added to a block that one enters.
        for at in 0..body.layout.len() {
            let id = body.layout[at];
            if let Some(block) = self.blocks[id.0 as usize]
                && !continued.get(at + 1).is_some_and(|&next| next)
            {
                let undef = self.undefs[at];
                Emit { finish: self, f: &mut f, body, id, block, undef }.term()?;
            }
        }
        self.tables.continued = continued;
        if self.has_tests {
            narrow(&mut f)?;
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
        for i in 0..self.body.ssa.phis_of(self.id).len() {
            let phi = self.body.ssa.phis_of(self.id)[i] as usize;
            let param = self.f.append_param(self.block, Type::ANY)?;
            self.finish.params[phi] = param.into();
            let slot = self.body.ssa.phi(phi as u32).variable;
            if let Some(name) = self.body.slot_names[slot.0 as usize]
                && !self.finish.phis.is_flag[phi]
            {
                self.f.name_after(param, name)?;
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
            for i in 0..self.body.ssa.phis_of(to).len() {
                let phi = self.body.ssa.phis_of(to)[i];
                let arg = self.body.ssa.phi(phi).args[edge as usize];
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
                if let Some(&Some(name)) = shape.params.get(index)
                    && !is_numbered(self.finish.ctx.str(name))
                {
                    self.f.name_after(param, name)?;
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
        if inst.op == core::CALL && self.finish.tests.contains(&self.body.operands[start]) {
            self.finish.has_tests = true;
        }
        for at in start..end {
            let value = self.body.operands[at];
            let operand = self.operand(value, inst.loc)?;
            new.operand_list_mut().push(operand);
        }
        let value = self.f.push(self.block, new)?;
        self.finish.insts[index] = value.into();
        if let Some(name) = inst.name
            && self.f.value_named(name).is_none()
        {
            self.f.name_after(value, name)?;
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
                new = Inst::new(cf::RETURN).at(loc).with_type(Type::NEVER).operand(value);
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
        for i in 0..self.body.ssa.phis_of(to).len() {
            let phi = self.body.ssa.phis_of(to)[i];
            let arg = self.body.ssa.phi(phi).args[edge as usize];
            let operand = self.operand(arg, loc)?;
            inst.operand_list_mut().push(operand);
        }
        Ok(())
    }
}
