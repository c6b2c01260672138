//! The table of intrinsics, and their methods as a file of the prelude.

/// The form of an intrinsic: what it takes, and how the op is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// `op(x)` of an integer, be it by the bits of an unsigned one.
    Int1,
    /// `op(x, y)` of two integers of one type, as with [`Int1`](Self::Int1).
    Int2,
    /// `op(x, y)` of two signed integers of one type.
    Signed,
    /// `op(x)` of a `Bool` or integer, as with [`Int1`](Self::Int1).
    Bits1,
    /// `op(x, y)` of two `Bool`s or integers of one type, as with [`Int1`](Self::Int1).
    Bits2,
    /// The same with a `Bool` as the result.
    Compare,
    /// `op(x, count)`, where the count may be unsigned.
    Shift,
    /// `op(x)` of a float.
    Float1,
    /// `op(x, y)` of two floats of one type.
    Float2,
    /// `op(x, y, z)` of three floats of one type.
    Float3,
    /// `op(T, x)` of a type and a `Bool` or signed integer.
    FromInt,
    /// `op(T, x)` of a type and a float.
    FromFloat,
}

/// An intrinsic.
#[derive(Clone, Copy, Debug)]
pub struct Intrinsic {
    /// The name in Julia's `Core.Intrinsics`.
    pub name: &'static str,
    /// The form.
    pub form: Form,
    /// The name of the op.
    pub op: &'static str,
}

/// The methods of a row, in the language.
macro_rules! methods {
    (Int1, $name:literal, $op:literal) => {
        concat!(
            $name,
            "(x::__Int) = ",
            $op,
            "(x)\n",
            $name,
            "(x::T) where T<:__UInt = __new(T, ",
            $op,
            "(x.bits))\n",
        )
    };
    (Int2, $name:literal, $op:literal) => {
        concat!(
            $name,
            "(x::T, y::T) where T<:__Int = ",
            $op,
            "(x, y)\n",
            $name,
            "(x::T, y::T) where T<:__UInt = __new(T, ",
            $op,
            "(x.bits, y.bits))\n",
        )
    };
    (Signed, $name:literal, $op:literal) => {
        concat!($name, "(x::T, y::T) where T<:__Int = ", $op, "(x, y)\n")
    };
    (Bits1, $name:literal, $op:literal) => {
        concat!(
            $name,
            "(x::__Bits) = ",
            $op,
            "(x)\n",
            $name,
            "(x::T) where T<:__UInt = __new(T, ",
            $op,
            "(x.bits))\n",
        )
    };
    (Bits2, $name:literal, $op:literal) => {
        concat!(
            $name,
            "(x::T, y::T) where T<:__Bits = ",
            $op,
            "(x, y)\n",
            $name,
            "(x::T, y::T) where T<:__UInt = __new(T, ",
            $op,
            "(x.bits, y.bits))\n",
        )
    };
    (Compare, $name:literal, $op:literal) => {
        concat!(
            $name,
            "(x::T, y::T) where T<:__Bits = ",
            $op,
            "(x, y)\n",
            $name,
            "(x::T, y::T) where T<:__UInt = ",
            $op,
            "(x.bits, y.bits)\n",
        )
    };
    (Shift, $name:literal, $op:literal) => {
        concat!(
            $name,
            "(x::__Int, n::__Integers) = ",
            $op,
            "(x, __as_int(n))\n",
            $name,
            "(x::T, n::__Integers) where T<:__UInt = __new(T, ",
            $op,
            "(x.bits, __as_int(n)))\n",
        )
    };
    (Float1, $name:literal, $op:literal) => {
        concat!($name, "(x::__Float) = ", $op, "(x)\n")
    };
    (Float2, $name:literal, $op:literal) => {
        concat!($name, "(x::T, y::T) where T<:__Float = ", $op, "(x, y)\n")
    };
    (Float3, $name:literal, $op:literal) => {
        concat!($name, "(x::T, y::T, z::T) where T<:__Float = ", $op, "(x, y, z)\n")
    };
    (FromInt, $name:literal, $op:literal) => {
        concat!($name, "(::Type{T}, x::__Bits) where T = ", $op, "(T, x)\n")
    };
    (FromFloat, $name:literal, $op:literal) => {
        concat!($name, "(::Type{T}, x::__Float) where T = ", $op, "(T, x)\n")
    };
}

macro_rules! intrinsics {
    ($($name:literal = $form:ident $op:literal;)*) => {
        /// Julia's intrinsics that are one op each.
        pub const INTRINSICS: &[Intrinsic] =
            &[$(Intrinsic { name: $name, form: Form::$form, op: $op }),*];

        /// Their methods, as a file of the prelude.
        pub const TEXT: &str = concat!($(methods!($form, $name, $op)),*);
    };
}

intrinsics! {
    "add_int" = Int2 "arith.add";
    "sub_int" = Int2 "arith.sub";
    "mul_int" = Int2 "arith.mul";
    "and_int" = Bits2 "arith.and";
    "or_int" = Bits2 "arith.or";
    "xor_int" = Bits2 "arith.xor";
    "neg_int" = Int1 "arith.neg";
    "not_int" = Bits1 "arith.not";
    "ctlz_int" = Int1 "arith.clz";
    "cttz_int" = Int1 "arith.ctz";
    "ctpop_int" = Int1 "arith.popcount";
    "bswap_int" = Int1 "arith.bswap";
    "sdiv_int" = Signed "arith.div";
    "srem_int" = Signed "arith.rem";
    "checked_sdiv_int" = Signed "arith.div";
    "checked_srem_int" = Signed "arith.rem";
    "eq_int" = Compare "arith.eq";
    "ne_int" = Compare "arith.ne";
    "slt_int" = Signed "arith.lt";
    "sle_int" = Signed "arith.le";
    "shl_int" = Shift "arith.shl";
    "lshr_int" = Shift "arith.shr";
    "ashr_int" = Shift "arith.ashr";
    "add_float" = Float2 "arith.add";
    "sub_float" = Float2 "arith.sub";
    "mul_float" = Float2 "arith.mul";
    "div_float" = Float2 "arith.fdiv";
    "rem_float" = Float2 "arith.frem";
    "add_float_fast" = Float2 "arith.add";
    "sub_float_fast" = Float2 "arith.sub";
    "mul_float_fast" = Float2 "arith.mul";
    "div_float_fast" = Float2 "arith.fdiv";
    "eq_float" = Float2 "arith.eq";
    "ne_float" = Float2 "arith.ne";
    "lt_float" = Float2 "arith.lt";
    "le_float" = Float2 "arith.le";
    "copysign_float" = Float2 "arith.copysign";
    "min_float" = Float2 "arith.min";
    "max_float" = Float2 "arith.max";
    "neg_float" = Float1 "arith.neg";
    "neg_float_fast" = Float1 "arith.neg";
    "abs_float" = Float1 "arith.abs";
    "floor_llvm" = Float1 "arith.floor";
    "ceil_llvm" = Float1 "arith.ceil";
    "trunc_llvm" = Float1 "arith.trunc";
    "rint_llvm" = Float1 "arith.round";
    "fma_float" = Float3 "arith.fma";
    "sitofp" = FromInt "arith.int_to_float";
    "sext_int" = FromInt "arith.sext";
    "zext_int" = FromInt "arith.zext";
    "trunc_int" = FromInt "arith.wrap";
    "fptosi" = FromFloat "arith.float_to_int";
    "fpext" = FromFloat "arith.float_cast";
    "fptrunc" = FromFloat "arith.float_cast";
}
