//! Reverse mode: from a function, one that goes forward and keeps what is needed, and one that goes
//! back and adds up cotangents.
//!
//! ```text
//! func @f(%1: f64) -> f64 {            func @f.forward(%1: f64) -> tuple<f64, unit, tuple<f64>> {
//! ^1:                                  ^1:
//!   %2: f64 = math.sin %1         =>     %2: f64 = math.sin %1
//!   return %2                            %3 = core.tuple %1
//! }                                      %4 = core.tuple %2, nothing, %3
//!                                        return %4
//!                                      }
//!                                      func @f.reverse(%1: tuple<f64>, %2: f64) -> tuple<f64> {
//!                                      ^1:
//!                                        %3: f64 = core.get %1, 1
//!                                        %4: f64 = math.cos %3
//!                                        %5: f64 = arith.mul %2, %4
//!                                        %6 = core.tuple %5
//!                                        return %6
//!                                      }
//! ```
//!
//! # Method
//! 1. [`prepare`]: one return, loops in simple and closed form.
//! 2. [`activity`]: what has a derivative that is asked for.
//! 3. [`augment`]: the forward sweep with shadows of objects, and calls of forward parts.
//! 4. [`control_reversal`]: how the reverse sweep recovers the [`predecessor`] of each block.
//! 5. [`backward`]: the reverse sweep, block by block, with placeholders for its residuals, the
//!    values of the forward sweep that it uses; [`adjoint`] has the adjoint of each op.
//! 6. [`tape_plan`]: how each residual is found. The plan is pure; then it is applied to the forward
//!    sweep, and [`residuals`] puts the values in the places of the placeholders.
//! 7. [`tape`]: the shape of what is saved.
//!
//! A loop in which the plan would keep something is outlined if memory is bounded, and what is left is
//! planned in turn: [`checkpoint`]. The sweeps of a function that runs in chunks run in the same ones: [`chunks`].
//!
//! Reverse accumulation of derivatives by rewriting programs is Speelpenning's (1980); adjoints of
//! programs in SSA form, whose cotangents are SSA values in turn, after Innes: "Don't Unroll
//! Adjoint: Differentiating SSA-Form Programs" (2018). Shadows that are incremented in place beside
//! cotangents that flow back are as in Enzyme (Moses and Churavy, 2020) and Mooncake.
//!
//! # Why it is right
//! The counterpart of a block adds to the cotangents of what it used, given those of what it defined. The
//! reverse sweep reverses exactly the blocks that the forward sweep ran, last first. A value that is
//! needed while a block is reversed dominates the block, and all loops around its definition are around
//! the block: so the iteration in which it was defined is the one that is being reversed.
//!
//! # Cost
//! Near linear in the size of the function and of the cotangents that are live across blocks.

mod adjoint;
mod adjoint_liveness;
mod augment;
mod backward;
mod checkpoint;
mod chunks;
mod control_reversal;
mod differentiate;
mod discardable;
mod driver;
mod late_shadows;
mod loops;
mod predecessor;
mod prepare;
mod private;
mod residuals;
mod resize_shadow;
mod returning;
mod tape;
mod tape_plan;
mod to_be_recorded;
mod vjp;

use driver::Driver;
use regraft_ir::{Diagnostic, FuncId, Loc, Module, Symbol, Type};
pub use returning::without_failing_code;
use rustc_hash::FxHashSet;

/// A choice of what is kept.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum PlanKind {
    /// As little as there is to be kept.
    #[default]
    Best,
    /// Everything that is needed, on stacks.
    Naive,
}

/// The amount that a loop may keep at one time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checkpoints {
    /// So many states.
    Snapshots(u64),
    /// As many states as take no more than so many bytes, but at least one. What one iteration
    /// keeps while it is reversed comes on top.
    Bytes(u64),
}

/// The options of reverse mode.
#[derive(Clone, Default, Debug)]
pub struct ReverseOptions {
    /// The choice of what is kept.
    pub plan: PlanKind,
    /// The function that calls what is known only when the program runs, going forward: see
    /// [`reverse`]. Without one, such calls are errors.
    pub dynamic: Option<Symbol>,
    /// Tells whether the two parts may be called with something else in between, which may write what the
    /// function reads. `vjp` calls one right after the other.
    pub split: bool,
    /// The amount that counted loops may keep that would keep something: they keep states from which
    /// iterations are made again. Without it, they keep all that they need.
    pub checkpoints: Option<Checkpoints>,
    /// Assumes that code outside of the module may put something with a derivative into objects that
    /// global names hold. Derivatives of dynamic calls need it.
    pub shared_globals: bool,
    /// Fills [`ReverseFunctions::plans`].
    pub describe: bool,
}

