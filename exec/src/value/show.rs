//! Values as Julia prints them, without recursion: they can be nested a million deep.

use std::fmt::{self, Write};

use regraft_dialects::data::UNDEFINED_FIELD;
use regraft_ir::{Context, Symbol, Type, TypeKind, is_plain_name};
use rustc_hash::FxHashMap;

use super::float::{write_f32, write_f64};
use super::name::write_type;
use super::texts::{Part, Shown, Texts};
use super::{Array, Val};

/// Returns what `show` (and the REPL) writes: strings in quotes, `1.0f0`.
pub fn show_string(ctx: &Context, value: &Val) -> String {
    Texts::plain(ctx).show(value)
}

/// The same, unless it is longer than about `limit` bytes. A small value can print as a very long
/// text, as parts of it can be shared.
pub fn show_within(ctx: &Context, value: &Val, limit: usize) -> Option<String> {
    Texts::plain(ctx).show_within(value, limit)
}

/// Returns what `print` writes: as [`show_string`], but a string, symbol or single float by itself
/// is bare.
pub fn print_string(ctx: &Context, value: &Val) -> String {
    Texts::plain(ctx).print(value)
}

/// The same, unless it is longer than about `limit` bytes.
pub fn print_within(ctx: &Context, value: &Val, limit: usize) -> Option<String> {
    Texts::plain(ctx).print_within(value, limit)
}

impl Texts<'_> {
    /// Returns what `show` (and the REPL) writes.
    pub fn show(self, value: &Val) -> String {
        self.show_within(value, usize::MAX).unwrap_or_default()
    }

    /// The same, unless it is longer than about `limit` bytes.
    pub fn show_within(self, value: &Val, limit: usize) -> Option<String> {
        write_within(self, value, limit, usize::MAX, Style::Show(Type::ANY))
    }

    /// Returns what [`show`](Self::show) writes of a value that is known to be of type `said`
    /// (`any` if nothing is known). Of arrays with more than `most` elements the first and the last
    /// are written, as at Julia's prompt.
    pub fn show_shortened(self, value: &Val, said: Type, most: usize) -> String {
        write_within(self, value, usize::MAX, most, Style::Show(said)).unwrap_or_default()
    }

    /// Returns what `print` writes: a string, symbol or single float by itself is bare.
    pub fn print(self, value: &Val) -> String {
        self.print_within(value, usize::MAX).unwrap_or_default()
    }

    /// The same, unless it is longer than about `limit` bytes.
    pub fn print_within(self, value: &Val, limit: usize) -> Option<String> {
        write_within(self, value, limit, usize::MAX, Style::Print)
    }
}

fn write_within(
    texts: Texts<'_>,
    value: &Val,
    limit: usize,
    most: usize,
    style: Style,
) -> Option<String> {
    let mut out = String::new();
    let writer = Writer {
        ctx: texts.ctx,
        texts,
        out: &mut out,
        limit,
        most,
        open: Vec::new(),
        depth_of: FxHashMap::default(),
    };
    writer.run(value, style).then_some(out)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Print,
    /// The text before has said that the value is of this type (`any` if nothing was said), so that
    /// the value need not show it: Julia's `:typeinfo`.
    Show(Type),
}

impl Style {
    fn said(self) -> Type {
        match self {
            Self::Print => Type::ANY,
            Self::Show(ty) => ty,
        }
    }
}

