//! Removes bounds checks that succeed whatever happens: those of array accesses, which are marked,
//! and those that the program makes itself, whose comparisons become constants.
//!
//! ```text
//! ^2(%3: i64, %4: f64):                      ^2(%3: i64, %4: f64):
//!   %5: i64 = mem.length %1                    %5: i64 = mem.length %1
//!   %6: bool = arith.lt %3, %5                 %6: bool = arith.lt %3, %5
//!   br %6, ^3, ^4                              br %6, ^3, ^4
//! ^3:                                   =>   ^3:
//!   %7: i64 = arith.add %3, 1                  %7: i64 = arith.add %3, 1
//!   %8: f64 = mem.load %1, %7                  %8: f64 = mem.load %1, %7 {inbounds=true}
//! ```
//!
//! # Method
//! `Bounds` proves it: from the comparisons that lead to the access, from the values of counters
//! around loops, and from accesses before with the same index. That finds the loops over
//! `eachindex(x)`, `1:length(x)`, `2:length(x)-1` (with `x[i-1]` and `x[i+1]`), those over the
//! dimensions of a matrix, and those over an array that was made with the length of another. It
//! answers comparisons of integers in the same way, such as `1 <= i <= length(r)` for a range, and
//! finds the greater of two that is greater whatever happens: the end of `i+1:n` is `max(i, n)`, which
//! is `n` in a loop over `i in 1:n`.
//!
//! With `versions`, loops whose accesses cannot be proved are copied: the copy, without checks, is
//! taken when a few comparisons before the loop say that it may be (`bounds_elim/versions.rs`).
//!
//! # Why it is right
//! An access is marked only if it never fails where it stands. The mark lets it be moved and
//! removed as what does not trap, but not run where it did not before
//! ([`speculatable`](crate::analysis::traps::speculatable)).
//!
//! # Cost
//! O(instructions + operands) for the analyses, and a bounded number of steps for each access
//! (`examples/transform_speed.rs`).

mod marks;
mod versions;

use regraft_dialects::{arith, mem};
use regraft_ir::{Block, Constant, ControlFlow, DominatorTree, Function, Value};

use crate::analysis::bounds::Bounds;
use crate::analysis::{Aliases, CarriedSizes, LoopForest, Ranges};
use crate::options::{OptionDef, Options};
use crate::{LoopPass, PassContext, PassResult};
use marks::{is_unmarked, mark};

crate::pass! {
    /// Removes bounds checks that always succeed.
    ///
    /// ```text
    /// %6: bool = arith.lt %3, %5                 %6: bool = arith.lt %3, %5
    /// br %6, ^3, ^4                              br %6, ^3, ^4
    /// ^3:                                 =>     ^3:
    /// %7: i64 = arith.add %3, 1                  %7: i64 = arith.add %3, 1
    /// %8: f64 = mem.load %1, %7                  %8: f64 = mem.load %1, %7 {inbounds=true}
    /// ```
    ///
    /// Accesses are marked, so that nobody checks their indices; a comparison of integers that has
    /// only one outcome becomes a constant, and a minimum or maximum of which one side always wins is
    /// that side.
    ///
    /// It knows comparisons and counters, arrays of the same length because one was made with the
    /// length of the other, and accesses before with the same index. In `loop(..)` it looks at the
    /// loops alone; by itself, at the whole function. The cost is near linear.
    ///
    /// With `versions`, a loop with accesses that cannot be proved gets a second version
    /// without checks, for when a few comparisons before the loop say that none is needed:
    /// lengths of other arrays, limits that are arguments. It is the outermost loop of a nest before which all
    /// can be asked, else an innermost one; within another loop, only where a load is
    /// invariant, which `licm` can then move. No loop gets one twice. That doubles the loop, and is left out by
    /// default: what comes after (fusion, unrolling, differentiation) wants one loop, and a check
    /// costs little beside what it makes of one loop.
    #[derive(Debug, Default)]
    pub struct BoundsElim {
        versions: bool,
        max_size: usize,
    }
}

