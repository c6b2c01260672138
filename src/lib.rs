//! Regraft: a framework for rewriting typed SSA programs.
//!
//! A program comes in as text ([`syntax`]), passes rewrite it ([`passes`]), it is verified,
//! printed, diffed and run ([`exec`]). A pass of your own is a few lines:
//!
//! ```
//! use regraft::prelude::*;
//!
//! /// Replaces `x * 2` by `x + x`.
//! #[derive(Default)]
//! struct MulToAdd;
//!
//! impl FunctionPass for MulToAdd {
//!     const NAME: &'static str = "mul-to-add";
//!     fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
//!         let mut at = Cursor::new(f);
//!         while let Some(v) = at.next() {
//!             if let Some([x, k]) = at.matches(v, arith::MUL)
//!                 && at.const_i64(k) == Some(2)
//!             {
//!                 let sum = at.insert(arith::add(x, x));
//!                 at.replace_with(v, sum);
//!                 cx.count("rewritten");
//!             }
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let text = "func @f(%1: i64) -> i64 {\n^1:\n  %2: i64 = arith.mul %1, 2\n  return %2\n}\n";
//! let mut module = parse_module(&context(), "f.ir", text).unwrap();
//! run_pass::<MulToAdd>(module.function_mut("f").unwrap()).unwrap();
//! let expected = "func @f(%1: i64) -> i64 {\n^1:\n  %3: i64 = arith.add %1, %1\n  return %3\n}\n";
//! assert_eq!(module.to_string(), expected);
//! ```
//!
//! [`cli::main_with`] makes the command line tool of your own passes.

pub mod cli;
mod paint;
mod repl;

/// The examples in Rust of the guide.
#[cfg(doctest)]
#[doc = include_str!("../docs/differentiation.md")]
mod guide {}

pub use regraft_ad as ad;
pub use regraft_dialects as dialects;
pub use regraft_exec as exec;
pub use regraft_ir as ir;
pub use regraft_lang as lang;
pub use regraft_passes as passes;
pub use regraft_syntax as syntax;
pub use regraft_testing as testing;

/// What a pass needs: `use regraft::prelude::*`.
pub mod prelude {
    pub use std::process::ExitCode;

    pub use regraft_dialects::{arith, cf, context, core, data, math, mem, prof};
    pub use regraft_ir::{
        Block, Const, Constant, Context, Cursor, Diagnostic, Edge, Function, Inst, IrError,
        IrResult, Module, Op, Operand, OperandKind, Pipe, Symbol, Type, TypeKind, Value, ValueDef,
    };
    pub use regraft_passes::{
        FunctionPass, LoopPass, ModulePass, OptionDef, Options, PassContext, PassRegistry,
        PassResult, pass, run_pass,
    };
    pub use regraft_syntax::parse_module;
}
