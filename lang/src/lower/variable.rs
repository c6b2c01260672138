//! Reading and writing variables: slots, boxes, cells, globals.

use regraft_dialects::core;
use regraft_ir::{Constant, Loc, Symbol};
use regraft_syntax::julia::{ExprId, Kind};

use super::Lower;
use super::expr::Vals;
use super::names::is_numbered;
use super::scope::{NONE, VarKind};
use super::ssa::{Slot, Special, Val, ValKind};
use crate::definition::{Space, is_library};

impl Lower<'_> {
    /// The slot of a variable in the function at hand.
    #[inline]
    pub(super) fn slot(&mut self, var: u32) -> Slot {
        match self.code.slots[var as usize] {
            Some(slot) => slot,
            None => {
                let name = self.scopes.vars[var as usize].name;
                let slot = self.code.body.new_slot((!self.is_numbered(name)).then_some(name));
                self.code.slots[var as usize] = Some(slot);
                slot
            }
        }
    }

    /// The slot of a variable's cell in the function at hand.
    pub(super) fn cell_slot(&mut self, var: u32) -> Slot {
        let body = &mut self.code.body;
        *self.code.cells.entry(var).or_insert_with(|| body.new_slot(None))
    }

    /// The cell of a variable: a box, or nothing if all that capture it are done with its value before it has another one.
    pub(super) fn cell(&mut self, var: u32) -> Val {
        let slot = self.cell_slot(var);
        self.code.body.read(slot)
    }

    /// Makes the cell of a variable that begins, with the value that it has, if any.
    fn new_cell(&mut self, var: u32, value: Val, loc: Loc) {
        let names = self.scopes.vars[var as usize].eager.clone();
        let names: Vals = names.into_iter().map(|name| self.sym(name)).collect();
        let cell = self.call(self.names.cell_new, &names, loc);
        let slot = self.cell_slot(var);
        self.code.body.set(slot, cell);
        if value != Val::UNDEF {
            self.set_cell(var, value, loc);
        }
    }

    /// Lets the cell of a variable know its value.
    pub(super) fn set_cell(&mut self, var: u32, value: Val, loc: Loc) {
        if self.scopes.vars[var as usize].has_cell {
            let cell = self.cell(var);
            self.call(self.names.cell_set, &[cell, value], loc);
        }
    }

    /// Returns the content of a variable's slot: its value, or its box.
    pub(super) fn raw(&mut self, var: u32, loc: Loc) -> Val {
        let data = &self.scopes.vars[var as usize];
        if data.kind == VarKind::Static && data.func == self.code.func {
            let name = data.name;
            let name = self.sym(name);
            return self.code.body.push(core::STATIC, &[name], loc);
        }
        let slot = self.slot(var);
        self.code.body.read(slot)
    }

    /// The value of a variable.
    pub(super) fn read(&mut self, var: u32, loc: Loc) -> Val {
        let value = self.raw(var, loc);
        let data = &self.scopes.vars[var as usize];
        let (name, kind) = (data.name, data.kind);
        if data.boxed {
            let name = self.sym(name);
            return self.call(self.names.box_get, &[value, name], loc);
        }
        if data.has_cell && data.func != self.code.func {
            let cell = self.cell(var);
            return self.call(self.names.cell_get, &[cell, value], loc);
        }
        if kind == VarKind::Local && matches!(value.kind(), ValKind::Phi(_) | ValKind::Undef) {
            let name = self.sym(name);
            let body = &mut self.code.body;
            let start = body.operands.len();
            body.operands.extend_from_slice(&[value, name]);
            body.push_from(core::CALL, Special::Check, start, loc);
        }
        value
    }

    /// Gives a variable a value, converted to its declared type.
    pub(super) fn write(&mut self, var: u32, value: Val, loc: Loc) {
        let data = &self.scopes.vars[var as usize];
        let (name, boxed) = (data.name, data.boxed);
        let value = match data.ty {
            Some(ty) => self.convert(ty, value, loc),
            None => value,
        };
        if boxed {
            let cell = self.raw(var, loc);
            self.call(self.names.box_set, &[cell, value], loc);
            return;
        }
        let slot = self.slot(var);
        if !self.is_numbered(name) {
            self.code.body.name(value, name);
        }
        self.code.body.write(slot, value);
        self.set_cell(var, value, loc);
    }

    fn is_numbered(&self, name: Symbol) -> bool {
        is_numbered(self.text(name))
    }

    /// `convert(ty, value)`
    pub(super) fn convert(&mut self, ty: ExprId, value: Val, loc: Loc) -> Val {
        let ty = self.expr(ty);
        self.syntax(self.names.convert, &[ty, value], loc)
    }

    /// The value of a name.
    pub(super) fn name(&mut self, id: ExprId, name: Symbol) -> Val {
        match self.scopes.refs[id.index()] {
            NONE => self.global(name, self.loc(id)),
            var => self.read(var, self.loc(id)),
        }
    }

    /// The value of a global name.
    pub(super) fn global(&mut self, name: Symbol, loc: Loc) -> Val {
        if name == self.names.nothing {
            return self.unit();
        }
        if name == self.names.generated {
            return self.constant(Constant::Bool(false));
        }
        let name = self.sym(name);
        self.code.body.push(core::GLOBAL, &[name], loc)
    }

    /// Assigns to a name.
    pub(super) fn write_name(&mut self, id: ExprId, name: Symbol, value: Val) {
        let loc = self.loc(id);
        match self.scopes.refs[id.index()] {
            NONE => {
                let name = self.sym(name);
                self.code.body.push(core::SET_GLOBAL, &[name, value], loc);
            }
            var => self.write(var, value, loc),
        }
    }

    /// Begins a scope: its variables have no values yet, and their boxes and cells are new.
    pub(super) fn enter_scope(&mut self, scope: u32, loc: Loc) {
        if scope == NONE {
            return;
        }
        let mut var = self.scopes.scopes[scope as usize].first_var;
        while var != NONE {
            let data = &self.scopes.vars[var as usize];
            let (boxed, kind, next) = (data.boxed, data.kind, data.next);
            match kind {
                VarKind::Local if boxed => {
                    let cell = self.call(self.names.box_new, &[], loc);
                    let slot = self.slot(var);
                    self.code.body.set(slot, cell);
                }
                VarKind::Param if boxed => {
                    let slot = self.slot(var);
                    let value = self.code.body.read(slot);
                    let cell = self.call(self.names.box_new, &[value], loc);
                    self.code.body.set(slot, cell);
                }
                VarKind::Local => {
                    let slot = self.slot(var);
                    self.code.body.set(slot, Val::UNDEF);
                }
                _ => {}
            }
            if self.scopes.vars[var as usize].has_cell {
                let slot = self.slot(var);
                let value = self.code.body.read(slot);
                self.new_cell(var, value, loc);
            }
            var = next;
        }
    }

    /// The path that an expression of names and dots is: `A.B`.
    pub(super) fn module_path(&self, id: ExprId) -> Option<String> {
        match self.ast.kind(id) {
            Kind::Name(name) => Some(self.text(name).to_owned()),
            Kind::Field { base, name } => {
                Some(format!("{}.{}", self.module_path(base)?, self.text(name)))
            }
            _ => None,
        }
    }

    /// Returns the global name that a member of a module has here, if an expression names one that is
    /// there from the beginning: `Main`, `Base`, `LinearAlgebra`, `Base.Iterators`.
    pub(super) fn module_member(&self, base: ExprId, member: Symbol) -> Option<Symbol> {
        let is_main = match self.ast.kind(base) {
            Kind::Name(name) => self.text(name) == "Main" && self.is_global(base),
            _ => false,
        };
        if !is_main && !self.is_library(base) {
            return None;
        }
        match self.options.space {
            Space::Base => Some(member),
            Space::Main if is_main => Some(member),
            _ => {
                let module = self.module_path(base)?;
                Some(self.ctx.symbol(&format!("{module}.{}", self.text(member))))
            }
        }
    }

    /// Returns whether an expression has the name of a module of the library. A module of the program
    /// may have it as well.
    fn is_library(&self, id: ExprId) -> bool {
        match self.ast.kind(id) {
            Kind::Name(name) => is_library(self.text(name)) && self.is_global(id),
            Kind::Field { base, name } => is_library(self.text(name)) && self.is_library(base),
            _ => false,
        }
    }

    /// Returns whether a name is no local variable.
    fn is_global(&self, id: ExprId) -> bool {
        self.scopes.refs.get(id.index()).is_none_or(|&var| var == NONE)
    }
}
