//! Trip counts: how often a loop goes back to its header.
//!
//! ```text
//! ^2(%3: i64):                          loop ^2: 0 up to %1
//!   %4: bool = arith.ge %3, %1          (that is, max(0, %1) times back to ^2
//!   br %4, ^4, ^3                       before it leaves for ^4)
//! ^3:
//!   %5: i64 = arith.add %3, 1
//!   br ^2(%5)
//! ```
//!
//! # What is counted
//! **How many back edges are taken** in one execution of the loop. The header is entered once more
//! than that. Where the test is in the header, the body runs as often as the count says; in a
//! rotated loop, whose test is in the latch, it runs once more.
//!
//! # Method
//! A branch decides about the iteration if it is in the loop itself (not in an inner one) and
//! dominates all latches: then it runs exactly once in each iteration `i` that is not left before.
//! Where its condition compares `base + step * i` with an invariant, the count is the first `i`
//! for which the condition leaves. If everything is constant, that is found exactly, wrapping
//! included (`first_hit`). Else:
//!
//! - Until a bound in the direction of the step: the distance to it, divided by the step and
//!   rounded up; no comparison is needed where a branch before the loop made it. A step of one
//!   cannot jump over the range between the bound and the end of the type; a larger one could, if
//!   the bound is too near to the end, and then the count holds on a [`Condition`].
//! - Until equal: the solution of `step * i = distance` modulo 2^w, a product with the inverse
//!   of the odd part of the step. If there is none, the loop does not end here.
//!
//! Parameters of the header that are one constant in the first iteration, and another one in all others, make two
//! comparisons of constants.
//!
//! [`Ranges`] answer what a form asks of the bound, as that it is not the end of its type, where they
//! know it: then the count holds always.
//!
//! # Why it is right
//! All numbers are modulo 2^w as in the program, and each form says what has to be true for it. Of
//! an error in the loop, or a call that does not return, nothing is said: then the loop ends
//! earlier than the count.
//!
//! # Cost
//! O(instructions), most of it for the polynomials; O(log 2^w) for a constant count.

mod dominating;

use std::fmt::Write as _;
use std::sync::Arc;

use regraft_dialects::arith;
use regraft_ir::{Block, DominatorTree, Edge, Function, Op, Operand, Type};

use super::block_list::text_or;
use super::comparison::swapped;
pub use super::loop_exits::{Condition, Count, CountForm, Holds, LatchRuns};
use super::loop_exits::{DominatingConditions, Test, compared, constant_in, is_once};
use super::poly::Sym;
use super::{
    Analyses, Analysis, Facets, InductionVariables, Interval, LoopForest, LoopId, Poly, Ranges,
};
pub(crate) use dominating::edge_condition;
use dominating::{difference_range, dominating_conditions};

/// The number of times that a loop goes back to its header before it leaves by one of its exits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TripCount {
    /// The number of back edges that are taken before `exit` is, if the loop is not left by
    /// another exit before.
    pub latch_runs: LatchRuns,
    /// The edge that leaves the loop after that many.
    pub exit: Option<Edge>,
    /// True if the loop is left in no other way (but by an error): the count is exact. Else it is
    /// the greatest that there can be.
    pub is_exact: bool,
}

impl TripCount {
    /// The last iteration, counted from 0, in which a block of the loop runs if it runs at all, as a polynomial. A loop that may be
    /// left early has none: what it counts to may be far beyond what is ever run.
    pub(crate) fn last_iteration_of(
        &self,
        block: Block,
        dom: &DominatorTree,
        ty: Type,
    ) -> Option<Poly> {
        let runs_in_last = self.runs_in_last(dom, block);
        let runs = match &self.latch_runs {
            LatchRuns::Constant(n) => Poly::constant(ty, i64::try_from(*n).ok()?),
            LatchRuns::Symbolic(count) if !matches!(count.holds, Holds::If(_)) => {
                match &count.form {
                    CountForm::Number(runs) => runs.clone(),
                    // What runs before the test runs once where the distance is below zero.
                    CountForm::Distance { .. } if runs_in_last => return None,
                    CountForm::Distance { from, to, down: false, stride: 1 } => to.sub(from)?,
                    CountForm::Distance { from, to, down: true, stride: 1 } => from.sub(to)?,
                    _ => return None,
                }
            }
            _ => return None,
        };
        let last = if runs_in_last { runs } else { runs.plus(-1) };
        (self.is_exact && last.ty() == ty).then_some(last)
    }

