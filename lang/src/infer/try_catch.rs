//! `core.try`: of `try` in the language, and in code that is IR.

use regraft_dialects::core as core_ops;
use regraft_ir::{Attrs, Constant, Function, Type, Value};
use smallvec::SmallVec;

use super::frame::{Arg, Args, Frame, StepKind};
use super::inference::{Inference, Name};
use super::lattice::Lattice;
use super::lookup::Found;
use crate::world::Binding;

impl Inference {
    /// `#try(body, handler)`: calls of `#try_body(body, handler)` and, if that fails,
    /// `#try_handler(error, body, handler)`.
    pub(super) fn try_catch(&mut self, frame: &mut Frame, args: &[Arg]) -> Option<Arg> {
        let &[body, handler] = args else { return None };
        self.exact_type(frame, body)?;
        self.exact_type(frame, handler)?;
        let callees = ["#try_body", "#try_handler"]
            .map(|name| self.constant_arg(Constant::Func(self.ctx.symbol(name))));
        self.tried(frame, callees, args)
    }

    /// A `core.try` that stands in the code itself.
    pub(super) fn try_of(
        &mut self,
        frame: &mut Frame,
        code: &Function,
        v: Value,
        args: &[Arg],
    ) -> Arg {
        let callees = [0, 1].map(|position| {
            let name = code.operand(v, position).and_then(|callee| code.const_func(callee))?;
            match self.name(frame, name, frame.space) {
                Name::Binding(Binding::Function(function)) => {
                    Some(self.constant_arg(Constant::Func(function)))
                }
                _ => None,
            }
        });
        let found = match callees {
            [Some(body), Some(handler)] => self.tried(frame, [body, handler], &args[2..]),
            _ => None,
        };
        match found {
            Some(result) => self.assert_type(frame, result, code.ty(v)),
            None => self.fail(frame, "body and handler of `core.try` take other arguments"),
        }
    }

    /// A call of the first of two functions, and if that fails, of the second one with the error.
    fn tried(&mut self, frame: &mut Frame, callees: [Arg; 2], args: &[Arg]) -> Option<Arg> {
        // The error is none of the values that there are.
        let kind = StepKind::Op(core_ops::UNDEF, Type::ANY);
        let error = frame.push(kind, &[], Lattice::ANY, Attrs::NONE);
        let mut handled: Args = SmallVec::new();
        handled.push(error);
        handled.extend_from_slice(args);
        let [body, handler] = callees;
        let specs = [(body, args), (handler, &handled[..])].map(|(callee, args)| {
            let (_, Found::Method(facts, found)) = self.found_for(frame, callee, args) else {
                return None;
            };
            self.specialised(frame, &facts, &found, callee, args).map(|(spec, _)| spec)
        });
        frame.steps.pop();
        let [Some(body_spec), Some(handler_spec)] = specs else { return None };
        let result = self.infer(body_spec);
        let known = self.spec(body_spec);
        if known.effect_free && known.is_done() && !result.is_bottom() {
            return Some(frame.push(StepKind::Call(body_spec), args, result, Attrs::NONE));
        }
        let handled = self.infer(handler_spec);
        let result = self.partials.join(result, handled);
        frame.effect_free = false;
        Some(frame.push(StepKind::Try(body_spec, handler_spec), args, result, Attrs::NONE))
    }
}
