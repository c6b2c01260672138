//! A small world for tests: methods are given by a header in Julia and a lowered body as IR text.

use std::sync::Arc;

use regraft_dialects::context;
use regraft_ir::{Context, Function, Loc, Symbol, Type, TypeKind, verify_module};
use regraft_lang::definition::{
    Callee, ClosureDef, MethodDef, MethodHead, ParamDecl, Space, StaticDecl, StructDecl, Thunk,
    TypeExpr, TypeExprKind,
};
use regraft_lang::testing::{Compiler, Lattice};
use regraft_lang::world::{SpecId, World};

/// A compiler, and what is needed to tell it things.
pub struct Lab {
    pub ctx: Arc<Context>,
    pub compiler: Compiler,
}

/// The methods of the prelude that the tests count on.
const PRELUDE: &[(&str, &str)] = &[
    ("+(x::Int64, y::Int64)", "%3 = call @arith.add(%1, %2)\n return %3"),
    ("+(x::Float64, y::Float64)", "%3 = call @arith.add(%1, %2)\n return %3"),
    ("-(x::Int64, y::Int64)", "%3 = call @arith.sub(%1, %2)\n return %3"),
    ("-(x::Float64, y::Float64)", "%3 = call @arith.sub(%1, %2)\n return %3"),
    ("*(x::Int64, y::Int64)", "%3 = call @arith.mul(%1, %2)\n return %3"),
    ("*(x::Float64, y::Float64)", "%3 = call @arith.mul(%1, %2)\n return %3"),
    (
        "@inline *(x::Int64, y::Float64)",
        "%3 = call @arith.int_to_float(!f64, %1)\n %4 = call @*(%3, %2)\n return %4",
    ),
    ("<(x::Int64, y::Int64)", "%3 = call @arith.lt(%1, %2)\n return %3"),
    ("<(x::Float64, y::Float64)", "%3 = call @arith.lt(%1, %2)\n return %3"),
    ("==(x::Int64, y::Int64)", "%3 = call @arith.eq(%1, %2)\n return %3"),
    ("!(x::Bool)", "%2 = call @arith.not(%1)\n return %2"),
    ("===(x, y)", "%3 = call @core.same(%1, %2)\n return %3"),
    ("identity(x)", "return %1"),
    ("sqrt(x::Float64)", "%2 = call @math.sqrt(%1)\n return %2"),
    ("println(x)", "%2 = call @core.println(%1)\n return %2"),
    ("length(x::Array)", "%2 = call @mem.length(%1)\n return %2"),
    ("getindex(x::Array, i::Int64)", "%3 = call @mem.load(%1, %2)\n return %3"),
    ("@inline setindex!(x::Array, v, i::Int64)", "%4 = call @mem.store(%1, %2, %3)\n return %1"),
    ("@inline getindex(t::Tuple, i::Int64)", "%3 = call @data.getfield(%1, %2)\n return %3"),
    ("@inline getindex(t::NamedTuple, k::Symbol)", "%3 = call @data.getfield(%1, %2)\n return %3"),
    ("@inline getproperty(x, k::Symbol)", "%3 = call @data.getfield(%1, %2)\n return %3"),
    ("getfield(x, k::Symbol)", "%3 = call @data.getfield(%1, %2)\n return %3"),
    ("@inline setproperty!(x, k::Symbol, v)", "%4 = call @data.setfield(%1, %2, %3)\n return %3"),
    ("map(f, t::Tuple)", "%3 = call @#unroll_map(%1, %2)\n return %3"),
    ("convert(::Type{T}, x::T) where T", "return %2"),
    ("convert(::Type{Float64}, x::Int64)", "%3 = call @core.convert(!f64, %2)\n return %3"),
    ("Val(x)", "%2 = call @#val(%1)\n return %2"),
    (
        "@inline #check_defined(flag::Bool, name)",
        "br %1, ^2, ^3\n^2:\n return nothing\n^3:\n core.throw \"undefined\"\n unreachable",
    ),
    ("eachindex(x::Array)", "%2 = call @length(%1)\n %3 = call @tuple(1, %2)\n return %3"),
    ("@inline #start(r::Tuple)", "return 0"),
    (
        "@inline #done(r::Tuple, s::Int64)",
        "%3 = call @#count(%1)\n %4 = call @arith.ge(%2, %3)\n return %4",
    ),
    ("@inline #count(r::Tuple)", "%2 = call @getindex(%1, 2)\n return %2"),
    (
        "@inline #item(r::Tuple, s::Int64)",
        "%3 = call @getindex(%1, 1)\n %4 = call @+(%3, %2)\n return %4",
    ),
    ("@inline #next(r::Tuple, s::Int64)", "%3 = call @+(%2, 1)\n return %3"),
];

