//! The Cranelift back end.

mod object;
mod types;
mod writer;

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Signature as Sig};
use cranelift_codegen::isa::{Builder, CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{CodegenError, Context};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, ModuleError, default_libcall_names};
use rustc_hash::FxHashMap;

pub use self::object::Cpu;
pub(crate) use self::object::{CEntry, CParam, ObjectFile, Word};
use self::types::ty;
use self::writer::Writer;
use super::context::{Compiled, Entry};
use super::emitter::{FRAME_PARAMS, Signature};
use super::references::References;
use super::source::Source;
use super::translate::{position_reg, signature, translate};
use super::unit::{Backend, MachineCode, compiler_in};

/// The compiler for the CPU that it runs on.
pub(crate) struct Cranelift {
    isa: OwnedTargetIsa,
    /// The ways into functions of a signature, which are kept.
    entries: RefCell<FxHashMap<Signature, (Entry, Memory)>>,
}

impl Cranelift {
    /// The compiler of this thread.
    ///
    /// # Errors
    /// If there is no back end for this CPU.
    pub(crate) fn of_thread() -> Result<Rc<Self>, String> {
        thread_local! {
            static COMPILER: OnceCell<Rc<Cranelift>> = const { OnceCell::new() };
        }
        compiler_in(&COMPILER, || {
            let cpu = cranelift_native::builder().map_err(str::to_owned)?;
            Ok(Self { isa: isa(cpu, false)?, entries: RefCell::default() })
        })
    }

    fn module(&self) -> JITModule {
        JITModule::new(JITBuilder::with_isa(self.isa.clone(), default_libcall_names()))
    }

    /// The way into functions of a signature.
    fn entry(&self, signature: Signature) -> Result<Entry, String> {
        if let Some(&(entry, _)) = self.entries.borrow().get(&signature) {
            return Ok(entry);
        }
        let mut module = self.module();
        let (mut context, mut frontend) = (module.make_context(), FunctionBuilderContext::new());
        let entry = write_entry(&mut module, &mut context, &mut frontend, &signature, None)?;
        module.finalize_definitions().map_err(wrong)?;
        let entry = module.get_finalized_function(entry);
        // SAFETY: `write_entry` has given it this signature.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(entry) };
        self.entries.borrow_mut().insert(signature, (entry, Memory(Some(module))));
        Ok(entry)
    }
}

/// A CPU, for code that may be anywhere in memory or not.
fn isa(cpu: Builder, is_pic: bool) -> Result<OwnedTargetIsa, String> {
    let truth = |is_on: bool| if is_on { "true" } else { "false" };
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("is_pic", truth(is_pic)),
        ("use_colocated_libcalls", "false"),
        ("enable_verifier", truth(cfg!(debug_assertions))),
    ] {
        flags.set(name, value).map_err(|error| error.to_string())?;
    }
    cpu.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())
}

/// The memory of a module.
struct Memory(Option<JITModule>);

impl MachineCode for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: a unit is dropped when nothing runs, and nothing calls its code any more.
            unsafe { module.free_memory() };
        }
    }
}

