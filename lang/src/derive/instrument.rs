//! Code for the profiler: functions record their calls, and those of the program stay functions.
//!
//! What is recorded is the code as it runs otherwise: what emission put in the place of a call (a
//! small method of the prelude, an anonymous function) is a part of the function around it. Only
//! derivatives are made in another way than otherwise: the functions of the program are not
//! inlined, so that each has a derivative of its own.

use std::rc::Rc;

use regraft_ad::{FORWARD_OF, JVP_OF, REVERSE_OF};
use regraft_ir::{Constant, Diagnostic, Function, Module, Symbol};
use rustc_hash::FxHashSet;

use super::deriver::Deriver;
use super::pipelines::Instrumentation;
use crate::definition::Space;
use crate::world::SpecId;

impl Deriver<'_> {
    /// Sets what code records: derivatives are made anew. Returns whether it was something else.
    pub(crate) fn set_instrumentation(&mut self, what: Option<Instrumentation>) -> bool {
        let is_new = self.derivatives.instrumentation.replace(what) != what;
        if is_new {
            self.forget_derivatives();
        }
        is_new
    }

    /// Returns the function of a specialisation with the records of the profiler, if it is to have some.
    pub(super) fn instrumented(
        &mut self,
        id: SpecId,
        function: Rc<Function>,
    ) -> Result<Rc<Function>, Vec<Diagnostic>> {
        let Some(what) = self.derivatives.instrumentation.get() else { return Ok(function) };
        // What stands for an op as a value has neither.
        if self.spec(id).method.is_none() && !function.function_loc().is_known() {
            return Ok(function);
        }
        let mut module = Module::of_functions(self.ctx(), [Function::clone(&function)])
            .map_err(|error| vec![Diagnostic::from(error)])?;
        self.derivatives.pipelines().instrument(&mut module, what)?;
        Ok(module.functions().next().map_or(function, |made| Rc::new(made.clone())))
    }

    /// Keeps the functions of the program in a module from being inlined, while code is to record
    /// their calls. Returns their names.
    pub(super) fn keep_functions(&self, module: &mut Module) -> FxHashSet<Symbol> {
        if self.derivatives.instrumentation.get().is_none() {
            return FxHashSet::default();
        }
        let names = module.functions().map(Function::name);
        let kept: FxHashSet<Symbol> = names.filter(|&name| self.is_of_program(name)).collect();
        keep(module, |f| kept.contains(&f.name()));
        kept
    }

    /// The same for the derivatives of such functions.
    pub(super) fn keep_derivatives_of(&self, module: &mut Module, kept: &FxHashSet<Symbol>) {
        if kept.is_empty() {
            return;
        }
        keep(module, |f| {
            let marked = |key: &&str| match f.ctx().attr(f.function_attrs(), key) {
                Some(of) => {
                    matches!(f.ctx().constant(of), Constant::Func(of) if kept.contains(&of))
                }
                None => false,
            };
            [JVP_OF, FORWARD_OF, REVERSE_OF].iter().any(marked)
        });
    }

    fn is_of_program(&self, name: Symbol) -> bool {
        let spec = self.spec_by_name(name).map(|id| self.spec(id));
        spec.is_some_and(|spec| {
            spec.method.is_some() && spec.space != Space::Base && !spec.may_inline()
        })
    }
}

/// Sets the attribute of functions that they are not inlined.
fn keep(module: &mut Module, is_kept: impl Fn(&Function) -> bool) {
    for id in module.ids().to_vec() {
        let Some(f) = module.get_mut(id).filter(|f| is_kept(f)) else { continue };
        let ctx = f.ctx().clone();
        let inline = ctx.symbol("inline");
        let mut entries = ctx.attr_entries(f.function_attrs()).to_vec();
        entries.retain(|&(key, _)| key != inline);
        entries.push((inline, ctx.constant_id(Constant::Bool(false))));
        f.set_function_attrs(ctx.attrs(&entries));
    }
}
