//! A typed function at work on a thread.
//!
//! Values are counted without locks, and the search for cycles knows those of its thread, so an instance never
//! leaves the thread that made it: each thread has a table of its own.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Weak};

use regraft_ir::Diagnostic;

use super::output::{Output, Returned};
use super::params::Params;
use super::passing::{Lent, Passing};
use super::plan::{Plan, Runs};
use crate::engine::Engine;
use crate::error::Trap;
use crate::interp::Interpreter;
use crate::value::{Loan, Names, Pool, Val};

/// The names of the language, as far as they follow from types.
struct PlainNames;

impl Names for PlainNames {}

/// The state that calls of a function on a thread share.
pub(super) struct Instance {
    interpreter: Interpreter,
    slot: u32,
    callee: Option<Val>,
    lent: Vec<Lent>,
    /// The memory of one call for the next.
    pool: Option<Pool>,
}

impl Instance {
    fn new(plan: &Plan) -> Result<Self, Diagnostic> {
        let mut interpreter = Interpreter::without_compiler(&plan.module);
        interpreter.set_limits(plan.limits);
        interpreter.host_mut().set_output(Box::new(std::io::stdout()));
        let slot = match plan.runs {
            Runs::Made(engine) => {
                interpreter.set_engine(engine).map_err(Diagnostic::error)?;
                interpreter.prepare(plan.function)?
            }
            Runs::Loaded(image) => {
                interpreter.host_mut().set_names(Rc::new(PlainNames));
                interpreter.load_unit(plan.function, image)?
            }
        };
        let lent = plan
            .arrays
            .iter()
            .map(|&(element, rank, copies)| Lent { loan: Loan::new(element, rank), copies });
        let lent = lent.collect();
        let callee = plan.callee.map(|ty| Val::structure(ty, []));
        let pool = plan.allocates.then(Pool::default);
        Ok(Self { interpreter, slot, callee, lent, pool })
    }

    #[inline]
    pub(super) fn call<P: Params, R: Output>(
        &mut self,
        args: P::Args<'_>,
    ) -> Result<R, Diagnostic> {
        let wrong = || Diagnostic::error("the result is of another type than was checked");
        self.run(|to| P::pass(args, to), |result| R::take(result).ok_or_else(wrong))
    }

    /// Calls the function with arguments that `pass` passes; `take` takes the result.
    #[inline]
    pub(super) fn run<R>(
        &mut self,
        pass: impl FnOnce(&mut Passing<'_>) -> Result<(), Trap>,
        take: impl FnOnce(Returned) -> Result<R, Diagnostic>,
    ) -> Result<R, Diagnostic> {
        let Self { interpreter, slot, callee, lent, pool } = self;
        // Guards end both: a result that waits for something to be done is copied.
        let loans = Loans(lent);
        let _at_work = pool.as_mut().map(Pool::begin);
        let pass = |scalars: &mut [u64], vals: &mut [Val]| {
            let mut to = Passing::new(scalars, vals, loans.0);
            if let Some(callee) = callee {
                to.pass_value(callee.clone())?;
            }
            pass(&mut to)
        };
        interpreter.call_with(*slot, pass, |result| take(result.into()))
    }
}

/// The loans of a call, which end with it.
struct Loans<'a>(&'a mut [Lent]);

impl Drop for Loans<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|lent| lent.loan.end());
    }
}

struct Held {
    plan: Weak<Plan>,
    instance: Instance,
}

thread_local! {
    /// By the places of plans; without the one that a call works on.
    static INSTANCES: RefCell<Vec<Option<Box<Held>>>> = const { RefCell::new(Vec::new()) };
}

