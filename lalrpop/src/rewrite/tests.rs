use super::*;

fn shape(term: &RewriteTerm) -> String {
    match &term.kind {
        RewriteTermKind::Variable(name) => format!("?{name}"),
        RewriteTermKind::Literal(constant) => format!("{constant:?}"),
        RewriteTermKind::Op(op, operands) => {
            let operands: Vec<String> = operands.iter().map(shape).collect();
            format!("({} {})", op.text, operands.join(" "))
        }
    }
}

fn rules(text: &str) -> Vec<String> {
    let parsed = parse_rewrites("rules", text).unwrap();
    let line = |rule: &RewriteRule| {
        let conditions: String = rule
            .conditions
            .iter()
            .map(|c| {
                let not = if c.negated { "not " } else { "" };
                format!(" | {not}{} {}", c.name.text, c.variable.text)
            })
            .collect();
        let arrow = if rule.both_ways { "<=>" } else { "=>" };
        let (from, to) = (shape(&rule.from), shape(&rule.to));
        format!("{} {}: {from} {arrow} {to}{conditions}", rule.name.text, rule.set.text)
    };
    parsed.rules.iter().map(line).collect()
}

fn errors(text: &str) -> Vec<String> {
    let found = parse_rewrites("rules", text).unwrap_err();
    let line = |d: &Diagnostic| {
        let label = &d.labels()[0];
        format!("{}..{}: {}", label.span.start, label.span.end, d.message())
    };
    found.iter().map(line).collect()
}

#[test]
fn terms_nest_and_conditions_follow() {
    let text = "# Sums\nrule add-neg exact: arith.add ?a, (arith.neg ?b) => arith.sub ?a, ?b\n\n\
                rule one exact: arith.mul ?a, 1.0 => ?a  # comment\n  if quiet ?a, not const ?a\n";
    assert_eq!(
        rules(text),
        [
            "add-neg exact: (arith.add ?a (arith.neg ?b)) => (arith.sub ?a ?b)",
            "one exact: (arith.mul ?a F64(4607182418800017408)) => ?a | quiet a | not const a",
        ]
    );
}

#[test]
fn literals_are_integers_floats_truth_values_and_infinities() {
    let found = rules("rule a b: o.p -1, -0.0, true, (o.q inf) <=> false");
    let minus_zero = (-0.0f64).to_bits();
    let inf = f64::INFINITY.to_bits();
    assert_eq!(
        found,
        [format!(
            "a b: (o.p I64(-1) F64({minus_zero}) Bool(true) (o.q F64({inf}))) <=> Bool(false)"
        )]
    );
}

#[test]
fn blanks_may_follow_a_question_mark_and_a_sign() {
    let spaced = rules("rule a b: o.p ? x, - 1 => ? x");
    assert_eq!(spaced, rules("rule a b: o.p ?x, -1 => ?x"));
}

#[test]
fn every_error_is_reported_with_its_place() {
    let text = "rule a exact arith.neg ?a => ?a\nrule b exact: arith.neg ?a\n\
                rule c exact: arith.neg ?a => $\nrule d exact: arith.neg ?a => 1x";
    assert_eq!(
        errors(text),
        [
            "13..22: expected `:`, found `arith.neg`",
            "58..59: expected `=>` or `<=>`, found the end of the line",
            "89..90: unexpected character `$`",
            "121..123: `1x` is no number",
        ]
    );
}

#[test]
fn numbers_are_checked() {
    assert_eq!(errors("rule d exact: o.p ?a => 1x"), ["24..26: `1x` is no number"]);
}

#[test]
fn deep_terms_are_refused() {
    let nested = |depth: usize| {
        let (open, close) = ("(o.p ".repeat(depth - 1), ")".repeat(depth - 1));
        format!("rule a b: o.p {open}?x{close} => ?x")
    };
    assert_eq!(rules(&nested(MAX_TERM_DEPTH - 1)).len(), 1);
    assert!(errors(&nested(MAX_TERM_DEPTH))[0].contains("nested more than 32 deep"));
    // A text that is far too deep is an error like any other.
    assert!(!errors(&nested(100_000)).is_empty());
}
