//! The expansion of macros.
//!
//! A macro is a function, `@name`, that is called with the line and the module of the call and with
//! the code of its arguments. What it gives is expanded in turn. When no macro is left, the names
//! that macros brought along are renamed ([`Hygiene`]), and the code becomes a tree that can be lowered.

use std::rc::Rc;

use regraft_exec::value::Val;
use regraft_ir::{Diagnostic, Symbol};
use regraft_syntax::julia::{Ast, ExprId, Kind, Span, is_built_in};

use super::Session;
use crate::code::{CodeTypes, HYGIENIC_SCOPE, Hygiene, Places, Read, read_tree, tree_value};
use crate::definition::{Space, is_library};
use crate::lower::lower_statement;
use crate::world::{Binding, World};

/// The greatest number of macros that a macro is expanded to, each by the one before.
const MAX_NESTED: usize = 100;

/// Puts values that are no code into trees that are run, as constants of names that no user can write.
struct Constants<'a>(&'a mut Session);

impl Read for Constants<'_> {
    fn takes_tuples_apart(&self) -> bool {
        true
    }

    fn value(&mut self, world: &mut World, value: &Val) -> Kind {
        let session = &mut *self.0;
        let ctx = &session.ctx;
        let base = ctx.symbol("Base");
        let loc = regraft_ir::Loc::UNKNOWN;
        match value.as_constant(ctx) {
            Some(constant) => {
                let name = ctx.symbol(&format!("#constant#{}", ctx.constant_text(constant)));
                // The name says which constant it is: to bind it twice changes nothing.
                let _ = world.bind_const(name, Space::Base, constant, loc);
                Kind::GlobalRef { module: base, name }
            }
            None => {
                let counter = &session.shared.counter;
                counter.set(counter.get() + 1);
                let name = ctx.symbol(&format!("#value#{}", counter.get()));
                let ty = value.type_of(ctx);
                // The name is new.
                if let Ok(key) = world.bind_global(name, Space::Base, ty, loc) {
                    session.interpreter.host_mut().set_global(key, value.clone());
                }
                Kind::GlobalRef { module: base, name }
            }
        }
    }
}

impl Session {
    /// The types that code is made of.
    pub(super) fn code_types(&self) -> CodeTypes {
        *self.shared.code.get_or_init(|| {
            let world = &mut self.compiler.borrow_mut().world;
            CodeTypes::of(world).expect("the prelude declares `Expr`")
        })
    }

    /// Expands the macros in a statement of the text that is being run, and runs it.
    pub(super) fn run_expanded(
        &mut self,
        statement: ExprId,
        soft_scope: bool,
        space: Space,
    ) -> Result<Val, Vec<Diagnostic>> {
        let Some(tree) = self.trees.last().map(Rc::clone) else { return Ok(Val::Unit) };
        let source = tree.borrow().source.clone();
        let mut ast = tree.replace(Ast::empty(source));
        let items = self.expand_statement(&mut ast, statement, space).and_then(|()| {
            self.lowering(soft_scope, space, |options| {
                lower_statement(&self.ctx, &ast, statement, options)
            })
        });
        tree.replace(ast);
        self.run_items(items?, space)
    }

    /// Expands all macros in a statement.
    fn expand_statement(
        &mut self,
        ast: &mut Ast,
        statement: ExprId,
        space: Space,
    ) -> Result<(), Vec<Diagnostic>> {
        for id in ast.macros_in(statement).to_vec() {
            let Kind::MacroCall { name, args } = ast.kind(id) else { continue };
            let span = ast.span(id);
            let (line, _) = ast.source.line_column(span.start as usize);
            let file = Some(self.ctx.symbol(&ast.source.name));
            let line = ast.add(Kind::Line { file, line }, span);
            let mut all = vec![name, line];
            all.extend_from_slice(ast.list(args));
            let args = ast.add_list(&all);
            let head = self.ctx.symbol("macrocall");
            let call = ast.add(Kind::Form { head, args }, span);
            let made = self.expand_form(ast, call, space)?;
            ast.replace(id, made);
        }
        Ok(())
    }

    /// The expression, to be lowered, that code stands for.
    pub(super) fn expand_form(
        &mut self,
        ast: &mut Ast,
        form: ExprId,
        space: Space,
    ) -> Result<ExprId, Vec<Diagnostic>> {
        let form = self.expanded(ast, form, space, false)?;
        ast.interpret(&self.ctx, form)
    }

