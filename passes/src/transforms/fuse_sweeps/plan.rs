//! Decides which loops become one, and how.

use regraft_ir::{Block, Operand, Value};

use super::intervening_code::InterveningCode;
use super::normalised_trip_count::NormalisedTripCount;
use crate::analysis::{LoopId, Poly, Sym};
use crate::transforms::util::counters::can_compute;
use crate::transforms::util::loop_accesses::{
    Accesses, AliasResult, Line, MemoryAccess, lines, meets_later,
};
use crate::transforms::util::loop_form::LoopForm;
use crate::transforms::util::loop_pair::{CountedLoop, FusionAnalyses, LoopPair, is_pure};

/// The loop of a pair that is reversed when they become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reversed {
    Neither,
    First,
    Second,
}

/// The replacement of a parameter of a header.
#[derive(Clone, Debug)]
pub(super) enum Becomes {
    /// It goes on as it does.
    Itself,
    /// It is always what this parameter of the other header is, and so much more.
    Other { param: Value, plus: i64 },
    /// It counts the other way: from the first number, by the second.
    Counter(Box<(Poly, Poly)>),
}

/// Two loops that can become one.
pub(super) struct Plan {
    pub(super) first: CountedLoop,
    pub(super) second: CountedLoop,
    pub(super) intervening: Option<InterveningCode>,
    pub(super) reversed: Reversed,
    /// For each parameter of the first header, and of the second.
    pub(super) of_first: Vec<Becomes>,
    pub(super) of_second: Vec<Becomes>,
    pub(super) form: LoopForm,
}

/// A loop with what it does to memory.
struct Side<'a> {
    counted: &'a CountedLoop,
    accesses: &'a Accesses,
    /// By access, where it is to an element: its indices in the iterations of the loop.
    lines: Vec<Option<Vec<Line>>>,
    /// The same if the loop runs the other way.
    reversed: Vec<Option<Vec<Line>>>,
}

