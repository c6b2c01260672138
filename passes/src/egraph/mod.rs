//! Simplifies values by rewrite rules over an acyclic e-graph.
//!
//! ```text
//! %2: f64 = arith.neg %1
//! %3: f64 = math.exp %1             =>    %3: f64 = math.exp %1
//! %4: f64 = arith.mul %2, %3              %5: f64 = arith.mul %1, %3
//! %5: f64 = arith.neg %4
//! ```
//!
//! # Method
//! An e-graph holds, for each value, several ways to compute it. Here it is acyclic (Fallin: "ægraphs:
//! Acyclic E-graphs for Efficient Optimization in a Production Compiler", 2023): values are taken in
//! preorder of the dominator tree, and the [rules](mod@crate::rewrite) are applied once to each node, when
//! it is made (`builder`). What a rule finds is joined with the node in a new class.
//! Commutativity is the matcher's business. Equal nodes are one, so that this is a value numbering too.
//! Then one node is chosen for each class that is needed (`extraction`), by its latency, eight times
//! for each loop around it; what is shared counts once. Last, what was chosen is written back
//! (`elaboration`).
//!
//! With `engine=egg`, other ways to compute a value come from full equality saturation (`saturation`),
//! and the rest is the same.
//!
//! The region is the whole function. Block parameters, loads, and results of what has effects are
//! leaves. What may trap is computed where the program computes it, and only there.
//!
//! # Why it is right
//! Each rule is: see its set. Where two unequal constants are found to be equal, one of them is not, and
//! the function stays as it was.
//!
//! # Cost
//! All limits are counts: matches of a rule, nodes of a class, nodes that are made for an
//! instruction, depth. So it is linear, and the result is the same on every machine.
//!
//! ```
//! use regraft_passes::egraph::EGraphPass;
//! use regraft_passes::run_pass;
//!
//! let text = "
//! func @f(%1: f64, %2: f64) -> f64 {
//! ^1:
//!   %3: f64 = arith.neg %2
//!   %4: f64 = arith.add %1, %3
//!   return %4
//! }";
//! let mut module =
//!     regraft_syntax::parse_module(&regraft_dialects::context(), "f.ir", text).unwrap();
//! let f = module.function_mut("f").unwrap();
//! run_pass::<EGraphPass>(f).unwrap();
//! assert!(f.to_string().contains("%4: f64 = arith.sub %1, %2"));
//! ```

mod algebra;
mod builder;
mod divisors;
mod elaboration;
mod explanation;
mod extraction;
mod forms;
mod graph;
mod lowering;
#[cfg(feature = "oracle")]
mod oracle;
mod pass;
mod region;
mod saturation;

#[cfg(feature = "oracle")]
pub use oracle::{ExtractionCosts, extraction_costs};
pub use pass::EGraphPass;
