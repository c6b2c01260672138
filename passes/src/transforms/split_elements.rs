//! Loads and stores the parts of unboxed elements one by one.
//!
//! ```text
//! %3: tuple<f64, f64> = mem.load %1, %2          %5: f64 = mem.load_part %1, %2 {part=1}
//! %4: f64 = core.get %3, 2                 =>    %4: f64 = mem.load_part %1, %2 {inbounds=true, part=2}
//! ```
//!
//! # Method
//! An element that is loaded is put together of its parts, and one that is stored is taken apart; then `sroa` lets the parts
//! stand for themselves wherever nobody needs the whole. Parts that nobody needs are not loaded, but for the first one where it
//! checks the indices.
//!
//! # Why it is right
//! An array that keeps its elements unboxed has nothing but their parts. The first access of an element to run checks its indices, and
//! nothing comes between it and the others.
//!
//! # Cost
//! O(instructions), and that of `sroa` if there is such an access.

use regraft_dialects::semantics::unboxed_parts;
use regraft_dialects::{attrs, core, mem};
use regraft_ir::{Attrs, Constant, Function, Inst, IrResult, Operand, Type, TypeKind, Value};

use super::sroa::Sroa;
use crate::transforms::util::aggregate::construct;
use crate::{FunctionPass, PassContext, PassResult};

crate::pass! {
    /// Loads and stores the parts of elements one by one that arrays keep unboxed.
    ///
    /// ```text
    /// %3: tuple<f64, f64> = mem.load %1, %2          %5: f64 = mem.load_part %1, %2 {part=1}
    /// %4: f64 = core.get %3, 2                 =>    %4: f64 = mem.load_part %1, %2 {inbounds=true, part=2}
    /// ```
    ///
    /// These are tuples and immutable structs of at most eight scalars. Parts that nobody needs are not loaded, and no
    /// value is made that only goes from one array to another one, or around a loop. Other passes know more about accesses to
    /// whole elements, so that this one comes after them, before native code. A second run changes nothing.
    #[derive(Debug, Default)]
    pub struct SplitElements;
}

impl FunctionPass for SplitElements {
    const NAME: &'static str = "split-elements";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let accesses = f.all_insts().filter_map(|v| Some((v, parts_accessed(f, v)?)));
        let accesses: Vec<(Value, Vec<Type>)> = accesses.collect();
        if accesses.is_empty() {
            return Ok(());
        }
        let mut loads = Vec::new();
        for (v, parts) in &accesses {
            match f.op(*v) {
                Some(mem::LOAD) => load(f, *v, parts, &mut loads)?,
                Some(mem::POP) => pop(f, *v, parts, &mut loads)?,
                Some(mem::PUSH) => push(f, *v, parts)?,
                _ => store(f, *v, parts)?,
            }
        }
        cx.add("elements split", accesses.len() as u64);
        Sroa.run(f, cx)?;
        for v in loads {
            if f.is_live(v) && !f.is_used(v) {
                f.delete(v)?;
            }
        }
        Ok(())
    }
}

/// The types of the parts of the element that an instruction loads, stores, takes off or appends, if it is unboxed.
fn parts_accessed(f: &Function, v: Value) -> Option<Vec<Type>> {
    let element = match f.op(v)? {
        mem::LOAD => f.ty(v),
        mem::POP if f.is_used(v) => f.ty(v),
        mem::STORE | mem::PUSH => f.operand_type(f.operand(v, 1)?),
        _ => return None,
    };
    let array = f.operand_type(f.operand(v, 0)?);
    let is_exact =
        matches!(*f.ctx().kind(array), TypeKind::Array { element: of, .. } if of == element);
    if is_exact { unboxed_parts(f.ctx(), element) } else { None }
}

/// The positions, from 0, of the parts of an element that are scalars, with the attributes of an access to each. The first access is
/// checked if that to the whole is.
fn accesses(f: &Function, v: Value, parts: &[Type]) -> Vec<(usize, Attrs)> {
    let (ctx, old) = (f.ctx(), f.attrs(v));
    let scalars = (0..parts.len()).filter(|&part| parts[part].is_scalar());
    let numbered = scalars.enumerate().map(|(at, part)| {
        let attrs = if at == 0 { old } else { attrs::with_inbounds(ctx, old, true) };
        (part, attrs::with_part(ctx, attrs, part))
    });
    numbered.collect()
}

/// Puts an element together of its parts. Those whose indices need no check are added to `free`.
fn load(f: &mut Function, v: Value, parts: &[Type], free: &mut Vec<Value>) -> IrResult<()> {
    let operands: Vec<Operand> = f.operands(v).collect();
    let part = || mem::load_part(operands[0], operands[1..].iter().copied());
    let whole = assemble(f, v, parts, part, free)?;
    f.replace(v, whole)
}

/// Takes the last element off, whose parts are loaded before.
fn pop(f: &mut Function, v: Value, parts: &[Type], free: &mut Vec<Value>) -> IrResult<()> {
    let Some(array) = f.operand(v, 0) else { return Ok(()) };
    let whole = assemble(f, v, parts, || mem::last_part(array), free)?;
    f.insert(v, mem::pop(array))?;
    f.replace(v, whole)
}

/// An element of parts that are loaded before `v`, by instructions that `load` makes.
fn assemble(
    f: &mut Function,
    v: Value,
    parts: &[Type],
    load: impl Fn() -> Inst,
    free: &mut Vec<Value>,
) -> IrResult<Inst> {
    let mut all: Vec<Operand> = vec![f.constant_id(Constant::Unit).into(); parts.len()];
    for (at, attrs) in accesses(f, v, parts) {
        let part = f.insert(v, load().with_attrs(attrs))?;
        if attrs::is_inbounds(f.ctx(), attrs) {
            free.push(part);
        }
        all[at] = part.into();
    }
    Ok(construct(f.ctx(), f.ty(v), all))
}

/// Stores an element part by part.
fn store(f: &mut Function, v: Value, parts: &[Type]) -> IrResult<()> {
    let operands: Vec<Operand> = f.operands(v).collect();
    for (at, attrs) in accesses(f, v, parts) {
        let part = take(f, v, operands[1], at)?;
        let store = mem::store_part(operands[0], part, operands[2..].iter().copied());
        f.insert(v, store.with_attrs(attrs))?;
    }
    let nothing = f.constant_id(Constant::Unit);
    f.replace_all_uses(v, nothing)?;
    f.delete(v)
}

/// Appends the parts of an element.
fn push(f: &mut Function, v: Value, parts: &[Type]) -> IrResult<()> {
    let operands: Vec<Operand> = f.operands(v).collect();
    let taken: Vec<Operand> =
        (0..parts.len()).map(|at| take(f, v, operands[1], at)).collect::<IrResult<_>>()?;
    f.replace(v, mem::push_parts(operands[0], taken))
}

/// Takes a part, at a position from 0, out of an element before `v`.
fn take(f: &mut Function, v: Value, element: Operand, at: usize) -> IrResult<Operand> {
    let number = f.constant_id(at as i64 + 1);
    f.insert(v, core::get(element, number)).map(Operand::from)
}
