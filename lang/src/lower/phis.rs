//! Finds the block parameters that remain, and the variables that may be undefined.
//!
//! Parameters that stand for one value are found optimistically: each is taken to be whatever its
//! arguments agree on, until they do not. This leaves as few as there can be, in irreducible
//! graphs too (the sets of section 3.2 of Braun et al. 2013 are found at once). A parameter that
//! is not used goes. Those of a loop stand in the order in which the loop assigns its variables.
//!
//! A check that a variable is defined is kept where a path without an assignment leads to it; it
//! asks a flag, which is a parameter beside the one that holds the value.
//!
//! O(size), times the number of passes over the parameters, which is small for code without `@goto`.

use regraft_ir::ssa::Phi;

use super::blocks::table;
use super::finish::Finish;
use super::ssa::{Body, Special, Term, Val, ValKind};

const NO_FLAG: u32 = u32::MAX;

impl Finish {
    /// Leaves the parameters that are needed, in order.
    pub(super) fn settle(&mut self, body: &mut Body) {
        self.merge_equal(body);
        self.find_undefined(body);
        self.mark_used(body);
        self.sort(body);
    }

    fn merge_equal(&mut self, body: &mut Body) {
        // Where control meets in an orderly way, looking at each until nothing changes is enough.
        let Body { ssa, blocks, .. } = body;
        ssa.simplify_all(|ssa, phi| blocks[ssa.phi(phi).block.0 as usize].alive);
        let count = body.ssa.phi_count();
        if !body.has_labels {
            return;
        }
        let left: Vec<u32> = (0..count).filter(|&phi| body.is_live_phi(phi)).collect();
        let value = &mut self.phis.value;
        value.clear();
        value.resize(body.ssa.phi_count() as usize, Val::UNDEF);
        // `known` tells "nothing yet" from "undefined".
        let mut known = vec![false; body.ssa.phi_count() as usize];
        let mut changes = vec![0u8; body.ssa.phi_count() as usize];
        let mut again = true;
        while again {
            again = false;
            for &phi in &left {
                let own = Val::phi(phi);
                if known[phi as usize] && value[phi as usize] == own {
                    continue;
                }
                let mut meet: Option<Val> = None;
                for i in 0..body.ssa.phi(phi).args.len() {
                    let arg = body.ssa.phi(phi).args[i];
                    let mut arg = body.find(arg);
                    if let ValKind::Phi(index) = arg.kind() {
                        if !known[index as usize] {
                            continue;
                        }
                        arg = value[index as usize];
                    }
                    if arg == own {
                        continue;
                    }
                    match meet {
                        None => meet = Some(arg),
                        Some(other) if other == arg => {}
                        Some(_) => meet = Some(own),
                    }
                    if meet == Some(own) {
                        break;
                    }
                }
                let Some(mut new) = meet else { continue };
                let at = phi as usize;
                if known[at] && value[at] == new {
                    continue;
                }
                changes[at] += 1;
                if changes[at] > 8 {
                    new = own;
                }
                (known[at], value[at]) = (true, new);
                again = true;
            }
        }
        for &phi in &left {
            // One that nothing flows into stands in code that is not reached.
            let new = if known[phi as usize] { value[phi as usize] } else { Val::UNDEF };
            if new != Val::phi(phi) {
                body.ssa.forward(phi, new);
            }
        }
    }

    /// Finds the parameters that may have no value: those that [`Val::UNDEF`] flows into.
    fn find_undefined(&mut self, body: &mut Body) {
        let tables = &mut self.phis;
        table(&mut tables.maybe_undef, body.ssa.phi_count() as usize, false);
        let mut again = true;
        let mut backwards = false;
        while again {
            again = false;
            let count = body.ssa.phi_count();
            for i in 0..count {
                let phi = if backwards { count - 1 - i } else { i };
                if tables.maybe_undef[phi as usize] || !body.is_live_phi(phi) {
                    continue;
                }
                let undefined = (0..body.ssa.phi(phi).args.len()).any(|i| {
                    let arg = body.ssa.phi(phi).args[i];
                    match body.find(arg).kind() {
                        ValKind::Undef => true,
                        ValKind::Phi(index) => tables.maybe_undef[index as usize],
                        _ => false,
                    }
                });
                if undefined {
                    tables.maybe_undef[phi as usize] = true;
                    again = true;
                }
            }
            backwards = !backwards;
        }
    }

