//! Walks over a function that is changed, or copied, under way.

mod common;

use common::*;
use regraft_ir::{Cursor, Function, Operand, Pipe, Type, Value};

#[test]
fn a_cursor_goes_on_when_its_instruction_dies_with_another() {
    let (mut f, [x, y, a, b]) = straight();
    let entry = f.entry().unwrap();
    let p = f.insert(b, add(x, y)).unwrap();
    let q = f.push(entry, add(p, y)).unwrap();
    let r = f.push(entry, add(q, p)).unwrap();
    let mut seen = Vec::new();
    let mut at = Cursor::new(&mut f);
    while let Some(v) = at.next() {
        seen.push(v);
        if v == p {
            assert_eq!(at.delete_tree(r), 3, "r, q, and p itself");
        }
    }
    assert_eq!(seen, [a, p, b, Value::terminator(entry)]);
    f.check_invariants().unwrap();
}

#[test]
fn what_is_inserted_after_a_deleted_instruction_stands_where_it_was() {
    let (mut f, [x, y, a, b]) = straight();
    let entry = f.entry().unwrap();
    let (mut seen, mut made) = (Vec::new(), Vec::new());
    let mut at = Cursor::new(&mut f);
    while let Some(v) = at.next() {
        seen.push(v);
        if v == a || v == b {
            at.replace_with(v, x);
            made.push(at.insert(add(x, x)));
            made.push(at.insert_after(add(x, y)));
            made.push(at.insert_after(add(y, y)));
            made.push(at.insert_after(add(y, x)));
            let before = at.insert(add(x, x));
            made.insert(made.len() - 3, before);
        }
    }
    assert_eq!(body(&f, entry), made);
    let visited: Vec<Value> =
        [&[a], &made[2..5], &[b], &made[7..10], &[Value::terminator(entry)]].concat();
    assert_eq!(seen, visited);
    f.check_invariants().unwrap();
}

#[test]
fn a_pipe_gives_a_block_another_terminator_that_branches_forward() {
    let (f, [entry, head, _, exit], [n, i, c, _]) = counting_loop();
    let mut pipe = Pipe::new(&f);
    while let Some((v, _)) = pipe.next() {
        if v == Value::terminator(entry) {
            pipe.replace(v, jump(head, &[n])).unwrap();
            assert!(pipe.replace(v, jump(head, &[])).is_err(), "an argument is missing");
        }
        if v == Value::terminator(head) {
            // The edges the other way round.
            let ends = [exit, f.successors(head).next().unwrap()];
            pipe.replace(v, branch(c, (ends[0], &[]), (ends[1], &[]))).unwrap();
        }
    }
    let g = pipe.finish().unwrap();
    g.check_invariants().unwrap();
    let edge = g.out_edges(entry).next().unwrap();
    assert_eq!(g.edge_args(edge).collect::<Vec<_>>(), [Operand::from(n)]);
    assert_eq!(g.successors(head).next(), Some(exit));
    assert_eq!(g.params(head).collect::<Vec<_>>(), [i]);
}

#[test]
fn a_pipe_substitutes_by_values_further_down_and_in_chains() {
    let (f, [_, _, body_block, _], [n, i, _, next]) = counting_loop();
    let mut pipe = Pipe::new(&f);
    // Nothing was copied yet: `i` goes, by way of a value that is defined in the loop.
    pipe.substitute_with(i, next).unwrap();
    pipe.substitute_with(next, n).unwrap();
    pipe.substitute_with(n, i).unwrap();
    assert_eq!([i, next, n].map(|v| pipe.substitute(v)), [Operand::from(n); 3]);
    let g = pipe.finish().unwrap();
    assert!(!g.is_used(i) && !g.is_used(next));
    assert_eq!(g.operand(next, 0), Some(n.into()));
    assert_eq!(g.body(body_block).collect::<Vec<_>>(), [next]);
    g.check_invariants().unwrap();
}

#[test]
fn a_pipe_that_substitutes_every_value_takes_linear_time() {
    let mut f = Function::new(&context(), "f", &[Type::I64], Type::I64);
    let entry = f.entry().unwrap();
    let x = f.param(entry, 0).unwrap();
    // Each of these would look at all that went before.
    let values: Vec<Value> = (0..100_000).map(|_| f.push(entry, add(x, x)).unwrap()).collect();
    f.set_terminator(entry, ret(values[0])).unwrap();
    let mut pipe = Pipe::new(&f);
    while let Some((v, _)) = pipe.next() {
        if !v.is_terminator() {
            pipe.delete(v).unwrap();
            pipe.substitute_with(v, x).unwrap();
        }
    }
    let g = pipe.finish().unwrap();
    assert_eq!(g.value_count(), 1);
    assert_eq!(g.operand(Value::terminator(entry), 0), Some(x.into()));
}
