//! Normal forms of sums and products, in the algebra of real numbers.
//!
//! ```text
//! c₁·p₁ + c₂·p₂ + … + c         p = x₁^n₁ · x₂^n₂ · …         x: a class that is neither
//! ```
//!
//! Sums are not multiplied out: a sum that is a factor is a class of its own. Products are numbered,
//! each has one number. So equal forms are equal lists, whatever the order in which they were made.
//!
//! # Cost
//! A sum has at most [`MAX_TERMS`] terms, a product at most [`MAX_FACTORS`] factors. What would have
//! more has no form, and is a term or a factor itself.

use indexmap::IndexSet;
use regraft_ir::Type;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::{SmallVec, smallvec};

use super::graph::Class;

/// The most terms of a sum.
pub(super) const MAX_TERMS: usize = 24;
/// The most factors of a product.
const MAX_FACTORS: usize = 24;
/// The greatest exponent.
const MAX_EXPONENT: i32 = 1 << 12;

/// A power of a class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Factor {
    pub(super) base: Class,
    /// Not zero.
    pub(super) exponent: i32,
}

/// Factors by their bases.
pub(super) type Factors = SmallVec<[Factor; 4]>;

/// The number of a product.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Product(u32);

impl Product {
    /// The product of no factors.
    pub(super) const ONE: Self = Self(0);
}

/// A finite number that is not zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Coefficient(u64);

impl Coefficient {
    pub(super) const ONE: Self = Self(1f64.to_bits());

    /// Of a number, if it can be one.
    fn new(x: f64) -> Option<Self> {
        (x.is_finite() && x != 0.0).then(|| Self(x.to_bits()))
    }

    pub(super) fn get(self) -> f64 {
        f64::from_bits(self.0)
    }

    pub(super) fn is_negative(self) -> bool {
        self.get() < 0.0
    }

    pub(super) fn abs(self) -> Self {
        Self(self.get().abs().to_bits())
    }

    pub(super) fn neg(self) -> Self {
        Self((-self.get()).to_bits())
    }
}

/// A multiple of a product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Term {
    pub(super) product: Product,
    pub(super) coefficient: Coefficient,
}

/// A sum: terms by the numbers of their products. The constant is the multiple of
/// [`Product::ONE`]. Zero has no terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Form(SmallVec<[Term; 2]>);

impl Form {
    /// A constant, if it is finite.
    pub(super) fn constant(x: f64) -> Option<Self> {
        if x == 0.0 {
            return Some(Self::default());
        }
        Some(Self::term(Product::ONE, Coefficient::new(x)?))
    }

    pub(super) fn term(product: Product, coefficient: Coefficient) -> Self {
        Self(smallvec![Term { product, coefficient }])
    }

    /// Of terms in order.
    pub(super) fn of_terms(terms: impl IntoIterator<Item = Term>) -> Self {
        let mut terms: SmallVec<[Term; 2]> = terms.into_iter().collect();
        terms.sort_unstable_by_key(|term| term.product);
        Self(terms)
    }

    pub(super) fn terms(&self) -> &[Term] {
        &self.0
    }

    /// The number that it is.
    pub(super) fn as_constant(&self) -> Option<f64> {
        match self.terms() {
            [] => Some(0.0),
            [term] if term.product == Product::ONE => Some(term.coefficient.get()),
            _ => None,
        }
    }

    /// Returns `self + sign * other`, if it has few enough terms and all are finite.
    pub(super) fn plus(&self, other: &Self, sign: f64) -> Option<Self> {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut terms = SmallVec::new();
        loop {
            let scaled = |term: &Term| {
                Some(Term {
                    coefficient: Coefficient::new(sign * term.coefficient.get())?,
                    ..*term
                })
            };
            match (a.peek(), b.peek()) {
                (None, None) => break,
                (Some(&&x), Some(y)) if x.product == y.product => {
                    let sum = x.coefficient.get() + sign * y.coefficient.get();
                    if sum != 0.0 {
                        terms.push(Term { coefficient: Coefficient::new(sum)?, ..x });
                    }
                    a.next();
                    b.next();
                }
                (Some(&&x), y) if y.is_none_or(|y| x.product < y.product) => {
                    terms.push(x);
                    a.next();
                }
                (_, Some(y)) => {
                    terms.push(scaled(y)?);
                    b.next();
                }
                (Some(_), None) => unreachable!("the case before has no condition without `y`"),
            }
        }
        (terms.len() <= MAX_TERMS).then_some(Self(terms))
    }

    /// Returns the multiple by `k`, if all of it is finite.
    pub(super) fn times(&self, k: f64) -> Option<Self> {
        if k == 0.0 {
            return Some(Self::default());
        }
        let scaled = self.0.iter().map(|term| {
            Some(Term { coefficient: Coefficient::new(k * term.coefficient.get())?, ..*term })
        });
        Some(Self(scaled.collect::<Option<_>>()?))
    }
}

