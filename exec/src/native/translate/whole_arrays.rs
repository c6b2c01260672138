//! Ops on whole arrays that functions of ours do, without an evaluation by the runtime.

use regraft_dialects::{linalg, mem};
use regraft_ir::{Constant, Type, TypeKind};
use smallvec::SmallVec;

use super::super::emitter::{Area, Emitter, IntCmp};
use super::super::whole_arrays;
use super::Translator;
use super::values::value_in;
use crate::interp::{Dst, Pc, Quick, Reg, Scalar, Src};

/// The most elements of a vector that are stored one by one.
const MOST_ITEMS: usize = 16;

impl<E: Emitter> Translator<'_, '_, E> {
    /// Fills, multiplies, makes or copies arrays; `false` if the instruction does something else.
    pub(super) fn whole_array_inst(&mut self, pc: Pc, site: u32) -> bool {
        let op = self.source.code.evals[site as usize].def.op;
        match op {
            mem::FILL_IN_PLACE => self.fill_inst(pc, site),
            mem::ALLOC => self.alloc_inst(pc, site) || self.values_inst(pc, site),
            mem::FILL => self.filled_inst(pc, site),
            mem::ARRAY => self.literal_inst(pc, site),
            mem::COPY => self.copy_inst(pc, site),
            linalg::PRODUCT | linalg::ADD_PRODUCT => self.product_inst(pc, site),
            _ => false,
        }
    }

    /// Returns whether the types say that an operand may be an element of an array of that element type.
    pub(super) fn may_hold_operand(&self, element: Type, pc: Pc, operand: usize) -> bool {
        element == Type::ANY || element == self.operand_type(pc, operand)
    }

    fn is_of_doubles(&self, pc: Pc, operand: usize) -> bool {
        let kind = self.source.f.ctx().kind(self.operand_type(pc, operand));
        matches!(kind, TypeKind::Array { element: Type::F64, .. })
    }

    fn fill_inst(&mut self, pc: Pc, site: u32) -> bool {
        let site = &self.source.code.evals[site as usize];
        let [array, Src::Scalar(Scalar::F64, value)] = *site.args else { return false };
        let Some((array, is_last)) = value_in(array) else { return false };
        if !matches!(site.dst, Dst::Nowhere) || !self.is_of_doubles(pc, 0) {
            return false;
        }
        let (elements, length) = (self.elements_of(array), self.lengths_of(array, 1)[0]);
        let value = self.e.read(value);
        self.e.call(&whole_arrays::fill(), &[elements, value, length]);
        if is_last {
            self.empty(array);
        }
        true
    }

    /// Makes a vector or a matrix.
    fn alloc_inst(&mut self, pc: Pc, site: u32) -> bool {
        let site = &self.source.code.evals[site as usize];
        let (Quick::Alloc { element, undef }, Dst::Val(place)) = (site.quick, site.dst) else {
            return false;
        };
        let Some(element) = Scalar::of(element.ty()) else { return false };
        let [Src::Scalar(Scalar::I64, rows), rest @ ..] = &*site.args else { return false };
        let runtime = self.source.runtime;
        let (place, rows) = (self.val(place), self.e.read(*rows));
        let (element, undef) = (self.e.int(element as i64), self.e.int(undef.into()));
        let done = match rest {
            [] => self.e.call(&runtime.new_vector, &[self.cx, place, element, rows, undef]),
            [Src::Scalar(Scalar::I64, columns)] => {
                let columns = self.e.read(*columns);
                self.e.call(&runtime.new_matrix, &[self.cx, place, element, rows, columns, undef])
            }
            _ => return false,
        };
        self.unless_done(done, pc, |_| {});
        true
    }

    /// Makes a vector or a matrix of elements that are no scalars.
    fn values_inst(&mut self, pc: Pc, site: u32) -> bool {
        let site = &self.source.code.evals[site as usize];
        let (rows, columns) = match *site.args {
            [Src::Scalar(Scalar::I64, rows)] => (rows, None),
            [Src::Scalar(Scalar::I64, rows), Src::Scalar(Scalar::I64, columns)] => {
                (rows, Some(columns))
            }
            _ => return false,
        };
        let Dst::Val(place) = site.dst else { return false };
        let (code, position) = (self.code_address(), self.e.int(i64::from(pc)));
        let (place, rows) = (self.val(place), self.e.read(rows));
        let columns = match columns {
            Some(columns) => self.e.read(columns),
            None => self.e.int(1),
        };
        let args = [self.cx, code, position, place, rows, columns];
        let done = self.e.call(&self.source.runtime.new_values, &args);
        self.unless_done(done, pc, |_| {});
        true
    }

