//! Derivatives of functions of a session as functions of Rust.

use std::any::type_name;
use std::fmt;

use regraft_dialects::attrs::set_function_attr;
use regraft_dialects::{core, data};
use regraft_exec::Val;
use regraft_exec::typed::{ActiveParams, Both, Output, Params, Signature, TypedFunction, Valued};
use regraft_exec::value::{Dims, Element};
use regraft_ir::{
    Constant, Diagnostic, Function, FunctionBuilder, IrResult, Module, Operand, Type,
};
use regraft_passes::rewrite::Math;
use regraft_passes::{PassRegistry, Pipeline};

use super::Session;
use super::entry::TypedCall;
use super::in_place::make_in_place;
use super::stages::optimize;

type Shadows<F> = <<F as Signature>::Params as ActiveParams>::Shadows;
type Directions<F> = <<F as Signature>::Params as ActiveParams>::Directions;
type Args<'a, P> = <P as Params>::Args<'a>;
type GradientParts<F> = <<F as Signature>::Params as ActiveParams>::Gradient;
type GradientOf<F> = (Both<<F as Signature>::Params, Shadows<F>>, <F as Signature>::Output);
type JvpOf<F> = (
    Both<<F as Signature>::Params, Directions<F>>,
    (<F as Signature>::Output, <F as Signature>::Output),
);
type HvpOf<F> = (Both<<F as Signature>::Params, Both<Directions<F>, Shadows<F>>>, ());

/// The gradient of a function for arguments of Rust's types: see [`Session::compile_gradient`].
pub struct TypedGradient<F: Signature<Params: ActiveParams>>(TypedFunction<GradientOf<F>>)
where
    F::Output: Valued;

/// The derivative of a function along a direction: see [`Session::compile_jvp`].
pub struct TypedJvp<F: Signature<Params: ActiveParams>>(TypedFunction<JvpOf<F>>)
where
    F::Output: Element;

/// The product of the matrix of second derivatives of a function and a direction: see
/// [`Session::compile_hvp`].
pub struct TypedHvp<F: Signature<Params: ActiveParams>>(TypedFunction<HvpOf<F>>);

impl Session {
    /// Compiles the gradient of a function, which is a name or an expression that gives one, for arguments of Rust's
    /// types. As of [`compile`](Self::compile), the result is of no session, and threads share it.
    ///
    /// ```
    /// # use regraft_lang::Session;
    /// let mut session = Session::new(&regraft_dialects::context());
    /// session.run("f.jl", "f(x, s) = s * sum(abs2, x)").unwrap();
    /// let gradient = session.compile_gradient::<fn(&[f64], f64) -> f64>("f").unwrap();
    /// let (mut dx, mut ds) = ([0.0; 2], 0.0);
    /// let value = gradient.call((&[1.0, 2.0], 10.0), (&mut dx, &mut ds)).unwrap();
    /// assert_eq!((value, dx, ds), (50.0, [20.0, 40.0], 5.0));
    /// ```
    ///
    /// Without a result, `fn(&[f64], f64)`, the value is computed only as far as the gradient needs it. An argument that is passed
    /// as [`Fixed`](regraft_exec::typed::Fixed) is a constant: what is written to it has no derivative.
    ///
    /// # Errors
    /// As of [`compile`](Self::compile), and if the function has no gradient.
    pub fn compile_gradient<F>(
        &mut self,
        function: &str,
    ) -> Result<TypedGradient<F>, Vec<Diagnostic>>
    where
        F: Signature<Params: ActiveParams>,
        F::Output: Valued,
    {
        self.compile_gradient_of(function, &[])
    }

