//! Every way to a first and a second derivative leads to the same: forward mode, reverse mode, each of
//! either, pullbacks, and differences. The programs are what people write, objects of unknown type
//! included.

use regraft_ad::{Checkpoints, PlanKind};
use regraft_lang::Session;

use super::session;

const PROGRAMS: &str = r#"
mutable struct P
    a::Float64
    b::Vector{Float64}
end
struct Q{T}
    w::T
    s::Float64
end
any_of(x) = (r = Ref{Any}(x); r[])
f1(x) = (p = P(x, [x, 2x]); p.a = p.a * p.b[1]; p.b[2] += p.a; p.a * p.b[2])
f2(x) = (q = Q([x, x * x], x); sum(q.w) * q.s)
f3(x) = (p = any_of(P(x, [x, 2x])); p.a = p.a * p.b[1]; p.b[2] += p.a; p.a * p.b[2])
f4(x) = (q = any_of(Q([x, x * x], x)); sum(q.w) * q.s)
f5(x) = (fs = Any[y -> y * x, y -> y + x]; s = x; for f in fs; s = f(s); end; s)
f6(x) = (d = Any[x, [x], (x, x)]; d[1] * d[2][1] * d[3][2])
f7(x) = (v = Float64[]; for i in 1:4 push!(v, i * x) end; while length(v) > 1; a = pop!(v); v[end] = v[end] * a; end; v[1])
f8(x) = (m = [x 2x; 3x 4x]; n = m * m; n[1, 2] + n[2, 1])
f9(x) = (t = (x, [x]); (a, b) = t; b[1] = b[1] * a; t[2][1] * x)
f10(x) = (z = map(y -> y * x, [1.0, 2.0, x]); sum(z .^ 2))
f11(x) = (acc = Ref(0.0); foreach(y -> (acc[] += y * x), [x, 2.0]); acc[] * acc[])
f12(x) = (nt = (a = x, b = (c = x * x,)); nt.a * nt.b.c)
f13(x) = (xs = [sin(i * x) for i in 1:3]; ys = [a * b for a in xs, b in xs]; sum(ys))
f14(x) = x > 1 ? (y = x; for i in 1:3; y > 5 && break; y = y * x; end; y) : x
f15(x) = (h = y -> gradient(z -> z * z * y, y)[1]; h(x))
f16(x) = (u = [x, 1.0]; w = [x * x, 2.0]; for i in 1:3; u, w = w, u; u[1] = u[1] * w[1] + w[2]; end; u[1] + w[1])
f17(x) = sum(reshape([x, x * x, 1.0, 2.0], 2, 2) * [x, 1.0])
f18(x) = (s = 0.0; for (i, y) in enumerate([x, x * x]); s += i * y; end; s * x)
f19(x) = (v = view([x, x^2, x^3], 2:3); v[1] * v[2])
f20(x) = foldl((a, b) -> a * b + x, [x, 2.0, 3.0])
mutable struct Node
    v::Float64
    next::Any
end
abstract type Shape end
struct Sq <: Shape
    a::Float64
end
struct Ci <: Shape
    r::Float64
