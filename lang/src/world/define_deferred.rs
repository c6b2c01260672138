//! Defines what was deferred when somebody asks for it.

use std::ops::Range;
use std::rc::Rc;

use regraft_dialects::semantics::is_exact;
use regraft_ir::{Constant, Diagnostic, Loc, Source, Symbol, Type, TypeKind};
use smallvec::SmallVec;

use super::deferred::{
    Declares, Deferred, Note, Outlined, Parked, TableOf, TakenType, Takes, Waiting,
};
use super::dispatch_table::Table;
use super::entities::{Binding, MethodId};
use super::method::{TableKey, TableOwner};
use super::tables::World;
use super::term::FamilyId;
use crate::definition::{Item, Space, StructDecl};
use crate::lower::{Library, Statement};
use crate::prelude::heads::{Taken, head};
use crate::prelude::statements::{Kind, Owner, internal};

impl World {
    /// Makes room for so many statements about so many names that are deferred.
    pub(crate) fn make_room(&mut self, names: usize, statements: usize) {
        self.bindings.notes.reserve(names, statements);
    }

    /// Begins a file of the prelude, to which the statements belong that are deferred next.
    pub(crate) fn defer_file(&mut self, library: &Rc<Library>, source: &Source) {
        self.bindings.notes.begin(library, source);
    }

