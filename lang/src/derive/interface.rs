//! Interfaces: what the language calls, written around the functions of a derivative.
//!
//! An interface takes the arguments as the function itself does, makes the shadows (one for each
//! object, however often it is there), and gives one tangent for each argument of the call. The
//! function that is differentiated is not differentiated with respect to itself, unless a tangent
//! of it is passed.

use std::sync::Arc;

use regraft_ad::tangent::TangentTypes;
use regraft_dialects::{ad, core};
use regraft_ir::{Constant, Diagnostic, Function, Module, Operand, Symbol, Type, TypeKind};

use regraft_ad::ReverseFunctions;

use super::engine;
use super::parts::Writer;
use super::{Kind, Primal, Question};
use crate::infer::{Compiler, field_types};

/// The interfaces that were written.
pub(super) struct Interfaces {
    first: Symbol,
    second: Option<Symbol>,
    pub(super) seed: Type,
}

impl Interfaces {
    pub(super) fn names(&self) -> Vec<Symbol> {
        std::iter::once(self.first).chain(self.second).collect()
    }
}

/// What goes into an interface.
struct Parts<'a> {
    primal: &'a Primal,
    args: &'a [Type],
    /// The parameters that it is differentiated with respect to.
    active: Vec<bool>,
}

impl Compiler {
    /// Makes a derivative and adds the interfaces.
    pub(super) fn interfaces(
        &mut self,
        question: &Question,
        primal: &Primal,
        module: &mut Module,
    ) -> Result<Interfaces, Vec<Diagnostic>> {
        let known = self.derived.types.take();
        let mut types = known.unwrap_or_else(|| TangentTypes::new(self.ctx()));
        let made = self.interfaces_with(question, primal, module, &mut types);
        self.derived.types = Some(types);
        made
    }

    fn interfaces_with(
        &mut self,
        question: &Question,
        primal: &Primal,
        module: &mut Module,
        types: &mut TangentTypes,
    ) -> Result<Interfaces, Vec<Diagnostic>> {
        let taken = module.functions().map(Function::name).collect();
        let ctx = Arc::clone(self.ctx());
        let base = ctx.str(primal.name).to_owned();
        let name = |text: &str| self.unique_name(&format!("{base}.{text}"), &taken);
        let (first, second) = match question.kind {
            Kind::Gradient => (name("gradient"), None),
            Kind::Prepared => (name("prepared_gradient"), Some(name("shadows"))),
            Kind::Push(None) => (name("pushforward"), None),
            Kind::Push(Some(width)) => (name(&format!("pushforward{width}")), None),
            Kind::Pullback => (name("pullback"), Some(name("back"))),
            Kind::Dynamic => (name("dynamic_pullback"), Some(name("dynamic_back"))),
        };
        let seed = types.tangent(primal.result);
        let active = active(question, primal, types);
        let mut parts = Parts { primal, args: &question.args, active };
        let functions = match question.kind {
            Kind::Push(width) => {
                let dynamic = self.dynamic_forward();
                vec![push(question, &mut parts, types, module, first, width, dynamic)?]
            }
            kind => {
                if matches!(kind, Kind::Gradient | Kind::Prepared) {
                    self.check_result(primal)?;
                }
                let dynamic = self.dynamic_reverse();
                // Nothing flows back from what has no derivative, and nothing to no one.
                let depends = types.has_tangent(primal.result) && parts.active.contains(&true);
                let made = match depends {
                    true => {
                        let split = matches!(kind, Kind::Pullback | Kind::Dynamic)
                            || primal.result == Type::ANY;
                        let (name, active, plan) = (primal.name, &parts.active, self.derived.plan);
                        Some(engine::reverse(module, name, active, plan, split, dynamic)?)
                    }
                    false => None,
                };
                let names = (first, second.unwrap_or(first));
                let mut cx = Sweeps { parts: &parts, types, module, made };
                match kind {
                    Kind::Gradient => vec![cx.gradient(first, false)],
                    Kind::Prepared => vec![cx.gradient(first, true), cx.shadows(names.1)],
                    Kind::Dynamic => vec![
                        cx.dynamic_pullback(names.0, &question.tangents),
                        cx.dynamic_back(names.1),
                    ],
                    _ => {
                        let forward = cx.pullback(names.0);
                        let state = field_types(&ctx, forward.ret_type())[1];
                        vec![forward, cx.back(names.1, state)]
                    }
                }
            }
        };
        for function in functions {
            module.add(function).map_err(|error| vec![error.into()])?;
        }
        Ok(Interfaces { first, second, seed })
    }

