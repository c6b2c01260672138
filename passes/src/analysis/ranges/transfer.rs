//! Transfer functions: the lattice value of an instruction, given those of its operands.

use regraft_dialects::semantics::eval_scalar;
use regraft_dialects::{arith, cf, core, data, math, mem};
use regraft_ir::{
    Const, Constant, Fold, Function, InstView, Op, OpDef, Operand, Type, TypeKind, Value,
};
use smallvec::SmallVec;

use super::super::FloatKinds;
use super::super::comparison::is_comparison;
use super::super::interval::{binary, compare, unary};
use super::Interval;

/// The lattice value of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LatticeValue {
    /// Nothing has reached it yet; in the end, that it is never computed.
    Unseen,
    /// It is an integer in this interval, or a bool.
    Int(Interval),
    /// It is one of these floats.
    Float(FloatKinds),
    /// It is this constant, which is no integer and no bool.
    Const(Const),
    /// It can be anything of its type.
    Any,
}

impl LatticeValue {
    /// Anything of a type.
    #[inline]
    pub(crate) fn of_type(ty: Type) -> Self {
        if ty.is_int() || ty == Type::BOOL { Self::Int(Interval::of_type(ty)) } else { Self::Any }
    }

    /// Returns what a constant is.
    #[inline]
    pub(crate) fn of_constant(id: Const, constant: Constant) -> Self {
        number(constant).map_or(Self::Const(id), |x| Self::Int(Interval::single(x)))
    }

    /// Either of two, of values of the same type.
    #[inline]
    pub(crate) fn join(self, other: Self, f: &Function) -> Self {
        match (self, other) {
            (Self::Unseen, known) | (known, Self::Unseen) => known,
            (Self::Int(x), Self::Int(y)) => Self::Int(x.join(y)),
            (Self::Const(x), Self::Const(y)) if x == y => self,
            (Self::Const(_) | Self::Float(_), Self::Const(_) | Self::Float(_)) => {
                let (x, y) = (self.float(f), other.float(f));
                match x | y {
                    kinds if kinds.is_all() => Self::Any,
                    kinds => Self::Float(kinds),
                }
            }
            _ => Self::Any,
        }
    }

    /// Both of two, each of which holds. Where they exclude each other, the code is never run.
    #[inline]
    pub(crate) fn meet(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, known) | (known, Self::Any) => known,
            (Self::Int(x), Self::Int(y)) => Self::Int(x.meet(y).unwrap_or(x)),
            (Self::Const(_), _) => self,
            (_, Self::Const(_)) => other,
            (Self::Float(x), Self::Float(y)) if !(x & y).is_empty() => Self::Float(x & y),
            _ => self,
        }
    }

    /// The kinds of numbers that it can be.
    pub(crate) fn float(self, f: &Function) -> FloatKinds {
        match self {
            Self::Float(kinds) => kinds,
            Self::Const(id) => FloatKinds::of_constant(f.ctx().constant(id)),
            _ => FloatKinds::all(),
        }
    }

    /// The interval that it lies in, if it is an integer or a bool.
    #[inline]
    pub fn interval(self) -> Option<Interval> {
        match self {
            Self::Int(interval) => Some(interval),
            _ => None,
        }
    }

    /// The constant of type `ty` that it always is.
    pub(crate) fn constant(self, f: &Function, ty: Type) -> Option<Constant> {
        match self {
            Self::Int(interval) => int_constant(ty, interval.as_single()?),
            Self::Const(id) => Some(f.ctx().constant(id)),
            _ => None,
        }
    }
}

/// The number that an integer or a bool is to the analysis.
#[inline]
fn number(constant: Constant) -> Option<i64> {
    match constant {
        Constant::Bool(x) => Some(x.into()),
        other => other.as_int(),
    }
}

fn int_constant(ty: Type, x: i64) -> Option<Constant> {
    if ty == Type::BOOL { Some(Constant::Bool(x != 0)) } else { Constant::int(ty, x) }
}

