//! Sums that a nest carries around its loops and hands on.
//!
//! ```text
//! for i, k { s = s + a[i] * b[k] }    =>    s + (for i { x += a[i] }) * (for k { y += b[k] })
//! ```
//!
//! The sum is a parameter of the header of the nest, which each inner loop begins with and hands back.

use regraft_dialects::arith;
use regraft_ir::{Function, IrResult, Operand, Value};

use super::emit::{Emitter, sum_over};
use super::factors::{Factor, factors, neutral, product, slice_of};
use super::nest::LoopNest;
use super::slice::{Slice, Slices, counters, passed};
use crate::analysis::LoopId;

/// Returns whether an instruction adds a product to a parameter of a block, of a type whose sums
/// distribute over products.
pub(super) fn is_carried_product(f: &Function, v: Value, fast: bool) -> bool {
    let Some([x, y]) = f.matches(v, arith::ADD) else { return false };
    let is_param = |operand: Operand| operand.as_value().is_some_and(|v| f.is_param(v));
    let is_product =
        |operand: Operand| operand.as_value().is_some_and(|v| f.op(v) == Some(arith::MUL));
    neutral(f, arith::ADD, f.ty(v), fast).is_some()
        && (is_param(x) && is_product(y) || is_param(y) && is_product(x))
}

/// A sum of products that is the product of sums.
pub(super) struct FactoredSum {
    pub(super) result: Value,
    /// The addition.
    op: Value,
    start: Operand,
    pub(super) around: Vec<LoopId>,
    params: Vec<Vec<Value>>,
    groups: Vec<Group>,
    /// The factors that no loop changes.
    fixed: Vec<Factor>,
    /// All that is added.
    pub(super) addend: Slice,
}

/// The factors of one of the sums.
struct Group {
    loops: Vec<LoopId>,
    factors: Vec<Factor>,
}

impl FactoredSum {
    /// The sum in a parameter of the header of the nest, if there are several factors.
    pub(super) fn of(
        f: &Function,
        slices: &mut Slices<'_>,
        result: Value,
        fast: bool,
    ) -> Option<Self> {
        let nest = slices.nest;
        let (op, around, chain) = chain(f, nest, result)?;
        let start = neutral(f, arith::ADD, f.ty(op), fast)?;
        let home = *around.last()?;
        let own = chain[chain.len() - 1];
        let [x, y] = f.matches(op, arith::ADD)?;
        let addend = if x == own.into() { y } else { x };
        let whole = slices.of(f, addend, home)?;
        if whole.params.iter().any(|param| chain.contains(param)) || whole.depth > 0 {
            return None;
        }
        let mut params = Vec::with_capacity(around.len());
        for &l in &around {
            let test = slices.of(f, nest.get(l).test, l)?;
            params.push(counters(f, slices, l, &[&test, &whole])?);
        }
        let (mut groups, mut fixed): (Vec<Group>, Vec<Factor>) = (Vec::new(), Vec::new());
        for factor in factors(f, slices, addend, home) {
            let slice = slice_of(f, slices, &[factor])?;
            let varies =
                |l: &LoopId| slice.params.iter().any(|&param| nest.header_of(f, param) == Some(*l));
            let loops: Vec<LoopId> = around.iter().copied().filter(varies).collect();
            if loops.is_empty() {
                fixed.push(factor);
                continue;
            }
            let mut new = Group { loops, factors: vec![factor] };
            for old in std::mem::take(&mut groups) {
                if old.loops.iter().any(|l| new.loops.contains(l)) {
                    new.loops.extend(old.loops);
                    new.factors.extend(old.factors);
                } else {
                    groups.push(old);
                }
            }
            new.loops.sort_unstable();
            new.loops.dedup();
            groups.push(new);
        }
        let covered: usize = groups.iter().map(|group| group.loops.len()).sum();
        let gains = groups.len() > 1 || !fixed.is_empty();
        (covered == around.len() && gains).then_some(Self {
            result,
            op,
            start,
            around,
            params,
            groups,
            fixed,
            addend: whole,
        })
    }

    /// The nesting depth of its loops.
    pub(super) fn depth(&self) -> usize {
        self.groups.iter().map(|group| group.loops.len()).max().unwrap_or(0)
    }

    /// Makes the sums where the emitter is, which is after the test that all loops run, and adds their
    /// product to what there is before the nest.
    pub(super) fn emit(
        &self,
        f: &mut Function,
        emitter: &mut Emitter<'_>,
        before: Operand,
    ) -> IrResult<Operand> {
        let mut all = product(f, emitter, &self.fixed)?;
        for group in &self.groups {
            let loops: Vec<(LoopId, &[Value])> =
                group.loops.iter().map(|&l| (l, self.params_of(l))).collect();
            let sum = sum_over(f, emitter, &loops, self.start, |f, emitter, sum| {
                let addend = product(f, emitter, &group.factors)?.unwrap_or(sum);
                Ok(f.push(emitter.block(), arith::add(sum, addend))?.into())
            })?;
            all = Some(match all {
                Some(all) => f.push(emitter.block(), arith::mul(all, sum))?.into(),
                None => sum,
            });
        }
        let inst = arith::add(before, all.unwrap_or(self.start)).at(f.loc(self.op));
        Ok(f.push(emitter.block(), inst.made_from(self.op))?.into())
    }

    fn params_of(&self, l: LoopId) -> &[Value] {
        let position = self.around.iter().position(|&of| of == l);
        position.map_or(&[], |position| &self.params[position])
    }
}

/// The addition that a parameter of the header of a nest is carried to, with the loops on the way and
/// the parameters of their headers.
fn chain(
    f: &Function,
    nest: &LoopNest<'_>,
    result: Value,
) -> Option<(Value, Vec<LoopId>, Vec<Value>)> {
    let resolve = |mut operand: Operand| {
        while let Some(v) = operand.as_value()
            && f.is_param(v)
            && nest.contains(f.block_of(v))
            && nest.header_of(f, v).is_none()
        {
            operand = passed(f, v)?;
        }
        operand.as_value()
    };
    let (mut loops, mut params) = (vec![nest.header_of(f, result)?], vec![result]);
    loop {
        let (l, param) = (*loops.last()?, *params.last()?);
        let of = nest.get(l);
        let position = f.params(of.header).position(|p| p == param)?;
        let next = resolve(of.next[position])?;
        if let Some([x, y]) = f.matches(next, arith::ADD) {
            let adds = nest.contains(f.block_of(next)) && nest.loop_of(f.block_of(next)) == l;
            let once = (x == param.into()) != (y == param.into());
            return (adds && once).then_some((next, loops, params));
        }
        let inner = nest.header_of(f, next)?;
        let position = f.params(nest.get(inner).header).position(|p| p == next)?;
        let initial = resolve(nest.get(inner).initial[position]);
        if nest.get(inner).parent != Some(l) || inner == nest.root || initial != Some(param) {
            return None;
        }
        loops.push(inner);
        params.push(next);
    }
}
