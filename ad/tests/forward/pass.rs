//! The pass.

use super::*;

use regraft_passes::{Pipeline, RunOptions, run_pipeline};

const TEXT: &str = "
func @g(%x: f64) -> f64 {
^1:
  %1: f64 = arith.bitcast %x
  return %1
}
func @f(%x: f64, %y: f64) -> f64 {
^1:
  %1: f64 = arith.mul %x, %y
  return %1
}";

fn run(pipeline: &str) -> Result<Module, String> {
    let mut module = parse(TEXT);
    let pipeline = Pipeline::parse(&regraft_ad::registry(), pipeline)
        .map_err(|errors| render_all(&errors, false))?;
    match run_pipeline(&mut module, &pipeline, &RunOptions::default()) {
        Ok(_) => Ok(module),
        Err(error) => Err(format!("{error:?}")),
    }
}

#[test]
fn the_options_choose() {
    let made = |pipeline: &str| {
        let module = run(pipeline).unwrap();
        names(&module)[2..].join(" ")
    };
    assert_eq!(made("forward-diff{function=f}"), "f.jvp");
    assert_eq!(made("forward-diff{function=f, wrt=\"2\"}"), "f.jvp_2");
    assert_eq!(made("forward-diff{function=f, width=3, wrt=\"1, 2\"}"), "f.jvp.x3");
    assert_eq!(made("forward-diff{function=f}, forward-diff{function=f.jvp}"), "f.jvp f.jvp.jvp");
}

#[test]
fn errors_stop_the_pipeline() {
    let error = |pipeline: &str| run(pipeline).unwrap_err();
    assert!(error("forward-diff").contains("`arith.bitcast` has no derivative"));
    assert!(error("forward-diff{function=h}").contains("there is no function @h"));
    assert!(error("forward-diff{function=f, wrt=\"3\"}").contains("there is no parameter 3"));
}
