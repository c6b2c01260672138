//! Mutations of a function: what each does, and what it refuses.

mod common;

use common::*;
use regraft_ir::{Cursor, Function, IrErrorKind, Operand, Pipe, Type, Value};

fn kind<T: std::fmt::Debug>(result: regraft_ir::IrResult<T>) -> IrErrorKind {
    result.unwrap_err().kind()
}

#[test]
fn repeated_insertions_keep_call_order_on_both_sides() {
    let (mut f, [x, y, a, b]) = straight();
    let before: Vec<Value> = (0..5).map(|_| f.insert(b, add(x, y)).unwrap()).collect();
    let after: Vec<Value> = (0..5).map(|_| f.insert_after(a, add(x, y)).unwrap()).collect();
    let expected: Vec<Value> = [a].into_iter().chain(after).chain(before).chain([b]).collect();
    assert_eq!(body(&f, f.entry().unwrap()), expected);
    assert!(expected.is_sorted_by(|v, w| f.comes_before(*v, *w)));
}

#[test]
fn insertion_at_a_parameter_is_at_the_start_of_the_block_in_call_order() {
    let (mut f, [x, y, a, b]) = straight();
    let p = f.insert(x, add(x, y)).unwrap();
    let q = f.insert_after(y, add(x, y)).unwrap();
    let r = f.insert(y, add(x, y)).unwrap();
    assert_eq!(body(&f, f.entry().unwrap()), [p, q, r, a, b]);
}

#[test]
fn insertion_before_the_terminator_is_at_the_end() {
    let (mut f, [x, y, a, b]) = straight();
    let entry = f.entry().unwrap();
    let p = f.insert(Value::terminator(entry), add(x, y)).unwrap();
    assert_eq!(body(&f, entry), [a, b, p]);
    assert_eq!(kind(f.insert_after(Value::terminator(entry), add(x, y))), IrErrorKind::Unsuitable);
}

#[test]
fn order_after_survives_the_deletion_of_the_last_inserted() {
    let (mut f, [x, y, a, b]) = straight();
    let p = f.insert_after(a, add(x, y)).unwrap();
    let q = f.insert_after(a, add(x, y)).unwrap();
    f.delete(q).unwrap();
    let r = f.insert_after(a, add(x, y)).unwrap();
    assert_eq!(body(&f, f.entry().unwrap()), [a, p, r, b]);
    f.delete(r).unwrap();
    f.delete(p).unwrap();
    let s = f.insert_after(a, add(x, y)).unwrap();
    assert_eq!(body(&f, f.entry().unwrap()), [a, s, b]);
}

#[test]
fn push_appends_and_push_front_prepends() {
    let (mut f, [x, y, a, b]) = straight();
    let entry = f.entry().unwrap();
    let p = f.push(entry, add(x, y)).unwrap();
    let q = f.push_front(entry, add(x, y)).unwrap();
    let r = f.push_front(entry, add(x, y)).unwrap();
    assert_eq!(body(&f, entry), [r, q, a, b, p]);
}

#[test]
fn numbers_follow_creation_and_are_not_used_again() {
    let (mut f, [x, y, _, _]) = straight();
    let p = f.push(f.entry().unwrap(), add(x, y)).unwrap();
    assert_eq!(p.number(), 5);
    f.delete(p).unwrap();
    let q = f.push(f.entry().unwrap(), add(x, y)).unwrap();
    assert_eq!(q.number(), 6);
    assert!(!f.is_live(p));
    assert_eq!(f.value_by_number(5), None);
}

#[test]
fn a_used_value_is_not_deleted_and_the_users_are_named() {
    let (mut f, [_, _, a, b]) = straight();
    let error = f.delete(a).unwrap_err();
    assert_eq!(error.kind(), IrErrorKind::StillUsed);
    assert_eq!(error.message(), "%3 is still used by %4");
    let error = f.delete(b).unwrap_err();
    assert_eq!(error.message(), "%4 is still used by the terminator of ^1");
}

