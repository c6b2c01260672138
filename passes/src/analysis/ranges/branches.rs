//! The facts that branches give: in a block that only one edge enters, and in all that it dominates,
//! the condition of that edge holds.
//!
//! They are the facts for which e-SSA (Bodik, Gupta, Sarkar: "ABCD: eliminating array bounds checks
//! on demand", PLDI 2000, section 3) gives values new names. Here nothing is renamed: the facts of a
//! value stand in a list, ordered by the dominator tree, and those that hold in a block are
//! found by a binary search and a walk along the nearest enclosing ones.

use regraft_dialects::{arith, cf};
use regraft_ir::{
    Block, Constant, DominatorTree, Edge, Function, Op, Operand, Traits, Type, Value,
};
use smallvec::SmallVec;

use super::super::comparison::{opposite, swapped};
use super::super::{FloatKinds, LoopForest};
use super::Interval;
use crate::analysis::block_list::places;
use crate::analysis::conditions::entering_edge;

/// The most parts of a condition that are looked at, and the most facts on one value.
const MAX: usize = 12;

/// The order of a value and another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Relation {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
}

/// A constraint on a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Constraint {
    /// It is in the interval.
    Within(Interval),
    /// It is not this integer.
    Not(i64),
    /// It compares so with another value.
    Order(Relation, Value),
    /// It is one of these floats.
    Float(FloatKinds),
}

/// The constraints on some values.
pub(crate) type Conditions = SmallVec<[(Value, Constraint); 4]>;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Fact {
    value: Value,
    /// The block in which it holds, with everything that this dominates.
    block: Block,
    said: Constraint,
    /// The nearest fact on the same value that holds wherever this does.
    outer: u32,
}

/// A dependent that is asked again when more becomes possible for a value that others are compared
/// with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dependent {
    /// The users of a value in the blocks that a block dominates.
    Users(Value, Block),
    /// The argument at a place of the operands of the terminator of a block.
    Argument(Block, u32),
}

/// Returns whether a value can be asked again each time that more becomes possible for another one:
/// not if that one varies in a loop which the value comes from outside of, as there may be many
/// such.
pub(crate) fn may_follow(f: &Function, forest: &LoopForest, v: Value, other: Value) -> bool {
    let varies_in = forest.loop_of(f.block_of(other));
    varies_in.is_none_or(|l| forest.contains(l, f.block_of(v)))
}

/// The facts of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Branches {
    facts: Vec<Fact>,
    /// The range of the facts on a value, by [`Value::index`]: its first one, and the one behind its last.
    of_value: Vec<(u32, u32)>,
    /// True if the condition of an edge with arguments says something of a value, by [`Value::index`].
    on_edges: Vec<bool>,
    /// The dependents of values with which others are compared, in the order of these values.
    dependents: Vec<(Value, Dependent)>,
    /// True if there is any of that, by [`Value::index`].
    is_limit: Vec<bool>,
    /// The place of blocks in the order of the dominator tree.
    place: Vec<u32>,
}

impl Branches {
    pub(crate) fn collect(f: &Function, tree: &DominatorTree, forest: &LoopForest) -> Self {
        let place = places(f, tree.order());
        let mut entering = vec![None; f.block_capacity()];
        for &block in tree.order() {
            entering[block.index()] = entering_edge(f, tree, block);
        }
        let (mut facts, mut dependents) = (Vec::new(), Vec::new());
        let mut on_edges = vec![false; f.value_capacity()];
        for &from in tree.order() {
            for (number, edge) in f.out_edges(from).enumerate() {
                if edge.position == 0 {
                    break;
                }
                let block = f.edge_target(edge);
                let is_only = entering[block.index()] == Some(edge);
                let has_args = f.edge_args(edge).next().is_some();
                if !is_only && !has_args {
                    continue;
                }
                let mut said = conditions(f, edge);
                for &(value, said) in &said {
                    on_edges[value.index()] |= has_args;
                    let Constraint::Order(_, other) = said else { continue };
                    if !may_follow(f, forest, value, other) {
                        continue;
                    }
                    if is_only {
                        dependents.push((other, Dependent::Users(value, block)));
                    }
                    for (i, arg) in f.edge_args(edge).enumerate() {
                        if arg == value.into() {
                            let index = edge.position + 1 + i as u32;
                            dependents.push((other, Dependent::Argument(from, index)));
                        }
                    }
                }
                if !is_only {
                    continue;
                }
                said.extend(case(f, from, number));
                let fact = |(value, said)| Fact { value, block, said, outer: NONE };
                facts.extend(said.into_iter().map(fact));
            }
        }
        // Stable, so that nothing depends on how it is sorted.
        facts.sort_by_key(|fact| (fact.value.index(), place[fact.block.index()]));
        let mut of_value = vec![(0, 0); if facts.is_empty() { 0 } else { f.value_capacity() }];
        let mut open: Vec<u32> = Vec::new();
        for i in 0..facts.len() {
            let (fact, next) = (facts[i], i as u32 + 1);
            match &mut of_value[fact.value.index()] {
                (_, end) if *end == i as u32 && i > 0 => *end = next,
                whole => {
                    *whole = (i as u32, next);
                    open.clear();
                }
            }
            while open.last().is_some_and(|&o| !tree.dominates(facts[o as usize].block, fact.block))
            {
                open.pop();
            }
            facts[i].outer = open.last().copied().unwrap_or(NONE);
            open.push(i as u32);
        }
        dependents.sort_by_key(|&(other, _)| other);
        let mut is_limit = vec![false; if dependents.is_empty() { 0 } else { f.value_capacity() }];
        dependents.iter().for_each(|(other, _)| is_limit[other.index()] = true);
        Self { facts, of_value, on_edges, dependents, is_limit, place }
    }

