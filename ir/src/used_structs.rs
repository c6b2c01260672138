//! The struct types that occur in functions.

use rustc_hash::FxHashSet;

use crate::{Context, Function, OperandKind, StructId, Type, TypeKind};

/// The struct types that occur in functions, each after those that its fields contain. O(size).
pub(crate) fn used_structs<'f>(
    ctx: &Context,
    functions: impl IntoIterator<Item = &'f Function>,
) -> Vec<StructId> {
    let mut used = UsedStructs { ctx, seen: FxHashSet::default(), found: Vec::new() };
    functions.into_iter().for_each(|f| used.of_function(f));
    used.found
}

struct UsedStructs<'a> {
    ctx: &'a Context,
    seen: FxHashSet<Type>,
    found: Vec<StructId>,
}

impl UsedStructs<'_> {
    fn of_function(&mut self, f: &Function) {
        self.of_type(f.ret_type());
        for block in f.blocks() {
            for param in f.params(block) {
                self.of_type(f.ty(param));
            }
            for v in f.insts(block) {
                self.of_type(f.ty(v));
                for operand in f.operands(v) {
                    if let OperandKind::Const(constant) = operand.kind() {
                        self.of_type(self.ctx.constant_type(constant));
                    }
                }
            }
        }
    }

    /// The recursion is as deep as types are nested, which the context limits.
    fn of_type(&mut self, ty: Type) {
        if ty.index() < Type::BUILTIN.len() || !self.seen.insert(ty) {
            return;
        }
        match self.ctx.kind(ty) {
            TypeKind::Tuple(elements) => elements.iter().for_each(|&ty| self.of_type(ty)),
            TypeKind::Named(fields) => fields.iter().for_each(|&(_, ty)| self.of_type(ty)),
            &TypeKind::Struct(id) => {
                let def = self.ctx.struct_def(id);
                def.fields.iter().for_each(|&(_, ty)| self.of_type(ty));
                self.found.push(id);
            }
            &(TypeKind::Array { element: of, .. } | TypeKind::Ref(of) | TypeKind::TypeOf(of)) => {
                self.of_type(of);
            }
            &TypeKind::Val(constant) => self.of_type(self.ctx.constant_type(constant)),
            TypeKind::Builtin | TypeKind::Fn(_) => {}
        }
    }
}
