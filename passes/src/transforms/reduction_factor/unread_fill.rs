//! Nests that do nothing but fill arrays that nobody reads are skipped where no index can be out of
//! bounds.
//!
//! ```text
//! %c = mem.alloc (m * p), (n * q)
//! for j in 0:n-1, i in 0:m-1, l in 1:q, k in 1:p { %c[i*p + k, j*q + l] = .. }
//!
//! =>    if not (m <= 2^18 && n <= 2^18 && p <= 2^18 && q <= 2^18) { the nest }
//! ```
//!
//! An index is a polynomial in iterations and sizes of arrays. Its least and greatest value are
//! polynomials in sizes: those of the first and the last iterations. If they lie between 1 and the
//! dimension that the array was made with, term by term, the store can fail only because something
//! overflows, and with small sizes nothing does: the polynomials have few terms, of degree 3 at most,
//! with small coefficients.

use regraft_dialects::{arith, cf, mem};
use regraft_ir::{Edge, Function, IrResult, Operand, Value};

use super::fill_loop::runs;
use super::made_arrays::ReductionAnalyses;
use super::nest::LoopNest;
use crate::analysis::poly::MAX_DEGREE;
use crate::analysis::traps::may_trap;
use crate::analysis::{LoopId, Poly, Sym, inst_effects};
use crate::transforms::util::edit::only;
use crate::transforms::util::loop_form::LoopForm;

/// The greatest size for which nothing overflows: (2^18)³ times terms and coefficients is below 2^63.
const MAX_SIZE: i64 = 1 << 18;
/// The greatest coefficient.
const MAX_COEFFICIENT: i64 = 8;
/// The greatest depth to which sums and products are taken apart.
const MAX_EXPANDED: usize = 4;
const _: () = assert!(MAX_DEGREE == 3);

/// A nest that need not run if some sizes are small.
pub(super) struct UnreadFill {
    form: LoopForm,
    exit: Edge,
    sizes: Vec<Value>,
}

impl UnreadFill {
    /// `None` if the nest does anything else, or if the sizes are compared already.
    pub(super) fn of(analyses: &ReductionAnalyses<'_>, nest: &LoopNest<'_>) -> Option<Self> {
        let (f, blocks) = (analyses.f, nest.forest.blocks(nest.root));
        let mut proof = Proof { analyses, nest, sizes: Vec::new() };
        let mut stores = 0;
        for &block in blocks {
            for v in f.params(block).chain(f.insts(block)) {
                if f.uses(v).any(|at| !nest.contains(f.block_of(at.user))) {
                    return None;
                }
                let effects = inst_effects(f, v, analyses.summaries);
                if f.op(v) == Some(mem::STORE) {
                    is_unread(analyses, f.operand(v, 0)?).then_some(())?;
                    if may_trap(f, v) {
                        (!f.checks_operands(v)).then_some(())?;
                        proof.in_bounds(v)?;
                        stores += 1;
                    }
                } else if !effects.is_removable() || effects.allocates {
                    return None;
                }
            }
        }
        let header = nest.get(nest.root).header;
        let exit = only(f.out_edges(header).filter(|e| !nest.contains(f.edge_target(*e))))?;
        let fixed = f.edge_args(exit).all(|arg| !nest.contains_operand(f, arg));
        let mut entering = f.in_edges(header).filter(|e| !nest.contains(e.from));
        if stores == 0 || !fixed || entering.any(|e| compares_sizes(f, e, &proof.sizes)) {
            return None;
        }
        Some(Self { form: LoopForm::new(nest.forest, nest.root), exit, sizes: proof.sizes })
    }

    /// Makes a way around the nest.
    pub(super) fn skip(mut self, f: &mut Function) -> IrResult<()> {
        let preheader = self.form.ensure_preheader(f)?;
        let at = Value::terminator(preheader);
        let most: Operand = f.constant_id(MAX_SIZE).into();
        let mut all: Option<Value> = None;
        for &size in &self.sizes {
            let small = f.insert(at, arith::le(size, most))?;
            all = Some(match all {
                Some(all) => f.insert(at, arith::and(all, small))?,
                None => small,
            });
        }
        let Some(all) = all else { return Ok(()) };
        let (after, passed): (_, Vec<Operand>) =
            (f.edge_target(self.exit), f.edge_args(self.exit).collect());
        let args: Vec<Operand> = f.operands(at).skip(1).collect();
        let branch = cf::br_if(all, after, passed, self.form.header(), args).at(f.loc(at));
        f.set_terminator(preheader, branch)
    }
}

/// Returns whether an array was made by the function, and is only written to and asked for its shape.
fn is_unread(analyses: &ReductionAnalyses<'_>, array: Operand) -> bool {
    let f = analyses.f;
    let Some(v) = array.as_value().filter(|&v| f.op(v) == Some(mem::ALLOC)) else { return false };
    f.uses(v).all(|at| match f.op(at.user) {
        Some(mem::STORE) => at.index == 0,
        Some(mem::LENGTH | mem::SIZE) => true,
        _ => false,
    })
}

