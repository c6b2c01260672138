//! Elements of arrays.

use regraft_dialects::semantics::unboxed_parts;
use regraft_dialects::{attrs, mem};
use regraft_ir::{Constant, Type, TypeKind};
use smallvec::SmallVec;

use super::super::emitter::{Area, Emitter, Int2, IntCmp, Mem};
use super::Translator;
use super::values::value_in;
use crate::interp::{Dst, EvalSite, Inst, Pc, Reg, Scalar, Src};

/// The bytes of a part of an unboxed element.
pub(super) const WORD: i64 = size_of::<u64>() as i64;

/// A part of an unboxed element.
pub(super) struct Part {
    pub(super) ty: Type,
    /// The bytes of the element that stand before it.
    pub(super) at: i32,
    /// The bytes of the element.
    pub(super) element_size: i64,
}

/// An access to an element of an array of scalars, or to a part of an unboxed one.
pub(super) struct Access {
    /// The register of the array.
    pub(super) array: Reg,
    /// True if the array is not needed any more.
    is_last: bool,
    pub(super) indices: SmallVec<[Reg; 4]>,
    ty: Scalar,
    /// The register that is loaded or stored; `None` if nobody looks at what is loaded.
    reg: Option<Reg>,
    is_store: bool,
}

/// An access to an element by an op, as the operands say it.
pub(super) struct Evaluated {
    /// The register of the array.
    pub(super) array: Reg,
    /// True if the array is not needed any more.
    pub(super) is_last: bool,
    /// The operand that is stored; `None` if the element is loaded.
    pub(super) stored: Option<Src>,
    /// There is one at least.
    pub(super) indices: SmallVec<[Reg; 4]>,
}

impl Evaluated {
    /// The access to an element or a part of it that an evaluated op is, if it is one with indices that are integers.
    pub(super) fn of(site: &EvalSite) -> Option<Self> {
        let (array, stored, indices) = match (site.def.op, &*site.args) {
            (mem::LOAD | mem::LOAD_PART, [array, indices @ ..]) => (*array, None, indices),
            (mem::STORE | mem::STORE_PART, [array, stored, indices @ ..]) => {
                (*array, Some(*stored), indices)
            }
            _ => return None,
        };
        let index = |src: &Src| match *src {
            Src::Scalar(Scalar::I64, reg) => Some(reg),
            _ => None,
        };
        let indices: SmallVec<[Reg; 4]> = indices.iter().map(index).collect::<Option<_>>()?;
        let (array, is_last) = value_in(array)?;
        (!indices.is_empty()).then_some(Self { array, is_last, stored, indices })
    }
}

impl<E: Emitter> Translator<'_, '_, E> {
    /// Accesses to arrays of scalars and to parts of elements; `false` if the instruction is another one, or the runtime has to
    /// run it.
    pub(super) fn memory_inst(&mut self, pc: Pc, inst: Inst) -> bool {
        if let Inst::Length { d, va } = inst {
            // With one index, it is the number of elements whatever the rank.
            let length = self.lengths_of(va, 1)[0];
            self.e.write(d, length);
            return true;
        }
        if let Inst::Eval { site } = inst
            && (self.strip_inst(pc, site)
                || self.whole_array_inst(pc, site)
                || self.value_element_inst(pc, site)
                || self.compound_inst(pc, site)
                || self.type_test_inst(pc, site)
                || self.same_inst(site)
                || self.select_inst(site)
                || self.size_inst(pc, site)
                || self.end_inst(pc, site))
        {
            return true;
        }
        let Some(access) = self.access_of(inst) else { return false };
        let &TypeKind::Array { element, rank } = self.source.f.ctx().kind(self.operand_type(pc, 0))
        else {
            return false;
        };
        let Access { array, is_last, ref indices, ty, reg, is_store } = access;
        let fits = indices.len() == 1 || indices.len() == usize::from(rank);
        let (found, mem, size, at) = match self.part_of(pc, element) {
            Some(part) => (part.ty, ty.word_mem(), part.element_size, part.at),
            None => (element, ty.mem(), ty.mem().size(), 0),
        };
        if !fits || found != ty.ty() {
            return false;
        }
        let address = self.element(pc, size, array, indices);
        let area = self.area(pc, mem);
        match reg {
            Some(reg) if is_store => {
                let x = self.e.read(reg);
                self.e.store(mem, area, address, at, x);
            }
            Some(reg) => {
                let x = self.e.load(mem, area, address, at);
                self.e.write(reg, x);
            }
            None => {}
        }
        if is_last {
            self.empty(array);
        }
        true
    }

    /// The part of an element of this type that an instruction accesses, if that is what it does.
    pub(super) fn part_of(&self, pc: Pc, element: Type) -> Option<Part> {
        let (f, v) = (self.source.f, self.made_from(pc));
        let parts = unboxed_parts(f.ctx(), element)?;
        let at = attrs::part(f.ctx(), f.attrs(v))?;
        let element_size = parts.len() as i64 * WORD;
        Some(Part { ty: *parts.get(at)?, at: at as i32 * WORD as i32, element_size })
    }

