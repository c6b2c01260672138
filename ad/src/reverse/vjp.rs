//! The function that goes forward and back at once.

use std::sync::Arc;

use regraft_dialects::attrs::set_function_attr;
use regraft_dialects::{ad, cf, core};
use regraft_ir::{Constant, Diagnostic, Function, Loc, Operand, Symbol, Value};

use super::driver::{Driver, Pair};
use crate::marks::VJP_OF;
use crate::tangent_builder as build;

impl Driver<'_> {
    /// The function that goes forward and back at once.
    pub(super) fn vjp(&mut self, name: Symbol, pair: &Pair) -> Result<Symbol, Diagnostic> {
        let made = self.fresh(&format!("{}.vjp{}", self.ctx.str(name), pair.ending));
        let f = self.module.find(name).and_then(|id| self.module.get(id));
        let entry = f.and_then(|f| Some((f, f.entry()?)));
        let names: Vec<Option<Symbol>> = entry.map_or_else(Vec::new, |(f, entry)| {
            f.params(entry).map(|param| f.value_symbol(param)).collect()
        });
        let loc = f.map_or(Loc::UNKNOWN, Function::function_loc);
        let count = pair.params.len();
        let mut shadowed: Vec<usize> = (0..count).collect();
        shadowed.retain(|&i| pair.active[i] && self.types.has_shadow(pair.params[i]));
        let mut params = pair.params.clone();
        params.extend(shadowed.iter().map(|&i| self.types.shadow(pair.params[i])));
        let result = self.types.of(pair.result);
        params.push(result.tangent);
        let ret = self.ctx.tuple_type(&[pair.result, pair.reverse_type]);
        let mut v = Function::new(&self.ctx, self.ctx.str(made), &params, ret);
        v.set_function_loc(loc);
        let entry = v.entry().expect("a new function has an entry");
        let all: Vec<Value> = v.params(entry).collect();
        for (&name, &param) in names.iter().zip(&all) {
            if let Some(name) = name {
                v.name_after(param, name)?;
            }
        }
        for (&i, &shadow) in shadowed.iter().zip(&all[count..]) {
            if let Some(name) = names.get(i).copied().flatten() {
                v.name_after(shadow, self.ctx.symbol(&format!("d{}", self.ctx.str(name))))?;
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
        set_function_attr(&mut v, VJP_OF, Constant::Func(name));
        if !shadowed.is_empty() {
            // Nobody passes an object for its own shadow.
            set_function_attr(&mut v, "noalias", Constant::I64(count as i64 + 1));
        }
        self.module.add(v)?;
        // They were made to be one function.
        for part in [pair.forward, pair.reverse] {
            if let Some(f) = self.module.find(part).and_then(|id| self.module.get_mut(id)) {
                set_function_attr(f, "inline", Constant::Bool(true));
            }
        }
        Ok(made)
    }
}
