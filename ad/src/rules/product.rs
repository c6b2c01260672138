//! The instructions that multiply a tangent or cotangent by a partial derivative.
//!
//! ```text
//! d arith.fdiv(x, y) -> z = 1 / y, -z / y        %1 = fdiv seed, y
//!                                                %2 = neg z; %3 = mul seed, %2; %4 = fdiv %3, y
//! ```
//!
//! Method. The product goes into the expression as far as that costs nothing: by 1 it is the
//! factor itself, by -1 its negative, into the numerator of a quotient, and into the branches of
//! a choice of which one is 0, 1 or -1. So a branch that is zero is zero whatever the others are. An
//! expression that occurs twice is computed once. Where a zero is to win over an infinity, the partial
//! is computed by itself, and the product is one in which it does. All other algebra is left to the
//! rules of the pass `e-graph`; a product with 1 is not, since of a signalling NaN it is another value.
//!
//! Cost: linear in the expression, but for looking up what was computed already, which is
//! quadratic in it; rules are short.

use regraft_dialects::{arith, core};
use regraft_ir::{Constant, Context, Inst, Operand, Type};

use super::{Expr, Partial};

/// The factor of a partial derivative, and its place.
#[derive(Clone, Copy, Debug)]
pub struct Product<'a> {
    /// The other factor, of type `ty`.
    pub seed: Operand,
    /// The operands of the op.
    pub operands: &'a [Operand],
    /// The result of the op. Looked at only if the partial [needs](Partial::needs) it.
    pub result: Operand,
    /// The type of the op: `f32` or `f64`.
    pub ty: Type,
    /// Tells whether a zero factor has to give zero even where the partial is infinite or NaN.
    pub strong_zero: bool,
}

impl Partial {
    /// Makes the instructions for `seed * partial`, in order, and gives the product. `None` if it
    /// is zero, or if it is not known how to compute it.
    pub fn product(
        &self,
        ctx: &Context,
        at: &Product<'_>,
        emit: &mut dyn FnMut(Inst) -> Operand,
    ) -> Option<Operand> {
        let expr = self.expr().ok()?;
        let mut writer = Writer { ctx, at, emit, done: Vec::new() };
        if expr.is_sign() || !(at.strong_zero || self.is_strong()) {
            return writer.product(at.seed, expr);
        }
        let partial = writer.value(expr);
        Some((writer.emit)(arith::mulz(at.seed, partial)))
    }
}

struct Writer<'a> {
    ctx: &'a Context,
    at: &'a Product<'a>,
    emit: &'a mut dyn FnMut(Inst) -> Operand,
    /// The expressions that were computed already.
    done: Vec<(&'a Expr, Operand)>,
}

impl<'a> Writer<'a> {
    /// `seed * expr`, `None` if that is zero. The recursion is as deep as the expression.
    fn product(&mut self, seed: Operand, expr: &'a Expr) -> Option<Operand> {
        match expr {
            Expr::Const(0.0) => return None,
            Expr::Const(1.0) => return Some(seed),
            Expr::Const(-1.0) => return Some((self.emit)(arith::neg(seed))),
            Expr::Op(arith::NEG, args) if args[0].is_sign() => {
                let seed = (self.emit)(arith::neg(seed));
                return self.product(seed, &args[0]);
            }
            Expr::Op(arith::FDIV, args) => {
                let above = self.product(seed, &args[0])?;
                let below = self.value(&args[1]);
                return Some((self.emit)(arith::fdiv(above, below)));
            }
            Expr::Op(core::SELECT, args) if args[1].is_sign() || args[2].is_sign() => {
                let condition = self.value(&args[0]);
                let zero = self.float(0.0);
                let x = self.product(seed, &args[1]).unwrap_or(zero);
                let y = self.product(seed, &args[2]).unwrap_or(zero);
                return Some((self.emit)(core::select(condition, x, y)));
            }
            _ => {}
        }
        let factor = self.value(expr);
        Some((self.emit)(arith::mul(seed, factor)))
    }

    fn value(&mut self, expr: &'a Expr) -> Operand {
        match expr {
            &Expr::Operand(position) => return self.at.operands[position],
            Expr::Result => return self.at.result,
            &Expr::Const(x) => return self.float(x),
            &Expr::Int(x) => return self.ctx.constant_id(x).into(),
            Expr::Op(..) => {}
        }
        if let Some(&(_, done)) = self.done.iter().find(|&&(other, _)| other == expr) {
            return done;
        }
        let Expr::Op(op, args) = expr else { return self.at.result };
        let operands: Vec<Operand> = args.iter().map(|arg| self.value(arg)).collect();
        let mut inst = Inst::new(*op).operands(operands);
        if *op == arith::INT_TO_FLOAT {
            inst = inst.with_type(self.at.ty);
        }
        let value = (self.emit)(inst);
        self.done.push((expr, value));
        value
    }

    fn float(&self, x: f64) -> Operand {
        let constant = match self.at.ty {
            Type::F32 => Constant::from(x as f32),
            _ => Constant::from(x),
        };
        self.ctx.constant_id(constant).into()
    }
}
