//! Optimistic congruence classes of loop parameters: they are taken to be equal until the arguments
//! that come back differ.

use regraft_ir::{Block, Edge, Function, Operand, Type};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::GvnAnalyses;
use super::numbers::Numbers;

/// The optimistic congruence classes of the parameters of loop headers.
pub(super) struct OptimisticClasses {
    /// By header, classes of parameters that enter with equal arguments: positions. Only classes of
    /// several are here.
    groups: FxHashMap<Block, Vec<SmallVec<[u32; 4]>>>,
}

impl OptimisticClasses {
    /// Any two parameters of one type may be equal.
    pub(super) fn first(f: &Function, facts: &GvnAnalyses) -> Self {
        let mut groups = FxHashMap::default();
        for id in facts.forest.loops() {
            let header = facts.forest.get(id).header;
            if f.param_count(header) < 2 {
                continue;
            }
            let entering: Vec<Edge> = edges(f, facts, header, false);
            let mut classes: Vec<(Vec<Operand>, Type, SmallVec<[u32; 4]>)> = Vec::new();
            for (i, param) in f.params(header).enumerate() {
                let args: Vec<Operand> =
                    entering.iter().filter_map(|&edge| f.edge_args(edge).nth(i)).collect();
                let ty = f.ty(param);
                match classes.iter().position(|set| set.0 == args && set.1 == ty) {
                    Some(at) => classes[at].2.push(i as u32),
                    // Of very many parameters, the others are not compared.
                    None if classes.len() < 64 => {
                        classes.push((args, ty, smallvec::smallvec![i as u32]));
                    }
                    None => {}
                }
            }
            let classes: Vec<SmallVec<[u32; 4]>> =
                classes.into_iter().map(|set| set.2).filter(|set| set.len() > 1).collect();
            if !classes.is_empty() {
                groups.insert(header, classes);
            }
        }
        Self { groups }
    }

    /// Splits the classes of which the arguments that come back differ. Returns whether there were
    /// none.
    pub(super) fn holds(&mut self, f: &Function, facts: &GvnAnalyses, numbers: &Numbers) -> bool {
        let mut holds = true;
        self.groups.retain(|&header, classes| {
            let back = edges(f, facts, header, true);
            let mut split: Vec<SmallVec<[u32; 4]>> = Vec::new();
            for set in classes.iter() {
                let mut parts: Vec<(Vec<Operand>, SmallVec<[u32; 4]>)> = Vec::new();
                for &i in set {
                    let args: Vec<Operand> = back
                        .iter()
                        .filter_map(|&edge| f.edge_args(edge).nth(i as usize))
                        .map(|arg| numbers.of(arg))
                        .collect();
                    match parts.iter_mut().find(|part| part.0 == args) {
                        Some(part) => part.1.push(i),
                        None => parts.push((args, smallvec::smallvec![i])),
                    }
                }
                holds &= parts.len() == 1;
                split.extend(parts.into_iter().map(|part| part.1).filter(|p| p.len() > 1));
            }
            *classes = split;
            !classes.is_empty()
        });
        holds
    }

    /// Returns whether no two parameters are in one class.
    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Takes all parameters for different.
    pub(super) fn give_up(&mut self) {
        self.groups.clear();
    }

    /// The first parameter in the class of the one at `position`.
    pub(super) fn leader(&self, header: Block, position: u32) -> u32 {
        let classes = self.groups.get(&header).map_or(&[][..], Vec::as_slice);
        classes.iter().find(|set| set.contains(&position)).map_or(position, |set| set[0])
    }
}

/// The edges that go back to a header, or the others.
fn edges(f: &Function, facts: &GvnAnalyses, header: Block, back: bool) -> Vec<Edge> {
    let reachable = f.in_edges(header).filter(|edge| facts.cfg.is_reachable(edge.from));
    reachable.filter(|edge| facts.dom.dominates(header, edge.from) == back).collect()
}
