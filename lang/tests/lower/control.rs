//! What control flow becomes: blocks, their parameters, checks of variables.

use crate::support::lowered;

#[test]
fn counted_loops_have_a_parameter_for_each_variable_that_changes() {
    let text = r#"
function pow(x, n)
    r = 1.0
    while n > 0
        n -= 1
        r *= x
    end
    return r
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # pow(x, n)
    func @pow(%x: any, %n: any) -> any {
    ^1:
      br ^2(%n, 1.0)
    ^2(%n.1: any, %r: any):
      %5 = call @">"(%n.1, 0)
      br %5, ^3, ^4
    ^3:
      %6 = call @"-"(%n.1, 1)
      %7 = call @"*"(%r, %x)
      br ^2(%6, %7)
    ^4:
      return %r
    }
    "###);
}

#[test]
fn loops_order_their_parameters_by_first_assignment_in_the_loop() {
    let text = r#"
function _sum(f::F, x::AbstractArray{<:Real}) where {F}
    y = 0.0
    n = 0
    while n < length(x)
        n += 1
        y += f(x[n])
    end
    return y
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # _sum(f::F, x::AbstractArray{<:Real}) where {F}
    func @_sum(%f: any, %x: any) -> any {
    ^1:
      br ^2(0, 0.0)
    ^2(%n: any, %y: any):
      %5 = call @length(%x)
      %6 = call @"<"(%n, %5)
      br %6, ^3, ^4
    ^3:
      %7 = call @"+"(%n, 1)
      %8 = call @getindex(%x, %7)
      %9 = core.apply %f, %8
      %10 = call @"+"(%y, %9)
      br ^2(%7, %10)
    ^4:
      return %y
    }
    "###);
}

#[test]
fn for_loops_have_a_latch_only_for_continue() {
    let text = r#"
function g(xs)
    s = 0
    for x in xs
        if x < 0
            continue
        elseif x > 100
            break
        end
        s += x
    end
    s
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # g(xs)
    func @g(%xs: any) -> any {
    ^1:
      %2 = call @"#start"(%xs)
      br ^2(%2, 0)
    ^2(%3: any, %s: any):
      %5 = call @"#done"(%xs, %3)
      br %5, ^7, ^3
    ^3:
      %x = call @"#item"(%xs, %3)
      %7 = call @"<"(%x, 0)
      br %7, ^6(%s), ^4
    ^4:
      %8 = call @">"(%x, 100)
      br %8, ^7, ^5
    ^5:
      %9 = call @"+"(%s, %x)
      br ^6(%9)
    ^6(%s.1: any):
      %11 = call @"#next"(%xs, %3)
      br ^2(%11, %s.1)
    ^7:
      return %s
    }
    "###);
}

#[test]
fn break_leaves_all_clauses_and_each_round_begins_with_the_outer_variable() {
    let text = r#"
function h(a)
    for i in 1:3, j = 1:i
        a[i] == j && break
        i = 0
    end
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # h(a)
    func @h(%a: any) -> any {
    ^1:
      %2 = call @":"(1, 3)
      %3 = call @"#start"(%2)
      br ^2(%3)
    ^2(%4: any):
      %5 = call @"#done"(%2, %4)
      br %5, ^8, ^3
    ^3:
      %i = call @"#item"(%2, %4)
      %7 = call @":"(1, %i)
      %8 = call @"#start"(%7)
      br ^4(%8)
    ^4(%9: any):
      %10 = call @"#done"(%7, %9)
      br %10, ^7, ^5
    ^5:
      %j = call @"#item"(%7, %9)
      %12 = call @getindex(%a, %i)
      %13 = call @"=="(%12, %j)
      br %13, ^8, ^6
    ^6:
      %14 = call @"#next"(%7, %9)
      br ^4(%14)
    ^7:
      %15 = call @"#next"(%2, %4)
      br ^2(%15)
    ^8:
      return nothing
    }
    "###);
}

