//! Operations: how a dialect declares them, and the registry that finds them.
//!
//! `ir` knows no op by name. Whatever it needs to know of one (its operand types, whether it
//! ends a block, how it prints) stands in its [`OpDef`]. What other crates know of it (how to
//! run it, how to differentiate it) stands in an [`OpTable`](crate::OpTable) of theirs.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::{Attrs, Constant, Interned, Operand, Trap, Type};

/// An operation: six bits of dialect number and ten of op number, fixed by the dialect, so that
/// it can be a constant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Op(u16);

impl Op {
    /// The "op" of a block parameter.
    pub(crate) const PARAM: Self = Self(u16::MAX);
    /// The "op" of a deleted value.
    pub(crate) const DEAD: Self = Self(u16::MAX - 1);
    /// The "op" of a terminator that is still missing.
    pub(crate) const MISSING: Self = Self(u16::MAX - 2);

    /// Dialect numbers from here on are free for users' dialects.
    pub const FIRST_USER_DIALECT: u8 = 32;
    /// The number of dialects there can be.
    pub const MAX_DIALECTS: u8 = 63;
    /// The number of ops that one dialect can have.
    pub const MAX_OPS: u16 = 1 << 10;

    /// Op number `index` of dialect number `dialect`.
    ///
    /// # Panics
    /// If `dialect >= Op::MAX_DIALECTS` or `index >= Op::MAX_OPS`; in a constant, that is an
    /// error of compilation.
    #[track_caller]
    pub const fn new(dialect: u8, index: u16) -> Self {
        assert!(dialect < Self::MAX_DIALECTS && index < Self::MAX_OPS);
        Self(((dialect as u16) << 10) | index)
    }

    /// The number of its dialect.
    #[inline]
    pub const fn dialect(self) -> u8 {
        (self.0 >> 10) as u8
    }

    /// Its number within the dialect.
    #[inline]
    pub const fn index(self) -> u16 {
        self.0 & (Self::MAX_OPS - 1)
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::PARAM => f.write_str("param"),
            Self::DEAD => f.write_str("dead"),
            Self::MISSING => f.write_str("missing"),
            _ => write!(f, "op {}.{}", self.dialect(), self.index()),
        }
    }
}

bitflags::bitflags! {
    /// The traits of every use of an op.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Traits: u8 {
        /// Its result depends on its operands and attributes alone, and (unless it may trap)
        /// running it does nothing else.
        const PURE = 1;
        /// Its first two operands may be swapped.
        const COMMUTATIVE = 2;
        /// It ends a block.
        const TERMINATOR = 4;
        /// It may stop the program with an error.
        const MAY_TRAP = 8;
        /// With one edge and no other operand, it goes there and does nothing else: what
        /// functions join blocks with. One op of a registry has it.
        const JUMP = 16;
        /// It leaves the function with its first operand as the result, or with `nothing` if
        /// it has none.
        const RETURN = 32;
        /// Its first operand is the callee. If it is written as [`Syntax::Call`], the others are
        /// the arguments.
        const CALL = 64;
    }
}

/// A set of operand positions; position 31 stands for itself and all that follow.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct OperandSet(pub u32);

impl OperandSet {
    /// No operand.
    pub const NONE: Self = Self(0);
    /// Every operand.
    pub const ALL: Self = Self(u32::MAX);

    /// One operand.
    pub const fn one(position: usize) -> Self {
        Self(1 << if position > 31 { 31 } else { position })
    }

    /// The set with one more operand.
    #[must_use]
    pub const fn with(self, position: usize) -> Self {
        Self(self.0 | Self::one(position).0)
    }

    /// Returns whether the operand at `position` is in the set.
    pub const fn contains(self, position: usize) -> bool {
        self.0 & Self::one(position).0 != 0
    }

    /// Returns whether no operand is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The effects of an op on memory and on the world.
///
/// An object has two parts: its contents (the elements of an array, what a ref holds, the fields
/// of a mutable struct) and its shape (how many elements an array has along each dimension).
/// Most of what writes to an object leaves its shape alone, and a length is the same before and
/// after.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Effects {
    /// Operands whose object's contents are read.
    pub reads: OperandSet,
    /// Operands whose object's contents are written.
    pub writes: OperandSet,
    /// Operands whose object's shape is read, be it to check an index.
    pub reads_shape: OperandSet,
    /// Operands whose object's shape is changed.
    pub writes_shape: OperandSet,
    /// All objects that can be reached from an operand are read as the operand itself is.
    pub deep: bool,
    /// Something is read that no operand stands for, such as the value of a global name: it may be
    /// different after what may write any object.
    pub reads_globals: bool,
    /// The result is a new object; of an op that is opaque, it may be one.
    pub allocates: bool,
    /// It can be observed when it happens, as output can: it may not go, nor change places with
    /// another such op. Beside its operands it touches no object.
    pub observable: bool,
    /// Anything may happen: output, or reads and writes of any object.
    pub opaque: bool,
}