    /// Returns whether a block of the loop may run in the last iteration, the one in which the loop is
    /// left.
    pub fn runs_in_last(&self, dom: &DominatorTree, block: Block) -> bool {
        match self.exit.filter(|_| self.is_exact) {
            Some(exit) => !dom.strictly_dominates(exit.from, block),
            None => true,
        }
    }
}

/// The trip counts of the loops of a function.
#[derive(Clone, Debug)]
pub struct TripCounts {
    forest: Arc<LoopForest>,
    counts: Vec<TripCount>,
    exits: Vec<Vec<(Edge, LatchRuns)>>,
}

impl TripCounts {
    /// The counts of a run that returns: what leaves a loop for an error was not taken in it, so that
    /// a count can be exact where such exits are. `returns` says by [`Block::index`] from which
    /// blocks control may come to a return.
    pub fn of_returning(f: &Function, analyses: &mut Analyses, returns: &[bool]) -> Self {
        Self::compute_for(f, analyses, |exit| returns[f.edge_target(exit).index()])
    }

    /// The counts, of all exits that may be taken.
    fn compute_for(
        f: &Function,
        analyses: &mut Analyses,
        may_be_taken: impl Fn(Edge) -> bool,
    ) -> Self {
        let dom = analyses.get::<DominatorTree>(f);
        let ivs = analyses.get::<InductionVariables>(f);
        let forest = Arc::clone(ivs.forest());
        let mut this = Self { forest, counts: Vec::new(), exits: Vec::new() };
        for l in this.forest.loops() {
            let mut exits = exits_of(f, &dom, &ivs, l, analyses);
            exits.retain(|&(exit, _)| may_be_taken(exit));
            let all = this.forest.get(l).exits.iter();
            let all = all.filter(|exit| may_be_taken(exit.edge(f))).count();
            this.counts.push(summary(&dom, all, &exits));
            this.exits.push(exits);
        }
        this
    }

    /// Returns that of a loop.
    pub fn of(&self, l: LoopId) -> &TripCount {
        &self.counts[l.index()]
    }

    /// The exits of a loop of which something is known: how many back edges are taken before
    /// each is, if the loop is not left by another one before.
    pub fn exits(&self, l: LoopId) -> &[(Edge, LatchRuns)] {
        &self.exits[l.index()]
    }

    /// Returns whether a loop surely ends, and each one within it: after how many iterations they
    /// are left is known whatever happens. As far as instructions in them go on; of those nothing
    /// is said.
    pub fn surely_ends(&self, l: LoopId) -> bool {
        let certain = |l: LoopId| self.of(l).latch_runs.is_certain();
        !self.forest.get(l).has_irreducible && self.forest.nest(l).all(certain)
    }

    /// Returns whether it is known how often a loop goes back to its header, whatever happens but
    /// an error.
    pub fn is_known(&self, l: LoopId) -> bool {
        let count = self.of(l);
        count.is_exact && count.latch_runs.is_certain()
    }

    /// The counts as text, a loop a line.
    pub fn describe(&self, f: &Function) -> String {
        let mut out = String::new();
        for l in self.forest.loops() {
            let at = self.forest.get(l);
            let indent = 2 * (at.depth as usize - 1);
            let count = self.of(l);
            let _ = write!(out, "{:indent$}loop {}: ", "", at.header);
            if !count.is_exact
                && matches!(count.latch_runs, LatchRuns::Constant(_) | LatchRuns::Symbolic(_))
            {
                out.push_str("at most ");
            }
            out.push_str(&count.latch_runs.text(f, &self.forest));
            if let Some(exit) = count.exit {
                let _ = write!(out, ", exit {} -> {}", exit.from, f.edge_target(exit));
            }
            out.push('\n');
        }
        text_or(out, "no loops\n")
    }
}

