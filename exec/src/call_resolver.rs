//! Functions that appear while a program runs.
//!
//! A module need not hold all that a program calls: a world of generic functions specialises
//! them when they are first called with arguments of some types. The interpreter asks for what
//! it does not have, and remembers the answers.

use std::rc::Rc;

use regraft_ir::{Block, Function, Symbol, Value};

use crate::error::Trap;
use crate::host::Host;
use crate::value::Val;

/// Finds functions for calls.
///
/// Answers have to depend on types alone (and, for a function or a type that is called, on which
/// it is), but for those that are marked [`by_value`](ResolvedCall::by_value): the interpreter asks once
/// for each combination, until [`Interpreter::forget`](crate::Interpreter::forget).
pub trait CallResolver {
    /// Returns what a call of the value `callee` with these arguments runs. Programs that have to
    /// be run for the answer use the host.
    ///
    /// # Errors
    /// If it cannot be called so; the error is shown at the call, with the chain of calls.
    fn resolve(
        &mut self,
        callee: &Val,
        args: &[Val],
        host: &mut Host,
    ) -> Result<ResolvedCall, Trap>;

    /// The function of that name; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be made; if it cannot be made without a host, it is asked for again with one.
    fn function(
        &mut self,
        name: Symbol,
        host: Option<&mut Host>,
    ) -> Result<Option<Rc<Function>>, Trap>;

    /// The function of that name as native code is to be made of it, if that is another one than the interpreter
    /// runs: with the same parameters, results and effects.
    fn optimized(&mut self, _name: Symbol) -> Option<Rc<Function>> {
        None
    }

    /// Tells whether [`continued`](Self::continued) may be asked about the function of that name.
    fn may_continue(&mut self, _name: Symbol) -> bool {
        false
    }

    /// The rest of `f`, the function of that name, from the beginning of a block, as native code is to be made of it: the
    /// parameters are those of the block and what else is `live` there, in the order of `live`, results and effects
    /// those that `f` has from there.
    fn continued(
        &mut self,
        _name: Symbol,
        _f: &Function,
        _block: Block,
        _live: &[Value],
    ) -> Option<Rc<Function>> {
        None
    }

    /// Tells whether calls of the function of that name may run on other threads, on copies of their arguments
    /// in which only the elements of arrays of scalars are shared: it calls known functions alone, shows nothing
    /// outside, changes no length of an array that it is given, and uses no global name.
    fn may_share(&mut self, _name: Symbol) -> bool {
        false
    }
}

/// The function that a call runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResolvedCall {
    /// The name of the function.
    pub function: Symbol,
    /// The number of arguments that are passed as they are; those that follow are packed into
    /// one tuple. `None` if all are passed as they are. The callee does not count.
    pub fixed: Option<usize>,
    /// True if the callee itself is passed, in front of the arguments.
    pub pass_callee: bool,
    /// True if this answer is for these very arguments, not for all of their types: it is not
    /// remembered.
    pub by_value: bool,
}
