//! Trip counts that may be constant, told from the operands of exit tests without the analyses.
//!
//! Most loops run to a length or a parameter, which the first number of the counter does not take away.

use regraft_dialects::arith;
use regraft_ir::{Block, Constant, Edge, Function, Op, Operand, Value};
use smallvec::SmallVec;

use super::solve::constant_count;
use super::{LatchRuns, Test};
use crate::analysis::comparison::swapped;
use crate::analysis::poly::wrap;
use crate::analysis::{LoopForest, LoopId};

/// The most values that are looked at for one exit.
const MAX: usize = 32;

/// A number of back edges that are taken before an exit is, as a look at its test tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum QuickCount {
    /// This many.
    Constant(u64),
    /// No constant number.
    Other,
    /// It takes the analyses to tell.
    Unclear,
}

/// Returns whether the number of times that a loop goes back before it is left by one of its exits
/// may be a constant that is not greater than `most`. If not, no trip count says so. O(1) for each exit.
pub(crate) fn may_be_constant(f: &Function, forest: &LoopForest, l: LoopId, most: u64) -> bool {
    forest.get(l).exits.iter().any(|exit| match quick_count(f, forest, l, exit.edge(f)) {
        QuickCount::Constant(n) => n <= most,
        QuickCount::Other => false,
        QuickCount::Unclear => true,
    })
}

/// Looks at one exit. O(1).
pub(crate) fn quick_count(f: &Function, forest: &LoopForest, l: LoopId, exit: Edge) -> QuickCount {
    let (stay, sides) = match Test::of(f, exit) {
        Some(Test::Compare { stay, left, right, .. }) => (stay, [left, right]),
        Some(Test::Constant(_)) => return QuickCount::Unclear,
        None => return QuickCount::Other,
    };
    if let Some(runs) = counted(f, forest, l, stay, sides) {
        return match runs {
            LatchRuns::Constant(n) => QuickCount::Constant(n),
            _ => QuickCount::Other,
        };
    }
    let (found, open) = (SmallVec::new(), SmallVec::new());
    let mut symbols = Symbols { f, forest, l, found, open, left: MAX };
    // The first iteration may be known alone.
    let is_unclear = sides.iter().all(|&side| constant_in(f, forest, l, side, false).is_some())
        || !sides.iter().all(|&side| symbols.collect(side))
        || symbols.may_vanish();
    if is_unclear { QuickCount::Unclear } else { QuickCount::Other }
}

/// Returns the count of a test of a counter, or one that is a constant more, against a constant, where
/// the counter begins with a constant and grows by a constant.
fn counted(
    f: &Function,
    forest: &LoopForest,
    l: LoopId,
    stay: Op,
    [left, right]: [Operand; 2],
) -> Option<LatchRuns> {
    let constant = |operand| f.constant(operand).and_then(Constant::as_int);
    let (stay, moving, to) = match (constant(left), constant(right)) {
        (None, Some(to)) => (stay, left.as_value()?, to),
        (Some(to), None) => (swapped(stay), right.as_value()?, to),
        _ => return None,
    };
    let header = forest.get(l).header;
    let ty = f.ty(moving);
    let position = |v: Value| f.params(header).position(|param| param == v);
    // A value, and what is added to it.
    let sum = |v: Value| {
        let [x, y] = f.matches(v, arith::ADD)?;
        Some((x.as_value()?, constant(y)?))
    };
    let (counter, more) = match position(moving) {
        Some(_) => (moving, 0),
        None => sum(moving)?,
    };
    let at = position(counter)?;
    let (mut first, mut step) = (None, None);
    for edge in f.in_edges(header) {
        let arg = f.edge_arg(edge, at)?;
        let (known, found) = if forest.contains(l, edge.from) {
            let (of, by) = sum(arg.as_value()?)?;
            (&mut step, (of == counter).then_some(by)?)
        } else {
            (&mut first, constant(arg)?)
        };
        if known.is_some_and(|known| known != found) || f.operand_type(arg) != ty {
            return None;
        }
        *known = Some(found);
    }
    Some(constant_count(ty, stay, wrap(ty, first?.wrapping_add(more)), step?, to))
}

