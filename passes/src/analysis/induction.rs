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
//! each use within the loop. Outside of a loop its counter has no meaning; a value that comes
//! out of a loop is a symbol there. For the arithmetic see [`Poly`].
//!
//! # Cost
//! O(instructions + operands), as polynomials are of bounded size.

mod materialize;

use std::fmt::Write as _;
use std::sync::Arc;

use regraft_dialects::arith;
use regraft_ir::{Block, ControlFlow, Function, Op, Operand, OperandKind, Type, Value};

pub use materialize::materialize;

use super::poly::{Poly, Sym};
use super::{Analyses, Analysis, Facets, Invariants, LoopForest, LoopId};

/// A header parameter that grows by the same amount in each iteration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BasicInduction {
    /// The parameter.
    pub param: Value,
    /// What it is in the first iteration; in terms of the loops around its loop.
    pub base: Poly,
    /// What is added on each way back to the header; in the same terms, and made of values from
    /// outside the loop. It may be 0.
    pub step: Poly,
}

/// A header parameter that follows another simple rule. It stays a symbol in polynomials.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain {
    /// The parameter.
    pub param: Value,
    /// What it is in the first iteration, in terms of the loops around its loop.
    pub base: Poly,
    /// How the next value is found.
    pub rule: ChainRule,
}

/// How a [`Chain`] goes on.
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

/// What integer values are in terms of iterations.
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
}

impl InductionVariables {
    /// Finds them.
    pub fn compute(f: &Function, cfg: &ControlFlow, invariants: Arc<Invariants>) -> Self {
        let mut finder = Finder::new(f, invariants);
        finder.evaluate_loops(cfg);
        finder.resolve(cfg);
        finder.result
    }

    /// What an integer operand is, in the loops around its definition: at each use of a value that
    /// stands in the same loops. Of an opaque value it is the value as a symbol.
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

