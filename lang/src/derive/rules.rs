//! Rules that programs give for derivatives of functions: methods of `rrule` and `frule`, and
//! declarations that there is no derivative.
//!
//! A function that there is a rule for is called, never expanded in place, so that its calls are
//! there when a derivative is made. A definition of a rule invalidates what was inferred of calls
//! of its function, and nothing else.

use std::sync::Arc;

use regraft_dialects::semantics::is_exact;
use regraft_dialects::{cf, core};
use regraft_ir::{Attrs, Const, Constant, Diagnostic, Function, Operand, Symbol, Type, TypeKind};
use smallvec::SmallVec;

use super::deriver::Deriver;
use super::rule_table::{Rules, RulesOf};
use crate::definition::Space;
use crate::world::{Dispatch, SpecId};

impl Deriver<'_> {
    /// Asks for rules from now on, if there are some in the prelude.
    pub(crate) fn note_deferred_rules(&mut self) {
        let Rules { reverse, forward, none } = self.derivatives.rules;
        self.has_rules |= [reverse, forward, none].iter().any(|&rule| self.world.is_deferred(rule));
    }

    /// The rules for a call; `by` becomes invalid if that changes.
    pub(crate) fn rules_of(&mut self, callee: Type, args: &[Type], by: SpecId) -> RulesOf {
        if !self.has_rules {
            return RulesOf::default();
        }
        let Rules { reverse, forward, none } = self.derivatives.rules;
        // Most functions have no rule at all.
        let ctx = self.ctx();
        if std::iter::once(&callee).chain(args).all(|&ty| is_exact(ctx, ty))
            && ![(reverse, 1), (none, 1), (forward, 2)]
                .into_iter()
                .any(|(rule, position)| self.world.may_mention(rule, position, callee, by))
        {
            return RulesOf::default();
        }
        let mut call: SmallVec<[Type; 8]> = SmallVec::new();
        call.push(callee);
        call.extend_from_slice(args);
        let (reverse, none) = (self.rule(reverse, &call, by), self.rule(none, &call, by));
        let tangents = self.tangents_of(&call);
        call.insert(0, tangents);
        RulesOf { reverse, forward: self.rule(forward, &call, by), none }
    }

    /// The type of a tuple of the tangents of values of these types.
    fn tangents_of(&mut self, types: &[Type]) -> Type {
        let ctx = Arc::clone(self.ctx());
        let tangents: Vec<Type> = self
            .derivatives
            .with_tangent_types(&ctx, |of| types.iter().map(|&ty| of.tangent(ty)).collect());
        ctx.tuple_type(&tangents)
    }

    fn rule(&mut self, rules: Symbol, args: &[Type], by: SpecId) -> bool {
        let rules = self.ctx().ty(TypeKind::Fn(rules));
        matches!(self.world.dispatch(rules, args, Some(by)), Dispatch::Method(_))
    }

    /// The attributes that say what the rules for a specialisation are, and the specialisations
    /// that carry them out; `None` if one of them is not settled.
    pub(super) fn rule_attrs(
        &mut self,
        id: SpecId,
        from: SpecId,
    ) -> Result<Option<(Attrs, Vec<SpecId>)>, Vec<Diagnostic>> {
        let nothing = Ok(Some((Attrs::NONE, Vec::new())));
        let spec = self.spec(id);
        if spec.method.is_none() {
            return nothing;
        }
        let (shown, in_prelude) = (spec.shown, spec.space == Space::Base);
        let callee = spec.callee;
        let mut entries: Vec<(Symbol, Const)> = Vec::new();
        let mut functions = Vec::new();
        let ctx = Arc::clone(self.ctx());
        let set = |entries: &mut Vec<(Symbol, Const)>, name: &str, value: Constant| {
            entries.push((ctx.symbol(name), ctx.constant_id(value)));
        };
        let none = Constant::Sym(ctx.symbol("none"));
        if in_prelude && matches!(ctx.kind(callee), TypeKind::Fn(_)) {
            match ctx.str(shown) {
                "checkpoint" => set(&mut entries, "checkpoint", Constant::Bool(true)),
                "#ignored" => set(&mut entries, "derivative", none),
                _ => {}
            }
        }
        let args = self.argument_types(id);
        let rules = self.rules_of(callee, &args, from);
        if rules.none {
            set(&mut entries, "derivative", none);
        }
        for (is, name) in [(rules.reverse, "rrule"), (rules.forward, "frule")] {
            if !is || rules.none {
                continue;
            }
            let function = self.rule_function(id, name);
            self.world.depend(from, function);
            if !self.spec(function).is_done() {
                return Ok(None);
            }
            set(&mut entries, name, Constant::Func(self.name_of(function)));
            functions.push(function);
        }
        if entries.is_empty() {
            return nothing;
        }
        set(&mut entries, "inline", Constant::Bool(false));
        entries.sort_by_key(|&(name, _)| ctx.str(name));
        Ok(Some((ctx.attrs(&entries), functions)))
    }

    /// The types of the arguments of calls of a specialisation.
    fn argument_types(&self, id: SpecId) -> Vec<Type> {
        let spec = self.spec(id);
        let params = spec.key.iter().skip(usize::from(spec.takes_callee));
        let mut types: Vec<Type> = params.map(|&value| self.partials.type_of(value)).collect();
        if spec.fixed.is_some()
            && let Some(rest) = types.pop()
            && let TypeKind::Tuple(rest) = self.ctx().kind(rest)
        {
            types.extend(rest.iter().copied());
        }
        types
    }

    /// A function with the parameters of that of a specialisation (for a rule of forward mode,
    /// a tuple of tangents in front of them) that calls its rule.
    fn rule_function(&mut self, id: SpecId, rule: &str) -> SpecId {
        let ctx = Arc::clone(self.ctx());
        let spec = self.spec(id);
        let (takes_callee, fixed, callee) = (spec.takes_callee, spec.fixed, spec.callee);
        let shown = spec.shown;
        let forward = rule == "frule";
        let mut key: Vec<_> = spec.key.to_vec();
        if forward {
            // The callee comes first, whether it is a parameter or not.
            let params = key.iter().map(|&value| self.partials.type_of(value));
            let callee = (!takes_callee).then_some(Type::UNIT);
            let types: Vec<Type> = callee.into_iter().chain(params).collect();
            let tangents = self.tangents_of(&types);
            key.insert(0, self.partials.of_type(tangents));
        }
        let name = ctx.symbol(&format!("{rule}({})", ctx.str(shown)));
        let mut body = Function::new(&ctx, rule, &vec![Type::ANY; key.len()], Type::ANY);
        let entry = body.entry().expect("a new function has an entry");
        let mut params: Vec<Operand> = body.params(entry).map(Operand::from).collect();
        if !takes_callee && let Some(callee) = self.constant_callee(callee) {
            params.insert(usize::from(forward), ctx.constant_id(callee).into());
        }
        let func = |name: &str| Operand::from(ctx.constant_id(Constant::Func(ctx.symbol(name))));
        let fits = "a lowered call fits whatever it is given";
        let sym = Operand::from(ctx.constant_id(Constant::Sym(shown)));
        let mut push = |inst| Operand::from(body.push(entry, inst).expect(fits));
        let rest = match fixed {
            Some(_) => params.pop(),
            None => None,
        };
        if rest.is_some()
            && forward
            && let Some(tangents) = params.first_mut()
        {
            *tangents = push(core::call(func("#unpacked"), [*tangents], Type::ANY));
        }
        let before = push(core::tuple(params));
        let rest = rest.unwrap_or_else(|| push(core::tuple(Vec::<Operand>::new())));
        let given = push(core::splat(func(rule), [before, rest], Type::ANY));
        let result = if forward {
            push(core::call(func("#checked_frule"), [sym, given], Type::ANY))
        } else {
            let checked = [sym, given, before, rest];
            let checked = push(core::call(func("#checked_rrule"), checked, Type::ANY));
            match fixed {
                Some(fixed) => {
                    let count = Operand::from(ctx.constant_id(Constant::I64(fixed as i64)));
                    push(core::call(func("#packed_rrule"), [count, checked], Type::ANY))
                }
                None => checked,
            }
        };
        body.set_terminator(entry, cf::ret(result)).expect("any value can be returned");
        self.rule_spec(&Arc::new(body), name, &key)
    }
}
