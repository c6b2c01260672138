//! Types as Julia names them.

use regraft_dialects::semantics::number_name;
use regraft_ir::{Context, Type, TypeKind};

use super::texts::Texts;
use super::val::Val;

/// The name of a type in Julia: `Int64`, `Vector{Float64}`, `Tuple{Int64, Any}`.
pub fn type_name(ctx: &Context, ty: Type) -> String {
    Texts::plain(ctx).type_name(ty)
}

impl Texts<'_> {
    /// The name of a type in Julia.
    pub fn type_name(self, ty: Type) -> String {
        let mut out = String::new();
        write_type(self, ty, &mut out);
        out
    }

    /// A type in messages: as the language names it, or, without one, as IR text does.
    pub fn type_text(self, ty: Type) -> String {
        if self.names.is_some() { self.type_name(ty) } else { self.ctx.type_text(ty) }
    }

    /// The type of a value in messages.
    pub fn type_of(self, value: &Val) -> String {
        self.type_text(value.type_of(self.ctx))
    }
}

/// The number of equal parameters at the end of a tuple type that are written one by one.
const MAX_TAIL: usize = 3;

/// Adds the name of a type.
pub(super) fn write_type(texts: Texts<'_>, ty: Type, out: &mut String) {
    enum Work<'a> {
        Type(Type),
        Text(&'a str),
        Owned(String),
    }
    let Texts { ctx, names } = texts;
    let mut work = vec![Work::Type(ty)];
    // An explicit stack: types can be nested as deep as the user writes them.
    while let Some(item) = work.pop() {
        let ty = match item {
            Work::Text(text) => {
                out.push_str(text);
                continue;
            }
            Work::Owned(text) => {
                out.push_str(&text);
                continue;
            }
            Work::Type(ty) => ty,
        };
        if let Some(text) = names.and_then(|names| names.type_name(ty)) {
            out.push_str(&text);
            continue;
        }
        match ctx.kind(ty) {
            TypeKind::Builtin => out.push_str(builtin_name(ty)),
            TypeKind::Tuple(elements) => {
                // A long tail of equal types is written once.
                let last = elements.last().copied();
                let tail = elements.iter().rev().take_while(|&&ty| Some(ty) == last).count();
                let (head, close) = match last {
                    Some(last) if tail > MAX_TAIL && tail == elements.len() => {
                        out.push_str(&format!("NTuple{{{tail}, "));
                        work.extend([Work::Text("}"), Work::Type(last)]);
                        continue;
                    }
                    Some(last) if tail > MAX_TAIL => {
                        let close = [
                            Work::Owned(format!(", {tail}}}}}")),
                            Work::Type(last),
                            Work::Text(", Vararg{"),
                        ];
                        (&elements[..elements.len() - tail], close.into())
                    }
                    _ => (&elements[..], vec![Work::Text("}")]),
                };
                out.push_str("Tuple{");
                work.extend(close);
                for (i, &element) in head.iter().enumerate().rev() {
                    work.push(Work::Type(element));
                    work.push(Work::Text(if i == 0 { "" } else { ", " }));
                }
            }
            TypeKind::Named(fields) => {
                out.push_str("@NamedTuple{");
                work.push(Work::Text("}"));
                for (i, &(name, field)) in fields.iter().enumerate().rev() {
                    if field != Type::ANY {
                        work.extend([Work::Type(field), Work::Text("::")]);
                    }
                    work.push(Work::Text(ctx.str(name)));
                    work.push(Work::Text(if i == 0 { "" } else { ", " }));
                }
            }
            &TypeKind::Struct(id) => out.push_str(ctx.str(ctx.struct_def(id).name)),
            &TypeKind::Array { element, rank } => match rank {
                1 | 2 => {
                    out.push_str(if rank == 1 { "Vector{" } else { "Matrix{" });
                    work.extend([Work::Text("}"), Work::Type(element)]);
                }
                _ => {
                    out.push_str("Array{");
                    work.extend([Work::Owned(format!(", {rank}}}")), Work::Type(element)]);
                }
            },
            &TypeKind::Ref(element) => {
                out.push_str("Base.RefValue{");
                work.extend([Work::Text("}"), Work::Type(element)]);
            }
            &TypeKind::Fn(name) => {
                out.push_str("typeof(");
                let text = names.and_then(|names| names.function_name(name));
                let text = text.unwrap_or_else(|| ctx.str(name).to_owned());
                work.extend([Work::Text(")"), Work::Owned(text)]);
            }
            &TypeKind::Val(constant) => {
                let text = ctx.constant_text(ctx.constant(constant));
                out.push_str(&format!("Val{{{text}}}"));
            }
            &TypeKind::TypeOf(of) => {
                out.push_str("Type{");
                work.extend([Work::Text("}"), Work::Type(of)]);
            }
        }
    }
}

fn builtin_name(ty: Type) -> &'static str {
    match ty {
        Type::ANY => "Any",
        Type::NEVER => "Union{}",
        Type::UNIT => "Nothing",
        Type::SYM => "Symbol",
        Type::STR => "String",
        number => number_name(number),
    }
}
