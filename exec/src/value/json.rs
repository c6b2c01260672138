//! Values as JSON.
//!
//! Numbers are numbers, `nothing` is `null`, strings and symbols are strings, tuples are lists,
//! named tuples and structs are objects, a ref is what it holds, and arrays are nested lists by
//! column: a matrix is the list of its columns (and an array without elements is `[]`, whatever
//! its dimensions). JSON has no `NaN` and no infinities; they are the
//! strings `"NaN"`, `"Inf"` and `"-Inf"`. A function or type is a string as in IR text. An
//! element that is not defined is `null`, and so is an object inside itself.

use std::fmt::Write;

use regraft_ir::{Constant, Context, Symbol, TypeKind};
use rustc_hash::FxHashSet;

use super::Val;
use super::float::non_finite;

enum Work {
    Value(Val),
    Text(&'static str),
    Key(Symbol),
    Close(*const ()),
}

/// The value as JSON text, in one line.
pub fn to_json(ctx: &Context, value: &Val) -> String {
    let mut out = String::new();
    let mut open: FxHashSet<*const ()> = FxHashSet::default();
    let mut work = vec![Work::Value(value.clone())];
    while let Some(item) = work.pop() {
        let value = match item {
            Work::Text(text) => {
                out.push_str(text);
                continue;
            }
            Work::Key(name) => {
                quoted(&mut out, ctx.str(name));
                out.push_str(": ");
                continue;
            }
            Work::Close(address) => {
                open.remove(&address);
                continue;
            }
            Work::Value(value) => value,
        };
        if matches!(value, Val::Object(_) | Val::Ref(_) | Val::Array(_)) {
            let address = value.address().unwrap_or(std::ptr::null());
            if !open.insert(address) {
                out.push_str("null");
                continue;
            }
            work.push(Work::Close(address));
        }
        write_one(ctx, &mut out, &value, &mut work);
    }
    out
}

fn write_one(ctx: &Context, out: &mut String, value: &Val, work: &mut Vec<Work>) {
    match value {
        Val::Unit => out.push_str("null"),
        Val::Bool(x) => out.push_str(&x.to_string()),
        Val::I8(x) => out.push_str(&x.to_string()),
        Val::I16(x) => out.push_str(&x.to_string()),
        Val::I32(x) => out.push_str(&x.to_string()),
        Val::I64(x) => out.push_str(&x.to_string()),
        Val::F32(x) if x.is_finite() => out.push_str(&format!("{x:?}")),
        Val::F64(x) if x.is_finite() => out.push_str(&format!("{x:?}")),
        Val::F32(x) => quoted(out, non_finite(f64::from(*x))),
        Val::F64(x) => quoted(out, non_finite(*x)),
        Val::Sym(name) => quoted(out, ctx.str(*name)),
        Val::Str(text) => quoted(out, text.as_str()),
        Val::Func(name) => quoted(out, &ctx.constant_text(Constant::Func(*name))),
        Val::Type(ty) => quoted(out, &ctx.constant_text(Constant::Type(*ty))),
        Val::Tuple(fields) => list(out, work, fields.items().iter().cloned()),
        Val::Named(fields) | Val::Struct(fields) => {
            object(ctx, out, work, fields.ty(), fields.items());
        }
        Val::Object(x) => object(ctx, out, work, x.ty(), &x.fields().collect::<Vec<_>>()),
        Val::Ref(cell) => work.push(Work::Value(cell.get())),
        Val::Array(array) => {
            let dims = array.dims();
            if array.is_empty() {
                return out.push_str("[]");
            }
            // The brackets that open before an element are as many as dimensions start anew there.
            let mut items = Vec::new();
            let strides: Vec<usize> = dims
                .iter()
                .scan(1usize, |stride, &dim| {
                    *stride *= dim;
                    Some(*stride)
                })
                .collect();
            for offset in 0..array.len() {
                if offset > 0 {
                    items.push(Work::Text(", "));
                }
                items.extend(strides.iter().filter(|&&s| offset % s == 0).map(|_| Work::Text("[")));
                items.push(array.get(offset).map_or(Work::Text("null"), Work::Value));
                let ends = strides.iter().filter(|&&s| (offset + 1) % s == 0);
                items.extend(ends.map(|_| Work::Text("]")));
            }
            work.extend(items.into_iter().rev());
        }
    }
}

fn list(
    out: &mut String,
    work: &mut Vec<Work>,
    items: impl DoubleEndedIterator<Item = Val> + ExactSizeIterator,
) {
    out.push('[');
    work.push(Work::Text("]"));
    for (i, item) in items.enumerate().rev() {
        work.push(Work::Value(item));
        work.push(Work::Text(if i == 0 { "" } else { ", " }));
    }
}

fn object(
    ctx: &Context,
    out: &mut String,
    work: &mut Vec<Work>,
    ty: regraft_ir::Type,
    items: &[Val],
) {
    let names: Vec<Symbol> = match ctx.kind(ty) {
        TypeKind::Named(fields) => fields.iter().map(|&(name, _)| name).collect(),
        &TypeKind::Struct(id) => ctx.struct_def(id).fields.iter().map(|&(name, _)| name).collect(),
        _ => Vec::new(),
    };
    out.push('{');
    work.push(Work::Text("}"));
    for (i, (item, name)) in items.iter().zip(names).enumerate().rev() {
        work.push(Work::Value(item.clone()));
        work.push(Work::Key(name));
        work.push(Work::Text(if i == 0 { "" } else { ", " }));
    }
}

fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
