//! Makes one loop of two that go over all elements of matrices.
//!
//! ```text
//! for j in 1:n                       for k in 1:m * n
//!     for i in 1:m           =>          s += x[k]
//!         s += x[i, j]
//! ```
//!
//! # Method
//! Loop coalescing (Polychronopoulos, "Loop coalescing: a compiler transformation for parallel machines", 1987), where
//! no index has to be taken apart again: the inner loop meets all elements of a column, so the elements of all iterations
//! follow each other in memory, and one index in column-major order reaches them. Both loops go up, or both down.
//!
//! # Why it is right
//! The same iterations run in the same order. The counters are used for nothing but the tests and the indices; between the
//! loops nothing else is computed, and what is carried goes from one loop to the other as it is. Nothing stops the program, and
//! accesses are in bounds, so the inner loop is no longer than a column, and it is no shorter (`Cover`). Where one loop never
//! runs, neither does the new one.
//!
//! # Cost
//! O(size of the nests), and a bounded number of steps for each access.

use regraft_dialects::{arith, cf};
use regraft_ir::{Block, Edge, Function, Inst, IrResult, Operand, Type, Value};
use rustc_hash::FxHashSet;

use crate::analysis::bounds::is_promised;
use crate::analysis::loop_exits::{Holds, LatchRuns};
use crate::analysis::memory_location::element_indices;
use crate::analysis::traps::only_computes;
use crate::analysis::{InductionVariables, LoopForest, LoopId, Poly, Sym, TripCounts};
use crate::transforms::util::counters::{can_compute, compute, compute_runs, ensure_preheaders};
use crate::transforms::util::cover::{Counted, Cover, CoverAnalyses};
use crate::transforms::util::edit::{delete_unreachable, jump_target};
use crate::transforms::util::loop_pair::CountedLoop;
use crate::{FunctionPass, PassContext, PassResult};

crate::pass! {
    /// Makes one loop of two that go over all elements of matrices.
    ///
    /// ```text
    /// for j in 1:n                       for k in 1:m * n
    ///     for i in 1:m           =>          s += x[k]
    ///         s += x[i, j]
    /// ```
    ///
    /// The inner loop meets all elements of a column in its iterations, of each matrix in it, in bounds, and the outer one goes
    /// from column to column the same way, up or down; nothing else is done with the counters. Results are the same, bit for bit. It
    /// is run on what becomes native code: long loops make better vectors and strips than short ones.
    #[derive(Debug, Default)]
    pub struct LoopCoalesce;
}

impl FunctionPass for LoopCoalesce {
    const NAME: &'static str = "loop-coalesce";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let forest = cx.analysis::<LoopForest>(f);
        let around = |inner| Nest::around(f, &forest, inner).map(|nest| nest.outer.header);
        let headers: Vec<Block> = forest.loops().filter_map(around).collect();
        if headers.is_empty() {
            return Ok(());
        }
        // Blocks that nothing goes to may go to the loops.
        delete_unreachable(f, cx.analyses())?;
        ensure_preheaders(f, &headers, &cx.analysis(f), |_| true)?;
        let forest = cx.analysis::<LoopForest>(f);
        let (counts, variables) = (cx.analysis::<TripCounts>(f), cx.analysis(f));
        let analyses = CoverAnalyses::of(f, cx.analyses());
        let mut plans = Vec::new();
        let mut cover = analyses.cover(f);
        for inner in forest.loops() {
            if let Some(nest) = Nest::around(f, &forest, inner)
                && let Some(plan) = nest.plan(f, &forest, &counts, &variables, &mut cover)
            {
                plans.push(plan);
            }
        }
        for plan in &plans {
            plan.carry_out(f, &forest, &variables)?;
            cx.count("nests");
        }
        Ok(())
    }
}

/// Two loops, one directly in the other, with a single block in it.
struct Nest {
    outer: CountedLoop,
    inner: CountedLoop,
    /// The counter of each.
    counters: [Value; 2],
    /// The carried values, each as a parameter of the outer and of the inner header.
    carried: Vec<(Value, Value)>,
    /// The instructions that compute counters, tests and indices.
    counting: FxHashSet<Value>,
}

