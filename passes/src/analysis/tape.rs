//! The tape that a function is given: a tuple of which an attribute says which parts are shadows, in groups that have no
//! object in common.

use regraft_dialects::core;
use regraft_ir::{Constant, Function, Type, Value};

use super::effects::may_be_object;

/// A tuple that a function is given, of which some parts are shadows.
pub(super) struct Tape {
    param: Value,
    groups: Vec<Vec<i64>>,
}

impl Tape {
    /// The tape of a function with the attribute `shadows`. `None` if other parameters may be objects, as nothing is said
    /// of these.
    pub(super) fn of(f: &Function) -> Option<Self> {
        let ctx = f.ctx();
        let Constant::Str(list) = ctx.constant(ctx.attr(f.function_attrs(), "shadows")?) else {
            return None;
        };
        let mut params = f.params(f.entry()?);
        let param = params.next()?;
        let positions =
            |group: &str| group.split(',').filter_map(|part| part.parse().ok()).collect();
        let groups = ctx.str(list).split('|').map(positions).collect();
        params.all(|other| !may_be_object(ctx, f.ty(other))).then_some(Self { param, groups })
    }

    /// The group of shadows that `v` is of, counted from 1, or 0 if it is a part that is no shadow. `None` if it is no part.
    pub(super) fn part(&self, f: &Function, v: Value) -> Option<u32> {
        let [whole, index] = f.matches::<2>(v, core::GET)?;
        let is_known = whole == self.param.into() && f.ty(v) != Type::ANY;
        let index = is_known.then(|| f.const_i64(index)).flatten()?;
        let group = self.groups.iter().position(|group| group.contains(&index));
        Some(group.map_or(0, |group| group as u32 + 1))
    }
}
