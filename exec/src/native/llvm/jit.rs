//! Machine code from LLVM IR text, in memory.

use std::ffi::{CStr, CString, c_int};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashSet;

use super::super::unit::MachineCode;
use super::library::{Llvm, Object, SymbolAddress, SymbolFlags, Text};

/// The effort that goes into code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effort {
    /// For code that is long and runs once through.
    Little,
    Full,
}

impl Effort {
    fn passes(self) -> &'static CStr {
        match self {
            Self::Little => c"function(mem2reg,instcombine<no-verify-fixpoint>,simplifycfg)",
            Self::Full => c"default<O3>",
        }
    }

    /// The level of the code generator.
    fn level(self) -> c_int {
        match self {
            Self::Little => 1,
            Self::Full => 3,
        }
    }
}

/// Position-independent code, which other code and data may be far from.
const RELOCATIONS: c_int = 2;
/// The usual distances of code in memory.
const CODE_MODEL: c_int = 1;
/// Kinds of files of the code generator.
const ASSEMBLY: c_int = 0;
const OBJECT: c_int = 1;
/// A symbol that others see, and one that is called.
const EXPORTED: u8 = 1;
const CALLABLE: u8 = 4;

/// The CPU that code is for, with all its features.
pub(super) struct Target {
    llvm: &'static Llvm,
    triple: CString,
    /// One for each effort.
    little: Object,
    full: Object,
}

impl Target {
    /// # Errors
    /// If there is no library, or if it has no code generator for this system.
    pub(super) fn new() -> Result<Self, String> {
        let llvm = Llvm::get()?;
        // SAFETY: texts and objects are given to the functions that LLVM made them for.
        unsafe {
            let triple = owned(llvm, (llvm.default_triple)());
            let (cpu, features) = ((llvm.host_cpu)(), (llvm.host_features)());
            let (mut target, mut error) = (null_mut(), null_mut());
            if (llvm.target_of_triple)(triple.as_ptr(), &raw mut target, &raw mut error) != 0 {
                return Err(owned(llvm, error).to_string_lossy().into_owned());
            }
            let machine = |effort: Effort| {
                let (level, triple) = (effort.level(), triple.as_ptr());
                let make = llvm.create_machine;
                make(target, triple, cpu, features, level, RELOCATIONS, CODE_MODEL)
            };
            let (little, full) = (machine(Effort::Little), machine(Effort::Full));
            (llvm.dispose_message)(cpu);
            (llvm.dispose_message)(features);
            if little.is_null() || full.is_null() {
                return Err("LLVM has no code generator for this machine".to_owned());
            }
            Ok(Self { llvm, triple, little, full })
        }
    }

    fn machine(&self, effort: Effort) -> Object {
        match effort {
            Effort::Little => self.little,
            Effort::Full => self.full,
        }
    }

    /// Reads a module, and runs the passes on it.
    pub(super) fn optimized(&self, text: &str, effort: Effort) -> Result<Module, String> {
        let llvm = self.llvm;
        // SAFETY: texts and objects are given to the functions that LLVM made them for. Parsing takes
        // the buffer.
        unsafe {
            let context = (llvm.create_context)();
            let buffer = (llvm.create_buffer)(text.as_ptr().cast(), text.len(), c"unit".as_ptr());
            let (mut module, mut error) = (null_mut(), null_mut());
            if (llvm.parse)(context, buffer, &raw mut module, &raw mut error) != 0 {
                (llvm.dispose_context)(context);
                return Err(owned(llvm, error).to_string_lossy().into_owned());
            }
            let module = Module { llvm, context, module };
            if cfg!(debug_assertions) {
                let mut error = null_mut();
                let wrong = (llvm.verify)(module.module, 2, &raw mut error) != 0;
                let error = owned(llvm, error);
                if wrong {
                    return Err(error.to_string_lossy().into_owned());
                }
            }
            let machine = self.machine(effort);
            let layout = (llvm.create_layout)(machine);
            (llvm.set_triple)(module.module, self.triple.as_ptr());
            (llvm.set_layout)(module.module, layout);
            (llvm.dispose_layout)(layout);
            let options = (llvm.create_pass_options)();
            let passes = effort.passes().as_ptr();
            let failed = (llvm.run_passes)(module.module, passes, machine, options);
            (llvm.dispose_pass_options)(options);
            check(llvm, failed)?;
            Ok(module)
        }
    }

