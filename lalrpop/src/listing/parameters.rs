//! The parameters of the method that a listing is the code of.
//!
//! They are those of the head that is written before it, or that `@code_warntype` shows; of IRTools,
//! those of the first block; else the slots with numbers, or the names that are read before anything is
//! assigned to them.

use regraft_ir::{Diagnostic, Symbol};

use super::header::Header;
use super::lines::Listed;
use super::tidy::Tidy;
use super::variables::Used;
use crate::julia::{ExprId, Kind, Span};

/// A finder of parameters.
pub(super) struct Parameters<'a, 't> {
    pub(super) tidy: &'a mut Tidy<'t>,
    pub(super) roots: &'a [Option<ExprId>],
    pub(super) warnings: &'a mut Vec<Diagnostic>,
}

/// The head of a method, as it is written.
#[derive(Debug, Default)]
pub(super) struct Head {
    params: Option<Vec<ExprId>>,
    /// The type parameters, innermost first.
    wheres: Vec<ExprId>,
    /// `p::P` of `(p::P)(x)`.
    pub(super) instance: Option<ExprId>,
}

/// The parameters of a method, and the names of the slots that they are in.
#[derive(Debug)]
pub(super) struct Params {
    pub(super) params: Vec<ExprId>,
    pub(super) wheres: Vec<ExprId>,
    pub(super) slots: Vec<(Symbol, Symbol)>,
}

impl Parameters<'_, '_> {
    /// The parameters and type parameters of the head that is written.
    pub(super) fn head(&mut self, header: &Header) -> Head {
        let Some(mut id) = header.head.and_then(|at| self.roots[at]) else {
            return Head::default();
        };
        let mut wheres = Vec::new();
        while let Kind::Where { body, params } = self.tidy.ast.kind(id) {
            wheres.extend(self.tidy.ast.list(params).iter().rev());
            id = body;
        }
        for &param in wheres.iter().rev() {
            let name = match self.tidy.ast.kind(param) {
                Kind::Name(name) => Some(name),
                Kind::Call { args, .. } => match *self.tidy.ast.list(args) {
                    [of, _] => match self.tidy.ast.kind(of) {
                        Kind::Name(name) => Some(name),
                        _ => None,
                    },
                    _ => None,
                },
                _ => None,
            };
            match name {
                Some(name) => self.tidy.statics.push(name),
                None => self.tidy.error(param, "this is no type parameter", "expected a name"),
            }
        }
        let Kind::Call { callee, args } = self.tidy.ast.kind(id) else {
            self.tidy.error(id, "this is no head of a method", "expected `foo(x, y)`");
            return Head { wheres, ..Head::default() };
        };
        let instance = matches!(self.tidy.ast.kind(callee), Kind::Typed { .. }).then_some(callee);
        let params = self.tidy.ast.list(args).to_vec();
        for &param in &params {
            let is_param = match self.tidy.ast.kind(param) {
                Kind::Splat(inner) => param_name(self.tidy, inner).is_some(),
                Kind::Typed { value: None, .. } => true,
                _ => param_name(self.tidy, param).is_some(),
            };
            if !is_param {
                self.tidy.error(param, "this is no parameter", "expected `x` or `x::T`");
            }
        }
        Head { params: Some(params), wheres, instance }
    }

