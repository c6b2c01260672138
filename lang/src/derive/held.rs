//! Reverse parts that pullbacks hold, and how long they stay.
//!
//! A pullback is made of what the forward part kept and of the name of the reverse part that was
//! generated together with it. A definition that comes between the two makes the derivative wrong
//! for new calls, not for that pullback: the reverse part and all that it calls stay, under their
//! names, as long as there may be a pullback that they belong to.
//!
//! # Method
//! A pullback also holds the *world* in which it was made: an object that the global `#world` holds,
//! and that is exchanged when a definition drops a reverse part. A reverse part that was dropped
//! stays as long as somebody else holds a world in which it could be found. Where values are
//! counted, that is to look at a count (compare epoch-based reclamation: K. Fraser, "Practical
//! lock-freedom", 2004, section 5.2.3).
//!
//! Names of reverse parts are never used again.
//!
//! # Cost
//! Nothing until something is dropped; then linear in the size of what the held parts call.

use regraft_exec::Val;
use regraft_exec::value::Shared;
use regraft_ir::{Context, Symbol, Type, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::infer::Compiler;
use crate::world::SpecId;

/// Reverse parts, and the worlds that somebody may hold.
#[derive(Debug)]
pub(crate) struct Held {
    /// With their numbers, oldest first. The last one is the present one.
    worlds: Vec<(u32, Val)>,
    parts: Vec<Part>,
    /// The names of all reverse parts that there ever were.
    names: FxHashSet<Symbol>,
    /// Whether the world is another one than the session knows.
    is_new: bool,
}

#[derive(Debug)]
struct Part {
    name: Symbol,
    /// The world in which it was made.
    from: u32,
    /// The last world in which it could be found.
    until: Option<u32>,
}

impl Held {
    pub(crate) fn new() -> Self {
        let worlds = vec![(0, world())];
        Self { worlds, parts: Vec::new(), names: FxHashSet::default(), is_new: true }
    }

    /// Whether a reverse part has or had that name.
    pub(super) fn had(&self, name: Symbol) -> bool {
        self.names.contains(&name)
    }

    /// Notes a reverse part that was made.
    pub(super) fn add(&mut self, name: Symbol) {
        self.names.insert(name);
        self.parts.push(Part { name, from: self.present(), until: None });
    }

    fn present(&self) -> u32 {
        self.worlds.last().map_or(0, |&(number, _)| number)
    }

    /// Drops the worlds that nobody holds but this table and, the last one, the session.
    fn forget_worlds(&mut self) {
        let present = self.present();
        self.worlds.retain(|(number, world)| *number == present || is_held(world, 1));
    }

    /// Whether a pullback may be there that was made in one of these worlds.
    fn is_held(&self, from: u32, until: u32) -> bool {
        self.worlds.iter().any(|(number, world)| {
            let known = if *number == self.present() { 2 } else { 1 };
            (from..=until).contains(number) && is_held(world, known)
        })
    }
}

/// The type of the object that a world is.
pub(crate) fn world_type(ctx: &Context) -> Type {
    ctx.ref_type(Type::UNIT)
}

fn world() -> Val {
    Val::reference(Type::UNIT, Val::Unit)
}

/// Whether more than `known` places hold an object.
fn is_held(world: &Val, known: usize) -> bool {
    matches!(world, Val::Ref(cell) if Shared::strong_count(cell) > known)
}

impl Compiler {
    /// The present world, if it is another one than when this was last asked.
    pub(crate) fn new_world(&mut self) -> Option<Val> {
        let held = &mut self.derived.held;
        std::mem::take(&mut held.is_new).then(|| held.worlds[held.worlds.len() - 1].1.clone())
    }

    /// The names of the functions that stay although `dropped` are wrong: reverse parts that
    /// pullbacks hold, and what they call. `dropped` is sorted.
    pub(crate) fn still_held(&mut self, dropped: &[SpecId]) -> FxHashSet<Symbol> {
        self.derived.held.forget_worlds();
        let present = self.derived.held.present();
        let (mut is_dropped, mut gone) = (false, FxHashSet::default());
        let mut parts = std::mem::take(&mut self.derived.held.parts);
        parts.retain_mut(|part| {
            let id = self.spec_by_name(part.name);
            if part.until.is_none() && id.is_none_or(|id| dropped.binary_search(&id).is_ok()) {
                part.until = Some(present);
                is_dropped = true;
            }
            let held = &self.derived.held;
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
        let held = &mut self.derived.held;
        held.parts = parts;
        if is_dropped && !pending.is_empty() {
            held.worlds.push((present + 1, world()));
            held.is_new = true;
        }
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

/// Whether values of a type hold one of these functions. The recursion is as deep as types are
/// nested, which the context limits.
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