    /// Makes a vector of one value, which is no scalar.
    fn filled_inst(&mut self, pc: Pc, site: u32) -> bool {
        let site = &self.source.code.evals[site as usize];
        let (&[value, Src::Scalar(Scalar::I64, rows)], Dst::Val(place)) = (&*site.args, site.dst)
        else {
            return false;
        };
        let Some((value, is_last)) = value_in(value) else { return false };
        let &TypeKind::Array { element, .. } = self.source.f.ctx().kind(site.ty) else {
            return false;
        };
        if !self.may_hold_operand(element, pc, 0) {
            return false;
        }
        let (code, position) = (self.code_address(), self.e.int(i64::from(pc)));
        let (register, rows) = (self.val(place), self.e.read(rows));
        let args = [self.cx, code, position, register, self.val(value), rows];
        let done = self.e.call(&self.source.runtime.new_filled, &args);
        self.unless_done(done, pc, |this| {
            if is_last && value != place {
                this.empty(value);
            }
        });
        true
    }

    /// Makes a vector of a few elements that are known.
    fn literal_inst(&mut self, pc: Pc, site: u32) -> bool {
        let site = &self.source.code.evals[site as usize];
        let &TypeKind::Array { element, rank: 1 } = self.source.f.ctx().kind(site.ty) else {
            return false;
        };
        let Some(element) = Scalar::of(element) else { return false };
        let items = site.args.iter().map(|src| match *src {
            Src::Scalar(ty, reg) if ty == element => Some(reg),
            _ => None,
        });
        let items: Option<SmallVec<[Reg; 8]>> = items.take(MOST_ITEMS + 1).collect();
        let (Some(items), Dst::Val(place)) = (items, site.dst) else { return false };
        if items.is_empty() || items.len() > MOST_ITEMS {
            return false;
        }
        let (register, count) = (self.val(place), self.e.int(items.len() as i64));
        let (number, undef) = (self.e.int(element as i64), self.e.int(1));
        let args = [self.cx, register, number, count, undef];
        let done = self.e.call(&self.source.runtime.new_vector, &args);
        self.unless_done(done, pc, |this| {
            let array = this.object(this.reg(place));
            let (elements, mem) = (this.elements(array), element.mem());
            for (at, item) in (0..).zip(items) {
                let x = this.e.read(item);
                this.e.store(mem, Area::Elements(mem), elements, at * mem.size() as i32, x);
            }
        });
        true
    }

    fn copy_inst(&mut self, pc: Pc, site: u32) -> bool {
        let site = &self.source.code.evals[site as usize];
        let (&[array], Dst::Val(place)) = (&*site.args, site.dst) else { return false };
        let Some((array, is_last)) = value_in(array) else { return false };
        let args = [self.cx, self.val(place), self.val(array)];
        let done = self.e.call(&self.source.runtime.new_copy, &args);
        self.unless_done(done, pc, |this| {
            if is_last && array != place {
                this.empty(array);
            }
        });
        true
    }

    fn product_inst(&mut self, pc: Pc, site: u32) -> bool {
        let site = &self.source.code.evals[site as usize];
        let [dest, a, b, ..] = *site.args else { return false };
        let arrays: Option<SmallVec<[(Reg, bool); 3]>> =
            [dest, a, b].into_iter().map(value_in).collect();
        let Some(mut arrays) = arrays else { return false };
        let flag = |index| {
            let operand = self.source.f.operand(self.made_from(pc), index)?;
            match self.source.f.constant(operand) {
                Some(Constant::Bool(flag)) => Some(flag),
                _ => None,
            }
        };
        let adds = site.def.op == linalg::ADD_PRODUCT;
        let (turns_dest, first) = if adds { (flag(3), 4) } else { (Some(false), 3) };
        let (Some(turns_dest), Some(mut turned_a), Some(mut turned_b)) =
            (turns_dest, flag(first), flag(first + 1))
        else {
            return false;
        };
        let is_known =
            matches!(site.dst, Dst::Nowhere) && (0..3).all(|at| self.is_of_doubles(pc, at));
        if !is_known {
            return false;
        }
        if turns_dest {
            // The transpose of a product is that of the transposed factors in the other order.
            arrays.swap(1, 2);
            (turned_a, turned_b) = (!turned_b, !turned_a);
        }
        let mut args: SmallVec<[E::Value; 6]> = SmallVec::new();
        args.extend(arrays.iter().map(|&(array, _)| self.val(array)));
        args.extend([turned_a, turned_b, adds].map(|flag| self.e.int(flag.into())));
        let done = self.e.call(&whole_arrays::product(), &args);
        self.unless_done(done, pc, |this| {
            let last = arrays.iter().filter(|&&(_, is_last)| is_last);
            last.for_each(|&(array, _)| this.empty(array));
        });
        true
    }

    /// Leaves the instruction to the runtime unless a function has done it, which says so by 1.
    pub(super) fn unless_done(
        &mut self,
        done: Option<E::Value>,
        pc: Pc,
        then: impl FnOnce(&mut Self),
    ) {
        let one = self.e.int(1);
        let done = done.unwrap_or(one);
        let is_done = self.e.int_cmp(IntCmp::Eq, done, one);
        self.quickly(is_done, pc, then);
    }
}
