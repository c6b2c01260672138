//! Products that are added to zeros, which are stored instead: `linalg.product` adds to zeros by itself.

use regraft_dialects::{linalg, mem};
use regraft_ir::{Block, Constant, Function, IrResult, Operand, Value};

use crate::analysis::traps::may_trap;
use crate::analysis::{Access, Aliases, EffectSummaries, inst_effects};

/// Stores what is added to an array that `mem.fill_in_place` has set to zero, on all ways there. Returns the number of
/// products. O(instructions) for each.
///
/// # Errors
/// None if `f` is valid.
pub(super) fn store(
    f: &mut Function,
    aliases: &Aliases,
    summaries: &EffectSummaries,
) -> IrResult<u64> {
    let blocks = f.blocks().flat_map(|block| f.body(block));
    let added: Vec<Value> = blocks.filter(|&v| is_added(f, v)).collect();
    let to_zeros = |&v: &Value| Zeros::new(f, aliases, summaries, v).is_some_and(Zeros::are_there);
    let to_zeros: Vec<Value> = added.into_iter().filter(to_zeros).collect();
    for &v in &to_zeros {
        let operands: Vec<Operand> = f.operands(v).collect();
        let [dest, a, b, turned, turned_a, turned_b] = operands[..] else { continue };
        let flag = |f: &Function, flag| f.constant(flag) == Some(Constant::Bool(true));
        let product = match flag(f, turned) {
            // The transpose of a product is that of the transposed factors in the other order.
            true => {
                let [turned_a, turned_b] = [turned_a, turned_b].map(|x| !flag(f, x));
                let [turned_a, turned_b] = [turned_a, turned_b].map(|x| f.constant_id(x));
                linalg::product(dest, b, a, turned_b, turned_a)
            }
            false => linalg::product(dest, a, b, turned_a, turned_b),
        };
        let attrs = f.attrs(v);
        f.replace(v, product.with_attrs(attrs).at(f.loc(v)))?;
    }
    Ok(to_zeros.len() as u64)
}

/// Returns whether `v` adds a product, the transpositions of which are known.
fn is_added(f: &Function, v: Value) -> bool {
    let is_known = |operand| matches!(f.constant(operand), Some(Constant::Bool(_)));
    f.op(v) == Some(linalg::ADD_PRODUCT) && !may_trap(f, v) && f.operands(v).skip(3).all(is_known)
}

/// A walk up from what adds to an array.
struct Zeros<'a> {
    f: &'a Function,
    aliases: &'a Aliases,
    summaries: &'a EffectSummaries,
    dest: Operand,
    added: Value,
}

impl<'a> Zeros<'a> {
    /// A walk up from `v`; `None` unless it adds to a parameter of the function.
    fn new(
        f: &'a Function,
        aliases: &'a Aliases,
        summaries: &'a EffectSummaries,
        v: Value,
    ) -> Option<Self> {
        let dest = f.operand(v, 0)?;
        let param = dest.as_value().filter(|&dest| f.is_param(dest))?;
        let is_outermost = Some(f.block_of(param)) == f.entry();
        is_outermost.then_some(Self { f, aliases, summaries, dest, added: v })
    }

    /// Returns whether the last write to the array is one of zeros, on all ways from the function's beginning.
    fn are_there(self) -> bool {
        let f = self.f;
        let here = f.block_of(self.added);
        let before = f.body(here).take_while(|&v| v != self.added);
        let (mut pending, mut seen) = (Vec::new(), vec![false; f.block_capacity()]);
        if !self.last(before, &mut pending, here) {
            return false;
        }
        while let Some(block) = pending.pop() {
            if !std::mem::replace(&mut seen[block.index()], true)
                && !self.last(f.body(block), &mut pending, block)
            {
                return false;
            }
        }
        true
    }

    /// Returns `false` if the last write among instructions of a block is none of zeros. Where there is no write, the
    /// blocks before this one are to be seen.
    fn last(
        &self,
        insts: impl Iterator<Item = Value>,
        pending: &mut Vec<Block>,
        block: Block,
    ) -> bool {
        let f = self.f;
        let writes = |v: &Value| {
            let effects = inst_effects(f, *v, self.summaries);
            self.aliases.touches(f, &effects, self.dest).intersects(Access::WRITES)
        };
        if let Some(write) = insts.filter(writes).last() {
            let zero = f.operand(write, 1).and_then(|value| f.constant(value));
            return f.op(write) == Some(mem::FILL_IN_PLACE)
                && f.operand(write, 0) == Some(self.dest)
                && matches!(zero, Some(Constant::F64(0) | Constant::F32(0)));
        }
        pending.extend(f.in_edges(block).map(|edge| edge.from));
        Some(block) != f.entry()
    }
}
