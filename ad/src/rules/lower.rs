//! From rules as they are written to rules over ops: what the names stand for, and which of the
//! numbers are integers.

use std::ops::Range;

use regraft_dialects::{arith, core};
use regraft_ir::{
    Diagnostic, OpDef, Registry, ResultType, Traits, Type, TypeClass, TypePattern, suggest,
};
use regraft_syntax::{
    DerivativeExpr, DerivativeExprKind, DerivativeRule, DerivativeText, PartialKind,
    parse_derivatives,
};
use rustc_hash::FxHashSet;

use super::{Expr, Partial, ScalarRule};

/// Reads rules for ops of these dialects.
pub(super) fn rules(
    registry: &Registry,
    name: &str,
    text: &str,
) -> Result<Vec<ScalarRule>, Vec<Diagnostic>> {
    let text = parse_derivatives(name, text)?;
    let mut errors = Vec::new();
    let mut rules = Vec::new();
    let mut seen = FxHashSet::default();
    for written in &text.rules {
        let mut reader = Reader { registry, text: &text, written, kinds: Vec::new() };
        match reader.rule() {
            Ok(rule) if seen.insert(rule.op) => rules.push(rule),
            Ok(_) => {
                let message = format!("there is a rule for `{}` already", written.op.text);
                errors.push(text.error(written.op.span.clone(), message, "the second one"));
            }
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(rules) } else { Err(errors) }
}

/// The kind of value that an expression computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Float,
    Int,
    Bool,
}

impl Kind {
    fn describe(self) -> &'static str {
        match self {
            Self::Float => "a float",
            Self::Int => "an integer",
            Self::Bool => "a bool",
        }
    }

    /// The kind of the values of a type, if a rule can speak of them.
    fn of(ty: Type) -> Option<Self> {
        match ty {
            Type::F32 | Type::F64 => Some(Self::Float),
            Type::I64 => Some(Self::Int),
            Type::BOOL => Some(Self::Bool),
            _ => None,
        }
    }

    /// Returns whether a type variable may stand for it.
    fn is_in(self, class: TypeClass) -> bool {
        class.contains(match self {
            Self::Float => Type::F64,
            Self::Int => Type::I64,
            Self::Bool => Type::BOOL,
        })
    }
}

struct Reader<'a> {
    registry: &'a Registry,
    text: &'a DerivativeText,
    written: &'a DerivativeRule,
    /// The kinds of the operands of the op.
    kinds: Vec<Kind>,
}

type Read<T> = Result<T, Diagnostic>;

