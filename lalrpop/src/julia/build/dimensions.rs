//! Arrays of any number of dimensions: `[1; 2 ;; 3; 4]`, whose longest runs of semicolons part it first.

use super::{Builder, ROW};
use crate::julia::{ExprId, Kind, Span};

impl Builder<'_> {
    /// The array of cells and of runs of [`ROW`], the marks that semicolons leave. As code it is
    /// `ncat` of `nrow`, as in Julia.
    pub(super) fn dimensions(
        &mut self,
        ty: Option<ExprId>,
        cells: &[ExprId],
        span: Span,
    ) -> ExprId {
        let level = longest_run(cells);
        if !self.code.is_data() {
            let made = self.joined("#ncat", level, cells, span);
            return match ty {
                Some(ty) => self.call_named("#typed_matrix", &[ty, made], span),
                None => made,
            };
        }
        let mut args: Vec<ExprId> = ty.into_iter().collect();
        args.push(self.leaf(Kind::Int(level as i64), span));
        args.extend(self.along(level, cells, span));
        self.form(if ty.is_some() { "typed_ncat" } else { "ncat" }, &args, span)
    }

    /// The parts between the runs of `level` marks.
    fn along(&mut self, level: usize, cells: &[ExprId], span: Span) -> Vec<ExprId> {
        let mut parts = Vec::new();
        let mut rest = cells;
        loop {
            let run = rest.windows(level).position(|run| run.iter().all(|&id| id == ROW));
            let part = &rest[..run.unwrap_or(rest.len())];
            if !part.is_empty() {
                parts.push(self.part(part, span));
            }
            match run {
                Some(at) => rest = &rest[at + level..],
                None => return parts,
            }
        }
    }

    fn part(&mut self, cells: &[ExprId], span: Span) -> ExprId {
        let level = longest_run(cells);
        let is_data = self.code.is_data();
        match cells {
            &[only] => only,
            _ if level > 0 => {
                self.joined(if is_data { "nrow" } else { "#ncat" }, level, cells, span)
            }
            _ if is_data => self.form("row", cells, span),
            _ => {
                let row = self.node_of(cells, span, Kind::Row);
                self.node_of(&[row], span, Kind::Matrix)
            }
        }
    }

    fn joined(&mut self, name: &'static str, level: usize, cells: &[ExprId], span: Span) -> ExprId {
        let mut args = vec![self.leaf(Kind::Int(level as i64), span)];
        args.extend(self.along(level, cells, span));
        match self.code.is_data() {
            true => self.form(name, &args, span),
            false => self.call_named(name, &args, span),
        }
    }
}

fn longest_run(cells: &[ExprId]) -> usize {
    cells.split(|&id| id != ROW).map(<[ExprId]>::len).max().unwrap_or(0)
}
