//! Adjoints by reverse mode and `O2` of the loops that derivatives are judged by: facts that have to
//! hold, and goldens that show each adjoint whole.
//!
//! In front of each golden stands what is kept in an iteration by the best plan and by the one that
//! keeps everything on stacks.

use std::collections::BTreeMap;

use regraft::dialects::{data, mem};
use regraft::exec::Limits;
use regraft::exec::value::{Array, Val};
use regraft::ir::{Function, Type, Value};
use regraft::passes::analysis::{Analyses, LoopForest, LoopId};
use regraft::passes::{O2, PassRegistry, Pipeline};
use regraft_ad::PlanKind;
use regraft_bench::adjoints::{ADBENCH, Adjoint, LOOPS, MOONCAKE, Program};
use regraft_testing::assert_ir_snapshot;
use regraft_testing::test_rule::{RuleOptions, test_call};

use crate::support::told;

fn program(function: &str) -> &'static Program {
    let all = [LOOPS, ADBENCH, MOONCAKE].into_iter().flatten();
    all.into_iter().find(|program| program.function == function).unwrap()
}

#[track_caller]
fn adjoint(program: &Program, plan: PlanKind) -> Adjoint {
    adjoint_after(program, plan, "")
}

/// The adjoint of a program over which a pipeline went.
#[track_caller]
fn adjoint_after(program: &Program, plan: PlanKind, before: &str) -> Adjoint {
    Adjoint::new(program, plan, before)
        .unwrap_or_else(|errors| panic!("{}: {}", program.name(), told(&errors)))
}

/// The adjoint of a program with the best plan, and what a golden shows of it.
#[track_caller]
fn best(function: &str) -> (Adjoint, String) {
    let program = program(function);
    let best = adjoint(program, PlanKind::Best);
    let naive = adjoint(program, PlanKind::Naive);
    let (kept, all) = (best.made.bytes_per_iteration, naive.made.bytes_per_iteration);
    let golden = format!("# bytes kept an iteration: {kept}; naive: {all}\n{}", best.vjp());
    (best, golden)
}

/// The number of times that each op is in a function.
fn ops(f: &Function) -> BTreeMap<&'static str, usize> {
    let mut found = BTreeMap::new();
    for def in f.all_insts().filter_map(|v| f.op_def(v)) {
        *found.entry(def.mnemonic()).or_default() += 1;
    }
    found
}

/// The instructions that make an object.
fn allocations(f: &Function) -> Vec<Value> {
    f.all_insts().filter(|&v| f.op_def(v).is_some_and(|def| def.effects.allocates)).collect()
}

/// Checks that nothing in a function grows: no stacks, be it of values or of block numbers.
#[track_caller]
fn nothing_grows(f: &Function) {
    let stacks: Vec<Value> =
        f.all_insts().filter(|&v| matches!(f.op(v), Some(mem::PUSH | mem::POP))).collect();
    assert_eq!(stacks, [], "{f}");
}

/// The ops in each loop of a function, without those of loops inside it.
fn loops(f: &Function) -> Vec<BTreeMap<&'static str, usize>> {
    let forest = Analyses::default().get::<LoopForest>(f);
    let own = |l: LoopId| {
        let mut found: BTreeMap<&'static str, usize> = BTreeMap::new();
        for &block in forest.blocks(l).iter().filter(|&&block| forest.loop_of(block) == Some(l)) {
            for def in f.body(block).filter_map(|v| f.op_def(v)) {
                *found.entry(def.mnemonic()).or_default() += 1;
            }
        }
        found
    };
    forest.loops().map(own).collect()
}

/// Checks that an adjoint needs no memory but that of its arguments.
#[track_caller]
fn keeps_nothing(adjoint: &Adjoint) {
    let f = adjoint.vjp();
    nothing_grows(f);
    assert_eq!(allocations(f), [], "{f}");
    assert_eq!(adjoint.made.bytes_per_iteration, 0, "{f}");
}

/// Checks that the last loop of a function does nothing but add to one array.
#[track_caller]
fn increments_one_array_at_last(f: &Function) {
    let loops = loops(f);
    let last = loops.last().unwrap();
    for (op, &count) in last {
        match *op {
            "mem.load" | "mem.store" => assert_eq!(count, 1, "{op}:\n{f}"),
            _ => assert!(op.starts_with("arith."), "{op}:\n{f}"),
        }
    }
}

