//! Running texts: statement by statement, in order.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use regraft_dialects::core;
use regraft_exec::Engine;
use regraft_exec::value::Val;
use regraft_ir::{Diagnostic, Function, Loc, Symbol};
use regraft_syntax::julia::{self, Ast};

use super::Session;
use crate::definition::{Callee, ClosureDef, Import, Item, MethodDef, Space, Thunk};
use crate::lower::{LowerOptions, lower};
use crate::packages::package;
use crate::phases::{Phase, enter};
use crate::world::{Binding, World};

/// The depth to which files can include each other.
const MAX_INCLUDED: usize = 100;

impl Session {
    pub(super) fn run_text(
        &mut self,
        name: &str,
        text: &str,
        soft_scope: bool,
    ) -> Result<Val, Vec<Diagnostic>> {
        let ast = self.parse(name, text)?;
        self.refuel();
        let result = self.run_within(name, ast, soft_scope, Space::Main);
        if result.is_err() {
            self.leave_test_sets();
        }
        result
    }

    /// Closes the sets of tests in which a limit or an interrupt ended the run.
    fn leave_test_sets(&mut self) {
        let sets = self.interpreter.host().global(self.ctx.symbol("#test_sets")).cloned();
        if let Some(sets) = sets {
            self.call_prelude("#leave_test_sets", &sets);
        }
    }

    /// The tree of a text.
    pub(super) fn parse(&self, name: &str, text: &str) -> Result<Ast, Vec<Diagnostic>> {
        let _phase = enter(Phase::Parse);
        let parsed = julia::parse(&self.ctx, name, text, julia::Options::default());
        if parsed.errors.is_empty() { Ok(parsed.ast) } else { Err(parsed.errors) }
    }

    /// Runs a tree of the text of that name, which tells where files that it includes are.
    fn run_within(
        &mut self,
        name: &str,
        ast: Ast,
        soft_scope: bool,
        space: Space,
    ) -> Result<Val, Vec<Diagnostic>> {
        let folder = Path::new(name).parent().map(Path::to_path_buf).unwrap_or_default();
        self.shared.folders.borrow_mut().push(folder);
        let result = self.run_ast_in(ast, soft_scope, space);
        self.shared.folders.borrow_mut().pop();
        result
    }

