//! The loop that runs compact code.
//!
//! Both stacks stay as long as they once were; a frame is a window of each. So a call of a small
//! function costs little more than the copies of its arguments and constants.

use std::sync::atomic::Ordering;

use regraft_ir::{Symbol, Type};
use smallvec::SmallVec;

use super::code::{Arg, Code, Dst, Inst, Pc, Reg, Scalar, Src};
use super::{State, World, scalar};
use crate::error::{Chain, ErrorKind, ExecError, Spot, Trap};
use crate::eval::EvalCx;
use crate::value::{Array, Charge, Storage, Val, type_name};

/// A caller that waits for a result.
#[derive(Clone, Copy)]
struct Frame<'a> {
    code: &'a Code,
    /// Of the call.
    pc: Pc,
    /// The scalar register that the result goes to as it is, or [`NO_REG`].
    direct: Reg,
    scalars: usize,
    vals: usize,
}

const NO_REG: Reg = Reg::MAX;

/// How many instructions run between two looks at the interrupt flag.
const SLICE: i64 = 1 << 20;

/// Calls the function in `slot` of the world.
pub(super) fn run(
    world: &World,
    state: &mut State,
    slot: u32,
    args: &[Val],
) -> Result<Val, ExecError> {
    let mut machine = Machine {
        world,
        scalars: std::mem::take(&mut state.scalars),
        vals: std::mem::take(&mut state.vals),
        state,
        frames: Vec::new(),
        stack_charge: Charge::new(0),
    };
    let result = machine.start(slot, args);
    if result.is_err() {
        // Frames are still there with what they hold.
        machine.vals.fill(Val::Unit);
    }
    // The stacks are kept for the next call, unless one deep recursion blew them up.
    if machine.scalars.len() < 1 << 16 && machine.vals.len() < 1 << 16 {
        machine.state.scalars = machine.scalars;
        machine.state.vals = machine.vals;
    }
    result
}

struct Machine<'a> {
    world: &'a World,
    state: &'a mut State,
    scalars: Vec<u64>,
    vals: Vec<Val>,
    frames: Vec<Frame<'a>>,
    /// What the stacks take.
    stack_charge: Charge,
}

/// An error with the position it happened at.
struct At<'a> {
    trap: Trap,
    code: &'a Code,
    pc: Pc,
}

impl<'a> Machine<'a> {
    fn start(&mut self, slot: u32, args: &[Val]) -> Result<Val, ExecError> {
        let name = self.world.slots[slot as usize].name;
        let code = self
            .world
            .code(slot)
            .map_err(|trap| ExecError::new(&self.world.ctx, trap, Chain::default()))?;
        self.push_frame_for(code, name, args, (0, 0), ErrorKind::Arguments)
            .map_err(|trap| ExecError::new(&self.world.ctx, trap, Chain::default()))?;
        self.execute(code).map_err(|At { trap, code, pc }| {
            let total = self.frames.len() + 1;
            let chain = Chain::collect(total, |i| {
                let (code, pc) = match i.checked_sub(1) {
                    None => (code, pc),
                    Some(i) => {
                        let frame = &self.frames[self.frames.len() - 1 - i];
                        (frame.code, frame.pc)
                    }
                };
                let (value, loc) = code.spots[pc as usize];
                Spot { function: code.name, value, loc }
            });
            ExecError::new(&self.world.ctx, trap, chain)
        })
    }

    /// Makes room for a frame of `code` that starts at `s` and `v`, and fills constants in.
    /// The parameters come first and are up to the caller; what else the scalar registers
    /// hold is left over, the others hold `nothing`.
    #[inline]
    fn push_frame(&mut self, code: &Code, s: usize, v: usize) -> Result<(), Trap> {
        let scalars = s + code.scalar_regs as usize;
        let vals = v + code.val_regs as usize;
        if scalars > self.scalars.len() || vals > self.vals.len() {
            self.grow(scalars, vals)?;
        }
        let constants = s + code.scalar_params as usize;
        let places = &mut self.scalars[constants..constants + code.scalars.len()];
        for (place, &constant) in places.iter_mut().zip(&code.scalars) {
            *place = constant;
        }
        Ok(())
    }

