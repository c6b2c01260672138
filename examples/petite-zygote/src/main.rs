//! The value and the pullback of a function of two others.
//!
//! ```text
//! cargo run -p petite-zygote
//! ```

use petite_zygote::install;
use regraft::prelude::*;

fn main() -> Result<(), Vec<regraft::ir::Diagnostic>> {
    let mut session = Session::new(&context());
    install(&mut session)?;
    session.run("foo.jl", "bar(y) = sin(y)\nfoo(x, y) = x * y + bar(y)")?;
    println!("{}", session.lowered("forward(foo, 1.0, 1.0)")?);
    let result = session.run("call.jl", "y, back = forward(foo, 1.0, 1.0)\n(y, back(1.0))")?;
    println!("{}", session.show(&result));
    Ok(())
}
