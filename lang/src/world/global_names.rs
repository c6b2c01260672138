//! Names and what they stand for: those of the prelude, and those of the program, which shadow
//! them.

use regraft_ir::{Constant, Diagnostic, Loc, Symbol, Type, suggest};

use super::bindings::MAX_VARIABLE_TYPES;
use super::entities::{Binding, SpecId};
use super::tables::World;
use crate::definition::{Space, TypeExpr};
use crate::prelude::index::Declares;

impl World {
    /// Returns the binding of a name; `by` becomes invalid if that changes. O(1).
    pub fn resolve(&mut self, name: Symbol, space: Space, by: Option<SpecId>) -> Binding {
        let own = self.own(space, name);
        if own != Binding::Undefined {
            if let Some(by) = by {
                self.bindings.note(space, name, by);
            }
            return own;
        }
        let (space, name) = self.bindings.member(&self.ctx, space, name);
        // Nobody can have asked for what is defined only now.
        let found = self.find(space, name);
        if let Some(by) = by {
            for (space, name) in self.bindings.asked(space, name) {
                self.bindings.note(space, name, by);
            }
        }
        found
    }

    /// Returns the binding of a name in one space alone.
    pub(super) fn own(&mut self, space: Space, name: Symbol) -> Binding {
        match self.bindings.own(space, name) {
            Binding::Deferred => {
                self.define_named(name);
                self.bindings.own(space, name)
            }
            own => own,
        }
    }

    /// Returns the binding of a name that is no path.
    pub(super) fn find(&mut self, space: Space, name: Symbol) -> Binding {
        if self.bindings.exchanges.get(&space).is_some_and(|exchange| exchange.bare) {
            // Only the types of the prelude are there.
            self.own(Space::Base, name);
        }
        let (space, name) = self.bindings.locate(space, name);
        self.own(space, name)
    }

    /// Returns the binding of a name that may be a path, for nobody who would have to know of its changes.
    pub(super) fn meaning(&mut self, name: Symbol, space: Space) -> Binding {
        let (space, name) = self.bindings.member(&self.ctx, space, name);
        self.find(space, name)
    }

    /// The names that stand for types, in no order.
    pub(super) fn type_names(&self) -> Vec<Symbol> {
        let types = self.bindings.slots.iter().filter(|(_, slot)| {
            matches!(slot.binding, Binding::Type(_) | Binding::Const(Constant::Type(_)))
        });
        let deferred = self
            .bindings
            .notes
            .names()
            .filter(|(_, of)| matches!(of, Declares::Type | Declares::Alias));
        types.map(|(&(_, name), _)| name).chain(deferred.map(|(name, _)| name)).collect()
    }

    /// The function of that name in a space.
    pub(crate) fn function_named(&mut self, name: Symbol, space: Space) -> Symbol {
        match self.resolve(name, space, None) {
            Binding::Function(function) => function,
            _ => name,
        }
    }

    pub(super) fn set(&mut self, name: Symbol, space: Space, binding: Binding) {
        if self.bindings.set(space, name, binding, &mut self.edges) {
            self.age += 1;
        }
    }

    /// Binds what a program may bind anew only to a thing of its kind.
    pub(super) fn bind(
        &mut self,
        name: Symbol,
        space: Space,
        binding: Binding,
        loc: Loc,
    ) -> Result<(), Diagnostic> {
        let old = self.own(space, name);
        let fixed = matches!(old, Binding::Function(_) | Binding::Type(_)) && old != binding;
        let variable = matches!(binding, Binding::Variable { .. });
        let constant = matches!(old, Binding::Const(_) | Binding::Global { .. });
        if fixed || variable && constant || !variable && matches!(old, Binding::Variable { .. }) {
            let text = self.ctx.str(name);
            let (what, help) = match old {
                Binding::Function(_) => ("function", "give the value another name"),
                Binding::Type(_) => ("type", "give the value another name"),
                Binding::Variable { .. } => {
                    ("variable", "declare it `const` where it gets its first value")
                }
                _ => ("constant", "leave `const` out where it gets its first value"),
            };
            let message = format!("invalid redefinition of the {what} `{text}`");
            return Err(Diagnostic::error(message).at_loc(&self.ctx, loc, "bound here").help(help));
        }
        self.set(name, space, binding);
        Ok(())
    }

