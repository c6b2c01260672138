//! Inference: from lowered methods to what is known of every value, and to specialisations.
//!
//! A specialisation is a method with what is known of its arguments: their types, and constants
//! of those types that programs dispatch on or compute types with (symbols, types, functions). It
//! is inferred when a call needs it, depth first; [`emit`](crate::emit) makes a typed function of
//! it when somebody asks for the code.
//!
//! # Recursion
//! A specialisation that is being inferred gives what is known of its result so far, nothing at
//! first. The first of a group of specialisations that call each other is inferred again, and
//! the others with it, until no estimate changes that was read. Estimates only grow and the
//! lattice is of finite height, so that this ends; at the end they are a solution, the least that
//! this order of evaluation finds (compare Tarjan's algorithm, from which the groups come).
//!
//! # Termination
//! There could be ever new specialisations: `f(t) = f((t, 1))`. Where calls of one method are
//! nested and their types grow each time, or where they are nested very deep, the call is left to
//! the running program (see [`MAX_NESTED`]).

mod builtin;
mod calls;
mod derivative;
mod flow;
mod frame;
mod known_ops;
mod lattice;
mod method;
mod names;
mod ops;
mod spec;
mod unroll;

use std::rc::Rc;
use std::sync::Arc;

use hashbrown::HashTable;
use regraft_ir::{Constant, Context, Diagnostic, Function, Symbol, Type, TypeKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::definition::{Space, Thunk};
use crate::derive::{Derivatives, Rules};
use crate::world::{Dispatch, SpecId, World};
use builtin::Builtin;
use calls::Lookup;
use method::MethodFacts;
use names::Name;

pub use frame::{Arg, Frame, Plan, Step, StepKind};
pub(crate) use lattice::field_types;
pub use lattice::{Lattice, MAX_DEPTH, MAX_PARTS, Partial, Partials};
pub use spec::{MAX_DEEP, MAX_GROWING, MAX_NESTED, MAX_SPECS, Spec};

/// Whose id one is that the world knows.
#[derive(Clone, Copy, Debug)]
enum Owner {
    Spec,
    Lookup(u32),
    Name(Symbol, Space),
    Derivation,
    Gone,
}

/// What a specialisation is called with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The types of the parameters of its function.
    pub params: Vec<Type>,
    /// What it returns, `never` if it does not.
    pub result: Type,
    /// How many arguments are passed as they are, if those that follow are packed into a tuple.
    pub fixed: Option<usize>,
    /// Whether the callee itself is the first parameter.
    pub takes_callee: bool,
}

/// Why a call cannot be made: no method, or several.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallError {
    /// What is wrong, a sentence without a full stop.
    pub message: String,
    /// The candidates.
    pub help: Vec<String>,
}

impl From<CallError> for Diagnostic {
    fn from(error: CallError) -> Self {
        let diagnostic = Self::error(format!("MethodError: {}", error.message));
        if error.help.is_empty() { diagnostic } else { diagnostic.help(error.help.join("\n")) }
    }
}

/// The world with everything that was derived from it.
pub struct Compiler {
    /// Methods, types, names.
    pub world: World,
    ctx: Arc<Context>,
    /// What is known of values with parts.
    pub partials: Partials,
    /// What every id that the world gave stands for, by number.
    owners: Vec<Owner>,
    /// By the same number, which specialisation was last noted to depend on it.
    noted: Vec<SpecId>,
    /// By number; ids are given to other things as well.
    specs: Vec<Option<Box<Spec>>>,
    /// With their hashes: the keys lie far apart.
    spec_table: HashTable<(u64, SpecId)>,
    names: FxHashMap<(Symbol, Space), (Option<SpecId>, Name)>,
    /// What calls came down to that are one op.
    known_ops: known_ops::KnownOps,
    lookups: Vec<Lookup>,
    lookup_table: HashTable<u32>,
    /// By number.
    methods: Vec<Option<Rc<MethodFacts>>>,
    /// How many specialisations of each method there are.
    spec_counts: Vec<u32>,
    builtins: FxHashMap<Symbol, Builtin>,
    /// Functions by name, of specialisations that were given one.
    by_name: FxHashMap<Symbol, SpecId>,
    /// Those that are being inferred, outermost first.
    stack: Vec<spec::Running>,
    /// Those that were inferred with estimates of what is on the stack.
    group: Vec<SpecId>,
    /// Frames whose memory can be used again.
    #[allow(clippy::vec_box)] // A frame moves between here and a specialisation; it is large.
    free_frames: Vec<Box<Frame>>,
    pub(crate) free_drafts: Vec<crate::emit::Draft>,
    pub(crate) free_maps: Vec<crate::emit::Maps>,
    scratch: Function,
    /// The functions that are derivatives of others.
    pub(crate) derived: Derivatives,
    /// The functions whose methods are rules for derivatives.
    pub(crate) rules: Rules,
    /// The names of functions that were dropped and that nobody was told of yet.
    dropped: Vec<Symbol>,
    /// Whether specialisations became wrong that nobody was told of yet.
    changed: bool,
    /// Specialisations of which only the functions are still there, for pullbacks.
    retired: Vec<SpecId>,
    sizes: FxHashMap<Type, u32>,
    /// The names of types that always are there, by number.
    pub(crate) builtin_names: Vec<String>,
    /// The number of instructions that were looked at, for those who measure.
    pub inferred_insts: usize,
}

