//! `for` loops.
//!
//! ```text
//!   it = …;  s0 = call @#start(it);  br ^header(s0)
//! ^header(s, …):  d = call @#done(it, s);  br d, ^exit, ^body
//! ^body:   x = call @#item(it, s);  …
//!   s1 = call @#next(it, s);  br ^header(s1, …)
//! ```
//!
//! If there is a `continue`, the last line is a block of its own. Several clauses nest, and
//! `break` leaves them all.

use regraft_ir::Loc;
use regraft_syntax::julia::{ExprId, Kind, List};
use smallvec::SmallVec;

use super::names::name_of;
use super::scope::NONE;
use super::ssa::{BlockId, Slot, Val};
use super::{Loop, Lower};

/// A loop around the clause at hand.
struct Level {
    header: BlockId,
    exit: BlockId,
    begin: usize,
    iterable: Val,
    state: Slot,
    /// The name that it assigns, to be assigned again in the innermost loop.
    target: Option<(ExprId, Val)>,
    loc: Loc,
}

impl Lower<'_> {
    pub(super) fn for_loop(&mut self, id: ExprId, clauses: List, body: ExprId) {
        let loc = self.loc(id);
        let mut levels: SmallVec<[Level; 2]> = SmallVec::new();
        for &clause in self.ast.list(clauses) {
            let Kind::In { target, iterable } = self.ast.kind(clause) else { continue };
            levels.push(self.begin_for(clause, target, iterable));
        }
        let Some(exit) = levels.first().map(|level| level.exit) else { return };
        // Each round begins with the variables of the outer clauses as these have set them.
        if let Some((_, outer)) = levels.split_last() {
            for level in outer {
                if let Some((target, item)) = level.target {
                    self.reset_target(target, item, level.loc);
                }
            }
        }
        self.code.loops.push(Loop { exit, latch: None });
        self.stmt(body);
        let latch = self.code.loops.pop().and_then(|around| around.latch);
        if let Some(latch) = latch {
            self.code.body.jump(latch, loc);
            self.code.body.seal_and_start(latch);
        }
        while let Some(level) = levels.pop() {
            let Level { header, exit, begin, iterable, state, loc, .. } = level;
            let now = self.code.body.read(state);
            let next = self.call(self.names.next, &[iterable, now], loc);
            self.code.body.set(state, next);
            self.code.body.jump(header, loc);
            self.code.body.end_loop(header, begin, Some(state));
            self.code.body.seal(header);
            self.code.body.seal_and_start(exit);
        }
    }

    fn begin_for(&mut self, clause: ExprId, target: ExprId, iterable: ExprId) -> Level {
        let loc = self.loc(clause);
        let begin = self.code.body.begin_loop();
        let iterable = self.expr(iterable);
        let state = self.code.body.new_slot(None);
        let first = self.call(self.names.start, &[iterable], loc);
        self.code.body.set(state, first);
        let body = &mut self.code.body;
        let (header, inside, exit) = (body.new_block(), body.new_block(), body.new_block());
        body.jump(header, loc);
        body.start(header);
        let now = body.read(state);
        let done = self.call(self.names.done, &[iterable, now], loc);
        self.code.body.branch(done, exit, inside, loc);
        self.code.body.seal_and_start(inside);
        self.enter_scope(self.scopes.refs[clause.index()], loc);
        let item = self.call(self.names.item, &[iterable, now], loc);
        self.assign_value(target, item);
        let target = name_of(self.ast, target).map(|_| (target, item));
        Level { header, exit, begin, iterable, state, target, loc }
    }

    fn reset_target(&mut self, target: ExprId, item: Val, loc: Loc) {
        let var = self.scopes.refs[target.index()];
        if var == NONE || self.scopes.vars[var as usize].boxed {
            return;
        }
        let slot = self.slot(var);
        self.code.body.set(slot, item);
        self.set_cell(var, item, loc);
    }
}
