//! Functions and modules as IR text.
//!
//! What is printed reads back as a structurally equal function. Ordinary lines are written
//! straight into one string; only a line that is wider than [`PrintOptions::width`] is taken
//! apart again and laid out. Printing never panics, also not on a function that is broken:
//! that is when one wants to look at it. What is dead or of another function gets a `?`.
//!
//! O(size of the text).

use std::fmt;
use std::ops::Range;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::context::{write_name, write_quoted};
use crate::{
    Attrs, Block, Const, Constant, Context, Function, Loc, Location, Module, Op, OpDef, Operand,
    OperandKind, ResultType, StructDef, Symbol, Syntax, Type, Value,
};

mod wide;

/// What to print, and how wide.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PrintOptions {
    /// Whether each instruction shows where it comes from: ` loc("foo.ir":3:5)`.
    pub locs: bool,
    /// Whether each instruction shows, in a comment, which pass made it and from what.
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
    let values: usize = module.functions().map(Function::value_count).sum();
    let mut printer = Printer::new(module.ctx(), options, 48 * values + 64);
    for &(id, _) in module.structs() {
        printer.start_item();
        printer.struct_def(&module.ctx().struct_def(id));
    }
    for f in module.functions() {
        printer.start_item();
        printer.function(f);
    }
    printer.out
}

/// Writes a function as IR text.
///
/// # Errors
/// Those of the writer.
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
/// Those of the writer.
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

/// Where in a printed function its parts stand.
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

