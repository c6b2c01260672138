//! Deletes loops that surely end and do nothing but compute what is known without them.
//!
//! ```text
//! ^1: br ^2(0, %2)                      ^1: %8: i64 = arith.max 0, %1
//!                                           %9: i64 = arith.mul %8, 3
//! ^2(%3: i64, %4: i64):           =>        %10: i64 = arith.add %2, %9
//!   %5: bool = arith.lt %3, %1              br ^4
//!   br %5, ^3, ^4
//! ^3:
//!   %6: i64 = arith.add %3, 1
//!   %7: i64 = arith.add %4, 3
//!   br ^2(%6, %7)
//! ^4:                                   ^4:
//!   return %4                             return %10
//! ```
//!
//! # Method
//! A loop goes if a trip count says that it ends, that of each loop within it as well, if nothing
//! in it has an effect or may trap, and if what is used after it is known: made outside of it, or an
//! integer that is a polynomial in the number of the iteration (`InductionVariables`), of which the
//! value in the last iteration is then computed before (as LLVM's IndVarSimplify does to make way
//! for LoopDeletion). The loops of one nesting depth are looked at in reverse order of the program,
//! so that what a later one needs of an earlier one is still there. Of a loop that is left in its
//! first iteration in any case, whatever it does, only the way back goes.
//!
//! # Why it is right
//! The trip count is the number of times that the loop goes back before it takes its only exit, so
//! that the values there are those of the iteration of that number, modulo 2^w like everything else.
//! What is inserted does not trap. A loop that may run forever has no trip count, or one that holds on
//! a condition, and stays; so does one in which an error may stop the program.
//!
//! # Cost
//! O(size of the loops) for each nesting depth, and the analyses.

use regraft_dialects::{arith, cf};
use regraft_ir::{Block, Function, IrResult, Operand, Type, Value};
use rustc_hash::FxHashMap;

use crate::analysis::loop_exits::may_be_constant;
use crate::analysis::trip_count::{Count, CountForm, LatchRuns};
use crate::analysis::{
    EffectSummaries, InductionVariables, LoopForest, LoopId, Poly, Sym, TripCounts, inst_effects,
};
use crate::transforms::util::edit::{delete_unreachable, only};
use crate::transforms::util::loop_form::LoopForm;
use crate::transforms::util::materialize::materialize;
use crate::{LoopPass, PassContext, PassResult};

/// The analyses by which loops are deleted.
#[derive(Clone, Copy, Debug)]
struct DeletionAnalyses<'a> {
    /// Its loops.
    forest: &'a LoopForest,
    /// The induction variables.
    ivs: &'a InductionVariables,
    /// The trip counts.
    counts: &'a TripCounts,
    /// By [`LoopId::index`], whether nothing in a loop can be noticed.
    silent: &'a [bool],
}

crate::pass! {
    /// Deletes loops that surely end and do nothing but compute what is known without them.
    ///
    /// ```text
    /// ^1: br ^2(0, %2)                      ^1: %8: i64 = arith.max 0, %1
    ///                                           %9: i64 = arith.mul %8, 3
    /// ^2(%3: i64, %4: i64):           =>        %10: i64 = arith.add %2, %9
    ///   %5: bool = arith.lt %3, %1              br ^4
    ///   br %5, ^3, ^4
    /// ^3:
    ///   %6: i64 = arith.add %3, 1
    ///   %7: i64 = arith.add %4, 3
    ///   br ^2(%6, %7)
    /// ^4:                                   ^4:
    ///   return %4                             return %10
    /// ```
    ///
    /// That a loop ends follows from its trip count; loops with effects, or with instructions that
    /// may trap, stay. A loop that never goes back loses the way back, whatever is in it. Inner
    /// loops are looked at before the ones around them. It costs O(size of the loops) for each
    /// level of nesting.
    #[derive(Debug, Default)]
    pub struct LoopDelete;
}

