//! Chunks that go forth and back at once.
//!
//! The way forth is the function itself. On the way back, a chunk runs its forward part, then its reverse part: what it
//! reads is as it was.

use std::sync::Arc;

use regraft_dialects::chunks;
use regraft_dialects::core;
use regraft_ir::{Constant, Diagnostic, Function, FunctionBuilder, Operand, Symbol, Type};

use super::super::driver::Driver;
use super::{Layout, Parts, begin_forward, end_forward, get, shares_all, tape_of};
use crate::tangent_builder as build;

impl Driver<'_> {
    /// The forward part, `(a.., n, da..) -> (results, their shadow, tape)`, and the reverse part.
    pub(super) fn recomputed_chunks(
        &mut self,
        f: &Function,
        parts: &Parts<'_>,
    ) -> Result<(Function, Function), Diagnostic> {
        let ctx = Arc::clone(&self.ctx);
        let Parts { pair, shadows, .. } = parts;
        let count = pair.params.len() - 1;
        let (mut b, n, args, given) = begin_forward(&ctx, parts);
        let callee = ctx.constant_id(Constant::Func(f.name()));
        let all = args.iter().copied().chain([n.into()]);
        let out = b.push(core::call(callee, all, pair.result))?;
        let shares = shares_all(&mut b, &ctx, parts, &args)?;
        let shadow = match self.types.has_shadow(pair.result) {
            true => self.private_shadow(&mut b, pair.result, out.into())?,
            false => build::nothing(&ctx),
        };
        let mut tape = [args.as_slice(), &given, &[shadow]].concat();
        let (places, first) = (tape.len(), count);
        tape.extend([n.into(), shares]);
        let tape = b.push(core::tuple(tape))?;
        let forward = end_forward(b, f, [out.into(), shadow, tape.into()])?;
        let place = |i: &usize| shadows.all.iter().position(|other| other == i);
        let layout = Layout {
            tape: tape_of(&ctx, &forward),
            args: places,
            count: places,
            shares: places + 1,
            private: shadows.private.iter().filter_map(place).map(|at| first + at).collect(),
        };
        let has_private = !shadows.private.is_empty();
        let apart = self.round_loop(f, parts, has_private, shadows.apart)?;
        let together =
            if has_private { Some(self.round_loop(f, parts, false, false)?) } else { None };
        let reverse = self.chunks_reverse(f, parts, &layout, (apart, together))?;
        Ok((forward, reverse))
    }

    /// The loop over chunks forth and back: `(a.., da.., shadow of the results, n) -> cotangents`.
    fn round_loop(
        &mut self,
        f: &Function,
        parts: &Parts<'_>,
        private: bool,
        apart: bool,
    ) -> Result<Symbol, Diagnostic> {
        let ctx = Arc::clone(&self.ctx);
        let Parts { pair, kernel, .. } = parts;
        let count = pair.params.len() - 1;
        let what = if apart { "chunk_reverse" } else { "ordered_chunk_reverse" };
        let name = self.fresh(&format!("{}.{what}{}", f.name_str(), pair.ending));
        let results = self.types.shadow(pair.result);
        let types = [&pair.params[..count], &parts.shadow_types, &[results]].concat();
        let params = [types.as_slice(), &[Type::I64]].concat();
        let mut b = FunctionBuilder::new(&ctx, ctx.str(name), &params, parts.back);
        let c = Operand::from(b.param(types.len()));
        let mut args: Vec<Operand> = (0..count).map(|i| b.param(i).into()).collect();
        args.push(c);
        let held = self.pass_shadows(&mut b, parts, private, &mut args)?;
        let callee = ctx.constant_id(Constant::Func(kernel.forward));
        let triple = b.push(core::call(callee, args, kernel.forward_type))?;
        let tape = get(&mut b, triple, 2)?;
        let shadow = b.param(types.len() - 1).into();
        let mut all = self.reverse_chunk(&mut b, parts, tape, shadow, c)?;
        all.extend(held);
        let all = b.push(core::tuple(all))?;
        self.add_loop(
            b,
            all.into(),
            &types,
            parts.back,
            apart.then_some(chunks::own(f)),
            Some(count),
        )
    }
}
