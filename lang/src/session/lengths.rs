//! Gradients that are made for the lengths of their arguments.

use regraft_exec::Val;
use regraft_ir::Diagnostic;

use super::Session;

impl Session {
    /// Lets gradients be made for the lengths of the arrays that they are asked for, as
    /// [`prepare_gradient_for`](Self::prepare_gradient_for) does; at first they are made for any.
    pub fn set_for_lengths(&mut self, for_lengths: bool) {
        self.for_lengths = for_lengths;
    }

    /// The function whose gradient is computed for these arguments.
    pub(super) fn for_lengths_of(
        &mut self,
        function: Val,
        args: &[Val],
    ) -> Result<Val, Vec<Diagnostic>> {
        if self.for_lengths { self.with_lengths(function, args) } else { Ok(function) }
    }

    /// The function that calls `function`, and is differentiated for the lengths of these arguments; itself, if
    /// none of them is an array.
    pub(super) fn with_lengths(
        &mut self,
        function: Val,
        args: &[Val],
    ) -> Result<Val, Vec<Diagnostic>> {
        if args.iter().all(|arg| arg.as_array().is_none()) {
            return Ok(function);
        }
        let lengths: Vec<String> = args.iter().map(lengths_of).collect();
        let lengths = Val::Sym(self.ctx.symbol(&lengths.join(", ")));
        self.call_builtin("#with_lengths", &[function, lengths])
    }
}

/// The lengths of an argument, as the pass `specialize` takes them.
fn lengths_of(arg: &Val) -> String {
    let Some(array) = arg.as_array() else { return "_".to_owned() };
    let lengths: Vec<String> = array.dims().iter().map(ToString::to_string).collect();
    lengths.join("x")
}
