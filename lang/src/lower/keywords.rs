//! Named tuples, and arguments and parameters with names.
//!
//! ```text
//! f(x; a = 1, b...)               call @#kwcall(named tuple, f, x)
//! f(x; a, b = a, c...) = e        f(x) = #kwcall((;), f, x), and a method for `#kwcall`:
//!                                 a = nt.a; b = haskey(nt, :b) ? nt.b : a; c = the others; e
//! ```
//!
//! The names that a call gives are part of the type of the tuple, so that a specialisation knows
//! which default values are used, and nothing of the tuple is left when it has been inlined.

use regraft_dialects::core;
use regraft_ir::{Loc, Symbol};
use regraft_syntax::julia::{ExprId, Kind, List};
use smallvec::SmallVec;

use super::Lower;
use super::call::Callee;
use super::expr::Vals;
use super::param::Param;
use super::ssa::Val;

impl Lower<'_> {
    /// `callee(args; named)`
    pub(super) fn keyword_call(
        &mut self,
        id: ExprId,
        callee: ExprId,
        args: List,
        named: List,
    ) -> Val {
        let loc = self.loc(id);
        let callee = self.callee_value(callee, loc);
        if self.has_splat(args) {
            let front = [self.named_tuple(id, named), callee];
            let function = self.func(self.names.keyword_call);
            return self.splat(function, &front, self.ast.list(args), None, loc);
        }
        let mut operands = self.values(&[callee, callee], args);
        operands[0] = self.named_tuple(id, named);
        self.call(self.names.keyword_call, &operands, loc)
    }

    /// A function that passes arguments with names on, beside those that it is called with.
    pub(super) fn with_keywords(&mut self, id: ExprId, callee: ExprId, named: List) -> Val {
        let loc = self.loc(id);
        let callee = self.callee_value(callee, loc);
        let named = self.named_tuple(id, named);
        self.call(self.names.with_keywords, &[callee, named], loc)
    }

    fn callee_value(&mut self, callee: ExprId, loc: Loc) -> Val {
        match self.callee(callee) {
            Callee::Named(name) => self.global(name, loc),
            Callee::Value(value) => value,
        }
    }

    /// `(; a = 1, b, c...)`: entries between collections are one named tuple.
    pub(super) fn named_tuple(&mut self, id: ExprId, list: List) -> Val {
        let loc = self.loc(id);
        let (mut args, mut parts) = (Vals::new(), Vals::new());
        let mut seen: SmallVec<[Symbol; 8]> = SmallVec::new();
        for &entry in self.ast.list(list) {
            let (name, value) = match self.ast.kind(entry) {
                Kind::Assign { target, value } => match self.ast.kind(target) {
                    Kind::Name(name) => (name, value),
                    _ => {
                        self.error(target, "a field of a named tuple has a name", "");
                        continue;
                    }
                },
                Kind::Name(name) | Kind::Field { name, .. } => (name, entry),
                Kind::Splat(inner) => {
                    if !args.is_empty() {
                        parts.push(self.call(self.names.named, &args, loc));
                        args.clear();
                    }
                    parts.push(self.expr(inner));
                    continue;
                }
                Kind::Error => continue,
                _ => {
                    self.error(entry, "a field of a named tuple has a name", "");
                    continue;
                }
            };
            if seen.contains(&name) {
                let message = format!("two fields have the name `{}`", self.text(name));
                self.error(entry, message, "the second");
            }
            seen.push(name);
            let name = self.sym(name);
            let value = self.expr(value);
            args.push(name);
            args.push(value);
        }
        if parts.is_empty() {
            return self.call(self.names.named, &args, loc);
        }
        if !args.is_empty() {
            parts.push(self.call(self.names.named, &args, loc));
        }
        self.call(self.names.merge_keywords, &parts, loc)
    }

    /// The parameters of a function that have names.
    pub(super) fn keyword_params(&mut self, named: List) -> SmallVec<[Param; 4]> {
        let mut params = SmallVec::new();
        for &id in self.ast.list(named) {
            let param = Param::of(self.ast, id);
            if param.name.is_none() || param.wrong {
                if !matches!(self.ast.kind(id), Kind::Error) {
                    self.error(id, "a parameter that is passed by name has one", "this has none");
                }
                continue;
            }
            params.push(param);
        }
        params
    }

    /// Gives the parameters that are passed by name their values, in order, so that the default value
    /// of one may be that of another before.
    pub(super) fn bind_keywords(&mut self, params: &[Param], given: Val, callee: Val, loc: Loc) {
        let mut checked: Vals = [given].into_iter().collect();
        for param in params {
            let Some((name, id)) = param.name else { continue };
            let key = self.sym(name);
            if param.vararg {
                let others = self.call(self.names.other_keywords, &checked, loc);
                let pairs = self.call(self.names.keyword_pairs, &[others], loc);
                self.write_param(id, pairs, loc);
                return;
            }
            let value = self.keyword(param, given, key, loc);
            checked.push(key);
            let value = match param.ty {
                Some(ty) => {
                    let ty = self.expr(ty);
                    self.call(self.names.check_keyword_type, &[value, ty, key], loc)
                }
                None => value,
            };
            self.write_param(id, value, loc);
        }
        let others = self.call(self.names.other_keywords, &checked, loc);
        self.call(self.names.check_keywords, &[others, callee], loc);
    }

    /// What is given for a parameter, or its default value.
    fn keyword(&mut self, param: &Param, given: Val, key: Val, loc: Loc) -> Val {
        let Some(default) = param.default else {
            return self.call(self.names.required_keyword, &[given, key], loc);
        };
        let result = self.code.body.new_slot(None);
        let body = &mut self.code.body;
        let (yes, no, end) = (body.new_block(), body.new_block(), body.new_block());
        let is_given = self.call(self.names.has_keyword, &[given, key], loc);
        self.code.body.branch(is_given, yes, no, loc);
        self.code.body.seal_and_start(yes);
        let value = self.syntax(self.names.getfield, &[given, key], loc);
        self.code.body.set(result, value);
        self.code.body.jump(end, loc);
        self.code.body.seal_and_start(no);
        let value = self.expr(default);
        self.code.body.set(result, value);
        self.code.body.jump(end, loc);
        self.code.body.seal_and_start(end);
        self.code.body.read(result)
    }

    /// Calls the method with parameters that have names, which `given` has.
    pub(super) fn call_with(&mut self, given: Val, callee: Val, args: &[Val], loc: Loc) -> Val {
        let mut operands: Vals = [given, callee].into_iter().collect();
        operands.extend_from_slice(args);
        self.call(self.names.keyword_call, &operands, loc)
    }

    /// The same with arguments of which the last is a tuple of all further ones.
    pub(super) fn call_with_rest(
        &mut self,
        given: Val,
        callee: Val,
        args: &[Val],
        loc: Loc,
    ) -> Val {
        let Some((&rest, front)) = args.split_last() else {
            return self.call_with(given, callee, args, loc);
        };
        let function = self.func(self.names.keyword_call);
        let mut wrapped: Vals = [given, callee].into_iter().collect();
        wrapped.extend_from_slice(front);
        let wrapped = self.syntax(self.names.tuple, &wrapped, loc);
        self.code.body.push(core::SPLAT, &[function, wrapped, rest], loc)
    }
}
