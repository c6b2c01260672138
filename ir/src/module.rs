//! A module: the functions of a program, by name and in order.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use slotmap::SlotMap;

use crate::error::IrErrorKind;
use crate::used_structs::used_structs;
use crate::{Context, FuncId, Function, IrError, IrResult, StructDef, StructId, Symbol, Type};

/// Functions and struct types over one [`Context`]. The ids of a clone are those of the original.
#[derive(Clone, Debug)]
pub struct Module {
    ctx: Arc<Context>,
    functions: SlotMap<FuncId, Function>,
    by_name: FxHashMap<Symbol, FuncId>,
    order: Vec<FuncId>,
    structs: Vec<(StructId, Type)>,
    struct_by_name: FxHashMap<Symbol, (StructId, Type)>,
}

impl Module {
    /// A module without functions.
    pub fn new(ctx: &Arc<Context>) -> Self {
        Self {
            ctx: Arc::clone(ctx),
            functions: SlotMap::default(),
            by_name: FxHashMap::default(),
            order: Vec::new(),
            structs: Vec::new(),
            struct_by_name: FxHashMap::default(),
        }
    }

    /// A module of functions, in this order, and of the struct types that occur in them, each after
    /// those that its fields contain. Of several struct types of one name, it declares the first. O(size).
    ///
    /// # Errors
    /// If two functions have one name, or if a function is over another context.
    pub fn of_functions(
        ctx: &Arc<Context>,
        functions: impl IntoIterator<Item = Function>,
    ) -> IrResult<Self> {
        let mut module = Self::new(ctx);
        for function in functions {
            module.add(function)?;
        }
        for id in used_structs(ctx, module.functions()) {
            // Refused only if there is one of that name.
            let _ = module.adopt_struct(id);
        }
        Ok(module)
    }

    /// The context of its functions.
    pub fn ctx(&self) -> &Arc<Context> {
        &self.ctx
    }

    /// Adds a function at the end.
    ///
    /// # Errors
    /// If there is one of that name, or if it is over another context.
    pub fn add(&mut self, mut function: Function) -> IrResult<FuncId> {
        self.check_context(&function)?;
        let name = function.name();
        if self.by_name.contains_key(&name) {
            let message = format!("there is a function @{} already", self.ctx.str(name));
            return Err(IrError::new(IrErrorKind::Name, message));
        }
        // It was built in buffers that grow by doubling; what is kept is tight.
        function.shrink_to_fit();
        let id = self.functions.insert(function);
        self.by_name.insert(name, id);
        self.order.push(id);
        Ok(id)
    }

    fn check_context(&self, function: &Function) -> IrResult<()> {
        if Arc::ptr_eq(&self.ctx, function.ctx()) {
            return Ok(());
        }
        let message = format!("@{} is over another context", function.name_str());
        Err(IrError::new(IrErrorKind::Unsuitable, message))
    }

    /// Puts `function` in the place of the one that `id` names, under the same id. Its name
    /// has to be the same.
    ///
    /// # Errors
    /// If `id` is stale, the names differ, or it is over another context.
    pub fn set(&mut self, id: FuncId, function: Function) -> IrResult<Function> {
        self.check_context(&function)?;
        let Some(place) = self.functions.get_mut(id) else {
            return Err(IrError::new(IrErrorKind::StaleValue, "the function was removed"));
        };
        if place.name() != function.name() {
            let message =
                format!("@{} cannot stand for @{}", function.name_str(), place.name_str());
            return Err(IrError::new(IrErrorKind::Name, message));
        }
        Ok(std::mem::replace(place, function))
    }

    /// Removes a function and returns it. O(functions).
    pub fn remove(&mut self, id: FuncId) -> Option<Function> {
        let function = self.functions.remove(id)?;
        self.by_name.remove(&function.name());
        self.order.retain(|&other| other != id);
        Some(function)
    }

    /// Renames a function. Calls of it are not changed.
    ///
    /// # Errors
    /// If `id` is stale or the name is taken.
    pub fn rename(&mut self, id: FuncId, name: &str) -> IrResult<()> {
        let symbol = self.ctx.symbol(name);
        let Some(function) = self.functions.get_mut(id) else {
            return Err(IrError::new(IrErrorKind::StaleValue, "the function was removed"));
        };
        if self.by_name.get(&symbol).is_some_and(|&other| other != id) {
            let message = format!("there is a function @{name} already");
            return Err(IrError::new(IrErrorKind::Name, message));
        }
        self.by_name.remove(&function.name());
        function.set_name(symbol);
        self.by_name.insert(symbol, id);
        Ok(())
    }

