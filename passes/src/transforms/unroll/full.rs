//! Full unrolling: a copy of the loop for each time that its header is entered.

use regraft_ir::{Block, Function, IrResult};

use super::edges::{fold_branch, place, redirect_back_edges};
use crate::analysis::trip_count::LatchRuns;
use crate::analysis::{LoopForest, LoopId, TripCounts};
use crate::transforms::util::clone_blocks::{CloneMap, clone_blocks};
use crate::transforms::util::loop_form::LoopForm;

/// A loop that is to be unrolled fully.
pub(super) struct Full {
    pub(super) form: LoopForm,
    /// The most times that it goes back to its header.
    runs: usize,
    /// The exits that are known: the block, the place of the edge, and after how many back edges
    /// it is taken.
    exits: Vec<(Block, usize, LatchRuns)>,
}

impl Full {
    pub(super) fn new(
        f: &Function,
        forest: &LoopForest,
        counts: &TripCounts,
        id: LoopId,
        runs: usize,
    ) -> Self {
        let known = counts.exits(id).iter();
        let exits = known.map(|(exit, runs)| (exit.from, place(f, *exit), runs.clone())).collect();
        Self { form: LoopForm::new(forest, id), runs, exits }
    }

    /// Unrolls it, once it is closed. Returns the blocks that it became.
    pub(super) fn carry_out(mut self, f: &mut Function) -> IrResult<Vec<Block>> {
        let preheader = self.form.ensure_preheader(f)?;
        let blocks = self.form.blocks().to_vec();
        let header = self.form.header();
        // All copies are made of the loop as it was; the first one is the loop itself.
        let mut maps = vec![CloneMap::new()];
        let mut last = blocks[blocks.len() - 1];
        let mut made = vec![preheader];
        made.extend(&blocks);
        for _ in 0..self.runs {
            let mut map = CloneMap::new();
            let copies = clone_blocks(f, &blocks, last, &mut map)?;
            last = copies[copies.len() - 1];
            made.extend(copies);
            maps.push(map);
        }
        // Each goes back to the header of the next one. The last one never does.
        let back = self.form.back_edges(f);
        let places: Vec<(Block, usize)> = back.iter().map(|&e| (e.from, place(f, e))).collect();
        for pair in maps.windows(2) {
            redirect_back_edges(f, &pair[0], &places, pair[1].block(header))?;
        }
        for (i, map) in maps.iter().enumerate() {
            for (block, nth, runs) in &self.exits {
                let taken = match *runs {
                    LatchRuns::Constant(runs) => i as u64 == runs,
                    LatchRuns::Never => false,
                    LatchRuns::Symbolic(_) | LatchRuns::Unknown => continue,
                };
                // A branch has two edges, if it is not a jump that always leaves.
                fold_branch(f, map.block(*block), if taken { *nth } else { 1 - *nth })?;
            }
        }
        Ok(made)
    }
}
