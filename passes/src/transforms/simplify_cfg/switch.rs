//! Chains of comparisons of one integer with constants become a switch.
//!
//! ```text
//! ^1(%1: i64):                         ^1(%1: i64):
//!   %2: bool = arith.eq %1, 3            switch %1, ^4, 3: ^5, 5: ^6, 9: ^7(%1)
//!   br %2, ^5, ^2
//! ^2:
//!   %3: bool = arith.eq %1, 5
//!   br %3, ^6, ^3                =>
//! ^3:
//!   %4: bool = arith.eq %1, 9
//!   br %4, ^7(%1), ^4
//! ```
//!
//! A chain is made of blocks that are entered by the one before alone and do nothing but compare. It
//! takes at least three of them: two comparisons are no worse than a switch, and other passes know
//! more of what they say. O(blocks).

use regraft_dialects::{arith, cf};
use regraft_ir::{Block, Const, Edge, Function, Inst, IrResult, MAX_OPERANDS, Operand, Value};

use crate::transforms::util::edit::{delete_unused, only, only_edge_into};

/// The fewest comparisons that become a switch.
const MIN_CASES: usize = 3;

/// Returns whether there are two comparisons after each other that may be part of a chain.
pub(super) fn has_chain(f: &Function) -> bool {
    let tests = |block: Block| Test::of(f, block);
    f.blocks().filter_map(tests).any(|test| {
        let next = tests(f.edge_target(test.otherwise));
        next.is_some_and(|next| next.value == test.value)
    })
}

/// Makes switches of chains. Returns how many.
pub(super) fn form(f: &mut Function) -> IrResult<usize> {
    let mut formed = 0;
    let blocks: Vec<Block> = f.blocks().collect();
    for block in blocks {
        if !f.is_live_block(block) || continues_chain(f, block) {
            continue;
        }
        let chain = chain(f, block);
        if chain.len() >= MIN_CASES {
            formed += usize::from(replace(f, &chain)?);
        }
    }
    Ok(formed)
}

/// A block that branches on whether an integer equals a constant.
#[derive(Clone, Copy)]
struct Test {
    block: Block,
    value: Value,
    case: Const,
    equal: Edge,
    otherwise: Edge,
}

impl Test {
    fn of(f: &Function, block: Block) -> Option<Self> {
        let term = f.terminator(block).filter(|&term| f.op(term) == Some(cf::BR))?;
        let condition = f.operand(term, 0)?.as_value()?;
        let op = f.op(condition).filter(|&op| op == arith::EQ || op == arith::NE)?;
        let [x, y] = f.matches(condition, op)?;
        let (value, case) = match (x.as_value(), y.as_value()) {
            (Some(value), None) => (value, y.as_const()?),
            (None, Some(value)) => (value, x.as_const()?),
            _ => return None,
        };
        if !f.ty(value).is_int() || f.operand_type(case.into()) != f.ty(value) {
            return None;
        }
        let mut edges = f.out_edges(block);
        let (first, second) = (edges.next()?, edges.next()?);
        let (equal, otherwise) = if op == arith::EQ { (first, second) } else { (second, first) };
        Some(Self { block, value, case, equal, otherwise })
    }
}

/// The test that follows when one fails, if it does nothing else.
fn next(f: &Function, test: Test) -> Option<Test> {
    let block = f.edge_target(test.otherwise);
    let alone = only_edge_into(f, block).is_some() && f.param_count(block) == 0;
    let next = Test::of(f, block).filter(|next| alone && next.value == test.value)?;
    let condition = only(f.body(block))?;
    let own = f.operand(Value::terminator(block), 0) == Some(condition.into());
    (own && only(f.uses(condition)).is_some()).then_some(next)
}

/// Returns whether a block is in a chain that begins before it.
fn continues_chain(f: &Function, block: Block) -> bool {
    let before = only_edge_into(f, block).and_then(|edge| Test::of(f, edge.from));
    let before = before.filter(|test| f.edge_target(test.otherwise) == block);
    before.and_then(|test| next(f, test)).is_some()
}

fn chain(f: &Function, block: Block) -> Vec<Test> {
    let mut chain: Vec<Test> = Vec::new();
    let mut at = Test::of(f, block);
    while let Some(test) = at.filter(|test| chain.iter().all(|other| other.block != test.block)) {
        chain.push(test);
        at = next(f, test);
    }
    chain
}

/// Puts a switch in the place of a chain. Returns whether it does not get too large.
fn replace(f: &mut Function, chain: &[Test]) -> IrResult<bool> {
    let (Some(&first), Some(&last)) = (chain.first(), chain.last()) else { return Ok(false) };
    // Of equal cases, the first one is the one that is taken.
    let mut cases: Vec<Test> = Vec::new();
    for &test in chain {
        if cases.iter().all(|known| known.case != test.case) {
            cases.push(test);
        }
    }
    let term = Value::terminator(first.block);
    let condition = f.operand(term, 0).and_then(Operand::as_value);
    let mut operands: Vec<Operand> = vec![first.value.into()];
    operands.extend(cases.iter().map(|test| Operand::from(test.case)));
    for edge in std::iter::once(last.otherwise).chain(cases.iter().map(|test| test.equal)) {
        operands.push(f.edge_target(edge).into());
        operands.extend(f.edge_args(edge));
    }
    if operands.len() > MAX_OPERANDS {
        return Ok(false);
    }
    let inst = Inst::new(cf::SWITCH).operands(operands).at(f.loc(term));
    f.set_terminator(first.block, inst)?;
    delete_unused(f, condition)?;
    let gone: Vec<Block> = chain[1..].iter().map(|test| test.block).collect();
    f.delete_blocks(&gone)?;
    Ok(true)
}
