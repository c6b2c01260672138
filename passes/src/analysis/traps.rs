//! Traps: which instructions may stop the program with an error, as they stand.
//!
//! What its op says ([`Traits::MAY_TRAP`]) holds for the worst operands. Here those that are there
//! are looked at:
//!
//! ```text
//! arith.div %1, 3                       does not trap: the divisor is neither 0 nor -1
//! mem.load %1, %2 {inbounds=true}       does not trap: it is promised; so of mem.copyto and products
//! mem.size %1, 2                        does not trap: dimensions are counted from 1
//! math.pow %1, 2.0                      does not trap: the exponent is whole
//! data.getfield %1, :x                  does not trap if the type of %1 has a field x
//! ```
//!
//! # Method
//! One case for each family of ops, over what is known of operands: a [`OperandFacts`], here constants
//! alone; an analysis of ranges knows more. An op that is not listed traps if its
//! declaration says that it may. The conditions are those of `dialects::semantics`; for integers and
//! constants, the function that the declaration names is asked.
//!
//! # Why it is right
//! Limits of the engine (steps, depth, memory) are no part of the meaning of a program, so that
//! a small allocation counts as one that cannot fail, as [`mem::ARRAY`] does by its declaration.
//!
//! # Cost
//! O(operands).

use regraft_dialects::semantics::{eval_scalar, field_type, is_exact, is_subtype, starts_defined};
use regraft_dialects::tangent::TangentTable;
use regraft_dialects::{ad, arith, attrs, core, data, linalg, math, mem};
use regraft_ir::{Constant, Function, Op, OpDef, Operand, Traits, Type, TypeKind, Value};
use smallvec::SmallVec;

use super::{FloatKinds, Interval};

/// Of as many elements an array can be made without asking whether there is memory for it.
const SMALL_ARRAY: i64 = 1 << 16;

/// The facts on the operands of an instruction.
pub trait OperandFacts {
    /// The values that an operand of an integer type can have.
    fn int(&self, operand: Operand) -> Interval;
    /// The kinds of numbers that an operand of a float type can be.
    fn float(&self, operand: Operand) -> FloatKinds;
    /// Returns whether the indices of the load or store `v` are known to be in bounds.
    fn in_bounds(&self, v: Value) -> bool;
}

/// The facts that need no analysis: constants are what they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constants<'a>(pub &'a Function);

impl OperandFacts for Constants<'_> {
    fn int(&self, operand: Operand) -> Interval {
        let constant = self.0.constant(operand).and_then(Constant::as_int);
        constant.map_or(Interval::of_type(self.0.operand_type(operand)), Interval::single)
    }

    fn float(&self, operand: Operand) -> FloatKinds {
        self.0.constant(operand).map_or(FloatKinds::all(), FloatKinds::of_constant)
    }

    fn in_bounds(&self, _: Value) -> bool {
        false
    }
}

/// Returns whether running `v` where it stands may stop the program with an error. `false` for a
/// parameter. O(operands).
pub fn may_trap(f: &Function, v: Value) -> bool {
    may_trap_given(f, v, &Constants(f))
}

/// The same, given what is known of its operands.
pub fn may_trap_given(f: &Function, v: Value, facts: &impl OperandFacts) -> bool {
    let Some(def) = f.op_def(v) else { return false };
    if !def.traits.contains(Traits::MAY_TRAP) {
        return f.checks_operands(v);
    }
    let promised = match def.op {
        mem::LOAD
        | mem::STORE
        | mem::LOAD_PART
        | mem::STORE_PART
        | mem::LAST_PART
        | mem::COPYTO
        | linalg::PRODUCT
        | linalg::ADD_PRODUCT => attrs::is_inbounds(f.ctx(), f.attrs(v)),
        core::GLOBAL => attrs::is_defined(f.ctx(), f.attrs(v)),
        _ => false,
    };
    f.checks_operands(v) || !(Query { f, v, def, facts, promised }).is_safe()
}

/// Returns whether `v` may run where it did not run before: it has no effect, makes no object and
/// does not trap, whatever the reason for which it ran where it stands. A promise of the program
/// (`{inbounds=true}`, `{defined=true}`) holds only there. It says nothing about memory that `v` reads, which may
/// hold something else there. `false` for a parameter. O(operands).
pub fn speculatable(f: &Function, v: Value) -> bool {
    speculatable_given(f, v, &Constants(f))
}

/// Returns whether `v` may run where it did not run before, and reads no memory either.
pub(crate) fn only_computes(f: &Function, v: Value) -> bool {
    f.op_def(v).is_some_and(|def| def.traits.contains(Traits::PURE)) && speculatable(f, v)
}

