//! Rewrite rules: what they say, the sets that they belong to, and the table of them.
//!
//! ```text
//! rule add-neg exact: arith.add ?a, (arith.neg ?b) => arith.sub ?a, ?b
//! rule mul-one exact: arith.mul ?a, 1 => ?a  if quiet ?a
//! ```
//!
//! A rule replaces one term by another that has the same value. Its set says for which values that
//! is so:
//!
//! - `exact`: for all, NaN, infinities and signed zeros included; quiet NaNs are all one;
//! - `finite`: where no operand, result or intermediate of either side is NaN or infinite, up to
//!   the sign of zero;
//! - `guard`: as `finite`; the rule takes a guard of a singular point away, so that it belongs to
//!   [`Math::Finite`] alone;
//! - `fast`: for real numbers.
//!
//! A variable `?a` stands for any operand of the type that its place asks for, equal variables for
//! equal operands. A literal takes the type of what is beside it: `1` is `1.0` where floats are
//! added. An op that is commutative matches both ways. Conditions follow `if`: see [`Condition`].
//! Any pure op of any dialect on scalars may stand in a rule.
//!
//! ```
//! use regraft_passes::rewrite::{Math, RewriteRules};
//!
//! let mut rules = RewriteRules::standard().clone();
//! let text = "rule twice exact: arith.mul ?x, 2 => arith.add ?x, ?x";
//! rules.add(&regraft_dialects::registry(), "mine.rules", text).unwrap();
//! assert_eq!(rules.find("twice").unwrap().set().name(), "exact");
//! assert!(rules.of(Math::Fast).count() > rules.of(Math::Exact).count());
//! ```

mod compile;
mod condition;
mod facts;
mod folding;
mod lazy_rule;
mod matcher;
mod math;
mod rule;
mod signature;
mod table;
mod term;
mod typing;
mod values;

pub use condition::{Condition, ConditionKind};
pub use facts::Facts;
pub(crate) use folding::{FoldArg, Folded, fold};
pub(crate) use matcher::{Bindings, Subject, matches};
pub use math::Math;
pub use rule::{Rule, RuleSet};
pub(crate) use signature::Signature;
pub use table::RewriteRules;
pub(crate) use table::RuleIndex;
pub(crate) use term::literal_as;
pub use term::{Term, TypeSource, Variable};
pub use typing::Typing;
pub(crate) use values::{facts_of, facts_of_value, is_term, real_kinds};
