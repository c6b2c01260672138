//! Functions of pipelines as values: what passes that are written in the language are given.
//!
//! ```text
//! (name, type of the result, greatest number, [block, …])
//! block:      (its number, [parameter, …], [their types, …], [statement, …], [branch, …])
//! statement:  (number, expression, type, line)
//! branch:     (condition or nothing, number of the block from 1 in layout order, [argument, …])
//! ```
//!
//! Numbers of values are those of the function; where one is used stands `IRTools.Variable(number)`. An expression is a
//! call: of the global function of that name, of a value (`core.apply`), or of an op, which is called `Base.arith.mul`.
//! A branch with a condition is taken if that is false, and block 0 is where a function returns to. The condition of a case
//! of a `switch` is `x !== case`. Attributes and locations are not in there: `pass_code` takes them from the function.

use std::sync::Arc;

use regraft_dialects::{cf, core};
use regraft_exec::value::{Array, ElementType, Val};
use regraft_ir::{Block, Constant, Context, Function, Location, Op, Operand, Symbol, Type, Value};

use super::types::CodeTypes;
use crate::definition::Space;
use crate::world::World;

/// Writes functions as values.
pub(crate) struct FunctionWriter<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) types: CodeTypes,
    /// The type `IRTools.Variable`.
    pub(crate) variable: Type,
    pub(crate) function: &'a Function,
}

