//! Values as Julia prints them, without recursion: they can be nested a million deep.

use std::fmt::{self, Write};

use regraft_ir::{Context, Symbol, Type, TypeKind, is_plain_name};
use rustc_hash::FxHashMap;

use super::float::{write_f32, write_f64};
use super::{Array, Val, type_name};

/// What `show` (and the REPL) writes: strings in quotes, `1.0f0`.
pub fn show_string(ctx: &Context, value: &Val) -> String {
    show_within(ctx, value, usize::MAX).unwrap_or_default()
}

/// The same, unless it is longer than about `limit` bytes. A small value can print as a very long
/// text, as parts of it can be shared.
pub fn show_within(ctx: &Context, value: &Val, limit: usize) -> Option<String> {
    write_within(ctx, value, limit, Style::Show)
}

/// What `print` writes: as [`show_string`], but a string, symbol or single float by itself is
/// bare.
pub fn print_string(ctx: &Context, value: &Val) -> String {
    print_within(ctx, value, usize::MAX).unwrap_or_default()
}

/// The same, unless it is longer than about `limit` bytes.
pub fn print_within(ctx: &Context, value: &Val, limit: usize) -> Option<String> {
    write_within(ctx, value, limit, Style::Print)
}

fn write_within(ctx: &Context, value: &Val, limit: usize, style: Style) -> Option<String> {
    let mut out = String::new();
    let writer =
        Writer { ctx, out: &mut out, limit, open: Vec::new(), depth_of: FxHashMap::default() };
    writer.run(value, style).then_some(out)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Print,
    Show,
    /// As `Show`, in an array whose prefix has said the type already.
    Element,
}

enum Work {
    Value(Val, Style),
    Undefined,
    Text(&'static str),
    Name(Symbol),
    /// An object ends here.
    Close,
}

struct Writer<'a> {
    ctx: &'a Context,
    out: &'a mut String,
    limit: usize,
    /// The objects that are being written, outermost first, and how deep each is.
    open: Vec<*const ()>,
    depth_of: FxHashMap<*const (), usize>,
}

