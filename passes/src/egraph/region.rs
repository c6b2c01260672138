//! A function as an e-graph: the classes of its values, and what needs them.

use regraft_dialects::arith;
use regraft_ir::{Block, DominatorTree, Function, Op, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::builder::{Builder, Source};
use super::divisors::shows_divisor;
use super::extraction::{Extraction, extract};
use super::graph::{Args, Class};
use super::saturation::{Alternatives, Limits, Saturation};
use crate::analysis::traps::{excluded_after, may_trap, may_trap_given, outside_of_domain};
use crate::analysis::{FloatKinds, Ranges};
use crate::rewrite::{RuleIndex, facts_of_value, is_term};

/// The most checks of a class that are looked at.
const MAX_CHECKS: usize = 8;

/// The whole of a function.
pub(super) struct Region<'a> {
    pub(super) builder: Builder<'a>,
    /// By [`Value::index`], the class of what is in the graph.
    pub(super) class_of: Vec<Option<Class>>,
    /// By [`Value::index`], instructions that stay even if nobody needs their values: they may trap.
    pub(super) stays: Vec<bool>,
    /// The floats that classes are none of, and the blocks from which on this is known.
    checked: FxHashMap<Class, SmallVec<[(Block, FloatKinds); 2]>>,
    /// By [`Class::index`], whether the program computes a class.
    pub(super) own: Vec<bool>,
    /// The classes that instructions with effects use, once for each use.
    pub(super) roots: Vec<Class>,
}

impl<'a> Region<'a> {
    /// Makes the graph of a function: with limits, by saturation, else by rules applied once. `None`
    /// if the rules contradict each other.
    pub(super) fn new(
        source: Source<'a>,
        entry: Block,
        ranges: &Ranges,
        saturates: Option<Limits>,
    ) -> Option<Self> {
        let region = match saturates {
            None => Self::read(source, entry, ranges, None),
            Some(limits) => {
                let plain = Source { rules: RuleIndex::empty(), ..source };
                let own = Self::read(plain, entry, ranges, None);
                let mut found =
                    Saturation { source, limits }.run(&own.builder.graph, &own.class_of)?;
                Self::read(plain, entry, ranges, Some(&mut found))
            }
        };
        (!region.builder.graph.is_contradictory()).then_some(region)
    }

    /// Chooses a node for each class.
    pub(super) fn extract(&self) -> Extraction {
        extract(&self.builder.graph, &self.own, &self.builder.costs, &self.roots)
    }

    /// Makes the nodes of a function, in preorder of the dominator tree. `alternatives` has others for
    /// them, besides what the rules of `source` find.
    fn read(
        source: Source<'a>,
        entry: Block,
        ranges: &Ranges,
        mut alternatives: Option<&mut Alternatives<'_>>,
    ) -> Self {
        let f = source.f;
        let mut this = Self {
            builder: Builder::new(source, entry),
            class_of: vec![None; f.value_capacity()],
            stays: vec![false; f.value_capacity()],
            checked: FxHashMap::default(),
            own: Vec::new(),
            roots: Vec::new(),
        };
        for &block in source.dom.order() {
            for v in f.params(block).chain(f.body(block)) {
                let class = match is_term(f, v) {
                    true => this.instruction(source, block, v, ranges, alternatives.as_deref_mut()),
                    false => {
                        let class = this.builder.leaf(v, facts_of_value(f, ranges, v));
                        if let Some(alternatives) = &mut alternatives {
                            alternatives.enter(v, block, class);
                        }
                        class
                    }
                };
                this.class_of[v.index()] = Some(class);
            }
        }
        this.own.resize(this.builder.graph.class_count(), false);
        this.find_roots(f);
        this
    }

    fn instruction(
        &mut self,
        source: Source<'_>,
        block: Block,
        v: Value,
        ranges: &Ranges,
        alternatives: Option<&mut Alternatives<'_>>,
    ) -> Class {
        let f = source.f;
        let op = f.op(v).expect("a term has an op");
        let args = self.args(f, v);
        let traps = may_trap(f, v)
            && may_trap_given(f, v, &ranges.facts(f, block))
            && !self.builder.is_in_domain(op, &args);
        if op == arith::FDIV && self.builder.is_real() && shows_divisor(f, v) {
            self.builder.note_nonzero(args[1], block);
        }
        if traps && !self.is_checked(source.dom, block, op, &args) {
            self.stays[v.index()] = true;
            self.roots.extend_from_slice(&args);
            let excluded = excluded_after(f, v);
            if !excluded.is_empty() {
                self.checked.entry(args[0]).or_default().push((block, excluded));
            }
        }
        let mut class = self.builder.instruction(v, block, op, args, traps);
        if let Some(alternatives) = alternatives {
            class = alternatives.of(&mut self.builder, v, block, class);
        }
        self.own.resize(self.builder.graph.class_count(), false);
        self.own[class.index()] = true;
        class
    }

    /// Returns whether an instruction with this argument would have trapped already.
    fn is_checked(&self, dom: &DominatorTree, block: Block, op: Op, args: &[Class]) -> bool {
        let Some(outside) = outside_of_domain(op) else { return false };
        let checks = self.checked.get(&args[0]).into_iter().flatten().rev().take(MAX_CHECKS);
        let here = checks.filter(|&&(from, _)| dom.dominates(from, block));
        here.fold(FloatKinds::empty(), |all, &(_, excluded)| all | excluded).contains(outside)
    }

    /// The classes of the operands of an instruction.
    fn args(&mut self, f: &Function, v: Value) -> Args {
        f.operands(v)
            .filter_map(|operand| match operand.as_value() {
                Some(u) => self.class_of[u.index()],
                None => operand.as_const().map(|constant| self.builder.constant(constant)),
            })
            .collect()
    }

    /// Adds the operands of what is no node.
    fn find_roots(&mut self, f: &Function) {
        for v in f.all_insts() {
            let in_graph =
                self.class_of.get(v.index()).is_some_and(Option::is_some) && is_term(f, v);
            if !v.is_terminator() && in_graph {
                continue;
            }
            for operand in f.operands(v) {
                let class = operand.as_value().and_then(|u| self.class_of[u.index()]);
                self.roots.extend(class);
            }
        }
    }
}
