//! Tests of the world of methods. What is expected is what Julia does.

mod text;

mod dispatch;
mod errors;
mod invalidation;
mod structs;
mod subtyping;

use std::collections::BTreeMap;
use std::sync::Arc;

use regraft_ir::{Context, Diagnostic, Registry, Symbol, Type, TypeKind};
use regraft_lang::definition::{AbstractDecl, ClosureDef, Space, StructDecl, TypeExpr};
use regraft_lang::world::{Dispatch, MethodId, SpecId, StaticValue, World};
use text::Reader;

/// A world that is told of things by text.
struct Tester {
    ctx: Arc<Context>,
    world: World,
    texts: BTreeMap<MethodId, String>,
}

impl Tester {
    fn new() -> Self {
        let ctx = Context::new(registry());
        let world = World::new(&ctx);
        Self { ctx, world, texts: BTreeMap::new() }
    }

    /// With these methods in `Main`.
    fn with(methods: &[&str]) -> Self {
        let mut tester = Self::new();
        methods.iter().for_each(|text| tester.def(text));
        tester
    }

    fn symbol(&self, name: &str) -> Symbol {
        self.ctx.symbol(name)
    }

    fn def(&mut self, text: &str) {
        self.try_def(text, Space::Main)
            .unwrap_or_else(|errors| panic!("{text}: {}", messages(&errors)));
    }

    fn def_in(&mut self, space: Space, text: &str) {
        self.try_def(text, space).unwrap_or_else(|errors| panic!("{text}: {}", messages(&errors)));
    }

    fn try_def(&mut self, text: &str, space: Space) -> Result<(), Vec<Diagnostic>> {
        let def = Reader::new(&self.ctx, text).method(space);
        let id = self.world.define(def)?;
        self.texts.insert(id, text.to_owned());
        Ok(())
    }

    fn expr(&self, text: &str) -> TypeExpr {
        let mut reader = Reader::new(&self.ctx, text);
        let ty = reader.ty();
        assert!(reader.is_done(), "unread in {text}");
        ty
    }

    fn try_ty(&mut self, text: &str) -> Result<Type, Vec<Diagnostic>> {
        let expr = self.expr(text);
        let ty = self.world.eval_type(&expr, Space::Main)?;
        Ok(self.world.type_value(&ty))
    }

    /// The type as a type value; of an argument, the type that the IR knows.
    fn ty(&mut self, text: &str) -> Type {
        self.try_ty(text).unwrap_or_else(|errors| panic!("{text}: {}", messages(&errors)))
    }

    fn sub(&mut self, a: &str, b: &str) -> bool {
        let (a, b) = (self.ty(a), self.ty(b));
        self.world.is_below(a, b)
    }

    /// `Name <: Above`, `Name{T} <: Above{T}`
    fn declare_abstract(&mut self, text: &str) {
        let decl = self.struct_decl(text);
        let StructDecl { name, params, supertype, space, loc, .. } = decl;
        let decl = AbstractDecl { name, params, supertype, space, loc };
        self.world.declare_abstract(decl).unwrap_or_else(|errors| panic!("{}", messages(&errors)));
    }

    /// `P{T<:Real} <: Above{T}: x::T, y`
    fn struct_decl(&self, text: &str) -> StructDecl {
        let mut reader = Reader::new(&self.ctx, text);
        let mutable = reader.eat("mutable ");
        let name = self.symbol(reader.word());
        let params = reader.eat("{").then(|| {
            let mut params = Vec::new();
            while !reader.eat("}") {
                params.extend(reader.statics());
                reader.eat(",");
            }
            params
        });
        let supertype = reader.eat("<:").then(|| reader.ty());
        let mut fields = Vec::new();
        if reader.eat(":") {
            while !reader.is_done() {
                let name = self.symbol(reader.word());
                let any = TypeExpr::any(self.symbol("Any"));
                fields.push((name, if reader.eat("::") { reader.ty() } else { any }));
                reader.eat(",");
            }
        }
        let loc = regraft_ir::Loc::UNKNOWN;
        StructDecl {
            name,
            params: params.unwrap_or_default(),
            supertype,
            mutable,
            fixed: Vec::new(),
            given: fields.len(),
            fields,
            constructors: Vec::new(),
            space: Space::Main,
            loc,
        }
    }

