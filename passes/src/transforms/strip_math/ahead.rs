//! What is known of the iterations to come before they run.

use regraft_dialects::mem;
use regraft_ir::{DominatorTree, Function, Op, Operand, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::analysis::LoopId;
use crate::analysis::memory_location::element_indices;
use crate::analysis::traps::only_computes;
use crate::transforms::util::loop_accesses::{
    AliasResult, Distance, Line, MemoryAccess, distance, lines, meets_later,
};
use crate::transforms::util::loop_pair::FusionAnalyses;
use crate::transforms::util::versioning::Apart;

/// The largest step of an index, so that those of a strip do not wrap around.
const MAX_STEP: i64 = 1 << 20;

/// A value that can be computed before its iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ahead {
    /// The greatest number of functions of which one is computed after the other for it.
    pub(super) level: u32,
    /// True if it may differ between iterations.
    pub(super) moves: bool,
    /// True if it depends on elements of arrays.
    reads: bool,
}

impl Ahead {
    const FIXED: Self = Self { level: 0, moves: false, reads: false };

    fn and(self, other: Self) -> Self {
        Self {
            level: self.level.max(other.level),
            moves: self.moves || other.moves,
            reads: self.reads || other.reads,
        }
    }
}

/// Finds what is known ahead in a loop.
pub(super) struct Finder<'a> {
    facts: &'a FusionAnalyses<'a>,
    tree: &'a DominatorTree,
    l: LoopId,
    accesses: &'a [MemoryAccess],
    known: FxHashMap<Value, Option<Ahead>>,
    /// The functions that are computed ahead.
    functions: Vec<Value>,
    /// The arrays that have to be different objects, with the load that needs it.
    apart: Vec<(Value, Apart)>,
}

impl<'a> Finder<'a> {
    /// Of a loop with these accesses, in which these functions run once in each iteration.
    pub(super) fn new(
        facts: &'a FusionAnalyses<'a>,
        tree: &'a DominatorTree,
        l: LoopId,
        accesses: &'a [MemoryAccess],
        functions: Vec<Value>,
    ) -> Self {
        let (known, apart) = Default::default();
        Self { facts, tree, l, accesses, known, functions, apart }
    }

    /// The arrays that have to be different, so that these loads can be made ahead.
    pub(super) fn apart(&self, loads: &[Value]) -> Vec<Apart> {
        let mut all: Vec<Apart> = Vec::new();
        for &(load, (x, y)) in &self.apart {
            if loads.contains(&load) && !all.contains(&(x, y)) && !all.contains(&(y, x)) {
                all.push((x, y));
            }
        }
        all
    }

    /// Returns what is known of a value ahead; `None` if it is not known.
    pub(super) fn ahead(&mut self, operand: Operand) -> Option<Ahead> {
        let f = self.facts.f;
        let Some(v) = operand.as_value() else {
            return operand.as_block().is_none().then_some(Ahead::FIXED);
        };
        if !self.facts.forest.contains(self.l, f.block_of(v)) {
            return Some(Ahead::FIXED);
        }
        if let Some(&known) = self.known.get(&v) {
            return known;
        }
        // What depends on itself is a parameter, which is not looked through.
        let found = self.find(v);
        self.known.insert(v, found);
        found
    }

    fn find(&mut self, v: Value) -> Option<Ahead> {
        let f = self.facts.f;
        if f.is_param(v) {
            let basic = self.facts.variables.basic(self.l).iter().find(|basic| basic.param == v)?;
            return basic.step.constant_value().map(|_| Ahead { moves: true, ..Ahead::FIXED });
        }
        if !f.ty(v).is_scalar() || f.checks_operands(v) {
            return None;
        }
        if f.op(v) == Some(mem::LOAD) {
            return self.load(v);
        }
        let is_function = self.functions.contains(&v);
        if !is_function && !only_computes(f, v) {
            return None;
        }
        let operands: SmallVec<[Operand; 4]> = f.operands(v).collect();
        let all =
            operands.into_iter().try_fold(Ahead::FIXED, |all, x| Some(all.and(self.ahead(x)?)))?;
        match is_function {
            true => all.moves.then_some(Ahead { level: all.level + 1, ..all }),
            false => Some(all),
        }
    }

