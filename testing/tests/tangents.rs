//! Passes keep what programs do with tangents.

use regraft_ir::render_all;
use regraft_passes::PassRegistry;
use regraft_syntax::parse_and_verify;
use regraft_testing::reduce::Suspect;
use regraft_testing::{CompareConfig, Trial};

/// Each pass, and all together, have to keep what the functions of the text do.
#[track_caller]
fn keeps_meaning(text: &str) {
    let ctx = regraft_dialects::context();
    let module = parse_and_verify(&ctx, "case.ir", text)
        .unwrap_or_else(|errors| panic!("{}", render_all(&errors, false)));
    let pipelines = [
        "specialize-tangents",
        "gvn, cse, dce",
        "sccp, licm, adce",
        "specialize-tangents, sroa, mem2reg, gvn, adce",
        "O1",
        "O2",
    ];
    for pipeline in pipelines {
        let trial = Trial::new(&PassRegistry::standard(), pipeline, &CompareConfig::default())
            .unwrap_or_else(|errors| panic!("{}", render_all(&errors, false)));
        let suspect = Suspect::of(&module);
        if let Err(kind) = trial.run(&suspect.module, &suspect.entries) {
            panic!("`{pipeline}`: {kind}");
        }
    }
}

#[test]
fn parts_of_tangents() {
    keeps_meaning(
        "func @f(%1: tuple<unit, f64, array<f64, 1>>, %2: tuple<unit, f64, unit>, %3: f64) -> any {
^1:
  %4: tuple<unit, unit, array<f64, 1>> = ad.shadow %1
  %5: tuple<unit, f64, unit> = ad.cotangent %1
  %6: tuple<unit, f64, unit> = ad.add %5, %2
  %7: tuple<unit, f64, array<f64, 1>> = ad.join %4, %6
  %8: tuple<unit, f64, array<f64, 1>> = ad.join %4, nothing
  %9: f64 = ad.unbox nothing
  %10: f64 = ad.add %9, %3
  ad.accumulate %7, %8
  %12: any = core.tuple %4, %5, %6, %7, %8, %10
  return %12
}
func @unknown(%1: any, %2: any, %3: f64) -> any {
^1:
  %4: any = ad.zero %1
  %5: any = ad.shadow %4
  %6: any = ad.cotangent %4
  %7: any = ad.add %6, nothing
  %8: any = ad.join %5, %7
  ad.accumulate %8, %4
  %10: any = core.tuple %4, %8, %2
  return %10
}
",
    );
}

#[test]
fn zeros_copies_and_updates_of_objects() {
    keeps_meaning(
        "struct @P { x: f64, n: i64, a: array<f64, 1> }
mutable struct @C { x: f64, a: array<f64, 1> }
func @values(%1: @P, %2: tuple<array<f64, 1>, array<f64, 1>>, %3: array<f64, 2>) -> any {
^1:
  %4: {x: f64, n: unit, a: array<f64, 1>} = ad.zero %1
  %5: tuple<array<f64, 1>, array<f64, 1>> = ad.zero %2
  %6: array<f64, 2> = ad.copy %3
  %7: tuple<array<f64, 1>, array<f64, 1>> = ad.copy %2
  ad.accumulate %5, %7
  ad.accumulate %3, %6
  ad.clear %2
  %11: i64 = mem.length %6
  %12: i64 = mem.size %3, 1
  %13: any = core.tuple %4, %5, %6, %7, %11, %12
  return %13
}
func @objects(%1: @C, %2: ref<f64>, %3: array<any, 1>) -> any {
^1:
  %4: ref<{x: f64, a: array<f64, 1>}> = ad.zero %1
  %5: ref<f64> = ad.zero %2
  ad.accumulate %5, %2
  ad.accumulate %2, %2
  %8: array<any, 1> = ad.copy %3
  %9: @C = ad.copy %1
  ad.clear %5
  ad.clear %4
  %12: any = core.tuple %4, %5, %8, %9
  return %12
}
",
    );
}

#[test]
fn sums_in_loops() {
    keeps_meaning(
        "func @f(%1: array<f64, 1>, %2: f64) -> tuple<array<f64, 1>, f64> {
^1:
  %3: array<f64, 1> = ad.zero %1
  %4: i64 = mem.length %1
  br ^2(1, nothing)
^2(%5: i64, %6: any):
  %7: bool = arith.le %5, %4
  br %7, ^3, ^4
^3:
  ad.accumulate %3, %1
  %9: f64 = mem.load %1, %5
  %10: any = ad.add %6, %9
  %11: f64 = mem.load %3, %5
  %12: any = ad.add %10, %11
  %13: i64 = arith.add %5, 1
  br ^2(%13, %12)
^4:
  %14: f64 = ad.unbox %6
  %15: f64 = ad.add %14, %2
  %16: tuple<array<f64, 1>, f64> = core.tuple %3, %15
  return %16
}
",
    );
}

#[test]
fn a_copy_that_holds_itself() {
    // The copy is written through what it holds.
    keeps_meaning(
        "func @f(%1: f64) -> any {
^1:
  %9: any = core.convert nothing
  %2: ref<any> = mem.ref_new %9
  mem.ref_set %2, %2
  %4: ref<any> = ad.copy %2
  %5: any = mem.ref_get %4
  %6: ref<any> = core.typeassert %5
  mem.ref_set %6, %1
  %8: any = mem.ref_get %4
  return %8
}
func @g(%1: f64) -> any {
^1:
  %2: ref<any> = call @ring()
  %3: any = mem.ref_get %2
  %4: ref<any> = core.typeassert %3
  mem.ref_set %4, %1
  %6: any = mem.ref_get %2
  return %6
}
func @ring() -> ref<any> {
^1:
  %4: any = core.convert nothing
  %1: ref<any> = mem.ref_new %4
  mem.ref_set %1, %1
  %3: ref<any> = ad.copy %1
  return %3
}
",
    );
}