impl LoopPass for LoopDelete {
    const NAME: &'static str = "loop-delete";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, loops: &[Block], cx: &mut PassContext<'_>) -> PassResult {
        delete_unreachable(f, cx.analyses())?;
        let forest = cx.analysis::<LoopForest>(f);
        let silent = silent_loops(f, &forest, cx.effects());
        let mut ids: Vec<LoopId> = loops.iter().filter_map(|&b| forest.headed_by(b)).collect();
        // Most loops stay for the sake of what they do or carry, or have no number of iterations that
        // is known to be 0: the analyses are for the others.
        ids.retain(|&id| {
            silent[id.index()] && carried(f, &forest, id).all(|v| f.ty(v).is_int())
                || may_be_constant(f, &forest, id, 0)
        });
        if ids.is_empty() {
            return Ok(());
        }
        ids.sort_unstable();
        let ivs = cx.analysis::<InductionVariables>(f);
        let counts = cx.analysis::<TripCounts>(f);
        let facts =
            DeletionAnalyses { forest: &forest, ivs: &ivs, counts: &counts, silent: &silent };
        let (mut deleted, mut computed, mut straightened) = (0, 0, 0);
        for id in ids.into_iter().rev() {
            if straighten(f, id, facts)? {
                straightened += 1;
            } else if let Some(values) = delete(f, id, facts)? {
                deleted += 1;
                computed += values as u64;
            }
        }
        delete_unreachable(f, cx.analyses())?;
        cx.add("loops deleted", deleted);
        cx.add("values computed before", computed);
        cx.add("loops straightened", straightened);
        Ok(())
    }
}

/// Takes the way back from a loop that is left in its first iteration, if it gets so far.
fn straighten(f: &mut Function, id: LoopId, facts: DeletionAnalyses<'_>) -> IrResult<bool> {
    let first = facts.counts.exits(id).iter().find(|(_, n)| *n == LatchRuns::Constant(0));
    let Some((exit, _)) = first else { return Ok(false) };
    let block = exit.from;
    let inside = |block| facts.forest.contains(id, block);
    let leaving = f.out_edges(block).filter(|&edge| !inside(f.edge_target(edge)));
    let Some(edge) = only(leaving) else { return Ok(false) };
    if f.out_edges(block).nth(1).is_none() {
        return Ok(false);
    }
    let args: Vec<Operand> = f.edge_args(edge).collect();
    let jump = cf::br(f.edge_target(edge), args).at(f.loc(Value::terminator(block)));
    f.set_terminator(block, jump)?;
    Ok(true)
}

/// Deletes a loop if it need not run. Returns how many values are computed before it now.
fn delete(f: &mut Function, id: LoopId, facts: DeletionAnalyses<'_>) -> IrResult<Option<usize>> {
    // That is seen without looking inside.
    let carried: Vec<Value> = carried(f, facts.forest, id).collect();
    if !facts.counts.surely_ends(id)
        || !carried.is_empty() && Last::find(f, id, &carried, facts).is_none()
    {
        return Ok(None);
    }
    let mut form = LoopForm::new(facts.forest, id);
    let exits = form.exits(f);
    let Some(&exit) = exits.first() else { return Ok(None) };
    let target = f.edge_target(exit);
    let args: Vec<Operand> = f.edge_args(exit).collect();
    let same_exit = exits
        .iter()
        .all(|&e| f.edge_target(e) == target && f.edge_args(e).eq(args.iter().copied()));
    if !same_exit || !facts.silent[id.index()] {
        return Ok(None);
    }
    let needed = needed(f, &form, &args);
    let last = match (&*needed, &*exits) {
        ([], _) => None,
        (_, [_]) => match Last::find(f, id, &needed, facts) {
            Some(last) => Some(last),
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    let preheader = form.ensure_preheader(f)?;
    let at = Value::terminator(preheader);
    let finals = match last {
        Some(last) => last.compute(f, at)?,
        None => FxHashMap::default(),
    };
    for v in &needed {
        let new = finals[v];
        f.transfer_name(*v, new);
        f.replace_uses_if(*v, new, |f, at| !form.contains(f.block_of(at.user)))?;
    }
    let args = args.into_iter().map(|arg| match arg.as_value() {
        Some(v) => finals.get(&v).copied().unwrap_or(arg),
        None => arg,
    });
    let jump = cf::br(target, args.collect::<Vec<Operand>>()).at(f.loc(at));
    f.set_terminator(preheader, jump)?;
    f.delete_blocks(form.blocks())?;
    Ok(Some(needed.len()))
}

/// The parameters of the header of a loop that are used after it, and what its exits pass on.
fn carried<'a>(
    f: &'a Function,
    forest: &'a LoopForest,
    id: LoopId,
) -> impl Iterator<Item = Value> + 'a {
    let outside = move |at: regraft_ir::Use| !forest.contains(id, f.block_of(at.user));
    let params = f.params(forest.get(id).header).filter(move |&v| f.uses(v).any(outside));
    let passed = forest.get(id).exits.iter().flat_map(move |exit| f.edge_args(exit.edge(f)));
    let passed = passed.filter_map(Operand::as_value);
    params.chain(passed.filter(move |&v| forest.contains(id, f.block_of(v))))
}

