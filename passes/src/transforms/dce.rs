//! Drops instructions and block parameters that nothing depends on.
//!
//! ```text
//! ^1:                                     ^1:
//!   br ^2(0, 1)                             br ^2(0)
//! ^2(%2: i64, %3: i64):                   ^2(%2: i64):
//!   %4: i64 = arith.mul %3, 3       =>
//!   %5: i64 = arith.add %2, 1               %5: i64 = arith.add %2, 1
//!   %6: bool = arith.lt %5, %1              %6: bool = arith.lt %5, %1
//!   br %6, ^2(%5, %4), ^3                   br %6, ^2(%5), ^3
//! ```
//!
//! # Method
//! Mark and sweep. What a program does is decided by its instructions that have an effect or may
//! trap, and by its terminators; what these use is live, what that uses too, and an argument of
//! an edge is live if the parameter that it is for is. Everything else only feeds itself, be it
//! around a loop (`%3` and `%4` above), and goes. Counting uses instead would never find a cycle.
//!
//! # Why it is right
//! What goes cannot be observed: it has no effect, cannot trap as it stands
//! ([`traps`](crate::analysis::traps) also knows operands that are `any` and are checked when the
//! program runs), and no value that stays depends on it. Blocks and branches stay, so a loop that
//! runs forever still does.
//!
//! # Cost
//! O(values + operands): each value is marked once, and the deletion touches only what goes.

use regraft_ir::{Function, Operand, Value, ValueDef};

use crate::analysis::traps::is_removable;
use crate::analysis::{EffectSummaries, callee_summary, inst_effects};
use crate::{FunctionPass, PassContext, PassResult};

crate::pass! {
    /// Drops instructions and block parameters that nothing depends on.
    ///
    /// What has an effect or may trap stays, and so does what it uses. A call goes if its function
    /// surely ends and does nothing but compute its result. Values that only feed
    /// each other around a loop go.
    ///
    /// ```text
    /// ^2(%2: i64, %3: i64):                ^2(%2: i64):
    ///   %4: i64 = arith.mul %3, 3     =>
    ///   %5: i64 = arith.add %2, 1            %5: i64 = arith.add %2, 1
    ///   %6: bool = arith.lt %5, %1           %6: bool = arith.lt %5, %1
    ///   br %6, ^2(%5, %4), ^3                br %6, ^2(%5), ^3
    /// ```
    ///
    /// Unreachable blocks stay; `simplify-cfg` deletes those.
    #[derive(Debug, Default)]
    pub struct Dce;
}

impl FunctionPass for Dce {
    const NAME: &'static str = "dce";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let dead = unused(f, Roots::Effects(cx.effects()));
        let parameters = dead.iter().filter(|&&v| f.is_param(v)).count();
        f.delete_all(&dead)?;
        cx.add("instructions dropped", (dead.len() - parameters) as u64);
        cx.add("parameters dropped", parameters as u64);
        Ok(())
    }
}

/// The instructions that are live by themselves, beside what terminators decide on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Roots<'a> {
    /// Instructions that have an effect or may trap, calls by what is known of them.
    Effects(&'a EffectSummaries),
    /// All instructions, so that only parameters can be unused.
    Instructions,
}

impl Roots<'_> {
    fn contain(self, f: &Function, v: Value) -> bool {
        match self {
            Self::Instructions => true,
            Self::Effects(summaries) => {
                let computes = || {
                    callee_summary(f, v, summaries).is_some()
                        && inst_effects(f, v, summaries).is_removable()
                };
                !is_removable(f, v) && !computes()
            }
        }
    }
}

/// The values that no root depends on, in layout order. Parameters of the entry are never among
/// them: they belong to the signature of the function.
pub(super) fn unused(f: &Function, roots: Roots<'_>) -> Vec<Value> {
    let mut mark = Mark { f, live: vec![false; f.value_capacity()], pending: Vec::new() };
    for block in f.blocks() {
        for v in f.insts(block) {
            if v.is_terminator() {
                f.plain_operands(v).for_each(|operand| mark.reach(operand));
            } else if roots.contain(f, v) {
                mark.reach(v.into());
            }
        }
    }
    if let Some(entry) = f.entry() {
        f.params(entry).for_each(|param| mark.reach(param.into()));
    }
    let live = mark.spread();
    f.all_values().filter(|v| !live[v.index()]).collect()
}

struct Mark<'a> {
    f: &'a Function,
    live: Vec<bool>,
    /// Live values whose operands or arguments have not been looked at.
    pending: Vec<Value>,
}

impl Mark<'_> {
    #[inline]
    fn reach(&mut self, operand: Operand) {
        if let Some(v) = operand.as_value()
            && !std::mem::replace(&mut self.live[v.index()], true)
        {
            self.pending.push(v);
        }
    }

    fn spread(mut self) -> Vec<bool> {
        let f = self.f;
        while let Some(v) = self.pending.pop() {
            match f.def(v) {
                ValueDef::Inst(_) => f.operands(v).for_each(|operand| self.reach(operand)),
                ValueDef::Param(block, position) => {
                    for edge in f.in_edges(block) {
                        let arg = f.edge_arg(edge, position as usize);
                        arg.into_iter().for_each(|arg| self.reach(arg));
                    }
                }
            }
        }
        self.live
    }
}
