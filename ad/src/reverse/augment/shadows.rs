//! Shadows in the forward sweep: what makes an object makes its shadow beside it, and what is put
//! into an object is put into its shadow as well, as far as it has one.

use regraft_dialects::{ad, core, data, mem};
use regraft_ir::{Constant, Diagnostic, Operand, Type, TypeKind, Value};

use super::Augment;
use crate::scopes;
use crate::tangent_builder::{self as build, Cell, field_of, replace_part};

impl Augment<'_, '_> {
    /// Lets the shadow part of a tangent be the shadow of `v`.
    pub(super) fn take_shadow(
        &mut self,
        v: Value,
        ty: Type,
        tangent: Operand,
        at: Value,
    ) -> Result<(), Diagnostic> {
        if !self.activity.has_shadow(v) {
            return Ok(());
        }
        let shadow = self.with_before(at, |driver, ctx, emit| {
            let (of, cell) = (driver.types.of(ty), Cell::of(&mut driver.types, ty));
            build::shadow_part(ctx, of, cell, tangent, emit)
        })?;
        let want = self.driver.types.shadow(ty);
        let shadow = self.as_type(shadow, want, at)?;
        self.out.shadows.insert(v, shadow);
        Ok(())
    }

    /// What a shadow holds for a value of which no cotangent has come yet, as a tangent of `ty`.
    fn initial(&mut self, value: Operand, ty: Type, at: Value) -> Result<Operand, Diagnostic> {
        let of = self.driver.types.of(ty);
        let shadow = self.shadow_for(value, of.shadow, at)?;
        let tangent = self.with_before(at, |driver, ctx, emit| {
            let cell = Cell::of(&mut driver.types, ty);
            let zero = build::zero(ctx, of.cotangent, emit);
            build::join_parts(ctx, of, cell, shadow, zero, emit)
        })?;
        self.as_type(tangent, of.tangent, at)
    }

    /// What is put into an object is put into its shadow as well, as far as it has one.
    pub(super) fn put(&mut self, v: Value) -> Result<(), Diagnostic> {
        let (object, value) = (self.operand(v, 0), self.operand(v, 1));
        let ty = self.element(self.out.f.operand_type(object));
        let is_push = self.out.f.op(v) == Some(mem::PUSH);
        let cell = Cell::of(&mut self.driver.types, ty);
        if cell == Cell::Float && !is_push {
            return Ok(());
        }
        let after = self.after(v);
        let tangent = self.initial(value, ty, after)?;
        let mut inst = self.out.f.statement(v);
        inst.operand_list_mut()[0] = self.shadow_of(object);
        inst.operand_list_mut()[1] = tangent;
        self.before(after, inst)?;
        Ok(())
    }

    pub(super) fn copy_to(&mut self, v: Value) -> Result<(), Diagnostic> {
        let (dest, source) = (self.operand(v, 0), self.operand(v, 1));
        let ty = self.element(self.out.f.operand_type(dest));
        if !self.driver.types.has_shadow(ty) || !self.activity.has_shadow(source) {
            return Ok(());
        }
        let after = self.after(v);
        let (dest, source) = (self.shadow_of(dest), self.shadow_of(source));
        self.before(after, mem::copyto(dest, source))?;
        Ok(())
    }

    /// The shadow of an object of a mutable struct as a ref to a named tuple, with the type of that.
    pub(super) fn object_shadow(
        &mut self,
        object: Operand,
        at: Value,
    ) -> Result<(Operand, Type), Diagnostic> {
        let ty = self.out.f.operand_type(object);
        let Some(want) = self.driver.types.object_shadow(ty) else {
            let loc = self.out.f.loc(at);
            return Err(self
                .driver
                .error("fields of a value whose type is not known have no derivative", loc));
        };
        let shadow = self.shadow_of(object);
        let shadow = self.as_type(shadow, want, at)?;
        Ok((shadow, self.element(want)))
    }

    pub(super) fn set_field(&mut self, v: Value) -> Result<(), Diagnostic> {
        let (object, value) = (self.operand(v, 0), self.operand(v, 2));
        let ty = self.out.f.operand_type(object);
        let after = self.after(v);
        let (shadow, named) = self.object_shadow(object, after)?;
        let Some((index, field)) = self.field(ty, self.operand(v, 1)) else {
            let loc = self.out.f.loc(v);
            let message = "a field that is known only when the program runs has no derivative";
            return Err(self.driver.error(message, loc));
        };
        let tangent = self.initial(value, field, after)?;
        let old = self.before(after, mem::ref_get(shadow))?;
        let new = self.with_before(after, |_, ctx, emit| {
            replace_part(ctx, named, old, index, tangent, emit)
        })?;
        self.before(after, mem::ref_set(shadow, new))?;
        Ok(())
    }

