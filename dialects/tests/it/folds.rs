//! Folding agrees with running, bit for bit.

use regraft_dialects::semantics::eval_scalar;
use regraft_dialects::{arith, context, core, data, math, mem};
use regraft_ir::{
    Constant, Fold, Function, Inst, OpDef, Operand, ResultType, StructDef, Traits, Type,
};

use crate::def;

/// Folds an instruction on these operands. Operands without a constant are parameters.
fn fold(def: &OpDef, types: &[Type], operands: &[Option<Constant>], ty: Type) -> Option<Fold> {
    let ctx = context();
    let mut f = Function::new(&ctx, "f", types, Type::UNIT);
    let entry = f.entry().unwrap();
    let operands: Vec<Operand> = operands
        .iter()
        .enumerate()
        .map(|(i, constant)| match *constant {
            Some(constant) => ctx.constant_id(constant).into(),
            None => f.param(entry, i).unwrap().into(),
        })
        .collect();
    let mut inst = Inst::new(def.op).operands(operands);
    if matches!(def.result, ResultType::Declared) {
        inst = inst.with_type(ty);
    }
    let v = f.push(entry, inst).ok()?;
    f.with_view(v, |view| (def.fold?)(view))
}

fn int(ty: Type, x: i64) -> Constant {
    Constant::int(ty, x).unwrap()
}

/// Values of a type that identities tend to be wrong for.
fn special(ty: Type) -> Vec<Constant> {
    let ints = [0, 1, 2, -1, -2, 7, -128, 127, i64::MIN, i64::MAX];
    match ty {
        Type::BOOL => vec![true.into(), false.into()],
        Type::F64 => {
            let mut floats: Vec<Constant> =
                [0.0, 1.0, 2.0, 0.5, 1e300, 5e-324, f64::INFINITY, f64::MIN_POSITIVE]
                    .into_iter()
                    .flat_map(|x| [Constant::from(x), Constant::from(-x)])
                    .collect();
            for nan in [0x7ff8_0000_0000_0000, 0xfff8_0000_0000_0001, 0x7ff0_0000_0000_0001] {
                floats.push(Constant::F64(nan));
            }
            floats
        }
        Type::F32 => {
            let mut floats: Vec<Constant> = [0.0f32, 1.0, 0.5, 1e-45, f32::INFINITY]
                .into_iter()
                .flat_map(|x| [Constant::from(x), Constant::from(-x)])
                .collect();
            for nan in [0x7fc0_0000, 0xffc0_0001, 0x7f80_0001] {
                floats.push(Constant::F32(nan));
            }
            floats
        }
        _ => ints.iter().map(|&x| int(ty, x)).collect(),
    }
}

const SCALARS: [Type; 7] =
    [Type::BOOL, Type::I8, Type::I16, Type::I32, Type::I64, Type::F32, Type::F64];

fn is_nan(constant: Constant) -> bool {
    constant.as_float().is_some_and(f64::is_nan)
}

/// The binary ops, with the types of their operands.
fn binary() -> Vec<(&'static OpDef, Type, Type)> {
    let mut all = Vec::new();
    for def in arith::DIALECT.ops.iter().chain(math::DIALECT.ops) {
        for ty in SCALARS {
            if let [_, second] = def.operands
                && def.type_vars[0].contains(ty)
            {
                let counts = second.pattern == regraft_ir::TypePattern::Is(Type::I64);
                all.push((def, ty, if counts { Type::I64 } else { ty }));
            }
        }
    }
    all
}

#[test]
fn constants_fold_to_what_running_gives_unless_it_traps_or_makes_a_nan() {
    let mut folded = 0;
    for (def, a, b) in binary() {
        // Two widths stand for all: the code is generic.
        if matches!(a, Type::I16 | Type::I32) {
            continue;
        }
        for x in special(a) {
            for y in special(b) {
                let run = eval_scalar(def, &[x, y], Type::ANY).expect(def.name);
                let found = fold(def, &[a, b], &[Some(x), Some(y)], Type::ANY);
                let what = || format!("{} of {x:?}, {y:?}", def.name);
                match found {
                    Some(Fold::Constant(c)) => assert_eq!(Ok(c), run, "{}", what()),
                    Some(Fold::Operand(i)) => assert_eq!(Ok([x, y][i]), run, "{}", what()),
                    None => assert!(run.is_err() || run.is_ok_and(is_nan), "{}", what()),
                }
                folded += usize::from(found.is_some());
            }
        }
    }
    assert!(folded > 5000, "{folded}");
}

