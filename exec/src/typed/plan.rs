//! The description of a typed function, which threads share.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use regraft_dialects::core;
use regraft_ir::{Context, Diagnostic, Function, Module, Symbol, Type, TypeKind, Value};

use super::output::Output;
use super::param::Way;
use super::params::Params;
use super::read_only::is_read_only;
use super::signature::Signature;
use crate::engine::{EngineKind, Limits};
use crate::native::Image;

/// The source of the code of a function.
#[derive(Clone, Copy)]
pub(super) enum Runs {
    /// Code that an engine makes.
    Made(EngineKind),
    /// That of an object file.
    Loaded(&'static Image),
}

/// A function that is called from outside, and all that an instance of it is made from.
pub(super) struct Plan {
    /// The place of the instances in the tables of threads.
    pub(super) place: Place,
    pub(super) module: Module,
    pub(super) function: Symbol,
    /// The type of the function itself, if that is its first parameter: a closure without captures.
    pub(super) callee: Option<Type>,
    /// The arrays among the parameters: type of the elements, rank, and whether the elements are copied.
    pub(super) arrays: Vec<(Type, u8, bool)>,
    /// By parameter.
    pub(super) copies: Vec<bool>,
    /// True if calls allocate memory, which serves again.
    pub(super) allocates: bool,
    pub(super) runs: Runs,
    pub(super) limits: Limits,
}

impl Plan {
    pub(super) fn new<F: Signature>(
        module: Module,
        function: &str,
        runs: Runs,
        limits: Limits,
    ) -> Result<Self, Diagnostic> {
        let ctx = Arc::clone(module.ctx());
        let name = ctx.symbol(function);
        let id = module.find(name);
        let Some((id, f)) = id.and_then(|id| Some((id, module.get(id)?))) else {
            return Err(Diagnostic::error(format!("there is no function @{function}")));
        };
        let (callee, params) = parameters(f, F::Params::types(&ctx).len());
        check_types::<F>(&ctx, f, &params)?;
        module.functions().try_for_each(|f| check_closed(&module, f))?;
        let first = usize::from(callee.is_some());
        let ways = F::Params::ways();
        let copy =
            |(at, way): (usize, &Way)| way.is_read_only && !is_read_only(&module, id, at + first);
        let copies: Vec<bool> = ways.iter().enumerate().map(copy).collect();
        let arrays = ways.iter().zip(&copies);
        let arrays = arrays
            .filter_map(|(way, &copies)| way.array.map(|(element, rank)| (element, rank, copies)));
        let arrays = arrays.collect();
        Ok(Self::of(module, name, callee, arrays, copies, runs, limits))
    }

    /// The description of a function whose types were checked.
    pub(super) fn of(
        module: Module,
        function: Symbol,
        callee: Option<Type>,
        arrays: Vec<(Type, u8, bool)>,
        copies: Vec<bool>,
        runs: Runs,
        limits: Limits,
    ) -> Self {
        let (place, allocates) = (Place::new(), module.functions().any(allocates));
        Self { place, module, function, callee, arrays, copies, allocates, runs, limits }
    }
}

/// The type of the function itself, if it takes that before so many others, and the types of the others.
fn parameters(f: &Function, count: usize) -> (Option<Type>, Vec<Type>) {
    let mut params = f.param_types();
    let is_empty = |ty: &Type| f.ctx().struct_of(*ty).is_some_and(|def| def.fields.is_empty());
    if params.len() == count + 1 && params.first().is_some_and(is_empty) {
        let callee = params.remove(0);
        return (Some(callee), params);
    }
    (None, params)
}

fn check_types<F: Signature>(
    ctx: &Context,
    f: &Function,
    params: &[Type],
) -> Result<(), Diagnostic> {
    let want = F::Params::types(ctx);
    let result = F::Output::ty(ctx);
    if want == params && result.is_none_or(|ty| ty == f.ret_type()) {
        return Ok(());
    }
    let list = |types: &[Type]| {
        let texts: Vec<String> = types.iter().map(|&ty| ctx.type_text(ty)).collect();
        texts.join(", ")
    };
    let have = format!("({}) -> {}", list(params), ctx.type_text(f.ret_type()));
    let result = result.unwrap_or(f.ret_type());
    let want = format!("({}) -> {}", list(&want), ctx.type_text(result));
    let rust = std::any::type_name::<F>();
    let message = format!("@{} is {have}, and {rust} in Rust is {want}", f.name_str());
    Err(Diagnostic::error(message))
}

/// Checks that a function needs nothing but its module.
pub(super) fn check_closed(module: &Module, f: &Function) -> Result<(), Diagnostic> {
    for v in f.all_insts() {
        let needs = match f.op(v) {
            Some(core::CALL | core::APPLY | core::SPLAT) if !is_known(module, f, v) => {
                "calls a function that is known only when it runs"
            }
            Some(core::GLOBAL) => "reads a global variable",
            Some(core::SET_GLOBAL) => "sets a global variable",
            Some(core::HOST) => "asks the session for something",
            _ => continue,
        };
        let message = format!("@{} {needs}", f.name_str());
        let help = "a function that is called from outside depends on its arguments alone";
        let error = Diagnostic::error(message).at_loc(f.ctx(), f.loc(v), "here");
        return Err(error.help(help));
    }
    Ok(())
}

/// Returns whether a call is one of a function of the module.
fn is_known(module: &Module, f: &Function, v: Value) -> bool {
    let Some(callee) = f.operand(v, 0) else { return false };
    let ctx = f.ctx();
    let name = match *ctx.kind(f.operand_type(callee)) {
        TypeKind::Fn(name) => Some(name),
        TypeKind::Struct(id) => ctx.struct_def(id).call,
        _ => None,
    };
    name.is_some_and(|name| module.find(name).is_some())
}

/// Returns whether calls that do not fail allocate memory.
fn allocates(f: &Function) -> bool {
    let blocks = f.blocks().filter(|&block| !f.is_cold(block));
    blocks.flat_map(|block| f.insts(block)).any(|v| {
        let def = f.op_def(v);
        let makes_tuple = f.op(v) == Some(core::TUPLE);
        makes_tuple || def.is_some_and(|def| def.effects.allocates || def.effects.opaque)
    })
}

/// A number that is one plan's as long as there is that.
pub(super) struct Place(pub(super) usize);

static FREE: Mutex<Vec<usize>> = Mutex::new(Vec::new());
static NEXT: AtomicUsize = AtomicUsize::new(0);

impl Place {
    fn new() -> Self {
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Self(free.unwrap_or_else(|| NEXT.fetch_add(1, Ordering::Relaxed)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        FREE.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.module.ctx().str(self.function);
        f.debug_struct("Plan").field("function", &name).finish_non_exhaustive()
    }
}