#[test]
fn branches_at_the_end_return() {
    let text = r#"
f(x) = x > 0 ? x : -x
function g(c)
    if c
        1
    end
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(x)
    func @f(%x: any) -> any {
    ^1:
      %2 = call @">"(%x, 0)
      br %2, ^2, ^3
    ^2:
      return %x
    ^3:
      %3 = call @"-"(%x)
      return %3
    }
    # g(c)
    func @g(%c: any) -> any {
    ^1:
      br %c, ^2, ^3
    ^2:
      return 1
    ^3:
      return nothing
    }
    "###);
}

#[test]
fn values_of_branches_are_parameters() {
    let text = r#"
function f(a, b)
    x = if a
        1
    else
        2
    end
    y = a && b
    z = a || b
    (x, y, z)
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(a, b)
    func @f(%a: any, %b: any) -> any {
    ^1:
      br %a, ^2(1), ^2(2)
    ^2(%x: any):
      br %a, ^3(%b), ^3(false)
    ^3(%y: any):
      br %a, ^4(true), ^4(%b)
    ^4(%z: any):
      %6 = call @tuple(%x, %y, %z)
      return %6
    }
    "###);
}

#[test]
fn conditions_of_several_parts_branch_at_once() {
    let text = r#"
function f(a, b, i, n)
    while i <= n && (a[i] < b || a[i] == 0)
        i += 1
    end
    i
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(a, b, i, n)
    func @f(%a: any, %b: any, %i: any, %n: any) -> any {
    ^1:
      br ^2(%i)
    ^2(%i.1: any):
      %6 = call @"<="(%i.1, %n)
      br %6, ^3, ^6
    ^3:
      %7 = call @getindex(%a, %i.1)
      %8 = call @"<"(%7, %b)
      br %8, ^5, ^4
    ^4:
      %9 = call @getindex(%a, %i.1)
      %10 = call @"=="(%9, 0)
      br %10, ^5, ^6
    ^5:
      %11 = call @"+"(%i.1, 1)
      br ^2(%11)
    ^6:
      return %i.1
    }
    "###);
}

#[test]
fn operands_of_chains_are_evaluated_once() {
    let text = r#"
function f(a, b, c)
    if 0 <= g(a) < b
        return 1
    end
    v = a < b <= c
    v
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(a, b, c)
    func @f(%a: any, %b: any, %c: any) -> any {
    ^1:
      %4 = call @g(%a)
      %5 = call @"<="(0, %4)
      br %5, ^2, ^4
    ^2:
      %6 = call @"<"(%4, %b)
      br %6, ^3, ^4
    ^3:
      return 1
    ^4:
      %7 = call @"<"(%a, %b)
      br %7, ^5, ^6(false)
    ^5:
      %8 = call @"<="(%b, %c)
      br ^6(%8)
    ^6(%v: any):
      return %v
    }
    "###);
}

#[test]
fn what_may_be_undefined_is_checked_by_a_flag() {
    let text = r#"
function u(c)
    if c
        z = 1
    end
    for i in 1:3
        if i == 1
            w = 1
        end
        w
    end
    z
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # u(c)
    func @u(%c: any) -> any {
    ^1:
      %2 = core.undef
      br %c, ^2(1, true), ^2(%2, false)
    ^2(%z: any, %4: any):
      %5 = call @":"(1, 3)
      %6 = call @"#start"(%5)
      br ^3(%6)
    ^3(%7: any):
      %8 = call @"#done"(%5, %7)
      br %8, ^6, ^4
    ^4:
      %i = call @"#item"(%5, %7)
      %10 = call @"=="(%i, 1)
      br %10, ^5(true), ^5(false)
    ^5(%11: any):
      %12 = call @"#check_defined"(%11, :w)
      %13 = call @"#next"(%5, %7)
      br ^3(%13)
    ^6:
      %14 = call @"#check_defined"(%4, :z)
      return %z
    }
    "###);
}