    /// Makes the stacks longer; they at least double.
    #[cold]
    fn grow(&mut self, scalars: usize, vals: usize) -> Result<(), Trap> {
        let scalars = scalars.max(self.scalars.len() * 2).max(1 << 10);
        let vals =
            if vals > self.vals.len() { vals.max(self.vals.len() * 2) } else { self.vals.len() };
        let frames = self.frames.capacity() * size_of::<Frame<'_>>();
        let bytes = scalars * size_of::<u64>() + vals * size_of::<Val>() + frames;
        self.state.host.reserve(bytes)?;
        self.scalars.resize(scalars, 0);
        self.vals.resize(vals, Val::Unit);
        self.stack_charge.set(bytes);
        Ok(())
    }

    /// Pushes a frame with arguments of any types, which are checked.
    fn push_frame_for(
        &mut self,
        code: &Code,
        name: Symbol,
        args: &[Val],
        (s, v): (usize, usize),
        kind: ErrorKind,
    ) -> Result<(), Trap> {
        let ctx = &*self.world.ctx;
        if args.len() != code.params.len() {
            let plural = if code.params.len() == 1 { "" } else { "s" };
            let message = format!(
                "@{} takes {} argument{plural}, found {}",
                ctx.str(name),
                code.params.len(),
                args.len()
            );
            return Err(Trap::of_kind(kind, message));
        }
        for (i, (arg, &want)) in args.iter().zip(&code.params).enumerate() {
            if !arg.is_a(ctx, want) {
                let message = format!(
                    "argument {} of @{} is of type {}, expected {}",
                    i + 1,
                    ctx.str(name),
                    ctx.type_text(arg.type_of(ctx)),
                    ctx.type_text(want)
                );
                return Err(Trap::of_kind(kind, message));
            }
        }
        let (mut scalar, mut val) = (s, v);
        self.push_frame(code, s, v)?;
        for (arg, &want) in args.iter().zip(&code.params) {
            match Scalar::of(want).and_then(|ty| ty.unboxed(arg)) {
                Some(slot) => {
                    self.scalars[scalar] = slot;
                    scalar += 1;
                }
                None => {
                    self.vals[val] = arg.clone();
                    val += 1;
                }
            }
        }
        Ok(())
    }

