//! Values in slots that are declared to hold anything: what is there is known only when the program runs,
//! and its tangent has the type that the type of the value says, wherever it is.

use super::check;
use super::orders::check_orders;

const TYPES: &str = "
mutable struct Node
    v::Any
end
struct Box
    v::Any
end
struct Pair2
    first::Any
    rest::Float64
end
abstract type Shape end
struct Square <: Shape
    a::Float64
end
struct Scaled <: Shape
    by::Any
end
struct Held
    shape::Shape
    k::Real
end
area(s::Square) = s.a * s.a
area(s::Scaled) = 3.0 * s.by
";

#[test]
fn structs_in_fields_of_any_type() {
    let programs = "
        f1(x) = (n = Box(Box(x)); n.v.v^2)
        f2(x) = (n = Node(Node(x)); n.v.v^3)
        f3(x) = (n = Pair2(Pair2(x, 2x), x); n.first.first * n.first.rest * n.rest)
        f4(x) = (n = (a = Box((x, x)),); n.a.v[1] * n.a.v[2])
        f5(x) = (a = Any[Node(x), (x, Box(x))]; a[1].v * a[2][2].v * a[2][1])
        f6(x) = (r = Ref{Any}(Box(x)); r[].v * x)
        f7(x) = (r = Ref{Any}(x); r[] = Box(Box((x, x))); r[].v.v[1] * r[].v.v[2] * x)
        f8(x) = (n = Box([x, x]); m = Box(n); m.v.v[1] * n.v[2] * x)";
    check_orders(
        &format!("{TYPES}{programs}"),
        &[
            ("f1", "2.0", ["4.0", "2.0", "0.0"]),
            ("f2", "2.0", ["12.0", "12.0", "6.0"]),
            // 2 x³
            ("f3", "2.0", ["24.0", "24.0", "12.0"]),
            ("f4", "2.0", ["4.0", "2.0", "0.0"]),
            ("f5", "2.0", ["12.0", "12.0", "6.0"]),
            ("f6", "2.0", ["4.0", "2.0", "0.0"]),
            ("f7", "2.0", ["12.0", "12.0", "6.0"]),
            ("f8", "2.0", ["12.0", "12.0", "6.0"]),
        ],
    );
}

#[test]
fn fields_and_elements_of_abstract_types() {
    let programs = "
        f1(x) = (h = Held(Square(x), x); area(h.shape) * h.k)
        f2(x) = (h = Held(Scaled(x), x); area(h.shape) * h.k)
        f3(x) = sum(area(s) for s in Shape[Square(x), Scaled(x * x), Square(2x)])
        f4(x) = (s = Shape[Square(x), Scaled(x)]; s[1] = Scaled(s[1].a * x); area(s[1]) * s[2].by)";
    check_orders(
        &format!("{TYPES}{programs}"),
        &[
            // x³
            ("f1", "2.0", ["12.0", "12.0", "6.0"]),
            // 3 x²
            ("f2", "2.0", ["12.0", "6.0", "0.0"]),
            // x² + 3 x² + 4 x²
            ("f3", "2.0", ["32.0", "16.0", "0.0"]),
            // 3 x³
            ("f4", "2.0", ["36.0", "36.0", "18.0"]),
        ],
    );
}

#[test]
fn closures_that_capture_closures() {
    // v x, then v x² + 1, v x³ + x + 2, v x⁴ + x² + 2 x + 3.
    let programs = "
        f(x) = (g = v -> v * x; for i in 1:3; h = g; g = v -> h(v) * x + i; end; g(x))
        f2(x) = (fs = Any[v -> v * x]; for i in 1:2; h = fs[i]; push!(fs, v -> h(v) * x + i); end; fs[3](x))";
    check_orders(
        programs,
        &[
            // x⁵ + x² + 2 x + 3
            ("f", "2.0", ["86.0", "162.0", "240.0"]),
            // x⁴ + x + 2
            ("f2", "2.0", ["33.0", "48.0", "48.0"]),
        ],
    );
}

