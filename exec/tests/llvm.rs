//! Native code: engines that agree on results and errors, and the text of LLVM IR.

mod common;

use regraft_exec::value::{Array, show_string};
use regraft_exec::{CodeForm, Engine, EngineKind, Interpreter, Tiers, Val, native_engines};

/// The sum of squares: its loads are promised to be within the array.
const SQUARES: &str = "
func @f(%x: array<f64, 1>) -> f64 {
^1:
  %n: i64 = mem.length %x
  br ^2(0, 0.0)
^2(%i: i64, %s: f64):
  %end: bool = arith.ge %i, %n
  br %end, ^4, ^3
^3:
  %k: i64 = arith.add %i, 1
  %a: f64 = mem.load %x, %k {inbounds=true}
  %b: f64 = arith.mul %a, %a
  %t: f64 = arith.add %s, %b
  br ^2(%k, %t)
^4:
  return %s
}";

/// A program of one function of two numbers, whose value is that of an expression.
fn of_two(ty: &str, result: &str, op: &str) -> String {
    format!(
        "func @f(%a: {ty}, %b: {ty}) -> {result} {{\n^1:\n  %1: {result} = {op}\n  return %1\n}}"
    )
}

/// The results of calls of `@f`, and what it has made of its arguments.
fn outcomes(text: &str, kind: EngineKind, calls: &[&dyn Fn() -> Vec<Val>]) -> Vec<[String; 2]> {
    let mut engine = common::engine(text);
    engine.set_engine(kind).unwrap();
    engine.set_tiers(Tiers::AtOnce);
    let mut outcome = |args: Vec<Val>| {
        let result = match engine.call("f", &args) {
            Ok(value) => show_string(engine.ctx(), &value),
            Err(error) => regraft_ir::render_all(&[error.to_diagnostic()], false),
        };
        let args: Vec<String> = args.iter().map(|arg| show_string(engine.ctx(), arg)).collect();
        [result, args.join(", ")]
    };
    calls.iter().map(|call| outcome(call())).collect()
}

#[track_caller]
fn agrees(text: &str, calls: &[&dyn Fn() -> Vec<Val>]) {
    let expected = outcomes(text, EngineKind::Interpreter, calls);
    for kind in native_engines() {
        assert_eq!(outcomes(text, kind, calls), expected, "{kind:?}: {text}");
        if kind == EngineKind::Llvm {
            // Code that LLVM does not take would be interpreted.
            common::engine(text).emit("f", CodeForm::LlvmOptimized).unwrap();
        }
    }
}

/// Compares engines on all pairs of numbers.
#[track_caller]
fn agrees_on<T: Copy + Into<Val>>(text: &str, numbers: &[T], others: &[T]) {
    let pairs = numbers.iter().flat_map(|&a| others.iter().map(move |&b| (a, b)));
    let calls = pairs.map(|(a, b)| move || vec![a.into(), b.into()]);
    let calls: Vec<_> = calls.collect();
    let calls: Vec<&dyn Fn() -> Vec<Val>> = calls.iter().map(|call| call as _).collect();
    agrees(text, &calls);
}

#[test]
fn operations_on_floats_agree() {
    let numbers = [0.0, -0.0, 1.5, -2.5, 1e300, 5e-324, f64::INFINITY, -f64::INFINITY, f64::NAN];
    let binary = ["add", "sub", "mul", "fdiv", "min", "max", "copysign", "frem", "mulz"];
    let unary = ["neg", "abs", "floor", "ceil", "trunc", "round"];
    let mut programs: Vec<String> =
        binary.map(|op| of_two("f64", "f64", &format!("arith.{op} %a, %b"))).into();
    programs.extend(unary.map(|op| of_two("f64", "f64", &format!("arith.{op} %a"))));
    programs.extend(
        ["sqrt", "exp", "log", "sin", "tanh", "atan"]
            .map(|op| of_two("f64", "f64", &format!("math.{op} %a"))),
    );
    programs.extend(
        ["lt", "le", "eq", "ne", "gt", "ge"]
            .map(|op| of_two("f64", "bool", &format!("arith.{op} %a, %b"))),
    );
    for text in programs {
        agrees_on(&text, &numbers, &[0.0, -0.0, 3.0, f64::NAN]);
    }
}

