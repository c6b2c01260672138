//! Induction variables: integer values as polynomials in the iteration counters of the loops
//! around them, with invariant values as coefficients.
//!
//! ```text
//! ^2(%3: i64):                             %3 = 1 + 2*i(^2)      header parameter of ^2
//!   %5: i64 = arith.mul %3, %1             %5 = %1 + 2*%1*i(^2)
//!   %6: i64 = arith.add %5, %2             %6 = %2 + %1 + 2*%1*i(^2)
//!   br %7, ^2(%8), ^3                      with %8 = arith.add %3, 2
//! ```
//!
//! # Method
//! Chains of recurrences (Bachmann, Wang, Zima: "Chains of recurrences - a method to expedite the
//! evaluation of closed-form functions", 1994; van Engelen: "Efficient symbolic analysis for
//! optimizing compilers", 2001), those of them that are polynomials with integer coefficients in
//! the iteration: they are kept as such, so that several loops and products need no rules of
//! their own.
//!
//! 1. Innermost loops first, each value is evaluated symbolically in terms of the parameters of
//!    the header of its loop and of what comes from outside. A header parameter `p` whose next
//!    value is `p + s` with an invariant `s` is basic: it is `base + s * i`. If `s` is itself a
//!    polynomial in `i`, or if the next value is `c * p + d`, it is a chain of another kind,
//!    which is described but remains a symbol.
//! 2. In reverse postorder, header parameters and values from outside are replaced by what they
//!    are in terms of their own loops.
//!
//! # Why it is right
//! In SSA form, the operands that a value was computed from still have the values that they had
//! then: whenever they are computed anew, so is it before its next use. So a polynomial holds at
//! each use within the loop. Outside of a loop its counter has no meaning; for a value that comes
//! out of a loop which is left in one way, the number of the last iteration takes its place if that
//! is a polynomial, and otherwise the value is a symbol there. For the arithmetic see [`Poly`].
//!
//! # Cost
//! O(instructions + operands), as polynomials are of bounded size.

mod finder;

use std::fmt::Write as _;
use std::sync::Arc;

use regraft_ir::{Block, Function, Operand, OperandKind, Type, Value};

use super::block_list::text_or;
use super::poly::{Poly, Sym};
use super::{Invariants, LoopForest, LoopId};

/// A header parameter that grows by the same amount in each iteration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BasicInduction {
    /// The parameter.
    pub param: Value,
    /// Its value in the first iteration; in terms of the loops around its loop.
    pub base: Poly,
    /// The step that is added on each way back to the header; in the same terms, and made of values
    /// from outside the loop. It may be 0.
    pub step: Poly,
}

/// A header parameter that follows another simple rule. It stays a symbol in polynomials.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain {
    /// The parameter.
    pub param: Value,
    /// Its value in the first iteration, in terms of the loops around its loop.
    pub base: Poly,
    /// The rule for the next value.
    pub rule: ChainRule,
}

/// The rule for the next value of a [`Chain`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChainRule {
    /// This polynomial in the number of the present iteration is added.
    Polynomial(Poly),
    /// It is multiplied by `factor`, and `addend` is added; both are made of values from outside.
    Geometric {
        /// Neither 0 nor 1.
        factor: Poly,
        /// May be 0.
        addend: Poly,
    },
}

/// Integer values in terms of iterations.
#[derive(Clone, Debug)]
pub struct InductionVariables {
    forest: Arc<LoopForest>,
    invariants: Arc<Invariants>,
    /// By [`Value::index`]: 0 for a symbol of its own, else 1 + the index in `polys`.
    index: Vec<u32>,
    polys: Vec<Poly>,
    /// By [`LoopId::index`].
    basic: Vec<Vec<BasicInduction>>,
    chains: Vec<Vec<Chain>>,
    /// By [`LoopId::index`]: the last iteration, where it is known after the loop.
    ends: Vec<Option<End>>,
}

/// The number of the last iteration of a loop that is left in one way.
#[derive(Clone, Debug)]
enum End {
    Constant(u64),
    /// An unsigned number of its type, in terms of the loops around.
    Number(Poly),
}

impl End {
    /// The same as a polynomial of a type, if that is no wider.
    fn of_type(&self, ty: Type) -> Option<Poly> {
        match self {
            Self::Constant(n) => Some(Poly::constant(ty, *n as i64)),
            Self::Number(poly) => (poly.ty().bits() >= ty.bits()).then(|| poly.truncate(ty)),
        }
    }
}

impl InductionVariables {
    /// Returns what an integer operand is, in the loops around its definition: at each use of a
    /// value that stands in the same loops. Of an opaque value it is the value as a symbol.
    ///
    /// # Panics
    /// If the operand is no integer.
    pub fn evolution(&self, f: &Function, operand: impl Into<Operand>) -> Poly {
        let operand = operand.into();
        let ty = f.operand_type(operand);
        assert!(ty.is_int(), "{} is no integer", f.operand_text(operand));
        match operand.kind() {
            OperandKind::Value(v) => self.known(v).cloned().unwrap_or_else(|| Poly::value(ty, v)),
            _ => {
                let constant = f.constant(operand).and_then(regraft_ir::Constant::as_int);
                Poly::constant(ty, constant.unwrap_or(0))
            }
        }
    }

