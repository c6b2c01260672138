//! LLVM's library, loaded at run time, and the functions of its C interface.
//!
//! It is looked for in this order, and the first that fits is taken:
//! 1. the file or folder that the variable `REGRAFT_LLVM` names, and no other then;
//! 2. those of Rust toolchains;
//! 3. those of the system.

use std::env;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use libloading::Library;

/// The variable that names the library.
const VARIABLE: &str = "REGRAFT_LLVM";

/// The first version that does: those before it lack functions, passes, and the least and the greatest of floats as
/// IEEE 754 has them.
const FIRST: u32 = 18;
/// The versions that are looked for by name.
const VERSIONS: RangeInclusive<u32> = FIRST..=29;

/// The end of a message about an old library.
const OLD: &str = "version 18 or later would do";

/// A pointer to an object of LLVM.
pub(super) type Object = *mut c_void;
/// A text that LLVM gives.
pub(super) type Text = *mut c_char;

/// A name and an address, as `LLVMOrcCSymbolMapPair`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct SymbolAddress {
    pub(super) name: Object,
    pub(super) address: u64,
    pub(super) flags: SymbolFlags,
}

/// The kind of a symbol, as `LLVMJITSymbolFlags`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct SymbolFlags {
    pub(super) generic: u8,
    pub(super) target: u8,
}