#[test]
fn stale_and_foreign_handles_are_refused_by_name() {
    let (mut f, [x, y, _, _]) = straight();
    let dead = f.push(f.entry().unwrap(), add(x, y)).unwrap();
    f.delete(dead).unwrap();
    for error in [
        f.delete(dead).unwrap_err(),
        f.insert(dead, add(x, y)).unwrap_err(),
        f.insert_after(dead, add(x, y)).unwrap_err(),
        f.replace(dead, add(x, y)).unwrap_err(),
        f.push(f.entry().unwrap(), add(dead, y)).unwrap_err(),
        f.replace_all_uses(x, dead).unwrap_err(),
        f.set_name_of(dead, Some("a")).unwrap_err(),
        f.split_block(dead).unwrap_err(),
    ] {
        assert_eq!(error.kind(), IrErrorKind::StaleValue);
        assert_eq!(error.message(), "%5 of @straight was deleted");
    }
    let (other, [ox, _, _, _]) = straight();
    assert_eq!(kind(f.push(f.entry().unwrap(), add(ox, y))), IrErrorKind::ForeignValue);
    assert_eq!(kind(f.push(other.entry().unwrap(), add(x, y))), IrErrorKind::ForeignBlock);
    assert_eq!(kind(f.delete(ox)), IrErrorKind::ForeignValue);
}

#[test]
fn operands_that_do_not_fit_are_refused_and_nothing_changes() {
    let (mut f, [x, _, _, b]) = straight();
    let before = f.stamp();
    let half = f.constant_id(0.5f64);
    let error = f.insert(b, add(x, half)).unwrap_err();
    assert_eq!(error.message(), "operands of `t.add` are of different types, i64 and f64");
    let yes = f.constant_id(true);
    let error = f.insert(b, add(yes, yes)).unwrap_err();
    assert_eq!(error.message(), "operand `x` of `t.add` is of type bool, expected a number type");
    let error = f.insert(b, add(x, x).operand(x)).unwrap_err();
    assert_eq!(error.message(), "`t.add` takes 2 operands, found 3");
    let error = f.insert(b, ret(x)).unwrap_err();
    assert_eq!(error.message(), "`return` is a terminator and has to end a block");
    assert_eq!(f.stamp(), before);
}

#[test]
fn replace_keeps_id_users_and_location() {
    let (mut f, [x, y, a, b]) = straight();
    let loc = f.ctx().named_loc("a.jl", 3, 1);
    f.set_loc(a, loc).unwrap();
    f.replace(a, add(y, x)).unwrap();
    assert_eq!(f.matches(a, ADD), Some([y.into(), x.into()]));
    assert_eq!(f.loc(a), loc);
    assert_eq!(f.uses(a).map(|u| u.user).collect::<Vec<_>>(), [b]);
    assert_eq!(kind(f.replace(a, lt(x, y))), IrErrorKind::Mismatch, "its type is relied upon");
    assert_eq!(kind(f.replace(a, add(a, x))), IrErrorKind::Unsuitable);
    assert_eq!(kind(f.replace(x, add(y, y))), IrErrorKind::Unsuitable);
}

#[test]
fn replace_all_uses_covers_terminators_and_edge_arguments() {
    let (mut f, [_, head, body_block, exit], [n, i, _, next]) = counting_loop();
    f.replace_all_uses(next, n).unwrap();
    let edge = f.out_edges(body_block).next().unwrap();
    assert_eq!(f.edge_args(edge).collect::<Vec<_>>(), [Operand::from(n)]);
    let seven = f.constant_id(7i64);
    f.replace_all_uses(i, seven).unwrap();
    assert!(!f.is_used(i));
    assert_eq!(f.operand(Value::terminator(exit), 0), Some(seven.into()));
    let half = f.constant_id(0.5f64);
    assert_eq!(kind(f.replace_all_uses(n, half)), IrErrorKind::Mismatch);
    assert_eq!(f.in_edges(head).count(), 2);
}

