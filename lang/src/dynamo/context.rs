//! Contexts: the dynamos behind `overdub` and `recurse` of the package `Cassette`.
//!
//! `overdub(c, f, args...)` has the code of `f`, in which every call `g(x)` is one of
//! `overdub(c, g, x)` between the hooks, where the program has hooks for such contexts: see
//! [`regraft_passes::overdub`]. Within, another context is a function as any other, so that contexts
//! nest; the code of the inner one is rewritten for the outer one.

use std::rc::Rc;
use std::sync::Arc;

use regraft_dialects::{cf, core};
use regraft_ir::{
    Block, Const, Constant, Context, Diagnostic, Function, Location, Operand, Type, TypeKind, Value,
};
use regraft_passes::overdub::{Overdub, Seen};
use rustc_hash::FxHashSet;

use super::seen::seen;
use super::untag::{Untag, untag_callee, untag_operands};
use crate::definition::Space;
use crate::intrinsics::op_of_intrinsic;
use crate::world::{Code, DynamoCx, World};

/// The name of the package.
const PACKAGE: &str = "Cassette";

/// Defines the dynamos, once the package is there.
///
/// # Errors
/// If its types are not.
pub(crate) fn define(world: &mut World) -> Result<(), Vec<Diagnostic>> {
    let space = Space::Module(world.ctx().symbol(PACKAGE));
    world.dynamo("overdub(context::Context, args...)", space, Rc::new(overdub))?;
    world.dynamo("recurse(context::Context, args...)", space, Rc::new(recurse))?;
    world.define_dynamo("(w::Within)(args...)", space, Some(true), Rc::new(within))
}

/// The properties of a context that its type tells.
struct Traits {
    /// True if there may be tagged values.
    tags: bool,
    /// True if code goes through a pass of the program first.
    has_pass: bool,
    /// True if hooks are called.
    has_hooks: bool,
}

fn traits(ctx: &Context, context: Type) -> Traits {
    let field = |name: &str| {
        let def = ctx.struct_of(context)?;
        def.fields.iter().find(|(field, _)| ctx.str(*field) == name).map(|&(_, ty)| ty)
    };
    let is_plain = |name: &str| field(name) == Some(Type::UNIT);
    Traits {
        tags: !is_plain("tag"),
        has_pass: !is_plain("pass"),
        has_hooks: is_plain("hooktoggle"),
    }
}

/// A function of the package.
fn function(ctx: &Context, name: &str) -> Const {
    ctx.constant_id(Constant::Func(ctx.symbol(&format!("{PACKAGE}.{name}"))))
}

/// Returns whether the program has a method of a function of the package for a context.
fn has_own(cx: &mut DynamoCx<'_>, name: &str, context: Type) -> bool {
    let ctx = Arc::clone(cx.world.ctx());
    let Constant::Func(name) = ctx.constant(function(&ctx, name)) else { return true };
    let package = Space::Module(ctx.symbol(PACKAGE));
    cx.world.has_methods_for(ctx.ty(TypeKind::Fn(name)), context, package, cx.by)
}

/// The code of `overdub(context, callee, args...)` where the program has no method of its own.
fn overdub(cx: &mut DynamoCx<'_>, types: &[Type]) -> Result<Code, Vec<Diagnostic>> {
    let &[context, callee, ref args @ ..] = types else { return Err(nothing_to_call()) };
    if has_own(cx, "canrecurse", context) {
        return choice(cx, types).map_err(Vec::from);
    }
    // Its derivative is that of the rule, whatever is within.
    if cx.world.has_reverse_rule(callee, args, cx.by) {
        let ctx = Arc::clone(cx.world.ctx());
        return forward(&ctx, types.len(), function(&ctx, "fallback"));
    }
    recurse(cx, types)
}

/// `canrecurse(all...) ? recurse(all...) : fallback(all...)`
fn choice(cx: &DynamoCx<'_>, types: &[Type]) -> regraft_ir::IrResult<Code> {
    let ctx = cx.world.ctx();
    let mut f = Function::new(ctx, "", &vec![Type::ANY; types.len()], Type::ANY);
    let entry = f.entry().expect("a new function has an entry");
    let all: Vec<Value> = f.params(entry).collect();
    let can = f.push(entry, core::apply(function(ctx, "canrecurse"), all.clone(), Type::ANY))?;
    let mut arms = Vec::with_capacity(2);
    for name in ["recurse", "fallback"] {
        let block = f.add_block();
        let result = f.push(block, core::apply(function(ctx, name), all.clone(), Type::ANY))?;
        f.set_terminator(block, cf::ret(result))?;
        arms.push(block);
    }
    f.set_terminator(entry, cf::jump_if(can, arms[0], arms[1]))?;
    Ok(Code::new(f))
}

