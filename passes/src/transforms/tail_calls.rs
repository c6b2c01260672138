//! Turns calls of a function by itself that are the last thing it does into a loop.
//!
//! ```text
//! func @f(%1: i64) -> i64 {            func @f(%1: i64) -> i64 {
//! ^1:                                  ^1:
//!                                        br ^4(%1, 0)
//!                                      ^4(%6: i64, %7: i64):
//!   %2: bool = arith.eq %1, 0            %2: bool = arith.eq %6, 0
//!   br %2, ^2, ^3                        br %2, ^2, ^3
//! ^2:                             =>   ^2:
//!                                        %8: i64 = arith.add %7, 1
//!   return 1                             return %8
//! ^3:                                  ^3:
//!   %3: i64 = arith.sub %1, 1            %3: i64 = arith.sub %6, 1
//!   %4: i64 = call @f(%3)                %9: i64 = arith.add %7, %6
//!   %5: i64 = arith.add %1, %4           br ^4(%3, %9)
//!   return %5
//! }                                    }
//! ```
//!
//! # Method
//! As LLVM's TailCallElimination. The parameters become those of a new block behind the entry, to which
//! the calls jump. Where the result of the call is combined with another integer by an operation
//! that is commutative and associative before it is returned, an accumulator goes round: at first
//! the neutral element, it takes over what the call would be combined with, and what is
//! returned in the end is combined with it. All calls with such an operation have to have the same one.
//!
//! # Why it is right
//! Nothing happens between the end of the call and that of the function, so that the caller need not
//! wait. Integer sums and products that wrap, minima, maxima and operations on bits are commutative and
//! associative, hence the order in which they are made does not matter. What each call allocates is
//! still allocated anew. A recursion without an end runs forever, where it exceeded the depth limit.
//!
//! # Cost
//! O(blocks), and the uses of the parameters.

use regraft_dialects::{arith, cf, core};
use regraft_ir::{Block, Constant, Function, Inst, IrResult, Op, Operand, Type, Value};

use super::alias_scopes;
use crate::transforms::util::edit::{name_copy, only};
use crate::{FunctionPass, PassContext, PassResult};

crate::pass! {
    /// Turns calls of a function by itself that are the last thing it does into a loop.
    ///
    /// ```text
    /// ^1:                                  ^1:
    ///                                        br ^4(%1, 0)
    ///                                      ^4(%6: i64, %7: i64):
    ///   %2: bool = arith.eq %1, 0            %2: bool = arith.eq %6, 0
    ///   br %2, ^2, ^3                        br %2, ^2, ^3
    /// ^2:                             =>   ^2:
    ///                                        %8: i64 = arith.add %7, 1
    ///   return 1                             return %8
    /// ^3:                                  ^3:
    ///   %3: i64 = arith.sub %1, 1            %3: i64 = arith.sub %6, 1
    ///   %4: i64 = call @f(%3)                %9: i64 = arith.add %7, %6
    ///   %5: i64 = arith.add %1, %4           br ^4(%3, %9)
    ///   return %5
    /// ```
    ///
    /// The result of the call may be returned as it is, or combined with an integer by one operation
    /// that is commutative and associative: then an accumulator goes round. Put it after
    /// `simplify-cfg`, which lets each way return by itself. Recursion without an end becomes a loop
    /// without an end.
    #[derive(Debug, Default)]
    pub struct TailCalls;
}

impl FunctionPass for TailCalls {
    const NAME: &'static str = "tail-calls";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let mut calls: Vec<TailCall> = f.blocks().filter_map(|b| TailCall::find(f, b)).collect();
        let combines = calls.iter().find_map(|call| call.combined).map(|(op, _)| op);
        calls.retain(|call| call.combined.is_none_or(|(op, _)| Some(op) == combines));
        if !calls.is_empty() {
            make_loop(f, &calls, combines)?;
            // What one call made may be an argument of the next, which is the same function now.
            alias_scopes::forget(f)?;
        }
        cx.add("tail calls", calls.len() as u64);
        Ok(())
    }
}

/// A call of the function by itself at the end of a block that returns.
struct TailCall {
    block: Block,
    call: Value,
    /// The operation that the result is combined by, with the position of its other operand.
    combined: Option<(Op, usize)>,
}

