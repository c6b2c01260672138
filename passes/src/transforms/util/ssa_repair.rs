//! Lets several definitions take the place of one, with parameters where they meet.
//!
//! ```text
//! ^3: %5 = ..    ^4: %6 = ..               ^3: br ^5(%5)    ^4: br ^5(%6)
//! ^5:                                =>    ^5(%9: i64):
//!   use %5                                   use %9
//! ```
//!
//! # Method
//! On-the-fly construction of SSA form, Braun et al., "Simple and Efficient Construction of Static
//! Single Assignment Form" (2013), for one variable: the blocks from which a use is reached without
//! passing a definition are found by walking backward; each of them with several predecessors is
//! taken for a place where definitions meet, and then those are dropped again that only one
//! definition reaches. Parameters are made only for what is left, so nothing has to be deleted.
//!
//! # Why it is right
//! What a block begins with is what its predecessors end with; a use gets what its block begins
//! with, or the definition in it. The result is minimal where control flow is reducible (Braun et
//! al., section 2.3), and right everywhere. A predecessor that no definition reaches cannot be
//! reached from the entry either, as the one definition before dominated its uses.
//!
//! # Cost
//! O(edges of the region), near enough: each time a phi is dropped, those fed by it are looked
//! at again.

use crate::transforms::util::edit::{name_copy, replace_in};
use regraft_ir::{Block, Function, IrResult, Operand, Value};
use rustc_hash::FxHashMap;

/// The definition that reaches the start of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reaching {
    /// Nothing reaches it.
    Nothing,
    /// The definition at this position.
    Def(usize),
    /// The value that the predecessors pass to the phi at this position.
    Phi(usize),
    /// The value that this block, the only predecessor, ends with.
    Link(Block),
}

/// Lets those of `users` that use `old` use that one of `defs` that reaches them, or a parameter in
/// which several meet. A definition stands for its whole block: users in that block get it too.
/// One of a subtype of that of `old`, which may be among them, is passed to a parameter of that
/// type before it is used elsewhere. Returns the parameters, in layout order.
///
/// # Errors
/// If something is stale, or a definition does not fit.
pub fn repair(
    f: &mut Function,
    old: Value,
    defs: &[(Block, Operand)],
    users: &[Value],
) -> IrResult<Vec<Value>> {
    Ok(repair_in(f, old, defs, users, &[])?.0)
}

/// Does the same, and returns what of `defs` or of the parameters reaches each of `blocks`, as a
/// user in that block gets it.
pub(crate) fn repair_and_read(
    f: &mut Function,
    old: Value,
    defs: &[(Block, Operand)],
    users: &[Value],
    blocks: &[Block],
) -> IrResult<Vec<Operand>> {
    Ok(repair_in(f, old, defs, users, blocks)?.1)
}

fn repair_in(
    f: &mut Function,
    old: Value,
    defs: &[(Block, Operand)],
    users: &[Value],
    blocks: &[Block],
) -> IrResult<(Vec<Value>, Vec<Operand>)> {
    let Some(&(_, any)) = defs.first() else { return Ok(Default::default()) };
    let fits = defs.iter().map(|&(_, def)| f.operand_type(def) == f.ty(old)).collect();
    let mut region = Region::new(defs, fits);
    let homes = users.iter().map(|&user| f.block_of(user));
    for block in homes.chain(blocks.iter().copied()) {
        region.walk(f, block);
    }
    region.simplify(f);
    let mut params: Vec<Option<Value>> = vec![None; region.phis.len()];
    let mut order: Vec<usize> =
        (0..params.len()).filter(|&m| region.drop_to[m] == Reaching::Phi(m)).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (region.phis[a], region.phis[b]);
        f.block_comes_before(b, a).cmp(&f.block_comes_before(a, b))
    });
    for &m in &order {
        let param = f.add_param(region.phis[m], f.ty(old), |_| Some(any))?;
        name_copy(f, old, param)?;
        params[m] = Some(param);
    }
    let operand = |region: &mut Region, block: Block| match region.at_end(block) {
        Reaching::Def(i) => defs[i].1,
        Reaching::Phi(m) => params[m].map_or(any, Operand::from),
        Reaching::Nothing | Reaching::Link(_) => any,
    };
    for &m in &order {
        let block = region.phis[m];
        let position = f.param_count(block) - 1;
        for edge in f.in_edges_in_order(block) {
            let arg = operand(&mut region, edge.from);
            let index = edge.position as usize + 1 + position;
            f.set_operand(Value::terminator(edge.from), index, arg)?;
        }
    }
    // New arguments may have moved others, so a user is looked through as it is now. An argument
    // that is `old` because that is what reaches it stays so.
    for &user in users {
        let new = operand(&mut region, f.block_of(user));
        replace_in(f, user, old, new)?;
    }
    let reaching = blocks.iter().map(|&block| operand(&mut region, block)).collect();
    Ok((order.iter().filter_map(|&m| params[m]).collect(), reaching))
}

