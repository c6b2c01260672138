//! Values read as Julia 1.10 shows and prints them, with the names that a language gives.

use std::rc::Rc;
use std::sync::Arc;

use regraft_dialects::context;
use regraft_exec::value::{Array, ElementType, Shared, type_name};
use regraft_exec::{Engine, Interpreter, Names, Shown, Texts, Val};
use regraft_ir::{Constant, Context, StructDef, Symbol, Type, TypeKind};

fn structure(ctx: &Context, name: &str, mutable: bool, fields: &[(&str, Type)]) -> Type {
    let fields = fields.iter().map(|&(name, ty)| (ctx.symbol(name), ty)).collect();
    let def = StructDef { name: ctx.symbol(name), mutable, fields, call: None };
    ctx.add_struct(def).1
}

/// A language with ranges, views and an exception.
struct Language {
    ctx: Arc<Context>,
}

impl Language {
    fn name_of(&self, value: &Val) -> Option<&str> {
        let ty = match value {
            Val::Struct(fields) => fields.ty(),
            Val::Object(object) => object.ty(),
            _ => return None,
        };
        self.ctx.struct_of(ty).map(|def| self.ctx.str(def.name))
    }
}

impl Names for Language {
    fn type_name(&self, ty: Type) -> Option<String> {
        let def = self.ctx.struct_of(ty)?;
        (self.ctx.str(def.name) == "#Real").then(|| "Real".to_owned())
    }

    fn function_name(&self, function: Symbol) -> Option<String> {
        self.ctx.str(function).strip_prefix("Main.").map(str::to_owned)
    }

    fn show(&self, value: &Val, _: bool) -> Option<Shown> {
        match (self.name_of(value)?, value) {
            ("UnitRange{Int64}", Val::Struct(fields)) => {
                let [a, b] = fields.items() else { return None };
                let texts = Texts::plain(&self.ctx);
                Some(Shown::Text(format!("{}:{}", texts.show(a), texts.show(b))))
            }
            ("View", Val::Object(object)) => object.get(0).map(Shown::As),
            _ => None,
        }
    }
}

fn array(ctx: &Context, element: Type, dims: &[usize], items: Vec<Val>) -> Val {
    Array::of_values(ElementType::of(ctx, element), &items, dims).expect("they fit").into()
}

