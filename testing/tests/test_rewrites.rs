//! The rewrite rules that come with Regraft hold, and wrong ones are refuted.

use regraft_ir::render_all;
use regraft_passes::rewrite::RewriteRules;
use regraft_testing::{
    Contradiction, RewriteFailure, RewriteOptions, RewriteReport, test_rewrite_sets, test_rewrites,
};

#[test]
fn the_shipped_rules_hold_and_need_their_conditions() {
    let ctx = regraft_dialects::context();
    let reports = test_rewrites(&ctx, RewriteRules::standard(), &RewriteOptions::default());
    let errors: Vec<_> = reports.iter().filter_map(RewriteReport::diagnostic).collect();
    assert!(errors.is_empty(), "{}", render_all(&errors, false));
}

#[test]
fn the_shipped_rules_do_not_contradict_each_other() {
    let ctx = regraft_dialects::context();
    let found = test_rewrite_sets(&ctx, RewriteRules::standard());
    let errors: Vec<_> = found.iter().map(Contradiction::diagnostic).collect();
    assert!(errors.is_empty(), "{}", render_all(&errors, false));
}

/// Rules that look right, with a value of each that shows that they are not.
const WRONG: &[[&str; 2]] = &[
    ["exact: arith.add ?a, 0.0 => ?a  if quiet ?a", "?a: f64 = -0.0: left 0.0, right -0.0"],
    [
        "exact: arith.mul ?a, 1.0 => ?a",
        "?a: f64 = nan(0x7ff0000000000001): left nan, right nan(0x7ff0000000000001)",
    ],
    ["exact: arith.sub ?a, ?a => 0.0", "?a: f64 = inf: left nan, right 0.0"],
    ["exact: arith.mul ?a, 0.0 => 0.0", "?a: f64 = -0.0: left -0.0, right 0.0"],
    [
        "exact: arith.sub 0.0, ?a => arith.neg ?a  if quiet ?a",
        "?a: f64 = 0.0: left 0.0, right -0.0",
    ],
    [
        "exact: arith.neg (arith.sub ?a, ?b) => arith.sub ?b, ?a",
        "?a: f64 = 0.0, ?b: f64 = 0.0: left -0.0, right 0.0",
    ],
    [
        "exact: arith.add (arith.neg ?a), (arith.neg ?b) => arith.neg (arith.add ?a, ?b)",
        "?a: f64 = -0.0, ?b: f64 = 0.0: left 0.0, right -0.0",
    ],
    [
        "exact: arith.sub (arith.neg ?a), ?b => arith.neg (arith.add ?a, ?b)",
        "?a: f64 = -0.0, ?b: f64 = 0.0: left 0.0, right -0.0",
    ],
    ["exact: arith.fdiv ?a, ?a => 1.0  if nonzero ?a", "?a: f64 = inf: left nan, right 1.0"],
    ["exact: arith.eq ?a, ?a => true", "?a: f64 = nan: left false, right true"],
    [
        "exact: arith.not (arith.lt ?a, ?b) => arith.le ?b, ?a",
        "?a: f64 = nan, ?b: f64 = 0.0: left true, right false",
    ],
    [
        "exact: math.sqrt (arith.mul ?a, ?a) => arith.abs ?a  if quiet ?a, finite ?a",
        "?a: f64 = 5e-324: left 0.0, right 5e-324",
    ],
    [
        "exact: arith.mul (arith.mul ?a, 2.0), 0.5 => ?a  if quiet ?a, finite ?a",
        "?a: f64 = 1.7976931348623157e308: left inf, right 1.7976931348623157e308",
    ],
    [
        "exact: arith.mul 2.0, (arith.add ?a, ?b) => arith.add (arith.mul 2.0, ?a), (arith.mul 2.0, ?b)",
        "?a: f64 = -1.7976931348623157e308, ?b: f64 = inf: left inf, right nan",
    ],
    [
        "exact: arith.mul 0.5, (arith.add ?a, ?b) => arith.add (arith.mul 0.5, ?a), (arith.mul 0.5, ?b)",
        "?a: f64 = -5e-324, ?b: f64 = 0.0: left -0.0, right 0.0",
    ],
    [
        "exact: arith.fdiv ?a, 3.0 => arith.mul ?a, (arith.fdiv 1.0, 3.0)",
        "?a: f64 = 1.7976931348623157e308: left 5.992310449541053e307, right 5.992310449541052e307",
    ],
    [
        "exact: arith.fdiv 1.0, (arith.fdiv 1.0, ?a) => ?a  if finite ?a, nonzero ?a",
        "?a: f64 = 5e-324: left 0.0, right 5e-324",
    ],
    [
        "exact: arith.mul (arith.mul ?a, ?b), 2.0 => arith.mul (arith.mul 2.0, ?a), ?b",
        "?a: f64 = 1.7976931348623157e308, ?b: f64 = 0.0: left 0.0, right nan",
    ],
    [
        "exact: arith.sub ?a, (arith.sub ?a, ?b) => ?b  if float ?a, finite ?b",
        "?a: f64 = inf, ?b: f64 = 0.0: left nan, right 0.0",
    ],
    [
        "exact: core.select (arith.eq ?a, 0.0), 0.0, ?a => ?a",
        "?a: f64 = -0.0: left 0.0, right -0.0",
    ],
    [
        "exact: arith.add (arith.add ?a, ?b), ?c => arith.add ?a, (arith.add ?b, ?c)  if float ?a",
        "?a: f64 = 5e-324, ?b: f64 = -1.0, ?c: f64 = 1.0: left 0.0, right 5e-324",
    ],
    [
        "exact: arith.add (arith.mul ?a, ?b), ?c => arith.fma ?a, ?b, ?c",
        "?a: f64 = -5e-324, ?b: f64 = 5e-324, ?c: f64 = 0.0: left 0.0, right -0.0",
    ],
    [
        "exact: arith.min ?a, ?b => core.select (arith.lt ?a, ?b), ?a, ?b",
        "?a: f64 = -0.0, ?b: f64 = 0.0: left -0.0, right 0.0",
    ],
    [
        "exact: arith.lt ?a, (arith.add ?b, 1) => arith.le ?a, ?b  if int ?a",
        "?a: i64 = 0, ?b: i64 = 9223372036854775807: left false, right true",
    ],
    [
        "exact: arith.lt (arith.add ?a, 1), (arith.add ?b, 1) => arith.lt ?a, ?b  if int ?a",
        "?a: i64 = 9223372036854775807, ?b: i64 = 0: left true, right false",
    ],
    [
        "exact: arith.lt (arith.neg ?a), (arith.neg ?b) => arith.lt ?b, ?a  if int ?a",
        "?a: i64 = -9223372036854775808, ?b: i64 = 0: left true, right false",
    ],
    [
        "exact: arith.lt (arith.mul ?a, 2), (arith.mul ?b, 2) => arith.lt ?a, ?b  if int ?a",
        "?a: i64 = -9223372036854775808, ?b: i64 = 0: left false, right true",
    ],
    [
        "exact: arith.abs (arith.mul ?a, ?b) => arith.mul (arith.abs ?a), (arith.abs ?b)",
        "?a: i64 = 2, ?b: i64 = 9223372036854775807: left 2, right -2",
    ],
    [
        "exact: arith.div (arith.mul ?a, ?b), ?b => ?a",
        "?a: i64 = 0, ?b: i64 = 0: left DivideError, right 0",
    ],
    ["exact: arith.div ?a, 2 => arith.ashr ?a, 1", "?a: i64 = -1: left 0, right -1"],
    ["exact: arith.shl (arith.ashr ?a, 1), 1 => ?a", "?a: i64 = 1: left 0, right 1"],
    [
        "exact: arith.mul ?a, (arith.div ?b, ?a) => ?b",
        "?a: i64 = 0, ?b: i64 = 0: left DivideError, right 0",
    ],
    [
        "finite: arith.add (arith.sub ?a, ?b), ?b => ?a  if float ?a",
        "?a: f64 = 5e-324, ?b: f64 = 1.0: left 0.0, right 5e-324",
    ],
    [
        "finite: arith.fdiv 1.0, (arith.fdiv ?a, ?b) => arith.fdiv ?b, ?a",
        "?a: f64 = 2.0, ?b: f64 = 1.7976931348623157e308: left 8.98846567431158e307, right 8.988465674311579e307",
    ],
    ["guard: core.select (arith.eq ?a, 0.0), 1.0, ?a => ?a", "?a: f64 = 0.0: left 1.0, right 0.0"],
    ["fast: math.sqrt (arith.mul ?a, ?a) => ?a", "?a: f64 = -3.5: left 3.5, right -3.5"],
    [
        "fast: math.log (arith.add ?a, ?b) => arith.add (math.log ?a), (math.log ?b)",
        "?a: f64 = 0.2076542513219039, ?b: f64 = 1.5568821647416122: left 0.5678880020973366, right -1.1291956265911838",
    ],
    [
        "fast: math.sin (arith.neg ?a) => math.sin ?a",
        "?a: f64 = -3.5: left -0.35078322768961984, right 0.35078322768961984",
    ],
    [
        "fast: arith.fdiv ?a, (arith.add ?b, ?c) => arith.add (arith.fdiv ?a, ?b), (arith.fdiv ?a, ?c)",
        "?a: f64 = -3.5, ?b: f64 = 6.664483450184802, ?c: f64 = -1.0: left -0.6178851135818595, right 2.9748280153801048",
    ],
    [
        "fast: math.pow (arith.neg ?a), 2.0 => arith.neg (math.pow ?a, 2.0)",
        "?a: f64 = -3.5: left 12.25, right -12.25",
    ],
];

