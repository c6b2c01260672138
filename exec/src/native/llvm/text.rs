//! The LLVM IR text of a unit of functions.
//!
//! A function has two definitions: a body, which other compiled functions call with scalars in registers
//! of the machine, and an entry, by which the machine comes in. A body returns its result and a
//! status. Both have the C calling convention, so that code of several back ends can call each other.

use super::super::emitter::{FRAME_PARAMS, Function, Touches};
use super::super::source::Source;
use super::super::translate::{signature, translate};
use super::areas::areas;
use super::lanes::{self, Lanes, keep, lanes_of};
use super::shared::{Shared, Style, put, returned};
use super::value::{Type, Value};
use super::writer::Writer;

/// The text of a unit, and what it refers to.
pub(super) struct UnitText {
    pub(super) text: String,
    /// The names of the bodies, and of the entries.
    pub(super) names: Vec<(String, String)>,
    /// The functions of ours that it may call, and their addresses.
    pub(super) symbols: Vec<(String, *const u8)>,
    /// True if there is a loop.
    pub(super) has_loop: bool,
    /// The number of instructions of the compact form.
    pub(super) instructions: usize,
}

/// Writes a unit.
pub(super) fn write_unit(members: &[Source<'_>], style: Style) -> UnitText {
    let bodies = (0..)
        .zip(members)
        .map(|(number, member)| name(member.f.ctx().str(member.code.name), number, style.unit));
    let mut shared = Shared { style, bodies: bodies.collect(), ..Shared::default() };
    let mut text = String::new();
    let mut names = Vec::with_capacity(members.len());
    for (number, member) in members.iter().enumerate() {
        let body = shared.bodies[number].clone();
        write_body(&mut text, &mut shared, &body, *member);
        let entry = format!("{body}.entry");
        write_entry(&mut text, &body, &entry, *member);
        names.push((body, entry));
    }
    let mut functions: Vec<Function> = shared.functions.values().copied().collect();
    functions.sort_unstable_by_key(|function| function.name);
    let mut all_lanes: Vec<Lanes> = Vec::new();
    for function in &functions {
        let lanes = lanes_of(function);
        declare(&mut text, function, &lanes);
        all_lanes.extend(lanes);
    }
    keep(&mut text, &all_lanes);
    let scalars = functions.iter().map(|function| (function.name.to_owned(), function.address));
    let lanes = all_lanes.into_iter().map(|lanes| (lanes.name, lanes.address));
    let symbols = scalars.chain(lanes).collect();
    let mut intrinsics: Vec<&String> = shared.intrinsics.values().collect();
    intrinsics.sort_unstable();
    for declaration in intrinsics {
        put(&mut text, format_args!("{declaration}\n"));
    }
    for number in 0..shared.addresses.len() {
        put(&mut text, format_args!("@address.{number} = external global i8\n"));
    }
    text.push('\n');
    text.push_str(&areas());
    text.push_str(&shared.scopes.nodes());
    let has_loop = members.iter().any(|member| member.code.has_loop());
    let instructions = members.iter().map(|member| member.code.insts.len()).sum();
    UnitText { text, names, symbols, has_loop, instructions }
}

/// The name of a body: that of the function as far as it can be one, and its numbers.
fn name(of: &str, number: u32, unit: Option<u32>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let mut name: String = of.chars().map(plain).collect();
    if let Some(unit) = unit {
        put(&mut name, format_args!(".{unit}"));
    }
    put(&mut name, format_args!(".{number}"));
    name
}

const FRAME: &str = "ptr noalias noundef nonnull %cx, ptr noundef nonnull align 8 %scalars, ptr noundef nonnull align 8 %vals";

fn write_body(text: &mut String, shared: &mut Shared, name: &str, member: Source<'_>) {
    let signature = signature(member);
    let result = signature.result.map(Type::from);
    put(text, format_args!("define {} @{name}({FRAME}", returned(result)));
    let params: Vec<Type> = signature.params.iter().map(|&class| class.into()).collect();
    for (number, ty) in params.iter().enumerate() {
        put(text, format_args!(", {ty} noundef %a{number}"));
    }
    text.push_str(") nounwind {\n");
    let mut writer = Writer::new(text, shared, member, params, result);
    translate(member, &mut writer);
    text.push_str("}\n\n");
}

/// Writes the function that the machine calls: it takes the scalars from their registers.
fn write_entry(text: &mut String, body: &str, name: &str, member: Source<'_>) {
    let signature = signature(member);
    put(
        text,
        format_args!(
            "define i64 @{name}({FRAME}, ptr noundef nonnull %result, ptr %body) nounwind {{\n"
        ),
    );
    let params: Vec<Type> = signature.params.iter().map(|&class| class.into()).collect();
    for (number, ty) in params.iter().enumerate() {
        put(text, format_args!("  %p{number} = getelementptr i64, ptr %scalars, i64 {number}\n"));
        put(text, format_args!("  %a{number} = load {ty}, ptr %p{number}, align 8\n"));
    }
    let result = signature.result.map(Type::from);
    put(text, format_args!("  %r = call {} @{name}(", returned(result), name = body));
    text.push_str("ptr %cx, ptr %scalars, ptr %vals");
    for (number, ty) in (FRAME_PARAMS as u32..).zip(&params) {
        put(text, format_args!(", {ty} {}", Value::Param(number, *ty)));
    }
    text.push_str(") noinline\n");
    match result {
        Some(ty) => put(
            text,
            format_args!(
                "  %x = extractvalue {{ {ty}, i64 }} %r, 0\n  \
                   store {ty} %x, ptr %result, align 8\n  \
                   %status = extractvalue {{ {ty}, i64 }} %r, 1\n  \
                   ret i64 %status\n"
            ),
        ),
        None => text.push_str("  ret i64 %r\n"),
    }
    text.push_str("}\n\n");
}

/// Declares a function of ours. Pure ones may run where the program does not get to.
fn declare(text: &mut String, function: &Function, lanes: &[Lanes]) {
    let result = function.result.map_or("void".to_owned(), |arg| Type::from(arg).to_string());
    put(text, format_args!("declare {result} @{}(", function.name));
    for (number, &arg) in function.params.iter().enumerate() {
        let separator = if number == 0 { "" } else { ", " };
        put(text, format_args!("{separator}{}", Type::from(arg)));
    }
    let effects = match function.touches {
        Touches::Nothing => " willreturn memory(none) speculatable",
        Touches::Arguments => " willreturn memory(argmem: readwrite)",
        Touches::Context => " willreturn memory(argmem: readwrite, inaccessiblemem: readwrite)",
        Touches::Everything => "",
    };
    let lanes_attribute = lanes::attribute(function, lanes);
    put(text, format_args!(") nounwind{effects}{lanes_attribute}\n"));
    lanes::declare(text, function, lanes);
}
