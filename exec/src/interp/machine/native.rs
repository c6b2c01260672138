//! Native code on the stacks of the machine, and what it asks of it.
//!
//! While native code runs it holds addresses of registers, so the stacks must not move: room for the
//! deepest run is reserved before, as addresses only.

// Native code passes addresses of what it works on.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr;

use super::super::code::{Code, SwitchTable};
use super::super::inst::{Inst, Pc};
use super::super::register::{NO_REG, Reg, Scalar};
use super::access::{access_error, field, field_error, load_slot, position, set_field, store_slot};
use super::transfer::{Returned, assign};
use super::{Failure, Frame, Machine, Place, spot};
use crate::chain::Spot;
use crate::error::Trap;
use crate::native::{Arg, Entry, Function, NativeContext, Runtime};
use crate::value::{Array, Val, egal};

/// The registers that there is room for while native code runs.
const SCALARS: usize = 1 << 22;
const VALS: usize = 1 << 21;

/// The bytes of the thread's stack that native code leaves to the runtime.
const STACK_LEFT: usize = 256 << 10;

/// The part of a machine that native code needs.
pub(super) struct NativeState {
    pub(super) context: NativeContext,
    /// The places of an error that has left native code, the innermost first.
    pub(super) left: Vec<Spot>,
    /// The error.
    trap: Option<Trap>,
    running: usize,
}

impl Default for NativeState {
    fn default() -> Self {
        let context = NativeContext {
            machine: ptr::null_mut(),
            scalars_end: ptr::null(),
            vals_end: ptr::null(),
            stack_end: 0,
            interrupt: ptr::null(),
            fuel: 0,
        };
        Self { context, left: Vec::new(), trap: None, running: 0 }
    }
}

impl NativeState {
    pub(super) fn is_running(&self) -> bool {
        self.running > 0
    }
}

impl<'a> Machine<'a> {
    /// Reserves room for the stacks, if native code may run.
    pub(super) fn make_room_for_native(&mut self) {
        if self.world.natives.backend.is_some() {
            self.scalars.reserve_exact(SCALARS.saturating_sub(self.scalars.len()));
            self.vals.reserve_exact(VALS.saturating_sub(self.vals.len()));
        }
    }

    /// Returns whether stacks of these lengths stay where they are.
    pub(super) fn fits(&self, scalars: usize, vals: usize) -> bool {
        scalars <= self.scalars.capacity() && vals <= self.vals.capacity()
    }

    /// The lengths of the stacks when they grow to these at least.
    pub(super) fn longer(&self, scalars: usize, vals: usize) -> (usize, usize) {
        let longer = |need: usize, len: usize, capacity: usize| {
            if need <= len {
                return len;
            }
            let double = (len * 2).max(1 << 10);
            // Within what is reserved they stay where they are.
            need.max(if need <= capacity { double.min(capacity) } else { double })
        };
        (
            longer(scalars, self.scalars.len(), self.scalars.capacity()),
            longer(vals, self.vals.len(), self.vals.capacity()),
        )
    }

