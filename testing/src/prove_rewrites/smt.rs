//! Rules as SMT-LIB text, over bit vectors and IEEE floats.

use std::fmt::Write;

use regraft_ir::{Constant, Context, Type};
use regraft_passes::rewrite::{Condition, ConditionKind, Rule, RuleSet, Term, Typing};

/// The question whether there are values that refute a rule at these types: `unsat` proves it.
///
/// # Errors
/// The reason why it cannot be asked.
pub(super) fn question(ctx: &Context, rule: &Rule, typing: &Typing) -> Result<String, String> {
    let translator = Translator { ctx, rule, typing };
    let (from, ty) = translator.term(rule.from())?;
    let (to, _) = translator.term(rule.to())?;
    let floats =
        format!("{from}{to}").contains("fp") || typing.variables.iter().any(|ty| ty.is_float());
    if floats && rule.set() != RuleSet::Exact {
        return Err(format!("`{}` does not speak of all floats", rule.set().name()));
    }
    let mut text =
        format!("; {}\n(set-logic {})\n", rule.text(), if floats { "QF_BVFP" } else { "QF_BV" });
    let mut names = Vec::new();
    for ((_, name), &ty) in rule.variables().zip(&typing.variables) {
        let _ = writeln!(text, "(declare-const ?{name} {})", sort(ty)?);
        names.push(format!("?{name}"));
    }
    for condition in rule.conditions() {
        let _ = writeln!(text, "(assert {})", translator.condition(condition)?);
    }
    // Floats are compared as terms: zeros of different signs differ, and all NaNs are one.
    let _ = writeln!(text, "(assert (not (= {from} {to})))\n(check-sat)");
    if !names.is_empty() {
        let _ = writeln!(text, "(get-value ({}))", names.join(" "));
    }
    let _ = sort(ty)?;
    Ok(text)
}

struct Translator<'a> {
    ctx: &'a Context,
    rule: &'a Rule,
    typing: &'a Typing,
}

impl Translator<'_> {
    /// The text of a term, and its type.
    fn term(&self, term: &Term) -> Result<(String, Type), String> {
        match term {
            Term::Variable(v) => Ok((self.name(v.index()), self.typing.variables[v.index()])),
            Term::Literal(_, ty) => {
                let ty = ty.in_typing(self.typing);
                let value = term.eval(self.ctx.registry(), self.typing, &[]).and_then(Result::ok);
                let value = value.ok_or("a literal does not fit its type")?;
                Ok((literal(value, ty)?, ty))
            }
            Term::Op(op, operands, ty) => {
                let def = self.ctx.registry().def(*op).ok_or("an op is not known")?;
                let parts = operands.iter().map(|operand| self.term(operand));
                let parts = parts.collect::<Result<Vec<_>, _>>()?;
                // The class of most ops is that of their last operand: of a choice, too.
                let class = parts.last().map_or(Type::UNIT, |(_, ty)| *ty);
                let texts: Vec<&str> = parts.iter().map(|(text, _)| text.as_str()).collect();
                let text = call(def.name, class, &texts);
                let text = text.ok_or_else(|| format!("`{}` has no translation", def.name))?;
                Ok((text, ty.in_typing(self.typing)))
            }
        }
    }

    fn name(&self, at: usize) -> String {
        self.rule.variables().nth(at).map_or(String::new(), |(_, name)| format!("?{name}"))
    }

    fn condition(&self, condition: &Condition) -> Result<String, String> {
        let at = condition.variable.index();
        let (x, ty) = (self.name(at), self.typing.variables[at]);
        let always = || Ok("true".to_owned());
        if condition.kind.is_formal() {
            return always();
        }
        if ty.is_float() {
            let zero = literal(Constant::float(ty, 0.0).ok_or("no float")?, ty)?;
            let finite = format!("(not (or (fp.isInfinite {x}) (fp.isNaN {x})))");
            return Ok(match condition.kind {
                ConditionKind::Nonzero => format!("(not (fp.isZero {x}))"),
                ConditionKind::Positive => format!("(fp.gt {x} {zero})"),
                ConditionKind::Negative => format!("(fp.lt {x} {zero})"),
                ConditionKind::Nonnegative => format!("(fp.geq {x} {zero})"),
                ConditionKind::Nonpositive => format!("(fp.leq {x} {zero})"),
                ConditionKind::NotMinusZero => {
                    format!("(not (and (fp.isZero {x}) (fp.isNegative {x})))")
                }
                ConditionKind::Finite => finite,
                ConditionKind::Whole => {
                    format!("(and {finite} (fp.eq {x} (fp.roundToIntegral RTZ {x})))")
                }
                ConditionKind::Quiet => return Err("SMT-LIB knows one NaN".to_owned()),
                kind => return Err(format!("`{}` has no translation", kind.name())),
            });
        }
        if !ty.is_int() {
            return match condition.kind {
                ConditionKind::Nonzero | ConditionKind::Positive => Ok(x),
                ConditionKind::Negative => Ok("false".to_owned()),
                ConditionKind::Nonpositive => Ok(format!("(not {x})")),
                _ => always(),
            };
        }
        let zero = literal(Constant::int(ty, 0).ok_or("no integer")?, ty)?;
        Ok(match condition.kind {
            ConditionKind::Nonzero => format!("(not (= {x} {zero}))"),
            ConditionKind::Positive => format!("(bvsgt {x} {zero})"),
            ConditionKind::Negative => format!("(bvslt {x} {zero})"),
            ConditionKind::Nonnegative => format!("(bvsge {x} {zero})"),
            ConditionKind::Nonpositive => format!("(bvsle {x} {zero})"),
            _ => return always(),
        })
    }
}

