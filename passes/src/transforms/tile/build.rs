//! The loops over tiles and within them.
//!
//! ```text
//! ^p: br ^t(0)
//! ^t(%tile):                            a loop over tiles, for each loop of the band
//!   %t = arith.mul %tile, 32
//!   %next = arith.add %t, 32
//!   %end = arith.min %next, %n
//!   %more = arith.lt %t, %n
//!   br %more, ^i(%t), ^out
//! ^i(%i):                               a loop over the iterations of a tile, for each loop
//!   %more = arith.lt %i, %end
//!   br %more, ^body, ^t-latch
//! ```

use regraft_dialects::{arith, cf};
use regraft_ir::{Block, Function, Inst, IrResult, Operand, Type, Value};

use super::super::simplify_cfg::merge_after;
use super::band::Band;
use crate::analysis::{InductionVariables, LoopForest, LoopId, TripCounts};
use crate::transforms::util::clone_blocks::{CloneMap, clone_blocks, copy_body};
use crate::transforms::util::counters::{compute, compute_count};
use crate::transforms::util::edit::delete_unused;
use crate::transforms::util::loop_form::ensure_preheader;
use crate::transforms::util::loop_pair::CountedLoop;
use crate::transforms::util::versioning::{Apart, all_differ};

/// A band that is to be tiled.
pub(super) struct Plan {
    pub(super) band: Band,
    /// The arrays that have to be different objects.
    pub(super) apart: Vec<Apart>,
}

/// A loop that is made: it goes on while `at`, which its counter decides, is below `end`.
struct Level {
    header: Block,
    latch: Block,
    counter: Value,
    first: Operand,
    at: Value,
    end: Operand,
}

impl Plan {
    /// Makes the tiled nest, and lets the preheader choose between it and the old one, if there is a choice.
    ///
    /// # Errors
    /// None if `f` is valid.
    pub(super) fn carry_out(
        &self,
        f: &mut Function,
        forest: &LoopForest,
        counts: &TripCounts,
        variables: &InductionVariables,
        size: i64,
    ) -> IrResult<()> {
        let band = &self.band;
        let (preheader, _) = ensure_preheader(f, forest, band.outer().id)?;
        let at = Value::terminator(preheader);
        let (ends, sure) = self.ends(f, counts, variables, at)?;
        let last = forest.blocks(band.outer().id).iter().copied();
        let last = last.reduce(|x, y| if f.block_comes_before(x, y) { y } else { x });
        let mut after = last.unwrap_or(preheader);
        let zero: Operand = f.constant_id(0_i64).into();
        let (size, one): (Operand, Operand) =
            (f.constant_id(size).into(), f.constant_id(1_i64).into());
        let loc = f.loc(at);
        // Loops over tiles, then loops over what is in a tile.
        let mut levels: Vec<Level> = Vec::new();
        for &end in &ends {
            let mut level = Level::new(f, &mut after, zero, end)?;
            level.at = f.push(level.header, arith::mul(level.counter, size).at(loc))?;
            levels.push(level);
        }
        for (nth, &end) in ends.iter().enumerate() {
            let Level { header, at, .. } = levels[nth];
            let next = f.push(header, arith::add(at, size).at(loc))?;
            let end = f.push(header, arith::min(next, end).at(loc))?;
            levels.push(Level::new(f, &mut after, at.into(), end.into())?);
        }
        let counters = levels[ends.len()..].iter().map(|level| Operand::from(level.counter));
        let known: Vec<(LoopId, Operand)> = band.loops.iter().map(|l| l.id).zip(counters).collect();
        let innermost = levels[levels.len() - 1].latch;
        let start = self.copy_body(f, forest, variables, &known, &mut after, innermost)?;
        let leave = band.outer().exit(f);
        let out = (f.edge_target(leave), f.edge_args(leave).collect::<Vec<Operand>>());
        for (nth, level) in levels.iter().enumerate() {
            let more = f.push(level.header, arith::lt(level.at, level.end).at(loc))?;
            let into = match levels.get(nth + 1) {
                Some(next) => (next.header, vec![next.first]),
                None => (start, Vec::new()),
            };
            let leave = match nth.checked_sub(1) {
                Some(around) => (levels[around].latch, Vec::new()),
                None => out.clone(),
            };
            let test = cf::br_if(more, into.0, into.1, leave.0, leave.1);
            f.set_terminator(level.header, test.at(loc))?;
            let next = f.push(level.latch, arith::add(level.counter, one).at(loc))?;
            let back = Inst::new(f.jump_op()?).edge(level.header, [next]);
            f.set_terminator(level.latch, back.at(loc))?;
        }
        let old = f.out_edges(preheader).next().expect("a preheader has an edge");
        let old = (f.edge_target(old), f.edge_args(old).collect::<Vec<Operand>>());
        let first = levels[0].header;
        let enter = match sure {
            Some(sure) => cf::br_if(sure, first, [zero], old.0, old.1),
            None => Inst::new(f.jump_op()?).edge(first, [zero]),
        };
        f.set_terminator(preheader, enter.at(loc))?;
        merge_after(f, start).map(drop)
    }

