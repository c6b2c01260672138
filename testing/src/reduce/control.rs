//! Edits of control flow.

use regraft_dialects::cf;
use regraft_ir::{Block, Edge, Function, Operand, Value};

use super::zero;

/// The block returns a zero, or the last of its own values that fits, instead of going on.
pub(super) fn cut(f: &mut Function, b: Block, by_zero: bool) -> Option<()> {
    if f.op(f.terminator(b)?) == Some(cf::RETURN) {
        return None;
    }
    let ret = f.ret_type();
    let value = match zero(f.ctx(), ret) {
        Some(constant) if by_zero => Operand::from(f.constant_id(constant)),
        None if by_zero => f.params(f.entry()?).find(|&p| f.ty(p) == ret)?.into(),
        _ => {
            let own = f.params(b).chain(f.body(b));
            own.filter(|&v| f.ty(v).is_assignable_to(ret)).last()?.into()
        }
    };
    f.set_terminator(b, cf::ret(value)).ok()?;
    drop_unreachable(f)
}

/// The block always takes one of its edges.
pub(super) fn take_edge(f: &mut Function, b: Block, nth: usize) -> Option<()> {
    let edge = f.out_edges(b).nth(nth)?;
    let target = f.edge_target(edge);
    let args: Vec<Operand> = f.edge_args(edge).collect();
    f.set_terminator(b, cf::br(target, args)).ok()?;
    drop_unreachable(f)
}

/// Appends the block to the only one before it.
pub(super) fn merge(f: &mut Function, b: Block) -> Option<()> {
    let preds = f.pred_blocks(b);
    let &[a] = preds.as_slice() else { return None };
    f.merge_blocks(a, b).ok()
}

/// Whoever goes to a block that only goes on to another goes there itself.
pub(super) fn skip(f: &mut Function, b: Block) -> Option<()> {
    let params: Vec<Value> = f.params(b).collect();
    if f.body(b).next().is_some() || params.iter().any(|&p| !used_here_only(f, p, b)) {
        return None;
    }
    let mut edges = f.out_edges(b);
    let (edge, None) = (edges.next()?, edges.next()) else { return None };
    let target = f.edge_target(edge);
    let passed: Vec<Operand> = f.edge_args(edge).collect();
    if target == b {
        return None;
    }
    while let Some(entering) = entering(f, b) {
        let args: Vec<Operand> = f.edge_args(entering).collect();
        let new: Vec<Operand> = passed
            .iter()
            .map(|&arg| match params.iter().position(|&p| Operand::from(p) == arg) {
                Some(place) => args[place],
                None => arg,
            })
            .collect();
        f.redirect(entering, target, new).ok()?;
    }
    drop_unreachable(f)
}

/// Makes an edge go where its target goes on to.
pub(super) fn thread(f: &mut Function, b: Block, nth: usize, onward: usize) -> Option<()> {
    let edge = f.out_edges(b).nth(nth)?;
    let over = f.edge_target(edge);
    let next = f.out_edges(over).nth(onward)?;
    let target = f.edge_target(next);
    let args: Vec<Operand> = f.edge_args(edge).collect();
    let new: Vec<Operand> = f
        .edge_args(next)
        .map(|arg| match f.params(over).position(|p| Operand::from(p) == arg) {
            Some(place) => args[place],
            None => arg,
        })
        .collect();
    f.redirect(edge, target, new).ok()?;
    drop_unreachable(f)
}

fn entering(f: &Function, b: Block) -> Option<Edge> {
    f.in_edges(b).next()
}

fn used_here_only(f: &Function, v: Value, b: Block) -> bool {
    f.uses(v).all(|u| u.user == Value::terminator(b))
}

/// Deletes what cannot be reached any more.
fn drop_unreachable(f: &mut Function) -> Option<()> {
    let mut reached = vec![false; f.block_capacity()];
    let mut todo = vec![f.entry()?];
    while let Some(b) = todo.pop() {
        if !std::mem::replace(&mut reached[b.index()], true) {
            todo.extend(f.successors(b));
        }
    }
    let dead: Vec<Block> = f.blocks().filter(|b| !reached[b.index()]).collect();
    f.delete_blocks(&dead).ok()
}
