//! Loops that keep a few states instead of something of every iteration.
//!
//! Where a memory bound is given, a counted loop that would keep something is taken out of its
//! function ([`outline`]): an iteration becomes a function `step`, and the loop a call of `steps`, which
//! makes so many of them. Of that call nothing is kept but its arguments, and copies of the memory
//! that it changes; on the way back the steps are made again from snapshots ([`binomial`]).
//!
//! # When it is possible
//! What the loop changes in memory must be known before it begins and simple: arrays and refs of
//! numbers that stay the same objects and keep their shape, so that they can be copied and put back.
//! If arrays are handed from iteration to iteration, each has to make new ones, so that their shadows
//! are new as well, and nothing may be changed in place at all. What is only read must not be changed
//! after the loop, or be simple too.

pub(super) mod binomial;
pub(super) mod outline;

use regraft_dialects::{cf, core};
use regraft_ir::{
    Block, Context, ControlFlow, Diagnostic, Function, Operand, Symbol, Type, TypeKind, Value,
};
use regraft_passes::analysis::{
    Access, Aliases, Base, inst_effects, may_be_object, may_reach_objects,
};

use super::driver::{CheckpointedLoop, Driver};
use super::stability::Stability;
use crate::returning::returning_blocks;
use crate::tangent_builder::element_type;
use outline::{Candidate, Outlined, candidate};

/// Takes the loop of that header out of `f`, if that is possible; else says why not. `returns` says
/// by [`Block::index`] which blocks the function comes back from.
pub(super) fn take_out(
    driver: &mut Driver<'_>,
    f: &mut Function,
    header: Block,
    returns: &[bool],
    closed: bool,
) -> Result<Result<Symbol, &'static str>, Diagnostic> {
    let found = match candidate(f, header, returns) {
        Ok(found) => found,
        Err(why) => return Ok(Err(why)),
    };
    let name = f.name_str();
    let step_name = driver.fresh(&format!("{name}.step"));
    let ctx = f.ctx().clone();
    let outlined = found.step(f, ctx.str(step_name))?;
    let uses = match Uses::of(driver, &outlined) {
        Ok(uses) => uses,
        Err(why) => return Ok(Err(why)),
    };
    let steps_name = driver.fresh(&format!("{name}.steps"));
    let steps = Candidate::steps(&outlined, ctx.str(steps_name))?;
    let mut summaries = driver.summaries.clone();
    summaries.add(&outlined.step);
    summaries.add(&steps);
    let mut shorter = f.clone();
    found.replace(&mut shorter, steps_name, &outlined)?;
    let cfg = ControlFlow::compute(&shorter);
    let aliases = Aliases::compute(&shorter, &cfg, &summaries);
    let stability = Stability::compute(&shorter, &cfg, &aliases, &summaries, closed);
    let stable = call_of(&shorter, steps_name).is_some_and(|call| stability.is_stable(call));
    let saved = match uses.saved(driver, &outlined, stable) {
        Ok(saved) => saved,
        Err(why) => return Ok(Err(why)),
    };
    *f = shorter;
    driver.summaries = summaries;
    let repeated =
        CheckpointedLoop { step: step_name, state: outlined.state, saved, resized: !stable };
    driver.module.add(outlined.step)?;
    driver.module.add(steps)?;
    driver.repeated.insert(steps_name, repeated);
    Ok(Ok(steps_name))
}

fn call_of(f: &Function, callee: Symbol) -> Option<Value> {
    let calls = |&v: &Value| {
        f.op(v) == Some(core::CALL)
            && f.operand(v, 0).and_then(|callee| f.const_func(callee)) == Some(callee)
    };
    f.blocks().flat_map(|block| f.body(block)).find(calls)
}

/// What a step does to objects.
struct Uses {
    /// By parameter.
    params: Vec<Access>,
    /// Whether it reads objects that are not known by a name.
    reads_others: bool,
    /// By position in the state, whether what a step hands on was made in it.
    hands_on_new: Vec<bool>,
}

