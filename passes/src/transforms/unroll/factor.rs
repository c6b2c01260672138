//! Unrolling by a factor: rounds of several iterations, and the old loop for the rest.
//!
//! ```text
//! ^1:                                  ^1:
//!                                        %8 = arith.ge %n, 4       as many are left
//!   br ^2(%0)                            br %8, ^5(%0, %n), ^2(%0)
//! ^2(%3):                              ^5(%9, %10):                four copies of ^3
//!   %4 = test %3                 =>      ..
//!   br %4, ^3, ^4                        %19 = arith.sub %10, 4
//! ^3:                                    %20 = arith.ge %19, 4
//!   ..                                   br %20, ^5(%18, %19), ^2(%18)
//!   br ^2(%5)                          ^2(%3):                     as it was
//! ```
//!
//! In iteration `i` (0 at first) of a loop with the count `n`, the counted exit is taken if and
//! only if `i = n`. A round that begins with `r = n - i >= u` ends with iteration `i + u - 1 < n`,
//! so none of its `u` tests leaves. A count that holds only if the exit is taken at all may be
//! used without asking: if the exit is never taken, then not in a round either, and the old loop
//! takes over when the count has run out. Counts are unsigned; one that is too large for a signed
//! number is left to the old loop.

use regraft_dialects::{arith, cf};
use regraft_ir::{Block, Constant, Function, Inst, IrResult, Operand, Type, Value};

use super::edges::{fold_branch, place, redirect_back_edges};
use crate::analysis::trip_count::{Count, Holds, LatchRuns};
use crate::analysis::{InductionVariables, LoopForest, LoopId, Poly, Sym, TripCount};
use crate::transforms::util::clone_blocks::{CloneMap, clone_blocks};
use crate::transforms::util::loop_form::LoopForm;
use crate::transforms::util::materialize::materialize;

/// A loop that is to be unrolled by a factor.
pub(crate) struct ByFactor {
    pub(crate) form: LoopForm,
    factor: usize,
    counted: Option<Counted>,
}

/// A loop that was unrolled by a factor.
pub(crate) struct Rounds {
    /// What stands for what in each copy of the loop that a round goes through.
    pub(crate) copies: Vec<CloneMap>,
    /// The blocks that were made, or are among the copies.
    pub(crate) blocks: Vec<Block>,
}

/// The exit that is counted.
struct Counted {
    /// The block that leaves after so many, and the place of its edge.
    exit: (Block, usize),
    runs: LatchRuns,
    /// A comparison of the count in the preheader that says whether there are enough iterations for
    /// a round.
    guard: Option<Value>,
    /// What decides whether there is a round to do; `None` if there surely is.
    enough: Option<Operand>,
}

impl ByFactor {
    /// A loop whose tests are all kept.
    pub(super) fn any(forest: &LoopForest, id: LoopId, factor: usize) -> Self {
        Self { form: LoopForm::new(forest, id), factor, counted: None }
    }

    /// A loop whose count is known. `None` if the count cannot be computed before the loop.
    pub(crate) fn counted(
        f: &Function,
        forest: &LoopForest,
        id: LoopId,
        count: &TripCount,
        factor: usize,
    ) -> Option<Self> {
        let form = LoopForm::new(forest, id);
        let exit = count.exit?;
        // A jump that always leaves is no test.
        f.out_edges(exit.from).nth(1)?;
        if let LatchRuns::Symbolic(count) = &count.latch_runs {
            // What is computed in the loop is not there yet, even if it is invariant.
            let is_there = |symbol: Sym| match symbol {
                Sym::Value(v) => !form.contains(f.block_of(v)),
                Sym::Iteration(_) => true,
            };
            if !polynomials(count).into_iter().flat_map(Poly::symbols).all(is_there) {
                return None;
            }
        }
        let exit = (exit.from, place(f, exit));
        let counted = Counted { exit, runs: count.latch_runs.clone(), guard: None, enough: None };
        Some(Self { form, factor, counted: Some(counted) })
    }

