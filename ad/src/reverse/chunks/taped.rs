//! Chunks with a tape for each.
//!
//! A chunk on the way forth gives a tuple of its result, the shadow of that, and its tape with its private shadows. The
//! array of these tuples is the tape of the whole.

use std::sync::Arc;

use regraft_dialects::chunks::{self, CountedLoop};
use regraft_dialects::{core, mem};
use regraft_ir::{Constant, Diagnostic, Function, FunctionBuilder, Operand, Symbol, Type};

use super::super::driver::Driver;
use super::{
    Layout, Parts, begin_forward, either, emitting, end_forward, get, load, shares_all, tape_of,
};
use crate::tangent_builder::{self as build, TangentKind};

impl Driver<'_> {
    /// The forward part, `(a.., n, da..) -> (results, their shadow, tape)`, and the reverse part.
    pub(super) fn taped_chunks(
        &mut self,
        f: &Function,
        parts: &Parts<'_>,
    ) -> Result<(Function, Function), Diagnostic> {
        let ctx = Arc::clone(&self.ctx);
        let Parts { pair, kernel, shadows, .. } = parts;
        let has_private = !shadows.private.is_empty();
        let private = shadows.private.iter().map(|&i| self.types.shadow(pair.params[i]));
        let tape: Vec<Type> = std::iter::once(kernel.tape).chain(private).collect();
        let result_shadow = self.types.shadow(kernel.result);
        let forth = ctx.tuple_type(&[kernel.result, result_shadow, ctx.tuple_type(&tape)]);
        let apart = self.forth_loop(f, parts, forth, has_private)?;
        let together =
            if has_private { Some(self.forth_loop(f, parts, forth, false)?) } else { None };
        let (mut b, n, args, given) = begin_forward(&ctx, parts);
        let all: Vec<Operand> = args.iter().chain(&given).copied().chain([n.into()]).collect();
        let made = ctx.array_type(forth, 1);
        let shares = shares_all(&mut b, &ctx, parts, &args)?;
        let found = either(&mut b, shares, (apart, together), all, made)?;
        let out = b.push(mem::alloc([n], pair.result))?;
        let result = kernel.result;
        let (of, kind) = (self.types.of(result), TangentKind::of(&mut self.types, result));
        let shadow_type = self.types.shadow(pair.result);
        let has_shadow = self.types.has_shadow(pair.result);
        let shadow = match has_shadow {
            true => Some(b.push(mem::alloc([n], shadow_type))?),
            false => None,
        };
        let l = CountedLoop::begin(&mut b, n)?;
        let part = load(&mut b, found, l.number)?;
        let value = get(&mut b, part, 0)?;
        b.push(mem::store(out, value, [l.number]).with_attrs(build::inbounds(&ctx)))?;
        if let Some(shadow) = shadow.filter(|_| kind != TangentKind::Float) {
            let objects = get(&mut b, part, 1)?;
            let tangent = emitting(&ctx, &mut b, |emit| {
                let zero = build::zero(&ctx, of.cotangent, emit);
                build::join_parts(&ctx, of, kind, objects, zero, emit)
            })?;
            b.push(mem::store(shadow, tangent, [l.number]).with_attrs(build::inbounds(&ctx)))?;
        }
        l.end(&mut b)?;
        let shadow = shadow.map_or_else(|| build::nothing(&ctx), Operand::from);
        let mut tape = vec![found, shadow, shares, n.into()];
        for &i in &shadows.private {
            let at = shadows.all.iter().position(|&other| other == i);
            tape.extend(at.map(|at| given[at]));
        }
        let tape = b.push(core::tuple(tape))?;
        let forward = end_forward(b, f, [out.into(), shadow, tape.into()])?;
        let count = 3;
        let layout = Layout {
            tape: tape_of(&ctx, &forward),
            args: 2,
            shares: 2,
            count,
            private: (count + 1..count + 1 + shadows.private.len()).collect(),
        };
        let apart = self.back_loop(f, parts, forth, shadows.apart)?;
        let together =
            if has_private { Some(self.back_loop(f, parts, forth, false)?) } else { None };
        let reverse = self.chunks_reverse(f, parts, &layout, (apart, together))?;
        Ok((forward, reverse))
    }

    /// The loop over the forward parts of chunks: `(a.., da.., n) -> parts`.
    fn forth_loop(
        &mut self,
        f: &Function,
        parts: &Parts<'_>,
        forth: Type,
        private: bool,
    ) -> Result<Symbol, Diagnostic> {
        let ctx = Arc::clone(&self.ctx);
        let Parts { pair, kernel, .. } = parts;
        let count = pair.params.len() - 1;
        let what = if private { "chunk_forward" } else { "shared_chunk_forward" };
        let name = self.fresh(&format!("{}.{what}{}", f.name_str(), pair.ending));
        let types = [&pair.params[..count], &parts.shadow_types].concat();
        let params = [types.as_slice(), &[Type::I64]].concat();
        let mut b = FunctionBuilder::new(&ctx, ctx.str(name), &params, forth);
        let c = b.param(types.len());
        let mut args: Vec<Operand> = (0..count).map(|i| b.param(i).into()).collect();
        args.push(c.into());
        let held = self.pass_shadows(&mut b, parts, private, &mut args)?;
        let callee = ctx.constant_id(Constant::Func(kernel.forward));
        let triple = b.push(core::call(callee, args, kernel.forward_type))?;
        let [value, shadow, tape] =
            [get(&mut b, triple, 0)?, get(&mut b, triple, 1)?, get(&mut b, triple, 2)?];
        let tape = b.push(core::tuple(std::iter::once(tape).chain(held)))?;
        let part = b.push(core::tuple([value, shadow, tape.into()]))?;
        self.add_loop(b, part.into(), &types, forth, Some(chunks::own(f)), Some(count))
    }

    /// The loop over the reverse parts of chunks: `(parts, shadow of the results, n) -> cotangents`.
    fn back_loop(
        &mut self,
        f: &Function,
        parts: &Parts<'_>,
        forth: Type,
        apart: bool,
    ) -> Result<Symbol, Diagnostic> {
        let ctx = Arc::clone(&self.ctx);
        let Parts { pair, shadows, .. } = parts;
        let what = if apart { "chunk_reverse" } else { "ordered_chunk_reverse" };
        let name = self.fresh(&format!("{}.{what}{}", f.name_str(), pair.ending));
        let types = [ctx.array_type(forth, 1), self.types.shadow(pair.result)];
        let params = [types[0], types[1], Type::I64];
        let mut b = FunctionBuilder::new(&ctx, ctx.str(name), &params, parts.back);
        let c = Operand::from(b.param(2));
        let part = b.param(0).into();
        let part = load(&mut b, part, c)?;
        let tape = get(&mut b, part, 2)?;
        let of_kernel = get(&mut b, tape, 0)?;
        let shadow = b.param(1).into();
        let mut all = self.reverse_chunk(&mut b, parts, of_kernel, shadow, c)?;
        for at in 0..shadows.private.len() {
            all.push(get(&mut b, tape, 1 + at)?);
        }
        let all = b.push(core::tuple(all))?;
        self.add_loop(b, all.into(), &types, parts.back, apart.then_some(0), None)
    }
}
