//! Tangent types: what the derivative of a value of each type is made of.
//!
//! | type | tangent | shadow (has identity) | cotangent (is a value) |
//! |---|---|---|---|
//! | `f64`, `f32` | itself | `unit` | itself |
//! | integers, bools, symbols, strings, functions, types | `unit` | `unit` | `unit` |
//! | tuples, named tuples, immutable structs | tuple of those of the parts | same | same |
//! | `array<T, n>` | `array<tangent of T, n>` | the same | `unit` |
//! | `ref<T>` | `ref<tangent of T>` | the same | `unit` |
//! | mutable structs | `ref` of a named tuple of those of the fields | the same | `unit` |
//! | `any` | `any` | `any` | `any` |
//!
//! An array, ref or mutable struct of what has no tangent has none either: `unit`.
//!
//! # Why parts are never left out
//! The tangent of `tuple<i64, f64>` is `tuple<unit, f64>`, although less would do: so that the
//! tangent of a value follows from its own type and agrees with what is known before it runs,
//! where a part may be `any`.
//!
//! # Recursive types
//! A mutable struct may contain itself. Where mutable structs can be reached from the fields of a
//! mutable struct, the type of its shadow is `any`, so that all types are finite; the shadow itself
//! is what the table says. So it is with immutable structs that contain themselves, by way of
//! arrays or refs.
//!
//! ```
//! use regraft_dialects::{context, tangent::TangentTypes};
//! use regraft_ir::Type;
//!
//! let ctx = context();
//! let mut types = TangentTypes::new(&ctx);
//! let vector = ctx.array_type(Type::F64, 1);
//! assert_eq!(types.shadow(vector), vector);
//! assert_eq!(types.cotangent(vector), Type::UNIT);
//! assert_eq!(types.cotangent(Type::F64), Type::F64);
//! ```

use std::sync::Arc;

use crate::ir::{Context, Type, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// The types that the derivative of a value of some type is made of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TangentType {
    /// Both parts together: what forward mode computes, what shadows hold.
    pub tangent: Type,
    /// The part that has an identity, and is carried forward.
    pub shadow: Type,
    /// The part that is a value, and flows back.
    pub cotangent: Type,
}

impl TangentType {
    /// The tangent type of types without derivative.
    pub const NONE: Self = Self { tangent: Type::UNIT, shadow: Type::UNIT, cotangent: Type::UNIT };
}

/// Tangent types by type, computed once, together with the context of the types.
#[derive(Debug)]
pub struct TangentTypes {
    ctx: Arc<Context>,
    table: TangentTable,
}

impl TangentTypes {
    /// Of the types of this context.
    pub fn new(ctx: &Arc<Context>) -> Self {
        Self { ctx: Arc::clone(ctx), table: TangentTable::default() }
    }

    /// The context of the types.
    pub fn ctx(&self) -> &Arc<Context> {
        &self.ctx
    }

    /// The types that the derivative of a value of type `ty` is made of; see [`TangentTable::of`].
    pub fn of(&mut self, ty: Type) -> TangentType {
        self.table.of(&self.ctx, ty)
    }

    /// Both parts together.
    pub fn tangent(&mut self, ty: Type) -> Type {
        self.of(ty).tangent
    }

    /// The part that has an identity.
    pub fn shadow(&mut self, ty: Type) -> Type {
        self.of(ty).shadow
    }

    /// The part that is a value.
    pub fn cotangent(&mut self, ty: Type) -> Type {
        self.of(ty).cotangent
    }

    /// Returns whether there is any derivative with respect to a value of type `ty`.
    pub fn has_tangent(&mut self, ty: Type) -> bool {
        let of = self.of(ty);
        self.has_content(of.tangent)
    }

    /// Returns whether the shadow of a value of type `ty` holds anything.
    pub fn has_shadow(&mut self, ty: Type) -> bool {
        let of = self.of(ty);
        self.has_content(of.shadow)
    }

    /// Returns whether the cotangent of a value of type `ty` holds anything.
    pub fn has_cotangent(&mut self, ty: Type) -> bool {
        let of = self.of(ty);
        self.has_content(of.cotangent)
    }

    /// The type of the shadow object of a mutable struct, whatever type it is known by.
    pub fn object_shadow(&mut self, ty: Type) -> Option<Type> {
        self.table.object_shadow(&self.ctx, ty)
    }

    /// Returns whether a tangent, shadow or cotangent type holds anything but `unit`.
    pub fn has_content(&mut self, ty: Type) -> bool {
        self.table.has_content(&self.ctx, ty)
    }
}

/// Tangent types by type, computed once, for who has the context at hand: it has to be the same
/// one in every call.
#[derive(Debug, Default)]
pub struct TangentTable {
    known: FxHashMap<Type, TangentType>,
    /// Returns whether something other than `unit` is in a type.
    content: FxHashMap<Type, bool>,
}

impl TangentTable {
    /// The types that the derivative of a value of type `ty` is made of. O(size of the type) at first,
    /// then O(1). The recursion is as deep as types are nested, which the context limits.
    pub fn of(&mut self, ctx: &Context, ty: Type) -> TangentType {
        if let Some(&known) = self.known.get(&ty) {
            return known;
        }
        let found = self.compute(ctx, ty);
        self.known.insert(ty, found);
        found
    }