    /// Compiles the gradient of a function for arguments of the same lengths as these: what depends on lengths alone is
    /// computed beforehand, and loops of few iterations are unrolled. Arguments of other lengths may be given: a test at
    /// entry chooses code that is made for any.
    ///
    /// ```
    /// # use regraft_lang::Session;
    /// let mut session = Session::new(&regraft_dialects::context());
    /// session.run("f.jl", "f(x, s) = s * sum(abs2, x)").unwrap();
    /// let args = (&[1.0, 2.0][..], 10.0);
    /// let gradient = session.compile_gradient_for::<fn(&[f64], f64)>("f", &args).unwrap();
    /// let (mut dx, mut ds) = ([0.0; 2], 0.0);
    /// gradient.call(args, (&mut dx, &mut ds)).unwrap();
    /// assert_eq!((dx, ds), ([20.0, 40.0], 5.0));
    /// ```
    ///
    /// # Errors
    /// As of [`compile_gradient`](Self::compile_gradient).
    pub fn compile_gradient_for<F>(
        &mut self,
        function: &str,
        args: &Args<'_, F::Params>,
    ) -> Result<TypedGradient<F>, Vec<Diagnostic>>
    where
        F: Signature<Params: ActiveParams>,
        F::Output: Valued,
    {
        self.compile_gradient_of(function, &F::Params::lengths(args))
    }

    fn compile_gradient_of<F>(
        &mut self,
        function: &str,
        lengths: &[Dims],
    ) -> Result<TypedGradient<F>, Vec<Diagnostic>>
    where
        F: Signature<Params: ActiveParams>,
        F::Output: Valued,
    {
        let groups = [F::Params::types(&self.ctx), Shadows::<F>::types(&self.ctx)];
        if groups[1].iter().all(|&ty| ty == Type::UNIT) {
            let message = format!("no argument has a derivative: `{}`", type_name::<F>());
            return Err(vec![Diagnostic::error(message)]);
        }
        let name = if F::Output::HAS_VALUE { "#gradient_to" } else { "#gradient_alone_to" };
        self.compile_derivative(function, lengths, name, &groups).map(TypedGradient)
    }

    /// Compiles the derivative of a function along a direction, by forward mode.
    ///
    /// ```
    /// # use regraft_lang::Session;
    /// let mut session = Session::new(&regraft_dialects::context());
    /// let jvp = session.compile_jvp::<fn(f64, i64) -> f64>("(x, n) -> x^n").unwrap();
    /// assert_eq!(jvp.call((2.0, 3), (1.0, ())).unwrap(), (8.0, 12.0));
    /// ```
    ///
    /// # Errors
    /// As of [`compile_gradient`](Self::compile_gradient).
    pub fn compile_jvp<F>(&mut self, function: &str) -> Result<TypedJvp<F>, Vec<Diagnostic>>
    where
        F: Signature<Params: ActiveParams>,
        F::Output: Element + Output,
    {
        let groups = [F::Params::types(&self.ctx), Directions::<F>::types(&self.ctx)];
        self.compile_derivative(function, &[], "#jvp_along", &groups).map(TypedJvp)
    }

    /// Compiles the product of the matrix of second derivatives of a function and a direction, by forward
    /// mode over reverse mode.
    ///
    /// ```
    /// # use regraft_lang::Session;
    /// let mut session = Session::new(&regraft_dialects::context());
    /// let hvp = session.compile_hvp::<fn(&[f64]) -> f64>("x -> x[1]^2 * x[2]").unwrap();
    /// let mut product = [0.0; 2];
    /// hvp.call((&[3.0, 2.0],), (&[1.0, 0.0],), (&mut product,)).unwrap();
    /// assert_eq!(product, [4.0, 6.0]);
    /// ```
    ///
    /// # Errors
    /// As of [`compile_gradient`](Self::compile_gradient).
    pub fn compile_hvp<F>(&mut self, function: &str) -> Result<TypedHvp<F>, Vec<Diagnostic>>
    where
        F: Signature<Params: ActiveParams>,
        F::Output: Element + Output,
    {
        let groups = [
            F::Params::types(&self.ctx),
            Directions::<F>::types(&self.ctx),
            Shadows::<F>::types(&self.ctx),
        ];
        self.compile_derivative(function, &[], "#hvp_to", &groups).map(TypedHvp)
    }

    /// Compiles a function of the prelude that takes a function and tuples of arguments, for
    /// arguments one by one, made for arrays of these lengths; for any, if there are none.
    fn compile_derivative<G: Signature>(
        &mut self,
        function: &str,
        lengths: &[Dims],
        derivative: &str,
        groups: &[Vec<Type>],
    ) -> Result<TypedFunction<G>, Vec<Diagnostic>> {
        let (mut call, function) = self.typed_call(function, Vec::new())?;
        let places = groups.last().map_or(&[][..], |places| places);
        let function = self.with_places(function, lengths, places)?;
        call.callee = function.type_of(&self.ctx);
        let call = self.derivative_call(call, derivative, groups);
        let module = self.typed_module(&call)?;
        self.check_result::<G>(&call, &module)?;
        let module = self.derivative_module(&module, &function, groups)?;
        self.typed_function(module)
    }

