//! Registers for values that only their own block uses, which share them.
//!
//! A block is walked once: a value takes a register that is free, and its last use gives it back.
//! At the end of a block all of them are free again. So a frame is as large as what is alive across
//! blocks and the widest block, and deep recursion takes little memory.
//!
//! An instruction may write to the register of one of its operands, as all instructions read
//! before they write. What a fused comparison reads is used at the end of the block.

use regraft_dialects::core;
use regraft_ir::{Block, Value, ValueDef};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::register::{Class, Dst, Reg, Scalar};
use super::Compiler;

/// Stands for a register that is chosen here.
pub(super) const LATER: Reg = Reg::MAX;

/// The registers of one file that local values share.
#[derive(Default)]
struct Pool {
    all: Vec<Reg>,
    free: Vec<Reg>,
}

impl Pool {
    fn start_block(&mut self) {
        self.free.clear();
        self.free.extend(self.all.iter().rev());
    }

    fn take(&mut self, new: impl FnOnce() -> Reg) -> Reg {
        self.free.pop().unwrap_or_else(|| {
            let reg = new();
            self.all.push(reg);
            reg
        })
    }
}

/// The pools of scalar registers, by class.
#[derive(Default)]
struct Scalars([Pool; 3]);

impl Scalars {
    fn of(&mut self, class: Class) -> &mut Pool {
        &mut self.0[class as usize]
    }
}

impl Compiler<'_> {
    /// Says that a value gets its register by [`Self::assign_locals`], if it is local.
    pub(super) fn assign_later(&mut self, v: Value) {
        if !self.is_kept(v) || !self.is_local(v) {
            self.assign(v);
            return;
        }
        self.dsts[v.index()] = match Scalar::of(self.f.ty(v)) {
            Some(scalar) => Dst::Scalar(scalar, LATER),
            None => Dst::Val(LATER),
        };
    }

    /// Gives registers to the values that are still to get one. O(instructions and operands).
    pub(super) fn assign_locals(&mut self) {
        let (mut scalars, mut vals) = (Scalars::default(), Pool::default());
        for i in 0..self.blocks.len() {
            scalars.0.iter_mut().for_each(Pool::start_block);
            vals.start_block();
            self.assign_locals_of(self.blocks[i], &mut scalars, &mut vals);
        }
    }

    fn assign_locals_of(&mut self, block: Block, scalars: &mut Scalars, vals: &mut Pool) {
        let f = self.f;
        // Uses of the local values of this block that are still to come.
        let mut left: FxHashMap<Value, usize> = FxHashMap::default();
        for v in self.order(block) {
            let fused = self.is_fused(v);
            let mut done: SmallVec<[Dst; 4]> = SmallVec::new();
            if !fused {
                for operand in f.operands(v) {
                    let Some(used) = operand.as_value() else { continue };
                    let Some(count) = left.get_mut(&used) else { continue };
                    *count -= 1;
                    if *count == 0 {
                        left.remove(&used);
                        done.push(self.dsts[used.index()]);
                    }
                }
            }
            // A handler takes its arguments when the body has its result.
            let keeps_operands = f.op(v) == Some(core::TRY);
            if !keeps_operands {
                done.drain(..).for_each(|dst| release(dst, scalars, vals));
            }
            let dst = match self.dsts[v.index()] {
                Dst::Scalar(ty, LATER) => {
                    let class = ty.class();
                    Dst::Scalar(ty, scalars.of(class).take(|| self.new_scalar(class)))
                }
                Dst::Val(LATER) => Dst::Val(vals.take(|| self.new_val())),
                dst => dst,
            };
            done.into_iter().for_each(|dst| release(dst, scalars, vals));
            if dst == self.dsts[v.index()] {
                continue;
            }
            debug_assert!(f.def(v) == ValueDef::Inst(block));
            self.dsts[v.index()] = dst;
            match f.uses(v).count() {
                0 => release(dst, scalars, vals),
                count => drop(left.insert(v, count)),
            }
        }
    }
}

fn release(dst: Dst, scalars: &mut Scalars, vals: &mut Pool) {
    match dst {
        Dst::Scalar(ty, reg) => scalars.of(ty.class()).free.push(reg),
        Dst::Val(reg) => vals.free.push(reg),
        Dst::Nowhere => {}
    }
}
