//! Turns a function into its compact form: one walk over the blocks in layout order.

mod calls;
mod control;
mod immediate;
mod last_use;
mod parts;
mod registers;
mod reuse;
mod special;

pub(crate) use self::control::set_target;

use std::cell::{Cell, OnceCell};

use regraft_dialects::chunks;
use regraft_ir::{Block, Constant, ControlFlow, Function, Liveness, Loc, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::code::{
    ApplySite, CallSite, ChunkSite, Code, CodeCell, EvalSite, ScalarOp, SwitchTable,
};
use super::inst::{Inst, Pc};
use super::machine::call_position;
use super::register::{Class, Dst, Reg};
use super::world::{Slot, World};
use crate::error::{ErrorKind, Trap};
use crate::value::Val;

impl World {
    /// The code of a function, compiled if it is needed for the first time.
    #[inline]
    pub(super) fn code(&self, index: u32) -> Result<&Code, Trap> {
        let slot = self.slot(index);
        match slot.code.get() {
            Some(code) => Ok(code),
            None => self.compile(slot, index),
        }
    }

    #[cold]
    fn compile<'a>(&self, slot: &'a Slot, index: u32) -> Result<&'a Code, Trap> {
        let Some(held) = slot.function.get() else {
            return Err(self.unknown_name(self.ctx.str(slot.name)));
        };
        let code = compile(self, &held.function, index)?;
        Ok(slot.code.get_or_init(|| Box::new(code)))
    }
}

/// Compiles a function against the signatures of the functions of `world`.
///
/// # Errors
/// If an op has no evaluation function, or a block no terminator.
pub(super) fn compile(world: &World, f: &Function, slot: u32) -> Result<Code, Trap> {
    let mut compiler = Compiler::new(world, f, slot)?;
    compiler.run()?;
    Ok(compiler.finish())
}

/// The block of a function whose code begins at `pc`, with the values that are live there, the parameters of the block first, and
/// the places where they stand. O(size of the function).
pub(super) fn live_at(
    world: &World,
    f: &Function,
    slot: u32,
    pc: Pc,
) -> Option<(Block, Vec<(Value, Dst)>)> {
    let mut compiler = Compiler::new(world, f, slot).ok()?;
    compiler.run().ok()?;
    // Of several, all but the last are empty.
    let starts_here = |block: &&Block| compiler.starts[block.index()] == pc;
    let block = *compiler.blocks.iter().rev().find(starts_here)?;
    let liveness = Liveness::compute(f, &ControlFlow::compute(f));
    let live = f.params(block).chain(liveness.live_in(block).iter().copied());
    Some((block, live.map(|v| (v, compiler.dsts[v.index()])).collect()))
}

struct Compiler<'a> {
    world: &'a World,
    f: &'a Function,
    slot: u32,
    entry: Block,
    blocks: Vec<Block>,
    /// By the index of a value.
    dsts: Vec<Dst>,
    /// By the index of a block.
    starts: Vec<Pc>,
    /// Instructions whose target is still the index of a block.
    patches: Vec<Pc>,
    insts: Vec<Inst>,
    spots: Vec<(Value, Loc)>,
    spot: (Value, Loc),
    scalar_params: u32,
    val_regs: u32,
    /// By register.
    classes: Vec<Class>,
    temp_scalars: FxHashMap<Class, Reg>,
    temp_val: Option<Reg>,
    scalar_consts: FxHashMap<(Class, u64), Reg>,
    scalars: Vec<u64>,
    val_consts: FxHashMap<Constant, u32>,
    vals: Vec<Val>,
    evals: Vec<EvalSite>,
    functions: Vec<ScalarOp>,
    calls: Vec<CallSite>,
    applies: Vec<ApplySite>,
    switches: Vec<SwitchTable>,
    parts: Parts,
}

/// Aggregates that are never built.
#[derive(Default)]
struct Parts {
    /// Calls, with the instructions that take parts of their results.
    calls: FxHashMap<Value, SmallVec<[Value; 4]>>,
    /// These instructions.
    taken: FxHashSet<Value>,
    /// Tuples that are returned.
    returned: FxHashSet<Value>,
}

