//! Alternatives within an instruction, in blocks of their own.
//!
//! The first begins with [`StepKind::If`], the second one with [`StepKind::Else`]. Control of both comes together in a
//! block behind [`StepKind::EndIf`], whose parameter is the result.

use regraft_ir::{Constant, Loc, Type};
use smallvec::SmallVec;

use super::builder::{Slot, Terminator};
use super::{Emission, Lattice, StepKind};
use crate::infer::{Arg, Step};

/// A test and the blocks behind it.
struct Split {
    /// The block that ends with the test.
    head: u32,
    condition: Slot,
    /// The block that the first alternative begins with.
    first: u32,
    /// The blocks at whose ends control gets out of an alternative, and the results there.
    ends: SmallVec<[(u32, Slot); 2]>,
}

/// The tests that are open, the innermost last.
#[derive(Default)]
pub(super) struct Splits {
    open: SmallVec<[Split; 2]>,
    /// The tests within the rest of an alternative that control does not get to; `None` if it does get on.
    passed: Option<usize>,
}

impl Splits {
    /// Returns whether a step is one that control does not get to.
    pub(super) fn passes_over(&mut self, kind: StepKind) -> bool {
        let Some(nested) = &mut self.passed else { return false };
        match kind {
            StepKind::If => *nested += 1,
            StepKind::EndIf if *nested > 0 => *nested -= 1,
            StepKind::Else | StepKind::EndIf if *nested == 0 => return false,
            _ => {}
        }
        true
    }

    /// Begins an alternative.
    pub(super) fn step(&mut self, cx: &mut Emission<'_>, step: &Step, loc: Loc) {
        let arg = cx.frame.step_args(step)[0];
        if step.kind == StepKind::If {
            let (head, condition) = (cx.at, cx.slot(arg));
            cx.begin_block();
            let first = cx.at;
            return self.open.push(Split { head, condition, first, ends: SmallVec::new() });
        }
        self.end_alternative(cx, arg);
        cx.begin_block();
        let second = cx.at;
        let Some(split) = self.open.last() else { return };
        let &Split { head, condition, first, .. } = split;
        let targets: &[u32] = match condition {
            Slot::Const(constant) => match cx.frame.body.ctx().constant(constant) {
                Constant::Bool(true) => &[first],
                _ => &[second],
            },
            Slot::Value(_) => &[first, second],
        };
        let leave =
            if targets.len() == 1 { Terminator::Jump } else { Terminator::Branch(condition) };
        cx.builder.set_terminator(head, leave, loc);
        for &target in targets {
            cx.builder.add_edge(head, target, &[]);
        }
    }

    /// Ends the second alternative; gives the result, if control gets here.
    pub(super) fn end(
        &mut self,
        cx: &mut Emission<'_>,
        step: &Step,
        ty: Type,
        loc: Loc,
    ) -> Option<Slot> {
        self.end_alternative(cx, cx.frame.step_args(step)[0]);
        let split = self.open.pop()?;
        if split.ends.is_empty() {
            // Control does not get to a block that nothing leads to.
            cx.begin_block();
            return None;
        }
        let behind = cx.builder.add_block();
        let constant = match step.result {
            Lattice::Const(constant) => Some(Slot::Const(constant)),
            _ => None,
        };
        let result = constant.unwrap_or_else(|| Slot::Value(cx.builder.add_param(ty, None, loc)));
        for (end, slot) in split.ends {
            cx.builder.set_terminator(end, Terminator::Jump, loc);
            let args = [slot];
            cx.builder.add_edge(end, behind, if constant.is_some() { &[] } else { &args });
        }
        cx.builder.enter(behind);
        cx.at = behind;
        Some(result)
    }

    /// Notes that control gets no further; whether it may get to another alternative.
    pub(super) fn leave(&mut self, cx: &mut Emission<'_>, loc: Loc) -> bool {
        if self.open.is_empty() {
            return false;
        }
        cx.builder.set_terminator(cx.at, Terminator::Unreachable, loc);
        self.passed = Some(0);
        true
    }

    fn end_alternative(&mut self, cx: &Emission<'_>, result: Arg) {
        if self.passed.take().is_none()
            && let Some(split) = self.open.last_mut()
        {
            split.ends.push((cx.at, cx.slot(result)));
        }
    }
}

impl Emission<'_> {
    /// Goes on in a new block.
    fn begin_block(&mut self) {
        self.at = self.builder.add_block();
        self.builder.enter(self.at);
    }
}
