//! Functions of what passes that are written in the language give back: the other way from `code::function_value`, with
//! the statements' origins, of which attributes, locations and names are taken.
//!
//! A statement that is as it was becomes the instruction that it was, so that a pass that does nothing changes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use regraft_dialects::core;
use regraft_exec::value::Val;
use regraft_ir::{
    Block, Constant, Context, Function, Inst, IrError, IrResult, Loc, Module, Op, Operand,
    ResultType, Symbol, Type, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Session;
use super::pass_parts::{BlockPart, StatementPart, items};
use crate::code::{CodeTypes, FunctionWriter, op_of};
use crate::definition::Space;
use crate::world::{Binding, Ty};

/// Makes functions of the code that one pass gives.
pub(super) struct Draft<'a> {
    pub(super) session: &'a mut Session,
    pub(super) module: &'a Module,
    /// The function before.
    pub(super) from: &'a Function,
    pub(super) to: Function,
    types: CodeTypes,
    /// The type `IRTools.Variable`.
    variable: Type,
    pub(super) pass: Symbol,
    known: FxHashMap<i64, Known>,
    /// True if calls of functions of the language are specialised.
    is_typed: bool,
    /// Specialisations that the function calls now.
    pub(super) added: Vec<Function>,
}

/// The meaning of a number.
#[derive(Clone)]
enum Known {
    Value(Value),
    /// It stands for something else.
    Alias(Val),
}

pub(super) type Result<T> = std::result::Result<T, String>;

impl<'a> Draft<'a> {
    pub(super) fn new(
        session: &'a mut Session,
        (module, from): (&'a Module, &'a Function),
        (variable, pass): (Type, Symbol),
    ) -> Self {
        let types = session.code_types();
        let is_typed =
            from.ret_type() != Type::ANY || from.param_types().iter().any(|&ty| ty != Type::ANY);
        let (to, known, added) = (from.clone(), FxHashMap::default(), Vec::new());
        Self { session, module, from, to, types, variable, pass, known, is_typed, added }
    }

    /// The function; `None` if it is as it was. O(size).
    ///
    /// # Errors
    /// A sentence that names the statement or block that is wrong.
    pub(super) fn function(mut self, code: &Val) -> Result<(Option<Function>, Vec<Function>)> {
        let parts = items(code).ok_or("this is no code")?;
        let parts = parts.iter().map(BlockPart::read).collect::<Option<Vec<_>>>();
        let parts = parts.ok_or("this is no code")?;
        if parts.is_empty() {
            return Err("there is no block".to_owned());
        }
        let numbers = self.number(&parts)?;
        let blocks = self.reserve(&parts, &numbers)?;
        for (part, &block) in parts.iter().zip(&blocks) {
            self.params(part, block).map_err(told)?;
        }
        for (at, (part, &block)) in parts.iter().zip(&blocks).enumerate() {
            let mut loc = Loc::UNKNOWN;
            for statement in &part.statements {
                let wrong = |why| format!("%{}: {why}", statement.number);
                self.statement(statement, block, &mut loc).map_err(wrong)?;
            }
            let wrong = |why| format!("block {}: {why}", at + 1);
            self.terminator(part, block, &blocks, loc).map_err(wrong)?;
        }
        self.to.set_provenance(None);
        self.to.release_reserved();
        if self.to.structural_eq(self.from) && self.added.is_empty() {
            return Ok((None, Vec::new()));
        }
        Ok((Some(self.to), self.added))
    }

