//! A function of an object file, as it is called.

// C passes addresses of what it lends.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use regraft_ir::{Diagnostic, Module, Symbol, Type};
use smallvec::SmallVec;

use super::forms::{self, Form, only_value, param_name};
use super::memory;
use crate::engine::Limits;
use crate::error::{ErrorKind, Trap};
use crate::interp::Scalar;
use crate::native::Image;
use crate::typed::instance::with_instance;
use crate::typed::output::Returned;
use crate::typed::passing::Passing;
use crate::typed::plan::{Plan, Runs};
use crate::value::{Array, Element, Storage, Val, by_element};

/// A function of an object file.
///
/// It may be called from several threads at once, as a [`TypedFunction`](crate::typed::TypedFunction).
pub struct Loaded {
    plan: Arc<Plan>,
    params: Vec<Param>,
    result: Form,
}

struct Param {
    name: String,
    kind: Kind,
}

enum Kind {
    /// The argument is always the same: the value of this type.
    Fixed(Type),
    Scalar,
    Array {
        element: Type,
        rank: u8,
        is_read_only: bool,
    },
}

/// The memory of an argument.
struct Extent<'a> {
    name: &'a str,
    start: usize,
    end: usize,
    is_read_only: bool,
}

impl Loaded {
    /// The function of an image, which is loaded when it is asked for for the first time; `parse` reads
    /// IR.
    ///
    /// # Errors
    /// If the object file was made by another version than this one.
    #[inline]
    pub fn of(
        image: &'static Image,
        parse: fn(&str) -> Result<Module, Vec<Diagnostic>>,
    ) -> Result<&'static Self, Diagnostic> {
        match image.state() {
            Some(loaded) => Ok(loaded),
            None => Ok(image.set_state(Box::new(Self::load(image, parse)?))),
        }
    }

    #[cold]
    fn load(
        image: &'static Image,
        parse: fn(&str) -> Result<Module, Vec<Diagnostic>>,
    ) -> Result<Self, Diagnostic> {
        let (module, name) = read(image, parse)?;
        let id = forms::find(&module, module.ctx().str(name))?;
        let Some(f) = module.get(id) else { return Err(nothing()) };
        let forms = forms::params(&module, id)?;
        let types = f.param_types();
        let params = forms.into_iter().zip(types).enumerate().map(|(at, (form, ty))| {
            let name = param_name(f, at).map_or_else(|| (at + 1).to_string(), str::to_owned);
            let kind = match form {
                Form::Nothing | Form::Fields(_) => Kind::Fixed(ty),
                Form::Scalar(_) => Kind::Scalar,
                Form::Array { element, rank, is_read_only } => {
                    Kind::Array { element, rank, is_read_only }
                }
            };
            Param { name, kind }
        });
        let params: Vec<Param> = params.collect();
        let result = forms::result(f)?;
        let arrays = params.iter().filter_map(|param| match param.kind {
            Kind::Array { element, rank, .. } => Some((element, rank, false)),
            _ => None,
        });
        let arrays = arrays.collect();
        let runs = Runs::Loaded(image);
        let plan =
            Arc::new(Plan::of(module, name, None, arrays, Vec::new(), runs, Limits::default()));
        with_instance(&plan, |_| Ok(()))?;
        Ok(Self { plan, params, result })
    }

    /// Calls the function with words: a scalar is one, in the form that it has in a register (integers with their sign, the
    /// bits of floats), an array is its address and its lengths. The result goes to the memory at `result`, if that
    /// is not null: a scalar or a struct as in C, or for an array the address of elements that [`free`](super::free)
    /// takes, and the lengths.
    ///
    /// # Errors
    /// If the program fails, if an array cannot be at its address, or if one that may be written to overlaps another.
    ///
    /// # Safety
    /// There are as many words as the parameters need, and the elements of arrays and the place for the result are
    /// where they say. Until the call is over nobody changes elements of arrays, nor looks at those of arrays that the
    /// function writes to.
    pub unsafe fn call(&self, words: *const u64, result: *mut c_void) -> Result<(), Diagnostic> {
        with_instance(&self.plan, |instance| {
            instance.run(
                // SAFETY: the caller says so.
                |to| unsafe { self.pass(words, to) },
                |returned| {
                    if result.is_null() {
                        return Ok(());
                    }
                    // SAFETY: as above.
                    unsafe { store(&self.result, returned, result.cast()) }
                },
            )
        })
    }

    /// # Safety
    /// As of `call`.
    unsafe fn pass(&self, mut words: *const u64, to: &mut Passing<'_>) -> Result<(), Trap> {
        let mut next = || {
            // SAFETY: there are as many words as are asked for.
            let word = unsafe { words.read() };
            // SAFETY: as above.
            words = unsafe { words.add(1) };
            word
        };
        let mut extents: SmallVec<[Extent<'_>; 6]> = SmallVec::new();
        for param in &self.params {
            match param.kind {
                Kind::Scalar => to.pass_slot(next())?,
                Kind::Fixed(ty) => {
                    let value = only_value(self.plan.module.ctx(), ty).unwrap_or(Val::Unit);
                    to.pass_value(value)?;
                }
                Kind::Array { element, rank, is_read_only } => {
                    let data = std::ptr::with_exposed_provenance_mut::<c_void>(next() as usize);
                    let lengths: SmallVec<[usize; 4]> =
                        (0..rank).map(|_| next() as usize).collect();
                    let bytes = check(&param.name, data, element, &lengths)?;
                    let (start, end) = (data.addr(), data.addr() + bytes);
                    let extent = Extent { name: &param.name, start, end, is_read_only };
                    extents.iter().try_for_each(|other| other.check_apart(&extent))?;
                    extents.push(extent);
                    let data = NonNull::new(data.cast()).unwrap_or(NonNull::dangling());
                    let lent = to.next_array()?;
                    // SAFETY: the caller lends the elements, and the address and the lengths can be true.
                    let array = unsafe { lent.loan.begin_at(data, &lengths) };
                    to.pass_array(array)?;
                }
            }
        }
        Ok(())
    }
}

