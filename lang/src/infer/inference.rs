//! The tables of inference: specialisations, methods, names, and what depends on what.

use std::collections::hash_map::Entry;
use std::rc::Rc;
use std::sync::Arc;

use hashbrown::HashTable;
use regraft_ad::tangent::TangentType;
use regraft_ir::{Constant, Context, Diagnostic, Function, OpDef, Symbol, Type, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use super::builtin_table::{self, Builtin};
use super::derivative_key::{DerivativeEntry, DerivativeKey};
use super::frame::Frame;
use super::known_ops::KnownOps;
use super::lattice::{Lattice, Partials, field_types};
use super::lookup::Lookup;
use super::method_facts::MethodFacts;
use super::spec::{Running, Spec};
use crate::definition::Space;
use crate::world::{Binding, MethodId, SpecId, World};

/// Whose id one is that the world knows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owner {
    Spec,
    Lookup(u32),
    Name(Symbol, Space),
    Derivation,
    Gone,
}

/// The signature of a specialisation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The types of the parameters of its function.
    pub params: Vec<Type>,
    /// The type of its result, `never` if it does not return.
    pub result: Type,
    /// The number of arguments that are passed as they are, if those that follow are packed into a tuple.
    pub fixed: Option<usize>,
    /// True if the callee itself is the first parameter.
    pub takes_callee: bool,
}

/// A specialisation that was dropped: the call that it was for.
#[derive(Debug)]
pub(super) struct Replaced {
    pub(super) callee: Type,
    pub(super) args: Vec<Type>,
    pub(super) signature: Signature,
}

/// The reason why a call cannot be made: no method, or several.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallError {
    /// The message, a sentence without a full stop.
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

/// The meaning of a name in front of parentheses.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name {
    /// An op of a dialect.
    Op(&'static OpDef),
    /// A type function.
    Builtin(Builtin),
    /// Another binding of the world.
    Binding(Binding),
}

/// Makes derivatives for inference, which comes upon calls of them.
///
/// It works on the inference that asks, and may come back for another derivative meanwhile.
pub(crate) trait DerivativeOracle {
    /// Returns the generated functions of a derivative; makes them when they are first asked for.
    fn derive(&self, inference: &mut Inference, key: &DerivativeKey) -> DerivativeEntry;

    /// Returns the type of tangents of values of this type, if they have any.
    fn tangent_type(&self, ctx: &Arc<Context>, ty: Type) -> Option<Type>;

    /// Returns the types of tangent, shadow and cotangent of values of this type.
    fn tangent_types_of(&self, ctx: &Arc<Context>, ty: Type) -> TangentType;

    /// Returns whether a program gives a rule for a call; `by` becomes invalid if that changes.
    fn has_rule(&self, inference: &mut Inference, callee: Type, args: &[Type], by: SpecId) -> bool;

    /// Returns the names of the functions that stay although `dropped`, which is sorted, are wrong.
    fn still_held(&self, inference: &mut Inference, dropped: &[SpecId]) -> FxHashSet<Symbol>;
}

/// The world with everything that was derived from it.
pub struct Inference {
    /// Methods, types, names.
    pub world: World,
    pub(super) ctx: Arc<Context>,
    /// The lattice values of values with parts.
    pub partials: Partials,
    /// The owner of every id that the world gave, by number.
    pub(super) owners: Vec<Owner>,
    /// By the same number, which specialisation was last noted to depend on it.
    pub(super) noted: Vec<SpecId>,
    /// By number; ids are given to other things as well.
    pub(super) specs: Vec<Option<Box<Spec>>>,
    /// With their hashes: the keys lie far apart.
    pub(super) spec_table: HashTable<(u64, SpecId)>,
    pub(super) names: FxHashMap<(Symbol, Space), (Option<SpecId>, Name)>,
    /// Calls that came down to one op.
    pub(super) known_ops: KnownOps,
    pub(super) lookups: Vec<Lookup>,
    pub(super) lookup_table: HashTable<u32>,
    /// By number.
    pub(super) methods: Vec<Option<Rc<MethodFacts>>>,
    /// The number of specialisations of each method.
    pub(super) spec_counts: Vec<u32>,
    pub(super) builtins: FxHashMap<Symbol, Builtin>,
    /// By name, the functions that a program at work may still call though they were dropped.
    pub(super) replaced: FxHashMap<Symbol, Replaced>,
    /// Functions by name, of specialisations that were given one.
    pub(super) by_name: FxHashMap<Symbol, SpecId>,
    /// Specialisations that are being inferred, outermost first.
    pub(super) stack: Vec<Running>,
    /// Specialisations that were inferred with estimates of others on the stack.
    pub(super) group: Vec<SpecId>,
    /// Frames whose memory can be used again.
    #[allow(clippy::vec_box)] // A frame moves between here and a specialisation; it is large.
    pub(super) free_frames: Vec<Box<Frame>>,
    pub(super) scratch: Function,
    /// Makes derivatives.
    pub(super) oracle: Rc<dyn DerivativeOracle>,
    /// The reasons why calls that stand alone cannot be made.
    pub(crate) failures: FxHashMap<SpecId, Rc<[Diagnostic]>>,
    /// The specialisations of each method.
    pub(super) specs_of: FxHashMap<MethodId, SmallVec<[SpecId; 2]>>,
    /// True if there is any rule for a derivative.
    pub(crate) has_rules: bool,
    /// The names of functions that were dropped and that nobody was told of yet.
    pub(super) dropped: Vec<Symbol>,
    /// True if specialisations became wrong that nobody was told of yet.
    pub(super) changed: bool,
    /// Specialisations of which only the functions are still there, for pullbacks.
    pub(super) retired: Vec<SpecId>,
    pub(super) sizes: FxHashMap<Type, u32>,
    /// The names of types that always are there, by number.
    pub(crate) builtin_names: Vec<String>,
    /// The number of instructions that were looked at, for those who measure.
    pub inferred_insts: usize,
}

