//! The Cranelift back end.

use std::rc::Rc;

use cranelift_codegen::Context;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I8, I16, I32, I64};
use cranelift_codegen::ir::{
    AbiParam, AliasRegionData, Block, FuncRef, Function as Func, InstBuilder, MemFlagsData, SigRef,
    Signature as Sig, Type, Value,
};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Switch, Variable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};
use rustc_hash::FxHashMap;

use super::context::{Compiled, Entry};
use super::emitter::{
    Area, Arg, Callee, Cast, Emitter, FRAME_PARAMS, Float1, Float2, FloatCmp, Function, Int1, Int2,
    IntCmp, Mem, Signature, Target,
};
use super::source::Source;
use super::translate::{position_reg, signature, translate};
use super::unit::{Backend, MachineCode};
use crate::interp::{Class, Reg};

/// The compiler for the CPU that it runs on.
pub(crate) struct Cranelift {
    isa: OwnedTargetIsa,
}

impl Cranelift {
    /// # Errors
    /// If there is no back end for this CPU.
    pub(crate) fn new() -> Result<Self, String> {
        let mut flags = settings::builder();
        for (name, value) in [
            ("opt_level", "speed"),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
            ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        ] {
            flags.set(name, value).map_err(|error| error.to_string())?;
        }
        let builder = cranelift_native::builder().map_err(str::to_owned)?;
        let isa = builder.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())?;
        Ok(Self { isa })
    }
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
        let builder = JITBuilder::with_isa(self.isa.clone(), default_libcall_names());
        let mut module = JITModule::new(builder);
        let mut bodies = Vec::with_capacity(members.len());
        for member in members {
            let sig = body_sig(&module, &signature(member.code));
            bodies.push(module.declare_anonymous_function(&sig).map_err(wrong)?);
        }
        let mut context = module.make_context();
        let mut frontend = FunctionBuilderContext::new();
        let mut entries = Vec::with_capacity(members.len());
        for (member, &body) in members.iter().zip(&bodies) {
            context.func.signature = body_sig(&module, &signature(member.code));
            write_body(&mut module, &mut context, &mut frontend, &bodies, *member);
            module.define_function(body, &mut context).map_err(wrong)?;
            module.clear_context(&mut context);
            let entry = write_entry(&mut module, &mut context, &mut frontend, body, *member)?;
            module.clear_context(&mut context);
            entries.push(entry);
        }
        module.finalize_definitions().map_err(wrong)?;
        let compiled = bodies.iter().zip(entries).map(|(&body, entry)| {
            let entry = module.get_finalized_function(entry);
            // SAFETY: `write_entry` has given it this signature.
            let entry = unsafe { std::mem::transmute::<*const u8, Entry>(entry) };
            Compiled { entry, body: module.get_finalized_function(body) }
        });
        let compiled = compiled.collect();
        Ok((Rc::new(Memory(Some(module))), compiled))
    }
}

fn wrong(error: cranelift_module::ModuleError) -> String {
    error.to_string()
}

fn ty(class: Class) -> Type {
    match class {
        Class::Int => I64,
        Class::Single => F32,
        Class::Double => F64,
    }
}

fn arg_ty(arg: Arg) -> Type {
    match arg {
        Arg::Int | Arg::Ptr => I64,
        Arg::Single => F32,
        Arg::Double => F64,
    }
}

fn mem_ty(mem: Mem) -> Type {
    match mem {
        Mem::I8 => I8,
        Mem::I16 => I16,
        Mem::I32 => I32,
        Mem::I64 | Mem::Ptr => I64,
        Mem::F32 => F32,
        Mem::F64 => F64,
    }
}

/// The signature of a body: frame and scalars in, the result if it is a scalar and the status out.
fn body_sig(module: &JITModule, signature: &Signature) -> Sig {
    let mut sig = Sig::new(body_convention(module));
    sig.params.extend([AbiParam::new(I64); FRAME_PARAMS]);
    sig.params.extend(signature.params.iter().map(|&class| AbiParam::new(ty(class))));
    sig.returns.extend(signature.result.map(|class| AbiParam::new(ty(class))));
    sig.returns.push(AbiParam::new(I64));
    sig
}