macro_rules! functions {
    ($($name:ident = $symbol:literal: fn($($arg:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of the library.
        pub(super) struct Llvm {
            $(pub(super) $name: unsafe extern "C" fn($($arg),*) $(-> $result)?,)*
        }

        impl Llvm {
            /// The functions of a library, or the name of one that it does not have.
            fn of(library: &Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($name: {
                        // SAFETY: LLVM declares the function so.
                        let symbol = unsafe {
                            library.get::<unsafe extern "C" fn($($arg),*) $(-> $result)?>(
                                concat!($symbol, "\0").as_bytes(),
                            )
                        };
                        *symbol.map_err(|_| $symbol)?
                    },)*
                })
            }
        }
    };
}

functions! {
    version = "LLVMGetVersion": fn(*mut c_uint, *mut c_uint, *mut c_uint);
    parse_options = "LLVMParseCommandLineOptions": fn(c_int, *const *const c_char, *const c_char);
    dispose_message = "LLVMDisposeMessage": fn(Text);
    error_message = "LLVMGetErrorMessage": fn(Object) -> Text;
    dispose_error_message = "LLVMDisposeErrorMessage": fn(Text);

    default_triple = "LLVMGetDefaultTargetTriple": fn() -> Text;
    host_cpu = "LLVMGetHostCPUName": fn() -> Text;
    host_features = "LLVMGetHostCPUFeatures": fn() -> Text;
    target_of_triple = "LLVMGetTargetFromTriple": fn(*const c_char, *mut Object, *mut Text) -> c_int;
    create_machine = "LLVMCreateTargetMachine":
        fn(Object, *const c_char, *const c_char, *const c_char, c_int, c_int, c_int) -> Object;
    dispose_machine = "LLVMDisposeTargetMachine": fn(Object);
    create_layout = "LLVMCreateTargetDataLayout": fn(Object) -> Object;
    dispose_layout = "LLVMDisposeTargetData": fn(Object);

    create_context = "LLVMContextCreate": fn() -> Object;
    dispose_context = "LLVMContextDispose": fn(Object);
    create_buffer = "LLVMCreateMemoryBufferWithMemoryRangeCopy":
        fn(*const c_char, usize, *const c_char) -> Object;
    dispose_buffer = "LLVMDisposeMemoryBuffer": fn(Object);
    buffer_start = "LLVMGetBufferStart": fn(Object) -> *const c_char;
    buffer_size = "LLVMGetBufferSize": fn(Object) -> usize;
    parse = "LLVMParseIRInContext": fn(Object, Object, *mut Object, *mut Text) -> c_int;
    verify = "LLVMVerifyModule": fn(Object, c_int, *mut Text) -> c_int;
    print = "LLVMPrintModuleToString": fn(Object) -> Text;
    dispose_module = "LLVMDisposeModule": fn(Object);
    set_triple = "LLVMSetTarget": fn(Object, *const c_char);
    set_layout = "LLVMSetModuleDataLayout": fn(Object, Object);
    create_pass_options = "LLVMCreatePassBuilderOptions": fn() -> Object;
    dispose_pass_options = "LLVMDisposePassBuilderOptions": fn(Object);
    run_passes = "LLVMRunPasses": fn(Object, *const c_char, Object, Object) -> Object;
    emit = "LLVMTargetMachineEmitToMemoryBuffer":
        fn(Object, Object, c_int, *mut Text, *mut Object) -> c_int;

    create_jit_builder = "LLVMOrcCreateLLJITBuilder": fn() -> Object;
    set_machine_builder = "LLVMOrcLLJITBuilderSetJITTargetMachineBuilder": fn(Object, Object);
    machine_builder = "LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine":
        fn(Object) -> Object;
    create_jit = "LLVMOrcCreateLLJIT": fn(*mut Object, Object) -> Object;
    dispose_jit = "LLVMOrcDisposeLLJIT": fn(Object) -> Object;
    main_library = "LLVMOrcLLJITGetMainJITDylib": fn(Object) -> Object;
    global_prefix = "LLVMOrcLLJITGetGlobalPrefix": fn(Object) -> c_char;
    process_symbols = "LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess":
        fn(*mut Object, c_char, Object, Object) -> Object;
    add_generator = "LLVMOrcJITDylibAddGenerator": fn(Object, Object);
    intern = "LLVMOrcLLJITMangleAndIntern": fn(Object, *const c_char) -> Object;
    absolute_symbols = "LLVMOrcAbsoluteSymbols": fn(*mut SymbolAddress, usize) -> Object;
    define = "LLVMOrcJITDylibDefine": fn(Object, Object) -> Object;
    create_tracker = "LLVMOrcJITDylibCreateResourceTracker": fn(Object) -> Object;
    remove_tracker = "LLVMOrcResourceTrackerRemove": fn(Object) -> Object;
    release_tracker = "LLVMOrcReleaseResourceTracker": fn(Object);
    add_object = "LLVMOrcLLJITAddObjectFileWithRT": fn(Object, Object, Object) -> Object;
    lookup = "LLVMOrcLLJITLookup": fn(Object, *mut u64, *const c_char) -> Object;
}

/// The name that LLVM has for the CPUs of this kind.
const TARGET: Option<&str> = if cfg!(target_arch = "x86_64") {
    Some("X86")
} else if cfg!(target_arch = "aarch64") {
    Some("AArch64")
} else {
    None
};

/// The switches of LLVM, which all versions from [`FIRST`] on have.
const SWITCHES: [&CStr; 6] = [
    c"regraft",
    // Sums stay in order when loops become vectors.
    c"-force-ordered-reductions",
    // Induction variables stay as they are, which takes a third of the time and costs nothing.
    c"-disable-lsr",
    // Adjoints of loops over matrices add to many columns, which only tests of addresses tell apart.
    c"-runtime-memory-check-threshold=128",
    // Tests stay before the loop: the columns of one iteration of a loop around it are often those of another one.
    c"-hoist-runtime-checks=false",
    // What is left of a vector loop is one of half as many lanes first.
    c"-epilogue-vectorization-minimum-VF=8",
];

impl Llvm {
    /// The library of this process.
    ///
    /// # Errors
    /// If there is none that fits, with all that were tried.
    pub(super) fn get() -> Result<&'static Self, String> {
        static LIBRARY: OnceLock<Result<Llvm, String>> = OnceLock::new();
        LIBRARY.get_or_init(Self::find).as_ref().map_err(Clone::clone)
    }

    fn find() -> Result<Self, String> {
        let Some(target) = TARGET else {
            return Err("there is no LLVM back end for this CPU".to_owned());
        };
        let mut tried = Vec::new();
        let mut attempt = |files: Vec<PathBuf>| {
            files.into_iter().find_map(|file| match Self::load(&file, target) {
                Ok(llvm) => Some(llvm),
                Err(why) => {
                    tried.push(format!("{}: {why}", file.display()));
                    None
                }
            })
        };
        let found = match env::var_os(VARIABLE) {
            Some(named) => attempt(named_files(Path::new(&named))),
            None => attempt(toolchain_files())
                .or_else(|| attempt(compiler_files()))
                .or_else(|| attempt(system_files())),
        };
        found.ok_or_else(|| message(&tried))
    }

    /// Loads a library, which stays until the process ends.
    fn load(file: &Path, target: &str) -> Result<Self, String> {
        // SAFETY: what LLVM does when it is loaded has no conditions.
        let library = unsafe { Library::new(file) }.map_err(|error| {
            let reason = std::error::Error::source(&error);
            reason.map_or_else(|| error.to_string(), ToString::to_string)
        })?;
        let llvm = Self::of(&library).map_err(|name| format!("it has no {name}; {OLD}"))?;
        let (mut major, mut minor, mut patch) = (0, 0, 0);
        // SAFETY: the arguments are places for numbers.
        unsafe { (llvm.version)(&raw mut major, &raw mut minor, &raw mut patch) };
        if major < FIRST {
            return Err(format!("it is version {major}.{minor}.{patch}; {OLD}"));
        }
        for part in ["TargetInfo", "Target", "TargetMC", "AsmPrinter"] {
            let name = format!("LLVMInitialize{target}{part}\0");
            // SAFETY: LLVM declares the functions of targets so, and they have no conditions.
            unsafe {
                let start = library.get::<unsafe extern "C" fn()>(name.as_bytes());
                start.map_err(|_| format!("it has no code generator for {target}"))?();
            }
        }
        let switches = SWITCHES.map(CStr::as_ptr);
        // SAFETY: the switches are texts, as many as are said.
        unsafe {
            (llvm.parse_options)(switches.len() as c_int, switches.as_ptr(), std::ptr::null());
        }
        std::mem::forget(library);
        Ok(llvm)
    }
}

