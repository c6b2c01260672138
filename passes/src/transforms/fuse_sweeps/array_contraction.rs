//! Arrays of which each iteration of a loop uses a row of its own become such a row.
//!
//! ```text
//! %3 = mem.alloc %1, %2                     for j = 1 .. %2
//! for j = 1 .. %2                             %3 = mem.alloc %1
//!   for i = 1 .. %1: %3[i, j] = ..     =>     for i = 1 .. %1: %3[i] = ..
//!   for i = %1 .. 1: .. %3[i, j]              for i = %1 .. 1: .. %3[i]
//! ```
//!
//! All uses are loads and stores in the loop that cannot fail, with one index the same in all of
//! them and another one in each iteration: so no iteration sees what another one stores, and each
//! begins with elements as they are in a new array.

use regraft_dialects::mem;
use regraft_ir::{Block, Function, IrResult, Operand, TypeKind, Value};

use super::forward::ForwardingAnalyses;
use crate::analysis::memory_location::{element_indices, stored_value};
use crate::analysis::traps::may_trap;
use crate::analysis::{LoopId, Poly};
use crate::transforms::util::allocation_sites::needs_memory_only;
use crate::transforms::util::loop_pair::CountedLoop;

/// An array, and the index that it loses.
struct Rows {
    array: Value,
    dimension: usize,
    users: Vec<Value>,
    /// The block in which the body of the loop begins.
    body: Block,
}

/// Lets arrays be rows. Returns how many are.
pub(super) fn run(f: &mut Function, facts: &ForwardingAnalyses<'_>) -> IrResult<usize> {
    let blocks = facts.forest.order().iter();
    let arrays = blocks.flat_map(|&block| f.body(block)).filter(|&v| f.op(v) == Some(mem::ALLOC));
    let found: Vec<Rows> = arrays.filter_map(|array| Rows::of(f, facts, array)).collect();
    let count = found.len();
    for rows in found {
        rows.put(f)?;
    }
    Ok(count)
}

impl Rows {
    fn of(f: &Function, facts: &ForwardingAnalyses<'_>, array: Value) -> Option<Self> {
        let TypeKind::Array { element, rank: rank @ 2.. } = *f.ctx().kind(f.ty(array)) else {
            return None;
        };
        if !element.is_scalar() || !needs_memory_only(f, array) {
            return None;
        }
        let mut users = Vec::new();
        for at in f.uses_in_order(array) {
            let by_all = element_indices(f, at.user)?.len() == usize::from(rank);
            if at.index != 0 || !by_all || may_trap(f, at.user) {
                return None;
            }
            users.push(at.user);
        }
        let l = loop_below(f, facts, array, *users.first()?)?;
        let counted = CountedLoop::of(f, facts.forest, l).filter(CountedLoop::is_tested_first)?;
        let body = f.edge_target(counted.stay(f));
        let alone = f.in_edges(body).nth(1).is_none();
        let inside = |v: &Value| facts.dom.dominates(body, f.block_of(*v));
        if !alone || !users.iter().all(inside) {
            return None;
        }
        let dimension = (0..usize::from(rank)).find(|&d| {
            let index = |&user: &Value| -> Option<Poly> {
                let index = element_indices(f, user)?.nth(d)?;
                Some(facts.variables.evolution_at(f, index, f.block_of(user)))
            };
            let Some(first) = index(&users[0]) else { return false };
            let line = facts.variables.affine_in(&first, l);
            let moves = line.and_then(|line| line.1.constant_value());
            // Steps of one do not come back to where they were before.
            matches!(moves, Some(1 | -1))
                && users.iter().all(|user| index(user).as_ref() == Some(&first))
        })?;
        Some(Self { array, dimension, users, body })
    }

    fn put(self, f: &mut Function) -> IrResult<()> {
        let TypeKind::Array { element, rank } = *f.ctx().kind(f.ty(self.array)) else {
            return Ok(());
        };
        let mut dims: Vec<Operand> = f.operands(self.array).collect();
        dims.remove(self.dimension);
        let ty = f.ctx().array_type(element, rank - 1);
        let at = f.first_inst(self.body).unwrap_or(Value::terminator(self.body));
        let row = f.insert(at, mem::alloc(dims, ty).made_from(self.array))?;
        for user in self.users {
            let Some(indices) = element_indices(f, user) else { continue };
            let mut indices: Vec<Operand> = indices.collect();
            indices.remove(self.dimension);
            let inst = match stored_value(f, user) {
                Some(value) => mem::store(row, value, indices),
                None => mem::load(row, indices),
            };
            let inst = inst.with_attrs(f.attrs(user));
            f.replace(user, inst)?;
        }
        f.transfer_name(self.array, row);
        f.delete(self.array)
    }
}

/// The loop around a user of an array that is beside the array.
fn loop_below(
    f: &Function,
    facts: &ForwardingAnalyses<'_>,
    array: Value,
    user: Value,
) -> Option<LoopId> {
    let around = facts.forest.loop_of(f.block_of(array));
    let mut l = facts.forest.loop_of(f.block_of(user))?;
    while facts.forest.get(l).parent != around {
        l = facts.forest.get(l).parent?;
    }
    Some(l)
}