impl Writer<'_> {
    /// Whether the text was short enough.
    fn run(mut self, value: &Val, style: Style) -> bool {
        let mut work = vec![Work::Value(value.clone(), style)];
        while let Some(item) = work.pop() {
            // What is still to be written is at least as long as there are items.
            if self.out.len().saturating_add(work.len()) > self.limit {
                return false;
            }
            match item {
                Work::Text(text) => self.out.push_str(text),
                Work::Undefined => self.out.push_str("#undef"),
                Work::Name(name) => self.name(name),
                Work::Close => {
                    if let Some(address) = self.open.pop() {
                        self.depth_of.remove(&address);
                    }
                }
                // Writing to a string does not fail.
                Work::Value(value, style) => {
                    let _ = self.value(&value, style, &mut work);
                }
            }
        }
        true
    }

    fn value(&mut self, value: &Val, style: Style, work: &mut Vec<Work>) -> fmt::Result {
        match value {
            Val::Unit => self.out.write_str("nothing"),
            Val::Bool(x) if style == Style::Element => write!(self.out, "{}", u8::from(*x)),
            Val::Bool(x) => write!(self.out, "{x}"),
            Val::I8(x) => write!(self.out, "{x}"),
            Val::I16(x) => write!(self.out, "{x}"),
            Val::I32(x) => write!(self.out, "{x}"),
            Val::I64(x) => write!(self.out, "{x}"),
            Val::F32(x) => write_f32(self.out, *x, style == Style::Show),
            Val::F64(x) => write_f64(self.out, *x),
            Val::Sym(name) if style == Style::Print => self.out.write_str(self.ctx.str(*name)),
            Val::Sym(name) => self.symbol(*name),
            Val::Func(name) => self.out.write_str(self.ctx.str(*name)),
            Val::Type(ty) => self.out.write_str(&type_name(self.ctx, *ty)),
            Val::Str(text) if style == Style::Print => self.out.write_str(text.as_str()),
            Val::Str(text) => quoted(self.out, text.as_str()),
            Val::Tuple(fields) => {
                self.out.push('(');
                work.push(Work::Text(if fields.items().len() == 1 { ",)" } else { ")" }));
                list(work, fields.items());
                Ok(())
            }
            Val::Named(fields) => {
                let items = fields.items();
                if items.is_empty() {
                    return self.out.write_str("NamedTuple()");
                }
                self.out.push('(');
                work.push(Work::Text(if items.len() == 1 { ",)" } else { ")" }));
                let TypeKind::Named(names) = self.ctx.kind(fields.ty()) else { return Ok(()) };
                for (i, (item, &(name, _))) in items.iter().zip(names).enumerate().rev() {
                    work.push(Work::Value(item.clone(), Style::Show));
                    work.push(Work::Text(" = "));
                    work.push(Work::Name(name));
                    work.push(Work::Text(if i == 0 { "" } else { ", " }));
                }
                Ok(())
            }
            Val::Struct(fields) => {
                self.out.push_str(&type_name(self.ctx, fields.ty()));
                self.out.push('(');
                work.push(Work::Text(")"));
                list(work, fields.items());
                Ok(())
            }
            Val::Object(object) => {
                if self.enters(value, work) {
                    self.out.push_str(&type_name(self.ctx, object.ty()));
                    self.out.push('(');
                    work.push(Work::Text(")"));
                    list(work, &object.fields());
                }
                Ok(())
            }
            Val::Ref(cell) => {
                if self.enters(value, work) {
                    let element = type_name(self.ctx, cell.element());
                    write!(self.out, "Base.RefValue{{{element}}}(")?;
                    work.push(Work::Text(")"));
                    work.push(Work::Value(cell.get(), Style::Show));
                }
                Ok(())
            }
            Val::Array(array) => {
                if self.enters(value, work) {
                    self.array(array, style == Style::Element, work);
                }
                Ok(())
            }
        }
    }

    /// Notes that an object is being written; if it is already, the object contains itself.
    fn enters(&mut self, value: &Val, work: &mut Vec<Work>) -> bool {
        let address = value.address().unwrap_or(std::ptr::null());
        if let Some(depth) = self.depth_of.get(&address) {
            let _ = write!(self.out, "#= circular reference @-{} =#", self.open.len() - depth);
            return false;
        }
        self.depth_of.insert(address, self.open.len());
        self.open.push(address);
        work.push(Work::Close);
        true
    }

    fn array(&mut self, array: &Array, typed: bool, work: &mut Vec<Work>) {
        let (dims, len) = (array.dims(), array.len());
        let implicit = typed || is_implicit(self.ctx, array.element());
        if len == 0 && dims.len() > 1 {
            let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
            let ty = self.ctx.array_type(array.element(), array.rank());
            let _ = write!(self.out, "{}(undef, {})", type_name(self.ctx, ty), dims.join(", "));
            return;
        }
        if !implicit || len == 0 {
            self.out.push_str(&type_name(self.ctx, array.element()));
        }
        self.out.push('[');
        let style = if array.element().is_scalar() { Style::Element } else { Style::Show };
        let one = |offset: usize| match array.get(offset) {
            Some(value) => Work::Value(value, style),
            None => Work::Undefined,
        };
        work.push(Work::Text("]"));
        if dims.len() == 1 {
            for offset in (0..len).rev() {
                work.push(one(offset));
                work.push(Work::Text(if offset == 0 { "" } else { ", " }));
            }
            return;
        }
        // A matrix is written row by row, and so is each matrix of an array of higher rank. Along
        // dimension d > 2, d semicolons separate.
        let (rows, columns) = (dims[0], dims[1]);
        let page = rows * columns;
        let mut items: Vec<Work> = Vec::with_capacity(2 * len);
        for start in (0..len).step_by(page) {
            if start > 0 {
                let (mut d, mut size) = (2, page);
                while d + 1 < dims.len() && start % (size * dims[d]) == 0 {
                    size *= dims[d];
                    d += 1;
                }
                items.extend((0..=d).map(|_| Work::Text(";")));
                items.push(Work::Text(" "));
            }
            for row in 0..rows {
                for column in 0..columns {
                    let gap = match (row, column) {
                        (0, 0) => "",
                        (_, 0) => "; ",
                        _ => " ",
                    };
                    items.push(Work::Text(gap));
                    items.push(one(start + row + column * rows));
                }
            }
        }
        // What the separators do not show of the rank is said at the end: `[1.0; 2.0;;]`.
        let last_shown = dims.iter().rposition(|&dim| dim > 1).map_or(0, |d| d + 1);
        let last_shown = if columns > 1 { last_shown.max(2) } else { last_shown };
        if last_shown < dims.len() {
            items.extend((0..dims.len()).map(|_| Work::Text(";")));
        }
        work.extend(items.into_iter().rev());
    }

    fn name(&mut self, name: Symbol) {
        let text = self.ctx.str(name);
        if is_identifier(text) {
            self.out.push_str(text);
        } else {
            self.out.push_str("var");
            let _ = quoted(self.out, text);
        }
    }

    fn symbol(&mut self, name: Symbol) -> fmt::Result {
        let text = self.ctx.str(name);
        if is_identifier(text) || is_operator(text) {
            write!(self.out, ":{text}")
        } else {
            self.out.push_str("Symbol(");
            quoted(self.out, text)?;
            self.out.write_char(')')
        }
    }
}

