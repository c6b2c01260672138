//! Declarations, imports, macro calls, strings, and the words of control flow.

use super::super::ast::{ExprId, Kind};
use super::calls::Items;
use super::{Form, Printer, names};

impl<'a> Printer<'a> {
    /// Writes a form that is a statement of one line, a macro call or a string.
    pub(super) fn statement_form(&mut self, form: Form<'a>, indent: usize, prec: i8) -> bool {
        match (form.head, form.args) {
            ("break" | "continue", []) => self.out.push_str(form.head),
            ("return", &[value]) if self.ast.kind(value) == Kind::Nothing => {
                self.out.push_str("return");
            }
            ("return" | "const", args @ [_]) | ("local" | "global", args) => {
                self.out.push_str(form.head);
                self.out.push(' ');
                self.list(args, ", ", indent, 0, Items::Plain);
            }
            ("export", names) => {
                self.out.push_str("export");
                for (at, &name) in names.iter().enumerate() {
                    self.out.push_str(if at > 0 { ", " } else { " " });
                    self.macro_name(name);
                }
            }
            ("import" | "using", clauses) => return self.import(form.head, clauses),
            ("macrocall", &[name, line, ref args @ ..]) => {
                self.macro_call(name, line, args, indent, prec);
            }
            ("string", parts) => self.string(parts),
            _ => return false,
        }
        true
    }

    /// Writes a string with code in it.
    fn string(&mut self, parts: &[ExprId]) {
        self.out.push('"');
        for &part in parts {
            if let Kind::Str(text) = self.ast.kind(part) {
                names::write_escaped(&mut self.out, self.ctx.str(text));
            } else {
                self.out.push_str("$(");
                self.expr(part, 0, 0);
                self.out.push(')');
            }
        }
        self.out.push('"');
    }

    /// Writes the name of a macro, or another name where it may stand.
    fn macro_name(&mut self, id: ExprId) {
        let path = self.args_of(id, ".");
        match (self.name_of(id), path) {
            (Some(name), _) => names::write_macro_name(&mut self.out, name),
            (None, Some(&[module, name])) if self.is_quoted(name) => {
                let is_path = self.name_of(module).is_some()
                    || self.args_of(module, ".").is_some()
                    || matches!(self.ast.kind(module), Kind::GlobalRef { .. });
                self.bracketed(module, !is_path, 0, 0);
                self.out.push('.');
                self.quoted_macro_name(name);
            }
            _ => self.expr(id, 0, 0),
        }
    }

    fn quoted_macro_name(&mut self, id: ExprId) {
        let inner = match self.ast.kind(id) {
            Kind::Sym(name) => {
                return names::write_macro_name(&mut self.out, self.ctx.str(name));
            }
            Kind::Quote(inner) => Some(inner),
            _ => self.form_of(id).and_then(|form| form.args.first().copied()),
        };
        if let Some(inner) = inner {
            match self.name_of(inner) {
                Some(name) => names::write_macro_name(&mut self.out, name),
                None => self.expr(inner, 0, 0),
            }
        }
    }

    /// Writes `@m x y` as a statement, `@m(x, y)` elsewhere, `raw"text"`.
    fn macro_call(&mut self, name: ExprId, line: ExprId, args: &[ExprId], indent: usize, prec: i8) {
        if self.string_macro(name, args) {
            return;
        }
        if matches!(self.ast.kind(line), Kind::Line { .. }) {
            self.expr(line, indent, 0);
            self.out.push(' ');
        }
        self.macro_name(name);
        if prec >= 0 {
            self.arguments(args, "()", indent, Items::Plain);
        } else if !args.is_empty() {
            self.out.push(' ');
            self.list(args, " ", indent, 0, Items::Plain);
        }
    }

    /// Writes `name"text"`; returns whether it is such a macro.
    fn string_macro(&mut self, name: ExprId, args: &[ExprId]) -> bool {
        let name = self.name_of(name).and_then(|name| name.strip_prefix('@'));
        let Some(prefix) = name.and_then(|name| name.strip_suffix("_str")) else { return false };
        let (&[text] | &[text, _]) = args else { return false };
        let Kind::Str(text) = self.ast.kind(text) else { return false };
        self.out.push_str(prefix);
        self.out.push('"');
        names::write_raw(&mut self.out, self.ctx.str(text));
        self.out.push('"');
        if let Some(&flags) = args.get(1) {
            match self.ast.kind(flags) {
                Kind::Str(flags) => self.out.push_str(self.ctx.str(flags)),
                _ => self.expr(flags, 0, 0),
            }
        }
        true
    }

    /// Writes an `import` or `using`; returns whether it is well-formed.
    fn import(&mut self, head: &str, clauses: &[ExprId]) -> bool {
        let is_valid = match *clauses {
            [clause] => match self.args_of(clause, ":") {
                Some(args) => args.len() > 1 && args.iter().all(|&id| self.is_path(id)),
                None => self.is_path(clause),
            },
            _ => clauses.iter().all(|&id| self.is_path(id)),
        };
        if is_valid {
            self.out.push_str(head);
            self.out.push(' ');
            self.paths(clauses);
        }
        is_valid
    }

    /// Returns whether it is `A.B` of an import, maybe with another name.
    fn is_path(&self, id: ExprId) -> bool {
        match self.form_of(id) {
            Some(Form { head: "as", args: &[path, name] }) => {
                self.name_of(name).is_some()
                    && self.args_of(path, "as").is_none()
                    && (self.is_path(path) || self.name_of(path).is_some())
            }
            Some(Form { head: ".", args }) => {
                !args.is_empty() && args.iter().all(|&id| self.name_of(id).is_some())
            }
            _ => false,
        }
    }

    fn paths(&mut self, clauses: &[ExprId]) {
        for (at, &clause) in clauses.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.path(clause);
        }
    }

    fn path(&mut self, id: ExprId) {
        match self.form_of(id) {
            Some(Form { head: ":", args: [module, names @ ..] }) => {
                self.path(*module);
                self.out.push_str(": ");
                self.paths(names);
            }
            Some(Form { head: "as", args: &[path, name] }) => {
                self.path(path);
                self.out.push_str(" as ");
                self.macro_name(name);
            }
            Some(Form { head: ".", args }) => self.dotted(args),
            _ => self.macro_name(id),
        }
    }

    /// Writes `..A.B`: dots in front are names themselves.
    fn dotted(&mut self, parts: &[ExprId]) {
        let mut needs_dot = false;
        for &part in parts {
            let name = self.name_of(part).unwrap_or_default();
            if needs_dot {
                self.out.push('.');
            }
            needs_dot = !name.chars().all(|c| c == '.');
            match needs_dot {
                true => names::write_macro_name(&mut self.out, name),
                false => self.out.push_str(name),
            }
        }
    }
}
