//! Takes the first iteration out of loops in which it alone is different.
//!
//! ```text
//! ^1:                                   ^1:
//!   br ^2(0, true)                        br ^2
//! ^2(%2: i64, %3: bool):                ^2:                     the first iteration, with 0 and true
//!   ..                            =>      ..
//!   br %3, ^3, ^4                       ^5(%6: i64, %7: bool):  the loop, with false
//! ^3: ..                                  ..
//!   br ^2(%4, false)                      br %7, ^6, ^7
//! ^4: ..                                ^6: ..
//!   br ^2(%5, false)                      br ^5(%8, false)
//! ```
//!
//! # Method
//! As LLVM's LoopPeel, for one iteration. It pays where a parameter of the header is something else at
//! first and then always the same, known before the loop, and where a branch or a selection in the
//! loop depends on it: at once, or by one comparison with what is known as well. Then `sccp` and
//! `simplify-cfg` decide it in the loop. The loop is [closed](LoopForm::close) before it is copied.
//!
//! # Why it is right
//! Each path through the copy runs what the same path through the loop ran, in the same order.
//!
//! # Cost
//! O(size of what is copied), which the limit bounds for each loop.

use regraft_dialects::{cf, core};
use regraft_ir::{Block, Function, IrResult, Operand, Traits, Type, Value};

use crate::analysis::{LoopForest, LoopId};
use crate::transforms::util::clone_blocks::{CloneMap, clone_blocks};
use crate::transforms::util::loop_form::{LoopForm, close_loops, is_small_innermost};
use crate::{LoopPass, OptionDef, Options, PassContext, PassResult};

crate::pass! {
    /// Takes the first iteration out of loops in which it alone is different.
    ///
    /// ```text
    ///   br ^2(0, true)                        br ^2
    /// ^2(%2: i64, %3: bool):                ^2:                     the first iteration
    ///   ..                            =>      ..
    ///   br %3, ^3, ^4                       ^5(%6: i64, %7: bool):  the loop
    /// ^3: ..                                  ..
    ///   br ^2(%4, false)                      br %7, ^6, ^7
    /// ^4: ..                                ^6: ..
    ///   br ^2(%5, false)                      br ^5(%8, false)
    /// ```
    ///
    /// Peels loops with a parameter that is something else at first and then always the same, where a
    /// decision depends on it. What follows from that is left to `sccp` and `simplify-cfg`. It costs
    /// O(size of the loop), which `max-size` bounds.
    #[derive(Debug, Default)]
    pub struct Peel {
        /// The most instructions of a loop.
        max_size: usize,
    }
}

impl LoopPass for Peel {
    const NAME: &'static str = "peel";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] =
        &[OptionDef::int("max-size", 32, "the most instructions of a loop that is copied")];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.max_size = options.size("max-size");
        Ok(())
    }

    fn run(&mut self, f: &mut Function, loops: &[Block], cx: &mut PassContext<'_>) -> PassResult {
        let forest = cx.analysis::<LoopForest>(f);
        let ids = loops.iter().filter_map(|&header| forest.headed_by(header));
        let pays: Vec<LoopId> = ids.filter(|&id| self.pays(f, &forest, id)).collect();
        if pays.is_empty() {
            return Ok(());
        }
        let mut forms: Vec<LoopForm> =
            pays.into_iter().map(|id| LoopForm::new(&forest, id)).collect();
        for form in &mut forms {
            form.ensure_preheader(f)?;
        }
        close_loops(f, &forms.iter().collect::<Vec<_>>(), cx.analyses())?;
        for form in &forms {
            peel(f, form)?;
            cx.count("loops peeled");
        }
        Ok(())
    }
}

impl Peel {
    fn pays(&self, f: &Function, forest: &LoopForest, id: LoopId) -> bool {
        if !is_small_innermost(f, forest, id, self.max_size) {
            return false;
        }
        let is_known =
            |o: Operand| o.as_value().is_none_or(|v| !forest.contains(id, f.block_of(v)));
        f.params(forest.get(id).header).enumerate().any(|(position, param)| {
            settles(f, forest, id, param, position, &is_known)
                && f.uses(param).any(|at| {
                    decides(f, at.user, param)
                        || compares(f, at.user)
                            && f.operands(at.user).all(|o| o == param.into() || is_known(o))
                            && f.uses(at.user).any(|of| decides(f, of.user, at.user))
                })
        })
    }
}

/// Returns whether a parameter is always the same after the first iteration, and something else in that.
fn settles(
    f: &Function,
    forest: &LoopForest,
    id: LoopId,
    param: Value,
    position: usize,
    is_known: &dyn Fn(Operand) -> bool,
) -> bool {
    let (mut first, mut back) = (None, None);
    for edge in f.in_edges(f.block_of(param)) {
        let Some(arg) = f.edge_arg(edge, position) else { return false };
        let of = if forest.contains(id, edge.from) { &mut back } else { &mut first };
        if of.replace(arg).is_some_and(|other| other != arg) {
            return false;
        }
    }
    matches!((first, back), (Some(first), Some(back)) if first != back && is_known(back))
}

/// Returns whether something decides on a value.
fn decides(f: &Function, user: Value, v: Value) -> bool {
    matches!(f.op(user), Some(cf::BR | cf::SWITCH | core::SELECT))
        && f.operand(user, 0) == Some(v.into())
}

fn compares(f: &Function, v: Value) -> bool {
    let pure = f.op_def(v).is_some_and(|def| def.traits.contains(Traits::PURE));
    !v.is_terminator() && pure && f.ty(v) == Type::BOOL
}

/// Lets the loop be its first iteration, and a copy of it the others.
fn peel(f: &mut Function, form: &LoopForm) -> IrResult<()> {
    let header = form.header();
    let last = form
        .blocks()
        .iter()
        .copied()
        .reduce(|last, block| if f.block_comes_before(last, block) { block } else { last });
    let mut map = CloneMap::new();
    clone_blocks(f, form.blocks(), last.unwrap_or(header), &mut map)?;
    while let Some(&edge) = form.back_edges(f).first() {
        let args: Vec<Operand> = f.edge_args(edge).collect();
        f.redirect(edge, map.block(header), args)?;
    }
    Ok(())
}
