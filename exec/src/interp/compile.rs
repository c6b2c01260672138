//! Turns a function into its compact form: one walk over the blocks in layout order.

use regraft_dialects::{arith, cf, core, mem};
use regraft_ir::{
    Block, Constant, Edge, Function, Loc, Op, Operand, OperandKind, Type, TypeKind, Value, ValueDef,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::World;
use super::code::{
    ApplySite, Arg, CallSite, Code, Dst, EvalSite, Inst, Pc, Reg, Scalar, ScalarSite, Src,
    SwitchTable,
};
use super::parallel_copy::sequence;
use super::scalar;
use crate::error::{ErrorKind, Trap};
use crate::eval::EvalRow;
use crate::value::Val;

/// Compiles a function against the signatures of the functions of `world`.
///
/// # Errors
/// If an op has no evaluation function, or a block no terminator.
pub(crate) fn compile(world: &World, f: &Function) -> Result<Code, Trap> {
    let mut compiler = Compiler::new(world, f)?;
    compiler.run()?;
    Ok(compiler.finish())
}

/// How a condition is tested.
#[derive(Clone, Copy)]
enum Test {
    Reg(Reg),
    EqI(Reg, Reg),
    NeI(Reg, Reg),
    LtI(Reg, Reg),
    LeI(Reg, Reg),
    EqF(Reg, Reg),
    NeF(Reg, Reg),
    LtF(Reg, Reg),
    LeF(Reg, Reg),
}

/// Values with more uses than this are not looked at closely, to keep compilation linear.
const MANY_USES: usize = 16;

struct Compiler<'a> {
    world: &'a World,
    f: &'a Function,
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
    scalar_regs: u32,
    val_regs: u32,
    temp_scalar: Option<Reg>,
    temp_val: Option<Reg>,
    scalar_consts: FxHashMap<u64, Reg>,
    scalars: Vec<u64>,
    val_consts: FxHashMap<Constant, u32>,
    vals: Vec<Val>,
    evals: Vec<EvalSite>,
    scalar_sites: Vec<ScalarSite>,
    calls: Vec<CallSite>,
    applies: Vec<ApplySite>,
    switches: Vec<SwitchTable>,
}

impl<'a> Compiler<'a> {
    fn new(world: &'a World, f: &'a Function) -> Result<Self, Trap> {
        let Some(entry) = f.entry() else {
            let message = format!("@{} has no block", f.name_str());
            return Err(Trap::of_kind(ErrorKind::Module, message));
        };
        let spot = (Value::terminator(entry), f.function_loc());
        let blocks = reachable_in_layout_order(f, entry);
        let mut compiler = Self {
            world,
            f,
            entry,
            blocks,
            dsts: vec![Dst::Nowhere; f.value_capacity()],
            starts: vec![Pc::MAX; f.block_capacity()],
            patches: Vec::new(),
            insts: Vec::new(),
            spots: Vec::new(),
            spot,
            scalar_params: 0,
            scalar_regs: 0,
            val_regs: 0,
            temp_scalar: None,
            temp_val: None,
            scalar_consts: FxHashMap::default(),
            scalars: Vec::new(),
            val_consts: FxHashMap::default(),
            vals: Vec::new(),
            evals: Vec::new(),
            scalar_sites: Vec::new(),
            calls: Vec::new(),
            applies: Vec::new(),
            switches: Vec::new(),
        };
        for v in f.params(entry) {
            compiler.assign(v);
        }
        compiler.scalar_params = compiler.scalar_regs;
        compiler.assign_constants();
        for i in 0..compiler.blocks.len() {
            let block = compiler.blocks[i];
            if block != entry {
                for v in f.params(block) {
                    compiler.assign(v);
                }
            }
            for v in f.body(block) {
                compiler.assign(v);
            }
        }
        compiler.coalesce();
        Ok(compiler)
    }

    // --- registers -------------------------------------------------------------------------

    fn assign(&mut self, v: Value) {
        let ty = self.f.ty(v);
        let dst = match Scalar::of(ty) {
            Some(scalar) => Dst::Scalar(scalar, self.new_scalar()),
            None if ty == Type::UNIT || ty == Type::NEVER => {
                // A parameter takes a register anyway: it counts as one of the callee.
                if self.f.is_param(v) { Dst::Val(self.new_val()) } else { Dst::Nowhere }
            }
            None => Dst::Val(self.new_val()),
        };
        self.dsts[v.index()] = dst;
    }

