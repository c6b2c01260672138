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
//!   rounded up. A step of one cannot jump over the range between the bound and the end of
//!   the type; a larger one could, if the bound is too near to the end, and then the count holds
//!   on a [`Condition`].
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
pub(crate) mod known;
mod materialize;

use std::fmt::Write as _;
use std::sync::Arc;

use regraft_dialects::{arith, cf};
use regraft_ir::{Block, Constant, DominatorTree, Edge, Function, Op, Operand, Type};

use super::{Analyses, Analysis, Facets, InductionVariables, LoopForest, LoopId, Poly};
use first_hit::first_hit;
use known::{limits, range};

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
        let forest = Arc::clone(ivs.forest());
        let mut this = Self { forest, counts: Vec::new(), exits: Vec::new() };
        for l in this.forest.loops() {
            let exits = exits_of(f, dom, ivs, l);
            this.counts.push(summary(dom, this.forest.get(l).exits.len(), &exits));
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

/// What can be said of each exit of a loop.
fn exits_of(
    f: &Function,
    dom: &DominatorTree,
    ivs: &InductionVariables,
    l: LoopId,
) -> Vec<(Edge, LatchRuns)> {
    let forest = ivs.forest();
    let at = forest.get(l);
    let once = |block: Block| {
        forest.loop_of(block) == Some(l)
            && at.latches.iter().all(|&latch| dom.dominates(block, latch))
    };
    let decides = at.exits.iter().filter(|exit| once(exit.from));
    decides
        .map(|exit| exit.edge(f))
        .map(|exit| (exit, exit_count(f, ivs, l, exit)))
        .filter(|(_, runs)| *runs != LatchRuns::Unknown)
        .collect()
}

/// How often a loop goes back before it leaves by an exit whose branch runs once in each iteration.
fn exit_count(f: &Function, ivs: &InductionVariables, l: LoopId, exit: Edge) -> LatchRuns {
    let Some(test) = Test::of(f, exit) else { return LatchRuns::Unknown };
    match test {
        Test::Constant(true) => LatchRuns::Never,
        Test::Constant(false) => LatchRuns::Constant(0),
        Test::Compare { stay, left, right } => {
            let x = ivs.evolution_at(f, left, exit.from);
            let y = ivs.evolution_at(f, right, exit.from);
            compared(f, ivs, l, stay, &x, &y).unwrap_or(LatchRuns::Unknown)
        }
    }
}

/// What an exiting branch asks.
#[derive(Debug)]
pub(crate) enum Test {
    /// Whether it always stays (or always leaves).
    Constant(bool),
    /// It stays as long as this comparison of integers is true.
    Compare { stay: Op, left: Operand, right: Operand },
}

impl Test {
    /// That of a branch. `None` if it asks something else.
    pub(crate) fn of(f: &Function, exit: Edge) -> Option<Self> {
        let term = f.terminator(exit.from)?;
        if f.op(term) == Some(cf::BR) && f.out_edges(exit.from).count() == 1 {
            return Some(Self::Constant(false));
        }
        if f.op(term) != Some(cf::BR) {
            return None;
        }
        let mut condition = f.operand(term, 0)?;
        // The first edge is that for true.
        let mut stay_if = f.out_edges(exit.from).next() != Some(exit);
        loop {
            if let Some(constant) = f.const_bool(condition) {
                return Some(Self::Constant(constant == stay_if));
            }
            match f.matches(condition.as_value()?, arith::NOT) {
                Some([inner]) => (condition, stay_if) = (inner, !stay_if),
                None => break,
            }
        }
        let v = condition.as_value()?;
        let op = f.op(v).filter(|&op| is_comparison(op))?;
        let (left, right) = (f.operand(v, 0)?, f.operand(v, 1)?);
        let ty = f.operand_type(left);
        if !ty.is_int() || f.operand_type(right) != ty {
            return None;
        }
        let stay = if stay_if { op } else { opposite(op) };
        Some(Self::Compare { stay, left, right })
    }
}

fn is_comparison(op: Op) -> bool {
    matches!(op, arith::LT | arith::LE | arith::GT | arith::GE | arith::EQ | arith::NE)
}

/// The comparison that is true where `op` is false.
fn opposite(op: Op) -> Op {
    match op {
        arith::LT => arith::GE,
        arith::LE => arith::GT,
        arith::GT => arith::LE,
        arith::GE => arith::LT,
        arith::EQ => arith::NE,
        _ => arith::EQ,
    }
}

/// The comparison with its operands swapped.
fn swapped(op: Op) -> Op {
    match op {
        arith::LT => arith::GT,
        arith::LE => arith::GE,
        arith::GT => arith::LT,
        arith::GE => arith::LE,
        _ => op,
    }
}

/// The first iteration in which `x stay y` is false.
fn compared(
    f: &Function,
    ivs: &InductionVariables,
    l: LoopId,
    stay: Op,
    x: &Poly,
    y: &Poly,
) -> Option<LatchRuns> {
    if x == y {
        let stays = matches!(stay, arith::LE | arith::GE | arith::EQ);
        return Some(if stays { LatchRuns::Never } else { LatchRuns::Constant(0) });
    }
    let ((a, s), (b, t)) = (ivs.affine_in(x, l)?, ivs.affine_in(y, l)?);
    if ![&a, &s, &b, &t].iter().all(|poly| ivs.is_available_before(poly, l)) {
        return None;
    }
    let (stay, from, step, to) = if t.is_zero() {
        (stay, a, s, b)
    } else if s.is_zero() {
        (swapped(stay), b, t, a)
    } else if matches!(stay, arith::EQ | arith::NE) {
        // They are equal where their difference is 0.
        (stay, a.sub(&b)?, s.sub(&t)?, Poly::constant(a.ty(), 0))
    } else {
        return None;
    };
    let step = step.constant_value()?;
    if let (Some(from), Some(to)) = (from.constant_value(), to.constant_value()) {
        return Some(constant_count(x.ty(), stay, from, step, to));
    }
    let (form, holds) = symbolic_count(f, stay, &from, step, &to)?;
    // What has no symbols left (n + 4 - n) is a constant.
    Some(match (&form, &holds) {
        (CountForm::Number(poly), Holds::Always) if poly.terms().is_empty() => {
            LatchRuns::Constant(unsigned(poly.ty(), poly.constant_part()))
        }
        _ => LatchRuns::Symbolic(Box::new(Count { form, holds })),
    })
}

fn unsigned(ty: Type, x: i64) -> u64 {
    x as u64 & (u64::MAX >> (64 - ty.bits().unwrap_or(64)))
}

/// The exact count where all is constant.
fn constant_count(ty: Type, stay: Op, from: i64, step: i64, to: i64) -> LatchRuns {
    let (least, greatest) = limits(ty);
    // The numbers with which it leaves; the range may go around.
    let (first, last) = match stay {
        arith::LT => (to, greatest),
        arith::LE if to == greatest => return LatchRuns::Never,
        arith::LE => (to + 1, greatest),
        arith::GT => (least, to),
        arith::GE if to == least => return LatchRuns::Never,
        arith::GE => (least, to - 1),
        arith::EQ => (to.wrapping_add(1), to.wrapping_sub(1)),
        _ => (to, to),
    };
    let bits = ty.bits().unwrap_or(64);
    let [from, step, first, last] = [from, step, first, last].map(|x| unsigned(ty, x));
    first_hit(bits, from, step, first, last).map_or(LatchRuns::Never, LatchRuns::Constant)
}

/// A count for a constant step.
fn symbolic_count(
    f: &Function,
    stay: Op,
    from: &Poly,
    step: i64,
    to: &Poly,
) -> Option<(CountForm, Holds)> {
    let ty = from.ty();
    let (least, greatest) = limits(ty);
    if step == 0 {
        // It leaves at once, or never.
        return Some((CountForm::Number(Poly::constant(ty, 0)), Holds::IfTaken));
    }
    if stay == arith::EQ {
        return Some((CountForm::Equal(from.clone(), to.clone()), Holds::Always));
    }
    if stay == arith::NE {
        return until_equal(ty, &to.sub(from)?, step);
    }
    let down = step < 0;
    if down != matches!(stay, arith::GT | arith::GE) {
        return None;
    }
    let stride = step.unsigned_abs();
    // How far beyond the bound the counter may come: it must not wrap around there.
    let beyond = i64::try_from(stride).ok()? - 1;
    let inclusive = matches!(stay, arith::LE | arith::GE);
    let margin = beyond.checked_add(i64::from(inclusive))?;
    // The bound as it is where the count holds.
    let limit = if down { least.checked_add(margin)? } else { greatest.checked_sub(margin)? };
    let (low, high) = range(f, to);
    let within = if down { low >= limit } else { high <= limit };
    let holds = match () {
        () if margin == 0 || within => Holds::Always,
        // A bound at the end of the type is never passed.
        () if margin == 1 && inclusive => Holds::IfTaken,
        () => Holds::If(Condition { value: to.clone(), limit, at_least: down }),
    };
    // With a bound beyond the limit the count says nothing, so that it does not matter that this
    // wraps around there.
    let past = i64::from(inclusive) * step.signum();
    let to = to.plus(past);
    // A bound that is known to lie in the right direction needs no comparison.
    let start = range(f, from);
    let ahead = if down {
        start.0 >= high.saturating_add(past)
    } else {
        start.1 <= low.saturating_add(past)
    };
    let distance = if down { from.sub(&to)? } else { to.sub(from)? };
    let form = if stride == 1 && ahead {
        CountForm::Number(distance)
    } else {
        CountForm::Distance { from: from.clone(), to, down, stride }
    };
    Some((form, holds))
}

/// The solution of `step * i = distance`.
fn until_equal(ty: Type, distance: &Poly, step: i64) -> Option<(CountForm, Holds)> {
    let shift = step.trailing_zeros();
    let inverse = odd_inverse(step >> shift);
    if shift == 0 {
        return Some((CountForm::Number(distance.scale(inverse)), Holds::Always));
    }
    if let Some(distance) = distance.constant_value() {
        let LatchRuns::Constant(n) = constant_count(ty, arith::NE, 0, step, distance) else {
            return None;
        };
        return Some((CountForm::Number(Poly::constant(ty, n as i64)), Holds::Always));
    }
    let form = CountForm::Solution {
        distance: distance.clone(),
        shift,
        inverse: super::poly::wrap(ty, inverse),
    };
    Some((form, Holds::IfTaken))
}

/// The inverse of an odd number modulo 2^64, by Newton's iteration: each step doubles the number
/// of low bits that are right.
fn odd_inverse(x: i64) -> i64 {
    (0..5).fold(x, |y, _| y.wrapping_mul(2i64.wrapping_sub(x.wrapping_mul(y))))
}

/// An unsigned number of a width as the constant with those bits.
fn constant_bits(ty: Type, x: u64) -> Option<Constant> {
    Constant::int(ty, x as i64)
}