    #[allow(unsafe_code)]
    fn execute(&mut self, entry: &'a Code) -> Result<Val, At<'a>> {
        let mut code = entry;
        // Where the frame starts in the two stacks.
        let (mut s, mut v) = (0, 0);
        // The scalar registers of the frame: the start of its window. It is set anew whenever the
        // frame changes, which is also the only time that the stack can move.
        let mut regs: *mut u64 = self.scalars.as_mut_ptr();
        let mut insts: *const Inst = code.insts.as_ptr();
        let mut pc: Pc = 0;
        // Instructions are counted where control jumps: `from` is where it came in.
        let mut from: Pc = 0;
        let mut fuel = self.state.next_slice();

        macro_rules! trap {
            ($trap:expr) => {{
                let trap: Trap = $trap;
                self.state.give_back(fuel);
                return Err(At { trap, code, pc });
            }};
        }
        macro_rules! check {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(trap) => trap!(trap),
                }
            };
        }
        macro_rules! get {
            ($r:expr) => {{
                debug_assert!(($r as usize) < code.scalar_regs as usize);
                // SAFETY: `regs` is the start of a window of the stack that `push_frame` made
                // `scalar_regs` long, and the compiler makes no register beyond that
                // (`Code::assert_in_bounds`). With checks here a loop takes 1.5 times as long.
                unsafe { *regs.add($r as usize) }
            }};
        }
        macro_rules! set {
            ($r:expr, $x:expr) => {{
                let x = $x;
                debug_assert!(($r as usize) < code.scalar_regs as usize);
                // SAFETY: as for `get`.
                unsafe { *regs.add($r as usize) = x };
            }};
        }
        macro_rules! enter {
            ($callee:expr, $s:expr, $v:expr, $direct:expr) => {{
                let direct: Option<Reg> = $direct;
                let direct = direct.unwrap_or(NO_REG);
                self.frames.push(Frame { code, pc, direct, scalars: s, vals: v });
                (code, pc, s, v) = ($callee, 0, $s, $v);
                // SAFETY: `push_frame` has made the stack longer than `s`.
                regs = unsafe { self.scalars.as_mut_ptr().add(s) };
                insts = code.insts.as_ptr();
                from = 0;
                continue;
            }};
        }
        macro_rules! int {
            ($d:expr, $a:expr, $b:expr, $f:ident) => {
                set!($d, (get!($a) as i64).$f(get!($b) as i64) as u64)
            };
        }
        macro_rules! int32 {
            ($d:expr, $a:expr, $b:expr, $f:ident) => {
                set!($d, (get!($a) as i32).$f(get!($b) as i32) as u64)
            };
        }
        macro_rules! f64 {
            ($r:expr) => {
                f64::from_bits(get!($r))
            };
        }
        macro_rules! f32 {
            ($r:expr) => {
                f32::from_bits(get!($r) as u32)
            };
        }
        macro_rules! count {
            () => {
                fuel -= i64::from(pc - from) + 1;
                if fuel < 0 {
                    fuel = check!(self.state.refuel(fuel));
                }
            };
        }
        macro_rules! jump {
            ($to:expr) => {{
                count!();
                pc = $to;
                from = $to;
                continue;
            }};
            ($condition:expr, $to:expr) => {
                if $condition {
                    jump!($to);
                }
            };
        }
        macro_rules! val {
            ($r:expr) => {
                self.vals[v + $r as usize]
            };
        }
        macro_rules! ret {
            ($take:expr) => {{
                count!();
                let result: Returned = $take;
                // What the frame held is dropped now, not when the registers are used again.
                if code.val_regs > 0 {
                    self.vals[v..v + code.val_regs as usize].fill(Val::Unit);
                }
                let Some(frame) = self.frames.pop() else {
                    self.state.give_back(fuel);
                    return Ok(result.into_val(code.ret));
                };
                let ret = code.ret;
                (code, pc, s, v) = (frame.code, frame.pc, frame.scalars, frame.vals);
                // SAFETY: the frame was there before, and the stack never gets shorter.
                regs = unsafe { self.scalars.as_mut_ptr().add(s) };
                insts = code.insts.as_ptr();
                match result {
                    Returned::Scalar(slot) if frame.direct != NO_REG => set!(frame.direct, slot),
                    result => check!(self.deliver(code, pc, s, v, ret, result)),
                }
                pc += 1;
                from = pc;
                continue;
            }};
        }

