//! Makes ordinary control flow of `core.try`: functions return whether they failed.
//!
//! ```text
//! func @f(%1: f64) -> f64 {                        func @f(%1: f64) -> f64 {
//! ^1:                                              ^1:
//!   %2: f64 = core.try @body, @handler, %1           %3 = call @body.checked(%1)
//!   return %2                                        %4: bool = core.get %3, 1
//! }                                                  br %4, ^3, ^4
//! func @body(%1: f64) -> f64 {                     ^3:
//! ^1:                                                %5: f64 = core.get %3, 2
//!   %2: bool = arith.lt %1, 0.0                =>    br ^2(%5)
//!   br %2, ^2, ^3                                  ^4:
//! ^2:                                                %6: any = core.get %3, 3
//!   core.throw @MyError ..                           %7: f64 = call @handler(%6, %1)
//!   unreachable                                      br ^2(%7)
//! ^3:                                              ^2(%2: f64):
//!   return %1                                        return %2
//! }                                                }
//! ```
//!
//! `@body.checked` is `@body`, but where that fails it returns `false`, something for the result, and
//! the error; where it returns, `true`, the result, and `nothing`.
//!
//! # Method
//! Status returns in place of unwinding, as compilers lower exceptions for machines without tables.
//! 1. Each `core.try` becomes a call of the checked body, a branch, and a call of the handler.
//! 2. For each function that is called checked, a copy is made in which blocks are split behind
//!    everything that may trap. A call becomes one of a checked function. Of another op it is first
//!    tried whether it traps: a function of its own, `@f.probe`, runs it within a `core.try` and
//!    returns whether that went well, and the error. What cannot be run twice is run within such a
//!    function once. So a `core.try` around one op is all that stays.
//!
//! # Why it is right
//! A checked function does what the function does until that fails, and then nothing more. The error is
//! the one that the handler would get. Probes are run right before what they stand for, and leave
//! memory as that will leave it.
//!
//! Limits are no part of the meaning of a program: a handler does not get to see the overflow of
//! the stack, and the end of memory or an interrupt only where an op is tried.
//!
//! # Cost
//! O(size of the functions that are called within a `core.try`); each is copied once.

mod checked;
mod probe;

use std::collections::VecDeque;
use std::sync::Arc;

use regraft_dialects::{cf, core};
use regraft_ir::{
    Block, Constant, Context, ControlFlow, Function, Inst, IrResult, Module, Operand, Symbol, Type,
    TypeKind, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

use self::probe::Probes;
use crate::analysis::EffectSummaries;
use crate::options::{OptionDef, Options};
use crate::{ModulePass, PassContext, PassResult};

crate::pass! {
    /// Makes ordinary control flow of `core.try`, for passes that do not know it, such as
    /// derivatives.
    ///
    /// ```text
    /// func @f(%1: f64) -> f64 {                      func @f(%1: f64) -> f64 {
    /// ^1:                                            ^1:
    ///   %2: f64 = core.try @body, @handler, %1         %3 = call @body.checked(%1)
    ///   return %2                               =>     %4: bool = core.get %3, 1
    /// }                                                br %4, ^3, ^4
    ///                                                ..
    /// ```
    ///
    /// `@body.checked` does what `@body` does, and returns a tuple: whether it came to its end, the
    /// result, the error. So do the functions that it calls. Single ops that may trap are tried in
    /// functions of their own.
    ///
    /// `dynamic` names a function that calls what is known only when the program runs: it takes the
    /// callee and its arguments, and returns such a tuple, with a result of type `any`. Without it,
    /// such calls stay within a `core.try`.
    #[derive(Debug, Default)]
    pub struct LowerTry {
        dynamic: String,
    }
}

impl ModulePass for LowerTry {
    const NAME: &'static str = "lower-try";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] =
        &[OptionDef::text("dynamic", "", "the function that calls what is not known, or none")];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        options.text("dynamic").trim_start_matches('@').clone_into(&mut self.dynamic);
        Ok(())
    }

    fn run(&mut self, module: &mut Module, cx: &mut PassContext<'_>) -> PassResult {
        let has_try = |module: &Module, f: &Function| !tries(module, f).is_empty();
        if !module.functions().any(|f| has_try(module, f)) {
            return Ok(());
        }
        let ctx = Arc::clone(module.ctx());
        let dynamic = (!self.dynamic.is_empty()).then(|| ctx.symbol(&self.dynamic));
        let summaries = EffectSummaries::compute(module);
        let mut lowering = Lowering {
            ctx,
            dynamic,
            summaries,
            checked: FxHashMap::default(),
            names: FxHashSet::default(),
            pending: VecDeque::new(),
            probes: Probes::default(),
            lowered: 0,
        };
        let ids: Vec<_> = module.ids().to_vec();
        for id in ids {
            if module.get(id).is_some_and(|f| has_try(module, f)) {
                let mut f = module.get(id).expect("it is there").clone();
                lowering.lower_all(module, &mut f)?;
                module.set(id, f)?;
            }
        }
        while let Some(name) = lowering.pending.pop_front() {
            lowering.make_checked(module, name)?;
        }
        cx.add("core.try lowered", lowering.lowered);
        cx.add("functions checked", lowering.checked.len() as u64);
        Ok(())
    }
}