impl Uses {
    fn of(driver: &Driver<'_>, outlined: &Outlined) -> Result<Self, &'static str> {
        let step = &outlined.step;
        let cfg = ControlFlow::compute(step);
        let aliases = Aliases::compute(step, &cfg, &driver.summaries);
        let mut params = vec![Access::empty(); step.param_types().len()];
        let mut reads_others = false;
        let mut hands_on_new = vec![false; outlined.state.len()];
        // A step that ended in an error is not made again.
        let returns = returning_blocks(step);
        for block in cfg.reverse_postorder().filter(|block| returns[block.index()]) {
            let end = Value::terminator(block);
            let returned = step.operand(end, 0).filter(|_| step.op(end) == Some(cf::RETURN));
            // The tuple that a step returns is made where it is over.
            if let Some(tuple) = returned.and_then(Operand::as_value) {
                for (i, part) in step.plain_operands(tuple).enumerate() {
                    hands_on_new[i] = matches!(aliases.base(part), Base::Fresh(_));
                }
            }
            for v in step.insts(block) {
                let effects = inst_effects(step, v, &driver.summaries);
                if effects.observable {
                    return Err("it does something that can be observed from outside");
                }
                let unknown = "it changes objects that are not known before it begins";
                if effects.elsewhere.intersects(Access::WRITES) {
                    return Err(unknown);
                }
                reads_others |= !effects.elsewhere.is_empty();
                for (operand, access) in effects.objects {
                    match aliases.base(operand) {
                        Base::Param(i) => params[i as usize] |= access,
                        Base::Unknown if access.intersects(Access::WRITES) => return Err(unknown),
                        Base::Unknown => reads_others = true,
                        Base::Fresh(_) | Base::None => {}
                    }
                }
            }
        }
        Ok(Self { params, reads_others, hands_on_new })
    }

    /// The positions in the environment of what has to be put back before a step is made again.
    /// `stable` says that nothing is changed after the loop.
    fn saved(
        &self,
        driver: &mut Driver<'_>,
        outlined: &Outlined,
        stable: bool,
    ) -> Result<Vec<usize>, &'static str> {
        let ctx = outlined.step.ctx();
        let states = outlined.state.len();
        let hands_on = outlined.state.iter().any(|&ty| may_reach_objects(ctx, ty));
        let writes = |access: &Access| access.intersects(Access::WRITES);
        if hands_on && (self.params.iter().any(writes) || !stable) {
            return Err("objects are handed from iteration to iteration, and some are changed");
        }
        for (&ty, &is_new) in outlined.state.iter().zip(&self.hands_on_new) {
            if may_reach_objects(ctx, ty) && !(is_new && is_simple(ctx, ty)) {
                return Err(
                    "objects are handed from iteration to iteration that are not new arrays",
                );
            }
        }
        if self.reads_others && !stable {
            return Err("it reads objects that are changed later");
        }
        if self.params.iter().any(|access| access.contains(Access::WRITES_SHAPE)) {
            return Err("an array changes its length in it");
        }
        let mut saved = Vec::new();
        let types = outlined.step.param_types();
        for (i, access) in self.params[states..].iter().enumerate() {
            if access.is_empty() || (stable && !writes(access)) {
                continue;
            }
            let ty = types[states + i];
            if !is_simple(ctx, ty) {
                return Err("objects in it that are changed hold other objects");
            }
            // A step forward sets shadows of tuples to zero where it sets the tuples: made again,
            // it would wipe out what has come back already.
            let element = element_type(ctx, ty);
            if writes(access) && !element.is_float() && driver.types.has_tangent(element) {
                return Err("arrays of tuples are changed in it");
            }
            saved.push(i);
        }
        Ok(saved)
    }
}

/// Whether a copy of an object is as good as the object was.
fn is_simple(ctx: &Context, ty: Type) -> bool {
    match *ctx.kind(ty) {
        TypeKind::Array { element, .. } | TypeKind::Ref(element) => {
            !may_be_object(ctx, element) && !may_reach_objects(ctx, element)
        }
        _ => false,
    }
}
