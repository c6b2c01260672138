//! Lowered code as values: what passes that are written in the language see and change.
//!
//! ```text
//! (arguments, has_rest, [block, …])
//! block:      (parameters, [(number, expression, line), …], [branch, …])
//! branch:     (condition or nothing, number of the block, [argument, …])
//! ```
//!
//! Values are numbered from 1 in the order of the text, the callee first; where one is used stands
//! `SSAValue(number)`. A branch with a condition is taken if that is false; the first one that is taken counts. Block 0 with an
//! argument is a return; without one, control does not get there.

use std::sync::Arc;

use regraft_dialects::{cf, core};
use regraft_exec::value::{Array, ElementType, Val};
use regraft_ir::{
    Block, Constant, Context, Function, Location, Operand, Symbol, Type, TypeKind, Value,
};
use rustc_hash::FxHashMap;

use super::types::CodeTypes;
use crate::definition::Space;
use crate::world::{Binding, Code, MethodMatch, StaticValue, World};

/// The functions of the library that are called by syntax.
const SYNTAX: [&str; 12] = [
    "getindex",
    "setindex!",
    "getproperty",
    "setproperty!",
    "vect",
    "hcat",
    "vcat",
    "hvcat",
    "typed_vcat",
    "tuple",
    "adjoint",
    "string",
];

/// A builtin that takes types which are known before the program runs.
const SPREAD: &str = "#spread";

/// The lowered code of a method for certain values of its type parameters; `nothing` of code that chooses between more than
/// two ways at once, which lowering does not make, or that means something only as a whole. O(size).
pub(crate) fn lowered_value(
    world: &mut World,
    types: CodeTypes,
    found: &MethodMatch,
    code: &Code,
) -> Val {
    let body = code.function();
    let Some(method) = world.method(found.method) else { return Val::Unit };
    let is_spread = |v| {
        let callee = body.operand(v, 0).filter(|_| body.op(v) == Some(core::CALL));
        callee
            .and_then(|callee| body.const_func(callee))
            .is_some_and(|name| body.ctx().str(name) == SPREAD)
    };
    if body.blocks().any(|block| body.successors(block).count() > 2)
        || body.all_insts().any(is_spread)
    {
        return Val::Unit;
    }
    let takes_callee = method.takes_callee;
    let (vararg, params) = match body.entry().filter(|_| method.is_dynamo()) {
        Some(entry) => (false, body.param_count(entry) - usize::from(takes_callee)),
        None => (method.vararg, method.params),
    };
    let (space, names, values) = match &code.home {
        Some(home) => (home.space, &home.names, &home.statics),
        None => (method.space, &method.statics, &found.statics),
    };
    let ctx = Arc::clone(world.ctx());
    let statics = names.iter().copied().zip(values.iter().cloned()).collect();
    let ssa = match world.resolve(ctx.symbol("SSAValue"), Space::Base, None) {
        Binding::Type(ty) => ty,
        _ => Type::UNIT,
    };
    let mut writer = Writer {
        ctx: &ctx,
        world,
        types,
        ssa,
        space,
        body,
        statics,
        known: FxHashMap::default(),
        next: 1 + i64::from(!takes_callee),
        places: FxHashMap::default(),
        arms: Vec::new(),
    };
    let blocks: Vec<Block> = body.blocks().collect();
    writer.number(&blocks);
    writer.place(&blocks);
    let mut values = Vec::with_capacity(blocks.len());
    for &block in &blocks {
        values.push(writer.block(block, &blocks, takes_callee));
        values.append(&mut writer.arms);
    }
    let params = params as i64 + 1;
    Val::tuple([Val::I64(params), Val::Bool(vararg), list(values)])
}

struct Writer<'a> {
    ctx: &'a Context,
    world: &'a mut World,
    types: CodeTypes,
    /// The type `SSAValue`.
    ssa: Type,
    space: Space,
    body: &'a Function,
    statics: FxHashMap<Symbol, StaticValue>,
    /// The expression in place of each use of a value.
    known: FxHashMap<Value, Val>,
    /// The number of the next value.
    next: i64,
    /// The numbers of the blocks.
    places: FxHashMap<Block, i64>,
    /// Blocks to follow the present one.
    arms: Vec<Val>,
}

