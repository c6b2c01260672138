//! Rules of which only the outline is known before somebody asks for them: a program needs few of those that there are.
//!
//! ```text
//! rule mul-neg exact: arith.mul (arith.neg ?a), ?b <=> arith.neg (arith.mul ?a, ?b)
//!      ^name   ^set   ^root                            ^root of the reversed one
//! ```

use std::sync::{Arc, OnceLock};

use regraft_dialects::registry;
use regraft_ir::{Constant, Op, Registry};
use regraft_syntax::rule_texts;

use super::compile::compile_at;
use super::condition::ConditionKind;
use super::rule::{Rule, RuleSet};
use super::signature::{Needs, Signature};

/// A rule, compiled when it is first asked for.
#[derive(Debug)]
pub(super) struct LazyRule {
    /// The outline, which says the same as the rule.
    pub(super) outline: Outline,
    text: Option<Text>,
    rule: OnceLock<Arc<Rule>>,
}

/// The things that are known of a rule before it is compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Outline {
    pub(super) name: Arc<str>,
    pub(super) set: RuleSet,
    /// The op at the root of what it matches.
    pub(super) root: Op,
    /// The depth of what it matches.
    pub(super) depth: usize,
}

/// The text of a standard rule.
#[derive(Debug)]
struct Text {
    file: &'static str,
    /// The number of its first line.
    line: usize,
    text: &'static str,
    /// Tells whether it is the rule from right to left.
    reversed: bool,
}

impl LazyRule {
    /// The rules of a text that is known to be right, by the first words of each side. A `<=>` is two.
    pub(super) fn outlines(
        file: &'static str,
        text: &'static str,
    ) -> impl Iterator<Item = Arc<Self>> {
        let registry = registry();
        let both = |(line, text)| [false, true].map(|reversed| (line, text, reversed));
        rule_texts(text).flat_map(both).filter_map(move |(line, text, reversed)| {
            let outline = Outline::read(&registry, text, reversed)?;
            let text = Text { file, line, text, reversed };
            Some(Arc::new(Self { outline, text: Some(text), rule: OnceLock::new() }))
        })
    }

    /// The least that the operands have of what it matches, in order.
    pub(super) fn needs(&self) -> Needs {
        match &self.text {
            Some(Text { text, reversed, .. }) => needs(&registry(), text, *reversed),
            None => Needs::of(self.get()),
        }
    }

    /// The rule.
    ///
    /// # Panics
    /// If the standard rules are wrong: a test reads them.
    pub(super) fn get(&self) -> &Arc<Rule> {
        self.rule.get_or_init(|| {
            let Some(Text { file, line, text, reversed }) = &self.text else {
                unreachable!("a rule without a text is compiled")
            };
            let rules = match compile_at(&registry(), file, text, *line) {
                Ok(rules) => rules,
                Err(errors) => panic!("{}", regraft_ir::render_all(&errors, false)),
            };
            let mut rules = rules.into_iter().filter(|rule| rule.reversed == *reversed);
            Arc::new(rules.next().expect("the outline tells which rules a text has"))
        })
    }
}

impl From<Rule> for LazyRule {
    fn from(rule: Rule) -> Self {
        Self { outline: Outline::of(&rule), text: None, rule: Arc::new(rule).into() }
    }
}

impl Outline {
    /// Of a rule.
    fn of(rule: &Rule) -> Self {
        let (name, depth) = (Arc::clone(rule.name()), rule.from().depth());
        Self { name, set: rule.set(), root: rule.root(), depth }
    }

    /// Of the text of a rule; `None` if there is no rule from right to left.
    fn read(registry: &Registry, text: &str, reversed: bool) -> Option<Self> {
        let (head, sides) = text.strip_prefix("rule ")?.split_once(':')?;
        let (name, set) = head.split_once(' ')?;
        let set = RuleSet::ALL.into_iter().find(|other| other.name() == set)?;
        let from = matched(sides, reversed)?;
        let root = registry.find(word(from))?.op;
        Some(Self { name: name.into(), set, root, depth: depth(from) })
    }
}

