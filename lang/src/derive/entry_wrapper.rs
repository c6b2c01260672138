//! EntryWrappers: what the language calls, written around the functions of a derivative.
//!
//! An entry wrapper takes the arguments as the function itself does, makes the shadows (one for each
//! object, however often it is there), and gives one tangent for each argument of the call. The
//! function that is differentiated is not differentiated with respect to itself, unless a tangent
//! of it is passed.

use std::sync::Arc;

use regraft_ad::tangent::TangentTypes;
use regraft_ad::{ForwardOptions, ReverseOptions};
use regraft_dialects::{ad, core};
use regraft_ir::{Context, Diagnostic, Function, Module, Operand, Symbol, Type, TypeKind};

use super::arguments::Parts;
use super::deriver::{Deriver, Primal};
use super::parts::{Writer, mark, zero_of};
use super::sweeps::Sweeps;
use crate::infer::{DerivativeKey, DerivativeKind, field_types};

/// The wrappers that were written.
pub(super) struct EntryWrappers {
    first: Symbol,
    second: Option<Symbol>,
}

impl EntryWrappers {
    pub(super) fn names(&self) -> Vec<Symbol> {
        std::iter::once(self.first).chain(self.second).collect()
    }
}

impl Deriver<'_> {
    /// Makes a derivative and adds the wrappers.
    pub(super) fn wrappers(
        &mut self,
        key: &DerivativeKey,
        primal: &Primal,
        module: &mut Module,
    ) -> Result<EntryWrappers, Vec<Diagnostic>> {
        let (derivatives, ctx) = (self.derivatives, Arc::clone(self.ctx()));
        derivatives
            .with_tangent_types(&ctx, |types| self.entry_wrappers_with(key, primal, module, types))
    }

    fn entry_wrappers_with(
        &mut self,
        key: &DerivativeKey,
        primal: &Primal,
        module: &mut Module,
        types: &mut TangentTypes,
    ) -> Result<EntryWrappers, Vec<Diagnostic>> {
        let taken = module.functions().map(Function::name).collect();
        let ctx = Arc::clone(self.ctx());
        let base = ctx.str(primal.name).to_owned();
        let name = |text: &str| self.unique_name(&format!("{base}.{text}"), &taken);
        let (first, second) = match key.kind {
            DerivativeKind::Gradient => (name("gradient"), None),
            DerivativeKind::GradientAlone => (name("gradient_alone"), None),
            DerivativeKind::Pushforward(None) | DerivativeKind::DynamicPushforward => {
                (name("pushforward"), None)
            }
            DerivativeKind::Pushforward(Some(width)) => {
                (name(&format!("pushforward{width}")), None)
            }
            DerivativeKind::Pullback => (name("pullback"), Some(name("back"))),
            DerivativeKind::Dynamic => (name("dynamic_pullback"), Some(name("dynamic_back"))),
        };
        let active = active(key, primal, types);
        let mut parts = Parts { primal, args: &key.args, active };
        let functions = match key.kind {
            DerivativeKind::Pushforward(_) | DerivativeKind::DynamicPushforward => {
                let dynamic = self.dynamic_forward();
                let dynamics = [dynamic, self.dynamic_reverse()];
                vec![push(key, &mut parts, types, module, first, dynamics)?]
            }
            kind => {
                let is_gradient =
                    matches!(kind, DerivativeKind::Gradient | DerivativeKind::GradientAlone);
                if is_gradient {
                    self.check_result(primal)?;
                }
                let dynamic = self.dynamic_reverse();
                // Nothing flows back from what has no derivative, unless it changes objects of those
                // who called it, and nothing to no one.
                let shared_globals = shares_globals(kind, module, types);
                let changes = kind == DerivativeKind::Dynamic
                    && primal.params.iter().any(|&ty| types.has_shadow(ty));
                let gives = types.has_tangent(primal.result) || changes;
                let depends = shared_globals || gives && parts.active.contains(&true);
                let made = match depends {
                    true => {
                        let split =
                            matches!(kind, DerivativeKind::Pullback | DerivativeKind::Dynamic)
                                || primal.result == Type::ANY;
                        let options = ReverseOptions {
                            plan: self.derivatives.plan.get(),
                            checkpoints: self.derivatives.checkpoints.get(),
                            dynamic: Some(dynamic),
                            split,
                            shared_globals,
                            ..ReverseOptions::default()
                        };
                        Some(regraft_ad::reverse(module, primal.name, &parts.active, &options)?)
                    }
                    false => None,
                };
                if is_gradient
                    && let Some(made) = &made
                    && let Some(vjp) = module.find(made.vjp).and_then(|id| module.get_mut(id))
                {
                    mark(vjp, "inline");
                }
                let names = (first, second.unwrap_or(first));
                let scope = regraft_ad::scope_level(module, &[dynamic, self.dynamic_forward()]);
                let mut cx = Sweeps { parts: &parts, types, module, made, scope };
                match kind {
                    DerivativeKind::Gradient => vec![cx.gradient(first, false)],
                    DerivativeKind::GradientAlone => vec![cx.gradient(first, true)],
                    DerivativeKind::Dynamic => {
                        let forward = cx.dynamic_pullback(names.0, names.1, key);
                        let pullback = field_types(&ctx, forward.ret_type())[2];
                        vec![forward, cx.dynamic_back(names.1, pullback)]
                    }
                    _ => {
                        let forward = cx.pullback(names.0, names.1);
                        let state = field_types(&ctx, forward.ret_type())[1];
                        vec![forward, cx.back(names.1, state)]
                    }
                }
            }
        };
        for function in functions {
            module.add(function).map_err(|error| vec![error.into()])?;
        }
        Ok(EntryWrappers { first, second })
    }

    /// Checks that a function with a gradient returns a real number.
    fn check_result(&self, primal: &Primal) -> Result<(), Vec<Diagnostic>> {
        let ty = primal.result;
        if ty == Type::ANY || ty == Type::BOOL || ty.is_float() || ty.is_int() {
            return Ok(());
        }
        let name = self.world.type_name(ty);
        let f = self.ctx().str(primal.name);
        let message =
            format!("a gradient is that of a real number; {f} returns a value of type {name}");
        let help = "differentiate a function that makes one number of it, such as `x -> sum(f(x))`; \
                    or use `pullback` or `jacobian`";
        Err(vec![Diagnostic::error(message).help(help)])
    }
}

