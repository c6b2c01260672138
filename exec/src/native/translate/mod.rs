//! Translates compact code: one walk over the instructions, in order.
//!
//! # Method
//! A block begins wherever a jump goes to. An instruction is written as operations of the machine for
//! the case that its operands are what they nearly always are; where they are not, it is run by the
//! runtime ([`Translator::slowly`]). That is the way of everything rare, of everything that allocates, and of
//! errors, which the runtime makes as the interpreter does.
//!
//! # Cost
//! O(instructions and registers), and about ten microseconds for each instruction in Cranelift, more in LLVM.

mod arrays;
mod calls;
mod compounds;
mod fields;
mod floats;
mod frame;
mod hash_tables;
mod held;
mod integers;
mod known_arrays;
mod limits;
mod loops;
mod memory;
mod replacement;
mod reuse;
mod scalars;
mod settling;
mod strips;
mod type_tests;
mod value_elements;
mod values;
mod vector_ends;
mod whole_arrays;

use regraft_ir::{Type, Value as IrValue};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use self::held::{Registers, held, may_hold};
use self::known_arrays::Arrays;
use self::loops::{KnownWithin, Loops};
use self::replacement::reached_from;
use self::settling::Settling;
use super::emitter::{Address, Area, Emitter, Function, IntCmp, Mem, Signature};
use super::source::Source;
use crate::interp::{Class, Code, Inst, LiveScalars, Pc, Reg, Scalar, targets};

/// The signature of the code of a function. Code that begins at a loop takes all from the frame.
pub(super) fn signature(source: Source<'_>) -> Signature {
    let code = source.code;
    let params = if source.start.is_some() { 0 } else { code.scalar_params as usize };
    let params = code.classes[..params].to_vec();
    Signature { params, result: Scalar::of(code.ret).map(Scalar::class) }
}

/// The reason why there is no native code for a function, if there is one.
pub(crate) fn obstacle(code: &Code) -> Option<&'static str> {
    code.insts.iter().find_map(|inst| match inst {
        Inst::Try { .. } | Inst::EndTry { .. } | Inst::Catch { .. } | Inst::EndCatch => {
            Some("catches errors")
        }
        Inst::Chunks => Some("gives chunks to threads"),
        Inst::RecordStart { .. } | Inst::RecordEnd { .. } => Some("records events"),
        _ => None,
    })
}

/// Writes a function.
pub(super) fn translate<E: Emitter>(source: Source<'_>, e: &mut E) {
    let code = source.code;
    let cx = e.param(0);
    let (scalars, vals) = (e.param(1), e.param(2));
    let failed = e.block(true);
    let arrays = Arrays::of(source);
    let (blocks, reached) = (Vec::new(), reached_from(code, source.start.unwrap_or(0), None));
    let (entries, live) = (FxHashMap::default(), None);
    let held = held(source);
    let mut translator = Translator {
        source,
        e,
        cx,
        scalars,
        vals,
        blocks,
        entries,
        reached,
        failed,
        fails: None,
        arrays,
        known_within: Vec::new(),
        ends: false,
        held: 0,
        live,
    };
    translator.find_blocks();
    let loops = translator.loops();
    let settling = translator.settling(&loops);
    translator.find_entries(&loops, &settling);
    match source.start {
        Some(header) => translator.resume(header),
        None => translator.prologue(),
    }
    // True if what was written last goes on with the next instruction.
    let mut goes_on = source.start.is_none();
    for (pc, &held) in held.iter().enumerate() {
        translator.end_loops(pc as Pc);
        if !translator.reached[pc] {
            continue;
        }
        if let Some(block) = translator.blocks[pc] {
            let at = pc as Pc;
            if goes_on {
                let block = translator.target(at.saturating_sub(1), at);
                translator.e.jump(block);
            }
            if let Some(&entry) = translator.entries.get(&at) {
                translator.e.enter(entry);
                translator.settle_before(&settling, at);
                translator.begin_loop(&loops, at);
                translator.e.jump(block);
            }
            translator.e.enter(block);
            translator.settle_behind(&settling, at);
        }
        let inst = code.insts[pc];
        translator.ends = translator.arrays.ends[pc];
        translator.held = held;
        translator.inst(pc as Pc, inst);
        translator.note_array(pc as Pc);
        goes_on = inst.goes_on() && !is_branch(code, inst);
    }
    translator.failure();
}

struct Translator<'a, 's, E: Emitter> {
    source: Source<'s>,
    e: &'a mut E,
    /// The parameters of every function.
    cx: E::Value,
    scalars: E::Value,
    vals: E::Value,
    /// The blocks that begin at instructions.
    blocks: Vec<Option<E::Block>>,
    /// Blocks on the ways into loops, by their headers.
    entries: FxHashMap<Pc, E::Block>,
    /// By position: true if control can get there.
    reached: Vec<bool>,
    /// The way out after an error, with the position in a register of its own.
    failed: E::Block,
    /// The way to there for an instruction that fails, whose operands stand in the frame; made when it is first asked for.
    fails: Option<E::Block>,
    arrays: Arrays<E::Value>,
    /// Arrays that are known for as long as a loop runs, the innermost last.
    known_within: Vec<KnownWithin<E::Value>>,
    /// True if nothing comes after the instruction but an error.
    ends: bool,
    /// The registers of values that may hold something before the instruction.
    held: Registers,
    /// Found when it is first asked for.
    live: Option<LiveScalars>,
}

