//! The objects that can become values, and the accesses to their cells.

use regraft_dialects::{core, data, mem};
use regraft_ir::{
    Constant, Context, ControlFlow, Function, Operand, StructDef, Symbol, Type, TypeKind, Use,
    Value,
};

/// Arrays with more elements stay arrays.
const MAX_ELEMENTS: i64 = 64;

/// The kinds of objects that are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kinds {
    Refs,
    /// Mutable structs and small arrays as well.
    All,
}

/// An object that only instructions of the function itself see, each of which says which cell it
/// is about.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) alloc: Value,
    pub(super) cells: Vec<Cell>,
    pub(super) accesses: Vec<Access>,
    /// Instructions that always give the same, whatever the cells hold.
    pub(super) known: Vec<(Value, Constant)>,
}

/// A ref, a field of a struct, or an element of an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) ty: Type,
    /// Its initial value.
    pub(super) first: Operand,
    /// Its name within the object.
    pub(super) name: Option<Symbol>,
}

/// A read or a write of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) inst: Value,
    pub(super) cell: usize,
    /// The value that is written.
    pub(super) written: Option<Operand>,
}

/// The kind of object that an instruction makes.
enum Shape {
    Ref,
    Struct(std::sync::Arc<StructDef>),
    /// An array, by its dimensions.
    Array(Vec<i64>),
}

impl Object {
    /// The object that `v` makes, if all that is done to it is known. O(its uses).
    /// `dims` gives the dimensions of copies.
    pub(super) fn of(
        f: &Function,
        cfg: &ControlFlow,
        v: Value,
        kinds: Kinds,
        dims: &mut dyn FnMut(Value) -> Option<Vec<i64>>,
    ) -> Option<Self> {
        let (shape, cells) = match f.op(v) {
            Some(mem::COPY) if kinds == Kinds::All => copy(f, v, dims(v)?)?,
            _ => allocation(f, v, kinds)?,
        };
        let mut object = Self { alloc: v, cells, accesses: Vec::new(), known: Vec::new() };
        for at in f.uses_in_order(v) {
            if !cfg.is_reachable(f.block_of(at.user)) || !object.note(f, &shape, at) {
                return None;
            }
        }
        Some(object)
    }

    /// Takes a use into account; `false` if it is one that anything may come of.
    fn note(&mut self, f: &Function, shape: &Shape, at: Use) -> bool {
        let Some(op) = f.op(at.user) else { return false };
        if op == core::SAME && f.operand(at.user, 0) != f.operand(at.user, 1) {
            // Whatever else there is, it is not this object.
            self.known.push((at.user, Constant::Bool(false)));
            return true;
        }
        if at.index != 0 {
            return false;
        }
        let operand = |index| f.operand(at.user, index);
        let (cell, written) = match (op, shape) {
            (mem::REF_GET, Shape::Ref) => (Some(0), None),
            (mem::REF_SET, Shape::Ref) => (Some(0), operand(1)),
            (data::GETFIELD, Shape::Struct(def)) => (field(f, def, operand(1)), None),
            (data::SETFIELD, Shape::Struct(def)) => (field(f, def, operand(1)), operand(2)),
            (mem::LOAD, Shape::Array(dims)) => (element(f, dims, at.user, 1), None),
            (mem::STORE, Shape::Array(dims)) => (element(f, dims, at.user, 2), operand(1)),
            (mem::LENGTH, Shape::Array(dims)) => {
                self.known.push((at.user, Constant::I64(dims.iter().product())));
                return true;
            }
            (mem::SIZE, Shape::Array(dims)) => {
                let dim = operand(1).and_then(|dim| f.const_i64(dim)).filter(|&dim| dim >= 1);
                let Some(dim) = dim else { return false };
                let size = usize::try_from(dim - 1).ok().and_then(|dim| dims.get(dim));
                self.known.push((at.user, Constant::I64(size.copied().unwrap_or(1))));
                return true;
            }
            _ => return false,
        };
        let Some(cell) = cell else { return false };
        if let Some(value) = written {
            // What does not fit traps where it is written.
            if !f.operand_type(value).is_assignable_to(self.cells[cell].ty) {
                return false;
            }
        } else if matches!(op, mem::REF_SET | mem::STORE | data::SETFIELD) {
            return false;
        }
        self.accesses.push(Access { inst: at.user, cell, written });
        true
    }
}

