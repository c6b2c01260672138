//! What expressions become: calls, indices, updates, literals.

use crate::support::lowered;

#[test]
fn calls_by_name_and_of_values() {
    let text = r#"
function f(g, x)
    g(x)
    h(x)
    h(1, x...)
    g(x..., 2, x...)
    Base.sum(x)
    map(Base.abs, h)
    f(x)(1)
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(g, x)
    func @f(%g: any, %x: any) -> any {
    ^1:
      %3 = core.apply %g, %x
      %4 = call @h(%x)
      %5 = core.global :h
      %6 = call @tuple(1)
      %7 = core.splat %5, %6, %x
      %8 = call @tuple(2)
      %9 = core.splat %g, %x, %8, %x
      %10 = call @Base.sum(%x)
      %11 = core.global :Base.abs
      %12 = core.global :h
      %13 = call @map(%11, %12)
      %14 = call @f(%x)
      %15 = core.apply %14, 1
      return %15
    }
    "###);
}

#[test]
fn indices_know_their_end() {
    let text = r#"
function f(x, i)
    x[end]
    x[begin + 1, end]
    x[:, i]
    x[x[end]:end]
    x[]
    x[i...]
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(x, i)
    func @f(%x: any, %i: any) -> any {
    ^1:
      %3 = call @lastindex(%x)
      %4 = call @getindex(%x, %3)
      %5 = call @firstindex(%x, 1)
      %6 = call @"+"(%5, 1)
      %7 = call @lastindex(%x, 2)
      %8 = call @getindex(%x, %6, %7)
      %9 = call @getindex(%x, @":", %i)
      %10 = call @lastindex(%x)
      %11 = call @getindex(%x, %10)
      %12 = call @lastindex(%x)
      %13 = call @":"(%11, %12)
      %14 = call @getindex(%x, %13)
      %15 = call @getindex(%x)
      %16 = call @tuple(%x)
      %17 = core.splat @getindex, %16, %i
      return %17
    }
    "###);
}

#[test]
fn updates_evaluate_their_target_once() {
    let text = r#"
function f(p, x, g)
    x[g()] += 1
    x[end, 1] *= 2
    p.a -= 1
    p.q[1].z ÷= 3
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(p, x, g)
    func @f(%p: any, %x: any, %g: any) -> any {
    ^1:
      %4 = core.apply %g
      %5 = call @getindex(%x, %4)
      %6 = call @"+"(%5, 1)
      %7 = call @setindex!(%x, %6, %4)
      %8 = call @lastindex(%x, 1)
      %9 = call @getindex(%x, %8, 1)
      %10 = call @"*"(%9, 2)
      %11 = call @setindex!(%x, %10, %8, 1)
      %12 = call @getproperty(%p, :a)
      %13 = call @"-"(%12, 1)
      %14 = call @setproperty!(%p, :a, %13)
      %15 = call @getproperty(%p, :q)
      %16 = call @getindex(%15, 1)
      %17 = call @getproperty(%16, :z)
      %18 = call @"÷"(%17, 3)
      %19 = call @setproperty!(%16, :z, %18)
      return %18
    }
    "###);
}

#[test]
fn tuples_are_taken_apart() {
    let text = r#"
function f(t, p, x)
    a, b = t
    a, b = b, a
    c, rest... = t
    (; u, v) = p
    (d, e), x[1] = t
    q = (x[2], p.z) = a, b
    (a, b, c, d, e, rest, u, v, q)
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(t, p, x)
    func @f(%t: any, %p: any, %x: any) -> any {
    ^1:
      %a = call @"#destructure"(%t, 1)
      %b = call @"#destructure"(%t, 2)
      %c = call @"#destructure"(%t, 1)
      %rest = call @"#destructure_rest"(%t, 2)
      %u = call @getproperty(%p, :u)
      %v = call @getproperty(%p, :v)
      %10 = call @"#destructure"(%t, 1)
      %d = call @"#destructure"(%10, 1)
      %e = call @"#destructure"(%10, 2)
      %13 = call @"#destructure"(%t, 2)
      %14 = call @setindex!(%x, %13, 1)
      %15 = call @setindex!(%x, %b, 2)
      %16 = call @setproperty!(%p, :z, %a)
      %q = call @tuple(%b, %a)
      %18 = call @tuple(%b, %a, %c, %d, %e, %rest, %u, %v, %q)
      return %18
    }
    "###);
}

