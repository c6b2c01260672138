//! Functions that run in chunks: the sweeps run in the same chunks.
//!
//! ```text
//! @f(a, n) = [@g(a, 1), .., @g(a, n)]
//!
//! @f.forward(a, n, da)     parts = [@g.forward(a, c, z) for c in 1..n],   z a new shadow of a
//! @f.reverse(parts, dy)    [@g.reverse(parts[c], dy[c]) for c in 1..n];   da += z of each, in order
//! ```
//!
//! # Method
//! Both arrays are made by functions that run in chunks in turn. A chunk has a tape of its own ([`taped`]), and a
//! *private* shadow of each object that it only reads: these are added up when all chunks are done, in the order of the
//! chunks, as cotangents of values are. So the sum does not depend on who ran which chunk when.
//!
//! If chunks write and print nothing, and nobody else writes before the way back, nothing is kept: a chunk goes forth and back at
//! once then ([`recomputed`]), so that its sweeps can be fused.
//!
//! Of an object that chunks write, or that each reads elements of its own of, there is the one shadow that its owner has:
//! each chunk meets elements of its own there, since no chunk writes what another one reads. If an object
//! is read and written, nothing is known of the elements that are only read, of which several chunks may
//! meet one: then the way back is a plain loop, which goes through the chunks in order.
//!
//! So it is where the running program shows that an object which is only read is also one of those that are
//! written, or that it is [large](LARGE): for each chunk there would be a shadow of all of it.
//!
//! # Why it is right
//! A loop over the chunks is what the function says; the adjoint of each call adds to shadows and reads those of
//! what the call wrote. Adding is associative but for rounding, so what is only added to may be added up apart.
//! Chunks are independent of each other, so their adjoints may come in any order.
//!
//! # Cost
//! For each chunk, the shadows of the objects that all chunks read, and two tuples.

mod recomputed;
mod taped;

use std::sync::Arc;

use regraft_dialects::attrs::set_function_attr;
use regraft_dialects::chunks::{self, CountedLoop, chunk_loop};
use regraft_dialects::{ad, arith, cf, core, mem};
use regraft_ir::{
    Constant, Context, Diagnostic, Function, FunctionBuilder, Inst, IrResult, Operand, Symbol,
    Type, TypeKind, Value,
};
use regraft_passes::analysis::{Access, ParamEffects, may_reach_objects};

use super::PlanKind;
use super::driver::{Driver, Pair, TapeReport};
use crate::activity::OnlyRead;
use crate::marks::{FORWARD_OF, REVERSE_OF};
use crate::tangent_builder::{self as build, Emit, TangentKind};

/// The length up to which chunks have private shadows of an array.
const LARGE: i64 = 1 << 16;

/// The shadows of a function that runs in chunks.
#[derive(Debug)]
struct Shadows {
    /// The parameters that have one.
    all: Vec<usize>,
    /// The parameters of which each chunk has a shadow of its own.
    private: Vec<usize>,
    /// The parameters that chunks write.
    written: Vec<usize>,
    /// True if chunks never meet in what they share.
    apart: bool,
}

/// The places of what the way back needs in the tape.
struct Layout {
    tape: Type,
    /// The arguments of the loop over chunks, which come first.
    args: usize,
    /// The number of chunks.
    count: usize,
    /// The truth value that tells whether chunks share all shadows.
    shares: usize,
    /// The shadows that private ones are added to.
    private: Vec<usize>,
}

/// What is made for a function that runs in chunks.
struct Parts<'a> {
    pair: &'a Pair,
    kernel: &'a Pair,
    shadows: &'a Shadows,
    /// The types of the shadows of parameters.
    shadow_types: Vec<Type>,
    /// The result of a chunk on the way back: cotangents, then the private shadows.
    back: Type,
    /// The parameters that have cotangents.
    values: Vec<usize>,
}

