//! Names, the order of insertions, types of what is reserved: all that a function remembers beside its
//! instructions stays right, whatever is edited.

mod common;

use common::*;
use regraft_ir::{Function, Inst, IrErrorKind, IrResult, Pipe, Type, Value};

fn kind<T: std::fmt::Debug>(result: IrResult<T>) -> IrErrorKind {
    result.unwrap_err().kind()
}

fn order(f: &Function) -> Vec<Value> {
    f.blocks().flat_map(|b| f.body(b)).collect()
}

// --- the order of insertions after a value ---------------------------------------------------

#[test]
fn what_moves_away_no_longer_marks_a_place() {
    let (mut f, [x, y, a, b]) = straight();
    let p = f.insert_after(b, add(x, y)).unwrap();
    let q = f.insert_after(b, add(x, y)).unwrap();
    f.move_before(q, a).unwrap();
    let r = f.insert_after(b, add(x, y)).unwrap();
    assert_eq!(order(&f), [q, a, b, p, r]);
    f.move_before(p, a).unwrap();
    f.move_before(r, a).unwrap();
    let s = f.insert_after(b, add(x, y)).unwrap();
    assert_eq!(order(&f), [q, p, r, a, b, s]);
}

#[test]
fn what_follows_a_value_that_moves_stays_behind() {
    let (mut f, [x, y, a, b]) = straight();
    let p = f.insert_after(a, add(x, y)).unwrap();
    let q = f.insert_after(p, add(x, y)).unwrap();
    f.move_before(p, Value::terminator(f.entry().unwrap())).unwrap();
    let r = f.insert_after(p, add(x, y)).unwrap();
    assert_eq!(order(&f), [a, q, b, p, r]);
}

#[test]
fn order_after_survives_what_others_insert_in_between() {
    let (mut f, [x, y, a, b]) = straight();
    let p = f.insert_after(a, add(x, y)).unwrap();
    let q = f.insert_after(a, add(x, y)).unwrap();
    let between = f.insert(q, add(x, x)).unwrap();
    f.delete(q).unwrap();
    let r = f.insert_after(a, add(x, y)).unwrap();
    assert_eq!(order(&f), [a, p, between, r, b]);
    f.delete(r).unwrap();
    f.delete(between).unwrap();
    let s = f.insert_after(a, add(x, y)).unwrap();
    assert_eq!(order(&f), [a, p, s, b]);
}

#[test]
fn order_after_survives_splitting_and_merging() {
    let (mut f, [x, y, a, b]) = straight();
    let entry = f.entry().unwrap();
    let p = f.insert_after(a, add(x, y)).unwrap();
    let q = f.insert_after(a, add(x, y)).unwrap();
    let tail = f.split_block(q).unwrap();
    let r = f.insert_after(a, add(x, y)).unwrap();
    assert_eq!(order(&f), [a, r, p, q, b], "the last one stands in another block");
    f.merge_blocks(entry, tail).unwrap();
    let s = f.insert_after(a, add(x, y)).unwrap();
    assert_eq!(order(&f), [a, r, s, p, q, b]);
    let t = f.insert_after(x, add(x, y)).unwrap();
    f.split_block(t).unwrap();
    let u = f.insert_after(x, add(x, y)).unwrap();
    let v = f.insert_after(y, add(x, y)).unwrap();
    assert_eq!(f.body(entry).collect::<Vec<_>>(), [u, v]);
    f.check_invariants().unwrap();
}

#[test]
fn order_after_survives_deleting_in_bulk() {
    let (mut f, [x, y, a, b]) = straight();
    let made: Vec<Value> = (0..6).map(|_| f.insert_after(a, add(x, y)).unwrap()).collect();
    f.delete_all(&[made[5], made[3], made[4]]).unwrap();
    let new = f.insert_after(a, add(x, y)).unwrap();
    assert_eq!(order(&f), [a, made[0], made[1], made[2], new, b]);
}

