//! Functions of a session that Rust calls as its own.

use rayon::prelude::*;
use regraft_exec::typed::{ByMut, ByRef, ByValue, Fixed, Signature, TypedFunction};
use regraft_exec::value::{Array, Val};
use regraft_exec::{EngineKind, Limits, native_engines};
use regraft_ir::render_all;
use regraft_lang::Session;

fn session(text: &str, engine: EngineKind) -> Session {
    let mut session = Session::new(&regraft_dialects::context());
    session.set_engine(engine).expect("there is such an engine");
    if let Err(errors) = session.run("test.jl", text) {
        panic!("{}", render_all(&errors, false));
    }
    session
}

/// The interpreter, and the engines for native code of this machine.
fn engines() -> impl Iterator<Item = EngineKind> {
    std::iter::once(EngineKind::Interpreter).chain(native_engines())
}

/// The function by each engine.
#[track_caller]
fn compiled<F: Signature>(text: &str, function: &str) -> Vec<TypedFunction<F>> {
    let compiled = |engine| {
        let function = session(text, engine).compile::<F>(function);
        function.unwrap_or_else(|errors| panic!("{}", render_all(&errors, false)))
    };
    engines().map(compiled).collect()
}

/// The message of the error of compiling the function.
fn refused<F: Signature>(text: &str, function: &str) -> String {
    let result = session(text, EngineKind::Interpreter).compile::<F>(function);
    let errors = result.expect_err("it is refused");
    errors.iter().map(regraft_ir::Diagnostic::message).collect::<Vec<_>>().join("\n")
}

#[test]
fn numbers_and_truth_values() {
    for f in compiled::<fn(f64, i64) -> f64>("f(x, n) = x^n + 1", "f") {
        assert_eq!(f.call((3.0, 2)).unwrap(), 10.0);
        assert_eq!(f.call((2.0, 10)).unwrap(), 1025.0);
    }
    for f in compiled::<fn(f32, i32, bool) -> f32>("f(x, n, b) = b ? x * n : x", "f") {
        assert_eq!(f.call((1.5, 2, true)).unwrap(), 3.0);
        assert_eq!(f.call((1.5, 2, false)).unwrap(), 1.5);
    }
    for f in compiled::<fn(i8, i16) -> bool>("f(a, b) = a < b", "f") {
        assert!(f.call((-5, 300)).unwrap());
        assert!(!f.call((5, -300)).unwrap());
    }
    for f in compiled::<fn() -> i64>("f() = 42", "f") {
        assert_eq!(f.call(()).unwrap(), 42);
    }
    for f in compiled::<fn(f64) -> f64>("", "x -> 2x") {
        assert_eq!(f.call((21.0,)).unwrap(), 42.0);
    }
}

#[test]
fn results_of_several_parts() {
    let text = "f(x) = (sum(x), length(x), isempty(x))";
    for f in compiled::<fn(&[f64]) -> (f64, i64, bool)>(text, "f") {
        assert_eq!(f.call((&[1.0, 2.0],)).unwrap(), (3.0, 2, false));
        assert_eq!(f.call((&[],)).unwrap(), (0.0, 0, true));
    }
    for f in compiled::<fn(&[f64], f64) -> Vec<f64>>("f(x, by) = x .* by", "f") {
        assert_eq!(f.call((&[1.0, 2.0], 3.0)).unwrap(), [3.0, 6.0]);
    }
    for f in compiled::<fn(&mut [i64])>("f(x) = (x[1] = 7)", "f") {
        let mut x = [1, 2];
        f.call((&mut x,)).unwrap();
        assert_eq!(x, [7, 2]);
    }
}

#[test]
fn slices_are_not_copied() {
    let text = "
        function axpy!(y, a, x)
            for i in eachindex(y, x)
                y[i] += a * x[i]
            end
            return nothing
        end";
    for f in compiled::<fn(&mut [f64], f64, &[f64])>(text, "axpy!") {
        assert_eq!(f.copies(), [false; 3]);
        let (mut y, x) = (vec![1.0, 2.0, 3.0], [10.0, 20.0, 30.0]);
        for _ in 0..3 {
            f.call((&mut y, 0.5, &x)).unwrap();
        }
        assert_eq!(y, [16.0, 32.0, 48.0]);
        // The same elements twice.
        let sum = compiled::<fn(&[f64], &[f64]) -> f64>("f(x, y) = sum(x) + sum(y)", "f");
        assert_eq!(sum[0].call((&x, &x[1..])).unwrap(), 110.0);
    }
}

