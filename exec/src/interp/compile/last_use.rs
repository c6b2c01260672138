//! Releases values at their last use.
//!
//! ```text
//! v1 = eval mem.copy(v0)                    v1 = eval mem.copy(last v0)
//! v2 = eval mem.copy(v1)            ==>     v2 = eval mem.copy(last v1)
//! s0 = LoadF v2, s1                         s0 = LoadF v2, s1
//!                                           Drop v2
//! ```
//!
//! An operand that is not needed afterwards is moved out of its register instead of being cloned. An
//! instruction that only looks at its operand is followed by an [`Inst::Drop`]. A block begins with
//! one for each value that the block before it needs on another way only. A result that nobody needs
//! is not stored. Scalars have registers of their own and cost nothing.
//!
//! # Method
//! Liveness of registers, by path exploration for one register after the other (Boissinot, Brandner,
//! Darte, Dupont de Dinechin and Rastello, "Computing Liveness Sets for SSA-Form Programs", 2011,
//! section 4.2). It works on the compact code, where registers are shared, comparisons fused and
//! copies of edges sequenced. A loop header drops nothing, as it would do so in each iteration.
//!
//! # Cost
//! O(n log n) in operands, and the live registers of the blocks; nothing without such registers.

use regraft_ir::{Type, TypeKind, Value};
use smallvec::SmallVec;

use super::super::inst::{Arg, Inst, Pc};
use super::super::operands::targets;
use super::super::register::{Dst, Reg, Src};
use super::Compiler;
use super::control::set_target;

/// Registers of values.
type Regs = SmallVec<[Reg; 4]>;

/// A basic block of the compact code.
#[derive(Default)]
struct Block {
    start: usize,
    end: usize,
    predecessors: Vec<usize>,
    /// The registers that are live where it begins and where it ends, in order.
    live_in: Vec<Reg>,
    live_out: Vec<Reg>,
}