    /// The call of a function of the prelude that takes the callee of a call and tuples of arguments.
    pub(super) fn derivative_call(
        &self,
        mut call: TypedCall,
        derivative: &str,
        groups: &[Vec<Type>],
    ) -> TypedCall {
        let tuples = groups.iter().map(|types| self.ctx.tuple_type(types));
        call.args = std::iter::once(call.callee).chain(tuples).collect();
        call.callee = Val::Func(self.ctx.symbol(derivative)).type_of(&self.ctx);
        call
    }

    /// The optimized module of a function that takes the parts of the tuples one by one and makes such a call of
    /// `function`, which the first function of the module is made for.
    pub(super) fn derivative_module(
        &mut self,
        module: &Module,
        function: &Val,
        groups: &[Vec<Type>],
    ) -> Result<Module, Vec<Diagnostic>> {
        let Some(inner) = module.functions().next() else { return Err(Vec::new()) };
        let outer = flat(inner, function, groups).map_err(|error| vec![error.into()])?;
        let functions = std::iter::once(outer).chain(module.functions().cloned());
        let mut module =
            Module::of_functions(&self.ctx, functions).map_err(|error| vec![error.into()])?;
        self.resolve_calls(&mut module)?;
        self.optimize_derivative(&mut module)?;
        // Places are the last group, one for each argument.
        let (count, first) = (groups[0].len(), usize::from(!is_constant(function)));
        let places = first + (groups.len() - 1) * count;
        let pairs: Vec<_> = (0..count).map(|at| (first + at, places + at)).collect();
        with_first(&mut module, |f| {
            make_in_place(f, &pairs)?;
            // What Rust lends to be written to is lent to nobody else.
            for promise in ["distinct", "undef_after_error"] {
                set_function_attr(f, promise, Constant::I64(places as i64 + 1));
            }
            Ok(())
        })?;
        let in_place = Pipeline::parse(&PassRegistry::standard(), IN_PLACE)?;
        optimize(&mut module, Some(&in_place), Math::Exact)?;
        Ok(module)
    }
}

/// The passes for shadows that are made in their places. They hold zeros, until a loop that goes over all of them for the
/// first time has stored to them.
const IN_PLACE: &str = "\
fix{max=2}(loop-idiom, loop-delete, gvn{first-visits}, fold),
licm{whole-loops=false}, loop-idiom, loop-delete, dse, dce";

/// Changes the first function of a module.
fn with_first(
    module: &mut Module,
    change: impl FnOnce(&mut Function) -> IrResult<()>,
) -> Result<(), Vec<Diagnostic>> {
    let first = module.ids().first().copied();
    let changed = first.and_then(|id| module.get_mut(id)).map_or(Ok(()), change);
    changed.map_err(|error| vec![error.into()])
}

/// Returns whether code can make a value of constants: what a closure captures may be numbers.
pub(super) fn is_constant(value: &Val) -> bool {
    match value {
        Val::Func(_) | Val::Sym(_) | Val::Unit => true,
        Val::Bool(_) | Val::I64(_) | Val::F64(_) | Val::Type(_) => true,
        Val::Tuple(_) | Val::Struct(_) => {
            value.as_fields().unwrap_or_default().iter().all(is_constant)
        }
        _ => false,
    }
}

/// Code that makes such a value.
fn made(b: &mut FunctionBuilder, value: &Val) -> IrResult<Operand> {
    let ctx = b.ctx().clone();
    if let Some(constant) = value.as_constant(&ctx) {
        return Ok(ctx.constant_id(constant).into());
    }
    let parts = value.as_fields().unwrap_or_default().iter().map(|part| made(b, part));
    let parts = parts.collect::<IrResult<Vec<Operand>>>()?;
    let made = match value {
        Val::Tuple(_) => core::tuple(parts),
        _ => data::new(parts, value.type_of(&ctx)),
    };
    Ok(b.push(made)?.into())
}