/// The code of `recurse(context, callee, args...)`.
fn recurse(cx: &mut DynamoCx<'_>, types: &[Type]) -> Result<Code, Vec<Diagnostic>> {
    let &[context, callee, ref args @ ..] = types else { return Err(nothing_to_call()) };
    let ctx = Arc::clone(cx.world.ctx());
    let traits = traits(&ctx, context);
    let forward = |name| forward(&ctx, types.len(), function(&ctx, name));
    let (known, args): (Type, Vec<Type>) = match traits.tags {
        true => (untagged(&ctx, callee), args.iter().map(|&ty| untagged(&ctx, ty)).collect()),
        false => (callee, args.to_vec()),
    };
    let invoked = match traits.tags {
        true => None,
        false => cx.invoked_behind(1, known, &args)?,
    };
    // The parameter for the function whose code it is.
    let itself = if invoked.is_some() { 2 } else { 1 };
    let lowered = match invoked {
        Some(code) => Some(code),
        None => cx.lowered_behind(1, known, &args)?,
    };
    let Some(mut code) = lowered else {
        let is_plain = !traits.tags && !has_own(cx, "fallback", context);
        return match op_of(&ctx, callee, &args).filter(|_| is_plain) {
            Some(op) => op_call(&ctx, op, types.len()).map_err(Vec::from),
            None => forward("fallback"),
        };
    };
    if traits.has_pass {
        return forward("recurse_with_pass");
    }
    let hooks = hooks(cx, context);
    let has_lines = traits.has_hooks && has_own(cx, "linehook", context);
    let f = code.function_mut();
    let params: Vec<Value> = f.entry().map_or(Vec::new(), |entry| f.params(entry).collect());
    let (Some(&context), Some(&itself)) = (params.first(), params.get(itself)) else {
        return Err(nothing_to_call());
    };
    let lines = match has_lines {
        true => insert_line_hooks(&ctx, f, context)?,
        false => FxHashSet::default(),
    };
    let first = [Operand::from(context)];
    let world = &*cx.world;
    let seen = |f: &Function, v| match lines.contains(&v) {
        true => Seen::Not,
        false => seen(world, f, v, Some(itself)),
    };
    in_context(&ctx, &first, hooks).run(f, seen)?;
    if traits.tags {
        let untag = Untag { all: function(&ctx, "untag"), outer: function(&ctx, "untag_outer") };
        untag_operands(f, untag, context, |f, v| seen(f, v) != Seen::Not)?;
        if known != callee {
            untag_callee(f, untag.outer, context, itself)?;
        }
    }
    Ok(code)
}

/// The functions `prehook` and `posthook`, as far as the program has such hooks for a context.
fn hooks(cx: &mut DynamoCx<'_>, context: Type) -> [Option<Const>; 2] {
    let ctx = Arc::clone(cx.world.ctx());
    let has_hooks = traits(&ctx, context).has_hooks;
    ["prehook", "posthook"]
        .map(|name| (has_hooks && has_own(cx, name, context)).then(|| function(&ctx, name)))
}

/// Calls `linehook(context, file, line)` where control gets to an instruction of another line than that
/// before it. Returns these calls.
fn insert_line_hooks(
    ctx: &Arc<Context>,
    f: &mut Function,
    context: Value,
) -> Result<FxHashSet<Value>, Vec<Diagnostic>> {
    let hook = function(ctx, "linehook");
    let mut hooks = FxHashSet::default();
    let blocks: Vec<Block> = f.blocks().collect();
    for block in blocks {
        let mut last = None;
        let insts: Vec<Value> = f.body(block).collect();
        for v in insts {
            let Location::File { file, line, .. } = ctx.location(f.loc(v)) else { continue };
            let place = Some((file, line));
            if last == place {
                continue;
            }
            let Some((file, line)) = &place else { continue };
            let file = ctx.constant_id(Constant::Str(ctx.symbol(file)));
            let line = ctx.constant_id(Constant::I64(i64::from(*line)));
            let args = [Operand::from(context), file.into(), line.into()];
            hooks.insert(f.insert(v, core::apply(hook, args, Type::ANY))?);
            last = place;
        }
    }
    Ok(hooks)
}

/// Sends calls through the functions of the package.
fn in_context<'a>(
    ctx: &Context,
    context: &'a [Operand],
    [before, after]: [Option<Const>; 2],
) -> Overdub<'a> {
    Overdub {
        first: context,
        through: function(ctx, "overdub"),
        before,
        after,
        name_op: ctx.constant_id(Constant::Func(ctx.symbol("#intrinsic"))),
        within: (function(ctx, "within"), context),
    }
}

