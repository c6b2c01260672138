//! What can be said of one instruction, where its op leaves it to the operands.

use super::Function;
use crate::{OpDef, ResultType, Traits, Type, TypeClass, TypePattern, Value};

impl Function {
    /// Whether running `v` may stop the program with an error: because its op may, or because an
    /// operand is `any`, so that whether it fits is found out only then. `false` for a parameter.
    /// O(operands).
    pub fn may_trap(&self, v: Value) -> bool {
        let Some(def) = self.op_def(v) else { return false };
        def.traits.contains(Traits::MAY_TRAP)
            || self
                .plain_operands(v)
                .enumerate()
                .any(|(i, operand)| self.operand_type(operand) == Type::ANY && def.checks(i, self.ty(v)))
    }

    /// Whether `v` is an instruction that can be dropped when nobody uses its result: it changes
    /// nothing, does not trap, and ends no block. O(operands).
    pub fn is_removable(&self, v: Value) -> bool {
        self.op_def(v).is_some_and(OpDef::is_removable) && !self.may_trap(v)
    }
}

impl OpDef {
    /// Whether an operand at `position` that is `any` is checked when the program runs, in an
    /// instruction of type `ty`.
    fn checks(&self, position: usize, ty: Type) -> bool {
        let Some(last) = self.operands.len().checked_sub(1) else { return false };
        let pattern = self.operands[position.min(last)].pattern;
        match pattern {
            // What is made of it says whether it has to be something: the declared type of a
            // struct does, and so does reading a field, whose type is then not known.
            TypePattern::Anything => match self.result {
                ResultType::Declared => true,
                ResultType::Computed(_) => ty == Type::ANY,
                _ => false,
            },
            // A variable that stands for every type and occurs once fits whatever it is.
            TypePattern::Var(var) if self.type_vars[usize::from(var)] == TypeClass::Any => {
                let repeats = self.variadic && self.operands[last].pattern == pattern;
                repeats || self.operands.iter().filter(|o| o.pattern == pattern).count() > 1
            }
            _ => true,
        }
    }
}
