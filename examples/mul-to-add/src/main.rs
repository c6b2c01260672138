//! A pass of one's own in a crate of its own, with the whole command line tool around it:
//!
//! ```text
//! cargo run -p mul-to-add -- opt FILE.ir -p mul-to-add --diff
//! ```

use regraft::prelude::*;

/// Replaces `x * 2` by `x + x`.
#[derive(Default)]
struct MulToAdd;

impl FunctionPass for MulToAdd {
    const NAME: &'static str = "mul-to-add";
    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let mut at = Cursor::new(f);
        while let Some(v) = at.next() {
            if let Some([x, k]) = at.matches(v, arith::MUL)
                && at.const_i64(k) == Some(2)
            {
                let sum = at.insert(arith::add(x, x));
                at.replace_with(v, sum);
                cx.count("rewritten");
            }
        }
        Ok(())
    }
}

fn main() -> ExitCode {
    regraft::cli::main_with(|passes| passes.add::<MulToAdd>())
}

#[cfg(test)]
mod tests;