    /// Gives each number that is defined one of the function: that one itself, or one that is new, in order.
    fn number(&mut self, parts: &[BlockPart]) -> Result<BTreeMap<i64, u32>> {
        let mut numbers = BTreeMap::new();
        let mut all = FxHashSet::default();
        for part in parts {
            for &(number, _) in &part.params {
                numbers.insert(number, 0);
                if !all.insert(number) {
                    return Err(format!("%{number} is defined twice"));
                }
            }
            for StatementPart { number, expr, .. } in &part.statements {
                if !all.insert(*number) {
                    return Err(format!("%{number} is defined twice"));
                }
                if self.is_instruction(expr) {
                    numbers.insert(*number, 0);
                } else {
                    self.known.insert(*number, Known::Alias(expr.clone()));
                }
            }
        }
        let capacity = self.from.value_capacity() as u32;
        let mut next = capacity;
        for (&number, own) in &mut numbers {
            *own = match u32::try_from(number) {
                Ok(number) if (1..=capacity).contains(&number) => number,
                _ => {
                    next += 1;
                    next
                }
            };
        }
        Ok(numbers)
    }

    /// Returns whether a statement is an instruction, and not another name of something.
    fn is_instruction(&mut self, expr: &Val) -> bool {
        match expr {
            Val::Object(object) => object.ty() == self.types.expr,
            expr => self.variable_of(expr).is_some(),
        }
    }

    /// Reserves all numbers, and places the blocks.
    fn reserve(&mut self, parts: &[BlockPart], numbers: &BTreeMap<i64, u32>) -> Result<Vec<Block>> {
        let (f, mut taken) = (self.from, FxHashSet::default());
        let mut next = f.block_capacity() as u32;
        let mut own = Vec::with_capacity(parts.len());
        for part in parts {
            let before = u32::try_from(part.from).ok().and_then(|number| f.block_by_number(number));
            let number = before.map(Block::number).filter(|&number| taken.insert(number));
            own.push(number.unwrap_or_else(|| {
                next += 1;
                next
            }));
        }
        let values = numbers.values().copied().max().unwrap_or(0) as usize;
        self.to = f.emptied(values, next as usize).map_err(told)?;
        for (&number, &own) in numbers {
            if let Some(v) = self.to.raw_value(own) {
                self.known.insert(number, Known::Value(v));
            }
        }
        for part in parts {
            for StatementPart { number, ty, .. } in &part.statements {
                if let Some(&Known::Value(v)) = self.known.get(number) {
                    let ty = self.stated(ty).unwrap_or(Type::ANY);
                    self.to.set_reserved_type(v, ty);
                }
            }
        }
        let mut blocks = Vec::with_capacity(own.len());
        for number in own {
            let block = self.to.raw_block(number).ok_or("there are too many blocks")?;
            self.to.place_reserved_block(block).map_err(told)?;
            blocks.push(block);
        }
        Ok(blocks)
    }

    fn params(&mut self, part: &BlockPart, block: Block) -> IrResult<()> {
        for (number, ty) in &part.params {
            let Some(&Known::Value(v)) = self.known.get(number) else { continue };
            let before = self.from.value_by_number(v.number()).filter(|&v| self.from.is_param(v));
            let loc = before.map_or(Loc::UNKNOWN, |v| self.from.loc(v));
            let ty = self.stated(ty).unwrap_or(Type::ANY);
            self.to.define_param(v, block, ty, loc)?;
            if before.is_none() {
                // The number is that of something else.
                self.to.set_name_of(v, None)?;
            }
        }
        Ok(())
    }

    fn statement(&mut self, part: &StatementPart, block: Block, loc: &mut Loc) -> Result<()> {
        let Some(&Known::Value(v)) = self.known.get(&part.number) else { return Ok(()) };
        let before =
            u32::try_from(part.from).ok().and_then(|number| self.from.value_by_number(number));
        let before = before.filter(|&v| !self.from.is_param(v));
        let mut inst = self.inst(part, before, block)?;
        let stays = before == Some(v) && inst.is_as_it_was;
        if let Some(before) = before {
            *loc = self.from.loc(before);
            if !stays {
                inst.inst = inst.inst.made_from(before);
            }
        }
        self.to.set_provenance((!stays).then_some(self.pass));
        self.to.define_inst(v, block, inst.inst.at(*loc)).map_err(told)?;
        if before != Some(v) {
            self.to.set_name_of(v, None).map_err(told)?;
        }
        Ok(())
    }