/// With one operand unknown, and with the same unknown operand twice, whatever it folds to has
/// to be right for each value of it, traps included.
#[test]
fn identities_hold_for_every_value() {
    let mut found = 0;
    for (def, a, b) in binary() {
        let what = |x: Constant, y: Constant| format!("{} of {x:?}, {y:?}", def.name);
        let run = |x: Constant, y: Constant| eval_scalar(def, &[x, y], Type::ANY).unwrap();
        for y in special(b) {
            match fold(def, &[a, b], &[None, Some(y)], Type::ANY) {
                Some(Fold::Constant(c)) => {
                    special(a).iter().for_each(|&x| assert_eq!(run(x, y), Ok(c), "{}", what(x, y)));
                }
                Some(Fold::Operand(i)) => special(a)
                    .iter()
                    .for_each(|&x| assert_eq!(run(x, y), Ok([x, y][i]), "{}", what(x, y))),
                None => continue,
            }
            found += 1;
        }
        for x in special(a) {
            match fold(def, &[a, b], &[Some(x), None], Type::ANY) {
                Some(Fold::Constant(c)) => {
                    special(b).iter().for_each(|&y| assert_eq!(run(x, y), Ok(c), "{}", what(x, y)));
                }
                Some(Fold::Operand(i)) => special(b)
                    .iter()
                    .for_each(|&y| assert_eq!(run(x, y), Ok([x, y][i]), "{}", what(x, y))),
                None => continue,
            }
            found += 1;
        }
        if a == b {
            let twice = fold_same(def, a);
            for x in special(a) {
                match twice {
                    Some(Fold::Constant(c)) => assert_eq!(run(x, x), Ok(c), "{}", what(x, x)),
                    Some(Fold::Operand(_)) => assert_eq!(run(x, x), Ok(x), "{}", what(x, x)),
                    None => {}
                }
            }
            found += usize::from(twice.is_some());
        }
        if let Some(identity) = def.identity.filter(|_| !b.is_float()) {
            let y = if b == Type::BOOL { (identity != 0).into() } else { int(b, identity) };
            let first = fold(def, &[a, b], &[None, Some(y)], Type::ANY);
            assert_eq!(first, Some(Fold::Operand(0)), "{}", def.name);
        }
    }
    assert!(found > 200, "{found}");
}

fn fold_same(def: &OpDef, ty: Type) -> Option<Fold> {
    let ctx = context();
    let mut f = Function::new(&ctx, "f", &[ty], Type::UNIT);
    let entry = f.entry().unwrap();
    let x = f.param(entry, 0).unwrap();
    let v = f.push(entry, Inst::new(def.op).operand(x).operand(x)).unwrap();
    f.with_view(v, |view| (def.fold?)(view))
}

#[test]
fn unary_ops_fold_to_what_running_gives() {
    for def in arith::DIALECT.ops.iter().chain(math::DIALECT.ops) {
        for from in SCALARS {
            if def.operands.len() != 1 || !def.type_vars[0].contains(from) {
                continue;
            }
            for to in SCALARS {
                for x in special(from) {
                    let run = eval_scalar(def, &[x], to);
                    match fold(def, &[from], &[Some(x)], to) {
                        Some(Fold::Constant(c)) => assert_eq!(Some(Ok(c)), run, "{}", def.name),
                        Some(Fold::Operand(_)) => assert_eq!(Some(Ok(x)), run, "{}", def.name),
                        None => {}
                    }
                }
            }
        }
    }
    let fold_f64 = |op, x: f64| fold(def(op), &[Type::F64], &[Some(x.into())], Type::ANY);
    assert_eq!(fold_f64(math::SQRT, 4.0), Some(Fold::Constant(2.0.into())));
    assert_eq!(fold_f64(math::SQRT, -4.0), None);
    assert_eq!(fold_f64(math::SQRT, f64::NAN), None);
    assert_eq!(fold_f64(arith::NEG, f64::NAN), Some(Fold::Constant((-f64::NAN).into())));
}

#[test]
fn identities_that_floats_do_not_have() {
    let none = |op, operands: [Option<Constant>; 2]| {
        assert_eq!(fold(def(op), &[Type::F64; 2], &operands, Type::ANY), None);
    };
    none(arith::ADD, [None, Some(0.0.into())]);
    none(arith::MUL, [None, Some(0.0.into())]);
    none(arith::MUL, [None, Some(1.0.into())]);
    none(arith::EQ, [None, None]);
    assert_eq!(fold_same(def(arith::SUB), Type::F64), None);
    assert_eq!(fold_same(def(arith::EQ), Type::F64), None);
    assert_eq!(fold_same(def(arith::MIN), Type::F64), None);
    let never = Some(Fold::Constant(false.into()));
    assert_eq!(fold_same(def(arith::LT), Type::F64), never);
}

#[test]
fn operands_of_unknown_type_are_left_to_the_running_program() {
    let zero = Some(Constant::I64(0));
    assert_eq!(fold(def(arith::ADD), &[Type::ANY; 2], &[zero, None], Type::ANY), None);
    assert_eq!(fold(def(arith::MUL), &[Type::ANY; 2], &[None, zero], Type::ANY), None);
    assert_eq!(fold_same(def(arith::SUB), Type::ANY), None);
    assert_eq!(fold(def(core::CONVERT), &[Type::ANY], &[None], Type::ANY), None);
}

