//! Comparisons that hold where a loop begins, because of branches that dominate it.

use regraft_dialects::arith;
use regraft_ir::Op;

use crate::analysis::Poly;
use crate::analysis::comparison::swapped;

/// Comparisons of polynomials that hold where a loop begins.
#[derive(Debug, Default)]
pub(crate) struct DominatingConditions(pub(crate) Vec<(Op, Poly, Poly)>);

impl DominatingConditions {
    /// Returns whether `from <= to + inclusive` is known without overflow, as signed numbers; with
    /// `down` `from >= to - inclusive`. If `inclusive`, `to` is known not to be the end of the
    /// type.
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
