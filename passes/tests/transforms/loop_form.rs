//! Parts of passes over loops: copies of blocks, and values that leave loops.

use regraft_ir::{Block, ControlFlow, DominatorTree, Edge, Function, Module, Operand, Value};
use regraft_passes::analysis::LoopForest;
use regraft_passes::transforms::util::clone_blocks::{CloneMap, clone_blocks};
use regraft_passes::transforms::util::loop_form::LoopForm;

use super::{only, parse, verify};

fn forest(f: &Function) -> LoopForest {
    LoopForest::compute(f, &ControlFlow::compute(f), &DominatorTree::compute(f))
}

/// Does something with each loop of a function as it is then, inner ones first.
fn each_loop(f: &mut Function, mut act: impl FnMut(&mut Function, LoopForm)) {
    let before = forest(f);
    let headers: Vec<Block> = before.innermost_first().map(|id| before.get(id).header).collect();
    for header in headers {
        let now = forest(f);
        if let Some(id) = now.headed_by(header) {
            act(f, LoopForm::new(&now, id));
        }
    }
}

/// Closes the loops of a function, and checks that nothing leaves one but through exit blocks.
pub fn close(module: &mut Module) {
    for id in module.ids().to_vec() {
        let f = module.get_mut(id).expect("live");
        each_loop(f, |f, mut form| {
            form.ensure_preheader(f).expect("it can have one");
        });
        each_loop(f, |f, form| {
            form.close(f).expect("it can be closed");
        });
        let cfg = ControlFlow::compute(f);
        each_loop(f, |f, form| {
            assert!(form.has_dedicated_exits(f));
            let inside = |block| form.contains(block) || !cfg.is_reachable(block);
            for &block in form.blocks() {
                for v in f.params(block).chain(f.body(block)) {
                    assert!(f.uses(v).all(|at| inside(f.block_of(at.user))), "{v}\n{f}");
                }
            }
        });
        f.check_invariants().unwrap_or_else(|error| panic!("{error}"));
    }
    verify(module);
}

/// Takes the first turn of innermost loops out of them.
pub fn peel(module: &mut Module) {
    for id in module.ids().to_vec() {
        let f = module.get_mut(id).expect("live");
        let forest = forest(f);
        for id in forest.loops().filter(|&id| forest.is_innermost(id)) {
            peel_loop(f, LoopForm::new(&forest, id));
        }
        f.check_invariants().unwrap_or_else(|error| panic!("{error}"));
    }
    verify(module);
}

fn peel_loop(f: &mut Function, mut form: LoopForm) {
    let preheader = form.ensure_preheader(f).expect("it can have one");
    form.close(f).expect("it can be closed");
    let mut map = CloneMap::new();
    clone_blocks(f, form.blocks(), preheader, &mut map).expect("they can be copied");
    let first = map.block(form.header());
    // The loop is entered by the copy, and what went back to the copy goes to the loop.
    for edge in f.in_edges_in_order(first) {
        let args: Vec<Operand> = f.edge_args(edge).collect();
        f.redirect(edge, form.header(), args).expect("it has the same parameters");
    }
    let edge = Edge { from: preheader, position: 0 };
    assert!(f.operand(Value::terminator(preheader), 0).is_some_and(Operand::is_block));
    let args: Vec<Operand> = f.edge_args(edge).collect();
    f.redirect(edge, first, args).expect("it has the same parameters");
}

#[test]
fn the_first_turn_of_a_loop_is_copied_with_its_names() {
    let mut module = parse(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0, 1)
^2(%i: i64, %3: i64):
  %4: bool = arith.lt %i, %1
  br %4, ^3, ^4
^3:
  %5: i64 = arith.mul %3, %i
  %6: i64 = arith.add %i, 1
  br ^2(%6, %5)
^4:
  return %3
}
",
    );
    peel(&mut module);
    assert_eq!(
        module.to_string(),
        "func @f(%1: i64) -> i64 {
^1:
  br ^5(0, 1)
^5(%i.1: i64, %10: i64):
  %11: bool = arith.lt %i.1, %1
  br %11, ^6, ^4(%10)
^6:
  %12: i64 = arith.mul %10, %i.1
  %13: i64 = arith.add %i.1, 1
  br ^2(%13, %12)
^2(%i: i64, %3: i64):
  %4: bool = arith.lt %i, %1
  br %4, ^3, ^4(%3)
^3:
  %5: i64 = arith.mul %3, %i
  %6: i64 = arith.add %i, 1
  br ^2(%6, %5)
^4(%8: i64):
  return %8
}
"
    );
}

#[test]
fn copies_know_what_they_are_copies_of() {
    let mut module = parse(
        "func @f(%1: bool) -> unit {
^1:
  br ^2
^2:
  %2: bool = arith.xor %1, true
  br %2, ^2, ^3
^3:
  return nothing
}
",
    );
    let pass = module.ctx().symbol("peel");
    only(&mut module).set_provenance(Some(pass));
    peel(&mut module);
    let f = only(&mut module);
    let (old, new) = (f.value_by_number(2).expect("live"), f.value_by_number(3).expect("live"));
    assert_eq!(f.origin(new).and_then(|origin| origin.from), Some(old));
    assert_eq!(f.loc(new), f.loc(old));
}