/// Returns what is known of the result of `v`, an instruction that is no terminator, given what
/// `known` says of its operands. Never [`LatticeValue::Unseen`], unless an operand is.
#[inline]
pub(crate) fn transfer(
    f: &Function,
    v: Value,
    known: impl Fn(Operand) -> LatticeValue,
) -> LatticeValue {
    let (Some(op), ty) = (f.op(v), f.ty(v)) else { return LatticeValue::Any };
    if op.dialect() == arith::ADD.dialect()
        && (ty.is_int() || ty == Type::BOOL)
        && let Some(known) = integers(f, v, op, ty, &known)
    {
        return known;
    }
    let mut args: SmallVec<[(Operand, LatticeValue); 4]> = SmallVec::new();
    let mut constants = false;
    for operand in f.operands(v) {
        let known = known(operand);
        match known {
            LatticeValue::Unseen => return LatticeValue::Unseen,
            LatticeValue::Int(interval) => constants |= interval.lo == interval.hi,
            LatticeValue::Const(_) => constants = true,
            _ => {}
        }
        args.push((operand, known));
    }
    if constants && let Some(known) = folded(f, v, op, &args, ty) {
        return known;
    }
    let all = LatticeValue::of_type(ty);
    if op == core::GET
        && let Some(element) = constant_element(f, v)
    {
        return element;
    }
    match (op, args.as_slice()) {
        (core::SELECT, &[(_, condition), (x, a), (y, b)]) => {
            if f.operand_type(x) != ty || f.operand_type(y) != ty {
                return all;
            }
            match condition.interval().and_then(Interval::as_single) {
                Some(1) => a,
                Some(0) => b,
                _ => a.join(b, f),
            }
        }
        (core::CONVERT, &[(x, LatticeValue::Int(interval))]) if ty.is_int() || ty == Type::BOOL => {
            LatticeValue::Int(unary(op, interval, f.operand_type(x), ty))
        }
        (core::TYPEASSERT, &[(x, known)]) if f.operand_type(x) == ty => known,
        (mem::LENGTH | data::FIELDCOUNT, _) => LatticeValue::Int(Interval::LENGTH),
        (mem::SIZE, &[(array, _), _]) => {
            let kind = f.ctx().kind(f.operand_type(array));
            let is_vector = matches!(kind, TypeKind::Array { rank: 1, .. });
            LatticeValue::Int(if is_vector { Interval::LENGTH } else { Interval::NATURAL })
        }
        (core::GET, &[(tuple, _), _]) if ty == Type::I64 => {
            let shape = tuple.as_value().is_some_and(|tuple| f.op(tuple) == Some(mem::SHAPE));
            if shape { LatticeValue::Int(Interval::NATURAL) } else { all }
        }
        _ if ty.is_float() => {
            let same = matches!(args.as_slice(), &[(x, _), (y, _)] if x == y);
            let kinds = |i: usize| args.get(i).map_or(FloatKinds::all(), |(_, x)| x.float(f));
            let int = |i: usize| args.get(i).and_then(|(_, x)| x.interval());
            match float_kinds(op, args.len(), same, kinds, int) {
                kinds if kinds.is_all() => LatticeValue::Any,
                kinds => LatticeValue::Float(kinds),
            }
        }
        _ => all,
    }
}

/// The element that `v` gets of a tuple which is made of it in plain sight. Values that are not
/// constants already are left out: nobody would see them change.
fn constant_element(f: &Function, v: Value) -> Option<LatticeValue> {
    let tuple = f.operand(v, 0)?.as_value().filter(|&tuple| f.op(tuple) == Some(core::TUPLE))?;
    let index = f.constant(f.operand(v, 1)?)?.as_int()?.checked_sub(1)?;
    let element = f.operand(tuple, usize::try_from(index).ok()?)?.as_const()?;
    let constant = f.ctx().constant(element);
    (f.ctx().constant_type(element) == f.ty(v))
        .then(|| LatticeValue::of_constant(element, constant))
}

/// An op of `arith` that gives an integer or a bool, of integers or bools of one type.
#[inline]
fn integers(
    f: &Function,
    v: Value,
    op: Op,
    ty: Type,
    known: impl Fn(Operand) -> LatticeValue,
) -> Option<LatticeValue> {
    let mut operands = f.operands(v);
    let (first, second) = (operands.next()?, operands.next());
    if operands.next().is_some() {
        return None;
    }
    let (first, second) = ((first, known(first)), second.map(|y| (y, known(y))));
    let interval = match (first, second) {
        ((_, LatticeValue::Unseen), _) | (_, Some((_, LatticeValue::Unseen))) => {
            return Some(LatticeValue::Unseen);
        }
        ((x, LatticeValue::Int(a)), None) => {
            let from = f.operand_type(x);
            if let Some(a) = a.as_single() {
                return evaluated(f.ctx().def(op), &[int_constant(from, a)?], ty);
            }
            unary(op, a, from, ty)
        }
        ((x, LatticeValue::Int(a)), Some((y, LatticeValue::Int(b)))) => {
            let (tx, ty_y) = (f.operand_type(x), f.operand_type(y));
            match (a.as_single(), b.as_single()) {
                // The most frequent ops are exact on single numbers anyway.
                (Some(a), Some(b)) if !matches!(op, arith::ADD | arith::SUB | arith::MUL) => {
                    let args = [int_constant(tx, a)?, int_constant(ty_y, b)?];
                    return evaluated(f.ctx().def(op), &args, ty);
                }
                _ if is_comparison(op) => {
                    if x == y {
                        // The same value: it is neither less nor greater than itself.
                        let holds = matches!(op, arith::EQ | arith::LE | arith::GE);
                        Interval::single(holds.into())
                    } else {
                        compare(op, a, b)
                    }
                }
                _ if x == y && matches!(op, arith::SUB | arith::XOR | arith::CHECKED_SUB) => {
                    Interval::single(0)
                }
                _ => binary(op, a, b, ty),
            }
        }
        _ => return None,
    };
    Some(LatticeValue::Int(interval))
}

