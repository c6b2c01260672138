//! Emission: from what was inferred of a specialisation to its typed function.
//!
//! The plans that inference made are followed in the order of the lowered code; only blocks that
//! control gets to are looked at. Small callees are expanded in place, constants are operands,
//! what a tuple was made of in sight is used in place of reading it. What nobody needs is left
//! out when the [`FunctionBuilder`] is finished.

mod builder;
mod inline;
mod module;
mod splits;

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use regraft_dialects::{cf, chunks, core as core_ops, data};
use regraft_ir::{
    Attrs, Block, Constant, Fold, Function, InstView, Loc, Op, Operand, OperandKind, Symbol, Type,
};
use smallvec::SmallVec;

use crate::definition::Space;
use crate::infer::{Arg, Frame, Inference, Lattice, Plan, StepKind};
use crate::world::SpecId;

use builder::{FunctionBuilder, Slot, Terminator};
pub(crate) use module::keep_reached;
use splits::Splits;

type Slots = SmallVec<[Slot; 6]>;

/// The state of emission: the position, and the emitted value of each inferred one.
struct Emission<'a> {
    frame: &'a Frame,
    builder: &'a mut FunctionBuilder,
    /// The slots of the lowered code.
    maps: Maps,
    /// The block of the function builder that is being written.
    at: u32,
    /// True if more is known than when it was inferred, by what was expanded.
    knows_more: bool,
}

/// The slots that stand for values, steps and blocks of the lowered code.
#[derive(Debug, Default)]
struct Maps {
    /// For each value of the lowered code, by index.
    values: Vec<Option<Slot>>,
    /// For the result of each step.
    steps: Vec<Option<Slot>>,
    /// The block that each block of the lowered code begins with.
    blocks: Vec<Option<u32>>,
}

impl Maps {
    fn clear(&mut self, values: usize, steps: usize, blocks: usize) {
        self.values.clear();
        self.values.resize(values, None);
        self.steps.clear();
        self.steps.resize(steps, None);
        self.blocks.clear();
        self.blocks.resize(blocks, None);
    }
}

/// Memory of emission that is used again.
#[derive(Default, Debug)]
pub(crate) struct Scratch {
    builders: RefCell<Vec<FunctionBuilder>>,
    maps: RefCell<Vec<Maps>>,
}

/// Emits the functions of what was inferred.
pub(crate) struct Emitter<'a> {
    inference: &'a mut Inference,
    scratch: &'a Scratch,
}

impl Deref for Emitter<'_> {
    type Target = Inference;

    fn deref(&self) -> &Inference {
        self.inference
    }
}

impl DerefMut for Emitter<'_> {
    fn deref_mut(&mut self) -> &mut Inference {
        self.inference
    }
}

impl<'a> Emitter<'a> {
    /// Emits from `inference`, in memory of `scratch`.
    pub(crate) fn new(inference: &'a mut Inference, scratch: &'a Scratch) -> Self {
        Self { inference, scratch }
    }

    /// The typed function of a specialisation; made when it is first asked for.
    pub(crate) fn function(&mut self, id: SpecId) -> Rc<Function> {
        if let Some(function) = &self.spec(id).function {
            return Rc::clone(function);
        }
        stacker::maybe_grow(128 << 10, 4 << 20, || self.emit(id))
    }

    /// The name of the function of a specialisation: `foo(Float64, Int64)`.
    pub(crate) fn name_of(&mut self, id: SpecId) -> Symbol {
        if let Some(name) = self.spec(id).name {
            return name;
        }
        let text = self.name_text(id);
        let mut name = self.ctx().symbol(&text);
        let mut count = 1;
        // Methods of closures of one name, and of constants that are shown alike; what stands for a
        // type function as a value, for some arguments, is not that function.
        while self.spec_by_name(name).is_some() || self.is_builtin(name) || self.is_replaced(name) {
            count += 1;
            name = self.ctx().symbol(&format!("{text}#{count}"));
        }
        self.set_name(id, name);
        name
    }

    fn name_text(&self, id: SpecId) -> String {
        let spec = self.spec(id);
        let mut text = String::with_capacity(64);
        text.push_str(self.ctx().str(spec.shown));
        if spec.method.is_none() && spec.key.is_empty() {
            return text;
        }
        text.push('(');
        let skip = usize::from(spec.takes_callee);
        for (i, &value) in spec.key.iter().skip(skip).enumerate() {
            let is_rest = spec.fixed == Some(i);
            if is_rest
                && matches!(self.partials.type_of(value), ty if self.ctx().kind(ty) == &regraft_ir::TypeKind::Tuple(Box::new([])))
            {
                break;
            }
            text.push_str(if i == 0 { "" } else { ", " });
            let shown = match self.partials.value(value) {
                Some(
                    constant @ (Constant::Sym(_)
                    | Constant::Bool(_)
                    | Constant::I64(_)
                    | Constant::F64(_)),
                ) => self.ctx().constant_text(constant),
                _ => {
                    let ty = self.partials.type_of(value);
                    match self.builtin_names.get(ty.index()) {
                        Some(name) => text.push_str(name),
                        None => text.push_str(&self.world.type_name(ty)),
                    }
                    continue;
                }
            };
            text.push_str(&shown);
        }
        text.push(')');
        text
    }