enum Work {
    Value(Val, Style),
    /// Without asking how the language shows it.
    Plain(Val, Style),
    Undefined,
    Text(&'static str),
    Name(Symbol),
    Type(Type),
    /// A container ends here, with this text.
    Close(&'static str),
}

struct Writer<'a> {
    ctx: &'a Context,
    texts: Texts<'a>,
    out: &'a mut String,
    limit: usize,
    /// The number of elements of an array that are written at most.
    most: usize,
    /// The containers that are being written, outermost first (null for what has no address),
    /// and how deep each object is.
    open: Vec<*const ()>,
    depth_of: FxHashMap<*const (), usize>,
}

impl Writer<'_> {
    /// Returns whether the text was short enough.
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
                Work::Type(ty) => {
                    let _ = self.type_name(ty);
                }
                Work::Close(text) => {
                    self.out.push_str(text);
                    if let Some(address) = self.open.pop() {
                        self.depth_of.remove(&address);
                    }
                }
                // Writing to a string does not fail.
                Work::Value(value, style) => {
                    let _ = match self.shown(&value, style == Style::Print) {
                        Some(Shown::Text(text)) => self.out.write_str(&text),
                        Some(Shown::Parts(parts)) => {
                            if self.enters(&value, "", &mut work) {
                                work.extend(parts.into_iter().rev().map(|part| match part {
                                    Part::Text(text) => Work::Text(text),
                                    Part::Type(ty) => Work::Type(ty),
                                    Part::Value(value) => {
                                        Work::Value(value, Style::Show(Type::ANY))
                                    }
                                }));
                            }
                            Ok(())
                        }
                        Some(Shown::As(other)) => {
                            if self.enters(&value, "", &mut work) {
                                work.push(Work::Plain(other, style));
                            }
                            Ok(())
                        }
                        None => self.value(&value, style, &mut work),
                    };
                }
                Work::Plain(value, style) => {
                    let _ = self.value(&value, style, &mut work);
                }
            }
        }
        true
    }

    /// Asks the language how a value is shown.
    fn shown(&self, value: &Val, bare: bool) -> Option<Shown> {
        match value {
            Val::Struct(_) | Val::Object(_) => self.texts.names?.show(value, bare),
            _ => None,
        }
    }

    fn value(&mut self, value: &Val, style: Style, work: &mut Vec<Work>) -> fmt::Result {
        match value {
            Val::Unit => self.out.write_str("nothing"),
            Val::Bool(x) if style.said() == Type::BOOL => write!(self.out, "{}", u8::from(*x)),
            Val::Bool(x) => write!(self.out, "{x}"),
            Val::I8(x) => write!(self.out, "{x}"),
            Val::I16(x) => write!(self.out, "{x}"),
            Val::I32(x) => write!(self.out, "{x}"),
            Val::I64(x) => write!(self.out, "{x}"),
            Val::F32(x) => {
                let suffix = style != Style::Print && style.said() != Type::F32;
                write_f32(self.out, *x, suffix)
            }
            Val::F64(x) => write_f64(self.out, *x),
            Val::Sym(name) if style == Style::Print => self.out.write_str(self.ctx.str(*name)),
            Val::Sym(name) => self.symbol(*name),
            Val::Func(name) => {
                match self.texts.names.and_then(|names| names.function_name(*name)) {
                    Some(text) => self.out.write_str(&text),
                    None => self.out.write_str(self.ctx.str(*name)),
                }
            }
            Val::Type(ty) => self.type_name(*ty),
            Val::Str(text) if style == Style::Print => self.out.write_str(text.as_str()),
            Val::Str(text) => quoted(self.out, text.as_str()),
            Val::Tuple(fields) => {
                let items = fields.items();
                self.out.push('(');
                self.enters(value, if items.len() == 1 { ",)" } else { ")" }, work);
                let said = match self.ctx.kind(style.said()) {
                    TypeKind::Tuple(types) if types.len() == items.len() => Ok(&types[..]),
                    _ => Err(style.said()),
                };
                list(work, items, |i| said.map_or_else(|all| all, |types| types[i]));
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
                let said = match self.ctx.kind(style.said()) {
                    TypeKind::Named(fields) if fields.len() == items.len() => Some(fields),
                    _ => None,
                };
                for (i, (item, &(name, _))) in items.iter().zip(names).enumerate().rev() {
                    let said = said.map_or(style.said(), |fields| fields[i].1);
                    work.push(Work::Value(item.clone(), Style::Show(said)));
                    work.push(Work::Text(" = "));
                    work.push(Work::Name(name));
                    work.push(Work::Text(if i == 0 { "" } else { ", " }));
                }
                Ok(())
            }
            Val::Struct(fields) => {
                self.type_name(fields.ty())?;
                self.out.push('(');
                self.enters(value, ")", work);
                list(work, fields.items(), |_| Type::ANY);
                Ok(())
            }
            Val::Object(object) => {
                self.type_name(object.ty())?;
                self.out.push('(');
                if self.enters(value, ")", work) {
                    list(work, &object.fields().collect::<Vec<_>>(), |_| Type::ANY);
                }
                Ok(())
            }
            Val::Ref(cell) => {
                self.type_name(self.ctx.ref_type(cell.element()))?;
                self.out.push('(');
                if self.enters(value, ")", work) {
                    work.push(Work::Value(cell.get(), Style::Show(Type::ANY)));
                }
                Ok(())
            }
            Val::Array(array) => {
                self.array(value, array, style.said(), work);
                Ok(())
            }
        }
    }

    /// Notes that a container is being written, to be ended with `close`. If it is already, it
    /// contains itself, which is said in place of its elements.
    fn enters(&mut self, value: &Val, close: &'static str, work: &mut Vec<Work>) -> bool {
        let address = value.address().unwrap_or(std::ptr::null());
        if let Some(depth) = self.depth_of.get(&address) {
            let up = self.open.len() - depth;
            let _ = write!(self.out, "#= circular reference @-{up} =#{close}");
            return false;
        }
        if !address.is_null() {
            self.depth_of.insert(address, self.open.len());
        }
        self.open.push(address);
        work.push(Work::Close(close));
        true
    }

    fn array(&mut self, value: &Val, array: &Array, said: Type, work: &mut Vec<Work>) {
        let (dims, len, element) = (array.dims(), array.len(), array.element());
        if len == 0 && dims.len() > 1 {
            let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
            let ty = self.ctx.array_type(element, array.rank());
            let _ = self.type_name(ty);
            let _ = write!(self.out, "(undef, {})", dims.join(", "));
            return;
        }
        // The element type is written unless it has been said or the elements show it.
        let is_said =
            matches!(*self.ctx.kind(said), TypeKind::Array { element: e, .. } if e == element);
        let is_implicit = !is_said && len > 0 && is_implicit(self.texts, element);
        if !is_said && !is_implicit {
            let _ = self.type_name(element);
        }
        self.out.push('[');
        if !self.enters(value, "]", work) {
            return;
        }
        let style = Style::Show(if is_implicit { said } else { element });
        let one = |offset: usize| match array.get(offset) {
            Some(value) => Work::Value(value, style),
            None => Work::Undefined,
        };
        if dims.len() == 1 {
            let last = len - len.min(self.most.div_ceil(2));
            let first = if len > self.most { self.most / 2 } else { last };
            for offset in (0..first).chain(last..len).rev() {
                work.push(one(offset));
                let is_cut = offset == last && first < last;
                let gap = if is_cut { "  …  " } else { ", " };
                work.push(Work::Text(if offset == 0 { "" } else { gap }));
            }
            return;
        }
        if dims.len() == 2 && len > self.most {
            self.shortened_matrix(dims[0], dims[1], one, work);
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

    /// The corners of a matrix.
    fn shortened_matrix(
        &self,
        rows: usize,
        columns: usize,
        one: impl Fn(usize) -> Work,
        work: &mut Vec<Work>,
    ) {
        const ENDS: usize = 2;
        let ends = |count: usize| -> Vec<usize> {
            let cut = if count > 2 * ENDS { count - ENDS } else { ENDS.min(count) };
            (0..ENDS.min(count)).chain(cut..count).collect()
        };
        let (shown_rows, shown_columns) = (ends(rows), ends(columns));
        for &row in shown_rows.iter().rev() {
            for &column in shown_columns.iter().rev() {
                work.push(one(row + column * rows));
                let skips = |at: usize, count| count > 2 * ENDS && at == count - ENDS;
                work.push(Work::Text(match (row, column) {
                    (0, 0) => "",
                    (_, 0) if skips(row, rows) => "; … ; ",
                    (_, 0) => "; ",
                    _ if skips(column, columns) => " … ",
                    _ => " ",
                }));
            }
        }
    }

    fn type_name(&mut self, ty: Type) -> fmt::Result {
        write_type(self.texts, ty, self.out);
        Ok(())
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
        if text == UNDEFINED_FIELD {
            self.out.write_str(text)
        } else if matches!(text, "=" | ":" | "::") {
            write!(self.out, ":({text})")
        } else if is_identifier(text) || is_operator(text) {
            write!(self.out, ":{text}")
        } else {
            self.out.push_str("Symbol(");
            quoted(self.out, text)?;
            self.out.write_char(')')
        }
    }
}

/// Adds the items to the work so that they come out in order, separated by commas; `said` is the
/// type that each is known to be of.
fn list(work: &mut Vec<Work>, items: &[Val], said: impl Fn(usize) -> Type) {
    for (i, item) in items.iter().enumerate().rev() {
        work.push(Work::Value(item.clone(), Style::Show(said(i))));
        work.push(Work::Text(if i == 0 { "" } else { ", " }));
    }
}

/// Returns whether the elements of an array show its element type, so that Julia leaves it away.
fn is_implicit(texts: Texts<'_>, element: Type) -> bool {
    let ctx = texts.ctx;
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
            // Types with one value.
            TypeKind::Fn(_) | TypeKind::Val(_) => {}
            &TypeKind::Struct(id) => {
                let def = ctx.struct_def(id);
                match texts.names.and_then(|names| names.implicit(ty)) {
                    Some(parts) => todo.extend(parts),
                    None if def.mutable || !def.fields.is_empty() => return false,
                    None => {}
                }
            }
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

/// Returns whether a symbol is written as it is behind a colon: `:+=`.
fn is_operator(text: &str) -> bool {
    let no_operator =
        |c: char| c.is_alphanumeric() || c.is_whitespace() || "()[]{},;\"'`#@_".contains(c);
    !text.is_empty() && !text.contains(no_operator)
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
