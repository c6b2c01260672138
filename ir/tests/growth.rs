//! A walk that inserts what it then visits ends with a panic that says why.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::{RETURN, add, context};
use regraft_ir::{Cursor, Function, Inst, Type};

fn one_add() -> Function {
    let mut f = Function::new(&context(), "f", &[Type::I64], Type::I64);
    let entry = f.entry().unwrap();
    let x = f.param(entry, 0).unwrap();
    let sum = f.push(entry, add(x, x)).unwrap();
    f.set_terminator(entry, Inst::new(RETURN).operand(sum)).unwrap();
    f
}

#[test]
fn a_walk_that_inserts_after_whatever_it_visits_is_stopped() {
    let mut f = one_add();
    f.set_provenance(Some(f.ctx().symbol("double-all")));
    let x = f.value_by_number(1).unwrap();
    let walk = catch_unwind(AssertUnwindSafe(|| {
        let mut at = Cursor::new(&mut f);
        while let Some(v) = at.next() {
            if !v.is_terminator() {
                at.insert_after(add(x, x));
            }
        }
    }));
    let text = *walk.unwrap_err().downcast::<String>().unwrap();
    let start = "the walk of `double-all` over @f does not end: it visits what it inserts after \
                 what it visits, at last `t.add` %100";
    assert!(text.starts_with(start), "{text}");
    assert!(text.contains("insert before what is visited"), "{text}");
    // 64 for each of three records, and 100,000.
    assert!(f.inst_count() < 101_000, "{}", f.inst_count());
}

#[test]
fn a_walk_may_visit_much_that_it_inserts() {
    let mut f = one_add();
    let x = f.value_by_number(1).unwrap();
    let mut at = Cursor::new(&mut f);
    let mut visited = 0;
    while let Some(v) = at.next() {
        visited += 1;
        // One instruction becomes 50,000, one after the other.
        if !v.is_terminator() && visited < 50_000 {
            at.insert_after(add(x, x));
        }
    }
    assert_eq!(visited, 50_001);
}

#[test]
fn the_limit_of_a_walk_can_be_set() {
    for (limit, ends) in [(10, false), (400_000, true)] {
        let mut f = one_add();
        let x = f.value_by_number(1).unwrap();
        let walk = catch_unwind(AssertUnwindSafe(|| {
            let mut at = Cursor::new(&mut f);
            at.set_growth_limit(limit);
            let mut visited = 0;
            while let Some(v) = at.next() {
                visited += 1;
                if !v.is_terminator() && visited < 300_000 {
                    at.insert_after(add(x, x));
                }
            }
        }));
        assert_eq!(walk.is_ok(), ends);
    }
}
