//! Tangents of values: the operations in Rust, and the ops of `ad`.
//!
//! The expected values follow from the table of tangent types; sharing is checked by identity.

mod kinds;
mod ops;
mod sharing;

use std::sync::Arc;

use regraft_exec::value::{Array, ElementType};
use regraft_exec::{ErrorKind, Host, Tangents, Trap, Val, show_string};
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
        self.host.tangents(&self.ctx)
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

fn values(element: ElementType, items: &[Val]) -> Val {
    Array::of_values(element, items, &[items.len()]).expect("it is an array").into()
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
        ("any", values(ElementType::ANY, &[Val::I64(1), Val::F64(2.0), floats(&[3.0])])),
        ("ref", Val::reference(Type::F64, Val::F64(1.0))),
        ("ref of an int", Val::reference(Type::I64, Val::I64(1))),
        ("object", Val::object(f.ty("Cell"), [Val::F64(1.0), Val::I64(2)])),
        ("object without numbers", Val::object(f.ty("Count"), [Val::I64(2)])),
        ("list", Val::object(f.ty("Node"), [Val::F64(2.0), node.clone()])),
        ("link", Val::object(f.ty("Link"), [Val::F64(2.0), node])),
        (
            "tree",
            Val::structure(
                f.ty("Tree"),
                [Val::F64(1.0), values(ElementType::of(&f.ctx, f.ty("Tree")), &[])],
            ),
        ),
    ]
}

/// The name of an error and its message.
fn error<T: std::fmt::Debug>(result: Result<T, Trap>) -> String {
    match result {
        Ok(value) => panic!("{value:?} is no error"),
        Err(trap) => match trap.kind() {
            ErrorKind::Trap(name) => format!("{name}: {}", trap.message()),
            other => format!("{other:?}: {}", trap.message()),
        },
    }
}

/// A part of a tuple, named tuple, array (from 0) or ref.
fn part(value: &Val, index: usize) -> Val {
    match value {
        Val::Array(array) => array.get(index).expect("it is defined"),
        Val::Ref(cell) => part(&cell.get(), index),
        other => other.as_fields().expect("it has parts")[index].clone(),
    }
}

/// A list whose end is its start.
fn ring(f: &Fixture, numbers: &[f64]) -> Val {
    let node = |x: f64, next: Val| Val::object(f.ty("Node"), [Val::F64(x), next]);
    let last = node(numbers[numbers.len() - 1], Val::Unit);
    let rest = &numbers[..numbers.len() - 1];
    let first = rest.iter().rev().fold(last.clone(), |next, &x| node(x, next));
    if let Val::Object(last) = last {
        last.set(1, first.clone());
    }
    first
}

/// Two references to one array.
fn twice(items: &[f64]) -> Val {
    let array = floats(items);
    Val::tuple([array.clone(), array])
}

/// The values that are made of one value, from which the same sharing is expected.
fn made(f: &Fixture, value: &Val) -> Vec<Val> {
    let on = f.on();
    let tangent = on.random(value, 7).expect("random");
    [
        on.zero(value),
        on.copy(value),
        on.scale(&tangent, 2.0),
        on.perturbed(value, 0.5, &tangent),
        on.difference(value, &on.copy(value).expect("copy")),
        Ok(tangent),
    ]
    .into_iter()
    .map(|made| made.expect("it is made"))
    .collect()
}