/// The same, given what is known of its operands, which has to hold where it is to run.
pub(crate) fn speculatable_given(f: &Function, v: Value, facts: &impl OperandFacts) -> bool {
    let Some(def) = f.op_def(v) else { return false };
    if def.is_terminator() || def.effects.writes_anything() || def.effects.allocates {
        return false;
    }
    !f.checks_operands(v)
        && (!def.traits.contains(Traits::MAY_TRAP)
            || (Query { f, v, def, facts, promised: false }).is_safe())
}

/// Returns whether `v` can be dropped when nobody uses its result: it changes nothing, does not
/// trap as it stands, and ends no block. `false` for a parameter. O(operands).
pub fn is_removable(f: &Function, v: Value) -> bool {
    f.op_def(v).is_some_and(|def| !def.is_terminator() && !def.effects.writes_anything())
        && !may_trap(f, v)
}

struct Query<'a, F> {
    f: &'a Function,
    v: Value,
    def: &'static OpDef,
    facts: &'a F,
    /// True if the indices are in bounds, or the name has a value, because the program says so.
    promised: bool,
}

impl<F: OperandFacts> Query<'_, F> {
    /// Returns whether it is known not to trap. No operand is `any` that is checked when it runs.
    fn is_safe(&self) -> bool {
        match self.def.op {
            arith::FLOAT_TO_INT => self.evaluates() || self.float(0).never(!FloatKinds::UNIT),
            core::CONVERT => self.converts(),
            core::GLOBAL => self.promised,
            core::TYPEASSERT => is_subtype(self.f.ctx(), self.ty(0), self.f.ty(self.v)),
            data::GETFIELD => self.field_type().is_some(),
            data::SETFIELD => {
                self.field_type().is_some_and(|field| self.ty(2).is_assignable_to(field))
            }
            mem::LOAD => {
                let element = match self.f.ctx().kind(self.ty(0)) {
                    TypeKind::Array { element, .. } => *element,
                    _ => return false,
                };
                starts_defined(self.f.ctx(), element) && self.is_in_bounds()
            }
            mem::STORE => self.is_in_bounds(),
            mem::LOAD_PART | mem::STORE_PART | mem::LAST_PART => self.promised,
            mem::COPYTO | linalg::PRODUCT | linalg::ADD_PRODUCT => self.promised,
            mem::SIZE => self.int(1).lo >= 1,
            mem::ALLOC => self.is_small(0),
            mem::FILL => self.is_small(1),
            ad::ZERO | ad::SHADOW | ad::COTANGENT | ad::COPY => self.is_of_declared_type(),
            op if op.dialect() == arith::ADD.dialect() => self.is_safe_on_integers(),
            op if op.dialect() == math::SQRT.dialect() => self.is_in_domain() || self.evaluates(),
            _ => false,
        }
    }

    /// Returns whether an operation on a tangent, or one that makes one, gives what its type says.
    fn is_of_declared_type(&self) -> bool {
        let (ctx, x, ty) = (self.f.ctx(), self.ty(0), self.f.ty(self.v));
        let of = TangentTable::default().of(ctx, x);
        let found = match self.def.op {
            ad::ZERO => of.tangent,
            ad::COPY => x,
            // Whether a part of type `any` is a tangent shows when the program runs.
            _ if of.tangent != x || !is_exact(ctx, x) => return false,
            ad::SHADOW => of.shadow,
            _ => of.cotangent,
        };
        is_subtype(ctx, found, ty)
    }

    fn operand(&self, position: usize) -> Option<Operand> {
        self.f.operand(self.v, position)
    }

    fn ty(&self, position: usize) -> Type {
        self.operand(position).map_or(Type::ANY, |operand| self.f.operand_type(operand))
    }

    fn int(&self, position: usize) -> Interval {
        let all = Interval::of_type(self.ty(position));
        self.operand(position).map_or(all, |operand| self.facts.int(operand))
    }

    fn float(&self, position: usize) -> FloatKinds {
        self.operand(position).map_or(FloatKinds::all(), |operand| self.facts.float(operand))
    }

    /// Returns whether an op of `arith` on two integers traps for none that they can be. Such an op
    /// traps, if at all, for an end of their intervals, -1, 0 or 1.
    fn is_safe_on_integers(&self) -> bool {
        let critical = |position| {
            let (range, ty) = (self.int(position), self.ty(position));
            let points = [0, -1, 1, range.lo, range.hi];
            points
                .into_iter()
                .filter(move |&x| range.contains(x))
                .map(move |x| Constant::int(ty, x))
        };
        critical(1).all(|y| critical(0).all(|x| self.gives_value(&[x, y])))
    }

    /// Returns whether the op has a value for these operands, all of which are constants.
    fn gives_value(&self, args: &[Option<Constant>]) -> bool {
        let args: Option<SmallVec<[Constant; 3]>> = args.iter().copied().collect();
        args.is_some_and(|args| {
            matches!(eval_scalar(self.def, &args, self.f.ty(self.v)), Some(Ok(_)))
        })
    }

    /// Returns whether all operands are constants of which the op has a value.
    fn evaluates(&self) -> bool {
        let args = self.f.operands(self.v).map(|operand| self.f.constant(operand));
        self.gives_value(&args.collect::<SmallVec<[_; 3]>>())
    }

    fn converts(&self) -> bool {
        let (from, to) = (self.ty(0), self.f.ty(self.v));
        if is_subtype(self.f.ctx(), from, to) {
            return true;
        }
        if !from.is_scalar() || !to.is_scalar() {
            return false;
        }
        if to.is_float() {
            return true;
        }
        match from {
            Type::BOOL => true,
            _ if from.is_int() => self.int(0).is_within(Interval::of_type(to)),
            _ => self.float(0).never(!FloatKinds::ZERO) || self.evaluates(),
        }
    }

    /// The type of the field that a constant names.
    fn field_type(&self) -> Option<Type> {
        let field = self.f.constant(self.operand(1)?)?;
        field_type(self.f.ctx(), self.ty(0), field).ok()
    }

    fn is_in_bounds(&self) -> bool {
        self.promised || self.facts.in_bounds(self.v)
    }

    /// Returns whether the operands from `first` on are the dimensions of a small array.
    fn is_small(&self, first: usize) -> bool {
        let mut count = 1i64;
        (first..self.f.operand_count(self.v)).all(|position| {
            let size = self.int(position);
            count = count.saturating_mul(size.hi.max(0));
            size.is_within(Interval { lo: 0, hi: SMALL_ARRAY })
        }) && count <= SMALL_ARRAY
    }

    fn is_in_domain(&self) -> bool {
        is_in_domain(self.def.op, |position| self.float(position))
            || self.def.op == math::POW && self.is_whole_exponent()
    }

    /// Returns whether the exponent of a power is a constant that is whole or not finite.
    fn is_whole_exponent(&self) -> bool {
        let exponent = self.operand(1).and_then(|operand| self.f.constant(operand));
        exponent.and_then(Constant::as_float).is_some_and(|y| !y.is_finite() || y.trunc() == y)
    }
}