    fn emit(&mut self, id: SpecId) -> Rc<Function> {
        let spec = self.spec_for_emission(id);
        let frame = spec.frame.take().expect("what is emitted was inferred");
        spec.is_emitting = true;
        let mut builder = self.scratch.builders.borrow_mut().pop().unwrap_or_default();
        builder.clear();
        let body = &*frame.body;
        let mut emission = Emission {
            frame: &frame,
            builder: &mut builder,
            maps: self.scratch.maps.borrow_mut().pop().unwrap_or_default(),
            at: 0,
            knows_more: false,
        };
        emission.maps.clear(body.value_capacity(), frame.steps.len(), body.block_capacity());
        self.emit_blocks(&mut emission, id);
        let maps = emission.maps;
        self.scratch.maps.borrow_mut().push(maps);
        let name = self.name_of(id);
        let result = self.partials.type_of(self.spec(id).result);
        let finished = builder.finish(self.ctx(), name, result);
        let mut function = finished.unwrap_or_else(|error| {
            panic!("the code of {} does not fit: {error}", self.ctx().str(name))
        });
        function.set_function_loc(body.function_loc());
        self.mark_chunks(id, &mut function);
        self.scratch.builders.borrow_mut().push(builder);
        let function = Rc::new(function);
        let spec = self.spec_for_emission(id);
        spec.is_emitting = false;
        spec.function = Some(Rc::clone(&function));
        drop(frame);
        function
    }

    /// Marks the functions of the prelude that run in chunks.
    fn mark_chunks(&self, id: SpecId, function: &mut Function) {
        let spec = self.spec(id);
        if spec.space == Space::Base && spec.method.is_some() {
            match self.ctx().str(spec.shown) {
                "#in_chunks" => chunks::mark(function, true, 0),
                "#chunk" => chunks::mark(function, false, 0),
                _ => {}
            }
        }
    }

    fn emit_blocks(&mut self, cx: &mut Emission<'_>, id: SpecId) {
        let body = &*cx.frame.body;
        for block in body.blocks() {
            if cx.frame.is_reached(block) {
                let drafted = cx.builder.add_block();
                cx.maps.blocks[block.index()] = Some(drafted);
                self.params(cx, id, block, drafted == 0);
            }
        }
        let order = &*cx.frame.order;
        let mut ends: SmallVec<[(Block, u32); 16]> = SmallVec::new();
        // The blocks behind which control does not get, though inference did not see that.
        let mut stops: SmallVec<[Block; 2]> = SmallVec::new();
        for (place, &block) in order.blocks.iter().enumerate() {
            let Some(drafted) = cx.maps.blocks[block.index()] else { continue };
            cx.builder.enter(drafted);
            cx.at = drafted;
            let loc = body.terminator(block).map_or(Loc::UNKNOWN, |term| body.loc(term));
            let completes = cx.frame.completes(place);
            if (stops.is_empty() || cx.gets_to(block, &stops))
                && self.emit_block(cx, block)
                && completes
                && self.emit_steps(cx, cx.frame.leaving(block), loc)
            {
                ends.push((block, cx.at));
            } else {
                cx.builder.set_terminator(cx.at, Terminator::Unreachable, loc);
                if completes {
                    stops.push(block);
                }
            }
        }
        // Arguments of edges that go back come from blocks that are written later.
        for (block, at) in ends {
            self.emit_terminator(cx, block, at);
        }
    }

    /// The parameters of a block; what is constant has none.
    fn params(&mut self, cx: &mut Emission<'_>, id: SpecId, block: Block, is_entry: bool) {
        let body = &*cx.frame.body;
        for (i, param) in body.params(block).enumerate() {
            let known = cx.frame.values[param.index()];
            let constant = known.as_const();
            if let Some(constant) = constant {
                cx.maps.values[param.index()] = Some(Slot::Const(constant));
            }
            if constant.is_some() && !is_entry {
                continue;
            }
            let ty = if is_entry {
                let key = self.spec(id).key.get(i).copied().unwrap_or(Lattice::ANY);
                self.partials.type_of(key)
            } else {
                self.partials.type_of(known)
            };
            let name = body.value_symbol(param);
            let drafted = cx.builder.add_param(ty, name, body.loc(param));
            cx.maps.values[param.index()].get_or_insert(Slot::Value(drafted));
        }
    }