impl Backend for Cranelift {
    fn compile(
        &self,
        members: &[Source<'_>],
    ) -> Result<(Rc<dyn MachineCode>, Vec<Compiled>), String> {
        let mut module = self.module();
        let (mut context, mut frontend) = (module.make_context(), FunctionBuilderContext::new());
        let bodies = write_bodies(&mut module, &mut context, &mut frontend, members, None)?;
        module.finalize_definitions().map_err(wrong)?;
        let compiled = members.iter().zip(bodies).map(|(&member, body)| {
            let entry = self.entry(signature(member))?;
            Ok(Compiled { entry, body: module.get_finalized_function(body) })
        });
        let compiled = compiled.collect::<Result<_, String>>()?;
        Ok((Rc::new(Memory(Some(module))), compiled))
    }
}

/// Functions may be too large for Cranelift. That its verifier finds something is a mistake of ours.
fn wrong(error: ModuleError) -> String {
    let is_ours = matches!(error, ModuleError::Compilation(CodegenError::Verifier(_)));
    debug_assert!(!is_ours, "{error:?}");
    error.to_string()
}

/// Writes the bodies of a unit. Addresses stand in the code, or in a table of what they are the addresses of.
fn write_bodies<M: Module>(
    module: &mut M,
    context: &mut Context,
    frontend: &mut FunctionBuilderContext,
    members: &[Source<'_>],
    mut references: Option<&mut References>,
) -> Result<Vec<FuncId>, String> {
    let mut bodies = Vec::with_capacity(members.len());
    for member in members {
        let sig = body_sig(module, &signature(*member));
        bodies.push(module.declare_anonymous_function(&sig).map_err(wrong)?);
    }
    for (member, &body) in members.iter().zip(&bodies) {
        context.func.signature = body_sig(module, &signature(*member));
        let references = references.as_deref_mut();
        write_body(module, context, frontend, &bodies, *member, references);
        module.define_function(body, context).map_err(wrong)?;
        module.clear_context(context);
    }
    Ok(bodies)
}

/// The signature of a body: frame and scalars in, the result if it is a scalar and the status out.
fn body_sig(module: &impl Module, signature: &Signature) -> Sig {
    let mut sig = Sig::new(body_convention(module));
    sig.params.extend([AbiParam::new(I64); FRAME_PARAMS]);
    sig.params.extend(signature.params.iter().map(|&class| AbiParam::new(ty(class))));
    sig.returns.extend(signature.result.map(|class| AbiParam::new(ty(class))));
    sig.returns.push(AbiParam::new(I64));
    sig
}

/// Compiled functions return two values, which not every platform's convention allows.
fn body_convention(module: &impl Module) -> CallConv {
    match module.isa().default_call_conv() {
        CallConv::WindowsFastcall => CallConv::SystemV,
        convention => convention,
    }
}

fn write_body<M: Module>(
    module: &mut M,
    context: &mut Context,
    frontend: &mut FunctionBuilderContext,
    bodies: &[FuncId],
    member: Source<'_>,
    references: Option<&mut References>,
) {
    let config = module.isa().frontend_config();
    let convention = body_convention(module);
    let default = module.isa().default_call_conv();
    let mut b = FunctionBuilder::new(&mut context.func, frontend);
    let start = b.create_block();
    b.append_block_params_for_function_params(start);
    b.switch_to_block(start);
    let params = b.block_params(start).to_vec();
    let code = member.code;
    let mut regs: Vec<Variable> =
        code.classes.iter().map(|&class| b.declare_var(ty(class))).collect();
    regs.push(b.declare_var(I64));
    debug_assert_eq!(position_reg(code) as usize, regs.len() - 1);
    let mut writer = Writer {
        b,
        module,
        bodies,
        params,
        fixed: vec![None; regs.len()],
        regs,
        default,
        convention,
        regions: FxHashMap::default(),
        functions: FxHashMap::default(),
        members: FxHashMap::default(),
        references,
    };
    translate(member, &mut writer);
    let mut b = writer.b;
    b.seal_all_blocks();
    b.finalize(config);
}

/// The function that the machine calls: it takes the scalars from their registers, and passes them to a body, or to the one
/// that it is given.
fn write_entry(
    module: &mut impl Module,
    context: &mut Context,
    frontend: &mut FunctionBuilderContext,
    signature: &Signature,
    body: Option<FuncId>,
) -> Result<FuncId, String> {
    let mut sig = Sig::new(module.isa().default_call_conv());
    sig.params.extend([AbiParam::new(I64); FRAME_PARAMS + 2]);
    sig.returns.push(AbiParam::new(I64));
    let entry = module.declare_anonymous_function(&sig).map_err(wrong)?;
    context.func.signature = sig;
    let config = module.isa().frontend_config();
    let mut b = FunctionBuilder::new(&mut context.func, frontend);
    let start = b.create_block();
    b.append_block_params_for_function_params(start);
    b.switch_to_block(start);
    let params = b.block_params(start).to_vec();
    let mut args = params[..FRAME_PARAMS].to_vec();
    let flags = MemFlagsData::trusted();
    for (reg, &class) in signature.params.iter().enumerate() {
        args.push(b.ins().load(ty(class), flags, params[1], reg as i32 * 8));
    }
    let call = match body {
        Some(body) => {
            let body = module.declare_func_in_func(body, b.func);
            b.ins().call(body, &args)
        }
        None => {
            let sig = b.import_signature(body_sig(module, signature));
            b.ins().call_indirect(sig, params[FRAME_PARAMS + 1], &args)
        }
    };
    let results = b.inst_results(call).to_vec();
    if signature.result.is_some() {
        b.ins().store(flags, results[0], params[FRAME_PARAMS], 0);
    }
    b.ins().return_(&results[results.len() - 1..]);
    b.seal_all_blocks();
    b.finalize(config);
    module.define_function(entry, context).map_err(wrong)?;
    module.clear_context(context);
    Ok(entry)
}