#[test]
fn literals_of_collections() {
    let text = r#"
function f(a, b)
    (a, b), (), (a,)
    (x = a, y = b)
    (; a, b.c, z = 1)
    [a, b]
    []
    [a b; 1 2]
    [a b]
    [a; b]
    [a..., 1]
    Float64[a, b]
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(a, b)
    func @f(%a: any, %b: any) -> any {
    ^1:
      %3 = call @tuple(%a, %b)
      %4 = call @tuple()
      %5 = call @tuple(%a)
      %6 = call @tuple(%3, %4, %5)
      %7 = call @"#named"(:x, %a, :y, %b)
      %8 = call @getproperty(%b, :c)
      %9 = call @"#named"(:a, %a, :c, %8, :z, 1)
      %10 = call @vect(%a, %b)
      %11 = call @vect()
      %12 = call @tuple(2, 2)
      %13 = call @hvcat(%12, %a, %b, 1, 2)
      %14 = call @hcat(%a, %b)
      %15 = call @vcat(%a, %b)
      %16 = call @tuple(1)
      %17 = core.splat @vect, %a, %16
      %18 = core.global :Float64
      %19 = call @getindex(%18, %a, %b)
      return %19
    }
    "###);
}

#[test]
fn types_in_code() {
    let text = r#"
function f(x::T) where {T}
    Vector{Float64}(undef, 3)
    x::Int
    Array{T, 1}
    Vector{<:Real}
    x isa T
    Int <: Real
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(x::T) where {T}
    func @f(%x: any) -> any {
    ^1:
      %2 = core.global :Vector
      %3 = core.global :Float64
      %4 = call @"#apply_type"(%2, %3)
      %5 = core.global :undef
      %6 = core.apply %4, %5, 3
      %7 = core.global :Int
      %8 = call @"#typeassert"(%x, %7)
      %9 = core.global :Array
      %10: any = core.static :T
      %11 = call @"#apply_type"(%9, %10, 1)
      %12 = core.global :Vector
      %13 = core.global :Real
      %14 = call @"#below"(%13)
      %15 = call @"#apply_type"(%12, %14)
      %16: any = core.static :T
      %17 = call @isa(%x, %16)
      %18 = core.global :Int
      %19 = core.global :Real
      %20 = call @"<:"(%18, %19)
      return %20
    }
    "###);
}

#[test]
fn operators_are_calls() {
    let text = r#"
function f(a, b)
    a + b + 1
    -a
    !b
    a'
    2a^2
    1:2:a
    a ÷ b ≤ 1
    a ∉ b
    a ∘ b
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(a, b)
    func @f(%a: any, %b: any) -> any {
    ^1:
      %3 = call @"+"(%a, %b, 1)
      %4 = call @"-"(%a)
      %5 = call @"!"(%b)
      %6 = call @adjoint(%a)
      %7 = call @"^"(%a, 2)
      %8 = call @"*"(2, %7)
      %9 = call @":"(1, 2, %a)
      %10 = call @"÷"(%a, %b)
      %11 = call @"<="(%10, 1)
      %12 = call @in(%a, %b)
      %13 = call @"!"(%12)
      %14 = call @"∘"(%a, %b)
      return %14
    }
    "###);
}

#[test]
fn inbounds_marks_calls() {
    let text = r#"
function f(y, x)
    @inbounds @simd for n in eachindex(x)
        y[n] = y[n] + x[n]
    end
    return y
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(y, x)
    func @f(%y: any, %x: any) -> any {
    ^1:
      %3 = call @eachindex(%x) {inbounds=true}
      %4 = call @"#start"(%3) {inbounds=true}
      br ^2(%4)
    ^2(%5: any):
      %6 = call @"#done"(%3, %5) {inbounds=true}
      br %6, ^4, ^3
    ^3:
      %n = call @"#item"(%3, %5) {inbounds=true}
      %8 = call @getindex(%y, %n) {inbounds=true}
      %9 = call @getindex(%x, %n) {inbounds=true}
      %10 = call @"+"(%8, %9) {inbounds=true}
      %11 = call @setindex!(%y, %10, %n) {inbounds=true}
      %12 = call @"#next"(%3, %5) {inbounds=true}
      br ^2(%12)
    ^4:
      return %y
    }
    "###);
}

#[test]
fn literals_and_names() {
    let text = r#"
f() = ("s", :a, 1.5f0, 2.5, true, nothing, pi, sin)
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f()
    func @f() -> any {
    ^1:
      %1 = core.global :pi
      %2 = core.global :sin
      %3 = call @tuple("s", :a, 1.5f32, 2.5, true, nothing, %1, %2)
      return %3
    }
    "###);
}
