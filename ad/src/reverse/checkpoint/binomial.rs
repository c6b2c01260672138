//! The reverse sweep of a loop that keeps a few states only.
//!
//! # Method
//! Binomial checkpointing: Griewank, "Achieving logarithmic growth of temporal and spatial complexity
//! in reverse automatic differentiation" (1992); Griewank and Walther, "Algorithm 799: revolve"
//! (2000). The steps are reversed one by one, the last one first. The state before a step is computed
//! from the nearest snapshot before it, and on the way snapshots are taken where they are worth most.
//!
//! With `s` snapshots, of which one is where one stands, `b(s, t) = (s + t)! / (s! t!)` steps can be
//! reversed such that none is made more than `t` times again. Of `n` steps, with the least `t` for
//! which that is enough, the next snapshot comes after `m = min(b(s, t-1), n - b(s-1, t-1))`: then
//! `m` steps need at most `t - 1` further sweeps with `s` snapshots, and the rest `t` with `s - 1`, and
//! both are no fewer than what `t - 2` and `t - 1` sweeps can do, so that each further step costs the
//! same wherever it is put: the number of steps made again, `t n - b(s+1, t-1)`, is the least possible.
//!
//! Objects in memory that the steps change are copied into snapshots, and put back before steps are
//! made again; in the end they are put back as they were when the reverse sweep began.
//!
//! # Cost
//! `t` times the steps of the loop again, and each of them once forward and back. For `n` steps and
//! `s` snapshots `t` is about `(s! n)^(1/s)`: 3 for 200 steps and 9 snapshots, 4 for 2,000 and 15.

use std::sync::Arc;

use regraft_dialects::{ad, arith, cf, core, mem};
use regraft_ir::{
    Block, Constant, Context, Diagnostic, Function, Operand, Symbol, Type, TypeKind, Value,
};
use regraft_syntax::parse_module_into;

use super::super::Checkpoints;
use super::super::driver::{CheckpointedLoop, Driver, Pair};
use super::super::tape_plan::bytes_of;
use crate::tangent_builder::{self as build, element_type};

/// The function that reverses all steps, with names in braces for what differs.
const SKELETON: &str = include_str!("binomial.ir");

/// The functions that are made for a loop, with what their names have after that of the loop.
const PARTS: [&str; 8] = ["save", "restore", "room", "advance", "turn", "add", "back", "split"];

/// Types of what is handed from step to step on the way back.
struct Types {
    /// The state, its shadow and its cotangent.
    state: Type,
    shadow: Type,
    cotangent: Type,
    /// The part of memory that a snapshot holds.
    saved: Type,
    /// The cotangents of the environment.
    total: Type,
}

/// A function that is being written, of one block.
struct Writer {
    f: Function,
    entry: Block,
    ctx: Arc<Context>,
}

impl Writer {
    fn new(ctx: &Arc<Context>, name: Symbol, params: &[Type], ret: Type) -> Self {
        let f = Function::new(ctx, ctx.str(name), params, ret);
        let entry = f.entry().expect("a new function has an entry");
        Self { f, entry, ctx: Arc::clone(ctx) }
    }

    fn params(&self) -> Vec<Value> {
        self.f.params(self.entry).collect()
    }

    fn emit(&mut self, inst: regraft_ir::Inst) -> Result<Operand, Diagnostic> {
        Ok(self.f.push(self.entry, inst)?.into())
    }

    fn integer(&self, i: i64) -> Operand {
        self.ctx.constant_id(Constant::I64(i)).into()
    }

    fn part(&mut self, of: impl Into<Operand>, i: usize) -> Result<Operand, Diagnostic> {
        let index = self.integer(i as i64 + 1);
        self.emit(core::get(of, index))
    }

    fn finish(mut self, result: Operand, driver: &mut Driver<'_>) -> Result<(), Diagnostic> {
        self.f.set_terminator(self.entry, cf::ret(result))?;
        driver.module.add(self.f)?;
        Ok(())
    }
}

