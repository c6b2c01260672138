//! Programs that come as IR: their structs become types, and their functions methods.
//!
//! A function with typed instructions is lowered code like any other: inference finds the same
//! types in it again, or better ones where the arguments tell more, and calls by name find what is
//! defined under it. So IR and scripts call each other, and what is derived of functions of
//! scripts is derived of these as well.

use std::rc::Rc;
use std::sync::Arc;

use regraft_dialects::core;
use regraft_ir::{
    Constant, Diagnostic, Function, IrResult, Loc, Module, Operand, StructId, Symbol, Type, Value,
};
use rustc_hash::FxHashMap;

use super::define::Header;
use super::entities::{Binding, Field};
use super::tables::World;
use super::types::{FamilyKind, StructInfo, Ty};
use crate::definition::{
    Callee, MethodDef, MethodHead, ParamDecl, Space, StructDecl, TypeExpr, TypeExprKind,
};

impl World {
    /// Defines the structs and the functions of a module of the context of the world. Those that
    /// were defined under the same names before are replaced.
    ///
    /// # Errors
    /// If a name stands for something else.
    pub(crate) fn define_module(&mut self, module: &Module) -> Result<(), Vec<Diagnostic>> {
        for &(id, ty) in module.structs() {
            self.adopt_struct(id, ty)?;
        }
        let mut errors = Vec::new();
        // What has a name of the prelude is known to all under another one.
        let mut known = FxHashMap::default();
        for f in module.functions() {
            match self.declare_function(f.name(), Space::Main, f.function_loc()) {
                Ok(symbol) => drop(known.insert(f.name(), symbol)),
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        for f in module.functions() {
            let body = Arc::new(self.with_known_names(f, &known));
            let mut define = |callee: Callee, skip: usize| {
                let def = method(f, Arc::clone(&body), callee, skip);
                self.define(def).map(drop)
            };
            if let Err(more) = define(Callee::Function(f.name()), 0) {
                errors.extend(more);
            }
            // What runs when a struct is called.
            for &(id, ty) in module.structs() {
                if module.ctx().struct_def(id).call == Some(f.name())
                    && let Err(more) = define(Callee::Instance(exactly(ty)), 1)
                {
                    errors.extend(more);
                }
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// The code with the names in place of functions as values under which these are known to all.
    fn with_known_names(&self, f: &Function, known: &FxHashMap<Symbol, Symbol>) -> Function {
        let mut f = f.clone();
        leave_entry_alone(&mut f).expect("the function is valid");
        let values: Vec<_> = f.blocks().flat_map(|b| f.insts(b)).collect();
        for v in values {
            // Callees are looked up by their own names.
            let first = match f.op(v) {
                Some(core::CALL) => 1,
                Some(core::TRY) => 2,
                _ => 0,
            };
            for index in first..f.operand_count(v) {
                let name = f.operand(v, index).and_then(|operand| f.const_func(operand));
                if let Some(name) = name
                    && let Some(&symbol) = known.get(&name)
                    && symbol != name
                {
                    let symbol = f.constant_id(Constant::Func(symbol));
                    f.set_operand(v, index, symbol).expect("there was a function before");
                }
            }
        }
        f
    }

    /// Makes a struct type of the IR a type of the world, with the constructors of any struct.
    fn adopt_struct(&mut self, id: StructId, ty: Type) -> Result<(), Vec<Diagnostic>> {
        if self.types.members.contains_key(&ty) {
            return Ok(());
        }
        let def = self.ctx.struct_def(id);
        let fields: Rc<[(Symbol, Ty)]> =
            def.fields.iter().map(|&(name, ty)| (name, self.types.ty_of(ty))).collect();
        let known: Vec<Field> = def
            .fields
            .iter()
            .zip(fields.iter())
            .map(|(&(name, stored), (_, ty))| Field {
                name,
                declared: self.types.type_value(ty),
                stored,
                left_out: None,
            })
            .collect();
        // It is the only member of its family, whose name alone stands for it.
        let family = self.next_family();
        self.types.members.insert(ty, (family, Rc::new([])));
        self.types.instances.insert((family, Rc::new([])), ty);
        self.types.fields.insert(ty, known.into());
        let info = StructInfo {
            mutable: def.mutable,
            closure: false,
            fields: Some(fields),
            fixed: Rc::new([]),
            given: def.fields.len(),
            ir_name: def.name,
        };
        let header = Header { params: Rc::new([]), supertype: Ty::Any };
        let made = self.add_family(def.name, header, FamilyKind::Struct(info), Loc::UNKNOWN);
        debug_assert_eq!(made, family);
        self.set(def.name, Space::Main, Binding::Type(ty));
        let decl = StructDecl {
            name: def.name,
            params: Vec::new(),
            supertype: None,
            mutable: def.mutable,
            fields: def.fields.iter().map(|&(name, ty)| (name, exactly(ty))).collect(),
            fixed: Vec::new(),
            given: def.fields.len(),
            constructors: Vec::new(),
            space: Space::Main,
            loc: Loc::UNKNOWN,
        };
        self.define_default(&decl, family, self.age() + 1)
    }
}

/// Gives a function whose entry is the header of a loop another entry: lowered code has none that
/// anything goes back to. O(size of the entry, and uses of the parameters).
fn leave_entry_alone(f: &mut Function) -> IrResult<()> {
    let Some(entry) = f.entry().filter(|&entry| f.has_predecessors(entry)) else { return Ok(()) };
    let Some(term) = f.terminator(entry) else { return Ok(()) };
    let first = f.first_inst(entry).unwrap_or(term);
    let header = f.split_block(first)?;
    let params: Vec<Value> = f.params(entry).collect();
    for &param in &params {
        let inner = f.add_param(header, f.ty(param), |_| Some(param))?;
        // The new jump alone passes the argument on.
        f.replace_uses_if(param, inner, |f, at| f.block_of(at.user) != entry)?;
    }
    for edge in f.in_edges_in_order(entry) {
        let args: Vec<Operand> = f.edge_args(edge).collect();
        f.redirect(edge, header, args)?;
    }
    Ok(())
}

/// A type of the IR as a program would write it.
fn exactly(ty: Type) -> TypeExpr {
    TypeExpr { kind: TypeExprKind::Constant(Constant::Type(ty)), loc: Loc::UNKNOWN }
}

/// The method that a function is; the first `skip` parameters are the callee.
fn method(f: &Function, body: Arc<Function>, callee: Callee, skip: usize) -> MethodDef {
    let names = f.entry().map(|entry| f.params(entry).map(|v| f.value_symbol(v)).collect());
    let names: Vec<Option<Symbol>> = names.unwrap_or_default();
    let types = f.param_types().into_iter().map(exactly);
    let params = names.into_iter().zip(types).map(|(name, ty)| ParamDecl { name, ty });
    let params = params.skip(skip).collect();
    let head = MethodHead::plain(callee, params, Space::Main, f.function_loc());
    MethodDef { head, body, closures: Vec::new(), generator: None }
}
