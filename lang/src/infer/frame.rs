//! The state of inferring one specialisation: what is known of each value of the lowered body,
//! and what is to be emitted for it.
//!
//! For each instruction there is a [`Plan`]: the steps that it comes down to (an op, a direct call,
//! a dynamic call, several of them) and what of it is the result. Emission follows the plans and
//! decides nothing again. All of them lie in two vectors, so that an instruction costs no
//! allocation; what a block that is looked at again leaves behind is reclaimed with the frame.

use std::rc::Rc;
use std::sync::Arc;

use regraft_ir::{Attrs, Block, Function, Op, Operand, OperandKind, Type, Value};
use smallvec::SmallVec;

use super::lattice::Lattice;
use crate::definition::Space;
use crate::world::SpecId;

/// The arguments of a call.
pub(super) type Args = SmallVec<[Arg; 6]>;

/// An operand of a step: one of the lowered body, or the result of a step of the same frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arg {
    /// A value of the lowered body, or a constant.
    Operand(Operand),
    /// The result of the step of that number.
    Step(u32),
}

impl<T: Into<Operand>> From<T> for Arg {
    fn from(operand: T) -> Self {
        Self::Operand(operand.into())
    }
}

/// The kind of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepKind {
    /// An op, with the type that is declared for its result if it takes one.
    Op(Op, Type),
    /// Calls a specialisation.
    Call(SpecId),
    /// Calls the first of two specialisations, and if that fails, the other one with the error.
    Try(SpecId, SpecId),
    /// Begins two alternatives: the steps up to [`StepKind::Else`] are for the case that the operand holds.
    If,
    /// Ends the first alternative, whose result is the operand, and begins the second one.
    Else,
    /// Ends the second alternative, whose result is the operand.
    EndIf,
}

/// One thing to do.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The action.
    pub kind: StepKind,
    /// Its operands: a range of [`Frame::args`].
    pub args: (u32, u32),
    /// The lattice value of its result; [`Lattice::Bottom`] if it does not return.
    pub result: Lattice,
    /// Its attributes.
    pub attrs: Attrs,
}

/// The plan of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// A range of [`Frame::steps`].
    pub steps: (u32, u32),
    /// Its result.
    pub result: Option<Arg>,
}

impl Plan {
    const NONE: Self = Self { steps: (0, 0), result: None };
}

/// The order in which the blocks of a lowered body are looked at.
#[derive(Debug)]
pub struct Order {
    /// The reachable blocks in reverse postorder.
    pub blocks: Vec<Block>,
    /// The place of each block in it, by index of the block.
    pub place: Vec<u32>,
    /// True if an edge goes back.
    pub has_loop: bool,
}

impl Order {
    /// Finds it. O(size of the function).
    pub fn of(f: &Function) -> Self {
        // As [`regraft_ir::ControlFlow`], in which successors are visited in order; an edge goes
        // back if its target is on the way here.
        const ON_THE_WAY: u32 = u32::MAX - 1;
        let mut place = vec![u32::MAX; f.block_capacity()];
        let mut blocks = Vec::with_capacity(place.len());
        let mut has_loop = false;
        let mut stack: SmallVec<[_; 16]> = SmallVec::new();
        if let Some(entry) = f.entry() {
            place[entry.index()] = ON_THE_WAY;
            stack.push((entry, f.out_edges(entry)));
        }
        while let Some((block, edges)) = stack.last_mut() {
            let Some(edge) = edges.next() else {
                place[block.index()] = 0;
                blocks.push(*block);
                stack.pop();
                continue;
            };
            let target = f.edge_target(edge);
            match place[target.index()] {
                u32::MAX => {
                    place[target.index()] = ON_THE_WAY;
                    stack.push((target, f.out_edges(target)));
                }
                ON_THE_WAY => has_loop = true,
                _ => {}
            }
        }
        blocks.reverse();
        for (i, block) in blocks.iter().enumerate() {
            place[block.index()] = i as u32;
        }
        Self { blocks, place, has_loop }
    }
}

/// The facts of a block.
#[derive(Clone, Copy, Default, Debug)]
struct BlockState {
    /// True if control gets to it.
    reached: bool,
    /// True if control gets to its end.
    completes: bool,
    /// True if it is to be looked at (again).
    queued: bool,
}

/// The state of inferring one specialisation.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Its kind.
    pub spec: SpecId,
    /// The space in which names in it are looked up.
    pub(super) space: Space,
    /// Its lowered body.
    pub body: Arc<Function>,
    /// The order in which its blocks are looked at.
    pub order: Rc<Order>,
    /// The lattice value of each value, by index.
    pub values: Vec<Lattice>,
    /// The plan of each instruction, by index of its value, and behind them for each terminator, by
    /// index of its block; the result of the latter is the condition.
    plans: Vec<Plan>,
    /// The facts of each block, by its place in the order.
    blocks: Vec<BlockState>,
    /// No block before this place is queued.
    pub(super) first_queued: usize,
    /// The steps of all plans.
    pub steps: Vec<Step>,
    /// The operands of all steps.
    pub args: Vec<Arg>,
    /// The lattice value of the result.
    pub result: Lattice,
    /// True if a call that is not needed for its result can be left away.
    pub effect_free: bool,
    /// True if calls are decided when they run.
    pub(super) is_late: bool,
    /// The dependencies of its result.
    pub(super) dependencies: Vec<SpecId>,
}