#[test]
fn a_slice_that_cannot_be_shown_to_be_only_read_is_copied() {
    let text = "
        function f(x, i)
            parts = [copy(x), x]
            parts[i][1] = 100.0
            return parts[1][1] + parts[2][1]
        end";
    for f in compiled::<fn(&[f64], i64) -> f64>(text, "f") {
        assert_eq!(f.copies(), [true, false]);
        let x = [1.0, 2.0];
        assert_eq!(f.call((&x, 1)).unwrap(), 101.0);
        assert_eq!(f.call((&x, 2)).unwrap(), 101.0);
        assert_eq!(x, [1.0, 2.0]);
    }
}

#[test]
fn arrays_that_escape_are_copied() {
    for f in compiled::<fn(&mut [f64]) -> Vec<f64>>("f(x) = x", "f") {
        let mut x = vec![1.0, 2.0];
        let first = f.call((&mut x,)).unwrap();
        x[0] = 5.0;
        assert_eq!(first, [1.0, 2.0]);
        assert_eq!(f.call((&mut x,)).unwrap(), [5.0, 2.0]);
    }
}

#[test]
fn arrays_on_slices_do_not_grow() {
    for text in ["f(x) = (push!(x, 1.0); 0.0)", "f(x) = pop!(x)", "f(x) = (empty!(x); 0.0)"] {
        for f in compiled::<fn(&mut [f64]) -> f64>(text, "f") {
            for mut x in [vec![1.0, 2.0], vec![]] {
                let before = x.clone();
                let error = f.call((&mut x,)).expect_err("it would grow").render(false);
                assert!(error.contains("on a slice of Rust"), "{text}: {error}");
                assert_eq!(x, before);
            }
        }
    }
}

#[test]
fn errors_have_their_places() {
    let text = "function f(x, i)\n    x[1] = 7.0\n    return x[i]\nend";
    for f in compiled::<fn(&mut [f64], i64) -> f64>(text, "f") {
        let mut x = [1.0, 2.0];
        for _ in 0..2 {
            let error = f.call((&mut x, 3)).expect_err("it is out of bounds").render(false);
            assert!(error.contains("BoundsError"), "{error}");
            assert!(error.contains("test.jl:3"), "{error}");
            // What was written before is there.
            assert_eq!(x, [7.0, 2.0]);
            assert_eq!(f.call((&mut x, 2)).unwrap(), 2.0);
        }
    }
}

/// The second and later calls of native code are made without a machine until something needs one.
#[test]
fn calls_are_alike_whatever_the_ones_before_did() {
    let text = "
        deep(n) = n == 0 ? 0.0 : 1.0 + deep(n - 1)
        function f(x, k)
            k == 0 && return sum([a * a for a in x])
            k < 0 && return deep(-k)
            return x[k] / 2
        end";
    for f in compiled::<fn(&[f64], i64) -> f64>(text, "f") {
        let x = [3.0, 4.0];
        let error = |k| f.call((&x, k)).expect_err("it fails").render(false);
        let (bounds, depth) = (error(3), error(-1_000_000));
        assert!(bounds.contains("BoundsError") && bounds.contains("[3]"), "{bounds}");
        assert!(depth.contains("depth limit"), "{depth}");
        for _ in 0..3 {
            for (k, result) in [(1, 1.5), (0, 25.0), (2, 2.0), (-100, 100.0), (1, 1.5)] {
                assert_eq!(f.call((&x, k)).unwrap(), result);
            }
            assert_eq!(error(3), bounds);
            assert_eq!(f.call((&x, 2)).unwrap(), 2.0);
            assert_eq!(error(-1_000_000), depth);
            assert_eq!(f.call((&x, 0)).unwrap(), 25.0);
        }
    }
}

