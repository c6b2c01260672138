//! The sizes of arrays that parameters of blocks carry, and of copies of these.
//!
//! ```text
//! %1: array<f64, 1> = mem.alloc %n
//! br ^2(%1, 0)
//! ^2(%2: array<f64, 1>, %3: i64):           %2: %n along its dimension
//!   ..
//!   %9: i64 = mem.length %2
//!   %10: array<f64, 1> = mem.alloc %9
//!   br ^2(%10, %8)
//! ```
//!
//! # Method
//! A sparse data-flow problem of height two, as constant propagation is (Wegman and Zadeck, 1991), solved optimistically: a
//! parameter has the size that all its arguments have, where what comes back around a loop may have that of the parameter
//! itself. A new array has the sizes that it is made with, a copy those of what it copies.
//!
//! # Why it is right
//! Only arrays are looked at whose shape nothing in the function may change, so that a size stays what it was. What a size is said to
//! be is a constant, or was computed in a block that strictly dominates the one with the parameter: between the two it is not
//! computed anew, as each way there would lead through the argument's definition again.
//!
//! # Cost
//! O(arguments of parameters that are arrays) for each of a few sweeps, and O(instructions) for the copies.

use std::iter::successors;

use regraft_dialects::{arith, core, mem};
use regraft_ir::{
    Block, Constant, ControlFlow, DominatorTree, Function, Operand, Type, TypeKind, Value,
};
use rustc_hash::FxHashMap;

use super::effects::{Access, InstEffects, copied_shape, shape_writers};
use super::{Aliases, Analyses, Analysis, Facets};

/// After so many sweeps nothing is said of what still changes.
const MAX_SWEEPS: usize = 8;
/// The most copies and selections between an array and what its size is.
const MAX_STEPS: usize = 8;

/// The size of an array along a dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Size {
    /// A number.
    Const(i64),
    /// This value.
    Value(Value),
    /// The size of another array along this dimension, counted from 1. Nothing changes its shape.
    Of(Value, u8),
}

/// The knowledge of a size while it is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Unseen,
    Known(Size),
    Varies,
}

impl State {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unseen, x) | (x, Self::Unseen) => x,
            (x, y) if x == y => x,
            _ => Self::Varies,
        }
    }
}

/// The sizes of the arrays that are parameters of blocks, and of their copies, as far as each is one in all runs.
#[derive(Debug, Default)]
pub(crate) struct CarriedSizes {
    /// By array and dimension, counted from 1.
    sizes: FxHashMap<(Value, u8), Size>,
}

impl CarriedSizes {
    /// The size of a parameter, or of a copy of one, along a dimension, counted from 1.
    pub(crate) fn size(&self, array: Value, dim: u8) -> Option<Size> {
        self.sizes.get(&(array, dim)).copied()
    }

    /// The arrays of which some sizes are known, in the order of their handles.
    pub(crate) fn arrays(&self) -> Vec<Value> {
        let mut arrays: Vec<Value> = self.sizes.keys().map(|&(array, _)| array).collect();
        arrays.sort_unstable();
        arrays.dedup();
        arrays
    }
}

impl Analysis for CarriedSizes {
    const NAME: &'static str = "carried sizes";
    const FACETS: Facets = Facets::all();

    fn compute(f: &Function, analyses: &mut Analyses) -> Self {
        let cfg = analyses.get::<ControlFlow>(f);
        let blocks = cfg.reverse_postorder().filter(|&block| Some(block) != f.entry());
        let arrays = blocks.flat_map(|block| {
            let params = f.params(block).enumerate();
            params.filter_map(move |(at, param)| Some((block, at, param, rank(f, param)?)))
        });
        let carried: Vec<(Block, usize, Value, u8)> = arrays.collect();
        if carried.is_empty() {
            return Self::default();
        }
        let tree = analyses.get::<DominatorTree>(f);
        let aliases = analyses.get::<Aliases>(f);
        let writers = shape_writers(f, &cfg, analyses.effects());
        let states = carried.iter().flat_map(|&(_, _, param, rank)| {
            (1..=rank).map(move |dim| ((param, dim), State::Unseen))
        });
        let mut solver = Solver {
            f,
            cfg: &cfg,
            tree: &tree,
            aliases: &aliases,
            writers,
            states: states.collect(),
        };
        for sweep in 0.. {
            let mut changed = false;
            for &(block, position, param, rank) in &carried {
                for dim in 1..=rank {
                    changed |= solver.look_at(block, position, param, dim);
                }
            }
            if !changed {
                break;
            }
            if sweep == MAX_SWEEPS {
                return Self::default();
            }
        }
        let copies: Vec<_> = f.all_insts().flat_map(|v| solver.sizes_of_copy(v)).collect();
        let known = solver.states.into_iter().chain(copies).filter_map(|(at, state)| match state {
            State::Known(size) => Some((at, size)),
            State::Unseen | State::Varies => None,
        });
        Self { sizes: known.collect() }
    }
}

struct Solver<'a> {
    f: &'a Function,
    cfg: &'a ControlFlow,
    tree: &'a DominatorTree,
    aliases: &'a Aliases,
    /// The instructions that may change a shape, with their effects.
    writers: Vec<(Value, InstEffects)>,
    states: FxHashMap<(Value, u8), State>,
}