/// `000001002...999`
const GROUPS: &str = {
    const DIGITS: [u8; 3000] = {
        let mut digits = [0; 3000];
        let mut i = 0;
        while i < 1000 {
            digits[3 * i] = b'0' + (i / 100) as u8;
            digits[3 * i + 1] = b'0' + (i / 10 % 10) as u8;
            digits[3 * i + 2] = b'0' + (i % 10) as u8;
            i += 1;
        }
        digits
    };
    match std::str::from_utf8(&DIGITS) {
        Ok(text) => text,
        Err(_) => panic!("digits are ASCII"),
    }
};

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

    fn start_item(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
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

    // --- instructions ----------------------------------------------------------------------

    /// An instruction or terminator that is linked into its block.
    #[inline]
    fn inst(&mut self, f: &Function, v: Value) {
        let Some((facts, operands)) = f.facts_and_operands(v).filter(|(facts, _)| is_op(facts.op))
        else {
            self.out.push_str(if v.is_terminator() { NO_TERMINATOR } else { "<no instruction>" });
            return;
        };
        let def = self.ctx.registry().def(facts.op);
        if !v.is_terminator() {
            self.value_name(f, v);
            // Leaving the type out says `any` where nothing else could be inferred.
            if facts.ty != Type::ANY || !def.is_some_and(has_declared_result) {
                self.out.push_str(": ");
                self.ty(facts.ty);
            }
            self.out.push_str(" = ");
        }
        let Some(def) = def else { return self.unknown_op(f, v, facts.op) };
        self.out.push_str(def.mnemonic());
        match def.syntax {
            Syntax::Generic | Syntax::Short(_) => self.operands(f, operands, true),
            Syntax::Call(_) => self.call(f, v),
            Syntax::Switch(_) => self.switch(f, v),
        }
        self.attrs(facts.attrs);
    }

    #[cold]
    fn unknown_op(&mut self, f: &Function, v: Value, op: Op) {
        self.out.push_str(&format!("<{op:?}>"));
        self.operands(f, f.operands(v), true);
        self.attrs(f.attrs(v));
    }

    /// ` %1, ^2(%3, 4), ^3`: operands in order, those of an edge in parentheses.
    #[inline]
    fn operands(&mut self, f: &Function, operands: impl Iterator<Item = Operand>, mut first: bool) {
        /// What the operands so far end with.
        #[derive(PartialEq)]
        enum After {
            Plain,
            Target,
            Argument,
        }
        let mut after = After::Plain;
        for operand in operands {
            let separator = match after {
                After::Target if !operand.is_block() => {
                    after = After::Argument;
                    "("
                }
                After::Argument if operand.is_block() => "), ",
                _ if first => " ",
                _ => ", ",
            };
            if operand.is_block() {
                after = After::Target;
            }
            self.out.push_str(separator);
            self.operand(f, operand);
            first = false;
        }
        if after == After::Argument {
            self.out.push(')');
        }
    }

    /// ` @f(%1, 2)`
    fn call(&mut self, f: &Function, v: Value) {
        let mut plain = f.plain_operands(v);
        let edges = f.operands(v).skip(plain.len());
        if let Some(callee) = plain.next() {
            self.out.push(' ');
            self.operand(f, callee);
            self.out.push('(');
            for (i, operand) in plain.enumerate() {
                self.out.push_str(if i == 0 { "" } else { ", " });
                self.operand(f, operand);
            }
            self.out.push(')');
            self.operands(f, edges, false);
        } else {
            self.operands(f, edges, true);
        }
    }

    /// ` %x, ^1, 1: ^2, 5: ^3(%a)`
    fn switch(&mut self, f: &Function, v: Value) {
        let operands: SmallVec<[Operand; 16]> = f.operands(v).collect();
        let plain = operands.iter().position(|o| o.is_block()).unwrap_or(operands.len());
        let targets = operands.iter().filter(|o| o.is_block()).count();
        if plain == 0 || targets != plain {
            // It is broken; show the operands as they stand.
            return self.operands(f, operands.into_iter(), true);
        }
        self.out.push(' ');
        self.operand(f, operands[0]);
        let mut rest = &operands[plain..];
        for case in 0..plain {
            self.out.push_str(", ");
            if case > 0 {
                self.operand(f, operands[case]);
                self.out.push_str(": ");
            }
            let args = rest[1..].iter().position(|o| o.is_block()).unwrap_or(rest.len() - 1);
            self.operand(f, rest[0]);
            for (i, &arg) in rest[1..=args].iter().enumerate() {
                self.out.push_str(if i == 0 { "(" } else { ", " });
                self.operand(f, arg);
            }
            self.out.push_str(if args > 0 { ")" } else { "" });
            rest = &rest[args + 1..];
        }
    }

    #[inline]
    fn operand(&mut self, f: &Function, operand: Operand) {
        match operand.kind() {
            OperandKind::Value(v) => self.value(f, v),
            OperandKind::Const(c) => self.constant(c),
            OperandKind::Block(b) => {
                self.block_name(b);
                if !f.is_live_block(b) {
                    self.out.push('?');
                }
            }
        }
    }

    #[inline]
    fn value(&mut self, f: &Function, v: Value) {
        if v.is_terminator() || !f.is_live(v) {
            return self.bad_value(v);
        }
        self.value_name(f, v);
    }

    /// The name or number of a value that is known to be live.
    #[inline]
    fn value_name(&mut self, f: &Function, v: Value) {
        self.out.push('%');
        match f.value_symbol(v) {
            None => self.number(u64::from(v.number())),
            Some(name) => self.name(name),
        }
    }

    #[cold]
    fn bad_value(&mut self, v: Value) {
        let text = match v.terminated_block() {
            Some(b) => format!("%<the terminator of {b}>"),
            None => v.to_string(),
        };
        self.out.push_str(&text);
        self.out.push('?');
    }

    fn block_name(&mut self, b: Block) {
        self.out.push('^');
        self.number(u64::from(b.number()));
    }

    /// ` {inbounds=true, k=:x}`
    #[inline]
    fn attrs(&mut self, attrs: Attrs) {
        if attrs.is_empty() {
            return;
        }
        self.out.push_str(" {");
        let Some(entries) = self.ctx.try_attr_entries(attrs) else {
            self.out.push_str("?}");
            return;
        };
        for (i, &(name, value)) in entries.iter().enumerate() {
            self.out.push_str(if i == 0 { "" } else { ", " });
            self.name(name);
            self.out.push('=');
            self.constant(value);
        }
        self.out.push('}');
    }

    // --- leaves ----------------------------------------------------------------------------

    #[inline]
    fn ty(&mut self, ty: Type) {
        match Type::BUILTIN.get(ty.index()) {
            Some(&(_, name)) => self.out.push_str(name),
            None if self.ctx.has_type(ty) => {
                let _ = self.ctx.write_type(&mut self.out, ty);
            }
            None => self.out.push('?'),
        }
    }

    #[inline]
    fn constant(&mut self, c: Const) {
        if !self.ctx.has_constant(c) {
            self.out.push_str("<const>?");
            return;
        }
        match self.ctx.constant(c) {
            Constant::I64(x) => self.integer(x),
            Constant::Bool(true) => self.out.push_str("true"),
            Constant::Bool(false) => self.out.push_str("false"),
            // Whole numbers are the most frequent floats, and their digits cheap.
            Constant::F64(bits) if let Some(whole) = whole_float(f64::from_bits(bits)) => {
                self.integer(whole);
                self.out.push_str(".0");
            }
            Constant::Sym(name) => {
                self.out.push(':');
                self.name(name);
            }
            Constant::Func(name) => {
                self.out.push('@');
                self.name(name);
            }
            other => {
                let _ = self.ctx.write_constant(&mut self.out, other);
            }
        }
    }

    #[inline]
    fn name(&mut self, name: Symbol) {
        let _ = write_name(&mut self.out, self.ctx.str(name));
    }

    fn integer(&mut self, x: i64) {
        if x < 0 {
            self.out.push('-');
        }
        self.number(x.unsigned_abs());
    }

    /// Decimal digits, three at a time, without the detour of `fmt`.
    #[inline]
    fn number(&mut self, x: u64) {
        if x >= 1000 {
            self.number_in_groups(x);
        } else {
            let skip = usize::from(x < 10) + usize::from(x < 100);
            let at = 3 * x as usize;
            self.out.push_str(&GROUPS[at + skip..at + 3]);
        }
    }

    fn number_in_groups(&mut self, x: u64) {
        self.number(x / 1000);
        let at = 3 * (x % 1000) as usize;
        self.out.push_str(&GROUPS[at..at + 3]);
    }

    /// ` loc("f.ir":3:5 at "g.ir":9:1)`, or nothing.
    fn loc(&mut self, loc: Loc) {
        let mut rest: SmallVec<[Loc; 4]> = SmallVec::from_slice(&[loc]);
        let mut open = false;
        while let Some(loc) = rest.pop() {
            match self.ctx.location(loc) {
                Location::Unknown => {}
                Location::Inlined { at, call_site } => rest.extend([call_site, at]),
                Location::File { file, line, column } => {
                    self.out.push_str(if open { " at " } else { " loc(" });
                    open = true;
                    let _ = write_quoted(&mut self.out, &file);
                    for number in [line, column] {
                        self.out.push(':');
                        self.number(u64::from(number));
                    }
                }
            }
        }
        if open {
            self.out.push(')');
        }
    }

    /// `  # by mul-to-add from %3`
    fn origin(&mut self, f: &Function, v: Value) {
        let Some(origin) = f.origin(v) else { return };
        self.out.push_str("  # by ");
        self.name(origin.by);
        if let Some(from) = origin.from {
            self.out.push_str(" from ");
            match from.terminated_block() {
                Some(b) => {
                    self.out.push_str("the terminator of ");
                    self.block_name(b);
                }
                None => self.value(f, from),
            }
        }
    }
}

/// Whether it is the op of an instruction.
fn is_op(op: Op) -> bool {
    op != Op::PARAM && op != Op::DEAD && op != Op::MISSING
}

fn has_declared_result(def: &OpDef) -> bool {
    matches!(def.result, ResultType::Declared)
}

/// The integer that a float is, if it is one whose shortest decimal form has no exponent.
fn whole_float(x: f64) -> Option<i64> {
    let whole = x as i64;
    (whole as f64 == x && whole.unsigned_abs() < 1 << 53 && (whole != 0 || x.is_sign_positive()))
        .then_some(whole)
}

#[cfg(test)]
mod tests;
