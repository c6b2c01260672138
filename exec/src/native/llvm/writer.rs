//! Writes the body of a function as LLVM IR text.
//!
//! Registers are places on the stack, which LLVM takes to SSA form.

use std::fmt::{self, Display};

use regraft_dialects::attrs::is_fast;

use super::super::emitter::{
    Address, Area, Cast, Emitter, FRAME_PARAMS, Float1, Float2, FloatCmp, Function, Int1, Int2,
    IntCmp, Mem,
};
use super::super::emitter::{Callee, Target};
use super::super::source::Source;
use super::areas::{HEADER, area_metadata};
use super::shared::{Shared, put, returned};
use super::value::{Type, Value, mem_type};
use crate::interp::Reg;

/// An upper limit of all lengths.
const LENGTHS: u64 = 1 << 60;

/// The branch weight of a block beside a cold one, which has 1.
const ODDS: u32 = 2000;

/// A value of type `i1`.
#[derive(Clone, Copy)]
pub(super) struct Flag(u32);

#[derive(Clone, Copy)]
pub(super) struct Block {
    number: u32,
    cold: bool,
}

impl Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.number)
    }
}

pub(super) struct Writer<'a> {
    text: &'a mut String,
    shared: &'a mut Shared,
    /// The types of the scalar parameters.
    params: Vec<Type>,
    result: Option<Type>,
    regs: Vec<Type>,
    /// True if floats follow the algebra of real numbers.
    is_fast: bool,
    /// The values of registers that are known in this block.
    known: Vec<Option<Value>>,
    /// The values of registers that are known in all blocks.
    fixed: Vec<Option<Value>>,
    locals: u32,
    blocks: u32,
    in_cold: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        text: &'a mut String,
        shared: &'a mut Shared,
        member: Source<'_>,
        params: Vec<Type>,
        result: Option<Type>,
    ) -> Self {
        let mut regs: Vec<Type> = member.code.classes.iter().map(|&class| class.into()).collect();
        // The position of an error.
        regs.push(Type::Int);
        shared.scopes.begin();
        text.push_str("start:\n");
        for (number, ty) in regs.iter().enumerate() {
            put(text, format_args!("  %r{number} = alloca {ty}\n"));
        }
        let known = vec![None; regs.len()];
        let fixed = known.clone();
        Self {
            text,
            shared,
            params,
            result,
            regs,
            is_fast: is_fast(member.f),
            known,
            fixed,
            locals: 0,
            blocks: 0,
            in_cold: false,
        }
    }

    fn line(&mut self, args: fmt::Arguments<'_>) {
        put(self.text, format_args!("  {args}\n"));
    }

    /// Writes an instruction that has a result, and gives its number.
    fn number(&mut self, args: fmt::Arguments<'_>) -> u32 {
        let number = self.locals;
        self.locals += 1;
        put(self.text, format_args!("  %{number} = {args}\n"));
        number
    }

    fn op(&mut self, ty: Type, args: fmt::Arguments<'_>) -> Value {
        Value::Local(self.number(args), ty)
    }

    /// A value as one of that type: addresses are integers, and the other way round.
    fn as_type(&mut self, value: Value, ty: Type) -> Value {
        match (value.ty(), ty) {
            (Type::Ptr, Type::Int) => self.op(ty, format_args!("ptrtoint ptr {value} to i64")),
            (Type::Int, Type::Ptr) => self.op(ty, format_args!("inttoptr i64 {value} to ptr")),
            _ => value,
        }
    }

    /// The flags of the algebra of real numbers; NaN and infinities stay what they are.
    fn flags(&self) -> &'static str {
        if self.is_fast { "reassoc nsz arcp contract " } else { "" }
    }

    /// Calls an intrinsic function whose operands are of the type of its result, and whose name ends in that.
    fn intrinsic(&mut self, name: &str, flags: &str, args: &[Value], more: &str) -> Value {
        let ty = args[0].ty();
        let full = format!("llvm.{name}.{}", ty.suffix());
        let (mut types, mut values) = (String::new(), String::new());
        for (number, arg) in args.iter().enumerate() {
            let separator = if number == 0 { "" } else { ", " };
            put(&mut types, format_args!("{separator}{ty}"));
            put(&mut values, format_args!("{separator}{ty} {arg}"));
        }
        if !more.is_empty() {
            types.push_str(", i1");
            values.push_str(more);
        }
        let declaration = || format!("declare {ty} @{full}({types})");
        self.shared.intrinsics.entry(full.clone()).or_insert_with(declaration);
        self.op(ty, format_args!("call {flags}{ty} @{full}({values})"))
    }

    /// An address in the memory of this process.
    fn absolute(&mut self, address: *const u8) -> Value {
        if !self.shared.style.named_addresses {
            return Value::Address(address.addr());
        }
        let addresses = &mut self.shared.addresses;
        let known = addresses.iter().position(|&other| other == address);
        Value::Named(known.unwrap_or_else(|| {
            addresses.push(address);
            addresses.len() - 1
        }))
    }

    /// The address of a place in an object.
    fn place(&mut self, address: Value, at: i32) -> Value {
        let address = self.as_type(address, Type::Ptr);
        if at == 0 {
            return address;
        }
        self.op(Type::Ptr, format_args!("getelementptr inbounds i8, ptr {address}, i64 {at}"))
    }

    /// The metadata of an access to an area.
    fn metadata(&mut self, area: Area) -> String {
        let mut text = format!("!tbaa !{}", area_metadata(area));
        if let Area::Scope(_, scope) = area
            && let Some((own, others)) = self.shared.scopes.lists(scope)
        {
            put(&mut text, format_args!(", !alias.scope !{own}, !noalias !{others}"));
        }
        text
    }

    /// The arguments of a call.
    fn args(&mut self, types: impl Iterator<Item = Type>, args: &[Value]) -> String {
        let mut list = String::new();
        for (number, (ty, &arg)) in types.zip(args).enumerate() {
            let arg = self.as_type(arg, ty);
            let separator = if number == 0 { "" } else { ", " };
            put(&mut list, format_args!("{separator}{ty} {arg}"));
        }
        list
    }

    fn cold(&self) -> &'static str {
        if self.in_cold { " cold" } else { "" }
    }
}