impl std::fmt::Debug for Inference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inference").field("specs", &self.spec_table.len()).finish_non_exhaustive()
    }
}

impl Inference {
    /// Derives from a world what is asked for.
    pub(crate) fn new(
        ctx: &Arc<Context>,
        mut world: World,
        oracle: Rc<dyn DerivativeOracle>,
    ) -> Self {
        let builtins = builtin_table::table(ctx);
        world.set_builtins(builtins.keys().copied());
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
            known_ops: KnownOps::default(),
            lookups: Vec::new(),
            lookup_table: HashTable::new(),
            methods: Vec::new(),
            spec_counts: Vec::new(),
            builtins,
            replaced: FxHashMap::default(),
            by_name: FxHashMap::default(),
            stack: Vec::new(),
            group: Vec::new(),
            free_frames: Vec::new(),
            scratch: Function::without_entry(ctx, "", Type::ANY),
            oracle,
            failures: FxHashMap::default(),
            specs_of: FxHashMap::default(),
            has_rules: false,
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

    pub(super) fn own(&mut self, id: SpecId, owner: Owner) {
        let index = id.0 as usize;
        if self.owners.len() <= index {
            self.owners.resize(index + 1, Owner::Gone);
            self.noted.resize(index + 1, SpecId(u32::MAX));
        }
        self.owners[index] = owner;
    }

    /// Notes that what is found out in a frame was derived from that.
    #[inline]
    pub(super) fn depend(&mut self, frame: &mut Frame, on: SpecId) {
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
    pub(super) fn spec_mut(&mut self, id: SpecId) -> &mut Spec {
        let spec = self.specs.get_mut(id.0 as usize).and_then(Option::as_deref_mut);
        spec.expect("a specialisation that is in use is there")
    }

    /// Returns whether a specialisation is there (still).
    pub fn has_spec(&self, id: SpecId) -> bool {
        self.find(id).is_some()
    }

    #[inline]
    pub(super) fn find(&self, id: SpecId) -> Option<&Spec> {
        self.specs.get(id.0 as usize)?.as_deref()
    }

    /// Drops a specialisation that nobody else uses, such as that of a thunk that was run.
    pub fn forget(&mut self, id: SpecId) {
        self.drop_spec(id);
    }

    /// The specialisation whose function has that name.
    pub fn spec_by_name(&self, name: Symbol) -> Option<SpecId> {
        self.by_name.get(&name).copied()
    }

    /// Returns whether inference provides the function of that name.
    pub(crate) fn is_builtin(&self, name: Symbol) -> bool {
        self.builtins.contains_key(&name)
    }

    /// Returns the signature of a specialisation.
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

    /// Returns the lattice value of the result of a specialisation.
    pub fn result(&self, id: SpecId) -> Lattice {
        self.spec(id).result
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

    /// An id for what is derived from specialisations without being one.
    pub(crate) fn new_derivation(&mut self) -> SpecId {
        let id = self.world.new_spec();
        self.own(id, Owner::Derivation);
        id
    }

    /// Returns whether such an id is valid (still).
    pub(crate) fn is_derivation(&self, id: SpecId) -> bool {
        matches!(self.owners.get(id.0 as usize), Some(Owner::Derivation))
    }

    pub(super) fn drop_spec(&mut self, id: SpecId) {
        let Some(spec) = self.specs.get_mut(id.0 as usize).and_then(Option::take) else { return };
        self.failures.remove(&id);
        if let Some(name) = spec.name {
            self.by_name.remove(&name);
        }
        self.leave_tables(id, &spec);
    }

    /// Removes a specialisation from the table by which calls find it.
    pub(super) fn leave_tables(&mut self, id: SpecId, spec: &Spec) {
        let code = spec.hash();
        if let Ok(entry) = self.spec_table.find_entry(code, |&(_, other)| other == id) {
            entry.remove();
        }
        if let Some(origin) = spec.origin
            && let Some(count) = self.spec_counts.get_mut(origin.0 as usize)
        {
            *count -= 1;
        }
        if let Some(method) = spec.method
            && let Entry::Occupied(mut specs) = self.specs_of.entry(method)
        {
            specs.get_mut().retain(|&mut other| other != id);
            if specs.get().is_empty() {
                specs.remove();
            }
        }
    }

    /// Returns how much a type is made of, for the limits on what grows.
    pub(super) fn size_of(&mut self, ty: Type) -> u32 {
        if ty.index() < Type::BUILTIN.len() {
            return 1;
        }
        if let Some(&size) = self.sizes.get(&ty) {
            return size;
        }
        let ctx = Arc::clone(&self.ctx);
        // A struct that contains itself by way of a mutable one counts as small within itself.
        self.sizes.insert(ty, 1);
        let parts: SmallVec<[Type; 8]> = match *ctx.kind(ty) {
            TypeKind::Array { element: of, .. } | TypeKind::Ref(of) | TypeKind::TypeOf(of) => {
                smallvec![of]
            }
            TypeKind::Val(constant) => match ctx.constant(constant) {
                Constant::Type(of) => smallvec![of],
                _ => SmallVec::new(),
            },
            _ => field_types(&ctx, ty),
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
