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
//! # Why it is right
//! All numbers are modulo 2^w as in the program, and each form says what has to be true for it. Of
//! an error in the loop, or a call that does not return, nothing is said: then the loop ends
//! earlier than the count.
//!
//! # Cost
//! O(instructions), most of it for the polynomials; O(log 2^w) for a constant count.

mod first_hit;
mod guards;
mod known;
mod materialize;
mod solve;

use std::fmt::Write as _;
use std::sync::Arc;

use regraft_ir::{Block, Constant, DominatorTree, Edge, Function, Type};

use super::{Analyses, Analysis, Facets, InductionVariables, LoopForest, LoopId, Poly, Sym};
pub(crate) use guards::Guards;
pub(crate) use known::range;
use solve::exits_of;
pub(crate) use solve::{Test, compared, is_once};

/// How often a loop goes back to its header before it leaves by one of its exits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TripCount {
    /// The number of back edges that are taken before `exit` is, if the loop is not left by
    /// another exit before.
    pub latch_runs: LatchRuns,
    /// The edge that leaves the loop after that many.
    pub exit: Option<Edge>,
    /// Whether the loop is left in no other way (but by an error): the count is exact. Else it is
    /// the greatest that there can be.
    pub is_exact: bool,
}

/// A number of back edges.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LatchRuns {
    /// This many.
    Constant(u64),
    /// What an expression gives that can be computed before the loop.
    Symbolic(Box<Count>),
    /// The exit is never taken.
    Never,
    /// Nothing is known.
    Unknown,
}

/// An expression for a number of back edges, in terms of what is invariant in the loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Count {
    /// How it is computed. The result is an **unsigned** number of the width of [`Count::ty`].
    pub form: CountForm,
    /// When it holds.
    pub holds: Holds,
    /// Whether it is surely not negative as a signed number of its type either, where it holds.
    pub is_signed: bool,
}

/// How a count is computed, modulo 2^w.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CountForm {
    /// It is this.
    Number(Poly),
    /// The distance from `from` up (or down) to `to`, if `to` lies in that direction, else 0;
    /// divided by `stride` and rounded up.
    Distance {
        /// What the counter begins with.
        from: Poly,
        /// The first number that is not counted.
        to: Poly,
        /// Whether `to` lies below `from`.
        down: bool,
        /// The size of the step, at least 1.
        stride: u64,
    },
    /// `distance`, shifted to the right by `shift` without sign, times `inverse`, modulo
    /// 2^(w - shift).
    Solution {
        /// What the counter has to move by.
        distance: Poly,
        /// The number of factors 2 in the step, at least 1.
        shift: u32,
        /// The inverse of the odd part of the step.
        inverse: i64,
    },
    /// 1 if the two are equal, else 0.
    Equal(Poly, Poly),
}

/// When a count holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Holds {
    /// Always: the exit is surely taken then, if the loop is not left before.
    Always,
    /// If the exit is taken at all. Else the loop does not end there; the count says nothing.
    IfTaken,
    /// If this is so. Else the counter wraps around, and nothing is known.
    If(Condition),
}

/// `value >= limit`, or `value <= limit`, as signed numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// What has to be within the limit.
    pub value: Poly,
    /// The least number allowed, or the greatest.
    pub limit: i64,
    /// Whether `limit` is the least number.
    pub at_least: bool,
}

impl Count {
    /// What it is for given values of the symbols, of which the low bits count; `None` where it
    /// does not hold. Whether the exit is taken at all it does not say.
    pub fn evaluate(&self, mut of: impl FnMut(Sym) -> i64) -> Option<u64> {
        if let Holds::If(Condition { value, limit, at_least }) = &self.holds {
            let value = value.evaluate(&mut of);
            if if *at_least { value < *limit } else { value > *limit } {
                return None;
            }
        }
        let bits = self.ty().bits()?;
        let unsigned = |x: i64| x as u64 & (u64::MAX >> (64 - bits));
        Some(match &self.form {
            CountForm::Number(poly) => unsigned(poly.evaluate(of)),
            CountForm::Distance { from, to, down, stride } => {
                let (from, to) = (from.evaluate(&mut of), to.evaluate(&mut of));
                let (low, high) = if *down { (to, from) } else { (from, to) };
                let distance = if low < high { unsigned(high.wrapping_sub(low)) } else { 0 };
                distance.div_ceil(*stride)
            }
            CountForm::Solution { distance, shift, inverse } => {
                let halved = unsigned(distance.evaluate(of)) >> shift;
                let product = (halved as i64).wrapping_mul(*inverse);
                unsigned(product) & ((u64::MAX >> (64 - bits)) >> shift)
            }
            CountForm::Equal(left, right) => {
                u64::from(left.evaluate(&mut of) == right.evaluate(&mut of))
            }
        })
    }

    /// The polynomials in it.
    pub fn polys(&self) -> Vec<&Poly> {
        match &self.form {
            CountForm::Number(poly) => vec![poly],
            CountForm::Distance { from, to, .. } => vec![from, to],
            CountForm::Equal(left, right) => vec![left, right],
            CountForm::Solution { distance, .. } => vec![distance],
        }
    }

