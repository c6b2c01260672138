//! The wrappers of reverse mode: value and gradient at once, or in two parts.

use regraft_ad::ReverseFunctions;
use regraft_ad::tangent::TangentTypes;
use regraft_dialects::{ad, core};
use regraft_ir::{Constant, Context, Function, Module, Operand, Symbol, Type, TypeKind};
use regraft_passes::analysis::may_reach_objects;

use super::arguments::Parts;
use super::parts::{Writer, mark, zero_of};
use crate::infer::DerivativeKey;
use crate::infer::field_types;

/// The wrappers of reverse mode.
pub(super) struct Sweeps<'a> {
    pub(super) parts: &'a Parts<'a>,
    pub(super) types: &'a mut TangentTypes,
    pub(super) module: &'a Module,
    /// The functions; `None` if the result depends on no parameter.
    pub(super) made: Option<ReverseFunctions>,
    /// The level of the derivative, if globals have shadows in it.
    pub(super) scope: Option<i64>,
}

impl Sweeps<'_> {
    fn result_of(&self, name: Symbol) -> Type {
        let f = self.module.find(name).and_then(|id| self.module.get(id));
        f.expect("what was just made is there").ret_type()
    }

    fn writer(&mut self, name: Symbol, more: &[Type]) -> Writer<'_> {
        let mut params = self.parts.primal.params.clone();
        params.extend_from_slice(more);
        Writer::new(self.types, name, &params, Type::ANY, self.parts.primal.loc)
    }

    /// `(x…) -> (y, (dx…))`, or `(x…) -> (dx…)` for the gradient `alone`.
    pub(super) fn gradient(&mut self, name: Symbol, alone: bool) -> Function {
        let (made, parts, scope) = (self.made.clone(), self.parts, self.scope);
        let primal = parts.primal;
        let tape_result = made.as_ref().map(|made| {
            (self.result_of(made.forward), self.result_of(made.reverse), self.result_of(made.vjp))
        });
        let mut w = self.writer(name, &[]);
        let mut args = w.params();
        let zeros = parts.zeros(&mut w, &args);
        let (Some(made), Some((forward, reverse, vjp))) = (made, tape_result) else {
            let y = w.call(primal.name, args, primal.result);
            let tangents = parts.parts_of_zeros(&mut w, zeros);
            let tangents = parts.by_argument(&mut w, tangents);
            let result = if alone { tangents } else { w.tuple(vec![y, tangents]) };
            return w.finish(result);
        };
        parts.add_shadows(&mut w, zeros, &mut args);
        w.scope(true, scope);
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
        w.scope(false, scope);
        let tangents = parts.tangents(&mut w, zeros, cotangents);
        let tangents = parts.by_argument(&mut w, tangents);
        let result = if alone { tangents } else { w.tuple(vec![y, tangents]) };
        w.finish(result)
    }

    /// `(x…) -> (y, (tape, shadows, shadow of y), back)`. The reverse part works on a copy of what is kept, so that
    /// equal calls may share it, unless there are objects in the value.
    pub(super) fn pullback(&mut self, name: Symbol, back: Symbol) -> Function {
        let (made, parts, scope) = (self.made.clone(), self.parts, self.scope);
        let forward = made.as_ref().map(|made| self.result_of(made.forward));
        let mut w = self.writer(name, &[]);
        let mut args = w.params();
        let zeros = parts.zeros(&mut w, &args);
        let (y, state) = match (made, forward) {
            (Some(made), Some(forward)) => {
                parts.add_shadows(&mut w, zeros, &mut args);
                w.scope(true, scope);
                let swept = w.call(made.forward, args, forward);
                w.scope(false, scope);
                let (y, shadow, tape) = (w.get(swept, 0), w.get(swept, 1), w.get(swept, 2));
                (y, w.tuple(vec![tape, zeros, shadow]))
            }
            _ => {
                let y = w.call(parts.primal.name, args, parts.primal.result);
                let unit = w.unit();
                (y, w.tuple(vec![unit, zeros, unit]))
            }
        };
        let back = w.constant(Constant::Func(back));
        let result = w.tuple(vec![y, state, back]);
        let mut pullback = w.finish(result);
        if !may_reach_objects(pullback.ctx(), parts.primal.result) {
            mark(&mut pullback, "shareable");
        }
        pullback
    }

    /// `(state, dy) -> (dx…)`. It works on a copy of what the forward sweep kept, so that it can
    /// be called again.
    pub(super) fn back(&mut self, name: Symbol, state: Type) -> Function {
        let (made, parts, scope) = (self.made.clone(), self.parts, self.scope);
        let reverse = made.as_ref().map(|made| self.result_of(made.reverse));
        let result = parts.primal.result;
        let seed = self.types.tangent(result);
        let mut w = Writer::new(self.types, name, &[state, seed], Type::ANY, parts.primal.loc);
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
                w.scope(true, scope);
                let cotangents = w.call(made.reverse, vec![tape, cotangent], reverse);
                w.scope(false, scope);
                parts.tangents(&mut w, zeros, cotangents)
            }
            _ => parts.parts_of_zeros(&mut w, zeros),
        };
        let result = parts.by_argument(&mut w, tangents);
        w.finish(result)
    }

    /// `(f, shadow of f, x, shadow of x, …) -> (y, shadow of y, (back, tape))`
    pub(super) fn dynamic_pullback(
        &mut self,
        name: Symbol,
        back: Symbol,
        key: &DerivativeKey,
    ) -> Function {
        let (made, parts) = (self.made.clone(), self.parts);
        let primal = parts.primal;
        let forward = made.as_ref().map(|made| self.result_of(made.forward));
        let values = std::iter::once(key.callee).chain(key.args.iter().copied());
        let pairs = values.zip(key.tangents.iter().copied());
        let types: Vec<Type> = pairs.flat_map(|(value, shadow)| [value, shadow]).collect();
        let mut w = Writer::new(self.types, name, &types, Type::ANY, primal.loc);
        let given = w.params();
        let mut given = given.chunks_exact(2);
        if !primal.takes_callee {
            given.next();
        }
        let (mut args, mut shadows) = (Vec::new(), Vec::new());
        for (i, count) in primal.spread(parts.args.len()).into_iter().enumerate() {
            let ty = primal.params[i];
            let given: Vec<&[Operand]> = given.by_ref().take(count).collect();
            let is_rest = primal.fixed.is_some() && i + 1 == primal.params.len();
            args.push(match (is_rest, given.first()) {
                (false, Some(given)) if w.ty(given[0]) == ty => given[0],
                (false, Some(given)) => {
                    let any = w.push(core::convert(given[0], Type::ANY));
                    if ty == Type::ANY { any } else { w.push(core::typeassert(any, ty)) }
                }
                _ => w.tuple(given.iter().map(|pair| pair[0]).collect()),
            });
            if made.is_none() || !parts.active[i] || !w.types.has_shadow(ty) {
                continue;
            }
            shadows.push(if is_rest {
                let types = field_types(&w.ctx, ty).to_vec();
                let mut items = Vec::new();
                for (pair, ty) in given.iter().zip(types) {
                    items.push(fitting_shadow(&mut w, ty, pair[0], pair[1]));
                }
                w.tuple(items)
            } else {
                fitting_shadow(&mut w, ty, args[i], given[0][1])
            });
        }
        let (y, shadow, tape) = match (made, forward) {
            (Some(made), Some(forward)) => {
                args.extend(shadows);
                let swept = w.call(made.forward, args, forward);
                (w.get(swept, 0), w.get(swept, 1), Some(w.get(swept, 2)))
            }
            _ => {
                let y = w.call(primal.name, args, primal.result);
                let zero = zero_of(&mut w, primal.result, y);
                (y, w.shadow(primal.result, zero), None)
            }
        };
        let mut pullback = vec![w.constant(Constant::Func(back))];
        match tape {
            Some(tape) if is_flat(&w.ctx, w.ty(tape)) => pullback.extend(w.parts(tape)),
            tape => pullback.extend(tape),
        }
        let pullback = w.tuple(pullback);
        let result = w.tuple(vec![y, shadow, pullback]);
        w.finish(result)
    }

    /// `((back, tape), dy) -> (df, dx…)`
    pub(super) fn dynamic_back(&mut self, name: Symbol, pullback: Type) -> Function {
        let (made, parts) = (self.made.clone(), self.parts);
        let primal = parts.primal;
        let reverse = made.as_ref().map(|made| self.result_of(made.reverse));
        let cotangent = self.types.cotangent(primal.result);
        let has = self.types.has_content(cotangent);
        let mut w = Writer::new(self.types, name, &[pullback, Type::ANY], Type::ANY, primal.loc);
        let params = w.params();
        let unit = w.unit();
        let mut cotangents = match (made, reverse) {
            (Some(made), Some(reverse)) => {
                let tape = if is_flat(&w.ctx, made.tape) {
                    let parts = w.parts(params[0]);
                    w.tuple(parts[1..].to_vec())
                } else {
                    w.get(params[0], 1)
                };
                let seed = match cotangent {
                    Type::ANY => params[1],
                    _ if has => w.push(ad::unbox(params[1], cotangent)),
                    _ => w.zero(cotangent).unwrap_or(unit),
                };
                let cotangents = w.call(made.reverse, vec![tape, seed], reverse);
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

/// Returns whether the parts of a tape stand in the tuple that a pullback is: that of up to three
/// parts takes one allocation.
fn is_flat(ctx: &Context, tape: Type) -> bool {
    matches!(ctx.kind(tape), TypeKind::Tuple(parts) if parts.len() <= 2)
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