    /// Declares a function without methods: `function f end`. Returns its symbol.
    ///
    /// # Errors
    /// If the name stands for a value in this space.
    pub fn declare_function(
        &mut self,
        name: Symbol,
        space: Space,
        loc: Loc,
    ) -> Result<Symbol, Diagnostic> {
        match self.own(space, name) {
            Binding::Function(symbol) => return Ok(symbol),
            Binding::Type(_) => return Ok(name),
            _ => {}
        }
        let symbol = self.bindings.qualified(&self.ctx, space, name);
        let old = self.bindings.own(space, name);
        if old != Binding::Undefined {
            let message =
                format!("cannot define function `{}`; it already has a value", self.ctx.str(name));
            return Err(Diagnostic::error(message).at_loc(&self.ctx, loc, "defined here"));
        }
        self.set(name, space, Binding::Function(symbol));
        Ok(symbol)
    }

    /// Binds a name to a constant whose value is known. A constant may be bound anew.
    ///
    /// # Errors
    /// If the name is that of a function, type or variable of this space.
    pub fn bind_const(
        &mut self,
        name: Symbol,
        space: Space,
        value: Constant,
        loc: Loc,
    ) -> Result<(), Diagnostic> {
        self.bind(name, space, Binding::Const(value), loc)
    }

    /// Binds a name to a constant of type `ty` that the interpreter keeps, under the name that is
    /// returned. A constant that is bound anew invalidates who asked for it only if its type is
    /// another: values are not looked at.
    ///
    /// # Errors
    /// If the name is that of a function, type or variable of this space.
    pub fn bind_global(
        &mut self,
        name: Symbol,
        space: Space,
        ty: Type,
        loc: Loc,
    ) -> Result<Symbol, Diagnostic> {
        let symbol = self.bindings.qualified(&self.ctx, space, name);
        self.bind(name, space, Binding::Global { name: symbol, ty }, loc)?;
        Ok(symbol)
    }

    /// Makes a name a variable that the interpreter keeps, under the name that is returned, and to
    /// which values of any type may be assigned at any time.
    ///
    /// # Errors
    /// If the name is that of a constant, function or type of this space.
    pub fn declare_variable(
        &mut self,
        name: Symbol,
        space: Space,
        loc: Loc,
    ) -> Result<Symbol, Diagnostic> {
        let symbol = self.bindings.qualified(&self.ctx, space, name);
        if self.declared(name, space).is_some() {
            return Ok(symbol);
        }
        self.bind(name, space, Binding::Variable { name: symbol, ty: Type::ANY }, loc)?;
        self.bindings.slot(space, name).types = MAX_VARIABLE_TYPES;
        Ok(symbol)
    }

    /// Declares the type of a global variable.
    ///
    /// # Errors
    /// If it has another one, or a value already.
    pub fn declare_type(
        &mut self,
        name: Symbol,
        space: Space,
        ty: &TypeExpr,
    ) -> Result<(), Vec<Diagnostic>> {
        let loc = ty.loc;
        let declared = self.eval_type(ty, space)?;
        let declared = self.types.type_value(&declared);
        let own = self.bindings.own(space, name);
        let known = self.declared(name, space);
        if known == Some(declared) {
            return Ok(());
        }
        if own != Binding::Undefined {
            let message = format!(
                "cannot set type for global {}. It already has a value or is already set to a different type",
                self.ctx.str(name)
            );
            return Err(vec![Diagnostic::error(message).at_loc(&self.ctx, loc, "declared here")]);
        }
        let stored = match self.types.ty_of(declared) {
            super::types::Ty::Concrete(ty) => ty,
            _ => Type::ANY,
        };
        let symbol = self.bindings.qualified(&self.ctx, space, name);
        let binding = Binding::Variable { name: symbol, ty: stored };
        self.bind(name, space, binding, loc).map_err(|error| vec![error])?;
        self.bindings.slot(space, name).declared = Some(declared);
        Ok(())
    }

    /// Binds a name to the type that an expression stands for.
    ///
    /// # Errors
    /// If the expression is no type.
    pub fn bind_type(
        &mut self,
        name: Symbol,
        space: Space,
        ty: &TypeExpr,
    ) -> Result<Type, Vec<Diagnostic>> {
        let found = self.eval_type(ty, space)?;
        let found = self.types.type_value(&found);
        self.bind_const(name, space, Constant::Type(found), ty.loc).map_err(|error| vec![error])?;
        Ok(found)
    }

