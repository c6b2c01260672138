//! Scopes: the variable that each name of a statement at top level means, and the variables that live in boxes.
//!
//! Two passes. The first walks the tree and writes a list of events (a scope begins, a name is
//! read, a name is assigned) and, for each scope, what is declared and assigned in it. The second
//! replays the events: as all that a scope assigns is known when it is entered, a name that is
//! assigned belongs to the scope around that has it, also if that assigns it further down.
//!
//! A captured variable is captured by value if it is assigned once, before the function is made,
//! in code that is run whenever and as often as its scope is; or if it has a value when the function is made, and
//! no other one before the function is over: it is part of a `try` or of a comprehension ([`Runs`]). A variable of functions and
//! generators that are given to `sum`, `map` and the like has a cell: they capture its value, and the cell, which is a box only if
//! that name is not the library's when the code is specialised, or has methods of the program. All others are boxed. A local
//! function that is defined once refers to itself by its own first parameter.
//!
//! O(size of the statement); one table look-up per name.

use regraft_ir::{Diagnostic, Symbol};
use regraft_syntax::julia::{Ast, ExprId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::LowerOptions;

mod functions;
mod resolve;
mod walk;

/// No variable, function, scope, …
pub(super) const NONE: u32 = u32::MAX;

/// The meaning of names, filled for one statement at top level after the other.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    /// For each name, its variable or [`NONE`] if it is global; for what opens a scope or is a
    /// function, which one.
    pub(super) refs: Vec<u32>,
    pub(super) vars: Vec<Var>,
    pub(super) scopes: Vec<Scope>,
    pub(super) funcs: Vec<Func>,
    pub(super) groups: Vec<Group>,
    /// True if a method of a function elsewhere is defined in a block.
    pub(super) defines: bool,
    decls: Vec<Decl>,
    regions: Vec<Region>,
    events: Vec<Event>,
    env: FxHashMap<Symbol, u32>,
    undo: Vec<(Symbol, u32)>,
    stack: Vec<(u32, usize)>,
    /// Parameters that are not there yet where a default value is looked at.
    hidden: Vec<(Symbol, u32)>,
    uses: Vec<(u32, u32)>,
    /// The groups and the variables that they capture, with when what uses these runs.
    captured: FxHashSet<(u32, u32, When)>,
}

/// A local variable.
#[derive(Debug)]
pub(super) struct Var {
    pub(super) name: Symbol,
    pub(super) kind: VarKind,
    /// The function that it belongs to.
    pub(super) func: u32,
    /// Its declared type.
    pub(super) ty: Option<ExprId>,
    /// True if its values are kept in a box.
    pub(super) boxed: bool,
    /// True if it has a cell, which is captured with its value.
    pub(super) has_cell: bool,
    /// The names of the functions that are to be the library's so that the value is enough.
    pub(super) eager: SmallVec<[Symbol; 2]>,
    /// The next variable of its scope.
    pub(super) next: u32,
    scope: u32,
    assigns: u32,
    /// The event of its first assignment, and the region of code.
    first_at: u32,
    first_in: u32,
    /// Those of its last one.
    assigned_at: u32,
    assigned_in: u32,
    /// True if functions within its own assign to it, or parts of a `try`.
    assigned_within: bool,
    /// The functions that it is the name of.
    group: u32,
    group_region: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum VarKind {
    Local,
    Param,
    /// A type parameter.
    Static,
    /// A name that was declared to be global.
    Global,
}

#[derive(Debug)]
pub(super) struct Scope {
    pub(super) func: u32,
    /// Its variables, linked.
    pub(super) first_var: u32,
    kind: ScopeKind,
    region: u32,
    first_decl: u32,
    last_decl: u32,
    last_var: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ScopeKind {
    /// Assigned names are global.
    Global,
    Func,
    Let,
    Loop,
}

/// The code of a function.
#[derive(Debug)]
pub(super) struct Func {
    /// The scope of its parameters and variables.
    pub(super) scope: u32,
    /// The group of those with which it is one function, or closes over the same variables.
    pub(super) group: u32,
    pub(super) has_labels: bool,
    pub(super) runs: Runs,
    /// True if it is the code of a chunk of a loop that threads share.
    is_chunk: bool,
    /// True if it is one that control may leave other than by its end, or by an error.
    pub(super) exits: bool,
    /// The loops around the place that the walk is at.
    loops: u32,
    /// The function around it.
    parent: u32,
    region: u32,
    made_at: u32,
}

/// When the code of a function runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Runs {
    /// Whenever somebody calls it.
    Later,
    /// At once, as a part of a `try`.
    AsPart,
    /// While a comprehension makes its array.
    WhileCollected,
    /// While the function of that name runs, which is done then with what it was given if it is that of the library. No variable
    /// is assigned before.
    WhileCalled(ExprId, Symbol),
}

/// When a use of a captured variable runs, seen from the function of the variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum When {
    Now,
    WhileCalled,
    Later,
}