end
area(s::Sq) = s.a^2
area(s::Ci) = 3.0 * s.r^2
const table = [1.0, 2.0, 3.0]
h1(x) = (n = Node(x, nothing); for i in 1:3; n = Node(n.v * x, n); end; s = 0.0; while n !== nothing; s += n.v; n = n.next; end; s)
h2(x) = sum(area(s) for s in Shape[Sq(x), Ci(2x), Sq(x * x)])
h3(x) = (shapes = [Sq(x), Sq(2x)]; shapes[1] = Sq(shapes[2].a * x); sum(map(area, shapes)))
fact(n, x) = n == 0 ? one(x) : x * fact(n - 1, x) + sin(x)
h4(x) = fact(4, x)
ev(n, x) = n <= 0 ? x : od(n - 1, x * x)
od(n, x) = n <= 0 ? -x : ev(n - 1, x + 1)
h5(x) = ev(3, x)
h6(x) = (c = cumsum([x, x^2, x^3]); prod(c))
h7(x) = maximum([x, 2x, -x]) * minimum([x, x^2])
h8(x) = (t = table; t[2] * x + sum(t .* x))
h9(x) = (n = 0; for i in 1:10; n += 1; x > 2 && break; x = x * 1.1; end; x * n)
h10(x) = (a = zeros(2, 2); a[1, :] .= x; a[:, 2] .+= x^2; sum(a * a))
h11(x) = (v = [x, 2.0, x^2]; sort!(v); v[1] * v[2] + v[3])
h14(x) = (f = x; g = () -> (f = f * x; f); g(); g(); f)
h15(x) = (v = [[x], [x^2]]; w = copy(v); w[1] = [3.0]; v[1][1] * w[2][1] + w[1][1])
h16(x) = (a = [x, x]; b = a; b[1] = x^3; a[1] * a[2])
h17(x) = (s = 0.0; for i in 1:2, j in 1:3; (i + j) % 2 == 0 && continue; s += x^i * j; end; s)
h18(x) = abs(x) + sign(x) * x^2 + max(x, 1.0) + clamp(x, 0.0, 1.0) + mod(x, 1.0)
h19(x) = (z = any_of(x); w = z * 2; u = [z, w]; q = any_of(u); q[1] += q[2]; sum(q) * u[1])
h20(x) = (r = any_of(Ref(x)); r[] = r[] * r[]; r[] + x)
h21(x) = sum([i * x for i in 1:5 if i != 3])
h22(x) = (xs = (x, x^2, x^3); g = (a, b...) -> a * sum(b); g(xs...))
h23(x) = exp(log(x) * 2) + hypot(x, 2.0) + atan(x, 2.0) + x^2.5 + 2.0^x
h24(x) = (d = any_of((a = x, b = [x])); d.a * d.b[1])
mutable struct B
    value::Any
end
mutable struct D
    set::Bool
    value::Any
end
m1(x) = (f = x; g = () -> (f = f * x; f); g(); g(); f)
m2(x) = (f = B(x); f.value = f.value * x; f.value = f.value * x; f.value)
m3(x) = (f = Ref{Any}(x); f[] = f[] * x; f[] = f[] * x; f[])
m4(x) = (f = Any[x]; f[1] = f[1] * x; f[1] = f[1] * x; f[1])
m5(x) = (f = x; g = () -> (f = f * x; 0); g(); g(); f)
m6(x) = (f = B(x); g = () -> (f.value = f.value * x; 0); g(); g(); f.value)
m7(x) = (f = x; g = () -> (f = f * f; 0); g(); g(); f)
m8(x) = (f = B(x); f.value = f.value * f.value; f.value = f.value * f.value; f.value)
s!(b, v) = (b.value = v; nothing)
p1(x) = (f = B(x); s!(f, any_of(f.value * x)); s!(f, any_of(f.value * x)); f.value)
p2(x) = (f = Ref{Any}(x); t!(f, any_of(f[] * x)); t!(f, any_of(f[] * x)); f[])
t!(b, v) = (b[] = v; nothing)
p3(x) = (f = [x]; u!(f, any_of(f[1] * x)); u!(f, any_of(f[1] * x)); f[1])
u!(b, v) = (b[1] = v; nothing)
p4(x) = (f = D(true, x); s!(f, any_of(f.value * x)); s!(f, any_of(f.value * x)); f.value)
p5(x) = (f = [x]; u!(f, any_of(f[1] * x)); f[1])
p6(x) = (f = [x]; u!(f, any_of(x)); f[1] * x)
p7(x) = (f = [x]; u!(f, any_of(x)); u!(f, any_of(x)); f[1] * x)
p8(x) = (f = [x]; u!(f, any_of(x)); y = f[1]; u!(f, any_of(x)); f[1] * y)
q1(x) = (f = Ref{Any}(x); t!(f, any_of(x)); f[] * x)
q2(x) = (f = Ref{Any}(x); t!(f, any_of(f[] * x)); f[])
q3(x) = (f = Ref{Any}(x); t!(f, any_of(x)); t!(f, any_of(x)); f[] * x)
q4(x) = (f = Ref{Any}(x); t!(f, any_of(f[])); t!(f, any_of(f[])); f[] * x)
q5(x) = (f = Ref{Any}(x); t!(f, any_of(f[])); f[] * x)
q6(x) = (f = Ref{Any}(x); t!(f, f[]); t!(f, f[]); f[] * x)
q7(x) = (f = Ref{Any}(x); t!(f, f[]); f[] * x * x)
q8(x) = (f = Ref{Any}(x); t!(f, f[] * x); f[] = f[] * x; f[])
q9(x) = (f = Ref{Any}(x); f[] = f[] * x; t!(f, f[] * x); f[])

