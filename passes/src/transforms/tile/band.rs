//! Perfect nests: loops one directly in the other, with nothing but pure instructions between them, and
//! nothing carried around them but their counters.

use regraft_ir::{Block, Function, Operand, Value};

use crate::analysis::{InductionVariables, LoopForest, LoopId, Poly, Sym, TripCounts};
use crate::transforms::util::counters::can_compute;
use crate::transforms::util::edit::jump_target;
use crate::transforms::util::loop_form::nothing_leaves;
use crate::transforms::util::loop_pair::{CountedLoop, is_pure};

/// The loops of a perfect nest, the outermost first.
#[derive(Clone)]
pub(super) struct Band {
    pub(super) loops: Vec<CountedLoop>,
    /// The blocks that lead from loop to loop and into the innermost body, headers included, in order.
    pub(super) way: Vec<Block>,
    /// The parameters of the headers, and what they are in the iterations of the loops.
    pub(super) params: Vec<(Value, Poly)>,
}

/// The analyses by which bands are found.
pub(super) struct Shapes<'a> {
    pub(super) f: &'a Function,
    pub(super) forest: &'a LoopForest,
    pub(super) counts: &'a TripCounts,
    pub(super) variables: &'a InductionVariables,
}

impl Shapes<'_> {
    /// The largest band of up to `most` loops that begins with a loop.
    pub(super) fn band(&self, outer: LoopId, most: usize) -> Option<Band> {
        let mut band = Band { loops: Vec::new(), way: Vec::new(), params: Vec::new() };
        let mut next = Some(outer);
        while let Some(id) = next {
            if !self.add(&mut band, id) {
                break;
            }
            next = (band.loops.len() < most).then(|| self.only_child(id)).flatten();
        }
        let first = band.loops.first()?;
        nothing_leaves(self.f, self.forest, outer, first.exit(self.f)).then_some(band)
    }

    fn only_child(&self, id: LoopId) -> Option<LoopId> {
        let mut within = self.forest.children(id);
        within.next().filter(|_| within.next().is_none())
    }

    /// Adds a loop to a band if it may be the next one.
    fn add(&self, band: &mut Band, id: LoopId) -> bool {
        let f = self.f;
        let Some(l) = CountedLoop::with_any_latch(f, self.forest, id) else { return false };
        let outer = band.loops.first().map_or(id, |first| first.id);
        let is_loop = l.is_tested_first()
            && is_pure(f, l.header)
            && f.in_edges(l.header).count() == 2
            && self.is_counted(outer, id);
        let way = match band.loops.last() {
            _ if !is_loop => None,
            None => Some(Vec::new()),
            Some(around) => self.way_between(around, &l),
        };
        let Some(way) = way else { return false };
        let mut params = Vec::new();
        for param in f.params(l.header) {
            let Some(poly) = self.position(outer, id, param) else { return false };
            params.push((param, poly));
        }
        band.way.extend(way);
        band.way.push(l.header);
        band.params.extend(params);
        band.loops.push(l);
        true
    }

    /// Returns whether the count of a loop is certain, and can be computed before the outermost one.
    fn is_counted(&self, outer: LoopId, id: LoopId) -> bool {
        let runs = &self.counts.of(id).latch_runs;
        let is_there = match runs.as_symbolic() {
            Some(count) => count.polys().into_iter().all(|poly| {
                self.variables.is_available_before(poly, outer)
                    && can_compute(self.f, self.variables, poly)
            }),
            None => runs.as_constant().is_some(),
        };
        is_there && self.counts.is_known(id)
    }

    /// What a parameter of the header of a loop in a band is in each iteration.
    fn position(&self, outer: LoopId, id: LoopId, param: Value) -> Option<Poly> {
        let basic = self.variables.basic(id).iter().find(|basic| basic.param == param)?;
        let (forest, ty) = (self.forest, basic.base.ty());
        let poly = basic.base.add(&basic.step.mul(&Poly::iteration(ty, id))?)?;
        let is_there = |symbol: Sym| match symbol {
            Sym::Value(v) => !forest.contains(outer, self.f.block_of(v)),
            // Of loops around the band it is computed from a counter.
            Sym::Iteration(l) if !forest.encloses(outer, l) => {
                can_compute(self.f, self.variables, &Poly::symbol(ty, symbol))
            }
            Sym::Iteration(l) => forest.encloses(l, id),
        };
        let all = poly.symbols().all(is_there);
        all.then_some(poly)
    }

    /// The blocks from one header to the next, if they and those on the way back do nothing.
    fn way_between(&self, outer: &CountedLoop, inner: &CountedLoop) -> Option<Vec<Block>> {
        let f = self.f;
        let path = |from: Block, to: Block| -> Option<Vec<Block>> {
            let (mut blocks, mut at) = (Vec::new(), from);
            while at != to {
                let is_plain = self.forest.loop_of(at) == Some(outer.id)
                    && f.in_edges(at).nth(1).is_none()
                    && is_pure(f, at)
                    && at != outer.header;
                blocks.push(at);
                at = jump_target(f, at).filter(|_| is_plain)?;
            }
            Some(blocks)
        };
        let there = path(f.edge_target(outer.stay(f)), inner.header)?;
        let back = path(f.edge_target(inner.exit(f)), outer.header)?;
        let all = 1 + there.len() + back.len();
        (self.forest.own_blocks(outer.id).len() == all).then_some(there)
    }
}

impl Band {
    pub(super) fn outer(&self) -> &CountedLoop {
        &self.loops[0]
    }

    pub(super) fn inner(&self) -> &CountedLoop {
        &self.loops[self.loops.len() - 1]
    }

    /// The blocks of the innermost body.
    pub(super) fn body<'a>(&self, forest: &'a LoopForest) -> &'a [Block] {
        &forest.blocks(self.inner().id)[1..]
    }

    /// Where the innermost loop goes on if it is not left, and what it passes.
    pub(super) fn entry(&self, f: &Function) -> (Block, Vec<Operand>) {
        let stay = self.inner().stay(f);
        (f.edge_target(stay), f.edge_args(stay).collect())
    }
}
