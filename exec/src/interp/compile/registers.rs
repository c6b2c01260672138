//! The registers of values and constants.

use regraft_dialects::core;
use regraft_dialects::semantics::to_slot;
use regraft_ir::{Block, Constant, Edge, Operand, OperandKind, Type, Value, ValueDef};
use smallvec::SmallVec;

use super::super::register::{Class, Dst, Reg, Scalar, Src};
use super::Compiler;
use crate::value::Val;

/// Values with more uses than this are not looked at closely, to keep compilation linear.
const MANY_USES: usize = 256;

/// The number of blocks that are looked at to see whether control comes back, likewise.
const MANY_BLOCKS: usize = 16;

impl Compiler<'_> {
    pub(super) fn assign(&mut self, v: Value) {
        let ty = self.f.ty(v);
        let dst = match Scalar::of(ty) {
            Some(scalar) => Dst::Scalar(scalar, self.new_scalar(scalar.class())),
            // A parameter takes a register anyway: it counts as one of the callee.
            None if self.f.is_param(v) || self.is_kept(v) => Dst::Val(self.new_val()),
            None => Dst::Nowhere,
        };
        self.dsts[v.index()] = dst;
    }

    /// Returns whether the result of an instruction takes a register: not if its type has one value, or
    /// if it is what a call returns and nobody wants.
    pub(super) fn is_kept(&self, v: Value) -> bool {
        let ty = self.f.ty(v);
        let is_wanted = || self.f.op(v) != Some(core::CALL) || self.f.uses(v).next().is_some();
        Scalar::of(ty).is_some() || ty != Type::UNIT && ty != Type::NEVER && is_wanted()
    }

    /// Lets an instruction write to the register of the parameter that it is passed to, so that
    /// nothing has to be moved at the end of a loop.
    ///
    /// It is right if only its own block uses the instruction, and nobody reads the old value of
    /// the parameter after it. At a plain jump to the block of the parameter it is enough to look
    /// at the block of the instruction, as the old value ends with the jump. Where there are other
    /// edges, all uses of the parameter have to be in this block, and control must not come back to
    /// it but through the block of the parameter: in a loop within the loop of the parameter, the
    /// old value is read again.
    pub(super) fn coalesce(&mut self) {
        for i in 0..self.blocks.len() {
            let block = self.blocks[i];
            let edges: SmallVec<[Edge; 4]> = self.f.out_edges(block).collect();
            let mut taken: SmallVec<[Value; 4]> = SmallVec::new();
            let mut coalesced: SmallVec<[Value; 8]> = SmallVec::new();
            for &edge in &edges {
                let target = self.f.edge_target(edge);
                let args: SmallVec<[Operand; 8]> = self.f.edge_args(edge).collect();
                for (param, arg) in self.f.params(target).zip(args) {
                    if let Some(v) = arg.as_value()
                        && self.f.def(v) == ValueDef::Inst(block)
                        && self.f.ty(v) == self.f.ty(param)
                        && !matches!(self.dsts[v.index()], Dst::Nowhere)
                        && !coalesced.contains(&v)
                        && !self.is_part(v)
                        && self.is_local(v)
                        && !taken.contains(&param)
                        && self.is_dead_after(param, v, edges.len() == 1)
                        && (edges.len() == 1
                            || target == block
                            || self.f.uses(param).next().is_none()
                            || !self.comes_back(block, target))
                    {
                        // Another edge may pass another instruction of this block to it.
                        if edges.len() > 1 {
                            taken.push(param);
                        }
                        coalesced.push(v);
                        self.dsts[v.index()] = self.dsts[param.index()];
                    }
                }
            }
        }
    }

    /// Returns whether only its own block uses `v`. "No" is always right.
    pub(super) fn is_local(&self, v: Value) -> bool {
        let block = self.f.block_of(v);
        self.f.uses(v).nth(MANY_USES).is_none()
            && self.f.uses(v).all(|u| self.f.block_of(u.user) == block)
    }

    /// Returns whether nobody reads `param` after the instruction `v`; `plain` says that its block
    /// ends with a jump to that of `param`. "No" is always right; parameters with many uses are not
    /// looked at closely.
    pub(super) fn is_dead_after(&self, param: Value, v: Value, plain: bool) -> bool {
        let block = self.f.block_of(v);
        self.f.uses(param).nth(MANY_USES).is_none()
            && self.f.uses(param).all(|u| {
                if self.f.block_of(u.user) != block {
                    return plain;
                }
                let before = u.user == v && self.f.op(v) != Some(core::TRY)
                    || (!u.user.is_terminator() && self.f.comes_before(u.user, v));
                // A fused comparison reads its operands at the end of the block.
                before && !self.is_fused(u.user)
            })
    }

    /// Returns whether control may come back to a block without passing `around`. "Yes" is always
    /// right: it is what is said if it would take long to find out.
    fn comes_back(&self, block: Block, around: Block) -> bool {
        let mut seen: SmallVec<[Block; MANY_BLOCKS]> = SmallVec::new();
        let mut pending: SmallVec<[Block; MANY_BLOCKS]> = self.f.successors(block).collect();
        while let Some(next) = pending.pop() {
            if next == around || seen.contains(&next) {
                continue;
            }
            if next == block || seen.len() == MANY_BLOCKS {
                return true;
            }
            seen.push(next);
            pending.extend(self.f.successors(next));
        }
        false
    }

    pub(super) fn new_scalar(&mut self, class: Class) -> Reg {
        self.classes.push(class);
        self.classes.len() as Reg - 1
    }

    pub(super) fn new_val(&mut self) -> Reg {
        self.val_regs += 1;
        self.val_regs - 1
    }

    pub(super) fn temp_scalar(&mut self, class: Class) -> Reg {
        if let Some(&reg) = self.temp_scalars.get(&class) {
            return reg;
        }
        let reg = self.new_scalar(class);
        self.temp_scalars.insert(class, reg);
        reg
    }

    pub(super) fn temp_val(&mut self) -> Reg {
        let reg = self.temp_val.unwrap_or_else(|| self.new_val());
        *self.temp_val.insert(reg)
    }

    /// Gives a register to each scalar constant; they are filled when a frame starts.
    pub(super) fn assign_constants(&mut self) {
        for i in 0..self.blocks.len() {
            for v in self.f.insts(self.blocks[i]) {
                for (index, operand) in self.f.operands(v).enumerate() {
                    if let Some(constant) = self.f.constant(operand)
                        && let Some((ty, slot)) = scalar_constant(constant)
                        && !self.scalar_consts.contains_key(&(ty.class(), slot))
                        && !self.is_immediate(v, index)
                    {
                        let reg = self.new_scalar(ty.class());
                        self.scalar_consts.insert((ty.class(), slot), reg);
                        self.scalars.push(slot);
                    }
                }
            }
        }
    }

    pub(super) fn src(&mut self, operand: Operand) -> Src {
        match operand.kind() {
            OperandKind::Value(v) => match self.dsts[v.index()] {
                Dst::Scalar(ty, reg) => Src::Scalar(ty, reg),
                Dst::Val(reg) => Src::Val(reg),
                Dst::Nowhere => Src::Unit,
            },
            OperandKind::Const(c) => {
                let constant = self.f.ctx().constant(c);
                match scalar_constant(constant) {
                    Some((ty, slot)) => Src::Scalar(ty, self.scalar_consts[&(ty.class(), slot)]),
                    _ if constant == Constant::Unit => Src::Unit,
                    _ => Src::Const(self.val_const(constant)),
                }
            }
            OperandKind::Block(_) => Src::Unit,
        }
    }

    pub(super) fn val_const(&mut self, constant: Constant) -> u32 {
        if let Some(&index) = self.val_consts.get(&constant) {
            return index;
        }
        self.vals.push(Val::constant(self.f.ctx(), constant));
        let index = self.vals.len() as u32 - 1;
        self.val_consts.insert(constant, index);
        index
    }

    /// The register of an operand of exactly this scalar type.
    pub(super) fn reg(&mut self, operand: Operand, ty: Scalar) -> Option<Reg> {
        match self.src(operand) {
            Src::Scalar(have, reg) if have == ty => Some(reg),
            _ => None,
        }
    }
}

/// The type and the slot of a constant that is a scalar.
fn scalar_constant(constant: Constant) -> Option<(Scalar, u64)> {
    let (ty, slot) = to_slot(constant)?;
    Some((Scalar::of(ty)?, slot))
}
