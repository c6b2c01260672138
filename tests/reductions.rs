//! Gradients of sums over Kronecker products: what `reduction-factor` makes of them is the same, bit
//! for bit, and takes O(n² + m²) instructions.

use regraft::dialects::context;
use regraft::exec::value::{Array, Val};
use regraft::exec::{Engine, Interpreter};
use regraft::ir::Module;
use regraft::lang::Session;
use regraft::passes::{PassRegistry, Pipeline, RunOptions, run_pipeline};
use regraft::testing::{FloatMatch, Observation};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/text/reduction-factor");

/// Gradients after `O2`, each a function of two matrices.
const GRADIENTS: [&str; 4] = [
    "the_gradient_of_four_loops",
    "the_gradient_of_a_product_in_memory",
    "the_gradient_of_a_copied_product",
    "the_gradient_of_a_product_that_may_trap",
];

fn module(name: &str) -> Module {
    let text = std::fs::read_to_string(format!("{FOLDER}/{name}.ir")).unwrap();
    regraft::syntax::parse_module(&context(), name, &text).unwrap()
}

fn after(mut module: Module, pipeline: &str) -> Module {
    let pipeline = Pipeline::parse(&PassRegistry::standard(), pipeline).unwrap();
    run_pipeline(&mut module, &pipeline, &RunOptions::default()).unwrap();
    module
}

/// A matrix of numbers that are all different, and of special ones if `special` is above 0.
fn matrix(rows: usize, columns: usize, special: usize) -> Val {
    let specials = [f64::NAN, f64::INFINITY, -0.0, f64::NEG_INFINITY, 5e-324, f64::MAX, 0.0];
    let items: Vec<f64> = (0..rows * columns)
        .map(|i| match special {
            0 => (i as f64 * 1.7 + rows as f64).sin(),
            _ => match (i * 5 + special) % 11 {
                kind if kind < special => specials[(i + kind) % specials.len()],
                _ => (i as f64).cos() * 1e3,
            },
        })
        .collect();
    Val::from(Array::of(&items, &[rows, columns]).unwrap())
}

/// The result of a call, with the arguments after it, and the number of instructions.
fn run(module: &Module, args: &[Val]) -> (Observation, u64) {
    let mut engine = Interpreter::new(module);
    let result = engine.call("gradient", args).unwrap();
    let values: Vec<Val> = std::iter::once(result).chain(args.iter().cloned()).collect();
    (Observation::of(module.ctx(), values.iter()), engine.instructions())
}

#[test]
fn gradients_are_the_same_bit_for_bit() {
    let sizes = [(0, 0), (0, 2), (1, 0), (1, 1), (2, 1), (1, 3), (2, 3), (4, 3)];
    for name in GRADIENTS {
        let before = module(name);
        let changed = after(module(name), "reduction-factor");
        for (rows, columns) in sizes {
            for (p, q) in sizes {
                for special in [0, 1, 4] {
                    let (a, b) = (matrix(rows, columns, special), matrix(p, q, special));
                    for args in [[a.clone(), b.clone()], [a.clone(), a]] {
                        let (expected, found) = (run(&before, &args).0, run(&changed, &args).0);
                        let same = found.matches(&expected, FloatMatch::Exact);
                        assert!(same, "{name}, {rows}x{columns} and {p}x{q}, {special}");
                    }
                }
            }
        }
    }
}

#[test]
fn equal_arguments_share_a_shadow() {
    for name in GRADIENTS {
        let a = matrix(3, 2, 0);
        let changed = after(module(name), "reduction-factor");
        let result = Interpreter::new(&changed).call("gradient", &[a.clone(), a]).unwrap();
        let parts = result.as_fields().unwrap();
        let [Val::Array(da), Val::Array(db)] = parts else { panic!("{result:?}") };
        assert!(da.to_vec::<f64>() == db.to_vec::<f64>(), "{name}");
    }
}

/// Checks that a gradient with 20x20 and 40x40 numbers takes at most so much of what it took before.
#[track_caller]
fn check_ratio(name: &str, pipeline: &str, most: f64) {
    let args = [matrix(20, 20, 0), matrix(40, 40, 0)];
    let before = run(&module(name), &args).1;
    let now = run(&after(module(name), pipeline), &args).1;
    let ratio = now as f64 / before as f64;
    assert!(ratio <= most, "{name}: {now} of {before} instructions, {ratio:.4}");
}

#[test]
fn the_gradient_of_four_loops_has_two() {
    check_ratio("the_gradient_of_four_loops", "reduction-factor", 0.02);
}

#[test]
fn the_gradient_of_a_product_in_memory_does_not_run_through_it() {
    check_ratio("the_gradient_of_a_product_in_memory", "reduction-factor", 0.02);
    check_ratio("the_gradient_of_a_copied_product", "reduction-factor", 0.1);
    check_ratio("the_gradient_of_a_product_that_may_trap", "reduction-factor", 0.02);
}

