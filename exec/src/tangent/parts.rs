//! The two parts of a tangent, and what is done with them: they are joined, added, given a type.

use regraft_ir::{Type, TypeKind};

use super::context::{Tangents, counts_differ};
use super::walk::{Rule, Step, gathered};
use super::workspace::Shape;
use super::zero::alone;
use crate::error::Trap;
use crate::value::Pairs;
use crate::value::{Fields, Val};

/// The part with an identity.
pub(super) struct Shadow;

impl Rule for Shadow {
    fn step(&mut self, on: Tangents<'_>, a: &Val, _: &Val) -> Result<Step, Trap> {
        Ok(match a {
            Val::Array(_) | Val::Ref(_) => Step::Done(a.clone()),
            Val::F64(_) | Val::F32(_) | Val::Unit => Step::Done(Val::Unit),
            _ => parts(on, a)?,
        })
    }
}

/// The part that is a value.
pub(super) struct Cotangent;

impl Rule for Cotangent {
    fn step(&mut self, on: Tangents<'_>, a: &Val, _: &Val) -> Result<Step, Trap> {
        Ok(match a {
            Val::F64(_) | Val::F32(_) => Step::Done(a.clone()),
            Val::Array(_) | Val::Ref(_) | Val::Unit => Step::Done(Val::Unit),
            _ => parts(on, a)?,
        })
    }
}

/// The parts of a tangent that is a tuple.
pub(super) fn parts(on: Tangents<'_>, tangent: &Val) -> Result<Step, Trap> {
    match tangent {
        Val::Tuple(x) => Ok(Step::Parts(Shape::Tuple, alone(x.items()))),
        Val::Named(x) => Ok(Step::Parts(Shape::Named(x.ty()), alone(x.items()))),
        other => Err(on.no_tangent(other)),
    }
}

/// The parts of two tangents of one value that are tuples, in pairs. `what` they are says an
/// error.
pub(super) fn pairs(on: Tangents<'_>, what: &str, a: &Val, b: &Val) -> Result<Step, Trap> {
    match (a, b) {
        (Val::Tuple(x), Val::Tuple(y)) => Ok(Step::Parts(Shape::Tuple, pairs_of(x, y)?)),
        (Val::Named(x), Val::Named(y)) if x.ty() == y.ty() => {
            Ok(Step::Parts(Shape::Named(x.ty()), pairs_of(x, y)?))
        }
        _ => Err(on.mismatch(what, a, b)),
    }
}

pub(super) fn pairs_of(x: &Fields, y: &Fields) -> Result<Pairs, Trap> {
    let (x, y) = (x.items(), y.items());
    if x.len() != y.len() {
        return Err(counts_differ(x.len(), y.len()));
    }
    Ok(gathered(x.iter().cloned().zip(y.iter().cloned())))
}

/// The tangent of a shadow and a cotangent.
pub(super) struct Join;

impl Rule for Join {
    fn step(&mut self, on: Tangents<'_>, a: &Val, b: &Val) -> Result<Step, Trap> {
        match (a, b) {
            (_, Val::Unit) => Ok(Step::Done(a.clone())),
            (Val::Unit, _) => Ok(Step::Done(b.clone())),
            _ => pairs(on, "there is no tangent of a shadow and a cotangent", a, b),
        }
    }
}

/// The sum of two cotangents.
pub(super) struct Sum;

impl Rule for Sum {
    fn step(&mut self, on: Tangents<'_>, a: &Val, b: &Val) -> Result<Step, Trap> {
        match (a, b) {
            (_, Val::Unit) => Ok(Step::Done(a.clone())),
            (Val::Unit, _) => Ok(Step::Done(b.clone())),
            (Val::F64(x), Val::F64(y)) => Ok(Step::Done(Val::F64(x + y))),
            (Val::F32(x), Val::F32(y)) => Ok(Step::Done(Val::F32(x + y))),
            _ => pairs(on, "cannot add cotangents", a, b),
        }
    }
}

/// A cotangent as one of the type that is the second of the pair.
pub(super) struct Unbox;

impl Rule for Unbox {
    fn step(&mut self, on: Tangents<'_>, a: &Val, b: &Val) -> Result<Step, Trap> {
        let &Val::Type(ty) = b else { return Ok(Step::Done(a.clone())) };
        if let Some(done) = unbox_number(a, ty) {
            return Ok(Step::Done(done));
        }
        match (a, on.ctx.kind(ty)) {
            (Val::Unit, TypeKind::Tuple(types)) => {
                let parts = types.iter().map(|&ty| (Val::Unit, Val::Type(ty)));
                Ok(Step::Parts(Shape::Tuple, gathered(parts)))
            }
            (Val::Unit, TypeKind::Named(fields)) => {
                let parts = fields.iter().map(|&(_, ty)| (Val::Unit, Val::Type(ty)));
                Ok(Step::Parts(Shape::Named(on.shape(ty, fields)), gathered(parts)))
            }
            (Val::Tuple(x), TypeKind::Tuple(types)) if x.items().len() == types.len() => {
                let types = types.iter().map(|&ty| Val::Type(ty));
                let parts = x.items().iter().cloned().zip(types);
                Ok(Step::Parts(Shape::Tuple, gathered(parts)))
            }
            (Val::Named(x), TypeKind::Named(fields)) if x.ty() == on.shape(ty, fields) => {
                let types = fields.iter().map(|&(_, ty)| Val::Type(ty));
                let parts = x.items().iter().cloned().zip(types);
                Ok(Step::Parts(Shape::Named(x.ty()), gathered(parts)))
            }
            _ if a.is_a(on.ctx, ty) => Ok(Step::Done(a.clone())),
            _ => {
                let want = on.workspace.texts(on.ctx).type_text(ty);
                let have = on.type_text(a);
                let message = format!("expected a tangent of type {want}, found {have}");
                Err(Trap::type_error(message))
            }
        }
    }
}

fn unbox_number(value: &Val, ty: Type) -> Option<Val> {
    match (value, ty) {
        (_, Type::ANY) | (Val::F64(_), Type::F64) | (Val::F32(_), Type::F32) => Some(value.clone()),
        (_, Type::UNIT) if is_value(value) => Some(Val::Unit),
        (Val::Unit, Type::F64) => Some(Val::F64(0.0)),
        (Val::Unit, Type::F32) => Some(Val::F32(0.0)),
        _ => None,
    }
}

/// Returns whether no part of a tangent is an object. What is known as `nothing` has no derivative:
/// a function that captures nothing has a tangent of empty parts, and the cotangent of a zero that
/// is written `nothing` has numbers where that stands for zeros. Neither is of use to anyone.
fn is_value(tangent: &Val) -> bool {
    let mut pending = vec![tangent];
    while let Some(part) = pending.pop() {
        match (part, part.as_fields()) {
            (Val::Unit | Val::F64(_) | Val::F32(_), _) => {}
            (Val::Tuple(_) | Val::Named(_), Some(parts)) => pending.extend(parts),
            _ => return false,
        }
    }
    true
}
