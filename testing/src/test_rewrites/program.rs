//! Terms of rules, compiled for one choice of types: a list of calls on slots.

use regraft_dialects::semantics::to_slot;
use regraft_ir::{Registry, ScalarFn, Trap, Type};
use regraft_passes::rewrite::{Term, Typing};

/// A term whose value is computed step by step. Registers hold the variables first, then the values
/// of literals and ops, in the order in which they are computed.
pub(super) struct Program {
    steps: Vec<Step>,
    /// The types of the registers.
    pub(super) types: Vec<Type>,
    result: usize,
}

enum Step {
    Literal(u64),
    Call(ScalarFn, [usize; 3]),
}

impl Program {
    /// Compiles a term.
    ///
    /// # Errors
    /// The reason why it has no value: a sentence.
    pub(super) fn new(registry: &Registry, term: &Term, typing: &Typing) -> Result<Self, String> {
        let (steps, types) = (Vec::new(), typing.variables.clone());
        let mut program = Self { steps, types, result: 0 };
        program.result = program.compile(registry, term, typing)?;
        Ok(program)
    }

    fn compile(
        &mut self,
        registry: &Registry,
        term: &Term,
        typing: &Typing,
    ) -> Result<usize, String> {
        let (step, ty) = match term {
            Term::Variable(variable) => return Ok(variable.index()),
            Term::Literal(..) => {
                let value = term.eval(registry, typing, &[]).and_then(Result::ok);
                let slot = value.and_then(to_slot).ok_or("a literal does not fit its type")?;
                (Step::Literal(slot.1), slot.0)
            }
            Term::Op(op, operands, ty) => {
                let def = registry.def(*op).ok_or("an op is not known")?;
                let mut at = [0; 3];
                let mut types = Vec::with_capacity(3);
                for (i, operand) in operands.iter().enumerate() {
                    let register = self.compile(registry, operand, typing)?;
                    types.push(self.types[register]);
                    *at.get_mut(i).ok_or_else(|| none(def.name))? = register;
                }
                let function = def.eval.and_then(|find| find(&types, ty.in_typing(typing)));
                let function = function.ok_or_else(|| none(def.name))?;
                (Step::Call(function, at), function.result)
            }
        };
        self.steps.push(step);
        self.types.push(ty);
        Ok(self.types.len() - 1)
    }

    /// Computes the term in `registers`, which begin with the values of the variables. They hold
    /// everything that was computed; after a trap, what was before it.
    #[inline]
    pub(super) fn run(&self, registers: &mut Vec<u64>) -> Result<u64, Trap> {
        for step in &self.steps {
            let value = match *step {
                Step::Literal(slot) => slot,
                Step::Call(function, [x, y, z]) => {
                    (function.call)(registers[x], registers[y], registers[z])?
                }
            };
            registers.push(value);
        }
        Ok(registers[self.result])
    }

    /// Returns whether a float occurs in it, or a variable that is one.
    pub(super) fn has_floats(&self) -> bool {
        self.types.iter().any(|ty| ty.is_float())
    }
}

fn none(op: &str) -> String {
    format!("`{op}` has no evaluation on scalars")
}
