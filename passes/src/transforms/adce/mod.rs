//! Drops what nothing depends on, branches included.
//!
//! ```text
//! ^1:                                        ^1:
//!   br %1, ^2, ^3                              br ^4
//! ^2:
//!   %3: i64 = arith.mul %2, 3
//!   br ^4(%3)                          =>
//! ^3:
//!   br ^4(0)
//! ^4(%4: i64):                               ^4:
//!   return %2                                  return %2
//! ```
//!
//! # Method
//! Aggressive dead code elimination (Cytron et al., "Efficiently Computing Static Single Assignment
//! Form and the Control Dependence Graph", 1991, section 7.1), as LLVM's ADCE does it: everything
//! is dead until something live needs it. Live from the start are instructions that have an effect
//! or may trap, what ends a function, and the terminators that go back in a cycle. What is live
//! needs its operands, and the branches that decide whether its block runs; a live parameter needs
//! what edges pass for it, and the branches that decide by which edge its block is entered. A
//! branch that is not live jumps to the immediate post-dominator of its block, and what is dead
//! is deleted. What only writes to objects that nobody outside knows is dead until such an object
//! is looked at (`objects`): so arrays, refs and structs go that are only written. As what was
//! stored in them may be such objects too, this is repeated, up to a few times.
//!
//! # Why it is right
//! Nothing between a dead branch and the block where its ways meet again is live, nor is there a
//! cycle, as the terminators that close cycles are live, so every way leads there, soon, and does
//! nothing that can be noticed. An object that does not escape is known by what uses its values,
//! and what is written to it can be noticed by a live one of these alone. A live parameter of that
//! block would need the branch, unless all edges of the branch go there and pass the same.
//! Instructions that may trap stay, and where they stand still depends on what it did. Whether a
//! loop ends is decided by branches on which its latches depend, so that a loop that runs forever
//! still does.
//!
//! # Cost
//! O(size + edges log edges): each value, block and branch becomes live once
//! ([`Controllers`](crate::analysis) gives each branch out once), and wakes what waits for an object
//! once.

mod objects;

use regraft_ir::{
    Block, ControlFlow, Function, Inst, IrResult, Operand, Syntax, Traits, Value, ValueDef,
};

use crate::analysis::control_dependence::Controllers;
use crate::analysis::{Analyses, InstEffects, PostDominatorTree, inst_effects, may_be_object};
use crate::transforms::util::allocation_sites::is_allocation_site;
use crate::transforms::util::edit::delete_unreachable;
use crate::{FunctionPass, PassContext, PassResult};
use objects::LocalObjects;

/// Objects that hold others go before those; deeper ones than this wait for another run.
const MAX_ROUNDS: usize = 8;

const BRANCHES: &str = "branches dropped";
const BLOCKS: &str = "blocks dropped";
const INSTRUCTIONS: &str = "instructions dropped";
const PARAMETERS: &str = "parameters dropped";
pub(super) const WRITES: &str = "writes dropped";

/// Drops what is dead. Returns whether objects may be dead by now that were not before.
fn sweep(f: &mut Function, cx: &mut PassContext<'_>) -> IrResult<bool> {
    let cfg = cx.analysis::<ControlFlow>(f);
    let tree = cx.analysis::<PostDominatorTree>(f);
    let analyses = cx.analyses();
    let mark = Mark::new(f, &cfg, &tree, analyses).spread(analyses);
    let (live, live_terms) = (mark.values, mark.terminators);
    // A switch without cases has one edge, and still a value to look at.
    let is_jump = |block| f.plain_operands(Value::terminator(block)).next().is_none();
    let branches: Vec<Block> =
        cfg.reverse_postorder().filter(|&b| !live_terms[b.index()] && !is_jump(b)).collect();
    for &block in &branches {
        let Some(next) = tree.ipdom(block) else { continue };
        let jump = jump_to(f, block, next)?;
        f.set_terminator(block, jump)?;
        cx.count(BRANCHES);
    }
    let dead: Vec<Value> = f.all_values().filter(|v| !live[v.index()]).collect();
    let mut again = false;
    let parameters = dead.iter().filter(|&&v| f.is_param(v)).count();
    cx.add(PARAMETERS, parameters as u64);
    cx.add(INSTRUCTIONS, (dead.len() - parameters) as u64);
    for &v in &dead {
        if f.op_def(v).is_some_and(|def| def.effects.writes_anything()) {
            cx.count(WRITES);
            let is_object = |operand| may_be_object(f.ctx(), f.operand_type(operand));
            again |= f.plain_operands(v).skip(1).any(is_object);
        }
    }
    f.delete_all(&dead)?;
    if !branches.is_empty() {
        let unreachable = delete_unreachable(f, cx.analyses())?;
        cx.add(BLOCKS, unreachable as u64);
    }
    Ok(again)
}

