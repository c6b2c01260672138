//! Loops with one exit, pairs of which the second begins where the first ends, and whether effects
//! stay in order when iterations trade places.

use std::sync::Arc;

use regraft_ir::{Block, Edge, Function, IrResult, Operand, Value};

use crate::PassContext;
use crate::analysis::traps::{may_trap_given, only_computes};
use crate::analysis::{
    Aliases, EffectSummaries, InductionVariables, LoopForest, LoopId, MemoryClasses, Ranges,
    TripCounts,
};
use crate::transforms::util::edit::jump_target;
use crate::transforms::util::loop_accesses::{
    Accesses, AliasResult, Line, MemoryAccess, is_float_function, meets_later,
};
use crate::transforms::util::recorded_domains::is_known_to_be_inside;
use crate::transforms::util::versioning::Apart;

/// The most pairs of arrays that are told apart before a loop.
const MAX_APART: usize = 6;

/// A loop with one exit and one latch.
#[derive(Clone, Copy)]
pub(crate) struct CountedLoop {
    pub(crate) id: LoopId,
    pub(crate) header: Block,
    pub(crate) latch: Block,
    /// The block that is left from, the header or the latch, and the place of its edge.
    exit: (Block, usize),
}

impl CountedLoop {
    /// A loop whose latch goes back and nowhere else, or leaves.
    pub(crate) fn of(f: &Function, forest: &LoopForest, id: LoopId) -> Option<Self> {
        Self::with_any_latch(f, forest, id).filter(|l| l.has_own_latch(f))
    }

    /// A loop whose latch may also go elsewhere in the loop.
    pub(crate) fn with_any_latch(f: &Function, forest: &LoopForest, id: LoopId) -> Option<Self> {
        let l = forest.get(id);
        let [exit] = *l.exits else { return None };
        let latch = l.single_latch()?;
        let back = f.out_edges(latch).filter(|&edge| f.edge_target(edge) == l.header).count();
        if l.has_irreducible
            || Some(l.header) == f.entry()
            || back != 1
            || ![l.header, latch].contains(&exit.from)
            || f.out_edges(exit.from).count() != 2
        {
            return None;
        }
        let nth = f.out_edges(exit.from).position(|edge| edge == exit.edge(f))?;
        Some(Self { id, header: l.header, latch, exit: (exit.from, nth) })
    }

    /// Returns whether the latch goes back and nowhere else, or leaves.
    pub(crate) fn has_own_latch(&self, f: &Function) -> bool {
        self.exit.0 == self.latch || f.out_edges(self.latch).nth(1).is_none()
    }

    /// Returns whether the test stands in the header, and is not the only block.
    pub(crate) fn is_tested_first(&self) -> bool {
        self.exit.0 == self.header && self.header != self.latch
    }

    /// The block that it is left from, and the place of the edge among those of the block.
    pub(crate) fn exit_place(&self) -> (Block, usize) {
        self.exit
    }

    /// The edge that leaves it.
    pub(crate) fn exit(&self, f: &Function) -> Edge {
        f.out_edges(self.exit.0).nth(self.exit.1).expect("the edge stays in its place")
    }

    /// The other edge of the block that it is left from.
    pub(crate) fn stay(&self, f: &Function) -> Edge {
        f.out_edges(self.exit.0).nth(1 - self.exit.1).expect("a test has two edges")
    }

    /// The edge from the latch to the header.
    pub(crate) fn back_edge(&self, f: &Function) -> Edge {
        let mut edges = f.out_edges(self.latch);
        edges.find(|&edge| f.edge_target(edge) == self.header).expect("the latch goes back")
    }

    /// The instruction that the test decides on.
    pub(crate) fn test(&self, f: &Function) -> Option<Value> {
        let test = f.operand(Value::terminator(self.exit.0), 0)?.as_value()?;
        (!f.is_param(test)).then_some(test)
    }
}

/// Two loops that follow each other.
pub(crate) struct LoopPair {
    pub(crate) first: CountedLoop,
    pub(crate) second: CountedLoop,
    /// The block between them, if there is one.
    pub(crate) intervening: Option<Block>,
}

impl LoopPair {
    /// Returns a loop and the one that comes after it, both tested in the header or both in the
    /// latch.
    pub(crate) fn after(f: &Function, forest: &LoopForest, id: LoopId) -> Option<Self> {
        let first = CountedLoop::of(f, forest, id)?;
        let target = f.edge_target(first.exit(f));
        let parent = forest.get(id).parent;
        let (intervening, header) = match forest.headed_by(target) {
            Some(next) if forest.get(next).parent == parent => (None, target),
            _ if forest.loop_of(target) != parent => return None,
            _ => {
                let header = jump_target(f, target)?;
                if f.in_edges(target).nth(1).is_some() {
                    return None;
                }
                (Some(target), header)
            }
        };
        let next = forest.headed_by(header)?;
        let second = CountedLoop::of(f, forest, next)?;
        let fits = next != id
            && forest.get(next).parent == parent
            && f.in_edges(header).count() == 2
            && first.is_tested_first() == second.is_tested_first();
        fits.then_some(Self { first, second, intervening })
    }

    /// The edge by which the second loop is entered.
    pub(crate) fn enter_second(&self, f: &Function) -> Edge {
        let source = self.intervening.unwrap_or(self.first.exit.0);
        let mut edges = f.out_edges(source);
        let enter = edges.find(|&edge| f.edge_target(edge) == self.second.header);
        enter.expect("the first loop leads to the second")
    }
}