    /// The instructions of a block; whether control gets to its end.
    fn emit_block(&mut self, cx: &mut Emission<'_>, block: Block) -> bool {
        let body = &*cx.frame.body;
        for v in body.body(block) {
            let plan = cx.frame.plan(v);
            let Some(result) = plan.result else { return false };
            if !self.emit_steps(cx, plan, body.loc(v)) {
                return false;
            }
            let slot = cx.slot(result);
            cx.maps.values[v.index()] = Some(slot);
            if let Some(name) = body.value_symbol(v) {
                cx.builder.set_name(slot, name);
            }
            if cx.frame.lattice(result).is_bottom() {
                return false;
            }
        }
        true
    }

    /// The steps of a plan; whether control gets behind them.
    fn emit_steps(&mut self, cx: &mut Emission<'_>, plan: Plan, loc: Loc) -> bool {
        let mut splits = Splits::default();
        for number in plan.steps.0..plan.steps.1 {
            let step = cx.frame.steps[number as usize];
            let frame = cx.frame;
            let args = frame.step_args(&step).iter();
            if splits.passes_over(step.kind) {
                continue;
            }
            let slot = match step.kind {
                // Inference asked for its fold already.
                StepKind::Op(op, ty) if !cx.knows_more && Self::is_plain(op) => {
                    let first_arg = cx.builder.args.len();
                    for &arg in args {
                        let slot = cx.slot(arg);
                        cx.builder.args.push(slot);
                    }
                    Some(cx.builder.push_with(cx.at, op, first_arg, ty, step.attrs, loc))
                }
                StepKind::Op(op, ty) => {
                    let args: Slots = args.map(|&arg| cx.slot(arg)).collect();
                    let before = cx.builder.insts.len();
                    let slot = self.emit_op(cx.builder, cx.at, op, &args, ty, step.attrs, loc);
                    cx.knows_more |= cx.builder.insts.len() == before;
                    Some(slot)
                }
                StepKind::Call(spec) => {
                    let args: Slots = args.map(|&arg| cx.slot(arg)).collect();
                    let result = self.partials.type_of(step.result);
                    self.emit_call(cx, spec, &args, result, step.attrs, loc)
                }
                StepKind::Try(body, handler) => {
                    let args: Slots = args.map(|&arg| cx.slot(arg)).collect();
                    let result = self.partials.type_of(step.result);
                    Some(self.emit_try(cx, [body, handler], &args, result, loc))
                }
                StepKind::If | StepKind::Else => {
                    splits.step(cx, &step, loc);
                    continue;
                }
                StepKind::EndIf => splits.end(cx, &step, self.partials.type_of(step.result), loc),
            };
            let slot = match step.result {
                Lattice::Const(constant) => slot.and(Some(Slot::Const(constant))),
                Lattice::Bottom => None,
                _ => slot,
            };
            cx.maps.steps[number as usize] = slot;
            if slot.is_none() && !splits.leave(cx, loc) {
                return false;
            }
        }
        true
    }

    /// Returns whether inference decided everything that there is to decide of an op.
    fn is_plain(op: Op) -> bool {
        !matches!(
            op,
            core_ops::GET
                | core_ops::TUPLE
                | core_ops::TYPEASSERT
                | core_ops::CONVERT
                | data::NEW
                | data::NAMED
        )
    }

    /// An op, unless it is known what it gives.
    #[allow(clippy::too_many_arguments)]
    fn emit_op(
        &mut self,
        builder: &mut FunctionBuilder,
        at: u32,
        op: Op,
        args: &[Slot],
        ty: Type,
        attrs: Attrs,
        loc: Loc,
    ) -> Slot {
        let ctx = &**self.ctx();
        if op == core_ops::GET
            && let [Slot::Value(made), Slot::Const(index)] = *args
            && let Constant::I64(index) = ctx.constant(index)
        {
            let maker = builder.insts[made as usize];
            if matches!(maker.op, Some(core_ops::TUPLE | data::NEW | data::NAMED))
                && let Some(&part) = builder.operands(&maker).get(index as usize - 1)
                && builder.ty(ctx, part) == ty
            {
                return part;
            }
        }
        if let Some(fold) = ctx.def(op).fold {
            let mut operands: SmallVec<[Operand; 6]> = SmallVec::new();
            let mut types: SmallVec<[Type; 6]> = SmallVec::new();
            for &arg in args {
                types.push(builder.ty(self.ctx(), arg));
                operands.push(match arg {
                    Slot::Const(constant) => constant.into(),
                    Slot::Value(v) => self.stand_in(v).into(),
                });
            }
            let ctx = &**self.ctx();
            let def = ctx.def(op);
            let view = InstView { ctx, def, operands: &operands, types: &types, attrs, ty };
            match fold(&view) {
                Some(Fold::Constant(constant)) => return Slot::Const(ctx.constant_id(constant)),
                Some(Fold::Operand(position)) if types[position] == ty => return args[position],
                _ => {}
            }
        }
        builder.push(at, op, args, ty, attrs, loc)
    }