#[test]
fn fast_math_separates_the_value_too() {
    let name = "fast_math_separates_the_value_of_four_loops";
    check_ratio(name, "reduction-factor{math=fast}", 0.04);
    let args = [matrix(20, 20, 0), matrix(40, 40, 0)];
    let value = |module: &Module| {
        let result = Interpreter::new(module).call("gradient", &args).unwrap();
        result.as_fields().unwrap()[0].as_f64().unwrap()
    };
    let (exact, fast) =
        (value(&module(name)), value(&after(module(name), "reduction-factor{math=fast}")));
    assert!((exact - fast).abs() <= 1e-12 * 400.0, "{exact} and {fast}");
}

/// The gradient of a function of `a` and `b` alone, as the language optimizes it, with the number of
/// instructions.
fn gradient_alone(session: &mut Session, function: &str, sizes: [usize; 2]) -> (Val, u64) {
    let [n, m] = sizes;
    let arguments = format!(
        "a = [sin(1.0i + 2j) for i in 1:{n}, j in 1:{n}]\nb = [cos(1.0i - 3j) for i in 1:{m}, j in 1:{m}]"
    );
    session.run("arguments", &arguments).unwrap();
    let call = format!("gradient({function}, a, b)");
    let module = session.optimized(call.as_str(), None).unwrap();
    let mut values =
        ["gradient", function, "a", "b"].map(|name| session.run(name, name).unwrap()).into_iter();
    let gradient = values.next().unwrap();
    let args: Vec<Val> = values.collect();
    session.with_interpreter(&module, |interpreter| {
        let result = interpreter.call_value(&gradient, &args).unwrap();
        (result, interpreter.instructions())
    })
}

/// The parts of a gradient with respect to two matrices, column by column.
fn columns(gradient: &Val) -> [Vec<f64>; 2] {
    let Some([Val::Array(a), Val::Array(b)]) = gradient.as_fields() else { panic!("{gradient:?}") };
    [a, b].map(|part| part.to_vec::<f64>().unwrap())
}

/// Checks that twice the size takes four times as long, not sixteen times.
#[track_caller]
fn check_growth(session: &mut Session, function: &str, small: u64) {
    let (_, large) = gradient_alone(session, function, [20, 40]);
    let ratio = large as f64 / small as f64;
    assert!(ratio < 4.5, "{function}: {small} instructions, then {large}");
    assert!(large < 20_000, "{function}: {large} instructions");
}

#[test]
fn the_language_factors_its_derivatives() {
    let mut session = Session::new(&context());
    let examples = ["jl/kron_loops.jl", "mooncake/kron_sum.jl"];
    for file in examples {
        let path = format!("{}/examples/{file}", env!("CARGO_MANIFEST_DIR"));
        session.run(file, &std::fs::read_to_string(path).unwrap()).unwrap();
    }
    session.run("copied", "copied(a, b) = sum(collect(kron(a, b)))").unwrap();
    for function in ["kron_loops", "_kron_sum", "copied"] {
        // The derivative is found by hand: each is the sum of the other matrix everywhere.
        let (result, small) = gradient_alone(&mut session, function, [10, 20]);
        let sums =
            ["sum(b)", "sum(a)"].map(|sum| session.run("sum", sum).unwrap().as_f64().unwrap());
        for (part, expected) in columns(&result).iter().zip(sums) {
            let is_right = |x: &f64| (x - expected).abs() < 1e-10;
            assert!(part.iter().all(is_right), "{function}: {part:?}");
        }
        check_growth(&mut session, function, small);
    }
}

#[test]
fn a_part_and_a_triangle_are_factored() {
    let mut session = Session::new(&context());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/mooncake/kron_view_sum.jl");
    session.run("kron_view_sum.jl", &std::fs::read_to_string(path).unwrap()).unwrap();
    let (result, small) = gradient_alone(&mut session, "_kron_view_sum", [10, 20]);
    // By hand: the sum of the triangle in the part of `a`, the sum of the part in the triangle; bit for
    // bit in the order in which the four loops, backwards, add them to each element.
    let [a, b] = ["a", "b"].map(|name| match session.run(name, name).unwrap() {
        Val::Array(array) => array.to_vec::<f64>().unwrap(),
        other => panic!("{other:?}"),
    });
    let (mut triangle, mut part) = (0.0, 0.0);
    for column in b.chunks(20).enumerate().collect::<Vec<_>>().into_iter().rev() {
        let (l, column) = column;
        let terms = column.iter().enumerate().rev();
        triangle += terms.fold(0.0, |sum, (k, x)| sum + if k <= l { *x } else { 0.0 });
    }
    for column in a.chunks(10).skip(1).rev() {
        part = column[..5].iter().rev().fold(part, |sum, x| sum + x);
    }
    let [da, db] = columns(&result);
    for (at, &x) in da.iter().enumerate() {
        let (i, j) = (at % 10 + 1, at / 10 + 1);
        let expected = if i <= 5 && j >= 2 { triangle } else { 0.0 };
        assert!(x == expected, "{i}, {j}: {x}, not {expected}");
    }
    for (at, &x) in db.iter().enumerate() {
        let (k, l) = (at % 20 + 1, at / 20 + 1);
        let expected = if k <= l { part } else { 0.0 };
        assert!(x == expected, "{k}, {l}: {x}, not {expected}");
    }
    check_growth(&mut session, "_kron_view_sum", small);
}
