//! `arith`: integers, floats and bools.
//!
//! Integers are two's complement and signed. Arithmetic wraps unless an op says otherwise.
//! Floats are IEEE 754 with rounding to nearest, ties to even. Where an op is defined for
//! integers and floats alike, it traps for neither; where one of them would trap there are
//! two ops, so that the other can be moved and removed freely (`div` and `fdiv`).
//!
//! ```
//! use regraft_dialects::{arith, context};
//! use regraft_ir::{FunctionBuilder, Type};
//!
//! let ctx = context();
//! let mut b = FunctionBuilder::new(&ctx, "f", &[Type::I64], Type::I64);
//! let more = b.push(arith::add(b.param(0), b.const_i64(1)))?;
//! let less = b.push(arith::lt(b.param(0), more))?;
//! assert_eq!((b.function().ty(more), b.function().ty(less)), (Type::I64, Type::BOOL));
//! # Ok::<(), regraft_ir::IrError>(())
//! ```

use std::ops;

use crate::convert::{
    verify_bitcast, verify_float_cast, verify_float_to_int, verify_int_to_float, verify_sext,
    verify_wrap, verify_zext,
};
use crate::semantics::{Float, convert, float, int, scalar};

crate::dialect! {
    /// Arithmetic, comparisons and conversions of integers, floats and bools.
    dialect arith = 2;

    /// The sum; of integers, it wraps.
    ///
    /// `%3: f64 = arith.add %1, %2`
    ADD = add(x: T, y: T) -> T where T: Number [PURE, COMMUTATIVE] { identity: Some(0) }
        eval(Int: int::add, Float: ops::Add::add);

    /// The difference; of integers, it wraps.
    ///
    /// `%3: i64 = arith.sub %1, 1`
    SUB = sub(x: T, y: T) -> T where T: Number [PURE] { identity: Some(0) }
        eval(Int: int::sub, Float: ops::Sub::sub);

    /// The product; of integers, it wraps.
    ///
    /// `%3: f64 = arith.mul %1, 2.0`
    MUL = mul(x: T, y: T) -> T where T: Number [PURE, COMMUTATIVE] { identity: Some(1) }
        eval(Int: int::mul, Float: ops::Mul::mul);

    /// The product of floats in which a zero wins: it is 0 if a factor is, also where the other
    /// one is infinite or NaN.
    ///
    /// `%3: f64 = arith.mulz %1, %2`
    MULZ = mulz(x: T, y: T) -> T where T: Float [PURE, COMMUTATIVE] eval(float::mulz);

    /// The quotient of integers, rounded toward zero: Julia's `div`. For floats, see
    /// `arith.fdiv`.
    ///
    /// Traps (`DivideError`) if `y` is 0, and if the quotient is out of range (the least
    /// integer by -1).
    ///
    /// `%3: i64 = arith.div %1, %2`
    DIV = div(x: T, y: T) -> T where T: Int [PURE, MAY_TRAP] { identity: Some(1) } eval(int::div);

    /// The remainder of `arith.div`; it has the sign of `x`: Julia's `rem` and `%`.
    ///
    /// Traps (`DivideError`) if `y` is 0. By -1 it is 0.
    ///
    /// `%3: i64 = arith.rem %1, %2`
    REM = rem(x: T, y: T) -> T where T: Int [PURE, MAY_TRAP] eval(int::rem);

    /// The quotient of integers, rounded down: Julia's `fld`.
    ///
    /// Traps as `arith.div` does.
    ///
    /// `%3: i64 = arith.fld %1, %2`
    FLD = fld(x: T, y: T) -> T where T: Int [PURE, MAY_TRAP] { identity: Some(1) } eval(int::fld);

    /// The quotient of integers, rounded up: Julia's `cld`.
    ///
    /// Traps as `arith.div` does.
    ///
    /// `%3: i64 = arith.cld %1, %2`
    CLD = cld(x: T, y: T) -> T where T: Int [PURE, MAY_TRAP] { identity: Some(1) } eval(int::cld);

    /// The remainder of `arith.fld`; it has the sign of `y`: Julia's `mod`.
    ///
    /// Traps (`DivideError`) if `y` is 0. By -1 it is 0.
    ///
    /// `%3: i64 = arith.mod %1, %2`
    MOD = modulo: "mod"(x: T, y: T) -> T where T: Int [PURE, MAY_TRAP] eval(int::modulo);

    /// The quotient of floats as IEEE 754 has it: Julia's `/`. It never traps.
    ///
    /// `%3: f64 = arith.fdiv %1, %2`
    FDIV = fdiv(x: T, y: T) -> T where T: Float [PURE] eval(ops::Div::div);

    /// The exact remainder of floats after division rounded toward zero; it has the sign of
    /// `x`: Julia's `rem`, C's `fmod`. NaN if `x` is infinite or `y` is 0.
    ///
    /// `%3: f64 = arith.frem %1, %2`
    FREM = frem(x: T, y: T) -> T where T: Float [PURE] eval(ops::Rem::rem);

    /// The remainder of floats after division rounded down; it has the sign of `y`: Julia's
    /// `mod`.
    ///
    /// `%3: f64 = arith.floor_mod %1, %2`
    FLOOR_MOD = floor_mod(x: T, y: T) -> T where T: Float [PURE] eval(float::floor_mod);

    /// The negative; the least integer is its own. Of a float, it flips the sign bit, of a NaN
    /// too.
    ///
    /// `%2: f64 = arith.neg %1`
    NEG = neg(x: T) -> T where T: Number [PURE] eval(Int: int::neg, Float: ops::Neg::neg);

    /// The absolute value; the least integer is its own. Of a float, it clears the sign bit, of
    /// a NaN too.
    ///
    /// `%2: f64 = arith.abs %1`
    ABS = abs(x: T) -> T where T: Number [PURE] eval(Int: int::abs, Float: Float::abs);

    /// The lesser of two numbers. Of floats: NaN if either is NaN, and `-0.0` is less than
    /// `0.0`.
    ///
    /// `%3: f64 = arith.min %1, %2`
    MIN = min(x: T, y: T) -> T where T: Number [PURE] eval(Int: Ord::min, Float: float::min);

    /// The greater of two numbers. Of floats: NaN if either is NaN, and `-0.0` is less than
    /// `0.0`.
    ///
    /// `%3: f64 = arith.max %1, %2`
    MAX = max(x: T, y: T) -> T where T: Number [PURE] eval(Int: Ord::max, Float: float::max);

    /// True if two scalars are equal. A NaN equals nothing, and `0.0` equals `-0.0`.
    ///
    /// `%3: bool = arith.eq %1, %2`
    EQ = eq(x: T, y: T) -> bool where T: Scalar [PURE, COMMUTATIVE] eval(scalar::eq);

    /// True if two scalars differ: not `arith.eq`.
    ///
    /// `%3: bool = arith.ne %1, %2`
    NE = ne(x: T, y: T) -> bool where T: Scalar [PURE, COMMUTATIVE] eval(scalar::ne);

    /// True if `x` is less than `y`; false if either is NaN. `false` is less than `true`.
    ///
    /// `%3: bool = arith.lt %1, %2`
    LT = lt(x: T, y: T) -> bool where T: Scalar [PURE] eval(scalar::lt);

    /// True if `x` is less than or equal to `y`; false if either is NaN.
    ///
    /// `%3: bool = arith.le %1, %2`
    LE = le(x: T, y: T) -> bool where T: Scalar [PURE] eval(scalar::le);

    /// True if `x` is greater than `y`; false if either is NaN.
    ///
    /// `%3: bool = arith.gt %1, %2`
    GT = gt(x: T, y: T) -> bool where T: Scalar [PURE] eval(scalar::gt);

    /// True if `x` is greater than or equal to `y`; false if either is NaN.
    ///
    /// `%3: bool = arith.ge %1, %2`
    GE = ge(x: T, y: T) -> bool where T: Scalar [PURE] eval(scalar::ge);

    /// And, bit by bit.
    ///
    /// `%3: bool = arith.and %1, %2`
    AND = and(x: T, y: T) -> T where T: Bits [PURE, COMMUTATIVE] { identity: Some(-1) }
        eval(ops::BitAnd::bitand);

    /// Or, bit by bit.
    ///
    /// `%3: bool = arith.or %1, %2`
    OR = or(x: T, y: T) -> T where T: Bits [PURE, COMMUTATIVE] { identity: Some(0) }
        eval(ops::BitOr::bitor);

    /// Exclusive or, bit by bit.
    ///
    /// `%3: bool = arith.xor %1, %2`
    XOR = xor(x: T, y: T) -> T where T: Bits [PURE, COMMUTATIVE] { identity: Some(0) }
        eval(ops::BitXor::bitxor);

    /// Not, bit by bit.
    ///
    /// `%2: bool = arith.not %1`
    NOT = not(x: T) -> T where T: Bits [PURE] eval(ops::Not::not);

    /// Bits moved to the left, zeros from the right: Julia's `<<`.
    ///
    /// By the width or more it is 0. A negative count shifts to the right, as `arith.ashr`.
    ///
    /// `%3: i32 = arith.shl %1, 3`
    SHL = shl(x: T, count: i64) -> T where T: Int [PURE] { identity: Some(0) } eval(int::shl);

    /// Bits moved to the right, zeros from the left: Julia's `>>>`.
    ///
    /// By the width or more it is 0. A negative count shifts to the left, as `arith.shl`.
    ///
    /// `%3: i32 = arith.shr %1, 3`
    SHR = shr(x: T, count: i64) -> T where T: Int [PURE] { identity: Some(0) } eval(int::shr);

    /// Bits moved to the right, copies of the sign bit from the left: Julia's `>>`.
    ///
    /// By the width or more it is 0 or -1, as the sign of `x`. A negative count shifts to the
    /// left, as `arith.shl`.
    ///
    /// `%3: i32 = arith.ashr %1, 3`
    ASHR = ashr(x: T, count: i64) -> T where T: Int [PURE] { identity: Some(0) } eval(int::ashr);

    /// The number of zero bits above the highest one; of 0, the width.
    ///
    /// `%2: i64 = arith.clz %1`
    CLZ = clz(x: T) -> T where T: Int [PURE] eval(int::clz);

    /// The number of zero bits below the lowest one; of 0, the width.
    ///
    /// `%2: i64 = arith.ctz %1`
    CTZ = ctz(x: T) -> T where T: Int [PURE] eval(int::ctz);

    /// The number of one bits.
    ///
    /// `%2: i64 = arith.popcount %1`
    POPCOUNT = popcount(x: T) -> T where T: Int [PURE] eval(int::popcount);

    /// The bits in reverse order.
    ///
    /// `%2: i64 = arith.bitreverse %1`
    BITREVERSE = bitreverse(x: T) -> T where T: Int [PURE] eval(int::bitreverse);

    /// The bytes in reverse order.
    ///
    /// `%2: i64 = arith.bswap %1`
    BSWAP = bswap(x: T) -> T where T: Int [PURE] eval(int::bswap);

    /// The sum. Traps (`OverflowError`) if it is out of range.
    ///
    /// `%3: i64 = arith.checked_add %1, %2`
    CHECKED_ADD = checked_add(x: T, y: T) -> T where T: Int [PURE, COMMUTATIVE, MAY_TRAP] {
        identity: Some(0),
    } eval(int::checked_add);

    /// The difference. Traps (`OverflowError`) if it is out of range.
    ///
    /// `%3: i64 = arith.checked_sub %1, %2`
    CHECKED_SUB = checked_sub(x: T, y: T) -> T where T: Int [PURE, MAY_TRAP] { identity: Some(0) }
        eval(int::checked_sub);

    /// The product. Traps (`OverflowError`) if it is out of range.
    ///
    /// `%3: i64 = arith.checked_mul %1, %2`
    CHECKED_MUL = checked_mul(x: T, y: T) -> T where T: Int [PURE, COMMUTATIVE, MAY_TRAP] {
        identity: Some(1),
    } eval(int::checked_mul);

    /// An integer to an integer power; it wraps. `0^0` is 1. For floats, see `math.powi`.
    ///
    /// Traps (`DomainError`) if the exponent is negative and the base neither 1 nor -1.
    ///
    /// `%3: i64 = arith.powi %1, 3`
    POWI = powi(x: T, n: i64) -> T where T: Int [PURE, MAY_TRAP] { identity: Some(1) }
        eval(int::powi);

    /// `x * y + z`, rounded once.
    ///
    /// `%4: f64 = arith.fma %1, %2, %3`
    FMA = fma(x: T, y: T, z: T) -> T where T: Float [PURE] eval(Float::fma);

    /// `x` with the sign bit of `y`.
    ///
    /// `%3: f64 = arith.copysign %1, %2`
    COPYSIGN = copysign(x: T, y: T) -> T where T: Float [PURE] eval(Float::copysign);

    /// True if the sign bit is set; it is in `-0.0`, and in some NaNs.
    ///
    /// `%2: bool = arith.signbit %1`
    SIGNBIT = signbit(x: T) -> bool where T: Number [PURE]
        eval(Int: int::signbit, Float: Float::signbit);

    /// True if it is NaN.
    ///
    /// `%2: bool = arith.isnan %1`
    ISNAN = isnan(x: T) -> bool where T: Float [PURE] eval(Float::isnan);

    /// True if it is infinite.
    ///
    /// `%2: bool = arith.isinf %1`
    ISINF = isinf(x: T) -> bool where T: Float [PURE] eval(Float::isinf);

    /// True if it is neither infinite nor NaN.
    ///
    /// `%2: bool = arith.isfinite %1`
    ISFINITE = isfinite(x: T) -> bool where T: Float [PURE] eval(Float::isfinite);

    /// The greatest whole float not above it.
    ///
    /// `%2: f64 = arith.floor %1`
    FLOOR = floor(x: T) -> T where T: Float [PURE] eval(Float::floor);

    /// The least whole float not below it.
    ///
    /// `%2: f64 = arith.ceil %1`
    CEIL = ceil(x: T) -> T where T: Float [PURE] eval(Float::ceil);

    /// The nearest whole float, ties to the even one.
    ///
    /// `%2: f64 = arith.round %1`
    ROUND = round(x: T) -> T where T: Float [PURE] eval(Float::round);

    /// The float without its fraction: rounded toward zero.
    ///
    /// `%2: f64 = arith.trunc %1`
    TRUNC = trunc(x: T) -> T where T: Float [PURE] eval(Float::trunc);

    /// The low bits of an integer as a narrower (or equal) integer type, or as bool: Julia's
    /// `x % T`. See `core.convert` for the one that checks.
    ///
    /// `%2: i8 = arith.wrap %1`
    WRAP = wrap(x: T) -> declared where T: Bits [PURE] { verify: Some(verify_wrap) }
        eval(Bits => Bits: convert::low_bits);

    /// The same number as a wider (or equal) integer type; `true` is 1.
    ///
    /// `%2: i64 = arith.sext %1`
    SEXT = sext(x: T) -> declared where T: Bits [PURE] { verify: Some(verify_sext) }
        eval(Bits => Bits: convert::low_bits);

    /// The bits as a wider (or equal) integer type, zeros above.
    ///
    /// `%2: i64 = arith.zext %1`
    ZEXT = zext(x: T) -> declared where T: Bits [PURE] { verify: Some(verify_zext) }
        eval(Bits => Int: convert::zext);

    /// The float nearest to an integer, ties to even; `true` is 1.
    ///
    /// `%2: f64 = arith.int_to_float %1`
    INT_TO_FLOAT = int_to_float(x: T) -> declared where T: Bits [PURE] {
        verify: Some(verify_int_to_float),
    } eval(Bits => Float: convert::convert);

    /// A float without its fraction as an integer: Julia's `trunc(T, x)`. See `core.convert`
    /// for the one that allows no fraction.
    ///
    /// Traps (`InexactError`) if it is NaN or out of range.
    ///
    /// `%2: i64 = arith.float_to_int %1`
    FLOAT_TO_INT = float_to_int(x: T) -> declared where T: Float [PURE, MAY_TRAP] {
        verify: Some(verify_float_to_int),
    } eval(Float => Int: convert::float_to_int);

    /// A float without its fraction as the nearest integer that there is; NaN gives 0. It never
    /// traps.
    ///
    /// `%2: i64 = arith.float_to_int_sat %1`
    FLOAT_TO_INT_SAT = float_to_int_sat(x: T) -> declared where T: Float [PURE] {
        verify: Some(verify_float_to_int),
    } eval(Float => Int: convert::float_to_int_sat);

    /// The nearest float of another float type, ties to even; exact from `f32` to `f64`.
    ///
    /// `%2: f32 = arith.float_cast %1`
    FLOAT_CAST = float_cast(x: T) -> declared where T: Float [PURE] {
        verify: Some(verify_float_cast),
    } eval(Float => Float: convert::convert);

    /// The same bits as another type of the same width: Julia's `reinterpret`.
    ///
    /// `%2: i64 = arith.bitcast %1`
    BITCAST = bitcast(x: T) -> declared where T: Number [PURE] { verify: Some(verify_bitcast) }
    eval(
        [i8] => [i8]: convert::low_bits,
        [i16] => [i16]: convert::low_bits,
        [i32 f32] => [i32 f32]: convert::low_bits,
        [i64 f64] => [i64 f64]: convert::low_bits
    );
}
