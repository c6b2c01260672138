//! Jump threading: an edge on which the outcome of the next branch is known goes to where that
//! leads.
//!
//! ```text
//! ^1(%1: bool):                        ^1(%1: bool):
//!   br %1, ^2, ^3(false)                 br %1, ^2, ^5
//! ^2:                                  ^2:
//!   %2: bool = call @g()         =>      %2: bool = call @g()
//!   br ^3(%2)                            br %2, ^4, ^5
//! ^3(%3: bool):
//!   br %3, ^4, ^5
//! ```
//!
//! # Method
//! For each edge into a block that ends with a branch or a switch, the few instructions of the
//! block are folded with what the edge passes. On an edge of a branch on `%c`, and behind a block
//! that only such an edge enters, `%c` itself is known too. If that decides the branch, the edge
//! goes to the target that it decides for. Instructions that are not folded are copied to a new
//! block on the way.
//!
//! A block whose branch every edge decides is split into paths, even if that copies more: what one of
//! two arms computed is then not behind a parameter any more for what comes after.
//!
//! # Why it is right
//! The path through the new edge runs what the path through the block ran. Where a value of the
//! block is used further down, it has two definitions now, and
//! [`ssa_repair`](crate::transforms::util::ssa_repair) makes parameters of it. The header of a loop is
//! never bypassed, and neither is any other block that an edge goes back to: so an edge that enters
//! a loop still goes to its header, and no loop
//! becomes irreducible.
//!
//! # Cost
//! O(blocks + edge arguments): what is folded, copied and repaired for an edge is bounded.

use regraft_ir::{
    Block, ControlFlow, Edge, Fold, Function, Inst, InstView, IrResult, MAX_OPERANDS, Operand,
    Traits, Type, Value, ValueDef,
};
use smallvec::SmallVec;

use super::branches::taken;
use super::live::is_live_behind;
use crate::transforms::util::edit::{name_copy, only_edge_into};
use crate::transforms::util::ssa_repair::repair;

/// The most instructions that are folded, so that few need to be copied.
const FOLDED: usize = 8;

/// The most blocks between a branch and an edge on which its outcome is looked for.
const MAX_BETWEEN: usize = 4;

/// The most instructions that are copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// For an edge, whatever is known of the others.
    pub(super) edge: usize,
    /// For an edge into a block whose branch every edge decides, so that the block is split into paths.
    pub(super) split: usize,
}

/// Lets edges bypass blocks that branch as the edge decides. Returns how many. O(size).
pub(super) fn thread_jumps(f: &mut Function, cfg: &ControlFlow, limits: Limits) -> IrResult<usize> {
    let copied = copied_at_most(f, cfg, limits);
    if copied.iter().all(Option::is_none) {
        return Ok(0);
    }
    let mut threaded = 0;
    for block in cfg.reverse_postorder() {
        threaded += thread_from(f, block, &copied)?;
    }
    Ok(threaded)
}

/// Returns how many instructions of each block may be copied where it is bypassed, if it may be: it
/// chooses between edges, and no edge goes back to it.
fn copied_at_most(f: &Function, cfg: &ControlFlow, limits: Limits) -> Vec<Option<usize>> {
    let mut copied = vec![None; f.block_capacity()];
    for block in cfg.reverse_postorder() {
        let several = f.out_edges(block).nth(1).is_some();
        if !several
            || Some(block) == f.entry()
            || !f.in_edges(block).all(|edge| cfg.rpo_index(edge.from) < cfg.rpo_index(block))
        {
            continue;
        }
        copied[block.index()] = if f.body(block).nth(FOLDED).is_none() {
            Some(limits.edge)
        } else if may_split(f, block, limits.split) {
            Some(limits.split)
        } else {
            None
        };
    }
    copied
}

/// Returns whether every edge decides the branch at the end of a block, which does not make objects: of an
/// object that one of two copies makes, less would be known.
fn may_split(f: &Function, block: Block, limit: usize) -> bool {
    let allocates = |v: Value| f.op_def(v).is_some_and(|def| def.effects.allocates);
    let decided_on = f.terminator(block).and_then(|term| f.operand(term, 0));
    let decides = |edge| condition_on(f, edge, block).map(|(v, _)| v.into()) == decided_on;
    f.body(block).nth(limit).is_none()
        && f.in_edges(block).all(decides)
        && !f.body(block).any(allocates)
}

/// The new target of an edge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decision {
    Stay,
    /// It goes to where the block would go.
    Direct,
    /// It goes to a new block, with what has to be run on the way.
    Through(Block),
}

