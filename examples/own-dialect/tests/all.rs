//! Tests that the tables for the ops are found wherever Regraft needs them.

use std::process::Command;
use std::sync::Arc;

use own_dialect::{DIALECT, extensions};
use regraft::exec::Val;
use regraft::ir::{OpDef, Registry};
use regraft::lang::Session;
use regraft::passes::rewrite::{Math, RewriteRules};
use regraft::prelude::*;
use regraft::testing::{
    FuzzRun, Fuzzer, RewriteOptions, RuleArgs, RuleOptions, Tester, test_orders, test_rewrite,
    test_rewrite_sets, test_rule,
};

const BOTH: &str = "
func @f(%a: array<f64, 1>, %b: array<f64, 1>, %x: f64) -> f64 {
^1:
  %4: f64 = own.dot %a, %b
  %5: f64 = own.softplus %x
  %6: unit = own.axpy %5, %a, %b
  %7: f64 = own.dot %b, %b
  %8: f64 = arith.add %4, %7
  return %8
}";

/// A vector that is changed in a loop, by what is computed from it.
const CHANGED: &str = "
func @f(%a: array<f64, 1>, %x: f64) -> f64 {
^1:
  br ^2(1, 0.0)
^2(%i: i64, %s: f64):
  %5: bool = arith.le %i, 3
  br %5, ^3, ^4
^3:
  %6: f64 = own.dot %a, %a
  %7: f64 = own.softplus %6
  own.axpy %x, %a, %a
  mem.store %a, %7, 1
  %10: f64 = own.dot %a, %a
  %11: f64 = arith.add %s, %10
  %12: i64 = arith.add %i, 1
  br ^2(%12, %11)
^4:
  return %s
}";

fn session() -> Session {
    Session::new(&Context::with_extensions(&Arc::new(extensions())))
}

/// The value of the last line of a script, as it is shown.
fn shown(script: &str) -> String {
    let mut session = session();
    match session.run("own.jl", script) {
        Ok(value) => session.show(&value),
        Err(errors) => regraft::ir::render_all(&errors, false),
    }
}

#[test]
fn they_are_folded_and_checked_by_running() {
    let tester = Tester::new().with_extensions(extensions());
    let text = "func @f() -> f64 {\n^1:\n  %1: f64 = own.softplus 0.0\n  return %1\n}\n";
    assert!(tester.check("fold", text).contains("return 0.6931471805599453"));
    let wrong =
        "func @f(%a: array<i64, 1>) -> f64 {\n^1:\n  %2: f64 = own.dot %a, %a\n  return %2\n}\n";
    assert!(
        tester.try_check("fold", wrong).unwrap_err().contains("expected an array of a float type")
    );
    assert!(tester.cases(40).try_preserves("O2").is_ok());
}

#[test]
fn their_derivatives_are_those_of_differences() {
    let ctx = Context::with_extensions(&Arc::new(extensions()));
    for text in [BOTH, CHANGED] {
        let module = parse_module(&ctx, "f.ir", text.trim_start()).unwrap();
        let types = RuleArgs::Types(module.function("f").unwrap().param_types());
        let options = RuleOptions { inputs: 12, widths: vec![1, 3], ..RuleOptions::default() };
        let report = test_rule(&module, "f", &types, &options).unwrap_or_else(|e| panic!("{e}"));
        assert!(report.to_string().contains("agreed"), "{report}");
    }
}