impl Effects {
    /// No effect at all.
    pub const NONE: Self = Self {
        reads: OperandSet::NONE,
        writes: OperandSet::NONE,
        reads_shape: OperandSet::NONE,
        writes_shape: OperandSet::NONE,
        deep: false,
        reads_globals: false,
        allocates: false,
        observable: false,
        opaque: false,
    };
    /// Anything.
    pub const OPAQUE: Self = Self {
        reads: OperandSet::ALL,
        writes: OperandSet::ALL,
        reads_shape: OperandSet::ALL,
        writes_shape: OperandSet::ALL,
        deep: true,
        reads_globals: true,
        allocates: true,
        observable: true,
        opaque: true,
    };

    /// Returns whether objects may be changed, or anything else that can be observed later.
    pub const fn writes_anything(self) -> bool {
        self.opaque || self.observable || !self.writes.is_empty() || !self.writes_shape.is_empty()
    }
}

/// The types that a type variable of a signature may stand for. `any` is always allowed: then
/// the check is made when the program runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeClass {
    /// Every type.
    Any,
    /// `i8` to `i64`, `f32`, `f64`.
    Number,
    /// `i8` to `i64`.
    Int,
    /// `f32`, `f64`.
    Float,
    /// `bool` and `i8` to `i64`.
    Bits,
    /// `bool`, integers and floats.
    Scalar,
}

impl TypeClass {
    /// Returns whether `ty` belongs to the class.
    #[inline]
    pub const fn contains(self, ty: Type) -> bool {
        // The ids of builtin types are small and fixed: a set of them is a mask.
        match self {
            Self::Any => true,
            _ => ty.0 < 32 && (self.mask() >> ty.0) & 1 != 0,
        }
    }

    /// The builtin types of the class.
    #[inline]
    const fn mask(self) -> u32 {
        const fn range(first: Type, last: Type) -> u32 {
            ((1 << (last.0 - first.0 + 1)) - 1) << first.0
        }
        let any = range(Type::ANY, Type::ANY);
        any | match self {
            Self::Any => u32::MAX,
            Self::Number => range(Type::I8, Type::F64),
            Self::Int => range(Type::I8, Type::I64),
            Self::Float => range(Type::F32, Type::F64),
            Self::Bits => range(Type::BOOL, Type::I64),
            Self::Scalar => range(Type::BOOL, Type::F64),
        }
    }

    /// The class in words, for messages.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Any => "any type",
            Self::Number => "a number type",
            Self::Int => "an integer type",
            Self::Float => "a float type",
            Self::Bits => "bool or an integer type",
            Self::Scalar => "a scalar type",
        }
    }
}

/// The form that the type of an operand must have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypePattern {
    /// This type.
    Is(Type),
    /// The type that the variable stands for; every occurrence of a variable is the same type.
    Var(u8),
    /// An array, of any rank, of what the variable stands for.
    ArrayOf(u8),
    /// A ref of what the variable stands for.
    RefOf(u8),
    /// Whatever it is.
    Anything,
}