/// Rewrites the terminator of a block, if edges of it can go elsewhere. Returns how many do.
fn thread_from(f: &mut Function, from: Block, copied: &[Option<usize>]) -> IrResult<usize> {
    let limit_of = |block: Block| copied.get(block.index()).copied().flatten();
    if !f.successors(from).any(|block| limit_of(block).is_some()) {
        return Ok(0);
    }
    let count = f.out_edges(from).count();
    let mut decisions: SmallVec<[Decision; 2]> = SmallVec::new();
    let mut last = from;
    for nth in 0..count {
        // Repairs move the edges of this block within its operands.
        let edge = f.out_edges(from).nth(nth).expect("the edges stay");
        let thread = limit_of(f.edge_target(edge)).and_then(|limit| Thread::new(f, edge, limit));
        decisions.push(match thread {
            None => Decision::Stay,
            Some(thread) if thread.is_direct() => Decision::Direct,
            Some(thread) => {
                last = thread.build(f, last)?;
                Decision::Through(last)
            }
        });
    }
    if decisions.iter().all(|&decision| decision == Decision::Stay) {
        return Ok(0);
    }
    // All edges are rewritten at once, so that a switch with many costs no more than they are.
    let term = Value::terminator(from);
    let op = f.op(term).expect("a terminator is an instruction");
    let mut operands: Vec<Operand> = f.plain_operands(term).collect();
    let mut threaded = 0;
    for (edge, decision) in f.out_edges(from).zip(decisions) {
        let thread = match decision {
            Decision::Direct => Thread::new(f, edge, 0).filter(Thread::is_direct),
            _ => None,
        };
        match (decision, thread) {
            (Decision::Through(block), _) => operands.push(block.into()),
            (_, Some(thread)) => {
                operands.push(thread.target.into());
                operands.extend(thread.args(f));
            }
            _ => {
                operands.push(f.edge_target(edge).into());
                operands.extend(f.edge_args(edge));
                continue;
            }
        }
        threaded += 1;
    }
    if operands.len() <= MAX_OPERANDS {
        f.set_terminator(from, Inst::new(op).with_attrs(f.attrs(term)).operands(operands))?;
        return Ok(threaded);
    }
    Ok(0)
}

/// An edge, and what the block that it enters does then.
struct Thread {
    edge: Edge,
    /// The block that is bypassed.
    around: Block,
    /// The edge that is taken.
    taken: Edge,
    target: Block,
    /// A condition that is known on the edge.
    known: Option<(Value, Operand)>,
    /// The constants that instructions of the block fold to.
    folded: SmallVec<[(Value, Operand); 4]>,
    /// The instructions that have to be copied.
    copied: SmallVec<[Value; 4]>,
    /// Values of the block that are used where the target leads.
    repairs: Vec<Value>,
}

impl Thread {
    /// Returns what is known of an edge, if it decides what comes next and that is cheap enough.
    fn new(f: &Function, edge: Edge, limit: usize) -> Option<Self> {
        let around = f.edge_target(edge);
        let decided_on = f.operand(f.terminator(around)?, 0)?;
        let known = condition_on(f, edge, around);
        let mut thread = Self {
            edge,
            around,
            taken: edge,
            target: around,
            known,
            folded: SmallVec::new(),
            copied: SmallVec::new(),
            repairs: Vec::new(),
        };
        // Mostly nothing is known, and that is seen here.
        let computed =
            decided_on.as_value().is_some_and(|v| f.block_of(v) == around && !f.is_param(v));
        if !computed && thread.value_of(f, decided_on).as_const().is_none() {
            return None;
        }
        for v in f.body(around) {
            match thread.fold(f, v) {
                Some(result) => thread.folded.push((v, result)),
                None if thread.copied.len() == limit || thread.changes_types(f, v) => return None,
                None => thread.copied.push(v),
            }
        }
        thread.taken = taken(f, around, thread.value_of(f, decided_on))?;
        thread.target = f.edge_target(thread.taken);
        for v in f.params(around).chain(f.body(around)) {
            if is_live_behind(f, v, edge.from, thread.target)? {
                thread.repairs.push(v);
            }
        }
        Some(thread)
    }

    /// Returns whether nothing needs to be done on the way.
    fn is_direct(&self) -> bool {
        self.copied.is_empty() && self.repairs.is_empty()
    }