/// The constant that an operand is in the first iteration of a loop, or in all others, as it is passed to the
/// header.
pub(crate) fn constant_in(
    f: &Function,
    forest: &LoopForest,
    l: LoopId,
    operand: Operand,
    comes_back: bool,
) -> Option<i64> {
    let constant = |operand| f.constant(operand).and_then(Constant::as_int);
    let header = forest.get(l).header;
    let Some(param) = operand.as_value() else { return constant(operand) };
    let at = f.params(header).position(|other| other == param)?;
    let edges = f.in_edges(header).filter(|edge| forest.contains(l, edge.from) == comes_back);
    let mut args = edges.map(|edge| constant(f.edge_arg(edge, at)?));
    let first = args.next()??;
    args.all(|arg| arg == Some(first)).then_some(first)
}

/// The symbols of the difference of two polynomials, as often as they are met.
struct Symbols<'a> {
    f: &'a Function,
    forest: &'a LoopForest,
    l: LoopId,
    found: SmallVec<[(Symbol, u32); 8]>,
    /// Counters of the loop whose next numbers are being looked at.
    open: SmallVec<[Value; 4]>,
    left: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Symbol {
    /// A value that is none of the others.
    Value(Value),
    /// The iteration of a loop around, by its header.
    Iteration(Block),
}