/// Compiled functions return two values, which not every platform's convention allows.
fn body_convention(module: &JITModule) -> CallConv {
    match module.isa().default_call_conv() {
        CallConv::WindowsFastcall => CallConv::SystemV,
        convention => convention,
    }
}

fn write_body(
    module: &mut JITModule,
    context: &mut Context,
    frontend: &mut FunctionBuilderContext,
    bodies: &[FuncId],
    member: Source<'_>,
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
        regs,
        default,
        convention,
        regions: FxHashMap::default(),
        functions: FxHashMap::default(),
        members: FxHashMap::default(),
    };
    translate(member, &mut writer);
    let mut b = writer.b;
    b.seal_all_blocks();
    b.finalize(config);
}

/// The function that the machine calls: it takes the scalars from their registers.
fn write_entry(
    module: &mut JITModule,
    context: &mut Context,
    frontend: &mut FunctionBuilderContext,
    body: FuncId,
    member: Source<'_>,
) -> Result<FuncId, String> {
    let signature = signature(member.code);
    let mut sig = Sig::new(module.isa().default_call_conv());
    sig.params.extend([AbiParam::new(I64); FRAME_PARAMS + 1]);
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
    let body = module.declare_func_in_func(body, b.func);
    let call = b.ins().call(body, &args);
    let results = b.inst_results(call).to_vec();
    if signature.result.is_some() {
        b.ins().store(flags, results[0], params[FRAME_PARAMS], 0);
    }
    b.ins().return_(&results[results.len() - 1..]);
    b.seal_all_blocks();
    b.finalize(config);
    module.define_function(entry, context).map_err(wrong)?;
    Ok(entry)
}

struct Writer<'a> {
    b: FunctionBuilder<'a>,
    module: &'a mut JITModule,
    bodies: &'a [FuncId],
    params: Vec<Value>,
    regs: Vec<Variable>,
    default: CallConv,
    convention: CallConv,
    /// The flags of accesses to memory.
    regions: FxHashMap<Area, MemFlagsData>,
    /// The signatures of functions of ours.
    functions: FxHashMap<(&'static [Arg], Option<Arg>), SigRef>,
    /// The functions of the unit that are called.
    members: FxHashMap<u32, FuncRef>,
}

impl Writer<'_> {
    fn flags(&mut self, area: Area) -> MemFlagsData {
        let func: &mut Func = self.b.func;
        let next = self.regions.len() as u32;
        *self.regions.entry(area).or_insert_with(|| {
            let region = AliasRegionData { user_id: next, description: format!("{area:?}").into() };
            let region = func.dfg.alias_regions.insert(region);
            MemFlagsData::trusted().with_alias_region(Some(region))
        })
    }
}

