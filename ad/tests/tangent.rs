//! Tangent types, by the types that they are of.

use regraft_ad::tangent::TangentTypes;
use regraft_ir::Type;

/// Of each type in `rows`, with these structs: its tangent, shadow and cotangent types, and whether
/// they hold anything.
#[track_caller]
fn check(structs: &str, rows: &[(&str, [&str; 3])]) {
    let ctx = regraft_dialects::context();
    let params: Vec<String> =
        rows.iter().enumerate().map(|(i, (ty, _))| format!("%{}: {ty}", i + 1)).collect();
    let params = params.join(", ");
    let text = format!("{structs}\nfunc @f({params}) -> unit {{\n^1:\n  return nothing\n}}\n");
    let module = match regraft_syntax::parse_and_verify(&ctx, "types.ir", &text) {
        Ok(module) => module,
        Err(errors) => panic!("{}", regraft_ir::render_all(&errors, false)),
    };
    let f = module.functions().next().expect("there is one");
    let mut types = TangentTypes::new(&ctx);
    for (ty, (text, expected)) in f.param_types().into_iter().zip(rows) {
        let of = types.of(ty);
        let found = [of.tangent, of.shadow, of.cotangent].map(|ty| ctx.type_text(ty).to_string());
        assert_eq!(found, *expected, "{text}");
        assert_eq!(types.has_tangent(ty), types.has_content(of.tangent), "{text}");
        assert_eq!(types.has_shadow(ty), types.has_content(of.shadow), "{text}");
        assert_eq!(types.has_cotangent(ty), types.has_content(of.cotangent), "{text}");
        // A tangent is its own tangent, so that derivatives of derivatives have the same types.
        assert_eq!(types.tangent(of.tangent), of.tangent, "{text}");
    }
}

const NONE: [&str; 3] = ["unit"; 3];
const ANY: [&str; 3] = ["any"; 3];

#[test]
fn numbers_have_numbers_and_what_cannot_vary_has_nothing() {
    check(
        "",
        &[
            ("f64", ["f64", "unit", "f64"]),
            ("f32", ["f32", "unit", "f32"]),
            ("i64", NONE),
            ("i8", NONE),
            ("bool", NONE),
            ("sym", NONE),
            ("str", NONE),
            ("unit", NONE),
            ("fn<@f>", NONE),
            ("type<f64>", NONE),
            ("val<:a>", NONE),
            ("any", ANY),
        ],
    );
}

#[test]
fn tuples_and_immutable_structs_have_every_part() {
    check(
        "struct @P { x: f64, n: i64 }
struct @Empty { }
struct @Nested { p: @P, a: array<f64, 2> }
",
        &[
            ("tuple<>", ["tuple<>"; 3]),
            ("tuple<i64, f64>", ["tuple<unit, f64>", "tuple<unit, unit>", "tuple<unit, f64>"]),
            ("tuple<i64, bool>", ["tuple<unit, unit>"; 3]),
            ("{a: f64, b: str}", ["{a: f64, b: unit}", "{a: unit, b: unit}", "{a: f64, b: unit}"]),
            ("@P", ["{x: f64, n: unit}", "{x: unit, n: unit}", "{x: f64, n: unit}"]),
            ("@Empty", ["{}"; 3]),
            (
                "@Nested",
                [
                    "{p: {x: f64, n: unit}, a: array<f64, 2>}",
                    "{p: {x: unit, n: unit}, a: array<f64, 2>}",
                    "{p: {x: f64, n: unit}, a: unit}",
                ],
            ),
        ],
    );
}

