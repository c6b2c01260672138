//! The native code of a world: which functions have some, and when it is made and dropped.
//!
//! Code that waits for being worth it runs in the interpreter, which counts its calls, and looks at it each time when it has run some
//! thousand instructions. Native code takes over where a function is called, and where a loop at work goes back. For
//! that, the frame has to be one of the form that native code is made of: a loop in another form goes on in
//! the rest of its function first ([`continuation`](super::continuation)), and what has no such rest is interpreted in that form
//! from the beginning.
//!
//! A function is compiled together with all that it calls directly, so that they call each other without a
//! detour; what is only called where an error is about to be thrown is left to the interpreter. Native code
//! is made of the optimized form of a function, if the call resolver has one. A unit is dropped as a whole as soon as one
//! of its functions, or one that it calls, is no longer what it was.

use std::rc::Rc;
use std::sync::Arc;

use regraft_ir::{Function, Module};
use rustc_hash::{FxHashMap, FxHashSet};

use super::code::{CallSite, ChunkSite, Code};
use super::compile::compile;
use super::inst::{Inst, Pc};
use super::machine::runtime;
use super::operands::targets;
use super::register::Scalar;
use super::workers::Kernel;
use super::world::{Optimized, Way, World};
use crate::engine::{EngineKind, Tiers};
use crate::native::{
    Backend, Callee, Compiled, Loop, Native, Runtime, Source, Target, Unit, obstacle,
};

/// The heat at which a function is compiled. A call counts 1.
pub(super) const HOT: u32 = 100;

/// The heat of a look at a loop in the interpreter, every [`SLICE`](super::machine::SLICE) instructions. To compile
/// ten instructions takes as long as to run one slice.
const LOOK: u32 = 10;

/// The most instructions of a unit.
const LARGE_UNIT: usize = 20_000;

/// A function of a unit.
pub(super) struct Member<'a> {
    /// The code that the interpreter runs, which remembers the native code.
    own: &'a Code,
    /// The form that native code is made of.
    pub(super) code: &'a Code,
    f: &'a Function,
}

impl World {
    /// The state of code that has just been made.
    pub(super) fn native_at_first(&self) -> Native {
        if self.natives.backend.is_some() { Native::Untried(0) } else { Native::Refused }
    }

    /// The native code of a function, if it is worth it and possible.
    #[inline]
    pub(super) fn native(&self, code: &Code) -> Option<Compiled> {
        match code.native.get() {
            Native::Refused => None,
            Native::Ready(compiled) => Some(compiled),
            Native::Untried(calls) => self.consider(code, calls),
        }
    }

    #[cold]
    fn consider(&self, code: &Code, heat: u32) -> Option<Compiled> {
        let is_first = heat == 0 && self.natives.waits();
        let is_interpreted = is_first && code.has_loop();
        if is_interpreted && !self.may_continue(code) && !self.choose_form(code) {
            code.native.set(Native::Refused);
            return None;
        }
        if is_interpreted || heat < self.natives.hot(HOT) {
            code.native.set(Native::Untried(heat + 1));
            return None;
        }
        self.compile_now(code)
    }

    /// Compiles a function that has no native code yet.
    pub(super) fn compile_now(&self, code: &Code) -> Option<Compiled> {
        if let Native::Untried(_) = code.native.get() {
            self.compile_unit(code, None);
        }
        match code.native.get() {
            Native::Ready(compiled) => Some(compiled),
            _ => {
                code.native.set(Native::Refused);
                None
            }
        }
    }

    /// Lets the interpreter run the form of a function that native code is made of, until there is some. Returns
    /// whether there can be some.
    fn choose_form(&self, own: &Code) -> bool {
        let member = self.optimized(own).filter(|member| obstacle(member.code).is_none());
        if let Some(member) = &member {
            own.interpreted.set(member.code);
        }
        member.is_some()
    }