#[test]
fn delete_tree_takes_what_dies_and_leaves_what_is_used_or_acts() {
    let (mut f, [x, y, a, b]) = straight();
    let entry = f.entry().unwrap();
    let p = f.push(entry, add(a, x)).unwrap();
    let q = f.push(entry, add(p, p)).unwrap();
    let r = f.push(entry, print(q)).unwrap();
    let s = f.push(entry, add(q, y)).unwrap();
    assert_eq!(f.delete_tree(s).unwrap(), 1, "q is printed");
    assert_eq!(f.delete_tree(r).unwrap(), 3, "r, q and p; a is used by b");
    assert_eq!(body(&f, entry), [a, b]);
}

#[test]
fn a_parameter_comes_and_goes_with_its_arguments() {
    let (mut f, [entry, head, body_block, exit], [n, i, _, next]) = counting_loop();
    let acc =
        f.add_param(head, Type::I64, |pred| Some(if pred == entry { n } else { next })).unwrap();
    let args = |f: &Function, b| {
        let edge = f.out_edges(b).next().unwrap();
        f.edge_args(edge).collect::<Vec<_>>()
    };
    assert_eq!(args(&f, body_block), [next.into(), Operand::from(next)]);
    assert_eq!(args(&f, entry)[1], Operand::from(n));
    assert_eq!(f.params(head).collect::<Vec<_>>(), [i, acc]);
    f.set_terminator(exit, ret(acc)).unwrap();
    assert_eq!(kind(f.remove_param(acc)), IrErrorKind::StillUsed);
    f.set_terminator(exit, ret(n)).unwrap();
    f.remove_param(acc).unwrap();
    assert_eq!(args(&f, body_block), [Operand::from(next)]);
    let missing = f.add_param(head, Type::I64, |pred| (pred == entry).then_some(n));
    assert_eq!(kind(missing), IrErrorKind::Mismatch);
    assert_eq!(args(&f, entry).len(), 1, "a refused parameter leaves the edges alone");
}

#[test]
fn a_parameter_that_feeds_only_itself_can_be_removed() {
    let (mut f, [entry, head, body_block, _], [n, ..]) = counting_loop();
    let acc = f.add_param(head, Type::I64, |_| Some(n)).unwrap();
    let edge = f.out_edges(body_block).next().unwrap();
    let first = f.edge_args(edge).next().unwrap();
    f.redirect(edge, head, [first, acc.into()]).unwrap();
    f.remove_param(acc).unwrap();
    assert_eq!(f.param_count(head), 1);
    assert_eq!(f.edge_args(f.out_edges(entry).next().unwrap()).len(), 1);
}

#[test]
fn splitting_and_merging_a_block_are_inverse() {
    let (f, [_, head, ..], [_, _, c, _]) = counting_loop();
    let mut g = f.clone();
    let tail = g.split_block(c).unwrap();
    assert_eq!(g.successors(head).collect::<Vec<_>>(), [tail]);
    assert_eq!(body(&g, tail), [c]);
    assert_eq!(g.next_block(head), Some(tail));
    assert!(!f.structural_eq(&g));
    g.merge_blocks(head, tail).unwrap();
    assert!(f.structural_eq(&g));
    assert!(!g.is_live_block(tail));
}

#[test]
fn splitting_an_edge_passes_its_arguments_on() {
    let (mut f, [_, head, body_block, _], [_, _, _, next]) = counting_loop();
    let edge = f.out_edges(body_block).next().unwrap();
    let new = f.split_edge(edge).unwrap();
    assert_eq!(f.successors(body_block).collect::<Vec<_>>(), [new]);
    let passed = f.out_edges(new).next().unwrap();
    assert_eq!(f.edge_target(passed), head);
    assert_eq!(f.edge_args(passed).collect::<Vec<_>>(), [Operand::from(next)]);
    assert_eq!(f.param_count(new), 0);
}

