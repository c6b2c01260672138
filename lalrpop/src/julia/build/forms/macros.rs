//! Calls and definitions of macros.

use super::super::Builder;
use super::ARGUMENTS;
use crate::julia::ast::{ExprId, Kind, Span};

impl Builder<'_> {
    /// A macro with its arguments.
    pub(in crate::julia::build) fn macro_call(
        &mut self,
        name: Span,
        args: &[ExprId],
        span: Span,
    ) -> ExprId {
        let name = self.macro_name(name);
        self.macro_call_of(name, args, span)
    }

    pub(super) fn macro_call_of(&mut self, name: ExprId, args: &[ExprId], span: Span) -> ExprId {
        if self.code.is_data() {
            let line = self.line(span);
            let mut all = vec![name, line];
            all.extend_from_slice(args);
            return self.form("macrocall", &all, span);
        }
        // A condition on it tells generated code apart; it is no macro to be expanded.
        if let Kind::Name(symbol) = self.kind(name)
            && self.ctx.str(symbol) == "@generated"
            && args.is_empty()
        {
            return name;
        }
        let (args, depth) = self.list_of(args);
        let made = self.node(Kind::MacroCall { name, args }, span, depth.max(self.depth(name)));
        if self.kind(made) != Kind::Error {
            self.ast.macros.push(made);
        }
        made
    }

    /// `@m`, `M.@m` or `@M.m`, as data.
    pub(super) fn macro_name(&mut self, span: Span) -> ExprId {
        let text = self.slice(span);
        let last = text.rfind(['.', '@']).map_or(0, |at| at + 1);
        let path = text.trim_start_matches('@');
        let path = &path[..path.len() - (text.len() - last)];
        let path = path.trim_end_matches('@').trim_end_matches('.');
        if path.is_empty() {
            let name = self.ctx.symbol(text);
            return self.leaf(Kind::Name(name), span);
        }
        let mut made = None;
        for part in path.split('.') {
            let symbol = self.ctx.symbol(part.trim());
            made = Some(match made {
                None => self.leaf(Kind::Name(symbol), span),
                Some(base) => {
                    let name = self.leaf(Kind::Sym(symbol), span);
                    self.form(".", &[base, name], span)
                }
            });
        }
        let symbol = self.ctx.symbol(&format!("@{}", &text[last..]));
        let name = self.leaf(Kind::Sym(symbol), span);
        self.form(".", &[made.unwrap_or(name), name], span)
    }

    /// `r"text"flags`
    pub(in crate::julia::build) fn string_macro(&mut self, span: Span) -> ExprId {
        let text = self.slice(span);
        let quote = text.find('"').unwrap_or(0);
        let end = text.rfind('"').unwrap_or(quote);
        let quotes = if text[quote..].starts_with("\"\"\"") && end >= quote + 5 { 3 } else { 1 };
        let body = &text[quote + quotes..end + 1 - quotes];
        let body = self.ctx.symbol(&raw_text(body));
        let name = self.ctx.symbol(&format!("@{}_str", &text[..quote]));
        let name = self.leaf(Kind::Name(name), span);
        let mut args = vec![self.leaf(Kind::Str(body), span)];
        if end + 1 < text.len() {
            let flags = self.ctx.symbol(&text[end + 1..]);
            args.push(self.leaf(Kind::Str(flags), span));
        }
        self.macro_call_of(name, &args, span)
    }

    /// The arguments of a macro, which blank space parts.
    pub(in crate::julia::build) fn macro_arguments(&self, operand: ExprId) -> Vec<ExprId> {
        match self.form_args(operand, ARGUMENTS) {
            Some(list) => self.ast.list(list).to_vec(),
            None => vec![operand],
        }
    }

    /// `macro name(params...) body end`
    pub(crate) fn macro_definition(&mut self, open: Span, head: ExprId, body: ExprId, close: Span) {
        let span = Span { start: open.start, end: close.end };
        if self.code.is_data() {
            self.lead_with_line(body, span);
            let made = self.form("macro", &[head, body], span);
            return self.push(made);
        }
        self.function(open, head, body, close);
        self.name_macro(span);
    }

    /// The function that was made last is that of a macro: its name gets an `@`, and it has two more
    /// parameters, the line and the module of the call.
    pub(in crate::julia::build) fn name_macro(&mut self, span: Span) {
        let made = self.pop();
        let made = match self.kind(made) {
            Kind::Function { name, params, body: Some(_), .. } => match self.kind(name) {
                Kind::Name(symbol) => {
                    // Names of macros are not internal.
                    let plain = self.ctx.str(symbol).replace('#', "__");
                    let symbol = self.ctx.symbol(&format!("@{plain}"));
                    self.ast.exprs[name.index()].kind = Kind::Name(symbol);
                    let own =
                        if self.prelude { "#source__ #module__" } else { "__source__ __module__" };
                    let own = own.split(' ').map(|name| Kind::Name(self.ctx.symbol(name)));
                    let own: Vec<Kind> = own.collect();
                    let own = own.into_iter().map(|kind| self.leaf(kind, span));
                    let mut all: Vec<ExprId> = own.collect();
                    all.extend_from_slice(self.ast.list(params));
                    let (list, _) = self.list_of(&all);
                    if let Kind::Function { params, .. } = &mut self.ast.exprs[made.index()].kind {
                        *params = list;
                    }
                    made
                }
                _ => self.wrong(span, "expected the name of a macro"),
            },
            Kind::Error => made,
            _ => self.wrong(span, "expected the name and the parameters of a macro"),
        };
        self.push(made);
    }
}

/// The text of a string whose quotes alone are escaped.
fn raw_text(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        let run = rest[at..].len() - rest[at..].trim_start_matches('\\').len();
        let quoted = rest[at + run..].starts_with('"') || rest.len() == at + run;
        out.push_str(&rest[..at]);
        out.push_str(&rest[at..at + if quoted { run / 2 } else { run }]);
        rest = &rest[at + run..];
    }
    out.push_str(rest);
    out
}
