//! Specialisations: the table of them, and how many there may be.

mod recursion;

use std::hash::BuildHasher;
use std::rc::Rc;
use std::sync::Arc;

use regraft_dialects::core as core_ops;
use regraft_ir::{Constant, Function, Inst, Operand, Symbol, Type, Value};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::frame::{Frame, Order};
use super::lattice::Lattice;
use super::method::MethodFacts;
use super::{Compiler, Owner};
use crate::definition::Space;
use crate::world::{MethodId, MethodMatch, SpecId, StaticValue};

/// From how many nested calls of one method on they may not grow any more.
pub const MAX_GROWING: usize = 4;
/// How many calls of one method may be nested in the inference of each other, if each is another
/// specialisation.
pub const MAX_NESTED: usize = 64;
/// How many specialisations may be in inference at once.
pub const MAX_DEEP: usize = 10_000;
/// How many specialisations of one method there may be for static calls.
pub const MAX_SPECS: u32 = 10_000;

/// How far the inference of a specialisation has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// It has to be inferred (again).
    New,
    /// It is on the stack at this place.
    Running(usize),
    /// It is right if the estimates of those on the stack from this place on are.
    Provisional(usize),
    /// It is settled.
    Done,
}

/// A specialisation that is being inferred.
#[derive(Debug)]
pub(super) struct Running {
    method: Option<MethodId>,
    /// The lowest place on the stack of which an estimate was used.
    low: usize,
    /// Whether somebody used its own estimate.
    was_read: bool,
    /// Whether an estimate changed that somebody used.
    unstable: bool,
    /// How much its types are made of.
    size: u32,
}

/// A method with what is known of its arguments.
#[derive(Debug)]
pub struct Spec {
    /// Its id.
    pub id: SpecId,
    /// Of which method; `None` for a thunk and for what wraps an op.
    pub method: Option<MethodId>,
    /// The type of what is called.
    pub callee: Type,
    /// What is known of each parameter of its function.
    pub key: SmallVec<[Lattice; 4]>,
    /// The name of the generic function.
    pub shown: Symbol,
    /// Where names in it are looked up.
    pub space: Space,
    /// The values of the type parameters.
    pub statics: Rc<[StaticValue]>,
    /// The names of the type parameters.
    pub static_names: Rc<[Symbol]>,
    /// Whether the callee is the first parameter.
    pub takes_callee: bool,
    /// How many arguments come before those that are packed into a tuple, if any are.
    pub fixed: Option<usize>,
    /// `@inline` or `@noinline`.
    pub inline: Option<bool>,
    /// What is known of its result.
    pub result: Lattice,
    /// Whether calls that are not needed for their result can be left away.
    pub effect_free: bool,
    state: State,
    /// What was inferred, until its function is emitted.
    pub(crate) frame: Option<Box<Frame>>,
    pub(crate) body: Arc<Function>,
    order: Rc<Order>,
    pub(crate) function: Option<Rc<Function>>,
    /// The name of its function, once it has one.
    pub(crate) name: Option<Symbol>,
    pub(crate) is_emitting: bool,
}

impl Spec {
    /// Whether it is settled.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Whether its code may be put in the place of calls of it.
    pub fn may_expand(&self) -> bool {
        match self.inline {
            Some(inline) => inline,
            // Anonymous functions are part of the code around them.
            None => self.method.is_some() && (self.space == Space::Base || self.takes_callee),
        }
    }

    pub(super) fn hash(&self) -> u64 {
        hash(self.method, self.callee, &self.key)
    }
}

fn hash(method: Option<MethodId>, callee: Type, key: &[Lattice]) -> u64 {
    FxBuildHasher.hash_one((method, callee, key))
}

impl Compiler {
    /// The specialisation for these arguments, unless there would be too many.
    pub(super) fn find_spec(
        &mut self,
        facts: &MethodFacts,
        found: &MethodMatch,
        callee: Type,
        args: &[Type],
        key: &[Lattice],
    ) -> Option<SpecId> {
        if let Some(id) = self.known_spec(facts.id, callee, key) {
            return Some(id);
        }
        if self.is_too_deep(facts.id, key) {
            return None;
        }
        Some(self.make_spec(facts, found, callee, args, key))
    }

