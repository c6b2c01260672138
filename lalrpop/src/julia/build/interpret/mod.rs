//! Code as data to the tree that is lowered: what a macro, a generator or `eval` was given to run.
//!
//! The inverse of [`forms`](super::forms). What is wrong with the code is found by the same checks as
//! in a text.

mod collections;
mod functions;
mod macros;
mod modules;

use std::sync::Arc;

use regraft_ir::{Context, Diagnostic, Symbol};

use super::Builder;
use crate::julia::Options;
use crate::julia::ast::{Ast, ExprId, Kind, List, Span};
use crate::julia::token::{Oper, Prefix};

impl Ast {
    /// Makes an expression that can be lowered of one that is data ([`Kind::Form`]). Macros in it
    /// have been expanded, but for those that are built in.
    ///
    /// O(size of the code).
    ///
    /// # Errors
    /// All that is wrong with the code.
    pub fn interpret(
        &mut self,
        ctx: &Arc<Context>,
        form: ExprId,
    ) -> Result<ExprId, Vec<Diagnostic>> {
        let source = self.source.clone();
        let mut builder = Builder::new(ctx, &source, &source.text, 0, Options::default());
        builder.ast = std::mem::replace(self, Self::empty(source.clone()));
        builder.first = builder.ast.len();
        builder.interpreting = true;
        let made = builder.interpret(form);
        let statements = builder.ast.statements;
        let (ast, problems) = builder.finish();
        *self = ast;
        self.statements = statements;
        let (errors, _) = problems.finish(&source);
        if errors.is_empty() { Ok(made) } else { Err(errors) }
    }
}

/// The macros that are built in: they need no definition.
pub(crate) const BUILT_IN: [&str; 16] = [
    "@.",
    "@__MODULE__",
    "@assert",
    "@generated",
    "@goto",
    "@inbounds",
    "@inferred",
    "@inline",
    "@label",
    "@noinline",
    "@non_differentiable",
    "@nospecialize",
    "@not_implemented",
    "@show",
    "@simd",
    "@view",
];

