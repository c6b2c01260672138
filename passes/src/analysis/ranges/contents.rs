//! The elements of arrays that only loads and stores of their function reach: all that is stored to
//! one, whatever the index, and what is in it at first.

use regraft_dialects::mem;
use regraft_ir::{Function, TypeKind, Value};
use rustc_hash::FxHashMap;

use super::Interval;
use super::transfer::LatticeValue;
use super::widening::{MAX_CHANGES, WIDENING_DELAY, widened};
use crate::analysis::FloatKinds;

/// What is known of the elements of arrays.
#[derive(Debug, Default)]
pub(super) struct Contents(FxHashMap<Value, Content>);

#[derive(Debug)]
struct Content {
    known: LatticeValue,
    changes: u8,
}

impl Contents {
    /// Of the arrays of a function of which all uses are known. O(instructions and uses of arrays).
    pub(super) fn collect(f: &Function) -> Self {
        let makes = |v: &Value| matches!(f.op(*v), Some(mem::ALLOC | mem::FILL));
        let has_numbers = |v: &Value| match f.ctx().kind(f.ty(*v)) {
            &TypeKind::Array { element, .. } => {
                element.is_float() || LatticeValue::of_type(element) != LatticeValue::Any
            }
            _ => false,
        };
        let is_private = |v: &Value| {
            f.uses(*v).all(|at| match f.op(at.user) {
                Some(mem::LOAD | mem::STORE | mem::FILL_IN_PLACE) => at.index == 0,
                Some(mem::LENGTH | mem::SIZE | mem::SHAPE | mem::COPY) => true,
                _ => false,
            })
        };
        let content = || Content { known: LatticeValue::Unseen, changes: 0 };
        let arrays = f.all_insts().filter(makes).filter(has_numbers).filter(is_private);
        Self(arrays.map(|v| (v, content())).collect())
    }

    /// Returns what is known of the result of a load from one of the arrays.
    #[inline]
    pub(super) fn loaded(&self, f: &Function, load: Value) -> Option<LatticeValue> {
        if self.0.is_empty() || f.op(load) != Some(mem::LOAD) {
            return None;
        }
        let array = f.operand(load, 0)?.as_value()?;
        Some(self.0.get(&array)?.known)
    }

    /// Takes over what an instruction writes, of whose operands `known` is known. Returns the array
    /// if that is news.
    #[inline]
    pub(super) fn write(
        &mut self,
        f: &Function,
        v: Value,
        known: impl Fn(Value) -> LatticeValue,
    ) -> Option<Value> {
        if self.0.is_empty() {
            return None;
        }
        let (array, written) = match f.op(v)? {
            mem::STORE | mem::FILL_IN_PLACE => (f.operand(v, 0)?.as_value()?, f.operand(v, 1)),
            mem::FILL => (v, f.operand(v, 0)),
            mem::ALLOC => (v, None),
            _ => return None,
        };
        let content = self.0.get_mut(&array)?;
        let &TypeKind::Array { element, .. } = f.ctx().kind(f.ty(array)) else { return None };
        let all = LatticeValue::of_type(element);
        let new = match written {
            None if element.is_float() => LatticeValue::Float(FloatKinds::ZERO),
            None => LatticeValue::Int(Interval::single(0)),
            Some(operand) if f.operand_type(operand) != element => all,
            Some(operand) => match operand.as_value() {
                Some(v) => known(v),
                None => LatticeValue::of_constant(operand.as_const()?, f.constant(operand)?),
            },
        };
        let old = content.known;
        let mut joined = old.join(new, f);
        if joined == old {
            return None;
        }
        content.changes += 1;
        joined = match (old, joined) {
            _ if content.changes > MAX_CHANGES => all,
            (LatticeValue::Int(old), LatticeValue::Int(new))
                if content.changes > WIDENING_DELAY =>
            {
                LatticeValue::Int(widened(old, new, Interval::of_type(element)))
            }
            _ => joined,
        };
        content.known = joined;
        (joined != old).then_some(array)
    }
}