#[test]
fn merging_replaces_parameters_by_arguments() {
    let (mut f, [_, head, body_block, _], [_, i, _, next]) = counting_loop();
    let edge = f.out_edges(body_block).next().unwrap();
    let mid = f.split_edge(edge).unwrap();
    let p = f.add_param(mid, Type::I64, |_| Some(next)).unwrap();
    let passed = f.out_edges(mid).next().unwrap();
    f.redirect(passed, head, [p]).unwrap();
    f.merge_blocks(body_block, mid).unwrap();
    let back = f.out_edges(body_block).next().unwrap();
    assert_eq!(f.edge_args(back).collect::<Vec<_>>(), [Operand::from(next)]);
    assert!(f.is_live(i));
    let error = f.merge_blocks(body_block, head).unwrap_err();
    assert_eq!(error.kind(), IrErrorKind::Unsuitable, "head has two entering edges");
}

#[test]
fn a_block_that_is_branched_to_or_used_from_elsewhere_is_not_deleted() {
    let (mut f, [entry, head, body_block, _], _) = counting_loop();
    let error = f.delete_block(body_block).unwrap_err();
    assert_eq!(error.message(), "^3 of @count is still branched to from ^2");
    assert_eq!(kind(f.delete_block(entry)), IrErrorKind::Unsuitable);
    let lone = f.add_block();
    let zero = f.constant_id(0i64);
    f.set_terminator(lone, jump(lone, &[])).unwrap();
    f.push(lone, add(zero, zero)).unwrap();
    f.delete_block(lone).unwrap();
    assert_eq!(kind(f.push(lone, add(zero, zero))), IrErrorKind::StaleBlock);
    assert!(f.is_live_block(head));
}

#[test]
fn an_unreachable_loop_is_deleted_as_a_whole() {
    let (mut f, ..) = straight();
    let [p, q] = [(); 2].map(|()| f.add_block());
    let zero = f.constant_id(0i64);
    let v = f.push(p, add(zero, zero)).unwrap();
    f.push(q, add(v, zero)).unwrap();
    f.set_terminator(p, jump(q, &[])).unwrap();
    f.set_terminator(q, jump(p, &[])).unwrap();
    assert_eq!(kind(f.delete_block(q)), IrErrorKind::StillUsed);
    f.delete_blocks(&[p, q]).unwrap();
    assert_eq!((f.block_count(), f.value_count()), (1, 4));
}

#[test]
fn edges_have_to_fit_their_targets() {
    let (mut f, [entry, head, ..], [n, ..]) = counting_loop();
    assert_eq!(
        f.set_terminator(entry, jump(head, &[])).unwrap_err().message(),
        "the edge to ^2 passes 0 arguments, ^2 has 1 parameter"
    );
    let half = f.constant_id(0.5f64);
    let edge = f.out_edges(entry).next().unwrap();
    assert_eq!(
        f.redirect(edge, head, [half]).unwrap_err().message(),
        "argument 1 of the edge to ^2 is of type f64, the parameter of type i64"
    );
    f.redirect(edge, head, [n]).unwrap();
    assert_eq!(f.predecessors(head).len(), 2);
}

#[test]
fn each_mutation_bumps_the_epoch_of_its_facet() {
    let (mut f, [_, head, body_block, _], [n, i, _, next]) = counting_loop();
    let e = f.epochs();
    f.insert(next, add(n, i)).unwrap();
    assert!(f.epochs().insts > e.insts && f.epochs().cfg == e.cfg);
    let e = f.epochs();
    f.add_block();
    assert!(f.epochs().cfg > e.cfg && f.epochs().insts == e.insts);
    let e = f.epochs();
    f.set_type(i, Type::ANY).unwrap();
    assert!(f.epochs().types > e.types && f.epochs().cfg == e.cfg);
    let e = f.epochs();
    f.set_terminator(body_block, jump(head, &[n])).unwrap();
    assert!(f.epochs().cfg > e.cfg);
    assert_ne!(f.clone().stamp(), f.stamp(), "a clone is another function");
}

