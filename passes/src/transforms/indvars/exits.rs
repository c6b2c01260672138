//! Exit tests against the trip count, and what is used after a loop.

use regraft_dialects::arith;
use regraft_ir::{Block, Constant, Edge, Function, IrResult, Operand, Type, Value};

use super::rewriter::Rewriter;
use super::sums::{Sum, wanted_sums};
use crate::analysis::Poly;
use crate::analysis::loop_exits::{Count, CountForm, Holds, LatchRuns, Test};
use crate::analysis::poly::Sym;
use crate::transforms::util::counters::{can_compute, compute, compute_count, is_after};

/// The most terms of a final value, its constant not counted.
const MAX_TERMS: usize = 2;

/// A condition that was made for an exiting branch.
pub(super) struct NewTest {
    from: Block,
    condition: Value,
}

impl NewTest {
    /// Lets the branch use it. Returns the condition that it used before.
    pub(super) fn put(self, f: &mut Function) -> IrResult<Option<Value>> {
        let term = Value::terminator(self.from);
        let old = f.operand(term, 0).and_then(Operand::as_value);
        f.set_operand(term, 0, self.condition)?;
        Ok(old)
    }
}

/// A comparison of the counter with the trip count for the branch of an exit, if it tests a
/// parameter that goes, or what is computed from one.
pub(super) fn new_test(
    this: &mut Rewriter<'_>,
    counter: Value,
    gone: &[Value],
    exit: Edge,
    runs: &LatchRuns,
    preheader: Block,
) -> IrResult<Option<NewTest>> {
    if !is_test_of_gone(this, counter, gone, exit) {
        return Ok(None);
    }
    let ty = this.f.ty(counter);
    let (count, is_signed) = match runs {
        LatchRuns::Constant(n) => {
            let Some(n) = constant(ty, *n) else { return Ok(None) };
            (this.f.constant_id(n).into(), n.as_int() >= Some(0))
        }
        LatchRuns::Symbolic(count) if count.holds == Holds::Always => {
            let narrow = count.ty().bits() < ty.bits();
            let is_cheap = is_cheap(count) && count.ty().bits() <= ty.bits();
            if !is_cheap || !can_count(this, count) {
                return Ok(None);
            }
            let is_signed = narrow || count.is_signed;
            (count_before(this, exit.from, count, ty, preheader)?, is_signed)
        }
        _ => return Ok(None),
    };
    let term = Value::terminator(exit.from);
    let leaves_if_true = this.f.out_edges(exit.from).next() == Some(exit);
    let inst = match (is_signed, leaves_if_true) {
        (true, true) => arith::ge(counter, count),
        (true, false) => arith::lt(counter, count),
        (false, true) => arith::eq(counter, count),
        (false, false) => arith::ne(counter, count),
    };
    let inst = match this.f.operand(term, 0).and_then(Operand::as_value) {
        Some(old) => inst.at(this.f.loc(old)).made_from(old),
        None => inst,
    };
    let condition = this.f.insert(term, inst)?;
    Ok(Some(NewTest { from: exit.from, condition }))
}

/// Returns whether a test depends on a parameter that goes. Of the counter, and of one more than
/// it, the test stays as it is.
fn is_test_of_gone(this: &Rewriter<'_>, counter: Value, gone: &[Value], exit: Edge) -> bool {
    let Some(Test::Compare { left, right, .. }) = Test::of(this.f, exit) else { return false };
    [left, right].into_iter().filter_map(Operand::as_value).any(|v| {
        if v == counter {
            return false;
        }
        if gone.contains(&v) {
            return true;
        }
        let poly = this.ivs.evolution_at(this.f, v, exit.from);
        let next = Poly::iteration(poly.ty(), this.l).plus(1);
        poly.mentions(Sym::Iteration(this.l)) && poly != next && uses_gone(this, v, gone)
    })
}

/// Returns whether a value is computed by one op from a parameter that goes.
fn uses_gone(this: &Rewriter<'_>, v: Value, gone: &[Value]) -> bool {
    this.f.operands(v).filter_map(Operand::as_value).any(|u| gone.contains(&u))
}

/// A count as a constant of a type, if it fits without a sign.
fn constant(ty: Type, n: u64) -> Option<Constant> {
    let bits = ty.bits()?;
    (bits == 64 || n >> bits == 0).then(|| Constant::int(ty, n as i64)).flatten()
}

/// Returns whether a count takes few instructions, none of them a division.
fn is_cheap(count: &Count) -> bool {
    match &count.form {
        CountForm::Number(_) | CountForm::Distance { stride: 1, .. } => true,
        CountForm::Distance { stride, .. } => stride.is_power_of_two(),
        CountForm::Solution { .. } | CountForm::Equal(..) => false,
    }
}