/// The register behind those of the frame: the position of the instruction that has failed.
pub(super) fn position_reg(code: &Code) -> Reg {
    code.scalar_regs
}

impl<E: Emitter> Translator<'_, '_, E> {
    fn find_blocks(&mut self) {
        let code = self.source.code;
        self.blocks = vec![None; code.insts.len()];
        if let Some(header) = self.source.start {
            self.blocks[header as usize] = Some(self.e.block(false));
        }
        for (pc, &inst) in code.insts.iter().enumerate() {
            if !self.reached[pc] {
                continue;
            }
            for to in targets(inst, &code.switches) {
                if self.blocks[to as usize].is_none() {
                    self.blocks[to as usize] = Some(self.e.block(false));
                }
            }
            // A branch that is not taken goes on in a block of its own.
            if is_branch(code, inst) && self.blocks[pc + 1].is_none() {
                self.blocks[pc + 1] = Some(self.e.block(false));
            }
        }
    }

    /// Makes blocks for the ways into loops that something is done before.
    fn find_entries(&mut self, loops: &Loops, settling: &Settling) {
        let mut headers: Vec<Pc> = loops.with_arrays().chain(settling.loops()).collect();
        headers.sort_unstable();
        headers.dedup();
        self.entries = headers.into_iter().map(|header| (header, self.e.block(false))).collect();
    }

    fn constant(&mut self, class: Class, slot: u64) -> E::Value {
        match class {
            Class::Int => self.e.int(slot as i64),
            Class::Single => self.e.single(slot as u32),
            Class::Double => self.e.double(slot),
        }
    }

    /// Returns whether a register of values may hold something before the instruction.
    fn may_hold(&self, reg: Reg) -> bool {
        may_hold(self.held, reg)
    }

    /// Returns whether an instruction may run other code, or let the runtime use the frame.
    fn may_call(&self, inst: Inst) -> bool {
        matches!(
            inst,
            Inst::Eval { .. } | Inst::Call { .. } | Inst::Apply { .. } | Inst::ReturnTuple { .. }
        ) || self.may_be_slow(inst)
    }

    fn code_address(&mut self) -> E::Value {
        self.e.address(Address::Code(self.source.code))
    }

    /// The block that control goes to from one position to another.
    fn target(&self, from: Pc, to: Pc) -> E::Block {
        let entry = self.entries.get(&to).copied().filter(|_| from < to);
        entry.or(self.blocks[to as usize]).expect("jumps go to the start of blocks")
    }

    /// Leaves with the error that the runtime has made at `pc`.
    fn fail(&mut self, pc: Pc) {
        self.leave_from(pc, self.failed);
    }

    /// Goes to a way out, which finds the position in its register.
    fn leave_from(&mut self, pc: Pc, way: E::Block) {
        let position = self.e.int(i64::from(pc));
        self.e.write(position_reg(self.source.code), position);
        self.e.jump(way);
    }

    /// Goes on if `flag` holds; otherwise the runtime runs the instruction, and makes an error of it.
    fn ensure(&mut self, flag: E::Flag, pc: Pc) {
        let (ok, bad) = (self.e.block(false), self.e.block(true));
        self.e.branch(flag, ok, bad);
        self.e.enter(bad);
        self.spill(pc);
        let fails = match self.fails {
            Some(fails) => fails,
            None => *self.fails.insert(self.e.block(true)),
        };
        self.leave_from(pc, fails);
        self.e.enter(ok);
    }

    /// Lets the runtime run the instruction, on the frame.
    fn slowly(&mut self, pc: Pc) {
        let status = self.run_on_frame(self.source.runtime.step, pc);
        self.check_status(status, pc);
        self.reload(pc);
    }

    /// Calls a function of the runtime on the frame, with the operands of the instruction in it.
    fn run_on_frame(&mut self, function: Function, pc: Pc) -> Option<E::Value> {
        self.spill(pc);
        let (code, position) = (self.code_address(), self.e.int(i64::from(pc)));
        self.e.call(&function, &[self.cx, code, position, self.scalars, self.vals])
    }

    fn check_status(&mut self, status: Option<E::Value>, pc: Pc) {
        let Some(status) = status else { return };
        let (ok, bad) = (self.e.block(false), self.e.block(true));
        let zero = self.e.int(0);
        let good = self.e.int_cmp(IntCmp::Eq, status, zero);
        self.e.branch(good, ok, bad);
        self.e.enter(bad);
        self.fail(pc);
        self.e.enter(ok);
    }

