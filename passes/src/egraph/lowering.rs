//! Makes nodes of normal forms.
//!
//! # Method
//! A factor that many terms have in common is taken out of them, and of what is left again, the one
//! first that saves the most (Ceberio and Kreinovich: "Greedy algorithms for optimizing multivariate
//! Horner schemes", 2004); so is a coefficient. Of a product of few factors, two that are there as a
//! product or a quotient already are taken first. Powers are made by repeated squaring, factors of the same
//! exponent together. In sums and products, what changes in fewer loops comes first, so that it can
//! leave the others.
//!
//! # Cost
//! Each form is lowered once, and so many of them for an instruction.

use regraft_dialects::arith;
use regraft_ir::{Op, Type};
use smallvec::SmallVec;

use super::builder::{Builder, MAX_DEPTH, MAX_NEW_NODES};
use super::forms::{Coefficient, Factor, Factors, Form, Product, Term};
use super::graph::{Args, Class, Node, Reason};

/// A division, in multiplications.
const DIVISION: u32 = 3;
/// The greatest degree of a product of which parts are looked for.
const MAX_SHARED: u32 = 8;

/// A part of a term.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Part {
    /// A factor, to the power of 1 or -1.
    Power(Factor),
    Coefficient(Coefficient),
}

/// The common part of some terms.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Common {
    Product(Product),
    Coefficient(Coefficient),
}

