//! Changes of shadows in place: adding a tangent, setting to zero.

use super::context::Tangents;
use super::copies::Copy;
use super::parts::{pairs, parts};
use super::walk::{Rule, Step, Walk};
use super::workspace::Known;
use crate::error::Trap;
use crate::value::{Array, Storage, Val};

/// Adds the second of the pair to the first.
#[derive(Default)]
pub(super) struct Accumulate {
    /// Objects that were added to `nothing`: a shadow shares no object with what was added to it.
    copies: Known,
}

impl Rule for Accumulate {
    fn step(&mut self, on: Tangents<'_>, a: &Val, b: &Val) -> Result<Step, Trap> {
        Ok(match (a, b) {
            (_, Val::Unit) => Step::Done(a.clone()),
            (Val::F64(x), Val::F64(y)) => Step::Done(Val::F64(x + y)),
            (Val::F32(x), Val::F32(y)) => Step::Done(Val::F32(x + y)),
            (Val::Unit, Val::F64(_) | Val::F32(_)) => Step::Done(b.clone()),
            (Val::Unit, _) => {
                let mut walk = Walk::remembering(on, std::mem::take(&mut self.copies));
                let copy = walk.map(&mut Copy, b, &Val::Unit)?;
                self.copies = walk.into_known();
                Step::Done(copy)
            }
            (Val::Array(x), Val::Array(y)) => {
                on.check_sizes(x, y)?;
                if add_numbers(x, y) { Step::Done(a.clone()) } else { Step::Fill(a.clone()) }
            }
            (Val::Ref(_), Val::Ref(_)) => Step::Fill(a.clone()),
            _ => pairs(on, "cannot add tangents", a, b)?,
        })
    }

    fn elements(&mut self, a: Option<Val>, b: Option<Val>) -> Option<(Val, Val)> {
        match (a, b) {
            (None, None) => None,
            (a, b) => Some((a.unwrap_or(Val::Unit), b.unwrap_or(Val::Unit))),
        }
    }
}

/// Adds the numbers of an array to those of another of the same size; `false` if not both have
/// floats of the same type only, or elements that are made of such.
fn add_numbers(x: &Array, y: &Array) -> bool {
    match (x.storage(), y.storage()) {
        (Storage::F64(x), Storage::F64(y)) => x.add(y),
        (Storage::F32(x), Storage::F32(y)) => x.add(y),
        (Storage::Unboxed(x), Storage::Unboxed(y)) => return x.add(y),
        _ => return false,
    }
    true
}

/// Sets the numbers of a shadow to zero.
pub(super) struct Clear;

impl Rule for Clear {
    fn step(&mut self, on: Tangents<'_>, a: &Val, _: &Val) -> Result<Step, Trap> {
        Ok(match a {
            Val::F64(_) => Step::Done(Val::F64(0.0)),
            Val::F32(_) => Step::Done(Val::F32(0.0)),
            Val::Array(array) => {
                match array.storage() {
                    Storage::F64(items) => items.fill(0.0),
                    Storage::F32(items) => items.fill(0.0),
                    Storage::Unboxed(items) => items.clear(),
                    Storage::Val(_) => return Ok(Step::Fill(a.clone())),
                    _ => {}
                }
                Step::Done(a.clone())
            }
            Val::Ref(_) => Step::Fill(a.clone()),
            Val::Tuple(_) | Val::Named(_) => parts(on, a)?,
            // Nothing else is in a shadow.
            _ => Step::Done(a.clone()),
        })
    }
}
