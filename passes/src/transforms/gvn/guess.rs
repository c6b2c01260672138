//! Parameters of loops that may be equal, although whether they are depends on itself.

use regraft_ir::{Block, Edge, Function, Operand, Type};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Facts;
use super::number::Numbers;

/// Which parameters of a loop header may be equal, although that depends on itself.
pub(super) struct Guess {
    /// By header, sets of parameters that enter with equal arguments: positions. Only sets of
    /// several are here.
    groups: FxHashMap<Block, Vec<SmallVec<[u32; 4]>>>,
}

impl Guess {
    /// Any two parameters of one type may be equal.
    pub(super) fn first(f: &Function, facts: &Facts) -> Self {
        let mut groups = FxHashMap::default();
        for id in facts.forest.loops() {
            let header = facts.forest.get(id).header;
            if f.param_count(header) < 2 {
                continue;
            }
            let entering: Vec<Edge> = edges(f, facts, header, false);
            let mut sets: Vec<(Vec<Operand>, Type, SmallVec<[u32; 4]>)> = Vec::new();
            for (i, param) in f.params(header).enumerate() {
                let args: Vec<Operand> =
                    entering.iter().filter_map(|&edge| f.edge_args(edge).nth(i)).collect();
                let ty = f.ty(param);
                match sets.iter().position(|set| set.0 == args && set.1 == ty) {
                    Some(at) => sets[at].2.push(i as u32),
                    // Of very many parameters, the others are not compared.
                    None if sets.len() < 64 => {
                        sets.push((args, ty, smallvec::smallvec![i as u32]));
                    }
                    None => {}
                }
            }
            let sets: Vec<SmallVec<[u32; 4]>> =
                sets.into_iter().map(|set| set.2).filter(|set| set.len() > 1).collect();
            if !sets.is_empty() {
                groups.insert(header, sets);
            }
        }
        Self { groups }
    }

    /// Splits the sets of which the arguments that come back differ. Returns whether there were
    /// none.
    pub(super) fn holds(&mut self, f: &Function, facts: &Facts, numbers: &Numbers) -> bool {
        let mut holds = true;
        self.groups.retain(|&header, sets| {
            let back = edges(f, facts, header, true);
            let mut split: Vec<SmallVec<[u32; 4]>> = Vec::new();
            for set in sets.iter() {
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
            *sets = split;
            !sets.is_empty()
        });
        holds
    }

    /// Whether no two parameters are guessed to be equal.
    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Takes all parameters for different.
    pub(super) fn give_up(&mut self) {
        self.groups.clear();
    }

    /// The first parameter that the one at `position` is guessed to equal.
    pub(super) fn leader(&self, header: Block, position: u32) -> u32 {
        let sets = self.groups.get(&header).map_or(&[][..], Vec::as_slice);
        sets.iter().find(|set| set.contains(&position)).map_or(position, |set| set[0])
    }
}

/// The edges that go back to a header, or the others.
fn edges(f: &Function, facts: &Facts, header: Block, back: bool) -> Vec<Edge> {
    let reachable = f.in_edges(header).filter(|edge| facts.cfg.is_reachable(edge.from));
    reachable.filter(|edge| facts.dom.dominates(header, edge.from) == back).collect()
}
