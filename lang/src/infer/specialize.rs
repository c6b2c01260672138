//! Makes specialisations, and finds those that there are.

use std::rc::Rc;
use std::sync::Arc;

use regraft_dialects::core as core_ops;
use regraft_ir::{Constant, Diagnostic, Function, Inst, Operand, Symbol, Type, TypeKind, Value};
use smallvec::SmallVec;

use super::frame::{Frame, Order};
use super::inference::{CallError, Inference, Owner};
use super::lattice::Lattice;
use super::lookup::Found;
use super::method_facts::MethodFacts;
use super::spec::{MAX_DEEP, MAX_GROWING, MAX_NESTED, MAX_SPECS, Spec, State, hash};
use crate::definition::{Space, Thunk};
use crate::world::{Dispatch, MethodId, MethodMatch, SpecId};

impl Inference {
    /// The specialisation that a call of a value of type `callee` with arguments of these types
    /// runs: `fn<@foo>` for a function, `type<@P>` for a constructor, the type of a closure.
    ///
    /// # Errors
    /// If there is no method for them, or no single one.
    pub fn specialize(&mut self, callee: Type, args: &[Type]) -> Result<SpecId, CallError> {
        self.sync();
        self.specialize_within(callee, args, None)
    }

    /// The same while something else is inferred, when definitions do not change. `by` depends on
    /// which method that is.
    pub(crate) fn specialize_within(
        &mut self,
        callee: Type,
        args: &[Type],
        by: Option<SpecId>,
    ) -> Result<SpecId, CallError> {
        if let TypeKind::Fn(name) = *self.ctx.kind(callee) {
            if self.op_named(name).is_some() || self.builtins.contains_key(&name) {
                if let Some(made) = self.made_for_dynamic(name, args, by) {
                    return Ok(made);
                }
                return Ok(self.wrapper(name, args));
            }
            // A function of a derivative, by its own name.
            if let Some(id) = self.spec_by_name(name)
                && self.spec(id).method.is_none()
            {
                return Ok(id);
            }
        }
        let (lookup, found) = self.lookup(callee, args);
        if let Some(by) = by {
            self.world.depend(by, lookup);
        }
        let Found::Method(facts, found) = found else {
            return Err(self.call_error(callee, args));
        };
        let mut key: SmallVec<[Lattice; 8]> = SmallVec::new();
        if facts.takes_callee {
            key.push(self.partials.of_type(callee));
        }
        let known: SmallVec<[Lattice; 8]> =
            args.iter().map(|&ty| self.partials.of_type(ty)).collect();
        if facts.vararg {
            let fixed = facts.params - 1;
            key.extend_from_slice(&known[..fixed]);
            key.push(self.partials.tuple(&known[fixed..]));
        } else {
            key.extend(known);
        }
        let spec = match self.known_spec(Some(facts.id), callee, &key) {
            Some(spec) => spec,
            None => self.make_spec(&facts, &found, callee, args, &key),
        };
        self.world.depend(spec, lookup);
        self.infer(spec);
        Ok(spec)
    }

    /// Returns the reason why a call cannot be made.
    fn call_error(&mut self, callee: Type, args: &[Type]) -> CallError {
        let (message, help) = match self.world.dispatch(callee, args, None) {
            Dispatch::Ambiguous(methods) => self.world.ambiguous(callee, args, &methods),
            _ => self.world.no_method(callee, args),
        };
        CallError { message, help }
    }

    /// The specialisation of code at top level. It is of one use: see [`Inference::forget`].
    pub fn thunk(&mut self, thunk: &Thunk, space: Space) -> Result<SpecId, Vec<Diagnostic>> {
        for closure in &thunk.closures {
            self.world.register_closure(closure)?;
        }
        self.sync();
        let name = self.ctx.symbol("top level");
        let spec = self.body_spec(&thunk.body, name, space, &[]);
        self.infer(spec);
        Ok(spec)
    }
}