/// The value of an op on constants. One that traps has none, whatever it is said to be.
fn evaluated(def: &OpDef, args: &[Constant], ty: Type) -> Option<LatticeValue> {
    let x = number(eval_scalar(def, args, ty)?.ok()?)?;
    Some(LatticeValue::Int(Interval::single(x)))
}

/// Returns what the op folds to when what is known to be constant is.
#[cold]
fn folded(
    f: &Function,
    v: Value,
    op: Op,
    args: &[(Operand, LatticeValue)],
    ty: Type,
) -> Option<LatticeValue> {
    let ctx = f.ctx();
    let def = ctx.def(op);
    let fold = def.fold?;
    if f.checks_operands(v) {
        return None;
    }
    let types: SmallVec<[Type; 4]> = args.iter().map(|&(x, _)| f.operand_type(x)).collect();
    let operands: SmallVec<[Operand; 4]> = args
        .iter()
        .zip(&types)
        .map(|(&(x, known), &ty)| match known.constant(f, ty) {
            // What is of type `any` keeps it: a constant of another type may not fit.
            Some(constant) if x.as_value().is_some() && ty != Type::ANY => {
                ctx.constant_id(constant).into()
            }
            _ => x,
        })
        .collect();
    let view = InstView { ctx, def, operands: &operands, types: &types, attrs: f.attrs(v), ty };
    match fold(&view)? {
        Fold::Constant(constant) => {
            let id = ctx.constant_id(constant);
            // The type of the constant is not that of a value that is `any`.
            Some(match ty {
                Type::ANY => LatticeValue::Const(id),
                _ => LatticeValue::of_constant(id, constant),
            })
        }
        Fold::Operand(i) if types[i] == ty => Some(args[i].1),
        Fold::Operand(_) => None,
    }
}

/// The kinds of floats that an op on `count` operands gives, for those of which it is easy to say.
/// Rounding never takes a number across -1, 0 or 1, but may take it there, and to infinity. `same`
/// says that there are two operands, which are one value.
pub(crate) fn float_kinds(
    op: Op,
    count: usize,
    same: bool,
    kinds: impl Fn(usize) -> FloatKinds,
    int: impl Fn(usize) -> Option<Interval>,
) -> FloatKinds {
    type K = FloatKinds;
    let not_negative = K::ZERO | K::POSITIVE;
    match op {
        arith::ABS => magnitude(kinds(0)),
        arith::NEG => negated(kinds(0)),
        arith::MUL if same => not_negative | (kinds(0) & K::NAN),
        arith::ADD | arith::MUL => {
            let (a, b) = (kinds(0), kinds(1));
            let makes_nan = a.intersects(K::ZERO) && b.intersects(K::INFINITY)
                || b.intersects(K::ZERO) && a.intersects(K::INFINITY);
            match op {
                _ if (a | b).intersects(K::NEGATIVE) => K::all(),
                arith::ADD => (a & b & K::ZERO) | K::POSITIVE | ((a | b) & K::NAN),
                _ if makes_nan => not_negative | K::NAN,
                _ => not_negative | ((a | b) & K::NAN),
            }
        }
        arith::MIN | arith::MAX if count == 2 => kinds(0) | kinds(1),
        arith::INT_TO_FLOAT | core::CONVERT => match int(0) {
            Some(interval) => {
                let negative = if interval.lo < 0 { K::BELOW | K::MINUS } else { K::empty() };
                let zero = if interval.contains(0) { K::ZERO } else { K::empty() };
                let positive = if interval.hi > 0 { K::PLUS | K::ABOVE } else { K::empty() };
                negative | zero | positive
            }
            None => K::all(),
        },
        math::SQRT => {
            let inside = kinds(0) & (K::ZERO | K::PLUS | K::ABOVE | K::INFINITY | K::NAN);
            if inside.is_empty() { K::all() } else { inside }
        }
        math::POWI => match int(1).and_then(Interval::as_single) {
            Some(n) if n >= 0 && (n % 2 == 0 || kinds(0).never(K::NEGATIVE)) => {
                not_negative | (kinds(0) & K::NAN)
            }
            _ => K::all(),
        },
        math::EXP | math::EXP2 | math::EXP10 => not_negative | (kinds(0) & K::NAN),
        math::COSH => K::PLUS | K::ABOVE | K::INFINITY | (kinds(0) & K::NAN),
        math::SIN | math::COS | math::SINPI | math::COSPI | math::TANH | math::ERF => {
            K::UNIT | (kinds(0) & K::NAN)
        }
        _ => K::all(),
    }
}

