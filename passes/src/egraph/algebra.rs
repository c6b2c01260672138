//! The normal forms of the classes of an e-graph.
//!
//! A class that is no sum or product of others is a factor of its own. A class whose form another has
//! already is joined with it.

use regraft_dialects::{arith, math};
use regraft_ir::{Constant, Op, Type, Value};

use super::builder::Builder;
use super::forms::{Coefficient, Factor, Form, Known, MAX_TERMS, Product, Term};
use super::graph::{Class, Node, Reason};
use crate::rewrite::Math;

/// The greatest exponent of a power that is a product.
const MAX_POWER: u64 = 1024;

impl Builder<'_> {
    /// Returns whether floats are real numbers.
    pub(super) fn is_real(&self) -> bool {
        self.source.math == Math::Fast
    }

    /// Gives a new class the form of a constant or of a factor.
    pub(super) fn note_atom(&mut self, class: Class) {
        if !self.is_real() {
            return;
        }
        let data = self.graph.class(class);
        let form = if !data.facts.ty.is_float() {
            Form::default()
        } else {
            let number = data.constant.and_then(|id| self.ctx.constant(id).as_float());
            let atom = || Form::term(self.algebra.products.power(class, 1), Coefficient::ONE);
            number.and_then(Form::constant).unwrap_or_else(atom)
        };
        self.algebra.push(form);
    }

    /// Gives a new class that is made of `class` and others the shortest of their forms. What equals
    /// `class` as a sum or product has the form of `class`.
    pub(super) fn note_union(&mut self, new: Class, class: Class, others: &[(Class, Reason)]) {
        if !self.is_real() {
            return;
        }
        let by_rule = others.iter().filter(|(_, reason)| matches!(reason, Reason::Rule(..)));
        let best = by_rule.map(|(other, _)| *other).min_by_key(|&other| self.size(other));
        // A class that is no sum or product may be one by a rule.
        let is_atom = self.atom(self.algebra.form(class)) == Some(class);
        let best = best.filter(|&best| is_atom || self.size(best) < self.size(class));
        self.note_replaced(new, class, best.unwrap_or(class));
    }

    /// Gives a new class that has taken the place of `class` the form of `other`.
    pub(super) fn note_replaced(&mut self, new: Class, class: Class, other: Class) {
        if !self.is_real() {
            return;
        }
        let ty = self.graph.class(new).facts.ty;
        let form = self.algebra.form(other).clone();
        if ty.is_float() {
            let old = self.algebra.form(class).clone();
            self.algebra.register(ty, &old, new, false);
            self.algebra.register(ty, &form, new, false);
        }
        self.algebra.push(form);
    }

    /// The length of the form of a class.
    fn size(&self, class: Class) -> (usize, u32) {
        let terms = self.algebra.form(class).terms();
        (terms.len(), terms.iter().map(|term| self.degree(term.product)).sum())
    }

    /// The number of factors of a product.
    pub(super) fn degree(&self, product: Product) -> u32 {
        self.algebra.products.factors(product).iter().map(|f| f.exponent.unsigned_abs()).sum()
    }

    /// Gives a new class of an op its form. Returns another class of that form.
    pub(super) fn note_form(&mut self, class: Class, ty: Type, form: Form) -> Option<Class> {
        let equal = self.class_of_form(&form, ty);
        self.algebra.register(ty, &form, class, false);
        self.algebra.set_form(class, form);
        equal.filter(|&equal| equal != class)
    }

    /// The class of a form that is a constant or a factor, or that the program can have computed here.
    fn class_of_form(&mut self, form: &Form, ty: Type) -> Option<Class> {
        if let Some(x) = form.as_constant() {
            return self.number(x, ty);
        }
        self.known(form, ty).map(|known| known.latest).or_else(|| self.atom(form))
    }

    /// The class that is the form.
    pub(super) fn atom(&self, form: &Form) -> Option<Class> {
        let [term] = form.terms() else { return None };
        match self.algebra.products.factors(term.product).as_slice() {
            [f] if f.exponent == 1 && term.coefficient == Coefficient::ONE => Some(f.base),
            _ => None,
        }
    }

    /// The classes of a form, if all that the last is made of is there.
    pub(super) fn known(&self, form: &Form, ty: Type) -> Option<Known> {
        let known = self.algebra.known(ty, form)?;
        self.is_available(known.latest).then_some(known)
    }

    /// The class of a number.
    pub(super) fn number(&mut self, x: f64, ty: Type) -> Option<Class> {
        let constant = Constant::float(ty, x)?;
        Some(self.constant(self.ctx.constant_id(constant)))
    }

    /// The form of an op on these arguments, if it is a sum or a product of them that is not too
    /// long.
    pub(super) fn form_of_op(&mut self, op: Op, ty: Type, args: &[Class]) -> Option<Form> {
        if !self.is_real() || !ty.is_float() {
            return None;
        }
        let form = |i: usize| self.algebra.form(args[i]);
        match (op, args) {
            (arith::ADD, [_, _]) => form(0).plus(form(1), 1.0),
            (arith::SUB, [_, _]) => form(0).plus(form(1), -1.0),
            (arith::NEG, [_]) => form(0).times(-1.0),
            (arith::MUL, &[a, b]) => match (form(0).as_constant(), form(1).as_constant()) {
                (Some(k), _) => form(1).times(k),
                (_, Some(k)) => form(0).times(k),
                _ => self.product(a, b, 1),
            },
            (arith::FDIV, &[a, b]) => match form(1).as_constant() {
                Some(k) => form(0).times(1.0 / k),
                None => self.product(a, b, -1),
            },
            (math::POWI | math::POW, &[a, n]) => {
                let n = self.ctx.constant(self.graph.class(n).constant?);
                let whole = |x: f64| (x.round() == x && x.abs() < 1e9).then_some(x as i64);
                let n = n.as_int().or_else(|| n.as_float().and_then(whole))?;
                let is_power = (1..=MAX_POWER).contains(&n.unsigned_abs());
                if is_power { self.power(a, n as i32) } else { None }
            }
            _ => None,
        }
    }

    /// The form of `a * b^n`. Only single terms are multiplied into sums.
    fn product(&mut self, a: Class, b: Class, n: i32) -> Option<Form> {
        let spread = match (self.algebra.form(a).terms(), self.algebra.form(b).terms()) {
            ([_, _, ..], [term]) => self.spread(a, *term, n),
            ([term], [_, _, ..]) if n == 1 => self.spread(b, *term, 1),
            _ => None,
        };
        if spread.is_some() {
            return spread;
        }
        let ((j, a), (k, b)) = (self.as_product(a)?, self.as_product(b)?);
        let product = self.algebra.products.times(a, b, n)?;
        self.multiple(j * k.powi(n), product)
    }

    /// The form of a multiple of a product, in which no root of a number is squared.
    fn multiple(&mut self, mut k: f64, mut product: Product) -> Option<Form> {
        while let Some((f, radicand)) = self.squared_root(product) {
            let (root, half) = (self.algebra.products.power(f.base, 2), f.exponent / 2);
            let (j, power) = self.as_product(radicand)?;
            product = self.algebra.products.times(product, root, -half)?;
            product = self.algebra.products.times(product, power, half)?;
            k *= j.powi(half);
        }
        Form::term(product, Coefficient::ONE).times(k)
    }

    /// A factor of a product that is a square root to a power of two or more, with what is under it.
    fn squared_root(&self, product: Product) -> Option<(Factor, Class)> {
        let factors = self.algebra.products.factors(product).iter();
        factors.filter(|f| f.exponent.abs() > 1).find_map(|&f| {
            let mut nodes =
                self.graph.class(f.base).nodes.iter().map(|&node| self.graph.node(node));
            nodes.find_map(|node| match node {
                Node::Op(math::SQRT, _, args) => Some((f, args[0])),
                _ => None,
            })
        })
    }

    /// The form of a sum times the power of a term.
    fn spread(&mut self, sum: Class, by: Term, n: i32) -> Option<Form> {
        let terms = self.algebra.form(sum).clone();
        let scale = by.coefficient.get().powi(n);
        terms.terms().iter().try_fold(Form::default(), |sum, term| {
            let product = self.algebra.products.times(term.product, by.product, n)?;
            sum.plus(&self.multiple(scale * term.coefficient.get(), product)?, 1.0)
        })
    }

    fn power(&mut self, a: Class, n: i32) -> Option<Form> {
        let (k, a) = self.as_product(a)?;
        let product = self.algebra.products.times(Product::ONE, a, n)?;
        self.multiple(k.powi(n), product)
    }

    /// A class as a multiple of a product. What all terms of a sum have in common are factors; what is
    /// left is a factor of its own.
    pub(super) fn as_product(&mut self, class: Class) -> Option<(f64, Product)> {
        let form = self.algebra.form(class).clone();
        match form.terms() {
            [] => None,
            [term] => Some((term.coefficient.get(), term.product)),
            terms => {
                let (k, common) = self.content(terms);
                if k == 1.0 && common == Product::ONE {
                    return Some(self.as_factor(class, &form));
                }
                let parts = terms.iter().map(|term| {
                    Form::term(
                        self.algebra.products.times(term.product, common, -1)?,
                        term.coefficient,
                    )
                    .times(1.0 / k)
                });
                let parts: Option<Vec<Form>> = parts.collect();
                let rest = Form::of_terms(parts?.iter().flat_map(Form::terms).copied());
                let ty = self.graph.class(class).facts.ty;
                match self.lower(&rest, ty).filter(|&rest| self.is_within(rest, class)) {
                    Some(sum) => {
                        let (sign, rest) = self.as_factor(sum, &rest);
                        Some((k * sign, self.algebra.products.times(common, rest, 1)?))
                    }
                    None => Some(self.as_factor(class, &form)),
                }
            }
        }
    }

    /// The coefficient and the powers that all terms have.
    pub(super) fn content(&mut self, terms: &[Term]) -> (f64, Product) {
        let k = terms[0].coefficient.abs();
        let same = terms.iter().all(|term| term.coefficient.abs() == k);
        let mut common = self.algebra.products.factors(terms[0].product).clone();
        for term in &terms[1..] {
            let factors = self.algebra.products.factors(term.product);
            common.retain(|part| {
                let other = factors.iter().find(|f| f.base == part.base).map_or(0, |f| f.exponent);
                let both = part.exponent.abs().min(other.abs());
                let kept = part.exponent.signum() == other.signum();
                part.exponent = both * other.signum();
                kept
            });
        }
        (if same { k.get() } else { 1.0 }, self.algebra.products.intern(common))
    }

    /// A sum as a factor, with its sign: the first class of that form, or of its negation.
    fn as_factor(&mut self, class: Class, form: &Form) -> (f64, Product) {
        let ty = self.graph.class(class).facts.ty;
        let first = |form: Option<&Form>| {
            let first = self.algebra.known(ty, form?)?.first;
            self.is_within(first, class).then_some(first)
        };
        let (sign, base) = match (first(Some(form)), first(form.times(-1.0).as_ref())) {
            (Some(a), Some(b)) if b < a => (-1.0, b),
            (Some(a), _) => (1.0, a),
            (None, Some(b)) => (-1.0, b),
            (None, None) => (1.0, class),
        };
        (sign, self.algebra.products.power(base, 1))
    }

    /// Returns whether several instructions need the value of one of this class, or something other
    /// than a longer sum or product does.
    pub(super) fn is_outermost(&self, v: Value, class: Class) -> bool {
        let (f, terms) = (self.source.f, self.algebra.form(class).terms().len());
        let is_sum = terms > 1;
        let is_absorbed = |user: Value| {
            let constant =
                |i: usize| f.operands(user).nth(i).is_some_and(|x| x.as_const().is_some());
            match f.op(user) {
                Some(arith::ADD | arith::SUB | arith::NEG) => true,
                Some(arith::MUL) => !is_sum || constant(0) || constant(1),
                Some(arith::FDIV) => !is_sum || constant(1),
                Some(math::POWI) => !is_sum && constant(1),
                _ => false,
            }
        };
        let mut users = f.uses(v).map(|u| u.user);
        let only = (users.next(), users.next());
        let is_part = matches!(only, (Some(user), None) if is_absorbed(user));
        terms == MAX_TERMS || terms > 0 && !is_part
    }
}
