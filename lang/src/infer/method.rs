//! Facts of a method that inference asks for again and again, computed once.

use std::rc::Rc;

use regraft_dialects::{cf, core as core_ops};
use regraft_ir::{Function, OperandKind, Type, TypeKind};

use super::frame::Order;
use super::inference::Inference;
use super::method_facts::{Code as Shape, MadeCode, MethodFacts, Piece};
use crate::definition::Space;
use crate::world::{Code, Home, MethodId, MethodMatch, SpecId};

impl Inference {
    /// The facts of a method that was found for a call, by `lookup`. A dynamo makes the code for it.
    pub(super) fn facts_for(
        &mut self,
        found: &MethodMatch,
        callee: Type,
        args: &[Type],
        lookup: SpecId,
    ) -> Rc<MethodFacts> {
        let facts = self.method_facts(found.method);
        // Of what is called with values of any type, that is expanded which is expanded elsewhere: a part of a `try`.
        let is_exact = found.exact || facts.expands;
        let may_expand = |&ty: &Type| matches!(self.ctx.kind(ty), TypeKind::Struct(_));
        if !facts.is_dynamo || !is_exact && !args.get(1).is_some_and(may_expand) {
            return facts;
        }
        let params = args.len() + usize::from(facts.takes_callee);
        let (function, home, passes_on) = match self.world.body(found, callee, args, Some(lookup)) {
            Ok(Code { function, home, passes_on }) => (function, home, passes_on),
            Err(_) if !is_exact => return facts,
            Err(errors) => (self.failing_body(&errors, params), None, false),
        };
        let code = self.code_of(&function, facts.takes_callee, facts.inline);
        let order = Some(Rc::new(Order::of(&function)));
        let origin = home.as_ref().map(|home| self.method_facts(home.method));
        let expands = origin.as_ref().is_some_and(|origin| origin.expands);
        if !is_exact && !expands {
            return facts;
        }
        let home = home.unwrap_or_else(|| Home {
            method: facts.id,
            space: facts.space,
            names: Rc::clone(&facts.statics),
            statics: Rc::clone(&found.statics),
        });
        let made = MadeCode { function, statics: home.statics, origin: home.method, lookup };
        Rc::new(MethodFacts {
            params: args.len(),
            vararg: false,
            expands: facts.expands || expands,
            inline: match passes_on {
                true => Some(true),
                false => facts.inline.or(origin.as_ref().and_then(|origin| origin.inline)),
            },
            space: home.space,
            statics: home.names,
            takes_constants: match &origin {
                _ if passes_on => true,
                // What is an op elsewhere is folded.
                Some(origin) => origin.takes_constants || !matches!(origin.code, Shape::Body),
                None => facts.inline == Some(true),
            },
            code,
            order,
            made: Some(Rc::new(made)),
            ..(*facts).clone()
        })
    }

    /// The facts of a method.
    fn method_facts(&mut self, id: MethodId) -> Rc<MethodFacts> {
        let index = id.0 as usize;
        if let Some(Some(facts)) = self.methods.get(index) {
            return Rc::clone(facts);
        }
        // What is wrong with the code is told when it is asked for.
        let _ = self.world.lower_now(id);
        let facts = Rc::new(self.find_facts(id));
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
        let code = method
            .body
            .as_ref()
            .map_or(Shape::Body, |body| self.code_of(body, method.takes_callee, method.inline));
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
            is_dynamo: method.is_dynamo(),
            made: None,
        }
    }

    /// Returns whether a body is an op or less.
    fn code_of(&self, body: &Function, takes_callee: bool, inline: Option<bool>) -> Shape {
        if body.block_count() != 1 || inline == Some(false) {
            return Shape::Body;
        }
        let Some(entry) = body.entry() else { return Shape::Body };
        let returned = match body.terminator(entry) {
            Some(term) if body.op(term) == Some(cf::RETURN) => body.operand(term, 0),
            _ => None,
        };
        let Some(returned) = returned else { return Shape::Body };
        let params: Vec<_> = body.params(entry).collect();
        let callee = usize::from(takes_callee);
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
            return piece(returned).map_or(Shape::Body, Shape::Value);
        };
        if insts.next().is_some() || returned != inst.into() {
            return Shape::Body;
        }
        let Some(op) = body.op(inst) else { return Shape::Body };
        let (def, skip, ty) = match op {
            core_ops::CALL => {
                let name = body.operand(inst, 0).and_then(|callee| body.const_func(callee));
                match name.and_then(|name| self.op_named(name)) {
                    Some(def) => (def, 1, None),
                    None => return Shape::Body,
                }
            }
            core_ops::APPLY
            | core_ops::SPLAT
            | core_ops::GLOBAL
            | core_ops::SET_GLOBAL
            | core_ops::STATIC
            | core_ops::CLOSURE
            | core_ops::UNDEF => return Shape::Body,
            _ => (self.ctx.def(op), 0, Some(body.ty(inst))),
        };
        let pieces: Option<Box<[Piece]>> = body.operands(inst).skip(skip).map(piece).collect();
        pieces.map_or(Shape::Body, |pieces| Shape::Op { def, pieces, ty })
    }
}