    pub(super) fn known_spec(
        &self,
        method: MethodId,
        callee: Type,
        key: &[Lattice],
    ) -> Option<SpecId> {
        let code = hash(Some(method), callee, key);
        let same = |&(other, id): &(u64, SpecId)| {
            if other != code {
                return false;
            }
            let spec = self.spec(id);
            spec.method == Some(method) && spec.callee == callee && *spec.key == *key
        };
        self.spec_table.find(code, same).map(|&(_, id)| id)
    }

    fn is_too_deep(&mut self, method: MethodId, key: &[Lattice]) -> bool {
        if self.stack.len() >= MAX_DEEP
            || self.spec_counts.get(method.0 as usize).is_some_and(|&count| count >= MAX_SPECS)
        {
            return true;
        }
        // Most calls are not nested in others of the same method.
        let nested = self.stack.iter().filter(|running| running.method == Some(method)).count();
        if nested < MAX_GROWING {
            return false;
        }
        let size = self.key_size(key);
        let grows = self
            .stack
            .iter()
            .filter(|running| running.method == Some(method))
            .all(|running| running.size < size);
        nested >= MAX_NESTED || grows
    }

    fn key_size(&mut self, key: &[Lattice]) -> u32 {
        key.iter().fold(0, |size: u32, &value| {
            let ty = self.partials.type_of(value);
            size.saturating_add(self.size_of(ty))
        })
    }

    /// A new specialisation for these arguments.
    pub(super) fn make_spec(
        &mut self,
        facts: &MethodFacts,
        found: &MethodMatch,
        callee: Type,
        args: &[Type],
        key: &[Lattice],
    ) -> SpecId {
        let id = self.world.new_spec();
        let shared = facts.order.clone();
        let (body, order) = match self.world.body(found, callee, args, Some(id)) {
            Ok(body) => {
                let order = shared.unwrap_or_else(|| Rc::new(Order::of(&body)));
                (body, order)
            }
            Err(error) => {
                let body = self.failing_body(error.message(), key.len());
                let order = Rc::new(Order::of(&body));
                (body, order)
            }
        };
        let index = facts.id.0 as usize;
        if self.spec_counts.len() <= index {
            self.spec_counts.resize(index + 1, 0);
        }
        self.spec_counts[index] += 1;
        self.add_spec(Spec {
            id,
            method: Some(facts.id),
            callee,
            key: SmallVec::from_slice(key),
            shown: facts.name,
            space: facts.space,
            statics: Rc::clone(&found.statics),
            static_names: Rc::clone(&facts.statics),
            takes_callee: facts.takes_callee,
            fixed: facts.vararg.then(|| facts.params - 1),
            inline: facts.inline,
            result: Lattice::Bottom,
            effect_free: false,
            state: State::New,
            frame: None,
            body,
            order,
            function: None,
            name: None,
            is_emitting: false,
        })
    }

    fn add_spec(&mut self, spec: Spec) -> SpecId {
        let (id, code) = (spec.id, spec.hash());
        self.insert_spec(Box::new(spec));
        self.spec_table.insert_unique(code, (code, id), |&(code, _)| code);
        id
    }

    pub(super) fn insert_spec(&mut self, spec: Box<Spec>) {
        self.own(spec.id, Owner::Spec);
        let index = spec.id.0 as usize;
        if self.specs.len() <= index {
            self.specs.resize_with(index + 1, || None);
        }
        self.specs[index] = Some(spec);
    }

    /// A specialisation of code that is no method's.
    pub(super) fn body_spec(
        &mut self,
        body: &Arc<Function>,
        name: Symbol,
        space: Space,
        key: &[Lattice],
    ) -> SpecId {
        let id = self.world.new_spec();
        self.add_spec(Spec {
            id,
            method: None,
            callee: Type::ANY,
            key: SmallVec::from_slice(key),
            shown: name,
            space,
            statics: Rc::new([]),
            static_names: Rc::new([]),
            takes_callee: false,
            fixed: None,
            inline: None,
            result: Lattice::Bottom,
            effect_free: false,
            state: State::New,
            frame: None,
            body: Arc::clone(body),
            order: Rc::new(Order::of(body)),
            function: None,
            name: None,
            is_emitting: false,
        })
    }

