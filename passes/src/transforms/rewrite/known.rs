//! The knowledge that rewriting goes by: facts on values, and costs.

use std::sync::Arc;

use regraft_dialects::arith;
use regraft_ir::{Context, Function, Op, Operand, Type, Value};
use smallvec::SmallVec;

use crate::analysis::{FloatKinds, Latencies, LoopForest};
use crate::rewrite::{ConditionKind, Facts, Math, is_term};

/// The cost of instructions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Cost {
    /// Cycles, eight times for each loop.
    pub(super) latency: i64,
    /// The number of instructions.
    pub(super) ops: i64,
}

impl std::ops::Add for Cost {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { latency: self.latency + other.latency, ops: self.ops + other.ops }
    }
}

impl std::ops::Sub for Cost {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { latency: self.latency - other.latency, ops: self.ops - other.ops }
    }
}

/// The facts on the values of a function, and what ops cost in it.
pub(super) struct Known {
    pub(super) ctx: Arc<Context>,
    pub(super) math: Math,
    /// Values of the function, different from each other.
    pub(super) stand_ins: SmallVec<[Value; 4]>,
    pub(super) forest: Arc<LoopForest>,
    /// By [`Value::index`].
    pub(super) facts: Vec<Option<Facts>>,
    /// By [`Value::index`], instructions that may trap.
    pub(super) stays: Vec<bool>,
}

impl Known {
    /// The facts on an operand.
    pub(super) fn facts(&self, f: &Function, operand: Operand) -> Facts {
        let ty = f.operand_type(operand);
        let known = operand.as_value().and_then(|v| self.facts.get(v.index()).copied().flatten());
        match f.constant(operand) {
            Some(constant) => Facts::of_constant(constant, ty),
            None => known.unwrap_or(Facts::of_type(ty)),
        }
    }

    /// Adds what is known of a value that was made, or made anew.
    pub(super) fn note(&mut self, v: Value, facts: Facts) {
        if self.facts.len() <= v.index() {
            self.facts.resize(v.index() + 1, None);
        }
        let known = &mut self.facts[v.index()];
        *known = Some(known.map_or(facts, |known| known.and(facts)));
    }

    /// Returns whether an instruction can be dropped when nobody uses its result.
    pub(super) fn is_removable(&self, f: &Function, v: Value) -> bool {
        let traps = self.stays.get(v.index()).copied().unwrap_or(false);
        f.is_removable(v) || is_term(f, v) && !traps
    }

    /// Returns whether a function is known not to trap for these arguments.
    pub(super) fn is_in_domain(&self, op: Op, args: &[Facts]) -> bool {
        let divides = matches!(op, arith::DIV | arith::REM | arith::FLD | arith::CLD | arith::MOD);
        divides && args.get(1).is_some_and(|by| ConditionKind::Positive.holds(by))
            || self.math.is_in_domain(op, |i| args.get(i).map_or(FloatKinds::all(), |a| a.kinds))
    }

    /// The cost of a result of an op in the block of `v`.
    pub(super) fn cost(&self, f: &Function, op: Op, ty: Type, v: Value) -> Cost {
        let depth = self.forest.loop_of(f.block_of(v)).map_or(0, |l| self.forest.get(l).depth);
        let latencies: &Latencies = self.ctx.extensions().get();
        Cost { latency: latencies.in_loops(op, ty, depth) as i64, ops: 1 }
    }
}