        loop {
            debug_assert!((pc as usize) < code.insts.len());
            // SAFETY: `insts` is the code of the frame. `pc` starts at 0, goes to targets of jumps,
            // which are in bounds, and to the next instruction of one that is not the last; the
            // last one does not go on (`Code::assert_in_bounds` has checked all of this).
            match unsafe { *insts.add(pc as usize) } {
                Inst::Mov { d, a } => set!(d, get!(a)),
                Inst::MovVal { vd, va } => {
                    let value = val!(va).clone();
                    val!(vd) = value;
                }
                Inst::LoadConst { vd, index } => val!(vd) = code.vals[index as usize].clone(),
                Inst::Box { ty, vd, a } => val!(vd) = ty.boxed(get!(a)),
                Inst::Unbox { ty, d, va } => match ty.unboxed(&val!(va)) {
                    Some(slot) => set!(d, slot),
                    None => trap!(self.wrong_type(&val!(va), ty.ty())),
                },

                Inst::AddI { d, a, b } => int!(d, a, b, wrapping_add),
                Inst::SubI { d, a, b } => int!(d, a, b, wrapping_sub),
                Inst::MulI { d, a, b } => int!(d, a, b, wrapping_mul),
                Inst::AddI32 { d, a, b } => int32!(d, a, b, wrapping_add),
                Inst::SubI32 { d, a, b } => int32!(d, a, b, wrapping_sub),
                Inst::MulI32 { d, a, b } => int32!(d, a, b, wrapping_mul),
                Inst::And { d, a, b } => set!(d, get!(a) & get!(b)),
                Inst::Or { d, a, b } => set!(d, get!(a) | get!(b)),
                Inst::Xor { d, a, b } => set!(d, get!(a) ^ get!(b)),
                Inst::NegI { d, a } => set!(d, (get!(a) as i64).wrapping_neg() as u64),
                Inst::NotI { d, a } => set!(d, !get!(a)),
                Inst::NotBool { d, a } => set!(d, get!(a) ^ 1),
                Inst::AddF { d, a, b } => set!(d, (f64!(a) + f64!(b)).to_bits()),
                Inst::SubF { d, a, b } => set!(d, (f64!(a) - f64!(b)).to_bits()),
                Inst::MulF { d, a, b } => set!(d, (f64!(a) * f64!(b)).to_bits()),
                Inst::DivF { d, a, b } => set!(d, (f64!(a) / f64!(b)).to_bits()),
                Inst::NegF { d, a } => set!(d, (-f64!(a)).to_bits()),
                Inst::AddF32 { d, a, b } => set!(d, u64::from((f32!(a) + f32!(b)).to_bits())),
                Inst::SubF32 { d, a, b } => set!(d, u64::from((f32!(a) - f32!(b)).to_bits())),
                Inst::MulF32 { d, a, b } => set!(d, u64::from((f32!(a) * f32!(b)).to_bits())),
                Inst::DivF32 { d, a, b } => set!(d, u64::from((f32!(a) / f32!(b)).to_bits())),
                Inst::IntToF { d, a } => set!(d, (get!(a) as i64 as f64).to_bits()),
                Inst::Select { d, condition, a, b } => {
                    set!(d, if get!(condition) != 0 { get!(a) } else { get!(b) });
                }

                Inst::EqI { d, a, b } => set!(d, u64::from(get!(a) == get!(b))),
                Inst::NeI { d, a, b } => set!(d, u64::from(get!(a) != get!(b))),
                Inst::LtI { d, a, b } => set!(d, u64::from((get!(a) as i64) < get!(b) as i64)),
                Inst::LeI { d, a, b } => set!(d, u64::from(get!(a) as i64 <= get!(b) as i64)),
                Inst::EqF { d, a, b } => set!(d, u64::from(f64!(a) == f64!(b))),
                Inst::NeF { d, a, b } => set!(d, u64::from(f64!(a) != f64!(b))),
                Inst::LtF { d, a, b } => set!(d, u64::from(f64!(a) < f64!(b))),
                Inst::LeF { d, a, b } => set!(d, u64::from(f64!(a) <= f64!(b))),

                Inst::Jump { to } => jump!(to),
                Inst::JumpIf { a, to } => jump!(get!(a) != 0, to),
                Inst::JumpUnless { a, to } => jump!(get!(a) == 0, to),
                Inst::JumpEqI { a, b, to } => jump!(get!(a) == get!(b), to),
                Inst::JumpNeI { a, b, to } => jump!(get!(a) != get!(b), to),
                Inst::JumpLtI { a, b, to } => jump!((get!(a) as i64) < get!(b) as i64, to),
                Inst::JumpLeI { a, b, to } => jump!(get!(a) as i64 <= get!(b) as i64, to),
                Inst::JumpEqF { a, b, to } => jump!(f64!(a) == f64!(b), to),
                Inst::JumpNeF { a, b, to } => jump!(f64!(a) != f64!(b), to),
                Inst::JumpLtF { a, b, to } => jump!(f64!(a) < f64!(b), to),
                Inst::JumpLeF { a, b, to } => jump!(f64!(a) <= f64!(b), to),
                Inst::JumpNotLtF { a, b, to } => {
                    let less = f64!(a) < f64!(b);
                    jump!(!less, to);
                }
                Inst::JumpNotLeF { a, b, to } => {
                    let less = f64!(a) <= f64!(b);
                    jump!(!less, to);
                }
                Inst::Switch { a, table } => {
                    let table = &code.switches[table as usize];
                    let slot = get!(a);
                    let found = table.scalars.binary_search_by_key(&slot, |&(case, _)| case);
                    jump!(found.map_or(table.default, |i| table.scalars[i].1));
                }
                Inst::SwitchVal { va, table } => {
                    let table = &code.switches[table as usize];
                    let value = &val!(va);
                    let found = table.vals.iter().find(|(case, _)| crate::value::egal(case, value));
                    jump!(found.map_or(table.default, |&(_, to)| to));
                }

                Inst::LoadF { d, va, i } => {
                    let index = get!(i).wrapping_sub(1);
                    match &val!(va) {
                        Val::Array(array)
                            if let Storage::F64(items) = array.storage()
                                && let Some(x) = items.get(index as usize) =>
                        {
                            set!(d, x.to_bits());
                        }
                        other => trap!(access_error(other, &[get!(i) as i64])),
                    }
                }
                Inst::LoadI { d, va, i } => {
                    let index = get!(i).wrapping_sub(1);
                    match &val!(va) {
                        Val::Array(array)
                            if let Storage::I64(items) = array.storage()
                                && let Some(x) = items.get(index as usize) =>
                        {
                            set!(d, x as u64);
                        }
                        other => trap!(access_error(other, &[get!(i) as i64])),
                    }
                }
                Inst::LoadF2 { j, d, va, i } => {
                    let indices = [get!(i) as i64, get!(j) as i64];
                    match &val!(va) {
                        Val::Array(array)
                            if let Storage::F64(items) = array.storage()
                                && let Some(at) = array.offset(&indices)
                                && let Some(x) = items.get(at) =>
                        {
                            set!(d, x.to_bits());
                        }
                        other => trap!(access_error(other, &indices)),
                    }
                }
                Inst::StoreF { a, va, i } => {
                    let index = get!(i).wrapping_sub(1);
                    let x = f64!(a);
                    match &val!(va) {
                        Val::Array(array)
                            if let Storage::F64(items) = array.storage()
                                && items.set(index as usize, x) => {}
                        other => trap!(access_error(other, &[get!(i) as i64])),
                    }
                }
                Inst::StoreI { a, va, i } => {
                    let index = get!(i).wrapping_sub(1);
                    let x = get!(a) as i64;
                    match &val!(va) {
                        Val::Array(array)
                            if let Storage::I64(items) = array.storage()
                                && items.set(index as usize, x) => {}
                        other => trap!(access_error(other, &[get!(i) as i64])),
                    }
                }
                Inst::StoreF2 { j, a, va, i } => {
                    let indices = [get!(i) as i64, get!(j) as i64];
                    let x = f64!(a);
                    match &val!(va) {
                        Val::Array(array)
                            if let Storage::F64(items) = array.storage()
                                && let Some(at) = array.offset(&indices)
                                && items.set(at, x) => {}
                        other => trap!(access_error(other, &indices)),
                    }
                }
                Inst::Length { d, va } => match &val!(va) {
                    Val::Array(array) => set!(d, array.len() as u64),
                    other => trap!(access_error(other, &[])),
                },
                Inst::GetF { d, va, index } => match val!(va).as_fields() {
                    Some(items) if let Some(Val::F64(x)) = items.get(index as usize) => {
                        set!(d, x.to_bits());
                    }
                    _ => trap!(field_error(index)),
                },
                Inst::GetI { d, va, index } => match val!(va).as_fields() {
                    Some(items) if let Some(Val::I64(x)) = items.get(index as usize) => {
                        set!(d, *x as u64);
                    }
                    _ => trap!(field_error(index)),
                },
                Inst::GetVal { vd, va, index } => match val!(va).as_fields() {
                    Some(items) if let Some(item) = items.get(index as usize) => {
                        let item = item.clone();
                        val!(vd) = item;
                    }
                    _ => trap!(field_error(index)),
                },

                Inst::Unary { function, d, a } => match scalar::call_unary(function, get!(a)) {
                    Ok(slot) => set!(d, slot),
                    Err(trap) => trap!(trap.into()),
                },
                Inst::Binary { function, d, a, b } => {
                    match scalar::call_binary(function, get!(a), get!(b)) {
                        Ok(slot) => set!(d, slot),
                        Err(trap) => trap!(trap.into()),
                    }
                }
                Inst::Scalar { site } => {
                    let site = &code.scalar_sites[site as usize];
                    let mut args = [(Scalar::Bool, 0); 3];
                    for (arg, &(ty, reg)) in args.iter_mut().zip(&site.args) {
                        *arg = (ty, get!(reg));
                    }
                    let args = &args[..site.args.len()];
                    match scalar::eval_slots(site.op, args, site.ty.ty()) {
                        Some(Ok(slot)) => set!(site.d, slot),
                        Some(Err(trap)) => trap!(trap.into()),
                        None => trap!(Trap::type_error("the op is not defined on these operands")),
                    }
                }
                Inst::Eval { site } => check!(self.eval(code, site, s, v)),
                Inst::Call { site } => {
                    count!();
                    let site = &code.calls[site as usize];
                    if self.frames.len() + 1 >= self.state.limits.depth {
                        trap!(self.too_deep());
                    }
                    let callee = check!(self.world.code(site.callee));
                    let callee_s = s + code.scalar_regs as usize;
                    let callee_v = v + code.val_regs as usize;
                    check!(self.push_frame(callee, callee_s, callee_v));
                    check!(self.pass(code, &site.args, (s, v), (callee_s, callee_v)));
                    enter!(callee, callee_s, callee_v, site.direct);
                }
                Inst::Apply { site } => {
                    count!();
                    if self.frames.len() + 1 >= self.state.limits.depth {
                        trap!(self.too_deep());
                    }
                    let site = &code.applies[site as usize];
                    let mut args: SmallVec<[Val; 8]> =
                        site.args.iter().map(|&src| self.operand(code, src, s, v)).collect();
                    if site.splat {
                        args = check!(self.splat(args));
                    }
                    let (name, callee) = check!(self.callee(&mut args));
                    let callee = check!(self.world.code(callee));
                    let callee_s = s + code.scalar_regs as usize;
                    let callee_v = v + code.val_regs as usize;
                    let kind = ErrorKind::Trap("MethodError");
                    check!(self.push_frame_for(callee, name, &args, (callee_s, callee_v), kind));
                    enter!(callee, callee_s, callee_v, None);
                }

                Inst::Return { a } => ret!(Returned::Scalar(get!(a))),
                Inst::ReturnVal { va } => {
                    ret!(Returned::Val(std::mem::replace(&mut val!(va), Val::Unit)))
                }
                Inst::ReturnConst { index } => {
                    ret!(Returned::Val(code.vals[index as usize].clone()))
                }
                Inst::ReturnUnit => ret!(Returned::Val(Val::Unit)),
                Inst::Unreachable => {
                    trap!(regraft_dialects::semantics::Trap::Unreachable.into())
                }
                Inst::Unknown { name } => trap!(self.world.unknown_function(name)),
            }
            pc += 1;
        }
    }

    /// Stores what a call returned where the call site wants it.
    #[inline]
    fn deliver(
        &mut self,
        code: &Code,
        pc: Pc,
        s: usize,
        v: usize,
        ret: Type,
        result: Returned,
    ) -> Result<(), Trap> {
        let (dst, check) = match code.insts[pc as usize] {
            Inst::Call { site } => {
                let site = &code.calls[site as usize];
                (site.dst, site.check)
            }
            Inst::Apply { site } => {
                let site = &code.applies[site as usize];
                (site.dst, site.check)
            }
            _ => return Ok(()),
        };
        if let Some(want) = check {
            let value = result.into_val(ret);
            if !value.is_a(&self.world.ctx, want) {
                return Err(self.wrong_type(&value, want));
            }
            return self.put(dst, s, v, value);
        }
        match (dst, result) {
            (Dst::Scalar(want, d), Returned::Scalar(slot)) if want.ty() == ret => {
                self.scalars[s + d as usize] = slot;
                Ok(())
            }
            (dst, result) => self.put(dst, s, v, result.into_val(ret)),
        }
    }

    /// Stores a value, which has to be of the type of a scalar register.
    fn put(&mut self, dst: Dst, s: usize, v: usize, value: Val) -> Result<(), Trap> {
        match dst {
            Dst::Val(reg) => self.vals[v + reg as usize] = value,
            Dst::Nowhere => {}
            Dst::Scalar(ty, reg) => match ty.unboxed(&value) {
                Some(slot) => self.scalars[s + reg as usize] = slot,
                None => return Err(self.wrong_type(&value, ty.ty())),
            },
        }
        Ok(())
    }

    #[inline]
    fn operand(&self, code: &Code, src: Src, s: usize, v: usize) -> Val {
        match src {
            Src::Scalar(ty, reg) => ty.boxed(self.scalars[s + reg as usize]),
            Src::Val(reg) => self.vals[v + reg as usize].clone(),
            Src::Const(index) => code.vals[index as usize].clone(),
            Src::Unit => Val::Unit,
        }
    }

    fn eval(&mut self, code: &Code, site: u32, s: usize, v: usize) -> Result<(), Trap> {
        let site = &code.evals[site as usize];
        let args: SmallVec<[Val; 6]> =
            site.args.iter().map(|&src| self.operand(code, src, s, v)).collect();
        let mut cx = EvalCx {
            ctx: &self.world.ctx,
            def: site.def,
            ty: site.ty,
            attrs: site.attrs,
            host: &mut self.state.host,
        };
        let value = (site.function)(&mut cx, &args)?;
        self.put(site.dst, s, v, value)
    }

    /// Passes the arguments of a direct call into the frame of the callee.
    #[inline]
    fn pass(
        &mut self,
        code: &Code,
        args: &[Arg],
        (s, v): (usize, usize),
        (mut callee_s, mut callee_v): (usize, usize),
    ) -> Result<(), Trap> {
        for &arg in args {
            let value = match arg {
                Arg::Scalar(reg) => {
                    self.scalars[callee_s] = self.scalars[s + reg as usize];
                    callee_s += 1;
                    continue;
                }
                Arg::Unbox(ty, reg) => {
                    let value = &self.vals[v + reg as usize];
                    match ty.unboxed(value) {
                        Some(slot) => self.scalars[callee_s] = slot,
                        None => return Err(self.wrong_type(value, ty.ty())),
                    }
                    callee_s += 1;
                    continue;
                }
                Arg::Val(reg) => self.vals[v + reg as usize].clone(),
                Arg::Const(index) => code.vals[index as usize].clone(),
                Arg::Unit => Val::Unit,
                Arg::Box(ty, reg) => ty.boxed(self.scalars[s + reg as usize]),
                Arg::Check(reg, want) => {
                    let value = self.vals[v + reg as usize].clone();
                    if !value.is_a(&self.world.ctx, want) {
                        return Err(self.wrong_type(&value, want));
                    }
                    value
                }
            };
            self.vals[callee_v] = value;
            callee_v += 1;
        }
        Ok(())
    }

    /// The arguments of a splat: the callee, then the elements of the collections.
    fn splat(&self, args: SmallVec<[Val; 8]>) -> Result<SmallVec<[Val; 8]>, Trap> {
        let mut out = SmallVec::new();
        for (i, arg) in args.into_iter().enumerate() {
            match &arg {
                _ if i == 0 => out.push(arg),
                Val::Tuple(fields) | Val::Named(fields) => {
                    out.extend(fields.items().iter().cloned())
                }
                Val::Array(array) => {
                    self.state.host.reserve(array.len().saturating_mul(size_of::<Val>()))?;
                    for offset in 0..array.len() {
                        let undefined = regraft_dialects::semantics::Trap::UndefRef;
                        out.push(array.get(offset).ok_or(undefined)?);
                    }
                }
                other => {
                    let ty = self.world.ctx.type_text(other.type_of(&self.world.ctx));
                    let message = format!("a value of type {ty} cannot be splatted into arguments");
                    return Err(Trap::new("MethodError", message));
                }
            }
        }
        Ok(out)
    }

    /// The slot of the function that the first of `args` stands for; the others become its
    /// arguments (with a closure itself as the first of them).
    fn callee(&self, args: &mut SmallVec<[Val; 8]>) -> Result<(Symbol, u32), Trap> {
        let ctx = &self.world.ctx;
        let name = match args.first() {
            Some(&Val::Func(name)) => {
                args.remove(0);
                Some(name)
            }
            Some(Val::Struct(fields)) => ctx.struct_of(fields.ty()).and_then(|def| def.call),
            Some(Val::Object(object)) => ctx.struct_of(object.ty()).and_then(|def| def.call),
            _ => None,
        };
        let Some(name) = name else {
            let ty = args.first().map_or(Type::ANY, |callee| callee.type_of(ctx));
            let message = format!("a value of type {} cannot be called", type_name(ctx, ty));
            return Err(Trap::new("MethodError", message));
        };
        match self.world.by_name.get(&name) {
            Some(&slot) if self.world.slots[slot as usize].function.is_some() => Ok((name, slot)),
            _ => Err(self.world.unknown_function(name)),
        }
    }

    #[cold]
    fn too_deep(&self) -> Trap {
        let limit = self.state.limits.depth;
        let message = format!("the depth limit of {limit} nested calls is exceeded");
        Trap::of_kind(ErrorKind::Depth, message)
    }

    #[cold]
    fn wrong_type(&self, value: &Val, want: Type) -> Trap {
        let ctx = &self.world.ctx;
        let have = ctx.type_text(value.type_of(ctx));
        Trap::type_error(format!("expected a value of type {}, found {have}", ctx.type_text(want)))
    }
}