    /// Returns what stands for a value of the block on the edge. What is copied stands for itself.
    fn value_of(&self, f: &Function, operand: Operand) -> Operand {
        let Some(v) = operand.as_value() else { return operand };
        match f.def(v) {
            ValueDef::Param(block, position) if block == self.around => {
                f.edge_arg(self.edge, position as usize).unwrap_or(operand)
            }
            _ => {
                let mut pairs = self.known.iter().chain(&self.folded);
                pairs.find(|(from, _)| *from == v).map_or(operand, |&(_, to)| to)
            }
        }
    }

    /// Returns what an instruction is on the edge, if that is known, and was not known before.
    fn fold(&self, f: &Function, v: Value) -> Option<Operand> {
        let fold = f.op_def(v)?.fold?;
        let operands: SmallVec<[Operand; 4]> =
            f.operands(v).map(|operand| self.value_of(f, operand)).collect();
        if f.operands(v).eq(operands.iter().copied()) {
            return None;
        }
        let types: SmallVec<[Type; 4]> = operands.iter().map(|&o| f.operand_type(o)).collect();
        let (attrs, ty) = (f.attrs(v), f.ty(v));
        let def = f.op_def(v)?;
        let view = InstView { ctx: f.ctx(), def, operands: &operands, types: &types, attrs, ty };
        // What the signature refuses traps, and what is `any` may.
        if types.contains(&Type::ANY) || view.result_type().is_err() {
            return None;
        }
        match fold(&view)? {
            Fold::Constant(constant) => Some(f.constant_id(constant).into()),
            Fold::Operand(position) => operands.get(position).copied(),
        }
    }

    /// Returns whether an operand of a copy would be of another type, so that its result might be
    /// too.
    fn changes_types(&self, f: &Function, v: Value) -> bool {
        f.operands(v).any(|o| f.operand_type(self.value_of(f, o)) != f.operand_type(o))
    }

    /// Returns what the edge passes when it goes to the target, nothing being copied.
    fn args(&self, f: &Function) -> SmallVec<[Operand; 4]> {
        f.edge_args(self.taken).map(|arg| self.value_of(f, arg)).collect()
    }

    /// Makes a block after `last` which does what has to be done on the way, and lets what is
    /// used further down have two definitions.
    fn build(mut self, f: &mut Function, last: Block) -> IrResult<Block> {
        let block = f.add_block_after(last)?;
        let term = Value::terminator(self.around);
        for v in std::mem::take(&mut self.copied) {
            let op = f.op(v).expect("parameters are not copied");
            let operands: SmallVec<[Operand; 4]> =
                f.operands(v).map(|operand| self.value_of(f, operand)).collect();
            let inst = Inst::new(op).with_attrs(f.attrs(v)).with_type(f.ty(v)).operands(operands);
            let copy = f.push(block, inst.at(f.loc(v)).made_from(v))?;
            name_copy(f, v, copy)?;
            // Others may have been folded to the instruction.
            for (_, result) in self.folded.iter_mut().filter(|(_, result)| *result == v.into()) {
                *result = copy.into();
            }
            self.folded.push((v, copy.into()));
        }
        let jump = Inst::new(f.jump_op()?).edge(self.target, self.args(f)).at(f.loc(term));
        f.set_terminator(block, jump)?;
        for &v in &self.repairs {
            let defs = [(self.around, v.into()), (block, self.value_of(f, v.into()))];
            let mut users: Vec<Value> = f.uses(v).map(|at| at.user).collect();
            users.sort_unstable();
            users.dedup();
            repair(f, v, &defs, &users)?;
        }
        Ok(block)
    }
}

/// A condition that is true or false on an edge: because the edge is one of a branch on it, or
/// because the blocks that it leaves are only entered by such an edge.
fn condition_on(f: &Function, mut edge: Edge, target: Block) -> Option<(Value, Operand)> {
    let mut between: SmallVec<[Block; MAX_BETWEEN]> = SmallVec::new();
    // A jump has one edge, in front of which no operand stands.
    while edge.position == 0 {
        if between.len() == MAX_BETWEEN {
            return None;
        }
        between.push(edge.from);
        edge = only_edge_into(f, edge.from)?;
    }
    let term = f.terminator(edge.from)?;
    let condition = f.operand(term, 0)?.as_value()?;
    if !f.op_def(term)?.traits.contains(Traits::JUMP) || f.ty(condition) != Type::BOOL {
        return None;
    }
    // Of a value of these blocks, a former one may be meant.
    let home = f.block_of(condition);
    if home == target || between.contains(&home) {
        return None;
    }
    let mut edges = f.out_edges(edge.from);
    let (first, second) = (edges.next()?, edges.next()?);
    if f.edge_target(first) == f.edge_target(second) {
        return None;
    }
    Some((condition, f.constant_id(edge == first).into()))
}
