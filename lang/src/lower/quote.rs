//! Code as data: calls of the prelude that make it, with the values that are put in.

use regraft_ir::{Constant, Loc, Symbol};
use regraft_syntax::julia::{ExprId, Kind, List};

use super::Lower;
use super::expr::Vals;
use super::scope::Walk;
use super::ssa::Val;
use crate::definition::Space;

impl Lower<'_> {
    /// The code that is quoted, as a value. It is made anew each time, as it may be changed.
    pub(super) fn quoted(&mut self, id: ExprId) -> Val {
        let loc = self.loc(id);
        match self.ast.kind(id) {
            Kind::Form { head, args } => {
                let head = self.sym(head);
                let args = self.quoted_list(args, loc);
                self.call(self.names.expr, &[head, args], loc)
            }
            Kind::Interpolate(value) => self.expr(value),
            Kind::Name(name) => self.sym(name),
            Kind::Sym(name) => {
                let name = self.sym(name);
                self.call(self.names.quote_node, &[name], loc)
            }
            Kind::Quote(inner) => {
                let inner = self.quoted(inner);
                self.call(self.names.quote_node, &[inner], loc)
            }
            Kind::Line { file, line } => {
                let line = self.constant(Constant::I64(line.into()));
                let file = match file {
                    Some(file) => self.sym(file),
                    None => self.unit(),
                };
                self.call(self.names.line_node, &[line, file], loc)
            }
            Kind::GlobalRef { module, name } => {
                let module = self.module_value(module, loc);
                let name = self.sym(name);
                self.call(self.names.global_ref, &[module, name], loc)
            }
            Kind::Nothing => self.unit(),
            _ => self.expr(id),
        }
    }

    /// The arguments of an expression, as a `Vector{Any}`.
    fn quoted_list(&mut self, args: List, loc: Loc) -> Val {
        let args = self.ast.list(args);
        let ast = self.ast;
        let splat = |id: ExprId| match ast.kind(id) {
            Kind::Interpolate(value) => match ast.kind(value) {
                Kind::Splat(all) => Some(all),
                _ => None,
            },
            _ => None,
        };
        let plain = args.iter().position(|&id| splat(id).is_some()).unwrap_or(args.len());
        let any = self.global(self.names.any_vector, loc);
        let mut front = Vals::from_slice(&[any]);
        front.extend(args[..plain].iter().map(|&id| self.quoted(id)));
        let list = self.call(self.names.new_array, &front, loc);
        for &id in &args[plain..] {
            let (function, value) = match splat(id) {
                Some(all) => (self.names.append_code, self.expr(all)),
                None => (self.names.push_code, self.quoted(id)),
            };
            self.call(function, &[list, value], loc);
        }
        list
    }

    /// The value of the module of that path.
    fn module_value(&mut self, path: Symbol, loc: Loc) -> Val {
        let name = match self.text(path) {
            "Base" => path,
            _ => self.absolute(path, self.names.this_module),
        };
        self.global(name, loc)
    }

    /// The name by which code finds a name of some module, whatever it has itself.
    pub(super) fn absolute(&self, module: Symbol, name: Symbol) -> Symbol {
        let (here, there) = (self.options.space, Space::at(self.ctx, module));
        if here == there {
            return name;
        }
        let path = match (here, there) {
            // A module of the program is known by its path there, and elsewhere from there on.
            (Space::Main, _) => self.text(module).to_owned(),
            _ => there.shown(self.ctx),
        };
        self.ctx.symbol(&format!("{path}.{}", self.text(name)))
    }
}

impl Walk<'_> {
    /// Walks over the values that are put into quoted code.
    pub(super) fn quoted(&mut self, id: ExprId) {
        match self.ast.kind(id) {
            Kind::Interpolate(value) => match self.ast.kind(value) {
                Kind::Splat(all) => self.walk(all),
                _ => self.walk(value),
            },
            Kind::Quote(inner) => self.quoted(inner),
            Kind::Form { args, .. } => {
                for &arg in self.ast.list(args) {
                    self.quoted(arg);
                }
            }
            _ => {}
        }
    }
}
