//! Syntax trees to lowered IR: untyped SSA of generic calls, one function per method.
//!
//! Each statement at top level is lowered by itself, in three steps: `scope` finds which
//! variable each name means, a walk over the tree builds SSA form (`ssa`), and `finish` makes
//! a function of it. Nothing is looked up in the world: names that are no local variables stay
//! names.
//!
//! Beyond what the ops say, lowered code follows these conventions:
//! - `call @f(…)` looks `f` up from the space of the method; `call @Base.f(…)` is the one of the
//!   prelude, whatever the program defines. `core.global :"Base.f"` likewise. What syntax stands for
//!   (`x[i]` is `getindex`) is found in the prelude, too: it is written so only where the text
//!   defines a name of its own that would be found instead.
//! - A captured variable is read by `call @getfield(%self, :x)` where the function begins.
//! - `new(…)` in an inner constructor is `call @#new(T, …)`.
//! - A name that may have no value is checked by `call @#check_defined(flag, :x)`.
//!
//! O(size of the text).

use std::cell::Cell;
use std::sync::Arc;

use regraft_dialects::core;
use regraft_ir::{Constant, Context, Diagnostic, Function, Loc, Symbol};
use regraft_syntax::julia::{Ast, ExprId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::definition::{ClosureDef, Item, Space};
use finish::Finish;
use later::Room;
use names::Names;
use scope::{NONE, Scopes};
use ssa::{BlockId, Body, Slot, Special, Val};

mod assign;
mod blocks;
mod broadcast;
mod call;
mod closure;
mod comprehension;
mod condition;
mod control;
mod define;
mod expr;
mod finish;
mod iterate;
mod jump;
mod later;
mod names;
mod param;
mod phis;
mod scope;
mod ssa;
mod structs;
mod top;
mod types;
mod variable;

pub use later::{Later, Library, Statement};

/// From where and for what a text is lowered.
pub struct LowerOptions<'a> {
    /// Whether a loop at top level assigns to the global variable of that name if there is one, as
    /// in the REPL; in a file it makes a new local one.
    pub soft_scope: bool,
    /// Whether there is a global variable of that name in the program.
    pub is_global: &'a dyn Fn(Symbol) -> bool,
    /// Where the names of the text are looked up.
    pub space: Space,
    /// The number of functions that were named so far, so that those of two texts are told apart.
    pub counter: &'a Cell<u32>,
}

impl std::fmt::Debug for LowerOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LowerOptions")
            .field("soft_scope", &self.soft_scope)
            .field("space", &self.space)
            .field("counter", &self.counter)
            .finish_non_exhaustive()
    }
}

/// Lowers a text, statement by statement.
///
/// O(size of the text).
///
/// # Errors
/// Everything that is wrong with it, in the order of the text.
pub fn lower(
    ctx: &Arc<Context>,
    ast: &Ast,
    options: &LowerOptions<'_>,
) -> Result<Vec<Item>, Vec<Diagnostic>> {
    let mut lower = Lower::new(ctx, ast, options);
    let items = lower.items(ast.statements());
    if lower.errors.is_empty() {
        return Ok(items);
    }
    Err(in_text_order(lower.errors))
}

fn in_text_order(mut errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    errors.sort_by_key(|error| error.labels().first().map_or(0, |label| label.span.start));
    errors
}

/// A text that is being lowered.
struct Lower<'a> {
    ctx: &'a Arc<Context>,
    ast: &'a Ast,
    options: &'a LowerOptions<'a>,
    names: Names,
    errors: Vec<Diagnostic>,
    scopes: Scopes,
    finish: Finish,
    consts: FxHashMap<Constant, Val>,
    /// The structs that the text has declared so far.
    structs: FxHashSet<Symbol>,
    /// The names that it has assigned at top level so far.
    globals: FxHashSet<Symbol>,
    code: Code,
    /// Where the code of functions was built, to be used again.
    pool: Vec<Code>,
    /// Whether the code of methods is left out.
    signatures_only: bool,
    /// The smallest number of values of a `new` in the struct that is being declared.
    fewest_given: usize,
    no_code: Option<Arc<Function>>,
}

/// The function that is being lowered.
#[derive(Debug)]
struct Code {
    body: Body,
    /// Which one of [`Scopes::funcs`] it is; [`NONE`] if it is written nowhere.
    func: u32,
    /// The slots of variables.
    slots: Vec<Option<Slot>>,
    /// The functions that are made in it.
    closures: Vec<ClosureDef>,
    loops: Vec<Loop>,
    labels: Vec<Label>,
    /// The declared type of what it returns.
    returns: Option<ExprId>,
    /// What `end` means.
    indexed: Option<Indexed>,
    inbounds: bool,
    /// Whether it is code at top level, which does not return.
    is_thunk: bool,
    /// The type that `new` makes, as it is written.
    new: Option<Constructed>,
}

/// A loop around.
#[derive(Clone, Copy, Debug)]
struct Loop {
    exit: BlockId,
    /// Where `continue` goes; made when it is needed.
    latch: Option<BlockId>,
}

#[derive(Clone, Copy, Debug)]
struct Label {
    name: Symbol,
    block: BlockId,
    defined: bool,
    /// Where it was named first.
    expr: ExprId,
}