    /// The machine code of a module as a file in memory.
    fn emit(&self, module: &Module, effort: Effort, kind: c_int) -> Result<Buffer, String> {
        let llvm = self.llvm;
        let (mut error, mut buffer) = (null_mut(), null_mut());
        // SAFETY: the objects are LLVM's, and the module is of this target.
        unsafe {
            let machine = self.machine(effort);
            let emit = llvm.emit;
            if emit(machine, module.module, kind, &raw mut error, &raw mut buffer) != 0 {
                return Err(owned(llvm, error).to_string_lossy().into_owned());
            }
        }
        Ok(Buffer { llvm, buffer })
    }

    /// The machine code of a module as text.
    pub(super) fn assembly(&self, module: &Module, effort: Effort) -> Result<String, String> {
        Ok(String::from_utf8_lossy(self.emit(module, effort, ASSEMBLY)?.bytes()).into_owned())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // SAFETY: nobody uses them any more.
        unsafe {
            (self.llvm.dispose_machine)(self.little);
            (self.llvm.dispose_machine)(self.full);
        }
    }
}

/// A module, and the context that it is in.
pub(super) struct Module {
    llvm: &'static Llvm,
    context: Object,
    module: Object,
}

impl Module {
    pub(super) fn text(&self) -> String {
        // SAFETY: the module is LLVM's.
        let text = unsafe { owned(self.llvm, (self.llvm.print)(self.module)) };
        text.to_string_lossy().into_owned()
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: nobody uses them any more.
        unsafe {
            (self.llvm.dispose_module)(self.module);
            (self.llvm.dispose_context)(self.context);
        }
    }
}

/// A file in memory.
struct Buffer {
    llvm: &'static Llvm,
    buffer: Object,
}

impl Buffer {
    fn bytes(&self) -> &[u8] {
        // SAFETY: LLVM says where the bytes begin and how many they are.
        unsafe {
            let start = (self.llvm.buffer_start)(self.buffer).cast::<u8>();
            std::slice::from_raw_parts(start, (self.llvm.buffer_size)(self.buffer))
        }
    }

    /// The buffer, for a function that takes it.
    fn into_raw(self) -> Object {
        let buffer = self.buffer;
        std::mem::forget(self);
        buffer
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more.
        unsafe { (self.llvm.dispose_buffer)(self.buffer) };
    }
}

/// Machine code in memory.
pub(super) struct Jit {
    llvm: &'static Llvm,
    jit: Object,
    /// The functions of ours that it knows by name.
    known: Mutex<FxHashSet<String>>,
}

// SAFETY: sessions of ORC may be used by several threads at once: they have locks.
unsafe impl Send for Jit {}
// SAFETY: as above.
unsafe impl Sync for Jit {}

impl Jit {
    pub(super) fn new(target: &Target) -> Result<Self, String> {
        let llvm = target.llvm;
        // SAFETY: objects are given to the functions that LLVM made them for; the builders take
        // what they are given.
        unsafe {
            let triple = target.triple.as_ptr();
            let (mut of, mut error) = (null_mut(), null_mut());
            if (llvm.target_of_triple)(triple, &raw mut of, &raw mut error) != 0 {
                return Err(owned(llvm, error).to_string_lossy().into_owned());
            }
            let (level, empty) = (Effort::Full.level(), c"".as_ptr());
            let machine =
                (llvm.create_machine)(of, triple, empty, empty, level, RELOCATIONS, CODE_MODEL);
            let builder = (llvm.create_jit_builder)();
            (llvm.set_machine_builder)(builder, (llvm.machine_builder)(machine));
            let mut jit = null_mut();
            check(llvm, (llvm.create_jit)(&raw mut jit, builder))?;
            let this = Self { llvm, jit, known: Mutex::default() };
            // What the code generator calls, such as `memset`, is in the process.
            let (mut generator, prefix) = (null_mut(), (llvm.global_prefix)(jit));
            let find = llvm.process_symbols;
            check(llvm, find(&raw mut generator, prefix, null_mut(), null_mut()))?;
            (llvm.add_generator)((llvm.main_library)(jit), generator);
            Ok(this)
        }
    }

