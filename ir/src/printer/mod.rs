//! Functions and modules as IR text.
//!
//! The text reads back as a structurally equal function. Ordinary lines are written
//! straight into one string; only a line that is wider than [`PrintOptions::width`] is taken
//! apart again and laid out. Printing never panics, also not on a function that is broken:
//! that is when one wants to look at it. What is dead or of another function gets a `?`.
//!
//! O(size of the text).

use std::fmt;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::{Block, Context, Function, Module, StructDef, Value};

mod inst;
mod leaf;
mod wide;

/// The options of printing: details and width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PrintOptions {
    /// True if each instruction shows where it comes from: ` loc("foo.ir":3:5)`.
    pub locs: bool,
    /// True if each instruction shows, in a comment, which pass made it and from what.
    pub origins: bool,
    /// The width in columns from which on a line is broken.
    pub width: usize,
}

impl Default for PrintOptions {
    fn default() -> Self {
        Self { locs: false, origins: false, width: 100 }
    }
}

/// A function as IR text.
pub fn print_function(f: &Function, options: &PrintOptions) -> String {
    let mut printer = Printer::new(f.ctx(), options, 48 * f.value_count() + 64);
    printer.function(f);
    printer.out
}

/// A module as IR text: its struct types, then its functions.
pub fn print_module(module: &Module, options: &PrintOptions) -> String {
    let mut out = String::new();
    write_module(&mut out, module, options).expect("writing to a string does not fail");
    out
}

/// Writes a function as IR text.
///
/// # Errors
/// The errors of the writer.
pub fn write_function(
    out: &mut dyn fmt::Write,
    f: &Function,
    options: &PrintOptions,
) -> fmt::Result {
    out.write_str(&print_function(f, options))
}

/// Writes a module as IR text, one item at a time.
///
/// # Errors
/// The errors of the writer.
pub fn write_module(
    out: &mut dyn fmt::Write,
    module: &Module,
    options: &PrintOptions,
) -> fmt::Result {
    let mut printer = Printer::new(module.ctx(), options, 256);
    let mut first = true;
    let mut flush = |printer: &mut Printer<'_>| {
        if !std::mem::take(&mut first) {
            out.write_char('\n')?;
        }
        out.write_str(&printer.out)?;
        printer.out.clear();
        Ok(())
    };
    for &(id, _) in module.structs() {
        printer.struct_def(&module.ctx().struct_def(id));
        flush(&mut printer)?;
    }
    for f in module.functions() {
        printer.function(f);
        flush(&mut printer)?;
    }
    Ok(())
}

/// One instruction or terminator, or a parameter with its type, as one line without
/// indentation, however wide.
pub fn print_inst(f: &Function, v: Value) -> String {
    let options = PrintOptions { width: usize::MAX, ..PrintOptions::default() };
    let mut printer = Printer::new(f.ctx(), &options, 64);
    let missing = v.terminated_block().is_some_and(|b| f.is_live_block(b));
    match f.is_live(v) {
        false if missing => printer.out.push_str(NO_TERMINATOR),
        false => printer.value(f, v),
        true if f.is_param(v) => printer.param(f, v),
        true => printer.inst(f, v),
    }
    printer.out
}

/// The places of the parts of a function in its printed text.
#[derive(Default, Debug)]
pub(crate) struct Lines {
    /// The first line.
    pub(crate) signature: Range<usize>,
    /// The headers of blocks.
    pub(crate) blocks: FxHashMap<Block, Range<usize>>,
    /// Instructions, and the terminator of each block, or the words that say that there is none.
    pub(crate) insts: FxHashMap<Value, Range<usize>>,
}

/// A function as IR text, and where its parts stand in it.
pub(crate) fn print_with_lines(f: &Function) -> (String, Lines) {
    let options = PrintOptions::default();
    let mut printer = Printer::new(f.ctx(), &options, 48 * f.value_count() + 64);
    printer.lines = Some(Lines::default());
    printer.function(f);
    (printer.out, printer.lines.unwrap_or_default())
}