    /// Returns what has to be asked again when more becomes possible for `other`, which others are
    /// compared with.
    pub(crate) fn dependents(&self, other: Value) -> impl Iterator<Item = Dependent> + '_ {
        let is_limit = self.is_limit.get(other.index()) == Some(&true);
        let rest = if is_limit { &self.dependents[..] } else { &[] };
        let start = rest.partition_point(|&(of, _)| of < other);
        rest[start..].iter().take_while(move |&&(of, _)| of == other).map(|&(_, what)| what)
    }

    /// Returns whether anything is said of a value anywhere. O(1).
    #[inline]
    pub(crate) fn has_constraint(&self, v: Value) -> bool {
        self.of_value.get(v.index()).is_some_and(|(start, end)| start < end)
    }

    /// Returns whether the condition of an edge with arguments says something of a value. O(1).
    #[inline]
    pub(crate) fn is_on_edges(&self, v: Value) -> bool {
        self.on_edges.get(v.index()) == Some(&true)
    }

    /// The blocks where something is said of values from there on, with these values.
    pub(crate) fn places(&self) -> impl Iterator<Item = (Block, Value)> + '_ {
        self.facts.iter().map(|fact| (fact.block, fact.value))
    }

    /// Returns what is said of a value at the start of a block, the nearest first; not more than a
    /// few.
    pub(crate) fn at<'a>(
        &'a self,
        tree: &'a DominatorTree,
        block: Block,
        v: Value,
    ) -> impl Iterator<Item = Constraint> + 'a {
        let (start, end) = self.of_value.get(v.index()).copied().unwrap_or_default();
        let of_value = &self.facts[start as usize..end as usize];
        let place = |block: Block| self.place[block.index()];
        let before = of_value.partition_point(|fact| place(fact.block) <= place(block));
        let mut at = if before == 0 { NONE } else { start + before as u32 - 1 };
        let mut steps = 2 * MAX;
        std::iter::from_fn(move || {
            loop {
                steps = steps.checked_sub(1)?;
                let fact = self.facts.get(at as usize)?;
                at = fact.outer;
                if tree.dominates(fact.block, block) {
                    return Some(fact.said);
                }
            }
        })
    }
}

/// Returns what holds when an edge of a branch on a condition is taken.
pub(crate) fn conditions(f: &Function, edge: Edge) -> Conditions {
    let mut said = Conditions::new();
    let term = Value::terminator(edge.from);
    if edge.position > 0
        && let Some(Some(condition)) = f.operand(term, 0).map(Operand::as_value)
        && f.op_def(term).is_some_and(|def| def.traits.contains(Traits::JUMP))
    {
        collect(f, condition, edge.position == 1, &mut said);
    }
    said
}

/// Returns what holds when edge number `number` of a switch is taken; the default is number 0.
fn case(f: &Function, from: Block, number: usize) -> Option<(Value, Constraint)> {
    let term = Value::terminator(from);
    if f.op(term) != Some(cf::SWITCH) || number == 0 {
        return None;
    }
    let subject = f.operand(term, 0)?.as_value().filter(|&v| f.ty(v).is_int())?;
    let case = f.constant(f.operand(term, number)?)?.as_int()?;
    Some((subject, Constraint::Within(Interval::single(case))))
}

