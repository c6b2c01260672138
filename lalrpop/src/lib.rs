//! The text formats of Regraft: IR, pipelines of passes, derivative rules and rewrite rules.
//!
//! The lexers are made by `logos`, the parsers by LALRPOP. A parser reports every error of a
//! text in one run, each with the place, what was found and what was expected.
//!
//! ```
//! use regraft_syntax::parse_module;
//!
//! let text = "func @f() -> i64 {\n^1:\n  return 1\n}";
//! let module = parse_module(&regraft_dialects::context(), "f.ir", text).unwrap();
//! assert_eq!(module.functions().len(), 1);
//! assert!(parse_module(&regraft_dialects::context(), "f.ir", "func @f(").is_err());
//! ```

mod assemble;
mod broken_line;
mod builder;
mod call;
mod constant;
mod derivative;
mod function_text;
mod instruction;
pub mod julia;
pub mod listing;
mod literal;
mod numbering;
mod parse;
mod pipeline;
mod report;
mod rewrite;
mod rule_reader;
mod token;
mod type_text;
mod types;

pub use call::{Argument, Call, Number, parse_call};
pub use derivative::{
    DerivativeExpr, DerivativeExprKind, DerivativePartial, DerivativeRule, DerivativeText,
    MAX_DERIVATIVE_DEPTH, PartialKind, parse_derivatives,
};
pub use literal::quote;
pub use parse::{decode, parse_and_verify, parse_module, parse_module_into};
pub use pipeline::{
    MAX_PIPELINE_DEPTH, MAX_PIPELINE_LENGTH, OptionValue, PassOption, PassSpec, Pipeline,
    parse_pipeline,
};
pub use rewrite::{
    MAX_TERM_DEPTH, RewriteCondition, RewriteRule, RewriteTerm, RewriteTermKind, RewriteText,
    parse_rewrites,
};
pub use rule_reader::{Name, rule_texts};

/// The parser that LALRPOP makes of a grammar; its code is not ours to lint.
macro_rules! grammar {
    ($name:ident, $file:literal) => {
        lalrpop_util::lalrpop_mod!(
            #[allow(
                clippy::all,
                missing_docs,
                missing_debug_implementations,
                unreachable_pub,
                unused_qualifications,
                rust_2018_idioms,
                clippy::uninlined_format_args,
                clippy::redundant_closure_for_method_calls,
                clippy::semicolon_if_nothing_returned,
                clippy::manual_let_else
            )]
            $name,
            $file
        );
    };
}

grammar!(grammar, "/ir.rs");
grammar!(julia_grammar, "/julia.rs");
grammar!(call_grammar, "/call.rs");
grammar!(derivative_grammar, "/derivative.rs");
grammar!(pipeline_grammar, "/pipeline.rs");
grammar!(rewrite_grammar, "/rewrite.rs");
