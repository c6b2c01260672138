//! Loop passes see each loop once, inner loops before the ones around them, in turns with each
//! other in `loop(..)`.

use regraft_ir::{Block, Diagnostic, Function, Inst, Module};
use regraft_passes::{
    LoopPass, PassContext, PassRegistry, PassResult, Pipeline, RunOptions, run_pipeline,
};

/// Two loops beside each other, `^2` with `^3` in it, and `^6`; and a region with two ways in,
/// `^9` and `^10`.
const NESTS: &str = "\
func @f(%1: bool) -> unit {
^1:
  br ^2
^2:
  br %1, ^3, ^5
^3:
  br %1, ^3, ^4
^4:
  br ^2
^5:
  br ^6
^6:
  br %1, ^6, ^7
^7:
  br %1, ^9, ^10
^8:
  return nothing
^9:
  br ^10
^10:
  br %1, ^9, ^8
}
";

/// Says which loops it is given.
#[derive(Default)]
struct Names;

impl LoopPass for Names {
    const NAME: &'static str = "names";

    fn run(&mut self, _: &mut Function, loops: &[Block], cx: &mut PassContext<'_>) -> PassResult {
        let names: Vec<String> = loops.iter().map(ToString::to_string).collect();
        cx.print(&format!("names: {}\n", names.join(" ")));
        Ok(())
    }
}

/// Names them in another way.
#[derive(Default)]
struct Again;

impl LoopPass for Again {
    const NAME: &'static str = "again";

    fn run(&mut self, _: &mut Function, loops: &[Block], cx: &mut PassContext<'_>) -> PassResult {
        cx.print(&format!("again: {}\n", loops.len()));
        Ok(())
    }

    fn run_all(&mut self, _: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        cx.print("again: all\n");
        Ok(())
    }
}

/// Makes a loop of one block never go around.
#[derive(Default)]
struct Straighten;

impl LoopPass for Straighten {
    const NAME: &'static str = "straighten";

    fn run(&mut self, f: &mut Function, loops: &[Block], _: &mut PassContext<'_>) -> PassResult {
        for &header in loops {
            let exit = f.successors(header).find(|&to| to != header);
            if let Some(exit) = exit {
                f.set_terminator(header, Inst::new(f.jump_op()?).edge::<Block>(exit, []))?;
            }
        }
        Ok(())
    }
}

/// Puts a loop of one block before each loop.
#[derive(Default)]
struct Multiply;

impl LoopPass for Multiply {
    const NAME: &'static str = "multiply";

    fn run(&mut self, f: &mut Function, loops: &[Block], _: &mut PassContext<'_>) -> PassResult {
        for &header in loops {
            let test = f.params(f.entry().expect("it has one")).next().expect("it has one");
            let enters: Vec<_> =
                f.in_edges_in_order(header).into_iter().filter(|e| e.from < header).collect();
            let fresh = f.add_block_after(enters[0].from)?;
            f.redirect::<Block>(enters[0], fresh, [])?;
            let branch = Inst::new(regraft_dialects::cf::BR).operand(test);
            f.set_terminator(fresh, branch.edge::<Block>(fresh, []).edge::<Block>(header, []))?;
        }
        Ok(())
    }
}

/// Fails where there is a loop of height 1.
#[derive(Default)]
struct Shy;

impl LoopPass for Shy {
    const NAME: &'static str = "shy";

    fn run(&mut self, _: &mut Function, loops: &[Block], _: &mut PassContext<'_>) -> PassResult {
        match loops {
            [header] => Err(Diagnostic::error(format!("loop {header} is alone"))),
            _ => Ok(()),
        }
    }
}

fn registry() -> PassRegistry {
    let mut passes = PassRegistry::standard();
    passes.add_loop::<Names>();
    passes.add_loop::<Again>();
    passes.add_loop::<Straighten>();
    passes.add_loop::<Multiply>();
    passes.add_loop::<Shy>();
    passes
}

fn nests() -> Module {
    regraft_syntax::parse_module(&regraft_dialects::context(), "nests.ir", NESTS)
        .unwrap_or_else(|errors| panic!("{}", errors[0].render(false)))
}