impl Emitter for Writer<'_> {
    type Value = Value;
    type Flag = Flag;
    type Block = Block;

    fn param(&mut self, index: usize) -> Value {
        let ty = index.checked_sub(FRAME_PARAMS).map_or(Type::Ptr, |index| self.params[index]);
        Value::Param(index as u32, ty)
    }

    fn block(&mut self, cold: bool) -> Block {
        self.blocks += 1;
        Block { number: self.blocks - 1, cold }
    }

    fn enter(&mut self, block: Block) {
        put(self.text, format_args!("{block}:\n"));
        self.known.clone_from(&self.fixed);
        self.in_cold = block.cold;
    }

    fn read(&mut self, reg: Reg) -> Value {
        if let Some(value) = self.known[reg as usize] {
            return value;
        }
        let ty = self.regs[reg as usize];
        let value = self.op(ty, format_args!("load {ty}, ptr %r{reg}"));
        self.known[reg as usize] = Some(value);
        value
    }

    fn write(&mut self, reg: Reg, value: Value) {
        let ty = self.regs[reg as usize];
        let value = self.as_type(value, ty);
        self.line(format_args!("store {ty} {value}, ptr %r{reg}"));
        self.known[reg as usize] = Some(value);
    }

    fn fix(&mut self, reg: Reg, value: Value) {
        let value = self.as_type(value, self.regs[reg as usize]);
        self.fixed[reg as usize] = Some(value);
        self.known[reg as usize] = Some(value);
    }

    fn int(&mut self, value: i64) -> Value {
        Value::Int(value)
    }

    fn double(&mut self, bits: u64) -> Value {
        Value::Double(bits)
    }

    fn single(&mut self, bits: u32) -> Value {
        Value::Single(bits)
    }

    fn address(&mut self, address: Address<'_>) -> Value {
        self.absolute(address.pointer())
    }

    fn int2(&mut self, op: Int2, a: Value, b: Value) -> Value {
        let (a, b) = (self.as_type(a, Type::Int), self.as_type(b, Type::Int));
        let name = match op {
            Int2::Add => "add",
            Int2::Sub => "sub",
            Int2::Mul => "mul",
            Int2::And => "and",
            Int2::Or => "or",
            Int2::Xor => "xor",
            Int2::Shl => "shl",
            Int2::Shr => "lshr",
            Int2::Sar => "ashr",
            Int2::Div => "sdiv",
            Int2::Rem => "srem",
            Int2::Min => return self.intrinsic("smin", "", &[a, b], ""),
            Int2::Max => return self.intrinsic("smax", "", &[a, b], ""),
        };
        self.op(Type::Int, format_args!("{name} i64 {a}, {b}"))
    }

    fn int1(&mut self, op: Int1, a: Value) -> Value {
        match op {
            Int1::Clz => self.intrinsic("ctlz", "", &[a], ", i1 false"),
            Int1::Ctz => self.intrinsic("cttz", "", &[a], ", i1 false"),
            Int1::Popcount => self.intrinsic("ctpop", "", &[a], ""),
            Int1::Bitreverse => self.intrinsic("bitreverse", "", &[a], ""),
            Int1::Bswap => self.intrinsic("bswap", "", &[a], ""),
            Int1::Low(mem) => {
                let ty = mem_type(mem);
                let low = self.number(format_args!("trunc i64 {a} to {ty}"));
                self.op(Type::Int, format_args!("sext {ty} %{low} to i64"))
            }
        }
    }

    fn float2(&mut self, op: Float2, a: Value, b: Value) -> Value {
        let (flags, ty) = (self.flags(), a.ty());
        let name = match op {
            Float2::Add => "fadd",
            Float2::Sub => "fsub",
            Float2::Mul => "fmul",
            Float2::Div => "fdiv",
            Float2::Min => return self.intrinsic("minimum", flags, &[a, b], ""),
            Float2::Max => return self.intrinsic("maximum", flags, &[a, b], ""),
            Float2::Copysign => return self.intrinsic("copysign", "", &[a, b], ""),
        };
        self.op(ty, format_args!("{name} {flags}{ty} {a}, {b}"))
    }

    fn float1(&mut self, op: Float1, a: Value) -> Value {
        let (flags, ty) = (self.flags(), a.ty());
        let name = match op {
            Float1::Neg => return self.op(ty, format_args!("fneg {flags}{ty} {a}")),
            Float1::Abs => "fabs",
            Float1::Sqrt => "sqrt",
            Float1::Floor => "floor",
            Float1::Ceil => "ceil",
            Float1::Trunc => "trunc",
            Float1::Round => "roundeven",
        };
        self.intrinsic(name, flags, &[a], "")
    }

    fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        let flags = self.flags();
        self.intrinsic("fma", flags, &[a, b, c], "")
    }

    fn cast(&mut self, op: Cast, a: Value) -> Value {
        use Type::{Double, Int, Single};
        match op {
            Cast::IntToDouble => self.op(Double, format_args!("sitofp i64 {a} to double")),
            Cast::IntToSingle => self.op(Single, format_args!("sitofp i64 {a} to float")),
            Cast::DoubleToInt => self.op(Int, format_args!("fptosi double {a} to i64")),
            Cast::SingleToDouble => self.op(Double, format_args!("fpext float {a} to double")),
            Cast::DoubleToSingle => self.op(Single, format_args!("fptrunc double {a} to float")),
            Cast::BitsOfDouble => self.op(Int, format_args!("bitcast double {a} to i64")),
            Cast::DoubleOfBits => self.op(Double, format_args!("bitcast i64 {a} to double")),
            Cast::BitsOfSingle => {
                let bits = self.number(format_args!("bitcast float {a} to i32"));
                self.op(Int, format_args!("sext i32 %{bits} to i64"))
            }
            Cast::SingleOfBits => {
                let bits = self.number(format_args!("trunc i64 {a} to i32"));
                self.op(Single, format_args!("bitcast i32 %{bits} to float"))
            }
        }
    }

    fn int_cmp(&mut self, op: IntCmp, a: Value, b: Value) -> Flag {
        let ty = if a.ty() == b.ty() { a.ty() } else { Type::Int };
        let (a, b) = (self.as_type(a, ty), self.as_type(b, ty));
        let name = match op {
            IntCmp::Eq => "eq",
            IntCmp::Ne => "ne",
            IntCmp::Lt => "slt",
            IntCmp::Le => "sle",
            IntCmp::Below => "ult",
            IntCmp::AboveOrEq => "uge",
        };
        Flag(self.number(format_args!("icmp {name} {ty} {a}, {b}")))
    }

    fn float_cmp(&mut self, op: FloatCmp, a: Value, b: Value) -> Flag {
        let name = match op {
            FloatCmp::Eq => "oeq",
            FloatCmp::Ne => "une",
            FloatCmp::Lt => "olt",
            FloatCmp::Le => "ole",
        };
        Flag(self.number(format_args!("fcmp {name} {} {a}, {b}", a.ty())))
    }

    fn flag(&mut self, flag: Flag) -> Value {
        self.op(Type::Int, format_args!("zext i1 {flag} to i64"))
    }

    fn and(&mut self, a: Flag, b: Flag) -> Flag {
        Flag(self.number(format_args!("and i1 {a}, {b}")))
    }

    fn select(&mut self, flag: Flag, a: Value, b: Value) -> Value {
        let ty = a.ty();
        let b = self.as_type(b, ty);
        self.op(ty, format_args!("select i1 {flag}, {ty} {a}, {ty} {b}"))
    }

    fn offset(&mut self, address: Value, bytes: i64) -> Value {
        if bytes == 0 {
            return address;
        }
        let address = self.as_type(address, Type::Ptr);
        self.op(Type::Ptr, format_args!("getelementptr i8, ptr {address}, i64 {bytes}"))
    }

    fn element(&mut self, address: Value, index: Value, size: i64) -> Value {
        // One of more than a word is an array of words, whose size in memory is the sum of theirs.
        let ty = match size {
            ..=8 => format!("i{}", size * 8),
            _ => format!("[{} x i64]", size / 8),
        };
        self.op(Type::Ptr, format_args!("getelementptr inbounds {ty}, ptr {address}, i64 {index}"))
    }

    fn load(&mut self, mem: Mem, area: Area, address: Value, at: i32) -> Value {
        let address = self.place(address, at);
        let (ty, metadata) = (mem_type(mem), self.metadata(area));
        // Another thread may set the interrupt flag, so it is looked at again and again.
        if (mem, area) == (Mem::I8, Area::Context) {
            let set = self.number(format_args!(
                "load atomic i8, ptr {address} monotonic, align 1, {metadata}"
            ));
            return self.op(Type::Int, format_args!("sext i8 %{set} to i64"));
        }
        let size = mem.size();
        let length = match (mem, area_metadata(area)) {
            (Mem::I64, HEADER) => format!(", !range !{{i64 0, i64 {LENGTHS}}}, !noundef !{{}}"),
            _ => String::new(),
        };
        let loaded =
            self.number(format_args!("load {ty}, ptr {address}, align {size}, {metadata}{length}"));
        match mem {
            Mem::I8 | Mem::I16 | Mem::I32 => {
                self.op(Type::Int, format_args!("sext {ty} %{loaded} to i64"))
            }
            Mem::I64 => Value::Local(loaded, Type::Int),
            Mem::F32 => Value::Local(loaded, Type::Single),
            Mem::F64 => Value::Local(loaded, Type::Double),
            Mem::Ptr => Value::Local(loaded, Type::Ptr),
        }
    }

    fn load_object(&mut self, area: Area, address: Value, at: i32, bytes: i64) -> Value {
        let address = self.place(address, at);
        let tbaa = area_metadata(area);
        self.op(
            Type::Ptr,
            format_args!(
                "load ptr, ptr {address}, align 8, !tbaa !{tbaa}, !nonnull !{{}}, !noundef !{{}}, \
                 !dereferenceable !{{i64 {bytes}}}, !align !{{i64 8}}"
            ),
        )
    }

    fn store(&mut self, mem: Mem, area: Area, address: Value, at: i32, value: Value) {
        let address = self.place(address, at);
        let (ty, size, metadata) = (mem_type(mem), mem.size(), self.metadata(area));
        let value = match mem {
            Mem::I8 | Mem::I16 | Mem::I32 => {
                if let Value::Int(x) = value {
                    let shift = 64 - 8 * size as u32;
                    Value::Int(x << shift >> shift)
                } else {
                    let low = self.number(format_args!("trunc i64 {value} to {ty}"));
                    Value::Local(low, Type::Int)
                }
            }
            Mem::I64 => self.as_type(value, Type::Int),
            Mem::Ptr => self.as_type(value, Type::Ptr),
            Mem::F32 | Mem::F64 => value,
        };
        self.line(format_args!("store {ty} {value}, ptr {address}, align {size}, {metadata}"));
    }

    fn call(&mut self, function: &Function, args: &[Value]) -> Option<Value> {
        self.shared.functions.entry(function.name).or_insert(*function);
        let list = self.args(function.params.iter().map(|&arg| arg.into()), args);
        let (name, cold) = (function.name, self.cold());
        let Some(result) = function.result.map(Type::from) else {
            self.line(format_args!("call void @{name}({list}){cold}"));
            return None;
        };
        Some(self.op(result, format_args!("call {result} @{name}({list}){cold}")))
    }

    fn call_compiled(&mut self, callee: Callee, args: &[Value]) -> (Option<Value>, Value) {
        let result = callee.result.map(|result| Type::from(result.class()));
        let list = self.args(args.iter().map(|arg| arg.ty()), args);
        let to = match callee.target {
            Target::Member(index) => format!("@{}", self.shared.bodies[index as usize]),
            Target::Address(address) => self.absolute(address).to_string(),
            Target::Cell(cell) => {
                let cell = self.absolute(cell.cast());
                self.op(Type::Ptr, format_args!("load ptr, ptr {cell}")).to_string()
            }
        };
        let returned = returned(result);
        let call = self.number(format_args!("call {returned} {to}({list})"));
        let Some(ty) = result else { return (None, Value::Local(call, Type::Int)) };
        let result = self.op(ty, format_args!("extractvalue {returned} %{call}, 0"));
        let status = self.op(Type::Int, format_args!("extractvalue {returned} %{call}, 1"));
        (Some(result), status)
    }

    fn stack_pointer(&mut self) -> Value {
        let name = "llvm.frameaddress.p0";
        self.shared.intrinsics.insert(name.to_owned(), format!("declare ptr @{name}(i32)"));
        self.op(Type::Ptr, format_args!("call ptr @{name}(i32 0)"))
    }

    fn jump(&mut self, to: Block) {
        self.line(format_args!("br label %{to}"));
    }

    fn branch(&mut self, flag: Flag, then: Block, otherwise: Block) {
        let weights = match (then.cold, otherwise.cold) {
            (false, true) => Some((ODDS, 1)),
            (true, false) => Some((1, ODDS)),
            _ => None,
        };
        let weights = weights.map_or(String::new(), |(then, otherwise)| {
            format!(", !prof !{{!\"branch_weights\", i32 {then}, i32 {otherwise}}}")
        });
        self.line(format_args!("br i1 {flag}, label %{then}, label %{otherwise}{weights}"));
    }

    fn switch(&mut self, value: Value, cases: &[(u64, Block)], default: Block) {
        let mut list = String::new();
        for &(case, block) in cases {
            put(&mut list, format_args!(" i64 {}, label %{block}", case as i64));
        }
        self.line(format_args!("switch i64 {value}, label %{default} [{list} ]"));
    }

    fn ret(&mut self, result: Option<Value>, status: Value) {
        let (Some(value), Some(ty)) = (result, self.result) else {
            return self.line(format_args!("ret i64 {status}"));
        };
        let pair = returned(self.result);
        let with = self.number(format_args!("insertvalue {pair} poison, {ty} {value}, 0"));
        let both = self.number(format_args!("insertvalue {pair} %{with}, i64 {status}, 1"));
        self.line(format_args!("ret {pair} %{both}"));
    }
}