impl Symbols<'_> {
    /// Returns whether each symbol may be taken away by another one.
    fn may_vanish(&self) -> bool {
        self.found.iter().all(|&(_, met)| met > 1)
    }

    fn meet(&mut self, symbol: Symbol) {
        match self.found.iter_mut().find(|(other, _)| *other == symbol) {
            Some((_, met)) => *met += 1,
            None => self.found.push((symbol, 1)),
        }
    }

    /// Collects the symbols of an operand. Returns false where nothing can be said.
    fn collect(&mut self, operand: Operand) -> bool {
        let Some(v) = operand.as_value() else { return true };
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        let (f, home) = (self.f, self.f.block_of(v));
        // What comes out of another loop may be anything there.
        let around = self.forest.loop_of(home);
        if around.is_some_and(|m| !self.forest.encloses(m, self.l)) {
            return false;
        }
        if f.is_param(v) {
            return match self.forest.headed_by(home) {
                Some(m) => self.counter(v, m),
                None => self.symbol(v),
            };
        }
        match f.op(v) {
            Some(
                arith::ADD
                | arith::SUB
                | arith::CHECKED_ADD
                | arith::CHECKED_SUB
                | arith::NEG
                | arith::NOT,
            ) => f.operands(v).all(|operand| self.collect(operand)),
            // Products may vanish, and so may what is cut off.
            Some(arith::MUL | arith::CHECKED_MUL | arith::SHL | arith::WRAP) => false,
            Some(arith::SEXT | arith::ZEXT | arith::BITCAST) => {
                let same = f.operand(v, 0).filter(|&x| f.operand_type(x) == f.ty(v));
                match same {
                    Some(x) => self.collect(x),
                    None => self.symbol(v),
                }
            }
            _ => self.symbol(v),
        }
    }

    fn symbol(&mut self, v: Value) -> bool {
        self.meet(Symbol::Value(v));
        true
    }

    /// A parameter of the header of a loop: what it begins with, and what each iteration adds.
    fn counter(&mut self, v: Value, m: LoopId) -> bool {
        let (f, forest) = (self.f, self.forest);
        let header = f.block_of(v);
        let Some(at) = f.params(header).position(|param| param == v) else { return false };
        if self.open.contains(&v) {
            return true;
        }
        let goes_back = |edge: &Edge| forest.contains(m, edge.from);
        let (back, enters): (SmallVec<[Edge; 2]>, SmallVec<[Edge; 2]>) =
            f.in_edges(header).partition(goes_back);
        // The entry of a function.
        if enters.is_empty() {
            return self.symbol(v);
        }
        if m != self.l && back.iter().any(|&edge| f.edge_arg(edge, at) != Some(v.into())) {
            self.meet(Symbol::Iteration(header));
        }
        // In the loop itself what is added counts as well; around it, it comes with the iteration.
        let back = if m == self.l { &*back } else { &[] };
        self.open.push(v);
        let mut edges = enters.iter().chain(back);
        let all = edges.all(|&edge| f.edge_arg(edge, at).is_some_and(|arg| self.collect(arg)));
        self.open.pop();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::is_once;
    use super::*;
    use crate::analysis::{Analyses, TripCounts};
    use regraft_ir::DominatorTree;

    /// Compares what a look at the tests of loops within loops says with their trip counts, for all choices of
    /// what they begin with, end with, and add.
    #[test]
    fn looks_agree_with_trip_counts() {
        let ctx = regraft_dialects::context();
        let (mut other, mut constant) = (0, 0);
        let numbers = ["0", "5", "%n", "%v", "%k", "%to", "%more", "%v.1"];
        // The loop around begins the function, or not.
        for begins in [false, true] {
            for (from, to) in numbers.iter().flat_map(|&x| numbers.map(|y| (x, y))) {
                for (op, step) in
                    ["lt", "ne", "ge"].into_iter().flat_map(|op| [1, 2].map(|by| (op, by)))
                {
                    let (params, begin, again) = match begins {
                        true => ("%v: i64, %k: i64, %n: i64", "^1:", "^1(%v.2, %k, %n)"),
                        false => {
                            ("%n: i64", "^6:\n  br ^1(0, 4)\n^1(%v: i64, %k: i64):", "^1(%v.2, %k)")
                        }
                    };
                    let text = format!(
                        "
func @f({params}) -> i64 {{
{begin}
  %to: i64 = arith.add %v, 4
  %more: i64 = arith.add %n, 7
  %v.1: i64 = arith.sub %to, 2
  br ^2({from}, {to})
^2(%j: i64, %b: i64):
  %test: bool = arith.{op} %j, {to}
  br %test, ^3, ^4
^3:
  %next: i64 = arith.add %j, {step}
  br ^2(%next, %b)
^4:
  %v.2: i64 = arith.add %v, 1
  %go: bool = arith.lt %v.2, %n
  br %go, {again}, ^5
^5:
  return %j
}}"
                    );
                    let module = regraft_syntax::parse_module(&ctx, "f.ir", &text).unwrap();
                    let (f, mut analyses) = (module.function("f").unwrap(), Analyses::default());
                    let (forest, counts) =
                        (analyses.get::<LoopForest>(f), analyses.get::<TripCounts>(f));
                    let dom = analyses.get::<DominatorTree>(f);
                    for l in forest.loops() {
                        for exit in forest.get(l).exits.iter().map(|exit| exit.edge(f)) {
                            assert!(is_once(&dom, &forest, l, exit.from), "{text}");
                            let known = counts.exits(l).iter().find(|(known, _)| *known == exit);
                            let runs = match known {
                                Some((_, LatchRuns::Constant(n))) => Some(*n),
                                _ => None,
                            };
                            match quick_count(f, &forest, l, exit) {
                                QuickCount::Constant(n) => assert_eq!(Some(n), runs, "{text}"),
                                QuickCount::Other => assert_eq!(runs, None, "{text}"),
                                QuickCount::Unclear => continue,
                            }
                            other += u32::from(runs.is_none());
                            constant += u32::from(runs.is_some());
                        }
                    }
                }
            }
        }
        assert!(other > 500 && constant > 10, "{other} and {constant}");
    }
}
