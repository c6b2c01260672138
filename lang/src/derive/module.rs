//! Between the world and modules: what is differentiated leaves it, what came out enters it.

use std::sync::Arc;

use regraft_dialects::{cf, core};
use regraft_ir::{Constant, Diagnostic, Function, Module, Operand, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

use super::deriver::{Deriver, Primal};
use crate::world::SpecId;

/// The functions that a derivative is made of.
pub(super) struct Functions {
    pub(super) module: Module,
    /// True if types were guessed in it.
    pub(super) is_guessed: bool,
}

impl Functions {
    /// Their names.
    pub(super) fn names(&self) -> FxHashSet<Symbol> {
        self.module.functions().map(Function::name).collect()
    }
}

impl Deriver<'_> {
    /// A specialisation and all that it calls, as [`module_of`](Emitter::module_of) gives it,
    /// marked with the rules for derivatives, and with the functions that carry them out.
    pub(crate) fn module_with_rules(&mut self, id: SpecId) -> Module {
        let from = self.new_derivation();
        match self.module_to_differentiate(id, from, false) {
            Ok(Some(functions)) => functions.module,
            Ok(None) | Err(_) => self.module_of(id),
        }
    }

    /// A specialisation and all that it calls, with branches on the types that arguments of calls
    /// may have if they are to be guessed, marked with the rules that there are; `None` if a rule is
    /// not settled.
    pub(super) fn module_to_differentiate(
        &mut self,
        id: SpecId,
        from: SpecId,
        guess: bool,
    ) -> Result<Option<Functions>, Vec<Diagnostic>> {
        let mut module = self.module_of(id);
        let mut is_guessed = false;
        if guess {
            let guessed = self.guess_types(&mut module, from);
            is_guessed = guessed.map_err(|error| vec![Diagnostic::from(error)])?;
        }
        let names: Vec<Symbol> = module.functions().map(Function::name).collect();
        for name in names {
            let Some(spec) = self.spec_by_name(name) else { continue };
            let Some((attrs, functions)) = self.rule_attrs(spec, from)? else { return Ok(None) };
            if attrs.is_empty() {
                continue;
            }
            if let Some(place) = module.find(name).and_then(|id| module.get_mut(id)) {
                place.set_function_attrs(attrs);
            }
            for function in functions {
                let added = self.add_function(&mut module, function, &mut Vec::new());
                added.map_err(|error| vec![error.into()])?;
            }
        }
        Ok(Some(Functions { module, is_guessed }))
    }

    /// The function that is differentiated: one that calls it if there is a rule for it.
    pub(super) fn primal(&mut self, id: SpecId, functions: &mut Functions) -> Primal {
        let name = self.name_of(id);
        let ctx = Arc::clone(self.ctx());
        let spec = self.spec(id);
        let (takes_callee, fixed) = (spec.takes_callee, spec.fixed);
        let function = functions.module.find(name).and_then(|id| functions.module.get(id));
        let function = function.expect("a module holds what it was made of");
        let (params, result) = (function.param_types(), function.ret_type());
        let loc = function.function_loc();
        let primal = Primal { name, params, result, takes_callee, fixed, loc };
        if function.function_attrs().is_empty() {
            return primal;
        }
        let caller = self.unique_name(&format!("call of {}", ctx.str(name)), &functions.names());
        let mut f = Function::new(&ctx, ctx.str(caller), &primal.params, primal.result);
        f.set_function_loc(function.function_loc());
        let entry = f.entry().expect("a new function has an entry");
        let args: Vec<Operand> = f.params(entry).map(Operand::from).collect();
        let callee = ctx.constant_id(Constant::Func(name));
        let fits = "a function can be called with what it takes";
        let call = f.push(entry, core::call(callee, args, primal.result)).expect(fits);
        f.set_terminator(entry, cf::ret(call)).expect(fits);
        functions.module.add(f).expect("the name is new");
        Primal { name: caller, ..primal }
    }

    /// A name that no function has, here or in the world.
    pub(super) fn unique_name(&self, text: &str, taken: &FxHashSet<Symbol>) -> Symbol {
        let mut name = self.ctx().symbol(text);
        let mut count = 1;
        while self.spec_by_name(name).is_some()
            || self.derivatives.held.borrow().had(name)
            || taken.contains(&name)
        {
            count += 1;
            name = self.ctx().symbol(&format!("{text}#{count}"));
        }
        name
    }

    /// Makes specialisations of `entries` and of what they need of a module, apart from what
    /// `known` names, which the world has. They are those of the entries, in order.
    pub(super) fn adopt(
        &mut self,
        module: Module,
        known: &FxHashSet<Symbol>,
        entries: &[Symbol],
        from: SpecId,
    ) -> Result<Vec<SpecId>, Vec<Diagnostic>> {
        let ctx = Arc::clone(self.ctx());
        let mut needed: Vec<Symbol> = entries.to_vec();
        let mut seen: FxHashSet<Symbol> = needed.iter().copied().collect();
        let mut at = 0;
        while let Some(&name) = needed.get(at) {
            at += 1;
            let Some(f) = module.find(name).and_then(|id| module.get(id)) else { continue };
            let operands = f.all_insts().flat_map(|v| f.operands(v));
            let called = operands.filter_map(|operand| f.const_func(operand));
            let made = called.filter(|name| !known.contains(name) && module.find(*name).is_some());
            needed.extend(made.filter(|&name| seen.insert(name)));
        }
        // What was made for another derivative may have the same name.
        let mut names: FxHashMap<Symbol, Symbol> = FxHashMap::default();
        let mut taken: FxHashSet<Symbol> = seen.clone();
        for &name in &needed {
            if self.spec_by_name(name).is_some() {
                let new = self.unique_name(ctx.str(name), &taken);
                taken.insert(new);
                names.insert(name, new);
            }
        }
        let mut made = Vec::with_capacity(entries.len());
        for name in needed {
            let Some(f) = module.find(name).and_then(|id| module.get(id)) else { continue };
            let mut f = f.clone();
            if !names.is_empty() {
                rename(&mut f, &names)?;
            }
            f.compact();
            let id = self.made_spec(f);
            self.world.depend(id, from);
            if made.len() < entries.len() {
                made.push(id);
            }
        }
        Ok(made)
    }
}

/// Gives a function, and those that it mentions, their new names.
fn rename(f: &mut Function, names: &FxHashMap<Symbol, Symbol>) -> Result<(), Vec<Diagnostic>> {
    if let Some(&new) = names.get(&f.name()) {
        f.set_name(new);
    }
    let insts: Vec<_> = f.all_insts().collect();
    for v in insts {
        for index in 0..f.operands(v).count() {
            let name = f.operand(v, index).and_then(|operand| f.const_func(operand));
            if let Some(new) = name.and_then(|name| names.get(&name).copied()) {
                let new = f.constant_id(Constant::Func(new));
                f.set_operand(v, index, new).map_err(|error| vec![Diagnostic::from(error)])?;
            }
        }
    }
    Ok(())
}
