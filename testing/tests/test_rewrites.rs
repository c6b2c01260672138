//! The rewrite rules that come with Regraft hold, and wrong ones are refuted.

use regraft_ir::render_all;
use regraft_passes::rewrite::RewriteRules;
use regraft_testing::{RewriteOptions, test_rewrite_sets, test_rewrites};

#[test]
fn the_shipped_rules_hold_and_need_their_conditions() {
    let ctx = regraft_dialects::context();
    let reports = test_rewrites(&ctx, RewriteRules::standard(), &RewriteOptions::default());
    let errors: Vec<_> = reports.iter().filter_map(|report| report.diagnostic()).collect();
    assert!(errors.is_empty(), "{}", render_all(&errors, false));
}

#[test]
fn the_shipped_rules_do_not_contradict_each_other() {
    let ctx = regraft_dialects::context();
    let found = test_rewrite_sets(&ctx, RewriteRules::standard());
    let errors: Vec<_> = found.iter().map(|found| found.diagnostic()).collect();
    assert!(errors.is_empty(), "{}", render_all(&errors, false));
}
