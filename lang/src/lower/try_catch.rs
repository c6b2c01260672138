//! `try`: its parts become closures, which a function of the prelude runs.
//!
//! ```text
//! try                       exit = call @#new_exit()
//!     f(x)                  body = core.closure @#1, x, exit        # f(x)
//! catch e            =>     handler = core.closure @#2, exit        # call @#set_exit(exit, 1); 0
//!     return 0              value = call @#try(body, handler)
//! end                       if call @#exited_by(exit, 1): return value
//! ```
//!
//! So there are no edges for errors. Where control leaves a part by `return`, `break` or `continue`,
//! the part notes which way it is and returns; the code around goes on from there, and if that is a
//! part of a `try` as well, it does the same. Variables that a part assigns to are boxed, as those
//! of any closure; others are captured by value, since a part is run where it stands.
//!
//! `finally` is a closure that is run in two places: by the handler, which throws the error on, and
//! after the body.

use regraft_ir::{Constant, Loc};
use regraft_syntax::julia::{ExprId, Kind};

use super::Lower;
use super::call::Callee;
use super::expr::Vals;
use super::ssa::Val;
use crate::definition::ClosureDef;

/// A way out of a part of a `try` other than its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exit {
    /// A `return`.
    Return(ExprId),
    /// A `break` or `continue` of a loop around.
    Loop(ExprId),
}

/// The number by which a handler says that it has come to its end, where somebody asks.
const HANDLED: i64 = 1;
/// The number of the first exit.
const FIRST_EXIT: i64 = 2;

/// The ways out of the parts of a `try`.
#[derive(Clone, Debug)]
pub(super) struct Exits {
    /// The ref that the number of the way is noted in; 0 is the end of the body.
    number: Val,
    list: Vec<Exit>,
}

/// A part of a `try` that becomes a closure.
struct Part {
    id: ExprId,
    /// True if it takes the error, and the name of that.
    handles: Option<Option<ExprId>>,
    /// True if its value is needed.
    used: bool,
    /// True if its end is noted, too.
    notes_end: bool,
}