#[test]
fn operations_on_integers_agree() {
    let binary = [
        "add",
        "sub",
        "mul",
        "div",
        "rem",
        "fld",
        "cld",
        "mod",
        "min",
        "max",
        "and",
        "or",
        "xor",
        "shl",
        "shr",
        "ashr",
        "checked_add",
        "checked_sub",
    ];
    let unary = ["neg", "abs", "clz", "ctz", "popcount", "bitreverse", "bswap"];
    let mut programs: Vec<String> =
        binary.map(|op| of_two("i64", "i64", &format!("arith.{op} %a, %b"))).into();
    programs.extend(unary.map(|op| of_two("i64", "i64", &format!("arith.{op} %a"))));
    for text in programs {
        let others = [0, 1, -1, 3, -64, 64, i64::MIN];
        agrees_on(&text, &[0, 7, -7, i64::MIN, i64::MAX], &others);
    }
}

#[test]
fn loops_over_arrays_agree_and_keep_the_order_of_sums() {
    let numbers = |n: i32| -> Vec<Val> {
        let items: Vec<f64> = (0..n).map(|i| f64::from(i * 37 % 101) * 0.1 - 3.0).collect();
        vec![Array::vector(&items).into()]
    };
    agrees(SQUARES, &[&|| numbers(0), &|| numbers(1), &|| numbers(7), &|| numbers(1000)]);
}

#[test]
fn what_a_loop_has_stored_before_an_error_stays() {
    let text = "
func @f(%y: array<f64, 1>, %x: array<f64, 1>) -> array<f64, 1> {
^1:
  %n: i64 = mem.length %x
  br ^2(0)
^2(%i: i64):
  %end: bool = arith.ge %i, %n
  br %end, ^4, ^3
^3:
  %k: i64 = arith.add %i, 1
  %a: f64 = mem.load %x, %k {inbounds=true}
  %b: f64 = mem.load %y, %k
  %c: f64 = arith.add %a, %b
  %1: unit = mem.store %y, %c, %k
  br ^2(%k)
^4:
  return %y
}";
    let numbers =
        |n: u32| -> Val { Array::vector(&(0..n).map(f64::from).collect::<Vec<f64>>()).into() };
    for (short, long) in [(0, 0), (5, 9), (100, 100), (100, 103), (103, 100)] {
        agrees(text, &[&|| vec![numbers(short), numbers(long)]]);
    }
    // The arrays may be the same.
    agrees(
        text,
        &[&|| {
            let array = numbers(50);
            vec![array.clone(), array]
        }],
    );
}

#[test]
fn recursion_agrees_and_ends_with_an_error_if_it_is_endless() {
    let text = "
func @f(%n: i64) -> i64 {
^1:
  %1: bool = arith.lt %n, 2
  br %1, ^2, ^3
^2:
  return %n
^3:
  %a: i64 = arith.sub %n, 1
  %b: i64 = arith.sub %n, 2
  %c: i64 = call @f(%a)
  %d: i64 = call @f(%b)
  %e: i64 = arith.add %c, %d
  return %e
}";
    agrees(text, &[&|| vec![Val::I64(20)]]);
    let endless = "
func @f(%n: i64) -> i64 {
^1:
  %a: i64 = arith.add %n, 1
  %b: i64 = call @f(%a)
  %c: i64 = arith.add %b, %n
  return %c
}";
    for kind in native_engines() {
        let mut engine = common::engine(endless);
        engine.set_engine(kind).unwrap();
        let message = engine.call("f", &[Val::I64(0)]).unwrap_err().message();
        assert!(message.starts_with("StackOverflowError"), "{message}");
    }
}

#[test]
fn code_is_made_anew_when_its_engine_changes() {
    let mut engine = common::engine(SQUARES);
    let args = [Val::from(Array::vector(&[1.0, 2.0, 3.0]))];
    for kind in native_engines().into_iter().chain([EngineKind::Interpreter]).cycle().take(9) {
        engine.set_engine(kind).unwrap();
        assert_eq!(engine.call("f", &args).unwrap().as_f64(), Some(14.0));
    }
}

fn llvm(text: &str) -> String {
    common::engine(text).emit("f", CodeForm::Llvm).unwrap()
}