    /// A specialisation of code that carries out a rule.
    pub(crate) fn rule_spec(
        &mut self,
        body: &Arc<Function>,
        name: Symbol,
        key: &[Lattice],
    ) -> SpecId {
        let id = self.body_spec(body, name, Space::Base, key);
        self.infer(id);
        id
    }

    /// A specialisation whose typed function is there already.
    pub(crate) fn made_spec(&mut self, function: Function) -> SpecId {
        let name = function.name();
        let key: Vec<Lattice> =
            function.param_types().into_iter().map(|ty| self.partials.of_type(ty)).collect();
        let result = self.partials.of_type(function.ret_type());
        let body = Function::without_entry(&self.ctx, "", Type::ANY);
        let id = self.body_spec(&Arc::new(body), name, Space::Base, &key);
        let spec = self.spec_mut(id);
        spec.result = result;
        spec.state = State::Done;
        spec.function = Some(Rc::new(function));
        self.set_name(id, name);
        id
    }

    /// A function that does what an op or a type function does, for calls of it as a value.
    pub(super) fn wrapper(&mut self, name: Symbol, args: &[Type]) -> SpecId {
        let key: Vec<Lattice> = args.iter().map(|&ty| self.partials.of_type(ty)).collect();
        self.wrapper_of(name, &key)
    }

    /// A function that calls a type function with these very arguments, which it is given again.
    pub(crate) fn wrapper_of_constants(&mut self, name: Symbol, args: &[Constant]) -> SpecId {
        self.sync();
        let constant = |&constant| Lattice::Const(self.ctx.constant_id(constant));
        let key: Vec<Lattice> = args.iter().map(constant).collect();
        self.wrapper_of(name, &key)
    }

    fn wrapper_of(&mut self, name: Symbol, args: &[Lattice]) -> SpecId {
        let callee = self.ctx.ty(regraft_ir::TypeKind::Fn(name));
        let key = args;
        let same = |&(_, id): &(u64, SpecId)| {
            let spec = self.spec(id);
            spec.method.is_none() && spec.callee == callee && *spec.key == *key
        };
        if let Some(&(_, id)) = self.spec_table.find(hash(None, callee, key), same) {
            return id;
        }
        let mut body =
            Function::new(&self.ctx, self.ctx.str(name), &vec![Type::ANY; args.len()], Type::ANY);
        let entry = body.entry().expect("a new function has an entry");
        let params: Vec<Value> = body.params(entry).collect();
        let target = Operand::from(self.ctx.constant_id(Constant::Func(name)));
        let call = core_ops::call(target, params, Type::ANY);
        let result = body.push(entry, call).expect("a call of a function is one");
        let ret = regraft_dialects::cf::ret(result);
        body.set_terminator(entry, ret).expect("any value can be returned");
        let id = self.body_spec(&Arc::new(body), name, Space::Base, key);
        // It was entered without its callee.
        let made = self.specs[id.0 as usize].take();
        let spec = made.expect("it was just made");
        if let Ok(entry) = self.spec_table.find_entry(spec.hash(), |&(_, other)| other == id) {
            entry.remove();
        }
        self.add_spec(Spec { callee, ..*spec });
        self.infer(id);
        id
    }

    /// Whether the code is that of [`Compiler::wrapper`].
    pub(super) fn in_wrapper(&self, frame: &Frame) -> bool {
        let spec = self.spec(frame.spec);
        spec.method.is_none() && spec.callee != Type::ANY
    }

    /// A body that fails with a message.
    fn failing_body(&self, message: &str, params: usize) -> Arc<Function> {
        let mut body = Function::new(&self.ctx, "", &vec![Type::ANY; params], Type::ANY);
        let entry = body.entry().expect("a new function has an entry");
        let message = self.ctx.constant_id(Constant::Str(self.ctx.symbol(message)));
        let throw: Inst = core_ops::throw(message);
        body.push(entry, throw).expect("a text can be thrown");
        let end = regraft_dialects::cf::unreachable();
        body.set_terminator(entry, end).expect("a block can end");
        Arc::new(body)
    }
}

/// What emission needs of the table.
impl Compiler {
    pub(crate) fn spec_for_emission(&mut self, id: SpecId) -> &mut Spec {
        self.spec_mut(id)
    }

    pub(crate) fn set_name(&mut self, id: SpecId, name: Symbol) {
        self.spec_mut(id).name = Some(name);
        self.by_name.insert(name, id);
    }
}