    /// The type that it is computed in.
    pub fn ty(&self) -> Type {
        match &self.form {
            CountForm::Number(poly) | CountForm::Distance { from: poly, .. } => poly.ty(),
            CountForm::Solution { distance, .. } => distance.ty(),
            CountForm::Equal(left, _) => left.ty(),
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
    /// Finds them.
    pub fn compute(f: &Function, dom: &DominatorTree, ivs: &InductionVariables) -> Self {
        Self::compute_for(f, dom, ivs, |_| true)
    }

    /// The counts of a run that returns: what leaves a loop for an error was not taken in it, so that
    /// a count can be exact where such exits are. `returns` says by [`Block::index`] from which
    /// blocks control may come to a return.
    pub fn of_returning(
        f: &Function,
        dom: &DominatorTree,
        ivs: &InductionVariables,
        returns: &[bool],
    ) -> Self {
        Self::compute_for(f, dom, ivs, |exit| returns[f.edge_target(exit).index()])
    }

    /// The same, of all exits that may be taken.
    fn compute_for(
        f: &Function,
        dom: &DominatorTree,
        ivs: &InductionVariables,
        may_be_taken: impl Fn(Edge) -> bool,
    ) -> Self {
        let forest = Arc::clone(ivs.forest());
        let mut this = Self { forest, counts: Vec::new(), exits: Vec::new() };
        for l in this.forest.loops() {
            let mut exits = exits_of(f, dom, ivs, l);
            exits.retain(|&(exit, _)| may_be_taken(exit));
            let all = this.forest.get(l).exits.iter();
            let all = all.filter(|exit| may_be_taken(exit.edge(f))).count();
            this.counts.push(summary(dom, all, &exits));
            this.exits.push(exits);
        }
        this
    }

    /// That of a loop.
    pub fn of(&self, l: LoopId) -> &TripCount {
        &self.counts[l.index()]
    }

    /// The exits of a loop of which something is known: how many back edges are taken before
    /// each is, if the loop is not left by another one before.
    pub fn exits(&self, l: LoopId) -> &[(Edge, LatchRuns)] {
        &self.exits[l.index()]
    }

    /// Whether a loop surely ends, and each one within it: after how many iterations they are left
    /// is known whatever happens. As far as instructions in them go on; of those nothing is said.
    pub fn surely_ends(&self, l: LoopId) -> bool {
        let certain = |l: LoopId| self.of(l).latch_runs.is_certain();
        !self.forest.get(l).has_irreducible && self.forest.nest(l).all(certain)
    }

    /// Whether it is known how often a loop goes back to its header, whatever happens but an error.
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
        if out.is_empty() {
            out.push_str("no loops\n");
        }
        out
    }
}

impl LatchRuns {
    /// Whether the loop is surely left after that many, if it was not left before.
    pub fn is_certain(&self) -> bool {
        match self {
            Self::Constant(_) => true,
            Self::Symbolic(count) => count.holds == Holds::Always,
            Self::Never | Self::Unknown => false,
        }
    }

    /// The count as text.
    pub fn text(&self, f: &Function, forest: &LoopForest) -> String {
        let poly = |p: &Poly| p.text(f, forest);
        let count = match self {
            Self::Constant(n) => return n.to_string(),
            Self::Never => return "never".to_owned(),
            Self::Unknown => return "unknown".to_owned(),
            Self::Symbolic(count) => count,
        };
        let mut text = match &count.form {
            CountForm::Number(p) => poly(p),
            CountForm::Distance { from, to, down, stride } => {
                let direction = if *down { "down" } else { "up" };
                let by = if *stride == 1 { String::new() } else { format!(" by {stride}") };
                format!("{} {direction} to {}{by}", poly(from), poly(to))
            }
            CountForm::Solution { distance, shift, inverse } => {
                format!("({}) / 2^{shift} * {inverse}", poly(distance))
            }
            CountForm::Equal(left, right) => format!("{} == {}", poly(left), poly(right)),
        };
        match &count.holds {
            Holds::Always => {}
            Holds::IfTaken => text.push_str(", if it ends"),
            Holds::If(Condition { value, limit, at_least }) => {
                let op = if *at_least { ">=" } else { "<=" };
                let _ = write!(text, ", if {} {op} {limit}", poly(value));
            }
        }
        text
    }
}

impl Analysis for TripCounts {
    const NAME: &'static str = "trip counts";
    const FACETS: Facets = Facets::CFG.union(Facets::INSTS).union(Facets::TYPES);

    fn compute(f: &Function, analyses: &mut Analyses) -> Self {
        let dom = analyses.get::<DominatorTree>(f);
        let ivs = analyses.get::<InductionVariables>(f);
        Self::compute(f, &dom, &ivs)
    }
}

/// What the exits say together. `all` is how many there are.
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

/// An unsigned number of a width as the constant with those bits.
fn constant_bits(ty: Type, x: u64) -> Option<Constant> {
    Constant::int(ty, x as i64)
}
