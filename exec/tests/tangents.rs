//! Tangents of values: every op of `ad` on every kind of value, and the same operations from Rust.
//!
//! The expected values follow from the table of tangent types; sharing is checked by identity.

use std::sync::Arc;

use regraft_dialects::tangent::TangentTypes;
use regraft_exec::value::{Array, egal};
use regraft_exec::{Host, Tangents, Val, show_string};
use regraft_ir::{Context, Module, Type};

/// A context with the structs of the tests.
const STRUCTS: &str = "
struct @Point { x: f64, n: i64 }
struct @Label { name: str }
mutable struct @Cell { x: f64, n: i64 }
mutable struct @Count { n: i64 }
mutable struct @Node { x: f64, next: any }
mutable struct @Link { x: f64, next: @Node }
struct @Tree { x: f64, rest: array<@Tree, 1> }
";

struct Fixture {
    module: Module,
    ctx: Arc<Context>,
    host: Host,
}

impl Fixture {
    fn new() -> Self {
        let ctx = regraft_dialects::context();
        let module = match regraft_syntax::parse_and_verify(&ctx, "structs.ir", STRUCTS) {
            Ok(module) => module,
            Err(errors) => panic!("{}", regraft_ir::render_all(&errors, false)),
        };
        Self { module, ctx, host: Host::default() }
    }

    fn on(&self) -> Tangents<'_> {
        Tangents::new(&self.ctx, &self.host)
    }

    fn ty(&self, name: &str) -> Type {
        let name = self.ctx.symbol(name);
        self.module.struct_by_name(name).expect("there is such a struct").1
    }

    /// A value and its type.
    fn show(&self, value: &Val) -> String {
        let ty = self.ctx.type_text(value.type_of(&self.ctx));
        let text = show_string(&self.ctx, value);
        // The names of the types of refs say the same as `ty`, at length.
        let mut short = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once("Base.RefValue") {
            short.push_str(before);
            short.push_str("Ref");
            rest = &after[after.find('(').unwrap_or(0)..];
        }
        format!("{short}{rest}::{ty}")
    }
}

fn floats(items: &[f64]) -> Val {
    Array::vector(items).into()
}

fn values(element: Type, items: &[Val]) -> Val {
    Array::of_values(element, items.to_vec(), &[items.len()]).expect("it is an array").into()
}

/// One value of each kind.
fn samples(f: &Fixture) -> Vec<(&'static str, Val)> {
    let node = Val::object(f.ty("Node"), [Val::F64(1.0), Val::Unit]);
    vec![
        ("f64", Val::F64(1.5)),
        ("f32", Val::F32(1.5)),
        ("i64", Val::I64(3)),
        ("bool", Val::Bool(true)),
        ("sym", Val::Sym(f.ctx.symbol("a"))),
        ("str", Val::str("text")),
        ("fn", Val::Func(f.ctx.symbol("f"))),
        ("type", Val::Type(Type::F64)),
        ("nothing", Val::Unit),
        ("tuple", Val::tuple([Val::I64(1), Val::F64(2.0), floats(&[3.0])])),
        ("named tuple", Val::named(&f.ctx, [("a", Val::F64(1.0)), ("b", Val::I64(2))])),
        ("struct", Val::structure(f.ty("Point"), [Val::F64(1.0), Val::I64(2)])),
        ("struct without numbers", Val::structure(f.ty("Label"), [Val::str("a")])),
        ("floats", floats(&[1.0, 2.0])),
        ("singles", Array::vector(&[1.0f32]).into()),
        ("ints", Array::vector(&[1i64, 2]).into()),
        ("matrix", Array::of(&[1.0, 2.0, 3.0, 4.0], &[2, 2]).expect("it fits").into()),
        ("any", values(Type::ANY, &[Val::I64(1), Val::F64(2.0), floats(&[3.0])])),
        ("ref", Val::reference(Type::F64, Val::F64(1.0))),
        ("ref of an int", Val::reference(Type::I64, Val::I64(1))),
        ("object", Val::object(f.ty("Cell"), [Val::F64(1.0), Val::I64(2)])),
        ("object without numbers", Val::object(f.ty("Count"), [Val::I64(2)])),
        ("list", Val::object(f.ty("Node"), [Val::F64(2.0), node.clone()])),
        ("link", Val::object(f.ty("Link"), [Val::F64(2.0), node])),
        ("tree", Val::structure(f.ty("Tree"), [Val::F64(1.0), values(f.ty("Tree"), &[])])),
    ]
}