    /// How often the loops run, and whether they may be tiled; `None` if they surely may.
    fn ends(
        &self,
        f: &mut Function,
        counts: &TripCounts,
        variables: &InductionVariables,
        at: Value,
    ) -> IrResult<(Vec<Operand>, Option<Value>)> {
        let (mut ends, mut sure): (Vec<Operand>, Option<Value>) = (Vec::new(), None);
        for l in &self.band.loops {
            let runs = &counts.of(l.id).latch_runs;
            let Some(count) = runs.as_symbolic() else {
                let number = runs.as_constant().expect("it is known");
                ends.push(f.constant_id(number).into());
                continue;
            };
            let mut end = compute_count(f, variables, count, at)?;
            if f.operand_type(end) != Type::I64 {
                end = f.insert(at, arith::zext(end, Type::I64))?.into();
            } else if !count.is_signed {
                let zero: Operand = f.constant_id(0_i64).into();
                let fits = f.insert(at, arith::le(zero, end))?;
                sure = Some(both(f, sure, fits, at)?);
            }
            ends.push(end);
        }
        if let Some(differ) = all_differ(f, &self.apart, at)? {
            sure = Some(both(f, sure, differ, at)?);
        }
        Ok((ends, sure))
    }

    /// Copies the body, which goes on to `latch`. Returns the block that it begins with: that computes the
    /// counters of the old loops, and what they computed on the way.
    fn copy_body(
        &self,
        f: &mut Function,
        forest: &LoopForest,
        variables: &InductionVariables,
        known: &[(LoopId, Operand)],
        after: &mut Block,
        latch: Block,
    ) -> IrResult<Block> {
        let band = &self.band;
        let start = f.add_block_after(*after)?;
        let mut map = CloneMap::new();
        let loc = f.loc(Value::terminator(band.inner().header));
        // Where it goes on is known when the body is there.
        f.set_terminator(start, Inst::new(f.jump_op()?).edge(latch, [] as [Operand; 0]).at(loc))?;
        for (param, poly) in &band.params {
            let value = compute(f, variables, poly, Value::terminator(start), known)?;
            map.set(*param, value);
        }
        for &block in &band.way {
            copy_body(f, block, start, &mut map)?;
        }
        let computed: Vec<Value> = f.body(start).collect();
        let copies = clone_blocks(f, band.body(forest), start, &mut map)?;
        *after = copies[copies.len() - 1];
        let CountedLoop { header, latch: end, .. } = *band.inner();
        let mut edges = f.out_edges(map.block(end));
        let back = edges.find(|&edge| f.edge_target(edge) == header).expect("a latch goes back");
        let next: Vec<Operand> = f.edge_args(back).collect();
        f.redirect(back, latch, [] as [Operand; 0])?;
        let (entry, args) = band.entry(f);
        let args: Vec<Operand> = args.into_iter().map(|arg| map.operand(arg)).collect();
        let enter = Inst::new(f.jump_op()?).edge(map.block(entry), args);
        f.set_terminator(start, enter.at(loc))?;
        // The tests and steps of the old loops are not needed.
        let next = next.into_iter().filter_map(Operand::as_value).filter(|&v| !f.is_param(v));
        for v in next.collect::<Vec<_>>().into_iter().chain(computed.into_iter().rev()) {
            delete_unused(f, Some(v))?;
        }
        Ok(start)
    }
}

impl Level {
    /// A loop without its tests and jumps.
    fn new(f: &mut Function, after: &mut Block, first: Operand, end: Operand) -> IrResult<Self> {
        let header = f.add_block_after(*after)?;
        let latch = f.add_block_after(header)?;
        *after = latch;
        let counter = f.append_param(header, Type::I64)?;
        Ok(Self { header, latch, counter, first, at: counter, end })
    }
}

fn both(f: &mut Function, x: Option<Value>, y: Value, at: Value) -> IrResult<Value> {
    match x {
        Some(x) => f.insert(at, arith::and(x, y)),
        None => Ok(y),
    }
}
