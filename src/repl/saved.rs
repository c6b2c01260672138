//! Inputs as statements of a script that does the same.
//!
//! There is one difference between the two: a loop at top level of the REPL assigns to a global
//! variable of that name if there is one, and in a script it makes a variable of its own. So such
//! loops are saved with a declaration:
//!
//! ```text
//! for i in 1:3              for i in 1:3
//!     total += i     =>         global total; total += i
//! end                       end
//! ```
//!
//! O(size of the input).

use std::collections::BTreeSet;
use std::sync::Arc;

use regraft_ir::{Context, Registry, Symbol};
use regraft_syntax::julia::{Ast, ExprId, Kind, List, Options, parse};

/// The facts on earlier inputs that a session needs to save the next one.
#[derive(Debug, Default)]
pub(super) struct Globals(BTreeSet<String>);

impl Globals {
    /// An input as it is to stand in a script; what it assigns at top level is known to the next.
    pub(super) fn saved(&mut self, ops: &Arc<Registry>, text: &str) -> String {
        let ctx = Context::new(Arc::clone(ops));
        let ast = parse(&ctx, "REPL", text, Options::default()).ast;
        let mut walk = Walk { ctx: &ctx, ast: &ast, globals: &mut self.0, insertions: Vec::new() };
        for &statement in ast.statements() {
            walk.top(statement);
        }
        let mut insertions = walk.insertions;
        insertions.sort();
        let mut out = text.to_owned();
        for (at, names) in insertions.into_iter().rev() {
            out.insert_str(at, &format!("global {}; ", names.join(", ")));
        }
        out
    }

    /// Takes note of what a script assigns at top level.
    pub(super) fn see(&mut self, ops: &Arc<Registry>, text: &str) {
        self.saved(ops, text);
    }
}

struct Walk<'a> {
    ctx: &'a Context,
    ast: &'a Ast,
    globals: &'a mut BTreeSet<String>,
    /// The places of declarations, and what they declare.
    insertions: Vec<(usize, Vec<String>)>,
}

/// The names of a loop and of the loops around it.
#[derive(Clone, Default)]
struct Names {
    /// The names that are variables of a loop.
    local: BTreeSet<Symbol>,
    /// The names that the loop itself assigns.
    assigned: BTreeSet<Symbol>,
}

