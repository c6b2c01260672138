//! The IR of Regraft: typed SSA in an arena, with stable handles.
//!
//! A [`Module`] holds [`Function`]s over a shared [`Context`] of types, constants and names. A
//! function is a flat control flow graph of [`Block`]s with parameters; an instruction defines one
//! [`Value`]. All mutation goes through methods of [`Function`] that keep it consistent; see
//! there for the data structures and their costs.
//!
//! This crate knows no operation by name: dialects declare them ([`OpDef`]) and a [`Registry`]
//! finds them.
//!
//! ```
//! use regraft_ir::{Context, Module, Registry, Type};
//!
//! let ctx = Context::new(Registry::new().into());
//! let pair = ctx.tuple_type(&[Type::F64, Type::I64]);
//! assert_eq!(ctx.type_text(pair), "tuple<f64, i64>");
//! assert_eq!(Module::new(&ctx).functions().len(), 0);
//! ```

mod builder;
mod cfg;
mod constant;
mod context;
mod cursor;
mod diagnostic;
mod dominator_tree;
mod dot;
mod entity;
mod error;
mod extensions;
mod function;
mod inst;
mod interned;
mod interner;
mod liveness;
mod location;
mod module;
mod op;
mod op_table;
mod pipe;
mod printer;
pub mod semi_nca;
mod signature;
pub mod ssa;
mod suggest;
#[cfg(test)]
mod testing;
mod trap;
mod types;
mod used_structs;
mod verifier;

pub use builder::{FunctionBuilder, Var};
pub use cfg::ControlFlow;
pub use constant::Constant;
pub use context::Context;
pub use cursor::Cursor;
pub use diagnostic::{Diagnostic, Label, Severity, render_all};
pub use dominator_tree::DominatorTree;
pub use dot::cfg_to_dot;
pub use entity::{
    Attrs, Block, Const, FuncId, MAX_ENTITIES, Operand, OperandKind, StructId, Symbol, Value,
};
pub use error::{IrError, IrErrorKind, IrResult};
pub use extensions::{Extension, Extensions};
pub use function::{
    Blocks, Body, Edge, Edges, Epochs, Function, Insts, MAX_OPERANDS, OperandIter, Origin, Params,
    Renumbering, Stamp, Use, Uses, ValueDef,
};
pub use inst::{Inst, Operands};
pub use interned::{Interned, is_plain_name};
pub use liveness::Liveness;
pub use location::{Loc, Location, Source, SourceText};
pub use module::Module;
pub use op::{
    AttrDef, Dialect, Effects, Fold, FoldFn, InstView, Op, OpDef, OperandDef, OperandSet, Registry,
    ResultType, ScalarFn, ScalarFns, Syntax, Traits, TypeClass, TypePattern, VerifyFn,
};
pub use op_table::OpTable;
pub use pipe::Pipe;
pub use printer::{
    PrintOptions, print_function, print_inst, print_module, write_function, write_module,
};
pub use suggest::suggest;
pub use trap::{Number, Trap, number_name};
pub use types::{StructDef, Type, TypeKind};
pub use verifier::{
    VerifyCache, verify_changed, verify_function, verify_function_in, verify_module,
};
