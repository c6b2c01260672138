//! Parameters for many blocks at once.

use regraft_ir::{Block, Function, Inst, IrResult, MAX_OPERANDS, Operand, Type, Value};
use rustc_hash::FxHashMap;

/// Appends parameters to blocks. `passed` says what a predecessor passes for the one at a position
/// of `wanted`; it is given the new parameters, which can be among what is passed, and what the
/// edge passes already. Returns the parameters, or `None`, and changes nothing, if a terminator
/// would get more than [`MAX_OPERANDS`] operands. O(parameters + operands of the terminators that
/// change).
pub(crate) fn add_params(
    f: &mut Function,
    wanted: &[(Block, Type)],
    mut passed: impl FnMut(&[Value], usize, Block, &[Operand]) -> Operand,
) -> IrResult<Option<Vec<Value>>> {
    let mut of_block: FxHashMap<Block, Vec<usize>> = FxHashMap::default();
    let mut preds: Vec<Block> = Vec::new();
    for (i, &(block, _)) in wanted.iter().enumerate() {
        let list = of_block.entry(block).or_default();
        if list.is_empty() {
            preds.extend(f.in_edges(block).map(|edge| edge.from));
        }
        list.push(i);
    }
    preds.sort_unstable();
    preds.dedup();
    let more = |pred: Block| -> usize {
        f.successors(pred).map(|to| of_block.get(&to).map_or(0, Vec::len)).sum()
    };
    if preds.iter().any(|&b| f.operand_count(Value::terminator(b)) + more(b) > MAX_OPERANDS) {
        return Ok(None);
    }
    // Parameters can be appended freely to a block that no edge enters, so all terminators that
    // change are taken off, and written once.
    let old: Vec<Inst> = preds.iter().map(|&b| f.statement(Value::terminator(b))).collect();
    for &pred in &preds {
        f.remove_terminator(pred)?;
    }
    let mut params = Vec::with_capacity(wanted.len());
    for &(block, ty) in wanted {
        params.push(f.append_param(block, ty)?);
    }
    for (&pred, old) in preds.iter().zip(old) {
        let mut args = |inst: Inst, target: Option<Block>, old: &[Operand]| {
            let list = target.and_then(|target| of_block.get(&target));
            let list = list.map_or(&[][..], Vec::as_slice);
            inst.operands(list.iter().map(|&i| passed(&params, i, pred, old)))
        };
        let mut inst = Inst::new(old.op()).with_attrs(old.attrs());
        if let Some(loc) = old.loc() {
            inst = inst.at(loc);
        }
        let operands = old.operand_list();
        let (mut target, mut first) = (None, 0);
        for (at, &operand) in operands.iter().enumerate() {
            if operand.is_block() {
                inst = args(inst, target, &operands[first..at]);
                (target, first) = (operand.as_block(), at + 1);
            }
            inst = inst.operand(operand);
        }
        inst = args(inst, target, &operands[first..]);
        f.set_terminator(pred, inst.with_type(Type::NEVER))?;
    }
    Ok(Some(params))
}
