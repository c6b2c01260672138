//! Moves of values between registers, and results.
//!
//! A value is a tag and what it holds, 16 bytes. One that points to an object counts as a pointer to it,
//! so a copy adds to the count of the object, and what is overwritten takes from it. The last pointer
//! is left to the runtime.

use smallvec::SmallVec;

use super::super::emitter::{Address, Area, Emitter, Int2, IntCmp, Mem};
use super::Translator;
use crate::interp::{Dst, Inst, Pc, Quick, Reg, Scalar, Src};
use crate::value::{FIRST_SHARED, Val, offsets, tag_of};

/// The most registers that are emptied one by one at the end of a function.
const MANY_REGS: usize = 12;

/// The memory that a tag takes.
const TAG: Mem = Mem::I64;

/// The place of a value in memory.
#[derive(Clone, Copy)]
pub(super) struct Place<V> {
    pub(super) base: V,
    pub(super) at: i32,
    pub(super) area: Area,
}

/// An operand that is no scalar: its register, and whether it is not needed any more.
pub(super) fn value_in(src: Src) -> Option<(Reg, bool)> {
    match src {
        Src::Val(reg) => Some((reg, false)),
        Src::Last(reg) => Some((reg, true)),
        _ => None,
    }
}

impl<E: Emitter> Translator<'_, '_, E> {
    /// Moves of values; `false` if the instruction is another one.
    pub(super) fn value_inst(&mut self, pc: Pc, inst: Inst) -> bool {
        match inst {
            Inst::MovVal { vd, va } => {
                if vd != va {
                    let value = self.copy_or_take(va, false);
                    self.write(vd, value);
                }
            }
            Inst::TakeVal { vd, va } => {
                let value = self.take(va);
                self.write(vd, value);
            }
            Inst::Drop { va } => self.empty(va),
            Inst::LoadConst { vd, index } => {
                let value = self.constant_value(index);
                self.write(vd, value);
            }
            Inst::Box { ty, vd, a } => {
                let x = self.e.read(a);
                self.write_scalar(vd, ty, x);
            }
            Inst::Unbox { ty, d, va } => {
                let x = self.unbox(pc, self.reg(va), ty);
                self.e.write(d, x);
            }
            _ => return false,
        }
        true
    }

    /// A value as it is, of another type; `false` if the instruction does something else.
    pub(super) fn same_inst(&mut self, site: u32) -> bool {
        let site = &self.source.code.evals[site as usize];
        let (Quick::Same, &[value], Dst::Val(to)) = (site.quick, &site.args[..], site.dst) else {
            return false;
        };
        match value {
            Src::Scalar(ty, reg) => {
                let x = self.e.read(reg);
                self.write_scalar(to, ty, x);
            }
            Src::Const(index) => {
                let value = self.constant_value(index);
                self.write(to, value);
            }
            Src::Unit => self.empty(to),
            Src::Val(reg) | Src::Last(reg) => {
                if reg != to {
                    let value = self.copy_or_take(reg, matches!(value, Src::Last(_)));
                    self.write(to, value);
                }
            }
        }
        true
    }

    /// One of two values; `false` if the instruction does something else.
    pub(super) fn select_inst(&mut self, site: u32) -> bool {
        let site = &self.source.code.evals[site as usize];
        let (Quick::Select, &[Src::Scalar(Scalar::Bool, condition), x, y], Dst::Val(to)) =
            (site.quick, &site.args[..], site.dst)
        else {
            return false;
        };
        let (Some(x), Some(y)) = (value_in(x), value_in(y)) else { return false };
        let condition = self.e.read(condition);
        let first = self.nonzero(condition);
        let [at_x, at_y] = [x, y].map(|(reg, _)| self.val(reg));
        let base = self.e.select(first, at_x, at_y);
        let value = self.load_pair(Place { base, at: 0, area: Area::Frame });
        self.add_pointer(value);
        for (reg, _) in [x, y].into_iter().filter(|&(_, is_last)| is_last) {
            self.empty(reg);
        }
        self.write(to, value);
        true
    }

    /// The place of a register of values.
    pub(super) fn reg(&self, reg: Reg) -> Place<E::Value> {
        Place { base: self.vals, at: reg as i32 * 16, area: Area::Frame }
    }

