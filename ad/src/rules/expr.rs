//! Partial derivatives: expressions over the operands and the result of an op.

use regraft_dialects::semantics::eval_scalar;
use regraft_dialects::{arith, core, registry};
use regraft_ir::{Constant, Op, Type};
use smallvec::SmallVec;

/// An expression of a derivative rule. It is at most
/// [`MAX_DERIVATIVE_DEPTH`](regraft_syntax::MAX_DERIVATIVE_DEPTH) deep.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// The operand at this position.
    Operand(usize),
    /// The result.
    Result,
    /// A float, of the type of the op.
    Const(f64),
    /// An integer, `i64`.
    Int(i64),
    /// An op on expressions; comparisons and `core.select` among them.
    Op(Op, Vec<Expr>),
}

impl Expr {
    /// An op on expressions. Of constants it is a constant, computed in `f64`.
    pub(super) fn of(op: Op, args: Vec<Self>) -> Self {
        let constants: Option<SmallVec<[Constant; 3]>> = args
            .iter()
            .map(|arg| match *arg {
                Self::Const(x) => Some(x.into()),
                Self::Int(x) => Some(Constant::I64(x)),
                _ => None,
            })
            .collect();
        let folded = constants
            .and_then(|constants| eval_scalar(registry().def(op)?, &constants, Type::F64)?.ok());
        match folded {
            Some(Constant::F64(bits)) => Self::Const(f64::from_bits(bits)),
            Some(Constant::I64(x)) => Self::Int(x),
            _ => Self::Op(op, args),
        }
    }

    /// The constant, if it is one.
    pub(super) fn as_const(&self) -> Option<f64> {
        match *self {
            Self::Const(x) => Some(x),
            _ => None,
        }
    }

    /// Returns whether it is 0, 1 or -1, whatever the operands are.
    pub(super) fn is_sign(&self) -> bool {
        match self {
            Self::Const(x) => [0.0, 1.0, -1.0].contains(x),
            Self::Op(arith::NEG, args) => args[0].is_sign(),
            Self::Op(core::SELECT, args) => args[1].is_sign() && args[2].is_sign(),
            Self::Op(arith::COPYSIGN, args) => args[0].is_sign(),
            _ => false,
        }
    }

    fn collect_needs(&self, needs: &mut Needs) {
        match self {
            &Self::Operand(position) => needs.operands |= 1 << position,
            Self::Result => needs.result = true,
            Self::Const(_) | Self::Int(_) => {}
            Self::Op(_, args) => args.iter().for_each(|arg| arg.collect_needs(needs)),
        }
    }
}

/// The values that a partial derivative is computed from.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Needs {
    /// The positions of the operands, as bits.
    operands: u32,
    /// Tells whether the result is needed.
    pub result: bool,
}

impl Needs {
    /// Returns whether the operand at `position` is needed.
    pub fn operand(self, position: usize) -> bool {
        position < 32 && self.operands >> position & 1 != 0
    }

    /// The positions of the operands that are needed, in order.
    pub fn operands(self) -> impl Iterator<Item = usize> {
        (0..32).filter(move |&position| self.operand(position))
    }

    /// Returns whether nothing is needed.
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }
}

/// The partial derivative by one operand.
#[derive(Clone, Debug)]
pub struct Partial {
    /// `Err`: it is not known how to compute it, and why.
    expr: Result<Expr, String>,
    strong: bool,
    needs: Needs,
}

impl Partial {
    pub(super) fn new(expr: Result<Expr, String>, strong: bool) -> Self {
        let mut needs = Needs::default();
        if let Ok(expr) = &expr {
            expr.collect_needs(&mut needs);
        }
        Self { expr, strong, needs }
    }

    /// The expression.
    ///
    /// # Errors
    /// If it is not known how to compute it: a sentence without a full stop that says why.
    pub fn expr(&self) -> Result<&Expr, &str> {
        self.expr.as_ref().map_err(String::as_str)
    }

    /// Returns whether it is zero everywhere.
    pub fn is_zero(&self) -> bool {
        self.expr.as_ref().is_ok_and(|expr| expr.as_const() == Some(0.0))
    }

    /// Returns whether a zero times it is zero even where it is infinite or NaN.
    pub fn is_strong(&self) -> bool {
        self.strong
    }

    /// The values that a product with it is computed from.
    pub fn needs(&self) -> Needs {
        self.needs
    }
}