fn allocation(f: &Function, v: Value, kinds: Kinds) -> Option<(Shape, Vec<Cell>)> {
    let ctx = f.ctx();
    let op = f.op(v)?;
    if !matches!(op, mem::REF_NEW | data::NEW_OBJECT | mem::ARRAY | mem::ALLOC | mem::FILL) {
        return None;
    }
    let cell = |ty, first| Cell { ty, first, name: None };
    match (op, ctx.kind(f.ty(v))) {
        (mem::REF_NEW, &TypeKind::Ref(ty)) => {
            let first = f.operand(v, 0)?;
            let fits = f.operand_type(first).is_assignable_to(ty);
            fits.then(|| (Shape::Ref, vec![cell(ty, first)]))
        }
        _ if kinds == Kinds::Refs => None,
        (data::NEW_OBJECT, &TypeKind::Struct(id)) => {
            let def = ctx.struct_def(id);
            let fields = def.fields.iter().zip(f.operands(v));
            let cells = fields.map(|(&(name, ty), first)| Cell { ty, first, name: Some(name) });
            let cells = cells.collect();
            Some((Shape::Struct(def), cells))
        }
        (mem::ARRAY, &TypeKind::Array { element, rank: 1 }) => {
            let count = i64::try_from(f.operand_count(v)).ok()?;
            let cells = f.operands(v).map(|first| cell(element, first)).collect();
            (count <= MAX_ELEMENTS).then_some((Shape::Array(vec![count]), cells))
        }
        (mem::ALLOC | mem::FILL, &TypeKind::Array { element, .. }) => {
            let first = match op {
                mem::FILL => f.operand(v, 0)?,
                _ => zero(ctx, element)?,
            };
            let skipped = usize::from(op == mem::FILL);
            let dims: Option<Vec<i64>> =
                f.operands(v).skip(skipped).map(|dim| f.const_i64(dim)).collect();
            array(f, dims?, element, first)
        }
        _ => None,
    }
}

/// The dimensions of a new array, if they are constants and it becomes values where nobody else sees it.
pub(crate) fn array_dims(f: &Function, v: Value) -> Option<Vec<i64>> {
    match allocation(f, v, Kinds::All)? {
        (Shape::Array(dims), _) => Some(dims),
        _ => None,
    }
}

/// Returns whether all these uses of an array of these dimensions are accesses to elements that are known, or ask for its size. False
/// for elements that nothing is zero of.
pub(crate) fn are_accesses(
    f: &Function,
    v: Value,
    (dims, element): (&[i64], Type),
    mut uses: impl Iterator<Item = Use>,
) -> bool {
    let first = zero(f.ctx(), element);
    let made = first.and_then(|first| array(f, dims.to_vec(), element, first));
    made.is_some_and(|(shape, cells)| {
        let mut object = Object { alloc: v, cells, accesses: Vec::new(), known: Vec::new() };
        uses.all(|at| object.note(f, &shape, at))
    })
}

/// A copy of an array of these dimensions; what is in it is filled in when it is promoted.
fn copy(f: &Function, v: Value, dims: Vec<i64>) -> Option<(Shape, Vec<Cell>)> {
    let &TypeKind::Array { element, .. } = f.ctx().kind(f.ty(v)) else { return None };
    array(f, dims, element, zero(f.ctx(), element)?)
}

/// A small array whose elements are the same at first.
fn array(
    f: &Function,
    dims: Vec<i64>,
    element: Type,
    first: Operand,
) -> Option<(Shape, Vec<Cell>)> {
    let is_shape = dims.iter().all(|&dim| dim >= 0);
    let count = dims.iter().try_fold(1i64, |count, &dim| count.checked_mul(dim))?;
    if !is_shape || count > MAX_ELEMENTS || !f.operand_type(first).is_assignable_to(element) {
        return None;
    }
    let cells = (0..count).map(|_| Cell { ty: element, first, name: None }).collect();
    Some((Shape::Array(dims), cells))
}

/// Returns what elements of a new array are, if they are something.
fn zero(ctx: &Context, ty: Type) -> Option<Operand> {
    Some(ctx.constant_id(Constant::zero(ty)?).into())
}

/// The position of the field that an operand names.
fn field(f: &Function, def: &StructDef, operand: Option<Operand>) -> Option<usize> {
    match f.constant(operand?)? {
        Constant::Sym(name) => def.field(name).map(|(position, _)| position),
        Constant::I64(index) => {
            let position = usize::try_from(index).ok()?.checked_sub(1)?;
            (position < def.fields.len()).then_some(position)
        }
        _ => None,
    }
}

/// The position of the element that the operands of `inst` from `first` on name, if they are
/// constants and in bounds.
fn element(f: &Function, dims: &[i64], inst: Value, first: usize) -> Option<usize> {
    let indices: Option<Vec<i64>> =
        f.operands(inst).skip(first).map(|index| f.const_i64(index)).collect();
    let indices = indices?;
    let count: i64 = dims.iter().product();
    let linear = match *indices {
        [index] if (1..=count).contains(&index) => index - 1,
        _ if indices.len() == dims.len() => {
            let mut linear = 0;
            for (&index, &dim) in indices.iter().zip(dims).rev() {
                if !(1..=dim).contains(&index) {
                    return None;
                }
                linear = linear * dim + index - 1;
            }
            linear
        }
        _ => return None,
    };
    usize::try_from(linear).ok()
}
