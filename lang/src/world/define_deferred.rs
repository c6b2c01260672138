//! Defines what was deferred when somebody asks for it.

use std::ops::Range;
use std::rc::Rc;

use regraft_dialects::semantics::is_exact;
use regraft_ir::{Diagnostic, Loc, Source, Symbol, Type, TypeKind};
use smallvec::SmallVec;

use super::deferred::{Declares, Deferred, Note, Parked, TableOf, Waiting};
use super::dispatch_table::Table;
use super::entities::{Binding, MethodId};
use super::method::{TableKey, TableOwner};
use super::tables::World;
use super::term::FamilyId;
use crate::definition::{Item, Space, StructDecl};
use crate::lower::{Library, Statement};
use crate::prelude::heads::heads;
use crate::prelude::statements::{Kind, Owner};

impl World {
    /// Begins a file of the prelude, to which the statements belong that are deferred next.
    pub(crate) fn defer_file(&mut self, library: &Rc<Library>, source: &Source) {
        self.bindings.notes.begin(library, source);
    }

    /// Notes a statement of the last file under the name that it defines, to be parsed later. Gives it
    /// back if it has to be parsed now. O(1).
    pub(crate) fn defer(&mut self, kind: Kind<'static>, part: Range<u32>) -> Result<(), Deferred> {
        let now = |world: &Self| world.bindings.notes.statement(None, part.clone());
        let (prefix, text, of) = match kind {
            Kind::Other => return Err(now(self)),
            Kind::Declaration(name) | Kind::Alias(name) => ("", name, None),
            Kind::Method(Owner::Named(name)) => ("", name, Some(TableOf::Callee)),
            Kind::Method(Owner::Macro(name)) => ("@", name, Some(TableOf::Callee)),
            Kind::Method(Owner::Instance(name)) => ("", name, Some(TableOf::Instance)),
            Kind::Method(Owner::Type(name)) => ("", name, Some(TableOf::Constructor)),
        };
        let name = match self.deferred.last {
            Some((last, symbol)) if last == text && prefix.is_empty() => symbol,
            _ if prefix.is_empty() => self.ctx.symbol(&internal(text)),
            _ => self.ctx.symbol(&format!("{prefix}{text}")),
        };
        self.deferred.last = prefix.is_empty().then_some((text, name));
        let declares = match kind {
            Kind::Declaration(_) => Declares::Type,
            Kind::Alias(_) => Declares::Alias,
            _ => Declares::Function,
        };
        match (self.bindings.own(Space::Base, name), of) {
            (Binding::Deferred, _) | (Binding::Undefined, None | Some(TableOf::Callee)) => {
                self.bindings.notes.add(name, declares, of, part, self.age);
                Ok(())
            }
            (binding, Some(of)) => self.defer_methods(binding, of, now(self), self.age),
            (_, None) => Err(now(self)),
        }
    }

    /// Notes methods of what a name is bound to; gives them back if they have to be parsed now.
    fn defer_methods(
        &mut self,
        binding: Binding,
        of: TableOf,
        statement: Deferred,
        age: u64,
    ) -> Result<(), Deferred> {
        let family = match binding {
            Binding::Type(ty) => self.types.head(&self.types.ty_of(ty)),
            _ => None,
        };
        let owner = match (binding, of) {
            (Binding::Function(name), TableOf::Callee) => Some(TableOwner::Function(name)),
            // `(::Type{T})(x) where T`
            (Binding::Undefined, TableOf::Constructor) => Some(TableOwner::AnyConstructor),
            (_, TableOf::Callee | TableOf::Constructor) => family.map(TableOwner::Constructor),
            (_, TableOf::Instance) => family.map(TableOwner::Instance),
        };
        let Some(table) = owner.map(TableOwner::plain) else { return Err(statement) };
        if self.tables.get(&table).is_some_and(Table::was_asked) {
            // What was answered before has to be answered anew.
            return Err(statement);
        }
        let waiting = Waiting::Statement(statement);
        self.deferred.by_table.entry(table).or_default().push((waiting, age));
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
        self.deferred.by_table.entry(table).or_default().push((waiting, self.age));
        Ok(())
    }