    /// Runs native code in a frame whose arguments are there.
    pub(super) fn run_native(
        &mut self,
        entry: Entry,
        code: &Code,
        (s, v): (usize, usize),
    ) -> Result<Returned, Trap> {
        // The result takes one register, whatever the frame has.
        let (scalars, vals) = (s + code.scalar_regs as usize, v + code.val_regs as usize + 1);
        if scalars > self.scalars.len() || vals > self.vals.len() {
            self.grow(scalars, vals)?;
        }
        let machine: *mut Self = self;
        if self.native.running == 0 {
            let here = (&raw const machine).addr();
            let room = stacker::remaining_stack().unwrap_or(1 << 20);
            self.native.context.stack_end = here.saturating_sub(room).saturating_add(STACK_LEFT);
            self.native.context.interrupt = &raw const *self.state.interrupt;
        }
        self.native.context.machine = machine.cast::<c_void>();
        self.note_ends();
        self.native.running += 1;
        let mut result = 0;
        // SAFETY: the code is of this world and takes a frame of `code`, which stands there. What it
        // calls works on the machine by the pointer in the context, while nobody else does.
        let status = unsafe {
            let scalars = (*machine).scalars.as_mut_ptr().add(s);
            let vals = (*machine).vals.as_mut_ptr().add(v);
            entry(&raw mut (*machine).native.context, scalars, vals, &raw mut result)
        };
        self.native.running -= 1;
        if status != 0 {
            let lost = || Trap::type_error("native code has failed without an error");
            return Err(self.native.trap.take().unwrap_or_else(lost));
        }
        if Scalar::of(code.ret).is_some() {
            return Ok(Returned::Scalar(result));
        }
        Ok(Returned::Val(std::mem::replace(&mut self.vals[v], Val::Unit)))
    }

    /// Tells native code where the stacks end.
    fn note_ends(&mut self) {
        self.native.context.scalars_end = self.scalars.as_ptr_range().end;
        self.native.context.vals_end = self.vals.as_ptr_range().end;
    }

    /// The starts of two windows in their stacks.
    fn window(&self, scalars: *const u64, vals: *const Val) -> (usize, usize) {
        let s = scalars.addr() - self.scalars.as_ptr().addr();
        let v = vals.addr() - self.vals.as_ptr().addr();
        (s / size_of::<u64>(), v / size_of::<Val>())
    }