/// Adds the items to the work so that they come out in order, separated by commas.
fn list(work: &mut Vec<Work>, items: &[Val]) {
    for (i, item) in items.iter().enumerate().rev() {
        work.push(Work::Value(item.clone(), Style::Show));
        work.push(Work::Text(if i == 0 { "" } else { ", " }));
    }
}

/// Whether the elements of an array show its element type, so that Julia leaves it away.
fn is_implicit(ctx: &Context, element: Type) -> bool {
    let mut todo = vec![element];
    while let Some(ty) = todo.pop() {
        match ctx.kind(ty) {
            TypeKind::Builtin => {
                if !matches!(ty, Type::F64 | Type::I64 | Type::STR | Type::SYM | Type::UNIT) {
                    return false;
                }
            }
            TypeKind::Tuple(elements) => todo.extend(elements.iter().copied()),
            &TypeKind::Array { element, .. } => todo.push(element),
            TypeKind::Fn(_) => {}
            _ => return false,
        }
    }
    true
}

fn is_identifier(text: &str) -> bool {
    is_plain_name(text) && !text.contains('.') || {
        let mut chars = text.chars();
        chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
            && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '!')
    }
}

fn is_operator(text: &str) -> bool {
    const OPERATORS: [&str; 30] = [
        "+", "-", "*", "/", "\\", "^", "%", "÷", "==", "!=", "≠", "<", "<=", "≤", ">", ">=", "≥",
        "===", "!==", "!", "~", "&", "|", "⊻", "<<", ">>", ">>>", "|>", "=>", ":",
    ];
    OPERATORS.contains(&text)
}

/// Writes a string literal of Julia.
fn quoted(out: &mut dyn Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    for c in text.chars() {
        match c {
            '\\' => out.write_str("\\\\")?,
            '"' => out.write_str("\\\"")?,
            '$' => out.write_str("\\$")?,
            '\n' => out.write_str("\\n")?,
            '\t' => out.write_str("\\t")?,
            '\r' => out.write_str("\\r")?,
            '\0' => out.write_str("\\0")?,
            '\x1b' => out.write_str("\\e")?,
            '\x07' => out.write_str("\\a")?,
            '\x08' => out.write_str("\\b")?,
            '\x0b' => out.write_str("\\v")?,
            '\x0c' => out.write_str("\\f")?,
            c if c.is_control() => write!(out, "\\x{:02x}", u32::from(c))?,
            c => out.write_char(c)?,
        }
    }
    out.write_char('"')
}
