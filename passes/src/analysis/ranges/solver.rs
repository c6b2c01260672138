//! The fixpoint: what is known of every value, and which edges can be taken.
//!
//! First upward, from nothing: blocks are visited when an edge to them can be taken, instructions
//! anew when an operand changes, or something that a branch has compared it with, and each value
//! changes a few times at most, because what keeps growing is widened. Then downward: in one or two sweeps in reverse postorder, everything is
//! computed again from what was found, with all that branches say.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use regraft_dialects::mem;
use regraft_ir::{
    Block, ControlFlow, DominatorTree, Edge, Function, Operand, OperandKind, Use, Value,
};

use smallvec::SmallVec;

use super::branches::{Branches, Constraint, Dependent, conditions, may_follow};
use super::contents::Contents;
use super::transfer::{LatticeValue, edges_taken, transfer};
use super::widening::{MAX_CHANGES, WIDENING_DELAY, widened};
use super::{Interval, LoopForest};
use crate::analysis::block_list::places;

pub(crate) struct Solver<'a> {
    pub(super) f: &'a Function,
    pub(super) tree: &'a DominatorTree,
    pub(super) forest: &'a LoopForest,
    pub(super) branches: &'a Branches,
    /// By [`Value::index`].
    pub(super) known: Vec<LatticeValue>,
    pub(super) changes: Vec<u8>,
    contents: Contents,
    pub(super) queued: Vec<bool>,
    /// True if branches may say something of an operand, or it changed too often.
    pub(super) refined: Vec<bool>,
    /// True if a block can be reached, by [`Block::index`].
    pub(super) visited: Vec<bool>,
    /// The index in `taken` where the operands of the terminator of a block begin.
    pub(super) start: Vec<u32>,
    /// True if an edge can be taken, by the position of its target.
    pub(super) taken: Vec<bool>,
    /// The place of a block in an order in which loops are not left before all of them was looked
    /// at: [`LoopForest::order`].
    pub(super) place: Vec<u32>,
    /// Blocks with something to be looked at, by their place.
    pub(super) blocks: BinaryHeap<Reverse<(u32, Block)>>,
    /// True if a block is among them.
    pub(super) waiting: Vec<bool>,
    /// The block whose instructions are being looked at, and whether for the first time.
    pub(super) scanned: Option<(Block, bool)>,
    /// Operands of terminators that changed.
    pub(super) operands: VecDeque<(Block, u32)>,
    /// True if an edge goes back to a block.
    pub(super) is_header: Vec<bool>,
    /// True if nothing grows any more.
    pub(super) settled: bool,
}

/// The result of the solver.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solution {
    pub(crate) known: Vec<LatticeValue>,
    pub(crate) visited: Vec<bool>,
    pub(crate) start: Vec<u32>,
    pub(crate) taken: Vec<bool>,
}

impl<'a> Solver<'a> {
    pub(crate) fn solve(
        f: &'a Function,
        cfg: &'a ControlFlow,
        tree: &'a DominatorTree,
        forest: &'a LoopForest,
        branches: &'a Branches,
    ) -> Solution {
        let place = places(f, forest.order());
        let mut start = vec![0; f.block_capacity()];
        let mut total = 0;
        for block in f.blocks() {
            start[block.index()] = total;
            total += f.operand_count(Value::terminator(block)) as u32;
        }
        let mut is_header = vec![false; f.block_capacity()];
        for block in cfg.reverse_postorder() {
            for target in f.successors(block) {
                is_header[target.index()] |= cfg.rpo_index(target) <= cfg.rpo_index(block);
            }
        }
        let mut solver = Self {
            f,
            tree,
            forest,
            branches,
            known: vec![LatticeValue::Unseen; f.value_capacity()],
            changes: vec![0; f.value_capacity()],
            contents: Contents::collect(f),
            queued: vec![false; f.value_capacity()],
            refined: vec![false; f.value_capacity()],
            visited: vec![false; f.block_capacity()],
            start,
            taken: vec![false; total as usize],
            place,
            blocks: BinaryHeap::new(),
            waiting: vec![false; f.block_capacity()],
            scanned: None,
            operands: VecDeque::new(),
            is_header,
            settled: false,
        };
        solver.ascend();
        solver.descend();
        let Self { known, visited, start, taken, .. } = solver;
        Solution { known, visited, start, taken }
    }

    fn of(&self, operand: Operand) -> LatticeValue {
        known_of(self.f, &self.known, operand)
    }

    /// Returns what is known of an operand at the start of a block, and so everywhere in it.
    #[inline]
    pub(super) fn at(&self, block: Block, operand: Operand) -> LatticeValue {
        let known = self.of(operand);
        match operand.as_value() {
            Some(v) if self.branches.has_constraint(v) => self.with_said(block, v, known),
            _ => known,
        }
    }

    /// Returns what is known of a value with what the branches before a block say.
    fn with_said(&self, block: Block, v: Value, known: LatticeValue) -> LatticeValue {
        match known {
            LatticeValue::Unseen | LatticeValue::Const(_) => known,
            LatticeValue::Int(Interval { lo, hi }) if lo == hi => known,
            _ => {
                let said = self.branches.at(self.tree, block, v);
                refine(self.f, v, known, said, |other| self.bound(v, other))
            }
        }
    }

