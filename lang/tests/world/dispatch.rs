//! Dispatch: a call runs the method that Julia runs.

use super::Tester;
use regraft_lang::definition::Space;
use regraft_lang::world::Dispatch;

/// Defines the methods in both orders: which one runs must not depend on it.
#[track_caller]
fn check(methods: &[&str], calls: &[(&str, &str)]) {
    let mut reversed = methods.to_vec();
    reversed.reverse();
    for order in [methods.to_vec(), reversed] {
        let mut t = Tester::with(&order);
        for (call, expected) in calls {
            assert_eq!(t.run(call), *expected, "{call} with {order:?}");
        }
    }
}

#[test]
fn the_most_specific_method_wins() {
    check(
        &["f(x)", "f(x::Number)", "f(x::Real)", "f(x::Integer)", "f(x::Int64)", "f(x::Int64, y)"],
        &[
            ("f(Int64)", "f(x::Int64)"),
            ("f(Int32)", "f(x::Integer)"),
            ("f(Bool)", "f(x::Integer)"),
            ("f(Float64)", "f(x::Real)"),
            ("f(String)", "f(x)"),
            ("f(Int64, String)", "f(x::Int64, y)"),
            ("f(Float64, String)", "none"),
            ("f()", "none"),
        ],
    );
}

#[test]
fn neither_of_two_is_more_specific() {
    check(
        &["f(x::Int64, y)", "f(x, y::Int64)"],
        &[
            ("f(Int64, Int64)", "ambiguous"),
            ("f(Int64, Float64)", "f(x::Int64, y)"),
            ("f(Float64, Int64)", "f(x, y::Int64)"),
            ("f(Float64, Float64)", "none"),
        ],
    );
    check(
        &["f(x::Int64, y)", "f(x, y::Int64)", "f(x::Int64, y::Int64)"],
        &[("f(Int64, Int64)", "f(x::Int64, y::Int64)")],
    );
}

#[test]
fn ambiguous_names_those_that_nothing_beats() {
    let mut t = Tester::with(&["f(x, y)", "f(x::Int64, y)", "f(x, y::Int64)"]);
    let Dispatch::Ambiguous(found) = t.dispatch_by("f(Int64, Int64)", None) else { panic!() };
    let found: Vec<&str> = found.iter().map(|id| t.texts[id].as_str()).collect();
    assert_eq!(found, ["f(x::Int64, y)", "f(x, y::Int64)"]);
}

#[test]
fn type_parameters() {
    check(
        &[
            "f(x::Vector{T}) where T<:Real",
            "f(x::Vector)",
            "f(x::Vector{Float64})",
            "f(x::AbstractArray{T, N}) where {T, N}",
            "f(x::Array{T, N}, y::Array{T, N}) where {T, N}",
            "f(x::Array, y::Array)",
        ],
        &[
            ("f(Vector{Float64})", "f(x::Vector{Float64})"),
            ("f(Vector{Int64})", "f(x::Vector{T}) where T<:Real"),
            ("f(Vector{String})", "f(x::Vector)"),
            ("f(Matrix{Int64})", "f(x::AbstractArray{T, N}) where {T, N}"),
            ("f(Matrix{Int64}, Matrix{Int64})", "f(x::Array{T, N}, y::Array{T, N}) where {T, N}"),
            ("f(Matrix{Int64}, Vector{Int64})", "f(x::Array, y::Array)"),
            ("f(Matrix{Int64}, Matrix{Float64})", "f(x::Array, y::Array)"),
        ],
    );
}

#[test]
fn the_diagonal_rule() {
    check(
        &[
            "f(x::T, y::T) where T",
            "f(x, y)",
            "f(x::T, y::T) where T<:Number",
            "f(x::Number, y::Number)",
        ],
        &[
            ("f(String, String)", "f(x::T, y::T) where T"),
            ("f(Int64, Int64)", "f(x::T, y::T) where T<:Number"),
            ("f(Int64, Float64)", "f(x::Number, y::Number)"),
            ("f(Int64, String)", "f(x, y)"),
        ],
    );
}

#[test]
fn bounds_may_mention_earlier_parameters() {
    check(
        &["f(x::T, y::S) where {T, S<:Vector{T}}", "f(x, y)"],
        &[
            ("f(Int64, Vector{Int64})", "f(x::T, y::S) where {T, S<:Vector{T}}"),
            ("f(Int64, Vector{Float64})", "f(x, y)"),
        ],
    );
    let mut t = Tester::with(&["g(x::T) where {S, T<:AbstractVector{S}}"]);
    assert_eq!(t.statics("g(Vector{Float64})"), "S = Float64, T = Vector{Float64}");
}

