//! Programs that tests write as text.

use regraft_ir::{Module, render_all, verify_module};
use regraft_syntax::parse_module;

/// Parses a program, which has to be right.
pub fn parse(text: &str) -> Module {
    let ctx = regraft_dialects::context();
    let module = parse_module(&ctx, "case.ir", text)
        .unwrap_or_else(|errors| panic!("{}\n{text}", render_all(&errors, false)));
    verify_module(&module)
        .unwrap_or_else(|errors| panic!("{}\n{text}", render_all(&errors, false)));
    module
}
