//! Functions of a session as functions of Rust.

use std::any::type_name;

use regraft_dialects::core;
use regraft_exec::Val;
use regraft_exec::typed::{Output, Params, Signature, TypedFunction};
use regraft_ir::{Constant, Diagnostic, FuncId, Function, Module, Operand, Type, Value};
use regraft_passes::analysis::{Access, EffectSummaries};

use super::Session;
use super::entry::TypedCall;
use super::stages::optimize;

impl Session {
    /// Compiles a function, which is a name or an expression that gives one, for arguments of Rust's types, and
    /// optimizes it as a whole. It is run by the [engine](Self::set_engine) of the session, within its limits, and
    /// stays what it is when the session goes on or goes.
    ///
    /// ```
    /// # use regraft_lang::Session;
    /// let mut session = Session::new(&regraft_dialects::context());
    /// session.run("f.jl", "function scale!(x, by); x .*= by; return sum(x); end").unwrap();
    /// let scale = session.compile::<fn(&mut [f64], f64) -> f64>("scale!").unwrap();
    /// let mut x = [1.0, 2.0, 3.0];
    /// assert_eq!(scale.call((&mut x, 2.0)).unwrap(), 12.0);
    /// assert_eq!(x, [2.0, 4.0, 6.0]);
    /// ```
    ///
    /// # Errors
    /// If there is no such function, or no method for the arguments; if its result is of another type; if it writes to
    /// an argument that may not be written to; if it depends on more than its arguments: on global
    /// variables, or on methods that are known only when it runs.
    pub fn compile<F: Signature>(
        &mut self,
        function: &str,
    ) -> Result<TypedFunction<F>, Vec<Diagnostic>> {
        let (call, _) = self.typed_call(function, F::Params::types(&self.ctx))?;
        let mut module = self.typed_module(&call)?;
        self.resolve_calls(&mut module)?;
        self.check_result::<F>(&call, &module)?;
        optimize(&mut module, None, self.compiler.borrow().math())?;
        check_writes::<F>(&call, &module)?;
        self.typed_function(module)
    }

    /// The call of a function, which is a name or an expression, with arguments of these types; and
    /// the function.
    pub(super) fn typed_call(
        &mut self,
        function: &str,
        args: Vec<Type>,
    ) -> Result<(TypedCall, Val), Vec<Diagnostic>> {
        let ast = self.parse("function", function)?;
        let source = ast.source.clone();
        self.refuel();
        let value = self.run_ast(ast, false)?;
        Ok((TypedCall { source, callee: value.type_of(&self.ctx), args }, value))
    }

    /// Puts a function in the place of each call of a value whose type is known, with arguments of known types, and adds
    /// these functions to the module: pullbacks of rules are called so.
    pub(super) fn resolve_calls(&mut self, module: &mut Module) -> Result<(), Vec<Diagnostic>> {
        let mut done = 0;
        while let Some(&id) = module.ids().get(done) {
            done += 1;
            let Some(f) = module.get(id) else { continue };
            let calls: Vec<Value> =
                f.all_insts().filter(|&v| f.op(v) == Some(core::APPLY)).collect();
            for v in calls {
                self.resolve_call(module, id, v)?;
            }
        }
        Ok(())
    }

    fn resolve_call(
        &mut self,
        module: &mut Module,
        id: FuncId,
        v: Value,
    ) -> Result<(), Vec<Diagnostic>> {
        let Some(f) = module.get(id) else { return Ok(()) };
        let operands: Vec<Operand> = f.operands(v).collect();
        let types: Vec<Type> = operands.iter().map(|&operand| f.operand_type(operand)).collect();
        let Some((&callee, args)) = types.split_first() else { return Ok(()) };
        if types.contains(&Type::ANY) {
            return Ok(());
        }
        let found = self.ask(|compiler| {
            let spec = compiler.specialize(callee, args).ok()?;
            Some(compiler.module_with_rules(spec))
        });
        let Some(found) = found else { return Ok(()) };
        let Some(target) = found.functions().next() else { return Ok(()) };
        // A function is no argument of its own call; what is packed otherwise stays as it is.
        let params = target.param_types();
        let Some(passed) = [0, 1].into_iter().find(|&first| types[first..] == params) else {
            return Ok(());
        };
        let (name, result) = (target.name(), target.ret_type());
        for function in found.functions() {
            if module.find(function.name()).is_none() {
                module.add(function.clone()).map_err(|error| vec![error.into()])?;
            }
        }
        let callee: Operand = self.ctx.constant_id(Constant::Func(name)).into();
        let call = core::call(callee, operands[passed..].to_vec(), result);
        let Some(f) = module.get_mut(id) else { return Ok(()) };
        let ty = f.ty(v);
        let resolved = if result == ty {
            f.replace(v, call).map(|_| ())
        } else {
            f.insert(v, call).and_then(|call| f.replace(v, core::convert(call, ty)).map(|_| ()))
        };
        resolved.map_err(|error| vec![error.into()])
    }

    /// The function in Rust that runs the first one of a module.
    pub(super) fn typed_function<F: Signature>(
        &self,
        mut module: Module,
    ) -> Result<TypedFunction<F>, Vec<Diagnostic>> {
        self.compiler.borrow().finish_for_native(&mut module)?;
        let name = module.functions().next().map_or("", Function::name_str).to_owned();
        let engine = self.interpreter.engine();
        let function = TypedFunction::new(module, &name, engine, self.limits);
        function.map_err(|error| vec![error])
    }

    /// Checks that a function returns what it should in Rust.
    pub(super) fn check_result<F: Signature>(
        &self,
        call: &TypedCall,
        module: &Module,
    ) -> Result<(), Vec<Diagnostic>> {
        let found = module.functions().next().map_or(Type::ANY, Function::ret_type);
        let Some(want) = F::Output::ty(&self.ctx).filter(|&want| want != found) else {
            return Ok(());
        };
        let world = &self.compiler.borrow().world;
        let (found, want) = (world.type_name(found), world.type_name(want));
        let rust = type_name::<F::Output>();
        let args: Vec<String> = call.args.iter().map(|&ty| world.type_name(ty)).collect();
        let args = args.join(", ");
        let message = format!(
            "the function returns a value of type {found} for arguments of type ({args}); `{rust}` in Rust is {want}"
        );
        Err(vec![call.error(message)])
    }
}

/// Checks that a function does not write to arguments that it may not write to.
fn check_writes<F: Signature>(call: &TypedCall, module: &Module) -> Result<(), Vec<Diagnostic>> {
    let Some(f) = module.functions().next() else { return Ok(()) };
    let summaries = EffectSummaries::compute(module);
    let effects = &summaries.of(f.name()).params;
    let ways = F::Params::ways();
    let first = effects.len().saturating_sub(ways.len());
    for (at, (effects, way)) in effects.iter().skip(first).zip(ways).enumerate() {
        if way.is_read_only && effects.access.intersects(Access::WRITES) {
            let message =
                format!("the function writes to argument {}, which is `&{}`", at + 1, way.rust);
            let help = format!("take it as `&mut {}`", way.rust);
            return Err(vec![call.error(message).help(help)]);
        }
    }
    Ok(())
}
