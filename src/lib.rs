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
//!
//! The front end of a language builds functions with a [`ir::FunctionBuilder`], from variables
//! that are assigned as often as the program says:
//!
//! ```
//! use regraft::prelude::*;
//!
//! // pow(x, n) = (r = 1.0; while 0 < n; r = r * x; n = n - 1; end; r)
//! fn pow(ctx: &std::sync::Arc<Context>) -> IrResult<Function> {
//!     let mut b = FunctionBuilder::new(ctx, "pow", &[Type::F64, Type::I64], Type::F64);
//!     let (n, r) = (b.declare_var("n", Type::I64), b.declare_var("r", Type::F64));
//!     let x = b.param(0);
//!     b.def_var(n, b.param(1))?;
//!     b.def_var(r, b.const_f64(1.0))?;
//!     let (head, body, exit) = (b.add_block(), b.add_block(), b.add_block());
//!     b.terminate(cf::jump(head))?;
//!
//!     b.switch_to(head)?;
//!     let left = b.use_var(n)?;
//!     let go = b.push(arith::lt(b.const_i64(0), left))?;
//!     b.terminate(cf::jump_if(go, body, exit))?;
//!
//!     b.switch_to(body)?;
//!     let (so_far, left) = (b.use_var(r)?, b.use_var(n)?);
//!     let product = b.push(arith::mul(so_far, x))?;
//!     b.def_var(r, product)?;
//!     let less = b.push(arith::sub(left, b.const_i64(1)))?;
//!     b.def_var(n, less)?;
//!     b.terminate(cf::jump(head))?;
//!
//!     b.switch_to(exit)?;
//!     let result = b.use_var(r)?;
//!     b.terminate(cf::ret(result))?;
//!     b.finish()
//! }
//!
//! let ctx = context();
//! let mut module = Module::new(&ctx);
//! module.add(pow(&ctx)?)?;
//! // Where values of `n` and `r` meet, they have become parameters of the block.
//! let pow = module.function("pow").unwrap();
//! let head = pow.block_by_number(2).unwrap();
//! assert_eq!(pow.blocks().map(|block| pow.param_count(block)).collect::<Vec<_>>(), [2, 2, 0, 0]);
//! assert_eq!(pow.in_edges(head).map(|edge| pow.edge_args(edge).len()).sum::<usize>(), 4);
//!
//! use regraft::exec::{Engine, Interpreter, Val};
//! let power = Interpreter::new(&module).call("pow", &[Val::F64(5.0), Val::I64(3)])?;
//! assert!(matches!(power, Val::F64(125.0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod ahead;
pub mod cli;
mod paint;
pub mod profile;
mod repl;

/// The examples in Rust of the guide and of the README, as doctests.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../README.md")]
    mod readme {}
    #[doc = include_str!("../docs/functions.md")]
    mod functions {}
    #[doc = include_str!("../docs/passes.md")]
    mod passes {}
    #[doc = include_str!("../docs/analyses.md")]
    mod analyses {}
    #[doc = include_str!("../docs/dialects.md")]
    mod dialects {}
    #[doc = include_str!("../docs/testing.md")]
    mod testing {}
    #[doc = include_str!("../docs/derivatives.md")]
    mod derivatives {}
    #[doc = include_str!("../docs/rules.md")]
    mod rules {}
    #[doc = include_str!("../docs/dynamos.md")]
    mod dynamos {}
    #[doc = include_str!("../docs/command-line.md")]
    mod command_line {}
    #[doc = include_str!("../docs/run-fast.md")]
    mod run_fast {}
    #[doc = include_str!("../docs/from-rust.md")]
    mod from_rust {}
}

pub use regraft_ad as ad;
pub use regraft_dialects as dialects;
pub use regraft_exec as exec;
pub use regraft_ir as ir;
pub use regraft_lang as lang;
pub use regraft_passes as passes;
pub use regraft_syntax as syntax;
pub use regraft_testing as testing;

/// The names that a pass needs, and the session that runs programs.
///
/// ```
/// use regraft::prelude::*;
///
/// let module = parse_module(&context(), "f.ir", "func @f() -> i64 {\n^1:\n  return 1\n}").unwrap();
/// assert!(verify_module(&module).is_ok());
/// ```
pub mod prelude {
    pub use std::process::ExitCode;

    pub use regraft_dialects::{arith, cf, context, core, data, math, mem, prof};
    pub use regraft_ir::{
        Block, Const, Constant, Context, Cursor, Diagnostic, Edge, Function, FunctionBuilder, Inst,
        IrError, IrResult, Module, Op, Operand, OperandKind, Pipe, Symbol, Type, TypeKind, Value,
        ValueDef, Var, verify_function, verify_module,
    };
    pub use regraft_lang::{Session, parse_listing};
    pub use regraft_passes::{
        FunctionPass, LoopPass, ModulePass, OptionDef, Options, PassContext, PassRegistry,
        PassResult, pass, rewrite, run_pass,
    };
    pub use regraft_syntax::parse_module;
}