/// Returns whether code outside of the module may put something with a derivative into objects of
/// globals that the module reads.
fn shares_globals(kind: DerivativeKind, module: &Module, types: &mut TangentTypes) -> bool {
    matches!(kind, DerivativeKind::Dynamic | DerivativeKind::DynamicPushforward)
        && regraft_ad::reads_globals(module, types)
}

/// The parameters that a derivative is with respect to.
fn active(key: &DerivativeKey, primal: &Primal, types: &mut TangentTypes) -> Vec<bool> {
    let mut active: Vec<bool> = primal.params.iter().map(|&ty| types.has_tangent(ty)).collect();
    match key.kind {
        DerivativeKind::Gradient | DerivativeKind::GradientAlone | DerivativeKind::Pullback => {
            if primal.takes_callee {
                active[0] = false;
            }
        }
        // What is passed says it.
        DerivativeKind::Pushforward(_)
        | DerivativeKind::Dynamic
        | DerivativeKind::DynamicPushforward => {
            let mut given = key.tangents.iter().copied();
            if !primal.takes_callee {
                given.next();
            }
            for (i, count) in primal.spread(key.args.len()).into_iter().enumerate() {
                let any =
                    given.by_ref().take(count).fold(false, |any, ty| any | (ty != Type::UNIT));
                let of = types.of(primal.params[i]);
                let is_value =
                    key.kind == DerivativeKind::Dynamic && types.has_content(of.cotangent);
                active[i] &= any || is_value;
            }
        }
    }
    active
}

