//! Resolves a call: to an op, a type function, a specialisation, or dynamic dispatch in the
//! running program.
//!
//! Names and methods are looked up once for each name and each combination of argument types;
//! every specialisation that used an answer depends on it, so that a definition which changes the
//! answer invalidates them.

use std::rc::Rc;
use std::sync::Arc;

use regraft_dialects::{core as core_ops, data};
use regraft_ir::{Attrs, Constant, OpDef, Symbol, Type, TypeKind};
use smallvec::SmallVec;

use super::frame::{Arg, Args, Frame, StepKind};
use super::inference::{Inference, Name, Owner};
use super::known_ops::{Answer, Question};
use super::lattice::{Lattice, field_types};
use super::lookup::{Found, Lookup};
use super::method_facts::{Code, MethodFacts, Piece};
use crate::world::{Binding, Dispatch, MethodMatch, SpecId};

impl Inference {
    /// A call by name.
    pub(super) fn call_name(
        &mut self,
        frame: &mut Frame,
        name: Symbol,
        args: &[Arg],
        attrs: Attrs,
    ) -> Arg {
        let question = Question::new(frame, name, args, attrs);
        if let Some(question) = &question
            && let Some(answer) = self.known_ops.answer(question)
        {
            let [name, method] = answer.from;
            self.depend(frame, name);
            self.depend(frame, method);
            return answer.replay(frame, args);
        }
        match self.name(frame, name, frame.space) {
            Name::Op(def) => self.call_op(frame, def, args, attrs),
            Name::Builtin(builtin) => self.builtin(frame, builtin, args),
            Name::Binding(Binding::Function(function)) => {
                let callee = self.constant_arg(Constant::Func(function));
                let first_step = frame.steps.len();
                let (lookup, found) = self.found_for(frame, callee, args);
                match found {
                    Found::Method(facts, _) if matches!(facts.code, Code::Op { .. }) => {
                        let result = self.call_code(frame, &facts, callee, args, attrs);
                        if let Some(question) = question
                            && let Some(&(Some(said), _)) = self.names.get(&(name, frame.space))
                            && let Some(answer) =
                                Answer::of(frame, &facts, first_step, result, [said, lookup])
                        {
                            self.known_ops.remember(question, answer);
                        }
                        result
                    }
                    found => self.call_found(frame, found, callee, args, attrs),
                }
            }
            Name::Binding(binding) => {
                let callee = self.bound(frame, name, binding);
                self.call_value(frame, callee, args, attrs)
            }
        }
    }

    /// Makes a closure.
    pub(super) fn closure(&mut self, frame: &mut Frame, name: Symbol, captures: &[Arg]) -> Arg {
        let types = self.types_of(frame, captures);
        match self.world.closure_type(name, &types) {
            Some(ty) => self.op(frame, self.ctx.def(data::NEW), captures, ty, Attrs::NONE),
            None => self.fail(frame, "a closure that is not known"),
        }
    }

    /// A call of a value.
    pub(super) fn call_value(
        &mut self,
        frame: &mut Frame,
        callee: Arg,
        args: &[Arg],
        attrs: Attrs,
    ) -> Arg {
        let known = frame.lattice(callee);
        if let Some(Constant::Func(name)) = self.partials.value(known) {
            if let Some(&builtin) = self.builtins.get(&name) {
                return self.builtin(frame, builtin, args);
            }
            if let Some(def) = self.op_named(name) {
                return self.call_op(frame, def, args, attrs);
            }
        }
        if !self.partials.is_exact(known) {
            return self.dynamic(frame, callee, args);
        }
        let (_, found) = self.found_for(frame, callee, args);
        self.call_found(frame, found, callee, args, attrs)
    }