/// The text that begins with the side that a rule matches.
fn matched(sides: &str, reversed: bool) -> Option<&str> {
    let (left, right) = sides.split_once('>')?;
    let left = left.strip_suffix('=')?;
    match (left.strip_suffix('<'), reversed) {
        (Some(_), true) => Some(right.trim_start()),
        (None, true) => None,
        (left_of_both, false) => Some(left_of_both.unwrap_or(left).trim_start()),
    }
}

fn word(text: &str) -> &str {
    text.split([' ', '\n']).next().unwrap_or_default()
}

/// The least that the operands have of what a rule matches, by the first characters of each operand.
fn needs(registry: &Registry, text: &str, reversed: bool) -> Needs {
    let from = text.split_once(':').and_then(|(_, sides)| matched(sides, reversed));
    let mut rest = from.map_or("", |from| from[word(from).len()..].trim_start());
    let (mut needs, mut before) = (Needs::default(), "");
    while !rest.is_empty() {
        let mut open = 0;
        let end = rest.bytes().position(|byte| {
            open += i32::from(byte == b'(') - i32::from(byte == b')');
            open == 0 && matches!(byte, b',' | b' ' | b'\n')
        });
        let operand = &rest[..end.unwrap_or(rest.len())];
        needs.operands.push(match operand.strip_prefix('(') {
            Some(term) => {
                let def = registry.find(word(term));
                def.map_or_else(Signature::default, |def| Signature::of_op(def.op))
            }
            None if operand.starts_with('?') => {
                Signature::of_variable(wants_constant(text, operand))
            }
            None => Signature::of_constant(literal(operand)),
        });
        needs.same = needs.operands.len() == 2 && operand.starts_with('?') && operand == before;
        before = operand;
        let behind = rest[operand.len()..].trim_start();
        rest = behind.strip_prefix(',').map_or("", str::trim_start);
    }
    needs
}

/// Returns whether the conditions of a rule ask for a constant in the place of a variable.
fn wants_constant(text: &str, variable: &str) -> bool {
    let conditions = text.rsplit_once(" if ").map_or("", |(_, conditions)| conditions);
    conditions.split(',').map(str::trim).any(|condition| match condition.split_once(' ') {
        Some((kind, of)) => {
            let kinds = ConditionKind::ALL.iter().filter(|kind| kind.needs_constant());
            of == variable && kinds.map(|kind| kind.name()).any(|name| name == kind)
        }
        None => false,
    })
}

/// The constant of a literal, as far as signatures tell them apart.
fn literal(text: &str) -> Constant {
    match text.parse() {
        Ok(x) => Constant::Bool(x),
        Err(_) => Constant::F64(text.parse().unwrap_or(f64::NAN).to_bits()),
    }
}

/// The depth of the term that a text begins with, in which each op stands with operands.
fn depth(term: &str) -> usize {
    let (mut open, mut most) = (0usize, 0);
    for byte in term.bytes() {
        match byte {
            b'(' => open += 1,
            b')' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most + 2
}

#[cfg(test)]
mod tests {
    use super::super::RewriteRules;
    use super::super::compile::compile_at;
    use super::{LazyRule, Needs, Outline};

    #[test]
    fn outlines_say_what_the_rules_say() {
        for (file, text) in RewriteRules::STANDARD {
            let compiled = compile_at(&regraft_dialects::registry(), file, text, 1).unwrap();
            let outlines: Vec<_> = LazyRule::outlines(file, text).collect();
            assert_eq!(outlines.len(), compiled.len(), "{file}");
            for (lazy, rule) in outlines.iter().zip(&compiled) {
                assert_eq!(lazy.outline, Outline::of(rule));
                assert_eq!(lazy.needs(), Needs::of(rule), "{rule:?}");
                let (own, place) = (lazy.get(), (rule.place(), rule.is_reversed()));
                assert_eq!((own.place(), own.is_reversed()), place);
                assert_eq!(format!("{own:?} {:?} {:?}", own.from(), own.to()), {
                    format!("{rule:?} {:?} {:?}", rule.from(), rule.to())
                });
                assert_eq!(own.conditions(), rule.conditions());
                assert_eq!(own.typings(), rule.typings());
            }
        }
    }
}
