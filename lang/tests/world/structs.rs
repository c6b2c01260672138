//! Struct types, their instances and constructors.

use regraft_ir::{PrintOptions, Type, TypeKind, print_function};
use regraft_lang::definition::Space;
use regraft_lang::world::Dispatch;

use super::Tester;

impl Tester {
    /// The fields of a struct type as text.
    fn fields(&mut self, ty: &str) -> String {
        let ty = self.ty(ty);
        let def = self.ctx.struct_of(ty).unwrap();
        let fields: Vec<String> = def
            .fields
            .iter()
            .map(|&(name, ty)| format!("{}: {}", self.ctx.str(name), self.ctx.type_text(ty)))
            .collect();
        fields.join(", ")
    }

    fn body_of(&mut self, call: &str) -> String {
        let (callee, args) = self.call(call);
        let Dispatch::Method(found) = self.world.dispatch(callee, &args, None) else {
            panic!("no method for {call}")
        };
        let body = self.world.body(&found, callee, &args, None).unwrap();
        print_function(body.function(), &PrintOptions::default())
    }
}

#[test]
fn a_struct_type_for_each_list_of_parameters() {
    let mut t = Tester::new();
    t.declare("P{T, N}: x::T, v::Array{T, N}, t::Tuple{T, Int64}, r::Real");
    let expected = "x: f64, v: array<f64, 2>, t: tuple<f64, i64>, r: any";
    assert_eq!(t.fields("P{Float64, 2}"), expected);
    let ty = t.ty("P{Float64, 2}");
    assert_eq!(t.ctx.type_text(ty), "@\"P{Float64, 2}\"");
    assert_eq!(t.ty("P{Float64, 2}"), ty);
    assert_ne!(t.ty("P{Float64, 1}"), ty);
    let declared: Vec<String> =
        t.world.fields(ty).unwrap().iter().map(|field| t.world.type_name(field.declared)).collect();
    assert_eq!(declared, ["Float64", "Matrix{Float64}", "Tuple{Float64, Int64}", "Real"]);
}

#[test]
fn structs_that_mention_themselves() {
    let mut t = Tester::new();
    t.declare(
        "mutable Node: value::Int64, next::Union{Node, Nothing}, self::Node, all::Vector{Node}",
    );
    assert_eq!(t.fields("Node"), "value: i64, next: any, self: @Node, all: array<@Node, 1>");
    // A value cannot be a part of itself.
    t.declare("Tree: left::Tree, pair::Tuple{Tree, Int64}, all::Vector{Tree}");
    assert_eq!(t.fields("Tree"), "left: any, pair: any, all: array<@Tree, 1>");
    t.declare("Cell{T}: value::T, more::Vector{Cell{T}}");
    assert_eq!(t.fields("Cell{Int64}"), "value: i64, more: array<@\"Cell{Int64}\", 1>");
    // Ends, although its types never do.
    t.declare("Deep{T}: more::Vector{Deep{Vector{T}}}");
    t.ty("Deep{Int64}");
}

#[test]
fn default_constructors() {
    let mut t = Tester::new();
    t.declare("P: x::Float64, y");
    let taking = t.body_of("P(Float64, Int64)");
    assert!(taking.contains("call @\"#new\"(!@P, %x, %y)"), "{taking}");
    assert!(!taking.contains("convert"), "{taking}");
    let converting = t.body_of("P(Int64, Int64)");
    assert!(converting.contains("call @convert(!f64, %x)"), "{converting}");
    assert_eq!(converting.matches("call @convert").count(), 1, "{converting}");

    t.declare("Q{T<:Real}: x::T, y::T");
    assert_eq!(t.statics("Q(Float64, Float64)"), "T = Float64");
    assert_eq!(t.run("Q(Float64, Int64)"), "none");
    assert_eq!(t.run("Q(String, String)"), "none");
    assert_eq!(t.statics("Q{Float64}(Int64, Int64)"), "T = Float64");
    let inferring = t.body_of("Q(Float64, Float64)");
    assert!(inferring.contains("core.static :T"), "{inferring}");
    assert!(!inferring.contains("convert"), "{inferring}");
    let converting = t.body_of("Q{Float64}(Int64, Int64)");
    assert_eq!(converting.matches("call @convert").count(), 2, "{converting}");

    // No argument tells the parameter.
    t.declare("Tag{T}: x::Int64");
    assert_eq!(t.run("Tag(Int64)"), "none");
    assert_eq!(t.statics("Tag{:a}(Int64)"), "T = :a");

    t.declare("Empty");
    assert_eq!(t.run("Empty()"), "?");
}