/// The text that the passes of a pipeline print about [`NESTS`].
fn text(pipeline: &str) -> String {
    let pipeline = Pipeline::parse(&registry(), pipeline).expect("it is right");
    let report = run_pipeline(&mut nests(), &pipeline, &RunOptions::default());
    report.unwrap_or_else(|failure| panic!("{failure:?}")).text
}

#[test]
fn innermost_loops_come_first_and_irreducible_regions_never() {
    assert_eq!(text("loop(names)"), "names: ^3 ^6\nnames: ^2\n");
}

#[test]
fn a_loop_pass_by_itself_runs_over_all_loops() {
    assert_eq!(text("names, again"), "names: ^3 ^6\nnames: ^2\nagain: all\n");
}

#[test]
fn passes_take_turns_height_after_height() {
    assert_eq!(text("loop(names, again)"), "names: ^3 ^6\nagain: 2\nnames: ^2\nagain: 1\n");
    let twice = "fix{max=2}(loop((names), fix(again)))";
    assert_eq!(text(twice), "names: ^3 ^6\nagain: 2\nnames: ^2\nagain: 1\n");
}

#[test]
fn loops_that_are_gone_are_left_out() {
    assert_eq!(text("loop(straighten, names)"), "names: ^2\n");
    // The outer loop is still the one of height 1, now that nothing is in it.
    assert_eq!(text("loop(names, straighten, names)"), "names: ^3 ^6\nnames: ^2\nnames: ^2\n");
}

#[test]
fn a_function_without_loops_is_not_visited() {
    assert_eq!(text("straighten, straighten, loop(names)"), "names: ^2\n");
}

#[test]
fn loops_that_a_pass_makes_are_seen_by_those_after_it_alone() {
    assert_eq!(
        text("loop(multiply, names)"),
        "names: ^11 ^3 ^12 ^6\nnames: ^13 ^2\n",
        "^11 and ^12 are in front of ^3 and ^6, ^13 is in front of ^2"
    );
    assert_eq!(text("multiply, names"), "names: ^13 ^11 ^3 ^12 ^6\nnames: ^2\n");
}

#[test]
fn a_failure_says_what_would_have_come_after_it() {
    let text = "loop(names, shy, again), dce";
    let pipeline = Pipeline::parse(&registry(), text).expect("it is right");
    let mut module = nests();
    let failure = run_pipeline(&mut module, &pipeline, &RunOptions::default()).unwrap_err();
    let message = failure.diagnostics()[0].message();
    assert_eq!(message, "pass `shy` failed on @f: loop ^2 is alone");
    let rest = "loop(shy, again), loop(names, shy, again), dce";
    assert!(failure.reproducer().contains(rest), "{}", failure.reproducer());
}

#[test]
fn print_shows_analyses() {
    assert_eq!(
        text("print{loop-forest, dominators}"),
        "\
dominators of @f:
  ^1 dominates ^2
  ^2 dominates ^3, ^5
  ^3 dominates ^4
  ^4 dominates none
  ^5 dominates ^6
  ^6 dominates ^7
  ^7 dominates ^9, ^10
  ^9 dominates none
  ^10 dominates ^8
  ^8 dominates none
loop-forest of @f:
  loop ^2: blocks ^2, ^3, ^4; latches ^4; preheader ^1; exits ^2 -> ^5
    loop ^3: blocks ^3; latches ^3; exits ^3 -> ^4
  loop ^6: blocks ^6; latches ^6; preheader ^5; exits ^6 -> ^7
  irreducible: blocks ^9, ^10
"
    );
}

#[test]
fn print_shows_edges_and_unreachable_blocks() {
    let text = "func @g(%1: bool) -> unit {\n^1:\n  br %1, ^2, ^2\n^2:\n  return nothing\n\
                ^3:\n  br ^3\n}\n";
    let ctx = regraft_dialects::context();
    let mut module = regraft_syntax::parse_module(&ctx, "g.ir", text).expect("it is right");
    let pipeline = Pipeline::parse(&registry(), "print{control-flow}").expect("it is right");
    let report = run_pipeline(&mut module, &pipeline, &RunOptions::default()).expect("it runs");
    let expected = "control-flow of @g:\n  ^1 -> ^2, ^2\n  ^2 -> none\n  unreachable: ^3\n";
    assert_eq!(report.text, expected);
}
