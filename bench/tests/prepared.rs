//! The second and later calls of a prepared gradient allocate nothing.

use regraft_bench::memory::{Counting, allocations};
use regraft_exec::value::Array;
use regraft_exec::{EngineKind, Val};
use regraft_lang::{PreparedGradient, Session};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn session(text: &str) -> Session {
    let mut session = Session::new(&regraft_dialects::context());
    if let Err(errors) = session.run("test.jl", text) {
        panic!("{}", regraft_ir::render_all(&errors, false));
    }
    session
}

/// The allocations of one call.
fn allocations_of(gradient: &mut PreparedGradient, session: &mut Session, args: &[Val]) -> usize {
    let before = allocations();
    let found = gradient.call(session, args);
    let count = allocations() - before;
    if let Err(errors) = found {
        panic!("{}", regraft_ir::render_all(&errors, false));
    }
    count
}

/// Calls the gradient of `f` with each of these arguments in turn, several times. Only those of
/// the first round may allocate.
#[track_caller]
fn check(text: &str, rounds: &[&[Val]], expected: &str) {
    let mut session = session(text);
    let mut gradient = session.prepare_gradient("f").expect("there is such a function");
    let first = allocations_of(&mut gradient, &mut session, rounds[0]);
    assert!(first > 0, "the first call has to make the derivative");
    for args in &rounds[1..] {
        allocations_of(&mut gradient, &mut session, args);
    }
    for round in 0..130 {
        for args in rounds {
            let count = allocations_of(&mut gradient, &mut session, args);
            assert_eq!(count, 0, "round {round} of\n{text}");
        }
    }
    let found = gradient.call(&mut session, rounds[0]).expect("it was just called").clone();
    assert_eq!(session.show_gradient(&found), expected, "of\n{text}");
}

fn number(x: f64) -> Val {
    Val::F64(x)
}

fn vector(items: &[f64]) -> Val {
    Array::vector(items).into()
}

fn matrix(rows: usize, items: &[f64]) -> Val {
    Array::of(items, &[rows, items.len() / rows]).expect("the length fits").into()
}

#[test]
fn numbers() {
    let args = [number(3.0), number(2.0)];
    check("f(x, y) = x * x * y", &[&args], "value:    18.0\ngradient: (12.0, 9.0)\n");
}

#[test]
fn a_loop_with_an_array_on_its_tape() {
    // The derivative of the product by each factor is the product of the others.
    let text = "function f(x)\n y = 1.0\n for i in 1:length(x)\n y *= x[i]\n end\n y\n end";
    let args = [vector(&[2.0, 3.0, 5.0])];
    check(text, &[&args], "value:    30.0\ngradient: ([15.0, 10.0, 6.0],)\n");
}

#[test]
fn several_sizes_in_turn() {
    let text = "function f(x)\n y = 1.0\n for i in 1:length(x)\n y *= x[i]\n end\n y\n end";
    let long: Vec<f64> = (0..1000).map(|i| 1.0 + f64::from(i) / 1000.0).collect();
    let (short, long) = ([vector(&[2.0, 3.0])], [vector(&long)]);
    check(text, &[&short, &long], "value:    6.0\ngradient: ([3.0, 2.0],)\n");
}

#[test]
fn arrays_that_the_function_makes() {
    let text = "
        function f(x)
            y = zeros(length(x), 2)
            for i in 1:length(x)
                y[i, 1] = x[i]^2
                y[i, 2] = sin(y[i, 1])
            end
            z = copy(y)
            push!(x, 1.0)
            pop!(x)
            sum(z .* 2.0)
        end";
    // 2 x^2 + 2 sin(x^2) has the derivative 4 x + 4 x cos(x^2); at 0 it is 0.
    let args = [vector(&[0.0, 0.0])];
    check(text, &[&args], "value:    0.0\ngradient: ([0.0, 0.0],)\n");
}

#[test]
fn a_layer() {
    // At weights of zero, tanh is linear: by W it is s x', by b it is s, by x nothing.
    let text = "f(W, b, x) = sum(tanh.(W * x .+ b))";
    let args = [matrix(2, &[0.0; 4]), vector(&[0.0, 0.0]), vector(&[2.0, 3.0])];
    let expected = "value:    0.0\ngradient: ([2.0 3.0; 2.0 3.0], [1.0, 1.0], [0.0, 0.0])\n";
    check(text, &[&args], expected);
}

#[test]
fn recursion() {
    let text = "f(x, n) = n == 0 ? x : x * f(x, n - 1)";
    let args = [number(1.0), Val::I64(500)];
    check(text, &[&args], "value:    1.0\ngradient: (501.0, nothing)\n");
    let deep = [number(1.0), Val::I64(20_000)];
    check(text, &[&deep], "value:    1.0\ngradient: (20001.0, nothing)\n");
}

#[test]
fn a_stack_that_grows() {
    let text = "function f(x, limit)\n while x > limit\n x = x * x\n end\n x\n end";
    // Three squarings: x^8.
    let args = [number(0.5), number(0.01)];
    let other = [number(0.999), number(0.01)];
    check(text, &[&args, &other], "value:    0.00390625\ngradient: (0.0625, 0.0)\n");
}