impl Frame {
    pub(super) fn new(
        spec: SpecId,
        space: Space,
        body: Arc<Function>,
        order: Rc<Order>,
    ) -> Box<Self> {
        let mut frame = Box::new(Self {
            spec,
            space,
            body,
            order,
            values: Vec::new(),
            plans: Vec::new(),
            blocks: Vec::new(),
            first_queued: 0,
            steps: Vec::new(),
            args: Vec::new(),
            result: Lattice::Bottom,
            effect_free: true,
            is_late: false,
            dependencies: Vec::new(),
        });
        frame.clear();
        frame
    }

    /// Uses the memory of a frame that is done with for another specialisation.
    pub(super) fn reuse(
        mut self: Box<Self>,
        spec: SpecId,
        space: Space,
        body: Arc<Function>,
        order: Rc<Order>,
    ) -> Box<Self> {
        (self.spec, self.space, self.body, self.order) = (spec, space, body, order);
        self.dependencies.clear();
        self.clear();
        self
    }

    /// Returns what emission needs, in as much memory as it takes; the frame can be used again.
    /// Frames wait for emission in great numbers, and what grew by doubling is half empty.
    pub(super) fn compact(&mut self) -> Box<Self> {
        self.dependencies.clear();
        Box::new(self.clone())
    }

    /// Forgets what is known, to begin again. What was depended on stays.
    pub(super) fn clear(&mut self) {
        let (values, blocks) = (self.body.value_capacity(), self.body.block_capacity());
        self.values.clear();
        self.values.resize(values, Lattice::Bottom);
        self.plans.clear();
        self.plans.resize(values + blocks, Plan::NONE);
        self.blocks.clear();
        self.blocks.resize(self.order.blocks.len(), BlockState::default());
        self.first_queued = 0;
        self.steps.clear();
        self.args.clear();
        self.result = Lattice::Bottom;
        self.effect_free = !self.order.has_loop;
        self.is_late = false;
    }

    /// Returns the lattice value of an operand.
    #[inline]
    pub fn lattice(&self, arg: Arg) -> Lattice {
        match arg {
            Arg::Step(step) => self.steps[step as usize].result,
            Arg::Operand(operand) => match operand.kind() {
                OperandKind::Const(constant) => Lattice::Const(constant),
                OperandKind::Value(v) => self.values[v.index()],
                OperandKind::Block(_) => Lattice::Bottom,
            },
        }
    }

    /// The operands of a step.
    #[inline]
    pub fn step_args(&self, step: &Step) -> &[Arg] {
        &self.args[step.args.0 as usize..step.args.1 as usize]
    }

    /// Returns whether control gets to a block.
    pub fn is_reached(&self, block: Block) -> bool {
        let place = self.order.place[block.index()];
        place != u32::MAX && self.blocks[place as usize].reached
    }

    /// Notes that control gets to a block; whether that is news.
    pub(super) fn reach(&mut self, place: usize) -> bool {
        !std::mem::replace(&mut self.blocks[place].reached, true)
    }

    /// Returns whether control gets to the end of the block at a place of the order.
    pub fn completes(&self, place: usize) -> bool {
        self.blocks[place].completes
    }

    pub(super) fn set_completes(&mut self, place: usize, completes: bool) {
        self.blocks[place].completes = completes;
    }

    /// Returns the plan of an instruction.
    #[inline]
    pub fn plan(&self, v: Value) -> Plan {
        self.plans[v.index()]
    }

    /// Returns the plan of a block's terminator.
    #[inline]
    pub fn leaving(&self, block: Block) -> Plan {
        self.plans[self.values.len() + block.index()]
    }

    pub(super) fn set_plan(&mut self, v: Value, first_step: u32, result: Arg) {
        let steps = (first_step, self.steps.len() as u32);
        self.plans[v.index()] = Plan { steps, result: Some(result) };
    }

    pub(super) fn set_leaving(&mut self, block: Block, first_step: u32, condition: Option<Arg>) {
        let steps = (first_step, self.steps.len() as u32);
        let index = self.values.len() + block.index();
        self.plans[index] = Plan { steps, result: condition };
    }

    pub(super) fn queue(&mut self, place: usize) {
        self.blocks[place].queued = true;
        self.first_queued = self.first_queued.min(place);
    }

    /// The next block to look at.
    pub(super) fn next(&mut self) -> Option<usize> {
        let place =
            (self.first_queued..self.blocks.len()).find(|&place| self.blocks[place].queued)?;
        self.blocks[place].queued = false;
        self.first_queued = place;
        Some(place)
    }

    /// Lets the blocks that use a value be looked at again.
    pub(super) fn queue_users(&mut self, body: &Function, v: Value, home: Block) {
        for u in body.uses(v) {
            let block = body.block_of(u.user);
            let place = self.order.place[block.index()];
            if block != home && place != u32::MAX && self.blocks[place as usize].reached {
                self.queue(place as usize);
            }
        }
    }

    /// Adds a step.
    pub(super) fn push(
        &mut self,
        kind: StepKind,
        args: &[Arg],
        result: Lattice,
        attrs: Attrs,
    ) -> Arg {
        let start = self.args.len() as u32;
        for &arg in args {
            // What is constant is a constant, wherever it came from.
            let arg = self.canonical(arg);
            self.args.push(arg);
        }
        let step = self.steps.len() as u32;
        self.steps.push(Step { kind, args: (start, self.args.len() as u32), result, attrs });
        Arg::Step(step)
    }

    /// The constant in place of what is known to be one.
    #[inline]
    pub fn canonical(&self, arg: Arg) -> Arg {
        match self.lattice(arg) {
            Lattice::Const(constant) => Arg::Operand(constant.into()),
            _ => arg,
        }
    }
}