    /// A load of an element that is the same before its iteration.
    fn load(&mut self, v: Value) -> Option<Ahead> {
        let f = self.facts.f;
        let mut operands = f.operands(v);
        let array = operands.next()?;
        let indices: SmallVec<[Operand; 3]> = operands.collect();
        if !self.is_outside(array) {
            return None;
        }
        for &index in &indices {
            // They are computed first, before it is known that other elements are there.
            let ahead = self.ahead(index)?;
            if ahead.reads || ahead.level > 0 {
                return None;
            }
        }
        let steps = steps(self.facts, self.l, v)?;
        let at = self.accesses.iter().position(|access| access.inst == v)?;
        let mut apart: SmallVec<[Apart; 2]> = SmallVec::new();
        for write in self.accesses.iter().filter(|access| access.effects.writes_anything()) {
            if !self.comes_first(&self.accesses[at], write) {
                let written = self.facts.f.operand(write.inst, 0)?;
                let is_store = f.op(write.inst) == Some(mem::STORE);
                if !is_store || written == array || !self.is_outside(written) {
                    return None;
                }
                apart.push((array, written));
            }
        }
        self.apart.extend(apart.into_iter().map(|pair| (v, pair)));
        Some(Ahead { level: 0, moves: steps.iter().any(|&step| step != 0), reads: true })
    }

    /// Returns whether nothing that is written in an iteration is what a load reads in a later one, or after it.
    fn comes_first(&self, load: &MemoryAccess, write: &MemoryAccess) -> bool {
        let (f, variables) = (self.facts.f, &self.facts.variables);
        let at = |access: &MemoryAccess| -> Option<SmallVec<[Line; 3]>> {
            Some(lines(variables, &access.polynomials(f, variables)?, self.l))
        };
        match load.alias(f, write, &self.facts.aliases) {
            AliasResult::NoAlias => true,
            AliasResult::MayAlias => false,
            AliasResult::MayAliasElement => at(load).zip(at(write)).is_some_and(|(at_x, at_y)| {
                !meets_later(&at_x, &at_y)
                    && (comes_before(f, self.tree, load, write) || !meets_at_once(&at_x, &at_y))
            }),
        }
    }

    fn is_outside(&self, operand: Operand) -> bool {
        let f = self.facts.f;
        operand.as_value().is_none_or(|v| !self.facts.forest.contains(self.l, f.block_of(v)))
    }
}

/// Returns whether two accesses may be to the same element in the same iteration.
fn meets_at_once(a: &[Line], b: &[Line]) -> bool {
    let pairs = a.iter().zip(b).filter_map(|(x, y)| x.as_ref().zip(y.as_ref()));
    let mut apart = pairs.map(|(x, y)| distance((&x.0, &x.1), (&y.0, &y.1)));
    let meets = |apart| matches!(apart, Distance::Any | Distance::Exactly(0));
    a.len() != b.len() || apart.all(meets)
}

/// The array that a load reads or a store writes, and the indices.
pub(super) fn place(f: &Function, access: Value) -> (Operand, SmallVec<[Operand; 3]>) {
    let array = f.operand(access, 0).expect("an access has an array");
    (array, element_indices(f, access).expect("it is one of elements").collect())
}

/// The steps of the indices of an access from one iteration to the next, if they are small numbers.
pub(super) fn steps(
    facts: &FusionAnalyses<'_>,
    l: LoopId,
    access: Value,
) -> Option<SmallVec<[i64; 3]>> {
    let f = facts.f;
    let step = |index: Operand| {
        if f.operand_type(index) != Type::I64 {
            return None;
        }
        let index = facts.variables.evolution_at(f, index, f.block_of(access));
        let (_, step) = facts.variables.affine_in(&index, l)?;
        step.constant_value().filter(|step| step.abs() <= MAX_STEP)
    };
    place(f, access).1.into_iter().map(step).collect()
}

/// Returns whether one access comes before another one in an iteration.
pub(super) fn comes_before(
    f: &Function,
    tree: &DominatorTree,
    first: &MemoryAccess,
    second: &MemoryAccess,
) -> bool {
    match first.block == second.block {
        true => f.comes_before(first.inst, second.inst),
        false => tree.dominates(first.block, second.block),
    }
}

/// Returns whether `v` is a function of floats with such an op.
pub(super) fn is_function(f: &Function, v: Value, is_such: impl Fn(Op) -> bool) -> bool {
    f.ty(v) == Type::F64
        && f.op(v).is_some_and(is_such)
        && f.operands(v).all(|operand| f.operand_type(operand) == Type::F64)
}

/// Returns whether a loop is entered where a strip of it failed: it was cut before.
pub(super) fn is_cut(f: &Function, facts: &FusionAnalyses<'_>, l: LoopId) -> bool {
    let mut pending = vec![facts.forest.get(l).header];
    let mut seen = pending.clone();
    while let Some(block) = pending.pop() {
        for edge in f.in_edges(block).filter(|edge| !facts.forest.contains(l, edge.from)) {
            let condition = f.operand(Value::terminator(edge.from), 0).and_then(Operand::as_value);
            if condition.is_some_and(|v| f.op(v) == Some(mem::MAP)) {
                return true;
            }
            // A preheader may stand between.
            if f.body(edge.from).next().is_none() && !seen.contains(&edge.from) {
                seen.push(edge.from);
                pending.push(edge.from);
            }
        }
    }
    false
}
