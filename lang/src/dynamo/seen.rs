//! The calls in lowered code, as contexts and dynamos see them.
//!
//! A call of a function is one, of those that syntax stands for as well. An arithmetic op that code of the library calls
//! by its name is the intrinsic of Julia that it is; other ops belong to the function of the library in
//! whose code they stand. Functions that inference knows by internal names are no calls, but they
//! may call functions that they are given.

use regraft_dialects::core;
use regraft_ir::{Function, TypeKind, Value};
use regraft_passes::overdub::{self, Seen};
use smallvec::{SmallVec, smallvec};

use crate::world::World;

/// The functions that inference knows and that call their first arguments, with the number of these.
const CALLERS: [(&str, usize); 12] = [
    ("#try", 2),
    ("#unroll_map", 1),
    ("#unroll_fold", 1),
    ("#ntuple", 1),
    ("#gradient", 1),
    ("#only_gradient", 1),
    ("#pushforward", 1),
    ("#pushforward_many", 1),
    ("#dynamic_pushforward", 1),
    ("#pullback", 1),
    ("#dynamic_reverse", 1),
    ("#return_type", 1),
];

/// Functions of the library that calls with arguments by name are made of: they hand values on, and call nothing of the program.
pub(super) const HANDS_ON: [&str; 6] = [
    "#other_keywords",
    "#merge_keywords",
    "#has_keyword",
    "#required_keyword",
    "#check_keyword_type",
    "#check_keywords",
];

/// Returns the way in which an instruction is seen. `itself` is the value of the function whose code it is: reading its
/// captures is no call.
pub(super) fn seen(world: &World, f: &Function, v: Value, itself: Option<Value>) -> Seen {
    let called = f.operand(v, 0).filter(|_| f.op(v) == Some(core::CALL));
    let Some(name) = called.and_then(|callee| f.const_func(callee)) else {
        return overdub::seen(f, v);
    };
    let ctx = f.ctx();
    let text = ctx.str(name);
    let of_itself =
        itself.is_some() && f.operand(v, 1).and_then(regraft_ir::Operand::as_value) == itself;
    if text == "getfield" && of_itself {
        return Seen::Not;
    }
    if !text.starts_with('#') {
        return overdub::seen(f, v);
    }
    if HANDS_ON.contains(&text) {
        return Seen::Not;
    }
    if !world.is_builtin(ctx.ty(TypeKind::Fn(name))) {
        return Seen::Call;
    }
    match CALLERS.iter().find(|(caller, _)| *caller == text) {
        Some(&(_, 2)) => Seen::Calls(smallvec![0, 1]),
        Some(_) => Seen::Calls(SmallVec::from_slice(&[0])),
        None => Seen::Not,
    }
}