    /// The index from 0 and the type of a field that is a constant.
    pub(super) fn field(&self, ty: Type, field: Operand) -> Option<(usize, Type)> {
        field_of(&self.ctx, ty, self.out.f.constant(field)?)
    }

    /// Makes the shadow of what an instruction gives, beside it.
    pub(super) fn make_shadow(&mut self, v: Value) -> Result<(), Diagnostic> {
        let op = self.out.f.op(v).expect("it is an instruction");
        let ty = self.out.f.ty(v);
        let of = self.driver.types.of(ty);
        let at = self.after(v);
        let operands: Vec<Operand> = self.out.f.plain_operands(v).collect();
        let shadow = match op {
            core::SELECT => {
                let x = self.shadow_for(operands[1], of.shadow, at)?;
                let y = self.shadow_for(operands[2], of.shadow, at)?;
                self.before(at, core::select(operands[0], x, y))?
            }
            core::TYPEASSERT | core::CONVERT => self.shadow_for(operands[0], of.shadow, at)?,
            core::TUPLE | data::NAMED | data::NEW => {
                let wants = build::part_types(&self.ctx, of.shadow);
                let mut shadows = Vec::with_capacity(operands.len());
                for (i, &operand) in operands.iter().enumerate() {
                    let want = wants.get(i).copied().unwrap_or(Type::ANY);
                    shadows.push(self.shadow_for(operand, want, at)?);
                }
                if of.shadow == Type::ANY {
                    // A struct that contains itself: its shadow is known as any.
                    let names: Vec<_> = match self.ctx.struct_of(ty) {
                        Some(def) => def.fields.iter().map(|&(name, _)| name).collect(),
                        None => Vec::new(),
                    };
                    let fields: Vec<_> = names.into_iter().map(|name| (name, Type::ANY)).collect();
                    let named = self.ctx.named_type(&fields);
                    let made = self.before(at, data::named(shadows, named))?;
                    self.as_type(made, Type::ANY, at)?
                } else {
                    self.with_before(at, |_, ctx, emit| {
                        build::aggregate(ctx, of.shadow, &shadows, emit)
                    })?
                }
            }
            core::GET | data::GETFIELD
                if !self.is_object(operands[0]) && self.known_shadow(operands[0]).is_none() =>
            {
                // What is taken apart holds no object, whatever is known of its parts.
                self.with_before(at, |_, ctx, emit| build::zero(ctx, of.shadow, emit))?
            }
            core::GET => {
                let from = self.shadow_of(operands[0]);
                let part = if self.out.f.operand_type(from) == Type::ANY {
                    self.before(at, data::getfield(from, operands[1]))?
                } else {
                    self.before(at, core::get(from, operands[1]))?
                };
                self.as_type(part, of.shadow, at)?
            }
            data::GETFIELD => self.field_shadow(v, &operands, at)?,
            core::GLOBAL | ad::GLOBAL_SHADOW => {
                let level = scopes::level_operand(&self.ctx, self.driver.level);
                self.before(at, ad::global_shadow(v, level, of.shadow))?
            }
            core::UNDEF => self.before(at, core::undef(of.shadow))?,
            mem::ALLOC => {
                let element = self.element(ty);
                if Cell::of(&mut self.driver.types, element) == Cell::Value {
                    let zero = self.with_before(at, |driver, ctx, emit| {
                        build::zero(ctx, driver.types.tangent(element), emit)
                    })?;
                    self.before(at, mem::fill(zero, operands))?
                } else {
                    self.before(at, mem::alloc(operands, of.shadow))?
                }
            }
            mem::FILL => {
                let element = self.element(ty);
                let value = self.initial(operands[0], element, at)?;
                self.before(at, mem::fill(value, operands[1..].iter().copied()))?
            }
            mem::ARRAY => {
                let element = self.element(ty);
                let mut tangents = Vec::with_capacity(operands.len());
                for &operand in &operands {
                    tangents.push(self.initial(operand, element, at)?);
                }
                self.before(at, mem::array(tangents, of.shadow))?
            }
            mem::REF_NEW => {
                let element = self.element(ty);
                let value = self.initial(operands[0], element, at)?;
                self.before(at, mem::ref_new(value))?
            }
            data::NEW_OBJECT => {
                let want = self.driver.types.object_shadow(ty).expect("it makes an object");
                let named = self.element(want);
                let fields: Vec<Type> = match self.ctx.struct_of(ty) {
                    Some(def) => def.fields.iter().map(|&(_, field)| field).collect(),
                    None => Vec::new(),
                };
                let mut tangents = Vec::with_capacity(operands.len());
                for (&operand, &field) in operands.iter().zip(&fields) {
                    tangents.push(self.initial(operand, field, at)?);
                }
                let content = self.before(at, data::named(tangents, named))?;
                let made = self.before(at, mem::ref_new(content))?;
                self.as_type(made, of.shadow, at)?
            }
            mem::COPY => {
                let element = self.element(ty);
                let cell = Cell::of(&mut self.driver.types, element);
                match (cell, self.activity.has_shadow(operands[0])) {
                    (Cell::Float, _) => self.zeros_like(v, of.shadow, at)?,
                    // Nothing has come back to the copy, whatever is in the shadow already.
                    (Cell::Value, _) => self.before(at, ad::zero(v, of.shadow))?,
                    (_, true) => {
                        let from = self.shadow_of(operands[0]);
                        self.before(at, mem::copy(from))?
                    }
                    (_, false) => self.before(at, ad::zero(v, of.shadow))?,
                }
            }
            // There are no objects in a cotangent.
            ad::COTANGENT => {
                self.with_before(at, |_, ctx, emit| build::zero(ctx, of.shadow, emit))?
            }
            // What is in a tangent has shadows of its own, in the same places.
            ad::SHADOW | ad::JOIN | ad::ADD | ad::UNBOX => {
                self.shadow_for(operands[0], of.shadow, at)?
            }
            _ => self.zero_shadow(v, at)?,
        };
        self.out.shadows.insert(v, shadow);
        Ok(())
    }