#[test]
fn names_are_unique_and_go_with_their_value() {
    let (mut f, [x, y, a, b]) = straight();
    f.set_name_of(a, Some("acc")).unwrap();
    f.set_name_of(b, Some("acc")).unwrap();
    assert_eq!((f.value_text(a).as_str(), f.value_text(b).as_str()), ("%acc", "%acc.1"));
    assert_eq!(f.value_by_name("acc"), Some(a));
    f.replace_all_uses(a, x).unwrap();
    f.delete(a).unwrap();
    assert_eq!(f.value_by_name("acc"), None);
    assert_eq!(kind(f.set_name_of(y, Some("12"))), IrErrorKind::Name);
    let new = f.renumber();
    assert_eq!(f.value_by_name("acc.1"), new.value(b));
}

#[test]
fn origins_tell_who_made_a_value_and_from_what() {
    let (mut f, [x, y, a, b]) = straight();
    let pass = f.ctx().symbol("my-pass");
    f.set_provenance(Some(pass));
    let p = f.insert(b, add(x, y)).unwrap();
    let q = f.push(f.entry().unwrap(), add(x, y).made_from(a)).unwrap();
    f.set_provenance(None);
    let r = f.insert(b, add(x, y)).unwrap();
    assert_eq!(f.origin(p).map(|o| (o.by, o.from)), Some((pass, Some(b))));
    assert_eq!(f.origin(q).and_then(|o| o.from), Some(a));
    assert_eq!((f.origin(r), f.origin(a)), (None, None));
}

#[test]
fn renumbering_counts_in_layout_order_and_changes_nothing_else() {
    let (mut f, [x, y, _, b]) = straight();
    f.insert(b, add(x, y)).unwrap();
    let dead = f.push(f.entry().unwrap(), add(x, y)).unwrap();
    f.delete(dead).unwrap();
    let old = f.clone();
    let map = f.renumber();
    assert!(f.structural_eq(&old));
    let numbers: Vec<u32> = body(&f, f.entry().unwrap()).iter().map(|v| v.number()).collect();
    assert_eq!(numbers, [3, 4, 5]);
    assert_eq!(map.value(b).map(Value::number), Some(5));
    assert_eq!(map.value(dead), None);
    assert_eq!(kind(f.delete(b)), IrErrorKind::ForeignValue, "old handles are caught");
}

#[test]
fn structural_equality_ignores_numbers_and_sees_every_difference() {
    let (f, [entry, head, ..], [n, i, c, next]) = counting_loop();
    assert!(f.structural_eq(&counting_loop().0), "over another context");
    let mut changed: Vec<Function> = Vec::new();
    let mut with = |change: &dyn Fn(&mut Function)| {
        let mut g = f.clone();
        change(&mut g);
        changed.push(g);
    };
    with(&|g| g.replace(next, add(i, i)).unwrap());
    with(&|g| g.replace(c, lt(n, i)).unwrap());
    with(&|g| g.set_type(i, Type::ANY).unwrap());
    with(&|g| g.set_terminator(entry, jump(head, &[n])).unwrap());
    with(&|g| {
        g.push(head, print(i)).unwrap();
    });
    with(&|g| g.set_ret_type(Type::ANY));
    for g in changed {
        assert!(!f.structural_eq(&g));
    }
}

#[test]
fn permuting_blocks_keeps_the_entry_first() {
    let (mut f, [entry, head, body_block, exit], _) = counting_loop();
    f.permute_blocks(&[entry, exit, head, body_block]).unwrap();
    assert_eq!(f.blocks().collect::<Vec<_>>(), [entry, exit, head, body_block]);
    assert!(f.block_comes_before(exit, head));
    assert_eq!(kind(f.permute_blocks(&[head, entry, exit, body_block])), IrErrorKind::Unsuitable);
    assert_eq!(kind(f.permute_blocks(&[entry, exit, head])), IrErrorKind::Unsuitable);
    assert_eq!(kind(f.permute_blocks(&[entry, exit, head, head])), IrErrorKind::Unsuitable);
}