    /// The terminator of a block whose instructions are in `at` and before.
    fn emit_terminator(&mut self, cx: &mut Emission<'_>, block: Block, at: u32) {
        let body = &*cx.frame.body;
        let Some(term) = body.terminator(block) else {
            return cx.builder.set_terminator(at, Terminator::Unreachable, Loc::UNKNOWN);
        };
        let loc = body.loc(term);
        let mut edges: SmallVec<[regraft_ir::Edge; 2]> = body.out_edges(block).collect();
        let leave = match body.op(term) {
            Some(cf::RETURN) => Terminator::Return(match body.operand(term, 0) {
                Some(operand) => cx.slot(operand.into()),
                None => Slot::Const(body.ctx().constant_id(Constant::Unit)),
            }),
            Some(cf::BR) if edges.len() == 2 => {
                match cx.frame.leaving(block).result.map(|condition| cx.slot(condition)) {
                    None => {
                        edges.clear();
                        Terminator::Unreachable
                    }
                    Some(Slot::Const(constant)) => {
                        let truth = body.ctx().constant(constant) == Constant::Bool(true);
                        edges.remove(usize::from(truth));
                        Terminator::Jump
                    }
                    Some(slot) => Terminator::Branch(slot),
                }
            }
            Some(cf::BR) => Terminator::Jump,
            Some(cf::SWITCH) => {
                let start = cx.builder.args.len() as u32;
                let plain: SmallVec<[Operand; 8]> = body.plain_operands(term).collect();
                for &case in &plain[1..] {
                    let case = cx.slot(case.into());
                    cx.builder.args.push(case);
                }
                let end = cx.builder.args.len() as u32;
                Terminator::Switch(cx.slot(plain[0].into()), (start, end))
            }
            _ => {
                edges.clear();
                Terminator::Unreachable
            }
        };
        cx.builder.set_terminator(at, leave, loc);
        for edge in edges {
            self.emit_edge(cx, at, edge);
        }
    }

    fn emit_edge(&mut self, cx: &mut Emission<'_>, at: u32, edge: regraft_ir::Edge) {
        let body = &*cx.frame.body;
        let target = body.edge_target(edge);
        let drafted = cx.maps.blocks[target.index()].expect("control gets to where an edge goes");
        let mut args: Slots = SmallVec::new();
        for (param, arg) in body.params(target).zip(body.edge_args(edge)) {
            let known = cx.frame.values[param.index()];
            if known.as_const().is_some() {
                continue;
            }
            // A variable without a value may have to be passed as one of the type that it has on
            // other ways; it is never read.
            if known != Lattice::Undef && cx.frame.lattice(arg.into()) == Lattice::Undef {
                args.push(cx.builder.undef(self.partials.type_of(known)));
                continue;
            }
            args.push(cx.slot(arg.into()));
        }
        cx.builder.add_edge(at, drafted, &args);
    }
}

impl Emission<'_> {
    /// Returns whether control gets to a block without getting behind one of `stops`. Linear in the
    /// edges; code whose end the folding of inlined calls cuts off is rare.
    fn gets_to(&self, block: Block, stops: &[Block]) -> bool {
        let (frame, body) = (self.frame, &*self.frame.body);
        let mut seen = vec![false; body.block_capacity()];
        let mut pending: SmallVec<[Block; 16]> = body.entry().into_iter().collect();
        while let Some(at) = pending.pop() {
            if at == block {
                return true;
            }
            let place = frame.order.place[at.index()] as usize;
            let is_new = !std::mem::replace(&mut seen[at.index()], true);
            if is_new && frame.completes(place) && !stops.contains(&at) {
                let targets = body.out_edges(at).map(|edge| body.edge_target(edge));
                pending.extend(targets.filter(|&target| frame.is_reached(target)));
            }
        }
        false
    }

    /// Returns the slot of an operand.
    fn slot(&self, arg: Arg) -> Slot {
        if let Lattice::Const(constant) = self.frame.lattice(arg) {
            return Slot::Const(constant);
        }
        let slot = match arg {
            Arg::Step(step) => self.maps.steps[step as usize],
            Arg::Operand(operand) => match operand.kind() {
                OperandKind::Const(constant) => Some(Slot::Const(constant)),
                OperandKind::Value(v) => self.maps.values[v.index()],
                OperandKind::Block(_) => None,
            },
        };
        slot.unwrap_or_else(|| panic!("{arg:?} has no value where it is used"))
    }
}
