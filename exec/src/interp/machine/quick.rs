//! The common cases of ops on values whose types are known only now, without the detour of a list
//! of operands: values of others and their parts, elements of arrays of values, new arrays, numbers in and out of `any`.
//!
//! Anything out of the ordinary (a wrong index, another type) is left to the evaluation function of
//! the op, which is the reference and makes the errors.

use regraft_ir::Type;
use smallvec::SmallVec;

use super::super::code::{Code, EvalSite};
use super::super::quick::Quick;
use super::super::register::{Scalar, Src};
use super::Machine;
use crate::error::Trap;
use crate::value::{Array, ArrayError, ElementType, Storage, Val};

impl Machine<'_> {
    /// Does the common case of an op; `None` if it is another one.
    #[inline]
    pub(super) fn quick(
        &mut self,
        code: &Code,
        site: &EvalSite,
        (s, v): (usize, usize),
    ) -> Result<Option<Val>, Trap> {
        let val = |src: Src| src.val().map(|reg| &self.vals[v + reg as usize]);
        let indices = |args: &[Src]| -> Option<SmallVec<[i64; 4]>> {
            let mut indices = SmallVec::new();
            for &src in args {
                let Src::Scalar(Scalar::I64, reg) = src else { return None };
                indices.push(self.scalars[s + reg as usize] as i64);
            }
            Some(indices)
        };
        Ok(match (site.quick, &*site.args) {
            (Quick::Compound { kind, ty }, args) => {
                self.state.host.reserve_fields(args.len())?;
                let parts = args.iter().map(|&src| self.operand(code, src, s, v));
                Some(Val::compound(kind, ty, parts))
            }
            (Quick::Part(index), &[of, _]) => {
                let items = val(of).and_then(Val::as_fields);
                items.and_then(|items| items.get(index as usize)).cloned()
            }
            (Quick::Load, [array, at @ ..]) => match (val(*array), indices(at)) {
                (Some(Val::Array(array)), Some(at)) => {
                    array.offset(&at).and_then(|offset| array.get(offset))
                }
                _ => None,
            },
            (Quick::Store { fits }, [array, value, at @ ..]) => match (val(*array), indices(at)) {
                (Some(Val::Array(array)), Some(at))
                    if (fits || array.element() == Type::ANY || array.element().is_scalar())
                        && let Some(offset) = array.offset(&at)
                        && array.set(offset, self.copied(code, *value, s, v)) =>
                {
                    Some(Val::Unit)
                }
                _ => None,
            },
            (Quick::LoadPart(part), [array, at @ ..]) => match (val(*array), indices(at)) {
                (Some(Val::Array(array)), Some(at))
                    if let Storage::Unboxed(all) = array.storage()
                        && let Some(offset) = array.offset(&at) =>
                {
                    all.part(offset, part.into())
                }
                _ => None,
            },
            (Quick::StorePart(part), [array, value, at @ ..]) => match (val(*array), indices(at)) {
                (Some(Val::Array(array)), Some(at))
                    if let Storage::Unboxed(all) = array.storage()
                        && let Some(offset) = array.offset(&at)
                        && all.set_part(offset, part.into(), &self.copied(code, *value, s, v)) =>
                {
                    Some(Val::Unit)
                }
                _ => None,
            },
            (Quick::Alloc { element, undef }, sizes) => match indices(sizes).as_deref() {
                Some(&[rows]) => self.new_array(element, [rows], undef)?,
                Some(&[rows, columns]) => self.new_array(element, [rows, columns], undef)?,
                _ => None,
            },
            (Quick::Fill(element), [value, sizes @ ..]) => {
                let value = self.copied(code, *value, s, v);
                let filled = |dims: &[usize]| Array::filled(element, dims, &value).map(Val::from);
                match indices(sizes).as_deref() {
                    Some(&[rows]) => self.make_array(element, [rows], filled)?,
                    Some(&[rows, columns]) => self.make_array(element, [rows, columns], filled)?,
                    _ => None,
                }
            }
            (Quick::Array(element), args) => {
                self.state.host.reserve_array(element, args.len())?;
                let items: SmallVec<[Val; 4]> =
                    args.iter().map(|&src| self.copied(code, src, s, v)).collect();
                Array::of_values(element, &items, &[items.len()]).ok().map(Val::from)
            }
            (Quick::Select, &[Src::Scalar(Scalar::Bool, condition), x, y]) => {
                let first = self.scalars[s + condition as usize] != 0;
                let (x, y) = (self.operand(code, x, s, v), self.operand(code, y, s, v));
                Some(if first { x } else { y })
            }
            (Quick::Same, &[value]) => Some(self.operand(code, value, s, v)),
            (Quick::Assert(ty), &[value]) => {
                let fits = val(value).is_some_and(|value| value.is_a(&self.world.ctx, ty));
                fits.then(|| self.operand(code, value, s, v))
            }
            (Quick::IsA(ty), &[value, _]) => {
                val(value).map(|value| Val::Bool(value.is_a(&self.world.ctx, ty)))
            }
            (Quick::Unbox | Quick::Cotangent, &[value]) => match val(value) {
                Some(&Val::F64(x)) => Some(Val::F64(x)),
                Some(Val::Unit) if site.quick == Quick::Unbox => Some(Val::F64(0.0)),
                Some(Val::Unit) => Some(Val::Unit),
                Some(value) if site.quick == Quick::Cotangent && flat(value).is_some() => {
                    Some(value.clone())
                }
                _ => None,
            },
            (Quick::Shadow, &[value]) => match val(value) {
                Some(Val::F64(_) | Val::Unit) => Some(Val::Unit),
                Some(value) => flat(value).and_then(|parts| {
                    let nothing = parts.iter().map(|_| Val::Unit).collect();
                    match value {
                        Val::Named(fields) => Some(Val::named_of(fields.ty(), nothing)),
                        Val::Tuple(_) => Some(Val::tuple_of(nothing)),
                        _ => None,
                    }
                }),
                None => None,
            },
            (Quick::Join, &[shadow, cotangent]) => match (val(shadow), val(cotangent)) {
                (Some(Val::Unit), Some(&Val::F64(x))) => Some(Val::F64(x)),
                (Some(shadow), Some(cotangent)) if shadows_nothing(shadow, cotangent) => {
                    Some(cotangent.clone())
                }
                _ => None,
            },
            (Quick::Add, &[x, y]) => match (val(x), val(y)) {
                (Some(Val::F64(x)), Some(Val::F64(y))) => Some(Val::F64(x + y)),
                (Some(Val::Unit), Some(x)) | (Some(x), Some(Val::Unit)) => Some(x.clone()),
                _ => None,
            },
            _ => None,
        })
    }

    /// An array of scalars that are not set; `None` if there is none of these lengths.
    ///
    /// # Errors
    /// If it would exceed the memory limit.
    #[inline]
    pub(super) fn new_array<const N: usize>(
        &self,
        element: ElementType,
        lengths: [i64; N],
        undef: bool,
    ) -> Result<Option<Val>, Trap> {
        self.make_array(element, lengths, |dims| Val::unset(element, dims, undef))
    }

    /// The array that `make` makes of these lengths; `None` if there is none.
    ///
    /// # Errors
    /// If it would exceed the memory limit.
    #[inline]
    fn make_array<const N: usize>(
        &self,
        element: ElementType,
        lengths: [i64; N],
        make: impl FnOnce(&[usize]) -> Result<Val, ArrayError>,
    ) -> Result<Option<Val>, Trap> {
        let (mut count, mut dims) = (1usize, [0; N]);
        for (dim, length) in dims.iter_mut().zip(lengths) {
            let Ok(length) = usize::try_from(length) else { return Ok(None) };
            let Some(product) = count.checked_mul(length) else { return Ok(None) };
            (count, *dim) = (product, length);
        }
        self.state.host.reserve_array(element, count)?;
        Ok(make(&dims).ok())
    }
}

/// The parts of a tuple or named tuple of numbers, which is the cotangent part of itself.
fn flat(value: &Val) -> Option<&[Val]> {
    let (Val::Tuple(fields) | Val::Named(fields)) = value else { return None };
    let is_number = |part: &Val| matches!(part, Val::F64(_) | Val::Unit);
    fields.items().iter().all(is_number).then(|| fields.items())
}

/// Returns whether a shadow holds no object, and is one of a value with this cotangent.
fn shadows_nothing(shadow: &Val, cotangent: &Val) -> bool {
    let (Some(shadows), Some(parts)) = (flat(shadow), flat(cotangent)) else { return false };
    let alike = match (shadow, cotangent) {
        (Val::Named(x), Val::Named(y)) => x.ty() == y.ty(),
        (Val::Tuple(_), Val::Tuple(_)) => shadows.len() == parts.len(),
        _ => false,
    };
    alike && shadows.iter().all(|part| matches!(part, Val::Unit))
}
