//! A typed function at work on a thread.
//!
//! Values are counted without locks, and the search for cycles knows those of its thread, so an instance never
//! leaves the thread that made it: each thread has a table of its own.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Weak};

use regraft_ir::Diagnostic;

use super::output::{Output, Returned};
use super::params::Params;
use super::passing::{Lent, Passing};
use super::plan::{Plan, Runs};
use crate::engine::Engine;
use crate::error::Trap;
use crate::interp::{EntryPoint, Interpreter};
use crate::value::{ElementType, Loan, Names, Pool, Val};

/// The names of the language, as far as they follow from types.
struct PlainNames;

impl Names for PlainNames {}

/// The state that calls of a function on a thread share.
pub(super) struct Instance {
    function: EntryPoint,
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
        let function = match plan.runs {
            Runs::Made(engine) => {
                interpreter.set_engine(engine).map_err(Diagnostic::error)?;
                EntryPoint::new(interpreter, plan.function)?
            }
            Runs::Loaded(image) => {
                interpreter.host_mut().set_names(Rc::new(PlainNames));
                EntryPoint::load(interpreter, plan.function, image)?
            }
        };
        let lent = plan
            .arrays
            .iter()
            .map(|&(element, rank, copies)| (ElementType::builtin(element), rank, copies))
            .map(|(element, rank, copies)| Lent { loan: Loan::new(element, rank), copies });
        let lent = lent.collect();
        let callee = plan.callee.map(|ty| Val::structure(ty, []));
        let pool = plan.allocates.then(Pool::default);
        Ok(Self { function, callee, lent, pool })
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
        let Self { function, callee, lent, pool } = self;
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
        function.call(pass, |result| take(result.into()))
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
    static INSTANCES: RefCell<Vec<Cell<Option<Box<Held>>>>> = const { RefCell::new(Vec::new()) };
}

/// Runs something on the instance of this thread, which is made if there is none. If that panics, the instance
/// is dropped.
#[inline]
pub(super) fn with_instance<R>(
    plan: &Arc<Plan>,
    run: impl FnOnce(&mut Instance) -> Result<R, Diagnostic>,
) -> Result<R, Diagnostic> {
    let mut held = match take(plan) {
        Some(held) => held,
        None => make(plan)?,
    };
    let result = run(&mut held.instance);
    put_back(plan.place.0, held);
    result
}

/// Puts an instance in the table after a call. A thread that ends may have no table any more.
#[inline]
fn put_back(place: usize, held: Box<Held>) {
    let before = INSTANCES.try_with(|all| match all.borrow().get(place) {
        Some(place) => place.replace(Some(held)),
        None => Some(held),
    });
    if let Ok(Some(before)) = before {
        forget(before);
    }
}

/// Drops an instance that another one took the place of while it was at work.
#[cold]
fn forget(held: Box<Held>) {
    drop(held);
}

/// Drops the instance of this thread, if there is one.
pub(super) fn forget_instance(plan: &Arc<Plan>) {
    drop(take(plan));
}

/// Takes the instance of a plan out of the table of this thread.
#[inline]
fn take(plan: &Arc<Plan>) -> Option<Box<Held>> {
    let taken = INSTANCES.try_with(|all| {
        let all = all.borrow();
        let place = all.get(plan.place.0)?;
        let held = place.take()?;
        if std::ptr::eq(held.plan.as_ptr(), Arc::as_ptr(plan)) {
            return Some(held);
        }
        place.set(Some(held));
        None
    });
    taken.ok().flatten()
}

/// Makes an instance, and drops those of plans that are gone.
#[cold]
fn make(plan: &Arc<Plan>) -> Result<Box<Held>, Diagnostic> {
    let _ = INSTANCES.try_with(|all| {
        let mut all = all.borrow_mut();
        let is_gone = |held: &mut Box<Held>| held.plan.strong_count() == 0;
        let gone: Vec<Box<Held>> =
            all.iter_mut().filter_map(|place| place.get_mut().take_if(is_gone)).collect();
        let len = all.len().max(plan.place.0 + 1);
        all.resize_with(len, Cell::default);
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
        INSTANCES.with_borrow_mut(|all| {
            let mut there = 0;
            all.iter_mut().for_each(|place| there += usize::from(place.get_mut().is_some()));
            there
        })
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