    /// The type of the shadow object of a mutable struct, whatever type it is known by.
    pub fn object_shadow(&mut self, ctx: &Context, ty: Type) -> Option<Type> {
        let def = ctx.struct_of(ty).filter(|def| def.mutable)?;
        let fields: Vec<_> =
            def.fields.iter().map(|&(name, field)| (name, self.of(ctx, field).tangent)).collect();
        let fields = ctx.named_type(&fields);
        Some(ctx.ref_type(fields))
    }

    /// Returns whether a tangent, shadow or cotangent type holds anything but `unit`.
    pub fn has_content(&mut self, ctx: &Context, ty: Type) -> bool {
        if ty == Type::UNIT {
            return false;
        }
        if let Some(&known) = self.content.get(&ty) {
            return known;
        }
        let parts: Vec<Type> = match ctx.kind(ty) {
            TypeKind::Tuple(parts) => parts.to_vec(),
            TypeKind::Named(fields) => fields.iter().map(|&(_, part)| part).collect(),
            _ => return true,
        };
        let found = parts.into_iter().any(|part| self.has_content(ctx, part));
        self.content.insert(ty, found);
        found
    }

    fn compute(&mut self, ctx: &Context, ty: Type) -> TangentType {
        if ty == Type::ANY || ty.is_float() {
            let shadow = if ty == Type::ANY { ty } else { Type::UNIT };
            return TangentType { tangent: ty, shadow, cotangent: ty };
        }
        match ctx.kind(ty) {
            TypeKind::Tuple(parts) => self.parts(ctx, parts),
            TypeKind::Named(fields) => {
                let types: Vec<Type> = fields.iter().map(|&(_, ty)| ty).collect();
                let of: Vec<TangentType> = types.iter().map(|&part| self.of(ctx, part)).collect();
                let named = |part: fn(&TangentType) -> Type| {
                    let named: Vec<_> =
                        fields.iter().zip(&of).map(|(&(name, _), of)| (name, part(of))).collect();
                    ctx.named_type(&named)
                };
                TangentType {
                    tangent: named(|of| of.tangent),
                    shadow: named(|of| of.shadow),
                    cotangent: named(|of| of.cotangent),
                }
            }
            &TypeKind::Array { element, rank } => {
                let element = self.of(ctx, element).tangent;
                if self.has_content(ctx, element) {
                    object(ctx.array_type(element, rank))
                } else {
                    TangentType::NONE
                }
            }
            &TypeKind::Ref(element) => {
                let element = self.of(ctx, element).tangent;
                if self.has_content(ctx, element) {
                    object(ctx.ref_type(element))
                } else {
                    TangentType::NONE
                }
            }
            &TypeKind::Struct(id) => {
                let def = ctx.struct_def(id);
                let fields: Vec<Type> = def.fields.iter().map(|&(_, ty)| ty).collect();
                if !def.mutable {
                    if reaches(ctx, &fields, |found, _| found == ty) {
                        return self.of(ctx, Type::ANY);
                    }
                    let fields = ctx.named_type(&def.fields);
                    return self.of(ctx, fields);
                }
                if reaches(ctx, &fields, |_, mutable| mutable) {
                    return object(Type::ANY);
                }
                match self.object_shadow(ctx, ty) {
                    Some(shadow) => {
                        let inner = match ctx.kind(shadow) {
                            &TypeKind::Ref(inner) => inner,
                            _ => Type::UNIT,
                        };
                        if self.has_content(ctx, inner) {
                            object(shadow)
                        } else {
                            TangentType::NONE
                        }
                    }
                    None => TangentType::NONE,
                }
            }
            _ => TangentType::NONE,
        }
    }

    fn parts(&mut self, ctx: &Context, parts: &[Type]) -> TangentType {
        let of: Vec<TangentType> = parts.iter().map(|&part| self.of(ctx, part)).collect();
        let tuple = |part: fn(&TangentType) -> Type| {
            let types: Vec<Type> = of.iter().map(part).collect();
            ctx.tuple_type(&types)
        };
        TangentType {
            tangent: tuple(|of| of.tangent),
            shadow: tuple(|of| of.shadow),
            cotangent: tuple(|of| of.cotangent),
        }
    }
}

/// Returns whether such a struct, by its type and whether it is mutable, is among these types or
/// their parts.
fn reaches(ctx: &Context, types: &[Type], wanted: impl Fn(Type, bool) -> bool) -> bool {
    let mut seen = FxHashSet::default();
    let mut pending = types.to_vec();
    while let Some(ty) = pending.pop() {
        if !seen.insert(ty) {
            continue;
        }
        match ctx.kind(ty) {
            TypeKind::Tuple(parts) => pending.extend(parts.iter().copied()),
            TypeKind::Named(fields) => pending.extend(fields.iter().map(|&(_, ty)| ty)),
            &(TypeKind::Array { element: of, .. } | TypeKind::Ref(of)) => pending.push(of),
            &TypeKind::Struct(id) => {
                let def = ctx.struct_def(id);
                if wanted(ty, def.mutable) {
                    return true;
                }
                pending.extend(def.fields.iter().map(|&(_, ty)| ty));
            }
            _ => {}
        }
    }
    false
}

fn object(ty: Type) -> TangentType {
    TangentType { tangent: ty, shadow: ty, cotangent: Type::UNIT }
}
