//! Rules as text: what they need, what is made of them, and what is wrong with them.

use super::*;

use regraft_ir::Inst;

/// The instructions for a product with the partial by operand `position`, with `s` for the seed,
/// `a`, `b`, .. for the operands and `r` for the result.
fn code(rules: &ScalarRules, op: Op, position: usize, strong_zero: bool) -> String {
    let ctx = context();
    let def = ctx.registry().def(op).unwrap();
    let name = |text: &str| ctx.constant_id(Constant::Sym(ctx.symbol(text)));
    let names = ["a", "b", "c"];
    let operands: Vec<Operand> =
        names[..def.operands.len()].iter().map(|n| name(n).into()).collect();
    let at = Product {
        seed: name("s").into(),
        operands: &operands,
        result: name("r").into(),
        ty: Type::F64,
        strong_zero,
    };
    let mut lines: Vec<String> = Vec::new();
    let text = |operand: Operand| match ctx.constant(operand.as_const().unwrap()) {
        Constant::Sym(name) => ctx.str(name).to_owned(),
        other => ctx.constant_text(other),
    };
    let product =
        rules.get(op).unwrap().partial(position).unwrap().product(&ctx, &at, &mut |inst: Inst| {
            let operands: Vec<String> = inst.operand_list().iter().map(|&o| text(o)).collect();
            let def = ctx.registry().def(inst.op()).unwrap();
            let result = format!("{}", lines.len() + 1);
            lines.push(format!("{result} = {} {}", def.name, operands.join(" ")));
            name(&result).into()
        });
    lines.push(product.map_or("none".to_owned(), text));
    lines.join("; ")
}

#[test]
fn a_product_is_as_short_as_it_can_be() {
    let rules = ScalarRules::standard();
    let code = |op, position| code(&rules, op, position, false);
    assert_eq!(code(arith::ADD, 0), "s");
    assert_eq!(code(arith::SUB, 1), "1 = arith.neg s; 1");
    assert_eq!(code(arith::MUL, 0), "1 = arith.mul s b; 1");
    assert_eq!(code(arith::FDIV, 0), "1 = arith.fdiv s b; 1");
    assert_eq!(code(arith::FDIV, 1), "1 = arith.neg r; 2 = arith.fdiv 1 b; 3 = arith.mulz s 2; 3");
    assert_eq!(code(arith::FLOOR, 0), "none");
    assert_eq!(code(arith::MAX, 0), "1 = arith.gt a b; 2 = core.select 1 s 0.0; 2");
    assert_eq!(code(m::EXP, 0), "1 = arith.mulz s r; 1");
    assert_eq!(code(m::EXP2, 0), "1 = arith.mul r 0.6931471805599453; 2 = arith.mulz s 1; 2");
    assert_eq!(code(m::COS, 0), "1 = math.sin a; 2 = arith.neg 1; 3 = arith.mul s 2; 3");
    assert_eq!(code(m::SQRT, 0), "1 = arith.fdiv 0.5 r; 2 = arith.mulz s 1; 2");
    assert_eq!(
        code(m::ATAN2, 0),
        "1 = math.hypot b a; 2 = arith.fdiv b 1; 3 = arith.fdiv 2 1; 4 = arith.mulz s 3; 4"
    );
    assert_eq!(
        code(m::POWI, 0),
        "1 = arith.eq b 0; 2 = arith.int_to_float b; 3 = arith.sub b 1; 4 = math.powi a 3; \
         5 = arith.mul 2 4; 6 = core.select 1 0.0 5; 7 = arith.mulz s 6; 7"
    );
}

#[test]
fn strong_zero_costs_nothing_where_the_partial_is_a_sign() {
    let rules = ScalarRules::standard();
    let code = |op, position| code(&rules, op, position, true);
    assert_eq!(code(arith::SUB, 1), "1 = arith.neg s; 1");
    assert_eq!(code(arith::MAX, 0), "1 = arith.gt a b; 2 = core.select 1 s 0.0; 2");
    assert_eq!(code(arith::MUL, 1), "1 = arith.mulz s a; 1");
}

#[test]
fn what_a_partial_needs() {
    let rules = ScalarRules::standard();
    let needs = |op, position: usize| {
        let needs = rules.get(op).unwrap().partial(position).unwrap().needs();
        (needs.operands().collect::<Vec<_>>(), needs.result)
    };
    assert_eq!(needs(arith::ADD, 0), (vec![], false));
    assert_eq!(needs(arith::MUL, 0), (vec![1], false));
    assert_eq!(needs(arith::FDIV, 1), (vec![1], true));
    assert_eq!(needs(m::EXP, 0), (vec![], true));
    assert_eq!(needs(m::SIN, 0), (vec![0], false));
    assert_eq!(needs(m::POWI, 0), (vec![0, 1], false));
}