fn message(tried: &[String]) -> String {
    let mut message = "there is no LLVM library that can be used".to_owned();
    for attempt in tried {
        message.push_str("\n  ");
        message.push_str(attempt);
    }
    message.push_str(
        "\nset REGRAFT_LLVM to the file of one (libLLVM.so), or run with `--engine cranelift`",
    );
    message
}

/// Returns whether a file is LLVM's library by its name.
fn is_library(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("libLLVM")
        && !name["libLLVM".len()..].starts_with(|c: char| c.is_ascii_alphabetic())
        && (name.contains(".so") || name.ends_with(".dylib"))
}

/// The libraries in a folder, sorted.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|file| is_library(file)).collect();
    // The longest name says the version, which is tried first.
    files.sort_by_key(|file| std::cmp::Reverse(file.as_os_str().len()));
    files
}

fn named_files(named: &Path) -> Vec<PathBuf> {
    let files = files_in(named);
    if files.is_empty() { vec![named.to_owned()] } else { files }
}

/// The libraries of the toolchains that are installed, stable ones first.
fn toolchain_files() -> Vec<PathBuf> {
    let home = |variable: &str, folder: &str| {
        env::var_os(variable).map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(folder)))
    };
    let Some(toolchains) = home("RUSTUP_HOME", ".rustup").map(|home| home.join("toolchains"))
    else {
        return Vec::new();
    };
    let entries = std::fs::read_dir(toolchains).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    let current = env::var("RUSTUP_TOOLCHAIN").unwrap_or_default();
    folders.sort_by_cached_key(|folder| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name != current, !name.starts_with("stable"), name)
    });
    folders.iter().flat_map(|folder| files_in(&folder.join("lib"))).collect()
}

/// The libraries of the Rust compiler and of LLVM's own tools, which say where they are.
fn compiler_files() -> Vec<PathBuf> {
    let ask = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).output().ok()?;
        let folder = String::from_utf8(output.stdout).ok()?;
        Some(PathBuf::from(folder.trim())).filter(|folder| folder.is_absolute())
    };
    let rust = ask("rustc", &["--print", "sysroot"]).map(|root| root.join("lib"));
    let folders = rust.into_iter().chain(ask("llvm-config", &["--libdir"]));
    folders.flat_map(|folder| files_in(&folder)).collect()
}

fn system_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for version in VERSIONS.rev() {
        files.extend(files_in(Path::new(&format!("/usr/lib/llvm-{version}/lib"))));
        files.extend(files_in(Path::new(&format!("/usr/lib64/llvm{version}/lib64"))));
    }
    files.extend(files_in(Path::new("/opt/homebrew/opt/llvm/lib")));
    // The loader knows more folders.
    files.extend(VERSIONS.rev().map(|version| format!("libLLVM.so.{version}.1").into()));
    files.push("libLLVM.so".into());
    files
}
