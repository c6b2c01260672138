//! The parts of tangents whose types are known, by ordinary ops: what an entry wrapper does around
//! the functions of a derivative.

use std::sync::Arc;

use regraft_ad::tangent::TangentTypes;
use regraft_dialects::{ad, cf, core, data};
use regraft_ir::{Block, Constant, Context, Function, Inst, Loc, Operand, Symbol, Type, TypeKind};

use crate::infer::field_types;

/// Gives a function an attribute that is true.
pub(super) fn mark(f: &mut Function, attribute: &str) {
    let ctx = Arc::clone(f.ctx());
    let mut entries = ctx.attr_entries(f.function_attrs()).to_vec();
    entries.push((ctx.symbol(attribute), ctx.constant_id(true)));
    f.set_function_attrs(ctx.attrs(&entries));
}

/// A function of one block that is being written.
pub(super) struct Writer<'a> {
    pub(super) ctx: Arc<Context>,
    pub(super) types: &'a mut TangentTypes,
    pub(super) f: Function,
    block: Block,
    /// The place of the function that is differentiated.
    loc: Loc,
}

impl<'a> Writer<'a> {
    /// A function of that name, parameters and result, for one that was written at `loc`.
    pub(super) fn new(
        types: &'a mut TangentTypes,
        name: Symbol,
        params: &[Type],
        result: Type,
        loc: Loc,
    ) -> Self {
        let ctx = Arc::clone(types.ctx());
        let f = Function::new(&ctx, ctx.str(name), params, result);
        let block = f.entry().expect("a new function has an entry");
        Self { ctx, types, f, block, loc }
    }

    /// Its parameters.
    pub(super) fn params(&self) -> Vec<Operand> {
        self.f.params(self.block).map(Operand::from).collect()
    }

    /// Adds an instruction.
    ///
    /// # Panics
    /// If it does not fit: an entry wrapper is written for types that are known.
    pub(super) fn push(&mut self, inst: Inst) -> Operand {
        match self.f.push(self.block, inst.at(self.loc)) {
            Ok(value) => value.into(),
            Err(error) => panic!("the entry wrapper @{} does not fit: {error}", self.f.name_str()),
        }
    }

    /// The function, which returns `result`; its type becomes that of the function.
    pub(super) fn finish(mut self, result: Operand) -> Function {
        let ty = self.f.operand_type(result);
        self.f.set_ret_type(ty);
        if let Err(error) = self.f.set_terminator(self.block, cf::ret(result)) {
            panic!("the entry wrapper @{} does not fit: {error}", self.f.name_str());
        }
        self.f
    }

    pub(super) fn ty(&self, operand: Operand) -> Type {
        self.f.operand_type(operand)
    }

    pub(super) fn constant(&self, constant: Constant) -> Operand {
        self.ctx.constant_id(constant).into()
    }

    pub(super) fn unit(&self) -> Operand {
        self.constant(Constant::Unit)
    }

    /// Calls a function by its name.
    pub(super) fn call(&mut self, name: Symbol, args: Vec<Operand>, ty: Type) -> Operand {
        let callee = self.constant(Constant::Func(name));
        self.push(core::call(callee, args, ty))
    }

    /// Calls a generic function, whatever method that is.
    pub(super) fn apply(&mut self, name: &str, args: Vec<Operand>) -> Operand {
        let callee = self.constant(Constant::Func(self.ctx.symbol(name)));
        self.push(core::apply(callee, args, Type::ANY))
    }

    /// Begins or ends the derivative, for shadows of what globals hold, if there are any.
    pub(super) fn scope(&mut self, begins: bool, level: Option<i64>) {
        if let Some(level) = level {
            let level = self.ctx.constant_id(Constant::I64(level));
            self.push(if begins { ad::begin(level) } else { ad::end(level) });
        }
    }

    pub(super) fn tuple(&mut self, parts: Vec<Operand>) -> Operand {
        self.push(core::tuple(parts))
    }

    /// The part at a position, from 0.
    pub(super) fn get(&mut self, tuple: Operand, index: usize) -> Operand {
        let index = self.constant(Constant::I64(index as i64 + 1));
        self.push(core::get(tuple, index))
    }

    /// The part of a tuple, named tuple or struct at a position, from 0.
    pub(super) fn field(&mut self, whole: Operand, index: usize) -> Operand {
        if self.ctx.struct_of(self.ty(whole)).is_none() {
            return self.get(whole, index);
        }
        let index = self.constant(Constant::I64(index as i64 + 1));
        self.push(data::getfield(whole, index))
    }

