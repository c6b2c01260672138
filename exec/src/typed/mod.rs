//! Functions of a program as functions of Rust.
//!
//! ```
//! use regraft_exec::{EngineKind, Limits};
//! use regraft_exec::typed::TypedFunction;
//!
//! let text = "
//! func @halve(%x: array<f64, 1>, %k: i64) -> f64 {
//! ^1:
//!   %1: f64 = mem.load %x, %k
//!   %2: f64 = arith.mul %1, 0.5
//!   mem.store %x, %2, %k
//!   return %1
//! }";
//! let module = regraft_syntax::parse_module(&regraft_dialects::context(), "f.ir", text).unwrap();
//! type Halve = fn(&mut [f64], i64) -> f64;
//! let halve = TypedFunction::<Halve>::new(
//!     module, "halve", EngineKind::Cranelift, Limits::default()).unwrap();
//! let mut x = [3.0, 5.0];
//! assert_eq!(halve.call((&mut x, 2)).unwrap(), 5.0);
//! assert_eq!(x, [3.0, 2.5]);
//! ```
//!
//! # Method
//! A [`TypedFunction`] is a description: a module, and the types that were checked against each other. It is
//! immutable and shared by threads. What runs is an `instance` of it, which each thread makes when it
//! first calls: an interpreter with its machine code, whose values are counted without locks and
//! never leave the thread.
//!
//! Arguments go to registers of the first frame at once. Slices are lent (`value::loan`), not copied,
//! unless it cannot be shown (`read_only`) that a function leaves one alone that it may not write to. Matrices in another
//! order than the program's are copied.

pub mod c;
#[cfg(feature = "faer")]
mod faer;
mod instance;
#[cfg(feature = "ndarray")]
mod ndarray;
mod output;
mod param;
mod params;
mod passing;
mod plan;
mod read_only;
mod shadow;
mod signature;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use regraft_ir::{Diagnostic, Module};

use self::instance::{forget_instance, with_instance};
use self::plan::{Plan, Runs};
use crate::engine::{EngineKind, Limits};
use crate::native::Image;

pub use self::output::{Output, Returned};
pub use self::param::{ByMut, ByRef, ByValue, Lend, Param, Way};
pub use self::params::{Both, Params};
pub use self::passing::Passing;
pub use self::shadow::{Active, ActiveParams, Fixed, InPlace, Nothing, Number, Valued};
pub use self::signature::Signature;

/// A function of a program that is called as one of Rust of type `F`, such as `fn(&[f64], i64) -> f64`.
///
/// It may be called from several threads at once. Each makes code of its own when it first calls, and
/// keeps it until it ends, or until it makes other such code after the function is gone.
pub struct TypedFunction<F> {
    plan: Arc<Plan>,
    signature: PhantomData<fn() -> F>,
}

impl<F: Signature> TypedFunction<F> {
    /// The function of that name, which calls no function that is not in the module, and keeps these limits in each call.
    ///
    /// # Errors
    /// If there is none; if its types are not those of `F`; if the module is not all that it needs;
    /// if there is no such engine for this machine.
    pub fn new(
        module: Module,
        function: &str,
        engine: EngineKind,
        limits: Limits,
    ) -> Result<Self, Diagnostic> {
        Self::run_by(module, function, Runs::Made(engine), limits)
    }

    /// The function of an object file, with the usual limits; `parse` reads IR.
    ///
    /// # Errors
    /// If its types are not those of `F`; if the object file was made by another version than this one.
    pub fn of_image(
        image: &'static Image,
        parse: fn(&str) -> Result<Module, Vec<Diagnostic>>,
    ) -> Result<Self, Diagnostic> {
        let (module, name) = c::read(image, parse)?;
        let name = module.ctx().clone().str(name).to_owned();
        Self::run_by(module, &name, Runs::Loaded(image), Limits::default())
    }

    fn run_by(
        module: Module,
        function: &str,
        runs: Runs,
        limits: Limits,
    ) -> Result<Self, Diagnostic> {
        let plan = Arc::new(Plan::new::<F>(module, function, runs, limits)?);
        with_instance(&plan, |_| Ok(()))?;
        Ok(Self { plan, signature: PhantomData })
    }

    /// Calls the function. The arguments are a tuple: `f.call((&x, &mut y, 1.0))`, `f.call((1.0,))`.
    ///
    /// # Errors
    /// If the program fails, and if it exceeds a limit. What it wrote to arguments before stays there.
    #[inline]
    pub fn call(&self, args: <F::Params as Params>::Args<'_>) -> Result<F::Output, Diagnostic> {
        with_instance(&self.plan, |instance| instance.call::<F::Params, F::Output>(args))
    }

    /// For each parameter, whether the elements of its argument are copied at each call: it is a slice that
    /// may not be written to, and it cannot be shown that the function does not.
    pub fn copies(&self) -> &[bool] {
        &self.plan.copies
    }
}

impl<F> Clone for TypedFunction<F> {
    fn clone(&self) -> Self {
        Self { plan: Arc::clone(&self.plan), signature: PhantomData }
    }
}

impl<F> Drop for TypedFunction<F> {
    fn drop(&mut self) {
        // If two threads drop the last two at once, the instances go when others are made.
        if Arc::strong_count(&self.plan) == 1 {
            forget_instance(&self.plan);
        }
    }
}

impl<F> fmt::Debug for TypedFunction<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedFunction").field("plan", &self.plan).finish()
    }
}
