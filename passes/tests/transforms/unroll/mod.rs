//! `unroll`.

mod counts;
mod full;
mod limits;
mod rounds;

use crate::{parse, run_text};

/// Checks what unrolling by a factor makes. What comes out has a loop that could be unrolled again.
#[track_caller]
fn check_once(pipeline: &str, before: &str, after: &str) {
    let mut module = parse(before);
    run_text(pipeline, &mut module);
    let (found, wanted) = (module.to_string(), parse(after).to_string());
    assert!(found == wanted, "`{pipeline}` gives\n{found}\nand should give\n{wanted}");
}

#[track_caller]
fn by_four(before: &str, after: &str) {
    check_once("unroll{factor=4}", before, after);
}