/// The entry wrapper of forward mode.
fn push(
    key: &DerivativeKey,
    parts: &mut Parts<'_>,
    types: &mut TangentTypes,
    module: &mut Module,
    name: Symbol,
    dynamics: [Symbol; 2],
) -> Result<Function, Vec<Diagnostic>> {
    let primal = parts.primal;
    let given = types.ctx().tuple_type(&key.tangents);
    let mut params = primal.params.clone();
    params.push(given);
    let width = match key.kind {
        DerivativeKind::Pushforward(width) => width,
        _ => None,
    };
    let lanes = width.map_or(1, usize::from);
    let tangent = types.tangent(primal.result);
    let shared_globals = shares_globals(key.kind, module, types);
    let depends = shared_globals || parts.active.contains(&true);
    let jvp = match depends {
        true => {
            let options =
                ForwardOptions { width: lanes, dynamic: Some(dynamics[0]), shared_globals };
            Some(regraft_ad::forward(module, primal.name, &parts.active, &options)?)
        }
        false => None,
    };
    // A dynamic call belongs to the derivative that it is in.
    let scope = match key.kind {
        DerivativeKind::DynamicPushforward => None,
        _ => regraft_ad::scope_level(module, &dynamics),
    };
    let mut w = Writer::new(types, name, &params, Type::ANY, primal.loc);
    let mut args = w.params();
    let tangents = args.pop().expect("the tangents are the last parameter");
    let Some(jvp) = jvp else {
        let y = w.call(primal.name, args, primal.result);
        let zero = zero_of(&mut w, primal.result, y);
        let zero = match width {
            Some(width) => w.tuple(vec![zero; width.into()]),
            None => zero,
        };
        let result = w.tuple(vec![y, zero]);
        return Ok(w.finish(result));
    };
    let mut given = w.parts(tangents).into_iter();
    if !primal.takes_callee {
        given.next();
    }
    let spread = primal.spread(key.args.len());
    let mut packed = Vec::new();
    for (i, count) in spread.into_iter().enumerate() {
        let given: Vec<Operand> = given.by_ref().take(count).collect();
        if !parts.active[i] {
            continue;
        }
        let is_rest = primal.fixed.is_some() && i + 1 == primal.params.len();
        let mut of_lanes = Vec::new();
        for lane in 0..lanes {
            let lane_of = |w: &mut Writer<'_>, tangent: Operand| match width {
                Some(_) if w.ty(tangent) != Type::UNIT => w.get(tangent, lane),
                _ => tangent,
            };
            let whole = if is_rest {
                let types = field_types(&w.ctx, primal.params[i]).to_vec();
                let mut items = Vec::new();
                for (index, (&tangent, ty)) in given.iter().zip(types).enumerate() {
                    let value = w.get(args[i], index);
                    let tangent = lane_of(&mut w, tangent);
                    items.push(fitting(&mut w, ty, value, tangent)?);
                }
                w.tuple(items)
            } else {
                let tangent = lane_of(&mut w, given[0]);
                fitting(&mut w, primal.params[i], args[i], tangent)?
            };
            of_lanes.push(whole);
        }
        packed.push(match width {
            Some(_) => w.tuple(of_lanes),
            None => of_lanes[0],
        });
    }
    args.extend(packed);
    let of_result = match width {
        Some(width) => w.ctx.tuple_type(&vec![tangent; width.into()]),
        None => tangent,
    };
    let result = w.ctx.tuple_type(&[primal.result, of_result]);
    w.scope(true, scope);
    let result = w.call(jvp, args, result);
    w.scope(false, scope);
    Ok(w.finish(result))
}

/// A tangent that is passed as one of a value of type `ty`.
fn fitting(
    w: &mut Writer<'_>,
    ty: Type,
    value: Operand,
    tangent: Operand,
) -> Result<Operand, Vec<Diagnostic>> {
    let want = w.types.tangent(ty);
    let have = w.ty(tangent);
    if have == want || want == Type::ANY {
        return Ok(tangent);
    }
    if have == Type::UNIT {
        return Ok(zero_of(w, ty, value));
    }
    if have == Type::ANY {
        return Ok(w.push(ad::unbox(tangent, want)));
    }
    if want == Type::UNIT {
        return Ok(w.unit());
    }
    if want.is_float() && (have.is_float() || have.is_int()) {
        return Ok(w.push(core::convert(tangent, want)));
    }
    // Some parts may be known as less, or be `nothing`.
    if let Some(types) = w.structure(ty)
        && have_same_parts(&w.ctx, have, want)
    {
        let mut parts = Vec::with_capacity(types.len());
        for (index, ty) in types.into_iter().enumerate() {
            let (value, tangent) = (w.field(value, index), w.get(tangent, index));
            let part = fitting(w, ty, value, tangent)?;
            let is_any = w.types.tangent(ty) == Type::ANY && w.ty(part) != Type::ANY;
            parts.push(if is_any { w.push(core::convert(part, Type::ANY)) } else { part });
        }
        return Ok(w.aggregate(want, parts));
    }
    let (want, have) = (w.ctx.type_text(want), w.ctx.type_text(have));
    let message = format!("expected a tangent of type {want}, found one of type {have}");
    Err(vec![Diagnostic::error(message).help("a tangent has the shape of the value that it is of")])
}

/// Returns whether both are tuples of as many parts, or named tuples with the same names.
fn have_same_parts(ctx: &Context, a: Type, b: Type) -> bool {
    match (ctx.kind(a), ctx.kind(b)) {
        (TypeKind::Tuple(a), TypeKind::Tuple(b)) => a.len() == b.len(),
        (TypeKind::Named(a), TypeKind::Named(b)) => {
            a.iter().map(|&(name, _)| name).eq(b.iter().map(|&(name, _)| name))
        }
        _ => false,
    }
}
