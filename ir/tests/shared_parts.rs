//! Types, locations and attributes whose parts are shared, or many: what is done with them takes
//! time in what there is, not in what it stands for.

mod common;

use std::sync::Arc;

use common::*;
use regraft_ir::{
    Constant, Context, Diagnostic, Dialect, Effects, Function, Inst, InstView, Op, OpDef,
    OperandDef, Registry, ResultType, Syntax, Traits, Type, TypePattern,
};

const TUPLE: Op = Op::new(41, 0);

static TUPLES: Dialect = Dialect {
    number: 41,
    name: "u",
    doc: "",
    ops: &[OpDef {
        op: TUPLE,
        name: "u.tuple",
        doc: "",
        syntax: Syntax::Generic,
        operands: &[OperandDef { name: "x", pattern: TypePattern::Anything }],
        variadic: true,
        type_vars: &[],
        result: ResultType::Computed(tuple_type),
        traits: Traits::PURE,
        effects: Effects::NONE,
        identity: None,
        attrs: &[],
        verify: None,
        fold: None,
        eval: None,
    }],
};

fn tuple_type(view: &InstView<'_>) -> Result<Type, String> {
    Ok(view.ctx.tuple_type(view.types))
}

fn with_tuples() -> Arc<Context> {
    let mut registry = Registry::new();
    registry.add(&TUPLES);
    Context::new(Arc::new(registry))
}

/// A type of 2^`depth` leaves, one type per level.
fn doubled(ctx: &Context, leaf: Type, depth: u32) -> Type {
    (0..depth).fold(leaf, |ty, _| ctx.tuple_type(&[ty, ty]))
}

#[test]
fn huge_types_show_their_outside_only() {
    let ctx = context();
    assert_eq!(ctx.type_text(doubled(&ctx, Type::I64, 2)), {
        let pair = "tuple<i64, i64>";
        format!("tuple<{pair}, {pair}>")
    });
    let huge = doubled(&ctx, Type::I64, 100);
    assert_eq!(ctx.type_text(huge), "tuple<…>");
    assert_eq!(ctx.type_text(ctx.ref_type(huge)), "ref<…>");
    assert_eq!(ctx.type_text(ctx.array_type(huge, 2)), "array<…, 2>");
    assert_eq!(ctx.type_text(ctx.named_type(&[(ctx.symbol("a"), huge)])), "{…}");
    assert_eq!(ctx.constant_text(Constant::Type(huge)), "!tuple<…>");
    assert_eq!(ctx.constant_text(Constant::Type(huge)), "!tuple<…>");
    // A deep type would overflow the stack of a recursive writer.
    let deep = (0..200_000).fold(Type::I64, |ty, _| ctx.ref_type(ty));
    assert_eq!(ctx.type_text(deep), "ref<…>");
    let wide = ctx.tuple_type(&vec![Type::I64; 100_000]);
    assert_eq!(ctx.type_text(wide).matches("i64").count(), 100_000);
}

#[test]
fn no_result_is_inferred_to_be_of_a_huge_type() {
    let ctx = with_tuples();
    let mut f = Function::new(&ctx, "f", &[Type::I64], Type::I64);
    let entry = f.entry().unwrap();
    let mut v = f.param(entry, 0).unwrap();
    let error = loop {
        match f.push(entry, Inst::of(TUPLE, [v.into(), v.into()])) {
            Ok(pair) => v = pair,
            Err(error) => break error,
        }
    };
    assert_eq!(error.message(), "the type of the result of `u.tuple` is too large");
    // 2^(k+1) - 1 parts are at most 2^16 for k up to 15.
    assert_eq!(f.inst_count(), 15);
}

#[test]
fn huge_types_of_two_contexts_are_compared_part_by_part() {
    let of = |leaf: Type, depth: u32| {
        let ctx = context();
        // Ids of the contexts differ.
        if leaf == Type::F64 {
            ctx.ref_type(Type::STR);
        }
        Function::new(&ctx, "f", &[doubled(&ctx, Type::I64, depth)], doubled(&ctx, leaf, depth))
    };
    assert!(of(Type::I64, 100).structural_eq(&of(Type::I64, 100)));
    assert!(of(Type::F64, 100).structural_eq(&of(Type::F64, 100)));
    assert!(!of(Type::I64, 100).structural_eq(&of(Type::F64, 100)));
    assert!(!of(Type::I64, 100).structural_eq(&of(Type::I64, 101)));
}

#[test]
fn types_of_two_contexts_differ_in_each_of_their_parts() {
    // Each gives the type under another id than the one before.
    type Make = fn(&Context) -> Type;
    let makes: [Make; 14] = [
        |_| Type::I64,
        |ctx| ctx.tuple_type(&[]),
        |ctx| ctx.tuple_type(&[Type::I64]),
        |ctx| ctx.tuple_type(&[Type::I64, Type::I64]),
        |ctx| ctx.named_type(&[(ctx.symbol("a"), Type::I64)]),
        |ctx| ctx.named_type(&[(ctx.symbol("b"), Type::I64)]),
        |ctx| ctx.array_type(Type::I64, 1),
        |ctx| ctx.array_type(Type::I64, 2),
        |ctx| ctx.ref_type(Type::I64),
        |ctx| ctx.ty(regraft_ir::TypeKind::TypeOf(Type::I64)),
        |ctx| ctx.ty(regraft_ir::TypeKind::Fn(ctx.symbol("a"))),
        |ctx| ctx.ty(regraft_ir::TypeKind::Fn(ctx.symbol("b"))),
        |ctx| ctx.ty(regraft_ir::TypeKind::Val(ctx.constant_id(1i64))),
        |ctx| ctx.ty(regraft_ir::TypeKind::Val(ctx.constant_id(Constant::Type(Type::I64)))),
    ];
    for (i, x) in makes.iter().enumerate() {
        for (j, y) in makes.iter().enumerate() {
            let (a, b) = (context(), context());
            for make in makes.iter().rev() {
                make(&b);
            }
            let f = Function::new(&a, "f", &[], x(&a));
            let g = Function::new(&b, "f", &[], y(&b));
            assert_eq!(
                f.structural_eq(&g),
                i == j,
                "{} and {}",
                a.type_text(x(&a)),
                b.type_text(y(&b))
            );
        }
    }
}