impl Driver<'_> {
    /// Returns whether the derivative of a function runs in chunks: not if it calls itself, since the types of
    /// tapes would contain themselves.
    pub(super) fn runs_in_chunks(&self, f: &Function, kernel: Symbol) -> bool {
        let params =
            self.module.find(kernel).and_then(|id| self.module.get(id)).map(Function::param_types);
        self.options.plan == PlanKind::Best
            && !self.recursive.contains(&f.name())
            && params.is_some_and(|params| params == f.param_types())
    }

    /// The operands that calls of functions which run in chunks only read: what has no derivative there gets none.
    /// Chunks would have a shadow of it each.
    pub(super) fn only_read_by_chunks(&mut self, f: &Function) -> Result<OnlyRead, Diagnostic> {
        let mut found = OnlyRead::default();
        for v in f.all_insts().filter(|&v| f.op(v) == Some(core::CALL)) {
            let callee = f.operand(v, 0).and_then(|callee| f.const_func(callee));
            let id = callee.and_then(|callee| self.module.find(callee));
            let Some(p) = id.and_then(|id| self.module.get(id)) else { continue };
            let Some((kernel, result)) = chunks::kernel(p) else { continue };
            if may_reach_objects(f.ctx(), result) || self.recursive.contains(&p.name()) {
                continue;
            }
            let summary = self.returning_effects(kernel)?;
            if summary.opaque || summary.elsewhere.intersects(Access::WRITES) {
                continue;
            }
            let args: Vec<_> = f.operands(v).skip(1).zip(&summary.params).collect();
            let writes = |operand: Operand| {
                let is = |&&(other, param): &&(Operand, &ParamEffects)| {
                    other == operand && param.access.intersects(Access::WRITES)
                };
                args.iter().any(|it| is(&it))
            };
            let operands = args.iter().map(|&(operand, _)| operand);
            found.insert(v, operands.filter(|&operand| !writes(operand)).collect());
        }
        Ok(found)
    }

    /// The derivative of a function that runs in chunks, by its kernel.
    pub(super) fn differentiate_chunks(
        &mut self,
        f: &Function,
        kernel: Symbol,
        pair: &mut Pair,
        combined: bool,
    ) -> Result<(), Diagnostic> {
        let count = pair.params.len() - 1;
        let mut active = pair.active.clone();
        active[count] = false;
        // A chunk may be differentiated when others have run, and runs again then.
        let effects = self.returning_effects(kernel)?;
        let combined = combined && !effects.writes_anything() && !effects.observable;
        let of_kernel = self.pair(kernel, &active, combined, f.function_loc())?;
        let shadows = self.chunk_shadows(kernel, pair, chunks::own(f))?;
        let shadow_types: Vec<Type> =
            shadows.all.iter().map(|&i| self.types.shadow(pair.params[i])).collect();
        let private = shadows.private.iter().map(|&i| self.types.shadow(pair.params[i]));
        let private: Vec<Type> = private.collect();
        let has_value = |&i: &usize| active[i] && self.types.has_cotangent(pair.params[i]);
        let values: Vec<usize> = (0..count).filter(has_value).collect();
        let cotangents = values.iter().map(|&i| self.types.cotangent(pair.params[i]));
        let back: Vec<Type> = cotangents.chain(private).collect();
        let back = self.ctx.tuple_type(&back);
        self.report_chunks(f, kernel, &shadows);
        let parts =
            Parts { pair, kernel: &of_kernel, shadows: &shadows, shadow_types, back, values };
        let is_new = self.types.has_shadow(of_kernel.result);
        let (forward, reverse) = match combined && !is_new {
            true => self.recomputed_chunks(f, &parts)?,
            false => self.taped_chunks(f, &parts)?,
        };
        let tape = tape_of(&self.ctx, &forward);
        self.module.add(forward)?;
        self.module.add(reverse)?;
        self.set_tape(pair, tape);
        Ok(())
    }

    /// Tells apart what chunks may share of the shadows of parameters.
    fn chunk_shadows(
        &mut self,
        kernel: Symbol,
        pair: &Pair,
        own: i64,
    ) -> Result<Shadows, Diagnostic> {
        let ctx = Arc::clone(&self.ctx);
        let count = pair.params.len() - 1;
        let summary = self.returning_effects(kernel)?;
        let access = |i: usize| match summary.opaque {
            true => Access::all(),
            false => summary.params.get(i).map_or(Access::all(), |param| param.access),
        };
        let accesses: Vec<Access> = (0..count).map(access).collect();
        let writes_others = summary.opaque || summary.elsewhere.intersects(Access::WRITES);
        let mut all: Vec<usize> = (0..count).filter(|&i| pair.active[i]).collect();
        all.retain(|&i| self.types.has_shadow(pair.params[i]));
        let is_written = |i: usize| accesses[i].intersects(Access::WRITES);
        let written: Vec<usize> = (0..count).filter(|&i| is_written(i)).collect();
        // Numbers in an array of which nothing else is known.
        let is_flat = |i: usize| match *ctx.kind(pair.params[i]) {
            TypeKind::Array { element, .. } => !may_reach_objects(&ctx, element),
            _ => false,
        };
        let is_own = |i: usize| is_flat(i) && i < 63 && own & (1 << i) != 0;
        let is_only_written =
            |i: usize| is_flat(i) && !accesses[i].contains(Access::READS_CONTENTS);
        let shares = |&i: &usize| is_own(i) || is_written(i);
        let is_private = |&i: &usize| {
            let ty = pair.params[i];
            let known = !build::may_vary(&ctx, ty) && ty != Type::ANY;
            !shares(&i) && known && (is_flat(i) || written.is_empty())
        };
        let meets = |&i: &usize| match is_written(i) {
            true => !is_only_written(i),
            false => !is_own(i) && !is_private(&i),
        };
        let apart = !writes_others && !all.iter().any(meets);
        let private =
            if apart { all.iter().copied().filter(is_private).collect() } else { Vec::new() };
        Ok(Shadows { all, private, written, apart })
    }

    fn report_chunks(&mut self, f: &Function, kernel: Symbol, shadows: &Shadows) {
        let numbers = |of: &[usize]| {
            let names: Vec<String> = of.iter().map(|i| (i + 1).to_string()).collect();
            names.join(", ")
        };
        let kernel = self.ctx.str(kernel);
        let mut text = format!("chunks of @{kernel}, a tape for each\n");
        if !shadows.private.is_empty() {
            let private = numbers(&shadows.private);
            text.push_str(&format!("private shadows of parameters {private}\n"));
        }
        if !shadows.apart {
            text.push_str("chunks may meet in shadows: the way back is in order\n");
        }
        if !self.options.describe {
            text.clear();
        }
        self.reports.push((f.name(), TapeReport { text, bytes: 0 }));
    }

    /// Ends a kernel, and adds it with the loop over it, which threads may share if `own` is given. From parameter
    /// `shadows` on, there are shadows.
    fn add_loop(
        &mut self,
        mut b: FunctionBuilder,
        result: Operand,
        types: &[Type],
        ty: Type,
        own: Option<i64>,
        shadows: Option<usize>,
    ) -> Result<Symbol, Diagnostic> {
        let ctx = Arc::clone(&self.ctx);
        b.terminate(cf::ret(result))?;
        let mut kernel = b.finish()?;
        if let Some(first) = shadows {
            // Nobody passes an object for its own shadow.
            set_function_attr(&mut kernel, "noalias", Constant::I64(first as i64 + 1));
        }
        chunks::mark(&mut kernel, false, 0);
        let kernel_name = kernel.name();
        let name = self.fresh(&format!("{}s", kernel.name_str()));
        self.module.add(kernel)?;
        let mut whole = chunk_loop(&ctx, ctx.str(name), kernel_name, types, ty)?;
        if let Some(own) = own {
            chunks::mark(&mut whole, true, own);
        }
        self.module.add(whole)?;
        Ok(name)
    }

    /// Adds shadows to the arguments of the forward part of a chunk: private ones if they are asked for, those that
    /// the loop was given otherwise. Returns the ones that may be private.
    fn pass_shadows(
        &mut self,
        b: &mut FunctionBuilder,
        parts: &Parts<'_>,
        private: bool,
        args: &mut Vec<Operand>,
    ) -> Result<Vec<Operand>, Diagnostic> {
        let Parts { pair, shadows, .. } = parts;
        let (count, mut held) = (pair.params.len() - 1, Vec::new());
        for (at, &i) in shadows.all.iter().enumerate() {
            let mut shadow: Operand = b.param(count + at).into();
            if shadows.private.contains(&i) {
                if private {
                    let object = b.param(i).into();
                    shadow = self.private_shadow(b, pair.params[i], object)?;
                }
                held.push(shadow);
            }
            args.push(shadow);
        }
        Ok(held)
    }

    /// Calls the reverse part of a chunk, with the cotangent of its result in the shadow of all results. Returns the
    /// cotangents.
    fn reverse_chunk(
        &mut self,
        b: &mut FunctionBuilder,
        parts: &Parts<'_>,
        tape: Operand,
        shadow: Operand,
        chunk: Operand,
    ) -> Result<Vec<Operand>, Diagnostic> {
        let Parts { kernel, values, .. } = parts;
        let seed = self.chunk_seed(b, kernel.result, shadow, chunk)?;
        let callee = self.ctx.constant_id(Constant::Func(kernel.reverse));
        let found = b.push(core::call(callee, [tape, seed], kernel.reverse_type))?;
        values.iter().map(|&i| Ok(get(b, found, i)?)).collect()
    }

    /// The cotangent of what a chunk has given, in the shadow of the results.
    fn chunk_seed(
        &mut self,
        b: &mut FunctionBuilder,
        result: Type,
        shadow: Operand,
        chunk: Operand,
    ) -> Result<Operand, Diagnostic> {
        let ctx = Arc::clone(&self.ctx);
        let (of, kind) = (self.types.of(result), TangentKind::of(&mut self.types, result));
        if !kind.has_cotangent() {
            return emitting(&ctx, b, |emit| build::zero(&ctx, of.cotangent, emit));
        }
        let tangent = load(b, shadow, chunk)?;
        emitting(&ctx, b, |emit| build::cotangent_part(&ctx, of, kind, tangent, emit))
    }

    /// A new shadow of an object.
    fn private_shadow(
        &mut self,
        b: &mut FunctionBuilder,
        ty: Type,
        object: Operand,
    ) -> Result<Operand, Diagnostic> {
        let (of, kind) = (self.types.of(ty), TangentKind::of(&mut self.types, ty));
        emitting(&Arc::clone(&self.ctx), b, |emit| build::zero_shadow(of, kind, object, emit))
    }

    /// `(tape, nothing) -> cotangents`, by one of two loops over the chunks, the second of which shares all shadows.
    fn chunks_reverse(
        &mut self,
        f: &Function,
        parts: &Parts<'_>,
        layout: &Layout,
        (apart, together): (Symbol, Option<Symbol>),
    ) -> Result<Function, Diagnostic> {
        let ctx = Arc::clone(&self.ctx);
        let Parts { pair, values, .. } = parts;
        let seed = self.types.cotangent(pair.result);
        let name = ctx.str(pair.reverse);
        let mut b = FunctionBuilder::new(&ctx, name, &[layout.tape, seed], pair.reverse_type);
        let tape = b.param(0);
        let [n, shares] = [get(&mut b, tape, layout.count)?, get(&mut b, tape, layout.shares)?];
        let made = ctx.array_type(parts.back, 1);
        let mut all = Vec::with_capacity(layout.args + 1);
        for at in 0..layout.args {
            all.push(get(&mut b, tape, at)?);
        }
        all.push(n);
        let backs = either(&mut b, shares, (apart, together), all, made)?;
        let types: Vec<Type> =
            values.iter().map(|&i| self.types.cotangent(pair.params[i])).collect();
        let mut sums = Vec::new();
        for &ty in &types {
            let zero = emitting(&ctx, &mut b, |emit| build::zero(&ctx, ty, emit))?;
            let sum = b.declare_var("", ty);
            b.def_var(sum, zero)?;
            sums.push(sum);
        }
        let l = CountedLoop::begin(&mut b, n)?;
        let back = load(&mut b, backs, l.number)?;
        for (at, (&sum, &ty)) in sums.iter().zip(&types).enumerate() {
            let (old, more) = (b.use_var(sum)?, get(&mut b, back, at)?);
            let new = emitting(&ctx, &mut b, |emit| build::sum(ty, old, more, emit))?;
            b.def_var(sum, new)?;
        }
        if !layout.private.is_empty() {
            let [add, after] = std::array::from_fn(|_| b.add_block());
            b.terminate(cf::jump_if(shares, after, add))?;
            b.seal(add)?;
            b.switch_to(add)?;
            for (at, &place) in layout.private.iter().enumerate() {
                let to = get(&mut b, tape, place)?;
                let from = get(&mut b, back, values.len() + at)?;
                b.push(ad::accumulate(to, from))?;
            }
            b.terminate(cf::jump(after))?;
            b.seal(after)?;
            b.switch_to(after)?;
        }
        l.end(&mut b)?;
        let mut cotangents = Vec::with_capacity(pair.params.len());
        for (i, &ty) in build::part_types(&ctx, pair.reverse_type).iter().enumerate() {
            cotangents.push(match values.iter().position(|&other| other == i) {
                Some(at) => b.use_var(sums[at])?,
                None => emitting(&ctx, &mut b, |emit| build::zero(&ctx, ty, emit))?,
            });
        }
        let all = b.push(core::tuple(cotangents))?;
        b.terminate(cf::ret(all))?;
        let mut made = b.finish()?;
        made.set_function_loc(f.function_loc());
        set_function_attr(&mut made, REVERSE_OF, Constant::Func(f.name()));
        Ok(made)
    }
}

