//! Small arrays that parameters of blocks carry: their elements are passed in their place.
//!
//! ```text
//! %1 = mem.alloc 2                            ^2(%6: f64, %7: f64):
//! br ^2(%1)                                     %8 = mem.alloc 2
//! ^2(%2: array<f64, 1>):                 =>     mem.store %8, %6, 1
//!   %3 = mem.load %2, 1                         mem.store %8, %7, 2
//!   %4 = mem.alloc 2                            ..
//!   mem.store %4, %3, 2                         %9 = mem.load %4, 1
//!   br ^2(%4)                                   %10 = mem.load %4, 2
//!                                               br ^2(%9, %10)
//! ```
//!
//! Each array is one that only its block and those behind it see, then: [`promote`] makes values of them all.
//!
//! # Method
//! Parameters and what comes into them, which may be the same array, are groups, by union-find. All arrays that come into a group have
//! to be small new ones of the same dimensions; and all that is done to any member is to read and write elements of constant
//! indices, and to pass it on.
//!
//! # Why it is right
//! The block that passes an array does not use it any more: it is not live behind the edge, and the edge passes it once. So there
//! is one name for an array at a time, and nothing can tell a copy from it.
//!
//! # Cost
//! O(uses of the arrays), and that of liveness where a group fits.

use regraft_dialects::attrs::inbounds;
use regraft_dialects::mem;
use regraft_ir::{
    Block, ControlFlow, Function, IrResult, Liveness, Operand, Type, TypeKind, Value, ValueDef,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::analysis::ValueGroups;
use crate::transforms::util::promote::{are_accesses, array_dims};

/// Arrays with more elements are passed as they are: each element takes a register around a loop.
const MAX_ELEMENTS: i64 = 16;

/// A parameter that carries an array of these dimensions.
#[derive(Debug)]
struct Carrier {
    param: Value,
    block: Block,
    element: Type,
    dims: Vec<i64>,
}

/// Passes elements in place of small arrays. Returns how many parameters that are arrays are gone.
pub(super) fn run(f: &mut Function, cfg: &ControlFlow) -> IrResult<usize> {
    let carriers = find(f, cfg);
    for carrier in &carriers {
        unpack(f, carrier)?;
    }
    Ok(carriers.len())
}

/// The parameters of blocks that carry small arrays, in the order of their blocks.
fn find(f: &Function, cfg: &ControlFlow) -> Vec<Carrier> {
    let flow = Flow::of(f, cfg);
    if flow.params.is_empty() {
        return Vec::new();
    }
    let mut groups = flow.groups(f);
    groups.retain(|_, group| flow.fits(f, cfg, group));
    if !groups.is_empty() {
        let live = Liveness::compute(f, cfg);
        let is_handed_over =
            |&(param, arg): &(Value, Value)| !live.is_live_in(arg, f.block_of(param));
        groups.retain(|_, group| group.passed.iter().all(is_handed_over));
    }
    let carrier = |&(block, param): &(Block, Value)| {
        let &TypeKind::Array { element, .. } = f.ctx().kind(f.ty(param)) else { return None };
        let dims = groups.get(&flow.same.of(param))?.dims.clone();
        Some(Carrier { param, block, element, dims })
    };
    flow.params.iter().filter_map(carrier).collect()
}

/// The ways of arrays into parameters of blocks.
struct Flow {
    /// The parameters that are arrays, by their blocks.
    params: Vec<(Block, Value)>,
    /// Parameters and what comes into them; each pair once for each edge.
    passed: Vec<(Value, Value)>,
    /// The number of times that a value is passed for such a parameter.
    passes: FxHashMap<Value, usize>,
    /// Parameters into which nothing that is known comes on some edge, or one array twice.
    wrong: Vec<Value>,
    /// Values that may be the same array at some time.
    same: ValueGroups,
}

/// Values that may be the same array at some time.
#[derive(Default)]
struct Group {
    dims: Vec<i64>,
    members: Vec<Value>,
    passed: Vec<(Value, Value)>,
    is_wrong: bool,
}

impl Flow {
    fn of(f: &Function, cfg: &ControlFlow) -> Self {
        let (mut params, mut passed, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
        let mut passes: FxHashMap<Value, usize> = FxHashMap::default();
        for block in cfg.reverse_postorder().filter(|&block| Some(block) != f.entry()) {
            let is_array = |v: Value| matches!(f.ctx().kind(f.ty(v)), TypeKind::Array { .. });
            let arrays: Vec<(usize, Value)> =
                f.params(block).enumerate().filter(|&(_, param)| is_array(param)).collect();
            if arrays.is_empty() {
                continue;
            }
            params.extend(arrays.iter().map(|&(_, param)| (block, param)));
            let mut from: FxHashSet<(Block, Option<Value>)> = FxHashSet::default();
            for edge in f.in_edges(block) {
                // Where two edges lead from one block to the other, one argument has to do for both.
                let is_first = from.insert((edge.from, None));
                for &(position, param) in &arrays {
                    match f.edge_arg(edge, position).and_then(Operand::as_value) {
                        Some(arg) if is_first && cfg.is_reachable(edge.from) => {
                            if !from.insert((edge.from, Some(arg))) {
                                wrong.push(param);
                            }
                            passed.push((param, arg));
                            *passes.entry(arg).or_default() += 1;
                        }
                        _ => wrong.push(param),
                    }
                }
            }
        }
        let mut same = ValueGroups::default();
        passed.iter().for_each(|&(param, arg)| same.unite(param, arg));
        Self { params, passed, passes, wrong, same }
    }

    /// The groups, by what stands for them, with the dimensions of the new arrays in them.
    fn groups(&self, f: &Function) -> FxHashMap<Value, Group> {
        let mut groups: FxHashMap<Value, Group> = FxHashMap::default();
        let mut seen: FxHashSet<Value> = FxHashSet::default();
        let members = self.params.iter().map(|&(_, param)| param);
        for v in members.chain(self.passed.iter().map(|&(_, arg)| arg)) {
            if !seen.insert(v) {
                continue;
            }
            let group = groups.entry(self.same.of(v)).or_default();
            group.members.push(v);
            let is_like_first = f.ty(v) == f.ty(group.members[0]);
            let dims = if f.is_param(v) { None } else { array_dims(f, v) };
            match dims {
                Some(dims) if group.dims.is_empty() => group.dims = dims,
                Some(dims) => group.is_wrong |= dims != group.dims,
                None => group.is_wrong |= !f.is_param(v),
            }
            group.is_wrong |= !is_like_first || f.is_param(v) && Some(f.block_of(v)) == f.entry();
        }
        for &(param, arg) in &self.passed {
            groups.entry(self.same.of(param)).or_default().passed.push((param, arg));
        }
        for &param in &self.wrong {
            groups.entry(self.same.of(param)).or_default().is_wrong = true;
        }
        groups
    }

    /// Returns whether all that is done to the arrays of a group is to access elements that are known, and to pass them.
    fn fits(&self, f: &Function, cfg: &ControlFlow, group: &Group) -> bool {
        let Group { dims, members, is_wrong, .. } = group;
        let count: i64 = dims.iter().product();
        if *is_wrong || dims.is_empty() || count > MAX_ELEMENTS {
            return false;
        }
        members.iter().all(|&v| {
            let &TypeKind::Array { element, .. } = f.ctx().kind(f.ty(v)) else { return false };
            let others = || f.uses(v).filter(|at| !at.user.is_terminator());
            let passes = f.uses(v).count() - others().count();
            self.passes.get(&v).copied().unwrap_or(0) == passes
                && others().all(|at| cfg.is_reachable(f.block_of(at.user)))
                && are_accesses(f, v, (dims, element), others())
        })
    }
}

/// The blocks from which arrays come into a parameter, with these; one for each edge.
fn arguments(f: &Function, param: Value) -> Vec<(Block, Option<Value>)> {
    let ValueDef::Param(block, position) = f.def(param) else { return Vec::new() };
    let arg = |edge| f.edge_arg(edge, position as usize).and_then(Operand::as_value);
    f.in_edges(block).map(|edge| (edge.from, arg(edge))).collect()
}

/// Passes the elements of an array, and makes it of them in the block.
fn unpack(f: &mut Function, carrier: &Carrier) -> IrResult<()> {
    let Carrier { param, block, element, dims, .. } = carrier;
    let (param, block, element) = (*param, *block, *element);
    let promise = inbounds(f.ctx());
    let count: i64 = dims.iter().product();
    let mut passed: FxHashMap<(Block, i64), Value> = FxHashMap::default();
    for (from, array) in arguments(f, param) {
        let Some(array) = array else { continue };
        for at in 1..=count {
            let index = f.constant_id(at);
            let load = mem::load(array, [index]).with_attrs(promise);
            passed.insert((from, at), f.insert(Value::terminator(from), load)?);
        }
    }
    let sizes: Vec<Operand> = dims.iter().map(|&dim| f.constant_id(dim).into()).collect();
    let ty = f.ty(param);
    let first = f.first_inst(block).unwrap_or(Value::terminator(block));
    let array = f.insert(first, mem::alloc(sizes, ty))?;
    for at in 1..=count {
        let part = f.add_param(block, element, |from| passed.get(&(from, at)).copied())?;
        let index = f.constant_id(at);
        f.insert(first, mem::store(array, part, [index]).with_attrs(promise))?;
    }
    f.replace_named(param, array)?;
    f.remove_param(param)
}
