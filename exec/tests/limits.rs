//! Limits, errors with their chains, and memory.

mod common;

use common::{engine, error, run, shown};
use regraft_exec::value::{
    Array, ElementType, Val, collect_cycles, egal, live_bytes, live_containers, same,
};
use regraft_exec::{Engine, ErrorKind, Limits};
use regraft_ir::Type;

const RECURSION: &str = "
func @f(%1: i64) -> i64 {
^1:
  %2: bool = arith.eq %1, 0
  br %2, ^2, ^3
^2:
  return 0
^3:
  %3: i64 = arith.sub %1, 1
  %4: i64 = call @f(%3)
  %5: i64 = arith.add %4, 1
  return %5
}";

#[test]
fn deep_recursion_hits_the_depth_limit_or_works() {
    let e = error(RECURSION, &[1_000_000i64.into()], Limits::default());
    assert_eq!(*e.kind(), ErrorKind::Depth);
    assert_eq!(
        e.message(),
        "StackOverflowError: the depth limit of 100000 nested calls is exceeded"
    );
    assert_eq!(e.chain().inner.len() + e.chain().skipped + e.chain().outer.len(), 100_000);
    let mut deep = engine(RECURSION);
    deep.set_limits(Limits { depth: 1_000_002, ..Limits::default() });
    assert_eq!(shown(&mut deep, "f", &[1_000_000i64.into()]), "1000000");
    // The engine is usable after an error, too.
    let mut again = engine(RECURSION);
    assert!(again.call("f", &[1_000_000i64.into()]).is_err());
    assert_eq!(shown(&mut again, "f", &[10i64.into()]), "10");
}

#[test]
fn endless_loops_run_out_of_fuel() {
    let text = "
func @f() -> i64 {
^1:
  br ^2(0)
^2(%1: i64):
  %2: i64 = arith.add %1, 1
  br ^2(%2)
}
func @empty() -> i64 {
^1:
  br ^1
}";
    for function in ["f", "empty"] {
        let mut e = engine(text);
        e.set_limits(Limits { fuel: Some(3_000_000), ..Limits::default() });
        let error = e.call(function, &[]).expect_err("it never ends");
        assert_eq!(*error.kind(), ErrorKind::Fuel);
        assert_eq!(error.message(), "the fuel limit of 3000000 instructions is exceeded");
    }
    // A small amount of fuel is enough for a small program, every time.
    let mut e = engine(RECURSION);
    e.set_limits(Limits { fuel: Some(100), ..Limits::default() });
    for _ in 0..10 {
        assert_eq!(shown(&mut e, "f", &[10i64.into()]), "10");
    }
    assert!(e.call("f", &[1000i64.into()]).is_err());
}

#[test]
fn an_interrupt_stops_an_endless_loop() {
    let mut e = engine("func @f() -> i64 {\n^1:\n  br ^1\n}");
    let flag = e.interrupt_flag();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(20));
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let error = e.call("f", &[]).expect_err("it is interrupted");
    assert_eq!(*error.kind(), ErrorKind::Interrupted);
    thread.join().expect("it only sleeps");
}

#[test]
fn memory_is_limited() {
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let array = "
func @f(%1: i64) -> i64 {
^1:
  %2: array<f64, 1> = mem.alloc %1
  %3: i64 = mem.length %2
  return %3
}";
    let e = error(array, &[1_000_000i64.into()], limits);
    assert_eq!(*e.kind(), ErrorKind::Memory);
    assert_eq!(e.message(), "the memory limit of 1048576 bytes is exceeded");
    assert_eq!(
        run(array, &[i64::MAX.into()]),
        "OutOfMemoryError: an array of 9223372036854775807 elements is too large"
    );
    assert_eq!(run(array, &[(-1i64).into()]), "ArgumentError: a dimension of an array is negative");
    // A list that grows without end, and a stack.
    let list = "
func @f() -> any {
^1:
  br ^2(nothing)
^2(%1: any):
  %2: tuple<any, i64> = core.tuple %1, 1
  br ^2(%2)
}";
    assert_eq!(*error(list, &[], limits).kind(), ErrorKind::Memory);
    let push = "
func @f() -> any {
^1:
  %1: array<i64, 1> = mem.alloc 0
  br ^2
^2:
  %2: unit = mem.push %1, 1
  br ^2
}";
    assert_eq!(*error(push, &[], limits).kind(), ErrorKind::Memory);
    let deep = Limits { depth: usize::MAX, ..limits };
    assert_eq!(*error(RECURSION, &[i64::MAX.into()], deep).kind(), ErrorKind::Memory);
}