/// The interval of the result, an integer or a bool of type `ty`, of an op on integers or bools;
/// `None` if it is no such op. Each operand is given by its type and its interval.
pub(crate) fn int_result(
    op: Op,
    ty: Type,
    args: impl Iterator<Item = (Type, Option<Interval>)>,
) -> Option<Interval> {
    if op.dialect() != arith::ADD.dialect() || !(ty.is_int() || ty == Type::BOOL) {
        return None;
    }
    let args: SmallVec<[(Type, Option<Interval>); 2]> = args.collect();
    match *args.as_slice() {
        [(from, Some(x))] => Some(unary(op, x, from, ty)),
        [(_, Some(x)), (_, Some(y))] if is_comparison(op) => Some(compare(op, x, y)),
        [(_, Some(x)), (_, Some(y))] => Some(binary(op, x, y, ty)),
        _ => None,
    }
}

fn magnitude(kinds: FloatKinds) -> FloatKinds {
    (kinds | negated(kinds)) - FloatKinds::NEGATIVE
}

fn negated(kinds: FloatKinds) -> FloatKinds {
    type K = FloatKinds;
    let pairs = [
        (K::NEGATIVE_INFINITY, K::INFINITY),
        (K::BELOW, K::ABOVE),
        (K::MINUS, K::PLUS),
        (K::ZERO, K::ZERO),
        (K::NAN, K::NAN),
    ];
    let mut made = K::empty();
    for (a, b) in pairs {
        made.set(a, made.contains(a) || kinds.contains(b));
        made.set(b, made.contains(b) || kinds.contains(a));
    }
    made
}

/// Returns which edges of a terminator can be taken, as far as its subject says: `taken` is called
/// with the number of each, and returns nothing.
pub(crate) fn edges_taken(
    f: &Function,
    term: Value,
    known: impl Fn(Operand) -> LatticeValue,
    mut taken: impl FnMut(usize),
) {
    let Some(op) = f.op(term) else { return };
    let count = || f.operands(term).filter(|operand| operand.is_block()).count();
    let Some(subject) = f.operand(term, 0).filter(|operand| !operand.is_block()) else {
        (0..count()).for_each(taken);
        return;
    };
    let known = known(subject);
    let ty = f.operand_type(subject);
    match (op, known) {
        (_, LatticeValue::Unseen) => {}
        (cf::BR, LatticeValue::Int(condition)) if ty == Type::BOOL => {
            if condition.hi == 1 {
                taken(0);
            }
            if condition.lo == 0 {
                taken(1);
            }
        }
        (cf::SWITCH, LatticeValue::Int(range)) if ty != Type::ANY => {
            let number = |case: Operand| f.constant(case).and_then(number);
            let mut inside = 0u64;
            for (i, case) in f.plain_operands(term).skip(1).enumerate() {
                if number(case).is_none_or(|x| range.contains(x)) {
                    inside += 1;
                    taken(i + 1);
                }
            }
            // The cases are distinct: the default is left out if they are all there is.
            if (range.hi as i128 - range.lo as i128) >= i128::from(inside) {
                taken(0);
            }
        }
        (cf::SWITCH, LatticeValue::Const(id)) if ty != Type::ANY => {
            let case = f.plain_operands(term).skip(1).position(|case| case == id.into());
            taken(case.map_or(0, |case| case + 1));
        }
        _ => (0..count()).for_each(taken),
    }
}
