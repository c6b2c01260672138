//! Arrays, refs and mutable structs: what happens to an object happens to its shadow.

use regraft_dialects::semantics::field_type;
use regraft_dialects::{ad, core, data, mem};
use regraft_ir::{Constant, Inst, Op, Operand, Type, TypeKind, Value};

use super::writer::{Dual, Writer};

impl Writer<'_, '_> {
    /// Makes what an op on objects does to their shadows. Returns whether it is such an op.
    pub(super) fn object_statement(&mut self, v: Value, op: Op) -> bool {
        match op {
            mem::ALLOC | mem::FILL | mem::ARRAY | mem::REF_NEW => self.new_memory(v, op),
            mem::LOAD | mem::POP | mem::COPY | mem::REF_GET | ad::SLOT => self.read(v, op),
            mem::STORE | mem::PUSH | mem::REF_SET | mem::FILL_IN_PLACE | mem::COPYTO => {
                self.write_to(v, op, 2);
            }
            mem::RESIZE => self.write_to(v, op, 1),
            ad::ACCUMULATE | ad::SPREAD | ad::RECOPY | ad::SET_SLOT | ad::PUT_BACK => {
                self.write_to(v, op, 2);
            }
            ad::CLEAR => self.write_to(v, op, 1),
            ad::UNCOPY => self.uncopy(v),
            data::NEW_OBJECT => self.new_object(v),
            data::GETFIELD => self.get_field(v),
            data::SETFIELD => self.set_field(v),
            core::SET_GLOBAL => {
                if self.from.operand(v, 1).is_some_and(|value| self.operand_is_active(value)) {
                    let message = "a global variable that is set to something with a derivative \
                                   hides it: pass it as an argument, or keep it in a `Ref`";
                    self.error(message.to_owned(), "this has no derivative");
                }
            }
            _ => return false,
        }
        true
    }

    /// A new array or ref: of the operands that are elements, the tangents.
    fn new_memory(&mut self, v: Value, op: Op) {
        if !self.is_active(v) {
            return;
        }
        let old: Vec<Operand> = self.from.operands(v).collect();
        let want = self.tangent_type(self.from.ty(v));
        let (TypeKind::Array { element, .. } | TypeKind::Ref(element)) = *self.ctx().kind(want)
        else {
            return self.unknown_type(v);
        };
        // How many of the operands are elements; the others are dimensions.
        let elements = match op {
            mem::ALLOC => 0,
            mem::ARRAY => old.len(),
            _ => 1,
        };
        let duals: Vec<Dual> = old[..elements]
            .iter()
            .map(|&old| {
                let dual = self.tangent_of(old);
                self.all_fitted(dual, element)
            })
            .collect();
        let dims: Vec<Operand> = old[elements..].iter().map(|&old| self.operand(old)).collect();
        let dual = (0..self.maker.width)
            .map(|k| {
                let mut inst = Inst::new(op)
                    .operands(duals.iter().map(|dual| dual[k]))
                    .operands(dims.iter().copied());
                if matches!(op, mem::ALLOC | mem::ARRAY) {
                    inst = inst.with_type(want);
                }
                self.emit(inst)
            })
            .collect();
        self.define_tangent(v, dual);
    }

    /// An element of the shadow, or a copy of it.
    fn read(&mut self, v: Value, op: Op) {
        let Some(object) = self.from.operand(v, 0) else { return };
        if !self.operand_is_active(object) && !self.is_active(v) {
            return;
        }
        if !self.is_known(v, object) {
            return;
        }
        let shadows = self.tangent_of(object);
        let indices: Vec<Operand> =
            self.from.operands(v).skip(1).map(|old| self.operand(old)).collect();
        let attrs = self.from.attrs(v);
        let dual = shadows
            .into_iter()
            .map(|shadow| {
                let inst = Inst::new(op).operand(shadow).operands(indices.iter().copied());
                self.emit(inst.with_attrs(attrs))
            })
            .collect();
        if self.is_active(v) {
            self.define_tangent(v, dual);
        }
    }

    /// The same to the shadow, with the tangents of the first `values` operands, of which one is
    /// the object.
    fn write_to(&mut self, v: Value, op: Op, values: usize) {
        let Some(object) = self.from.operand(v, 0) else { return };
        if !self.operand_is_active(object) || !self.is_known(v, object) {
            return;
        }
        let old: Vec<Operand> = self.from.operands(v).collect();
        let shadows = self.tangent_of(object);
        let value = match values {
            1 => None,
            _ => {
                let mut dual = self.tangent_of(old[1]);
                let of_elements = matches!(
                    op,
                    mem::COPYTO | ad::ACCUMULATE | ad::SPREAD | ad::RECOPY | ad::PUT_BACK
                );
                if !of_elements {
                    let want = match *self.ctx().kind(self.to.operand_type(shadows[0])) {
                        TypeKind::Array { element, .. } | TypeKind::Ref(element)
                            if op != ad::SET_SLOT =>
                        {
                            element
                        }
                        _ => Type::ANY,
                    };
                    dual = self.all_fitted(dual, want);
                }
                Some(dual)
            }
        };
        let others: Vec<Operand> = old.iter().skip(values).map(|&old| self.operand(old)).collect();
        let attrs = self.from.attrs(v);
        for (k, shadow) in shadows.into_iter().enumerate() {
            let value = value.as_ref().map(|value| value[k]);
            let inst =
                Inst::new(op).operand(shadow).operands(value).operands(others.iter().copied());
            self.emit(inst.with_attrs(attrs));
        }
    }

