//! Loops that keep a few states instead of something of every iteration.
//!
//! A counted loop that would keep something is outlined from its function ([`outline`]) if memory is
//! bounded: an iteration becomes a function `step`, and the loop a call of `steps`, which makes so many of
//! them. Of that call nothing is kept but its arguments, and copies of the memory that it changes; on the
//! way back the steps are made again from snapshots ([`binomial`]).
//!
//! # When it is possible
//! What the loop changes in memory must be known before it begins and simple: arrays and refs of
//! numbers that stay the same objects and keep their shape, so that they can be copied and put back.
//! If arrays are handed from iteration to iteration, each has to make new ones, so that their shadows
//! are new as well, and nothing may be changed in place at all. What is only read must not be changed
//! after the loop, or be simple too.

pub(super) mod binomial;
pub(super) mod outline;

use regraft_dialects::cf;
use regraft_ir::{
    Block, Context, ControlFlow, Diagnostic, Function, Operand, Symbol, Type, TypeKind, Value,
};
use regraft_passes::analysis::{
    Access, Aliases, Analyses, Base, inst_effects, may_be_object, may_reach_objects,
};

use super::driver::{CheckpointedLoop, Driver};
use super::to_be_recorded::ToBeRecorded;
use crate::returning::returning_blocks;
use crate::tangent_builder::element_type;
use outline::{Candidate, Outlined, candidate};

/// Outlines of `f` those of the loops of these headers that can be. Returns what is left of the
/// function, if it is not the same, and a line for each loop. With `combined`, nothing happens
/// between the two sweeps.
pub(super) fn outline_loops(
    driver: &mut Driver<'_>,
    mut f: Function,
    headers: &[Block],
    combined: bool,
) -> Result<(Option<Function>, String), Diagnostic> {
    let returns = returning_blocks(&f);
    let mut analyses = Analyses::with_effects(&driver.summaries);
    let (mut changed, mut notes) = (false, String::new());
    for &header in headers {
        let outlined = match candidate(&f, header, &returns, &mut analyses) {
            Ok(found) => outline(driver, &f, &found, combined)?,
            Err(why) => Err(why),
        };
        notes.push_str(&match outlined {
            Ok((rest, steps)) => {
                (f, changed) = (rest, true);
                let steps = driver.ctx.str(steps);
                format!("loop {header}: steps of @{steps}, made again from snapshots\n")
            }
            Err(why) => format!("loop {header}: no snapshots, since {why}\n"),
        });
    }
    Ok((changed.then_some(f), notes))
}

/// Outlines a loop of `f`: what is left of the function, and the name of the function that makes the
/// steps; else why that is not possible.
fn outline(
    driver: &mut Driver<'_>,
    f: &Function,
    found: &Candidate,
    combined: bool,
) -> Result<Result<(Function, Symbol), &'static str>, Diagnostic> {
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
    let mut rest = f.clone();
    let call = found.replace(&mut rest, steps_name, &outlined)?;
    let tbr = ToBeRecorded::compute(&rest, &mut Analyses::with_effects(&summaries), combined);
    let stable = tbr.is_stable(call);
    let saved = match uses.saved(driver, &outlined, stable) {
        Ok(saved) => saved,
        Err(why) => return Ok(Err(why)),
    };
    driver.summaries = summaries;
    driver.module.add(outlined.step)?;
    driver.module.add(steps)?;
    let checkpointed =
        CheckpointedLoop { step: step_name, state: outlined.state, saved, resized: !stable };
    driver.checkpointed.insert(steps_name, checkpointed);
    Ok(Ok((rest, steps_name)))
}

/// The accesses of a step to objects.
struct Uses {
    /// By parameter.
    params: Vec<Access>,
    /// Tells whether it reads objects that are not known by a name.
    reads_others: bool,
    /// By position in the state, whether what a step hands on was made in it.
    hands_on_new: Vec<bool>,
}

impl Uses {
    fn of(driver: &Driver<'_>, outlined: &Outlined) -> Result<Self, &'static str> {
        let step = &outlined.step;
        let mut analyses = Analyses::with_effects(&driver.summaries);
        let (cfg, aliases) = (analyses.get::<ControlFlow>(step), analyses.get::<Aliases>(step));
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
                    hands_on_new[i] = matches!(aliases.base(part), Base::Fresh(_) | Base::Local(_));
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
                        Base::Part(_) | Base::Unknown if access.intersects(Access::WRITES) => {
                            return Err(unknown);
                        }
                        Base::Part(_) | Base::Unknown => reads_others = true,
                        Base::Fresh(_) | Base::Local(_) | Base::None => {}
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

/// Returns whether a copy of an object is as good as the object was.
fn is_simple(ctx: &Context, ty: Type) -> bool {
    match *ctx.kind(ty) {
        TypeKind::Array { element, .. } | TypeKind::Ref(element) => {
            !may_be_object(ctx, element) && !may_reach_objects(ctx, element)
        }
        _ => false,
    }
}