    /// Marks the parameters that something uses, and makes the flags that checks ask.
    fn mark_used(&mut self, body: &mut Body) {
        let count = body.ssa.phi_count() as usize;
        table(&mut self.phis.used, count, false);
        table(&mut self.phis.flags, count, NO_FLAG);
        self.phis.work.clear();
        table(&mut self.phis.is_flag, count, false);
        for i in 0..body.layout.len() {
            let block = body.layout[i].0 as usize;
            let (start, end) = body.blocks[block].insts;
            for index in start..end {
                let inst = body.insts[index as usize];
                if inst.special == Special::Check {
                    self.keep_check(body, inst.start as usize);
                    continue;
                }
                for at in inst.start..inst.start + inst.len {
                    let value = body.operands[at as usize];
                    self.use_value(body, value);
                }
            }
            if let Term::Branch(value, _) | Term::Return(value) = body.blocks[block].term {
                self.use_value(body, value);
            }
        }
        while let Some(phi) = self.phis.work.pop() {
            for i in 0..body.ssa.phi(phi).args.len() {
                let arg = body.ssa.phi(phi).args[i];
                self.use_value(body, arg);
            }
        }
    }

    fn use_value(&mut self, body: &mut Body, value: Val) {
        if let ValKind::Phi(index) = body.find(value).kind()
            && !std::mem::replace(&mut self.phis.used[index as usize], true)
        {
            self.phis.work.push(index);
        }
    }

    /// Replaces the first operand of a check, the value of a variable, by the flag that tells
    /// whether it is there: `true` if that is sure.
    fn keep_check(&mut self, body: &mut Body, operand: usize) {
        let value = body.find(body.operands[operand]);
        let flag = self.flag(body, value);
        body.operands[operand] = flag;
        self.use_value(body, flag);
    }

    fn flag(&mut self, body: &mut Body, value: Val) -> Val {
        let first = match self.flag_of(value) {
            Ok(flag) => return flag,
            Err(phi) => phi,
        };
        let flag = self.new_flag(body, first);
        let mut work = vec![first];
        while let Some(phi) = work.pop() {
            let own = self.phis.flags[phi as usize];
            for i in 0..body.ssa.phi(phi).args.len() {
                let arg = body.ssa.phi(phi).args[i];
                let arg = body.find(arg);
                let arg = self.flag_of(arg).unwrap_or_else(|inner| {
                    work.push(inner);
                    self.new_flag(body, inner)
                });
                body.ssa.args_mut(own).push(arg);
            }
        }
        flag
    }

    /// Returns whether a value is there, or the parameter that has no flag yet.
    fn flag_of(&self, value: Val) -> Result<Val, u32> {
        match value.kind() {
            ValKind::Undef => Ok(self.no),
            ValKind::Phi(phi) if self.phis.maybe_undef[phi as usize] => {
                match self.phis.flags[phi as usize] {
                    NO_FLAG => Err(phi),
                    flag => Ok(Val::phi(flag)),
                }
            }
            _ => Ok(self.yes),
        }
    }

    fn new_flag(&mut self, body: &mut Body, phi: u32) -> Val {
        let Phi { block, variable, .. } = *body.ssa.phi(phi);
        let flag = body.ssa.add_phi(block, variable);
        self.phis.flags[phi as usize] = flag;
        self.phis.flags.push(NO_FLAG);
        self.phis.used.push(false);
        self.phis.maybe_undef.push(false);
        self.phis.is_flag.push(true);
        Val::phi(flag)
    }

    /// Drops the parameters that are not used and puts the others in order.
    fn sort(&mut self, body: &mut Body) {
        let slots = body.slot_names.len();
        table(&mut self.stamps, slots, u32::MAX);
        for i in 0..body.layout.len() {
            let block = body.layout[i];
            let mut phis = body.ssa.take_phis_of(block);
            phis.retain(|phi| self.phis.used[*phi as usize] && body.is_live_phi(*phi));
            if phis.len() > 1 {
                let (start, end) = body.blocks[block.0 as usize].order;
                let order = &body.orders[start as usize..end as usize];
                for (at, slot) in order.iter().enumerate() {
                    self.stamps[slot.0 as usize] = at as u32;
                }
                phis.sort_by_key(|&phi| {
                    let slot = body.ssa.phi(phi).variable.0;
                    (self.stamps[slot as usize], slot, phi)
                });
                for slot in order {
                    self.stamps[slot.0 as usize] = u32::MAX;
                }
            }
            body.ssa.set_phis_of(block, phis);
        }
    }
}
