//! Places of floats in values, by which they are read and changed.

use regraft_exec::Val;
use regraft_exec::value::{Array, Object, RefCellObject, Shared};

/// A place of a value: the parts of immutable values to go through, from a root or from what
/// an object holds.
#[derive(Clone)]
pub(super) struct Place {
    base: Base,
    fields: Vec<usize>,
}

#[derive(Clone)]
pub(super) enum Base {
    Root(usize),
    Element(Shared<Array>, usize),
    Cell(Shared<RefCellObject>),
    Field(Shared<Object>, usize),
}

impl Base {
    fn get(&self, roots: &[Val]) -> Option<Val> {
        match self {
            Self::Root(index) => roots.get(*index).cloned(),
            Self::Element(array, index) => array.get(*index),
            Self::Cell(cell) => Some(cell.get()),
            Self::Field(object, index) => object.get(*index),
        }
    }

    fn set(&self, roots: &mut [Val], value: Val) -> Result<(), String> {
        let done = match self {
            Self::Root(index) => {
                roots[*index] = value;
                true
            }
            Self::Element(array, index) => array.set(*index, value),
            Self::Cell(cell) => {
                cell.set(value);
                true
            }
            Self::Field(object, index) => object.set(*index, value),
        };
        if done { Ok(()) } else { Err("an element is not of its type, or gone".to_owned()) }
    }
}

impl Place {
    pub(super) fn in_field(&self, index: usize) -> Self {
        let mut fields = self.fields.clone();
        fields.push(index);
        Self { base: self.base.clone(), fields }
    }

    pub(super) fn base(base: Base) -> Self {
        Self { base, fields: Vec::new() }
    }

    /// The float there; `nothing` is zero.
    pub(super) fn read(&self, roots: &[Val]) -> Result<f64, String> {
        let mut value = self.base.get(roots).ok_or("a tangent is not defined, or gone")?;
        for &index in &self.fields {
            if matches!(value, Val::Unit) {
                return Ok(0.0);
            }
            let field = value.as_fields().and_then(|fields| fields.get(index)).cloned();
            value = field.ok_or("a tangent has another shape than before")?;
        }
        match value {
            Val::F64(x) => Ok(x),
            Val::F32(x) => Ok(x.into()),
            Val::Unit => Ok(0.0),
            other => Err(format!("{other:?} stands where the tangent of a float should")),
        }
    }

    /// Changes the float there.
    pub(super) fn update(
        &self,
        roots: &mut [Val],
        change: impl FnOnce(f64) -> f64,
    ) -> Result<(), String> {
        let value = self.base.get(roots).ok_or("a tangent is not defined, or gone")?;
        let new = updated(&value, &self.fields, change)?;
        self.base.set(roots, new)
    }
}

/// A value with the float at a path through its parts changed. As deep as the path.
fn updated(value: &Val, path: &[usize], change: impl FnOnce(f64) -> f64) -> Result<Val, String> {
    let Some((&index, rest)) = path.split_first() else {
        return match *value {
            Val::F64(x) => Ok(Val::F64(change(x))),
            Val::F32(x) => Ok(Val::F32(change(x.into()) as f32)),
            Val::Unit => Ok(Val::F64(change(0.0))),
            ref other => Err(format!("{other:?} stands where the tangent of a float should")),
        };
    };
    let Some(fields) = value.as_fields().filter(|fields| index < fields.len()) else {
        return Err(format!("{value:?} has no part {}", index + 1));
    };
    let mut items: Vec<Val> = fields.to_vec();
    items[index] = updated(&items[index], rest, change)?;
    Ok(match value {
        Val::Named(old) => Val::named_of(old.ty(), items.into_iter().collect()),
        Val::Struct(old) => Val::structure(old.ty(), items),
        _ => Val::tuple(items),
    })
}
