//! The forward sweep without what it keeps: the function as it is, with the shadows of its objects
//! beside them, and with the forward parts of what it calls.
//!
//! ```text
//! func @f(%1: array<array<f64,1>,1>)      func @f.forward(%1: .., %s1: ..)
//!   %2 = mem.load %1, 1              =>     %2 = mem.load %1, 1
//!   %3 = mem.load %2, 1                     %s2 = mem.load %s1, 1
//!                                           %3 = mem.load %2, 1
//! ```
//!
//! Values keep their ids. What is a value has no shadow, so most code stays as it is; loads and
//! stores of floats need nothing at all. For each block it is noted what the reverse sweep has to
//! reverse, in program order.

mod calls;
mod rows;

use std::sync::Arc;

use regraft_dialects::{ad, cf, core};
use regraft_ir::{
    Block, Constant, Context, Diagnostic, Function, Inst, Operand, Type, TypeKind, Value,
};
use regraft_passes::analysis::may_reach_objects;
use rustc_hash::FxHashMap;

use super::driver::{Driver, Pair};
use super::private::PrivateObjects;
use super::to_be_recorded::ToBeRecorded;
use crate::activity::Activity;
use crate::calls::is_call;
use crate::derivative_table::{Derivative, DerivativeTable, not_implemented, writes_shadowed};
use crate::op_derivative::OpDerivative;
use crate::tangent_builder::{self as build, TangentKind};

/// A call that is made again on the way back.
#[derive(Clone, Debug)]
pub(super) struct RecomputedCall {
    pub(super) pair: Pair,
    pub(super) args: Vec<Operand>,
    /// The arguments as they were when it was made.
    pub(super) given: Vec<Operand>,
    pub(super) shadows: Vec<Operand>,
}

/// Steps of a loop that are made again on the way back.
#[derive(Clone, Debug)]
pub(super) struct CheckpointedSteps {
    /// The derivative of a step, with all the way back in the place of its reverse part.
    pub(super) pair: Pair,
    /// The number of steps, the state before the first one, and what is given to each of them.
    pub(super) args: Vec<Operand>,
    pub(super) shadows: Vec<Option<Operand>>,
    /// Copies of memory.
    pub(super) saved: Operand,
}

/// An instruction that the reverse sweep reverses. There is one for most instructions: it is small.
#[derive(Clone, Debug)]
pub(super) struct Action {
    /// The value of the primal that it is about.
    pub(super) v: Value,
    pub(super) kind: ActionKind,
}

#[derive(Clone, Debug)]
pub(super) enum ActionKind {
    /// An op with a row or a rule, and what is kept for its adjoint: of one that moves things around,
    /// what its shadow function kept; of another one, its operands as it found them.
    Op { kept: Box<[Operand]> },
    /// A call of a function that was differentiated, with its arguments.
    Call { pair: Box<Pair>, tape: Operand, args: Box<[Operand]> },
    /// A call that is made again on the way back.
    Recompute(Box<RecomputedCall>),
    /// Steps of a loop that are made again on the way back.
    Checkpointed(Box<CheckpointedSteps>),
    /// A call of a rule, with the pullback that it gave.
    Rule { pullback: Operand, args: Box<[Operand]>, closure: bool },
    /// A call of what is known at run time, with the pullback that came back: callee and arguments.
    Dynamic { pullback: Operand, args: Box<[Operand]> },
}

/// The forward sweep.
#[derive(Debug)]
pub(super) struct Augmented {
    pub(super) f: Function,
    /// The least index of a value that is not of the primal.
    pub(super) first_new: usize,
    pub(super) shadows: FxHashMap<Value, Operand>,
    /// By [`Block::index`].
    pub(super) actions: Vec<Vec<Action>>,
    /// The block that returns, if there is one.
    pub(super) exit: Option<Block>,
    /// The value that is returned.
    pub(super) result: Option<Operand>,
    /// Its shadow.
    pub(super) result_shadow: Option<Operand>,
    /// Loads of shadows, with the loads beside which they stand.
    pub(super) shadow_loads: FxHashMap<Value, Value>,
}