#[test]
fn garbage_is_freed_while_the_program_runs() {
    // Each round makes an array of a megabyte; only one is alive at a time.
    let text = "
func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  %3: array<f64, 1> = mem.alloc 100000
  %4: i64 = arith.add %2, 1
  %5: bool = arith.lt %4, %1
  br %5, ^2(%4), ^3
^3:
  return %4
}";
    let mut e = engine(text);
    e.set_limits(Limits { memory: 2 << 20, ..Limits::default() });
    assert_eq!(shown(&mut e, "f", &[100i64.into()]), "100");
}

#[test]
fn cycles_are_reclaimed() {
    // A ref that refers to itself, over and over.
    let text = "
func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  %u: any = core.convert nothing
  %3: ref<any> = mem.ref_new %u
  %4: tuple<ref<any>, i64> = core.tuple %3, %2
  %5: unit = mem.ref_set %3, %4
  %6: i64 = arith.add %2, 1
  %7: bool = arith.lt %6, %1
  br %7, ^2(%6), ^3
^3:
  return %6
}";
    let mut e = engine(text);
    e.set_limits(Limits { memory: 4 << 20, ..Limits::default() });
    assert_eq!(shown(&mut e, "f", &[200_000i64.into()]), "200000");
    drop(e);
    collect_cycles();
    assert_eq!(live_containers(), 0);
}

#[test]
fn searches_for_cycles_wait_for_as_many_objects_as_they_visit() {
    let chain = |value: Val, _| Val::tuple([value]);
    let cycle = || {
        let cell = Val::reference(Type::ANY, Val::Unit);
        if let Val::Ref(inner) = &cell {
            inner.set(cell.clone());
        }
    };
    // An object that was changed leads to many that were not.
    let root = Val::reference(Type::ANY, Val::Unit);
    if let Val::Ref(cell) = &root {
        cell.set((0..50_000).fold(Val::tuple([]), chain));
    }
    assert_eq!(collect_cycles(), 0);
    (0..40_000).for_each(|_| cycle());
    assert_eq!(live_containers(), 40_001);
    (0..200_000).for_each(|_| cycle());
    assert!(live_containers() < 110_000, "{}", live_containers());
    drop(root);
    collect_cycles();
    assert_eq!(live_containers(), 0);
}

#[test]
fn many_calls_do_not_leak() {
    let text = "
func @f(%1: i64) -> any {
^1:
  %u: any = core.convert %1
  %3: ref<any> = mem.ref_new %u
  %4: unit = mem.ref_set %3, %3
  %5: array<f64, 1> = mem.alloc 10
  %6: tuple<array<f64, 1>, str> = core.tuple %5, \"text\"
  return %6
}";
    let mut e = engine(text);
    let mut run = |times: usize| {
        for i in 0..times {
            e.call("f", &[(i as i64).into()]).expect("it works");
        }
        collect_cycles();
        live_bytes()
    };
    let after_some = run(100);
    assert_eq!(run(50_000), after_some);
}

#[test]
fn values_nested_a_million_deep_are_dropped_compared_and_printed() {
    let nested = |depth: i64, refs: bool| {
        let mut value = Val::Unit;
        for i in 0..depth {
            value = if refs && i % 2 == 0 {
                Val::reference(Type::ANY, value)
            } else {
                Val::tuple([value, i.into()])
            };
        }
        value
    };
    let (a, b) = (nested(1_000_000, false), nested(1_000_000, false));
    assert!(egal(&a, &b));
    let ctx = regraft_dialects::context();
    let text = regraft_exec::show_string(&ctx, &a);
    assert!(text.ends_with(", 999998), 999999)"));
    assert!(regraft_exec::to_json(&ctx, &a).ends_with(", 999998], 999999]"));
    assert_eq!(ctx.type_text(a.type_of(&ctx)).matches("tuple").count(), 64);
    drop(a);
    let (c, d) = (nested(200_000, true), nested(200_000, true));
    assert!(same(&c, &d));
    assert!(!egal(&c, &d));
    assert!(regraft_exec::show_string(&ctx, &c).starts_with("(Base.RefValue{Any}((Base."));
    assert!(regraft_exec::to_json(&ctx, &c).ends_with(", 199997], 199999]"));
    drop(c);
}