    /// Makes functions of ours known.
    fn define(&self, functions: &[(String, *const u8)]) -> Result<(), String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut symbols = Vec::new();
        for (name, address) in functions {
            if !known.insert(name.clone()) {
                continue;
            }
            let name = CString::new(&**name).map_err(|error| error.to_string())?;
            // SAFETY: the name is a text.
            let name = unsafe { (self.llvm.intern)(self.jit, name.as_ptr()) };
            let flags = SymbolFlags { generic: EXPORTED | CALLABLE, target: 0 };
            let address = address.addr() as u64;
            symbols.push(SymbolAddress { name, address, flags });
        }
        if symbols.is_empty() {
            return Ok(());
        }
        // SAFETY: the library takes the symbols.
        unsafe {
            let all = (self.llvm.absolute_symbols)(symbols.as_mut_ptr(), symbols.len());
            check(self.llvm, (self.llvm.define)((self.llvm.main_library)(self.jit), all))
        }
    }

    /// Adds the machine code of a module, which calls these functions of ours.
    pub(super) fn add(
        self: &Arc<Self>,
        target: &Target,
        module: &Module,
        effort: Effort,
        functions: &[(String, *const u8)],
    ) -> Result<Memory, String> {
        self.define(functions)?;
        let object = target.emit(module, effort, OBJECT)?;
        // SAFETY: the objects are LLVM's; adding takes the file.
        unsafe {
            let tracker = (self.llvm.create_tracker)((self.llvm.main_library)(self.jit));
            let memory = Memory { jit: Arc::clone(self), tracker };
            check(self.llvm, (self.llvm.add_object)(self.jit, tracker, object.into_raw()))?;
            Ok(memory)
        }
    }

    /// The address of a function.
    pub(super) fn address(&self, name: &str) -> Result<*const u8, String> {
        let name = CString::new(name).map_err(|error| error.to_string())?;
        let mut address = 0;
        // SAFETY: the name is a text, and the address has a place.
        check(self.llvm, unsafe { (self.llvm.lookup)(self.jit, &raw mut address, name.as_ptr()) })?;
        Ok(std::ptr::with_exposed_provenance(address as usize))
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        // SAFETY: all code of it is gone. There is nobody to tell an error.
        let _ = check(self.llvm, unsafe { (self.llvm.dispose_jit)(self.jit) });
    }
}

/// The memory of the code of a unit.
pub(super) struct Memory {
    jit: Arc<Jit>,
    tracker: Object,
}

// SAFETY: a tracker is an object of a session, which any thread may use.
unsafe impl Send for Memory {}

impl MachineCode for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        let llvm = self.jit.llvm;
        // SAFETY: a unit is dropped when nothing runs, and nothing calls its code any more.
        unsafe {
            let _ = check(llvm, (llvm.remove_tracker)(self.tracker));
            (llvm.release_tracker)(self.tracker);
        }
    }
}

/// A text of LLVM's as one of ours.
///
/// # Safety
/// It is one that is to be disposed, or null.
unsafe fn owned(llvm: &Llvm, text: Text) -> CString {
    if text.is_null() {
        return CString::default();
    }
    // SAFETY: as above.
    unsafe {
        let copy = CStr::from_ptr(text).to_owned();
        (llvm.dispose_message)(text);
        copy
    }
}

/// The message of an error of LLVM's, if it is one.
fn check(llvm: &Llvm, error: Object) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: asking for the message takes the error.
    unsafe {
        let text = (llvm.error_message)(error);
        let message = CStr::from_ptr(text).to_string_lossy().into_owned();
        (llvm.dispose_error_message)(text);
        Err(message)
    }
}
