//! What closures capture.

use crate::support::lowered;

#[test]
fn captures_by_value_where_nothing_changes() {
    let text = r#"
function f(x, n)
    y = x + 1
    g = z -> y + z + n
    map(v -> g(v), x)
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(x, n)
    func @f(%x: any, %n: any) -> any {
    ^1:
      %y = call @"+"(%x, 1)
      %g = core.closure @"##1", %y, %n
      %5 = core.closure @"##2", %g
      %6 = call @map(%5, %x)
      return %6
    }
    # closure ##1 (#1) [y, n]
    # ##1(z)
    func @"##1"(%1: any, %z: any) -> any {
    ^1:
      %y = call @getfield(%1, :y)
      %n = call @getfield(%1, :n)
      %5 = call @"+"(%y, %z, %n)
      return %5
    }
    # closure ##2 (#2) [g]
    # ##2(v)
    func @"##2"(%1: any, %v: any) -> any {
    ^1:
      %g = call @getfield(%1, :g)
      %4 = core.apply %g, %v
      return %4
    }
    "###);
}

#[test]
fn variables_that_change_are_boxed() {
    let text = r#"
function f(x)
    k = 0
    inc() = (k += 1)
    inc(a) = k += a
    x = x + 1
    g = () -> x
    inc, g, k
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(x)
    func @f(%x: any) -> any {
    ^1:
      %2 = call @"#box"(%x)
      %3 = call @"#box"()
      %4 = call @"#box_set"(%3, 0)
      %inc = core.closure @"#inc#1", %3
      %6 = call @"#box_get"(%2, :x)
      %7 = call @"+"(%6, 1)
      %8 = call @"#box_set"(%2, %7)
      %g = core.closure @"##2", %2
      %10 = call @"#box_get"(%3, :k)
      %11 = call @tuple(%inc, %g, %10)
      return %11
    }
    # closure #inc#1 (inc) [k]
    # #inc#1()
    func @"#inc#1"(%1: any) -> any {
    ^1:
      %k = call @getfield(%1, :k)
      %3 = call @"#box_get"(%k, :k)
      %4 = call @"+"(%3, 1)
      %5 = call @"#box_set"(%k, %4)
      return %4
    }
    # #inc#1(a)
    func @"#inc#1"(%1: any, %a: any) -> any {
    ^1:
      %k = call @getfield(%1, :k)
      %4 = call @"#box_get"(%k, :k)
      %5 = call @"+"(%4, %a)
      %6 = call @"#box_set"(%k, %5)
      return %5
    }
    # closure ##2 (#2) [x]
    # ##2()
    func @"##2"(%1: any) -> any {
    ^1:
      %x = call @getfield(%1, :x)
      %3 = call @"#box_get"(%x, :x)
      return %3
    }
    "###);
}

#[test]
fn each_round_of_a_loop_has_its_own_variables() {
    let text = r#"
function f()
    fs = []
    for i in 1:3
        push!(fs, () -> i)
        j = i
        j += 1
        push!(fs, () -> j)
    end
    fs
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f()
    func @f() -> any {
    ^1:
      %fs = call @vect()
      %2 = call @":"(1, 3)
      %3 = call @"#start"(%2)
      br ^2(%3)
    ^2(%4: any):
      %5 = call @"#done"(%2, %4)
      br %5, ^4, ^3
    ^3:
      %6 = call @"#box"()
      %i = call @"#item"(%2, %4)
      %8 = core.closure @"##1", %i
      %9 = call @push!(%fs, %8)
      %10 = call @"#box_set"(%6, %i)
      %11 = call @"#box_get"(%6, :j)
      %12 = call @"+"(%11, 1)
      %13 = call @"#box_set"(%6, %12)
      %14 = core.closure @"##2", %6
      %15 = call @push!(%fs, %14)
      %16 = call @"#next"(%2, %4)
      br ^2(%16)
    ^4:
      return %fs
    }
    # closure ##1 (#1) [i]
    # ##1()
    func @"##1"(%1: any) -> any {
    ^1:
      %i = call @getfield(%1, :i)
      return %i
    }
    # closure ##2 (#2) [j]
    # ##2()
    func @"##2"(%1: any) -> any {
    ^1:
      %j = call @getfield(%1, :j)
      %3 = call @"#box_get"(%j, :j)
      return %3
    }
    "###);
}

#[test]
fn variables_assigned_on_some_ways_only_are_boxed() {
    let text = r#"
function f(c)
    if c
        k = 1
    end
    () -> k
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(c)
    func @f(%c: any) -> any {
    ^1:
      %2 = call @"#box"()
      br %c, ^2, ^3
    ^2:
      %3 = call @"#box_set"(%2, 1)
      br ^3
    ^3:
      %4 = core.closure @"##1", %2
      return %4
    }
    # closure ##1 (#1) [k]
    # ##1()
    func @"##1"(%1: any) -> any {
    ^1:
      %k = call @getfield(%1, :k)
      %3 = call @"#box_get"(%k, :k)
      return %3
    }
    "###);
}

