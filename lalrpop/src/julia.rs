//! The Julia subset: text to syntax tree.

mod ast;

pub use ast::{Ast, Expr, ExprId, Kind, List, Span};
