//! Pure functions of scalar slots, from the semantics that constant folding uses.
//!
//! The common ones have an instruction that calls them by number; the rest (narrow integers,
//! rare conversions) go through [`eval_slots`].

use regraft_dialects::semantics::{Trap, eval_scalar, float, int, math, special};
use regraft_dialects::{arith, math as m};
use regraft_ir::{Constant, Op, Type};

use super::register::Scalar;

/// A function of one slot.
pub(super) type Fn1 = fn(u64) -> Result<u64, Trap>;
/// A function of two slots.
pub(super) type Fn2 = fn(u64, u64) -> Result<u64, Trap>;

/// A scalar as it is stored in its slot.
trait Slot: Copy {
    fn get(slot: u64) -> Self;
    fn put(self) -> u64;
}

impl Slot for i64 {
    fn get(slot: u64) -> Self {
        slot as i64
    }
    fn put(self) -> u64 {
        self as u64
    }
}

impl Slot for i32 {
    fn get(slot: u64) -> Self {
        slot as i32
    }
    fn put(self) -> u64 {
        self as u64
    }
}

impl Slot for f64 {
    fn get(slot: u64) -> Self {
        Self::from_bits(slot)
    }
    fn put(self) -> u64 {
        self.to_bits()
    }
}

impl Slot for f32 {
    fn get(slot: u64) -> Self {
        Self::from_bits(slot as u32)
    }
    fn put(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Slot for bool {
    fn get(slot: u64) -> Self {
        slot != 0
    }
    fn put(self) -> u64 {
        u64::from(self)
    }
}

/// Rows of a table: an op, the type of its operands, and the function. `=` marks one that
/// never traps.
macro_rules! rows {
    ($($op:expr, $ty:ident $scalar:ident, ($($x:ident),*) $body:expr;)*) => {
        &[$(($op, Scalar::$scalar, |$($x),*| {
            $(let $x = <$ty as Slot>::get($x);)*
            $body.map(Slot::put)
        })),*]
    };
}

/// `Ok`, where the type of the error cannot be told otherwise.
fn ok<T>(x: T) -> Result<T, Trap> {
    Ok(x)
}

static UNARY: &[(Op, Scalar, Fn1)] = rows! {
    arith::ABS, i64 I64, (x) ok(int::abs(x));
    arith::ABS, f64 F64, (x) ok(x.abs());
    arith::NEG, i32 I32, (x) ok(int::neg(x));
    arith::NEG, f32 F32, (x) ok(-x);
    arith::FLOOR, f64 F64, (x) ok(x.floor());
    arith::CEIL, f64 F64, (x) ok(x.ceil());
    arith::TRUNC, f64 F64, (x) ok(x.trunc());
    arith::ISNAN, f64 F64, (x) ok(x.is_nan());
    m::SQRT, f64 F64, (x) math::sqrt(x);
    m::SQRT, f32 F32, (x) math::sqrt(x);
    m::CBRT, f64 F64, (x) ok(math::cbrt(x));
    m::EXP, f64 F64, (x) ok(math::exp(x));
    m::EXP, f32 F32, (x) ok(math::exp(x));
    m::EXPM1, f64 F64, (x) ok(math::expm1(x));
    m::LOG, f64 F64, (x) math::log(x);
    m::LOG, f32 F32, (x) math::log(x);
    m::LOG1P, f64 F64, (x) math::log1p(x);
    m::SIN, f64 F64, (x) math::sin(x);
    m::COS, f64 F64, (x) math::cos(x);
    m::TAN, f64 F64, (x) math::tan(x);
    m::ATAN, f64 F64, (x) ok(math::atan(x));
    m::SINH, f64 F64, (x) ok(math::sinh(x));
    m::COSH, f64 F64, (x) ok(math::cosh(x));
    m::TANH, f64 F64, (x) ok(math::tanh(x));
    m::ERF, f64 F64, (x) ok(math::erf(x));
    m::GAMMA, f64 F64, (x) special::gamma(x);
    // With the exponent 3.
    m::POWI, f64 F64, (x) ok(x * x * x);
    m::POWI, f32 F32, (x) ok(x * x * x);
};

static BINARY: &[(Op, Scalar, Fn2)] = rows! {
    arith::DIV, i64 I64, (x, y) int::div(x, y);
    arith::REM, i64 I64, (x, y) int::rem(x, y);
    arith::FLD, i64 I64, (x, y) int::fld(x, y);
    arith::CLD, i64 I64, (x, y) int::cld(x, y);
    arith::MOD, i64 I64, (x, y) int::modulo(x, y);
    arith::DIV, i32 I32, (x, y) int::div(x, y);
    arith::REM, i32 I32, (x, y) int::rem(x, y);
    arith::MOD, i32 I32, (x, y) int::modulo(x, y);
    arith::MIN, i64 I64, (x, y) ok(x.min(y));
    arith::MAX, i64 I64, (x, y) ok(x.max(y));
    arith::MIN, f64 F64, (x, y) ok(float::min(x, y));
    arith::MAX, f64 F64, (x, y) ok(float::max(x, y));
    arith::SHL, i64 I64, (x, y) ok(int::shl(x, y));
    arith::SHR, i64 I64, (x, y) ok(int::shr(x, y));
    arith::ASHR, i64 I64, (x, y) ok(int::ashr(x, y));
    arith::CHECKED_ADD, i64 I64, (x, y) int::checked_add(x, y);
    arith::CHECKED_SUB, i64 I64, (x, y) int::checked_sub(x, y);
    arith::CHECKED_MUL, i64 I64, (x, y) int::checked_mul(x, y);
    arith::POWI, i64 I64, (x, y) int::powi(x, y);
    arith::FREM, f64 F64, (x, y) ok(x % y);
    arith::MULZ, f64 F64, (x, y) ok(float::mulz(x, y));
    arith::MULZ, f32 F32, (x, y) ok(float::mulz(x, y));
    arith::FLOOR_MOD, f64 F64, (x, y) ok(float::floor_mod(x, y));
    arith::COPYSIGN, f64 F64, (x, y) ok(x.copysign(y));
    arith::EQ, f32 F32, (x, y) ok(x == y);
    arith::NE, f32 F32, (x, y) ok(x != y);
    arith::LT, f32 F32, (x, y) ok(x < y);
    arith::LE, f32 F32, (x, y) ok(x <= y);
    arith::GT, f32 F32, (x, y) ok(x > y);
    arith::GE, f32 F32, (x, y) ok(x >= y);
    m::POW, f64 F64, (x, y) math::pow(x, y);
    m::ATAN2, f64 F64, (x, y) ok(math::atan2(x, y));
    m::HYPOT, f64 F64, (x, y) ok(math::hypot(x, y));
};

/// The number of the function of one slot for `op`, if it has one.
pub(super) fn unary(op: Op, ty: Scalar) -> Option<u16> {
    UNARY.iter().position(|&(o, t, _)| (o, t) == (op, ty)).map(|i| i as u16)
}

/// The number of the function of two slots of type `ty` for `op`, if it has one.
pub(super) fn binary(op: Op, ty: Scalar) -> Option<u16> {
    BINARY.iter().position(|&(o, t, _)| (o, t) == (op, ty)).map(|i| i as u16)
}

#[inline]
pub(super) fn call_unary(function: u16, a: u64) -> Result<u64, Trap> {
    UNARY[usize::from(function)].2(a)
}

#[inline]
pub(super) fn call_binary(function: u16, a: u64, b: u64) -> Result<u64, Trap> {
    BINARY[usize::from(function)].2(a, b)
}

/// An op on scalars by way of constants; `None` if the semantics do not know it.
pub(super) fn eval_slots(op: Op, args: &[(Scalar, u64)], ty: Type) -> Option<Result<u64, Trap>> {
    let mut constants = [Constant::Unit; 3];
    let constants = constants.get_mut(..args.len())?;
    for (constant, &(ty, slot)) in constants.iter_mut().zip(args) {
        *constant = to_constant(ty, slot);
    }
    Some(eval_scalar(op, constants, ty)?.map(|result| to_slot(result).unwrap_or(0)))
}

/// The constant in a slot.
pub(super) fn to_constant(ty: Scalar, slot: u64) -> Constant {
    match ty {
        Scalar::Bool => Constant::Bool(slot != 0),
        Scalar::I8 => Constant::I8(slot as i8),
        Scalar::I16 => Constant::I16(slot as i16),
        Scalar::I32 => Constant::I32(slot as i32),
        Scalar::I64 => Constant::I64(slot as i64),
        Scalar::F32 => Constant::F32(slot as u32),
        Scalar::F64 => Constant::F64(slot),
    }
}

/// The slot of a scalar constant.
pub(super) fn to_slot(constant: Constant) -> Option<u64> {
    Some(match constant {
        Constant::Bool(x) => u64::from(x),
        Constant::F32(bits) => u64::from(bits),
        Constant::F64(bits) => bits,
        other => other.as_int()? as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slots worth trying: the ends of ranges, and what trips comparisons.
    fn samples(ty: Scalar) -> Vec<u64> {
        let ints = [0i64, 1, -1, 2, 3, -7, 63, 64];
        let floats = [0.0, -0.0, 1.0, -1.5, 2.5, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        match ty {
            Scalar::Bool => vec![0, 1],
            Scalar::I8 => ints.iter().map(|&x| x as i8 as u64).chain([i8::MIN as u64]).collect(),
            Scalar::I16 => ints.iter().map(|&x| x as u64).chain([i16::MIN as u64]).collect(),
            Scalar::I32 => ints.iter().map(|&x| x as u64).chain([i32::MIN as u64]).collect(),
            Scalar::I64 => ints.iter().map(|&x| x as u64).chain([i64::MIN as u64]).collect(),
            Scalar::F32 => floats.iter().map(|&x| u64::from((x as f32).to_bits())).collect(),
            Scalar::F64 => floats.iter().map(|x| x.to_bits()).collect(),
        }
    }

    fn same(op: Op, ours: Result<u64, Trap>, args: &[(Scalar, u64)], result: Type) {
        let theirs = eval_slots(op, args, result).expect("the semantics know it");
        // Traps hold numbers, and NaN differs from itself.
        let text = |r: &Result<u64, Trap>| format!("{r:?}");
        assert_eq!(text(&ours), text(&theirs), "{op:?} {args:?}");
    }

    #[test]
    fn the_tables_agree_with_the_semantics() {
        for &(op, ty, function) in UNARY {
            for a in samples(ty) {
                // The power is the third one.
                let exponent = (op == m::POWI).then_some((Scalar::I64, 3));
                let args: Vec<(Scalar, u64)> = [(ty, a)].into_iter().chain(exponent).collect();
                same(op, function(a), &args, ty.ty());
            }
        }
        for &(op, ty, function) in BINARY {
            for a in samples(ty) {
                for b in samples(ty) {
                    same(op, function(a, b), &[(ty, a), (ty, b)], ty.ty());
                }
            }
        }
    }
}