    /// The function that `id` names.
    pub fn get(&self, id: FuncId) -> Option<&Function> {
        self.functions.get(id)
    }

    /// The function that `id` names, to be changed. Use [`Module::rename`] to rename it.
    pub fn get_mut(&mut self, id: FuncId) -> Option<&mut Function> {
        self.functions.get_mut(id)
    }

    /// The function of that name.
    pub fn find(&self, name: Symbol) -> Option<FuncId> {
        self.by_name.get(&name).copied()
    }

    /// The function of that name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.get(self.find(self.ctx.find_symbol(name)?)?)
    }

    /// The function of that name, to be changed.
    pub fn function_mut(&mut self, name: &str) -> Option<&mut Function> {
        self.get_mut(self.find(self.ctx.find_symbol(name)?)?)
    }

    /// The ids of the functions, in order.
    pub fn ids(&self) -> &[FuncId] {
        &self.order
    }

    /// The functions in order.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = &Function> + '_ {
        self.order.iter().map(|&id| &self.functions[id])
    }

    /// All functions with their ids, to be changed independently of each other (in parallel,
    /// say), in no particular order.
    pub fn functions_mut(&mut self) -> impl Iterator<Item = (FuncId, &mut Function)> + '_ {
        self.functions.iter_mut()
    }

    /// Declares a struct type.
    ///
    /// # Errors
    /// If there is one of that name.
    pub fn add_struct(&mut self, def: StructDef) -> IrResult<(StructId, Type)> {
        self.take_struct(def.name, |ctx| ctx.add_struct(def))
    }

    /// Takes in the struct type that `make` gives, unless there is one of its name.
    #[track_caller]
    fn take_struct(
        &mut self,
        name: Symbol,
        make: impl FnOnce(&Context) -> (StructId, Type),
    ) -> IrResult<(StructId, Type)> {
        if self.struct_by_name(name).is_some() {
            let message = format!("there is a struct @{} already", self.ctx.str(name));
            return Err(IrError::new(IrErrorKind::Name, message));
        }
        let made = make(&self.ctx);
        self.structs.push(made);
        self.struct_by_name.insert(name, made);
        Ok(made)
    }

    /// Takes in a struct type that [`add_struct`](crate::Interned::add_struct) declared, as a reader
    /// does that has to know all of them before it can tell whether any is right.
    ///
    /// # Errors
    /// If there is one of that name.
    ///
    /// # Panics
    /// If there is no such struct.
    #[track_caller]
    pub fn adopt_struct(&mut self, id: StructId) -> IrResult<Type> {
        let name = self.ctx.struct_def(id).name;
        self.take_struct(name, |ctx| (id, ctx.ty(crate::TypeKind::Struct(id)))).map(|made| made.1)
    }

    /// The struct types in order.
    pub fn structs(&self) -> &[(StructId, Type)] {
        &self.structs
    }

    /// The struct type of that name.
    pub fn struct_by_name(&self, name: Symbol) -> Option<(StructId, Type)> {
        self.struct_by_name.get(&name).copied()
    }

    /// The number of instructions of all functions, terminators not counted.
    pub fn inst_count(&self) -> usize {
        self.functions().map(Function::inst_count).sum()
    }

    /// Returns whether two modules have structurally equal functions of the same names in the same
    /// order, and the same struct types.
    pub fn structural_eq(&self, other: &Self) -> bool {
        let text = |m: &Self, id: StructId| {
            let def = m.ctx.struct_def(id);
            let fields: Vec<(String, String)> = def
                .fields
                .iter()
                .map(|&(n, t)| (m.ctx.str(n).to_owned(), m.ctx.type_text(t)))
                .collect();
            let call = def.call.map(|c| m.ctx.str(c).to_owned());
            (m.ctx.str(def.name).to_owned(), def.mutable, fields, call)
        };
        self.order.len() == other.order.len()
            && self.structs.len() == other.structs.len()
            && self
                .structs
                .iter()
                .zip(&other.structs)
                .all(|(a, b)| text(self, a.0) == text(other, b.0))
            && self
                .functions()
                .zip(other.functions())
                .all(|(a, b)| a.name_str() == b.name_str() && a.structural_eq(b))
    }
}
