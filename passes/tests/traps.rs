//! Instructions that are known not to trap do not.

use regraft_dialects::semantics::eval_scalar;
use regraft_dialects::{arith, cf, core, math};
use regraft_ir::{Constant, Function, Inst, Op, Operand, Traits, Type, Value};
use regraft_passes::analysis::traps::{
    OperandFacts, is_removable, may_trap, may_trap_given, speculatable,
};
use regraft_passes::analysis::{FloatKinds, Interval};
use regraft_syntax::parse_module;

/// Checks the verdicts on the instructions of a function with some parameters: each line is an
/// instruction, and what is to be said of it: `trap`, `stay` (it does not trap, and may not
/// be run elsewhere), or `move`.
#[track_caller]
fn check(lines: &[(&str, &str)]) {
    let mut text = String::from(
        "struct @P { x: f64, y: i64 }\nmutable struct @C { n: i64 }\n\
         func @f(%1: i64, %2: f64, %3: array<f64, 1>, %4: array<str, 1>, %5: any, %6: @P, %7: @C, \
         %8: i8, %9: tuple<i64, f64>, %10: bool) -> unit {\n^1:\n",
    );
    for (i, (line, _)) in lines.iter().enumerate() {
        text += &format!("  %{}: {line}\n", 11 + i);
    }
    text += "  return nothing\n}\n";
    let module = parse_module(&regraft_dialects::context(), "traps.ir", &text)
        .unwrap_or_else(|errors| panic!("{}", regraft_ir::render_all(&errors, false)));
    let f = module.function("f").expect("it is there");
    for (v, (line, wanted)) in f.body(f.entry().expect("it has one")).zip(lines) {
        let found = match (may_trap(f, v), speculatable(f, v)) {
            (true, false) => "trap",
            (false, false) => "stay",
            (false, true) => "move",
            (true, true) => "move, and trap",
        };
        assert_eq!(found, *wanted, "{line}");
    }
}

#[test]
fn divisions_by_constants_trap_for_zero_and_minus_one_alone() {
    check(&[
        ("i64 = arith.div %1, 3", "move"),
        ("i64 = arith.div %1, -1", "trap"),
        ("i64 = arith.div 7, -1", "move"),
        ("i64 = arith.div -9223372036854775808, -1", "trap"),
        ("i64 = arith.div %1, 0", "trap"),
        ("i64 = arith.div 6, %1", "trap"),
        ("i64 = arith.fld %1, -2", "move"),
        ("i64 = arith.cld %1, %1", "trap"),
        ("i64 = arith.rem %1, -1", "move"),
        ("i64 = arith.mod %1, 0", "trap"),
        ("i64 = arith.mod %1, 7", "move"),
        ("i8 = arith.div -128i8, %8", "trap"),
    ]);
}

#[test]
fn checked_arithmetic_and_powers_are_looked_at() {
    check(&[
        ("i64 = arith.checked_add %1, 0", "move"),
        ("i64 = arith.checked_add %1, 1", "trap"),
        ("i8 = arith.checked_add 100i8, 27i8", "move"),
        ("i8 = arith.checked_add 100i8, 28i8", "trap"),
        ("i64 = arith.checked_sub %1, 0", "move"),
        ("i64 = arith.checked_mul %1, 1", "move"),
        ("i64 = arith.checked_mul %1, -1", "trap"),
        ("i64 = arith.powi %1, 2", "move"),
        ("i64 = arith.powi %1, -2", "trap"),
        ("i64 = arith.powi -1, %1", "move"),
        ("i64 = arith.powi 2, %1", "trap"),
    ]);
}

