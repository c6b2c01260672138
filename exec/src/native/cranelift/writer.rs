//! The emitter that builds Cranelift's IR.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I32, I64};
use cranelift_codegen::ir::{
    AbiParam, AliasRegionData, Block, FuncRef, Function as Func, Inst, InstBuilder, MemFlagsData,
    SigRef, Signature as Sig, StackSlotData, StackSlotKind, Value,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Switch, Variable};
use cranelift_module::{FuncId, Module};
use regraft_ir::Type;
use rustc_hash::FxHashMap;

use super::super::context::offsets;
use super::super::emitter::{
    Address, Area, Arg, Callee, Cast, Emitter, Float1, Float2, FloatCmp, Function, Int1, Int2,
    IntCmp, Mem, Target,
};
use super::super::references::References;
use super::types::{arg_ty, mem_ty, ty};
use crate::interp::Reg;
use crate::value::offsets::type_bits;

/// Writes the body of a function.
pub(super) struct Writer<'a, M> {
    pub(super) b: FunctionBuilder<'a>,
    pub(super) module: &'a mut M,
    pub(super) bodies: &'a [FuncId],
    pub(super) params: Vec<Value>,
    pub(super) regs: Vec<Variable>,
    /// The values of registers that only the beginning of the function writes to.
    pub(super) fixed: Vec<Option<Value>>,
    pub(super) default: CallConv,
    pub(super) convention: CallConv,
    /// The flags of accesses to memory.
    pub(super) regions: FxHashMap<Area, MemFlagsData>,
    /// The signatures of functions of ours.
    pub(super) functions: FxHashMap<(&'static [Arg], Option<Arg>), SigRef>,
    /// The functions of the unit that are called.
    pub(super) members: FxHashMap<u32, FuncRef>,
    /// The contents of the table of addresses, if code finds them there.
    pub(super) references: Option<&'a mut References>,
}

impl<M> Writer<'_, M> {
    fn flags(&mut self, area: Area) -> MemFlagsData {
        let func: &mut Func = self.b.func;
        let next = self.regions.len() as u32;
        *self.regions.entry(area).or_insert_with(|| {
            let region = AliasRegionData { user_id: next, description: format!("{area:?}").into() };
            let region = func.dfg.alias_regions.insert(region);
            MemFlagsData::trusted().with_alias_region(Some(region))
        })
    }

    /// An address in the memory of this process.
    fn absolute(&mut self, address: *const u8) -> Value {
        self.b.ins().iconst(I64, address as i64)
    }

    /// Calls a compiled function of another unit.
    fn call_elsewhere(&mut self, callee: Callee, address: Value, args: &[Value]) -> Inst {
        let mut sig = Sig::new(self.convention);
        let types = args.iter().map(|&arg| AbiParam::new(self.b.func.dfg.value_type(arg)));
        sig.params.extend(types);
        sig.returns.extend(callee.result.map(|result| AbiParam::new(ty(result.class()))));
        sig.returns.push(AbiParam::new(I64));
        let sig = self.b.import_signature(sig);
        self.b.ins().call_indirect(sig, address, args)
    }

    /// An address from the table, which never changes.
    fn referenced(&mut self, number: u32) -> Value {
        let flags = MemFlagsData::trusted().with_readonly().with_can_move();
        let table = self.b.ins().load(I64, flags, self.params[0], offsets::TABLE);
        self.b.ins().load(I64, flags, table, number as i32 * 8)
    }
}

impl<M: Module> Emitter for Writer<'_, M> {
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
        let fixed = self.fixed[reg as usize];
        fixed.unwrap_or_else(|| self.b.use_var(self.regs[reg as usize]))
    }

    fn write(&mut self, reg: Reg, value: Value) {
        self.b.def_var(self.regs[reg as usize], value);
    }

    fn fix(&mut self, reg: Reg, value: Value) {
        self.fixed[reg as usize] = Some(value);
    }

    const SETTLES: bool = true;

    fn settle(&mut self, reg: Reg) {
        let value = self.read(reg);
        let (stored, loaded) = match self.b.func.dfg.value_type(value) {
            F64 => (F64, I64),
            I64 => (I64, F64),
            _ => return,
        };
        // By way of another type, as what is loaded of the same type is what was stored.
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, stored.bytes(), 3);
        let slot = self.b.create_sized_stack_slot(slot);
        self.b.ins().stack_store(I64, value, slot, 0);
        let there = self.b.ins().stack_load(I64, loaded, slot, 0);
        let value = self.b.ins().bitcast(stored, MemFlagsData::new(), there);
        self.write(reg, value);
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

    fn address(&mut self, address: Address<'_>) -> Value {
        match &mut self.references {
            Some(references) => {
                let number = references.number_of(address);
                self.referenced(number)
            }
            None => self.absolute(address.pointer()),
        }
    }

    fn type_bits(&mut self, ty: Type) -> Option<Value> {
        self.references.is_none().then(|| self.int(type_bits(ty).into()))
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
        let bytes = match u64::try_from(size) {
            Ok(size) if size.is_power_of_two() => {
                let shift = self.int(size.trailing_zeros().into());
                self.b.ins().ishl(index, shift)
            }
            _ => {
                let size = self.int(size);
                self.b.ins().imul(index, size)
            }
        };
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
        let address = match &mut self.references {
            Some(references) => {
                let number = references.number_of_function(function);
                self.referenced(number)
            }
            None => self.absolute(function.address),
        };
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
                let address = self.absolute(address);
                self.call_elsewhere(callee, address, args)
            }
            Target::Cell(cell) => {
                let cell = self.absolute(cell.cast());
                let address = self.b.ins().load(I64, MemFlagsData::trusted(), cell, 0);
                self.call_elsewhere(callee, address, args)
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
