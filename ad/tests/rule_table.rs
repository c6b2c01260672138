//! Every op of every dialect is differentiated, or declared to have no derivative.

use regraft_ad::{Derivative, DerivativeTable};
use regraft_dialects::{arith, math};
use regraft_ir::{Extension, ResultType, Type, TypeClass};

#[test]
fn every_op_has_a_row() {
    let table = DerivativeTable::builtin();
    let missing: Vec<&str> = regraft_dialects::registry()
        .ops()
        .filter(|def| table.find(def.op).is_none())
        .map(|def| def.name)
        .collect();
    assert!(missing.is_empty(), "nothing is known of the derivatives of {missing:?}");
}

/// An op of `arith` or `math` that gives a float has a rule, unless it is among these. (Incomplete gamma and
/// beta functions have rules where the library calls them: nothing is known of their parameters.)
#[test]
fn every_op_that_gives_a_float_has_a_rule() {
    let without = [arith::INT_TO_FLOAT, arith::FLOAT_CAST, arith::BITCAST];
    let without = without.into_iter().chain([math::GAMMA_P, math::GAMMA_Q, math::BETA_INC]);
    let without: Vec<_> = without.collect();
    let table = DerivativeTable::builtin();
    for def in arith::DIALECT.ops.iter().chain(math::DIALECT.ops) {
        let gives_float = match def.result {
            ResultType::Is(ty) => ty.is_float(),
            ResultType::Var(v) => def.type_vars[usize::from(v)].contains(Type::F64),
            ResultType::Declared => {
                let to_int = [arith::WRAP, arith::SEXT, arith::ZEXT];
                let to_int = to_int.iter().chain(&[arith::FLOAT_TO_INT, arith::FLOAT_TO_INT_SAT]);
                !to_int.copied().any(|op| op == def.op)
            }
            _ => false,
        };
        let has_rule = table.rule(def.op).is_some();
        assert_eq!(has_rule, gives_float && !without.contains(&def.op), "{}", def.name);
    }
}

/// A rule has a partial derivative by each float operand and no other.
#[test]
fn rules_fit_the_signatures() {
    let table = DerivativeTable::builtin();
    for def in regraft_dialects::registry().ops() {
        let Some(rule) = table.rule(def.op) else { continue };
        assert!(matches!(table.get(def.op), Derivative::Scalar(_)));
        assert_eq!(rule.op(), def.op);
        for (i, operand) in def.operands.iter().enumerate() {
            let is_float = match operand.pattern {
                regraft_ir::TypePattern::Var(v) => {
                    let class = def.type_vars[usize::from(v)];
                    matches!(class, TypeClass::Float | TypeClass::Number)
                }
                _ => false,
            };
            assert_eq!(rule.partial(i).is_some(), is_float, "operand {i} of {}", def.name);
        }
        assert!(rule.partial(def.operands.len()).is_none());
    }
}

#[test]
fn ops_that_are_not_implemented_say_why() {
    let table = DerivativeTable::builtin();
    match table.get(arith::BITCAST) {
        Derivative::NotImplemented(why) => assert!(why.contains("bits of a float")),
        other => panic!("{other:?}"),
    }
}