#[test]
fn functions_are_defined_for_some_constants() {
    check(&[
        ("f64 = math.sqrt %2", "trap"),
        ("f64 = math.sqrt 2.0", "move"),
        ("f64 = math.sqrt -2.0", "trap"),
        ("f64 = math.sqrt nan", "move"),
        ("f64 = math.sin inf", "trap"),
        ("f64 = math.acosh 1.0", "move"),
        ("f64 = math.gamma -0.5", "move"),
        ("f64 = math.gamma -2.0", "trap"),
        ("f64 = math.exp %2", "move"),
        ("f64 = math.pow %2, 2.0", "move"),
        ("f64 = math.pow %2, 0.5", "trap"),
        ("f64 = math.pow 2.0, %2", "move"),
        ("f64 = math.pow -2.0, %2", "trap"),
        ("i64 = arith.float_to_int %2", "trap"),
        ("i64 = arith.float_to_int 1e10", "move"),
        ("i8 = arith.float_to_int 1e10", "trap"),
    ]);
}

#[test]
fn conversions_that_always_succeed_do_not_trap() {
    check(&[
        ("f64 = core.convert %1", "move"),
        ("i64 = core.convert %8", "move"),
        ("i8 = core.convert %1", "trap"),
        ("i8 = core.convert 100", "move"),
        ("i64 = core.convert %2", "trap"),
        ("i8 = core.convert %10", "move"),
        ("bool = core.convert %1", "trap"),
        ("any = core.convert %6", "move"),
        ("f64 = core.convert %5", "trap"),
        ("f64 = core.typeassert %2", "move"),
        ("f64 = core.typeassert %5", "trap"),
    ]);
}

#[test]
fn a_promised_access_does_not_trap_but_may_not_run_elsewhere() {
    check(&[
        ("f64 = mem.load %3, %1", "trap"),
        ("f64 = mem.load %3, %1 {inbounds=true}", "stay"),
        ("f64 = mem.load %3, %1 {inbounds=false}", "trap"),
        // The element may be undefined.
        ("str = mem.load %4, %1 {inbounds=true}", "trap"),
        ("unit = mem.store %3, %2, %1 {inbounds=true}", "stay"),
        ("unit = mem.store %3, %5, %1 {inbounds=true}", "trap"),
        ("i64 = mem.length %3", "move"),
        ("i64 = mem.size %3, 2", "move"),
        ("i64 = mem.size %3, 0", "trap"),
        ("i64 = mem.size %3, %1", "trap"),
    ]);
}

#[test]
fn small_arrays_can_always_be_made() {
    check(&[
        ("array<f64, 2> = mem.alloc 3, 4", "stay"),
        ("array<f64, 1> = mem.alloc -1", "trap"),
        ("array<f64, 2> = mem.alloc 1000, 1000", "trap"),
        ("array<f64, 1> = mem.alloc %1", "trap"),
        ("array<f64, 1> = mem.fill %2, 10", "stay"),
    ]);
}

#[test]
fn fields_that_are_there_can_be_read() {
    check(&[
        ("f64 = data.getfield %6, :x", "move"),
        ("any = data.getfield %6, :z", "trap"),
        ("f64 = data.getfield %9, 2", "move"),
        ("any = data.getfield %9, 3", "trap"),
        ("any = data.getfield %9, %1", "trap"),
        ("any = data.getfield %5, :x", "trap"),
        ("unit = data.setfield %7, :n, %1", "stay"),
        ("unit = data.setfield %7, :n, %2", "trap"),
    ]);
}

#[test]
fn what_has_an_effect_stays_although_it_does_not_trap() {
    check(&[
        ("unit = core.print %1", "stay"),
        ("ref<i64> = mem.ref_new 1", "stay"),
        ("i64 = arith.add %1, %5", "trap"),
        ("never = core.throw \"no\"", "trap"),
    ]);
    let ctx = regraft_dialects::context();
    let mut f = Function::new(&ctx, "f", &[Type::I64], Type::I64);
    let entry = f.entry().expect("it has one");
    let x = f.param(entry, 0).expect("it has one");
    let seven = f.constant_id(7i64);
    let dead = f.push(entry, arith::div(x, seven)).expect("it fits");
    let printed = f.push(entry, core::print([x])).expect("it fits");
    f.set_terminator(entry, cf::ret(x)).expect("it fits");
    assert!(is_removable(&f, dead) && !is_removable(&f, printed));
    assert!(!is_removable(&f, Value::terminator(entry)) && !is_removable(&f, x));
}

