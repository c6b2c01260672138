//! Modules of what a call runs, in the three stages.

use std::sync::Arc;

use regraft_ir::{Diagnostic, IrResult, Module, TypeKind};
use regraft_passes::rewrite::Math;
use regraft_passes::{O3, PassRegistry, Pipeline, RunOptions, run_pipeline};

use super::Session;
use super::entry::TypedCall;
use crate::emit::keep_reached;
use crate::infer::CallError;
use crate::phases::{Phase, enter};
use crate::world::{Dispatch, MethodMatch};

/// The standard passes that change no bit of a result. Loops that follow each other become one last, when
/// everything has been put together: what `map` makes for `sum` is not kept.
const EXACT: &str = "O2, fuse-sweeps";

/// Puts a derivative and what it calls together. A sweep back that two calls share takes what the sweep forward has left as
/// a tuple, where nothing shows which arrays are only read, and which derivatives nobody needs.
const WHOLE: &str = "inline{once=100000, growth=100000, max-size=400}, dce";

/// Runs a pipeline on the module of a call, of which the first function is the one that is
/// called, and leaves away what that does not need any more.
pub(super) fn optimize(
    module: &mut Module,
    pipeline: Option<&Pipeline>,
    math: Math,
) -> Result<(), Vec<Diagnostic>> {
    let standard;
    let pipeline = match pipeline {
        Some(pipeline) => pipeline,
        None => {
            let text = if math == Math::Exact { EXACT } else { O3.name };
            standard = Pipeline::parse(&PassRegistry::standard(), text)?.with_math(math);
            &standard
        }
    };
    // One thread: what is optimized for a user at a prompt is small.
    let _phase = enter(Phase::Optimize);
    let options = RunOptions::default().threads(1);
    match run_pipeline(module, pipeline, &options) {
        Ok(_) => keep_reachable(module).map_err(|error| vec![error.into()]),
        Err(failure) => Err(failure.diagnostics().to_vec()),
    }
}

/// Removes the functions that no value in the first function, or in what it needs, stands for, and
/// the struct types that occur in no other one.
fn keep_reachable(module: &mut Module) -> IrResult<()> {
    let ctx = Arc::clone(module.ctx());
    let root = module.ids().first().copied();
    keep_reached(module, root, |f, operand| match *ctx.kind(f.operand_type(operand)) {
        TypeKind::Fn(name) => Some(name),
        TypeKind::Struct(id) => ctx.struct_def(id).call,
        _ => None,
    });
    *module = Module::of_functions(&ctx, module.functions().cloned())?;
    Ok(())
}

impl Session {
    /// Optimizes the module of a call that gives a derivative. What only the value needs is found out when the whole has been
    /// put together, however large it is.
    pub(super) fn optimize_derivative(&self, module: &mut Module) -> Result<(), Vec<Diagnostic>> {
        let whole = Pipeline::parse(&PassRegistry::standard(), WHOLE)?;
        optimize(module, Some(&whole), Math::Exact)?;
        let compiler = self.compiler.borrow();
        optimize(module, None, compiler.math())?;
        compiler.jam(module)
    }

    /// The lowered body of the method that a call dispatches to.
    pub(super) fn lowered_module(&mut self, call: &TypedCall) -> Result<Module, Vec<Diagnostic>> {
        let found = self.method_of(call)?;
        let body = self.ask(|compiler| compiler.world.body(&found, call.callee, &call.args, None));
        let mut module = Module::new(&self.ctx);
        module.add((*body?.function).clone()).map_err(|error| vec![error.into()])?;
        Ok(module)
    }

    /// The specialisation that a call runs, and all that it calls.
    pub(super) fn typed_module(&mut self, call: &TypedCall) -> Result<Module, Vec<Diagnostic>> {
        let _phase = enter(Phase::Infer);
        let module = self.ask(|compiler| {
            let entry = compiler.specialize(call.callee, &call.args)?;
            Ok(compiler.module_with_rules(entry))
        });
        module.map_err(|error| call.failed(error))
    }

    /// The method that a call runs, as it is shown.
    pub(super) fn which(&mut self, call: &TypedCall) -> Result<String, Vec<Diagnostic>> {
        let found = self.method_of(call)?;
        let world = &self.compiler.borrow().world;
        let Some(method) = world.method(found.method) else { return Ok(String::new()) };
        let module = method.space.shown(&self.ctx);
        Ok(world.method_text(method).replacen(" at ", &format!(" @ {module} "), 1))
    }

    /// The method that a call runs.
    fn method_of(&mut self, call: &TypedCall) -> Result<MethodMatch, Vec<Diagnostic>> {
        let world = &mut self.compiler.borrow_mut().world;
        let (message, help) = match world.dispatch(call.callee, &call.args, None) {
            Dispatch::Method(found) => return Ok(found),
            Dispatch::Ambiguous(methods) => world.ambiguous(call.callee, &call.args, &methods),
            Dispatch::None => world.no_method(call.callee, &call.args),
            Dispatch::Unknown => {
                let message = "which method this is depends on the values".to_owned();
                return Err(vec![call.error(message)]);
            }
        };
        Err(call.failed(CallError { message, help }))
    }
}