#[test]
fn a_pipe_keeps_call_order_after_a_deletion() {
    let (f, [x, y, a, b]) = straight();
    let mut pipe = Pipe::new(&f);
    while let Some((v, _)) = pipe.next() {
        if v == b {
            let p = pipe.insert_after(a, add(x, y)).unwrap();
            let q = pipe.insert_after(a, add(x, y)).unwrap();
            pipe.delete(q).unwrap();
            let r = pipe.insert_after(a, add(x, y)).unwrap();
            assert_eq!(order(pipe.function()), [a, p, r, b]);
        }
    }
    pipe.finish().unwrap().check_invariants().unwrap();
}

// --- names -----------------------------------------------------------------------------------

#[test]
fn a_name_is_handed_on_to_live_values_only() {
    let (mut f, [x, y, a, b]) = straight();
    f.set_name_of(a, Some("acc")).unwrap();
    let dead = f.insert(b, add(x, y)).unwrap();
    f.delete(dead).unwrap();
    let (other, _) = straight();
    let foreign = other.params(other.entry().unwrap()).next().unwrap();
    for to in [dead, foreign, Value::terminator(f.entry().unwrap()), a] {
        f.transfer_name(a, to);
        assert_eq!(f.value_by_name("acc"), Some(a));
    }
    f.transfer_name(a, b);
    assert_eq!((f.value_by_name("acc"), f.value_name(a)), (Some(b), None));
    let new = f.renumber();
    assert_eq!(f.value_by_name("acc"), new.value(b));
}

#[test]
fn names_of_what_a_pipe_deletes_are_free_again() {
    let (mut f, [x, _, a, _]) = straight();
    f.set_name_of(a, Some("acc")).unwrap();
    let mut pipe = Pipe::new(&f);
    while let Some((v, _)) = pipe.next() {
        if v == a {
            pipe.delete(a).unwrap();
            pipe.substitute_with(a, x).unwrap();
        }
    }
    let mut g = pipe.finish().unwrap();
    assert_eq!(g.value_by_name("acc"), None);
    g.renumber();
    g.check_invariants().unwrap();
}

#[test]
fn a_refused_name_leaves_the_old_one() {
    let (mut f, [_, _, a, _]) = straight();
    f.set_name_of(a, Some("acc")).unwrap();
    assert_eq!(kind(f.set_name_of(a, Some("7"))), IrErrorKind::Name);
    assert_eq!(kind(f.set_name_of(a, Some(""))), IrErrorKind::Name);
    assert_eq!(f.value_name(a), Some("acc"));
    f.set_name_of(a, Some("acc")).unwrap();
    assert_eq!(f.value_name(a), Some("acc"));
    f.set_name_of(a, None).unwrap();
    assert_eq!((f.value_name(a), f.value_by_name("acc")), (None, None));
}

#[test]
fn many_values_can_want_one_name() {
    let (mut f, [x, ..]) = straight();
    let entry = f.entry().unwrap();
    // One by one, that would be a billion attempts.
    let n = 50_000;
    let values: Vec<Value> = (0..n).map(|_| f.push(entry, add(x, x)).unwrap()).collect();
    for &v in &values {
        f.set_name_of(v, Some("i")).unwrap();
    }
    assert_eq!(f.value_name(values[0]), Some("i"));
    for k in [1, 2, 3, 4, 100, n - 1] {
        assert_eq!(f.value_by_name(&format!("i.{k}")), Some(values[k]));
    }
}