/// Makes it of the prepared function `f`. `blocks` are in an order in which definitions come before
/// uses; `tbr` says of calls whether what they are given stays as it is.
pub(super) fn augment(
    driver: &mut Driver<'_>,
    f: Function,
    activity: &Activity,
    active: &[bool],
    blocks: &[Block],
    tbr: &ToBeRecorded,
    private: &PrivateObjects,
) -> Result<Augmented, Diagnostic> {
    let n = f.block_capacity();
    let out = Augmented {
        first_new: f.value_capacity(),
        f,
        shadows: FxHashMap::default(),
        actions: vec![Vec::new(); n],
        exit: None,
        result: None,
        result_shadow: None,
        shadow_loads: FxHashMap::default(),
    };
    let ctx = Arc::clone(out.f.ctx());
    let undefs = FxHashMap::default();
    let mut this = Augment { driver: &mut *driver, activity, ctx, out, tbr, private, undefs };
    let done = this.run(active, blocks);
    let out = this.out;
    driver.settled(done.map(|()| out))
}

struct Augment<'a, 'm> {
    driver: &'a mut Driver<'m>,
    activity: &'a Activity,
    ctx: Arc<Context>,
    out: Augmented,
    tbr: &'a ToBeRecorded,
    private: &'a PrivateObjects,
    /// The stand-ins for shadows that are passed later, by type.
    undefs: FxHashMap<Type, Value>,
}

/// A parameter that waits for its arguments: the block, its position, and that of the parameter
/// that it is the shadow of.
struct PendingShadow {
    block: Block,
    position: usize,
    of: usize,
}

impl Augmented {
    /// The values that actions may give cotangents to, with the blocks of these actions.
    pub(super) fn receivers(&self, blocks: &[Block]) -> Vec<(Value, Block)> {
        let mut given = Vec::new();
        for &block in blocks {
            for action in &self.actions[block.index()] {
                let mut note = |operand: Operand| {
                    given.extend(operand.as_value().map(|v| (v, block)));
                };
                match &action.kind {
                    ActionKind::Op { .. } => self.f.plain_operands(action.v).for_each(note),
                    ActionKind::Call { args, .. }
                    | ActionKind::Rule { args, .. }
                    | ActionKind::Dynamic { args, .. } => args.iter().copied().for_each(&mut note),
                    ActionKind::Recompute(call) => call.args.iter().copied().for_each(&mut note),
                    ActionKind::Checkpointed(steps) => {
                        steps.args.iter().copied().for_each(&mut note);
                    }
                }
            }
        }
        given
    }
}

impl Augment<'_, '_> {
    fn run(&mut self, active: &[bool], blocks: &[Block]) -> Result<(), Diagnostic> {
        self.parameters(active)?;
        let pending = self.block_shadows(blocks)?;
        let ctx = Arc::clone(&self.ctx);
        let table: &DerivativeTable = ctx.extensions().get();
        for &block in blocks {
            let body: Vec<Value> = self.out.f.body(block).collect();
            for v in body {
                self.instruction(block, v, table)?;
            }
        }
        self.edges(&pending)?;
        self.ending(blocks)?;
        let failed = !self.driver.errors.is_empty();
        for &block in blocks {
            self.refuse_not_implemented(block, table, failed);
        }
        Ok(())
    }

    /// Reports the ops of a block whose derivative is not implemented. The reverse sweep tells of those
    /// to whose result a cotangent comes; if there is none, as it `failed`, of all whose result is varied.
    fn refuse_not_implemented(&mut self, block: Block, table: &DerivativeTable, failed: bool) {
        for v in self.out.f.body(block).collect::<Vec<_>>() {
            let Some(def) = self.out.f.op_def(v) else { continue };
            if let Derivative::NotImplemented(why) = table.get(def.op)
                && (failed && self.activity.is_varied(v) || self.loses_shadow(v))
            {
                let loc = self.out.f.loc(v);
                self.driver.report(&not_implemented(def, why), loc);
            }
        }
    }

    /// Returns whether an op makes an object of something active, or writes to one.
    fn loses_shadow(&mut self, v: Value) -> bool {
        let (f, types) = (&self.out.f, &mut self.driver.types);
        let makes = f.ty(v) != Type::ANY && types.has_shadow(f.ty(v));
        (makes || writes_shadowed(f, v, types))
            && f.plain_operands(v).any(|operand| self.activity.is_active(operand))
    }

    /// Inserts an instruction before `v`.
    fn before(&mut self, v: Value, inst: Inst) -> Result<Operand, Diagnostic> {
        let loc = self.out.f.loc(v);
        Ok(self.out.f.insert(v, inst.at(loc).made_from(v))?.into())
    }

