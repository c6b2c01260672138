//! Gives loops a preheader, a single latch and dedicated exits.
//!
//! ```text
//! ^1: br %1, ^2(0), ^4                 ^1: br %1, ^5, ^4
//!                                      ^5: br ^2(0)
//! ^2(%2: i64):                         ^2(%2: i64):
//!   %3: i64 = arith.add %2, 1     =>     %3: i64 = arith.add %2, 1
//!   %4: bool = arith.lt %3, %5           %4: bool = arith.lt %3, %5
//!   br %4, ^2(%3), ^4                    br %4, ^2(%3), ^6
//!                                      ^6: br ^4
//! ^4: return nothing                   ^4: return nothing
//! ```
//!
//! # Method
//! That of [`LoopForm`], loop by loop, inner loops first: an exit block that an inner loop gets may
//! be part of the loop around it, and is then seen there.
//!
//! # Why it is right
//! All that is added are blocks that do nothing but jump on; what they pass on is what the edges
//! through them passed.
//!
//! # Cost
//! O(blocks and edges) for each nesting depth of loops.

use regraft_ir::{Block, Edge, Function};

use crate::analysis::{LoopForest, LoopId};
use crate::options::{OptionDef, Options};
use crate::transforms::util::loop_form::{LoopForm, close_loops};
use crate::{LoopPass, PassContext, PassResult};

crate::pass! {
    /// Gives loops a preheader, a single latch and dedicated exits.
    ///
    /// The preheader is a block outside that goes to the header and nowhere else; the latch goes
    /// back to the header; an exit block is dedicated if it is entered from the loop alone.
    ///
    /// ```text
    /// ^1: br %1, ^2(0), ^4                 ^1: br %1, ^5, ^4
    ///                                      ^5: br ^2(0)
    /// ^2(%2: i64):                         ^2(%2: i64):
    ///   %3: i64 = arith.add %2, 1     =>     %3: i64 = arith.add %2, 1
    ///   %4: bool = arith.lt %3, %5           %4: bool = arith.lt %3, %5
    ///   br %4, ^2(%3), ^4                    br %4, ^2(%3), ^6
    ///                                      ^6: br ^4
    /// ^4: return nothing                   ^4: return nothing
    /// ```
    ///
    /// Passes over loops make what they need of this themselves; this pass shows it, and makes it
    /// for passes of one's own. `simplify-cfg` takes the empty blocks away again. It costs
    /// O(blocks and edges) for each level of nesting.
    #[derive(Debug, Default)]
    pub struct LoopSimplify {
        closed: bool,
    }
}

impl LoopPass for LoopSimplify {
    const NAME: &'static str = "loop-simplify";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[OptionDef::flag(
        "closed",
        false,
        "let what is computed in a loop be used outside through parameters of exit blocks alone",
    )];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.closed = options.flag("closed");
        Ok(())
    }

    fn run(&mut self, f: &mut Function, loops: &[Block], cx: &mut PassContext<'_>) -> PassResult {
        let forest = cx.analysis::<LoopForest>(f);
        let ids = loops.iter().filter_map(|&header| forest.headed_by(header));
        let ids = ids.filter(|&id| self.closed || !is_simplified(f, &forest, id));
        let mut forms: Vec<LoopForm> = ids.map(|id| LoopForm::new(&forest, id)).collect();
        let (mut preheaders, mut latches, mut exits, mut closing) = (0, 0, 0, 0);
        for form in &mut forms {
            exits += form.ensure_dedicated_exits(f)?.len();
            if form.preheader(f).is_none() || Some(form.header()) == f.entry() {
                form.ensure_preheader(f)?;
                preheaders += 1;
            }
            if form.single_latch(f).is_none() {
                form.ensure_single_latch(f)?;
                latches += 1;
            }
        }
        // Now that all have preheaders, values of one that meet before another meet outside of it.
        if self.closed {
            closing = close_loops(f, &forms.iter().collect::<Vec<_>>(), cx.analyses())?;
        }
        cx.add("preheaders made", preheaders);
        cx.add("latches made", latches);
        cx.add("exit blocks made", exits as u64);
        cx.add("closing parameters made", closing as u64);
        Ok(())
    }
}

/// Returns whether a loop has its form already, but for what is used outside. O(edges into the
/// header and the exit blocks).
fn is_simplified(f: &Function, forest: &LoopForest, id: LoopId) -> bool {
    let l = forest.get(id);
    let is_back = |edge: &Edge| forest.contains(id, edge.from);
    let mut entering = f.in_edges(l.header).filter(|edge| !is_back(edge));
    let is_preheader = |edge: Edge| f.out_edges(edge.from).nth(1).is_none();
    let mut exit_blocks = l.exits.iter().map(|exit| f.edge_target(exit.edge(f)));
    Some(l.header) != f.entry()
        && entering.next().is_some_and(is_preheader)
        && entering.next().is_none()
        && f.in_edges(l.header).filter(is_back).count() == 1
        && exit_blocks.all(|block| f.in_edges(block).all(|edge| is_back(&edge)))
}
