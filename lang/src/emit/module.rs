//! A module of a specialisation and all that it calls.

use std::rc::Rc;
use std::sync::Arc;

use regraft_dialects::core as core_ops;
use regraft_ir::{Function, Module, OperandKind, StructId, Symbol, Type, TypeKind};
use rustc_hash::FxHashSet;

use super::Emitter;
use crate::world::SpecId;

impl Emitter<'_> {
    /// The function of a specialisation, and behind it every function that it calls directly, in
    /// the order in which the calls stand. Struct types that occur are part of the module.
    /// O(size).
    pub(crate) fn module_of(&mut self, id: SpecId) -> Module {
        let mut functions: Vec<Rc<Function>> = Vec::new();
        let mut seen: FxHashSet<SpecId> = FxHashSet::default();
        let mut work = vec![id];
        seen.insert(id);
        while let Some(id) = work.pop() {
            let function = self.function(id);
            let mut callees = Vec::new();
            for name in called(&function) {
                if let Some(callee) = self.spec_by_name(name)
                    && seen.insert(callee)
                {
                    callees.push(callee);
                }
            }
            work.extend(callees.into_iter().rev());
            functions.push(function);
        }
        let ctx = Arc::clone(self.ctx());
        let mut module = Module::new(&ctx);
        let mut structs = Structs { ctx: &ctx, seen: FxHashSet::default(), found: Vec::new() };
        for function in &functions {
            structs.of_function(function);
        }
        for id in structs.found {
            // Types of one name cannot both be there; the world gives each its own.
            let _ = module.adopt_struct(id);
        }
        for function in functions {
            module.add((*function).clone()).expect("specialisations have names of their own");
        }
        module
    }
}

/// The functions that are called by name, in order.
fn called(f: &Function) -> Vec<Symbol> {
    let calls = f.all_insts().filter(|&v| f.op(v) == Some(core_ops::CALL));
    calls.filter_map(|v| f.operand(v, 0).and_then(|callee| f.const_func(callee))).collect()
}

/// Collects struct types, each before those that contain it.
struct Structs<'a> {
    ctx: &'a regraft_ir::Context,
    seen: FxHashSet<Type>,
    found: Vec<StructId>,
}

impl Structs<'_> {
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