#[test]
fn values_with_shared_parts_take_no_exponential_time() {
    // A hundred tuples that would be 2^100 if they were written out.
    let text = "
func @f(%1: i64) -> any {
^1:
  %0: any = core.convert 1
  br ^2(%0, %1)
^2(%2: any, %3: i64):
  %4: tuple<any, any> = core.tuple %2, %2
  %5: i64 = arith.sub %3, 1
  %6: bool = arith.gt %5, 0
  br %6, ^2(%4, %5), ^3
^3:
  return %4
}
func @print(%1: any) -> unit {
^1:
  %2: unit = core.print %1
  return nothing
}
func @throw(%1: any) -> unit {
^1:
  %2: never = core.throw %1
  unreachable
}";
    let mut e = engine(&text.replace("%0", "%one"));
    let (a, b) = (e.call("f", &[100i64.into()]), e.call("f", &[100i64.into()]));
    let (a, b) = (a.expect("it runs"), b.expect("it runs"));
    assert!(egal(&a, &b));
    let ty = a.type_of(e.ctx());
    assert!(a.is_a(e.ctx(), ty));
    e.set_limits(Limits { memory: 1 << 20, ..Limits::default() });
    let error = e.call("print", std::slice::from_ref(&a)).expect_err("it is too long");
    assert_eq!(*error.kind(), ErrorKind::Memory);
    let error = e.call("throw", &[a]).expect_err("it throws");
    assert!(error.message().ends_with("that is too large to show"));
}

#[test]
fn values_that_contain_themselves_are_printed_and_compared() {
    let ctx = regraft_dialects::context();
    let make = || {
        let cell = Val::reference(Type::ANY, Val::Unit);
        if let Val::Ref(inner) = &cell {
            inner.set(Val::tuple([cell.clone(), 1i64.into()]));
        }
        cell
    };
    let (a, b) = (make(), make());
    let shown = regraft_exec::show_string(&ctx, &a);
    assert_eq!(shown, "Base.RefValue{Any}((Base.RefValue{Any}(#= circular reference @-2 =#), 1))");
    assert_eq!(regraft_exec::to_json(&ctx, &a), "[null, 1]");
    assert!(same(&a, &b));
    assert!(!egal(&a, &b));
    drop((a, b));
    assert_eq!(collect_cycles(), 2);
    let array = Array::of_values(ElementType::ANY, &[1i64.into()], &[1]).expect("it fits");
    let list = Val::from(array);
    if let Val::Array(array) = &list {
        array.push(list.clone()).expect("it fits");
    }
    let shown = regraft_exec::show_string(&ctx, &list);
    assert_eq!(shown, "Any[1, Any[#= circular reference @-1 =#]]");
}

#[test]
fn errors_show_the_line_and_the_callers() {
    let text = "\
func @f(%1: i64) -> i64 {
^1:
  %2: i64 = call @g(%1)
  return %2
}
func @g(%1: i64) -> i64 {
^1:
  %2: i64 = arith.div 10, %1
  return %2
}";
    let e = error(text, &[0i64.into()], Limits::default());
    assert!(e.message().starts_with("DivideError: "), "{}", e.message());
    let report = e.to_diagnostic();
    let at = &report.labels()[0];
    assert!(text[at.span.clone()].contains("arith.div 10, %1"), "{:?}", &text[at.span.clone()]);
    assert_eq!(report.notes(), ["called from @f, at test.ir:3:3"]);
    assert!(report.render(false).contains("arith.div 10, %1"));
}

#[test]
fn throwing_and_reaching_the_unreachable() {
    let text = "
func @f(%1: any) -> any {
^1:
  %2: never = core.throw %1
  unreachable
}
func @g() -> any {
^1:
  unreachable
}";
    assert_eq!(run(text, &["not implemented".into()]), "not implemented");
    assert_eq!(run(text, &[Val::tuple([1i64.into()])]), "(1,)");
    assert!(shown(&mut engine(text), "g", &[]).starts_with("UnreachableError"));
}
