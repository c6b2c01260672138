//! Macros that are built in.

use super::super::Builder;
use super::BUILT_IN;
use crate::julia::ast::{ExprId, Kind, Span};
use crate::julia::token::Prefix;

impl Builder<'_> {
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
}