/// By [`LoopId::index`], whether nothing in a loop can be noticed. O(instructions).
fn silent_loops(f: &Function, forest: &LoopForest, summaries: &EffectSummaries) -> Vec<bool> {
    let mut silent = vec![true; forest.len()];
    for inner in forest.innermost_first() {
        let own = forest.own_blocks(inner);
        let is_silent = silent[inner.index()] && own.iter().all(|&b| is_silent(f, b, summaries));
        silent[inner.index()] = is_silent;
        if let Some(around) = forest.get(inner).parent {
            silent[around.index()] &= is_silent;
        }
    }
    silent
}

/// Returns whether nothing in a block can be noticed.
fn is_silent(f: &Function, block: Block, summaries: &EffectSummaries) -> bool {
    f.insts(block).all(|v| match v.is_terminator() {
        true => !f.may_trap(v),
        false => inst_effects(f, v, summaries).is_removable(),
    })
}

/// The values of a loop that are used after it, in layout order of their blocks.
fn needed(f: &Function, form: &LoopForm, args: &[Operand]) -> Vec<Value> {
    let mut needed = Vec::new();
    for &block in form.blocks() {
        for v in f.params(block).chain(f.body(block)) {
            let outside = |at: regraft_ir::Use| !form.contains(f.block_of(at.user));
            if args.contains(&v.into()) || f.uses(v).any(outside) {
                needed.push(v);
            }
        }
    }
    needed
}

/// The values of a loop in its last iteration.
struct Last<'a> {
    id: LoopId,
    runs: &'a LatchRuns,
    values: Vec<(Value, Poly)>,
    /// The numbers of the iterations of the loops around, as far as they are needed.
    around: FxHashMap<LoopId, Operand>,
}

impl<'a> Last<'a> {
    /// `None` if one of them is not known.
    fn find(
        f: &Function,
        id: LoopId,
        needed: &[Value],
        facts: DeletionAnalyses<'a>,
    ) -> Option<Self> {
        let count = facts.counts.of(id);
        if !count.is_exact {
            return None;
        }
        let mut values: Vec<(Value, Poly)> = Vec::new();
        for &v in needed {
            if !f.ty(v).is_int() {
                return None;
            }
            let poly = facts.ivs.evolution(f, v);
            values.push((v, poly));
        }
        let mut around = FxHashMap::default();
        let polys = values.iter().map(|(_, poly)| poly);
        let counted = count.latch_runs.as_symbolic().into_iter().flat_map(Count::polys);
        for symbol in polys.chain(counted).flat_map(Poly::symbols) {
            match symbol {
                Sym::Iteration(own) if own == id => {}
                Sym::Iteration(outer) if facts.forest.encloses(outer, id) => {
                    around.insert(outer, counter(f, outer, facts.ivs)?);
                }
                Sym::Iteration(_) => return None,
                Sym::Value(v) if facts.ivs.invariants().is_outside(id, v) => {}
                Sym::Value(_) => return None,
            }
        }
        Some(Self { id, runs: &count.latch_runs, values, around })
    }

