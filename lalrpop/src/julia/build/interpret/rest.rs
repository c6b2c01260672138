//! Names from other modules, macros that are built in, code that is quoted once more.

use regraft_ir::Symbol;

use super::super::Builder;
use super::BUILT_IN;
use crate::julia::ast::{ExprId, Kind, Span};
use crate::julia::token::Prefix;

impl Builder<'_> {
    pub(super) fn interpret_using(
        &mut self,
        import: bool,
        clauses: &[ExprId],
        span: Span,
    ) -> ExprId {
        let mut made = Vec::new();
        for &clause in clauses {
            let parts = self.form_args(clause, ":").map(|list| self.ast.list(list).to_vec());
            let (module, names) = match parts.as_deref() {
                Some(&[module, ref names @ ..]) => (module, Some(names.to_vec())),
                _ => (clause, None),
            };
            let (path, alias) = self.aliased(module);
            let names = names.map(|names| {
                let names: Vec<ExprId> = names
                    .into_iter()
                    .filter_map(|id| {
                        let (path, alias) = self.aliased(id);
                        let name = *path.last()?;
                        Some(match alias {
                            Some(target) => {
                                let target = self.leaf(Kind::Name(target), span);
                                self.leaf(Kind::Assign { target, value: name }, span)
                            }
                            None => name,
                        })
                    })
                    .collect();
                self.list_of(&names).0
            });
            let dots = path.iter().take_while(|&&id| self.is_dot(id)).count();
            let mut whole = Vec::new();
            if dots > 0 {
                let name = self.ctx.symbol(&".".repeat(dots));
                whole.push(self.leaf(Kind::Name(name), span));
            }
            whole.extend_from_slice(&path[dots..]);
            let (path, _) = self.list_of(&whole);
            made.push(self.leaf(Kind::Clause { path, alias, names }, span));
        }
        let (clauses, depth) = self.list_of(&made);
        self.node(Kind::Using { import, clauses }, span, depth)
    }

    pub(super) fn is_dot(&self, id: ExprId) -> bool {
        matches!(self.kind(id), Kind::Name(name) if self.ctx.str(name) == ".")
    }

    /// The names of a path, and its other name.
    pub(super) fn aliased(&self, id: ExprId) -> (Vec<ExprId>, Option<Symbol>) {
        if let Some(list) = self.form_args(id, "as")
            && let &[path, alias] = self.ast.list(list)
            && let Kind::Name(alias) = self.kind(alias)
        {
            return (self.aliased(path).0, Some(alias));
        }
        match self.form_args(id, ".") {
            Some(list) => (self.ast.list(list).to_vec(), None),
            None => (vec![id], None),
        }
    }

    /// A macro that is built in.
    pub(super) fn interpret_macro(&mut self, name: ExprId, args: &[ExprId], span: Span) -> ExprId {
        let at = self.span(name);
        let text = match self.kind(name) {
            Kind::Name(name) | Kind::GlobalRef { name, .. } => self.ctx.str(name).to_owned(),
            Kind::Form { args, .. } => match self.ast.list(args).last().map(|&id| self.kind(id)) {
                Some(Kind::Sym(name)) => self.ctx.str(name).to_owned(),
                _ => String::new(),
            },
            _ => String::new(),
        };
        let prefix = match (&*text, args) {
            ("@.", [_]) => Prefix::Dots,
            ("@assert", [_] | [_, _]) => Prefix::TightAssert,
            ("@generated", [_]) => Prefix::Generated,
            ("@generated" | "@__MODULE__", []) => {
                let symbol = self.ctx.symbol(&text);
                return self.leaf(Kind::Name(symbol), span);
            }
            ("@goto" | "@label", &[label]) => {
                return match self.kind(label) {
                    Kind::Name(label) if text == "@goto" => self.leaf(Kind::Goto(label), span),
                    Kind::Name(label) => self.leaf(Kind::Label(label), span),
                    _ => self.wrong(span, format!("expected the name of a label after `{text}`")),
                };
            }
            ("@inbounds", [_]) => Prefix::Inbounds,
            ("@inferred", [_]) => Prefix::Inferred,
            ("@inline", [_]) => Prefix::Inline,
            ("@noinline", [_]) => Prefix::NoInline,
            ("@nospecialize", &[arg]) => return self.interpret(arg),
            ("@nospecialize", _) => return self.leaf(Kind::Nothing, span),
            ("@non_differentiable", [_]) => Prefix::NonDifferentiable,
            ("@not_implemented", [_]) => Prefix::NotImplemented,
            ("@show", args) => return self.interpret_show(args, span),
            ("@simd", [_]) => Prefix::Simd,
            ("@view", [_]) => Prefix::View,
            (text, _) if BUILT_IN.contains(&text) => {
                return self.wrong(span, format!("`{text}` takes other arguments"));
            }
            (text, _) => {
                return self.wrong(span, format!("UndefVarError: `{text}` not defined"));
            }
        };
        let operand = match args {
            &[only] => self.interpret(only),
            args => self.node_of(args, span, Kind::Tuple),
        };
        let prefix = match prefix {
            Prefix::TightAssert if args.len() == 1 => Prefix::Assert,
            prefix => prefix,
        };
        self.bare_tuple = None;
        self.apply_prefix(prefix, at, operand)
    }

    /// `@show`: the text of each expression, and its value.
    pub(super) fn interpret_show(&mut self, args: &[ExprId], span: Span) -> ExprId {
        let mut calls = Vec::with_capacity(args.len());
        for &arg in args {
            let text = self.ast.code_text(self.ctx, arg, &|number| format!("#{number}"));
            let text = self.ctx.symbol(&text);
            let text = self.leaf(Kind::Str(text), span);
            let value = self.interpret(arg);
            calls.push(self.call_named("#show", &[text, value], span));
        }
        if let &[call] = &*calls {
            return call;
        }
        let (list, depth) = self.list_of(&calls);
        self.node(Kind::Block(list), span, depth)
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
