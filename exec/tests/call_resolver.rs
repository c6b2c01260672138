//! Functions that appear while a program runs: a call resolver in place of the world of methods.

mod common;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use regraft_exec::value::show_string;
use regraft_exec::{
    CallResolver, Engine, ErrorKind, Host, Interpreter, Limits, ResolvedCall, Trap, Val,
};
use regraft_ir::{Context, Function, Module, Symbol};

fn int(x: i64) -> Val {
    Val::I64(x)
}

/// The functions that the stand-in knows, and the calls that it was asked for.
#[derive(Default)]
struct Known {
    /// By callee and types of the arguments, as text.
    methods: BTreeMap<String, ResolvedCall>,
    functions: BTreeMap<Symbol, Rc<Function>>,
    asked: Vec<String>,
}

struct StandIn {
    ctx: Arc<Context>,
    known: Rc<RefCell<Known>>,
}

impl CallResolver for StandIn {
    fn resolve(&mut self, callee: &Val, args: &[Val], _: &mut Host) -> Result<ResolvedCall, Trap> {
        let types: Vec<String> =
            args.iter().map(|arg| self.ctx.type_text(arg.type_of(&self.ctx))).collect();
        let callee = match callee {
            Val::Func(name) => self.ctx.str(*name).to_owned(),
            Val::Type(ty) => self.ctx.type_text(*ty),
            other => self.ctx.type_text(other.type_of(&self.ctx)),
        };
        let text = format!("{callee}({})", types.join(", "));
        let mut known = self.known.borrow_mut();
        known.asked.push(text.clone());
        let any = format!("{callee}(..)");
        let found = known.methods.get(&text).or_else(|| known.methods.get(&any)).copied();
        found.ok_or_else(|| {
            Trap::new("MethodError", format!("no method matching {text}")).help("a candidate")
        })
    }

    fn function(
        &mut self,
        name: Symbol,
        _: Option<&mut Host>,
    ) -> Result<Option<Rc<Function>>, Trap> {
        let mut known = self.known.borrow_mut();
        known.asked.push(format!("@{}", self.ctx.str(name)));
        if self.ctx.str(name) == "broken" {
            return Err(Trap::new("TypeError", "the function cannot be made"));
        }
        Ok(known.functions.get(&name).cloned())
    }
}

/// A program of which the interpreter gets nothing at first.
struct World {
    engine: Interpreter,
    known: Rc<RefCell<Known>>,
}

impl World {
    fn new(text: &str) -> Self {
        let ctx = regraft_dialects::context();
        let known = Rc::new(RefCell::new(Known::default()));
        let mut engine = Interpreter::new(&Module::new(&ctx));
        engine.set_call_resolver(Box::new(StandIn { ctx, known: Rc::clone(&known) }));
        let mut world = Self { engine, known };
        world.define(text);
        world
    }

    /// Adds functions, or puts them in place of others.
    fn define(&mut self, text: &str) {
        let ctx = Arc::clone(self.engine.ctx());
        // Parsed one by one: what they call need not be there.
        let module = regraft_syntax::parse_module(&ctx, "test.ir", text)
            .unwrap_or_else(|errors| panic!("{}", regraft_ir::render_all(&errors, false)));
        for function in module.functions() {
            let copy = Rc::new(function.clone());
            self.known.borrow_mut().functions.insert(function.name(), copy);
        }
    }

    fn method(&mut self, signature: &str, function: &str) {
        self.method_with(signature, function, None, false);
    }

    fn method_with(&mut self, signature: &str, name: &str, fixed: Option<usize>, callee: bool) {
        let function = self.engine.ctx().symbol(name);
        let linked = ResolvedCall { function, fixed, pass_callee: callee, by_value: false };
        self.known.borrow_mut().methods.insert(signature.to_owned(), linked);
    }

    fn run(&mut self, function: &str, args: &[Val]) -> String {
        common::shown(&mut self.engine, function, args)
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.known.borrow_mut().asked)
    }
}

