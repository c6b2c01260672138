//! Traits of one instruction, where its op leaves them to the operands.

use super::Function;
use crate::{OpDef, Operand, ResultType, Traits, Type, TypeClass, TypePattern, Value};

impl Function {
    /// Returns whether running `v` may stop the program with an error: because its op may, or
    /// because it [checks an operand](Function::checks_operands). `false` for a parameter.
    /// O(operands).
    #[inline]
    #[track_caller]
    pub fn may_trap(&self, v: Value) -> bool {
        let Some(def) = self.op_def(v) else { return false };
        def.traits.contains(Traits::MAY_TRAP) || self.checks_operands(v)
    }

    /// Returns whether an operand of `v` is `any`, so that whether it fits is found out (and traps,
    /// if it does not) only when the program runs. O(operands).
    #[inline]
    #[track_caller]
    pub fn checks_operands(&self, v: Value) -> bool {
        // No constant is `any`.
        let is_any = |operand: Operand| operand.as_value().is_some_and(|x| self.ty(x) == Type::ANY);
        let mut operands = self.plain_operands(v).enumerate();
        operands
            .any(|(i, operand)| is_any(operand) && self.op_def(v).is_some_and(|def| def.checks(i)))
    }

    /// Returns whether `v` is an instruction that can be dropped when nobody uses its result: it
    /// changes nothing, does not trap, and ends no block. O(operands).
    #[inline]
    #[track_caller]
    pub fn is_removable(&self, v: Value) -> bool {
        self.op_def(v).is_some_and(OpDef::is_removable) && !self.checks_operands(v)
    }
}

impl OpDef {
    /// Returns whether an operand at `position` that is `any` is checked when the program runs.
    #[cold]
    fn checks(&self, position: usize) -> bool {
        let Some(last) = self.operands.len().checked_sub(1) else { return false };
        match self.operands[position.min(last)].pattern {
            // What is made of it says whether it has to be something, as the fields of a
            // struct do.
            TypePattern::Anything => matches!(self.result, ResultType::Declared),
            // A variable that stands for every type fits whatever it is, unless it has to go
            // into an object; a terminator compares.
            TypePattern::Var(var) if self.type_vars[usize::from(var)] == TypeClass::Any => {
                self.is_terminator()
                    || self.operands.iter().any(|operand| {
                        let of = [TypePattern::ArrayOf(var), TypePattern::RefOf(var)];
                        of.contains(&operand.pattern)
                    })
            }
            _ => true,
        }
    }
}