#[test]
fn varargs_are_less_specific() {
    check(
        &["f(x...)", "f(x)", "f(x, y)", "f(x::Int64, y...)", "f(x::Int64...)"],
        &[
            ("f()", "f(x::Int64...)"),
            ("f(Float64)", "f(x)"),
            ("f(Float64, Float64)", "f(x, y)"),
            ("f(Float64, Float64, Float64)", "f(x...)"),
            ("f(Int64, Float64, Float64)", "f(x::Int64, y...)"),
        ],
    );
    // As Julia: of parameters one by one, `Int64` is more specific than `Any`.
    check(&["f(x)", "f(x::Int64...)"], &[("f(Int64)", "f(x::Int64...)"), ("f(Float64)", "f(x)")]);
    check(&["f(x::Int64)", "f(x::Int64...)"], &[("f(Int64)", "f(x::Int64)")]);
    check(&["f(x, y...)", "f(x...)"], &[("f(Int64)", "f(x, y...)"), ("f()", "f(x...)")]);
    check(
        &["f(x::T...) where T", "f(x...)"],
        &[("f(Int64, Int64)", "f(x::T...) where T"), ("f(Int64, Float64)", "f(x...)")],
    );
}

#[test]
fn counted_varargs() {
    let mut t = Tester::with(&["f(x::NTuple{N, Int64}, y::Vararg{Int64, N}) where N"]);
    assert_eq!(t.statics("f(Tuple{Int64, Int64}, Int64, Int64)"), "N = 2");
    assert_eq!(t.run("f(Tuple{Int64, Int64}, Int64)"), "none");
    assert_eq!(t.statics("f(Tuple{})"), "N = 0");
}

#[test]
fn values_of_type_parameters() {
    let mut t = Tester::with(&[
        "f(x::T) where T",
        "f(x::Array{T, N}) where {T, N}",
        "f(x::Val{N}) where N",
        "f(x::Type{T}) where T",
        "f(x::NTuple{N, T}) where {N, T}",
        "f(x::NamedTuple{names, T}) where {names, T}",
        "f(x::T...) where T",
        "g(x::Tuple{A, B}, y::Vector{A}) where {A, B}",
        "h(x) where T",
    ]);
    for (call, statics) in [
        ("f(Float64)", "T = Float64"),
        ("f(Array{Int64, 3})", "T = Int64, N = 3"),
        ("f(Val{:a})", "N = :a"),
        ("f(Val{true})", "N = true"),
        ("f(Type{Float64})", "T = Float64"),
        ("f(Type{Vector})", "T = Vector"),
        ("f(Type{Union{Int64, Nothing}})", "T = Union{Nothing, Int64}"),
        ("f(Tuple{Int64, Int64, Int64})", "N = 3, T = Int64"),
        ("f(Tuple{Int64, Float64})", "T = Tuple{Int64, Float64}"),
        (
            "f(NamedTuple{(:a, :b), Tuple{Int64, Float64}})",
            "names = (:a, :b), T = Tuple{Int64, Float64}",
        ),
        ("f(Int64, Int64)", "T = Int64"),
        ("f()", "T = unbound"),
        ("g(Tuple{Int64, Float64}, Vector{Int64})", "A = Int64, B = Float64"),
        ("g(Tuple{Int64, Float64}, Vector{Float64})", "none"),
        ("h(Int64)", "T = unbound"),
    ] {
        assert_eq!(t.statics(call), statics, "{call}");
    }
}

#[test]
fn types_symbols_and_functions_as_arguments() {
    check(
        &[
            "f(::Type{Int64}, x)",
            "f(::Type{T}, x::T) where T<:Real",
            "f(::Type{<:Real}, x)",
            "f(::Type, x)",
        ],
        &[
            ("f(Type{Int64}, String)", "f(::Type{Int64}, x)"),
            ("f(Type{Float64}, Float64)", "f(::Type{T}, x::T) where T<:Real"),
            ("f(Type{Float64}, String)", "f(::Type{<:Real}, x)"),
            ("f(Type{String}, Int64)", "f(::Type, x)"),
            ("f(Type{Vector}, Int64)", "f(::Type, x)"),
            ("f(Int64, Int64)", "none"),
        ],
    );
    let mut t = Tester::with(&[
        "sin(x)",
        "g(f::typeof(sin))",
        "g(f::Function)",
        "g(f)",
        "g(::Val{1})",
        "g(::Val)",
    ]);
    for (call, expected) in [
        ("g(typeof(sin))", "g(f::typeof(sin))"),
        ("g(typeof(g))", "g(f::Function)"),
        ("g(Int64)", "g(f)"),
        ("g(Val{1})", "g(::Val{1})"),
        ("g(Val{2})", "g(::Val)"),
    ] {
        assert_eq!(t.run(call), expected, "{call}");
    }
}