/// The products of an e-graph.
#[derive(Debug)]
pub(super) struct Products(IndexSet<Factors, FxBuildHasher>);

impl Default for Products {
    fn default() -> Self {
        let mut this = Self(IndexSet::default());
        this.intern(Factors::new());
        this
    }
}

impl Products {
    pub(super) fn factors(&self, product: Product) -> &Factors {
        &self.0[product.0 as usize]
    }

    /// The number of a product whose factors are in order.
    pub(super) fn intern(&mut self, factors: Factors) -> Product {
        Product(self.0.insert_full(factors).0 as u32)
    }

    /// The number of a product that has one already.
    pub(super) fn find(&self, factors: &Factors) -> Option<Product> {
        self.0.get_index_of(factors).map(|number| Product(number as u32))
    }

    /// The power of one class.
    pub(super) fn power(&mut self, base: Class, exponent: i32) -> Product {
        self.intern(smallvec![Factor { base, exponent }])
    }

    /// Returns `a * b^n`, if its factors and exponents are few enough.
    pub(super) fn times(&mut self, a: Product, b: Product, n: i32) -> Option<Product> {
        if b == Product::ONE || n == 0 {
            return Some(a);
        }
        let mut product = self.factors(a).clone();
        for &factor in self.factors(b) {
            let exponent = factor.exponent.checked_mul(n)?;
            match product.binary_search_by_key(&factor.base, |f| f.base) {
                Ok(at) => {
                    product[at].exponent += exponent;
                    if product[at].exponent == 0 {
                        product.remove(at);
                    }
                }
                Err(at) => product.insert(at, Factor { base: factor.base, exponent }),
            }
        }
        let fits = product.len() <= MAX_FACTORS
            && product.iter().all(|factor| factor.exponent.abs() <= MAX_EXPONENT);
        fits.then(|| self.intern(product))
    }
}

/// The forms of classes, if floats are real numbers.
#[derive(Debug, Default)]
pub(super) struct Algebra {
    pub(super) products: Products,
    /// By [`Class::index`]; zero for what is no float.
    forms: Vec<Form>,
    /// Of `f32`, and of `f64`.
    known: [FxHashMap<Form, Known>; 2],
}

/// The classes of one form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// The class that stands for the form where it is a factor.
    pub(super) first: Class,
    /// The class with the most nodes.
    pub(super) latest: Class,
    /// Tells whether `latest` has the nodes that the form gives.
    pub(super) is_lowered: bool,
}

impl Algebra {
    pub(super) fn form(&self, class: Class) -> &Form {
        &self.forms[class.index()]
    }

    /// Gives the next class a form.
    pub(super) fn push(&mut self, form: Form) {
        self.forms.push(form);
    }

    pub(super) fn set_form(&mut self, class: Class, form: Form) {
        self.forms[class.index()] = form;
    }

    /// The classes of a form.
    pub(super) fn known(&self, ty: Type, form: &Form) -> Option<Known> {
        self.known[usize::from(ty == Type::F64)].get(form).copied()
    }

    /// Notes that a class has a form.
    pub(super) fn register(&mut self, ty: Type, form: &Form, class: Class, is_lowered: bool) {
        let all = &mut self.known[usize::from(ty == Type::F64)];
        if let Some(known) = all.get_mut(form) {
            known.latest = class;
            known.is_lowered |= is_lowered;
        } else {
            all.insert(form.clone(), Known { first: class, latest: class, is_lowered });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a + 2*b*b`, `b*b` twice, and what is left when one is taken from the other.
    #[test]
    fn sums_collect_equal_products() {
        let mut products = Products::default();
        let (a, b) = (Class::from_index(3), Class::from_index(1));
        let (a, square) = (products.power(a, 1), products.power(b, 2));
        let b = products.power(b, 1);
        assert_eq!(products.times(b, b, 1), Some(square));
        assert_eq!(products.times(square, b, -2), Some(Product::ONE));
        let x = Form::term(a, Coefficient::ONE);
        let y = Form::term(square, Coefficient::ONE);
        let sum = x.plus(&y, 1.0).and_then(|sum| sum.plus(&y, 1.0)).unwrap();
        assert_eq!(sum.terms().len(), 2);
        assert_eq!(sum.plus(&y.times(2.0).unwrap(), -1.0), Some(x.clone()));
        assert_eq!(x.plus(&x, -1.0).unwrap().as_constant(), Some(0.0));
    }

    #[test]
    fn what_is_not_finite_has_no_form() {
        assert_eq!(Form::constant(f64::INFINITY), None);
        let big = Form::constant(f64::MAX).unwrap();
        assert_eq!(big.plus(&big, 1.0), None);
        assert_eq!(big.times(2.0), None);
    }
}