/// The widths of the exponent and of the significand of a float type.
fn widths(ty: Type) -> (u32, u32) {
    if ty == Type::F32 { (8, 24) } else { (11, 53) }
}

fn sort(ty: Type) -> Result<String, String> {
    match ty {
        Type::BOOL => Ok("Bool".to_owned()),
        _ if ty.is_float() => {
            let (exponent, significand) = widths(ty);
            Ok(format!("(_ FloatingPoint {exponent} {significand})"))
        }
        _ => match ty.bits().filter(|_| ty.is_int()) {
            Some(bits) => Ok(format!("(_ BitVec {bits})")),
            None => Err("a type has no translation".to_owned()),
        },
    }
}

fn literal(constant: Constant, ty: Type) -> Result<String, String> {
    let (exponent, significand) = widths(ty);
    let to_fp = format!("(_ to_fp {exponent} {significand})");
    Ok(match constant {
        Constant::Bool(x) => x.to_string(),
        Constant::I8(x) => format!("#x{x:02x}"),
        Constant::I16(x) => format!("#x{x:04x}"),
        Constant::I32(x) => format!("#x{x:08x}"),
        Constant::I64(x) => format!("#x{x:016x}"),
        Constant::F32(bits) => format!("({to_fp} #x{bits:08x})"),
        Constant::F64(bits) => format!("({to_fp} #x{bits:016x})"),
        _ => return Err("a literal has no translation".to_owned()),
    })
}

