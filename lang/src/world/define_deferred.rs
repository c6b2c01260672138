//! Defines what was deferred when somebody asks for it.

use std::borrow::Cow;
use std::rc::Rc;

use regraft_dialects::semantics::is_exact;
use regraft_ir::{Constant, Diagnostic, Source, Symbol, Type, TypeKind};
use smallvec::SmallVec;

use super::deferred::{AGE_OF_PRELUDE, Meaning, NoteId, Waiting};
use super::dispatch_table::Table;
use super::entities::{Binding, MethodId};
use super::method::{TableKey, TableOwner};
use super::tables::World;
use super::term::FamilyId;
use crate::definition::{Item, Space, StructDecl};
use crate::lower::{Library, Statement};
use crate::prelude::index::{Declares, Index, TableOf, Taken};

impl World {
    /// Adds files of the prelude, with the index of their statements; but for those that are run when a session starts.
    pub(crate) fn add_library(
        &mut self,
        index: Cow<'static, Index>,
        library: &Rc<Library>,
        sources: &[Source],
    ) {
        self.bindings.notes.add(index, Rc::clone(library), sources.to_vec());
        // What is there already has methods, too.
        let bound = self.bindings.slots.keys().filter(|(space, _)| *space == Space::Base);
        let bound: Vec<Symbol> = bound.map(|&(_, name)| name).collect();
        bound.into_iter().for_each(|name| self.define_named(name));
    }

    /// Lets the methods of a statement wait for calls; gives it back if they have to be parsed now.
    fn defer_methods(&mut self, binding: Binding, of: TableOf, note: NoteId) -> Result<(), NoteId> {
        let family = match binding {
            Binding::Type(ty) => self.types.head(&self.types.ty_of(ty)),
            _ => None,
        };
        let owner = match (binding, of) {
            (Binding::Function(name), TableOf::Callee) => Some(TableOwner::Function(name)),
            (_, TableOf::AnyConstructor) => Some(TableOwner::AnyConstructor),
            (_, TableOf::Callee | TableOf::Constructor) => family.map(TableOwner::Constructor),
            (_, TableOf::Instance) => family.map(TableOwner::Instance),
        };
        let Some(table) = owner.map(TableOwner::plain) else { return Err(note) };
        if self.tables.get(&table).is_some_and(Table::was_asked) {
            // What was answered before has to be answered anew.
            return Err(note);
        }
        self.deferred.entry(table).or_default().push(Waiting::Statement(note));
        Ok(())
    }

    /// Defines the constructors of a struct that declares none; of one of the prelude, when they are
    /// first asked for.
    pub(super) fn define_default_later(
        &mut self,
        decl: StructDecl,
        family: FamilyId,
    ) -> Result<(), Vec<Diagnostic>> {
        let table = TableOwner::Constructor(family).plain();
        let was_asked = self.tables.get(&table).is_some_and(Table::was_asked);
        if decl.space != Space::Base || was_asked {
            return self.define_default(&decl, family, self.age() + 1);
        }
        let waiting = Waiting::Constructors(Box::new(decl), family);
        self.deferred.entry(table).or_default().push(waiting);
        Ok(())
    }

    /// Defines what the prelude has under a name, and notes the methods that wait for it.
    ///
    /// # Panics
    /// If the prelude is wrong, which is no fault of any user.
    pub(super) fn define_named(&mut self, name: Symbol) {
        let Some(mut notes) = self.bindings.notes.take(name) else { return };
        let declares = |&note: &NoteId| self.bindings.notes.note(note).statement.of.is_none();
        let defined = match notes.iter().position(declares) {
            Some(declaration) => {
                let declaration = self.bindings.notes.note(notes.remove(declaration));
                declaration.deferred().read().and_then(|items| self.declare(items))
            }
            None if self.bindings.own(Space::Base, name) == Binding::Undefined => {
                self.set(name, Space::Base, Binding::Function(name));
                Ok(())
            }
            None => Ok(()),
        };
        expect_right(defined);
        let binding = self.bindings.own(Space::Base, name);
        for note in notes {
            let noted = match self.bindings.notes.note(note).statement.of {
                Some(of) => self.defer_methods(binding, of, note),
                None => Err(note),
            };
            if let Err(now) = noted {
                self.define_waiting(Waiting::Statement(now), None);
            }
        }
    }

    /// Declares types and constants.
    fn declare(&mut self, statements: Vec<Statement>) -> Result<(), Vec<Diagnostic>> {
        for statement in statements {
            match statement {
                Statement::Item(Item::Struct(decl)) => self.declare_struct(*decl)?,
                Statement::Item(Item::Abstract(decl)) => self.declare_abstract(*decl)?,
                Statement::Item(Item::Type(name, ty)) => {
                    self.bind_type(name, Space::Base, &ty)?;
                }
                Statement::Item(Item::Instance(name, ty)) => {
                    self.bind_instance(name, Space::Base, &ty)?;
                }
                Statement::Item(Item::Alias(name, other)) => {
                    self.bind_alias(name, Space::Base, other)?;
                }
                _ => return Err(vec![Diagnostic::error("expected a declaration")]),
            }
        }
        Ok(())
    }

