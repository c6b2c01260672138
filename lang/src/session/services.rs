//! Services of a session to the programs that it runs: evaluation of code, expansion of macros,
//! parsing.
//!
//! While the program waits, a session of its own does that, with the world, the globals and the
//! output of the first. What was compiled before for the program that waits stays as it is until
//! it ends, as in Julia, where it runs in the world in which it began.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use regraft_exec::value::{Names, Val};
use regraft_exec::{Host, Interpreter, Limits, Services, Trap, no_service};
use regraft_ir::{Context, Diagnostic, Module, Source, Symbol};
use regraft_syntax::julia::{self, Ast, ExprId, Kind, Span};

use super::Session;
use super::names::WorldNames;
use super::shared::Shared;
use crate::code::{Places, tree_value};
use crate::compiler::Compiler;
use crate::definition::Space;
use crate::lower::lower_statement;
use crate::world::{Binding, Request};
use crate::world_resolver::{Generating, WorldResolver};

/// The greatest number of programs that wait for each other.
const MAX_WAITING: u32 = 64;

/// The services of a session to its programs.
#[derive(Clone)]
pub(super) struct SessionServices {
    ctx: Arc<Context>,
    compiler: Rc<RefCell<Compiler>>,
    shared: Rc<Shared>,
    texts: Rc<WorldNames>,
    present_world: Symbol,
}

impl Services for SessionServices {
    fn serve(&self, name: Symbol, args: &[Val], host: &mut Host) -> Result<Val, Trap> {
        let shared = &self.shared;
        if shared.waiting.get() >= MAX_WAITING {
            let message = format!("StackOverflowError: {MAX_WAITING} programs wait for each other");
            return Err(Trap::because(&[Diagnostic::error(message)]));
        }
        self.within(host, |session| match session.serve(name, args) {
            Some(Ok(value)) => Ok(value),
            Some(Err(errors)) => Err(match session.failed.take() {
                Some(error) => error.into_trap(),
                None => Trap::because(&errors),
            }),
            None => Err(no_service(&self.ctx, name)),
        })
    }

    fn global(&self, name: Symbol) -> Option<Val> {
        let world = &mut self.compiler.try_borrow_mut().ok()?.world;
        match world.resolve(name, Space::Main, None) {
            Binding::Function(function) => Some(Val::Func(function)),
            Binding::Type(ty) => Some(Val::Type(ty)),
            Binding::Const(constant) => Some(Val::constant(&self.ctx, constant)),
            // The host has the others.
            Binding::Global { ty, .. } => world.instance(ty),
            Binding::Variable { .. } | Binding::Undefined | Binding::Deferred => None,
        }
    }
}

impl Generating for SessionServices {
    fn carry_out(&self, requests: &[Request], host: &mut Host) {
        self.within(host, |session| session.carry_out(requests));
    }
}

impl SessionServices {
    /// Does something in a session of its own, while the program whose host this is waits.
    fn within<T>(&self, host: &mut Host, run: impl FnOnce(&mut Session) -> T) -> T {
        let shared = &self.shared;
        let before = shared.gone.take();
        shared.waiting.set(shared.waiting.get() + 1);
        let mut session = self.session(host);
        let fuel = session.fuel_left;
        let result = stacker::maybe_grow(1 << 20, 4 << 20, || run(&mut session));
        let spent = fuel.zip(session.fuel_left).map_or(0, |(before, after)| before - after);
        shared.waiting.set(shared.waiting.get() - 1);
        host.take_back(std::mem::take(session.interpreter.host_mut()), spent);
        if let Some(gone) = &*shared.gone.borrow() {
            host.set_changed(gone.clone());
        }
        let after = shared.gone.take();
        shared.gone.replace(match (before, after) {
            (Some(mut before), Some(after)) => {
                before.extend(after);
                Some(before)
            }
            (before, after) => before.or(after),
        });
        result
    }

    /// A session for the time that a program waits.
    pub(super) fn session(&self, host: &mut Host) -> Session {
        let mut interpreter = Interpreter::new(&Module::new(&self.ctx));
        let resolver = WorldResolver::new(&self.compiler).generating(Rc::new(self.clone()));
        interpreter.set_call_resolver(Box::new(resolver));
        interpreter.set_threads(self.shared.threads.get());
        let memory = host.remaining();
        *interpreter.host_mut() = host.lend();
        let limits = Limits { memory, ..self.shared.limits.get() };
        Session {
            ctx: Arc::clone(&self.ctx),
            compiler: Rc::clone(&self.compiler),
            interpreter,
            limits,
            fuel_left: limits.fuel,
            shared: Rc::clone(&self.shared),
            failed: None,
            texts: Rc::clone(&self.texts),
            lines: 0,
            present_world: self.present_world,
            trees: Vec::new(),
            is_nested: true,
            for_lengths: false,
            recording: None,
        }
    }
}

impl Session {
    /// The services of this session to its programs.
    pub(super) fn services(&self) -> SessionServices {
        SessionServices {
            ctx: Arc::clone(&self.ctx),
            compiler: Rc::clone(&self.compiler),
            shared: Rc::clone(&self.shared),
            texts: Rc::clone(&self.texts),
            present_world: self.present_world,
        }
    }

