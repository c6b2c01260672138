//! Compilation ahead of time: object files, headers for C, and modules of Rust that call them.
//!
//! ```
//! use regraft::ahead::{ObjectFile, Cpu};
//! use regraft::lang::{Entry, Session};
//!
//! let mut session = Session::new(&regraft::dialects::context());
//! session.run("f.jl", "scale!(x, by) = (x .*= by; sum(x))").unwrap();
//! let scale = session.closed(Entry::Types("scale!(Vector{Float64}, Float64)"), None).unwrap();
//! let mut file = ObjectFile::new(Cpu::Any)?;
//! file.add(&scale, None).unwrap();
//! assert!(file.header().contains("*scale(double *x, size_t x_len, double by, double *result);"));
//! assert!(file.rust()?.contains("pub fn scale(x: &mut [f64], by: f64)"));
//! let object: Vec<u8> = file.object()?;
//! # Ok::<(), regraft::ir::Diagnostic>(())
//! ```
//!
//! # Method
//! An object file holds machine code, and the functions as IR text beside it. The text is what both sides start from: machine
//! code is made from the text after it was read again, in a context of its own, as the library reads it.
//!
//! The library is `regraft-runtime`, which has no compiler in it.

use std::io::Cursor;

use ar_archive_writer::{
    ArchiveKind, DEFAULT_OBJECT_READER, NewArchiveMember, write_archive_to_stream,
};
use regraft_exec::typed::c::{CFile, CFunction, c_name, header};
use regraft_ir::{Diagnostic, PrintOptions, print_module};
use regraft_lang::Closed;
use regraft_syntax::parse_module;

pub use regraft_exec::typed::c::Cpu;

/// An object file that is being written, and the functions that it has.
#[derive(Debug)]
pub struct ObjectFile {
    file: CFile,
    functions: Vec<CFunction>,
}

impl ObjectFile {
    /// An empty one, for the operating system and the architecture of this machine.
    ///
    /// # Errors
    /// If there is no code generator for it.
    pub fn new(cpu: Cpu) -> Result<Self, Diagnostic> {
        Ok(Self { file: CFile::new(cpu)?, functions: Vec::new() })
    }

    /// Adds a function, which is called like the one of the program, as far as that can be a name in C, or by another
    /// name. A gradient has `_gradient` behind that.
    ///
    /// # Errors
    /// If a type has no form in C, if the function depends on more than its arguments, or if the name is none.
    pub fn add(&mut self, closed: &Closed, name: Option<&str>) -> Result<(), Vec<Diagnostic>> {
        let options = PrintOptions { locs: true, ..PrintOptions::default() };
        let text = print_module(&closed.module, &options);
        let module = parse_module(&regraft_dialects::context(), "object file", &text)?;
        let one = |error| vec![error];
        let first = module.functions().next().map_or("", regraft_ir::Function::name_str);
        let name = name.map_or_else(|| c_name(&closed.name), |name| Some(name.to_owned()));
        let name = name.unwrap_or_else(|| closed.name.clone());
        let suffix = if closed.shadows.is_some() { "_gradient" } else { "" };
        let function = CFunction::of(&module, first, &(name + suffix)).map_err(one)?;
        let mut function = function.titled(&*closed.title);
        if let Some((first, first_shadow)) = closed.shadows {
            function = function.with_shadows(first, first_shadow);
        }
        if self.functions.iter().any(|other| other.name == function.name) {
            let message = format!("there is a function `{}` already", function.name);
            return Err(vec![Diagnostic::error(message)]);
        }
        self.file.add(&function, &module, &text).map_err(one)?;
        self.functions.push(function);
        Ok(())
    }

    /// The header for C that declares the functions.
    pub fn header(&self) -> String {
        header(&self.functions)
    }

    /// The text of a module of Rust with the functions.
    ///
    /// # Errors
    /// If a type has no form in Rust.
    pub fn rust(&self) -> Result<String, Diagnostic> {
        let texts: Vec<String> =
            self.functions.iter().map(CFunction::rust).collect::<Result<_, _>>()?;
        Ok(texts.join("\n"))
    }

    /// The object file.
    ///
    /// # Errors
    /// If it would be too large for its format.
    pub fn object(self) -> Result<Vec<u8>, Diagnostic> {
        self.file.finish()
    }

    /// A static library that has the object file.
    ///
    /// # Errors
    /// If it would be too large for its format.
    pub fn library(self) -> Result<Vec<u8>, Diagnostic> {
        let name = self.functions.first().map_or("", |function| &function.name);
        let name = format!("{name}.o");
        let object = self.object()?;
        let kind = match () {
            () if cfg!(target_vendor = "apple") => ArchiveKind::Darwin,
            () if cfg!(windows) => ArchiveKind::Coff,
            () => ArchiveKind::Gnu,
        };
        let members = [NewArchiveMember::new(object, &DEFAULT_OBJECT_READER, name)];
        let mut library = Cursor::new(Vec::new());
        write_archive_to_stream(&mut library, &members, kind, false, None)
            .map_err(|error| Diagnostic::error(error.to_string()))?;
        Ok(library.into_inner())
    }
}
