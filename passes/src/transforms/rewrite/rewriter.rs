//! The queue of instructions, what is known of values, and the edits.

use std::collections::VecDeque;
use std::sync::Arc;

use regraft_ir::{
    Constant, DominatorTree, Function, Inst, IrResult, Op, Operand, ResultType, Traits, Value,
};
use smallvec::SmallVec;

use super::known::{Cost, Known};
use super::replacement::{Place, Replacement, replacement, saved};
use crate::PassContext;
use crate::analysis::traps::{may_trap, may_trap_given};
use crate::analysis::{LoopForest, Ranges};
use crate::rewrite::{
    Facts, Math, RuleIndex, Signature, Subject, facts_of, facts_of_value, is_term, literal_as,
    matches,
};

/// The most ways in which one rule is matched against one instruction.
const MAX_MATCHES: usize = 5;
/// The generations of instructions that rules make which leave the cost as it is.
const MAX_GENERATIONS: u8 = 8;
/// The most users of a changed value that are looked at again.
const MAX_REVISITS: usize = 64;

/// The state of the rewriting of one function.
pub(super) struct Rewriter<'a> {
    known: Known,
    rules: &'a RuleIndex,
    /// True if rules are used that leave the cost as it is.
    ties: bool,
    /// By [`Value::index`], how often a value was replaced at the same cost.
    generations: Vec<u8>,
    /// Instructions that rules are to be tried on.
    queue: VecDeque<Value>,
    /// By [`Value::index`], what is in the queue.
    waiting: Vec<bool>,
    /// The depth of the largest pattern.
    depth: usize,
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(
        f: &Function,
        cx: &mut PassContext<'_>,
        rules: &'a RuleIndex,
        math: Math,
        ties: bool,
    ) -> Self {
        let capacity = f.value_capacity();
        let known = Known {
            ctx: Arc::clone(f.ctx()),
            math,
            stand_ins: f.all_values().take(4).collect(),
            forest: cx.analysis::<LoopForest>(f),
            facts: vec![None; capacity],
            stays: vec![false; capacity],
        };
        let mut this = Self {
            known,
            rules,
            ties,
            generations: vec![0; capacity],
            queue: VecDeque::new(),
            waiting: vec![false; capacity],
            depth: rules.depth(),
        };
        let (dom, ranges) = (cx.analysis::<DominatorTree>(f), cx.analysis::<Ranges>(f));
        for &block in dom.order() {
            for v in f.params(block) {
                this.known.note(v, facts_of_value(f, &ranges, v));
            }
            for v in f.body(block) {
                this.wait(v);
                let known = facts_of_value(f, &ranges, v);
                // Of integers, ranges say as much as their operands.
                let more = f.ty(v).is_float() || may_trap(f, v);
                let Some(op) = f.op(v).filter(|_| more && is_term(f, v)) else {
                    this.known.note(v, known);
                    continue;
                };
                let operands: SmallVec<[Operand; 4]> = f.operands(v).collect();
                let args: SmallVec<[Facts; 4]> =
                    operands.iter().map(|&operand| this.known.facts(f, operand)).collect();
                let same = operands.len() == 2 && operands[0] == operands[1];
                this.known.note(v, facts_of(op, f.ty(v), &args, same).and(known));
                this.known.stays[v.index()] = may_trap(f, v)
                    && may_trap_given(f, v, &ranges.facts(f, block))
                    && !this.known.is_in_domain(op, &args);
            }
        }
        this
    }

    /// Rewrites until nothing is left to do; returns the number of rewrites.
    pub(super) fn run(&mut self, f: &mut Function) -> IrResult<u64> {
        let mut rewritten = 0;
        while let Some(v) = self.queue.pop_front() {
            self.waiting[v.index()] = false;
            if f.is_live(v)
                && f.is_used(v)
                && let Some(best) = self.best(f, v)
            {
                self.apply(f, v, &best)?;
                rewritten += 1;
            }
        }
        Ok(rewritten)
    }

    /// The replacement of an instruction that saves most.
    fn best(&self, f: &Function, v: Value) -> Option<Replacement> {
        f.op(v).filter(|_| is_term(f, v) && !self.known.stays[v.index()])?;
        let args: SmallVec<[Operand; 4]> = f.operands(v).collect();
        let mut best: Option<(Cost, Replacement)> = None;
        let signatures = signatures(f, &args);
        for number in candidates(f, self.rules, v, &args, &signatures) {
            let rule = self.rules.rule(number);
            for bindings in matches(&Operands(f), &self.known.ctx, rule, &args, MAX_MATCHES) {
                let Some(mut made) = replacement(&self.known, f, v, rule, &bindings) else {
                    continue;
                };
                let gain = saved(&self.known, f, v, &made) - made.cost;
                let ties = gain == Cost::default();
                // With fewer instructions than matched, others may be left without a use in the end.
                let may_tie = (self.ties || made.nodes.len() < rule.from().size())
                    && !rule.is_both_ways()
                    && self.generations[v.index()] < MAX_GENERATIONS;
                if ties && !may_tie
                    || gain < Cost::default()
                    || best.as_ref().is_some_and(|(most, _)| *most >= gain)
                {
                    continue;
                }
                made.ties = ties;
                best = Some((gain, made));
            }
        }
        best.map(|(_, replacement)| replacement)
    }

    /// Puts a replacement in the place of `v`.
    fn apply(&mut self, f: &mut Function, v: Value, made: &Replacement) -> IrResult<()> {
        let generation = self.generations[v.index()] + u8::from(made.ties);
        let before: SmallVec<[Value; 4]> = f.operands(v).filter_map(Operand::as_value).collect();
        let mut values: SmallVec<[Operand; 4]> = SmallVec::new();
        for (i, node) in made.nodes.iter().enumerate() {
            let operand = |place: &Place| match *place {
                Place::Operand(operand) => operand,
                Place::New(i) => values[i],
            };
            let operands = node.args.iter().map(operand);
            let mut inst = Inst::new(node.op).operands(operands).at(f.loc(v)).made_from(v);
            if matches!(self.known.ctx.def(node.op).result, ResultType::Declared) {
                inst = inst.with_type(node.ty);
            }
            let value = if made.result == Place::New(i) {
                f.replace(v, inst)?;
                v
            } else {
                f.insert(v, inst)?
            };
            values.push(value.into());
            self.note(value, node.facts, generation);
            self.wait(value);
        }
        match made.result {
            Place::Operand(result) => {
                self.wait_users(f, v);
                f.replace_named(v, result)?;
                f.delete(v)?;
            }
            Place::New(_) => self.wait_users(f, v),
        }
        self.delete_unused(f, before)
    }

    /// Deletes what is used no more, and what only that needs.
    fn delete_unused(
        &mut self,
        f: &mut Function,
        mut values: SmallVec<[Value; 4]>,
    ) -> IrResult<()> {
        while let Some(v) = values.pop() {
            if !f.is_live(v) {
                continue;
            }
            if !f.is_used(v) && self.known.is_removable(f, v) {
                values.extend(f.operands(v).filter_map(Operand::as_value));
                f.delete(v)?;
            } else if f.uses(v).take(3).count() <= 2 {
                // The last user may be able to do without it now.
                self.wait_users(f, v);
            }
        }
        Ok(())
    }

    /// Notes a value that was made, or made anew.
    fn note(&mut self, v: Value, facts: Facts, generation: u8) {
        self.known.note(v, facts);
        if self.waiting.len() <= v.index() {
            self.known.stays.resize(v.index() + 1, false);
            self.generations.resize(v.index() + 1, 0);
            self.waiting.resize(v.index() + 1, false);
        }
        self.generations[v.index()] = generation;
    }

    fn wait(&mut self, v: Value) {
        if !v.is_terminator() && !std::mem::replace(&mut self.waiting[v.index()], true) {
            self.queue.push_back(v);
        }
    }

    /// Puts everything in the queue whose patterns reach `v`.
    fn wait_users(&mut self, f: &Function, v: Value) {
        let mut level: Vec<Value> = vec![v];
        let mut left = MAX_REVISITS;
        for _ in 1..self.depth {
            let mut next = Vec::new();
            for v in level {
                let users = f.uses_in_order(v);
                next.extend(users.into_iter().map(|at| at.user).filter(|u| !u.is_terminator()));
            }
            next.truncate(left);
            left -= next.len();
            next.iter().for_each(|&user| self.wait(user));
            level = next;
        }
    }
}

