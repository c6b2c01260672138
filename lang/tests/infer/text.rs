//! Programs as text: read, lowered, defined, inferred and run, with the prelude.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use regraft_dialects::context;
use regraft_exec::Interpreter;
use regraft_exec::value::{Val, show_string};
use regraft_ir::{Context, Module, verify_module};
use regraft_lang::definition::{Item, Space, Thunk};
use regraft_lang::testing::Compiler;
use regraft_lang::testing::WorldResolver;
use regraft_lang::testing::{LowerOptions, lower};
use regraft_lang::world::{SpecId, World};
use regraft_syntax::julia::{Options, parse};

/// A session, as far as these tests need it.
pub struct Text {
    pub ctx: Arc<Context>,
    pub compiler: Rc<RefCell<Compiler>>,
    interpreter: Interpreter,
    counter: Cell<u32>,
}

impl Text {
    /// With the prelude.
    pub fn new() -> Self {
        let ctx = context();
        let world = World::new(&ctx);
        let compiler = Rc::new(RefCell::new(Compiler::new(&ctx, world)));
        let mut interpreter = Interpreter::new(&Module::new(&ctx));
        interpreter.set_call_resolver(Box::new(WorldResolver::new(&compiler)));
        let mut text = Self { ctx, compiler, interpreter, counter: Cell::new(0) };
        for (name, source) in regraft_lang::testing::files() {
            text.load(name, source, Space::Base);
        }
        text
    }

    /// Runs a program.
    pub fn program(&mut self, source: &str) -> Val {
        self.load("test.jl", source, Space::Main)
    }

    /// A program, and how its value is shown or the message of its error.
    pub fn shown(&mut self, source: &str) -> String {
        let value = self.program(source);
        show_string(&self.ctx, &value)
    }

    /// The code of the function of that name, after running a program.
    pub fn code(&mut self, source: &str, name: &str) -> String {
        self.program(source);
        let mut compiler = self.compiler.borrow_mut();
        let spec = compiler.spec_by_name(self.ctx.symbol(name)).expect("it was called");
        compiler.function(spec).to_string()
    }

    fn load(&mut self, name: &str, source: &str, space: Space) -> Val {
        let parsed = parse(
            &self.ctx,
            name,
            source,
            Options { prelude: space == Space::Base, ..Options::default() },
        );
        assert!(parsed.errors.is_empty(), "{name}: {:?}", parsed.errors);
        let options = LowerOptions {
            soft_scope: false,
            is_global: &|_| false,
            space,
            counter: &self.counter,
        };
        let items = lower(&self.ctx, &parsed.ast, &options)
            .unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        self.items(items, space)
    }

    fn items(&mut self, items: Vec<Item>, space: Space) -> Val {
        let mut last = Val::Unit;
        for item in items {
            let compiler = Rc::clone(&self.compiler);
            let defined = match item {
                Item::Methods(methods) => methods
                    .into_iter()
                    .try_for_each(|method| compiler.borrow_mut().world.define(method).map(|_| ())),
                Item::Struct(decl) => compiler.borrow_mut().world.declare_struct(*decl),
                Item::Abstract(decl) => compiler.borrow_mut().world.declare_abstract(*decl),
                Item::Import(names) => {
                    let imported = compiler.borrow_mut().world.import(&names, Space::Main);
                    imported.unwrap_or_else(|error| panic!("{error:?}"));
                    Ok(())
                }
                Item::Type(name, ty) => {
                    compiler.borrow_mut().world.bind_type(name, space, &ty).map(|_| ())
                }
                Item::Instance(name, ty) => {
                    compiler.borrow_mut().world.bind_instance(name, space, &ty)
                }
                Item::Alias(name, other) => {
                    compiler.borrow_mut().world.bind_alias(name, space, other)
                }
                Item::Export(_) | Item::Typed(..) | Item::Module { .. } => {
                    panic!("modules and types of globals are for sessions")
                }
                Item::Declare(name, loc) => {
                    compiler.borrow_mut().world.declare_function(name, space, loc).unwrap();
                    Ok(())
                }
                Item::Const(name, thunk) => {
                    let value = self.run(&thunk, space);
                    let mut compiler = compiler.borrow_mut();
                    let constant = match value {
                        Val::Type(ty) => Some(regraft_ir::Constant::Type(ty)),
                        Val::Func(name) => Some(regraft_ir::Constant::Func(name)),
                        Val::I64(x) => Some(regraft_ir::Constant::I64(x)),
                        Val::F64(x) => Some(regraft_ir::Constant::F64(x.to_bits())),
                        Val::Bool(x) => Some(regraft_ir::Constant::Bool(x)),
                        _ => None,
                    };
                    match constant {
                        Some(c) => compiler.world.bind_const(name, space, c, thunk.loc).unwrap(),
                        None => {
                            let ty = value.type_of(&self.ctx);
                            let name =
                                compiler.world.bind_global(name, space, ty, thunk.loc).unwrap();
                            self.interpreter.host_mut().set_global(name, value);
                        }
                    }
                    Ok(())
                }
                Item::Run(thunk) => {
                    last = self.run(&thunk, space);
                    Ok(())
                }
                Item::Expand { .. } => panic!("no macros here"),
                Item::If { .. } => panic!("no `if` around definitions here"),
                Item::Include { .. } => panic!("no other files here"),
            };
            defined.unwrap_or_else(|errors| panic!("{errors:?}"));
        }
        last
    }

    fn run(&mut self, thunk: &Thunk, space: Space) -> Val {
        if let Some(forgotten) = self.compiler.borrow_mut().invalidate() {
            self.interpreter.forget(&forgotten);
        }
        let spec = self.compiler.borrow_mut().thunk(thunk, space).unwrap();
        self.check(spec);
        let function = self.compiler.borrow_mut().function(spec);
        let value = self.interpreter.run_once(Rc::clone(&function), &[]);
        self.compiler.borrow_mut().forget(spec);
        value.unwrap_or_else(|error| panic!("{:?}\n{function}", error.to_diagnostic()))
    }

    fn check(&mut self, spec: SpecId) {
        let module = self.compiler.borrow_mut().module_of(spec);
        if let Err(errors) = verify_module(&module) {
            panic!("{module}\n{errors:?}");
        }
    }
}
