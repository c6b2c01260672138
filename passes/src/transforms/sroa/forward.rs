//! Parts that are taken out of what was put together from them.

use regraft_dialects::semantics::is_exact;
use regraft_dialects::{arith, core, mem};
use regraft_ir::{Constant, ControlFlow, Function, IrResult, Operand, Type, TypeKind, Use, Value};
use rustc_hash::FxHashMap;

use crate::transforms::util::aggregate::{is_construction, is_made, parts, projected};
use crate::transforms::util::edit::replace_or_widen;

/// Lets the parts that were put together stand for those that are taken out, and deletes what
/// nobody needs as a whole any more. Returns how many instructions went. O(uses of aggregates).
pub(super) fn run(f: &mut Function, cfg: &ControlFlow) -> IrResult<usize> {
    let mut gone = 0;
    let mut made = Vec::new();
    for block in cfg.reverse_postorder() {
        let body: Vec<Value> = f.body(block).collect();
        for v in body {
            match f.op(v) {
                Some(core::SELECT) => gone += select(f, v)?,
                Some(core::SAME) => gone += same(f, v)?,
                Some(mem::SHAPE) => gone += shape(f, v)?,
                _ if is_construction(f, v) => {
                    gone += forward(f, v)?;
                    made.push(v);
                }
                _ => {}
            }
        }
    }
    // What is put together of other aggregates comes after them.
    for v in made.into_iter().rev() {
        if !f.is_used(v) {
            f.delete(v)?;
            gone += 1;
        }
    }
    Ok(gone)
}

fn projections(f: &Function, v: Value) -> Vec<(Use, usize)> {
    let uses = f.uses_in_order(v);
    uses.into_iter().filter_map(|at| Some((at, projected(f, at)?))).collect()
}

fn forward(f: &mut Function, v: Value) -> IrResult<usize> {
    let projections = projections(f, v);
    for &(at, part) in &projections {
        let operand = f.operand(v, part).expect("it has as many parts");
        replace_or_widen(f, at.user, operand, at.user)?;
        f.delete(at.user)?;
    }
    Ok(projections.len())
}

/// One of two aggregates, of which only parts are needed: one of two parts each.
fn select(f: &mut Function, v: Value) -> IrResult<usize> {
    let [condition, x, y] = match f.matches(v, core::SELECT) {
        Some(operands) if parts(f.ctx(), f.ty(v)).is_some() => operands,
        _ => return Ok(0),
    };
    let same_type = f.operand_type(x) == f.ty(v) && f.operand_type(y) == f.ty(v);
    if !same_type || !(is_made(f, x) || is_made(f, y)) {
        return Ok(0);
    }
    replace_projections(f, v, |f, part| {
        let (x, y) = (part_of(f, x, part, v)?, part_of(f, y, part, v)?);
        let ty = parts(f.ctx(), f.ty(v)).expect("it is an aggregate")[part];
        f.insert(v, core::select(condition, x, y).with_type(ty))
    })
}

/// Replaces a value of which only parts are needed: each part, by a value that `make` inserts once.
/// Returns how many instructions went.
fn replace_projections(
    f: &mut Function,
    v: Value,
    mut make: impl FnMut(&mut Function, usize) -> IrResult<Value>,
) -> IrResult<usize> {
    let projections = projections(f, v);
    if projections.is_empty() || projections.len() != f.uses(v).count() {
        return Ok(0);
    }
    let mut made: FxHashMap<usize, Value> = FxHashMap::default();
    for &(at, part) in &projections {
        let one = match made.get(&part) {
            Some(&one) => one,
            None => {
                let one = make(f, part)?;
                made.insert(part, one);
                one
            }
        };
        replace_or_widen(f, at.user, one.into(), at.user)?;
        f.delete(at.user)?;
    }
    f.delete(v)?;
    Ok(projections.len() + 1)
}

/// Aggregates of more parts are compared as a whole.
const MAX_COMPARED: usize = 8;

/// Two aggregates of one type are the same if their parts are.
fn same(f: &mut Function, v: Value) -> IrResult<usize> {
    let Some([x, y]) = f.matches(v, core::SAME) else { return Ok(0) };
    let ty = f.operand_type(x);
    if x == y
        || ty != f.operand_type(y)
        || !(is_made(f, x) || is_made(f, y))
        || !is_exact(f.ctx(), ty)
    {
        return Ok(0);
    }
    let Some(parts) = parts(f.ctx(), ty).filter(|parts| parts.len() <= MAX_COMPARED) else {
        return Ok(0);
    };
    let mut all: Option<Value> = None;
    for part in 0..parts.len() {
        let (a, b) = (part_of(f, x, part, v)?, part_of(f, y, part, v)?);
        let (have, want) = (f.operand_type(a), f.operand_type(b));
        // Integers have no other equality; floats do.
        let equal = match have == want && (have.is_int() || have == Type::BOOL) {
            true => arith::eq(a, b),
            false => core::same(a, b),
        };
        let equal = f.insert(v, equal)?;
        all = Some(match all {
            Some(all) => f.insert(v, arith::and(all, equal))?,
            None => equal,
        });
    }
    let result = match all {
        Some(all) => all.into(),
        None => f.constant_id(Constant::Bool(true)).into(),
    };
    replace_or_widen(f, v, result, v)?;
    f.delete(v)?;
    Ok(1)
}

fn part_of(f: &mut Function, whole: Operand, part: usize, at: Value) -> IrResult<Operand> {
    if let Some(v) = whole.as_value().filter(|&v| is_construction(f, v)) {
        return Ok(f.operand(v, part).expect("it has as many parts"));
    }
    let index = f.constant_id(part as i64 + 1);
    Ok(f.insert(at, core::get(whole, index))?.into())
}

/// The shape of an array of which only parts are needed: sizes, taken where the shape was.
fn shape(f: &mut Function, v: Value) -> IrResult<usize> {
    let Some(array) = f.operand(v, 0) else { return Ok(0) };
    if !matches!(f.ctx().kind(f.operand_type(array)), TypeKind::Array { .. }) {
        return Ok(0);
    }
    replace_projections(f, v, |f, part| {
        let dim = f.constant_id(part as i64 + 1);
        f.insert(v, mem::size(array, dim))
    })
}