impl Reader<'_> {
    fn error<T>(&self, span: &Range<usize>, message: String, label: &str) -> Read<T> {
        Err(self.text.error(span.clone(), message, label))
    }

    fn rule(&mut self) -> Read<ScalarRule> {
        let written = self.written;
        let (name, span) = (&written.op.text, &written.op.span);
        let Some(def) = self.registry.find(name) else {
            let hint = self.near(name);
            return self.error(span, format!("there is no op `{name}`"), &hint);
        };
        let kinds: Option<Vec<Kind>> = def
            .operands
            .iter()
            .map(|operand| match operand.pattern {
                TypePattern::Is(ty) => Kind::of(ty),
                TypePattern::Var(v) => {
                    let class = def.type_vars[usize::from(v)];
                    matches!(class, TypeClass::Float | TypeClass::Number).then_some(Kind::Float)
                }
                _ => None,
            })
            .collect();
        let gives_float = match def.result {
            ResultType::Is(ty) => Kind::of(ty) == Some(Kind::Float),
            ResultType::Var(v) => Kind::Float.is_in(def.type_vars[usize::from(v)]),
            _ => false,
        };
        match kinds {
            Some(kinds) if gives_float && !def.variadic && def.traits.contains(Traits::PURE) => {
                self.kinds = kinds;
            }
            _ => {
                let message = format!("`{name}` is not an op from scalars to a float");
                return self.error(span, message, "functions write its derivative");
            }
        }
        let count = self.kinds.len();
        if written.operands.len() != count {
            let found = written.operands.len();
            let message = format!("`{name}` has {count} operands, found {found} names");
            return self.error(span, message, "");
        }
        let names = written.operands.iter().chain(&written.result);
        let mut seen = FxHashSet::default();
        for name in names {
            if !seen.insert(&name.text) {
                let message = format!("the name `{}` is there twice", name.text);
                return self.error(&name.span, message, "the second one");
            }
        }
        if written.partials.len() != count {
            let found = written.partials.len();
            let message = format!("`{name}` has {count} operands, found {found} derivatives");
            return self.error(span, message, "");
        }
        let partials = (0..count).map(|i| self.partial(i)).collect::<Read<Vec<_>>>()?;
        Ok(ScalarRule { op: def.op, partials })
    }

    fn partial(&self, position: usize) -> Read<Option<Partial>> {
        let written = &self.written.partials[position];
        let (name, kind) = (&self.written.operands[position].text, self.kinds[position]);
        match (&written.kind, kind) {
            (PartialKind::None, Kind::Float) => {
                let message = format!("`{name}` is a float, and has a derivative");
                self.error(&written.span, message, "`0` if there is none")
            }
            (PartialKind::None, _) => Ok(None),
            (_, Kind::Int | Kind::Bool) => {
                let message =
                    format!("there is no derivative by `{name}`, which is {}", kind.describe());
                self.error(&written.span, message, "expected `_`")
            }
            (PartialKind::Error(text), _) => Ok(Some(Partial::new(Err(text.clone()), false))),
            (PartialKind::Expression(expr, strong), _) => {
                let read = self.expr(expr, Kind::Float)?;
                let expr = self.of_kind(expr, read, Kind::Float)?;
                Ok(Some(Partial::new(Ok(expr), *strong)))
            }
        }
    }

    /// Returns the expression that was read, if it is of this kind.
    fn of_kind(&self, written: &DerivativeExpr, read: (Expr, Kind), kind: Kind) -> Read<Expr> {
        match read {
            (expr, found) if found == kind => Ok(expr),
            (_, found) => {
                let message = format!("expected {}, found {}", kind.describe(), found.describe());
                let label = if found == Kind::Int { "`float(..)` makes one a float" } else { "" };
                self.error(&written.span, message, label)
            }
        }
    }

    /// An expression. Whole numbers are integers if integers are expected, else floats. The
    /// recursion is as deep as the expression, which the parser limits.
    fn expr(&self, written: &DerivativeExpr, expected: Kind) -> Read<(Expr, Kind)> {
        match &written.kind {
            DerivativeExprKind::Float(x) => Ok((Expr::Const(*x), Kind::Float)),
            &DerivativeExprKind::Int(x) if expected == Kind::Int => Ok((Expr::Int(x), Kind::Int)),
            &DerivativeExprKind::Int(x) => Ok((Expr::Const(x as f64), Kind::Float)),
            DerivativeExprKind::Name(name) => self.named(name, &written.span),
            DerivativeExprKind::Call(op, args) => {
                let Some(def) = self.op(&op.text) else {
                    let hint = self.near(&op.text);
                    return self.error(&op.span, format!("there is no op `{}`", op.text), &hint);
                };
                self.call(def, &op.span, args, expected)
            }
        }
    }

    fn named(&self, name: &str, span: &Range<usize>) -> Read<(Expr, Kind)> {
        let operands = &self.written.operands;
        if let Some(position) = operands.iter().position(|operand| operand.text == name) {
            return Ok((Expr::Operand(position), self.kinds[position]));
        }
        match (name, &self.written.result) {
            (_, Some(result)) if result.text == name => Ok((Expr::Result, Kind::Float)),
            ("pi", _) => Ok((Expr::Const(std::f64::consts::PI), Kind::Float)),
            _ => self.error(span, format!("`{name}` is neither an operand nor the result"), ""),
        }
    }

    /// The op that a name in an expression stands for.
    fn op(&self, name: &str) -> Option<&'static OpDef> {
        let short = |dialect: &str| self.registry.find(&format!("{dialect}.{name}"));
        match name {
            "select" => self.registry.def(core::SELECT),
            "float" => self.registry.def(arith::INT_TO_FLOAT),
            _ if name.contains('.') => self.registry.find(name),
            _ => short("math").or_else(|| short("arith")),
        }
    }

    fn call(
        &self,
        def: &'static OpDef,
        span: &Range<usize>,
        written: &[DerivativeExpr],
        expected: Kind,
    ) -> Read<(Expr, Kind)> {
        let suits = def.traits.contains(Traits::PURE) && !def.variadic && def.attrs.is_empty();
        if !suits {
            let message = format!("`{}` cannot stand in a derivative", def.name);
            return self.error(span, message, "");
        }
        if written.len() != def.operands.len() {
            let message = format!(
                "`{}` has {} operands, found {}",
                def.name,
                def.operands.len(),
                written.len()
            );
            return self.error(span, message, "");
        }
        // A type variable stands for what the operands are that are no whole numbers: these are
        // what the others are. Each operand is read once.
        let expected = if expected == Kind::Bool { Kind::Float } else { expected };
        let mut vars: [Option<Kind>; 4] = [None; 4];
        let mut read: Vec<Option<(Expr, Kind)>> = Vec::with_capacity(written.len());
        for (operand, written) in def.operands.iter().zip(written) {
            let is_number = matches!(written.kind, DerivativeExprKind::Int(_));
            read.push(match operand.pattern {
                TypePattern::Var(_) if is_number => None,
                TypePattern::Var(v) => {
                    let (expr, kind) = self.expr(written, expected)?;
                    vars[usize::from(v)].get_or_insert(kind);
                    Some((expr, kind))
                }
                TypePattern::Is(ty) => Some(self.expr(written, Kind::of(ty).unwrap_or(expected))?),
                _ => Some(self.expr(written, expected)?),
            });
        }
        let var = |v: u8| vars[usize::from(v)].unwrap_or(expected);
        let mut args = Vec::with_capacity(written.len());
        for ((operand, written), read) in def.operands.iter().zip(written).zip(read) {
            let kind = match operand.pattern {
                TypePattern::Var(v) if var(v).is_in(def.type_vars[usize::from(v)]) => Some(var(v)),
                TypePattern::Is(ty) => Kind::of(ty),
                _ => None,
            };
            let Some(kind) = kind else {
                let message = format!("`{}` takes no such operand", def.name);
                return self.error(&written.span, message, "");
            };
            let read = match read {
                Some(read) => read,
                None => self.expr(written, kind)?,
            };
            args.push(self.of_kind(written, read, kind)?);
        }
        let kind = match def.result {
            ResultType::Var(v) => Some(var(v)),
            ResultType::Is(ty) => Kind::of(ty),
            ResultType::Declared if def.op == arith::INT_TO_FLOAT => Some(Kind::Float),
            _ => None,
        };
        match kind {
            Some(kind) => Ok((Expr::of(def.op, args), kind)),
            None => self.error(span, format!("`{}` cannot stand in a derivative", def.name), ""),
        }
    }

    /// Suggests the op that a wrong name may have meant.
    fn near(&self, name: &str) -> String {
        let short = |def: &'static OpDef| def.name.rsplit('.').next().unwrap_or(def.name);
        let all =
            self.registry.ops().map(|def| if name.contains('.') { def.name } else { short(def) });
        suggest(name, all).map_or(String::new(), |near| format!("did you mean `{near}`?"))
    }
}