/// The source of the type of a result.
#[derive(Clone, Copy, Debug)]
pub enum ResultType {
    /// It is always this type.
    Is(Type),
    /// It is what the variable stands for.
    Var(u8),
    /// It is a ref of what the variable stands for.
    RefOf(u8),
    /// Whoever makes the instruction says it (`any` if nobody does); `verify` checks it.
    Declared,
    /// It is computed from operands and attributes.
    Computed(fn(&InstView<'_>) -> Result<Type, String>),
}

/// An operand of an op.
#[derive(Clone, Copy, Debug)]
pub struct OperandDef {
    /// Its name, for messages and documentation.
    pub name: &'static str,
    /// Its type.
    pub pattern: TypePattern,
}

/// An attribute of an op.
#[derive(Clone, Copy, Debug)]
pub struct AttrDef {
    /// Its name.
    pub name: &'static str,
    /// The type of its value.
    pub pattern: TypePattern,
    /// True if it has to be there.
    pub required: bool,
}

/// The syntax of an op in IR text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Syntax {
    /// `dialect.op operands {attributes}`.
    Generic,
    /// The same with a mnemonic without a dialect: `br`, `return`.
    Short(&'static str),
    /// `call @f(operands)`: the first operand is the callee.
    Call(&'static str),
    /// `switch %x, ^default, 1: ^2, 5: ^3(%a)`. The operands are the value, the cases, and then
    /// the targets, the default first.
    Switch(&'static str),
}

/// The result of folding an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fold {
    /// It is always this constant.
    Constant(Constant),
    /// It is always the operand at this position.
    Operand(usize),
}

/// An instruction as the functions of an [`OpDef`] see it, whether it is in a function or is
/// being made.
#[derive(Clone, Copy, Debug)]
pub struct InstView<'a> {
    /// The types and constants of the program.
    pub ctx: &'a Interned,
    /// Its op.
    pub def: &'static OpDef,
    /// Its operands; the targets of edges and their arguments are among them.
    pub operands: &'a [Operand],
    /// The types of the operands, `never` for the targets of edges.
    pub types: &'a [Type],
    /// Its attributes.
    pub attrs: Attrs,
    /// The type of its result, as far as it is known: what was declared, or `any`.
    pub ty: Type,
}

impl InstView<'_> {
    /// The constant at `position`, if there is an operand and it is constant.
    pub fn constant(&self, position: usize) -> Option<Constant> {
        Some(self.ctx.constant(self.operands.get(position)?.as_const()?))
    }

    /// The attribute of that name.
    pub fn attr(&self, name: &str) -> Option<Constant> {
        self.ctx.attr(self.attrs, name).map(|c| self.ctx.constant(c))
    }

    /// The number of edges that leave it.
    pub fn edge_count(&self) -> usize {
        self.operands.iter().filter(|operand| operand.is_block()).count()
    }
}

/// Checks an instruction; the error is a sentence without a full stop.
pub type VerifyFn = fn(&InstView<'_>) -> Result<(), String>;

/// Simplifies an instruction, if it can be.
pub type FoldFn = fn(&InstView<'_>) -> Option<Fold>;

/// A pure function of at most three scalars, compiled for their types.
///
/// Scalars are passed in slots of 64 bits: integers are sign-extended, a `bool` is 0 or 1, and
/// floats stand as their bits, those of an `f32` zero-extended. Slots after the last operand are
/// ignored.
#[derive(Clone, Copy, Debug)]
pub struct ScalarFn {
    /// Computes the slot of the result.
    pub call: fn(u64, u64, u64) -> Result<u64, Trap>,
    /// The type of the result.
    pub result: Type,
}

/// Finds the function that computes an op on scalars of these types; `None` if the op is not
/// defined for them. The second argument is the declared type of the result, which matters to
/// conversions alone.
pub type ScalarFns = fn(&[Type], Type) -> Option<ScalarFn>;

/// The declaration of an op.
#[derive(Clone, Copy, Debug)]
pub struct OpDef {
    /// Its handle.
    pub op: Op,
    /// Its full name: `arith.add`.
    pub name: &'static str,
    /// Its page, in Markdown; the first line is a summary.
    pub doc: &'static str,
    /// Its syntax.
    pub syntax: Syntax,
    /// Its operands in order.
    pub operands: &'static [OperandDef],
    /// True if the last of `operands` may occur any number of times, none included.
    pub variadic: bool,
    /// The types that each type variable of the signature may stand for.
    pub type_vars: &'static [TypeClass],
    /// The type of its result.
    pub result: ResultType,
    /// Its traits.
    pub traits: Traits,
    /// Its effects; an op that is [`Traits::PURE`] has none.
    pub effects: Effects,
    /// The integer that, as the second operand, makes the result the first one. As the first operand,
    /// it makes the result the second one if the op is [`Traits::COMMUTATIVE`]. Of bools, -1 is true.
    /// It says nothing of a second operand that is a float.
    pub identity: Option<i64>,
    /// Its attributes.
    pub attrs: &'static [AttrDef],
    /// Checks what the signature cannot say; the error is a sentence without a full stop.
    pub verify: Option<VerifyFn>,
    /// Simplifies it, exactly: bit for bit, traps included.
    pub fold: Option<FoldFn>,
    /// Computes it on scalars. Folds and the interpreter call the same functions.
    pub eval: Option<ScalarFns>,
}

impl OpDef {
    /// The name of its dialect.
    pub fn dialect_name(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(dialect, _)| dialect)
    }

    /// Its name in IR text: the short form, or the full name.
    pub fn mnemonic(&self) -> &'static str {
        match self.syntax {
            Syntax::Generic => self.name,
            Syntax::Short(name) | Syntax::Call(name) | Syntax::Switch(name) => name,
        }
    }

    /// Returns whether it ends a block.
    #[inline]
    pub const fn is_terminator(&self) -> bool {
        self.traits.contains(Traits::TERMINATOR)
    }

    /// Returns whether an instruction of it can be dropped when nobody uses its result.
    #[inline]
    pub const fn is_removable(&self) -> bool {
        !self.effects.writes_anything()
            && !self.traits.contains(Traits::MAY_TRAP)
            && !self.traits.contains(Traits::TERMINATOR)
    }

    /// The signature in words: `add(x: T, y: T) -> T where T: a number type`.
    pub fn signature(&self) -> String {
        use fmt::Write;
        let var = |v: u8| char::from(b'T' + v);
        let mut out = format!("{}(", self.name);
        for (i, operand) in self.operands.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            let dots = if self.variadic && i + 1 == self.operands.len() { "..." } else { "" };
            let _ = write!(out, "{comma}{}{dots}: {}", operand.name, pattern_text(operand.pattern));
        }
        out.push_str(") -> ");
        match self.result {
            ResultType::Is(ty) => out.push_str(builtin_name(ty)),
            ResultType::Var(v) => out.push(var(v)),
            ResultType::RefOf(v) => {
                let _ = write!(out, "ref<{}>", var(v));
            }
            ResultType::Declared => out.push_str("declared"),
            ResultType::Computed(_) => out.push_str("computed"),
        }
        for (i, class) in self.type_vars.iter().enumerate() {
            let lead = if i == 0 { " where " } else { ", " };
            let _ = write!(out, "{lead}{}: {}", var(i as u8), class.describe());
        }
        out
    }
}