/// Adds the Revolve sweep: the function that reverses the steps of `steps`, and what it calls:
/// `(number of steps, first state, memory as it was then, shadow of the last state, its cotangent,
/// zeros, environment.., shadows of the environment..)
/// -> (shadow of the first state, its cotangent, cotangents of the environment)`.
/// `pair` is the derivative of a step. Returns its name and its result type.
pub(in super::super) fn revolve_sweep(
    driver: &mut Driver<'_>,
    steps: Symbol,
    checkpointed: &CheckpointedLoop,
    pair: &Pair,
    limit: Checkpoints,
) -> Result<(Symbol, Type), Diagnostic> {
    let ctx = Arc::clone(&driver.ctx);
    let vjp = driver.vjp(checkpointed.step, pair)?;
    let states = checkpointed.state.len();
    let shadowed = |driver: &mut Driver<'_>, i: usize| {
        pair.active[i] && driver.types.has_shadow(pair.params[i])
    };
    let mut env: Vec<Type> = pair.params[states..].to_vec();
    for i in states..pair.params.len() {
        if shadowed(driver, i) {
            env.push(driver.types.shadow(pair.params[i]));
        }
    }
    let state = ctx.tuple_type(&checkpointed.state);
    let saved: Vec<Type> =
        checkpointed.saved.iter().map(|&i| saved_type(&ctx, pair.params[states + i])).collect();
    let cotangents = match ctx.kind(pair.reverse_type) {
        TypeKind::Tuple(parts) => parts[states..].to_vec(),
        _ => Vec::new(),
    };
    let types = Types {
        state,
        shadow: driver.types.shadow(state),
        cotangent: driver.types.cotangent(state),
        saved: ctx.tuple_type(&saved),
        total: ctx.tuple_type(&cotangents),
    };
    let base = ctx.str(steps).to_owned();
    let names = PARTS.map(|part| driver.fresh(&format!("{base}.{part}")));
    let [save, restore, room, advance, turn, add, back, _] = names;

    let mut w = Writer::new(&ctx, save, &env, types.saved);
    let objects = w.params();
    let mut held = Vec::new();
    for &i in &checkpointed.saved {
        held.push(w.emit(save_one(&ctx, objects[i], pair.params[states + i]))?);
    }
    let all = w.emit(core::tuple(held))?;
    w.finish(all, driver)?;

    let params = [&[types.saved], env.as_slice()].concat();
    let mut w = Writer::new(&ctx, restore, &params, Type::UNIT);
    let objects = w.params();
    for (position, &i) in checkpointed.saved.iter().enumerate() {
        let held = w.part(objects[0], position)?;
        let object = objects[1 + i];
        let kind = ctx.kind(pair.params[states + i]);
        if checkpointed.resized && matches!(kind, TypeKind::Array { rank: 1, .. }) {
            let length = w.emit(mem::length(held))?;
            w.emit(mem::resize(object, length))?;
        }
        let is_ref = matches!(kind, TypeKind::Ref(_));
        let inst = if is_ref { mem::ref_set(object, held) } else { mem::copyto(object, held) };
        w.emit(inst)?;
    }
    let nothing = ctx.constant_id(Constant::Unit).into();
    w.finish(nothing, driver)?;

    add_room(driver, room, checkpointed, &types, &env, limit)?;

    let params = [&[state], env.as_slice()].concat();
    let mut w = Writer::new(&ctx, advance, &params, state);
    let given = w.params();
    let mut args = Vec::new();
    for i in 0..states {
        args.push(w.part(given[0], i)?);
    }
    args.extend((states..pair.params.len()).map(|i| Operand::from(given[1 + i - states])));
    let callee = ctx.constant_id(Constant::Func(checkpointed.step));
    let next = w.emit(core::call(callee, args, state))?;
    w.finish(next, driver)?;

    add_turn(driver, turn, vjp, pair, &types, &env)?;

    let mut w = Writer::new(&ctx, add, &[types.total, types.total], types.total);
    let given = w.params();
    let mut sums = Vec::new();
    for (i, &ty) in cotangents.iter().enumerate() {
        if ty == Type::UNIT {
            sums.push(ctx.constant_id(Constant::Unit).into());
            continue;
        }
        let (a, b) = (w.part(given[0], i)?, w.part(given[1], i)?);
        let sum = build::emitting(
            &ctx,
            |inst| w.f.push(w.entry, inst),
            |emit| build::sum(ty, a, b, emit),
        )?;
        sums.push(sum);
    }
    let all = w.emit(core::tuple(sums))?;
    w.finish(all, driver)?;

    add_skeleton(driver, &names, &types, &env)?;
    Ok((back, ctx.tuple_type(&[types.shadow, types.cotangent, types.total])))
}

/// The type of a copy of an object: an array, or the content of a ref.
pub(super) fn saved_type(ctx: &Context, ty: Type) -> Type {
    match *ctx.kind(ty) {
        TypeKind::Ref(content) => content,
        _ => ty,
    }
}

/// The instruction that copies an object.
pub(in super::super) fn save_one(
    ctx: &Context,
    object: impl Into<Operand>,
    ty: Type,
) -> regraft_ir::Inst {
    match ctx.kind(ty) {
        TypeKind::Ref(_) => mem::ref_get(object),
        _ => mem::copy(object),
    }
}

