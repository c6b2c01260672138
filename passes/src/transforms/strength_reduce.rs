//! Replaces multiplications of induction variables by additions that are carried along.
//!
//! ```text
//! ^1: br ^2(0)                               ^1: br ^2(0, 0)
//! ^2(%3: i64):                               ^2(%3: i64, %9: i64):
//!   %4: bool = arith.lt %3, %1                 %4: bool = arith.lt %3, %1
//!   br %4, ^3, ^4                       =>     br %4, ^3, ^4
//! ^3:                                        ^3:
//!   %5: i64 = arith.mul %3, %2
//!   %6: unit = core.print %5                   %6: unit = core.print %9
//!   %7: i64 = arith.add %3, 1                  %7: i64 = arith.add %3, 1
//!                                              %10: i64 = arith.add %9, %2
//!   br ^2(%7)                                  br ^2(%7, %10)
//! ```
//!
//! # Method
//! The classic of Cocke and Kennedy ("An algorithm for reduction of operator strength", 1977), read
//! off the polynomials of [`InductionVariables`]: a product that is `base + step * i` in the
//! iteration `i` of a loop is a parameter of its header that begins with `base` and grows by
//! `step`. Products whose bases differ by a constant share one parameter, and one that is there
//! already is used. It has to pay: the product runs in every iteration, no factor is a power of
//! two (a shift costs no more than an addition), and no loop gets more than `max-params`.
//!
//! # Why it is right
//! Modulo 2^w the polynomial and the parameter are the same number in each iteration, whatever
//! overflows. A product dominates its uses, so that the parameter of the same iteration does as
//! well. Products and sums of integers do not trap. Floats are left alone: there a sum of
//! roundings is not a rounded product.
//!
//! # How it goes with others
//! Late, as one of the last passes before code for a machine is made: `indvars` does the reverse,
//! and analyses see less in a loop with many counters.
//!
//! # Cost
//! O(instructions of the loops), besides the analyses.

use regraft_dialects::arith;
use regraft_ir::{Block, Constant, DominatorTree, Function, IrResult, Operand, Value};
use rustc_hash::FxHashSet;

use crate::analysis::{InductionVariables, LoopId, Poly};
use crate::options::{OptionDef, Options};
use crate::transforms::util::counters::{add_induction, can_compute, compute, ensure_preheaders};
use crate::{LoopPass, PassContext, PassResult};

/// The most terms of a base or a step, their constants not counted.
const MAX_TERMS: usize = 3;

crate::pass! {
    /// Replaces multiplications of induction variables by additions that are carried along.
    ///
    /// ```text
    /// ^2(%3: i64):                               ^2(%3: i64, %9: i64):
    ///   ..                                         ..
    ///   %5: i64 = arith.mul %3, %2          =>
    ///   %6: unit = core.print %5                   %6: unit = core.print %9
    ///   %7: i64 = arith.add %3, 1                  %7: i64 = arith.add %3, 1
    ///                                              %10: i64 = arith.add %9, %2
    ///   br ^2(%7)                                  br ^2(%7, %10)
    /// ```
    ///
    /// Only of integers, only what runs in every iteration, and not where a shift does as well. Put
    /// it at the end of a pipeline: `indvars` does the reverse. It costs O(instructions) for each
    /// level of nesting.
    #[derive(Debug, Default)]
    pub struct StrengthReduce {
        max_params: usize,
    }
}

impl LoopPass for StrengthReduce {
    const NAME: &'static str = "strength-reduce";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[OptionDef::int(
        "max-params",
        4,
        "the most values that one loop is made to carry along in addition",
    )];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.max_params = usize::try_from(options.int("max-params")).unwrap_or(usize::MAX);
        Ok(())
    }

    fn run(&mut self, f: &mut Function, loops: &[Block], cx: &mut PassContext<'_>) -> PassResult {
        let ivs = cx.analysis::<InductionVariables>(f);
        let dom = cx.analysis::<DominatorTree>(f);
        let reducible = |l: LoopId| !products(f, &ivs, &dom, l).is_empty();
        let wanted: Vec<LoopId> = loops
            .iter()
            .filter_map(|&header| ivs.forest().headed_by(header))
            .filter(|&l| reducible(l))
            .collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let headers = ensure_preheaders(f, loops, ivs.forest(), |l| wanted.contains(&l))?;
        let ivs = cx.analysis::<InductionVariables>(f);
        let dom = cx.analysis::<DominatorTree>(f);
        let ids = headers.into_iter().filter_map(|header| ivs.forest().headed_by(header));
        let (mut replaced, mut added) = (Vec::new(), 0);
        for l in ids {
            let mut reducer =
                Reducer { f: &mut *f, ivs: &ivs, dom: &dom, l, carried: Vec::new(), added: 0 };
            reducer.reduce(self.max_params, &mut replaced)?;
            added += reducer.added;
        }
        // The analyses speak of the products until here.
        for &(product, value) in &replaced {
            // One that is used no more may have gone with its last user.
            if !f.is_live(product) {
                continue;
            }
            f.replace_named(product, value)?;
            f.delete_tree(product)?;
        }
        cx.add("products replaced", replaced.len() as u64);
        cx.add("parameters added", added as u64);
        Ok(())
    }
}

