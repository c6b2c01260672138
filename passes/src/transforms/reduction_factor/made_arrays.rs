//! Arrays that a function makes: with what content, with which dimensions, and when.

use regraft_dialects::{ad, core, mem};
use regraft_ir::{Constant, DominatorTree, Function, Operand, TypeKind, Value};

use crate::analysis::{Aliases, EffectSummaries, InductionVariables, LoopForest, TripCounts};

/// The analyses by which reductions are factored.
pub(super) struct ReductionAnalyses<'a> {
    pub(super) f: &'a Function,
    pub(super) forest: &'a LoopForest,
    pub(super) dom: &'a DominatorTree,
    pub(super) aliases: &'a Aliases,
    pub(super) summaries: &'a EffectSummaries,
    pub(super) variables: &'a InductionVariables,
    pub(super) counts: &'a TripCounts,
}

impl ReductionAnalyses<'_> {
    /// The instruction that made an array, and what it holds.
    pub(super) fn maker(&self, array: Operand) -> Option<(Value, Operand)> {
        let f = self.f;
        let TypeKind::Array { element, .. } = *f.ctx().kind(f.operand_type(array)) else {
            return None;
        };
        let zero = if element.is_float() {
            Constant::float(element, 0.0)
        } else if element.is_int() {
            Constant::int(element, 0)
        } else {
            None
        };
        let zero = || Some(Operand::from(f.constant_id(zero?)));
        let mut v = array.as_value()?;
        match f.op(v)? {
            mem::ALLOC => return Some((v, zero()?)),
            mem::FILL => {
                let content = f.operand(v, 0)?;
                return f.constant(content).map(|_| (v, content));
            }
            _ => {}
        }
        // A part of a zero tangent.
        while f.op(v) == Some(core::GET) {
            v = f.operand(v, 0)?.as_value()?;
        }
        (f.op(v) == Some(ad::ZERO) && element.is_float()).then_some((v, zero()?))
    }

    /// Returns whether two arrays were made with the same dimensions, and keep them.
    pub(super) fn same_dimensions(&self, a: Value, b: Value) -> bool {
        let f = self.f;
        let dimensions = |v: Value| match f.op(v) {
            Some(mem::ALLOC) => Some(0),
            Some(mem::FILL) => Some(1),
            _ => None,
        };
        let fixed = |v: Value| matches!(*f.ctx().kind(f.ty(v)), TypeKind::Array { rank: 2.., .. });
        match (dimensions(a), dimensions(b)) {
            _ if !fixed(a) || !fixed(b) => false,
            _ if a == b => true,
            (Some(x), Some(y)) => f.operands(a).skip(x).eq(f.operands(b).skip(y)),
            _ => false,
        }
    }

    /// Returns whether an object was there before an array was made, and so is another one.
    pub(super) fn is_older(&self, object: Operand, array: Operand) -> bool {
        let (Some((maker, _)), Some(v)) = (self.maker(array), object.as_value()) else {
            return false;
        };
        let (f, home) = (self.f, self.f.block_of(maker));
        match f.block_of(v) == home {
            true => f.is_param(v) || f.comes_before(v, maker),
            false => self.dom.strictly_dominates(f.block_of(v), home),
        }
    }
}
