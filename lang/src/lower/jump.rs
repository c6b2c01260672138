//! Jumps: `break`, `continue`, `@goto`.

use regraft_ir::{Diagnostic, Symbol};
use regraft_syntax::julia::{ExprId, Kind};

use super::try_catch::Exit;
use super::{Label, Lower};

impl Lower<'_> {
    /// `break` or `continue`
    pub(super) fn leave_loop(&mut self, id: ExprId) {
        let loc = self.loc(id);
        let is_break = matches!(self.ast.kind(id), Kind::Break);
        if self.code.loops.is_empty() && self.code.exits.is_some() {
            let unit = self.unit();
            return self.leave(Exit::Loop(id), unit, loc);
        }
        let Some(around) = self.code.loops.last_mut() else {
            let what = if is_break { "break" } else { "continue" };
            return self.error(id, format!("`{what}` outside of a loop"), "");
        };
        let target = if is_break {
            around.exit
        } else {
            match around.latch {
                Some(latch) => latch,
                None => *around.latch.insert(self.code.body.new_block()),
            }
        };
        self.code.body.jump(target, loc);
        self.code.body.start_dead();
    }

    // --- labels --------------------------------------------------------------------------------

    fn label_block(&mut self, id: ExprId, name: Symbol) -> usize {
        if let Some(at) = self.code.labels.iter().position(|label| label.name == name) {
            return at;
        }
        let block = self.code.body.new_label();
        self.code.labels.push(Label { name, block, defined: false, expr: id });
        self.code.labels.len() - 1
    }

    /// `@goto name`
    pub(super) fn goto(&mut self, id: ExprId, name: Symbol) {
        let at = self.label_block(id, name);
        let (block, loc) = (self.code.labels[at].block, self.loc(id));
        self.code.body.jump(block, loc);
        self.code.body.start_dead();
    }

    /// `@label name`
    pub(super) fn label(&mut self, id: ExprId, name: Symbol) {
        let at = self.label_block(id, name);
        let label = &mut self.code.labels[at];
        if std::mem::replace(&mut label.defined, true) {
            let message = format!("the label `{}` is there twice", self.text(name));
            return self.error(id, message, "the second");
        }
        let block = label.block;
        let loc = self.loc(id);
        self.code.body.jump(block, loc);
        self.code.body.start(block);
    }

    /// Ends a function: no label gets another edge.
    pub(super) fn seal_labels(&mut self) {
        let labels = std::mem::take(&mut self.code.labels);
        for label in &labels {
            if !label.defined {
                let message = format!("there is no label `{}`", self.text(label.name));
                let others = labels.iter().filter(|other| other.defined);
                let span = self.ast.span(label.expr).range();
                let mut error = Diagnostic::error(message).at(&self.ast.source, span, "not found");
                let others = others.map(|other| self.text(other.name));
                if let Some(near) = regraft_ir::suggest(self.text(label.name), others) {
                    error = error.help(format!("did you mean `{near}`?"));
                }
                self.errors.push(error);
            }
            self.code.body.seal(label.block);
        }
        self.code.labels = labels;
    }
}
