//! The effects of one instruction.

use regraft_dialects::{ad, core, mem};
use regraft_ir::{Context, ControlFlow, Effects, Function, Operand, Type, TypeKind, Value};
use smallvec::SmallVec;

use super::summary::{Access, EffectSummaries, EffectSummary};
use crate::analysis::traps::may_trap;

/// The effects that one instruction may have.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InstEffects {
    /// Operands that are objects, with what is done to them.
    pub objects: SmallVec<[(Operand, Access); 2]>,
    /// The accesses to other objects: they may happen to all that others can reach.
    pub elsewhere: Access,
    /// True if the result is an object that was not there before.
    pub allocates: bool,
    /// True if it prints, or does something else that can be observed when it happens.
    pub observable: bool,
    /// True if it may stop the program with an error.
    pub may_trap: bool,
    /// True if it may run on for ever.
    pub may_not_end: bool,
}

impl InstEffects {
    /// Returns whether it writes an object.
    pub fn writes_anything(&self) -> bool {
        self.all_accesses().intersects(Access::WRITES)
    }

    /// Returns whether it reads an object.
    pub(crate) fn reads_anything(&self) -> bool {
        self.all_accesses().intersects(Access::READS)
    }

    /// Returns what it does to objects, whichever they are.
    pub(crate) fn all_accesses(&self) -> Access {
        self.objects.iter().fold(self.elsewhere, |all, object| all | object.1)
    }

    /// Returns whether it can be dropped when nobody uses its result.
    pub fn is_removable(&self) -> bool {
        !self.writes_anything() && !self.observable && !self.may_trap && !self.may_not_end
    }

    fn anything(f: &Function, v: Value) -> Self {
        Self {
            objects: f
                .plain_operands(v)
                .filter(|&operand| may_be_object(f.ctx(), f.operand_type(operand)))
                .map(|operand| (operand, Access::all()))
                .collect(),
            elsewhere: Access::all(),
            allocates: true,
            observable: true,
            may_trap: true,
            may_not_end: true,
        }
    }
}

/// Returns what `v` may do: what its op says, for the operands that it has; for a call of a
/// function by name, what the summary of that function says. A terminator does nothing but trap, if
/// it may. O(operands).
pub fn inst_effects(f: &Function, v: Value, summaries: &EffectSummaries) -> InstEffects {
    let Some(def) = f.op_def(v) else { return InstEffects::default() };
    if def.effects == Effects::NONE {
        return InstEffects { may_trap: may_trap(f, v), ..InstEffects::default() };
    }
    if def.effects.opaque {
        let effects = match def.op {
            core::TRY => try_effects(f, v, summaries),
            _ => callee_summary(f, v, summaries).map(|summary| call_effects(f, v, summary, 1, 0)),
        };
        return effects.unwrap_or_else(|| InstEffects::anything(f, v));
    }
    let effects = def.effects;
    let mut result = InstEffects {
        allocates: effects.allocates,
        observable: effects.observable,
        may_trap: may_trap(f, v),
        ..InstEffects::default()
    };
    result.elsewhere.set(Access::READS_CONTENTS, effects.reads_globals);
    for (i, operand) in f.plain_operands(v).enumerate() {
        let mut access = Access::empty();
        access.set(Access::READS_CONTENTS, effects.reads.contains(i));
        access.set(Access::WRITES_CONTENTS, effects.writes.contains(i));
        access.set(Access::READS_SHAPE, effects.reads_shape.contains(i));
        access.set(Access::WRITES_SHAPE, effects.writes_shape.contains(i));
        if access.is_empty() {
            continue;
        }
        let ty = f.operand_type(operand);
        if may_be_object(f.ctx(), ty) {
            result.objects.push((operand, access));
        }
        if effects.deep && may_reach_others(f.ctx(), ty) {
            result.elsewhere |= access;
        }
    }
    result
}

/// The summary of the function that `v` calls by its name with as many arguments as it takes.
pub(crate) fn callee_summary<'a>(
    f: &Function,
    v: Value,
    summaries: &'a EffectSummaries,
) -> Option<&'a EffectSummary> {
    if f.op(v) != Some(core::CALL) {
        return None;
    }
    let summary = summaries.of(f.const_func(f.operand(v, 0)?)?);
    (!summary.opaque && summary.params.len() + 1 == f.operand_count(v)).then_some(summary)
}