impl std::fmt::Debug for Compiler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compiler").field("specs", &self.spec_table.len()).finish_non_exhaustive()
    }
}

impl Compiler {
    /// Derives from a world what is asked for.
    pub fn new(ctx: &Arc<Context>, mut world: World) -> Self {
        let rules = Rules::new(&mut world);
        let builtin_names = Type::BUILTIN.iter().map(|&(ty, _)| world.type_name(ty)).collect();
        Self {
            builtin_names,
            world,
            ctx: Arc::clone(ctx),
            partials: Partials::new(ctx),
            owners: Vec::new(),
            noted: Vec::new(),
            specs: Vec::new(),
            spec_table: HashTable::new(),
            names: FxHashMap::default(),
            known_ops: known_ops::KnownOps::default(),
            lookups: Vec::new(),
            lookup_table: HashTable::new(),
            methods: Vec::new(),
            spec_counts: Vec::new(),
            builtins: builtin::table(ctx),
            by_name: FxHashMap::default(),
            stack: Vec::new(),
            group: Vec::new(),
            free_frames: Vec::new(),
            free_drafts: Vec::new(),
            free_maps: Vec::new(),
            scratch: Function::without_entry(ctx, "", Type::ANY),
            derived: Derivatives::new(ctx),
            rules,
            dropped: Vec::new(),
            changed: false,
            retired: Vec::new(),
            sizes: FxHashMap::default(),
            inferred_insts: 0,
        }
    }

    /// The context of its functions.
    pub fn ctx(&self) -> &Arc<Context> {
        &self.ctx
    }

    fn own(&mut self, id: SpecId, owner: Owner) {
        let index = id.0 as usize;
        if self.owners.len() <= index {
            self.owners.resize(index + 1, Owner::Gone);
            self.noted.resize(index + 1, SpecId(u32::MAX));
        }
        self.owners[index] = owner;
    }

    /// Notes that what is found out in a frame was derived from that.
    #[inline]
    fn depend(&mut self, frame: &mut Frame, on: SpecId) {
        // Most code asks about few things, and again and again.
        let last = &mut self.noted[on.0 as usize];
        if *last != frame.spec {
            *last = frame.spec;
            frame.dependencies.push(on);
        }
    }

    /// A specialisation.
    ///
    /// # Panics
    /// If it was invalidated: ids are not to be kept across definitions.
    #[inline]
    pub fn spec(&self, id: SpecId) -> &Spec {
        self.find(id).expect("a specialisation that is in use is there")
    }

    #[inline]
    fn spec_mut(&mut self, id: SpecId) -> &mut Spec {
        let spec = self.specs.get_mut(id.0 as usize).and_then(Option::as_deref_mut);
        spec.expect("a specialisation that is in use is there")
    }

    /// Whether a specialisation is there (still).
    pub fn has_spec(&self, id: SpecId) -> bool {
        self.find(id).is_some()
    }

    #[inline]
    fn find(&self, id: SpecId) -> Option<&Spec> {
        self.specs.get(id.0 as usize)?.as_deref()
    }

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
            let is_op = self.ctx.str(name).contains('.')
                && self.ctx.registry().find(self.ctx.str(name)).is_some();
            if is_op || self.builtins.contains_key(&name) {
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
        let calls::Found::Method(facts, found) = found else {
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
            let rest = self.partials.tuple(&known[fixed..]);
            key.push(rest);
        } else {
            key.extend(known);
        }
        let spec = match self.known_spec(facts.id, callee, &key) {
            Some(spec) => spec,
            None => self.make_spec(&facts, &found, callee, args, &key),
        };
        self.world.depend(spec, lookup);
        self.infer(spec);
        Ok(spec)
    }