    /// The instruction of a statement that was made from `before`.
    fn inst(
        &mut self,
        part: &StatementPart,
        before: Option<Value>,
        block: Block,
    ) -> Result<NewInst> {
        let wrong = || "this is no call".to_owned();
        let parts = match self.variable_of(&part.expr) {
            // The value of a global variable.
            Some(name) => {
                let ty = self.stated(&part.ty).unwrap_or(Type::ANY);
                let inst =
                    Inst::new(core::GLOBAL).operand(self.to.constant_id(Constant::Sym(name)));
                return Ok(NewInst { inst: inst.with_type(ty), is_as_it_was: false });
            }
            None => self.parts_of_call(&part.expr)?,
        };
        let (callee, args) = parts.split_first().ok_or_else(wrong)?;
        let same = before.filter(|&before| self.is_callee_of(callee, before));
        let Callee { op, operand, apply } = match same {
            Some(before) => self.callee_before(before),
            None => self.callee(callee)?,
        };
        let mut operands: Vec<Operand> = operand.into_iter().collect();
        for arg in apply.then_some(callee).into_iter().chain(args) {
            operands.push(self.operand(arg)?);
        }
        let mut inst = Inst::new(op).operands(operands.iter().copied());
        let stated = self.stated(&part.ty);
        if let Some(before) = same {
            let f = self.from;
            inst = inst.with_attrs(f.attrs(before));
            let keeps = matches!(part.ty, Val::Type(ty) if ty == f.ty(before));
            if keeps && f.operands(before).eq(operands.iter().copied()) {
                return Ok(NewInst { inst: inst.with_type(f.ty(before)), is_as_it_was: true });
            }
        }
        let is_declared = self
            .ctx()
            .registry()
            .def(op)
            .is_some_and(|def| matches!(def.result, ResultType::Declared));
        if is_declared {
            let mut ty = stated.filter(|_| {
                same.is_some() || before.is_none_or(|v| stated != Some(self.from.ty(v)))
            });
            if op == core::CALL {
                let called = self.called(&mut operands, same.is_some(), block)?;
                ty = called.or(ty);
                inst = Inst::new(op).operands(operands.iter().copied()).with_attrs(inst.attrs());
            }
            inst = inst.with_type(ty.unwrap_or(Type::ANY));
        }
        Ok(NewInst { inst, is_as_it_was: false })
    }

    /// The type of what a function gives, if that is known. A call of a function of the language with arguments of known
    /// types becomes one of its specialisation.
    fn called(
        &mut self,
        operands: &mut Vec<Operand>,
        is_same: bool,
        block: Block,
    ) -> Result<Option<Type>> {
        let Some(name) = self.to.const_func(operands[0]) else { return Ok(None) };
        let known = |name| self.module.functions().chain(&self.added).find(|f| f.name() == name);
        if let Some(f) = known(name) {
            return Ok(Some(f.ret_type()).filter(|_| !is_same));
        }
        let types: Vec<Type> = operands[1..].iter().map(|&arg| self.to.operand_type(arg)).collect();
        if !self.is_typed || is_same || types.contains(&Type::ANY) {
            return Ok(None);
        }
        let Some(functions) = self.session.specialised(name, &types) else { return Ok(None) };
        let Some(f) = functions.first() else { return Ok(None) };
        let (name, ty, params) = (f.name(), f.ret_type(), f.param_types());
        if params != types {
            self.pack(operands, &params, block)?;
        }
        for f in functions {
            let is_there = self.module.functions().chain(&self.added).any(|g| g.name() == f.name());
            if !is_there {
                self.added.push(f);
            }
        }
        operands[0] = self.to.constant_id(Constant::Func(name)).into();
        Ok(Some(ty))
    }