/// Knows of each operand only what kind of number it is, or in which range it lies.
struct Rough(Vec<(Operand, Constant)>);

impl Rough {
    fn constant(&self, operand: Operand) -> Constant {
        self.0.iter().find(|(value, _)| *value == operand).expect("it is an operand").1
    }
}

impl OperandFacts for Rough {
    fn int(&self, operand: Operand) -> Interval {
        // One of the ranges -4 to -1, 0, 1 to 5, and the ends.
        match self.constant(operand).as_int() {
            Some(0) | None => Interval::single(0),
            Some(-4..0) => Interval { lo: -4, hi: -1 },
            Some(1..6) => Interval { lo: 1, hi: 5 },
            Some(x) => Interval::single(x),
        }
    }

    fn float(&self, operand: Operand) -> FloatKinds {
        FloatKinds::of_constant(self.constant(operand))
    }

    fn in_bounds(&self, _: Value) -> bool {
        false
    }
}

/// For each op on scalars that may trap, and samples of its operands: if it is said not to trap
/// given the kinds or ranges of the samples, it does not.
#[test]
fn what_is_said_not_to_trap_has_a_value() {
    let ctx = regraft_dialects::context();
    let ints = [i64::MIN, -128, -4, -3, -1, 0, 1, 2, 5, 127, i64::MAX];
    let floats = [
        f64::NEG_INFINITY,
        -3.0,
        -2.5,
        -1.0,
        -0.5,
        -1e-300,
        -0.0,
        0.0,
        0.5,
        1.0,
        1.5,
        4.0,
        1e300,
        f64::INFINITY,
        f64::NAN,
    ];
    let samples = |ty: Type| -> Vec<Constant> {
        match ty {
            Type::F64 | Type::F32 => {
                floats.iter().map(|&x| Constant::float(ty, x).expect("a float type")).collect()
            }
            _ => ints.iter().map(|&x| Constant::int(ty, x).expect("an int type")).collect(),
        }
    };
    let mut safe = 0;
    let mut try_op = |op: Op, types: &[Type], ty: Type| {
        let mut f = Function::new(&ctx, "f", types, Type::ANY);
        let entry = f.entry().expect("it has one");
        let params: Vec<Value> = f.params(entry).collect();
        let inst = Inst::new(op).operands(params.iter().copied()).with_type(ty);
        let v = f.push(entry, inst).expect("it fits");
        let lists: Vec<Vec<Constant>> = types.iter().map(|&ty| samples(ty)).collect();
        for first in &lists[0] {
            for second in lists.get(1).map_or(&[Constant::Unit][..], Vec::as_slice) {
                let args = [*first, *second];
                let facts = Rough(params.iter().map(|&param| param.into()).zip(args).collect());
                if !may_trap_given(&f, v, &facts) {
                    safe += 1;
                    let value = eval_scalar(ctx.def(op), &args[..types.len()], ty);
                    assert!(matches!(value, Some(Ok(_))), "{op:?} of {args:?}: {value:?}");
                }
            }
        }
    };
    let dialects = [&arith::DIALECT, &math::DIALECT];
    for def in dialects.into_iter().flat_map(|dialect| dialect.ops) {
        if !def.traits.contains(Traits::MAY_TRAP) {
            continue;
        }
        match def.op {
            arith::FLOAT_TO_INT => {
                for ty in [Type::I8, Type::I64] {
                    try_op(def.op, &[Type::F64], ty);
                }
            }
            arith::POWI => try_op(def.op, &[Type::I8, Type::I64], Type::I8),
            op if op.dialect() == arith::ADD.dialect() => {
                for ty in [Type::I8, Type::I64] {
                    try_op(op, &[ty, ty], ty);
                }
            }
            op => {
                for ty in [Type::F32, Type::F64] {
                    try_op(op, &vec![ty; def.operands.len()], ty);
                }
            }
        }
    }
    for (from, to) in [(Type::I64, Type::I8), (Type::F64, Type::I64), (Type::F64, Type::BOOL)] {
        try_op(core::CONVERT, &[from], to);
    }
    assert!(safe > 2000, "{safe}");
}
