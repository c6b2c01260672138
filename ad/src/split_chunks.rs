//! Parameters of functions that run in chunks, taken apart.
//!
//! ```text
//! %2 = data.new %x, %y
//! %3 = call @f(%2, %n)    =>    %3 = call @f.split(%x, %y, %n)
//! ```
//!
//! A loop that threads share is a closure to the functions that run it. Each of its captures becomes a
//! parameter, so that each is active or not, read or written, by itself. The new kernel puts the values together
//! and calls the old one, which is inlined there.
//!
//! The parts of a struct whose name begins with [`OWN_STRUCT`] are those that each chunk reads elements of its
//! own of: the attribute [`OWN`](regraft_dialects::chunks::OWN) says so.
//!
//! O(size of the module).

use std::sync::Arc;

use regraft_dialects::chunks::{self, chunk_loop};
use regraft_dialects::{cf, core, data};
use regraft_ir::{
    Constant, Context, Diagnostic, Function, FunctionBuilder, IrResult, Module, Operand, Symbol,
    Type, TypeKind, Value,
};
use rustc_hash::FxHashMap;

/// The beginning of the names of structs of which each chunk reads elements of its own.
const OWN_STRUCT: &str = "#Own{";
/// The number of parameters that a function has at most when they are taken apart, and how deep they are.
const MAX_LEAVES: usize = 48;
const MAX_DEPTH: usize = 8;

/// A value as it is put together.
#[derive(Debug)]
enum Shape {
    /// A parameter.
    Leaf {
        is_own: bool,
    },
    Parts(Vec<(Type, Shape)>),
}

/// Takes the parameters of all functions of a module that run in chunks apart.
///
/// # Errors
/// If the context has no room for the new functions.
pub fn split_chunks(module: &mut Module) -> Result<(), Diagnostic> {
    let ctx = Arc::clone(module.ctx());
    let mut made: FxHashMap<Symbol, (Symbol, Vec<(Type, Shape)>)> = FxHashMap::default();
    for id in module.ids().to_vec() {
        let Some(f) = module.get(id) else { continue };
        let Some((kernel, result)) = chunks::kernel(f) else { continue };
        let mut params = f.param_types();
        if params.pop() != Some(Type::I64) {
            continue;
        }
        let is_struct = |&ty: &Type| !fields(&ctx, ty).is_empty();
        if !params.iter().any(is_struct) {
            continue;
        }
        let shapes: Vec<(Type, Shape)> =
            params.iter().map(|&ty| (ty, shape(&ctx, ty, false, 0))).collect();
        let mut leaves = Vec::new();
        shapes.iter().for_each(|(ty, shape)| flatten(*ty, shape, &mut leaves));
        if leaves.len() > MAX_LEAVES {
            continue;
        }
        let old = f.name();
        let (loc, name) = (f.function_loc(), f.name_str().to_owned());
        let types: Vec<Type> = leaves.iter().map(|&(ty, _)| ty).collect();
        let own = leaves
            .iter()
            .enumerate()
            .fold(0, |own, (i, &(_, is_own))| own | i64::from(is_own) << i);
        let new_kernel = fresh(module, &format!("{}.split", ctx.str(kernel)));
        let mut one = joining_kernel(&ctx, new_kernel, kernel, &shapes, &types, result)?;
        one.set_function_loc(loc);
        chunks::mark(&mut one, false, 0);
        module.add(one)?;
        let new = fresh(module, &format!("{name}.split"));
        let mut whole = chunk_loop(&ctx, ctx.str(new), new_kernel, &types, result)?;
        whole.set_function_loc(loc);
        chunks::mark(&mut whole, true, own);
        module.add(whole)?;
        if let Some(kernel) = module.find(kernel).and_then(|id| module.get_mut(id)) {
            let inline = [(ctx.symbol("inline"), ctx.constant_id(Constant::Bool(true)))];
            kernel.set_function_attrs(ctx.attrs(&inline));
        }
        made.insert(old, (new, shapes));
    }
    if made.is_empty() {
        return Ok(());
    }
    for id in module.ids().to_vec() {
        let Some(f) = module.get_mut(id) else { continue };
        if made.contains_key(&f.name()) {
            // Nobody calls it any more, and it keeps its kernel from being inlined where that is called once.
            module.remove(id);
            continue;
        }
        for v in f.all_insts().collect::<Vec<_>>() {
            let callee = f.operand(v, 0).filter(|_| f.op(v) == Some(core::CALL));
            let found = callee.and_then(|callee| made.get(&f.const_func(callee)?));
            if let Some((new, shapes)) = found {
                split_call(f, v, *new, shapes)?;
            }
        }
    }
    Ok(())
}