impl Compiler<'_> {
    /// Lets go of values at their last use. All else is compiled before.
    pub(super) fn release_last_uses(&mut self) {
        if self.val_regs == 0 {
            return;
        }
        let mut blocks = self.code_blocks();
        self.find_live(&mut blocks);
        let owning = self.owning_regs();
        let owns = |reg: &Reg| owning[*reg as usize];
        let mut live = vec![false; self.val_regs as usize];
        // By instruction: what is dropped before it.
        let mut drops: Vec<Regs> = vec![Regs::new(); self.insts.len()];
        let mut headers = vec![false; self.insts.len()];
        for (index, block) in blocks.iter().enumerate() {
            block.live_out.iter().for_each(|&reg| live[reg as usize] = true);
            for pc in (block.start..block.end).rev() {
                for reg in self.mark(pc, &mut live).into_iter().filter(owns) {
                    drops[pc + 1].push(reg);
                }
            }
            if block.predecessors.iter().all(|&from| from < index) {
                let before = block.predecessors.iter().flat_map(|&from| &blocks[from].live_out);
                let before = before.copied().filter(|reg| owns(reg) && !live[*reg as usize]);
                drops[block.start].extend(before);
            } else {
                headers[block.start] = true;
            }
            block.live_in.iter().for_each(|&reg| live[reg as usize] = false);
        }
        self.insert_drops(drops, &headers);
    }

    /// Returns by register whether it may ever hold memory.
    fn owning_regs(&self) -> Vec<bool> {
        let mut owning = vec![false; self.val_regs as usize];
        let values = self.blocks.iter().flat_map(|&b| self.f.params(b).chain(self.f.body(b)));
        for v in values {
            if let Dst::Val(reg) = self.dsts[v.index()]
                && let Some(owns) = owning.get_mut(reg as usize)
            {
                *owns |= self.may_own(v);
            }
        }
        owning
    }

    fn may_own(&self, v: Value) -> bool {
        let ty = self.f.ty(v);
        match self.f.ctx().kind(ty) {
            TypeKind::Builtin => ty == Type::ANY,
            TypeKind::Fn(_) | TypeKind::Val(_) | TypeKind::TypeOf(_) => false,
            _ => true,
        }
    }

    /// The basic blocks in order, without live registers.
    fn code_blocks(&self) -> Vec<Block> {
        let len = self.insts.len();
        let mut starts = vec![false; len + 1];
        (starts[0], starts[len]) = (true, true);
        for (pc, &inst) in self.insts.iter().enumerate() {
            let targets = targets(inst, &self.switches);
            starts[pc + 1] |= !targets.is_empty() || !inst.goes_on();
            targets.iter().for_each(|&to| starts[to as usize] = true);
        }
        let starts: Vec<usize> = (0..=len).filter(|&pc| starts[pc]).collect();
        let block = |ends: &[usize]| Block { start: ends[0], end: ends[1], ..Block::default() };
        let mut blocks: Vec<Block> = starts.windows(2).map(block).collect();
        for from in 0..blocks.len() {
            let last = self.insts[blocks[from].end - 1];
            for to in targets(last, &self.switches) {
                if let Ok(to) = starts.binary_search(&(to as usize)) {
                    blocks[to].predecessors.push(from);
                }
            }
            if last.goes_on() && from + 1 < blocks.len() {
                blocks[from + 1].predecessors.push(from);
            }
        }
        blocks
    }

    /// Finds the live registers of all blocks.
    fn find_live(&mut self, blocks: &mut [Block]) {
        // Each register with the blocks that write it, and with those that read it before.
        let (mut written, mut read) = (Vec::new(), Vec::new());
        let mut written_in = vec![usize::MAX; self.val_regs as usize];
        for (index, block) in blocks.iter().enumerate() {
            for pc in block.start..block.end {
                let (reads, writes) = self.reads_and_writes(self.insts[pc]);
                let before = reads.iter().filter(|&&reg| written_in[reg as usize] != index);
                read.extend(before.map(|&reg| (reg, index)));
                for reg in writes {
                    if std::mem::replace(&mut written_in[reg as usize], index) != index {
                        written.push((reg, index));
                    }
                }
            }
        }
        read.sort_unstable();
        written.sort_unstable();
        let mut written = written.into_iter().peekable();
        let mut writer_of = vec![Reg::MAX; blocks.len()];
        let mut pending = Vec::new();
        for (reg, block) in read {
            while let Some((reg, block)) = written.next_if(|&(next, _)| next <= reg) {
                writer_of[block] = reg;
            }
            pending.push(block);
            while let Some(block) = pending.pop() {
                if blocks[block].live_in.last() == Some(&reg) {
                    continue;
                }
                blocks[block].live_in.push(reg);
                for i in 0..blocks[block].predecessors.len() {
                    let from = blocks[block].predecessors[i];
                    if blocks[from].live_out.last() != Some(&reg) {
                        blocks[from].live_out.push(reg);
                    }
                    if writer_of[from] != reg {
                        pending.push(from);
                    }
                }
            }
        }
    }

    /// The registers of values that an instruction reads, and those that it writes after that.
    fn reads_and_writes(&mut self, inst: Inst) -> (Regs, Regs) {
        let (mut reads, mut writes) = (Regs::new(), Regs::new());
        match inst {
            Inst::MovVal { vd, va } | Inst::TakeVal { vd, va } | Inst::GetVal { vd, va, .. } => {
                reads.push(va);
                writes.push(vd);
            }
            Inst::LoadConst { vd, .. } | Inst::Box { vd, .. } | Inst::Catch { vd } => {
                writes.push(vd);
            }
            Inst::Unbox { va, .. }
            | Inst::SwitchVal { va, .. }
            | Inst::LoadF { va, .. }
            | Inst::LoadI { va, .. }
            | Inst::LoadF2 { va, .. }
            | Inst::StoreF { va, .. }
            | Inst::StoreI { va, .. }
            | Inst::StoreF2 { va, .. }
            | Inst::LoadScalar { va, .. }
            | Inst::LoadScalar2 { va, .. }
            | Inst::StoreScalar { va, .. }
            | Inst::StoreScalar2 { va, .. }
            | Inst::Length { va, .. }
            | Inst::Probe { va, .. }
            | Inst::GetF { va, .. }
            | Inst::GetI { va, .. }
            | Inst::GetScalar { va, .. }
            | Inst::SetScalar { va, .. }
            | Inst::ReturnVal { va } => reads.push(va),
            Inst::SetVal { vb, va, .. } | Inst::IndexEntries { vb, va, .. } => {
                reads.extend([vb, va]);
            }
            // The others know scalars only, or have a site.
            _ => {
                let (args, dsts) = self.site(inst, &mut reads);
                reads.extend(args.iter().filter_map(|src| src.val()));
                writes.extend(dsts.iter().filter_map(|dst| match dst {
                    Dst::Val(reg) => Some(*reg),
                    _ => None,
                }));
            }
        }
        (reads, writes)
    }

    /// The places that the operands of a site come from, in order, and those that its results go to. The registers of
    /// arguments that are scalars for the callee are added to `scalars`: they hold no memory.
    fn site(&mut self, inst: Inst, scalars: &mut Regs) -> (Vec<&mut Src>, Vec<&mut Dst>) {
        let (args, dst, parts) = match inst {
            Inst::Eval { site } => {
                let site = &mut self.evals[site as usize];
                (site.args.iter_mut().collect(), &mut site.dst, None)
            }
            Inst::ReturnTuple { site } => {
                return (self.evals[site as usize].args.iter_mut().collect(), Vec::new());
            }
            Inst::Call { site } => {
                let site = &mut self.calls[site as usize];
                let args = site.args.iter_mut().filter_map(|arg| match arg {
                    Arg::Scalar(_) => None,
                    Arg::Unbox(_, reg) => {
                        scalars.push(*reg);
                        None
                    }
                    Arg::Val(src) | Arg::Check(src, _) => Some(src),
                });
                (args.collect(), &mut site.dst, site.parts.as_mut())
            }
            Inst::Apply { site } => {
                let site = &mut self.applies[site as usize];
                (site.args.iter_mut().collect(), &mut site.dst, site.parts.as_mut())
            }
            _ => return Default::default(),
        };
        match parts {
            Some(parts) => (args, parts.iter_mut().map(|(_, dst)| dst).collect()),
            None => (args, vec![dst]),
        }
    }

    /// Marks the last uses of the registers that an instruction reads; `live` says which are live
    /// after it, and becomes those that are live before. Returns what is to be dropped after it.
    fn mark(&mut self, pc: usize, live: &mut [bool]) -> Regs {
        let inst = self.insts[pc];
        let (reads, writes) = self.reads_and_writes(inst);
        let mut dead: Regs = writes.iter().copied().filter(|&reg| !live[reg as usize]).collect();
        writes.iter().for_each(|&reg| live[reg as usize] = false);
        if let Inst::Eval { .. } | Inst::Call { .. } | Inst::Apply { .. } = inst {
            let (args, dsts) = self.site(inst, &mut Regs::new());
            for dst in dsts {
                if matches!(dst, Dst::Val(reg) if dead.contains(reg)) {
                    *dst = Dst::Nowhere;
                }
            }
            for src in args.into_iter().rev() {
                if let Src::Val(reg) = *src
                    && !std::mem::replace(&mut live[reg as usize], true)
                {
                    *src = Src::Last(reg);
                }
            }
            dead.clear();
        } else if let Inst::MovVal { vd, va } = inst
            && va != vd
            && !live[va as usize]
        {
            self.insts[pc] = Inst::TakeVal { vd, va };
        } else if inst.goes_on() && !matches!(inst, Inst::Unbox { .. }) {
            let last =
                reads.iter().copied().filter(|reg| !live[*reg as usize] && !writes.contains(reg));
            dead.extend(last);
        }
        reads.iter().for_each(|&reg| live[reg as usize] = true);
        dead
    }

    /// Puts drops before the instructions, and moves the targets of jumps. Those before the header of a
    /// loop stay out of the loop.
    fn insert_drops(&mut self, drops: Vec<Regs>, headers: &[bool]) {
        if drops.iter().all(SmallVec::is_empty) {
            return;
        }
        let insts = std::mem::take(&mut self.insts);
        let spots = std::mem::take(&mut self.spots);
        let mut starts = Vec::with_capacity(insts.len());
        for ((inst, spot), mut before) in insts.into_iter().zip(spots).zip(drops) {
            self.spot = spot;
            let start = self.pc();
            before.sort_unstable();
            before.dedup();
            before.iter().for_each(|&va| self.emit(Inst::Drop { va }));
            starts.push(if headers[starts.len()] { self.pc() } else { start });
            self.emit(inst);
        }
        let moved = |to: Pc| starts[to as usize];
        let of_blocks = self.starts.iter_mut().filter(|start| **start != Pc::MAX);
        of_blocks.for_each(|start| *start = moved(*start));
        self.insts.iter_mut().for_each(|inst| set_target(inst, moved));
        for table in &mut self.switches {
            table.default = moved(table.default);
            table.scalars.iter_mut().for_each(|(_, to)| *to = moved(*to));
            table.vals.iter_mut().for_each(|(_, to)| *to = moved(*to));
        }
    }
}