impl Builder<'_> {
    /// A class with the nodes that the form of a class gives, beside its own.
    pub(super) fn simplest(&mut self, class: Class) -> Class {
        let form = self.algebra.form(class).clone();
        let simple = |term: &Term| {
            term.coefficient.abs() == Coefficient::ONE && self.degree(term.product) < 2
        };
        let args = self.graph.node(self.graph.class(class).nodes[0]).args().iter();
        let before: usize = args.map(|&arg| self.algebra.form(arg).terms().len()).sum();
        let terms = form.terms();
        if terms.len() <= 2 && terms.len() == before && terms.iter().all(simple) {
            return class;
        }
        self.fuel = MAX_NEW_NODES;
        self.depth = MAX_DEPTH - 1;
        let ty = self.graph.class(class).facts.ty;
        match self.lower(&form, ty) {
            Some(other) if other != class => self.union(class, &[(other, Reason::Algebra)]),
            _ => class,
        }
    }

    /// The class of a form.
    pub(super) fn lower(&mut self, form: &Form, ty: Type) -> Option<Class> {
        if let Some(x) = form.as_constant() {
            return self.number(x, ty);
        }
        let known = self.known(form, ty);
        if let Some(base) = self.atom(form) {
            return Some(known.map_or(base, |known| known.latest));
        }
        if let Some(known) = known.filter(|known| known.is_lowered) {
            return Some(known.latest);
        }
        self.forms_left = self.forms_left.checked_sub(1)?;
        let mut class = match form.terms() {
            [term] => self.lower_product(*term, ty)?,
            terms => self.lower_sum(terms, ty)?,
        };
        // What was made may have been found to be equal already.
        if let Some(known) = self.known(form, ty).filter(|known| known.latest != class) {
            class = self.union(known.latest, &[(class, Reason::Algebra)]);
        }
        self.algebra.register(ty, form, class, true);
        Some(class)
    }

    fn lower_sum(&mut self, terms: &[Term], ty: Type) -> Option<Class> {
        if let Some(divisor) = self.repeated_divisor(terms) {
            self.inverted.push(divisor);
            let class = self.lower_sum(terms, ty);
            self.inverted.pop();
            return class;
        }
        let Some(common) = self.common(terms) else { return self.lower_terms(terms, ty) };
        let (mut inner, mut rest) = (SmallVec::<[Term; 8]>::new(), SmallVec::<[Term; 8]>::new());
        for term in terms {
            match self.without(*term, common) {
                Some(part) => inner.push(part),
                None => rest.push(*term),
            }
        }
        // What is left of the terms is a sum that begins with a positive term.
        let negative = inner.iter().all(|term| term.coefficient.is_negative());
        let (mut inner, rest) = (Form::of_terms(inner), Form::of_terms(rest));
        if negative {
            inner = inner.times(-1.0)?;
        }
        let inner = self.lower(&inner, ty)?;
        let (k, product) = self.as_product(inner)?;
        let sign = if negative { -1.0 } else { 1.0 };
        let taken = match common {
            Common::Product(common) => {
                let product = self.algebra.products.times(product, common, 1)?;
                Form::term(product, Coefficient::ONE).times(k * sign)?
            }
            Common::Coefficient(c) => {
                Form::term(product, Coefficient::ONE).times(k * sign * c.get())?
            }
        };
        let whole = rest.plus(&taken, 1.0)?;
        self.lower(&whole, ty)
    }

    /// A class that several terms are divided by, unless one division of all of them does it.
    fn repeated_divisor(&self, terms: &[Term]) -> Option<Class> {
        let power = |term: &Term, base: Class| {
            let mut factors = self.algebra.products.factors(term.product).iter();
            factors.find(|f| f.base == base).map_or(0, |f| f.exponent)
        };
        let factors = terms.iter().flat_map(|term| self.algebra.products.factors(term.product));
        let divides = |f: &&Factor| f.exponent < 0 && !self.inverted.contains(&f.base);
        factors.filter(divides).map(|f| f.base).find(|&base| {
            let first = power(&terms[0], base);
            let divided = terms.iter().filter(|term| power(term, base) < 0).count();
            divided > 1 && terms.iter().any(|term| power(term, base) != first)
        })
    }

    /// A term without what it has in common with others; `None` if it does not have it.
    fn without(&mut self, term: Term, common: Common) -> Option<Term> {
        match common {
            Common::Product(common) => {
                let factors = self.algebra.products.factors(term.product);
                let has = |of: &Factor| {
                    factors.iter().any(|f| f.base == of.base && f.exponent / of.exponent > 0)
                };
                if !self.algebra.products.factors(common).iter().all(has) {
                    return None;
                }
                let product = self.algebra.products.times(term.product, common, -1)?;
                Some(Term { product, ..term })
            }
            Common::Coefficient(c) if term.coefficient.abs() == c => {
                let one = Coefficient::ONE;
                let coefficient = if term.coefficient.is_negative() { one.neg() } else { one };
                Some(Term { coefficient, ..term })
            }
            Common::Coefficient(_) => None,
        }
    }

    /// Returns the part that saves the most if it is taken out of the terms that have it, with all else
    /// that these have in common: it may be a value that is there.
    fn common(&mut self, terms: &[Term]) -> Option<Common> {
        let mut parts: SmallVec<[(Part, u32); 16]> = SmallVec::new();
        for term in terms {
            let degree = self.degree(term.product);
            let scaled = term.coefficient.abs() != Coefficient::ONE;
            for &f in self.algebra.products.factors(term.product) {
                let saved = match self.is_divisor(&f) {
                    true => DIVISION,
                    false => u32::from(degree > 1 || scaled),
                };
                let unit = Factor { exponent: f.exponent.signum(), ..f };
                parts.push((Part::Power(unit), saved));
            }
            if scaled {
                let part = Part::Coefficient(term.coefficient.abs());
                parts.push((part, u32::from(term.product != Product::ONE)));
            }
        }
        let mut best: Option<(u32, Part)> = None;
        for (i, &(part, _)) in parts.iter().enumerate() {
            if parts[..i].iter().any(|(other, _)| *other == part) {
                continue;
            }
            let (mut saved, mut count) = (0, 0);
            for (_, each) in parts.iter().filter(|(other, _)| *other == part) {
                (saved, count) = (saved + each, count + 1);
            }
            let back = match part {
                Part::Power(factor) if self.is_divisor(&factor) => DIVISION,
                _ => 1,
            };
            let saved: u32 = if count > 1 { u32::saturating_sub(saved, back) } else { 0 };
            if saved > best.map_or(0, |(saved, _)| saved) {
                best = Some((saved, part));
            }
        }
        let unit = match best?.1 {
            Part::Power(unit) => unit,
            Part::Coefficient(c) => return Some(Common::Coefficient(c)),
        };
        let has = |term: &&Term| {
            let mut factors = self.algebra.products.factors(term.product).iter();
            factors.any(|f| f.base == unit.base && f.exponent.signum() == unit.exponent)
        };
        let with: SmallVec<[Term; 8]> = terms.iter().filter(has).copied().collect();
        Some(Common::Product(self.content(&with).1))
    }

    /// Adds terms up.
    fn lower_terms(&mut self, terms: &[Term], ty: Type) -> Option<Class> {
        let mut order: SmallVec<[(u32, bool, Term); 8]> = terms
            .iter()
            .map(|&term| (self.loop_depth(term.product), term.coefficient.is_negative(), term))
            .collect();
        // A sum that a loop carries is added last, so that the next iteration waits for one addition.
        order.sort_by_key(|&(depth, negative, term)| {
            let carried = self.is_carried(term.product);
            (depth, carried, negative, term.product == Product::ONE, term.product)
        });
        let mut sum: Option<(Class, bool)> = None;
        for (_, negative, term) in order {
            let positive = Form::term(term.product, term.coefficient.abs());
            let class = self.lower(&positive, ty)?;
            sum = Some(match sum {
                None => (class, negative),
                Some((sum, minus)) if minus == negative => {
                    (self.node(arith::ADD, ty, [sum, class]), minus)
                }
                Some((sum, false)) => (self.node(arith::SUB, ty, [sum, class]), false),
                Some((sum, true)) => (self.node(arith::SUB, ty, [class, sum]), false),
            });
        }
        let (sum, negative) = sum?;
        Some(if negative { self.negated(sum, ty) } else { sum })
    }

    /// Multiplies the factors of a term.
    fn lower_product(&mut self, term: Term, ty: Type) -> Option<Class> {
        let shared = self.shared_product(term, ty);
        let factors = self.algebra.products.factors(term.product).clone();
        let mut order: SmallVec<[(u32, Factor); 8]> =
            factors.iter().map(|&f| (self.loop_depth_of(f.base), f)).collect();
        order.sort_by_key(|&(depth, f)| (depth, f.exponent.abs(), f.base));
        let scale = term.coefficient.abs();
        let mut scale = (scale != Coefficient::ONE).then_some(scale.get());
        let mut product: Option<Class> = None;
        for level in order.chunk_by(|(a, _), (b, _)| a == b) {
            let above = self.powers(level, false, ty);
            product = self.times(product, above, ty);
            if let Some(scale) = scale.take() {
                let number = self.number(scale, ty)?;
                product = self.times(product, Some(number), ty);
            }
            if let Some(divisor) = self.powers(level, true, ty) {
                let numerator = match product {
                    Some(product) => product,
                    None => self.number(1.0, ty)?,
                };
                product = Some(self.node(arith::FDIV, ty, [numerator, divisor]));
            }
        }
        let mut product = product?;
        if let Some(shared) = shared.filter(|&shared| shared != product) {
            product = self.union(product, &[(shared, Reason::Algebra)]);
        }
        Some(if term.coefficient.is_negative() { self.negated(product, ty) } else { product })
    }

    /// The absolute value of a term as a product of products that are there, if any are.
    fn shared_product(&mut self, term: Term, ty: Type) -> Option<Class> {
        let (mut rest, mut product) = (term.product, None);
        while let Some((part, class)) = self.known_part(rest, term.product, ty) {
            rest = self.algebra.products.times(rest, part, -1)?;
            product = self.times(product, Some(class), ty);
        }
        let rest = Form::term(rest, term.coefficient.abs());
        match rest.as_constant() {
            Some(1.0) => product,
            _ if product.is_none() => None,
            _ => {
                let rest = self.lower(&rest, ty)?;
                self.times(product, Some(rest), ty)
            }
        }
    }

    /// A product or quotient of two of the factors of a product, or a reciprocal, that is there and is
    /// not the whole of another.
    fn known_part(&mut self, of: Product, whole: Product, ty: Type) -> Option<(Product, Class)> {
        let unit = |f: &Factor| Factor { exponent: f.exponent.signum(), ..*f };
        let factors: Factors = self.algebra.products.factors(of).iter().map(unit).collect();
        if self.degree(of) > MAX_SHARED {
            return None;
        }
        let pairs = (0..factors.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
        let pairs = pairs.map(|(i, j)| Factors::from_slice(&[factors[i], factors[j]]));
        let reciprocals = factors.iter().filter(|f| f.exponent < 0);
        let parts = pairs.chain(reciprocals.map(|&f| Factors::from_slice(&[f])));
        let known = parts.filter_map(|part| {
            let part = self.algebra.products.find(&part).filter(|&part| part != whole)?;
            Some((part, self.known(&Form::term(part, Coefficient::ONE), ty)?))
        });
        // What is there longest is least likely to be made for another form only.
        let is_pair = |part: Product| self.algebra.products.factors(part).len() == 2;
        let (part, known) = known.min_by_key(|&(part, known)| (!is_pair(part), known.first))?;
        Some((part, known.latest))
    }

    /// The product of the factors above or below the line, each to the size of its exponent. Those of
    /// the same exponent stand beside each other.
    fn powers(&mut self, factors: &[(u32, Factor)], below: bool, ty: Type) -> Option<Class> {
        let mut product = None;
        for group in factors.chunk_by(|(_, f), (_, g)| f.exponent.abs() == g.exponent.abs()) {
            let mut base = None;
            for (_, f) in group {
                if self.is_divisor(f) != below {
                    continue;
                }
                let factor = match f.exponent < 0 && !below {
                    true => self.reciprocal(f.base, ty)?,
                    false => self.factor(f.base, ty),
                };
                base = self.times(base, Some(factor), ty);
            }
            if let Some(base) = base {
                let power = self.repeated(base, group[0].1.exponent.unsigned_abs(), ty);
                product = self.times(product, Some(power), ty);
            }
        }
        product
    }

    /// The power of a class, by repeated squaring.
    fn repeated(&mut self, base: Class, exponent: u32, ty: Type) -> Class {
        let mut power = base;
        for bit in (0..exponent.ilog2()).rev() {
            power = self.node(arith::MUL, ty, [power, power]);
            if exponent >> bit & 1 == 1 {
                power = self.node(arith::MUL, ty, [power, base]);
            }
        }
        power
    }

    fn times(&mut self, a: Option<Class>, b: Option<Class>, ty: Type) -> Option<Class> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.node(arith::MUL, ty, [a, b])),
            _ => a.or(b),
        }
    }

    /// Returns whether a factor stands below the line: what divides several terms is inverted instead.
    fn is_divisor(&self, factor: &Factor) -> bool {
        factor.exponent < 0 && !self.inverted.contains(&factor.base)
    }

    fn reciprocal(&mut self, base: Class, ty: Type) -> Option<Class> {
        let (one, below) = (self.number(1.0, ty)?, self.factor(base, ty));
        Some(self.node(arith::FDIV, ty, [one, below]))
    }

    /// The class of a factor, with the most nodes that there are.
    fn factor(&self, base: Class, ty: Type) -> Class {
        self.known(self.algebra.form(base), ty).map_or(base, |known| known.latest)
    }

    fn negated(&mut self, class: Class, ty: Type) -> Class {
        self.op(arith::NEG, ty, Args::from_slice(&[class]), None)
    }

    fn node(&mut self, op: Op, ty: Type, args: [Class; 2]) -> Class {
        self.op(op, ty, Args::from_slice(&args), None)
    }

    /// The greatest depth of a loop in which a factor of a product changes.
    fn loop_depth(&self, product: Product) -> u32 {
        let factors = self.algebra.products.factors(product).iter();
        factors.map(|f| self.loop_depth_of(f.base)).max().unwrap_or(0)
    }

    /// Returns whether a product is a value that a loop hands on from iteration to iteration.
    fn is_carried(&self, product: Product) -> bool {
        let [factor] = self.algebra.products.factors(product).as_slice() else { return false };
        match self.graph.node(self.graph.class(factor.base).nodes[0]) {
            Node::Leaf(v) => self.source.f.is_param(*v) && self.home(&[factor.base]).is_some(),
            _ => false,
        }
    }

    fn loop_depth_of(&self, class: Class) -> u32 {
        self.home(&[class]).map_or(0, |l| self.source.forest.get(l).depth)
    }
}