    /// Defines the methods of a table that are not there yet, but for those that take only what there is no
    /// value of.
    ///
    /// # Panics
    /// If the prelude is wrong, which is no fault of any user.
    pub(super) fn define_deferred(&mut self, table: TableKey) {
        self.define_chosen(table.owner.plain(), |world, note| world.may_be_taken(note, |_| None));
    }

    /// Defines the methods of a table that are not there yet and that may take these arguments.
    ///
    /// # Panics
    /// If the prelude is wrong, which is no fault of any user.
    pub(super) fn define_deferred_for(&mut self, key: TableKey, args: &[Type]) {
        // Of a call that a table of methods with arguments by name is for, those without names.
        let args = if key.keywords { args.get(2..).unwrap_or_default() } else { args };
        let args: SmallVec<[Given; 6]> = args.iter().map(|&ty| self.given(ty)).collect();
        self.define_chosen(key.owner.plain(), |world, note| {
            world.takes_as_many(note, args.len())
                && world.may_be_taken(note, |position| args.get(position).copied())
        });
    }

    /// Defines the methods of a table that are not there yet and that may take an argument of a type at a position.
    ///
    /// # Panics
    /// If the prelude is wrong, which is no fault of any user.
    pub(super) fn define_mentioning(&mut self, table: TableKey, position: usize, ty: Type) {
        let given = self.given(ty);
        self.define_chosen(table.owner.plain(), |world, note| {
            world.may_be_taken(note, |at| (at == position).then_some(given))
        });
    }

    /// Defines all methods of a table that are not there yet.
    ///
    /// # Panics
    /// If the prelude is wrong, which is no fault of any user.
    pub(super) fn define_whole(&mut self, table: TableKey) {
        self.define_chosen(table.owner.plain(), |_, _| true);
        if let Some(table) = self.tables.get_mut(&table) {
            let methods = &self.methods;
            let place = |&id: &MethodId| {
                let method = &methods[id];
                (method.born, method.loc)
            };
            table.methods.sort_by_key(place);
        }
    }

    fn define_chosen(&mut self, table: TableKey, is_chosen: impl Fn(&Self, NoteId) -> bool) {
        while let Some(waiting) = self.deferred.get_mut(&table) {
            let mut waiting = std::mem::take(waiting);
            let is_chosen = |waiting: &mut Waiting| match waiting {
                Waiting::Statement(note) => is_chosen(self, *note),
                Waiting::Constructors(..) => true,
            };
            let chosen: Vec<Waiting> = waiting.extract_if(.., is_chosen).collect();
            if waiting.is_empty() {
                self.deferred.remove(&table);
            } else {
                self.deferred.insert(table, waiting);
            }
            if chosen.is_empty() {
                return;
            }
            chosen.into_iter().for_each(|waiting| self.define_waiting(waiting, Some(table)));
        }
    }

    fn define_waiting(&mut self, waiting: Waiting, table: Option<TableKey>) {
        expect_right(match waiting {
            Waiting::Statement(note) => {
                let statement = self.bindings.notes.note(note).deferred();
                statement.read().and_then(|methods| self.define_methods(methods, table))
            }
            Waiting::Constructors(decl, family) => {
                self.define_default(&decl, family, AGE_OF_PRELUDE)
            }
        });
    }

    /// Returns what is known of an argument.
    fn given(&self, ty: Type) -> Given {
        if !is_exact(&self.ctx, ty) {
            return Given::Unknown;
        }
        let family = |ty| self.types.head(&self.types.ty_of(ty));
        match *self.ctx.kind(ty) {
            TypeKind::Fn(name) => Given::Function(name, self.types.function_family(name)),
            TypeKind::TypeOf(of) => Given::Type(family(of), family(ty)),
            _ => Given::Value(family(ty)),
        }
    }

    /// Returns whether the methods of a statement take so many arguments.
    fn takes_as_many(&self, note: NoteId, count: usize) -> bool {
        let statement = self.bindings.notes.note(note).statement;
        usize::from(statement.least) <= count
            && statement.most.is_none_or(|most| count <= usize::from(most))
    }

