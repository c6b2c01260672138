//! Instructions of any op, from its signature.

use regraft_dialects::arith;
use regraft_ir::{Attrs, Inst, OpDef, Operand, ResultType, Traits, Type, TypeClass, TypePattern};

use super::body::{Body, Var};
use super::types::{array_element, ref_element};

/// Types that a declared result may have, if the signature does not say.
const DECLARED: [Type; 8] =
    [Type::F64, Type::I64, Type::I32, Type::F32, Type::I8, Type::I16, Type::BOOL, Type::ANY];

impl Body<'_, '_> {
    /// A statement of a random op.
    pub(super) fn any_statement(&mut self) {
        if let Some(def) = self.any_op() {
            self.statement_of(def);
        }
    }

    /// A statement of `def`, unless no operands can be found that fit.
    pub(super) fn statement_of(&mut self, def: &'static OpDef) {
        let made = match self.special(def) {
            Some(made) => made,
            None => self.generic(def),
        };
        if let Some(var) = made {
            self.define(var);
        }
    }

    fn generic(&mut self, def: &'static OpDef) -> Option<Var> {
        if matches!(def.result, ResultType::Is(Type::NEVER)) {
            // What follows would not run; those that end a path are made where paths end.
            return None;
        }
        let fixed = def.operands.len() - usize::from(def.variadic);
        let extra = if def.variadic { self.c().below(4) } else { 0 };
        let mut bound: [Option<Type>; 4] = [None; 4];
        let mut operands: Vec<Operand> = Vec::with_capacity(fixed + extra);
        for i in 0..fixed + extra {
            let spec = def.operands[i.min(def.operands.len() - 1)];
            let var = self.operand_of(def, i, spec.pattern, &mut bound)?;
            operands.push(var.operand);
        }
        let inst = Inst::new(def.op).operands(operands).with_attrs(self.attrs_of(def)?);
        let value = match def.result {
            ResultType::Declared => self.push_declared(&inst)?,
            _ => self.try_push(inst).ok()?,
        };
        let ty = self.f.ty(value);
        let known = match def.result {
            ResultType::Var(v) => bound[usize::from(v)].unwrap_or(ty),
            _ => ty,
        };
        Some(Var { operand: value.into(), ty, known })
    }

    fn operand_of(
        &mut self,
        def: &'static OpDef,
        index: usize,
        pattern: TypePattern,
        bound: &mut [Option<Type>; 4],
    ) -> Option<Var> {
        match pattern {
            TypePattern::Is(ty) => Some(self.guarded(def, index, ty)),
            TypePattern::Var(v) => {
                let class = def.type_vars[usize::from(v)];
                let shared = &mut *self.shared;
                let slot = &mut bound[usize::from(v)];
                let ty = *slot.get_or_insert_with(|| shared.types.of(class, &mut shared.choices));
                // A variable that stands for `any` takes everything.
                Some(if ty == Type::ANY { self.anything() } else { self.guarded(def, index, ty) })
            }
            TypePattern::ArrayOf(v) => {
                let element = self.element_of_class(def, v, bound);
                let var = self.array(element)?;
                bound[usize::from(v)] = array_element(self.shared.ctx.kind(var.known));
                Some(var)
            }
            TypePattern::RefOf(v) => {
                let element = self.element_of_class(def, v, bound);
                let var = self.reference(element)?;
                bound[usize::from(v)] = ref_element(self.shared.ctx.kind(var.known));
                Some(var)
            }
            TypePattern::Anything => Some(self.anything()),
        }
    }

    /// The type that elements are to have for a type variable, if not any will do.
    fn element_of_class(
        &mut self,
        def: &OpDef,
        var: u8,
        bound: &[Option<Type>; 4],
    ) -> Option<Type> {
        let class = def.type_vars[usize::from(var)];
        let shared = &mut *self.shared;
        bound[usize::from(var)].or_else(|| {
            let is_any = class == TypeClass::Any;
            (!is_any).then(|| shared.types.of(class, &mut shared.choices))
        })
    }

    /// An operand of type `ty`, which, if the op may trap on numbers, is mostly one on which it
    /// does not.
    fn guarded(&mut self, def: &'static OpDef, index: usize, ty: Type) -> Var {
        let traps = def.traits.contains(Traits::MAY_TRAP) && def.traits.contains(Traits::PURE);
        let dynamic = self.dynamic();
        if !traps || self.risk() {
            return self.operand(ty, dynamic);
        }
        if ty.is_int() && index > 0 {
            // Divisors, exponents, and what is added with a check: small and positive.
            let value = self.c().pick(&[1, 2, 3, 7]);
            let constant = regraft_ir::Constant::int(ty, value).expect("an integer type");
            return Var { operand: self.constant(constant), ty, known: ty };
        }
        if ty.is_float() && self.allows(arith::MIN) && self.allows(arith::ABS) {
            // Between 0 and 1: in the domain of nearly every function.
            let x = self.operand(ty, false);
            let x = self.push(arith::abs(x.operand));
            let one = regraft_ir::Constant::float(ty, 1.0).expect("a float type");
            let one = self.constant(one);
            let x = self.push(arith::min(x, one));
            return Var { operand: x.into(), ty, known: ty };
        }
        self.operand(ty, dynamic)
    }

    fn attrs_of(&mut self, def: &'static OpDef) -> Option<Attrs> {
        if def.attrs.is_empty() {
            return Some(Attrs::NONE);
        }
        let ctx = self.ctx();
        let mut entries = Vec::new();
        for attr in def.attrs {
            if !attr.required && !self.c().chance(25) {
                continue;
            }
            let ty = match attr.pattern {
                TypePattern::Is(ty) => ty,
                _ => Type::I64,
            };
            match super::special_constant(&ctx, ty, self.c()) {
                Some(constant) => {
                    entries.push((ctx.symbol(attr.name), ctx.constant_id(constant)));
                }
                None if attr.required => return None,
                None => {}
            }
        }
        Some(ctx.attrs(&entries))
    }

    /// Appends an instruction whose type has to be stated: with the first type that fits, from
    /// a random one on.
    fn push_declared(&mut self, inst: &Inst) -> Option<regraft_ir::Value> {
        let first = self.c().below(DECLARED.len());
        let types = DECLARED[first..].iter().chain(&DECLARED[..first]);
        for &ty in types {
            if let Ok(value) = self.try_push(inst.clone().with_type(ty)) {
                return Some(value);
            }
        }
        None
    }
}
