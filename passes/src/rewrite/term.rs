//! The terms of rules.

use regraft_dialects::semantics::eval_scalar;
use regraft_ir::{Constant, Op, Registry, Trap, Type};

use super::Typing;

/// A variable of a rule, by its position in [`Rule::variables`](super::Rule::variables).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Variable(pub(super) u8);

impl Variable {
    /// Its position.
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// A term of a rule.
#[derive(Clone, PartialEq, Debug)]
pub enum Term {
    /// `?a`.
    Variable(Variable),
    /// A constant, as it is written; the type that it takes.
    Literal(Constant, TypeSource),
    /// An op with its operands; the type of its result.
    Op(Op, Box<[Term]>, TypeSource),
}

/// The place that a type of a rule is taken from where the rule matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeSource {
    /// It is always this type.
    Is(Type),
    /// It is the type of a variable.
    Of(Variable),
    /// It is the type of the whole term.
    Root,
}

impl TypeSource {
    /// The type in a rule that is used at these types.
    pub fn in_typing(self, typing: &Typing) -> Type {
        match self {
            Self::Is(ty) => ty,
            Self::Of(variable) => typing.variables[variable.index()],
            Self::Root => typing.root,
        }
    }

    /// The type where a rule matches a value of type `root`; `of` gives the types of variables.
    #[inline]
    pub(crate) fn where_it_matches(
        self,
        root: Type,
        of: impl FnOnce(Variable) -> Option<Type>,
    ) -> Option<Type> {
        match self {
            Self::Is(ty) => Some(ty),
            Self::Of(variable) => of(variable),
            Self::Root => Some(root),
        }
    }
}

impl Term {
    /// The operands, if it is an op.
    pub(crate) fn operands(&self) -> &[Self] {
        match self {
            Self::Op(_, operands, _) => operands,
            _ => &[],
        }
    }

    /// The number of ops in it.
    pub(crate) fn size(&self) -> usize {
        let operands: usize = self.operands().iter().map(Self::size).sum();
        operands + usize::from(matches!(self, Self::Op(..)))
    }

    /// The depth to which terms nest in it, itself counted.
    pub(crate) fn depth(&self) -> usize {
        match self {
            Self::Op(_, operands, _) => 1 + operands.iter().map(Self::depth).max().unwrap_or(0),
            _ => 1,
        }
    }

    /// The value of the term for these values of its variables, or the trap that it ends in; `None`
    /// if an op in it has no evaluation.
    pub fn eval(
        &self,
        registry: &Registry,
        typing: &Typing,
        values: &[Constant],
    ) -> Option<Result<Constant, Trap>> {
        let mut seen = |_: Constant| ();
        self.eval_with(registry, typing, values, &mut seen)
    }

    /// As [`Term::eval`]; `seen` gets the value of each op and literal in the term.
    pub fn eval_with(
        &self,
        registry: &Registry,
        typing: &Typing,
        values: &[Constant],
        seen: &mut dyn FnMut(Constant),
    ) -> Option<Result<Constant, Trap>> {
        let value = match self {
            Self::Variable(v) => return Some(Ok(*values.get(v.index())?)),
            Self::Literal(constant, ty) => literal_as(*constant, ty.in_typing(typing))?,
            Self::Op(op, operands, ty) => {
                let mut args = Vec::with_capacity(operands.len());
                for operand in operands {
                    match operand.eval_with(registry, typing, values, seen)? {
                        Ok(value) => args.push(value),
                        trap => return Some(trap),
                    }
                }
                match eval_scalar(registry.def(*op)?, &args, ty.in_typing(typing))? {
                    Ok(value) => value,
                    trap => return Some(trap),
                }
            }
        };
        seen(value);
        Some(Ok(value))
    }
}

/// A literal of a rule as a constant of type `ty`: integers are numbers of any type, floats are
/// rounded to the nearest of the type. `None` if there is none.
pub(crate) fn literal_as(literal: Constant, ty: Type) -> Option<Constant> {
    match literal {
        Constant::Bool(_) => (ty == Type::BOOL).then_some(literal),
        _ if ty.is_int() => Constant::int(ty, literal.as_int()?),
        _ => {
            let x = literal.as_float().or_else(|| literal.as_int().map(|n| n as f64))?;
            Constant::float(ty, x)
        }
    }
}
