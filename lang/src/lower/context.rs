//! The text that is being lowered, and the function.

use std::sync::Arc;

use regraft_dialects::core;
use regraft_ir::{Constant, Context, Diagnostic, Function, Loc, Symbol};
use regraft_syntax::julia::{Ast, ExprId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::finish::Finish;
use super::names::Names;
use super::narrow::is_test;
use super::options::LowerOptions;
use super::scope::Scopes;
use super::ssa::{BlockId, Body, Slot, Special, Val};
use super::try_catch::Exits;
use crate::definition::{ClosureDef, Item, Space};

/// Sorts errors by where they are in the text.
pub(super) fn in_text_order(mut errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    errors.sort_by_key(|error| error.labels().first().map_or(0, |label| label.span.start));
    errors
}

/// A text that is being lowered.
pub(super) struct Lower<'a> {
    pub(super) ctx: &'a Arc<Context>,
    pub(super) ast: &'a Ast,
    pub(super) options: &'a LowerOptions<'a>,
    pub(super) names: Names,
    pub(super) errors: Vec<Diagnostic>,
    /// The types that stand as values in the statement at hand, or are declared in blocks of it.
    pub(super) types: Vec<Item>,
    /// What blocks of it define elsewhere: see [`Thunk::definitions`](crate::definition::Thunk).
    pub(super) definitions: Vec<(u32, Vec<Item>)>,
    pub(super) scopes: Scopes,
    pub(super) finish: Finish,
    pub(super) consts: FxHashMap<Constant, Val>,
    /// The structs that the text has declared so far.
    pub(super) structs: FxHashSet<Symbol>,
    /// The names that it has assigned at top level so far.
    pub(super) globals: FxHashSet<Symbol>,
    pub(super) code: Code,
    /// Buffers of code that was finished, to be reused.
    pub(super) pool: Vec<Code>,
    /// True if the code of methods is left out.
    pub(super) signatures_only: bool,
    /// True if there are no macros in it any more.
    pub(super) is_expanded: bool,
    /// The smallest number of values of a `new` in the struct that is being declared.
    pub(super) fewest_given: usize,
    pub(super) no_code: Option<Arc<Function>>,
}

/// The function that is being lowered.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub(super) body: Body,
    /// The index in [`Scopes::funcs`]; [`NONE`] if it is written nowhere.
    pub(super) func: u32,
    /// The slots of variables.
    pub(super) slots: Vec<Option<Slot>>,
    /// The slots of their cells.
    pub(super) cells: FxHashMap<u32, Slot>,
    /// The functions that are made in it.
    pub(super) closures: Vec<ClosureDef>,
    pub(super) loops: Vec<Loop>,
    /// The ways out of it, if it is a part of a `try`.
    pub(super) exits: Option<Exits>,
    /// The error that is handled, as it was thrown.
    pub(super) caught: Option<Val>,
    pub(super) labels: Vec<Label>,
    /// The declared type of what it returns.
    pub(super) returns: Option<ExprId>,
    /// The meaning of `end`.
    pub(super) indexed: Option<Indexed>,
    pub(super) inbounds: bool,
    /// True if it is code at top level, which does not return.
    pub(super) is_thunk: bool,
    /// The type that `new` makes, as it is written.
    pub(super) new: Option<Constructed>,
}

/// A loop around.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    pub(super) exit: BlockId,
    /// The block that `continue` goes to; made when it is needed.
    pub(super) latch: Option<BlockId>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    pub(super) name: Symbol,
    pub(super) block: BlockId,
    pub(super) defined: bool,
    /// The expression that named it first.
    pub(super) expr: ExprId,
}

/// The indexed value, and the position in the list of indices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Indexed {
    pub(super) base: Val,
    pub(super) position: usize,
    pub(super) count: usize,
}

/// The struct whose inner constructor it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constructed {
    pub(super) name: Symbol,
    /// `P{T}`, where the constructor says so.
    pub(super) applied: Option<ExprId>,
    /// The constructor, among the functions of the statement.
    pub(super) func: u32,
}

/// Scratch memory, which is used again each time that something of a text is lowered.
#[derive(Debug)]
pub(super) struct Scratch {
    pub(super) names: Names,
    pub(super) scopes: Scopes,
    pub(super) finish: Finish,
    pub(super) consts: FxHashMap<Constant, Val>,
    pub(super) code: Code,
    pub(super) pool: Vec<Code>,
}

