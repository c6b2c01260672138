//! Derivatives of the functions of a session, for Rust.

use regraft_ad::{Checkpoints, PlanKind};
use regraft_exec::{Engine, EngineKind, ExecError, Interpreter, Limits, Pool, PreparedCall, Val};
use regraft_ir::{Diagnostic, Module, Source};
use regraft_passes::rewrite::Math;

use super::Session;
use super::entry::TypedCall;
use crate::phases::{Phase, enter};

/// The value and the gradient that `withgradient` gives.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// The value of the function.
    pub value: Val,
    /// One tangent for each argument, of its shape; [`Val::Unit`] where there is none.
    pub gradient: Vec<Val>,
}

impl Gradient {
    /// From a tuple of value and gradient.
    fn of(pair: &Val) -> Result<Self, Vec<Diagnostic>> {
        let mut found = Self { value: Val::Unit, gradient: Vec::new() };
        found.set(pair)?;
        Ok(found)
    }

    /// Takes over value and gradient from a tuple.
    fn set(&mut self, pair: &Val) -> Result<(), Vec<Diagnostic>> {
        match pair.as_fields() {
            Some([value, gradient]) => {
                self.value = value.clone();
                self.gradient.clear();
                self.gradient.extend_from_slice(gradient.as_fields().unwrap_or_default());
                Ok(())
            }
            _ => Err(vec![Diagnostic::error("there is no gradient")]),
        }
    }
}

/// The mode in which a gradient is computed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Mode {
    /// Forth and back, whatever the number of arguments.
    #[default]
    Reverse,
    /// Once for each number among the arguments.
    Forward,
}

/// The gradient of a function for arguments of certain types, made once: see
/// [`Session::prepare_gradient`].
#[derive(Debug)]
pub struct PreparedGradient {
    function: Val,
    /// The function of the prelude that is called with the function and its arguments.
    gradient: Val,
    site: PreparedCall,
    /// The memory that a call takes beyond its result, and that of the result once nobody else holds it.
    pool: Pool,
    found: Gradient,
}

/// A call that gives a gradient: see [`Session::gradient_alone_call`].
#[derive(Debug)]
pub struct GradientCall {
    /// The functions.
    pub module: Module,
    /// The function that is called, a value.
    pub callee: Val,
    /// The function that is differentiated, and its arguments as a tuple.
    pub args: [Val; 2],
}

impl Session {
    /// Calls a function of the language by its name, or what an expression gives, such as
    /// `x -> 2x`.
    ///
    /// # Errors
    /// If there is no such function or no method for the arguments, and if it fails.
    pub fn call(&mut self, function: &str, args: &[Val]) -> Result<Val, Vec<Diagnostic>> {
        let function = self.run("function", function)?;
        self.refuel();
        self.call_values(&function, args)
    }

    /// Value and gradient of a function, which is a name or an expression that gives one.
    ///
    /// ```
    /// # use regraft_lang::Session;
    /// # use regraft_exec::Val;
    /// let mut session = Session::new(&regraft_dialects::context());
    /// session.run("f.jl", "f(x, y) = x * x * y").unwrap();
    /// let found = session.gradient("f", &[Val::F64(3.0), Val::F64(2.0)]).unwrap();
    /// assert_eq!(found.value.as_f64(), Some(18.0));
    /// assert_eq!(found.gradient[0].as_f64(), Some(12.0));
    /// ```
    ///
    /// # Errors
    /// As of [`call`](Self::call), if the function has no derivative, and if its value is no real
    /// number.
    pub fn gradient(&mut self, function: &str, args: &[Val]) -> Result<Gradient, Vec<Diagnostic>> {
        let function = self.run("function", function)?;
        self.refuel();
        self.gradient_of(&function, args, Mode::Reverse)
    }

    /// The value of a call that is written as text, and the gradient by its arguments.
    ///
    /// # Errors
    /// As of [`gradient`](Self::gradient), and if the text is no call.
    pub fn gradient_of_call(
        &mut self,
        call: &str,
        mode: Mode,
    ) -> Result<Gradient, Vec<Diagnostic>> {
        let (function, args) = self.parts(call)?;
        self.gradient_of(&function, &args, mode)
    }

    /// The gradient of a call that is written as text, without the value, which is computed only as
    /// far as the gradient needs it.
    ///
    /// # Errors
    /// As of [`gradient_of_call`](Self::gradient_of_call).
    pub fn gradient_alone_of_call(
        &mut self,
        call: &str,
        mode: Mode,
    ) -> Result<Vec<Val>, Vec<Diagnostic>> {
        Ok(self.run_gradient_alone(call, mode)?.0)
    }

