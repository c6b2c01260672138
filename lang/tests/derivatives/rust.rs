//! Derivatives asked for from Rust.

use regraft_ad::{Checkpoints, PlanKind};
use regraft_exec::{EngineKind, Limits, Val};
use regraft_lang::Mode;

use super::session;

fn vector(session: &mut regraft_lang::Session, values: &[f64]) -> Val {
    let texts: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    session.run("vector", &format!("[{}]", texts.join(", "))).expect("it is an array")
}

fn text(session: &mut regraft_lang::Session, value: &Val) -> String {
    session.show(value)
}

#[test]
fn gradients_of_functions_by_name_and_of_expressions() {
    let mut session = session("f(x, y) = x * x * y\n");
    let args = [Val::F64(3.0), Val::F64(2.0)];
    let found = session.gradient("f", &args).expect("it has a gradient");
    assert_eq!(found.value.as_f64(), Some(18.0));
    assert_eq!(found.gradient[0].as_f64(), Some(12.0));
    assert_eq!(found.gradient[1].as_f64(), Some(9.0));
    let found = session.gradient("x -> 2x", &args[..1]).expect("it has a gradient");
    assert_eq!(found.gradient[0].as_f64(), Some(2.0));
    let found = session.gradient_of_call("f(3.0, 2)", Mode::Forward).expect("it has a gradient");
    assert_eq!(found.gradient[0].as_f64(), Some(12.0));
    assert!(matches!(found.gradient[1], Val::Unit));
}

#[test]
fn the_rest_of_the_interface() {
    let mut session = session("f(x) = x[1]^2 * x[2]\ng(x) = [x[1], x[1] * x[2]]\n");
    let x = vector(&mut session, &[3.0, 2.0]);
    let v = vector(&mut session, &[1.0, 0.0]);
    assert_eq!(session.derivative("sin", 0.0).unwrap().as_f64(), Some(1.0));
    let jacobian = session.jacobian("g", &x).unwrap();
    assert_eq!(text(&mut session, &jacobian), "[1.0 0.0; 2.0 3.0]");
    let hessian = session.hessian("f", &x).unwrap();
    assert_eq!(text(&mut session, &hessian), "[4.0 6.0; 6.0 0.0]");
    let hvp = session.hvp("f", &x, &v).unwrap();
    assert_eq!(text(&mut session, &hvp), "[4.0, 6.0]");
    let (value, back) = session.pullback("f", std::slice::from_ref(&x)).unwrap();
    assert_eq!(value.as_f64(), Some(18.0));
    for _ in 0..2 {
        let gradient = session.call_value(&back, &[Val::F64(1.0)]).unwrap();
        assert_eq!(text(&mut session, &gradient), "([12.0, 9.0],)");
    }
    let push = session.pushforward("f", std::slice::from_ref(&x)).unwrap();
    let tangent = session.call_value(&push, std::slice::from_ref(&v)).unwrap();
    assert_eq!(tangent.as_f64(), Some(12.0));
}

#[test]
fn a_prepared_gradient() {
    let mut session = session("f(x, s) = s * sum(abs2, x)\n");
    let mut gradient = session.prepare_gradient("f").unwrap();
    let x = vector(&mut session, &[1.0, 2.0]);
    let first = gradient.call(&mut session, &[x.clone(), Val::F64(1.0)]).unwrap().clone();
    assert_eq!(text(&mut session, &first.gradient[0]), "[2.0, 4.0]");
    let second = gradient.call(&mut session, &[x, Val::F64(10.0)]).unwrap().clone();
    assert_eq!(second.value.as_f64(), Some(50.0));
    assert_eq!(text(&mut session, &second.gradient[0]), "[20.0, 40.0]");
    assert_eq!(second.gradient[1].as_f64(), Some(5.0));
    // What is held stays what it was.
    assert_eq!(text(&mut session, &first.gradient[0]), "[2.0, 4.0]");
    // Other shapes, then another definition.
    let x = vector(&mut session, &[1.0, 2.0, 3.0]);
    let third = gradient.call(&mut session, &[x.clone(), Val::F64(1.0)]).unwrap();
    assert_eq!(text(&mut session, &third.gradient[0]), "[2.0, 4.0, 6.0]");
    session.run("again.jl", "f(x, s) = s * sum(x)").unwrap();
    let fourth = gradient.call(&mut session, &[x, Val::F64(2.0)]).unwrap();
    assert_eq!(text(&mut session, &fourth.gradient[0]), "[2.0, 2.0, 2.0]");
}