    /// The size of an array along a dimension that is known; `false` if the instruction is another one.
    fn size_inst(&mut self, pc: Pc, site: u32) -> bool {
        let site = &self.source.code.evals[site as usize];
        let (Some(&array), Dst::Scalar(Scalar::I64, d)) = (site.args.first(), site.dst) else {
            return false;
        };
        if site.def.op != mem::SIZE {
            return false;
        }
        let Some((array, is_last)) = value_in(array) else { return false };
        let f = self.source.f;
        let dimension = f.operand(self.made_from(pc), 1).and_then(|at| f.const_i64(at));
        let place = dimension.and_then(|number| usize::try_from(number.checked_sub(1)?).ok());
        let (Some(place), &TypeKind::Array { rank, .. }) =
            (place, f.ctx().kind(self.operand_type(pc, 0)))
        else {
            return false;
        };
        let lengths = self.lengths_of(array, rank.into());
        // There is one element along dimensions that an array does not have.
        let size = lengths.get(place).copied().unwrap_or_else(|| self.e.int(1));
        self.e.write(d, size);
        if is_last {
            self.empty(array);
        }
        true
    }

    /// The elements that an instruction accesses.
    fn area(&self, pc: Pc, mem: Mem) -> Area {
        let f = self.source.f;
        let scope = attrs::scope(f.ctx(), f.attrs(self.made_from(pc)));
        let scope = scope.and_then(|scope| u32::try_from(scope).ok());
        scope.map_or(Area::Elements(mem), |scope| Area::Scope(mem, scope))
    }

    /// The access that an instruction is.
    pub(super) fn access_of(&self, inst: Inst) -> Option<Access> {
        let load = |ty, reg, array, indices: &[Reg]| {
            let indices = SmallVec::from_slice(indices);
            Some(Access { array, is_last: false, indices, ty, reg: Some(reg), is_store: false })
        };
        let store = |ty, reg, array, indices: &[Reg]| {
            load(ty, reg, array, indices).map(|access| Access { is_store: true, ..access })
        };
        match inst.general() {
            Inst::LoadScalar { ty, d, va, i } => load(ty, d, va, &[i]),
            Inst::LoadScalar2 { ty, j, d, va, i } => load(ty, d, va, &[i, j.into()]),
            Inst::StoreScalar { ty, a, va, i } => store(ty, a, va, &[i]),
            Inst::StoreScalar2 { ty, j, a, va, i } => store(ty, a, va, &[i, j.into()]),
            Inst::Eval { site } => self.evaluated_access(site),
            _ => None,
        }
    }

    /// An access that there is no instruction for: by many indices, to a part of an element, or to nothing but the index.
    fn evaluated_access(&self, site: u32) -> Option<Access> {
        let site = &self.source.code.evals[site as usize];
        let Evaluated { array, is_last, stored, indices } = Evaluated::of(site)?;
        let (ty, reg) = match (stored, site.dst) {
            (Some(Src::Scalar(ty, reg)), Dst::Nowhere) => (ty, Some(reg)),
            (None, Dst::Scalar(ty, reg)) => (ty, Some(reg)),
            (None, Dst::Nowhere) => (Scalar::of(site.ty)?, None),
            _ => return None,
        };
        Some(Access { array, is_last, indices, ty, reg, is_store: stored.is_some() })
    }

    /// The address of an element of `size` bytes, which is checked unless the program promises that it is there.
    pub(super) fn element(&mut self, pc: Pc, size: i64, va: Reg, indices: &[Reg]) -> E::Value {
        let is_promised = self.is_promised(pc);
        let elements = self.elements_of(va);
        // What is loaded is loaded, though nobody uses it.
        let lengths = match (is_promised, indices) {
            (true, [_]) => SmallVec::new(),
            _ => self.lengths_of(va, indices.len()),
        };
        let minus = self.e.int(-1);
        let mut places: SmallVec<[E::Value; 4]> = SmallVec::new();
        for &index in indices {
            let index = self.e.read(index);
            places.push(self.e.int2(Int2::Add, index, minus));
        }
        if !is_promised {
            let mut inside = self.e.int_cmp(IntCmp::Below, places[0], lengths[0]);
            for (&place, &length) in places.iter().zip(&lengths).skip(1) {
                let within = self.e.int_cmp(IntCmp::Below, place, length);
                inside = self.e.and(inside, within);
            }
            self.ensure(inside, pc);
        }
        // Horner's scheme, from the last dimension on.
        let mut position = places[indices.len() - 1];
        for at in (0..indices.len() - 1).rev() {
            let before = self.e.int2(Int2::Mul, position, lengths[at]);
            position = self.e.int2(Int2::Add, before, places[at]);
        }
        self.e.element(elements, position, size)
    }

    pub(super) fn is_promised(&self, pc: Pc) -> bool {
        let v = self.made_from(pc);
        self.source.f.attr(v, "inbounds") == Some(Constant::Bool(true))
    }
}

impl Scalar {
    /// The type of memory that holds such a scalar as a part of an unboxed element: integers take all of their word.
    pub(super) fn word_mem(self) -> Mem {
        if self.is_int() { Mem::I64 } else { self.mem() }
    }

    /// The type of memory that holds such a scalar.
    pub(in crate::native) fn mem(self) -> Mem {
        match self {
            Self::Bool | Self::I8 => Mem::I8,
            Self::I16 => Mem::I16,
            Self::I32 => Mem::I32,
            Self::I64 => Mem::I64,
            Self::F32 => Mem::F32,
            Self::F64 => Mem::F64,
        }
    }
}
