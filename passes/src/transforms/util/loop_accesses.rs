//! The accesses of a loop to memory, its other effects, and whether two accesses
//! can be the same element in different iterations.
//!
//! ```text
//! %8 = mem.load %x, %6           element 1 + i of %x in iteration i
//! mem.store %y, %9, %7           element 3 + i of %y: what iteration i stores may be what
//!                                iteration i + 2 loads, if %x and %y are the same array
//! ```
//!
//! # Method
//! The indices are compared as polynomials, dimension by dimension, as in
//! [`dependence`](crate::analysis::dependence); but the accesses may be in two loops that are to
//! become one. Whether the arrays are the same need not be known: if they are not, there is no
//! dependence.

use regraft_dialects::math;
use regraft_ir::{Block, Function, Type, Value};
use smallvec::SmallVec;

use crate::analysis::dependence::{Dependence, strong};
use crate::analysis::memory_location::element_indices;
use crate::analysis::{
    Access, Aliases, EffectSummaries, InductionVariables, InstEffects, LoopId, Poly, Sym,
    inst_effects,
};
use crate::transforms::util::allocation_sites::needs_memory_only;

/// The most accesses that are compared with each other.
const MAX: usize = 128;

/// An instruction that reads or writes objects.
pub(crate) struct MemoryAccess {
    pub(crate) inst: Value,
    pub(crate) block: Block,
    pub(crate) effects: InstEffects,
}

/// The effects of some blocks.
#[derive(Default)]
pub(crate) struct Accesses {
    pub(crate) list: Vec<MemoryAccess>,
    /// True if an error may end the program, or a call may not return.
    pub(crate) may_stop: bool,
    /// The same, but for domain errors of float functions.
    pub(crate) may_stop_otherwise: bool,
    /// True if something is printed.
    pub(crate) observable: bool,
    /// True if objects are written that others may look at when the program has stopped.
    pub(crate) writes_visible: bool,
}

/// Returns whether an instruction is a function of floats, which stops the program outside of its
/// domain alone.
pub(crate) fn is_float_function(f: &Function, v: Value) -> bool {
    f.op(v).is_some_and(|op| op.dialect() == math::SQRT.dialect()) && !f.checks_operands(v)
}

/// The result of comparing two accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AliasResult {
    /// Not so that their order matters.
    NoAlias,
    /// In an element of an array, by their indices.
    MayAliasElement,
    /// Nothing is known.
    MayAlias,
}

impl Accesses {
    /// Returns those of blocks; `None` if there are too many to compare.
    pub(crate) fn of(
        f: &Function,
        blocks: &[Block],
        aliases: &Aliases,
        summaries: &EffectSummaries,
    ) -> Option<Self> {
        let mut this = Self::default();
        for &block in blocks {
            for v in f.insts(block) {
                let effects = inst_effects(f, v, summaries);
                let traps = effects.may_trap && !needs_memory_only(f, v);
                this.may_stop |= traps || effects.may_not_end;
                this.may_stop_otherwise |= traps && !is_float_function(f, v) || effects.may_not_end;
                this.observable |= effects.observable;
                this.writes_visible |= effects.elsewhere.intersects(Access::WRITES);
                this.writes_visible |= effects.objects.iter().any(|&(object, access)| {
                    access.intersects(Access::WRITES) && aliases.is_visible(aliases.base(object))
                });
                if effects.all_accesses() != Access::empty() {
                    if this.list.len() == MAX {
                        return None;
                    }
                    this.list.push(MemoryAccess { inst: v, block, effects });
                }
            }
        }
        Some(this)
    }

    /// Returns whether these may come between others: where one may stop the program, the others
    /// have no side effects.
    pub(crate) fn may_interleave(&self, other: &Self) -> bool {
        let shows = |x: &Self| x.writes_visible || x.observable;
        !(self.may_stop && (other.may_stop || shows(other))
            || other.may_stop && shows(self)
            || self.observable && other.observable)
    }
}

impl MemoryAccess {
    /// Returns whether it and another access may touch the same element.
    pub(crate) fn alias(&self, f: &Function, other: &Self, aliases: &Aliases) -> AliasResult {
        let (a, b) = (&self.effects, &other.effects);
        let by_others = |x: &InstEffects, y: &InstEffects| {
            x.objects.iter().any(|&(object, access)| {
                let hit =
                    aliases.non_escaping(object).is_none() && y.elsewhere.conflicts_with(access);
                hit && !y.elsewhere.is_empty()
            })
        };
        if a.elsewhere.conflicts_with(b.elsewhere) || by_others(a, b) || by_others(b, a) {
            return AliasResult::MayAlias;
        }
        let mut result = AliasResult::NoAlias;
        for &(x, to_x) in &a.objects {
            for &(y, to_y) in &b.objects {
                if to_x.conflicts_with(to_y) && aliases.may_alias(f, x, y) {
                    result = AliasResult::MayAliasElement;
                }
            }
        }
        let by_index = [self, other].iter().all(|x| element_indices(f, x.inst).is_some());
        if result == AliasResult::MayAliasElement && !by_index {
            AliasResult::MayAlias
        } else {
            result
        }
    }