    /// Does what a program asks for; `None` if it is not known.
    fn serve(&mut self, name: Symbol, args: &[Val]) -> Option<Result<Val, Vec<Diagnostic>>> {
        let ctx = self.ctx.clone();
        Some(match (ctx.str(name), args) {
            ("eval", [module, code]) => self.eval_value(module, code),
            ("define", &[Val::I64(number)]) => self.define(number),
            ("macroexpand", [module, code, Val::Bool(recursive)]) => {
                self.macroexpand(module, code, *recursive)
            }
            ("parse", [Val::Str(text), Val::Str(file)]) => {
                self.parse_value(text.as_str(), file.as_str())
            }
            ("gensym", [Val::Str(tag)]) => {
                let counter = &self.shared.counter;
                counter.set(counter.get() + 1);
                Ok(Val::Sym(ctx.symbol(&format!("##{}#{}", tag.as_str(), counter.get()))))
            }
            ("symbol", [Val::Str(text)]) => Ok(Val::Sym(ctx.symbol(text.as_str()))),
            ("which" | "code_lowered" | "code_typed", [callee, types]) => {
                self.look_at(ctx.str(name), callee, types)
            }
            ("lowered_code", [Val::Type(callee), types]) => self.lowered_code(*callee, types),
            ("define_pass", args) => self.define_pass(args),
            (name, args) => Ok(self.tool(name, args)?),
        })
    }

    /// Defines what stands in a block of a statement that runs.
    fn define(&mut self, number: i64) -> Result<Val, Vec<Diagnostic>> {
        let number = u32::try_from(number).unwrap_or(0);
        let found = self.shared.definitions.borrow().get(&number).cloned();
        match found {
            Some((items, space)) => self.run_items(items, space),
            None => Err(vec![Diagnostic::error("a definition of a statement that does not run")]),
        }
    }

    fn text_of(&self, value: &Val) -> String {
        let names = Some(&*self.texts as &dyn Names);
        regraft_exec::Texts { ctx: &self.ctx, names }.show(value)
    }

    fn space_of(&self, module: &Val) -> Result<Space, Vec<Diagnostic>> {
        let space = match module {
            Val::Struct(fields) => self.compiler.borrow().world.module(fields.ty()),
            _ => None,
        };
        space.ok_or_else(|| {
            let found = self.text_of(module);
            vec![Diagnostic::error(format!("TypeError: expected a module, found {found}"))]
        })
    }

    /// A tree to which generated code is added. Its places are those of nothing.
    pub(super) fn generated_tree(&self) -> (Ast, Span) {
        (Ast::empty(self.generated_source()), Span { start: 0, end: 0 })
    }

    pub(super) fn generated_source(&self) -> Source {
        let source = self.shared.generated.get_or_init(|| {
            self.ctx.add_source("generated code", "").expect("there is room for an empty text")
        });
        source.clone()
    }

    /// `Core.eval(module, code)`
    fn eval_value(&mut self, module: &Val, code: &Val) -> Result<Val, Vec<Diagnostic>> {
        let space = self.space_of(module)?;
        let (mut ast, span) = self.generated_tree();
        let form = self.tree_of(&mut ast, code, (&Places::default(), span))?;
        self.run_code(ast, form, space).map_err(|errors| self.within_code(errors, code))
    }

    /// Runs code, statement by statement where it is a list of such.
    fn run_code(
        &mut self,
        mut ast: Ast,
        form: ExprId,
        space: Space,
    ) -> Result<Val, Vec<Diagnostic>> {
        if let Kind::Form { head, args } = ast.kind(form)
            && self.ctx.str(head) == "toplevel"
        {
            let mut last = Val::Unit;
            for statement in ast.list(args).to_vec() {
                last = self.run_code(ast.clone(), statement, space)?;
            }
            return Ok(last);
        }
        let statement = self.expand_form(&mut ast, form, space)?;
        let items = self.lowering(false, space, |options| {
            lower_statement(&self.ctx, &ast, statement, options)
        })?;
        self.run_items(items, space)
    }

    /// Says of errors in generated code, which is in no file, which code it is.
    pub(super) fn within_code(&self, errors: Vec<Diagnostic>, code: &Val) -> Vec<Diagnostic> {
        let text = self.text_of(code);
        let said = |error: Diagnostic| error.help(format!("in the code that is evaluated: {text}"));
        errors.into_iter().map(said).collect()
    }

    /// `macroexpand(module, code)`
    fn macroexpand(
        &mut self,
        module: &Val,
        code: &Val,
        recursive: bool,
    ) -> Result<Val, Vec<Diagnostic>> {
        let space = self.space_of(module)?;
        let (mut ast, span) = self.generated_tree();
        let form = self.tree_of(&mut ast, code, (&Places::default(), span))?;
        let made = self.expanded(&mut ast, form, space, !recursive)?;
        Ok(self.value_of_tree(&ast, made))
    }

    fn value_of_tree(&self, ast: &Ast, id: ExprId) -> Val {
        let types = self.code_types();
        let world = &mut self.compiler.borrow_mut().world;
        tree_value(world, types, ast, id, &mut Places::default())
    }

    /// `Meta.parse(text)`: one statement, several as a `toplevel`.
    fn parse_value(&mut self, text: &str, file: &str) -> Result<Val, Vec<Diagnostic>> {
        // A context of its own would not know the symbols; the text stays with its errors alone.
        let options = julia::Options { code: true, ..julia::Options::default() };
        let parsed = julia::parse(&self.ctx, file, text, options);
        if !parsed.errors.is_empty() {
            let message = parsed.errors.first().map_or("", Diagnostic::message).to_owned();
            let message = format!("ParseError: {message}");
            return Err(vec![Diagnostic::error(message)]);
        }
        let mut ast = parsed.ast;
        let statements = ast.statements().to_vec();
        let id = match &*statements {
            [] => return Ok(Val::Unit),
            [only] => *only,
            all => {
                let args = ast.add_list(all);
                let head = self.ctx.symbol("toplevel");
                ast.add(Kind::Form { head, args }, Span { start: 0, end: 0 })
            }
        };
        Ok(self.value_of_tree(&ast, id))
    }
}
