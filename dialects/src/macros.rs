//! `dialect!`: declares each op of a dialect once.
//!
//! ```
//! use regraft_dialects::ir::Type;
//! use regraft_dialects::semantics::{Float, eval_scalar};
//!
//! regraft_dialects::dialect! {
//!     /// Ops of colours.
//!     dialect colour = 40;
//!
//!     /// The mean of two channels.
//!     ///
//!     /// `%3: f64 = colour.mix %1, %2`
//!     MIX = mix(x: T, y: T) -> T where T: Float [PURE, COMMUTATIVE] eval(mean);
//!
//!     /// Shows colours on the screen.
//!     SHOW = show(; colours: _...) -> unit {
//!         effects: regraft_dialects::ir::Effects::OPAQUE,
//!     };
//! }
//!
//! fn mean<T: Float>(x: T, y: T) -> T {
//!     (x + y) / T::round_from(2.0)
//! }
//! # fn main() {
//! let def = &DIALECT.ops[usize::from(MIX.index())];
//! assert_eq!(def.signature(), "colour.mix(x: T, y: T) -> T where T: a float type");
//! assert_eq!(def.doc.lines().next(), Some("The mean of two channels."));
//! let mixed = eval_scalar(def, &[1.0.into(), 2.0.into()], Type::F64);
//! assert_eq!(mixed, Some(Ok(1.5.into())));
//! # }
//! ```
//!
//! From an entry come the constant `MIX`, the builder function `mix(x, y)`, and the row of the
//! static `DIALECT`. An entry is, in order:
//!
//! - doc lines: what it computes, when it traps, an example of its IR text;
//! - `NAME = builder`, and `: "text"` if its name in IR text differs from that of the builder
//!   (because that is a Rust keyword); `NAME: "text"` alone makes no builder;
//! - the operands `name: pattern`, and after a `;` the variadic one, `name: pattern...`. A
//!   pattern is a builtin type, a type variable `T`, `U`, `V` or `W`, `[T]` for an array of
//!   it, `(ref T)` for a ref to it, or `_` for anything;
//! - the result: a builtin type, a type variable, `(ref T)`, `declared` (the builder takes a
//!   trailing `ty: Type`), or `(fn f)` for a function that computes it from an
//!   [`InstView`](crate::ir::InstView);
//! - `where` and the class of each type variable, in the order `T`, `U`, `V`, `W`;
//! - its traits in brackets, and other fields of [`OpDef`] in braces: `effects`, `identity` (`x op 0`
//!   is `x` for `identity: Some(0)`), `attrs`, `syntax`, `verify`, `fold`. Fields after the number of
//!   the dialect hold for all its ops;
//! - `eval(function)`, for an op on up to three scalars: the Rust function that computes it. Folds,
//!   passes and the interpreter call it; nothing else has to be said. It is generic over the class
//!   of `T`, and returns a scalar, or `Result<scalar, Trap>` if it may trap. Where classes have
//!   functions of their own, these are named: `eval(Int: int::add, Float: ops::Add::add)`. A class
//!   can also be a list of types: `[i32 f32]`. A conversion says which types it leads to, and its
//!   function is generic over both: `eval(Float => Int: convert::float_to_int)`.

use crate::ir::{Effects, FoldFn, Op, OpDef, ResultType, ScalarFns, Syntax, Traits, Type};

/// The fields of an op that its declaration does not mention.
#[doc(hidden)]
pub const EMPTY: OpDef = OpDef {
    op: Op::new(0, 0),
    name: "",
    doc: "",
    syntax: Syntax::Generic,
    operands: &[],
    variadic: false,
    type_vars: &[],
    result: ResultType::Is(Type::UNIT),
    traits: Traits::empty(),
    effects: Effects::NONE,
    identity: None,
    attrs: &[],
    verify: None,
    fold: None,
    eval: None,
};