/// `+` and `<` for two types, and a sum that knows nothing of types.
const SUM: &str = r#"
func @"+(i64, i64)"(%x: i64, %y: i64) -> i64 {
^1:
  %1: i64 = arith.add %x, %y
  return %1
}
func @"+(f64, f64)"(%x: f64, %y: f64) -> f64 {
^1:
  %1: f64 = arith.add %x, %y
  return %1
}
func @"+(f64, i64)"(%x: f64, %y: i64) -> f64 {
^1:
  %1: f64 = arith.int_to_float %y
  %2: f64 = arith.add %x, %1
  return %2
}
func @"<(i64, i64)"(%x: i64, %y: i64) -> bool {
^1:
  %1: bool = arith.lt %x, %y
  return %1
}
func @sum(%n, %start, %one) -> any {
^1:
  br ^2(0, %start)
^2(%i, %acc):
  %1 = core.apply @"<", %i, %n
  %2: bool = core.typeassert %1
  br %2, ^3, ^4
^3:
  %3 = core.apply @"+", %i, 1
  %4 = core.apply @"+", %acc, %one
  br ^2(%3, %4)
^4:
  return %acc
}
"#;

fn sum_world() -> World {
    let mut world = World::new(SUM);
    for signature in ["+(i64, i64)", "+(f64, f64)", "+(f64, i64)", "<(i64, i64)"] {
        world.method(signature, signature);
    }
    world
}

#[test]
fn each_combination_of_types_is_asked_for_once() {
    let mut world = sum_world();
    assert_eq!(world.run("sum", &[int(1000), int(0), int(2)]), "2000");
    let asked = world.asked();
    assert_eq!(
        asked,
        ["@sum", "<(i64, i64)", "@<(i64, i64)", "+(i64, i64)", "@+(i64, i64)"],
        "two sites share an answer"
    );
    assert_eq!(world.run("sum", &[int(1000), Val::F64(0.5), Val::F64(2.0)]), "2000.5");
    assert_eq!(world.run("sum", &[int(1000), Val::F64(0.5), int(1)]), "1000.5");
    assert_eq!(world.run("sum", &[int(10), int(0), int(2)]), "20");
    assert_eq!(
        world.asked(),
        ["+(f64, f64)", "@+(f64, f64)", "+(f64, i64)", "@+(f64, i64)"],
        "what was known stays known"
    );
}

#[test]
fn types_that_take_turns_at_one_site_are_told_apart() {
    // More combinations than a call site remembers, tuples, arrays and functions among them.
    let mut world = World::new(
        r#"
func @name(%x) -> any {
^1:
  %1 = core.apply @kind, %x
  return %1
}
func @i64() -> sym {
^1:
  return :i64
}
"#,
    );
    let ctx = Arc::clone(world.engine.ctx());
    let values = [
        (Val::I64(1), "i64"),
        (Val::F64(1.0), "f64"),
        (Val::Bool(true), "bool"),
        (Val::tuple([Val::I64(1), Val::F64(1.0)]), "tuple<i64, f64>"),
        (Val::tuple([Val::I64(1), Val::I64(1)]), "tuple<i64, i64>"),
        (Val::tuple([Val::I64(1)]), "tuple<i64>"),
        (Val::named(&ctx, [("a", Val::I64(1))]), "{a: i64}"),
        (Val::named(&ctx, [("b", Val::I64(1))]), "{b: i64}"),
        (regraft_exec::value::Array::vector(&[1.0]).into(), "array<f64, 1>"),
        (regraft_exec::value::Array::vector(&[1i64]).into(), "array<i64, 1>"),
        (Val::Func(ctx.symbol("sin")), "fn<@sin>"),
        (Val::Func(ctx.symbol("cos")), "fn<@cos>"),
        (Val::Unit, "unit"),
        (Val::str("a"), "str"),
    ];
    for (_, ty) in &values {
        world.define(&format!("func @\"is {ty}\"(%x) -> str {{\n^1:\n  return \"{ty}\"\n}}\n"));
        world.method(&format!("kind({ty})"), &format!("is {ty}"));
    }
    for round in 0..3 {
        for (value, ty) in &values {
            let text = world.run("name", std::slice::from_ref(value));
            assert_eq!(text, format!("{ty:?}"), "round {round}");
        }
        let asked = world.asked().iter().filter(|name| name.starts_with("kind")).count();
        assert_eq!(asked, if round == 0 { values.len() } else { 0 }, "round {round}");
    }
}