    /// What an integer operand is where it is used in `block`. It differs from
    /// [`InductionVariables::evolution`] for values that come out of loops which the block is not
    /// in.
    ///
    /// # Panics
    /// If the operand is no integer.
    pub fn evolution_at(&self, f: &Function, operand: impl Into<Operand>, block: Block) -> Poly {
        let operand = operand.into();
        let poly = self.evolution(f, operand);
        let leaves = |s: Sym| match s {
            Sym::Iteration(l) => !self.forest.contains(l, block),
            Sym::Value(_) => false,
        };
        match operand.as_value() {
            Some(v) if poly.symbols().any(leaves) => Poly::value(f.ty(v), v),
            _ => poly,
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

    /// Whether a polynomial is the same in all iterations of one execution of a loop.
    pub fn is_invariant_in(&self, poly: &Poly, l: LoopId) -> bool {
        poly.symbols().all(|s| match s {
            Sym::Value(v) => self.invariants.is_invariant(l, v),
            Sym::Iteration(inner) => !self.forest.encloses(l, inner),
        })
    }

    /// Whether a polynomial can be computed before a loop: all its values are defined outside.
    /// That implies that it is invariant in the loop.
    pub fn is_available_before(&self, poly: &Poly, l: LoopId) -> bool {
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

    /// Where values vary.
    pub fn invariants(&self) -> &Arc<Invariants> {
        &self.invariants
    }

    /// The induction variables as text: for each loop its basic ones and its chains, and then the
    /// values in it that are polynomials in iterations, a line each.
    pub fn describe(&self, f: &Function) -> String {
        let mut lines: Vec<Vec<String>> = vec![Vec::new(); self.forest.len()];
        for v in f.blocks().flat_map(|block| f.params(block).chain(f.body(block))) {
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
        if out.is_empty() {
            out.push_str("no loops\n");
        }
        out
    }
}

impl Analysis for InductionVariables {
    const NAME: &'static str = "induction variables";
    const FACETS: Facets = Facets::CFG.union(Facets::INSTS).union(Facets::TYPES);

    fn compute(f: &Function, analyses: &mut Analyses) -> Self {
        let cfg = analyses.get::<ControlFlow>(f);
        let invariants = analyses.get::<Invariants>(f);
        Self::compute(f, &cfg, invariants)
    }
}

/// A header parameter in terms of its loop, before what comes from outside is resolved.
struct Rule {
    param: Value,
    /// What the edges from outside pass.
    base: Operand,
    kind: RuleKind,
}

enum RuleKind {
    Basic(Poly),
    Chain(ChainRule),
}

struct Finder<'a> {
    f: &'a Function,
    forest: Arc<LoopForest>,
    result: InductionVariables,
    /// By [`LoopId::index`].
    rules: Vec<Vec<Rule>>,
}

impl<'a> Finder<'a> {
    fn new(f: &'a Function, invariants: Arc<Invariants>) -> Self {
        let forest = Arc::clone(invariants.forest());
        let n = forest.len();
        let result = InductionVariables {
            forest: Arc::clone(&forest),
            invariants,
            index: vec![0; f.value_capacity()],
            polys: Vec::new(),
            basic: vec![Vec::new(); n],
            chains: vec![Vec::new(); n],
        };
        Self { f, forest, result, rules: (0..n).map(|_| Vec::new()).collect() }
    }

    /// The first step: values in terms of the header parameters of their loops.
    fn evaluate_loops(&mut self, cfg: &ControlFlow) {
        let mut blocks: Vec<Vec<Block>> = vec![Vec::new(); self.forest.len() + 1];
        for block in cfg.reverse_postorder() {
            blocks[self.forest.loop_of(block).map_or(0, |l| l.index() + 1)].push(block);
        }
        for l in self.forest.innermost_first() {
            for &block in &blocks[l.index() + 1] {
                self.evaluate_block(block, Some(l));
            }
            self.solve(l);
        }
        for &block in &blocks[0] {
            self.evaluate_block(block, None);
        }
    }

    fn evaluate_block(&mut self, block: Block, around: Option<LoopId>) {
        for v in self.f.body(block) {
            if self.f.ty(v).is_int()
                && let Some(poly) = self.evaluate(v, around)
            {
                self.result.set(v, poly);
            }
        }
    }

    /// What an instruction computes, in terms of the loop that it is in. `None` if it is opaque.
    fn evaluate(&self, v: Value, around: Option<LoopId>) -> Option<Poly> {
        let (f, ty) = (self.f, self.f.ty(v));
        let op = f.op(v)?;
        let first = || f.operand(v, 0);
        let binary = |of: fn(&Poly, &Poly) -> Option<Poly>| {
            let (x, y) =
                (self.seen(first()?, ty, around)?, self.seen(f.operand(v, 1)?, ty, around)?);
            of(&x, &y)
        };
        match op {
            arith::ADD | arith::CHECKED_ADD => binary(Poly::add),
            arith::SUB | arith::CHECKED_SUB => binary(Poly::sub),
            arith::MUL | arith::CHECKED_MUL => binary(Poly::mul),
            arith::NEG => Some(self.seen(first()?, ty, around)?.neg()),
            arith::NOT => Some(self.seen(first()?, ty, around)?.not()),
            arith::SHL => {
                let count = u32::try_from(f.const_i64(f.operand(v, 1)?)?).ok()?;
                Some(self.seen(first()?, ty, around)?.shl(count))
            }
            _ if is_widening(op) && f.operand_type(first()?) == ty => {
                self.seen(first()?, ty, around)
            }
            arith::WRAP => {
                let wide = f.operand_type(first()?);
                Some(self.seen(first()?, wide, around)?.truncate(ty))
            }
            _ => None,
        }
    }

    /// What an operand of type `ty` is, in terms of the loop `around`.
    fn seen(&self, operand: Operand, ty: Type, around: Option<LoopId>) -> Option<Poly> {
        if self.f.operand_type(operand) != ty || !ty.is_int() {
            return None;
        }
        let Some(v) = operand.as_value() else {
            return Some(Poly::constant(ty, self.f.constant(operand)?.as_int()?));
        };
        let here = self.forest.loop_of(self.f.block_of(v)) == around;
        let known = self.result.known(v).filter(|_| here);
        Some(known.cloned().unwrap_or_else(|| Poly::value(ty, v)))
    }

    /// Finds the rules of the header parameters of a loop whose values are evaluated.
    fn solve(&mut self, l: LoopId) {
        let (f, header) = (self.f, self.forest.get(l).header);
        let mut rules: Vec<Rule> = Vec::new();
        // Those whose step may have the others in it.
        let mut open: Vec<(Value, Operand, Poly)> = Vec::new();
        let inside = |from: Block| self.forest.contains(l, from);
        let edges: Vec<_> = f
            .in_edges_in_order(header)
            .into_iter()
            .filter(|e| inside(e.from) || self.forest_knows(e.from))
            .collect();
        let mut args: Vec<_> = edges.iter().map(|&e| (inside(e.from), f.edge_args(e))).collect();
        for param in f.params(header) {
            let ty = f.ty(param);
            let (mut base, mut next, mut agree) = (None, None, ty.is_int());
            for (back, args) in &mut args {
                let arg = args.next();
                let Some(arg) = arg.filter(|_| agree) else { continue };
                if *back {
                    let poly = self.seen(arg, ty, Some(l));
                    agree =
                        poly.is_some() && next.as_ref().is_none_or(|n| Some(n) == poly.as_ref());
                    next = poly;
                } else {
                    agree = f.operand_type(arg) == ty && base.is_none_or(|b| b == arg);
                    base = Some(arg);
                }
            }
            let (Some(base), Some(next), true) = (base, next, agree) else { continue };
            let Some((rest, factor)) = next.linear_in(Sym::Value(param)) else { continue };
            if factor.constant_value() == Some(1) {
                if self.result.is_available_before(&rest, l) {
                    rules.push(Rule { param, base, kind: RuleKind::Basic(rest) });
                } else {
                    open.push((param, base, rest));
                }
            } else if !factor.is_zero()
                && self.result.is_available_before(&factor, l)
                && self.result.is_available_before(&rest, l)
            {
                let rule = ChainRule::Geometric { factor, addend: rest };
                rules.push(Rule { param, base, kind: RuleKind::Chain(rule) });
            }
        }
        for (param, base, step) in open {
            // Where all that varies in the step are basic parameters, it is a polynomial in the
            // iteration once those are resolved.
            let basic = |v: Value| {
                rules.iter().any(|r| r.param == v && matches!(r.kind, RuleKind::Basic(_)))
            };
            let known = step.symbols().all(|s| match s {
                Sym::Value(v) => self.result.invariants.is_outside(l, v) || basic(v),
                Sym::Iteration(_) => false,
            });
            if known {
                let kind = RuleKind::Chain(ChainRule::Polynomial(step));
                rules.push(Rule { param, base, kind });
            }
        }
        self.rules[l.index()] = rules;
    }

    /// Whether a block is reachable.
    fn forest_knows(&self, block: Block) -> bool {
        self.result.invariants.is_reachable(block)
    }

    /// The second step: values in terms of iterations.
    fn resolve(&mut self, cfg: &ControlFlow) {
        for block in cfg.reverse_postorder() {
            let around = self.forest.loop_of(block);
            if let Some(l) = self.forest.headed_by(block) {
                self.resolve_header(l);
            }
            for v in self.f.body(block) {
                if let Some(poly) = self.result.known(v) {
                    let resolved = self.resolved(poly, around);
                    let ty = self.f.ty(v);
                    self.result.set(v, resolved.unwrap_or_else(|| Poly::value(ty, v)));
                }
            }
        }
    }

    fn resolve_header(&mut self, l: LoopId) {
        let outside = self.forest.get(l).parent;
        let rules = std::mem::take(&mut self.rules[l.index()]);
        let mut chains = Vec::new();
        for Rule { param, base, kind } in rules {
            let ty = self.f.ty(param);
            let base = match base.as_value() {
                Some(v) => self.resolved_value(v, ty, outside),
                None => self.seen(base, ty, outside).unwrap_or_else(|| Poly::constant(ty, 0)),
            };
            match kind {
                RuleKind::Basic(step) => {
                    let Some(step) = self.resolved(&step, Some(l)) else { continue };
                    let growth = step.mul(&Poly::iteration(ty, l));
                    let Some(poly) = growth.and_then(|growth| base.add(&growth)) else { continue };
                    self.result.set(param, poly);
                    self.result.basic[l.index()].push(BasicInduction { param, base, step });
                }
                RuleKind::Chain(rule) => chains.push(Chain { param, base, rule }),
            }
        }
        // Their rules are in terms of the basic ones, which are known now.
        for Chain { param, base, rule } in chains {
            let resolved = |poly: &Poly| self.resolved(poly, Some(l));
            let rule = match rule {
                ChainRule::Polynomial(step) => resolved(&step).map(ChainRule::Polynomial),
                ChainRule::Geometric { factor, addend } => resolved(&factor)
                    .zip(resolved(&addend))
                    .map(|(factor, addend)| ChainRule::Geometric { factor, addend }),
            };
            if let Some(rule) = rule {
                self.result.chains[l.index()].push(Chain { param, base, rule });
            }
        }
    }

    /// A polynomial of step 1 with its symbols replaced by what they are.
    fn resolved(&self, poly: &Poly, around: Option<LoopId>) -> Option<Poly> {
        poly.substitute(|s| match s {
            Sym::Value(v) => {
                let header = self.f.is_param(v);
                let here = self.forest.loop_of(self.f.block_of(v)) == around;
                (header || !here).then(|| self.resolved_value(v, poly.ty(), around))
            }
            Sym::Iteration(_) => None,
        })
    }

    /// What a value that is resolved is where it is used in the loop `around`, in the type `ty`,
    /// which may be narrower.
    fn resolved_value(&self, v: Value, ty: Type, around: Option<LoopId>) -> Poly {
        let leaves = |s: Sym| match s {
            Sym::Iteration(inner) => {
                !around.is_some_and(|around| self.forest.encloses(inner, around))
            }
            Sym::Value(_) => false,
        };
        match self.result.known(v) {
            Some(poly) if !poly.symbols().any(leaves) => poly.truncate(ty),
            _ => Poly::value(ty, v),
        }
    }
}

/// Whether an op changes nothing where its operand has the type of the result.
fn is_widening(op: Op) -> bool {
    matches!(op, arith::SEXT | arith::ZEXT | arith::BITCAST | arith::WRAP)
}