/// Adds the function that tells how many snapshots there may be at one time: `(state, environment..) -> i64`.
fn add_room(
    driver: &mut Driver<'_>,
    name: Symbol,
    checkpointed: &CheckpointedLoop,
    types: &Types,
    env: &[Type],
    limit: Checkpoints,
) -> Result<(), Diagnostic> {
    let ctx = Arc::clone(&driver.ctx);
    let params = [&[types.state], env].concat();
    let mut w = Writer::new(&ctx, name, &params, Type::I64);
    let constant = |n: u64| Operand::from(ctx.constant_id(Constant::I64(n.min(1 << 62) as i64)));
    let bytes = match limit {
        Checkpoints::Snapshots(n) => return w.finish(constant(n), driver),
        Checkpoints::Bytes(bytes) => bytes,
    };
    let given = w.params();
    // Its place on the list of snapshots, and what it points to.
    let mut fixed = 8 + bytes_of(&ctx, types.state) + bytes_of(&ctx, types.saved);
    let mut arrays: Vec<(Operand, Type)> = Vec::new();
    for (i, &ty) in checkpointed.state.iter().enumerate() {
        if matches!(ctx.kind(ty), TypeKind::Array { .. }) {
            arrays.push((w.part(given[0], i)?, ty));
        }
    }
    for &i in &checkpointed.saved {
        match ctx.kind(env[i]) {
            TypeKind::Array { .. } => arrays.push((given[1 + i].into(), env[i])),
            _ => fixed += bytes_of(&ctx, env[i]),
        }
    }
    let mut size = constant(fixed as u64);
    for (array, ty) in arrays {
        let length = w.emit(mem::length(array))?;
        let each = constant(bytes_of(&ctx, element_type(&ctx, ty)) as u64);
        let whole = w.emit(arith::mul(length, each))?;
        size = w.emit(arith::add(size, whole))?;
    }
    let room = w.emit(arith::div(constant(bytes), size))?;
    w.finish(room, driver)
}

/// One step forward and back: `(state before it, shadow of the state after it, cotangent of that,
/// environment..) -> (shadow of the state before it, its cotangent, cotangents of the environment)`.
fn add_turn(
    driver: &mut Driver<'_>,
    name: Symbol,
    vjp: Symbol,
    pair: &Pair,
    types: &Types,
    env: &[Type],
) -> Result<(), Diagnostic> {
    let ctx = Arc::clone(&driver.ctx);
    let states = pair.params.len() - build::part_types(&ctx, types.total).len();
    let ret = ctx.tuple_type(&[types.shadow, types.cotangent, types.total]);
    let params = [&[types.state, types.shadow, types.cotangent], env].concat();
    let mut w = Writer::new(&ctx, name, &params, ret);
    let given = w.params();
    let (state, shadow, cotangent) = (given[0], given[1], given[2]);
    let of = driver.types.of(types.state);
    let has_shadow = driver.types.has_shadow(types.state);
    let (mut before, mut seed) = (Operand::from(shadow), Operand::from(cotangent));
    if has_shadow {
        before = w.emit(ad::zero(state, of.tangent))?;
        seed = shadow.into();
        if of.tangent != of.shadow {
            before = w.emit(ad::shadow(before, of.shadow))?;
            seed = w.emit(ad::join(shadow, cotangent, of.tangent))?;
        }
    }
    let mut args: Vec<Operand> = Vec::new();
    for i in 0..states {
        args.push(w.part(state, i)?);
    }
    let environment = pair.params.len() - states;
    args.extend(given[3..3 + environment].iter().map(|&v| Operand::from(v)));
    for i in 0..states {
        if pair.active[i] && driver.types.has_shadow(pair.params[i]) {
            args.push(w.part(before, i)?);
        }
    }
    args.extend(given[3 + environment..].iter().map(|&v| Operand::from(v)));
    args.push(seed);
    let callee = ctx.constant_id(Constant::Func(vjp));
    let both = ctx.tuple_type(&[pair.result, pair.reverse_type]);
    let both = w.emit(core::call(callee, args, both))?;
    let back = w.part(both, 1)?;
    let mut found = Vec::with_capacity(pair.params.len());
    for i in 0..pair.params.len() {
        found.push(w.part(back, i)?);
    }
    let total = w.emit(core::tuple(found[states..].iter().copied()))?;
    let adjoint = w.emit(core::tuple(found[..states].iter().copied()))?;
    let all = w.emit(core::tuple([before, adjoint, total]))?;
    w.finish(all, driver)
}

/// Reads the skeleton with names and types in their places.
fn add_skeleton(
    driver: &mut Driver<'_>,
    names: &[Symbol],
    types: &Types,
    env: &[Type],
) -> Result<(), Diagnostic> {
    let ctx = Arc::clone(&driver.ctx);
    let mut text = SKELETON.to_owned();
    for (part, &name) in PARTS.iter().zip(names) {
        text = text.replace(&format!("{{{part}}}"), &ctx.constant_text(Constant::Func(name)));
    }
    let all: [(&str, Type); 5] = [
        ("{S}", types.state),
        ("{H}", types.shadow),
        ("{T}", types.cotangent),
        ("{C}", types.saved),
        ("{A}", types.total),
    ];
    for (hole, ty) in all {
        text = text.replace(hole, &ctx.type_text(ty));
    }
    let args: Vec<String> = (0..env.len()).map(|i| format!("%env{i}")).collect();
    let params: String = env
        .iter()
        .enumerate()
        .map(|(i, &ty)| format!(", %env{i}: {}", ctx.type_text(ty)))
        .collect();
    let rest: String = args.iter().map(|arg| format!(", {arg}")).collect();
    text = text.replace("{params}", &params).replace("{, env}", &rest);
    text = text.replace("{env}", &args.join(", "));
    let added = parse_module_into(driver.module, "binomial checkpointing", &text);
    added.map_err(|errors| {
        let first = errors.into_iter().next();
        first.unwrap_or_else(|| Diagnostic::error("the sweep over snapshots cannot be read"))
    })?;
    Ok(())
}
