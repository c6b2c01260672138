//! Types of programs, as Julia has them, and the shape of their code.

use crate::lab::Lab;

const FIB: &str = "%2 = call @<(%1, 2)
 br %2, ^2, ^3
^2:
 return %1
^3:
 %3 = call @-(%1, 1)
 %4 = call @fib(%3)
 %5 = call @-(%1, 2)
 %6 = call @fib(%5)
 %7 = call @+(%4, %6)
 return %7";

#[test]
fn a_recursive_function_has_the_type_of_its_base_case() {
    let mut lab = Lab::new();
    lab.main("fib(n)", FIB);
    assert_eq!(lab.result("fib", &["i64"]), "i64");
    let code = lab.code("fib", &["i64"]);
    assert!(code.contains("call @\"fib(Int64)\""), "{code}");
}

#[test]
fn mutual_recursion_has_one_type() {
    let mut lab = Lab::new();
    let even = "%2 = call @==(%1, 0)
 br %2, ^2, ^3
^2:
 return true
^3:
 %3 = call @-(%1, 1)
 %4 = call @OTHER(%3)
 return %4";
    lab.main("even(n)", &even.replace("OTHER", "odd"));
    lab.main("odd(n)", &even.replace("OTHER", "even").replace("true", "false"));
    assert_eq!(lab.result("even", &["i64"]), "bool");
    assert_eq!(lab.result("odd", &["i64"]), "bool");
}

#[test]
fn recursion_that_never_ends_never_returns() {
    let mut lab = Lab::new();
    lab.main("f(n)", "%2 = call @f(%1)\n %3 = call @+(%2, 1)\n return %3");
    assert_eq!(lab.result("f", &["i64"]), "never");
}

#[test]
fn sums_over_arrays_are_a_loop_of_ops() {
    let mut lab = Lab::new();
    lab.main(
        "_sum(f, x)",
        "br ^2(0.0, 0)
^2(%y: any, %n: any):
 %5 = call @length(%x)
 %6 = call @<(%n, %5)
 br %6, ^3, ^4
^3:
 %7 = call @+(%n, 1)
 %8 = call @getindex(%x, %7)
 %9 = core.apply %f, %8
 %10 = call @+(%y, %9)
 br ^2(%10, %7)
^4:
 return %y",
    );
    let identity = lab.ctx.ty(regraft_ir::TypeKind::Fn(lab.symbol("identity")));
    let array = lab.ty("array<f64, 1>");
    let spec = lab.spec_of("_sum", &[identity, array]);
    lab.check(spec);
    // The listing that the lecture shows of it: a header with a comparison, a load, an addition.
    let expected = "\
func @\"_sum(typeof(identity), Vector{Float64})\"(%f: fn<@identity>, %x: array<f64, 1>) -> f64 {
^1:
  br ^2(0.0, 0)
^2(%y: f64, %n: i64):
  %5: i64 = mem.length %x
  %6: bool = arith.lt %n, %5
  br %6, ^3, ^4
^3:
  %7: i64 = arith.add %n, 1
  %8: f64 = mem.load %x, %7
  %9: f64 = arith.add %y, %8
  br ^2(%9, %7)
^4:
  return %y
}
";
    assert_eq!(lab.compiler.function(spec).to_string(), expected);
}

#[test]
fn the_loop_of_foo_is_counter_comparison_loads_add_store() {
    let mut lab = Lab::new();
    lab.main(
        "foo!(y, x)",
        "%3 = call @eachindex(%2)
 %4 = call @#start(%3)
 br ^2(%4)
^2(%5: any):
 %6 = call @#done(%3, %5)
 br %6, ^4, ^3
^3:
 %7 = call @#item(%3, %5)
 %8 = call @getindex(%1, %7) {inbounds=true}
 %9 = call @getindex(%2, %7) {inbounds=true}
 %10 = call @+(%8, %9)
 %11 = call @setindex!(%1, %10, %7) {inbounds=true}
 %12 = call @#next(%3, %5)
 br ^2(%12)
^4:
 return %1",
    );
    let code = lab.code("foo!", &["array<f64, 1>", "array<f64, 1>"]);
    let ops: Vec<&str> =
        code.lines().filter_map(|line| line.split(" = ").nth(1)?.split(' ').next()).collect();
    assert_eq!(
        ops,
        [
            "mem.length",
            "arith.ge",
            "arith.add",
            "mem.load",
            "mem.load",
            "arith.add",
            "mem.store",
            "arith.add",
        ],
        "{code}"
    );
    assert_eq!(code.matches("{inbounds=true}").count(), 3, "{code}");
}

