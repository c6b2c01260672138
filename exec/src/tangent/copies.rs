//! New values from values: copies, values moved along a tangent, multiples of a tangent, and the
//! difference of two values.

use super::context::Tangents;
use super::parts::{pairs, pairs_of, parts};
use super::walk::{Rule, Step};
use super::workspace::Shape;
use super::zero::{alone, new_shadow};
use crate::error::Trap;
use crate::value::{Array, Storage, Val};

/// A copy of any value.
pub(super) struct Copy;

impl Rule for Copy {
    fn step(&mut self, on: Tangents<'_>, a: &Val, _: &Val) -> Result<Step, Trap> {
        Ok(match a {
            Val::Tuple(x) => Step::Parts(Shape::Tuple, alone(x.items())),
            Val::Named(x) => Step::Parts(Shape::Named(x.ty()), alone(x.items())),
            Val::Struct(x) => Step::Parts(Shape::Struct(x.ty()), alone(x.items())),
            Val::Array(array) => match array.storage() {
                Storage::Val(_) => Step::Fill(on.new_array(array.element(), array)?),
                _ => Step::Done(duplicate(on, array)?),
            },
            Val::Ref(_) | Val::Object(_) => Step::Fill(new_cell(on, a)?),
            _ => Step::Done(a.clone()),
        })
    }
}

fn duplicate(on: Tangents<'_>, array: &Array) -> Result<Val, Trap> {
    on.workspace.budget.reserve_array(array.element_type(), array.len())?;
    Ok(Val::copy_of(array))
}

/// A ref or mutable struct of the same type, to be filled.
fn new_cell(on: Tangents<'_>, value: &Val) -> Result<Val, Trap> {
    match value {
        Val::Ref(cell) => on.new_ref(cell.element()),
        Val::Object(object) => {
            on.reserve_fields(object.len())?;
            Ok(Val::object(object.ty(), std::iter::repeat_n(Val::Unit, object.len())))
        }
        other => Ok(other.clone()),
    }
}

/// The first of the pair, moved by `step` times the second.
pub(super) struct Perturbed {
    pub(super) step: f64,
}

impl Perturbed {
    /// An array of numbers, moved.
    fn numbers(&self, on: Tangents<'_>, x: &Array, t: &Array) -> Result<Option<Val>, Trap> {
        let (Storage::F64(_), Storage::F64(t)) = (x.storage(), t.storage()) else {
            return Ok(None);
        };
        let made = duplicate(on, x)?;
        if let Val::Array(array) = &made
            && let Storage::F64(items) = array.storage()
        {
            for place in 0..items.len() {
                if let (Some(x), Some(t)) = (items.get(place), t.get(place)) {
                    items.set(place, x + self.step * t);
                }
            }
        }
        Ok(Some(made))
    }
}

impl Rule for Perturbed {
    // The same object stays the same, whatever moves it.
    const BY_FIRST: bool = true;

    fn step(&mut self, on: Tangents<'_>, a: &Val, b: &Val) -> Result<Step, Trap> {
        Ok(match (a, b) {
            (_, Val::Unit) => Copy.step(on, a, b)?,
            (Val::F64(x), Val::F64(t)) => Step::Done(Val::F64(x + self.step * t)),
            (Val::F32(x), Val::F32(t)) => {
                // Rounded once.
                let moved = f64::from(*x) + self.step * f64::from(*t);
                Step::Done(Val::F32(moved as f32))
            }
            (Val::Struct(x), Val::Named(t)) if on.field_shape(x.ty()) == Some(t.ty()) => {
                Step::Parts(Shape::Struct(x.ty()), pairs_of(x, t)?)
            }
            (Val::Array(x), Val::Array(t)) => {
                on.check_sizes(x, t)?;
                match self.numbers(on, x, t)? {
                    Some(moved) => Step::Done(moved),
                    None => Step::Fill(on.new_array(x.element(), x)?),
                }
            }
            (Val::Ref(_) | Val::Object(_), Val::Ref(_)) => Step::Fill(new_cell(on, a)?),
            _ => pairs(on, "no value and tangent of it can be", a, b)?,
        })
    }
}

/// A tangent times a number.
pub(super) struct Scaled {
    pub(super) factor: f64,
}

impl Rule for Scaled {
    fn step(&mut self, on: Tangents<'_>, a: &Val, _: &Val) -> Result<Step, Trap> {
        Ok(match a {
            Val::Unit => Step::Done(Val::Unit),
            Val::F64(x) => Step::Done(Val::F64(self.factor * x)),
            Val::F32(x) => Step::Done(Val::F32((self.factor * f64::from(*x)) as f32)),
            Val::Array(array) => match array.storage() {
                Storage::F64(items) => {
                    let scaled: Vec<f64> = items.to_vec().iter().map(|x| self.factor * x).collect();
                    on.workspace.budget.reserve_array(array.element_type(), array.len())?;
                    match Array::of(&scaled, &array.dims()) {
                        Ok(scaled) => Step::Done(scaled.into()),
                        Err(_) => Step::Fill(on.new_array(array.element(), array)?),
                    }
                }
                _ => Step::Fill(on.new_array(array.element(), array)?),
            },
            Val::Ref(cell) => Step::Fill(on.new_ref(cell.element())?),
            _ => parts(on, a)?,
        })
    }
}

/// The first of the pair less the second, as a tangent.
pub(super) struct Difference;

impl Difference {
    fn object(on: Tangents<'_>, a: &Val, b: &Val) -> Result<Option<Val>, Trap> {
        let element = match (a, b) {
            (Val::Array(x), Val::Array(y)) if x.element() == y.element() => {
                on.check_sizes(x, y)?;
                return new_shadow(on, x);
            }
            (Val::Ref(x), Val::Ref(y)) if x.element() == y.element() => {
                on.shadow_element(x.element())
            }
            (Val::Object(x), Val::Object(y)) if x.ty() == y.ty() => on.shadow_of_object(x.ty()),
            _ => return Err(on.mismatch("there is no difference of values", a, b)),
        };
        element.map(|element| on.new_ref(element)).transpose()
    }
}

impl Rule for Difference {
    fn step(&mut self, on: Tangents<'_>, a: &Val, b: &Val) -> Result<Step, Trap> {
        Ok(match (a, b) {
            (Val::F64(x), Val::F64(y)) => Step::Done(Val::F64(x - y)),
            (Val::F32(x), Val::F32(y)) => Step::Done(Val::F32(x - y)),
            (Val::Tuple(_), Val::Tuple(_)) | (Val::Named(_), Val::Named(_)) => {
                pairs(on, "there is no difference of values", a, b)?
            }
            (Val::Struct(x), Val::Struct(y)) if x.ty() == y.ty() => match on.field_shape(x.ty()) {
                Some(shape) => Step::Parts(Shape::Named(shape), pairs_of(x, y)?),
                None => Step::Done(Val::Unit),
            },
            _ if a.address().is_some() || b.address().is_some() => {
                Self::object(on, a, b)?.map_or(Step::Done(Val::Unit), Step::Fill)
            }
            _ if std::mem::discriminant(a) == std::mem::discriminant(b) => Step::Done(Val::Unit),
            _ => return Err(on.mismatch("there is no difference of values", a, b)),
        })
    }

    fn elements(&mut self, a: Option<Val>, b: Option<Val>) -> Option<(Val, Val)> {
        a.zip(b)
    }
}