    /// Defines what the prelude has under a name, and notes the methods that wait for it.
    ///
    /// # Panics
    /// If the prelude is wrong, which is no fault of any user.
    pub(super) fn define_named(&mut self, name: Symbol) {
        let Some(mut notes) = self.bindings.notes.take(name) else { return };
        let defined = match notes.iter().position(|note| note.of.is_none()) {
            Some(declaration) => {
                let Note { file, part, .. } = notes.remove(declaration);
                let declaration = self.bindings.notes.statement(Some(file), part);
                declaration.read().and_then(|items| self.declare(items))
            }
            None => self
                .declare_function(name, Space::Base, Loc::UNKNOWN)
                .map(drop)
                .map_err(|error| vec![error]),
        };
        expect_right(defined);
        let binding = self.bindings.own(Space::Base, name);
        for Note { file, part, of, age, .. } in notes {
            let statement = self.bindings.notes.statement(Some(file), part);
            let noted = match of {
                Some(of) => self.defer_methods(binding, of, statement, age),
                None => Err(statement),
            };
            if let Err(now) = noted {
                expect_right(now.read().and_then(|methods| self.define_at(methods, None, age)));
            }
        }
        for table in self.deferred.parked_for.remove(&name).unwrap_or_default() {
            self.unpark(table, name);
        }
    }

    /// Declares types.
    fn declare(&mut self, statements: Vec<Statement>) -> Result<(), Vec<Diagnostic>> {
        for statement in statements {
            match statement {
                Statement::Item(Item::Struct(decl)) => self.declare_struct(*decl)?,
                Statement::Item(Item::Abstract(decl)) => self.declare_abstract(*decl)?,
                Statement::Item(Item::Type(name, ty)) => {
                    self.bind_type(name, Space::Base, &ty)?;
                }
                _ => return Err(vec![Diagnostic::error("expected the declaration of a type")]),
            }
        }
        Ok(())
    }

    /// Defines the parked methods of a table that take something of a name, unless they take something else that is
    /// deferred.
    fn unpark(&mut self, table: TableKey, name: Symbol) {
        let Some(parked) = self.deferred.parked.get_mut(&table) else { return };
        let takes = |parked: &mut Parked| parked.takes.iter().any(|&(_, taken)| taken == name);
        let chosen = parked.extract_if(.., takes);
        let waiting = chosen.map(|parked| (Waiting::Statement(parked.statement), parked.age));
        self.deferred.by_table.entry(table).or_default().extend(waiting);
        self.define_deferred(table);
    }

    /// Defines the methods of a table that are not there yet, but for those that take only what there is no
    /// value of.
    ///
    /// # Panics
    /// If the prelude is wrong, which is no fault of any user.
    pub(super) fn define_deferred(&mut self, table: TableKey) {
        let table = table.owner.plain();
        while let Some(statements) = self.deferred.by_table.remove(&table) {
            for (waiting, age) in statements {
                expect_right(match waiting {
                    Waiting::Statement(statement) => self.define_or_park(statement, table, age),
                    Waiting::Constructors(decl, family) => self.define_default(&decl, family, age),
                });
            }
        }
    }

    fn define_or_park(
        &mut self,
        statement: Deferred,
        table: TableKey,
        age: u64,
    ) -> Result<(), Vec<Diagnostic>> {
        let takes = self.taken_deferred(statement.text());
        if takes.is_empty() {
            return statement.read().and_then(|methods| self.define_at(methods, Some(table), age));
        }
        for &(_, name) in &takes {
            let tables = self.deferred.parked_for.entry(name).or_default();
            if tables.last() != Some(&table) {
                tables.push(table);
            }
        }
        self.deferred.parked.entry(table).or_default().push(Parked { statement, age, takes });
        Ok(())
    }

