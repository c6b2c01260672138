//! Objects that are replaced by others, in arguments: what they held before finds its tangent where
//! it was.

use super::check;

#[test]
fn in_arrays() {
    check(
        "double(a) = (a[1] = 2 .* a[1]; sum(a[1]))\n\
         swap(a) = ((a[1], a[2]) = (a[2], a[1]); sum(a[1]) + sum(abs2, a[2]))\n\
         often(a) = (for i in 1:3; a[1] = a[1] .* a[2]; end; sum(a[1]))\n\
         lost(a) = (b = a[1]; a[1] = [0.0]; sum(abs2, b) + sum(a[1]))\n\
         elsewhere(a) = (b = [a[2]]; b[1] = 3 .* a[1]; a[2] = b[1]; sum(a[2]))\n",
        &[
            ("gradient(double, [[1.0, 2.0]])", "([[2.0, 2.0]],)"),
            ("gradient(swap, [[1.0, 2.0], [3.0, 4.0]])", "([[2.0, 4.0], [1.0, 1.0]],)"),
            // a b³.
            ("gradient(often, [[2.0], [3.0]])", "([[27.0], [54.0]],)"),
            ("gradient(lost, [[1.0, 2.0]])", "([[2.0, 4.0]],)"),
            ("gradient(elsewhere, [[1.0], [2.0]])", "([[3.0], [0.0]],)"),
        ],
    );
}

#[test]
fn in_arrays_of_tuples() {
    // a² and 3 b: a² Σ 3 b.
    check(
        "f(a) = (a[1] = (a[1][1]^2, a[1][2] .* 3); a[1][1] * sum(a[1][2]))\n",
        &[("gradient(f, [(2.0, [1.0, 2.0])])", "([(36.0, [12.0, 12.0])],)")],
    );
}

#[test]
fn in_arrays_of_anything() {
    check(
        "double(a) = (a[1] = 2 .* a[1]; sum(a[1]))\n\
         other(a) = (x = a[1]; a[1] = [x, x]; sum(a[1]) * x)\n",
        &[
            ("gradient(double, Any[[1.0, 2.0]])", "(Any[[2.0, 2.0]],)"),
            ("gradient(other, Any[3.0])", "(Any[12.0],)"),
        ],
    );
}

#[test]
fn in_fields_and_refs() {
    check(
        "mutable struct C; z::Vector{Float64}; k::Int; end\n\
         mutable struct P; x::Float64; z::Vector{Float64}; end\n\
         field(c) = (c.z = 2 .* c.z; sum(c.z))\n\
         fields(p) = (p.z = p.x .* p.z; p.x = 3 * p.x; p.x * sum(p.z))\n\
         cell(r) = (r[] = r[] .* r[]; sum(r[]))\n\
         swap(c, d) = ((c.z, d.z) = (d.z, c.z); sum(c.z) + sum(abs2, d.z))\n",
        &[
            ("gradient(field, C([1.0, 2.0], 1))[1]", "(z = [2.0, 2.0], k = nothing)"),
            // 3 x² Σ z.
            ("gradient(fields, P(2.0, [1.0, 4.0]))[1]", "(x = 60.0, z = [12.0, 12.0])"),
            ("gradient(cell, Ref([1.0, 3.0]))[1].x", "[2.0, 6.0]"),
            ("map(c -> c.z, gradient(swap, C([1.0], 1), C([5.0], 2)))", "([2.0], [1.0])"),
        ],
    );
}

#[test]
fn many_at_once() {
    check(
        "copied(a) = (copyto!(a, [3 .* a[2]]); sum(a[1]) + sum(abs2, a[2]))\n\
         filled(a) = (fill!(a, a[1] .* a[2]); sum(a[1]) + sum(a[2]))\n\
         shorter(a) = (resize!(a, 1); sum(abs2, a[1]))\n\
         popped(a) = (b = pop!(a); push!(a, 2 .* b); sum(a[2]))\n\
         reversed(a) = (reverse!(a); sum(a[1]) + sum(abs2, a[3]))\n",
        &[
            ("gradient(copied, [[1.0], [2.0]])", "([[0.0], [7.0]],)"),
            ("gradient(filled, [[2.0], [3.0]])", "([[6.0], [4.0]],)"),
            ("gradient(shorter, [[1.0], [2.0], [3.0]])", "([[2.0], [0.0], [0.0]],)"),
            ("gradient(popped, [[1.0], [2.0]])", "([[0.0], [2.0]],)"),
            ("gradient(reversed, [[1.0], [2.0], [3.0]])", "([[2.0], [0.0], [1.0]],)"),
        ],
    );
}

