use super::*;

fn shape(expr: &DerivativeExpr) -> String {
    match &expr.kind {
        DerivativeExprKind::Name(name) => name.clone(),
        DerivativeExprKind::Int(x) => x.to_string(),
        DerivativeExprKind::Float(x) => format!("{x:?}"),
        DerivativeExprKind::Call(op, args) => {
            let args: Vec<String> = args.iter().map(shape).collect();
            format!("{}({})", op.text, args.join(" "))
        }
    }
}

fn rule(text: &str) -> String {
    let parsed = parse_derivatives("rules", text).unwrap();
    let lines: Vec<String> = parsed
        .rules
        .iter()
        .map(|rule| {
            let operands: Vec<&str> = rule.operands.iter().map(|name| &*name.text).collect();
            let partials: Vec<String> = rule
                .partials
                .iter()
                .map(|partial| match &partial.kind {
                    PartialKind::Expression(e, false) => shape(e),
                    PartialKind::Expression(e, true) => format!("strong {}", shape(e)),
                    PartialKind::None => "_".to_owned(),
                    PartialKind::Error(text) => format!("error {text:?}"),
                })
                .collect();
            let result = rule.result.as_ref().map_or("-", |name| &name.text);
            format!("{}[{}]{result}: {}", rule.op.text, operands.join(" "), partials.join("; "))
        })
        .collect();
    lines.join("\n")
}

fn errors(text: &str) -> Vec<String> {
    let found = parse_derivatives("rules", text).unwrap_err();
    found
        .iter()
        .map(|d| {
            let label = &d.labels()[0];
            format!("{}..{}: {}", label.span.start, label.span.end, d.message())
        })
        .collect()
}

#[test]
fn operators_bind_as_usual() {
    assert_eq!(
        rule("d m.f(x, y) = -x * y + 2 / x / 3.5, x - y - 1 <= -(x)"),
        "m.f[x y]-: arith.add(arith.mul(arith.neg(x) y) \
         arith.fdiv(arith.fdiv(2 x) 3.5)); \
         arith.le(arith.sub(arith.sub(x y) 1) arith.neg(x))"
    );
}

#[test]
fn partials_may_be_strong_or_missing_or_an_error() {
    assert_eq!(
        rule("d f(x, n) -> z = strong 0.5 / z, _\nd g(x) = error \"no \\\"op\\\"\""),
        "f[x n]z: strong arith.fdiv(0.5 z); _\ng[x]-: error \"no \\\"op\\\"\""
    );
}

#[test]
fn blank_lines_comments_and_continued_lines() {
    assert_eq!(
        rule(
            "# head\n\nd f(x) = # one\n  select(x < 0,\n\n   # between\n  1, 2)\n  \nd g(x) = 1\n"
        ),
        "f[x]-: select(arith.lt(x 0) 1 2)\ng[x]-: 1"
    );
    assert_eq!(rule(""), "");
}

#[test]
fn every_wrong_line_is_reported() {
    assert_eq!(
        errors("d f(x = 1\nd g(x) = 1\ne h(x) = 1\nd k(x) = 1 +\nd q(x) = $"),
        [
            "6..7: expected `)` or `,`, found `=`",
            "21..22: expected `d` or the end of the line, found `e`",
            "44..45: expected an expression, found the end of the line",
            "54..55: unexpected character `$`",
        ]
    );
}

#[test]
fn deep_expressions_are_refused() {
    let deep = format!("d f(x) = {}x", "-".repeat(100_000));
    assert_eq!(
        errors(&deep)[0].rsplit(": ").next(),
        Some("expressions are nested more than 64 deep")
    );
}
