//! Branches: comparisons fused into them, copies on their edges, and where blocks end up.

use regraft_dialects::semantics::to_slot;
use regraft_dialects::{arith, cf};
use regraft_ir::{Block, Edge, Op, Operand, Type, Value, ValueDef};

use super::super::code::SwitchTable;
use super::super::inst::{Inst, Pc};
use super::super::parallel_copy::sequence;
use super::super::register::{Class, Dst, Reg, Scalar, Src};
use super::Compiler;
use crate::error::{ErrorKind, Trap};
use crate::value::Val;

impl Compiler<'_> {
    /// Returns whether a comparison is done by the branch that alone uses it.
    pub(super) fn is_fused(&self, v: Value) -> bool {
        let ValueDef::Inst(block) = self.f.def(v) else { return false };
        if self.f.ty(v) != Type::BOOL || !is_comparison(self.f.op(v)) {
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

    /// The test that a comparison of two registers is.
    pub(super) fn test_of(&self, op: Op, ty: Scalar, a: Reg, b: Reg) -> Option<Test> {
        Some(match (op, ty) {
            (_, Scalar::F32) => return None,
            (arith::EQ, Scalar::F64) => Test::EqF(a, b),
            (arith::NE, Scalar::F64) => Test::NeF(a, b),
            (arith::LT, Scalar::F64) => Test::LtF(a, b),
            (arith::LE, Scalar::F64) => Test::LeF(a, b),
            (arith::GT, Scalar::F64) => Test::LtF(b, a),
            (arith::GE, Scalar::F64) => Test::LeF(b, a),
            (arith::EQ, _) => Test::EqI(a, b),
            (arith::NE, _) => Test::NeI(a, b),
            (arith::LT, _) => Test::LtI(a, b),
            (arith::LE, _) => Test::LeI(a, b),
            (arith::GT, _) => Test::LtI(b, a),
            (arith::GE, _) => Test::LeI(b, a),
            _ => return None,
        })
    }

    pub(super) fn test(&mut self, condition: Operand) -> Test {
        if let Some(v) = condition.as_value()
            && !self.f.is_param(v)
            && self.is_fused(v)
        {
            if let Some((x, test)) = self.immediate_test(v)
                && let Some(a) = Scalar::of(self.f.operand_type(x)).and_then(|ty| self.reg(x, ty))
            {
                return test.of(a);
            }
            if let Some(op) = self.f.op(v)
                && let Some([x, y]) = self.f.matches(v, op)
                && let Some(ty) = Scalar::of(self.f.operand_type(x))
                && let (Some(a), Some(b)) = (self.reg(x, ty), self.reg(y, ty))
                && let Some(test) = self.test_of(op, ty, a, b)
            {
                return test;
            }
        }
        match self.src(condition) {
            Src::Scalar(_, a) => Test::Reg(a),
            src => {
                let (d, va) = (self.temp_scalar(Class::Int), self.temp_val());
                self.move_to_val(va, src);
                self.emit(Inst::Unbox { ty: Scalar::Bool, d, va });
                Test::Reg(d)
            }
        }
    }

    /// The terminator of `block`, with `next` following in the code. A jump to a block that
    /// does nothing but test and branch does that at once instead, if `inline` allows it.
    pub(super) fn terminator(
        &mut self,
        block: Block,
        next: Option<Block>,
        inline: bool,
    ) -> Result<(), Trap> {
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
                    return self.terminator(to, next, false);
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

    /// Returns whether a block consists of a branch on a fused comparison.
    pub(super) fn only_branches(&self, block: Block) -> bool {
        self.f.out_edges(block).count() == 2
            && self.f.op(Value::terminator(block)) == Some(cf::BR)
            && self.f.body(block).all(|v| self.is_fused(v))
    }

    pub(super) fn jump(&mut self, to: Block, next: Option<Block>) {
        if next != Some(to) {
            self.patches.push(self.pc());
            self.emit(Inst::Jump { to: to.index() as Pc });
        }
    }

    pub(super) fn has_moves(&mut self, edge: Edge) -> bool {
        let target = self.f.edge_target(edge);
        let mut moves = self.f.params(target).zip(self.f.edge_args(edge));
        moves.any(|(p, arg)| match (self.dsts[p.index()], self.src(arg)) {
            (Dst::Scalar(_, d), Src::Scalar(_, a)) => d != a,
            (Dst::Val(d), Src::Val(a)) => d != a,
            _ => true,
        })
    }

    pub(super) fn branch(&mut self, test: Test, then: Edge, otherwise: Edge, next: Option<Block>) {
        let (then_to, else_to) = (self.f.edge_target(then), self.f.edge_target(otherwise));
        // Of the blocks that are there already, the one that came last begins what is repeated.
        let start = |to: Block| Some(self.starts[to.index()]).filter(|&start| start != Pc::MAX);
        let else_is_far = start(else_to) > start(then_to) || next == Some(then_to);
        // The edge that the conditional jump takes: one on which nothing moves, if there is one.
        let (far, is_free) = match (self.has_moves(then), self.has_moves(otherwise)) {
            (false, false) => (!else_is_far, true),
            (false, true) => (true, true),
            (true, false) => (false, true),
            (true, true) => (next == Some(then_to), false),
        };
        let (far_edge, near) = if far { (then, otherwise) } else { (otherwise, then) };
        let (far_to, at) = (self.f.edge_target(far_edge), self.insts.len());
        if is_free {
            self.patches.push(self.pc());
        }
        self.jump_if(test, far, far_to.index() as Pc);
        self.edge_moves(near);
        self.jump(self.f.edge_target(near), next.filter(|_| is_free));
        if !is_free {
            let here = self.pc();
            set_target(&mut self.insts[at], |_| here);
            self.edge_moves(far_edge);
            self.jump(far_to, next);
        }
    }

    pub(super) fn jump_if(&mut self, test: Test, when: bool, to: Pc) {
        self.emit(match (test, when) {
            (Test::Reg(a), true) => Inst::JumpIf { a, to },
            (Test::Reg(a), false) => Inst::JumpUnless { a, to },
            (Test::EqI(a, b), true) | (Test::NeI(a, b), false) => Inst::JumpEqI { a, b, to },
            (Test::NeI(a, b), true) | (Test::EqI(a, b), false) => Inst::JumpNeI { a, b, to },
            (Test::LtI(a, b), true) | (Test::LeI(b, a), false) => Inst::JumpLtI { a, b, to },
            (Test::LeI(a, b), true) | (Test::LtI(b, a), false) => Inst::JumpLeI { a, b, to },
            (Test::EqF(a, b), true) | (Test::NeF(a, b), false) => Inst::JumpEqF { a, b, to },
            (Test::NeF(a, b), true) | (Test::EqF(a, b), false) => Inst::JumpNeF { a, b, to },
            (Test::EqImm(a, imm), true) | (Test::NeImm(a, imm), false) => {
                Inst::JumpEqImm { a, imm, to }
            }
            (Test::NeImm(a, imm), true) | (Test::EqImm(a, imm), false) => {
                Inst::JumpNeImm { a, imm, to }
            }
            (Test::LtImm(a, imm), true) | (Test::GeImm(a, imm), false) => {
                Inst::JumpLtImm { a, imm, to }
            }
            (Test::GeImm(a, imm), true) | (Test::LtImm(a, imm), false) => {
                Inst::JumpGeImm { a, imm, to }
            }
            (Test::LtF(a, b), true) => Inst::JumpLtF { a, b, to },
            (Test::LeF(a, b), true) => Inst::JumpLeF { a, b, to },
            (Test::LtF(a, b), false) => Inst::JumpNotLtF { a, b, to },
            (Test::LeF(a, b), false) => Inst::JumpNotLeF { a, b, to },
        });
    }

    /// Passes the arguments of an edge.
    pub(super) fn edge_moves(&mut self, edge: Edge) {
        let target = self.f.edge_target(edge);
        let (mut scalars, mut vals, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (param, arg) in self.f.params(target).zip(self.f.edge_args(edge)) {
            match (self.dsts[param.index()], self.src(arg)) {
                (Dst::Scalar(_, d), Src::Scalar(_, a)) => scalars.push((d, a)),
                (Dst::Val(vd), Src::Val(va)) => vals.push((vd, va)),
                (Dst::Val(vd), src) => others.push((vd, src)),
                (Dst::Scalar(ty, d), Src::Val(va)) => {
                    // The verifier asks for a `typeassert` here, but a check costs nothing extra.
                    let temp = self.new_scalar(ty.class());
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
            sequence(&vals, |_| self.temp_val(), |d, s| moves.push((d, s)));
            for (vd, va) in moves {
                self.emit(Inst::MovVal { vd, va });
            }
        }
        for (vd, src) in others {
            self.move_to_val(vd, src);
        }
        if !scalars.is_empty() {
            let mut moves = Vec::new();
            sequence(
                &scalars,
                |saved| self.temp_scalar(self.classes[saved as usize]),
                |d, s| moves.push((d, s)),
            );
            for (d, a) in moves {
                self.emit(Inst::Mov { d, a });
            }
        }
    }

    pub(super) fn switch(&mut self, value: Operand, cases: &[Operand], edges: &[Edge]) {
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
            match (src, to_slot(constant)) {
                (Src::Scalar(..), Some((_, slot))) => scalars.push((slot, target)),
                _ => vals.push((Val::constant(self.f.ctx(), constant), target)),
            }
        }
        scalars.sort_unstable_by_key(|&(slot, _)| slot);
        let default = targets.first().copied().unwrap_or(0);
        self.switches.push(SwitchTable { scalars: scalars.into(), vals: vals.into(), default });
    }

    pub(super) fn ret(&mut self, value: Operand) {
        if self.return_tuple(value) {
            return;
        }
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
                        let d = self.temp_scalar(ty.class());
                        self.emit(Inst::Unbox { ty, d, va });
                        self.emit(Inst::Return { a: d });
                    }
                }
            }
        }
    }

    /// Puts positions in the place of blocks.
    pub(super) fn patch(&mut self) {
        for &at in &self.patches {
            let starts = &self.starts;
            set_target(&mut self.insts[at as usize], |block| starts[block as usize]);
        }
    }
}