#[test]
fn select_folds_on_its_condition_or_on_equal_arms() {
    let types = [Type::BOOL, Type::F64, Type::F64];
    let pick = |c: Option<bool>| {
        fold(def(core::SELECT), &types, &[c.map(Constant::Bool), None, None], Type::ANY)
    };
    assert_eq!(pick(Some(true)), Some(Fold::Operand(1)));
    assert_eq!(pick(Some(false)), Some(Fold::Operand(2)));
    assert_eq!(pick(None), None);
    let nan = Some(Constant::F64(0x7ff0_0000_0000_0001));
    assert_eq!(
        fold(def(core::SELECT), &types, &[None, nan, nan], Type::ANY),
        Some(Fold::Operand(1))
    );
}

#[test]
fn types_decide_isa_typeof_and_same() {
    let ctx = context();
    let any_pair = ctx.tuple_type(&[Type::ANY, Type::F64]);
    let pair = ctx.tuple_type(&[Type::I64, Type::F64]);
    let any_array = ctx.array_type(Type::ANY, 1);
    let array = ctx.array_type(Type::F64, 1);
    let isa = |have: Type, want: Type| {
        let mut f = Function::new(&ctx, "f", &[have], Type::UNIT);
        let entry = f.entry().unwrap();
        let x = f.param(entry, 0).unwrap();
        let want = ctx.constant_id(Constant::Type(want));
        let v = f.push(entry, core::isa(x, want)).unwrap();
        match f.with_view(v, |view| (view.def.fold?)(view)) {
            Some(Fold::Constant(Constant::Bool(known))) => Some(known),
            None => None,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(isa(Type::F64, Type::F64), Some(true));
    assert_eq!(isa(Type::F64, Type::F32), Some(false));
    assert_eq!(isa(Type::F64, Type::ANY), Some(true));
    assert_eq!(isa(Type::ANY, Type::F64), None);
    assert_eq!(isa(pair, any_pair), Some(true));
    assert_eq!(isa(any_pair, pair), None);
    assert_eq!(isa(any_pair, any_pair), Some(true));
    assert_eq!(isa(array, any_array), Some(false));
    let typeof_ = |ty: Type| {
        let mut f = Function::new(&ctx, "f", &[ty], Type::UNIT);
        let entry = f.entry().unwrap();
        let x = f.param(entry, 0).unwrap();
        let v = f.push(entry, core::type_of(x)).unwrap();
        f.with_view(v, |view| (view.def.fold?)(view))
    };
    assert_eq!(typeof_(array), Some(Fold::Constant(Constant::Type(array))));
    assert_eq!(typeof_(any_array), Some(Fold::Constant(Constant::Type(any_array))));
    assert_eq!(typeof_(any_pair), None);
    let same = |a: Constant, b: Constant| {
        fold(def(core::SAME), &[Type::ANY; 2], &[Some(a), Some(b)], Type::ANY)
    };
    let known = |known: bool| Some(Fold::Constant(known.into()));
    assert_eq!(same(f64::NAN.into(), f64::NAN.into()), known(true));
    assert_eq!(same(0.0.into(), (-0.0).into()), known(false));
    assert_eq!(same(1i64.into(), 1.0.into()), known(false));
    assert_eq!(fold_same(def(core::SAME), Type::ANY), known(true));
}

#[test]
fn shapes_of_types_are_known() {
    let ctx = context();
    let field = ctx.symbol("x");
    let (_, point) = ctx.add_struct(StructDef {
        name: ctx.symbol("Point"),
        mutable: true,
        fields: [(field, Type::F64)].into(),
        call: None,
    });
    let cases = [
        (mem::rank as fn(_) -> Inst, ctx.array_type(Type::F64, 3), 3),
        (data::fieldcount, point, 1),
        (data::fieldcount, ctx.tuple_type(&[Type::ANY, Type::I8]), 2),
        (data::fieldcount, Type::F64, 0),
    ];
    for (build, ty, want) in cases {
        let mut f = Function::new(&ctx, "f", &[ty], Type::UNIT);
        let entry = f.entry().unwrap();
        let x: regraft_ir::Value = f.param(entry, 0).unwrap();
        let v = f.push(entry, build(x)).unwrap();
        let found = f.with_view(v, |view| (view.def.fold?)(view));
        assert_eq!(found, Some(Fold::Constant(Constant::I64(want))));
    }
    for (name, want) in [("x", true), ("y", false)] {
        let mut f = Function::new(&ctx, "f", &[point], Type::UNIT);
        let entry = f.entry().unwrap();
        let x = f.param(entry, 0).unwrap();
        let name = ctx.constant_id(Constant::Sym(ctx.symbol(name)));
        let v = f.push(entry, data::hasfield(x, name)).unwrap();
        let found = f.with_view(v, |view| (view.def.fold?)(view));
        assert_eq!(found, Some(Fold::Constant(want.into())));
    }
}

#[test]
fn only_pure_ops_fold() {
    for def in regraft_dialects::registry().ops() {
        assert!(def.fold.is_none() || def.traits.contains(Traits::PURE), "{}", def.name);
    }
}