#[test]
fn the_user_replaces_one_default_constructor() {
    let mut t = Tester::new();
    t.declare("P: x::Float64");
    t.def("P(x)");
    assert_eq!(t.run("P(Int64)"), "P(x)");
    // `P(x) = P(float(x))` ends: the one that takes the fields as they are is still there.
    assert_eq!(t.run("P(Float64)"), "?");
}

#[test]
fn inner_constructors_stand_alone() {
    let mut t = Tester::new();
    let mut decl = t.struct_decl("P{T}: x::T");
    let inner = super::text::Reader::new(&t.ctx, "P{T}(x::Int64) where T");
    let mut inner = inner;
    decl.constructors.push(inner.method(regraft_lang::definition::Space::Main));
    t.world.declare_struct(decl).unwrap();
    assert_eq!(t.statics("P{Float64}(Int64)"), "T = Float64");
    assert_eq!(t.run("P{Float64}(Float64)"), "none");
    assert_eq!(t.run("P(Float64)"), "none");
}

#[test]
fn declaring_again() {
    let mut t = Tester::new();
    t.declare("P{T}: x::T, y::Int64");
    let ty = t.ty("P{Float64}");
    let age = t.world.age();
    t.declare("P{S}: x::S, y::Int64");
    assert_eq!(t.world.age(), age);
    assert_eq!(t.ty("P{Float64}"), ty);
    for other in [
        "P{T}: x::T, y::Float64",
        "P{T}: x::T",
        "P{T}: y::T, x::Int64",
        "mutable P{T}: x::T, y::Int64",
        "P{T<:Real}: x::T, y::Int64",
        "P{T} <: Number: x::T, y::Int64",
        "P: x, y::Int64",
    ] {
        let name = t.ctx.symbol("P");
        let before = t.world.resolve(name, Space::Main, None);
        t.declare(other);
        assert_ne!(t.world.resolve(name, Space::Main, None), before, "{other}");
    }
    assert_eq!(t.world.type_name(ty), "P{Float64}", "old values keep their type");
}

#[test]
fn a_struct_of_main_with_a_name_of_base() {
    let mut t = Tester::new();
    let mut decl = t.struct_decl("Pair: x::Int64");
    decl.space = regraft_lang::definition::Space::Base;
    t.world.declare_struct(decl).unwrap();
    t.declare("Pair: x::Float64");
    let ty = t.ty("Pair");
    assert_eq!(t.ctx.type_text(ty), "@Main.Pair");
    assert_eq!(t.world.type_name(ty), "Pair");
    assert_eq!(t.fields("Pair"), "x: f64");
}

#[test]
fn fields_of_abstract_parameters() {
    let mut t = Tester::new();
    t.declare("P{T}: x::T");
    assert_eq!(t.fields("P{Real}"), "x: any");
    assert_ne!(t.ty("P{Real}"), t.ty("P{Any}"));
    let ty = t.ty("P{Real}");
    assert_eq!(t.world.type_name(ty), "P{Real}");
}

#[test]
fn types_as_values() {
    let mut t = Tester::new();
    assert_eq!(t.ty("Float64"), Type::F64);
    assert_eq!(t.ty("Any"), Type::ANY);
    assert_eq!(t.ty("Tuple{Any, Int64}"), t.ctx.tuple_type(&[Type::ANY, Type::I64]));
    assert_eq!(t.ty("Vector{Real}"), t.ctx.array_type(Type::ANY, 1));
    let real = t.ty("Real");
    assert!(matches!(t.ctx.kind(real), TypeKind::Struct(_)));
    assert!(!t.world.is_concrete(real));
    assert!(t.world.is_concrete(Type::F64));
    assert_eq!(t.world.stored_type(real), Type::ANY);
    assert_eq!(t.world.supertype(Type::F64), t.ty("AbstractFloat"));
    let vector = t.ty("Vector{Float64}");
    assert_eq!(t.world.supertype(vector), t.ty("DenseVector{Float64}"));
    assert_eq!(t.world.supertype(Type::ANY), Type::ANY);
}