    /// Runs an instruction of native code on its frame.
    fn step(&mut self, code: &'a Code, pc: Pc, (s, v): (usize, usize)) -> Result<(), Trap> {
        macro_rules! get {
            ($r:expr) => {
                self.scalars[s + $r as usize]
            };
        }
        macro_rules! val {
            ($r:expr) => {
                self.vals[v + $r as usize]
            };
        }
        macro_rules! access {
            ($va:expr, [$($index:expr),*], $array:ident => $access:expr) => {{
                let access = |$array: &Array| $access;
                match &val!($va) {
                    Val::Array(array) if let Some(x) = access(array) => x,
                    other => {
                        return Err(access_error(
                            self.texts(),
                            other,
                            &[$(get!($index) as i64),*],
                        ));
                    }
                }
            }};
        }
        let scalar_field = |value: &Val, index: u32, ty: Scalar| {
            let slot = field(value, index as usize).and_then(|item| ty.unboxed(&item));
            slot.ok_or_else(|| field_error(index))
        };
        match code.insts[pc as usize].general() {
            Inst::Eval { site } => self.eval(code, site, s, v)?,
            Inst::Call { site } => {
                let site = &code.calls[site as usize];
                self.check_depth()?;
                let callee = self.compiled(site.callee)?;
                let next = (s + code.scalar_regs as usize, v + code.val_regs as usize);
                self.push_frame(callee, next.0, next.1)?;
                self.pass(code, &site.args, (s, v), next)?;
                self.call_from_native(code, pc, (s, v), callee, next)?;
            }
            Inst::Apply { site } => {
                let site = &code.applies[site as usize];
                self.check_depth()?;
                let next = (s + code.scalar_regs as usize, v + code.val_regs as usize);
                if let Some(callee) = self.apply(code, site, (s, v), next)? {
                    self.call_from_native(code, pc, (s, v), callee, next)?;
                }
            }
            Inst::Unbox { ty, d, va } => match ty.unboxed(&val!(va)) {
                Some(slot) => get!(d) = slot,
                None => return Err(self.wrong_type(&val!(va), ty.ty())),
            },
            Inst::Scalar { function, d, a, b, c } => {
                let function = code.functions[usize::from(function)];
                get!(d) = (function.call)(get!(a), get!(Reg::from(b)), get!(Reg::from(c)))?;
            }
            Inst::LoadScalar { ty, d, va, i } => {
                get!(d) = access!(va, [i], a => load_slot(a, position(get!(i)), ty));
            }
            Inst::LoadScalar2 { ty, j, d, va, i } => {
                let at = [get!(i) as i64, get!(j) as i64];
                get!(d) = access!(va, [i, j], a => load_slot(a, a.offset(&at)?, ty));
            }
            Inst::StoreScalar { ty, a, va, i } => {
                let x = get!(a);
                access!(va, [i], to => store_slot(to, position(get!(i)), ty, x).then_some(()));
            }
            Inst::StoreScalar2 { ty, j, a, va, i } => {
                let (x, at) = (get!(a), [get!(i) as i64, get!(j) as i64]);
                access!(va, [i, j], to => store_slot(to, to.offset(&at)?, ty, x).then_some(()));
            }
            Inst::Length { d, va } => get!(d) = access!(va, [], a => Some(a.len() as u64)),
            Inst::Probe { b, d, va, a } => {
                let (hash, after) = (get!(a) as i64, get!(Reg::from(b)) as i64);
                let found = access!(va, [], a => Some(a.buffer::<i32>()?.probe(hash, after)));
                get!(d) = found as u64;
            }
            Inst::IndexEntries { b, va, vb, a } => {
                let (first, last) = (get!(a) as i64, get!(Reg::from(b)) as i64);
                self.index_entries(&val!(va), &val!(vb), first, last)?;
            }
            Inst::GetF { d, va, index } => get!(d) = scalar_field(&val!(va), index, Scalar::F64)?,
            Inst::GetI { d, va, index } => get!(d) = scalar_field(&val!(va), index, Scalar::I64)?,
            Inst::GetVal { vd, va, index } => {
                let item = field(&val!(va), index as usize).ok_or_else(|| field_error(index))?;
                assign(&mut val!(vd), item);
            }
            Inst::GetScalar { ty, index, d, va } => {
                get!(d) = scalar_field(&val!(va), index.into(), ty)?;
            }
            Inst::SetScalar { ty, index, a, va } => {
                let value = ty.boxed(get!(a));
                if !set_field(&val!(va), index.into(), value) {
                    return Err(field_error(index.into()));
                }
            }
            Inst::SetVal { index, vb, va } => {
                let value = val!(vb).clone();
                if !set_field(&val!(va), index.into(), value) {
                    return Err(field_error(index.into()));
                }
            }
            Inst::Unreachable => {
                return Err(regraft_dialects::semantics::Trap::Unreachable.into());
            }
            inst => {
                return Err(Trap::type_error(format!("native code has no way to run {inst:?}")));
            }
        }
        Ok(())
    }

    fn check_depth(&self) -> Result<(), Trap> {
        let here = 0u8;
        let is_deep = (&raw const here).addr() < self.native.context.stack_end;
        if self.frames.len() + 1 >= self.state.limits.depth || is_deep {
            return Err(self.too_deep());
        }
        Ok(())
    }

    /// Calls code in a frame whose arguments are there, for native code at `pc`.
    fn call_from_native(
        &mut self,
        code: &'a Code,
        pc: Pc,
        (s, v): (usize, usize),
        callee: &'a Code,
        next: (usize, usize),
    ) -> Result<(), Trap> {
        self.frames.push(Frame { code, pc, direct: NO_REG, scalars: s, vals: v });
        let result = match self.world.native(callee) {
            Some(entry) => self.run_native(entry, callee, next),
            None => self.interpret(Place { code: callee, pc: 0, scalars: next.0, vals: next.1 }),
        };
        self.frames.pop();
        self.note_ends();
        let result = result?;
        self.deliver(code, pc, s, v, callee.ret, result)
    }

