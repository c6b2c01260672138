//! Gives the shadow of an array back the length that it had before the array was resized.
//!
//! ```text
//! mem.resize %a, 0      =>     mem.resize %da, 0  ...  call @regrow(%da, %length, %zero)
//! ```
//!
//! Elements that were cut off have cotangents that are zero, and where they come from looks at them.
//! New floats of an array are zero by themselves; other new elements are not there at all until they
//! are stored, so they are appended one by one, by a small function of its own. What is cut off
//! again had not been there before, and is gone.
//!
//! # Cost
//! Linear in the number of elements that are added, as that of the resizing that cut them off.

use std::sync::Arc;

use regraft_dialects::{arith, cf, mem};
use regraft_ir::{Constant, Diagnostic, Function, Operand, Symbol, Type};

use super::driver::Driver;

impl Driver<'_> {
    /// The function that makes an array of type `array` longer with elements of type `element`, or
    /// shorter: `(array, length, element)`.
    pub(super) fn resize_shadow_with(
        &mut self,
        array: Type,
        element: Type,
    ) -> Result<Symbol, Diagnostic> {
        if let Some(&known) = self.resizers.get(&array) {
            return Ok(known);
        }
        let name = self.fresh("regrow");
        let ctx = Arc::clone(&self.ctx);
        let mut f = Function::new(&ctx, ctx.str(name), &[array, Type::I64, element], Type::UNIT);
        let entry = f.entry().expect("a new function has an entry");
        let params: Vec<Operand> = f.params(entry).map(Operand::from).collect();
        let (longer, append, end) = (f.add_block(), f.add_block(), f.add_block());
        f.set_terminator(entry, cf::jump(longer))?;
        let length = f.push(longer, mem::length(params[0]))?;
        let more = f.push(longer, arith::lt(length, params[1]))?;
        let none: [Operand; 0] = [];
        f.set_terminator(longer, cf::br_if(more, append, none, end, none))?;
        f.push(append, mem::push(params[0], params[2]))?;
        f.set_terminator(append, cf::jump(longer))?;
        f.push(end, mem::resize(params[0], params[1]))?;
        f.set_terminator(end, cf::ret(ctx.constant_id(Constant::Unit)))?;
        self.module.add(f)?;
        self.resizers.insert(array, name);
        Ok(name)
    }
}