#[test]
fn wrong_rules_are_refuted_by_values() {
    let ctx = regraft_dialects::context();
    let mut rules = RewriteRules::default();
    let line = |(i, [rule, _]): (usize, &[&str; 2])| format!("rule r{i} {rule}\n");
    let text: String = WRONG.iter().enumerate().map(line).collect();
    rules.add(ctx.registry(), "wrong.rules", &text).unwrap();
    let reports = test_rewrites(&ctx, &rules, &RewriteOptions::default());
    let shown = |report: &RewriteReport| match &report.failure {
        Some(RewriteFailure::Refuted(refutation)) => refutation.to_string(),
        other => format!("{other:?}"),
    };
    assert_eq!(reports.len(), WRONG.len());
    for (report, [rule, values]) in reports.iter().zip(WRONG) {
        assert_eq!(shown(report), *values, "{rule}");
    }
}

/// The failures of rules, as text.
fn failures(text: &str) -> Vec<String> {
    let ctx = regraft_dialects::context();
    let mut rules = RewriteRules::default();
    rules.add(ctx.registry(), "mine.rules", text).unwrap();
    let reports = test_rewrites(&ctx, &rules, &RewriteOptions::default());
    let failures = reports.iter().filter_map(|report| report.failure.as_ref());
    failures.map(ToString::to_string).collect()
}

