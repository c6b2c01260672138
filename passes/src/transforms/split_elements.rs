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

use regraft_dialects::semantics::{field_types, unboxed_parts};
use regraft_dialects::{attrs, core, mem};
use regraft_ir::{
    Attrs, Constant, Context, Function, Inst, IrResult, Operand, Type, TypeKind, Value,
};

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
    /// These are tuples and immutable structs of at most 16 scalars, also in one another. Parts that nobody needs are not loaded, and no
    /// value is made that only goes from one array to another one, or around a loop. Other passes know more about accesses to
    /// whole elements, so that this one comes after them, before native code. A second run changes nothing.
    #[derive(Debug, Default)]
    pub struct SplitElements;
}

impl FunctionPass for SplitElements {
    const NAME: &'static str = "split-elements";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let accesses: Vec<Value> = f.all_insts().filter(|&v| is_access(f, v)).collect();
        if accesses.is_empty() {
            return Ok(());
        }
        let mut loads = Vec::new();
        for &v in &accesses {
            match f.op(v) {
                Some(mem::LOAD) => load(f, v, &mut loads)?,
                Some(mem::POP) => pop(f, v, &mut loads)?,
                Some(mem::PUSH) => push(f, v)?,
                _ => store(f, v)?,
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

/// Returns whether an instruction loads, stores, takes off or appends an element that is unboxed.
fn is_access(f: &Function, v: Value) -> bool {
    let element = match f.op(v) {
        Some(mem::LOAD) => Some(f.ty(v)),
        Some(mem::POP) if f.is_used(v) => Some(f.ty(v)),
        Some(mem::STORE | mem::PUSH) => f.operand(v, 1).map(|new| f.operand_type(new)),
        _ => None,
    };
    let (Some(element), Some(array)) = (element, f.operand(v, 0)) else { return false };
    let array = f.ctx().kind(f.operand_type(array));
    matches!(*array, TypeKind::Array { element: of, .. } if of == element)
        && unboxed_parts(f.ctx(), element).is_some()
}

/// The accesses to the parts of an element: their attributes, one after the other. The first access is checked if that to the
/// whole is.
struct Accesses {
    whole: Attrs,
    /// The position of the next part, from 0.
    part: usize,
    is_first: bool,
}

impl Accesses {
    fn of(f: &Function, v: Value) -> Self {
        Self { whole: f.attrs(v), part: 0, is_first: true }
    }

    /// The attributes of the access to the next part, of type `ty`; `None` if it is no scalar, but `nothing`.
    fn next(&mut self, ctx: &Context, ty: Type) -> Option<Attrs> {
        let part = self.part;
        self.part += 1;
        if !ty.is_scalar() {
            return None;
        }
        let is_first = std::mem::replace(&mut self.is_first, false);
        let attrs = if is_first { self.whole } else { attrs::with_inbounds(ctx, self.whole, true) };
        Some(attrs::with_part(ctx, attrs, part))
    }
}

/// Puts an element together of its parts. Those whose indices need no check are added to `free`.
fn load(f: &mut Function, v: Value, free: &mut Vec<Value>) -> IrResult<()> {
    let operands: Vec<Operand> = f.operands(v).collect();
    let part = || mem::load_part(operands[0], operands[1..].iter().copied());
    let mut accesses = Accesses::of(f, v);
    let whole = assemble(f, v, f.ty(v), &part, &mut accesses, free)?;
    f.replace(v, whole)
}

/// Takes the last element off, whose parts are loaded before.
fn pop(f: &mut Function, v: Value, free: &mut Vec<Value>) -> IrResult<()> {
    let Some(array) = f.operand(v, 0) else { return Ok(()) };
    let mut accesses = Accesses::of(f, v);
    let whole = assemble(f, v, f.ty(v), &|| mem::last_part(array), &mut accesses, free)?;
    f.insert(v, mem::pop(array))?;
    f.replace(v, whole)
}

/// An element, or one in it, of parts that are loaded before `v`, by instructions that `load` makes.
fn assemble(
    f: &mut Function,
    v: Value,
    ty: Type,
    load: &impl Fn() -> Inst,
    accesses: &mut Accesses,
    free: &mut Vec<Value>,
) -> IrResult<Inst> {
    let mut all: Vec<Operand> = Vec::new();
    for field in field_types(f.ctx(), ty).unwrap_or_default() {
        if field_types(f.ctx(), field).is_some() {
            let inner = assemble(f, v, field, load, accesses, free)?;
            all.push(f.insert(v, inner)?.into());
        } else if let Some(attrs) = accesses.next(f.ctx(), field) {
            let part = f.insert(v, load().with_attrs(attrs))?;
            if attrs::is_inbounds(f.ctx(), attrs) {
                free.push(part);
            }
            all.push(part.into());
        } else {
            all.push(f.constant_id(Constant::Unit).into());
        }
    }
    Ok(construct(f.ctx(), ty, all))
}

/// Stores an element part by part.
fn store(f: &mut Function, v: Value) -> IrResult<()> {
    let operands: Vec<Operand> = f.operands(v).collect();
    let mut accesses = Accesses::of(f, v);
    for part in take_apart(f, v, operands[1])? {
        if let Some(attrs) = accesses.next(f.ctx(), f.operand_type(part)) {
            let store = mem::store_part(operands[0], part, operands[2..].iter().copied());
            f.insert(v, store.with_attrs(attrs))?;
        }
    }
    let nothing = f.constant_id(Constant::Unit);
    f.replace_all_uses(v, nothing)?;
    f.delete(v)
}

/// Appends the parts of an element.
fn push(f: &mut Function, v: Value) -> IrResult<()> {
    let operands: Vec<Operand> = f.operands(v).collect();
    let parts = take_apart(f, v, operands[1])?;
    f.replace(v, mem::push_parts(operands[0], parts))
}

/// Takes all parts out of an element before `v`, those of what is in it in its place.
fn take_apart(f: &mut Function, v: Value, element: Operand) -> IrResult<Vec<Operand>> {
    let mut parts = Vec::new();
    let mut pending = vec![element];
    while let Some(operand) = pending.pop() {
        let ty = f.operand_type(operand);
        let Some(fields) = field_types(f.ctx(), ty) else {
            parts.push(operand);
            continue;
        };
        let first = pending.len();
        for (number, field) in (1i64..).zip(fields) {
            pending.push(if field == Type::UNIT {
                f.constant_id(Constant::Unit).into()
            } else {
                let number = f.constant_id(number);
                f.insert(v, core::get(operand, number))?.into()
            });
        }
        pending[first..].reverse();
    }
    Ok(parts)
}