/// The functions that [`reverse`] has added.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReverseFunctions {
    /// `(arguments, shadows of active arguments that have one) -> (result, its shadow, tape)`.
    pub forward: Symbol,
    /// `(tape, cotangent of the result) -> cotangents of all arguments`; `nothing` for those that
    /// are not active.
    pub reverse: Symbol,
    /// `(arguments, shadows, tangent of the result) -> (result, cotangents)`: one after the other.
    /// No shadow may be one of the arguments, or be reached from one (`{noalias=n}` says so).
    pub vjp: Symbol,
    /// The type of the tape.
    pub tape: Type,
    /// The tape plan of each function as text; none without [`ReverseOptions::describe`].
    pub plans: Vec<(Symbol, String)>,
    /// The bytes that the function itself keeps in each iteration of innermost loops.
    pub bytes_per_iteration: usize,
}

/// Adds the derivative of a function, in reverse mode, to its module, and those of what it calls.
/// `active` says for each parameter whether its cotangent is asked for; a parameter that there is
/// nothing said of is not active.
///
/// Attributes of called functions say how they are differentiated: `rrule=@r` that `r` gives the
/// result and a pullback, `derivative=:none` that there is nothing to differentiate,
/// `derivative="text"` that it is an error, `checkpoint=true` that they are run again on the way
/// back. A call of what is not known statically becomes `core.apply @dynamic, callee, its shadow,
/// argument, its shadow, ..`, which gives (result, its shadow, pullback). A pullback is a tuple whose
/// first part is a function of the pullback and the cotangent of the result; it gives the
/// cotangents of the callee and the arguments.
///
/// Near linear in the size of the functions.
///
/// # Errors
/// If there is no such function, or if something in it has no derivative: everything that has none, each
/// with the chain of calls. The module is as it was.
pub fn reverse(
    module: &mut Module,
    function: Symbol,
    active: &[bool],
    options: &ReverseOptions,
) -> Result<ReverseFunctions, Vec<Diagnostic>> {
    let before = module.ids().len();
    let found = with_driver(module, function, active, options, |driver, active| {
        let pair = driver.pair(function, active, !options.split, Loc::UNKNOWN)?;
        let vjp = driver.vjp(function, &pair)?;
        let own = driver.reports.iter().rev().find(|(name, _)| *name == function);
        let bytes_per_iteration = own.map_or(0, |(_, report)| report.bytes);
        let told = driver.reports.iter().filter(|_| options.describe);
        let plans = told.map(|(name, report)| (*name, report.text.clone())).collect();
        Ok(ReverseFunctions {
            forward: pair.forward,
            reverse: pair.reverse,
            vjp,
            tape: pair.tape,
            plans,
            bytes_per_iteration,
        })
    });
    if found.is_err() {
        remove_from(module, before);
    }
    found
}

/// Returns the tape plan of a function as text: a line for each value that the reverse sweep needs.
/// The parameters are those of [`reverse`], which goes on where this stops. The module stays as it
/// is.
///
/// # Errors
/// As those of [`reverse`].
pub fn tape_plan(
    module: &mut Module,
    function: Symbol,
    active: &[bool],
    options: &ReverseOptions,
) -> Result<String, Vec<Diagnostic>> {
    let before = module.ids().len();
    let plan = with_driver(module, function, active, options, |driver, active| {
        driver.tape_plan(function, active)
    });
    remove_from(module, before);
    plan
}

/// Takes the functions after the first `before` out of a module.
fn remove_from(module: &mut Module, before: usize) {
    let added: Vec<FuncId> = module.ids()[before..].to_vec();
    for id in added {
        module.remove(id);
    }
}

/// Runs phases on a function, with a flag for each of its parameters.
fn with_driver<T>(
    module: &mut Module,
    function: Symbol,
    active: &[bool],
    options: &ReverseOptions,
    phases: impl FnOnce(&mut Driver<'_>, &[bool]) -> Result<T, Diagnostic>,
) -> Result<T, Vec<Diagnostic>> {
    let found = module.find(function).and_then(|id| Some((id, module.get(id)?)));
    let Some((id, count)) = found.map(|(id, f)| (id, f.param_types().len())) else {
        let name = module.ctx().str(function).to_owned();
        return Err(vec![Diagnostic::error(format!(
            "there is no function @{name} to differentiate"
        ))]);
    };
    let mut active = active.to_vec();
    active.resize(count, false);
    let mut driver = Driver::new(module, id, &active, options);
    let made = phases(&mut driver, &active);
    driver.noted(made).ok_or_else(|| once_each(driver.errors))
}

/// Errors without those that were found again by another chain of calls.
fn once_each(mut errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = FxHashSet::default();
    errors.retain(|error| {
        let places: Vec<String> = error.labels().iter().map(|label| format!("{label:?}")).collect();
        seen.insert((error.message().to_owned(), places))
    });
    errors
}