/// Runs something on the instance of this thread, which is made if there is none. If that panics, the instance
/// is dropped.
#[inline]
pub(super) fn with_instance<R>(
    plan: &Arc<Plan>,
    run: impl FnOnce(&mut Instance) -> Result<R, Diagnostic>,
) -> Result<R, Diagnostic> {
    let known = INSTANCES.try_with(|all| take(&mut all.borrow_mut(), plan));
    let held = match known.ok().flatten() {
        Some(held) => held,
        None => make(plan)?,
    };
    let mut taken = Taken { held: Some(held), place: plan.place.0 };
    match &mut taken.held {
        Some(held) => run(&mut held.instance),
        None => unreachable!("it is put back when it is dropped"),
    }
}

/// An instance that a call works on, which goes back to the table at its end.
struct Taken {
    held: Option<Box<Held>>,
    place: usize,
}

impl Drop for Taken {
    #[inline]
    fn drop(&mut self) {
        let held = self.held.take().filter(|_| !std::thread::panicking());
        // A thread that ends may have no table any more.
        let _ = INSTANCES.try_with(|all| {
            let mut all = all.borrow_mut();
            let before = all.get_mut(self.place).map(|place| std::mem::replace(place, held));
            drop(all);
            drop(before);
        });
    }
}

/// Drops the instance of this thread, if there is one.
pub(super) fn forget_instance(plan: &Arc<Plan>) {
    let held = INSTANCES.try_with(|all| take(&mut all.borrow_mut(), plan));
    drop(held);
}

/// Takes the instance of a plan out of the table.
fn take(all: &mut [Option<Box<Held>>], plan: &Arc<Plan>) -> Option<Box<Held>> {
    let place = all.get_mut(plan.place.0)?;
    place.take_if(|held| std::ptr::eq(held.plan.as_ptr(), Arc::as_ptr(plan)))
}

/// Makes an instance, and drops those of plans that are gone.
#[cold]
fn make(plan: &Arc<Plan>) -> Result<Box<Held>, Diagnostic> {
    let _ = INSTANCES.try_with(|all| {
        let mut all = all.borrow_mut();
        let is_gone = |held: &mut Box<Held>| held.plan.strong_count() == 0;
        let gone: Vec<Box<Held>> =
            all.iter_mut().filter_map(|place| place.take_if(is_gone)).collect();
        let len = all.len().max(plan.place.0 + 1);
        all.resize_with(len, || None);
        drop(all);
        drop(gone);
    });
    Ok(Box::new(Held { plan: Arc::downgrade(plan), instance: Instance::new(plan)? }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{EngineKind, Limits};
    use crate::typed::TypedFunction;

    const TEXT: &str = "
func @f(%x: f64) -> f64 {
^1:
  %1: f64 = arith.mul %x, 2.0
  return %1
}";

    fn function() -> TypedFunction<fn(f64) -> f64> {
        let ctx = regraft_dialects::context();
        let module = regraft_syntax::parse_module(&ctx, "f.ir", TEXT).expect("it is right");
        let function = TypedFunction::new(module, "f", EngineKind::Cranelift, Limits::default());
        function.expect("it is right")
    }

    fn instances() -> usize {
        INSTANCES.with_borrow(|all| all.iter().flatten().count())
    }

    #[test]
    fn instances_go_with_their_functions() {
        let first = function();
        let other = first.clone();
        drop(first);
        assert_eq!(instances(), 1);
        std::thread::scope(|scope| {
            let made = scope.spawn(|| (other.call((1.0,)).is_ok(), instances())).join();
            assert_eq!(made.expect("it does not panic"), (true, 1));
        });
        drop(other);
        assert_eq!(instances(), 0);
        for _ in 0..5 {
            let (f, g) = (function(), function());
            assert!(f.call((1.0,)).is_ok() && g.call((1.0,)).is_ok());
            assert_eq!(instances(), 2);
        }
        let f = function();
        // Dropped where it has no instance, so that the one here goes when another is made.
        assert!(std::thread::spawn(move || drop(f)).join().is_ok());
        assert_eq!(instances(), 1);
        let other = function();
        assert_eq!(instances(), 1);
        drop(other);
    }
}
