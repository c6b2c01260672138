//! Comparisons that are known to be true when a loop is entered.
//!
//! ```text
//! ^1: %2: bool = arith.lt 0, %1            0 < %1 where the loop ^3 begins, so that
//!     br %2, ^3(0), ^4                     the count of back edges is %1 - 1
//! ^3(%3: i64):
//!   %4: i64 = arith.add %3, 1              and not the distance from 1 up to %1
//!   %5: bool = arith.lt %4, %1
//!   br %5, ^3(%4), ^4
//! ```
//!
//! They come from branches on the way up the dominator tree, the nearest [`MOST_STEPS`] blocks.

use regraft_dialects::{arith, cf};
use regraft_ir::{DominatorTree, Edge, Function, Op};

use super::solve::Test;
use crate::analysis::comparison::swapped;
use crate::analysis::{InductionVariables, LoopId, Poly};

/// How far up branches are looked for.
const MOST_STEPS: usize = 8;

/// Comparisons of polynomials that hold where a loop begins.
#[derive(Debug, Default)]
pub(crate) struct Guards(Vec<(Op, Poly, Poly)>);

impl Guards {
    /// Those of a loop.
    pub(super) fn of(
        f: &Function,
        dom: &DominatorTree,
        ivs: &InductionVariables,
        l: LoopId,
    ) -> Self {
        let forest = ivs.forest();
        let mut guards = Vec::new();
        let mut at = forest.get(l).header;
        for _ in 0..MOST_STEPS {
            let Some(above) = dom.idom(at) else { break };
            // The only edge from outside, if the block that it enters leads here.
            let enters = |edge: &Edge| {
                let target = f.edge_target(*edge);
                let mut edges = f.in_edges(target).filter(|e| {
                    let back = forest.headed_by(target);
                    !back.is_some_and(|inner| forest.contains(inner, e.from))
                });
                target == at && edges.next() == Some(*edge) && edges.next().is_none()
            };
            let conditional = f.op(regraft_ir::Value::terminator(above)) == Some(cf::BR);
            if let Some(edge) = f.out_edges(above).find(enters).filter(|_| conditional) {
                guards.extend(Test::on_edge(f, ivs, edge));
            }
            at = above;
        }
        Self(guards)
    }

    /// Whether `from <= to + inclusive` is known without overflow, as signed numbers; with `down`
    /// `from >= to - inclusive`. If `inclusive`, `to` is known not to be the end of the type.
    pub(super) fn are_ahead(&self, from: &Poly, to: &Poly, inclusive: bool, down: bool) -> bool {
        self.0.iter().any(|(op, x, y)| {
            let (op, x, y) = if matches!(*op, arith::GT | arith::GE) != down {
                (swapped(*op), y, x)
            } else {
                (*op, x, y)
            };
            if from.ty() != x.ty() || to != y {
                return false;
            }
            // `x < y` (or `x > y`), and `from` is near `x` on the side of `y`.
            let strict = match op {
                arith::LT | arith::GT => 1,
                arith::LE | arith::GE => 0,
                _ => return false,
            };
            let near = |from: &Poly| from.sub(x).and_then(|away| away.constant_value());
            let away = near(from).map(|away| if down { away.wrapping_neg() } else { away });
            let reach = strict + i64::from(inclusive);
            away.is_some_and(|away| (0..=reach).contains(&away))
        })
    }
}