    /// The gradient of a call, and the number of instructions that it took.
    fn run_gradient_alone(
        &mut self,
        call: &str,
        mode: Mode,
    ) -> Result<(Vec<Val>, u64), Vec<Diagnostic>> {
        let GradientCall { module, callee, args } = self.gradient_alone_call(call, mode)?;
        self.with_interpreter(&module, |interpreter| {
            let gradient = interpreter.call_value(&callee, &args);
            let gradient = gradient.map_err(|error| vec![error.to_diagnostic()])?;
            let parts = gradient.as_fields().unwrap_or_default().to_vec();
            Ok((parts, interpreter.instructions()))
        })
    }

    /// The program of the gradient of a call without the value, optimized as a whole, to be run by
    /// [`with_interpreter`](Self::with_interpreter). Where the session has native code, this is made for it.
    ///
    /// # Errors
    /// As of [`gradient_of_call`](Self::gradient_of_call).
    pub fn gradient_alone_call(
        &mut self,
        call: &str,
        mode: Mode,
    ) -> Result<GradientCall, Vec<Diagnostic>> {
        let (source, function, args) = self.parts_and_source(call)?;
        let function = self.for_lengths_of(function, &args)?;
        let name = match mode {
            Mode::Reverse => "#gradient_alone",
            Mode::Forward => "#forward_gradient_alone",
        };
        let name = Val::Func(self.ctx.symbol(name));
        let args = [function, Val::tuple(args)];
        let types = args.iter().map(|arg| arg.type_of(&self.ctx)).collect();
        let call = TypedCall { source, callee: name.type_of(&self.ctx), args: types };
        let mut module = self.typed_module(&call)?;
        self.optimize_derivative(&mut module)?;
        // The interpreter counts what it executes, which is compared.
        if self.interpreter.engine() != EngineKind::Interpreter {
            self.compiler.borrow().finish_for_native(&mut module)?;
        }
        Ok(GradientCall { module, callee: name, args })
    }

    /// Counts the instructions of an optimized call, and those of value and gradient, or of the
    /// gradient `alone`: of runs in which nothing has to be made.
    ///
    /// # Errors
    /// As of [`gradient_of_call`](Self::gradient_of_call).
    pub fn compare_with_call(
        &mut self,
        call: &str,
        mode: Mode,
        alone: bool,
    ) -> Result<(u64, u64), Vec<Diagnostic>> {
        let optimized = self.optimized(call, None)?;
        // Each run has arguments of its own, which it may change.
        let (function, args) = self.parts(call)?;
        let primal = self.with_interpreter(&optimized, |interpreter| {
            let result = interpreter.call_value(&function, &args);
            result.map(|_| interpreter.instructions())
        });
        let primal = primal.map_err(|error| vec![error.to_diagnostic()])?;
        if alone {
            self.run_gradient_alone(call, mode)?;
            return Ok((primal, self.run_gradient_alone(call, mode)?.1));
        }
        self.gradient_of_call(call, mode)?;
        self.gradient_of_call(call, mode)?;
        Ok((primal, self.interpreter.instructions()))
    }

    /// The derivative of a function of one real number.
    ///
    /// # Errors
    /// As of [`gradient`](Self::gradient).
    pub fn derivative(&mut self, function: &str, at: f64) -> Result<Val, Vec<Diagnostic>> {
        self.higher_order("derivative", function, &[Val::F64(at)])
    }

    /// The value of a function, and its pullback: a function that
    /// [`call_value`](Self::call_value) calls with a tangent of the value, any number of times,
    /// for a tuple of one tangent for each argument.
    ///
    /// # Errors
    /// As of [`gradient`](Self::gradient).
    pub fn pullback(
        &mut self,
        function: &str,
        args: &[Val],
    ) -> Result<(Val, Val), Vec<Diagnostic>> {
        let pair = self.higher_order("pullback", function, args)?;
        match pair.as_fields() {
            Some([value, back]) => Ok((value.clone(), back.clone())),
            _ => Err(vec![Diagnostic::error("`pullback` gives a value and a function")]),
        }
    }

    /// The pushforward of a function: a function of one tangent for each argument.
    ///
    /// # Errors
    /// As of [`gradient`](Self::gradient).
    pub fn pushforward(&mut self, function: &str, args: &[Val]) -> Result<Val, Vec<Diagnostic>> {
        self.higher_order("pushforward", function, args)
    }

    /// The matrix of the derivatives of the elements of an array by those of another.
    ///
    /// # Errors
    /// As of [`gradient`](Self::gradient).
    pub fn jacobian(&mut self, function: &str, at: &Val) -> Result<Val, Vec<Diagnostic>> {
        self.higher_order("jacobian", function, std::slice::from_ref(at))
    }

    /// The product of the matrix of second derivatives and a vector.
    ///
    /// # Errors
    /// As of [`gradient`](Self::gradient).
    pub fn hvp(&mut self, function: &str, at: &Val, by: &Val) -> Result<Val, Vec<Diagnostic>> {
        self.higher_order("hvp", function, &[at.clone(), by.clone()])
    }