#[test]
fn the_memory_limit_is_that_of_each_call() {
    let text = "grow(n) = length(zeros(n)) + length(zeros(2n))";
    for engine in engines() {
        let mut session = session(text, engine);
        session.set_limits(Limits { memory: 1 << 20, ..Limits::default() });
        let f = session.compile::<fn(i64) -> i64>("grow").expect("it compiles");
        let mut kept = Vec::new();
        for _ in 0..3 {
            assert_eq!(f.call((10_000,)).unwrap(), 30_000);
            // What lives besides is more than the limit.
            kept.push(Val::from(Array::vector(&[0.0; 300_000])));
            let error = f.call((100_000,)).expect_err("it needs 2.4 MB");
            assert!(error.message().contains("the memory limit of 1048576 bytes"), "{error}");
        }
    }
}

#[test]
fn what_is_not_of_its_type_is_refused() {
    let error = refused::<fn(&[f64]) -> i64>("f(x) = sum(x)", "f");
    assert!(error.contains("returns a value of type Float64"), "{error}");
    assert!(error.contains("`i64` in Rust is Int64"), "{error}");
    let error = refused::<fn(i64) -> f64>("f(x::Float64) = x", "f");
    assert!(error.contains("MethodError") && error.contains("Int64"), "{error}");
    let error = refused::<fn(&[f64]) -> f64>("f(x) = (x[1] = 2.0; x[2])", "f");
    assert!(error.contains("writes to argument 1, which is `&[f64]`"), "{error}");
    let error = refused::<fn(f64) -> f64>("n = 1.0\nf(x) = (global n += 1.0; x)", "f");
    assert!(error.contains("global variable"), "{error}");
    let error = refused::<fn(f64) -> f64>("f(x) = x", "g");
    assert!(error.contains('g'), "{error}");
}

#[test]
fn more_parameters_are_given_by_their_ways() {
    type Parts =
        (ByRef<[f64]>, ByMut<[f64]>, ByValue<f64>, ByValue<f64>, ByValue<i64>, ByValue<i64>);
    let text = "f(x, y, a, b, i, j) = (y[j] = x[i] * a + b)";
    for f in compiled::<(Parts, f64)>(text, "f") {
        let mut y = [0.0, 0.0];
        assert_eq!(f.call((&[3.0], &mut y, 2.0, 1.0, 1, 2)).unwrap(), 7.0);
        assert_eq!(y, [0.0, 7.0]);
    }
}

#[test]
fn a_function_stays_what_it_is() {
    let mut session = session("f(x) = x + 1", EngineKind::Cranelift);
    let first = session.compile::<fn(f64) -> f64>("f").unwrap();
    session.run("again.jl", "f(x) = x + 2").unwrap();
    let second = session.compile::<fn(f64) -> f64>("f").unwrap();
    drop(session);
    assert_eq!((first.call((1.0,)).unwrap(), second.call((1.0,)).unwrap()), (2.0, 3.0));
    drop(first);
    assert_eq!(second.clone().call((2.0,)).unwrap(), 4.0);
}

#[test]
fn gradients() {
    let text = "f(x, n, s) = s * x[1]^n * x[2]";
    for engine in engines() {
        let mut session = session(text, engine);
        type F = fn(&[f64], i64, f64) -> f64;
        let gradient = session.compile_gradient::<F>("f").unwrap();
        let jvp = session.compile_jvp::<F>("f").unwrap();
        let hvp = session.compile_hvp::<F>("f").unwrap();
        drop(session);
        let x = [3.0, 5.0];
        let (mut dx, mut ds) = ([7.0, 7.0], 7.0);
        for s in [2.0, 1.0, 2.0] {
            // By x[1]: 2 x[1] x[2] s, by x[2]: x[1]^2 s, by s: x[1]^2 x[2].
            let value = gradient.call((&x, 2, s), (&mut dx, (), &mut ds)).unwrap();
            assert_eq!((value, dx, ds), (45.0 * s, [30.0 * s, 9.0 * s], 45.0));
            let found = gradient.value_and_gradient((&x, 2, s)).unwrap();
            assert_eq!(found, (45.0 * s, (vec![30.0 * s, 9.0 * s], (), 45.0)));
            let along = jvp.call((&x, 2, s), (&[1.0, 2.0], (), 1.0)).unwrap();
            assert_eq!(along, (45.0 * s, 30.0 * s + 18.0 * s + 45.0));
            hvp.call((&x, 2, s), (&[1.0, 0.0], (), 0.0), (&mut dx, (), &mut ds)).unwrap();
            assert_eq!((dx, ds), ([10.0 * s, 6.0 * s], 30.0));
        }
        let error = gradient.call((&x, 2, 1.0), (&mut dx[..1], (), &mut ds)).unwrap_err();
        assert!(error.message().contains("DimensionMismatch"), "{}", error.message());
        let error = gradient.call((&x[..1], 2, 1.0), (&mut dx[..1], (), &mut ds)).unwrap_err();
        assert!(error.message().contains("BoundsError"), "{}", error.message());
    }
}