/// The way in which a condition is tested.
#[derive(Clone, Copy)]
pub(super) enum Test {
    Reg(Reg),
    EqI(Reg, Reg),
    NeI(Reg, Reg),
    LtI(Reg, Reg),
    LeI(Reg, Reg),
    EqImm(Reg, i32),
    NeImm(Reg, i32),
    LtImm(Reg, i32),
    GeImm(Reg, i32),
    EqF(Reg, Reg),
    NeF(Reg, Reg),
    LtF(Reg, Reg),
    LeF(Reg, Reg),
}

fn is_comparison(op: Option<Op>) -> bool {
    use arith::{EQ, GE, GT, LE, LT, NE};
    matches!(op, Some(EQ | NE | LT | LE | GT | GE))
}

pub(crate) fn set_target(inst: &mut Inst, mut new: impl FnMut(Pc) -> Pc) {
    match inst {
        Inst::Jump { to }
        | Inst::Try { to }
        | Inst::EndTry { to }
        | Inst::JumpIf { to, .. }
        | Inst::JumpUnless { to, .. }
        | Inst::JumpEqI { to, .. }
        | Inst::JumpNeI { to, .. }
        | Inst::JumpLtI { to, .. }
        | Inst::JumpLeI { to, .. }
        | Inst::JumpEqImm { to, .. }
        | Inst::JumpNeImm { to, .. }
        | Inst::JumpLtImm { to, .. }
        | Inst::JumpGeImm { to, .. }
        | Inst::JumpEqF { to, .. }
        | Inst::JumpNeF { to, .. }
        | Inst::JumpLtF { to, .. }
        | Inst::JumpLeF { to, .. }
        | Inst::JumpNotLtF { to, .. }
        | Inst::JumpNotLeF { to, .. } => *to = new(*to),
        _ => {}
    }
}