#[test]
fn a_body_returns_its_result_and_a_status() {
    let text = llvm(&of_two("f64", "f64", "arith.mul %a, %b"));
    let head = "define { double, i64 } @f.0(ptr noalias noundef nonnull %cx, \
                ptr noundef nonnull align 8 %scalars, ptr noundef nonnull align 8 %vals, \
                double noundef %a0, double noundef %a1) nounwind {";
    assert_eq!(text.lines().next(), Some(head));
    assert!(text.contains("= fmul double %a0, %a1\n"), "{text}");
    assert!(text.contains("define i64 @f.0.entry("), "{text}");
}

#[test]
fn accesses_say_their_kind_and_lengths_their_range() {
    let text = llvm(SQUARES);
    let has = |what: &str| text.lines().any(|line| line.contains(what));
    assert!(has("!range !{i64 0, i64 1152921504606846976}"), "{text}");
    assert!(has("getelementptr inbounds i64, ptr"), "{text}");
    let (elements, _) = text.split_once(" = !{!\"Elements(F64)\"").unwrap();
    let kind: u32 = elements.rsplit('!').next().unwrap().parse().unwrap();
    let access = format!("align 8, !tbaa !{}", kind + 1);
    assert!(
        text.lines().any(|line| line.contains("load double") && line.ends_with(&access)),
        "{text}"
    );
}

#[test]
fn elementary_functions_may_leave_loops() {
    let text = llvm(&of_two("f64", "f64", "math.exp %a"));
    let declared =
        "declare double @regraft_exp(double) nounwind willreturn memory(none) speculatable";
    assert!(text.contains(declared), "{text}");
}

#[test]
fn loops_call_elementary_functions_on_lanes_with_the_same_bits() {
    let program = |call: &str| {
        format!(
            "
func @f(%y: array<f64, 1>, %x: array<f64, 1>) -> array<f64, 1> {{
^1:
  %n: i64 = mem.length %x
  br ^2(0)
^2(%i: i64):
  %end: bool = arith.ge %i, %n
  br %end, ^4, ^3
^3:
  %k: i64 = arith.add %i, 1
  %a: f64 = mem.load %x, %k {{inbounds=true}}
  %b: f64 = {call}
  %1: unit = mem.store %y, %b, %k {{inbounds=true}}
  br ^2(%k)
^4:
  return %y
}}"
        )
    };
    let numbers = |scale: f64| -> Vec<Val> {
        let mut items: Vec<f64> = (-100..100).map(|i| f64::from(i) * scale).collect();
        items.extend([f64::NAN, f64::INFINITY, -f64::INFINITY, -0.0, 1e-310]);
        vec![Array::vector(&items).into(), Array::vector(&items).into()]
    };
    for call in ["exp %a", "expm1 %a", "tanh %a", "atan %a", "erf %a", "cbrt %a", "atan2 %a, 0.5"] {
        let text = program(&format!("math.{call}"));
        agrees(&text, &[&|| numbers(0.1), &|| numbers(7.3), &|| numbers(1e-3)]);
    }
    if native_engines().contains(&EngineKind::Llvm) {
        let text = program("math.exp %a");
        let optimized = common::engine(&text).emit("f", CodeForm::LlvmOptimized).unwrap();
        let lanes = optimized.lines().filter(|line| line.contains("call <"));
        assert!(lanes.clone().count() > 0, "{optimized}");
        assert!(lanes.clone().all(|line| line.contains("@regraft_exp_x")), "{optimized}");
    }
}

#[test]
fn constants_are_exact() {
    let text = llvm(&of_two("f32", "f32", "arith.add %a, 0.1f32"));
    assert!(text.contains("0x3FB99999A0000000"), "{text}");
}

#[test]
fn code_of_unknown_functions_is_an_error() {
    let mut engine: Interpreter = common::engine(SQUARES);
    for form in [CodeForm::Compact, CodeForm::Llvm] {
        assert!(engine.emit("g", form).unwrap_err().message().contains("@g"));
    }
    let compact = engine.emit("f", CodeForm::Compact).unwrap();
    assert!(compact.starts_with("func f(array<f64, 1>) -> f64: "), "{compact}");
}