impl Solver<'_> {
    /// Joins the sizes of the arguments for a parameter. Returns whether that is news.
    fn look_at(&mut self, block: Block, position: usize, param: Value, dim: u8) -> bool {
        let f = self.f;
        let before = self.states[&(param, dim)];
        if before == State::Varies {
            return false;
        }
        let mut joined = if self.is_stable(param) { State::Unseen } else { State::Varies };
        for edge in f.in_edges(block).filter(|edge| self.cfg.is_reachable(edge.from)) {
            let arg = f.edge_arg(edge, position).and_then(Operand::as_value);
            joined = joined.join(arg.map_or(State::Varies, |arg| self.size(arg, dim, MAX_STEPS)));
        }
        if let State::Known(Size::Value(v) | Size::Of(v, _)) = joined {
            let home = f.block_of(v);
            if home == block || !self.tree.dominates(home, block) {
                joined = State::Varies;
            }
        }
        self.states.insert((param, dim), joined);
        joined != before
    }

    /// The size of an array along a dimension.
    fn size(&self, mut array: Value, dim: u8, steps: usize) -> State {
        let f = self.f;
        for _ in 0..steps {
            if let Some(&state) = self.states.get(&(array, dim)) {
                return state;
            }
            if rank(f, array).is_none_or(|rank| dim > rank) || !self.is_stable(array) {
                return State::Varies;
            }
            let dimension = usize::from(dim);
            let made_of = match f.op(array) {
                Some(mem::ALLOC) => f.operand(array, dimension - 1),
                Some(mem::FILL) => f.operand(array, dimension),
                Some(mem::ARRAY) => {
                    return State::Known(Size::Const(f.operand_count(array) as i64));
                }
                _ => match copied_shape(f, array).and_then(Operand::as_value) {
                    Some(source) => {
                        array = source;
                        continue;
                    }
                    None => return State::Known(Size::Of(array, dim)),
                },
            };
            return made_of.map_or(State::Varies, |size| self.number(size, steps - 1));
        }
        State::Varies
    }

    /// The sizes of a copy of a parameter.
    fn sizes_of_copy(&self, v: Value) -> impl Iterator<Item = ((Value, u8), State)> {
        let source = |x: &Value| copied_shape(self.f, *x).and_then(Operand::as_value);
        let mut sources = successors(source(&v), source).take(MAX_STEPS);
        let is_of_param = sources.any(|x| self.states.contains_key(&(x, 1)));
        let dims = rank(self.f, v).filter(|_| is_of_param).into_iter().flat_map(|rank| 1..=rank);
        dims.map(move |dim| ((v, dim), self.size(v, dim, MAX_STEPS)))
    }

    /// The size that an operand is.
    fn number(&self, operand: Operand, steps: usize) -> State {
        let f = self.f;
        let Some(v) = operand.as_value() else {
            let number = f.constant(operand).and_then(Constant::as_int);
            return number.map_or(State::Varies, |n| State::Known(Size::Const(n)));
        };
        let array = || f.operand(v, 0).and_then(Operand::as_value);
        let asked = match f.op(v) {
            Some(mem::LENGTH) => array().filter(|&x| rank(f, x) == Some(1)).map(|x| (x, 1)),
            Some(mem::SIZE) => {
                let dim = f.operand(v, 1).and_then(|dim| f.const_i64(dim));
                array().zip(dim.and_then(|dim| u8::try_from(dim).ok()).filter(|&dim| dim > 0))
            }
            Some(core::SELECT) if steps > 0 => return self.selected(v, steps - 1),
            _ => None,
        };
        match asked.filter(|_| steps > 0).map(|(x, dim)| self.size(x, dim, steps - 1)) {
            Some(state) if state != State::Varies => state,
            _ => State::Known(Size::Value(v)),
        }
    }

    /// The size that is selected: that of an arm if the condition compares known numbers, or what both are.
    fn selected(&self, v: Value, steps: usize) -> State {
        let f = self.f;
        let Some([condition, a, b]) = f.matches::<3>(v, core::SELECT) else { return State::Varies };
        let [a, b] = [a, b].map(|arm| self.number(arm, steps));
        // A NaN is not equal to itself.
        let compared = condition.as_value().and_then(|v| f.matches::<2>(v, arith::EQ));
        let compared = compared.filter(|[x, _]| f.operand_type(*x) == Type::I64);
        let compared = compared.map(|both| both.map(|x| self.number(x, steps)));
        match compared.filter(|both| !both.contains(&State::Varies)) {
            Some([State::Unseen, _] | [_, State::Unseen]) => State::Unseen,
            Some([x, y]) if x == y => a,
            // Where the other one is selected, both are the same.
            Some(both) if both.contains(&a) && both.contains(&b) => b,
            Some([State::Known(Size::Const(_)), State::Known(Size::Const(_))]) => b,
            _ if a.join(b) == State::Varies => State::Known(Size::Value(v)),
            _ => a.join(b),
        }
    }

    /// Returns whether nothing changes the shape of an array.
    fn is_stable(&self, array: Value) -> bool {
        let f = self.f;
        rank(f, array) > Some(1)
            || self.writers.iter().all(|(_, effects)| {
                let touched = self.aliases.touches(f, effects, array.into());
                !touched.contains(Access::WRITES_SHAPE)
            })
    }
}

/// The rank of an array.
fn rank(f: &Function, v: Value) -> Option<u8> {
    match *f.ctx().kind(f.ty(v)) {
        TypeKind::Array { rank, .. } => Some(rank),
        _ => None,
    }
}
