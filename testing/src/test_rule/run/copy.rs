//! Copies of values in depth.

use regraft_exec::Val;
use regraft_exec::value::{Array, Shared, Storage};
use rustc_hash::FxHashMap;

/// A copy in depth, with objects shared as they were. As deep as values are nested.
pub(super) fn copy(value: &Val, copies: &mut FxHashMap<*const (), Val>) -> Val {
    let mut all = |items: &[Val]| -> Vec<Val> { items.iter().map(|v| copy(v, copies)).collect() };
    match value {
        Val::Tuple(fields) => Val::tuple(all(fields.items())),
        Val::Named(fields) => Val::named_of(fields.ty(), all(fields.items()).into_iter().collect()),
        Val::Struct(fields) => Val::structure(fields.ty(), all(fields.items())),
        Val::Array(array) => {
            let address = Shared::as_ptr(array).cast();
            if let Some(known) = copies.get(&address) {
                return known.clone();
            }
            let new = Val::from(Array::duplicate(array));
            copies.insert(address, new.clone());
            if let (Val::Array(new), Storage::Val(_)) = (&new, array.storage()) {
                for i in 0..array.len() {
                    if let Some(item) = array.get(i) {
                        new.set(i, copy(&item, copies));
                    }
                }
            }
            new
        }
        Val::Ref(cell) => {
            let address = Shared::as_ptr(cell).cast();
            if let Some(known) = copies.get(&address) {
                return known.clone();
            }
            let new = Val::reference(cell.element(), Val::Unit);
            copies.insert(address, new.clone());
            let held = copy(&cell.get(), copies);
            if let Val::Ref(new) = &new {
                new.set(held);
            }
            new
        }
        Val::Object(object) => {
            let address = Shared::as_ptr(object).cast();
            if let Some(known) = copies.get(&address) {
                return known.clone();
            }
            let new = Val::object(object.ty(), object.fields());
            copies.insert(address, new.clone());
            for (i, field) in object.fields().enumerate() {
                let field = copy(&field, copies);
                if let Val::Object(new) = &new {
                    new.set(i, field);
                }
            }
            new
        }
        other => other.clone(),
    }
}