#[test]
fn what_is_defined_on_all_ways_is_not_checked() {
    let text = r#"
function f(c)
    local x
    if c
        x = 1
    else
        x = 2
    end
    while c
        y = x
        c = y
    end
    x
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(c)
    func @f(%c: any) -> any {
    ^1:
      br %c, ^2(1), ^2(2)
    ^2(%x: any):
      br ^3(%c)
    ^3(%c.1: any):
      br %c.1, ^4, ^5
    ^4:
      br ^3(%x)
    ^5:
      return %x
    }
    "###);
}

#[test]
fn infinite_loops_leave_only_by_break() {
    let text = r#"
function f(n)
    while true
        n -= 1
        n < 3 && break
    end
    n
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(n)
    func @f(%n: any) -> any {
    ^1:
      br ^2(%n)
    ^2(%n.1: any):
      %3 = call @"-"(%n.1, 1)
      %4 = call @"<"(%3, 3)
      br %4, ^4, ^3
    ^3:
      br ^2(%3)
    ^4:
      return %3
    }
    "###);
}

#[test]
fn labels_can_make_loops() {
    let text = r#"
function f(n)
    i = 0
    @label again
    i += 1
    if i < n
        @goto again
    end
    return i
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(n)
    func @f(%n: any) -> any {
    ^1:
      br ^2(0)
    ^2(%i: any):
      %3 = call @"+"(%i, 1)
      %4 = call @"<"(%3, %n)
      br %4, ^3, ^4
    ^3:
      br ^2(%3)
    ^4:
      return %3
    }
    "###);
}

#[test]
fn labels_can_make_graphs_that_are_irreducible() {
    let text = r#"
function f(c, n)
    x = 0
    y = n
    if c
        @goto inside
    end
    @label top
    x += y
    @label inside
    if x < n
        @goto top
    end
    x
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(c, n)
    func @f(%c: any, %n: any) -> any {
    ^1:
      br %c, ^3(0), ^2(0)
    ^2(%x: any):
      %4 = call @"+"(%x, %n)
      br ^3(%4)
    ^3(%x.1: any):
      %6 = call @"<"(%x.1, %n)
      br %6, ^4, ^5
    ^4:
      br ^2(%x.1)
    ^5:
      return %x.1
    }
    "###);
}

#[test]
fn code_that_is_not_reached_is_dropped() {
    let text = r#"
function f(x)
    return x
    y = g(x)
    for i in y
        x += i
    end
    x
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(x)
    func @f(%x: any) -> any {
    ^1:
      return %x
    }
    "###);
}

#[test]
fn declared_types_convert() {
    let text = r#"
function f(x)::Float64
    y::Int = x
    y = 2
    if x
        return y
    end
    y + 1
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(x)
    func @f(%x: any) -> any {
    ^1:
      %2 = core.global :Int
      %y = call @convert(%2, %x)
      %4 = core.global :Int
      %5 = call @convert(%4, 2)
      br %x, ^2, ^3
    ^2:
      %6 = core.global :Float64
      %7 = call @convert(%6, %5)
      return %7
    ^3:
      %8 = call @"+"(%5, 1)
      %9 = core.global :Float64
      %10 = call @convert(%9, %8)
      return %10
    }
    "###);
}

#[test]
fn assertions_throw() {
    let text = r#"
function f(a)
    @assert a > 1 "small"
    @assert a == 2
    a
end
"#;
    insta::assert_snapshot!(lowered(text), @r###"
    # f(a)
    func @f(%a: any) -> any {
    ^1:
      %2 = call @">"(%a, 1)
      br %2, ^3, ^2
    ^2:
      %3 = call @AssertionError("small")
      %4 = call @throw(%3)
      unreachable
    ^3:
      %5 = call @"=="(%a, 2)
      br %5, ^5, ^4
    ^4:
      %6 = call @AssertionError("a == 2")
      %7 = call @throw(%6)
      unreachable
    ^5:
      return %a
    }
    "###);
}
