//! Generated functions: methods whose code a program gives, from the types of the arguments.
//!
//! Inference that needs the code for some types notes a [`Request`], and goes on with code that
//! fails. Who asked inference has the request [carried out](World::generated): the program is run,
//! and what was inferred with the code that fails is dropped and inferred again.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use regraft_ir::{Diagnostic, Function, Symbol, Type};

use super::code::Code;
use super::entities::{MethodId, SpecId, StaticValue};
use super::flatten::flatten;
use super::generator::{Generator, Made, Request};
use super::tables::{DynamoCx, World};
use crate::definition::{Callee, ClosureDef, MethodHead, Space};

impl World {
    /// Defines a method whose code `function` gives.
    ///
    /// # Errors
    /// The errors of [`World::define`].
    pub(crate) fn add_generated(
        &mut self,
        head: MethodHead,
        (function, params): (Symbol, Vec<Option<Symbol>>),
    ) -> Result<MethodId, Vec<Diagnostic>> {
        let code = RefCell::default();
        let generator = Rc::new(Generator { function, params, head, code });
        let made = Rc::clone(&generator);
        let is_of_value = matches!(generator.head.callee, Callee::Instance(_));
        self.add_dynamo(
            &generator.head,
            Rc::new(move |cx, args| match is_of_value {
                true => {
                    let types: Vec<Type> =
                        std::iter::once(cx.callee).chain(args.iter().copied()).collect();
                    cx.generated(&made, &types)
                }
                false => cx.generated(&made, args),
            }),
        )
    }

    /// Gives wishes back that could not be carried out yet.
    pub(crate) fn put_back(&mut self, requests: Vec<Request>) {
        self.requests.extend(requests);
    }

    /// Takes the wishes for code that came up since the last time.
    pub(crate) fn take_requests(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.requests)
    }

    /// Carries a request out: this is the code, which is wrong when `from` is.
    pub(crate) fn generated(
        &mut self,
        request: &Request,
        code: Result<(Arc<Function>, Vec<ClosureDef>), Diagnostic>,
        from: SpecId,
    ) {
        let code = code.and_then(|(body, closures)| {
            for closure in &closures {
                let unknown = || Diagnostic::error("a function in generated code is wrong");
                self.register_closure(closure)
                    .map_err(|errors| errors.into_iter().next().unwrap_or_else(unknown))?;
            }
            Ok(body)
        });
        let code = Made { code, from };
        request.generator.code.borrow_mut().insert(request.args.clone(), code);
        // Those who wait are inferred again.
        self.bindings.touch(Space::Base, request.waits, &mut self.edges);
    }
}

impl DynamoCx<'_> {
    /// The code that a generator gave for these types; a request for it, if there is none.
    fn generated(
        &mut self,
        generator: &Rc<Generator>,
        args: &[Type],
    ) -> Result<Code, Vec<Diagnostic>> {
        let known = generator.code.borrow().get(args).cloned();
        if let Some(Made { code, from }) = known {
            if !self.world.edges.is_dead(from) {
                if let Some(by) = self.by {
                    self.world.depend(by, from);
                }
                let body = code.map_err(|error| vec![error])?;
                let method = &self.world.methods[self.method];
                let before = usize::from(method.takes_callee);
                let flat = flatten(method, &body, args.len() - before, before);
                return flat.map(Code::new).map_err(|error| vec![error.into()]);
            }
            generator.code.borrow_mut().remove(args);
        }
        let ctx = Arc::clone(self.world.ctx());
        let name = ctx.str(generator.function);
        let types: Vec<String> = args.iter().map(|&ty| self.world.type_name(ty)).collect();
        // It is no path to a name in a module.
        let waits = format!("{name}({})", types.join(", ")).replace('.', "/");
        let waits = ctx.symbol(&waits);
        if let Some(by) = self.by {
            self.world.resolve(waits, Space::Base, Some(by));
        }
        let generator = Rc::clone(generator);
        let statics: Rc<[StaticValue]> = self.statics.into();
        self.world.requests.push(Request { generator, args: args.into(), statics, waits });
        Err(vec![Diagnostic::error("the code of a generated function is not there yet")])
    }
}