impl Analysis for TripCounts {
    const NAME: &'static str = "trip counts";
    const FACETS: Facets = Facets::CFG.union(Facets::INSTS).union(Facets::TYPES);

    fn compute(f: &Function, analyses: &mut Analyses) -> Self {
        Self::compute_for(f, analyses, |_| true)
    }
}

/// Returns what the exits say together. `all` is how many there are.
fn summary(dom: &DominatorTree, all: usize, exits: &[(Edge, LatchRuns)]) -> TripCount {
    let unknown = TripCount { latch_runs: LatchRuns::Unknown, exit: None, is_exact: false };
    if let [(exit, runs)] = exits {
        return TripCount { latch_runs: runs.clone(), exit: Some(*exit), is_exact: all == 1 };
    }
    // The first exit that is taken after a constant number; in one iteration, the first branch.
    let earliest = |a: &&(Edge, u64), b: &&(Edge, u64)| {
        let before = |x: Block, y: Block| dom.strictly_dominates(x, y);
        a.1.cmp(&b.1).then_with(|| before(b.0.from, a.0.from).cmp(&before(a.0.from, b.0.from)))
    };
    let constants: Vec<(Edge, u64)> = exits
        .iter()
        .filter_map(|(exit, runs)| match runs {
            LatchRuns::Constant(n) => Some((*exit, *n)),
            _ => None,
        })
        .collect();
    let never = exits.iter().filter(|(_, runs)| *runs == LatchRuns::Never).count();
    if let Some(&(exit, n)) = constants.iter().min_by(earliest) {
        let is_exact = constants.len() + never == all;
        return TripCount { latch_runs: LatchRuns::Constant(n), exit: Some(exit), is_exact };
    }
    if never == all {
        return TripCount { latch_runs: LatchRuns::Never, exit: None, is_exact: true };
    }
    // One that holds without a condition says most.
    let symbolic = exits.iter().filter_map(|(exit, runs)| Some((exit, runs, runs.as_symbolic()?)));
    match symbolic.min_by_key(|(.., count)| matches!(count.holds, Holds::If(_))) {
        Some((exit, runs, _)) => {
            let is_exact = never + 1 == all;
            TripCount { latch_runs: runs.clone(), exit: Some(*exit), is_exact }
        }
        None => unknown,
    }
}

/// Returns what can be said of each exit of a loop.
fn exits_of(
    f: &Function,
    dom: &DominatorTree,
    ivs: &InductionVariables,
    l: LoopId,
    analyses: &mut Analyses,
) -> Vec<(Edge, LatchRuns)> {
    let forest = ivs.forest();
    let decides = forest.get(l).exits.iter().filter(|exit| is_once(dom, forest, l, exit.from));
    let mut dominating = None;
    decides
        .map(|exit| {
            let exit = exit.edge(f);
            let dominating =
                dominating.get_or_insert_with(|| dominating_conditions(f, dom, ivs, l));
            (exit, exit_count(f, dom, ivs, dominating, l, exit, analyses))
        })
        .filter(|(_, runs)| *runs != LatchRuns::Unknown)
        .collect()
}

