//! Polynomials over symbols: what an integer value is, as far as sums and products say it.
//!
//! ```text
//! %5: i64 = arith.mul %2, %1        %5 = %1*i(^2)
//! %6: i64 = arith.add %5, 3         %6 = 3 + %1*i(^2)
//! ```
//!
//! # Why it is right
//! Integers of `w` bits with wrapping sums and products are the ring of integers modulo 2^w.
//! Every identity of polynomials with integer coefficients holds in it, so that nothing here has
//! to ask whether something overflows. The low bits of a wider integer are its image under the
//! homomorphism from the larger ring to the smaller one; so a symbol may be wider than the
//! polynomial that it stands in, and so may a counter of iterations, which never ends.
//!
//! # Cost
//! A polynomial has at most `MAX_TERMS` terms of degree at most `MAX_DEGREE`; what would have
//! more is `None`, and its value a symbol of its own. So every operation is O(1).

use std::fmt::Write as _;

use regraft_ir::{Constant, Function, Type, Value};
use smallvec::SmallVec;

use super::{LoopForest, LoopId};

/// The most terms that a polynomial has, its constant not counted.
pub(crate) const MAX_TERMS: usize = 8;
/// The most symbols that are multiplied in a term.
pub(crate) const MAX_DEGREE: usize = 3;

/// A symbol of a polynomial.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sym {
    /// The number of times that the header has been entered in the present execution of the loop,
    /// not counting the first time: 0, 1, 2, ... It is a natural number, as large as it gets.
    Iteration(LoopId),
    /// The number that an integer value is at the moment; its low bits, if the value is wider.
    Value(Value),
}

/// Symbols that are multiplied, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Monomial([Option<Sym>; MAX_DEGREE]);

impl Monomial {
    /// The product of no symbols.
    const ONE: Self = Self([None; MAX_DEGREE]);

    /// A symbol by itself.
    const fn symbol(symbol: Sym) -> Self {
        let mut one = Self::ONE;
        one.0[0] = Some(symbol);
        one
    }

    /// The symbols, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Sym> + '_ {
        self.0.iter().copied().flatten()
    }

    /// The product. `None` if its degree is too high.
    fn mul(self, other: Self) -> Option<Self> {
        other.iter().try_fold(self, |product, symbol| {
            let mut symbols = product.0;
            if symbols[MAX_DEGREE - 1].replace(symbol).is_some() {
                return None;
            }
            for i in (1..MAX_DEGREE).rev() {
                if symbols[i - 1].is_none_or(|before| Some(before) > symbols[i]) {
                    symbols.swap(i - 1, i);
                }
            }
            Some(Self(symbols))
        })
    }

    /// The power of a symbol, and the product of the others.
    fn split(self, symbol: Sym) -> (usize, Self) {
        let (mut power, mut rest, mut at) = (0, Self::ONE, 0);
        for other in self.iter() {
            if other == symbol {
                power += 1;
            } else {
                rest.0[at] = Some(other);
                at += 1;
            }
        }
        (power, rest)
    }
}

/// A product of symbols with its coefficient, which is not 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Term {
    /// The symbols, in order; at least one.
    pub symbols: Monomial,
    /// The factor, as a signed number of the width.
    pub coefficient: i64,
}

/// A polynomial with coefficients modulo 2^w. Two are equal if and only if they have the same
/// type, constant and terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Poly {
    ty: Type,
    constant: i64,
    /// Sorted by their symbols, each set of symbols once.
    terms: SmallVec<[Term; 2]>,
}

/// The signed number of the width of `ty` that is `x` modulo 2^w.
///
/// # Panics
/// If `ty` is no integer type.
#[inline]
pub(crate) fn wrap(ty: Type, x: i64) -> i64 {
    if ty == Type::I64 {
        return x;
    }
    Constant::int(ty, x).and_then(Constant::as_int).expect("an integer type")
}

impl Poly {
    /// A constant of an integer type.
    pub fn constant(ty: Type, constant: i64) -> Self {
        Self { ty, constant: wrap(ty, constant), terms: SmallVec::new() }
    }