impl FusionAnalyses<'_> {
    /// Returns how two loops become one, if they can.
    pub(super) fn plan(&self, pair: &LoopPair) -> Option<Plan> {
        let f = self.f;
        let (first, second) = (&pair.first, &pair.second);
        if ![first, second].iter().all(|l| self.counts.is_known(l.id)) {
            return None;
        }
        let trip_count =
            |l: &CountedLoop| NormalisedTripCount::of(f, &self.counts, &self.variables, l.id);
        let (mut trip_count, others) = (trip_count(first)?, trip_count(second)?);
        if trip_count != others {
            return None;
        }
        trip_count.known.extend(others.known);
        if !is_pure(f, second.header) {
            return None;
        }
        let accesses = |l: &CountedLoop| self.accesses(l.id);
        let (a, b) = (accesses(first)?, accesses(second)?);
        if !a.may_interleave(&b) {
            return None;
        }
        let intervening = InterveningCode::sort(self, pair, (&a, &b))?;
        let sides = (self.side(first, &a, &trip_count), self.side(second, &b, &trip_count));
        // Loops that are all reversed the same way share counters, and go together with others.
        let ways = match self.directions_differ(pair) {
            true => [Reversed::Second, Reversed::First, Reversed::Neither],
            false => [Reversed::Neither, Reversed::Second, Reversed::First],
        };
        let mut ways = ways.into_iter().filter(|&reversed| self.allows(&sides, reversed));
        let (reversed, of_first, of_second) = ways.find_map(|reversed| {
            let (of_first, of_second) = match reversed {
                Reversed::Neither => (self.stay(first), self.along(second, first, &trip_count)),
                Reversed::First => (self.reverse(first, second, &trip_count)?, self.stay(second)),
                Reversed::Second => (self.stay(first), self.reverse(second, first, &trip_count)?),
            };
            Some((reversed, of_first, of_second))
        })?;
        Some(Plan {
            first: *first,
            second: *second,
            intervening,
            reversed,
            of_first,
            of_second,
            form: LoopForm::new(&self.forest, first.id),
        })
    }

    /// Returns whether one loop counts up and the other down.
    fn directions_differ(&self, pair: &LoopPair) -> bool {
        let counts = |l: &CountedLoop, step: i64| {
            let mut all = self.variables.basic(l.id).iter();
            all.any(|basic| basic.step.constant_value() == Some(step))
        };
        let (first, second) = (&pair.first, &pair.second);
        counts(first, 1) && counts(second, -1) && !counts(second, 1)
            || counts(first, -1) && counts(second, 1) && !counts(first, 1)
    }

    fn side<'a>(
        &self,
        counted: &'a CountedLoop,
        accesses: &'a Accesses,
        trip_count: &NormalisedTripCount,
    ) -> Side<'a> {
        let last = &trip_count.number.plus(-1);
        let all = accesses.list.iter().map(|access| {
            let at = access.polynomials(self.f, &self.variables)?;
            let lines = lines(&self.variables, &at, counted.id).into_iter().map(|line| {
                let (base, step) = line?;
                Some((trip_count.resolve(&base)?, trip_count.resolve(&step)?))
            });
            Some(lines.collect())
        });
        let all: Vec<Option<Vec<Line>>> = all.collect();
        let reversed = all.iter().map(|lines| {
            let reversed = lines.as_ref()?.iter().map(|line| reverse(line.as_ref()?, last));
            Some(reversed.collect())
        });
        Side { counted, accesses, reversed: reversed.collect(), lines: all }
    }

    /// Returns whether the effects of two loops stay in order.
    fn allows(&self, (a, b): &(Side<'_>, Side<'_>), reversed: Reversed) -> bool {
        let (lines_a, lines_b) = match reversed {
            Reversed::Neither => (&a.lines, &b.lines),
            Reversed::First => (&a.reversed, &b.lines),
            Reversed::Second => (&a.lines, &b.reversed),
        };
        let may_reverse = match reversed {
            Reversed::Neither => true,
            Reversed::First => self.may_reverse(a),
            Reversed::Second => self.may_reverse(b),
        };
        may_reverse
            && a.accesses.list.iter().zip(lines_a).all(|(x, at_x)| {
                b.accesses
                    .list
                    .iter()
                    .zip(lines_b)
                    .all(|(y, at_y)| self.stay_in_order((x, at_x.as_deref()), (y, at_y.as_deref())))
            })
    }

    /// Returns whether the iterations of a loop may come in any order: none needs another one, none
    /// stops or prints, and nothing of the last one is used.
    fn may_reverse(&self, side: &Side<'_>) -> bool {
        let (f, id) = (self.f, side.counted.id);
        let accesses = side.accesses;
        if accesses.may_stop || accesses.observable || !is_pure(f, side.counted.header) {
            return false;
        }
        let counts = |param| self.counter(side.counted, param).is_some();
        let inside = |block| self.forest.contains(id, block);
        let is_own = |operand: Operand| operand.as_value().is_some_and(|v| inside(f.block_of(v)));
        if !f.params(side.counted.header).all(counts)
            || f.edge_args(side.counted.exit(f)).any(is_own)
            || self.forest.blocks(id).iter().any(|&block| {
                let mut values = f.params(block).chain(f.body(block));
                values.any(|v| f.uses(v).any(|at| !inside(f.block_of(at.user))))
            })
        {
            return false;
        }
        let list = || accesses.list.iter().zip(&side.lines);
        list().enumerate().all(|(i, (x, at_x))| {
            list().skip(i).all(|(y, at_y)| match x.alias(f, y, &self.aliases) {
                AliasResult::NoAlias => true,
                _ if self.is_made_in(x, id) && self.is_made_in(y, id) => true,
                AliasResult::MayAlias => false,
                AliasResult::MayAliasElement => {
                    let (Some(at_x), Some(at_y)) = (at_x, at_y) else { return false };
                    !meets_later(at_x, at_y) && !meets_later(at_y, at_x)
                }
            })
        })
    }

    /// Returns whether all objects that an access is to are made in the same iteration of a loop
    /// that hands on numbers alone.
    fn is_made_in(&self, access: &MemoryAccess, id: LoopId) -> bool {
        access.effects.elsewhere.is_empty()
            && access.effects.objects.iter().all(|&(object, _)| {
                let made = self.aliases.non_escaping(object);
                made.is_some_and(|v| self.forest.contains(id, self.f.block_of(v)))
            })
    }

    fn counter(
        &self,
        of: &CountedLoop,
        param: Value,
    ) -> Option<&crate::analysis::induction::BasicInduction> {
        self.variables.basic(of.id).iter().find(|basic| basic.param == param)
    }

    fn stay(&self, of: &CountedLoop) -> Vec<Becomes> {
        self.f.params(of.header).map(|_| Becomes::Itself).collect()
    }

    /// Returns what the parameters of a loop become beside another one.
    fn along(
        &self,
        of: &CountedLoop,
        beside: &CountedLoop,
        trip_count: &NormalisedTripCount,
    ) -> Vec<Becomes> {
        let params = self.f.params(of.header).map(|param| {
            let own = self.counter(of, param)?;
            let own = (trip_count.resolve(&own.base)?, trip_count.resolve(&own.step)?);
            self.beside(beside, &own, trip_count)
        });
        params.map(|becomes| becomes.unwrap_or(Becomes::Itself)).collect()
    }

    /// Returns what the parameters of a loop become that runs the other way, beside another one.
    fn reverse(
        &self,
        of: &CountedLoop,
        beside: &CountedLoop,
        trip_count: &NormalisedTripCount,
    ) -> Option<Vec<Becomes>> {
        let last = trip_count.number.plus(-1);
        let params = self.f.params(of.header).map(|param| {
            let own = self.counter(of, param)?;
            let narrow = last.truncate(own.base.ty());
            let own = (trip_count.resolve(&own.base)?, trip_count.resolve(&own.step)?);
            let (first, step) = reverse(&own, &narrow)?;
            if let Some(other) = self.beside(beside, &(first.clone(), step.clone()), trip_count) {
                return Some(other);
            }
            let known = |poly: &Poly| {
                can_compute(self.f, &self.variables, poly)
                    && self.variables.is_available_before(poly, of.id)
                    && self.variables.is_available_before(poly, beside.id)
            };
            (known(&first) && known(&step)).then(|| Becomes::Counter(Box::new((first, step))))
        });
        params.collect()
    }

    /// A counter of a loop that goes along with one that begins and steps like this.
    fn beside(
        &self,
        of: &CountedLoop,
        own: &(Poly, Poly),
        trip_count: &NormalisedTripCount,
    ) -> Option<Becomes> {
        let others = self.variables.basic(of.id).iter().filter_map(|other| {
            let (base, step) = (trip_count.resolve(&other.base)?, trip_count.resolve(&other.step)?);
            if step != own.1 {
                return None;
            }
            let plus = own.0.sub(&base)?.constant_value()?;
            Some(Becomes::Other { param: other.param, plus })
        });
        others.min_by_key(|becomes| !matches!(becomes, Becomes::Other { plus: 0, .. }))
    }

    /// The blocks that a plan changes.
    pub(super) fn touched(&self, plan: &Plan) -> Vec<Block> {
        let mut blocks: Vec<Block> = self.forest.blocks(plan.first.id).to_vec();
        blocks.extend(self.forest.blocks(plan.second.id));
        blocks.extend(plan.intervening.as_ref().map(|intervening| intervening.block));
        blocks
    }

    /// The blocks of the values that a plan computes with.
    pub(super) fn needed(&self, plan: &Plan) -> Vec<Block> {
        let all = plan.of_first.iter().chain(&plan.of_second);
        let polys = all.flat_map(|becomes| match becomes {
            Becomes::Counter(counter) => vec![&counter.0, &counter.1],
            _ => Vec::new(),
        });
        let values = polys.flat_map(Poly::symbols).map(|s| match s {
            Sym::Value(v) => self.f.block_of(v),
            Sym::Iteration(l) => self.forest.get(l).header,
        });
        values.collect()
    }
}

/// `base + step * i` with `i` running down from `last`.
fn reverse((base, step): &(Poly, Poly), last: &Poly) -> Line {
    Some((base.add(&step.mul(last)?)?, step.neg()))
}