/// The defaults of an op that is computed by `eval`: unless it is said how it folds, constants fold
/// to what that gives.
#[doc(hidden)]
pub const fn with_eval(defaults: OpDef, eval: Option<ScalarFns>) -> OpDef {
    let fold: Option<FoldFn> = match (defaults.fold, eval) {
        (None, Some(_)) => Some(crate::fold::scalar),
        (fold, _) => fold,
    };
    OpDef { fold, eval, ..defaults }
}

/// The length of the text of doc lines, without the blank that each line starts with.
#[doc(hidden)]
pub const fn doc_len(raw: &str) -> usize {
    let raw = raw.as_bytes();
    let (mut len, mut i, mut line_start) = (0, 0, true);
    while i < raw.len() {
        if !(line_start && raw[i] == b' ') {
            len += 1;
        }
        line_start = raw[i] == b'\n';
        i += 1;
    }
    len
}

/// The text of doc lines, without the blank that each line starts with.
#[doc(hidden)]
pub const fn doc_text<const N: usize>(raw: &str) -> [u8; N] {
    let raw = raw.as_bytes();
    let mut text = [0; N];
    let (mut len, mut i, mut line_start) = (0, 0, true);
    while i < raw.len() {
        if !(line_start && raw[i] == b' ') {
            text[len] = raw[i];
            len += 1;
        }
        line_start = raw[i] == b'\n';
        i += 1;
    }
    text
}

