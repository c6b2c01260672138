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
//! undo, in program order.

use std::sync::Arc;

use regraft_dialects::{ad, core, data, mem};
use regraft_ir::{
    Block, Constant, Context, Diagnostic, Function, Inst, Loc, Operand, Type, TypeKind, Value,
};
use rustc_hash::FxHashMap;

use super::activity::Activity;
use super::callee::{CallKind, call_kind};
use super::driver::{Driver, Pair};
use super::parts::{self, Cell};

/// What the reverse sweep has to undo.
#[derive(Clone, Debug)]
pub(super) struct Action {
    /// The value of the primal that it is about.
    pub(super) v: Value,
    pub(super) kind: ActionKind,
}

#[derive(Clone, Debug)]
pub(super) enum ActionKind {
    /// What the op says.
    Op,
    /// A call of a function that was differentiated, with its arguments.
    Call { pair: Pair, tape: Operand, args: Vec<Operand> },
    /// A call that is made again on the way back.
    Again { pair: Pair, args: Vec<Operand>, shadows: Vec<Operand> },
    /// A call of a rule, with the pullback that it gave.
    Rule { pullback: Operand, args: Vec<Operand>, closure: bool },
    /// A call of what is known at run time, with what came back: callee and arguments.
    Dynamic { back: Operand, tape: Operand, args: Vec<Operand> },
    /// The length that an array had before it was changed.
    Resize { length: Operand },
}

/// The forward sweep.
#[derive(Debug)]
pub(super) struct Augmented {
    pub(super) f: Function,
    pub(super) shadows: FxHashMap<Value, Operand>,
    /// By [`Block::index`].
    pub(super) actions: Vec<Vec<Action>>,
    /// The block that returns, if there is one.
    pub(super) exit: Option<Block>,
    /// What is returned.
    pub(super) result: Option<Operand>,
    /// Its shadow.
    pub(super) result_shadow: Option<Operand>,
    /// Loads of shadows, with the loads beside which they stand.
    pub(super) beside: FxHashMap<Value, Value>,
}

/// Makes it of the prepared function `f`. `blocks` are in an order in which definitions come before
/// uses; `stable[call]` says for calls whether what they are given stays as it is.
pub(super) fn augment(
    driver: &mut Driver<'_>,
    f: Function,
    activity: &Activity,
    active: &[bool],
    blocks: &[Block],
    is_stable: &dyn Fn(Value) -> bool,
) -> Result<Augmented, Diagnostic> {
    let n = f.block_capacity();
    let out = Augmented {
        f,
        shadows: FxHashMap::default(),
        actions: vec![Vec::new(); n],
        exit: None,
        result: None,
        result_shadow: None,
        beside: FxHashMap::default(),
    };
    let ctx = Arc::clone(out.f.ctx());
    let mut this = Augment { driver, activity, ctx, out, is_stable, undefs: FxHashMap::default() };
    this.parameters(active)?;
    let waiting = this.block_shadows(blocks)?;
    for &block in blocks {
        let body: Vec<Value> = this.out.f.body(block).collect();
        for v in body {
            this.instruction(block, v)?;
        }
    }
    this.edges(&waiting)?;
    this.ending(blocks)?;
    Ok(this.out)
}

struct Augment<'a, 'm> {
    driver: &'a mut Driver<'m>,
    activity: &'a Activity,
    ctx: Arc<Context>,
    out: Augmented,
    is_stable: &'a dyn Fn(Value) -> bool,
    /// What stands for shadows that are passed later, by type.
    undefs: FxHashMap<Type, Value>,
}

/// A parameter that waits for its arguments: the block, its position, and that of the parameter
/// that it is the shadow of.
struct Waiting {
    block: Block,
    position: usize,
    of: usize,
}

impl Augmented {
    /// The values that actions may give cotangents to, with the blocks of these actions.
    pub(super) fn given(&self, blocks: &[Block]) -> Vec<(Value, Block)> {
        let mut given = Vec::new();
        for &block in blocks {
            for action in &self.actions[block.index()] {
                let mut note = |operand: Operand| {
                    given.extend(operand.as_value().map(|v| (v, block)));
                };
                match &action.kind {
                    ActionKind::Op => self.f.plain_operands(action.v).for_each(note),
                    ActionKind::Call { args, .. }
                    | ActionKind::Again { args, .. }
                    | ActionKind::Rule { args, .. }
                    | ActionKind::Dynamic { args, .. } => args.iter().copied().for_each(&mut note),
                    ActionKind::Resize { .. } => {}
                }
            }
        }
        given
    }
}