impl Nest {
    /// The nest of an innermost loop and the one around it, if they do nothing else but what the inner one does.
    fn around(f: &Function, forest: &LoopForest, inner: LoopId) -> Option<Self> {
        let outer = forest.get(inner).parent?;
        let alone = forest.is_innermost(inner) && forest.children(outer).count() == 1;
        if !alone || forest.blocks(inner).len() != 2 || forest.get(outer).has_irreducible {
            return None;
        }
        let o = CountedLoop::with_any_latch(f, forest, outer)?;
        let i = CountedLoop::of(f, forest, inner)?;
        if !o.is_tested_first() || !i.is_tested_first() || f.param_count(i.latch) != 0 {
            return None;
        }
        let enter = into(f, o.stay(f), i.header)?;
        let back = into(f, i.exit(f), o.header)?;
        let between = [enter.from, back.from];
        let known = [o.header, i.header, i.latch];
        let others = between.iter().filter(|block| !known.contains(block)).count();
        if forest.blocks(outer).len() != known.len() + others {
            return None;
        }
        // What the inner header gets is what the outer one has, and the other way round.
        let (mut counters, mut carried) = ([None; 2], Vec::new());
        let outer_params: Vec<Value> = f.params(o.header).collect();
        for (param, arg) in f.params(i.header).zip(f.edge_args(enter)) {
            match arg.as_value().filter(|arg| outer_params.contains(arg)) {
                // Counts and indices of other nests are computed from none of these.
                Some(from)
                    if matches!(f.ty(from), Type::F64 | Type::F32)
                        && !carried.iter().any(|&(known, _)| known == from) =>
                {
                    carried.push((from, param));
                }
                _ if counters[1].is_none() => counters[1] = Some(param),
                _ => return None,
            }
        }
        for (&param, arg) in outer_params.iter().zip(f.edge_args(back)) {
            match carried.iter().find(|&&(from, _)| from == param) {
                Some(&(_, to)) if arg == to.into() => {}
                None if counters[0].is_none() => counters[0] = Some(param),
                _ => return None,
            }
        }
        let [Some(first), Some(second)] = counters else { return None };
        let mut nest = Self {
            outer: o,
            inner: i,
            counters: [first, second],
            carried,
            counting: FxHashSet::from_iter([first, second]),
        };
        nest.counts_only(f, forest).then_some(nest)
    }

    /// Returns whether counters are used for tests and indices alone, and nothing else is computed between the loops; notes
    /// what is computed from them.
    fn counts_only(&mut self, f: &Function, forest: &LoopForest) -> bool {
        let outer = self.outer.id;
        let blocks = forest.blocks(outer);
        let body = self.inner.latch;
        // What a column begins with is not there any more when the loops are one.
        let begins = |operand: Operand| {
            operand.as_value().is_some_and(|v| self.carried.iter().any(|&(from, _)| from == v))
        };
        if f.insts(body).any(|v| f.operands(v).any(begins)) {
            return false;
        }
        // Operands come first: of the blocks, each comes after those that dominate it.
        for v in blocks.iter().flat_map(|&block| f.body(block)) {
            let counts =
                |operand: Operand| operand.as_value().is_some_and(|v| self.counting.contains(&v));
            let depends = f.operands(v).any(counts);
            let is_inside = f.block_of(v) == body;
            if let Some(indices) = element_indices(f, v) {
                let others = f.operand_count(v) - indices.len();
                if !is_inside || f.operands(v).take(others).any(counts) {
                    return false;
                }
            } else if !only_computes(f, v) || !depends && !is_inside {
                return false;
            } else if depends {
                self.counting.insert(v);
            }
        }
        let stays = |v: Value| f.uses(v).all(|at| forest.contains(outer, f.block_of(at.user)));
        let carried = |v: Value| self.carried.iter().any(|&(from, _)| from == v);
        let all = blocks.iter().flat_map(|&block| f.params(block).chain(f.body(block)));
        let mut all = all.filter(|&v| !carried(v));
        let leaves =
            |operand: Operand| operand.as_value().is_some_and(|v| self.counting.contains(&v));
        let edges = [self.outer.exit(f), self.inner.back_edge(f)];
        let counter = f.params(self.inner.header).position(|param| param == self.counters[1]);
        let passes_on = |edge: &Edge| {
            f.edge_args(*edge)
                .enumerate()
                .any(|(at, arg)| leaves(arg) && (edge.from != body || Some(at) != counter))
        };
        all.all(stays) && !edges.iter().any(passes_on)
    }

