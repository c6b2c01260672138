//! Parses the deferred methods of a table when it is first asked.

use regraft_ir::{Diagnostic, Loc, Symbol};

use super::deferred::{Deferred, Waiting};
use super::dispatch_table::Table;
use super::entities::Binding;
use super::method::{TableKey, TableOwner};
use super::tables::World;
use super::term::FamilyId;
use crate::definition::{Space, StructDecl};
use crate::lower::Statement;
use crate::prelude::statements::Owner;

impl World {
    /// Notes a statement of the prelude that defines methods of `owner`, to be parsed later. Gives
    /// it back if it has to be parsed now.
    pub(crate) fn defer(
        &mut self,
        owner: Owner<'static>,
        statement: Deferred,
    ) -> Result<(), Deferred> {
        let table = match (owner, self.deferred.last) {
            (Owner::Named(name), Some((last, table))) if name == last => Some(table),
            _ => self.table_of_owner(owner),
        };
        let Some(table) = table else { return Err(statement) };
        if let Owner::Named(name) = owner {
            self.deferred.last = Some((name, table));
        }
        if self.tables.get(&table).is_some_and(Table::was_asked) {
            // What was answered before has to be answered anew.
            return Err(statement);
        }
        let waiting = Waiting::Statement(statement);
        self.deferred.by_table.entry(table).or_default().push((waiting, self.age));
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

    /// Returns the table that the methods of an owner belong to, if that is known here and now. The
    /// name of a function is bound, if it is not.
    fn table_of_owner(&mut self, owner: Owner<'_>) -> Option<TableKey> {
        let symbol = |world: &Self, name: &str| match name.strip_prefix("__") {
            Some(rest) => world.ctx.symbol(&format!("#{rest}")),
            None => world.ctx.symbol(name),
        };
        let family =
            |world: &Self, name: &str| match world.bindings.own(Space::Base, symbol(world, name)) {
                Binding::Type(ty) => world.types.head(&world.types.ty_of(ty)),
                _ => None,
            };
        match owner {
            Owner::Macro(name) => {
                let symbol = self.ctx.symbol(&format!("@{name}"));
                let symbol = self.declare_function(symbol, Space::Base, Loc::UNKNOWN);
                symbol.ok().map(|name| TableOwner::Function(name).plain())
            }
            Owner::Named(name) => {
                let symbol = symbol(self, name);
                match self.bindings.own(Space::Base, symbol) {
                    Binding::Undefined | Binding::Function(_) => {
                        let symbol = self.declare_function(symbol, Space::Base, Loc::UNKNOWN);
                        symbol.ok().map(|name| TableOwner::Function(name).plain())
                    }
                    _ => family(self, name).map(|family| TableOwner::Constructor(family).plain()),
                }
            }
            Owner::Instance(name) => {
                family(self, name).map(|family| TableOwner::Instance(family).plain())
            }
            Owner::Type(name) => {
                family(self, name).map(|family| TableOwner::Constructor(family).plain())
            }
        }
    }

    /// Defines the methods of a table that are not there yet.
    ///
    /// # Panics
    /// If the prelude is wrong, which is no fault of any user.
    pub(super) fn define_deferred(&mut self, table: TableKey) {
        let table = table.owner.plain();
        let Some(statements) = self.deferred.by_table.remove(&table) else { return };
        for (waiting, age) in statements {
            let errors = match waiting {
                Waiting::Statement(statement) => match statement.read() {
                    Ok(statements) => self.define_at(statements, table, age),
                    Err(errors) => errors,
                },
                Waiting::Constructors(decl, family) => {
                    self.define_default(&decl, family, age).err().unwrap_or_default()
                }
            };
            if !errors.is_empty() {
                panic!("the prelude is wrong\n{}", regraft_ir::render_all(&errors, false));
            }
        }
    }

    fn define_at(
        &mut self,
        statements: Vec<Statement>,
        table: TableKey,
        age: u64,
    ) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        for statement in statements {
            let Statement::Signatures(methods) = statement else {
                errors.push(Diagnostic::error("a statement that is deferred defines methods"));
                continue;
            };
            for (def, code) in methods {
                match self.define_later_at(&def, code, age) {
                    Ok(id) => {
                        assert_eq!(self.methods[id.0 as usize].table.owner, table.owner, "{def:?}");
                    }
                    Err(more) => errors.extend(more),
                }
            }
        }
        errors
    }

    /// Defines all methods that are not there yet.
    pub fn define_all_deferred(&mut self) {
        let mut tables: Vec<TableKey> = self.deferred.by_table.keys().copied().collect();
        tables.sort_unstable();
        tables.into_iter().for_each(|table| self.define_deferred(table));
    }

    /// Returns whether there are methods of a function of the prelude that are not parsed yet.
    pub(crate) fn is_deferred(&self, function: Symbol) -> bool {
        self.deferred.by_table.contains_key(&TableOwner::Function(function).plain())
    }
}