    /// Returns whether the methods of a statement may take arguments; `given` returns what is known of the one at a position,
    /// `None` if it can be whatever there is a value of.
    fn may_be_taken(&self, note: NoteId, given: impl Fn(usize) -> Option<Given>) -> bool {
        let note = self.bindings.notes.note(note);
        let is_below = |family: Option<FamilyId>, above: FamilyId| {
            family.is_none_or(|family| self.types.ancestors(family).any(|family| family == above))
        };
        note.takes().iter().all(|take| {
            let arg = given(usize::from(take.position));
            if arg == Some(Given::Unknown) {
                return true;
            }
            if let (Taken::TypeBelow, Some(Given::Function(..) | Given::Value(_))) =
                (take.taken, arg)
            {
                return false;
            }
            let mut meanings = note.meanings(take, |name| self.meaning_in_signature(name));
            take.names.is_empty()
                || meanings.any(|meaning| match (take.taken, meaning, arg) {
                    (_, Meaning::Deferred, _) => false,
                    (_, Meaning::Any, _) | (_, _, None) => true,
                    (Taken::Only, Meaning::Function(name), Some(arg)) => {
                        matches!(arg, Given::Function(given, _) if given == name)
                    }
                    (Taken::Below, Meaning::Family(above), Some(arg)) => match arg {
                        Given::Function(_, family) => is_below(Some(family), above),
                        Given::Value(family) | Given::Type(_, family) => is_below(family, above),
                        Given::Unknown => true,
                    },
                    (Taken::TypeBelow, Meaning::Family(above), Some(Given::Type(of, _))) => {
                        is_below(of, above)
                    }
                    _ => true,
                })
        })
    }

    fn meaning_in_signature(&self, name: Symbol) -> Meaning {
        match self.bindings.own(Space::Base, name) {
            // Values of a type may have come about under its other name.
            Binding::Deferred => match self.bindings.notes.get(name) {
                Some(Declares::Type | Declares::Function) => Meaning::Deferred,
                _ => Meaning::Any,
            },
            Binding::Function(name) => Meaning::Function(name),
            Binding::Type(ty) | Binding::Const(Constant::Type(ty)) => {
                let known = &self.types.well_known;
                let family = self.types.head(&self.types.ty_of(ty));
                let is_one = |&family: &FamilyId| family != known.union && family != known.vararg;
                family.filter(is_one).map_or(Meaning::Any, Meaning::Family)
            }
            _ => Meaning::Any,
        }
    }

    /// Defines the functions of these types, so that what takes them is known.
    pub(super) fn define_functions(&mut self, types: &[Type]) {
        for &ty in types {
            if let TypeKind::Fn(name) = *self.ctx.kind(ty) {
                self.define_named(name);
            }
        }
    }

