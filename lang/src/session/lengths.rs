//! Gradients that are made for the lengths of their arguments.

use regraft_exec::Val;
use regraft_exec::value::Dims;
use regraft_ir::{Diagnostic, Type};

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
        let lengths = |arg: &Val| arg.as_array().map(|array| text(&array.dims()));
        let lengths = args.iter().map(|arg| lengths(arg).unwrap_or_else(|| "_".to_owned()));
        let lengths: Vec<String> = lengths.collect();
        self.for_text(function, &lengths.join(", "))
    }

    /// The same for arguments of these lengths, none of what is no array. An argument whose place is of type `unit` is a
    /// constant, and so a part of the function that is differentiated.
    pub(super) fn with_places(
        &mut self,
        function: Val,
        lengths: &[Dims],
        places: &[Type],
    ) -> Result<Val, Vec<Diagnostic>> {
        if lengths.iter().all(Dims::is_empty) {
            return Ok(function);
        }
        let of = |constant: bool| {
            let all = lengths.iter().zip(places);
            let some = all.filter(move |&(_, &place)| constant || place != Type::UNIT);
            let text = |(lengths, &place): (&Dims, &Type)| match constant && place != Type::UNIT {
                true => "_".to_owned(),
                false => text(lengths),
            };
            some.map(text).collect::<Vec<String>>().join(", ")
        };
        let text = format!("((_, ({})), _);{}", of(true), of(false));
        self.for_text(function, &text)
    }

    fn for_text(&mut self, function: Val, lengths: &str) -> Result<Val, Vec<Diagnostic>> {
        let lengths = Val::Sym(self.ctx.symbol(lengths));
        self.call_builtin("#with_lengths", &[function, lengths])
    }
}

/// The lengths of an argument, as the pass `specialize` takes them.
fn text(lengths: &[usize]) -> String {
    if lengths.is_empty() {
        return "_".to_owned();
    }
    let lengths: Vec<String> = lengths.iter().map(ToString::to_string).collect();
    lengths.join("x")
}
