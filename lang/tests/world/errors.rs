//! Errors of wrong definitions and calls.

use regraft_ir::{Constant, Loc, Type};
use regraft_lang::definition::Space;

use super::{Tester, messages};

#[test]
fn calls_without_a_method() {
    let mut t = Tester::with(&[
        "foo(x::Float64, y::Float64)",
        "foo(x::String)",
        "foo(x::T, y::Vector{T}) where T<:Real",
        "foo(x, y, z...)",
        "bar(x)",
    ]);
    let (callee, args) = t.call("foo(Float64)");
    let (message, help) = t.world.no_method(callee, &args);
    assert_eq!(message, "no method matching foo(::Float64)");
    assert_eq!(
        help,
        [
            "closest candidates are:",
            "foo(x::String)",
            "foo(x::Float64, y::Float64)",
            "foo(x::T, y::Vector{T}) where T<:Real",
            "foo(x, y, z...)",
        ]
    );
    let (message, help) = t.world.no_method(Type::I64, &args);
    assert_eq!(message, "no method matching (::Int64)(::Float64)");
    assert_eq!(help, ["objects of type Int64 are not callable"]);
    t.declare("P{T}: x::T");
    let (callee, args) = t.call("P(String, Vector{Int64})");
    let (message, help) = t.world.no_method(callee, &args);
    assert_eq!(message, "no method matching P(::String, ::Vector{Int64})");
    assert_eq!(help, ["closest candidates are:", "P(x::T) where T", "P{T}(x) where T"]);
}

#[test]
fn ambiguous_calls() {
    let mut t = Tester::with(&["f(x::Int64, y)", "f(x, y::Int64)"]);
    let (callee, args) = t.call("f(Int64, Int64)");
    let regraft_lang::world::Dispatch::Ambiguous(methods) = t.world.dispatch(callee, &args, None)
    else {
        panic!()
    };
    let (message, help) = t.world.ambiguous(callee, &args, &methods);
    assert_eq!(message, "f(::Int64, ::Int64) is ambiguous");
    assert_eq!(
        help,
        [
            "candidates:",
            "f(x::Int64, y)",
            "f(x, y::Int64)",
            "a method f(::Int64, ::Int64) would decide it"
        ]
    );
}

#[test]
fn wrong_types_are_told_all_at_once() {
    let mut t = Tester::new();
    let errors =
        t.try_def("f(x::Flaot64, y::Vector{Nope}, z::T) where S", Space::Main).unwrap_err();
    assert_eq!(
        messages(&errors),
        "type `Flaot64` is not defined; type `Nope` is not defined; type `T` is not defined"
    );
    for (text, message) in [
        ("Float64{Int64}", "Float64 takes no type parameters"),
        ("Vector{Int64, 1}", "Vector takes 1 type parameter, found 2"),
        ("Array{Int64, 1, 2}", "Array takes 2 type parameters, found 3"),
        ("3", "expected a type, found the value 3"),
        ("Tuple{Int64..., Int64}", "`T...` stands only at the end of `Tuple{…}`"),
    ] {
        assert_eq!(messages(&t.try_ty(text).unwrap_err()), message, "{text}");
    }
    t.declare("Q{T<:Real}: x::T");
    assert_eq!(
        messages(&t.try_ty("Q{String}").unwrap_err()),
        "in Q, expected T<:Real, found String"
    );
    assert_eq!(messages(&t.try_ty("Q{3}").unwrap_err()), "in Q, expected T<:Real, found 3");
    assert!(t.try_ty("Q{Int64}").is_ok());
}

#[test]
fn names_that_are_taken() {
    let mut t = Tester::with(&["f(x)"]);
    t.declare("P: x");
    let (f, p, x) = (t.symbol("f"), t.symbol("P"), t.symbol("x"));
    let one = Constant::I64(1);
    let error = t.world.bind_const(f, Space::Main, one, Loc::UNKNOWN).unwrap_err();
    assert_eq!(error.message(), "invalid redefinition of the function `f`");
    let error = t.world.declare_variable(p, Space::Main, Loc::UNKNOWN).unwrap_err();
    assert_eq!(error.message(), "invalid redefinition of the type `P`");
    t.world.declare_variable(x, Space::Main, Loc::UNKNOWN).unwrap();
    t.world.declare_variable(x, Space::Main, Loc::UNKNOWN).unwrap();
    let errors = t.try_def("x(y)", Space::Main).unwrap_err();
    assert_eq!(messages(&errors), "cannot define function `x`; it already has a value");
    let errors = t.try_def("Base.nothing_such(y)", Space::Main).unwrap_err();
    assert_eq!(messages(&errors), "`Base.nothing_such` is not defined");
    let decl = t.struct_decl("f: x");
    assert_eq!(messages(&t.world.declare_struct(decl).unwrap_err()), "invalid redefinition of `f`");
    let decl = t.struct_decl("R <: Float64: x");
    assert_eq!(
        messages(&t.world.declare_struct(decl).unwrap_err()),
        "a type can be below an abstract type only, found Float64"
    );
    // What failed left nothing behind.
    t.declare("R: x");
}

#[test]
fn a_struct_whose_fields_are_wrong_is_not_there() {
    let mut t = Tester::new();
    let decl = t.struct_decl("P: x::Nope, x::Int64, y::Vector{P}");
    let errors = t.world.declare_struct(decl).unwrap_err();
    assert_eq!(messages(&errors), "type `Nope` is not defined; P has two fields `x`");
    assert!(t.try_ty("P").is_err());
    t.declare("P: x::Int64");
}

#[test]
fn names_that_stand_for_nothing() {
    let t = Tester::with(&["compute(x)"]);
    let name = t.symbol("comptue");
    let (message, help) = t.world.undefined(name, Space::Main);
    assert_eq!(message, "`comptue` not defined");
    assert_eq!(help, ["did you mean `compute`?"]);
}