    /// The types and functions that a method takes and nobody has asked for, with the positions of their parameters.
    fn taken_deferred(&self, statement: &str) -> SmallVec<[(usize, Symbol); 2]> {
        let taken = heads(statement).filter_map(|(position, name)| {
            let name = self.ctx.find_symbol(&internal(name))?;
            // Values of a type may have come about under its other name.
            let declares = self.bindings.notes.get(name)?;
            (declares != Declares::Alias).then_some((position, name))
        });
        taken.collect()
    }

    /// Defines the parked methods of a table that a call may mean: all arguments of which enough is known can be what
    /// they take.
    pub(super) fn define_parked(&mut self, key: TableKey, args: &[Type]) {
        let (table, args) = match key.keywords {
            true => (key.owner.plain(), args.get(2..).unwrap_or_default()),
            false => (key, args),
        };
        let Some(parked) = self.deferred.parked.get(&table) else { return };
        let ctx = &self.ctx;
        let may_be_taken = |&(position, _): &(usize, Symbol)| {
            args.get(position).is_some_and(|&ty| !is_exact(ctx, ty))
        };
        let wanted = parked.iter().filter(|parked| parked.takes.iter().all(may_be_taken));
        let names: Vec<Symbol> =
            wanted.flat_map(|parked| &parked.takes).map(|&(_, name)| name).collect();
        names.into_iter().for_each(|name| self.define_named(name));
    }

    /// Defines all parked methods of a table.
    pub(super) fn define_all_parked(&mut self, table: TableKey) {
        let Some(parked) = self.deferred.parked.get(&table.owner.plain()) else { return };
        let names: Vec<Symbol> =
            parked.iter().flat_map(|parked| &parked.takes).map(|&(_, name)| name).collect();
        names.into_iter().for_each(|name| self.define_named(name));
        if let Some(table) = self.tables.get_mut(&table) {
            let methods = &self.methods;
            let place = |&id: &MethodId| {
                let method = &methods[id];
                (method.born, method.loc)
            };
            table.methods.sort_by_key(place);
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

    fn define_at(
        &mut self,
        statements: Vec<Statement>,
        table: Option<TableKey>,
        age: u64,
    ) -> Result<(), Vec<Diagnostic>> {
        let mut errors = Vec::new();
        for statement in statements {
            let Statement::Signatures(methods) = statement else {
                errors.push(Diagnostic::error("a statement that is deferred defines methods"));
                continue;
            };
            for (def, code) in methods {
                match self.define_later_at(&def, code, age) {
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
        let mut names: Vec<Symbol> = self.bindings.notes.names().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.into_iter().for_each(|name| self.define_named(name));
        let mut tables: Vec<TableKey> = self.deferred.by_table.keys().copied().collect();
        tables.sort_unstable();
        tables.into_iter().for_each(|table| self.define_deferred(table));
    }

    /// Returns whether a name of the prelude stands for what nobody has asked for yet, at least for some of the
    /// methods of a function. O(1).
    pub fn is_deferred(&self, function: Symbol) -> bool {
        self.bindings.notes.get(function).is_some()
            || self.deferred.by_table.contains_key(&TableOwner::Function(function).plain())
    }
}

/// The name that a name in the text of the prelude stands for.
fn internal(name: &str) -> std::borrow::Cow<'_, str> {
    match name.strip_prefix("__") {
        Some(rest) => format!("#{rest}").into(),
        None => name.into(),
    }
}

/// Ends the program if the prelude is wrong, which is no fault of any user.
fn expect_right(defined: Result<(), Vec<Diagnostic>>) {
    if let Err(errors) = defined {
        panic!("the prelude is wrong\n{}", regraft_ir::render_all(&errors, false));
    }
}