impl Extent<'_> {
    /// Checks that two arrays do not overlap, if one of them may be written to.
    fn check_apart(&self, other: &Self) -> Result<(), Trap> {
        let overlap = self.start < other.end && other.start < self.end;
        if !overlap || self.is_read_only && other.is_read_only {
            return Ok(());
        }
        let written = if self.is_read_only { other.name } else { self.name };
        let message = format!(
            "the arrays {} and {} overlap in memory, and the function may write to {written}",
            self.name, other.name
        );
        Err(Trap::of_kind(ErrorKind::Arguments, message))
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded").field("plan", &self.plan).finish_non_exhaustive()
    }
}

/// The functions of an image, and the name of the one that is called.
///
/// # Errors
/// If the object file was made by another version than this one.
pub(in crate::typed) fn read(
    image: &Image,
    parse: fn(&str) -> Result<Module, Vec<Diagnostic>>,
) -> Result<(Module, Symbol), Diagnostic> {
    image.check_version().map_err(Diagnostic::error)?;
    let module =
        parse(image.text()).map_err(|errors| errors.into_iter().next().unwrap_or_else(nothing))?;
    let name = module.functions().next().map(regraft_ir::Function::name).ok_or_else(nothing)?;
    Ok((module, name))
}

#[cold]
fn nothing() -> Diagnostic {
    Diagnostic::error("there is no function in the object file")
}

/// Checks that elements can be at an address; gives the bytes that they take.
fn check(name: &str, data: *const c_void, element: Type, lengths: &[usize]) -> Result<usize, Trap> {
    let size = by_element!(element, size_of(), 1);
    let len = lengths.iter().try_fold(1usize, |len, &by| len.checked_mul(by));
    let bytes = len.and_then(|len| len.checked_mul(size));
    let bytes = bytes.filter(|&bytes| isize::try_from(bytes).is_ok());
    let wrong = |message: String| {
        Trap::of_kind(ErrorKind::Arguments, format!("the array {name} {message}"))
    };
    let Some(bytes) = bytes else {
        return Err(wrong(format!("cannot have the lengths {lengths:?}")));
    };
    if bytes > 0 && data.is_null() {
        return Err(wrong(format!("has the lengths {lengths:?}, and its address is null")));
    }
    if bytes > 0 && !data.addr().is_multiple_of(size) {
        return Err(wrong(format!("is not aligned: its address is not divisible by {size}")));
    }
    Ok(bytes)
}

/// Writes a result where C wants it.
///
/// # Safety
/// There is room for it.
unsafe fn store(form: &Form, returned: Returned, mut at: *mut u8) -> Result<(), Diagnostic> {
    let wrong = || Diagnostic::error("the result is of another type than was checked");
    match (form, returned) {
        (Form::Nothing, _) => {}
        (&Form::Scalar(ty), Returned::Scalar(slot)) => {
            let value = Scalar::of(ty).map(|ty| ty.boxed(slot)).ok_or_else(wrong)?;
            // SAFETY: as above.
            unsafe { store_scalar(ty, &value, at) }.ok_or_else(wrong)?;
        }
        (&Form::Scalar(ty), Returned::Val(value)) => {
            // SAFETY: as above.
            unsafe { store_scalar(ty, &value, at) }.ok_or_else(wrong)?;
        }
        (Form::Fields(fields), Returned::Val(value)) => {
            let values = value.as_fields().ok_or_else(wrong)?;
            let mut offset = 0usize;
            for (&(_, ty), value) in fields.iter().zip(values) {
                let size = by_element!(ty, size_of(), 1);
                offset = offset.next_multiple_of(size);
                // SAFETY: as above.
                unsafe { store_scalar(ty, value, at.add(offset)) }.ok_or_else(wrong)?;
                offset += size;
            }
        }
        (&Form::Array { element, rank, .. }, Returned::Val(Val::Array(array))) => {
            let data = by_element!(element, copied(&array), None).ok_or_else(wrong)?;
            let data =
                data.ok_or_else(|| Diagnostic::error("there is no memory for the result"))?;
            let mut put = |word: usize| {
                // SAFETY: as above.
                unsafe { at.cast::<usize>().write_unaligned(word) };
                // SAFETY: as above.
                at = unsafe { at.add(size_of::<usize>()) };
            };
            put(data.expose_provenance());
            (0..usize::from(rank)).for_each(|dim| put(array.dim(dim)));
        }
        _ => return Err(wrong()),
    }
    Ok(())
}

/// A copy of the elements of an array, unless it is of others; `Some(None)` if there is no memory.
fn copied<T: Element>(array: &Array) -> Option<Option<*mut c_void>> {
    let storage: &Storage = array.storage();
    Some(memory::copy(&T::buffer(storage)?.to_vec()))
}

/// Writes a value, unless it is of another type.
///
/// # Safety
/// There is room for it.
unsafe fn store_scalar(ty: Type, value: &Val, at: *mut u8) -> Option<()> {
    /// # Safety
    /// There is room for it.
    unsafe fn put<T: Element>(value: &Val, at: *mut u8) -> Option<()> {
        let value = T::from_val(value)?;
        // SAFETY: the caller says so.
        unsafe { at.cast::<T>().write_unaligned(value) };
        Some(())
    }
    // SAFETY: as above.
    unsafe { by_element!(ty, put(value, at), None) }
}