    /// Returns what an integer operand is where it is used in `block`. It differs from
    /// [`InductionVariables::evolution`] for values that come out of loops which the block is not
    /// in.
    ///
    /// # Panics
    /// If the operand is no integer.
    pub fn evolution_at(&self, f: &Function, operand: impl Into<Operand>, block: Block) -> Poly {
        let operand = operand.into();
        let poly = self.evolution(f, operand);
        match operand.as_value() {
            Some(v) => {
                let left = self.leave(poly, |l| self.forest.contains(l, block));
                left.unwrap_or_else(|| Poly::value(f.ty(v), v))
            }
            None => poly,
        }
    }

    /// A polynomial outside of the loops that `inside` does not name, inner loops first: their
    /// last iterations are put in. `None` if one is not known.
    fn leave(&self, mut poly: Poly, inside: impl Fn(LoopId) -> bool) -> Option<Poly> {
        loop {
            let left = poly.symbols().filter_map(|s| match s {
                Sym::Iteration(l) if !inside(l) => Some(l),
                _ => None,
            });
            let Some(l) = left.max_by_key(|&l| self.forest.get(l).depth) else { return Some(poly) };
            let last = self.ends[l.index()].as_ref()?.of_type(poly.ty())?;
            poly = poly.substitute(|s| (s == Sym::Iteration(l)).then(|| last.clone()))?;
        }
    }

    /// The polynomial of a value that is no symbol of its own.
    fn known(&self, v: Value) -> Option<&Poly> {
        match *self.index.get(v.index())? {
            0 => None,
            i => Some(&self.polys[i as usize - 1]),
        }
    }

    fn set(&mut self, v: Value, poly: Poly) {
        match self.index[v.index()] {
            0 => {
                self.polys.push(poly);
                self.index[v.index()] = self.polys.len() as u32;
            }
            i => self.polys[i as usize - 1] = poly,
        }
    }

    /// The basic induction variables of a loop, in the order of the parameters.
    pub fn basic(&self, l: LoopId) -> &[BasicInduction] {
        &self.basic[l.index()]
    }

    /// The header parameters of a loop that follow another simple rule, in their order.
    pub fn chains(&self, l: LoopId) -> &[Chain] {
        &self.chains[l.index()]
    }

    /// Returns whether a polynomial is the same in all iterations of one execution of a loop.
    pub(crate) fn is_invariant_in(&self, poly: &Poly, l: LoopId) -> bool {
        poly.symbols().all(|s| match s {
            Sym::Value(v) => self.invariants.is_invariant(l, v),
            Sym::Iteration(inner) => !self.forest.encloses(l, inner),
        })
    }

    /// Returns whether a polynomial can be computed before a loop: all its values are defined
    /// outside. That implies that it is invariant in the loop.
    pub(crate) fn is_available_before(&self, poly: &Poly, l: LoopId) -> bool {
        poly.symbols().all(|s| match s {
            Sym::Value(v) => self.invariants.is_outside(l, v),
            Sym::Iteration(inner) => !self.forest.encloses(l, inner),
        })
    }

    /// The base and step of a polynomial that is `base + step * i` in the iteration `i` of a loop,
    /// both invariant in the loop. The step is 0 for what is invariant.
    pub fn affine_in(&self, poly: &Poly, l: LoopId) -> Option<(Poly, Poly)> {
        let (base, step) = poly.linear_in(Sym::Iteration(l))?;
        (self.is_invariant_in(&base, l) && self.is_invariant_in(&step, l)).then_some((base, step))
    }

    /// The loops.
    pub fn forest(&self) -> &Arc<LoopForest> {
        &self.forest
    }

    /// Returns where values vary.
    pub(crate) fn invariants(&self) -> &Arc<Invariants> {
        &self.invariants
    }

    /// The induction variables as text: for each loop its basic ones and its chains, and then the
    /// values in it that are polynomials in iterations, a line each.
    pub fn describe(&self, f: &Function) -> String {
        let mut lines: Vec<Vec<String>> = vec![Vec::new(); self.forest.len()];
        for v in f.all_values() {
            if let Some(l) = self.forest.loop_of(f.block_of(v))
                && let Some(poly) = self.known(v)
                && poly.symbols().any(|s| matches!(s, Sym::Iteration(_)))
            {
                let text = poly.text(f, &self.forest);
                lines[l.index()].push(format!("{} = {text}", f.value_text(v)));
            }
        }
        let mut out = String::new();
        for l in self.forest.loops() {
            let at = self.forest.get(l);
            let indent = 2 * (at.depth as usize - 1);
            let text = |poly: &Poly| poly.text(f, &self.forest);
            let _ = writeln!(out, "{:indent$}loop {}:", "", at.header);
            for b in self.basic(l) {
                let name = f.value_text(b.param);
                let (base, step) = (text(&b.base), text(&b.step));
                let _ = writeln!(out, "{:indent$}  {name}: from {base} by {step}", "");
            }
            for chain in self.chains(l) {
                let name = f.value_text(chain.param);
                let base = text(&chain.base);
                let _ = match &chain.rule {
                    ChainRule::Polynomial(step) => {
                        writeln!(out, "{:indent$}  {name}: from {base} by {}", "", text(step))
                    }
                    ChainRule::Geometric { factor, addend } => writeln!(
                        out,
                        "{:indent$}  {name}: from {base} times {} plus {}",
                        "",
                        text(factor),
                        text(addend)
                    ),
                };
            }
            for line in &lines[l.index()] {
                let _ = writeln!(out, "{:indent$}  {line}", "");
            }
        }
        text_or(out, "no loops\n")
    }
}