    /// The matrix of second derivatives.
    ///
    /// # Errors
    /// As of [`gradient`](Self::gradient).
    pub fn hessian(&mut self, function: &str, at: &Val) -> Result<Val, Vec<Diagnostic>> {
        self.higher_order("hessian", function, std::slice::from_ref(at))
    }

    /// Sets the tape plan of reverse mode, and the number of states of a counted loop, if it keeps those
    /// only and makes iterations again from them (binomial checkpointing).
    pub fn set_tape_plan(&mut self, plan: PlanKind, checkpoints: Option<Checkpoints>) {
        self.compiler.borrow_mut().set_tape_plan(plan, checkpoints);
        self.relink();
    }

    /// Sets the algebra that floats follow in all that runs from now on, derivatives included; at first
    /// the exact one. With another one, functions go through `O3` with that algebra before they run;
    /// statements at top level themselves do not.
    ///
    /// ```
    /// # use regraft_lang::Session;
    /// # use regraft_exec::Val;
    /// # use regraft_passes::rewrite::Math;
    /// let mut session = Session::new(&regraft_dialects::context());
    /// session.run("f.jl", "f(x) = sqrt(x * x)").unwrap();
    /// assert_eq!(session.call("f", &[Val::F64(1e-200)]).unwrap().as_f64(), Some(0.0));
    /// session.set_math(Math::Fast);
    /// assert_eq!(session.call("f", &[Val::F64(1e-200)]).unwrap().as_f64(), Some(1e-200));
    /// ```
    pub fn set_math(&mut self, math: Math) {
        let mut compiler = self.compiler.borrow_mut();
        let is_new = compiler.set_math(math);
        let names = if is_new { compiler.function_names() } else { Vec::new() };
        drop(compiler);
        self.relink();
        self.interpreter.forget(&names);
    }

    /// Calls a value, such as a pullback.
    ///
    /// # Errors
    /// If it cannot be called so, and if it fails.
    pub fn call_value(&mut self, function: &Val, args: &[Val]) -> Result<Val, Vec<Diagnostic>> {
        self.refuel();
        self.call_values(function, args)
    }

    /// Prepares the gradient of a function for many calls. What does not depend on the values is
    /// done once, by the first call. Memory that a call takes, for what it keeps for the way back,
    /// for shadows, for what the function itself makes, serves the next one again, as soon as nobody
    /// holds it any more. So a call that takes no more than an earlier one allocates nothing.
    ///
    /// ```
    /// # use regraft_lang::Session;
    /// # use regraft_exec::Val;
    /// let mut session = Session::new(&regraft_dialects::context());
    /// session.run("f.jl", "f(x) = x * x").unwrap();
    /// let mut gradient = session.prepare_gradient("f").unwrap();
    /// for x in [1.0, 2.0, 3.0] {
    ///     let found = gradient.call(&mut session, &[Val::F64(x)]).unwrap();
    ///     assert_eq!(found.gradient[0].as_f64(), Some(2.0 * x));
    /// }
    /// ```
    ///
    /// # Errors
    /// If there is no such function.
    pub fn prepare_gradient(
        &mut self,
        function: &str,
    ) -> Result<PreparedGradient, Vec<Diagnostic>> {
        let function = self.run("function", function)?;
        Ok(self.prepared_gradient(function))
    }

    /// Prepares the gradient of a function for arguments of the same lengths as these. What depends on
    /// the lengths of arrays alone is computed beforehand, and loops of few iterations are unrolled. Arguments
    /// of other lengths may be given: a test at entry chooses code that is made for any.
    ///
    /// ```
    /// # use regraft_lang::Session;
    /// # use regraft_exec::Val;
    /// let mut session = Session::new(&regraft_dialects::context());
    /// session.run("f.jl", "f(x) = sum(x .* x)").unwrap();
    /// let args = [session.run("x", "[1.0, 2.0]").unwrap()];
    /// let mut gradient = session.prepare_gradient_for("f", &args).unwrap();
    /// let found = gradient.call(&mut session, &args).unwrap().gradient[0].clone();
    /// assert_eq!(session.show(&found), "[2.0, 4.0]");
    /// ```
    ///
    /// # Errors
    /// If there is no such function.
    pub fn prepare_gradient_for(
        &mut self,
        function: &str,
        args: &[Val],
    ) -> Result<PreparedGradient, Vec<Diagnostic>> {
        let function = self.run("function", function)?;
        let function = self.with_lengths(function, args)?;
        Ok(self.prepared_gradient(function))
    }

    fn prepared_gradient(&self, function: Val) -> PreparedGradient {
        PreparedGradient {
            function,
            gradient: Val::Func(self.ctx.symbol("#gradient")),
            site: PreparedCall::default(),
            pool: Pool::default(),
            found: Gradient { value: Val::Unit, gradient: Vec::new() },
        }
    }
}