#[test]
fn a_tuple_that_grows_with_each_call_ends_in_a_dynamic_call() {
    let mut lab = Lab::new();
    lab.main("g(t)", "%2 = call @tuple(%1, 1)\n %3 = call @g(%2)\n return %3");
    assert_eq!(lab.result("g", &["i64"]), "any");
    let code = lab.module("g", &["i64"]);
    assert!(code.contains("core.apply @g"), "{code}");
}

#[test]
fn numbers_in_types_that_count_down_end_in_a_dynamic_call() {
    let mut lab = Lab::new();
    lab.main(
        "down(v::Val{N}) where N",
        "%2 = core.static :N
 %3 = call @-(%2, 1)
 %4 = call @Val(%3)
 %5 = call @down(%4)
 return %5",
    );
    assert_eq!(lab.result("down", &["val<1000000>"]), "any");
}

#[test]
fn maps_over_names_are_projections() {
    let mut lab = Lab::new();
    lab.closure(
        "#1",
        &["f", "x", "y"],
        "#1(k)",
        "%3 = call @getfield(%self, :f)
 %4 = call @getfield(%self, :x)
 %5 = call @getfield(%self, :y)
 %6 = call @getindex(%4, %2)
 %7 = call @getindex(%5, %2)
 %8 = core.apply %3, %6, %7
 return %8",
    );
    lab.define(
        "(::Type{NamedTuple{K}})(t::Tuple) where K",
        "%2 = core.static :K\n %3 = call @#named_of(%2, %1)\n return %3",
        regraft_lang::definition::Space::Base,
        &[],
    );
    lab.main(
        "permuted_map(f, x::NamedTuple{KX}, y::NamedTuple{KY}) where KX, KY",
        "%4 = core.closure @\"#1\", %1, %2, %3
 %5 = core.static :KX
 %6 = call @map(%4, %5)
 %7 = core.global :NamedTuple
 %8 = core.static :KX
 %9 = call @#apply_type(%7, %8)
 %10 = core.apply %9, %6
 return %10",
    );
    let plus = lab.ctx.ty(regraft_ir::TypeKind::Fn(lab.symbol("+")));
    let (x, y) = (lab.ty("{a: f64, b: i64}"), lab.ty("{b: i64, a: f64}"));
    let spec = lab.spec_of("permuted_map", &[plus, x, y]);
    lab.check(spec);
    let code = lab.compiler.function(spec).to_string();
    let ops: Vec<&str> =
        code.lines().filter_map(|line| line.split(" = ").nth(1)?.split(' ').next()).collect();
    let expected = ["core.get", "core.get", "arith.add", "core.get", "core.get", "arith.add"];
    assert_eq!(ops[..6], expected, "{code}");
    assert_eq!(ops[6..], ["data.named"], "{code}");
}

#[test]
fn constants_go_through_tuples_and_fields() {
    let mut lab = Lab::new();
    lab.main(
        "f(x)",
        "%2 = call @tuple(:a, %1)
 %3 = call @tuple(%2, 3)
 %4 = call @getindex(%3, 1)
 %5 = call @getindex(%4, 1)
 return %5",
    );
    assert_eq!(lab.result("f", &["f64"]), ":a");
    lab.declare("P", &[], false, &[("x", "Int64"), ("y", "Any")]);
    lab.main("g()", "%1 = core.global :P\n %2 = core.apply %1, 3, :b\n %3 = call @getproperty(%2, :y)\n return %3");
    assert_eq!(lab.result("g", &[]), ":b");
}

#[test]
fn a_branch_on_a_constant_is_left_out() {
    let mut lab = Lab::new();
    lab.main(
        "f(x)",
        "%2 = call @isa(%1, !i64)
 br %2, ^2, ^3
^2:
 %3 = call @+(%1, 1)
 return %3
^3:
 return nothing",
    );
    assert_eq!(lab.result("f", &["i64"]), "i64");
    assert_eq!(lab.result("f", &["f64"]), "nothing");
    let code = lab.code("f", &["i64"]);
    assert!(!code.contains("br ") && code.contains("arith.add"), "{code}");
}

#[test]
fn values_of_different_types_join_to_any() {
    let mut lab = Lab::new();
    lab.main(
        "f(x)",
        "%2 = call @<(%1, 0)
 br %2, ^2(1), ^2(2.0)
^2(%3: any):
 %4 = call @identity(%3)
 return %4",
    );
    assert_eq!(lab.result("f", &["i64"]), "any");
}