impl Augment<'_, '_> {
    /// Inserts an instruction before `v`.
    fn before(&mut self, v: Value, inst: Inst) -> Result<Operand, Diagnostic> {
        let loc = self.out.f.loc(v);
        Ok(self.out.f.insert(v, inst.at(loc).made_from(v))?.into())
    }

    /// Runs code that inserts before `v`.
    fn with_before<T>(
        &mut self,
        v: Value,
        make: impl FnOnce(&mut Driver<'_>, &Arc<Context>, &mut parts::Emit<'_>) -> T,
    ) -> Result<T, Diagnostic> {
        let loc = self.out.f.loc(v);
        let (f, ctx) = (&mut self.out.f, Arc::clone(&self.ctx));
        let mut failed = None;
        let mut emit = |inst: Inst| match f.insert(v, inst.at(loc).made_from(v)) {
            Ok(new) => Operand::from(new),
            Err(error) => {
                failed.get_or_insert(error);
                ctx.constant_id(Constant::Unit).into()
            }
        };
        let made = make(self.driver, &ctx, &mut emit);
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(made),
        }
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
        for &param in params.iter().rev() {
            if self.activity.has_shadow(param) && !self.out.shadows.contains_key(&param) {
                // Nobody asked for it, but something that depends on the others is put into it.
                let tangent = self.driver.types.of(self.out.f.ty(param));
                let zero = self.out.f.push_front(entry, ad::zero(param, tangent.tangent))?;
                let shadow = if tangent.tangent == tangent.shadow {
                    zero
                } else {
                    self.out.f.insert_after(zero, ad::shadow(zero, tangent.shadow))?
                };
                self.out.shadows.insert(param, shadow.into());
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
    fn block_shadows(&mut self, blocks: &[Block]) -> Result<Vec<Waiting>, Diagnostic> {
        let mut waiting = Vec::new();
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
                waiting.push(Waiting { block, position, of });
            }
        }
        Ok(waiting)
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
    fn edges(&mut self, waiting: &[Waiting]) -> Result<(), Diagnostic> {
        for &Waiting { block, position, of } in waiting {
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
            None => self.with_before(at, |_, ctx, emit| parts::zero(ctx, want, emit)),
        }
    }

    /// The same value as one of a type that it is of.
    fn as_type(&mut self, operand: Operand, want: Type, at: Value) -> Result<Operand, Diagnostic> {
        let have = self.out.f.operand_type(operand);
        if have == want {
            Ok(operand)
        } else if want == Type::ANY {
            self.before(at, core::convert(operand, want))
        } else {
            self.before(at, core::typeassert(operand, want))
        }
    }

    fn note(&mut self, block: Block, v: Value, kind: ActionKind) {
        self.out.actions[block.index()].push(Action { v, kind });
    }

    /// The value after `v` where what follows it can be inserted.
    fn after(&self, v: Value) -> Value {
        let block = self.out.f.block_of(v);
        self.out.f.next_inst(v).unwrap_or(Value::terminator(block))
    }

    fn instruction(&mut self, block: Block, v: Value) -> Result<(), Diagnostic> {
        let Some(op) = self.out.f.op(v) else { return Ok(()) };
        match op {
            core::CALL | core::APPLY | core::SPLAT => return self.call(block, v),
            _ => {}
        }
        let object = self.out.f.operand(v, 0);
        let object_active = object.is_some_and(|o| self.activity.has_shadow(o));
        match op {
            mem::STORE | mem::REF_SET | mem::PUSH | mem::FILL_IN_PLACE if object_active => {
                self.put(v)?;
                self.note(block, v, ActionKind::Op);
            }
            data::SETFIELD if object_active => {
                self.set_field(v)?;
                self.note(block, v, ActionKind::Op);
            }
            mem::COPYTO if object_active => {
                self.copy_to(v)?;
                self.note(block, v, ActionKind::Op);
            }
            mem::RESIZE if object_active => {
                let (array, length) = (self.operand(v, 0), self.operand(v, 1));
                let old = self.before(v, mem::length(array))?;
                let after = self.after(v);
                let shadow = self.shadow_of(array);
                self.before(after, mem::resize(shadow, length))?;
                self.note(block, v, ActionKind::Resize { length: old });
            }
            mem::POP if object_active => {
                let array = self.operand(v, 0);
                let after = self.after(v);
                let (shadow, ty) = (self.shadow_of(array), self.out.f.ty(v));
                let tangent = self.before(after, mem::pop(shadow))?;
                self.take_shadow(v, ty, tangent, after)?;
                self.note(block, v, ActionKind::Op);
            }
            mem::LOAD | mem::REF_GET if object_active => {
                if self.activity.has_shadow(v) {
                    let after = self.after(v);
                    let mut inst = self.out.f.statement(v);
                    inst.operand_list_mut()[0] = self.shadow_of(self.operand(v, 0));
                    let ty = self.out.f.ty(v);
                    let tangent_type = self.driver.types.tangent(ty);
                    let inst = inst.with_type(tangent_type);
                    let tangent = self.before(after, inst)?;
                    if let Some(load) = tangent.as_value() {
                        self.out.beside.insert(load, v);
                    }
                    self.take_shadow(v, ty, tangent, after)?;
                }
                if self.activity.is_varied(v) {
                    self.note(block, v, ActionKind::Op);
                }
            }
            core::SET_GLOBAL if self.activity.is_active(self.operand(v, 1)) => {
                let loc = self.out.f.loc(v);
                let message = "a global variable that is set to something with a derivative hides \
                               it: pass it as an argument, or keep it in a `Ref`";
                return Err(self.driver.error(message, loc));
            }
            ad::ACCUMULATE | ad::CLEAR if object_active => self.note(block, v, ActionKind::Op),
            _ => {
                if self.activity.has_shadow(v) {
                    self.make_shadow(v)?;
                }
                let makes = matches!(
                    op,
                    mem::FILL | mem::ARRAY | mem::REF_NEW | data::NEW_OBJECT | mem::COPY | ad::COPY
                );
                let makes_active = makes
                    && self.activity.has_shadow(v)
                    && self.out.f.plain_operands(v).any(|o| self.activity.is_active(o));
                if self.activity.is_varied(v) || makes_active {
                    self.note(block, v, ActionKind::Op);
                }
            }
        }
        Ok(())
    }

    fn operand(&self, v: Value, index: usize) -> Operand {
        self.out.f.operand(v, index).expect("the verifier has counted the operands")
    }

    fn known_shadow(&self, operand: Operand) -> Option<Operand> {
        operand.as_value().and_then(|v| self.out.shadows.get(&v).copied())
    }

    /// Whether its fields are in memory.
    fn is_object(&self, operand: Operand) -> bool {
        self.ctx.struct_of(self.out.f.operand_type(operand)).is_some_and(|def| def.mutable)
    }

    /// The shadow of an active object.
    fn shadow_of(&self, object: Operand) -> Operand {
        self.known_shadow(object).unwrap_or_else(|| {
            let name = self.out.f.operand_text(object);
            panic!("{name} is active and has no shadow in {}", self.out.f)
        })
    }

    /// The element type of an array or ref type; `any` of `any`.
    fn element(&self, ty: Type) -> Type {
        element_type(&self.ctx, ty)
    }

    /// Lets the shadow part of a tangent be the shadow of `v`.
    fn take_shadow(
        &mut self,
        v: Value,
        ty: Type,
        tangent: Operand,
        at: Value,
    ) -> Result<(), Diagnostic> {
        if !self.activity.has_shadow(v) {
            return Ok(());
        }
        let shadow = self.with_before(at, |driver, ctx, emit| {
            let (of, cell) = (driver.types.of(ty), Cell::of(&mut driver.types, ty));
            parts::shadow_part(ctx, of, cell, tangent, emit)
        })?;
        let want = self.driver.types.shadow(ty);
        let shadow = self.as_type(shadow, want, at)?;
        self.out.shadows.insert(v, shadow);
        Ok(())
    }

    /// What a shadow holds for a value of which no cotangent has come yet, as a tangent of `ty`.
    fn initial(&mut self, value: Operand, ty: Type, at: Value) -> Result<Operand, Diagnostic> {
        let of = self.driver.types.of(ty);
        let shadow = self.shadow_for(value, of.shadow, at)?;
        let tangent = self.with_before(at, |driver, ctx, emit| {
            let cell = Cell::of(&mut driver.types, ty);
            let zero = parts::zero(ctx, of.cotangent, emit);
            parts::join_parts(ctx, of, cell, shadow, zero, emit)
        })?;
        self.as_type(tangent, of.tangent, at)
    }

    /// What is put into an object is put into its shadow as well, as far as it has one.
    fn put(&mut self, v: Value) -> Result<(), Diagnostic> {
        let (object, value) = (self.operand(v, 0), self.operand(v, 1));
        let ty = self.element(self.out.f.operand_type(object));
        let is_push = self.out.f.op(v) == Some(mem::PUSH);
        let cell = Cell::of(&mut self.driver.types, ty);
        if cell == Cell::Float && !is_push {
            return Ok(());
        }
        let after = self.after(v);
        let tangent = self.initial(value, ty, after)?;
        let mut inst = self.out.f.statement(v);
        inst.operand_list_mut()[0] = self.shadow_of(object);
        inst.operand_list_mut()[1] = tangent;
        self.before(after, inst)?;
        Ok(())
    }

    fn copy_to(&mut self, v: Value) -> Result<(), Diagnostic> {
        let (dest, source) = (self.operand(v, 0), self.operand(v, 1));
        let ty = self.element(self.out.f.operand_type(dest));
        if !self.driver.types.has_shadow(ty) || !self.activity.has_shadow(source) {
            return Ok(());
        }
        let after = self.after(v);
        let (dest, source) = (self.shadow_of(dest), self.shadow_of(source));
        self.before(after, mem::copyto(dest, source))?;
        Ok(())
    }

    /// The shadow of an object of a mutable struct as a ref to a named tuple, with the type of that.
    fn object_shadow(&mut self, object: Operand, at: Value) -> Result<(Operand, Type), Diagnostic> {
        let ty = self.out.f.operand_type(object);
        let Some(want) = self.driver.types.object_shadow(ty) else {
            let loc = self.out.f.loc(at);
            return Err(self
                .driver
                .error("fields of a value whose type is not known have no derivative", loc));
        };
        let shadow = self.shadow_of(object);
        let shadow = self.as_type(shadow, want, at)?;
        Ok((shadow, self.element(want)))
    }

    fn set_field(&mut self, v: Value) -> Result<(), Diagnostic> {
        let (object, value) = (self.operand(v, 0), self.operand(v, 2));
        let ty = self.out.f.operand_type(object);
        let after = self.after(v);
        let (shadow, named) = self.object_shadow(object, after)?;
        let Some((index, field)) = self.field(ty, self.operand(v, 1)) else {
            let loc = self.out.f.loc(v);
            let message = "a field that is known only when the program runs has no derivative";
            return Err(self.driver.error(message, loc));
        };
        let tangent = self.initial(value, field, after)?;
        let old = self.before(after, mem::ref_get(shadow))?;
        let new = self.with_before(after, |_, ctx, emit| {
            replace_part(ctx, named, old, index, tangent, emit)
        })?;
        self.before(after, mem::ref_set(shadow, new))?;
        Ok(())
    }

    /// The index from 0 and the type of a field that is a constant.
    fn field(&self, ty: Type, field: Operand) -> Option<(usize, Type)> {
        field_of(&self.ctx, ty, self.out.f.constant(field)?)
    }

    /// Makes the shadow of what an instruction gives, beside it.
    fn make_shadow(&mut self, v: Value) -> Result<(), Diagnostic> {
        let op = self.out.f.op(v).expect("it is an instruction");
        let ty = self.out.f.ty(v);
        let of = self.driver.types.of(ty);
        let at = self.after(v);
        let operands: Vec<Operand> = self.out.f.plain_operands(v).collect();
        let shadow = match op {
            core::SELECT => {
                let x = self.shadow_for(operands[1], of.shadow, at)?;
                let y = self.shadow_for(operands[2], of.shadow, at)?;
                self.before(at, core::select(operands[0], x, y))?
            }
            core::TYPEASSERT | core::CONVERT => self.shadow_for(operands[0], of.shadow, at)?,
            core::TUPLE | data::NAMED | data::NEW => {
                let wants = parts::part_types(&self.ctx, of.shadow);
                let mut shadows = Vec::with_capacity(operands.len());
                for (i, &operand) in operands.iter().enumerate() {
                    let want = wants.get(i).copied().unwrap_or(Type::ANY);
                    shadows.push(self.shadow_for(operand, want, at)?);
                }
                if of.shadow == Type::ANY {
                    // A struct that contains itself: its shadow is known as any.
                    let names: Vec<_> = match self.ctx.struct_of(ty) {
                        Some(def) => def.fields.iter().map(|&(name, _)| name).collect(),
                        None => Vec::new(),
                    };
                    let fields: Vec<_> = names.into_iter().map(|name| (name, Type::ANY)).collect();
                    let named = self.ctx.named_type(&fields);
                    let made = self.before(at, data::named(shadows, named))?;
                    self.as_type(made, Type::ANY, at)?
                } else {
                    self.with_before(at, |_, ctx, emit| {
                        parts::aggregate(ctx, of.shadow, &shadows, emit)
                    })?
                }
            }
            core::GET | data::GETFIELD
                if !self.is_object(operands[0]) && self.known_shadow(operands[0]).is_none() =>
            {
                // What is taken apart holds no object, whatever is known of its parts.
                self.with_before(at, |_, ctx, emit| parts::zero(ctx, of.shadow, emit))?
            }
            core::GET => {
                let from = self.shadow_of(operands[0]);
                let part = if self.out.f.operand_type(from) == Type::ANY {
                    self.before(at, data::getfield(from, operands[1]))?
                } else {
                    self.before(at, core::get(from, operands[1]))?
                };
                self.as_type(part, of.shadow, at)?
            }
            data::GETFIELD => self.field_shadow(v, &operands, at)?,
            core::GLOBAL => self.before(at, ad::global_shadow(v, of.shadow))?,
            core::UNDEF => self.before(at, core::undef(of.shadow))?,
            mem::ALLOC => {
                let element = self.element(ty);
                if Cell::of(&mut self.driver.types, element) == Cell::Value {
                    let zero = self.with_before(at, |driver, ctx, emit| {
                        parts::zero(ctx, driver.types.tangent(element), emit)
                    })?;
                    self.before(at, mem::fill(zero, operands))?
                } else {
                    self.before(at, mem::alloc(operands, of.shadow))?
                }
            }
            mem::FILL => {
                let element = self.element(ty);
                let value = self.initial(operands[0], element, at)?;
                self.before(at, mem::fill(value, operands[1..].iter().copied()))?
            }
            mem::ARRAY => {
                let element = self.element(ty);
                let mut tangents = Vec::with_capacity(operands.len());
                for &operand in &operands {
                    tangents.push(self.initial(operand, element, at)?);
                }
                self.before(at, mem::array(tangents, of.shadow))?
            }
            mem::REF_NEW => {
                let element = self.element(ty);
                let value = self.initial(operands[0], element, at)?;
                self.before(at, mem::ref_new(value))?
            }
            data::NEW_OBJECT => {
                let want = self.driver.types.object_shadow(ty).expect("it makes an object");
                let named = self.element(want);
                let fields: Vec<Type> = match self.ctx.struct_of(ty) {
                    Some(def) => def.fields.iter().map(|&(_, field)| field).collect(),
                    None => Vec::new(),
                };
                let mut tangents = Vec::with_capacity(operands.len());
                for (&operand, &field) in operands.iter().zip(&fields) {
                    tangents.push(self.initial(operand, field, at)?);
                }
                let content = self.before(at, data::named(tangents, named))?;
                let made = self.before(at, mem::ref_new(content))?;
                self.as_type(made, of.shadow, at)?
            }
            mem::COPY => {
                let element = self.element(ty);
                let cell = Cell::of(&mut self.driver.types, element);
                match (cell, self.activity.has_shadow(operands[0])) {
                    (Cell::Float, _) => self.zeros_like(v, of.shadow, at)?,
                    (_, true) => {
                        let from = self.shadow_of(operands[0]);
                        self.before(at, mem::copy(from))?
                    }
                    (_, false) => self.before(at, ad::zero(v, of.shadow))?,
                }
            }
            // What is in a tangent has shadows of its own, in the same places.
            ad::SHADOW | ad::COTANGENT | ad::JOIN | ad::ADD | ad::UNBOX => {
                self.shadow_for(operands[0], of.shadow, at)?
            }
            _ => {
                let zero = self.before(at, ad::zero(v, of.tangent))?;
                if of.tangent == of.shadow {
                    zero
                } else {
                    self.before(at, ad::shadow(zero, of.shadow))?
                }
            }
        };
        self.out.shadows.insert(v, shadow);
        Ok(())
    }

    /// An array of zeros of the shape of `v`.
    fn zeros_like(&mut self, v: Value, ty: Type, at: Value) -> Result<Operand, Diagnostic> {
        let rank = match *self.ctx.kind(ty) {
            TypeKind::Array { rank, .. } => usize::from(rank),
            _ => return self.before(at, ad::zero(v, ty)),
        };
        let mut dims = Vec::with_capacity(rank);
        if rank == 1 {
            dims.push(self.before(at, mem::length(v))?);
        } else {
            for i in 1..=rank {
                let index = self.ctx.constant_id(Constant::I64(i as i64));
                dims.push(self.before(at, mem::size(v, index))?);
            }
        }
        self.before(at, mem::alloc(dims, ty))
    }

    fn field_shadow(
        &mut self,
        v: Value,
        operands: &[Operand],
        at: Value,
    ) -> Result<Operand, Diagnostic> {
        let ty = self.out.f.operand_type(operands[0]);
        let of = self.driver.types.of(self.out.f.ty(v));
        if !self.ctx.struct_of(ty).is_some_and(|def| def.mutable) {
            let from = self.shadow_of(operands[0]);
            if ty == Type::ANY {
                let loc = self.out.f.loc(v);
                return Err(self
                    .driver
                    .error("fields of a value whose type is not known have no derivative", loc));
            }
            let part = self.before(at, data::getfield(from, operands[1]))?;
            return self.as_type(part, of.shadow, at);
        }
        let (shadow, _) = self.object_shadow(operands[0], at)?;
        let content = self.before(at, mem::ref_get(shadow))?;
        let tangent = self.before(at, data::getfield(content, operands[1]))?;
        let field = self.out.f.ty(v);
        let tangent = self.as_type(tangent, of.tangent, at)?;
        self.with_before(at, |driver, ctx, emit| {
            let cell = Cell::of(&mut driver.types, field);
            parts::shadow_part(ctx, of, cell, tangent, emit)
        })
    }

    fn call(&mut self, block: Block, v: Value) -> Result<(), Diagnostic> {
        let operands: Vec<Operand> = self.out.f.operands(v).collect();
        let is_active = operands.iter().any(|&o| self.activity.is_active(o));
        let kind = call_kind(&self.out.f, self.driver.module, v);
        if !is_active || kind == CallKind::Constant {
            // What it gives may have something active put into it later.
            if self.activity.has_shadow(v) {
                self.make_shadow(v)?;
            }
            return Ok(());
        }
        let loc = self.out.f.loc(v);
        match kind {
            CallKind::Constant => Ok(()),
            CallKind::Refused(text) => {
                let text = self.ctx.str(text).to_owned();
                Err(self.driver.error(&text, loc))
            }
            CallKind::Function { name, closure } => {
                let args = operands[usize::from(!closure)..].to_vec();
                self.call_function(block, v, name, args)
            }
            CallKind::Checkpoint(name) => {
                let closure = self.out.f.op(v) != Some(core::CALL)
                    && self.ctx.struct_of(self.out.f.operand_type(operands[0])).is_some();
                let args = operands[usize::from(!closure)..].to_vec();
                self.call_again(block, v, name, args)
            }
            CallKind::Rule(rule) => {
                let closure = self.out.f.op(v) != Some(core::CALL)
                    && self.ctx.struct_of(self.out.f.operand_type(operands[0])).is_some();
                let args = operands[usize::from(!closure)..].to_vec();
                self.call_rule(block, v, rule, args, closure)
            }
            CallKind::Dynamic => self.call_dynamic(block, v, operands, loc),
        }
    }

    /// The arguments of the forward part: those of the call, and the shadows of active ones.
    fn forward_args(
        &mut self,
        v: Value,
        pair: &Pair,
        args: &[Operand],
    ) -> Result<Vec<Operand>, Diagnostic> {
        let mut all = args.to_vec();
        for (i, &arg) in args.iter().enumerate() {
            if pair.active[i] && self.driver.types.has_shadow(pair.params[i]) {
                let want = self.driver.types.shadow(pair.params[i]);
                all.push(self.shadow_for(arg, want, v)?);
            }
        }
        Ok(all)
    }

    fn pair_for(
        &mut self,
        v: Value,
        name: regraft_ir::Symbol,
        args: &[Operand],
    ) -> Result<Pair, Diagnostic> {
        let active: Vec<bool> = args.iter().map(|&arg| self.activity.is_active(arg)).collect();
        let (loc, stable) = (self.out.f.loc(v), (self.is_stable)(v));
        self.driver.pair(name, &active, stable, loc)
    }

    fn call_function(
        &mut self,
        block: Block,
        v: Value,
        name: regraft_ir::Symbol,
        args: Vec<Operand>,
    ) -> Result<(), Diagnostic> {
        let pair = self.pair_for(v, name, &args)?;
        let all = self.forward_args(v, &pair, &args)?;
        let callee = self.ctx.constant_id(Constant::Func(pair.forward));
        let triple = self.before(v, core::call(callee, all, pair.forward_type))?;
        let tape = self.take_triple(v, triple)?;
        self.note(block, v, ActionKind::Call { pair, tape, args });
        Ok(())
    }

    /// Puts the first of three results in the place of `v`, makes the second its shadow, and returns
    /// the third.
    fn take_triple(&mut self, v: Value, triple: Operand) -> Result<Operand, Diagnostic> {
        let ctx = Arc::clone(&self.ctx);
        let index = |i: i64| ctx.constant_id(Constant::I64(i));
        let tape = self.before(v, core::get(triple, index(3)))?;
        if self.activity.has_shadow(v) {
            let shadow = self.before(v, core::get(triple, index(2)))?;
            let want = self.driver.types.shadow(self.out.f.ty(v));
            let shadow = self.as_type(shadow, want, v)?;
            self.out.shadows.insert(v, shadow);
        }
        self.become_part(v, triple, 1)?;
        Ok(tape)
    }

    /// Lets `v` be an element of a tuple.
    fn become_part(&mut self, v: Value, tuple: Operand, index: i64) -> Result<(), Diagnostic> {
        let ty = self.out.f.ty(v);
        let index = self.ctx.constant_id(Constant::I64(index));
        let loc = self.out.f.loc(v);
        let part = if self.out.f.operand_type(tuple) == Type::ANY {
            self.before(v, data::getfield(tuple, index))?
        } else {
            self.before(v, core::get(tuple, index))?
        };
        let have = self.out.f.operand_type(part);
        let inst = if have == Type::ANY && ty != Type::ANY {
            core::typeassert(part, ty)
        } else {
            core::convert(part, ty)
        };
        self.out.f.replace(v, inst.at(loc))?;
        Ok(())
    }

    fn call_again(
        &mut self,
        block: Block,
        v: Value,
        name: regraft_ir::Symbol,
        args: Vec<Operand>,
    ) -> Result<(), Diagnostic> {
        let loc = self.out.f.loc(v);
        if self.driver.writes_arguments(name) {
            return Err(self.driver.error(
                "a function that changes its arguments cannot be run again on the way back",
                loc,
            ));
        }
        let pair = self.pair_for(v, name, &args)?;
        let mut shadows = Vec::new();
        for (i, &arg) in args.iter().enumerate() {
            if pair.active[i] && self.driver.types.has_shadow(pair.params[i]) {
                let want = self.driver.types.shadow(pair.params[i]);
                shadows.push(self.shadow_for(arg, want, v)?);
            }
        }
        if self.activity.has_shadow(v) {
            let of = self.driver.types.of(self.out.f.ty(v));
            let at = self.after(v);
            let zero = self.before(at, ad::zero(v, of.tangent))?;
            let shadow = if of.tangent == of.shadow {
                zero
            } else {
                self.before(at, ad::shadow(zero, of.shadow))?
            };
            self.out.shadows.insert(v, shadow);
        }
        self.note(block, v, ActionKind::Again { pair, args, shadows });
        Ok(())
    }

    fn call_rule(
        &mut self,
        block: Block,
        v: Value,
        rule: regraft_ir::Symbol,
        args: Vec<Operand>,
        closure: bool,
    ) -> Result<(), Diagnostic> {
        let ty = self.driver.return_type(rule).unwrap_or(Type::ANY);
        let callee = self.ctx.constant_id(Constant::Func(rule));
        let both = self.before(v, core::call(callee, args.iter().copied(), ty))?;
        let two = self.ctx.constant_id(Constant::I64(2));
        let pullback = if ty == Type::ANY {
            self.before(v, data::getfield(both, two))?
        } else {
            self.before(v, core::get(both, two))?
        };
        self.become_part(v, both, 1)?;
        if self.activity.has_shadow(v) {
            let of = self.driver.types.of(self.out.f.ty(v));
            let at = self.after(v);
            let zero = self.before(at, ad::zero(v, of.tangent))?;
            let shadow = if of.tangent == of.shadow {
                zero
            } else {
                self.before(at, ad::shadow(zero, of.shadow))?
            };
            self.out.shadows.insert(v, shadow);
        }
        self.note(block, v, ActionKind::Rule { pullback, args, closure });
        Ok(())
    }

    fn call_dynamic(
        &mut self,
        block: Block,
        v: Value,
        operands: Vec<Operand>,
        loc: Loc,
    ) -> Result<(), Diagnostic> {
        let Some(name) = self.driver.options.dynamic else {
            let message = "what is called here is known only when the program runs";
            return Err(self.driver.error(message, loc));
        };
        if self.out.f.op(v) == Some(core::SPLAT) {
            let message = "a call whose number of arguments is known only when the program runs \
                           has no derivative";
            return Err(self.driver.error(message, loc));
        }
        let mut shadows = Vec::with_capacity(operands.len());
        for &operand in &operands {
            let want = self.driver.types.shadow(self.out.f.operand_type(operand));
            shadows.push(self.shadow_for(operand, want, v)?);
        }
        let shadows = self.before(v, core::tuple(shadows))?;
        let forward = self.ctx.constant_id(Constant::Func(name));
        let mut all = vec![operands[0], shadows];
        all.extend_from_slice(&operands[1..]);
        let four = self.before(v, core::apply(forward, all, Type::ANY))?;
        let ctx = Arc::clone(&self.ctx);
        let index = |i: i64| ctx.constant_id(Constant::I64(i));
        let tape = self.before(v, data::getfield(four, index(3)))?;
        let back = self.before(v, data::getfield(four, index(4)))?;
        if self.activity.has_shadow(v) {
            let shadow = self.before(v, data::getfield(four, index(2)))?;
            let want = self.driver.types.shadow(self.out.f.ty(v));
            let shadow = self.as_type(shadow, want, v)?;
            self.out.shadows.insert(v, shadow);
        }
        self.become_part(v, four, 1)?;
        self.note(block, v, ActionKind::Dynamic { back, tape, args: operands });
        Ok(())
    }

    /// Finds what is returned.
    fn ending(&mut self, blocks: &[Block]) -> Result<(), Diagnostic> {
        let exit = blocks.iter().copied().find(|&block| {
            self.out.f.op(Value::terminator(block)) == Some(regraft_dialects::cf::RETURN)
        });
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

/// The element type of an array or ref type; `any` of `any`.
pub(super) fn element_type(ctx: &Context, ty: Type) -> Type {
    match *ctx.kind(ty) {
        TypeKind::Array { element, .. } | TypeKind::Ref(element) => element,
        _ => Type::ANY,
    }
}

/// The index from 0 and the type of a field of a struct, named tuple or tuple.
pub(super) fn field_of(ctx: &Context, ty: Type, field: Constant) -> Option<(usize, Type)> {
    let fields: Vec<(Option<regraft_ir::Symbol>, Type)> = match ctx.kind(ty) {
        TypeKind::Tuple(parts) => parts.iter().map(|&part| (None, part)).collect(),
        TypeKind::Named(fields) => fields.iter().map(|&(name, ty)| (Some(name), ty)).collect(),
        &TypeKind::Struct(id) => {
            let def = ctx.struct_def(id);
            def.fields.iter().map(|&(name, ty)| (Some(name), ty)).collect()
        }
        _ => return None,
    };
    let index = match field {
        Constant::I64(index) => usize::try_from(index).ok()?.checked_sub(1)?,
        Constant::Sym(name) => fields.iter().position(|&(field, _)| field == Some(name))?,
        _ => return None,
    };
    Some((index, fields.get(index)?.1))
}

/// A tuple or named tuple with one part replaced.
pub(super) fn replace_part(
    ctx: &Context,
    ty: Type,
    old: Operand,
    index: usize,
    new: Operand,
    emit: &mut parts::Emit<'_>,
) -> Operand {
    let count = parts::part_types(ctx, ty).len();
    let made: Vec<Operand> =
        (0..count).map(|i| if i == index { new } else { parts::part(ctx, old, i, emit) }).collect();
    parts::aggregate(ctx, ty, &made, emit)
}