    fn declare(&mut self, text: &str) {
        let decl = self.struct_decl(text);
        self.world
            .declare_struct(decl)
            .unwrap_or_else(|errors| panic!("{text}: {}", messages(&errors)));
    }

    fn closure(&mut self, name: &str, captures: &[&str], methods: &[&str]) {
        let def = ClosureDef {
            name: self.symbol(name),
            shown: self.symbol("inner"),
            captures: captures.iter().map(|name| self.symbol(name)).collect(),
            methods: methods
                .iter()
                .map(|m| Reader::new(&self.ctx, m).method(Space::Main))
                .collect(),
        };
        self.world.register_closure(&def).unwrap_or_else(|errors| panic!("{}", messages(&errors)));
    }

    /// `f(Int64, Any)` as callee and argument types: of a type in capitals, its constructor; of a
    /// `::P`, an instance.
    fn call(&mut self, text: &str) -> (Type, Vec<Type>) {
        let open = if text.starts_with("(::") {
            text.find(")(").unwrap() + 1
        } else {
            text.rfind('(').unwrap()
        };
        let open = if text.starts_with("(::") {
            open
        } else {
            // The first parenthesis at depth 0 of braces.
            let mut depth = 0;
            text.char_indices()
                .find(|&(_, c)| {
                    depth += i32::from(c == '{') - i32::from(c == '}');
                    c == '(' && depth == 0
                })
                .map_or(open, |(i, _)| i)
        };
        let (callee, args) = text.split_at(open);
        let callee = if let Some(instance) = callee.strip_prefix("(::") {
            let instance = instance.trim_end_matches(')').to_owned();
            self.ty(&instance)
        } else if callee.starts_with(|c: char| c.is_ascii_uppercase()) {
            let of = self.ty(callee);
            self.ctx.ty(TypeKind::TypeOf(of))
        } else {
            use regraft_lang::world::Binding;
            match self.world.resolve(self.symbol(callee), Space::Main, None) {
                Binding::Function(symbol) => self.ctx.ty(TypeKind::Fn(symbol)),
                other => panic!("{callee} is {other:?}"),
            }
        };
        let args = format!("Tuple{{{}}}", &args[1..args.len() - 1]);
        let expr = self.expr(&args);
        let regraft_lang::definition::TypeExprKind::Apply(_, args) = expr.kind else {
            unreachable!()
        };
        let args = args
            .iter()
            .map(|arg| {
                let ty = self.world.eval_type(arg, Space::Main).unwrap();
                self.world.type_value(&ty)
            })
            .collect();
        (callee, args)
    }

    fn dispatch_by(&mut self, text: &str, by: Option<SpecId>) -> Dispatch {
        let (callee, args) = self.call(text);
        self.world.dispatch(callee, &args, by)
    }

    /// The text of the method that a call runs, or `none`, `ambiguous`, `unknown`.
    fn run(&mut self, text: &str) -> String {
        match self.dispatch_by(text, None) {
            Dispatch::Method(found) => {
                self.texts.get(&found.method).cloned().unwrap_or_else(|| "?".into())
            }
            Dispatch::None => "none".into(),
            Dispatch::Ambiguous(_) => "ambiguous".into(),
            Dispatch::Unknown => "unknown".into(),
        }
    }

    /// The type parameters in a call: `T = Int64, N = 2`.
    fn statics(&mut self, text: &str) -> String {
        let Dispatch::Method(found) = self.dispatch_by(text, None) else { return "none".into() };
        let names = self.world.method(found.method).unwrap().statics.clone();
        let parts: Vec<String> = names
            .iter()
            .zip(found.statics.iter())
            .map(|(&name, value)| format!("{} = {}", self.ctx.str(name), self.value(value)))
            .collect();
        parts.join(", ")
    }

    fn value(&self, value: &StaticValue) -> String {
        match value {
            StaticValue::Constant(regraft_ir::Constant::Type(ty)) => self.world.type_name(*ty),
            StaticValue::Constant(constant) => self.ctx.constant_text(*constant),
            StaticValue::Tuple(values) => {
                let values: Vec<String> = values.iter().map(|value| self.value(value)).collect();
                format!("({})", values.join(", "))
            }
            StaticValue::Unbound => "unbound".into(),
        }
    }
}

fn registry() -> Arc<Registry> {
    regraft_dialects::registry()
}

fn messages(errors: &[Diagnostic]) -> String {
    errors.iter().map(|error| error.message().to_owned()).collect::<Vec<_>>().join("; ")
}