    /// Why a call cannot be made.
    fn call_error(&mut self, callee: Type, args: &[Type]) -> CallError {
        let (message, help) = match self.world.dispatch(callee, args, None) {
            Dispatch::Ambiguous(methods) => self.world.ambiguous(callee, args, &methods),
            _ => self.world.no_method(callee, args),
        };
        CallError { message, help }
    }

    /// The specialisation of code at top level. It is of one use: see [`Compiler::forget`].
    pub fn thunk(&mut self, thunk: &Thunk, space: Space) -> Result<SpecId, Vec<Diagnostic>> {
        self.sync();
        for closure in &thunk.closures {
            self.world.register_closure(closure)?;
        }
        let name = self.ctx.symbol("top level");
        let spec = self.body_spec(&thunk.body, name, space, &[]);
        self.infer(spec);
        Ok(spec)
    }

    /// Drops a specialisation that nobody else uses, such as that of a thunk that was run.
    pub fn forget(&mut self, id: SpecId) {
        self.drop_spec(id);
    }

    /// The specialisation whose function has that name.
    pub fn spec_by_name(&self, name: Symbol) -> Option<SpecId> {
        self.by_name.get(&name).copied()
    }

    /// Whether inference provides the function of that name.
    pub(crate) fn is_builtin(&self, name: Symbol) -> bool {
        self.builtins.contains_key(&name)
    }

    /// How a specialisation is called.
    pub fn signature(&self, id: SpecId) -> Signature {
        let spec = self.spec(id);
        let params = spec.key.iter().map(|&value| self.partials.type_of(value)).collect();
        Signature {
            params,
            result: self.partials.type_of(spec.result),
            fixed: spec.fixed,
            takes_callee: spec.takes_callee,
        }
    }

    /// What is known of the result of a specialisation.
    pub fn result(&self, id: SpecId) -> Lattice {
        self.spec(id).result
    }

    /// Drops what later definitions made wrong, and returns the names of the functions that were
    /// dropped since this was last asked, in order; `None` if none was wrong. Those that pullbacks
    /// hold are not dropped, but no call finds them any more.
    pub fn invalidate(&mut self) -> Option<Vec<Symbol>> {
        self.sync();
        let dropped = std::mem::take(&mut self.dropped);
        std::mem::take(&mut self.changed).then_some(dropped)
    }

    /// Drops what later definitions made wrong.
    fn sync(&mut self) {
        self.sync_rules();
        self.sync_methods();
        loop {
            let invalidated = self.world.take_invalidated();
            if invalidated.is_empty() {
                return;
            }
            self.known_ops.forget();
            let held = self.still_held(&invalidated);
            for id in invalidated {
                let owner = self.owners.get(id.0 as usize).copied().unwrap_or(Owner::Gone);
                self.own(id, Owner::Gone);
                match owner {
                    Owner::Spec => {
                        self.changed = true;
                        let name = self.find(id).and_then(|spec| spec.name);
                        match name.filter(|name| held.contains(name)) {
                            Some(_) => self.retire(id),
                            None => {
                                self.dropped.extend(name);
                                self.drop_spec(id);
                            }
                        }
                    }
                    Owner::Lookup(index) => self.drop_lookup(index),
                    Owner::Name(name, space) => {
                        self.names.remove(&(name, space));
                    }
                    Owner::Derivation | Owner::Gone => {}
                }
            }
            // What nobody holds any more, and what was inferred of calls of it.
            let retired = std::mem::take(&mut self.retired);
            for id in retired {
                match self.find(id).and_then(|spec| spec.name) {
                    Some(name) if held.contains(&name) => self.retired.push(id),
                    Some(_) => self.world.invalidate(id),
                    None => {}
                }
            }
        }
    }

    /// Visits all specialisations and answers to questions for methods with the types that they are
    /// for.
    pub(crate) fn for_each_key(&self, mut visit: impl FnMut(SpecId, &[Type])) {
        let mut types: SmallVec<[Type; 8]> = SmallVec::new();
        for spec in self.specs.iter().flatten() {
            types.clear();
            types.push(spec.callee);
            types.extend(spec.key.iter().map(|&known| self.partials.type_of(known)));
            visit(spec.id, &types);
        }
        for lookup in &self.lookups {
            types.clear();
            types.push(lookup.callee);
            types.extend(lookup.args.iter().copied());
            visit(lookup.id, &types);
        }
    }

