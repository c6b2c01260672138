//! Statements, conditions, and control flow: what is between the blocks.

use regraft_ir::{Constant, Diagnostic, Loc, Symbol};
use regraft_syntax::julia::{ExprId, Kind, List};

use super::ssa::{BlockId, Slot, Val};
use super::{Label, Loop, Lower};

impl Lower<'_> {
    /// Lowers an expression whose value is not used.
    pub(super) fn stmt(&mut self, id: ExprId) {
        match self.ast.kind(id) {
            Kind::Int(_) | Kind::Str(_) | Kind::Sym(_) | Kind::Bool(_) | Kind::Using => {}
            Kind::Call { .. } | Kind::Name(_) => {
                self.expr(id);
            }
            Kind::Assign { target, value } => {
                self.assign(id, target, value, false);
            }
            Kind::Break | Kind::Continue => self.leave_loop(id),
            Kind::Goto(name) => self.goto(id, name),
            Kind::Label(name) => self.label(id, name),
            kind => stacker::maybe_grow(160 << 10, 2 << 20, || self.nested_stmt(id, kind)),
        }
    }

    fn nested_stmt(&mut self, id: ExprId, kind: Kind) {
        let loc = self.loc(id);
        match kind {
            Kind::Block(list) => {
                let ast = self.ast;
                for &id in ast.list(list) {
                    self.stmt(id);
                }
            }
            Kind::If { condition, then, otherwise } => self.if_stmt(id, condition, then, otherwise),
            Kind::And(a, b) => {
                let (then, end) = (self.code.body.new_block(), self.code.body.new_block());
                self.condition(a, then, end);
                self.code.body.seal_and_start(then);
                self.stmt(b);
                self.code.body.jump(end, loc);
                self.code.body.seal_and_start(end);
            }
            Kind::Or(a, b) => {
                let (otherwise, end) = (self.code.body.new_block(), self.code.body.new_block());
                self.condition(a, end, otherwise);
                self.code.body.seal_and_start(otherwise);
                self.stmt(b);
                self.code.body.jump(end, loc);
                self.code.body.seal_and_start(end);
            }
            Kind::While { condition, body } => self.while_loop(id, condition, body),
            Kind::For { clauses, body } => self.for_loop(id, clauses, body),
            Kind::Let { bindings, body } => {
                self.let_bindings(id, bindings);
                self.stmt(body);
            }
            Kind::Inbounds(body) => {
                let outer = std::mem::replace(&mut self.code.inbounds, true);
                self.stmt(body);
                self.code.inbounds = outer;
            }
            Kind::Simd(body) => self.stmt(body),
            Kind::Return(value) => self.return_stmt(id, value),
            Kind::Assert { condition, message } => self.assert(id, condition, message),
            _ => {
                self.expr(id);
            }
        }
    }

    /// Lowers an expression whose value is returned.
    pub(super) fn tail(&mut self, id: ExprId) {
        stacker::maybe_grow(160 << 10, 2 << 20, || self.nested_tail(id));
    }

    fn nested_tail(&mut self, id: ExprId) {
        let loc = self.loc(id);
        match self.ast.kind(id) {
            Kind::Block(list) => {
                let ast = self.ast;
                let Some((&last, front)) = ast.list(list).split_last() else {
                    let unit = self.unit();
                    return self.ret(unit, loc);
                };
                for &id in front {
                    self.stmt(id);
                }
                self.tail(last);
            }
            Kind::If { condition, then, otherwise } => {
                let (yes, no) = (self.code.body.new_block(), self.code.body.new_block());
                self.condition(condition, yes, no);
                self.code.body.seal_and_start(yes);
                self.tail(then);
                self.code.body.seal_and_start(no);
                match otherwise {
                    Some(otherwise) => self.tail(otherwise),
                    None => {
                        let unit = self.unit();
                        self.ret(unit, loc);
                    }
                }
            }
            Kind::Let { bindings, body } => {
                self.let_bindings(id, bindings);
                self.tail(body);
            }
            Kind::Inbounds(body) => {
                let outer = std::mem::replace(&mut self.code.inbounds, true);
                self.tail(body);
                self.code.inbounds = outer;
            }
            Kind::Return(_) | Kind::While { .. } | Kind::For { .. } | Kind::Simd(_) => {
                self.stmt(id);
                let unit = self.unit();
                self.ret(unit, loc);
            }
            _ => {
                let value = self.expr(id);
                self.ret(value, loc);
            }
        }
    }

    /// Returns a value, converted to the declared type.
    fn ret(&mut self, value: Val, loc: Loc) {
        let value = match self.code.returns {
            Some(ty) if self.code.body.alive() => self.convert(ty, value, loc),
            _ => value,
        };
        self.code.body.ret(value, loc);
    }

    fn return_stmt(&mut self, id: ExprId, value: Option<ExprId>) {
        let loc = self.loc(id);
        if self.code.is_thunk {
            self.error(id, "`return` stands in functions only", "at top level");
        }
        match value {
            Some(value) => self.tail(value),
            None => {
                let unit = self.unit();
                self.ret(unit, loc);
            }
        }
    }

    // --- conditions ----------------------------------------------------------------------------

    /// Goes to one of two blocks.
    pub(super) fn condition(&mut self, id: ExprId, then: BlockId, otherwise: BlockId) {
        stacker::maybe_grow(160 << 10, 2 << 20, || match self.ast.kind(id) {
            Kind::And(a, b) => {
                let next = self.code.body.new_block();
                self.condition(a, next, otherwise);
                self.code.body.seal_and_start(next);
                self.condition(b, then, otherwise);
            }
            Kind::Or(a, b) => {
                let next = self.code.body.new_block();
                self.condition(a, then, next);
                self.code.body.seal_and_start(next);
                self.condition(b, then, otherwise);
            }
            Kind::Compare { parts } => self.compare(parts, then, otherwise),
            Kind::Block(list) if !list.is_empty() => {
                let ast = self.ast;
                let (last, front) = ast.list(list).split_last().expect("it is not empty");
                for &id in front {
                    self.stmt(id);
                }
                self.condition(*last, then, otherwise);
            }
            _ => {
                let value = self.expr(id);
                let loc = self.loc(id);
                self.code.body.branch(value, then, otherwise, loc);
            }
        });
    }

    /// A chain of comparisons as a condition: each operand is evaluated once, and none after a
    /// comparison that fails.
    fn compare(&mut self, parts: List, then: BlockId, otherwise: BlockId) {
        let ast = self.ast;
        let parts = ast.list(parts);
        let Some((&first, rest)) = parts.split_first() else { return };
        let mut left = self.expr(first);
        let count = rest.len() / 2;
        for (i, pair) in rest.chunks_exact(2).enumerate() {
            let (op, operand) = (pair[0], pair[1]);
            let loc = self.loc(op);
            let callee = self.callee(op);
            let right = self.expr(operand);
            let holds = self.call_values(callee, &[left, right], loc);
            if i + 1 == count {
                self.code.body.branch(holds, then, otherwise, loc);
            } else {
                let next = self.code.body.new_block();
                self.code.body.branch(holds, next, otherwise, loc);
                self.code.body.seal_and_start(next);
            }
            left = right;
        }
    }

    fn if_stmt(&mut self, id: ExprId, condition: ExprId, then: ExprId, otherwise: Option<ExprId>) {
        let loc = self.loc(id);
        let body = &mut self.code.body;
        let (yes, end) = (body.new_block(), body.new_block());
        let no = if otherwise.is_some() { body.new_block() } else { end };
        self.condition(condition, yes, no);
        self.code.body.seal_and_start(yes);
        self.stmt(then);
        self.code.body.jump(end, loc);
        if let Some(otherwise) = otherwise {
            self.code.body.seal_and_start(no);
            self.stmt(otherwise);
            self.code.body.jump(end, loc);
        }
        self.code.body.seal_and_start(end);
    }

    /// The value of an `if`, `&&`, `||` or chain of comparisons.
    pub(super) fn control_value(&mut self, id: ExprId) -> Val {
        let loc = self.loc(id);
        let result = self.code.body.new_slot(None);
        let end = self.code.body.new_block();
        let (yes, no) = (self.code.body.new_block(), self.code.body.new_block());
        match self.ast.kind(id) {
            Kind::If { condition, then, otherwise } => {
                self.condition(condition, yes, no);
                self.arm(yes, Ok(then), result, end, loc);
                let otherwise = match otherwise {
                    Some(otherwise) => Ok(otherwise),
                    None => Err(self.unit()),
                };
                self.arm(no, otherwise, result, end, loc);
            }
            Kind::And(a, b) => {
                let value = self.finish.no;
                self.condition(a, yes, no);
                self.arm(yes, Ok(b), result, end, loc);
                self.arm(no, Err(value), result, end, loc);
            }
            Kind::Or(a, b) => {
                let value = self.finish.yes;
                self.condition(a, yes, no);
                self.arm(yes, Err(value), result, end, loc);
                self.arm(no, Ok(b), result, end, loc);
            }
            _ => return self.compare_value(id, result, end, no),
        }
        self.code.body.seal_and_start(end);
        self.code.body.read(result)
    }

    /// One way to a value: an expression, or the value itself.
    fn arm(
        &mut self,
        block: BlockId,
        value: Result<ExprId, Val>,
        result: Slot,
        end: BlockId,
        loc: Loc,
    ) {
        self.code.body.seal_and_start(block);
        let value = match value {
            Ok(id) => self.expr(id),
            Err(value) => value,
        };
        self.code.body.set(result, value);
        self.code.body.jump(end, loc);
    }

    /// `a < b < c` as a value: that of the last comparison, or `false`.
    fn compare_value(&mut self, id: ExprId, result: Slot, end: BlockId, no: BlockId) -> Val {
        let Kind::Compare { parts } = self.ast.kind(id) else { return self.unit() };
        let ast = self.ast;
        let Some((&first, rest)) = ast.list(parts).split_first() else { return self.unit() };
        let mut left = self.expr(first);
        let count = rest.len() / 2;
        for (i, pair) in rest.chunks_exact(2).enumerate() {
            let loc = self.loc(pair[0]);
            let callee = self.callee(pair[0]);
            let right = self.expr(pair[1]);
            let holds = self.call_values(callee, &[left, right], loc);
            if i + 1 == count {
                self.code.body.set(result, holds);
                self.code.body.jump(end, loc);
            } else {
                let next = self.code.body.new_block();
                self.code.body.branch(holds, next, no, loc);
                self.code.body.seal_and_start(next);
            }
            left = right;
        }
        let value = self.finish.no;
        let loc = self.loc(id);
        self.arm(no, Err(value), result, end, loc);
        self.code.body.seal_and_start(end);
        self.code.body.read(result)
    }

    // --- loops ---------------------------------------------------------------------------------

    fn while_loop(&mut self, id: ExprId, condition: ExprId, body: ExprId) {
        let loc = self.loc(id);
        let begin = self.code.body.begin_loop();
        let (header, exit) = (self.code.body.new_block(), self.code.body.new_block());
        self.code.body.jump(header, loc);
        self.code.body.start(header);
        // A loop that nothing but `break` ends has no other way out.
        if !matches!(self.ast.kind(condition), Kind::Bool(true)) {
            let inside = self.code.body.new_block();
            self.condition(condition, inside, exit);
            self.code.body.seal_and_start(inside);
        }
        self.enter_scope(self.scopes.refs[id.index()], loc);
        self.code.loops.push(Loop { exit, latch: Some(header) });
        self.stmt(body);
        self.code.loops.pop();
        self.code.body.jump(header, loc);
        self.code.body.end_loop(header, begin, None);
        self.code.body.seal(header);
        self.code.body.seal_and_start(exit);
    }

    fn leave_loop(&mut self, id: ExprId) {
        let loc = self.loc(id);
        let is_break = matches!(self.ast.kind(id), Kind::Break);
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

    fn goto(&mut self, id: ExprId, name: Symbol) {
        let at = self.label_block(id, name);
        let (block, loc) = (self.code.labels[at].block, self.loc(id));
        self.code.body.jump(block, loc);
        self.code.body.start_dead();
    }

    fn label(&mut self, id: ExprId, name: Symbol) {
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

    // --- assertions ----------------------------------------------------------------------------

    fn assert(&mut self, id: ExprId, condition: ExprId, message: Option<ExprId>) {
        let loc = self.loc(id);
        let body = &mut self.code.body;
        let (fails, holds) = (body.new_block(), body.new_block());
        self.condition(condition, holds, fails);
        self.code.body.seal_and_start(fails);
        let message = match message {
            Some(message) => self.expr(message),
            None => {
                let text = &self.ast.source.text[self.ast.span(condition).range()];
                let text = self.ctx.symbol(text);
                self.constant(Constant::Str(text))
            }
        };
        let error = self.syntax(self.names.assertion_error, &[message], loc);
        self.syntax(self.names.throw, &[error], loc);
        self.code.body.unreachable(loc);
        self.code.body.seal_and_start(holds);
    }
}