/// A jump from `block` to the block where the ways of its dead branch meet.
fn jump_to(f: &Function, block: Block, next: Block) -> IrResult<Inst> {
    let edge = f.out_edges(block).find(|&edge| f.edge_target(edge) == next);
    let args: Vec<Operand> = match edge {
        Some(edge) => f.edge_args(edge).collect(),
        // Its parameters are dead and go presently, each with this argument.
        None => f.params(next).map(Operand::from).collect(),
    };
    Ok(Inst::new(f.jump_op()?).edge(next, args))
}

crate::pass! {
    /// Drops what nothing depends on, branches included.
    ///
    /// Everything is dead until something with an effect, something that may trap, or the end of
    /// the function needs it: values that only feed each other go, and so do branches between
    /// whose ways nothing is left. Loops stay, whether they end or not; `loop-delete` drops those
    /// that surely end. Arrays, refs and mutable structs that nobody else knows, and that are
    /// only written, go with what is written to them.
    ///
    /// ```text
    /// ^1:                                        ^1:
    ///   br %1, ^2, ^3                              br ^4
    /// ^2:
    ///   %3: i64 = arith.mul %2, 3
    ///   br ^4(%3)                          =>
    /// ^3:
    ///   br ^4(0)
    /// ^4(%4: i64):                               ^4:
    ///   return %2                                  return %2
    /// ```
    ///
    /// Unreachable blocks go. It costs O(size + edges log edges).
    #[derive(Debug, Default)]
    pub struct Adce;
}

impl FunctionPass for Adce {
    const NAME: &'static str = "adce";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        for count in [BRANCHES, BLOCKS, INSTRUCTIONS, PARAMETERS, WRITES] {
            cx.add(count, 0);
        }
        let unreachable = delete_unreachable(f, cx.analyses())?;
        cx.add(BLOCKS, unreachable as u64);
        for _ in 0..MAX_ROUNDS {
            if !sweep(f, cx)? {
                break;
            }
        }
        Ok(())
    }
}

struct Mark<'a> {
    f: &'a Function,
    controllers: Controllers<'a>,
    /// If there are any.
    objects: Option<LocalObjects<'a>>,
    /// Allocation sites, which stay if a dimension may be negative.
    sites: Vec<Value>,
    /// Blocks whose terminators are live, and which objects these look at is not known yet.
    ends: Vec<Block>,
    /// By [`Value::index`].
    values: Vec<bool>,
    /// By [`Block::index`]: whether the terminator decides something that matters.
    terminators: Vec<bool>,
    /// By [`Block::index`]: whether it matters if the block runs.
    blocks: Vec<bool>,
    pending_values: Vec<Value>,
    pending_blocks: Vec<Block>,
}