    /// Lets an instruction write to the register of the parameter that it is passed to, so that
    /// nothing has to be moved at the end of a loop.
    ///
    /// That is right if only its own block uses the instruction, and nobody reads the old value of
    /// the parameter after it. At a plain jump to the block of the parameter it is enough to look at the
    /// block of the instruction, as the old value ends with the jump. Where there are other
    /// edges, all uses of the parameter have to be in this block.
    fn coalesce(&mut self) {
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
                        && self.is_local(v)
                        && !taken.contains(&param)
                        && self.is_dead_after(param, v, edges.len() == 1)
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

    /// Whether only its own block uses `v`. "No" is always right.
    fn is_local(&self, v: Value) -> bool {
        let block = self.f.block_of(v);
        self.f.uses(v).nth(MANY_USES).is_none()
            && self.f.uses(v).all(|u| self.f.block_of(u.user) == block)
    }

    /// Whether nobody reads `param` after the instruction `v`; `plain` says that its block ends
    /// with a jump to that of `param`. "No" is always right; parameters with many uses are not
    /// looked at closely.
    fn is_dead_after(&self, param: Value, v: Value, plain: bool) -> bool {
        let block = self.f.block_of(v);
        self.f.uses(param).nth(MANY_USES).is_none()
            && self.f.uses(param).all(|u| {
                if self.f.block_of(u.user) != block {
                    return plain;
                }
                let before =
                    u.user == v || (!u.user.is_terminator() && self.f.comes_before(u.user, v));
                // A fused comparison reads its operands at the end of the block.
                before && !self.is_fused(u.user)
            })
    }

    fn new_scalar(&mut self) -> Reg {
        self.scalar_regs += 1;
        self.scalar_regs - 1
    }

    fn new_val(&mut self) -> Reg {
        self.val_regs += 1;
        self.val_regs - 1
    }

    fn temp_scalar(&mut self) -> Reg {
        match self.temp_scalar {
            Some(reg) => reg,
            None => {
                let reg = self.new_scalar();
                *self.temp_scalar.insert(reg)
            }
        }
    }

    fn temp_val(&mut self) -> Reg {
        match self.temp_val {
            Some(reg) => reg,
            None => {
                let reg = self.new_val();
                *self.temp_val.insert(reg)
            }
        }
    }

    /// Gives a register to each scalar constant; they are filled when a frame starts.
    fn assign_constants(&mut self) {
        for i in 0..self.blocks.len() {
            for v in self.f.insts(self.blocks[i]) {
                for operand in self.f.operands(v) {
                    if let Some(constant) = self.f.constant(operand)
                        && let Some(slot) = scalar::to_slot(constant)
                        && !self.scalar_consts.contains_key(&slot)
                    {
                        let reg = self.new_scalar();
                        self.scalar_consts.insert(slot, reg);
                        self.scalars.push(slot);
                    }
                }
            }
        }
    }

    fn src(&mut self, operand: Operand) -> Src {
        match operand.kind() {
            OperandKind::Value(v) => match self.dsts[v.index()] {
                Dst::Scalar(ty, reg) => Src::Scalar(ty, reg),
                Dst::Val(reg) => Src::Val(reg),
                Dst::Nowhere => Src::Unit,
            },
            OperandKind::Const(c) => {
                let constant = self.f.ctx().constant(c);
                let ty = Scalar::of(self.f.ctx().constant_type(c));
                match (ty, scalar::to_slot(constant)) {
                    (Some(ty), Some(slot)) => Src::Scalar(ty, self.scalar_consts[&slot]),
                    _ if constant == Constant::Unit => Src::Unit,
                    _ => Src::Const(self.val_const(constant)),
                }
            }
            OperandKind::Block(_) => Src::Unit,
        }
    }

    fn val_const(&mut self, constant: Constant) -> u32 {
        if let Some(&index) = self.val_consts.get(&constant) {
            return index;
        }
        self.vals.push(Val::constant(self.f.ctx(), constant));
        let index = self.vals.len() as u32 - 1;
        self.val_consts.insert(constant, index);
        index
    }

    /// The register of an operand of exactly this scalar type.
    fn reg(&mut self, operand: Operand, ty: Scalar) -> Option<Reg> {
        match self.src(operand) {
            Src::Scalar(have, reg) if have == ty => Some(reg),
            _ => None,
        }
    }

    // --- emission --------------------------------------------------------------------------

    fn emit(&mut self, inst: Inst) {
        self.insts.push(inst);
        self.spots.push(self.spot);
    }

    fn pc(&self) -> Pc {
        self.insts.len() as Pc
    }

    fn run(&mut self) -> Result<(), Trap> {
        for i in 0..self.blocks.len() {
            let block = self.blocks[i];
            self.starts[block.index()] = self.pc();
            for v in self.f.body(block) {
                self.spot = (v, self.f.loc(v));
                if !self.is_fused(v) {
                    self.inst(v)?;
                }
            }
            let next = self.blocks.get(i + 1).copied();
            self.terminator(block, next, true)?;
        }
        self.patch();
        Ok(())
    }

    /// Whether a comparison is done by the branch that alone uses it.
    fn is_fused(&self, v: Value) -> bool {
        let ValueDef::Inst(block) = self.f.def(v) else { return false };
        if self.f.ty(v) != Type::BOOL || comparison(self.f.op(v)).is_none() {
            return false;
        }
        let ty = self.f.operand(v, 0).map(|operand| self.f.operand_type(operand));
        let same = self.f.operands(v).all(|o| Some(self.f.operand_type(o)) == ty);
        let fits = ty.and_then(Scalar::of).is_some_and(|ty| ty.is_int() || ty == Scalar::F64);
        let mut uses = self.f.uses(v);
        let only = uses.next().map(|u| (u.user, u.index));
        same && fits
            && uses.next().is_none()
            && only == Some((Value::terminator(block), 0))
            && self.f.op(Value::terminator(block)) == Some(cf::BR)
    }

    fn inst(&mut self, v: Value) -> Result<(), Trap> {
        let Some(op) = self.f.op(v) else { return Ok(()) };
        match op {
            core::CALL => {
                self.call(v);
                return Ok(());
            }
            core::APPLY | core::SPLAT => {
                let args: Vec<Operand> = self.f.operands(v).collect();
                let args = args.into_iter().map(|operand| self.src(operand)).collect();
                let (dst, check) = (self.dsts[v.index()], self.check(v, Type::ANY));
                let splat = op == core::SPLAT;
                self.applies.push(ApplySite { args, dst, check, splat });
                self.emit(Inst::Apply { site: self.applies.len() as u32 - 1 });
                return Ok(());
            }
            _ => {}
        }
        if let Some(inst) = self.special(v, op) {
            self.emit(inst);
            return Ok(());
        }
        let def = self.f.ctx().def(op);
        let Some(EvalRow::Function(function)) = self.world.table.get(op) else {
            let message = format!("there is no evaluation function for `{}`", def.name);
            return Err(Trap::of_kind(ErrorKind::Module, message));
        };
        let args: Vec<Operand> = self.f.operands(v).collect();
        let args = args.into_iter().map(|operand| self.src(operand)).collect();
        let (dst, ty, attrs) = (self.dsts[v.index()], self.f.ty(v), self.f.attrs(v));
        self.evals.push(EvalSite { function, def, args, dst, ty, attrs });
        self.emit(Inst::Eval { site: self.evals.len() as u32 - 1 });
        Ok(())
    }

    /// The type that a result still has to be checked for, if what comes is only known as
    /// `have`. Scalars are checked when they are taken out of their value.
    fn check(&self, v: Value, have: Type) -> Option<Type> {
        let want = self.f.ty(v);
        let known =
            have.is_assignable_to(want) || Scalar::of(want).is_some() || want == Type::NEVER;
        (!known).then_some(want)
    }

    fn call(&mut self, v: Value) {
        let operands: Vec<Operand> = self.f.operands(v).collect();
        let name = self.f.const_func(operands[0]);
        let callee = name.and_then(|name| self.world.by_name.get(&name).copied());
        let signature = callee.and_then(|callee| self.world.slots[callee as usize].signature());
        let (Some(name), Some(callee), Some((params, ret))) = (name, callee, signature) else {
            if let Some(name) = name {
                self.emit(Inst::Unknown { name });
            }
            return;
        };
        if params.len() != operands.len() - 1 {
            // Not what the callee expects: the error is made by the way that looks at it.
            let callee = self.val_const(Constant::Func(name));
            let mut args = vec![Src::Const(callee)];
            for &operand in &operands[1..] {
                args.push(self.src(operand));
            }
            let (dst, check) = (self.dsts[v.index()], self.check(v, Type::ANY));
            self.applies.push(ApplySite { args: args.into(), dst, check, splat: false });
            self.emit(Inst::Apply { site: self.applies.len() as u32 - 1 });
            return;
        }
        let mut args = Vec::with_capacity(params.len());
        for (&operand, &want) in operands[1..].iter().zip(params) {
            let have = self.f.operand_type(operand);
            args.push(match (self.src(operand), Scalar::of(want)) {
                (Src::Scalar(have, reg), Some(want)) if have == want => Arg::Scalar(reg),
                (Src::Scalar(have, reg), None) if want == Type::ANY => Arg::Box(have, reg),
                (Src::Val(reg), Some(want)) => Arg::Unbox(want, reg),
                (Src::Val(reg), None) if have.is_assignable_to(want) => Arg::Val(reg),
                (Src::Val(reg), None) => Arg::Check(reg, want),
                (Src::Const(index), None) if have.is_assignable_to(want) => Arg::Const(index),
                (Src::Unit, None) if Type::UNIT.is_assignable_to(want) => Arg::Unit,
                // What cannot fit goes through a value, so that the check finds it.
                (src, want_scalar) => {
                    let temp = self.new_val();
                    self.move_to_val(temp, src);
                    want_scalar.map_or(Arg::Check(temp, want), |want| Arg::Unbox(want, temp))
                }
            });
        }
        let (dst, check) = (self.dsts[v.index()], self.check(v, ret));
        let direct = match dst {
            Dst::Scalar(ty, d) if ty.ty() == ret => Some(d),
            _ => None,
        };
        self.calls.push(CallSite { callee, args: args.into(), dst, direct, check });
        self.emit(Inst::Call { site: self.calls.len() as u32 - 1 });
    }

    fn move_to_val(&mut self, vd: Reg, src: Src) {
        match src {
            Src::Scalar(ty, a) => self.emit(Inst::Box { ty, vd, a }),
            Src::Val(va) if va == vd => {}
            Src::Val(va) => self.emit(Inst::MovVal { vd, va }),
            Src::Const(index) => self.emit(Inst::LoadConst { vd, index }),
            Src::Unit => {
                let index = self.val_const(Constant::Unit);
                self.emit(Inst::LoadConst { vd, index });
            }
        }
    }

    /// The instruction of its own that a typed op has.
    fn special(&mut self, v: Value, op: Op) -> Option<Inst> {
        let operands: SmallVec<[Operand; 4]> = self.f.operands(v).collect();
        let first = *operands.first()?;
        match op {
            mem::LOAD | mem::STORE | mem::LENGTH => return self.array_access(v, op, &operands),
            core::GET => return self.get(v, &operands),
            core::CONVERT if self.f.operand_type(first) == self.f.ty(v) => {
                return self.copy(v, first);
            }
            core::TYPEASSERT | core::CONVERT => {
                let (Src::Val(va), Dst::Scalar(ty, d)) = (self.src(first), self.dsts[v.index()])
                else {
                    return None;
                };
                return (op == core::TYPEASSERT).then_some(Inst::Unbox { ty, d, va });
            }
            _ => {}
        }
        let Dst::Scalar(result, d) = self.dsts[v.index()] else { return None };
        let ty = Scalar::of(self.f.operand_type(first))?;
        let a = self.reg(first, ty)?;
        match *operands {
            [_] => Some(match (op, ty) {
                (arith::NEG, Scalar::I64) => Inst::NegI { d, a },
                (arith::NEG, Scalar::F64) => Inst::NegF { d, a },
                (arith::NOT, Scalar::Bool) => Inst::NotBool { d, a },
                (arith::NOT, _) => Inst::NotI { d, a },
                // Slots of integers are sign-extended already.
                (arith::SEXT, ty) if ty != Scalar::Bool => Inst::Mov { d, a },
                (arith::INT_TO_FLOAT, _) if result == Scalar::F64 => Inst::IntToF { d, a },
                _ => match scalar::unary(op, ty) {
                    Some(function) => Inst::Unary { function, d, a },
                    None => return self.scalar(op, &[(ty, a)], result, d),
                },
            }),
            [_, second] => {
                let second_ty = Scalar::of(self.f.operand_type(second))?;
                let b = self.reg(second, second_ty)?;
                if second_ty != ty {
                    return self.scalar(op, &[(ty, a), (second_ty, b)], result, d);
                }
                if let Some(test) = self.test_of(op, ty, a, b) {
                    return Some(match test {
                        Test::EqI(a, b) => Inst::EqI { d, a, b },
                        Test::NeI(a, b) => Inst::NeI { d, a, b },
                        Test::LtI(a, b) => Inst::LtI { d, a, b },
                        Test::LeI(a, b) => Inst::LeI { d, a, b },
                        Test::EqF(a, b) => Inst::EqF { d, a, b },
                        Test::NeF(a, b) => Inst::NeF { d, a, b },
                        Test::LtF(a, b) => Inst::LtF { d, a, b },
                        Test::LeF(a, b) => Inst::LeF { d, a, b },
                        Test::Reg(a) => Inst::Mov { d, a },
                    });
                }
                Some(match (op, ty) {
                    (arith::ADD, Scalar::I64) => Inst::AddI { d, a, b },
                    (arith::SUB, Scalar::I64) => Inst::SubI { d, a, b },
                    (arith::MUL, Scalar::I64) => Inst::MulI { d, a, b },
                    (arith::ADD, Scalar::I32) => Inst::AddI32 { d, a, b },
                    (arith::SUB, Scalar::I32) => Inst::SubI32 { d, a, b },
                    (arith::MUL, Scalar::I32) => Inst::MulI32 { d, a, b },
                    (arith::AND, _) => Inst::And { d, a, b },
                    (arith::OR, _) => Inst::Or { d, a, b },
                    (arith::XOR, _) => Inst::Xor { d, a, b },
                    (arith::ADD, Scalar::F64) => Inst::AddF { d, a, b },
                    (arith::SUB, Scalar::F64) => Inst::SubF { d, a, b },
                    (arith::MUL, Scalar::F64) => Inst::MulF { d, a, b },
                    (arith::FDIV, Scalar::F64) => Inst::DivF { d, a, b },
                    (arith::ADD, Scalar::F32) => Inst::AddF32 { d, a, b },
                    (arith::SUB, Scalar::F32) => Inst::SubF32 { d, a, b },
                    (arith::MUL, Scalar::F32) => Inst::MulF32 { d, a, b },
                    (arith::FDIV, Scalar::F32) => Inst::DivF32 { d, a, b },
                    _ => match scalar::binary(op, ty) {
                        Some(function) => Inst::Binary { function, d, a, b },
                        None => return self.scalar(op, &[(ty, a), (ty, b)], result, d),
                    },
                })
            }
            [_, x, y] if op == core::SELECT && ty == Scalar::Bool => {
                let (x, y) = (self.reg(x, result)?, self.reg(y, result)?);
                let b = u16::try_from(y).ok()?;
                Some(Inst::Select { d, condition: a, a: x, b })
            }
            [_, y, z] => {
                let (y_ty, z_ty) =
                    (Scalar::of(self.f.operand_type(y))?, Scalar::of(self.f.operand_type(z))?);
                let (y, z) = (self.reg(y, y_ty)?, self.reg(z, z_ty)?);
                self.scalar(op, &[(ty, a), (y_ty, y), (z_ty, z)], result, d)
            }
            _ => None,
        }
    }

    /// An op on scalars that has no instruction of its own, if the semantics know it.
    fn scalar(&mut self, op: Op, args: &[(Scalar, Reg)], ty: Scalar, d: Reg) -> Option<Inst> {
        let samples: SmallVec<[(Scalar, u64); 3]> = args.iter().map(|&(ty, _)| (ty, 1)).collect();
        let _known = scalar::eval_slots(op, &samples, ty.ty())?;
        self.scalar_sites.push(ScalarSite { op, args: args.into(), ty, d });
        Some(Inst::Scalar { site: self.scalar_sites.len() as u32 - 1 })
    }

    fn copy(&mut self, v: Value, from: Operand) -> Option<Inst> {
        match (self.dsts[v.index()], self.src(from)) {
            (Dst::Scalar(_, d), Src::Scalar(_, a)) => Some(Inst::Mov { d, a }),
            (Dst::Val(vd), Src::Val(va)) => Some(Inst::MovVal { vd, va }),
            (Dst::Val(vd), Src::Const(index)) => Some(Inst::LoadConst { vd, index }),
            _ => None,
        }
    }

    fn array_access(&mut self, v: Value, op: Op, operands: &[Operand]) -> Option<Inst> {
        let &TypeKind::Array { element, .. } = self.f.ctx().kind(self.f.operand_type(operands[0]))
        else {
            return None;
        };
        let Src::Val(va) = self.src(operands[0]) else { return None };
        let index = |this: &mut Self, operand| this.reg(operand, Scalar::I64);
        match (op, operands) {
            (mem::LENGTH, _) => match self.dsts[v.index()] {
                Dst::Scalar(_, d) => Some(Inst::Length { d, va }),
                _ => None,
            },
            (mem::LOAD, &[_, i]) => {
                let Dst::Scalar(ty, d) = self.dsts[v.index()] else { return None };
                let i = index(self, i)?;
                match (element, ty) {
                    (Type::F64, Scalar::F64) => Some(Inst::LoadF { d, va, i }),
                    (Type::I64, Scalar::I64) => Some(Inst::LoadI { d, va, i }),
                    _ => None,
                }
            }
            (mem::LOAD, &[_, i, j]) if element == Type::F64 => {
                let Dst::Scalar(Scalar::F64, d) = self.dsts[v.index()] else { return None };
                let (i, j) = (index(self, i)?, index(self, j)?);
                Some(Inst::LoadF2 { d, va, i, j: u16::try_from(j).ok()? })
            }
            (mem::STORE, &[_, x, i]) => {
                let i = index(self, i)?;
                match (element, self.src(x)) {
                    (Type::F64, Src::Scalar(Scalar::F64, a)) => Some(Inst::StoreF { a, va, i }),
                    (Type::I64, Src::Scalar(Scalar::I64, a)) => Some(Inst::StoreI { a, va, i }),
                    _ => None,
                }
            }
            (mem::STORE, &[_, x, i, j]) if element == Type::F64 => {
                let Src::Scalar(Scalar::F64, a) = self.src(x) else { return None };
                let (i, j) = (index(self, i)?, index(self, j)?);
                Some(Inst::StoreF2 { a, va, i, j: u16::try_from(j).ok()? })
            }
            _ => None,
        }
    }

    fn get(&mut self, v: Value, operands: &[Operand]) -> Option<Inst> {
        let &[tuple, index] = operands else { return None };
        let ty = self.f.operand_type(tuple);
        let index = u32::try_from(self.f.const_i64(index)?.checked_sub(1)?).ok()?;
        if ty == Type::ANY {
            return None;
        }
        let Src::Val(va) = self.src(tuple) else { return None };
        match self.dsts[v.index()] {
            Dst::Scalar(Scalar::F64, d) => Some(Inst::GetF { d, va, index }),
            Dst::Scalar(Scalar::I64, d) => Some(Inst::GetI { d, va, index }),
            Dst::Val(vd) => Some(Inst::GetVal { vd, va, index }),
            _ => None,
        }
    }

    // --- control ---------------------------------------------------------------------------

    /// The test that a comparison of two registers is.
    fn test_of(&self, op: Op, ty: Scalar, a: Reg, b: Reg) -> Option<Test> {
        let compare = comparison(Some(op))?;
        Some(match (compare, ty) {
            (_, Scalar::F32) => return None,
            (Compare::Eq, Scalar::F64) => Test::EqF(a, b),
            (Compare::Ne, Scalar::F64) => Test::NeF(a, b),
            (Compare::Lt, Scalar::F64) => Test::LtF(a, b),
            (Compare::Le, Scalar::F64) => Test::LeF(a, b),
            (Compare::Gt, Scalar::F64) => Test::LtF(b, a),
            (Compare::Ge, Scalar::F64) => Test::LeF(b, a),
            (Compare::Eq, _) => Test::EqI(a, b),
            (Compare::Ne, _) => Test::NeI(a, b),
            (Compare::Lt, _) => Test::LtI(a, b),
            (Compare::Le, _) => Test::LeI(a, b),
            (Compare::Gt, _) => Test::LtI(b, a),
            (Compare::Ge, _) => Test::LeI(b, a),
        })
    }

    fn test(&mut self, condition: Operand) -> Test {
        if let Some(v) = condition.as_value()
            && !self.f.is_param(v)
            && self.is_fused(v)
            && let (Some(op), Some([x, y])) =
                (self.f.op(v), self.f.op(v).and_then(|op| self.f.matches(v, op)))
            && let Some(ty) = Scalar::of(self.f.operand_type(x))
            && let (Some(a), Some(b)) = (self.reg(x, ty), self.reg(y, ty))
            && let Some(test) = self.test_of(op, ty, a, b)
        {
            return test;
        }
        match self.src(condition) {
            Src::Scalar(_, a) => Test::Reg(a),
            src => {
                let (d, va) = (self.temp_scalar(), self.temp_val());
                self.move_to_val(va, src);
                self.emit(Inst::Unbox { ty: Scalar::Bool, d, va });
                Test::Reg(d)
            }
        }
    }

    /// The terminator of `block`, with `next` following in the code. A jump to a block that
    /// does nothing but test and branch does that at once instead, if `inline` allows it.
    fn terminator(&mut self, block: Block, next: Option<Block>, inline: bool) -> Result<(), Trap> {
        let term = Value::terminator(block);
        let Some(op) = self.f.op(term) else {
            let message = format!("{block} of @{} has no terminator", self.f.name_str());
            return Err(Trap::of_kind(ErrorKind::Module, message));
        };
        self.spot = (term, self.f.loc(term));
        let plain: Vec<Operand> = self.f.plain_operands(term).collect();
        let edges: Vec<Edge> = self.f.out_edges(block).collect();
        match (op, &*plain, &*edges) {
            (cf::BR, [], &[edge]) => {
                self.edge_moves(edge);
                let to = self.f.edge_target(edge);
                if inline && next != Some(to) && self.only_branches(to) {
                    return self.terminator(to, None, false);
                }
                self.jump(to, next);
            }
            (cf::BR, &[condition], &[then, otherwise]) => {
                let test = self.test(condition);
                self.branch(test, then, otherwise, next);
            }
            (cf::SWITCH, [value, cases @ ..], edges) => self.switch(*value, cases, edges),
            (cf::RETURN, &[value], []) => self.ret(value),
            (cf::UNREACHABLE, ..) => self.emit(Inst::Unreachable),
            _ => {
                let name = self.f.ctx().def(op).name;
                let message = format!("the interpreter does not know the terminator `{name}`");
                return Err(Trap::of_kind(ErrorKind::Module, message));
            }
        }
        Ok(())
    }

    /// Whether a block consists of a branch on a fused comparison.
    fn only_branches(&self, block: Block) -> bool {
        self.f.out_edges(block).count() == 2
            && self.f.op(Value::terminator(block)) == Some(cf::BR)
            && self.f.body(block).all(|v| self.is_fused(v))
    }

    fn jump(&mut self, to: Block, next: Option<Block>) {
        if next != Some(to) {
            self.patches.push(self.pc());
            self.emit(Inst::Jump { to: to.index() as Pc });
        }
    }

    fn has_moves(&mut self, edge: Edge) -> bool {
        let target = self.f.edge_target(edge);
        let args: Vec<Operand> = self.f.edge_args(edge).collect();
        let params: Vec<Value> = self.f.params(target).collect();
        params.iter().zip(args).any(|(p, arg)| match (self.dsts[p.index()], self.src(arg)) {
            (Dst::Scalar(_, d), Src::Scalar(_, a)) => d != a,
            (Dst::Val(d), Src::Val(a)) => d != a,
            _ => true,
        })
    }

    fn branch(&mut self, test: Test, then: Edge, otherwise: Edge, next: Option<Block>) {
        let (then_to, else_to) = (self.f.edge_target(then), self.f.edge_target(otherwise));
        if !self.has_moves(then) && next != Some(then_to) {
            self.patches.push(self.pc());
            self.jump_if(test, true, then_to.index() as Pc);
            self.edge_moves(otherwise);
            self.jump(else_to, next);
        } else if !self.has_moves(otherwise) {
            self.patches.push(self.pc());
            self.jump_if(test, false, else_to.index() as Pc);
            self.edge_moves(then);
            self.jump(then_to, next);
        } else {
            let at = self.insts.len();
            self.jump_if(test, false, 0);
            self.edge_moves(then);
            self.jump(then_to, None);
            let here = self.pc();
            set_target(&mut self.insts[at], |_| here);
            self.edge_moves(otherwise);
            self.jump(else_to, next);
        }
    }

    fn jump_if(&mut self, test: Test, when: bool, to: Pc) {
        self.emit(match (test, when) {
            (Test::Reg(a), true) => Inst::JumpIf { a, to },
            (Test::Reg(a), false) => Inst::JumpUnless { a, to },
            (Test::EqI(a, b), true) | (Test::NeI(a, b), false) => Inst::JumpEqI { a, b, to },
            (Test::NeI(a, b), true) | (Test::EqI(a, b), false) => Inst::JumpNeI { a, b, to },
            (Test::LtI(a, b), true) | (Test::LeI(b, a), false) => Inst::JumpLtI { a, b, to },
            (Test::LeI(a, b), true) | (Test::LtI(b, a), false) => Inst::JumpLeI { a, b, to },
            (Test::EqF(a, b), true) | (Test::NeF(a, b), false) => Inst::JumpEqF { a, b, to },
            (Test::NeF(a, b), true) | (Test::EqF(a, b), false) => Inst::JumpNeF { a, b, to },
            (Test::LtF(a, b), true) => Inst::JumpLtF { a, b, to },
            (Test::LeF(a, b), true) => Inst::JumpLeF { a, b, to },
            (Test::LtF(a, b), false) => Inst::JumpNotLtF { a, b, to },
            (Test::LeF(a, b), false) => Inst::JumpNotLeF { a, b, to },
        });
    }

    /// Passes the arguments of an edge.
    fn edge_moves(&mut self, edge: Edge) {
        let target = self.f.edge_target(edge);
        let args: Vec<Operand> = self.f.edge_args(edge).collect();
        let params: Vec<Value> = self.f.params(target).collect();
        let (mut scalars, mut vals, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (param, arg) in params.iter().zip(args) {
            match (self.dsts[param.index()], self.src(arg)) {
                (Dst::Scalar(_, d), Src::Scalar(_, a)) => scalars.push((d, a)),
                (Dst::Val(vd), Src::Val(va)) => vals.push((vd, va)),
                (Dst::Val(vd), src) => others.push((vd, src)),
                (Dst::Scalar(ty, d), Src::Val(va)) => {
                    // The verifier asks for a `typeassert` here, but a check costs nothing extra.
                    let temp = self.new_scalar();
                    self.emit(Inst::Unbox { ty, d: temp, va });
                    scalars.push((d, temp));
                }
                _ => {}
            }
        }
        // Values first: what is boxed below may overwrite a register that one of them reads,
        // and reads scalars before they move.
        if !vals.is_empty() {
            let mut moves = Vec::new();
            sequence(&vals, || self.temp_val(), |d, s| moves.push((d, s)));
            for (vd, va) in moves {
                self.emit(Inst::MovVal { vd, va });
            }
        }
        for (vd, src) in others {
            self.move_to_val(vd, src);
        }
        if !scalars.is_empty() {
            let mut moves = Vec::new();
            sequence(&scalars, || self.temp_scalar(), |d, s| moves.push((d, s)));
            for (d, a) in moves {
                self.emit(Inst::Mov { d, a });
            }
        }
    }

    fn switch(&mut self, value: Operand, cases: &[Operand], edges: &[Edge]) {
        let src = self.src(value);
        let table = self.switches.len() as u32;
        match src {
            Src::Scalar(_, a) => self.emit(Inst::Switch { a, table }),
            src => {
                let va = match src {
                    Src::Val(va) => va,
                    src => {
                        let va = self.temp_val();
                        self.move_to_val(va, src);
                        va
                    }
                };
                self.emit(Inst::SwitchVal { va, table });
            }
        }
        let mut targets = Vec::with_capacity(edges.len());
        for &edge in edges {
            targets.push(self.pc());
            self.edge_moves(edge);
            self.jump(self.f.edge_target(edge), None);
        }
        let (mut scalars, mut vals) = (Vec::new(), Vec::new());
        for (&case, &target) in cases.iter().zip(targets.iter().skip(1)) {
            let Some(constant) = self.f.constant(case) else { continue };
            match (src, scalar::to_slot(constant)) {
                (Src::Scalar(..), Some(slot)) => scalars.push((slot, target)),
                _ => vals.push((Val::constant(self.f.ctx(), constant), target)),
            }
        }
        scalars.sort_unstable_by_key(|&(slot, _)| slot);
        let default = targets.first().copied().unwrap_or(0);
        self.switches.push(SwitchTable { scalars: scalars.into(), vals: vals.into(), default });
    }

    fn ret(&mut self, value: Operand) {
        let src = self.src(value);
        match (src, Scalar::of(self.f.ret_type())) {
            (Src::Scalar(have, a), Some(want)) if have == want => self.emit(Inst::Return { a }),
            (Src::Val(va), None) => self.emit(Inst::ReturnVal { va }),
            (Src::Const(index), None) => self.emit(Inst::ReturnConst { index }),
            (Src::Unit, None) => self.emit(Inst::ReturnUnit),
            (src, want) => {
                let va = self.temp_val();
                self.move_to_val(va, src);
                match want {
                    None => self.emit(Inst::ReturnVal { va }),
                    Some(ty) => {
                        let d = self.temp_scalar();
                        self.emit(Inst::Unbox { ty, d, va });
                        self.emit(Inst::Return { a: d });
                    }
                }
            }
        }
    }

    /// Puts positions in the place of blocks.
    fn patch(&mut self) {
        for &at in &self.patches {
            let starts = &self.starts;
            set_target(&mut self.insts[at as usize], |block| starts[block as usize]);
        }
    }

    fn finish(self) -> Code {
        let code = Code {
            name: self.f.name(),
            insts: self.insts.into(),
            spots: self.spots.into(),
            params: self.f.params(self.entry).map(|v| self.f.ty(v)).collect(),
            ret: self.f.ret_type(),
            scalars: self.scalars.into(),
            scalar_params: self.scalar_params,
            scalar_regs: self.scalar_regs,
            val_regs: self.val_regs,
            vals: self.vals.into(),
            evals: self.evals.into(),
            scalar_sites: self.scalar_sites.into(),
            calls: self.calls.into(),
            applies: self.applies.into(),
            switches: self.switches.into(),
        };
        code.assert_in_bounds();
        code
    }
}

#[derive(Clone, Copy)]
enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

fn comparison(op: Option<Op>) -> Option<Compare> {
    Some(match op? {
        arith::EQ => Compare::Eq,
        arith::NE => Compare::Ne,
        arith::LT => Compare::Lt,
        arith::LE => Compare::Le,
        arith::GT => Compare::Gt,
        arith::GE => Compare::Ge,
        _ => return None,
    })
}

fn set_target(inst: &mut Inst, new: impl Fn(Pc) -> Pc) {
    match inst {
        Inst::Jump { to }
        | Inst::JumpIf { to, .. }
        | Inst::JumpUnless { to, .. }
        | Inst::JumpEqI { to, .. }
        | Inst::JumpNeI { to, .. }
        | Inst::JumpLtI { to, .. }
        | Inst::JumpLeI { to, .. }
        | Inst::JumpEqF { to, .. }
        | Inst::JumpNeF { to, .. }
        | Inst::JumpLtF { to, .. }
        | Inst::JumpLeF { to, .. }
        | Inst::JumpNotLtF { to, .. }
        | Inst::JumpNotLeF { to, .. } => *to = new(*to),
        _ => {}
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