#[test]
fn loops_that_are_promised_to_stay_in_arrays_become_vectors() {
    if !native_engines().contains(&EngineKind::Llvm) {
        return;
    }
    let text = common::engine(SQUARES).emit("f", CodeForm::LlvmOptimized).unwrap();
    assert!(text.contains("fmul <"), "{text}");
    // The sum keeps its order.
    assert!(text.contains("@llvm.vector.reduce.fadd") && !text.contains("reassoc"), "{text}");
}

#[test]
fn sums_are_reordered_where_the_function_says_so_alone() {
    assert!(!llvm(SQUARES).contains("reassoc"));
    let fast = SQUARES.replace("-> f64 {", "-> f64 {math=:fast} {");
    let text = llvm(&fast);
    assert!(text.contains("fadd reassoc nsz arcp contract double"), "{text}");
    assert!(text.contains("fmul reassoc nsz arcp contract double"), "{text}");
    // Infinities and NaN stay; the sum of squares of small integers is exact in any order.
    for (numbers, sum) in [
        ((1..=100).map(f64::from).collect::<Vec<_>>(), 338_350.0),
        (vec![1.0, f64::INFINITY, 2.0], f64::INFINITY),
        (vec![1.0, f64::NAN, 2.0], f64::NAN),
    ] {
        for kind in native_engines() {
            let [[result, _]] =
                &outcomes(&fast, kind, &[&|| vec![Array::vector(&numbers).into()]])[..]
            else {
                panic!("one call has one outcome")
            };
            assert_eq!(result, &show_string(&regraft_dialects::context(), &Val::F64(sum)));
        }
    }
}

#[test]
fn a_look_at_the_interrupt_flag_forgets_nothing_of_arrays() {
    // A loop that need not end soon looks at the flag.
    let text = llvm(
        "
func @f(%x: array<f64, 1>, %n: i64) -> f64 {
^1:
  br ^2(0, 0.0)
^2(%i: i64, %s: f64):
  %end: bool = arith.ge %i, %n
  br %end, ^4, ^3
^3:
  %k: i64 = arith.add %i, 1
  %a: f64 = mem.load %x, 1
  %t: f64 = arith.add %s, %a
  br ^2(%k, %t)
^4:
  return %s
}",
    );
    assert!(text.contains("load atomic i8, ptr"), "{text}");
    let declared = "@regraft_refuel(ptr) nounwind willreturn memory(argmem: readwrite, \
                    inaccessiblemem: readwrite)";
    assert!(text.contains(declared), "{text}");
}

#[test]
fn a_block_that_a_loop_is_left_to_may_stand_in_it() {
    // The loop walks over an array, so that it does not look at the flag.
    let text = |returns: &str| {
        llvm(&format!(
            "
func @f(%x: array<f64, 1>, %y: array<f64, 1>) -> i64 {{
^1:
  %n: i64 = mem.length %x
  br ^2(0)
^2(%i: i64):
  %end: bool = arith.ge %i, %n
  br %end, ^3, ^4
^3:
  mem.fill_in_place %y, 1.0
  {returns}
^4:
  %k: i64 = arith.add %i, 1
  mem.store %x, 2.0, %k
  br ^2(%k)
}}"
        ))
    };
    let text_of_once = text("return %n");
    assert!(!text_of_once.contains("load atomic i8"), "{text_of_once}");
    // Nor does it end by itself if the block begins it again.
    let endless = text("br ^2(0)");
    assert!(endless.contains("load atomic i8"), "{endless}");
}

#[test]
fn a_loop_that_walks_over_an_array_by_sums_of_a_counter_is_over_soon() {
    // The next counter is the index less two.
    let text = |back: i64| {
        llvm(&format!(
            "
func @f(%x: array<f64, 1>, %n: i64) -> f64 {{
^1:
  br ^2(0, 0.0)
^2(%i: i64, %s: f64):
  %end: bool = arith.gt %i, %n
  br %end, ^4, ^3
^3:
  %k: i64 = arith.add %i, 3
  %a: f64 = mem.load %x, %k
  %next: i64 = arith.sub %k, {back}
  %t: f64 = arith.add %s, %a
  br ^2(%next, %t)
^4:
  return %s
}}"
        ))
    };
    assert!(!text(2).contains("load atomic i8"));
    // A counter that stays where it is.
    assert!(text(3).contains("load atomic i8"));
}
