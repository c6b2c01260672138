//! Instructions that compute a polynomial.
//!
//! ```text
//! 3 + %1*%4 + 2*%1*i(^2)   =>   %7 = arith.mul %1, 2
//!                               %8 = arith.mul %7, %counter
//!                               %9 = arith.mul %1, %4
//!                               %10 = arith.add %9, 3
//!                               %11 = arith.add %8, %10
//! ```
//!
//! A symbol that stands in several terms is taken out of them (Horner's scheme), iterations
//! before values, so that what is multiplied with them is invariant and can be hoisted.

mod count;

use regraft_dialects::arith;
use regraft_ir::{Constant, Function, Inst, IrResult, Operand, Type, Value};

use crate::analysis::LoopId;
use crate::analysis::loop_exits::odd_inverse;
use crate::analysis::poly::{Monomial, Poly, Sym};

/// Inserts instructions before `at` (which may be a terminator) that compute a polynomial, and
/// returns its value. `counter` gives the present number of the iteration of a loop, of the type
/// of the polynomial or a wider one. The values in the polynomial have to dominate `at`, and the
/// loops of its counters to be around it. O(1), as polynomials are small; constants are folded.
///
/// # Errors
/// If `at` or a value in the polynomial is stale.
pub fn materialize(
    f: &mut Function,
    poly: &Poly,
    at: Value,
    counter: &mut dyn FnMut(LoopId) -> Operand,
) -> IrResult<Operand> {
    Emitter { f, at, ty: poly.ty(), counter }.poly(poly)
}

/// Returns the number of pairs of `n` things, and that of triples if they are wanted: for an integer of `w`
/// bits that is a natural number, modulo 2^w. Inserts the instructions that compute them before `at`, unless
/// `n` is a constant. None of them traps.
///
/// One of `n` and `n - 1` is even, so that the other is odd: `n >> 1` times `(n - 1) | 1` divides the
/// even one alone, and loses no bit. A third is the product with the inverse of 3.
///
/// # Errors
/// If `at` or `n` is stale, or `n` is no integer.
pub fn pairs_and_triples(
    f: &mut Function,
    n: Operand,
    triples: bool,
    at: Value,
) -> IrResult<(Operand, Option<Operand>)> {
    let ty = f.operand_type(n);
    let constant = |f: &Function, x: i64| {
        Operand::from(f.constant_id(Constant::int(ty, x).unwrap_or(Constant::I64(x))))
    };
    let third = odd_inverse(3);
    if let (Some(number), Some(bits)) = (f.constant(n).and_then(Constant::as_int), ty.bits()) {
        let number = number.cast_unsigned() & (u64::MAX >> (64 - bits));
        let pairs = (number >> 1).wrapping_mul(number.wrapping_sub(1) | 1).cast_signed();
        let all = pairs.wrapping_mul(number.cast_signed().wrapping_sub(2)).wrapping_mul(third);
        return Ok((constant(f, pairs), triples.then(|| constant(f, all))));
    }
    let less = f.insert(at, arith::sub(n, constant(f, 1)))?;
    let odd = f.insert(at, arith::or(less, constant(f, 1)))?;
    let by = f.constant_id(1_i64);
    let half = f.insert(at, arith::shr(n, by))?;
    let pairs = Operand::from(f.insert(at, arith::mul(half, odd))?);
    if !triples {
        return Ok((pairs, None));
    }
    let rest = f.insert(at, arith::sub(n, constant(f, 2)))?;
    let product = f.insert(at, arith::mul(pairs, rest))?;
    let all = f.insert(at, arith::mul(product, constant(f, third)))?;
    Ok((pairs, Some(all.into())))
}

struct Emitter<'a> {
    f: &'a mut Function,
    at: Value,
    ty: Type,
    counter: &'a mut dyn FnMut(LoopId) -> Operand,
}