#[test]
fn pullbacks_within_a_function() {
    let text = "
        function rows(x, y)
            _, back = pullback((a, b) -> (a * b, a / b), x, y)
            of_product, of_ratio = back((1.0, 0.0)), back((0.0, 1.0))
            return (of_product..., of_ratio...)
        end";
    for rows in compiled::<fn(f64, f64) -> (f64, f64, f64, f64)>(text, "rows") {
        assert_eq!(rows.call((6.0, 2.0)).unwrap(), (2.0, 6.0, 0.5, -1.5));
    }
}

#[test]
fn a_gradient_by_arguments_that_are_written_to() {
    let text = "function f(x, y)\n y .= x .* y\n return sum(y)\n end";
    for engine in engines() {
        let mut session = session(text, engine);
        let gradient = session.compile_gradient::<fn(&[f64], &mut [f64]) -> f64>("f").unwrap();
        let (mut y, mut dx, mut dy) = ([3.0, 4.0], [0.0; 2], [0.0; 2]);
        let value = gradient.call((&[1.0, 2.0], &mut y), (&mut dx, &mut dy)).unwrap();
        assert_eq!((value, y), (11.0, [3.0, 8.0]));
        assert_eq!((dx, dy), ([3.0, 4.0], [1.0, 2.0]));
    }
}

#[test]
fn a_gradient_alone_by_some_of_the_arguments() {
    let text = "f(x, w, n) = sum(abs2, x .* w) * n";
    for engine in engines() {
        let mut session = session(text, engine);
        type F = ((ByRef<[f64]>, Fixed<ByRef<[f64]>>, ByValue<i64>), ());
        let gradient = session.compile_gradient::<F>("f").unwrap();
        let mut dx = [7.0, 7.0];
        for _ in 0..2 {
            // By x: 2 n w^2 x.
            gradient.call((&[1.0, 2.0], &[3.0, 4.0], 5), (&mut dx, (), ())).unwrap();
            assert_eq!(dx, [90.0, 320.0]);
        }
        type OfAll = (<F as Signature>::Params, f64);
        let gradient = session.compile_gradient::<OfAll>("f").unwrap();
        let found = gradient.value_and_gradient((&[1.0, 2.0], &[3.0, 4.0], 5)).unwrap();
        assert_eq!(found, (365.0, (vec![90.0, 320.0], (), ())));
    }
}

#[test]
fn a_gradient_for_lengths_is_right_for_others_too() {
    // By x: 2 n w^2 x, times what the closure has captured.
    let text = "f(x, w, n) = sum(abs2, x .* w) * n";
    for engine in engines() {
        let mut session = session(text, engine);
        type F = ((ByRef<[f64]>, Fixed<ByRef<[f64]>>, ByValue<i64>), ());
        for (function, factor) in
            [("f", 1.0), ("let c = 3.0; (x, w, n) -> c * f(x, w, n) end", 3.0)]
        {
            let made_for = (&[0.0; 2][..], &[0.0; 2][..], 1);
            let gradient = session.compile_gradient_for::<F>(function, &made_for).unwrap();
            let mut dx = [7.0; 2];
            gradient.call((&[1.0, 2.0], &[3.0, 4.0], 5), (&mut dx, (), ())).unwrap();
            assert_eq!(dx, [90.0 * factor, 320.0 * factor]);
            let mut dx = [7.0; 3];
            gradient.call((&[1.0, 2.0, 3.0], &[3.0, 4.0, 1.0], 5), (&mut dx, (), ())).unwrap();
            assert_eq!(dx, [90.0 * factor, 320.0 * factor, 30.0 * factor]);
            let different =
                gradient.call((&[1.0, 2.0], &[3.0, 4.0, 1.0], 5), (&mut dx[..2], (), ()));
            let message = different.unwrap_err().message().to_owned();
            assert!(message.contains("DimensionMismatch"), "{message}");
        }
    }
}