#[test]
fn values_read_as_in_julia() {
    let ctx = context();
    let sym = |name: &str| Val::Sym(ctx.symbol(name));
    let func = |name: &str| Val::Func(ctx.symbol(name));
    let point = structure(&ctx, "P{Float64}", false, &[("x", Type::F64), ("y", Type::F64)]);
    let single = structure(&ctx, "S", false, &[]);
    let cell = structure(&ctx, "C", true, &[("v", Type::ANY)]);
    let range = structure(&ctx, "UnitRange{Int64}", false, &[("a", Type::I64), ("b", Type::I64)]);
    let p = || Val::structure(point, [Val::F64(1.0), Val::F64(2.0)]);
    let ints = |items: &[i64]| Val::from(Array::vector(items));
    let one_to_three = || Val::structure(range, [Val::I64(1), Val::I64(3)]);
    let text = |text: &str| Val::str(text);
    let vector = ctx.array_type(Type::F64, 1);
    let pair = ctx.tuple_type(&[Type::BOOL, Type::I64]);
    // Each with what `show` and what `print` write.
    let cases: Vec<(Val, &str, &str)> = vec![
        (Val::Unit, "nothing", "nothing"),
        (Val::Bool(true), "true", "true"),
        (Val::I8(-3), "-3", "-3"),
        (Val::F32(1.0), "1.0f0", "1.0"),
        (Val::F32(f32::INFINITY), "Inf32", "Inf"),
        (Val::F64(-0.0), "-0.0", "-0.0"),
        (Val::F64(1e6), "1.0e6", "1.0e6"),
        (sym("a"), ":a", "a"),
        (sym("a b"), "Symbol(\"a b\")", "a b"),
        (sym("+"), ":+", "+"),
        (text("a\"b\n$x"), r#""a\"b\n\$x""#, "a\"b\n$x"),
        (func("sin"), "sin", "sin"),
        (func("Main.sum"), "sum", "sum"),
        (Val::tuple([]), "()", "()"),
        (Val::tuple([Val::I64(1)]), "(1,)", "(1,)"),
        (
            Val::tuple([sym("a"), text("b"), Val::F32(0.5)]),
            "(:a, \"b\", 0.5f0)",
            "(:a, \"b\", 0.5f0)",
        ),
        (Val::named(&ctx, [("a", Val::I64(1))]), "(a = 1,)", "(a = 1,)"),
        (
            Val::named(&ctx, [("a", Val::I64(1)), ("b", text("x"))]),
            "(a = 1, b = \"x\")",
            "(a = 1, b = \"x\")",
        ),
        (
            Val::reference(Type::I64, Val::I64(3)),
            "Base.RefValue{Int64}(3)",
            "Base.RefValue{Int64}(3)",
        ),
        (p(), "P{Float64}(1.0, 2.0)", "P{Float64}(1.0, 2.0)"),
        (Val::structure(single, []), "S()", "S()"),
        (Val::object(cell, [text("x")]), "C(\"x\")", "C(\"x\")"),
        (one_to_three(), "1:3", "1:3"),
        (ints(&[]), "Int64[]", "Int64[]"),
        (ints(&[1, 2]), "[1, 2]", "[1, 2]"),
        (
            array(&ctx, Type::ANY, &[2], vec![Val::I64(1), text("a")]),
            "Any[1, \"a\"]",
            "Any[1, \"a\"]",
        ),
        (array(&ctx, Type::F32, &[1], vec![Val::F32(1.0)]), "Float32[1.0]", "Float32[1.0]"),
        (
            array(&ctx, Type::BOOL, &[2], vec![true.into(), false.into()]),
            "Bool[1, 0]",
            "Bool[1, 0]",
        ),
        (
            array(&ctx, Type::F64, &[2, 2], [1.0, 3.0, 2.0, 4.0].map(Val::F64).into()),
            "[1.0 2.0; 3.0 4.0]",
            "[1.0 2.0; 3.0 4.0]",
        ),
        (
            array(&ctx, Type::F64, &[2, 1], [1.0, 3.0].map(Val::F64).into()),
            "[1.0; 3.0;;]",
            "[1.0; 3.0;;]",
        ),
        (
            array(&ctx, Type::F64, &[1, 2], [1.0, 3.0].map(Val::F64).into()),
            "[1.0 3.0]",
            "[1.0 3.0]",
        ),
        (
            array(&ctx, Type::F64, &[0, 3], vec![]),
            "Matrix{Float64}(undef, 0, 3)",
            "Matrix{Float64}(undef, 0, 3)",
        ),
        (
            array(
                &ctx,
                vector,
                &[2],
                vec![Array::vector(&[1.0]).into(), Array::vector(&[0.0f64; 0]).into()],
            ),
            "[[1.0], Float64[]]",
            "[[1.0], Float64[]]",
        ),
        (
            array(&ctx, point, &[1], vec![p()]),
            "P{Float64}[P{Float64}(1.0, 2.0)]",
            "P{Float64}[P{Float64}(1.0, 2.0)]",
        ),
        (array(&ctx, single, &[1], vec![Val::structure(single, [])]), "[S()]", "[S()]"),
        (
            array(&ctx, range, &[1], vec![one_to_three()]),
            "UnitRange{Int64}[1:3]",
            "UnitRange{Int64}[1:3]",
        ),
        (
            array(&ctx, pair, &[1], vec![Val::tuple([true.into(), Val::I64(2)])]),
            "Tuple{Bool, Int64}[(1, 2)]",
            "Tuple{Bool, Int64}[(1, 2)]",
        ),
        (Val::Type(Type::F64), "Float64", "Float64"),
        (Val::Type(vector), "Vector{Float64}", "Vector{Float64}"),
        (Val::Type(point), "P{Float64}", "P{Float64}"),
    ];
    let language = Language { ctx: Arc::clone(&ctx) };
    let texts = Texts { ctx: &ctx, names: Some(&language) };
    for (value, shown, printed) in &cases {
        assert_eq!(texts.show(value), *shown);
        assert_eq!(texts.print(value), *printed);
    }
}

#[test]
fn types_read_as_in_julia() {
    let ctx = context();
    let real = structure(&ctx, "#Real", false, &[]);
    let language = Language { ctx: Arc::clone(&ctx) };
    let texts = Texts { ctx: &ctx, names: Some(&language) };
    let (int, float) = (Type::I64, Type::F64);
    let named = |fields: &[(&str, Type)]| {
        let fields: Vec<_> = fields.iter().map(|&(name, ty)| (ctx.symbol(name), ty)).collect();
        ctx.named_type(&fields)
    };
    let val = |constant: Constant| ctx.ty(TypeKind::Val(ctx.constant_id(constant)));
    let cases = [
        (ctx.tuple_type(&[]), "Tuple{}"),
        (ctx.tuple_type(&[int, int, int]), "Tuple{Int64, Int64, Int64}"),
        (ctx.tuple_type(&[int; 4]), "NTuple{4, Int64}"),
        (ctx.tuple_type(&[float, int, int, int, int]), "Tuple{Float64, Vararg{Int64, 4}}"),
        (
            ctx.tuple_type(&[int, int, int, int, float]),
            "Tuple{Int64, Int64, Int64, Int64, Float64}",
        ),
        (named(&[("a", int), ("b", float)]), "@NamedTuple{a::Int64, b::Float64}"),
        (named(&[("a", Type::ANY)]), "@NamedTuple{a}"),
        (ctx.array_type(float, 1), "Vector{Float64}"),
        (ctx.array_type(ctx.array_type(int, 2), 3), "Array{Matrix{Int64}, 3}"),
        (ctx.ref_type(int), "Base.RefValue{Int64}"),
        (val(Constant::I64(3)), "Val{3}"),
        (val(Constant::Sym(ctx.symbol("a"))), "Val{:a}"),
        (ctx.ty(TypeKind::TypeOf(float)), "Type{Float64}"),
        (ctx.ty(TypeKind::Fn(ctx.symbol("sin"))), "typeof(sin)"),
        (ctx.ty(TypeKind::Fn(ctx.symbol("Main.sum"))), "typeof(sum)"),
        (ctx.array_type(real, 1), "Vector{Real}"),
        (Type::UNIT, "Nothing"),
        (Type::ANY, "Any"),
    ];
    for (ty, name) in cases {
        assert_eq!(texts.type_name(ty), name);
    }
    assert_eq!(type_name(&ctx, real), "#Real", "without the language");
}

#[test]
fn what_contains_itself_is_shown_to_the_end() {
    let ctx = context();
    let cell = structure(&ctx, "C", true, &[("v", Type::ANY)]);
    let view = structure(&ctx, "View", true, &[("of", Type::ANY)]);
    let language = Language { ctx: Arc::clone(&ctx) };
    let texts = Texts { ctx: &ctx, names: Some(&language) };
    let Val::Object(object) = Val::object(cell, [Val::Unit]) else { unreachable!() };
    object.set(0, Val::Object(Shared::clone(&object)));
    assert_eq!(texts.show(&Val::Object(object)), "C(C(#= circular reference @-1 =#))");
    // A view of an array that holds the view.
    let Val::Object(object) = Val::object(view, [Val::Unit]) else { unreachable!() };
    let of = array(&ctx, Type::ANY, &[2], vec![Val::I64(1), Val::Object(Shared::clone(&object))]);
    object.set(0, of);
    let text = texts.show(&Val::Object(object));
    assert!(text.starts_with("Any[1, ") && text.contains("circular reference"), "{text}");
}

#[test]
fn programs_print_and_fail_with_the_names_of_the_language() {
    let ctx = context();
    let text = r#"
struct @"UnitRange{Int64}" { a: i64, b: i64 }
struct @ArgumentError { message: str }
func @show(%x) -> unit {
^1:
  core.println "is ", %x
  return nothing
}
func @range() -> any {
^1:
  %1: @"UnitRange{Int64}" = data.new 2, 5
  return %1
}
func @assert(%x) -> f64 {
^1:
  %1: f64 = core.typeassert %x
  return %1
}
func @raise() -> never {
^1:
  %1: @ArgumentError = data.new "too small"
  core.throw %1
  unreachable
}
"#;
    let module = regraft_syntax::parse_and_verify(&ctx, "test.ir", text)
        .unwrap_or_else(|errors| panic!("{}", regraft_ir::render_all(&errors, false)));
    let mut engine = Interpreter::new(&module);
    engine.host_mut().set_names(Rc::new(Language { ctx: Arc::clone(&ctx) }));
    let range = engine.call("range", &[]).unwrap();
    engine.call("show", &[Val::tuple([range, Val::Sym(ctx.symbol("a"))])]).unwrap();
    engine.call("show", &[Val::Func(ctx.symbol("Main.sum"))]).unwrap();
    assert_eq!(engine.take_output(), "is (2:5, :a)\nis sum\n");
    let error = engine.call("assert", &[Val::tuple([Val::I64(1)])]).unwrap_err().message();
    assert!(error.contains("Float64") && error.contains("Tuple{Int64}"), "{error}");
    assert_eq!(engine.call("raise", &[]).unwrap_err().message(), "ArgumentError: too small");
}