    /// `include(path)`: runs a file. Its path is relative to the folder of the file that includes
    /// it.
    fn include(&mut self, path: &Thunk, space: Space) -> Result<Val, Vec<Diagnostic>> {
        let error = |session: &Self, message: String| {
            vec![Diagnostic::error(message).at_loc(&session.ctx, path.loc, "included here")]
        };
        let value = self.run_thunk(path, space)?;
        let Val::Str(file) = &value else {
            let found = self.compiler.borrow().world.type_name(value.type_of(&self.ctx));
            return Err(error(self, format!("`include` takes the path of a file, found {found}")));
        };
        if self.shared.folders.borrow().len() >= MAX_INCLUDED {
            let message = format!(
                "StackOverflowError: files include each other more than {MAX_INCLUDED} deep"
            );
            return Err(error(self, message));
        }
        let folder = self.shared.folders.borrow().last().cloned().unwrap_or_default();
        let file = folder.join(file.as_str());
        let name = file.display().to_string();
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(why) => {
                return Err(error(self, format!("SystemError: opening file \"{name}\": {why}")));
            }
        };
        let ast = self.parse(&name, &text)?;
        stacker::maybe_grow(1 << 20, 4 << 20, || self.run_within(&name, ast, false, space))
    }

    /// Loads the package that an import names, if there is one and it is not loaded.
    fn load_package(&mut self, import: &Import) -> Result<(), Vec<Diagnostic>> {
        let Some(&first) = import.path.first().filter(|_| import.dots == 0) else { return Ok(()) };
        let Some(package) = package(self.ctx.str(first)) else { return Ok(()) };
        let bound = self.compiler.borrow_mut().world.resolve(first, Space::Base, None);
        if bound != Binding::Undefined {
            return Ok(());
        }
        let space = Space::Module(first);
        self.run_module((first, space, false, import.loc), Vec::new(), Space::Base)?;
        let options = julia::Options { prelude: true, ..julia::Options::default() };
        for &(file, text) in package.files {
            let parsed = julia::parse(&self.ctx, file, text, options);
            if !parsed.errors.is_empty() {
                return Err(parsed.errors);
            }
            self.run_ast_in(parsed.ast, false, space)?;
        }
        self.with_world(package.setup)
    }

    /// Begins a run: it has its own fuel, and what was to be interrupted before is over.
    pub(super) fn refuel(&mut self) {
        self.interpreter.interrupt_flag().store(false, Ordering::Relaxed);
        self.fuel_left = self.limits.fuel;
    }

    /// Lowers and runs a tree.
    pub(super) fn run_ast(&mut self, ast: Ast, soft_scope: bool) -> Result<Val, Vec<Diagnostic>> {
        self.run_ast_in(ast, soft_scope, Space::Main)
    }

    /// The same in a module.
    pub(super) fn run_ast_in(
        &mut self,
        ast: Ast,
        soft_scope: bool,
        space: Space,
    ) -> Result<Val, Vec<Diagnostic>> {
        let items = self.lower(&ast, soft_scope, space)?;
        // The trees of statements with macros are needed until these are expanded.
        self.trees.push(Rc::new(RefCell::new(ast)));
        let result = self.run_items(items, space);
        self.trees.pop();
        result
    }

    /// The items of a tree.
    pub(super) fn lower(
        &self,
        ast: &Ast,
        soft_scope: bool,
        space: Space,
    ) -> Result<Vec<Item>, Vec<Diagnostic>> {
        self.lowering(soft_scope, space, |options| lower(&self.ctx, ast, options))
    }

    /// Lowers something with the options of this session.
    pub(super) fn lowering<T>(
        &self,
        soft_scope: bool,
        space: Space,
        lower: impl FnOnce(&LowerOptions<'_>) -> T,
    ) -> T {
        let _phase = enter(Phase::Lower);
        let is_global = |name: Symbol| self.shared.globals.borrow().contains(&name);
        let counter = &self.shared.counter;
        lower(&LowerOptions { soft_scope, is_global: &is_global, space, counter })
    }

    /// Runs items; the value is that of the last one.
    pub(super) fn run_items(
        &mut self,
        items: Vec<Item>,
        space: Space,
    ) -> Result<Val, Vec<Diagnostic>> {
        let mut last = Val::Unit;
        for item in items {
            // A short statement ends before the interpreter looks.
            if self.interpreter.interrupt_flag().load(Ordering::Relaxed) {
                return Err(vec![Diagnostic::error("interrupted")]);
            }
            last = self.run_item(item, space)?;
        }
        Ok(last)
    }

    pub(super) fn run_item(&mut self, item: Item, space: Space) -> Result<Val, Vec<Diagnostic>> {
        match item {
            Item::Methods(methods) => self.define_methods(methods, space),
            Item::Import(import) => {
                self.load_package(&import)?;
                let imported = self.with_world(|world| world.import(&import, space));
                imported.map(|()| Val::Unit).map_err(|error| vec![error])
            }
            Item::Typed(name, ty) => {
                if space == Space::Main {
                    self.shared.globals.borrow_mut().insert(name);
                }
                self.with_world(|world| world.declare_type(name, space, &ty)).map(|()| Val::Unit)
            }
            Item::Type(name, ty) => {
                self.with_world(|world| world.bind_type(name, space, &ty)).map(Val::Type)
            }
            Item::Instance(name, ty) => {
                self.with_world(|world| world.bind_instance(name, space, &ty)).map(|()| Val::Unit)
            }
            Item::Alias(name, other) => {
                self.with_world(|world| world.bind_alias(name, space, other)).map(|()| Val::Unit)
            }
            Item::Export(names) => {
                self.with_world(|world| world.export(&names, space));
                Ok(Val::Unit)
            }
            Item::Module { name, space: inner, bare, items, loc } => {
                self.run_module((name, inner, bare, loc), items, space)
            }
            Item::Declare(name, loc) => {
                let declared = self.with_world(|world| world.declare_function(name, space, loc));
                declared.map(Val::Func).map_err(|error| vec![error])
            }
            Item::Struct(decl) => {
                self.with_world(|world| world.declare_struct(*decl)).map(|()| Val::Unit)
            }
            Item::Abstract(decl) => {
                self.with_world(|world| world.declare_abstract(*decl)).map(|()| Val::Unit)
            }
            Item::Const(name, thunk) => {
                let value = self.run_thunk(&thunk, space)?;
                self.bind_const(name, space, &value, thunk.loc).map_err(|error| vec![error])?;
                Ok(value)
            }
            Item::Run(thunk) => self.run_thunk(&thunk, space),
            Item::Expand { statement, soft_scope } => {
                self.run_expanded(statement, soft_scope, space)
            }
            Item::Include { path, call } => {
                let include = self.ctx.symbol("include");
                match self.with_world(|world| world.resolve(include, space, None)) {
                    Binding::Function(function) if function == include => {
                        self.include(&path, space)
                    }
                    _ => self.run_thunk(&call, space),
                }
            }
            Item::If { condition, then, otherwise } => {
                let value = self.run_thunk(&condition, space)?;
                let Val::Bool(truth) = value else {
                    return Err(vec![self.not_a_bool(&value, condition.loc)]);
                };
                self.run_items(if truth { then } else { otherwise }, space)
            }
        }
    }
}

