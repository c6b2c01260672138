//! The table of rules.

use std::sync::{Arc, LazyLock, OnceLock};

use regraft_ir::{Diagnostic, Extension, Op, OpTable, Registry, Type};

use super::Math;
use super::compile::compile_at;
use super::lazy_rule::LazyRule;
use super::rule::Rule;
use super::signature::{Needs, Signature};
use super::typing::TypeSet;

/// The rewrite rules of a program.
#[derive(Clone, Debug, Default)]
pub struct RewriteRules {
    rules: Vec<Arc<LazyRule>>,
    /// The rules of each [`Math`] by the op that they match, made when they are first asked for.
    by_op: [OnceLock<Arc<RuleIndex>>; 3],
}

/// Rules by the op at the root of what they match. One is compiled when an instruction is first asked about that has the operands
/// which it needs.
#[derive(Debug, Default)]
pub(crate) struct RuleIndex {
    rules: Vec<Arc<LazyRule>>,
    rows: OpTable<Row>,
}

/// The rules of an op.
#[derive(Debug, Default)]
struct Row {
    numbers: Vec<u32>,
    candidates: OnceLock<Vec<Candidate>>,
}

/// A rule, with all by which most instructions that it does not match are passed over.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// Its number.
    pub(crate) number: u32,
    needs: Needs,
    root: OnceLock<TypeSet>,
}

impl RuleIndex {
    /// Of these rules.
    pub(super) fn new(rules: impl Iterator<Item = Arc<LazyRule>>) -> Self {
        let rules: Vec<Arc<LazyRule>> = rules.collect();
        let mut lists: Vec<(Op, Vec<u32>)> = Vec::new();
        for (rule, number) in rules.iter().zip(0..) {
            let op = rule.outline.root;
            match lists.iter_mut().find(|(other, _)| *other == op) {
                Some((_, list)) => list.push(number),
                None => lists.push((op, vec![number])),
            }
        }
        let mut rows = OpTable::new();
        for (op, numbers) in lists {
            rows.insert(op, Row { numbers, candidates: OnceLock::new() });
        }
        Self { rules, rows }
    }

    /// No rules.
    pub(crate) fn empty() -> &'static Self {
        static EMPTY: LazyLock<RuleIndex> = LazyLock::new(RuleIndex::default);
        &EMPTY
    }

    /// The greatest depth of a term that one of them matches.
    pub(crate) fn depth(&self) -> usize {
        self.rules.iter().map(|rule| rule.outline.depth).max().unwrap_or(0)
    }

    /// The numbers of the rules that match an op whose result is of type `ty`.
    pub(crate) fn of(&self, op: Op, ty: Type) -> impl Iterator<Item = u32> {
        let root = TypeSet::with(ty);
        let candidates = self.candidates(op).iter();
        candidates.filter(move |of| self.root(of).meets(root)).map(|of| of.number)
    }

    /// The numbers of those that may match operands of these signatures, in either order if they commute. `same` tells
    /// whether the first two are equal.
    #[inline]
    pub(crate) fn of_operands<'a>(
        &'a self,
        op: Op,
        ty: Type,
        operands: &'a [Signature],
        same: bool,
        commute: bool,
    ) -> impl Iterator<Item = u32> + 'a {
        let root = TypeSet::with(ty);
        let candidates = self.candidates(op).iter();
        let candidates = candidates.filter(move |of| {
            of.root.get().is_none_or(|known| known.meets(root))
                && of.needs.may_match(operands, same, commute)
                && self.root(of).meets(root)
        });
        candidates.map(|of| of.number)
    }

    #[inline]
    fn candidates(&self, op: Op) -> &[Candidate] {
        let Some(row) = self.rows.get(op) else { return &[] };
        row.candidates.get_or_init(|| {
            let candidate = |&number: &u32| {
                let needs = self.rules[number as usize].needs();
                Candidate { number, needs, root: OnceLock::new() }
            };
            row.numbers.iter().map(candidate).collect()
        })
    }

    /// The types of what a rule matches. To know them it is compiled.
    #[inline]
    fn root(&self, candidate: &Candidate) -> TypeSet {
        *candidate.root.get_or_init(|| self.rule(candidate.number).root_types())
    }

    /// The rule of that number.
    #[inline]
    pub(crate) fn rule(&self, number: u32) -> &Arc<Rule> {
        self.rules[number as usize].get()
    }
}

