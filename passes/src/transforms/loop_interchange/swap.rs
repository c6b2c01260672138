//! The loops of a nest change places.
//!
//! ```text
//! ^o(i): test i -> ^b, out            ^O(J): test J -> ^I(i0), out
//! ^b: br ^i(j0)                       ^I(I): test I -> ^B, ^A
//! ^i(j): test j -> ^body, ^a    =>    ^B: what ^o, ^b and ^i computed; ..; br ^I(I + 1)
//! ^body: ..; br ^i(j + 1)             ^A: br ^O(J + 1)
//! ^a: br ^o(i + 1)
//! ```

use regraft_ir::{Block, Edge, Function, Inst, IrResult, Operand, Value};

use super::super::simplify_cfg::merge_after;
use super::nest::{Counter, Nest};
use crate::transforms::util::clone_blocks::CloneMap;

impl Nest {
    /// Interchanges the loops.
    pub(super) fn interchange(self, f: &mut Function) -> IrResult<()> {
        let [outer, inner] = &self.loops;
        let preheader = self.preheader(f)?;
        let leave = nth_edge(f, outer, outer.exit);
        let out = (f.edge_target(leave), f.edge_args(leave).collect::<Vec<Operand>>());
        let stay = nth_edge(f, inner, 1 - inner.exit);
        let body = (f.edge_target(stay), f.edge_args(stay).collect::<Vec<Operand>>());
        // New blocks, in the order in which they run.
        let new_outer = f.add_block_after(preheader)?;
        let new_inner = f.add_block_after(new_outer)?;
        let start = f.add_block_after(new_inner)?;
        let after = f.add_block_after(inner.latch)?;
        let j = f.append_param(new_outer, f.ty(inner.param))?;
        let i = f.append_param(new_inner, f.ty(outer.param))?;
        f.transfer_name(inner.param, j);
        f.transfer_name(outer.param, i);
        // Tests and steps are computed where they are needed now, from what they were computed from.
        let copy = |f: &mut Function, slice: &(Operand, Vec<Value>), of: Value, new, to: Block| {
            let mut map = CloneMap::new();
            map.set(of, new);
            for &v in &slice.1 {
                let inst = f.statement(v);
                let operands: Vec<Operand> = f.operands(v).map(|o| map.operand(o)).collect();
                let inst = Inst::new(inst.op())
                    .with_attrs(f.attrs(v))
                    .with_type(f.ty(v))
                    .operands(operands)
                    .at(f.loc(v))
                    .made_from(v);
                let made = f.push(to, inst)?;
                map.set(v, made);
            }
            IrResult::Ok(map.operand(slice.0))
        };
        let begin = copy(f, &inner.initial, inner.param, j, preheader)?;
        let test_j = copy(f, &inner.test, inner.param, j, new_outer)?;
        let test_i = copy(f, &outer.test, outer.param, i, new_inner)?;
        let next_i = copy(f, &outer.next, outer.param, i, inner.latch)?;
        let next_j = copy(f, &inner.next, inner.param, j, after)?;
        let old: Vec<Block> = [Some(outer.header), self.before, Some(inner.header), self.after]
            .into_iter()
            .flatten()
            .collect();
        let computed: Vec<Value> = old.iter().flat_map(|&block| f.body(block)).collect();
        let jump = f.jump_op()?;
        let loc = |f: &Function, block: Block| f.loc(Value::terminator(block));
        let locs = [preheader, outer.header, inner.header, inner.latch].map(|b| loc(f, b));
        let back = self.after.unwrap_or(inner.header);
        let at_back = loc(f, back);
        for &block in &old {
            f.remove_terminator(block)?;
        }
        f.set_terminator(preheader, Inst::new(jump).edge(new_outer, [begin]).at(locs[0]))?;
        let enter: Operand = outer.initial.0;
        let test = |condition: Operand, of: &Counter, stay: Inst, leave: (Block, &[Operand])| {
            // The edge that leaves stays first or second.
            let stays = stay.operand_list().to_vec();
            let leaves = Inst::new(jump).edge(leave.0, leave.1.iter().copied());
            let leaves = leaves.operand_list().to_vec();
            let (first, second) = if of.exit == 0 { (leaves, stays) } else { (stays, leaves) };
            Inst::new(jump).operand(condition).operands(first).operands(second)
        };
        let to_inner = Inst::new(jump).edge(new_inner, [enter]);
        let inst = test(test_j, inner, to_inner, (out.0, &out.1));
        f.set_terminator(new_outer, inst.at(locs[2]))?;
        let inst = test(test_i, outer, Inst::new(jump).operand(start), (after, &[]));
        f.set_terminator(new_inner, inst.at(locs[1]))?;
        f.set_terminator(start, Inst::new(jump).edge(body.0, body.1).at(locs[1]))?;
        let end = Inst::new(jump).edge(new_inner, [next_i]).at(locs[3]);
        f.set_terminator(inner.latch, end)?;
        f.set_terminator(after, Inst::new(jump).edge(new_outer, [next_j]).at(at_back))?;
        for &v in &computed {
            f.move_before(v, Value::terminator(start))?;
        }
        f.replace_all_uses(outer.param, i)?;
        f.replace_all_uses(inner.param, j)?;
        f.delete_blocks(&old)?;
        merge_after(f, start)?;
        for v in computed.into_iter().rev() {
            if !f.is_used(v) && f.is_removable(v) {
                f.delete(v)?;
            }
        }
        match inner.next.0.as_value() {
            Some(v) if f.is_live(v) && !f.is_param(v) && !f.is_used(v) && f.is_removable(v) => {
                f.delete_tree(v).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// The block that goes to the outer header and nowhere else.
    fn preheader(&self, f: &mut Function) -> IrResult<Block> {
        let outer = &self.loops[0];
        let back = self.after.unwrap_or(self.loops[1].header);
        let entering: Vec<Edge> = f.in_edges(outer.header).filter(|e| e.from != back).collect();
        match *entering {
            [edge] if f.out_edges(edge.from).nth(1).is_none() => Ok(edge.from),
            _ => f.split_edge(entering[0]),
        }
    }
}

fn nth_edge(f: &Function, of: &Counter, nth: usize) -> Edge {
    f.out_edges(of.header).nth(nth).expect("a test has two edges")
}