    /// What has a gradient returns a real number.
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

/// The parameters that a derivative is with respect to.
fn active(question: &Question, primal: &Primal, types: &mut TangentTypes) -> Vec<bool> {
    let mut active: Vec<bool> = primal.params.iter().map(|&ty| types.has_tangent(ty)).collect();
    match question.kind {
        Kind::Gradient | Kind::Prepared | Kind::Pullback => {
            if primal.takes_callee {
                active[0] = false;
            }
        }
        // What is passed says it.
        Kind::Push(_) | Kind::Dynamic => {
            let mut given = question.tangents.iter().copied();
            if !primal.takes_callee {
                given.next();
            }
            for (i, count) in primal.spread(question.args.len()).into_iter().enumerate() {
                let any =
                    given.by_ref().take(count).fold(false, |any, ty| any | (ty != Type::UNIT));
                let of = types.of(primal.params[i]);
                let is_value = question.kind == Kind::Dynamic && types.has_content(of.cotangent);
                active[i] &= any || is_value;
            }
        }
    }
    active
}

/// The interface of forward mode.
fn push(
    question: &Question,
    parts: &mut Parts<'_>,
    types: &mut TangentTypes,
    module: &mut Module,
    name: Symbol,
    width: Option<u8>,
    dynamic: Symbol,
) -> Result<Function, Vec<Diagnostic>> {
    let primal = parts.primal;
    let given = types.ctx().tuple_type(&question.tangents);
    let mut params = primal.params.clone();
    params.push(given);
    let lanes = width.map_or(1, usize::from);
    let tangent = types.tangent(primal.result);
    let depends = parts.active.contains(&true);
    let jvp = match depends {
        true => Some(engine::forward(module, primal.name, &parts.active, lanes, dynamic)?),
        false => None,
    };
    let mut w = Writer::new(types, name, &params, Type::ANY);
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
    let spread = primal.spread(question.args.len());
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
    let result = w.call(jvp, args, result);
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
    let (want, have) = (w.ctx.type_text(want), w.ctx.type_text(have));
    let message = format!("expected a tangent of type {want}, found one of type {have}");
    Err(vec![Diagnostic::error(message).help("a tangent has the shape of the value that it is of")])
}

/// The zero tangent of a value of type `ty`.
fn zero_of(w: &mut Writer<'_>, ty: Type, value: Operand) -> Operand {
    let tangent = w.types.tangent(ty);
    if !w.types.has_shadow(ty)
        && let Some(zero) = w.zero(tangent)
    {
        return zero;
    }
    w.push(ad::zero(value, tangent))
}

/// The interfaces of reverse mode.
struct Sweeps<'a> {
    parts: &'a Parts<'a>,
    types: &'a mut TangentTypes,
    module: &'a Module,
    /// The functions; `None` if the result depends on no parameter.
    made: Option<ReverseFunctions>,
}