/// The texts of the rules that come with this crate, and what errors call them.
const STANDARD: [(&str, &str); 3] = [
    ("exact.rules", include_str!("../../rules/exact.rules")),
    ("finite.rules", include_str!("../../rules/finite.rules")),
    ("fast.rules", include_str!("../../rules/fast.rules")),
];

impl Extension for RewriteRules {
    fn builtin() -> &'static Self {
        Self::standard()
    }
}

impl RewriteRules {
    /// The texts of the rules that come with this crate, with their names.
    pub const STANDARD: [(&'static str, &'static str); 3] = STANDARD;

    /// The rules that come with this crate.
    ///
    /// # Panics
    /// Never: a test reads them.
    pub fn standard() -> &'static Self {
        static RULES: LazyLock<RewriteRules> = LazyLock::new(|| {
            let outlines = |(file, text)| LazyRule::outlines(file, text);
            let rules = STANDARD.into_iter().flat_map(outlines).collect();
            RewriteRules { rules, by_op: Default::default() }
        });
        &RULES
    }

    /// Adds rules over ops of these dialects. A rule takes the place of one of the same name.
    /// `name` is what errors call the text.
    ///
    /// # Errors
    /// Everything that is wrong with the text; then no rule is added.
    pub fn add(
        &mut self,
        registry: &Registry,
        name: &str,
        text: &str,
    ) -> Result<(), Vec<Diagnostic>> {
        let added = compile_at(registry, name, text, 1)?;
        self.rules.retain(|rule| !added.iter().any(|new| *new.name() == rule.outline.name));
        self.rules.extend(added.into_iter().map(|rule| Arc::new(rule.into())));
        self.by_op = Default::default();
        Ok(())
    }

    /// Adds the rules of a file.
    ///
    /// # Errors
    /// If the file cannot be read; the first thing that is wrong with its text.
    pub fn add_file(&mut self, registry: &Registry, file: &str) -> Result<(), Diagnostic> {
        let text = std::fs::read_to_string(file).map_err(|cause| {
            Diagnostic::error(format!("cannot read the rules in `{file}`: {cause}"))
        })?;
        self.add(registry, file, &text).map_err(|mut errors| errors.remove(0))
    }

    /// All rules, in the order in which they were added. A `<=>` is two.
    pub fn all(&self) -> impl ExactSizeIterator<Item = &Arc<Rule>> {
        self.rules.iter().map(|rule| rule.get())
    }

    /// The rules that are used under `math`.
    pub fn of(&self, math: Math) -> impl Iterator<Item = &Arc<Rule>> {
        self.used(math).map(|rule| rule.get())
    }

    fn used(&self, math: Math) -> impl Iterator<Item = &Arc<LazyRule>> {
        self.rules.iter().filter(move |rule| rule.outline.set.is_used_by(math))
    }

    /// The rule of that name; of a `<=>`, the one from left to right.
    pub fn find(&self, name: &str) -> Option<&Arc<Rule>> {
        self.rules.iter().find(|rule| &*rule.outline.name == name).map(|rule| rule.get())
    }

    /// The rules that are used under `math`, by the op that they match.
    pub(crate) fn by_op(&self, math: Math) -> Arc<RuleIndex> {
        let make = || Arc::new(RuleIndex::new(self.used(math).cloned()));
        Arc::clone(self.by_op[math as usize].get_or_init(make))
    }
}