/// Returns whether a rule may match an instruction, by its operands.
pub(super) fn may_match(f: &Function, rules: &RuleIndex, v: Value) -> bool {
    let args: SmallVec<[Operand; 4]> = f.operands(v).collect();
    candidates(f, rules, v, &args, &signatures(f, &args)).next().is_some()
}

/// The numbers of the rules that may match an instruction, by its operands.
fn candidates<'r>(
    f: &Function,
    rules: &'r RuleIndex,
    v: Value,
    args: &[Operand],
    signatures: &'r [Signature],
) -> impl Iterator<Item = u32> + 'r {
    let same = args.len() > 1 && args[0] == args[1];
    let op = f.op(v).map(|op| (op, f.ctx().def(op).traits.contains(Traits::COMMUTATIVE)));
    let (ty, op) = (f.ty(v), op.into_iter());
    op.flat_map(move |(op, commute)| rules.of_operands(op, ty, signatures, same, commute))
}

fn signatures(f: &Function, args: &[Operand]) -> SmallVec<[Signature; 4]> {
    let signature = |&arg: &Operand| match arg.as_value() {
        Some(v) => f.op(v).map_or_else(Signature::default, Signature::of_op),
        None => f.constant(arg).map_or_else(Signature::default, Signature::of_constant),
    };
    args.iter().map(signature).collect()
}

/// The operands of a function as what rules are matched against: each is the result of at most one
/// node.
struct Operands<'a>(&'a Function);

impl Subject for Operands<'_> {
    type Place = Operand;
    type Args<'a>
        = SmallVec<[Operand; 4]>
    where
        Self: 'a;

    fn same(&self, a: Operand, b: Operand) -> bool {
        a == b
    }

    fn is_constant(&self, operand: Operand) -> bool {
        operand.as_value().is_none()
    }

    fn is_literal(&self, operand: Operand, literal: Constant) -> bool {
        let constant = self.0.constant(operand);
        constant.is_some() && literal_as(literal, self.0.operand_type(operand)) == constant
    }

    fn node_count(&self, operand: Operand) -> usize {
        operand.as_value().map_or(0, |v| usize::from(is_term(self.0, v)))
    }

    fn args_of(&self, operand: Operand, _: usize, op: Op) -> Option<SmallVec<[Operand; 4]>> {
        let v = operand.as_value()?;
        (self.0.op(v) == Some(op)).then(|| self.0.operands(v).collect())
    }
}
