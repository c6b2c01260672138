//! Finds the induction variables: see [`super`].

use std::borrow::Cow;
use std::sync::Arc;

use regraft_dialects::arith;
use regraft_ir::{Block, ControlFlow, DominatorTree, Function, Op, Operand, Type, Value};

use super::{BasicInduction, Chain, ChainRule, End, InductionVariables};
use crate::analysis::loop_exits::{
    CountForm, DominatingConditions, Holds, LatchRuns, Test, compared, is_once,
};
use crate::analysis::poly::{Poly, Sym};
use crate::analysis::{Analyses, Analysis, Facets, Invariants, LoopForest, LoopId};

/// A header parameter in terms of its loop, before what comes from outside is resolved.
struct Rule {
    param: Value,
    /// The argument of the edges from outside.
    base: Operand,
    kind: RuleKind,
}

enum RuleKind {
    Basic(Poly),
    Chain(ChainRule),
}

pub(super) struct Finder<'a> {
    f: &'a Function,
    dom: &'a DominatorTree,
    forest: Arc<LoopForest>,
    pub(super) result: InductionVariables,
    /// By [`LoopId::index`].
    rules: Vec<Vec<Rule>>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(
        f: &'a Function,
        dom: &'a DominatorTree,
        invariants: Arc<Invariants>,
    ) -> Self {
        let forest = Arc::clone(invariants.forest());
        let n = forest.len();
        let result = InductionVariables {
            forest: Arc::clone(&forest),
            invariants,
            index: vec![0; f.value_capacity()],
            polys: Vec::new(),
            basic: vec![Vec::new(); n],
            chains: vec![Vec::new(); n],
            ends: vec![None; n],
        };
        Self { f, dom, forest, result, rules: (0..n).map(|_| Vec::new()).collect() }
    }

    /// The first step: values in terms of the header parameters of their loops.
    pub(super) fn evaluate_loops(&mut self, cfg: &ControlFlow) {
        let mut blocks: Vec<Vec<Block>> = vec![Vec::new(); self.forest.len() + 1];
        for block in cfg.reverse_postorder() {
            blocks[self.forest.loop_of(block).map_or(0, |l| l.index() + 1)].push(block);
        }
        for l in self.forest.innermost_first() {
            for &block in &blocks[l.index() + 1] {
                self.evaluate_block(block, Some(l));
            }
            self.solve(l);
            self.result.ends[l.index()] = self.end(l);
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

    /// Returns what an instruction computes, in terms of the loop that it is in. `None` if it is
    /// opaque.
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
                self.seen(first()?, ty, around).map(Cow::into_owned)
            }
            arith::WRAP => {
                let wide = f.operand_type(first()?);
                Some(self.seen(first()?, wide, around)?.truncate(ty))
            }
            _ => None,
        }
    }

    /// Returns what an operand of type `ty` is, in terms of the loop `around`.
    fn seen(&self, operand: Operand, ty: Type, around: Option<LoopId>) -> Option<Cow<'_, Poly>> {
        if self.f.operand_type(operand) != ty || !ty.is_int() {
            return None;
        }
        let Some(v) = operand.as_value() else {
            let constant = self.f.constant(operand)?.as_int()?;
            return Some(Cow::Owned(Poly::constant(ty, constant)));
        };
        let mut at = self.forest.loop_of(self.f.block_of(v));
        let alone = || Cow::Owned(Poly::value(ty, v));
        let mut poly = self.result.known(v).map_or_else(alone, Cow::Borrowed);
        // Out of the loops that the value is in, one after the other.
        while at != around {
            let within = |l: &LoopId| around.is_none_or(|around| self.forest.encloses(around, *l));
            let outside = at.filter(within).and_then(|l| {
                at = self.forest.get(l).parent;
                self.outside(&poly, l)
            });
            let Some(outside) = outside else { return Some(alone()) };
            poly = Cow::Owned(outside);
        }
        Some(poly)
    }

    /// A polynomial in terms of a loop in terms of its iteration and of what is outside.
    fn expanded(&self, poly: &Poly, l: LoopId) -> Option<Poly> {
        let (ty, outside) = (poly.ty(), self.forest.get(l).parent);
        let expanded = poly.substitute(|s| {
            let Sym::Value(v) = s else { return None };
            let rule = self.rules[l.index()].iter().find(|rule| rule.param == v)?;
            let RuleKind::Basic(step) = &rule.kind else { return None };
            let base = self.seen(rule.base, step.ty(), outside)?.truncate(ty);
            base.add(&step.truncate(ty).mul(&Poly::iteration(ty, l))?)
        })?;
        self.is_available(&expanded, l).then_some(expanded)
    }

    /// Returns whether all values in a polynomial are from outside a loop.
    fn is_available(&self, poly: &Poly, l: LoopId) -> bool {
        poly.symbols().all(|s| match s {
            Sym::Value(v) => self.result.invariants.is_outside(l, v),
            Sym::Iteration(_) => true,
        })
    }

    /// Returns what a polynomial in terms of a loop is after the loop, if its last iteration is
    /// known.
    fn outside(&self, poly: &Poly, l: LoopId) -> Option<Poly> {
        let expanded = self.expanded(poly, l)?;
        let i = Sym::Iteration(l);
        if !expanded.mentions(i) {
            return Some(expanded);
        }
        let last = self.result.ends[l.index()].as_ref()?.of_type(poly.ty())?;
        expanded.substitute(|s| (s == i).then(|| last.clone()))
    }

    /// The last iteration of a loop whose rules are known, if the loop is left in one way and the
    /// count is a polynomial.
    fn end(&self, l: LoopId) -> Option<End> {
        let [exit] = *self.forest.get(l).exits else { return None };
        let exit = exit.edge(self.f);
        if !is_once(self.dom, &self.forest, l, exit.from) {
            return None;
        }
        let Test::Compare { stay, left, right, .. } = Test::of(self.f, exit)? else { return None };
        let expanded = |operand: Operand| {
            let poly = self.seen(operand, self.f.operand_type(operand), Some(l))?;
            self.expanded(&poly, l)
        };
        let (x, y) = (expanded(left)?, expanded(right)?);
        match compared(self.f, &DominatingConditions::default(), l, stay, [&x, &y], |_| true)? {
            LatchRuns::Constant(n) => Some(End::Constant(n)),
            LatchRuns::Symbolic(count) => match (count.form, count.holds) {
                (CountForm::Number(poly), Holds::Always | Holds::IfTaken) => {
                    Some(End::Number(poly))
                }
                _ => None,
            },
            LatchRuns::Never | LatchRuns::Unknown => None,
        }
    }

    /// Finds the rules of the header parameters of a loop whose values are evaluated.
    fn solve(&mut self, l: LoopId) {
        let (f, header) = (self.f, self.forest.get(l).header);
        let mut rules: Vec<Rule> = Vec::new();
        // Those whose step may have the others in it.
        let mut open: Vec<(Value, Operand, Poly)> = Vec::new();
        // Those whose next value does not depend on the present one.
        let mut computed: Vec<(Value, Operand, Poly)> = Vec::new();
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
                    let poly = self.seen(arg, ty, Some(l)).map(Cow::into_owned);
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
            } else if factor.is_zero() {
                computed.push((param, base, next));
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
        for (param, base, next) in computed {
            if let Some(step) = self.step_of_computed(l, base, &next) {
                self.rules[l.index()].push(Rule { param, base, kind: RuleKind::Basic(step) });
            }
        }
    }

    /// The step of a parameter whose next value is computed from the iteration, `b + s * i`: where
    /// it begins with `b - s`, it is that of the iteration before throughout.
    fn step_of_computed(&self, l: LoopId, base: Operand, next: &Poly) -> Option<Poly> {
        let (b, s) = self.expanded(next, l)?.linear_in(Sym::Iteration(l))?;
        let base = self.seen(base, next.ty(), self.forest.get(l).parent)?;
        (b.sub(&s)? == *base).then_some(s)
    }

    /// Returns whether a block is reachable.
    fn forest_knows(&self, block: Block) -> bool {
        self.result.invariants.is_reachable(block)
    }

    /// The second step: values in terms of iterations.
    pub(super) fn resolve(&mut self, cfg: &ControlFlow) {
        for block in cfg.reverse_postorder() {
            let around = self.forest.loop_of(block);
            if let Some(l) = self.forest.headed_by(block) {
                self.resolve_header(l);
            }
            for v in self.f.body(block) {
                if let Some(poly) = self.result.known(v)
                    && poly.symbols().any(|s| self.is_open(s, around))
                {
                    let resolved = self.resolved(poly, around);
                    let ty = self.f.ty(v);
                    self.result.set(v, resolved.unwrap_or_else(|| Poly::value(ty, v)));
                }
            }
        }
    }

    fn resolve_header(&mut self, l: LoopId) {
        let outside = self.forest.get(l).parent;
        self.result.ends[l.index()] = match self.result.ends[l.index()].take() {
            Some(End::Number(poly)) => self.resolved(&poly, outside).map(End::Number),
            end => end,
        };
        let rules = std::mem::take(&mut self.rules[l.index()]);
        let mut chains = Vec::new();
        for Rule { param, base, kind } in rules {
            let ty = self.f.ty(param);
            let base = match base.as_value() {
                Some(v) => self.resolved_value(v, ty, outside),
                None => match self.seen(base, ty, outside) {
                    Some(base) => base.into_owned(),
                    None => Poly::constant(ty, 0),
                },
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

    /// Returns whether a symbol of a polynomial of step 1 may be something else in step 2: a header
    /// parameter, or a value of another loop.
    fn is_open(&self, symbol: Sym, around: Option<LoopId>) -> bool {
        match symbol {
            Sym::Value(v) if self.result.known(v).is_some() => {
                self.f.is_param(v) || self.forest.loop_of(self.f.block_of(v)) != around
            }
            _ => false,
        }
    }

    /// A polynomial of step 1 with its symbols replaced by what they are.
    fn resolved(&self, poly: &Poly, around: Option<LoopId>) -> Option<Poly> {
        poly.substitute(|s| match s {
            Sym::Value(v) if self.is_open(s, around) => {
                Some(self.resolved_value(v, poly.ty(), around))
            }
            _ => None,
        })
    }

    /// Returns what a value that is resolved is where it is used in the loop `around`, in the type
    /// `ty`, which may be narrower.
    fn resolved_value(&self, v: Value, ty: Type, around: Option<LoopId>) -> Poly {
        let inside = |l: LoopId| around.is_some_and(|around| self.forest.encloses(l, around));
        let known =
            self.result.known(v).and_then(|poly| self.result.leave(poly.truncate(ty), inside));
        known.unwrap_or_else(|| Poly::value(ty, v))
    }
}

impl InductionVariables {
    /// Finds them.
    pub(crate) fn compute(
        f: &Function,
        cfg: &ControlFlow,
        dom: &DominatorTree,
        invariants: Arc<Invariants>,
    ) -> Self {
        let mut finder = Finder::new(f, dom, invariants);
        finder.evaluate_loops(cfg);
        finder.resolve(cfg);
        finder.result
    }
}

impl Analysis for InductionVariables {
    const NAME: &'static str = "induction variables";
    const FACETS: Facets = Facets::CFG.union(Facets::INSTS).union(Facets::TYPES);

    fn compute(f: &Function, analyses: &mut Analyses) -> Self {
        Self::compute(f, &analyses.get(f), &analyses.get(f), analyses.get(f))
    }
}

/// Returns whether an op changes nothing where its operand has the type of the result.
fn is_widening(op: Op) -> bool {
    matches!(op, arith::SEXT | arith::ZEXT | arith::BITCAST | arith::WRAP)
}