    /// Computes the count in the preheader.
    pub(crate) fn prepare(
        &mut self,
        f: &mut Function,
        variables: &InductionVariables,
    ) -> IrResult<()> {
        let Some(counted) = &mut self.counted else { return Ok(()) };
        let LatchRuns::Symbolic(count) = &counted.runs else { return Ok(()) };
        let preheader = self.form.ensure_preheader(f)?;
        let at = Value::terminator(preheader);
        let polys = polynomials(count);
        let Some(iterations) = Iterations::new(f, variables, &polys, at)? else { return Ok(()) };
        let mut counter = |l: LoopId| iterations.of(l);
        let number = count.materialize_i64(f, at, &mut counter)?;
        let factor: Operand = f.constant_id(self.factor as i64).into();
        let guard = f.insert(at, arith::ge(number, factor))?;
        let mut enough: Operand = guard.into();
        if let Holds::If(condition) = &count.holds {
            let holds = condition.materialize(f, at, &mut counter)?;
            enough = f.insert(at, arith::and(guard, holds))?.into();
        }
        (counted.guard, counted.enough) = (Some(guard), Some(enough));
        Ok(())
    }

    /// Returns whether the count, if there is one, is known in the preheader.
    pub(crate) fn is_ready(&self) -> bool {
        self.counted.as_ref().is_none_or(|counted| {
            matches!(counted.runs, LatchRuns::Constant(_)) || counted.guard.is_some()
        })
    }

    /// Makes rounds run only if `condition` holds too, which is computed in the preheader.
    ///
    /// # Errors
    /// If it is stale.
    pub(crate) fn also_if(&mut self, f: &mut Function, condition: Value) -> IrResult<()> {
        let Some(Counted { enough, .. }) = &mut self.counted else { return Ok(()) };
        let at = Value::terminator(f.block_of(condition));
        *enough = Some(match *enough {
            None => condition.into(),
            Some(enough) => f.insert(at, arith::and(enough, condition))?.into(),
        });
        Ok(())
    }

    /// Unrolls it, once it is closed. `None` if the count could not be computed.
    pub(crate) fn carry_out(mut self, f: &mut Function) -> IrResult<Option<Rounds>> {
        let count = match &self.counted {
            None => None,
            Some(Counted { runs: LatchRuns::Constant(runs), .. }) => {
                let Some(runs) = Constant::int(Type::I64, *runs as i64) else {
                    return Ok(None);
                };
                Some(Operand::from(f.constant_id(runs)))
            }
            // The count may have got another name since it was computed.
            Some(Counted { guard: Some(guard), .. }) => f.operand(*guard, 0),
            Some(_) => return Ok(None),
        };
        let preheader = self.form.ensure_preheader(f)?;
        let (blocks, header) = (self.form.blocks().to_vec(), self.form.header());
        let places: Vec<(Block, usize)> =
            self.form.back_edges(f).iter().map(|&edge| (edge.from, place(f, edge))).collect();
        let (mut maps, mut made, mut last) = (Vec::new(), Vec::new(), preheader);
        if count.is_none() {
            // The loop itself is the first of the copies.
            maps.push(CloneMap::new());
            made.extend(&blocks);
            last = blocks[blocks.len() - 1];
        }
        while maps.len() < self.factor {
            let mut map = CloneMap::new();
            let copies = clone_blocks(f, &blocks, last, &mut map)?;
            last = copies[copies.len() - 1];
            made.extend(copies);
            maps.push(map);
        }
        for pair in maps.windows(2) {
            redirect_back_edges(f, &pair[0], &places, pair[1].block(header))?;
        }
        let end = &maps[maps.len() - 1];
        match (&self.counted, count) {
            (Some(counted), Some(count)) => {
                let round = f.add_block_after(last)?;
                made.push(round);
                let params: Vec<Value> = f.params(header).collect();
                for param in params {
                    f.append_param(round, f.ty(param))?;
                }
                // Before the tests go: with them the places of the edges do, where a latch leaves.
                redirect_back_edges(f, end, &places, round)?;
                for map in &maps {
                    fold_branch(f, map.block(counted.exit.0), 1 - counted.exit.1)?;
                }
                let ends = Ends { preheader, first: maps[0].block(header), round, header };
                ends.connect(f, self.factor, count, counted.enough)?;
            }
            _ => redirect_back_edges(f, end, &places, header)?,
        }
        Ok(Some(Rounds { copies: maps, blocks: made }))
    }
}