/// Removes the parameters of the block between two loops: they are what the exit of the first one
/// passes.
pub(crate) fn bind_params(f: &mut Function, intervening: Block, exit: Edge) -> IrResult<()> {
    let params: Vec<Value> = f.params(intervening).collect();
    let args: Vec<Operand> = f.edge_args(exit).collect();
    for (&param, arg) in params.iter().zip(args) {
        f.replace_named(param, arg)?;
    }
    params.into_iter().try_for_each(|param| f.remove_param(param))
}

/// Returns whether nothing in a block but its terminator does more than compute.
pub(crate) fn is_pure(f: &Function, block: Block) -> bool {
    f.body(block).all(|v| only_computes(f, v))
}

/// The analyses by which it is decided whether two loops become one.
pub(crate) struct FusionAnalyses<'a> {
    pub(crate) f: &'a Function,
    pub(crate) forest: Arc<LoopForest>,
    pub(crate) counts: Arc<TripCounts>,
    pub(crate) variables: Arc<InductionVariables>,
    pub(crate) aliases: Arc<Aliases>,
    pub(crate) classes: Arc<MemoryClasses>,
    pub(crate) ranges: Arc<Ranges>,
    pub(crate) summaries: &'a EffectSummaries,
    /// True if it matters what was done before a float function stopped the program.
    pub(crate) domain_errors: bool,
}

impl<'a> FusionAnalyses<'a> {
    pub(crate) fn of(f: &'a Function, cx: &'a mut PassContext<'_>, domain_errors: bool) -> Self {
        Self {
            f,
            forest: cx.analysis::<LoopForest>(f),
            counts: cx.analysis::<TripCounts>(f),
            variables: cx.analysis::<InductionVariables>(f),
            classes: cx.analysis::<MemoryClasses>(f),
            ranges: cx.analysis::<Ranges>(f),
            aliases: cx.analysis::<Aliases>(f),
            summaries: cx.effects(),
            domain_errors,
        }
    }

    /// The accesses of a loop; `None` if there are too many to compare.
    pub(crate) fn accesses(&self, id: LoopId) -> Option<Accesses> {
        let blocks = self.forest.blocks(id);
        let mut accesses = Accesses::of(self.f, blocks, &self.aliases, self.summaries)?;
        if accesses.may_stop && !accesses.may_stop_otherwise {
            accesses.may_stop = self.domain_errors && self.leaves_a_domain(blocks);
        }
        accesses.may_stop |= !self.forest.children(id).all(|l| self.counts.surely_ends(l));
        Some(accesses)
    }

    /// Returns which arrays have to be different objects, so that the iterations of a loop and of those in
    /// it may run in another order: `keeps_order` says whether two accesses to one array keep theirs where
    /// they meet. `None` if they may not, since something stops the program, prints, or meets in any case. At
    /// most so many pairs are told apart.
    pub(crate) fn apart_to_reorder(
        &self,
        l: LoopId,
        keeps_order: impl Fn(&MemoryAccess, &MemoryAccess) -> bool,
    ) -> Option<Vec<Apart>> {
        let accesses = self.accesses(l).filter(|all| !all.may_stop && !all.observable)?;
        self.apart_in(l, &accesses.list, keeps_order)
    }

    /// Returns the same of these accesses in a loop, where nothing else is known to matter.
    pub(crate) fn apart_in(
        &self,
        l: LoopId,
        accesses: &[MemoryAccess],
        keeps_order: impl Fn(&MemoryAccess, &MemoryAccess) -> bool,
    ) -> Option<Vec<Apart>> {
        let f = self.f;
        let is_outside =
            |x: Operand| x.as_value().is_none_or(|v| !self.forest.contains(l, f.block_of(v)));
        let mut apart: Vec<Apart> = Vec::new();
        for (n, x) in accesses.iter().enumerate() {
            for y in &accesses[n..] {
                match x.alias(f, y, &self.aliases) {
                    AliasResult::NoAlias => continue,
                    AliasResult::MayAlias => return None,
                    AliasResult::MayAliasElement if keeps_order(x, y) => continue,
                    AliasResult::MayAliasElement => {}
                }
                let (x, y) = (f.operand(x.inst, 0)?, f.operand(y.inst, 0)?);
                if x == y || !is_outside(x) || !is_outside(y) {
                    return None;
                }
                if !apart.contains(&(x, y)) && !apart.contains(&(y, x)) {
                    apart.push((x, y));
                }
            }
        }
        (apart.len() <= MAX_APART).then_some(apart)
    }

    /// Returns whether a float function in some blocks may be outside of its domain.
    fn leaves_a_domain(&self, blocks: &[Block]) -> bool {
        let f = self.f;
        let mut all = blocks.iter().flat_map(|&block| f.body(block));
        all.any(|v| {
            is_float_function(f, v)
                && may_trap_given(f, v, &self.ranges.facts(f, f.block_of(v)))
                && !is_known_to_be_inside(f, &self.aliases, v)
        })
    }

    /// Returns whether no access `x` of an iteration `i` of the first loop may meet an access `y`
    /// of an earlier iteration `j < i` of the second one.
    pub(crate) fn stay_in_order(
        &self,
        (x, at_x): (&MemoryAccess, Option<&[Line]>),
        (y, at_y): (&MemoryAccess, Option<&[Line]>),
    ) -> bool {
        match x.alias(self.f, y, &self.aliases) {
            AliasResult::NoAlias => true,
            AliasResult::MayAlias => false,
            AliasResult::MayAliasElement => {
                at_x.zip(at_y).is_some_and(|(at_x, at_y)| !meets_later(at_x, at_y))
            }
        }
    }
}