impl Emitter for Writer<'_> {
    type Value = Value;
    type Flag = Value;
    type Block = Block;

    fn param(&mut self, index: usize) -> Value {
        self.params[index]
    }

    fn block(&mut self, cold: bool) -> Block {
        let block = self.b.create_block();
        if cold {
            self.b.set_cold_block(block);
        }
        block
    }

    fn enter(&mut self, block: Block) {
        self.b.switch_to_block(block);
    }

    fn read(&mut self, reg: Reg) -> Value {
        self.b.use_var(self.regs[reg as usize])
    }

    fn write(&mut self, reg: Reg, value: Value) {
        self.b.def_var(self.regs[reg as usize], value);
    }

    fn int(&mut self, value: i64) -> Value {
        self.b.ins().iconst(I64, value)
    }

    fn double(&mut self, bits: u64) -> Value {
        self.b.ins().f64const(f64::from_bits(bits))
    }

    fn single(&mut self, bits: u32) -> Value {
        self.b.ins().f32const(f32::from_bits(bits))
    }

    fn address(&mut self, address: *const u8) -> Value {
        self.int(address as i64)
    }

    fn int2(&mut self, op: Int2, x: Value, y: Value) -> Value {
        let ins = self.b.ins();
        match op {
            Int2::Add => ins.iadd(x, y),
            Int2::Sub => ins.isub(x, y),
            Int2::Mul => ins.imul(x, y),
            Int2::And => ins.band(x, y),
            Int2::Or => ins.bor(x, y),
            Int2::Xor => ins.bxor(x, y),
            Int2::Shl => ins.ishl(x, y),
            Int2::Shr => ins.ushr(x, y),
            Int2::Sar => ins.sshr(x, y),
            Int2::Min => ins.smin(x, y),
            Int2::Max => ins.smax(x, y),
            Int2::Div => ins.sdiv(x, y),
            Int2::Rem => ins.srem(x, y),
        }
    }

    fn int1(&mut self, op: Int1, x: Value) -> Value {
        match op {
            Int1::Clz => self.b.ins().clz(x),
            Int1::Ctz => self.b.ins().ctz(x),
            Int1::Popcount => self.b.ins().popcnt(x),
            Int1::Bitreverse => self.b.ins().bitrev(x),
            Int1::Bswap => self.b.ins().bswap(x),
            Int1::Low(mem) => {
                let low = self.b.ins().ireduce(mem_ty(mem), x);
                self.b.ins().sextend(I64, low)
            }
        }
    }

    fn float2(&mut self, op: Float2, x: Value, y: Value) -> Value {
        let ins = self.b.ins();
        match op {
            Float2::Add => ins.fadd(x, y),
            Float2::Sub => ins.fsub(x, y),
            Float2::Mul => ins.fmul(x, y),
            Float2::Div => ins.fdiv(x, y),
            Float2::Min => ins.fmin(x, y),
            Float2::Max => ins.fmax(x, y),
            Float2::Copysign => ins.fcopysign(x, y),
        }
    }

    fn float1(&mut self, op: Float1, x: Value) -> Value {
        let ins = self.b.ins();
        match op {
            Float1::Neg => ins.fneg(x),
            Float1::Abs => ins.fabs(x),
            Float1::Sqrt => ins.sqrt(x),
            Float1::Floor => ins.floor(x),
            Float1::Ceil => ins.ceil(x),
            Float1::Trunc => ins.trunc(x),
            Float1::Round => ins.nearest(x),
        }
    }

    fn fma(&mut self, x: Value, y: Value, z: Value) -> Value {
        self.b.ins().fma(x, y, z)
    }

    fn cast(&mut self, op: Cast, x: Value) -> Value {
        let no_flags = MemFlagsData::new();
        match op {
            Cast::IntToDouble => self.b.ins().fcvt_from_sint(F64, x),
            Cast::IntToSingle => self.b.ins().fcvt_from_sint(F32, x),
            Cast::DoubleToInt => self.b.ins().fcvt_to_sint_sat(I64, x),
            Cast::SingleToDouble => self.b.ins().fpromote(F64, x),
            Cast::DoubleToSingle => self.b.ins().fdemote(F32, x),
            Cast::BitsOfDouble => self.b.ins().bitcast(I64, no_flags, x),
            Cast::DoubleOfBits => self.b.ins().bitcast(F64, no_flags, x),
            Cast::BitsOfSingle => {
                let bits = self.b.ins().bitcast(I32, no_flags, x);
                self.b.ins().sextend(I64, bits)
            }
            Cast::SingleOfBits => {
                let bits = self.b.ins().ireduce(I32, x);
                self.b.ins().bitcast(F32, no_flags, bits)
            }
        }
    }

    fn int_cmp(&mut self, op: IntCmp, x: Value, y: Value) -> Value {
        let cc = match op {
            IntCmp::Eq => IntCC::Equal,
            IntCmp::Ne => IntCC::NotEqual,
            IntCmp::Lt => IntCC::SignedLessThan,
            IntCmp::Le => IntCC::SignedLessThanOrEqual,
            IntCmp::Below => IntCC::UnsignedLessThan,
            IntCmp::AboveOrEq => IntCC::UnsignedGreaterThanOrEqual,
        };
        self.b.ins().icmp(cc, x, y)
    }

    fn float_cmp(&mut self, op: FloatCmp, x: Value, y: Value) -> Value {
        let cc = match op {
            FloatCmp::Eq => FloatCC::Equal,
            FloatCmp::Ne => FloatCC::NotEqual,
            FloatCmp::Lt => FloatCC::LessThan,
            FloatCmp::Le => FloatCC::LessThanOrEqual,
        };
        self.b.ins().fcmp(cc, x, y)
    }

    fn flag(&mut self, flag: Value) -> Value {
        self.b.ins().uextend(I64, flag)
    }

    fn and(&mut self, x: Value, y: Value) -> Value {
        self.b.ins().band(x, y)
    }

    fn select(&mut self, flag: Value, x: Value, y: Value) -> Value {
        self.b.ins().select(flag, x, y)
    }

    fn offset(&mut self, address: Value, bytes: i64) -> Value {
        if bytes == 0 {
            return address;
        }
        let bytes = self.int(bytes);
        self.b.ins().iadd(address, bytes)
    }

    fn element(&mut self, address: Value, index: Value, size: i64) -> Value {
        let shift = self.int(i64::from(size.trailing_zeros()));
        let bytes = self.b.ins().ishl(index, shift);
        self.b.ins().iadd(address, bytes)
    }

    fn load(&mut self, mem: Mem, area: Area, address: Value, at: i32) -> Value {
        let flags = self.flags(area);
        let x = self.b.ins().load(mem_ty(mem), flags, address, at);
        match mem {
            Mem::I8 | Mem::I16 | Mem::I32 => self.b.ins().sextend(I64, x),
            _ => x,
        }
    }

    fn store(&mut self, mem: Mem, area: Area, address: Value, at: i32, value: Value) {
        let flags = self.flags(area);
        let value = match mem {
            Mem::I8 | Mem::I16 | Mem::I32 => self.b.ins().ireduce(mem_ty(mem), value),
            _ => value,
        };
        self.b.ins().store(flags, value, address, at);
    }

    fn call(&mut self, function: &Function, args: &[Value]) -> Option<Value> {
        let (b, default) = (&mut self.b, self.default);
        let sig = self.functions.entry((function.params, function.result)).or_insert_with(|| {
            let mut sig = Sig::new(default);
            sig.params.extend(function.params.iter().map(|&arg| AbiParam::new(arg_ty(arg))));
            sig.returns.extend(function.result.map(|arg| AbiParam::new(arg_ty(arg))));
            b.import_signature(sig)
        });
        let sig = *sig;
        let address = self.address(function.address);
        let call = self.b.ins().call_indirect(sig, address, args);
        self.b.inst_results(call).first().copied()
    }

    fn call_compiled(&mut self, callee: Callee, args: &[Value]) -> (Option<Value>, Value) {
        let call = match callee.target {
            Target::Member(index) => {
                let body = match self.members.get(&index) {
                    Some(&body) => body,
                    None => {
                        let body = self.bodies[index as usize];
                        let body = self.module.declare_func_in_func(body, self.b.func);
                        self.members.insert(index, body);
                        body
                    }
                };
                self.b.ins().call(body, args)
            }
            Target::Address(address) => {
                let mut sig = Sig::new(self.convention);
                let types = args.iter().map(|&arg| AbiParam::new(self.b.func.dfg.value_type(arg)));
                sig.params.extend(types);
                sig.returns.extend(callee.result.map(|result| AbiParam::new(ty(result.class()))));
                sig.returns.push(AbiParam::new(I64));
                let sig = self.b.import_signature(sig);
                let address = self.address(address);
                self.b.ins().call_indirect(sig, address, args)
            }
        };
        match *self.b.inst_results(call) {
            [result, status] => (Some(result), status),
            ref results => (None, results[0]),
        }
    }

    fn stack_pointer(&mut self) -> Value {
        self.b.ins().get_stack_pointer(I64)
    }

    fn jump(&mut self, to: Block) {
        self.b.ins().jump(to, &[]);
    }

    fn branch(&mut self, flag: Value, then: Block, otherwise: Block) {
        self.b.ins().brif(flag, then, &[], otherwise, &[]);
    }

    fn switch(&mut self, value: Value, cases: &[(u64, Block)], default: Block) {
        let mut switch = Switch::new();
        for &(case, block) in cases {
            switch.set_entry(case.into(), block);
        }
        switch.emit(&mut self.b, value, default);
    }

    fn ret(&mut self, result: Option<Value>, status: Value) {
        match result {
            Some(result) => self.b.ins().return_(&[result, status]),
            None => self.b.ins().return_(&[status]),
        };
    }
}
