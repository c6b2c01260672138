//! Values behind tests: where a branch leads only if a test of a value held, or only if it did not,
//! the value is known by another name, `call @#tested(x, @isa, T, true)`, of which inference knows
//! more (the π-functions of Bodik, Gupta and Sarkar, "ABCD: Eliminating Array Bounds Checks on
//! Demand", 2000).

use regraft_dialects::{cf, core};
use regraft_ir::{
    Block, Constant, DominatorTree, Function, Inst, IrResult, Operand, OperandKind, Type, Value,
};

/// The functions that test a value.
const TESTS: [&str; 5] = ["isa", "===", "!==", "isnothing", "ismissing"];

/// A test of a value, and the block to which control gets only if it had this outcome.
struct Test {
    /// The call.
    call: Value,
    /// The `!` of the call around it, if there is one.
    not: Option<Operand>,
    /// Its result, without the `!`.
    outcome: bool,
    target: Block,
}

/// Names what tests tell of values, in the blocks behind them. Only a function that calls one of
/// those that [`is_test`] knows has any. O(size of the function).
pub(super) fn narrow(f: &mut Function) -> IrResult<()> {
    let tests = tests(f);
    if tests.is_empty() {
        return Ok(());
    }
    let tree = DominatorTree::compute(f);
    for test in &tests {
        let operands: Vec<Operand> = f.operands(test.call).collect();
        let Some((&name, args)) = operands.split_first() else { continue };
        // Of a type, a test says nothing.
        let tested = if args.len() > 1 && is_call_of(f, test.call, "isa") { 1 } else { args.len() };
        for (i, x) in args.iter().enumerate().take(tested) {
            let OperandKind::Value(x) = x.kind() else { continue };
            let behind = |f: &Function, user| tree.dominates(test.target, f.block_of(user));
            if !f.uses(x).any(|at| behind(f, at.user)) {
                continue;
            }
            let first = f.first_inst(test.target).or_else(|| f.terminator(test.target));
            let Some(first) = first else { continue };
            let ctx = f.ctx();
            let callee = ctx.constant_id(Constant::Func(ctx.symbol("#tested")));
            let other = args.iter().copied().enumerate().find(|&(j, _)| j != i);
            let other = other.map_or(ctx.constant_id(Constant::Unit).into(), |(_, other)| other);
            let outcome = ctx.constant_id(test.outcome).into();
            let operands = [callee.into(), x.into(), name, other, outcome];
            let inst = Inst::new(core::CALL).operands(operands.into_iter().chain(test.not));
            let new = f.insert(first, inst.with_type(Type::ANY).at(f.loc(test.call)))?;
            f.replace_uses_if(x, new, |f, at| at.user != new && behind(f, at.user))?;
        }
    }
    Ok(())
}

/// The tests that decide whether control gets to a block.
fn tests(f: &Function) -> Vec<Test> {
    let mut tests = Vec::new();
    for block in f.blocks() {
        let Some(branch) = f.terminator(block).filter(|&v| f.op(v) == Some(cf::BR)) else {
            continue;
        };
        let edges: Vec<_> = f.out_edges(block).collect();
        let condition = f.operand(branch, 0).and_then(Operand::as_value);
        let (Some(mut call), &[_, _]) = (condition, &*edges) else { continue };
        let mut not = None;
        if is_call_of(f, call, "!")
            && let Some(inner) = f.operand(call, 1).and_then(Operand::as_value)
        {
            (call, not) = (inner, f.operand(call, 0));
        }
        if !callee(f, call).is_some_and(is_test) {
            continue;
        }
        for (edge, holds) in edges.into_iter().zip([true, false]) {
            let target = f.edge_target(edge);
            if f.in_edges(target).count() == 1 {
                tests.push(Test { call, not, outcome: holds == not.is_none(), target });
            }
        }
    }
    tests
}

/// The name of the function that a value is a call of.
fn callee(f: &Function, v: Value) -> Option<&str> {
    let callee = f.const_func(f.operand(v, 0)?)?;
    (f.op(v) == Some(core::CALL)).then(|| f.ctx().str(callee))
}

/// Returns whether a value is a call of a function of that name.
fn is_call_of(f: &Function, v: Value, name: &str) -> bool {
    callee(f, v).is_some_and(|callee| plain(callee) == name)
}

/// Returns whether a function of that name tests a value.
pub(super) fn is_test(name: &str) -> bool {
    TESTS.contains(&plain(name))
}

fn plain(name: &str) -> &str {
    name.strip_prefix("Base.").unwrap_or(name)
}
