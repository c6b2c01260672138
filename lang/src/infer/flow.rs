//! Sparse conditional data flow over the blocks of one lowered body, forward, in reverse
//! postorder (Wegman and Zadeck, "Constant Propagation with Conditional Branches", 1991, with
//! types in place of constants alone).
//!
//! A block is looked at when control gets to it and whenever something that it uses is found to
//! be less certain; a call that never returns ends it. The unit of work is the block, not the
//! instruction: without loops each is looked at once, and with loops rarely more than twice.

use std::sync::Arc;

use regraft_dialects::{cf, core as core_ops};
use regraft_ir::{Block, Constant, Edge, Function, OperandKind, Type, Value};
use smallvec::SmallVec;

use super::frame::{Arg, Args, Frame};
use super::inference::Inference;
use super::lattice::Lattice;

impl Inference {
    /// Finds out all there is to know of the values of a body whose arguments are `arguments`.
    pub(super) fn flow(&mut self, frame: &mut Frame, arguments: &[Lattice]) {
        let body = &*Arc::clone(&frame.body);
        let Some(entry) = body.entry() else { return };
        for (param, &argument) in body.params(entry).zip(arguments) {
            frame.values[param.index()] = argument;
        }
        frame.reach(0);
        frame.queue(0);
        while let Some(place) = frame.next() {
            let block = frame.order.blocks[place];
            let completes = self.block(frame, body, block);
            frame.set_completes(place, completes);
            if completes {
                self.leave(frame, body, block);
            }
        }
    }

    /// Looks at the instructions of a block; whether control gets to its end.
    fn block(&mut self, frame: &mut Frame, body: &Function, block: Block) -> bool {
        for v in body.body(block) {
            let start = frame.steps.len() as u32;
            let result = self.inst(frame, body, v);
            let known = frame.lattice(result);
            frame.set_plan(v, start, result);
            let old = frame.values[v.index()];
            if old != known {
                // Looking again never makes it more certain.
                let joined = if old.is_bottom() { known } else { self.partials.join(old, known) };
                frame.values[v.index()] = joined;
                if !old.is_bottom() && joined != old {
                    frame.queue_users(body, v, block);
                }
            }
            if known.is_bottom() {
                return false;
            }
        }
        true
    }

    /// Looks at the terminator of a block.
    fn leave(&mut self, frame: &mut Frame, body: &Function, block: Block) {
        let Some(term) = body.terminator(block) else { return };
        let start = frame.steps.len() as u32;
        let mut edges: SmallVec<[Edge; 2]> = body.out_edges(block).collect();
        let mut condition = None;
        match body.op(term) {
            Some(cf::RETURN) => {
                let result = match body.operand(term, 0) {
                    Some(operand) => frame.lattice(operand.into()),
                    None => self.partials.constant(Constant::Unit),
                };
                let result = if result == Lattice::Undef { Lattice::ANY } else { result };
                frame.result = self.partials.join(frame.result, result);
            }
            Some(cf::BR) if edges.len() == 2 => {
                let Some(operand) = body.operand(term, 0) else { return };
                let (arg, known) = self.condition(frame, operand.into());
                match known {
                    Some(truth) => {
                        let taken = edges[usize::from(!truth)];
                        edges = SmallVec::from_slice(&[taken]);
                    }
                    None if frame.lattice(arg).is_bottom() => edges.clear(),
                    None => {}
                }
                condition = Some(arg);
            }
            Some(cf::SWITCH) => condition = body.operand(term, 0).map(Arg::from),
            _ => {}
        }
        frame.set_leaving(block, start, condition);
        for edge in edges {
            self.edge(frame, body, edge);
        }
    }

    /// A condition as a bool, and its value if that is known.
    fn condition(&mut self, frame: &mut Frame, arg: Arg) -> (Arg, Option<bool>) {
        let known = frame.lattice(arg);
        match known {
            Lattice::Const(constant) if self.ctx.constant_type(constant) == Type::BOOL => {
                (arg, Some(self.ctx.constant(constant) == Constant::Bool(true)))
            }
            Lattice::Of(Type::BOOL) => (arg, None),
            Lattice::Bottom => (arg, None),
            _ if self.partials.is_exact(known) => {
                let found = self.world.type_name(self.partials.type_of(known));
                let message = format!("TypeError: non-boolean ({found}) used in boolean context");
                (self.fail(frame, &message), None)
            }
            _ => (self.assert_type(frame, arg, Type::BOOL), None),
        }
    }

    /// Passes what is known along an edge.
    fn edge(&mut self, frame: &mut Frame, body: &Function, edge: Edge) {
        let target = body.edge_target(edge);
        let place = frame.order.place[target.index()] as usize;
        let mut changed = frame.reach(place);
        for (param, arg) in body.params(target).zip(body.edge_args(edge)) {
            let known = frame.lattice(arg.into());
            let old = frame.values[param.index()];
            let joined = self.partials.join(old, known);
            if joined != old {
                frame.values[param.index()] = joined;
                changed = true;
                if !old.is_bottom() {
                    frame.queue_users(body, param, target);
                }
            }
        }
        if changed {
            frame.queue(place);
        }
    }

    /// An instruction of lowered code.
    fn inst(&mut self, frame: &mut Frame, body: &Function, v: Value) -> Arg {
        let Some(op) = body.op(v) else { return v.into() };
        let attrs = body.attrs(v);
        let mut args: Args = body.operands(v).map(Arg::from).collect();
        match op {
            core_ops::CALL => {
                let Some(name) = body.operand(v, 0).and_then(|o| body.const_func(o)) else {
                    return self.fail(frame, "the callee of a call is no function");
                };
                self.call_name(frame, name, &args[1..], attrs)
            }
            core_ops::APPLY => self.call_value(frame, args[0], &args[1..], attrs),
            core_ops::SPLAT => self.splat(frame, args[0], &args[1..], attrs),
            core_ops::GLOBAL | core_ops::SET_GLOBAL | core_ops::STATIC => {
                let name = body.operand(v, 0).and_then(|operand| body.const_sym(operand));
                let Some(name) = name else { return v.into() };
                match op {
                    core_ops::GLOBAL => self.global(frame, name, frame.space),
                    core_ops::SET_GLOBAL => self.set_global(frame, name, args[1]),
                    _ => self.static_param(frame, name),
                }
            }
            core_ops::CLOSURE => match body.operand(v, 0).and_then(|o| body.const_func(o)) {
                Some(name) => self.closure(frame, name, &args[1..]),
                None => v.into(),
            },
            core_ops::TRY => self.try_of(frame, body, v, &args),
            core_ops::UNDEF => {
                frame.push(super::frame::StepKind::Op(op, Type::ANY), &[], Lattice::Undef, attrs)
            }
            _ => {
                // What a dynamo made of ops already.
                args.retain(|arg| !matches!(arg, Arg::Operand(o) if matches!(o.kind(), OperandKind::Block(_))));
                self.op(frame, self.ctx.def(op), &args, body.ty(v), attrs)
            }
        }
    }
}