fn compares_sizes(f: &Function, edge: Edge, sizes: &[Value]) -> bool {
    let mut pending: Vec<Operand> =
        f.operand(Value::terminator(edge.from), 0).into_iter().collect();
    while let Some(operand) = pending.pop() {
        let Some(v) = operand.as_value() else { continue };
        match f.op(v) {
            Some(arith::AND) => pending.extend(f.operands(v)),
            Some(arith::LE) => {
                let size = f.operand(v, 0).and_then(Operand::as_value);
                let limit = f.operand(v, 1).and_then(|limit| f.const_i64(limit));
                if size.is_some_and(|v| sizes.contains(&v)) && limit == Some(MAX_SIZE) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// Shows that indices are in bounds, given that sizes are small.
struct Proof<'a> {
    analyses: &'a ReductionAnalyses<'a>,
    nest: &'a LoopNest<'a>,
    sizes: Vec<Value>,
}

impl Proof<'_> {
    fn in_bounds(&mut self, store: Value) -> Option<()> {
        let (f, variables) = (self.analyses.f, self.analyses.variables);
        let array = f.operand(store, 0)?.as_value()?;
        let block = f.block_of(store);
        let around = self.nest.around(block);
        let dimensions: Vec<Operand> = f.operands(array).collect();
        let indices: Vec<Operand> = f.operands(store).skip(2).collect();
        if dimensions.len() != indices.len() || dimensions.len() < 2 {
            return None;
        }
        for (index, dimension) in indices.into_iter().zip(dimensions) {
            let index = variables.evolution_at(f, index, block);
            let dimension = self.expanded(dimension, MAX_EXPANDED)?;
            let (least, most) =
                (self.extreme(&index, &around, false)?, self.extreme(&index, &around, true)?);
            for poly in [&dimension, &least, &most] {
                self.note(poly)?;
            }
            let inside =
                self.is_natural(&least.plus(-1)) && self.is_natural(&dimension.sub(&most)?);
            inside.then_some(())?;
        }
        Some(())
    }

    /// A number that is computed before the nest, in sizes.
    fn expanded(&self, operand: Operand, depth: usize) -> Option<Poly> {
        let (f, variables) = (self.analyses.f, self.analyses.variables);
        let poly = variables.evolution(f, operand);
        let Some(Sym::Value(v)) = poly.as_symbol() else { return Some(poly) };
        let depth = depth.checked_sub(1)?;
        let side = |position| self.expanded(f.operand(v, position)?, depth);
        match f.op(v) {
            Some(arith::MUL) => side(0)?.mul(&side(1)?),
            Some(arith::ADD) => side(0)?.add(&side(1)?),
            Some(arith::SUB) => side(0)?.sub(&side(1)?),
            _ => Some(poly),
        }
    }

    /// The least or the greatest value of an index in the iterations of loops.
    fn extreme(&mut self, index: &Poly, around: &[LoopId], greatest: bool) -> Option<Poly> {
        let mut poly = index.clone();
        for &l in around.iter().rev() {
            self.note_coefficients(&poly)?;
            let (base, step) = poly.linear_in(Sym::Iteration(l))?;
            let (up, down) = (self.is_natural(&step), self.is_natural(&step.neg()));
            if !up && !down {
                return None;
            }
            poly = if step.is_zero() || up != greatest {
                base
            } else {
                let runs = runs(&self.analyses.counts.of(l).latch_runs)?;
                self.note(&runs)?;
                if !self.is_natural(&runs) {
                    return None;
                }
                base.add(&step.mul(&runs.plus(-1))?)?
            };
        }
        Some(poly)
    }

    /// Returns whether a polynomial has no negative term, in sizes of arrays.
    fn is_natural(&self, poly: &Poly) -> bool {
        let f = self.analyses.f;
        let is_size = |s: Sym| match s {
            Sym::Value(v) => matches!(f.op(v), Some(mem::SIZE | mem::LENGTH)),
            Sym::Iteration(_) => false,
        };
        poly.constant_part() >= 0
            && poly.terms().iter().all(|term| term.coefficient >= 0)
            && poly.symbols().all(is_size)
    }

    /// Adds the sizes in a polynomial that is made of nothing else.
    fn note(&mut self, poly: &Poly) -> Option<()> {
        self.note_coefficients(poly)?;
        for symbol in poly.symbols() {
            let Sym::Value(v) = symbol else { return None };
            let is_size = matches!(self.analyses.f.op(v), Some(mem::SIZE | mem::LENGTH));
            if !is_size || self.nest.contains(self.analyses.f.block_of(v)) {
                return None;
            }
            if !self.sizes.contains(&v) {
                self.sizes.push(v);
            }
        }
        Some(())
    }

    /// `None` if a coefficient is large.
    fn note_coefficients(&self, poly: &Poly) -> Option<()> {
        let small = |x: i64| (-MAX_COEFFICIENT..=MAX_COEFFICIENT).contains(&x);
        let all =
            small(poly.constant_part()) && poly.terms().iter().all(|term| small(term.coefficient));
        all.then_some(())
    }
}