    /// Finds the parameters.
    pub(super) fn find(&mut self, listed: &Listed, used: &Used, head: Head, name: &str) -> Params {
        let Head { params: head, mut wheres, .. } = head;
        let at = span(&listed.at);
        for index in wheres.len()..self.tidy.statics.len() {
            let name = self.tidy.statics[index];
            let id = self.tidy.ast.add(Kind::Name(name), at);
            wheres.insert(0, id);
        }
        let mut slots = Vec::new();
        let slot = |number: usize| self.tidy.ctx.symbol(&format!("_{number}"));
        let header = &listed.header;
        if listed.is_ir_tools {
            let names: Vec<Symbol> = listed.blocks.first().map_or(Vec::new(), |block| {
                let callee = usize::from(!has_self(self.tidy, used));
                block.params.iter().skip(callee).map(|&n| value_name(self.tidy, n)).collect()
            });
            let (params, slots) = match head {
                Some(params) => {
                    let known = params.iter().map(|&id| param_name(self.tidy, id));
                    let pairs = names.iter().zip(known);
                    let slots = pairs.filter_map(|(&slot, name)| Some((slot, name?))).collect();
                    (params, slots)
                }
                None => (self.plain(&names, header, at), Vec::new()),
            };
            return Params { params, wheres, slots };
        }
        let named = head.or_else(|| {
            let given: Vec<_> = header.params.iter().filter_map(|&id| self.roots[id]).collect();
            (!given.is_empty()).then_some(given)
        });
        if let Some(params) = named {
            let params: Vec<ExprId> = params.into_iter().map(|id| self.checked_param(id)).collect();
            for (index, &id) in params.iter().enumerate() {
                if let Some(name) = param_name(self.tidy, id) {
                    slots.push((slot(index + 2), name));
                }
            }
            return Params { params, wheres, slots };
        }
        if used.is_numbered || header.types.is_some() {
            let count = used.slots.saturating_sub(1).max(header.arity.unwrap_or(0));
            let names: Vec<Symbol> = (0..count).map(|index| slot(index + 2)).collect();
            return Params { params: self.plain(&names, header, at), wheres, slots };
        }
        let mut names = used.unassigned.clone();
        let arity = header.arity.unwrap_or(names.len());
        if names.len() > 1 || (names.len() == 1 && arity > 1) {
            let mut shown: Vec<&str> = names.iter().map(|&name| self.tidy.ctx.str(name)).collect();
            shown.resize(shown.len().max(arity), "_");
            let message = format!(
                "the listing does not say in which order {name} takes its arguments: ({}) is assumed",
                shown.join(", ")
            );
            let help =
                format!("write the head of the method before it: {name}({})", shown.join(", "));
            let warning =
                Diagnostic::warning(message).at(&self.tidy.ast.source, listed.at.clone(), "");
            self.warnings.push(warning.help(help));
        }
        if header.arity.is_some_and(|arity| arity < names.len()) {
            let names: Vec<&str> = names.iter().map(|&name| self.tidy.ctx.str(name)).collect();
            let message = format!(
                "{name} is called with {arity} arguments, and the listing reads {}",
                names.join(", ")
            );
            let error = Diagnostic::error(message);
            self.tidy.errors.push(error.at(&self.tidy.ast.source, listed.at.clone(), ""));
        }
        // Parameters that are never read come last.
        names.extend((names.len()..arity).map(|index| self.tidy.ctx.symbol(&format!("#{index}"))));
        Params { params: self.plain(&names, header, at), wheres, slots }
    }

    /// A parameter as `@code_warntype` shows it may have a type that is none of the language.
    fn checked_param(&mut self, id: ExprId) -> ExprId {
        match self.tidy.ast.kind(id) {
            Kind::Typed { value: Some(value), ty } if !self.tidy.is_type(ty) => value,
            _ => id,
        }
    }

    /// Parameters of these names, with the types of the header if there are some.
    fn plain(&mut self, names: &[Symbol], header: &Header, at: Span) -> Vec<ExprId> {
        let types: Vec<Option<ExprId>> =
            header.types.iter().flatten().map(|&ty| self.roots[ty]).collect();
        let mut params = Vec::with_capacity(names.len());
        for (index, &name) in names.iter().enumerate() {
            let value = self.tidy.ast.add(Kind::Name(name), at);
            params.push(match types.get(index) {
                Some(&Some(ty)) => self.tidy.ast.add(Kind::Typed { value: Some(value), ty }, at),
                _ => value,
            });
        }
        params
    }
}

/// The name of a parameter.
pub(super) fn param_name(tidy: &Tidy<'_>, id: ExprId) -> Option<Symbol> {
    match tidy.ast.kind(id) {
        Kind::Name(name) => Some(name),
        Kind::Typed { value: Some(value), .. } | Kind::Splat(value) => param_name(tidy, value),
        _ => None,
    }
}

/// The name of a value: `%3`.
pub(super) fn value_name(tidy: &Tidy<'_>, number: u32) -> Symbol {
    tidy.ctx.symbol(&format!("%{number}"))
}

/// Returns whether a listing names the callee by itself: then the block of IRTools has none.
pub(super) fn has_self(tidy: &Tidy<'_>, used: &Used) -> bool {
    used.callee.iter().any(|&name| tidy.is(name, "#self#"))
}

/// The place of what a listing has at these bytes.
pub(super) fn span(range: &std::ops::Range<usize>) -> Span {
    Span { start: range.start as u32, end: range.end as u32 }
}