impl Code {
    pub(super) fn reset(&mut self, func: u32, vars: usize) {
        self.body.reset();
        self.func = func;
        self.slots.clear();
        self.slots.resize(vars, None);
        self.cells.clear();
        self.loops.clear();
        self.exits = None;
        self.caught = None;
        self.labels.clear();
        self.returns = None;
        self.indexed = None;
        self.inbounds = false;
        self.is_thunk = false;
        self.new = None;
    }
}

impl<'a> Lower<'a> {
    pub(super) fn new(ctx: &'a Arc<Context>, ast: &'a Ast, options: &'a LowerOptions<'a>) -> Self {
        let finish = Finish::new(ctx);
        let mut consts = FxHashMap::default();
        consts.insert(Constant::Bool(false), finish.no);
        consts.insert(Constant::Bool(true), finish.yes);
        let mut names = Names::new(ctx);
        names.find_shadowed(ctx, ast, options);
        let scopes = Scopes::default();
        let scratch =
            Scratch { names, scopes, finish, consts, code: Code::default(), pool: Vec::new() };
        Self::within(ctx, ast, options, scratch)
    }

    /// The same in the memory of what lowered the same text before.
    pub(super) fn within(
        ctx: &'a Arc<Context>,
        ast: &'a Ast,
        options: &'a LowerOptions<'a>,
        scratch: Scratch,
    ) -> Self {
        let Scratch { names, scopes, finish, consts, code, pool } = scratch;
        Self {
            ctx,
            ast,
            options,
            names,
            errors: Vec::new(),
            types: Vec::new(),
            definitions: Vec::new(),
            scopes,
            finish,
            consts,
            structs: FxHashSet::default(),
            globals: FxHashSet::default(),
            code,
            pool,
            signatures_only: false,
            is_expanded: false,
            fewest_given: usize::MAX,
            no_code: None,
        }
    }

    pub(super) fn into_scratch(self) -> Scratch {
        let Self { names, scopes, finish, consts, code, pool, .. } = self;
        Scratch { names, scopes, finish, consts, code, pool }
    }

    #[cold]
    pub(super) fn error(&mut self, at: ExprId, message: impl Into<String>, label: &str) {
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
    pub(super) fn loc(&self, id: ExprId) -> Loc {
        self.ast.source.loc(self.ast.span(id).start as usize)
    }

    #[inline]
    pub(super) fn text(&self, name: Symbol) -> &'a str {
        self.ctx.str(name)
    }

    // --- instructions ------------------------------------------------------------------------

    #[inline]
    pub(super) fn constant(&mut self, constant: Constant) -> Val {
        if let Some(&value) = self.consts.get(&constant) {
            return value;
        }
        let value = Val::constant(self.finish.consts.len() as u32);
        if let Constant::Func(name) = constant
            && is_test(self.text(name))
        {
            self.finish.tests.push(value);
        }
        self.finish.consts.push(self.ctx.constant_id(constant));
        self.consts.insert(constant, value);
        value
    }

    #[inline]
    pub(super) fn sym(&mut self, name: Symbol) -> Val {
        self.constant(Constant::Sym(name))
    }

    #[inline]
    pub(super) fn func(&mut self, name: Symbol) -> Val {
        self.constant(Constant::Func(name))
    }

    pub(super) fn unit(&mut self) -> Val {
        self.constant(Constant::Unit)
    }

    /// `call @name(args)`
    #[inline]
    pub(super) fn call(&mut self, name: Symbol, args: &[Val], loc: Loc) -> Val {
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
    pub(super) fn syntax(&mut self, name: Symbol, args: &[Val], loc: Loc) -> Val {
        let name = self.names.of_prelude(name);
        self.call(name, args, loc)
    }

    /// A number that nothing else of the session has.
    pub(super) fn fresh_number(&self) -> u32 {
        let number = self.options.counter.get() + 1;
        self.options.counter.set(number);
        number
    }

    /// A name that no user can write, of a function that is made here: `#name#N`, in the prelude
    /// `#name#base#N`.
    pub(super) fn fresh_name(&self, name: &str) -> (Symbol, u32) {
        let number = self.fresh_number();
        let space = if self.options.space == Space::Base { "base#" } else { "" };
        (self.ctx.symbol(&format!("#{name}#{space}{number}")), number)
    }
}
