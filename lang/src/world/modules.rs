//! Modules: their values, and the names that go from one to another.

use std::sync::Arc;

use regraft_exec::Val;
use regraft_ir::{Constant, Diagnostic, Loc, Symbol, Type, TypeKind};

use super::bindings::{Exchange, Imported};
use super::entities::{Binding, StaticValue, TypeArgument};
use super::tables::World;
use crate::definition::{Import, LIBRARY, Space, is_library};
use crate::packages::package;

/// A module that was made.
#[derive(Debug)]
pub(crate) struct MadeModule {
    /// The globals that are the module, with the type of their value.
    pub(crate) bound: Vec<(Symbol, Type)>,
    /// The globals that one of that name had before.
    pub(crate) gone: Vec<Symbol>,
}

impl World {
    /// Makes a module anew: its names stand for nothing. Binds its name, in the space around and in itself, and
    /// `@__MODULE__` there.
    ///
    /// # Errors
    /// If the name stands for something else.
    pub(crate) fn declare_module(
        &mut self,
        name: Symbol,
        space: Space,
        around: Space,
        bare: bool,
        loc: Loc,
    ) -> Result<MadeModule, Diagnostic> {
        let old = self.own(around, name);
        let is_module =
            matches!(old, Binding::Global { ty, .. } if self.bindings.module(ty).is_some());
        if old != Binding::Undefined && !is_module {
            let message = format!("invalid redefinition of `{}`", self.ctx.str(name));
            return Err(Diagnostic::error(message).at_loc(&self.ctx, loc, "it is no module"));
        }
        let ty = self.module_type(space);
        let gone = self.bindings.bound().filter(|&(of, _)| of == space);
        let gone: Vec<Symbol> = gone.map(|(_, name)| name).collect();
        let mut values = Vec::with_capacity(gone.len());
        for name in gone {
            values.push(self.bindings.qualified(&self.ctx, space, name));
            self.set(name, space, Binding::Undefined);
        }
        self.bindings.exchanges.insert(space, Exchange { bare, ..Exchange::default() });
        let itself = self.ctx.symbol("@__MODULE__");
        let bound = [(name, around), (name, space), (itself, space)].map(|(name, space)| {
            let symbol = self.bindings.qualified(&self.ctx, space, name);
            self.set(name, space, Binding::Global { name: symbol, ty });
            (symbol, ty)
        });
        Ok(MadeModule { bound: bound.to_vec(), gone: values })
    }

    /// Binds the names of the modules that are always there. Returns the names of these globals, with the
    /// types of their values.
    pub(crate) fn declare_own_modules(&mut self) -> Vec<(Symbol, Type)> {
        let main = [("@__MODULE__", Space::Main, Space::Main), ("Main", Space::Base, Space::Main)];
        let library = LIBRARY.map(|name| (name, Space::Base, Space::Base));
        let bound = main.into_iter().chain(library).map(|(name, around, space)| {
            let (name, ty) = (self.ctx.symbol(name), self.module_type(space));
            let symbol = self.bindings.qualified(&self.ctx, around, name);
            self.set(name, around, Binding::Global { name: symbol, ty });
            (symbol, ty)
        });
        bound.collect()
    }

    /// The name that a global of a module has for all: `A.x`.
    pub(crate) fn own_name(&self, name: Symbol, space: Space) -> Symbol {
        match space {
            Space::Module(path) if !self.ctx.str(name).contains('.') => {
                self.ctx.symbol(&format!("{}.{}", self.ctx.str(path), self.ctx.str(name)))
            }
            _ => name,
        }
    }

    /// The space of a name that may be a path, and its name there.
    pub(crate) fn home_of_name(&self, name: Symbol, space: Space) -> (Space, Symbol) {
        self.bindings.member(&self.ctx, space, name)
    }

    /// The last name of a path, if the others lead to a module.
    pub(crate) fn member_name(&self, name: Symbol, space: Space) -> Symbol {
        self.bindings.member(&self.ctx, space, name).1
    }

    /// The module in which a function was defined first.
    pub(crate) fn module_of(&self, function: Symbol) -> Space {
        match self.ctx.str(function).rsplit_once('.') {
            Some(("Main", _)) => Space::Main,
            Some((path, _)) => Space::Module(self.ctx.symbol(path)),
            None => match self.bindings.own(Space::Base, function) {
                Binding::Deferred => Space::Base,
                Binding::Function(own) if own == function => Space::Base,
                _ => Space::Main,
            },
        }
    }

    /// The value of a module.
    pub(crate) fn module_value(&mut self, space: Space) -> Val {
        Val::structure(self.module_type(space), [])
    }

    /// The type of the value of a module: `Module{:A}`.
    fn module_type(&mut self, space: Space) -> Type {
        let path = space.path(&self.ctx);
        let ty = match self.own(Space::Base, self.ctx.symbol("Module")) {
            Binding::Type(head) => {
                let path = StaticValue::Constant(Constant::Sym(path));
                self.apply_type(head, &[TypeArgument::Is(path)]).ok()
            }
            _ => None,
        };
        let ty = ty.unwrap_or(Type::UNIT);
        self.bindings.modules.insert(ty, space);
        ty
    }