#[test]
fn tangents_are_what_the_table_of_types_says() {
    let f = Fixture::new();
    let expected = [
        ("f64", "0.0::f64"),
        ("f32", "0.0f0::f32"),
        ("i64", "nothing::unit"),
        ("bool", "nothing::unit"),
        ("sym", "nothing::unit"),
        ("str", "nothing::unit"),
        ("fn", "nothing::unit"),
        ("type", "nothing::unit"),
        ("nothing", "nothing::unit"),
        ("tuple", "(nothing, 0.0, [0.0])::tuple<unit, f64, array<f64, 1>>"),
        ("named tuple", "(a = 0.0, b = nothing)::{a: f64, b: unit}"),
        ("struct", "(x = 0.0, n = nothing)::{x: f64, n: unit}"),
        ("struct without numbers", "(name = nothing,)::{name: unit}"),
        ("floats", "[0.0, 0.0]::array<f64, 1>"),
        ("singles", "Float32[0.0]::array<f32, 1>"),
        ("ints", "nothing::unit"),
        ("matrix", "[0.0 0.0; 0.0 0.0]::array<f64, 2>"),
        ("any", "Any[nothing, 0.0, [0.0]]::array<any, 1>"),
        ("ref", "Ref(0.0)::ref<f64>"),
        ("ref of an int", "nothing::unit"),
        ("object", "Ref((x = 0.0, n = nothing))::ref<{x: f64, n: unit}>"),
        ("object without numbers", "nothing::unit"),
        ("list", "Ref((x = 0.0, next = Ref((x = 0.0, next = nothing))))::ref<{x: f64, next: any}>"),
        (
            "link",
            "Ref((x = 0.0, next = Ref((x = 0.0, next = nothing))))\
             ::ref<{x: f64, next: ref<{x: f64, next: any}>}>",
        ),
        ("tree", "(x = 0.0, rest = Any[])::{x: f64, rest: array<any, 1>}"),
    ];
    let found: Vec<(&str, String)> = samples(&f)
        .iter()
        .map(|(name, value)| (*name, f.show(&f.on().zero(value).expect("it has a tangent"))))
        .collect();
    for ((name, found), (other, expected)) in found.iter().zip(expected) {
        assert_eq!((*name, found.as_str()), (other, expected));
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn tangents_and_their_parts_are_of_the_types_that_are_known_before() {
    let f = Fixture::new();
    let mut types = TangentTypes::new(&f.ctx);
    for (name, value) in samples(&f) {
        let of = types.of(value.type_of(&f.ctx));
        for tangent in [f.on().zero(&value), f.on().random(&value, 1)] {
            let tangent = tangent.expect("it has a tangent");
            assert!(tangent.is_a(&f.ctx, of.tangent), "{name}: {}", f.show(&tangent));
            let shadow = f.on().shadow(&tangent).expect("it has a shadow");
            assert!(shadow.is_a(&f.ctx, of.shadow), "{name}: {}", f.show(&shadow));
            let cotangent = f.on().cotangent(&tangent).expect("it has a cotangent");
            assert!(cotangent.is_a(&f.ctx, of.cotangent), "{name}: {}", f.show(&cotangent));
            let joined = f.on().join(&shadow, &cotangent).expect("they are its parts");
            assert!(egal(&joined, &tangent), "{name}: {}", f.show(&joined));
        }
    }
}
