//! Functions of a session that are to run without it.

use regraft_ir::{Diagnostic, Function, Module, Type, TypeKind};
use regraft_passes::Pipeline;

use super::Session;
use super::entry::{Entry, TypedCall};
use super::stages::optimize;
use super::typed_gradient::is_constant;

/// A function that runs without its session, optimized as a whole.
#[derive(Debug)]
pub struct Closed {
    /// The function is the first one; the others are all that it needs.
    pub module: Module,
    /// The name of the function in the language.
    pub name: String,
    /// The function with its parameters, their types and that of its result, as the language writes it:
    /// `f(x::Vector{Float64}, n::Int64)::Float64`.
    pub title: String,
    /// Of a gradient, the first parameter that it is by, and the first one that takes a derivative.
    pub shadows: Option<(usize, usize)>,
}

impl Session {
    /// The function that a call runs, for arguments of its types, with all that it needs.
    ///
    /// ```
    /// # use regraft_lang::{Entry, Session};
    /// let mut session = Session::new(&regraft_dialects::context());
    /// session.run("f.jl", "f(x, n) = x[n]").unwrap();
    /// let closed = session.closed(Entry::Types("f(Vector{Float64}, Int)"), None).unwrap();
    /// assert_eq!(closed.title, "f(x::Vector{Float64}, n::Int64)::Float64");
    /// ```
    ///
    /// # Errors
    /// As of [`optimized`](Self::optimized).
    pub fn closed(
        &mut self,
        entry: Entry<'_>,
        pipeline: Option<&Pipeline>,
    ) -> Result<Closed, Vec<Diagnostic>> {
        let call = self.resolve_entry(entry)?;
        let mut module = self.typed_module(&call)?;
        self.resolve_calls(&mut module)?;
        let title = self.title(&call, &module);
        optimize(&mut module, pipeline, self.compiler.borrow().math())?;
        if pipeline.is_none() {
            self.compiler.borrow().finish_for_native(&mut module)?;
        }
        let name = name(&module).to_owned();
        Ok(Closed { module, name, title, shadows: None })
    }

    /// The gradient of the function that a call runs. Behind its parameters are as many others, which take
    /// the derivatives: an array for an array, one of one element for a number, and nothing for what has none. The result is
    /// the value. If `by` names parameters, or gives their numbers from 1, the others are constants.
    ///
    /// # Errors
    /// As of [`compile_gradient`](Self::compile_gradient); if there is no such parameter, or it has no derivative.
    pub fn closed_gradient(
        &mut self,
        entry: Entry<'_>,
        by: &[&str],
    ) -> Result<Closed, Vec<Diagnostic>> {
        let (call, function) = self.resolve_callee(entry)?;
        let primal = self.typed_module(&call)?;
        let names = self.param_names(&call, &primal);
        let shadows = self.shadows(&call, &names, by).map_err(|error| vec![error])?;
        let title = format!("the value and the gradient of {}", self.title(&call, &primal));
        let name = name(&primal).to_owned();
        let groups = [call.args.clone(), shadows];
        let count = call.args.len();
        let call = self.derivative_call(call, "#gradient_to", &groups);
        let module = self.typed_module(&call)?;
        let mut module = self.derivative_module(&module, &function, &groups)?;
        self.compiler.borrow().finish_for_native(&mut module)?;
        let first = usize::from(!is_constant(&function));
        let id = module.ids().first().copied();
        if let Some(f) = id.and_then(|id| module.get_mut(id)) {
            for (at, name) in (first..).zip(&names) {
                let param = f.entry().and_then(|entry| f.param(entry, at));
                let Some(param) = param else { continue };
                f.set_name_of(param, name.as_deref()).map_err(|error| vec![error.into()])?;
            }
        }
        Ok(Closed { module, name, title, shadows: Some((first, first + count)) })
    }

    /// The types of what takes the derivatives by the arguments of a call.
    fn shadows(
        &self,
        call: &TypedCall,
        names: &[Option<String>],
        by: &[&str],
    ) -> Result<Vec<Type>, Diagnostic> {
        let all: Vec<Type> = call.args.iter().map(|&ty| self.shadow(ty)).collect();
        if by.is_empty() {
            return Ok(all);
        }
        let mut shadows = vec![Type::UNIT; all.len()];
        for &wanted in by {
            let named = names.iter().position(|name| name.as_deref() == Some(wanted));
            let numbered = || wanted.parse::<usize>().ok()?.checked_sub(1);
            let at = named.or_else(numbered).filter(|&at| at < all.len());
            let Some(at) = at else {
                let known: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
                let error = Diagnostic::error(format!("there is no parameter `{wanted}`"));
                return Err(error.help(format!("the parameters are {}", known.join(", "))));
            };
            if all[at] == Type::UNIT {
                let ty = self.compiler.borrow().world.type_name(call.args[at]);
                let message =
                    format!("the parameter `{wanted}` has no derivative: it is of type {ty}");
                return Err(Diagnostic::error(message));
            }
            shadows[at] = all[at];
        }
        Ok(shadows)
    }

    /// The type of what takes the derivative by an argument.
    fn shadow(&self, ty: Type) -> Type {
        let is_float = |ty: Type| ty == Type::F32 || ty == Type::F64;
        match *self.ctx.kind(ty) {
            _ if is_float(ty) => self.ctx.array_type(ty, 1),
            TypeKind::Array { element, .. } if is_float(element) => ty,
            _ => Type::UNIT,
        }
    }

    /// The names of the parameters that the arguments of a call are for.
    fn param_names(&self, call: &TypedCall, module: &Module) -> Vec<Option<String>> {
        let Some(f) = module.functions().next() else { return Vec::new() };
        // A function may be a parameter of itself.
        let first = f.param_types().len().saturating_sub(call.args.len());
        let name = |at: usize| {
            let param = f.param(f.entry()?, first + at)?;
            f.value_name(param).map(str::to_owned)
        };
        (0..call.args.len()).map(name).collect()
    }

    fn title(&self, call: &TypedCall, module: &Module) -> String {
        let world = &self.compiler.borrow().world;
        let names = self.param_names(call, module).into_iter();
        let params = names
            .zip(&call.args)
            .map(|(name, &ty)| format!("{}::{}", name.unwrap_or_default(), world.type_name(ty)));
        let params: Vec<String> = params.collect();
        let name = name(module);
        let result = module.functions().next().map_or(Type::ANY, Function::ret_type);
        format!("{name}({})::{}", params.join(", "), world.type_name(result))
    }
}

/// The name in the language of the function that a module is of.
fn name(module: &Module) -> &str {
    let name = module.functions().next().map_or("", Function::name_str);
    name.split('(').next().unwrap_or_default()
}
