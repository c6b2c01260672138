//! Types as they are written.

use regraft_ir::{Const, Constant, Symbol, Type, TypeKind, suggest};

use crate::builder::{Builder, did_you_mean};
use crate::function_text::Span;
use crate::token::MAX_DEPTH;
use crate::type_text::{TypeArg, TypeOpen, TypeSize};

/// The most parts that the type of a value can have.
const MAX_PARTS: u32 = 1 << 16;

/// The type constructors.
const CONSTRUCTORS: [&str; 6] = ["tuple", "array", "ref", "fn", "val", "type"];

impl Builder<'_> {
    #[inline]
    pub(crate) fn named_type(&mut self, span: Span) -> Type {
        match self.slice(span) {
            "f64" => Type::F64,
            "i64" => Type::I64,
            "bool" => Type::BOOL,
            name => match Type::BUILTIN.iter().find(|(_, builtin)| *builtin == name) {
                Some(&(ty, _)) => ty,
                None => self.unknown_type(span),
            },
        }
    }

    #[cold]
    fn unknown_type(&mut self, span: Span) -> Type {
        let name = self.slice(span);
        if let Some(constructor) = CONSTRUCTORS.into_iter().find(|c| *c == name) {
            let message = format!("type `{name}` needs arguments");
            self.error_with(span, message, "", |d, _| {
                d.help(format!("write `{}`", example(constructor)))
            });
            return Type::ANY;
        }
        let builtin = Type::BUILTIN.iter().map(|&(_, name)| name);
        let meant = suggest(name, builtin.chain(CONSTRUCTORS));
        self.error_with(span, format!("unknown type `{name}`"), "", |d, _| did_you_mean(d, meant));
        Type::ANY
    }

    pub(crate) fn struct_type(&mut self, span: Span) -> Type {
        let Some(symbol) = self.global_or_report(span) else { return Type::ANY };
        if let Some(decl) = self.structs.get(&symbol) {
            return decl.ty;
        }
        let ctx = self.ctx.clone();
        let mut names: Vec<&str> = self.structs.keys().map(|&name| ctx.str(name)).collect();
        names.sort_unstable();
        let meant = suggest(ctx.str(symbol), names).map(|name| format!("@{name}"));
        let message = format!("unknown struct {}", self.slice(span));
        self.error_with(span, message, "", |d, _| did_you_mean(d, meant.as_deref()));
        Type::ANY
    }

    pub(crate) fn open_type(&mut self, name: Span) -> TypeOpen {
        TypeOpen { name, start: self.type_args.len() as u32 }
    }

    pub(crate) fn type_arg(&mut self, ty: Type) {
        self.type_args.push(TypeArg::Type(ty));
    }

    pub(crate) fn const_arg(&mut self, constant: Const, span: Span) {
        self.type_args.push(TypeArg::Const(constant, span));
    }

    pub(crate) fn global_arg(&mut self, span: Span) {
        self.type_args.push(TypeArg::Global(span));
    }

    pub(crate) fn close_type(&mut self, open: TypeOpen, end: u32) -> Type {
        let args = self.type_args.split_off(open.start as usize);
        let name = self.slice(open.name);
        let ty = match (name, &*args) {
            ("tuple", args) => {
                let elements: Option<Vec<Type>> =
                    args.iter().map(|&arg| self.arg_as_type(arg)).collect();
                elements.map(|elements| self.ctx.tuple_type(&elements))
            }
            ("array", &[element, TypeArg::Const(rank, span)]) => {
                let rank = match self.ctx.constant(rank) {
                    Constant::I64(rank) => u8::try_from(rank).ok().filter(|&rank| rank > 0),
                    _ => None,
                };
                if rank.is_none() {
                    let message = format!("`{}` is no rank of an array", self.slice(span));
                    self.error(span, message, "expected a number from 1 to 255");
                }
                let element = self.arg_as_type(element);
                element.zip(rank).map(|(element, rank)| self.ctx.array_type(element, rank))
            }
            ("ref", &[element]) => {
                self.arg_as_type(element).map(|element| self.ctx.ref_type(element))
            }
            ("type", &[of]) => self.arg_as_type(of).map(|of| self.ctx.ty(TypeKind::TypeOf(of))),
            ("val", &[TypeArg::Const(constant, _)]) => Some(self.ctx.ty(TypeKind::Val(constant))),
            ("val", &[TypeArg::Global(name)]) => {
                let constant = self.func_const(name);
                Some(self.ctx.ty(TypeKind::Val(constant)))
            }
            ("fn", &[TypeArg::Global(name)]) => {
                self.global_or_report(name).map(|name| self.ctx.ty(TypeKind::Fn(name)))
            }
            _ => {
                self.wrong_args(open.name, end);
                None
            }
        };
        ty.unwrap_or(Type::ANY)
    }

    #[cold]
    fn wrong_args(&mut self, name: Span, end: u32) {
        let text = self.slice(name);
        if CONSTRUCTORS.contains(&text) {
            let message = format!("wrong arguments of type `{text}`");
            self.error_with((name.0, end), message, "", |d, _| {
                d.help(format!("write `{}`", example(text)))
            });
        } else if Type::BUILTIN.iter().any(|(_, builtin)| *builtin == text) {
            self.error((name.0, end), format!("type `{text}` has no arguments"), "");
        } else {
            let meant = suggest(text, CONSTRUCTORS);
            self.error_with(name, format!("unknown type `{text}`"), "", |d, _| {
                did_you_mean(d, meant)
            });
        }
    }

    fn arg_as_type(&mut self, arg: TypeArg) -> Option<Type> {
        match arg {
            TypeArg::Type(ty) | TypeArg::Field(_, ty) => Some(ty),
            TypeArg::Global(span) => Some(self.struct_type(span)),
            TypeArg::Const(_, span) => {
                self.error(span, format!("expected a type, found `{}`", self.slice(span)), "");
                None
            }
        }
    }

    /// Returns whether a type can be walked by recursion and written down.
    pub(crate) fn is_small(&mut self, ty: Type) -> bool {
        let size = self.type_size(ty);
        size.depth <= MAX_DEPTH && size.parts <= MAX_PARTS
    }

    /// Returns how large a type is. The depth of the recursion is that of types whose size is not
    /// known yet: those that were written, and one made of types that are small.
    fn type_size(&mut self, ty: Type) -> TypeSize {
        if ty.index() < Type::BUILTIN.len() {
            return TypeSize { depth: 0, parts: 1 };
        }
        if let Some(&size) = self.type_sizes.get(&ty) {
            return size;
        }
        let ctx = self.ctx.clone();
        let mut size = TypeSize { depth: 1, parts: 1 };
        let mut add = |part: Type| {
            let part = self.type_size(part);
            size.depth = size.depth.max(part.depth + 1);
            size.parts = size.parts.saturating_add(part.parts);
        };
        match ctx.kind(ty) {
            TypeKind::Tuple(elements) => elements.iter().for_each(|&element| add(element)),
            TypeKind::Named(fields) => fields.iter().for_each(|&(_, field)| add(field)),
            &(TypeKind::Array { element: part, .. }
            | TypeKind::Ref(part)
            | TypeKind::TypeOf(part)) => {
                add(part);
            }
            &TypeKind::Val(constant) => {
                if let Constant::Type(part) = ctx.constant(constant) {
                    add(part);
                }
            }
            TypeKind::Builtin | TypeKind::Struct(_) | TypeKind::Fn(_) => {}
        }
        self.type_sizes.insert(ty, size);
        size
    }

    pub(crate) fn open_fields(&mut self) -> u32 {
        self.type_args.len() as u32
    }

    pub(crate) fn field(&mut self, name: Span, ty: Type) {
        if let Some(name) = self.name_or_report(name) {
            self.type_args.push(TypeArg::Field(name, ty));
        }
    }

    /// The fields from `start` on; a name that is there twice is reported.
    pub(crate) fn take_fields(&mut self, start: u32, span: Span) -> Box<[(Symbol, Type)]> {
        let args = self.type_args.split_off(start as usize);
        let fields: Box<[(Symbol, Type)]> = args
            .iter()
            .filter_map(|arg| match *arg {
                TypeArg::Field(name, ty) => Some((name, ty)),
                _ => None,
            })
            .collect();
        let mut names: Vec<Symbol> = fields.iter().map(|&(name, _)| name).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let message = format!("field `{}` is there twice", self.ctx.str(twice[0]));
            self.error(span, message, "");
        }
        fields
    }

    pub(crate) fn record_type(&mut self, start: u32, span: Span) -> Type {
        let fields = self.take_fields(start, span);
        self.ctx.named_type(&fields)
    }
}

fn example(constructor: &str) -> &'static str {
    match constructor {
        "tuple" => "tuple<i64, f64>",
        "array" => "array<f64, 1>",
        "ref" => "ref<f64>",
        "fn" => "fn<@f>",
        "val" => "val<:name>",
        _ => "type<f64>",
    }
}