#[test]
fn further_arguments_are_packed_and_callees_passed() {
    let mut world = World::new(
        r#"
struct @Adder { x: i64 }
func @"rest(..)"(%a, %rest) -> any {
^1:
  %1 = core.tuple %a, %rest
  return %1
}
func @"Adder(..)"(%self: @Adder, %y: i64) -> i64 {
^1:
  %1: i64 = core.get %self, 1
  %2: i64 = arith.add %1, %y
  return %2
}
func @make(%x: i64) -> any {
^1:
  %1: @Adder = data.new %x
  return %1
}
func @call1(%f, %x) -> any {
^1:
  %1 = core.apply %f, %x
  return %1
}
func @call3(%f, %x, %y, %z) -> any {
^1:
  %1 = core.apply %f, %x, %y, %z
  return %1
}
func @spread(%f, %xs, %ys) -> any {
^1:
  %1 = core.splat %f, %xs, %ys
  return %1
}
func @"both(..)"(%f, %rest) -> any {
^1:
  %1 = core.tuple %f, %rest
  return %1
}
func @unit2f64(%x: i64) -> f64 {
^1:
  %1: f64 = arith.int_to_float %x
  return %1
}
"#,
    );
    let ctx = Arc::clone(world.engine.ctx());
    world.method_with("rest(..)", "rest(..)", Some(1), false);
    world.method_with("both(..)", "both(..)", Some(0), true);
    world.method_with("@Adder(..)", "Adder(..)", None, true);
    world.method("f64(i64)", "unit2f64");
    let rest = Val::Func(ctx.symbol("rest"));
    let both = Val::Func(ctx.symbol("both"));
    for _ in 0..3 {
        let three = [rest.clone(), int(1), Val::F64(2.0), true.into()];
        assert_eq!(world.run("call3", &three), "(1, (2.0, true))");
        assert_eq!(world.run("call1", &[rest.clone(), int(1)]), "(1, ())");
        assert_eq!(world.run("call1", &[both.clone(), int(1)]), "(both, (1,))");
        let xs = Val::tuple([Val::I64(1), Val::I64(2)]);
        let ys = Val::from(regraft_exec::value::Array::vector(&[3i64, 4]));
        assert_eq!(world.run("spread", &[rest.clone(), xs, ys]), "(1, (2, 3, 4))");
        let adder = world.engine.call("make", &[int(40)]).unwrap();
        assert_eq!(world.run("call1", &[adder.clone(), int(2)]), "42");
        let value = world.engine.call_value(&adder, &[int(3)]).unwrap();
        assert_eq!(show_string(&ctx, &value), "43");
        let float = Val::Type(regraft_ir::Type::F64);
        assert_eq!(world.run("call1", &[float, int(7)]), "7.0");
    }
}

#[test]
fn a_function_of_the_program_goes_before_the_linker() {
    let ctx = regraft_dialects::context();
    let text = "func @f(%x) -> any {\n^1:\n  %1 = core.apply @g, %x\n  return %1\n}\n\
                func @g(%x) -> any {\n^1:\n  return %x\n}\n";
    let module = regraft_syntax::parse_and_verify(&ctx, "test.ir", text).unwrap();
    let mut engine = Interpreter::new(&module);
    let known = Rc::new(RefCell::new(Known::default()));
    engine.set_call_resolver(Box::new(StandIn { ctx, known: Rc::clone(&known) }));
    assert_eq!(common::shown(&mut engine, "f", &[int(3)]), "3");
    assert!(known.borrow().asked.is_empty());
}

#[test]
fn direct_calls_find_functions_that_nobody_has_loaded() {
    let mut world = World::new(
        r#"
func @f(%x: i64) -> i64 {
^1:
  %1: bool = arith.lt %x, 1
  br %1, ^2, ^3
^2:
  return 0
^3:
  %2: i64 = call @g(%x)
  return %2
}
func @g(%x: i64) -> i64 {
^1:
  %1: i64 = arith.sub %x, 1
  %2: i64 = call @f(%1)
  %3: i64 = arith.add %2, 2
  return %3
}
"#,
    );
    assert_eq!(world.run("f", &[int(21)]), "42");
    assert_eq!(world.asked(), ["@f", "@g"]);
    assert_eq!(world.run("nothing", &[]), "there is no function @nothing");
}

