//! `mem`: arrays and refs.

use regraft_dialects::attrs::part;
use regraft_dialects::semantics;
use regraft_ir::{Constant, Type, TypeKind};
use regraft_math::Forms;
use smallvec::SmallVec;

use super::context::EvalCx;
use crate::error::{Trap, index_error};
use crate::value::{Array, ArrayError, Buffer, Dims, ElementType, Shared, Storage, Val};

/// The error of a look at the last element of an array without any.
const EMPTY: semantics::Trap = semantics::Trap::Argument("the array must not be empty");

/// The element type of the array that is to be made.
fn element(cx: &EvalCx<'_>, args: &[Val]) -> Result<ElementType, Trap> {
    match *cx.ctx.kind(cx.ty) {
        TypeKind::Array { element, .. } => Ok(ElementType::of(cx.ctx, element)),
        _ => Err(cx.wrong_types(args)),
    }
}

/// Dimensions from operands, with memory reserved for their product.
fn dims(cx: &EvalCx<'_>, element: ElementType, args: &[Val]) -> Result<Dims, Trap> {
    let mut dims = Dims::new();
    for arg in args {
        let &Val::I64(dim) = arg else { return Err(cx.wrong_types(args)) };
        dims.push(usize::try_from(dim).map_err(|_| {
            Trap::from(semantics::Trap::Argument("a dimension of an array is negative"))
        })?);
    }
    let len = if dims.contains(&0) {
        Some(0)
    } else {
        dims.iter().try_fold(1usize, |len, &dim| len.checked_mul(dim))
    };
    cx.host.reserve_array(element, len.ok_or(semantics::Trap::OutOfMemory)?)?;
    Ok(dims)
}

fn made(cx: &EvalCx<'_>, args: &[Val], array: Result<Array, ArrayError>) -> Result<Val, Trap> {
    array.map(Val::from).map_err(|error| array_error(cx, args, error))
}

fn array_error(cx: &EvalCx<'_>, args: &[Val], error: ArrayError) -> Trap {
    match error {
        ArrayError::TooLarge => semantics::Trap::OutOfMemory.into(),
        ArrayError::WrongRank => {
            semantics::Trap::Argument("the array has another rank than 1").into()
        }
        ArrayError::Lent => {
            semantics::Trap::Argument("an array on a slice of Rust cannot become longer or shorter")
                .into()
        }
        ArrayError::WrongElement | ArrayError::WrongCount => cx.wrong_types(args),
    }
}

/// Checks that a value may be stored in an array or ref of `element`.
pub(super) fn check_element(cx: &EvalCx<'_>, element: Type, value: &Val) -> Result<(), Trap> {
    if value.is_a(cx.ctx, element) {
        return Ok(());
    }
    let (have, want) = (cx.texts().type_of(value), cx.texts().type_text(element));
    let name = cx.def.mnemonic();
    Err(Trap::type_error(format!("`{name}` expected a value of type {want}, found {have}")))
}

pub(super) fn alloc(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let element = element(cx, args)?;
    let dims = dims(cx, element, args)?;
    made(cx, args, Array::new(element, &dims))
}

pub(super) fn fill(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let (Some((value, sizes)), element) = (args.split_first(), element(cx, args)?) else {
        return Err(cx.wrong_types(args));
    };
    check_element(cx, element.ty(), value)?;
    let dims = dims(cx, element, sizes)?;
    made(cx, args, Array::filled(element, &dims, value))
}

pub(super) fn array(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let element = element(cx, args)?;
    for arg in args {
        check_element(cx, element.ty(), arg)?;
    }
    cx.host.reserve_array(element, args.len())?;
    made(cx, args, Array::of_values(element, args, &[args.len()]))
}

/// The position in memory of the element that indices name.
pub(super) fn offset(
    cx: &EvalCx<'_>,
    array: &Shared<Array>,
    indices: &[Val],
) -> Result<usize, Trap> {
    let mut numbers: SmallVec<[i64; 4]> = SmallVec::new();
    for index in indices {
        let &Val::I64(index) = index else { return Err(cx.wrong_types(indices)) };
        numbers.push(index);
    }
    array.offset(&numbers).ok_or_else(|| crate::error::bounds_error(cx.texts(), array, &numbers))
}

pub(super) fn load(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(array), indices @ ..] = args else { return Err(cx.wrong_types(args)) };
    let offset = offset(cx, array, indices)?;
    Ok(array.get(offset).ok_or(semantics::Trap::UndefRef)?)
}

pub(super) fn store(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(array), value, indices @ ..] = args else { return Err(cx.wrong_types(args)) };
    let offset = offset(cx, array, indices)?;
    check_element(cx, array.element(), value)?;
    array.set(offset, value.clone());
    Ok(Val::Unit)
}

pub(super) fn load_part(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(array), indices @ ..] = args else { return Err(cx.wrong_types(args)) };
    part_at(cx, args, array, offset(cx, array, indices)?)
}

/// The part that the attributes name of an element at a position in memory.
fn part_at(cx: &EvalCx<'_>, args: &[Val], array: &Array, at: usize) -> Result<Val, Trap> {
    let part = match (array.storage(), part(cx.ctx, cx.attrs)) {
        (Storage::Unboxed(all), Some(part)) => all.part(at, part),
        _ => None,
    };
    part.ok_or_else(|| cx.wrong_types(args))
}

pub(super) fn store_part(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(array), value, indices @ ..] = args else { return Err(cx.wrong_types(args)) };
    let offset = offset(cx, array, indices)?;
    match (array.storage(), part(cx.ctx, cx.attrs)) {
        (Storage::Unboxed(all), Some(part)) if all.set_part(offset, part, value) => Ok(Val::Unit),
        _ => Err(cx.wrong_types(args)),
    }
}