#[test]
fn a_cursor_survives_every_edit_around_it() {
    let (mut f, [x, y, a, b]) = straight();
    let mut seen = Vec::new();
    let mut at = Cursor::new(&mut f);
    while let Some(v) = at.next() {
        seen.push(v);
        if v == a {
            at.insert(add(x, y));
            let after = at.insert_after(add(y, y));
            at.replace_with(a, x);
            // The walk goes on behind the deleted one: at what was inserted after it.
            assert_eq!(at.next(), Some(after));
            at.delete(after);
        } else if v == b {
            at.function().split_block(b).unwrap();
        }
    }
    let term = |f: &Function, i| Value::terminator(f.blocks().nth(i).unwrap());
    assert_eq!(seen, [a, b, term(&f, 1)]);
    assert_eq!(f.block_count(), 2);
}

#[test]
fn a_cursor_visits_inserted_after_but_not_before() {
    let (mut f, [x, y, a, b]) = straight();
    let (mut seen, mut inserted) = (Vec::new(), None);
    let mut at = Cursor::new(&mut f);
    while let Some(v) = at.next() {
        seen.push(v);
        if v == a {
            at.insert(add(x, y));
            inserted = Some(at.insert_after(add(x, y)));
        }
    }
    let entry = f.entry().unwrap();
    assert_eq!(seen, [a, inserted.unwrap(), b, Value::terminator(entry)]);
}

#[test]
#[should_panic(expected = "%3 is still used by %4")]
fn a_cursor_panics_on_misuse_with_the_message() {
    let (mut f, [_, _, a, _]) = straight();
    Cursor::new(&mut f).delete(a);
}

#[test]
fn a_pipe_copies_exactly() {
    let (f, ..) = counting_loop();
    let g = Pipe::new(&f).finish().unwrap();
    assert!(f.structural_eq(&g));
    assert_eq!(f.all_insts().collect::<Vec<_>>(), g.all_insts().collect::<Vec<_>>());
}

#[test]
fn a_pipe_inserts_pushes_replaces_and_substitutes() {
    let (f, [x, y, a, b]) = straight();
    let mut pipe = Pipe::new(&f);
    let mut visited = Vec::new();
    let mut made = Vec::new();
    while let Some((v, statement)) = pipe.next() {
        visited.push(v);
        if v == a {
            assert_eq!(statement.operand_list(), [x.into(), Operand::from(y)]);
            made.push(pipe.insert(v, add(x, x)).unwrap());
            made.push(pipe.push(add(a, x)).unwrap());
            pipe.substitute_with(a, made[0]).unwrap();
        }
        if v == b {
            pipe.replace(b, add(b_operand(&pipe, a), y)).unwrap();
        }
    }
    let entry = f.entry().unwrap();
    assert_eq!(visited, [a, b, Value::terminator(entry)]);
    let g = pipe.finish().unwrap();
    assert_eq!(body(&g, entry), [made[0], a, made[1], b]);
    assert_eq!(g.operand(b, 0), Some(made[0].into()), "the alias stands for a from then on");
    assert_eq!(g.operand(made[1], 0), Some(made[0].into()), "and in what was there");
}

fn b_operand(pipe: &Pipe<'_>, v: Value) -> Operand {
    pipe.substitute(v)
}

#[test]
fn what_a_pipe_deletes_has_to_be_replaced() {
    let (f, [x, _, a, b]) = straight();
    let mut pipe = Pipe::new(&f);
    while let Some((v, _)) = pipe.next() {
        if v == a {
            pipe.delete(a).unwrap();
        }
    }
    assert_eq!(pipe.finish().unwrap_err().message(), "%3 is still used by %4");
    let mut pipe = Pipe::new(&f);
    while let Some((v, _)) = pipe.next() {
        if v == a {
            pipe.delete(a).unwrap();
            pipe.substitute_with(a, x).unwrap();
        }
    }
    let g = pipe.finish().unwrap();
    assert_eq!(body(&g, g.entry().unwrap()), [b]);
    assert_eq!(g.operand(b, 0), Some(x.into()));
}