    /// Interprets code until its frame returns, between native code.
    fn interpret(&mut self, start: Place<'a>) -> Result<Returned, Trap> {
        let base = std::mem::replace(&mut self.base, self.frames.len());
        let fuel = self.native.context.fuel;
        let result = self.execute_to_the_end(start);
        self.native.context.fuel = fuel;
        let result = result.map_err(|failure| self.leave(start, failure));
        self.base = base;
        result
    }

    /// Leaves the frames from `start` on after an error that none of them handles.
    fn leave(&mut self, start: Place<'a>, failure: Failure<'a>) -> Trap {
        let Failure { trap, at } = failure;
        self.native.left.push(spot(at.code, at.pc));
        while self.frames.len() > self.base {
            let Some(frame) = self.frames.pop() else { break };
            self.native.left.push(spot(frame.code, frame.pc));
        }
        let end = at.vals + at.code.val_regs as usize;
        self.empty(start.vals, end);
        trap
    }

    /// Empties registers of values, and arguments behind them of a call that did not begin.
    fn empty(&mut self, start: usize, end: usize) {
        if let Some(held) = self.vals.get_mut(start..end) {
            held.fill(Val::Unit);
        }
        let behind = self.vals.iter_mut().skip(end);
        behind.take_while(|value| !matches!(value, Val::Unit)).for_each(|value| *value = Val::Unit);
    }

    fn fail_with(&mut self, result: Result<(), Trap>) -> i64 {
        match result {
            Ok(()) => 0,
            Err(trap) => {
                self.native.trap = Some(trap);
                1
            }
        }
    }
}

/// The machine that native code runs on.
///
/// # Safety
/// The context is that of a machine at work, on which nobody else works meanwhile.
unsafe fn machine<'m>(cx: *mut NativeContext) -> &'m mut Machine<'m> {
    // SAFETY: as above; `run_native` has set the pointer.
    unsafe { &mut *(*cx).machine.cast::<Machine<'m>>() }
}

extern "C" fn grow(
    cx: *mut NativeContext,
    code: *const Code,
    scalars: *mut u64,
    vals: *mut Val,
) -> i64 {
    // SAFETY: native code passes its context, and code that lives as long as it does.
    let (machine, code) = unsafe { (machine(cx), &*code) };
    let (s, v) = machine.window(scalars, vals);
    // One value more for what a call returns.
    let result = machine.grow(s + code.scalar_regs as usize, v + code.val_regs as usize + 1);
    machine.note_ends();
    machine.fail_with(result)
}

extern "C" fn too_deep(cx: *mut NativeContext) -> i64 {
    // SAFETY: native code passes its context.
    let machine = unsafe { machine(cx) };
    let trap = machine.too_deep();
    machine.fail_with(Err(trap))
}

extern "C" fn step(
    cx: *mut NativeContext,
    code: *const Code,
    pc: i64,
    scalars: *mut u64,
    vals: *mut Val,
) -> i64 {
    // SAFETY: native code passes its context, and code that lives as long as it does.
    let (machine, code) = unsafe { (machine(cx), &*code) };
    let window = machine.window(scalars, vals);
    let result = machine.step(code, pc as Pc, window);
    machine.note_ends();
    machine.fail_with(result)
}

extern "C" fn fail(
    cx: *mut NativeContext,
    code: *const Code,
    pc: i64,
    scalars: *mut u64,
    vals: *mut Val,
) {
    // SAFETY: native code passes its context, and code that lives as long as it does.
    let (machine, code) = unsafe { (machine(cx), &*code) };
    let window = machine.window(scalars, vals);
    let result = machine.step(code, pc as Pc, window).and_then(|()| {
        let inst = code.insts[pc as usize];
        Err(Trap::type_error(format!("native code and the interpreter differ on {inst:?}")))
    });
    machine.fail_with(result);
}