impl LoopPass for BoundsElim {
    const NAME: &'static str = "bounds-elim";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[
        OptionDef::flag(
            "versions",
            false,
            "give loops a second version without checks, chosen before the loop",
        ),
        OptionDef::int(
            "max-size",
            100,
            "the most instructions of a loop that gets a second version",
        ),
    ];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.versions = options.flag("versions");
        self.max_size = usize::try_from(options.int("max-size")).unwrap_or(0);
        Ok(())
    }

    fn run(&mut self, f: &mut Function, loops: &[Block], cx: &mut PassContext<'_>) -> PassResult {
        let forest = cx.analysis::<LoopForest>(f);
        let ids = loops.iter().filter_map(|&header| forest.headed_by(header));
        let blocks = ids.flat_map(|id| forest.blocks(id).iter().copied());
        let checks: Vec<Value> = blocks.flat_map(|block| checks(f, block)).collect();
        self.eliminate(f, &checks, loops, cx)
    }

    fn run_all(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let checks: Vec<Value> = f.blocks().flat_map(|block| checks(f, block)).collect();
        let forest = cx.analysis::<LoopForest>(f);
        let loops: Vec<Block> = forest.loops().map(|id| forest.get(id).header).collect();
        self.eliminate(f, &checks, &loops, cx)
    }
}

impl BoundsElim {
    /// Removes those of some checks that always succeed; makes second versions of loops.
    fn eliminate(
        &self,
        f: &mut Function,
        checks: &[Value],
        loops: &[Block],
        cx: &mut PassContext<'_>,
    ) -> PassResult {
        let (mut accesses, mut comparisons, mut extrema) = (0, 0, 0);
        let mut checks = checks.to_vec();
        // Indices that are minima or maxima are known once these are decided: hence a second round.
        for _ in 0..2 {
            let decided = extrema;
            for (v, outcome) in prove(f, &checks, cx) {
                // What is put in the places of others may have changed their operands.
                match f.op(v) {
                    Some(mem::LOAD | mem::STORE) => {
                        mark(f, v, true)?;
                        accesses += 1;
                    }
                    Some(arith::MIN | arith::MAX) => {
                        if let Some(winner) = f.operand(v, usize::from(!outcome)) {
                            f.replace_all_uses(v, winner)?;
                            extrema += 1;
                        }
                    }
                    _ => {
                        f.replace_all_uses(v, f.constant_id(Constant::Bool(outcome)))?;
                        comparisons += 1;
                    }
                }
            }
            if extrema == decided {
                break;
            }
            checks.retain(|&v| is_check(f, v));
        }
        cx.add("accesses proved in bounds", accesses);
        cx.add("comparisons decided", comparisons);
        cx.add("minima and maxima decided", extrema);
        if self.versions {
            let made = versions::run(f, loops, self.max_size, cx)?;
            cx.add("loops in two versions", made as u64);
        }
        Ok(())
    }
}

/// The checks of a block.
fn checks(f: &Function, block: Block) -> impl Iterator<Item = Value> + '_ {
    f.body(block).filter(|&v| is_check(f, v))
}

/// Returns whether `v` is an access that is checked, a comparison of integers, or their minimum or maximum.
fn is_check(f: &Function, v: Value) -> bool {
    is_unmarked(f, v) || is_comparison(f, v) || is_extremum(f, v)
}

/// Returns whether `v` is the lesser or the greater of two integers.
fn is_extremum(f: &Function, v: Value) -> bool {
    matches!(f.op(v), Some(arith::MIN | arith::MAX)) && f.ty(v).is_int() && f.is_used(v)
}

/// Returns whether `v` says which of two integers is less, to anyone. Where one of them is constant, and for
/// equality, the ranges of values say as much.
fn is_comparison(f: &Function, v: Value) -> bool {
    matches!(f.op(v), Some(arith::LT | arith::LE | arith::GT | arith::GE))
        && f.is_used(v)
        && f.operands(v).all(|x| x.as_value().is_some() && f.operand_type(x).is_int())
}

/// Returns those of some checks whose outcome is known, with that: accesses that are in bounds,
/// comparisons, and whether a minimum or maximum is its first operand.
fn prove(f: &Function, checks: &[Value], cx: &mut PassContext<'_>) -> Vec<(Value, bool)> {
    if checks.is_empty() {
        return Vec::new();
    }
    let (cfg, tree) = (cx.analysis::<ControlFlow>(f), cx.analysis::<DominatorTree>(f));
    let (ranges, aliases) = (cx.analysis::<Ranges>(f), cx.analysis::<Aliases>(f));
    let sizes = cx.analysis::<CarriedSizes>(f);
    let mut bounds = Bounds::new(f, &cfg, &tree, &ranges, &aliases, &sizes, cx.effects());
    let reached = checks.iter().copied().filter(|&v| ranges.is_reached(f.block_of(v)));
    let mut outcome = |v: Value| match is_comparison(f, v) {
        true => bounds.decide(v),
        false if is_extremum(f, v) => bounds.first_wins(v),
        false => bounds.in_bounds(v).then_some(true),
    };
    reached.filter_map(|v| Some((v, outcome(v)?))).collect()
}