impl fmt::Display for Function {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_function(out, self, &PrintOptions::default())
    }
}

impl fmt::Display for Module {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_module(out, self, &PrintOptions::default())
    }
}

const NO_TERMINATOR: &str = "<no terminator>";

struct Printer<'a> {
    ctx: &'a Context,
    options: &'a PrintOptions,
    out: String,
    lines: Option<Lines>,
}

impl<'a> Printer<'a> {
    fn new(ctx: &'a Context, options: &'a PrintOptions, capacity: usize) -> Self {
        Self { ctx, options, out: String::with_capacity(capacity), lines: None }
    }

    /// `mutable struct @P {x: f64} call @body`
    fn struct_def(&mut self, def: &StructDef) {
        let start = self.out.len();
        self.out.push_str(if def.mutable { "mutable struct @" } else { "struct @" });
        self.name(def.name);
        self.out.push_str(" {");
        for (i, &(name, ty)) in def.fields.iter().enumerate() {
            self.out.push_str(if i == 0 { "" } else { ", " });
            self.name(name);
            self.out.push_str(": ");
            self.ty(ty);
        }
        self.out.push('}');
        if let Some(call) = def.call {
            self.out.push_str(" call @");
            self.name(call);
        }
        self.end_line(start);
    }

    fn function(&mut self, f: &'a Function) {
        // That of the module, unless it is broken.
        self.ctx = f.ctx();
        let start = self.out.len();
        self.signature(f);
        let span = self.end_line(start);
        if let Some(lines) = &mut self.lines {
            lines.signature = span;
        }
        for b in f.blocks() {
            self.block(f, b);
        }
        self.out.push_str("}\n");
    }

    /// `func @pow(%1: f64, %2: i64) -> f64 {inline=true} {`
    fn signature(&mut self, f: &Function) {
        self.out.push_str("func @");
        self.name(f.name());
        self.out.push('(');
        if let Some(entry) = f.entry() {
            self.params(f, entry);
        }
        self.out.push_str(") -> ");
        self.ty(f.ret_type());
        self.attrs(f.function_attrs());
        self.out.push_str(" {");
    }

    fn block(&mut self, f: &Function, b: Block) {
        let start = self.out.len();
        self.block_name(b);
        if f.entry() != Some(b) && f.param_count(b) > 0 {
            self.out.push('(');
            self.params(f, b);
            self.out.push(')');
        }
        self.out.push(':');
        let span = self.end_line(start);
        if let Some(lines) = &mut self.lines {
            lines.blocks.insert(b, span);
        }
        for v in f.body(b) {
            self.inst_line(f, v);
        }
        self.inst_line(f, Value::terminator(b));
    }

    #[inline]
    fn inst_line(&mut self, f: &Function, v: Value) {
        let start = self.out.len();
        self.out.push_str("  ");
        self.inst(f, v);
        if self.options.locs && f.is_live(v) {
            self.loc(f.loc(v));
        }
        if self.out.len() - start > self.options.width {
            wide::lay_out(&mut self.out, start, self.options.width);
        }
        if self.options.origins {
            self.origin(f, v);
        }
        if let Some(lines) = &mut self.lines {
            lines.insts.insert(v, start + 2..self.out.len());
        }
        self.out.push('\n');
    }

    /// Lays the line out that begins at `start`, if it has to be, and returns where it stands.
    fn end_line(&mut self, start: usize) -> Range<usize> {
        if self.out.len() - start > self.options.width {
            wide::lay_out(&mut self.out, start, self.options.width);
        }
        let end = self.out.len();
        self.out.push('\n');
        start..end
    }

    fn params(&mut self, f: &Function, b: Block) {
        for (i, v) in f.params(b).enumerate() {
            self.out.push_str(if i == 0 { "" } else { ", " });
            self.param(f, v);
        }
    }

    fn param(&mut self, f: &Function, v: Value) {
        self.value(f, v);
        self.out.push_str(": ");
        self.ty(f.ty(v));
    }
}

#[cfg(test)]
mod tests;