    /// Code in which every name means what it should, without macros but for those that are built in;
    /// with `once`, what the macro that the code calls gives may have some.
    pub(super) fn expanded(
        &mut self,
        ast: &mut Ast,
        form: ExprId,
        space: Space,
        once: bool,
    ) -> Result<ExprId, Vec<Diagnostic>> {
        let spaces = vec![space];
        let made = Expansion { session: self, ast, spaces, depth: 0, once }.tree(form)?;
        Ok(Hygiene::new(&self.ctx, ast, &self.shared.counter).tree(made))
    }

    /// The tree of a value that is code, to be run.
    pub(super) fn tree_of(
        &mut self,
        ast: &mut Ast,
        value: &Val,
        places: (&Places, Span),
    ) -> Result<ExprId, Vec<Diagnostic>> {
        let types = self.code_types();
        let compiler = Rc::clone(&self.compiler);
        let world = &mut compiler.borrow_mut().world;
        read_tree(world, types, ast, value, places, &mut Constants(self)).map_err(|message| {
            vec![Diagnostic::error(message).at(&ast.source, places.1.range(), "in this code")]
        })
    }
}

/// The expansion of the macros in some code.
struct Expansion<'a> {
    session: &'a mut Session,
    ast: &'a mut Ast,
    /// The modules in which macros are looked up, those of callers first.
    spaces: Vec<Space>,
    depth: usize,
    /// True if what a macro gives is left as it is.
    once: bool,
}