#[test]
fn conditions_that_are_not_needed_are_told() {
    let text = "rule a exact: arith.mul ?a, 1.0 => ?a  if quiet ?a, nonzero ?a
        \nrule b exact: arith.neg (arith.neg ?a) => ?a  if int ?a
        \nrule c exact: arith.add ?a, ?b => arith.add ?b, ?a  if const ?a, positive ?b
        \nrule d finite: arith.mul ?a, 0.0 => 0.0  if finite ?a
        \nrule e exact: arith.neg (arith.neg ?a) => ?a  if not int ?a";
    let want = ["nonzero ?a", "int ?a", "positive ?b", "finite ?a", "not int ?a"];
    assert_eq!(failures(text), want.map(|condition| format!("holds without `{condition}`")));
}

#[test]
fn conditions_that_keep_out_what_has_no_value_are_needed() {
    // Without its condition, the rule speaks of 0/0, which no set has a value for.
    assert_eq!(failures("rule a finite: arith.fdiv ?a, ?a => 1.0  if nonzero ?a"), [""; 0]);
    assert_eq!(failures("rule a fast: arith.fdiv ?a, ?a => 1.0  if nonzero ?a"), [""; 0]);
}

#[test]
fn a_rule_that_no_input_reaches_is_not_tested() {
    let never = "rule a exact: arith.neg ?a => ?a  if positive ?a, negative ?a, float ?a";
    assert_eq!(failures(never), ["is not tested at ?a: f64: no value satisfies its conditions"]);
    let infinite = "rule a finite: arith.fdiv ?a, 0.0 => ?a";
    assert_eq!(
        failures(infinite),
        ["is not tested at ?a: f64: a side has no value wherever its conditions hold"]
    );
}

#[test]
fn integers_of_8_bits_are_all_tried() {
    // Wrong for 77 alone.
    let text = "rule a exact: arith.eq ?a, 77 => false  if int ?a";
    assert_eq!(failures(text), ["is wrong: ?a: i8 = 77i8: left true, right false"]);
}

#[test]
fn a_trap_of_one_side_refutes_a_rule_unless_it_is_fast() {
    let rule = |set: &str| format!("rule a {set}: math.sqrt ?a => math.sqrt (arith.abs ?a)");
    let negative = |set: &str| failures(&format!("{}  if negative ?a", rule(set)));
    for set in ["exact", "finite"] {
        assert!(negative(set)[0].ends_with("= -1.0: left DomainError, right 1.0"), "{set}");
    }
    assert_eq!(failures(&rule("fast")), [""; 0]);
}

/// The rules that lead to a contradiction, and the constants, under each algebra.
fn contradictions(text: &str) -> Vec<String> {
    let ctx = regraft_dialects::context();
    let mut rules = RewriteRules::default();
    rules.add(ctx.registry(), "mine.rules", text).unwrap();
    let found = test_rewrite_sets(&ctx, &rules);
    found.iter().map(|one| one.diagnostic().message().to_owned()).collect()
}

#[test]
fn rules_that_hold_by_themselves_may_contradict_each_other() {
    let quotients = "rule self finite: arith.fdiv ?a, ?a => 1.0
        \nrule zero finite: arith.fdiv 0.0, ?a => 0.0";
    assert_eq!(failures(quotients), [""; 0]);
    assert_eq!(
        contradictions(quotients),
        ["finite", "fast"]
            .map(|math| format!("under `math={math}`, 0.0 and 1.0 become one by `zero`, `self`"))
    );
    let quotients = "rule self fast: arith.fdiv ?a, ?a => 1.0
        \nrule root fast: arith.fdiv ?a, (math.sqrt ?a) => math.sqrt ?a";
    assert_eq!(failures(quotients), [""; 0]);
    assert!(contradictions(quotients)[0].contains("`root`"));
    let roots = "rule root fast: arith.mul (math.sqrt ?a), (math.sqrt ?a) => ?a
        \nrule square exact: arith.abs (arith.mul ?a, ?a) => arith.mul ?a, ?a  if float ?a";
    assert_eq!(failures(roots), [""; 0]);
    assert!(contradictions(roots)[0].contains("`root`"));
    assert_eq!(contradictions("rule a exact: arith.neg (arith.neg ?a) => ?a"), [""; 0]);
}
