//! Functions that are made while a program runs.

use regraft_dialects::core;
use regraft_ir::{Loc, Symbol};
use regraft_syntax::julia::{ExprId, Kind, List};

use super::Lower;
use super::define::{Made, Owner, Written};
use super::expr::Vals;
use super::scope::NONE;
use super::ssa::Val;
use crate::definition::{Callee, ClosureDef, MethodDef};

/// A variable that a closure captures: its value or box, or its cell.
struct Capture {
    var: u32,
    is_cell: bool,
    name: Symbol,
}

impl Lower<'_> {
    /// `params -> body`
    pub(super) fn lambda(&mut self, id: ExprId) -> Val {
        let Kind::Lambda { params, wheres, returns, body } = self.ast.kind(id) else {
            return self.unit();
        };
        let func = self.scopes.refs[id.index()];
        let group = self.scopes.funcs[func as usize].group;
        let written = Written { params, wheres, returns, body, inline: None, id };
        let (name, shown) = self.anonymous();
        let methods = self.closure_methods(func, group, name, written);
        let def = ClosureDef { name, shown, captures: Vec::new(), methods };
        self.make(def, group, &[], self.loc(id))
    }

    fn closure_methods(
        &mut self,
        func: u32,
        group: u32,
        name: Symbol,
        written: Written,
    ) -> Vec<MethodDef> {
        let (owner, callee) = (Owner::Closure(group), Callee::Closure(name));
        let name = self.ctx.str(name);
        self.methods(written, Made { func, owner, callee, extends_base: false, name, new: None })
    }

    /// The name of an anonymous function, and what is shown of it.
    pub(super) fn anonymous(&self) -> (Symbol, Symbol) {
        let (name, number) = self.fresh_name("");
        (name, self.ctx.symbol(&format!("#{number}")))
    }

    /// A definition within a function. All methods of a function are made with the first.
    pub(super) fn local_function(&mut self, id: ExprId) -> Val {
        let Kind::Function { name, .. } = self.ast.kind(id) else { return self.unit() };
        let Kind::Name(symbol) = self.ast.kind(name) else {
            return self.global_method(id, name);
        };
        let var = self.scopes.refs[name.index()];
        if var == NONE {
            return self.global_method(id, name);
        }
        let func = self.scopes.refs[id.index()];
        let group = self.scopes.funcs[func as usize].group;
        let definitions = std::mem::take(&mut self.scopes.groups[group as usize].methods);
        if definitions.is_empty() {
            return self.read(var, self.loc(id));
        }
        let (closure, _) = self.fresh_name(self.text(symbol));
        let mut methods = Vec::new();
        for &(func, id) in &definitions {
            let Kind::Function { params, wheres, returns, body, inline, .. } = self.ast.kind(id)
            else {
                continue;
            };
            let Some(body) = body else { continue };
            let written = Written { params, wheres, returns, body, inline, id };
            methods.extend(self.closure_methods(func, group, closure, written));
        }
        let loc = self.loc(id);
        let def = ClosureDef { name: closure, shown: symbol, captures: Vec::new(), methods };
        let value = self.make(def, group, &[], loc);
        self.write(var, value, loc);
        value
    }

    /// Makes a closure over the captures of a group, and over values with names of their own.
    pub(super) fn make(
        &mut self,
        mut def: ClosureDef,
        group: u32,
        further: &[(Symbol, Val)],
        loc: Loc,
    ) -> Val {
        let captures = self.captures(group);
        def.captures = captures.iter().map(|capture| capture.name).collect();
        let mut operands = Vals::new();
        operands.push(self.func(def.name));
        for Capture { var, is_cell, .. } in captures {
            operands.push(if is_cell { self.cell(var) } else { self.raw(var, loc) });
        }
        for &(name, value) in further {
            def.captures.push(name);
            operands.push(value);
        }
        self.code.closures.push(def);
        self.code.body.push(core::CLOSURE, &operands, loc)
    }

    /// Returns what a group captures of variables around it, with names after these, and told apart.
    fn captures(&self, group: u32) -> Vec<Capture> {
        let mut captures: Vec<Capture> = Vec::new();
        for &var in &self.scopes.groups[group as usize].captures {
            let data = &self.scopes.vars[var as usize];
            for is_cell in [false, true].into_iter().filter(|&is_cell| !is_cell || data.has_cell) {
                let mut free = data.name;
                let mut count = 1;
                while captures.iter().any(|other| other.name == free) {
                    count += 1;
                    free = self.ctx.symbol(&format!("{}#{count}", self.text(data.name)));
                }
                captures.push(Capture { var, is_cell, name: free });
            }
        }
        captures
    }

    /// Reads what a closure has captured, where its code begins.
    pub(super) fn open_closure(&mut self, group: u32, closure: Val, loc: Loc) {
        for Capture { var, is_cell, name } in self.captures(group) {
            let name = self.sym(name);
            let value = self.syntax(self.names.getfield, &[closure, name], loc);
            let slot = if is_cell { self.cell_slot(var) } else { self.slot(var) };
            if !is_cell {
                self.code.body.name(value, self.scopes.vars[var as usize].name);
            }
            self.code.body.set(slot, value);
        }
        let data = &self.scopes.groups[group as usize];
        if data.var != NONE && data.knows_itself {
            let var = data.var;
            let slot = self.slot(var);
            self.code.body.set(slot, closure);
        }
    }

    /// Returns whether one of the statements is there for its definitions.
    pub(super) fn defines(&self, list: List) -> bool {
        self.ast.list(list).iter().any(|&id| self.is_definition(id))
    }

    /// Returns whether a statement at top level declares something that is not just run.
    pub(super) fn is_definition(&self, id: ExprId) -> bool {
        match self.ast.kind(id) {
            Kind::Function { .. } | Kind::Struct { .. } => true,
            Kind::Abstract { .. } | Kind::Const(_) | Kind::Module { .. } => true,
            Kind::Using { .. } | Kind::Export(_) => true,
            Kind::Block(list) => self.defines(list),
            Kind::If { then, otherwise, .. } => {
                self.is_definition(then) || otherwise.is_some_and(|id| self.is_definition(id))
            }
            _ => false,
        }
    }
}