    /// The address of a register of values.
    pub(super) fn val(&mut self, reg: Reg) -> E::Value {
        self.e.offset(self.vals, i64::from(reg) * 16)
    }

    pub(super) fn tag(&mut self, place: Place<E::Value>) -> E::Value {
        self.e.load(TAG, place.area, place.base, place.at)
    }

    /// The object that a value points to.
    pub(super) fn object(&mut self, place: Place<E::Value>) -> E::Value {
        self.e.load_object(place.area, place.base, place.at + 8, offsets::OBJECT_SIZE)
    }

    /// The scalar that a value is; it is an error if it is none of that type.
    pub(super) fn unbox(&mut self, pc: Pc, place: Place<E::Value>, ty: Scalar) -> E::Value {
        let (tag, want) = (self.tag(place), self.e.int(i64::from(ty.tag())));
        let fits = self.e.int_cmp(IntCmp::Eq, tag, want);
        self.ensure(fits, pc);
        self.e.load(ty.mem(), place.area, place.base, place.at + 8)
    }

    pub(super) fn store_scalar(&mut self, place: Place<E::Value>, ty: Scalar, x: E::Value) {
        let tag = self.e.int(i64::from(ty.tag()));
        self.e.store(TAG, place.area, place.base, place.at, tag);
        self.e.store(ty.mem(), place.area, place.base, place.at + 8, x);
    }

    /// Puts a scalar in a register of values.
    pub(super) fn write_scalar(&mut self, reg: Reg, ty: Scalar, x: E::Value) {
        self.let_go_of(reg);
        self.store_scalar(self.reg(reg), ty, x);
    }

    /// A value as two words: the tag, and what it holds.
    pub(super) fn load_pair(&mut self, place: Place<E::Value>) -> (E::Value, E::Value) {
        let tag = self.tag(place);
        let word = self.e.load(Mem::Ptr, place.area, place.base, place.at + 8);
        (tag, word)
    }

    pub(super) fn store_pair(&mut self, place: Place<E::Value>, value: (E::Value, E::Value)) {
        self.e.store(TAG, place.area, place.base, place.at, value.0);
        self.e.store(Mem::Ptr, place.area, place.base, place.at + 8, value.1);
    }

    /// A copy of a value, counted; or the value itself if its register is not needed any more.
    pub(super) fn copy_or_take(&mut self, va: Reg, is_last: bool) -> (E::Value, E::Value) {
        if is_last {
            return self.take(va);
        }
        let value = self.load_pair(self.reg(va));
        self.add_pointer(value);
        value
    }

    /// Takes a value out of its register.
    pub(super) fn take(&mut self, va: Reg) -> (E::Value, E::Value) {
        self.take_from(self.reg(va))
    }

    /// Takes a value out of its place, which holds `nothing` then.
    pub(super) fn take_from(&mut self, place: Place<E::Value>) -> (E::Value, E::Value) {
        let value = self.load_pair(place);
        self.set_unit(place);
        value
    }

    pub(super) fn set_unit(&mut self, place: Place<E::Value>) {
        let unit = self.e.int(0);
        self.e.store(TAG, place.area, place.base, place.at, unit);
    }

    /// A constant, counted.
    pub(super) fn constant_value(&mut self, index: u32) -> (E::Value, E::Value) {
        let constant = &self.source.code.vals[index as usize];
        let address = self.e.address(Address::Constant(self.source.code, index));
        let place = Place { base: address, at: 0, area: Area::Fields };
        let word = self.e.load(Mem::Ptr, place.area, place.base, 8);
        let tag = tag_of(constant);
        if tag >= FIRST_SHARED {
            self.count_up(word);
        }
        (self.e.int(i64::from(tag)), word)
    }

    pub(super) fn count_up(&mut self, object: E::Value) {
        let (count, one) = (self.e.load(Mem::I64, Area::Count, object, 0), self.e.int(1));
        let count = self.e.int2(Int2::Add, count, one);
        self.e.store(Mem::I64, Area::Count, object, 0, count);
    }

    pub(super) fn is_shared(&mut self, tag: E::Value) -> E::Flag {
        let first = self.e.int(i64::from(FIRST_SHARED));
        self.e.int_cmp(IntCmp::AboveOrEq, tag, first)
    }

