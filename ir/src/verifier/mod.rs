//! The rules that a function has to satisfy beyond the invariants that its methods keep.
//!
//! Checked are signatures (operands, attributes and result of each op), that every use is
//! dominated by its definition, terminators, edges against the parameters of their targets, what
//! is returned, and, within a module, calls of its functions. All errors are reported at once,
//! each with its line in the printed function. What stands in unreachable blocks may use
//! anything, since it never runs; everything else holds for it as well.
//!
//! O(size), and fast if there is nothing to say: nothing is allocated per instruction, "before"
//! in a block is a comparison of two numbers, and dominators are found only if a value that is
//! not of the entry block is used in another block.

use std::sync::Arc;

use crate::function::Facts;
use crate::signature::result_type;
use crate::{
    Block, Context, Diagnostic, DominatorTree, Function, InstView, Module, Op, OpDef, Operand,
    OperandIter, OperandKind, Registry, Syntax, Traits, Type, TypeKind, Value,
};

mod cache;
mod module;
mod report;

pub use cache::{VerifyCache, verify_changed};
pub use module::verify_module;
use report::{Place, Report};

/// Verifies a function by itself: calls are taken at their word.
///
/// # Errors
/// Everything that is wrong, in layout order.
pub fn verify_function(f: &Function) -> Result<(), Vec<Diagnostic>> {
    Verifier::new(f, None).run()
}

/// Verifies a function, and its calls of functions of `module`. Those of functions that are not
/// there are taken at their word.
///
/// # Errors
/// As [`verify_function`].
pub fn verify_function_in(f: &Function, module: &Module) -> Result<(), Vec<Diagnostic>> {
    if !Arc::ptr_eq(f.ctx(), module.ctx()) {
        let message = format!("@{} is over another context than its module", f.name_str());
        return Err(vec![Diagnostic::error(message)]);
    }
    Verifier::new(f, Some(module)).run()
}

struct Verifier<'a> {
    f: &'a Function,
    ctx: &'a Context,
    registry: &'a Registry,
    module: Option<&'a Module>,
    /// `Block::NONE` if there is none.
    entry: Block,
    tree: Option<DominatorTree>,
    report: Report<'a>,
    // Operands and their types of the instruction at hand, kept for their memory.
    operands: Vec<Operand>,
    types: Vec<Type>,
}

impl<'a> Verifier<'a> {
    fn new(f: &'a Function, module: Option<&'a Module>) -> Self {
        let ctx: &Context = f.ctx();
        Self {
            f,
            ctx,
            registry: ctx.registry(),
            module,
            entry: f.entry().unwrap_or(Block::NONE),
            tree: None,
            report: Report::new(f),
            operands: Vec::new(),
            types: Vec::new(),
        }
    }

    fn run(mut self) -> Result<(), Vec<Diagnostic>> {
        if cfg!(debug_assertions)
            && let Err(error) = self.f.check_invariants()
        {
            // Walking over broken links might not even end.
            panic!("the links of @{} are broken: {error}", self.f.name_str());
        }
        self.function();
        self.report.finish()
    }

    fn function(&mut self) {
        let f = self.f;
        self.declared_type(Place::Signature, "the return type", f.ret_type());
        if f.entry().is_none() {
            self.report.error(Place::Signature, format!("@{} has no entry block", f.name_str()));
        }
        for b in f.blocks() {
            let place = if b == self.entry { Place::Signature } else { Place::Block(b) };
            for v in f.params(b) {
                self.declared_type(place, "the type of a parameter", f.ty(v));
            }
            for v in f.body(b) {
                self.inst(v, b);
            }
            let end = Value::terminator(b);
            match f.terminator(b) {
                Some(_) => self.inst(end, b),
                None => self.report.error(Place::Inst(end), format!("{b} has no terminator")),
            }
        }
    }

    #[inline]
    fn declared_type(&mut self, place: Place, what: &str, ty: Type) {
        if ty.index() >= Type::BUILTIN.len() && !self.ctx.has_type(ty) {
            self.report.error(place, format!("{what} is a type of another context"));
        }
    }

    #[inline]
    fn inst(&mut self, v: Value, b: Block) {
        let place = Place::Inst(v);
        let (facts, operands) = self.f.facts_and_operands(v).expect("it is in a block");
        let Some(def) = self.registry.def(facts.op) else {
            let message = format!("{:?} belongs to no registered dialect", facts.op);
            return self.report.error(place, message);
        };
        self.declared_type(place, "the type of the result", facts.ty);
        if def.is_terminator() != v.is_terminator() {
            self.misplaced(v, b, def);
        }
        if !self.operands(v, b, def, facts.seq, operands) {
            // What the signature would say of the rest is no news.
            return;
        }
        let Facts { ty, attrs, .. } = facts;
        if !attrs.is_empty() && self.ctx.try_attr_entries(attrs).is_none() {
            let message = format!("the attributes of `{}` are of another context", def.mnemonic());
            return self.report.error(place, message);
        }
        let (operands, types) = (&self.operands[..], &self.types[..]);
        let view = InstView { ctx: self.ctx, def, operands, types, attrs, ty };
        match result_type(&view) {
            Err(message) => self.report.error(place, message),
            // A terminator defines nothing.
            Ok(found) if !found.is_assignable_to(ty) && !v.is_terminator() => {
                self.result_mismatch(v, def, found, ty);
            }
            Ok(_) => {}
        }
        if v.is_terminator() {
            self.leaving(v, def);
        }
        if def.traits.contains(Traits::CALL) && self.module.is_some() {
            self.call(v, def, ty);
        }
    }