#[test]
fn lists_whose_rest_is_a_list_or_nothing() {
    let programs = "
        struct Cons
            h::Float64
            t::Union{Nothing,Cons}
        end
        mutable struct Link
            h::Float64
            t::Union{Nothing,Link}
        end
        cubes(c::Nothing) = 0.0
        cubes(c) = c.h^3 + cubes(c.t)
        f1(x) = (t = nothing; for i in 1:3; t = Cons(x * i, t); end; cubes(t))
        f2(x) = (t = nothing; for i in 1:3; t = Link(x * i, t); end; cubes(t))
        f3(x) = (t = nothing; for i in 1:3; t = Cons(x * i, t); end; x^3)";
    check_orders(
        programs,
        &[
            // (1 + 8 + 27) x³
            ("f1", "2.0", ["432.0", "432.0", "216.0"]),
            ("f2", "2.0", ["432.0", "432.0", "216.0"]),
            ("f3", "2.0", ["12.0", "12.0", "6.0"]),
        ],
    );
}

#[test]
fn recursion_in_a_loop() {
    // 1 + x², then 1 + x + x³.
    check_orders(
        "g(x, y, k) = k == 0 ? y : g(x, y * x + 1, k - 1)\n\
         f(x) = (s = 0.0; for i in 1:2; s += g(x, x, i); end; s)\n",
        &[("f", "2.0", ["17.0", "14.0", "6.0"])],
    );
}

#[test]
fn directions_and_tangents_of_what_is_in_slots() {
    let programs = "
        p(v) = (n = Box(Box(v[1])); n.v.v * v[2])
        q(n) = n.v^2 * 3.0";
    check(
        &format!("{TYPES}{programs}"),
        &[
            ("hessian(p, [2.0, 3.0])", "[0.0 1.0; 1.0 0.0]"),
            ("jacobian(v -> [p(v), p(v)^2], [2.0, 3.0])", "[3.0 2.0; 36.0 24.0]"),
            ("pushforward(q, Box(2.0))((v = 1.0,))", "12.0"),
            ("gradient(q, Box(2.0))", "((v = 12.0,),)"),
            ("pushforward(n -> n.v.v^2, Box(Box(2.0)))((v = (v = 1.0,),))", "4.0"),
            (
                "pushforward(q, Box(2.0))((w = 1.0,))",
                "error: expected a tangent of type {v: any}, found one of type {w: f64}",
            ),
        ],
    );
}

#[test]
fn slots_that_held_something_of_another_kind_before() {
    // What was a number becomes part of a cycle, or the other way round; all but the last four are x².
    let programs = "
        f1(x) = (c = Node(x); c.v = (x, c); x * c.v[1])
        f2(x) = (a = Any[x]; y = a[1]; a[1] = (a, 2); y * x)
        f3(x) = (a = Node(x); b = Node(a); s = a.v; a.v = b; s * x)
        f4(x) = (r = Ref{Any}(x); y = r[]; r[] = [x, y]; y * r[][1])
        f5(x) = (a = Any[(x, x)]; y = a[1][2]; a[1] = x; y * a[1])
        f6(x) = (n = Pair2(x, x); a = [n]; s = a[1].first; a[1] = Pair2((a, x), x); s * a[1].first[2])
        f7(x) = (a = Any[x, x]; y = a[1]; copyto!(a, Any[(x, a), Node(a)]); y * a[1][1])
        f8(x) = (a = Any[x, x]; y = a[1]; fill!(a, (x, a)); y * a[2][1])
        f9(x) = (a = Vector{Any}(undef, 2); a[1] = x; y = a[1]; a[1] = [y]; y * a[1][1])
        f10(x) = (a = Any[x]; y = pop!(a); push!(a, (y, a)); a[1][1] * y)
        put!(n, v) = (n.v = v; nothing)
        f11(x) = (n = Node(x); y = n.v; put!(n, (x, n)); z = n.v[1]; put!(n, Node(z)); y * z * n.v.v)
        f12(x) = (n = Node(x); s = 0.0; for i in 1:3; s += n.v isa Float64 ? n.v^3 : n.v[1]^3;
                  n.v = i == 2 ? x : (x, n); end; s)
        f13(x) = (v = x; g = () -> (v = v isa Tuple ? v[1] * x : (v * x, v)); g(); g(); v)
        f14(x) = (a = Any[Node(x), x]; b = a[1]; a[1] = a[2]; a[2] = b; a[1] * b.v * x)";
    let square = ["4.0", "2.0", "0.0"];
    let cube = ["12.0", "12.0", "6.0"];
    check_orders(
        &format!("{TYPES}{programs}"),
        &[
            ("f1", "2.0", square),
            ("f2", "2.0", square),
            ("f3", "2.0", square),
            ("f4", "2.0", square),
            ("f5", "2.0", square),
            ("f6", "2.0", square),
            ("f7", "2.0", square),
            ("f8", "2.0", square),
            ("f9", "2.0", square),
            ("f10", "2.0", square),
            ("f11", "2.0", cube),
            // 3 x³
            ("f12", "2.0", ["36.0", "36.0", "18.0"]),
            ("f13", "2.0", cube),
            ("f14", "2.0", cube),
        ],
    );
}