    /// What moves from the elements of one shadow to those of another moves in their tangents.
    fn uncopy(&mut self, v: Value) {
        let old: Vec<Operand> = self.from.operands(v).collect();
        if !self.operand_is_active(old[0]) {
            return;
        }
        let (from, count) = (self.tangent_of(old[0]), self.operand(old[2]));
        for (from, to) in from.into_iter().zip(self.tangent_of(old[1])) {
            self.emit(ad::uncopy(from, to, count));
        }
    }

    /// Whether the type of an object is known well enough to know its shadow.
    fn is_known(&mut self, v: Value, object: Operand) -> bool {
        let ty = self.from.operand_type(object);
        let known = ty != Type::ANY || matches!(self.from.op(v), Some(ad::ACCUMULATE | ad::CLEAR));
        if !known {
            self.unknown_type(v);
        }
        known
    }

    fn unknown_type(&mut self, v: Value) {
        let name = self.from.op_def(v).map_or("?", |def| def.mnemonic());
        let message =
            format!("the derivative of `{name}` depends on a type that is not known here");
        self.error(message, "its operand is of type any");
    }

    fn new_object(&mut self, v: Value) {
        if !self.is_active(v) {
            return;
        }
        let Some(inner) = self.fields_type(self.from.ty(v)) else { return self.unknown_type(v) };
        let duals: Vec<Dual> = self.from.operands(v).map(|old| self.tangent_of(old)).collect();
        let dual = (0..self.maker.width)
            .map(|k| {
                let parts: Vec<Operand> = duals.iter().map(|dual| dual[k]).collect();
                let fields = self.named(&parts, inner);
                self.emit(mem::ref_new(fields))
            })
            .collect();
        self.define_tangent(v, dual);
    }

    /// The type of the named tuple that the shadow of a mutable struct holds.
    fn fields_type(&mut self, ty: Type) -> Option<Type> {
        let shadow = self.maker.all.types.object_shadow(ty)?;
        match *self.ctx().kind(shadow) {
            TypeKind::Ref(inner) => Some(inner),
            _ => None,
        }
    }

    /// The position of a constant field of a type, from 1.
    fn position(&self, ty: Type, field: Operand) -> Option<usize> {
        let ctx = self.ctx();
        let field = self.from.constant(field)?;
        field_type(&ctx, ty, field).ok()?;
        match (field, ctx.kind(ty)) {
            (Constant::I64(index), _) => usize::try_from(index).ok(),
            (Constant::Sym(name), TypeKind::Named(fields)) => {
                fields.iter().position(|&(field, _)| field == name).map(|index| index + 1)
            }
            (Constant::Sym(name), &TypeKind::Struct(id)) => {
                ctx.struct_def(id).field(name).map(|(index, _)| index + 1)
            }
            _ => None,
        }
    }

    fn get_field(&mut self, v: Value) {
        let old: Vec<Operand> = self.from.operands(v).collect();
        if !self.is_active(v) || !self.is_known(v, old[0]) {
            return;
        }
        let ty = self.from.operand_type(old[0]);
        let is_object = self.ctx().struct_of(ty).is_some_and(|def| def.mutable);
        let position = self.position(ty, old[1]);
        let field = self.operand(old[1]);
        let dual = self
            .tangent_of(old[0])
            .into_iter()
            .map(|tangent| {
                let fields = match is_object {
                    true => self.shadow_fields(tangent, ty).1,
                    false => tangent,
                };
                match position {
                    Some(position) => self.part(fields, position),
                    None => self.emit(data::getfield(fields, field)),
                }
            })
            .collect();
        self.define_tangent(v, dual);
    }

    /// The shadow gets a named tuple with the tangent of the value in its place.
    fn set_field(&mut self, v: Value) {
        let old: Vec<Operand> = self.from.operands(v).collect();
        if !self.operand_is_active(old[0]) || !self.is_known(v, old[0]) {
            return;
        }
        let ty = self.from.operand_type(old[0]);
        let (Some(position), Some(inner)) = (self.position(ty, old[1]), self.fields_type(ty))
        else {
            let message = "which field is set is not known here, so that its derivative is not";
            return self.error(message.to_owned(), "here");
        };
        let count = match self.ctx().kind(inner) {
            TypeKind::Named(fields) => fields.len(),
            _ => 0,
        };
        let values = self.tangent_of(old[2]);
        for (shadow, value) in self.tangent_of(old[0]).into_iter().zip(values) {
            let (cell, fields) = self.shadow_fields(shadow, ty);
            let parts: Vec<Operand> = (1..=count)
                .map(|at| if at == position { value } else { self.part(fields, at) })
                .collect();
            let fields = self.named(&parts, inner);
            self.emit(mem::ref_set(cell, fields));
        }
    }
}
