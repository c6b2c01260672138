//! `A <: B`, as Julia answers it.

use super::Tester;

#[track_caller]
fn check(pairs: &[(&str, &str, bool)]) {
    let mut t = Tester::new();
    t.declare_abstract("Shape{T}");
    t.declare("Square{T} <: Shape{T}: side::T");
    t.declare("Unit <: Shape{Int64}");
    let wrong: Vec<String> = pairs
        .iter()
        .filter(|(a, b, yes)| t.sub(a, b) != *yes)
        .map(|(a, b, yes)| format!("{a} <: {b} is {yes}"))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn names_and_abstract_types() {
    check(&[
        ("Int64", "Int64", true),
        ("Int64", "Int", true),
        ("Int64", "Signed", true),
        ("Int64", "Real", true),
        ("Int64", "AbstractFloat", false),
        ("Float64", "AbstractFloat", true),
        ("Bool", "Integer", true),
        ("Bool", "Signed", false),
        ("Integer", "Real", true),
        ("Real", "Integer", false),
        ("Real", "Any", true),
        ("Any", "Real", false),
        ("Union{}", "Int64", true),
        ("Int64", "Union{}", false),
        ("String", "AbstractString", true),
        ("Symbol", "AbstractString", false),
        ("Nothing", "Any", true),
        ("Square{Float64}", "Shape{Float64}", true),
        ("Square{Float64}", "Shape{Int64}", false),
        ("Square{Float64}", "Shape", true),
        ("Square", "Shape", true),
        ("Shape", "Square", false),
        ("Unit", "Shape{Int64}", true),
        ("Unit", "Shape{<:Integer}", true),
        ("Unit", "Shape{<:AbstractFloat}", false),
    ]);
}

#[test]
fn parameters_are_invariant() {
    check(&[
        ("Vector{Float64}", "Vector{Float64}", true),
        ("Vector{Float64}", "Vector{<:Real}", true),
        ("Vector{Float64}", "Vector{<:Integer}", false),
        ("Vector{Float64}", "Vector", true),
        ("Vector{Float64}", "Array", true),
        ("Vector{Float64}", "Array{Float64}", true),
        ("Vector{Float64}", "Array{Float64, 1}", true),
        ("Vector{Float64}", "Matrix{Float64}", false),
        ("Vector{Float64}", "AbstractVector{Float64}", true),
        ("Vector{Float64}", "AbstractArray", true),
        ("Vector{Float64}", "AbstractMatrix", false),
        ("Vector{Float64}", "VecOrMat{Float64}", true),
        ("Matrix{Float64}", "VecOrMat", true),
        ("Array{Float64, 3}", "VecOrMat", false),
        ("Vector", "Array", true),
        ("Array", "Vector", false),
        ("Vector{<:Integer}", "Vector{<:Real}", true),
        ("Vector{<:Real}", "Vector{<:Integer}", false),
        ("Vector{Vector{Float64}}", "Vector{<:Vector}", true),
        ("Vector{Vector{Float64}}", "Vector{<:Vector{<:Integer}}", false),
        ("Ref{Int64}", "Ref", true),
        ("Ref{Int64}", "Ref{Float64}", false),
        ("Vector{T} where T", "Vector", true),
        ("Vector", "Vector{T} where T", true),
        ("Vector{T} where T<:Real", "Vector{T} where T", true),
        ("Vector{T} where T", "Vector{T} where T<:Real", false),
        ("Square{Int64}", "Square{T} where T>:Int64", true),
        ("Square{Int64}", "Square{T} where T>:Real", false),
        ("Square{Number}", "Square{T} where T>:Real", true),
        ("Square{Real}", "Square{Real}", true),
        ("Square{Int64}", "Square{Real}", false),
        ("Square{Int64}", "Square{<:Real}", true),
    ]);
}

#[test]
fn tuples_are_covariant() {
    check(&[
        ("Tuple{Int64}", "Tuple{Real}", true),
        ("Tuple{Int64, Float64}", "Tuple{Real, Real}", true),
        ("Tuple{Int64}", "Tuple{Int64, Int64}", false),
        ("Tuple{Int64, Int64}", "Tuple{Int64...}", true),
        ("Tuple{}", "Tuple{Int64...}", true),
        ("Tuple{Int64, Float64}", "Tuple{Int64...}", false),
        ("Tuple{Int64, Float64}", "Tuple{Int64, Real...}", true),
        ("Tuple{Int64...}", "Tuple{Int64, Int64...}", false),
        ("Tuple{Int64, Int64...}", "Tuple{Int64...}", true),
        ("Tuple{Int64...}", "Tuple{Real...}", true),
        ("Tuple{Int64, Int64}", "NTuple{2, Int64}", true),
        ("NTuple{2, Int64}", "Tuple{Int64, Int64}", true),
        ("Tuple{Int64, Int64}", "NTuple{3, Int64}", false),
        ("Tuple{Int64, Int64}", "NTuple{N, Int64} where N", true),
        ("Tuple{Int64, Int64}", "NTuple", true),
        // The diagonal rule.
        ("Tuple{Int64, Float64}", "NTuple{2, T} where T", false),
        ("Tuple{Int64, Float64}", "NTuple{2, Real}", true),
        ("Tuple{Int64, Int64}", "Tuple{T, T} where T", true),
        ("Tuple{Int64, Float64}", "Tuple{T, T} where T", false),
        ("Tuple{Int64, Float64}", "Tuple{T, S} where {T, S}", true),
        // Not diagonal: `T` also occurs where it is invariant.
        ("Tuple{Vector{Real}, Int64, Float64}", "Tuple{Vector{T}, T, T} where T", true),
        ("Tuple{Vector{Int64}, Int64}", "Tuple{Vector{T}, T} where T", true),
        ("Tuple{Vector{Int64}, Float64}", "Tuple{Vector{T}, T} where T", false),
        ("Tuple{Int64, Vector{Int64}}", "Tuple{T, Vector{T}} where T", true),
        ("Tuple{T, T} where T", "Tuple{Any, Any}", true),
        ("Tuple{Any, Any}", "Tuple{T, T} where T", false),
        ("Tuple{T, T} where T<:Integer", "Tuple{S, S} where S<:Real", true),
        ("Tuple{Int64}", "Tuple", true),
        // Tuples distribute over `where`, families do not.
        ("Tuple{Vector}", "Tuple{Vector{T}} where T", true),
        ("Tuple{Vector, Vector}", "Tuple{Vector{T}, Vector{T}} where T", false),
        ("Tuple{Vector, Vector}", "Tuple{Vector{T}, Vector{S}} where {T, S}", true),
        ("Vector{Tuple{Vector}}", "Vector{Tuple{Vector{T}}} where T", false),
        ("Square{Vector}", "Square{Vector{T}} where T", false),
        ("Square{Vector}", "Square{Vector}", true),
        ("Tuple", "Tuple{Any...}", true),
    ]);
}

#[test]
fn unions() {
    check(&[
        ("Int64", "Union{Int64, Nothing}", true),
        ("Float64", "Union{Int64, Nothing}", false),
        ("Union{Int64, Int32}", "Signed", true),
        ("Union{Int64, Float64}", "Integer", false),
        ("Union{Int64, Float64}", "Union{Float64, Int64}", true),
        ("Union{Int64, Float64}", "Union{Real, Nothing}", true),
        ("Tuple{Int64}", "Union{Tuple{Int64}, Tuple{Float64}}", true),
        ("Square{Int64}", "Union{T, Square{T}} where T", true),
        ("Vector{Float64}", "Union{Vector{T}, Matrix{T}} where T<:Real", true),
    ]);
}

#[test]
fn types_of_types_and_constants() {
    check(&[
        ("Type{Int64}", "Type", true),
        ("Type{Int64}", "Type{Int64}", true),
        ("Type{Int64}", "Type{Real}", false),
        ("Type{Int64}", "Type{<:Real}", true),
        ("Type{Vector}", "Type{<:AbstractArray}", true),
        ("Type{Vector}", "Type{Array{T, 1} where T}", true),
        ("Type{Float64}", "Type{T} where T<:Integer", false),
        ("Type{Int64}", "Any", true),
        ("Val{3}", "Val", true),
        ("Val{3}", "Val{3}", true),
        ("Val{3}", "Val{4}", false),
        ("Val{:a}", "Val{:a}", true),
        ("Val{:a}", "Val{N} where N", true),
        ("NamedTuple{(:a, :b), Tuple{Int64, Float64}}", "NamedTuple", true),
        ("NamedTuple{(:a, :b), Tuple{Int64, Float64}}", "NamedTuple{(:a, :b)}", true),
        ("NamedTuple{(:a, :b), Tuple{Int64, Float64}}", "NamedTuple{(:b, :a)}", false),
        ("NamedTuple{(:a,), Tuple{Int64}}", "NamedTuple{N, T} where {N, T<:Tuple{Int64}}", true),
    ]);
}

#[test]
fn equal_types_are_one_value() {
    let mut t = Tester::new();
    for (a, b) in [
        ("Vector", "Array{T, 1} where T"),
        ("Array", "Array{T, N} where {T, N}"),
        ("Union{Int64, Nothing}", "Union{Nothing, Int}"),
        ("Vector{<:Real}", "Vector{S} where S<:Real"),
        ("Union{Int64}", "Int64"),
        ("NTuple{2, Float64}", "Tuple{Float64, Float64}"),
        ("Array{Float64}", "Array{Float64, K} where K"),
        ("Tuple", "Tuple{Any...}"),
    ] {
        assert_eq!(t.ty(a), t.ty(b), "{a} and {b}");
    }
}

#[test]
fn types_are_named_as_julia_names_them() {
    let mut t = Tester::new();
    t.declare("P{T}: x::T");
    for name in [
        "Vector{Float64}",
        "Matrix{Int64}",
        "Array{Float64, 3}",
        "Tuple{Int64, Float64}",
        "P{Float64}",
        "P",
        "P{<:Real}",
        "Vector",
        "Matrix",
        "Array",
        "AbstractVector{Float64}",
        "Union{Int64, Nothing}",
        "Union{}",
        "Type{Int64}",
        "Type",
        "Val{3}",
        "Val{:a}",
        "Real",
        "Any",
        "Tuple",
        "Tuple{Int64, Vararg{Float64}}",
        "Vector{Vector{Float64}}",
    ] {
        let ty = t.ty(name);
        let shown = t.world.type_name(ty);
        let expected = if name == "Union{Int64, Nothing}" { "Union{Nothing, Int64}" } else { name };
        assert_eq!(shown, expected);
    }
    for (written, shown) in [
        ("NamedTuple{(:a, :b), Tuple{Int64, Float64}}", "@NamedTuple{a::Int64, b::Float64}"),
        ("Int", "Int64"),
        ("Ref{Float64}", "Base.RefValue{Float64}"),
        ("Colon", "typeof(:)"),
    ] {
        let ty = t.ty(written);
        assert_eq!(t.world.type_name(ty), shown);
    }
}