impl Sweeps<'_> {
    fn result_of(&self, name: Symbol) -> Type {
        let f = self.module.find(name).and_then(|id| self.module.get(id));
        f.expect("what was just made is there").ret_type()
    }

    /// The type of the shadows of all active parameters, made at once.
    fn zeros_type(&mut self) -> Type {
        let params = self.parts.primal.params.iter().zip(&self.parts.active);
        let types: Vec<Type> =
            params.filter(|&(_, &active)| active).map(|(&ty, _)| self.types.tangent(ty)).collect();
        self.types.ctx().tuple_type(&types)
    }

    fn writer(&mut self, name: Symbol, more: &[Type]) -> Writer<'_> {
        let mut params = self.parts.primal.params.clone();
        params.extend_from_slice(more);
        Writer::new(self.types, name, &params, Type::ANY)
    }

    /// `(x…) -> (y, (dx…))`, or `(x…, shadows) -> (y, (dx…))`.
    fn gradient(&mut self, name: Symbol, given: bool) -> Function {
        let zeros_type = self.zeros_type();
        let (made, parts) = (self.made.clone(), self.parts);
        let more = if given { vec![zeros_type] } else { Vec::new() };
        let primal = parts.primal;
        let tape_result = made.as_ref().map(|made| {
            (self.result_of(made.forward), self.result_of(made.reverse), self.result_of(made.vjp))
        });
        let mut w = self.writer(name, &more);
        let mut args = w.params();
        let zeros = if given { args.pop() } else { None };
        let zeros = match zeros {
            Some(zeros) => {
                w.push(ad::clear(zeros));
                zeros
            }
            None => parts.zeros(&mut w, &args),
        };
        let (Some(made), Some((forward, reverse, vjp))) = (made, tape_result) else {
            let y = w.call(primal.name, args, primal.result);
            let tangents = parts.parts_of_zeros(&mut w, zeros);
            let tangents = parts.by_argument(&mut w, tangents);
            let result = w.tuple(vec![y, tangents]);
            return w.finish(result);
        };
        parts.add_shadows(&mut w, zeros, &mut args);
        let (y, cotangents) = if primal.result == Type::ANY {
            let swept = w.call(made.forward, args, forward);
            let y = w.get(swept, 0);
            let tape = w.get(swept, 2);
            let seed = w.apply("#seed", vec![y]);
            (y, w.call(made.reverse, vec![tape, seed], reverse))
        } else {
            let one = match primal.result {
                Type::F32 => Constant::from(1.0f32),
                _ => Constant::from(1.0f64),
            };
            args.push(w.constant(one));
            let swept = w.call(made.vjp, args, vjp);
            (w.get(swept, 0), w.get(swept, 1))
        };
        let tangents = parts.tangents(&mut w, zeros, cotangents);
        let tangents = parts.by_argument(&mut w, tangents);
        let result = w.tuple(vec![y, tangents]);
        w.finish(result)
    }

    /// `(x…) -> shadows`
    fn shadows(&mut self, name: Symbol) -> Function {
        let parts = self.parts;
        let mut w = self.writer(name, &[]);
        let args = w.params();
        let zeros = parts.zeros(&mut w, &args);
        w.finish(zeros)
    }

    /// `(x…) -> (y, (tape, shadows, shadow of y))`
    fn pullback(&mut self, name: Symbol) -> Function {
        let (made, parts) = (self.made.clone(), self.parts);
        let forward = made.as_ref().map(|made| self.result_of(made.forward));
        let mut w = self.writer(name, &[]);
        let mut args = w.params();
        let zeros = parts.zeros(&mut w, &args);
        let (y, state) = match (made, forward) {
            (Some(made), Some(forward)) => {
                parts.add_shadows(&mut w, zeros, &mut args);
                let swept = w.call(made.forward, args, forward);
                let (y, shadow, tape) = (w.get(swept, 0), w.get(swept, 1), w.get(swept, 2));
                (y, w.tuple(vec![tape, zeros, shadow]))
            }
            _ => {
                let y = w.call(parts.primal.name, args, parts.primal.result);
                let unit = w.unit();
                (y, w.tuple(vec![unit, zeros, unit]))
            }
        };
        let result = w.tuple(vec![y, state]);
        w.finish(result)
    }

    /// `(state, dy) -> (dx…)`. It works on a copy of what the forward sweep kept, so that it can
    /// be called again.
    fn back(&mut self, name: Symbol, state: Type) -> Function {
        let (made, parts) = (self.made.clone(), self.parts);
        let reverse = made.as_ref().map(|made| self.result_of(made.reverse));
        let result = parts.primal.result;
        let seed = self.types.tangent(result);
        let mut w = Writer::new(self.types, name, &[state, seed], Type::ANY);
        let params = w.params();
        let state = w.push(ad::copy(params[0], state));
        let zeros = w.get(state, 1);
        let tangents = match (made, reverse) {
            (Some(made), Some(reverse)) => {
                let tape = w.get(state, 0);
                if w.types.has_shadow(result) {
                    let shadow = w.get(state, 2);
                    let more = w.shadow(result, params[1]);
                    w.push(ad::accumulate(shadow, more));
                }
                let cotangent = w.cotangent(result, params[1]);
                let cotangents = w.call(made.reverse, vec![tape, cotangent], reverse);
                parts.tangents(&mut w, zeros, cotangents)
            }
            _ => parts.parts_of_zeros(&mut w, zeros),
        };
        let result = parts.by_argument(&mut w, tangents);
        w.finish(result)
    }

    /// `(x…, (shadow of f, shadows…)) -> (y, shadow of y, tape)`
    fn dynamic_pullback(&mut self, name: Symbol, given: &[Type]) -> Function {
        let (made, parts) = (self.made.clone(), self.parts);
        let primal = parts.primal;
        let forward = made.as_ref().map(|made| self.result_of(made.forward));
        let given = self.types.ctx().tuple_type(given);
        let mut w = self.writer(name, &[given]);
        let mut args = w.params();
        let given = args.pop().expect("the shadows are the last parameter");
        let (Some(made), Some(forward)) = (made, forward) else {
            let y = w.call(primal.name, args, primal.result);
            let zero = zero_of(&mut w, primal.result, y);
            let shadow = w.shadow(primal.result, zero);
            let unit = w.unit();
            let result = w.tuple(vec![y, shadow, unit]);
            return w.finish(result);
        };
        let mut given = w.parts(given).into_iter();
        if !primal.takes_callee {
            given.next();
        }
        let mut shadows = Vec::new();
        for (i, count) in primal.spread(parts.args.len()).into_iter().enumerate() {
            let given: Vec<Operand> = given.by_ref().take(count).collect();
            let ty = primal.params[i];
            if !parts.active[i] || !w.types.has_shadow(ty) {
                continue;
            }
            let is_rest = primal.fixed.is_some() && i + 1 == primal.params.len();
            shadows.push(if is_rest {
                let types = field_types(&w.ctx, ty).to_vec();
                let mut items = Vec::new();
                for (index, (&shadow, ty)) in given.iter().zip(types).enumerate() {
                    let value = w.get(args[i], index);
                    items.push(fitting_shadow(&mut w, ty, value, shadow));
                }
                w.tuple(items)
            } else {
                fitting_shadow(&mut w, ty, args[i], given[0])
            });
        }
        args.extend(shadows);
        let result = w.call(made.forward, args, forward);
        w.finish(result)
    }

    /// `(tape, dy) -> (df, dx…)`
    fn dynamic_back(&mut self, name: Symbol) -> Function {
        let (made, parts) = (self.made.clone(), self.parts);
        let primal = parts.primal;
        let reverse = made.as_ref().map(|made| self.result_of(made.reverse));
        let tape = made.as_ref().map_or(Type::UNIT, |made| made.tape);
        let cotangent = self.types.cotangent(primal.result);
        let has = self.types.has_content(cotangent);
        let mut w = Writer::new(self.types, name, &[tape, Type::ANY], Type::ANY);
        let params = w.params();
        let unit = w.unit();
        let mut cotangents = match (made, reverse) {
            (Some(made), Some(reverse)) => {
                let seed = match cotangent {
                    Type::ANY => params[1],
                    _ if has => w.push(ad::unbox(params[1], cotangent)),
                    _ => w.zero(cotangent).unwrap_or(unit),
                };
                let cotangents = w.call(made.reverse, vec![params[0], seed], reverse);
                w.parts(cotangents)
            }
            _ => vec![unit; primal.params.len()],
        };
        if !primal.takes_callee {
            cotangents.insert(0, unit);
        }
        if primal.fixed.is_some()
            && let Some(rest) = cotangents.pop()
        {
            let count = parts.args.len() + 1 - cotangents.len();
            match w.ctx.kind(w.ty(rest)) {
                TypeKind::Tuple(_) => cotangents.extend(w.parts(rest)),
                _ => cotangents.extend(std::iter::repeat_n(unit, count)),
            }
        }
        let result = w.tuple(cotangents);
        w.finish(result)
    }
}