/// The blocks between which rounds go.
struct Ends {
    preheader: Block,
    /// The header of the first copy.
    first: Block,
    /// The block at the end of a round.
    round: Block,
    /// The header of the old loop.
    header: Block,
}

impl Ends {
    /// Lets the preheader begin with a round if there are `enough` iterations (`None`: there are),
    /// and counts down at the end of each.
    fn connect(
        self,
        f: &mut Function,
        factor: usize,
        count: Operand,
        enough: Option<Operand>,
    ) -> IrResult<()> {
        let Self { preheader, first, round, header } = self;
        let loc = f.loc(Value::terminator(preheader));
        let Some(enter) = f.out_edges(preheader).next() else { return Ok(()) };
        let initial: Vec<Operand> = f.edge_args(enter).collect();
        let left = f.append_param(first, Type::I64)?;
        let begin: Vec<Operand> = initial.iter().copied().chain([count]).collect();
        let inst = match enough {
            None => Inst::new(f.jump_op()?).edge(first, begin),
            Some(enough) => cf::br_if(enough, first, begin, header, initial),
        };
        f.set_terminator(preheader, inst.at(loc))?;
        let step: Operand = f.constant_id(factor as i64).into();
        let rest = f.push(round, arith::sub(left, step).at(loc))?;
        let more = f.push(round, arith::ge(rest, step).at(loc))?;
        let params: Vec<Operand> = f.params(round).map(Operand::from).collect();
        let again = params.iter().copied().chain([rest.into()]);
        let inst = cf::br_if(more, first, again, header, params.iter().copied());
        f.set_terminator(round, inst.at(loc))
    }
}

/// The polynomials that a count is made of.
fn polynomials(count: &Count) -> Vec<&Poly> {
    let mut polys = count.polys();
    if let Holds::If(condition) = &count.holds {
        polys.push(&condition.value);
    }
    polys
}

/// The numbers of the present iterations of loops around.
struct Iterations(Vec<(LoopId, Operand)>);

impl Iterations {
    /// Computes those that polynomials mention, before `at`: from a parameter of the header that
    /// goes up or down by one. `None` if there is none.
    fn new(
        f: &mut Function,
        variables: &InductionVariables,
        polys: &[&Poly],
        at: Value,
    ) -> IrResult<Option<Self>> {
        let mut found: Vec<(LoopId, Operand)> = Vec::new();
        for &poly in polys {
            for symbol in poly.symbols() {
                let Sym::Iteration(l) = symbol else { continue };
                if found.iter().any(|(known, _)| *known == l) {
                    continue;
                }
                let is_simple = |p: &Poly| p.symbols().all(|s| matches!(s, Sym::Value(_)));
                let counter = variables.basic(l).iter().find_map(|variable| {
                    let step = variable.step.constant_value()?;
                    let fits = step.abs() == 1
                        && is_simple(&variable.base)
                        && f.ty(variable.param) == poly.ty();
                    fits.then(|| (variable.param, variable.base.clone(), step))
                });
                let Some((param, base, step)) = counter else { return Ok(None) };
                if base.is_zero() && step > 0 {
                    found.push((l, param.into()));
                    continue;
                }
                let mut none = |_| unreachable!("the base mentions no iterations");
                let base = materialize(f, &base, at, &mut none)?;
                let inst = if step > 0 { arith::sub(param, base) } else { arith::sub(base, param) };
                found.push((l, f.insert(at, inst)?.into()));
            }
        }
        Ok(Some(Self(found)))
    }

    fn of(&self, l: LoopId) -> Operand {
        self.0.iter().find(|(known, _)| *known == l).expect("all are computed").1
    }
}
