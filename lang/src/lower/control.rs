//! Statements: what is run for what it does, and what is returned.

use regraft_ir::{Constant, Loc};
use regraft_syntax::julia::{ExprId, Kind};

use super::ssa::Val;
use super::try_catch::Exit;
use super::{Loop, Lower};

impl Lower<'_> {
    /// Lowers an expression whose value is not used.
    pub(super) fn stmt(&mut self, id: ExprId) {
        match self.ast.kind(id) {
            Kind::Int(_) | Kind::Str(_) | Kind::Sym(_) | Kind::Bool(_) => {}
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
                for &id in self.ast.list(list) {
                    self.stmt(id);
                }
            }
            Kind::If { condition, then, otherwise } => self.if_stmt(id, condition, then, otherwise),
            Kind::And(a, b) | Kind::Or(a, b) => {
                let (second, end) = (self.code.body.new_block(), self.code.body.new_block());
                match kind {
                    Kind::And(..) => self.condition(a, second, end),
                    _ => self.condition(a, end, second),
                }
                self.code.body.seal_and_start(second);
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
            Kind::Try { .. } | Kind::Finally { .. } => {
                self.try_value(id, false);
            }
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
                let Some((&last, front)) = self.ast.list(list).split_last() else {
                    return self.ret_unit(loc);
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
                    None => self.ret_unit(loc),
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
                self.ret_unit(loc);
            }
            _ => {
                let value = self.expr(id);
                self.ret(value, loc);
            }
        }
    }

    /// Returns a value, converted to the declared type.
    fn ret_unit(&mut self, loc: Loc) {
        let unit = self.unit();
        self.ret(unit, loc);
    }

    pub(super) fn ret(&mut self, value: Val, loc: Loc) {
        let value = match self.code.returns {
            Some(ty) if self.code.body.alive() => self.convert(ty, value, loc),
            _ => value,
        };
        self.code.body.ret(value, loc);
    }

    fn return_stmt(&mut self, id: ExprId, value: Option<ExprId>) {
        let loc = self.loc(id);
        match value {
            Some(value) if self.code.exits.is_none() && !self.code.is_thunk => self.tail(value),
            value => {
                let value = match value {
                    Some(value) => self.expr(value),
                    None => self.unit(),
                };
                self.leave(Exit::Return(id), value, loc);
            }
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