    /// The code that a loop goes on in which the interpreter has run for another slice, in a frame of `code`, if
    /// it is worth it and possible.
    #[cold]
    pub(super) fn way_into_loop(&self, code: &Code, header: Pc) -> Option<Way> {
        let own = self.slot(code.slot).code.get().filter(|_| self.natives.waits())?;
        match own.native.get() {
            Native::Refused => return None,
            Native::Untried(heat) => {
                let heat = heat.saturating_add(LOOK);
                own.native.set(Native::Untried(heat));
                if heat < self.natives.hot(HOT + code.insts.len() as u32) {
                    return None;
                }
            }
            Native::Ready(_) => {}
        }
        if let Some(rest) = self.continued(own, code, header) {
            return Some(Way::Rest(rest));
        }
        let at = (code.slot, header);
        let compiled = self.compiled_at(at, None).or_else(|| {
            self.compile_unit(own, Some((code, header)));
            let compiled = self.compiled_at(at, None);
            if compiled.is_none() {
                own.native.set(Native::Refused);
            }
            compiled
        });
        compiled.map(Way::Native)
    }

    /// The way into a loop in code that some compiler has made, or one.
    pub(super) fn compiled_at(&self, at: Loop, by: Option<EngineKind>) -> Option<Compiled> {
        let units = self.natives.units.borrow();
        let mut units = units.iter().rev().filter(|unit| by.is_none_or(|by| unit.by == by));
        let is_there = |unit: &Unit| unit.at_loop.filter(|&(there, _)| there == at);
        units.find_map(is_there).map(|(_, compiled)| compiled)
    }

    /// Compiles a function, and all that it calls directly; with another way in, at the header of a loop in the form that
    /// the interpreter runs.
    fn compile_unit(&self, root: &Code, at: Option<(&Code, Pc)>) {
        let Some(backend) = &self.natives.backend else { return };
        if self.find(root.name) != Some(root.slot) {
            // It runs once, and what it calls is to be there when it is gone.
            let callees = root.warm_calls().filter_map(|site| self.code(site.callee).ok());
            let untried = |callee: &&Code| matches!(callee.native.get(), Native::Untried(_));
            callees.filter(untried).for_each(|callee| self.compile_unit(callee, None));
        }
        let members = self.members(root);
        let started = at.and_then(|(code, header)| {
            let is_own = std::ptr::eq(code, root);
            let form = if is_own { self.unchanged(root) } else { self.optimized(root) };
            Some((form.filter(|form| std::ptr::eq(form.code, code))?, header))
        });
        let started = started.filter(|(form, _)| obstacle(form.code).is_none());
        if members.is_empty() && started.is_none() {
            return;
        }
        let is_replaceable = self.natives.are_replaceable();
        let (callee, runtime) = (self.callees(&members, is_replaceable), runtime());
        let mut sources = self.sources(&members, &callee, &runtime, is_replaceable);
        if let Some((Member { code, f, .. }, header)) = &started {
            let (counted, start) = (self.natives.counted, Some(*header));
            let (callee, runtime) = (&callee, &runtime);
            sources.push(Source { code, f, callee, runtime, counted, is_replaceable, start });
        }
        // A back end refuses what is too large for it: the interpreter runs it then.
        let Ok((machine_code, compiled)) = backend.compile(&sources) else { return };
        for (member, &compiled) in members.iter().zip(&compiled) {
            member.own.native.set(Native::Ready(compiled));
            member.own.body.set(compiled.body);
        }
        let at_loop = started.as_ref().zip(compiled.get(members.len()));
        let at_loop = at_loop.map(|(&(_, header), &compiled)| ((root.slot, header), compiled));
        let started = started.iter().map(|(form, _)| form);
        let others =
            started.filter(|form| members.iter().all(|member| member.own.slot != form.own.slot));
        let members: Vec<&Member<'_>> = members.iter().chain(others).collect();
        let size = members.iter().map(|member| member.code.insts.len()).sum();
        let codes = members.iter().flat_map(|member| [member.own, member.code]);
        let callees = codes.flat_map(|code| code.calls.iter().map(|site| site.callee)).collect();
        let members = members.iter().map(|member| member.own.slot).collect();
        let number = self.natives.next_unit();
        let by = match self.natives.engine {
            EngineKind::Auto => EngineKind::Cranelift,
            engine => engine,
        };
        let unit = Unit { number, members, callees, by, size, at_loop, _code: machine_code };
        self.natives.units.borrow_mut().push(unit);
    }