    /// The same at the end of an edge.
    pub(super) fn on_edge(&self, edge: Edge, operand: Operand) -> LatticeValue {
        let known = self.at(edge.from, operand);
        match operand.as_value() {
            Some(v)
                if edge.position > 0
                    && known != LatticeValue::Unseen
                    && self.branches.is_on_edges(v) =>
            {
                let said = conditions(self.f, edge).into_iter();
                let said = said.filter_map(|(of, said)| (of == v).then_some(said));
                refine(self.f, v, known, said, |other| self.bound(v, other))
            }
            _ => known,
        }
    }

    /// Returns what is known of what `v` is compared with. While that still grows, it is used only
    /// where `v` is asked again ([`Branches::dependents`]).
    fn bound(&self, v: Value, other: Value) -> Interval {
        let all = Interval::of_type(self.f.ty(other));
        if !self.settled && !may_follow(self.f, self.forest, v, other) {
            return all;
        }
        self.known[other.index()].interval().unwrap_or(all)
    }

    fn ascend(&mut self) {
        let Some(entry) = self.f.entry() else { return };
        for param in self.f.params(entry) {
            self.known[param.index()] = LatticeValue::of_type(self.f.ty(param));
        }
        self.reach(entry);
        loop {
            if let Some((block, index)) = self.operands.pop_front() {
                self.operand_changed(block, index);
            } else if let Some(Reverse((_, block))) = self.blocks.pop() {
                self.waiting[block.index()] = false;
                let again = std::mem::replace(&mut self.visited[block.index()], true);
                self.visit(block, !again);
            } else {
                return;
            }
        }
    }

    /// Has a block looked at, for the first time or again.
    fn push(&mut self, block: Block) {
        if !std::mem::replace(&mut self.waiting[block.index()], true) {
            self.blocks.push(Reverse((self.place[block.index()], block)));
        }
    }

    fn reach(&mut self, block: Block) {
        if !self.visited[block.index()] {
            self.push(block);
        }
    }

    /// Looks at the instructions of a block of which an operand changed; the first time, at all.
    fn visit(&mut self, block: Block, first: bool) {
        self.scanned = Some((block, first));
        for v in self.f.body(block) {
            if std::mem::replace(&mut self.queued[v.index()], false) || first {
                self.evaluate(v, block);
            }
        }
        self.scanned = None;
        if first {
            self.leave(block);
        }
    }

    fn evaluate(&mut self, v: Value, block: Block) {
        if let Some(known) = self.contents.loaded(self.f, v) {
            self.raise(v, known);
            return;
        }
        let known = &self.known;
        if let Some(array) = self.contents.write(self.f, v, |value| known[value.index()]) {
            self.reload(array);
        }
        let mentioned = std::cell::Cell::new(false);
        let known = transfer(self.f, v, |operand| {
            let known = self.of(operand);
            match operand.as_value() {
                Some(x) if self.branches.has_constraint(x) => {
                    mentioned.set(true);
                    self.with_said(block, x, known)
                }
                _ => known,
            }
        });
        self.refined[v.index()] |= mentioned.get();
        self.raise(v, known);
    }

    /// Takes the edges of a block that can be taken by now.
    fn leave(&mut self, block: Block) {
        let f = self.f;
        let term = Value::terminator(block);
        if f.op(term).is_none() {
            return;
        }
        let mut numbers: SmallVec<[usize; 4]> = SmallVec::new();
        edges_taken(f, term, |operand| self.at(block, operand), |number| numbers.push(number));
        numbers.sort_unstable();
        let mut wanted = numbers.into_iter().peekable();
        for (number, edge) in f.out_edges(block).enumerate() {
            if wanted.peek() != Some(&number) {
                continue;
            }
            wanted.next();
            let slot = (self.start[block.index()] + edge.position) as usize;
            if std::mem::replace(&mut self.taken[slot], true) {
                continue;
            }
            let target = f.edge_target(edge);
            for (param, arg) in f.params(target).zip(f.edge_args(edge)) {
                self.pass(edge, param, arg);
            }
            self.reach(target);
        }
    }

    /// Lets an argument flow into a parameter.
    fn pass(&mut self, edge: Edge, param: Value, arg: Operand) {
        let known = argument(self.f, param, arg, self.on_edge(edge, arg));
        let joined = self.known[param.index()].join(known, self.f);
        self.raise(param, joined);
    }

