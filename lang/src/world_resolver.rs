//! Call resolution against a world while a program runs: finds the function that a call of a value
//! runs, and the code of functions by name.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use regraft_dialects::{cf, core};
use regraft_exec::value::Val;
use regraft_exec::{CallResolver, Host, ResolvedCall, Trap};
use regraft_ir::{
    Block, Constant, Function, FunctionBuilder, IrError, IrResult, Operand, Symbol, Type, TypeKind,
    Value,
};

use crate::compiler::Compiler;
use crate::phases::{Phase, enter};
use crate::world::{Request, SpecId};

/// A [`Compiler`] that an interpreter and a session share.
///
/// The interpreter asks only while it runs a program, and the session changes the world only
/// between programs, so that it is never borrowed twice.
#[derive(Clone)]
pub struct WorldResolver {
    compiler: Rc<RefCell<Compiler>>,
    generating: Option<Rc<dyn Generating>>,
}

/// Carries out the wishes for the code of generated functions while a program runs.
pub(crate) trait Generating {
    /// Runs the functions that give the code, with the host of the program that waits.
    fn carry_out(&self, requests: &[Request], host: &mut Host);
}

impl WorldResolver {
    /// Answers from what `compiler` derives from its world.
    pub fn new(compiler: &Rc<RefCell<Compiler>>) -> Self {
        Self { compiler: Rc::clone(compiler), generating: None }
    }

    /// The same, with somebody to ask for the code of generated functions.
    pub(crate) fn generating(mut self, generating: Rc<dyn Generating>) -> Self {
        self.generating = Some(generating);
        self
    }

    /// Asks the compiler something, until no code of a generated function is missing for the
    /// answer.
    fn ask<T>(
        &self,
        mut host: Option<&mut Host>,
        mut question: impl FnMut(&mut Compiler) -> Result<T, Trap>,
    ) -> Result<T, Trap> {
        let _phase = enter(Phase::Infer);
        loop {
            let (answer, requests) = {
                let mut compiler = self.compiler.borrow_mut();
                (question(&mut compiler), compiler.world.take_requests())
            };
            match (&self.generating, &mut host) {
                _ if requests.is_empty() => return answer,
                (Some(generating), Some(host)) => generating.carry_out(&requests, host),
                // It is asked again when there is a host.
                _ => {
                    self.compiler.borrow_mut().world.put_back(requests);
                    return Err(Trap::new("ErrorException", "the code is not generated yet"));
                }
            }
        }
    }
}

impl fmt::Debug for WorldResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorldResolver").finish_non_exhaustive()
    }
}

impl CallResolver for WorldResolver {
    fn resolve(
        &mut self,
        callee: &Val,
        args: &[Val],
        host: &mut Host,
    ) -> Result<ResolvedCall, Trap> {
        self.ask(Some(host), |compiler| compiler.link(callee, args))
    }

    fn function(
        &mut self,
        name: Symbol,
        host: Option<&mut Host>,
    ) -> Result<Option<Rc<Function>>, Trap> {
        self.ask(host, |compiler| {
            let same = compiler.spec_by_name(name).map(|id| (id, None));
            let Some((id, known)) = same.or_else(|| compiler.successor(name)) else {
                return Ok(None);
            };
            let code = compiler.code(id).map_err(|errors| Trap::because(&errors))?;
            let code = match known {
                None => code,
                Some(result) => Rc::new(bridge(name, &code, result).map_err(invalid)?),
            };
            Ok(Some(code))
        })
    }

    fn optimized(&mut self, name: Symbol) -> Option<Rc<Function>> {
        self.ask(None, |compiler| {
            Ok(compiler.spec_by_name(name).and_then(|id| compiler.optimized(id)))
        })
        .ok()?
    }

    fn may_continue(&mut self, name: Symbol) -> bool {
        let may_continue = |compiler: &mut Compiler| {
            let id = compiler.spec_by_name(name);
            Ok(id.is_some_and(|id| compiler.may_continue(id)))
        };
        self.ask(None, may_continue).unwrap_or(false)
    }

    fn continued(
        &mut self,
        name: Symbol,
        f: &Function,
        block: Block,
        live: &[Value],
    ) -> Option<Rc<Function>> {
        self.ask(None, |compiler| {
            let id = compiler.spec_by_name(name);
            Ok(id.and_then(|id| compiler.continued(id, f, block, live)))
        })
        .ok()?
    }

    fn may_share(&mut self, name: Symbol) -> bool {
        self.ask(None, |compiler| Ok(compiler.may_share(name))).unwrap_or(false)
    }
}

/// A function of that name that calls another one, whose result it asserts to be of a type.
fn bridge(name: Symbol, to: &Function, result: Type) -> IrResult<Function> {
    let ctx = to.ctx().clone();
    let mut b = FunctionBuilder::new(&ctx, ctx.str(name), &to.param_types(), result);
    let args: Vec<Operand> = (0..to.param_types().len()).map(|at| b.param(at).into()).collect();
    let callee: Operand = ctx.constant_id(Constant::Func(to.name())).into();
    let given = b.push(core::call(callee, args, to.ret_type()))?;
    if to.ret_type() == Type::NEVER || result == Type::NEVER {
        b.terminate(cf::unreachable())?;
        return b.finish();
    }
    let given = b.push(core::convert(given, Type::ANY))?;
    let given = b.push(core::typeassert(given, result))?;
    b.terminate(cf::ret(given))?;
    b.finish()
}

/// The error of code that could not be built.
fn invalid(error: IrError) -> Trap {
    Trap::because(&[error.into()])
}

impl Compiler {
    /// Returns what a call of the value `callee` with these arguments runs.
    ///
    /// # Errors
    /// If there is no method for them, or no single one.
    pub fn link(&mut self, callee: &Val, args: &[Val]) -> Result<ResolvedCall, Trap> {
        let ctx = self.ctx().clone();
        let callee_type = match callee {
            &Val::Func(name) => ctx.ty(TypeKind::Fn(name)),
            other => other.type_of(&ctx),
        };
        if let &Val::Func(name) = callee
            && let Some(id) = self.specialize_for_values(name, args)
        {
            let function = self.name_of(id);
            return Ok(ResolvedCall { function, fixed: None, pass_callee: false, by_value: true });
        }
        let types: Vec<Type> = args.iter().map(|arg| arg.type_of(&ctx)).collect();
        let id = self.specialize(callee_type, &types).map_err(|error| {
            let trap = Trap::new("MethodError", error.message);
            if error.help.is_empty() { trap } else { trap.help(error.help.join("\n")) }
        })?;
        if let Some(errors) = self.failures.get(&id) {
            return Err(Trap::because(errors));
        }
        let function = self.name_of(id);
        let spec = self.spec(id);
        Ok(ResolvedCall {
            function,
            fixed: spec.fixed,
            pass_callee: spec.takes_callee,
            by_value: false,
        })
    }

    /// The code of a type function whose answer depends on the values of numbers and names, as
    /// `Val(n)` and `Array{T, n}` do.
    fn specialize_for_values(&mut self, function: Symbol, args: &[Val]) -> Option<SpecId> {
        if !self.asks_for_values(function) {
            return None;
        }
        let is_type = |arg: &Val| matches!(arg, Val::Type(_) | Val::Func(_));
        if args.iter().all(is_type) {
            return None;
        }
        let ctx = self.ctx().clone();
        let constants: Option<Vec<Constant>> =
            args.iter().map(|arg| arg.as_constant(&ctx)).collect();
        Some(self.wrapper_of_constants(function, &constants?))
    }
}