    /// Collects the operands of an instruction and their types; `false` if one is unusable.
    #[inline]
    fn operands(
        &mut self,
        v: Value,
        b: Block,
        def: &OpDef,
        seq: u32,
        operands: OperandIter<'_>,
    ) -> bool {
        self.operands.clear();
        self.types.clear();
        let mut usable = true;
        for (i, operand) in operands.enumerate() {
            let ty = match operand.kind() {
                OperandKind::Value(used) => match self.f.facts(used) {
                    Some(facts) if is_usable(used, facts.op) => {
                        let before = if facts.block == b {
                            facts.op == Op::PARAM || v.is_terminator() || facts.seq < seq
                        } else {
                            facts.block == self.entry || self.dominates(facts.block, b)
                        };
                        if !before {
                            self.not_dominated(v, b, def, i, used);
                        }
                        facts.ty
                    }
                    _ => {
                        usable = false;
                        self.unusable_value(v, def, i, used);
                        Type::ANY
                    }
                },
                OperandKind::Const(c) if self.ctx.has_constant(c) => self.ctx.constant_type(c),
                OperandKind::Block(target) if self.f.is_live_block(target) => Type::NEVER,
                OperandKind::Const(_) | OperandKind::Block(_) => {
                    usable = false;
                    self.unusable_operand(v, def, i, operand);
                    Type::ANY
                }
            };
            self.operands.push(operand);
            self.types.push(ty);
        }
        usable
    }

    #[inline]
    fn dominates(&mut self, a: Block, b: Block) -> bool {
        self.tree().dominates(a, b)
    }

    #[inline]
    fn tree(&mut self) -> &DominatorTree {
        self.tree.get_or_insert_with(|| DominatorTree::compute(self.f))
    }

    // --- leaving a block -------------------------------------------------------------------

    /// Checks what a terminator passes on: to the caller, and along its edges. Its operands and
    /// their types are at hand.
    fn leaving(&mut self, v: Value, def: &OpDef) {
        if def.traits.contains(Traits::RETURN) {
            let (have, want) =
                (self.types.first().copied().unwrap_or(Type::UNIT), self.f.ret_type());
            if !have.is_assignable_to(want) {
                let (name, have, want) =
                    (self.f.name_str(), self.ctx.type_text(have), self.ctx.type_text(want));
                let op = def.mnemonic();
                let message = format!("`{op}` of type {have} in @{name}, which returns {want}");
                self.report.error(Place::Inst(v), message);
            }
        }
        let mut from = self.operands.iter().position(|o| o.is_block()).unwrap_or(usize::MAX);
        while let Some(target) = self.operands.get(from).and_then(|o| o.as_block()) {
            let rest = &self.operands[from + 1..];
            let count = rest.iter().position(|o| o.is_block()).unwrap_or(rest.len());
            self.edge(v, def, target, from + 1, count);
            from += 1 + count;
        }
    }

    /// Checks the `count` arguments from operand `first` on against the parameters of `target`.
    #[inline]
    fn edge(&mut self, v: Value, def: &OpDef, target: Block, first: usize, count: usize) {
        let (f, ctx) = (self.f, self.ctx);
        let want = f.param_count(target);
        let op = def.mnemonic();
        if count != want {
            let (arguments, parameters) = (plural(count, "argument"), plural(want, "parameter"));
            let message = format!("`{op}` passes {arguments} to {target}, which has {parameters}");
            return self.report.error(Place::Inst(v), message);
        }
        for (i, param) in f.params(target).enumerate() {
            let (have, want) = (self.types[first + i], f.ty(param));
            if !have.is_assignable_to(want) {
                let (have, want) = (ctx.type_text(have), ctx.type_text(want));
                let (arg, param) = (f.operand_text(self.operands[first + i]), f.value_text(param));
                let message = format!(
                    "`{op}` passes {arg} of type {have} for the parameter {param} of {target}, \
                     which is of type {want}"
                );
                self.report.error(Place::Inst(v), message);
            }
        }
    }

    // --- calls -----------------------------------------------------------------------------

