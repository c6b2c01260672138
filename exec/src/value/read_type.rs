//! Types and signatures as they are written: `foo(Float64, Vector{Float64})`.
//!
//! This reads what [`type_name`](super::type_name) writes, for IR: a name that is not builtin is
//! that of one of the structs that are given. O(length × structs).

use regraft_ir::{Constant, Context, Type, TypeKind, is_plain_name};

use super::type_name;

/// The depth to which types may be nested.
const MAX_DEPTH: usize = 64;

/// A function and the types of its arguments: `foo(Float64, Vector{Float64})`. A name that is not
/// plain is quoted, as in IR text.
pub fn signature(ctx: &Context, function: &str, types: &[Type]) -> String {
    let types: Vec<String> = types.iter().map(|&ty| type_name(ctx, ty)).collect();
    format!("{}({})", written_name(ctx, function), types.join(", "))
}

/// The name of a function as it stands in a signature.
fn written_name(ctx: &Context, function: &str) -> String {
    if is_plain_name(function) {
        return function.to_owned();
    }
    let text = ctx.constant_text(Constant::Func(ctx.symbol(function)));
    text.trim_start_matches('@').to_owned()
}

/// Reads a signature at the start of a text, and gives the function, the types and the rest of the
/// text. `functions` are the functions that there are, and `structs` the types of the structs.
///
/// # Errors
/// If there is no such function or type, and if the text is no signature.
pub fn read_signature<'t, 'f>(
    ctx: &Context,
    functions: impl IntoIterator<Item = &'f str>,
    structs: &[Type],
    text: &'t str,
) -> Result<(&'f str, Vec<Type>, &'t str), String> {
    // Names may have parentheses in them: the longest one that fits is meant.
    let named = functions.into_iter().filter_map(|function| {
        let rest = text.strip_prefix(&written_name(ctx, function))?.strip_prefix('(')?;
        Some((function, rest))
    });
    let Some((function, rest)) = named.min_by_key(|(_, rest)| rest.len()) else {
        let name = text.split('(').next().unwrap_or_default();
        return Err(format!("there is no function `{name}`"));
    };
    let mut reader = Reader { ctx, structs, rest, depth: 0 };
    let types = reader.types(')')?;
    Ok((function, types, reader.rest))
}

/// Reads a type. `structs` are the types of the structs that there are.
///
/// # Errors
/// If there is no such type.
pub fn read_type(ctx: &Context, structs: &[Type], text: &str) -> Result<Type, String> {
    let mut reader = Reader { ctx, structs, rest: text, depth: 0 };
    let ty = reader.ty()?;
    match reader.rest.trim() {
        "" => Ok(ty),
        rest => Err(format!("expected nothing more after the type, found `{rest}`")),
    }
}

struct Reader<'a, 't> {
    ctx: &'a Context,
    structs: &'a [Type],
    rest: &'t str,
    depth: usize,
}