#[test]
fn constants_of_two_contexts_are_compared_by_what_they_are() {
    type Make = fn(&Context) -> Constant;
    let makes: [Make; 9] = [
        |_| Constant::Unit,
        |_| 1i64.into(),
        |_| regraft_ir::Constant::I32(1),
        |_| 0.0.into(),
        |_| (-0.0).into(),
        |ctx| Constant::Sym(ctx.symbol("a")),
        |ctx| Constant::Str(ctx.symbol("a")),
        |ctx| Constant::Func(ctx.symbol("a")),
        |_| Constant::Type(Type::I64),
    ];
    let returning = |make: Make| {
        let ctx = context();
        ctx.symbol("another");
        let mut f = Function::new(&ctx, "f", &[], Type::ANY);
        f.set_terminator(f.entry().unwrap(), ret(ctx.constant_id(make(&ctx)))).unwrap();
        f
    };
    for (i, &x) in makes.iter().enumerate() {
        for (j, &y) in makes.iter().enumerate() {
            assert_eq!(returning(x).structural_eq(&returning(y)), i == j, "{i}, {j}");
        }
    }
}

#[test]
fn locations_with_many_calls_are_told_in_part() {
    let ctx = context();
    let at = |line| ctx.named_loc("a.jl", line, 1);
    let f = ctx.symbol("f");
    let inlined = |at, call_site| ctx.inlined_loc(at, f, call_site);
    let thrice = inlined(inlined(at(1), at(2)), inlined(at(3), at(4)));
    let told = "a.jl:1:1, inlined at a.jl:2:1, inlined at a.jl:3:1, inlined at a.jl:4:1";
    assert_eq!(ctx.loc_text(thrice), told);
    let notes = |loc| Diagnostic::error("x").at_loc(&ctx, loc, "").notes().to_vec();
    assert_eq!(
        notes(thrice),
        ["at a.jl:1:1", "inlined at a.jl:2:1", "inlined at a.jl:3:1, inlined at a.jl:4:1"]
    );
    // As recursive functions that are inlined into themselves have it.
    let shared = (0..100).fold(at(1), |loc, _| inlined(loc, loc));
    let deep = (0..200_000).fold(at(1), |loc, i| inlined(loc, at(i)));
    for loc in [shared, deep] {
        assert_eq!(ctx.loc_text(loc).matches("a.jl").count(), 64);
        assert!(ctx.loc_text(loc).ends_with(", and so on"));
        assert_eq!(notes(loc).len(), 65);
    }
}

#[test]
fn a_location_within_a_character_is_that_of_the_character() {
    let ctx = context();
    let source = ctx.add_source("a.ir", "äöü\nx").unwrap();
    let diagnostic = Diagnostic::error("x").at_loc(&ctx, source.loc(3), "");
    assert_eq!(diagnostic.labels()[0].span, 2..6);
    let end = Diagnostic::error("x").at_loc(&ctx, source.loc(100), "");
    assert_eq!(end.labels()[0].span, 8..8);
}

#[test]
fn attributes_are_sorted_and_the_last_value_of_a_name_counts() {
    let ctx = context();
    let [a, b] = ["b", "a"].map(|name| ctx.symbol(name));
    let [one, two] = [1i64, 2].map(|x| ctx.constant_id(x));
    let attrs = ctx.attrs(&[(a, one), (b, one), (a, two)]);
    assert_eq!(ctx.attr_entries(attrs), [(b, one), (a, two)]);
    assert_eq!(attrs, ctx.attrs(&[(b, one), (a, two)]));
    // One by one, that would be ten billion comparisons.
    let many: Vec<_> = (0..100_000).map(|i| (ctx.symbol(&format!("n{i}")), one)).collect();
    assert_eq!(ctx.attr_entries(ctx.attrs(&many)).len(), 100_000);
}

#[test]
fn types_and_attributes_of_another_context_are_told_apart() {
    let other = context();
    let foreign = (0..50).fold(Type::I64, |ty, _| other.ref_type(ty));
    let name = other.symbol("foreign");
    let attrs = [0i64, 1, 2].map(|i| other.attrs(&[(name, other.constant_id(i))]))[2];
    let ctx = with_tuples();
    assert_eq!(ctx.type_text(foreign), "?");
    let mut f = Function::new(&ctx, "f", &[Type::I64], Type::I64);
    let entry = f.entry().unwrap();
    let x = f.param(entry, 0).unwrap();
    let error = f.push(entry, Inst::of(TUPLE, [x.into()]).with_attrs(attrs)).unwrap_err();
    assert_eq!(error.message(), "the attributes of `u.tuple` are of another context");
    let error = f.append_param(entry, foreign).unwrap_err();
    assert_eq!(error.message(), "a type of another context than that of @f was used");
}