impl Lower<'_> {
    /// The value of a `try`, which is `nothing` if nobody asks for it.
    pub(super) fn try_value(&mut self, id: ExprId, used: bool) -> Val {
        match self.ast.kind(id) {
            Kind::Try { body, error, handler, otherwise } => {
                self.try_catch(id, body, (error, handler), otherwise, used)
            }
            Kind::Finally { body, last } => self.try_finally(id, body, last, used),
            _ => self.unit(),
        }
    }

    fn try_catch(
        &mut self,
        id: ExprId,
        body: ExprId,
        (error, handler): (Option<ExprId>, ExprId),
        otherwise: Option<ExprId>,
        used: bool,
    ) -> Val {
        let loc = self.loc(id);
        let mut exits = self.new_exits(&[body, handler], otherwise.is_some(), loc);
        // With an `else`, the value of the body is not that of the `try`.
        let part =
            Part { id: body, handles: None, used: used && otherwise.is_none(), notes_end: false };
        let body = self.part_of_try(&part, &mut exits);
        let part = Part { id: handler, handles: Some(error), used, notes_end: otherwise.is_some() };
        let handler = self.part_of_try(&part, &mut exits);
        let value = self.call(self.names.try_catch, &[body, handler], loc);
        if let Some(exits) = &exits {
            self.go_out(exits, value, loc);
        }
        let (Some(otherwise), Some(Exits { number, .. })) = (otherwise, exits) else {
            return value;
        };
        let result = self.code.body.new_slot(None);
        let [handled, fine, end] = std::array::from_fn(|_| self.code.body.new_block());
        let was_handled = self.exited_by(number, HANDLED, loc);
        self.code.body.branch(was_handled, handled, fine, loc);
        self.code.body.seal_and_start(handled);
        self.code.body.set(result, value);
        self.code.body.jump(end, loc);
        self.code.body.seal_and_start(fine);
        self.enter_scope(self.scopes.refs[otherwise.index()], loc);
        let value = self.value_of(otherwise, used);
        self.code.body.set(result, value);
        self.code.body.jump(end, loc);
        self.code.body.seal_and_start(end);
        self.code.body.read(result)
    }

    fn try_finally(&mut self, id: ExprId, body: ExprId, last: ExprId, used: bool) -> Val {
        let loc = self.loc(id);
        let mut of_last = self.new_exits(&[last], false, loc);
        let part = Part { id: last, handles: None, used: false, notes_end: false };
        let last = self.part_of_try(&part, &mut of_last);
        let mut exits = self.new_exits(&[body], false, loc);
        let part = Part { id: body, handles: None, used, notes_end: false };
        let body = self.part_of_try(&part, &mut exits);
        let number = match &of_last {
            Some(exits) => exits.number,
            None => self.unit(),
        };
        let handler = self.call(self.names.try_cleanup, &[last, number], loc);
        let value = self.call(self.names.try_catch, &[body, handler], loc);
        if let Some(of_last) = &of_last {
            // The handler has run it if there was an error.
            self.go_out(of_last, value, loc);
        }
        let left = self.call_values(Callee::Value(last), &[], loc);
        if let Some(of_last) = &of_last {
            self.go_out(of_last, left, loc);
        }
        if let Some(exits) = &exits {
            self.go_out(exits, value, loc);
        }
        value
    }

    /// Returns a place for the ways out of these parts, if there are any.
    fn new_exits(&mut self, parts: &[ExprId], always: bool, loc: Loc) -> Option<Exits> {
        let exits =
            |part: &ExprId| self.scopes.funcs[self.scopes.refs[part.index()] as usize].exits;
        if !always && !parts.iter().any(exits) {
            return None;
        }
        let number = self.call(self.names.try_exit_new, &[], loc);
        Some(Exits { number, list: Vec::new() })
    }

    /// Makes the closure of a part. The ways out of it are added to `exits`.
    fn part_of_try(&mut self, part: &Part, exits: &mut Option<Exits>) -> Val {
        let loc = self.loc(part.id);
        let func = self.scopes.refs[part.id.index()];
        let group = self.scopes.funcs[func as usize].group;
        let (name, shown) = self.anonymous();
        let text = self.ctx.str(name);
        let mut further = Vals::new();
        further.extend(exits.as_ref().map(|exits| exits.number));
        let outer = self.begin_code(func);
        let owner = self.param_value();
        let error = part.handles.map(|_| self.param_value());
        self.open_closure(group, owner, loc);
        self.late_if_it_defines(loc);
        self.code.exits = exits.take().map(|exits| exits.list).map(|list| {
            let exit = self.sym(self.names.try_exit);
            let number = self.call(self.names.getfield, &[owner, exit], loc);
            Exits { number, list }
        });
        self.enter_scope(self.scopes.funcs[func as usize].scope, loc);
        self.code.caught = error;
        if let (Some(Some(target)), Some(error)) = (part.handles, error) {
            let error = self.call(self.names.try_caught, &[error], loc);
            self.assign_value(target, error);
        }
        let value = self.value_of(part.id, part.used);
        if part.notes_end && self.code.body.alive() {
            self.note_exit(HANDLED, loc);
        }
        self.code.body.ret(value, loc);
        let inner = self.code.exits.take();
        let params: &[Option<regraft_ir::Symbol>] =
            if error.is_some() { &[None, None] } else { &[None] };
        let code = self.end_code(outer, text, params, part.id);
        let params = params[1..].to_vec();
        let mut method = self.plain_method(name, params, code, loc);
        method.head.inline = Some(true);
        let methods = vec![method];
        let def = ClosureDef { name, shown, captures: Vec::new(), methods };
        *exits = inner
            .zip(further.first().copied())
            .map(|(inner, number)| Exits { number, list: inner.list });
        let exit = self.names.try_exit;
        let further: Vec<_> = further.iter().map(|&number| (exit, number)).collect();
        self.make(def, group, &further, loc)
    }

    fn value_of(&mut self, id: ExprId, used: bool) -> Val {
        if used {
            return self.expr(id);
        }
        self.stmt(id);
        self.unit()
    }

    /// Leaves a function, a loop around a `try`, or a part of a `try` on the way there.
    pub(super) fn leave(&mut self, exit: Exit, value: Val, loc: Loc) {
        let Some(exits) = &mut self.code.exits else {
            return match exit {
                Exit::Return(id) => {
                    if self.code.is_thunk {
                        self.error(id, "`return` stands in functions only", "at top level");
                    }
                    self.ret(value, loc);
                }
                Exit::Loop(id) => self.leave_loop(id),
            };
        };
        let known = exits.list.iter().position(|&other| other == exit);
        let position = known.unwrap_or_else(|| {
            exits.list.push(exit);
            exits.list.len() - 1
        });
        self.note_exit(FIRST_EXIT + position as i64, loc);
        self.code.body.ret(value, loc);
    }

    fn note_exit(&mut self, number: i64, loc: Loc) {
        let Some(place) = self.code.exits.as_ref().map(|exits| exits.number) else { return };
        let number = self.constant(Constant::I64(number));
        self.call(self.names.try_exit_set, &[place, number], loc);
    }

    fn exited_by(&mut self, place: Val, number: i64, loc: Loc) -> Val {
        let number = self.constant(Constant::I64(number));
        self.call(self.names.try_exited_by, &[place, number], loc)
    }

    /// Goes on where parts of a `try` wanted to, if they did not come to their end.
    fn go_out(&mut self, exits: &Exits, value: Val, loc: Loc) {
        for (&exit, number) in exits.list.iter().zip(FIRST_EXIT..) {
            let [leaves, stays] = std::array::from_fn(|_| self.code.body.new_block());
            let by_it = self.exited_by(exits.number, number, loc);
            self.code.body.branch(by_it, leaves, stays, loc);
            self.code.body.seal_and_start(leaves);
            match exit {
                Exit::Loop(id) => self.leave_loop(id),
                exit => self.leave(exit, value, loc),
            }
            self.code.body.seal_and_start(stays);
        }
    }
}