#[test]
fn a_prepared_gradient_of_one_array_twice() {
    let mut session = session("f(x, y) = x[1] * y[1]\n");
    let mut gradient = session.prepare_gradient("f").unwrap();
    let x = vector(&mut session, &[3.0]);
    let y = vector(&mut session, &[5.0]);
    let apart = gradient.call(&mut session, &[x.clone(), y.clone()]).unwrap();
    assert_eq!(text(&mut session, &apart.gradient[0]), "[5.0]");
    let same = gradient.call(&mut session, &[x.clone(), x.clone()]).unwrap();
    assert_eq!(text(&mut session, &same.gradient[0]), "[6.0]");
    let apart = gradient.call(&mut session, &[y, x]).unwrap();
    assert_eq!(text(&mut session, &apart.gradient[0]), "[3.0]");
}

/// The gradients of a function for some lengths and for any, which are the same but for rounding, as cotangents are
/// added in another order.
#[track_caller]
fn for_lengths(program: &str, calls: &[&str]) {
    let mut session = session(program);
    for call in calls {
        session.set_for_lengths(false);
        let any = session.gradient_of_call(call, Mode::Reverse).unwrap();
        session.set_for_lengths(true);
        let certain = session.gradient_of_call(call, Mode::Reverse).unwrap();
        assert_eq!(any.value.as_f64(), certain.value.as_f64(), "{call}");
        let (any, certain) = (Val::tuple(any.gradient), Val::tuple(certain.gradient));
        let distance = session.run("f", "(a, b) -> sum(map((x, y) -> sum(abs, x .- y), a, b))");
        let distance = session.call_value(&distance.unwrap(), &[any, certain]).unwrap();
        assert!(distance.as_f64().unwrap() < 1e-12, "{call}: {distance:?}");
    }
}

#[test]
fn gradients_for_certain_lengths() {
    let triangle = "function f(a, l, x)
        y, at = a .* x, 1
        for j in 1:length(x), i in j+1:length(x)
            y[i] += l[at] * x[j]
            at += 1
        end
        sum(abs2, y)
    end";
    for_lengths(
        triangle,
        &["f([1.0, 2.0, 3.0], [0.5, 0.25, 2.0], [3.0, 1.0, -1.0])", "f([1.0], Float64[], [2.0])"],
    );
    for_lengths(
        "f(W, b, X) = sum(tanh.(W * X .+ b))",
        &[
            "f([0.1i * j for i in 1:3, j in 1:2], [0.1, 0.2, 0.3], [0.3i - j for i in 1:2, j in 1:4])",
            "f(zeros(1, 2), [0.5], [1.0 2.0 3.0; 4.0 5.0 6.0])",
        ],
    );
    // An array that grows is not as long as it was.
    for_lengths(
        "function f(x)
            y = copy(x)
            push!(y, x[1] * x[2])
            push!(x, y[end])
            s = 0.0
            for v in x
                s += v * v
            end
            s + prod(y)
        end",
        &["f([1.5, 2.5])"],
    );
}

#[test]
fn a_gradient_prepared_for_lengths_is_one_for_any() {
    let mut session = session("f(x, s) = s * sum(abs2, x)\n");
    let x = vector(&mut session, &[1.0, 2.0]);
    let args = [x, Val::F64(1.0)];
    let mut gradient = session.prepare_gradient_for("f", &args).unwrap();
    let first = gradient.call(&mut session, &args).unwrap().clone();
    assert_eq!(text(&mut session, &first.gradient[0]), "[2.0, 4.0]");
    let longer = vector(&mut session, &[1.0, 2.0, 3.0]);
    let second = gradient.call(&mut session, &[longer, Val::F64(2.0)]).unwrap().clone();
    assert_eq!(text(&mut session, &second.gradient[0]), "[4.0, 8.0, 12.0]");
    assert_eq!(second.gradient[1].as_f64(), Some(14.0));
    session.run("again.jl", "f(x, s) = s * sum(x)").unwrap();
    let third = gradient.call(&mut session, &args).unwrap();
    assert_eq!(text(&mut session, &third.gradient[0]), "[1.0, 1.0]");
}