    /// An array of zeros of the shape of `v`.
    fn zeros_like(&mut self, v: Value, ty: Type, at: Value) -> Result<Operand, Diagnostic> {
        let rank = match *self.ctx.kind(ty) {
            TypeKind::Array { rank, .. } => usize::from(rank),
            _ => return self.before(at, ad::zero(v, ty)),
        };
        let mut dims = Vec::with_capacity(rank);
        if rank == 1 {
            dims.push(self.before(at, mem::length(v))?);
        } else {
            for i in 1..=rank {
                let index = self.ctx.constant_id(Constant::I64(i as i64));
                dims.push(self.before(at, mem::size(v, index))?);
            }
        }
        self.before(at, mem::alloc(dims, ty))
    }

    fn field_shadow(
        &mut self,
        v: Value,
        operands: &[Operand],
        at: Value,
    ) -> Result<Operand, Diagnostic> {
        let ty = self.out.f.operand_type(operands[0]);
        let of = self.driver.types.of(self.out.f.ty(v));
        if !self.ctx.struct_of(ty).is_some_and(|def| def.mutable) {
            let from = self.shadow_of(operands[0]);
            if ty == Type::ANY {
                let loc = self.out.f.loc(v);
                return Err(self
                    .driver
                    .error("fields of a value whose type is not known have no derivative", loc));
            }
            let part = self.before(at, data::getfield(from, operands[1]))?;
            return self.as_type(part, of.shadow, at);
        }
        let (shadow, _) = self.object_shadow(operands[0], at)?;
        let content = self.before(at, mem::ref_get(shadow))?;
        let tangent = self.before(at, data::getfield(content, operands[1]))?;
        let field = self.out.f.ty(v);
        let tangent = self.as_type(tangent, of.tangent, at)?;
        self.with_before(at, |driver, ctx, emit| {
            let cell = Cell::of(&mut driver.types, field);
            build::shadow_part(ctx, of, cell, tangent, emit)
        })
    }

    /// A shadow of zeros for `v`.
    pub(super) fn zero_shadow(&mut self, v: Value, at: Value) -> Result<Operand, Diagnostic> {
        let ty = self.out.f.ty(v);
        let of = self.driver.types.of(ty);
        let zero = self.before(at, ad::zero(v, of.tangent))?;
        // Of what is not known, the types of both are `any`.
        if of.tangent == of.shadow && !self.driver.types.has_cotangent(ty) {
            Ok(zero)
        } else {
            self.before(at, ad::shadow(zero, of.shadow))
        }
    }
}