impl Expansion<'_> {
    fn tree(&mut self, id: ExprId) -> Result<ExprId, Vec<Diagnostic>> {
        let Kind::Form { head, args } = self.ast.kind(id) else { return Ok(id) };
        let head = self.session.ctx.str(head).to_owned();
        let args = self.ast.list(args).to_vec();
        stacker::maybe_grow(64 << 10, 1 << 20, || self.form(id, &head, &args))
    }

    fn form(&mut self, id: ExprId, head: &str, args: &[ExprId]) -> Result<ExprId, Vec<Diagnostic>> {
        match (head, args) {
            ("inert", _) => Ok(id),
            ("quote", &[inner]) => {
                let inner = self.quoted(inner, 1)?;
                Ok(self.with_args(id, &[inner]))
            }
            ("escape", &[inner]) if self.spaces.len() > 1 => {
                let inside = self.spaces.pop();
                let inner = self.tree(inner);
                self.spaces.extend(inside);
                let inner = inner?;
                Ok(self.with_args(id, &[inner]))
            }
            ("macrocall", &[name, line, ref rest @ ..]) => {
                let name = self.plain_name(name);
                if self.is_built_in(name) {
                    let mut made = vec![name, line];
                    for &arg in rest {
                        made.push(self.tree(arg)?);
                    }
                    return Ok(self.with_args(id, &made));
                }
                self.call(id, name, line, rest)
            }
            _ => {
                let mut made = Vec::with_capacity(args.len());
                for &arg in args {
                    made.push(self.tree(arg)?);
                }
                Ok(self.with_args(id, &made))
            }
        }
    }

    /// Code that is quoted: only what stands behind a `$` is expanded.
    fn quoted(&mut self, id: ExprId, level: u32) -> Result<ExprId, Vec<Diagnostic>> {
        let Kind::Form { head, args } = self.ast.kind(id) else { return Ok(id) };
        let head = self.session.ctx.str(head);
        let level = match head {
            "$" => level - 1,
            "quote" => level + 1,
            _ => level,
        };
        let mut made = Vec::with_capacity(args.len());
        for arg in self.ast.list(args).to_vec() {
            made.push(if level == 0 { self.tree(arg)? } else { self.quoted(arg, level)? });
        }
        Ok(self.with_args(id, &made))
    }

    fn with_args(&mut self, id: ExprId, args: &[ExprId]) -> ExprId {
        let Kind::Form { head, .. } = self.ast.kind(id) else { return id };
        let args = self.ast.add_list(args);
        let span = self.ast.span(id);
        self.ast.add(Kind::Form { head, args }, span)
    }

    /// `Base.@m` and `Core.@m` as `@m`.
    fn plain_name(&mut self, name: ExprId) -> ExprId {
        let Kind::Form { args, .. } = self.ast.kind(name) else { return name };
        if let &[base, last] = self.ast.list(args)
            && let (Kind::Name(base), Kind::Sym(last)) = (self.ast.kind(base), self.ast.kind(last))
            && matches!(self.session.ctx.str(base), "Base" | "Core")
        {
            let span = self.ast.span(name);
            return self.ast.add(Kind::Name(last), span);
        }
        name
    }

    fn is_built_in(&self, name: ExprId) -> bool {
        matches!(self.ast.kind(name), Kind::Name(name) if is_built_in(self.session.ctx.str(name)))
    }

    fn error(&self, at: ExprId, message: impl Into<String>, label: &str) -> Vec<Diagnostic> {
        vec![Diagnostic::error(message).at(&self.ast.source, self.ast.span(at).range(), label)]
    }

    /// Calls a macro, and expands what it gives.
    fn call(
        &mut self,
        id: ExprId,
        name: ExprId,
        line: ExprId,
        args: &[ExprId],
    ) -> Result<ExprId, Vec<Diagnostic>> {
        if self.depth >= MAX_NESTED {
            let message = format!("macros are expanded to macros more than {MAX_NESTED} times");
            return Err(self.error(id, message, "in the expansion of this"));
        }
        let space = self.spaces.last().copied().unwrap_or(Space::Main);
        let (function, home) = self.find(name, space)?;
        let mut places = Places::default();
        let types = self.session.code_types();
        let mut values = Vec::with_capacity(args.len() + 2);
        {
            let compiler = Rc::clone(&self.session.compiler);
            let world = &mut compiler.borrow_mut().world;
            values.push(tree_value(world, types, self.ast, line, &mut places));
            values.push(world.module_value(space));
            for &arg in args {
                values.push(tree_value(world, types, self.ast, arg, &mut places));
            }
        }
        let (source, span) = (self.ast.source.clone(), self.ast.span(id));
        let result = self.session.call_values(&Val::Func(function), &values);
        let result = result.map_err(|errors| {
            let (line, column) = source.line_column(span.start as usize);
            let expanded = |error: Diagnostic| match error.labels().is_empty() {
                true => error.at(&source, span.range(), "in the expansion of this macro"),
                false => {
                    let place = format!("{}:{line}:{column}", source.name);
                    error.note(format!("in the expansion of the macro at {place}"))
                }
            };
            errors.into_iter().map(expanded).collect::<Vec<_>>()
        })?;
        let body = self.session.tree_of(self.ast, &result, (&places, span))?;
        let body = if self.once {
            body
        } else {
            self.spaces.push(home);
            self.depth += 1;
            let body = self.tree(body);
            self.depth -= 1;
            self.spaces.pop();
            body?
        };
        let module = self.ast.add(Kind::Name(home.path(&self.session.ctx)), span);
        let args = self.ast.add_list(&[body, module]);
        let head = self.session.ctx.symbol(HYGIENIC_SCOPE);
        Ok(self.ast.add(Kind::Form { head, args }, span))
    }

    /// The function of a macro, and the module that it is defined in.
    fn find(&self, name: ExprId, space: Space) -> Result<(Symbol, Space), Vec<Diagnostic>> {
        let (space, symbol) = match self.ast.kind(name) {
            Kind::Name(symbol) => (Some(space), Some(symbol)),
            Kind::GlobalRef { module, name } => {
                (Some(Space::at(&self.session.ctx, module)), Some(name))
            }
            Kind::Form { args, .. } => {
                let args = self.ast.list(args);
                let last = args.last().and_then(|&id| match self.ast.kind(id) {
                    Kind::Sym(symbol) => Some(symbol),
                    _ => None,
                });
                (args.first().and_then(|&path| self.module(path, space)), last)
            }
            _ => (None, None),
        };
        let world = &mut self.session.compiler.borrow_mut().world;
        let found = space.zip(symbol).map(|(space, symbol)| world.resolve(symbol, space, None));
        if let Some(Binding::Function(function)) = found {
            return Ok((function, world.module_of(function)));
        }
        let text = match symbol {
            Some(symbol) => self.session.ctx.str(symbol),
            None => return Err(self.error(name, "expected the name of a macro", "")),
        };
        let error = Diagnostic::error(format!("LoadError: UndefVarError: `{text}` not defined"));
        let error =
            error.at(&self.ast.source, self.ast.span(name).range(), "there is no such macro");
        let near = symbol.and_then(|symbol| world.near(symbol, space.unwrap_or(Space::Main)));
        let near = near.filter(|near| near.starts_with('@'));
        Err(vec![match near {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error,
        }])
    }

    /// The module that a path of names stands for.
    fn module(&self, path: ExprId, space: Space) -> Option<Space> {
        let (space, name) = match self.ast.kind(path) {
            Kind::Name(name) => (space, name),
            Kind::GlobalRef { module, name } => (Space::at(&self.session.ctx, module), name),
            Kind::Form { args, .. } => match *self.ast.list(args) {
                [base, name] => match self.ast.kind(name) {
                    Kind::Sym(name) => (self.module(base, space)?, name),
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        let world = &mut self.session.compiler.borrow_mut().world;
        match world.resolve(name, space, None) {
            Binding::Global { ty, .. } => world.module(ty),
            _ if is_library(self.session.ctx.str(name)) => Some(Space::Base),
            _ => None,
        }
    }
}