/// Returns whether an elementary or special function is defined for all floats that its operands
/// can be. NaN is in each domain.
pub(crate) fn is_in_domain(op: Op, float: impl Fn(usize) -> FloatKinds) -> bool {
    type K = FloatKinds;
    if op == math::LOGBETA {
        let inside = |position| float(position).never(K::NEGATIVE | K::ZERO | K::NAN);
        return inside(0) && inside(1);
    }
    outside_of_domain(op).is_some_and(|outside| float(0).never(outside))
}

/// The floats for which an elementary or special function of one argument may trap, and a power
/// with a fraction as exponent.
pub(crate) fn outside_of_domain(op: Op) -> Option<FloatKinds> {
    type K = FloatKinds;
    Some(match op {
        math::SQRT | math::LOG | math::LOG2 | math::LOG10 => K::NEGATIVE,
        math::LOG1P => K::NEGATIVE_INFINITY | K::BELOW,
        math::SIN | math::COS | math::TAN | math::SINPI | math::COSPI => K::INFINITE,
        math::ASIN | math::ACOS | math::ATANH | math::ERFINV => !(K::UNIT | K::NAN),
        math::ACOSH => !(K::ABOVE | K::INFINITY | K::NAN),
        math::ERFCINV => !(K::ZERO | K::PLUS | K::NAN),
        math::GAMMA | math::POW => K::NEGATIVE,
        math::LOGGAMMA => K::NEGATIVE | K::ZERO,
        _ => return None,
    })
}

/// The floats that the first operand of `v` is none of where `v` has run: it traps for each of them.
pub(crate) fn excluded_after(f: &Function, v: Value) -> FloatKinds {
    let outside = f.op(v).and_then(outside_of_domain);
    let exponent = || f.operand(v, 1).and_then(|y| f.constant(y)).and_then(Constant::as_float);
    let traps_outside = match f.op(v) {
        Some(math::SQRT | math::LOG | math::LOG2 | math::LOG10 | math::LOG1P) => true,
        Some(math::SIN | math::COS | math::TAN | math::SINPI | math::COSPI) => true,
        Some(math::ASIN | math::ACOS) => true,
        Some(math::POW) => exponent().is_some_and(|y| y.is_finite() && y.trunc() != y),
        _ => false,
    };
    outside.filter(|_| traps_outside).unwrap_or(FloatKinds::empty())
}