#[test]
fn names_come_and_go_whether_they_are_few_or_many() {
    for n in [3, 16, 17, 40] {
        let (mut f, [x, ..]) = straight();
        let entry = f.entry().unwrap();
        let values: Vec<Value> = (0..n).map(|_| f.push(entry, add(x, x)).unwrap()).collect();
        for (k, &v) in values.iter().enumerate() {
            f.name_after(v, f.ctx().symbol(&format!("v{k}"))).unwrap();
            f.name_after(v, f.ctx().symbol("other")).unwrap();
            f.set_name_of(v, Some(&format!("v{k}"))).unwrap();
        }
        // A name that is taken gets a suffix, also by this way.
        let more = f.push(entry, add(x, x)).unwrap();
        f.name_after(more, f.ctx().symbol("v1")).unwrap();
        assert_eq!(f.value_name(more), Some("v1.1"));
        for (k, &v) in values.iter().enumerate().step_by(2) {
            f.set_name_of(v, None).unwrap();
            assert_eq!((f.value_name(v), f.value_by_name(&format!("v{k}"))), (None, None));
        }
        let copy = f.clone();
        let new = f.renumber();
        for (k, &v) in values.iter().enumerate() {
            let name = format!("v{k}");
            let named = (k % 2 == 1).then_some(v);
            assert_eq!(copy.value_by_name(&name), named);
            assert_eq!(f.value_by_name(&name), named.and_then(|v| new.value(v)));
        }
        f.check_invariants().unwrap();
    }
}

// --- what is checked when it is made ---------------------------------------------------------

#[test]
fn only_terminators_branch_also_if_their_type_is_stated() {
    let (mut f, [_, y, _, b]) = straight();
    let entry = f.entry().unwrap();
    let bad = Inst::new(ADD).operand(entry).operand(y).with_type(Type::I64);
    assert_eq!(
        f.push(entry, bad.clone()).unwrap_err().message(),
        "`t.add` cannot branch to a block"
    );
    assert_eq!(kind(f.replace(b, bad)), IrErrorKind::Mismatch);
    assert_eq!(f.in_edges(entry).count(), 0);
}

#[test]
fn an_argument_of_another_type_is_refused() {
    let (mut f, [entry, ..], [n, ..]) = counting_loop();
    let term = Value::terminator(entry);
    let half = f.constant_id(0.5f64);
    let error = f.set_operand(term, 1, half).unwrap_err();
    assert_eq!(
        error.message(),
        "argument 1 of the edge to ^2 is of type f64, the parameter of type i64"
    );
    f.set_operand(term, 1, n).unwrap();
    f.check_invariants().unwrap();
}

#[test]
#[should_panic(expected = "%1 of @straight is not reserved")]
fn types_of_what_is_there_are_not_changed_behind_the_epochs() {
    let (mut f, [x, ..]) = straight();
    f.set_reserved_type(x, Type::ANY);
}

#[test]
fn attributes_of_a_function_are_a_change_of_it() {
    let (mut f, _) = straight();
    let before = f.stamp();
    let attrs = f.ctx().attrs(&[(f.ctx().symbol("inline"), f.constant_id(true))]);
    f.set_function_attrs(attrs);
    assert_ne!(f.stamp(), before);
}

#[test]
fn what_changes_nothing_is_no_change() {
    let (mut f, [entry, head, body_block, exit], [n, i, c, next]) = counting_loop();
    let before = f.stamp();
    f.permute_blocks(&[entry, head, body_block, exit]).unwrap();
    f.move_block_after(body_block, head).unwrap();
    f.set_type(i, Type::I64).unwrap();
    f.set_ret_type(Type::I64);
    f.set_attrs(c, f.attrs(c)).unwrap();
    f.set_function_attrs(f.function_attrs());
    f.set_operand(c, 1, n).unwrap();
    f.set_operand(Value::terminator(body_block), 0, head).unwrap();
    f.replace_all_uses(i, i).unwrap();
    f.replace_uses_if(i, i, |_, _| true).unwrap();
    f.move_before(next, Value::terminator(body_block)).unwrap();
    f.delete_all(&[]).unwrap();
    f.delete_blocks(&[]).unwrap();
    assert_eq!(f.stamp(), before);
    assert!(f.structural_eq(&counting_loop().0));
}

#[test]
fn deleting_a_block_with_a_terminator_alone_is_a_change_of_the_instructions() {
    let (mut f, [x, ..]) = straight();
    let lone = f.add_block();
    f.set_terminator(lone, ret(x)).unwrap();
    let before = f.epochs();
    f.delete_block(lone).unwrap();
    assert!(f.epochs().insts > before.insts, "`x` has a use less");
}
