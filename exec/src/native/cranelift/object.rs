//! Object files: machine code that a linker puts into a program.
//!
//! Each unit has, beside its code, an [image](super::super::image) and a function with the C calling convention.
//! This function writes its arguments down as words, one after the other, and calls `regraft_call` with the
//! image, the words, and the place for the result. There is no other undefined symbol, but for what the code generator
//! takes from the C library.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, F64, I8, I16, I32, I64};
use cranelift_codegen::ir::{
    AbiParam, InstBuilder, MemFlagsData, Signature as Sig, StackSlotData, StackSlotKind, Type,
    Value,
};
use cranelift_codegen::isa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{DataDescription, DataId, FuncId, Linkage, Module, default_libcall_names};
use cranelift_object::{ObjectBuilder, ObjectModule};

use super::super::functions::Runtime;
use super::super::image::{Image, LAYOUT, VERSION, offsets};
use super::super::references::References;
use super::super::source::Source;
use super::super::translate::signature;
use super::{write_bodies, write_entry, wrong};
use crate::interp::Scalar;

/// The function that runs a unit.
const CALL: &str = "regraft_call";

/// The CPUs that code is for.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Cpu {
    /// All of the architecture of this machine.
    #[default]
    Any,
    /// CPUs that have all instructions of the one of this machine.
    Native,
}

/// A parameter of a function in C.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CParam {
    Scalar(Scalar),
    /// An address or a length.
    Word,
}

/// A word that a function in C passes on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word {
    /// A parameter, by its number. A scalar is in the form that it has in a register.
    Param(u32),
    One,
}

/// A function in C that passes its arguments on.
pub(crate) struct CEntry<'a> {
    pub(crate) name: &'a str,
    pub(crate) params: Vec<CParam>,
    pub(crate) words: Vec<Word>,
    /// True if its last parameter, behind the others, is the place for the result.
    pub(crate) has_result: bool,
}

/// An object file that is being written.
pub(crate) struct ObjectFile {
    module: ObjectModule,
}

impl ObjectFile {
    /// An empty one for this machine.
    ///
    /// # Errors
    /// If there is no back end for it.
    pub(crate) fn new(cpu: Cpu) -> Result<Self, String> {
        let cpu = match cpu {
            Cpu::Native => cranelift_native::builder().map_err(str::to_owned)?,
            Cpu::Any => {
                let native = cranelift_native::builder().map_err(str::to_owned)?;
                isa::lookup(native.triple().clone()).map_err(|error| error.to_string())?
            }
        };
        let isa = super::isa(cpu, true)?;
        let builder = ObjectBuilder::new(isa, "regraft", default_libcall_names());
        Ok(Self { module: ObjectModule::new(builder.map_err(wrong)?) })
    }

