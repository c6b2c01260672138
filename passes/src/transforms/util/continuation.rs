//! Functions that go on from a block of another one.
//!
//! ```text
//! func @f(%n: i64) -> i64 {            func @f(%i: i64, %s: i64, %n: i64) -> i64 {
//! ^1:                                  ^1:
//!   br ^2(0, 0)                          br ^2(%i, %s)
//! ^2(%i: i64, %s: i64):         =>     ^2(%2: i64, %3: i64):
//!   ...                                  ...
//! ```
//!
//! What is live where the block begins is a parameter. So a call that is at work in one form of a function can go on in
//! another form, which passes make of this one (C. Chambers and D. Ungar, "Making Pure Object-Oriented Languages Practical",
//! OOPSLA 1991; U. Hölzle and D. Ungar, "A Third-Generation SELF Implementation", OOPSLA 1994: on-stack replacement).
//!
//! # Why it is right
//! Each way from the beginning of the block is one that the function itself has. A value of a block that is on such a way, and
//! before the block as well, has two definitions, the parameter and its own ([`ssa_repair`](super::ssa_repair)). What attributes of the function
//! say of its parameters does not hold for the new ones, so there are none.
//!
//! # Cost
//! O(size of the function, and that of the repair for each live value).

use regraft_ir::{Attrs, Block, Function, Inst, Operand, Type, Value};
use rustc_hash::FxHashSet;

use crate::transforms::util::edit::name_copy;
use crate::transforms::util::ssa_repair::repair;

/// Returns the function that goes on from the beginning of `block`, with the values of `live` as its parameters, in this
/// order: the parameters of the block, and what else is live there. `None` if control comes to the entry from there, if something
/// that is live is missing, or if a terminator would get too many operands.
pub fn continuation(f: &Function, block: Block, live: &[Value]) -> Option<Function> {
    let mut f = f.clone();
    let reached = reached_from(&f, block);
    let entry = f.entry().filter(|entry| !reached.contains(entry))?;
    let (loc, jump) = (f.loc(Value::terminator(entry)), f.jump_op().ok()?);
    f.remove_terminator(entry).ok()?;
    let old: Vec<Value> = f.params(entry).chain(f.body(entry)).collect();
    let mut params = Vec::with_capacity(live.len());
    for &v in live {
        let param = f.append_param(entry, f.ty(v)).ok()?;
        name_copy(&mut f, v, param).ok()?;
        params.push(param);
    }
    let param_of = |v: Value| live.iter().position(|&other| other == v).map(|at| params[at]);
    let args: Option<Vec<Value>> = f.params(block).map(param_of).collect();
    let inst = Inst::new(jump).operand(block).operands(args?);
    f.set_terminator(entry, inst.at(loc).with_type(Type::NEVER)).ok()?;
    for (&v, &param) in live.iter().zip(&params) {
        let home = f.block_of(v);
        if f.is_param(v) && home == block {
            continue;
        }
        let users = f.uses(v).map(|at| at.user);
        let users: Vec<Value> = users.filter(|&user| reached.contains(&f.block_of(user))).collect();
        let own = reached.contains(&home).then_some((home, Operand::from(v)));
        let defs: Vec<_> = own.into_iter().chain([(entry, param.into())]).collect();
        repair(&mut f, v, &defs, &users).ok()?;
    }
    let is_gone = |&other: &Block| other != entry && !reached.contains(&other);
    let gone: Vec<Block> = f.blocks().filter(is_gone).collect();
    f.delete_blocks(&gone).ok()?;
    f.delete_all(&old).ok()?;
    f.set_function_attrs(Attrs::NONE);
    Some(f)
}

fn reached_from(f: &Function, block: Block) -> FxHashSet<Block> {
    let mut reached = FxHashSet::from_iter([block]);
    let mut pending = vec![block];
    while let Some(block) = pending.pop() {
        pending.extend(f.successors(block).filter(|&next| reached.insert(next)));
    }
    reached
}