/// The methods of a local function.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// Their names.
    pub(super) var: u32,
    /// The functions, with their definitions.
    pub(super) methods: Vec<(u32, ExprId)>,
    /// The variables of functions around that they use.
    pub(super) captures: Vec<u32>,
    /// True if they know themselves by their first parameter.
    pub(super) knows_itself: bool,
    region: u32,
    made_at: u32,
}

/// Code that is run as a whole.
#[derive(Clone, Copy, Debug)]
struct Region {
    parent: u32,
    is_loop: bool,
}

#[derive(Clone, Copy, Debug)]
struct Decl {
    name: Symbol,
    expr: ExprId,
    kind: DeclKind,
    ty: Option<ExprId>,
    next: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DeclKind {
    Param,
    Static,
    Local,
    Global,
    Assigned,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Enter(u32),
    Exit,
    Read(ExprId, Symbol),
    /// The parameter of that name is not there yet: what is outside of the function is meant.
    Hide(Symbol),
    /// It is there again.
    Show(Symbol),
    /// Within this region.
    Write(ExprId, Symbol, u32),
    /// A local function of that name is defined by the expression.
    Define(u32, Symbol, ExprId),
    /// An anonymous function is made.
    Make(u32),
}

/// The errors, as the walk finds them.
pub(super) struct Walk<'a> {
    pub(super) scopes: &'a mut Scopes,
    pub(super) ast: &'a Ast,
    pub(super) options: &'a LowerOptions<'a>,
    /// Returns whether the library has a function of that name that keeps no function or generator it is given.
    pub(super) is_eager: &'a dyn Fn(Symbol) -> bool,
    /// Names that the text has assigned at top level so far.
    pub(super) globals: &'a FxHashSet<Symbol>,
    pub(super) errors: &'a mut Vec<Diagnostic>,
    pub(super) name_of: &'a dyn Fn(Symbol) -> String,
    pub(super) scope: u32,
    pub(super) region: u32,
    pub(super) func: u32,
}

impl Scopes {
    /// Returns whether the code of a function runs once, where a statement at top level stands:
    /// that statement, and the parts of a `try` in it.
    pub(super) fn is_at_top(&self, mut func: u32) -> bool {
        while self.funcs[func as usize].runs == Runs::AsPart {
            func = self.funcs[func as usize].parent;
        }
        let scope = self.funcs[func as usize].scope;
        self.scopes[scope as usize].kind == ScopeKind::Global
    }

    fn new_group(&mut self, var: u32, region: u32, made_at: u32) -> u32 {
        self.groups.push(Group { var, region, made_at, ..Group::default() });
        self.groups.len() as u32 - 1
    }

    /// Forgets what was found for the last statement, apart from [`Scopes::refs`].
    pub(super) fn reset(&mut self, exprs: usize) {
        if self.refs.len() != exprs {
            self.refs.resize(exprs, NONE);
        }
        self.defines = false;
        self.vars.clear();
        self.scopes.clear();
        self.funcs.clear();
        self.groups.clear();
        self.decls.clear();
        self.regions.clear();
        self.regions.push(Region { parent: NONE, is_loop: false });
        self.events.clear();
        self.undo.clear();
        self.stack.clear();
        self.hidden.clear();
        self.uses.clear();
        debug_assert!(self.env.is_empty(), "all scopes were left");
    }

    fn new_scope(&mut self, kind: ScopeKind, func: u32, region: u32) -> u32 {
        self.scopes.push(Scope {
            func,
            first_var: NONE,
            kind,
            region,
            first_decl: NONE,
            last_decl: NONE,
            last_var: NONE,
        });
        self.scopes.len() as u32 - 1
    }

    fn declare(
        &mut self,
        scope: u32,
        name: Symbol,
        expr: ExprId,
        kind: DeclKind,
        ty: Option<ExprId>,
    ) {
        let index = self.decls.len() as u32;
        self.decls.push(Decl { name, expr, kind, ty, next: NONE });
        let scope = &mut self.scopes[scope as usize];
        match scope.last_decl {
            NONE => scope.first_decl = index,
            last => self.decls[last as usize].next = index,
        }
        scope.last_decl = index;
    }

    /// Returns whether region `outer` is `inner` or around it, and if so, whether there is a loop
    /// between: `inner`, or around it, but not `outer`.
    fn encloses(&self, outer: u32, inner: u32) -> Option<bool> {
        let (mut at, mut in_loop) = (inner, false);
        while at != outer {
            let region = *self.regions.get(at as usize)?;
            in_loop |= region.is_loop;
            at = region.parent;
        }
        Some(in_loop)
    }
}