    /// Checks a call of a function of the module.
    #[inline]
    fn call(&mut self, v: Value, def: &OpDef, ty: Type) {
        let Some(module) = self.module else { return };
        let Some(&callee) = self.types.first() else { return };
        let TypeKind::Fn(name) = *self.ctx.kind(callee) else { return };
        let Some(callee) = module.find(name).and_then(|id| module.get(id)) else { return };
        let op = def.mnemonic();
        let ret = callee.ret_type();
        if !ret.is_assignable_to(ty) {
            let (have, want) = (self.ctx.type_text(ret), self.ctx.type_text(ty));
            let name = self.ctx.str(name);
            let message = format!("`{op}` of type {want}, but @{name} returns {have}");
            self.report.error(Place::Inst(v), message);
        }
        if matches!(def.syntax, Syntax::Call(_)) {
            self.call_arguments(v, op, callee);
        }
    }

    #[inline]
    fn call_arguments(&mut self, v: Value, op: &str, callee: &Function) {
        let Some(entry) = callee.entry() else { return };
        let (have, want) = (self.types.len() - 1, callee.param_count(entry));
        let name = callee.name_str();
        if have != want {
            let (arguments, parameters) = (plural(have, "argument"), plural(want, "parameter"));
            let message = format!("`{op}` passes {arguments} to @{name}, which has {parameters}");
            return self.report.error(Place::Inst(v), message);
        }
        for (i, param) in callee.params(entry).enumerate() {
            let (have, want) = (self.types[1 + i], callee.ty(param));
            if !have.is_assignable_to(want) {
                let (have, want) = (self.ctx.type_text(have), self.ctx.type_text(want));
                let arg = self.f.operand_text(self.operands[1 + i]);
                let message = format!(
                    "`{op}` passes {arg} of type {have} for parameter {} of @{name}, which is of \
                     type {want}",
                    i + 1
                );
                self.report.error(Place::Inst(v), message);
            }
        }
    }

    // --- messages --------------------------------------------------------------------------

    #[cold]
    fn misplaced(&mut self, v: Value, b: Block, def: &OpDef) {
        let op = def.mnemonic();
        let message = if v.is_terminator() {
            format!("{b} ends with `{op}`, which is no terminator")
        } else {
            format!("`{op}` is a terminator and cannot stand within {b}")
        };
        self.report.error(Place::Inst(v), message);
    }

    #[cold]
    fn result_mismatch(&mut self, v: Value, def: &OpDef, found: Type, recorded: Type) {
        let (found, recorded) = (self.ctx.type_text(found), self.ctx.type_text(recorded));
        let (v_text, op) = (self.f.value_text(v), def.mnemonic());
        let message = format!("{v_text} is of type {recorded}, but `{op}` gives {found} here");
        self.report.error(Place::Inst(v), message);
    }

    /// A use that is not dominated, unless it never runs.
    #[cold]
    fn not_dominated(&mut self, v: Value, b: Block, def: &OpDef, index: usize, used: Value) {
        if !self.tree().is_reachable(b) {
            return;
        }
        let (f, op, position) = (self.f, def.mnemonic(), index + 1);
        let home = f.block_of(used);
        let used_text = f.value_text(used);
        let why = if used == v {
            "which it defines itself".to_owned()
        } else if home == b {
            format!("which is defined after it in {b}")
        } else if self.tree().is_reachable(home) {
            format!("which is defined in {home}; {home} does not dominate {b}")
        } else {
            format!("which is defined in {home}; {home} is not reachable")
        };
        let message = format!("operand {position} of `{op}` is {used_text}, {why}");
        self.report.related(Place::Inst(v), message, used);
    }

    #[cold]
    fn unusable_value(&mut self, v: Value, def: &OpDef, index: usize, used: Value) {
        let (op, position) = (def.mnemonic(), index + 1);
        let why = match (used.is_terminator(), self.f.facts(used)) {
            (true, _) => "which defines no value",
            (_, Some(Facts { op: Op::MISSING, .. })) => "which is not defined",
            (_, Some(_)) => "which was deleted",
            (_, None) => "which is a value of another function",
        };
        let message = format!("operand {position} of `{op}` is {used}, {why}");
        self.report.error(Place::Inst(v), message);
    }

    #[cold]
    fn unusable_operand(&mut self, v: Value, def: &OpDef, index: usize, operand: Operand) {
        let (op, position) = (def.mnemonic(), index + 1);
        let what = match operand.as_block() {
            None => "a constant of another context".to_owned(),
            Some(b) if self.f.has_block(b) => {
                format!("{b}, which is not in the function")
            }
            Some(b) => format!("{b}, which is a block of another function"),
        };
        self.report.error(Place::Inst(v), format!("operand {position} of `{op}` is {what}"));
    }
}

/// Returns whether a value whose record has this op can be an operand.
#[inline]
fn is_usable(v: Value, op: Op) -> bool {
    op != Op::DEAD && op != Op::MISSING && !v.is_terminator()
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests;
