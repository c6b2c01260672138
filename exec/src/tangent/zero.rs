//! Tangents of values: zero, and random.

use regraft_ir::Type;

use super::context::Tangents;
use super::walk::{Rule, Step, gathered};
use super::workspace::Shape;
use crate::error::Trap;
use crate::value::Pairs;
use crate::value::{Array, Storage, Val};

/// Makes a tangent of a value.
pub(super) struct Zero {
    /// Its numbers, if they are not zero.
    random: Option<Random>,
}

impl Zero {
    pub(super) fn zeros() -> Self {
        Self { random: None }
    }

    pub(super) fn random(seed: u64) -> Self {
        Self { random: Some(Random(seed)) }
    }

    fn next(&mut self) -> f64 {
        self.random.as_mut().map_or(0.0, Random::next)
    }

    /// Sets the numbers of an array of zeros.
    fn set_numbers(&mut self, array: &Val) {
        let (Val::Array(array), Some(random)) = (array, &mut self.random) else { return };
        for place in 0..array.len() {
            match array.storage() {
                Storage::F64(items) => items.set(place, random.next()),
                Storage::F32(items) => items.set(place, random.next() as f32),
                _ => return,
            };
        }
    }
}

impl Rule for Zero {
    fn step(&mut self, on: Tangents<'_>, a: &Val, _: &Val) -> Result<Step, Trap> {
        Ok(match a {
            Val::F64(_) => Step::Done(Val::F64(self.next())),
            Val::F32(_) => Step::Done(Val::F32(self.next() as f32)),
            Val::Tuple(x) => Step::Parts(Shape::Tuple, alone(x.items())),
            Val::Named(x) => Step::Parts(Shape::Named(x.ty()), alone(x.items())),
            Val::Struct(x) => match on.field_shape(x.ty()) {
                Some(shape) => Step::Parts(Shape::Named(shape), alone(x.items())),
                None => Step::Done(Val::Unit),
            },
            Val::Array(array) => match new_shadow(on, array)? {
                Some(shadow) if array.element().is_float() => {
                    self.set_numbers(&shadow);
                    Step::Done(shadow)
                }
                // It is made of zeros.
                Some(shadow) if self.random.is_none() && is_unboxed(&shadow) => Step::Done(shadow),
                Some(shadow) => Step::Fill(shadow),
                None => Step::Done(Val::Unit),
            },
            Val::Ref(cell) => match on.shadow_element(cell.element()) {
                Some(element) => Step::Fill(on.new_ref(element)?),
                None => Step::Done(Val::Unit),
            },
            Val::Object(object) => match on.shadow_of_object(object.ty()) {
                Some(element) => Step::Fill(on.new_ref(element)?),
                None => Step::Done(Val::Unit),
            },
            _ => Step::Done(Val::Unit),
        })
    }
}

/// Returns whether a value is an array of unboxed elements.
fn is_unboxed(value: &Val) -> bool {
    value.as_array().is_some_and(|array| array.element_type().unboxed().is_some())
}

/// A new shadow of an array, if it has one: its numbers are zero, other elements not yet defined.
pub(super) fn new_shadow(on: Tangents<'_>, array: &Array) -> Result<Option<Val>, Trap> {
    let element = on.shadow_element(array.element());
    element.map(|element: Type| on.new_array(element, array)).transpose()
}

/// Parts that are not one of a pair.
pub(super) fn alone(parts: &[Val]) -> Pairs {
    gathered(parts.iter().map(|part| (part.clone(), Val::Unit)))
}

/// The generator `SplitMix64` (G. Steele, D. Lea and C. Flood, "Fast Splittable Pseudorandom
/// Number Generators", OOPSLA 2014, section 3).
struct Random(u64);

impl Random {
    /// The next number, from -1 (inclusive) to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
        // 53 bits, as many as a float has.
        (x >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
