//! The function that goes forward and back at once.

use std::sync::Arc;

use regraft_dialects::{ad, cf, core};
use regraft_ir::{Constant, Diagnostic, Function, Loc, Operand, Symbol, Value};

use super::driver::{Driver, Pair};
use crate::tangent_builder as build;

impl Driver<'_> {
    /// The function that goes forward and back at once.
    pub(super) fn vjp(&mut self, name: Symbol, pair: &Pair) -> Result<Symbol, Diagnostic> {
        let text = self.ctx.str(pair.forward).replacen(".forward", ".vjp", 1);
        let made = self.fresh(&text);
        let f = self.module.find(name).and_then(|id| self.module.get(id));
        let names: Vec<Option<Symbol>> = f.map_or_else(Vec::new, |f| {
            let params =
                f.entry().map(|entry| f.params(entry).map(|p| f.value_symbol(p)).collect());
            params.unwrap_or_default()
        });
        let loc = f.map_or(Loc::UNKNOWN, Function::function_loc);
        let mut params = pair.params.clone();
        for (&ty, _) in pair.params.iter().zip(&pair.active).filter(|&(_, &active)| active) {
            if self.types.has_shadow(ty) {
                params.push(self.types.shadow(ty));
            }
        }
        let result = self.types.of(pair.result);
        params.push(result.tangent);
        let ret = self.ctx.tuple_type(&[pair.result, pair.reverse_type]);
        let text = self.ctx.str(made).to_owned();
        let mut v = Function::new(&self.ctx, &text, &params, ret);
        v.set_function_loc(loc);
        let entry = v.entry().expect("a new function has an entry");
        let all: Vec<Value> = v.params(entry).collect();
        let mut at = pair.params.len();
        for (i, &param) in all.iter().take(at).enumerate() {
            if let Some(name) = names.get(i).copied().flatten() {
                v.name_after(param, name)?;
            }
        }
        for (i, &ty) in pair.params.iter().enumerate() {
            if pair.active[i] && self.types.has_shadow(ty) {
                if let Some(name) = names.get(i).copied().flatten() {
                    let name = self.ctx.symbol(&format!("d{}", self.ctx.str(name)));
                    v.name_after(all[at], name)?;
                }
                at += 1;
            }
        }
        let seed = all[all.len() - 1];
        let func = |name: Symbol| self.ctx.constant_id(Constant::Func(name));
        let index = |i: i64| self.ctx.constant_id(Constant::I64(i));
        let args: Vec<Value> = all[..all.len() - 1].to_vec();
        let triple = v.push(entry, core::call(func(pair.forward), args, pair.forward_type))?;
        let value = v.push(entry, core::get(triple, index(1)))?;
        let mut cotangent = seed;
        if self.types.has_shadow(pair.result) {
            let shadow = v.push(entry, core::get(triple, index(2)))?;
            let mut part = seed;
            if self.types.has_cotangent(pair.result) {
                part = v.push(entry, ad::shadow(seed, result.shadow))?;
                cotangent = v.push(entry, ad::cotangent(seed, result.cotangent))?;
            }
            v.push(entry, ad::accumulate(shadow, part))?;
        }
        let seed: Operand = if self.types.has_cotangent(pair.result) {
            cotangent.into()
        } else {
            let ctx = Arc::clone(&self.ctx);
            build::emitting(
                &ctx,
                |inst| v.push(entry, inst),
                |emit| build::zero(&ctx, result.cotangent, emit),
            )?
        };
        let tape = v.push(entry, core::get(triple, index(3)))?;
        let back =
            v.push(entry, core::call(func(pair.reverse), [tape.into(), seed], pair.reverse_type))?;
        let both = v.push(entry, core::tuple([value, back]))?;
        v.set_terminator(entry, cf::ret(both))?;
        if all.len() > pair.params.len() + 1 {
            // Nobody passes an object for its own shadow.
            let name = self.ctx.symbol("apart");
            let first = self.ctx.constant_id(Constant::I64(pair.params.len() as i64 + 1));
            v.set_function_attrs(self.ctx.attrs(&[(name, first)]));
        }
        self.module.add(v)?;
        // They were made to be one function.
        let name = self.ctx.symbol("inline");
        let yes = self.ctx.constant_id(Constant::Bool(true));
        for part in [pair.forward, pair.reverse] {
            if let Some(f) = self.module.find(part).and_then(|id| self.module.get_mut(id)) {
                f.set_function_attrs(self.ctx.attrs(&[(name, yes)]));
            }
        }
        Ok(made)
    }
}