impl Session {
    /// Makes a module, runs its statements, and then its `__init__`; the value is the module.
    fn run_module(
        &mut self,
        (name, space, bare, loc): (Symbol, Space, bool, Loc),
        items: Vec<Item>,
        around: Space,
    ) -> Result<Val, Vec<Diagnostic>> {
        let bound = self.with_world(|world| world.declare_module(name, space, around, bare, loc));
        let mut module = Val::Unit;
        let made = bound.map_err(|error| vec![error])?;
        for name in made.gone {
            self.interpreter.host_mut().remove_global(name);
        }
        for (symbol, ty) in made.bound {
            module = Val::structure(ty, []);
            self.interpreter.host_mut().set_global(symbol, module.clone());
        }
        if around == Space::Main {
            self.shared.globals.borrow_mut().insert(name);
        }
        self.run_items(items, space)?;
        let init = self.ctx.symbol("__init__");
        let init = self.with_world(|world| world.resolve(init, space, None));
        if let Binding::Function(function) = init {
            self.call_values(&Val::Func(function), &[])?;
        }
        Ok(module)
    }

    /// Defines methods; the value is the function, if it has a name.
    fn define_methods(
        &mut self,
        methods: Vec<MethodDef>,
        space: Space,
    ) -> Result<Val, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let mut value = Val::Unit;
        for method in methods {
            // Functions of the prelude assign to no global names.
            if space != Space::Base {
                self.declare_globals(&method.body, &method.closures, space)?;
            }
            let callee = method.head.callee.clone();
            // All are tried, so that all errors are told.
            match self.define_method(method, space) {
                Ok(_) => {
                    if let Callee::Function(name) = callee {
                        value = self.function_value(name, space);
                    }
                }
                Err(more) => errors.extend(more),
            }
        }
        if errors.is_empty() { Ok(value) } else { Err(errors) }
    }

    /// Defines a method, and the function that gives its code, if there is one.
    fn define_method(
        &mut self,
        mut method: MethodDef,
        space: Space,
    ) -> Result<(), Vec<Diagnostic>> {
        let Some(generator) = method.generator.take() else {
            return self.with_world(|world| world.define(method)).map(|_| ());
        };
        self.declare_globals(&generator.body, &generator.closures, space)?;
        let params = generator.head.params.iter().map(|param| param.name).collect();
        let Callee::Function(name) = generator.head.callee else { return Ok(()) };
        self.with_world(|world| {
            world.define(*generator)?;
            let function = world.function_named(name, space);
            world.add_generated(method.head, (function, params)).map(|_| ())
        })
    }

    /// Returns the function that a name stands for.
    fn function_value(&mut self, name: Symbol, space: Space) -> Val {
        match self.with_world(|world| world.resolve(name, space, None)) {
            Binding::Function(function) => Val::Func(function),
            _ => Val::Unit,
        }
    }

    /// Runs code at top level.
    fn run_thunk(&mut self, thunk: &Thunk, space: Space) -> Result<Val, Vec<Diagnostic>> {
        let assigned = self.declare_assigned(thunk, space)?;
        let (spec, known) = {
            let _phase = enter(Phase::Infer);
            let mut last = None;
            let spec = self.ask(|compiler| {
                if let Some(last) = last.take() {
                    compiler.forget(last);
                }
                let spec = compiler.thunk(thunk, space)?;
                last = Some(spec);
                Ok::<_, Vec<Diagnostic>>(spec)
            })?;
            let compiler = self.compiler.borrow();
            let known = match compiler.spec(spec).effect_free {
                true => compiler.partials.value(compiler.result(spec)),
                false => None,
            };
            (spec, known)
        };
        self.relink();
        let numbered = |(number, items): &(u32, Vec<Item>)| (*number, (items.clone(), space));
        self.shared.definitions.borrow_mut().extend(thunk.definitions.iter().map(numbered));
        let result = match known {
            // Types and numbers, most of them of the prelude: there is nothing to run.
            Some(constant) => Ok(Val::constant(&self.ctx, constant)),
            None => {
                let function = {
                    let _phase = enter(Phase::Infer);
                    self.compiler.borrow_mut().function(spec)
                };
                self.run_function(function)
            }
        };
        self.compiler.borrow_mut().forget(spec);
        for (number, _) in &thunk.definitions {
            self.shared.definitions.borrow_mut().remove(number);
        }
        for name in assigned {
            self.note_type(name, space);
        }
        result
    }

    /// Makes variables of the global names that a statement at top level assigns to. Returns those
    /// that it assigns to at its end, when nothing runs any more that could read them.
    fn declare_assigned(
        &mut self,
        thunk: &Thunk,
        space: Space,
    ) -> Result<Vec<Symbol>, Vec<Diagnostic>> {
        let at_end = assigned_at_end(&thunk.body);
        for &(name, loc) in &at_end {
            self.with_world(|world| world.declare_between_statements(name, space, loc))
                .map_err(|error| vec![error])?;
            if space == Space::Main {
                self.shared.globals.borrow_mut().insert(name);
            }
        }
        if at_end.is_empty() {
            self.declare_globals(&thunk.body, &thunk.closures, space)?;
        } else {
            self.declare_in_closures(&thunk.closures, space)?;
        }
        Ok(at_end.into_iter().map(|(name, _)| name).collect())
    }

    /// Tells the world of which type the value of a variable is.
    fn note_type(&mut self, name: Symbol, space: Space) {
        let binding = self.compiler.borrow_mut().world.resolve(name, space, None);
        if let Binding::Variable { name: key, .. } = binding
            && let Some(value) = self.interpreter.host().global(key)
        {
            let ty = value.type_of(&self.ctx);
            self.with_world(|world| world.assigned(name, space, ty));
        }
    }

    /// Runs code at top level within what is left of the fuel.
    fn run_function(&mut self, function: Rc<Function>) -> Result<Val, Vec<Diagnostic>> {
        let _phase = enter(Phase::Run);
        self.run_recorded(|interpreter| interpreter.run_once(function, &[]))
    }

    /// Binds a name to a constant: in the code itself if it can stand there, otherwise as a global
    /// of a known type.
    fn bind_const(
        &mut self,
        name: Symbol,
        space: Space,
        value: &Val,
        loc: Loc,
    ) -> Result<(), Diagnostic> {
        if space == Space::Main {
            self.shared.globals.borrow_mut().insert(name);
        }
        match value.as_constant(&self.ctx) {
            Some(constant) => self.with_world(|world| world.bind_const(name, space, constant, loc)),
            None => {
                let ty = value.type_of(&self.ctx);
                let key = self.with_world(|world| world.bind_global(name, space, ty, loc))?;
                self.interpreter.host_mut().set_global(key, value.clone());
                Ok(())
            }
        }
    }

    /// Makes variables of the global names that code assigns to.
    fn declare_globals(
        &mut self,
        body: &Function,
        closures: &[ClosureDef],
        space: Space,
    ) -> Result<(), Vec<Diagnostic>> {
        for v in body.all_insts() {
            if let Some([name, _]) = body.matches(v, core::SET_GLOBAL)
                && let Some(name) = body.const_sym(name)
            {
                let loc = body.loc(v);
                self.with_world(|world| world.declare_variable(name, space, loc))
                    .map_err(|error| vec![error])?;
                if space == Space::Main {
                    self.shared.globals.borrow_mut().insert(name);
                }
            }
        }
        self.declare_in_closures(closures, space)
    }

    /// Makes variables of the global names that closures assign to.
    fn declare_in_closures(
        &mut self,
        closures: &[ClosureDef],
        space: Space,
    ) -> Result<(), Vec<Diagnostic>> {
        for closure in closures {
            for method in &closure.methods {
                self.declare_globals(&method.body, &method.closures, space)?;
            }
        }
        Ok(())
    }

    /// Changes the world from Rust: adds a dynamo, say. As after a definition in a script,
    /// everything derived from what changed is dropped.
    ///
    /// # Panics
    /// If it is called while a program of the session runs.
    pub fn with_world<T>(&mut self, change: impl FnOnce(&mut World) -> T) -> T {
        let result = change(&mut self.compiler.borrow_mut().world);
        self.relink();
        result
    }

    pub(super) fn relink(&mut self) {
        let (gone, world) = {
            let mut compiler = self.compiler.borrow_mut();
            let (gone, world) = (compiler.invalidate(), compiler.new_world());
            if !self.is_nested {
                compiler.forget_replaced();
            }
            (gone, world)
        };
        // What a program changed while it ran.
        let before = std::mem::take(&mut *self.shared.gone.borrow_mut());
        if gone.is_some() || before.is_some() {
            let mut all = before.unwrap_or_default();
            all.extend(gone.unwrap_or_default());
            self.interpreter.forget(&all);
            if self.is_nested {
                self.shared.gone.replace(Some(all));
            }
        }
        if let Some(world) = world {
            self.interpreter.host_mut().set_global(self.present_world, world);
        }
    }

    fn not_a_bool(&self, value: &Val, loc: Loc) -> Diagnostic {
        let found = self.compiler.borrow().world.type_name(value.type_of(&self.ctx));
        let message = format!("TypeError: non-boolean ({found}) used in boolean context");
        Diagnostic::error(message).at_loc(&self.ctx, loc, "here")
    }
}

/// The global names that a statement assigns to, with their places, if it does so after everything
/// else; none if it assigns to one earlier.
fn assigned_at_end(body: &Function) -> Vec<(Symbol, Loc)> {
    let set = |v| {
        let [name, _] = body.matches(v, core::SET_GLOBAL)?;
        Some((body.const_sym(name)?, body.loc(v)))
    };
    let assignments = body.all_insts().filter(|&v| set(v).is_some()).count();
    let ends = body.blocks().filter(|&block| body.successors(block).next().is_none());
    let lists = ends.map(|block| {
        let insts: Vec<_> = body.insts(block).collect();
        // The last one is the terminator.
        insts.into_iter().rev().skip(1).map_while(set).collect::<Vec<_>>()
    });
    lists.into_iter().find(|list| list.len() == assignments).unwrap_or_default()
}