/// A shadow that is passed as that of a value of type `ty`; a new one if there is none.
fn fitting_shadow(w: &mut Writer<'_>, ty: Type, value: Operand, shadow: Operand) -> Operand {
    let want = w.types.shadow(ty);
    let have = w.ty(shadow);
    if have == want || want == Type::ANY {
        return shadow;
    }
    if want == Type::UNIT {
        return w.unit();
    }
    if have == Type::UNIT {
        let zero = zero_of(w, ty, value);
        return w.shadow(ty, zero);
    }
    w.push(ad::unbox(shadow, want))
}

impl Parts<'_> {
    /// Zero tangents of all active parameters at once: what is there twice has one shadow.
    fn zeros(&self, w: &mut Writer<'_>, args: &[Operand]) -> Operand {
        let active = args.iter().zip(&self.active).filter(|&(_, &active)| active);
        let args: Vec<Operand> = active.map(|(&arg, _)| arg).collect();
        let types: Vec<Type> = args.iter().map(|&arg| w.ty(arg)).collect();
        let all = w.ctx.tuple_type(&types);
        let tangent = w.types.tangent(all);
        if !w.types.has_shadow(all)
            && let Some(zero) = w.zero(tangent)
        {
            return zero;
        }
        let all = w.tuple(args);
        w.push(ad::zero(all, tangent))
    }

    /// The zeros by parameter; `nothing` of those that are not active.
    fn parts_of_zeros(&self, w: &mut Writer<'_>, zeros: Operand) -> Vec<Operand> {
        let mut parts = w.parts(zeros).into_iter();
        let mut out = Vec::new();
        for &active in &self.active {
            let part = if active { parts.next() } else { None };
            out.push(part.unwrap_or_else(|| w.unit()));
        }
        out
    }

    /// Adds the shadows to the arguments of a forward sweep.
    fn add_shadows(&self, w: &mut Writer<'_>, zeros: Operand, args: &mut Vec<Operand>) {
        let zeros = self.parts_of_zeros(w, zeros);
        for (i, zero) in zeros.into_iter().enumerate() {
            let ty = self.primal.params[i];
            if self.active[i] && w.types.has_shadow(ty) {
                args.push(w.shadow(ty, zero));
            }
        }
    }

    /// The tangents of the parameters from their shadows and a tuple of cotangents.
    fn tangents(&self, w: &mut Writer<'_>, zeros: Operand, cotangents: Operand) -> Vec<Operand> {
        let zeros = self.parts_of_zeros(w, zeros);
        let mut out = Vec::new();
        for (i, zero) in zeros.into_iter().enumerate() {
            if !self.active[i] {
                out.push(zero);
                continue;
            }
            let ty = self.primal.params[i];
            let cotangent = w.get(cotangents, i);
            let shadow = w.shadow(ty, zero);
            out.push(w.join(ty, shadow, cotangent));
        }
        out
    }

    /// A tuple of one tangent for each argument of a call.
    fn by_argument(&self, w: &mut Writer<'_>, mut tangents: Vec<Operand>) -> Operand {
        if self.primal.takes_callee {
            tangents.remove(0);
        }
        if self.primal.fixed.is_some()
            && let Some(rest) = tangents.pop()
        {
            let count = self.args.len() - tangents.len();
            if w.ty(rest) == Type::UNIT {
                tangents.extend(std::iter::repeat_n(rest, count));
            } else {
                tangents.extend(w.parts(rest));
            }
        }
        // An argument without a derivative has none, however many parts it is made of.
        for (tangent, &ty) in tangents.iter_mut().zip(self.args) {
            if !w.types.has_tangent(ty) {
                *tangent = w.unit();
            }
        }
        w.tuple(tangents)
    }
}
