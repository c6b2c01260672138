//! Finds the blocks that remain, and their order.
//!
//! A block in which nothing happens is left out: what leads to it leads to where it goes. A block
//! that follows the only one that leads to it becomes a part of that. Loop headers stay, also empty
//! ones, so that no cycle is lost. O(blocks and edges).

use super::ssa::{BlockId, Body, EdgeIndex, Special, Term, Val};

/// Tables that are used again for each function.
#[derive(Debug, Default)]
pub(super) struct BlockTables {
    position: Vec<u32>,
    goes_to: Vec<Option<(BlockId, EdgeIndex)>>,
    entering: Vec<u32>,
    /// For each block of the layout, whether it continues the one before.
    pub(super) continued: Vec<bool>,
}

/// A table of `len` entries, made in the memory of another.
pub(super) fn table<T: Clone>(table: &mut Vec<T>, len: usize, value: T) -> &mut [T] {
    table.clear();
    table.resize(len, value);
    table
}

/// Leaves out the empty blocks.
pub(super) fn skip_empty(body: &mut Body, yes: Val, tables: &mut BlockTables) {
    // An edge goes back if it leads to where the layout has been.
    let position = table(&mut tables.position, body.blocks.len(), u32::MAX);
    for (at, &block) in body.layout.iter().enumerate() {
        position[block.0 as usize] = at as u32;
    }
    let goes_to = table(&mut tables.goes_to, body.blocks.len(), None);
    let mut found = false;
    // Backwards, so that chains are followed at once.
    for at in (1..body.layout.len()).rev() {
        let block = body.layout[at].0 as usize;
        let data = &body.blocks[block];
        let Term::Jump(to, edge) = data.term else { continue };
        let forward = position[to.0 as usize] > at as u32;
        if !forward
            || !body.ssa.phis_of(BlockId(block as u32)).is_empty()
            || !is_empty(body, block, yes)
        {
            continue;
        }
        goes_to[block] = Some(goes_to[to.0 as usize].unwrap_or((to, edge)));
        found = true;
    }
    if !found {
        return;
    }
    let follow = |edge: &mut (BlockId, EdgeIndex)| {
        if let Some(end) = goes_to[edge.0.0 as usize] {
            *edge = end;
        }
    };
    for &block in &body.layout {
        match &mut body.blocks[block.0 as usize].term {
            Term::Jump(to, index) => {
                let mut edge = (*to, *index);
                follow(&mut edge);
                (*to, *index) = edge;
            }
            Term::Branch(_, edges) => edges.iter_mut().for_each(follow),
            Term::Return(_) | Term::None => {}
        }
    }
    body.layout.retain(|block| goes_to[block.0 as usize].is_none());
}

fn is_empty(body: &Body, block: usize, yes: Val) -> bool {
    let (start, end) = body.blocks[block].insts;
    body.insts[start as usize..end as usize]
        .iter()
        .all(|inst| inst.special == Special::Check && body.operands[inst.start as usize] == yes)
}

/// Finds the blocks that continue the one before.
pub(super) fn continued(body: &Body, tables: &mut BlockTables) {
    let entering = table(&mut tables.entering, body.blocks.len(), 0);
    for &block in &body.layout {
        match body.blocks[block.0 as usize].term {
            Term::Jump(to, _) => entering[to.0 as usize] += 1,
            Term::Branch(_, edges) => {
                for (to, _) in edges {
                    entering[to.0 as usize] += 1;
                }
            }
            Term::Return(_) | Term::None => {}
        }
    }
    let continued = table(&mut tables.continued, body.layout.len(), false);
    for (at, pair) in body.layout.windows(2).enumerate() {
        let leads =
            matches!(body.blocks[pair[0].0 as usize].term, Term::Jump(to, _) if to == pair[1]);
        continued[at + 1] =
            leads && entering[pair[1].0 as usize] == 1 && body.ssa.phis_of(pair[1]).is_empty();
    }
}

/// Finds the blocks that control gets to, puts them in an order in which what is used stands after
/// what it uses (reverse postorder), and forgets the edges that leave others.
pub(super) fn drop_unreachable(body: &mut Body) {
    let successors =
        |body: &Body, block: BlockId, which: usize| match body.blocks[block.0 as usize].term {
            Term::Jump(to, _) if which == 0 => Some(to),
            // The second comes first, so that the first stands before it in the end.
            Term::Branch(_, edges) => edges.get(1usize.wrapping_sub(which)).map(|&(to, _)| to),
            _ => None,
        };
    for block in &mut body.blocks {
        block.alive = false;
    }
    let entry = BlockId(0);
    body.blocks[0].alive = true;
    let mut order = Vec::with_capacity(body.layout.len());
    let mut stack = vec![(entry, 0)];
    while let Some((block, which)) = stack.last_mut() {
        let block = *block;
        match successors(body, block, *which) {
            Some(next) => {
                *which += 1;
                if !std::mem::replace(&mut body.blocks[next.0 as usize].alive, true) {
                    stack.push((next, 0));
                }
            }
            None => {
                order.push(block);
                stack.pop();
            }
        }
    }
    order.reverse();
    body.layout = order;
    for phi in 0..body.ssa.phi_count() {
        let block = body.ssa.phi(phi).block;
        for i in 0..body.ssa.phi(phi).args.len() {
            let pred = body.ssa.preds(block)[i];
            if !body.blocks[pred.0 as usize].alive {
                body.ssa.args_mut(phi)[i] = Val::phi(phi);
            }
        }
    }
}
