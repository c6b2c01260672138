//! What generated programs have brought to light, each as small as it can be.

use regraft_ir::{render_all, verify_module};
use regraft_syntax::parse_module;
use regraft_testing::{assert_ir_snapshot, check_pass};

/// The text has to read as a valid module that prints alike.
#[track_caller]
fn round_trips(text: &str) {
    let ctx = regraft_dialects::context();
    let module = parse_module(&ctx, "case.ir", text)
        .unwrap_or_else(|errors| panic!("{}", render_all(&errors, false)));
    verify_module(&module).unwrap_or_else(|errors| panic!("{}", render_all(&errors, false)));
    assert_eq!(module.to_string(), text);
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