#[test]
fn constructors_of_all_types_below_one() {
    let mut t = Tester::with(&[
        "(::Type{T})(x::Integer) where T<:Number",
        "Float64(x::Int64)",
        "Vector{T}(n::Int64) where T",
        "Vector(x::Tuple)",
    ]);
    assert_eq!(t.run("Float32(Int64)"), "(::Type{T})(x::Integer) where T<:Number");
    assert_eq!(t.statics("Float32(Int64)"), "T = Float32");
    assert_eq!(t.run("Float64(Int64)"), "Float64(x::Int64)");
    assert_eq!(t.run("Float64(Int32)"), "(::Type{T})(x::Integer) where T<:Number");
    assert_eq!(t.run("String(Int64)"), "none");
    assert_eq!(t.run("Vector{Float64}(Int64)"), "Vector{T}(n::Int64) where T");
    assert_eq!(t.statics("Vector{Float64}(Int64)"), "T = Float64");
    assert_eq!(t.run("Matrix{Float64}(Int64)"), "none");
    assert_eq!(t.run("Vector(Tuple{Int64})"), "Vector(x::Tuple)");
    assert_eq!(t.run("Array(Tuple{Int64})"), "none");
}

#[test]
fn callable_structs_and_closures() {
    let mut t = Tester::new();
    t.declare_abstract("Layer");
    t.declare("Dense{T} <: Layer: w::T");
    t.declare("Chain <: Layer");
    t.def("(::Layer)(x)");
    t.def("(::Dense{T})(x::T) where T");
    assert_eq!(t.run("(::Dense{Float64})(Float64)"), "(::Dense{T})(x::T) where T");
    assert_eq!(t.run("(::Dense{Float64})(Int64)"), "(::Layer)(x)");
    assert_eq!(t.run("(::Chain)(Int64)"), "(::Layer)(x)");

    t.closure("#foo#1", &["a", "b"], &["#foo#1(x::Int64)", "#foo#1(x)"]);
    let name = t.symbol("#foo#1");
    let captures = [regraft_ir::Type::I64, regraft_ir::Type::ANY];
    let ty = t.world.closure_type(name, &captures).unwrap();
    assert_eq!(t.ctx.type_text(ty), "@\"#foo#1{Int64, Any}\"");
    let def = t.ctx.struct_of(ty).unwrap();
    assert_eq!(def.fields.iter().map(|field| field.1).collect::<Vec<_>>(), captures);
    let Dispatch::Method(int) = t.world.dispatch(ty, &[regraft_ir::Type::I64], None) else {
        panic!()
    };
    let Dispatch::Method(any) = t.world.dispatch(ty, &[regraft_ir::Type::F64], None) else {
        panic!()
    };
    assert!(int.method < any.method);
    assert!(t.world.method(int.method).unwrap().takes_callee);
    // A closure is a function, and another kind of capture another type.
    t.def("apply(f::Function, x)");
    let apply = t.call("apply(Int64, Int64)").0;
    assert!(matches!(t.world.dispatch(apply, &[ty, captures[0]], None), Dispatch::Method(_)));
    assert_ne!(t.world.closure_type(name, &[captures[0], captures[0]]), Some(ty));
    assert_eq!(t.world.closure_type(name, &captures), Some(ty));
    assert_eq!(t.world.closure_type(name, &[]), None);
}

#[test]
fn arguments_that_are_not_exact() {
    let mut t = Tester::with(&[
        "one(x)",
        "two(x::Int64)",
        "two(x::Float64)",
        "three(x::Int64, y)",
        "three(x::Float64, y)",
        "four(x::T) where T",
        "five(x, y::T) where T",
        "six(x::Tuple{Int64, Any})",
        "six(x::Tuple)",
        "seven(x::T, y::T) where T",
        "eight(x)",
        "eight(x::Int64)",
    ]);
    for (call, expected) in [
        ("one(Any)", "one(x)"),
        ("one(Tuple{Any})", "one(x)"),
        ("two(Any)", "unknown"),
        ("two(Tuple{Any})", "none"),
        ("three(Int64, Any)", "three(x::Int64, y)"),
        ("three(Any, Int64)", "unknown"),
        ("three(String, Any)", "none"),
        // Its parameter depends on the value.
        ("four(Any)", "unknown"),
        ("five(Any, Int64)", "five(x, y::T) where T"),
        ("six(Tuple{Int64, Any})", "six(x::Tuple{Int64, Any})"),
        ("six(Tuple{Any, Any})", "unknown"),
        ("six(Tuple{Float64, Any})", "six(x::Tuple)"),
        ("seven(Any, Any)", "unknown"),
        ("seven(Any, Int64)", "unknown"),
        ("eight(Any)", "unknown"),
        ("eight(Tuple{Any})", "eight(x)"),
    ] {
        assert_eq!(t.run(call), expected, "{call}");
    }
    let Dispatch::Method(found) = t.dispatch_by("one(Any)", None) else { panic!() };
    assert!(!found.exact);
    assert_eq!(t.statics("five(Any, Int64)"), "T = Int64");
}