#[test]
fn users_add_rules_in_place_of_others() {
    let mut rules = (*ScalarRules::standard()).clone();
    let registry = regraft_dialects::registry();
    rules.add(&registry, "mine", "d math.tanh(x) = 1 / (cosh(x) * cosh(x))").unwrap();
    assert_eq!(
        code(&rules, m::TANH, 0, false),
        "1 = math.cosh a; 2 = arith.mul 1 1; 3 = arith.fdiv s 2; 3"
    );
    assert!(ScalarRules::standard().get(m::TANH).unwrap().partial(0).unwrap().needs().result);
}

#[test]
fn each_standard_rule_is_found_by_its_op() {
    let registry = regraft_dialects::registry();
    let (mut read, standard) = (ScalarRules::default(), ScalarRules::standard());
    read.add(&registry, "scalar.rules", ScalarRules::STANDARD).unwrap();
    let text = |rules: &ScalarRules, op| rules.get(op).map(|rule| format!("{rule:?}"));
    for def in registry.ops() {
        assert_eq!(text(&standard, def.op), text(&read, def.op), "{}", def.mnemonic());
    }
    assert!(registry.ops().filter(|def| standard.get(def.op).is_some()).count() > 50);
}

fn errors(text: &str) -> Vec<String> {
    let mut rules = ScalarRules::default();
    let found = rules.add(&regraft_dialects::registry(), "mine", text).unwrap_err();
    found
        .iter()
        .map(|d| {
            let label = &d.labels()[0];
            format!("`{}`: {} ({})", &text[label.span.clone()], d.message(), label.text)
        })
        .collect()
}

#[test]
fn wrong_rules_are_refused() {
    let cases = [
        (
            "d math.sine(x) = x",
            "`math.sine`: there is no op `math.sine` (did you mean `math.sin`?)",
        ),
        ("d math.sin(x) = cosine(x)", "`cosine`: there is no op `cosine` ()"),
        ("d math.sin(x) = y", "`y`: `y` is neither an operand nor the result ()"),
        ("d math.sin(x, y) = x, y", "`math.sin`: `math.sin` has 1 operands, found 2 names ()"),
        (
            "d arith.add(x, y) = 1",
            "`arith.add`: `arith.add` has 2 operands, found 1 derivatives ()",
        ),
        ("d arith.add(x, x) = 1, 1", "`x`: the name `x` is there twice (the second one)"),
        ("d math.exp(x) -> x = x", "`x`: the name `x` is there twice (the second one)"),
        ("d math.powi(x, n) = n * x, _", "`x`: expected an integer, found a float ()"),
        (
            "d math.powi(x, n) = n, _",
            "`n`: expected a float, found an integer (`float(..)` makes one a float)",
        ),
        (
            "d math.powi(x, n) = x, 1",
            "`1`: there is no derivative by `n`, which is an integer (expected `_`)",
        ),
        ("d math.sin(x) = _", "`_`: `x` is a float, and has a derivative (`0` if there is none)"),
        ("d math.sin(x) = x < 1", "`x < 1`: expected a float, found a bool ()"),
        ("d math.sin(x) = cos(x, x)", "`cos`: `math.cos` has 1 operands, found 2 ()"),
        (
            "d arith.eq(x, y) = x, y",
            "`arith.eq`: `arith.eq` is not an op from scalars to a float (functions write its derivative)",
        ),
        (
            "d mem.load(x, y) = x, y",
            "`mem.load`: `mem.load` is not an op from scalars to a float (functions write its derivative)",
        ),
        (
            "d math.sin(x) = mem.load(x, x)",
            "`mem.load`: `mem.load` cannot stand in a derivative ()",
        ),
        ("d math.sin(x) = rem(x, 1)", "`x`: `arith.rem` takes no such operand ()"),
        (
            "d math.sin(x) = 1\nd math.sin(x) = 2",
            "`math.sin`: there is a rule for `math.sin` already (the second one)",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(errors(text), [expected], "{text}");
    }
}

#[test]
fn all_wrong_rules_are_reported_and_none_is_added() {
    let mut rules = ScalarRules::default();
    let text = "d math.sin(x) = cos(x)\nd math.foo(x) = x\nd math.cos(x) = z";
    let found = rules.add(&regraft_dialects::registry(), "mine", text).unwrap_err();
    assert_eq!(found.len(), 2);
    assert!(rules.get(m::SIN).is_none());
}

/// An expression as deep as can be is read in linear time.
#[test]
fn deep_expressions_are_read_once() {
    let text = format!("d math.sin(x) = {}x{}", "sin(".repeat(63), ")".repeat(63));
    let mut rules = ScalarRules::default();
    rules.add(&regraft_dialects::registry(), "mine", &text).unwrap();
    assert_eq!(code(&rules, m::SIN, 0, false).split("; ").count(), 63 + 2);
}