    /// Adds a unit, of which the first function is called from outside.
    ///
    /// # Errors
    /// If the back end refuses a function: it may be too large for it.
    pub(crate) fn add(
        &mut self,
        entry: &CEntry<'_>,
        members: &[Source<'_>],
        runtime: &Runtime,
        text: &str,
        hash: u64,
    ) -> Result<(), String> {
        let codes = members.iter().map(|member| member.code);
        let mut references = References::new(codes, runtime);
        let module = &mut self.module;
        let (mut context, mut frontend) = (module.make_context(), FunctionBuilderContext::new());
        let all = Some(&mut references);
        let bodies = write_bodies(module, &mut context, &mut frontend, members, all)?;
        let mut entries = Vec::with_capacity(members.len());
        for (&member, body) in members.iter().zip(bodies) {
            let signature = signature(member);
            let entry = write_entry(module, &mut context, &mut frontend, &signature, Some(body))?;
            entries.push(entry);
        }
        let image = self.image(entry.name, &references, &entries, text, hash)?;
        self.c_entry(entry, image)
    }

    /// The file.
    ///
    /// # Errors
    /// If it would be too large for its format.
    pub(crate) fn finish(self) -> Result<Vec<u8>, String> {
        self.module.finish().emit().map_err(|error| error.to_string())
    }

    fn image(
        &mut self,
        name: &str,
        references: &References,
        entries: &[FuncId],
        text: &str,
        hash: u64,
    ) -> Result<DataId, String> {
        let list = references.list();
        let words = list.iter().flat_map(|reference| reference.words());
        let words: Vec<u8> = words.flat_map(u32::to_ne_bytes).collect();
        let version = self.constant(VERSION.as_bytes(), 1)?;
        let text_data = self.constant(text.as_bytes(), 1)?;
        let references = self.constant(&words, 4)?;
        let entry_table = self.entry_table(entries)?;

        let mut bytes = vec![0; size_of::<Image>()];
        let mut put = |at: usize, word: u64| bytes[at..at + 8].copy_from_slice(&word.to_ne_bytes());
        put(offsets::LAYOUT, LAYOUT);
        put(offsets::HASH, hash);
        let parts = [
            (offsets::VERSION, version, VERSION.len()),
            (offsets::TEXT, text_data, text.len()),
            (offsets::REFERENCES, references, list.len()),
            (offsets::ENTRIES, entry_table, entries.len()),
        ];
        // Each part is a pointer, and a number behind it.
        parts.iter().for_each(|&(at, _, len)| put(at + 8, len as u64));
        let mut data = DataDescription::new();
        data.define(bytes.into_boxed_slice());
        data.set_align(8);
        for (at, part, _) in parts {
            let part = self.module.declare_data_in_data(part, &mut data);
            data.write_data_addr(at as u32, part, 0);
        }
        let name = format!("regraft_image_{name}");
        let image = self.module.declare_data(&name, Linkage::Export, true, false).map_err(wrong)?;
        self.module.define_data(image, &data).map_err(wrong)?;
        Ok(image)
    }

    /// The addresses of functions.
    fn entry_table(&mut self, entries: &[FuncId]) -> Result<DataId, String> {
        let mut data = DataDescription::new();
        data.define(vec![0; entries.len() * 8].into_boxed_slice());
        data.set_align(8);
        for (number, &entry) in entries.iter().enumerate() {
            let entry = self.module.declare_func_in_data(entry, &mut data);
            data.write_function_addr(number as u32 * 8, entry);
        }
        self.data(&data, true)
    }

    fn constant(&mut self, bytes: &[u8], align: u64) -> Result<DataId, String> {
        let mut data = DataDescription::new();
        data.define(bytes.into());
        data.set_align(align);
        self.data(&data, false)
    }

    fn data(&mut self, data: &DataDescription, is_relocated: bool) -> Result<DataId, String> {
        let id = self.module.declare_anonymous_data(is_relocated, false).map_err(wrong)?;
        self.module.define_data(id, data).map_err(wrong)?;
        Ok(id)
    }

    /// Writes the function with the C calling convention.
    fn c_entry(&mut self, entry: &CEntry<'_>, image: DataId) -> Result<(), String> {
        let module = &mut self.module;
        let convention = module.isa().default_call_conv();
        let mut sig = Sig::new(convention);
        sig.params.extend(entry.params.iter().map(|&param| AbiParam::new(c_type(param))));
        sig.params.extend(entry.has_result.then_some(AbiParam::new(I64)));
        sig.returns.push(AbiParam::new(I64));
        let mut call_sig = Sig::new(convention);
        call_sig.params.extend([AbiParam::new(I64); 3]);
        call_sig.returns.push(AbiParam::new(I64));
        let call = module.declare_function(CALL, Linkage::Import, &call_sig).map_err(wrong)?;
        let function = module.declare_function(entry.name, Linkage::Export, &sig);
        let function = function.map_err(wrong)?;

        let (mut context, mut frontend) = (module.make_context(), FunctionBuilderContext::new());
        context.func.signature = sig;
        let config = module.isa().frontend_config();
        let mut b = FunctionBuilder::new(&mut context.func, &mut frontend);
        let start = b.create_block();
        b.append_block_params_for_function_params(start);
        b.switch_to_block(start);
        let params = b.block_params(start).to_vec();
        let size = (entry.words.len() * 8) as u32;
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3);
        let slot = b.create_sized_stack_slot(slot);
        for (number, word) in (0..).zip(&entry.words) {
            let word = match *word {
                Word::One => b.ins().iconst(I64, 1),
                Word::Param(param) => {
                    let (value, kind) = (params[param as usize], entry.params[param as usize]);
                    as_word(&mut b, kind, value)
                }
            };
            b.ins().stack_store(I64, word, slot, number * 8);
        }
        let words = b.ins().stack_addr(I64, slot, 0);
        let image = module.declare_data_in_func(image, b.func);
        let image = b.ins().symbol_value(I64, image);
        let result = match params.last() {
            Some(&place) if entry.has_result => place,
            _ => b.ins().iconst(I64, 0),
        };
        let call = module.declare_func_in_func(call, b.func);
        let call = b.ins().call(call, &[image, words, result]);
        let error = b.inst_results(call)[0];
        b.ins().return_(&[error]);
        b.seal_all_blocks();
        b.finalize(config);
        module.define_function(function, &mut context).map_err(wrong)
    }
}

fn c_type(param: CParam) -> Type {
    match param {
        CParam::Word => I64,
        CParam::Scalar(ty) => match ty {
            Scalar::Bool | Scalar::I8 => I8,
            Scalar::I16 => I16,
            Scalar::I32 => I32,
            Scalar::I64 => I64,
            Scalar::F32 => F32,
            Scalar::F64 => F64,
        },
    }
}

/// A parameter as a word.
fn as_word(b: &mut FunctionBuilder<'_>, param: CParam, value: Value) -> Value {
    let CParam::Scalar(ty) = param else { return value };
    match ty {
        Scalar::Bool => {
            let is_true = b.ins().icmp_imm_s(IntCC::NotEqual, value, 0);
            b.ins().uextend(I64, is_true)
        }
        Scalar::I8 | Scalar::I16 | Scalar::I32 => b.ins().sextend(I64, value),
        Scalar::F32 => {
            let bits = b.ins().bitcast(I32, MemFlagsData::new(), value);
            b.ins().uextend(I64, bits)
        }
        Scalar::I64 | Scalar::F64 => value,
    }
}
