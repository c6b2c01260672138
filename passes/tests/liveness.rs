//! Liveness against its definition.

mod support_graphs;

use regraft_dialects::arith;
use regraft_ir::{Block, ControlFlow, DominatorTree, Function, Liveness, Operand, Value};
use support_graphs::random_graphs;

fn liveness(f: &Function) -> Liveness {
    Liveness::compute(f, &ControlFlow::compute(f))
}

#[test]
fn a_counter_lives_until_the_test_and_the_bound_all_the_time() {
    let text = "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%i: i64):
  %3: bool = arith.lt %i, %1
  br %3, ^3, ^4
^3:
  %4: i64 = arith.add %i, 1
  br ^2(%4)
^4:
  return %i
^5:
  br ^4
}
";
    let module = regraft_syntax::parse_module(&regraft_dialects::context(), "f.ir", text);
    let module = module.unwrap_or_else(|errors| panic!("{}", errors[0].render(false)));
    let f = module.function("f").expect("it is there");
    let found = liveness(f);
    assert_eq!(
        found.describe(f),
        "\
^1: out %1
^2: in %1; out %1, %i
^3: in %1, %i; out %1
^4: in %i
^5: nothing
"
    );
    let (v, b) = (|n| f.value_by_number(n).expect("live"), |n| f.block_by_number(n).expect("live"));
    assert!(found.is_live_in(v(1), b(3)) && !found.is_live_in(v(1), b(4)));
    assert!(found.is_live_out(v(1), b(3)) && !found.is_live_out(v(4), b(3)));
}

/// Gives each block of a graph a value, and uses of values that are there.
fn fill(f: &mut Function, seed: usize) {
    let tree = DominatorTree::compute(f);
    let x = f.param(f.entry().expect("it has one"), 1).expect("it has two");
    let blocks: Vec<Block> = tree.order().to_vec();
    let mut values: Vec<(Block, Value)> = Vec::new();
    for (i, &block) in blocks.iter().enumerate() {
        let seen: Vec<Value> = values
            .iter()
            .filter(|&&(home, _)| tree.dominates(home, block))
            .map(|&(_, v)| v)
            .collect();
        let other = seen.get((7 * i + seed) % (seen.len() + 1)).copied().unwrap_or(x);
        let v = f.push(block, arith::add(other, x)).expect("both are i64");
        values.push((block, v));
    }
}

#[test]
fn random_graphs_have_what_the_definition_says() {
    for (seed, mut f) in random_graphs(300).enumerate() {
        fill(&mut f, seed);
        let (cfg, found) = (ControlFlow::compute(&f), liveness(&f));
        let values: Vec<Value> =
            f.blocks().flat_map(|block| f.params(block).chain(f.body(block))).collect();
        for &v in &values {
            let home = f.block_of(v);
            let uses = |block: Block| {
                let operand = Operand::from(v);
                f.insts(block).any(|user| f.operands(user).any(|o| o == operand))
            };
            // Live where a block begins: used there, or live at its end and not defined there.
            let mut live = vec![false; f.block_capacity()];
            let mut changed = true;
            while changed {
                changed = false;
                for b in cfg.reverse_postorder().filter(|&b| b != home) {
                    let now = uses(b) || f.successors(b).any(|next| live[next.index()]);
                    changed |= now && !std::mem::replace(&mut live[b.index()], now);
                }
            }
            for b in cfg.reverse_postorder() {
                assert_eq!(found.is_live_in(v, b), live[b.index()], "{v} in {b} of\n{f}");
                let after = f.successors(b).any(|next| live[next.index()]);
                assert_eq!(found.is_live_out(v, b), after, "{v} after {b} of\n{f}");
            }
        }
    }
}
