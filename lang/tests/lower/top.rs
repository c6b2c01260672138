//! What statements at top level become.

use crate::support::lowered;

#[test]
fn statements_at_top_level() {
    let text = r#"
x = 1
y, z = x, 2
x += y
global w = 3
const K = 3.0
println(x)
using LinearAlgebra
function decl end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # run
    func @"#top"() -> any {
    ^1:
      %1: unit = core.set_global :x, 1
      return 1
    }
    # run
    func @"#top"() -> any {
    ^1:
      %1 = core.global :x
      %2: unit = core.set_global :y, %1
      %3: unit = core.set_global :z, 2
      %4 = call @tuple(%1, 2)
      return %4
    }
    # run
    func @"#top"() -> any {
    ^1:
      %1 = core.global :x
      %2 = core.global :y
      %3 = call @"+"(%1, %2)
      %4: unit = core.set_global :x, %3
      return %3
    }
    # run
    func @"#top"() -> any {
    ^1:
      %1: unit = core.set_global :w, 3
      return 3
    }
    # const K
    func @"#top"() -> any {
    ^1:
      return 3.0
    }
    # run
    func @"#top"() -> any {
    ^1:
      %1 = core.global :x
      %2 = call @println(%1)
      return %2
    }
    # declare decl
    "###);
}

#[test]
fn loops_of_a_file_have_their_own_variables() {
    let text = r#"
x = 0
for i in 1:3
    x = i
end
for i in 1:3
    global x = i
end
let
    y = x
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # run
    func @"#top"() -> any {
    ^1:
      %1: unit = core.set_global :x, 0
      return 0
    }
    # run
    func @"#top"() -> any {
    ^1:
      %1 = call @":"(1, 3)
      %2 = call @"#start"(%1)
      br ^2(%2)
    ^2(%3: any):
      %4 = call @"#done"(%1, %3)
      br %4, ^4, ^3
    ^3:
      %i = call @"#item"(%1, %3)
      %6 = call @"#next"(%1, %3)
      br ^2(%6)
    ^4:
      return nothing
    }
    # run
    func @"#top"() -> any {
    ^1:
      %1 = call @":"(1, 3)
      %2 = call @"#start"(%1)
      br ^2(%2)
    ^2(%3: any):
      %4 = call @"#done"(%1, %3)
      br %4, ^4, ^3
    ^3:
      %i = call @"#item"(%1, %3)
      %6: unit = core.set_global :x, %i
      %7 = call @"#next"(%1, %3)
      br ^2(%7)
    ^4:
      return nothing
    }
    # run
    func @"#top"() -> any {
    ^1:
      %y = core.global :x
      return %y
    }
    "###);
}

#[test]
fn definitions_under_conditions() {
    let text = r#"
if c
    f(x) = 1
    const A = 2
else
    f(x) = 2
end
begin
    g() = 1
    h = 2
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # if
    func @"#top"() -> any {
    ^1:
      %1 = core.global :c
      return %1
    }
    # then
    # f(x)
    func @f(%x: any) -> any {
    ^1:
      return 1
    }
    # const A
    func @"#top"() -> any {
    ^1:
      return 2
    }
    # else
    # f(x)
    func @f(%x: any) -> any {
    ^1:
      return 2
    }
    # end
    # g()
    func @g() -> any {
    ^1:
      return 1
    }
    # run
    func @"#top"() -> any {
    ^1:
      %1: unit = core.set_global :h, 2
      return 2
    }
    "###);
}

#[test]
fn structs_and_constructors() {
    let text = r#"
struct P{T<:Real} <: Number
    x::T
    y
    P{T}(x) where {T} = new(x, 1)
    P(x::T) where {T<:Real} = new{T}(x, 2)
end
mutable struct Q
    a::Int
    b::Vector{Float64}
end
abstract type A{T} <: B end
P(a, b, c) = P(a)
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # struct P{T <: Real} <: Number [x::T, y::Any]
    # type P{T}(x) where {T}
    func @P(%x: any) -> any {
    ^1:
      %2 = core.global :P
      %3: any = core.static :T
      %4 = call @"#apply_type"(%2, %3)
      %5 = call @"#new"(%4, %x, 1)
      return %5
    }
    # type P(x::T) where {T <: Real}
    func @P(%x: any) -> any {
    ^1:
      %2 = core.global :P
      %3: any = core.static :T
      %4 = call @"#apply_type"(%2, %3)
      %5 = call @"#new"(%4, %x, 2)
      return %5
    }
    # mutable struct Q [a::Int, b::Vector{Float64}]
    # abstract A{T} <: B
    # type P(a, b, c)
    func @P(%a: any, %b: any, %c: any) -> any {
    ^1:
      %4 = call @P(%a)
      return %4
    }
    "###);
}