#[test]
fn all_plans_give_the_same() {
    let mut session = session("f(x) = (for i in 1:5 x = sin(x) * x end; x)\n");
    let best = session.gradient("f", &[Val::F64(1.25)]).unwrap();
    session.set_tape_plan(PlanKind::Naive, None);
    let naive = session.gradient("f", &[Val::F64(1.25)]).unwrap();
    assert_eq!(best.gradient[0].as_f64(), naive.gradient[0].as_f64());
}

/// Programs that make steps in time, in the ways that people write them.
const IN_TIME: &str = "
function heat!(u, n, k)
    v = zeros(length(u))
    for t in 1:n
        for i in 2:length(u)-1
            v[i] = u[i] + k * sin(u[i-1] - 2 * u[i] + u[i+1])
        end
        for i in 2:length(u)-1
            u[i] = v[i]
        end
    end
    return u
end
in_place(u, k) = (w = copy(u); heat!(w, 20, k); sum(w .* w))
function handed_on(u, k)
    for t in 1:20
        u = sin.(k .* u) .+ reverse(u)
    end
    return u[1] * u[2]
end
function pendulum(q, k)
    p = 0.0
    for t in 1:50
        p = p - k * sin(q)
        q = q + k * p
    end
    return q * p
end
";

#[test]
fn few_snapshots_give_the_same() {
    let mut session = session(IN_TIME);
    let u = vector(&mut session, &[0.3, 0.9, -0.2, 0.5]);
    let calls = [
        ("in_place", vec![u.clone(), Val::F64(0.1)]),
        ("handed_on", vec![u, Val::F64(0.7)]),
        ("pendulum", vec![Val::F64(0.4), Val::F64(0.1)]),
    ];
    let mut all = Vec::new();
    for limit in [None, Some(Checkpoints::Snapshots(3)), Some(Checkpoints::Bytes(200))] {
        session.set_tape_plan(PlanKind::Best, limit);
        let mut found = Vec::new();
        for (f, args) in &calls {
            let gradient = session.gradient(f, args).unwrap().gradient;
            for part in &gradient {
                match part.as_array() {
                    Some(array) => found.extend(array.to_vec::<f64>().unwrap()),
                    None => found.push(part.as_f64().unwrap()),
                }
            }
        }
        all.push(found);
    }
    for (i, &want) in all[0].iter().enumerate() {
        for have in &all[1..] {
            assert!((have[i] - want).abs() <= 1e-12 * want.abs().max(1.0), "{} {want}", have[i]);
        }
    }
}

#[test]
fn snapshots_take_less_memory() {
    let text = "
function f(x, n)
    for i in 1:n
        x = sin(x) * x + cos(x)
    end
    return x
end
";
    let mut session = session(text);
    let args = [Val::F64(1.25), Val::I64(20_000)];
    let limits = |memory| Limits { memory, ..Limits::default() };
    let wanted = session.gradient("f", &args).unwrap().gradient[0].as_f64();
    // 20,000 iterations keep 8 bytes each at least.
    session.set_limits(limits(100_000));
    assert!(session.gradient("f", &args).is_err());
    session.set_tape_plan(PlanKind::Best, Some(Checkpoints::Bytes(1_000)));
    let found = session.gradient("f", &args).unwrap().gradient[0].as_f64();
    assert!((found.unwrap() - wanted.unwrap()).abs() <= 1e-9 * wanted.unwrap().abs());
}

#[test]
fn the_gradient_alone_is_made_for_native_code_where_there_is_that() {
    let mut session = session("f(x) = sum(map(cos, x))\n");
    let mut found = Vec::new();
    for engine in [EngineKind::Interpreter, EngineKind::Cranelift] {
        session.set_engine(engine).unwrap();
        let call = session.gradient_alone_call("f([0.1i for i in 1:40])", Mode::Reverse).unwrap();
        let has_strips = call.module.to_string().contains("mem.map");
        assert_eq!(has_strips, engine == EngineKind::Cranelift);
        let gradient = session.with_interpreter(&call.module, |interpreter| {
            interpreter.call_value(&call.callee, &call.args).unwrap()
        });
        found.push(session.show(&gradient));
    }
    assert_eq!(found[0], found[1]);
}