    /// A symbol by itself. The type may be narrower than that of the symbol.
    pub fn symbol(ty: Type, symbol: Sym) -> Self {
        let mut terms = SmallVec::new();
        terms.push(Term { symbols: Monomial::symbol(symbol), coefficient: 1 });
        Self { ty, constant: 0, terms }
    }

    /// A value by itself.
    pub fn value(ty: Type, value: Value) -> Self {
        Self::symbol(ty, Sym::Value(value))
    }

    /// The number of the iteration of a loop.
    pub fn iteration(ty: Type, l: LoopId) -> Self {
        Self::symbol(ty, Sym::Iteration(l))
    }

    /// Its type.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// Returns what it is where all symbols are 0, as a signed number.
    pub fn constant_part(&self) -> i64 {
        self.constant
    }

    /// Its other terms, in order.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Its value as a signed number, if it has no symbols.
    pub fn constant_value(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The symbol, if it is one and nothing else.
    pub fn as_symbol(&self) -> Option<Sym> {
        match &*self.terms {
            [term] if self.constant == 0 && term.coefficient == 1 => match term.symbols.0 {
                [symbol, None, ..] => symbol,
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns whether it is 0.
    pub fn is_zero(&self) -> bool {
        self.constant == 0 && self.terms.is_empty()
    }

    /// Its symbols, some of them maybe several times.
    pub fn symbols(&self) -> impl Iterator<Item = Sym> + '_ {
        self.terms.iter().flat_map(|term| term.symbols.iter())
    }

    /// Returns whether a symbol is in it.
    pub(crate) fn mentions(&self, symbol: Sym) -> bool {
        self.symbols().any(|s| s == symbol)
    }

    /// The sum. `None` if it has too many terms.
    ///
    /// # Panics
    /// If the types differ, as in [`Poly::sub`] and [`Poly::mul`].
    pub fn add(&self, other: &Self) -> Option<Self> {
        self.combine(other, 1)
    }

    /// The difference. `None` if it has too many terms.
    pub fn sub(&self, other: &Self) -> Option<Self> {
        self.combine(other, -1)
    }

    /// `self + factor * other`, the terms merged in order.
    fn combine(&self, other: &Self, factor: i64) -> Option<Self> {
        assert_eq!(self.ty, other.ty, "polynomials of different types");
        let ty = self.ty;
        let constant = wrap(ty, self.constant.wrapping_add(other.constant.wrapping_mul(factor)));
        let mut terms: SmallVec<[Term; 2]> = SmallVec::new();
        let (mut left, mut right) = (&*self.terms, &*other.terms);
        loop {
            let (term, coefficient) = match (left, right) {
                ([], []) => break,
                ([a, rest @ ..], []) => {
                    left = rest;
                    (a, a.coefficient)
                }
                ([a, rest @ ..], [b, ..]) if a.symbols < b.symbols => {
                    left = rest;
                    (a, a.coefficient)
                }
                ([a, rest @ ..], [b, others @ ..]) if a.symbols == b.symbols => {
                    (left, right) = (rest, others);
                    (a, a.coefficient.wrapping_add(b.coefficient.wrapping_mul(factor)))
                }
                (_, [b, others @ ..]) => {
                    right = others;
                    (b, b.coefficient.wrapping_mul(factor))
                }
            };
            let coefficient = wrap(ty, coefficient);
            if coefficient != 0 {
                terms.push(Term { coefficient, ..*term });
            }
        }
        (terms.len() <= MAX_TERMS).then_some(Self { ty, constant, terms })
    }

    /// The product. `None` if it has too many terms or too high a degree.
    pub fn mul(&self, other: &Self) -> Option<Self> {
        assert_eq!(self.ty, other.ty, "polynomials of different types");
        if let Some(factor) = self.constant_value() {
            return Some(other.scale(factor));
        }
        let mut product = self.scale(other.constant);
        for b in &other.terms {
            product = product.combine(&self.times(b.symbols)?, b.coefficient)?;
        }
        Some(product)
    }

    /// The product with some symbols. `None` if its degree is too high.
    fn times(&self, symbols: Monomial) -> Option<Self> {
        let mut product = Self::constant(self.ty, 0);
        if self.constant != 0 {
            product.terms.push(Term { symbols, coefficient: self.constant });
        }
        for term in &self.terms {
            product.terms.push(Term { symbols: term.symbols.mul(symbols)?, ..*term });
        }
        // A factor that all have in common keeps them different, but not in order.
        product.sort();
        Some(product)
    }

    /// Sorts the terms.
    fn sort(&mut self) {
        if self.terms.len() > 1 {
            self.terms.sort_unstable_by_key(|term| term.symbols);
        }
    }

    /// The negative.
    #[must_use]
    pub fn neg(&self) -> Self {
        self.scale(-1)
    }

    /// Each coefficient times `factor`.
    #[must_use]
    pub fn scale(&self, factor: i64) -> Self {
        if factor == 1 {
            return self.clone();
        }
        self.with_coefficients(self.ty, |x| x.wrapping_mul(factor))
    }

    /// The same with other coefficients.
    fn with_coefficients(&self, ty: Type, of: impl Fn(i64) -> i64) -> Self {
        let terms = self.terms.iter().filter_map(|term| {
            let coefficient = wrap(ty, of(term.coefficient));
            (coefficient != 0).then_some(Term { coefficient, ..*term })
        });
        Self { ty, constant: wrap(ty, of(self.constant)), terms: terms.collect() }
    }

    /// Times 2 to the power of `count`.
    #[must_use]
    pub(crate) fn shl(&self, count: u32) -> Self {
        if count >= 64 { Self::constant(self.ty, 0) } else { self.scale(1 << count) }
    }

    /// Plus a constant.
    #[must_use]
    pub fn plus(&self, constant: i64) -> Self {
        let constant = wrap(self.ty, self.constant.wrapping_add(constant));
        Self { constant, ..self.clone() }
    }

    /// Minus one minus it: all bits flipped.
    #[must_use]
    pub(crate) fn not(&self) -> Self {
        self.neg().plus(-1)
    }

    /// Its low bits, as a polynomial of a narrower (or equal) integer type.
    #[must_use]
    pub(crate) fn truncate(&self, ty: Type) -> Self {
        if ty == self.ty {
            return self.clone();
        }
        self.with_coefficients(ty, |x| x)
    }

    /// The polynomials `a` and `b`, free of `symbol`, with which it is `a + b * symbol`. `None` if
    /// the symbol is in it with a higher power.
    pub(crate) fn linear_in(&self, symbol: Sym) -> Option<(Self, Self)> {
        let mut rest = Self::constant(self.ty, self.constant);
        let mut factor = Self::constant(self.ty, 0);
        for &Term { symbols, coefficient } in &self.terms {
            match symbols.split(symbol) {
                (0, _) => rest.terms.push(Term { symbols, coefficient }),
                (1, Monomial::ONE) => factor.constant = coefficient,
                (1, symbols) => factor.terms.push(Term { symbols, coefficient }),
                _ => return None,
            }
        }
        factor.sort();
        Some((rest, factor))
    }

    /// The polynomials, free of `symbol`, that its powers are multiplied with, the constant first:
    /// at least one, and no more than `1 + MAX_DEGREE`.
    fn powers_of(&self, symbol: Sym) -> SmallVec<[Self; 1 + MAX_DEGREE]> {
        let mut powers: SmallVec<[Self; 1 + MAX_DEGREE]> = SmallVec::new();
        powers.push(Self::constant(self.ty, self.constant));
        for term in &self.terms {
            let (power, symbols) = term.symbols.split(symbol);
            while powers.len() <= power {
                powers.push(Self::constant(self.ty, 0));
            }
            if symbols == Monomial::ONE {
                powers[power].constant = term.coefficient;
            } else {
                powers[power].terms.push(Term { symbols, coefficient: term.coefficient });
            }
        }
        powers.iter_mut().for_each(Self::sort);
        powers
    }

    /// The sum of the values that it has while a counter is less than `symbol`, which is a natural
    /// number `n`: the polynomials with which it is `a1 * n + a2 * C(n, 2) + a3 * C(n, 3)`, where
    /// `C` are binomial coefficients. `None` if the degree is too high.
    ///
    /// By `t^2 = C(t, 1) + 2 C(t, 2)`, and since the sum of `C(t, k)` over `t < n` is `C(n, k + 1)`
    /// (Newton's form of Faulhaber's sums). Nothing is divided, so that it holds modulo 2^w.
    pub fn sum_below(&self, symbol: Sym) -> Option<[Self; 3]> {
        let powers = self.powers_of(symbol);
        let zero = Self::constant(self.ty, 0);
        let power = |k: usize| powers.get(k).cloned().unwrap_or_else(|| zero.clone());
        if powers.len() > 3 {
            return None;
        }
        Some([power(0), power(1).add(&power(2))?, power(2).scale(2)])
    }

    /// Returns what `symbol` is multiplied with. `None` if the symbol is in it with a higher power.
    pub(crate) fn coefficient_of(&self, symbol: Sym) -> Option<Self> {
        self.linear_in(symbol).map(|(_, factor)| factor)
    }

    /// Puts polynomials in the places of symbols; those for which there is `None` stay. `None` if
    /// there are too many terms or too high a degree.
    ///
    /// # Panics
    /// If one of them is of another type.
    pub fn substitute(&self, mut by: impl FnMut(Sym) -> Option<Self>) -> Option<Self> {
        let mut sum = Self::constant(self.ty, self.constant);
        for &Term { symbols, coefficient } in &self.terms {
            let (mut kept, mut product) = (Monomial::ONE, Self::constant(self.ty, 1));
            for symbol in symbols.iter() {
                match by(symbol) {
                    Some(factor) => product = product.mul(&factor)?,
                    None => kept = kept.mul(Monomial::symbol(symbol))?,
                }
            }
            if kept != Monomial::ONE {
                product = product.times(kept)?;
            }
            sum = sum.combine(&product, coefficient)?;
        }
        Some(sum)
    }

    /// Returns what it is for given values of the symbols, of which the low bits count.
    pub fn evaluate(&self, mut of: impl FnMut(Sym) -> i64) -> i64 {
        let sum = self.terms.iter().fold(self.constant, |sum, term| {
            let product = term.symbols.iter().fold(term.coefficient, |p, s| p.wrapping_mul(of(s)));
            sum.wrapping_add(product)
        });
        wrap(self.ty, sum)
    }

    /// The polynomial as text: `3 - %1*i(^2)`, where `i(^2)` is the iteration of the loop with
    /// header `^2`.
    pub fn text(&self, f: &Function, forest: &LoopForest) -> String {
        let mut out = String::new();
        if self.constant != 0 || self.terms.is_empty() {
            let _ = write!(out, "{}", self.constant);
        }
        // What has no iteration in it first.
        let has_iteration = |term: &&Term| matches!(term.symbols.0[0], Some(Sym::Iteration(_)));
        let (moving, still): (Vec<&Term>, Vec<&Term>) = self.terms.iter().partition(has_iteration);
        for term in still.into_iter().chain(moving) {
            let negative = term.coefficient < 0;
            out.push_str(match (out.is_empty(), negative) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            });
            let size = term.coefficient.unsigned_abs();
            if size != 1 {
                let _ = write!(out, "{size}*");
            }
            // Iterations are sorted first, and are read best last.
            for (i, symbol) in term.symbols.iter().rev().enumerate() {
                let star = if i > 0 { "*" } else { "" };
                let _ = match symbol {
                    Sym::Value(v) => write!(out, "{star}{}", f.value_text(v)),
                    Sym::Iteration(l) => write!(out, "{star}i({})", forest.get(l).header),
                };
            }
        }
        out
    }
}