#[test]
fn a_sum_keeps_nothing() {
    let (adjoint, golden) = best("_sum");
    keeps_nothing(&adjoint);
    increments_one_array_at_last(adjoint.vjp());
    assert_ir_snapshot!(golden);
}

#[test]
fn the_sum_of_the_library_keeps_nothing() {
    let (adjoint, golden) = best("total");
    keeps_nothing(&adjoint);
    increments_one_array_at_last(adjoint.vjp());
    assert_ir_snapshot!(golden);
}

#[test]
fn adding_to_a_vector_keeps_nothing() {
    let (adjoint, golden) = best("foo!");
    keeps_nothing(&adjoint);
    assert_ir_snapshot!(golden);
}

#[test]
fn elimination_in_place_keeps_nothing() {
    for function in ["log_det", "squared_solution"] {
        let (adjoint, golden) = best(function);
        nothing_grows(adjoint.vjp());
        assert_eq!(adjoint.made.bytes_per_iteration, 0, "{golden}");
    }
}

#[test]
fn states_in_the_columns_of_a_matrix_are_read_there() {
    let (adjoint, golden) = best("recurrent");
    nothing_grows(adjoint.vjp());
    // The matrix and its shadow.
    assert_eq!(allocations(adjoint.vjp()).len(), 2, "{golden}");
    assert_eq!(adjoint.made.bytes_per_iteration, 0, "{golden}");
    assert_ir_snapshot!(golden);
}

#[test]
fn a_map_keeps_one_array_at_most() {
    let (adjoint, golden) = best("_map_sin_cos_exp");
    let f = adjoint.vjp();
    nothing_grows(f);
    assert!(adjoint.made.bytes_per_iteration <= 8, "{golden}");
    // What `map` returns, its shadow, and what is kept.
    assert!(allocations(f).len() <= 3, "{golden}");
    assert_ir_snapshot!(golden);
}

#[test]
fn a_sum_of_products_in_four_loops_keeps_nothing() {
    let (adjoint, golden) = best("kron_loops");
    keeps_nothing(&adjoint);
    assert_ir_snapshot!(golden);
}

#[test]
fn a_product_through_views_keeps_nothing() {
    let (adjoint, golden) = best("_kron_view_sum");
    nothing_grows(adjoint.vjp());
    assert_eq!(adjoint.made.bytes_per_iteration, 0, "{golden}");
    // The product, and its shadow.
    assert_eq!(ops(adjoint.vjp()).get("mem.alloc"), Some(&2), "{golden}");
    assert_ir_snapshot!(golden);
}

#[test]
fn the_weights_of_layers_are_read_again() {
    let (adjoint, golden) = best("simple_mlp");
    // What the layers make is not what they are given: products write to no weight.
    let copied = ops(adjoint.vjp()).get("mem.copy").copied();
    assert_eq!(copied, None, "{golden}");
    assert!(adjoint.made.bytes_per_iteration <= 8, "{golden}");
}

/// Checks that all that an adjoint keeps is in arrays of known size.
#[track_caller]
fn sizes_are_known(function: &str) -> String {
    let (adjoint, golden) = best(function);
    nothing_grows(adjoint.vjp());
    golden
}

#[test]
fn a_matrix_product_keeps_arrays_of_known_size() {
    assert_ir_snapshot!(sizes_are_known("product_sum"));
}

#[test]
fn layers_keep_arrays_of_known_size() {
    assert_ir_snapshot!(sizes_are_known("two_layers"));
}

#[test]
fn sums_of_exponentials_keep_arrays_of_known_size() {
    assert_ir_snapshot!(sizes_are_known("log_sum_exp_rows"));
}

#[test]
fn a_unit_with_a_memory_keeps_arrays_of_known_size() {
    assert_ir_snapshot!(sizes_are_known("remember"));
}

#[test]
fn which_way_a_branch_went_follows_from_the_iteration() {
    let (adjoint, golden) = best("alternate");
    nothing_grows(adjoint.vjp());
    // The number that the sine or cosine was taken of.
    assert_eq!(adjoint.made.bytes_per_iteration, 8, "{golden}");
    assert_eq!(allocations(adjoint.vjp()).len(), 1, "{golden}");
    assert_ir_snapshot!(golden);
}