/// The function that takes the parts of tuples one by one and calls `inner` with a function and the tuples. The function comes
/// first among the parameters if it is no constant.
fn flat(inner: &Function, function: &Val, groups: &[Vec<Type>]) -> IrResult<Function> {
    let ctx = inner.ctx();
    let mut params = groups.concat();
    let is_passed = !is_constant(function);
    if is_passed {
        params.insert(0, function.type_of(ctx));
    }
    let name = format!("{} one by one", inner.name_str());
    let mut b = FunctionBuilder::new(ctx, &name, &params, inner.ret_type());
    let mut next = usize::from(is_passed);
    let function = if is_passed { b.param(0).into() } else { made(&mut b, function)? };
    let mut args: Vec<Operand> = vec![function];
    for types in groups {
        let parts = (next..next + types.len()).map(|at| b.param(at).into());
        let parts: Vec<Operand> = parts.collect();
        next += types.len();
        args.push(b.push(core::tuple(parts))?.into());
    }
    let callee: Operand = ctx.constant_id(Constant::Func(inner.name())).into();
    let result = b.push(core::call(callee, args, inner.ret_type()))?;
    b.terminate(regraft_dialects::cf::ret(result))?;
    b.finish()
}

impl<F: Signature<Params: ActiveParams>> TypedGradient<F>
where
    F::Output: Valued,
{
    /// The value for these arguments, a tuple. The derivatives by them replace what stands in `shadows`: a tuple of
    /// `&mut f64` for a number, `&mut [f64]` for a slice, and `()` for what has no derivative.
    ///
    /// # Errors
    /// If the function fails, after which shadows hold anything, and if a shadow is not as long as its argument.
    pub fn call<'a>(
        &self,
        args: Args<'a, F::Params>,
        shadows: Args<'a, Shadows<F>>,
    ) -> Result<F::Output, Diagnostic> {
        self.0.call((args, shadows))
    }

    /// The value for these arguments, and the derivatives by them: a tuple of `f64` for a number, `Vec<f64>` for a slice,
    /// and `()` for what has no derivative.
    ///
    /// # Errors
    /// If the function fails.
    pub fn value_and_gradient(
        &self,
        args: Args<'_, F::Params>,
    ) -> Result<(F::Output, GradientParts<F>), Diagnostic> {
        let mut gradient = F::Params::zeros(&args);
        let args = F::Params::shorten(args);
        let value = self.0.call((args, F::Params::places(&mut gradient)))?;
        Ok((value, gradient))
    }
}

impl<F: Signature<Params: ActiveParams>> TypedJvp<F>
where
    F::Output: Element + Output,
{
    /// The value for these arguments, and its derivative along a direction: a tuple of `f64` for a number,
    /// `&[f64]` for a slice, and `()` for what has no derivative.
    ///
    /// # Errors
    /// If the function fails, and if a direction is not as long as its argument.
    pub fn call<'a>(
        &self,
        args: Args<'a, F::Params>,
        directions: Args<'a, Directions<F>>,
    ) -> Result<(F::Output, F::Output), Diagnostic> {
        self.0.call((args, directions))
    }
}

impl<F: Signature<Params: ActiveParams>> TypedHvp<F> {
    /// Writes the product for these arguments and a direction to `shadows`, each as of [`TypedGradient::call`]
    /// and [`TypedJvp::call`].
    ///
    /// # Errors
    /// If the function fails, and if a direction or a shadow is not as long as its argument.
    pub fn call<'a>(
        &self,
        args: Args<'a, F::Params>,
        directions: Args<'a, Directions<F>>,
        shadows: Args<'a, Shadows<F>>,
    ) -> Result<(), Diagnostic> {
        self.0.call((args, (directions, shadows)))
    }
}

macro_rules! debug {
    ($($name:ident [$($bound:tt)*];)*) => {$(
        impl<F: Signature<Params: ActiveParams>> fmt::Debug for $name<F> $($bound)* {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl<F: Signature<Params: ActiveParams>> Clone for $name<F> $($bound)* {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }
    )*};
}
debug! {
    TypedGradient [where F::Output: Valued];
    TypedJvp [where F::Output: Element];
    TypedHvp [];
}
