//! The classification of calls: where a call goes, and what attributes of the callee say of its
//! derivative.

use regraft_dialects::{cf, core};
use regraft_ir::{Constant, FuncId, Function, Module, Op, Symbol, Type, TypeKind, Value};

/// The two ways to differentiate, as far as attributes tell them apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Rules are `frule=@r`.
    Forward,
    /// Rules are `rrule=@r`.
    Reverse,
}

/// The target of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// A function that is differentiated.
    Function(FuncId),
    /// A function for which there is another one that computes its derivative.
    Rule(FuncId),
    /// A function that is declared to be constant, or a call that fails.
    Constant,
    /// A function of which no derivative may be taken, and why.
    Refused(String),
    /// It shows when the program runs.
    Dynamic,
}

/// A call and its arguments.
#[derive(Clone, Debug)]
pub(crate) struct CallSite {
    pub(crate) target: Target,
    /// The position of the first operand that is an argument: a closure is one itself.
    pub(crate) first: usize,
    /// Tells whether the callee asks to be run again on the way back (`checkpoint=true`).
    pub(crate) is_recomputed: bool,
}

/// Returns whether an op calls something.
pub(crate) fn is_call(op: Op) -> bool {
    matches!(op, core::CALL | core::APPLY | core::SPLAT)
}

/// Classifies the call `v` of `f`.
///
/// A call where control does not come back from, to tell what is wrong, is constant: it has no
/// derivative that anybody could ask for.
pub(crate) fn call_site(module: &Module, f: &Function, v: Value, mode: Mode) -> CallSite {
    let op = f.op(v);
    let site = |target, first| CallSite { target, first, is_recomputed: false };
    if f.ty(v) == Type::NEVER || f.op(Value::terminator(f.block_of(v))) == Some(cf::UNREACHABLE) {
        return site(Target::Constant, 1);
    }
    let dynamic = site(Target::Dynamic, 1);
    let Some(callee) = f.operand(v, 0).filter(|_| op != Some(core::SPLAT)) else { return dynamic };
    let (name, first) = match *f.ctx().kind(f.operand_type(callee)) {
        TypeKind::Fn(name) => (name, 1),
        TypeKind::Struct(id) => match f.ctx().struct_def(id).call {
            Some(name) => (name, 0),
            None => return dynamic,
        },
        _ => return dynamic,
    };
    // A generic function, of which the running program chooses the method.
    if op == Some(core::APPLY) && module.find(name).is_none() {
        return dynamic;
    }
    let (target, is_recomputed) = target(module, name, f.operand_count(v) - first, mode);
    CallSite { target, first, is_recomputed }
}

fn target(module: &Module, name: Symbol, args: usize, mode: Mode) -> (Target, bool) {
    let ctx = module.ctx();
    let missing = |what: &str, name| {
        Target::Refused(format!("{what}@{} is not a function of this module", ctx.str(name)))
    };
    let Some((id, f)) = module.find(name).and_then(|id| Some((id, module.get(id)?))) else {
        return (missing("", name), false);
    };
    let attr = |name| ctx.attr(f.function_attrs(), name).map(|value| ctx.constant(value));
    let rule = match mode {
        Mode::Forward => "frule",
        Mode::Reverse => "rrule",
    };
    if let Some(Constant::Func(rule)) = attr(rule) {
        let target = module.find(rule).map(Target::Rule);
        return (target.unwrap_or_else(|| missing("its rule ", rule)), false);
    }
    match attr("derivative") {
        Some(Constant::Sym(_)) => return (Target::Constant, false),
        Some(Constant::Str(why)) => return (Target::Refused(ctx.str(why).to_owned()), false),
        _ => {}
    }
    // A call that passes too much or too little stops the program.
    let fits = f.entry().is_some_and(|entry| f.param_count(entry) == args);
    let target = if fits { Target::Function(id) } else { Target::Constant };
    (target, mode == Mode::Reverse && attr("checkpoint") == Some(Constant::Bool(true)))
}
