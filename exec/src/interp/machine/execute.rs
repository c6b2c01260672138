//! The loop that runs compact code.

use super::super::code::Code;
use super::super::inst::{Inst, Pc};
use super::super::register::{NO_REG, NOWHERE, Reg};
use super::super::world::Way;
use super::access::{access_error, field_error, load_slot, place, position, set_field, store_slot};
use super::transfer::{Returned, assign};
use super::{Failure, Frame, Machine, Place};
use crate::error::Trap;
use crate::value::{Array, Val};
use regraft_ir::Loc;

impl<'a> Machine<'a> {
    #[allow(unsafe_code)]
    pub(super) fn execute(&mut self, start: Place<'a>) -> Result<Returned, Failure<'a>> {
        // `s` and `v` are where the frame starts in the two stacks.
        let Place { mut code, mut pc, scalars: mut s, vals: mut v } = start;
        // The scalar registers of the frame: the start of its window. It is set anew whenever the
        // frame changes, which is also the only time that the stack can move.
        // SAFETY: the stack is longer than `s`, where the frame starts.
        let mut regs: *mut u64 = unsafe { self.scalars.as_mut_ptr().add(s) };
        let mut insts: *const Inst = code.insts.as_ptr();
        // Instructions are counted where control jumps: `from` is where it came in.
        let mut from: Pc = pc;
        let mut fuel = self.state.next_slice();
        // Where a jump goes that has used up the slice.
        let mut next: Pc;

        macro_rules! trap {
            ($trap:expr) => {{
                let trap: Trap = $trap;
                self.state.give_back(fuel);
                return Err(Failure { trap, at: Place { code, pc, scalars: s, vals: v } });
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
        // Runs native code in a frame whose arguments are there.
        macro_rules! run_native {
            ($native:expr, $callee:expr, $s:expr, $v:expr, $direct:expr) => {{
                let direct: Option<Reg> = $direct;
                let callee: &Code = $callee;
                self.frames.push(Frame { code, pc, direct: NO_REG, scalars: s, vals: v });
                self.state.native.fuel.set(fuel);
                let result = self.run_native($native, callee, ($s, $v));
                fuel = self.state.native.fuel.get() - self.state.cost_of_native_call();
                self.frames.pop();
                // SAFETY: the stack is as long as it was.
                regs = unsafe { self.scalars.as_mut_ptr().add(s) };
                match (check!(result), direct) {
                    (Returned::Scalar(slot), Some(direct)) => set!(direct, slot),
                    (result, _) => check!(self.deliver(code, pc, s, v, callee.ret, result)),
                }
                pc += 1;
                from = pc;
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
                let to = $to;
                fuel -= i64::from(pc - from) + 1;
                if fuel < 0 {
                    next = to;
                    break;
                }
                pc = to;
                from = to;
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
        // What is done with an array, which gives `None` if its type or the indices do not fit.
        macro_rules! access {
            ($va:expr, [$($index:expr),*], $array:ident => $access:expr) => {{
                let access = |$array: &Array| $access;
                match &val!($va) {
                    Val::Array(array) if let Some(x) = access(array) => x,
                    other => {
                        trap!(access_error(self.texts(), other, &[$(get!($index) as i64),*]))
                    }
                }
            }};
        }
        // Drops what the frame held, now and not when the registers are used again, and goes on in the
        // caller. Gives the place where that wants the result; a run without one ends with the result.
        macro_rules! leave {
            ($result:expr) => {{
                if code.val_regs > 0 {
                    for place in &mut self.vals[v..v + code.val_regs as usize] {
                        assign(place, Val::Unit);
                    }
                }
                if self.frames.len() == self.base {
                    self.state.give_back(fuel);
                    return Ok($result);
                }
                let Some(frame) = self.frames.pop() else { return Ok($result) };
                (code, pc, s, v) = (frame.code, frame.pc, frame.scalars, frame.vals);
                // SAFETY: the frame was there before, and the stack never gets shorter.
                regs = unsafe { self.scalars.as_mut_ptr().add(s) };
                insts = code.insts.as_ptr();
                frame.direct
            }};
        }
        macro_rules! ret {
            ($take:expr) => {{
                count!();
                finish!($take);
            }};
        }
        // Goes on in the caller with a result.
        macro_rules! finish {
            ($take:expr) => {{
                let result: Returned = $take;
                let ret = code.ret;
                let direct = leave!(result);
                match result {
                    Returned::Scalar(slot) if direct != NO_REG => set!(direct, slot),
                    Returned::Val(value) if direct == NOWHERE => drop(value),
                    result => check!(self.deliver(code, pc, s, v, ret, result)),
                }
                pc += 1;
                from = pc;
                continue;
            }};
        }

        loop {
            loop {
                debug_assert!((pc as usize) < code.insts.len());
                // SAFETY: `insts` is the code of the frame. `pc` starts at 0, goes to targets of jumps,
                // which are in bounds, and to the next instruction of one that is not the last; the
                // last one does not go on (`Code::assert_in_bounds` has checked all of this).
                let inst = unsafe { &*insts.add(pc as usize) };
                match *inst {
                    Inst::Mov { d, a } => set!(d, get!(a)),
                    Inst::MovVal { vd, va } => {
                        let value = val!(va).clone();
                        assign(&mut val!(vd), value);
                    }
                    Inst::TakeVal { vd, va } => {
                        let value = std::mem::replace(&mut val!(va), Val::Unit);
                        assign(&mut val!(vd), value);
                    }
                    Inst::Drop { va } => assign(&mut val!(va), Val::Unit),
                    Inst::LoadConst { vd, index } => {
                        assign(&mut val!(vd), code.vals[index as usize].clone());
                    }
                    Inst::Box { ty, vd, a } => assign(&mut val!(vd), ty.boxed(get!(a))),
                    Inst::Unbox { ty, d, va } => match ty.unboxed(&val!(va)) {
                        Some(slot) => set!(d, slot),
                        None => trap!(self.wrong_type(&val!(va), ty.ty())),
                    },

                    Inst::AddI { d, a, b } => int!(d, a, b, wrapping_add),
                    Inst::AddImm { d, a, imm } => {
                        set!(d, get!(a).wrapping_add_signed(i64::from(imm)));
                    }
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
                    Inst::JumpEqImm { a, imm, to } => jump!(get!(a) as i64 == i64::from(imm), to),
                    Inst::JumpNeImm { a, imm, to } => jump!(get!(a) as i64 != i64::from(imm), to),
                    Inst::JumpLtImm { a, imm, to } => jump!((get!(a) as i64) < i64::from(imm), to),
                    Inst::JumpGeImm { a, imm, to } => jump!(get!(a) as i64 >= i64::from(imm), to),
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
                        let found =
                            table.vals.iter().find(|(case, _)| crate::value::egal(case, value));
                        jump!(found.map_or(table.default, |&(_, to)| to));
                    }

                    Inst::LoadF { d, va, i } => {
                        let x = access!(va, [i], a => a.buffer::<f64>()?.get(position(get!(i))));
                        set!(d, x.to_bits());
                    }
                    Inst::LoadI { d, va, i } => {
                        let x = access!(va, [i], a => a.buffer::<i64>()?.get(position(get!(i))));
                        set!(d, x as u64);
                    }
                    Inst::LoadF2 { j, d, va, i } => {
                        let at = [get!(i) as i64, get!(j) as i64];
                        let x = access!(va, [i, j], a => a.buffer::<f64>()?.get(a.offset(&at)?));
                        set!(d, x.to_bits());
                    }
                    Inst::StoreF { a, va, i } => {
                        let (x, at) = (f64!(a), position(get!(i)));
                        access!(va, [i], a => a.buffer::<f64>()?.set(at, x).then_some(()));
                    }
                    Inst::StoreI { a, va, i } => {
                        let (x, at) = (get!(a) as i64, position(get!(i)));
                        access!(va, [i], a => a.buffer::<i64>()?.set(at, x).then_some(()));
                    }
                    Inst::StoreF2 { j, a, va, i } => {
                        let (x, at) = (f64!(a), [get!(i) as i64, get!(j) as i64]);
                        access!(va, [i, j], a => {
                            a.buffer::<f64>()?.set(a.offset(&at)?, x).then_some(())
                        });
                    }
                    Inst::LoadScalar { ty, d, va, i } => {
                        set!(d, access!(va, [i], a => load_slot(a, position(get!(i)), ty)));
                    }
                    Inst::LoadScalar2 { ty, j, d, va, i } => {
                        let at = [get!(i) as i64, get!(j) as i64];
                        set!(d, access!(va, [i, j], a => load_slot(a, a.offset(&at)?, ty)));
                    }
                    Inst::StoreScalar { ty, a, va, i } => {
                        let (slot, at) = (get!(a), position(get!(i)));
                        access!(va, [i], a => store_slot(a, at, ty, slot).then_some(()));
                    }
                    Inst::StoreScalar2 { ty, j, a, va, i } => {
                        let (slot, at) = (get!(a), [get!(i) as i64, get!(j) as i64]);
                        access!(va, [i, j], a => store_slot(a, a.offset(&at)?, ty, slot).then_some(()));
                    }
                    Inst::Length { d, va } => set!(d, access!(va, [], a => Some(a.len() as u64))),
                    Inst::Probe { b, d, va, a } => {
                        let (hash, after) = (get!(a) as i64, get!(Reg::from(b)) as i64);
                        let found =
                            access!(va, [], a => Some(a.buffer::<i32>()?.probe(hash, after)));
                        set!(d, found as u64);
                    }
                    Inst::IndexEntries { b, va, vb, a } => {
                        let (first, last) = (get!(a) as i64, get!(Reg::from(b)) as i64);
                        check!(self.index_entries(&val!(va), &val!(vb), first, last));
                    }
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
                    Inst::GetVal { vd, va, index } => match place(&val!(va), index as usize) {
                        Some(place) => {
                            // SAFETY: the register holds it until it is copied.
                            let item = unsafe { &*place }.clone();
                            assign(&mut val!(vd), item);
                        }
                        None => trap!(field_error(index)),
                    },
                    Inst::GetScalar { ty, index, d, va } => {
                        let place = place(&val!(va), index.into());
                        // SAFETY: as above.
                        match place.and_then(|place| ty.unboxed(unsafe { &*place })) {
                            Some(slot) => set!(d, slot),
                            None => trap!(field_error(index.into())),
                        }
                    }
                    Inst::SetScalar { ty, index, a, va } => {
                        let value = ty.boxed(get!(a));
                        if !set_field(&val!(va), index.into(), value) {
                            trap!(field_error(index.into()));
                        }
                    }
                    Inst::SetVal { index, vb, va } => {
                        let value = val!(vb).clone();
                        if !set_field(&val!(va), index.into(), value) {
                            trap!(field_error(index.into()));
                        }
                    }

                    Inst::Scalar { function, d, a, b, c } => {
                        let function = code.functions[usize::from(function)];
                        match (function.call)(get!(a), get!(Reg::from(b)), get!(Reg::from(c))) {
                            Ok(slot) => set!(d, slot),
                            Err(trap) => trap!(trap.into()),
                        }
                    }
                    Inst::Eval { site } => check!(self.eval(code, site, s, v)),
                    Inst::Call { site } => {
                        count!();
                        let site = &code.calls[site as usize];
                        if self.frames.len() + 1 >= self.state.limits.depth {
                            trap!(self.too_deep());
                        }
                        let callee = match self.world.code_in(&site.code) {
                            Some(callee) => callee,
                            None => {
                                let callee = check!(self.compiled(site.callee));
                                site.code.set(callee);
                                callee
                            }
                        };
                        let callee_s = s + code.scalar_regs as usize;
                        let callee_v = v + code.val_regs as usize;
                        check!(self.push_frame(callee, callee_s, callee_v));
                        match &site.scalars {
                            Some(args) => {
                                for (i, &reg) in args.iter().enumerate() {
                                    let slot = self.scalars[s + reg as usize];
                                    self.scalars[callee_s + i] = slot;
                                }
                            }
                            None => {
                                check!(self.pass(code, &site.args, (s, v), (callee_s, callee_v)));
                            }
                        }
                        if let Some(native) = self.world.native(callee) {
                            run_native!(native, callee, callee_s, callee_v, site.direct);
                        }
                        let callee = check!(self.interpreted(callee, callee_s, callee_v));
                        enter!(callee, callee_s, callee_v, site.direct);
                    }
                    Inst::Apply { site } => {
                        count!();
                        if self.frames.len() + 1 >= self.state.limits.depth {
                            trap!(self.too_deep());
                        }
                        let site = &code.applies[site as usize];
                        let callee_s = s + code.scalar_regs as usize;
                        let callee_v = v + code.val_regs as usize;
                        let next = (callee_s, callee_v);
                        match check!(self.apply(code, site, (s, v), next)) {
                            Some(callee) => {
                                if let Some(native) = self.world.native(callee) {
                                    run_native!(native, callee, callee_s, callee_v, None);
                                }
                                let callee = check!(self.interpreted(callee, callee_s, callee_v));
                                enter!(callee, callee_s, callee_v, None);
                            }
                            // It has been run; what follows is counted from here.
                            None => from = pc + 1,
                        }
                    }

                    Inst::Try { to } => self.begin_try(to),
                    Inst::EndTry { .. } => self.end_try(),
                    Inst::Catch { vd } => {
                        if let Some(caught) = self.state.host.caught() {
                            assign(&mut self.vals[v + vd as usize], caught.value.clone());
                        }
                    }
                    Inst::EndCatch => self.state.host.handled(),
                    Inst::Chunks => {
                        if let Some(site) = &code.chunks {
                            self.state.native.fuel.set(fuel);
                            let made = self.run_chunks(code, site, (s, v));
                            fuel = self.state.native.fuel.get();
                            // SAFETY: the stack is as long as it was.
                            regs = unsafe { self.scalars.as_mut_ptr().add(s) };
                            if let Some(array) = check!(made) {
                                ret!(Returned::Val(array));
                            }
                        }
                    }
                    Inst::RecordStart { event } => {
                        let call = match self.frames.last() {
                            Some(frame) => frame.code.spots[frame.pc as usize].1,
                            None => Loc::UNKNOWN,
                        };
                        self.state.host.record_start(event, call);
                    }
                    Inst::RecordEnd { event } => self.state.host.record_end(event),

                    Inst::Return { a } => ret!(Returned::Scalar(get!(a))),
                    Inst::ReturnVal { va } => match self.frames.last() {
                        // Of native code, the innermost frame has no register for it.
                        Some(&Frame { direct, vals, .. }) if direct != NO_REG => {
                            count!();
                            if direct != NOWHERE {
                                let value = std::mem::replace(&mut val!(va), Val::Unit);
                                assign(&mut self.vals[vals + direct as usize], value);
                            }
                            leave!(Returned::Parts);
                            pc += 1;
                            from = pc;
                            continue;
                        }
                        _ => ret!(Returned::Val(std::mem::replace(&mut val!(va), Val::Unit))),
                    },
                    Inst::ReturnConst { index } => {
                        ret!(Returned::Val(code.vals[index as usize].clone()))
                    }
                    Inst::ReturnUnit => ret!(Returned::Val(Val::Unit)),
                    Inst::ReturnTuple { site } => {
                        let site = &code.evals[site as usize];
                        let result = check!(self.return_tuple(code, site, (s, v)));
                        ret!(result)
                    }
                    Inst::Unreachable => {
                        trap!(regraft_dialects::semantics::Trap::Unreachable.into())
                    }
                }
                pc += 1;
            }
            fuel = check!(self.state.refuel(fuel));
            if next <= pc
                && let Some(way) = self.world.way_into_loop(code, next)
            {
                let native = match way {
                    Way::Native(native) => native,
                    Way::Rest(rest) => {
                        let rest = check!(self.go_on(code, &rest, (s, v)));
                        (code, pc, from) = (rest, 0, 0);
                        // SAFETY: `push_frame` has made the stack longer than `s`.
                        regs = unsafe { self.scalars.as_mut_ptr().add(s) };
                        insts = code.insts.as_ptr();
                        continue;
                    }
                };
                let seen = self.native.left.total();
                self.state.native.fuel.set(fuel);
                let result = self.run_native(native, code, (s, v));
                fuel = self.state.native.fuel.get();
                match result {
                    Ok(result) => finish!(result),
                    Err(trap) => {
                        // The error has happened in this frame, which native code has noted as one that it left.
                        if self.native.left.total() > seen {
                            self.native.left.pop();
                            pc = self.native.failed_at;
                        }
                        trap!(trap)
                    }
                }
            }
            pc = next;
            from = next;
        }
    }
}
