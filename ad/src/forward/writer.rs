//! The derivative of one function: its blocks, and instructions that are put into them.

use std::sync::Arc;

use regraft_ir::{
    Block, Constant, ControlFlow, Function, Inst, IrError, Loc, Operand, OperandKind, Symbol, Type,
    Value,
};

use smallvec::SmallVec;

use super::Driver;
use crate::activity::{Activity, ActivityId};

/// The tangents of a value: one for each direction.
pub(super) type Dual = SmallVec<[Operand; 1]>;

/// Writes the derivative of a function.
pub(super) struct Writer<'a, 'm> {
    pub(super) driver: &'a mut Driver<'m>,
    pub(super) request: usize,
    pub(super) context: ActivityId,
    /// The function that is differentiated.
    pub(super) from: &'m Function,
    /// Its derivative.
    pub(super) to: Function,
    /// The operands that stand for each value.
    pub(super) values: Vec<Option<Operand>>,
    /// The tangents of each value that has some.
    pub(super) tangents: Vec<Option<Dual>>,
    pub(super) blocks: Vec<Option<Block>>,
    /// The block that instructions go to, and what they get as their location and origin.
    pub(super) block: Option<Block>,
    pub(super) loc: Loc,
    pub(super) made_from: Option<Value>,
    failed: Option<IrError>,
}

impl<'a, 'm> Writer<'a, 'm> {
    /// The derivative that a request asks for.
    pub(super) fn write(driver: &'a mut Driver<'m>, request: usize) -> Function {
        let context = driver.requests[request].context;
        let (id, from, _) = driver.signature(context);
        let (params, ret) = driver.types(context);
        let ctx = driver.module.ctx();
        let name = ctx.str(driver.requests[request].name).to_owned();
        let mut to = Function::new(ctx, &name, &params, ret);
        to.set_function_attrs(driver.attrs(id));
        to.set_function_loc(from.function_loc());
        to.set_provenance(Some(ctx.symbol("forward-diff")));
        let mut writer = Self {
            values: vec![None; from.value_capacity()],
            tangents: vec![None; from.value_capacity()],
            blocks: vec![None; from.block_capacity()],
            block: to.entry(),
            driver,
            request,
            context,
            from,
            to,
            loc: Loc::UNKNOWN,
            made_from: None,
            failed: None,
        };
        writer.run();
        if let Some(error) = writer.failed.take() {
            let message = error.message().to_owned();
            writer.driver.error(request, from.function_loc(), message, "here");
        }
        let mut to = writer.to;
        to.set_provenance(None);
        to
    }

    fn run(&mut self) {
        let Some(entry) = self.from.entry() else { return };
        let cfg = ControlFlow::compute(self.from);
        self.name_params(entry);
        self.make_blocks(&cfg);
        self.enter(entry);
        for block in cfg.reverse_postorder() {
            self.block = self.blocks[block.index()];
            let returns = self.driver.all.activity(self.context).returns(block);
            for v in self.from.body(block) {
                self.loc = self.from.loc(v);
                self.made_from = None;
                if returns { self.statement(v) } else { self.copy(v) }
            }
            self.end(block);
        }
    }

    /// The parameters keep their names, wherever else these are wanted.
    fn name_params(&mut self, entry: Block) {
        let Some(start) = self.to.entry() else { return };
        let given: Vec<Value> = self.to.params(start).collect();
        let passed = self.driver.all.passed(self.context).to_vec();
        let params: Vec<Value> = self.from.params(entry).collect();
        let (given, tangents) = given.split_at(params.len());
        let with_tangent = params.iter().zip(passed).filter(|&(_, passed)| passed);
        let with_tangent: Vec<Value> = with_tangent.map(|(&param, _)| param).collect();
        for (&param, &given) in params.iter().zip(given) {
            if let Some(name) = self.from.value_symbol(param) {
                self.name(given.into(), name);
            }
        }
        for (&param, &tangent) in with_tangent.iter().zip(tangents) {
            if let Some(name) = self.from.value_symbol(param) {
                let name = self.tangent_name(name);
                self.name(tangent.into(), name);
            }
        }
    }

    /// The tangent of `x` is called `dx`.
    pub(super) fn tangent_name(&self, name: Symbol) -> Symbol {
        let ctx = self.driver.module.ctx();
        ctx.symbol(&format!("d{}", ctx.str(name)))
    }

    pub(super) fn ctx(&self) -> Arc<regraft_ir::Context> {
        Arc::clone(self.driver.module.ctx())
    }

    pub(super) fn activity(&self) -> &Activity {
        self.driver.all.activity(self.context)
    }

    pub(super) fn is_active(&self, v: Value) -> bool {
        self.activity().is_active(v)
    }

    pub(super) fn operand_is_active(&self, old: Operand) -> bool {
        old.as_value().is_some_and(|v| self.is_active(v))
    }

    /// Appends an instruction where instructions go.
    pub(super) fn emit(&mut self, inst: Inst) -> Operand {
        let mut inst = inst.at(self.loc);
        if let Some(from) = self.made_from {
            inst = inst.made_from(from);
        }
        let Some(block) = self.block.filter(|_| self.failed.is_none()) else {
            return self.constant(Constant::Unit);
        };
        match self.to.push(block, inst) {
            Ok(v) => v.into(),
            Err(error) => {
                self.failed = Some(error);
                self.constant(Constant::Unit)
            }
        }
    }

    /// Ends the block where instructions go.
    pub(super) fn terminate(&mut self, inst: Inst) {
        let Some(block) = self.block.filter(|_| self.failed.is_none()) else { return };
        let inst = inst.at(self.loc).with_type(Type::NEVER);
        if let Err(error) = self.to.set_terminator(block, inst) {
            self.failed = Some(error);
        }
    }

    pub(super) fn fail(&mut self, error: IrError) {
        self.failed.get_or_insert(error);
    }

    pub(super) fn constant(&self, constant: impl Into<Constant>) -> Operand {
        self.driver.module.ctx().constant_id(constant).into()
    }

    /// Notes that something has no derivative.
    pub(super) fn error(&mut self, message: String, label: &str) {
        self.driver.error(self.request, self.loc, message, label);
    }

    /// The operand that stands for an operand.
    pub(super) fn operand(&self, old: Operand) -> Operand {
        match old.kind() {
            OperandKind::Const(_) => old,
            OperandKind::Value(v) => self.values[v.index()].expect("definitions dominate uses"),
            OperandKind::Block(block) => {
                self.blocks[block.index()].expect("reachable blocks are made first").into()
            }
        }
    }

    /// An instruction as it is.
    pub(super) fn copy(&mut self, v: Value) {
        let operands: Vec<Operand> = self.from.operands(v).map(|old| self.operand(old)).collect();
        let mut inst = self.from.statement(v);
        inst.operand_list_mut().copy_from_slice(&operands);
        let copy = self.emit(inst);
        self.define(v, copy);
    }

    /// Lets `copy` stand for `v`.
    pub(super) fn define(&mut self, v: Value, copy: Operand) {
        if let Some(name) = self.from.value_symbol(v) {
            self.name(copy, name);
        }
        self.values[v.index()] = Some(copy);
        self.made_from = copy.as_value();
    }

    /// Names a value that has no name yet.
    pub(super) fn name(&mut self, operand: Operand, name: Symbol) {
        if let Some(v) = operand.as_value()
            && self.to.value_symbol(v).is_none()
            && self.failed.is_none()
            && let Err(error) = self.to.name_after(v, name)
        {
            self.failed = Some(error);
        }
    }
}