impl<'t> Reader<'_, 't> {
    /// Types up to a closing bracket.
    fn types(&mut self, close: char) -> Result<Vec<Type>, String> {
        let mut types = Vec::new();
        while !self.eat(close) {
            if !types.is_empty() {
                self.expect(',')?;
            }
            match self.repeated()? {
                Some((ty, count)) => types.extend(std::iter::repeat_n(ty, count)),
                None => types.push(self.ty()?),
            }
        }
        Ok(types)
    }

    /// `Vararg{T, 3}`
    fn repeated(&mut self) -> Result<Option<(Type, usize)>, String> {
        self.blank();
        let Some(rest) = self.rest.strip_prefix("Vararg{") else { return Ok(None) };
        self.rest = rest;
        let ty = self.ty()?;
        self.expect(',')?;
        let count = self.number()?;
        self.expect('}')?;
        Ok(Some((ty, count)))
    }

    fn ty(&mut self) -> Result<Type, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("types are nested more than {MAX_DEPTH} deep"));
        }
        self.blank();
        let ty = match self.struct_type() {
            Some(ty) => ty,
            None => self.builtin()?,
        };
        self.depth -= 1;
        Ok(ty)
    }

    /// The struct whose name the text begins with, up to what can follow a type.
    fn struct_type(&mut self) -> Option<Type> {
        let text = self.rest;
        let named = self.structs.iter().filter_map(|&ty| {
            let rest = text.strip_prefix(&*type_name(self.ctx, ty))?;
            let after = rest.trim_start();
            (after.is_empty() || after.starts_with([',', '}', ')'])).then_some((ty, rest))
        });
        let (ty, rest) = named.min_by_key(|(_, rest)| rest.len())?;
        self.rest = rest;
        Some(ty)
    }

    fn builtin(&mut self) -> Result<Type, String> {
        let word = |c: char| c.is_alphanumeric() || "_.@!".contains(c);
        let end = self.rest.find(|c| !word(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        let simple = match name {
            "Any" => Type::ANY,
            "Nothing" => Type::UNIT,
            "Symbol" => Type::SYM,
            "String" => Type::STR,
            "Bool" => Type::BOOL,
            "Int8" => Type::I8,
            "Int16" => Type::I16,
            "Int32" => Type::I32,
            "Int64" | "Int" => Type::I64,
            "Float32" => Type::F32,
            "Float64" => Type::F64,
            "typeof" => return self.type_of(),
            _ => return self.applied(name),
        };
        Ok(simple)
    }

    /// `typeof(f)`: the name may have parentheses in it.
    fn type_of(&mut self) -> Result<Type, String> {
        self.expect('(')?;
        let inner = self.up_to_closing('(', ')')?;
        Ok(self.ctx.ty(TypeKind::Fn(self.ctx.symbol(inner))))
    }

    /// A type with parameters, whose name has been read.
    fn applied(&mut self, name: &str) -> Result<Type, String> {
        let unknown = || match name {
            "" => "expected a type".to_owned(),
            _ => format!("unknown type `{name}`"),
        };
        if !self.eat('{') {
            return Err(unknown());
        }
        match name {
            "Union" => self.expect('}').map(|()| Type::NEVER),
            "Tuple" => self.types('}').map(|types| self.ctx.tuple_type(&types)),
            "NTuple" => {
                let count = self.number()?;
                self.expect(',')?;
                let ty = self.ty()?;
                self.expect('}')?;
                Ok(self.ctx.tuple_type(&vec![ty; count]))
            }
            "@NamedTuple" => self.named(),
            "Val" => {
                let text = self.up_to_closing('{', '}')?;
                let constant = self.constant(text)?;
                Ok(self.ctx.ty(TypeKind::Val(self.ctx.constant_id(constant))))
            }
            "Vector" | "Matrix" | "Array" | "Base.RefValue" | "Ref" | "Type" => {
                let of = self.ty()?;
                let ty = match name {
                    "Vector" => self.ctx.array_type(of, 1),
                    "Matrix" => self.ctx.array_type(of, 2),
                    "Array" => {
                        self.expect(',')?;
                        let rank = self.number()?;
                        let rank = u8::try_from(rank)
                            .map_err(|_| "an array has 255 dimensions at most")?;
                        self.ctx.array_type(of, rank)
                    }
                    "Type" => self.ctx.ty(TypeKind::TypeOf(of)),
                    _ => self.ctx.ref_type(of),
                };
                self.expect('}')?;
                Ok(ty)
            }
            _ => Err(unknown()),
        }
    }

    /// `a::Float64, b}`
    fn named(&mut self) -> Result<Type, String> {
        let mut fields = Vec::new();
        while !self.eat('}') {
            if !fields.is_empty() {
                self.expect(',')?;
            }
            self.blank();
            let end = self.rest.find([':', ',', '}']).unwrap_or(self.rest.len());
            let (name, rest) = self.rest.split_at(end);
            let (ty, rest) = match rest.strip_prefix("::") {
                Some(rest) => (None, rest),
                None => (Some(Type::ANY), rest),
            };
            self.rest = rest;
            let ty = ty.map_or_else(|| self.ty(), Ok)?;
            fields.push((self.ctx.symbol(name.trim()), ty));
        }
        Ok(self.ctx.named_type(&fields))
    }

    /// A constant as the parameter of a type, in the form of IR text.
    fn constant(&self, text: &str) -> Result<Constant, String> {
        let constant = match text.trim() {
            "true" => Some(Constant::Bool(true)),
            "false" => Some(Constant::Bool(false)),
            text => match text.strip_prefix(':') {
                Some(name) => Some(Constant::Sym(self.ctx.symbol(name.trim_matches('"')))),
                None => text.parse().ok().map(Constant::I64),
            },
        };
        constant.ok_or_else(|| format!("`{text}` cannot be the parameter of `Val`"))
    }

    /// The text up to the bracket that closes one that was read.
    fn up_to_closing(&mut self, open: char, close: char) -> Result<&'t str, String> {
        let mut depth = 1;
        for (at, c) in self.rest.char_indices() {
            depth += usize::from(c == open);
            depth -= usize::from(c == close);
            if depth == 0 {
                let inner = &self.rest[..at];
                self.rest = &self.rest[at + close.len_utf8()..];
                return Ok(inner);
            }
        }
        Err(format!("`{close}` is missing"))
    }

    fn number(&mut self) -> Result<usize, String> {
        self.blank();
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        /// More than anybody writes.
        const MAX: usize = 1 << 16;
        let number = digits.parse().ok().filter(|&n| n <= MAX);
        number.ok_or_else(|| format!("expected a number, found `{digits}{rest}`"))
    }

    fn eat(&mut self, c: char) -> bool {
        self.blank();
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, c: char) -> Result<(), String> {
        if self.eat(c) {
            return Ok(());
        }
        match self.rest {
            "" => Err(format!("`{c}` is missing")),
            rest => Err(format!("expected `{c}`, found `{rest}`")),
        }
    }

    fn blank(&mut self) {
        self.rest = self.rest.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use regraft_ir::StructDef;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let ctx = regraft_dialects::context();
        let field = |name: &str, ty| (ctx.symbol(name), ty);
        let def = |name: &str| StructDef {
            name: ctx.symbol(name),
            mutable: false,
            fields: Box::new([field("x", Type::F64)]),
            call: None,
        };
        let range = ctx.add_struct(def("UnitRange{Int64}")).1;
        let plain = ctx.add_struct(def("UnitRange")).1;
        let structs = [plain, range];
        let pair = ctx.tuple_type(&[Type::I64, Type::ANY]);
        let symbol = ctx.symbol("foo(Float64, Float64)");
        let types = [
            Type::ANY,
            Type::NEVER,
            Type::UNIT,
            Type::SYM,
            Type::STR,
            Type::BOOL,
            Type::I8,
            Type::I16,
            Type::I32,
            Type::F32,
            range,
            plain,
            pair,
            ctx.tuple_type(&[]),
            ctx.tuple_type(&[Type::F64; 7]),
            ctx.tuple_type(&[Type::I64, pair, pair, pair, pair]),
            ctx.named_type(&[field("a", range), field("b", Type::ANY)]),
            ctx.array_type(range, 1),
            ctx.array_type(Type::F32, 2),
            ctx.array_type(pair, 3),
            ctx.ref_type(ctx.ref_type(Type::F64)),
            ctx.ty(TypeKind::Fn(symbol)),
            ctx.ty(TypeKind::TypeOf(Type::F64)),
            ctx.ty(TypeKind::Val(ctx.constant_id(-3i64))),
            ctx.ty(TypeKind::Val(ctx.constant_id(true))),
            ctx.ty(TypeKind::Val(ctx.constant_id(Constant::Sym(ctx.symbol("a"))))),
        ];
        for ty in types {
            let text = type_name(&ctx, ty);
            assert_eq!(read_type(&ctx, &structs, &text), Ok(ty), "{text}");
        }
        for name in ["f", "odd name", "foo(Float64, Float64)"] {
            let text = signature(&ctx, name, &types) + ", and more";
            let names = ["f", "fo", "odd name", "foo(Float64, Float64)"];
            let read = read_signature(&ctx, names, &structs, &text);
            assert_eq!(read, Ok((name, types.to_vec(), ", and more")), "{text}");
        }
    }

    #[test]
    fn what_is_no_type_says_why() {
        let ctx = regraft_dialects::context();
        let deep = "Vector{".repeat(100_000);
        for (text, why) in [
            ("f64", "unknown type `f64`"),
            ("Vector{Float64", "`}` is missing"),
            ("Vector", "unknown type `Vector`"),
            ("Array{Int64, 300}", "255 dimensions"),
            ("NTuple{99999999, Int64}", "expected a number"),
            ("Float64 Int64", "expected nothing more"),
            ("Val{1.5}", "cannot be the parameter"),
            ("typeof(f", "`)` is missing"),
            ("", "expected a type"),
            (&deep, "nested more than 64"),
        ] {
            let error = read_type(&ctx, &[], text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        let read = read_signature(&ctx, ["f"], &[], "g(Int64)");
        assert_eq!(read, Err("there is no function `g`".to_owned()));
    }
}