    /// Returns what its indices are in the iterations around it.
    pub(crate) fn polynomials(
        &self,
        f: &Function,
        variables: &InductionVariables,
    ) -> Option<SmallVec<[Poly; 3]>> {
        let indices = element_indices(f, self.inst)?;
        Some(indices.map(|i| variables.evolution_at(f, i, self.block)).collect())
    }
}

/// For `a + s*i` and `b + s*j`: what `i - j` is where they are equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Distance {
    /// They are never equal.
    Never,
    /// This.
    Exactly(i64),
    /// It may be anything.
    Any,
}

/// The distance of two indices, given the bases and steps.
pub(crate) fn distance(a: (&Poly, &Poly), b: (&Poly, &Poly)) -> Distance {
    let (Some(step), Some(other)) = (a.1.constant_value(), b.1.constant_value()) else {
        return Distance::Any;
    };
    let Some(apart) = b.0.sub(a.0).and_then(|apart| apart.constant_value()) else {
        return Distance::Any;
    };
    match step {
        _ if step != other => Distance::Any,
        0 if apart == 0 => Distance::Any,
        0 => Distance::Never,
        // `b + s*j = a + s*i` for `i` that is so much greater than `j`.
        _ => match strong(apart, step, None) {
            Dependence::None => Distance::Never,
            Dependence::SameIteration => Distance::Exactly(0),
            Dependence::Distance(distance) => Distance::Exactly(distance),
            Dependence::Unknown => Distance::Any,
        },
    }
}

/// An index as `base + step * i` in the iterations of a loop, if it is that.
pub(crate) type Line = Option<(Poly, Poly)>;

/// Returns what the indices of an access are in the iterations of a loop.
pub(crate) fn lines(variables: &InductionVariables, at: &[Poly], l: LoopId) -> SmallVec<[Line; 3]> {
    at.iter().map(|index| variables.affine_in(index, l)).collect()
}

/// Returns whether an access in one loop and one in another (or the same, `i` and `j` being
/// iterations of each) may be to the same element although `i > j`.
pub(crate) fn meets_later(a: &[Line], b: &[Line]) -> bool {
    if a.len() != b.len() {
        return true;
    }
    let mut known = None;
    for (x, y) in a.iter().zip(b) {
        let (Some(x), Some(y)) = (x, y) else { continue };
        match distance((&x.0, &x.1), (&y.0, &y.1)) {
            Distance::Never => return false,
            Distance::Exactly(d) if d <= 0 || known.is_some_and(|known| known != d) => {
                return false;
            }
            Distance::Exactly(d) => known = Some(d),
            Distance::Any => {}
        }
    }
    true
}

/// For each of some loops, one in the other, how many iterations apart two accesses are, if that is
/// known.
pub(crate) type Distances = SmallVec<[Option<i64>; 3]>;

/// For two accesses with these indices, in iterations `v` and `w` of the same loops, of which each is
/// in the one before it: what `v - w` is where both are to one element of one array. `None` if they
/// never are.
///
/// A dimension whose index moves with one of the loops alone, the same in both, gives an equation
/// for that loop. Dimensions of which nothing is known are passed over.
pub(crate) fn distances(
    variables: &InductionVariables,
    loops: &[LoopId],
    a: &[Poly],
    b: &[Poly],
) -> Option<Distances> {
    let mut known: Distances = loops.iter().map(|_| None).collect();
    let still = Poly::constant(Type::I64, 0);
    if a.len() != b.len() {
        return Some(known);
    }
    for (x, y) in a.iter().zip(b) {
        let (Some(x), Some(y)) = (affine(variables, loops, x), affine(variables, loops, y)) else {
            continue;
        };
        let moved: SmallVec<[usize; 3]> =
            (0..loops.len()).filter(|&l| !x.steps[l].is_zero() || !y.steps[l].is_zero()).collect();
        let (at, apart) = match *moved {
            [] => (None, distance((&x.base, &still), (&y.base, &still))),
            [l] => (Some(l), distance((&x.base, &x.steps[l]), (&y.base, &y.steps[l]))),
            _ => continue,
        };
        match (apart, at) {
            (Distance::Never, _) => return None,
            (Distance::Exactly(d), Some(l)) if known[l].is_some_and(|known| known != d) => {
                return None;
            }
            (Distance::Exactly(d), Some(l)) => known[l] = Some(d),
            _ => {}
        }
    }
    Some(known)
}

/// An index as `base + steps[0] * i + steps[1] * j + ...` in iterations of loops.
struct Affine {
    base: Poly,
    steps: SmallVec<[Poly; 3]>,
}

/// An index in the iterations of loops, if it is affine with bases and steps that are invariant in all
/// of them, and computed like all indices.
fn affine(variables: &InductionVariables, loops: &[LoopId], index: &Poly) -> Option<Affine> {
    let (mut base, mut steps) = (index.clone(), SmallVec::new());
    for &l in loops {
        let (rest, step) = base.linear_in(Sym::Iteration(l))?;
        steps.push(step);
        base = rest;
    }
    let fixed = |poly: &Poly| loops.iter().all(|&l| variables.is_invariant_in(poly, l));
    let fits = index.ty() == Type::I64 && fixed(&base) && steps.iter().all(fixed);
    fits.then_some(Affine { base, steps })
}