/// The type of the tape that a forward part gives.
fn tape_of(ctx: &Context, forward: &Function) -> Type {
    build::part_types(ctx, forward.ret_type()).get(2).copied().unwrap_or(Type::ANY)
}

/// Begins a forward part: gives the number of chunks, the other arguments, and their shadows.
fn begin_forward(
    ctx: &Arc<Context>,
    parts: &Parts<'_>,
) -> (FunctionBuilder, Value, Vec<Operand>, Vec<Operand>) {
    let pair = parts.pair;
    let count = pair.params.len() - 1;
    let params = [pair.params.as_slice(), &parts.shadow_types].concat();
    let b = FunctionBuilder::new(ctx, ctx.str(pair.forward), &params, Type::ANY);
    let args = (0..count).map(|i| b.param(i).into()).collect();
    let given = (count + 1..params.len()).map(|i| b.param(i).into()).collect();
    let n = b.param(count);
    (b, n, args, given)
}

/// Ends a forward part, which gives the results, their shadow and the tape.
fn end_forward(
    mut b: FunctionBuilder,
    f: &Function,
    parts: [Operand; 3],
) -> Result<Function, Diagnostic> {
    let triple = b.push(core::tuple(parts))?;
    let ret = b.function().ty(triple);
    b.terminate(cf::ret(triple))?;
    let mut made = b.finish()?;
    made.set_ret_type(ret);
    made.set_function_loc(f.function_loc());
    set_function_attr(&mut made, FORWARD_OF, Constant::Func(f.name()));
    Ok(made)
}

