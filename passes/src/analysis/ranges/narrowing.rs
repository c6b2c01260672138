//! The way down: what the fixpoint found is computed again, with all that branches say.
//!
//! Each step starts from what holds and takes into account only what holds, so that it can stop
//! at any time, and the order does not matter for whether it is right.

use regraft_ir::{Block, Value};

use super::solver::{Solver, argument};
use super::transfer::{LatticeValue, transfer};

/// The number of times that everything is computed again.
const SWEEPS: usize = 2;

impl Solver<'_> {
    pub(super) fn descend(&mut self) {
        self.settled = true;
        let f = self.f;
        // All parameters are looked at, and of the instructions those of which branches say
        // something or that were given up; then what uses what became narrower.
        for sweep in 0..SWEEPS {
            let mut changed = false;
            for &block in self.forest.order() {
                if !self.visited[block.index()] {
                    continue;
                }
                if Some(block) != f.entry() {
                    for (number, param) in f.params(block).enumerate() {
                        if sweep == 0 || self.queued[param.index()] {
                            let known = self.incoming(block, number, param);
                            changed |= self.lower(param, known);
                        }
                    }
                }
                for v in f.body(block) {
                    let queued = std::mem::replace(&mut self.queued[v.index()], false);
                    if queued || sweep == 0 && self.refined[v.index()] {
                        let known = transfer(f, v, |operand| self.at(block, operand));
                        changed |= self.lower(v, known);
                    }
                }
            }
            if !changed {
                break;
            }
        }
    }

    /// Returns what the edges that can be taken pass for a parameter.
    fn incoming(&self, block: Block, number: usize, param: Value) -> LatticeValue {
        let f = self.f;
        let mut joined = LatticeValue::Unseen;
        for edge in f.in_edges(block) {
            let slot = (self.start[edge.from.index()] + edge.position) as usize;
            if !self.visited[edge.from.index()] || !self.taken[slot] {
                continue;
            }
            let Some(arg) = f.edge_arg(edge, number) else {
                return LatticeValue::of_type(f.ty(param));
            };
            joined = joined.join(argument(f, param, arg, self.on_edge(edge, arg)), f);
            if joined == LatticeValue::Any {
                break;
            }
        }
        joined
    }

    fn lower(&mut self, v: Value, known: LatticeValue) -> bool {
        let f = self.f;
        let old = self.known[v.index()];
        let new = old.meet(known);
        if known == LatticeValue::Unseen || new == old {
            return false;
        }
        self.known[v.index()] = new;
        for at in f.uses(v) {
            if !at.user.is_terminator() {
                self.queued[at.user.index()] = true;
            } else if let Some(param) = f.parameter_passed(at) {
                self.queued[param.index()] = true;
            }
        }
        true
    }
}
