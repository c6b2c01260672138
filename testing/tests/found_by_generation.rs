//! Mistakes that generated programs have brought to light, each as small as it can be.

use regraft_ir::{Diagnostic, render_all, verify_module};
use regraft_lang::Session;
use regraft_passes::PassRegistry;
use regraft_syntax::parse_module;
use regraft_testing::reduce::Suspect;
use regraft_testing::{CompareConfig, Trial, assert_ir_snapshot, check_pass};

/// The text has to read as a valid module that prints alike.
#[track_caller]
fn round_trips(text: &str) {
    let ctx = regraft_dialects::context();
    let module = parse_module(&ctx, "case.ir", text)
        .unwrap_or_else(|errors| panic!("{}", render_all(&errors, false)));
    verify_module(&module).unwrap_or_else(|errors| panic!("{}", render_all(&errors, false)));
    assert_eq!(module.to_string(), text);
}

/// The pipeline has to come to its end, and to keep what the functions of the text do.
#[track_caller]
fn keeps_meaning(pipeline: &str, text: &str) {
    let ctx = regraft_dialects::context();
    let module = parse_module(&ctx, "case.ir", text.trim_start())
        .unwrap_or_else(|errors| panic!("{}", render_all(&errors, false)));
    let trial = Trial::new(&PassRegistry::standard(), pipeline, &CompareConfig::default())
        .unwrap_or_else(|errors| panic!("{}", render_all(&errors, false)));
    let suspect = Suspect::of(&module);
    if let Err(kind) = trial.run(&suspect.module, &suspect.entries) {
        panic!("`{pipeline}`: {kind}");
    }
}

/// The same of a method of a script, on random arguments of these types.
#[track_caller]
fn keeps_meaning_of(script: &str, entry: &str, pipeline: &str) {
    let told = |errors: Vec<Diagnostic>| render_all(&errors, false);
    let mut session = Session::new(&regraft_dialects::context());
    session.eval(script).unwrap_or_else(|errors| panic!("{}", told(errors)));
    let module = session.typed(entry).unwrap_or_else(|errors| panic!("{}", told(errors)));
    let config = CompareConfig::default();
    let trial = Trial::new(&PassRegistry::standard(), pipeline, &config)
        .unwrap_or_else(|errors| panic!("{}", told(errors)));
    let suspect = Suspect::of(&module);
    if let Err(kind) = trial.run(&suspect.module, &suspect.entries[..1]) {
        panic!("`{pipeline}`: {kind}\n{module}");
    }
}

#[test]
fn an_operand_may_be_defined_further_down_in_the_text() {
    round_trips(
        "\
func @f() -> f64 {
^1:
  br ^2
^3:
  %2: array<f64, 1> = mem.array %1
  %3: f64 = mem.load %2, 1
  return %3
^2:
  %1: f64 = math.sinc 0.5
  br ^3
}
",
    );
}