/// Declares the ops of a dialect; see the [module](crate::macros) for what an entry says.
#[macro_export]
macro_rules! dialect {
    (
        $(#[doc = $dialect_doc:literal])*
        dialect $dialect:ident = $number:literal $({
            $($default_key:ident: $default_value:expr),* $(,)?
        })?;
        $(
            $(#[doc = $doc:literal])*
            $name:ident $(= $builder:ident)? $(: $text:literal)?
            ($($operand:ident: $pattern:tt),* $(; $rest:ident: $rest_pattern:tt...)?)
            -> $result:tt
            $(where $($var:ident: $class:ident),+)?
            $([$($trait_name:ident),*])?
            $({ $($key:ident: $value:expr),* $(,)? })?
            $(eval $eval:tt)?;
        )*
    ) => {
        /// The number of each op within the dialect.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[repr(u16)]
        enum OpNumber { $($name),* }

        $(
            #[doc = concat!("`", stringify!($dialect), ".", $crate::__name!($($builder)?; $($text)?), "`:")]
            $(#[doc = $doc])*
            pub const $name: $crate::ir::Op = $crate::ir::Op::new($number, OpNumber::$name as u16);

            $crate::__builder! {
                [$($builder)?] $name [$($doc)*]
                ($($operand: $pattern),* $(; $rest: $rest_pattern...)?) $result
            }
        )*

        const DEFAULTS: $crate::ir::OpDef = $crate::ir::OpDef {
            $($($default_key: $default_value,)*)?
            ..$crate::macros::EMPTY
        };

        $(#[doc = $dialect_doc])*
        pub static DIALECT: $crate::ir::Dialect = $crate::ir::Dialect {
            number: $number,
            name: stringify!($dialect),
            doc: $crate::__doc!($($dialect_doc)*),
            ops: &[$($crate::ir::OpDef {
                op: $name,
                name: concat!(
                    stringify!($dialect), ".", $crate::__name!($($builder)?; $($text)?)
                ),
                doc: $crate::__doc!($($doc)*),
                operands: &[
                    $($crate::ir::OperandDef {
                        name: stringify!($operand),
                        pattern: $crate::__pattern!($pattern),
                    },)*
                    $($crate::ir::OperandDef {
                        name: stringify!($rest),
                        pattern: $crate::__pattern!($rest_pattern),
                    })?
                ],
                variadic: $crate::__is_some!($($rest)?),
                type_vars: &[$($($crate::ir::TypeClass::$class),+)?],
                result: $crate::__result!($result),
                traits: $crate::ir::Traits::empty()
                    $($(.union($crate::ir::Traits::$trait_name))*)?,
                $($($key: $value,)*)?
                ..$crate::macros::with_eval(
                    DEFAULTS,
                    $crate::__eval!([$($eval)?] [$($pattern)*] $result [$($($class)*)?]),
                )
            }),*],
        };
    };
}

/// The name of an op in IR text.
#[doc(hidden)]
#[macro_export]
macro_rules! __name {
    ($($builder:ident)?; $text:literal) => {
        $text
    };
    ($builder:ident;) => {
        stringify!($builder)
    };
}

/// Returns whether there is anything.
#[doc(hidden)]
#[macro_export]
macro_rules! __is_some {
    () => {
        false
    };
    ($some:ident) => {
        true
    };
}

/// Doc lines as one text.
#[doc(hidden)]
#[macro_export]
macro_rules! __doc {
    ($($line:literal)*) => {{
        const RAW: &str = concat!($($line, "\n"),*);
        const LEN: usize = $crate::macros::doc_len(RAW);
        const TEXT: [u8; LEN] = $crate::macros::doc_text(RAW);
        match ::std::str::from_utf8(&TEXT) {
            Ok(text) => text,
            Err(_) => panic!("dropping blanks leaves UTF-8"),
        }
    }};
}

/// A type or type variable as a [`TypePattern`](crate::ir::TypePattern).
#[doc(hidden)]
#[macro_export]
macro_rules! __pattern {
    (_) => {
        $crate::ir::TypePattern::Anything
    };
    ([$var:ident]) => {
        $crate::ir::TypePattern::ArrayOf($crate::__var!($var))
    };
    ((ref $var:ident)) => {
        $crate::ir::TypePattern::RefOf($crate::__var!($var))
    };
    (T) => {
        $crate::ir::TypePattern::Var(0)
    };
    (U) => {
        $crate::ir::TypePattern::Var(1)
    };
    (V) => {
        $crate::ir::TypePattern::Var(2)
    };
    (W) => {
        $crate::ir::TypePattern::Var(3)
    };
    ($ty:ident) => {
        $crate::ir::TypePattern::Is($crate::__type!($ty))
    };
}

/// A result as a [`ResultType`].
#[doc(hidden)]
#[macro_export]
macro_rules! __result {
    (declared) => {
        $crate::ir::ResultType::Declared
    };
    ((fn $compute:path)) => {
        $crate::ir::ResultType::Computed($compute)
    };
    ((ref $var:ident)) => {
        $crate::ir::ResultType::RefOf($crate::__var!($var))
    };
    (T) => {
        $crate::ir::ResultType::Var(0)
    };
    (U) => {
        $crate::ir::ResultType::Var(1)
    };
    (V) => {
        $crate::ir::ResultType::Var(2)
    };
    (W) => {
        $crate::ir::ResultType::Var(3)
    };
    ($ty:ident) => {
        $crate::ir::ResultType::Is($crate::__type!($ty))
    };
}

/// The number of a type variable.
#[doc(hidden)]
#[macro_export]
macro_rules! __var {
    (T) => {
        0
    };
    (U) => {
        1
    };
    (V) => {
        2
    };
    (W) => {
        3
    };
}

/// A builtin type.
#[doc(hidden)]
#[macro_export]
macro_rules! __type {
    (any) => {
        $crate::ir::Type::ANY
    };
    (never) => {
        $crate::ir::Type::NEVER
    };
    (unit) => {
        $crate::ir::Type::UNIT
    };
    (bool) => {
        $crate::ir::Type::BOOL
    };
    (i8) => {
        $crate::ir::Type::I8
    };
    (i16) => {
        $crate::ir::Type::I16
    };
    (i32) => {
        $crate::ir::Type::I32
    };
    (i64) => {
        $crate::ir::Type::I64
    };
    (f32) => {
        $crate::ir::Type::F32
    };
    (f64) => {
        $crate::ir::Type::F64
    };
    (sym) => {
        $crate::ir::Type::SYM
    };
    (str) => {
        $crate::ir::Type::STR
    };
}

/// The functions that compute an op, from its `eval` as [`ScalarFns`].
#[doc(hidden)]
#[macro_export]
macro_rules! __eval {
    ([] $($rest:tt)*) => {
        None
    };
    ([($($from:tt => $to:tt: $($f:ident)::+),+)] $($rest:tt)*) => {{
        fn find(types: &[$crate::ir::Type], ty: $crate::ir::Type) -> Option<$crate::ir::ScalarFn> {
            $($crate::__each!($from __conversions ($to ($($f)::+) types ty));)+
            None
        }
        Some(find as $crate::ir::ScalarFns)
    }};
    ([($($class:tt: $f:expr),+)] $operands:tt $result:tt $rest:tt) => {{
        fn find(types: &[$crate::ir::Type], _: $crate::ir::Type) -> Option<$crate::ir::ScalarFn> {
            $($crate::__each!($class __instance ($operands $result ($f) types));)+
            None
        }
        Some(find as $crate::ir::ScalarFns)
    }};
    ([($f:expr)] $operands:tt $result:tt []) => {
        $crate::__eval!([([f64]: $f)] $operands $result [])
    };
    ([($f:expr)] $operands:tt $result:tt [$class:ident $($others:ident)*]) => {
        $crate::__eval!([($class: $f)] $operands $result [])
    };
}

/// `$then!(type args)` for each type of a class.
#[doc(hidden)]
#[macro_export]
macro_rules! __each {
    ([$($t:ident)*] $then:ident $args:tt) => {
        $($crate::$then!($t $args);)*
    };
    (Int $then:ident $args:tt) => {
        $crate::__each!([i64 i32 i16 i8] $then $args);
    };
    (Float $then:ident $args:tt) => {
        $crate::__each!([f64 f32] $then $args);
    };
    (Number $then:ident $args:tt) => {
        $crate::__each!([f64 i64 f32 i32 i16 i8] $then $args);
    };
    (Bits $then:ident $args:tt) => {
        $crate::__each!([bool i64 i32 i16 i8] $then $args);
    };
    (Scalar $then:ident $args:tt) => {
        $crate::__each!([f64 i64 bool f32 i32 i16 i8] $then $args);
    };
}

/// Returns the function of an op on operands of type `$t`, if that is what they are.
#[doc(hidden)]
#[macro_export]
macro_rules! __instance {
    ($t:ident ([$($pattern:tt)*] $result:tt ($f:expr) $types:ident)) => {
        if *$types == [$(<$crate::__rust!($pattern $t) as $crate::semantics::Scalar>::TYPE),*] {
            return Some($crate::ir::ScalarFn {
                call: $crate::__call!(($f) $($crate::__rust!($pattern $t)),*),
                result: <$crate::__rust!($result $t) as $crate::semantics::Scalar>::TYPE,
            });
        }
    };
}

/// Returns the function of a conversion from type `$t`, if that is what the operand is.
#[doc(hidden)]
#[macro_export]
macro_rules! __conversions {
    ($t:ident ($to:tt $f:tt $types:ident $ty:ident)) => {
        if *$types == [<$t as $crate::semantics::Scalar>::TYPE] {
            $crate::__each!($to __conversion ($t $f $ty));
        }
    };
}

/// Returns the function of a conversion from `$from` to `$to`, if that is the type of the result.
#[doc(hidden)]
#[macro_export]
macro_rules! __conversion {
    ($to:ident ($from:ident ($($f:tt)+) $ty:ident)) => {
        if $ty == <$to as $crate::semantics::Scalar>::TYPE {
            return Some($crate::ir::ScalarFn {
                call: $crate::__call!(($($f)+::<$from, $to>) $from),
                result: $ty,
            });
        }
    };
}

/// A function of scalars as one of slots.
#[doc(hidden)]
#[macro_export]
macro_rules! __call {
    (($f:expr) $x:ty) => {
        |x, _, _| {
            $crate::semantics::Outcome::into_slot($f(<$x as $crate::semantics::Scalar>::from_slot(
                x,
            )))
        }
    };
    (($f:expr) $x:ty, $y:ty) => {
        |x, y, _| {
            $crate::semantics::Outcome::into_slot($f(
                <$x as $crate::semantics::Scalar>::from_slot(x),
                <$y as $crate::semantics::Scalar>::from_slot(y),
            ))
        }
    };
    (($f:expr) $x:ty, $y:ty, $z:ty) => {
        |x, y, z| {
            $crate::semantics::Outcome::into_slot($f(
                <$x as $crate::semantics::Scalar>::from_slot(x),
                <$y as $crate::semantics::Scalar>::from_slot(y),
                <$z as $crate::semantics::Scalar>::from_slot(z),
            ))
        }
    };
}

/// The Rust type of an operand or result where `T` is `$t`.
#[doc(hidden)]
#[macro_export]
macro_rules! __rust {
    (T $t:ident) => {
        $t
    };
    (_ $t:ident) => {
        $t
    };
    ($ty:ident $t:ident) => {
        $ty
    };
}

/// The builder function of an op, if it has one.
#[doc(hidden)]
#[macro_export]
macro_rules! __builder {
    ([] $($ignored:tt)*) => {};
    (
        [$builder:ident] $name:ident [$($doc:literal)*]
        ($($operand:ident: $pattern:tt),*) declared
    ) => {
        $(#[doc = $doc])*
        #[doc = ""]
        #[doc = concat!("`", stringify!(($($operand: $pattern),*) -> declared), "`")]
        #[inline]
        pub fn $builder(
            $($operand: impl Into<$crate::ir::Operand>,)*
            ty: $crate::ir::Type,
        ) -> $crate::ir::Inst {
            $crate::ir::Inst::of($name, [$($operand.into()),*]).with_type(ty)
        }
    };
    (
        [$builder:ident] $name:ident [$($doc:literal)*]
        ($($operand:ident: $pattern:tt),*; $rest:ident: $rest_pattern:tt...) declared
    ) => {
        $(#[doc = $doc])*
        #[doc = ""]
        #[doc = concat!(
            "`", stringify!(($($operand: $pattern,)* $rest: $rest_pattern...) -> declared), "`"
        )]
        #[inline]
        pub fn $builder(
            $($operand: impl Into<$crate::ir::Operand>,)*
            $rest: impl IntoIterator<Item = impl Into<$crate::ir::Operand>>,
            ty: $crate::ir::Type,
        ) -> $crate::ir::Inst {
            $crate::ir::Inst::of($name, [$($operand.into()),*]).operands($rest).with_type(ty)
        }
    };
    (
        [$builder:ident] $name:ident [$($doc:literal)*]
        ($($operand:ident: $pattern:tt),*) $result:tt
    ) => {
        $(#[doc = $doc])*
        #[doc = ""]
        #[doc = concat!("`", stringify!(($($operand: $pattern),*) -> $result), "`")]
        #[inline]
        pub fn $builder($($operand: impl Into<$crate::ir::Operand>),*) -> $crate::ir::Inst {
            $crate::ir::Inst::of($name, [$($operand.into()),*])
        }
    };
    (
        [$builder:ident] $name:ident [$($doc:literal)*]
        ($($operand:ident: $pattern:tt),*; $rest:ident: $rest_pattern:tt...) $result:tt
    ) => {
        $(#[doc = $doc])*
        #[doc = ""]
        #[doc = concat!(
            "`", stringify!(($($operand: $pattern,)* $rest: $rest_pattern...) -> $result), "`"
        )]
        #[inline]
        pub fn $builder(
            $($operand: impl Into<$crate::ir::Operand>,)*
            $rest: impl IntoIterator<Item = impl Into<$crate::ir::Operand>>,
        ) -> $crate::ir::Inst {
            $crate::ir::Inst::of($name, [$($operand.into()),*]).operands($rest)
        }
    };
}