#[test]
fn a_function_that_cannot_be_made_matters_only_where_it_is_called() {
    let text = "func @f(%c: bool) -> i64 {\n^1:\n  br %c, ^2, ^3\n^2:\n  \
                %1: i64 = call @broken()\n  return %1\n^3:\n  return 1\n}\n\
                func @main(%c: bool) -> i64 {\n^1:\n  %1: i64 = call @f(%c)\n  return %1\n}\n";
    let mut world = World::new(text);
    assert_eq!(world.run("main", &[false.into()]), "1");
    let error = world.engine.call("main", &[true.into()]).unwrap_err();
    assert_eq!(error.message(), "TypeError: the function cannot be made");
    let ctx = world.engine.ctx();
    let chain: Vec<&str> = error.chain().inner.iter().map(|spot| ctx.str(spot.function)).collect();
    assert_eq!(chain, ["f", "main"]);
}

#[test]
fn errors_of_the_linker_come_with_the_chain_of_calls() {
    let text = "func @f(%x) -> any {\n^1:\n  %1 = core.apply @\"+\", %x, :a\n  return %1\n}\n\
                func @main() -> any {\n^1:\n  %1 = call @f(1)\n  return %1\n}\n";
    let mut world = World::new(text);
    let error = world.engine.call("main", &[]).unwrap_err();
    assert_eq!(error.message(), "MethodError: no method matching +(i64, sym)");
    let report = error.to_diagnostic().render(false);
    assert!(report.contains("core.apply @\"+\", %x, :a"), "{report}");
    assert!(report.contains("called from @main") && report.contains("a candidate"), "{report}");
}

#[test]
fn what_is_redefined_is_asked_for_again() {
    let one = "func @\"one()\"() -> i64 {\n^1:\n  return 1\n}\n";
    let mut world = World::new(one);
    world.define("func @f() -> any {\n^1:\n  %1 = core.apply @one\n  return %1\n}\n");
    world.define("func @g() -> any {\n^1:\n  %1 = call @\"one()\"()\n  return %1\n}\n");
    world.method("one()", "one()");
    assert_eq!((world.run("f", &[]), world.run("g", &[])), ("1".into(), "1".into()));
    // Another type of result, which callers were compiled against.
    world.define("func @\"one()\"() -> f64 {\n^1:\n  return 1.5\n}\n");
    assert_eq!((world.run("f", &[]), world.run("g", &[])), ("1".into(), "1".into()));
    let name = world.engine.ctx().symbol("one()");
    world.engine.forget(&[name]);
    assert_eq!((world.run("f", &[]), world.run("g", &[])), ("1.5".into(), "1.5".into()));
    // Another method for the same call.
    world.define("func @other() -> str {\n^1:\n  return \"other\"\n}\n");
    world.method("one()", "other");
    assert_eq!(world.run("f", &[]), "1.5");
    world.engine.forget(&[]);
    assert_eq!((world.run("f", &[]), world.run("g", &[])), ("\"other\"".into(), "1.5".into()));
}

/// Programs that never end by themselves.
const ENDLESS: &str = r#"
func @deep(%x: i64) -> i64 {
^1:
  %1: i64 = call @deep(%x)
  return %1
}
func @deep_any(%x) -> any {
^1:
  %1 = core.apply @deeper, %x
  return %1
}
func @again(%x) -> any {
^1:
  br ^2(%x)
^2(%y):
  %1 = core.apply @"+", %y, 1
  br ^2(%1)
}
func @"+(i64, i64)"(%x: i64, %y: i64) -> i64 {
^1:
  %1: i64 = arith.add %x, %y
  return %1
}
func @huge(%n: i64) -> any {
^1:
  %1: array<f64, 1> = mem.alloc %n
  return %1
}
func @huge_any(%n) -> any {
^1:
  %1 = core.apply @larger, %n
  return %1
}
"#;