    /// Binds a name to the only value of the type that an expression stands for.
    ///
    /// # Errors
    /// If the expression is no type.
    pub fn bind_instance(
        &mut self,
        name: Symbol,
        space: Space,
        ty: &TypeExpr,
    ) -> Result<(), Vec<Diagnostic>> {
        let of = self.eval_type(ty, space)?;
        let of = self.types.type_value(&of);
        self.bind_global(name, space, of, ty.loc).map(drop).map_err(|error| vec![error])
    }

    /// Binds a name to the constant that another one stands for.
    ///
    /// # Errors
    /// If that is none.
    pub fn bind_alias(
        &mut self,
        name: Symbol,
        space: Space,
        other: Symbol,
    ) -> Result<(), Vec<Diagnostic>> {
        let binding = match self.own(space, other) {
            Binding::Function(function) => Binding::Const(Constant::Func(function)),
            Binding::Type(ty) => Binding::Const(Constant::Type(ty)),
            binding => binding,
        };
        if !matches!(binding, Binding::Const(_) | Binding::Global { .. }) {
            let text = self.ctx.str(other);
            return Err(vec![Diagnostic::error(format!("`{text}` is no constant"))]);
        }
        self.set(name, space, binding);
        Ok(())
    }

    /// The type that is declared for a global variable.
    pub fn declared(&self, name: Symbol, space: Space) -> Option<Type> {
        let (space, name) = self.bindings.locate(space, name);
        self.bindings.slots.get(&(space, name)).and_then(|slot| slot.declared)
    }

    /// Makes a name a variable that the interpreter keeps, to which values are assigned while
    /// nothing runs that reads it: at the end of a statement at top level. Does nothing if it is a
    /// variable.
    ///
    /// # Errors
    /// If the name is that of a constant, function or type of this space.
    pub fn declare_between_statements(
        &mut self,
        name: Symbol,
        space: Space,
        loc: Loc,
    ) -> Result<(), Diagnostic> {
        if matches!(self.bindings.own(space, name), Binding::Variable { .. }) {
            return Ok(());
        }
        let symbol = self.bindings.qualified(&self.ctx, space, name);
        self.bind(name, space, Binding::Variable { name: symbol, ty: Type::ANY }, loc)
    }

    /// Says of which type the value of a variable is that was assigned between statements. Who
    /// asked for the variable becomes invalid if that is another type. A variable that has had too
    /// many types, or to which values are assigned at any time, stays one of type `any`.
    pub fn assigned(&mut self, name: Symbol, space: Space, ty: Type) {
        let slot = self.bindings.slot(space, name);
        if let Binding::Variable { name: symbol, ty: old } = slot.binding
            && old != ty
            && slot.declared.is_none()
        {
            slot.types = slot.types.saturating_add(1);
            let ty = if slot.types > MAX_VARIABLE_TYPES { Type::ANY } else { ty };
            self.set(name, space, Binding::Variable { name: symbol, ty });
        }
    }

    /// Returns message and help for a name that is not bound.
    pub fn undefined(&self, name: Symbol, space: Space) -> (String, Vec<String>) {
        let text = self.ctx.str(name);
        let help = self.near(name, space).map(|near| format!("did you mean `{near}`?"));
        (format!("`{text}` not defined"), help.into_iter().collect())
    }

    /// The name that may be meant by one that stands for nothing. O(names that there are).
    pub fn near(&self, name: Symbol, space: Space) -> Option<String> {
        let text = self.ctx.str(name);
        let is_seen = |of: Space| space != Space::Base || of == Space::Base;
        let mut names: Vec<&str> = self
            .bindings
            .bound()
            .filter(|&(of, _)| is_seen(of))
            .map(|(_, name)| self.ctx.str(name))
            .filter(|name| !name.starts_with('#') && *name != text)
            .collect();
        names.sort_unstable();
        names.dedup();
        suggest(text, names).map(str::to_owned)
    }

    /// The names that stand for something in a space, sorted: for completion.
    pub fn names(&self, space: Space) -> Vec<Symbol> {
        let bound = self.bindings.bound().filter(|&(of, _)| of == space);
        let mut names: Vec<Symbol> = bound.map(|(_, name)| name).collect();
        names.sort_by_key(|&name| self.ctx.str(name));
        names
    }
}
