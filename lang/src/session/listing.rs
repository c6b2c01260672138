//! Listings of Julia's IR, in a session.

use regraft_ir::Diagnostic;
use regraft_syntax::listing;

use super::Session;
use crate::phases::{Phase, enter};

impl Session {
    /// Defines a method for each listing of a text; see [`parse_listing`](crate::parse_listing). From
    /// then on they are like methods of scripts. Returns warnings: what had to be assumed, as the
    /// listings do not say it.
    ///
    /// ```
    /// let mut session = regraft_lang::Session::new(&regraft_dialects::context());
    /// let text = "CodeInfo(\n1 ─ %1 = Base.mul_float(x, x)::Float64\n└──      return %1\n) => Float64\n";
    /// session.define_listing("square.lowered", text).unwrap();
    /// let value = session.eval("(square(3.0), gradient(square, 3.0))").unwrap();
    /// assert_eq!(session.show(&value), "(9.0, (6.0,))");
    /// ```
    ///
    /// # Errors
    /// All errors of the text; then nothing is defined.
    pub fn define_listing(
        &mut self,
        name: &str,
        text: &str,
    ) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let parsed = {
            let _phase = enter(Phase::Parse);
            listing::parse(&self.ctx, name, text)
        };
        if !parsed.errors.is_empty() {
            return Err(parsed.errors);
        }
        self.refuel();
        self.run_ast(parsed.ast, false)?;
        Ok(parsed.warnings)
    }
}
