//! What a call means to a derivative: attributes of the callee decide.

use regraft_dialects::{cf, core};
use regraft_ir::{Constant, Function, Module, Symbol, Type, TypeKind, Value};

/// What the derivative of a call is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum CallKind {
    /// Its result is a constant, whatever it is given (`derivative=:none`).
    Constant,
    /// It has no derivative, and says so (`derivative="text"`).
    Refused(Symbol),
    /// A rule gives the result and a pullback (`rrule=@r`). `closure` says, here and below, that
    /// the callee itself is its first argument.
    Rule { rule: Symbol, closure: bool },
    /// Its arguments are kept and it is run again on the way back (`checkpoint=true`).
    Checkpoint { name: Symbol, closure: bool },
    /// The function of that name is differentiated.
    Function { name: Symbol, closure: bool },
    /// What is called is known when the program runs.
    Dynamic,
}

/// That of the call `v`.
///
/// What is called where control does not come back from, to tell what is wrong, has no derivative
/// that anybody could ask for.
pub(super) fn call_kind(f: &Function, module: &Module, v: Value) -> CallKind {
    let end = Value::terminator(f.block_of(v));
    if f.ty(v) == Type::NEVER || f.op(end) == Some(cf::UNREACHABLE) {
        return CallKind::Constant;
    }
    let Some(callee) = f.operand(v, 0) else { return CallKind::Dynamic };
    let (name, closure) = match f.op(v) {
        Some(core::CALL) => (f.const_func(callee), false),
        Some(core::APPLY) => match *f.ctx().kind(f.operand_type(callee)) {
            TypeKind::Struct(id) => (f.ctx().struct_def(id).call, true),
            TypeKind::Fn(name) => (Some(name), false),
            _ => (None, false),
        },
        _ => (None, false),
    };
    let Some(function) = name.and_then(|name| module.get(module.find(name)?)) else {
        return CallKind::Dynamic;
    };
    let name = function.name();
    let attr =
        |key: &str| f.ctx().attr(function.function_attrs(), key).map(|c| f.ctx().constant(c));
    match attr("derivative") {
        Some(Constant::Sym(_)) => return CallKind::Constant,
        Some(Constant::Str(text)) => return CallKind::Refused(text),
        _ => {}
    }
    if let Some(Constant::Func(rule)) = attr("rrule") {
        return CallKind::Rule { rule, closure };
    }
    if attr("checkpoint") == Some(Constant::Bool(true)) {
        return CallKind::Checkpoint { name, closure };
    }
    CallKind::Function { name, closure }
}