#[test]
fn a_call_of_what_is_not_known_is_dynamic() {
    let mut lab = Lab::new();
    lab.main("g(x::Int64)", "return 1");
    lab.main("g(x::Float64)", "return 2");
    lab.main("f(v)", "%2 = call @getindex(%1, 1)\n %3 = call @g(%2)\n return %3");
    let code = lab.code("f", &["array<any, 1>"]);
    assert!(code.contains("core.apply @g"), "{code}");
    assert_eq!(lab.result("f", &["array<f64, 1>"]), "2");
}

#[test]
fn a_call_without_a_method_fails_when_control_gets_to_it() {
    let mut lab = Lab::new();
    lab.main("g(x::Int64)", "return 1");
    lab.main("f(x)", "%2 = call @g(%1)\n %3 = call @+(%2, 1)\n return %3");
    assert_eq!(lab.result("f", &["f64"]), "never");
    let code = lab.code("f", &["f64"]);
    assert!(code.contains("core.apply @g, %1") && code.contains("unreachable"), "{code}");
    let callee = lab.ctx.ty(regraft_ir::TypeKind::Fn(lab.symbol("g")));
    let f64 = lab.ty("f64");
    let error = lab.compiler.specialize(callee, &[f64]).unwrap_err();
    assert!(error.message.contains("Float64"), "{error:?}");
}

#[test]
fn a_condition_that_is_no_bool_is_checked_or_fails() {
    let mut lab = Lab::new();
    let body = "br %1, ^2, ^3\n^2:\n return 1\n^3:\n return 2";
    lab.main("f(x)", body);
    assert_eq!(lab.result("f", &["i64"]), "never");
    lab.main("h(v)", &format!("%2 = call @getindex(%1, 1)\n {}", body.replace("%1", "%2")));
    let code = lab.code("h", &["array<any, 1>"]);
    assert!(code.contains(": bool = core.typeassert"), "{code}");
}

#[test]
fn a_definition_invalidates_those_who_used_what_it_changes() {
    let mut lab = Lab::new();
    lab.main("g(x)", "return 1");
    lab.main("f(x)", "%2 = call @g(%1)\n return %2");
    lab.main("other(x)", "return %1");
    let (f, other) = (lab.spec("f", &["f64"]), lab.spec("other", &["f64"]));
    lab.compiler.function(f);
    lab.compiler.function(other);
    lab.main("g(x::Int64)", "return 2");
    assert_eq!(lab.compiler.invalidate(), None, "it is another method for other types");
    lab.main("g(x::Float64)", "return 2.5");
    let dropped = lab.compiler.invalidate().expect("`f` calls another method now");
    let names: Vec<&str> = dropped.iter().map(|&name| lab.ctx.str(name)).collect();
    assert_eq!(names, ["f(Float64)"]);
    assert!(!lab.compiler.has_spec(f) && lab.compiler.has_spec(other));
    assert_eq!(lab.result("f", &["f64"]), "2.5");
}

#[test]
fn a_function_that_is_defined_later_is_found() {
    let mut lab = Lab::new();
    lab.main("f(x)", "%2 = call @later(%1)\n return %2");
    assert_eq!(lab.result("f", &["f64"]), "any");
    lab.main("later(x)", "return 7");
    assert_eq!(lab.result("f", &["f64"]), "7");
}

#[test]
fn varargs_are_one_tuple_and_splats_are_taken_apart() {
    let mut lab = Lab::new();
    lab.main("g(a, rest...)", "return %2");
    lab.main("f(x)", "%2 = call @tuple(%1, 2.0, :c)\n %3 = call @tuple(1)\n %4 = core.splat @g, %3, %2\n return %4");
    assert_eq!(lab.result("f", &["i64"]), "tuple<i64, f64, sym>");
}

#[test]
fn top_level_code_is_a_function_without_parameters() {
    let mut lab = Lab::new();
    let thunk = lab.thunk("%1 = call @+(1, 2)\n core.set_global :x, %1\n return %1");
    let space = regraft_lang::definition::Space::Main;
    let spec = lab.compiler.thunk(&thunk, space).expect("it has no closures");
    lab.check(spec);
    let code = lab.compiler.function(spec).to_string();
    assert!(code.contains("core.set_global :x, 3") && code.contains("return 3"), "{code}");
    lab.compiler.forget(spec);
    assert!(!lab.compiler.has_spec(spec));
}
