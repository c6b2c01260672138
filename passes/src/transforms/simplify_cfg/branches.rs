//! Parameters that get one value from every edge, and branches whose outcome is known.

use regraft_ir::{Block, Edge, Function, Inst, IrResult, Operand, Syntax, Traits, Value};

/// Replaces the parameters of a block that get the same value from every edge.
pub(in crate::transforms) fn replace_params(
    f: &mut Function,
    block: Block,
    replaced: &mut Vec<Value>,
) -> IrResult<()> {
    let params: Vec<Value> = f.params(block).collect();
    for (position, param) in params.into_iter().enumerate() {
        if let Some(value) = same_argument(f, block, param, position)
            && f.operand_type(value) == f.ty(param)
        {
            f.replace_named(param, value)?;
            replaced.push(param);
        }
    }
    Ok(())
}

/// Returns what every edge passes for a parameter, edges that pass the parameter itself left out.
fn same_argument(f: &Function, block: Block, param: Value, position: usize) -> Option<Operand> {
    let mut same = None;
    for edge in f.in_edges(block) {
        let arg = f.edge_arg(edge, position)?;
        if arg == param.into() || same == Some(arg) {
            continue;
        }
        if same.replace(arg).is_some() {
            return None;
        }
    }
    same
}

/// The jump that the terminator of a block always is, unless it is one already.
pub(super) fn decided(f: &Function, block: Block) -> IrResult<Option<Inst>> {
    let Some(term) = f.terminator(block) else { return Ok(None) };
    let Some(def) = f.op_def(term) else { return Ok(None) };
    let Some(first) = f.out_edges(block).next() else { return Ok(None) };
    if def.traits.contains(Traits::JUMP) && first.position == 0 {
        return Ok(None);
    }
    let known = f.operand(term, 0).and_then(|value| taken(f, block, value));
    let taken = known.or_else(|| same_edge(f, term, first));
    let Some(taken) = taken else { return Ok(None) };
    let jump = Inst::new(f.jump_op()?).at(f.loc(term));
    Ok(Some(jump.edge(f.edge_target(taken), f.edge_args(taken))))
}

/// The edge that the terminator of a block takes if it decides on `value`, a constant; `None` if
/// that is not known.
pub(super) fn taken(f: &Function, block: Block, value: Operand) -> Option<Edge> {
    value.as_const()?;
    let term = f.terminator(block)?;
    let def = f.op_def(term)?;
    if def.traits.contains(Traits::JUMP) {
        let condition = f.const_bool(value)?;
        return f.out_edges(block).nth(usize::from(!condition));
    }
    if !matches!(def.syntax, Syntax::Switch(_)) {
        return None;
    }
    let case = f.plain_operands(term).skip(1).position(|case| case == value);
    f.out_edges(block).nth(case.map_or(0, |case| case + 1))
}

/// The first edge of a terminator, if it does not matter which edge is taken.
fn same_edge(f: &Function, term: Value, first: Edge) -> Option<Edge> {
    let effects = f.op_def(term)?.effects;
    if effects.writes_anything() || f.may_trap(term) {
        return None;
    }
    let target = f.edge_target(first);
    let same = f
        .out_edges(first.from)
        .skip(1)
        .all(|edge| f.edge_target(edge) == target && f.edge_args(edge).eq(f.edge_args(first)));
    same.then_some(first)
}