near(a, b, tolerance) = abs(a - b) <= tolerance * (1 + abs(a))
function first_order(f, x)
    h = 1e-6
    d = derivative(f, x)
    return near(d, gradient(f, x)[1], 1e-10) && near(d, pullback(f, x)[2](1.0)[1], 1e-10) &&
        near(d, (f(x + h) - f(x - h)) / 2h, 1e-6)
end
function second_order(f, x)
    d = derivative(y -> derivative(f, y), x)
    h = 1e-6
    return near(d, derivative(y -> gradient(f, y)[1], x), 1e-10) &&
        near(d, gradient(y -> derivative(f, y), x)[1], 1e-10) &&
        near(d, gradient(y -> gradient(f, y)[1], x)[1], 1e-10) &&
        near(d, gradient(y -> pullback(f, y)[2](1.0)[1], x)[1], 1e-10) &&
        near(d, (derivative(f, x + h) - derivative(f, x - h)) / 2h, 1e-6)
end
"#;

const NAMES: &[&str] = &[
    "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12", "f13", "f14", "f15",
    "f16", "f17", "f18", "f19", "f20", "h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "h9", "h10",
    "h11", "h14", "h15", "h16", "h17", "h18", "h19", "h20", "h21", "h22", "h23", "h24", "m1", "m2",
    "m3", "m4", "m5", "m6", "m7", "m8", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "q1", "q2",
    "q3", "q4", "q5", "q6", "q7", "q8", "q9",
];

fn holds(session: &mut Session, text: &str) -> bool {
    let found = session.run("test", text);
    let found = found.unwrap_or_else(|errors| {
        panic!("{text}: {}", regraft_ir::render_all(&errors, false));
    });
    found.as_bool().expect("it is true or false")
}

#[test]
fn first_derivatives() {
    let mut session = session(PROGRAMS);
    for name in NAMES {
        assert!(holds(&mut session, &format!("first_order({name}, 1.3)")), "{name}");
    }
}

#[test]
fn first_derivatives_with_other_plans() {
    let plans = [
        (PlanKind::Naive, None),
        (PlanKind::Best, Some(Checkpoints::Snapshots(2))),
        (PlanKind::Best, Some(Checkpoints::Bytes(1))),
    ];
    for (plan, checkpoints) in plans {
        let mut session = session(PROGRAMS);
        session.set_tape_plan(plan, checkpoints);
        for name in NAMES {
            let text = format!("first_order({name}, 1.3)");
            assert!(holds(&mut session, &text), "{name} with {plan:?} and {checkpoints:?}");
        }
    }
}

#[test]
fn second_derivatives() {
    let mut session = session(PROGRAMS);
    for name in NAMES {
        assert!(holds(&mut session, &format!("second_order({name}, 1.3)")), "{name}");
    }
}