impl Walk<'_> {
    /// A statement at top level, outside of loops.
    fn top(&mut self, id: ExprId) {
        match self.ast.kind(id) {
            Kind::Assign { target, .. } | Kind::Update { target, .. } => {
                let mut names = BTreeSet::new();
                self.targets(target, &mut names);
                let names = names.into_iter().map(|name| self.ctx.str(name).to_owned());
                self.globals.extend(names);
            }
            Kind::Const(inner) | Kind::Inbounds(inner) | Kind::Simd(inner) => self.top(inner),
            Kind::Block(list) | Kind::Global(list) => {
                for &statement in self.ast.list(list) {
                    self.top(statement);
                }
            }
            Kind::If { then, otherwise, .. } => {
                self.top(then);
                if let Some(otherwise) = otherwise {
                    self.top(otherwise);
                }
            }
            Kind::While { body, .. } => self.of_loop(List::default(), body, &Names::default()),
            Kind::For { clauses, body } => self.of_loop(clauses, body, &Names::default()),
            _ => {}
        }
    }

    fn of_loop(&mut self, clauses: List, body: ExprId, around: &Names) {
        let mut names = Names { local: around.local.clone(), assigned: BTreeSet::new() };
        for &clause in self.ast.list(clauses) {
            if let Kind::In { target, .. } = self.ast.kind(clause) {
                self.targets(target, &mut names.local);
            }
        }
        // Declarations hold for the whole loop, wherever they stand.
        self.declarations(body, &mut names.local);
        self.within(body, &mut names);
        let declared = names.assigned.difference(&names.local).map(|&name| self.ctx.str(name));
        let declared: Vec<String> =
            declared.filter(|&name| self.globals.contains(name)).map(str::to_owned).collect();
        if let (false, Some(at)) = (declared.is_empty(), self.first(body)) {
            self.insertions.push((at, declared));
        }
    }

    /// A statement in a loop. Functions and `let` have scopes of their own, in which nothing is
    /// different in a script.
    fn within(&mut self, id: ExprId, names: &mut Names) {
        match self.ast.kind(id) {
            Kind::Assign { target, value } | Kind::Update { target, value, .. } => {
                self.targets(target, &mut names.assigned);
                self.within(value, names);
            }
            Kind::Inbounds(inner) | Kind::Simd(inner) => self.within(inner, names),
            Kind::And(a, b) | Kind::Or(a, b) => {
                self.within(a, names);
                self.within(b, names);
            }
            Kind::Block(list) => {
                for &statement in self.ast.list(list) {
                    self.within(statement, names);
                }
            }
            Kind::If { condition, then, otherwise } => {
                self.within(condition, names);
                self.within(then, names);
                if let Some(otherwise) = otherwise {
                    self.within(otherwise, names);
                }
            }
            Kind::While { body, .. } => self.of_loop(List::default(), body, names),
            Kind::For { clauses, body } => self.of_loop(clauses, body, names),
            _ => {}
        }
    }

    /// The names that the statements of a loop declare to be local, or to be global anyway.
    fn declarations(&self, id: ExprId, names: &mut BTreeSet<Symbol>) {
        match self.ast.kind(id) {
            Kind::Local(list) | Kind::Global(list) => {
                for &declared in self.ast.list(list) {
                    self.targets(declared, names);
                }
            }
            Kind::Block(list) => {
                for &statement in self.ast.list(list) {
                    self.declarations(statement, names);
                }
            }
            Kind::If { then, otherwise, .. } => {
                self.declarations(then, names);
                if let Some(otherwise) = otherwise {
                    self.declarations(otherwise, names);
                }
            }
            _ => {}
        }
    }

    /// The names among the targets of an assignment.
    fn targets(&self, target: ExprId, names: &mut BTreeSet<Symbol>) {
        match self.ast.kind(target) {
            Kind::Name(name) => drop(names.insert(name)),
            Kind::Typed { value: Some(inner), .. } | Kind::Splat(inner) => {
                self.targets(inner, names);
            }
            Kind::Assign { target, .. } => self.targets(target, names),
            Kind::Tuple(list) | Kind::NamedTuple(list) => {
                for &item in self.ast.list(list) {
                    self.targets(item, names);
                }
            }
            _ => {}
        }
    }

    /// Returns the start of the first statement of a body.
    fn first(&self, body: ExprId) -> Option<usize> {
        let first = match self.ast.kind(body) {
            Kind::Block(list) => *self.ast.list(list).first()?,
            _ => body,
        };
        Some(self.ast.span(first).start as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn saves(before: &str, input: &str, expected: &str) {
        let ctx = regraft_dialects::context();
        let mut globals = Globals::default();
        globals.see(ctx.registry(), before);
        assert_eq!(globals.saved(ctx.registry(), input), expected);
    }

    #[test]
    fn loops_that_assign_to_globals_say_so() {
        saves("x = 0", "for i in 1:3\n  x += i\nend", "for i in 1:3\n  global x; x += i\nend");
        saves(
            "x, (y, z) = t",
            "while y < 3; y, a = z, y end",
            "while y < 3; global y; y, a = z, y end",
        );
        saves("x = 0", "if c for i in r x = i end end", "if c for i in r global x; x = i end end");
        saves(
            "begin x = 0 end",
            "for i in r if c\n x = 1 end end",
            "for i in r global x; if c\n x = 1 end end",
        );
        let nested = "for i in r for j in r x += 1 end end";
        saves("x = 1", nested, "for i in r for j in r global x; x += 1 end end");
    }

    #[test]
    fn what_is_the_same_in_a_script_is_left_alone() {
        for same in [
            "x += 1",
            "for i in r y = i end",
            "for x in r x = 2 end",
            "for (x, i) in r x = 2 end",
            "for i in r local x = 2; x += 1 end",
            "for i in r global x; x += 1 end",
            "for x in r for j in s x += 1 end end",
            "for i in r f(x = 1) = x end",
            "for i in r x[i] = 1 end",
            "f() = for i in r x = i end",
            "[x for x in r]",
            "for i in r",
            ")",
        ] {
            saves("x = 0", same, same);
        }
    }
}