impl TailCall {
    fn find(f: &Function, block: Block) -> Option<Self> {
        let term = Value::terminator(block);
        if f.op(term)? != cf::RETURN {
            return None;
        }
        let returned = f.operand(term, 0)?.as_value()?;
        let is_last = |v: Value, user: Value| {
            !f.is_param(v)
                && f.block_of(v) == block
                && f.next_inst(v).is_none_or(|next| next == user)
                && only(f.uses(v)).is_some_and(|at| at.user == user)
        };
        if !is_last(returned, term) {
            return None;
        }
        if is_own_call(f, returned) {
            return Some(Self { block, call: returned, combined: None });
        }
        let op = f.op(returned)?;
        neutral(op, f.ty(returned))?;
        let [x, y] = f.matches(returned, op)?;
        let (call, other) = match (x.as_value(), y.as_value()) {
            (_, Some(call)) if is_own_call(f, call) => (call, 0),
            (Some(call), _) if is_own_call(f, call) => (call, 1),
            _ => return None,
        };
        let ty = f.operand(returned, other).map(|other| f.operand_type(other));
        let fits = ty == Some(f.ret_type()) && is_last(call, returned);
        fits.then_some(Self { block, call, combined: Some((op, other)) })
    }
}

/// Returns whether an instruction calls the function that it is in, with arguments of the types of the
/// parameters.
fn is_own_call(f: &Function, v: Value) -> bool {
    let callee = f.operand(v, 0).and_then(|callee| f.const_func(callee));
    f.op(v) == Some(core::CALL)
        && callee == Some(f.name())
        && f.ty(v) == f.ret_type()
        && f.operands(v).skip(1).map(|arg| f.operand_type(arg)).eq(f.param_types().iter().copied())
}

/// The neutral element of an operation on integers that is commutative and associative.
fn neutral(op: Op, ty: Type) -> Option<Constant> {
    let bits = ty.bits().filter(|_| ty.is_int())?;
    let least = i64::MIN >> (64 - bits);
    let neutral = match op {
        arith::ADD | arith::OR | arith::XOR => 0,
        arith::MUL => 1,
        arith::AND => -1,
        arith::MIN => !least,
        arith::MAX => least,
        _ => return None,
    };
    Constant::int(ty, neutral)
}

/// Lets the calls jump to a block behind the entry.
fn make_loop(f: &mut Function, calls: &[TailCall], combines: Option<Op>) -> IrResult<()> {
    let Some(entry) = f.entry() else { return Ok(()) };
    let returns: Vec<Block> =
        f.blocks().filter(|&b| f.op(Value::terminator(b)) == Some(cf::RETURN)).collect();
    let header = f.split_block(f.first_inst(entry).unwrap_or(Value::terminator(entry)))?;
    let moved = |block: Block| if block == entry { header } else { block };
    let params: Vec<Value> = f.params(entry).collect();
    for param in params {
        let new = f.add_param(header, f.ty(param), |_| Some(param))?;
        f.replace_uses_if(param, new, |f, at| f.block_of(at.user) != entry)?;
        name_copy(f, param, new)?;
    }
    let mut accumulator = None;
    if let Some(op) = combines
        && let Some(start) = neutral(op, f.ret_type())
    {
        let start = f.constant_id(start);
        let acc = f.add_param(header, f.ret_type(), |_| Some(start))?;
        accumulator = Some((op, acc));
    }
    for block in returns {
        let term = Value::terminator(moved(block));
        let Some(call) = calls.iter().find(|call| call.block == block) else {
            if let (Some((op, acc)), Some(result)) = (accumulator, f.operand(term, 0)) {
                let whole = f.insert(term, Inst::of(op, [acc.into(), result]).at(f.loc(term)))?;
                f.set_operand(term, 0, whole)?;
            }
            continue;
        };
        let mut args: Vec<Operand> = f.operands(call.call).skip(1).collect();
        let last = f.operand(term, 0).and_then(Operand::as_value);
        if let Some((op, acc)) = accumulator {
            let other = call.combined.zip(last);
            args.push(match other.and_then(|((_, other), last)| f.operand(last, other)) {
                Some(other) => {
                    let inst = Inst::of(op, [acc.into(), other]).at(f.loc(term));
                    f.insert(call.call, inst)?.into()
                }
                None => acc.into(),
            });
        }
        f.set_terminator(moved(block), cf::br(header, args).at(f.loc(call.call)))?;
        if let Some(last) = last.filter(|&last| last != call.call) {
            f.delete(last)?;
        }
        f.delete(call.call)?;
    }
    Ok(())
}