/// What a function returns.
enum Returned {
    Scalar(u64),
    Val(Val),
}

impl Returned {
    fn into_val(self, ty: Type) -> Val {
        match (self, Scalar::of(ty)) {
            (Self::Scalar(slot), Some(ty)) => ty.boxed(slot),
            (Self::Scalar(_), None) => Val::Unit,
            (Self::Val(value), _) => value,
        }
    }
}

/// Why an element of an array of the type that the code counts on could not be reached.
#[cold]
fn access_error(value: &Val, indices: &[i64]) -> Trap {
    match value {
        Val::Array(array) => bounds_error(array, indices),
        _ => Trap::type_error("expected an array"),
    }
}

/// The first index that is out of bounds.
#[cold]
pub(crate) fn bounds_error(array: &Array, indices: &[i64]) -> Trap {
    let trap = |index: i64, length: usize| {
        regraft_dialects::semantics::Trap::Bounds { index, length: length as i64 }.into()
    };
    match indices {
        &[index] => trap(index, array.len()),
        _ if indices.len() != usize::from(array.rank()) => Trap::new(
            "BoundsError",
            format!("{} indices for an array of rank {}", indices.len(), array.rank()),
        ),
        _ => {
            let dims = array.dims();
            let wrong =
                indices.iter().zip(&dims).find(|&(&i, &dim)| i < 1 || i as u64 > dim as u64);
            match wrong {
                Some((&index, &length)) => trap(index, length),
                None => Trap::type_error("the array has elements of another type"),
            }
        }
    }
}

#[cold]
fn field_error(index: Reg) -> Trap {
    Trap::type_error(format!("there is no field {} of the expected type", index + 1))
}

impl State {
    /// Fuel for the next stretch.
    fn next_slice(&mut self) -> i64 {
        let slice = (self.fuel_left.min(SLICE as u64)) as i64;
        self.fuel_left -= slice as u64;
        slice
    }

    /// Returns what is left of a slice.
    fn give_back(&mut self, fuel: i64) {
        self.fuel_left = self.fuel_left.saturating_add_signed(fuel);
    }

    /// The next slice when one is used up; `fuel` is what was used too much.
    #[cold]
    fn refuel(&mut self, fuel: i64) -> Result<i64, Trap> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Trap::of_kind(ErrorKind::Interrupted, "interrupted"));
        }
        if self.fuel_left < fuel.unsigned_abs() {
            let limit = self.limits.fuel.unwrap_or(u64::MAX);
            let message = format!("the fuel limit of {limit} instructions is exceeded");
            return Err(Trap::of_kind(ErrorKind::Fuel, message));
        }
        self.fuel_left -= fuel.unsigned_abs();
        Ok(self.next_slice())
    }
}
