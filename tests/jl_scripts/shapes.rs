//! The typed IR of the programs of two documents has the shape of the listings there: one loop,
//! its counter, loads and additions, and nothing that the loop does not need.

use regraft::ir::{Function, Module};

use crate::support::{example, session};

fn optimized(file: &str, call: &str) -> Module {
    let mut session = session();
    let text = std::fs::read_to_string(example(file)).unwrap();
    session.run(file, &text).unwrap();
    session.optimized(call, None).unwrap()
}

/// The names of the ops, in order, one list for each block, terminators included.
fn ops(f: &Function) -> Vec<String> {
    f.to_string()
        .lines()
        .filter(|line| line.starts_with("  "))
        .map(|line| {
            let op = line.split_once(" = ").map_or(line, |(_, op)| op);
            op.split_whitespace().next().unwrap_or_default().to_owned()
        })
        .collect()
}

fn count(ops: &[String], op: &str) -> usize {
    ops.iter().filter(|name| *name == op).count()
}

/// The one function of a module.
#[track_caller]
fn only(module: &Module) -> &Function {
    assert_eq!(module.functions().len(), 1, "{module}");
    module.functions().next().unwrap()
}

#[test]
fn foo_bang_is_one_loop_of_loads_addition_and_store() {
    let module = optimized("foo_bang.jl", "foo!([1.0], [2.0])");
    insta::assert_snapshot!("foo_bang_optimized", module.to_string());
    let ops = ops(only(&module));
    assert_eq!(count(&ops, "call"), 0, "{module}");
    assert_eq!(count(&ops, "mem.load"), 2, "{module}");
    assert_eq!(count(&ops, "mem.store"), 1, "{module}");
    // The sum of the elements, the counter, and at most the index that is made of it.
    assert!((2..=3).contains(&count(&ops, "arith.add")), "{module}");
    assert!(ops.len() <= 14, "{module}");
}

#[test]
fn sum_is_one_loop_of_counter_load_and_addition() {
    let module = optimized("sum.jl", "_sum(identity, [1.0])");
    insta::assert_snapshot!("sum_optimized", module.to_string());
    let ops = ops(only(&module));
    assert_eq!(count(&ops, "call"), 0, "{module}");
    assert_eq!(count(&ops, "mem.load"), 1, "{module}");
    assert_eq!(count(&ops, "arith.add"), 2, "{module}");
    assert_eq!(count(&ops, "arith.lt"), 1, "{module}");
    // br, length, lt, br, add, load, add, br, return.
    assert!(ops.len() <= 9, "{module}");
}

#[test]
fn named_tuples_are_taken_apart_at_compile_time() {
    for call in ["permuted_map(+, x, y)", "unrolled_map(+, x, y)"] {
        let module = optimized("permuted_map.jl", call);
        let text = module.to_string();
        assert_eq!(text.matches("arith.add").count(), 3, "{text}");
        assert!(!text.contains("core.apply"), "{text}");
    }
}

#[test]
fn quadratic_is_arithmetic_alone() {
    for (call, ty) in [("f(3)", "i64"), ("f(0.5)", "f64")] {
        let module = optimized("quadratic.jl", call);
        let text = only(&module).to_string();
        assert!(text.contains(&format!("-> {ty}")), "{text}");
        // The square of a float is a power, whose derivative is 0 at 0 whatever comes after it.
        let products = text.matches("arith.mul").count() + text.matches("math.powi").count();
        // Integers have a factor in common.
        assert!(products == 3 || ty == "i64" && products < 3, "{text}");
        assert_eq!(text.matches("arith.sub").count(), 1, "{text}");
        assert!(!text.contains("call") && !text.contains("br "), "{text}");
    }
}