    /// Packs the last arguments into a tuple, as a function takes them that takes any number.
    fn pack(&mut self, operands: &mut Vec<Operand>, params: &[Type], block: Block) -> Result<()> {
        let fixed = params.len().saturating_sub(1);
        if operands.len() <= fixed {
            return Ok(());
        }
        let rest: Vec<Operand> = operands.drain(1 + fixed..).collect();
        self.to.set_provenance(Some(self.pass));
        let tuple = self.to.push(block, core::tuple(rest)).map_err(told)?;
        operands.push(tuple.into());
        Ok(())
    }
}

/// An instruction, and whether it is as it was before.
struct NewInst {
    inst: Inst,
    is_as_it_was: bool,
}

/// What a statement calls.
struct Callee {
    op: Op,
    /// The first operand, if that is known.
    operand: Option<Operand>,
    /// True if the callee is the first operand.
    apply: bool,
}

impl Draft<'_> {
    pub(super) fn ctx(&self) -> &Arc<Context> {
        self.from.ctx()
    }

    pub(super) fn parts_of_call(&self, expr: &Val) -> Result<Vec<Val>> {
        let no_call = || "a statement is a call, a value, or a constant".to_owned();
        let Val::Object(object) = expr else { return Err(no_call()) };
        let (Some(Val::Sym(head)), Some(args)) = (object.get(0), object.get(1)) else {
            return Err(no_call());
        };
        match self.ctx().str(head) {
            "call" => items(&args).ok_or_else(no_call),
            head => Err(format!("an expression with the head `{head}` cannot be a statement")),
        }
    }

    /// Returns whether this is the expression for what an instruction of the function before calls.
    fn is_callee_of(&mut self, callee: &Val, before: Value) -> bool {
        let function = self.from;
        let own = {
            let world = &mut self.session.compiler.borrow_mut().world;
            let (types, variable) = (self.types, self.variable);
            FunctionWriter { world, types, variable, function }.callee(before)
        };
        match (own, self.global_of(callee)) {
            (Some(own), Some(name)) => self.global_of(&own) == Some(name),
            (None, None) => {
                match (function.operand(before, 0).and_then(|at| function.constant(at)), callee) {
                    (Some(constant), callee) => {
                        callee.as_constant(function.ctx()) == Some(constant)
                    }
                    (None, callee) => {
                        matches!(callee, Val::Struct(fields) if fields.ty() == self.variable)
                    }
                }
            }
            _ => false,
        }
    }

    fn callee_before(&self, before: Value) -> Callee {
        let f = self.from;
        let op = f.op(before).unwrap_or(core::APPLY);
        let operand = f.operand(before, 0).filter(|_| op == core::CALL);
        Callee { op, operand, apply: op == core::APPLY }
    }

    fn callee(&mut self, callee: &Val) -> Result<Callee> {
        let of_function = |draft: &Self, name| {
            let operand = Some(draft.to.constant_id(Constant::Func(name)).into());
            Callee { op: core::CALL, operand, apply: false }
        };
        let apply = Callee { op: core::APPLY, operand: None, apply: true };
        let (space, name) = match callee {
            Val::Sym(name) => (Space::Main, *name),
            Val::Func(name) => match op_of(self.ctx(), *name) {
                Some(op) => return Ok(Callee { op, operand: None, apply: false }),
                None => return Ok(of_function(self, *name)),
            },
            callee => match self.global_of(callee) {
                Some(global) => global,
                None => return Ok(apply),
            },
        };
        let text = self.ctx().str(name).to_owned();
        if space == Space::Base
            && let Some(op) = op_of(self.ctx(), name)
        {
            return Ok(Callee { op, operand: None, apply: false });
        }
        if self.module.function(&text).is_some() {
            return Ok(of_function(self, name));
        }
        let found = self.session.compiler.borrow_mut().world.resolve(name, space, None);
        match found {
            Binding::Function(name) => Ok(of_function(self, name)),
            Binding::Undefined | Binding::Deferred => {
                Err(format!("there is no function `{}`", self.global_text(space, name)))
            }
            _ => Ok(apply),
        }
    }

    /// The module and the name of a `GlobalRef`.
    pub(super) fn global_of(&self, value: &Val) -> Option<(Space, Symbol)> {
        let Val::Struct(fields) = value else { return None };
        match (fields.ty() == self.types.global_ref, fields.items()) {
            (true, [Val::Struct(module), Val::Sym(name)]) => {
                Some((self.session.compiler.borrow().world.module(module.ty())?, *name))
            }
            _ => None,
        }
    }

    fn global_text(&self, space: Space, name: Symbol) -> String {
        format!("{}.{}", space.shown(self.ctx()), self.ctx().str(name))
    }

    /// The name of the global variable that a `GlobalRef` stands for.
    fn variable_of(&mut self, value: &Val) -> Option<Symbol> {
        let (space, name) = self.global_of(value)?;
        match self.session.compiler.borrow_mut().world.resolve(name, space, None) {
            Binding::Variable { name, .. } | Binding::Global { name, .. } => Some(name),
            _ => None,
        }
    }

    /// The type that a statement or parameter says; `None` if it says nothing, or nothing that values can be of.
    fn stated(&self, ty: &Val) -> Option<Type> {
        let Val::Type(ty) = *ty else { return None };
        if ty == Type::NEVER {
            return Some(ty);
        }
        // Of a type of another function of the module, the world may know nothing.
        let known = self.session.compiler.borrow().world.ty_of(ty);
        let of_values = matches!(known, Ty::Concrete(_) | Ty::Tuple(..) | Ty::TypeOf(_));
        of_values.then_some(ty)
    }

    pub(super) fn operand(&mut self, value: &Val) -> Result<Operand> {
        let mut value = value.clone();
        for _ in 0..=self.known.len() {
            let Val::Struct(fields) = &value else { break };
            let &[Val::I64(number)] = fields.items() else { break };
            if fields.ty() != self.variable {
                break;
            }
            match self.known.get(&number).cloned() {
                Some(Known::Value(v)) => return Ok(v.into()),
                Some(Known::Alias(other)) => value = other,
                None => return Err(format!("it uses %{number}, which nothing defines")),
            }
        }
        let constant = self.constant(&value)?;
        Ok(self.to.constant_id(constant).into())
    }

    fn constant(&mut self, value: &Val) -> Result<Constant> {
        if let Some((space, name)) = self.global_of(value) {
            let text = self.global_text(space, name);
            let found = self.session.compiler.borrow_mut().world.resolve(name, space, None);
            return match found {
                Binding::Function(name) => Ok(Constant::Func(name)),
                Binding::Type(ty) => Ok(Constant::Type(ty)),
                Binding::Const(constant) => Ok(constant),
                Binding::Variable { .. } | Binding::Global { .. } => {
                    Err(format!("`{text}` is a variable, which takes a statement of its own"))
                }
                Binding::Undefined | Binding::Deferred => Err(format!("`{text}` is not defined")),
            };
        }
        let ctx = Arc::clone(self.ctx());
        match value {
            Val::Sym(name) => {
                let name = ctx.str(*name);
                Err(format!("the name `{name}` is no value; a symbol is `QuoteNode(:{name})`"))
            }
            Val::Struct(fields) if fields.ty() == self.variable => {
                Err("a statement stands for itself".to_owned())
            }
            Val::Struct(fields) if fields.ty() == self.types.quote_node => {
                let inner = fields.items().first().and_then(|inner| inner.as_constant(&ctx));
                inner.ok_or_else(|| "quoted code cannot stand in code of a pass".to_owned())
            }
            value => value.as_constant(&ctx).ok_or_else(|| {
                let ty = self.session.compiler.borrow().world.type_name(value.type_of(&ctx));
                format!("a value of type {ty} cannot stand in code")
            }),
        }
    }
}

/// What is wrong, as a part of a sentence.
pub(super) fn told(error: IrError) -> String {
    error.to_string()
}
