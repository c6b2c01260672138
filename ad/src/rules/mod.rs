//! Derivative rules: what is known of the derivative of each op.
//!
//! Of ops on floats the rules are text ([`scalar.rules`](ScalarRules::STANDARD)), one line each:
//!
//! ```text
//! d math.sin(x) = cos(x)
//! d math.hypot(x, y) -> z = select(z == 0, 0, x / z), select(z == 0, 0, y / z)
//! ```
//!
//! A rule gives the partial derivative by each operand. Forward mode multiplies it by the tangent
//! of the operand, reverse mode by the cotangent of the result; both by [`Partial::product`]. What
//! else an op may be is what [`Derivative`](crate::Derivative) says: the
//! [`DerivativeTable`](crate::DerivativeTable) has a row for every op of every dialect.
//!
//! # Zero times infinity
//! A partial may be infinite or NaN where it does not matter: `select(x > 0, sqrt(x), 0)` at 0.
//! Where a rule says `strong`, or where [`Product::strong_zero`] asks for it, the product is
//! `arith.mulz`: zero if one of the factors is, whatever the other one is.
//!
//! ```
//! use regraft_ad::rules::ScalarRules;
//! use regraft_dialects::arith;
//!
//! let rules = ScalarRules::standard();
//! let by_second = rules.get(arith::MUL).unwrap().partial(1).unwrap();
//! assert!(by_second.needs().operand(0));
//! ```

mod expr;
mod lower;
mod product;

use std::sync::{Arc, LazyLock, OnceLock};

use regraft_ir::{Diagnostic, Op, OpTable, Registry};
use regraft_syntax::rule_texts;

pub use expr::{Expr, Needs, Partial};
pub use product::Product;

/// The derivative rule of one op.
#[derive(Clone, Debug)]
pub struct ScalarRule {
    op: Op,
    partials: Vec<Option<Partial>>,
}

impl ScalarRule {
    /// The op.
    pub fn op(&self) -> Op {
        self.op
    }

    /// The partial derivative by the operand at `position`; `None` if there is none, because the
    /// operand is an integer.
    pub fn partial(&self, position: usize) -> Option<&Partial> {
        self.partials.get(position)?.as_ref()
    }

    /// The partial derivatives by all operands.
    pub fn partials(&self) -> &[Option<Partial>] {
        &self.partials
    }
}

/// The derivative rules of ops on floats.
#[derive(Clone, Debug, Default)]
pub struct ScalarRules {
    rows: OpTable<Row>,
}

/// The rule of an op. Those that come with this crate are read when somebody asks for them: a program needs few.
#[derive(Clone, Debug)]
struct Row {
    text: &'static str,
    rule: OnceLock<ScalarRule>,
}

impl Row {
    fn get(&self) -> &ScalarRule {
        self.rule.get_or_init(|| {
            match lower::rules(&regraft_dialects::registry(), FILE, self.text) {
                Ok(mut rules) => rules.swap_remove(0),
                Err(errors) => panic!("{}", regraft_ir::render_all(&errors, false)),
            }
        })
    }
}

/// The name of the rules that come with this crate.
const FILE: &str = "scalar.rules";

impl ScalarRules {
    /// The rules that come with this crate, as text.
    pub const STANDARD: &str = include_str!("scalar.rules");

    /// The rules that come with this crate.
    ///
    /// # Panics
    /// Never: a test reads them.
    pub fn standard() -> Arc<Self> {
        static RULES: LazyLock<Arc<ScalarRules>> = LazyLock::new(|| {
            let registry = regraft_dialects::registry();
            let mut rows = OpTable::new();
            for (_, text) in rule_texts(ScalarRules::STANDARD) {
                let name = text.strip_prefix("d ").and_then(|rest| rest.split('(').next());
                if let Some(def) = name.and_then(|name| registry.find(name)) {
                    rows.insert(def.op, Row { text, rule: OnceLock::new() });
                }
            }
            Arc::new(ScalarRules { rows })
        });
        Arc::clone(&RULES)
    }

    /// Adds rules, for ops of these dialects, in place of those that there are for the same ops.
    /// `name` is what errors call the text.
    ///
    /// ```
    /// use regraft_ad::rules::ScalarRules;
    /// use regraft_dialects::{math, registry};
    ///
    /// let mut rules = (*ScalarRules::standard()).clone();
    /// let text = "d math.tanh(x) = 1 / (cosh(x) * cosh(x))";
    /// assert!(rules.add(&registry(), "mine.rules", text).is_ok());
    /// let needs = rules.get(math::TANH).unwrap().partial(0).unwrap().needs();
    /// assert!(needs.operand(0) && !needs.result);
    /// ```
    ///
    /// # Errors
    /// Everything that is wrong with the text; then no rule is added.
    pub fn add(
        &mut self,
        registry: &Registry,
        name: &str,
        text: &str,
    ) -> Result<(), Vec<Diagnostic>> {
        for rule in lower::rules(registry, name, text)? {
            self.rows.insert(rule.op, Row { text: "", rule: rule.into() });
        }
        Ok(())
    }

    /// Forgets the rule of `op`.
    pub(crate) fn remove(&mut self, op: Op) {
        self.rows.remove(op);
    }

    /// The rule of `op`.
    pub fn get(&self, op: Op) -> Option<&ScalarRule> {
        self.rows.get(op).map(Row::get)
    }
}