    /// The parts of a tuple.
    pub(super) fn parts(&mut self, tuple: Operand) -> Vec<Operand> {
        let count = field_types(&self.ctx, self.ty(tuple)).len();
        (0..count).map(|index| self.get(tuple, index)).collect()
    }

    /// A tuple or named tuple of type `ty`.
    pub(super) fn aggregate(&mut self, ty: Type, parts: Vec<Operand>) -> Operand {
        match self.ctx.kind(ty) {
            TypeKind::Named(_) => self.push(data::named(parts, ty)),
            _ => self.tuple(parts),
        }
    }

    /// Returns whether tangents of `ty` are tuples or named tuples of tangents of its parts; the
    /// types of these parts.
    pub(super) fn structure(&mut self, ty: Type) -> Option<Vec<Type>> {
        let tangent = self.types.tangent(ty);
        match self.ctx.kind(tangent) {
            TypeKind::Tuple(_) | TypeKind::Named(_) => Some(field_types(&self.ctx, ty).to_vec()),
            _ => None,
        }
    }

    /// The part with an identity of `tangent`, a tangent of a `ty`. The recursion is as deep as
    /// types are nested.
    pub(super) fn shadow(&mut self, ty: Type, tangent: Operand) -> Operand {
        self.half(ty, tangent, true)
    }

    /// The other part.
    pub(super) fn cotangent(&mut self, ty: Type, tangent: Operand) -> Operand {
        self.half(ty, tangent, false)
    }

    fn half(&mut self, ty: Type, tangent: Operand, is_shadow: bool) -> Operand {
        let of = self.types.of(ty);
        let (want, has_other) = match is_shadow {
            true => (of.shadow, self.types.has_cotangent(ty)),
            false => (of.cotangent, self.types.has_shadow(ty)),
        };
        if !has_other {
            return tangent;
        }
        match self.structure(ty) {
            Some(parts) => {
                let mut halves = Vec::with_capacity(parts.len());
                for (index, part) in parts.into_iter().enumerate() {
                    let tangent = self.get(tangent, index);
                    halves.push(self.half(part, tangent, is_shadow));
                }
                self.aggregate(want, halves)
            }
            None if want == Type::UNIT => self.unit(),
            None if is_shadow => self.push(ad::shadow(tangent, want)),
            None => self.push(ad::cotangent(tangent, want)),
        }
    }

    /// The tangent of a `ty` of these parts.
    pub(super) fn join(&mut self, ty: Type, shadow: Operand, cotangent: Operand) -> Operand {
        let of = self.types.of(ty);
        if of.tangent == Type::ANY {
            return self.push(ad::join(shadow, cotangent, Type::ANY));
        }
        if !self.types.has_cotangent(ty) {
            return shadow;
        }
        if !self.types.has_shadow(ty) {
            return cotangent;
        }
        match self.structure(ty) {
            Some(parts) => {
                let mut joined = Vec::with_capacity(parts.len());
                for (index, part) in parts.into_iter().enumerate() {
                    let (shadow, cotangent) = (self.get(shadow, index), self.get(cotangent, index));
                    joined.push(self.join(part, shadow, cotangent));
                }
                self.aggregate(of.tangent, joined)
            }
            None => self.push(ad::join(shadow, cotangent, of.tangent)),
        }
    }

    /// The zero of a shadow, cotangent or tangent type in which nothing has an identity; `None`
    /// if something has.
    pub(super) fn zero(&mut self, ty: Type) -> Option<Operand> {
        Some(match ty {
            Type::UNIT | Type::ANY => self.unit(),
            Type::F64 | Type::F32 => self.constant(Constant::zero(ty)?),
            _ => {
                let parts = match self.ctx.kind(ty) {
                    TypeKind::Tuple(_) | TypeKind::Named(_) => field_types(&self.ctx, ty),
                    _ => return None,
                };
                let mut zeros = Vec::with_capacity(parts.len());
                for part in parts {
                    zeros.push(self.zero(part)?);
                }
                self.aggregate(ty, zeros)
            }
        })
    }
}

/// The zero tangent of a value of type `ty`.
pub(super) fn zero_of(w: &mut Writer<'_>, ty: Type, value: Operand) -> Operand {
    let tangent = w.types.tangent(ty);
    if !w.types.has_shadow(ty)
        && let Some(zero) = w.zero(tangent)
    {
        return zero;
    }
    w.push(ad::zero(value, tangent))
}
