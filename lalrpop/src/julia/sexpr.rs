//! A tree as one line of text, for tests and for looking at it.

use std::fmt::Write as _;

use regraft_ir::Context;

use super::ast::{Ast, ExprId, Kind, List};

impl Ast {
    /// The statements as S-expressions, one on a line: `(call + x 1)`.
    pub fn to_sexpr(&self, ctx: &Context) -> String {
        let mut printer = Printer { ast: self, ctx, out: String::new() };
        for (at, &id) in self.statements().iter().enumerate() {
            if at > 0 {
                printer.out.push('\n');
            }
            printer.expr(id);
        }
        printer.out
    }

    /// One expression in the same form.
    pub fn sexpr_of(&self, ctx: &Context, id: ExprId) -> String {
        let mut printer = Printer { ast: self, ctx, out: String::new() };
        printer.expr(id);
        printer.out
    }
}

struct Printer<'a> {
    ast: &'a Ast,
    ctx: &'a Context,
    out: String,
}

impl Printer<'_> {
    fn form(&mut self, head: &str, ids: &[ExprId]) {
        self.out.push('(');
        self.out.push_str(head);
        for &id in ids {
            self.out.push(' ');
            self.expr(id);
        }
        self.out.push(')');
    }

    fn with_list(&mut self, head: &str, first: Option<ExprId>, list: List) {
        let ids: Vec<ExprId> =
            first.into_iter().chain(self.ast.list(list).iter().copied()).collect();
        self.form(head, &ids);
    }

    fn list(&mut self, list: List) {
        self.out.push('(');
        for (at, &id) in self.ast.list(list).iter().enumerate() {
            if at > 0 {
                self.out.push(' ');
            }
            self.expr(id);
        }
        self.out.push(')');
    }

    fn name(&mut self, symbol: regraft_ir::Symbol) {
        self.out.push_str(self.ctx.str(symbol));
    }

    fn expr(&mut self, id: ExprId) {
        match self.ast.kind(id) {
            Kind::Int(value) => {
                let _ = write!(self.out, "{value}");
            }
            Kind::Float(value) => {
                let _ = write!(self.out, "{value:?}");
            }
            Kind::Float32(value) => {
                let _ = write!(self.out, "{value:?}f0");
            }
            Kind::Bits(bits, value) => self.out += &bits.text(value),
            Kind::Bool(value) => {
                let _ = write!(self.out, "{value}");
            }
            Kind::Str(text) => {
                let _ = write!(self.out, "{:?}", self.ctx.str(text));
            }
            Kind::Sym(name) => {
                self.out.push(':');
                self.name(name);
            }
            Kind::Name(name) => self.name(name),
            Kind::End => self.out.push_str("END"),
            Kind::First => self.out.push_str("BEGIN"),
            Kind::Colon => self.out.push_str("COLON"),
            Kind::Call { callee, args } => self.with_list("call", Some(callee), args),
            Kind::Dot { callee, args } => self.with_list("dot", Some(callee), args),
            Kind::Compare { parts } => self.with_list("compare", None, parts),
            Kind::And(a, b) => self.form("and", &[a, b]),
            Kind::Or(a, b) => self.form("or", &[a, b]),
            Kind::Index { base, indices } => self.with_list("index", Some(base), indices),
            Kind::Field { base, name } => {
                self.out.push_str("(. ");
                self.expr(base);
                self.out.push(' ');
                self.name(name);
                self.out.push(')');
            }
            Kind::Curly { base, params } => self.with_list("curly", Some(base), params),
            Kind::Where { body, params } => self.with_list("where", Some(body), params),
            Kind::Splat(inner) => self.form("...", &[inner]),
            Kind::Typed { value: Some(value), ty } => self.form("::", &[value, ty]),
            Kind::Typed { value: None, ty } => self.form("::", &[ty]),
            Kind::Tuple(items) => self.with_list("tuple", None, items),
            Kind::NamedTuple(items) => self.with_list("named", None, items),
            Kind::Keywords(items) => self.with_list("keywords", None, items),
            Kind::Vector(items) => self.with_list("vect", None, items),
            Kind::Matrix(rows) => self.with_list("matrix", None, rows),
            Kind::Row(items) => self.with_list("row", None, items),
            Kind::Comprehension { ty, body, clauses, nested } => {
                self.out.push_str(if nested { "(flat-comprehension" } else { "(comprehension" });
                if let Some(ty) = ty {
                    self.out.push_str(" :: ");
                    self.expr(ty);
                }
                self.out.push(' ');
                self.expr(body);
                self.out.push(' ');
                self.list(clauses);
                self.out.push(')');
            }
            Kind::Generator { body, clauses, nested } => {
                self.out.push_str(if nested { "(flat-generator " } else { "(generator " });
                self.expr(body);
                self.out.push(' ');
                self.list(clauses);
                self.out.push(')');
            }
            Kind::In { target, iterable } => self.form("in", &[target, iterable]),
            Kind::Filter(condition) => self.form("filter", &[condition]),
            Kind::Lambda { params, wheres, returns, body } => {
                self.out.push_str("(-> ");
                self.signature(params, wheres, returns);
                self.expr(body);
                self.out.push(')');
            }
            Kind::Function { name, params, wheres, returns, body, inline } => {
                self.out.push_str("(function ");
                match inline {
                    Some(true) => self.out.push_str("inline "),
                    Some(false) => self.out.push_str("noinline "),
                    None => {}
                }
                self.expr(name);
                self.out.push(' ');
                self.signature(params, wheres, returns);
                match body {
                    Some(body) => self.expr(body),
                    None => self.out.push_str("NONE"),
                }
                self.out.push(')');
            }
            Kind::Generated { function, generator } => {
                self.form("generated", &[function, generator]);
            }
            Kind::Assign { target, value } => self.form("=", &[target, value]),
            Kind::Update { op, target, value } => {
                let head = format!("{}=", self.ctx.str(op));
                self.form(&head, &[target, value]);
            }
            Kind::DotAssign { target, value } => self.form(".=", &[target, value]),
            Kind::DotUpdate { op, target, value } => {
                let head = format!(".{}=", self.ctx.str(op));
                self.form(&head, &[target, value]);
            }
            Kind::If { condition, then, otherwise } => {
                let ids: Vec<ExprId> = [condition, then].into_iter().chain(otherwise).collect();
                self.form("if", &ids);
            }
            Kind::While { condition, body } => self.form("while", &[condition, body]),
            Kind::Try { body, error, handler, otherwise } => {
                self.out.push_str("(try ");
                self.expr(body);
                let ids: Vec<ExprId> = error.into_iter().chain([handler]).collect();
                self.out.push(' ');
                self.form("catch", &ids);
                if let Some(otherwise) = otherwise {
                    self.out.push(' ');
                    self.form("else", &[otherwise]);
                }
                self.out.push(')');
            }
            Kind::Finally { body, last } => self.form("finally", &[body, last]),
            Kind::For { clauses, body } => {
                self.out.push_str("(for ");
                self.list(clauses);
                self.out.push(' ');
                self.expr(body);
                self.out.push(')');
            }
            Kind::Break => self.out.push_str("(break)"),
            Kind::Continue => self.out.push_str("(continue)"),
            Kind::Return(value) => self.form("return", value.as_slice()),
            Kind::Goto(name) => {
                self.out.push_str("(goto ");
                self.name(name);
                self.out.push(')');
            }
            Kind::Label(name) => {
                self.out.push_str("(label ");
                self.name(name);
                self.out.push(')');
            }
            Kind::Block(items) => self.with_list("block", None, items),
            Kind::Let { bindings, body } => {
                self.out.push_str("(let ");
                self.list(bindings);
                self.out.push(' ');
                self.expr(body);
                self.out.push(')');
            }
            Kind::Local(items) => self.with_list("local", None, items),
            Kind::Global(items) => self.with_list("global", None, items),
            Kind::Const(inner) => self.form("const", &[inner]),
            Kind::Quote(form) => self.form("quote", &[form]),
            Kind::Form { head, args } => {
                let ids = self.ast.list(args).to_vec();
                let head = format!("Expr {}", self.ctx.str(head));
                self.form(&head, &ids);
            }
            Kind::Interpolate(value) => self.form("$", &[value]),
            Kind::Line { .. } => self.out.push_str("LINE"),
            Kind::Nothing => self.out.push_str("NOTHING"),
            Kind::Value(number) => {
                let _ = write!(self.out, "VALUE{number}");
            }
            Kind::GlobalRef { module, name } => {
                self.name(module);
                self.out.push('.');
                self.name(name);
            }
            Kind::MacroCall { name, args } => self.with_list("macrocall", Some(name), args),
            Kind::Inbounds(inner) => self.form("inbounds", &[inner]),
            Kind::Simd(inner) => self.form("simd", &[inner]),
            Kind::View(inner) => self.form("view", &[inner]),
            Kind::Assert { condition, message } => {
                let ids: Vec<ExprId> = [condition].into_iter().chain(message).collect();
                self.form("assert", &ids);
            }
            Kind::Struct { name, params, supertype, mutable, fields } => {
                self.out.push_str(if mutable { "(mutable " } else { "(struct " });
                self.type_head(name, params, supertype);
                for at in 0..fields.len() {
                    self.out.push(' ');
                    self.expr(self.ast.list(fields)[at]);
                }
                self.out.push(')');
            }
            Kind::Abstract { name, params, supertype } => {
                self.out.push_str("(abstract ");
                self.type_head(name, params, supertype);
                self.out.push(')');
            }
            Kind::Module { name, bare, body } => {
                self.out.push_str(if bare { "(baremodule " } else { "(module " });
                self.name(name);
                for at in 0..body.len() {
                    self.out.push(' ');
                    self.expr(self.ast.list(body)[at]);
                }
                self.out.push(')');
            }
            Kind::Using { import, clauses } => {
                self.with_list(if import { "import" } else { "using" }, None, clauses);
            }
            Kind::Clause { path, alias, names } => {
                self.with_list(".", None, path);
                if let Some(alias) = alias {
                    self.out.push_str(" as ");
                    self.name(alias);
                }
                if let Some(names) = names {
                    self.out.push_str(" : ");
                    self.list(names);
                }
            }
            Kind::Export(names) => self.with_list("export", None, names),
            Kind::Error => self.out.push_str("ERROR"),
        }
    }

    fn signature(&mut self, params: List, wheres: List, returns: Option<ExprId>) {
        self.list(params);
        self.out.push(' ');
        if let Some(returns) = returns {
            self.form("::", &[returns]);
            self.out.push(' ');
        }
        if !wheres.is_empty() {
            self.with_list("where", None, wheres);
            self.out.push(' ');
        }
    }

    fn type_head(&mut self, name: regraft_ir::Symbol, params: List, supertype: Option<ExprId>) {
        self.name(name);
        if !params.is_empty() {
            self.out.push(' ');
            self.with_list("curly", None, params);
        }
        if let Some(supertype) = supertype {
            self.out.push(' ');
            self.form("<:", &[supertype]);
        }
    }
}