impl FunctionWriter<'_> {
    /// The function as a value. O(size).
    pub(crate) fn value(&mut self) -> Val {
        let f = self.function;
        let blocks: Vec<Block> = f.blocks().collect();
        let written = blocks.iter().map(|&block| self.block(block, &blocks)).collect();
        let count = Val::I64(f.value_capacity() as i64);
        Val::tuple([Val::Sym(f.name()), Val::Type(f.ret_type()), count, list(written)])
    }

    fn block(&mut self, block: Block, blocks: &[Block]) -> Val {
        let f = self.function;
        let params = f.params(block).map(number).collect();
        let types = f.params(block).map(|v| Val::Type(f.ty(v))).collect();
        let mut statements = Vec::new();
        for v in f.body(block) {
            let expression = self.expression(v);
            let line = Val::I64(line(f.ctx(), f, v));
            statements.push(Val::tuple([number(v), expression, Val::Type(f.ty(v)), line]));
        }
        let branches = self.branches(block, blocks);
        let at = Val::I64(i64::from(block.number()));
        Val::tuple([at, list(params), list(types), list(statements), list(branches)])
    }

    fn expression(&mut self, v: Value) -> Val {
        let operands: Vec<Operand> = self.function.plain_operands(v).collect();
        let callee = self.callee(v);
        let skipped = usize::from(self.function.op(v) == Some(core::CALL));
        let args = operands.into_iter().skip(skipped).map(|operand| self.operand(operand));
        self.call(callee.into_iter().chain(args).collect())
    }

    /// The expression for what an instruction calls; `None` of `core.apply`, of which it is the first operand.
    pub(crate) fn callee(&mut self, v: Value) -> Option<Val> {
        let f = self.function;
        match f.op(v) {
            Some(core::APPLY) => None,
            Some(core::CALL) => {
                let name = f.operand(v, 0).and_then(|callee| f.const_func(callee));
                Some(self.global(name.unwrap_or_else(|| f.ctx().symbol(""))))
            }
            _ => {
                let name = f.op_def(v).map_or("", |def| def.name);
                Some(self.global_ref(Space::Base, f.ctx().symbol(name)))
            }
        }
    }

    /// The expression in place of an operand.
    pub(crate) fn operand(&self, operand: Operand) -> Val {
        let f = self.function;
        match (f.constant(operand), operand.as_value()) {
            (Some(Constant::Sym(name)), _) => {
                Val::structure(self.types.quote_node, [Val::Sym(name)])
            }
            (Some(constant), _) => Val::constant(f.ctx(), constant),
            (None, Some(v)) => Val::structure(self.variable, [number(v)]),
            (None, None) => Val::Unit,
        }
    }

    fn branches(&mut self, block: Block, blocks: &[Block]) -> Vec<Val> {
        let f = self.function;
        let Some(terminator) = f.terminator(block) else { return Vec::new() };
        let branch = |condition, to, args| Val::tuple([condition, Val::I64(to), list(args)]);
        let plain: Vec<Operand> = f.plain_operands(terminator).collect();
        if f.op(terminator) == Some(cf::RETURN) {
            let value = plain.first().map_or(Val::Unit, |&value| self.operand(value));
            return vec![branch(Val::Unit, 0, vec![value])];
        }
        let mut made = Vec::new();
        for edge in f.out_edges(block) {
            let target = f.edge_target(edge);
            let to = blocks.iter().position(|&other| other == target).map_or(0, |at| at as i64 + 1);
            let args = f.edge_args(edge).map(|arg| self.operand(arg)).collect();
            made.push((to, args));
        }
        if made.is_empty() {
            return vec![branch(Val::Unit, 0, Vec::new())];
        }
        let is_switch = f.op(terminator) == Some(cf::SWITCH);
        // The one that is taken if all conditions are true comes last.
        let (to, args): (i64, Vec<Val>) = made.remove(0);
        let mut branches = Vec::with_capacity(made.len() + 1);
        for (at, (to, args)) in made.into_iter().enumerate() {
            let condition = match (&*plain, is_switch) {
                ([value, cases @ ..], true) => {
                    let parts = [*value, cases[at.min(cases.len() - 1)]];
                    let name = f.ctx().symbol(DIFFERS);
                    let callee = self.global_ref(Space::Base, name);
                    let args = parts.map(|part| self.operand(part));
                    self.call([callee].into_iter().chain(args).collect())
                }
                ([condition, ..], false) => self.operand(*condition),
                ([], _) => Val::Unit,
            };
            branches.push(branch(condition, to, args));
        }
        if let ([value], true) = (&*plain, is_switch) {
            // Without cases, the condition says no more than what the value is.
            let callee = self.global_ref(Space::Base, f.ctx().symbol(DIFFERS));
            let condition = self.call(vec![callee, self.operand(*value)]);
            branches.push(branch(condition, to, args.clone()));
        }
        branches.push(branch(Val::Unit, to, args));
        branches
    }

    fn call(&self, parts: Vec<Val>) -> Val {
        let head = Val::Sym(self.function.ctx().symbol("call"));
        Val::object(self.types.expr, [head, list(parts)])
    }

    /// `GlobalRef(Main, :foo)` for a function. The name of a specialisation is one name.
    fn global(&mut self, name: Symbol) -> Val {
        let ctx = Arc::clone(self.function.ctx());
        let text = ctx.str(name);
        if text.contains('(') {
            return self.global_ref(Space::Main, name);
        }
        if let Some(name) = text.strip_prefix("Base.") {
            return self.global_ref(Space::Base, ctx.symbol(name));
        }
        let is_op = text.contains('.') && ctx.registry().find(text).is_some();
        if is_op || text.starts_with('#') {
            return self.global_ref(Space::Base, name);
        }
        let (space, name) = self.world.home_of_name(name, Space::Main);
        self.global_ref(space, name)
    }

    fn global_ref(&mut self, space: Space, name: Symbol) -> Val {
        let module = self.world.module_value(space);
        Val::structure(self.types.global_ref, [module, Val::Sym(name)])
    }
}

/// The operator in the condition of a case of a `switch`.
pub(crate) const DIFFERS: &str = "!==";

/// Returns the op that a name of `Base` is, if it is one.
pub(crate) fn op_of(ctx: &Context, name: Symbol) -> Option<Op> {
    ctx.registry().find(ctx.str(name)).map(|def| def.op)
}

fn number(v: Value) -> Val {
    Val::I64(i64::from(v.number()))
}

/// The line in the user's text of an instruction: that of the call, of what was inlined.
fn line(ctx: &Context, f: &Function, v: Value) -> i64 {
    let mut loc = f.loc(v);
    loop {
        match ctx.location(loc) {
            Location::File { line, .. } => return i64::from(line),
            Location::Inlined { call_site, .. } => loc = call_site,
            Location::Unknown => return 0,
        }
    }
}

fn list(values: Vec<Val>) -> Val {
    Array::of_values(ElementType::ANY, &values, &[values.len()]).map_or(Val::Unit, Val::from)
}