fn can_count(this: &Rewriter<'_>, count: &Count) -> bool {
    count.polys().into_iter().all(|poly| can_compute(this.f, this.ivs, poly))
}

/// A count of the exit of a block, of the type `ty`, which is as wide or wider, computed in the
/// preheader.
fn count_before(
    this: &mut Rewriter<'_>,
    from: Block,
    count: &Count,
    ty: Type,
    preheader: Block,
) -> IrResult<Operand> {
    let is_known =
        |&&(of, known): &&(Block, Operand)| of == from && this.f.operand_type(known) == ty;
    if let Some(&(_, known)) = this.known.iter().find(is_known) {
        return Ok(known);
    }
    let end = Value::terminator(preheader);
    let mut value = compute_count(this.f, this.ivs, count, end)?;
    if this.f.operand_type(value) != ty {
        value = match this.f.constant(value).and_then(Constant::as_int) {
            Some(constant) => {
                let bits = count.ty().bits().unwrap_or(64);
                let unsigned = constant as u64 & (u64::MAX >> (64 - bits));
                let wide = Constant::int(ty, unsigned as i64).expect("a counter is an integer");
                this.f.constant_id(wide).into()
            }
            None => this.f.insert(end, arith::zext(value, ty))?.into(),
        };
    }
    this.known.push((from, value));
    Ok(value)
}

/// Inserts final values for what is used after a loop that surely leaves by `exit`, if the count is
/// known. Returns the values that they are for.
pub(super) fn final_values(
    this: &mut Rewriter<'_>,
    exit: Edge,
    preheader: Block,
) -> IrResult<Vec<(Value, Operand)>> {
    let runs = &this.counts.of(this.l).latch_runs;
    let known = match runs {
        LatchRuns::Constant(_) => true,
        LatchRuns::Symbolic(count) => {
            !matches!(count.holds, Holds::If(_)) && is_cheap(count) && can_count(this, count)
        }
        LatchRuns::Never | LatchRuns::Unknown => false,
    };
    if !known {
        return Ok(Vec::new());
    }
    let (wanted, sums) = (wanted(this, exit), wanted_sums(this, exit));
    let branch = Value::terminator(exit.from);
    let mut used = wanted.iter().map(|&(v, _)| v).chain(sums.iter().map(|sum| sum.value));
    let passes = used.any(|v| this.f.uses(v).any(|at| at.user == branch));
    // What another exit leads to as well, if only in theory, is not dominated by this one.
    let several = this.ivs.forest().get(this.l).exits.len() > 1;
    let at = several.then(|| Value::terminator(preheader));
    let mut ends = Ends { this, runs, preheader, place: Place { exit, passes, at } };
    let mut found = Vec::new();
    for (v, poly) in wanted {
        if let Some(value) = ends.value(&poly)? {
            found.push((v, value));
        }
    }
    for sum in sums {
        if let Some(value) = ends.sum(&sum)? {
            found.push((sum.value, value));
        }
    }
    Ok(found)
}

/// Returns what is used after the loop and is a polynomial that can be computed there.
fn wanted(this: &Rewriter<'_>, exit: Edge) -> Vec<(Value, Poly)> {
    let (f, ivs) = (&*this.f, this.ivs);
    let forest = ivs.forest();
    let mut found = Vec::new();
    // What comes out of inner loops is not in terms of this one alone.
    for &block in forest.own_blocks(this.l) {
        for v in f.params(block).chain(f.body(block)) {
            if !f.ty(v).is_int() {
                continue;
            }
            if !f.uses(v).any(|at| is_after(f, forest, this.l, exit, at)) {
                continue;
            }
            let poly = ivs.evolution(f, v);
            let moves = poly.mentions(Sym::Iteration(this.l));
            let known = poly.symbols().all(|s| match s {
                Sym::Value(u) => ivs.invariants().is_outside(this.l, u),
                Sym::Iteration(l) => l == this.l || !forest.encloses(this.l, l),
            });
            let rest = poly.substitute(|s| {
                (s == Sym::Iteration(this.l)).then(|| Poly::constant(poly.ty(), 0))
            });
            if moves && known && rest.is_some_and(|rest| can_compute(f, ivs, &rest)) {
                found.push((v, poly));
            }
        }
    }
    found
}

/// The place in which final values are computed.
struct Place {
    exit: Edge,
    /// True if an argument of the exit is replaced.
    passes: bool,
    /// The instruction that they stand before, once it is decided.
    at: Option<Value>,
}