    /// The op of this name.
    pub(super) fn op_named(&self, name: Symbol) -> Option<&'static OpDef> {
        let text = self.ctx.str(name);
        let text = text.strip_prefix("Base.").unwrap_or(text);
        if text.contains('.') { self.ctx.registry().find(text) } else { None }
    }

    /// A call that is decided when it runs.
    pub(super) fn dynamic(&mut self, frame: &mut Frame, callee: Arg, args: &[Arg]) -> Arg {
        if let Some(result) = self.split_call(frame, callee, args) {
            return result;
        }
        if let Some(result) = self.split_by_methods(frame, callee, args) {
            return result;
        }
        let known = self.result_of_members(frame, callee, args);
        let result = match known {
            Lattice::Union(_) => known,
            _ => Lattice::ANY,
        };
        let result = self.apply(frame, callee, args, result);
        match self.partials.is_exact(known) {
            true => self.assert_type(frame, result, self.partials.type_of(known)),
            false => result,
        }
    }

    /// A call that fails when control gets to it, with the error of the call resolver.
    pub(super) fn no_method(&mut self, frame: &mut Frame, callee: Arg, args: &[Arg]) -> Arg {
        self.apply(frame, callee, args, Lattice::Bottom)
    }

    fn apply(&mut self, frame: &mut Frame, callee: Arg, args: &[Arg], result: Lattice) -> Arg {
        frame.effect_free = false;
        let mut operands: Args = SmallVec::with_capacity(args.len() + 1);
        operands.push(callee);
        operands.extend_from_slice(args);
        frame.push(StepKind::Op(core_ops::APPLY, Type::ANY), &operands, result, Attrs::NONE)
    }

    /// The method for arguments of these types, once for each combination.
    pub(super) fn lookup(&mut self, callee: Type, args: &[Type]) -> (SpecId, Found) {
        use std::hash::BuildHasher;
        let hash = |callee: Type, args: &[Type]| rustc_hash::FxBuildHasher.hash_one((callee, args));
        let code = hash(callee, args);
        let lookups = &self.lookups;
        let same = |&i: &u32| {
            let lookup = &lookups[i as usize];
            lookup.callee == callee && *lookup.args == *args
        };
        if let Some(&i) = self.lookup_table.find(code, same) {
            let lookup = &self.lookups[i as usize];
            return (lookup.id, lookup.found.clone());
        }
        let id = self.world.new_spec();
        let found = match self.world.dispatch(callee, args, Some(id)) {
            Dispatch::Method(_) if self.waits(callee) && !self.are_exact(args) => Found::Unknown,
            Dispatch::Method(found) => {
                let mut facts = self.facts_for(&found, callee, args, id);
                // What there is a rule for is called, whatever it is.
                if self.has_rule(callee, args, id) {
                    let (code, inline) = (Code::Body, Some(false));
                    facts = Rc::new(MethodFacts { code, inline, ..(*facts).clone() });
                }
                Found::Method(facts, found)
            }
            Dispatch::None | Dispatch::Ambiguous(_) => Found::Fails,
            Dispatch::Unknown => Found::Unknown,
        };
        let index = self.lookups.len() as u32;
        self.own(id, Owner::Lookup(index));
        self.lookups.push(Lookup {
            callee,
            args: SmallVec::from_slice(args),
            id,
            found: found.clone(),
        });
        let lookups = &self.lookups;
        self.lookup_table.insert_unique(code, index, |&i| {
            hash(lookups[i as usize].callee, &lookups[i as usize].args)
        });
        (id, found)
    }

    /// Returns whether what a function does depends on the types of its arguments as they are when
    /// it is called: the element type of a new array; whether what is called may be run again.
    fn waits(&self, callee: Type) -> bool {
        const NAMES: [&str; 3] = ["#filled", "#new_ref", "checkpoint"];
        match *self.ctx.kind(callee) {
            TypeKind::Fn(name) => NAMES.contains(&self.ctx.str(name)),
            _ => false,
        }
    }

    fn are_exact(&self, types: &[Type]) -> bool {
        types.iter().all(|&ty| self.partials.is_exact(self.partials.of_type(ty)))
    }

    fn types_of(&self, frame: &Frame, args: &[Arg]) -> SmallVec<[Type; 8]> {
        args.iter().map(|&arg| self.partials.type_of(frame.lattice(arg))).collect()
    }

    /// The method that a call runs.
    pub(super) fn found_for(
        &mut self,
        frame: &mut Frame,
        callee: Arg,
        args: &[Arg],
    ) -> (SpecId, Found) {
        let callee_type = self.partials.type_of(frame.lattice(callee));
        let types = self.types_of(frame, args);
        let (id, found) = self.lookup(callee_type, &types);
        self.depend(frame, id);
        (id, found)
    }

    pub(super) fn call_found(
        &mut self,
        frame: &mut Frame,
        found: Found,
        callee: Arg,
        args: &[Arg],
        attrs: Attrs,
    ) -> Arg {
        let (facts, found) = match found {
            Found::Method(facts, _) if frame.is_late && !facts.is_op_of_library() => {
                return self.dynamic(frame, callee, args);
            }
            Found::Fails if frame.is_late => return self.dynamic(frame, callee, args),
            Found::Method(facts, found) => (facts, found),
            Found::Fails => return self.no_method(frame, callee, args),
            Found::Unknown => return self.dynamic(frame, callee, args),
        };
        match &facts.code {
            Code::Op { .. } | Code::Value(_) => self.call_code(frame, &facts, callee, args, attrs),
            Code::Body if !found.exact && !facts.expands => self.dynamic(frame, callee, args),
            Code::Body => self.call_method(frame, &facts, &found, callee, args, attrs),
        }
    }

    /// A call of a method that is one op or less.
    fn call_code(
        &mut self,
        frame: &mut Frame,
        facts: &MethodFacts,
        callee: Arg,
        args: &[Arg],
        attrs: Attrs,
    ) -> Arg {
        match &facts.code {
            Code::Op { def, pieces, ty } => {
                let mut operands: Args = SmallVec::new();
                for &piece in pieces {
                    operands.push(self.piece(frame, piece, facts, callee, args));
                }
                match ty {
                    Some(ty) => self.op(frame, def, &operands, *ty, attrs),
                    None => self.call_op(frame, def, &operands, attrs),
                }
            }
            &Code::Value(piece) => self.piece(frame, piece, facts, callee, args),
            Code::Body => unreachable!("a method with a body is specialised"),
        }
    }

    /// An operand of a method that is an op.
    fn piece(
        &mut self,
        frame: &mut Frame,
        piece: Piece,
        facts: &MethodFacts,
        callee: Arg,
        args: &[Arg],
    ) -> Arg {
        match piece {
            Piece::Constant(constant) => Arg::Operand(constant.into()),
            Piece::Callee => callee,
            Piece::Param(i) if facts.vararg && i + 1 == facts.params => {
                self.tuple(frame, &args[i.min(args.len())..])
            }
            Piece::Param(i) => args[i],
        }
    }

    /// Returns what a function takes of a call: the callee if it wants it, the arguments, and those
    /// from `fixed` on as a tuple.
    pub(super) fn pack(
        &mut self,
        frame: &mut Frame,
        takes_callee: bool,
        fixed: Option<usize>,
        callee: Arg,
        args: &[Arg],
    ) -> Args {
        let mut packed: Args = SmallVec::new();
        packed.extend(takes_callee.then_some(callee));
        let (plain, rest) = args.split_at(fixed.unwrap_or(usize::MAX).min(args.len()));
        packed.extend_from_slice(plain);
        if fixed.is_some() {
            packed.push(self.tuple(frame, rest));
        }
        packed
    }

    /// A call of the specialisation of a method.
    fn call_method(
        &mut self,
        frame: &mut Frame,
        facts: &Rc<MethodFacts>,
        found: &MethodMatch,
        callee: Arg,
        args: &[Arg],
        attrs: Attrs,
    ) -> Arg {
        let Some((spec, packed)) = self.specialised(frame, facts, found, callee, args) else {
            return self.dynamic(frame, callee, args);
        };
        let result = self.infer(spec);
        let harmless = self.spec(spec).effect_free && self.spec(spec).is_done();
        if harmless && let Lattice::Const(constant) = result {
            return Arg::Operand(constant.into());
        }
        frame.effect_free &= harmless;
        let attrs = if self.spec(spec).may_inline() { attrs } else { Attrs::NONE };
        frame.push(StepKind::Call(spec), &packed, result, attrs)
    }

    /// The specialisation of a method for these arguments, and the arguments as it takes them; `None`
    /// if there would be too many.
    pub(super) fn specialised(
        &mut self,
        frame: &mut Frame,
        facts: &Rc<MethodFacts>,
        found: &MethodMatch,
        callee: Arg,
        args: &[Arg],
    ) -> Option<(SpecId, Args)> {
        let callee_type = self.partials.type_of(frame.lattice(callee));
        let fixed = facts.vararg.then(|| facts.params - 1);
        let packed = self.pack(frame, facts.takes_callee, fixed, callee, args);
        let key: SmallVec<[Lattice; 8]> = packed
            .iter()
            .map(|&arg| self.partials.key(frame.lattice(arg), facts.takes_constants))
            .collect();
        let types = self.types_of(frame, args);
        let spec = self.find_spec(facts, found, callee_type, &types, &key)?;
        self.depend(frame, spec);
        Some((spec, packed))
    }

    /// A call with the elements of collections as its arguments.
    pub(super) fn splat(
        &mut self,
        frame: &mut Frame,
        callee: Arg,
        collections: &[Arg],
        attrs: Attrs,
    ) -> Arg {
        let mut args: Args = SmallVec::new();
        // Where the elements of a vector go, of which the length is not known.
        let mut vector = None;
        for &collection in collections {
            match self.elements(frame, collection) {
                Some(elements) => args.extend(elements),
                None if vector.is_none() && self.is_vector(frame, collection) => {
                    vector = Some((args.len(), collection));
                }
                None => return self.dynamic_splat(frame, callee, collections),
            }
        }
        if let Some((at, vector)) = vector {
            let Some(elements) =
                self.vector_arguments(frame, callee, vector, args.len(), collections)
            else {
                return self.dynamic_splat(frame, callee, collections);
            };
            args.insert_many(at, elements);
        }
        self.call_value(frame, callee, &args, attrs)
    }

    fn is_vector(&self, frame: &Frame, arg: Arg) -> bool {
        let ty = self.partials.type_of(frame.lattice(arg));
        matches!(self.ctx.kind(ty), TypeKind::Array { rank: 1, .. })
    }

    /// The elements of a vector that are arguments of a call, beside so many `others`, if the callee
    /// takes one number of arguments only: a vector of another length is an error then.
    fn vector_arguments(
        &mut self,
        frame: &mut Frame,
        callee: Arg,
        vector: Arg,
        others: usize,
        collections: &[Arg],
    ) -> Option<Args> {
        /// Calls with more arguments stay as they are.
        const MAX_ARGUMENTS: usize = 16;
        let callee_type = self.exact_type(frame, callee)?;
        self.world.watch_methods(callee_type, frame.spec);
        let count = self.world.argument_count(callee_type)?.checked_sub(others)?;
        if count > MAX_ARGUMENTS {
            return None;
        }
        let name = self.ctx.symbol("#arguments");
        let count = self.constant_arg(Constant::I64(count as i64));
        let mut given: Args = smallvec::smallvec![count, callee, vector];
        given.extend_from_slice(collections);
        let tuple = self.call_name(frame, name, &given, Attrs::NONE);
        self.elements(frame, tuple)
    }

    /// The elements of a value that is a tuple or named tuple of known length.
    pub(super) fn elements(&mut self, frame: &mut Frame, arg: Arg) -> Option<Args> {
        let ty = self.partials.type_of(frame.lattice(arg));
        let kind = self.ctx.kind(ty);
        if !matches!(kind, TypeKind::Tuple(_) | TypeKind::Named(_)) {
            return None;
        }
        let count = field_types(&self.ctx, ty).len();
        let ctx = Arc::clone(&self.ctx);
        let get = ctx.def(core_ops::GET);
        let elements = (0..count).map(|i| {
            let index = self.constant_arg(Constant::I64(i as i64 + 1));
            self.op(frame, get, &[arg, index], Type::ANY, Attrs::NONE)
        });
        Some(elements.collect())
    }

    fn dynamic_splat(&mut self, frame: &mut Frame, callee: Arg, collections: &[Arg]) -> Arg {
        frame.effect_free = false;
        let mut operands: Args = SmallVec::new();
        operands.push(callee);
        for &collection in collections {
            let known = frame.lattice(collection);
            let ty = self.partials.type_of(known);
            let is_array = matches!(
                self.ctx.kind(ty),
                TypeKind::Array { .. } | TypeKind::Tuple(_) | TypeKind::Named(_)
            );
            // Ranges and other iterators are collected first.
            let operand = if is_array {
                collection
            } else {
                let collect = if ty == Type::ANY { "#splatted" } else { "collect" };
                let collect = self.ctx.symbol(collect);
                self.call_name(frame, collect, &[collection], Attrs::NONE)
            };
            if frame.lattice(operand).is_bottom() {
                return operand;
            }
            operands.push(operand);
        }
        frame.push(StepKind::Op(core_ops::SPLAT, Type::ANY), &operands, Lattice::ANY, Attrs::NONE)
    }
}