#[test]
fn arrays_of_anything_that_are_copied_to_themselves() {
    let programs = "
        f1(x) = (a = Any[x^2, x]; copyto!(a, a); a[1] * a[2])
        f2(x) = (a = Any[x^2, x]; b = x > 5 ? Any[x, x] : a; copyto!(a, b); a[1] * b[2])
        f3(a) = (copyto!(a, a); a[1]^2 * a[2])";
    check_orders(
        programs,
        &[("f1", "2.0", ["12.0", "12.0", "6.0"]), ("f2", "2.0", ["12.0", "12.0", "6.0"])],
    );
    check(programs, &[("gradient(f3, Any[2.0, 3.0])", "(Any[12.0, 4.0],)")]);
}

#[test]
fn fields_that_get_their_value_after_the_object_is_made() {
    check_orders(
        "mutable struct Node\n v::Float64\n next::Node\n Node(v) = new(v)\nend
        mutable struct Ring{T}\n v::T\n next::Ring{T}\n
            function Ring{T}(v) where T\n r = new{T}(v)\n r.next = r\n r\nend\nend
        mutable struct Late\n v\n Late() = new()\nend
        function chain(x, n)
            first = Node(x)
            last = first
            for k in 2:n
                last.next = Node(k * x)
                last = last.next
            end
            first
        end
        function product(node)
            p = node.v
            while isdefined(node, :next)
                node = node.next
                p *= node.v
            end
            p
        end
        f1(x) = product(chain(x, 3))
        f2(x) = (r = Ring{Float64}(x); r.next.v = r.v^2; r.next.next.v * x)
        f3(x) = (l = Late(); l.v = x; l.v = l.v * (x, x)[2]; l.v * x)
        f4(x) = (l = Late(); m = Late(); m.v = l; l.v = [x, x^2]; m.v.v[1] * m.v.v[2])
        f5(x) = (c = chain(x, 2); c.next.next = c; c.next.v = c.v^2; c.next.next.v * c.next.v)",
        &[
            // 6 x³
            ("f1", "2.0", ["72.0", "72.0", "36.0"]),
            ("f2", "2.0", ["12.0", "12.0", "6.0"]),
            ("f3", "2.0", ["12.0", "12.0", "6.0"]),
            ("f4", "2.0", ["12.0", "12.0", "6.0"]),
            ("f5", "2.0", ["12.0", "12.0", "6.0"]),
        ],
    );
    check(
        "mutable struct Node\n v::Float64\n next::Node\n Node(v) = new(v)\nend
        f(x) = (n = Node(x); n.next = Node(2x); n.next.next.v)
        g(n) = n.v^2",
        &[
            ("gradient(f, 1.0)", "error: UndefRefError"),
            ("gradient(g, Node(3.0))[1]", "(v = 6.0, next = nothing)"),
            ("derivative(f, 1.0)", "error: UndefRefError"),
        ],
    );
}
