//! Finds values that are always equal, and keeps one of them: over branches and loops, through
//! memory, and through calls that have no effect.
//!
//! ```text
//! mem.store %1, %2, %3                    mem.store %1, %2, %3
//! %4: f64 = mem.load %1, %3        =>
//! %5: bool = arith.lt %2, 1.0             %5: bool = arith.lt %2, 1.0
//! %6: bool = arith.gt 1.0, %4
//! br ^2(%5, %6)                           br ^2(%5, %5)
//! ```
//!
//! # Method
//! The sizes that arrays which block parameters carry always have are found first, over loops (`carried`). Then hash-based
//! value numbering in reverse postorder (Simpson, "Value-driven redundancy elimination", 1996, §4), in three steps.
//!
//! 1. *Versions of memory* (`memory`): a number for what each read can see.
//! 2. *Numbers* (`number`). Two instructions get the same number if they have the same op, attributes
//!    and type, operands with the same numbers (in either order, if the op commutes; `a > b` is
//!    `b < a`), and see the same version of what they read. A load of what was stored gets the number
//!    of that, one of a new array that of what is in it at first, and the length of a new array that of
//!    the operand which it was made with; stores to other places are looked through. Whether a new object is an argument is known, too: it is
//!    not. A parameter of a block gets the number of its arguments, if they agree. Parameters of a
//!    loop that start alike are taken to be congruent; where the arguments that come back refute a
//!    congruence, all is numbered again without it.
//! 3. *Elimination*: in preorder of the dominator tree, a value is replaced by an equal one that
//!    dominates it, or a constant. Behind a branch on whether an integer is equal to a constant, it is that
//!    (`equalities`).
//!
//! `cse` does the second step for pure instructions alone and without parameters, and with the third
//! in the same walk: all that it finds, this finds.
//!
//! # Why it is right
//! Equal means equal bit for bit: a number stands for the result of one computation, and no law of
//! arithmetic is used but the order of operands, and that integers which are added and subtracted
//! again cancel out. A congruence of parameters is proved by
//! induction over iterations before it is used. What traps is replaced only by what dominates it and
//! would have trapped, or by a value that was stored without a trap to that very place. Reads
//! with one version have no write between them that may touch what they read. Calls are merged if
//! their summary says that they write nothing, print nothing and make no object that has an identity; the
//! attribute `shareable` of a function says that nobody writes to the objects that it returns or compares them,
//! as is so with what a pullback holds.
//!
//! # Cost
//! O(instructions + operands) expected for each time that congruences are refuted (at most six, and
//! none without parameters that start alike), besides blocks times classes of memory
//! (`examples/transform_speed.rs`).

mod carried;
mod congruence;
mod equalities;
mod number;
mod numbers;
mod reads;

use regraft_ir::{ControlFlow, DominatorTree, Function, IrResult, Value};
use rustc_hash::FxHashSet;

use crate::analysis::memory_ssa::MemorySsa;
use crate::analysis::{CarriedSizes, EffectSummaries, callee_summary};
use crate::options::{OptionDef, Options};
use crate::transforms::util::function_analyses::FunctionAnalyses;
use crate::{FunctionPass, PassContext, PassResult};
use numbers::Numbers;

/// The analyses by which values are numbered.
type GvnAnalyses = FunctionAnalyses<MemorySsa>;

/// Returns whether two calls of one function may make the same objects.
fn shares_calls(f: &Function, summaries: &EffectSummaries) -> bool {
    let shareable = |v: &Value| callee_summary(f, *v, summaries).is_some_and(|s| s.shareable);
    let mut called: FxHashSet<_> = FxHashSet::default();
    f.all_insts().filter(shareable).any(|v| !called.insert(f.operand(v, 0)))
}

#[inline]
fn eliminate(
    f: &mut Function,
    dom: &DominatorTree,
    numbers: &Numbers,
    leaders: &mut [Option<Value>],
    v: Value,
    gone: &mut Vec<Value>,
) -> IrResult<()> {
    let number = numbers.of(v.into());
    let with = match number.as_value() {
        None => number,
        Some(first) => match leaders[first.index()] {
            Some(leader) if dom.value_dominates(f, leader, v) => leader.into(),
            // The walk has left the part of the tree where the old one could be used.
            _ => {
                leaders[first.index()] = Some(v);
                return Ok(());
            }
        },
    };
    f.replace_named(v, with)?;
    gone.push(v);
    Ok(())
}

crate::pass! {
    /// Replaces values by equal ones: computations, loads, calls without effects, block parameters.
    ///
    /// ```text
    /// mem.store %1, %2, %3                 mem.store %1, %2, %3
    /// %4: f64 = mem.load %1, %3     =>
    /// %5: f64 = arith.mul %2, %4           %5: f64 = arith.mul %2, %2
    /// ```
    ///
    /// Values are numbered: those with one number are equal bit for bit, and one that dominates
    /// another takes its place. A load has the number of what was stored, or of an earlier load if
    /// nothing in between may have written there; of an array that is new or was filled, it has that of what it holds. Counters that run in step are one. It finds all
    /// that `cse` finds, which looks at pure instructions alone and takes half the time. Behind a branch
    /// on `n == 3`, `n` is 3.
    ///
    /// Two equal calls of a function with the attribute `shareable=true` become one even if they make objects. That is
    /// found only before such functions are inlined, so that `O2` begins with `gvn{shared-calls}`.
    ///
    /// With `first-visits`, a load in a loop gives what the array held before it, if the loop stores only to elements that
    /// it comes to for the first time. `reduction-factor` looks for sums that begin with such a load.
    ///
    /// Near linear.
    #[derive(Debug, Default)]
    pub struct Gvn {
        shared_calls: bool,
        first_visits: bool,
    }
}

impl FunctionPass for Gvn {
    const NAME: &'static str = "gvn";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[
        OptionDef::flag(
            "shared-calls",
            false,
            "look only at functions that call one with the attribute `shareable` more than once",
        ),
        OptionDef::flag(
            "first-visits",
            false,
            "look for what was stored before a loop that goes over an array for the first time",
        ),
    ];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.shared_calls = options.flag("shared-calls");
        self.first_visits = options.flag("first-visits");
        Ok(())
    }

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        if self.shared_calls && !shares_calls(f, cx.effects()) {
            return Ok(());
        }
        let (cfg, sizes) = (cx.analysis::<ControlFlow>(f), cx.analysis::<CarriedSizes>(f));
        let sizes = carried::replace_sizes(f, &cfg, &sizes)?;
        let facts = GvnAnalyses::of(f, cx.analyses());
        let numbers = number::number(f, &facts, self.first_visits);
        let mut leaders: Vec<Option<Value>> = vec![None; f.value_capacity()];
        let mut gone = Vec::new();
        for &block in facts.dom.order() {
            if Some(block) != f.entry() {
                let params: smallvec::SmallVec<[Value; 8]> = f.params(block).collect();
                for param in params {
                    eliminate(f, &facts.dom, &numbers, &mut leaders, param, &mut gone)?;
                }
            } else {
                for param in f.params(block) {
                    leaders[param.index()] = Some(param);
                }
            }
            let mut next = f.first_inst(block);
            while let Some(v) = next.filter(|v| !v.is_terminator()) {
                next = f.next_inst(v);
                eliminate(f, &facts.dom, &numbers, &mut leaders, v, &mut gone)?;
            }
        }
        f.delete_all(&gone)?;
        let equal = equalities::replace_equal(f, &facts.dom)?;
        cx.add("values replaced", (gone.len() + sizes) as u64);
        cx.add("uses of values that are equal to constants", equal as u64);
        Ok(())
    }
}