/// An op on operands of which the last is of type `ty`; `None` if it has no translation: because it
/// may trap, or because SMT-LIB has nothing like it.
fn call(name: &str, ty: Type, operands: &[&str]) -> Option<String> {
    let all = operands.join(" ");
    let float = ty.is_float();
    let (bool, int) = (ty == Type::BOOL, ty.is_int());
    let plain = |function: &str| Some(format!("({function} {all})"));
    let class = |of_bool: &str, of_int: &str, of_float: &str| {
        let function = match (bool, int) {
            (true, _) => of_bool,
            (_, true) => of_int,
            _ => of_float,
        };
        if function.is_empty() { None } else { plain(function) }
    };
    match (name, operands) {
        ("arith.add", _) => class("", "bvadd", "fp.add RNE"),
        ("arith.sub", _) => class("", "bvsub", "fp.sub RNE"),
        ("arith.mul", _) => class("", "bvmul", "fp.mul RNE"),
        ("arith.fdiv", _) => class("", "", "fp.div RNE"),
        ("arith.fma", _) => class("", "", "fp.fma RNE"),
        ("arith.neg", _) => class("", "bvneg", "fp.neg"),
        ("arith.abs", [x]) if int => {
            let zero = literal(Constant::int(ty, 0)?, ty).ok()?;
            Some(format!("(let ((x {x})) (ite (bvslt x {zero}) (bvneg x) x))"))
        }
        ("arith.abs", _) => class("", "", "fp.abs"),
        ("arith.floor", _) => class("", "", "fp.roundToIntegral RTN"),
        ("arith.ceil", _) => class("", "", "fp.roundToIntegral RTP"),
        ("arith.round", _) => class("", "", "fp.roundToIntegral RNE"),
        ("arith.trunc", _) => class("", "", "fp.roundToIntegral RTZ"),
        ("arith.isnan", _) => class("", "", "fp.isNaN"),
        ("arith.isinf", _) => class("", "", "fp.isInfinite"),
        ("arith.isfinite", [x]) => Some(format!("(not (or (fp.isInfinite {x}) (fp.isNaN {x})))")),
        ("arith.eq", _) => class("=", "=", "fp.eq"),
        ("arith.ne", _) => Some(format!("(not {})", class("=", "=", "fp.eq")?)),
        ("arith.lt", [x, y]) if bool => Some(format!("(and (not {x}) {y})")),
        ("arith.le", [x, y]) if bool => Some(format!("(or (not {x}) {y})")),
        ("arith.gt", [x, y]) if bool => Some(format!("(and {x} (not {y}))")),
        ("arith.ge", [x, y]) if bool => Some(format!("(or {x} (not {y}))")),
        ("arith.lt", _) => class("", "bvslt", "fp.lt"),
        ("arith.le", _) => class("", "bvsle", "fp.leq"),
        ("arith.gt", _) => class("", "bvsgt", "fp.gt"),
        ("arith.ge", _) => class("", "bvsge", "fp.geq"),
        ("arith.and", _) => class("and", "bvand", ""),
        ("arith.or", _) => class("or", "bvor", ""),
        ("arith.xor", _) => class("xor", "bvxor", ""),
        ("arith.not", _) => class("not", "bvnot", ""),
        ("core.select", _) => plain("ite"),
        ("arith.min" | "arith.max", [x, y]) if int => {
            let less = if name == "arith.min" { "bvslt" } else { "bvsgt" };
            Some(format!("(let ((x {x}) (y {y})) (ite ({less} x y) x y))"))
        }
        ("arith.min" | "arith.max", [x, y]) if float => {
            let (exponent, significand) = widths(ty);
            let nan = format!("(_ NaN {exponent} {significand})");
            let (less, zeros) = match name {
                "arith.min" => ("fp.lt", "(ite (fp.isNegative y) y x)"),
                _ => ("fp.gt", "(ite (fp.isNegative x) y x)"),
            };
            Some(format!(
                "(let ((x {x}) (y {y})) (ite ({less} x y) x (ite ({less} y x) y \
                 (ite (or (fp.isNaN x) (fp.isNaN y)) {nan} {zeros}))))"
            ))
        }
        ("arith.mulz", [x, y]) if float => {
            let (exponent, significand) = widths(ty);
            Some(format!(
                "(let ((x {x}) (y {y})) (let ((product (fp.mul RNE x y))) (ite (and (fp.isNaN product) \
                 (or (fp.isZero x) (fp.isZero y))) (_ +zero {exponent} {significand}) product)))"
            ))
        }
        _ => None,
    }
}