/// The types of the parts of a value that has no identity; none if it is not put together.
fn fields(ctx: &Context, ty: Type) -> Vec<Type> {
    match ctx.kind(ty) {
        TypeKind::Tuple(parts) => parts.to_vec(),
        TypeKind::Named(fields) => fields.iter().map(|&(_, ty)| ty).collect(),
        &TypeKind::Struct(id) => match ctx.struct_def(id) {
            def if def.mutable => Vec::new(),
            def => def.fields.iter().map(|&(_, ty)| ty).collect(),
        },
        _ => Vec::new(),
    }
}

fn shape(ctx: &Context, ty: Type, is_own: bool, depth: usize) -> Shape {
    let is_own =
        is_own || ctx.struct_of(ty).is_some_and(|def| ctx.str(def.name).starts_with(OWN_STRUCT));
    let parts = fields(ctx, ty);
    if parts.is_empty() || depth == MAX_DEPTH {
        return Shape::Leaf { is_own };
    }
    Shape::Parts(parts.into_iter().map(|ty| (ty, shape(ctx, ty, is_own, depth + 1))).collect())
}

fn flatten(ty: Type, shape: &Shape, leaves: &mut Vec<(Type, bool)>) {
    match shape {
        Shape::Leaf { is_own } => leaves.push((ty, *is_own)),
        Shape::Parts(parts) => parts.iter().for_each(|(ty, shape)| flatten(*ty, shape, leaves)),
    }
}

fn fresh(module: &Module, text: &str) -> Symbol {
    let mut name = module.ctx().symbol(text);
    let mut count = 1;
    while module.find(name).is_some() {
        count += 1;
        name = module.ctx().symbol(&format!("{text}_{count}"));
    }
    name
}

/// The kernel of parts, which puts values together.
fn joining_kernel(
    ctx: &Arc<Context>,
    name: Symbol,
    kernel: Symbol,
    shapes: &[(Type, Shape)],
    types: &[Type],
    result: Type,
) -> IrResult<Function> {
    let params = [types, &[Type::I64]].concat();
    let mut b = FunctionBuilder::new(ctx, ctx.str(name), &params, result);
    let mut leaves =
        (0..params.len()).map(|i| Operand::from(b.param(i))).collect::<Vec<_>>().into_iter();
    let mut args = Vec::with_capacity(shapes.len() + 1);
    for (ty, shape) in shapes {
        args.push(join(&mut b, *ty, shape, &mut leaves)?);
    }
    args.extend(leaves);
    let callee = ctx.constant_id(Constant::Func(kernel));
    let value = b.push(core::call(callee, args, result))?;
    b.terminate(cf::ret(value))?;
    b.finish()
}

fn join(
    b: &mut FunctionBuilder,
    ty: Type,
    shape: &Shape,
    leaves: &mut impl Iterator<Item = Operand>,
) -> IrResult<Operand> {
    let parts = match shape {
        Shape::Leaf { .. } => {
            return Ok(leaves.next().expect("there is a parameter for each leaf"));
        }
        Shape::Parts(parts) => parts,
    };
    let mut values = Vec::with_capacity(parts.len());
    for (ty, shape) in parts {
        values.push(join(b, *ty, shape, leaves)?);
    }
    let inst = match b.ctx().kind(ty) {
        TypeKind::Tuple(_) => core::tuple(values),
        TypeKind::Named(_) => data::named(values, ty),
        _ => data::new(values, ty),
    };
    Ok(b.push(inst)?.into())
}

/// Calls the new function with the parts of what the old one was called with.
fn split_call(
    f: &mut Function,
    v: Value,
    new: Symbol,
    shapes: &[(Type, Shape)],
) -> Result<(), Diagnostic> {
    let ctx = Arc::clone(f.ctx());
    let (loc, ty) = (f.loc(v), f.ty(v));
    let operands: Vec<Operand> = f.operands(v).skip(1).collect();
    let mut args = Vec::new();
    let mut pending: Vec<(Operand, &Shape)> =
        operands.iter().copied().zip(shapes.iter().map(|(_, shape)| shape)).rev().collect();
    while let Some((value, shape)) = pending.pop() {
        let Shape::Parts(parts) = shape else {
            args.push(value);
            continue;
        };
        let mut values = Vec::with_capacity(parts.len());
        for (i, (_, shape)) in parts.iter().enumerate() {
            let index = ctx.constant_id(Constant::I64(i as i64 + 1));
            let part = f.insert(v, core::get(value, index).at(loc))?;
            values.push((Operand::from(part), shape));
        }
        pending.extend(values.into_iter().rev());
    }
    args.extend(operands.last());
    let callee = ctx.constant_id(Constant::Func(new));
    f.replace(v, core::call(callee, args, ty).at(loc))?;
    Ok(())
}