#[test]
fn structures() {
    let text = "
        struct Layer; w::Matrix{Float64}; b::Vector{Float64}; end
        (l::Layer)(x) = l.w * x .+ l.b
        mutable struct Count; n::Float64; end
        function f(x)
            layers = [Layer([1.0 0.0; 0.0 1.0], [1.0, 2.0]), Layer([2.0 0.0; 0.0 2.0], [0.0, 0.0])]
            count = Count(1.0)
            for l in layers
                x = l(x)
                count.n *= sum(x)
            end
            r = Ref((1.0, 2.0, 3.0, 4.0, 5.0))
            r[] = (count.n, count.n, count.n, count.n, count.n)
            r[][1] + r[][5]
        end";
    // Twice s * 2 s with s = 3 + x1 + x2: 4 s^2, by each 8 s.
    check(text, &[&[vector(&[1.0, 1.0])]], "value:    100.0\ngradient: ([40.0, 40.0],)\n");
}

#[test]
fn calls_that_are_known_late() {
    let text = "
        pick(n) = n > 0 ? sin : cos
        hidden = Any[pick(1), x -> x * x]
        f(x) = hidden[2](x) + hidden[1](0.0) * x";
    check(text, &[&[number(3.0)]], "value:    9.0\ngradient: (6.0,)\n");
}

#[test]
fn results_may_be_kept() {
    let mut session = session("f(x) = sum(abs2, x)");
    let mut gradient = session.prepare_gradient("f").expect("there is such a function");
    let mut kept = Vec::new();
    for i in 0..200 {
        let x = [vector(&[f64::from(i), 1.0])];
        kept.push(gradient.call(&mut session, &x).expect("it has a gradient").gradient[0].clone());
    }
    for (i, gradient) in kept.iter().enumerate() {
        let gradient = gradient.as_array().and_then(Array::to_vec::<f64>);
        assert_eq!(gradient, Some(vec![2.0 * i as f64, 2.0]));
    }
    drop(kept);
    let x = [vector(&[1.0, 1.0])];
    allocations_of(&mut gradient, &mut session, &x);
    assert_eq!(allocations_of(&mut gradient, &mut session, &x), 0);
}

#[test]
fn an_error_leaves_it_in_order() {
    let mut session = session("f(x) = x[1] * x[2]");
    let mut gradient = session.prepare_gradient("f").expect("there is such a function");
    let (good, bad) = ([vector(&[1.0, 2.0])], [vector(&[1.0])]);
    for _ in 0..3 {
        let found = gradient.call(&mut session, &good).expect("it has a gradient");
        assert_eq!(found.value.as_f64(), Some(2.0));
        assert!(gradient.call(&mut session, &bad).is_err());
    }
    session.run("again.jl", "f(x) = 3.0 * x[1]").expect("it can be defined again");
    let found = gradient.call(&mut session, &bad).expect("it has a gradient");
    assert_eq!(found.value.as_f64(), Some(3.0));
}

/// The allocations of a call that comes after three others.
fn allocations_later(mut call: impl FnMut()) -> usize {
    (0..3).for_each(|_| call());
    let before = allocations();
    (0..100).for_each(|_| call());
    allocations() - before
}

#[test]
fn functions_and_gradients_that_rust_calls() {
    for engine in [EngineKind::Interpreter, EngineKind::Cranelift] {
        let mut session = session(
            "
            function f(x, w, n)
                y = tanh.(x .* w)
                s = 0.0
                for i in 1:n
                    y = y .* y .+ x
                    s += sum(y)
                end
                return s
            end
            g(x) = (x[1], sum(x))",
        );
        session.set_engine(engine).expect("there is such an engine");
        type F = fn(&[f64], f64, i64) -> f64;
        let f = session.compile::<F>("f").expect("it compiles");
        let g = session.compile::<fn(&[f64]) -> (f64, f64)>("g").expect("it compiles");
        let gradient = session.compile_gradient::<F>("f").expect("it has a gradient");
        let jvp = session.compile_jvp::<F>("f").expect("it has a derivative");
        let hvp = session.compile_hvp::<F>("f").expect("it has second derivatives");
        let (x, v) = ([0.1, 0.2, 0.3], [1.0, 0.0, 2.0]);
        let (mut dx, mut dw) = ([0.0; 3], 0.0);
        let figures = [
            allocations_later(|| assert!(f.call((&x, 0.5, 4)).is_ok())),
            allocations_later(|| assert!(g.call((&x,)).is_ok())),
            allocations_later(|| {
                assert!(gradient.call((&x, 0.5, 4), (&mut dx, &mut dw, ())).is_ok());
            }),
            allocations_later(|| assert!(jvp.call((&x, 0.5, 4), (&v, 1.0, ())).is_ok())),
            allocations_later(|| {
                let shadows = (&mut dx[..], &mut dw, ());
                assert!(hvp.call((&x, 0.5, 4), (&v, 1.0, ()), shadows).is_ok());
            }),
        ];
        assert_eq!(figures, [0; 5], "{engine:?}");
    }
}
