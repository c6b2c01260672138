//! Prints the tree of a Julia program as S-expressions, and what is wrong with it:
//! `cargo run -p regraft-syntax --example julia_tree -- FILE`.

use std::sync::Arc;

use regraft_syntax::julia::{Options, parse};

fn main() {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("usage: julia_tree FILE");
        return;
    };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{file}: {error}");
            return;
        }
    };
    let ctx = regraft_ir::Context::new(Arc::default());
    let parsed = parse(&ctx, &file, &text, Options::default());
    println!("{}", parsed.ast.to_sexpr(&ctx));
    print!("{}", regraft_ir::render_all(&parsed.errors, false));
    if parsed.incomplete {
        println!("incomplete");
    }
}