#[test]
fn elements_that_are_not_defined() {
    check(
        "f(a) = (a[2] = 2 .* a[1]; sum(a[2]))\n\
         some() = (a = Vector{Vector{Float64}}(undef, 2); a[1] = [1.0]; a)\n\
         g(x) = (a = some(); a[1][1] = x; f(a))\n",
        &[("gradient(f, some())[1][1]", "[2.0]"), ("gradient(g, 3.0)", "(2.0,)")],
    );
}

#[test]
fn by_functions_that_are_called() {
    check(
        "double!(a, k) = k == 0 ? nothing : (a[1] = 2 .* a[1]; double!(a, k - 1))\n\
         f(a, k) = (double!(a, k); sum(a[1]))\n\
         any_of(x) = (r = Ref{Any}(x); r[])\n\
         late(a) = (any_of(double!)(a, 2); sum(any_of(a)[1]))\n",
        &[
            ("gradient(f, [[1.0]], 3)", "([[8.0]], nothing)"),
            ("gradient(late, [[1.0]])", "([[4.0]],)"),
        ],
    );
}

#[test]
fn after_a_rule_has_seen_them() {
    // Of the rule comes a tangent of the whole argument, which belongs to what was there then.
    check(
        "total(a) = sum(a[1]) + sum(a[2])\n\
         rrule(::typeof(total), a) = (total(a), dy -> (nothing, [dy .* one.(b) for b in a]))\n\
         f(a) = (y = total(a); a[1] = [0.0]; y + sum(a[2]))\n\
         g(x) = (a = [[x], [x^2]]; y = total(a); a[1] = [0.0]; y + sum(a[2]))\n",
        &[
            ("gradient(f, [[1.0], [2.0]])", "([[1.0], [2.0]],)"),
            // x + 2 x².
            ("gradient(g, 3.0)", "(13.0,)"),
        ],
    );
}

#[test]
fn a_pullback_is_called_twice() {
    check(
        "f(a) = (a[1] = a[1] .* a[2]; sum(a[1]))\n\
         g(a) = (a[1] = a[1] .* a[2]; a)\n\
         y, back = pullback(f, [[2.0], [3.0]])\n\
         z, other = pullback(g, [[2.0], [3.0]])\n",
        &[
            ("back(1.0)", "([[3.0], [2.0]],)"),
            ("back(10.0)", "([[30.0], [20.0]],)"),
            ("other([[1.0], [0.0]])", "([[3.0], [2.0]],)"),
            ("other([[1.0], [5.0]])", "([[3.0], [7.0]],)"),
        ],
    );
}

#[test]
fn in_derivatives_of_derivatives() {
    // The gradient of Σ a b² is b², 2 a b.
    check(
        "f(a) = (for i in 1:2; a[1] = a[1] .* a[2]; end; (a[1], a[2]) = (a[2], a[1]); sum(a[2]))\n\
         h(a) = (copyto!(a, [a[1] .* a[2] .* a[2]]); a[2] = [0.0]; fill!(a, a[1]); sum(a[2]))\n\
         first(f, x) = gradient(f, [[x^2], [x]])[1][1][1]\n\
         second(f, x) = gradient(f, [[x^2], [x]])[1][2][1]\n",
        &[
            ("gradient(x -> first(f, x), 3.0)", "(6.0,)"),
            ("gradient(x -> second(f, x), 3.0)", "(54.0,)"),
            ("derivative(x -> second(f, x), 3.0)", "54.0"),
            ("gradient(x -> first(h, x), 3.0)", "(6.0,)"),
            ("gradient(x -> second(h, x), 3.0)", "(54.0,)"),
            ("derivative(x -> second(h, x), 3.0)", "54.0"),
            ("gradient(y -> gradient(x -> second(f, x), y)[1], 3.0)", "(36.0,)"),
        ],
    );
}