impl Place {
    /// In the block that the loop leaves to, or in one on the way there.
    fn find(&mut self, f: &mut Function) -> IrResult<Value> {
        if let Some(at) = self.at {
            return Ok(at);
        }
        let target = f.edge_target(self.exit);
        let found = if self.passes || f.in_edges(target).nth(1).is_some() {
            Value::terminator(f.split_edge(self.exit)?)
        } else {
            f.first_inst(target).unwrap_or(Value::terminator(target))
        };
        self.at = Some(found);
        Ok(found)
    }
}

/// Computes final values.
struct Ends<'a, 'b> {
    this: &'a mut Rewriter<'b>,
    runs: &'a LatchRuns,
    preheader: Block,
    place: Place,
}

impl Ends<'_, '_> {
    fn compute(&mut self, poly: &Poly, at: Value) -> IrResult<Operand> {
        compute(self.this.f, self.this.ivs, poly, at, &[])
    }

    /// The final value of a polynomial, if it is short.
    fn value(&mut self, poly: &Poly) -> IrResult<Option<Operand>> {
        let l = self.this.l;
        let last =
            |number: &Poly| poly.substitute(|s| (s == Sym::Iteration(l)).then(|| number.clone()));
        if let Some(end) = self.number(poly.ty()).as_ref().and_then(last)
            && end.terms().len() <= MAX_TERMS
        {
            if let Some(x) = end.constant_value() {
                let constant = Constant::int(poly.ty(), x).expect("polynomials are of integers");
                return Ok(Some(self.this.f.constant_id(constant).into()));
            }
            let at = self.place.find(self.this.f)?;
            return self.compute(&end, at).map(Some);
        }
        let LatchRuns::Symbolic(count) = self.runs else { return Ok(None) };
        if let Some(end) = self.end_of_range(poly, count)? {
            return Ok(Some(end));
        }
        if poly.terms().len() > MAX_TERMS || count.ty().bits() > poly.ty().bits() {
            return Ok(None);
        }
        let from = self.place.exit.from;
        let number = count_before(self.this, from, count, poly.ty(), self.preheader)?;
        let at = self.place.find(self.this.f)?;
        compute(self.this.f, self.this.ivs, poly, at, &[(l, number)]).map(Some)
    }

    /// The final value of a sum.
    fn sum(&mut self, sum: &Sum) -> IrResult<Option<Operand>> {
        let ty = self.this.f.ty(sum.value);
        let n = match self.runs {
            LatchRuns::Constant(n) => match constant(ty, *n) {
                Some(n) => self.this.f.constant_id(n).into(),
                None => return Ok(None),
            },
            LatchRuns::Symbolic(count) if count.ty().bits() <= ty.bits() => {
                let from = self.place.exit.from;
                count_before(self.this, from, count, ty, self.preheader)?
            }
            _ => return Ok(None),
        };
        let at = self.place.find(self.this.f)?;
        match sum.total(self.this.f, n, at)? {
            Some(total) => self.compute(&total, at).map(Some),
            None => Ok(None),
        }
    }

    /// The final value of what counts from `from` to `to` itself, or is a constant away from that:
    /// the greater of the two (or the lesser).
    fn end_of_range(&mut self, poly: &Poly, count: &Count) -> IrResult<Option<Operand>> {
        let CountForm::Distance { from, to, down, stride: 1 } = &count.form else {
            return Ok(None);
        };
        if poly.ty() != from.ty() {
            return Ok(None);
        }
        let i = Poly::iteration(poly.ty(), self.this.l);
        let start = if *down { poly.add(&i) } else { poly.sub(&i) };
        let away = start.and_then(|start| start.sub(from)?.constant_value());
        let Some(away) = away else { return Ok(None) };
        let at = self.place.find(self.this.f)?;
        let (from, to) = (self.compute(from, at)?, self.compute(to, at)?);
        let inst = if *down { arith::min(from, to) } else { arith::max(from, to) };
        let end = self.this.f.insert(at, inst)?;
        let moved = Poly::value(poly.ty(), end).plus(away);
        self.compute(&moved, at).map(Some)
    }

    /// The count as a polynomial of a type, if it is one.
    fn number(&self, ty: Type) -> Option<Poly> {
        match self.runs {
            LatchRuns::Constant(n) => Some(Poly::constant(ty, *n as i64)),
            LatchRuns::Symbolic(count) => match &count.form {
                CountForm::Number(number) if number.ty() == ty => Some(number.clone()),
                _ => None,
            },
            LatchRuns::Never | LatchRuns::Unknown => None,
        }
    }
}