#[test]
fn scripts_call_them_and_differentiate_them_twice() {
    // softplus' = σ, softplus'' = σ(1 - σ)
    assert_eq!(shown("derivative(softplus, 0.0)"), "0.5");
    let second = "x -> gradient(x -> gradient(softplus, x)[1], x)[1]";
    assert_eq!(shown(&format!("({second})(0.0)")), "0.25");
    assert_eq!(shown("derivative(x -> gradient(softplus, x)[1], 0.0)"), "0.25");
    // (1 + a) w·w: its Hessian by w is 2 (1 + a) I, and by a and w it is 2 w.
    let f = "f(w, a) = (y = copy(w); axpy!(a, w, y); owndot(w, y))\n";
    assert_eq!(shown(&format!("{f}gradient(f, [1.0, 2.0], 0.5)")), "([3.0, 6.0], 5.0)");
    let along = "d(v) = derivative(t -> gradient(w -> f(w, 0.5), [1.0 + t, 2.0])[1], 0.0)\n";
    assert_eq!(shown(&format!("{f}{along}d(1)")), "[3.0, 0.0]");
    let mixed = "gradient(w -> gradient(a -> f(w, a), 0.5)[1], [1.0, 2.0])[1]";
    assert_eq!(shown(&format!("{f}{mixed}")), "[2.0, 4.0]");
    let mut session = session();
    session.run("f.jl", f).unwrap();
    let found = test_orders(&mut session, "x -> f([x, softplus(x)], x)", &[0.3, -1.2], 3);
    assert!(found.is_ok(), "{}", found.unwrap_err());
}

#[test]
fn the_fuzzer_makes_programs_of_them() {
    let extensions = Arc::new(extensions());
    let own: Vec<_> = DIALECT.ops.iter().map(|def| def.op).collect();
    for fuzzer in [Fuzzer::new(&extensions, 1), Fuzzer::new(&extensions, 1).derivatives()] {
        assert_eq!(fuzzer.unknown_ops().len(), 0);
        let mut run = FuzzRun::new(fuzzer.ops(own.clone()), 0, 1).unwrap();
        let finds = run.batch(60, 1, &false.into());
        assert!(finds.is_empty(), "{}", finds[0].reproducer());
    }
}

/// Ops of which nothing is known but their declarations.
mod bare {
    use regraft::ir::{Effects, InstView, OperandSet, Type};

    regraft::dialects::dialect! {
        /// Ops without evaluation.
        dialect bare = 41;

        /// Something.
        HIDDEN = hidden(x: f64) -> f64 [PURE];

        /// A new vector of a number.
        MADE = made(x: f64) -> declared { effects: Effects { allocates: true, ..Effects::NONE } };

        /// A new vector of another one.
        FLIPPED = flipped(y: [T]) -> (fn first_type) where T: Float {
            effects: Effects { reads: OperandSet::ALL, allocates: true, ..Effects::NONE },
        };

        /// Puts a number into a vector.
        PUT = put(x: T, y: [T]) -> unit where T: Float {
            effects: Effects { writes: OperandSet::one(1), ..Effects::NONE },
        };

        /// The length of a vector.
        COUNTED = counted(y: [T]) -> i64 where T: Float {
            effects: Effects { reads_shape: OperandSet::ALL, ..Effects::NONE },
        };
    }

    fn first_type(at: &InstView<'_>) -> Result<Type, String> {
        Ok(at.types[0])
    }
}

#[test]
fn an_op_of_which_nothing_is_known_is_counted_and_refused_by_name() {
    let mut extensions = extensions();
    extensions.add_dialect(&bare::DIALECT);
    let shared = Arc::new(extensions);
    let names = |fuzzer: Fuzzer| -> Vec<&str> {
        fuzzer.unknown_ops().iter().map(|def: &&OpDef| def.name).collect()
    };
    let all: Vec<&str> = bare::DIALECT.ops.iter().map(|def| def.name).collect();
    assert_eq!(names(Fuzzer::new(&shared, 1)), all);
    assert_eq!(names(Fuzzer::new(&shared, 1).derivatives()), all);
    let ctx = Context::with_extensions(&shared);
    let text = "func @f(%x: f64) -> f64 {\n^1:\n  %2: f64 = bare.hidden %x\n  return %2\n}\n";
    let module = parse_module(&ctx, "f.ir", text).unwrap();
    let run = regraft::exec::Interpreter::new(&module);
    let error = regraft::exec::Engine::call(&mut { run }, "f", &[Val::F64(1.0)]).unwrap_err();
    assert_eq!(error.message(), "there is no evaluation function for `bare.hidden`");
    let registry: &Registry = shared.ops();
    assert!(registry.find("bare.hidden").is_some_and(|def| def.op == bare::HIDDEN));
}

