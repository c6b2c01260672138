//! The syntax tree of the Julia subset.
//!
//! Expressions live in one vector and name each other by [`ExprId`], lists of them in another, so
//! that a tree is two allocations, is copied as plain numbers and is walked without pointers.
//! Operators are calls: `x + y` is a [`Kind::Call`] of the name `+`. What is only another way to
//! write the same thing (`do` blocks, the short form of functions, `a ≤ b`) is not told apart.

use std::num::NonZeroU32;

use regraft_ir::{Source, Symbol};

use super::bits::{Bits, Words};

/// The id of an expression in its [`Ast`]. One that may be missing takes no more room.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ExprId(NonZeroU32);

impl ExprId {
    /// The id of the expression at this index.
    #[inline]
    pub(crate) const fn new(index: usize) -> Self {
        match NonZeroU32::new(index as u32 + 1) {
            Some(id) => Self(id),
            None => Self(NonZeroU32::MAX),
        }
    }

    /// A dense index for side tables: `0..ast.len()`.
    #[inline]
    pub const fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

const _: () = assert!(size_of::<Expr>() <= 40);

/// A list of expressions in its [`Ast`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct List {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

impl List {
    /// The number of its expressions.
    pub const fn len(self) -> usize {
        self.len as usize
    }

    /// Returns whether it has no expressions.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The same without the last expression.
    #[must_use]
    pub const fn but_last(self) -> Self {
        Self { start: self.start, len: self.len.saturating_sub(1) }
    }
}

/// The bytes of the source that an expression was written in: `start..end`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// The offset of its first byte.
    pub start: u32,
    /// The offset after its last byte.
    pub end: u32,
}

impl Span {
    /// As a range of bytes.
    pub const fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// An expression: what it is and where it stands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Expr {
    /// The kind of expression that it is.
    pub kind: Kind,
    /// Its place.
    pub span: Span,
}