    /// Inserts what computes them before `at`.
    fn compute(self, f: &mut Function, at: Value) -> IrResult<FxHashMap<Value, Operand>> {
        let mut counter = |l: LoopId| self.around[&l];
        let runs = number(f, self.runs, at, &mut counter)?;
        let own = Sym::Iteration(self.id);
        let mut finals = FxHashMap::default();
        let mut wide: Option<Operand> = None;
        for (v, poly) in self.values {
            let ty = poly.ty();
            let fits = ty.bits() <= runs.ty().bits();
            let known = |s: Sym| match s {
                _ if s == own => fits.then(|| runs.truncate(ty)),
                Sym::Iteration(l) => Some(Poly::iteration(ty, l)),
                Sym::Value(v) => Some(Poly::symbol(ty, Sym::Value(v))),
            };
            let new = match poly.substitute(known) {
                Some(poly) => materialize(f, &poly, at, &mut counter)?,
                // A count of fewer bits, which is no signed number, or too many terms.
                None => {
                    let wide = match wide {
                        Some(wide) => wide,
                        None => {
                            let count = materialize(f, &runs, at, &mut counter)?;
                            let is_wide = f.operand_type(count) == Type::I64;
                            let inst = arith::zext(count, Type::I64);
                            *wide.insert(if is_wide { count } else { f.insert(at, inst)?.into() })
                        }
                    };
                    let mut number = |l| if l == self.id { wide } else { self.around[&l] };
                    materialize(f, &poly, at, &mut number)?
                }
            };
            finals.insert(v, new);
        }
        Ok(finals)
    }
}

/// A count as a polynomial, with what has to be inserted before `at` for it.
fn number(
    f: &mut Function,
    runs: &LatchRuns,
    at: Value,
    counter: &mut dyn FnMut(LoopId) -> Operand,
) -> IrResult<Poly> {
    let count = match runs {
        LatchRuns::Constant(n) => return Ok(Poly::constant(Type::I64, n.cast_signed())),
        LatchRuns::Never | LatchRuns::Unknown => return Ok(Poly::constant(Type::I64, 0)),
        LatchRuns::Symbolic(count) => count,
    };
    match &count.form {
        CountForm::Number(poly) => return Ok(poly.clone()),
        // The farther one of the two, less the beginning: what is added to the beginning is often
        // just that.
        CountForm::Distance { from, to, down, stride: 1 } => {
            let (first, last) =
                (materialize(f, from, at, counter)?, materialize(f, to, at, counter)?);
            let inst = if *down { arith::min(first, last) } else { arith::max(first, last) };
            let farther = Poly::value(from.ty(), f.insert(at, inst)?);
            let distance = if *down { from.sub(&farther) } else { farther.sub(from) };
            if let Some(distance) = distance {
                return Ok(distance);
            }
        }
        _ => {}
    }
    let operand = count.materialize(f, at, counter)?;
    Ok(match operand.as_value() {
        Some(v) => Poly::value(count.ty(), v),
        None => Poly::constant(
            count.ty(),
            f.constant(operand).and_then(regraft_ir::Constant::as_int).unwrap_or(0),
        ),
    })
}

/// A value that is the number of the iteration of a loop: a wide one that begins with 0.
fn counter(f: &Function, id: LoopId, ivs: &InductionVariables) -> Option<Operand> {
    let counts = |number: &Poly, n| number.constant_value() == Some(n);
    let mut basic = ivs.basic(id).iter();
    let found = basic
        .find(|iv| f.ty(iv.param) == Type::I64 && counts(&iv.base, 0) && counts(&iv.step, 1))?;
    Some(found.param.into())
}