    /// Runs code that inserts before `v`.
    fn with_before<T>(
        &mut self,
        v: Value,
        make: impl FnOnce(&mut Driver<'_>, &Arc<Context>, &mut build::Emit<'_>) -> T,
    ) -> Result<T, Diagnostic> {
        let loc = self.out.f.loc(v);
        let (f, ctx) = (&mut self.out.f, Arc::clone(&self.ctx));
        let insert = |inst: Inst| f.insert(v, inst.at(loc).made_from(v));
        build::emitting(&ctx, insert, |emit| make(self.driver, &ctx, emit))
    }

    fn parameters(&mut self, active: &[bool]) -> Result<(), Diagnostic> {
        let Some(entry) = self.out.f.entry() else { return Ok(()) };
        let params: Vec<Value> = self.out.f.params(entry).collect();
        for (i, &param) in params.iter().enumerate() {
            let ty = self.out.f.ty(param);
            if !self.driver.types.has_shadow(ty) {
                continue;
            }
            if active.get(i).copied().unwrap_or(false) {
                let shadow = self.driver.types.shadow(ty);
                let new = self.out.f.append_param(entry, shadow)?;
                self.name_shadow(param, new)?;
                self.out.shadows.insert(param, new.into());
            }
        }
        let first = self.out.f.first_inst(entry).unwrap_or(Value::terminator(entry));
        for param in params {
            if self.activity.has_shadow(param) && !self.out.shadows.contains_key(&param) {
                // Nobody asked for it, but something that depends on the others is put into it.
                let shadow = self.zero_shadow(param, first)?;
                self.out.shadows.insert(param, shadow);
            }
        }
        Ok(())
    }

    fn name_shadow(&mut self, of: Value, shadow: Value) -> Result<(), Diagnostic> {
        if let Some(name) = self.out.f.value_name(of) {
            let name = self.ctx.symbol(&format!("d{name}"));
            self.out.f.name_after(shadow, name)?;
        }
        Ok(())
    }

    /// Gives parameters of blocks that are objects a parameter for their shadow.
    fn block_shadows(&mut self, blocks: &[Block]) -> Result<Vec<PendingShadow>, Diagnostic> {
        let mut pending = Vec::new();
        let entry = self.out.f.entry();
        for &block in blocks {
            if Some(block) == entry {
                continue;
            }
            let params: Vec<Value> = self.out.f.params(block).collect();
            for (of, param) in params.into_iter().enumerate() {
                if !self.activity.has_shadow(param) {
                    continue;
                }
                let shadow = self.driver.types.shadow(self.out.f.ty(param));
                let undef = self.undef(shadow)?;
                let position = self.out.f.param_count(block);
                let new = self.out.f.add_param(block, shadow, |_| Some(undef))?;
                self.name_shadow(param, new)?;
                self.out.shadows.insert(param, new.into());
                pending.push(PendingShadow { block, position, of });
            }
        }
        Ok(pending)
    }

    fn undef(&mut self, ty: Type) -> Result<Value, Diagnostic> {
        if let Some(&known) = self.undefs.get(&ty) {
            return Ok(known);
        }
        let entry = self.out.f.entry().expect("a function with blocks has an entry");
        let new = self.out.f.push_front(entry, core::undef(ty))?;
        self.undefs.insert(ty, new);
        Ok(new)
    }

    /// Passes the shadows.
    fn edges(&mut self, pending: &[PendingShadow]) -> Result<(), Diagnostic> {
        for &PendingShadow { block, position, of } in pending {
            let param = self.out.f.param(block, of).expect("parameters stay where they are");
            let want = self.driver.types.shadow(self.out.f.ty(param));
            for edge in self.out.f.in_edges_in_order(block) {
                let arg = self.out.f.edge_args(edge).nth(of);
                let Some(arg) = arg else { continue };
                let at = Value::terminator(edge.from);
                let shadow = self.shadow_for(arg, want, at)?;
                let index = edge.position as usize + 1 + position;
                self.out.f.set_operand(at, index, shadow)?;
            }
        }
        let mut undefs: Vec<Value> = self.undefs.values().copied().collect();
        undefs.sort_unstable();
        for undef in undefs {
            if !self.out.f.is_used(undef) {
                self.out.f.delete(undef)?;
            }
        }
        Ok(())
    }

