//! The inner product of two tangents.

use super::context::Tangents;
use super::parts::pairs;
use super::walk::{Rule, Step};
use super::workspace::Shape;
use crate::error::Trap;
use crate::value::{Array, Items, Storage, Val};

/// Multiplies the numbers of a pair, and adds the products up: those outside of objects are what
/// becomes of the pair.
#[derive(Default)]
pub(super) struct Dot {
    /// The sum of the products inside of objects.
    pub(super) in_objects: f64,
}

impl Rule for Dot {
    fn step(&mut self, on: Tangents<'_>, a: &Val, b: &Val) -> Result<Step, Trap> {
        Ok(match (a, b) {
            (Val::Unit, _) | (_, Val::Unit) => Step::Done(Val::Unit),
            (Val::F64(x), Val::F64(y)) => Step::Done(Val::F64(x * y)),
            (Val::F32(x), Val::F32(y)) => Step::Done(Val::F64(f64::from(*x) * f64::from(*y))),
            (Val::Array(x), Val::Array(y)) => {
                on.check_sizes(x, y)?;
                match numbers(x, y) {
                    Some(product) => {
                        self.in_objects += product;
                        Step::Done(Val::Unit)
                    }
                    None => Step::Fill(Val::Unit),
                }
            }
            (Val::Ref(_), Val::Ref(_)) => Step::Fill(Val::Unit),
            _ => pairs(on, "there is no product of tangents", a, b)?,
        })
    }

    fn build(&mut self, _: Tangents<'_>, _: Shape, items: Items) -> Result<Val, Trap> {
        Ok(Val::F64(items.iter().map(number).sum()))
    }

    fn put(&mut self, _: &Val, _: usize, value: Val) {
        self.in_objects += number(&value);
    }
}

/// The product that a pair has become.
pub(super) fn number(value: &Val) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

fn numbers(x: &Array, y: &Array) -> Option<f64> {
    match (x.storage(), y.storage()) {
        (Storage::F64(x), Storage::F64(y)) => {
            Some(x.to_vec().iter().zip(y.to_vec()).map(|(x, y)| x * y).sum())
        }
        _ => None,
    }
}