#[test]
fn an_index_that_turns_out_to_be_constant_and_wrong_still_traps() {
    let diff = check_pass(
        "fold",
        "
func @f() -> i64 {
^1:
  %1: tuple<i64, bool> = core.tuple 0, false
  %2: i64 = core.select true, 0, 0
  %3: any = data.getfield %1, %2
  return 0
}",
    );
    assert_ir_snapshot!(diff, @r"
    --- @f
    +++ @f
    @@ -1,7 +1,6 @@
     func @f() -> i64 {
     ^1:
       %1: tuple<i64, bool> = core.tuple 0, false
    -  %2: i64 = core.select true, 0, 0
    -  %3: any = data.getfield %1, %2
    +  %3: any = data.getfield %1, 0
       return 0
     }
    ");
}

#[test]
fn a_switch_with_one_way_does_not_keep_the_value_that_it_takes() {
    keeps_meaning(
        "adce",
        "
func @main() -> i64 {
^1:
  %1: i8 = arith.clz 0i8
  switch %1, ^2
^2:
  return 0
}",
    );
}

/// A cached loop forest knew the exits of a loop by where they stood among the operands of the
/// branch, and these move when a parameter goes.
#[test]
fn loops_are_still_known_after_a_parameter_has_gone() {
    let dead = "
func @main() -> i64 {
^1:
  br ^2(0)
^2(%1: i64):
  br false, ^2(0), ^3
^3:
  return 0
}";
    keeps_meaning("licm, dce, print{loop-forest=true}, licm", dead);
    let printing = "
func @main() -> i64 {
^1:
  %1: array<i64, 1> = mem.array 0, 0
  %2: i64 = mem.length %1
  br ^2(0, false)
^2(%3: i64, %4: bool):
  %5: unit = core.print 0
  %6: i64 = arith.add 1, %3
  %7: bool = arith.ge %2, %6
  br %7, ^2(%6, false), ^3
^3:
  return 0
}";
    keeps_meaning("gvn, unroll", printing);
    keeps_meaning("loop(licm, unroll{factor=4, runtime=true}), dce, loop(unroll)", printing);
    let loading = "
func @main() -> i64 {
^1:
  %1: array<f64, 1> = mem.array 0.0
  %2: ref<f64> = mem.ref_new 0.0
  br ^2(1, %2)
^2(%3: i64, %4: ref<f64>):
  %5: f64 = mem.load %1, %3
  br false, ^2(0, %4), ^3
^3:
  return 0
}";
    keeps_meaning("gvn, unroll", loading);
}

#[test]
fn a_loop_is_left_by_an_edge_whose_target_takes_more_than_the_counter() {
    keeps_meaning(
        "indvars",
        "
func @main() -> i64 {
^1:
  br ^2(0)
^2(%1: i64):
  br false, ^3, ^5(0)
^3:
  br false, ^3, ^4
^4:
  %2: i64 = arith.add 1, %1
  br ^2(%2)
^5(%3: i64):
  br ^7
^6(%4: bool, %5: i64):
  return 0
^7:
  br false, ^7, ^8
^8:
  %6: i64 = arith.sub %3, 1
  br false, ^5(%6), ^6(false, %1)
}",
    );
}

#[test]
fn a_part_of_a_parameter_that_is_put_together_again_is_split_later() {
    keeps_meaning(
        "sroa",
        "
func @main(%1: i64, %2: bool) -> i64 {
^1:
  %3: tuple<i64, i64> = core.tuple %1, 2
  %4: tuple<bool, tuple<i64, i64>> = core.tuple %2, %3
  br ^2(%4)
^2(%5: tuple<bool, tuple<i64, i64>>):
  %6: tuple<i64, i64> = core.get %5, 2
  %7: i64 = core.get %6, 1
  %8: bool = core.same %5, %5
  br %8, ^3, ^4
^3:
  return %7
^4:
  return 0
}",
    );
}

#[test]
fn a_latch_leaves_by_its_first_edge_and_goes_back_by_its_second() {
    keeps_meaning(
        "unroll{factor=2, full-size=0}",
        "
func @main() -> i64 {
^1:
  %1: array<f64, 1> = mem.array 1.0, 2.0, 3.0, 4.0, 5.0
  br ^2(0)
^2(%2: i64):
  %3: i64 = arith.add %2, 1
  %4: f64 = mem.load %1, %3
  %5: bool = arith.ge %3, 5
  br %5, ^3, ^2(%3)
^3:
  return %3
}",
    );
}

/// A loop cannot be computed before another one if the first iteration of that goes around it and a
/// later one does not.
#[test]
fn an_inner_loop_runs_from_the_second_iteration_on() {
    // Because of a branch.
    keeps_meaning(
        "licm",
        "
func @main(%1: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%2: i64, %3: i64):
  %4: bool = arith.lt %2, 3
  br %4, ^3, ^7
^3:
  %5: bool = arith.gt %2, 0
  br %5, ^4(0), ^6(0)
^4(%6: i64):
  %7: bool = arith.lt %6, 2
  br %7, ^5, ^6(%6)
^5:
  %8: i64 = arith.add %6, 1
  br ^4(%8)
^6(%9: i64):
  %10: i64 = arith.add %3, %9
  %11: i64 = arith.add %2, 1
  br ^2(%11, %10)
^7:
  return %3
}",
    );
    // Because of a loop around it that begins to run then.
    keeps_meaning(
        "licm",
        "
func @main(%1: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%2: i64, %3: i64):
  %4: bool = arith.lt %2, 3
  br %4, ^3(0, %3), ^8
^3(%5: i64, %6: i64):
  %7: bool = arith.lt %5, %2
  br %7, ^4(0), ^7
^4(%8: i64):
  %9: bool = arith.lt %8, 2
  br %9, ^5, ^6
^5:
  %10: i64 = arith.add %8, 1
  br ^4(%10)
^6:
  %11: i64 = arith.add %6, %8
  %12: i64 = arith.add %5, 1
  br ^3(%12, %11)
^7:
  %13: i64 = arith.add %2, 1
  br ^2(%13, %6)
^8:
  return %3
}",
    );
}

/// The place where an element goes promises nothing of what the element is computed from: code of
/// users, and indices.
#[test]
fn collecting_promises_nothing_of_what_is_collected() {
    let code = "f(a, n) = ([a[i] for i in 1:n]; 0.0)";
    keeps_meaning_of(code, "f(Vector{Float64}, Int64)", "O2");
    keeps_meaning_of("f(a, is) = (a[is]; 0.0)", "f(Vector{Float64}, Vector{Int64})", "O2");
    keeps_meaning_of("f(a, j) = (a[:, j]; 0.0)", "f(Matrix{Float64}, Int64)", "O2");
    keeps_meaning_of("f(a, i) = (a[i, :]; 0.0)", "f(Matrix{Float64}, Int64)", "O2");
    let code = "f(a, is, js) = (a[is, js]; 0.0)";
    keeps_meaning_of(code, "f(Matrix{Float64}, Vector{Int64}, UnitRange{Int64})", "O2");
    let code = "element(a, i) = a[i]\nf(a, n) = (element.(Ref(a), 1:n); 0.0)";
    keeps_meaning_of(code, "f(Vector{Float64}, Int64)", "O2");
}