/// Deletes the blocks that control never comes to.
fn delete_unreachable(f: &mut Function) -> IrResult<()> {
    let cfg = ControlFlow::compute(f);
    let unreachable: Vec<Block> = f.blocks().filter(|&block| !cfg.is_reachable(block)).collect();
    f.delete_blocks(&unreachable)
}

/// The `core.try` of a function that are to be lowered: all but those around one op.
fn tries(module: &Module, f: &Function) -> Vec<Value> {
    let is_alone = |v: Value| {
        let body = f.operand(v, 0).and_then(|body| f.const_func(body));
        let body = body.and_then(|body| module.find(body)).and_then(|id| module.get(id));
        body.is_some_and(|body| f.ctx().attr(body.function_attrs(), ALONE).is_some())
    };
    f.all_insts().filter(|&v| f.op(v) == Some(core::TRY) && !is_alone(v)).collect()
}

/// The attribute of functions that run one op, as the bodies of the `core.try` that stay.
const ALONE: &str = "runs_one_op";

struct Lowering {
    ctx: Arc<Context>,
    dynamic: Option<Symbol>,
    summaries: EffectSummaries,
    /// The names of checked functions, by those of the functions.
    checked: FxHashMap<Symbol, Symbol>,
    /// These names.
    names: FxHashSet<Symbol>,
    /// The functions whose checked ones are still to be made.
    pending: VecDeque<Symbol>,
    probes: Probes,
    lowered: u64,
}

impl Lowering {
    /// Lowers each `core.try` of a function.
    fn lower_all(&mut self, module: &Module, f: &mut Function) -> IrResult<()> {
        for v in tries(module, f) {
            self.lower(module, f, v)?;
        }
        delete_unreachable(f)
    }