    /// Keeps the function of a specialisation for those who hold it. No call finds it any more, but
    /// by its name.
    fn retire(&mut self, old: SpecId) {
        let spec = self.specs.get_mut(old.0 as usize).and_then(Option::take);
        let Some(mut spec) = spec else { return };
        self.leave_tables(old, &spec);
        let id = self.world.new_spec();
        (spec.id, spec.method, spec.callee) = (id, None, Type::ANY);
        if let Some(name) = spec.name {
            self.by_name.insert(name, id);
        }
        self.insert_spec(spec);
        self.retired.push(id);
    }

    /// Invalidates the specialisations of methods that others took the place of.
    fn sync_methods(&mut self) {
        let replaced = self.world.take_replaced();
        if replaced.is_empty() {
            return;
        }
        for spec in self.specs.iter().flatten() {
            if spec.method.is_some_and(|method| replaced.contains(&method)) {
                self.world.invalidate(spec.id);
            }
        }
    }

    /// Invalidates what was inferred of calls for which there are rules now.
    fn sync_rules(&mut self) {
        for rule in self.world.take_new_rules() {
            self.rules.any = true;
            let of = self.world.rule_callee(rule);
            let concerns = |callee: Type| of.is_none_or(|of| of == callee);
            for lookup in &self.lookups {
                if concerns(lookup.callee) {
                    self.world.invalidate(lookup.id);
                }
            }
            for spec in self.specs.iter().flatten() {
                if concerns(spec.callee) && spec.method.is_some() {
                    self.world.invalidate(spec.id);
                }
            }
        }
    }

    /// An id for what is derived from specialisations without being one.
    pub(crate) fn new_derivation(&mut self) -> SpecId {
        let id = self.world.new_spec();
        self.own(id, Owner::Derivation);
        id
    }

    /// Whether such an id is valid (still).
    pub(crate) fn is_derivation(&self, id: SpecId) -> bool {
        matches!(self.owners.get(id.0 as usize), Some(Owner::Derivation))
    }

    fn drop_lookup(&mut self, index: u32) {
        use std::hash::BuildHasher;
        let lookup = &self.lookups[index as usize];
        let code = rustc_hash::FxBuildHasher.hash_one((lookup.callee, &*lookup.args));
        if let Ok(entry) = self.lookup_table.find_entry(code, |&i| i == index) {
            entry.remove();
        }
    }

    fn drop_spec(&mut self, id: SpecId) {
        let Some(spec) = self.specs.get_mut(id.0 as usize).and_then(Option::take) else { return };
        self.derived.failures.remove(&id);
        if let Some(name) = spec.name {
            self.by_name.remove(&name);
        }
        self.leave_tables(id, &spec);
    }

    /// Lets nobody find a specialisation by what it is called with.
    fn leave_tables(&mut self, id: SpecId, spec: &Spec) {
        let code = spec.hash();
        if let Ok(entry) = self.spec_table.find_entry(code, |&(_, other)| other == id) {
            entry.remove();
        }
        if let Some(method) = spec.method
            && let Some(count) = self.spec_counts.get_mut(method.0 as usize)
        {
            *count -= 1;
        }
    }

    /// How much a type is made of, for the limits on what grows.
    fn size_of(&mut self, ty: Type) -> u32 {
        if ty.index() < Type::BUILTIN.len() {
            return 1;
        }
        if let Some(&size) = self.sizes.get(&ty) {
            return size;
        }
        let ctx = Arc::clone(&self.ctx);
        // A struct that contains itself by way of a mutable one counts as small within itself.
        self.sizes.insert(ty, 1);
        let parts: Vec<Type> = match ctx.kind(ty) {
            TypeKind::Tuple(elements) => elements.to_vec(),
            TypeKind::Named(fields) => fields.iter().map(|&(_, ty)| ty).collect(),
            &TypeKind::Struct(id) => ctx.struct_def(id).fields.iter().map(|&(_, ty)| ty).collect(),
            &(TypeKind::Array { element: of, .. } | TypeKind::Ref(of) | TypeKind::TypeOf(of)) => {
                vec![of]
            }
            &TypeKind::Val(constant) => match ctx.constant(constant) {
                Constant::Type(of) => vec![of],
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let size =
            parts.into_iter().fold(1u32, |size, part| size.saturating_add(self.size_of(part)));
        self.sizes.insert(ty, size);
        size
    }

    /// The names of all functions that were given one, for those who look around; in order.
    pub fn function_names(&self) -> Vec<Symbol> {
        let mut names: Vec<Symbol> = self.by_name.keys().copied().collect();
        names.sort_by(|&a, &b| self.ctx.str(a).cmp(self.ctx.str(b)));
        names
    }
}