#[test]
fn a_loop_until_something_holds_counts_its_iterations() {
    let (adjoint, golden) = best("newton_sqrt");
    // What `y` was; that grows, since nobody knows how often the loop runs.
    assert_eq!(adjoint.made.bytes_per_iteration, 8, "{golden}");
    assert_eq!(ops(adjoint.vjp()).get("mem.push"), Some(&1), "{golden}");
    assert_ir_snapshot!(golden);
}

#[test]
fn fields_of_known_names_are_projections_on_both_ways() {
    for (function, name) in [("field_f", "one_field"), ("sum_fields", "two_fields")] {
        let (adjoint, golden) = best(function);
        keeps_nothing(&adjoint);
        let dynamic = [data::GETFIELD, data::SETFIELD].map(Some);
        let f = adjoint.vjp();
        assert!(f.all_insts().all(|v| !dynamic.contains(&f.op(v))), "{golden}");
        assert_eq!(f.block_count(), 1, "{golden}");
        assert_ir_snapshot!(name, golden);
    }
}

/// The number of block numbers in a tape: all that it holds of booleans.
fn block_numbers(tape: &Val) -> usize {
    let stacks = tape.as_fields().unwrap_or_default().iter().filter_map(Val::as_array);
    stacks.filter(|stack| stack.element() == Type::BOOL).map(Array::len).sum()
}

#[test]
fn unrolling_leaves_a_fourth_of_the_block_numbers() {
    // 300 elements: a number for each of them, and one for the way out.
    for function in ["_sum", "foo!"] {
        let program = program(function);
        let plain = adjoint(program, PlanKind::Naive);
        assert_eq!(block_numbers(&plain.tape()), 301, "{function}");
        let unrolled = adjoint_after(program, PlanKind::Naive, "unroll{factor=4}");
        let left = block_numbers(&unrolled.tape());
        assert!(left <= 301 / 4 + 3, "{function}: {left}");
        // The best plan needs none of them, before and after.
        let best = adjoint_after(program, PlanKind::Best, "unroll{factor=4}");
        assert_eq!(block_numbers(&best.tape()), 0, "{function}");
    }
}

#[test]
fn gradients_are_what_differences_say() {
    for program in [LOOPS, ADBENCH, MOONCAKE].into_iter().flatten() {
        for plan in [PlanKind::Best, PlanKind::Naive] {
            let (found, expected) = adjoint(program, plan).along_a_direction(1);
            let near = (found - expected).abs() <= 1e-7 * expected.abs();
            assert!(near, "{}, {plan:?}: {found} and not {expected}", program.name());
        }
    }
}

/// Examples that take more than they should, as yet, and how much at most.
const MISSED: [(&str, f64); 1] = [
    // For each product, that itself, two for its cotangents, and a sum: there is no less.
    ("mooncake/large_single_block: large_single_block", 4.0),
];

#[test]
fn gradients_take_few_instructions() {
    let mut missed = Vec::new();
    for program in [LOOPS, ADBENCH, MOONCAKE].into_iter().flatten() {
        let name = program.name();
        let known = MISSED.iter().find(|(missed, _)| *missed == name);
        let most = known.map_or(program.most, |&(_, most)| most);
        let ratio = adjoint(program, PlanKind::Best).ratio();
        if ratio > most {
            missed.push(format!("{name}: {ratio:.2}, not {most}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn all_modes_and_plans_agree_on_the_loops() {
    let limits = Limits { fuel: Some(1_000_000), ..Limits::default() };
    let before = Pipeline::parse(&PassRegistry::standard(), O2.name).unwrap();
    let options = RuleOptions { limits, before, ..RuleOptions::default() };
    for program in LOOPS {
        let mut session = program.session().unwrap_or_else(|errors| panic!("{}", told(&errors)));
        let call = format!("{}({})", program.function, program.args);
        let report = test_call(&mut session, &call, &options);
        let report = report.unwrap_or_else(|failure| panic!("{}: {failure}", program.name()));
        assert_eq!(report.agreed + report.kinks, 1, "{}: {report}", program.name());
    }
}