impl Lab {
    pub fn new() -> Self {
        let ctx = context();
        let world = World::new(&ctx);
        let mut lab = Self { compiler: Compiler::new(&ctx, world), ctx };
        for (header, body) in PRELUDE {
            lab.define(header, body, Space::Base, &[]);
        }
        lab
    }

    /// Defines a method of the program.
    pub fn main(&mut self, header: &str, body: &str) {
        self.define(header, body, Space::Main, &[]);
    }

    pub fn define(&mut self, header: &str, body: &str, space: Space, closures: &[ClosureDef]) {
        let def = self.method(header, body, space, closures);
        self.compiler.world.define(def).unwrap_or_else(|errors| panic!("{header}: {errors:?}"));
    }

    /// A closure with one method.
    pub fn closure(&mut self, name: &str, captures: &[&str], header: &str, body: &str) {
        let symbol = self.ctx.symbol(name);
        let mut method = self.method(header, body, Space::Main, &[]);
        method.head.callee = Callee::Closure(symbol);
        let captures = captures.iter().map(|name| self.ctx.symbol(name)).collect();
        let def = ClosureDef { name: symbol, shown: symbol, captures, methods: vec![method] };
        self.compiler.world.register_closure(&def).unwrap_or_else(|errors| panic!("{errors:?}"));
    }

    pub fn declare(&mut self, name: &str, params: &[&str], mutable: bool, fields: &[(&str, &str)]) {
        let decl = StructDecl {
            name: self.ctx.symbol(name),
            params: params.iter().map(|name| self.static_decl(name)).collect(),
            supertype: None,
            mutable,
            fixed: Vec::new(),
            given: fields.len(),
            fields: fields
                .iter()
                .map(|(name, ty)| (self.ctx.symbol(name), self.type_expr(ty)))
                .collect(),
            constructors: Vec::new(),
            space: Space::Main,
            loc: Loc::UNKNOWN,
        };
        self.compiler.world.declare_struct(decl).unwrap_or_else(|errors| panic!("{errors:?}"));
    }

    fn method(&self, header: &str, body: &str, space: Space, closures: &[ClosureDef]) -> MethodDef {
        let mut header = header.trim();
        let mut inline = None;
        for (word, value) in [("@inline ", true), ("@noinline ", false)] {
            if let Some(rest) = header.strip_prefix(word) {
                (header, inline) = (rest, Some(value));
            }
        }
        let (signature, statics) = header.split_once(" where ").unwrap_or((header, ""));
        // `(::Type{T})(x)` is a constructor of a type.
        let from = if signature.starts_with('(') {
            signature.find(")(").expect("a callee") + 1
        } else {
            0
        };
        let open = from + signature[from..].find('(').expect("a header has parentheses");
        let name = &signature[..open];
        let list = &signature[open + 1..signature.len() - 1];
        let mut params = Vec::new();
        let mut vararg = false;
        for param in split(list) {
            let param = param.strip_suffix("...").inspect(|_| vararg = true).unwrap_or(param);
            let (name, ty) = param.split_once("::").unwrap_or((param, "Any"));
            let name = (!name.is_empty()).then(|| self.ctx.symbol(name));
            params.push(ParamDecl { name, ty: self.type_expr(ty) });
        }
        let callee = match name.strip_prefix("(::") {
            Some(ty) => {
                let ty = &ty[..ty.len() - 1];
                let of = ty.strip_prefix("Type{").map_or(ty, |of| &of[..of.len() - 1]);
                Callee::Type(self.type_expr(of))
            }
            None => Callee::Function(self.ctx.symbol(name)),
        };
        let body = self.body(params.len() + usize::from(body.contains("%self")), &params, body);
        let statics = split(statics).into_iter().map(|decl| self.static_decl(decl)).collect();
        let (extends_base, loc) = (space == Space::Base, Loc::UNKNOWN);
        let plain = MethodHead::plain(callee, params, space, loc);
        let head = MethodHead { extends_base, vararg, statics, inline, ..plain };
        MethodDef { head, body, closures: closures.to_vec(), generator: None }
    }