    /// The shadow of an operand, as one of type `want`, for use at `at`.
    fn shadow_for(
        &mut self,
        operand: Operand,
        want: Type,
        at: Value,
    ) -> Result<Operand, Diagnostic> {
        match self.known_shadow(operand) {
            Some(shadow) => self.as_type(shadow, want, at),
            None => self.with_before(at, |_, ctx, emit| build::zero(ctx, want, emit)),
        }
    }

    /// The same value as one of a type that it is of.
    fn as_type(&mut self, operand: Operand, want: Type, at: Value) -> Result<Operand, Diagnostic> {
        let have = self.out.f.operand_type(operand);
        if have == want {
            Ok(operand)
        } else if want == Type::ANY {
            self.before(at, core::convert(operand, want))
        } else if matches!(self.ctx.kind(want), TypeKind::Tuple(_) | TypeKind::Named(_)) {
            // What turns out to have no objects in it has no shadow, not one of empty parts.
            self.before(at, ad::unbox(operand, want))
        } else {
            self.before(at, core::typeassert(operand, want))
        }
    }

    fn note(&mut self, block: Block, v: Value, kind: ActionKind) {
        self.out.actions[block.index()].push(Action { v, kind });
    }

    fn instruction(
        &mut self,
        block: Block,
        v: Value,
        table: &DerivativeTable,
    ) -> Result<(), Diagnostic> {
        let Some(op) = self.out.f.op(v) else { return Ok(()) };
        if is_call(op) {
            return self.call(block, v);
        }
        match table.get(op) {
            Derivative::Written(row) => match row.shadow {
                Some(shadow) => self.row(block, v, shadow),
                None => self.computed(block, v, row),
            },
            _ => {
                if self.activity.has_shadow(v) {
                    self.new_result_shadow(v)?;
                }
                if self.activity.is_varied(v) {
                    self.note(block, v, ActionKind::Op { kept: Box::default() });
                }
                Ok(())
            }
        }
    }

    /// Keeps the elements that the functions of an op read, and makes the shadow of its result.
    fn computed(&mut self, block: Block, v: Value, row: &OpDerivative) -> Result<(), Diagnostic> {
        let mut operands: Vec<Operand> = self.out.f.plain_operands(v).collect();
        if !self.activity.is_active(v) && !operands.iter().any(|&o| self.activity.is_active(o)) {
            return Ok(());
        }
        self.new_result_shadow(v)?;
        let stays = self.tbr.reads_stay(v);
        for &position in row.residuals {
            let Some(operand) = operands.get_mut(position) else { continue };
            let ty = self.out.f.operand_type(*operand);
            if !stays && may_reach_objects(&self.ctx, ty) {
                *operand = self.before(v, ad::copy(*operand, ty))?;
            }
        }
        self.note(block, v, ActionKind::Op { kept: operands.into() });
        Ok(())
    }

    fn known_shadow(&self, operand: Operand) -> Option<Operand> {
        operand.as_value().and_then(|v| self.out.shadows.get(&v).copied())
    }

    /// A shadow of zeros for `v`.
    fn zero_shadow(&mut self, v: Value, at: Value) -> Result<Operand, Diagnostic> {
        let ty = self.out.f.ty(v);
        self.with_before(at, |driver, _, emit| {
            let (of, kind) = (driver.types.of(ty), TangentKind::of(&mut driver.types, ty));
            build::zero_shadow(of, kind, v, emit)
        })
    }

    /// Finds what is returned.
    fn ending(&mut self, blocks: &[Block]) -> Result<(), Diagnostic> {
        let exit = blocks
            .iter()
            .copied()
            .find(|&block| self.out.f.op(Value::terminator(block)) == Some(cf::RETURN));
        let Some(exit) = exit else { return Ok(()) };
        let at = Value::terminator(exit);
        let result = self
            .out
            .f
            .operand(at, 0)
            .unwrap_or_else(|| self.ctx.constant_id(Constant::Unit).into());
        let want = self.driver.types.shadow(self.out.f.ret_type());
        let shadow = self.shadow_for(result, want, at)?;
        let shadow = self.as_type(shadow, want, at)?;
        self.out.exit = Some(exit);
        self.out.result = Some(result);
        self.out.result_shadow = Some(shadow);
        Ok(())
    }
}
