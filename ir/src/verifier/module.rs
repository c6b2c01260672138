//! A module as a whole: names, struct definitions, and each function.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::verify_function_in;
use crate::{Context, Diagnostic, Module, StructDef, StructId, Symbol, Type, TypeKind};

/// Verifies the struct types and all functions of a module.
///
/// # Errors
/// Everything that is wrong: in the module as a whole first, then by function.
pub fn verify_module(module: &Module) -> Result<(), Vec<Diagnostic>> {
    let mut errors = verify_items(module);
    for f in module.functions() {
        errors.extend(verify_function_in(f, module).err().unwrap_or_default());
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Checks everything but the insides of functions.
pub(super) fn verify_items(module: &Module) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    let mut error = |message: String| errors.push(Diagnostic::error(message));
    let ctx = module.ctx();
    let mut names = FxHashSet::default();
    for &id in module.ids() {
        let Some(f) = module.get(id) else { continue };
        if !Arc::ptr_eq(f.ctx(), ctx) {
            // `verify_function_in` says so; its names mean nothing here.
            continue;
        }
        if !names.insert(f.name()) {
            error(format!("there are two functions @{}", f.name_str()));
        } else if module.find(f.name()) != Some(id) {
            error(format!("the module knows @{} under another name", f.name_str()));
        }
    }
    let mut names = FxHashSet::default();
    for &(id, ty) in module.structs() {
        let def = ctx.struct_def(id);
        let name = ctx.str(def.name);
        if !names.insert(def.name) {
            error(format!("there are two structs @{name}"));
        }
        let mut fields = FxHashSet::default();
        for &(field, field_type) in &def.fields {
            if !fields.insert(field) {
                error(format!("struct @{name} has two fields `{}`", ctx.str(field)));
            }
            if field_type == Type::NEVER {
                let field = ctx.str(field);
                error(format!("field `{field}` of struct @{name} is of type never"));
            }
        }
        if let Some(body) = def.call.and_then(|call| module.function(ctx.str(call))) {
            let first = body.entry().and_then(|entry| body.param(entry, 0)).map(|v| body.ty(v));
            if !first.is_some_and(|first| ty.is_assignable_to(first)) {
                let have = first.map_or("nothing".to_owned(), |first| ctx.type_text(first));
                let body = body.name_str();
                error(format!(
                    "struct @{name} is called by @{body}, which takes {have} first, not @{name}"
                ));
            }
        }
    }
    if let Some(name) = infinite_struct(module) {
        error(format!("struct @{} contains itself and would be of infinite size", ctx.str(name)));
    }
    errors
}

/// An immutable struct that is part of itself. A depth-first search for a cycle, without
/// recursion.
fn infinite_struct(module: &Module) -> Option<Symbol> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        Open,
        Done,
    }
    let ctx = module.ctx();
    let mut marks: FxHashMap<StructId, Mark> = FxHashMap::default();
    for &(root, _) in module.structs() {
        let mut stack = vec![(root, false)];
        while let Some((id, leave)) = stack.pop() {
            if leave {
                marks.insert(id, Mark::Done);
                continue;
            }
            match marks.get(&id) {
                Some(Mark::Done) => continue,
                Some(Mark::Open) => return Some(ctx.struct_def(id).name),
                None => {}
            }
            let def = ctx.struct_def(id);
            if def.mutable {
                marks.insert(id, Mark::Done);
                continue;
            }
            marks.insert(id, Mark::Open);
            stack.push((id, true));
            stack.extend(parts(ctx, &def).into_iter().map(|part| (part, false)));
        }
    }
    None
}

/// The structs that are stored within a struct, in its tuples and named tuples as well.
fn parts(ctx: &Context, def: &StructDef) -> Vec<StructId> {
    let mut parts = Vec::new();
    let mut seen = FxHashSet::default();
    let mut rest: Vec<Type> = def.fields.iter().map(|&(_, ty)| ty).collect();
    while let Some(ty) = rest.pop() {
        if !seen.insert(ty) {
            continue;
        }
        match ctx.kind(ty) {
            TypeKind::Tuple(elements) => rest.extend(elements),
            TypeKind::Named(fields) => rest.extend(fields.iter().map(|&(_, ty)| ty)),
            TypeKind::Struct(id) => parts.push(*id),
            _ => {}
        }
    }
    parts
}