/// The blocks that have to know what reaches them.
struct Region {
    start: FxHashMap<Block, Reaching>,
    /// Blocks with several predecessors, or that get a parameter in any case.
    phis: Vec<Block>,
    /// By phi: itself, or what stands for it.
    drop_to: Vec<Reaching>,
    /// By definition: whether it may stand for the old value in other blocks. What uses that need not
    /// accept a subtype; a parameter does.
    fits: Vec<bool>,
}

impl Region {
    fn new(defs: &[(Block, Operand)], fits: Vec<bool>) -> Self {
        let start = defs.iter().enumerate().map(|(i, &(b, _))| (b, Reaching::Def(i))).collect();
        Self { start, phis: Vec::new(), drop_to: Vec::new(), fits }
    }

    /// Returns whether it is a definition that has to be passed to a parameter.
    fn is_passed(&self, reaching: Reaching) -> bool {
        matches!(reaching, Reaching::Def(i) if !self.fits[i])
    }

    /// Adds a block and what comes before it, up to definitions.
    fn walk(&mut self, f: &Function, block: Block) {
        let mut pending = vec![block];
        while let Some(block) = pending.pop() {
            if self.start.contains_key(&block) {
                continue;
            }
            let preds = f.pred_blocks(block);
            let reaching = match &*preds {
                [] => Reaching::Nothing,
                [pred] if !self.start.get(pred).is_some_and(|&r| self.is_passed(r)) => {
                    Reaching::Link(*pred)
                }
                _ => {
                    self.phis.push(block);
                    self.drop_to.push(Reaching::Phi(self.phis.len() - 1));
                    Reaching::Phi(self.phis.len() - 1)
                }
            };
            self.start.insert(block, reaching);
            pending.extend(preds);
        }
    }

    /// Returns what a block of the region ends with: never a link.
    fn at_end(&mut self, block: Block) -> Reaching {
        let mut path = Vec::new();
        let mut at = block;
        let found = loop {
            match self.start[&at] {
                Reaching::Link(pred) => {
                    path.push(at);
                    // Blocks that only lead to each other are not reached from the entry.
                    self.start.insert(at, Reaching::Nothing);
                    at = pred;
                }
                found => break found,
            }
        };
        for block in path {
            self.start.insert(block, found);
        }
        self.resolve(found)
    }

    /// Returns what stands for a phi that was dropped.
    fn resolve(&mut self, reaching: Reaching) -> Reaching {
        let mut path = Vec::new();
        let mut at = reaching;
        while let Reaching::Phi(m) = at
            && self.drop_to[m] != at
        {
            path.push(m);
            at = self.drop_to[m];
        }
        for m in path {
            self.drop_to[m] = at;
        }
        at
    }

    /// Drops the phis that one definition, or one other phi, reaches alone.
    fn simplify(&mut self, f: &Function) {
        let preds: Vec<Vec<Block>> = self.phis.iter().map(|&b| f.pred_blocks(b)).collect();
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); preds.len()];
        for (m, preds) in preds.iter().enumerate() {
            for &pred in preds {
                if let Reaching::Phi(feeds) = self.at_end(pred) {
                    users[feeds].push(m);
                }
            }
        }
        let mut pending: Vec<usize> = (0..preds.len()).rev().collect();
        while let Some(m) = pending.pop() {
            if self.drop_to[m] != Reaching::Phi(m) {
                continue;
            }
            let mut only = Reaching::Nothing;
            let mut several = false;
            for &pred in &preds[m] {
                let reaching = self.at_end(pred);
                if reaching == Reaching::Nothing || reaching == Reaching::Phi(m) {
                    continue;
                }
                several |= only != Reaching::Nothing && only != reaching;
                several |= self.is_passed(reaching);
                only = reaching;
            }
            if !several {
                self.drop_to[m] = only;
                let freed = std::mem::take(&mut users[m]);
                pending.extend(&freed);
                if let Reaching::Phi(other) = only {
                    users[other].extend(freed);
                }
            }
        }
    }
}
