//! Assignments: targets, tuples that are taken apart, updates in place.

use regraft_ir::{Constant, Loc, Symbol};
use regraft_syntax::julia::{ExprId, Kind, List};

use super::Lower;
use super::expr::Vals;
use super::names::name_of;
use super::scope::NONE;
use super::ssa::Val;

/// A place that was evaluated once, to be read and written.
#[derive(Debug)]
enum Place {
    Name(ExprId, Symbol),
    Index(Val, Vals),
    Field(Val, Symbol),
    Wrong,
}

impl Lower<'_> {
    /// `target = value`; the value is that of the right side.
    pub(super) fn assign(&mut self, id: ExprId, target: ExprId, value: ExprId, used: bool) -> Val {
        if let (Kind::Tuple(targets), Kind::Tuple(values)) =
            (self.ast.kind(target), self.ast.kind(value))
            && self.pairs(targets, values)
        {
            let vals = self.values(&[], values);
            for (&target, &value) in self.ast.list(targets).iter().zip(&vals) {
                self.assign_value(target, value);
            }
            return if used {
                self.syntax(self.names.tuple, &vals, self.loc(id))
            } else {
                self.unit()
            };
        }
        let value = self.expr(value);
        self.assign_value(target, value);
        value
    }

    /// Returns whether a literal tuple can be taken apart without being made.
    fn pairs(&self, targets: List, values: List) -> bool {
        targets.len() == values.len() && !self.has_splat(targets) && !self.has_splat(values)
    }

    /// Assigns a value to any target.
    pub(super) fn assign_value(&mut self, target: ExprId, value: Val) {
        let loc = self.loc(target);
        match self.ast.kind(target) {
            Kind::Name(name) => self.write_name(target, name, value),
            Kind::Index { base, indices } => {
                let base = self.expr(base);
                let callee = self.names.of_prelude(self.names.setindex);
                self.call_indexed(callee, &[base, value], indices, loc);
            }
            Kind::Field { base, name } => {
                if self.module_member(base, name).is_some() {
                    self.error(target, "cannot assign to a name of another module", "");
                    return;
                }
                let base = self.expr(base);
                let name = self.sym(name);
                self.syntax(self.names.setproperty, &[base, name, value], loc);
            }
            Kind::Typed { value: Some(inner), .. }
                if matches!(self.ast.kind(inner), Kind::Name(_))
                    && self.scopes.refs[inner.index()] == NONE =>
            {
                if !self.code.is_thunk {
                    let message = "the type of a global variable is declared only at top level";
                    self.error(target, message, "not here");
                }
                // It is declared before; what is assigned is converted as everywhere.
                self.assign_value(inner, value);
            }
            Kind::Typed { value: Some(inner), ty } => {
                // A local variable converts by itself.
                let value = match self.ast.kind(inner) {
                    Kind::Name(_) if self.scopes.refs[inner.index()] != NONE => value,
                    _ => self.convert(ty, value, loc),
                };
                self.assign_value(inner, value);
            }
            Kind::Tuple(targets) => self.destructure(targets, value, loc),
            Kind::NamedTuple(targets) => {
                for &field in self.ast.list(targets) {
                    let symbol = match self.ast.kind(field) {
                        Kind::Name(name) => Some(name),
                        Kind::Typed { value: Some(value), .. } => name_of(self.ast, value),
                        Kind::Error => None,
                        _ => {
                            self.error(field, "fields are taken apart by their names", "");
                            continue;
                        }
                    };
                    let Some(symbol) = symbol else { continue };
                    let symbol = self.sym(symbol);
                    let part =
                        self.syntax(self.names.getproperty, &[value, symbol], self.loc(field));
                    self.assign_value(field, part);
                }
            }
            Kind::Error => {}
            Kind::Call { .. } | Kind::Dot { .. } => {
                self.error(target, "cannot assign to a call", "not a place");
            }
            Kind::Sym(_) | Kind::Str(_) | Kind::Int(_) | Kind::Float(_) | Kind::Bool(_) => {
                self.error(target, "cannot assign to a literal", "not a place");
            }
            _ => self.error(target, "cannot assign to this expression", "not a place"),
        }
    }

    fn destructure(&mut self, targets: List, value: Val, loc: Loc) {
        let targets = self.ast.list(targets);
        let mut takes_rest = false;
        for (k, &target) in targets.iter().enumerate() {
            let position = self.constant(Constant::I64(k as i64 + 1));
            let left = targets.len() - k;
            match self.ast.kind(target) {
                Kind::Splat(inner) => {
                    takes_rest = true;
                    let after = (left > 1).then(|| self.constant(Constant::I64(left as i64 - 1)));
                    let args: Vals = [value, position].into_iter().chain(after).collect();
                    let rest = self.call(self.names.destructure_rest, &args, loc);
                    self.assign_value(inner, rest);
                }
                _ if takes_rest => {
                    let from_end = self.constant(Constant::I64(left as i64));
                    let part = self.call(self.names.destructure_last, &[value, from_end], loc);
                    self.assign_value(target, part);
                }
                _ => {
                    let part = self.call(self.names.destructure, &[value, position], loc);
                    self.assign_value(target, part);
                }
            }
        }
    }

    /// `target op= value`: what the target is made of is evaluated once.
    pub(super) fn update(&mut self, id: ExprId, op: Symbol, target: ExprId, value: ExprId) -> Val {
        let loc = self.loc(id);
        let (place, ty) = match self.ast.kind(target) {
            Kind::Typed { value: Some(inner), ty } => (self.place(inner), Some(ty)),
            _ => (self.place(target), None),
        };
        let old = self.read_place(&place, loc);
        let value = self.expr(value);
        let mut new = self.call(op, &[old, value], loc);
        if let Some(ty) = ty {
            new = self.convert(ty, new, loc);
        }
        match place {
            Place::Name(id, name) => self.write_name(id, name, new),
            Place::Index(base, indices) => {
                let mut args = Vals::from_slice(&[base, new]);
                args.extend(indices);
                self.syntax(self.names.setindex, &args, loc);
            }
            Place::Field(base, name) => {
                let name = self.sym(name);
                self.syntax(self.names.setproperty, &[base, name, new], loc);
            }
            Place::Wrong => {}
        }
        new
    }

    fn place(&mut self, target: ExprId) -> Place {
        match self.ast.kind(target) {
            Kind::Name(name) => Place::Name(target, name),
            Kind::Index { base, indices } => {
                if self.has_splat(indices) {
                    self.error(target, "`...` in an index that is updated is not supported", "");
                }
                let base = self.expr(base);
                Place::Index(base, self.indices(base, &[], indices))
            }
            Kind::Field { base, name } => match self.module_member(base, name) {
                Some(_) => {
                    self.error(target, "cannot assign to a name of another module", "");
                    Place::Wrong
                }
                None => Place::Field(self.expr(base), name),
            },
            Kind::Error => Place::Wrong,
            _ => {
                self.error(target, "cannot update this expression", "not a place");
                Place::Wrong
            }
        }
    }

    fn read_place(&mut self, place: &Place, loc: Loc) -> Val {
        match place {
            &Place::Name(id, name) => self.name(id, name),
            Place::Index(base, indices) => {
                let mut args = Vals::from_slice(&[*base]);
                args.extend_from_slice(indices);
                self.syntax(self.names.getindex, &args, loc)
            }
            &Place::Field(base, name) => {
                let name = self.sym(name);
                self.syntax(self.names.getproperty, &[base, name], loc)
            }
            Place::Wrong => self.unit(),
        }
    }

    // --- declarations --------------------------------------------------------------------------

    /// `local` and `global`; the value is that of the last assignment.
    pub(super) fn declarations(&mut self, list: List) -> Val {
        let mut value = self.unit();
        for &id in self.ast.list(list) {
            match self.ast.kind(id) {
                Kind::Name(_) | Kind::Typed { .. } | Kind::Error => {}
                Kind::Tuple(names) => value = self.declarations(names),
                Kind::Assign { .. } | Kind::Update { .. } | Kind::Function { .. } => {
                    value = self.expr(id);
                }
                _ => self.error(id, "expected a name or an assignment", "not to be declared"),
            }
        }
        value
    }

    /// Evaluates the bindings of a `let`, each in the scope of those before it.
    pub(super) fn let_bindings(&mut self, id: ExprId, bindings: List) {
        self.enter_scope(self.scopes.refs[id.index()], self.loc(id));
        for &binding in self.ast.list(bindings) {
            match self.ast.kind(binding) {
                Kind::Assign { target, value } => {
                    let value = self.expr(value);
                    self.enter_scope(self.scopes.refs[binding.index()], self.loc(binding));
                    self.assign_value(target, value);
                }
                Kind::Name(_) | Kind::Typed { .. } | Kind::Error => {}
                Kind::Function { .. } => self.stmt(binding),
                _ => self.error(binding, "expected a name or an assignment", ""),
            }
        }
    }
}