extern "C" fn return_tuple(
    cx: *mut NativeContext,
    code: *const Code,
    pc: i64,
    scalars: *mut u64,
    vals: *mut Val,
) -> i64 {
    // SAFETY: native code passes its context, and code that lives as long as it does.
    let (machine, code) = unsafe { (machine(cx), &*code) };
    let (s, v) = machine.window(scalars, vals);
    let Inst::ReturnTuple { site } = code.insts[pc as usize] else { return 0 };
    let result = machine.quick(code, &code.evals[site as usize], (s, v)).map(|tuple| {
        machine.vals[v..v + code.val_regs as usize].fill(Val::Unit);
        machine.vals[v] = tuple.unwrap_or(Val::Unit);
    });
    machine.fail_with(result)
}

extern "C" fn unwind(cx: *mut NativeContext, code: *const Code, pc: i64, vals: *mut Val) {
    // SAFETY: native code passes its context, and code that lives as long as it does.
    let (machine, code) = unsafe { (machine(cx), &*code) };
    machine.native.left.push(spot(code, pc as Pc));
    let (_, v) = machine.window(machine.scalars.as_ptr(), vals);
    machine.empty(v, v + code.val_regs as usize);
}

extern "C" fn refuel(cx: *mut NativeContext) -> i64 {
    // SAFETY: native code passes its context.
    let machine = unsafe { machine(cx) };
    let used_up = machine.native.context.fuel.min(0);
    let fuel = machine.state.refuel(used_up);
    let result = fuel.map(|fuel| machine.native.context.fuel = fuel);
    machine.fail_with(result)
}

extern "C" fn find_case(table: *const SwitchTable, value: *const Val) -> i64 {
    // SAFETY: native code passes a table of its code, and a register.
    let (table, value) = unsafe { (&*table, &*value) };
    let found = table.vals.iter().find(|(case, _)| egal(case, value));
    found.map_or(table.default, |&(_, to)| to).into()
}

extern "C" fn drop_last(value: *mut Val) {
    // SAFETY: native code passes a place that it writes next.
    unsafe { ptr::drop_in_place(value) };
}

extern "C" fn clear(vals: *mut Val, count: i64) {
    // SAFETY: native code passes the registers of its frame.
    let vals = unsafe { std::slice::from_raw_parts_mut(vals, count as usize) };
    vals.iter_mut().for_each(|place| assign(place, Val::Unit));
}

fn function(
    name: &'static str,
    address: *const u8,
    params: &'static [Arg],
    result: Option<Arg>,
) -> Function {
    Function { name, address, params, result, is_pure: false }
}

const FRAME: &[Arg] = &[Arg::Ptr, Arg::Ptr, Arg::Int, Arg::Ptr, Arg::Ptr];

/// The functions that native code calls.
pub(in crate::interp) fn runtime() -> Runtime {
    let status = Some(Arg::Int);
    Runtime {
        grow: function(
            "regraft_grow",
            grow as *const u8,
            &[Arg::Ptr, Arg::Ptr, Arg::Ptr, Arg::Ptr],
            status,
        ),
        too_deep: function("regraft_too_deep", too_deep as *const u8, &[Arg::Ptr], status),
        step: function("regraft_step", step as *const u8, FRAME, status),
        fail: function("regraft_fail", fail as *const u8, FRAME, None),
        return_tuple: function("regraft_return_tuple", return_tuple as *const u8, FRAME, status),
        unwind: function(
            "regraft_unwind",
            unwind as *const u8,
            &[Arg::Ptr, Arg::Ptr, Arg::Int, Arg::Ptr],
            None,
        ),
        refuel: function("regraft_refuel", refuel as *const u8, &[Arg::Ptr], status),
        find_case: function(
            "regraft_find_case",
            find_case as *const u8,
            &[Arg::Ptr, Arg::Ptr],
            Some(Arg::Int),
        ),
        drop_last: function("regraft_drop_last", drop_last as *const u8, &[Arg::Ptr], None),
        clear: function("regraft_clear", clear as *const u8, &[Arg::Ptr, Arg::Int], None),
    }
}