    /// Notes a statement of the last file under the name that it defines, to be parsed later. Gives it
    /// back if it has to be parsed now. O(1).
    pub(crate) fn defer(&mut self, kind: Kind<Symbol>, part: Range<u32>) -> Result<(), Deferred> {
        let now = |world: &Self| world.bindings.notes.statement(None, part.clone());
        let (name, declares, of) = match kind {
            Kind::Other => return Err(now(self)),
            Kind::Declaration(name) => (name, Declares::Type, None),
            Kind::Alias(name) => (name, Declares::Alias, None),
            Kind::Method(Owner::Named(name) | Owner::Macro(name)) => {
                (name, Declares::Function, Some(TableOf::Callee))
            }
            Kind::Method(Owner::Instance(name)) => {
                (name, Declares::Function, Some(TableOf::Instance))
            }
            Kind::Method(Owner::Type(name)) => {
                (name, Declares::Function, Some(TableOf::Constructor))
            }
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

    /// Lets the parked methods of a table that take something of a name wait for calls as the others do, unless they take
    /// something else that is deferred.
    fn unpark(&mut self, table: TableKey, name: Symbol) {
        let Some(parked) = self.deferred.parked.get_mut(&table) else { return };
        let takes = |parked: &mut Parked| parked.takes.iter().any(|&(_, taken)| taken == name);
        let chosen = parked.extract_if(.., takes);
        let waiting = chosen.map(|parked| (Waiting::Statement(parked.statement), parked.age));
        self.deferred.by_table.entry(table).or_default().extend(waiting);
    }

    /// Defines the methods of a table that are not there yet, but for those that take only what there is no
    /// value of.
    ///
    /// # Panics
    /// If the prelude is wrong, which is no fault of any user.
    pub(super) fn define_deferred(&mut self, table: TableKey) {
        self.define_outlined(table.owner.plain(), |_, _| true);
    }

    /// Defines the methods of a table that are not there yet and that may take these arguments.
    ///
    /// # Panics
    /// If the prelude is wrong, which is no fault of any user.
    pub(super) fn define_deferred_for(&mut self, key: TableKey, args: &[Type]) {
        let args = positional(key, args);
        self.define_outlined(key.owner.plain(), |world, takes| world.may_be_taken(takes, args));
    }

    fn define_outlined(&mut self, table: TableKey, may_be: impl Fn(&Self, &Takes) -> bool) {
        loop {
            self.outline(table);
            // Nobody looks at them meanwhile: what is being defined asks for other tables.
            let Some(mut outlined) = self.deferred.outlined.remove(&table) else { return };
            let wanted = |outlined: &mut Outlined| may_be(self, &outlined.takes);
            let chosen: Vec<Outlined> = outlined.extract_if(.., wanted).collect();
            if !outlined.is_empty() {
                self.deferred.outlined.insert(table, outlined);
            }
            if chosen.is_empty() {
                return;
            }
            for Outlined { statement, age, .. } in chosen {
                let defined = statement.read();
                expect_right(defined.and_then(|methods| self.define_at(methods, Some(table), age)));
            }
        }
    }

    /// Looks at the statements of a table for the first time: parks those that take what is deferred.
    fn outline(&mut self, table: TableKey) {
        while let Some(statements) = self.deferred.by_table.remove(&table) {
            for (waiting, age) in statements {
                match waiting {
                    Waiting::Statement(statement) => self.outline_or_park(statement, table, age),
                    Waiting::Constructors(decl, family) => {
                        expect_right(self.define_default(&decl, family, age));
                    }
                }
            }
        }
    }

    fn outline_or_park(&mut self, statement: Deferred, table: TableKey, age: u64) {
        let head = head(statement.text());
        let named = head.takes.iter().filter_map(|&(position, taken)| {
            let name = self.ctx.find_symbol(&internal(taken.name()))?;
            // Values of a type may have come about under its other name.
            let declares = self.bindings.notes.get(name)?;
            (declares != Declares::Alias).then_some((position, name))
        });
        let takes: SmallVec<[(usize, Symbol); 2]> = named.collect();
        if takes.is_empty() {
            let at = head
                .takes
                .iter()
                .filter_map(|&(position, taken)| Some((position, self.taken_type(taken)?)));
            let takes = Takes { least: head.least, most: head.most, at: at.collect() };
            let outlined = Outlined { statement, age, takes };
            self.deferred.outlined.entry(table).or_default().push(outlined);
            return;
        }
        for &(_, name) in &takes {
            let tables = self.deferred.parked_for.entry(name).or_default();
            if tables.last() != Some(&table) {
                tables.push(table);
            }
        }
        self.deferred.parked.entry(table).or_default().push(Parked { statement, age, takes });
    }

    /// The values that a parameter takes, if its text tells; a type parameter of the method is no name of the prelude.
    fn taken_type(&self, taken: Taken<'_>) -> Option<TakenType> {
        let (Taken::Below(name) | Taken::Only(name)) = taken else { return Some(TakenType::Types) };
        let name = self.ctx.find_symbol(&internal(name))?;
        match (taken, self.bindings.own(Space::Base, name)) {
            (Taken::Only(_), Binding::Function(name)) => Some(TakenType::Function(name)),
            (Taken::Below(_), Binding::Type(ty) | Binding::Const(Constant::Type(ty))) => {
                let family = self.types.head(&self.types.ty_of(ty))?;
                let known = &self.types.well_known;
                let is_one = family != known.union && family != known.vararg;
                is_one.then_some(TakenType::Below(family))
            }
            _ => None,
        }
    }

    /// Returns whether methods may take arguments of these types.
    fn may_be_taken(&self, takes: &Takes, args: &[Type]) -> bool {
        takes.least <= args.len()
            && takes.most.is_none_or(|most| args.len() <= most)
            && takes.at.iter().all(|&(position, taken)| {
                let ty = args[position];
                !is_exact(&self.ctx, ty)
                    || match (taken, self.ctx.kind(ty)) {
                        (TakenType::Function(name), kind) => *kind == TypeKind::Fn(name),
                        (TakenType::Types, kind) => matches!(kind, TypeKind::TypeOf(_)),
                        (TakenType::Below(above), _) => {
                            let family = self.types.head(&self.types.ty_of(ty));
                            family.is_none_or(|family| {
                                self.types.ancestors(family).any(|family| family == above)
                            })
                        }
                    }
            })
    }

    /// Defines the parked methods of a table that a call may mean: all arguments of which enough is known can be what
    /// they take.
    pub(super) fn define_parked(&mut self, key: TableKey, args: &[Type]) {
        let args = positional(key, args);
        let Some(parked) = self.deferred.parked.get(&key.owner.plain()) else { return };
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
        self.define_deferred(table);
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
        let waiting = self.deferred.by_table.keys().chain(self.deferred.outlined.keys());
        let mut tables: Vec<TableKey> = waiting.copied().collect();
        tables.sort_unstable();
        tables.into_iter().for_each(|table| self.define_deferred(table));
    }

    /// Returns whether a name of the prelude stands for what nobody has asked for yet, at least for some of the
    /// methods of a function. O(1).
    pub fn is_deferred(&self, function: Symbol) -> bool {
        self.bindings.notes.get(function).is_some()
            || self.deferred.by_table.contains_key(&TableOwner::Function(function).plain())
            || self.deferred.outlined.contains_key(&TableOwner::Function(function).plain())
    }
}

/// The types of the arguments without names, of those of a call that a table is for.
fn positional(key: TableKey, args: &[Type]) -> &[Type] {
    if key.keywords { args.get(2..).unwrap_or_default() } else { args }
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

    use super::super::entities::MethodId;
    use super::super::method::TableKey;
    use super::super::tables::Method;
    use super::super::types::Ty;
    use super::{Outlined, TakenType, World, expect_right};

    impl World {
        /// Defines all that is deferred, and asserts that no method takes what its text says that it does not take.
        /// Returns the number of methods and of parameters of which the text says something.
        pub(crate) fn check_outlines(&mut self) -> (usize, usize) {
            let mut names: Vec<_> = self.bindings.notes.names().map(|(name, _)| name).collect();
            names.sort_unstable();
            names.into_iter().for_each(|name| self.define_named(name));
            let mut tables: Vec<TableKey> = self.deferred.by_table.keys().copied().collect();
            tables.sort_unstable();
            tables.iter().for_each(|&table| self.outline(table));
            let (mut methods, mut parameters, mut wrong) = (0, 0, Vec::new());
            for table in tables {
                let outlined = self.deferred.outlined.remove(&table).unwrap_or_default();
                for Outlined { statement, age, takes } in outlined {
                    let first = self.methods.count();
                    let read = statement.read();
                    expect_right(read.and_then(|found| self.define_at(found, Some(table), age)));
                    let text = statement.text();
                    for id in (first..self.methods.count()).map(|id| MethodId(id as u32)) {
                        let Some(Method { signature, table, .. }) = self.methods.get(id) else {
                            continue;
                        };
                        let callee = if table.keywords { 3 } else { 1 };
                        let count = signature.params.len() - callee;
                        assert!(takes.least <= count, "{text}");
                        let is_limited = signature.rest.is_none() && takes.most >= Some(count);
                        assert!(takes.most.is_none() || is_limited, "{text}");
                        methods += 1;
                        for &(position, taken) in &takes.at {
                            parameters += 1;
                            if !self.takes_no_more(id, callee + position, taken) {
                                wrong.push(format!("parameter {position} of {text}"));
                            }
                        }
                    }
                }
            }
            assert!(wrong.is_empty(), "{}", wrong.join(""));
            (methods, parameters)
        }

        fn takes_no_more(&self, id: MethodId, position: usize, taken: TakenType) -> bool {
            let signature = &self.methods[id].signature;
            let param = match &signature.params[position] {
                Ty::Var(var) => &signature.bounds[var.0 as usize].upper,
                param => param,
            };
            match taken {
                TakenType::Below(family) => self
                    .types
                    .head(param)
                    .is_some_and(|head| self.types.ancestors(head).any(|above| above == family)),
                TakenType::Function(name) => {
                    *param == Ty::Concrete(self.ctx.ty(TypeKind::Fn(name)))
                }
                TakenType::Types => match param {
                    // `Type{<:T}`
                    Ty::Where(_, body) => matches!(**body, Ty::TypeOf(_)),
                    param => matches!(param, Ty::TypeOf(_)),
                },
            }
        }
    }
}