    /// Writes the scalar operands of an instruction to their window.
    fn spill(&mut self, pc: Pc) {
        let code = self.source.code;
        let mut regs: SmallVec<[Reg; 8]> = SmallVec::new();
        code.scalar_reads(code.insts[pc as usize], &mut regs);
        regs.sort_unstable();
        regs.dedup();
        for reg in regs {
            let value = self.e.read(reg);
            let mem = slot_mem(code.classes[reg as usize]);
            self.e.store(mem, Area::Frame, self.scalars, reg as i32 * 8, value);
        }
    }

    /// Reads the scalar results of an instruction from their window.
    fn reload(&mut self, pc: Pc) {
        let code = self.source.code;
        let mut regs: SmallVec<[Reg; 8]> = SmallVec::new();
        code.scalar_writes(code.insts[pc as usize], &mut regs);
        for reg in regs {
            let mem = slot_mem(code.classes[reg as usize]);
            let value = self.e.load(mem, Area::Frame, self.scalars, reg as i32 * 8);
            self.e.write(reg, value);
        }
    }

    fn inst(&mut self, pc: Pc, inst: Inst) {
        match inst {
            Inst::Jump { to } => self.jump_to(pc, to),
            Inst::Switch { a, table } => self.switch(pc, a, table),
            Inst::SwitchVal { va, table } => self.switch_val(pc, va, table),
            Inst::Call { site } => self.call(pc, site),
            Inst::Apply { .. } => self.slowly(pc),
            Inst::Return { .. }
            | Inst::ReturnVal { .. }
            | Inst::ReturnConst { .. }
            | Inst::ReturnUnit
            | Inst::ReturnTuple { .. } => self.ret(pc, inst),
            Inst::Unreachable => {
                let never = self.never();
                self.ensure(never, pc);
                // It never gets here, but a block has an end.
                self.fail(pc);
            }
            inst if self.scalar_inst(pc, inst) => {}
            inst if self.branch_inst(pc, inst) => {}
            inst if self.value_inst(pc, inst) => {}
            inst if self.hash_table_inst(inst) => {}
            inst if self.memory_inst(pc, inst) => {}
            inst if self.field_inst(pc, inst) => {}
            _ => self.slowly(pc),
        }
    }

    fn never(&mut self) -> E::Flag {
        let (zero, one) = (self.e.int(0), self.e.int(1));
        self.e.int_cmp(IntCmp::Eq, zero, one)
    }

    fn jump_to(&mut self, pc: Pc, to: Pc) {
        if to <= pc {
            self.poll(pc, to);
        }
        let target = self.target(pc, to);
        self.e.jump(target);
    }

    fn branch_to(&mut self, pc: Pc, flag: E::Flag, to: Pc) {
        let next = self.target(pc, pc + 1);
        if to > pc {
            let target = self.target(pc, to);
            self.e.branch(flag, target, next);
            return;
        }
        let back = self.e.block(false);
        self.e.branch(flag, back, next);
        self.e.enter(back);
        self.jump_to(pc, to);
    }

    fn switch(&mut self, pc: Pc, a: Reg, table: u32) {
        let table = &self.source.code.switches[table as usize];
        let cases: Vec<(u64, E::Block)> =
            table.scalars.iter().map(|&(slot, to)| (slot, self.target(pc, to))).collect();
        let (value, default) = (self.e.read(a), self.target(pc, table.default));
        self.e.switch(value, &cases, default);
    }

    fn switch_val(&mut self, pc: Pc, va: Reg, table: u32) {
        let find = self.source.runtime.find_case;
        let address = self.e.address(Address::Switch(self.source.code, table));
        let table = &self.source.code.switches[table as usize];
        let value = self.val(va);
        let Some(found) = self.e.call(&find, &[address, value]) else { return };
        let cases: Vec<(u64, E::Block)> =
            table.vals.iter().map(|&(_, to)| (u64::from(to), self.target(pc, to))).collect();
        let mut distinct: Vec<(u64, E::Block)> = Vec::new();
        for (case, block) in cases {
            if !distinct.iter().any(|&(other, _)| other == case) {
                distinct.push((case, block));
            }
        }
        let default = self.target(pc, table.default);
        self.e.switch(found, &distinct, default);
    }

    /// The instruction of the IR that one of the code is made from.
    fn made_from(&self, pc: Pc) -> IrValue {
        self.source.code.spots[pc as usize].0
    }

    /// The type of an operand of the instruction of the IR.
    fn operand_type(&self, pc: Pc, index: usize) -> Type {
        let f = self.source.f;
        f.operand(self.made_from(pc), index).map_or(Type::ANY, |operand| f.operand_type(operand))
    }
}

/// The type in which a scalar register of that class stands in its window.
fn slot_mem(class: Class) -> Mem {
    match class {
        Class::Int => Mem::I64,
        Class::Single => Mem::F32,
        Class::Double => Mem::F64,
    }
}

/// Returns whether an instruction may jump, and may go on.
fn is_branch(code: &Code, inst: Inst) -> bool {
    !targets(inst, &code.switches).is_empty() && inst.goes_on()
}
