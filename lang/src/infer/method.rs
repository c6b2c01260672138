//! Facts of a method that inference asks for again and again, computed once.

use std::rc::Rc;
use std::sync::Arc;

use regraft_dialects::{cf, core as core_ops};
use regraft_ir::{Function, OperandKind};

use super::frame::Order;
use super::inference::Inference;
use super::method_facts::{Code, MethodFacts, Piece};
use crate::definition::Space;
use crate::world::{MethodId, MethodMatch};

impl Inference {
    /// The facts of a method that was found.
    pub(super) fn method_facts(&mut self, found: &MethodMatch) -> Rc<MethodFacts> {
        let index = found.method.0 as usize;
        if let Some(Some(facts)) = self.methods.get(index) {
            return Rc::clone(facts);
        }
        // What is wrong with the code is told when it is asked for.
        let _ = self.world.lower_now(found.method);
        let facts = Rc::new(self.find_facts(found.method));
        if self.methods.len() <= index {
            self.methods.resize(index + 1, None);
        }
        self.methods[index] = Some(Rc::clone(&facts));
        facts
    }

    fn find_facts(&self, id: MethodId) -> MethodFacts {
        let method = self.world.method(id).expect("a method that was found is there");
        let in_prelude = method.space == Space::Base;
        let forced = method.inline == Some(true);
        let code = method.body.as_ref().map_or(Code::Body, |body| self.code(body, method));
        MethodFacts {
            id,
            name: method.name,
            takes_callee: method.takes_callee,
            params: method.params,
            vararg: method.vararg,
            inline: method.inline,
            space: method.space,
            statics: Rc::clone(&method.statics),
            takes_constants: in_prelude && forced,
            // A part of a `try` is one: of the error nothing is known.
            expands: forced && (in_prelude || method.takes_callee),
            code,
            order: method.body.as_ref().map(|body| Rc::new(Order::of(body))),
        }
    }

    /// Returns whether a body is an op or less.
    fn code(&self, body: &Arc<Function>, method: &crate::world::Method) -> Code {
        if body.block_count() != 1 || method.inline == Some(false) {
            return Code::Body;
        }
        let Some(entry) = body.entry() else { return Code::Body };
        let returned = match body.terminator(entry) {
            Some(term) if body.op(term) == Some(cf::RETURN) => body.operand(term, 0),
            _ => None,
        };
        let Some(returned) = returned else { return Code::Body };
        let params: Vec<_> = body.params(entry).collect();
        let callee = usize::from(method.takes_callee);
        let piece = |operand: regraft_ir::Operand| match operand.kind() {
            OperandKind::Const(constant) => Some(Piece::Constant(constant)),
            OperandKind::Value(v) => {
                let position = params.iter().position(|&param| param == v)?;
                Some(match position.checked_sub(callee) {
                    Some(position) => Piece::Param(position),
                    None => Piece::Callee,
                })
            }
            OperandKind::Block(_) => None,
        };
        let mut insts = body.body(entry);
        let Some(inst) = insts.next() else {
            return piece(returned).map_or(Code::Body, Code::Value);
        };
        if insts.next().is_some() || returned != inst.into() {
            return Code::Body;
        }
        let Some(op) = body.op(inst) else { return Code::Body };
        let (def, skip, ty) = match op {
            core_ops::CALL => {
                let name = body.operand(inst, 0).and_then(|callee| body.const_func(callee));
                match name.and_then(|name| self.op_named(name)) {
                    Some(def) => (def, 1, None),
                    None => return Code::Body,
                }
            }
            core_ops::APPLY
            | core_ops::SPLAT
            | core_ops::GLOBAL
            | core_ops::SET_GLOBAL
            | core_ops::STATIC
            | core_ops::CLOSURE
            | core_ops::UNDEF => return Code::Body,
            _ => (self.ctx.def(op), 0, Some(body.ty(inst))),
        };
        let pieces: Option<Box<[Piece]>> = body.operands(inst).skip(skip).map(piece).collect();
        pieces.map_or(Code::Body, |pieces| Code::Op { def, pieces, ty })
    }
}
