//! Drops reverse parts when no pullback holds them any more: see [`held`](super::held).

use regraft_exec::Val;
use regraft_ir::{Context, Symbol, Type, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::deriver::Deriver;
use super::held::world;
use crate::world::SpecId;

impl Deriver<'_> {
    /// The present world, if it is another one than when this was last asked.
    pub(crate) fn new_world(&mut self) -> Option<Val> {
        let mut held = self.derivatives.held.borrow_mut();
        std::mem::take(&mut held.is_new).then(|| held.worlds[held.worlds.len() - 1].1.clone())
    }

    /// The names of the functions that stay although `dropped` are wrong: reverse parts that
    /// pullbacks hold, and what they call. `dropped` is sorted.
    pub(crate) fn still_held(&mut self, dropped: &[SpecId]) -> FxHashSet<Symbol> {
        let derivatives = self.derivatives;
        let mut held = derivatives.held.borrow_mut();
        held.forget_worlds();
        let present = held.present();
        let (mut is_dropped, mut gone) = (false, FxHashSet::default());
        let mut parts = std::mem::take(&mut held.parts);
        parts.retain_mut(|part| {
            let id = self.spec_by_name(part.name);
            if part.until.is_none() && id.is_none_or(|id| dropped.binary_search(&id).is_ok()) {
                part.until = Some(present);
                is_dropped = true;
            }
            let stays =
                part.until.is_none_or(|until| id.is_some() && held.is_held(part.from, until));
            if !stays {
                gone.insert(part.name);
            }
            stays
        });
        let held_names = parts.iter().filter(|part| part.until.is_some()).map(|part| part.name);
        let mut pending: Vec<Symbol> = held_names.collect();
        let mut reached: FxHashSet<Symbol> = pending.iter().copied().collect();
        held.parts = parts;
        if is_dropped && !pending.is_empty() {
            held.worlds.push((present + 1, world()));
            held.is_new = true;
        }
        drop(held);
        if !gone.is_empty() {
            self.forget_pullbacks(&gone);
        }
        while let Some(name) = pending.pop() {
            let Some(id) = self.spec_by_name(name) else { continue };
            let Some(f) = &self.spec(id).function else { continue };
            for operand in f.all_insts().flat_map(|v| f.operands(v)) {
                let called =
                    f.const_func(operand).filter(|&name| self.spec_by_name(name).is_some());
                pending.extend(called.filter(|&name| reached.insert(name)));
            }
        }
        reached
    }

    /// Drops what was inferred for pullbacks of these reverse parts, of which there are none any
    /// more. O(size of the types of all specialisations).
    fn forget_pullbacks(&mut self, gone: &FxHashSet<Symbol>) {
        let ctx = self.ctx().clone();
        let mut known = FxHashMap::default();
        let mut wrong: Vec<SpecId> = Vec::new();
        self.for_each_key(|id, types| {
            if types.iter().any(|&ty| mentions(&ctx, ty, gone, &mut known)) {
                wrong.push(id);
            }
        });
        for id in wrong {
            self.world.invalidate(id);
        }
    }
}

/// Returns whether values of a type hold one of these functions. The recursion is as deep as types
/// are nested, which the context limits.
fn mentions(
    ctx: &Context,
    ty: Type,
    functions: &FxHashSet<Symbol>,
    known: &mut FxHashMap<Type, bool>,
) -> bool {
    if ty.index() < Type::BUILTIN.len() {
        return false;
    }
    if let Some(&known) = known.get(&ty) {
        return known;
    }
    // For a type that contains itself.
    known.insert(ty, false);
    let mut part = |ty: Type| mentions(ctx, ty, functions, known);
    let found = match ctx.kind(ty) {
        TypeKind::Fn(name) => functions.contains(name),
        TypeKind::Tuple(parts) => parts.iter().any(|&ty| part(ty)),
        TypeKind::Named(fields) => fields.iter().any(|&(_, ty)| part(ty)),
        &TypeKind::Struct(id) => ctx.struct_def(id).fields.iter().any(|&(_, ty)| part(ty)),
        &(TypeKind::Array { element: of, .. } | TypeKind::Ref(of) | TypeKind::TypeOf(of)) => {
            part(of)
        }
        TypeKind::Val(_) | TypeKind::Builtin => false,
    };
    known.insert(ty, found);
    found
}