    fn define_methods(
        &mut self,
        statements: Vec<Statement>,
        table: Option<TableKey>,
    ) -> Result<(), Vec<Diagnostic>> {
        let mut errors = Vec::new();
        for statement in statements {
            let Statement::Signatures(methods) = statement else {
                errors.push(Diagnostic::error("a statement that is deferred defines methods"));
                continue;
            };
            for (def, code) in methods {
                match self.define_later_at(&def, code, AGE_OF_PRELUDE) {
                    Ok(id) => {
                        let owner = self.methods[id].table.owner;
                        assert!(table.is_none_or(|table| table.owner == owner), "{def:?}");
                    }
                    Err(more) => errors.extend(more),
                }
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Defines all that is not there yet.
    pub fn define_all_deferred(&mut self) {
        self.define_all_named().into_iter().for_each(|table| self.define_deferred(table));
    }

    /// Defines all names. Returns the tables whose methods wait for calls, in order.
    fn define_all_named(&mut self) -> Vec<TableKey> {
        let mut names: Vec<Symbol> = self.bindings.notes.names().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.into_iter().for_each(|name| self.define_named(name));
        let mut tables: Vec<TableKey> = self.deferred.keys().copied().collect();
        tables.sort_unstable();
        tables
    }

    /// Returns whether a name of the prelude stands for what nobody has asked for yet, at least for some of the
    /// methods of a function. O(1).
    pub fn is_deferred(&self, function: Symbol) -> bool {
        self.bindings.notes.get(function).is_some()
            || self.deferred.contains_key(&TableOwner::Function(function).plain())
    }
}

/// What is known of the value of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Given {
    /// Too little.
    Unknown,
    /// It is a function, which is of a family.
    Function(Symbol, FamilyId),
    /// It is a type, of one family itself, and a value of another.
    Type(Option<FamilyId>, Option<FamilyId>),
    /// It is a value of a family.
    Value(Option<FamilyId>),
}

/// Ends the program if the prelude is wrong, which is no fault of any user.
fn expect_right(defined: Result<(), Vec<Diagnostic>>) {
    if let Err(errors) = defined {
        panic!("the prelude is wrong\n{}", regraft_ir::render_all(&errors, false));
    }
}

#[cfg(test)]
mod tests {
    use regraft_ir::TypeKind;

    use super::super::deferred::{Meaning, NoteId, Waiting};
    use super::super::entities::MethodId;
    use super::super::tables::Method;
    use super::super::types::{Bound, Ty};
    use super::{Taken, World};
    use crate::prelude::index::Take;

    impl World {
        /// Defines all that is deferred, and asserts that no method takes what its text says that it does not take.
        /// Returns the number of methods and of parameters of which the text says something.
        pub(crate) fn check_heads(&mut self) -> (usize, usize) {
            let tables = self.define_all_named();
            let (mut methods, mut parameters, mut wrong) = (0, 0, Vec::new());
            for table in tables {
                for waiting in self.deferred.remove(&table).unwrap_or_default() {
                    let Waiting::Statement(note) = waiting else { continue };
                    let first = self.methods.count();
                    self.define_waiting(waiting, Some(table));
                    let statement = self.bindings.notes.note(note).deferred();
                    let part = statement.part.start as usize..statement.part.end as usize;
                    let text = &statement.source.text[part];
                    for id in (first..self.methods.count()).map(|id| MethodId(id as u32)) {
                        let Some(Method { signature, table, .. }) = self.methods.get(id) else {
                            continue;
                        };
                        let callee = if table.keywords { 3 } else { 1 };
                        let count = signature.params.len() - callee;
                        let note_of = self.bindings.notes.note(note).statement;
                        let most = note_of.most.map(usize::from);
                        assert!(usize::from(note_of.least) <= count, "{text}");
                        let is_limited = signature.rest.is_none() && most >= Some(count);
                        assert!(most.is_none() || is_limited, "{text}");
                        methods += 1;
                        for take in self.bindings.notes.note(note).takes() {
                            parameters += 1;
                            let param = &signature.params[callee + usize::from(take.position)];
                            if !self.takes_no_more(param, &signature.bounds, note, take) {
                                wrong.push(format!("parameter {} of {text}", take.position));
                            }
                        }
                    }
                }
            }
            assert!(wrong.is_empty(), "{}", wrong.join(""));
            (methods, parameters)
        }

        fn takes_no_more(&self, param: &Ty, bounds: &[Bound], note: NoteId, take: &Take) -> bool {
            let all = |members: &[Ty]| {
                members.iter().all(|member| self.takes_no_more(member, bounds, note, take))
            };
            let below = |ty: &Ty, family| {
                let head = self.types.head(ty);
                head.is_some_and(|head| self.types.ancestors(head).any(|above| above == family))
            };
            let is_type = |ty: &Ty, family| match ty {
                Ty::Var(var) => below(&bounds[var.0 as usize].upper, family),
                ty => below(ty, family),
            };
            let mut meanings = self
                .bindings
                .notes
                .note(note)
                .meanings(take, |name| self.meaning_in_signature(name));
            let (taken, is_any) = (take.taken, take.names.is_empty());
            match param {
                Ty::Var(var) => {
                    self.takes_no_more(&bounds[var.0 as usize].upper, bounds, note, take)
                }
                Ty::Union(members) => all(members),
                // `Type{<:T}`
                Ty::Where(inner, body) if taken == Taken::TypeBelow => match &**body {
                    Ty::TypeOf(of) if is_any || matches!(**of, Ty::Var(_)) => {
                        is_any
                            || meanings.any(|meaning| match meaning {
                                Meaning::Family(family) => {
                                    inner.iter().any(|bound| below(&bound.upper, family))
                                }
                                meaning => meaning == Meaning::Any,
                            })
                    }
                    body => self.takes_no_more(body, bounds, note, take),
                },
                Ty::TypeOf(of) if taken == Taken::TypeBelow => match &**of {
                    _ if is_any => true,
                    Ty::Var(var) if matches!(bounds[var.0 as usize].upper, Ty::Union(_)) => {
                        let Ty::Union(members) = &bounds[var.0 as usize].upper else {
                            return false;
                        };
                        members.iter().all(|member| {
                            let member = Ty::TypeOf(std::rc::Rc::new(member.clone()));
                            self.takes_no_more(&member, bounds, note, take)
                        })
                    }
                    of => meanings.any(|meaning| match meaning {
                        Meaning::Family(family) => is_type(of, family),
                        meaning => meaning == Meaning::Any,
                    }),
                },
                param => meanings.any(|meaning| match (taken, meaning) {
                    (_, Meaning::Any) => true,
                    (Taken::Below, Meaning::Family(family)) => below(param, family),
                    (Taken::Only, Meaning::Function(name)) => {
                        *param == Ty::Concrete(self.ctx.ty(TypeKind::Fn(name)))
                    }
                    (Taken::Only, Meaning::Family(_)) => true,
                    _ => false,
                }),
            }
        }
    }
}