/// The products of a loop that can be carried along, each with its base and its step, but for
/// those that only other ones use.
fn products(
    f: &Function,
    ivs: &InductionVariables,
    dom: &DominatorTree,
    l: LoopId,
) -> Vec<(Value, Poly, Poly)> {
    let forest = ivs.forest();
    // What stands in an inner loop and does not vary there is for `licm` to bring out.
    let own = forest.own_blocks(l).iter();
    let mut found: Vec<(Value, Poly, Poly)> = Vec::new();
    for v in own.flat_map(|&block| f.body(block)) {
        found.extend(induction(f, ivs, dom, l, v).map(|(base, step)| (v, base, step)));
    }
    let all: FxHashSet<Value> = found.iter().map(|&(v, ..)| v).collect();
    found.retain(|&(v, ..)| f.uses(v).any(|at| !all.contains(&at.user)));
    found
}

/// The base and the step of a product that can be carried along, if that is profitable.
fn induction(
    f: &Function,
    ivs: &InductionVariables,
    dom: &DominatorTree,
    l: LoopId,
    v: Value,
) -> Option<(Poly, Poly)> {
    let [x, y] = f.matches(v, arith::MUL)?;
    if !f.ty(v).is_int() || !f.is_used(v) || is_shift(f, x) || is_shift(f, y) {
        return None;
    }
    let latches = &ivs.forest().get(l).latches;
    if !latches.iter().all(|&latch| dom.dominates(f.block_of(v), latch)) {
        return None;
    }
    let (base, step) = ivs.affine_in(&ivs.evolution(f, v), l)?;
    let known = |poly: &Poly| {
        poly.terms().len() <= MAX_TERMS
            && ivs.is_available_before(poly, l)
            && can_compute(f, ivs, poly)
    };
    (!step.is_zero() && known(&base) && known(&step)).then_some((base, step))
}

/// Returns whether a product with an operand is a shift, or nothing.
fn is_shift(f: &Function, operand: Operand) -> bool {
    let constant = f.constant(operand).and_then(Constant::as_int);
    constant.is_some_and(|x| x.unsigned_abs().is_power_of_two() || x == 0)
}

struct Reducer<'a> {
    f: &'a mut Function,
    ivs: &'a InductionVariables,
    dom: &'a DominatorTree,
    l: LoopId,
    /// Header parameters by what they begin with and what is added.
    carried: Vec<(Poly, Poly, Value)>,
    added: usize,
}

impl Reducer<'_> {
    fn reduce(&mut self, most: usize, replaced: &mut Vec<(Value, Operand)>) -> IrResult<()> {
        let forest = self.ivs.forest();
        let Some(preheader) = forest.get(self.l).preheader else { return Ok(()) };
        let basic = self.ivs.basic(self.l).iter();
        self.carried = basic.map(|b| (b.base.clone(), b.step.clone(), b.param)).collect();
        for (v, base, step) in products(self.f, self.ivs, self.dom, self.l) {
            if let Some(value) = self.carry(&base, &step, v, preheader, most)? {
                replaced.push((v, value));
            }
        }
        Ok(())
    }

    /// The value that a product has, carried along.
    fn carry(
        &mut self,
        base: &Poly,
        step: &Poly,
        v: Value,
        preheader: Block,
        most: usize,
    ) -> IrResult<Option<Operand>> {
        // One that is the same, or else one that is a constant away.
        let away = |(b, s, param): &(Poly, Poly, Value)| {
            let same = s.ty() == step.ty() && s == step;
            let away = same.then(|| base.sub(b)).flatten()?.constant_value()?;
            Some((away, *param))
        };
        let near = self.carried.iter().filter_map(away).min_by_key(|&(away, _)| away != 0);
        let (away, param) = match near {
            Some(near) => near,
            None if self.added >= most => return Ok(None),
            None => {
                let end = Value::terminator(preheader);
                let first = compute(self.f, self.ivs, base, end, &[])?;
                let growth = compute(self.f, self.ivs, step, end, &[])?;
                let (param, _) = add_induction(self.f, self.ivs.forest(), self.l, first, growth)?;
                self.carried.push((base.clone(), step.clone(), param));
                self.added += 1;
                (0, param)
            }
        };
        if away == 0 {
            return Ok(Some(param.into()));
        }
        let constant = Constant::int(base.ty(), away).expect("products are of integers");
        let constant = self.f.constant_id(constant);
        let sum = self.f.insert(v, arith::add(param, constant).made_from(v))?;
        Ok(Some(sum.into()))
    }
}
