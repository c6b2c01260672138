//! Comparisons: the ops, what is true where one is false, and where its operands change sides.

use regraft_dialects::arith;
use regraft_ir::Op;

/// Returns whether an op compares two numbers.
pub(crate) fn is_comparison(op: Op) -> bool {
    matches!(op, arith::LT | arith::LE | arith::GT | arith::GE | arith::EQ | arith::NE)
}

/// The comparison of integers that is true where `op` is false. Floats are not ordered if one is NaN.
pub(crate) fn opposite(op: Op) -> Op {
    match op {
        arith::LT => arith::GE,
        arith::LE => arith::GT,
        arith::GT => arith::LE,
        arith::GE => arith::LT,
        arith::EQ => arith::NE,
        arith::NE => arith::EQ,
        other => other,
    }
}

/// The comparison with its operands swapped.
pub(crate) fn swapped(op: Op) -> Op {
    match op {
        arith::LT => arith::GT,
        arith::LE => arith::GE,
        arith::GT => arith::LT,
        arith::GE => arith::LE,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_true_where_its_opposite_is_false_and_with_operands_swapped() {
        let holds = |op, x: i32, y: i32| match op {
            arith::LT => x < y,
            arith::LE => x <= y,
            arith::GT => x > y,
            arith::GE => x >= y,
            arith::EQ => x == y,
            _ => x != y,
        };
        for op in [arith::LT, arith::LE, arith::GT, arith::GE, arith::EQ, arith::NE] {
            assert!(is_comparison(op));
            for (x, y) in [(1, 2), (2, 1), (3, 3)] {
                assert_ne!(holds(op, x, y), holds(opposite(op), x, y), "{op:?}");
                assert_eq!(holds(op, x, y), holds(swapped(op), y, x), "{op:?}");
            }
        }
        assert!(!is_comparison(arith::ADD));
    }
}