/// Derivatives that would lack what such an op does are refused, whatever is lost: a cotangent, the shadow
/// of a new object, or what becomes of one that is there.
#[test]
fn an_op_without_a_derivative_is_refused_wherever_one_is_needed() {
    let mut extensions = extensions();
    extensions.add_dialect(&bare::DIALECT);
    let ctx = Context::with_extensions(&Arc::new(extensions));
    let refused = |params: &str, active: &[bool], body: &str, op: &str| {
        let text = format!("func @f({params}) -> f64 {{\n^1:\n{body}\n  return %r\n}}\n");
        let module = parse_module(&ctx, "f.ir", &text).unwrap();
        let (f, mut forward, mut reverse) = (ctx.symbol("f"), module.clone(), module);
        let options = regraft::ad::ForwardOptions::default();
        let by_forward = regraft::ad::forward(&mut forward, f, active, &options).err();
        let options = regraft::ad::ReverseOptions::default();
        let by_reverse = regraft::ad::reverse(&mut reverse, f, active, &options).err();
        for errors in [by_forward, by_reverse].map(Option::unwrap_or_default) {
            let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
            let right = match op {
                "" => said.is_empty(),
                op => said.len() == 1 && said[0].contains(&format!("`{op}` has no derivative")),
            };
            assert!(right, "{body}: {said:?}");
        }
    };
    let (x, xy) = ("%x: f64", "%x: f64, %y: array<f64, 1>");
    refused(x, &[true], "  %r: f64 = bare.hidden %x", "bare.hidden");
    let made = "  %y: array<f64, 1> = bare.made %x\n  %r: f64 = mem.load %y, 1";
    refused(x, &[true], made, "bare.made");
    let flipped = "  %2: array<f64, 1> = bare.flipped %y\n  %r: f64 = mem.load %2, 1";
    refused(xy, &[true, true], flipped, "bare.flipped");
    refused(xy, &[true, false], flipped, "");
    let put = "  bare.put %x, %y\n  %r: f64 = mem.load %y, 1";
    refused(xy, &[true, true], put, "bare.put");
    refused(xy, &[true, false], put, "bare.put");
    refused(xy, &[false, true], put, "bare.put");
    let counted = "  %2: i64 = bare.counted %y\n  %r: f64 = mem.load %y, %2";
    refused(xy, &[false, true], counted, "");
}

#[test]
fn their_rewrite_rules_are_found_and_tested() {
    let ctx = Context::with_extensions(&Arc::new(extensions()));
    let rules: &RewriteRules = ctx.extensions().get();
    let rule = rules.of(Math::Fast).find(|rule| &**rule.name() == "softplus-difference").unwrap();
    let report = test_rewrite(&ctx, rule, &RewriteOptions::default());
    assert!(report.passed() && report.compared > 20_000, "{report:?}");
    assert_eq!(test_rewrite_sets(&ctx, rules), []);
    // A wrong one about the same op is refuted.
    let mut wrong = RewriteRules::default();
    let text = "rule even fast: own.softplus (arith.neg ?x) => own.softplus ?x";
    wrong.add(ctx.registry(), "wrong.rules", text).unwrap();
    let report = test_rewrite(&ctx, wrong.find("even").unwrap(), &RewriteOptions::default());
    assert!(report.failure.unwrap().to_string().starts_with("is wrong: ?x: f64 = "));
}

#[test]
fn the_tool_knows_them() {
    let says = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_own-dialect")).args(args).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/own.jl");
    assert_eq!(says(&["run", script]), "7.500552931475361\n");
    let gradient = says(&["grad", script, "loss([1.0, 2.0], 0.5)"]);
    let want = "gradient: ([2.9983416640892293, 5.996683328178459], 4.997236106815382)\n";
    assert!(gradient.contains(want), "{gradient}");
    let rules = concat!(env!("CARGO_MANIFEST_DIR"), "/own.rules");
    assert!(says(&["rules", "--test", rules]).starts_with("softplus-difference  it holds; "));
    assert!(says(&["rules"]).contains("softplus-difference  "));
    assert!(says(&["ops", "own"]).contains("own.softplus  `log(1 + exp(x))`."));
    assert!(says(&["passes"]).contains("own-ops"));
}