    /// The plan for the nest, if all of it is known.
    fn plan(
        self,
        f: &Function,
        forest: &LoopForest,
        counts: &TripCounts,
        variables: &InductionVariables,
        cover: &mut Cover<'_>,
    ) -> Option<Plan> {
        let preheader = forest.get(self.outer.id).preheader?;
        let at = Value::terminator(preheader);
        // The inner loop ends, as its accesses are in bounds; the outer one has to where the inner one is empty.
        let runs = |of: &CountedLoop, ends: bool| {
            let count = counts.of(of.id);
            let is_there = |poly: &Poly| {
                variables.is_available_before(poly, self.outer.id)
                    && can_compute(f, variables, poly)
            };
            let fits = match &count.latch_runs {
                LatchRuns::Constant(_) => true,
                LatchRuns::Symbolic(count) => {
                    let holds = match count.holds {
                        Holds::Always => true,
                        Holds::IfTaken => ends,
                        Holds::If(_) => false,
                    };
                    holds && count.polys().into_iter().all(is_there)
                }
                LatchRuns::Never | LatchRuns::Unknown => false,
            };
            (fits && count.exit == Some(of.exit(f))).then(|| count.latch_runs.clone())
        };
        let runs = [runs(&self.outer, false)?, runs(&self.inner, true)?];
        let body = self.inner.latch;
        let mut columns = Vec::new();
        for v in f.body(body) {
            let Some(indices) = element_indices(f, v) else { continue };
            let indices: Vec<Operand> = indices.collect();
            let [row, column] = *indices else { return None };
            let array = f.operand(v, 0)?.as_value()?;
            let row = Counted::of(f, variables, row, body)?;
            let column = variables.evolution_at(f, column, body);
            let (first, step) = column.linear_in(Sym::Iteration(self.outer.id))?;
            let step_of_row = if row.down_from.is_some() { -1 } else { 1 };
            let from = row.down_from.as_ref();
            let fits = is_promised(f, v)
                && row.l == self.inner.id
                && step.constant_value() == Some(step_of_row)
                && [Some(&first), from].into_iter().flatten().all(|poly| {
                    variables.is_available_before(poly, self.outer.id)
                        && can_compute(f, variables, poly)
                })
                && !forest.contains(self.outer.id, f.block_of(array))
                && cover.is_met(array, 1, &row, body, at);
            if !fits {
                return None;
            }
            columns.push(Column { access: v, first, down: row.down_from.is_some() });
        }
        let is_worth_it = !columns.is_empty();
        is_worth_it.then_some(Plan { nest: self, preheader, runs, columns })
    }
}

/// An access to the elements of columns.
struct Column {
    access: Value,
    /// The first column.
    first: Poly,
    /// True if columns and rows go down.
    down: bool,
}

/// The plan for a nest.
struct Plan {
    nest: Nest,
    /// The block before the outer loop.
    preheader: Block,
    /// The trip counts of the outer and the inner loop.
    runs: [LatchRuns; 2],
    columns: Vec<Column>,
}

