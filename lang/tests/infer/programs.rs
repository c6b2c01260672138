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
    println!("{}", lab.compiler.function(spec));
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
    println!("{}", lab.code("foo!", &["array<f64, 1>", "array<f64, 1>"]));
}

#[test]
fn a_tuple_that_grows_with_each_call_ends_in_a_dynamic_call() {
    let mut lab = Lab::new();
    lab.main("g(t)", "%2 = call @tuple(%1, 1)\n %3 = call @g(%2)\n return %3");
    println!("{}", lab.module("g", &["i64"]));
    lab.main("h(x)", "%2 = call @Val(%1)\n %3 = call @k(%2)\n return %3");
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
    println!("{}", lab.compiler.function(spec));
}