/// Tells whether the chunks share all shadows: an object that has private ones is large, or is written.
fn shares_all(
    b: &mut FunctionBuilder,
    ctx: &Arc<Context>,
    parts: &Parts<'_>,
    args: &[Operand],
) -> IrResult<Operand> {
    let params = &parts.pair.params;
    let mut found = Operand::from(b.const_bool(false));
    for &i in &parts.shadows.private {
        if matches!(ctx.kind(params[i]), TypeKind::Array { .. }) {
            let length = b.push(mem::length(args[i]))?;
            let is_large = b.push(arith::gt(length, b.const_i64(LARGE)))?;
            found = b.push(arith::or(found, is_large))?.into();
        }
        for &j in parts.shadows.written.iter().filter(|&&j| params[j] == params[i]) {
            let is_same = b.push(core::same(args[i], args[j]))?;
            found = b.push(arith::or(found, is_same))?.into();
        }
    }
    Ok(found)
}

/// A call of the first of two functions, or of the second one if `shares`.
fn either(
    b: &mut FunctionBuilder,
    shares: Operand,
    (apart, together): (Symbol, Option<Symbol>),
    args: Vec<Operand>,
    ty: Type,
) -> IrResult<Operand> {
    let func = |b: &FunctionBuilder, name| b.constant_id(Constant::Func(name));
    let Some(together) = together else {
        let callee = func(b, apart);
        return Ok(b.push(core::call(callee, args, ty))?.into());
    };
    let made = b.declare_var("", ty);
    let blocks: [_; 3] = std::array::from_fn(|_| b.add_block());
    b.terminate(cf::jump_if(shares, blocks[0], blocks[1]))?;
    for (block, callee) in blocks.into_iter().zip([together, apart]) {
        b.seal(block)?;
        b.switch_to(block)?;
        let callee = func(b, callee);
        let found = b.push(core::call(callee, args.clone(), ty))?;
        b.def_var(made, found)?;
        b.terminate(cf::jump(blocks[2]))?;
    }
    b.seal(blocks[2])?;
    b.switch_to(blocks[2])?;
    b.use_var(made)
}

fn get(b: &mut FunctionBuilder, of: impl Into<Operand>, index: usize) -> IrResult<Operand> {
    let index = b.const_i64(index as i64 + 1);
    Ok(b.push(core::get(of, index))?.into())
}

fn load(b: &mut FunctionBuilder, array: Operand, index: Operand) -> IrResult<Operand> {
    let attrs = build::inbounds(b.ctx());
    Ok(b.push(mem::load(array, [index]).with_attrs(attrs))?.into())
}

fn emitting(
    ctx: &Context,
    b: &mut FunctionBuilder,
    make: impl FnOnce(&mut Emit<'_>) -> Operand,
) -> Result<Operand, Diagnostic> {
    build::emitting(ctx, |inst: Inst| b.push(inst), make)
}
