//! Calls: of derivatives, of rules, and of what is only known when the program runs.

use regraft_dialects::core;
use regraft_ir::{Constant, FuncId, Operand, Type, TypeKind, Value};

use super::writer::{Dual, Writer};
use crate::calls::{Mode, Target, call_site};

impl Writer<'_, '_> {
    /// Makes what a call becomes.
    pub(super) fn call(&mut self, v: Value) {
        let site = call_site(self.driver.module, self.from, v, Mode::Forward);
        let operands: Vec<Operand> = self.from.operands(v).collect();
        let any = operands.iter().any(|&operand| self.operand_is_active(operand));
        match site.target {
            Target::Function(callee) => self.call_function(v, callee, &operands[site.first..]),
            Target::Rule(rule) if any => self.call_rule(v, rule, &operands, site.first),
            Target::Dynamic if any || self.driver.all.active_globals().next().is_some() => {
                self.call_dynamic(v, &operands);
            }
            Target::Refused(why) if any => {
                let name = self.operand_name(operands[0]);
                self.error(format!("no derivative of {name} can be taken: {why}"), "called here");
                self.call_as_it_is(v);
            }
            _ => self.call_as_it_is(v),
        }
    }

    fn operand_name(&self, callee: Operand) -> String {
        match self.from.const_func(callee) {
            Some(name) => format!("@{}", self.ctx().str(name)),
            None => self.ctx().type_text(self.from.operand_type(callee)),
        }
    }

    /// A call of what is constant.
    fn call_as_it_is(&mut self, v: Value) {
        self.copy(v);
        if self.is_active(v) {
            let (primal, ty) = (self.operand(v.into()), self.from.ty(v));
            let dual = (0..self.driver.width).map(|_| self.zero(primal, ty)).collect();
            self.define_tangent(v, dual);
        }
    }

    fn call_function(&mut self, v: Value, callee: FuncId, args: &[Operand]) {
        let active = args.iter().map(|&arg| self.operand_is_active(arg)).collect();
        let context = self.driver.all.call(callee, active);
        let summary = self.driver.all.summary(context);
        if !summary.any {
            return self.call_as_it_is(v);
        }
        let passed = self.driver.all.passed(context).to_vec();
        let (_, function, _) = self.driver.signature(context);
        let types = function.param_types();
        let mut given: Vec<Operand> = args.iter().map(|&arg| self.operand(arg)).collect();
        for ((&arg, passed), ty) in args.iter().zip(passed).zip(types) {
            if passed {
                let want = self.tangent_type(ty);
                let dual = self.tangent_of(arg);
                let dual = self.all_coerced(dual, want);
                given.push(self.packed(dual));
            }
        }
        let (_, ret) = self.driver.types(context);
        let name = self.driver.request(context, Some((self.request, self.loc)));
        let name = self.constant(Constant::Func(name));
        let call = core::call(name, given, ret);
        let call = match self.from.op(v) {
            Some(core::CALL) => call.with_attrs(self.from.attrs(v)),
            _ => call,
        };
        let pair = self.emit(call);
        let (value, tangent) = (self.part(pair, 1), self.part(pair, 2));
        self.define_result(v, value);
        if self.is_active(v) {
            let dual = self.unpacked(tangent);
            self.define_tangent(v, dual);
        }
    }

    /// Lets `value` stand for the result of the call `v`.
    fn define_result(&mut self, v: Value, value: Operand) {
        let value = self.value_coerced(value, self.from.ty(v));
        self.define(v, value);
    }

    /// A rule is given the tangents of what is called and of its arguments, and the arguments. In
    /// several directions, it is called once for each, so that it must not change anything.
    fn call_rule(&mut self, v: Value, rule: FuncId, operands: &[Operand], first: usize) {
        let Some(rule) = self.driver.module.get(rule) else { return };
        if self.driver.width > 1 && self.driver.changes_anything(rule.name()) {
            let message = format!(
                "the rule @{} may change objects or print, so that there can be only one direction at a time",
                self.ctx().str(rule.name())
            );
            self.error(message, "called here");
            return self.call_as_it_is(v);
        }
        let args = &operands[first..];
        let types = rule.param_types();
        // A closure is among the arguments itself; what is called by its name has no tangent.
        let wanted = types.first().map(|&ty| (ty, self.ctx().kind(ty).clone()));
        let parts: Option<Vec<Type>> = match wanted {
            Some((_, TypeKind::Tuple(parts))) => Some(parts.to_vec()),
            _ => None,
        };
        let is_first = match &parts {
            Some(parts) => parts.len() == args.len(),
            None => first == 0,
        };
        let nothing = self.constant(Constant::Unit);
        let duals: Vec<Dual> = args.iter().map(|&arg| self.tangent_of(arg)).collect();
        let values: Vec<Operand> = args.iter().map(|&arg| self.operand(arg)).collect();
        let mut results = Vec::new();
        for k in 0..self.driver.width {
            let mut tangents: Vec<Operand> = Vec::with_capacity(args.len() + 1);
            if !is_first {
                tangents.push(nothing);
            }
            tangents.extend(duals.iter().map(|dual| dual[k]));
            if let Some(parts) = &parts {
                for (tangent, &want) in tangents.iter_mut().zip(parts) {
                    *tangent = self.coerced(*tangent, want);
                }
            }
            let tangents = self.emit(core::tuple(tangents));
            let given = std::iter::once(tangents).chain(values.iter().copied());
            let name = self.constant(Constant::Func(rule.name()));
            results.push(self.emit(core::call(name, given, rule.ret_type())));
        }
        self.define_pairs(v, &results);
    }

    /// Makes a call of a callee that is only known when the program runs.
    fn call_dynamic(&mut self, v: Value, operands: &[Operand]) {
        let Some((callee, args)) = operands.split_first() else { return };
        if self.from.op(v) == Some(core::SPLAT) {
            let message = "the arguments of this call are not known, so that its derivative is not";
            self.error(message.to_owned(), "here");
            return self.call_as_it_is(v);
        }
        let Some(dynamic) = self.driver.options.dynamic else {
            let message = "what is called is not known here, so that its derivative is not";
            self.error(message.to_owned(), "here");
            return self.call_as_it_is(v);
        };
        if self.driver.width > 1 {
            let message = "what is called is not known here, so that there can be only one direction at a time";
            self.error(message.to_owned(), "here");
            return self.call_as_it_is(v);
        }
        let duals: Vec<Dual> = operands.iter().map(|&operand| self.tangent_of(operand)).collect();
        let callee = self.operand(*callee);
        let values: Vec<Operand> = args.iter().map(|&arg| self.operand(arg)).collect();
        let tangents = self.emit(core::tuple(duals.iter().map(|dual| dual[0])));
        let given = [callee, tangents].into_iter().chain(values);
        let name = self.constant(Constant::Func(dynamic));
        let pair = self.emit(core::apply(name, given, Type::ANY));
        self.define_pairs(v, &[pair]);
    }

    /// Takes results and tangents out of pairs, one for each direction.
    fn define_pairs(&mut self, v: Value, pairs: &[Operand]) {
        let Some(&first) = pairs.first() else { return };
        let value = self.part(first, 1);
        self.define_result(v, value);
        if self.is_active(v) {
            let dual = pairs.iter().map(|&pair| self.part(pair, 2)).collect();
            self.define_tangent(v, dual);
        }
    }
}