/// The kind of an expression, with its parts. Statements and definitions are expressions, as in
/// Julia.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    // --- leaves ------------------------------------------------------------------------------
    /// `42`
    Int(i64),
    /// `2.5`
    Float(f64),
    /// `2.5f0`
    Float32(f32),
    /// `'c'`, `0xff`: a value of a type that is made of bits, with these bits.
    Bits(Bits, Words),
    /// `true`, `false`
    Bool(bool),
    /// `"text"`, escapes resolved.
    Str(Symbol),
    /// `:name`, `:+`
    Sym(Symbol),
    /// A name; an operator as a value (`+`, `(+)`) is one too. `Base.sum` is the
    /// [`Field`](Self::Field) `sum` of the name `Base`.
    Name(Symbol),
    /// `end` within an index (`begin` there is [`First`](Self::First)).
    End,
    /// `begin` within an index.
    First,
    /// A bare `:` as an index or argument.
    Colon,

    // --- calls -------------------------------------------------------------------------------
    /// `f(args...)`, and every operator: `-x`, `x + y`, `x'` (of the name `'`), `a:b`, `a:s:b`
    /// (of the name `:`), `2x` (of `*`), `!x`, `x in y`, `x isa T`, `A <: B`. Names are normalised: `≤` is `<=`,
    /// `≥` `>=`, `≠` `!=`, `∈` `in`, `÷` stays `÷`, `∘` stays `∘`, `∉` is `!` of `in`.
    /// `x + y + z` and `x * y * z` are one call of three arguments, as in Julia. Arguments may be
    /// [`Splat`](Self::Splat)s. With a `do` block, its function is the first argument.
    Call {
        /// The expression that is called.
        callee: ExprId,
        /// The arguments.
        args: List,
    },
    /// `f.(args...)`, and every operator with a dot: `x .+ y`, `.-x`, `x .^ 2`. A dotted chain
    /// is nested, for the lowering to fuse.
    Dot {
        /// The function that is broadcast.
        callee: ExprId,
        /// The arguments.
        args: List,
    },
    /// `a < b <= c`, two operators or more: operands and operator [`Name`](Self::Name)s take turns. A single comparison is a
    /// call.
    Compare {
        /// `a`, `<`, `b`, `<=`, `c`.
        parts: List,
    },
    /// `a && b`
    And(ExprId, ExprId),
    /// `a || b`
    Or(ExprId, ExprId),
    /// `a[i, j]`; without indices (`r[]`) as well. An index may be [`Colon`](Self::Colon), a splat, or hold
    /// [`End`](Self::End).
    Index {
        /// The expression that is indexed.
        base: ExprId,
        /// The indices.
        indices: List,
    },
    /// `x.name`
    Field {
        /// Whose field it is.
        base: ExprId,
        /// The name of the field.
        name: Symbol,
    },
    /// `P{A, B}`. A parameter may be `<:T` (a call of `<:` with one argument) or a literal.
    Curly {
        /// The type that is applied.
        base: ExprId,
        /// Its parameters.
        params: List,
    },
    /// `T where {A, B<:C}`; each parameter is a name, or a call of `<:`, or a [`Compare`](Self::Compare) `A <: T <: B`.
    Where {
        /// The type.
        body: ExprId,
        /// The parameters.
        params: List,
    },
    /// `x...` as an argument or an element.
    Splat(ExprId),
    /// `; a = 1, b, kw...`: the last of the arguments of a call, with all that it is given by name, or of
    /// the parameters of a function. Of a call, entries are as those of a [`NamedTuple`](Self::NamedTuple);
    /// of a function, [`Name`](Self::Name)s, [`Typed`](Self::Typed) ones, [`Assign`](Self::Assign)s of these to default values,
    /// and a [`Splat`](Self::Splat) at last.
    Keywords(List),
    /// `x::T`; `::T` without an `x` (in the parameters of a function).
    Typed {
        /// The expression of that type, if there is one.
        value: Option<ExprId>,
        /// The type.
        ty: ExprId,
    },

    // --- literals of collections -------------------------------------------------------------
    /// `(a, b)`, `(a,)`, `()`, and `a, b` on either side of an assignment.
    Tuple(List),
    /// `(a = 1, b = 2)`, `(; a, b)`: [`Assign`](Self::Assign)s of [`Name`](Self::Name)s, for `; a` and `; x.a` the
    /// name or field alone, and [`Splat`](Self::Splat)s of others. As the target of an assignment, `(; a, b)` takes fields apart.
    NamedTuple(List),
    /// `[a, b]`
    Vector(List),
    /// `[a b; c d]`, `[a; b]` and `[a b]`: a list of [`Row`](Self::Row)s.
    Matrix(List),
    /// One row of a matrix literal.
    Row(List),
    /// `T[a, b]` is an [`Index`](Self::Index), as in Julia. This is `[body for clauses]`;
    /// `T[body for clauses]` with a type.
    Comprehension {
        /// The element type, if it is written.
        ty: Option<ExprId>,
        /// The expression of an element.
        body: ExprId,
        /// [`In`](Self::In)s, and [`Filter`](Self::Filter)s. Clauses that are separated by commas are the dimensions of one array; `nested` tells
        /// `for a in x for b in y` (a flat list) from `for a in x, b in y` (a matrix).
        clauses: List,
        /// Tells whether there is more than one `for`.
        nested: bool,
    },
    /// `(body for clauses)`, and `f(body for clauses)`.
    Generator {
        /// The expression of an element.
        body: ExprId,
        /// As in [`Comprehension`](Self::Comprehension).
        clauses: List,
        /// As in [`Comprehension`](Self::Comprehension).
        nested: bool,
    },
    /// `target in iterable` (or `=`, or `∈`) of a `for`.
    In {
        /// A name, or a tuple of targets.
        target: ExprId,
        /// The expression that is iterated over.
        iterable: ExprId,
    },
    /// `if condition` of a comprehension.
    Filter(ExprId),

    // --- functions ---------------------------------------------------------------------------
    /// `x -> body`, `function (x) … end`, and the function of a `do` block.
    Lambda {
        /// Parameters: names, [`Typed`](Self::Typed), [`Splat`](Self::Splat) of one of these, tuples (which are taken apart), and
        /// [`Assign`](Self::Assign) of one of these to a default value; the last may be [`Keywords`](Self::Keywords).
        params: List,
        /// Type parameters of a `where`.
        wheres: List,
        /// The declared return type.
        returns: Option<ExprId>,
        /// The body.
        body: ExprId,
    },
    /// `function name(params...)::R where {T} body end`, and `name(params...) = body`.
    Function {
        /// A name; a field (`Base.sum`); [`Typed`](Self::Typed) for methods on what is called (`(p::P)(x) = …`, `(::Type{T})(x)`), a
        /// [`Curly`](Self::Curly) for constructors (`P{T}(x) where T = …`).
        name: ExprId,
        /// As in [`Lambda`](Self::Lambda).
        params: List,
        /// Type parameters of a `where`, innermost first.
        wheres: List,
        /// The declared return type.
        returns: Option<ExprId>,
        /// The body; `None` for `function name end`.
        body: Option<ExprId>,
        /// `@inline` or `@noinline` in front.
        inline: Option<bool>,
    },
    /// `@generated function f(params...) … end`, and a function whose body is `if @generated … else … end`.
    Generated {
        /// The [`Function`](Self::Function), whose body is what stands behind `else`, or
        /// [`Nothing`](Self::Nothing).
        function: ExprId,
        /// The `Function` that gives the code of its body. Its parameters are names: those of the type
        /// parameters, then those of the parameters.
        generator: ExprId,
    },

    // --- assignments -------------------------------------------------------------------------
    /// `target = value`. A target is a name, an index, a field, [`Typed`](Self::Typed) with a value, a tuple of targets (one of them
    /// may be a splat), or a named tuple of names.
    Assign {
        /// The target that is assigned to.
        target: ExprId,
        /// The value.
        value: ExprId,
    },
    /// `target op= value`
    Update {
        /// `+` of `+=`.
        op: Symbol,
        /// The target that is assigned to.
        target: ExprId,
        /// The other operand.
        value: ExprId,
    },
    /// `target .= value`
    DotAssign {
        /// The target that is written to.
        target: ExprId,
        /// The value, broadcast.
        value: ExprId,
    },
    /// `target .op= value`
    DotUpdate {
        /// `+` of `.+=`.
        op: Symbol,
        /// The target that is written to.
        target: ExprId,
        /// The other operand, broadcast.
        value: ExprId,
    },

    // --- control flow ------------------------------------------------------------------------
    /// `if`, `elseif` (an `If` as the otherwise), `c ? a : b`.
    If {
        /// The condition.
        condition: ExprId,
        /// The expression that is evaluated if it is true.
        then: ExprId,
        /// The expression that is evaluated otherwise, if there is one.
        otherwise: Option<ExprId>,
    },
    /// `while condition body end`
    While {
        /// The condition.
        condition: ExprId,
        /// The body.
        body: ExprId,
    },
    /// `for clauses body end`; several clauses nest, the last innermost, and one `break` leaves them all.
    For {
        /// [`In`](Self::In)s.
        clauses: List,
        /// The body.
        body: ExprId,
    },
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`, `return x`
    Return(Option<ExprId>),
    /// `@goto name`
    Goto(Symbol),
    /// `@label name`
    Label(Symbol),

    /// `try body catch error; handler else otherwise end`
    Try {
        /// The body.
        body: ExprId,
        /// The name of the error.
        error: Option<ExprId>,
        /// The code that is run if the body fails.
        handler: ExprId,
        /// The code that is run if it does not.
        otherwise: Option<ExprId>,
    },
    /// `try body finally last end`. With a `catch`, the body is another [`Try`](Self::Try).
    Finally {
        /// The body.
        body: ExprId,
        /// The code that is run in any case.
        last: ExprId,
    },

    // --- blocks and scopes -------------------------------------------------------------------
    /// `begin … end`, `(a; b)`, and the bodies of all else. It opens no scope.
    Block(List),
    /// `let x = 1, y … end`
    Let {
        /// Assignments, and names that are declared only.
        bindings: List,
        /// The body.
        body: ExprId,
    },
    /// `local x, y = 1`: names, typed names, assignments.
    Local(List),
    /// `global x, y = 1`
    Global(List),
    /// `const x = 1`
    Const(ExprId),

    // --- code as data ------------------------------------------------------------------------
    /// `:(…)` and `quote … end`: the value is the code. What is in it is data, not to be lowered:
    /// a [`Form`](Self::Form), or a leaf.
    Quote(ExprId),
    /// An expression as data, with Julia's head and arguments: `Expr(head, args...)`. Leaves in it are
    /// literals, [`Name`](Self::Name)s for symbols, [`Sym`](Self::Sym)s for symbols that are
    /// quoted (`QuoteNode`), and those below.
    Form {
        /// The kind of expression: `call`, `=`, `block`.
        head: Symbol,
        /// The arguments.
        args: List,
    },
    /// `$x` in a [`Quote`](Self::Quote): an expression that is evaluated, and whose value stands in its place. With
    /// a [`Splat`](Self::Splat) in it, all its elements do.
    Interpolate(ExprId),
    /// `LineNumberNode` in a [`Form`](Self::Form).
    Line {
        /// The name of the file; none if there is none.
        file: Option<Symbol>,
        /// The line, counted from 1.
        line: u32,
    },
    /// `nothing` in a [`Form`](Self::Form), as in `return` without a value.
    Nothing,
    /// A value that code was made with: its number among those of who made the tree.
    Value(u32),
    /// A name that is looked up in a module, whatever local variable has it.
    GlobalRef {
        /// The path of the module: `Main`, `Base`, `A.B`.
        module: Symbol,
        /// The name.
        name: Symbol,
    },
    /// `@name args...` of a macro that is not built in, to be expanded before it is lowered.
    MacroCall {
        /// The name with its `@`, or `M.@name`, as data.
        name: ExprId,
        /// The arguments, as data.
        args: List,
    },

    // --- macros ------------------------------------------------------------------------------
    /// `@inbounds body`
    Inbounds(ExprId),
    /// `@simd for … end`
    Simd(ExprId),
    /// `@view a[i, j]`: the part of the array itself, not a copy. What it holds is an
    /// [`Index`](Self::Index).
    View(ExprId),
    /// `@assert condition message`
    Assert {
        /// The condition.
        condition: ExprId,
        /// The message, if there is one.
        message: Option<ExprId>,
    },

    // --- definitions at top level ------------------------------------------------------------
    /// `struct Name{T} <: Super … end`
    Struct {
        /// The name.
        name: Symbol,
        /// Parameters: names and calls of `<:`.
        params: List,
        /// The type above it.
        supertype: Option<ExprId>,
        /// Tells whether it is a `mutable struct`.
        mutable: bool,
        /// Names, [`Typed`](Self::Typed) names, and [`Function`](Self::Function)s (inner constructors).
        fields: List,
    },
    /// `abstract type Name{T} <: Super end`
    Abstract {
        /// The name.
        name: Symbol,
        /// Parameters: names and calls of `<:`.
        params: List,
        /// The type above it.
        supertype: Option<ExprId>,
    },
    /// `module M … end`
    Module {
        /// The name.
        name: Symbol,
        /// Tells whether it is a `baremodule`.
        bare: bool,
        /// The statements.
        body: List,
    },
    /// `using A, .B: f`, `import Base: +`
    Using {
        /// Tells whether it is an `import`: methods that are defined under its names belong to what these
        /// names stand for.
        import: bool,
        /// [`Clause`](Self::Clause)s.
        clauses: List,
    },
    /// `A.B`, `A as C`, `A: f, g as h` in a `using` or `import`.
    Clause {
        /// [`Name`](Self::Name)s; where dots stand before them, they are the first one: `..`.
        path: List,
        /// The other name of the module.
        alias: Option<Symbol>,
        /// The names behind `:`, each a [`Name`](Self::Name), or an [`Assign`](Self::Assign) of one to another name.
        names: Option<List>,
    },
    /// `export a, b`: [`Name`](Self::Name)s.
    Export(List),
    /// A piece of text that could not be read. It has been reported.
    Error,
}

/// A text as a tree. [`Ast::statements`] are what stands at top level.
#[derive(Clone, Debug)]
pub struct Ast {
    /// The text.
    pub source: Source,
    pub(crate) exprs: Vec<Expr>,
    pub(crate) lists: Vec<ExprId>,
    pub(crate) statements: List,
    /// The calls of macros that are to be expanded, by id.
    pub(crate) macros: Vec<ExprId>,
}

impl Ast {
    /// An expression.
    #[inline]
    pub fn expr(&self, id: ExprId) -> Expr {
        self.exprs[id.index()]
    }

    /// Returns the kind of an expression.
    #[inline]
    pub fn kind(&self, id: ExprId) -> Kind {
        self.exprs[id.index()].kind
    }

    /// The place of an expression.
    #[inline]
    pub fn span(&self, id: ExprId) -> Span {
        self.exprs[id.index()].span
    }

    /// The expressions of a list.
    #[inline]
    pub fn list(&self, list: List) -> &[ExprId] {
        &self.lists[list.start as usize..(list.start + list.len) as usize]
    }

    /// The statements at top level, in order.
    pub fn statements(&self) -> &[ExprId] {
        self.list(self.statements)
    }

    /// Parts arguments or parameters: those with a position, and those with names, which are none
    /// where there are no [`Kind::Keywords`].
    pub fn parted(&self, list: List) -> (List, List) {
        match self.list(list).last().map(|&id| self.kind(id)) {
            Some(Kind::Keywords(named)) => (list.but_last(), named),
            _ => (list, List::default()),
        }
    }

    /// The calls of macros in a statement that are to be expanded, inner ones first.
    pub fn macros_in(&self, statement: ExprId) -> &[ExprId] {
        let end = self.macros.partition_point(|&id| id <= statement);
        let start = self.span(statement).start;
        let before = self.macros[..end].iter().rposition(|&id| self.span(id).start < start);
        &self.macros[before.map_or(0, |at| at + 1)..end]
    }

    /// Puts one expression in the place of another.
    pub fn replace(&mut self, id: ExprId, by: ExprId) {
        self.exprs[id.index()].kind = self.kind(by);
    }

    /// The number of expressions.
    pub fn len(&self) -> usize {
        self.exprs.len()
    }

    /// Returns whether there is no expression.
    pub fn is_empty(&self) -> bool {
        self.exprs.is_empty()
    }

    /// Makes a tree without statements, to be added to. Places in it are those of this text.
    pub fn empty(source: Source) -> Self {
        Self {
            source,
            exprs: Vec::new(),
            lists: Vec::new(),
            statements: List::default(),
            macros: Vec::new(),
        }
    }

    /// Adds an expression, as a rewriter of trees does.
    pub fn add(&mut self, kind: Kind, span: Span) -> ExprId {
        let id = ExprId::new(self.exprs.len());
        self.exprs.push(Expr { kind, span });
        id
    }

    /// Makes other expressions the statements at top level.
    pub fn set_statements(&mut self, statements: List) {
        self.statements = statements;
    }

    /// Adds a list.
    pub fn add_list(&mut self, ids: &[ExprId]) -> List {
        let start = self.lists.len() as u32;
        self.lists.extend_from_slice(ids);
        List { start, len: ids.len() as u32 }
    }
}