#[test]
fn arrays_and_refs_are_all_shadow() {
    let object = |ty| [ty, ty, "unit"];
    check(
        "",
        &[
            ("array<f64, 3>", object("array<f64, 3>")),
            ("array<i64, 1>", NONE),
            ("array<tuple<i64, bool>, 1>", NONE),
            ("array<tuple<i64, f64>, 1>", object("array<tuple<unit, f64>, 1>")),
            ("array<array<f32, 2>, 1>", object("array<array<f32, 2>, 1>")),
            ("array<array<i64, 2>, 1>", NONE),
            ("array<any, 1>", object("array<any, 1>")),
            ("ref<f64>", object("ref<f64>")),
            ("ref<str>", NONE),
            ("ref<tuple<f64, array<i64, 1>>>", object("ref<tuple<f64, unit>>")),
            (
                "tuple<array<f64, 1>, tuple<f64, ref<f64>>>",
                [
                    "tuple<array<f64, 1>, tuple<f64, ref<f64>>>",
                    "tuple<array<f64, 1>, tuple<unit, ref<f64>>>",
                    "tuple<unit, tuple<f64, unit>>",
                ],
            ),
        ],
    );
}

#[test]
fn mutable_structs_have_refs_of_named_tuples() {
    let object = |ty| [ty, ty, "unit"];
    check(
        "mutable struct @Cell { x: f64, n: i64 }
mutable struct @Count { n: i64 }
mutable struct @Box { v: any }
mutable struct @Held { a: array<f64, 1> }
",
        &[
            ("@Cell", object("ref<{x: f64, n: unit}>")),
            ("@Count", NONE),
            ("@Box", object("ref<{v: any}>")),
            ("@Held", object("ref<{a: array<f64, 1>}>")),
            ("array<@Cell, 1>", object("array<ref<{x: f64, n: unit}>, 1>")),
            ("array<@Count, 1>", NONE),
        ],
    );
}

#[test]
fn recursive_structs_are_known_as_any_where_they_recur() {
    check(
        "mutable struct @Node { x: f64, next: @Node }
mutable struct @A { b: @B }
mutable struct @B { a: array<@A, 1> }
mutable struct @Outer { c: @Inner }
mutable struct @Inner { x: f64 }
struct @Tree { x: f64, rest: array<@Tree, 1> }
struct @Even { odd: ref<@Odd> }
struct @Odd { even: ref<@Even>, x: f64 }
struct @Holder { t: @Tree, n: @Node }
struct @View { node: @Node }
",
        &[
            // Their shadows are objects, whatever they are known as.
            ("@Node", ["any", "any", "unit"]),
            ("@A", ["any", "any", "unit"]),
            ("@B", ["any", "any", "unit"]),
            ("@Outer", ["any", "any", "unit"]),
            ("@Inner", ["ref<{x: f64}>", "ref<{x: f64}>", "unit"]),
            // Immutable ones have numbers of their own, too.
            ("@Tree", ANY),
            ("@Even", ANY),
            ("@Odd", ANY),
            ("@Holder", ["{t: any, n: any}", "{t: any, n: any}", "{t: any, n: unit}"]),
            ("@View", ["{node: any}", "{node: any}", "{node: unit}"]),
            ("array<@Node, 1>", ["array<any, 1>", "array<any, 1>", "unit"]),
        ],
    );
}

#[test]
fn the_shadow_of_a_recursive_struct_is_an_object_of_its_fields() {
    let ctx = regraft_dialects::context();
    let text = "mutable struct @Node { x: f64, next: @Node }\n";
    let module = regraft_syntax::parse_and_verify(&ctx, "node.ir", text).expect("it parses");
    let (_, node) = module.struct_by_name(ctx.symbol("Node")).expect("it is there");
    let mut types = TangentTypes::new(&ctx);
    let shadow = types.object_shadow(node).expect("it is mutable");
    assert_eq!(ctx.type_text(shadow).to_string(), "ref<{x: f64, next: any}>");
    assert_eq!(types.object_shadow(Type::F64), None);
}

#[test]
fn closures_are_structs_of_what_they_capture() {
    check(
        "struct @closure { x: f64, n: i64, cell: ref<any>, f: fn<@f> }\n",
        &[(
            "@closure",
            [
                "{x: f64, n: unit, cell: ref<any>, f: unit}",
                "{x: unit, n: unit, cell: ref<any>, f: unit}",
                "{x: f64, n: unit, cell: unit, f: unit}",
            ],
        )],
    );
}