impl Inference {
    /// The specialisation for these arguments, unless there would be too many.
    pub(super) fn find_spec(
        &mut self,
        facts: &MethodFacts,
        found: &MethodMatch,
        callee: Type,
        args: &[Type],
        key: &[Lattice],
    ) -> Option<SpecId> {
        if let Some(id) = self.known_spec(Some(facts.id), callee, key) {
            return Some(id);
        }
        if self.is_too_deep(facts.origin(), key) {
            return None;
        }
        Some(self.make_spec(facts, found, callee, args, key))
    }

    pub(super) fn known_spec(
        &self,
        method: Option<MethodId>,
        callee: Type,
        key: &[Lattice],
    ) -> Option<SpecId> {
        let code = hash(method, callee, key);
        let same = |&(other, id): &(u64, SpecId)| {
            if other != code {
                return false;
            }
            let spec = self.spec(id);
            spec.method == method && spec.callee == callee && *spec.key == *key
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
        let (mut nested, mut steps, mut largest) = (0, 0, 0);
        for running in self.stack.iter().filter(|running| running.origin == Some(method)) {
            nested += 1;
            if running.size > largest {
                (steps, largest) = (steps + 1, running.size);
            }
        }
        if nested < MAX_GROWING {
            return false;
        }
        nested >= MAX_NESTED || steps >= MAX_GROWING && self.key_size(key) > largest
    }

    pub(super) fn key_size(&mut self, key: &[Lattice]) -> u32 {
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
        let (body, statics) = match &facts.made {
            Some(made) => {
                self.world.depend(id, made.lookup);
                (Arc::clone(&made.function), &made.statics)
            }
            None => match self.world.body(found, callee, args, Some(id)) {
                Ok(code) => (code.function, &found.statics),
                Err(errors) => (self.failing_body(&errors, key.len()), &found.statics),
            },
        };
        let order = facts.order.clone().unwrap_or_else(|| Rc::new(Order::of(&body)));
        let origin = facts.origin();
        let index = origin.0 as usize;
        if self.spec_counts.len() <= index {
            self.spec_counts.resize(index + 1, 0);
        }
        self.spec_counts[index] += 1;
        self.add_spec(Spec {
            method: Some(facts.id),
            origin: Some(origin),
            callee,
            statics: Rc::clone(statics),
            static_names: Rc::clone(&facts.statics),
            takes_callee: facts.takes_callee,
            fixed: facts.vararg.then(|| facts.params - 1),
            inline: facts.inline,
            ..Spec::of_body(id, facts.name, facts.space, key, body, order)
        })
    }

    fn add_spec(&mut self, spec: Spec) -> SpecId {
        let (id, code) = (spec.id, spec.hash());
        if let Some(method) = spec.method {
            self.specs_of.entry(method).or_default().push(id);
        }
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
        let order = Rc::new(Order::of(body));
        self.add_spec(Spec::of_body(id, name, space, key, Arc::clone(body), order))
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
        let callee = self.ctx.ty(TypeKind::Fn(name));
        if let Some(id) = self.known_spec(None, callee, args) {
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
        let id = self.world.new_spec();
        let order = Rc::new(Order::of(&body));
        let spec = Spec::of_body(id, name, Space::Base, args, Arc::new(body), order);
        self.add_spec(Spec { callee, ..spec });
        self.infer(id);
        id
    }

    /// Returns whether the code is that of [`Inference::wrapper`].
    pub(super) fn in_wrapper(&self, frame: &Frame) -> bool {
        let spec = self.spec(frame.spec);
        spec.method.is_none() && spec.callee != Type::ANY
    }

    /// A body that fails with the message of an error.
    pub(super) fn failing_body(&self, errors: &[Diagnostic], params: usize) -> Arc<Function> {
        let message = errors.first().map_or("the code is wrong", |error| error.message());
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

/// Access of emission to the table.
impl Inference {
    pub(crate) fn spec_for_emission(&mut self, id: SpecId) -> &mut Spec {
        self.spec_mut(id)
    }

    pub(crate) fn set_name(&mut self, id: SpecId, name: Symbol) {
        self.spec_mut(id).name = Some(name);
        self.by_name.insert(name, id);
    }
}
