//! Simplifies control flow: decided branches, unreachable blocks, blocks that do nothing.
//!
//! ```text
//! ^1(%1: i64):                         ^1(%1: i64):
//!   br true, ^2, ^3
//! ^2:
//!   br ^4(%1)                    =>
//! ^3:
//!   br ^4(0)
//! ^4(%2: i64):
//!   %3: i64 = arith.add %2, 1            %3: i64 = arith.add %1, 1
//!   return %3                            return %3
//! ```
//!
//! # Method
//! Rounds of these steps, until a round changes nothing:
//!
//! 1. In reverse postorder, so that what one block gives away is known in the next: a parameter
//!    that gets the same value from every edge (or itself) is replaced by it; a branch or switch
//!    on a constant, or one whose edges are all the same, becomes a jump; a block that no edge
//!    enters any more loses its own.
//! 2. Unreachable blocks are deleted.
//! 3. Parameters that pass one value in circles are replaced too, as [`prune`] does; all replaced
//!    parameters are deleted at once.
//! 4. In postorder: an edge to an empty block that jumps on goes to where that jumps.
//! 5. Unless it is `plain`: cheap branches become selections (`select`), and edges on which the
//!    next branch is decided bypass it (`thread`).
//! 6. Before the first round, unless it is `plain`: chains of comparisons become switches (`switch`), once
//!    nothing stands between them.
//! 7. A block is appended to the one that jumps to it, if nothing else does; the first of a chain
//!    comes first, so that an instruction moves once.
//!
//! # Why it is right
//! No instruction that can be reached is dropped, and none is added to a path but such as have no
//! effect and do not trap; the order of effects on each path is what it was, as only jumps, and
//! branches whose outcome is known, go. A
//! block that jumps to itself is not empty in this sense, so a loop that does nothing forever
//! still does. A branch on a value that is `any`, which traps unless it is a bool, stays. What
//! the edge from an empty block passes is available before that block, unless it is one of its
//! parameters, for which the argument is put. Where a value of a subtype of that of a
//! parameter would not be accepted in its place, the parameter stays, and the block too.
//!
//! # Cost
//! O(size) for a round. Decisions that lead to each other along forward edges fall in the same
//! round; one that has to come around a loop takes another, so that there are few in practice.
//! Going around an empty block may copy the arguments that it passes onto each edge that enters
//! it; that is done only if they are few, or there is one such edge. Selections within each other
//! take a round for each level, and their cost bounds these. Jump threading copies a bounded number
//! of instructions for an edge; it stops after some rounds, because in a cycle that is no
//! loop it might go around forever.

mod branches;
mod chains;
mod forward;
mod live;
mod select;
mod switch;
mod thread;

use regraft_ir::{ControlFlow, Function, IrResult};

pub(super) use branches::replace_params;
pub(super) use chains::merge_after;

use super::prune;
use crate::transforms::util::edit::delete_unreachable;
use crate::{FunctionPass, OptionDef, Options, PassContext, PassResult};

/// After so many rounds no more edges are threaded.
const THREADING_ROUNDS: usize = 16;

/// The numbers of simplifications.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Simplified {
    /// Branches and switches that became jumps.
    branches: usize,
    /// Unreachable blocks deleted.
    unreachable: usize,
    /// Parameters that stood for one value.
    parameters: usize,
    /// Terminators whose edges bypass empty blocks now.
    forwarded: usize,
    /// Branches that became selections.
    selected: usize,
    /// Edges that bypass a branch which they decide.
    threaded: usize,
    /// Chains of comparisons that became switches.
    switches: usize,
    /// Blocks appended to the one before.
    merged: usize,
}

crate::pass! {
    /// Simplifies control flow: decided branches, unreachable blocks, blocks that do nothing.
    ///
    /// ```text
    /// ^1(%1: i64):                         ^1(%1: i64):
    ///   br true, ^2, ^3
    /// ^2:
    ///   br ^4(%1)                    =>
    /// ^3:
    ///   br ^4(0)
    /// ^4(%2: i64):
    ///   %3: i64 = arith.add %2, 1            %3: i64 = arith.add %1, 1
    ///   return %3                            return %3
    /// ```
    ///
    /// Parameters that get the same value from every edge go too. Loops without an end stay.
    ///
    /// Branches that only choose between cheap values become `core.select`, and an edge that
    /// decides the next branch bypasses it:
    ///
    /// ```text
    ///   br %1, ^2, ^3(false)                 br %1, ^2, ^5
    /// ^2:                                  ^2:
    ///   %2: bool = call @g()         =>      %2: bool = call @g()
    ///   br ^3(%2)                            br %2, ^4, ^5
    /// ^3(%3: bool):
    ///   br %3, ^4, ^5
    /// ```
    ///
    /// Three or more comparisons of one integer with constants that follow each other become a switch.
    ///
    /// Nothing runs in vain that may trap: a load only if its index is in bounds on both ways.
    /// Headers of loops are not bypassed.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct SimplifyCfg {
        /// The most that the selections and the instructions in the place of a branch may cost
        /// together; `None` makes no selections.
        select_cost: Option<usize>,
        /// The most instructions that may be copied for an edge that bypasses a branch; `None`
        /// threads no edges.
        thread_copies: Option<usize>,
        /// The most instructions that may be copied for an edge into a block whose branch every edge
        /// decides.
        split_copies: usize,
    }
}

