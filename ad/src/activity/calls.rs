//! What a call goes to, and what is said of the derivative of that.

use regraft_dialects::core;
use regraft_ir::{Constant, FuncId, Function, Module, Symbol, TypeKind, Value};

/// What a call goes to.
#[derive(Clone, Debug)]
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
}

/// What the call `v` of `f` goes to.
pub(crate) fn call_site(module: &Module, f: &Function, v: Value) -> CallSite {
    let op = f.op(v);
    let dynamic = CallSite { target: Target::Dynamic, first: 1 };
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
    let args = f.operand_count(v) - first;
    CallSite { target: target(module, name, args), first }
}

fn target(module: &Module, name: Symbol, args: usize) -> Target {
    let ctx = module.ctx();
    let Some((id, f)) = module.find(name).and_then(|id| Some((id, module.get(id)?))) else {
        return Target::Refused(format!("@{} is not a function of this module", ctx.str(name)));
    };
    let attr = |name| ctx.attr(f.function_attrs(), name).map(|value| ctx.constant(value));
    if let Some(Constant::Func(rule)) = attr("frule") {
        return match module.find(rule) {
            Some(rule) => Target::Rule(rule),
            None => Target::Refused(format!(
                "its rule @{} is not a function of this module",
                ctx.str(rule)
            )),
        };
    }
    match attr("derivative") {
        Some(Constant::Sym(_)) => return Target::Constant,
        Some(Constant::Str(why)) => return Target::Refused(ctx.str(why).to_owned()),
        _ => {}
    }
    // A call that passes too much or too little stops the program.
    let fits = f.entry().is_some_and(|entry| f.param_count(entry) == args);
    if fits { Target::Function(id) } else { Target::Constant }
}
