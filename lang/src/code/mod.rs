//! Code as values: `Expr` and what may stand in it, to trees and back, and the hygiene of macros.
//!
//! A macro gets the code of its arguments as values, and gives code back. That becomes a tree again,
//! in which names are renamed so that what the macro brought along and what its caller wrote do not
//! get in each other's way.

mod function_value;
mod hygiene;
mod lowered;
mod trees;
mod types;

pub(crate) use function_value::{DIFFERS, FunctionWriter, op_of};
pub(crate) use hygiene::{HYGIENIC_SCOPE, Hygiene};
pub(crate) use lowered::lowered_value;
pub(crate) use trees::{Places, Read, read_tree, tree_value};
pub(crate) use types::CodeTypes;