impl<'a> Mark<'a> {
    /// Marks what is live by itself.
    fn new(
        f: &'a Function,
        cfg: &'a ControlFlow,
        tree: &'a PostDominatorTree,
        analyses: &mut Analyses,
    ) -> Self {
        let summaries = analyses.effects().clone();
        let mut mark = Self {
            f,
            controllers: Controllers::new(f, cfg, tree),
            objects: None,
            sites: Vec::new(),
            ends: Vec::new(),
            values: vec![false; f.value_capacity()],
            terminators: vec![false; f.block_capacity()],
            blocks: vec![false; f.block_capacity()],
            pending_values: Vec::new(),
            pending_blocks: Vec::new(),
        };
        let mut noticed: Vec<(Value, InstEffects)> = Vec::new();
        let mut makes_objects = false;
        for block in cfg.reverse_postorder() {
            for v in f.body(block) {
                let effects = inst_effects(f, v, &summaries);
                makes_objects |= effects.allocates;
                if !effects.is_removable() {
                    noticed.push((v, effects));
                }
            }
            let goes_back =
                f.successors(block).any(|next| cfg.rpo_index(next) <= cfg.rpo_index(block));
            if goes_back || !only_chooses(f, block) {
                mark.reach_terminator(block);
            }
        }
        if let Some(entry) = f.entry() {
            f.params(entry).for_each(|param| mark.reach(param.into()));
        }
        let mut objects = makes_objects.then(|| LocalObjects::find(f, analyses, summaries));
        for (v, effects) in noticed {
            let waits = match &mut objects {
                _ if effects.allocates && is_allocation_site(f, v) => {
                    mark.sites.push(v);
                    true
                }
                Some(objects) if effects.writes_anything() => objects.defer(v, &effects),
                _ => false,
            };
            if !waits {
                mark.reach(v.into());
            }
        }
        mark.objects = objects;
        mark
    }

    fn reach(&mut self, operand: Operand) {
        if let Some(v) = operand.as_value()
            && !std::mem::replace(&mut self.values[v.index()], true)
        {
            self.pending_values.push(v);
        }
    }

    fn reach_block(&mut self, block: Block) {
        if !std::mem::replace(&mut self.blocks[block.index()], true) {
            self.pending_blocks.push(block);
        }
    }

    fn reach_terminator(&mut self, block: Block) {
        if !std::mem::replace(&mut self.terminators[block.index()], true) {
            self.f.plain_operands(Value::terminator(block)).for_each(|operand| self.reach(operand));
            self.reach_block(block);
            self.ends.push(block);
        }
    }

    fn spread(mut self, analyses: &mut Analyses) -> Self {
        let f = self.f;
        loop {
            if let Some(v) = self.pending_values.pop() {
                match f.def(v) {
                    ValueDef::Inst(block) => {
                        f.operands(v).for_each(|operand| self.reach(operand));
                        self.reach_block(block);
                        self.wake(v);
                    }
                    ValueDef::Param(block, position) => self.reach_param(block, position),
                }
            } else if let Some(block) = self.pending_blocks.pop() {
                while let Some(source) = self.controllers.next(block) {
                    self.reach_terminator(source);
                }
            } else if let Some(block) = self.ends.pop() {
                self.wake(Value::terminator(block));
            } else if let Some(v) = self.sites.pop() {
                // Asked last: most objects are used, and then it does not matter.
                let objects = self.objects.as_mut();
                let free = self.values[v.index()]
                    || objects.is_some_and(|objects| objects.is_made_freely(v, analyses));
                if !free {
                    self.reach(v.into());
                }
            } else {
                return self;
            }
        }
    }

    /// Makes live everything that is done to objects which `v`, which is live, looks at.
    fn wake(&mut self, v: Value) {
        let woken = self.objects.as_mut().map(|objects| objects.woken_by(v));
        woken.into_iter().flatten().for_each(|v| self.reach(v.into()));
    }

    /// A parameter needs what each edge passes, and that the block is entered by that edge.
    fn reach_param(&mut self, block: Block, position: u32) {
        let f = self.f;
        self.reach_block(block);
        for edge in f.in_edges(block) {
            let arg = |edge| f.edge_arg(edge, position as usize);
            let passed = arg(edge);
            passed.into_iter().for_each(|arg| self.reach(arg));
            self.reach_block(edge.from);
            let mut others = f.out_edges(edge.from).filter(|&other| f.edge_target(other) == block);
            if others.any(|other| arg(other) != passed) {
                self.reach_terminator(edge.from);
            }
        }
    }
}

/// Returns whether the terminator of a block does nothing but choose between edges.
fn only_chooses(f: &Function, block: Block) -> bool {
    let term = Value::terminator(block);
    let Some(def) = f.op_def(term) else { return false };
    let chooses = def.traits.contains(Traits::JUMP) || matches!(def.syntax, Syntax::Switch(_));
    chooses && !f.may_trap(term) && !def.effects.writes_anything()
}