pub(super) fn length(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(array)] = args else { return Err(cx.wrong_types(args)) };
    Ok(Val::I64(array.len() as i64))
}

pub(super) fn size(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(array), Val::I64(dim)] = args else { return Err(cx.wrong_types(args)) };
    if *dim < 1 {
        return Err(super::core::bounds(*dim, usize::from(array.rank())));
    }
    Ok(Val::I64(usize::try_from(dim - 1).map_or(1, |dim| array.dim(dim)) as i64))
}

pub(super) fn shape(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(array)] = args else { return Err(cx.wrong_types(args)) };
    Ok(Val::tuple(array.dims().iter().map(|&dim| Val::I64(dim as i64))))
}

pub(super) fn rank(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(array)] = args else { return Err(cx.wrong_types(args)) };
    Ok(Val::I64(i64::from(array.rank())))
}

pub(super) fn resize(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(array), length] = args else { return Err(cx.wrong_types(args)) };
    let dims = dims(cx, array.element_type(), std::slice::from_ref(length))?;
    let resized = array.resize(dims[0]);
    resized.map_err(|error| array_error(cx, args, error))?;
    Ok(Val::Unit)
}

pub(super) fn push(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(array), value] = args else { return Err(cx.wrong_types(args)) };
    check_element(cx, array.element(), value)?;
    cx.host.reserve(array.push_bytes())?;
    array.push(value.clone()).map_err(|error| array_error(cx, args, error))?;
    Ok(Val::Unit)
}

pub(super) fn pop(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(array)] = args else { return Err(cx.wrong_types(args)) };
    let popped = array.pop().map_err(|error| array_error(cx, args, error))?;
    let item = popped.ok_or(EMPTY)?;
    Ok(item.ok_or(semantics::Trap::UndefRef)?)
}

pub(super) fn push_parts(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(array), parts @ ..] = args else { return Err(cx.wrong_types(args)) };
    cx.host.reserve(array.push_bytes())?;
    array.push_parts(parts).map_err(|error| array_error(cx, args, error))?;
    Ok(Val::Unit)
}

pub(super) fn last_part(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(array)] = args else { return Err(cx.wrong_types(args)) };
    let last = array.len().checked_sub(1).ok_or(EMPTY)?;
    part_at(cx, args, array, last)
}

pub(super) fn copy(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(array)] = args else { return Err(cx.wrong_types(args)) };
    cx.host.reserve_array(array.element_type(), array.len())?;
    Ok(Val::copy_of(array))
}

pub(super) fn copyto(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(dest), Val::Array(source)] = args else { return Err(cx.wrong_types(args)) };
    if source.len() > dest.len() {
        return Err(super::core::bounds(source.len() as i64, dest.len()));
    }
    if dest.element() != source.element() {
        return Err(cx.wrong_types(args));
    }
    dest.copy_from(source).map_err(|error| array_error(cx, args, error))?;
    Ok(Val::Unit)
}

pub(super) fn probe(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(index), Val::I64(hash), Val::I64(after)] = args else {
        return Err(cx.wrong_types(args));
    };
    let index = index.buffer::<i32>().ok_or_else(|| cx.wrong_types(args))?;
    Ok(Val::I64(index.probe(*hash, *after)))
}

pub(super) fn index_entries(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(index), Val::Array(hashes), Val::I64(first), Val::I64(last)] = args else {
        return Err(cx.wrong_types(args));
    };
    let (Some(places), Some(of)) = (index.buffer::<i32>(), hashes.buffer::<i32>()) else {
        return Err(cx.wrong_types(args));
    };
    let put = places.index_entries(of, *first, *last);
    put.map_err(|error| index_error(cx.texts(), hashes, error))?;
    Ok(Val::Unit)
}

pub(super) fn fill_in_place(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(array), value] = args else { return Err(cx.wrong_types(args)) };
    check_element(cx, array.element(), value)?;
    array.fill(value).map_err(|error| array_error(cx, args, error))?;
    Ok(Val::Unit)
}

pub(super) fn map(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(dest), Val::I64(to), Val::I64(count), sources @ ..] = args else {
        return Err(cx.wrong_types(args));
    };
    let Some(Constant::Sym(name)) = cx.attr("function") else { return Err(cx.wrong_types(args)) };
    let Some(forms) = Forms::named(cx.ctx.str(name)) else { return Err(cx.wrong_types(args)) };
    let (pairs, _) = sources.as_chunks::<2>();
    let strips = pairs.iter().filter_map(|pair| match pair {
        [Val::Array(array), Val::I64(at)] => Some((array.buffer::<f64>()?, *at)),
        _ => None,
    });
    let sources: SmallVec<[(&Buffer<f64>, i64); 2]> = strips.collect();
    match dest.buffer::<f64>() {
        Some(dest) if sources.len() == pairs.len() && sources.len() == forms.args => {
            Ok(Val::Bool(dest.map(*to, *count, &sources, forms)))
        }
        _ => Err(cx.wrong_types(args)),
    }
}

pub(super) fn ref_new(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let ([value], &TypeKind::Ref(element)) = (args, cx.ctx.kind(cx.ty)) else {
        return Err(cx.wrong_types(args));
    };
    cx.reserve_fields(1)?;
    Ok(Val::reference(element, value.clone()))
}

pub(super) fn ref_get(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Ref(cell)] = args else { return Err(cx.wrong_types(args)) };
    Ok(cell.get())
}

pub(super) fn ref_set(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Ref(cell), value] = args else { return Err(cx.wrong_types(args)) };
    check_element(cx, cell.element(), value)?;
    drop(cell.set(value.clone()));
    Ok(Val::Unit)
}