    /// A lowered body; `%self` is a first parameter if it occurs.
    fn body(&self, count: usize, params: &[ParamDecl], body: &str) -> Arc<Function> {
        let mut list: Vec<String> = Vec::new();
        if count > params.len() {
            list.push("%self: any".to_owned());
        }
        for (i, param) in params.iter().enumerate() {
            let name = param.name.map(|name| self.ctx.str(name)).filter(|_| body.contains("%x"));
            match name {
                Some(name) => list.push(format!("%{name}: any")),
                None => list.push(format!("%{}: any", i + 1 + count - params.len())),
            }
        }
        let body = quote_names(body);
        let text = format!("func @body({}) {{\n^1:\n {body}\n}}\n", list.join(", "));
        let module = regraft_syntax::parse_module(&self.ctx, "test.ir", &text)
            .unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
        Arc::new(module.functions().next().expect("there is one").clone())
    }

    fn static_decl(&self, text: &str) -> StaticDecl {
        let (name, upper) = text.split_once("<:").map_or((text, None), |(n, u)| (n, Some(u)));
        let upper = upper.map(|upper| self.type_expr(upper));
        StaticDecl { name: self.ctx.symbol(name), lower: None, upper }
    }

    fn type_expr(&self, text: &str) -> TypeExpr {
        let text = text.trim();
        let kind = if let Some(open) = text.find('{') {
            let head = self.type_expr(&text[..open]);
            let args = split(&text[open + 1..text.len() - 1]);
            TypeExprKind::Apply(
                Box::new(head),
                args.into_iter().map(|arg| self.type_expr(arg)).collect(),
            )
        } else if let Ok(number) = text.parse::<i64>() {
            TypeExprKind::Constant(number.into())
        } else if let Some(f) = text.strip_prefix("typeof(") {
            TypeExprKind::TypeOf(Box::new(self.type_expr(&f[..f.len() - 1])))
        } else {
            TypeExprKind::Name(self.ctx.symbol(text))
        };
        TypeExpr { kind, loc: Loc::UNKNOWN }
    }

    /// The IR type with that text.
    pub fn ty(&self, text: &str) -> Type {
        let text = format!("func @f(%1: {text}) -> any {{\n^1:\n return %1\n}}\n");
        let module = regraft_syntax::parse_module(&self.ctx, "type.ir", &text)
            .unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
        module.functions().next().expect("there is one").param_types()[0]
    }

    /// The specialisation of a function for these types.
    pub fn spec(&mut self, name: &str, args: &[&str]) -> SpecId {
        let types: Vec<Type> = args.iter().map(|ty| self.ty(ty)).collect();
        self.spec_of(name, &types)
    }

    pub fn spec_of(&mut self, name: &str, types: &[Type]) -> SpecId {
        self.compiler.invalidate();
        let callee = self.ctx.ty(TypeKind::Fn(self.ctx.symbol(name)));
        self.compiler.specialize(callee, types).unwrap_or_else(|error| panic!("{error:?}"))
    }

    /// The result type of a call, as text.
    pub fn result(&mut self, name: &str, args: &[&str]) -> String {
        let spec = self.spec(name, args);
        self.check(spec);
        let known = self.compiler.result(spec);
        match known {
            Lattice::Const(constant) => self.ctx.constant_text(self.ctx.constant(constant)),
            _ => self.ctx.type_text(self.compiler.partials.type_of(known)),
        }
    }

    /// The module of a specialisation passes the verifier.
    pub fn check(&mut self, spec: SpecId) {
        let module = self.compiler.module_of(spec);
        if let Err(errors) = verify_module(&module) {
            panic!("{module}\n{errors:?}");
        }
    }

    /// The typed function of a call, as text, verified.
    pub fn code(&mut self, name: &str, args: &[&str]) -> String {
        let spec = self.spec(name, args);
        self.check(spec);
        self.compiler.function(spec).to_string()
    }

    /// All functions of a call, as text.
    pub fn module(&mut self, name: &str, args: &[&str]) -> String {
        let spec = self.spec(name, args);
        self.check(spec);
        self.compiler.module_of(spec).to_string()
    }

    /// A thunk of a body.
    pub fn thunk(&self, body: &str) -> Thunk {
        Thunk {
            body: self.body(0, &[], body),
            closures: Vec::new(),
            definitions: Vec::new(),
            loc: Loc::UNKNOWN,
        }
    }

    pub fn symbol(&self, name: &str) -> Symbol {
        self.ctx.symbol(name)
    }
}

/// `call @+(` with the name in quotes.
fn quote_names(body: &str) -> String {
    let mut parts = body.split("call @");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('(').expect("a call has arguments");
        let plain = name.starts_with('"')
            || name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
        let name = if plain { name.to_owned() } else { format!("\"{name}\"") };
        text.push_str(&format!("call @{name}({rest}"));
    }
    text
}

/// The parts of a list, at commas outside of braces and parentheses.
fn split(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (i, c) in list.char_indices() {
        match c {
            '{' | '(' => depth += 1,
            '}' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(list[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(list[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}