impl<'a> Compiler<'a> {
    fn new(world: &'a World, f: &'a Function, slot: u32) -> Result<Self, Trap> {
        let Some(entry) = f.entry() else {
            let message = format!("@{} has no block", f.name_str());
            return Err(Trap::of_kind(ErrorKind::Module, message));
        };
        let spot = (Value::terminator(entry), f.function_loc());
        let blocks = reachable_in_layout_order(f, entry);
        let mut compiler = Self {
            world,
            f,
            slot,
            entry,
            blocks,
            dsts: vec![Dst::Nowhere; f.value_capacity()],
            starts: vec![Pc::MAX; f.block_capacity()],
            patches: Vec::new(),
            insts: Vec::new(),
            spots: Vec::new(),
            spot,
            scalar_params: 0,
            val_regs: 0,
            classes: Vec::new(),
            temp_scalars: FxHashMap::default(),
            temp_val: None,
            scalar_consts: FxHashMap::default(),
            scalars: Vec::new(),
            val_consts: FxHashMap::default(),
            vals: Vec::new(),
            evals: Vec::new(),
            functions: Vec::new(),
            calls: Vec::new(),
            applies: Vec::new(),
            switches: Vec::new(),
            parts: Parts::default(),
        };
        compiler.find_parts();
        for v in f.params(entry) {
            compiler.assign(v);
        }
        compiler.scalar_params = compiler.classes.len() as u32;
        compiler.assign_constants();
        for i in 0..compiler.blocks.len() {
            let block = compiler.blocks[i];
            if block != entry {
                for v in f.params(block) {
                    compiler.assign(v);
                }
            }
            for v in f.body(block) {
                compiler.assign_later(v);
            }
        }
        compiler.coalesce();
        compiler.assign_locals();
        Ok(compiler)
    }

    fn emit(&mut self, inst: Inst) {
        self.insts.push(inst);
        self.spots.push(self.spot);
    }

    fn pc(&self) -> Pc {
        self.insts.len() as Pc
    }

    fn run(&mut self) -> Result<(), Trap> {
        if chunks::kernel(self.f).is_some() {
            self.emit(Inst::Chunks);
        }
        for i in 0..self.blocks.len() {
            let block = self.blocks[i];
            self.starts[block.index()] = self.pc();
            for v in self.order(block) {
                self.spot = (v, self.f.loc(v));
                if !self.is_fused(v) {
                    self.inst(v)?;
                }
            }
            let next = self.blocks.get(i + 1).copied();
            self.terminator(block, next, true)?;
        }
        self.patch();
        self.release_last_uses();
        Ok(())
    }

    fn finish(self) -> Code {
        let chunks = chunks::kernel(self.f);
        let val_args = self
            .calls
            .iter()
            .map(|site| site.args.iter().filter(|arg| arg.is_val()).count() as u32);
        let val_args = val_args.max().unwrap_or(0);
        let mut code = Code {
            name: self.f.name(),
            slot: self.slot,
            native: Cell::new(self.world.native_at_first()),
            interpreted: CodeCell::default(),
            body: Cell::new(std::ptr::null()),
            insts: self.insts.into(),
            spots: self.spots.into(),
            params: self.f.params(self.entry).map(|v| self.f.ty(v)).collect(),
            ret: self.f.ret_type(),
            scalars: self.scalars.into(),
            scalar_params: self.scalar_params,
            scalar_regs: self.classes.len() as u32,
            classes: self.classes.into(),
            val_regs: self.val_regs,
            val_args,
            vals: self.vals.into(),
            evals: self.evals.into(),
            functions: self.functions.into(),
            calls: self.calls.into(),
            applies: self.applies.into(),
            switches: self.switches.into(),
            chunks: None,
        };
        code.chunks = chunks.zip(call_position(&code)).map(|((_, element), (call, kernel))| {
            ChunkSite { kernel, call, element, shared: OnceCell::new() }
        });
        code.assert_in_bounds();
        code
    }
}

fn reachable_in_layout_order(f: &Function, entry: Block) -> Vec<Block> {
    let mut seen = vec![false; f.block_capacity()];
    let mut work = vec![entry];
    seen[entry.index()] = true;
    while let Some(block) = work.pop() {
        for target in f.successors(block) {
            if !std::mem::replace(&mut seen[target.index()], true) {
                work.push(target);
            }
        }
    }
    f.blocks().filter(|b| seen[b.index()]).collect()
}
