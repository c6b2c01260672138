//! Names from other modules.

use regraft_ir::Symbol;

use super::super::Builder;
use crate::julia::ast::{ExprId, Kind, Span};

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
}