fn builtin_name(ty: Type) -> &'static str {
    Type::BUILTIN.get(ty.index()).map_or("?", |&(_, name)| name)
}

/// A pattern in words, with `T`, `U`, .. for the type variables.
pub(crate) fn pattern_text(pattern: TypePattern) -> String {
    let var = |v: u8| char::from(b'T' + v);
    match pattern {
        TypePattern::Is(ty) => builtin_name(ty).to_owned(),
        TypePattern::Var(v) => var(v).to_string(),
        TypePattern::ArrayOf(v) => format!("array<{}, _>", var(v)),
        TypePattern::RefOf(v) => format!("ref<{}>", var(v)),
        TypePattern::Anything => "_".to_owned(),
    }
}

/// A family of ops.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// Its number, the same as in its ops.
    pub number: u8,
    /// Its name, the part before the dot.
    pub name: &'static str,
    /// Its subject, in Markdown.
    pub doc: &'static str,
    /// Its ops; the one at position `i` has number `i`.
    pub ops: &'static [OpDef],
}

/// The ops that a program can be made of.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    dialects: Vec<Option<&'static Dialect>>,
    by_name: FxHashMap<&'static str, Op>,
    jump: Option<Op>,
}

impl Registry {
    /// A registry without any op.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a dialect; adding the same one again does nothing.
    ///
    /// # Panics
    /// If its number or the name of one of its ops is taken by another dialect, or if its ops
    /// are not numbered in order: that is a mistake in the program that registers it, which has
    /// to be seen at once.
    #[track_caller]
    pub fn add(&mut self, dialect: &'static Dialect) -> &mut Self {
        let number = usize::from(dialect.number);
        if self.dialects.len() <= number {
            self.dialects.resize(number + 1, None);
        }
        if let Some(other) = self.dialects[number] {
            assert!(
                std::ptr::eq(other, dialect) || other.name == dialect.name,
                "dialects `{}` and `{}` have the same number {number}",
                other.name,
                dialect.name
            );
            return self;
        }
        for (i, def) in dialect.ops.iter().enumerate() {
            assert_eq!(
                def.op,
                Op::new(dialect.number, i as u16),
                "op `{}` does not stand at its number in its dialect",
                def.name
            );
            for name in [def.name, def.mnemonic()] {
                let other = self.by_name.insert(name, def.op);
                assert!(other.is_none_or(|other| other == def.op), "op `{name}` is there twice");
            }
        }
        let jump = dialect.ops.iter().find(|def| def.traits.contains(Traits::JUMP));
        self.jump = self.jump.or(jump.map(|def| def.op));
        self.dialects[number] = Some(dialect);
        self
    }

    /// The declaration of an op. O(1).
    #[inline]
    pub fn def(&self, op: Op) -> Option<&'static OpDef> {
        let dialect = (*self.dialects.get(usize::from(op.dialect()))?)?;
        dialect.ops.get(usize::from(op.index()))
    }

    /// The op of that name, in full (`cf.br`) or short (`br`).
    pub fn find(&self, name: &str) -> Option<&'static OpDef> {
        self.def(*self.by_name.get(name)?)
    }

    /// The op that goes to another block and does nothing else.
    pub fn jump(&self) -> Option<Op> {
        self.jump
    }

    /// All dialects, by number.
    pub fn dialects(&self) -> impl Iterator<Item = &'static Dialect> + '_ {
        self.dialects.iter().filter_map(|dialect| *dialect)
    }

    /// All ops, by dialect and number.
    pub fn ops(&self) -> impl Iterator<Item = &'static OpDef> + '_ {
        self.dialects().flat_map(|dialect| dialect.ops)
    }
}