/// What is indexed, and where in the list of indices.
#[derive(Clone, Copy, Debug)]
struct Indexed {
    base: Val,
    position: usize,
    count: usize,
}

/// The struct whose inner constructor it is.
#[derive(Clone, Copy, Debug)]
struct Constructed {
    name: Symbol,
    /// `P{T}`, where the constructor says so.
    applied: Option<ExprId>,
    /// The constructor, among the functions of the statement.
    func: u32,
}

impl Code {
    fn new() -> Self {
        Self {
            body: Body::new(),
            func: NONE,
            slots: Vec::new(),
            closures: Vec::new(),
            loops: Vec::new(),
            labels: Vec::new(),
            returns: None,
            indexed: None,
            inbounds: false,
            is_thunk: false,
            new: None,
        }
    }

    fn reset(&mut self, func: u32, vars: usize) {
        self.body.reset();
        self.func = func;
        self.slots.clear();
        self.slots.resize(vars, None);
        self.loops.clear();
        self.labels.clear();
        self.returns = None;
        self.indexed = None;
        self.inbounds = false;
        self.is_thunk = false;
        self.new = None;
    }
}

impl<'a> Lower<'a> {
    fn new(ctx: &'a Arc<Context>, ast: &'a Ast, options: &'a LowerOptions<'a>) -> Self {
        let finish = Finish::new(ctx);
        let mut consts = FxHashMap::default();
        consts.insert(Constant::Bool(false), finish.no);
        consts.insert(Constant::Bool(true), finish.yes);
        let mut names = Names::new(ctx);
        names.find_shadowed(ctx, ast, options);
        let scopes = Scopes::default();
        let room = Room { names, scopes, finish, consts, code: Code::new(), pool: Vec::new() };
        Self::within(ctx, ast, options, room)
    }

    /// The same in the memory of what lowered the same text before.
    fn within(
        ctx: &'a Arc<Context>,
        ast: &'a Ast,
        options: &'a LowerOptions<'a>,
        room: Room,
    ) -> Self {
        let Room { names, scopes, finish, consts, code, pool } = room;
        Self {
            ctx,
            ast,
            options,
            names,
            errors: Vec::new(),
            scopes,
            finish,
            consts,
            structs: FxHashSet::default(),
            globals: FxHashSet::default(),
            code,
            pool,
            signatures_only: false,
            fewest_given: usize::MAX,
            no_code: None,
        }
    }

    fn into_room(self) -> Room {
        let Self { names, scopes, finish, consts, code, pool, .. } = self;
        Room { names, scopes, finish, consts, code, pool }
    }

    #[cold]
    fn error(&mut self, at: ExprId, message: impl Into<String>, label: &str) {
        let span = self.ast.span(at).range();
        let message = message.into();
        // Default values, and the patterns of generators, are lowered several times.
        let known = self.errors.iter().rev().take(64).any(|error| {
            error.message() == message
                && error.labels().first().is_some_and(|label| label.span == span)
        });
        if !known {
            self.errors.push(Diagnostic::error(message).at(&self.ast.source, span, label));
        }
    }

    #[inline]
    fn loc(&self, id: ExprId) -> Loc {
        self.ast.source.loc(self.ast.span(id).start as usize)
    }

    #[inline]
    fn text(&self, name: Symbol) -> &'a str {
        self.ctx.str(name)
    }

    // --- instructions ------------------------------------------------------------------------

    #[inline]
    fn constant(&mut self, constant: Constant) -> Val {
        if let Some(&value) = self.consts.get(&constant) {
            return value;
        }
        let value = Val::constant(self.finish.consts.len() as u32);
        self.finish.consts.push(self.ctx.constant_id(constant));
        self.consts.insert(constant, value);
        value
    }

    #[inline]
    fn sym(&mut self, name: Symbol) -> Val {
        self.constant(Constant::Sym(name))
    }

    #[inline]
    fn func(&mut self, name: Symbol) -> Val {
        self.constant(Constant::Func(name))
    }

    fn unit(&mut self) -> Val {
        self.constant(Constant::Unit)
    }

    /// `call @name(args)`
    #[inline]
    fn call(&mut self, name: Symbol, args: &[Val], loc: Loc) -> Val {
        let callee = self.func(name);
        let special = if self.code.inbounds { Special::Inbounds } else { Special::None };
        let body = &mut self.code.body;
        let start = body.operands.len();
        body.operands.push(callee);
        body.operands.extend_from_slice(args);
        body.push_from(core::CALL, special, start, loc)
    }

    /// A function that syntax stands for.
    #[inline]
    fn syntax(&mut self, name: Symbol, args: &[Val], loc: Loc) -> Val {
        let name = self.names.of_prelude(name);
        self.call(name, args, loc)
    }

    /// A name that no user can write, of a function that is made here: `#name#N`, in the prelude
    /// `#name#base#N`.
    fn fresh_name(&self, name: &str) -> (Symbol, u32) {
        let number = self.options.counter.get() + 1;
        self.options.counter.set(number);
        let space = if self.options.space == Space::Base { "base#" } else { "" };
        (self.ctx.symbol(&format!("#{name}#{space}{number}")), number)
    }
}