#[test]
fn an_equal_signature_replaces() {
    let mut t = Tester::with(&["f(x::Vector{T}) where T", "f(x::Int64)"]);
    t.def("f(y::Vector)");
    assert_eq!(t.run("f(Vector{Int64})"), "f(y::Vector)");
    let callee = t.call("f(Int64)").0;
    assert_eq!(t.world.methods_of(callee).count(), 2);
    t.def("f(y::Union{Int64, Float64})");
    assert_eq!(t.world.methods_of(callee).count(), 3);
    assert_eq!(t.run("f(Int64)"), "f(x::Int64)");
    assert_eq!(t.run("f(Float64)"), "f(y::Union{Int64, Float64})");
}

#[test]
fn main_shadows_base() {
    let mut t = Tester::new();
    t.def_in(Space::Base, "Base.sum(x)");
    t.def_in(Space::Base, "Base.max(x)");
    t.def("sum(x::Int64)");
    t.def("Base.max(x::Int64)");
    assert_eq!(t.run("sum(Int64)"), "sum(x::Int64)");
    assert_eq!(t.run("sum(Float64)"), "none");
    assert_eq!(t.run("max(Int64)"), "Base.max(x::Int64)");
    assert_eq!(t.run("max(Float64)"), "Base.max(x)");
    use regraft_lang::world::Binding;
    let sum = t.symbol("sum");
    assert_eq!(t.world.resolve(sum, Space::Base, None), Binding::Function(sum));
    let own = t.symbol("Main.sum");
    assert_eq!(t.world.resolve(sum, Space::Main, None), Binding::Function(own));
    // A name of its own needs no prefix.
    t.def("total(x)");
    let total = t.symbol("total");
    assert_eq!(t.world.resolve(total, Space::Main, None), Binding::Function(total));
    assert_eq!(t.world.resolve(total, Space::Base, None), Binding::Undefined);
}

#[test]
fn many_methods_of_one_function() {
    // What an operator of the prelude looks like, asked for many types.
    let types = ["Int8", "Int16", "Int32", "Int64", "Float32", "Float64", "Bool"];
    let mut t = Tester::with(&["+(x::Number, y::Number)", "+(x::T, y::T) where T<:Number"]);
    for ty in types {
        t.def(&format!("+(x::{ty}, y::{ty})"));
    }
    for a in types {
        for b in types {
            let expected = if a == b {
                format!("+(x::{a}, y::{a})")
            } else {
                "+(x::Number, y::Number)".to_owned()
            };
            assert_eq!(t.run(&format!("+({a}, {b})")), expected);
        }
    }
    let (plus, args) = t.call("+(Int64, Int64)");
    let first = t.world.dispatch(plus, &args, None);
    for _ in 0..100_000 {
        assert_eq!(t.world.dispatch(plus, &args, None), first);
    }
}

#[test]
fn bodies_that_are_made_from_argument_types() {
    use regraft_ir::{Function, Type};
    use regraft_lang::world::Code;
    use std::rc::Rc;

    let mut t = Tester::with(&["f(x::Int64)", "inner(x)"]);
    let method = super::Reader::new(&t.ctx, "f(x::T) where T<:Real").method(Space::Main);
    let inner = t.call("inner(Int64)").0;
    let make = move |cx: &mut regraft_lang::world::DynamoCx<'_>, args: &[Type]| {
        // It depends on what it looks up.
        cx.world.dispatch(inner, args, cx.by);
        let ctx = cx.world.ctx().clone();
        Ok(Code::new(Function::new(&ctx, &ctx.type_text(args[0]), &[Type::ANY], Type::ANY)))
    };
    let id = t.world.add_dynamo(&method.head, Rc::new(make)).unwrap();
    let (callee, args) = t.call("f(Float64)");
    let Dispatch::Method(found) = t.world.dispatch(callee, &args, None) else { panic!() };
    assert_eq!(found.method, id);
    let spec = t.world.new_spec();
    let body = t.world.body(&found, callee, &args, Some(spec)).unwrap();
    assert_eq!(body.function().name_str(), "f64");
    t.def("inner(x::Int64)");
    assert_eq!(t.world.take_invalidated(), []);
    t.def("inner(x::Float64)");
    assert_eq!(t.world.take_invalidated(), [spec]);
    assert_eq!(t.run("f(Int64)"), "f(x::Int64)");
}
