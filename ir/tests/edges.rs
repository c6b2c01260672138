//! Edges in odd places: many to one block, arguments that do not fit, blocks that nothing reaches.

mod common;

use common::*;
use regraft_ir::{Function, Inst, IrErrorKind, IrResult, MAX_OPERANDS, Operand, Type, Value};

fn kind<T: std::fmt::Debug>(result: IrResult<T>) -> IrErrorKind {
    result.unwrap_err().kind()
}

/// A function whose entry has `count` edges to one block without parameters.
fn fan(count: usize) -> (Function, [regraft_ir::Block; 2], Value) {
    let mut f = Function::new(&context(), "fan", &[Type::I64], Type::I64);
    let entry = f.entry().unwrap();
    let n = f.param(entry, 0).unwrap();
    let exit = f.add_block();
    f.set_terminator(entry, Inst::new(BR).operands(vec![exit; count])).unwrap();
    f.set_terminator(exit, ret(n)).unwrap();
    (f, [entry, exit], n)
}

#[test]
fn a_terminator_never_gets_more_operands_than_it_can_have() {
    let (mut f, [_, exit], n) = fan(MAX_OPERANDS / 2 + 1);
    assert_eq!(kind(f.add_param(exit, Type::I64, |_| Some(n))), IrErrorKind::Limit);
    f.check_invariants().unwrap();
    assert_eq!((f.param_count(exit), f.in_edges(exit).count()), (0, MAX_OPERANDS / 2 + 1));
    let (mut f, [entry, exit], n) = fan(MAX_OPERANDS / 2);
    let p = f.add_param(exit, Type::I64, |_| Some(n)).unwrap();
    let edge = f.out_edges(entry).next().unwrap();
    let wide = f.add_block();
    let args = [n; 3];
    for _ in args {
        f.append_param(wide, Type::I64).unwrap();
    }
    assert_eq!(kind(f.redirect(edge, wide, args)), IrErrorKind::Limit);
    f.check_invariants().unwrap();
    // Quadratic work would show here.
    f.remove_param(p).unwrap();
    f.check_invariants().unwrap();
    assert_eq!(f.operand_count(Value::terminator(entry)), MAX_OPERANDS / 2);
}

#[test]
fn both_edges_of_a_branch_to_one_block_get_the_argument() {
    let (mut f, [_, head, body_block, exit], [n, _, c, _]) = counting_loop();
    f.set_terminator(head, branch(c, (exit, &[]), (exit, &[]))).unwrap();
    f.set_terminator(body_block, jump(exit, &[])).unwrap();
    let p = f.add_param(exit, Type::I64, |_| Some(n)).unwrap();
    for edge in f.in_edges_in_order(exit) {
        assert_eq!(f.edge_args(edge).collect::<Vec<_>>(), [Operand::from(n)]);
    }
    assert_eq!(f.pred_blocks(exit), [head, body_block]);
    f.check_invariants().unwrap();
    f.remove_param(p).unwrap();
    assert_eq!(f.operand_count(Value::terminator(head)), 3);
    f.check_invariants().unwrap();
}

#[test]
fn parameters_of_a_loop_on_itself_come_and_go() {
    let (mut f, [_, head, ..], [n, i, ..]) = counting_loop();
    f.set_terminator(head, jump(head, &[i])).unwrap();
    let p = f.add_param(head, Type::I64, |_| Some(n)).unwrap();
    let back = f.out_edges(head).next().unwrap();
    f.redirect(back, head, [p, p]).unwrap();
    f.check_invariants().unwrap();
    assert_eq!(kind(f.remove_param(p)), IrErrorKind::StillUsed, "it is passed for the other");
    let back = f.out_edges(head).next().unwrap();
    f.redirect(back, head, [i, p]).unwrap();
    let mid = f.split_edge(f.out_edges(head).next().unwrap()).unwrap();
    f.check_invariants().unwrap();
    f.merge_blocks(head, mid).unwrap();
    f.remove_param(p).unwrap();
    f.check_invariants().unwrap();
}