impl Writer<'_> {
    /// Numbers values; names of constants and type parameters stand where they are used.
    fn number(&mut self, blocks: &[Block]) {
        let body = self.body;
        for &block in blocks {
            let insts = body.insts(block).filter(|&v| Some(v) != body.terminator(block));
            for v in body.params(block).chain(insts) {
                let known = match self.leaf(v) {
                    Some(leaf) => leaf,
                    None => {
                        self.next += 1 + self.count_before(v);
                        Val::structure(self.ssa, [Val::I64(self.next - 1)])
                    }
                };
                self.known.insert(v, known);
            }
        }
    }

    /// The statements in front of that of an instruction: of a closure, those that make its type.
    fn count_before(&self, v: Value) -> i64 {
        match self.body.op(v) {
            Some(core::CLOSURE) if self.body.operand_count(v) > 1 => {
                self.body.operand_count(v) as i64
            }
            _ => 0,
        }
    }

    /// Numbers blocks. A choice between two values for one block has a block for each.
    fn place(&mut self, blocks: &[Block]) {
        let mut number = 1;
        for &block in blocks {
            self.places.insert(block, number);
            number += if self.chooses(block) { 3 } else { 1 };
        }
    }

    /// Returns whether both arms of the branch of a block lead to the same one.
    fn chooses(&self, block: Block) -> bool {
        let targets: Vec<Block> = self.body.successors(block).collect();
        matches!(targets[..], [a, b] if a == b)
    }

    /// The expression in place of an instruction that is no statement: a constant global, a type parameter.
    fn leaf(&mut self, v: Value) -> Option<Val> {
        if let Some([name]) = self.body.matches(v, core::STATIC) {
            let name = self.body.const_sym(name)?;
            let value = match self.statics.get(&name)? {
                StaticValue::Constant(Constant::Sym(name)) => self.quoted(Val::Sym(*name)),
                StaticValue::Constant(constant) => Val::constant(self.ctx, *constant),
                _ => return None,
            };
            return Some(value);
        }
        let [name] = self.body.matches(v, core::GLOBAL)?;
        let name = self.body.const_sym(name)?;
        match self.world.resolve(name, self.space, None) {
            Binding::Variable { .. } => None,
            _ => Some(self.global(name)),
        }
    }

    fn block(&mut self, block: Block, blocks: &[Block], takes_callee: bool) -> Val {
        let body = self.body;
        let is_first = blocks.first() == Some(&block);
        let params = body.param_count(block) + usize::from(is_first && !takes_callee);
        let mut statements = Vec::new();
        for v in body.insts(block) {
            let number = match self.known.get(&v) {
                Some(Val::Struct(fields)) if fields.ty() == self.ssa => fields.items()[0].clone(),
                _ => continue,
            };
            let line = Val::I64(self.line(v));
            if let (Some(core::CLOSURE), Val::I64(last)) = (body.op(v), &number)
                && let Some(made) = self.closure(v, *last)
            {
                let made = made
                    .into_iter()
                    .map(|(at, expression)| Val::tuple([Val::I64(at), expression, line.clone()]));
                statements.extend(made);
                continue;
            }
            let expression = self.expression(v);
            statements.push(Val::tuple([number, expression, line]));
        }
        let branches = body.terminator(block).map_or(Vec::new(), |v| self.branches(block, v));
        Val::tuple([Val::I64(params as i64), list(statements), list(branches)])
    }

    fn line(&self, v: Value) -> i64 {
        match self.ctx.location(self.body.loc(v)) {
            Location::File { line, .. } => i64::from(line),
            _ => 0,
        }
    }

    fn expression(&mut self, v: Value) -> Val {
        let body = self.body;
        let operands: Vec<Operand> = body.plain_operands(v).collect();
        let (callee, rest) = match (body.op(v), &*operands) {
            (Some(core::CALL), [callee, args @ ..]) => {
                let callee = match body.const_func(*callee) {
                    Some(name) => self.global(name),
                    None => self.operand(*callee),
                };
                (vec![callee], args)
            }
            (Some(core::APPLY), args) => (Vec::new(), args),
            (Some(core::SPLAT), args) => {
                (["_apply_iterate", "iterate"].map(|name| self.base(name)).to_vec(), args)
            }
            (Some(core::GLOBAL), &[name]) => {
                let name = body.const_sym(name).unwrap_or_else(|| self.ctx.symbol(""));
                return self.global(name);
            }
            (Some(core::CLOSURE), args) => {
                let parts = args.iter().map(|&operand| self.operand(operand)).collect();
                return self.form("closure", parts);
            }
            (op, args) => {
                let op = op.and_then(|_| body.op_def(v)).map_or("", |def| def.name);
                (vec![self.base(op)], args)
            }
        };
        let args = rest.iter().map(|&operand| self.operand(operand));
        let parts: Vec<Val> = callee.into_iter().chain(args).collect();
        self.form(if self.is_primitive(v) { "primitive" } else { "call" }, parts)
    }

    /// The statements that make a closure, of which the last one has that number: the types of what it holds, its type,
    /// and `new`. `None` if its definition is not known.
    fn closure(&mut self, v: Value, last: i64) -> Option<Vec<(i64, Val)>> {
        let operands: Vec<Operand> = self.body.plain_operands(v).collect();
        let (name, captures) = operands.split_first()?;
        let head = self.world.closure_head(self.body.const_func(*name)?)?;
        let held: Vec<Val> = captures.iter().map(|&operand| self.operand(operand)).collect();
        let number = |at| Val::structure(self.ssa, [Val::I64(at)]);
        let first = last - self.count_before(v);
        let mut made = Vec::new();
        let mut ty = Val::Type(head);
        if !held.is_empty() {
            let types = (first..last - 1).map(number);
            let params: Vec<Val> = [ty].into_iter().chain(types).collect();
            ty = number(last - 1);
            for (at, value) in held.iter().enumerate() {
                let parts = vec![self.base("typeof"), value.clone()];
                made.push((first + at as i64, self.form("call", parts)));
            }
            let parts = [self.base("apply_type")].into_iter().chain(params).collect();
            made.push((last - 1, self.form("call", parts)));
        }
        let parts = [ty].into_iter().chain(held).collect();
        made.push((last, self.form("new", parts)));
        Some(made)
    }

    /// Returns whether an instruction is no call that could be one of something else: what it does depends on more than the
    /// values of its operands.
    fn is_primitive(&self, v: Value) -> bool {
        let called = self.body.operand(v, 0).filter(|_| self.body.op(v) == Some(core::CALL));
        let Some(name) = called.and_then(|callee| self.body.const_func(callee)) else {
            return !matches!(self.body.op(v), Some(core::CALL | core::APPLY | core::SPLAT));
        };
        let text = self.ctx.str(name);
        text.starts_with("core.")
            || text.starts_with('#') && self.world.is_builtin(self.ctx.ty(TypeKind::Fn(name)))
    }

    fn form(&self, head: &str, parts: Vec<Val>) -> Val {
        Val::object(self.types.expr, [Val::Sym(self.ctx.symbol(head)), list(parts)])
    }

    fn branches(&mut self, block: Block, terminator: Value) -> Vec<Val> {
        let body = self.body;
        if body.op(terminator) == Some(cf::RETURN) {
            let value = body.operand(terminator, 0);
            let value = value.map_or(Val::Unit, |value| self.operand(value));
            return vec![Val::tuple([Val::Unit, Val::I64(0), list(vec![value])])];
        }
        let edges: Vec<_> = body.out_edges(block).collect();
        if edges.is_empty() {
            // Control does not get there.
            return vec![Val::tuple([Val::Unit, Val::I64(0), list(Vec::new())])];
        }
        let chooses = self.chooses(block);
        let mut branches = Vec::with_capacity(edges.len());
        let condition = body.operand(terminator, 0).filter(|_| edges.len() == 2);
        // The second one is taken if the condition is false.
        for (at, &edge) in edges.iter().enumerate().rev() {
            let condition = match condition.filter(|_| at == 1) {
                Some(condition) => self.operand(condition),
                None => Val::Unit,
            };
            let target = body.edge_target(edge);
            let number = self.places.get(&target).copied().unwrap_or(0);
            let args = body.edge_args(edge).collect::<Vec<_>>();
            let args = args.into_iter().map(|arg| self.operand(arg)).collect();
            let branch =
                |condition, number, args| Val::tuple([condition, Val::I64(number), list(args)]);
            if chooses {
                let here = self.places.get(&block).copied().unwrap_or(0);
                branches.push(branch(condition, here + 1 + at as i64, Vec::new()));
                let on = branch(Val::Unit, number, args);
                self.arms.insert(0, Val::tuple([Val::I64(0), list(Vec::new()), list(vec![on])]));
            } else {
                branches.push(branch(condition, number, args));
            }
        }
        branches
    }

    fn operand(&mut self, operand: Operand) -> Val {
        if let Some(constant) = self.body.constant(operand) {
            return match constant {
                Constant::Sym(name) => self.quoted(Val::Sym(name)),
                constant => Val::constant(self.ctx, constant),
            };
        }
        operand.as_value().and_then(|v| self.known.get(&v)).cloned().unwrap_or(Val::Unit)
    }

    fn quoted(&self, value: Val) -> Val {
        Val::structure(self.types.quote_node, [value])
    }

    /// `GlobalRef(Main, :sin)`
    fn global(&mut self, name: Symbol) -> Val {
        let text = self.ctx.str(name);
        if let Some(name) = text.strip_prefix("Base.") {
            return self.base(name);
        }
        if text == "data.getfield" {
            return self.base("getfield");
        }
        let is_op = text.contains('.') && self.ctx.registry().find(text).is_some();
        if is_op || text.starts_with('#') || SYNTAX.contains(&text) {
            return self.base(text);
        }
        let (space, name) = self.world.home_of_name(name, self.space);
        let module = self.world.module_value(space);
        Val::structure(self.types.global_ref, [module, Val::Sym(name)])
    }

    fn base(&mut self, name: &str) -> Val {
        let module = self.world.module_value(Space::Base);
        Val::structure(self.types.global_ref, [module, Val::Sym(self.ctx.symbol(name))])
    }
}

fn list(values: Vec<Val>) -> Val {
    Array::of_values(ElementType::ANY, &values, &[values.len()]).map_or(Val::Unit, Val::from)
}
