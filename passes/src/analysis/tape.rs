//! The tape that a function is given: a tuple of which an attribute says which parts are shadows.

use regraft_dialects::core;
use regraft_ir::{Constant, Function, Type, Value};

use super::effects::may_be_object;

/// A tuple that a function is given, of which some parts are shadows.
pub(super) struct Tape {
    param: Value,
    shadows: Vec<i64>,
}

impl Tape {
    /// The tape of a function with the attribute `shadows`. Not if other parameters may be objects, of which
    /// nothing is said.
    pub(super) fn of(f: &Function) -> Option<Self> {
        let ctx = f.ctx();
        let Constant::Str(list) = ctx.constant(ctx.attr(f.function_attrs(), "shadows")?) else {
            return None;
        };
        let mut params = f.params(f.entry()?);
        let param = params.next()?;
        let shadows = ctx.str(list).split(',').filter_map(|part| part.parse().ok()).collect();
        params.all(|other| !may_be_object(ctx, f.ty(other))).then_some(Self { param, shadows })
    }

    /// Returns whether `v` is a part that is a shadow. `None` if it is no part.
    pub(super) fn part(&self, f: &Function, v: Value) -> Option<bool> {
        let [whole, index] = f.matches::<2>(v, core::GET)?;
        let is_known = whole == self.param.into() && f.ty(v) != Type::ANY;
        is_known.then(|| f.const_i64(index)).flatten().map(|index| self.shadows.contains(&index))
    }
}