/// Returns how often a loop goes back before it leaves by an exit whose branch runs once in each
/// iteration.
fn exit_count(
    f: &Function,
    dom: &DominatorTree,
    ivs: &InductionVariables,
    dominating: &DominatingConditions,
    l: LoopId,
    exit: Edge,
    analyses: &mut Analyses,
) -> LatchRuns {
    let Some(test) = Test::of(f, exit) else { return LatchRuns::Unknown };
    let forest = ivs.forest();
    match test {
        Test::Constant(true) => LatchRuns::Never,
        Test::Constant(false) => LatchRuns::Constant(0),
        Test::Compare { stay, left, right, .. } => {
            let x = ivs.evolution_at(f, left, exit.from);
            let y = ivs.evolution_at(f, right, exit.from);
            let available = |poly: &Poly| ivs.is_available_before(poly, l);
            let runs = compared(f, dominating, l, stay, [&x, &y], available);
            let runs =
                runs.or_else(|| after_the_first(f, forest, dominating, l, stay, [left, right]));
            let mut runs = runs.unwrap_or(LatchRuns::Unknown);
            if let LatchRuns::Symbolic(count) = &mut runs {
                let i = Sym::Iteration(l);
                // The bound is on the right of the comparison, as it is read.
                let bound = match (x.mentions(i), y.mentions(i)) {
                    (true, false) => Some((stay, right, y)),
                    (false, true) => Some((swapped(stay), left, x)),
                    _ => None,
                };
                if let Some((stay, operand, bound)) = bound {
                    let known = BoundRange { f, dom, ivs, l, exit, operand, bound };
                    known.simplify(count, stay, analyses);
                }
            }
            runs
        }
    }
}

/// Returns how often a loop goes back that compares constants: those of the first iteration, and those of all others. What
/// is left of a counter is such a one when ranges have shown that there is but one iteration.
fn after_the_first(
    f: &Function,
    forest: &LoopForest,
    dominating: &DominatingConditions,
    l: LoopId,
    stay: Op,
    sides: [Operand; 2],
) -> Option<LatchRuns> {
    for comes_back in [false, true] {
        let number = |operand| {
            let constant = constant_in(f, forest, l, operand, comes_back)?;
            Some(Poly::constant(f.operand_type(operand), constant))
        };
        let (x, y) = (number(sides[0])?, number(sides[1])?);
        if compared(f, dominating, l, stay, [&x, &y], |_| true)? != LatchRuns::Never {
            return Some(LatchRuns::Constant(comes_back.into()));
        }
    }
    Some(LatchRuns::Never)
}

/// The bound of a counter, whose range may say more of a count than its symbols do.
struct BoundRange<'a> {
    f: &'a Function,
    dom: &'a DominatorTree,
    ivs: &'a InductionVariables,
    l: LoopId,
    exit: Edge,
    operand: Operand,
    bound: Poly,
}

impl BoundRange<'_> {
    /// Takes the condition and the comparison out of a count that are met because of the range of the
    /// bound.
    fn simplify(&self, count: &mut Count, stay: Op, analyses: &mut Analyses) {
        let is_difference = self.bound.terms().len() > 1;
        if count.holds == Holds::Always && !is_difference {
            return;
        }
        let (f, ty) = (self.f, self.bound.ty());
        let ranges = analyses.get::<Ranges>(f);
        let range = ranges.interval_at(f, self.exit.from, self.operand);
        let apart = difference_range(f, self.dom, self.ivs, &ranges, self.l, &self.bound);
        let range = apart.and_then(|apart| apart.meet(range)).unwrap_or(range);
        let whole = Interval::of_type(ty);
        let is_met = match &count.holds {
            Holds::Always => true,
            Holds::If(Condition { limit, at_least: true, .. }) => range.lo >= *limit,
            Holds::If(Condition { limit, at_least: false, .. }) => range.hi <= *limit,
            // The solution of an equation is not asked for a range.
            Holds::IfTaken => match stay {
                arith::LE => range.hi < whole.hi,
                arith::GE => range.lo > whole.lo,
                _ => false,
            },
        };
        if !is_met {
            return;
        }
        count.holds = Holds::Always;
        let past = i64::from(stay == arith::LE);
        if let CountForm::Distance { from, to, down: false, stride: 1 } = &count.form
            && let Some(first) = from.constant_value()
            && first <= range.lo.saturating_add(past)
            && let Some(number) = to.sub(from)
        {
            count.is_signed |= first >= 0;
            count.form = CountForm::Number(number);
        }
    }
}