#[test]
fn what_methods_are_of() {
    let text = r#"
(p::P)(x) = p.x + x
Base.:+(a::P, b::P) = P(a.x + b.x)
(::Type{T})(x::P) where {T} = convert(T, x.x)
P{T}(x, y) where {T} = x
@inline sq(x) = x * x
@noinline f(_, _) = 1
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # (::P)(x)
    func @P(%p: any, %x: any) -> any {
    ^1:
      %3 = call @getproperty(%p, :x)
      %4 = call @"+"(%3, %x)
      return %4
    }
    # Base.+(a::P, b::P)
    func @"+"(%a: any, %b: any) -> any {
    ^1:
      %3 = call @getproperty(%a, :x)
      %4 = call @getproperty(%b, :x)
      %5 = call @"+"(%3, %4)
      %6 = call @P(%5)
      return %6
    }
    # type T(x::P) where {T}
    func @T(%x: any) -> any {
    ^1:
      %2: any = core.static :T
      %3 = call @getproperty(%x, :x)
      %4 = call @convert(%2, %3)
      return %4
    }
    # type P{T}(x, y) where {T}
    func @P(%x: any, %y: any) -> any {
    ^1:
      return %x
    }
    # @inline sq(x)
    func @sq(%x: any) -> any {
    ^1:
      %2 = call @"*"(%x, %x)
      return %2
    }
    # @noinline f(, )
    func @f(%1: any, %2: any) -> any {
    ^1:
      return 1
    }
    "###);
}

#[test]
fn default_values_are_methods() {
    let text = r#"
g(x, y = 2x, z = y) = x
h(a, b = a, rest...) = rest
(p::P)(x = 1) = x
P{T}(x = 1) where {T} = x
Base.sum(x::P, y = 1) = y
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # g(x)
    func @g(%x: any) -> any {
    ^1:
      %y = call @"*"(2, %x)
      %3 = call @g(%x, %y, %y)
      return %3
    }
    # g(x, y)
    func @g(%x: any, %y: any) -> any {
    ^1:
      %3 = call @g(%x, %y, %y)
      return %3
    }
    # g(x, y, z)
    func @g(%x: any, %y: any, %z: any) -> any {
    ^1:
      return %x
    }
    # h(a)
    func @h(%a: any) -> any {
    ^1:
      %2 = call @h(%a, %a)
      return %2
    }
    # h(a, b, rest...)
    func @h(%a: any, %b: any, %rest: any) -> any {
    ^1:
      return %rest
    }
    # (::P)()
    func @P(%p: any) -> any {
    ^1:
      %2 = core.apply %p, 1
      return %2
    }
    # (::P)(x)
    func @P(%p: any, %x: any) -> any {
    ^1:
      return %x
    }
    # type P{T}() where {T}
    func @P() -> any {
    ^1:
      %1 = core.global :P
      %2: any = core.static :T
      %3 = call @"#apply_type"(%1, %2)
      %4 = core.apply %3, 1
      return %4
    }
    # type P{T}(x) where {T}
    func @P(%x: any) -> any {
    ^1:
      return %x
    }
    # Base.sum(x::P)
    func @sum(%x: any) -> any {
    ^1:
      %2 = call @Base.sum(%x, 1)
      return %2
    }
    # Base.sum(x::P, y)
    func @sum(%x: any, %y: any) -> any {
    ^1:
      return %y
    }
    "###);
}

#[test]
fn types_of_signatures() {
    let text = r#"
f(x::Int, ::Type{T}, (a, b), rest::T...) where {T, S<:Vector{T}} = a
g(x::Val{:a}, y::Tuple{Int, Vararg{T}}, z::Type{<:Number}, w::typeof(sin)) where {T} = 1
h(x::NTuple{3, Int}, q::NamedTuple{(:a, :b)}, v::Vector{T} where {T}) = 1
k(x::S, y::T) where {T} where {S<:T} = 1
l(x::T) where {Int<:T<:Real} = 1
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(x::Int, ::Type{T}, , rest::T...) where {T, S <: Vector{T}}
    func @f(%x: any, %2: any, %3: any, %rest: any) -> any {
    ^1:
      %a = call @"#destructure"(%3, 1)
      %b = call @"#destructure"(%3, 2)
      return %a
    }
    # g(x::Val{:a}, y::Tuple{Int, T...}, z::Type{<:Number}, w::typeof(sin)) where {T}
    func @g(%x: any, %y: any, %z: any, %w: any) -> any {
    ^1:
      return 1
    }
    # h(x::NTuple{3, Int}, q::NamedTuple{(:a, :b)}, v::Vector{T} where {T})
    func @h(%x: any, %q: any, %v: any) -> any {
    ^1:
      return 1
    }
    # k(x::S, y::T) where {T, S <: T}
    func @k(%x: any, %y: any) -> any {
    ^1:
      return 1
    }
    # l(x::T) where {Int <: T <: Real}
    func @l(%x: any) -> any {
    ^1:
      return 1
    }
    "###);
}

#[test]
fn what_syntax_stands_for_is_not_shadowed() {
    let text = r#"
getindex(p, i) = p[i]
tuple(x) = (x, getindex(x, 1))
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # getindex(p, i)
    func @getindex(%p: any, %i: any) -> any {
    ^1:
      %3 = call @Base.getindex(%p, %i)
      return %3
    }
    # tuple(x)
    func @tuple(%x: any) -> any {
    ^1:
      %2 = call @getindex(%x, 1)
      %3 = call @Base.tuple(%x, %2)
      return %3
    }
    "###);
}
