//! Better code for what runs long: LLVM's, made while Cranelift's runs.
//!
//! # Method
//! Runs are asked at intervals to look up ([`ticker`](crate::native::ticker)); they do so where a loop goes back and where
//! a function begins. Each look counts for the unit of the function at work. When a unit has taken as long as LLVM is expected to take for it, its code is
//! ordered from [another thread](Order): whatever a program does, this costs at most twice what would have been best (the
//! ski rental problem; Karlin, Manasse, Rudolph and Sleator, "Competitive Snoopy Caching", 1988). Once it is there, calls go
//! to it, and a loop at work goes on in it at its header, if it is one that was seen.
//!
//! Both codes are made of the same compact code, so results are the same.

use std::rc::Rc;

use super::code::Code;
use super::inst::Pc;
use super::machine::runtime;
use super::native::Member;
use super::tiering::Tiering;
use super::world::World;
use crate::engine::EngineKind;
use crate::native::{Compiled, Delivery, Loop, MachineCode, Native, Order, Unit};

impl World {
    /// Looks up from code at work, at the header of a loop or where a function begins. Gives the way into better
    /// code at the header.
    #[cold]
    pub(super) fn look_up(&self, code: &Code, header: Option<Pc>) -> Option<Compiled> {
        let tiering = self.natives.tiering.as_ref().filter(|tiering| !tiering.is_over())?;
        self.install_delivered(tiering);
        let at = header.map(|header| (code.slot, header));
        let found = at.and_then(|at| self.compiled_at(at, Some(EngineKind::Llvm)));
        if found.is_some() {
            return found;
        }
        let (number, size) = {
            let units = self.natives.units.borrow();
            let unit = units.iter().find(|unit| unit.members.contains(&code.slot))?;
            (unit.number, unit.size)
        };
        if !tiering.count(number, size, at) {
            return None;
        }
        // A unit that cannot be ordered counts as ordered, and stays as it is.
        let order = self.order(tiering, number, at)?;
        if tiering.place(order) {
            self.install_delivered(tiering);
        }
        at.and_then(|at| self.compiled_at(at, Some(EngineKind::Llvm)))
    }

    /// An order of better code for a unit, which can begin at a loop as well.
    fn order(&self, tiering: &Tiering, number: u64, at: Option<Loop>) -> Option<Order> {
        let members = self.members_of(number)?;
        let (callee, runtime) = (self.callees(&members, false), runtime());
        let mut sources = self.sources(&members, &callee, &runtime, false);
        if let Some((slot, header)) = at {
            let member = members.iter().position(|member| member.code.slot == slot)?;
            let mut source = sources[member];
            source.start = Some(header);
            sources.push(source);
        }
        Some(Order::new(number, &sources, &tiering.sender, &tiering.is_cancelled))
    }

    /// The members of a unit that there is code for.
    fn members_of(&self, number: u64) -> Option<Vec<Member<'_>>> {
        let units = self.natives.units.borrow();
        let unit = units.iter().find(|unit| unit.number == number)?;
        let member = |&slot: &u32| self.optimized(self.slot(slot).code.get()?);
        unit.members.iter().map(member).collect()
    }

    fn install_delivered(&self, tiering: &Tiering) {
        tiering.delivered().into_iter().for_each(|delivery| self.install(tiering, delivery));
    }

    /// Lets calls run the code of a delivery. It is of no use if the unit is gone.
    fn install(&self, tiering: &Tiering, Delivery { unit, code }: Delivery) {
        let at = tiering.settle(unit, code.is_some());
        let (Some(at), Some((code, compiled))) = (at, code) else { return };
        let code: Rc<dyn MachineCode> = Rc::from(code as Box<dyn MachineCode>);
        let mut units = self.natives.units.borrow_mut();
        let Some(before) = units.iter().find(|before| before.number == unit) else { return };
        let (members, callees) = (before.members.clone(), before.callees.clone());
        for (&slot, &compiled) in members.iter().zip(&compiled) {
            if let Some(code) = self.slot(slot).code.get() {
                code.native.set(Native::Ready(compiled));
                code.body.set(compiled.body);
            }
        }
        let at_loop = at.zip(compiled.get(members.len()).copied());
        let (number, size) = (self.natives.next_unit(), before.size);
        let by = EngineKind::Llvm;
        units.push(Unit { number, members, callees, by, size, at_loop, _code: code });
    }
}
