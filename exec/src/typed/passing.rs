//! Arguments on their way to registers.

// Values are made in registers.
#![allow(unsafe_code)]

use crate::error::{ErrorKind, Trap};
use crate::interp::Scalar;
use crate::value::{Array, Element, Loan, Shared, Val};

/// A parameter that is an array.
#[derive(Debug)]
pub(super) struct Lent {
    pub(super) loan: Loan,
    /// True if the elements are copied.
    pub(super) copies: bool,
}

/// The registers of the parameters, which are written to in order.
#[derive(Debug)]
pub struct Passing<'a> {
    scalars: std::slice::IterMut<'a, u64>,
    vals: std::slice::IterMut<'a, Val>,
    loans: std::slice::IterMut<'a, Lent>,
}

impl<'a> Passing<'a> {
    pub(super) fn new(scalars: &'a mut [u64], vals: &'a mut [Val], loans: &'a mut [Lent]) -> Self {
        Self { scalars: scalars.iter_mut(), vals: vals.iter_mut(), loans: loans.iter_mut() }
    }

    /// The place of the next array.
    #[inline(always)]
    pub(super) fn next_array(&mut self) -> Result<&'a mut Lent, Trap> {
        self.loans.next().ok_or_else(no_register)
    }

    /// Passes the next array; `None` if it has too many elements.
    #[inline(always)]
    pub(super) fn pass_array(&mut self, array: Option<Shared<Array>>) -> Result<(), Trap> {
        let array = array.ok_or_else(too_many)?;
        let register = self.vals.next().ok_or_else(no_register)?;
        if !register.is_plain() {
            let_go(register);
        }
        // SAFETY: what was there before needs no drop. The value is made in the register: one that is copied to it must have
        // come to memory first.
        unsafe { std::ptr::write(register, Val::Array(array)) };
        Ok(())
    }

    #[inline]
    pub(super) fn pass_scalar<T: Element>(&mut self, value: T) -> Result<(), Trap> {
        let value = value.into();
        let slot = Scalar::of(T::TYPE).and_then(|ty| ty.unboxed(&value));
        value.discard();
        self.pass_slot(slot.ok_or_else(no_register)?)
    }

    /// Passes a scalar in the form that it has in a register.
    #[inline]
    pub(super) fn pass_slot(&mut self, slot: u64) -> Result<(), Trap> {
        *self.scalars.next().ok_or_else(no_register)? = slot;
        Ok(())
    }

    #[inline]
    pub(super) fn pass_value(&mut self, value: Val) -> Result<(), Trap> {
        let register = self.vals.next().ok_or_else(no_register)?;
        std::mem::replace(register, value).discard();
        Ok(())
    }
}

#[cold]
fn let_go(register: &mut Val) {
    *register = Val::Unit;
}

#[cold]
pub(super) fn too_many() -> Trap {
    Trap::of_kind(ErrorKind::Arguments, "an argument has more elements than memory can hold")
}

#[cold]
fn no_register() -> Trap {
    Trap::of_kind(ErrorKind::Arguments, "there is no parameter for an argument")
}