impl Plan {
    /// Makes the new loop in the place of the two.
    fn carry_out(
        &self,
        f: &mut Function,
        forest: &LoopForest,
        variables: &InductionVariables,
    ) -> IrResult<()> {
        let (nest, at) = (&self.nest, Value::terminator(self.preheader));
        let (outer, inner) = (&nest.outer, &nest.inner);
        let [columns, rows] = &self.runs;
        let columns = compute_runs(f, variables, columns, at)?;
        let rows = compute_runs(f, variables, rows, at)?;
        let count = f.insert(at, arith::mul(rows, columns))?;
        let (zero, one) = (Operand::from(f.constant_id(0i64)), Operand::from(f.constant_id(1i64)));
        // What the index of each access is beyond the number of the iteration, or is more than that.
        let mut starts = Vec::new();
        for column in &self.columns {
            let first = compute(f, variables, &column.first, at, &[])?;
            let before = match column.down {
                true => first,
                false => f.insert(at, arith::sub(first, one))?.into(),
            };
            let start = f.insert(at, arith::mul(before, rows))?;
            starts.push(match column.down {
                true => start,
                false => f.insert(at, arith::add(start, one))?,
            });
        }
        let body = inner.latch;
        let blocks = forest.blocks(outer.id).to_vec();
        let header = f.add_block_after(self.preheader)?;
        let next = f.add_block_after(header)?;
        let number = f.append_param(header, Type::I64)?;
        let initial = f.in_edges(outer.header).find(|edge| !blocks.contains(&edge.from));
        let initial = initial.expect("a loop with a preheader is entered from it");
        let position = |f: &Function, block, param| {
            f.params(block).position(|known| known == param).expect("it is a parameter")
        };
        let mut enter = vec![zero];
        let mut again = Vec::new();
        let back = inner.back_edge(f);
        let mut now = Vec::new();
        for &(from, to) in &nest.carried {
            let param = f.append_param(header, f.ty(from))?;
            f.transfer_name(from, param);
            let (first, last) = (position(f, outer.header, from), position(f, inner.header, to));
            enter.push(f.edge_arg(initial, first).expect("each parameter has an argument"));
            again.push(f.edge_arg(back, last).expect("each parameter has an argument"));
            now.push((from, to, param));
        }
        let exit = outer.exit(f);
        let out = (f.edge_target(exit), f.edge_args(exit).collect::<Vec<Operand>>());
        let loc = f.loc(Value::terminator(inner.header));
        let go = f.push(header, arith::lt(number, count).at(loc))?;
        let test = cf::br_if(go, next, [] as [Operand; 0], out.0, out.1);
        f.set_terminator(header, test.at(loc))?;
        let jump = f.jump_op()?;
        let start = Inst::new(jump).edge(header, enter).at(f.loc(at));
        f.set_terminator(self.preheader, start)?;
        let moved: Vec<Value> = f.body(body).filter(|v| !nest.counting.contains(v)).collect();
        for (column, &start) in self.columns.iter().zip(&starts) {
            let index = match column.down {
                true => arith::sub(start, number),
                false => arith::add(start, number),
            };
            let index = f.push(next, index.at(loc))?;
            let access = column.access;
            let others = f.operand_count(access) - 2;
            let operands: Vec<Operand> =
                f.operands(access).take(others).chain([index.into()]).collect();
            let inst = Inst::new(f.op(access).expect("it is an access"))
                .with_attrs(f.attrs(access))
                .with_type(f.ty(access))
                .operands(operands)
                .at(f.loc(access));
            f.replace(access, inst)?;
        }
        let more = f.push(next, arith::add(number, one).at(loc))?;
        let again = [more.into()].into_iter().chain(again);
        f.set_terminator(next, Inst::new(jump).edge(header, again).at(loc))?;
        for v in moved {
            f.move_before(v, Value::terminator(next))?;
        }
        for (from, to, param) in now {
            f.replace_all_uses(from, param)?;
            f.replace_all_uses(to, param)?;
        }
        f.delete_blocks(&blocks)
    }
}

/// The edge to a block on the way that begins with an edge, by a block at most that takes nothing and goes on.
fn into(f: &Function, edge: Edge, end: Block) -> Option<Edge> {
    let target = f.edge_target(edge);
    if target == end {
        return Some(edge);
    }
    let is_plain = f.param_count(target) == 0
        && f.in_edges(target).nth(1).is_none()
        && jump_target(f, target) == Some(end);
    if is_plain { f.out_edges(target).next() } else { None }
}