fn endless() -> World {
    let mut world = World::new(ENDLESS);
    world.method("deeper(i64)", "deep_any");
    world.method("larger(i64)", "huge");
    world.method("+(i64, i64)", "+(i64, i64)");
    world
}

#[test]
fn endless_recursion_ends_at_the_limit_of_depth() {
    let mut world = endless();
    for function in ["deep", "deep_any"] {
        let error = world.engine.call(function, &[int(1)]).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Depth, "{function}");
        let chain = error.chain();
        assert_eq!(chain.inner.len() + chain.skipped + chain.outer.len(), 100_000, "{function}");
    }
}

#[test]
fn endless_dynamic_loops_end_without_fuel_or_when_interrupted() {
    let mut world = endless();
    world.engine.set_limits(Limits { fuel: Some(1_000_000), ..Limits::default() });
    let error = world.engine.call("again", &[int(0)]).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Fuel);
    world.engine.set_limits(Limits::default());
    let flag = world.engine.interrupt_flag();
    let setter = std::thread::spawn(move || {
        // The flag is cleared when the call starts, so it is set until that is over.
        while Arc::strong_count(&flag) > 1 {
            flag.store(true, std::sync::atomic::Ordering::Relaxed);
            std::thread::yield_now();
        }
    });
    let error = world.engine.call("again", &[int(0)]).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Interrupted);
    drop(world);
    setter.join().unwrap();
}

#[test]
fn huge_arrays_are_refused() {
    let mut world = endless();
    for function in ["huge", "huge_any"] {
        let error = world.engine.call(function, &[int(1_000_000_000_000)]).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Memory, "{function}");
        let error = world.engine.call(function, &[int(i64::MAX)]).unwrap_err();
        assert!(error.message().starts_with("OutOfMemoryError"), "{}", error.message());
    }
}

#[test]
fn globals_keep_their_values_between_runs() {
    let mut world = World::new(
        r#"
func @get() -> any {
^1:
  %1 = core.global :counter
  return %1
}
func @get_float() -> f64 {
^1:
  %1: f64 = core.global :counter
  return %1
}
func @set(%x) -> unit {
^1:
  core.set_global :counter, %x
  return nothing
}
func @misspelled() -> any {
^1:
  %1 = core.global :conuter
  return %1
}
"#,
    );
    assert_eq!(world.run("get", &[]), "UndefVarError: `counter` not defined");
    assert_eq!(world.run("set", &[int(3)]), "nothing");
    assert_eq!(world.run("get", &[]), "3");
    let error = world.engine.call("get_float", &[]).unwrap_err().message();
    assert!(error.contains("f64") && error.contains("i64"), "{error}");
    assert_eq!(world.run("set", &[Val::F64(2.5)]), "nothing");
    assert_eq!(world.run("get_float", &[]), "2.5");
    let error = world.engine.call("misspelled", &[]).unwrap_err();
    assert_eq!(error.message(), "UndefVarError: `conuter` not defined");
    let report = error.to_diagnostic().render(false);
    assert!(report.contains("did you mean `counter`?"), "{report}");
    let name = world.engine.ctx().symbol("counter");
    assert_eq!(world.engine.host_mut().global(name).and_then(Val::as_f64), Some(2.5));
}

#[test]
fn ops_of_lowered_code_say_that_it_is_not_specialised() {
    let text = "func @f(%x) -> any {\n^1:\n  %1 = core.static :T\n  return %1\n}\n\
                func @g(%x) -> any {\n^1:\n  %1 = core.closure @inner, %x\n  return %1\n}\n\
                func @h(%c: bool) -> i64 {\n^1:\n  %1: i64 = core.undef\n  \
                br %c, ^2(%1), ^2(5)\n^2(%2: i64):\n  br %c, ^3, ^4\n^3:\n  return 1\n\
                ^4:\n  return %2\n}\n";
    let mut world = World::new(text);
    let error = world.run("f", &[int(1)]);
    assert!(error.starts_with("UndefVarError") && error.contains("`T`"), "{error}");
    let error = world.run("g", &[int(1)]);
    assert!(error.starts_with("UndefVarError") && error.contains("`inner`"), "{error}");
    assert_eq!((world.run("h", &[true.into()]), world.run("h", &[false.into()])).1, "5");
}