impl Emitter<'_> {
    fn insert(&mut self, inst: Inst) -> IrResult<Operand> {
        Ok(self.f.insert(self.at, inst)?.into())
    }

    fn constant(&self, x: i64) -> Operand {
        let constant = Constant::int(self.ty, x).expect("a polynomial is of an integer type");
        self.f.constant_id(constant).into()
    }

    /// Takes symbols out of terms while one stands in several. Each time, at least one term
    /// less has a product to it, so that the depth is bounded.
    fn poly(&mut self, poly: &Poly) -> IrResult<Operand> {
        if let Some(symbol) = common_symbol(poly)
            && let Some((rest, factor)) = poly.linear_in(symbol)
        {
            let factor = self.poly(&factor)?;
            let symbol = self.symbol(symbol)?;
            let product = self.insert(arith::mul(factor, symbol))?;
            return if rest.is_zero() {
                Ok(product)
            } else {
                let rest = self.poly(&rest)?;
                self.insert(arith::add(product, rest))
            };
        }
        self.sum(poly)
    }

    fn sum(&mut self, poly: &Poly) -> IrResult<Operand> {
        // A sum begins with what is not subtracted, if there is such a term.
        let first = poly.terms().iter().position(|term| term.coefficient > 0);
        let constant = poly.constant_part();
        let mut sum = match first {
            Some(i) => {
                let term = &poly.terms()[i];
                Some(self.product(&term.symbols, term.coefficient)?)
            }
            None if constant != 0 || poly.terms().is_empty() => Some(self.constant(constant)),
            None => None,
        };
        for (i, term) in poly.terms().iter().enumerate() {
            if Some(i) == first {
                continue;
            }
            sum = Some(match sum {
                None => self.product(&term.symbols, term.coefficient)?,
                // The least integer is its own negative, so that either way is right.
                Some(sum) if term.coefficient < 0 => {
                    let size = self.product(&term.symbols, term.coefficient.wrapping_neg())?;
                    self.insert(arith::sub(sum, size))?
                }
                Some(sum) => {
                    let product = self.product(&term.symbols, term.coefficient)?;
                    self.insert(arith::add(sum, product))?
                }
            });
        }
        match sum {
            Some(sum) if first.is_some() && constant != 0 => {
                let constant = self.constant(constant);
                self.insert(arith::add(sum, constant))
            }
            Some(sum) => Ok(sum),
            None => Ok(self.constant(0)),
        }
    }

    fn product(&mut self, symbols: &Monomial, coefficient: i64) -> IrResult<Operand> {
        let mut product = None;
        // Values come last in order, and are multiplied first.
        for symbol in symbols.iter().rev() {
            let factor = self.symbol(symbol)?;
            product = Some(match product {
                None if coefficient == 1 => factor,
                None if coefficient == -1 => self.insert(arith::neg(factor))?,
                None => {
                    let coefficient = self.constant(coefficient);
                    self.insert(arith::mul(factor, coefficient))?
                }
                Some(product) => self.insert(arith::mul(product, factor))?,
            });
        }
        Ok(product.unwrap_or_else(|| self.constant(coefficient)))
    }

    fn symbol(&mut self, symbol: Sym) -> IrResult<Operand> {
        let operand = match symbol {
            Sym::Value(v) => v.into(),
            Sym::Iteration(l) => (self.counter)(l),
        };
        if self.f.operand_type(operand) == self.ty {
            return Ok(operand);
        }
        if let Some(x) = self.f.constant(operand).and_then(Constant::as_int) {
            return Ok(self.constant(x));
        }
        self.insert(arith::wrap(operand, self.ty))
    }
}

/// A symbol that stands in several terms, in none of them twice; iterations first.
fn common_symbol(poly: &Poly) -> Option<Sym> {
    let mut symbols: Vec<Sym> = poly.symbols().collect();
    symbols.sort_unstable();
    let several = |&s: &Sym| {
        let counts = poly.terms().iter().map(|t| t.symbols.iter().filter(|&u| u == s).count());
        counts.clone().max() == Some(1) && counts.filter(|&n| n > 0).count() > 1
    };
    symbols.into_iter().find(several)
}