/// The code of a call of what `within(context, f)` gives: one of `f` between the hooks.
fn within(cx: &mut DynamoCx<'_>, types: &[Type]) -> Result<Code, Vec<Diagnostic>> {
    let ctx = Arc::clone(cx.world.ctx());
    let context = ctx.struct_of(cx.callee).and_then(|def| def.fields.first().map(|field| field.1));
    let Some(context) = context else { return Err(nothing_to_call()) };
    let hooks = hooks(cx, context);
    let mut f = Function::new(&ctx, "", &vec![Type::ANY; types.len() + 1], Type::ANY);
    let entry = f.entry().expect("a new function has an entry");
    let params: Vec<Value> = f.params(entry).collect();
    let (itself, args) = params.split_first().expect("there is the callee at least");
    let getfield = ctx.constant_id(Constant::Func(ctx.symbol("Base.getfield")));
    let [context, callee] = ["context", "callee"].map(|name| {
        let name = ctx.constant_id(Constant::Sym(ctx.symbol(name)));
        f.push(entry, core::call(getfield, [Operand::from(*itself), name.into()], Type::ANY))
    });
    let (context, callee) = (context?, callee?);
    let call = f.push(entry, core::apply(callee, args.iter().copied(), Type::ANY))?;
    f.set_terminator(entry, cf::ret(call))?;
    let first = [context.into()];
    in_context(&ctx, &first, hooks)
        .run(&mut f, |_, v| if v == call { Seen::Call } else { Seen::Not })?;
    Ok(Code::new(f))
}

/// The op that an intrinsic function is for arguments of these types.
fn op_of(ctx: &Context, callee: Type, args: &[Type]) -> Option<Const> {
    let TypeKind::Fn(name) = *ctx.kind(callee) else { return None };
    if ctx.registry().find(ctx.str(name)).is_some() {
        return Some(ctx.constant_id(Constant::Func(name)));
    }
    let op = ctx.symbol(op_of_intrinsic(ctx, ctx.str(name), args)?);
    Some(ctx.constant_id(Constant::Func(op)))
}

/// The code that calls an op with all parameters but context and callee: inference folds it as any op.
fn op_call(ctx: &Arc<Context>, op: Const, params: usize) -> regraft_ir::IrResult<Code> {
    let mut f = Function::new(ctx, "", &vec![Type::ANY; params], Type::ANY);
    let entry = f.entry().expect("a new function has an entry");
    let args: Vec<Value> = f.params(entry).skip(2).collect();
    let result = f.push(entry, core::call(op, args, Type::ANY))?;
    f.set_terminator(entry, cf::ret(result))?;
    Ok(Code { passes_on: true, ..Code::new(f) })
}

/// The code that calls a function with all parameters.
fn forward(ctx: &Arc<Context>, params: usize, function: Const) -> Result<Code, Vec<Diagnostic>> {
    let mut f = Function::new(ctx, "", &vec![Type::ANY; params], Type::ANY);
    let entry = f.entry().expect("a new function has an entry");
    let all: Vec<Value> = f.params(entry).collect();
    let result = f
        .push(entry, core::apply(function, all, Type::ANY))
        .and_then(|result| f.set_terminator(entry, cf::ret(result)));
    result.map(|()| Code { passes_on: true, ..Code::new(f) }).map_err(Vec::from)
}

/// The type of a value without tags, in tuples as well.
fn untagged(ctx: &Context, ty: Type) -> Type {
    match ctx.kind(ty) {
        TypeKind::Tuple(parts) => {
            let parts: Vec<Type> = parts.iter().map(|&part| untagged(ctx, part)).collect();
            ctx.ty(TypeKind::Tuple(parts.into()))
        }
        TypeKind::Named(fields) => {
            let fields: Vec<_> =
                fields.iter().map(|&(name, ty)| (name, untagged(ctx, ty))).collect();
            ctx.named_type(&fields)
        }
        &TypeKind::Struct(id) => {
            let def = ctx.struct_def(id);
            let is_tagged = ctx.str(def.name).starts_with("Cassette.Tagged{");
            match def.fields.iter().find(|(name, _)| is_tagged && ctx.str(*name) == "value") {
                Some(&(_, value)) => untagged(ctx, value),
                None => ty,
            }
        }
        _ => ty,
    }
}

fn nothing_to_call() -> Vec<Diagnostic> {
    vec![Diagnostic::error("a context and a function are expected")]
}