impl FunctionPass for SimplifyCfg {
    const NAME: &'static str = "simplify-cfg";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[
        OptionDef::flag("plain", false, "make no selections and copy nothing: the paths stay"),
        OptionDef::int("select-cost", 4, "what a branch may cost without branching"),
        OptionDef::int("thread-copies", 4, "instructions copied at most for an edge"),
        OptionDef::int(
            "split-copies",
            0,
            "instructions copied at most for an edge into a block whose branch every edge decides",
        ),
    ];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        if !options.flag("plain") {
            self.select_cost = Some(options.size("select-cost"));
            self.thread_copies = Some(options.size("thread-copies"));
            self.split_copies = options.size("split-copies");
        }
        Ok(())
    }

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let mut done = Simplified::default();
        if self.select_cost.is_some() && switch::has_chain(f) {
            // What is between the comparisons goes first, and nothing is made of the last ones.
            Self::default().rounds(f, cx, &mut done)?;
            done.switches += switch::form(f)?;
        }
        let mut this = *self;
        this.rounds(f, cx, &mut done)?;
        cx.add("branches decided", done.branches as u64);
        cx.add("unreachable blocks deleted", done.unreachable as u64);
        cx.add("parameters replaced", done.parameters as u64);
        cx.add("terminators forwarded", done.forwarded as u64);
        cx.add("branches made selections", done.selected as u64);
        cx.add("edges threaded", done.threaded as u64);
        cx.add("switches made", done.switches as u64);
        cx.add("blocks merged", done.merged as u64);
        Ok(())
    }
}

impl SimplifyCfg {
    /// Rounds, until one changes nothing.
    fn rounds(
        &mut self,
        f: &mut Function,
        cx: &mut PassContext<'_>,
        done: &mut Simplified,
    ) -> IrResult<()> {
        for n in 1.. {
            let before = *done;
            self.round(f, cx, done)?;
            if *done == before {
                break;
            }
            if n == THREADING_ROUNDS {
                self.thread_copies = None;
            }
        }
        Ok(())
    }

    fn round(
        &self,
        f: &mut Function,
        cx: &mut PassContext<'_>,
        done: &mut Simplified,
    ) -> IrResult<()> {
        let analyses = cx.analyses();
        let cfg = analyses.get::<ControlFlow>(f);
        let mut replaced = Vec::new();
        for block in cfg.reverse_postorder() {
            if Some(block) != f.entry() {
                if !f.has_predecessors(block) {
                    f.remove_terminator(block)?;
                    continue;
                }
                branches::replace_params(f, block, &mut replaced)?;
            }
            if let Some(jump) = branches::decided(f, block)? {
                f.set_terminator(block, jump)?;
                done.branches += 1;
            }
        }
        done.unreachable += delete_unreachable(f, analyses)?;
        // What was replaced above has no uses left, but is a parameter still.
        replaced.retain(|&param| f.is_live(param));
        replaced.extend(prune::replace_redundant(f, &analyses.get(f))?);
        replaced.sort_unstable();
        replaced.dedup();
        f.delete_all(&replaced)?;
        done.parameters += replaced.len();
        done.forwarded += forward::forward_edges(f, &analyses.get(f))?;
        if let Some(limit) = self.select_cost {
            done.selected += select::convert(f, limit, cx)?;
        }
        let analyses = cx.analyses();
        let mut cfg = analyses.get::<ControlFlow>(f);
        let threaded = match self.thread_copies {
            Some(edge) => {
                let limits = thread::Limits { edge, split: self.split_copies };
                thread::thread_jumps(f, &cfg, limits)?
            }
            None => 0,
        };
        done.threaded += threaded;
        if threaded > 0 || cfg.reachable_count() != f.block_count() {
            delete_unreachable(f, analyses)?;
            cfg = analyses.get(f);
        }
        done.merged += chains::merge_chains(f, &cfg)?;
        Ok(())
    }
}