    /// Counts one more pointer, if the value points to something.
    pub(super) fn add_pointer(&mut self, (tag, word): (E::Value, E::Value)) {
        let shared = self.is_shared(tag);
        let (add, then) = (self.e.block(false), self.e.block(false));
        self.e.branch(shared, add, then);
        self.e.enter(add);
        self.count_up(word);
        self.e.jump(then);
        self.e.enter(then);
    }

    /// Lets go of what stands at a place, which is written next.
    pub(super) fn let_go(&mut self, place: Place<E::Value>) {
        let tag = self.tag(place);
        let shared = self.is_shared(tag);
        self.let_go_if(shared, place);
    }

    /// The same, if it points to something.
    pub(super) fn let_go_if(&mut self, shared: E::Flag, place: Place<E::Value>) {
        let (drop, then) = (self.e.block(false), self.e.block(false));
        self.e.branch(shared, drop, then);
        self.e.enter(drop);
        let object = self.object(place);
        let (count, one) = (self.e.load(Mem::I64, Area::Count, object, 0), self.e.int(1));
        let several = self.e.int_cmp(IntCmp::Ne, count, one);
        let (less, last) = (self.e.block(false), self.e.block(true));
        self.e.branch(several, less, last);
        self.e.enter(less);
        let minus = self.e.int(-1);
        let count = self.e.int2(Int2::Add, count, minus);
        self.e.store(Mem::I64, Area::Count, object, 0, count);
        self.e.jump(then);
        self.e.enter(last);
        let address = self.e.offset(place.base, i64::from(place.at));
        let drop_last = self.source.runtime.drop_last;
        self.e.call(&drop_last, &[address]);
        self.e.jump(then);
        self.e.enter(then);
    }

    /// Puts a value in the place of another.
    pub(super) fn assign(&mut self, place: Place<E::Value>, value: (E::Value, E::Value)) {
        self.let_go(place);
        self.store_pair(place, value);
    }

    /// Puts a value in a register.
    pub(super) fn write(&mut self, reg: Reg, value: (E::Value, E::Value)) {
        self.let_go_of(reg);
        self.store_pair(self.reg(reg), value);
    }

    /// Lets go of what a register may hold before the instruction.
    fn let_go_of(&mut self, reg: Reg) {
        if self.may_hold(reg) {
            self.let_go(self.reg(reg));
        }
    }

    pub(super) fn empty(&mut self, va: Reg) {
        self.let_go_of(va);
        self.set_unit(self.reg(va));
    }

    /// Returns from the function.
    pub(super) fn ret(&mut self, pc: Pc, inst: Inst) {
        let zero = self.e.int(0);
        match inst {
            Inst::Return { a } => {
                self.empty_all(None);
                let result = self.e.read(a);
                self.e.ret(Some(result), zero);
            }
            Inst::ReturnVal { va } => {
                let value = self.load_pair(self.reg(va));
                self.empty_all(Some(va));
                self.store_pair(self.reg(0), value);
                self.e.ret(None, zero);
            }
            Inst::ReturnConst { index } => {
                self.empty_all(None);
                let value = self.constant_value(index);
                self.store_pair(self.reg(0), value);
                self.e.ret(None, zero);
            }
            Inst::ReturnTuple { site } => self.return_tuple(pc, site),
            _ => {
                self.empty_all(None);
                self.ret_status(zero);
            }
        }
    }

    /// Empties all registers of values; what `moved` holds has been taken out.
    pub(super) fn empty_all(&mut self, moved: Option<Reg>) {
        let count = self.source.code.val_regs;
        if let Some(moved) = moved {
            self.set_unit(self.reg(moved));
        }
        let held = (0..count).filter(|&reg| Some(reg) != moved && self.may_hold(reg));
        let held: SmallVec<[Reg; MANY_REGS]> = held.collect();
        if held.len() > MANY_REGS {
            let (count, clear) = (self.e.int(i64::from(count)), self.source.runtime.clear);
            self.e.call(&clear, &[self.vals, count]);
            return;
        }
        held.into_iter().for_each(|reg| self.empty(reg));
    }
}

const _: () = assert!(size_of::<Val>() == 16);