/// Collects the facts that follow from a bool being `holds`.
fn collect(f: &Function, condition: Value, holds: bool, said: &mut Conditions) {
    let mut todo: SmallVec<[(Value, bool); 8]> = SmallVec::from_slice(&[(condition, holds)]);
    let mut looked_at = 0;
    while let Some((v, holds)) = todo.pop() {
        looked_at += 1;
        if f.ty(v) != Type::BOOL || looked_at > MAX {
            continue;
        }
        said.push((v, Constraint::Within(Interval::single(holds.into()))));
        let (Some(op), Some(x)) = (f.op(v), f.operand(v, 0)) else { continue };
        let y = f.operand(v, 1);
        match (op, y) {
            (arith::NOT, _) => todo.extend(x.as_value().map(|x| (x, !holds))),
            (arith::AND | arith::OR, Some(y)) if holds == (op == arith::AND) => {
                todo.extend([x, y].into_iter().filter_map(Operand::as_value).map(|x| (x, holds)));
            }
            (arith::ISNAN | arith::ISINF | arith::ISFINITE, _) => {
                let kinds = match op {
                    arith::ISNAN => FloatKinds::NAN,
                    arith::ISINF => FloatKinds::INFINITE,
                    _ => !(FloatKinds::INFINITE | FloatKinds::NAN),
                };
                say_float(f, x, if holds { kinds } else { !kinds }, said);
            }
            (_, Some(y)) => compare(f, op, (x, y), holds, said),
            _ => {}
        }
    }
}

fn say_float(f: &Function, x: Operand, kinds: FloatKinds, said: &mut Conditions) {
    if let Some(v) = x.as_value()
        && f.ty(v).is_float()
    {
        said.push((v, Constraint::Float(kinds)));
    }
}

fn compare(f: &Function, op: Op, (x, y): (Operand, Operand), holds: bool, said: &mut Conditions) {
    let (tx, ty) = (f.operand_type(x), f.operand_type(y));
    if tx != ty {
        return;
    }
    if tx.is_float() {
        compare_floats(f, op, (x, y), holds, said);
        return;
    }
    if !tx.is_int() {
        return;
    }
    let relation = match if holds { op } else { opposite(op) } {
        arith::LT => Some(Relation::Less),
        arith::LE => Some(Relation::AtMost),
        arith::GT => Some(Relation::Greater),
        arith::GE => Some(Relation::AtLeast),
        arith::EQ => Some(Relation::Equal),
        arith::NE => None,
        _ => return,
    };
    say_int(f, x, relation, y, said);
    say_int(f, y, relation.map(Relation::flipped), x, said);
}

/// `x` compares so with `y`; without a relation, they differ.
fn say_int(
    f: &Function,
    x: Operand,
    relation: Option<Relation>,
    y: Operand,
    said: &mut Conditions,
) {
    let Some(v) = x.as_value() else { return };
    let constant = f.constant(y).and_then(Constant::as_int);
    let what = match (relation, constant, y.as_value()) {
        (None, Some(c), _) => Constraint::Not(c),
        (Some(relation), Some(c), _) => {
            match relation.bounds(Interval::single(c), Interval::of_type(f.ty(v))) {
                Some(bounds) => Constraint::Within(bounds),
                None => return,
            }
        }
        (Some(relation), None, Some(other)) => Constraint::Order(relation, other),
        _ => return,
    };
    said.push((v, what));
}

impl Relation {
    fn flipped(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::AtMost => Self::AtLeast,
            Self::Greater => Self::Less,
            Self::AtLeast => Self::AtMost,
            Self::Equal => Self::Equal,
        }
    }

    /// Returns what compares so with something in `other`, of what is in `all`; `None` if nothing
    /// does.
    pub(crate) fn bounds(self, other: Interval, all: Interval) -> Option<Interval> {
        let (lo, hi) = match self {
            Self::Less => (all.lo, other.hi.checked_sub(1)?),
            Self::AtMost => (all.lo, other.hi),
            Self::Greater => (other.lo.checked_add(1)?, all.hi),
            Self::AtLeast => (other.lo, all.hi),
            Self::Equal => (other.lo, other.hi),
        };
        (lo <= hi).then_some(Interval { lo, hi })?.meet(all)
    }
}

/// Comparisons of a float with zero, or with anything if it says that there is no NaN.
fn compare_floats(
    f: &Function,
    op: Op,
    (x, y): (Operand, Operand),
    holds: bool,
    said: &mut Conditions,
) {
    type K = FloatKinds;
    let ordered = matches!(op, arith::LT | arith::LE | arith::GT | arith::GE);
    for (x, op, y) in [(x, op, y), (y, swapped(op), x)] {
        let with_zero = f.constant(y).and_then(Constant::as_float).is_some_and(|y| y == 0.0);
        let kinds = match op {
            arith::LT if with_zero => K::NEGATIVE,
            arith::LE if with_zero => K::NEGATIVE | K::ZERO,
            arith::GT if with_zero => K::POSITIVE,
            arith::GE if with_zero => K::POSITIVE | K::ZERO,
            arith::EQ if with_zero => K::ZERO,
            arith::NE if with_zero => !K::ZERO,
            _ if ordered || op == arith::EQ => !K::NAN,
            _ => continue,
        };
        if holds {
            say_float(f, x, kinds, said);
        } else if with_zero {
            say_float(f, x, !kinds, said);
        }
    }
}
