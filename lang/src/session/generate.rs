//! Carries out the wishes for the code of generated functions.

use std::sync::Arc;

use regraft_exec::value::Val;
use regraft_ir::{Context, Diagnostic, Function, Type};
use regraft_syntax::julia::Kind;

use super::Session;
use crate::code::Places;
use crate::compiler::Compiler;
use crate::definition::{Callee, ClosureDef, Item};
use crate::lower::lower_statement;
use crate::world::{Request, SpecId, StaticValue};

/// The most times that the code of further generated functions is asked for by the code of others.
const MAX_ROUNDS: usize = 1000;

impl Session {
    /// Asks the compiler something, until no code of a generated function is missing for the answer.
    pub(super) fn ask<T>(&mut self, mut question: impl FnMut(&mut Compiler) -> T) -> T {
        for _ in 0..MAX_ROUNDS {
            let (answer, requests) = {
                let mut compiler = self.compiler.borrow_mut();
                (question(&mut compiler), compiler.world.take_requests())
            };
            if requests.is_empty() {
                return answer;
            }
            self.carry_out(&requests);
        }
        question(&mut self.compiler.borrow_mut())
    }

    /// Carries requests out.
    pub(super) fn carry_out(&mut self, requests: &[Request]) {
        for request in requests {
            if !request.is_done() {
                let from = self.compiler.borrow_mut().new_derivation();
                let around = self.shared.generating.replace(Some(from));
                let code =
                    self.generate(request).map_err(|errors| self.of_generator(request, errors));
                self.shared.generating.set(around);
                self.depend_on_generator(request, from);
                self.with_world(|world| world.generated(request, code, from));
            }
        }
        self.relink();
    }

    /// Says that code is wrong when the function is that gave it, or what that calls.
    fn depend_on_generator(&mut self, request: &Request, from: SpecId) {
        let args: Vec<Type> =
            self.arguments(request).iter().map(|value| value.type_of(&self.ctx)).collect();
        let callee = Val::Func(request.generator.function).type_of(&self.ctx);
        let mut compiler = self.compiler.borrow_mut();
        if let Ok(spec) = compiler.specialize(callee, &args) {
            compiler.world.depend(from, spec);
        }
    }

    /// The code of a generated function.
    fn generate(
        &mut self,
        request: &Request,
    ) -> Result<(Arc<Function>, Vec<ClosureDef>), Vec<Diagnostic>> {
        let generator = &request.generator;
        let head = &generator.head;
        let args = self.arguments(request);
        let value = self.call_values(&Val::Func(generator.function), &args)?;
        let (mut ast, span) = self.generated_tree();
        let form = self.tree_of(&mut ast, &value, (&Places::default(), span))?;
        let body = self.expand_form(&mut ast, form, head.space);
        let body = body.map_err(|errors| self.within_code(errors, &value))?;
        let mut params = Vec::with_capacity(head.params.len());
        for (at, param) in head.params.iter().enumerate() {
            let name = param.name.unwrap_or_else(|| self.ctx.symbol(&format!("#unnamed{at}")));
            let name = ast.add(Kind::Name(name), span);
            let is_rest = head.vararg && at + 1 == head.params.len();
            params.push(if is_rest { ast.add(Kind::Splat(name), span) } else { name });
        }
        let statics: Vec<_> =
            head.statics.iter().map(|decl| ast.add(Kind::Name(decl.name), span)).collect();
        let name = match head.callee {
            Callee::Function(name) => name,
            _ => self.ctx.symbol("#generated"),
        };
        let last = self.ctx.str(name).rsplit('.').next().unwrap_or_default();
        let mut name = ast.add(Kind::Name(self.ctx.symbol(last)), span);
        if let Callee::Instance(_) = head.callee {
            // Of which type it is is known already.
            let value = request.generator.params.get(head.statics.len()).copied().flatten();
            let value = value.map(|value| ast.add(Kind::Name(value), span));
            let ty = ast.add(Kind::Name(self.ctx.symbol("Any")), span);
            name = ast.add(Kind::Typed { value, ty }, span);
        }
        let (params, wheres) = (ast.add_list(&params), ast.add_list(&statics));
        let (returns, body, inline) = (None, Some(body), None);
        let function = Kind::Function { name, params, wheres, returns, body, inline };
        let function = ast.add(function, span);
        let made = self.lowering(false, head.space, |options| {
            lower_statement(&self.ctx, &ast, function, options)
        });
        let made = made.map_err(|errors| self.within_code(errors, &value))?.pop();
        // The last method is the one for all arguments.
        let method = match made {
            Some(Item::Methods(mut methods)) => methods.pop(),
            _ => None,
        };
        let unknown = || vec![Diagnostic::error("the generated code is none of a function")];
        method.map(|method| (method.body, method.closures)).ok_or_else(unknown)
    }

    /// The arguments of the function that gives the code.
    fn arguments(&self, request: &Request) -> Vec<Val> {
        let head = &request.generator.head;
        let mut values = Vec::with_capacity(request.generator.params.len());
        for name in request.generator.params.iter().take(head.statics.len()) {
            let at = head.statics.iter().position(|decl| Some(decl.name) == *name);
            let value = at.and_then(|at| request.statics.get(at));
            values.push(value.map_or(Val::Unit, |value| static_val(&self.ctx, value)));
        }
        let fixed = head.params.len() - usize::from(head.vararg);
        let of_value = usize::from(matches!(head.callee, Callee::Instance(_)));
        let mut types = request.args.iter().map(|&ty| Val::Type(ty));
        values.extend(types.by_ref().take(of_value + fixed));
        if head.vararg {
            values.push(Val::tuple(types));
        }
        values
    }

    /// An error of a generator: which it is, and for which call.
    fn of_generator(&self, request: &Request, errors: Vec<Diagnostic>) -> Diagnostic {
        let unknown = || Diagnostic::error("the generator fails");
        let error = errors.into_iter().next().unwrap_or_else(unknown);
        let head = &request.generator.head;
        let world = &self.compiler.borrow().world;
        let types: Vec<String> =
            request.args.iter().map(|&ty| format!("::{}", world.type_name(ty))).collect();
        let name = match &head.callee {
            Callee::Function(name) => self.ctx.str(*name),
            _ => "a type",
        };
        let name = name.rsplit('.').next().unwrap_or(name);
        let place = error.place().unwrap_or_else(|| self.ctx.loc_text(head.loc));
        let message = format!(
            "{} (in the generator of {name}({}), at {place})",
            error.message(),
            types.join(", ")
        );
        error.with_message(message)
    }
}

fn static_val(ctx: &Context, value: &StaticValue) -> Val {
    match value {
        StaticValue::Constant(constant) => Val::constant(ctx, *constant),
        StaticValue::Tuple(parts) => Val::tuple(parts.iter().map(|part| static_val(ctx, part))),
        StaticValue::Unbound => Val::Unit,
    }
}