#[test]
fn local_functions_refer_to_themselves() {
    let text = r#"
function f(n)
    fact(m) = m <= 1 ? 1 : m * fact(m - 1)
    map(q -> fact(q), n)
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(n)
    func @f(%n: any) -> any {
    ^1:
      %fact = core.closure @"#fact#1"
      %3 = core.closure @"##2", %fact
      %4 = call @map(%3, %n)
      return %4
    }
    # closure #fact#1 (fact) []
    # #fact#1(m)
    func @"#fact#1"(%1: any, %m: any) -> any {
    ^1:
      %3 = call @"<="(%m, 1)
      br %3, ^2, ^3
    ^2:
      return 1
    ^3:
      %4 = call @"-"(%m, 1)
      %5 = core.apply %1, %4
      %6 = call @"*"(%m, %5)
      return %6
    }
    # closure ##2 (#2) [fact]
    # ##2(q)
    func @"##2"(%1: any, %q: any) -> any {
    ^1:
      %fact = call @getfield(%1, :fact)
      %4 = core.apply %fact, %q
      return %4
    }
    "###);
}

#[test]
fn functions_that_need_each_other() {
    let text = r#"
function f(n)
    even(n) = n == 0 ? true : odd(n - 1)
    odd(n) = n == 0 ? false : even(n - 1)
    even(n)
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(n)
    func @f(%n: any) -> any {
    ^1:
      %2 = call @"#box"()
      %even = core.closure @"#even#1", %2
      %4 = core.closure @"#odd#2", %even
      %5 = call @"#box_set"(%2, %4)
      %6 = core.apply %even, %n
      return %6
    }
    # closure #even#1 (even) [odd]
    # #even#1(n)
    func @"#even#1"(%1: any, %n: any) -> any {
    ^1:
      %odd = call @getfield(%1, :odd)
      %4 = call @"=="(%n, 0)
      br %4, ^2, ^3
    ^2:
      return true
    ^3:
      %5 = call @"#box_get"(%odd, :odd)
      %6 = call @"-"(%n, 1)
      %7 = core.apply %5, %6
      return %7
    }
    # closure #odd#2 (odd) [even]
    # #odd#2(n)
    func @"#odd#2"(%1: any, %n: any) -> any {
    ^1:
      %even = call @getfield(%1, :even)
      %4 = call @"=="(%n, 0)
      br %4, ^2, ^3
    ^2:
      return false
    ^3:
      %5 = call @"-"(%n, 1)
      %6 = core.apply %even, %5
      return %6
    }
    "###);
}

#[test]
fn functions_that_are_captured_before_they_are_made_are_boxed_for_themselves() {
    let text = r#"
function f(n)
    g() = h(n)
    h(m) = m <= 0 ? 0 : h(m - 1)
    g()
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(n)
    func @f(%n: any) -> any {
    ^1:
      %2 = call @"#box"()
      %g = core.closure @"#g#1", %2, %n
      %4 = core.closure @"#h#2", %2
      %5 = call @"#box_set"(%2, %4)
      %6 = core.apply %g
      return %6
    }
    # closure #g#1 (g) [h, n]
    # #g#1()
    func @"#g#1"(%1: any) -> any {
    ^1:
      %h = call @getfield(%1, :h)
      %n = call @getfield(%1, :n)
      %4 = call @"#box_get"(%h, :h)
      %5 = core.apply %4, %n
      return %5
    }
    # closure #h#2 (h) [h]
    # #h#2(m)
    func @"#h#2"(%1: any, %m: any) -> any {
    ^1:
      %h = call @getfield(%1, :h)
      %4 = call @"<="(%m, 0)
      br %4, ^2, ^3
    ^2:
      return 0
    ^3:
      %5 = call @"#box_get"(%h, :h)
      %6 = call @"-"(%m, 1)
      %7 = core.apply %5, %6
      return %7
    }
    "###);
}

#[test]
fn type_parameters_are_captured() {
    let text = r#"
function f(x::T) where {T}
    g(y::T, z = 1) = T(y)
    g(x)
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(x::T) where {T}
    func @f(%x: any) -> any {
    ^1:
      %2: any = core.static :T
      %g = core.closure @"#g#1", %2
      %4 = core.apply %g, %x
      return %4
    }
    # closure #g#1 (g) [T]
    # #g#1(y::T)
    func @"#g#1"(%1: any, %y: any) -> any {
    ^1:
      %T = call @getfield(%1, :T)
      %4 = core.apply %1, %y, 1
      return %4
    }
    # #g#1(y::T, z)
    func @"#g#1"(%1: any, %y: any, %z: any) -> any {
    ^1:
      %T = call @getfield(%1, :T)
      %5 = core.apply %T, %y
      return %5
    }
    "###);
}

#[test]
fn do_blocks_and_patterns() {
    let text = r#"
function f(x)
    map(x) do (a, b), c
        a + b + c
    end
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(x)
    func @f(%x: any) -> any {
    ^1:
      %2 = core.closure @"##1"
      %3 = call @map(%2, %x)
      return %3
    }
    # closure ##1 (#1) []
    # ##1(, c)
    func @"##1"(%1: any, %2: any, %c: any) -> any {
    ^1:
      %a = call @"#destructure"(%2, 1)
      %b = call @"#destructure"(%2, 2)
      %6 = call @"+"(%a, %b, %c)
      return %6
    }
    "###);
}

#[test]
fn let_binds_one_after_the_other() {
    let text = r#"
function f(x)
    let x = x + 1, y = x
        () -> x + y
    end
    x
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(x)
    func @f(%x: any) -> any {
    ^1:
      %2 = call @"+"(%x, 1)
      %3 = core.closure @"##1", %2, %2
      return %x
    }
    # closure ##1 (#1) [x, y]
    # ##1()
    func @"##1"(%1: any) -> any {
    ^1:
      %x = call @getfield(%1, :x)
      %y = call @getfield(%1, :y)
      %4 = call @"+"(%x, %y)
      return %4
    }
    "###);
}
