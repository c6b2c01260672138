//! Every operation on every kind of value.

use regraft_dialects::tangent::TangentTypes;
use regraft_exec::Val;
use regraft_exec::value::{Array, ElementType, egal};
use regraft_ir::Type;

use crate::*;

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

#[test]
fn finite_differences_give_the_tangent_back() {
    let f = Fixture::new();
    for (name, value) in samples(&f) {
        let t = f.on().random(&value, 3).expect("random");
        let moved = f.on().perturbed(&value, 0.25, &t).expect("it is its tangent");
        assert!(moved.is_a(&f.ctx, value.type_of(&f.ctx)), "{name}");
        let change = f.on().difference(&moved, &value).expect("they are alike");
        assert!(change.is_a(&f.ctx, t.type_of(&f.ctx)), "{name}: {}", f.show(&change));
        // change = t / 4, but for rounding.
        let (tt, tc) =
            (f.on().dot(&t, &t).expect("alike"), f.on().dot(&t, &change).expect("alike"));
        assert!((tt / 4.0 - tc).abs() < 1e-6, "{name}: {tt} {tc}");
        let scaled = f.on().scale(&t, 0.25).expect("it is a tangent");
        let ts = f.on().dot(&t, &scaled).expect("alike");
        assert!((tt / 4.0 - ts).abs() < 1e-6, "{name}: {tt} {ts}");
    }
}

#[test]
fn random_tangents_depend_on_the_seed_alone() {
    let f = Fixture::new();
    let value = floats(&[0.0; 1000]);
    let of = |seed| {
        f.on().random(&value, seed).expect("random").as_array().and_then(Array::to_vec::<f64>)
    };
    let (a, b) = (of(1).expect("floats"), of(2).expect("floats"));
    assert_eq!(Some(&a), of(1).as_ref());
    assert_ne!(a, b);
    assert!(a.iter().all(|x| (-1.0..1.0).contains(x)));
    let mean = a.iter().sum::<f64>() / 1000.0;
    assert!(mean.abs() < 0.1, "{mean}");
    // The first number of the generator for this seed, from its definition.
    assert_eq!(a[0], (0x910a_2dec_8902_5cc1_u64 >> 11) as f64 / (1u64 << 52) as f64 - 1.0);
}

#[test]
fn tangents_that_do_not_fit_are_errors() {
    let f = Fixture::new();
    let on = f.on();
    let matrix: Val = Array::of(&[1.0, 2.0], &[1, 2]).expect("it fits").into();
    let sizes = "DimensionMismatch: dimensions must match: found (1,) and (2,)";
    assert_eq!(error(on.accumulate(&floats(&[1.0]), &floats(&[1.0, 2.0]))), sizes);
    assert_eq!(error(on.dot(&floats(&[1.0]), &floats(&[1.0, 2.0]))), sizes);
    assert_eq!(error(on.difference(&floats(&[1.0]), &floats(&[1.0, 2.0]))), sizes);
    assert_eq!(error(on.perturbed(&floats(&[1.0]), 1.0, &floats(&[1.0, 2.0]))), sizes);
    assert_eq!(
        error(on.accumulate(&floats(&[1.0, 2.0]), &matrix)),
        "DimensionMismatch: dimensions must match: found (2,) and (1, 2)"
    );
    assert_eq!(
        error(on.accumulate(
            &values(ElementType::ANY, &[Val::F64(1.0)]),
            &values(ElementType::ANY, &[Val::I64(1)])
        )),
        "TypeError: cannot add tangents of types f64 and i64"
    );
    let (one, two) = (Val::tuple([Val::F64(1.0)]), Val::tuple([Val::F64(1.0), Val::F64(1.0)]));
    assert_eq!(
        error(on.sum(&one, &two)),
        "DimensionMismatch: tuples must be of the same length: found 1 and 2 elements"
    );
    assert_eq!(
        error(on.sum(&Val::F64(1.0), &Val::F32(1.0))),
        "TypeError: cannot add cotangents of types f64 and f32"
    );
    assert_eq!(error(on.shadow(&Val::I64(1))), "TypeError: a value of type i64 is not a tangent");
    assert_eq!(
        error(on.cotangent(&Val::str("a"))),
        "TypeError: a value of type str is not a tangent"
    );
    assert_eq!(
        error(on.scale(&Val::Bool(true), 2.0)),
        "TypeError: a value of type bool is not a tangent"
    );
    assert_eq!(
        error(on.join(&floats(&[1.0]), &Val::F64(1.0))),
        "TypeError: there is no tangent of a shadow and a cotangent of types array<f64, 1> and f64"
    );
    assert_eq!(
        error(on.difference(&Val::I64(1), &Val::F64(1.0))),
        "TypeError: there is no difference of values of types i64 and f64"
    );
    assert_eq!(
        error(on.perturbed(&Val::I64(1), 1.0, &Val::F64(1.0))),
        "TypeError: no value and tangent of it can be of types i64 and f64"
    );
}

#[test]
fn cotangents_get_the_types_that_are_asked_for() {
    let f = Fixture::new();
    let numbers = f.ctx.tuple_type(&[Type::F64, Type::F32]);
    let named = f.ctx.named_type(&[(f.ctx.symbol("a"), numbers), (f.ctx.symbol("b"), Type::UNIT)]);
    let unbox = |value: &Val, ty| f.on().unbox(value, ty).map(|value| f.show(&value));
    assert_eq!(
        unbox(&Val::Unit, named).expect("zero"),
        "(a = (0.0, 0.0f0), b = nothing)::{a: tuple<f64, f32>, b: unit}"
    );
    assert_eq!(
        unbox(&Val::tuple([Val::F64(1.0), Val::Unit]), numbers).expect("fits"),
        "(1.0, 0.0f0)::tuple<f64, f32>"
    );
    assert_eq!(unbox(&Val::Unit, Type::ANY).expect("any"), "nothing::unit");
    assert_eq!(unbox(&Val::F64(1.0), Type::F64).expect("fits"), "1.0::f64");
    // What flows back to a zero that is written as nothing.
    assert_eq!(unbox(&Val::F64(1.0), Type::UNIT).expect("left out"), "nothing::unit");
    let array = f.ctx.array_type(Type::F64, 1);
    assert_eq!(unbox(&floats(&[1.0]), array).expect("fits"), "[1.0]::array<f64, 1>");
    for (value, ty, message) in [
        (Val::I64(1), Type::F64, "expected a tangent of type f64, found i64"),
        (floats(&[1.0]), Type::UNIT, "expected a tangent of type unit, found array<f64, 1>"),
        (Val::Unit, array, "expected a tangent of type array<f64, 1>, found unit"),
        (
            Val::tuple([Val::F64(1.0)]),
            numbers,
            "expected a tangent of type tuple<f64, f32>, found tuple<f64>",
        ),
    ] {
        assert_eq!(error(f.on().unbox(&value, ty)), format!("TypeError: {message}"));
    }
}