#[test]
fn a_gradient_without_variables_is_a_mistake() {
    let mut session = session("f(x, n) = x * n", EngineKind::Interpreter);
    type F = ((Fixed<ByValue<f64>>, ByValue<i64>), f64);
    let errors = session.compile_gradient::<F>("f").unwrap_err();
    let message = errors[0].message();
    assert!(message.contains("no argument has a derivative"), "{message}");
}

#[test]
fn one_slice_that_is_passed_twice_has_two_derivatives() {
    for engine in engines() {
        let mut session = session("f(x, y) = x[1] * y[2] + y[1]", engine);
        let gradient = session.compile_gradient::<fn(&[f64], &[f64]) -> f64>("f").unwrap();
        let (x, mut dx, mut dy) = ([3.0, 5.0], [7.0; 2], [7.0; 2]);
        assert_eq!(gradient.call((&x, &x), (&mut dx, &mut dy)).unwrap(), 18.0);
        assert_eq!((dx, dy), ([5.0, 0.0], [1.0, 3.0]));
    }
}

#[test]
fn a_gradient_by_an_argument_that_is_kept_and_changed() {
    // What is written over has no part in the result: y[1] is x[2] x[1]^2 in the end.
    let text = "function f(y, x)\n y[1] = x[1]\n z = y\n z[1] *= z[1]\n y[1] *= x[2]\n return y[1] + y[2]\n end";
    for engine in engines() {
        let mut session = session(text, engine);
        let gradient = session.compile_gradient::<fn(&mut [f64], &[f64])>("f").unwrap();
        let (mut y, mut dy, mut dx) = ([3.0, 4.0], [7.0; 2], [7.0; 2]);
        gradient.call((&mut y, &[3.0, 5.0]), (&mut dy, &mut dx)).unwrap();
        assert_eq!((y, dy, dx), ([45.0, 4.0], [0.0, 1.0], [30.0, 9.0]));
    }
}

#[test]
fn threads_share_a_gradient() {
    for engine in engines() {
        let mut session = session("f(x, p) = sum(abs2, x .* p) / p", engine);
        let gradient = session.compile_gradient::<fn(&[f64], f64) -> f64>("f").unwrap();
        let gradient_at = |p: i32| {
            let (mut dx, mut dp) = ([0.0; 3], 0.0);
            gradient.call((&[1.0, 2.0, 3.0], f64::from(p)), (&mut dx, &mut dp)).map(|_| (dx, dp))
        };
        let gradients: Vec<_> =
            (1..500i32).into_par_iter().map(gradient_at).collect::<Result<_, _>>().unwrap();
        for (p, (dx, dp)) in (1..500i32).zip(gradients) {
            let p = f64::from(p);
            // p times the sum of squares.
            for (d, x) in dx.iter().zip([1.0, 2.0, 3.0]) {
                assert!((d - 2.0 * p * x).abs() < 1e-9 * p);
            }
            assert!((dp - 14.0).abs() < 1e-9);
        }
    }
}

#[test]
fn threads_share_a_function() {
    let text = "
        function f(x, i)
            s = 0.0
            for a in x, b in [a, 1.0]
                s += b * i
            end
            i % 7 == 0 ? x[4] : s
        end";
    for f in compiled::<fn(&[f64], i64) -> f64>(text, "f") {
        let x = [1.0, 2.0, 3.0];
        let results: Vec<_> = (0..1000i64).into_par_iter().map(|i| f.call((&x, i))).collect();
        for (i, result) in (0..).zip(results) {
            match result {
                Ok(result) => assert_eq!(result, 9.0 * f64::from(i)),
                Err(error) => assert!(i % 7 == 0 && error.message().contains("BoundsError")),
            }
        }
        // Threads that come and go.
        for _ in 0..3 {
            let f = f.clone();
            let result = std::thread::spawn(move || f.call((&[1.0], 2)).unwrap());
            assert_eq!(result.join().unwrap(), 4.0);
        }
    }
}