/// The effects of a call of the function of this summary, for the operands from `first_arg` on, which
/// are passed to its parameters from `first_param` on.
fn call_effects(
    f: &Function,
    v: Value,
    summary: &EffectSummary,
    first_arg: usize,
    first_param: usize,
) -> InstEffects {
    let mut result = InstEffects {
        objects: SmallVec::new(),
        elsewhere: summary.elsewhere,
        allocates: summary.allocates,
        observable: summary.observable,
        // What is known too little of is checked at the call.
        may_trap: summary.may_trap || !summary.ret.is_assignable_to(f.ty(v)),
        may_not_end: summary.may_not_end,
    };
    for param in &summary.params[..first_param] {
        result.elsewhere |= param.access;
    }
    for (i, operand) in f.operands(v).skip(first_arg).enumerate() {
        let (at, ty) = (first_param + i, f.operand_type(operand));
        let param = summary.params[at];
        result.may_trap |= !ty.is_assignable_to(summary.param_types[at]);
        if !param.access.is_empty() && may_be_object(f.ctx(), ty) {
            result.objects.push((operand, param.access));
        }
    }
    result
}

/// The effects of `core.try`: those of the body, and of the handler if the body may fail. `None` if
/// one of them is not known.
fn try_effects(f: &Function, v: Value, summaries: &EffectSummaries) -> Option<InstEffects> {
    let captures = f.operand_count(v) - 2;
    let summary = |position: usize, params: usize| {
        let summary = summaries.of(f.const_func(f.operand(v, position)?)?);
        (!summary.opaque && summary.params.len() == params).then_some(summary)
    };
    let mut result = call_effects(f, v, summary(0, captures)?, 2, 0);
    if result.may_trap {
        let handler = call_effects(f, v, summary(1, captures + 1)?, 2, 1);
        result.may_trap = handler.may_trap;
        result.observable |= handler.observable;
        result.may_not_end |= handler.may_not_end;
        result.allocates |= handler.allocates;
        result.elsewhere |= handler.elsewhere;
        result.objects.extend(handler.objects);
    }
    Some(result)
}

/// Returns whether a value of this type may be an object.
#[inline]
pub fn may_be_object(ctx: &Context, ty: Type) -> bool {
    ty == Type::ANY || !is_plain(ty) && ctx.is_object(ty)
}

/// Returns whether a value of this type may be an object or hold one.
pub fn may_reach_objects(ctx: &Context, ty: Type) -> bool {
    if is_plain(ty) {
        return false;
    }
    // What is nested deeper or has more parts is not looked at.
    let mut parts = vec![ty];
    let mut seen = 0;
    while let Some(ty) = parts.pop() {
        seen += 1;
        if seen > 64 {
            return true;
        }
        match ctx.kind(ty) {
            TypeKind::Tuple(elements) => parts.extend(elements.iter().copied()),
            TypeKind::Named(fields) => parts.extend(fields.iter().map(|field| field.1)),
            &TypeKind::Struct(id) => {
                let def = ctx.struct_def(id);
                if def.mutable {
                    return true;
                }
                parts.extend(def.fields.iter().map(|field| field.1));
            }
            TypeKind::Fn(_) | TypeKind::Val(_) | TypeKind::TypeOf(_) => {}
            _ if is_plain(ty) => {}
            _ => return true,
        }
    }
    false
}

/// Returns whether objects may be reached from a value of this type, apart from the object that it
/// is itself.
pub(crate) fn may_reach_others(ctx: &Context, ty: Type) -> bool {
    match *ctx.kind(ty) {
        TypeKind::Array { element: of, .. } | TypeKind::Ref(of) => may_reach_objects(ctx, of),
        TypeKind::Struct(id) => {
            let def = ctx.struct_def(id);
            def.fields.iter().any(|&(_, field)| may_reach_objects(ctx, field))
        }
        _ => may_reach_objects(ctx, ty),
    }
}

/// The instructions that may change a shape, with their effects, in reverse postorder. O(instructions).
pub(crate) fn shape_writers(
    f: &Function,
    cfg: &ControlFlow,
    summaries: &EffectSummaries,
) -> Vec<(Value, InstEffects)> {
    let mut writers = Vec::new();
    for v in cfg.reverse_postorder().flat_map(|block| f.body(block)) {
        let Some(def) = f.op_def(v) else { continue };
        if !def.effects.opaque && def.effects.writes_shape.is_empty() {
            continue;
        }
        let effects = inst_effects(f, v, summaries);
        if effects.all_accesses().contains(Access::WRITES_SHAPE) {
            writers.push((v, effects));
        }
    }
    writers
}

/// The array whose shape the new array `v` has when it is made.
pub(crate) fn copied_shape(f: &Function, v: Value) -> Option<Operand> {
    let source = f.operand(v, 0)?;
    match f.op(v)? {
        mem::COPY => Some(source),
        ad::ZERO | ad::COPY => {
            let rank = |ty| match *f.ctx().kind(ty) {
                TypeKind::Array { rank, .. } => Some(rank),
                _ => None,
            };
            (rank(f.ty(v))? == rank(f.operand_type(source))?).then_some(source)
        }
        _ => None,
    }
}

/// Returns whether it is one of the builtin types that neither are objects nor hold any.
#[inline]
fn is_plain(ty: Type) -> bool {
    ty.is_scalar() || matches!(ty, Type::UNIT | Type::NEVER | Type::SYM | Type::STR)
}