    /// Finds the code of a function that members of a unit call: in the unit, or elsewhere. Code that is
    /// replaceable is found when it is called.
    pub(super) fn callees(
        &self,
        members: &[Member<'_>],
        is_replaceable: bool,
    ) -> impl Fn(u32) -> Option<Callee> {
        let numbers: FxHashMap<u32, u32> =
            members.iter().zip(0..).map(|(member, number)| (member.own.slot, number)).collect();
        move |slot| {
            let code = self.slot(slot).code.get()?;
            let target = match (numbers.get(&slot), code.native.get()) {
                (Some(&number), _) if !is_replaceable => Target::Member(number),
                (Some(_), _) => Target::Cell(&raw const code.body),
                (None, Native::Ready(_)) if self.natives.are_replaceable() => {
                    Target::Cell(&raw const code.body)
                }
                (None, Native::Ready(compiled)) => Target::Address(compiled.body),
                _ => return None,
            };
            Some(Callee { target, result: Scalar::of(code.ret) })
        }
    }

    /// The sources of functions for their translation.
    pub(super) fn sources<'a>(
        &'a self,
        members: &[Member<'a>],
        callee: &'a dyn Fn(u32) -> Option<Callee>,
        runtime: &'a Runtime,
        is_replaceable: bool,
    ) -> Vec<Source<'a>> {
        let (counted, start) = (self.natives.counted, None);
        let source = |&Member { code, f, .. }: &Member<'a>| Source {
            code,
            f,
            callee,
            runtime,
            counted,
            is_replaceable,
            start,
        };
        members.iter().map(source).collect()
    }

    /// The function of code as it is.
    pub(super) fn unchanged<'a>(&'a self, own: &'a Code) -> Option<Member<'a>> {
        let f = &*self.slot(own.slot).function.get()?.function;
        Some(Member { own, code: own, f })
    }

    /// The function of code in the form that native code is made of.
    pub(super) fn optimized<'a>(&'a self, own: &'a Code) -> Option<Member<'a>> {
        let slot = self.slot(own.slot);
        let form = slot.optimized.get_or_init(|| {
            // Of a module it may be another function of that name.
            slot.function.get().filter(|held| held.is_resolved)?;
            let function = self.resolver.borrow_mut().as_mut()?.optimized(own.name)?;
            // What cannot be compiled makes its error where it is called.
            let code = Box::new(compile(self, &function, own.slot).ok()?);
            Some(Optimized { function, code })
        });
        match form {
            Some(Optimized { function, code }) => Some(Member { own, code, f: function }),
            None => self.unchanged(own),
        }
    }

    /// The functions of a unit: a function, and all that it calls and that have no code yet.
    fn members<'a>(&'a self, root: &'a Code) -> Vec<Member<'a>> {
        let (mut members, mut seen) = (Vec::new(), FxHashSet::default());
        let (mut pending, mut size) = (vec![root], 0);
        while let Some(code) = pending.pop() {
            if !matches!(code.native.get(), Native::Untried(_)) || !seen.insert(code.slot) {
                continue;
            }
            let member = self.optimized(code).filter(|member| obstacle(member.code).is_none());
            let Some(member) = member else {
                code.native.set(Native::Refused);
                continue;
            };
            size += member.code.insts.len();
            if size > LARGE_UNIT && !members.is_empty() {
                break;
            }
            // What cannot be compiled makes its error when it is called.
            pending.extend(member.code.warm_calls().filter_map(|site| self.code(site.callee).ok()));
            members.push(member);
        }
        members
    }

    /// The kernel of a function that runs in chunks, if other threads may run it: its slot, and what they run.
    pub(super) fn shared_kernel(&self, site: &ChunkSite) -> Option<(u32, Arc<Kernel>)> {
        self.natives.backend.as_ref()?;
        let shared = site.shared.get_or_init(|| {
            let name = self.slot(site.kernel).name;
            let may_share = match &mut *self.resolver.borrow_mut() {
                Some(resolver) => resolver.may_share(name),
                None => false,
            };
            let module = if may_share { self.module_of_calls(site.kernel)? } else { return None };
            Some(Arc::new(Kernel::new(module, name, self.natives.engine)))
        });
        Some((site.kernel, shared.clone()?))
    }

    /// A module of a function and all that it calls but to make an error, in the forms that native code is made of.
    /// `None` if something is recorded.
    fn module_of_calls(&self, root: u32) -> Option<Module> {
        let (mut functions, mut seen) = (Vec::new(), FxHashSet::default());
        let mut pending = vec![root];
        while let Some(slot) = pending.pop() {
            if !seen.insert(slot) {
                continue;
            }
            // What cannot be compiled makes its error when it is called.
            let Ok(code) = self.code(slot) else { continue };
            let member = self.optimized(code)?;
            if member.code.insts.iter().any(|inst| matches!(inst, Inst::RecordStart { .. })) {
                return None;
            }
            pending.extend(member.code.warm_calls().map(|site| site.callee));
            functions.push(member.f.clone());
        }
        Module::of_functions(&self.ctx, functions).ok()
    }

    /// Drops the native code of functions that are gone, and of all that calls it.
    pub(super) fn drop_natives(&mut self, gone: impl Fn(u32) -> bool) {
        let units = self.natives.units.get_mut();
        if units.is_empty() {
            return;
        }
        let mut dropped: FxHashSet<u32> = FxHashSet::default();
        let mut gone_units = Vec::new();
        loop {
            let before = units.len();
            units.retain(|unit| {
                let mut slots = unit.members.iter().chain(&unit.callees);
                let stays = !slots.any(|&slot| gone(slot) || dropped.contains(&slot));
                if !stays {
                    dropped.extend(&unit.members);
                    gone_units.push(unit.number);
                }
                stays
            });
            if units.len() == before {
                break;
            }
        }
        self.natives.forget(&gone_units);
        for slot in dropped {
            if let Some(code) = self.slot(slot).code.get() {
                code.native.set(Native::Untried(0));
            }
        }
    }

    /// Sets the back end; what was compiled before is dropped.
    pub(super) fn set_backend(
        &mut self,
        backend: Option<Rc<dyn Backend>>,
        engine: EngineKind,
        tiers: Tiers,
    ) {
        self.drop_natives(|_| true);
        self.natives.set_tiers(tiers);
        self.natives.backend = backend;
        self.natives.engine = engine;
        for number in 0..self.slots.count() {
            let code = self.slots.get_mut(number).and_then(|slot| slot.code.get_mut());
            let site = code.and_then(|code| code.chunks.as_mut());
            site.into_iter().for_each(|site| drop(site.shared.take()));
        }
        self.reset_natives();
    }

    /// Says whether code counts the instructions that it runs.
    pub(super) fn set_counted(&mut self, counted: bool) {
        if self.natives.counted != counted {
            self.natives.counted = counted;
            self.drop_natives(|_| true);
            self.reset_natives();
        }
    }

    fn reset_natives(&self) {
        let state = self.native_at_first();
        for (_, slot) in &self.slots {
            if let Some(code) = slot.code.get() {
                code.native.set(state);
                code.interpreted.clear();
            }
        }
    }
}

impl Code {
    /// The calls, the last first, without those in blocks that end with an error.
    fn warm_calls(&self) -> impl Iterator<Item = &CallSite> {
        let ends = self.ends_with_error();
        self.insts.iter().zip(ends).rev().filter_map(move |(&inst, ends)| match inst {
            Inst::Call { site } if !ends => Some(&self.calls[site as usize]),
            _ => None,
        })
    }

    /// By instruction: true if nothing comes after it but an error, without a branch.
    pub(crate) fn ends_with_error(&self) -> Vec<bool> {
        let mut ends = false;
        let backwards = self.insts.iter().rev().map(|&inst| {
            if !inst.goes_on() || !targets(inst, &self.switches).is_empty() {
                ends = matches!(inst, Inst::Unreachable);
            }
            ends
        });
        let mut all: Vec<bool> = backwards.collect();
        all.reverse();
        all
    }
}