impl Builder<'_> {
    /// The expression that a form stands for.
    pub(super) fn interpret(&mut self, id: ExprId) -> ExprId {
        let span = self.span(id);
        match self.kind(id) {
            Kind::Name(name) => {
                let kind = match self.ctx.str(name) {
                    ":" => Kind::Colon,
                    "end" if self.indexed => Kind::End,
                    "begin" if self.indexed => Kind::First,
                    _ => Kind::Name(self.normal(name)),
                };
                self.leaf(kind, span)
            }
            Kind::Form { head, args } => {
                let head = self.ctx.str(head).to_owned();
                let args = self.ast.list(args).to_vec();
                stacker::maybe_grow(64 << 10, 1 << 20, || self.interpret_form(id, &head, &args))
            }
            Kind::Line { .. } => self.leaf(Kind::Nothing, span),
            kind => self.leaf(kind, span),
        }
    }

    /// Operators have one name, however they are written.
    pub(super) fn normal(&mut self, name: Symbol) -> Symbol {
        match Oper::named(self.ctx.str(name)) {
            Oper::Other => name,
            oper => self.oper_symbol(oper),
        }
    }

    pub(super) fn each(&mut self, ids: &[ExprId]) -> Vec<ExprId> {
        ids.iter().map(|&id| self.interpret(id)).collect()
    }

    /// A node of the expressions that forms stand for.
    pub(super) fn node_of(
        &mut self,
        ids: &[ExprId],
        span: Span,
        kind: impl FnOnce(List) -> Kind,
    ) -> ExprId {
        let made = self.each(ids);
        let (list, depth) = self.list_of(&made);
        self.node(kind(list), span, depth)
    }

    pub(super) fn call_named(&mut self, name: &'static str, args: &[ExprId], span: Span) -> ExprId {
        let callee = self.named(name, span);
        let (args, depth) = self.list_of(args);
        self.node(Kind::Call { callee, args }, span, depth)
    }

    pub(super) fn malformed(&mut self, id: ExprId, head: &str) -> ExprId {
        let message = format!("an expression with the head `{head}` has other arguments");
        self.wrong(self.span(id), message)
    }

    pub(super) fn interpret_form(&mut self, id: ExprId, head: &str, args: &[ExprId]) -> ExprId {
        let span = self.span(id);
        match (head, args) {
            ("call", &[callee, ref rest @ ..]) => self.interpret_call(callee, rest, span),
            (".", &[base, name]) => self.interpret_dot(base, name, span),
            ("'", &[x]) => {
                let x = self.interpret(x);
                self.call_named("'", &[x], span)
            }
            ("<:" | ">:", args) => {
                let args = self.each(args);
                let callee = self.operator(Oper::named(head), span);
                let (args, depth) = self.list_of(&args);
                self.node(Kind::Call { callee, args }, span, depth)
            }
            ("&&", &[a, b]) => {
                let (a, b) = (self.interpret(a), self.interpret(b));
                self.node(Kind::And(a, b), span, self.depth(a).max(self.depth(b)))
            }
            ("||", &[a, b]) => {
                let (a, b) = (self.interpret(a), self.interpret(b));
                self.node(Kind::Or(a, b), span, self.depth(a).max(self.depth(b)))
            }
            ("comparison", &[a, op, b]) => self.interpret_call(op, &[a, b], span),
            ("comparison", parts) => self.node_of(parts, span, |parts| Kind::Compare { parts }),
            ("ref", &[base, ref indices @ ..]) => {
                let base = self.interpret(base);
                let outer = std::mem::replace(&mut self.indexed, true);
                let indices = self.each(indices);
                self.indexed = outer;
                let (indices, depth) = self.list_of(&indices);
                let depth = depth.max(self.depth(base));
                self.node(Kind::Index { base, indices }, span, depth)
            }
            ("curly", &[base, ref params @ ..]) => {
                let base = self.interpret(base);
                let depth = self.depth(base);
                let params = self.each(params);
                let (params, inner) = self.list_of(&params);
                self.node(Kind::Curly { base, params }, span, depth.max(inner))
            }
            ("where", &[body, ref params @ ..]) => {
                let body = self.interpret(body);
                let params = self.each(params);
                let (params, depth) = self.list_of(&params);
                self.node(Kind::Where { body, params }, span, depth.max(self.depth(body)))
            }
            ("...", &[x]) => {
                let x = self.interpret(x);
                self.node(Kind::Splat(x), span, self.depth(x))
            }
            ("::", &[ty]) => {
                let ty = self.interpret(ty);
                self.node(Kind::Typed { value: None, ty }, span, self.depth(ty))
            }
            ("::", &[value, ty]) => {
                let (value, ty) = (self.interpret(value), self.interpret(ty));
                let depth = self.depth(value).max(self.depth(ty));
                self.node(Kind::Typed { value: Some(value), ty }, span, depth)
            }
            ("tuple", args) => self.interpret_tuple(args, span),
            ("parameters", args) => {
                let args = self.interpret_named(args);
                let (list, depth) = self.list_of(&args);
                self.node(Kind::Keywords(list), span, depth)
            }
            ("string", parts) => {
                let parts = self.each(parts);
                self.call_named("#interpolated", &parts, span)
            }
            ("ncat" | "nrow", args @ [_, _, ..]) => self.interpret_dimensions(args, span),
            ("typed_ncat", &[ty, ref args @ ..]) if args.len() > 1 => {
                let (ty, made) = (self.interpret(ty), self.interpret_dimensions(args, span));
                self.call_named("#typed_matrix", &[ty, made], span)
            }
            ("vect" | "hcat" | "vcat" | "typed_hcat" | "typed_vcat" | "row", args) => {
                self.interpret_array(head, args, span)
            }
            ("comprehension" | "generator" | "flatten" | "typed_comprehension", _) => {
                self.interpret_generator(id, head, args)
            }
            ("=" | "kw", &[target, value]) => self.interpret_assign(target, value, span),
            (".=", &[target, value]) => {
                let (target, value) = (self.interpret(target), self.interpret(value));
                self.check_dot_target(target);
                let depth = self.depth(target).max(self.depth(value));
                self.node(Kind::DotAssign { target, value }, span, depth)
            }
            ("->", &[params, body]) => {
                let head = self.interpret_head(params, true);
                let body = self.interpret(body);
                self.interpret_function(head, body, span)
            }
            ("do", &[call, function]) => self.interpret_do(call, function, span),
            ("function", &[name]) => {
                let name = self.interpret(name);
                let (params, wheres) = (List::default(), List::default());
                let (returns, body, inline) = (None, None, None);
                let kind = Kind::Function { name, params, wheres, returns, body, inline };
                self.node(kind, span, self.depth(name))
            }
            ("function", &[head, body]) => {
                let head = self.interpret_head(head, false);
                let body = self.interpret(body);
                self.interpret_function(head, body, span)
            }
            ("macro", &[head, body]) => {
                let head = self.interpret_head(head, false);
                let body = self.interpret(body);
                let made = self.interpret_function(head, body, span);
                self.push(made);
                self.name_macro(span);
                self.pop()
            }
            ("struct", &[mutable, name, body]) => {
                let mutable = self.kind(mutable) == Kind::Bool(true);
                let name = self.interpret(name);
                let items = self.items();
                self.interpret_statements(body);
                self.structure(span, name, items, mutable, span);
                self.pop()
            }
            ("abstract", &[name]) => {
                let name = self.interpret(name);
                self.abstract_type(span, name, span);
                self.pop()
            }
            ("module", &[not_bare, name, body]) => {
                let bare = self.kind(not_bare) == Kind::Bool(false);
                let Kind::Name(name) = self.kind(name) else { return self.malformed(id, head) };
                let start = self.list.len() as u32;
                self.interpret_statements(body);
                let (body, depth) = self.take_list(start);
                self.node(Kind::Module { name, bare, body }, span, depth)
            }
            ("using" | "import", clauses) => self.interpret_using(head == "import", clauses, span),
            ("export", names) => {
                let (names, depth) = self.list_of(names);
                self.node(Kind::Export(names), span, depth)
            }
            ("macrocall", &[name, _, ref args @ ..]) => self.interpret_macro(name, args, span),
            ("quote", &[form]) => {
                let quoted = self.requoted(form, 1);
                self.quoted(quoted, span)
            }
            ("inert", &[form]) => self.quoted(form, span),
            ("copyast", &[form]) => self.interpret(form),
            ("generated", []) => {
                let symbol = self.ctx.symbol("@generated");
                self.leaf(Kind::Name(symbol), span)
            }
            ("$", _) => self.wrong(span, "`$` stands in quoted code and in strings only"),
            ("escape" | "hygienic-scope", &[inner, ..]) => self.interpret(inner),
            ("meta" | "line" | "inbounds" | "loopinfo", _) => self.leaf(Kind::Nothing, span),
            _ => match head.strip_suffix('=') {
                Some(op) if args.len() == 2 => self.interpret_update(op, args, span),
                _ => self.interpret_control(id, head, args),
            },
        }
    }

    pub(super) fn interpret_control(&mut self, id: ExprId, head: &str, args: &[ExprId]) -> ExprId {
        let span = self.span(id);
        match (head, args) {
            ("block" | "toplevel", _) => {
                let start = self.list.len() as u32;
                self.interpret_statements(id);
                let (list, depth) = self.take_list(start);
                self.node(Kind::Block(list), span, depth)
            }
            ("if" | "elseif", &[condition, then, ref rest @ ..]) if rest.len() < 2 => {
                let (condition, then) = (self.interpret(condition), self.interpret(then));
                let otherwise = rest.first().map(|&id| self.interpret(id));
                let depth = self.depth(condition).max(self.depth(then));
                let depth = depth.max(otherwise.map_or(0, |id| self.depth(id)));
                self.node(Kind::If { condition, then, otherwise }, span, depth)
            }
            ("while", &[condition, body]) => {
                let (condition, body) = (self.interpret(condition), self.interpret(body));
                let depth = self.depth(condition).max(self.depth(body));
                self.node(Kind::While { condition, body }, span, depth)
            }
            ("for", &[specs, body]) => {
                let specs = match self.form_args(specs, "block") {
                    Some(list) => self.ast.list(list).to_vec(),
                    None => vec![specs],
                };
                let specs = self.without_lines(specs);
                let specs: Vec<ExprId> =
                    specs.into_iter().map(|id| self.interpret_clause(id)).collect();
                let body = self.interpret(body);
                let (clauses, depth) = self.list_of(&specs);
                self.node(Kind::For { clauses, body }, span, depth.max(self.depth(body)))
            }
            ("break", &[]) => self.leaf(Kind::Break, span),
            ("continue", &[]) => self.leaf(Kind::Continue, span),
            ("return", &[]) => self.leaf(Kind::Return(None), span),
            ("return", &[value]) => {
                let value = self.interpret(value);
                self.node(Kind::Return(Some(value)), span, self.depth(value))
            }
            ("let", &[bindings, body]) => {
                let bindings = match self.form_args(bindings, "block") {
                    Some(list) => self.ast.list(list).to_vec(),
                    None => vec![bindings],
                };
                let bindings = self.without_lines(bindings);
                let bindings = self.each(&bindings);
                let body = self.interpret(body);
                let (bindings, depth) = self.list_of(&bindings);
                self.node(Kind::Let { bindings, body }, span, depth.max(self.depth(body)))
            }
            ("local" | "global", args) => {
                let args = self.each(args);
                args.iter().for_each(|&id| self.check_declared(id));
                let (list, depth) = self.list_of(&args);
                let kind = if head == "local" { Kind::Local(list) } else { Kind::Global(list) };
                self.node(kind, span, depth)
            }
            ("const", &[inner]) => {
                let inner = self.interpret(inner);
                self.apply_prefix(Prefix::Const, span, inner)
            }
            ("try", &[body, error, handler, ref rest @ ..]) if rest.len() < 3 => {
                self.interpret_try(body, (error, handler), rest, span)
            }
            ("symbolicgoto" | "symboliclabel", &[name]) => match self.kind(name) {
                Kind::Name(name) if head == "symbolicgoto" => self.leaf(Kind::Goto(name), span),
                Kind::Name(name) => self.leaf(Kind::Label(name), span),
                _ => self.malformed(id, head),
            },
            ("new", args @ [_, ..]) => {
                let args = self.each(args);
                self.call_named("#construct", &args, span)
            }
            ("splatnew", &[ty, fields]) => {
                let (ty, fields) = (self.interpret(ty), self.interpret(fields));
                let fields = self.node(Kind::Splat(fields), span, self.depth(fields));
                self.call_named("#construct", &[ty, fields], span)
            }
            _ => {
                let message =
                    format!("syntax: invalid syntax: an expression with the head `{head}`");
                self.wrong(span, message)
            }
        }
    }

    pub(super) fn is_line(&self, id: ExprId) -> bool {
        matches!(self.kind(id), Kind::Line { .. })
    }

    pub(super) fn without_lines(&self, mut ids: Vec<ExprId>) -> Vec<ExprId> {
        ids.retain(|&id| !self.is_line(id));
        ids
    }

    /// The statements of a block, without lines, on the list under construction.
    pub(super) fn interpret_statements(&mut self, block: ExprId) {
        let Kind::Form { args, .. } = self.kind(block) else { return };
        for at in 0..args.len() {
            let id = self.ast.list(args)[at];
            if !self.is_line(id) {
                let made = self.interpret(id);
                self.list.push(made);
            }
        }
    }

    /// Code that is quoted once more: what stands behind a `$` is evaluated.
    pub(super) fn requoted(&mut self, id: ExprId, level: u32) -> ExprId {
        let Kind::Form { head, args } = self.kind(id) else { return id };
        let (name, span) = (self.ctx.str(head), self.span(id));
        let level = match name {
            "$" if level == 1 => {
                let inner = self.ast.list(args).first().copied().unwrap_or(id);
                let value = self.interpret(inner);
                return self.node(Kind::Interpolate(value), span, self.depth(value));
            }
            "$" => level - 1,
            "quote" => level + 1,
            _ => level,
        };
        let mut made = Vec::with_capacity(args.len());
        for at in 0..args.len() {
            let arg = self.ast.list(args)[at];
            made.push(stacker::maybe_grow(64 << 10, 1 << 20, || self.requoted(arg, level)));
        }
        let (args, depth) = self.list_of(&made);
        self.node(Kind::Form { head, args }, span, depth)
    }
}