    /// Takes over what is known of a value, and has its users looked at if that is news.
    fn raise(&mut self, v: Value, new: LatticeValue) {
        let f = self.f;
        let old = self.known[v.index()];
        if new == old {
            return;
        }
        let home = f.block_of(v);
        // What a value dominates has not been looked at before its block has.
        let is_first = self.scanned == Some((home, true)) || !self.visited[home.index()];
        if old == LatticeValue::Unseen && is_first {
            self.changes[v.index()] = 1;
            self.known[v.index()] = new;
            return;
        }
        let changes = &mut self.changes[v.index()];
        *changes = changes.saturating_add(1);
        let new = match (old, new) {
            _ if *changes > MAX_CHANGES => {
                self.refined[v.index()] = true;
                LatticeValue::of_type(f.ty(v))
            }
            (LatticeValue::Int(old), LatticeValue::Int(new)) => {
                let new = old.join(new);
                let widens =
                    *changes > WIDENING_DELAY && f.is_param(v) && self.is_header[home.index()];
                LatticeValue::Int(if widens {
                    widened(old, new, Interval::of_type(f.ty(v)))
                } else {
                    new
                })
            }
            _ => old.join(new, f),
        };
        if new == old {
            return;
        }
        self.known[v.index()] = new;
        for at in f.uses(v) {
            // In the block that is being looked at, users are still to come.
            self.wake(at, f.block_of(at.user));
        }
        for dependent in self.branches.dependents(v) {
            match dependent {
                Dependent::Users(of, from) => {
                    for at in f.uses(of) {
                        let block = f.block_of(at.user);
                        if self.tree.dominates(from, block) {
                            self.wake(at, block);
                        }
                    }
                }
                Dependent::Argument(from, index) if self.visited[from.index()] => {
                    self.operands.push_back((from, index));
                }
                Dependent::Argument(..) => {}
            }
        }
    }

    /// Has all loads of an array looked at again.
    fn reload(&mut self, array: Value) {
        let f = self.f;
        for at in f.uses(array).filter(|at| f.op(at.user) == Some(mem::LOAD)) {
            let block = f.block_of(at.user);
            self.wake(at, block);
            // One that stands before the store that is being looked at.
            if self.queued[at.user.index()] {
                self.push(block);
            }
        }
    }

    /// Has a user in `block` looked at again.
    fn wake(&mut self, Use { user, index }: Use, block: Block) {
        if !self.visited[block.index()] {
            return;
        }
        if !user.is_terminator() {
            let queued = std::mem::replace(&mut self.queued[user.index()], true);
            if !queued && self.scanned.is_none_or(|(scanned, _)| scanned != block) {
                self.push(block);
            }
        } else if self.scanned != Some((block, true)) {
            self.operands.push_back((block, index));
        }
    }

    /// An operand of a terminator changed: what it decides on, or the argument of an edge.
    fn operand_changed(&mut self, block: Block, index: u32) {
        let f = self.f;
        let term = Value::terminator(block);
        let before: SmallVec<[Operand; 8]> = f.operands(term).take(index as usize).collect();
        let Some(position) = before.iter().rposition(|operand| operand.is_block()) else {
            self.leave(block);
            return;
        };
        let edge = Edge { from: block, position: position as u32 };
        if !self.taken[(self.start[block.index()] + edge.position) as usize] {
            return;
        }
        let number = index as usize - position - 1;
        let param = f.param(f.edge_target(edge), number);
        if let (Some(param), Some(arg)) = (param, f.operand(term, index as usize)) {
            self.pass(edge, param, arg);
        }
    }
}

/// Returns what an argument brings to a parameter, which may be of a more general type.
pub(super) fn argument(
    f: &Function,
    param: Value,
    arg: Operand,
    known: LatticeValue,
) -> LatticeValue {
    let ty = f.operand_type(arg);
    if ty == f.ty(param) || known == LatticeValue::Unseen {
        return known;
    }
    match known.constant(f, ty) {
        Some(constant) => LatticeValue::Const(f.constant_id(constant)),
        None => LatticeValue::of_type(f.ty(param)),
    }
}

/// Returns what is known of a value with what is said of it.
pub(crate) fn refine(
    f: &Function,
    v: Value,
    known: LatticeValue,
    said: impl Iterator<Item = Constraint>,
    bound: impl Fn(Value) -> Interval,
) -> LatticeValue {
    let ty = f.ty(v);
    said.fold(known, |known, said| {
        let more = match (said, known) {
            (Constraint::Within(within), _) => LatticeValue::Int(within),
            (Constraint::Not(x), LatticeValue::Int(range)) if range.lo < range.hi => {
                LatticeValue::Int(Interval {
                    lo: range.lo + i64::from(range.lo == x),
                    hi: range.hi - i64::from(range.hi == x),
                })
            }
            (Constraint::Order(relation, other), _) => {
                match relation.bounds(bound(other), Interval::of_type(ty)) {
                    Some(bounds) => LatticeValue::Int(bounds),
                    None => return known,
                }
            }
            (Constraint::Float(kinds), _) => LatticeValue::Float(kinds),
            _ => return known,
        };
        known.meet(more)
    })
}

/// Returns what is known of an operand anywhere.
#[inline]
pub(crate) fn known_of(f: &Function, known: &[LatticeValue], operand: Operand) -> LatticeValue {
    match operand.kind() {
        OperandKind::Value(v) => match known.get(v.index()) {
            Some(&known) => known,
            None => LatticeValue::of_type(f.ty(v)),
        },
        OperandKind::Const(id) => LatticeValue::of_constant(id, f.ctx().constant(id)),
        OperandKind::Block(_) => LatticeValue::Any,
    }
}
