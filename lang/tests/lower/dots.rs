//! What comprehensions and dot calls become.

use crate::support::lowered;

#[test]
fn comprehensions_collect_generators() {
    let text = r#"
function f(xs, ys)
    [x^2 for x in xs]
    Float64[x for x in xs if x > 1]
    [x + y for x in xs, y in ys]
    [(i, j) for i in xs for j in 1:i if j > 1]
    sum(k * v for (k, v) in xs)
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(xs, ys)
    func @f(%xs: any, %ys: any) -> any {
    ^1:
      %3 = core.closure @"##1"
      %4 = call @"#generator"(%3, %xs)
      %5 = call @"#collect"(%4)
      %6 = core.global :Float64
      %7 = core.closure @"##2"
      %8 = call @"#filter"(%7, %xs)
      %9 = core.closure @"##3"
      %10 = call @"#generator"(%9, %8)
      %11 = call @"#collect"(%6, %10)
      %12 = call @"#product"(%xs, %ys)
      %13 = core.closure @"##4"
      %14 = call @"#generator"(%13, %12)
      %15 = call @"#collect"(%14)
      %16 = core.closure @"##5"
      %17 = call @"#generator"(%16, %xs)
      %18 = call @"#flatten"(%17)
      %19 = call @"#collect"(%18)
      %20 = core.closure @"##8"
      %21 = call @"#generator"(%20, %xs)
      %22 = call @sum(%21)
      return %22
    }
    # closure ##1 (#1) []
    # ##1(x)
    func @"##1"(%1: any, %x: any) -> any {
    ^1:
      %3 = call @"^"(%x, 2)
      return %3
    }
    # closure ##2 (#2) []
    # ##2(x)
    func @"##2"(%1: any, %x: any) -> any {
    ^1:
      %3 = call @">"(%x, 1)
      return %3
    }
    # closure ##3 (#3) []
    # ##3(x)
    func @"##3"(%1: any, %x: any) -> any {
    ^1:
      return %x
    }
    # closure ##4 (#4) []
    # ##4()
    func @"##4"(%1: any, %2: any) -> any {
    ^1:
      %x = call @"#destructure"(%2, 1)
      %y = call @"#destructure"(%2, 2)
      %5 = call @"+"(%x, %y)
      return %5
    }
    # closure ##5 (#5) []
    # ##5(i)
    func @"##5"(%1: any, %i: any) -> any {
    ^1:
      %3 = call @":"(1, %i)
      %4 = core.closure @"##6", %i
      %5 = call @"#filter"(%4, %3)
      %6 = core.closure @"##7", %i
      %7 = call @"#generator"(%6, %5)
      return %7
    }
    # closure ##6 (#6) [i]
    # ##6(j)
    func @"##6"(%1: any, %j: any) -> any {
    ^1:
      %i = call @getfield(%1, :i)
      %4 = call @">"(%j, 1)
      return %4
    }
    # closure ##7 (#7) [i]
    # ##7(j)
    func @"##7"(%1: any, %j: any) -> any {
    ^1:
      %i = call @getfield(%1, :i)
      %4 = call @tuple(%i, %j)
      return %4
    }
    # closure ##8 (#8) []
    # ##8()
    func @"##8"(%1: any, %2: any) -> any {
    ^1:
      %k = call @"#destructure"(%2, 1)
      %v = call @"#destructure"(%2, 2)
      %5 = call @"*"(%k, %v)
      return %5
    }
    "###);
}

#[test]
fn dot_calls_are_fused() {
    let text = r#"
function f(a, b, g)
    x = a .* b .+ 1
    sin.(a)
    f.(a, 2)
    g.(a) .+ g.(b)
    a .+ Base.max.(b, y)
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(a, b, g)
    func @f(%a: any, %b: any, %g: any) -> any {
    ^1:
      %4 = core.closure @"##1"
      %x = call @"#broadcast"(%4, %a, %b)
      %6 = core.global :sin
      %7 = call @"#broadcast"(%6, %a)
      %8 = core.closure @"##2"
      %9 = call @"#broadcast"(%8, %a)
      %10 = core.closure @"##3", %g
      %11 = call @"#broadcast"(%10, %a, %b)
      %12 = core.global :y
      %13 = core.closure @"##4"
      %14 = call @"#broadcast"(%13, %a, %b, %12)
      return %14
    }
    # closure ##1 (#1) []
    # ##1(, )
    func @"##1"(%1: any, %2: any, %3: any) -> any {
    ^1:
      %4 = call @"*"(%2, %3)
      %5 = call @"+"(%4, 1)
      return %5
    }
    # closure ##2 (#2) []
    # ##2()
    func @"##2"(%1: any, %2: any) -> any {
    ^1:
      %3 = call @f(%2, 2)
      return %3
    }
    # closure ##3 (#3) [f1]
    # ##3(, )
    func @"##3"(%1: any, %2: any, %3: any) -> any {
    ^1:
      %4 = call @getfield(%1, :f1)
      %5 = core.apply %4, %2
      %6 = core.apply %4, %3
      %7 = call @"+"(%5, %6)
      return %7
    }
    # closure ##4 (#4) []
    # ##4(, , )
    func @"##4"(%1: any, %2: any, %3: any, %4: any) -> any {
    ^1:
      %5 = call @Base.max(%3, %4)
      %6 = call @"+"(%2, %5)
      return %6
    }
    "###);
}

#[test]
fn dot_assignments_write_in_place() {
    let text = r#"
function f(x, a)
    x .= a .* 2 .+ a
    x .= a
    x .= 0
    x .+= a
    x[1:2] .= 0
    x[:, 1] .+= a
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(x, a)
    func @f(%x: any, %a: any) -> any {
    ^1:
      %3 = core.closure @"##1"
      %4 = call @"#broadcast!"(%3, %x, %a, %a)
      %5 = call @"#broadcast!"(@identity, %x, %a)
      %6 = call @"#broadcast!"(@identity, %x, 0)
      %7 = core.global :"+"
      %8 = call @"#broadcast!"(%7, %x, %x, %a)
      %9 = call @":"(1, 2)
      %10 = call @"#dotview"(%x, %9)
      %11 = call @"#broadcast!"(@identity, %10, 0)
      %12 = call @"#dotview"(%x, @":", 1)
      %13 = core.global :"+"
      %14 = call @"#broadcast!"(%13, %12, %12, %a)
      return %14
    }
    # closure ##1 (#1) []
    # ##1(, )
    func @"##1"(%1: any, %2: any, %3: any) -> any {
    ^1:
      %4 = call @"*"(%2, 2)
      %5 = call @"+"(%4, %3)
      return %5
    }
    "###);
}
