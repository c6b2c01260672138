//! Takes branches whose condition stays the same out of loops: one loop for each outcome.
//!
//! ```text
//! ^1:                                   ^1:
//!   br ^2(0)                              br %1, ^6(0), ^2(0)
//! ^2(%2: i64):                          ^2(%2: i64):            the loop in which it is false
//!   ..                            =>      ..
//!   br %1, ^3, ^4                         br ^4
//! ^3: ..                                ^6(%5: i64):            the loop in which it is true
//! ^4: ..                                  ..
//! ```
//!
//! # Method
//! As LLVM's SimpleLoopUnswitch, for branches that stay in the loop: the loop is copied, the branch
//! before it chooses one of the two, and in each the condition is decided. One condition of a loop at
//! a time, innermost loops, as long as they are small.
//!
//! # Why it is right
//! Each path through one of the loops runs what the same path through the loop ran, in the same order. The
//! condition is a bool from before the loop: to branch on it does nothing else.
//!
//! # Cost
//! O(size of what is copied), which the limit bounds for each loop.

use regraft_dialects::cf;
use regraft_ir::{Block, Function, Inst, IrResult, Type, Value};

use crate::analysis::{LoopForest, LoopId};
use crate::transforms::util::edit::delete_unreachable;
use crate::transforms::util::loop_form::{LoopForm, close_loops, is_small_innermost};
use crate::transforms::util::versioning::add_version;
use crate::{LoopPass, OptionDef, Options, PassContext, PassResult};

crate::pass! {
    /// Takes branches whose condition stays the same out of loops: one loop for each outcome.
    ///
    /// ```text
    ///   br ^2(0)                              br %1, ^6(0), ^2(0)
    /// ^2(%2: i64):                          ^2(%2: i64):            the loop in which it is false
    ///   ..                            =>      ..
    ///   br %1, ^3, ^4                         br ^4
    /// ^3: ..                                ^6(%5: i64):            the loop in which it is true
    /// ^4: ..                                  ..
    /// ```
    ///
    /// Innermost loops of at most `max-size` instructions are copied, once for each such condition. Put
    /// it after `licm`, which takes conditions out of loops. A second run goes on with what became small
    /// enough. It is in no pipeline: programs grow by it.
    #[derive(Debug, Default)]
    pub struct Unswitch {
        /// The most instructions of a loop.
        max_size: usize,
    }
}

impl LoopPass for Unswitch {
    const NAME: &'static str = "unswitch";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] =
        &[OptionDef::int("max-size", 48, "the most instructions of a loop that is copied")];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.max_size = options.size("max-size");
        Ok(())
    }

    fn run(&mut self, f: &mut Function, loops: &[Block], cx: &mut PassContext<'_>) -> PassResult {
        let forest = cx.analysis::<LoopForest>(f);
        let ids = loops.iter().filter_map(|&header| forest.headed_by(header));
        let mut plans: Vec<(LoopForm, Value)> = ids
            .filter_map(|id| Some((LoopForm::new(&forest, id), self.condition(f, &forest, id)?)))
            .collect();
        if plans.is_empty() {
            return Ok(());
        }
        for (form, _) in &mut plans {
            form.ensure_preheader(f)?;
        }
        close_loops(f, &plans.iter().map(|(form, _)| form).collect::<Vec<_>>(), cx.analyses())?;
        for (form, condition) in &plans {
            unswitch(f, form, *condition)?;
            cx.count("loops unswitched");
        }
        delete_unreachable(f, cx.analyses()).map(drop)?;
        Ok(())
    }
}

impl Unswitch {
    /// A condition from before a loop on which a branch in it decides.
    fn condition(&self, f: &Function, forest: &LoopForest, id: LoopId) -> Option<Value> {
        if !is_small_innermost(f, forest, id, self.max_size) {
            return None;
        }
        forest.blocks(id).iter().find_map(|&block| {
            let condition = branch_condition(f, block)?;
            (!forest.contains(id, f.block_of(condition))).then_some(condition)
        })
    }
}

/// The bool on which the branch at the end of a block decides.
fn branch_condition(f: &Function, block: Block) -> Option<Value> {
    let term = f.terminator(block).filter(|&term| f.op(term) == Some(cf::BR))?;
    let condition = f.operand(term, 0)?.as_value()?;
    (f.out_edges(block).count() == 2 && f.ty(condition) == Type::BOOL).then_some(condition)
}

/// Makes two loops of one.
fn unswitch(f: &mut Function, form: &LoopForm, condition: Value) -> IrResult<()> {
    let Some(preheader) = form.preheader(f) else { return Ok(()) };
    let map = add_version(f, form, preheader, condition)?;
    for &block in form.blocks() {
        if branch_condition(f, block) == Some(condition) {
            decide(f, map.block(block), 0)?;
            decide(f, block, 1)?;
        }
    }
    Ok(())
}

/// Lets a block take its edge of this number.
fn decide(f: &mut Function, block: Block, nth: usize) -> IrResult<()> {
    let Some(edge) = f.out_edges(block).nth(nth) else { return Ok(()) };
    let term = Value::terminator(block);
    let jump = Inst::new(f.jump_op()?).edge(f.edge_target(edge), f.edge_args(edge)).at(f.loc(term));
    f.set_terminator(block, jump)
}