impl Session {
    /// Value and gradient as text of two lines.
    pub fn show_gradient(&mut self, found: &Gradient) -> String {
        let value = self.show(&found.value);
        format!("value:    {value}\n{}", self.show_gradient_alone(&found.gradient))
    }

    /// A gradient as a line of text.
    pub fn show_gradient_alone(&mut self, gradient: &[Val]) -> String {
        let gradient = self.show(&Val::tuple(gradient.iter().cloned()));
        format!("gradient: {gradient}\n")
    }
}

impl PreparedGradient {
    /// Value and gradient for these arguments, until the next call; a copy of them may be kept
    /// for as long as you like.
    ///
    /// # Errors
    /// As of [`Session::gradient`].
    pub fn call(
        &mut self,
        session: &mut Session,
        args: &[Val],
    ) -> Result<&Gradient, Vec<Diagnostic>> {
        session.refuel();
        let Self { function, gradient, site, pool, found } = self;
        pool.run(|| {
            found.value = Val::Unit;
            found.gradient.clear();
            let args = [function.clone(), Val::tuple(args.iter().cloned())];
            let run =
                |interpreter: &mut Interpreter| interpreter.call_prepared(site, gradient, &args);
            found.set(&session.within_fuel(run)?)
        })?;
        Ok(&self.found)
    }
}

impl Session {
    /// A function of the prelude that takes a function and its arguments.
    fn higher_order(
        &mut self,
        name: &str,
        function: &str,
        args: &[Val],
    ) -> Result<Val, Vec<Diagnostic>> {
        let function = self.run("function", function)?;
        self.refuel();
        let args: Vec<Val> = std::iter::once(function).chain(args.iter().cloned()).collect();
        self.call_builtin(name, &args)
    }

    /// The values of function and arguments of a call.
    fn parts(&mut self, call: &str) -> Result<(Val, Vec<Val>), Vec<Diagnostic>> {
        self.parts_and_source(call).map(|(_, function, args)| (function, args))
    }

    fn parts_and_source(&mut self, call: &str) -> Result<(Source, Val, Vec<Val>), Vec<Diagnostic>> {
        let (source, parts) = self.parts_of_call(call)?;
        match parts.as_fields().and_then(<[Val]>::split_first) {
            Some((function, args)) => Ok((source, function.clone(), args.to_vec())),
            None => Err(vec![Diagnostic::error("expected a call, such as `f(1.0)`")]),
        }
    }

    fn gradient_of(
        &mut self,
        function: &Val,
        args: &[Val],
        mode: Mode,
    ) -> Result<Gradient, Vec<Diagnostic>> {
        let name = match mode {
            Mode::Reverse => "#value_and_gradient",
            Mode::Forward => "#forward_gradient",
        };
        let function = self.for_lengths_of(function.clone(), args)?;
        let args = [function, Val::tuple(args.iter().cloned())];
        let pair = self.call_builtin(name, &args)?;
        Gradient::of(&pair)
    }

    /// Calls a function of the prelude.
    pub(super) fn call_builtin(
        &mut self,
        name: &str,
        args: &[Val],
    ) -> Result<Val, Vec<Diagnostic>> {
        let function = Val::Func(self.ctx.symbol(name));
        self.call_values(&function, args)
    }

    /// Calls a value within what is left of the fuel.
    pub(super) fn call_values(
        &mut self,
        function: &Val,
        args: &[Val],
    ) -> Result<Val, Vec<Diagnostic>> {
        let _phase = enter(Phase::Run);
        self.within_fuel(|interpreter| interpreter.call_value(function, args))
    }

    /// Runs code within what is left of the fuel.
    pub(super) fn within_fuel(
        &mut self,
        run: impl FnOnce(&mut Interpreter) -> Result<Val, ExecError>,
    ) -> Result<Val, Vec<Diagnostic>> {
        self.interpreter.set_limits(Limits { fuel: self.fuel_left, ..self.limits });
        let result = run(&mut self.interpreter);
        if let Some(fuel) = &mut self.fuel_left {
            *fuel = fuel.saturating_sub(self.interpreter.instructions());
        }
        result.map_err(|error| {
            self.failed = Some(error.clone());
            vec![self.told(error).to_diagnostic()]
        })
    }

    /// Says what the program has to say of what it threw (`showerror`).
    fn told(&mut self, error: ExecError) -> ExecError {
        let Some(thrown) = error.thrown().cloned() else { return error };
        let function = Val::Func(self.ctx.symbol("#error_text"));
        match self.interpreter.call_value(&function, &[thrown]) {
            Ok(Val::Str(text)) => error.with_message(text.as_str()),
            // An error in there is not the one that the user looks for.
            _ => error,
        }
    }
}