    /// Makes names of a module known in a space.
    ///
    /// # Errors
    /// If there is no such module, or it has no such name.
    pub fn import(&mut self, import: &Import, space: Space) -> Result<(), Diagnostic> {
        let ctx = Arc::clone(&self.ctx);
        let text = |path: &[Symbol]| {
            let names: Vec<&str> = path.iter().map(|&name| ctx.str(name)).collect();
            format!("{}{}", ".".repeat(import.dots), names.join("."))
        };
        let error =
            |message: String| Diagnostic::error(message).at_loc(&ctx, import.loc, "not found");
        let from = self.start_of(import, space);
        let names = || import.path.iter().map(|&name| ctx.str(name));
        let module = from.and_then(|from| match import.path.is_empty() {
            true => Some(from),
            false => self.bindings.space_of(&ctx, from, names()),
        });
        let Some(module) = module else {
            // `import A.f`
            let (last, path) = import.path.split_last().ok_or_else(|| error("no module".into()))?;
            let around =
                from.filter(|_| import.names.is_none() && !path.is_empty() || import.dots > 0);
            let around = around.and_then(|from| {
                self.bindings.space_of(&ctx, from, path.iter().map(|&name| ctx.str(name)))
            });
            if let Some(around) = around
                && (around == Space::Base
                    || self.bindings.find(around, *last) != Binding::Undefined)
            {
                self.import_name(
                    space,
                    import.alias.unwrap_or(*last),
                    around,
                    *last,
                    import.extends,
                );
                return Ok(());
            }
            let path = text(&import.path);
            if import.dots > 0 {
                return Err(error(format!("there is no module `{path}`")));
            }
            let help = match self.bindings.space_of(&ctx, space, names()) {
                Some(_) => format!("a module of the program is named with a dot: `.{path}`"),
                None => {
                    "there are Base, LinearAlgebra, SparseArrays, Statistics, Random, SpecialFunctions, \
                         LogExpFunctions, Printf and Test, and modules of the program, as in `using .M`"
                        .to_owned()
                }
            };
            let message = format!("the module `{path}` is not supported");
            return Err(error(message).help(help));
        };
        if let Some(names) = &import.names {
            for &(name, alias) in names {
                if module != Space::Base && self.bindings.find(module, name) == Binding::Undefined {
                    let name = ctx.str(name);
                    let message =
                        format!("UndefVarError: `{name}` not defined in {}", text(&import.path));
                    return Err(error(message));
                }
                self.import_name(space, alias, module, name, import.extends);
            }
            return Ok(());
        }
        if let Some((&last, path)) = import.path.split_last() {
            let known = import.alias.unwrap_or(last);
            let around = self.bindings.space_of(
                &ctx,
                from.unwrap_or(space),
                path.iter().map(|&name| ctx.str(name)),
            );
            let around = around.unwrap_or(space);
            if (around, last) != (space, known) {
                self.import_name(space, known, around, last, import.extends);
            }
        }
        if !import.extends && module != Space::Base && module != space {
            self.use_module(space, module);
        }
        Ok(())
    }

    /// The space that the path of an import begins in.
    fn start_of(&self, import: &Import, space: Space) -> Option<Space> {
        if import.dots == 0 {
            let first = self.ctx.str(*import.path.first()?);
            let is_known = first == "Main" || is_library(first) || package(first).is_some();
            return is_known.then_some(space);
        }
        let mut at = space;
        for _ in 1..import.dots {
            at = match at {
                Space::Module(path) => match self.ctx.str(path).rsplit_once('.') {
                    Some((around, _)) => Space::Module(self.ctx.symbol(around)),
                    None => Space::Main,
                },
                other => other,
            };
        }
        Some(at)
    }

    fn import_name(
        &mut self,
        space: Space,
        alias: Symbol,
        from: Space,
        name: Symbol,
        extends: bool,
    ) {
        // A name that is used and then imported is imported.
        let imports = &mut self.bindings.exchanges.entry(space).or_default().imports;
        let extends = extends || imports.get(&alias).is_some_and(|import| import.extends);
        imports.insert(alias, Imported { from, name, extends });
        self.touched(space, alias);
    }

    fn use_module(&mut self, space: Space, module: Space) {
        let used = &mut self.bindings.exchanges.entry(space).or_default().used;
        if used.contains(&module) {
            return;
        }
        used.push(module);
        let exports = self.bindings.exchanges.get(&module).map(|exchange| exchange.exports.clone());
        for name in exports.into_iter().flatten() {
            self.touched(space, name);
        }
    }

    /// Says that methods which any module defines under these names belong to the functions of the prelude.
    pub fn share(&mut self, names: &[Symbol]) {
        self.bindings.shared.extend(names);
    }

    /// Says that `using` takes these names from a space.
    pub fn export(&mut self, names: &[Symbol], space: Space) {
        self.bindings.exchanges.entry(space).or_default().exports.extend(names);
        let users = self.bindings.exchanges.iter();
        let users = users.filter(|(_, exchange)| exchange.used.contains(&space));
        let users: Vec<Space> = users.map(|(&user, _)| user).collect();
        for user in users {
            for &name in names {
                self.touched(user, name);
            }
        }
    }

    /// Notes that a name may mean something else in a space.
    fn touched(&mut self, space: Space, name: Symbol) {
        self.bindings.touch(space, name, &mut self.edges);
        self.age += 1;
    }

    /// The space that values of this type are, if they are modules.
    pub(crate) fn module(&self, ty: Type) -> Option<Space> {
        self.bindings.module(ty)
    }

    /// Returns whether a type has one value alone, which has no parts.
    pub(crate) fn is_singleton(&self, ty: Type) -> bool {
        match self.ctx.kind(ty) {
            &TypeKind::Struct(id) => {
                let def = self.ctx.struct_def(id);
                !def.mutable && def.fields.is_empty()
            }
            _ => false,
        }
    }

    /// The value of a type that has one alone, which has no parts.
    pub(crate) fn instance(&self, ty: Type) -> Option<Val> {
        self.is_singleton(ty).then(|| Val::structure(ty, []))
    }
}