#[test]
fn the_entry_can_be_the_head_of_a_loop() {
    let (mut f, [x, y, a, b]) = straight();
    let entry = f.entry().unwrap();
    f.set_terminator(entry, jump(entry, &[a, b])).unwrap();
    let z = f.add_param(entry, Type::I64, |_| Some(y)).unwrap();
    assert_eq!(f.param_types(), [Type::I64; 3]);
    let tail = f.split_block(b).unwrap();
    assert_eq!(f.successors(tail).collect::<Vec<_>>(), [entry]);
    assert_eq!(kind(f.merge_blocks(tail, entry)), IrErrorKind::Unsuitable);
    assert_eq!(kind(f.delete_block(entry)), IrErrorKind::Unsuitable);
    f.merge_blocks(entry, tail).unwrap();
    f.remove_param(z).unwrap();
    f.check_invariants().unwrap();
    assert_eq!(f.params(entry).collect::<Vec<_>>(), [x, y]);
}

/// Two blocks that only branch to each other; the second has as many parameters as `args`
/// picks of them to be passed by the first.
fn unreachable_pair(args: &[usize]) -> (Function, [regraft_ir::Block; 2], Vec<Value>) {
    let (mut f, _) = straight();
    let [p, q] = [(); 2].map(|()| f.add_block());
    let params: Vec<Value> = args.iter().map(|_| f.append_param(q, Type::I64).unwrap()).collect();
    let args: Vec<Value> = args.iter().map(|&i| params[i]).collect();
    f.set_terminator(p, jump(q, &args)).unwrap();
    for &param in &params {
        f.push(q, print(param)).unwrap();
    }
    f.set_terminator(q, jump(p, &[])).unwrap();
    (f, [p, q], params)
}

#[test]
fn a_block_that_passes_parameters_of_its_successor_is_not_merged_with_it() {
    for args in [&[0usize][..], &[1, 0], &[0, 0]] {
        let (mut f, [p, q], _) = unreachable_pair(args);
        let before = f.clone();
        assert_eq!(kind(f.merge_blocks(p, q)), IrErrorKind::Unsuitable);
        f.check_invariants().unwrap();
        assert!(f.structural_eq(&before));
        f.renumber();
    }
}

#[test]
fn edges_left_to_the_verifier_are_refused_where_it_matters() {
    let (mut f, [entry, head, ..], [n, i, ..]) = counting_loop();
    let untyped = Inst::new(BR).operand(head).with_type(Type::NEVER);
    f.set_terminator(entry, untyped).unwrap();
    // An edge that passes too few arguments can be split, and its target loses parameters.
    let edge = f.out_edges(entry).next().unwrap();
    let mid = f.split_edge(edge).unwrap();
    assert_eq!(f.successors(mid).collect::<Vec<_>>(), [head]);
    f.check_invariants().unwrap();
    f.replace_all_uses(i, n).unwrap();
    f.remove_param(i).unwrap();
    f.check_invariants().unwrap();
    // One whose target has more parameters than it passes is not merged away.
    let (mut f, _) = straight();
    let [p, q] = [(); 2].map(|()| f.add_block());
    f.append_param(q, Type::I64).unwrap();
    f.set_terminator(p, Inst::new(BR).operand(q).with_type(Type::NEVER)).unwrap();
    assert_eq!(kind(f.merge_blocks(p, q)), IrErrorKind::Mismatch);
    f.check_invariants().unwrap();
}

#[test]
fn an_argument_is_never_a_block() {
    let (mut f, [entry, head, body_block, exit], _) = counting_loop();
    let edge = f.out_edges(body_block).next().unwrap();
    assert_eq!(kind(f.redirect(edge, exit, [entry])), IrErrorKind::Unsuitable);
    assert_eq!(f.successors(body_block).collect::<Vec<_>>(), [head]);
}

#[test]
fn memory_stays_linear_when_arguments_come_one_by_one() {
    let memory_with = |params: usize| {
        let (mut f, [_, header, ..], values) = counting_loop();
        for _ in 0..params {
            f.add_param(header, Type::I64, |_| Some(values[0])).unwrap();
        }
        f.check_invariants().unwrap();
        f.memory()
    };
    let (few, many) = (memory_with(1_000), memory_with(8_000));
    assert!(many < 12 * few, "{few} bytes with 1,000 parameters, {many} with 8,000");
}
