//! The context of operations on tangents: types of tangents, new objects, errors.

use std::fmt;

use regraft_ir::{Context, Symbol, Type, TypeKind};

use super::workspace::Workspace;
use crate::error::Trap;
use crate::value::{Array, ElementType, Val};

/// Operations on tangents, on the values of programs over one context.
#[derive(Clone, Copy)]
pub struct Tangents<'a> {
    pub(super) ctx: &'a Context,
    pub(super) workspace: &'a Workspace,
}

impl<'a> Tangents<'a> {
    pub(crate) fn new(ctx: &'a Context, workspace: &'a Workspace) -> Self {
        Self { ctx, workspace }
    }

    /// The type of the elements of the shadow of what holds values of type `element`, if it has
    /// one.
    pub(super) fn shadow_element(self, element: Type) -> Option<Type> {
        let mut types = self.workspace.tangent_types();
        let tangent = types.of(self.ctx, element).tangent;
        types.has_content(self.ctx, tangent).then_some(tangent)
    }

    /// The type of what the shadow of a mutable struct holds, if it has one.
    pub(super) fn shadow_of_object(self, ty: Type) -> Option<Type> {
        let mut types = self.workspace.tangent_types();
        let shadow = types.object_shadow(self.ctx, ty)?;
        let &TypeKind::Ref(inner) = self.ctx.kind(shadow) else { return None };
        types.has_content(self.ctx, inner).then_some(inner)
    }

    /// The shape of the named tuple of the fields of a struct.
    pub(super) fn field_shape(self, ty: Type) -> Option<Type> {
        self.workspace.shape(ty, || {
            let def = self.ctx.struct_of(ty)?;
            Some(Val::named_shape(self.ctx, def.fields.iter().map(|&(name, _)| name)))
        })
    }

    /// The shape of named tuples of type `ty`, which has these fields.
    pub(super) fn shape(self, ty: Type, fields: &[(Symbol, Type)]) -> Type {
        let make = || Some(Val::named_shape(self.ctx, fields.iter().map(|&(name, _)| name)));
        self.workspace.shape(ty, make).unwrap_or(ty)
    }

    pub(super) fn reserve_fields(self, count: usize) -> Result<(), Trap> {
        self.workspace.budget.reserve_fields(count)
    }

    /// A ref that is to be filled.
    pub(super) fn new_ref(self, element: Type) -> Result<Val, Trap> {
        self.reserve_fields(1)?;
        Ok(Val::reference(element, Val::Unit))
    }

    /// An array of the size of another one that is to be filled.
    pub(super) fn new_array(self, element: Type, like: &Array) -> Result<Val, Trap> {
        let element = ElementType::of(self.ctx, element);
        self.workspace.budget.reserve_array(element, like.len())?;
        let array = Array::new(element, &like.dims());
        array.map(Val::from).map_err(|error| Trap::new("OutOfMemoryError", error.to_string()))
    }

    pub(super) fn type_text(self, value: &Val) -> String {
        self.workspace.texts(self.ctx).type_of(value)
    }

    #[cold]
    pub(super) fn no_tangent(self, value: &Val) -> Trap {
        Trap::type_error(format!("a value of type {} is not a tangent", self.type_text(value)))
    }

    #[cold]
    pub(super) fn mismatch(self, what: &str, a: &Val, b: &Val) -> Trap {
        let (a, b) = (self.type_text(a), self.type_text(b));
        Trap::type_error(format!("{what} of types {a} and {b}"))
    }

    /// Checks that two arrays have the same size.
    pub(super) fn check_sizes(self, a: &Array, b: &Array) -> Result<(), Trap> {
        let (x, y) = (a.dims(), b.dims());
        if x == y { Ok(()) } else { Err(sizes_differ(&x, &y)) }
    }
}

impl fmt::Debug for Tangents<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tangents").finish_non_exhaustive()
    }
}

#[cold]
fn sizes_differ(x: &[usize], y: &[usize]) -> Trap {
    let text = |dims: &[usize]| {
        let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
        format!("({}{})", dims.join(", "), if dims.len() == 1 { "," } else { "" })
    };
    let (x, y) = (text(x), text(y));
    Trap::new("DimensionMismatch", format!("dimensions must match: found {x} and {y}"))
}

#[cold]
pub(super) fn counts_differ(x: usize, y: usize) -> Trap {
    let message = format!("tuples must be of the same length: found {x} and {y} elements");
    Trap::new("DimensionMismatch", message)
}