    fn lower(&mut self, module: &Module, f: &mut Function, v: Value) -> IrResult<()> {
        let callee = |position| f.operand(v, position).and_then(|callee| f.const_func(callee));
        let (Some(body), Some(handler)) = (callee(0), callee(1)) else { return Ok(()) };
        let Some(result) = self.result_of(module, body) else { return Ok(()) };
        self.lowered += 1;
        let (ty, loc) = (f.ty(v), f.loc(v));
        let captures: Vec<Operand> = f.operands(v).skip(2).collect();
        let ctx = Arc::clone(&self.ctx);
        let constant = |name| -> Operand { ctx.constant_id(Constant::Func(name)).into() };
        if !self.summaries.of(body).may_trap {
            let call = core::call(constant(body), captures, ty).at(loc);
            return f.replace(v, call);
        }
        let checked = self.checked(module, body);
        let outcome = self.outcome(result);
        let call = core::call(constant(checked), captures.iter().copied(), outcome);
        let call = f.insert(v, call.at(loc).made_from(v))?;
        let end = f.split_block(v)?;
        let block = f.block_of(call);
        let (failed, fine) = (f.add_block_after(block)?, f.add_block_after(block)?);
        self.branch(f, call, fine, failed)?;
        if ty != Type::NEVER {
            let param = f.append_param(end, ty)?;
            f.replace_named(v, param)?;
        }
        f.delete(v)?;
        let unreachable = || Inst::new(cf::UNREACHABLE).at(loc);
        if result == Type::NEVER {
            f.set_terminator(fine, unreachable())?;
        } else {
            let value = f.push(fine, core::get(call, f.constant_id(2)).at(loc))?;
            let value = self.as_type(f, fine, value.into(), ty)?;
            f.set_terminator(fine, cf::br(end, [value]))?;
        }
        let error = f.push(failed, core::get(call, f.constant_id(3)).at(loc))?;
        let args = std::iter::once(error.into()).chain(captures);
        if self.result_of(module, handler) == Some(Type::NEVER) {
            f.push(failed, core::call(constant(handler), args, Type::NEVER).at(loc))?;
            return f.set_terminator(failed, unreachable());
        }
        let handled = f.push(failed, core::call(constant(handler), args, ty).at(loc))?;
        f.set_terminator(failed, cf::br(end, [Operand::from(handled)]))
    }

    /// Ends the block of `outcome`, a tuple that begins with whether all is fine, with a branch.
    fn branch(&self, f: &mut Function, outcome: Value, fine: Block, failed: Block) -> IrResult<()> {
        let (block, loc) = (f.block_of(outcome), f.loc(outcome));
        f.remove_terminator(block)?;
        let is_fine = f.push(block, core::get(outcome, f.constant_id(1)).at(loc))?;
        f.set_terminator(block, cf::jump_if(is_fine, fine, failed).at(loc))
    }

    /// A value as one of another type that it is of, at the end of a block.
    fn as_type(
        &self,
        f: &mut Function,
        block: Block,
        value: Operand,
        ty: Type,
    ) -> IrResult<Operand> {
        let have = f.operand_type(value);
        if have == ty {
            return Ok(value);
        }
        let widens = have.is_assignable_to(ty);
        let inst = if widens { core::convert(value, ty) } else { core::typeassert(value, ty) };
        Ok(f.push(block, inst)?.into())
    }

    /// The type of what a function returns, if it is in the module.
    fn result_of(&self, module: &Module, name: Symbol) -> Option<Type> {
        let f = module.find(name).and_then(|id| module.get(id))?;
        f.entry().map(|_| f.ret_type())
    }

    /// The type of what a checked function returns: whether all is fine, the result, the error.
    fn outcome(&self, result: Type) -> Type {
        let result = if result == Type::NEVER { Type::UNIT } else { result };
        self.ctx.ty(TypeKind::Tuple(Box::new([Type::BOOL, result, Type::ANY])))
    }

    /// The name of the checked function of a function.
    fn checked(&mut self, module: &Module, name: Symbol) -> Symbol {
        if let Some(&known) = self.checked.get(&name) {
            return known;
        }
        let checked = self.new_name(module, name, "checked");
        self.checked.insert(name, checked);
        self.pending.push_back(name);
        checked
    }

    /// A name that no function has.
    fn new_name(&mut self, module: &Module, of: Symbol, part: &str) -> Symbol {
        let text = format!("{}.{part}", self.ctx.str(of));
        let mut name = self.ctx.symbol(&text);
        let mut count = 1;
        while module.find(name).is_some() || self.names.contains(&name) {
            count += 1;
            name = self.ctx.symbol(&format!("{text}.{count}"));
        }
        self.names.insert(name);
        name
    }
}
