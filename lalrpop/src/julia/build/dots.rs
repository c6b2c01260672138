//! `@. x + f(y)`: every call becomes one for each element, and every assignment one in place.

use super::Builder;
use crate::julia::ast::{ExprId, Kind, List};

impl Builder<'_> {
    /// Makes the calls in an expression dot calls, those in functions within it too.
    pub(super) fn with_dots(&mut self, id: ExprId) {
        let span = self.span(id);
        match self.kind(id) {
            Kind::Call { callee, args } => {
                self.named_with_dots(args);
                if !matches!(self.kind(callee), Kind::Name(name) if self.ctx.str(name) == ":") {
                    self.ast.exprs[id.index()].kind = Kind::Dot { callee, args };
                }
            }
            Kind::Dot { args: list, .. } | Kind::Keywords(list) | Kind::NamedTuple(list) => {
                self.named_with_dots(list);
            }
            Kind::Tuple(list)
            | Kind::Vector(list)
            | Kind::Matrix(list)
            | Kind::Row(list)
            | Kind::Block(list) => self.all_with_dots(list),
            Kind::Index { base, indices } => {
                self.with_dots(base);
                self.all_with_dots(indices);
            }
            Kind::Assign { target, value } => {
                self.with_dots(value);
                self.check_dot_target(target);
                self.ast.exprs[id.index()].kind = Kind::DotAssign { target, value };
            }
            Kind::Update { op, target, value } => {
                self.with_dots(value);
                self.check_dot_target(target);
                self.ast.exprs[id.index()].kind = Kind::DotUpdate { op, target, value };
            }
            Kind::DotAssign { value, .. } | Kind::DotUpdate { value, .. } => self.with_dots(value),
            Kind::Splat(of)
            | Kind::Field { base: of, .. }
            | Kind::Typed { value: Some(of), .. }
            | Kind::Inbounds(of)
            | Kind::View(of)
            | Kind::Lambda { body: of, .. } => self.with_dots(of),
            Kind::If { condition, then, otherwise } => {
                self.with_dots(condition);
                self.with_dots(then);
                if let Some(otherwise) = otherwise {
                    self.with_dots(otherwise);
                }
            }
            Kind::And(..) | Kind::Or(..) | Kind::Compare { .. } => {
                let message = "`&&`, `||` and chains of comparisons in `@.` are not supported";
                self.problems.add(span, message);
            }
            _ => {}
        }
    }

    fn all_with_dots(&mut self, list: List) {
        for at in 0..list.len() {
            self.with_dots(self.ast.list(list)[at]);
        }
    }

    /// The same of arguments and fields: what has a name is passed on by it.
    fn named_with_dots(&mut self, list: List) {
        for at in 0..list.len() {
            let id = self.ast.list(list)[at];
            match self.kind(id) {
                Kind::Assign { value, .. } => self.with_dots(value),
                _ => self.with_dots(id),
            }
        }
    }
}
