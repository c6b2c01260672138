//! The programs in `examples/ir`: they verify, round-trip, compute what they should, and go
//! through every pass unchanged in meaning.

use std::path::{Path, PathBuf};

use regraft::exec::value::{Array, Val, show_string};
use regraft::exec::{Engine, Interpreter};
use regraft::ir::{Module, verify_module};
use regraft::passes::{PassKind, Pipeline, RunOptions, run_pipeline};
use regraft::prelude::*;

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/ir");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 7, "{files:?}");
    files
}

fn read(path: &Path) -> Module {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    parse_module(&context(), name, &text).unwrap()
}

fn program(name: &str) -> Module {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/ir").join(name))
}

/// Calls a function and shows its value as Julia does, or the message of its error.
fn call(module: &Module, function: &str, args: &[Val]) -> Result<String, String> {
    let mut engine = Interpreter::new(module);
    match engine.call(function, args) {
        Ok(value) => Ok(show_string(module.ctx(), &value)),
        Err(error) => Err(error.to_string()),
    }
}

fn vector(items: &[f64]) -> Val {
    Val::from(Array::vector(items))
}

/// A call: the file, the function, the arguments, and its value (or a part of its error).
type Expectation = (&'static str, &'static str, Vec<Val>, Result<&'static str, &'static str>);

/// Calls with known results: of the documents that the programs are from, or by hand.
fn expectations() -> Vec<Expectation> {
    let (int, float) = (Val::I64, Val::F64);
    let bounds = "BoundsError";
    vec![
        // 1*1 + sin(1); sin(1) = 0.8414709848078965.
        ("foo.ir", "foo", vec![float(1.0), float(1.0)], Ok("1.8414709848078965")),
        ("pow.ir", "pow", vec![float(5.0), int(3)], Ok("125.0")),
        ("pow.ir", "pow", vec![float(5.0), int(0)], Ok("1.0")),
        ("pow.ir", "pow", vec![float(5.0), int(-2)], Ok("1.0")),
        ("relu.ir", "relu", vec![float(2.5)], Ok("2.5")),
        ("relu.ir", "relu", vec![float(-2.5)], Ok("0.0")),
        ("relu.ir", "relu", vec![float(f64::NAN)], Ok("0.0")),
        ("gcd.ir", "gcd", vec![int(85), int(391)], Ok("17")),
        ("gcd.ir", "gcd", vec![int(0), int(5)], Ok("5")),
        ("sum.ir", "_sum", vec![vector(&[1.0, 2.0, 4.5])], Ok("7.5")),
        ("sum.ir", "_sum", vec![vector(&[])], Ok("0.0")),
        ("foo_bang.ir", "foo!", vec![vector(&[1.0, 2.0]), vector(&[0.5, 0.25])], Ok("[1.5, 2.25]")),
        ("foo_bang.ir", "foo!", vec![vector(&[]), vector(&[])], Ok("Float64[]")),
        // `x` is longer than `y`: without its checks, Julia's program would write beyond `y`.
        ("foo_bang.ir", "foo!", vec![vector(&[1.0]), vector(&[0.5, 0.25])], Err(bounds)),
        // sin(1)^2 + sin(2)^2 = 0.7080734182735712 + 0.826821810431806.
        ("nested.ir", "main", vec![], Ok("1.5348952287053772")),
    ]
}

fn check(module: &Module, what: &str) {
    for (file, function, args, expected) in expectations() {
        if module.function(function).is_none() {
            continue;
        }
        let found = call(module, function, &args);
        match (&found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{file}: {function} {what}"),
            (Err(found), Err(part)) => assert!(found.contains(part), "{file} {what}: {found}"),
            _ => panic!("{file}: {function} {what}: expected {expected:?}, found {found:?}"),
        }
    }
}

#[test]
fn they_compute_what_they_should() {
    for (file, function, args, _) in expectations() {
        // Every expectation is of a function that there is, with arguments that fit.
        assert!(program(file).function(function).is_some(), "{file}: {function}");
        let entry = program(file).function(function).unwrap().param_types().len();
        assert_eq!(args.len(), entry, "{file}: {function}");
    }
    for path in programs() {
        check(&read(&path), "as it is");
    }
}

#[test]
fn they_verify_and_read_back_as_they_were_printed() {
    for path in programs() {
        let module = read(&path);
        verify_module(&module).unwrap();
        let text = module.to_string();
        let again = parse_module(&context(), "again", &text).unwrap();
        assert!(again.structural_eq(&module), "{}", path.display());
        assert_eq!(again.to_string(), text, "{}", path.display());
    }
}

#[test]
fn every_pass_leaves_their_meaning_alone() {
    let registry = PassRegistry::standard();
    let names: Vec<String> = registry
        .iter()
        .filter(|pass| pass.kind != PassKind::Module)
        .map(|pass| pass.name.to_owned())
        .filter(|name| name != "print")
        .collect();
    assert!(names.len() >= 10, "{names:?}");
    let all =
        names.iter().filter(|name| *name != "profile").cloned().collect::<Vec<_>>().join(", ");
    for path in programs() {
        for pipeline in names.iter().chain([&all, &format!("fix({all})")]) {
            let mut module = read(&path);
            let passes = Pipeline::parse(&registry, pipeline).unwrap();
            run_pipeline(&mut module, &passes, &RunOptions::default()).unwrap();
            check(&module, &format!("after {pipeline}"));
        }
    }
}

#[test]
fn the_bounds_check_of_foo_bang_can_throw() {
    let mut module = program("foo_bang.ir");
    // The listing jumps over its check; with the check switched on, it throws in its block 8.
    let f = module.function_mut("foo!").unwrap();
    let check = f.block_by_number(5).unwrap();
    let branch = f.out_edges(check).next().unwrap();
    let taken = f.edge_target(branch);
    f.set_terminator(check, cf::jump(taken)).unwrap();
    // A longer range than the array has, as a wrong `eachindex` would give.
    let stop = f.value_by_number(3).unwrap();
    let wrong = f.constant_id(1i64);
    let le = f.value_by_number(15).unwrap();
    f.set_operand(le, 1, wrong).unwrap();
    assert!(f.is_live(stop));
    verify_module(&module).unwrap();
    let args = [vector(&[1.0, 2.0]), vector(&[0.5, 0.25])];
    let error = call(&module, "foo!", &args).unwrap_err();
    assert!(error.contains("BoundsError: attempt to access 1:2 at index [2]"), "{error}");
}
