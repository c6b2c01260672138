//! Calls: direct, or with the code of the callee in their place.
//!
//! A callee is expanded if what remains of it is one block and it is the prelude's, anonymous, or
//! says `@inline`. The instructions take the location of the call.

use std::rc::Rc;
use std::sync::Arc;

use regraft_dialects::{cf, core as core_ops, mem};
use regraft_ir::{Attrs, Constant, Function, Loc, OperandKind, Type};

use super::{Emission, Emitter, Slot, Slots};
use crate::world::SpecId;

/// The most instructions of a callee that is inlined without being asked for.
const MAX_INLINED: usize = 64;

impl Emitter<'_> {
    /// A call of a specialisation; `None` if control does not come back.
    pub(super) fn emit_call(
        &mut self,
        cx: &mut Emission<'_>,
        spec: SpecId,
        args: &[Slot],
        result: Type,
        attrs: Attrs,
        loc: Loc,
    ) -> Option<Slot> {
        if let Some(code) = self.inlinable(spec) {
            cx.knows_more = true;
            return self.inline(cx, &code, args, attrs, loc);
        }
        let name = self.name_of(spec);
        let ctx = self.ctx();
        let mut operands: Slots = Slots::new();
        operands.push(Slot::Const(ctx.constant_id(Constant::Func(name))));
        operands.extend_from_slice(args);
        let slot = cx.builder.push(cx.at, core_ops::CALL, &operands, result, Attrs::NONE, loc);
        (result != Type::NEVER).then_some(slot)
    }

    /// A call of one specialisation, and if that fails, of another one.
    pub(super) fn emit_try(
        &mut self,
        cx: &mut Emission<'_>,
        specs: [SpecId; 2],
        args: &[Slot],
        result: Type,
        loc: Loc,
    ) -> Slot {
        let mut operands: Slots = Slots::new();
        for spec in specs {
            let name = self.name_of(spec);
            operands.push(Slot::Const(self.ctx().constant_id(Constant::Func(name))));
        }
        operands.extend_from_slice(args);
        cx.builder.push(cx.at, core_ops::TRY, &operands, result, Attrs::NONE, loc)
    }

    /// The code of a callee, if it is to stand in the place of calls.
    fn inlinable(&mut self, id: SpecId) -> Option<Rc<Function>> {
        let spec = self.spec(id);
        if !spec.may_inline() || spec.is_emitting {
            return None;
        }
        let forced = spec.inline == Some(true);
        let code = self.function(id);
        let most = if forced { usize::MAX } else { MAX_INLINED };
        (code.block_count() == 1 && code.inst_count() <= most).then_some(code)
    }

    /// The code of a callee of one block in the place of a call.
    fn inline(
        &mut self,
        cx: &mut Emission<'_>,
        code: &Function,
        args: &[Slot],
        attrs: Attrs,
        loc: Loc,
    ) -> Option<Slot> {
        let ctx = Arc::clone(self.ctx());
        let entry = code.entry()?;
        let mut map: Vec<Option<Slot>> = vec![None; code.value_capacity()];
        for (param, &arg) in code.params(entry).zip(args) {
            // Of what a parameter of any type is, the code does not know.
            let arg = if code.ty(param) == Type::ANY && cx.builder.ty(&ctx, arg) != Type::ANY {
                cx.builder.push(cx.at, core_ops::CONVERT, &[arg], Type::ANY, Attrs::NONE, loc)
            } else {
                arg
            };
            map[param.index()] = Some(arg);
        }
        let slot = |map: &[Option<Slot>], operand: regraft_ir::Operand| match operand.kind() {
            OperandKind::Const(constant) => Slot::Const(constant),
            OperandKind::Value(v) => map[v.index()].expect("values come before their uses"),
            OperandKind::Block(_) => unreachable!("one block has no edges"),
        };
        for v in code.body(entry) {
            let operands: Slots = code.operands(v).map(|operand| slot(&map, operand)).collect();
            let op = code.op(v)?;
            let attrs = match op {
                mem::LOAD | mem::STORE if !attrs.is_empty() => attrs,
                _ => code.attrs(v),
            };
            let made = self.emit_op(cx.builder, cx.at, op, &operands, code.ty(v), attrs, loc);
            map[v.index()] = Some(made);
        }
        let term = code.terminator(entry)?;
        match code.op(term) {
            Some(cf::RETURN) => Some(match code.operand(term, 0) {
                Some(operand) => slot(&map, operand),
                None => Slot::Const(ctx.constant_id(Constant::Unit)),
            }),
            _ => None,
        }
    }
}
